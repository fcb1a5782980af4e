package solve

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// PreciseUntil returns bounds on the probability of `left U right` within a time interval, or of its negation, in double-word arithmetic
// (about 30 decimal digits). It is for exact models with large rates, where the rounding errors of many float64 steps add up.
// The error is ErrTooManySteps if it would take too long, and ErrTime if a time is not known exactly.
func PreciseUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, bound Interval, isNegated bool, opts Options) (*Values, error) {
	transient, err := newPreciseTransient(ctx, graph, opts)
	if err != nil {
		return nil, err
	}
	if !bound.From.Known() || !bound.To.None() && !bound.To.Known() {
		return nil, ErrTime
	}
	valueIfMet, valueIfMissed := big.NewRat(1, 1), new(big.Rat)
	if isNegated {
		valueIfMet, valueIfMissed = valueIfMissed, valueIfMet
	}
	if bound.To.None() {
		err = transient.setUnboundedUntil(ctx, left, right, isNegated, opts)
	} else {
		transient.setAll(right.Complement(), valueIfMissed)
		transient.setAll(right, valueIfMet)
		err = transient.advanceTime(left.Minus(right), bound.To.since(bound.From).Low)
	}
	if err != nil {
		return nil, err
	}
	if bound.From.Low.Sign() > 0 {
		transient.setAll(left.Complement(), valueIfMissed)
		if err := transient.advanceTime(left, bound.From.Low); err != nil {
			return nil, err
		}
	}
	values := transient.bounds(big.NewRat(1, 1))
	for state, upper := range values.Upper {
		values.Upper[state] = min(upper, 1)
	}
	return values, nil
}

// setUnboundedUntil sets the value of each state to the exact probability of `left U right` without an upper time bound, or of its
// negation.
func (transient *preciseTransient) setUnboundedUntil(ctx context.Context, left, right *sparse.Set, isNegated bool, opts Options) error {
	opts.Exact = true
	unbounded, err := unboundedUntil(ctx, transient.graph, left, right, isNegated, opts)
	if err != nil {
		return err
	}
	for state, value := range unbounded.Exact {
		transient.setValue(state, value)
	}
	return nil
}

// PreciseInstantReward returns bounds on the expected state reward of a CTMC at a time, in double-word arithmetic (about 30 decimal digits).
// The error is ErrTooManySteps if it would take too long, and ErrTime if the time is not known exactly.
func PreciseInstantReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, time Time, opts Options) (*Values, error) {
	transient, err := newPreciseTransient(ctx, graph, opts)
	if err != nil {
		return nil, err
	}
	if !time.Known() {
		return nil, ErrTime
	}
	scale := transient.setScaledRewards(reward.StateFractions)
	if err := transient.advanceTime(sparse.FullSet(graph.NumStates()), time.Low); err != nil {
		return nil, err
	}
	return transient.bounds(scale), nil
}

// PreciseCumulReward returns bounds on the expected reward of a CTMC up to a time, in double-word arithmetic (about 30 decimal digits).
// The error is ErrTooManySteps if it would take too long, and ErrTime if the time is not known exactly.
func PreciseCumulReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, time Time, opts Options) (*Values, error) {
	transient, err := newPreciseTransient(ctx, graph, opts)
	if err != nil {
		return nil, err
	}
	if !time.Known() {
		return nil, ErrTime
	}
	opts.Exact = true
	system, err := newSystem(graph, reward, Max, opts)
	if err != nil {
		return nil, err
	}
	stateRewards := make([]*big.Rat, graph.NumStates())
	for state := range stateRewards {
		stateRewards[state] = system.reward.ExactChoiceTotal(state, state)
	}
	scale := transient.setScaledRewards(stateRewards)
	// The accumulated reward is the value of an additional state. Every state has a transition to it with the reward as rate.
	transient.rewardRates = transient.values
	allStates := sparse.FullSet(graph.NumStates())
	transient.zeroStates = graph.ExistsUntil(allStates, transient.zeroStates.Complement()).Complement()
	transient.values = append(make([]doubleWord, len(stateRewards)), doubleWord{1, 0})
	if err := transient.advanceTime(allStates, time.Low); err != nil {
		return nil, err
	}
	if transient.rate.hi > 0 { // one step takes 1/rate units of time
		scale = new(big.Rat).Quo(scale, transient.rate.fraction())
	} else {
		scale = new(big.Rat).Mul(scale, time.Low)
	}
	transient.values = transient.values[:len(stateRewards)]
	return transient.bounds(scale), nil
}

