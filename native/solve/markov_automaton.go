package solve

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"

	"tilecheck/native/space/sparse"
)

// Rates are bounds on the exit rate of each state of a Markov automaton. Both are 0 for an immediate
// state, in which no time passes.
type Rates struct{ Low, High []float64 }

// ErrRates says that an exit rate is unknown, too imprecise, or out of the range of float64.
var ErrRates = errors.New("the rate of a state is unknown, too imprecise, or out of the range of float64")

// ErrImmediate says that several immediate states form a cycle that no scheduler can stay in forever.
var ErrImmediate = errors.New("several immediate states (in which no time passes) form a cycle that is left by chance")

// MarkovUntil returns bounds on the minimal or maximal probability of `left U right` within a time, for a Markov automaton
// with the embedded MDP graph. Schedulers may depend on the time.
//
// The time is cut into pieces, which are solved backwards. Schedulers that count the steps of a piece and schedulers that know the
// number of steps in advance bound the optimum from both sides. A piece that widens the bounds too much is halved.
//
// Source: Butkova, Hatefi, Hermanns and Krcal, Optimal Continuous Time Control (Unif+), ATVA 2015, for one piece; they raise
// the uniformisation rate instead of cutting the time.
func MarkovUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, direction Direction, opts Options) (*Values, error) {
	values, err := markovUntil(ctx, graph, left, right, rates, time, direction, opts)
	if errors.Is(err, ErrImmediate) {
		return markovUntilOfQuotient(ctx, graph, left, right, rates, time, direction, opts)
	}
	return values, err
}

// markovUntil computes time-bounded until probabilities of a Markov automaton. The error is ErrImmediate if several immediate states form a
// cycle.
func markovUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, direction Direction, opts Options) (*Values, error) {
	automaton, err := newMarkovAutomaton(ctx, graph, left, right, rates, time, direction, opts)
	if err != nil {
		return nil, err
	}
	return automaton.narrowBounds(ctx, time)
}

// narrowBounds computes bounds until they are as narrow as wanted, or until this takes too much work.
func (automaton *markovAutomaton) narrowBounds(ctx context.Context, time Time) (*Values, error) {
	if automaton.values.Converged {
		return automaton.values, nil
	}
	// The first pass takes the whole time as one piece. A later pass divides the time into pieces such that their errors together stay below
	// allowedWidening, which is 1/32 of the width of the bounds before.
	epsilon := automaton.opts.epsilon()
	allowedWidening := math.Inf(1)
	for {
		isFinished, err := automaton.computeBounds(ctx, time, allowedWidening)
		if err != nil {
			return nil, err
		}
		width, minUpper := automaton.width()
		if width <= epsilon*minUpper {
			automaton.values.Converged = true
			return automaton.values, nil
		}
		const uselessPart = 1e-3 // the part of the wanted width below which shorter pieces are useless, because other errors dominate
		if !isFinished || allowedWidening < uselessPart*epsilon*minUpper {
			return automaton.values, nil
		}
		allowedWidening = min(allowedWidening, max(width, epsilon*minUpper)) / 32
	}
}

// markovAutomaton is a uniformised Markov automaton.
type markovAutomaton struct {
	uniformisation
	direction       Direction
	immediateStates []uint32    // the immediate maybe states, each after its successors
	decidingStates  []uint32    // those with several choices or transitions, or a reward; the others have the value of their only successor
	targets         []uint32    // the targets of the graph's transitions, with a state that is not deciding replaced by its successor
	hasChoices      bool        // an immediate state has several choices
	leaveProb       []float64   // of each state: the probability to leave it in one uniformised step
	immediateRelErr float64     // relative error of the values of immediate states
	zeroTimeTargets *sparse.Set // states that reach right before any time passes
	finalValues     *Values     // bounds on the values when no time remains; nil if these are 1 for zeroTimeTargets and 0 for others
	maxValue        float64     // no value is greater
	choiceRewards   []float64   // of each choice: its reward and that of its state; nil for none
	maxStepReward   float64     // no uniformised step, with the immediate states that follow, has a greater mean reward
	numTransitions  int         // of maybe states
	meter           *meter
}

