package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/interval"
	"tilecheck/native/space/sparse"
)

// SteadyState computes the long-run probability of each state from the initial states: for a DTMC the
// long-run fraction of steps, for a CTMC the long-run fraction of time. Values returns these probabilities
// afterwards; earlier calls of Steps and Time do not matter.
//
// It multiplies the absorption probability of each bottom strongly connected component (BSCC) with the
// stationary distribution of the component. Both follow from expected numbers of visits.
//
// Source: Kemeny and Snell, Finite Markov Chains (1960), chapters 3 and 6.
func (f *Forward) SteadyState(ctx context.Context) error {
	sys, err := newSystem(f.graph, nil, Max, Options{})
	if err != nil {
		return err
	}
	solver := &steadyStateSolver{
		Forward: f, system: sys, bscc: newBSCCGain(ctx, sys, f.opts), values: newValues(f.graph.Model, Options{Exact: f.exact != nil}),
	}
	components := f.graph.Components(f.reachable, nil)
	bottom := components.Bottom(f.graph.Model)
	absorption, err := solver.absorptionProbabilities(components, bottom)
	if err != nil {
		return err
	}
	for i, component := range bottom {
		if err := solver.solveBottomComponent(components.Members(component), absorption[i]); err != nil {
			return err
		}
	}
	f.steadyState = solver.values
	return nil
}

// steadyStateSolver holds the state of one call of SteadyState.
type steadyStateSolver struct {
	*Forward
	system *system
	bscc   *bsccGain // for its index, and for its choice of a reference state
	values *Values
}

// absorptionProbabilities returns, for each BSCC, the probability that the chain ends up in it. This is the expected number of
// transitions into the component from transient states, plus the probability that the chain begins in it.
func (solver *steadyStateSolver) absorptionProbabilities(components *sparse.Components, bottom []int) ([]interval.Number, error) {
	if len(bottom) == 1 {
		return []interval.Number{interval.Fraction(big.NewRat(1, 1))}, nil
	}
	initial := make(map[uint32]*big.Rat)
	for _, s := range solver.graph.Initial {
		initial[s] = big.NewRat(1, int64(len(solver.graph.Initial)))
	}
	transient := solver.transientStates(components, bottom)
	visits, err := solver.expectedVisits(transient, initial)
	if err != nil {
		return nil, err
	}
	visitsOf := make(map[uint32]interval.Number, len(transient))
	for k, s := range transient {
		visitsOf[s] = visits[k]
	}
	probs := make([]interval.Number, len(bottom))
	for i, component := range bottom {
		probs[i].Exact = new(big.Rat)
		terms := 0
		for _, s := range components.Members(component) {
			terms += solver.addInflow(&probs[i], s, initial[s], visitsOf)
		}
		sumErr := solver.system.rounding.sumErr(2 * terms)
		probs[i].Lo = solver.system.rounding.down(probs[i].Lo, sumErr)
		probs[i].Hi = min(solver.system.rounding.up(probs[i].Hi, sumErr), 1)
	}
	return probs, nil
}

// transientStates returns the states outside the BSCCs, predecessors first.
func (solver *steadyStateSolver) transientStates(components *sparse.Components, bottom []int) []uint32 {
	recurrent := sparse.NewSet(solver.graph.NumStates())
	for _, component := range bottom {
		for _, s := range components.Members(component) {
			recurrent.Add(int(s))
		}
	}
	var transient []uint32
	for _, s := range slices.Backward(components.States) {
		if !recurrent.Has(int(s)) {
			transient = append(transient, s)
		}
	}
	return transient
}

// addInflow adds to total the probability that the chain begins in s, and the expected number of transitions to s from the
// states in visits. It returns the number n of floating-point operations, from which the caller bounds the rounding error.
func (solver *steadyStateSolver) addInflow(total *interval.Number, s uint32, initial *big.Rat, visits map[uint32]interval.Number) (n int) {
	if initial != nil {
		prob, _ := initial.Float64()
		total.Lo, total.Hi = total.Lo+prob, total.Hi+prob
		total.Exact.Add(total.Exact, initial)
	}
	incoming := solver.uniformisation.graph.Model
	first, end := incoming.Row(int(s))
	for i := first; i < end; i++ {
		source := incoming.Target[i] // the transitions of incoming are reversed
		sourceVisits, ok := visits[source]
		if !ok {
			continue
		}
		if solver.exact != nil {
			probability := new(big.Rat).Quo(incoming.Rat(i), solver.exitRateRat(source))
			total.Exact.Add(total.Exact, probability.Mul(probability, sourceVisits.Exact))
			continue
		}
		exit, terms := solver.exitRate(source)
		prob := incoming.Prob(i) / exit
		total.Lo += prob * sourceVisits.Lo
		total.Hi += prob * sourceVisits.Hi
		n += 1 + terms
	}
	return n
}

