package certify

import (
	"fmt"
	"math/big"
	"math/bits"

	"tilecheck/certify/certificate"
)

// The arithmetic. Everything is exact: numbers of the model are fractions, values are
// multiples of a power of two or fractions. What fits is computed in 128 bits, all
// else with math/big.

// fit is what a denominator must be less than for sums not to overflow 128 bits.
const fit = 1 << 62

// weigh brings the probabilities of every choice to a common denominator den, 0 where
// that does not fit, and checks that they sum to 1.
func (c *Checker) weigh() error {
	num, den := split(c.m.Numbers)
	choices := len(c.m.Start) - 1
	c.num, c.den = make([]uint64, len(c.m.Target)), make([]uint64, choices)
	for i := range choices {
		if i&0xfff == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		lo, hi := c.m.Row(i)
		d := uint64(1)
		for _, p := range c.m.Prob[lo:hi] {
			d = lcm(d, den[p])
		}
		sum, over := uint64(0), d == 0
		for t := lo; t < hi && !over; t++ {
			p := c.m.Prob[t]
			c.num[t] = num[p] * (d / den[p])
			over = num[p] > den[p] || sum > fit
			sum += c.num[t]
		}
		if !over && sum == d {
			c.den[i] = d
			continue
		}
		exact := new(big.Rat)
		for _, p := range c.m.Prob[lo:hi] {
			exact.Add(exact, c.m.Numbers[p])
		}
		if exact.Cmp(one) != 0 {
			return &Failure{"model", -1, fmt.Sprintf("the probabilities of choice %d sum to %s", i, exact.RatString())}
		}
	}
	return nil
}

var one = big.NewRat(1, 1)

// split takes fractions apart; the denominator of what does not fit is 0.
func split(xs []*big.Rat) (num, den []uint64) {
	for _, x := range xs {
		n, d := uint64(0), uint64(0)
		if x.Num().BitLen() <= 62 && x.Denom().BitLen() <= 62 {
			n, d = x.Num().Uint64(), x.Denom().Uint64()
		}
		num, den = append(num, n), append(den, d)
	}
	return num, den
}

// lcm is the least common multiple, 0 where it does not fit or one of them is 0.
func lcm(a, b uint64) uint64 {
	if a == b || a == 0 || b == 0 {
		return min(a, b)
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	if hi, lo := bits.Mul64(a/x, b); hi == 0 && lo < fit {
		return lo
	}
	return 0
}

// rewards are the rewards of the choices for a step, by their numbers.
type rewards struct {
	of       []uint32
	rats     []*big.Rat
	num, den []uint64
}

func (r *rewards) positive(choice int) bool { return r != nil && r.rats[r.of[choice]].Sign() > 0 }

// compare is the sign of x(s) - (r + sum of p x(t)) for a choice, where x(s) is not
// infinite. plus, if not nil, is added to x(s), in a CTMC for the mean time in s. nil
// rewards are 0.
func (c *Checker) compare(x, plus *certificate.Values, s, choice int, r *rewards) int {
	lo, hi := c.m.Row(choice)
	if x.Infinite != nil {
		for _, t := range c.m.Target[lo:hi] {
			if x.Infinite.Has(int(t)) {
				return -1
			}
		}
	}
	if sign, ok := c.fast(x, plus, s, choice, r); ok {
		return sign
	}
	left := new(big.Rat).Set(x.Rat(s))
	if plus != nil {
		extra := new(big.Rat).Set(plus.Rat(s))
		if c.m.Exit != nil {
			extra.Quo(extra, c.m.Numbers[c.m.Exit[s]])
		}
		left.Add(left, extra)
	}
	return left.Cmp(c.step(x, choice, r))
}

// step is r + sum of p x(t) for a choice, none of which is infinite.
func (c *Checker) step(x *certificate.Values, choice int, r *rewards) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	if r != nil {
		sum.Set(r.rats[r.of[choice]])
	}
	lo, hi := c.m.Row(choice)
	for t := lo; t < hi; t++ {
		sum.Add(sum, term.Mul(c.m.Numbers[c.m.Prob[t]], x.Rat(int(c.m.Target[t]))))
	}
	return sum
}

// fast is compare in 128 bits, if that is enough.
func (c *Checker) fast(x, plus *certificate.Values, s, choice int, r *rewards) (sign int, ok bool) {
	den := c.den[choice]
	if x.Fixed == nil || den == 0 {
		return 0, false
	}
	factor := uint64(1)
	var high, low, carry uint64 // the right side, times the denominator
	if r != nil {
		k := r.of[choice]
		common := lcm(den, r.den[k])
		if common == 0 {
			return 0, false
		}
		h, l := bits.Mul64(r.num[k], common/r.den[k])
		if shift := x.Scale; shift > 62 || h != 0 || bits.Len64(l)+int(shift) > 126 {
			return 0, false
		}
		high, low = l>>(64-x.Scale), l<<x.Scale
		factor, den = common/den, common
	}
	lo, hi := c.m.Row(choice)
	for t := lo; t < hi; t++ {
		h, l := bits.Mul64(c.num[t]*factor, x.Fixed[c.m.Target[t]]) // which sum to less than 2^126
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
	}
	left := x.Fixed[s]
	if plus != nil {
		if plus.Fixed == nil || plus.Scale != x.Scale || c.m.Exit != nil {
			return 0, false
		}
		if left, carry = bits.Add64(left, plus.Fixed[s], 0); carry != 0 {
			return 0, false
		}
	}
	h, l := bits.Mul64(left, den)
	switch {
	case h == high && l == low:
		return 0, true
	case h < high || h == high && l < low:
		return -1, true
	}
	return 1, true
}
