//go:build !linux

package cgroup

import (
	"errors"
	"syscall"
)

// Group is a control group, which only Linux has.
type Group struct{}

// New returns an error.
func New(Limits) (*Group, error) {
	return nil, errors.New("this system has no control groups")
}

// Version is never called.
func (*Group) Version() string { return "" }

// Usage is never called.
func (*Group) Usage() (Usage, error) { return Usage{}, nil }

// Enter is never called.
func (*Group) Enter(*syscall.SysProcAttr) (leave func() error, err error) { return nil, nil }

// Kill is never called.
func (*Group) Kill() error { return nil }

// Close is never called.
func (*Group) Close() error { return nil }

// CheckCores returns an error if a core is named: this system cannot choose them.
func CheckCores(cores []int) error {
	if len(cores) > 0 {
		return errors.New("this system does not let programs choose their cores")
	}
	return nil
}

// Pin returns an error if a core is named.
func Pin(cores []int) (restore func() error, err error) {
	return func() error { return nil }, CheckCores(cores)
}

// Sweep finds nothing.
func Sweep() (removed []string, err error) { return nil, nil }
