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
// long-run fraction of steps, for a CTMC the long-run fraction of time. Values then returns these probabilities.
// Earlier calls of TakeSteps and AdvanceTime do not matter.
//
// Source: Kemeny and Snell, Finite Markov Chains (1960), chapters 3 and 6.
func (forward *Forward) SteadyState(ctx context.Context) error {
	system, err := newSystem(forward.graph, nil, Max, Options{})
	if err != nil {
		return err
	}
	solver := &steadyStateSolver{
		Forward: forward, system: system,
		bscc:   newBSCCGain(system, forward.opts, newMeter(ctx, forward.opts, system.graph.NumStates())),
		values: newValues(forward.graph.Model, Options{Exact: forward.exactProbs != nil}),
	}
	// The probability of a state is the absorption probability of its BSCC times its stationary probability.
	components := forward.graph.Components(forward.reachable, nil)
	bottomComponents := components.Bottom(forward.graph.Model)
	absorption, err := solver.absorptionProbabilities(components, bottomComponents)
	if err != nil {
		return err
	}
	for i, component := range bottomComponents {
		if err := solver.solveBottomComponent(components.Members(component), absorption[i]); err != nil {
			return err
		}
	}
	forward.longRunProbs = solver.values
	return nil
}

// steadyStateSolver holds the state of one call of SteadyState.
type steadyStateSolver struct {
	*Forward
	system *equationSystem
	bscc   *bsccGain // for its index, and for its choice of a reference state
	values *Values
}

// absorptionProbabilities returns the probability of each BSCC that the chain reaches it from the initial states. bottomComponents has the numbers of
// the BSCCs.
func (solver *steadyStateSolver) absorptionProbabilities(components *sparse.Components, bottomComponents []int) ([]interval.Number, error) {
	if len(bottomComponents) == 1 {
		return []interval.Number{interval.Fraction(big.NewRat(1, 1))}, nil
	}
	initialProbs := make(map[uint32]*big.Rat)
	for _, state := range solver.graph.Initial {
		initialProbs[state] = big.NewRat(1, int64(len(solver.graph.Initial)))
	}
	transient := solver.transientStates(components, bottomComponents)
	visits, err := solver.expectedVisits(transient, initialProbs)
	if err != nil {
		return nil, err
	}
	visitsOf := make(map[uint32]interval.Number, len(transient))
	for index, state := range transient {
		visitsOf[state] = visits[index]
	}
	probs := make([]interval.Number, len(bottomComponents))
	for i, component := range bottomComponents {
		probs[i] = solver.entryProbability(components.Members(component), initialProbs, visitsOf)
	}
	return probs, nil
}

// entryProbability returns the probability that the chain begins in a BSCC or enters it later: the sum of the expected inflows of its
// members. initialProbs has the probability of each initial state, and visits the expected visits of each transient state.
func (solver *steadyStateSolver) entryProbability(members []uint32, initialProbs map[uint32]*big.Rat, visits map[uint32]interval.Number) interval.Number {
	prob := interval.Number{Exact: new(big.Rat)}
	terms := 0
	for _, state := range members {
		terms += solver.addInflow(&prob, state, initialProbs[state], visits)
	}
	sumErr := solver.system.rounding.sumErr(2 * terms)
	prob.Lo = solver.system.rounding.roundDown(prob.Lo, sumErr)
	prob.Hi = min(solver.system.rounding.roundUp(prob.Hi, sumErr), 1)
	return prob
}

// transientStates returns the states that belong to no BSCC. Each state precedes its successors in other components.
func (solver *steadyStateSolver) transientStates(components *sparse.Components, bottomComponents []int) []uint32 {
	recurrent := sparse.NewSet(solver.graph.NumStates())
	for _, component := range bottomComponents {
		addStates(recurrent, components.Members(component))
	}
	var transient []uint32
	for _, state := range slices.Backward(components.States) {
		if !recurrent.Has(int(state)) {
			transient = append(transient, state)
		}
	}
	return transient
}

// addInflow adds the expected visits to state s to inflow: the probability that the chain begins in s (initialProb, nil for 0), plus the sum
// over transient states t of visits(t) * P(t, s). It returns the number of float64 operations, for a bound on the rounding error.
func (solver *steadyStateSolver) addInflow(inflow *interval.Number, state uint32, initialProb *big.Rat, visits map[uint32]interval.Number) (operations int) {
	if initialProb != nil {
		prob, _ := initialProb.Float64()
		inflow.Lo, inflow.Hi = inflow.Lo+prob, inflow.Hi+prob
		inflow.Exact.Add(inflow.Exact, initialProb)
	}
	incoming := solver.uniformisation.graph.Model
	first, end := incoming.Transitions(int(state))
	for transition := first; transition < end; transition++ {
		source := incoming.Target[transition] // the transitions of incoming are reversed
		sourceVisits, isTransient := visits[source]
		switch {
		case !isTransient: // no inflow
		case solver.exactProbs != nil:
			prob := new(big.Rat).Quo(incoming.Fraction(transition), solver.exitRateRat(source))
			inflow.Exact.Add(inflow.Exact, prob.Mul(prob, sourceVisits.Exact))
		default:
			exitRate, terms := solver.exitRate(source)
			prob := incoming.Prob(transition) / exitRate
			inflow.Lo += prob * sourceVisits.Lo
			inflow.Hi += prob * sourceVisits.Hi
			operations += 1 + terms
		}
	}
	return operations
}

