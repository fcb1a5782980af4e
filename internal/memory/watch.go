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
	// spare is the memory that the runtime may use in addition to the limit.
	spare = 32 << 20
	// relief is the time that stopped work has to release its memory.
	relief = time.Second
	// rest is the pause after a garbage collection, as a multiple of its duration.
	rest = 10
)

// Watch calls over, in another goroutine, when the memory of this process exceeds its memory at the call of Watch by more than limit bytes. It calls
// over again after a second if the excess remains. Only memory that is in use after a garbage collection counts, unless the process holds
// more than twice the limit including garbage. Only one Watch may be active in a process; stop ends it.
func Watch(limit int64, over func()) (stop func()) {
	w := &watch{limit: limit, most: held() + limit + spare}
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, w.most))
	done := make(chan struct{})
	var once sync.Once
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		var quiet time.Time // no call of over before this time
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				if now.After(quiet) && w.exceeded() {
					over()
					quiet = time.Now().Add(relief)
				}
			}
		}
	}()
	return func() {
		once.Do(func() {
			close(done)
			debug.SetMemoryLimit(before)
		})
	}
}

// watch compares the memory of the process with a limit.
type watch struct {
	limit, most int64
	next        time.Time // earliest time of the next garbage collection
}

// exceeded reports whether the process uses too much memory. It collects garbage first if garbage may be the reason, because on a busy
// machine the runtime collects more slowly than the program allocates.
func (w *watch) exceeded() bool {
	h := held()
	switch {
	case h <= w.most:
		return false
	case h <= w.most+w.limit && time.Now().Before(w.next):
		return false
	}
	start := time.Now()
	debug.FreeOSMemory()
	w.next = time.Now().Add(rest * time.Since(start))
	return used() > w.most || held() > w.most+w.limit
}

// WatchAddresses calls over once, in another goroutine, with the limit in bytes when this process has almost used up its address space (ulimit -v).
// The Go runtime ends a process that exceeds this limit, and the process cannot prevent it. Without a limit WatchAddresses does nothing.
func WatchAddresses(over func(limit int64)) {
	limit, used := addresses()
	if limit == 0 {
		return
	}
	// Keep half of the free addresses in reserve, because tables double in size between two checks.
	margin := (limit - used) / 2
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), held()+limit-used-margin))
	go func() {
		for range time.Tick(interval / 4) {
			if _, used := addresses(); limit-used < margin {
				over(limit)
				return
			}
		}
	}()
}

// held returns the memory that the system reserves for this process.
func held() int64 {
	m := read("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	return m[0] - m[1]
}

// used returns the memory in use after the last garbage collection, plus allocations during it.
func used() int64 {
	m := read("/memory/classes/total:bytes", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes",
		"/memory/classes/heap/free:bytes", "/memory/classes/heap/released:bytes", "/gc/heap/live:bytes")
	return m[0] - m[1] - m[2] - m[3] - m[4] + m[5]
}

func read(names ...string) []int64 {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	out := make([]int64, len(names))
	for i := range samples {
		out[i] = int64(samples[i].Value.Uint64())
	}
	return out
}
