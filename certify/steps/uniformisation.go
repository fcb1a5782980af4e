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
func (p *Problem) moveProbability(s int) *big.Rat { return p.moveProbabilities[p.ExitRate[s]] }

// moveFractions returns the numerators and the denominators of the probabilities exit rate / uniformisation rate. The index is that of the exit
// rate in the numbers of the model. It returns nil if a denominator has more than 62 bits.
func (p *Problem) moveFractions() (numerators, denominators []uint64) {
	numerators, denominators = make([]uint64, len(p.moveProbabilities)), make([]uint64, len(p.moveProbabilities))
	for i, probability := range p.moveProbabilities {
		if probability == nil {
			continue
		}
		if probability.Denom().BitLen() > 62 {
			return nil, nil
		}
		numerators[i], denominators[i] = probability.Num().Uint64(), probability.Denom().Uint64()
	}
	return numerators, denominators
}

// timedValues returns the lower and the upper bounds of the values with a time bound, by uniformisation.
func (p *Problem) timedValues(ctx context.Context) (bounds [2]*certificate.Values, err error) {
	timed := p.Vector.Timed
	p.moveProbabilities = make([]*big.Rat, len(p.Numbers))
	for _, k := range p.ExitRate {
		if x := new(big.Rat).Quo(p.Numbers[k], timed.Rate); p.moveProbabilities[k] == nil && x.Cmp(one) <= 0 {
			p.moveProbabilities[k] = x
		}
	}
	if p.Vector.Kind == certificate.Cumulative {
		for s, k := range p.Rewards.FractionIndex {
			p.rewardRates = append(p.rewardRates, new(big.Rat).Mul(p.Rewards.Fractions[k], p.Numbers[p.ExitRate[s]]))
		}
		p.Rewards = nil // they are rates here, not rewards of steps
	}
	maxWeight := maximum(one, new(big.Rat).Inv(timed.Rate))
	if timed.To != nil {
		maxWeight = maximum(maxWeight, timed.To)
	}
	weightBits := roundToPlaces(maxWeight, 0, upper).BitLen()
	valueBits := roundToPlaces(p.greatestTimedNumber(), 0, upper).BitLen() + 1
	numerators, _ := p.moveFractions()
	fits64Bits := numerators != nil && int(timed.Scale)+valueBits <= 62 && weightBits < 32 && !slices.Contains(p.Denominators, 0)
	p.weightPlaces = timed.Scale + 64 + uint(weightBits)
	if fits64Bits {
		p.weightPlaces = 63 - uint(weightBits)
	}
	for side := range bounds {
		bounds[side] = &certificate.Values{}
		if fits64Bits {
			bounds[side].Scale = timed.Scale
			bounds[side].Fixed, err = timeBackwards(ctx, p, p.fixedArithmetic(timed.Scale, side), side, maxFixedTransitions)
		} else {
			bounds[side].Fractions, err = timeBackwards(ctx, p, p.fractionArithmetic(timed.Scale, side), side, maxFractionTransitions)
		}
		if err != nil {
			return bounds, err
		}
	}
	return bounds, nil
}

// greatestTimedNumber returns a bound on the numbers in the computation for a time bound: probabilities, state rewards, or accumulated rewards.
func (p *Problem) greatestTimedNumber() *big.Rat {
	maxNumber := one
	switch p.Vector.Kind {
	case certificate.Instant:
		for _, k := range p.Model.Rewards[p.Vector.Reward].State {
			maxNumber = maximum(maxNumber, p.Numbers[k])
		}
	case certificate.Cumulative:
		for _, rate := range p.rewardRates {
			maxNumber = maximum(maxNumber, rate)
		}
		maxNumber = new(big.Rat).Mul(maxNumber, maximum(one, p.Vector.Timed.To))
	}
	return maxNumber
}

// maximum returns a copy of the greater of two numbers.
func maximum(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		a = b
	}
	return new(big.Rat).Set(a)
}

