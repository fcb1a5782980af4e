package cgroup

import (
	"os"
	"path/filepath"
	"strings"
)

// parents finds the groups that this process is in, which become the parents of new groups. The keys of both maps are the controllers
// of version 1, and "" for version 2.
type parents struct {
	mounts    map[string]string // the folder at which the hierarchy is mounted
	ownGroups map[string]string // the path of the group in its hierarchy
}

// readParents reads the hierarchies and the groups of this process.
func readParents() (*parents, error) {
	mounts, err := readMounts("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	ownGroups, err := readOwnGroups("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	if path := ownGroups[""]; filepath.Base(path) == leafName() {
		ownGroups[""] = filepath.Dir(path) // enableMemory moved this process from there
	}
	return &parents{mounts, ownGroups}, nil
}

// readMounts reads the folders at which the hierarchies are mounted, in the form of /proc/self/mountinfo.
func readMounts(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	folders := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		mountPart, systemPart, ok := strings.Cut(line, " - ")
		placeFields, systemFields := strings.Fields(mountPart), strings.Fields(systemPart)
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

// readOwnGroups reads the paths of the groups of this process, in the form of /proc/self/cgroup.
func readOwnGroups(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	paths := make(map[string]string)
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
func (p *parents) folder(controller string) (string, bool) {
	root, isMounted := p.mounts[controller]
	path, hasGroup := p.ownGroups[controller]
	if !isMounted || !hasGroup {
		return "", false
	}
	dir := filepath.Join(root, path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = root
	}
	return dir, true
}
