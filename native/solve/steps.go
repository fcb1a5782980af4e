package solve

import (
	"context"
	"slices"
	"sync/atomic"

	"tilecheck/native/space/sparse"
)

// Unbounded is the upper step bound of a formula that has none.
const Unbounded = -1

// StepBound is the step bound of an until formula: right holds after at least Low and at most High steps. High may be
// Unbounded.
type StepBound struct{ Low, High int }

// Next returns bounds on the minimal or maximal probability that the first transition leads to the given states.
func Next(ctx context.Context, graph *sparse.Graph, states *sparse.Set, direction Direction, opts Options) (*Values, error) {
	system, err := newStepEquations(ctx, graph, nil, direction, opts)
	if err != nil {
		return nil, err
	}
	system.isProbability = true
	system.values.setAll(states, 1)
	err = system.applyEquations(ctx, opts, sparse.FullSet(graph.NumStates()), 1)
	system.values.Scheduler = system.stepScheduler.firstChoices()
	return system.values, err
}

// BoundedUntil returns bounds on the minimal or maximal probability of `left U right` with a bound on the number of steps,
// in a DTMC or MDP. Schedulers may count steps; Values.StepChoices has an optimal scheduler.
func BoundedUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, bound StepBound, direction Direction, opts Options) (*Values, error) {
	if bound.Low > 0 {
		opts.Within = nil
	}
	system, err := newStepEquations(ctx, graph, nil, direction, opts)
	if err != nil {
		return nil, err
	}
	system.isProbability = true
	var finalChoices []uint32 // the choices after all steps that are counted
	if bound.High == Unbounded {
		values, err := Until(ctx, graph, left, right, direction, opts)
		if err != nil {
			return nil, err
		}
		system.values = values
		finalChoices = values.Scheduler
		values.Scheduler = nil
	} else {
		system.stepLimit = system.untilLimit(ctx, left, right, direction, opts)
	}
	err = boundedUntil(system.values, left, right, bound, func(maybe *sparse.Set, numSteps int) error {
		err := system.applyEquations(ctx, opts, maybe, numSteps)
		system.stepLimit = nil // it applies to the first call only: later calls compute another formula
		return err
	})
	if err != nil {
		return nil, err
	}
	system.values.StepChoices = system.stepScheduler.stepChoices(finalChoices)
	return system.values, nil
}

// boundedUntil computes `left U right` with a bound on the number of steps, from the last step to the first. The function takeSteps applies the
// equations of the maybe states numSteps times to values. If bound.High is Unbounded, values must already be the values of `left U right`.
func boundedUntil(values *Values, left, right *sparse.Set, bound StepBound, takeSteps func(maybe *sparse.Set, numSteps int) error) error {
	if bound.High != Unbounded {
		values.setAll(right, 1)
		if err := takeSteps(left.Minus(right), bound.High-bound.Low); err != nil {
			return err
		}
	}
	if bound.Low == 0 {
		return nil
	}
	// After Low steps right may hold instead of left. Before that, left must hold.
	if err := takeSteps(left, 1); err != nil {
		return err
	}
	values.setAll(left.Complement(), 0)
	return takeSteps(left, bound.Low-1)
}

// CumulReward returns bounds on the minimal or maximal expected reward of the given number of steps of a DTMC or MDP.
func CumulReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, steps int, direction Direction, opts Options) (*Values, error) {
	return withScaledRewards(reward, opts, func(reward *sparse.Reward) (*Values, error) {
		return cumulReward(ctx, graph, reward, steps, direction, opts)
	})
}

// cumulReward returns bounds on the optimal expected reward of the given number of steps. The rewards must be large enough that sums of
// them cannot underflow.
func cumulReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, steps int, direction Direction, opts Options) (*Values, error) {
	system, err := newStepEquations(ctx, graph, reward, direction, opts)
	if err != nil {
		return nil, err
	}
	system.stepSkipper = system.newStepSkipper(opts)
	system.stepLimit = system.rewardLimit(ctx, reward, steps, opts)
	err = system.applyEquations(ctx, opts, sparse.FullSet(graph.NumStates()), steps)
	system.values.StepChoices = system.stepScheduler.stepChoices(nil)
	return system.values, err
}