// preciseTransient computes transient values by uniformisation in double-word arithmetic, with error
// bounds.
type preciseTransient struct {
	ctx         context.Context
	graph       *sparse.Graph
	meter       *meter
	values      []doubleWord
	rewardRates []doubleWord // of each state, when rewards accumulate; nil otherwise
	// zeroStates and oneStates are the states with value exactly 0 and exactly 1.
	zeroStates, oneStates *sparse.Set
	relErr, absErr        float64 // relative error, and absolute error as a multiple of the greatest value

	rate doubleWord // uniformisation rate
	rows [][]preciseTransition
}

// preciseTransition is a transition of the uniformised chain.
type preciseTransition struct {
	target int
	prob   doubleWord
}

// newPreciseTransient prepares a transient computation in which all values are 0. The error is ErrNotExact if the weights of the model have
// no fractions.
func newPreciseTransient(ctx context.Context, graph *sparse.Graph, opts Options) (*preciseTransient, error) {
	if !graph.Exact() {
		return nil, ErrNotExact
	}
	numStates := graph.NumStates()
	return &preciseTransient{
		ctx: ctx, graph: graph, meter: newMeter(ctx, opts, numStates), values: make([]doubleWord, numStates), zeroStates: sparse.FullSet(numStates), oneStates: sparse.NewSet(numStates),
		relErr: 16 * doubleWordUnit, absErr: 0x1p-700,
	}, nil
}

// setAll gives all states of a set the same value.
func (transient *preciseTransient) setAll(states *sparse.Set, value *big.Rat) {
	for state := range states.All() {
		transient.setValue(state, value)
	}
}

// setValue sets the value of a state. It also records whether the value is exactly 0 or exactly 1.
func (transient *preciseTransient) setValue(state int, value *big.Rat) {
	transient.values[state] = newDoubleWord(value).flush()
	transient.zeroStates.Remove(state)
	transient.oneStates.Remove(state)
	switch {
	case value.Sign() == 0:
		transient.zeroStates.Add(state)
	case isOne(value):
		transient.oneStates.Add(state)
	}
}

// setScaledRewards sets the value of each state to its reward divided by the greatest reward. It returns the greatest reward as scale.
func (transient *preciseTransient) setScaledRewards(rewards []*big.Rat) (scale *big.Rat) {
	greatestReward := new(big.Rat)
	for _, reward := range rewards {
		if reward != nil && reward.Cmp(greatestReward) > 0 {
			greatestReward = reward
		}
	}
	if greatestReward.Sign() == 0 {
		return greatestReward
	}
	for state, reward := range rewards {
		if reward != nil {
			transient.setValue(state, new(big.Rat).Quo(reward, greatestReward))
		}
	}
	return greatestReward
}

// advanceTime replaces the value of each maybe state by its expected value after the given time: the mean value of the states that the chain
// can be in then. All other states are absorbing.
func (transient *preciseTransient) advanceTime(maybe *sparse.Set, time *big.Rat) error {
	zeroStates, oneStates := transient.certainStates(maybe)
	if err := transient.uniformise(maybe); err != nil {
		return err
	}
	hasTransitions := transient.rate.hi > 0
	if time.Sign() == 0 || !hasTransitions && transient.rewardRates == nil {
		return nil
	}
	if !hasTransitions { // only rewards accumulate
		copy(transient.values, transient.rewardRates)
		return nil
	}
	mean := newDoubleWord(new(big.Rat).Mul(transient.rate.fraction(), time))
	if !(mean.hi < 1<<53) {
		return tooManySteps(mean.hi, 1<<53)
	}
	if mean.hi >= doubleWordFloor { // the absolute error covers smaller means
		if err := transient.advanceBySteps(mean); err != nil {
			return err
		}
	}
	transient.zeroStates, transient.oneStates = zeroStates, oneStates
	return nil
}

