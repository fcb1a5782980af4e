package certify

import (
	"cmp"
	"errors"
	"math/big"
	"math/bits"
	"slices"

	"tilecheck/certify/certificate"
)

const (
	// effort is for how many states times steps fractions are not too slow.
	effort = 100_000
	// precision is to how many binary places fractions are rounded that have more.
	precision = 10_000
)

// steps is rule 4, in fractions where that is not slow or nothing else fits, otherwise
// in multiples of 2^-scale.
func (p *proof) steps(b *bounds) error {
	if p.m.Exit != nil && p.v.Kind != certificate.Next {
		return errors.New(p.part + ": values of a bounded time are not supported for a CTMC")
	}
	if p.v.To < 0 {
		if err := p.fixedPoint(); err != nil {
			return err
		}
	}
	most, last, spare := one, max(p.v.From, p.v.To), 0
	switch p.v.Kind {
	case certificate.Cumulative: // every step adds at most the greatest reward and 2
		most = new(big.Rat).Add(slices.MaxFunc(p.r.Rats, (*big.Rat).Cmp), big.NewRat(2, 1))
		spare = bits.Len(uint(last))
	case certificate.Instant:
		most, p.r = slices.MaxFunc(slices.Concat(p.m.Numbers, []*big.Rat{one}), (*big.Rat).Cmp), nil
	}
	size := rounded(most, 0, upper).BitLen() + spare
	exact := size > 54 || slices.Contains(p.Den, 0) || p.n <= effort/(last+1)
	proven := *b
	for side := range b.at {
		x, err := &certificate.Values{}, error(nil)
		if exact {
			round := func(r *big.Rat) *big.Rat {
				if r.Denom().BitLen() <= precision {
					return r
				}
				return new(big.Rat).SetFrac(rounded(r, precision, side), new(big.Int).Lsh(big.NewInt(1), precision))
			}
			x.Rats, err = walk(p, &proven, side, round, func(choice int, x []*big.Rat) *big.Rat {
				return round(p.step(&certificate.Values{Rats: x}, choice, p.r))
			}, (*big.Rat).Cmp)
		} else {
			x.Scale = uint(62 - size)
			round := func(r *big.Rat) uint64 { return rounded(r, x.Scale, side).Uint64() }
			earned := []uint64{}
			for k := 0; p.r != nil && k < len(p.r.Rats); k++ {
				earned = append(earned, round(p.r.Rats[k]))
			}
			x.Fixed, err = walk(p, &proven, side, round, func(choice int, x []uint64) uint64 {
				high, low := p.mean(x, choice)
				k, rest := bits.Div64(high, low, p.Den[choice])
				if side == upper && rest > 0 {
					k++
				}
				if p.r != nil {
					k += earned[p.r.Of[choice]]
				}
				return k
			}, cmp.Compare[uint64])
		}
		if b.at[side] = x; err != nil {
			return err
		}
	}
	return nil
}

// rounded is a fraction as a multiple of 2^-scale, not above it or not below.
func rounded(x *big.Rat, scale uint, side int) *big.Int {
	k, rest := new(big.Int).QuoRem(new(big.Int).Lsh(x.Num(), scale), x.Denom(), new(big.Int))
	if side == upper && rest.Sign() > 0 {
		k.Add(k, big.NewInt(1))
	}
	return k
}

// walk makes the steps with numbers of a kind: of the last From of them it is asked that
// they stay in Left, of those before that they stay there until they are in Right.
func walk[T any](p *proof, proven *bounds, side int, of func(*big.Rat) T, step func(choice int, x []T) T, order func(a, b T) int) ([]T, error) {
	left, right := p.left.at[side], p.right.at[side]
	x, nought, unit := make([]T, p.n), of(new(big.Rat)), of(one)
	for s := range x {
		switch x[s] = nought; {
		case p.v.Kind == certificate.Instant && p.m.Rewards[p.v.Reward].State != nil:
			x[s] = of(p.m.Numbers[p.m.Rewards[p.v.Reward].State[s]])
		case p.v.To < 0:
			x[s] = of(proven.of(side, s))
		case right.Has(s):
			x[s] = unit
		}
	}
	steps, until := max(p.v.To, p.v.From), max(p.v.To-p.v.From, 0)
	if p.v.Kind == certificate.Next {
		steps = 1
	}
	for k := 0; k < steps; k++ {
		next, changed := make([]T, p.n), false
		if err := p.each(p.part, func(s int) string {
			switch first, end := p.m.Choices(s); {
			case p.v.Kind == certificate.Steps && k < until && right.Has(s):
				next[s] = unit
			case p.v.Kind == certificate.Steps && !left.Has(s):
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
