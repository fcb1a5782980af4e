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

// Interference is what disturbed a measurement. It is only noticed on Linux.
type Interference struct {
	// Others is the time that other processes, and other virtual machines, used the same cores.
	Others time.Duration
	// Swapped is the number of pages that the machine swapped in or out.
	Swapped int64
	// Throttled says that the kernel held the processes back because of a quota, or a processor was too hot.
	Throttled bool
}

// add adds the interference of a later run.
func (i *Interference) add(later *Interference) {
	i.Others += later.Others
	i.Swapped += later.Swapped
	i.Throttled = i.Throttled || later.Throttled
}

// noticed is the part of the measured time from which on other processes are worth a note.
const noticed = 0.05

// Texts returns a sentence for each disturbance of a measurement that took this wall time on so many cores.
func (i *Interference) Texts(wall time.Duration, cores int) (out []string) {
	if i.Others > 2*tick && wall > 0 {
		if part := float64(i.Others) / float64(wall) / float64(max(cores, 1)); part > noticed {
			out = append(out, fmt.Sprintf("others used %.0f %% of the cores", 100*part))
		}
	}
	if i.Swapped > 0 {
		out = append(out, "the machine swapped")
	}
	if i.Throttled {
		out = append(out, "the processor was throttled")
	}
	return out
}

// tick is the unit in which the kernel counts the time of processors.
const tick = 10 * time.Millisecond

// observation is the state of the machine's counters at one moment.
type observation struct {
	busy    time.Duration // of the cores
	swapped int64
	hot     int64 // how often processors were too hot
}

// observe reads the counters of the machine. Counters that it does not have are 0.
func observe(cores []int) observation {
	if runtime.GOOS != "linux" {
		return observation{}
	}
	var out observation
	stat, _ := os.ReadFile("/proc/stat")
	for line := range strings.Lines(string(stat)) {
		if fields := strings.Fields(line); len(fields) > 8 && isCore(fields[0], cores) {
			for _, at := range []int{1, 2, 3, 6, 7, 8} { // user nice system irq softirq steal
				ticks, _ := strconv.ParseInt(fields[at], 10, 64)
				out.busy += time.Duration(ticks) * tick
			}
		}
	}
	pages, _ := os.ReadFile("/proc/vmstat")
	for line := range strings.Lines(string(pages)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && (name == "pswpin" || name == "pswpout") {
			count, _ := strconv.ParseInt(value, 10, 64)
			out.swapped += count
		}
	}
	hot, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count")
	for _, file := range hot {
		text, _ := os.ReadFile(file)
		count, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		out.hot += count
	}
	return out
}

// isCore reports whether a line of /proc/stat with this name counts: that of all cores if none are given.
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

// interference returns what happened from one observation to a later one, in which the measured processes used some time.
func (before observation) interference(after observation, used time.Duration) Interference {
	return Interference{
		Others:    max(0, after.busy-before.busy-used),
		Swapped:   after.swapped - before.swapped,
		Throttled: after.hot > before.hot,
	}
}
