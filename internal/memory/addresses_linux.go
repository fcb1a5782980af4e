package memory

import (
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// arenas has the C library keep one reserve of addresses for all threads, of which it otherwise has 64 MB and more for each.
const arenas = "MALLOC_ARENA_MAX"

// SpareAddresses starts this program again, in the same process, with less addresses kept in reserve, where the system limits
// them (ulimit -v). It is to be called first, and returns where there is nothing to do, or it cannot be done.
func SpareAddresses() {
	if limit, _ := addresses(); limit == 0 || os.Getenv(arenas) != "" {
		return
	}
	if program, err := os.Executable(); err == nil {
		_ = syscall.Exec(program, os.Args, append(os.Environ(), arenas+"=1"))
	}
}

// addresses returns how many bytes of addresses this process may have, 0 for any number, and how many it has.
func addresses() (limit, used int64) {
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &most); err != nil || most.Cur > math.MaxInt64 {
		return 0, 0
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	pages, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return 0, 0
	}
	return int64(most.Cur), pages * int64(os.Getpagesize())
}