// InstantReward returns bounds on the minimal or maximal expected state reward after the given number of steps of a DTMC or MDP.
func InstantReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, steps int, direction Direction, opts Options) (*Values, error) {
	return withScaledRewards(reward, opts, func(reward *sparse.Reward) (*Values, error) {
		return instantReward(ctx, graph, reward, steps, direction, opts)
	})
}

// instantReward returns bounds on the optimal expected state reward after the given number of steps. The rewards must be large enough that
// products cannot underflow.
func instantReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, steps int, direction Direction, opts Options) (*Values, error) {
	system, err := newStepEquations(ctx, graph, reward, direction, opts)
	if err != nil {
		return nil, err
	}
	system.setStateRewards(reward)
	system.stepSkipper = system.newStepSkipper(opts)
	err = system.applyEquations(ctx, opts, sparse.FullSet(graph.NumStates()), steps)
	system.values.StepChoices = system.stepScheduler.stepChoices(nil)
	return system.values, err
}

// setStateRewards sets the value of each state after the last step to its state reward. The steps themselves earn no reward.
func (system *equationSystem) setStateRewards(reward *sparse.Reward) {
	system.reward = nil
	for state, value := range reward.State {
		system.values.Lower[state], system.values.Upper[state] = system.rounding.rewardBounds(value)
		if system.isExact() && reward.StateFractions[state] != nil {
			system.values.Exact[state] = reward.StateFractions[state]
		}
	}
}

// newStepwise returns a system whose equations describe one step. It records a step-counting scheduler if
// opts.Scheduler is set.
func newStepwise(graph *sparse.Graph, reward *sparse.Reward, direction Direction, opts Options) (*equationSystem, error) {
	recorder := newStepScheduler(graph.Model, opts)
	opts.Scheduler = false
	system, err := newSystem(graph, reward, direction, opts)
	if err != nil {
		return nil, err
	}
	system.isOneStep, system.stepScheduler = true, recorder
	return system, nil
}

// newStepEquations returns a system whose equations describe one step. In an interval model, nature picks the probabilities in each step,
// and no scheduler is recorded. The error is ErrNotExact if the weights or rewards of such a model have no fractions.
func newStepEquations(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, direction Direction, opts Options) (*equationSystem, error) {
	if !graph.Intervals() {
		return newStepwise(graph, reward, direction, opts)
	}
	if !graph.Exact() || !hasFractions(reward) {
		return nil, ErrNotExact
	}
	opts.Scheduler = false
	system, err := newStepwise(graph, reward, direction.Scheduler(), opts)
	if err != nil {
		return nil, err
	}
	system.nature, err = newNature(graph.Model, direction.nature() == Min, newMeter(ctx, opts, graph.NumStates()))
	return system, err
}

// applyEquations applies the equations of all maybe states numSteps times. The other states keep their values.
func (system *equationSystem) applyEquations(ctx context.Context, opts Options, maybe *sparse.Set, numSteps int) error {
	if system.isExact() {
		return system.exactSteps(ctx, opts, maybe, numSteps)
	}
	run := system.newStepRun(opts, maybe, newStepMeter(ctx, opts, numSteps), numSteps)
	return system.values.applySteps(run.meter, numSteps, run.step)
}

