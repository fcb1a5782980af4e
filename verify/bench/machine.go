package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	record "tilecheck/report/bench"
)

// ThisMachine describes this machine. It has no names of hosts or users.
func ThisMachine() record.Machine {
	out := record.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU()}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		out.Kernel = strings.TrimSpace(string(text))
	}
	out.Processor = valueIn("/proc/cpuinfo", "model name")
	if kilobytes, _, ok := strings.Cut(valueIn("/proc/meminfo", "MemTotal"), " "); ok {
		if n, err := strconv.ParseInt(kilobytes, 10, 64); err == nil {
			out.Memory = n << 10
		}
	}
	return out
}

// valueIn returns the value behind a name and a colon in a file; empty if there is none.
func valueIn(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
