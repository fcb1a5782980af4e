package native

import (
	"context"
	"errors"
	"slices"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

const (
	// partStates is how many states are explored first where these may do: a tenth of a
	// second's worth.
	partStates = 20_000
	// wholeStates is how many are explored all the same, so that a model is checked and
	// counted as any other one: some ten seconds' worth.
	wholeStates = 10_000_000
)

// hopeful reports whether part of the states may answer some property of a plan, see
// check.FromPart, whose answer is all that is wanted.
func hopeful(p *runner.Plan) bool {
	job := &p.Job
	if num := &job.Numeric; job.NoFixDeadlocks || job.Scheduler != nil || job.Witness != nil || num.Reduce || num.Fair ||
		num.Accuracy == result.Proven || accuracy(num.Accuracy) == result.Estimated {
		return false
	}
	return slices.ContainsFunc(p.Tasks, func(t *runner.Task) bool {
		x, is := t.Property.X.(*syntax.Prob)
		return t.Rejected == nil && is && x.Extremum == syntax.Max
	})
}

// begun is an instance of which the first states are known, and all others when a
// property needs them.
type begun struct {
	*exact
	model *compile.Model
	part  *check.Checker
	whole *built
	tried int   // how many states whole may have had so far
	err   error // why there is no whole
}

func (b *begun) check(ctx context.Context, p *property) result.Verdict {
	// What other properties needed must not matter.
	v, ok := b.part.FromPart(ctx, &check.Property{Property: p.Property, Program: p.program, File: p.file})
	most := b.build.MaxStates
	if ok && (most == 0 || most > wholeStates) {
		most = wholeStates
	}
	b.all(ctx, most)
	switch _, large := errors.AsType[*explicit.LimitError](b.err); {
	case ok && (large || b.whole != nil && b.whole.space.Model().NumStates() > wholeStates):
		return v
	case b.err != nil:
		return result.Verdict{Err: failure(b.err, result.Build, b.file, syntax.Pos{})}
	}
	return b.whole.check(ctx, p)
}

// all explores the model, up to so many states (0 is no limit), unless that was done.
func (b *begun) all(ctx context.Context, most int) {
	if b.whole != nil || b.err != nil && b.tried == most {
		return
	}
	opts := b.build
	opts.MaxStates, b.tried = most, most
	space, err := explicit.Build(ctx, b.model, opts)
	if b.err = err; err == nil {
		b.whole = b.over(space, nil)
	}
}
