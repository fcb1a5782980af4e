package solve

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"tilecheck/native/space/sparse"
)

// TimedUntil returns bounds on the probability of `left U right` with a time
// bound, in a CTMC.
//
// Source: Baier, Haverkort, Hermanns and Katoen, Model-checking algorithms for
// continuous-time Markov chains (2003); uniformisation, Jensen (1953).
func TimedUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, bound Interval, opts Options) (*Values, error) {
	return timedUntil(ctx, graph, left, right, bound, false, opts)
}

// NotTimedUntil returns bounds on the probability that `left U right` with a time bound does not hold, in a CTMC.
// Its digits are more precise than in 1 minus the probability of the formula.
func NotTimedUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, bound Interval, opts Options) (*Values, error) {
	return timedUntil(ctx, graph, left, right, bound, true, opts)
}

// timedUntil returns bounds on the probability of `left U right` within a time interval in a CTMC or, if isNegated is set, of its negation.
// It computes backwards: from the end of the interval to its start, and from there to time 0.
func timedUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, bound Interval, isNegated bool, opts Options) (*Values, error) {
	transient := newUniform(graph, nil, opts)
	valueIfMet, valueIfMissed := 1.0, 0.0
	if isNegated {
		valueIfMet, valueIfMissed = valueIfMissed, valueIfMet
	}
	var err error
	if bound.To.None() {
		transient.values, err = unboundedUntil(ctx, graph, left, right, isNegated, opts)
	} else {
		transient.values.setAll(right.Complement(), valueIfMissed)
		transient.values.setAll(right, valueIfMet)
		err = transient.setUntilBounds(ctx, left, right, bound.To.since(bound.From), isNegated)
	}
	if err != nil {
		return nil, err
	}
	if bound.From.High.Sign() > 0 {
		transient.values.setAll(left.Complement(), valueIfMissed)
		if err := transient.advanceTime(ctx, left, bound.From); err != nil {
			return nil, err
		}
	}
	transient.capUpper(1)
	return transient.values, nil
}

// unboundedUntil returns bounds on the probability of an until formula without an upper time bound, or of its negation.
func unboundedUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, isNegated bool, opts Options) (*Values, error) {
	if isNegated { // almost surely a chain reaches right, or a state from which the formula cannot hold
		left, right = right.Complement(), graph.Prob0A(left, right)
	}
	opts.Scheduler = false
	return Until(ctx, graph, left, right, Max, opts)
}

// TimedInstantReward returns bounds on the expected state reward at the given time.
func TimedInstantReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, time Time, opts Options) (*Values, error) {
	transient := newUniform(graph, reward, opts)
	rewards, scale := scaledRewards(reward.State, nil, graph.NumStates())
	for state, stateReward := range reward.State {
		transient.values.Lower[state], transient.values.Upper[state] = transient.rounding.rewardBounds(rewards[state])
		if stateReward > 0 {
			transient.values.Upper[state] = max(transient.values.Upper[state], transient.rounding.leastBound)
		}
	}
	if err := transient.advanceTime(ctx, sparse.FullSet(graph.NumStates()), time); err != nil {
		return nil, err
	}
	transient.values.divideByPowerOfTwo(scale)
	return transient.values, nil
}

// TimedCumulReward returns bounds on the expected reward up to the given time.
func TimedCumulReward(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, time Time, opts Options) (*Values, error) {
	transient := newUniform(graph, reward, opts)
	numStates := graph.NumStates()
	rewardedStates := sparse.NewSet(numStates)
	for state := range numStates {
		if valueAt(reward.State, state) > 0 || valueAt(reward.Choice, state) > 0 {
			rewardedStates.Add(state)
		}
	}
	rewardRates, scale := scaledRewards(reward.State, reward.Choice, numStates)
	if err := transient.accumulate(ctx, rewardRates, time); err != nil {
		return nil, err
	}
	transient.values.divideByPowerOfTwo(scale)
	transient.values.setAll(graph.ExistsUntil(sparse.FullSet(numStates), rewardedStates).Complement(), 0)
	return transient.values, nil
}

