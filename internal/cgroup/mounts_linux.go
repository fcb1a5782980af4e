package cgroup

import (
	"os"
	"path/filepath"
	"strings"
)

// mounts are the folders of the hierarchies of control groups: of version 1 by controller, that of version 2 under "".
type mounts map[string]string

// readMounts reads the hierarchies from /proc/self/mountinfo.
func readMounts(file string) (mounts, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out := make(mounts)
	for line := range strings.Lines(string(text)) {
		place, system, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(place), strings.Fields(system)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		switch right[0] {
		case "cgroup2":
			out[""] = left[4]
		case "cgroup":
			for controller := range strings.SplitSeq(right[2], ",") {
				out[controller] = left[4]
			}
		}
	}
	return out, nil
}

// ownGroups are the groups of this process: of version 1 by controller, that of version 2 under "".
type ownGroups map[string]string

// readOwnGroups reads the groups of this process from /proc/self/cgroup.
func readOwnGroups(file string) (ownGroups, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out := make(ownGroups)
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			out[controller] = parts[2]
		}
	}
	return out, nil
}

// folder returns the folder of this process's group of a controller; false if there is no such hierarchy. In a container,
// the path of the group may be that outside of it: then the group is the root that the container sees.
func (m mounts) folder(own ownGroups, controller string) (string, bool) {
	root, mounted := m[controller]
	path, listed := own[controller]
	if !mounted || !listed {
		return "", false
	}
	dir := filepath.Join(root, path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = root
	}
	return dir, true
}
