package solve

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"

	"tilecheck/native/space/sparse"
)

// LongRun returns bounds on the extremal long-run average reward (the gain): per step of a DTMC or an
// MDP, per unit of time of a CTMC. A reward of 1 in a set of states gives the long-run probability of the set.
//
// Source: PRISM's R[S], Storm's R[LRA].
func LongRun(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, direction Direction, opts Options) (*Values, error) {
	return longRun(ctx, graph, reward, nil, direction, opts)
}

// SteadyState returns bounds on the extremal long-run probability of a set of states. In an MDP it is
// the long-run fraction of steps.
//
// Source: PRISM's S, Storm's LRA.
func SteadyState(ctx context.Context, graph *sparse.Graph, rewardedStates *sparse.Set, direction Direction, opts Options) (*Values, error) {
	return longRun(ctx, graph, indicatorReward(rewardedStates), rewardedStates, direction, opts)
}

// indicatorReward returns the reward structure with reward 1 in the states of a set.
func indicatorReward(rewardedStates *sparse.Set) *sparse.Reward {
	reward := &sparse.Reward{State: make([]float64, rewardedStates.Len()), StateFractions: make([]*big.Rat, rewardedStates.Len())}
	unitReward := big.NewRat(1, 1)
	for state := range rewardedStates.All() {
		reward.State[state], reward.StateFractions[state] = 1, unitReward
	}
	return reward
}

// longRun computes the long-run average of a reward from each state of a Markov chain or an MDP. For a long-run probability,
// rewardedStates is the set of states with reward 1. For other rewards it is nil.
func longRun(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, rewardedStates *sparse.Set, direction Direction, opts Options) (*Values, error) {
	if graph.FirstChoice != nil {
		return optimalLongRun(ctx, graph, reward, rewardedStates, direction, opts)
	}
	opts.Scheduler = false
	system, err := newSystem(graph, reward, Max, opts)
	if err != nil {
		return nil, err
	}
	components := graph.Components(nil, nil)
	bottomComponents := components.Bottom(graph.Model)
	opts.Epsilon = opts.epsilon()
	if len(bottomComponents) < components.Num() {
		opts.Epsilon /= 2 // the other half is for the absorption probabilities
	}
	recurrentStates := sparse.NewSet(graph.NumStates())
	bscc := newBSCCGain(system, opts, newMeter(ctx, opts, system.graph.NumStates()))
	for _, i := range bottomComponents {
		members := components.Members(i)
		if err := bscc.assignGain(members, rewardedStates); err != nil {
			return nil, err
		}
		addStates(recurrentStates, members)
	}
	system.values.Sweeps = bscc.meter.progress.Sweeps
	return system.absorptionSystem(recurrentStates, rewardedStates != nil).solve(ctx, opts, false)
}

// absorptionSystem returns equations for the gains of the transient states, which are all states outside of recurrentStates. Such a gain is the sum of
// P(reach B) * gain(B) over all BSCCs B. areProbabilities says that the gains are probabilities.
func (system *equationSystem) absorptionSystem(recurrentStates *sparse.Set, areProbabilities bool) *equationSystem {
	maybe := recurrentStates.Complement()
	if areProbabilities && !system.isExact() {
		zeroStates, oneStates := system.values.statesWithCertainValue(system.graph, maybe, recurrentStates)
		system.values.setAll(oneStates, 1)
		maybe = maybe.Minus(zeroStates).Minus(oneStates)
	}
	return &equationSystem{graph: system.graph, minimize: system.minimize, isProbability: areProbabilities, maybe: maybe, rounding: system.rounding, values: system.values}
}

// assignGain computes the gain (long-run average reward) of a BSCC, and stores it as the value of all its states. For a long-run
// probability, rewardedStates is the set of states with reward 1; for other rewards it is nil.
func (bscc *bsccGain) assignGain(members []uint32, rewardedStates *sparse.Set) error {
	values := bscc.rewardSystem.values
	if values.Exact != nil {
		gain, err := bscc.rewardSystem.chainGainRat(members, &bscc.index, bscc.meter)
		if err != nil {
			return err
		}
		for _, state := range members {
			values.setExact(int(state), gain)
		}
		return nil
	}
	bounds, isConverged, err := bscc.gainOfComponent(members, rewardedStates)
	values.Converged = values.Converged && isConverged
	for _, state := range members {
		values.Lower[state], values.Upper[state] = bounds.lower, bounds.upper
	}
	return err
}