// scaledRewards returns the sum of the state reward and the choice reward of each state of a chain, multiplied by 2^scale. The scale is at
// most 0, so that products with rates cannot overflow. A nil list stands for zeros.
func scaledRewards(stateReward, choiceReward []float64, numStates int) (sums []float64, scale int) {
	const maxExponent = 100
	greatest := 0.0
	for _, reward := range slices.Concat(stateReward, choiceReward) {
		greatest = max(greatest, reward)
	}
	if greatest > math.Ldexp(1, maxExponent) {
		scale = maxExponent - math.Ilogb(greatest)
	}
	sums = make([]float64, numStates)
	for state, reward := range stateReward {
		sums[state] = math.Ldexp(reward, scale)
	}
	for state, reward := range choiceReward {
		sums[state] += math.Ldexp(reward, scale)
	}
	return sums, scale
}

// divideByPowerOfTwo divides all bounds by 2^scale. A lower bound that overflows becomes the greatest float64.
func (values *Values) divideByPowerOfTwo(scale int) {
	if scale == 0 {
		return
	}
	for state := range values.Lower {
		values.Lower[state] = min(math.Ldexp(values.Lower[state], -scale), math.MaxFloat64)
		values.Upper[state] = math.Ldexp(values.Upper[state], -scale)
	}
}

// uniformisation is a CTMC seen as a DTMC whose steps come at the same rate in every state.
//
// Source: Jensen (1953).
type uniformisation struct {
	graph    *sparse.Graph
	rounding rounding
	values   *Values
	opts     Options
	// The following fields belong to the current maybe states. prepare sets them.
	uniformRate   float64 // uniformisation rate
	maybeStates   []uint32
	stayProbs     []float64 // of each state: the probability that a step stays in it
	stepProbs     []float64 // of each weight: its probability in one step
	relErrPerStep float64   // relative error of one step
	lossPerStep   float64   // greatest absolute loss of a step because a value is below the floor
	stepsTaken    float64   // number of steps taken
	skippedErr    float64   // relative error of the skipped steps
	hasUnderflow  bool      // whether a value fell below the floor in the last step
	// isForward says that steps compute a distribution forwards. Then later values are not means of earlier ones.
	isForward bool
	// hasEscaped reports, for the sums of the terms so far, whether too much of the probability has left the explored states; nil if all states are
	// explored. weightedSum then ends with an escapeError.
	hasEscaped func(sums []float64) bool
}

// newUniform returns a solver for time-bounded properties of a CTMC by uniformisation. It has no exit rates yet.
func newUniform(graph *sparse.Graph, reward *sparse.Reward, opts Options) *uniformisation {
	opts.Scheduler = false
	numStates := graph.NumStates()
	return &uniformisation{
		graph: graph, rounding: newRounding(graph.Model, reward), values: newValues(graph.Model, opts), opts: opts,
		stayProbs: make([]float64, numStates),
	}
}

// capUpper limits all upper bounds.
func (uniform *uniformisation) capUpper(limit float64) {
	for state, upper := range uniform.values.Upper {
		uniform.values.Upper[state] = min(upper, limit)
	}
}

// slack is the relative difference of the uniformisation rate to the greatest exit rate. The probability to stay is then
// at least about slack in every state, so it has a relative error of at most 1/slack times the error of the rates.
const slack = 0.05

// prepare sets the maybe states, the uniformisation rate, and the probabilities of a uniformised step: stayProbs of each maybe state, and
// stepProbs of each weight.
func (uniform *uniformisation) prepare(maybe *sparse.Set) {
	maxExitRate, maxRow := 0.0, 0
	numMaybe := maybe.Count()
	uniform.maybeStates = slices.Grow(uniform.maybeStates[:0], numMaybe)
	exitRates := make([]doubleWord, 0, numMaybe) // of the maybe states
	for state := range maybe.All() {
		exitRate := uniform.exitRate(state)
		uniform.maybeStates = append(uniform.maybeStates, uint32(state))
		exitRates = append(exitRates, exitRate)
		first, end := uniform.graph.Transitions(state)
		maxExitRate, maxRow = max(maxExitRate, exitRate.hi), max(maxRow, end-first)
	}
	uniform.uniformRate = maxExitRate * (1 + slack)
	uniform.relErrPerStep = uniform.stepErr(maxRow)
	uniform.lossPerStep, uniform.stepsTaken, uniform.skippedErr = 0, 0, 0
	for index, state := range uniform.maybeStates {
		stayRate := doubleWord{hi: uniform.uniformRate}.sub(exitRates[index])
		uniform.stayProbs[state] = stayRate.hi / uniform.uniformRate
	}
	uniform.stepProbs = uniform.stepProbs[:0]
	for _, weight := range uniform.graph.Weights {
		uniform.stepProbs = append(uniform.stepProbs, weight/uniform.uniformRate)
	}
}

