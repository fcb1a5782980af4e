package steps

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
)

// Larger problems would take days: the expected number of uniformised steps, the number of
// transitions times steps in fixedArithmetic, and the same in fractionArithmetic.
const (
	maxMean                = 1 << 20
	maxFixedTransitions    = 1 << 38
	maxFractionTransitions = 1 << 30
)

// uniformisation is the data of a time bound besides the model.
type uniformisation struct {
	moveProbabilities []*big.Rat // E/q for each number of the model that is an exit rate; nil if above 1
	weightPlaces      uint       // binary places of the Poisson weights
	rewardRates       []*big.Rat // the reward of each state for a unit of time
}

// moveProbability returns E/q of a state: the probability that a uniformised step is a jump. nil if the rate q is too small.
func (p *Problem) moveProbability(s int) *big.Rat { return p.moveProbabilities[p.Exit[s]] }

// moveFractions returns the move probabilities as integers, by number of the model; nil if one does not fit.
func (p *Problem) moveFractions() (num, den []uint64) {
	num, den = make([]uint64, len(p.moveProbabilities)), make([]uint64, len(p.moveProbabilities))
	for i, x := range p.moveProbabilities {
		if x == nil {
			continue
		}
		if x.Denom().BitLen() > 62 {
			return nil, nil
		}
		num[i], den[i] = x.Num().Uint64(), x.Denom().Uint64()
	}
	return num, den
}

