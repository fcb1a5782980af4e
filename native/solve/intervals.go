package solve

import (
	"context"
	"iter"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// intervalSystem is a system of equations of an interval model. The value of a choice is its reward plus the optimum of the sum over t of
// p(t) x(t) over its distributions p. Nature picks the distribution.
//
// An end component in which the scheduler can stay without reward is one unknown, if it has only choices whose lower interval ends are
// positive: the scheduler can reach each of its states from every other one, whatever nature does. If all lower ends of the model are
// positive, the equations then have one solution. Otherwise a side can stay in states where the other side decides which states are reached,
// and there are several solutions:
//
//   - The least one has the probabilities, because a path that never reaches the target has the value 0. It is approached from below, and
//     upper bounds are proved by induction.
//   - The greatest finite one has the rewards, because a path that never reaches the target has the value infinity. It is approached from
//     above, and lower bounds are proved by induction.
//
// Source: Puggelli et al. (CAV 2013); Haddad and Monmege, Interval iteration algorithm for MDPs and IMDPs (2018).
type intervalSystem struct {
	*nature
	graph         *sparse.Graph
	dir           Direction
	reward        *sparse.Reward
	isProbability bool
	fromAbove     bool // the solution is approached from above
	maybe         *sparse.Set
	optional      *sparse.Set         // the choices with a transition whose lower interval end is 0
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
	opts.Scheduler, opts.Exact = false, false
	meter := newMeter(ctx, opts, graph.NumStates())
	nature, err := newNature(graph.Model, dir.nature() == Min, meter)
	if err != nil {
		return nil, err
	}
	return &intervalSystem{
		nature: nature, graph: graph, dir: dir, reward: reward, optional: optionalChoices(graph.Model), values: newValues(graph.Model, opts), meter: meter,
	}, nil
}

// choiceBound returns a bound on the value of a choice of state s if nature picks the optimal distribution: an upper bound if isUpper is set, and otherwise
// a lower bound. It uses the current bounds of the targets.
func (system *intervalSystem) choiceBound(s, choice int, isUpper bool) float64 {
	values := system.values.Lower
	if isUpper {
		values = system.values.Upper
	}
	rewardErr := 0.0
	if system.reward != nil {
		rewardErr = system.reward.RelErr
	}
	bound := system.nature.choiceBound(choice, system.reward.ChoiceTotal(s, choice), rewardErr, values, isUpper)
	if system.isProbability {
		return min(bound, 1)
	}
	return bound
}

// mergeEndComponents merges the states of each end component without reward into one unknown, and forbids the choices that stay in it, because a scheduler
// can move within it freely.
func (system *intervalSystem) mergeEndComponents(ctx context.Context) error {
	model := system.graph.Model
	components, err := model.EndComponents(ctx, system.maybe, system.zeroRewardChoices().Minus(system.optional))
	if err != nil || components.Num() == 0 {
		return err
	}
	system.representatives = make([]uint32, model.NumStates())
	system.endComponents = map[uint32][]uint32{}
	for s := range system.representatives {
		system.representatives[s] = uint32(s)
	}
	for i := range components.Num() {
		members := components.Members(i)
		system.endComponents[members[0]] = members
		for _, s := range members {
			system.representatives[s] = members[0]
		}
	}
	if system.choices == nil {
		system.choices = sparse.FullSet(model.NumChoices())
	}
	system.choices = system.choices.Minus(components.Choices)
	return nil
}

// zeroRewardChoices returns the allowed choices of the maybe states that have no reward.
func (system *intervalSystem) zeroRewardChoices() *sparse.Set {
	choices := sparse.NewSet(system.graph.NumChoices())
	for s := range system.maybe.All() {
		first, end := system.graph.Choices(s)
		for choice := first; choice < end; choice++ {
			isAllowed := system.choices == nil || system.choices.Has(choice)
			if isAllowed && system.reward.ChoiceTotal(s, choice) == 0 {
				choices.Add(choice)
			}
		}
	}
	return choices
}

// allowedChoices iterates over the allowed choices of an unknown. It yields each choice with its state. s is the representative of the unknown, which can
// stand for several states.
func (system *intervalSystem) allowedChoices(s uint32) iter.Seq2[int, int] {
	return func(yield func(state, choice int) bool) {
		members := system.endComponents[s]
		if members == nil {
			members = []uint32{s}
		}
		for _, member := range members {
			first, end := system.graph.Choices(int(member))
			for c := first; c < end; c++ {
				isAllowed := system.choices == nil || system.choices.Has(c)
				if isAllowed && !yield(int(member), c) {
					return
				}
			}
		}
	}
}

// optimum returns a bound on the value of an unknown: the optimum of choiceBound over its choices. s is the representative of the unknown. work is the
// number of operations.
func (system *intervalSystem) optimum(s uint32, isUpper bool) (bound float64, work int) {
	minimize := system.dir.Scheduler() == Min
	for state, choice := range system.allowedChoices(s) {
		value := system.choiceBound(state, choice, isUpper)
		isFirst := work == 0
		if isFirst || isBetter(value, bound, minimize) {
			bound = value
		}
		work += 4 * int(system.graph.FirstTransition[choice+1]-system.graph.FirstTransition[choice])
	}
	return bound, work
}

// solve computes bounds on the values of the maybe states, one component after the other.
func (system *intervalSystem) solve(opts Options) (*Values, error) {
	components := system.graph.Model.Components(system.maybe, nil)
	for i := range components.Num() {
		members := components.Members(i)
		isMerged := func(s uint32) bool { return system.representativeOf(s) != s }
		unknowns := slices.DeleteFunc(slices.Clone(members), isMerged)
		if err := system.solveComponent(unknowns, opts); err != nil {
			return nil, err
		}
		for _, s := range members {
			representative := system.representativeOf(s)
			system.values.Lower[s] = system.values.Lower[representative]
			system.values.Upper[s] = system.values.Upper[representative]
		}
		system.meter.progress.Done += len(members)
	}
	return system.values, nil
}

// solveComponent computes bounds on the unknowns of a component by optimistic value iteration, and stores them. Their successors in other components must be
// solved.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (system *intervalSystem) solveComponent(unknowns []uint32, opts Options) error {
	if len(unknowns) == 1 && !system.hasSelfLoop(unknowns[0]) {
		s := unknowns[0]
		var work int
		system.values.Lower[s], work = system.optimum(s, false)
		system.values.Upper[s], _ = system.optimum(s, true)
		return system.meter.addWork(2 * work)
	}
	margin, precision := opts.epsilon()/2, opts.epsilon()/8
	for sweeps := 1; ; sweeps++ {
		change, err := system.sweepIterated(unknowns)
		if err != nil {
			return err
		}
		if change > precision && sweeps < opts.maxSweeps() {
			continue
		}
		proved, err := system.proveGuess(unknowns, margin, 10+sweeps/2)
		if err != nil {
			return err
		}
		// The bounds can be wide if the guess moved to another solution, or if those of a successor are wide.
		isNarrow := proved && !system.hasWideBounds(unknowns, opts.epsilon())
		if isNarrow || proved && (change == 0 || !system.values.Converged) {
			system.values.Converged = system.values.Converged && isNarrow
			return nil
		}
		switch {
		case sweeps >= opts.maxSweeps() || margin > 1:
			system.useTrivialBounds(unknowns)
			return nil
		case change == 0: // float64 allows no tighter lower bounds, so guess higher upper bounds
			margin *= 8
		default:
			precision /= 8
		}
	}
}

