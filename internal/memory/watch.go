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
)

// Watch calls over, once and from another goroutine, when this process holds more memory than when it was called,
// by a limit in bytes. Until then garbage is collected as often as that takes. It is for the one command of a
// process, which calls stop when it ends.
func Watch(limit int64, over func()) (stop func()) {
	most := held() + limit + spare
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, most))
	done := make(chan struct{})
	var once sync.Once
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if held() > most {
				over()
				return
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
	m := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(m)
	return int64(m[0].Value.Uint64() - m[1].Value.Uint64())
}
