package main

import (
	"fmt"
	"math"
	"time"

	"github.com/schollz/progressbar/v3"

	"tilecheck/runner"
)

// progress returns what an engine tells its progress, and a function that
// clears the bar. Both do nothing unless standard error is a terminal.
func (e *world) progress() (report func(runner.Progress), done func()) {
	if _, tty := e.terminal(e.stderr); !tty || e.quiet {
		return nil, func() {}
	}
	b := &bar{env: e}
	return b.report, b.clear
}

// bar shows one property at a time.
type bar struct {
	env      *world
	property string
	unit     runner.Unit
	bar      *progressbar.ProgressBar
}

func (b *bar) report(p runner.Progress) {
	target := p.Target
	if target == 0 {
		target = -1 // a spinner
	}
	if b.bar == nil || p.Property != b.property || p.Unit != b.unit || p.Done == 0 {
		b.clear()
		b.property, b.unit = p.Property, p.Unit
		b.bar = progressbar.NewOptions64(
			target,
			progressbar.OptionSetWriter(b.env.stderr),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetItsString(string(p.Unit)),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionEnableColorCodes(false),
		)
	}
	if b.bar.GetMax64() != target && target > 0 {
		b.bar.ChangeMax64(target)
	}
	b.bar.Describe(describeProgress(p))
	// The bar is decoration: a terminal that went away must not fail the run.
	_ = b.bar.Set64(p.Done)
}

func (b *bar) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
		b.bar = nil
	}
}

func describeProgress(p runner.Progress) string {
	switch {
	case p.Property == "":
		return "building the state space"
	case p.Done == 0 || p.Unit != runner.Samples || math.IsNaN(p.Estimate):
		return p.Property
	}
	return fmt.Sprintf("%s = %.4f +/- %.4f", p.Property, p.Estimate, p.HalfWidth)
}
