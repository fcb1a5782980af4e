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
// whose embedded MDP is graph. Schedulers may depend on the time.
//
// The time is cut into pieces, which are solved backwards from the end. Each piece is uniformised. Schedulers that count
// the steps of a piece are less powerful than schedulers that know the time. Schedulers that know in advance the number of steps in
// the piece are more powerful. So their optimal values bound the true value from both sides. These bounds agree if one choice is
// optimal throughout the piece. A piece that widens the bounds too much is halved.
//
// Source: Butkova, Hatefi, Hermanns and Krcal, Optimal Continuous Time Control (Unif+), ATVA 2015, for one piece; they raise
// the uniformisation rate instead of cutting the time.
func MarkovUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, dir Direction, opts Options) (*Values, error) {
	values, err := markovUntil(ctx, graph, left, right, rates, time, dir, opts)
	if errors.Is(err, ErrImmediate) {
		return markovUntilOfQuotient(ctx, graph, left, right, rates, time, dir, opts)
	}
	return values, err
}

// markovUntil is MarkovUntil for an automaton without cycles of several immediate states.
func markovUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, dir Direction, opts Options) (*Values, error) {
	automaton, err := newMarkovAutomaton(ctx, graph, left, right, rates, time, dir, opts)
	if err != nil {
		return nil, err
	}
	if automaton.values.Converged {
		return automaton.values, nil
	}
	// The first pass does not cut the time. Each later pass may widen the bounds by a part of their last width.
	epsilon := opts.epsilon()
	allowedWidening := math.Inf(1)
	for {
		done, err := automaton.computeBounds(ctx, time, allowedWidening)
		if err != nil {
			return nil, err
		}
		width, minUpper := automaton.width()
		if width <= epsilon*minUpper {
			automaton.values.Converged = true
			return automaton.values, nil
		}
		if !done || allowedWidening < epsilon*minUpper/1e3 {
			return automaton.values, nil
		}
		allowedWidening = min(allowedWidening, max(width, epsilon*minUpper)) / 32
	}
}

// markovAutomaton is a uniformised Markov automaton.
type markovAutomaton struct {
	uniformisation
	dir              Direction
	immediate        []uint32    // the immediate maybe states, each after its successors
	leaveProb        []float64   // of each state: the probability to leave it in one uniformised step
	immediateRelErr  float64     // relative error of the values of immediate states
	immediatelyRight *sparse.Set // states that reach right before any time passes
	numTransitions   int         // of maybe states
	meter            *meter
}

// newMarkovAutomaton prepares the computation of the probability of `left U right` within a time. It sets the values that are 0 or 1,
// uniformises the maybe states in which time passes, and orders the immediate ones. If there are no maybe states, the values have
// converged.
func newMarkovAutomaton(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, dir Direction, opts Options) (*markovAutomaton, error) {
	n := graph.NumStates()
	automaton := &markovAutomaton{uniformisation: *newUniform(graph, nil, opts), dir: dir, leaveProb: make([]float64, n), meter: newMeter(ctx, opts, 0)}
	timeless, rateErr, err := automaton.chooseRate(rates)
	if err != nil {
		return nil, err
	}
	canContinue := left
	if time.High.Sign() == 0 {
		canContinue = left.Intersect(timeless)
	}
	prob01, err := computeProb01(ctx, graph, canContinue, right, dir)
	if err != nil {
		return nil, err
	}
	immediately, err := computeProb01(ctx, graph, left.Intersect(timeless), right, dir)
	if err != nil {
		return nil, err
	}
	automaton.immediatelyRight = immediately.one.Union(right)
	automaton.values.setAll(automaton.immediatelyRight, 1)
	maybe := canContinue.Minus(prob01.zero).Minus(automaton.immediatelyRight)
	automaton.values.Converged = maybe.Empty()
	for s := range maybe.Minus(timeless).All() {
		automaton.maybeStates = append(automaton.maybeStates, uint32(s))
		automaton.leaveProb[s] = rates.Low[s] / automaton.rate
		automaton.stayProb[s] = (automaton.rate - rates.Low[s]) / automaton.rate
	}
	for s := range maybe.All() {
		automaton.values.Upper[s] = 1
		first, end := graph.Choices(s)
		automaton.numTransitions += int(graph.Start[end]-graph.Start[first]) + 1
	}
	maxRow := longestRow(graph)
	if err := automaton.orderImmediate(maybe.Intersect(timeless), maxRow); err != nil {
		return nil, err
	}
	automaton.relErrPerStep = 1.05*(float64(maxRow+8)*unit+automaton.rounding.err+rateErr)*(1+1/slack) + automaton.immediateRelErr
	return automaton, nil
}