// newMarkovAutomaton prepares the computation of the probability of `left U right` within a time. It sets the values that graph analysis shows to be 0 or 1.
// If this decides all values, it sets values.Converged.
func newMarkovAutomaton(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, direction Direction, opts Options) (*markovAutomaton, error) {
	automaton, immediate, rateRelErr, err := newUniformisedAutomaton(ctx, graph, rates, direction, opts)
	if err != nil {
		return nil, err
	}
	canContinue := left
	if time.High.Sign() == 0 {
		canContinue = left.Intersect(immediate)
	}
	prob01, err := computeProb01(ctx, graph, canContinue, right, direction) // its zeroStates never reach right, however much time passes
	if err != nil {
		return nil, err
	}
	withoutTime, err := computeProb01(ctx, graph, left.Intersect(immediate), right, direction) // its oneStates almost surely reach right in time 0
	if err != nil {
		return nil, err
	}
	automaton.zeroTimeTargets = withoutTime.oneStates.Union(right)
	automaton.values.setAll(automaton.zeroTimeTargets, 1)
	maybe := canContinue.Minus(prob01.zeroStates).Minus(automaton.zeroTimeTargets)
	automaton.values.Converged = maybe.Empty()
	return automaton, automaton.prepareSteps(maybe, immediate, rates, rateRelErr)
}

// newUniformisedAutomaton returns an automaton whose uniformisation rate is known, its immediate states, and a bound on the relative error of its
// rates.
func newUniformisedAutomaton(ctx context.Context, graph *sparse.Graph, rates Rates, direction Direction, opts Options) (automaton *markovAutomaton, immediate *sparse.Set, rateRelErr float64, err error) {
	automaton = &markovAutomaton{uniformisation: *newUniform(graph, nil, opts), direction: direction, maxValue: 1, leaveProb: make([]float64, graph.NumStates()), meter: newMeter(ctx, opts, 0)}
	immediate, rateRelErr, err = automaton.chooseRate(rates)
	return automaton, immediate, rateRelErr, err
}

// prepareSteps prepares the steps of the maybe states. The error is ErrImmediate if several immediate ones form a cycle.
func (automaton *markovAutomaton) prepareSteps(maybe, immediate *sparse.Set, rates Rates, rateRelErr float64) error {
	automaton.uniformise(maybe, immediate, rates)
	maxRow := longestRow(automaton.graph)
	if err := automaton.sortImmediate(maybe.Intersect(immediate), maxRow); err != nil {
		return err
	}
	automaton.relErrPerStep = wideErrMargin*(float64(maxRow+8)*unitRoundoff+automaton.rounding.relErr+rateRelErr)*(1+1/slack) + automaton.immediateRelErr
	return nil
}

// uniformise sets, for each timed maybe state, the probabilities to leave it and to stay in it in one uniformised step. It sets the upper
// bounds of all maybe states to maxValue.
func (automaton *markovAutomaton) uniformise(maybe, immediate *sparse.Set, rates Rates) {
	for state := range maybe.Minus(immediate).All() {
		automaton.maybeStates = append(automaton.maybeStates, uint32(state))
		automaton.leaveProb[state] = rates.Low[state] / automaton.uniformRate
		automaton.stayProbs[state] = (automaton.uniformRate - rates.Low[state]) / automaton.uniformRate
	}
	for state := range maybe.All() {
		automaton.values.Upper[state] = automaton.maxValue
		first, end := automaton.graph.Choices(state)
		automaton.numTransitions += int(automaton.graph.FirstTransition[end]-automaton.graph.FirstTransition[first]) + 1
	}
}

// longestRow returns the greatest number of transitions of a choice.
func longestRow(graph *sparse.Graph) int {
	longest := 0
	for choice := range graph.NumChoices() {
		first, end := graph.Transitions(choice)
		longest = max(longest, end-first)
	}
	return longest
}