// chainGainRat returns the exact gain of a BSCC.
func (system *equationSystem) chainGainRat(members []uint32, index *unknownIndex, meter *meter) (*big.Rat, error) {
	cycle, err := system.solveCycleRat(members, func(state uint32) uint32 { return state }, index, meter)
	if err != nil {
		return nil, err
	}
	return cycle.gain, nil
}

// exactCycle has the expected rewards and times of a recurrent class until its last state, the reference state, is reached. From
// state i they are rewards[i]/rewardDenominator and times[i]/timeDenominator. The gain is the expected reward of one cycle from the
// reference state to itself, divided by its expected time.
type exactCycle struct {
	gain                               *big.Rat
	rewards, times                     []*big.Int // of all states but the reference state
	rewardDenominator, timeDenominator *big.Int
}

// biasOf returns the bias of state i relative to the reference state: reward minus gain times time.
func (cycle *exactCycle) biasOf(i int) *big.Rat {
	reward := new(big.Rat).SetFrac(cycle.rewards[i], cycle.rewardDenominator)
	time := new(big.Rat).SetFrac(cycle.times[i], cycle.timeDenominator)
	return reward.Sub(reward, time.Mul(time, cycle.gain))
}

// solveCycleRat computes the exact gain and bias of a recurrent class under the given choices. The last member is the reference state. For
// each other member it solves the equations of the expected reward and of the expected time until the reference state. The gain follows
// from the renewal-reward theorem: the expected reward of a cycle from the reference state to itself, divided by its expected time.
func (system *equationSystem) solveCycleRat(members []uint32, choiceOf func(state uint32) uint32, index *unknownIndex, meter *meter) (*exactCycle, error) {
	reference, others := last(members), members[:len(members)-1]
	index.allocate(system.graph.NumStates())
	index.setUnknowns(others)
	defer index.clearUnknowns(others)
	rows, constantDenominator := system.cycleRows(others, choiceOf, index)
	lift, err := newLifting(meter, rows)
	if err != nil {
		return nil, err
	}
	cycle := &exactCycle{}
	if cycle.rewards, cycle.rewardDenominator, err = lift.solve(meter, func(unknown int) *big.Int { return rows[unknown].scaledConstant }); err != nil {
		return nil, err
	}
	cycle.rewardDenominator.Mul(cycle.rewardDenominator, constantDenominator)
	// To compute the expected time, solve the same equations with the reward 1 for every step or unit of time: then the constants are weightDenominator.
	if cycle.times, cycle.timeDenominator, err = lift.solve(meter, func(unknown int) *big.Int { return rows[unknown].weightDenominator }); err != nil {
		return nil, err
	}
	referenceChoice := int(choiceOf(reference))
	cycleReward := system.addExpectationRat(referenceChoice, system.reward.ExactChoiceTotal(int(reference), referenceChoice), cycle.rewards, cycle.rewardDenominator, index)
	cycleTime := system.addExpectationRat(referenceChoice, big.NewRat(1, 1), cycle.times, cycle.timeDenominator, index)
	cycle.gain = cycleReward.Quo(cycleReward, cycleTime)
	return cycle, nil
}

// cycleRows returns, for each state, the linear equation of the choice that choiceOf selects. All constants are multiplied by denominator, so that they are
// integers.
func (system *equationSystem) cycleRows(states []uint32, choiceOf func(state uint32) uint32, index *unknownIndex) (rows []*exactRow, denominator *big.Int) {
	equations := make([]exactRow, len(states))
	for row, state := range states {
		choice := int(choiceOf(state))
		equations[row] = system.exactRow(int(state), choice, uint32(row), index, system.reward.ExactChoiceTotal(int(state), choice))
		rows = append(rows, &equations[row])
	}
	return rows, scaleConstants(equations)
}

