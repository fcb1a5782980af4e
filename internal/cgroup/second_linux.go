package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// second is a group of version 2.
type second struct{ dir string }

// newSecond makes a group of version 2. It needs the memory controller. The kernel counts processor time without a controller.
func newSecond(parents *parents, limits Limits) (*second, error) {
	parent, ok := parents.folder("")
	if !ok {
		return nil, errors.New("cgroup v2: there is no such hierarchy")
	}
	if err := enableMemory(parent); err != nil {
		return nil, fmt.Errorf("cgroup v2: %w", err)
	}
	group := &second{filepath.Join(parent, newName())}
	if err := makeFolder(group.dir); err != nil {
		return nil, fmt.Errorf("cgroup v2: %w", err)
	}
	if limits.Memory > 0 {
		if err := write(group.dir, "memory.max", strconv.FormatInt(limits.Memory, 10)); err != nil {
			return nil, errors.Join(fmt.Errorf("cgroup v2: %w", err), group.remove())
		}
		_ = write(group.dir, "memory.swap.max", "0") // some kernels do not support swap and have no such file
	}
	return group, nil
}

// enableMemory enables the memory controller for the children of a group. The kernel refuses this for a group with processes, except for the
// root. Then enableMemory moves this process into a child group and tries again.
func enableMemory(parent string) error {
	available, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(string(available)), "memory") {
		return fmt.Errorf("%s has no controller memory", parent)
	}
	enabled, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
	if err != nil || slices.Contains(strings.Fields(string(enabled)), "memory") {
		return err
	}
	err = write(parent, "cgroup.subtree_control", "+memory")
	if !errors.Is(err, syscall.EBUSY) {
		return err
	}
	moveBack, err := moveToLeaf(parent)
	if err != nil {
		return err
	}
	if err := write(parent, "cgroup.subtree_control", "+memory"); err != nil {
		err = fmt.Errorf("%w (other processes are in %s; start tilecheck with: systemd-run --user --scope -p Delegate=yes, "+
			"as root without --user)", err, parent)
		return errors.Join(err, moveBack())
	}
	return nil
}

// leafName returns the name of the child group into which this process moves.
func leafName() string { return fmt.Sprintf("tilecheck-%d", os.Getpid()) }

// moveToLeaf moves this process from a group into a new child group.
func moveToLeaf(parent string) (moveBack func() error, err error) {
	leaf := filepath.Join(parent, leafName())
	if err := makeFolder(leaf); err != nil {
		return nil, err
	}
	pid := strconv.Itoa(os.Getpid())
	moveBack = func() error { return errors.Join(write(parent, "cgroup.procs", pid), removeFolder(leaf)) }
	if err := write(leaf, "cgroup.procs", pid); err != nil {
		return nil, errors.Join(err, removeFolder(leaf))
	}
	return moveBack, nil
}

func (g *second) name() string { return "cgroup v2" }

func (g *second) processes() string { return filepath.Join(g.dir, "cgroup.procs") }

// enter sets the attributes with which the kernel starts a process in the group.
func (g *second) enter(attributes *syscall.SysProcAttr) (leave func() error, err error) {
	dir, err := os.Open(g.dir)
	if err != nil {
		return nil, err
	}
	attributes.UseCgroupFD, attributes.CgroupFD = true, int(dir.Fd())
	return dir.Close, nil
}

// usage implements version.
func (g *second) usage() (Usage, error) {
	cpu, err := readTable(g.dir, "cpu.stat")
	if err != nil {
		return Usage{}, err
	}
	microseconds := func(name string) time.Duration { return time.Duration(cpu[name]) * time.Microsecond }
	usage := Usage{
		CPU: microseconds("usage_usec"), User: microseconds("user_usec"), System: microseconds("system_usec"),
		Throttled: microseconds("throttled_usec"),
	}
	if usage.PeakMemory, err = readNumber(g.dir, "memory.peak"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Usage{}, err // kernels before 5.19 have no such file
	}
	events, err := readTable(g.dir, "memory.events")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Usage{}, err
	}
	usage.OutOfMemory = events["oom_kill"] > 0
	return usage, nil
}

func (g *second) remove() error { return removeFolder(g.dir) }