// chooseRate sets the uniformisation rate to slightly more than the greatest exit rate. It returns the immediate states, which have the exit rate 0. It also
// returns the greatest relative error of an exit rate, because rates are known by bounds only. The error is ErrRates if a rate is out of range or too
// imprecise, or if a state with an exit rate has several choices.
func (automaton *markovAutomaton) chooseRate(rates Rates) (immediate *sparse.Set, rateRelErr float64, err error) {
	immediate = sparse.NewSet(automaton.graph.NumStates())
	maxExitRate := 0.0
	for state := range automaton.graph.NumStates() {
		lower, upper := rates.Low[state], rates.High[state]
		first, end := automaton.graph.Choices(state)
		switch {
		case lower == 0 && upper == 0:
			immediate.Add(state)
			continue
		case !sparse.InRange(lower) || !sparse.InRange(upper) || end != first+1:
			return nil, 0, ErrRates
		}
		rateRelErr = max(rateRelErr, (upper-lower)/lower)
		maxExitRate = max(maxExitRate, upper)
	}
	const maxRateErr = 0x1p-20
	if !(rateRelErr < maxRateErr) { // the bounds are too wide, or rateRelErr is NaN
		return nil, 0, ErrRates
	}
	automaton.uniformRate = maxExitRate * (1 + slack)
	return immediate, rateRelErr, nil
}

// sortImmediate sorts the immediate states so that each one comes after its successors, and bounds the relative error of their values. The error is
// ErrImmediate if several immediate states form a cycle.
func (automaton *markovAutomaton) sortImmediate(states *sparse.Set, maxRow int) error {
	components := automaton.graph.Components(states, nil)
	depths := make([]int, automaton.graph.NumStates())
	deepest := 0
	for i := range components.Num() {
		members := components.Members(i)
		if len(members) > 1 {
			return ErrImmediate
		}
		state := members[0]
		first, end := automaton.graph.Choices(int(state))
		for _, target := range automaton.graph.Target[automaton.graph.FirstTransition[first]:automaton.graph.FirstTransition[end]] {
			if target != state {
				depths[state] = max(depths[state], depths[target]+1)
			}
		}
		deepest = max(deepest, depths[state])
		automaton.immediateStates = append(automaton.immediateStates, state)
		automaton.hasChoices = automaton.hasChoices || end != first+1
	}
	automaton.replaceTargets()
	// The value of a state takes sums over two rows and a division by the probability of leaving it. The margin covers products of errors.
	const operationsPerChoice, margin = 8, 1.05
	errPerState := float64(2*maxRow+operationsPerChoice)*unitRoundoff + 2*automaton.rounding.relErr
	automaton.immediateRelErr = margin * float64(deepest+1) * errPerState
	return nil
}

// replaceTargets finds the immediate states that have several choices or transitions, or a reward: the deciding states. Every other immediate state has the
// value of its only successor, which replaces it as a target of transitions.
func (automaton *markovAutomaton) replaceTargets() {
	graph := automaton.graph
	successors := make(map[uint32]uint32)
	for _, state := range automaton.immediateStates {
		choice, endChoice := graph.Choices(int(state))
		first, end := graph.Transitions(choice)
		if endChoice != choice+1 || end != first+1 || graph.Prob(first) != 1 || graph.Target[first] == state || automaton.rewardOf(choice) > 0 {
			automaton.decidingStates = append(automaton.decidingStates, state)
			continue
		}
		successor := graph.Target[first]
		if next, ok := successors[successor]; ok {
			successor = next
		}
		successors[state] = successor
	}
	automaton.targets = graph.Target
	if len(successors) == 0 {
		return
	}
	automaton.targets = slices.Clone(graph.Target)
	for transition, target := range graph.Target {
		if successor, ok := successors[target]; ok {
			automaton.targets[transition] = successor
		}
	}
}

// rewardOf returns the reward of a choice and its state.
func (automaton *markovAutomaton) rewardOf(choice int) float64 {
	if automaton.choiceRewards == nil {
		return 0
	}
	return automaton.choiceRewards[choice]
}

// optimizeImmediate sets the values of immediate states, of which each follows its successors, to the optimum over their choices. Rewards count times
// rewardFactor.
func (automaton *markovAutomaton) optimizeImmediate(states []uint32, values []float64, rewardFactor float64) {
	for _, state := range states {
		first, end := automaton.graph.Choices(int(state))
		bestValue := 0.0
		for choice := first; choice < end; choice++ {
			value := automaton.immediateValue(state, choice, values, rewardFactor)
			if choice == first || isBetter(value, bestValue, automaton.direction != Max) {
				bestValue = value
			}
		}
		values[state] = bestValue
	}
}

