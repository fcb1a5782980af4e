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
	var rlimit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &rlimit); err != nil || rlimit.Cur > math.MaxInt64 {
		return 0, 0
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	firstWord, _, _ := strings.Cut(string(text), " ")
	pages, err := strconv.ParseInt(firstWord, 10, 64)
	if err != nil {
		return 0, 0
	}
	return int64(rlimit.Cur), pages * int64(os.Getpagesize())
}