// longestRow returns the greatest number of transitions of a choice.
func longestRow(graph *sparse.Graph) int {
	longest := 0
	for c := range graph.NumChoices() {
		first, end := graph.Row(c)
		longest = max(longest, end-first)
	}
	return longest
}

// chooseRate sets the uniformisation rate to slightly more than the greatest exit rate. It returns the
// immediate states, in which no time passes, and the greatest relative width of the bounds of an exit rate.
func (ma *markovAutomaton) chooseRate(rates Rates) (timeless *sparse.Set, rateErr float64, err error) {
	timeless = sparse.NewSet(ma.graph.NumStates())
	fastest := 0.0
	for s := range ma.graph.NumStates() {
		lower, upper := rates.Low[s], rates.High[s]
		first, end := ma.graph.Choices(s)
		switch {
		case lower == 0 && upper == 0:
			timeless.Add(s)
			continue
		case !sparse.InRange(lower) || !sparse.InRange(upper) || end != first+1:
			return nil, 0, ErrRates
		}
		rateErr = max(rateErr, (upper-lower)/lower)
		fastest = max(fastest, upper)
	}
	if !(rateErr < 0x1p-20) {
		return nil, 0, ErrRates
	}
	ma.rate = fastest * (1 + slack)
	return timeless, rateErr, nil
}

// orderImmediate stores the immediate states such that each state comes after all its other successors. It also bounds the relative error
// of their values. The error is ErrImmediate if several immediate states form a cycle.
func (ma *markovAutomaton) orderImmediate(states *sparse.Set, maxRow int) error {
	components := ma.graph.Components(states, nil)
	depth := make([]int, ma.graph.NumStates())
	deepest := 0
	for i := range components.Num() {
		members := components.Members(i)
		s := int(members[0])
		first, end := ma.graph.Choices(s)
		for c := first; c < end; c++ {
			if ma.onlySelfLoop(s, c) {
				continue
			}
			if len(members) > 1 {
				return ErrImmediate
			}
			firstTransition, endTransition := ma.graph.Row(c)
			for _, target := range ma.graph.Target[firstTransition:endTransition] {
				if int(target) != s {
					depth[s] = max(depth[s], depth[target]+1)
				}
			}
		}
		deepest = max(deepest, depth[s])
		ma.immediate = append(ma.immediate, uint32(s))
	}
	// In units of rounding, with a margin: the sums over two rows, one of which is divided by the probability to leave.
	const operationsPerChoice, margin = 8, 1.05
	errPerState := float64(2*maxRow+operationsPerChoice)*unit + 2*ma.rounding.err
	ma.immediateRelErr = margin * float64(deepest+1) * errPerState
	return nil
}

// onlySelfLoop reports whether choice c of state s leads to s only. In an immediate state it stops the
// time forever.
func (ma *markovAutomaton) onlySelfLoop(s, c int) bool {
	first, end := ma.graph.Row(c)
	return end == first+1 && int(ma.graph.Target[first]) == s
}

// optimizeImmediate sets the value of each immediate state to the optimum over its choices. A choice that only leads back to
// the state has value 0. A choice with a self-loop and other targets is repeated until it leaves the state, so its value is
// divided by the probability of leaving.
func (ma *markovAutomaton) optimizeImmediate(values []float64) {
	graph := ma.graph
	for _, s := range ma.immediate {
		first, end := graph.Choices(int(s))
		best := -1.0
		for c := first; c < end; c++ {
			sum, leaving, loops := 0.0, 0.0, false
			for i := graph.Start[c]; i < graph.Start[c+1]; i++ {
				if graph.Target[i] == s {
					loops = true
					continue
				}
				prob := graph.Prob(int(i))
				sum += prob * values[graph.Target[i]]
				leaving += prob
			}
			if loops && leaving > 0 {
				sum /= leaving
			}
			isFirst := best < 0
			if isFirst || isBetter(sum, best, ma.dir != Max) {
				best = sum
			}
		}
		values[s] = best
	}
}

