package regress

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"
)

// slowAfter is the time after which a run is reported as slow.
const slowAfter = 10 * time.Second

// progress reports the progress of a suite, and its slowest run.
type progress struct {
	mu          sync.Mutex
	started     map[*testRun]time.Time
	done, total int
	notify      func(done, total int, slowest string)
}

// begin records that a run has started.
func (w *progress) begin(run *testRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started[run] = time.Now()
}

// end records that a run has finished, and reports it.
func (w *progress) end(run *testRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.started, run)
	w.done++
	w.report(time.Now())
}

// report tells the caller how many runs have finished, and which run takes longest. The caller holds the lock.
func (w *progress) report(now time.Time) {
	if w.notify == nil {
		return
	}
	var longest *testRun
	for run, started := range w.started {
		if longest == nil || started.Before(w.started[longest]) {
			longest = run
		}
	}
	slowest := ""
	if longest != nil {
		if duration := now.Sub(w.started[longest]); duration >= slowAfter {
			slowest = fmt.Sprintf("%s on %s has run for %v", longest.engine.DisplayName(), longest.loadedTest.fileNames(), duration.Round(time.Second))
		}
	}
	w.notify(w.done, w.total, slowest)
}

// fileNames returns the names of a test's model and properties file for the user.
func (s *loadedTest) fileNames() string {
	return strings.TrimSpace(s.opt.name(cmp.Or(s.switches.Model, s.Model)) + " " + s.opt.name(cmp.Or(s.switches.Props, s.Props)))
}

// watch reports the progress every few seconds until stop is called.
func (w *progress) watch() (stop func()) {
	if w.notify == nil {
		return func() {}
	}
	ticker := time.NewTicker(slowAfter / 2)
	stopped := make(chan struct{})
	go func() {
		for {
			select {
			case now := <-ticker.C:
				w.mu.Lock()
				w.report(now)
				w.mu.Unlock()
			case <-stopped:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(stopped)
	}
}
