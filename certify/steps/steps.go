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
	// EndValue returns a proven bound of an until formula without an upper step bound, from where the steps go backwards.
	EndValue func(side, s int) *big.Rat

	uniformisation
}

// Values returns the lower and the upper bounds of the values of all states, for a step bound or a time bound.
func (p *Problem) Values(ctx context.Context) (bounds [2]*certificate.Values, err error) {
	if p.Vector.Timed != nil {
		return p.timedValues(ctx)
	}
	numSteps := max(p.Vector.From, p.Vector.To)
	valueBits := p.valueBits(numSteps)
	needsFractions := valueBits > 54 || slices.Contains(p.Denominators, 0)
	isSmall := p.NumStates() <= maxFractionWork/(numSteps+1)
	for side := range bounds {
		bounds[side] = &certificate.Values{}
		if needsFractions || isSmall {
			bounds[side].Fractions, err = stepBackwards(ctx, p, p.fractionArithmetic(p.fractionPlaces(numSteps), side), side)
		} else {
			bounds[side].Scale = uint(62 - valueBits)
			bounds[side].Fixed, err = stepBackwards(ctx, p, p.fixedArithmetic(bounds[side].Scale, side), side)
		}
		if err != nil {
			return bounds, err
		}
	}
	return bounds, nil
}

// valueBits returns how many bits the integer part of a value can have after a number of steps.
func (p *Problem) valueBits(numSteps int) int {
	maxReward, spareBits := one, 0
	switch p.Vector.Kind {
	case certificate.Cumulative: // a step adds at most the greatest reward, plus 2 for rounding
		maxReward = new(big.Rat).Add(slices.MaxFunc(p.Rewards.Fractions, (*big.Rat).Cmp), big.NewRat(2, 1))
		spareBits = bits.Len(uint(numSteps))
	case certificate.Instant:
		maxReward = slices.MaxFunc(slices.Concat(p.Numbers, []*big.Rat{one}), (*big.Rat).Cmp)
	}
	return roundToPlaces(maxReward, 0, upper).BitLen() + spareBits
}

// mean returns the sum of P(c,t) values[t] over the successors t of a choice c, without rounding.
func (p *Problem) mean(choice int, values []*big.Rat) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	first, end := p.Row(choice)
	for transition := first; transition < end; transition++ {
		sum.Add(sum, term.Mul(p.Numbers[p.Prob[transition]], values[p.Target[transition]]))
	}
	return sum
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

// fractionArithmetic returns the arithmetic of fractions. It rounds a fraction whose denominator has more than scale bits to a multiple of
// 2^-scale: down for lower bounds, up for upper bounds.
func (p *Problem) fractionArithmetic(scale uint, side int) *arithmetic[*big.Rat] {
	round := func(fraction *big.Rat) *big.Rat {
		if fraction.Denom().BitLen() <= int(scale) {
			return fraction
		}
		return new(big.Rat).SetFrac(roundToPlaces(fraction, scale, side), new(big.Int).Lsh(big.NewInt(1), scale))
	}
	arith := &arithmetic[*big.Rat]{round: round, compare: (*big.Rat).Cmp}
	arith.step = func(choice int, values []*big.Rat) *big.Rat {
		value := p.mean(choice, values)
		if p.Rewards != nil {
			value.Add(value, p.Rewards.Fractions[p.Rewards.FractionIndex[choice]])
		}
		return round(value)
	}
	arith.uniformStep = func(s int, value, mean *big.Rat) *big.Rat {
		change := new(big.Rat).Sub(mean, value)
		change.Mul(change, p.moveProbability(s))
		return round(change.Add(change, value))
	}
	unit := new(big.Int).Lsh(big.NewInt(1), p.weightPlaces)
	arith.addWeighted = func(sum *big.Rat, weight *big.Int, value *big.Rat) *big.Rat {
		term := new(big.Rat).SetFrac(weight, unit)
		term.Mul(term, value)
		return round(term.Add(term, sum))
	}
	return arith
}

