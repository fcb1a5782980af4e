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

// widen shifts the proven bounds by constants, so that they contain an engine's values of all states and stay inductive. It returns false if it
// cannot do so.
//
// An upper bound stays inductive if all its values rise by one constant, because the probabilities of a choice add up to at most 1. A lower bound
// stays inductive if all its values fall by one constant, but not below 0. The ranks stay valid, because fewer states have a positive value.
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
	rise, fall, zerosAgree := requiredShifts(proven, fractions)
	widened := &widening{vector: *proven, distance: new(big.Rat), leastDistance: new(big.Rat)}
	raiseTo(widened.leastDistance, rise)
	raiseTo(widened.leastDistance, fall)
	// All successors of a state with the value 0 have the value 0. So upper bounds of 0 can stay 0 if the engine's values are 0, too.
	widened.vector.Upper = shiftBounds(proven.Upper, rise, zerosAgree)
	widened.vector.Lower = shiftBounds(proven.Lower, new(big.Rat).Neg(fall), false)
	for state, fraction := range fractions {
		if fraction != nil {
			raiseTo(widened.distance, new(big.Rat).Sub(widened.vector.Upper.Rat(state), fraction))
			raiseTo(widened.distance, new(big.Rat).Sub(fraction, widened.vector.Lower.Rat(state)))
		}
	}
	return widened, true
}

// requiredShifts returns how far the upper bounds must rise and the lower bounds must fall to contain the values. zerosAgree reports whether no value
// is positive where the upper bound is 0. A nil value is infinite and needs no shift.
func requiredShifts(proven *certificate.Vector, values []*big.Rat) (rise, fall *big.Rat, zerosAgree bool) {
	rise, fall, zerosAgree = new(big.Rat), new(big.Rat), true
	for state, value := range values {
		if value == nil {
			continue
		}
		low, high := proven.Lower.Rat(state), proven.Upper.Rat(state)
		raiseTo(rise, new(big.Rat).Sub(value, high))
		raiseTo(fall, new(big.Rat).Sub(low, value))
		if high.Sign() <= 0 && value.Sign() > 0 {
			zerosAgree = false
		}
	}
	return rise, fall, zerosAgree
}

// finiteValues returns an engine's values as fractions; nil where the value and both proven bounds are plus infinity. ok is false if another value or
// bound is not finite.
func finiteValues(proven *certificate.Vector, values []float64) (fractions []*big.Rat, ok bool) {
	fractions = make([]*big.Rat, len(values))
	for state, value := range values {
		low, high := proven.Lower.Rat(state), proven.Upper.Rat(state) // nil is plus infinity
		allInfinite := math.IsInf(value, 1) && low == nil && high == nil
		if allInfinite {
			continue
		}
		if low == nil || high == nil || math.IsInf(value, 0) || math.IsNaN(value) {
			return nil, false
		}
		fractions[state] = new(big.Rat).SetFloat64(value)
	}
	return fractions, true
}

// raiseTo sets maximum to the larger of maximum and fraction.
func raiseTo(maximum, fraction *big.Rat) {
	if fraction.Cmp(maximum) > 0 {
		maximum.Set(fraction)
	}
}

// shiftBounds adds a constant to each bound, and returns 0 instead of a negative sum. Infinite bounds stay infinite. With keepZeros, bounds of 0
// stay 0.
func shiftBounds(bounds *certificate.Values, shift *big.Rat, keepZeros bool) *certificate.Values {
	if shift.Sign() == 0 {
		return bounds
	}
	shifted := &certificate.Values{Infinite: bounds.Infinite, Fractions: make([]*big.Rat, bounds.Len())}
	for state := range shifted.Fractions {
		shifted.Fractions[state] = new(big.Rat) // also for infinite bounds, which the field Infinite marks
		bound := bounds.Rat(state)
		isKept := keepZeros && bound != nil && bound.Sign() == 0
		if bound == nil || isKept {
			continue
		}
		if sum := new(big.Rat).Add(bound, shift); sum.Sign() > 0 {
			shifted.Fractions[state] = sum
		}
	}
	return shifted
}