// stepRun applies the equations of some states several times. Where it can, it takes many steps at once: in a small chain by squaring
// a matrix (dense), in a larger one by bounding a geometric series, and otherwise by extrapolation or, in a small MDP or game, by squaring the
// matrix of a policy (policySteps).
type stepRun struct {
	system         *equationSystem
	opts           Options
	states         []uint32
	numSteps       int // the number of steps
	meter          *meter
	dense          *denseSteps // nil if it cannot be used
	denseAfter     int         // the number of steps after which dense takes all steps
	useGeometric   bool
	geometricAfter int // the number of steps after which geometric steps replace them
	policyAfter    int // the number of steps after which policySteps takes the others; 0 if it cannot be used
	extrapolation  *stepExtrapolation
	blocks         *changedBlocks // nil if each step evaluates all states
}

// newStepRun prepares numSteps steps of the maybe states, and selects a method that can take many steps at once.
func (system *equationSystem) newStepRun(opts Options, maybe *sparse.Set, meter *meter, numSteps int) *stepRun {
	run := &stepRun{system: system, opts: opts, numSteps: numSteps, meter: meter, states: make([]uint32, 0, maybe.Count())}
	startsAtZero := true
	for state := range maybe.All() {
		run.states = append(run.states, uint32(state))
		startsAtZero = startsAtZero && system.values.Upper[state] == 0
	}
	if system.stepScheduler == nil { // a recorded scheduler needs the choices of all states in each step
		run.blocks = newChangedBlocks(system.graph, run.states, numSteps)
	}
	if start, ok := system.denseStepsStart(run.states, numSteps); ok {
		if dense, ok := system.newDenseSteps(run.states, nil); ok {
			run.dense, run.denseAfter = dense, start
			return run
		}
	}
	if system.allowsGeometricSteps(opts, run.states, numSteps) {
		run.useGeometric, run.geometricAfter = true, geometricAfter
		return run
	}
	if startsAtZero {
		run.policyAfter = system.policyStepsStart(opts, run.states, numSteps)
	}
	run.extrapolation = system.newStepExtrapolation(opts, run.states, numSteps)
	return run
}

// continued returns a run for the last remaining steps, without policySteps. The methods that compare the bounds with those after earlier
// steps, stepSkipper and stepExtrapolation, start anew.
func (run *stepRun) continued(remaining int) *stepRun {
	system := run.system
	if system.stepSkipper != nil {
		system.stepSkipper = system.newStepSkipper(run.opts)
	}
	return &stepRun{
		system: system, opts: run.opts, numSteps: remaining, meter: run.meter, states: run.states,
		extrapolation: system.newStepExtrapolation(run.opts, run.states, remaining),
	}
}

// step writes the bounds after one more step to lower and upper; stepsDone is the number of earlier steps. It returns true if the current bounds
// of the system are final.
func (run *stepRun) step(stepsDone int, lower, upper []float64) (isFinal bool, err error) {
	if isFinal, err := run.tryRemaining(stepsDone, lower, upper); isFinal || err != nil {
		return true, err
	}
	recorder := run.system.stepScheduler
	recorder.beginStep()
	run.blocks.beginStep()
	changed, err := run.system.stepInBlocks(run.states, lower, upper, run.blocks, run.meter)
	if err != nil {
		return true, err
	}
	if !changed { // no later step changes a bound
		recorder.endStep(run.numSteps - stepsDone)
		return true, nil
	}
	recorder.endStep(1)
	return false, nil
}

// tryRemaining tries to take all remaining steps at once; stepsDone is the number of earlier steps. It returns true if the current bounds of the
// system are final. lower and upper have the bounds before the last step.
func (run *stepRun) tryRemaining(stepsDone int, lower, upper []float64) (isFinal bool, err error) {
	system, remaining := run.system, run.numSteps-stepsDone
	maySkip := system.stepSkipper != nil && system.stepScheduler == nil && system.rounding.grid == 0
	if maySkip && system.stepSkipper.trySkip(system.values, stepsDone, remaining) {
		return true, nil
	}
	if system.shouldTryLimit(stepsDone, remaining) {
		if isNarrow, err := system.stepLimit(lower, upper, remaining); isNarrow || err != nil {
			return isNarrow, err
		}
	}
	remainingSteps, hasExtrapolated, err := run.extrapolation.tryToExtrapolate(stepsDone, run.meter)
	if err != nil {
		return false, err
	}
	if hasExtrapolated {
		return true, system.takeSteps(run.states, remainingSteps, run.meter)
	}
	switch {
	case run.useGeometric && stepsDone == run.geometricAfter:
		return run.takeGeometricSteps(stepsDone)
	case run.policyAfter > 0 && stepsDone == run.policyAfter:
		return true, run.takePolicySteps(remaining)
	case run.dense != nil && stepsDone == run.denseAfter:
		return run.takeDenseSteps()
	}
	return false, nil
}