// immediateValue returns the value of a choice of an immediate state: its reward until the state is left, and the mean value of its targets other than
// the state. It is 0 if all targets are the state and there is no reward.
func (automaton *markovAutomaton) immediateValue(state uint32, choice int, values []float64, rewardFactor float64) float64 {
	sum, leaveProb, hasLoop := rewardFactor*automaton.rewardOf(choice), 0.0, false
	first, end := automaton.graph.Transitions(choice)
	for transition := first; transition < end; transition++ {
		if automaton.targets[transition] == state {
			hasLoop = true
			continue
		}
		prob := automaton.graph.Prob(transition)
		sum += prob * values[automaton.targets[transition]]
		leaveProb += prob
	}
	if hasLoop && leaveProb > 0 {
		return sum / leaveProb
	}
	return sum
}

// stepTimed computes the value of each timed maybe state before one uniformised step, and writes it to nextValues. values has the values after
// the step. Rewards count times rewardFactor.
func (automaton *markovAutomaton) stepTimed(values, nextValues []float64, rewardFactor float64) error {
	graph := automaton.graph
	inParallelParts(len(automaton.maybeStates), minStatesPerPart, func(from, to int) {
		for _, state := range automaton.maybeStates[from:to] {
			choice := graph.FirstTransition[state]
			if graph.FirstChoice != nil {
				choice = graph.FirstChoice[state]
			}
			sum := rewardFactor * automaton.rewardOf(int(choice))
			for i, end := graph.FirstTransition[choice], graph.FirstTransition[choice+1]; i < end; i++ {
				sum += graph.Prob(int(i)) * values[automaton.targets[i]]
			}
			nextValues[state] = automaton.leaveProb[state]*sum + automaton.stayProbs[state]*values[state]
		}
	})
	return automaton.meter.addWork(automaton.numTransitions)
}

// maxMarkovWork limits the transitions that are evaluated to make the bounds tighter.
const maxMarkovWork = 1 << 32

// timeBits says how finely the time is cut: the whole time has 2^timeBits units, and the length of a piece in units is a power
// of two.
const timeBits = 40

// computeBounds divides the time into pieces that are so short that they widen the bounds by at most allowedWidening in total, and tightens the stored
// bounds with the result. finished is false if this takes too much work.
func (automaton *markovAutomaton) computeBounds(ctx context.Context, time Time, allowedWidening float64) (finished bool, err error) {
	lower, upper := automaton.valuesAtEnd()
	if automaton.hasChoices || automaton.uniformRate == 0 || time.High.Sign() == 0 { // otherwise boundsBeforePiece counts this error
		automaton.widen(lower, upper, automaton.immediateRelErr, 0)
	}
	if automaton.uniformRate == 0 || time.High.Sign() == 0 {
		automaton.tighten(lower, upper)
		return true, nil
	}
	mean, meanErr, err := automaton.meanSteps(time)
	switch {
	case err != nil:
		return false, err
	case !(mean < maxStableSteps):
		return false, tooManySteps(mean, maxStableSteps)
	case !(meanErr*max(mean, 1) < 0x1p-18):
		return false, ErrTime
	}
	stepCounts := &pieceStepCounts{mean: mean, relErr: meanErr, knownCounts: map[int]*poisson{}}
	lower, upper, finished, err = automaton.solvePieces(ctx, lower, upper, stepCounts, allowedWidening)
	if finished {
		automaton.tighten(lower, upper)
	}
	return finished, err
}

// solvePieces computes bounds at time 0 from the bounds lower and upper at the end of the time. It cuts the time into pieces, and handles the last piece
// first. If a piece widens the bounds too much, it is halved. finished is false if this takes too much work.
func (automaton *markovAutomaton) solvePieces(ctx context.Context, lower, upper []float64, stepCounts *pieceStepCounts, allowedWidening float64) (newLower, newUpper []float64, finished bool, err error) {
	logLength := timeBits
	for remaining := int64(1) << timeBits; remaining > 0; {
		logLength = min(logLength, bits.Len64(uint64(remaining))-1)
		stepCount, err := stepCounts.forPiece(ctx, logLength)
		if err != nil {
			return nil, nil, false, err
		}
		newLower, newUpper, roundingErr, err := automaton.boundsBeforePiece(lower, upper, stepCount)
		if err != nil {
			return nil, nil, false, err
		}
		widening := widest(newLower, newUpper) - widest(lower, upper)
		allowed := math.Ldexp(allowedWidening, logLength-timeBits)  // the share of this piece in allowedWidening, in proportion to its length
		isTooWide := widening > allowed && widening > 4*roundingErr // shorter pieces do not reduce rounding errors
		if isTooWide && logLength > 0 {
			logLength--
		} else {
			lower, upper = newLower, newUpper
			remaining -= int64(1) << logLength
			logLength++
		}
		if automaton.meter.totalWork() > maxMarkovWork && !math.IsInf(allowedWidening, 1) {
			return nil, nil, false, nil
		}
	}
	return lower, upper, true, nil
}

