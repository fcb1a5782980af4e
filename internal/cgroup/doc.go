// Package cgroup counts and limits what a tree of processes uses, with the control groups of Linux: version 2, or
// version 1 on machines whose controllers are there.
//
//	group, err := cgroup.New(cgroup.Limits{Memory: 1 << 30, Cores: []int{0}})
//	leave, err := group.Enter(attributes) // on a locked thread
//	// start the process with these attributes
//	err = leave()
//	usage, err := group.Usage()
//	err = group.Close()
//
// A process cannot leave its group, so the counts cover all of its descendants, whatever they do. Files of the kernel are
// read and written directly: a library for it would bring a dozen modules for six files.
//
// Source: the kernel's documentation, admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst; Beyer, Löwe and Wendler, Reliable
// benchmarking: requirements and solutions, STTT 2019.
package cgroup

import "time"

// Limits limit the processes of a group; zero is no limit.
type Limits struct {
	Memory int64 // bytes, without swap
	Cores  []int // the processors that may be used
}

// Usage is what the processes of a group have used so far.
type Usage struct {
	CPU, User, System time.Duration
	// PeakMemory is the largest memory of all processes together at any time, in bytes: with the files that they read first and
	// with the kernel's own memory for them. It is 0 if the kernel does not tell.
	PeakMemory int64
	// OutOfMemory says that the kernel killed a process of the group because of the limit.
	OutOfMemory bool
	// Throttled is the time for which the kernel kept the processes from running, because of a quota of a group above.
	Throttled time.Duration
}