// exitRate returns the sum of the weights of a state without self-loops. terms is at least the number of terms in this sum.
func (solver *steadyStateSolver) exitRate(state uint32) (sum float64, terms int) {
	first, end := solver.graph.Transitions(int(state))
	for transition := first; transition < end; transition++ {
		if solver.graph.Target[transition] != state {
			sum += solver.graph.Prob(transition)
		}
	}
	return sum, end - first
}

// exitRateRat returns the sum of the weights of a state without self-loops in rational arithmetic.
func (solver *steadyStateSolver) exitRateRat(state uint32) *big.Rat {
	sum := new(big.Rat)
	first, end := solver.graph.Transitions(int(state))
	for transition := first; transition < end; transition++ {
		if solver.graph.Target[transition] != state {
			sum.Add(sum, solver.graph.Fraction(transition))
		}
	}
	return sum
}

// solveBottomComponent distributes the absorption probability of a BSCC over its members. It computes the expected visits of each member
// between two visits of a reference state. The stationary distribution is proportional to these visits divided by the exit rates.
func (solver *steadyStateSolver) solveBottomComponent(members []uint32, absorption interval.Number) error {
	if len(members) == 1 {
		solver.setProbability(members[0], absorption)
		return nil
	}
	reference := last(members) // any state would be correct
	if solver.exactProbs == nil {
		reference = solver.bscc.likelyState(members)
	}
	var others []uint32
	for _, state := range slices.Backward(members) {
		if state != reference {
			others = append(others, state)
		}
	}
	visits, err := solver.expectedVisits(others, solver.jumpDistribution(reference))
	if err != nil {
		return err
	}
	others = append(others, reference)
	visits = append(visits, interval.Fraction(big.NewRat(1, 1)))
	if solver.exactProbs != nil {
		solver.normalizeRat(others, visits, absorption.Exact)
	} else {
		solver.normalize(others, visits, absorption)
	}
	return nil
}

// jumpDistribution returns the probability of each state to be the next one when the chain leaves a state.
func (solver *steadyStateSolver) jumpDistribution(state uint32) map[uint32]*big.Rat {
	distribution := make(map[uint32]*big.Rat)
	exitRate := new(big.Rat)
	first, end := solver.graph.Transitions(int(state))
	for transition := first; transition < end; transition++ {
		target := solver.graph.Target[transition]
		if target == state {
			continue
		}
		if distribution[target] == nil {
			distribution[target] = new(big.Rat)
		}
		weight := solver.weightRat(transition)
		distribution[target].Add(distribution[target], weight)
		exitRate.Add(exitRate, weight)
	}
	for _, prob := range distribution {
		prob.Quo(prob, exitRate)
	}
	return distribution
}

// weightRat returns the exact weight of transition i, or its float64 as a fraction if the computation is not exact.
func (solver *steadyStateSolver) weightRat(i int) *big.Rat {
	if solver.exactProbs != nil {
		return solver.graph.Fraction(i)
	}
	return new(big.Rat).SetFloat64(solver.graph.Prob(i))
}

// setProbability sets the long-run probability of a state.
func (solver *steadyStateSolver) setProbability(state uint32, prob interval.Number) {
	if solver.exactProbs != nil {
		solver.values.setExact(int(state), prob.Exact)
		return
	}
	solver.values.Lower[state], solver.values.Upper[state] = prob.Lo, prob.Hi
}

// normalize distributes totalProb over some states, in proportion to visits / exit rate, which is the expected time in each
// state. It changes visits.
func (solver *steadyStateSolver) normalize(states []uint32, visits []interval.Number, totalProb interval.Number) {
	sum := interval.Number{}
	maxTerms := 0
	for i, state := range states {
		exitRate, terms := solver.exitRate(state)
		visits[i].Lo /= exitRate
		visits[i].Hi /= exitRate
		sum.Lo += visits[i].Lo
		sum.Hi += visits[i].Hi
		maxTerms = max(maxTerms, terms)
	}
	relErr := errMargin * (float64(len(states))*unitRoundoff + 2*solver.system.rounding.sumErr(maxTerms))
	for i, state := range states {
		lower, upper := 0.0, totalProb.Hi
		if sum.Hi <= math.MaxFloat64 {
			lower = solver.system.rounding.roundDown(totalProb.Lo*(visits[i].Lo/sum.Hi), relErr)
		}
		if share := visits[i].Hi / sum.Lo; share < 1 {
			upper = min(solver.system.rounding.roundUp(totalProb.Hi*share, relErr), upper)
		}
		solver.setProbability(state, interval.Number{Interval: interval.Interval{Lo: lower, Hi: upper}})
	}
}

