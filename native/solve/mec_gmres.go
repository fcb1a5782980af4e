package solve

import (
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// approximatePolicyIteration tightens bounds on the optimal gain of a large MEC. In each round it computes the bias of the current
// scheduler approximately, by GMRES. Then a sweep over all choices selects the next scheduler and bounds the optimal gain; these bounds hold for any
// bias. It stops when the bounds are narrow, or when several rounds have not tightened them. Before it returns, it goes back to the biases and the scheduler
// after the last earlier round that tightened the bounds.
//
// Source: Puterman, Markov Decision Processes (1994), sections 8.6 and 8.7.
func (mec *mecGain) approximatePolicyIteration(members []uint32, bounds *gainInterval) error {
	const maxRounds, maxUselessRounds, firstPrecision = 30, 3, 0.1
	leastPrecision := mec.opts.epsilon() / 4
	precision, uselessRounds, bestBias, bestChoices := firstPrecision, 0, mec.bias, slices.Clone(mec.currentChoices)
	defer func() { mec.bias, mec.currentChoices = bestBias, bestChoices }()
	for range maxRounds {
		ok, err := mec.evaluateApproximately(members, precision)
		if !ok || err != nil {
			return err
		}
		oldBounds, oldChoices := *bounds, slices.Clone(mec.currentChoices)
		mec.sweep(members, bounds)
		if bounds.hasConverged(mec.opts.epsilon()) {
			return nil
		}
		uselessRounds++
		if *bounds != oldBounds {
			uselessRounds, bestBias, bestChoices = 0, mec.bias, slices.Clone(mec.currentChoices)
		}
		isSame := slices.Equal(oldChoices, mec.currentChoices)
		if uselessRounds == maxUselessRounds || isSame && precision == leastPrecision && uselessRounds > 0 {
			return nil
		}
		// Errors that are small beside the width of the bounds mislead few choices.
		precision = max(leastPrecision, min(precision, (bounds.upper-bounds.lower)/bounds.upper/10))
		if isSame {
			precision = leastPrecision
		}
	}
	return nil
}

// evaluateApproximately changes the current scheduler until its Markov chain has one recurrent class, and sets the biases to approximate ones of this chain.
// They determine its gain with about the given relative precision. ok is false, and the biases are the old ones, if numbers overflow.
func (mec *mecGain) evaluateApproximately(members []uint32, precision float64) (ok bool, err error) {
	var chain *bsccGain
	reference, err := mec.makeUnichain(members, func(class []uint32) (*big.Rat, error) {
		if chain == nil { // at the first of several classes
			chain = mec.newChainGain(members, precision)
		}
		classMembers := make([]uint32, len(class))
		for i, state := range class {
			classMembers[i] = mec.index.unknowns[state]
		}
		gain, _, err := chain.solve(classMembers)
		middle := gain.lower + (gain.upper-gain.lower)/2
		if err != nil || math.IsInf(middle, 0) || math.IsNaN(middle) {
			return nil, err
		}
		return new(big.Rat).SetFloat64(middle), nil
	})
	if reference == sparse.None || err != nil {
		return false, err
	}
	chain = mec.newChainGain(members, precision) // its transitions may have changed
	order := inReverseOrder(members)
	for i, state := range order {
		order[i] = mec.index.unknowns[state]
	}
	chain.index.setUnknowns(order)
	chain.bias = make([]float64, len(members))
	for i, member := range order {
		chain.bias[i] = mec.bias[member]
	}
	const maxSweeps = 200
	lower, upper := chain.gainBounds(order)
	if !(lower <= upper && upper < math.Inf(1)) {
		return false, nil
	}
	err = chain.iterateGMRES(order, chain.rewardSystem.numTransitions(order), &gainInterval{lower, upper}, min(maxSweeps, mec.opts.maxSweeps()))
	if lower, upper = chain.gainBounds(order); !(lower <= upper && upper < math.Inf(1)) {
		return false, err
	}
	mec.bias = make([]float64, len(members))
	for i, member := range order {
		mec.bias[member] = chain.bias[i]
	}
	return true, err
}

// newChainGain returns a solver for the gain of the Markov chain that the current scheduler induces on the members. State i of the chain is members[i].
func (mec *mecGain) newChainGain(members []uint32, precision float64) *bsccGain {
	chain, choices := mec.inducedChain(members)
	graph := mec.rewardSystem.graph
	reward := restrictReward(graph, mec.rewardSystem.reward, choices)
	opts := mec.opts
	opts.Epsilon = precision
	system := &equationSystem{graph: sparse.NewGraph(chain), reward: reward, rounding: newRounding(chain, reward), values: &Values{}}
	return newBSCCGain(system, opts, mec.meter)
}
