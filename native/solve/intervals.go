package solve

import (
	"cmp"
	"context"
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

// newIntervalSystem returns the equations for the values of the states of an interval model: expected rewards, or probabilities if
// reward is nil. The error is ErrNotExact if the weights or the rewards have no fractions.
func newIntervalSystem(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, dir Direction, opts Options) (*intervalSystem, error) {
	if !graph.Exact() || !hasFractions(reward) {
		return nil, ErrNotExact
	}
	opts.Scheduler = false
	sys := &intervalSystem{graph: graph, dir: dir, reward: reward, values: newValues(graph.Model, opts), meter: newMeter(ctx, opts, graph.NumStates())}
	return sys, sys.computeFreeProbability()
}

// computeFreeProbability sets the width of each probability interval, and the free probability of each choice.
func (iv *intervalSystem) computeFreeProbability() error {
	model := iv.graph.Model
	iv.intervalWidth = make([]float64, model.NumTransitions())
	iv.freeProbability = make([]float64, model.NumChoices())
	widthOf := map[[2]uint32]float64{}
	free := new(big.Rat)
	for c := range model.NumChoices() {
		first, end := model.Row(c)
		free.SetInt64(1)
		for i := first; i < end; i++ {
			free.Sub(free, model.Rat(i))
			interval := [2]uint32{model.Weight[i], model.High[i]}
			if interval[0] == interval[1] {
				continue
			}
			width, ok := widthOf[interval]
			if !ok {
				width = nonzeroFloat(new(big.Rat).Sub(model.HighRat(i), model.Rat(i)))
				widthOf[interval] = width
			}
			iv.intervalWidth[i] = width
		}
		iv.freeProbability[c] = nonzeroFloat(free)
		if err := iv.meter.addWork(1000); err != nil {
			return err
		}
	}
	return nil
}

// nonzeroFloat rounds a nonnegative fraction to a float64. The result is 0 only if the fraction is 0.
func nonzeroFloat(fraction *big.Rat) float64 {
	if fraction.Sign() == 0 {
		return 0
	}
	rounded, _ := sparse.NormalFloat(fraction)
	return rounded
}

// robustFloor is the least positive bound in interval models. Smaller lower bounds become 0.
const robustFloor = 0x1p-900

// choiceBound returns a lower or upper bound on the value of choice c of state s, from the bounds of its targets.
//
// Free probabilities and widths are rounded towards the wanted bound. A greater free probability raises the value, whether nature
// minimizes or maximizes. Greater widths raise it if nature maximizes, and lower it if nature minimizes.
func (iv *intervalSystem) choiceBound(s, c int, upper bool) float64 {
	model, values := iv.graph.Model, iv.values.Lower
	if upper {
		values = iv.values.Upper
	}
	reward := iv.reward.OfChoice(s, c)
	sum, minimum, maximum := reward, math.Inf(1), 0.0
	first, end := model.Row(c)
	iv.adjustable = iv.adjustable[:0]
	for i := first; i < end; i++ {
		value := values[iv.representativeOf(model.Target[i])]
		sum += model.Prob(i) * value
		minimum, maximum = min(minimum, value), max(maximum, value)
		if iv.intervalWidth[i] > 0 {
			iv.adjustable = append(iv.adjustable, adjustableTarget{value, iv.intervalWidth[i]})
		}
	}
	if maximum == 0 && reward == 0 {
		return 0
	}
	if iv.freeProbability[c] > 0 {
		sum += iv.distributeFreeProbability(iv.freeProbability[c], upper)
	}
	relErr := 1.05 * float64(4*(end-first)+24) * unit
	if iv.reward != nil {
		relErr += 1.05 * iv.reward.Err
	}
	if reward > 0 {
		minimum, maximum = 0, math.Inf(1) // the value is no mean of the values of the targets
	}
	if upper {
		bound := min(max(sum+sum*relErr, robustFloor), maximum)
		if iv.isProbability {
			bound = min(bound, 1)
		}
		return bound
	}
	sum = min(sum, math.MaxFloat64)
	bound := sum - sum*relErr
	if !(bound >= robustFloor) {
		bound = 0
	}
	return max(bound, minimum)
}

// distributeFreeProbability returns the value that the free probability adds, rounded up or down. It distributes the free probability
// over the adjustable targets, in the order that is best for nature, to each up to the width of its interval.
func (iv *intervalSystem) distributeFreeProbability(remaining float64, upper bool) float64 {
	natureMinimizes := iv.dir.nature() == Min
	slices.SortFunc(iv.adjustable, func(a, b adjustableTarget) int {
		if natureMinimizes {
			return cmp.Compare(a.value, b.value)
		}
		return cmp.Compare(b.value, a.value)
	})
	budgetFactor, widthFactor := 1-4*unit, 1-4*unit
	if upper {
		budgetFactor = 1 + 4*unit
	}
	if upper != natureMinimizes {
		widthFactor = 1 + 4*unit
	}
	remaining *= budgetFactor
	sum := 0.0
	for _, target := range iv.adjustable {
		amount := min(target.intervalWidth*widthFactor, remaining)
		sum += amount * target.value
		remaining = (remaining - amount) * budgetFactor
		if remaining <= 0 {
			break
		}
	}
	return sum
}

// representativeOf returns the state whose equation gives the value of state s: the representative of its end component, or s.
func (iv *intervalSystem) representativeOf(s uint32) uint32 {
	if iv.representative == nil {
		return s
	}
	return iv.representative[s]
}

// mergeEndComponents replaces each end component of the maybe states, in which the scheduler can stay without reward, by one
// unknown. Only the choices that leave the component remain for this unknown.
func (iv *intervalSystem) mergeEndComponents(ctx context.Context) error {
	model := iv.graph.Model
	components, err := model.EndComponents(ctx, iv.maybe, iv.zeroRewardChoices())
	if err != nil || components.Num() == 0 {
		return err
	}
	iv.representative = make([]uint32, model.NumStates())
	iv.endComponentOf = map[uint32][]uint32{}
	for s := range iv.representative {
		iv.representative[s] = uint32(s)
	}
	for i := range components.Num() {
		members := components.Members(i)
		iv.endComponentOf[members[0]] = members
		for _, s := range members {
			iv.representative[s] = members[0]
		}
	}
	if iv.choices == nil {
		iv.choices = sparse.FullSet(model.NumChoices())
	}
	iv.choices = iv.choices.Minus(components.Choices)
	return nil
}

// zeroRewardChoices returns the choices of the maybe states that have no reward.
func (iv *intervalSystem) zeroRewardChoices() *sparse.Set {
	choices := sparse.NewSet(iv.graph.NumChoices())
	for s := range iv.maybe.All() {
		first, end := iv.graph.Choices(s)
		for c := first; c < end; c++ {
			isAllowed := iv.choices == nil || iv.choices.Has(c)
			if isAllowed && iv.reward.OfChoice(s, c) == 0 {
				choices.Add(c)
			}
		}
	}
	return choices
}

// forEachChoice calls visit for the allowed choices of the unknown that state s represents.
func (iv *intervalSystem) forEachChoice(s uint32, visit func(s, c int)) {
	members := iv.endComponentOf[s]
	if members == nil {
		members = []uint32{s}
	}
	for _, member := range members {
		first, end := iv.graph.Choices(int(member))
		for c := first; c < end; c++ {
			if iv.choices == nil || iv.choices.Has(c) {
				visit(int(member), c)
			}
		}
	}
}

// optimum returns the upper or lower bound on the value of an unknown, which it computes from the bounds of its successors,
// and the number of operations.
func (iv *intervalSystem) optimum(s uint32, upper bool) (bound float64, work int) {
	minimize := iv.dir.Scheduler() == Min
	first := true
	iv.forEachChoice(s, func(member, c int) {
		value := iv.choiceBound(member, c, upper)
		if first || isBetter(value, bound, minimize) {
			bound, first = value, false
		}
		work += 4 * int(iv.graph.Start[c+1]-iv.graph.Start[c])
	})
	return bound, work
}

// solve computes bounds on the values of the maybe states, component by component, and then the exact values
// if they are asked for.
func (iv *intervalSystem) solve(ctx context.Context, opts Options) (*Values, error) {
	components := iv.graph.Model.Components(iv.maybe, nil)
	for i := range components.Num() {
		var unknowns []uint32
		for _, s := range components.Members(i) {
			if iv.representativeOf(s) == s {
				unknowns = append(unknowns, s)
			}
		}
		if err := iv.solveComponent(unknowns, opts); err != nil {
			return nil, err
		}
		for _, s := range components.Members(i) {
			representative := iv.representativeOf(s)
			iv.values.Lower[s] = iv.values.Lower[representative]
			iv.values.Upper[s] = iv.values.Upper[representative]
		}
		iv.meter.progress.Done += len(components.Members(i))
	}
	if iv.values.Exact != nil {
		if err := iv.exactStrategyIteration(ctx, opts); err != nil {
			return nil, err
		}
	}
	return iv.values, nil
}

// solveComponent bounds the values of a component whose successors are solved, by optimistic value iteration.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (iv *intervalSystem) solveComponent(unknowns []uint32, opts Options) error {
	if len(unknowns) == 1 && !iv.hasSelfLoop(unknowns[0]) {
		s := unknowns[0]
		var work int
		iv.values.Lower[s], work = iv.optimum(s, false)
		iv.values.Upper[s], _ = iv.optimum(s, true)
		return iv.meter.addWork(2 * work)
	}
	margin, precision := opts.epsilon()/2, opts.epsilon()/8
	for sweeps := 1; ; sweeps++ {
		change, err := iv.sweepLower(unknowns)
		if err != nil {
			return err
		}
		if change > precision && sweeps < opts.maxSweeps() {
			continue
		}
		proved, err := iv.proveUpper(unknowns, margin, 10+sweeps/2)
		if proved || err != nil {
			return err
		}
		switch {
		case sweeps >= opts.maxSweeps() || margin > 1:
			iv.useTrivialBounds(unknowns)
			return nil
		case change == 0: // as tight as float64 allows
			margin *= 8
		default:
			precision /= 8
		}
	}
}

