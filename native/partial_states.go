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

// Numbers of states that are explored before the whole model.
const (
	// firstStates is the size of the first part of an MDP: exploring it takes about 0.1 s.
	firstStates = 20_000
	// firstChainStates is the size of the first part of a DTMC. A smaller chain is checked as fast as it is summed.
	firstChainStates = 20_000_000
	// stageStates is the number of states of a further stage of a DTMC. States of earlier stages are forgotten.
	stageStates = 1 << 22
	// wholeStates is the size up to which a model is explored even if its part has the answer, so that the verdict has the
	// sizes of the model: about 10 s.
	wholeStates = 10_000_000
)

// partOptions say how many states of a model to explore first; zero is all of them.
type partOptions struct {
	first int
	stage int // for a DTMC: the number of states of each further stage
}

// partOptionsOf returns the options for a plan. The first states are explored separately if check.FromPart or check.Stages may
// evaluate a property from them, and if the plan needs no other outputs.
func partOptionsOf(p *runner.Plan) partOptions {
	job := &p.Job
	num := &job.Numeric
	needsAllStates := job.NoFixDeadlocks || job.Scheduler != nil || job.Witness != nil || num.Reduce || num.Fair ||
		num.Accuracy == result.Proven || accuracy(num) == result.Estimated
	if needsAllStates {
		return partOptions{}
	}
	someProperty := func(suitable func(logic.Written) bool) bool {
		return slices.ContainsFunc(p.Tasks, func(t *runner.Task) bool { return t.Rejected == nil && suitable(logic.Read(t.Property.X)) })
	}
	isPmax := func(q logic.Written) bool { return q.Kind == logic.Probability && q.Extremum == syntax.Max }
	kind := p.Model.ModelType()
	switch {
	case kind == syntax.MDP && someProperty(isPmax):
		return partOptions{first: firstStates}
	case kind == syntax.DTMC && num.MaxStates == 0 && someProperty(logic.Written.Reaches):
		return partOptions{first: firstChainStates, stage: stageStates}
	}
	return partOptions{}
}

// partialStates is an instance whose first states are explored. It explores all states when a property needs them.
type partialStates struct {
	*statesMethod
	model *compile.Model
	first *check.Checker // of the first states
	whole *states        // all states; nil until they are explored
	tried int            // the limit of states of the last exploration
	err   error          // the error of the last exploration
}

// check implements instance. It evaluates the property from the first states if it can, and otherwise on the whole
// model.
func (b *partialStates) check(ctx context.Context, p *property) result.Verdict {
	cp := &p.Instance
	if b.part.stage > 0 {
		if stages := b.first.Stages(ctx, cp); stages != nil {
			opts := b.build
			opts.Part = b.part.stage
			v, ok, err := stages.Sum(ctx, opts)
			switch {
			case err != nil:
				return result.Verdict{Err: failure(err, result.Build, b.file, syntax.Pos{})}
			case ok:
				return v
			}
		}
		return b.checkAll(ctx, p)
	}
	v, ok := b.first.FromPart(ctx, cp)
	if !ok {
		return b.checkAll(ctx, p)
	}
	maxStates := b.build.MaxStates
	if maxStates == 0 || maxStates > wholeStates {
		maxStates = wholeStates
	}
	b.explore(ctx, maxStates)
	_, limitExceeded := errors.AsType[*explicit.LimitError](b.err)
	tooLarge := b.whole != nil && b.whole.space.Model().NumStates() > wholeStates
	if limitExceeded || tooLarge {
		return v
	}
	return b.answer(ctx, p)
}

// checkAll checks a property on the whole model.
func (b *partialStates) checkAll(ctx context.Context, p *property) result.Verdict {
	b.explore(ctx, b.build.MaxStates)
	return b.answer(ctx, p)
}

// answer checks a property on the whole model, if that could be explored.
func (b *partialStates) answer(ctx context.Context, p *property) result.Verdict {
	if b.err != nil {
		return result.Verdict{Err: failure(b.err, result.Build, b.file, syntax.Pos{})}
	}
	return b.whole.check(ctx, p)
}

// explore explores the whole model, up to maxStates states (0 for no limit), unless it did so before.
func (b *partialStates) explore(ctx context.Context, maxStates int) {
	if b.whole != nil || b.err != nil && b.tried == maxStates {
		return
	}
	opts := b.build
	opts.MaxStates = maxStates
	b.tried = maxStates
	space, err := explicit.Build(ctx, b.model, opts)
	b.err = err
	switch {
	case err == nil:
		b.whole = b.over(space, nil)
	case ctx.Err() != nil:
		b.tried = -1 // the next property may have more time or memory
	}
}
