package solve

import (
	"math"
)

// iterateWithElimination returns bounds on the gain of a MEC. It alternates value iteration and policy iteration by elimination.
// The elimination takes about the work of the sweeps before it.
func (mec *mecGain) iterateWithElimination(members []uint32) (gainInterval, error) {
	bounds := gainInterval{0, math.Inf(1)}
	sweepWork := float64(mec.rewardSystem.numTransitions(members))
	sweepsDone, limit, canEliminate := 0, mec.opts.maxSweeps(), len(members) > 1
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
		if canEliminate {
			overBudget, err := mec.policyIteration(members, &bounds, 4*budgetPerWork*float64(sweepsDone)*sweepWork)
			if err != nil {
				return gainInterval{}, err
			}
			canEliminate = overBudget
		}
		if bounds.converged(mec.opts.epsilon()) {
			break
		}
		isAtRoundingError := bounds.upper-bounds.lower <= 4*sweepErr
		sweepsAreUseless := isAtRoundingError || bounds.nearlyConverged(mec.opts.epsilon())
		if !canEliminate && sweepsAreUseless {
			break
		}
	}
	return bounds, nil
}

// valueIteration improves the bias and the bounds by at most the given number of sweeps of relative value iteration.
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

// sweep computes stepGain and the optimal choices for the current bias, tightens the bounds, and returns the bounds of this sweep.
// They are 0 and infinity if numbers overflow.
//
// Source: Odoni, On finding the maximal gain for Markov decision processes (1969).
func (mec *mecGain) sweep(members []uint32, bounds *gainInterval) (gainLower, gainUpper float64) {
	gainLower, gainUpper, ok := mec.stepGainBounds(members)
	if !ok {
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

// stepGainBounds returns bounds on the optimal gain of a MEC: the least and the greatest result of bestChoice over all members.
// ok is false if numbers overflow, or if rounding errors make the minimum exceed the maximum.
func (mec *mecGain) stepGainBounds(members []uint32) (minimum, maximum float64, ok bool) {
	minimum, maximum, mec.stepErr = math.Inf(1), math.Inf(-1), 0
	for k, s := range members {
		lower, upper := mec.bestChoice(k, int(s))
		if math.IsNaN(lower) || math.IsNaN(upper) {
			return 0, 0, false
		}
		minimum, maximum = min(minimum, lower), max(maximum, upper)
	}
	minimum = max(minimum, 0)
	return minimum, maximum, minimum <= maximum
}

// bestChoice switches state s, which is member k of the MEC, to the choice with the best oneStepGain. It returns bounds on the optimum of
// oneStepGain over all choices that stay in the MEC.
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
		isBetter := other-otherErr > value+valueErr // by more than the rounding errors
		if isBetter || math.IsNaN(other) {
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
