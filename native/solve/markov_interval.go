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
// The computation has two phases, in backward order. The second phase of a path is the time interval itself: its values are the probabilities of
// `left U right` within the length of the interval. The first phase is the time before the interval, during which the path must stay in left: it starts
// backward iteration from the values of the second phase. See MarkovUntil for the method.
//
// Source: Baier, Haverkort, Hermanns and Katoen, Model-checking algorithms for continuous-time Markov chains (2003), for the two phases.
func MarkovIntervalUntil(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, interval Interval, dir Direction, opts Options) (*Values, error) {
	if interval.From.High.Sign() == 0 {
		return markovUntilFromZero(ctx, graph, left, right, rates, interval.To, dir, opts)
	}
	length := interval.To
	if !length.None() {
		length = length.since(interval.From)
	}
	secondPhaseOpts := opts
	for secondPhaseOpts.Epsilon = opts.epsilon() / 4; ; secondPhaseOpts.Epsilon /= 32 {
		atIntervalStart, err := markovUntilFromZero(ctx, graph, left, right, rates, length, dir, secondPhaseOpts)
		if err != nil {
			return nil, err
		}
		values, err := markovStay(ctx, graph, left, rates, interval.From, atIntervalStart, dir, opts)
		const leastEpsilon = 1e-14
		canBeNarrower := atIntervalStart.Converged && secondPhaseOpts.Epsilon >= leastEpsilon
		if err != nil || values.Converged || !canBeNarrower {
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

// markovStay returns bounds on the minimal or maximal expected value of final in the state at a time. A path that leaves the set allowed before this time
// counts as 0. If immediate states form cycles, the computation replaces each of their end components by one state.
func markovStay(ctx context.Context, graph *sparse.Graph, allowed *sparse.Set, rates Rates, time Time, final *Values, dir Direction, opts Options) (*Values, error) {
	automaton, err := newFinalValueAutomaton(ctx, graph, allowed, rates, final, dir, opts)
	if !errors.Is(err, ErrImmediate) {
		if err != nil {
			return nil, err
		}
		return automaton.narrowBounds(ctx, time)
	}
	return valuesOfImmediateQuotient(ctx, graph, allowed, rates, func(quotient *mecQuotient) (*Values, error) {
		automaton, err := newFinalValueAutomaton(ctx, quotient.graph, quotient.quotientStates(allowed), quotient.quotientRates(rates), quotient.quotientValues(final), dir, opts)
		if err != nil {
			return nil, err
		}
		return automaton.narrowBounds(ctx, time)
	})
}

// newFinalValueAutomaton prepares the backward iteration that computes the minimal or maximal expected value of final in the state at a time. A path that
// leaves the set allowed before this time counts as 0. The error is ErrImmediate if immediate states form a cycle.
func newFinalValueAutomaton(ctx context.Context, graph *sparse.Graph, allowed *sparse.Set, rates Rates, final *Values, dir Direction, opts Options) (*markovAutomaton, error) {
	automaton, immediate, rateRelErr, err := newUniformisedAutomaton(ctx, graph, rates, dir, opts)
	if err != nil {
		return nil, err
	}
	maybe, err := maybePositiveStates(ctx, graph, allowed, immediate, final, dir)
	if err != nil {
		return nil, err
	}
	automaton.zeroTimeTargets = sparse.NewSet(graph.NumStates())
	automaton.finalValues = final.copyBounds()
	automaton.finalValues.setAll(maybe.Complement(), 0)
	automaton.maxValue = slices.Max(automaton.finalValues.Upper)
	automaton.values.Converged = maybe.Empty()
	return automaton, automaton.prepareSteps(maybe, immediate, rates, rateRelErr)
}

// maybePositiveStates returns the states whose optimal expected final value may be positive: those from which the path can reach a timed state with a
// positive final value without leaving the set allowed. The state at the final time is timed, because no time passes in an immediate state.
func maybePositiveStates(ctx context.Context, graph *sparse.Graph, allowed, immediate *sparse.Set, final *Values, dir Direction) (*sparse.Set, error) {
	positive := sparse.SelectStates(graph.NumStates(), func(state int) bool {
		return allowed.Has(state) && !immediate.Has(state) && final.Upper[state] > 0
	})
	prob01, err := computeProb01(ctx, graph, allowed, positive, dir)
	if err != nil {
		return nil, err
	}
	return allowed.Minus(prob01.zeroStates), nil
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
