package solve

import (
	"context"
	"errors"
	"slices"

	"tilecheck/native/space/sparse"
)

// MarkovIntervalUntil returns bounds on the minimal or maximal probability of `left U right` with a time interval, for a Markov automaton with the
// embedded MDP graph. Schedulers may depend on the time.
//
// The values at the start of the interval are those of `left U right` within the length of the interval. They are the final values of the time
// before it, in which the path must stay in left. See MarkovUntil for the method.
//
// Source: Baier, Haverkort, Hermanns and Katoen, Model-checking algorithms for continuous-time Markov chains (2003), for the two phases.
func MarkovIntervalUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, interval Interval, dir Direction, opts Options) (*Values, error) {
	if interval.From.High.Sign() == 0 {
		return markovUntilFromZero(ctx, graph, left, right, rates, interval.To, dir, opts)
	}
	phaseOpts := opts
	for phaseOpts.Epsilon = opts.epsilon() / 4; ; phaseOpts.Epsilon /= 32 {
		length := interval.To
		if !length.None() {
			length = length.since(interval.From)
		}
		final, err := markovUntilFromZero(ctx, graph, left, right, rates, length, dir, phaseOpts)
		if err != nil {
			return nil, err
		}
		values, err := markovStayUntil(ctx, graph, left, rates, interval.From, final, dir, opts)
		const leastEpsilon = 1e-14
		if err != nil || values.Converged || !final.Converged || phaseOpts.Epsilon < leastEpsilon {
			return values, err
		}
	}
}

// markovUntilFromZero returns bounds on the probability of `left U right` within a time, which may have no bound.
func markovUntilFromZero(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, dir Direction, opts Options) (*Values, error) {
	if time.None() {
		return Until(ctx, graph, left, right, dir, opts)
	}
	return MarkovUntil(ctx, graph, left, right, rates, time, dir, opts)
}

// markovStayUntil returns bounds on the optimal mean of the final values after a time, in which the path must stay in left.
func markovStayUntil(ctx context.Context, graph *sparse.Graph, left *sparse.Set, rates Rates, time Time, final *Values, dir Direction, opts Options) (*Values, error) {
	automaton, err := newStayingAutomaton(ctx, graph, left, rates, final, dir, opts)
	if !errors.Is(err, ErrImmediate) {
		if err != nil {
			return nil, err
		}
		return automaton.narrowBounds(ctx, time)
	}
	return valuesOfImmediateQuotient(ctx, graph, left, rates, func(quotient *mecQuotient) (*Values, error) {
		automaton, err := newStayingAutomaton(ctx, quotient.graph, quotient.quotientStates(left), quotient.quotientRates(rates), quotient.quotientValues(final), dir, opts)
		if err != nil {
			return nil, err
		}
		return automaton.narrowBounds(ctx, time)
	})
}

// newStayingAutomaton prepares the computation of the optimal mean of the final values for the paths that stay in left.
func newStayingAutomaton(ctx context.Context, graph *sparse.Graph, left *sparse.Set, rates Rates, final *Values, dir Direction, opts Options) (*markovAutomaton, error) {
	automaton, immediate, rateErr, err := newUniformisedAutomaton(ctx, graph, rates, dir, opts)
	if err != nil {
		return nil, err
	}
	// When the time ends, the path is in a timed state.
	isPositive := func(s int) bool { return left.Has(s) && !immediate.Has(s) && final.Upper[s] > 0 }
	prob01, err := computeProb01(ctx, graph, left, sparse.SelectStates(graph.NumStates(), isPositive), dir)
	if err != nil {
		return nil, err
	}
	maybe := left.Minus(prob01.zeroStates)
	automaton.zeroTimeTargets = sparse.NewSet(graph.NumStates())
	automaton.finalValues = &Values{Lower: slices.Clone(final.Lower), Upper: slices.Clone(final.Upper)}
	automaton.finalValues.setAll(maybe.Complement(), 0)
	automaton.maxValue = slices.Max(automaton.finalValues.Upper)
	automaton.values.Converged = maybe.Empty()
	return automaton, automaton.prepareSteps(maybe, immediate, rates, rateErr)
}

// quotientValues returns bounds on the values of the states of the quotient. A state that represents several states gets the values of one of them.
func (quotient *mecQuotient) quotientValues(values *Values) *Values {
	numStates := quotient.graph.NumStates()
	result := &Values{Lower: make([]float64, numStates), Upper: make([]float64, numStates)}
	for s, quotientState := range quotient.stateOf {
		result.Lower[quotientState], result.Upper[quotientState] = values.Lower[s], values.Upper[s]
	}
	return result
}
