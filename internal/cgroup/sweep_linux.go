package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Sweep removes the groups whose owners were killed, and kills the processes in them. It returns their folders, also with an error. Groups of other
// users are left alone.
func Sweep() (removed []string, err error) {
	parents, err := readParents()
	if err != nil {
		return nil, err
	}
	for _, controller := range []string{"", "memory", "cpuacct"} {
		parent, ok := parents.folder(controller)
		if !ok {
			continue
		}
		folders, _ := filepath.Glob(filepath.Join(parent, "tilecheck-*")) // the pattern is right
		for _, dir := range folders {
			if !abandoned(dir) || slices.Contains(removed, dir) {
				continue
			}
			remove := func() error { return removeFolder(dir) }
			switch failed := killAndRemove(filepath.Join(dir, "cgroup.procs"), remove); {
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
