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

// timedValues computes the values of a time-bounded vector of a CTMC by uniformisation. It also chooses the uniformisation rate and the
// number format of the checker.
func (proof *vectorProof) timedValues(left, right *sparse.Set) (*solve.Values, error) {
	moving := sparse.FullSet(proof.graph.NumStates()) // the states that a path can leave within the time bound
	if proof.Kind == certificate.Steps {
		moving = left
		if proof.Timed.From.Sign() == 0 {
			moving = left.Minus(right)
		}
		if proof.Timed.To == nil {
			if _, err := proof.until(left, right); err != nil {
				return nil, err
			}
		}
	}
	proof.Timed.Rate = proof.greatestExitRate(moving)
	values, greatest, err := proof.solveTimed(left, right)
	if err != nil {
		return nil, err
	}
	return values, proof.chooseScale(values, greatest)
}

// greatestExitRate returns the greatest exit rate of some states, or 1 if all exit rates are 0.
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

// solveTimed returns bounds on the values of a time-bounded vector. No value exceeds greatest.
func (proof *vectorProof) solveTimed(left, right *sparse.Set) (values *solve.Values, greatest float64, err error) {
	options := solve.Options{Epsilon: proof.opts.Epsilon}
	to := solve.Time{}
	if proof.Timed.To != nil {
		to = solve.At(proof.Timed.To)
	}
	reward := proof.rewardStructure
	switch proof.Kind {
	case certificate.Steps:
		bound := solve.Interval{From: solve.At(proof.Timed.From), To: to}
		values, err = solve.TimedUntil(proof.ctx, proof.graph, left, right, bound, options)
		return values, 1, err
	case certificate.Instant:
		values, err = solve.TimedInstantReward(proof.ctx, proof.graph, reward, to, options)
		return values, greatestAtLeastOne(reward.State), err
	}
	values, err = solve.TimedCumulReward(proof.ctx, proof.graph, reward, to, options)
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

// chooseScale chooses the number of binary places that the checker computes with. It widens the bounds by the rounding error of the
// checker. No value exceeds greatest.
func (proof *vectorProof) chooseScale(values *solve.Values, greatest float64) error {
	duration := proof.Timed.From
	if proof.Timed.To != nil {
		duration = proof.Timed.To
	}
	mean, _ := new(big.Rat).Mul(proof.Timed.Rate, duration).Float64()
	steps := mean + 12*math.Sqrt(mean) + 60 // an estimate of the terms of the Poisson distribution that the checker adds up
	_, exponent := math.Frexp(greatest)
	scale := 60 - exponent
	switch {
	case proof.effort < fileFloats && scale > 0:
		proof.Timed.Scale = uint(scale)
	case steps*float64(len(proof.graph.Target)) > maxLongWork:
		return errors.New("the time is too long for numbers of many digits")
	default:
		proof.Timed.Scale = longScale
	}
	roundingError := math.Ldexp(8*steps*max(1, greatest), -int(proof.Timed.Scale)) // a few units in the last place for each step
	widen(values, roundingError)
	return nil
}

// widen moves the bounds of each value outwards, unless the two bounds are equal.
func widen(values *solve.Values, amount float64) {
	for s := range values.Lower {
		if values.Lower[s] != values.Upper[s] {
			values.Lower[s] = max(values.Lower[s]-amount, 0)
			values.Upper[s] += amount
		}
	}
}
