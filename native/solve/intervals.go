package solve

import (
	"context"
	"iter"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// intervalSystem is a system of equations of an interval model. The value of a choice is its reward plus the optimum of the sum over t of
// p(t) x(t) over its distributions p. Nature picks the distribution. All lower interval ends are positive, so the graph does not
// depend on the distributions: qualitative results are the same as for the model without intervals. An end component in which the
// scheduler could stay without reward is one unknown. So the equations have one solution, and inductive bounds enclose it.
//
// Source: Puggelli et al. (CAV 2013).
type intervalSystem struct {
	*nature
	graph         *sparse.Graph
	dir           Direction
	reward        *sparse.Reward
	isProbability bool
	maybe         *sparse.Set
	choices       *sparse.Set         // the allowed choices; nil for all
	endComponents map[uint32][]uint32 // the states of each end component, by representative
	values        *Values
	meter         *meter
}

// newIntervalSystem returns the equations of an interval model: for expected rewards, or for probabilities if reward is nil.
// The error is ErrNotExact if the weights or the rewards have no fractions.
func newIntervalSystem(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*intervalSystem, error) {
	if !graph.Exact() || !hasFractions(reward) {
		return nil, ErrNotExact
	}
	opts.Scheduler = false
	meter := newMeter(ctx, opts, graph.NumStates())
	nature, err := newNature(graph.Model, dir.nature() == Min, meter)
	if err != nil {
		return nil, err
	}
	return &intervalSystem{nature: nature, graph: graph, dir: dir, reward: reward, values: newValues(graph.Model, opts), meter: meter}, nil
}

// choiceBound returns a bound on the value of a choice of state s for the optimal distribution of nature: an upper bound if isUpper is set,
// or a lower bound. It follows from the bounds of the targets.
func (sys *intervalSystem) choiceBound(s, choice int, isUpper bool) float64 {
	values := sys.values.Lower
	if isUpper {
		values = sys.values.Upper
	}
	rewardErr := 0.0
	if sys.reward != nil {
		rewardErr = sys.reward.RelErr
	}
	bound := sys.nature.choiceBound(choice, sys.reward.ChoiceTotal(s, choice), rewardErr, values, isUpper)
	if sys.isProbability {
		return min(bound, 1)
	}
	return bound
}

// mergeEndComponents makes each end component without reward a single unknown, and forbids the choices that stay in it.
func (sys *intervalSystem) mergeEndComponents(ctx context.Context) error {
	model := sys.graph.Model
	components, err := model.EndComponents(ctx, sys.maybe, sys.zeroRewardChoices())
	if err != nil || components.Num() == 0 {
		return err
	}
	sys.representatives = make([]uint32, model.NumStates())
	sys.endComponents = map[uint32][]uint32{}
	for s := range sys.representatives {
		sys.representatives[s] = uint32(s)
	}
	for i := range components.Num() {
		members := components.Members(i)
		sys.endComponents[members[0]] = members
		for _, s := range members {
			sys.representatives[s] = members[0]
		}
	}
	if sys.choices == nil {
		sys.choices = sparse.FullSet(model.NumChoices())
	}
	sys.choices = sys.choices.Minus(components.Choices)
	return nil
}

// zeroRewardChoices returns the allowed choices of the maybe states that have no reward.
func (sys *intervalSystem) zeroRewardChoices() *sparse.Set {
	choices := sparse.NewSet(sys.graph.NumChoices())
	for s := range sys.maybe.All() {
		first, end := sys.graph.Choices(s)
		for choice := first; choice < end; choice++ {
			isAllowed := sys.choices == nil || sys.choices.Has(choice)
			if isAllowed && sys.reward.ChoiceTotal(s, choice) == 0 {
				choices.Add(choice)
			}
		}
	}
	return choices
}

// allowedChoices iterates over the allowed choices of an unknown, each with its state. The unknown is given by its representative s.
func (sys *intervalSystem) allowedChoices(s uint32) iter.Seq2[int, int] {
	return func(yield func(state, choice int) bool) {
		members := sys.endComponents[s]
		if members == nil {
			members = []uint32{s}
		}
		for _, member := range members {
			first, end := sys.graph.Choices(int(member))
			for c := first; c < end; c++ {
				isAllowed := sys.choices == nil || sys.choices.Has(c)
				if isAllowed && !yield(int(member), c) {
					return
				}
			}
		}
	}
}

// optimum computes a bound on the value of an unknown from the bounds of its successors: the optimum over its choices. The unknown is given
// by its representative s. work is the number of operations.
func (sys *intervalSystem) optimum(s uint32, isUpper bool) (bound float64, work int) {
	minimize := sys.dir.Scheduler() == Min
	for state, choice := range sys.allowedChoices(s) {
		value := sys.choiceBound(state, choice, isUpper)
		isFirst := work == 0
		if isFirst || isBetter(value, bound, minimize) {
			bound = value
		}
		work += 4 * int(sys.graph.FirstTransition[choice+1]-sys.graph.FirstTransition[choice])
	}
	return bound, work
}

// solve computes bounds on the values of the maybe states, one component after the other. Then it computes exact values if they are requested.
func (sys *intervalSystem) solve(ctx context.Context, opts Options) (*Values, error) {
	components := sys.graph.Model.Components(sys.maybe, nil)
	for i := range components.Num() {
		members := components.Members(i)
		isMerged := func(s uint32) bool { return sys.representativeOf(s) != s }
		unknowns := slices.DeleteFunc(slices.Clone(members), isMerged)
		if err := sys.solveComponent(unknowns, opts); err != nil {
			return nil, err
		}
		for _, s := range members {
			representative := sys.representativeOf(s)
			sys.values.Lower[s] = sys.values.Lower[representative]
			sys.values.Upper[s] = sys.values.Upper[representative]
		}
		sys.meter.progress.Done += len(members)
	}
	if sys.values.Exact != nil {
		if err := sys.exactStrategyIteration(ctx, opts); err != nil {
			return nil, err
		}
	}
	return sys.values, nil
}

// solveComponent stores bounds on the unknowns of a component, by optimistic value iteration. All other successors must be solved.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (sys *intervalSystem) solveComponent(unknowns []uint32, opts Options) error {
	if len(unknowns) == 1 && !sys.hasSelfLoop(unknowns[0]) {
		s := unknowns[0]
		var work int
		sys.values.Lower[s], work = sys.optimum(s, false)
		sys.values.Upper[s], _ = sys.optimum(s, true)
		return sys.meter.addWork(2 * work)
	}
	margin, precision := opts.epsilon()/2, opts.epsilon()/8
	for sweeps := 1; ; sweeps++ {
		change, err := sys.sweepLower(unknowns)
		if err != nil {
			return err
		}
		if change > precision && sweeps < opts.maxSweeps() {
			continue
		}
		proved, err := sys.proveUpper(unknowns, margin, 10+sweeps/2)
		if proved || err != nil {
			return err
		}
		switch {
		case sweeps >= opts.maxSweeps() || margin > 1:
			sys.useTrivialBounds(unknowns)
			return nil
		case change == 0: // as tight as float64 allows
			margin *= 8
		default:
			precision /= 8
		}
	}
}

