package memory

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// interval is how often memory is looked at: a process fills no more than some tens of megabytes meanwhile.
	interval = 20 * time.Millisecond
	// spare is what the runtime itself may take beyond a limit.
	spare = 32 << 20
	// relief is how long work that was ended may take to let go of its memory.
	relief = time.Second
	// rest is how many times as long as a collection took is waited for before the next one.
	rest = 10
)

// Watch calls over, from another goroutine, whenever this process uses more memory than when it was called, by a limit
// in bytes; a second later again if it still does. What counts is what is left after a collection of garbage, unless the
// process holds more than twice the limit with its garbage. It is for the one command of a process, which calls stop when
// it ends.
func Watch(limit int64, over func()) (stop func()) {
	w := &watch{limit: limit, most: held() + limit + spare}
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, w.most))
	done := make(chan struct{})
	var once sync.Once
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		var quiet time.Time // until when nothing is said
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
	next        time.Time // when garbage may be collected again
}

// exceeded reports whether what the process uses is too much. Where garbage may be the reason, it is collected first: on a
// busy machine it is there faster than the runtime collects it.
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

// WatchAddresses calls over, once and from another goroutine, when this process has almost used the addresses that the
// system lets it have (ulimit -v), and passes that limit in bytes. The runtime ends a process that asks for more, without a
// way to do anything about that. It does nothing where there is no limit.
func WatchAddresses(over func(limit int64)) {
	limit, used := addresses()
	if limit == 0 {
		return
	}
	// Of what is left at the beginning half is kept back, for what is asked for between two looks: tables grow by doubling.
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

// held is the memory that the system keeps for this process.
func held() int64 {
	m := read("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	return m[0] - m[1]
}

// used is what is in use after the last collection, with what was allocated during it.
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
