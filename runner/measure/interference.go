package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Interference has the disturbances of a measurement. They can be detected only on Linux.
type Interference struct {
	// Others is the time for which other processes and other virtual machines used the same cores.
	Others time.Duration
	// Swapped is the number of pages that the machine swapped in or out.
	Swapped int64
	// Throttled says that the kernel limited the processes by a quota, or slowed down a hot processor.
	Throttled bool
}

// add adds the interference of a later run.
func (i *Interference) add(later *Interference) {
	i.Others += later.Others
	i.Swapped += later.Swapped
	i.Throttled = i.Throttled || later.Throttled
}

// noticedPart is the part of the measured time from which on the time of other processes is reported.
const noticedPart = 0.05

// Texts returns a text for each disturbance. wall is the wall time of the measurement, cores the number of cores that it could use.
func (i *Interference) Texts(wall time.Duration, cores int) (texts []string) {
	if i.Others > 2*tick && wall > 0 {
		if share := float64(i.Others) / float64(wall) / float64(max(cores, 1)); share > noticedPart {
			texts = append(texts, fmt.Sprintf("others used %.0f %% of the cores", 100*share))
		}
	}
	if i.Swapped > 0 {
		texts = append(texts, "the machine swapped")
	}
	if i.Throttled {
		texts = append(texts, "the processor was throttled")
	}
	return texts
}

// tick is the unit in which the kernel counts the time of processors.
const tick = 10 * time.Millisecond

// observation is the state of the machine's counters at one moment.
type observation struct {
	busy      time.Duration // the time for which the cores were not idle
	swapped   int64         // the number of pages that were swapped in or out
	throttles int64         // the number of times that a hot processor was slowed down
}

// observe reads the counters of the machine. A counter that the machine does not have is 0.
func observe(cores []int) observation {
	if runtime.GOOS != "linux" {
		return observation{}
	}
	return observation{busy: busyTime(cores), swapped: swappedPages(), throttles: thermalThrottles()}
}

// busyTime returns the time for which the cores were not idle, from /proc/stat.
func busyTime(cores []int) (busy time.Duration) {
	stat, _ := os.ReadFile("/proc/stat")
	for line := range strings.Lines(string(stat)) {
		if fields := strings.Fields(line); len(fields) > 8 && isCore(fields[0], cores) {
			for _, column := range []int{1, 2, 3, 6, 7, 8} { // user nice system irq softirq steal
				ticks, _ := strconv.ParseInt(fields[column], 10, 64)
				busy += time.Duration(ticks) * tick
			}
		}
	}
	return busy
}

// swappedPages returns the number of pages that were swapped in or out, from /proc/vmstat.
func swappedPages() (pages int64) {
	counters, _ := os.ReadFile("/proc/vmstat")
	for line := range strings.Lines(string(counters)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && (name == "pswpin" || name == "pswpout") {
			count, _ := strconv.ParseInt(value, 10, 64)
			pages += count
		}
	}
	return pages
}

// thermalThrottles returns the number of times that a hot processor was slowed down.
func thermalThrottles() (throttles int64) {
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		count, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		throttles += count
	}
	return throttles
}

// isCore reports whether a line of /proc/stat with this name is about the given cores. Without cores, it is the line "cpu", the sum of all cores.
func isCore(name string, cores []int) bool {
	if len(cores) == 0 {
		return name == "cpu"
	}
	for _, core := range cores {
		if name == "cpu"+strconv.Itoa(core) {
			return true
		}
	}
	return false
}

// interference returns the interference between two observations. used is the time that the measured processes used between them.
func (before observation) interference(after observation, used time.Duration) Interference {
	return Interference{
		Others:    max(0, after.busy-before.busy-used),
		Swapped:   after.swapped - before.swapped,
		Throttled: after.throttles > before.throttles,
	}
}
