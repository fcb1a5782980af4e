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

// widen makes an inductive vector around the values that an engine gives for all states. It shifts the proven bounds by
// a constant: an inductive upper bound stays inductive when all values rise by c, since P c <= c, and a lower bound
// when they fall, down to 0; the ranks stay valid since fewer states are positive. It returns false if a value is
// missing, or infinite on one side only.
func widen(v *certificate.Vector, told []float64) (*widening, bool) {
	switch v.Kind {
	case certificate.Until, certificate.ReachReward, certificate.TotalReward:
	default:
		return nil, false
	}
	w := &widening{vector: *v, distance: new(big.Rat), leastDistance: new(big.Rat)}
	up, down, zero := new(big.Rat), new(big.Rat), true
	exact := make([]*big.Rat, len(told))
	for s, x := range told {
		low, high := v.Lower.Rat(s), v.Upper.Rat(s)
		if math.IsInf(x, 1) && low == nil && high == nil {
			continue
		}
		if low == nil || high == nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, false
		}
		exact[s] = new(big.Rat).SetFloat64(x)
		raiseTo(up, new(big.Rat).Sub(exact[s], high))
		raiseTo(down, new(big.Rat).Sub(low, exact[s]))
		zero = zero && (high.Sign() > 0 || x <= 0)
	}
	raiseTo(w.leastDistance, up)
	raiseTo(w.leastDistance, down)
	// States with value 0 have only such successors; if the engine also says 0, their upper bound stays 0.
	w.vector.Upper = shifted(v.Upper, up, func(x *big.Rat) bool { return zero && x.Sign() == 0 })
	w.vector.Lower = shifted(v.Lower, down.Neg(down), func(*big.Rat) bool { return false })
	for s, x := range exact {
		if x != nil {
			raiseTo(w.distance, new(big.Rat).Sub(w.vector.Upper.Rat(s), x))
			raiseTo(w.distance, new(big.Rat).Sub(x, w.vector.Lower.Rat(s)))
		}
	}
	return w, true
}

// raiseTo sets maximum to x if x is larger.
func raiseTo(maximum, x *big.Rat) {
	if x.Cmp(maximum) > 0 {
		maximum.Set(x)
	}
}

// shifted returns the values plus a constant, but at least 0. Values for which stays returns true do not change.
func shifted(v *certificate.Values, by *big.Rat, stays func(x *big.Rat) bool) *certificate.Values {
	if by.Sign() == 0 {
		return v
	}
	n := v.Len()
	out := &certificate.Values{Infinite: v.Infinite, Rats: make([]*big.Rat, n)}
	for s := range n {
		x := v.Rat(s)
		switch {
		case x == nil:
			x = new(big.Rat)
		case !stays(x):
			if x = new(big.Rat).Add(x, by); x.Sign() < 0 {
				x = new(big.Rat)
			}
		}
		out.Rats[s] = x
	}
	return out
}
