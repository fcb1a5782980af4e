package simulate

import (
	"errors"
	"fmt"

	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/stats"
)

// Failure classifies an error of this package or of the packages below it. The
// file and position are used for errors that know none of their own.
func Failure(err error, file string, at syntax.Pos) *result.Failure {
	if f, ok := errors.AsType[*result.Failure](err); ok {
		return f
	}
	if e, ok := errors.AsType[*compile.StateError](err); ok {
		f := &result.Failure{Class: result.Model, Message: e.Msg + " in state " + e.State, File: e.File, Pos: e.Pos}
		if e.Undecided {
			f.Class = result.Unsupported
		}
		if !e.Pos.IsValid() { // see builder.state
			f.File, f.Pos = file, at
		}
		return f
	}
	if e, ok := errors.AsType[*compile.UnsupportedError](err); ok {
		return &result.Failure{Class: result.Unsupported, Message: e.Msg, File: e.File, Pos: e.Pos}
	}
	f := &result.Failure{Class: result.Other, Message: err.Error(), File: file, Pos: at}
	if e, ok := errors.AsType[*stats.Error](err); ok {
		f.Class = statsClass(e.Code)
	}
	if ended := result.Ended(err); ended != nil { // not the fault of a place in a file
		return ended
	}
	return f
}

func statsClass(code stats.Code) result.Class {
	switch code {
	case stats.Unsupported:
		return result.Unsupported
	case stats.Truncated, stats.ZeroVariance, stats.NotDone:
		return result.NonConverge
	case stats.NotFinite:
		return result.Model
	}
	return result.Other
}

// pathFailure is the error of a property one of whose paths has no outcome.
func (c *check) pathFailure() error {
	o := c.failed
	so := fmt.Sprintf("sample %d of seed %d", c.res.Samples, c.opt.Seed)
	if n := c.res.Samples; n > 0 {
		so += fmt.Sprintf("; %d samples had finished with mean %v", n, c.res.Estimate)
	}
	switch o.Status {
	case compile.Undecided:
		f := &result.Failure{Class: result.PathLength, File: c.p.File, Pos: c.p.Pos}
		f.Message = fmt.Sprintf("a path was not decided after %d steps (%s): want more with --max-path (PRISM: -simpathlen)", o.Steps, so)
		if o.Steps < c.opt.MaxPath {
			f.Message = fmt.Sprintf("a path is in a deadlock after %d steps and never reaches what the reward is accumulated to (%s)", o.Steps, so)
		}
		return f
	case compile.Deadlocked:
		f := Failure(o.Err, c.p.File, c.p.Pos)
		f.Class = result.Deadlock
		f.Message += " (" + so + ")"
		return f
	}
	f := Failure(o.Err, c.p.File, c.p.Pos)
	f.Message += " (" + so + ")"
	return f
}

// interrupted is the error of a check whose context ended.
func (c *check) interrupted(cause error) error {
	f := Failure(cause, c.p.File, c.p.Pos)
	f.Message += fmt.Sprintf(" after %d samples", c.res.Samples)
	if n, fixed := c.plan.Samples(); fixed {
		f.Message += fmt.Sprintf(" of %d", n)
	}
	return f
}

// imprecise is the error of a bounded property whose bound is too close to the estimate.
func (c *check) imprecise(o stats.Outcome) error {
	return &result.Failure{
		Class: result.NonConverge, File: c.p.File, Pos: c.p.Pos,
		Message: fmt.Sprintf("not precise enough to decide: the estimate %v with half-width %v is too close to the bound %v; want more samples", o.Mean, o.Width, c.obj.Bound),
	}
}
