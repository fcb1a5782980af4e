package crosscheck

import (
	"math"
	"math/big"

	"tilecheck/certify/certificate"
)

// widening is an inductive vector around the values that an engine gives for all states.
type widening struct {
	// vector is a certificate: Upper lies above the engine's values, Lower below.
	vector certificate.Vector
	// distance is the greatest distance of its bounds from the engine's values. leastDistance is a lower bound of
	// that distance for every such vector, because the true values lie between its bounds.
	distance, leastDistance *big.Rat
}

// widen returns inductive bounds that contain an engine's values of all states. It shifts the proven bounds by a constant: an inductive upper bound
// stays inductive if all its values rise by the same constant, because the probabilities of a choice add up to at most 1; an inductive lower bound
// stays inductive if its values fall, but not below 0. The ranks stay valid, because fewer states have a positive value.
//
// It returns false if a value is not a number, if only one of a value and its proven bounds is infinite, or if the certificate is of another kind.
func widen(proven *certificate.Vector, values []float64) (*widening, bool) {
	switch proven.Kind {
	case certificate.Until, certificate.ReachReward, certificate.TotalReward:
	default:
		return nil, false
	}
	fractions, ok := finiteValues(proven, values)
	if !ok {
		return nil, false
	}
	// Find how far the upper and the lower bounds must move.
	rise, fall := new(big.Rat), new(big.Rat)
	zerosAgree := true // the engine's value is not positive where the upper bound is 0
	for s, fraction := range fractions {
		if fraction == nil {
			continue
		}
		low, high := proven.Lower.Rat(s), proven.Upper.Rat(s)
		raiseTo(rise, new(big.Rat).Sub(fraction, high))
		raiseTo(fall, new(big.Rat).Sub(low, fraction))
		if high.Sign() <= 0 && fraction.Sign() > 0 {
			zerosAgree = false
		}
	}
	widened := &widening{vector: *proven, distance: new(big.Rat), leastDistance: new(big.Rat)}
	raiseTo(widened.leastDistance, rise)
	raiseTo(widened.leastDistance, fall)
	// All successors of a state with the value 0 have the value 0. So upper bounds of 0 can stay 0 if the engine's values are 0 too.
	widened.vector.Upper = shiftBounds(proven.Upper, rise, zerosAgree)
	widened.vector.Lower = shiftBounds(proven.Lower, new(big.Rat).Neg(fall), false)
	// Measure the distance of the new bounds from the engine's values.
	for s, fraction := range fractions {
		if fraction != nil {
			raiseTo(widened.distance, new(big.Rat).Sub(widened.vector.Upper.Rat(s), fraction))
			raiseTo(widened.distance, new(big.Rat).Sub(fraction, widened.vector.Lower.Rat(s)))
		}
	}
	return widened, true
}

// finiteValues returns an engine's values as fractions; nil where the value and both proven bounds are plus infinity. It returns false if another
// value or bound is not finite.
func finiteValues(proven *certificate.Vector, values []float64) ([]*big.Rat, bool) {
	fractions := make([]*big.Rat, len(values))
	for s, value := range values {
		low, high := proven.Lower.Rat(s), proven.Upper.Rat(s)
		if math.IsInf(value, 1) && low == nil && high == nil {
			continue
		}
		if low == nil || high == nil || math.IsInf(value, 0) || math.IsNaN(value) {
			return nil, false
		}
		fractions[s] = new(big.Rat).SetFloat64(value)
	}
	return fractions, true
}

// raiseTo sets maximum to a fraction if the fraction is larger.
func raiseTo(maximum, fraction *big.Rat) {
	if fraction.Cmp(maximum) > 0 {
		maximum.Set(fraction)
	}
}

// shiftBounds returns the bounds plus a constant, but at least 0. With keepZeros, bounds that are 0 do not change. Infinite bounds stay infinite:
// Values marks them in the field Infinite, and their entry in Rats is 0.
func shiftBounds(bounds *certificate.Values, shift *big.Rat, keepZeros bool) *certificate.Values {
	if shift.Sign() == 0 {
		return bounds
	}
	shifted := &certificate.Values{Infinite: bounds.Infinite, Rats: make([]*big.Rat, bounds.Len())}
	for s := range shifted.Rats {
		shifted.Rats[s] = new(big.Rat)
		bound := bounds.Rat(s)
		isKept := keepZeros && bound != nil && bound.Sign() == 0
		if bound == nil || isKept {
			continue
		}
		if sum := new(big.Rat).Add(bound, shift); sum.Sign() > 0 {
			shifted.Rats[s] = sum
		}
	}
	return shifted
}
