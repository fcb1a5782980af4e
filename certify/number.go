package certify

import (
	"cmp"
	"math/big"
	"math/bits"

	"tilecheck/certify/certificate"
)

// The arithmetic. Everything is exact: numbers of the model are fractions, values are
// multiples of a power of two or fractions. What fits is computed in 128 bits, all
// else with math/big.

var one = big.NewRat(1, 1)

// compare is the sign of left(s), which is not infinite, minus r + sum of p x(t) for a
// choice. nil rewards are 0.
func (c *checker) compare(left, x *certificate.Values, s, choice int, r *certificate.Rewards) int {
	if x.Infinite != nil && c.some(choice, x.Infinite.Has) {
		return -1
	}
	if sign, ok := c.fast(left, x, s, choice, r); ok {
		return sign
	}
	return left.Rat(s).Cmp(c.step(x, choice, r))
}

// step is r + sum of p x(t) for a choice, none of which is infinite.
func (c *checker) step(x *certificate.Values, choice int, r *certificate.Rewards) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	if r != nil {
		sum.Set(r.Rats[r.Of[choice]])
	}
	lo, hi := c.m.Row(choice)
	for t := lo; t < hi; t++ {
		sum.Add(sum, term.Mul(c.m.Numbers[c.m.Prob[t]], x.Rat(int(c.m.Target[t]))))
	}
	return sum
}

// fast is compare in 128 bits, if that is enough.
func (c *checker) fast(left, x *certificate.Values, s, choice int, r *certificate.Rewards) (sign int, ok bool) {
	den := c.Den[choice]
	if x.Fixed == nil || left.Fixed == nil || left.Scale != x.Scale || den == 0 {
		return 0, false
	}
	high, low := c.Mean(c.m, x.Fixed, choice)
	if r != nil { // both sides times the common denominator
		k := r.Of[choice]
		common := certificate.Common(den, r.Den[k])
		if common == 0 {
			return 0, false
		}
		over, l := bits.Mul64(r.Num[k], common/r.Den[k])
		if x.Scale > 62 || over != 0 || bits.Len64(l)+int(x.Scale) > 126 {
			return 0, false
		}
		h, more := bits.Mul64(low, common/den)
		high = high*(common/den) + h // less than common
		low, over = bits.Add64(more, l<<x.Scale, 0)
		high, den = high+l>>(64-x.Scale)+over, common
	}
	h, l := bits.Mul64(left.Fixed[s], den)
	return cmp.Or(cmp.Compare(h, high), cmp.Compare(l, low)), true
}

// sum is h + g, in a CTMC h + g/E.
func (c *checker) sum(h, g *certificate.Values) *certificate.Values {
	out := &certificate.Values{Scale: h.Scale}
	for s := 0; s < c.n && c.m.Exit == nil && h.Fixed != nil && g.Fixed != nil && h.Scale == g.Scale; s++ {
		x, carry := bits.Add64(h.Fixed[s], g.Fixed[s], 0)
		if carry != 0 {
			break
		}
		out.Fixed = append(out.Fixed, x)
	}
	if len(out.Fixed) == c.n {
		return out
	}
	out = &certificate.Values{}
	for s := range c.n {
		x := new(big.Rat).Set(g.Rat(s))
		if c.m.Exit != nil {
			x.Quo(x, c.m.Numbers[c.m.Exit[s]])
		}
		out.Rats = append(out.Rats, x.Add(x, h.Rat(s)))
	}
	return out
}
