//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Two signals end a command with its exit code and complete JSON, however soon the second one comes.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	program := ownProgram(t)
	for _, pause := range []time.Duration{0, time.Millisecond, 100 * time.Millisecond} {
		cmd := exec.Command(program, "check", "../../examples/die.prism", "--prop", "P=? [ F d=6 ]", "--method", "sim", "--samples", "100000000000", "--seed", "1", "--format", "json")
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // until it hears signals
		_ = cmd.Process.Signal(syscall.SIGTERM)
		time.Sleep(pause)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitCannotRun || !json.Valid(stdout.Bytes()) {
			t.Errorf("after %v: exit code %d, printed %q", pause, code, stdout.String())
		}
	}
}
