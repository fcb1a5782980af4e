package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	record "tilecheck/report/bench"
)

// ThisMachine describes this machine. The description contains no names of hosts or users.
func ThisMachine() record.Machine {
	machine := record.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		machine.Kernel = strings.TrimSpace(string(release))
	}
	machine.Processor = valueIn("/proc/cpuinfo", "model name")
	if text, _, ok := strings.Cut(valueIn("/proc/meminfo", "MemTotal"), " "); ok {
		if kibibytes, err := strconv.ParseInt(text, 10, 64); err == nil {
			machine.Memory = kibibytes << 10
		}
	}
	return machine
}

// valueIn returns the value of a name in a file with lines of the form "name: value". It is empty if the file does not have the name.
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
