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
		if _, err := fmt.Println("started"); err != nil {
			os.Exit(1)
		}
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

// If standard output is closed, writing to it fails, also if other streams are closed. Any other standard output, also a /dev/null that is open for
// reading and writing, is left alone.
func TestClosedOutput(t *testing.T) {
	for redirection, want := range map[string]int{">&-": 1, "<&- >&-": 1, ">&- 2>&-": 1, "<&- >&- 2>&-": 1, "": 0, "<&-": 0, "2>&-": 0, ">/dev/null": 0, "1<>/dev/null": 0} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "exec "+os.Args[0]+" "+redirection)
		cmd.Env = append(os.Environ(), "TILECHECK_TEST_STARTUP=1")
		err := cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%q: exit code %d (%v), want %d", redirection, code, err, want)
		}
	}
}