// certainStates returns the states whose values stay exactly 0 and exactly 1 while the maybe states evolve.
func (transient *preciseTransient) certainStates(maybe *sparse.Set) (zeroStates, oneStates *sparse.Set) {
	if transient.rewardRates != nil {
		return transient.zeroStates, sparse.NewSet(len(transient.values))
	}
	zeroStates = transient.graph.ExistsUntil(maybe, transient.zeroStates.Complement()).Complement()
	oneStates = transient.graph.ExistsUntil(maybe, transient.oneStates.Complement()).Complement()
	return zeroStates, oneStates
}

// advanceBySteps replaces the values by their expectation after a Poisson-distributed number of steps with the given mean. It chooses the
// cheaper of two methods: single steps, or repeated squaring of the transition matrix of a short time.
func (transient *preciseTransient) advanceBySteps(mean doubleWord) (err error) {
	const sliceSteps = 300.0 // greatest number of steps in a slice of time; the mean is at most 1
	maxRow, terms := 0, 0
	for _, row := range transient.rows {
		maxRow, terms = max(maxRow, len(row)), terms+len(row)
	}
	numStates := len(transient.values)
	steps := mean.hi + 40*math.Sqrt(mean.hi) + sliceSteps
	squarings := max(0, math.Ilogb(mean.hi)+1) // each squaring doubles the slice
	stepWork := steps * float64(terms+numStates)
	squaringWork := float64(numStates) * (sliceSteps*float64(terms+numStates) + float64(squarings)*float64(numStates)*float64(numStates))
	isTooMuchWork := min(stepWork, squaringWork) > maxPreciseWork
	if isTooMuchWork {
		return fmt.Errorf("%w: the fastest rate times the time is %.3g, for which %d states take more than %.3g operations",
			ErrTooManySteps, mean.hi, numStates, float64(maxPreciseWork))
	}
	errPerStep := float64(maxRow+10)*(2+1/slack) + 8 // of the chain, and of the Poisson probability of the step
	if stepWork <= squaringWork {
		transient.relErr += doubleWordUnit * (steps*errPerStep + 1000)
		transient.values, err = transient.poissonMean(transient.values, 1, mean)
		return err
	}
	transient.relErr += doubleWordUnit * math.Ldexp(sliceSteps*errPerStep+1000+float64(numStates), squarings+1)
	return transient.advanceBySquaring(mean, squarings)
}

// maxPreciseWork limits the operations of advanceBySteps, to about ten seconds.
const maxPreciseWork = 1 << 30

// uniformise computes the uniformised chain: its rate, and the transition probabilities of each state. All states except the maybe states
// are absorbing.
func (transient *preciseTransient) uniformise(maybe *sparse.Set) error {
	rates, err := transient.weightRates()
	if err != nil {
		return err
	}
	numStates := transient.graph.NumStates()
	exitRates := make([]doubleWord, numStates)
	maxExitRate := doubleWord{}
	for state := range maybe.All() {
		exitRates[state] = transient.exitRate(state, rates)
		if exitRates[state].hi > maxExitRate.hi {
			maxExitRate = exitRates[state]
		}
	}
	transient.rate = maxExitRate.mul(doubleWord{1 + slack, 0})
	transient.rows = make([][]preciseTransition, len(transient.values))
	for state := range transient.rows {
		if state < numStates && maybe.Has(state) && transient.rate.hi > 0 {
			transient.rows[state] = transient.uniformRow(state, exitRates[state], rates)
		} else {
			transient.rows[state] = []preciseTransition{{state, doubleWord{1, 0}}}
		}
	}
	return nil
}

// weightRates converts the weights of the model to rates in double-word arithmetic. The error is ErrTooManySteps if a rate is out of range.
func (transient *preciseTransient) weightRates() ([]doubleWord, error) {
	rates := make([]doubleWord, len(transient.graph.Fractions))
	for i, fraction := range transient.graph.Fractions {
		rates[i] = newDoubleWord(fraction)
		if rates[i].hi < doubleWordFloor || rates[i].hi > 1/doubleWordFloor {
			return nil, fmt.Errorf("%w: found the rate %.4g, want one from 2^-900 to 2^900", ErrTooManySteps, rates[i].hi)
		}
	}
	return rates, nil
}

// exitRate returns the sum of the rates of a state, without self-loops. rates has the rate of each weight of the model.
func (transient *preciseTransient) exitRate(state int, rates []doubleWord) doubleWord {
	sum := doubleWord{}
	first, end := transient.graph.Transitions(state)
	for transition := first; transition < end; transition++ {
		if int(transient.graph.Target[transition]) != state {
			sum = sum.add(rates[transient.graph.WeightIndex[transition]])
		}
	}
	return sum
}

