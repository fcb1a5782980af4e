//go:build cgo

package startup

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain lets the test program be the program that starts under a limit.
func TestMain(m *testing.M) {
	if os.Getenv("TILECHECK_TEST_STARTUP") != "" {
		fmt.Println("started")
		return
	}
	os.Exit(m.Run())
}

// Under any limit of addresses the program starts, or ends with exit code 4 and one line.
func TestStartup(t *testing.T) {
	if testing.Short() {
		return // the race detector, which runs with -short, reserves far more addresses
	}
	for limit := 200_000; limit <= 1_800_000; limit += 50_000 {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf("ulimit -v %d && exec %s", limit, os.Args[0]))
		cmd.Env = append(os.Environ(), "TILECHECK_TEST_STARTUP=1")
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		code := cmd.ProcessState.ExitCode()
		switch {
		case limit >= 1_500_000 && (err != nil || stdout.String() != "started\n" || stderr.String() != ""):
			t.Errorf("ulimit -v %d: %v, %q", limit, err, stderr.String())
		case limit < 1_500_000 && (code != 4 || stdout.String() != "" || strings.Count(stderr.String(), "\n") != 1):
			t.Errorf("ulimit -v %d: exit code %d, %q, want 4 and one line", limit, code, stderr.String())
		}
	}
}