// addExpectation returns sum plus the mean value of the targets of a choice, weighted with their probabilities. Targets that have no unknown in index have
// the value 0.
func (system *equationSystem) addExpectation(choice int, sum float64, values []float64, index *unknownIndex) float64 {
	first, end := system.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		if unknown := index.unknowns[system.graph.Target[transition]]; unknown != sparse.None {
			sum += system.graph.Prob(transition) * values[unknown]
		}
	}
	return sum
}

// addExpectationRat adds the expected value of the target of a choice to sum, and returns sum. The value of unknown k is
// numerators[k]/denominator. Targets without an unknown in index have the value 0.
func (system *equationSystem) addExpectationRat(choice int, sum *big.Rat, numerators []*big.Int, denominator *big.Int, index *unknownIndex) *big.Rat {
	product := new(big.Rat)
	first, end := system.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		if unknown := index.unknowns[system.graph.Target[transition]]; unknown != sparse.None {
			sum.Add(sum, product.Mul(system.graph.Fraction(transition), product.SetFrac(numerators[unknown], denominator)))
		}
	}
	return sum
}

// bsccGain computes the gain of bottom strongly connected components. Its two systems have the same
// transitions. rewardSystem has the rewards of the property, stepSystem the reward 1 per step or unit of time; the first elimination makes it.
type bsccGain struct {
	rewardSystem, stepSystem *equationSystem
	opts                     Options
	meter                    *meter
	index                    unknownIndex
	bias                     []float64 // approximate bias of each member, by its unknown in index
}

// countingSteps returns a system with the same choices, and reward 1 per step or unit of time.
func (system *equationSystem) countingSteps() *equationSystem {
	reward := &sparse.Reward{State: slices.Repeat([]float64{1}, system.graph.NumStates())}
	return &equationSystem{graph: system.graph, reward: reward, rounding: system.rounding, values: system.values, choices: system.choices}
}

// newBSCCGain prepares the computation of gains. All values of system must be zero.
func newBSCCGain(system *equationSystem, opts Options, meter *meter) *bsccGain {
	bscc := &bsccGain{rewardSystem: system, opts: opts, meter: meter}
	bscc.index.allocate(system.graph.NumStates())
	return bscc
}

// gainOfComponent returns bounds on the gain of a BSCC, and reports whether they are narrow enough. For a long-run probability,
// rewardedStates is the set of states with reward 1: the gain is 1 if it contains all members, and 0 if it contains none. For other rewards it
// is nil.
func (bscc *bsccGain) gainOfComponent(members []uint32, rewardedStates *sparse.Set) (bounds gainInterval, isConverged bool, err error) {
	if rewardedStates == nil {
		return bscc.solve(members)
	}
	numRewarded := 0
	for _, state := range members {
		if rewardedStates.Has(int(state)) {
			numRewarded++
		}
	}
	switch numRewarded {
	case 0:
		return gainInterval{0, 0}, true, nil
	case len(members):
		return gainInterval{1, 1}, true, nil
	}
	bounds, isConverged, err = bscc.solve(members)
	bounds.tighten(0, 1)
	return bounds, isConverged, err
}

// gainInterval has bounds on a gain. They may become narrower, but never wider.
type gainInterval struct{ lower, upper float64 }

// tighten replaces each bound by another one if the other one is better.
func (bounds *gainInterval) tighten(lower, upper float64) {
	bounds.lower, bounds.upper = max(bounds.lower, lower), min(bounds.upper, upper)
}

// hasConverged reports whether the relative width of the bounds is at most epsilon.
func (bounds gainInterval) hasConverged(epsilon float64) bool {
	return bounds.upper-bounds.lower <= epsilon*bounds.upper
}

// hasNearlyConverged reports whether the relative width is so close to epsilon that further sweeps would take too long.
func (bounds gainInterval) hasNearlyConverged(epsilon float64) bool {
	return bounds.hasConverged(10 * epsilon)
}

