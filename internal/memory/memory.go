// Package memory measures and limits the memory of this process.
package memory

import (
	"os"
	"strconv"
	"strings"
)

// Available returns the number of bytes that can be used without swapping according to Linux, 0 if it is unknown.
func Available() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if amount, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(amount), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kb << 10
		}
	}
	return 0
}
