package certify

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"

	"tilecheck/certify/certificate"
)

const (
	// effort is for how many states times steps fractions are not too slow.
	effort = 100_000
	// precision is to how many binary places fractions are rounded that have more.
	precision = 1000
)

// steps is rule 4, in fractions where that is not slow or nothing else fits, otherwise
// in multiples of 2^-scale.
func (p *proof) steps(b *bounds) error {
	if p.m.Exit != nil && p.v.Kind != certificate.Next {
		return p.fail("values of a bounded time are not supported for a CTMC")
	}
	if p.v.To < 0 {
		if err := p.fixedPoint(); err != nil {
			return err
		}
	}
	most, last, spare := one, max(p.v.From, p.v.To), 0
	switch p.v.Kind {
	case certificate.Cumulative: // every step adds at most the greatest reward and 2
		most = new(big.Rat).Add(slices.MaxFunc(p.r.rats, (*big.Rat).Cmp), big.NewRat(2, 1))
		spare = bits.Len(uint(last))
	case certificate.Instant:
		most, p.r = slices.MaxFunc(slices.Concat(p.m.Numbers, []*big.Rat{one}), (*big.Rat).Cmp), nil
	}
	size := rounded(most, 0, true).BitLen() + spare
	exact := size > 54 || slices.Contains(p.den, 0) || p.n <= effort/(last+1)
	proven := *b
	for _, up := range []bool{false, true} {
		x, err := &certificate.Values{}, error(nil)
		if exact {
			round := func(r *big.Rat) *big.Rat {
				if r.Denom().BitLen() <= precision {
					return r
				}
				return new(big.Rat).SetFrac(rounded(r, precision, up), new(big.Int).Lsh(big.NewInt(1), precision))
			}
			x.Rats, err = walk(p, &proven, up, round, func(choice int, x []*big.Rat) *big.Rat {
				return round(p.step(&certificate.Values{Rats: x}, choice, p.r))
			}, (*big.Rat).Cmp)
		} else {
			x.Scale = uint(62 - size)
			fix := func(r *big.Rat) uint64 { return rounded(r, x.Scale, up).Uint64() }
			var earned []uint64
			if p.r != nil {
				for _, r := range p.r.rats {
					earned = append(earned, fix(r))
				}
			}
			x.Fixed, err = walk(p, &proven, up, fix, func(choice int, x []uint64) uint64 {
				k := p.fastStep(choice, x, up)
				if p.r != nil {
					k += earned[p.r.of[choice]]
				}
				return k
			}, cmp.Compare[uint64])
		}
		if err != nil {
			return err
		}
		if up {
			b.high = x
		} else {
			b.low = x
		}
	}
	return nil
}

// rounded is a fraction as a multiple of 2^-scale.
func rounded(x *big.Rat, scale uint, up bool) *big.Int {
	k, rest := new(big.Int).QuoRem(new(big.Int).Lsh(x.Num(), scale), x.Denom(), new(big.Int))
	if up && rest.Sign() > 0 {
		k.Add(k, big.NewInt(1))
	}
	return k
}

// fastStep is the sum of p x(t) for a choice, in 128 bits.
func (c *Checker) fastStep(choice int, x []uint64, up bool) uint64 {
	var high, low, carry uint64
	lo, hi := c.m.Row(choice)
	for t := lo; t < hi; t++ {
		h, l := bits.Mul64(c.num[t], x[c.m.Target[t]])
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
	}
	k, rest := bits.Div64(high, low, c.den[choice])
	if up && rest > 0 {
		k++
	}
	return k
}

// walk makes the steps with numbers of a kind.
func walk[T any](p *proof, proven *bounds, up bool, of func(*big.Rat) T, step func(choice int, x []T) T, order func(a, b T) int) ([]T, error) {
	has := func(x *set, s int) bool { return up && x.maybe.Has(s) || !up && x.in.Has(s) }
	structure := certificate.Reward{}
	if p.v.Kind == certificate.Instant {
		structure = p.m.Rewards[p.v.Reward]
	}
	x, nought, unit := make([]T, p.n), of(new(big.Rat)), of(one)
	for s := range x {
		switch x[s] = nought; {
		case structure.State != nil:
			x[s] = of(p.m.Numbers[structure.State[s]])
		case p.right == nil:
		case p.v.To < 0 && up:
			x[s] = of(proven.upper(s))
		case p.v.To < 0:
			x[s] = of(proven.lower(s))
		case has(p.right, s):
			x[s] = unit
		}
	}
	// The last From steps only have to stay in Left.
	steps, until := max(p.v.To, p.v.From), max(p.v.To-p.v.From, 0)
	if p.v.Kind == certificate.Next {
		steps = 1
	}
	for k := 0; k < steps; k++ {
		next, changed := make([]T, p.n), false
		if err := p.each(p.part, func(s int) string {
			switch first, end := p.m.Choices(s); {
			case p.v.Kind == certificate.Steps && k < until && has(p.right, s):
				next[s] = unit
			case p.v.Kind == certificate.Steps && !has(p.left, s):
				next[s] = nought
			default:
				next[s] = step(first, x)
				for i := first + 1; i < end; i++ {
					if y := step(i, x); order(y, next[s]) > 0 == p.v.Max {
						next[s] = y
					}
				}
			}
			changed = changed || order(next[s], x[s]) != 0
			return ""
		}); err != nil {
			return nil, err
		}
		if x = next; !changed { // and so it goes on
			if k >= until {
				break
			}
			k = until - 1
		}
	}
	return x, nil
}
