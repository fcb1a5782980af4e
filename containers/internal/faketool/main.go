// Command faketool is the program that tests run in containers. Its arguments are
// steps, which it executes one after the other. Under the names cat and timeout it
// has the functions of these programs that the containers of this program need. Under
// the name of a tool it also prints a version. So an image with only this program has
// everything that an image of a tool has.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	var err error
	switch filepath.Base(os.Args[0]) {
	case "cat":
		err = cat(os.Args[1:])
	case "timeout":
		os.Exit(timeout(os.Args[1:]))
	case "prism":
		err = tool("-version", "PRISM version 4.9-fake\n", os.Args[1:])
	case "storm":
		err = tool("--version", "Storm 1.12.0 (fake)\n\nDate: today\n", os.Args[1:])
	default:
		err = play(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faketool:", err)
		os.Exit(99)
	}
}

// cat prints files, or standard input if there are none, like cat(1).
func cat(files []string) error {
	if len(files) == 0 {
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, playFile([]string{file}))
	}
	return errors.Join(errs...)
}

// tool prints the answer if the only argument is the question, as a tool prints its version. Otherwise it executes the arguments as steps.
func tool(question, answer string, args []string) error {
	if slices.Equal(args, []string{question}) {
		_, err := fmt.Print(answer)
		return err
	}
	return play(args)
}

// timeout runs a command with a time limit and returns its exit code, like timeout(1) with the arguments "-k DURATION DURATION COMMAND…". If the
// environment has FAKETOOL_TIMEOUT=never, the limit is an hour, longer than any test.
func timeout(args []string) int {
	if len(args) < 4 || args[0] != "-k" {
		return 125
	}
	kill, err1 := time.ParseDuration(args[1])
	limit, err2 := time.ParseDuration(args[2])
	if err1 != nil || err2 != nil {
		return 125
	}
	if os.Getenv("FAKETOOL_TIMEOUT") == "never" {
		limit = time.Hour
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, args[3], args[4:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = kill
	err := command.Run()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(os.Stderr, "timeout:", err)
		return 127
	}
	status, ok := command.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && (ctx.Err() == nil || status.Signal() == syscall.SIGKILL):
		return 128 + int(status.Signal())
	case ctx.Err() != nil:
		return 124
	}
	return command.ProcessState.ExitCode()
}

// play executes steps. Each step is a word and its arguments.
func play(args []string) error {
	for len(args) > 0 {
		index := slices.IndexFunc(steps(), func(found step) bool { return found.name == args[0] })
		if index < 0 {
			return fmt.Errorf("unknown step %q", args[0])
		}
		found := steps()[index]
		if len(args) <= found.takes {
			return fmt.Errorf("%s takes %d arguments", found.name, found.takes)
		}
		if err := found.do(args[1 : 1+found.takes]); err != nil {
			return fmt.Errorf("%s: %w", found.name, err)
		}
		args = args[1+found.takes:]
	}
	return nil
}

type step struct {
	name  string
	takes int
	do    func(args []string) error
}

// steps returns the steps that faketool can execute.
func steps() []step {
	return []step{
		{"say", 1, func(a []string) error { _, err := fmt.Print(a[0]); return err }},
		{"err", 1, func(a []string) error { _, err := fmt.Fprint(os.Stderr, a[0]); return err }},
		{"sleep", 1, sleep},
		{"exit", 1, exit},
		{"write", 2, func(a []string) error { return os.WriteFile(a[0], []byte(a[1]), 0o600) }},
		{"link", 2, func(a []string) error { return os.Symlink(a[0], a[1]) }},
		{"play", 1, playFile},
		{"flood", 1, flood},
		{"eat", 1, eat},
		{"spawn-eat", 1, spawnEat},
		{"stubborn", 0, func([]string) error { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP); return nil }},
		{"signal", 1, kill},
		{"walls", 0, walls},
	}
}

// sleep waits for a duration.
func sleep(args []string) error {
	duration, err := time.ParseDuration(args[0])
	time.Sleep(duration)
	return err
}

// exit ends the program with an exit code.
func exit(args []string) error {
	code, err := strconv.Atoi(args[0])
	if err == nil {
		os.Exit(code)
	}
	return err
}

// playFile prints a file.
func playFile(args []string) error {
	file, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(os.Stdout, file)
	return err
}

// flood prints a number of bytes, in lines.
func flood(args []string) error {
	remaining, err := strconv.Atoi(args[0])
	line := []byte(strings.Repeat("x", 99) + "\n")
	block := bytes.Repeat(line, 400)
	for remaining > 0 && err == nil {
		var written int
		written, err = os.Stdout.Write(block[:min(remaining, len(block))])
		remaining -= written
	}
	return err
}

// eat allocates a number of bytes and writes to them, without garbage collection, until it has them or the kernel kills it.
func eat(args []string) error {
	remaining, err := strconv.Atoi(args[0])
	debug.SetGCPercent(-1)
	const block = 4 << 20
	for ; remaining > 0; remaining -= block {
		data := make([]byte, block)
		for i := 0; i < block; i += 4096 { // one byte in each page, so that the kernel provides the page
			data[i] = 1
		}
	}
	return err
}

// spawnEat runs eat in a child process. It continues when the kernel has killed the child.
func spawnEat(args []string) error {
	err := exec.Command(os.Args[0], "eat", args[0]).Run()
	fmt.Fprintln(os.Stderr, "child:", err)
	return nil
}

// kill sends a signal to this process.
func kill(args []string) error {
	number, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	debug.SetTraceback("crash") // a fatal signal is to be one, not exit status 2
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Signal(syscall.Signal(number)); err != nil {
		return err
	}
	time.Sleep(time.Minute)
	return nil
}

// walls prints the restrictions of the container that this process observes: its user, its network interfaces, the folders in which it can write, and
// its capabilities.
func walls([]string) error {
	host, _ := os.Hostname()
	interfaces, _ := net.Interfaces()
	var names []string
	for _, networkInterface := range interfaces {
		names = append(names, networkInterface.Name)
	}
	fmt.Printf("uid %d gid %d host %s interfaces %v\n", os.Getuid(), os.Getgid(), host, names)
	for _, dir := range []string{"/", "/tmp", "/work", "."} {
		err := os.WriteFile(filepath.Join(dir, "probe"), nil, 0o600)
		fmt.Printf("write %s %t\n", dir, err == nil)
	}
	status, err := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Cap") || strings.HasPrefix(line, "NoNewPrivs") {
			fmt.Print(strings.ReplaceAll(line, "\t", " "))
		}
	}
	return err
}