// uniformRow returns the transitions of a state in the uniformised chain. rates has the rate of each weight of the model.
func (transient *preciseTransient) uniformRow(state int, exitRate doubleWord, rates []doubleWord) []preciseTransition {
	graph := transient.graph
	row := []preciseTransition{{state, transient.rate.sub(exitRate).quo(transient.rate)}}
	first, end := graph.Transitions(state)
	for transition := first; transition < end; transition++ {
		if target := int(graph.Target[transition]); target != state {
			row = append(row, preciseTransition{target, rates[graph.WeightIndex[transition]].quo(transient.rate)})
		}
	}
	if transient.rewardRates != nil { // a transition to the additional state, which accumulates rewards
		row = append(row, preciseTransition{graph.NumStates(), transient.rewardRates[state]})
	}
	return row
}

// poissonMean returns the expectation of each column of values after a Poisson-distributed number of steps. values is a matrix with one row
// for each state, and mean is the mean number of steps.
func (transient *preciseTransient) poissonMean(values []doubleWord, columns int, mean doubleWord) ([]doubleWord, error) {
	firstNumber, weights := doubleWordPoisson(mean)
	nextValues, sum := make([]doubleWord, len(values)), make([]doubleWord, len(values))
	workPerStep := 0
	for _, row := range transient.rows {
		workPerStep += len(row) * columns * 4
	}
	lastNumber := firstNumber + len(weights) - 1
	for step := 0; step <= lastNumber; step++ {
		if step > 0 {
			transient.takeStep(values, nextValues, columns)
			values, nextValues = nextValues, values
			if err := transient.meter.addWork(workPerStep); err != nil {
				return nil, err
			}
		}
		if step >= firstNumber {
			addWeighted(sum, weights[step-firstNumber], values)
		}
	}
	for i := range sum {
		sum[i] = sum[i].flush()
	}
	return sum, nil
}

// takeStep writes to nextValues the values after one more step. values has a row for each state and the given number of columns.
func (transient *preciseTransient) takeStep(values, nextValues []doubleWord, columns int) {
	for state, row := range transient.rows {
		for column := range columns {
			nextValues[state*columns+column] = rowValue(row, values[column:], columns)
		}
	}
}

// rowValue returns the sum of prob * value over the given transitions. The value of state s is at index s*stride of values. A result below
// doubleWordFloor becomes 0.
func rowValue(row []preciseTransition, values []doubleWord, stride int) doubleWord {
	sum := doubleWord{}
	for _, transition := range row {
		if value := values[transition.target*stride]; value.hi > 0 {
			sum = sum.add(transition.prob.mul(value))
		}
	}
	return sum.flush()
}

// addWeighted adds weight times each positive value to the sums.
func addWeighted(sums []doubleWord, weight doubleWord, values []doubleWord) {
	for i, value := range values {
		if value.hi > 0 {
			sums[i] = sums[i].add(weight.mul(value))
		}
	}
}

// advanceBySquaring advances the values by the whole time, in which the mean number of steps is mean. It computes the transition matrix of a
// fraction 2^-squarings of the time, squares it this number of times, and multiplies it by the values.
func (transient *preciseTransient) advanceBySquaring(mean doubleWord, squarings int) error {
	numStates := len(transient.values)
	identity := make([]doubleWord, numStates*numStates)
	for state := range numStates {
		identity[state*numStates+state] = doubleWord{1, 0}
	}
	scale := math.Ldexp(1, -squarings)
	matrix, err := transient.poissonMean(identity, numStates, doubleWord{mean.hi * scale, mean.lo * scale})
	if err != nil {
		return err
	}
	for range squarings {
		if matrix, err = transient.squareOf(matrix); err != nil {
			return err
		}
	}
	values := make([]doubleWord, numStates)
	for state := range numStates {
		addWeightedValues(&values[state], matrix[state*numStates:(state+1)*numStates], transient.values)
	}
	transient.values = values
	return nil
}