// takeGeometricSteps takes all steps by geometricSteps, which begins with the first step again. It returns false, and waits for twice as many single
// steps, if the stepSkipper will probably skip the remaining steps before that.
func (run *stepRun) takeGeometricSteps(stepsDone int) (isFinal bool, err error) {
	system := run.system
	if system.stepSkipper.expectsToSkip(stepsDone, run.numSteps-stepsDone) {
		run.geometricAfter *= 2
		return false, nil
	}
	return true, system.newGeometricSteps(run.opts, run.states, run.numSteps).run(run.meter)
}

// takePolicySteps takes the remaining steps by policySteps and, where this stops early, by another stepRun.
func (run *stepRun) takePolicySteps(remaining int) error {
	remaining, err := run.system.newPolicySteps(run.states).run(run.meter, remaining)
	if remaining == 0 || err != nil {
		return err
	}
	return run.system.values.applySteps(run.meter, remaining, run.continued(remaining).step)
}

// takeDenseSteps takes all steps from the first one by repeated squaring, and stores the bounds. It returns false if a number overflows.
func (run *stepRun) takeDenseSteps() (isFinite bool, err error) {
	isFinite, err = run.dense.run(run.meter, run.numSteps)
	if isFinite {
		run.dense.writeBounds(run.system.values)
	}
	return isFinite, err
}

// takeSteps applies the equations of the given states numSteps times, without recording a scheduler.
func (system *equationSystem) takeSteps(states []uint32, numSteps int, meter *meter) error {
	return system.values.applySteps(meter, numSteps, func(_ int, lower, upper []float64) (isFinal bool, err error) {
		_, err = system.stepInBlocks(states, lower, upper, nil, meter)
		return err != nil, err
	})
}

// applySteps calls step numSteps times. Each call writes the bounds after one more step to lower and upper, which then replace the bounds in values.
// stepsDone is the number of earlier steps. If step returns true, the current bounds are final, and applySteps stops.
func (values *Values) applySteps(meter *meter, numSteps int, step func(stepsDone int, lower, upper []float64) (isFinal bool, err error)) error {
	lower, upper := slices.Clone(values.Lower), slices.Clone(values.Upper)
	for i := range numSteps {
		if isFinal, err := step(i, lower, upper); isFinal || err != nil {
			return err
		}
		values.Lower, lower = lower, values.Lower
		values.Upper, upper = upper, values.Upper
		meter.progress.Done++
	}
	return nil
}

// stepInBlocks writes the bounds of the given states after one step to lower and upper, in parallel. It reports whether any bound changed. If blocks is
// not nil, lower and upper must have the bounds before the last step, and blocks must know what the last step has changed.
func (system *equationSystem) stepInBlocks(states []uint32, lower, upper []float64, blocks *changedBlocks, meter *meter) (changed bool, err error) {
	var anyChanged atomic.Bool
	err = inBlocks(states, meter, func(part []uint32) (work int) {
		changed, work := system.stepChangedBlocks(part, lower, upper, blocks)
		if changed {
			anyChanged.Store(true)
		}
		return work
	})
	return anyChanged.Load(), err
}

