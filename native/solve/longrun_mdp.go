package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/interval"
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
		for i := range mec.mecs.Num() {
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
	mecs                     *sparse.EndComponents
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
		mecs: mecs, opts: opts, meter: newMeter(ctx, opts, len(mecs.States)), knownMECs: sparse.NewSet(mecs.Num()),
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

// precompute finds the MECs whose gain is 0 (or 1, for the reward of a set of states) by graph analysis
// alone.
func (mec *mecGain) precompute(ctx context.Context, goalStates *sparse.Set) error {
	zeroReward, rewarded := mec.zeroRewardChoices()
	if mec.rewardSystem.minimize {
		if err := mec.setMECsContaining(ctx, zeroReward, 0); err != nil {
			return err
		}
	}
	for i := range mec.mecs.Num() {
		if !rewarded.Has(i) {
			mec.setGain(i, 0)
		}
	}
	if goalStates == nil {
		return nil
	}
	if !mec.rewardSystem.minimize {
		return mec.setMECsContaining(ctx, mec.mecs.Choices.Minus(zeroReward), 1)
	}
	for i := range mec.mecs.Num() {
		isOutside := func(s uint32) bool { return !goalStates.Has(int(s)) }
		if !slices.ContainsFunc(mec.mecs.Members(i), isOutside) {
			mec.setGain(i, 1)
		}
	}
	return nil
}

// zeroRewardChoices returns the choices of MECs without reward, and the MECs that have a choice with a reward.
func (mec *mecGain) zeroRewardChoices() (zeroReward, rewarded *sparse.Set) {
	zeroReward, rewarded = sparse.NewSet(mec.rewardSystem.graph.NumChoices()), sparse.NewSet(mec.mecs.Num())
	for c := range mec.mecs.Choices.All() {
		s := mec.rewardSystem.graph.Owner(uint32(c))
		if mec.rewardSystem.reward.OfChoice(s, c) == 0 {
			zeroReward.Add(c)
		} else {
			rewarded.Add(int(mec.mecs.ID[s]))
		}
	}
	return zeroReward, rewarded
}

// setMECsContaining sets the gain of every MEC that contains an end component made of the given choices only,
// and makes the scheduler reach this end component and stay in it.
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
		mec.setGain(int(mec.mecs.ID[inner.Members(i)[0]]), gain)
	}
	stayInEndComponents(mec.rewardSystem.graph, inner, mec.stayChoice)
	mec.rewardSystem.graph.Approach(mec.mecs.Choices, inside, mec.stayChoice)
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