// hasSelfLoop reports whether some choice of the unknown with representative s can return to this unknown.
func (sys *intervalSystem) hasSelfLoop(s uint32) bool {
	isSelf := func(target uint32) bool { return sys.representativeOf(target) == s }
	for _, choice := range sys.allowedChoices(s) {
		first, end := sys.graph.Transitions(choice)
		if slices.ContainsFunc(sys.graph.Target[first:end], isSelf) {
			return true
		}
	}
	return false
}

// sweepLower raises the lower bounds by one Gauss-Seidel sweep. It returns the greatest relative change.
func (sys *intervalSystem) sweepLower(unknowns []uint32) (change float64, err error) {
	sys.values.Sweeps++
	sys.meter.progress.Sweeps++
	for _, s := range unknowns {
		bound, work := sys.optimum(s, false)
		if old := sys.values.Lower[s]; bound > old {
			change = max(change, (bound-old)/bound)
			sys.values.Lower[s] = bound
		}
		if err := sys.meter.addWork(work); err != nil {
			return 0, err
		}
	}
	sys.meter.progress.Change = change
	return change, nil
}

// proveUpper guesses upper bounds by a relative margin above the lower bounds, and reports whether it can prove them.
// A sweep that raises no bound proves the guess. A sweep that lowers no bound refutes it.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (sys *intervalSystem) proveUpper(unknowns []uint32, margin float64, maxSweeps int) (proved bool, err error) {
	for _, s := range unknowns {
		bound := max(sys.values.Lower[s]*(1+margin), robustFloor)
		if sys.isProbability {
			bound = min(bound, 1)
		}
		sys.values.Upper[s] = bound
	}
	for range maxSweeps {
		raised, lowered, err := sys.sweepUpper(unknowns)
		switch {
		case err != nil:
			return false, err
		case !raised:
			return true, nil
		case !lowered:
			return false, nil
		}
	}
	return false, nil
}

