package solve

import (
	"context"
	"slices"
	"sync/atomic"

	"tilecheck/native/space/sparse"
)

// Unbounded is the upper step bound of a formula that has none.
const Unbounded = -1

// Steps is the step bound of an until formula: right holds after at least Low and at most High steps. High may be
// Unbounded.
type Steps struct{ Low, High int }

// Next returns bounds on the minimal or maximal probability that the first step, or in a CTMC the first transition, leads to
// the given states.
func Next(ctx context.Context, graph *sparse.Graph, states *sparse.Set, dir Direction, opts Options) (*Values, error) {
	if graph.Intervals() {
		return robustNext(ctx, graph, states, dir, opts)
	}
	sys, err := newStepwise(graph, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.isProbability = true
	sys.values.setAll(states, 1)
	err = sys.steps(ctx, opts, sparse.FullSet(graph.NumStates()), 1)
	sys.values.Scheduler = sys.stepScheduler.first()
	return sys.values, err
}

// BoundedUntil returns bounds on the minimal or maximal probability of `left U right` with a bound on the number of steps,
// in a DTMC or MDP. Schedulers may count steps; Values.Steps has the optimal one.
func BoundedUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, bound Steps, dir Direction, opts Options) (*Values, error) {
	if graph.Intervals() {
		return robustBounded(ctx, graph, left, right, bound, dir, opts)
	}
	if bound.Low > 0 {
		opts.Within = nil
	}
	sys, err := newStepwise(graph, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.isProbability = true
	var finalChoices []uint32 // the choices after all steps that are counted
	if bound.High == Unbounded {
		values, err := Until(ctx, graph, left, right, dir, opts)
		if err != nil {
			return nil, err
		}
		sys.values = values
		finalChoices = values.Scheduler
		values.Scheduler = nil
	} else {
		sys.stepLimit = sys.untilLimit(ctx, left, right, dir, opts)
	}
	err = boundedUntil(sys.values, left, right, bound, func(maybe *sparse.Set, n int) error {
		err := sys.steps(ctx, opts, maybe, n)
		sys.stepLimit = nil // it applies to the first call only: later calls compute another formula
		return err
	})
	if err != nil {
		return nil, err
	}
	sys.values.Steps = sys.stepScheduler.steps(finalChoices)
	return sys.values, nil
}

// boundedUntil computes `left U right` with a bound on the number of steps, backwards from the last step. If
// there is no upper bound, values has the values without any bound. steps applies the equations of the maybe
// states n times to values.
func boundedUntil(values *Values, left, right *sparse.Set, bound Steps, steps func(maybe *sparse.Set, n int) error) error {
	if bound.High != Unbounded {
		values.setAll(right, 1)
		if err := steps(left.Minus(right), bound.High-bound.Low); err != nil {
			return err
		}
	}
	if bound.Low == 0 {
		return nil
	}
	// After Low steps right may hold instead of left. Before that, left must hold.
	if err := steps(left, 1); err != nil {
		return err
	}
	values.setAll(left.Complement(), 0)
	return steps(left, bound.Low-1)
}

// CumulReward returns bounds on the minimal or maximal expected reward of the given number of steps of a DTMC or MDP.
func CumulReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	if graph.Intervals() {
		return robustCumul(ctx, graph, reward, steps, dir, opts)
	}
	sys, err := newStepwise(graph, reward, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.stepSkipper = sys.newStepSkipper(opts)
	err = sys.steps(ctx, opts, sparse.FullSet(graph.NumStates()), steps)
	sys.values.Steps = sys.stepScheduler.steps(nil)
	return sys.values, err
}

// InstantReward returns bounds on the minimal or maximal expected state reward after the given number of steps of a DTMC or
// MDP. It ignores rewards of choices.
func InstantReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, steps int, dir Direction, opts Options) (*Values, error) {
	sys, err := newStepwise(graph, reward, dir, opts)
	if err != nil {
		return nil, err
	}
	sys.setStateRewards(reward)
	sys.stepSkipper = sys.newStepSkipper(opts)
	err = sys.steps(ctx, opts, sparse.FullSet(graph.NumStates()), steps)
	sys.values.Steps = sys.stepScheduler.steps(nil)
	return sys.values, err
}

