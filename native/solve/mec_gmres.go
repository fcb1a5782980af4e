package solve

import (
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// approximatePolicyIteration tightens bounds on the optimal gain of a large MEC. It computes the bias of each scheduler approximately, by GMRES, and improves
// the scheduler by a sweep over all choices. The bounds come from these sweeps, so they do not depend on the errors of the bias. It stops when the
// bounds are narrow, or when a round changes nothing.
//
// Source: Puterman, Markov Decision Processes (1994), sections 8.6 and 8.7.
func (mec *mecGain) approximatePolicyIteration(members []uint32, bounds *gainInterval) error {
	const maxRounds, firstPrecision = 30, 0.1
	leastPrecision := mec.opts.epsilon() / 4
	for round, precision := 0, firstPrecision; round < maxRounds; round++ {
		ok, err := mec.evaluateApproximately(members, precision)
		if !ok || err != nil {
			return err
		}
		oldBounds, oldChoices := *bounds, slices.Clone(mec.currentChoices)
		mec.sweep(members, bounds)
		if bounds.hasConverged(mec.opts.epsilon()) {
			return nil
		}
		switch isSame := slices.Equal(oldChoices, mec.currentChoices); {
		case isSame && precision == leastPrecision && *bounds == oldBounds:
			return nil
		case isSame:
			precision = leastPrecision
		default: // errors that are small beside the width of the bounds mislead few choices
			precision = max(leastPrecision, min(precision, (bounds.upper-bounds.lower)/bounds.upper/10))
		}
	}
	return nil
}

// evaluateApproximately changes the current scheduler until its Markov chain has one recurrent class, and sets the biases to approximate ones of this chain.
// They determine its gain with about the given relative precision. ok is false, and the biases are the old ones, if numbers overflow.
func (mec *mecGain) evaluateApproximately(members []uint32, precision float64) (ok bool, err error) {
	reference, err := mec.makeUnichain(members, func(class []uint32) (*big.Rat, error) {
		classMembers := make([]uint32, len(class))
		for i, state := range class {
			classMembers[i] = mec.index.unknowns[state]
		}
		gain, _, err := mec.chainGain(members, precision).solve(classMembers)
		middle := gain.lower + (gain.upper-gain.lower)/2
		if err != nil || math.IsInf(middle, 0) || math.IsNaN(middle) {
			return nil, err
		}
		return new(big.Rat).SetFloat64(middle), nil
	})
	if reference == sparse.None || err != nil {
		return false, err
	}
	chain := mec.chainGain(members, precision)
	states := make([]uint32, len(members))
	for i := range states {
		states[i] = uint32(i)
	}
	chain.bias = slices.Clone(mec.bias)
	chain.index.setUnknowns(states)
	lower, upper := chain.gainBounds(states)
	if !(lower <= upper && upper < math.Inf(1)) {
		return false, nil
	}
	err = chain.iterateGMRES(states, chain.rewardSystem.numTransitions(states), &gainInterval{lower, upper}, mec.opts.maxSweeps())
	if lower, upper = chain.gainBounds(states); !(lower <= upper && upper < math.Inf(1)) {
		return false, err
	}
	mec.bias = chain.bias
	return true, err
}

// chainGain prepares the computation of gains in the Markov chain of the current scheduler. State i of the chain is member i.
func (mec *mecGain) chainGain(members []uint32, precision float64) *bsccGain {
	chain, choices := mec.inducedChain(members)
	graph := mec.rewardSystem.graph
	reward := restrictReward(graph, mec.rewardSystem.reward, choices)
	opts := mec.opts
	opts.Epsilon = precision
	system := &equationSystem{graph: sparse.NewGraph(chain), reward: reward, rounding: newRounding(chain, reward), values: &Values{}}
	result := &bsccGain{rewardSystem: system, stepSystem: system.countingSteps(), opts: opts, meter: mec.meter}
	result.index.allocate(len(members))
	return result
}