// valuesAtEnd returns bounds on the values when no time remains, with the relative error immediateRelErr. Immediate states have the values of the
// states that they lead to.
func (automaton *markovAutomaton) valuesAtEnd() (lower, upper []float64) {
	if final := automaton.finalValues; final != nil {
		lower, upper = slices.Clone(final.Lower), slices.Clone(final.Upper)
		automaton.optimizeImmediate(automaton.immediateStates, lower, 1)
		automaton.optimizeImmediate(automaton.immediateStates, upper, 1)
		return lower, upper
	}
	upper = make([]float64, len(automaton.leaveProb))
	for state := range automaton.zeroTimeTargets.All() {
		upper[state] = 1
	}
	automaton.optimizeImmediate(automaton.immediateStates, upper, 1)
	return slices.Clone(upper), upper
}

// pieceStepCounts has the distributions of the number of steps in pieces of time.
type pieceStepCounts struct {
	mean, relErr float64 // the mean number of steps in the whole time, and its relative error
	knownCounts  map[int]*poisson
}

// forPiece returns the Poisson distribution of the number of steps in a piece of time. The whole time has 2^timeBits units, and the piece has 2^logLength
// units.
func (counts *pieceStepCounts) forPiece(ctx context.Context, logLength int) (*poisson, error) {
	if distribution := counts.knownCounts[logLength]; distribution != nil {
		return distribution, nil
	}
	mean := max(math.Ldexp(counts.mean, logLength-timeBits), 0x1p-1000)
	distribution, err := newPoisson(ctx, mean, counts.relErr, truncation)
	counts.knownCounts[logLength] = distribution
	return distribution, err
}

// widest returns the greatest width of the bounds of a state.
func widest(lower, upper []float64) float64 {
	maxWidth := 0.0
	for state := range lower {
		maxWidth = max(maxWidth, upper[state]-lower[state])
	}
	return maxWidth
}

// boundsBeforePiece returns bounds on the values at the start of a piece of time. lower and upper are the bounds at its end, and stepCount is the
// distribution of the number of steps in it. roundingWidth is the width that rounding and truncation add.
func (automaton *markovAutomaton) boundsBeforePiece(lower, upper []float64, stepCount *poisson) (newLower, newUpper []float64, roundingWidth float64, err error) {
	computeLower, computeUpper := automaton.stepCountingValue, automaton.propheticValue
	if automaton.direction != Max {
		computeLower, computeUpper = computeUpper, computeLower
	}
	// Without choices, all schedulers have the same value. The values are computed once.
	hasOneValue := !automaton.hasChoices && slices.Equal(lower, upper)
	if hasOneValue {
		computeUpper = automaton.propheticValue
	} else if newLower, err = computeLower(lower, stepCount); err != nil {
		return nil, nil, 0, err
	}
	if newUpper, err = computeUpper(upper, stepCount); err != nil {
		return nil, nil, 0, err
	}
	if hasOneValue {
		newLower = slices.Clone(newUpper)
	}
	relErr := compound(stepCount.relErr + automaton.relErrPerStep*float64(stepCount.lastNumber()+2) + unitRoundoff*float64(len(stepCount.weights)+8))
	absErr := automaton.omittedReward(stepCount, slices.Max(upper)) + automaton.rounding.leastBound
	automaton.widen(newLower, newUpper, relErr, absErr)
	return newLower, newUpper, relErr*slices.Max(newUpper) + absErr, nil
}

