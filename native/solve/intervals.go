package solve

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// intervalSystem is a system of equations of an interval model. The value of a choice is its reward plus the optimum of the sum over t of
// p(t) x(t) over its distributions p. Nature picks the distribution. All lower interval ends are positive, so the graph does not
// depend on the distributions: qualitative results are the same as for the model without intervals. An end component in which the
// scheduler could stay without reward is one unknown. So the equations have one solution, and inductive bounds enclose it.
//
// A distribution consists of the lower interval ends plus the free probability, which is 1 minus their sum. Nature gives
// the free probability to targets in the order of their values, to each at most the width of its interval. The free probabilities
// and the widths are computed from fractions and rounded once, so there is no cancellation.
//
// Source: Givan, Leach and Dean, Bounded-parameter Markov decision processes (2000); Katoen, Klink,
// Leucker and Wolf (CAV 2007); Puggelli et al. (CAV 2013).
type intervalSystem struct {
	graph           *sparse.Graph
	dir             Direction
	reward          *sparse.Reward
	isProbability   bool
	maybe           *sparse.Set
	choices         *sparse.Set         // the allowed choices; nil for all
	representative  []uint32            // the state that represents the end component of each state; nil if there are no end components
	endComponentOf  map[uint32][]uint32 // the states of each end component, by representative
	intervalWidth   []float64           // of the interval of each transition
	freeProbability []float64           // of each choice
	values          *Values
	adjustable      []adjustableTarget // scratch of choiceBound
	meter           *meter
}

// adjustableTarget is a target whose interval has a positive width, so it can get free probability.
type adjustableTarget struct{ value, intervalWidth float64 }

// newIntervalSystem returns the equations of an interval model: for expected rewards, or for probabilities if reward is nil.
// The error is ErrNotExact if the weights or the rewards have no fractions.
func newIntervalSystem(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*intervalSystem, error) {
	if !graph.Exact() || !hasFractions(reward) {
		return nil, ErrNotExact
	}
	opts.Scheduler = false
	sys := &intervalSystem{graph: graph, dir: dir, reward: reward, values: newValues(graph.Model, opts), meter: newMeter(ctx, opts, graph.NumStates())}
	return sys, sys.computeFreeProbability()
}

// computeFreeProbability sets the width of each probability interval, and the free probability of each choice.
func (sys *intervalSystem) computeFreeProbability() error {
	model := sys.graph.Model
	sys.intervalWidth = make([]float64, model.NumTransitions())
	sys.freeProbability = make([]float64, model.NumChoices())
	widthOf := map[[2]uint32]float64{}
	free := new(big.Rat)
	for c := range model.NumChoices() {
		first, end := model.Row(c)
		free.SetInt64(1)
		for i := first; i < end; i++ {
			free.Sub(free, model.Rat(i))
			sys.intervalWidth[i] = intervalWidth(model, i, widthOf)
		}
		sys.freeProbability[c] = nonzeroFloat(free)
		if err := sys.meter.addWork(1000); err != nil {
			return err
		}
	}
	return nil
}

// intervalWidth returns the width of the interval of transition i. It stores the width of each different interval in widthOf.
func intervalWidth(model *sparse.Model, i int, widthOf map[[2]uint32]float64) float64 {
	ends := [2]uint32{model.Weight[i], model.High[i]}
	if ends[0] == ends[1] {
		return 0
	}
	width, found := widthOf[ends]
	if !found {
		width = nonzeroFloat(new(big.Rat).Sub(model.HighRat(i), model.Rat(i)))
		widthOf[ends] = width
	}
	return width
}

// nonzeroFloat rounds a nonnegative fraction to a float64. Only 0 gives 0.
func nonzeroFloat(fraction *big.Rat) float64 {
	if fraction.Sign() == 0 {
		return 0
	}
	rounded, _ := sparse.NormalFloat(fraction)
	return rounded
}

// robustFloor is the least positive bound in interval models. Smaller lower bounds become 0.
const robustFloor = 0x1p-900

