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

// Group is a control group. It has no processes at first.
type Group struct {
	cores []int
	impl  version
}

// version is the part of a group that differs between the versions of control groups.
type version interface {
	// name returns "cgroup v1" or "cgroup v2".
	name() string
	// enter makes the processes that the calling thread starts with these attributes begin in the group, until leave is called.
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

// New makes a group. The error says why none can be made: no rights, or no controllers.
func New(limits Limits) (*Group, error) {
	mounts, err := readMounts("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := readOwnGroups("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	second, reason := newSecond(mounts, own, limits)
	if reason == nil {
		return &Group{limits.Cores, second}, nil
	}
	first, err := newFirst(mounts, own, limits)
	if err != nil {
		return nil, errors.Join(reason, err)
	}
	return &Group{limits.Cores, first}, nil
}

// Version returns "cgroup v1" or "cgroup v2".
func (g *Group) Version() string { return g.impl.name() }

// Usage returns what all processes of the group have used, also after they have ended.
func (g *Group) Usage() (Usage, error) { return g.impl.usage() }

// Enter makes the processes that the calling thread starts with these attributes begin in the group, on its cores, until
// leave is called. The goroutine must be locked to its thread.
func (g *Group) Enter(attributes *syscall.SysProcAttr) (leave func() error, err error) {
	restore, err := Pin(g.cores)
	if err != nil {
		return nil, err
	}
	out, err := g.impl.enter(attributes)
	if err != nil {
		return nil, errors.Join(err, restore())
	}
	return func() error { return errors.Join(out(), restore()) }, nil
}

// CheckCores returns an error if a core is not among those that this process may use.
func CheckCores(cores []int) error {
	var usable unix.CPUSet
	if err := unix.SchedGetaffinity(0, &usable); err != nil {
		return fmt.Errorf("read the cores of this process: %w", err)
	}
	for _, core := range cores {
		if !usable.IsSet(core) {
			return fmt.Errorf("core %d is not among those that this process may use", core)
		}
	}
	return nil
}

// Pin lets the calling thread, and what it starts, run on these cores only; none changes nothing. It needs no group. The goroutine must be locked to
// its thread.
func Pin(cores []int) (restore func() error, err error) {
	if len(cores) == 0 {
		return func() error { return nil }, nil
	}
	if err := CheckCores(cores); err != nil {
		return nil, err
	}
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, fmt.Errorf("read the cores of this thread: %w", err)
	}
	for _, core := range cores {
		wanted.Set(core)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return nil, fmt.Errorf("use the cores %v: %w", cores, err)
	}
	return func() error { return unix.SchedSetaffinity(0, &before) }, nil
}

// endTime is how long killed processes may take to end.
const endTime = 5 * time.Second

// Close kills the processes that are left, waits until they have ended, and removes the group.
func (g *Group) Close() error {
	for deadline := time.Now().Add(endTime); ; time.Sleep(time.Millisecond) {
		left, err := killAll(g.impl.processes())
		if err != nil {
			return err
		}
		if left == 0 {
			if err = g.impl.remove(); err == nil || !errors.Is(err, syscall.EBUSY) {
				return err
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: processes do not end after they were killed", g.impl.processes())
		}
	}
}

// Kill kills the processes of the group, and does not wait for their end.
func (g *Group) Kill() error {
	_, err := killAll(g.impl.processes())
	return err
}

// killAll kills the processes of a group, which a file lists, and returns their number. A process may have started another one meanwhile.
func killAll(processes string) (int, error) {
	text, err := os.ReadFile(processes)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	ids := strings.Fields(string(text))
	for _, id := range ids {
		if pid, err := strconv.Atoi(id); err == nil && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
	return len(ids), nil
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
	out := make(map[string]int64)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			if number, err := strconv.ParseInt(value, 10, 64); err == nil {
				out[name] = number
			}
		}
	}
	return out, nil
}
