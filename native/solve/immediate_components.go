package solve

import (
	"context"

	"tilecheck/native/space/sparse"
)

// markovUntilOfQuotient computes the time-bounded until probabilities of a Markov automaton with cycles of immediate states. It merges each
// maximal end component of immediate states into one state. The error is ErrImmediate if other cycles remain.
func markovUntilOfQuotient(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, dir Direction, opts Options) (*Values, error) {
	// All states of an end component of immediate states have the same value: a scheduler can move within it while no time passes.
	// A scheduler that stays in the end component forever never reaches right.
	immediate := sparse.SelectStates(graph.NumStates(), func(s int) bool { return rates.High[s] == 0 && left.Has(s) && !right.Has(s) })
	components, err := graph.EndComponents(ctx, immediate, nil)
	if err != nil {
		return nil, err
	}
	quotient := newMECQuotient(graph, components)
	for _, s := range graph.Initial {
		quotient.graph.Initial = append(quotient.graph.Initial, quotient.stateOf[s])
	}
	values, err := markovUntil(ctx, quotient.graph, quotient.quotientStates(left), quotient.quotientStates(right), quotient.quotientRates(rates), time, dir, opts)
	if err != nil {
		return nil, err
	}
	lower, upper := make([]float64, graph.NumStates()), make([]float64, graph.NumStates())
	for s, quotientState := range quotient.stateOf {
		lower[s], upper[s] = values.Lower[quotientState], values.Upper[quotientState]
	}
	values.Lower, values.Upper = lower, upper
	return values, nil
}

// quotientStates returns the states of the quotient that represent the given states.
func (quotient *mecQuotient) quotientStates(states *sparse.Set) *sparse.Set {
	result := sparse.NewSet(quotient.graph.NumStates())
	for s, quotientState := range quotient.stateOf {
		if states.Has(s) {
			result.Add(int(quotientState))
		}
	}
	return result
}

// quotientRates returns the rates of the states of the quotient.
func (quotient *mecQuotient) quotientRates(rates Rates) Rates {
	numStates := quotient.graph.NumStates()
	result := Rates{Low: make([]float64, numStates), High: make([]float64, numStates)}
	for s, quotientState := range quotient.stateOf {
		result.Low[quotientState], result.High[quotientState] = rates.Low[s], rates.High[s]
	}
	return result
}
