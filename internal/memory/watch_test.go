package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// Memory that is held ends the watch, garbage does not.
func TestWatch(t *testing.T) {
	over := make(chan struct{})
	stop := Watch(64<<20, func() { close(over) })
	defer stop()
	for range 300 {
		garbage := make([]byte, 1<<20)
		runtime.KeepAlive(garbage)
	}
	select {
	case <-over:
		t.Fatal("300 MB of garbage are over a limit of 64 MB")
	case <-time.After(5 * interval):
	}
	var kept [][]byte
	defer func() { runtime.KeepAlive(kept) }()
	for range 300 {
		kept = append(kept, make([]byte, 1<<20))
	}
	select {
	case <-over:
	case <-time.After(time.Minute):
		t.Fatal("300 MB are within a limit of 64 MB")
	}
}

// Garbage that the runtime has not collected yet is no use of memory, however much there is.
func TestGarbageIsNotUsed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	debug.FreeOSMemory()
	const limit = 64 << 20
	w := &watch{limit: limit, maxMemory: reserved() + limit}
	fill := func() (kept [][]byte) {
		for range 100 {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
		}
		return kept
	}
	kept := fill()
	runtime.KeepAlive(kept)
	kept = nil
	if reserved() <= w.maxMemory {
		t.Fatal("100 MB of garbage are gone before they are looked at")
	}
	if w.isExceeded() {
		t.Error("100 MB of garbage are over a limit of 64 MB")
	}
	kept, w.nextCollection = fill(), time.Time{}
	if !w.isExceeded() {
		t.Error("100 MB are within a limit of 64 MB")
	}
	runtime.KeepAlive(kept)
}
