package solve

import (
	"context"

	"tilecheck/native/space/sparse"
)

// markovUntilOfQuotient computes the time-bounded until probabilities of a Markov automaton with cycles of immediate states. The error is
// ErrImmediate if other cycles remain.
func markovUntilOfQuotient(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, direction Direction, opts Options) (*Values, error) {
	// A scheduler that stays in an end component of immediate states forever never reaches right.
	return valuesOfImmediateQuotient(ctx, graph, left.Minus(right), rates, func(quotient *mecQuotient) (*Values, error) {
		return markovUntil(ctx, quotient.graph, quotient.quotientStates(left), quotient.quotientStates(right), quotient.quotientRates(rates), time, direction, opts)
	})
}

// valuesOfImmediateQuotient computes values of a Markov automaton on its quotient, in which each maximal end component of the immediate states in
// a set is one state. All its states have the same value: a scheduler can move within it while no time passes.
func valuesOfImmediateQuotient(ctx context.Context, graph *sparse.Graph, states *sparse.Set, rates Rates, solve func(quotient *mecQuotient) (*Values, error)) (*Values, error) {
	immediate := sparse.SelectStates(graph.NumStates(), func(state int) bool { return rates.High[state] == 0 && states.Has(state) })
	components, err := graph.EndComponents(ctx, immediate, nil)
	if err != nil {
		return nil, err
	}
	quotient := newMECQuotient(graph, components)
	for _, state := range graph.Initial {
		quotient.graph.Initial = append(quotient.graph.Initial, quotient.stateOf[state])
	}
	values, err := solve(quotient)
	if err != nil {
		return nil, err
	}
	lower, upper := make([]float64, graph.NumStates()), make([]float64, graph.NumStates())
	for state, quotientState := range quotient.stateOf {
		lower[state], upper[state] = values.Lower[quotientState], values.Upper[quotientState]
	}
	values.Lower, values.Upper = lower, upper
	return values, nil
}

// quotientStates returns the states of the quotient that stand for at least one of the given states of the original model.
func (quotient *mecQuotient) quotientStates(states *sparse.Set) *sparse.Set {
	result := sparse.NewSet(quotient.graph.NumStates())
	for state, quotientState := range quotient.stateOf {
		if states.Has(state) {
			result.Add(int(quotientState))
		}
	}
	return result
}

// quotientRates returns the exit rates of the states of the quotient. All states that are merged into one have the same rate, 0.
func (quotient *mecQuotient) quotientRates(rates Rates) Rates {
	numStates := quotient.graph.NumStates()
	result := Rates{Low: make([]float64, numStates), High: make([]float64, numStates)}
	for state, quotientState := range quotient.stateOf {
		result.Low[quotientState], result.High[quotientState] = rates.Low[state], rates.High[state]
	}
	return result
}