// solveMEC computes bounds on the optimal gain of MEC number i, or its exact gain, unless it is known
// already. areProbabilities says that gains are at most 1.
func (mec *mecGain) solveMEC(i int, areProbabilities bool) error {
	if mec.knownMECs.Has(i) {
		return nil
	}
	members := mec.mecs.Members(i)
	mec.init(members)
	defer mec.index.reset(members)
	if mec.gain.Exact != nil {
		return mec.exactPolicyIteration(i, members)
	}
	lower, upper, err := mec.iterateWithElimination(members)
	if areProbabilities {
		lower, upper = min(lower, 1), min(upper, 1)
	}
	mec.gain.Lower[i], mec.gain.Upper[i] = lower, upper
	if !(upper-lower <= 10*mec.opts.epsilon()*upper) {
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

// hasConverged reports whether the bounds are as narrow as asked for.
func (mec *mecGain) hasConverged(lower, upper float64) bool {
	return upper-lower <= mec.opts.epsilon()*upper
}

// iterateWithElimination returns bounds on the gain of a MEC. It alternates value iteration with policy
// iteration by elimination, which it runs when this costs about as much as the sweeps so far.
func (mec *mecGain) iterateWithElimination(members []uint32) (lower, upper float64, err error) {
	bounds := &interval.Interval{Lo: 0, Hi: math.Inf(1)}
	sweepsDone, limit, eliminable := 0, mec.opts.maxSweeps(), len(members) > 1
	for sweeps := firstSweeps; sweepsDone < limit; sweeps *= 4 {
		sweeps = min(sweeps, limit)
		if err := mec.valueIteration(members, bounds, sweeps-sweepsDone); err != nil {
			return 0, 0, err
		}
		stepErr := mec.stepErr
		sweepsDone = sweeps
		if eliminable && !mec.hasConverged(bounds.Lo, bounds.Hi) {
			sweepWork := float64(mec.rewardSystem.numTransitions(members))
			eliminable, err = mec.policyIteration(members, bounds, 4*budgetPerWork*float64(sweepsDone)*sweepWork)
			if err != nil {
				return 0, 0, err
			}
		}
		width := bounds.Hi - bounds.Lo
		nearlyConverged := width <= 10*mec.opts.epsilon()*bounds.Hi // further sweeps would take long
		onlyRounding := width <= 4*stepErr                          // further sweeps could only change rounding errors
		isEnough := nearlyConverged || onlyRounding
		if mec.hasConverged(bounds.Lo, bounds.Hi) || !eliminable && isEnough {
			break
		}
	}
	return bounds.Lo, bounds.Hi, nil
}

// valueIteration improves the bias and the bounds by at most the given number of relative value iteration
// sweeps.
//
// Source: Puterman, Markov Decision Processes (1994), section 8.5.
func (mec *mecGain) valueIteration(members []uint32, bounds *interval.Interval, sweeps int) error {
	work := mec.rewardSystem.numTransitions(members)
	for range sweeps {
		lower, upper := mec.sweep(members, bounds)
		if mec.hasConverged(bounds.Lo, bounds.Hi) || !(upper < math.Inf(1)) { // overflow: further sweeps are useless
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

// sweep computes stepGain and the choices that attain its optimum, and tightens the bounds. For any bias h
// and the maximum: if each state has a choice with r + P h - h >= lower, that scheduler has gain at least
// lower; if no choice of any state exceeds upper, no scheduler has a greater gain. The minimum is symmetric.
// The choices that attain the better bound are kept in stayChoice.
//
// Source: Odoni, On finding the maximal gain for Markov decision processes (1969).
func (mec *mecGain) sweep(members []uint32, bounds *interval.Interval) (gainLower, gainUpper float64) {
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
	improved := gainLower >= bounds.Lo
	if mec.rewardSystem.minimize {
		improved = gainUpper <= bounds.Hi
	}
	if improved {
		for k, s := range members {
			mec.stayChoice[s] = mec.choice[k]
		}
	}
	bounds.Lo, bounds.Hi = max(bounds.Lo, gainLower), min(bounds.Hi, gainUpper)
	return gainLower, gainUpper
}

// bestChoice updates the choice of state s, which is state number k of the end component. The choice changes only if another
// one is better by more than the rounding error; a gain that is not a number replaces it, too. It
// returns bounds on the optimum of r + P h - h over all choices, where h is the bias.
func (mec *mecGain) bestChoice(k, s int) (lower, upper float64) {
	value, valueErr := mec.rewardSystem.oneStepGain(s, int(mec.choice[k]), mec.bias, &mec.index)
	bound := value + valueErr
	if mec.rewardSystem.minimize {
		bound = value - valueErr
	}
	first, end := mec.rewardSystem.graph.Choices(s)
	for c := first; c < end; c++ {
		if c == int(mec.choice[k]) || !mec.mecs.Choices.Has(c) {
			continue
		}
		other, otherErr := mec.rewardSystem.oneStepGain(s, c, mec.bias, &mec.index)
		var certainlyBetter bool
		if mec.rewardSystem.minimize {
			bound = min(bound, other-otherErr)
			certainlyBetter = other+otherErr < value-valueErr
		} else {
			bound = max(bound, other+otherErr)
			certainlyBetter = other-otherErr > value+valueErr
		}
		if certainlyBetter || math.IsNaN(other) {
			value, valueErr = other, otherErr
			mec.choice[k] = uint32(c)
		}
	}
	mec.stepGain[k] = value
	mec.stepErr = max(mec.stepErr, valueErr)
	if mec.rewardSystem.minimize {
		return bound, value + valueErr
	}
	return value - valueErr, bound
}

// policyIteration evaluates the current scheduler by elimination and improves it, until no choice is better.
// It tightens the bounds. overBudget says that a larger budget may help.
//
// Source: Puterman, Markov Decision Processes (1994), section 8.6.
func (mec *mecGain) policyIteration(members []uint32, bounds *interval.Interval, budget float64) (overBudget bool, err error) {
	const rounds = 20
	var cycle *cycleSolution
	for range rounds {
		reference, err := mec.makeUnichain(members, func(class []uint32) (*big.Rat, error) {
			cycle, overBudget, err = mec.solveCycle(class, budget)
			if cycle == nil {
				return nil, err
			}
			return new(big.Rat).SetFloat64(cycle.gain), nil
		})
		if reference == sparse.None || err != nil {
			return overBudget, err
		}
		order := withLast(members, reference)
		if cycle, overBudget, err = mec.solveCycle(order, budget); cycle == nil || err != nil {
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
		if mec.hasConverged(bounds.Lo, bounds.Hi) || slices.Equal(oldChoices, mec.choice) {
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

// exactPolicyIteration computes the gain of MEC i in rational arithmetic, starting from the scheduler
// that a few sweeps find. Every improvement raises the gain, or keeps it and raises the bias of some
// state, so no scheduler is repeated.
//
// Source: Puterman, Markov Decision Processes (1994), sections 8.6 and 9.5.1.
func (mec *mecGain) exactPolicyIteration(i int, members []uint32) error {
	if err := mec.valueIteration(members, &interval.Interval{Lo: 0, Hi: math.Inf(1)}, firstSweeps); err != nil {
		return err
	}
	choice := func(s uint32) uint32 { return mec.choice[mec.index.ofState[s]] }
	bias := &Values{Exact: make([]*big.Rat, mec.rewardSystem.graph.NumStates())}
	improvement := &system{graph: mec.rewardSystem.graph, minimize: mec.rewardSystem.minimize, reward: mec.rewardSystem.reward, choices: mec.mecs.Choices, oneStep: true, values: bias}
	for {
		reference, err := mec.makeUnichain(members, func(class []uint32) (*big.Rat, error) {
			cycle, err := mec.rewardSystem.solveCycleRat(class, choice, &mec.cycleIndex, mec.meter)
			if err != nil {
				return nil, err
			}
			return cycle.gain, nil
		})
		if err != nil {
			return err
		}
		order := withLast(members, reference)
		cycle, err := mec.rewardSystem.solveCycleRat(order, choice, &mec.cycleIndex, mec.meter)
		if err != nil {
			return err
		}
		bias.Exact[reference] = new(big.Rat)
		for k, s := range order[:len(order)-1] {
			bias.Exact[s] = cycle.bias(k)
		}
		better := false
		for k, s := range members {
			best := improvement.optimumRat(int(s))
			if err := mec.meter.addWork(1000 + reductionCost(best.value)); err != nil {
				return err
			}
			if now := new(big.Rat).Add(bias.Exact[s], cycle.gain); best.value.Cmp(now) != 0 {
				mec.choice[k], better = best.choice, true
			}
		}
		if !better {
			for k, s := range members {
				mec.stayChoice[s] = mec.choice[k]
			}
			mec.gain.Exact[i] = cycle.gain
			return nil
		}
	}
}

// makeUnichain changes the current scheduler so that its chain has one recurrent class: it keeps the class with the best gain,
// and makes all other members reach it. It returns a state of this class, or sparse.None if gainOfClass returns nil for some
// class.
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
	mec.rewardSystem.graph.Approach(mec.mecs.Choices, inside, mec.route)
	for k, s := range members {
		if !inside.Has(int(s)) {
			mec.choice[k] = mec.route[s]
		}
	}
}

// recurrentClasses returns the states of each recurrent class of the chain that the current scheduler
// induces.
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

// solveCycle solves the cycle equations of a recurrent class under the current scheduler. The last member is
// the reference state. It returns nil if elimination exceeds the budget or a number is out of range.
func (mec *mecGain) solveCycle(members []uint32, budget float64) (cycle *cycleSolution, overBudget bool, err error) {
	for _, s := range members {
		mec.schedulerChoices.Add(int(mec.choice[mec.index.ofState[s]]))
	}
	defer func() {
		for _, s := range members {
			mec.schedulerChoices.Remove(int(mec.choice[mec.index.ofState[s]]))
		}
	}()
	reference := members[len(members)-1]
	cycle, overBudget, err = solveCycle(mec.rewardSystem, mec.stepSystem, members, mec.choice[mec.index.ofState[reference]], &mec.cycleIndex, mec.meter, budget)
	if cycle != nil && (math.IsInf(cycle.gain, 0) || math.IsNaN(cycle.gain)) {
		return nil, false, err
	}
	return cycle, overBudget, err
}

// mecQuotient is an MDP in which each of n maximal end components is one state. Its choices are those
// that leave the MEC, and one to stay forever, which leads to an absorbing state. State i is MEC i,
// state n+i its absorbing state; the other states follow.
type mecQuotient struct {
	graph          *sparse.Graph
	original       *sparse.Graph
	mecs           *sparse.EndComponents
	stateOf        []uint32 // of each original state: its state in the quotient
	originalChoice []uint32 // of each choice: the original choice, or sparse.None for staying
}

// newMECQuotient builds the MEC quotient. With n MECs, states 0 to n-1 are the MECs, states n to 2n-1 are
// absorbing states for staying in a MEC forever, and the remaining states belong to no MEC.
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
	target := func(i int) uint32 { return quotient.stateOf[graph.Target[i]] }
	addExits := func(s int) {
		first, end := graph.Choices(s)
		for c := first; c < end; c++ {
			if !mecs.Choices.Has(c) {
				builder.Copy(c, target)
			}
		}
	}
	for i := range numMECs {
		builder.State()
		for _, s := range mecs.Members(i) {
			addExits(int(s))
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
			addExits(s)
		}
	}
	quotient.graph = sparse.NewGraph(builder.Finish())
	quotient.originalChoice = builder.Origin
	return quotient
}

// solve returns the values of the states of the quotient. gain has the value of staying in each MEC, which is the value of the
// absorbing state of the MEC. certain contains the MECs whose gain is 0 or 1 by graph analysis.
func (quotient *mecQuotient) solve(ctx context.Context, gain *Values, certain *sparse.Set, dir Direction, areProbabilities bool, opts Options) (*Values, error) {
	sys, err := newSystem(quotient.graph, nil, dir, opts)
	if err != nil {
		return nil, err
	}
	n := quotient.mecs.Num()
	sys.isProbability, sys.maybe = areProbabilities, sparse.FullSet(quotient.graph.NumStates())
	zero, nonzero, one, notOne := quotient.newSet(), quotient.newSet(), quotient.newSet(), quotient.newSet()
	for i := range n {
		s := n + i
		sys.maybe.Remove(s)
		if gain.Exact != nil {
			sys.values.assign(s, gain.Exact[i])
		} else {
			sys.values.Lower[s], sys.values.Upper[s] = gain.Lower[i], gain.Upper[i]
		}
		addTo(certain.Has(i) && sys.values.Upper[s] == 0, s, zero, nonzero)
		addTo(certain.Has(i) && areProbabilities && sys.values.Lower[s] == 1, s, one, notOne)
	}
	sys.values.Converged = gain.Converged
	if err := quotient.setCertain(ctx, sys, dir == Min, zero, nonzero, 0); err != nil {
		return nil, err
	}
	if err := quotient.setCertain(ctx, sys, dir == Max, one, notOne, 1); err != nil {
		return nil, err
	}
	return sys.solve(ctx, opts, false)
}

func (quotient *mecQuotient) newSet() *sparse.Set { return sparse.NewSet(quotient.graph.NumStates()) }

// addTo adds s to one of two sets: to ifTrue if the condition holds, and otherwise to ifFalse.
func addTo(condition bool, s int, ifTrue, ifFalse *sparse.Set) {
	if condition {
		ifTrue.Add(s)
	} else {
		ifFalse.Add(s)
	}
}

// setCertain fixes the value of the maybe states that reach targets with probability one: under some scheduler if
// existential is true, and otherwise under all schedulers. others are the remaining absorbing states.
func (quotient *mecQuotient) setCertain(ctx context.Context, sys *system, existential bool, targets, others *sparse.Set, value float64) error {
	if targets.Empty() {
		return nil
	}
	certain := quotient.graph.ExistsUntil(sparse.FullSet(quotient.graph.NumStates()), others).Complement()
	if existential {
		var err error
		if certain, err = quotient.graph.Prob1E(ctx, sparse.FullSet(quotient.graph.NumStates()), targets); err != nil {
			return err
		}
		if sys.values.Scheduler != nil {
			quotient.graph.Attract(certain, targets, sys.values.Scheduler)
		}
	}
	certain = certain.Intersect(sys.maybe)
	sys.values.setAll(certain, value)
	sys.maybe = sys.maybe.Minus(certain)
	return nil
}

// writeBack copies the values and the scheduler of the quotient to the original model.
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

// writeScheduler translates a scheduler of the quotient to the model. If the scheduler leaves a MEC, all states of the MEC
// approach the exit. If it stays in a MEC, the states have the choices of mec.
func (quotient *mecQuotient) writeScheduler(scheduler, solved []uint32, mec *mecGain) {
	exits := sparse.NewSet(len(quotient.stateOf))
	for s, quotientState := range quotient.stateOf {
		original := uint32(sparse.None) // None if the scheduler stays in the MEC
		if choice := solved[quotientState]; choice != sparse.None {
			original = quotient.originalChoice[choice]
		}
		inMEC := quotient.mecs.ID[s] != sparse.None
		switch {
		case original == sparse.None && inMEC:
			scheduler[s] = mec.stayChoice[s]
		case original != sparse.None && quotient.original.Owner(original) == s:
			scheduler[s] = original
			if inMEC {
				exits.Add(s)
			}
		}
	}
	quotient.original.Approach(quotient.mecs.Choices, exits, scheduler)
}