// GMRES accelerates the components with at least krylovMinStates and fewer than krylovMaxStates states. Its vectors take about 100
// bytes a state.
const krylovMinStates, krylovMaxStates = 1000, 1 << 24

// hasSizeForGMRES reports whether GMRES accelerates a component with these members.
func hasSizeForGMRES(members []uint32) bool {
	return !isGMRESLeftOut && len(members) >= krylovMinStates && len(members) < krylovMaxStates
}

// inReverseOrder returns the members in the reverse order of their discovery. In this order, most transitions of a member lead to
// members before it or shortly after it. So the incomplete LU factorization drops fewer entries, and a sweep reads values that are near in memory.
func inReverseOrder(members []uint32) []uint32 {
	ordered := slices.Clone(members)
	slices.Sort(ordered)
	slices.Reverse(ordered)
	return ordered
}

// solve returns bounds on the gain of a BSCC, and reports whether they are narrow enough. It alternates value iteration and elimination.
// Each elimination may take about as much work as the sweeps before it. It takes the members in the given order, because it would have more new terms in the
// order of the sweeps.
func (bscc *bsccGain) solve(members []uint32) (bounds gainInterval, isConverged bool, err error) {
	sweepOrder := members
	if hasSizeForGMRES(members) {
		sweepOrder = inReverseOrder(members)
	}
	bscc.bias = make([]float64, len(members))
	epsilon, sweepWork := bscc.opts.epsilon(), bscc.rewardSystem.numTransitions(members)
	sweepsDone, limit, canEliminate := 0, bscc.opts.maxSweeps(), len(members) > 1
	bounds = gainInterval{0, math.Inf(1)}
	for targetSweeps := firstSweeps; ; targetSweeps *= 4 {
		targetSweeps = min(targetSweeps, limit)
		err := bscc.iterate(sweepOrder, &bounds, sweepWork, sweepsDone, targetSweeps)
		sweepsDone = targetSweeps
		if err != nil || bounds.hasConverged(epsilon) || sweepsDone == limit {
			return bounds, bounds.hasConverged(epsilon), err
		}
		if !canEliminate {
			continue
		}
		const workPerTransition = 4 // a sweep of bsccGain takes about 4 times as long per transition as a sweep of localSystem
		budget := float64(sweepsDone) * float64(sweepWork) * budgetPerWork * workPerTransition
		lower, upper, overBudget, err := bscc.gainByElimination(members, budget)
		bounds.tighten(lower, upper)
		isNearlyConverged := !math.IsInf(upper, 1) && gainInterval{lower, upper}.hasNearlyConverged(epsilon)
		if err != nil || bounds.hasConverged(epsilon) || isNearlyConverged {
			return bounds, true, err
		}
		canEliminate = overBudget
	}
}

// iterate tightens the bounds on the gain by value iteration: it performs the sweeps from number sweepsDone+1 to totalSweeps. The first call for a large
// component also uses GMRES, after a few sweeps if these show that value iteration converges slowly. sweepWork is the work of one sweep.
func (bscc *bsccGain) iterate(members []uint32, bounds *gainInterval, sweepWork, sweepsDone, totalSweeps int) error {
	const fewSweeps, widthOfFastConvergence = 8, 1e-2
	sweep := func(sweeps int) error {
		lower, upper, err := bscc.relaxedValueIteration(members, sweepWork, sweeps)
		bounds.tighten(lower, upper)
		return err
	}
	if sweepsDone > 0 || !hasSizeForGMRES(members) {
		return sweep(totalSweeps - sweepsDone)
	}
	sweepsDone = min(fewSweeps, totalSweeps)
	err := sweep(sweepsDone)
	if err == nil && bounds.hasConverged(widthOfFastConvergence) {
		err = sweep(totalSweeps - sweepsDone)
	}
	if err != nil || bounds.hasConverged(bscc.opts.epsilon()) {
		return err
	}
	lower, upper, err := bscc.acceleratedIteration(members, sweepWork, *bounds, bscc.opts.maxSweeps()-totalSweeps)
	bounds.tighten(lower, upper)
	return err
}