// sweepUpper replaces the upper bounds by one Gauss-Seidel sweep. It reports whether it raised or lowered a bound.
func (sys *intervalSystem) sweepUpper(unknowns []uint32) (raised, lowered bool, err error) {
	sys.values.Sweeps++
	for _, s := range unknowns {
		bound, work := sys.optimum(s, true)
		raised = raised || !(bound <= sys.values.Upper[s])
		lowered = lowered || !(bound >= sys.values.Upper[s])
		sys.values.Upper[s] = bound
		if err := sys.meter.addWork(work); err != nil {
			return raised, lowered, err
		}
	}
	return raised, lowered, nil
}

// useTrivialBounds sets the upper bounds to 1 for probabilities, or infinity for rewards.
func (sys *intervalSystem) useTrivialBounds(unknowns []uint32) {
	sys.values.Converged = false
	for _, s := range unknowns {
		sys.values.Upper[s] = math.Inf(1)
		if sys.isProbability {
			sys.values.Upper[s] = 1
		}
	}
}

// robustUntil returns bounds on the probability of `left U right` in an interval model.
func robustUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, dir Direction, opts Options) (*Values, error) {
	sys, err := newIntervalSystem(ctx, graph, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	analysis, err := computeProb01(ctx, graph, left, right, dir.Scheduler())
	if err != nil {
		return nil, err
	}
	sys.isProbability = true
	sys.values.setAll(analysis.oneStates, 1)
	sys.maybe = analysis.maybeStates()
	if err := sys.mergeEndComponents(ctx); err != nil {
		return nil, err
	}
	return sys.solve(ctx, opts)
}

// canEarnReward returns the maybe states from which a reward can be earned. All other maybe states have the value 0.
func (sys *intervalSystem) canEarnReward(maybe *sparse.Set) *sparse.Set {
	earningStates := sparse.NewSet(sys.graph.NumStates())
	for s := range maybe.All() {
		first, end := sys.graph.Choices(s)
		for choice := first; choice < end; choice++ {
			if sys.reward.ChoiceTotal(s, choice) > 0 {
				earningStates.Add(s)
			}
		}
	}
	return sys.graph.ExistsUntil(maybe, earningStates).Intersect(maybe)
}

// robustReach returns bounds on the reachability reward in an interval model.
func robustReach(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, target *sparse.Set, dir Direction, opts Options) (*Values, error) {
	sys, err := newIntervalSystem(ctx, graph, reward, dir, opts)
	if err != nil {
		return nil, err
	}
	analysis, err := analyzeReachReward(ctx, graph, target, dir.Scheduler())
	if err != nil {
		return nil, err
	}
	sys.values.setAll(analysis.infiniteStates, math.Inf(1))
	sys.maybe, sys.choices = sys.canEarnReward(analysis.maybeStates), analysis.choices
	if err := sys.mergeEndComponents(ctx); err != nil {
		return nil, err
	}
	return sys.solve(ctx, opts)
}
