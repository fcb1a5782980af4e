package memory

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

const (
	// supervised is the variable by which a program knows that another one supervises it.
	supervised = "TILECHECK_SUPERVISED"
	// arenas has the C library keep one reserve of addresses for all threads, which otherwise has 64 MB for each.
	arenas = "MALLOC_ARENA_MAX"
)

// crashes are how the lines begin by which the runtime ends a program that gets no more memory or threads.
var crashes = []string{"runtime: out of memory", "fatal error: ", "runtime: failed to create new OS thread", "runtime/cgo: pthread_create failed"}

// Supervise runs this program once more under the same limit of addresses (ulimit -v), waits for it, and returns its exit code.
// A program that the runtime ended because it got no more memory has written nothing about it to w, and exhausted is true.
// Without such a limit, and in the program that is supervised, ok is false and nothing is done. Call it first.
//
// The runtime ends a program that gets no memory at once, with a stack trace and exit code 2, which the program cannot change.
func Supervise(w io.Writer) (code int, exhausted, ok bool) {
	limit, _ := addresses()
	if limit == 0 || os.Getenv(supervised) != "" {
		return 0, false, false
	}
	program, err := os.Executable()
	if err != nil {
		return 0, false, false
	}
	if os.Getenv(arenas) == "" { // the supervisor needs addresses too: start again, in the same process
		_ = syscall.Exec(program, os.Args, append(os.Environ(), arenas+"=1"))
	}
	stderr, write, err := os.Pipe()
	if err != nil {
		return 0, false, false
	}
	defer stderr.Close()
	runtime.LockOSThread() // the end of the thread that starts a process counts as its parent's
	child, err := os.StartProcess(program, os.Args, &os.ProcAttr{
		Env: append(os.Environ(), supervised+"=1"), Files: []*os.File{os.Stdin, os.Stdout, write}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	write.Close()
	if err != nil {
		return 0, false, false
	}
	defer passSignals(child)()
	crash, err := copyLines(w, stderr)
	_, _ = io.Copy(io.Discard, stderr) // nothing is left, unless w is closed: the program must not wait for us
	state, waited := child.Wait()
	if errors.Join(err, waited) != nil {
		return 1, false, true
	}
	status := state.Sys().(syscall.WaitStatus)
	if outOfMemory(crash) && (status.Signaled() || status.ExitStatus() == 2) {
		return 0, true, true
	}
	_, _ = io.WriteString(w, crash) // an error of ours, or no crash: nothing is lost
	if status.Signaled() {
		return 128 + int(status.Signal()), false, true
	}
	return status.ExitStatus(), false, true
}

// outOfMemory reports whether the runtime ended a program because it got no more memory, or none for a thread.
func outOfMemory(crash string) bool {
	first, _, _ := strings.Cut(crash, "\n")
	for _, reason := range []string{"memory", "cannot allocate", "pthread_create", "OS thread", "newosproc"} {
		if strings.Contains(first, reason) {
			return true
		}
	}
	return false
}

// Supervised reports whether another process passes signals on to this one: a terminal then sends them twice.
func Supervised() bool { return os.Getenv(supervised) != "" }

// passSignals passes the signals that end a program on to a process.
func passSignals(p *os.Process) (stop func()) {
	heard := make(chan os.Signal, 4)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for s := range heard {
			_ = p.Signal(s) // a process that is gone needs none
		}
	}()
	return func() { signal.Stop(heard); close(heard) }
}

// copyLines copies lines until one by which the runtime ends a program, and returns that one and what follows.
func copyLines(w io.Writer, r io.Reader) (crash string, err error) {
	in := bufio.NewReader(r)
	var rest strings.Builder
	for {
		line, err := in.ReadString('\n')
		for _, begin := range crashes {
			if rest.Len() == 0 && strings.HasPrefix(line, begin) {
				rest.WriteString(line)
				line = ""
			}
		}
		if rest.Len() > 0 {
			rest.WriteString(line[:min(len(line), max(0, 1<<16-rest.Len()))])
		} else if _, err := io.WriteString(w, line); err != nil {
			return "", err
		}
		if errors.Is(err, io.EOF) {
			return rest.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}
