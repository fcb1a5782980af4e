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

// widen makes an inductive vector that contains the values of an engine for all states. It shifts the proven bounds by a constant c: an inductive
// upper bound stays inductive when all values rise by c, since P c <= c, and a lower bound stays inductive when they fall, but not below 0. The
// ranks stay valid, because fewer states have a positive value. It returns false if a value is missing, or infinite on one side only.
func widen(proven *certificate.Vector, values []float64) (*widening, bool) {
	switch proven.Kind {
	case certificate.Until, certificate.ReachReward, certificate.TotalReward:
	default:
		return nil, false
	}
	widened := &widening{vector: *proven, distance: new(big.Rat), leastDistance: new(big.Rat)}
	rise, fall := new(big.Rat), new(big.Rat) // how far the upper and the lower bounds must move
	zerosAgree := true                       // the engine's value is not positive where the upper bound is 0
	fractions := make([]*big.Rat, len(values))
	for s, number := range values {
		low, high := proven.Lower.Rat(s), proven.Upper.Rat(s)
		if math.IsInf(number, 1) && low == nil && high == nil {
			continue
		}
		if low == nil || high == nil || math.IsInf(number, 0) || math.IsNaN(number) {
			return nil, false
		}
		fractions[s] = new(big.Rat).SetFloat64(number)
		raiseTo(rise, new(big.Rat).Sub(fractions[s], high))
		raiseTo(fall, new(big.Rat).Sub(low, fractions[s]))
		if high.Sign() <= 0 && number > 0 {
			zerosAgree = false
		}
	}
	raiseTo(widened.leastDistance, rise)
	raiseTo(widened.leastDistance, fall)
	// States with value 0 have only such successors; if the engine also says 0, their upper bound stays 0.
	widened.vector.Upper = shiftBounds(proven.Upper, rise, zerosAgree)
	widened.vector.Lower = shiftBounds(proven.Lower, fall.Neg(fall), false)
	for s, fraction := range fractions {
		if fraction != nil {
			raiseTo(widened.distance, new(big.Rat).Sub(widened.vector.Upper.Rat(s), fraction))
			raiseTo(widened.distance, new(big.Rat).Sub(fraction, widened.vector.Lower.Rat(s)))
		}
	}
	return widened, true
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