// relaxedValueIteration improves the bias by at most maxSweeps sweeps, and returns bounds on the gain. A sweep needs a guess of the gain, which the secant
// method improves between sweeps. sweepWork is the work of one sweep.
//
// Source: Odoni, On finding the maximal gain for Markov decision processes (1969).
func (bscc *bsccGain) relaxedValueIteration(members []uint32, sweepWork, maxSweeps int) (lower, upper float64, err error) {
	const sweepsPerCheck = 4
	bscc.index.setUnknowns(members)
	defer bscc.index.clearUnknowns(members)
	bounds := gainInterval{0, math.Inf(1)}
	gainGuess := secant{}
	for remaining := maxSweeps; remaining > 0; remaining -= sweepsPerCheck {
		newLower, newUpper := bscc.gainBounds(members)
		if newLower <= newUpper { // ignore bounds that are NaN
			bounds.tighten(newLower, newUpper)
		}
		hasOverflow := !(newUpper < math.Inf(1)) // after an overflow, further sweeps are useless
		if hasOverflow || bounds.hasConverged(bscc.opts.epsilon()) {
			break
		}
		gain := gainGuess.nextGain(bounds.lower, bounds.upper)
		drift, err := bscc.sweepRepeatedly(members, gain, min(remaining, sweepsPerCheck), sweepWork)
		if err != nil {
			return bounds.lower, bounds.upper, err
		}
		gainGuess.addSweep(gain, drift)
	}
	return bounds.lower, bounds.upper, nil
}

// sweepRepeatedly performs a number of sweeps of the bias with the given gain. It returns the drift of the last sweep, which is the mean change of the bias;
// it is 0 if the gain is right. sweepWork is the work of one sweep.
func (bscc *bsccGain) sweepRepeatedly(members []uint32, gain float64, sweeps, sweepWork int) (drift float64, err error) {
	for range sweeps {
		drift = bscc.sweep(members, gain)
		bscc.meter.progress.Sweeps++
		if err := bscc.meter.addWork(sweepWork); err != nil {
			return drift, err
		}
	}
	return drift, nil
}

// secant finds the gain as the root of the drift by the secant method. The drift is the mean change of
// the bias in one sweep: it is proportional to the error of the gain that the sweep assumes.
type secant struct{ lastGain, lastDrift, previousGain, previousDrift float64 }

// addSweep adds the point of a sweep: the gain that the sweep assumed, and its drift.
func (points *secant) addSweep(gain, drift float64) {
	points.previousGain, points.previousDrift = points.lastGain, points.lastDrift
	points.lastGain, points.lastDrift = gain, drift
}

// nextGain returns the root of the line through the last two points. If the root is outside of the interval, it returns the midpoint.
func (points *secant) nextGain(lower, upper float64) float64 {
	root := points.lastGain - points.lastDrift*(points.lastGain-points.previousGain)/(points.lastDrift-points.previousDrift)
	if root > lower && root < upper { // false before two points are known
		return root
	}
	return lower + (upper-lower)/2
}

// sweep applies one damped Gauss-Seidel sweep of the equations bias = reward - gain + P bias to the bias of the members of a BSCC. It returns
// the mean change of the bias.
//
// Source: Stewart, Introduction to the Numerical Solution of Markov Chains (1994), section 3.2.
func (bscc *bsccGain) sweep(members []uint32, gain float64) (drift float64) {
	model, unknowns, bias := bscc.rewardSystem.graph.Model, bscc.index.unknowns, bscc.bias
	reward := bscc.rewardSystem.reward
	for member, state := range members {
		sum, exitRate, current := reward.ChoiceTotal(int(state), int(state))-gain, 0.0, bias[member]
		first, end := model.FirstTransition[state], model.FirstTransition[state+1]
		targets := model.Target[first:end]
		for i, weightID := range model.WeightIndex[first:end] {
			if target := targets[i]; target != state {
				weight := model.Weights[weightID]
				exitRate += weight
				sum += weight * (bias[unknowns[target]] - current)
			}
		}
		if exitRate > 0 {
			change := sum / (exitRate * (1 + slack)) // damping makes periodic chains converge
			drift += change
			bias[member] += change
		}
	}
	return drift / float64(len(members))
}