// exitRate returns the sum of the off-diagonal weights of s, and a bound on the number of its terms. In a DTMC this sum is the
// probability to leave s in one step. Self-loops do not count, because expected visits are those of the chain without self-loops.
func (solver *steadyStateSolver) exitRate(s uint32) (sum float64, terms int) {
	first, end := solver.graph.Row(int(s))
	for i := first; i < end; i++ {
		if solver.graph.Target[i] != s {
			sum += solver.graph.Prob(i)
		}
	}
	return sum, end - first
}

// exitRateRat is exitRate in rational arithmetic.
func (solver *steadyStateSolver) exitRateRat(s uint32) *big.Rat {
	sum := new(big.Rat)
	first, end := solver.graph.Row(int(s))
	for i := first; i < end; i++ {
		if solver.graph.Target[i] != s {
			sum.Add(sum, solver.graph.Rat(i))
		}
	}
	return sum
}

// solveBottomComponent distributes the absorption probability of a BSCC over its states. The stationary distribution of the chain
// without self-loops is proportional to the expected visits between two visits of a reference state.
func (solver *steadyStateSolver) solveBottomComponent(members []uint32, total interval.Number) error {
	if len(members) == 1 {
		solver.assign(members[0], total)
		return nil
	}
	reference := members[len(members)-1] // any state would do
	if solver.exact == nil {
		reference = solver.bscc.likelyState(members)
	}
	var others []uint32
	for _, s := range slices.Backward(members) {
		if s != reference {
			others = append(others, s)
		}
	}
	visits, err := solver.expectedVisits(others, solver.jumpDistribution(reference))
	if err != nil {
		return err
	}
	others = append(others, reference)
	visits = append(visits, interval.Fraction(big.NewRat(1, 1)))
	if solver.exact != nil {
		solver.normalizeRat(others, visits, total.Exact)
	} else {
		solver.normalize(others, visits, total)
	}
	return nil
}

// jumpDistribution returns the distribution of the next state when the chain leaves state s. Self-loops do not count.
func (solver *steadyStateSolver) jumpDistribution(s uint32) map[uint32]*big.Rat {
	distribution := make(map[uint32]*big.Rat)
	exit := new(big.Rat)
	first, end := solver.graph.Row(int(s))
	for i := first; i < end; i++ {
		target := solver.graph.Target[i]
		if target == s {
			continue
		}
		if distribution[target] == nil {
			distribution[target] = new(big.Rat)
		}
		weight := solver.weightRat(i)
		distribution[target].Add(distribution[target], weight)
		exit.Add(exit, weight)
	}
	for _, prob := range distribution {
		prob.Quo(prob, exit)
	}
	return distribution
}

// weightRat returns the weight of transition i: the exact weight if the computation is exact, and otherwise the value of
// the float64.
func (solver *steadyStateSolver) weightRat(i int) *big.Rat {
	if solver.exact != nil {
		return solver.graph.Rat(i)
	}
	return new(big.Rat).SetFloat64(solver.graph.Prob(i))
}

// assign sets the long-run probability of a state.
func (solver *steadyStateSolver) assign(s uint32, prob interval.Number) {
	if solver.exact != nil {
		solver.values.assign(int(s), prob.Exact)
		return
	}
	solver.values.Lower[s], solver.values.Upper[s] = prob.Lo, prob.Hi
}

// normalize sets the value of each state to its share of total. The shares are proportional to the expected time in the
// states: visits divided by exit rate.
func (solver *steadyStateSolver) normalize(states []uint32, visits []interval.Number, total interval.Number) {
	sum := interval.Number{}
	maxTerms := 0
	for k, s := range states {
		exit, terms := solver.exitRate(s)
		visits[k].Lo /= exit
		visits[k].Hi /= exit
		sum.Lo += visits[k].Lo
		sum.Hi += visits[k].Hi
		maxTerms = max(maxTerms, terms)
	}
	err := 1.01 * (float64(len(states))*unit + 2*solver.system.rounding.sumErr(maxTerms))
	for k, s := range states {
		lower, upper := 0.0, total.Hi
		if sum.Hi <= math.MaxFloat64 {
			lower = solver.system.rounding.down(total.Lo*(visits[k].Lo/sum.Hi), err)
		}
		if share := visits[k].Hi / sum.Lo; share < 1 {
			upper = min(solver.system.rounding.up(total.Hi*share, err), upper)
		}
		solver.assign(s, interval.Number{Interval: interval.Interval{Lo: lower, Hi: upper}})
	}
}

