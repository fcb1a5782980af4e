package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Sweep removes the groups whose owners were killed, and kills the processes in them. It returns their folders, also with an error. Groups of other
// users are left alone.
func Sweep() (removed []string, err error) {
	mounts, err := readMounts("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := readOwnGroups("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	for _, controller := range []string{"", "memory", "cpuacct"} {
		parent, ok := mounts.folder(own, controller)
		if !ok {
			continue
		}
		found, _ := filepath.Glob(filepath.Join(parent, "tilecheck-*")) // the pattern is right
		for _, dir := range found {
			if !abandoned(dir) || slices.Contains(removed, dir) {
				continue
			}
			switch failed := end(dir); {
			case failed == nil:
				removed = append(removed, dir)
			case !errors.Is(failed, os.ErrPermission):
				err = errors.Join(err, failed)
			}
		}
	}
	return removed, err
}

// abandoned reports whether the process that made a group, whose number is in the group's name, has ended.
func abandoned(dir string) bool {
	number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), "tilecheck-"), "-")
	pid, err := strconv.Atoi(number)
	return err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// end kills the processes that are left in a group, waits until they have ended, and removes the group.
func end(dir string) error {
	for deadline := time.Now().Add(endTime); ; time.Sleep(time.Millisecond) {
		if _, err := killAll(filepath.Join(dir, "cgroup.procs")); err != nil {
			return err
		}
		if err := removeFolder(dir); err == nil || !errors.Is(err, syscall.EBUSY) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: processes do not end after they were killed", dir)
		}
	}
}
