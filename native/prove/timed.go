package prove

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

const (
	// longScale is the number of binary places of numbers that do not fit into 64 bits.
	longScale = 240
	// maxLongWork is the greatest number of transitions, times steps, that are computed with such numbers.
	maxLongWork = 1 << 24
)

// timedValues computes bounds of a vector with a time bound in a CTMC, by uniformisation. It also selects the uniformisation rate and the number of
// binary places with which the checker computes.
func (proof *vectorProof) timedValues(left, right *sparse.Set) (*solve.Values, error) {
	movingStates := sparse.FullSet(proof.graph.NumStates()) // the states that a path can leave within the time bound
	if proof.Kind == certificate.Steps {
		movingStates = left
		if proof.Timed.From.Sign() == 0 {
			movingStates = left.Minus(right)
		}
		if proof.Timed.To == nil {
			if _, err := proof.until(left, right); err != nil {
				return nil, err
			}
		}
	}
	proof.Timed.Rate = proof.greatestExitRate(movingStates)
	values, maxValue, err := proof.solveTimed(left, right)
	if err != nil {
		return nil, err
	}
	return values, proof.chooseScale(values, maxValue)
}

// greatestExitRate returns the greatest exit rate in a set of states, or 1 if all exit rates are 0, because a uniformisation rate must be positive.
func (proof *vectorProof) greatestExitRate(states *sparse.Set) *big.Rat {
	greatest := new(big.Rat)
	for s := range states.All() {
		if rate := proof.exitRate(s); rate.Cmp(greatest) > 0 {
			greatest = rate
		}
	}
	if greatest.Sign() == 0 {
		return big.NewRat(1, 1)
	}
	return greatest
}

// solveTimed returns bounds of the values of a vector with a time bound, and a number maxValue that no value exceeds.
func (proof *vectorProof) solveTimed(left, right *sparse.Set) (values *solve.Values, maxValue float64, err error) {
	options := solve.Options{Epsilon: proof.opts.Epsilon}
	upperTime := solve.Time{}
	if proof.Timed.To != nil {
		upperTime = solve.At(proof.Timed.To)
	}
	reward := proof.rewardStructure
	switch proof.Kind {
	case certificate.Steps:
		bound := solve.Interval{From: solve.At(proof.Timed.From), To: upperTime}
		values, err = solve.TimedUntil(proof.ctx, proof.graph, left, right, bound, options)
		return values, 1, err
	case certificate.Instant:
		values, err = solve.TimedInstantReward(proof.ctx, proof.graph, reward, upperTime, options)
		return values, greatestAtLeastOne(reward.State), err
	}
	values, err = solve.TimedCumulReward(proof.ctx, proof.graph, reward, upperTime, options)
	time, _ := proof.Timed.To.Float64()
	return values, (greatestAtLeastOne(reward.State) + greatestAtLeastOne(reward.Choice)) * max(1, time), err
}

// greatestAtLeastOne returns the greatest value, or 1 if all values are smaller.
func greatestAtLeastOne(values []float64) float64 {
	greatest := 1.0
	for _, value := range values {
		greatest = max(greatest, value)
	}
	return greatest
}

// chooseScale selects the number of binary places with which the checker computes, and widens the bounds by the checker's rounding error. No value of
// the vector exceeds maxValue. It is an error if the checker would compute for too long.
func (proof *vectorProof) chooseScale(values *solve.Values, maxValue float64) error {
	duration := proof.Timed.From
	if proof.Timed.To != nil {
		duration = proof.Timed.To
	}
	meanSteps, _ := new(big.Rat).Mul(proof.Timed.Rate, duration).Float64()
	// The number of jumps has a Poisson distribution, with the standard deviation sqrt(meanSteps). The checker sums about this many terms:
	numTerms := meanSteps + 12*math.Sqrt(meanSteps) + 60
	const wordScale = 60 // binary places with which the checker's numbers fit 64 bits
	_, exponent := math.Frexp(maxValue)
	scale := wordScale - exponent
	switch {
	case proof.effort < fileFloatBounds && scale > 0:
		proof.Timed.Scale = uint(scale)
	case numTerms*float64(len(proof.graph.Target)) > maxLongWork:
		return errors.New("the time is too long for numbers of many digits")
	default:
		proof.Timed.Scale = longScale
	}
	roundingError := math.Ldexp(8*numTerms*max(1, maxValue), -int(proof.Timed.Scale)) // a few units in the last place for each term
	widen(values, roundingError)
	return nil
}

// widen subtracts amount from each lower bound and adds it to each upper bound. Equal bounds stay, because they are exact. Lower bounds stay at least 0.
func widen(values *solve.Values, amount float64) {
	for s := range values.Lower {
		if values.Lower[s] != values.Upper[s] {
			values.Lower[s] = max(values.Lower[s]-amount, 0)
			values.Upper[s] += amount
		}
	}
}
