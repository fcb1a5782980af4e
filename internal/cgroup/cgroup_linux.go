package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Group is a control group. It begins without processes.
type Group struct {
	cores []int
	impl  version
}

// version is the part of a group that differs between the versions of control groups.
type version interface {
	// name returns "cgroup v1" or "cgroup v2".
	name() string
	// enter makes processes that the calling thread starts with these attributes begin in the group, until leave is called.
	enter(attributes *syscall.SysProcAttr) (leave func() error, err error)
	usage() (Usage, error)
	// processes returns the file that lists the processes.
	processes() string
	remove() error
}

// serial numbers the groups of this process.
var serial atomic.Int64

// newName returns a name for a group that no other process uses.
func newName() string { return fmt.Sprintf("tilecheck-%d-%d", os.Getpid(), serial.Add(1)) }

// New makes a group. The error says why no group can be made, such as missing rights or controllers.
func New(limits Limits) (*Group, error) {
	parents, err := readParents()
	if err != nil {
		return nil, err
	}
	group2, secondErr := newSecond(parents, limits)
	if secondErr == nil {
		return &Group{limits.Cores, group2}, nil
	}
	group1, firstErr := newFirst(parents, limits)
	if firstErr != nil {
		return nil, errors.Join(secondErr, firstErr)
	}
	return &Group{limits.Cores, group1}, nil
}

// Version returns "cgroup v1" or "cgroup v2".
func (g *Group) Version() string { return g.impl.name() }

// Usage returns the usage of all processes of the group, including processes that have ended.
func (g *Group) Usage() (Usage, error) { return g.impl.usage() }

// Enter makes processes that the calling thread starts with these attributes begin in the group, on its cores, until leave
// is called. The goroutine must be locked to its thread.
func (g *Group) Enter(attributes *syscall.SysProcAttr) (leave func() error, err error) {
	restore, err := Pin(g.cores)
	if err != nil {
		return nil, err
	}
	leaveGroup, err := g.impl.enter(attributes)
	if err != nil {
		return nil, errors.Join(err, restore())
	}
	return func() error { return errors.Join(leaveGroup(), restore()) }, nil
}

// CheckCores returns an error if this process may not use one of the cores.
func CheckCores(cores []int) error {
	var usable unix.CPUSet
	if err := unix.SchedGetaffinity(0, &usable); err != nil {
		return fmt.Errorf("read the cores of this process: %w", err)
	}
	for _, core := range cores {
		if !usable.IsSet(core) {
			return fmt.Errorf("core %d is not a core that this process may use", core)
		}
	}
	return nil
}

// Pin restricts the calling thread, and the processes that it starts, to these cores, until restore is called. It does nothing if there are
// no cores. It needs no group. The goroutine must be locked to its thread.
func Pin(cores []int) (restore func() error, err error) {
	if len(cores) == 0 {
		return func() error { return nil }, nil
	}
	if err := CheckCores(cores); err != nil {
		return nil, err
	}
	var oldCores, restricted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &oldCores); err != nil {
		return nil, fmt.Errorf("read the cores of this thread: %w", err)
	}
	for _, core := range cores {
		restricted.Set(core)
	}
	if err := unix.SchedSetaffinity(0, &restricted); err != nil {
		return nil, fmt.Errorf("use the cores %v: %w", cores, err)
	}
	return func() error { return unix.SchedSetaffinity(0, &oldCores) }, nil
}

// endTime is the time that killed processes may take to end.
const endTime = 5 * time.Second

// Close kills the remaining processes, waits until they have ended, and removes the group.
func (g *Group) Close() error { return killAndRemove(g.impl.processes(), g.impl.remove) }

// killAndRemove kills the processes of a group, which a file lists, until the group can be removed. The kernel refuses that with EBUSY as
// long as a process has not ended.
func killAndRemove(processes string, remove func() error) error {
	for deadline := time.Now().Add(endTime); ; time.Sleep(time.Millisecond) {
		if err := killAll(processes); err != nil {
			return err
		}
		if err := remove(); err == nil || !errors.Is(err, syscall.EBUSY) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: processes do not end after they were killed", processes)
		}
	}
}

// Kill kills the processes of the group, and does not wait for their end.
func (g *Group) Kill() error { return killAll(g.impl.processes()) }

// killAll kills the processes of a group, which a file lists. It must be repeated until none are left, because a process can start another
// process before it is killed.
func killAll(processes string) error {
	text, err := os.ReadFile(processes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for id := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(id); err == nil && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
	return nil
}

// write writes a value into a file of a group.
func write(dir, file, value string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(value), 0)
}

// readNumber returns the number in a file of a group.
func readNumber(dir, file string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// readTable returns the numbers of a file that has a name and a number in each line.
func readTable(dir, file string) (map[string]int64, error) {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	numbers := make(map[string]int64)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			if number, err := strconv.ParseInt(value, 10, 64); err == nil {
				numbers[name] = number
			}
		}
	}
	return numbers, nil
}
