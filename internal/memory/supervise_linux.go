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

// supervised is the environment variable that is set for a program with a supervisor.
const supervised = "TILECHECK_SUPERVISED"

// crashes are the beginnings of the lines with which the runtime ends a program that gets no more memory or threads.
var crashes = []string{"runtime: out of memory", "fatal error: ", "runtime: failed to create new OS thread", "runtime/cgo: pthread_create failed"}

// Supervise runs this program again under the same limit of addresses (ulimit -v), waits for it, and returns its exit code. If the runtime ended the
// program for lack of memory, exhausted is true and its crash message is not written to w. Without such a limit, and in the supervised program
// itself, ok is false and Supervise does nothing. A program calls it before anything else.
//
// A supervisor is needed because the Go runtime ends a program that gets no memory at once, with a stack trace and exit code 2.
// Package startup treats limits so low that the runtime does not start.
func Supervise(w io.Writer) (code int, exhausted, ok bool) {
	limit, _ := addresses()
	if limit == 0 || os.Getenv(supervised) != "" {
		return 0, false, false
	}
	program, err := os.Executable()
	if err != nil {
		return 0, false, false
	}
	stderr, writeEnd, err := os.Pipe()
	if err != nil {
		return 0, false, false
	}
	defer stderr.Close()
	runtime.LockOSThread() // the child is killed when the thread that started it ends
	child, err := os.StartProcess(program, os.Args, &os.ProcAttr{
		Env: append(os.Environ(), supervised+"=1"), Files: []*os.File{os.Stdin, os.Stdout, writeEnd}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	writeEnd.Close()
	if err != nil {
		return 0, false, false
	}
	defer passSignals(child)()
	crash, err := copyLines(w, stderr)
	_, _ = io.Copy(io.Discard, stderr) // if w is closed, the program must not block on its output
	state, waited := child.Wait()
	if errors.Join(err, waited) != nil {
		return 1, false, true
	}
	status := state.Sys().(syscall.WaitStatus)
	if outOfMemory(crash) && (status.Signaled() || status.ExitStatus() == 2) {
		return 0, true, true
	}
	_, _ = io.WriteString(w, crash) // the text after a crash line that was not for lack of memory
	if status.Signaled() {
		return 128 + int(status.Signal()), false, true
	}
	return status.ExitStatus(), false, true
}

// outOfMemory reports whether a crash message says that the runtime got no more memory, or no more threads.
func outOfMemory(crash string) bool {
	firstLine, _, _ := strings.Cut(crash, "\n")
	for _, reason := range []string{"memory", "cannot allocate", "pthread_create", "OS thread", "newosproc"} {
		if strings.Contains(firstLine, reason) {
			return true
		}
	}
	return false
}

// Supervised reports whether a supervisor passes signals to this process. A terminal then sends each signal twice.
func Supervised() bool { return os.Getenv(supervised) != "" }

// passSignals passes signals that end a program to another process.
func passSignals(p *os.Process) (stop func()) {
	heard := make(chan os.Signal, 4)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for s := range heard {
			_ = p.Signal(s) // an error means that the process has ended
		}
	}()
	return func() { signal.Stop(heard); close(heard) }
}

// copyLines copies lines up to the first one that begins a crash message, and returns the rest from that line on.
func copyLines(w io.Writer, r io.Reader) (crash string, err error) {
	buffered := bufio.NewReader(r)
	var crashText strings.Builder
	for {
		line, err := buffered.ReadString('\n')
		for _, begin := range crashes {
			if crashText.Len() == 0 && strings.HasPrefix(line, begin) {
				crashText.WriteString(line)
				line = ""
			}
		}
		if crashText.Len() > 0 {
			crashText.WriteString(line[:min(len(line), max(0, 1<<16-crashText.Len()))])
		} else if _, err := io.WriteString(w, line); err != nil {
			return "", err
		}
		if errors.Is(err, io.EOF) {
			return crashText.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}
