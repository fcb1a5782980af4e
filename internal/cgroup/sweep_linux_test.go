package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"tilecheck/internal/needs"
)

// TestSweep: the group of a process that has ended is removed, and what runs in it is killed; the group of this process stays.
func TestSweep(t *testing.T) {
	kept, err := New(Limits{})
	needs.Have(t, needs.System, err)
	defer func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	}()
	owner := exec.Command("true")
	if err := owner.Run(); err != nil {
		t.Fatal(err)
	}
	parent := filepath.Dir(filepath.Dir(kept.impl.processes()))
	dir := filepath.Join(parent, fmt.Sprintf("tilecheck-%d-1", owner.Process.Pid))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	left := exec.Command("sleep", "1000")
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, "cgroup.procs", strconv.Itoa(left.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- left.Wait() }()
	removed, err := Sweep()
	if err != nil || !slices.Contains(removed, dir) {
		_ = left.Process.Kill()
		t.Fatalf("removed %q, %v, want %s", removed, err, dir)
	}
	if err := <-ended; err == nil {
		t.Error("the process was not killed")
	}
	if _, err := kept.Usage(); err != nil {
		t.Errorf("the group of a running process: %v", err)
	}
}
