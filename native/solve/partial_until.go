package solve

import (
	"context"
	"errors"

	"tilecheck/native/space/sparse"
)

// escapeError ends the computation of PartialTimedUntil: more than maxEscape of the probability has left the explored states.
type escapeError struct {
	stepShare float64 // the share of the steps that were taken
}

// Error implements error.
func (*escapeError) Error() string { return "the paths leave the explored states" }

// PartialTimedUntil returns bounds on the probability of `left U right` within a time, in the only initial state of a partially explored CTMC. unexplored has
// the states whose transitions are unknown. The upper bound assumes that paths satisfy the formula from there, the lower bound that they do not. It is computed
// forwards in time, so one pass yields both bounds. If it finds that more than maxEscape of the probability reaches unexplored states, it ends early and returns
// 0 and 1. stepShare is the number of uniformised steps that were computed, divided by the number that the time needs: 1 unless it ended early. The error is ErrTooManySteps if so many steps are taken that TimedUntil
// would not take them all.
func PartialTimedUntil(ctx context.Context, graph *sparse.Graph, left, right, unexplored *sparse.Set, time Time, maxEscape float64, opts Options) (lower, upper, stepShare float64, err error) {
	start := int(graph.Initial[0])
	maybe := left.Minus(right)
	escapeStates := maybe.Intersect(unexplored)
	maybe = maybe.Minus(escapeStates)
	switch {
	case right.Has(start):
		return 1, 1, 1, nil
	case escapeStates.Has(start):
		return 0, 1, 1, nil
	case !maybe.Has(start) || time.High.Sign() == 0:
		return 0, 0, 1, nil
	}
	uniform := newUniform(graph, nil, opts)
	uniform.isForward = true
	uniform.prepare(maybe)
	if uniform.uniformRate == 0 {
		return 0, 0, 1, nil
	}
	mean, _, err := uniform.meanSteps(time)
	switch {
	case err != nil:
		return 0, 0, 0, err
	case mean >= 2*maxStableSteps:
		return 0, 0, 0, tooManySteps(mean, 2*maxStableSteps)
	}
	distribution, err := uniform.poissonSteps(ctx, time)
	if err != nil {
		return 0, 0, 0, err
	}
	rightProbs, escapeProbs := uniform.stepProbabilities(right), uniform.stepProbabilities(escapeStates)
	if maxEscape < 1 {
		uniform.hasEscaped = func(sums []float64) bool { return dotProduct(sums, escapeProbs) > maxEscape }
	}
	startProbs := make([]float64, graph.NumStates())
	startProbs[start] = 1
	reversed, maxRow := transposed(graph.Model)
	uniform.useForwardSteps(reversed, maxRow)
	// The formula holds if some step leads to right and comes within the time. So its probability is the sum over all steps k of the probability of at least k
	// steps within the time, times the probability that step k leads to right.
	visits, err := uniform.poissonTotal(ctx, startProbs, distribution)
	if escape, ok := errors.AsType[*escapeError](err); ok {
		return 0, 1, escape.stepShare, nil
	}
	if err != nil {
		return 0, 0, 0, err
	}
	numMaybe := float64(len(uniform.maybeStates))
	relErr := compound(uniform.totalErr(distribution) + unitRoundoff*(numMaybe+2))
	absErr := 2*errMargin*distribution.truncatedProb + numMaybe*uniform.underflowLoss(distribution)
	reached, escaped := dotProduct(visits, rightProbs), dotProduct(visits, escapeProbs)
	lower = uniform.rounding.roundDown(reached, relErr)
	upper = max(uniform.rounding.roundUp(reached+escaped, relErr)+absErr, uniform.rounding.leastBound)
	return min(lower, 1), min(upper, 1), 1, nil
}

// dotProduct returns the sum of the products of two lists of nonnegative numbers.
func dotProduct(x, y []float64) float64 {
	sum := 0.0
	for i, factor := range y {
		if factor > 0 {
			sum += x[i] * factor
		}
	}
	return sum
}