// setStateRewards makes the state rewards the values after the last step. No step earns a reward then.
func (sys *system) setStateRewards(reward *sparse.Reward) {
	sys.reward = nil
	for s, x := range reward.State {
		sys.values.Lower[s], sys.values.Upper[s] = sys.rounding.rewardBounds(x)
		if sys.isExact() && reward.StateRat[s] != nil {
			sys.values.Exact[s] = reward.StateRat[s]
		}
	}
}

// newStepwise returns a system whose equations describe one step. It records a step-counting scheduler if
// opts.Scheduler is set.
func newStepwise(graph *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*system, error) {
	recorder := newStepScheduler(graph.Model, opts)
	opts.Scheduler = false
	sys, err := newSystem(graph, reward, dir, opts)
	if err == nil {
		sys.oneStep, sys.stepScheduler = true, recorder
	}
	return sys, err
}

// steps applies the equations of the maybe states n times, to all of them at once. The other states keep their values.
// It takes many steps at once by squaring a matrix in a small chain, and by bounding a geometric series in a larger one.
func (sys *system) steps(ctx context.Context, opts Options, maybe *sparse.Set, n int) error {
	if sys.isExact() {
		return sys.exactSteps(ctx, opts, maybe, n)
	}
	meter := newStepMeter(ctx, opts, n)
	states := make([]uint32, 0, maybe.Count())
	for s := range maybe.All() {
		states = append(states, uint32(s))
	}
	var dense *denseSteps
	denseAfter, ok := sys.denseStepsStart(states, n)
	if ok {
		dense, ok = sys.newDenseSteps(states)
	}
	geometric := !ok && sys.allowsGeometricSteps(opts, states, n)
	var extrapolation *stepExtrapolation
	if !ok && !geometric {
		extrapolation = sys.newStepExtrapolation(opts, states, n)
	}
	return sys.values.applySteps(meter, n, func(done int, lower, upper []float64) (last bool, err error) {
		if sys.stepSkipper != nil && sys.stepScheduler == nil && sys.rounding.grid == 0 && sys.stepSkipper.trySkip(sys.values, done, n-done) {
			return true, nil
		}
		if sys.triesLimit(done, n-done) {
			if enough, err := sys.stepLimit(lower, upper, n-done); enough || err != nil {
				return true, err
			}
		}
		if remaining, ok, err := extrapolation.tryToExtrapolate(done, meter); ok || err != nil {
			if ok {
				err = sys.takeSteps(states, remaining, meter)
			}
			return true, err
		}
		if geometric && done == geometricAfter {
			return true, sys.newGeometricSteps(opts, states, n).run(meter)
		}
		if ok && done == denseAfter {
			finite, err := dense.run(meter, n)
			if finite {
				dense.writeBounds(sys.values)
			}
			if finite || err != nil {
				return true, err
			}
		}
		sys.stepScheduler.beginStep()
		changed, err := sys.stepInBlocks(states, lower, upper, meter)
		switch {
		case err != nil:
			return true, err
		case !changed: // so no later step changes anything
			sys.stepScheduler.endStep(n - done)
			return true, nil
		}
		sys.stepScheduler.endStep(1)
		return false, nil
	})
}

// takeSteps applies the equations of the given states n times, and records no scheduler.
func (sys *system) takeSteps(states []uint32, n int, meter *meter) error {
	return sys.values.applySteps(meter, n, func(_ int, lower, upper []float64) (last bool, err error) {
		_, err = sys.stepInBlocks(states, lower, upper, meter)
		return err != nil, err
	})
}