// fixedArithmetic computes with multiples of 2^-scale below 2^62, in 64 bits.
func (p *Problem) fixedArithmetic(scale uint, side int) *arithmetic[uint64] {
	arith := &arithmetic[uint64]{compare: cmp.Compare[uint64]}
	arith.round = func(r *big.Rat) uint64 { return roundToPlaces(r, scale, side).Uint64() }
	var rewards []uint64
	for k := 0; p.Rewards != nil && k < len(p.Rewards.Fractions); k++ {
		rewards = append(rewards, arith.round(p.Rewards.Fractions[k]))
	}
	quotient := func(high, low, denominators uint64) uint64 {
		k, remainder := bits.Div64(high, low, denominators)
		if side == upper && remainder > 0 {
			k++
		}
		return k
	}
	arith.step = func(choice int, x []uint64) uint64 {
		high, low := p.Mean(p.Model, x, choice)
		k := quotient(high, low, p.Denominators[choice])
		if p.Rewards != nil {
			k += rewards[p.Rewards.FractionIndex[choice]]
		}
		return k
	}
	numerators, denominators := p.moveFractions()
	arith.uniformStep = func(s int, x, mean uint64) uint64 {
		a, b := numerators[p.ExitRate[s]], denominators[p.ExitRate[s]]
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

// roundToPlaces returns the integer k for which k * 2^-scale is the fraction, rounded down for a lower bound and up for an upper bound.
func roundToPlaces(fraction *big.Rat, scale uint, side int) *big.Int {
	quotient, remainder := new(big.Int).QuoRem(new(big.Int).Lsh(fraction.Num(), scale), fraction.Denom(), new(big.Int))
	if side == upper && remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}

// forEachState calls visit for every state. It stops with ctx.Err() when the context ends.
func (p *Problem) forEachState(ctx context.Context, visit func(s int)) error {
	for s := range p.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		visit(s)
	}
	return nil
}

// finalValues returns the values of the states after the last step, or at the end of the time: the state rewards for I=k, proven bounds of an
// until formula, or else 1 in Right and 0 elsewhere.
func finalValues[T any](problem *Problem, arith *arithmetic[T], side int) []T {
	var stateRewards []uint32
	if problem.Vector.Kind == certificate.Instant {
		stateRewards = problem.Model.Rewards[problem.Vector.Reward].State
	}
	values, zero, one := make([]T, problem.NumStates()), arith.round(new(big.Rat)), arith.round(one)
	for s := range values {
		switch {
		case stateRewards != nil:
			values[s] = arith.round(problem.Numbers[stateRewards[s]])
		case problem.EndValue != nil:
			values[s] = arith.round(problem.EndValue(side, s))
		case problem.Right[side].Has(s):
			values[s] = one
		default:
			values[s] = zero
		}
	}
	return values
}

// stepBackwards returns the values for a step bound, as lower or upper bounds. It computes backwards from the last step. In the first To-From
// iterations a path that has reached Right satisfies the formula; in the From iterations after them a path only has to be in Left.
func stepBackwards[T any](ctx context.Context, problem *Problem, arith *arithmetic[T], side int) ([]T, error) {
	vector, left, right := problem.Vector, problem.Left[side], problem.Right[side]
	values, zero, one := finalValues(problem, arith, side), arith.round(new(big.Rat)), arith.round(one)
	steps, untilSteps := max(vector.To, vector.From), max(vector.To-vector.From, 0)
	if vector.Kind == certificate.Next {
		steps = 1
	}
	for k := 0; k < steps; k++ {
		nextValues, hasChanged := make([]T, len(values)), false
		if err := problem.forEachState(ctx, func(s int) {
			switch {
			case vector.Kind == certificate.Steps && k < untilSteps && right.Has(s):
				nextValues[s] = one
			case vector.Kind == certificate.Steps && !left.Has(s):
				nextValues[s] = zero
			default:
				nextValues[s] = optimum(problem, arith, s, values)
			}
			hasChanged = hasChanged || arith.compare(nextValues[s], values[s]) != 0
		}); err != nil {
			return nil, err
		}
		values = nextValues
		if !hasChanged { // a fixed point: further steps of this kind change nothing
			if k >= untilSteps {
				break
			}
			k = untilSteps - 1
		}
	}
	return values, nil
}

// optimum returns the minimal or maximal value of a step over the choices of state s. values has the values of the states after the step.
func optimum[T any](problem *Problem, arith *arithmetic[T], s int, values []T) T {
	first, end := problem.Choices(s)
	bestValue := arith.step(first, values)
	for c := first + 1; c < end; c++ {
		value := arith.step(c, values)
		isGreater := arith.compare(value, bestValue) > 0
		if isGreater == problem.Vector.IsMaximum {
			bestValue = value
		}
	}
	return bestValue
}
