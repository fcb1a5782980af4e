//go:build linux

package measure

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/cgroup"
	"tilecheck/internal/needs"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// grouped returns a program whose runs are measured in a control group. The test is skipped if no control group can be made.
func grouped(t *testing.T, name string, options Options, env ...string) *Tool {
	t.Helper()
	group, err := cgroup.New(cgroup.Limits{})
	needs.Have(t, needs.System, err)
	if err := group.Close(); err != nil {
		t.Fatal(err)
	}
	program, err := local.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return New(program.In(t.TempDir(), env...), options)
}

// shell returns a shell whose runs are measured. The test is skipped if no control group can be made.
func shell(t *testing.T, options Options) *Tool {
	t.Helper()
	return grouped(t, "sh", options)
}

// run runs a script and returns what it printed on standard error.
func run(t *testing.T, tool *Tool, script string, limits runner.Limits) (runner.Exit, string) {
	t.Helper()
	return runWith(t, tool, []string{"-c", script}, limits)
}

// runWith runs a tool with arguments and returns what it printed on standard error.
func runWith(t *testing.T, tool *Tool, args []string, limits runner.Limits) (runner.Exit, string) {
	t.Helper()
	var errors strings.Builder
	exit, err := tool.Run(t.Context(), runner.Command{Args: args, Stderr: &errors, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return exit, errors.String()
}

// within reports whether two numbers differ by at most 1 %.
func within(got, want float64) bool { return math.Abs(got-want) <= 0.01*want }

// threeAtOnce returns a script of three programs that hold so many megabytes each at the same time. dd fills its memory, and writes; the reader of each
// waits for the first bytes of all.
func threeAtOnce(t *testing.T, megabytes int) string {
	return fmt.Sprintf("cd %s; for i in 1 2 3; do dd if=/dev/zero bs=%dM count=1 2>/dev/null | { head -c 1 >/dev/null; : >$i; "+
		"until [ -e 1 ] && [ -e 2 ] && [ -e 3 ]; do sleep 0.02; done; sleep 0.1; } & done; wait", t.TempDir(), megabytes)
}

// TestMemoryOfChildren: three programs hold 200 MB each at the same time.
func TestMemoryOfChildren(t *testing.T) {
	needs.Full(t)
	tool := shell(t, Options{})
	run(t, tool, threeAtOnce(t, 200), runner.Limits{})
	const want = 3 * 200 << 20
	usage := tool.TakeUsage()
	if !within(float64(usage.PeakMemory), want) {
		t.Errorf("%s: peak memory %d, want %d within 1 %%", usage.Method, usage.PeakMemory, want)
	}
	t.Logf("%s: %d of %d bytes, %+.2f %%", usage.Method, usage.PeakMemory, want, 100*(float64(usage.PeakMemory)/want-1))
}

// TestMemoryLimit: a program that needs more than the limit is killed, with all that it has started.
func TestMemoryLimit(t *testing.T) {
	tool := shell(t, Options{Memory: 32 << 20})
	exit, _ := run(t, tool, "dd if=/dev/zero of=/dev/null bs=200M count=1 2>/dev/null", runner.Limits{})
	if usage := tool.TakeUsage(); exit.Cause != runner.OutOfMemory || !usage.OutOfMemory || usage.PeakMemory > 32<<20 {
		t.Errorf("%+v, %+v, want the memory limit", exit, usage)
	}
}

// TestNothingIsLeft: a process that left the process group of the tool ends with its time, too, and so does the tool.
func TestNothingIsLeft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	tool := shell(t, Options{Cores: []int{0}})
	exit, _ := run(t, tool, "setsid sh -c 'echo $$ >"+file+"; exec sleep 1000' & sleep 1000", runner.Limits{Time: 100 * time.Millisecond})
	if exit.Cause != runner.TimedOut {
		t.Errorf("%+v, want the time limit", exit)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat"); err == nil && !strings.Contains(string(state), ") Z ") {
		t.Errorf("a process is left: %s", state)
	}
}

// TestCores: a tool sees the cores that it may use.
func TestCores(t *testing.T) {
	tool := shell(t, Options{Cores: []int{0}})
	_, text := run(t, tool, "grep Cpus_allowed_list /proc/self/status >&2", runner.Limits{})
	if fields := strings.Fields(text); len(fields) != 2 || fields[1] != "0" {
		t.Errorf("%q, want the core 0", text)
	}
	program, err := local.New("sh")
	if err != nil {
		t.Fatal(err)
	}
	var allowed strings.Builder // afterwards, this process has all of its cores
	if _, err := program.Run(t.Context(), runner.Command{Args: []string{"-c", "grep Cpus_allowed_list /proc/self/status"}, Stdout: &allowed}); err != nil {
		t.Fatal(err)
	}
	if own, _ := os.ReadFile("/proc/self/status"); !strings.Contains(string(own), strings.TrimSpace(allowed.String())) {
		t.Errorf("a tool after it has %q", allowed.String())
	}
}

// TestWithoutGroups: the memory of three programs together, the time of those that were waited for, and the cores.
func TestWithoutGroups(t *testing.T) {
	program, err := local.New("sh")
	if err != nil {
		t.Fatal(err)
	}
	meter := &meter{cores: []int{0}}
	var allowed strings.Builder
	script := threeAtOnce(t, 50) + "; grep Cpus_allowed_list /proc/self/status"
	if _, err := program.Measured(meter).Run(t.Context(), runner.Command{Args: []string{"-c", script}, Stdout: &allowed}); err != nil {
		t.Fatal(err)
	}
	const want = 3 * 50 << 20
	usage, err := meter.usage(os.ErrPermission)
	if err != nil || usage.Method != "rusage" || usage.Reason == "" || usage.PeakMemory < want || usage.PeakMemory > want+want/10 || usage.CPU <= 0 {
		t.Errorf("%+v, %v, want %d bytes", usage, err, want)
	}
	if fields := strings.Fields(allowed.String()); len(fields) != 2 || fields[1] != "0" {
		t.Errorf("%q, want the core 0", allowed.String())
	}
}
