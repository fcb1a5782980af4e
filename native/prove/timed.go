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

// timedValues computes the values of a time-bounded vector of a CTMC by uniformisation, and chooses the
// uniformisation rate and the number format of the checker. The rate is the greatest exit rate of the states
// that the path can leave within the bound.
func (w *vectorProof) timedValues(left, right *sparse.Set) (*solve.Values, error) {
	moving, greatest := sparse.FullSet(w.graph.NumStates()), 1.0
	if w.Kind == certificate.Steps {
		if moving = left; w.Timed.From.Sign() == 0 {
			moving = left.Minus(right)
		}
		if w.Timed.To == nil {
			if _, err := w.until(left, right); err != nil {
				return nil, err
			}
		}
	}
	rate := new(big.Rat)
	for s := range moving.All() {
		if e := w.exitRate(s); e.Cmp(rate) > 0 {
			rate = e
		}
	}
	if rate.Sign() == 0 {
		rate.SetInt64(1)
	}
	w.Timed.Rate = rate
	options := solve.Options{Epsilon: w.opts.Epsilon}
	to := solve.Time{}
	if w.Timed.To != nil {
		to = solve.At(w.Timed.To)
	}
	var values *solve.Values
	var err error
	switch w.Kind {
	case certificate.Steps:
		values, err = solve.TimedUntil(w.ctx, w.graph, left, right, solve.Interval{From: solve.At(w.Timed.From), To: to}, options)
	case certificate.Instant:
		values, err = solve.TimedInstantReward(w.ctx, w.graph, w.rewardStructure, to, options)
		greatest = greatestAtLeastOne(w.rewardStructure.State)
	default:
		values, err = solve.TimedCumulReward(w.ctx, w.graph, w.rewardStructure, to, options)
		time, _ := w.Timed.To.Float64()
		greatest = (greatestAtLeastOne(w.rewardStructure.State) + greatestAtLeastOne(w.rewardStructure.Choice)) * max(1, time)
	}
	if err != nil {
		return nil, err
	}
	return values, w.chooseScale(values, greatest)
}

// greatestAtLeastOne returns the greatest element, or 1 if all are smaller.
func greatestAtLeastOne(values []float64) float64 {
	most := 1.0
	for _, value := range values {
		most = max(most, value)
	}
	return most
}

// chooseScale chooses the number of binary places that the checker computes with. It widens the bounds by the
// rounding error of the checker: a few units in the last place for each step.
func (w *vectorProof) chooseScale(values *solve.Values, greatest float64) error {
	duration := w.Timed.From
	if w.Timed.To != nil {
		duration = w.Timed.To
	}
	mean, _ := new(big.Rat).Mul(w.Timed.Rate, duration).Float64()
	steps := mean + 12*math.Sqrt(mean) + 60
	_, exponent := math.Frexp(greatest)
	scale := 60 - exponent
	switch {
	case w.effort < fileFloats && scale > 0:
		w.Timed.Scale = uint(scale)
	case steps*float64(len(w.graph.Target)) > maxLongWork:
		return errors.New("the time is too long for numbers of many digits")
	default:
		w.Timed.Scale = longScale
	}
	widening := math.Ldexp(8*steps*max(1, greatest), -int(w.Timed.Scale))
	for s := range values.Lower {
		if values.Lower[s] != values.Upper[s] {
			values.Lower[s] = max(values.Lower[s]-widening, 0)
			values.Upper[s] += widening
		}
	}
	return nil
}