// hasWideBounds reports whether the relative width of the bounds of an unknown exceeds epsilon.
func (system *intervalSystem) hasWideBounds(unknowns []uint32, epsilon float64) bool {
	return slices.ContainsFunc(unknowns, func(s uint32) bool {
		lower, upper := system.values.Lower[s], system.values.Upper[s]
		return upper > robustFloor && !(upper-lower <= epsilon*upper)
	})
}

// hasSelfLoop reports whether some choice of the unknown with representative s can return to this unknown.
func (system *intervalSystem) hasSelfLoop(s uint32) bool {
	isSelf := func(target uint32) bool { return system.representativeOf(target) == s }
	for _, choice := range system.allowedChoices(s) {
		first, end := system.graph.Transitions(choice)
		if slices.ContainsFunc(system.graph.Target[first:end], isSelf) {
			return true
		}
	}
	return false
}

// sweepIterated makes the iterated bounds tighter by one Gauss-Seidel sweep: the lower ones, or the upper ones if the solution is approached
// from above. It returns the greatest relative change.
func (system *intervalSystem) sweepIterated(unknowns []uint32) (change float64, err error) {
	system.values.Sweeps++
	system.meter.progress.Sweeps++
	bounds := system.values.Lower
	if system.fromAbove {
		bounds = system.values.Upper
	}
	for _, s := range unknowns {
		bound, work := system.optimum(s, system.fromAbove)
		if old := bounds[s]; isBetter(bound, old, system.fromAbove) {
			change = max(change, math.Abs(bound-old)/max(bound, old))
			bounds[s] = bound
		}
		if err := system.meter.addWork(work); err != nil {
			return 0, err
		}
	}
	system.meter.progress.Change = change
	return change, nil
}

// proveGuess guesses the bounds of the other side by a relative margin to the iterated bounds, and reports whether it can prove them.
// A sweep that makes no guess weaker proves them. A sweep that makes no guess tighter refutes them if the equations have one solution.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (system *intervalSystem) proveGuess(unknowns []uint32, margin float64, maxSweeps int) (proved bool, err error) {
	for _, s := range unknowns {
		if !system.guess(s, margin) {
			return false, nil
		}
	}
	for range maxSweeps {
		weaker, tighter, err := system.sweepGuessed(unknowns)
		switch {
		case err != nil:
			return false, err
		case !weaker:
			return true, nil
		case !tighter && system.optional.Empty():
			return false, nil
		}
	}
	return false, nil
}

