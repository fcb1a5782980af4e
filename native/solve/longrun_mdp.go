package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// optimalLongRun computes the optimal long-run average of a reward from each state of an MDP. With probability one, a path
// ends up in an end component. All states of a maximal end component (MEC) have the same optimal gain. So optimalLongRun
// computes the optimal gain of each MEC, and then solves a reachability problem in the MEC quotient, in which every MEC is
// one state with an additional choice to stay there forever.
//
// Source: de Alfaro, Formal verification of probabilistic systems (1997), section 5.4; Ashok, Chatterjee, Daca, Kretinsky
// and Meggendorfer, Value iteration for long-run average reward in Markov decision processes (CAV 2017).
func optimalLongRun(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, rewarded *sparse.Set, dir Direction, opts Options) (*Values, error) {
	areProbabilities := rewarded != nil
	return solveByMECs(ctx, graph, reward, areProbabilities, dir, opts, func(mec *mecGain) error {
		if err := mec.precompute(ctx, rewarded); err != nil {
			return err
		}
		for i := range mec.endComponents.Num() {
			if err := mec.solveMEC(i, areProbabilities); err != nil {
				return err
			}
		}
		return nil
	})
}

// solveByMECs computes an optimal long-run average of each state in two steps. First solveMECs sets the optimum of each maximal
// end component (MEC). Then the MEC quotient gives the optimum of each state. Each step has half of the relative width that
// the options allow.
func solveByMECs(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, areProbabilities bool, dir Direction, opts Options, solveMECs func(*mecGain) error) (*Values, error) {
	sys, err := newSystem(graph, reward, dir, opts)
	if err != nil {
		return nil, err
	}
	mecs, err := graph.EndComponents(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	opts.Epsilon = opts.epsilon() / 2
	mec := newMECGain(ctx, sys, mecs, opts)
	if err := solveMECs(mec); err != nil {
		return nil, err
	}
	quotient := newMECQuotient(graph, mecs)
	values, err := quotient.solve(ctx, mec.gain, mec.knownMECs, dir, areProbabilities, opts)
	if err != nil {
		return nil, err
	}
	quotient.writeBack(values, sys.values, mec)
	return sys.values, nil
}

// mecGain computes the optimal gain of maximal end components.
type mecGain struct {
	rewardSystem, stepSystem *system // same transitions under the chosen choices; rewards of the property, and 1 per step
	endComponents            *sparse.EndComponents
	opts                     Options
	meter                    *meter
	index                    unknownIndex
	cycleIndex               unknownIndex // numbers of the unknowns of solveCycle
	schedulerChoices         *sparse.Set  // the choices of the scheduler that solveCycle evaluates
	gain                     *Values      // of each MEC
	knownMECs                *sparse.Set  // MECs whose gain is known
	route                    []uint32     // of each state: scratch of reachClass
	stayChoice               []uint32     // of each state: the choice that attains the gain of its MEC

	bias     []float64 // approximate bias
	stepGain []float64 // r + P h - h for the current choice, where h is the bias
	choice   []uint32  // the current scheduler
	stepErr  float64   // the greatest rounding error of stepGain
}

// newMECGain prepares the computation of the optimal gains of the given maximal end components.
func newMECGain(ctx context.Context, sys *system, mecs *sparse.EndComponents, opts Options) *mecGain {
	chosen := sparse.NewSet(sys.graph.NumChoices())
	sys.choices = chosen
	mec := &mecGain{
		rewardSystem: sys, stepSystem: sys.countingSteps(), schedulerChoices: chosen,
		endComponents: mecs, opts: opts, meter: newMeter(ctx, opts, len(mecs.States)), knownMECs: sparse.NewSet(mecs.Num()),
		gain:       &Values{Lower: make([]float64, mecs.Num()), Upper: make([]float64, mecs.Num()), Converged: true},
		stayChoice: make([]uint32, sys.graph.NumStates()),
	}
	if opts.Exact {
		mec.gain.Exact = make([]*big.Rat, mecs.Num())
	}
	if sys.graph.NumStates() < maxUnlimitedStates {
		mec.meter.maxWork = 0
	}
	stayInEndComponents(sys.graph, mecs, mec.stayChoice)
	mec.index.init(sys.graph.NumStates())
	mec.cycleIndex.init(sys.graph.NumStates())
	return mec
}

// precompute sets the gains that graph analysis determines: 0, or 1 if the reward is that of a set of states. rewarded is this set,
// or nil.
func (mec *mecGain) precompute(ctx context.Context, rewarded *sparse.Set) error {
	zeroReward, rewardedMECs := mec.zeroRewardChoices()
	for i := range mec.endComponents.Num() {
		if !rewardedMECs.Has(i) {
			mec.setGain(i, 0)
		}
	}
	if mec.rewardSystem.minimize {
		if rewarded != nil {
			mec.setMECsInside(rewarded)
		}
		return mec.setMECsContaining(ctx, zeroReward, 0)
	}
	if rewarded != nil {
		return mec.setMECsContaining(ctx, mec.endComponents.Choices.Minus(zeroReward), 1)
	}
	return nil
}

// setMECsInside sets the gain of every MEC whose states are all in a set to 1.
func (mec *mecGain) setMECsInside(states *sparse.Set) {
	isOutside := func(s uint32) bool { return !states.Has(int(s)) }
	for i := range mec.endComponents.Num() {
		if !slices.ContainsFunc(mec.endComponents.Members(i), isOutside) {
			mec.setGain(i, 1)
		}
	}
}

// zeroRewardChoices returns the choices of MECs that have no reward, and the MECs that have a choice with a reward.
func (mec *mecGain) zeroRewardChoices() (zeroReward, rewardedMECs *sparse.Set) {
	graph := mec.rewardSystem.graph
	zeroReward, rewardedMECs = sparse.NewSet(graph.NumChoices()), sparse.NewSet(mec.endComponents.Num())
	for c := range mec.endComponents.Choices.All() {
		s := graph.Owner(uint32(c))
		if mec.rewardSystem.reward.OfChoice(s, c) == 0 {
			zeroReward.Add(c)
		} else {
			rewardedMECs.Add(int(mec.endComponents.ID[s]))
		}
	}
	return zeroReward, rewardedMECs
}

// setMECsContaining sets the gain of every MEC that contains an end component of the given choices, and makes the scheduler reach
// this end component and stay in it.
func (mec *mecGain) setMECsContaining(ctx context.Context, choices *sparse.Set, gain float64) error {
	inner, err := mec.rewardSystem.graph.EndComponents(ctx, nil, choices)
	if err != nil {
		return err
	}
	inside := sparse.NewSet(mec.rewardSystem.graph.NumStates())
	for i := range inner.Num() {
		for _, s := range inner.Members(i) {
			inside.Add(int(s))
		}
		mec.setGain(int(mec.endComponents.ID[inner.Members(i)[0]]), gain)
	}
	stayInEndComponents(mec.rewardSystem.graph, inner, mec.stayChoice)
	mec.rewardSystem.graph.Approach(mec.endComponents.Choices, inside, mec.stayChoice)
	return nil
}

// setGain sets the gain of MEC number i, and records that it is known.
func (mec *mecGain) setGain(i int, value float64) {
	mec.knownMECs.Add(i)
	mec.gain.Lower[i], mec.gain.Upper[i] = value, value
	if mec.gain.Exact != nil {
		mec.gain.Exact[i] = new(big.Rat).SetFloat64(value)
	}
}

// solveMEC sets bounds on the optimal gain of MEC number i, or its exact gain, unless precompute has set it. areProbabilities
// says that gains are at most 1.
func (mec *mecGain) solveMEC(i int, areProbabilities bool) error {
	if mec.knownMECs.Has(i) {
		return nil
	}
	members := mec.endComponents.Members(i)
	mec.init(members)
	defer mec.index.reset(members)
	if mec.gain.Exact != nil {
		return mec.exactPolicyIteration(i, members)
	}
	bounds, err := mec.iterateWithElimination(members)
	if areProbabilities {
		bounds.tighten(0, 1)
	}
	mec.gain.Lower[i], mec.gain.Upper[i] = bounds.lower, bounds.upper
	if !bounds.nearlyConverged(mec.opts.epsilon()) {
		mec.gain.Converged = false
	}
	mec.meter.progress.Done += len(members)
	return err
}

// init prepares the computation of one MEC. It numbers the members, sets their biases to 0, and selects choices that stay in
// the MEC.
func (mec *mecGain) init(members []uint32) {
	mec.bias = make([]float64, len(members))
	mec.stepGain = make([]float64, len(members))
	mec.choice = make([]uint32, len(members))
	for k, s := range members {
		mec.index.ofState[s] = uint32(k)
		mec.choice[k] = mec.stayChoice[s]
	}
}

// iterateWithElimination returns bounds on the gain of a MEC. It alternates value iteration with policy iteration by elimination.
// It limits the elimination to about the work of the sweeps so far.
func (mec *mecGain) iterateWithElimination(members []uint32) (gainInterval, error) {
	bounds := gainInterval{0, math.Inf(1)}
	sweepWork := float64(mec.rewardSystem.numTransitions(members))
	sweepsDone, limit, eliminable := 0, mec.opts.maxSweeps(), len(members) > 1
	for sweeps := firstSweeps; sweepsDone < limit; sweeps *= 4 {
		sweeps = min(sweeps, limit)
		if err := mec.valueIteration(members, &bounds, sweeps-sweepsDone); err != nil {
			return gainInterval{}, err
		}
		sweepsDone = sweeps
		if bounds.converged(mec.opts.epsilon()) {
			break
		}
		sweepErr := mec.stepErr // policyIteration replaces it
		if eliminable {
			overBudget, err := mec.policyIteration(members, &bounds, 4*budgetPerWork*float64(sweepsDone)*sweepWork)
			if err != nil {
				return gainInterval{}, err
			}
			eliminable = overBudget
		}
		if bounds.converged(mec.opts.epsilon()) {
			break
		}
		onlyRounding := bounds.upper-bounds.lower <= 4*sweepErr // further sweeps could only change rounding errors
		if !eliminable && (onlyRounding || bounds.nearlyConverged(mec.opts.epsilon())) {
			break
		}
	}
	return bounds, nil
}

// valueIteration improves the bias and the bounds by at most the given number of relative value iteration
// sweeps.
//
// Source: Puterman, Markov Decision Processes (1994), section 8.5.
func (mec *mecGain) valueIteration(members []uint32, bounds *gainInterval, sweeps int) error {
	work := mec.rewardSystem.numTransitions(members)
	for range sweeps {
		lower, upper := mec.sweep(members, bounds)
		overflowed := !(upper < math.Inf(1)) // further sweeps are useless
		if overflowed || bounds.converged(mec.opts.epsilon()) {
			return nil
		}
		// Damping makes periodic chains converge.
		middle := lower + (upper-lower)/2
		for k := range mec.bias {
			mec.bias[k] += (mec.stepGain[k] - middle) / (1 + slack)
		}
		mec.meter.progress.Sweeps++
		if err := mec.meter.addWork(work); err != nil {
			return err
		}
	}
	return nil
}

// sweep computes stepGain and the choices that attain its optimum, and tightens the bounds. Let h be any bias, and let the gain be
// maximized. If each state has a choice with r + P h - h >= lower, the scheduler of these choices has a gain of at least lower. If
// no choice of any state exceeds upper, no scheduler has a gain above upper. The minimum is symmetric. stayChoice keeps the
// choices of the best bound so far. The results are the bounds of this sweep; they are 0 and infinity if numbers overflow.
//
// Source: Odoni, On finding the maximal gain for Markov decision processes (1969).
func (mec *mecGain) sweep(members []uint32, bounds *gainInterval) (gainLower, gainUpper float64) {
	gainLower, gainUpper, mec.stepErr = math.Inf(1), math.Inf(-1), 0
	for k, s := range members {
		lower, upper := mec.bestChoice(k, int(s))
		if math.IsNaN(lower) || math.IsNaN(upper) {
			return 0, math.Inf(1)
		}
		gainLower, gainUpper = min(gainLower, lower), max(gainUpper, upper)
	}
	gainLower = max(gainLower, 0)
	if gainLower > gainUpper { // because of rounding errors
		return 0, math.Inf(1)
	}
	improved := gainLower >= bounds.lower
	if mec.rewardSystem.minimize {
		improved = gainUpper <= bounds.upper
	}
	if improved {
		for k, s := range members {
			mec.stayChoice[s] = mec.choice[k]
		}
	}
	bounds.tighten(gainLower, gainUpper)
	return gainLower, gainUpper
}

// bestChoice updates the choice of state s, which is state number k of the end component. It returns bounds on the optimum of
// r + P h - h over all choices, where h is the bias. Another choice replaces the current one only if it is better by more than the
// rounding errors, or if its value is NaN, which ends the sweep.
func (mec *mecGain) bestChoice(k, s int) (lower, upper float64) {
	sign := 1.0 // signed values are maximized
	if mec.rewardSystem.minimize {
		sign = -1
	}
	value, valueErr := mec.rewardSystem.oneStepGain(s, int(mec.choice[k]), mec.bias, &mec.index)
	value *= sign
	greatest := value + valueErr
	first, end := mec.rewardSystem.graph.Choices(s)
	for c := first; c < end; c++ {
		if c == int(mec.choice[k]) || !mec.endComponents.Choices.Has(c) {
			continue
		}
		other, otherErr := mec.rewardSystem.oneStepGain(s, c, mec.bias, &mec.index)
		other *= sign
		greatest = max(greatest, other+otherErr)
		if other-otherErr > value+valueErr || math.IsNaN(other) {
			value, valueErr = other, otherErr
			mec.choice[k] = uint32(c)
		}
	}
	mec.stepGain[k] = sign * value
	mec.stepErr = max(mec.stepErr, valueErr)
	if mec.rewardSystem.minimize {
		return -greatest, -value + valueErr
	}
	return value - valueErr, greatest
}

// policyIteration tightens the bounds. It evaluates the current scheduler by elimination and improves it, until no choice is
// better. overBudget says that a larger budget may help.
//
// Source: Puterman, Markov Decision Processes (1994), section 8.6.
func (mec *mecGain) policyIteration(members []uint32, bounds *gainInterval, budget float64) (overBudget bool, err error) {
	const maxRounds = 20
	for range maxRounds {
		reference, err := mec.makeUnichain(members, func(class []uint32) (*big.Rat, error) {
			cycle, classOverBudget, err := mec.solveCycle(class, budget)
			overBudget = classOverBudget
			if cycle == nil || err != nil {
				return nil, err
			}
			return new(big.Rat).SetFloat64(cycle.gain), nil
		})
		if reference == sparse.None || err != nil {
			return overBudget, err
		}
		order := withLast(members, reference)
		cycle, overBudget, err := mec.solveCycle(order, budget)
		if cycle == nil || err != nil {
			return overBudget, err
		}
		oldBias, oldBounds, oldChoices := slices.Clone(mec.bias), *bounds, slices.Clone(mec.choice)
		for i, s := range order[:len(order)-1] {
			mec.bias[mec.index.ofState[s]] = cycle.reward[i] - cycle.gain*cycle.time[i]
		}
		mec.bias[mec.index.ofState[reference]] = 0
		mec.sweep(members, bounds)
		if *bounds == oldBounds { // the bias of value iteration is better
			mec.bias = oldBias
		}
		if bounds.converged(mec.opts.epsilon()) || slices.Equal(oldChoices, mec.choice) {
			break
		}
	}
	return false, nil
}

// withLast returns the members in an order that ends with lastMember.
func withLast(members []uint32, lastMember uint32) []uint32 {
	others := slices.DeleteFunc(slices.Clone(members), func(s uint32) bool { return s == lastMember })
	return append(others, lastMember)
}

// exactPolicyIteration sets the gain of MEC number i by policy iteration in rational arithmetic. It starts with the scheduler that
// a few sweeps find. Every improvement raises the gain, or keeps it and raises the bias of some state, so no scheduler is repeated.
//
// Source: Puterman, Markov Decision Processes (1994), sections 8.6 and 9.5.1.
func (mec *mecGain) exactPolicyIteration(i int, members []uint32) error {
	if err := mec.valueIteration(members, &gainInterval{0, math.Inf(1)}, firstSweeps); err != nil {
		return err
	}
	bias := make([]*big.Rat, mec.rewardSystem.graph.NumStates())
	for {
		gain, err := mec.evaluateExactly(members, bias)
		if err != nil {
			return err
		}
		improved, err := mec.improveExactly(members, gain, bias)
		if err != nil {
			return err
		}
		if !improved {
			for k, s := range members {
				mec.stayChoice[s] = mec.choice[k]
			}
			mec.gain.Exact[i] = gain
			return nil
		}
	}
}

// evaluateExactly makes the chain of the current scheduler unichain. It returns the gain of this chain, and writes the biases of the
// members to bias, which has an entry for each state of the model.
func (mec *mecGain) evaluateExactly(members []uint32, bias []*big.Rat) (gain *big.Rat, err error) {
	choice := func(s uint32) uint32 { return mec.choice[mec.index.ofState[s]] }
	reference, err := mec.makeUnichain(members, func(class []uint32) (*big.Rat, error) {
		cycle, err := mec.rewardSystem.solveCycleRat(class, choice, &mec.cycleIndex, mec.meter)
		if err != nil {
			return nil, err
		}
		return cycle.gain, nil
	})
	if err != nil {
		return nil, err
	}
	order := withLast(members, reference)
	cycle, err := mec.rewardSystem.solveCycleRat(order, choice, &mec.cycleIndex, mec.meter)
	if err != nil {
		return nil, err
	}
	for k, s := range order[:len(order)-1] {
		bias[s] = cycle.bias(k)
	}
	bias[reference] = new(big.Rat)
	return cycle.gain, nil
}

// improveExactly switches each member to its best choice for the given gain and biases of the current scheduler. It reports whether
// some choice is better than the current one.
func (mec *mecGain) improveExactly(members []uint32, gain *big.Rat, bias []*big.Rat) (improved bool, err error) {
	equations := &system{
		graph: mec.rewardSystem.graph, minimize: mec.rewardSystem.minimize, reward: mec.rewardSystem.reward,
		choices: mec.endComponents.Choices, oneStep: true, values: &Values{Exact: bias},
	}
	current := new(big.Rat)
	for k, s := range members {
		best := equations.optimumRat(int(s))
		if err := mec.meter.addWork(1000 + reductionCost(best.value)); err != nil {
			return false, err
		}
		if current.Add(bias[s], gain); best.value.Cmp(current) != 0 {
			mec.choice[k], improved = best.choice, true
		}
	}
	return improved, nil
}

// makeUnichain changes the current scheduler so that its chain has one recurrent class, and returns a state of this class. It keeps
// the recurrent class with the best gain, and makes all other members reach it. It returns sparse.None if gainOfClass returns nil
// for some class.
func (mec *mecGain) makeUnichain(members []uint32, gainOfClass func(class []uint32) (*big.Rat, error)) (reference uint32, err error) {
	classes := mec.recurrentClasses(members)
	if len(classes) == 1 {
		return last(classes[0]), nil
	}
	best, err := mec.bestClass(classes, gainOfClass)
	if best == nil || err != nil {
		return sparse.None, err
	}
	mec.reachClass(members, best)
	return last(best), nil
}

// last returns the last element of a slice that is not empty.
func last[T any](list []T) T { return list[len(list)-1] }

// bestClass returns the recurrent class with the best gain, or nil if gainOfClass returns nil for some class.
func (mec *mecGain) bestClass(classes [][]uint32, gainOfClass func(class []uint32) (*big.Rat, error)) ([]uint32, error) {
	var best []uint32
	var bestGain *big.Rat
	for _, class := range classes {
		gain, err := gainOfClass(class)
		if gain == nil || err != nil {
			return nil, err
		}
		if best == nil || mec.isBetter(gain, bestGain) {
			best, bestGain = class, gain
		}
	}
	return best, nil
}

// isBetter reports whether a gain is less than another one if the gain is minimized, otherwise whether it is greater.
func (mec *mecGain) isBetter(gain, other *big.Rat) bool {
	if mec.rewardSystem.minimize {
		return gain.Cmp(other) < 0
	}
	return gain.Cmp(other) > 0
}

// reachClass sets the choices of the members outside of a class so that they reach it with probability one.
func (mec *mecGain) reachClass(members, class []uint32) {
	inside := sparse.NewSet(mec.rewardSystem.graph.NumStates())
	for _, s := range class {
		inside.Add(int(s))
	}
	if mec.route == nil {
		mec.route = make([]uint32, mec.rewardSystem.graph.NumStates())
	}
	mec.rewardSystem.graph.Approach(mec.endComponents.Choices, inside, mec.route)
	for k, s := range members {
		if !inside.Has(int(s)) {
			mec.choice[k] = mec.route[s]
		}
	}
}

// recurrentClasses returns the states of each recurrent class of the chain that the current scheduler induces.
func (mec *mecGain) recurrentClasses(members []uint32) [][]uint32 {
	builder := sparse.NewDerivedBuilder(mec.rewardSystem.graph.Model, sparse.DTMC)
	target := func(i int) uint32 { return mec.index.ofState[mec.rewardSystem.graph.Target[i]] }
	for k := range members {
		builder.State()
		builder.Copy(int(mec.choice[k]), target)
	}
	induced := builder.Finish()
	components := induced.Components(nil, nil)
	var classes [][]uint32
	for _, i := range components.Bottom(induced) {
		class := slices.Clone(components.Members(i))
		for j, k := range class {
			class[j] = members[k]
		}
		classes = append(classes, class)
	}
	return classes
}

// solveCycle solves the cycle equations of a recurrent class under the current scheduler. The last member is the reference state.
// cycle is nil if elimination exceeds the budget or a number is out of range.
func (mec *mecGain) solveCycle(members []uint32, budget float64) (cycle *cycleSolution, overBudget bool, err error) {
	for _, s := range members {
		mec.schedulerChoices.Add(int(mec.choice[mec.index.ofState[s]]))
	}
	defer func() {
		for _, s := range members {
			mec.schedulerChoices.Remove(int(mec.choice[mec.index.ofState[s]]))
		}
	}()
	reference := last(members)
	cycle, overBudget, err = solveCycle(mec.rewardSystem, mec.stepSystem, members, mec.choice[mec.index.ofState[reference]], &mec.cycleIndex, mec.meter, budget)
	if cycle != nil && (math.IsInf(cycle.gain, 0) || math.IsNaN(cycle.gain)) {
		return nil, false, err
	}
	return cycle, overBudget, err
}

// mecQuotient is an MDP in which each of n maximal end components is one state. States 0 to n-1 are the MECs. Their choices are those
// that leave the MEC, and one for staying forever, which leads to an absorbing state. States n to 2n-1 are these absorbing states. The
// remaining states belong to no MEC.
type mecQuotient struct {
	graph          *sparse.Graph
	original       *sparse.Graph
	mecs           *sparse.EndComponents
	stateOf        []uint32 // of each original state: its state in the quotient
	originalChoice []uint32 // of each choice: the original choice, or sparse.None for staying
}

// newMECQuotient builds the MEC quotient.
func newMECQuotient(graph *sparse.Graph, mecs *sparse.EndComponents) *mecQuotient {
	numMECs := mecs.Num()
	quotient := &mecQuotient{original: graph, mecs: mecs, stateOf: slices.Clone(mecs.ID)}
	count := 2 * numMECs
	for s := range quotient.stateOf {
		if quotient.stateOf[s] == sparse.None {
			quotient.stateOf[s] = uint32(count)
			count++
		}
	}
	builder := sparse.NewDerivedBuilder(graph.Model, sparse.MDP)
	for i := range numMECs {
		builder.State()
		for _, s := range mecs.Members(i) {
			quotient.copyExits(builder, int(s))
		}
		builder.Loop(uint32(numMECs + i))
	}
	for i := range numMECs {
		builder.State()
		builder.Loop(uint32(numMECs + i))
	}
	for s, id := range mecs.ID {
		if id == sparse.None {
			builder.State()
			quotient.copyExits(builder, s)
		}
	}
	quotient.graph = sparse.NewGraph(builder.Finish())
	quotient.originalChoice = builder.Origin
	return quotient
}

// copyExits adds the choices of an original state that are in no MEC to the current state of the builder.
func (quotient *mecQuotient) copyExits(builder *sparse.DerivedBuilder, s int) {
	target := func(i int) uint32 { return quotient.stateOf[quotient.original.Target[i]] }
	first, end := quotient.original.Choices(s)
	for c := first; c < end; c++ {
		if !quotient.mecs.Choices.Has(c) {
			builder.Copy(c, target)
		}
	}
}

// solve returns the values of the states of the quotient. gain has the gain of each MEC, which is the value of its absorbing state.
// knownMECs contains the MECs whose gain is 0 or 1 by graph analysis.
func (quotient *mecQuotient) solve(ctx context.Context, gain *Values, knownMECs *sparse.Set, dir Direction, areProbabilities bool, opts Options) (*Values, error) {
	sys, err := newSystem(quotient.graph, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	numStates := quotient.graph.NumStates()
	absorbing, zero, one := sparse.NewSet(numStates), sparse.NewSet(numStates), sparse.NewSet(numStates)
	for i := range quotient.mecs.Num() {
		s := quotient.mecs.Num() + i
		absorbing.Add(s)
		if gain.Exact != nil {
			sys.values.assign(s, gain.Exact[i])
		} else {
			sys.values.Lower[s], sys.values.Upper[s] = gain.Lower[i], gain.Upper[i]
		}
		if !knownMECs.Has(i) {
			continue
		}
		if sys.values.Upper[s] == 0 {
			zero.Add(s)
		} else if areProbabilities {
			one.Add(s)
		}
	}
	sys.isProbability, sys.maybe = areProbabilities, absorbing.Complement()
	sys.values.Converged = gain.Converged
	if err := quotient.setCertain(ctx, sys, dir == Min, zero, absorbing.Minus(zero), 0); err != nil {
		return nil, err
	}
	if err := quotient.setCertain(ctx, sys, dir == Max, one, absorbing.Minus(one), 1); err != nil {
		return nil, err
	}
	return sys.solve(ctx, opts, false)
}

// setCertain gives the value to the maybe states that reach targets with probability one: under some scheduler if existential is
// true, and otherwise under all schedulers. others are the absorbing states that are no targets.
func (quotient *mecQuotient) setCertain(ctx context.Context, sys *system, existential bool, targets, others *sparse.Set, value float64) error {
	if targets.Empty() {
		return nil
	}
	all := sparse.FullSet(quotient.graph.NumStates())
	var certain *sparse.Set
	if existential {
		var err error
		if certain, err = quotient.graph.Prob1E(ctx, all, targets); err != nil {
			return err
		}
		if sys.values.Scheduler != nil {
			quotient.graph.Attract(certain, targets, sys.values.Scheduler)
		}
	} else {
		certain = quotient.graph.ExistsUntil(all, others).Complement()
	}
	certain = certain.Intersect(sys.maybe)
	sys.values.setAll(certain, value)
	sys.maybe = sys.maybe.Minus(certain)
	return nil
}

// writeBack copies the values and the scheduler of the quotient to those of the original model.
func (quotient *mecQuotient) writeBack(solved, values *Values, mec *mecGain) {
	values.Converged = solved.Converged
	values.Estimated = solved.Estimated
	values.Extended = solved.Extended
	values.Sweeps = solved.Sweeps + mec.meter.progress.Sweeps
	for s, quotientState := range quotient.stateOf {
		values.Lower[s] = solved.Lower[quotientState]
		values.Upper[s] = solved.Upper[quotientState]
		if values.Exact != nil {
			values.Exact[s] = solved.Exact[quotientState]
		}
	}
	if values.Scheduler != nil {
		quotient.writeScheduler(values.Scheduler, solved.Scheduler, mec)
	}
}

// writeScheduler translates a scheduler of the quotient to the model. Where it leaves a MEC, all states of the MEC approach the exit.
// Where it stays in a MEC, the states get the choices of mec.
func (quotient *mecQuotient) writeScheduler(scheduler, solved []uint32, mec *mecGain) {
	exits := sparse.NewSet(len(quotient.stateOf))
	for s, quotientState := range quotient.stateOf {
		original := uint32(sparse.None) // None if the scheduler stays in the MEC
		if choice := solved[quotientState]; choice != sparse.None {
			original = quotient.originalChoice[choice]
		}
		inMEC := quotient.mecs.ID[s] != sparse.None
		if original == sparse.None {
			if inMEC {
				scheduler[s] = mec.stayChoice[s]
			}
			continue
		}
		if quotient.original.Owner(original) != s {
			continue // another state of the MEC has the exit
		}
		scheduler[s] = original
		if inMEC {
			exits.Add(s)
		}
	}
	quotient.original.Approach(quotient.mecs.Choices, exits, scheduler)
}