// normalizeRat distributes totalProb over some states in rational arithmetic, in proportion to visits / exit rate. It changes
// visits.
func (solver *steadyStateSolver) normalizeRat(states []uint32, visits []interval.Number, totalProb *big.Rat) {
	sum := new(big.Rat)
	for i, state := range states {
		visits[i].Exact.Quo(visits[i].Exact, solver.exitRateRat(state))
		sum.Add(sum, visits[i].Exact)
	}
	for i, state := range states {
		share := visits[i].Exact
		solver.setProbability(state, interval.Number{Exact: share.Mul(share.Quo(share, sum), totalProb)})
	}
}

// expectedVisits returns the expected number of visits to each of the given states until the chain leaves these states for the first time.
// The chain begins in each state with its probability in initialProbs. Self-loops do not count as visits.
func (solver *steadyStateSolver) expectedVisits(states []uint32, initialProbs map[uint32]*big.Rat) ([]interval.Number, error) {
	if len(states) == 0 {
		return nil, nil
	}
	if solver.exactProbs != nil {
		return solver.expectedVisitsRat(states, initialProbs)
	}
	local := solver.system.localSystem(states, &solver.bscc.index)
	defer solver.bscc.index.clearUnknowns(states)
	equations := newVisitEquations(local)
	for i, state := range states {
		if probability := initialProbs[state]; probability != nil {
			equations.initialVisits[i], _ = probability.Float64()
		}
	}
	visits, ok, err := equations.solve(solver.bscc.meter, solver.opts)
	solver.values.Converged = solver.values.Converged && ok
	return visits, err
}

// expectedVisitsRat returns the expected number of visits of each state in rational arithmetic.
func (solver *steadyStateSolver) expectedVisitsRat(states []uint32, initialProbs map[uint32]*big.Rat) ([]interval.Number, error) {
	rows, constantDenominator, err := solver.visitRows(states, initialProbs)
	if err != nil {
		return nil, err
	}
	lifting, err := newLifting(solver.bscc.meter, rows)
	if err != nil {
		return nil, err
	}
	numerators, denominator, err := lifting.solve(solver.bscc.meter, func(i int) *big.Int { return rows[i].scaledConstant })
	if err != nil {
		return nil, err
	}
	denominator = new(big.Int).Mul(denominator, constantDenominator)
	visits := make([]interval.Number, len(states))
	for i := range visits {
		visits[i].Exact = new(big.Rat).SetFrac(numerators[i], denominator)
	}
	return visits, nil
}

// visitRows returns the equations for the expected visits of the given states. Their constants are multiplied by denominator, so they are
// integers.
func (solver *steadyStateSolver) visitRows(states []uint32, initialProbs map[uint32]*big.Rat) (rows []*exactRow, denominator *big.Int, err error) {
	index, incoming := &solver.bscc.index, solver.uniformisation.graph.Model
	exitRates := make([]*big.Rat, len(states))
	for unknown, state := range states {
		index.unknowns[state] = uint32(unknown)
		exitRates[unknown] = solver.exitRateRat(state)
	}
	defer index.clearUnknowns(states)
	equations := make([]exactRow, len(states))
	for unknown, state := range states {
		equations[unknown] = solver.visitRow(state, initialProbs[state], exitRates)
		rows = append(rows, &equations[unknown])
		first, end := incoming.Transitions(int(state))
		if err := solver.bscc.meter.addWork(100 * (1 + end - first)); err != nil {
			return nil, nil, err
		}
	}
	return rows, scaleConstants(equations), nil
}

// visitRow returns the equation for the expected visits w(s) of a state s: w(s) = initialProb + sum over t of w(t) P(t, s), without self-loops. A
// nil initialProb stands for 0. exitRates has the exit rate of each unknown.
func (solver *steadyStateSolver) visitRow(state uint32, initialProb *big.Rat, exitRates []*big.Rat) exactRow {
	incoming := solver.uniformisation.graph.Model
	row := exactRow{constant: new(big.Rat)}
	scale := big.NewInt(1) // a common denominator of the probabilities
	var probs []*big.Rat
	first, end := incoming.Transitions(int(state))
	for transition := first; transition < end; transition++ {
		source := incoming.Target[transition] // the transitions of incoming are reversed
		unknown := solver.bscc.index.unknowns[source]
		if unknown == sparse.None || source == state {
			continue
		}
		prob := new(big.Rat).Quo(incoming.Fraction(transition), exitRates[unknown])
		row.columns = append(row.columns, unknown)
		probs = append(probs, prob)
		scale = leastCommonMultiple(scale, prob.Denom())
	}
	for _, prob := range probs {
		row.coefficients = append(row.coefficients, scaledInteger(prob, scale))
	}
	row.scale, row.weightDenominator = scale, scale
	if initialProb != nil {
		row.constant.Mul(initialProb, new(big.Rat).SetInt(scale))
	}
	return row
}
