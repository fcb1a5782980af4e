package native

import (
	"context"
	"errors"

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

// partOptionsOf decides how many states of a plan's model are explored first. It is all of them, unless some property may have its
// value after a part: Pmax of an MDP (check.FromPart), or reachability in a DTMC (check.Stages). Outputs such as schedulers need all
// states.
func partOptionsOf(plan *runner.Plan) partOptions {
	job := &plan.Job
	numeric := &job.Numeric
	needsAllStates := job.NoFixDeadlocks || job.Scheduler != nil || job.Witness != nil || numeric.Reduce || numeric.Fair ||
		numeric.Accuracy == result.Proven || accuracy(numeric) == result.Estimated
	if needsAllStates {
		return partOptions{}
	}
	var hasPmax, hasReachability bool
	for _, task := range plan.Tasks {
		if task.Rejected != nil {
			continue
		}
		property := logic.Read(task.Property.X)
		hasPmax = hasPmax || property.Kind == logic.Probability && property.Extremum == syntax.Max
		hasReachability = hasReachability || property.Reaches()
	}
	switch kind := plan.Model.ModelType(); {
	case kind == syntax.MDP && hasPmax:
		return partOptions{first: firstStates}
	case kind == syntax.DTMC && hasReachability && numeric.MaxStates == 0:
		return partOptions{first: firstChainStates, stage: stageStates}
	}
	return partOptions{}
}

// partialStates is an instance whose first states are explored. It explores all states when a property needs them.
type partialStates struct {
	*statesMethod
	model     *compile.Model
	first     *check.Checker // of the first states
	whole     *exploredModel // all states; nil until they are explored
	lastLimit int            // the limit of states of the last exploration
	err       error          // the error of the last exploration
}

// check implements instance. If the first states determine the answer, it returns that answer, and otherwise it checks the whole
// model. An MDP of at most wholeStates states is always explored completely, so that the verdict has the sizes of the model.
func (partial *partialStates) check(ctx context.Context, property *checkedProperty) result.Verdict {
	checked := &property.Instance
	if partial.partOptions.stage > 0 {
		if stages := partial.first.Stages(ctx, checked); stages != nil {
			opts := partial.build
			opts.Part = partial.partOptions.stage
			verdict, ok, err := stages.Sum(ctx, opts)
			switch {
			case err != nil:
				return result.Verdict{Err: failure(err, result.Build, partial.file, syntax.Pos{})}
			case ok:
				return verdict
			}
		}
		return partial.checkAll(ctx, property)
	}
	verdict, ok := partial.first.FromPart(ctx, checked)
	if !ok {
		return partial.checkAll(ctx, property)
	}
	maxStates := partial.build.MaxStates
	if maxStates == 0 || maxStates > wholeStates {
		maxStates = wholeStates
	}
	partial.exploreAll(ctx, maxStates)
	_, limitExceeded := errors.AsType[*explicit.LimitError](partial.err)
	tooLarge := partial.whole != nil && partial.whole.space.Model().NumStates() > wholeStates
	if limitExceeded || tooLarge {
		return verdict
	}
	return partial.checkExplored(ctx, property)
}

// checkAll checks a property on the whole model.
func (partial *partialStates) checkAll(ctx context.Context, property *checkedProperty) result.Verdict {
	partial.exploreAll(ctx, partial.build.MaxStates)
	return partial.checkExplored(ctx, property)
}

// checkExplored checks a property on the whole model. If the exploration failed, the verdict has its error.
func (partial *partialStates) checkExplored(ctx context.Context, property *checkedProperty) result.Verdict {
	if partial.err != nil {
		return result.Verdict{Err: failure(partial.err, result.Build, partial.file, syntax.Pos{})}
	}
	return partial.whole.check(ctx, property)
}

// exploreAll explores the whole model, up to maxStates states (0 for no limit), unless it did so before.
func (partial *partialStates) exploreAll(ctx context.Context, maxStates int) {
	if partial.whole != nil || partial.err != nil && partial.lastLimit == maxStates {
		return
	}
	opts := partial.build
	opts.MaxStates = maxStates
	partial.lastLimit = maxStates
	space, err := explicit.Build(ctx, partial.model, opts)
	partial.err = err
	switch {
	case err == nil:
		partial.whole = partial.newExploredModel(space, nil)
	case ctx.Err() != nil:
		partial.lastLimit = -1 // the next property may have more time or memory
	}
}
