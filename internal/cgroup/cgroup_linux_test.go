package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"tilecheck/internal/needs"
)

// makeVariable is the environment variable that lets the test program make two groups and print their parents and its own group.
const makeVariable = "TILECHECK_TEST_GROUPS"

func TestMain(m *testing.M) {
	if os.Getenv(makeVariable) == "" {
		os.Exit(m.Run())
	}
	for range 2 {
		group, err := New(Limits{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(parentOf(group))
		defer group.Close()
	}
	own, err := readOwnGroups("/proc/self/cgroup")
	fmt.Println(own[""], err)
}

// parentOf returns the folder in which a group was made.
func parentOf(g *Group) string { return filepath.Dir(filepath.Dir(g.impl.processes())) }

// makeInGroup runs the test program in a new group of version 2, with another process that a shell command starts, and returns its lines of output.
func makeInGroup(t *testing.T, before string) (dir string, lines []string) {
	t.Helper()
	group, err := New(Limits{})
	needs.Have(t, needs.System, err)
	t.Cleanup(func() {
		if err := group.Close(); err != nil {
			t.Error(err)
		}
	})
	if group.Version() != "cgroup v2" {
		needs.Have(t, needs.System, fmt.Errorf("this system has %s", group.Version()))
	}
	dir = filepath.Dir(group.impl.processes())
	t.Cleanup(func() {
		left, _ := filepath.Glob(filepath.Join(dir, "tilecheck-*")) // the pattern is right
		for _, leaf := range left {
			if err := removeFolder(leaf); err != nil {
				t.Error(err)
			}
		}
	})
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo $$ >"+dir+"/cgroup.procs; "+before+" exec "+os.Args[0])
	cmd.Env = append(os.Environ(), makeVariable+"=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return dir, strings.Split(strings.TrimSpace(string(out)), "\n")
}

// TestLeaf: in a group without other processes, the program moves into a leaf once, and its groups are made in the group where it was.
func TestLeaf(t *testing.T) {
	dir, lines := makeInGroup(t, "")
	if len(lines) != 3 || lines[0] != dir || lines[1] != dir || !strings.Contains(lines[2], filepath.Base(dir)+"/tilecheck-") {
		t.Errorf("%q, want two groups in %s, and a leaf there", lines, dir)
	}
}

// TestOtherProcesses: in a group with another process no group can be made, the error says what to do, and the program stays in its group.
func TestOtherProcesses(t *testing.T) {
	dir, lines := makeInGroup(t, "sleep 1000 >/dev/null 2>&1 &")
	if len(lines) < 3 || !strings.Contains(lines[0], "other processes are in "+dir+"; start tilecheck with: systemd-run") ||
		!strings.HasSuffix(lines[len(lines)-1], "/"+filepath.Base(dir)+" <nil>") {
		t.Errorf("%q, want errors about other processes in %s", lines, dir)
	}
}

// TestGroup: a process that is started in a group is counted and limited there.
func TestGroup(t *testing.T) {
	group, err := New(Limits{Memory: 32 << 20})
	needs.Have(t, needs.System, err)
	defer func() {
		if err := group.Close(); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "dd if=/dev/zero of=/dev/null bs=200M count=1 2>/dev/null")
	start(t, group, cmd)
	if err := cmd.Wait(); err == nil {
		t.Error("the process was not killed at the memory limit")
	}
	usage, err := group.Usage()
	if err != nil || !usage.OutOfMemory || usage.CPU <= 0 || usage.PeakMemory <= 16<<20 || usage.PeakMemory > 32<<20 {
		t.Errorf("%+v, %v, want 32 MB and the limit", usage, err)
	}
}

// start starts a process in a group.
func start(t *testing.T, group *Group, cmd *exec.Cmd) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	leave, err := group.Enter(cmd.SysProcAttr)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(cmd.Start(), leave()); err != nil {
		t.Fatal(err)
	}
}
