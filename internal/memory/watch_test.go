package memory

import (
	"runtime"
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
