package steps

import (
	"cmp"
	"context"
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

// Everything is bounded from two sides.
const (
	lower = iota
	upper
)

var one = big.NewRat(1, 1)

// Problem is a vector, of which the values are to be bounded.
type Problem struct {
	*certificate.Model
	*certificate.Weights
	Vector      *certificate.Vector
	Left, Right [2]certificate.Bits
	// Rewards are those of a step, which Cumulative earns.
	Rewards *certificate.Rewards
	// End is what an until formula without an upper bound is worth at its end, a proven
	// bound for each side.
	End func(side, s int) *big.Rat

	clock
}

// Values returns bounds of all values from below and from above.
func (p *Problem) Values(ctx context.Context) (out [2]*certificate.Values, err error) {
	if p.Vector.Timed != nil {
		return p.timed(ctx)
	}
	most, last, spare := one, max(p.Vector.From, p.Vector.To), 0
	switch p.Vector.Kind {
	case certificate.Cumulative: // every step adds at most the greatest reward and 2
		most = new(big.Rat).Add(slices.MaxFunc(p.Rewards.Rats, (*big.Rat).Cmp), big.NewRat(2, 1))
		spare = bits.Len(uint(last))
	case certificate.Instant:
		most = slices.MaxFunc(slices.Concat(p.Numbers, []*big.Rat{one}), (*big.Rat).Cmp)
	}
	size := rounded(most, 0, upper).BitLen() + spare
	for side := range out {
		out[side] = &certificate.Values{}
		if size > 54 || slices.Contains(p.Den, 0) || p.NumStates() <= effort/(last+1) {
			out[side].Rats, err = walk(ctx, p, p.fractions(precision, side), side)
		} else {
			out[side].Scale = uint(62 - size)
			out[side].Fixed, err = walk(ctx, p, p.whole(out[side].Scale, side), side)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// grid computes with numbers of a kind, rounded to one side.
type grid[T any] struct {
	of    func(x *big.Rat) T
	step  func(choice int, x []T) T // what is earned, and the mean of x
	share func(s int, x, mean T) T  // x + E/q (mean - x)
	add   func(sum T, weight *big.Int, x T) T
	order func(a, b T) int
}

// fractions are rounded to multiples of 2^-scale, if they are none of fewer bits.
func (p *Problem) fractions(scale uint, side int) *grid[*big.Rat] {
	round := func(r *big.Rat) *big.Rat {
		if r.Denom().BitLen() <= int(scale) {
			return r
		}
		return new(big.Rat).SetFrac(rounded(r, scale, side), new(big.Int).Lsh(big.NewInt(1), scale))
	}
	g := &grid[*big.Rat]{of: round, order: (*big.Rat).Cmp}
	g.step = func(choice int, x []*big.Rat) *big.Rat {
		sum, term := new(big.Rat), new(big.Rat)
		if p.Rewards != nil {
			sum.Set(p.Rewards.Rats[p.Rewards.Of[choice]])
		}
		lo, hi := p.Row(choice)
		for t := lo; t < hi; t++ {
			sum.Add(sum, term.Mul(p.Numbers[p.Prob[t]], x[p.Target[t]]))
		}
		return round(sum)
	}
	g.share = func(s int, x, mean *big.Rat) *big.Rat {
		d := new(big.Rat).Sub(mean, x)
		return round(d.Add(d.Mul(d, p.part(s)), x))
	}
	unit := new(big.Int).Lsh(big.NewInt(1), p.places)
	g.add = func(sum *big.Rat, weight *big.Int, x *big.Rat) *big.Rat {
		w := new(big.Rat).SetFrac(weight, unit)
		return round(w.Add(w.Mul(w, x), sum))
	}
	return g
}

// whole are multiples of 2^-scale below 2^62, in 64 bits.
func (p *Problem) whole(scale uint, side int) *grid[uint64] {
	g := &grid[uint64]{order: cmp.Compare[uint64]}
	g.of = func(r *big.Rat) uint64 { return rounded(r, scale, side).Uint64() }
	var earned []uint64
	for k := 0; p.Rewards != nil && k < len(p.Rewards.Rats); k++ {
		earned = append(earned, g.of(p.Rewards.Rats[k]))
	}
	quotient := func(high, low, den uint64) uint64 {
		k, rest := bits.Div64(high, low, den)
		if side == upper && rest > 0 {
			k++
		}
		return k
	}
	g.step = func(choice int, x []uint64) uint64 {
		high, low := p.Mean(p.Model, x, choice)
		k := quotient(high, low, p.Den[choice])
		if p.Rewards != nil {
			k += earned[p.Rewards.Of[choice]]
		}
		return k
	}
	num, den := p.parts()
	g.share = func(s int, x, mean uint64) uint64 {
		a, b := num[p.Exit[s]], den[p.Exit[s]]
		high, low := bits.Mul64(a, mean)
		h, l := bits.Mul64(b-a, x)
		low, carry := bits.Add64(low, l, 0)
		return quotient(high+h+carry, low, b)
	}
	places := p.places
	g.add = func(sum uint64, weight *big.Int, x uint64) uint64 {
		high, low := bits.Mul64(weight.Uint64(), x)
		k := high<<(64-places) | low>>places
		if side == upper && low&(1<<places-1) != 0 {
			k++
		}
		return sum + k
	}
	return g
}

// rounded is a fraction as a multiple of 2^-scale, not above it or not below.
func rounded(x *big.Rat, scale uint, side int) *big.Int {
	k, rest := new(big.Int).QuoRem(new(big.Int).Lsh(x.Num(), scale), x.Denom(), new(big.Int))
	if side == upper && rest.Sign() > 0 {
		k.Add(k, big.NewInt(1))
	}
	return k
}

// each calls a function for every state, until the context ends.
func (p *Problem) each(ctx context.Context, do func(s int)) error {
	for s := range p.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		do(s)
	}
	return nil
}

// start are the values at the end, from which steps lead back.
func start[T any](p *Problem, g *grid[T], side int) []T {
	x, nought, unit := make([]T, p.NumStates()), g.of(new(big.Rat)), g.of(one)
	for s := range x {
		switch x[s] = nought; {
		case p.Vector.Kind == certificate.Instant && p.Model.Rewards[p.Vector.Reward].State != nil:
			x[s] = g.of(p.Numbers[p.Model.Rewards[p.Vector.Reward].State[s]])
		case p.End != nil:
			x[s] = g.of(p.End(side, s))
		case p.Right[side].Has(s):
			x[s] = unit
		}
	}
	return x
}

// walk makes the steps: of the last From of them it is asked that they stay in Left, of
// those before that they stay there until they are in Right.
func walk[T any](ctx context.Context, p *Problem, g *grid[T], side int) ([]T, error) {
	v, left, right := p.Vector, p.Left[side], p.Right[side]
	x, nought, unit := start(p, g, side), g.of(new(big.Rat)), g.of(one)
	steps, until := max(v.To, v.From), max(v.To-v.From, 0)
	if v.Kind == certificate.Next {
		steps = 1
	}
	for k := 0; k < steps; k++ {
		next, changed := make([]T, len(x)), false
		if err := p.each(ctx, func(s int) {
			switch first, end := p.Choices(s); {
			case v.Kind == certificate.Steps && k < until && right.Has(s):
				next[s] = unit
			case v.Kind == certificate.Steps && !left.Has(s):
				next[s] = nought
			default:
				next[s] = g.step(first, x)
				for i := first + 1; i < end; i++ {
					if y := g.step(i, x); g.order(y, next[s]) > 0 == v.Max {
						next[s] = y
					}
				}
			}
			changed = changed || g.order(next[s], x[s]) != 0
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