// squareOf returns matrix * matrix. The matrix has one row and one column for each value.
func (transient *preciseTransient) squareOf(matrix []doubleWord) ([]doubleWord, error) {
	numStates := len(transient.values)
	product := make([]doubleWord, numStates*numStates)
	for state := range numStates {
		addRowProduct(product[state*numStates:(state+1)*numStates], matrix[state*numStates:(state+1)*numStates], matrix)
		if err := transient.meter.addWork(4 * numStates * numStates); err != nil {
			return nil, err
		}
	}
	return product, nil
}

// addRowProduct adds the vector row * matrix to result. Numbers below doubleWordFloor become 0.
func addRowProduct(result, row, matrix []doubleWord) {
	numStates := len(row)
	for middle, weight := range row {
		if weight.hi > 0 {
			addWeighted(result, weight, matrix[middle*numStates:(middle+1)*numStates])
		}
	}
	for i, value := range result {
		result[i] = value.flush()
	}
}

// addWeightedValues adds the products of weights and positive values to sum. A result below doubleWordFloor becomes 0.
func addWeightedValues(sum *doubleWord, weights, values []doubleWord) {
	for i, value := range values {
		if value.hi > 0 {
			*sum = sum.add(weights[i].mul(value))
		}
	}
	*sum = sum.flush()
}

// doubleWordPoisson returns the Poisson probabilities of the numbers firstNumber, firstNumber+1 and so on in double-word arithmetic. It
// omits numbers with a negligible probability.
func doubleWordPoisson(mean doubleWord) (firstNumber int, weights []doubleWord) {
	below, above := doubleWordPoissonTail(mean, -1), doubleWordPoissonTail(mean, +1)
	for _, weight := range slices.Backward(below) {
		weights = append(weights, weight)
	}
	weights = append(weights, doubleWord{1, 0}) // of the mode
	weights = append(weights, above...)
	sum := doubleWord{}
	for _, weight := range weights {
		sum = sum.add(weight)
	}
	for i, weight := range weights {
		weights[i] = weight.quo(sum)
	}
	return int(mean.hi) - len(below), weights
}

// doubleWordPoissonTail returns the Poisson weights beyond the mode in one direction (1 or -1), relative to the weight of the mode.
// It stops when a geometric series bounds the remaining weights by doubleWordFloor.
func doubleWordPoissonTail(mean doubleWord, direction int) (tail []doubleWord) {
	weight, sum := doubleWord{1, 0}, 1.0
	for number := int(mean.hi); ; number += direction {
		ratio := mean.quo(doubleWord{float64(number + 1), 0}) // weight of number+1 divided by weight of number
		if direction < 0 {
			ratio = doubleWord{float64(number), 0}.quo(mean)
		}
		if ratio.hi < 1 && weight.hi*ratio.hi/(1-ratio.hi) <= doubleWordFloor*sum {
			return tail
		}
		weight = weight.mul(ratio)
		sum += weight.hi
		tail = append(tail, weight)
	}
}

// bounds returns bounds on each value times factor, as float64. The bounds cover rounding errors, underflow, and the omitted Poisson
// probabilities.
func (transient *preciseTransient) bounds(factor *big.Rat) *Values {
	values := newValues(transient.graph.Model, Options{})
	if factor.Sign() == 0 {
		return values
	}
	// Multiply by the mantissa of the factor first, then by its power of two, because the factor may exceed the range of float64.
	mantissa := new(big.Float).SetRat(factor)
	exponent := mantissa.MantExp(nil)
	scaledFactor, _ := mantissa.SetMantExp(mantissa, -exponent).Float64()
	relErr := transient.relErr + 8*unitRoundoff // plus the rounding to one float64
	for state, value := range transient.values {
		middle := value.hi * scaledFactor
		values.Lower[state], values.Upper[state] = scaleBounds(max(0, middle*(1-relErr)), middle*(1+relErr)+transient.absErr, exponent)
	}
	values.setAll(transient.zeroStates, 0)
	if isOne(factor) {
		values.setAll(transient.oneStates, 1)
	}
	return values
}

// scaleBounds multiplies bounds by 2^exponent. It rounds subnormal results outwards.
func scaleBounds(lower, upper float64, exponent int) (float64, float64) {
	const minNormal = 0x1p-1022
	lower = min(math.Ldexp(lower, exponent), math.MaxFloat64)
	if lower < minNormal {
		lower = 0
	}
	return lower, max(math.Ldexp(upper, exponent), minNormal)
}
