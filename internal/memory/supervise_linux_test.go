package memory

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain lets the test program be the program that is supervised.
func TestMain(m *testing.M) {
	if os.Getenv("TILECHECK_TEST_SUPERVISED") == "" {
		os.Exit(m.Run())
	}
	code, exhausted, ok := Supervise(os.Stderr)
	if ok {
		fmt.Println("exhausted", exhausted)
		os.Exit(code)
	}
	if os.Getenv("TILECHECK_TEST_SUPERVISED") == "ends" {
		fmt.Fprintln(os.Stderr, "an error")
		os.Exit(2)
	}
	var all [][]byte
	for {
		all = append(all, make([]byte, 256<<20))
		if len(all) > 1000 {
			panic("there is no limit")
		}
	}
}

// A program that the runtime ends under ulimit -v says nothing of it itself; one that ends by itself keeps its errors and its code.
func TestSupervise(t *testing.T) {
	if testing.Short() {
		return // the race detector, which runs with -short, has an error of its own for too little memory
	}
	for does, want := range map[string]struct {
		code        int
		stdout, err string
	}{
		"takes": {0, "exhausted true\n", ""},
		"ends":  {2, "exhausted false\n", "an error\n"},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -v 4000000 && exec "+os.Args[0])
		cmd.Env = append(os.Environ(), "TILECHECK_TEST_SUPERVISED="+does)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != want.code || string(out) != want.stdout || stderr.String() != want.err {
			t.Errorf("a program that %s: exit code %d, %q, %q, want %v", does, code, out, stderr.String(), want)
		}
	}
}

// What the runtime prints is held back from its first line on, and everything before it is copied.
func TestCopyLines(t *testing.T) {
	var out strings.Builder
	crash, err := copyLines(&out, strings.NewReader("progress\nfatal error: out of memory\n\ngoroutine 1\n"))
	if err != nil || out.String() != "progress\n" || crash != "fatal error: out of memory\n\ngoroutine 1\n" || !outOfMemory(crash) {
		t.Errorf("copied %q, held back %q, %v", out.String(), crash, err)
	}
	if outOfMemory("fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select, locked to thread]:\n") {
		t.Error("a deadlock counts as too little memory")
	}
}
