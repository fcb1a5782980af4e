package native

import (
	"context"
	"errors"
	"slices"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

const (
	// partStates is how many states are explored first where these may do: a tenth of a
	// second's worth.
	partStates = 20_000
	// chainStates is how many of a chain are explored first: what has no more is as fast
	// to check as to sum, and what has cycles is begun twice.
	chainStates = 20_000_000
	// stageStates is how many are explored at a time after that, and forgotten on the way.
	stageStates = 1 << 22
	// wholeStates is how many are explored all the same, so that a model is checked and
	// counted as any other one: some ten seconds' worth.
	wholeStates = 10_000_000
)

// beginning is how many states of a model are explored first, since these may answer some
// property whose answer is all that is wanted; zero is all.
type beginning struct {
	first int
	stage int // of a chain: how many are explored at a time after them
}

// begin returns what may do for a plan, see check.FromPart and check.Stages.
func begin(p *runner.Plan) beginning {
	job := &p.Job
	if num := &job.Numeric; job.NoFixDeadlocks || job.Scheduler != nil || job.Witness != nil || num.Reduce || num.Fair ||
		num.Accuracy == result.Proven || accuracy(num) == result.Estimated {
		return beginning{}
	}
	some := func(may func(logic.Written) bool) bool {
		return slices.ContainsFunc(p.Tasks, func(t *runner.Task) bool { return t.Rejected == nil && may(logic.Read(t.Property.X)) })
	}
	switch kind := p.Model.ModelType(); {
	case kind == syntax.MDP && some(func(q logic.Written) bool { return q.Kind == logic.Probability && q.Extremum == syntax.Max }):
		return beginning{first: partStates}
	case kind == syntax.DTMC && job.Numeric.MaxStates == 0 && some(logic.Written.Reaches):
		return beginning{first: chainStates, stage: stageStates}
	}
	return beginning{}
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
	cp := &p.Instance
	if b.stage > 0 {
		if stages := b.part.Stages(ctx, cp); stages != nil {
			opts := b.build
			opts.Part = b.stage
			switch v, ok, err := stages.Sum(ctx, opts); {
			case err != nil:
				return result.Verdict{Err: failure(err, result.Build, b.file, syntax.Pos{})}
			case ok:
				return v
			}
		}
		return b.checkAll(ctx, p)
	}
	v, ok := b.part.FromPart(ctx, cp)
	if !ok {
		return b.checkAll(ctx, p)
	}
	most := b.build.MaxStates
	if most == 0 || most > wholeStates {
		most = wholeStates
	}
	b.all(ctx, most)
	if _, large := errors.AsType[*explicit.LimitError](b.err); large || b.whole != nil && b.whole.space.Model().NumStates() > wholeStates {
		return v
	}
	return b.answer(ctx, p)
}

// checkAll checks a property of all states.
func (b *begun) checkAll(ctx context.Context, p *property) result.Verdict {
	b.all(ctx, b.build.MaxStates)
	return b.answer(ctx, p)
}

func (b *begun) answer(ctx context.Context, p *property) result.Verdict {
	if b.err != nil {
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
	} else if ctx.Err() != nil {
		b.tried = -1 // another property may have more memory
	}
}
