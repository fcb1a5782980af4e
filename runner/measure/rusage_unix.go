//go:build unix

package measure

import (
	"os"
	"runtime"
	"syscall"
)

// largestProcess returns the peak memory, in bytes, of the largest process among a process and the descendants for which it waited.
func largestProcess(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) // macOS reports bytes
	}
	return int64(usage.Maxrss) << 10 // other systems report kilobytes
}
