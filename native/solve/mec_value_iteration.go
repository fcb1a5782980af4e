package solve

import (
	"math"
)

// iterateWithElimination returns bounds on the gain of a MEC. It alternates value iteration and policy iteration by elimination. Each
// policy iteration may take about as much work as the sweeps before it. In a large MEC approximatePolicyIteration comes first.
func (mec *mecGain) iterateWithElimination(members []uint32) (gainInterval, error) {
	bounds := gainInterval{0, math.Inf(1)}
	sweepWork := float64(mec.rewardSystem.numTransitions(members))
	sweepsDone, sweepLimit, canEliminate := 0, mec.opts.maxSweeps(), len(members) > 1
	for targetSweeps := firstSweeps; sweepsDone < sweepLimit; targetSweeps *= 4 {
		targetSweeps = min(targetSweeps, sweepLimit)
		if err := mec.valueIteration(members, &bounds, targetSweeps-sweepsDone); err != nil {
			return gainInterval{}, err
		}
		sweepsDone = targetSweeps
		sweepErr := mec.stepErr // the rounding error of the last sweep; policy iteration overwrites mec.stepErr
		if targetSweeps == firstSweeps && hasSizeForGMRES(members) && !bounds.hasConverged(mec.opts.epsilon()) {
			if err := mec.approximatePolicyIteration(members, &bounds); err != nil {
				return gainInterval{}, err
			}
		}
		if bounds.hasConverged(mec.opts.epsilon()) {
			break
		}
		if canEliminate {
			overBudget, err := mec.policyIteration(members, &bounds, 4*budgetPerWork*float64(sweepsDone)*sweepWork)
			if err != nil {
				return gainInterval{}, err
			}
			canEliminate = overBudget
		}
		if bounds.hasConverged(mec.opts.epsilon()) {
			break
		}
		isAtRoundingError := bounds.upper-bounds.lower <= 4*sweepErr
		sweepsAreUseless := isAtRoundingError || bounds.hasNearlyConverged(mec.opts.epsilon())
		if !canEliminate && sweepsAreUseless {
			break
		}
	}
	return bounds, nil
}

// valueIteration tightens the bounds by relative value iteration: each sweep replaces the bias h by h plus a damped r + P h - h. It
// performs at most the given number of sweeps.
//
// Source: Puterman, Markov Decision Processes (1994), section 8.5.
func (mec *mecGain) valueIteration(members []uint32, bounds *gainInterval, sweeps int) error {
	sweepWork := mec.rewardSystem.numTransitions(members)
	for range sweeps {
		lower, upper := mec.sweep(members, bounds)
		hasOverflow := !(upper < math.Inf(1)) // after an overflow, further sweeps are useless
		if hasOverflow || bounds.hasConverged(mec.opts.epsilon()) {
			return nil
		}
		// Damping makes periodic chains converge.
		middle := lower + (upper-lower)/2
		for member := range mec.bias {
			mec.bias[member] += (mec.stepGains[member] - middle) / (1 + slack)
		}
		mec.meter.progress.Sweeps++
		if err := mec.meter.addWork(sweepWork); err != nil {
			return err
		}
	}
	return nil
}

// sweep computes r + P h - h for every choice of every member, where h is the bias. It switches to the optimal choices, tightens the
// bounds, and returns the bounds of this sweep. They are 0 and infinity if numbers overflow.
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
	if improved { // no earlier scheduler has a better bound, so record the choices of the current scheduler
		for member, state := range members {
			mec.stayChoices[state] = mec.currentChoices[member]
		}
	}
	bounds.tighten(gainLower, gainUpper)
	return gainLower, gainUpper
}

// stepGainBounds returns bounds on the optimal gain of a MEC: the least and the greatest optimum of r + P h - h over all members, where h
// is the bias. ok is false if numbers overflow, or if rounding errors make the minimum exceed the maximum.
func (mec *mecGain) stepGainBounds(members []uint32) (minimum, maximum float64, ok bool) {
	minimum, maximum, mec.stepErr = math.Inf(1), math.Inf(-1), 0
	for member, state := range members {
		lower, upper := mec.improveMember(member, int(state))
		if math.IsNaN(lower) || math.IsNaN(upper) {
			return 0, 0, false
		}
		minimum, maximum = min(minimum, lower), max(maximum, upper)
	}
	minimum = max(minimum, 0)
	return minimum, maximum, minimum <= maximum
}

// improveMember switches a state to the choice with the best r + P h - h, where h is the bias; member is its number in the MEC. It
// returns bounds on the optimum of r + P h - h over all choices that stay in the MEC.
func (mec *mecGain) improveMember(member, state int) (lower, upper float64) {
	sign := 1.0 // sign * value is maximized
	if mec.rewardSystem.minimize {
		sign = -1
	}
	value, valueErr := mec.rewardSystem.oneStepGain(state, int(mec.currentChoices[member]), mec.bias, &mec.index)
	value *= sign
	greatest := value + valueErr
	first, end := mec.rewardSystem.graph.Choices(state)
	for choice := first; choice < end; choice++ {
		if choice == int(mec.currentChoices[member]) || !mec.endComponents.Choices.Has(choice) {
			continue
		}
		candidate, candidateErr := mec.rewardSystem.oneStepGain(state, choice, mec.bias, &mec.index)
		candidate *= sign
		greatest = max(greatest, candidate+candidateErr)
		isBetter := candidate-candidateErr > value+valueErr // by more than the rounding errors
		if isBetter || math.IsNaN(candidate) {
			value, valueErr = candidate, candidateErr
			mec.currentChoices[member] = uint32(choice)
		}
	}
	mec.stepGains[member] = sign * value
	mec.stepErr = max(mec.stepErr, valueErr)
	if mec.rewardSystem.minimize {
		return -greatest, -value + valueErr
	}
	return value - valueErr, greatest
}
