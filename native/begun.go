package native

import (
	"context"
	"slices"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// partStates is how many states are explored first where these may do: a tenth of a
// second's worth.
const partStates = 20_000

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
	err   error // why there is no whole
}

func (b *begun) check(ctx context.Context, p *property) result.Verdict {
	// What other properties needed must not matter.
	if v, ok := b.part.FromPart(ctx, &check.Property{Property: p.Property, Program: p.program, File: p.file}); ok {
		return v
	}
	if b.whole == nil && b.err == nil {
		var space *explicit.Space
		if space, b.err = explicit.Build(ctx, b.model, b.build); b.err == nil {
			b.whole = b.over(space, nil)
		}
	}
	if b.err != nil {
		return result.Verdict{Err: failure(b.err, result.Build, b.file, syntax.Pos{})}
	}
	return b.whole.check(ctx, p)
}
