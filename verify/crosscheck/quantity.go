package crosscheck

import (
	"cmp"
	"math"
	"math/big"
)

// probabilityTolerance is the greatest relative difference of equal float64 numbers: writing them to a file and summing in
// another order can change them.
const probabilityTolerance = 1e-9

// quantity is a probability, rate or reward. If fractions are compared it is the fraction r (nil is zero), otherwise
// the float64 f.
type quantity struct {
	f float64
	r *big.Rat
}

func (q quantity) rat() *big.Rat { return cmp.Or(q.r, new(big.Rat)) }

func (q quantity) plus(p quantity) quantity {
	if q.r == nil && p.r == nil {
		return quantity{f: q.f + p.f}
	}
	return quantity{r: new(big.Rat).Add(q.rat(), p.rat())}
}

func (q quantity) times(p quantity) quantity {
	if q.r == nil && p.r == nil {
		return quantity{f: q.f * p.f}
	}
	return quantity{r: new(big.Rat).Mul(q.rat(), p.rat())}
}

func (q quantity) equal(p quantity) bool {
	if q.r == nil && p.r == nil {
		return q.f == p.f || math.Abs(q.f-p.f) <= probabilityTolerance*max(math.Abs(q.f), math.Abs(p.f))
	}
	return q.rat().Cmp(p.rat()) == 0
}

// dividedBy returns q/p; p must not be zero.
func (q quantity) dividedBy(p quantity) quantity {
	if q.r == nil && p.r == nil {
		return quantity{f: q.f / p.f}
	}
	return quantity{r: new(big.Rat).Quo(q.rat(), p.rat())}
}

func (q quantity) String() string {
	if q.r != nil {
		return q.r.RatString()
	}
	return number(q.f)
}
