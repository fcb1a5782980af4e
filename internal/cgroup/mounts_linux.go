package cgroup

import (
	"os"
	"path/filepath"
	"strings"
)

// mounts has the folders at which the hierarchies of control groups are mounted. The key is the controller for version 1, and "" for version 2.
type mounts map[string]string

// readMounts reads the hierarchies from /proc/self/mountinfo.
func readMounts(file string) (mounts, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	folders := make(mounts)
	for line := range strings.Lines(string(text)) {
		place, system, ok := strings.Cut(line, " - ")
		placeFields, systemFields := strings.Fields(place), strings.Fields(system)
		if !ok || len(placeFields) < 5 || len(systemFields) < 3 {
			continue
		}
		folder, fileSystem, options := placeFields[4], systemFields[0], systemFields[2]
		switch fileSystem {
		case "cgroup2":
			folders[""] = folder
		case "cgroup":
			for controller := range strings.SplitSeq(options, ",") {
				folders[controller] = folder
			}
		}
	}
	return folders, nil
}

// ownGroups has the paths of the groups that this process is in. The key is the controller for version 1, and "" for version 2.
type ownGroups map[string]string

// readOwnGroups reads the groups of this process from /proc/self/cgroup.
func readOwnGroups(file string) (ownGroups, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	paths := make(ownGroups)
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy:controllers:path
		if len(fields) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			paths[controller] = fields[2]
		}
	}
	return paths, nil
}

// folder returns the folder of the group of a controller that this process is in. It returns false if the controller has no hierarchy. In a
// container, the path of the group can be a path outside of the container. Then the result is the root of the hierarchy that the container sees.
func (m mounts) folder(own ownGroups, controller string) (string, bool) {
	root, isMounted := m[controller]
	path, hasGroup := own[controller]
	if !isMounted || !hasGroup {
		return "", false
	}
	dir := filepath.Join(root, path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = root
	}
	return dir, true
}