// timedValues is Values for a time bound.
func (p *Problem) timedValues(ctx context.Context) (out [2]*certificate.Values, err error) {
	timed := p.Vector.Timed
	p.moveProbabilities = make([]*big.Rat, len(p.Numbers))
	for _, k := range p.Exit {
		if x := new(big.Rat).Quo(p.Numbers[k], timed.Rate); p.moveProbabilities[k] == nil && x.Cmp(one) <= 0 {
			p.moveProbabilities[k] = x
		}
	}
	greatest := new(big.Rat).Set(one) // the greatest number in the computation
	switch p.Vector.Kind {
	case certificate.Instant:
		for _, k := range p.Model.Rewards[p.Vector.Reward].State {
			greatest = maximum(greatest, p.Numbers[k])
		}
	case certificate.Cumulative:
		for s, k := range p.Rewards.Of {
			r := new(big.Rat).Mul(p.Rewards.Rats[k], p.Numbers[p.Exit[s]])
			p.rewardRates, greatest = append(p.rewardRates, r), maximum(greatest, r)
		}
		p.Rewards = nil // they are rates here, not rewards of steps
		greatest.Mul(greatest, maximum(one, timed.To))
	}
	maxWeight := new(big.Rat).Inv(timed.Rate) // the greatest weight
	if timed.To != nil {
		maxWeight = maximum(maxWeight, timed.To)
	}
	weightBits := roundToPlaces(maximum(maxWeight, one), 0, upper).BitLen()
	num, _ := p.moveFractions()
	valueBits := roundToPlaces(greatest, 0, upper).BitLen() + 1
	fixed := num != nil && int(timed.Scale)+valueBits <= 62 && weightBits < 32 && !slices.Contains(p.Den, 0)
	if p.weightPlaces = 63 - uint(weightBits); !fixed {
		p.weightPlaces = timed.Scale + 64 + uint(weightBits)
	}
	for side := range out {
		out[side] = &certificate.Values{}
		if fixed {
			out[side].Scale = timed.Scale
			out[side].Fixed, err = timeBackwards(ctx, p, p.fixedArithmetic(timed.Scale, side), side, maxFixedTransitions)
		} else {
			out[side].Rats, err = timeBackwards(ctx, p, p.fractionArithmetic(timed.Scale, side), side, maxFractionTransitions)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func maximum(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		a = b
	}
	return new(big.Rat).Set(a)
}

// timeBackwards computes the values of a time bound, from its end to its beginning.
func timeBackwards[T any](ctx context.Context, problem *Problem, arith *arithmetic[T], side int, work int) ([]T, error) {
	timed, left, right := problem.Vector.Timed, problem.Left[side], problem.Right[side]
	all := func(int) bool { return true }
	switch problem.Vector.Kind {
	case certificate.Instant:
		return transientMean(ctx, problem, arith, side, finalValues(problem, arith, side), all, timed.To, work)
	case certificate.Cumulative:
		x := make([]T, len(problem.rewardRates))
		for s, r := range problem.rewardRates {
			x[s] = arith.round(r)
		}
		return transientMean(ctx, problem, arith, side, x, all, timed.To, work)
	}
	x, err := finalValues(problem, arith, side), error(nil)
	if timed.To != nil {
		within := new(big.Rat).Sub(timed.To, timed.From)
		x, err = transientMean(ctx, problem, arith, side, x, func(s int) bool { return left.Has(s) && !right.Has(s) }, within, work)
	}
	if err != nil || timed.From.Sign() == 0 {
		return x, err
	}
	for s := range x {
		if !left.Has(s) {
			x[s] = arith.round(new(big.Rat))
		}
	}
	return transientMean(ctx, problem, arith, side, x, left.Has, timed.From, work)
}

// transientMean returns the mean of x after a time in which the states of moves can move; for Cumulative, the mean of the
// integral of x over that time.
func transientMean[T any](ctx context.Context, problem *Problem, arith *arithmetic[T], side int, x []T, moves func(s int) bool, time *big.Rat, work int) ([]T, error) {
	integral, rate := problem.Vector.Kind == certificate.Cumulative, problem.Vector.Timed.Rate
	for s := range x {
		if moves(s) && problem.moveProbability(s) == nil {
			return nil, fmt.Errorf("state %d is left faster than at the rate %s", s, rate.RatString())
		}
	}
	varying, sum, greatest := varyingStates(problem, arith, x, moves), slices.Clone(x), arith.round(new(big.Rat))
	for s := range x {
		if varying[s] {
			sum[s] = arith.round(new(big.Rat))
		} else if integral {
			sum[s] = arith.addWeighted(arith.round(new(big.Rat)), roundToPlaces(time, problem.weightPlaces, side), x[s])
		}
		if arith.compare(x[s], greatest) > 0 {
			greatest = x[s]
		}
	}
	if !slices.Contains(varying, true) || time.Sign() == 0 {
		if time.Sign() == 0 && !integral {
			return x, nil
		}
		return sum, nil
	}
	weight, cutOff, err := problem.poissonWeights(ctx, time, integral)
	if err != nil {
		return nil, err
	}
	if len(problem.Target) > work/len(weight) {
		return nil, fmt.Errorf("%d steps of %d transitions are more than the checker takes", len(weight), len(problem.Target))
	}
	if side == upper {
		for s := range sum {
			if varying[s] {
				sum[s] = arith.addWeighted(sum[s], cutOff, greatest)
			}
		}
	}
	next := slices.Clone(x)
	for k, w := range weight {
		changed := false
		if err := problem.forEachState(ctx, func(s int) {
			if !varying[s] {
				return
			}
			if w.Sign() > 0 {
				sum[s] = arith.addWeighted(sum[s], w, x[s])
			}
			next[s] = arith.uniformStep(s, x[s], arith.step(s, x))
			changed = changed || arith.compare(next[s], x[s]) != 0
		}); err != nil {
			return nil, err
		}
		if x, next = next, x; !changed { // a fixed point: all further terms have the same values
			remaining := new(big.Int)
			for _, w := range weight[k+1:] {
				remaining.Add(remaining, w)
			}
			return sum, problem.forEachState(ctx, func(s int) {
				if varying[s] {
					sum[s] = arith.addWeighted(sum[s], remaining, x[s])
				}
			})
		}
	}
	return sum, nil
}

// varyingStates returns the states whose value can change: those that can move and reach, through states that can move, a state with another value.
func varyingStates[T any](problem *Problem, arith *arithmetic[T], x []T, moves func(s int) bool) []bool {
	n := len(x)
	offsets := make([]uint32, n+1) // the transitions into each state begin there
	for _, t := range problem.Target {
		offsets[t]++
	}
	for t, sum := 0, uint32(0); t <= n; t++ {
		offsets[t], sum = sum, sum+offsets[t]
	}
	predecessors, varying := make([]uint32, len(problem.Target)), make([]bool, n)
	next := slices.Clone(offsets)
	var queue []uint32
	for s := range n {
		lo, hi := problem.Row(s)
		for _, t := range problem.Target[lo:hi] {
			predecessors[next[t]] = uint32(s)
			next[t]++
			if !varying[s] && moves(s) && arith.compare(x[s], x[t]) != 0 {
				varying[s] = true
				queue = append(queue, uint32(s))
			}
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, s := range predecessors[offsets[queue[0]]:offsets[queue[0]+1]] {
			if !varying[s] && moves(int(s)) {
				varying[s] = true
				queue = append(queue, s)
			}
		}
	}
	return varying
}

// errMean says that the expected number of steps is too large.
var errMean = errors.New("the time is longer than a million steps at its rate, which is more than the checker takes")

// poissonWeights returns lower bounds of w(k) for k from 0 on, or of P(N>k)/q for an integral, as multiples of
// 2^-weightPlaces. cutOff is an upper bound of the sum of all exact weights minus the returned ones.
func (p *Problem) poissonWeights(ctx context.Context, time *big.Rat, integral bool) (out []*big.Int, cutOff *big.Int, err error) {
	rate := p.Vector.Timed.Rate
	mean, weightSum := new(big.Rat).Mul(rate, time), big.NewRat(1, 1)
	if mean.Cmp(big.NewRat(maxMean, 1)) > 0 {
		return nil, nil, errMean
	}
	first, terms, total := poissonTerms(mean, p.weightPlaces)
	out = make([]*big.Int, first, first+len(terms))
	for k := range out {
		out[k] = new(big.Int)
	}
	for _, x := range terms {
		x.Lsh(x, p.weightPlaces)
		out = append(out, x.Quo(x, total))
	}
	if integral {
		weightSum = time
		beyond := new(big.Int)
		for k := len(out) - 1; k >= 0; k-- {
			w := out[k]
			scaled := new(big.Int).Mul(beyond, rate.Denom())
			out[k] = scaled.Quo(scaled, rate.Num())
			beyond.Add(beyond, w)
		}
	}
	cutOff = roundToPlaces(weightSum, p.weightPlaces, upper)
	for _, w := range out {
		cutOff.Sub(cutOff, w)
	}
	return out, cutOff, ctx.Err()
}

// poissonTerms returns numbers proportional to the Poisson weights from first on, rounded down, and an upper bound
// of the sum of all of them.
func poissonTerms(mean *big.Rat, places uint) (first int, terms []*big.Int, total *big.Int) {
	mode := new(big.Int).Quo(mean.Num(), mean.Denom())
	first = int(mode.Int64())
	cutoff := new(big.Int).Lsh(one.Num(), 56) // smaller terms are cut off
	top := new(big.Int).Lsh(cutoff, places+8)
	total = new(big.Int).Set(top)
	terms = []*big.Int{new(big.Int).Set(top)}
	// expand appends the terms in one direction, each the previous one times num(k)/den(k). It returns the index
	// of the first term that is cut off, and that term, rounded up.
	expand := func(k, step int, factor func(k int) (num, den *big.Int)) (int, *big.Int) {
		low, high := new(big.Int).Set(top), new(big.Int).Set(top)
		for {
			if k += step; k < 0 {
				return k, new(big.Int)
			}
			num, den := factor(k)
			low = new(big.Int).Quo(new(big.Int).Mul(low, num), den)
			high = roundToPlaces(new(big.Rat).SetFrac(new(big.Int).Mul(high, num), den), 0, upper)
			if high.Cmp(cutoff) < 0 {
				return k, high
			}
			terms, total = append(terms, low), total.Add(total, high)
		}
	}
	a, b := mean.Num(), mean.Denom()
	k, tail := expand(first, -1, func(k int) (num, den *big.Int) { // v(k+1) (k+1)/m
		return new(big.Int).Mul(b, big.NewInt(int64(k+1))), a
	})
	if tail.Sign() > 0 {
		total.Add(total, geometricSum(tail, new(big.Rat).Quo(big.NewRat(int64(k), 1), mean)))
	}
	slices.Reverse(terms)
	first, mode = k+1, nil
	k, tail = expand(first+len(terms)-1, 1, func(k int) (num, den *big.Int) { // v(k-1) m/k
		return a, new(big.Int).Mul(b, big.NewInt(int64(k)))
	})
	total.Add(total, geometricSum(tail, new(big.Rat).Quo(mean, big.NewRat(int64(k+1), 1))))
	return first, terms, total
}

// geometricSum returns the sum of the geometric series x/(1-q), rounded up.
func geometricSum(x *big.Int, q *big.Rat) *big.Int {
	sum := new(big.Rat).SetInt(x)
	return roundToPlaces(sum.Quo(sum, new(big.Rat).Sub(one, q)), 0, upper)
}
