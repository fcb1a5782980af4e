package certify

import (
	"cmp"
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

var one = big.NewRat(1, 1)

// weigh brings the probabilities of every choice to a common denominator den, 0 where
// that does not fit, and checks that they sum to 1.
func (c *checker) weigh() error {
	num, den := split(c.m.Numbers)
	c.num, c.den = make([]uint64, len(c.m.Target)), make([]uint64, len(c.m.Start)-1)
	for i := range c.den {
		if i&0xfff == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		lo, hi := c.m.Row(i)
		d := uint64(1)
		for _, p := range c.m.Prob[lo:hi] {
			d = lcm(d, den[p])
		}
		sum := uint64(0)
		for t := lo; t < hi && d != 0; t++ {
			p := c.m.Prob[t]
			c.num[t] = num[p] * (d / den[p])
			if num[p] > den[p] || sum > d {
				d = 0
			}
			sum += c.num[t]
		}
		if d != 0 && sum == d {
			c.den[i] = d
			continue
		}
		exact := new(big.Rat)
		for _, p := range c.m.Prob[lo:hi] {
			exact.Add(exact, c.m.Numbers[p])
		}
		if exact.Cmp(one) != 0 {
			return fmt.Errorf("the probabilities of choice %d sum to %s", i, exact.RatString())
		}
	}
	return nil
}

// split takes fractions apart; the denominator of what does not fit is 0.
func split(xs []*big.Rat) (num, den []uint64) {
	num, den = make([]uint64, len(xs)), make([]uint64, len(xs))
	for i, x := range xs {
		if x.Num().BitLen() <= 62 && x.Denom().BitLen() <= 62 {
			num[i], den[i] = x.Num().Uint64(), x.Denom().Uint64()
		}
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

// compare is the sign of left(s), which is not infinite, minus r + sum of p x(t) for a
// choice. nil rewards are 0.
func (c *checker) compare(left, x *certificate.Values, s, choice int, r *rewards) int {
	if x.Infinite != nil && c.some(choice, x.Infinite.Has) {
		return -1
	}
	if sign, ok := c.fast(left, x, s, choice, r); ok {
		return sign
	}
	return left.Rat(s).Cmp(c.step(x, choice, r))
}

// step is r + sum of p x(t) for a choice, none of which is infinite.
func (c *checker) step(x *certificate.Values, choice int, r *rewards) *big.Rat {
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

// mean is the sum of p x(t) for a choice, times its denominator.
func (c *checker) mean(x []uint64, choice int) (high, low uint64) {
	var carry uint64
	lo, hi := c.m.Row(choice)
	for t := lo; t < hi; t++ {
		h, l := bits.Mul64(c.num[t], x[c.m.Target[t]])
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry) // less than 2^62
	}
	return high, low
}

// fast is compare in 128 bits, if that is enough.
func (c *checker) fast(left, x *certificate.Values, s, choice int, r *rewards) (sign int, ok bool) {
	den := c.den[choice]
	if x.Fixed == nil || left.Fixed == nil || left.Scale != x.Scale || den == 0 {
		return 0, false
	}
	high, low := c.mean(x.Fixed, choice)
	if r != nil { // both sides times the common denominator
		k := r.of[choice]
		common := lcm(den, r.den[k])
		if common == 0 {
			return 0, false
		}
		over, l := bits.Mul64(r.num[k], common/r.den[k])
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