// exitRate returns the sum of the rates of a state without self-loops, in double-word arithmetic.
func (uniform *uniformisation) exitRate(state int) doubleWord {
	var sum doubleWord
	first, end := uniform.graph.Transitions(state)
	for transition := first; transition < end; transition++ {
		if int(uniform.graph.Target[transition]) != state {
			sum = sum.add(doubleWord{hi: uniform.graph.Prob(transition)})
		}
	}
	return sum
}

// stepErr returns the relative error of a step in a chain with at most maxRow transitions from each state. The probability to stay
// amplifies the error of the rates.
func (uniform *uniformisation) stepErr(maxRow int) float64 {
	return wideErrMargin * (uniform.rounding.relErr*(1+1/slack) + float64(maxRow+8)*unitRoundoff)
}

// step computes one uniformised step backwards for the maybe states: from the values after the step it computes nextValues, the values before the
// step. It reports whether any value changed.
func (uniform *uniformisation) step(values, nextValues []float64, meter *meter) (changed bool, err error) {
	const blockSize = 1 << 16
	uniform.hasUnderflow = false
	for from := 0; from < len(uniform.maybeStates); from += blockSize {
		states := uniform.maybeStates[from:min(from+blockSize, len(uniform.maybeStates))]
		changedInBlock, hasUnderflow := uniform.stepInParallel(states, values, nextValues)
		changed = changed || changedInBlock
		if hasUnderflow {
			uniform.hasUnderflow, uniform.lossPerStep = true, uniform.rounding.leastBound
		}
		// An estimate: rows have about the mean length.
		if err := meter.addWork(len(states) * (1 + len(uniform.graph.Target)/len(uniform.stayProbs))); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// stepInParallel computes one uniformised step of the given states in parallel: nextValues from values. changed says that a value changed, and
// hasUnderflow that a positive value below leastBound became 0.
func (uniform *uniformisation) stepInParallel(states []uint32, values, nextValues []float64) (changed, hasUnderflow bool) {
	var anyChanged, anyUnderflow atomic.Bool
	inParallelParts(len(states), minStatesPerPart, func(from, to int) {
		partChanged, partUnderflow := uniform.stepBlock(states[from:to], values, nextValues)
		if partChanged {
			anyChanged.Store(true)
		}
		if partUnderflow {
			anyUnderflow.Store(true)
		}
	})
	return anyChanged.Load(), anyUnderflow.Load()
}

// stepBlock computes one uniformised step of the given states: nextValues from values. changed says that a value changed, and hasUnderflow that a
// positive value below leastBound became 0.
func (uniform *uniformisation) stepBlock(states []uint32, values, nextValues []float64) (changed, hasUnderflow bool) {
	starts := uniform.graph.FirstTransition
	targets := uniform.graph.Target
	weightIDs := uniform.graph.WeightIndex
	prob := uniform.stepProbs
	floor := uniform.rounding.leastBound
	for _, state := range states {
		sum := uniform.stayProbs[state] * values[state]
		for i, end := starts[state], starts[state+1]; i < end; i++ {
			if targetState := targets[i]; targetState != state {
				sum += prob[weightIDs[i]] * values[targetState]
			}
		}
		if sum < floor && sum > 0 {
			hasUnderflow, sum = true, 0
		}
		nextValues[state] = sum
		changed = changed || sum != values[state]
	}
	return changed, hasUnderflow
}

// checkInterval is the number of steps between two checks whether later steps can be skipped: so many that the checks
// cost nothing.
const checkInterval = 64

// canSkipEqualValues reports whether all values are so close to each other that later steps change them by a negligible amount. If so, it
// raises uniform.skippedErr to the relative error of skipping these steps.
func (uniform *uniformisation) canSkipEqualValues(values []float64) bool {
	if uniform.isForward {
		return false
	}
	// After any number of steps, each value is between the minimum and the maximum.
	minimum, maximum := slices.Min(values), slices.Max(values)
	const errorShare, margin = 1.0 / 8, 1.01 // margin is for the rounding of the error itself
	isNarrow := minimum > 0 && maximum-minimum <= minimum*uniform.opts.epsilon()*errorShare
	if isNarrow {
		uniform.skippedErr = max(uniform.skippedErr, margin*(maximum-minimum)/minimum)
	}
	return isNarrow
}

// advanceTime replaces the bounds of each maybe state by bounds on its expected value after the given time. The other states are absorbing and
// keep their values.
func (uniform *uniformisation) advanceTime(ctx context.Context, maybe *sparse.Set, time Time) error {
	uniform.prepare(maybe)
	if time.High.Sign() == 0 || uniform.uniformRate == 0 {
		return nil
	}
	distribution, err := uniform.poissonSteps(ctx, time)
	if err != nil {
		return err
	}
	zeroStates, oneStates := uniform.values.statesWithCertainValue(uniform.graph, maybe, sparse.FullSet(uniform.graph.NumStates()))
	lowerMean, upperMean, err := uniform.meanBounds(ctx, distribution)
	if err != nil {
		return err
	}
	maxUpper := max(0, slices.Max(uniform.values.Upper))
	relErr := compound(distribution.relErr + uniform.relErrPerStep*(uniform.stepsTaken+1) + unitRoundoff*float64(len(distribution.weights)+4) + uniform.skippedErr)
	absErr := errMargin*distribution.truncatedProb*maxUpper + uniform.lossPerStep*(uniform.stepsTaken+1)
	for state := range maybe.All() {
		uniform.values.Lower[state] = uniform.rounding.roundDown(lowerMean[state], relErr)
		uniform.values.Upper[state] = max(uniform.rounding.roundUp(upperMean[state], relErr)+absErr, uniform.rounding.leastBound)
	}
	uniform.values.setAll(zeroStates, 0)
	uniform.values.setAll(oneStates, 1)
	return nil
}

// meanBounds returns the means of the lower and of the upper bounds after a Poisson-distributed number of steps.
func (uniform *uniformisation) meanBounds(ctx context.Context, distribution *poisson) (lowerMean, upperMean []float64, err error) {
	upperMean, err = uniform.poissonMean(ctx, uniform.values.Upper, distribution)
	if err != nil || slices.Equal(uniform.values.Lower, uniform.values.Upper) {
		return upperMean, upperMean, err
	}
	lowerMean, err = uniform.poissonMean(ctx, uniform.values.Lower, distribution)
	return lowerMean, upperMean, err
}

// compound bounds the relative error of a product of many factors by the sum of their errors. The sum need not be small.
func compound(sum float64) float64 { return math.Expm1(errMargin * sum) }

// poissonSteps returns the Poisson distribution of the number of uniformised steps in a time. The error is ErrTooManySteps if the mean is
// too large, or ErrTime if too few digits of the time are known.
func (uniform *uniformisation) poissonSteps(ctx context.Context, time Time) (*poisson, error) {
	mean, relErr, err := uniform.meanSteps(time)
	if err != nil {
		return nil, err
	}
	if !(mean < maxSteps) {
		return nil, tooManySteps(mean, maxSteps)
	}
	// The computed mean must be so precise that its mode and its bounds on the truncated weights hold for the true mean.
	const maxAbsErr = 0x1p-18
	if !(relErr*max(mean, 1) < maxAbsErr) {
		return nil, ErrTime
	}
	maxOmitted := truncation
	if uniform.opts.epsilon() < DefaultEpsilon { // values may be small
		maxOmitted = fineTruncation
	}
	return newPoisson(ctx, mean, relErr, maxOmitted)
}

// poissonMean returns the mean of the values after a Poisson-distributed number of steps.
func (uniform *uniformisation) poissonMean(ctx context.Context, values []float64, distribution *poisson) ([]float64, error) {
	return uniform.weightedSum(ctx, values, distribution, 0, distribution.weights)
}

// poissonTotal returns the mean of the sum of values over a Poisson-distributed number of steps.
func (uniform *uniformisation) poissonTotal(ctx context.Context, values []float64, distribution *poisson) ([]float64, error) {
	return uniform.weightedSum(ctx, values, distribution, 1, distribution.tailProbs())
}

// weightedSum returns the weighted sum of the values after 0, 1, ..., distribution.lastNumber() uniformised steps. The values after k steps have
// the weight weights[k-firstNumber], or flatWeight if k < firstNumber. Steps that change little are skipped.
func (uniform *uniformisation) weightedSum(ctx context.Context, values []float64, distribution *poisson, flatWeight float64, weights []float64) ([]float64, error) {
	meter := newStepMeter(ctx, uniform.opts, distribution.lastNumber())
	values = slices.Clone(values)
	nextValues, sums := slices.Clone(values), make([]float64, len(values))
	for step := 0; ; step++ {
		weight := flatWeight
		if step >= distribution.firstNumber {
			weight = weights[step-distribution.firstNumber]
		}
		isLast := step == distribution.lastNumber()
		if !isLast {
			changed, err := uniform.step(values, nextValues, meter)
			if err != nil {
				return nil, err
			}
			remaining := remainingWeights{flatWeight, max(0, distribution.firstNumber-step), weights[max(0, step-distribution.firstNumber):]}
			if remainingWeight, ok := uniform.weightOfRemaining(step, changed, values, nextValues, sums, remaining); ok {
				weight, isLast = remainingWeight, true
			}
		}
		uniform.addWeighted(sums, weight, values)
		uniform.stepsTaken = max(uniform.stepsTaken, float64(step))
		meter.progress.Done = step
		if isLast {
			return sums, nil
		}
		isCheck := step < checkInterval || step%checkInterval == 0
		if uniform.hasEscaped != nil && isCheck && uniform.hasEscaped(sums) {
			return nil, &escapeError{stepShare: float64(step) / float64(distribution.lastNumber())}
		}
		values, nextValues = nextValues, values
	}
}

// addWeighted adds weight * values[state] to sums[state] for each maybe state.
func (uniform *uniformisation) addWeighted(sums []float64, weight float64, values []float64) {
	if !(weight > 0) {
		return
	}
	const minPart = 1 << 14 // states, for each of which little is done
	inParallelParts(len(uniform.maybeStates), minPart, func(from, to int) {
		for _, state := range uniform.maybeStates[from:to] {
			sums[state] += weight * values[state]
		}
	})
}

// weightOfRemaining tries to replace all remaining terms of a weighted sum by one multiple of the current values, and returns the weight of this
// multiple. ok is false if that is too imprecise. nextValues has the values after one more step, and changed says that they differ from values. sums has
// the sums of the earlier terms.
func (uniform *uniformisation) weightOfRemaining(step int, changed bool, values, nextValues, sums []float64, remaining remainingWeights) (weight float64, ok bool) {
	isCheck := !changed || step%checkInterval == 0
	if isCheck && uniform.canSkipEqualValues(values) {
		weight, _ = remaining.weightedSum(1)
		return weight, true
	}
	if !changed { // all later steps have the same values, and each adds the same rounding error
		uniform.stepsTaken = float64(step + remaining.flatSteps + len(remaining.weights) - 1)
		weight, _ = remaining.weightedSum(1)
		return weight, true
	}
	return uniform.extrapolate(step, values, nextValues, sums, remaining)
}

// accumulate computes bounds on the expected reward within a time, and stores them as the values. rewardRates has the reward per unit of
// time in each state.
func (uniform *uniformisation) accumulate(ctx context.Context, rewardRates []float64, time Time) error {
	uniform.prepare(sparse.FullSet(len(rewardRates)))
	if time.High.Sign() == 0 {
		return nil
	}
	if uniform.uniformRate == 0 {
		uniform.accumulateWithoutSteps(rewardRates, time)
		return nil
	}
	distribution, err := uniform.poissonSteps(ctx, time)
	if err != nil {
		return err
	}
	sums, err := uniform.poissonTotal(ctx, rewardRates, distribution)
	if err != nil {
		return err
	}
	maxReward := max(0, slices.Max(rewardRates))
	// The sum has one positive term for each step. The weight of the last term is a sum of up to len(distribution.weight) terms.
	relErr := uniform.totalErr(distribution) + uniform.rounding.relErr
	absErr := errMargin*(distribution.truncatedExcess+distribution.truncatedProb*float64(len(distribution.weights)))*maxReward + uniform.underflowLoss(distribution)
	for state := range sums {
		uniform.values.Lower[state] = uniform.rounding.roundDown(sums[state]/uniform.uniformRate, relErr)
		uniform.values.Upper[state] = max(uniform.rounding.roundUp(sums[state]/uniform.uniformRate, relErr)+absErr/uniform.uniformRate, uniform.rounding.leastBound)
	}
	return nil
}

// accumulateWithoutSteps sets the values to bounds on the reward in the given time, for a chain in which no state is ever left.
func (uniform *uniformisation) accumulateWithoutSteps(rewardRates []float64, time Time) {
	relErr := 3*unitRoundoff + uniform.rounding.relErr
	for state, rate := range rewardRates {
		uniform.values.Lower[state] = uniform.rounding.roundDown(timesRat(rate, time.Low), relErr)
		uniform.values.Upper[state] = max(uniform.rounding.roundUp(timesRat(rate, time.High), relErr), uniform.rounding.leastBound)
	}
}

// totalErr bounds the relative error of poissonTotal.
func (uniform *uniformisation) totalErr(distribution *poisson) float64 {
	steps := uniform.stepsTaken + 1
	sumErr := unitRoundoff * (steps + float64(len(distribution.weights)) + 8)
	return compound(distribution.relErr + uniform.relErrPerStep*steps + sumErr + uniform.skippedErr)
}

// underflowLoss bounds the sum of the values that poissonTotal loses below the floor.
func (uniform *uniformisation) underflowLoss(distribution *poisson) float64 {
	return uniform.lossPerStep * (uniform.stepsTaken + 1) * float64(distribution.lastNumber()+1)
}

// absorptionWithin computes bounds on the probability to reach right within a time, and stores them as the values of the maybe states.
func (uniform *uniformisation) absorptionWithin(ctx context.Context, maybe, right *sparse.Set, time Time) error {
	distribution, err := uniform.poissonSteps(ctx, time)
	if err != nil {
		return err
	}
	zeroStates, oneStates := uniform.values.statesWithCertainValue(uniform.graph, maybe, sparse.FullSet(uniform.graph.NumStates()))
	// The probability is the sum over all k of the probability to reach right in step k, times the probability of at least k steps.
	sums, err := uniform.poissonTotal(ctx, uniform.stepProbabilities(right), distribution)
	if err != nil {
		return err
	}
	relErr := uniform.totalErr(distribution)
	// The probabilities of the steps sum to at most 1, and their tail probabilities have the truncation error of the distribution.
	absErr := 2*errMargin*distribution.truncatedProb + uniform.underflowLoss(distribution)
	for state := range maybe.All() {
		uniform.values.Lower[state] = uniform.rounding.roundDown(sums[state], relErr)
		uniform.values.Upper[state] = max(uniform.rounding.roundUp(sums[state], relErr)+absErr, uniform.rounding.leastBound)
	}
	uniform.values.setAll(zeroStates, 0)
	uniform.values.setAll(oneStates, 1)
	return nil
}

// stepProbabilities returns, for each maybe state, the probability that its next uniformised step leads to one of the given states.
func (uniform *uniformisation) stepProbabilities(states *sparse.Set) []float64 {
	probs := make([]float64, uniform.graph.NumStates())
	for _, state := range uniform.maybeStates {
		first, end := uniform.graph.Transitions(int(state))
		for transition := first; transition < end; transition++ {
			if states.Has(int(uniform.graph.Target[transition])) {
				probs[state] += uniform.stepProbs[uniform.graph.WeightIndex[transition]]
			}
		}
	}
	return probs
}