// normalizeRat is normalize in rational arithmetic.
func (solver *steadyStateSolver) normalizeRat(states []uint32, visits []interval.Number, total *big.Rat) {
	sum := new(big.Rat)
	for k, s := range states {
		visits[k].Exact.Quo(visits[k].Exact, solver.exitRateRat(s))
		sum.Add(sum, visits[k].Exact)
	}
	for k, s := range states {
		share := visits[k].Exact
		solver.assign(s, interval.Number{Exact: share.Mul(share.Quo(share, sum), total)})
	}
}

// expectedVisits returns, for each of the given states, the expected number of visits before the chain leaves all of them.
// The chain begins in state s with probability initial[s]. Self-loops do not count as visits.
func (solver *steadyStateSolver) expectedVisits(states []uint32, initial map[uint32]*big.Rat) ([]interval.Number, error) {
	if len(states) == 0 {
		return nil, nil
	}
	if solver.exact != nil {
		return solver.expectedVisitsRat(states, initial)
	}
	local := solver.system.localSystem(states, &solver.bscc.index)
	defer solver.bscc.index.reset(states)
	equations := newVisitEquations(local)
	for k, s := range states {
		if probability := initial[s]; probability != nil {
			equations.initial[k], _ = probability.Float64()
		}
	}
	visits, ok, err := equations.solve(solver.bscc.meter, solver.opts)
	solver.values.Converged = solver.values.Converged && ok
	return visits, err
}

// expectedVisitsRat is expectedVisits in rational arithmetic.
func (solver *steadyStateSolver) expectedVisitsRat(states []uint32, initial map[uint32]*big.Rat) ([]interval.Number, error) {
	index, incoming := &solver.bscc.index, solver.uniformisation.graph.Model
	for k, s := range states {
		index.ofState[s] = uint32(k)
	}
	defer index.reset(states)
	exitRates := make([]*big.Rat, len(states))
	for k, s := range states {
		exitRates[k] = solver.exitRateRat(s)
	}
	rows, equations := make([]*exactRow, len(states)), make([]exactRow, len(states))
	for k, s := range states {
		equations[k] = solver.visitRow(s, initial[s], exitRates)
		rows[k] = &equations[k]
		first, end := incoming.Row(int(s))
		if err := solver.bscc.meter.addWork(100 * (1 + end - first)); err != nil {
			return nil, err
		}
	}
	constantDenominator := scaleConstants(equations)
	lift, err := newLifting(solver.bscc.meter, rows)
	if err != nil {
		return nil, err
	}
	numerators, denominator, err := lift.solve(solver.bscc.meter, func(k int) *big.Int { return rows[k].scaledConstant })
	if err != nil {
		return nil, err
	}
	denominator = new(big.Int).Mul(denominator, constantDenominator)
	visits := make([]interval.Number, len(states))
	for k := range visits {
		visits[k].Exact = new(big.Rat).SetFrac(numerators[k], denominator)
	}
	return visits, nil
}

// visitRow returns the equation of the expected visits of state s: its initial probability, which may be nil for 0, plus the
// visits of the other states times their probabilities of moving to s. exitRates has the exit rate of each unknown.
func (solver *steadyStateSolver) visitRow(s uint32, initial *big.Rat, exitRates []*big.Rat) exactRow {
	incoming := solver.uniformisation.graph.Model
	row := exactRow{constant: new(big.Rat)}
	scale := big.NewInt(1) // a common denominator of the probabilities
	var probs []*big.Rat
	first, end := incoming.Row(int(s))
	for i := first; i < end; i++ {
		source := incoming.Target[i] // the transitions of incoming are reversed
		unknown := solver.bscc.index.ofState[source]
		if unknown == sparse.None || source == s {
			continue
		}
		prob := new(big.Rat).Quo(incoming.Rat(i), exitRates[unknown])
		row.column = append(row.column, unknown)
		probs = append(probs, prob)
		scale = leastCommonMultiple(scale, prob.Denom())
	}
	for _, prob := range probs {
		row.coefficient = append(row.coefficient, scaledInteger(prob, scale))
	}
	row.scale, row.weightDen = scale, scale
	if initial != nil {
		row.constant.Mul(initial, new(big.Rat).SetInt(scale))
	}
	return row
}