// choiceBound returns a lower or an upper bound on the value of choice c of state s, if nature picks its optimal distribution. The bounds
// of the targets must be known.
func (sys *intervalSystem) choiceBound(s, c int, upper bool) float64 {
	values := sys.values.Lower
	if upper {
		values = sys.values.Upper
	}
	reward := sys.reward.OfChoice(s, c)
	sum, minimum, maximum := sys.addLowerEnds(reward, c, values)
	if maximum == 0 && reward == 0 {
		return 0
	}
	if reward > 0 {
		minimum, maximum = 0, math.Inf(1) // the value is no mean of the values of the targets
	}
	if sys.freeProbability[c] > 0 {
		sum += sys.distributeFreeProbability(sys.freeProbability[c], upper)
	}
	first, end := sys.graph.Row(c)
	relErr := 1.05 * float64(4*(end-first)+24) * unit
	if sys.reward != nil {
		relErr += 1.05 * sys.reward.Err
	}
	if upper {
		return sys.roundUp(sum, relErr, maximum)
	}
	return sys.roundDown(sum, relErr, minimum)
}

// addLowerEnds returns the reward plus the values of the targets of choice c, weighted by the lower ends of the intervals.
// It also returns the least and the greatest value of a target, and stores the adjustable targets in sys.adjustable.
func (sys *intervalSystem) addLowerEnds(reward float64, c int, values []float64) (sum, minimum, maximum float64) {
	model := sys.graph.Model
	sum, minimum = reward, math.Inf(1)
	sys.adjustable = sys.adjustable[:0]
	first, end := model.Row(c)
	for i := first; i < end; i++ {
		value := values[sys.representativeOf(model.Target[i])]
		sum += model.Prob(i) * value
		minimum, maximum = min(minimum, value), max(maximum, value)
		if sys.intervalWidth[i] > 0 {
			sys.adjustable = append(sys.adjustable, adjustableTarget{value, sys.intervalWidth[i]})
		}
	}
	return sum, minimum, maximum
}

// roundUp returns an upper bound on a sum with the given relative error, at most maximum.
func (sys *intervalSystem) roundUp(sum, relErr, maximum float64) float64 {
	bound := min(max(sum+sum*relErr, robustFloor), maximum)
	if sys.isProbability {
		return min(bound, 1)
	}
	return bound
}

// roundDown returns a lower bound on a sum with the given relative error, at least minimum.
func (sys *intervalSystem) roundDown(sum, relErr, minimum float64) float64 {
	sum = min(sum, math.MaxFloat64)
	bound := sum - sum*relErr
	if !(bound >= robustFloor) {
		bound = 0
	}
	return max(bound, minimum)
}

// distributeFreeProbability returns the value that the free probability adds to a choice, as an upper or a lower bound.
// Nature gives the free probability to the adjustable targets in its order of preference, to each at most the width of the interval.
func (sys *intervalSystem) distributeFreeProbability(free float64, upper bool) float64 {
	natureMinimizes := sys.dir.nature() == Min
	slices.SortFunc(sys.adjustable, func(a, b adjustableTarget) int {
		if natureMinimizes {
			return cmp.Compare(a.value, b.value)
		}
		return cmp.Compare(b.value, a.value)
	})
	// A greater free probability raises the value. Greater widths raise it if nature maximizes, and lower it if nature minimizes.
	freeFactor, widthFactor := 1-4*unit, 1-4*unit
	if upper {
		freeFactor = 1 + 4*unit
	}
	if upper != natureMinimizes {
		widthFactor = 1 + 4*unit
	}
	remaining := free * freeFactor
	sum := 0.0
	for _, target := range sys.adjustable {
		amount := min(target.intervalWidth*widthFactor, remaining)
		sum += amount * target.value
		remaining = (remaining - amount) * freeFactor
		if remaining <= 0 {
			break
		}
	}
	return sum
}

// representativeOf returns the state whose equation state s shares: the representative of the end component of s, or s itself.
func (sys *intervalSystem) representativeOf(s uint32) uint32 {
	if sys.representative == nil {
		return s
	}
	return sys.representative[s]
}

