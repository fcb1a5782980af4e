package memory

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// interval is the time between two checks; in that time a process allocates at most some tens of megabytes.
	interval = 20 * time.Millisecond
	// runtimeMemory is the memory that the Go runtime may use in addition to the limit.
	runtimeMemory = 32 << 20
	// releaseTime is the time that stopped work has to release its memory.
	releaseTime = time.Second
	// pauseFactor is the least pause after a garbage collection, as a multiple of its duration.
	pauseFactor = 10
)

// Watch calls onExcess, in another goroutine, when the memory of this process exceeds its memory at the call of Watch by more than limit bytes. It
// calls it again after a second if the excess remains. Only memory that is in use after a garbage collection counts, unless the process holds
// more than twice the limit including garbage. Only one Watch may be active in a process; stop ends it.
func Watch(limit int64, onExcess func()) (stop func()) {
	w := &watch{limit: limit, maxMemory: reserved() + limit + runtimeMemory}
	oldLimit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(oldLimit, w.maxMemory))
	done := make(chan struct{})
	var once sync.Once
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		var nextCall time.Time // the earliest time of the next call of onExcess
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				if now.After(nextCall) && w.isExceeded() {
					onExcess()
					nextCall = time.Now().Add(releaseTime)
				}
			}
		}
	}()
	return func() {
		once.Do(func() {
			close(done)
			debug.SetMemoryLimit(oldLimit)
		})
	}
}

// watch compares the memory of the process with a limit. Sizes are in bytes.
type watch struct {
	limit          int64
	maxMemory      int64     // the limit, with the memory that the process had before
	nextCollection time.Time // the earliest time of the next garbage collection
}

// isExceeded reports whether the process uses more than w.maxMemory. If garbage may be the reason, it runs the garbage collector first, because on a
// busy machine the runtime collects more slowly than the program allocates.
func (w *watch) isExceeded() bool {
	memory, maxWithGarbage := reserved(), w.maxMemory+w.limit
	if memory <= w.maxMemory {
		return false
	}
	if memory <= maxWithGarbage && time.Now().Before(w.nextCollection) {
		return false
	}
	start := time.Now()
	debug.FreeOSMemory()
	w.nextCollection = time.Now().Add(pauseFactor * time.Since(start))
	return used() > w.maxMemory || reserved() > maxWithGarbage
}

// WatchAddresses calls onExcess once, in another goroutine, with the limit in bytes, when this process has almost used up its address space
// (ulimit -v). The Go runtime ends a process that exceeds this limit, and the process cannot prevent it. Without a limit WatchAddresses does nothing.
func WatchAddresses(onExcess func(limit int64)) {
	limit, used := addresses()
	if limit == 0 {
		return
	}
	// Keep half of the free addresses in reserve, because tables double in size between two checks.
	margin := (limit - used) / 2
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), reserved()+limit-used-margin))
	go func() {
		for range time.Tick(interval / 4) {
			if _, used := addresses(); limit-used < margin {
				onExcess(limit)
				return
			}
		}
	}()
}

// reserved returns the memory that the system reserves for this process, in bytes.
func reserved() int64 {
	m := readMetrics("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	return m[0] - m[1]
}

// used returns the memory in use after the last garbage collection, plus allocations during it, in bytes.
func used() int64 {
	m := readMetrics("/memory/classes/total:bytes", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes",
		"/memory/classes/heap/free:bytes", "/memory/classes/heap/released:bytes", "/gc/heap/live:bytes")
	return m[0] - m[1] - m[2] - m[3] - m[4] + m[5]
}

// readMetrics returns the values of metrics of the Go runtime.
func readMetrics(names ...string) []int64 {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	values := make([]int64, len(names))
	for i := range samples {
		values[i] = int64(samples[i].Value.Uint64())
	}
	return values
}
