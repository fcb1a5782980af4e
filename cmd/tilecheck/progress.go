package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"tilecheck/report/stream"

	"github.com/schollz/progressbar/v3"

	"tilecheck/internal/printable"
	"tilecheck/internal/progress"
)

// startProgress returns the functions that show and remove a progress bar on standard error. If it is no terminal, showProgress is nil and stopProgress
// does nothing.
func (e *environment) startProgress() (showProgress func(progress.Progress), stopProgress func()) {
	if _, isTerminal := e.terminal(e.stderr); !isTerminal || e.quiet {
		return nil, func() {}
	}
	progressBar := &bar{env: e}
	stopProgress = e.ending.addBar(progressBar.close)
	return progressBar.showProgress, stopProgress
}

// bar is a progress bar on standard error. It shows one property at a time.
type bar struct {
	env      *environment
	property string
	unit     progress.Unit
	drawn    *progressbar.ProgressBar
	mu       sync.Mutex
	isClosed bool // nothing is drawn any more
}

// showProgress shows the progress of a property. It starts a new bar when the property or the unit changes.
func (b *bar) showProgress(current progress.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isClosed {
		return
	}
	target := current.Target
	if target == 0 {
		target = -1 // a spinner
	}
	isNewTask := current.Property != b.property || current.Unit != b.unit || current.Done == 0
	if b.drawn == nil || isNewTask {
		b.clear()
		b.property, b.unit = current.Property, current.Unit
		b.drawn = newProgressBar(stream.Raw(b.env.stderr), target, current.Unit)
	}
	if b.drawn.GetMax64() != target && target > 0 {
		b.drawn.ChangeMax64(target)
	}
	b.drawn.Describe(printable.Line(describeProgress(current)))
	_ = b.drawn.Set64(current.Done) // an error of the terminal does not matter for the results
}

// newProgressBar returns a bar for an amount of work in the given unit. A negative target means that the amount is unknown.
func newProgressBar(w io.Writer, target int64, unit progress.Unit) *progressbar.ProgressBar {
	return progressbar.NewOptions64(
		target,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetWidth(24),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(string(unit)),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		// An interval other than 0 would start a goroutine that draws spinners over later output.
		progressbar.OptionSetSpinnerChangeInterval(0),
		progressbar.OptionEnableColorCodes(false),
	)
}

// close removes the bar, and makes all later reports draw nothing.
func (b *bar) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	b.isClosed = true
}

// clear removes the bar until the next report.
func (b *bar) clear() {
	if b.drawn != nil {
		_ = b.drawn.Clear()
		b.drawn = nil
	}
}

// describeProgress returns the text in front of the bar.
func describeProgress(current progress.Progress) string {
	switch {
	case current.Property == "":
		return "building the state space"
	case current.Detail != "":
		return current.Property + ": " + current.Detail
	case current.Done == 0 || current.Unit != progress.Samples || math.IsNaN(current.Estimate):
		return current.Property
	}
	return fmt.Sprintf("%s = %.4f +/- %.4f", current.Property, current.Estimate, current.HalfWidth)
}
