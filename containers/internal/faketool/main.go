// Command faketool is what the tests run in containers: it does what its
// arguments say, one after the other. Under the names cat and timeout it is as
// much of those programs as a container of ours needs, and under those of the
// tools it has a version, so that an image of this one program has everything an
// image of a tool has.
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

// cat is cat(1).
func cat(files []string) error {
	if len(files) == 0 {
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	}
	var errs []error
	for _, f := range files {
		errs = append(errs, playFile([]string{f}))
	}
	return errors.Join(errs...)
}

// tool is a tool that says its version when it is asked for it.
func tool(question, answer string, args []string) error {
	if slices.Equal(args, []string{question}) {
		_, err := fmt.Print(answer)
		return err
	}
	return play(args)
}

// timeout is timeout(1) in the form "-k DURATION DURATION COMMAND…". With
// FAKETOOL_TIMEOUT=never in its environment it does not work.
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
	c := exec.CommandContext(ctx, args[3], args[4:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = kill
	err := c.Run()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(os.Stderr, "timeout:", err)
		return 127
	}
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && (ctx.Err() == nil || status.Signal() == syscall.SIGKILL):
		return 128 + int(status.Signal())
	case ctx.Err() != nil:
		return 124
	}
	return c.ProcessState.ExitCode()
}

// play does the steps of args: a word, and the arguments it takes.
func play(args []string) error {
	for len(args) > 0 {
		i := slices.IndexFunc(steps(), func(s step) bool { return s.name == args[0] })
		if i < 0 {
			return fmt.Errorf("unknown step %q", args[0])
		}
		s := steps()[i]
		if len(args) <= s.takes {
			return fmt.Errorf("%s takes %d arguments", s.name, s.takes)
		}
		if err := s.do(args[1 : 1+s.takes]); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		args = args[1+s.takes:]
	}
	return nil
}

type step struct {
	name  string
	takes int
	do    func(args []string) error
}

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

func sleep(a []string) error {
	d, err := time.ParseDuration(a[0])
	time.Sleep(d)
	return err
}

func exit(a []string) error {
	code, err := strconv.Atoi(a[0])
	if err == nil {
		os.Exit(code)
	}
	return err
}

// playFile prints a file of the run.
func playFile(a []string) error {
	f, err := os.Open(a[0])
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(os.Stdout, f)
	return err
}

// flood prints a number of bytes in lines.
func flood(a []string) error {
	n, err := strconv.Atoi(a[0])
	line := []byte(strings.Repeat("x", 99) + "\n")
	block := bytes.Repeat(line, 400)
	for n > 0 && err == nil {
		var w int
		w, err = os.Stdout.Write(block[:min(n, len(block))])
		n -= w
	}
	return err
}

// eat takes memory until it has as much, or is killed.
func eat(a []string) error {
	n, err := strconv.Atoi(a[0])
	debug.SetGCPercent(-1)
	const block = 4 << 20
	for ; n > 0; n -= block {
		b := make([]byte, block)
		for i := 0; i < block; i += 4096 {
			b[i] = 1
		}
	}
	return err
}

// spawnEat has a child that takes memory, and goes on when it has been killed.
func spawnEat(a []string) error {
	err := exec.Command(os.Args[0], "eat", a[0]).Run()
	fmt.Fprintln(os.Stderr, "child:", err)
	return nil
}

// kill sends itself a signal.
func kill(a []string) error {
	n, err := strconv.Atoi(a[0])
	if err != nil {
		return err
	}
	debug.SetTraceback("crash") // a fatal signal is to be one, not exit status 2
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Signal(syscall.Signal(n)); err != nil {
		return err
	}
	time.Sleep(time.Minute)
	return nil
}

// walls prints what keeps it in.
func walls([]string) error {
	host, _ := os.Hostname()
	ifs, _ := net.Interfaces()
	var up []string
	for _, i := range ifs {
		up = append(up, i.Name)
	}
	fmt.Printf("uid %d gid %d host %s interfaces %v\n", os.Getuid(), os.Getgid(), host, up)
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