// guess sets the guessed bound of an unknown. ok is false if the iterated bound is infinite: induction proves nothing then.
func (system *intervalSystem) guess(s uint32, margin float64) (ok bool) {
	lower, upper := system.values.Lower, system.values.Upper
	switch {
	case system.fromAbove:
		lower[s] = max(upper[s]*(1-margin), 0)
		return !math.IsInf(upper[s], 1)
	case system.isProbability:
		upper[s] = min(max(lower[s]*(1+margin), robustFloor), 1)
	default:
		upper[s] = max(lower[s]*(1+margin), robustFloor)
	}
	return true
}

// sweepGuessed replaces the guessed bounds by one Gauss-Seidel sweep. It reports whether a bound became weaker, and whether one became tighter.
func (system *intervalSystem) sweepGuessed(unknowns []uint32) (weaker, tighter bool, err error) {
	system.values.Sweeps++
	bounds := system.values.Upper
	if system.fromAbove {
		bounds = system.values.Lower
	}
	for _, s := range unknowns {
		bound, work := system.optimum(s, !system.fromAbove)
		weaker = weaker || !(bound == bounds[s] || isBetter(bound, bounds[s], !system.fromAbove))
		tighter = tighter || !(bound == bounds[s] || isBetter(bound, bounds[s], system.fromAbove))
		bounds[s] = bound
		if err := system.meter.addWork(work); err != nil {
			return weaker, tighter, err
		}
	}
	return weaker, tighter, nil
}

// useTrivialBounds sets the guessed bounds to trivial ones: lower bounds to 0, upper bounds to 1 for probabilities, or infinity for rewards.
func (system *intervalSystem) useTrivialBounds(unknowns []uint32) {
	system.values.Converged = false
	for _, s := range unknowns {
		switch {
		case system.fromAbove:
			system.values.Lower[s] = 0
		case system.isProbability:
			system.values.Upper[s] = 1
		default:
			system.values.Upper[s] = math.Inf(1)
		}
	}
}

// robustUntil returns bounds on the probability of `left U right` in an interval model.
func robustUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, dir Direction, opts Options) (*Values, error) {
	system, err := newIntervalSystem(ctx, graph, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	game := newSupportGame(graph, dir, Max)
	positiveStates := game.attractedStates(left, right, sparse.FullSet(graph.NumStates()), nil)
	if opts.Exact || opts.Scheduler {
		return newUntilImprovement(system, left, right, positiveStates.Complement(), opts).run(ctx)
	}
	oneStates, err := game.almostSureStates(ctx, left, right, nil)
	if err != nil {
		return nil, err
	}
	system.isProbability = true
	system.values.setAll(oneStates, 1)
	system.maybe = positiveStates.Minus(oneStates)
	if err := system.mergeEndComponents(ctx); err != nil {
		return nil, err
	}
	return system.solve(opts)
}

// robustReach returns bounds on the reachability reward in an interval model. The value is infinite where the sides that minimize cannot reach
// the target almost surely. It is 0 where they can do so without reward.
func robustReach(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, target *sparse.Set, dir Direction, opts Options) (*Values, error) {
	system, err := newIntervalSystem(ctx, graph, reward, dir, opts)
	if err != nil {
		return nil, err
	}
	game, allStates := newSupportGame(graph, dir, Min), sparse.FullSet(graph.NumStates())
	strategy := firstChoices(graph)
	finiteStates, err := game.almostSureStates(ctx, allStates, target, strategy)
	if err != nil {
		return nil, err
	}
	improvement := newRewardImprovement(system, game, target, finiteStates, strategy, opts)
	if opts.Exact || opts.Scheduler {
		return improvement.run(ctx)
	}
	system.maybe = allStates
	game.choices = system.zeroRewardChoices()
	zeroStates, err := game.almostSureStates(ctx, allStates, target, nil)
	if err != nil {
		return nil, err
	}
	system.maybe = finiteStates.Minus(zeroStates)
	system.fromAbove = dir != Max && !system.optional.Empty()
	if system.fromAbove {
		if err := system.startFromStrategy(ctx, improvement, opts); err != nil {
			return nil, err
		}
	}
	system.values.setAll(finiteStates.Complement(), math.Inf(1))
	system.restrictToFinite(game, finiteStates)
	if err := system.mergeEndComponents(ctx); err != nil {
		return nil, err
	}
	return system.solve(opts)
}

// startFromStrategy sets the upper bounds of the maybe states to the values of a strategy that reaches the target almost surely.
func (system *intervalSystem) startFromStrategy(ctx context.Context, improvement *robustImprovement, opts Options) error {
	values, err := improvement.evaluate(ctx, opts)
	if err != nil {
		return err
	}
	for s := range system.maybe.All() {
		system.values.Upper[s] = values.Upper[s]
	}
	return nil
}

// restrictToFinite forbids what gives an infinite value in a state with a finite value: a choice of the scheduler, or a distribution of nature.
func (system *intervalSystem) restrictToFinite(game *supportGame, finiteStates *sparse.Set) {
	system.choices = system.graph.ChoicesWithin(finiteStates)
	if system.dir.nature() == Max {
		return
	}
	for choice := range system.graph.ChoicesOf(finiteStates).Minus(system.choices).All() {
		if game.canStayIn(choice, finiteStates.Has) {
			system.choices.Add(choice)
		}
	}
	system.excluded = finiteStates.Complement()
}