// numTransitions returns the number of transitions of all choices of the members.
func (system *equationSystem) numTransitions(members []uint32) (count int) {
	for _, state := range members {
		count += len(system.successors(state))
	}
	return count
}

// gainBounds returns bounds on the gain of a BSCC: the minimum and the maximum over all members of r + P h - h, where h is the bias,
// rounded outwards. It divides the members among several goroutines.
func (bscc *bsccGain) gainBounds(members []uint32) (minimum, maximum float64) {
	minimum, maximum = math.Inf(1), 0
	var merge sync.Mutex
	inParallelParts(len(members), minStatesPerPart, func(from, to int) {
		partMin, partMax := bscc.gainBoundsOfPart(members, from, to)
		merge.Lock()
		defer merge.Unlock()
		minimum, maximum = min(minimum, partMin), max(maximum, partMax)
	})
	return max(minimum, 0), maximum
}

// gainBoundsOfPart returns the minimum and the maximum of oneStepGain over members[from:to], rounded outwards.
func (bscc *bsccGain) gainBoundsOfPart(members []uint32, from, to int) (minimum, maximum float64) {
	minimum, maximum = math.Inf(1), 0
	for _, state := range members[from:to] {
		value, valueErr := bscc.rewardSystem.oneStepGain(int(state), int(state), bscc.bias, &bscc.index)
		minimum, maximum = min(minimum, value-valueErr), max(maximum, value+valueErr)
	}
	return minimum, maximum
}

// oneStepGain returns the reward of a choice in a state plus the expected change of the bias in one step: r + P h - h, where h is the bias.
// absErr bounds the rounding error. index has the position of each state in the slice bias.
func (system *equationSystem) oneStepGain(state, choice int, bias []float64, index *unknownIndex) (gain, absErr float64) {
	reward, ownBias, unknowns := system.reward.ChoiceTotal(state, choice), bias[index.unknowns[state]], index.unknowns
	sum, magnitude, hasBiasChange := reward, reward, false
	first, end := system.graph.Transitions(choice)
	targets := system.graph.Target[first:end]
	for i, weightID := range system.graph.WeightIndex[first:end] {
		change := bias[unknowns[targets[i]]] - ownBias
		hasBiasChange = hasBiasChange || change != 0
		change *= system.graph.Weights[weightID]
		sum += change
		magnitude += math.Abs(change)
	}
	if !hasBiasChange {
		return sum, system.rounding.sumErr(1) * magnitude
	}
	return sum, system.rounding.sumErr(end-first+1)*magnitude + system.rounding.leastBound
}

// gainByElimination returns bounds on the gain from the cycle equations, or 0 and infinity without a solution.
// overBudget says that a larger budget may help.
func (bscc *bsccGain) gainByElimination(members []uint32, budget float64) (lower, upper float64, overBudget bool, err error) {
	// The cycles of an unlikely reference state are long, and their numbers can leave the range of float64.
	lower, upper, isReliable, overBudget, err := bscc.gainByCycles(members, last(members), budget)
	if !isReliable && !overBudget && err == nil {
		lower, upper, _, overBudget, err = bscc.gainByCycles(members, bscc.likelyState(members), budget)
	}
	return lower, upper, overBudget, err
}

// likelyState returns the last state of a long simulated path. Such a state probably has a high stationary probability.
func (bscc *bsccGain) likelyState(members []uint32) uint32 {
	rng := rand.New(rand.NewPCG(1, 1))
	current := members[0]
	for range 32*len(members) + 1000 {
		current = randomSuccessor(bscc.rewardSystem.graph, current, rng)
	}
	return current
}

// randomSuccessor draws a successor of a state of a Markov chain by the weights of the transitions.
func randomSuccessor(graph *sparse.Graph, state uint32, rng *rand.Rand) uint32 {
	first, end := graph.Transitions(int(state))
	exitRate := 0.0
	for transition := first; transition < end; transition++ {
		exitRate += graph.Prob(transition)
	}
	remaining := exitRate * rng.Float64()
	for i := first; i < end-1; i++ {
		if remaining < graph.Prob(i) {
			return graph.Target[i]
		}
		remaining -= graph.Prob(i)
	}
	return graph.Target[end-1]
}

