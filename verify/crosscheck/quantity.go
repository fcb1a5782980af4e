package crosscheck

import (
	"cmp"
	"math"
	"math/big"
)

// probabilityTolerance is how far equal doubles may be apart, relatively: what
// writing them into a file, and adding them up in another order, can do.
const probabilityTolerance = 1e-9

// quantity is a probability, a rate or a reward: a fraction in a comparison of
// fractions, where nil is zero, else a double.
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

// over is a quotient by what is not zero.
func (q quantity) over(p quantity) quantity {
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
