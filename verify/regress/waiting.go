package regress

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"
)

// standingAfter is how long a run takes before it is named to those who wait.
const standingAfter = 10 * time.Second

// waiting tells those who wait for a suite how far it is, and which run has taken long.
type waiting struct {
	mu          sync.Mutex
	begun       map[*unit]time.Time
	done, total int
	tell        func(done, total int, standing string)
}

func (w *waiting) begin(u *unit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun[u] = time.Now()
}

func (w *waiting) end(u *unit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.begun, u)
	w.done++
	w.report(time.Now())
}

// report tells how far the suite is.
func (w *waiting) report(now time.Time) {
	if w.tell == nil {
		return
	}
	var longest *unit
	for u, begun := range w.begun {
		if longest == nil || begun.Before(w.begun[longest]) {
			longest = u
		}
	}
	standing := ""
	if longest != nil {
		if long := now.Sub(w.begun[longest]); long >= standingAfter {
			standing = fmt.Sprintf("%s on %s has run for %v", longest.entrant.Called(), longest.subject.files(), long.Round(time.Second))
		}
	}
	w.tell(w.done, w.total, standing)
}

// files names the files of a subject for people.
func (s *subject) files() string {
	return strings.TrimSpace(s.opt.name(cmp.Or(s.switches.Model, s.Model)) + " " + s.opt.name(cmp.Or(s.switches.Props, s.Props)))
}

// watch reports every few seconds until the function that it returns is called.
func (w *waiting) watch() (stop func()) {
	if w.tell == nil {
		return func() {}
	}
	ticker, over := time.NewTicker(standingAfter/2), make(chan struct{})
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
