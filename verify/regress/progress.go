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
	started     map[*unit]time.Time
	done, total int
	notify      func(done, total int, slowest string)
}

func (w *progress) begin(u *unit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started[u] = time.Now()
}

func (w *progress) end(u *unit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.started, u)
	w.done++
	w.report(time.Now())
}

// report reports the progress.
func (w *progress) report(now time.Time) {
	if w.notify == nil {
		return
	}
	var longest *unit
	for u, started := range w.started {
		if longest == nil || started.Before(w.started[longest]) {
			longest = u
		}
	}
	slowest := ""
	if longest != nil {
		if long := now.Sub(w.started[longest]); long >= slowAfter {
			slowest = fmt.Sprintf("%s on %s has run for %v", longest.entrant.Called(), longest.subject.fileNames(), long.Round(time.Second))
		}
	}
	w.notify(w.done, w.total, slowest)
}

// fileNames names the files of a subject for people.
func (s *subject) fileNames() string {
	return strings.TrimSpace(s.opt.name(cmp.Or(s.switches.Model, s.Model)) + " " + s.opt.name(cmp.Or(s.switches.Props, s.Props)))
}

// watch reports every few seconds until the function that it returns is called.
func (w *progress) watch() (stop func()) {
	if w.notify == nil {
		return func() {}
	}
	ticker, over := time.NewTicker(slowAfter/2), make(chan struct{})
	go func() {
		for {
			select {
			case now := <-ticker.C:
				w.mu.Lock()
				w.report(now)
				w.mu.Unlock()
			case <-over:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(over)
	}
}
