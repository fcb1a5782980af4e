package measure

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// pollInterval is the time between two readings of the memory of a run without a control group.
const pollInterval = 20 * time.Millisecond

// poll reads the memory of a process and its descendants at intervals until the run has ended.
type poll struct {
	stop chan struct{}
	peak chan int64
}

// startPoll starts to read the memory of a process and its descendants at intervals.
func startPoll(root int) *poll {
	p := &poll{stop: make(chan struct{}), peak: make(chan int64, 1)}
	go p.run(root)
	return p
}

// end stops reading and returns the largest memory, in bytes, that it has found.
func (p *poll) end() int64 {
	close(p.stop)
	return <-p.peak
}

// run adds up the memory of a process and its descendants at intervals, until stop is closed, and sends the largest sum to the channel peak. A process
// that was found once still counts when its parent has ended.
func (p *poll) run(root int) {
	peak := int64(0)
	startTimes := map[int]string{root: startOf(root)}
	ticks := time.NewTicker(pollInterval)
	defer ticks.Stop()
	for {
		addDescendants(startTimes)
		peak = max(peak, memoryOf(startTimes))
		select {
		case <-p.stop:
			p.peak <- peak
			return
		case <-ticks.C:
		}
	}
}

// addDescendants adds the descendants of processes, and removes processes that have ended. The map has the start time of each process ID, because the
// system can use the ID of an ended process again.
func addDescendants(startTimes map[int]string) {
	var queue []int
	for pid, start := range startTimes {
		if currentStart := startOf(pid); currentStart == "" || currentStart != start {
			delete(startTimes, pid)
			continue
		}
		queue = append(queue, pid)
	}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		for _, child := range childrenOf(pid) {
			if start := startOf(child); start != "" && startTimes[child] != start {
				startTimes[child] = start
				queue = append(queue, child)
			}
		}
	}
}

// startOf returns the start time of a process, in clock ticks since boot; empty if the process has ended.
//
// Source: proc_pid_stat(5), field 22. Fields are counted after the name of the program, which can contain blanks.
func startOf(pid int) string {
	text, err := os.ReadFile(processFile(pid, "stat"))
	if err != nil {
		return ""
	}
	_, afterName, _ := strings.Cut(string(text), ") ")
	if fields := strings.Fields(afterName); len(fields) > 19 && fields[0] != "Z" {
		return fields[19]
	}
	return ""
}

// childrenOf returns the children that the threads of a process have started.
func childrenOf(pid int) (children []int) {
	files, _ := filepath.Glob(processFile(pid, "task/*/children")) // the pattern is right
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// memoryOf returns the memory of several processes together, in bytes. Pages that they share count once. A single process shares no pages with
// others, and its resident memory is faster to read.
func memoryOf(startTimes map[int]string) (sum int64) {
	for pid := range startTimes {
		if len(startTimes) == 1 {
			return residentMemory(pid)
		}
		sum += proportionalMemory(pid)
	}
	return sum
}

// proportionalMemory returns the memory of a process in bytes, with its share of shared pages. Kernels before 4.14 do not report it; then the function
// returns the resident memory.
func proportionalMemory(pid int) int64 {
	text, _ := os.ReadFile(processFile(pid, "smaps_rollup"))
	_, afterName, _ := strings.Cut(string(text), "\nPss:")
	if fields := strings.Fields(afterName); len(fields) > 0 {
		kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
		return kilobytes << 10
	}
	return residentMemory(pid)
}

// residentMemory returns the memory of a process in bytes, with all shared pages; 0 if it has ended.
func residentMemory(pid int) int64 {
	text, _ := os.ReadFile(processFile(pid, "statm"))
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// processFile returns the name of a file about a process.
func processFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}