// applySteps replaces the bounds n times by the bounds after one more step. The argument done of step is the number of
// earlier steps. step writes the new bounds to lower and upper. It returns true if the current bounds are final.
func (v *Values) applySteps(meter *meter, n int, step func(done int, lower, upper []float64) (last bool, err error)) error {
	lower, upper := slices.Clone(v.Lower), slices.Clone(v.Upper)
	for i := range n {
		if last, err := step(i, lower, upper); last || err != nil {
			return err
		}
		v.Lower, lower = lower, v.Lower
		v.Upper, upper = upper, v.Upper
		meter.progress.Done++
	}
	return nil
}

// stepInBlocks writes the bounds of the given states after one step to lower and upper, in parallel. It
// reports whether any bound changed.
func (sys *system) stepInBlocks(states []uint32, lower, upper []float64, meter *meter) (changed bool, err error) {
	var anyChanged atomic.Bool
	err = inBlocks(states, meter, func(part []uint32) (work int) {
		changed, work := sys.stepBlock(part, lower, upper)
		if changed {
			anyChanged.Store(true)
		}
		return work
	})
	return anyChanged.Load(), err
}

// inBlocks calls handle for disjoint parts of the states, some of them in parallel. handle returns its work, which is added to
// the meter. The error is that of the meter.
func inBlocks(states []uint32, meter *meter, handle func(part []uint32) (work int)) error {
	const block = 1 << 16
	for from := 0; from < len(states); from += block {
		blockStates := states[from:min(from+block, len(states))]
		var work atomic.Int64
		inParallelParts(len(blockStates), 1<<11, func(from, to int) {
			work.Add(int64(handle(blockStates[from:to])))
		})
		if err := meter.addWork(int(work.Load())); err != nil {
			return err
		}
	}
	return nil
}

// stepBlock writes the bounds of the given states after one step. It reports whether any bound changed, and
// returns the number of transitions.
func (sys *system) stepBlock(states []uint32, lower, upper []float64) (changed bool, work int) {
	for _, s := range states {
		bounds := sys.stepOptimum(int(s))
		lower[s], upper[s] = bounds.lower, bounds.upper
		sys.stepScheduler.setChoice(int(s), bounds.choice)
		changed = changed || bounds.lower != sys.values.Lower[s] || bounds.upper != sys.values.Upper[s]
		first, end := sys.graph.Choices(int(s))
		work += int(sys.graph.Start[end] - sys.graph.Start[first])
	}
	return changed, work
}

// stepOptimum returns the bounds of the optimum over the choices of state s for one step. A choice without reward and with
// one target has the bounds of the target, which it copies for speed.
func (sys *system) stepOptimum(s int) bestBounds {
	graph, lower, upper := sys.graph, sys.values.Lower, sys.values.Upper
	least := sys.minimizes(s)
	bounds := emptyBestBounds(least)
	first, end := graph.Choices(s)
	for c := first; c < end; c++ {
		firstTransition := graph.Start[c]
		hasReward := sys.reward != nil && sys.reward.OfChoice(s, c) != 0
		if hasReward || graph.Start[c+1]-firstTransition != 1 {
			bounds.include(sys.evaluateChoice(s, c), uint32(c), least)
			continue
		}
		// The rest is bestBounds.include, inlined for speed.
		target := graph.Target[firstTransition]
		targetLower, targetUpper := lower[target], upper[target]
		if least {
			if targetUpper < bounds.upper || bounds.choice == sparse.None {
				bounds.upper, bounds.choice = targetUpper, uint32(c)
			}
			bounds.lower = min(bounds.lower, targetLower)
			continue
		}
		if targetLower > bounds.lower {
			bounds.lower, bounds.choice = targetLower, uint32(c)
		}
		bounds.upper = max(bounds.upper, targetUpper)
	}
	if sys.isProbability {
		bounds.upper = min(bounds.upper, 1)
	}
	bounds.lower = min(bounds.lower, bounds.upper)
	return bounds
}