// stepTimed writes to next the values before one uniformised step, for the states in which time passes.
// values has the values after the step.
func (ma *markovAutomaton) stepTimed(values, next []float64) error {
	graph := ma.graph
	inParallelParts(len(ma.maybeStates), 1<<12, func(from, to int) {
		for _, s := range ma.maybeStates[from:to] {
			c := graph.Start[s]
			if graph.First != nil {
				c = graph.First[s]
			}
			sum := 0.0
			for i, end := graph.Start[c], graph.Start[c+1]; i < end; i++ {
				sum += graph.Prob(int(i)) * values[graph.Target[i]]
			}
			next[s] = ma.leaveProb[s]*sum + ma.stayProb[s]*values[s]
		}
	})
	return ma.meter.addWork(ma.numTransitions)
}

// maxMarkovWork limits the transitions that are evaluated to make the bounds tighter.
const maxMarkovWork = 1 << 32

// timeBits says how finely the time is cut: the whole time has 2^timeBits units, and the length of a piece in units is a power
// of two.
const timeBits = 40

// computeBounds computes bounds, with pieces of time that widen them by at most allowedWidening in total, and keeps the tighter ones of
// these and the earlier bounds. It returns false if it gives up.
func (ma *markovAutomaton) computeBounds(ctx context.Context, time Time, allowedWidening float64) (bool, error) {
	low, high := ma.boundsAtEnd()
	if ma.rate == 0 || time.High.Sign() == 0 {
		ma.keepTighter(low, high)
		return true, nil
	}
	mean, meanErr, err := ma.meanSteps(time)
	switch {
	case err != nil:
		return false, err
	case !(mean < maxStableSteps):
		return false, tooManySteps(mean, maxStableSteps)
	case !(meanErr*max(mean, 1) < 0x1p-18):
		return false, ErrTime
	}
	stepCounts := pieceStepCounts{mean: mean, relErr: meanErr, known: map[int]*poisson{}}
	logLength := timeBits
	for remaining := int64(1) << timeBits; remaining > 0; {
		logLength = min(logLength, bits.Len64(uint64(remaining))-1)
		stepCount, err := stepCounts.ofPiece(ctx, logLength)
		if err != nil {
			return false, err
		}
		newLow, newHigh, roundingErr, err := ma.boundsBeforePiece(low, high, stepCount)
		if err != nil {
			return false, err
		}
		widening := widest(newLow, newHigh) - widest(low, high)
		isTooWide := widening > math.Ldexp(allowedWidening, logLength-timeBits) && widening > 4*roundingErr
		if isTooWide && logLength > 0 {
			logLength--
		} else {
			low, high = newLow, newHigh
			remaining -= int64(1) << logLength
			logLength++
		}
		if ma.meter.totalWork() > maxMarkovWork && !math.IsInf(allowedWidening, 1) {
			return false, nil
		}
	}
	ma.keepTighter(low, high)
	return true, nil
}

// boundsAtEnd returns bounds on the values at the end of the time, when no time remains.
func (ma *markovAutomaton) boundsAtEnd() (low, high []float64) {
	high = make([]float64, len(ma.leaveProb))
	for s := range ma.immediatelyRight.All() {
		high[s] = 1
	}
	ma.optimizeImmediate(high)
	low = slices.Clone(high)
	ma.widen(low, high, ma.immediateRelErr, 0)
	return low, high
}

// pieceStepCounts has the distributions of the number of steps in pieces of time.
type pieceStepCounts struct {
	mean, relErr float64 // the mean number of steps in the whole time, and its relative error
	known        map[int]*poisson
}

// ofPiece returns the distribution of the number of steps in a piece of 2^logLength units of time.
func (counts *pieceStepCounts) ofPiece(ctx context.Context, logLength int) (*poisson, error) {
	if distribution := counts.known[logLength]; distribution != nil {
		return distribution, nil
	}
	mean := max(math.Ldexp(counts.mean, logLength-timeBits), 0x1p-1000)
	distribution, err := newPoisson(ctx, mean, counts.relErr, truncation)
	counts.known[logLength] = distribution
	return distribution, err
}

// widest returns the greatest width of the bounds of a state.
func widest(low, high []float64) float64 {
	maxWidth := 0.0
	for s := range low {
		maxWidth = max(maxWidth, high[s]-low[s])
	}
	return maxWidth
}

