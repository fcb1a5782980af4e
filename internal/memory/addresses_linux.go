package memory

import (
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// addresses returns the limit of this process's address space in bytes (ulimit -v), 0 if there is none, and the size in use.
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
