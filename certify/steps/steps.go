package steps

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"tilecheck/certify/certificate"
)

const (
	// maxFractionWork is the greatest number of states times steps that are computed in fractions.
	maxFractionWork = 100_000
	// minFractionPlaces and maxFractionPlaces limit the number of binary places that longer fractions are rounded to.
	minFractionPlaces, maxFractionPlaces = 10_000, 1 << 20
	// maxReductionWork is the greatest number of operations on words of 64 bits in which fractions are reduced.
	maxReductionWork = 2e9
)

// The two sides that values are bounded from.
const (
	lower = iota
	upper
)

var one = big.NewRat(1, 1)

// Problem is a step-bounded or time-bounded vector whose values are to be bounded.
type Problem struct {
	*certificate.Model
	*certificate.Weights
	Vector      *certificate.Vector
	Left, Right [2]certificate.Bits
	// Rewards are the rewards of one step, for Cumulative.
	Rewards *certificate.Rewards
	// End returns a proven bound of an until formula without an upper step bound, from where the steps go backwards.
	End func(side, s int) *big.Rat

	uniformisation
}

// Values returns lower and upper bounds of all values.
func (p *Problem) Values(ctx context.Context) (out [2]*certificate.Values, err error) {
	if p.Vector.Timed != nil {
		return p.timedValues(ctx)
	}
	greatest, last, spareBits := one, max(p.Vector.From, p.Vector.To), 0
	switch p.Vector.Kind {
	case certificate.Cumulative: // a step adds at most the greatest reward, plus 2 for rounding
		greatest = new(big.Rat).Add(slices.MaxFunc(p.Rewards.Rats, (*big.Rat).Cmp), big.NewRat(2, 1))
		spareBits = bits.Len(uint(last))
	case certificate.Instant:
		greatest = slices.MaxFunc(slices.Concat(p.Numbers, []*big.Rat{one}), (*big.Rat).Cmp)
	}
	valueBits := roundToPlaces(greatest, 0, upper).BitLen() + spareBits
	for side := range out {
		out[side] = &certificate.Values{}
		if valueBits > 54 || slices.Contains(p.Den, 0) || p.NumStates() <= maxFractionWork/(last+1) {
			out[side].Rats, err = stepBackwards(ctx, p, p.fractionArithmetic(p.fractionPlaces(last), side), side)
		} else {
			out[side].Scale = uint(62 - valueBits)
			out[side].Fixed, err = stepBackwards(ctx, p, p.fixedArithmetic(out[side].Scale, side), side)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// fractionPlaces returns the number of binary places that longer fractions are rounded to. To reduce a fraction takes a number of operations
// that is the square of the number of words, for each transition in each step. So a small model has more places.
func (p *Problem) fractionPlaces(numSteps int) uint {
	reductions := float64(len(p.Target)) * float64(numSteps+1)
	places := 64 * math.Sqrt(maxReductionWork/reductions)
	return uint(min(max(places, minFractionPlaces), maxFractionPlaces))
}

// arithmetic is a number format whose operations round to one side.
type arithmetic[T any] struct {
	round       func(x *big.Rat) T
	step        func(choice int, x []T) T // the reward of a choice plus the mean of x after it
	uniformStep func(s int, x, mean T) T  // U x: x + E/q (mean - x)
	addWeighted func(sum T, weight *big.Int, x T) T
	compare     func(a, b T) int
}

// fractionArithmetic computes with fractions. Those with a longer denominator are rounded to multiples of 2^-scale.
func (p *Problem) fractionArithmetic(scale uint, side int) *arithmetic[*big.Rat] {
	round := func(r *big.Rat) *big.Rat {
		if r.Denom().BitLen() <= int(scale) {
			return r
		}
		return new(big.Rat).SetFrac(roundToPlaces(r, scale, side), new(big.Int).Lsh(big.NewInt(1), scale))
	}
	arith := &arithmetic[*big.Rat]{round: round, compare: (*big.Rat).Cmp}
	arith.step = func(choice int, x []*big.Rat) *big.Rat {
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
	arith.uniformStep = func(s int, x, mean *big.Rat) *big.Rat {
		d := new(big.Rat).Sub(mean, x)
		return round(d.Add(d.Mul(d, p.moveProbability(s)), x))
	}
	unit := new(big.Int).Lsh(big.NewInt(1), p.weightPlaces)
	arith.addWeighted = func(sum *big.Rat, weight *big.Int, x *big.Rat) *big.Rat {
		w := new(big.Rat).SetFrac(weight, unit)
		return round(w.Add(w.Mul(w, x), sum))
	}
	return arith
}

// fixedArithmetic computes with multiples of 2^-scale below 2^62, in 64 bits.
func (p *Problem) fixedArithmetic(scale uint, side int) *arithmetic[uint64] {
	arith := &arithmetic[uint64]{compare: cmp.Compare[uint64]}
	arith.round = func(r *big.Rat) uint64 { return roundToPlaces(r, scale, side).Uint64() }
	var rewards []uint64
	for k := 0; p.Rewards != nil && k < len(p.Rewards.Rats); k++ {
		rewards = append(rewards, arith.round(p.Rewards.Rats[k]))
	}
	quotient := func(high, low, den uint64) uint64 {
		k, rest := bits.Div64(high, low, den)
		if side == upper && rest > 0 {
			k++
		}
		return k
	}
	arith.step = func(choice int, x []uint64) uint64 {
		high, low := p.Mean(p.Model, x, choice)
		k := quotient(high, low, p.Den[choice])
		if p.Rewards != nil {
			k += rewards[p.Rewards.Of[choice]]
		}
		return k
	}
	num, den := p.moveFractions()
	arith.uniformStep = func(s int, x, mean uint64) uint64 {
		a, b := num[p.Exit[s]], den[p.Exit[s]]
		high, low := bits.Mul64(a, mean)
		h, l := bits.Mul64(b-a, x)
		low, carry := bits.Add64(low, l, 0)
		return quotient(high+h+carry, low, b)
	}
	places := p.weightPlaces
	arith.addWeighted = func(sum uint64, weight *big.Int, x uint64) uint64 {
		high, low := bits.Mul64(weight.Uint64(), x)
		k := high<<(64-places) | low>>places
		if side == upper && low&(1<<places-1) != 0 {
			k++
		}
		return sum + k
	}
	return arith
}

// roundToPlaces returns x as a multiple of 2^-scale, rounded down for lower and up for upper.
func roundToPlaces(x *big.Rat, scale uint, side int) *big.Int {
	k, rest := new(big.Int).QuoRem(new(big.Int).Lsh(x.Num(), scale), x.Denom(), new(big.Int))
	if side == upper && rest.Sign() > 0 {
		k.Add(k, big.NewInt(1))
	}
	return k
}

// forEachState calls do for every state; it stops with ctx.Err() when the context ends.
func (p *Problem) forEachState(ctx context.Context, do func(s int)) error {
	for s := range p.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		do(s)
	}
	return nil
}

// finalValues returns the values at the end of the bound, from which the computation goes backwards.
func finalValues[T any](problem *Problem, arith *arithmetic[T], side int) []T {
	x, zero, one := make([]T, problem.NumStates()), arith.round(new(big.Rat)), arith.round(one)
	for s := range x {
		switch x[s] = zero; {
		case problem.Vector.Kind == certificate.Instant && problem.Model.Rewards[problem.Vector.Reward].State != nil:
			x[s] = arith.round(problem.Numbers[problem.Model.Rewards[problem.Vector.Reward].State[s]])
		case problem.End != nil:
			x[s] = arith.round(problem.End(side, s))
		case problem.Right[side].Has(s):
			x[s] = one
		}
	}
	return x
}

// stepBackwards computes the values of a step bound, one step at a time. In the last From steps it requires only
// that the path stays in Left; before these, that it stays there until it reaches Right.
func stepBackwards[T any](ctx context.Context, problem *Problem, arith *arithmetic[T], side int) ([]T, error) {
	vector, left, right := problem.Vector, problem.Left[side], problem.Right[side]
	x, zero, one := finalValues(problem, arith, side), arith.round(new(big.Rat)), arith.round(one)
	steps, untilSteps := max(vector.To, vector.From), max(vector.To-vector.From, 0)
	if vector.Kind == certificate.Next {
		steps = 1
	}
	for k := 0; k < steps; k++ {
		next, changed := make([]T, len(x)), false
		if err := problem.forEachState(ctx, func(s int) {
			switch first, end := problem.Choices(s); {
			case vector.Kind == certificate.Steps && k < untilSteps && right.Has(s):
				next[s] = one
			case vector.Kind == certificate.Steps && !left.Has(s):
				next[s] = zero
			default:
				next[s] = arith.step(first, x)
				for i := first + 1; i < end; i++ {
					if y := arith.step(i, x); arith.compare(y, next[s]) > 0 == vector.Max {
						next[s] = y
					}
				}
			}
			changed = changed || arith.compare(next[s], x[s]) != 0
		}); err != nil {
			return nil, err
		}
		if x = next; !changed { // a fixed point: further steps change nothing
			if k >= untilSteps {
				break
			}
			k = untilSteps - 1
		}
	}
	return x, nil
}