// mergeEndComponents replaces each end component without reward by one unknown. Only choices that leave the component remain.
func (sys *intervalSystem) mergeEndComponents(ctx context.Context) error {
	model := sys.graph.Model
	components, err := model.EndComponents(ctx, sys.maybe, sys.zeroRewardChoices())
	if err != nil || components.Num() == 0 {
		return err
	}
	sys.representative = make([]uint32, model.NumStates())
	sys.endComponentOf = map[uint32][]uint32{}
	for s := range sys.representative {
		sys.representative[s] = uint32(s)
	}
	for i := range components.Num() {
		members := components.Members(i)
		sys.endComponentOf[members[0]] = members
		for _, s := range members {
			sys.representative[s] = members[0]
		}
	}
	if sys.choices == nil {
		sys.choices = sparse.FullSet(model.NumChoices())
	}
	sys.choices = sys.choices.Minus(components.Choices)
	return nil
}

// zeroRewardChoices returns the allowed choices of the maybe states without reward.
func (sys *intervalSystem) zeroRewardChoices() *sparse.Set {
	choices := sparse.NewSet(sys.graph.NumChoices())
	for s := range sys.maybe.All() {
		first, end := sys.graph.Choices(s)
		for c := first; c < end; c++ {
			isAllowed := sys.choices == nil || sys.choices.Has(c)
			if isAllowed && sys.reward.OfChoice(s, c) == 0 {
				choices.Add(c)
			}
		}
	}
	return choices
}

// allowedChoices returns the allowed choices of the unknown of state s, each with its state.
func (sys *intervalSystem) allowedChoices(s uint32) iter.Seq2[int, int] {
	return func(yield func(state, choice int) bool) {
		members := sys.endComponentOf[s]
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

// optimum returns the lower or the upper bound on the value of an unknown that follows from the bounds of its successors: the optimum over
// its choices. work is the number of operations. s is a state that represents the unknown.
func (sys *intervalSystem) optimum(s uint32, upper bool) (bound float64, work int) {
	minimize := sys.dir.Scheduler() == Min
	for state, c := range sys.allowedChoices(s) {
		value := sys.choiceBound(state, c, upper)
		isFirst := work == 0
		if isFirst || isBetter(value, bound, minimize) {
			bound = value
		}
		work += 4 * int(sys.graph.Start[c+1]-sys.graph.Start[c])
	}
	return bound, work
}

// solve computes bounds on the values of the maybe states, one component after the other. Then it computes exact values if they are requested.
func (sys *intervalSystem) solve(ctx context.Context, opts Options) (*Values, error) {
	components := sys.graph.Model.Components(sys.maybe, nil)
	for i := range components.Num() {
		members := components.Members(i)
		isOther := func(s uint32) bool { return sys.representativeOf(s) != s }
		unknowns := slices.DeleteFunc(slices.Clone(members), isOther)
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

// hasSelfLoop reports whether a choice of an unknown can return to it.
func (sys *intervalSystem) hasSelfLoop(s uint32) bool {
	isSelf := func(target uint32) bool { return sys.representativeOf(target) == s }
	for _, c := range sys.allowedChoices(s) {
		first, end := sys.graph.Row(c)
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
	sys.values.setAll(analysis.one, 1)
	sys.maybe = analysis.maybe()
	if err := sys.mergeEndComponents(ctx); err != nil {
		return nil, err
	}
	return sys.solve(ctx, opts)
}

// canEarnReward returns the maybe states from which a reward can be earned. All other maybe states have the value 0.
func (sys *intervalSystem) canEarnReward(maybe *sparse.Set) *sparse.Set {
	earning := sparse.NewSet(sys.graph.NumStates())
	for s := range maybe.All() {
		first, end := sys.graph.Choices(s)
		for c := first; c < end; c++ {
			if sys.reward.OfChoice(s, c) > 0 {
				earning.Add(s)
			}
		}
	}
	return sys.graph.ExistsUntil(maybe, earning).Intersect(maybe)
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
	sys.values.setAll(analysis.infinite, math.Inf(1))
	sys.maybe, sys.choices = sys.canEarnReward(analysis.maybe), analysis.choices
	if err := sys.mergeEndComponents(ctx); err != nil {
		return nil, err
	}
	return sys.solve(ctx, opts)
}