// gainByCycles returns bounds on the gain by the renewal-reward theorem: the expected reward of a cycle from the reference state to itself,
// divided by its expected time. isReliable is false if a number leaves the range of float64. overBudget says that elimination exceeds the
// budget.
func (bscc *bsccGain) gainByCycles(members []uint32, reference uint32, budget float64) (lower, upper float64, isReliable, overBudget bool, err error) {
	lower, upper = 0, math.Inf(1)
	if bscc.stepSystem == nil {
		bscc.stepSystem = bscc.rewardSystem.countingSteps()
	}
	cycle, overBudget, err := solveCycle(bscc.rewardSystem, bscc.stepSystem, withLast(members, reference), reference, &bscc.index, bscc.meter, budget)
	if cycle == nil || err != nil {
		return lower, upper, false, overBudget, err
	}
	// The caller has handled components without rewards, so cycleReward is positive.
	rewardInRange := cycle.cycleReward >= 0x1p-300 && cycle.cycleReward <= 0x1p300
	if !rewardInRange || !cycle.solver.isSafeFromUnderflow(cycle.times) {
		return lower, upper, false, false, nil
	}
	// The gain is a quotient of sums of products, so the bound of perturbation applies.
	rounding := bscc.rewardSystem.rounding
	first, end := bscc.rewardSystem.graph.Transitions(int(reference))
	sumErr := 2 * errMargin * rounding.sumErr(end-first+1)
	relErr := errMargin * (cycle.solver.relErr + cycle.solver.backSubstitutionErr + cycle.solver.perturbation() + sumErr)
	return rounding.roundDown(cycle.gain, relErr), rounding.roundUp(cycle.gain, relErr), true, false, nil
}

// cycleSolution is exactCycle in floating-point arithmetic, without error bounds.
type cycleSolution struct {
	gain                   float64
	rewards, times         []float64
	cycleReward, cycleTime float64            // expected, for a cycle from the reference state to itself
	solver                 *eliminationSolver // nil if there are no other states
}

// solveCycle computes the gain of a recurrent class by elimination in floating-point arithmetic. The last member is the reference state,
// and referenceChoice its choice; every other member has exactly one choice. The gain is the expected reward of a cycle from the reference
// state to itself, divided by its expected time. cycle is nil if a number leaves the range of float64, or if elimination exceeds the
// budget.
func solveCycle(rewardSystem, stepSystem *equationSystem, members []uint32, referenceChoice uint32, index *unknownIndex, meter *meter, budget float64) (cycle *cycleSolution, overBudget bool, err error) {
	reference, others := last(members), members[:len(members)-1]
	cycle = &cycleSolution{}
	if len(others) > 0 {
		rewardEquations := rewardSystem.localSystem(others, index)
		index.clearUnknowns(others)
		stepEquations := stepSystem.localSystem(others, index)
		defer index.clearUnknowns(others)
		cycle.solver = newEliminationSolver(rewardEquations, budget)
		cycle.solver.forbidsIteration = true
		cycle.rewards, err = cycle.solver.solve(meter, cycle.solver.constant)
		if cycle.rewards == nil || err != nil {
			return nil, cycle.solver.exceedsBudget, err
		}
		cycle.times = cycle.solver.substitute(func(unknown int) float64 { return stepEquations.lowerConstants[unknown] })
		if cycle.times == nil {
			return nil, false, nil
		}
	}
	choice := int(referenceChoice)
	cycle.cycleReward = rewardSystem.addExpectation(choice, rewardSystem.reward.ChoiceTotal(int(reference), choice), cycle.rewards, index)
	cycle.cycleTime = rewardSystem.addExpectation(choice, 1, cycle.times, index)
	cycle.gain = cycle.cycleReward / cycle.cycleTime
	return cycle, false, nil
}