// hasSelfLoop reports whether a choice of an unknown leads back to it.
func (iv *intervalSystem) hasSelfLoop(s uint32) bool {
	isSelf := func(target uint32) bool { return iv.representativeOf(target) == s }
	found := false
	iv.forEachChoice(s, func(_, c int) {
		first, end := iv.graph.Row(c)
		found = found || slices.ContainsFunc(iv.graph.Target[first:end], isSelf)
	})
	return found
}

// sweepLower raises the lower bounds by one Gauss-Seidel sweep. It returns the greatest relative change.
func (iv *intervalSystem) sweepLower(unknowns []uint32) (change float64, err error) {
	iv.values.Sweeps++
	iv.meter.progress.Sweeps++
	for _, s := range unknowns {
		bound, work := iv.optimum(s, false)
		if old := iv.values.Lower[s]; bound > old {
			change = max(change, (bound-old)/bound)
			iv.values.Lower[s] = bound
		}
		if err := iv.meter.addWork(work); err != nil {
			return 0, err
		}
	}
	iv.meter.progress.Change = change
	return change, nil
}

// proveUpper guesses upper bounds by a relative margin above the lower bounds, and reports whether it can prove them. It sweeps
// until a sweep raises no bound, which proves the guess, or lowers no bound, which refutes it. It gives up after the given
// number of sweeps.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (iv *intervalSystem) proveUpper(unknowns []uint32, margin float64, sweeps int) (proved bool, err error) {
	for _, s := range unknowns {
		bound := max(iv.values.Lower[s]*(1+margin), robustFloor)
		if iv.isProbability {
			bound = min(bound, 1)
		}
		iv.values.Upper[s] = bound
	}
	for range sweeps {
		iv.values.Sweeps++
		neverRose, neverFell := true, true
		for _, s := range unknowns {
			bound, work := iv.optimum(s, true)
			neverRose = neverRose && bound <= iv.values.Upper[s]
			neverFell = neverFell && bound >= iv.values.Upper[s]
			iv.values.Upper[s] = bound
			if err := iv.meter.addWork(work); err != nil {
				return false, err
			}
		}
		if neverRose {
			return true, nil
		}
		if neverFell {
			return false, nil
		}
	}
	return false, nil
}

// useTrivialBounds replaces the upper bounds by the trivial ones: 1 for probabilities, infinity for rewards. It keeps
// the lower bounds.
func (iv *intervalSystem) useTrivialBounds(unknowns []uint32) {
	iv.values.Converged = false
	for _, s := range unknowns {
		iv.values.Upper[s] = math.Inf(1)
		if iv.isProbability {
			iv.values.Upper[s] = 1
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

// canEarnReward returns the maybe states from which a reward can be earned in maybe states. All other maybe states have
// value 0.
func (iv *intervalSystem) canEarnReward(maybe *sparse.Set) *sparse.Set {
	earning := sparse.NewSet(iv.graph.NumStates())
	for s := range maybe.All() {
		first, end := iv.graph.Choices(s)
		for c := first; c < end; c++ {
			if iv.reward.OfChoice(s, c) > 0 {
				earning.Add(s)
			}
		}
	}
	return iv.graph.ExistsUntil(maybe, earning).Intersect(maybe)
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
