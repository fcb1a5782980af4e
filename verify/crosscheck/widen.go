package crosscheck

import (
	"math"
	"math/big"

	"tilecheck/certify/certificate"
)

// widening is what it takes to make what an engine tells of all states inductive.
type widening struct {
	// Vector lies around what is told, and is a certificate: Upper above, Lower below.
	vector certificate.Vector
	// by is how far its ends are from what is told, at most, and least how far those of
	// every such vector are: none has a value between its ends.
	by, least *big.Rat
}

// widen makes an inductive vector around what an engine tells. An inductive upper vector
// is one again when all is moved up by a constant, since P c <= c, and a lower one when
// it is moved down, to 0 at least: ranks stay, as fewer states are positive. The ends are
// moved as far as needed, from where they are proven. It reports false where a number is
// missing, or is infinite in one of the two and not in the other.
func widen(v *certificate.Vector, told []float64) (*widening, bool) {
	switch v.Kind {
	case certificate.Until, certificate.ReachReward, certificate.TotalReward:
	default:
		return nil, false
	}
	w := &widening{vector: *v, by: new(big.Rat), least: new(big.Rat)}
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
		raise(up, new(big.Rat).Sub(exact[s], high))
		raise(down, new(big.Rat).Sub(low, exact[s]))
		zero = zero && (high.Sign() > 0 || x <= 0)
	}
	raise(w.least, up)
	raise(w.least, down)
	// States of value 0, which lead only to such, stay where nothing else is told of them.
	w.vector.Upper = moved(v.Upper, up, func(x *big.Rat) bool { return zero && x.Sign() == 0 })
	w.vector.Lower = moved(v.Lower, down.Neg(down), func(*big.Rat) bool { return false })
	for s, x := range exact {
		if x != nil {
			raise(w.by, new(big.Rat).Sub(w.vector.Upper.Rat(s), x))
			raise(w.by, new(big.Rat).Sub(x, w.vector.Lower.Rat(s)))
		}
	}
	return w, true
}

// raise makes the first number as large as the second one.
func raise(most, x *big.Rat) {
	if x.Cmp(most) > 0 {
		most.Set(x)
	}
}

// moved adds a constant to all values that do not stay, which ends at 0.
func moved(v *certificate.Values, by *big.Rat, stays func(x *big.Rat) bool) *certificate.Values {
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