// inBlocks handles the states in blocks, one after the other. It calls handle for parts of a block, some of them in parallel. handle returns
// its work, which inBlocks adds to the meter after each block. The error comes from the meter.
func inBlocks(states []uint32, meter *meter, handle func(block []uint32) (work int)) error {
	const blockSize, minPart = 1 << 16, 1 << 11 // states
	for from := 0; from < len(states); from += blockSize {
		blockStates := states[from:min(from+blockSize, len(states))]
		var work atomic.Int64
		inParallelParts(len(blockStates), minPart, func(from, to int) {
			work.Add(int64(handle(blockStates[from:to])))
		})
		if err := meter.addWork(int(work.Load())); err != nil {
			return err
		}
	}
	return nil
}

// stepChangedBlocks writes the bounds of the given states after one step to lower and upper, and returns the same as stepBlock. If blocks is not nil, it does
// not evaluate the blocks that read no changed value: their bounds stay as they are.
func (system *equationSystem) stepChangedBlocks(states []uint32, lower, upper []float64, blocks *changedBlocks) (changed bool, work int) {
	if blocks == nil {
		return system.stepBlock(states, lower, upper)
	}
	for len(states) > 0 {
		block, numMembers := firstBlock(states)
		members := states[:numMembers]
		states = states[numMembers:]
		switch {
		case blocks.mayChange(block):
			blockChanged, blockWork := system.stepBlock(members, lower, upper)
			if blockChanged {
				changed = true
				blocks.changed[block].Store(true)
			}
			work += blockWork
		case blocks.changedBefore[block].Load(): // lower and upper have the bounds before the last step, which changed them
			for _, state := range members {
				lower[state], upper[state] = system.values.Lower[state], system.values.Upper[state]
			}
		}
	}
	return changed, work
}

// stepBlock writes the bounds of the given states after one step to lower and upper. It reports whether any bound changed, and returns the
// number of evaluated transitions.
func (system *equationSystem) stepBlock(states []uint32, lower, upper []float64) (changed bool, work int) {
	for _, state := range states {
		bounds := system.stepOptimum(int(state))
		lower[state], upper[state] = bounds.lower, bounds.upper
		system.stepScheduler.setChoice(int(state), bounds.choice)
		changed = changed || bounds.lower != system.values.Lower[state] || bounds.upper != system.values.Upper[state]
		first, end := system.graph.Choices(int(state))
		work += int(system.graph.FirstTransition[end] - system.graph.FirstTransition[first])
	}
	return changed, work
}

// stepOptimum applies the Bellman operator to one state: it returns bounds on the minimum or maximum, over the choices of the state, of the expected value
// after one step. system.values has the values after the step.
func (system *equationSystem) stepOptimum(state int) bestBounds {
	graph, lower, upper := system.graph, system.values.Lower, system.values.Upper
	minimize := system.minimizes(state)
	bounds := emptyBestBounds(minimize)
	first, end := graph.Choices(state)
	for choice := first; choice < end; choice++ {
		firstTransition := graph.FirstTransition[choice]
		hasOneTarget := graph.FirstTransition[choice+1]-firstTransition == 1
		hasReward := system.reward != nil && system.reward.ChoiceTotal(state, choice) != 0
		if hasReward || !hasOneTarget {
			bounds.include(system.evaluateChoice(state, choice), uint32(choice), minimize)
			continue
		}
		// The choice has the value of its only target. The lines below do the same as bestBounds.include, and are faster than a call.
		target := graph.Target[firstTransition]
		targetLower, targetUpper := lower[target], upper[target]
		if minimize {
			if targetUpper < bounds.upper || bounds.choice == sparse.None {
				bounds.upper, bounds.choice = targetUpper, uint32(choice)
			}
			bounds.lower = min(bounds.lower, targetLower)
			continue
		}
		if targetLower > bounds.lower {
			bounds.lower, bounds.choice = targetLower, uint32(choice)
		}
		bounds.upper = max(bounds.upper, targetUpper)
	}
	if system.isProbability {
		bounds.upper = min(bounds.upper, 1)
	}
	bounds.lower = min(bounds.lower, bounds.upper)
	return bounds
}