// widen widens the bounds of the maybe states by a relative error, and the upper bounds also by an absolute error.
func (automaton *markovAutomaton) widen(lower, upper []float64, relErr, absErr float64) {
	for _, states := range [][]uint32{automaton.maybeStates, automaton.immediateStates} {
		for _, state := range states {
			lower[state] = automaton.rounding.roundDown(lower[state], relErr)
			upper[state] = min(automaton.rounding.roundUp(upper[state], relErr)+absErr, automaton.maxValue)
		}
	}
}

// tighten intersects the stored bounds with new bounds.
func (automaton *markovAutomaton) tighten(lower, upper []float64) {
	for state := range lower {
		automaton.values.Lower[state] = max(automaton.values.Lower[state], lower[state])
		automaton.values.Upper[state] = min(automaton.values.Upper[state], upper[state])
	}
}

// width returns the greatest width of the bounds of an initial state. minUpper is the least positive upper bound of an initial state, or 1 if there is none.
func (automaton *markovAutomaton) width() (width, minUpper float64) {
	minUpper = math.Inf(1)
	for _, state := range automaton.graph.Initial {
		lower, upper := automaton.values.Lower[state], automaton.values.Upper[state]
		width = max(width, upper-lower)
		if upper > 0 {
			minUpper = min(minUpper, upper)
		}
	}
	if math.IsInf(minUpper, 1) {
		minUpper = 1
	}
	return width, minUpper
}

// propheticValue returns the optimal values of schedulers that know the number of steps of the piece in advance, which are at least as good as those of real
// schedulers. It computes the optimal values for each number of steps by value iteration, and returns their mean over the Poisson distribution of this
// number.
func (automaton *markovAutomaton) propheticValue(values []float64, stepCount *poisson) ([]float64, error) {
	values, nextValues, meanValues := slices.Clone(values), slices.Clone(values), slices.Clone(values)
	for _, state := range automaton.maybeStates {
		meanValues[state] = 0
	}
	for numSteps := 0; ; numSteps++ {
		if weight := stepCount.probabilityOf(numSteps); weight > 0 {
			inParallelParts(len(automaton.maybeStates), minStatesPerPart, func(from, to int) {
				for _, state := range automaton.maybeStates[from:to] {
					meanValues[state] += weight * values[state]
				}
			})
		}
		if numSteps == stepCount.lastNumber() {
			break
		}
		if err := automaton.stepTimed(values, nextValues, 1); err != nil {
			return nil, err
		}
		automaton.optimizeImmediate(automaton.decidingStates, nextValues, 1)
		values, nextValues = nextValues, values
	}
	automaton.optimizeImmediate(automaton.immediateStates, meanValues, 1)
	return meanValues, nil
}

// stepCountingValue returns the optimal values of schedulers that know only how many steps of the piece have been made. It iterates backwards from the
// greatest number of steps. In each iteration it adds the values at the end of the piece times the probability that the piece has exactly this number of
// steps. A reward of a step, or of an immediate state after a step, counts times the probability that the piece has this step.
func (automaton *markovAutomaton) stepCountingValue(finalValues []float64, stepCount *poisson) ([]float64, error) {
	laterValues, nextValues := make([]float64, len(finalValues)), make([]float64, len(finalValues))
	tailProb := 0.0 // the probability that the piece has at least this number of steps
	for step := stepCount.lastNumber(); step >= 0; step-- {
		if err := automaton.stepTimed(laterValues, nextValues, tailProb); err != nil {
			return nil, err
		}
		if weight := stepCount.probabilityOf(step); weight > 0 {
			for _, state := range automaton.maybeStates {
				nextValues[state] += weight * finalValues[state]
			}
			tailProb = min(tailProb+weight, 1)
		} else {
			tailProb = 1 // smaller numbers of steps have a negligible probability
		}
		for state := range automaton.zeroTimeTargets.All() {
			nextValues[state] = tailProb
		}
		automaton.optimizeImmediate(automaton.decidingStates, nextValues, tailProb)
		laterValues, nextValues = nextValues, laterValues
	}
	for state := range automaton.zeroTimeTargets.All() {
		laterValues[state] = 1
	}
	automaton.optimizeImmediate(automaton.immediateStates, laterValues, 1)
	return laterValues, nil
}