// timeBackwards returns the values of a time bound, as bounds from one side. It goes from the end of the time to its beginning. maxTransitions
// limits the transitions times steps.
func timeBackwards[T any](ctx context.Context, problem *Problem, arith *arithmetic[T], side int, maxTransitions int) ([]T, error) {
	timed := problem.Vector.Timed
	allMove := func(int) bool { return true }
	switch problem.Vector.Kind {
	case certificate.Instant:
		return transientMean(ctx, problem, arith, side, finalValues(problem, arith, side), allMove, timed.To, maxTransitions)
	case certificate.Cumulative:
		rewardRates := make([]T, len(problem.rewardRates))
		for s, rate := range problem.rewardRates {
			rewardRates[s] = arith.round(rate)
		}
		return transientMean(ctx, problem, arith, side, rewardRates, allMove, timed.To, maxTransitions)
	}
	return untilBackwards(ctx, problem, arith, side, maxTransitions)
}

// untilBackwards is timeBackwards for an until formula: it goes backwards through the time interval, and then from its beginning to time 0.
func untilBackwards[T any](ctx context.Context, problem *Problem, arith *arithmetic[T], side int, maxTransitions int) ([]T, error) {
	timed, left, right := problem.Vector.Timed, problem.Left[side], problem.Right[side]
	values, err := finalValues(problem, arith, side), error(nil)
	if timed.To != nil {
		duration := new(big.Rat).Sub(timed.To, timed.From)
		isUndecided := func(s int) bool { return left.Has(s) && !right.Has(s) }
		values, err = transientMean(ctx, problem, arith, side, values, isUndecided, duration, maxTransitions)
	}
	if err != nil || timed.From.Sign() == 0 {
		return values, err
	}
	for s := range values {
		if !left.Has(s) {
			values[s] = arith.round(new(big.Rat))
		}
	}
	return transientMean(ctx, problem, arith, side, values, left.Has, timed.From, maxTransitions)
}

// transientMean returns the mean of x after a time in which a state can move if moves reports so. For Cumulative, it returns the mean of the
// integral of x over that time. The result is a bound from one side. maxTransitions limits the transitions times steps.
func transientMean[T any](ctx context.Context, problem *Problem, arith *arithmetic[T], side int, x []T, moves func(s int) bool, time *big.Rat, maxTransitions int) ([]T, error) {
	isIntegral, rate := problem.Vector.Kind == certificate.Cumulative, problem.Vector.Timed.Rate
	for s := range x {
		if moves(s) && problem.moveProbability(s) == nil {
			return nil, fmt.Errorf("state %d is left faster than at the rate %s", s, rate.RatString())
		}
	}
	if time.Sign() == 0 && !isIntegral {
		return x, nil
	}
	varying := varyingStates(problem, arith, x, moves)
	sum := sumWithoutSteps(problem, arith, side, x, varying, time)
	if !slices.Contains(varying, true) || time.Sign() == 0 {
		return sum, nil
	}
	weights, cutOff, err := problem.poissonWeights(ctx, time, isIntegral)
	if err != nil {
		return nil, err
	}
	if len(problem.Target) > maxTransitions/len(weights) {
		return nil, fmt.Errorf("%d steps of %d transitions are more than the checker takes", len(weights), len(problem.Target))
	}
	addToVarying := func(weight *big.Int, value func(s int) T) error {
		return problem.forEachState(ctx, func(s int) {
			if varying[s] {
				sum[s] = arith.addWeighted(sum[s], weight, value(s))
			}
		})
	}
	if side == upper { // the steps that are cut off have at most the greatest value
		greatest := greatestValue(arith, x)
		if err := addToVarying(cutOff, func(int) T { return greatest }); err != nil {
			return nil, err
		}
	}
	next := slices.Clone(x)
	for k, weight := range weights {
		changed := false
		if err := problem.forEachState(ctx, func(s int) {
			if !varying[s] {
				return
			}
			if weight.Sign() > 0 {
				sum[s] = arith.addWeighted(sum[s], weight, x[s])
			}
			next[s] = arith.uniformStep(s, x[s], arith.step(s, x))
			changed = changed || arith.compare(next[s], x[s]) != 0
		}); err != nil {
			return nil, err
		}
		x, next = next, x
		if !changed { // a fixed point: all further terms have the same values
			remaining := new(big.Int)
			for _, weight := range weights[k+1:] {
				remaining.Add(remaining, weight)
			}
			return sum, addToVarying(remaining, func(s int) T { return x[s] })
		}
	}
	return sum, nil
}