// boundsBeforePiece returns the bounds before a piece of time, given the bounds after it, and the part of their width that rounding
// causes. stepCount is the distribution of the number of steps in the piece.
func (ma *markovAutomaton) boundsBeforePiece(low, high []float64, stepCount *poisson) (newLow, newHigh []float64, roundingWidth float64, err error) {
	lowerValue, upperValue := ma.stepCountingValue, ma.propheticValue
	if ma.dir != Max {
		lowerValue, upperValue = upperValue, lowerValue
	}
	if newLow, err = lowerValue(low, stepCount); err != nil {
		return nil, nil, 0, err
	}
	if newHigh, err = upperValue(high, stepCount); err != nil {
		return nil, nil, 0, err
	}
	relErr := compound(stepCount.relErr + ma.relErrPerStep*float64(stepCount.last()+2) + unit*float64(len(stepCount.weight)+8))
	absErr := 1.01*stepCount.truncatedProb + ma.rounding.floor
	ma.widen(newLow, newHigh, relErr, absErr)
	return newLow, newHigh, relErr + absErr, nil
}

// widen widens the computed bounds of the maybe states by a relative error, and the upper bounds by an absolute error too.
func (ma *markovAutomaton) widen(low, high []float64, relErr, absErr float64) {
	for _, states := range [][]uint32{ma.maybeStates, ma.immediate} {
		for _, s := range states {
			low[s] = ma.rounding.down(low[s], relErr)
			high[s] = min(ma.rounding.up(high[s], relErr)+absErr, 1)
		}
	}
}

// keepTighter intersects the stored bounds with new ones.
func (ma *markovAutomaton) keepTighter(low, high []float64) {
	for s := range low {
		ma.values.Lower[s] = max(ma.values.Lower[s], low[s])
		ma.values.Upper[s] = min(ma.values.Upper[s], high[s])
	}
}

// width returns the greatest width of the bounds of an initial state, and the least positive upper bound of
// an initial state.
func (ma *markovAutomaton) width() (width, minUpper float64) {
	minUpper = 1
	for _, s := range ma.graph.Initial {
		lower, upper := ma.values.Lower[s], ma.values.Upper[s]
		width = max(width, upper-lower)
		if upper > 0 {
			minUpper = min(minUpper, upper)
		}
	}
	return width, minUpper
}

// propheticValue returns the optimal value of schedulers that know in advance the number of steps in the piece. It is the
// mean of the optimal values for each number of steps, weighted by the Poisson distribution.
func (ma *markovAutomaton) propheticValue(values []float64, stepCount *poisson) ([]float64, error) {
	values, next, mean := slices.Clone(values), slices.Clone(values), slices.Clone(values)
	for _, s := range ma.maybeStates {
		mean[s] = 0
	}
	for k := range stepCount.last() + 1 {
		weight := stepCount.prob(k)
		if weight > 0 {
			for _, s := range ma.maybeStates {
				mean[s] += weight * values[s]
			}
		}
		if k == stepCount.last() {
			break
		}
		if err := ma.stepTimed(values, next); err != nil {
			return nil, err
		}
		ma.optimizeImmediate(next)
		values, next = next, values
	}
	ma.optimizeImmediate(mean)
	return mean, nil
}

// stepCountingValue returns the optimal value of schedulers that only know how many steps have happened in the piece. It goes
// backwards through the steps. At each step it adds the final values, times the probability that the piece has this number of steps.
func (ma *markovAutomaton) stepCountingValue(finalValues []float64, stepCount *poisson) ([]float64, error) {
	after, next := make([]float64, len(finalValues)), make([]float64, len(finalValues))
	tailProb := 0.0 // probability of at least k steps
	for k := stepCount.last(); k >= 0; k-- {
		if err := ma.stepTimed(after, next); err != nil {
			return nil, err
		}
		if weight := stepCount.prob(k); weight > 0 {
			for _, s := range ma.maybeStates {
				next[s] += weight * finalValues[s]
			}
			tailProb = min(tailProb+weight, 1)
		} else {
			tailProb = 1 // fewer than k steps have a negligible probability
		}
		for s := range ma.immediatelyRight.All() {
			next[s] = tailProb
		}
		ma.optimizeImmediate(next)
		after, next = next, after
	}
	for s := range ma.immediatelyRight.All() {
		after[s] = 1
	}
	return after, nil
}
