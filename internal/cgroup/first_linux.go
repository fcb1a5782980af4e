package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// first is a group of version 1, which has a folder in the hierarchy of each controller.
type first struct {
	cpu, memory                 string // the folders of the group
	oldCPUGroup, oldMemoryGroup string // the folders of the groups that this process is in
}

// newFirst makes a group of version 1.
func newFirst(parents *parents, limits Limits) (*first, error) {
	ownCPU, hasCPU := parents.folder("cpuacct")
	ownMemory, hasMemory := parents.folder("memory")
	if !hasCPU || !hasMemory {
		return nil, errors.New("cgroup v1: there is no controller cpuacct or memory")
	}
	name := newName()
	group := &first{filepath.Join(ownCPU, name), filepath.Join(ownMemory, name), ownCPU, ownMemory}
	for _, dir := range []string{group.cpu, group.memory} {
		if err := makeFolder(dir); err != nil {
			return nil, errors.Join(fmt.Errorf("cgroup v1: %w", err), group.remove())
		}
	}
	if limits.Memory > 0 {
		text := strconv.FormatInt(limits.Memory, 10)
		if err := write(group.memory, "memory.limit_in_bytes", text); err != nil {
			return nil, errors.Join(fmt.Errorf("cgroup v1: %w", err), group.remove())
		}
		_ = write(group.memory, "memory.memsw.limit_in_bytes", text) // some kernels do not count swap and have no such file
	}
	return group, nil
}

func (g *first) name() string { return "cgroup v1" }

func (g *first) processes() string { return filepath.Join(g.memory, "cgroup.procs") }

// enter moves the calling thread into the group, because a process begins in the groups of the thread that starts it.
func (g *first) enter(*syscall.SysProcAttr) (leave func() error, err error) {
	thread := strconv.Itoa(syscall.Gettid())
	leave = func() error {
		return errors.Join(write(g.oldMemoryGroup, "tasks", thread), write(g.oldCPUGroup, "tasks", thread))
	}
	if err := errors.Join(write(g.cpu, "tasks", thread), write(g.memory, "tasks", thread)); err != nil {
		return nil, errors.Join(err, leave())
	}
	return leave, nil
}

// usage implements version.
func (g *first) usage() (Usage, error) {
	total, err := readNumber(g.cpu, "cpuacct.usage")
	if err != nil {
		return Usage{}, err
	}
	user, err := readNumber(g.cpu, "cpuacct.usage_user")
	if err != nil {
		return Usage{}, err
	}
	peak, err := readNumber(g.memory, "memory.max_usage_in_bytes")
	if err != nil {
		return Usage{}, err
	}
	events, err := readTable(g.memory, "memory.oom_control")
	if err != nil {
		return Usage{}, err
	}
	return Usage{
		CPU: time.Duration(total), User: time.Duration(user), System: time.Duration(total - user),
		PeakMemory: peak, OutOfMemory: events["oom_kill"] > 0,
	}, nil
}

func (g *first) remove() error { return errors.Join(removeFolder(g.cpu), removeFolder(g.memory)) }

// makeFolder makes the folder of a group. The error does not name the group, so it is the same for all groups of a folder.
func makeFolder(dir string) error {
	if err := syscall.Mkdir(dir, 0o755); err != nil {
		return &os.PathError{Op: "make a group in", Path: filepath.Dir(dir), Err: err}
	}
	return nil
}

// removeFolder removes the folder of a group, if it exists.
func removeFolder(dir string) error {
	if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, syscall.ENOENT) {
		return &os.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}
