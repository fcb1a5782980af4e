// Package quickstart saves time at the start of a program that imports testcontainers-go.
//
// At its initialisation testcontainers-go asks gopsutil for all processes of the machine, only to derive the identifier of its session from the parent
// process. That takes a millisecond for seven processes, so it was a fifth of the time of tilecheck --version on an idle machine, and is more on a busy one.
// Environment variable HOST_PROC tells gopsutil where the files of the processes are. While packages are initialised, it names a directory that does not
// exist. Then testcontainers-go uses a random identifier. End removes the variable again.
//
// Go initialises this package before gopsutil, which imports net: of the packages that are ready, Go takes the first by import path (The Go Programming
// Language Specification, "Program initialization"), and net waits for a package below vendor/, which comes after this one. TestQuickStart of cmd/tilecheck checks it.
package quickstart

import "os"

// variable is the environment variable from which gopsutil takes the path of /proc.
const variable = "HOST_PROC"

// missing is the value of the variable while packages are initialised.
const missing = "/proc/tilecheck-does-not-list-processes"

func init() {
	if _, set := os.LookupEnv(variable); !set {
		_ = os.Setenv(variable, missing)
	}
}

// End removes the variable, unless the user set it. A program calls it first in main.
func End() {
	if os.Getenv(variable) == missing {
		_ = os.Unsetenv(variable)
	}
}