// sumWithoutSteps returns the result of transientMean for the states whose value does not vary, and 0 for the others.
func sumWithoutSteps[T any](problem *Problem, arith *arithmetic[T], side int, values []T, varying []bool, time *big.Rat) []T {
	sum := slices.Clone(values)
	for s := range values {
		switch {
		case varying[s]:
			sum[s] = arith.round(new(big.Rat))
		case problem.Vector.Kind == certificate.Cumulative:
			sum[s] = arith.addWeighted(arith.round(new(big.Rat)), roundToPlaces(time, problem.weightPlaces, side), values[s])
		}
	}
	return sum
}

// greatestValue returns the greatest of nonnegative values.
func greatestValue[T any](arith *arithmetic[T], values []T) T {
	maxValue := arith.round(new(big.Rat))
	for _, value := range values {
		if arith.compare(value, maxValue) > 0 {
			maxValue = value
		}
	}
	return maxValue
}

// varyingStates returns whether the value of each state can change. It can change if the state can move, and reaches a state with another value
// through states that can move.
func varyingStates[T any](problem *Problem, arith *arithmetic[T], values []T, moves func(s int) bool) []bool {
	varying := make([]bool, len(values))
	var queue []uint32
	for s := range values {
		first, end := problem.Row(s)
		hasOtherValue := func(target uint32) bool { return arith.compare(values[s], values[target]) != 0 }
		if moves(s) && slices.ContainsFunc(problem.Target[first:end], hasOtherValue) {
			varying[s] = true
			queue = append(queue, uint32(s))
		}
	}
	predecessors := problem.predecessors()
	for ; len(queue) > 0; queue = queue[1:] {
		for _, s := range predecessors(queue[0]) {
			if !varying[s] && moves(int(s)) {
				varying[s] = true
				queue = append(queue, s)
			}
		}
	}
	return varying
}

// predecessors returns a function that returns the predecessors of a state of a Markov chain, once for each transition.
func (p *Problem) predecessors() func(target uint32) []uint32 {
	n := p.NumStates()
	firstIndex := make([]uint32, n+2) // a counting sort: firstIndex[target+1] is the next free index of the predecessors of a target
	for _, target := range p.Target {
		firstIndex[target+2]++
	}
	for target := range n {
		firstIndex[target+2] += firstIndex[target+1]
	}
	sources := make([]uint32, len(p.Target))
	for s := range n {
		first, end := p.Row(s)
		for _, target := range p.Target[first:end] {
			sources[firstIndex[target+1]] = uint32(s)
			firstIndex[target+1]++
		}
	}
	return func(target uint32) []uint32 { return sources[firstIndex[target]:firstIndex[target+1]] }
}

// errMean says that the expected number of steps is too large.
var errMean = errors.New("the time is longer than a million steps at its rate, which is more than the checker takes")

