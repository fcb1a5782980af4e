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

// progress reports how many runs of a suite have finished, and its slowest run.
type progress struct {
	mu                   sync.Mutex
	startTimes           map[*testRun]time.Time
	numFinished, numRuns int
	notify               func(done, total int, slowest string)
}

// begin records that a run has started.
func (p *progress) begin(run *testRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startTimes[run] = time.Now()
}

// end records that a run has finished, and reports the new number of finished runs.
func (p *progress) end(run *testRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.startTimes, run)
	p.numFinished++
	p.notifyCaller(time.Now())
}

// notifyCaller calls p.notify with the number of finished runs and the number of all runs. If a run has taken at least slowAfter, it also passes a text
// about the run that has taken longest. The caller must hold p's lock.
func (p *progress) notifyCaller(now time.Time) {
	if p.notify == nil {
		return
	}
	var longest *testRun
	for run, start := range p.startTimes {
		if longest == nil || start.Before(p.startTimes[longest]) {
			longest = run
		}
	}
	slowest := ""
	if longest != nil && now.Sub(p.startTimes[longest]) >= slowAfter {
		duration := now.Sub(p.startTimes[longest]).Round(time.Second)
		slowest = fmt.Sprintf("%s on %s has run for %v", longest.engine.DisplayName(), longest.loadedTest.fileNames(), duration)
	}
	p.notify(p.numFinished, p.numRuns, slowest)
}

// fileNames returns the names of a test's model and properties file, for messages.
func (test *loadedTest) fileNames() string {
	return strings.TrimSpace(test.options.name(cmp.Or(test.switches.Model, test.Model)) + " " + test.options.name(cmp.Or(test.switches.Props, test.Props)))
}

// watch reports the progress every few seconds until stop is called.
func (p *progress) watch() (stop func()) {
	if p.notify == nil {
		return func() {}
	}
	ticker := time.NewTicker(slowAfter / 2)
	stopped := make(chan struct{})
	go p.reportRegularly(ticker.C, stopped)
	return func() {
		ticker.Stop()
		close(stopped)
	}
}

// reportRegularly reports the progress at each tick until stopped is closed.
func (p *progress) reportRegularly(ticks <-chan time.Time, stopped <-chan struct{}) {
	for {
		select {
		case now := <-ticks:
			p.mu.Lock()
			p.notifyCaller(now)
			p.mu.Unlock()
		case <-stopped:
			return
		}
	}
}