// poissonWeights returns lower bounds of the Poisson weights w(k) for k from 0 on or, for an integral, of P(N>k)/q: see the package comment. They
// are multiples of 2^-weightPlaces. cutOff is an upper bound on the sum of all exact weights minus the sum of the returned weights.
func (p *Problem) poissonWeights(ctx context.Context, time *big.Rat, isIntegral bool) (weights []*big.Int, cutOff *big.Int, err error) {
	rate := p.Vector.Timed.Rate
	mean, weightSum := new(big.Rat).Mul(rate, time), big.NewRat(1, 1)
	if mean.Cmp(big.NewRat(maxMean, 1)) > 0 {
		return nil, nil, errMean
	}
	firstIndex, terms, total := poissonTerms(mean, p.weightPlaces)
	weights = make([]*big.Int, firstIndex, firstIndex+len(terms))
	for k := range weights {
		weights[k] = new(big.Int)
	}
	for _, term := range terms {
		term.Lsh(term, p.weightPlaces)
		weights = append(weights, term.Quo(term, total))
	}
	if isIntegral {
		weightSum = time
		tail := new(big.Int) // P(N>k)
		for k, weight := range slices.Backward(weights) {
			scaled := new(big.Int).Mul(tail, rate.Denom())
			weights[k] = scaled.Quo(scaled, rate.Num())
			tail.Add(tail, weight)
		}
	}
	cutOff = roundToPlaces(weightSum, p.weightPlaces, upper)
	for _, weight := range weights {
		cutOff.Sub(cutOff, weight)
	}
	return weights, cutOff, ctx.Err()
}

// poissonTerms returns numbers that are proportional to the Poisson weights e^-m m^k / k! for k = first, first+1 and so on, rounded down. m is
// mean. total is an upper bound of the sum of these numbers over all k.
func poissonTerms(mean *big.Rat, places uint) (firstIndex int, terms []*big.Int, total *big.Int) {
	mode := new(big.Int).Quo(mean.Num(), mean.Denom())
	firstIndex = int(mode.Int64())
	cutoff := new(big.Int).Lsh(one.Num(), 56) // smaller terms are cut off
	modeTerm := new(big.Int).Lsh(cutoff, places+8)
	total = new(big.Int).Set(modeTerm)
	terms = []*big.Int{new(big.Int).Set(modeTerm)}
	// expand appends the terms in one direction, each the previous one times num(k)/den(k). It returns the index
	// of the first term that is cut off, and that term, rounded up.
	expand := func(k, step int, factor func(k int) (num, den *big.Int)) (int, *big.Int) {
		lowTerm, highTerm := new(big.Int).Set(modeTerm), new(big.Int).Set(modeTerm)
		for {
			if k += step; k < 0 {
				return k, new(big.Int)
			}
			num, den := factor(k)
			lowTerm = new(big.Int).Quo(new(big.Int).Mul(lowTerm, num), den)
			highTerm = roundToPlaces(new(big.Rat).SetFrac(new(big.Int).Mul(highTerm, num), den), 0, upper)
			if highTerm.Cmp(cutoff) < 0 {
				return k, highTerm
			}
			terms, total = append(terms, lowTerm), total.Add(total, highTerm)
		}
	}
	a, b := mean.Num(), mean.Denom()
	k, tail := expand(firstIndex, -1, func(k int) (num, den *big.Int) { // v(k+1) (k+1)/m
		return new(big.Int).Mul(b, big.NewInt(int64(k+1))), a
	})
	if tail.Sign() > 0 {
		total.Add(total, geometricSum(tail, new(big.Rat).Quo(big.NewRat(int64(k), 1), mean)))
	}
	slices.Reverse(terms)
	firstIndex, mode = k+1, nil
	k, tail = expand(firstIndex+len(terms)-1, 1, func(k int) (num, den *big.Int) { // v(k-1) m/k
		return a, new(big.Int).Mul(b, big.NewInt(int64(k)))
	})
	total.Add(total, geometricSum(tail, new(big.Rat).Quo(mean, big.NewRat(int64(k+1), 1))))
	return firstIndex, terms, total
}

// geometricSum returns the sum of the geometric series x/(1-q), rounded up.
func geometricSum(x *big.Int, q *big.Rat) *big.Int {
	sum := new(big.Rat).SetInt(x)
	return roundToPlaces(sum.Quo(sum, new(big.Rat).Sub(one, q)), 0, upper)
}
