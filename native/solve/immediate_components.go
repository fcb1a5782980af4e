package solve

import (
	"context"

	"tilecheck/native/space/sparse"
)

// markovUntilOfQuotient is MarkovUntil for an automaton in which several immediate states form cycles. Each maximal end component of
// immediate states becomes one immediate state. A scheduler can move within it as long as it wants while no time passes, so all its
// states have the same value. A scheduler that stays in it forever never reaches right. The error is ErrImmediate if other cycles
// remain.
func markovUntilOfQuotient(ctx context.Context, graph *sparse.Graph, left, right *sparse.Set, rates Rates, time Time, dir Direction, opts Options) (*Values, error) {
	immediate := sparse.NewSet(graph.NumStates())
	for s := range left.Minus(right).All() {
		if rates.High[s] == 0 {
			immediate.Add(s)
		}
	}
	components, err := graph.EndComponents(ctx, immediate, nil)
	if err != nil {
		return nil, err
	}
	quotient := newMECQuotient(graph, components)
	n := quotient.graph.NumStates()
	quotientRates := Rates{Low: make([]float64, n), High: make([]float64, n)}
	quotientLeft, quotientRight := sparse.NewSet(n), sparse.NewSet(n)
	for s, state := range quotient.stateOf {
		quotientRates.Low[state], quotientRates.High[state] = rates.Low[s], rates.High[s]
		if left.Has(s) {
			quotientLeft.Add(int(state))
		}
		if right.Has(s) {
			quotientRight.Add(int(state))
		}
	}
	for _, s := range graph.Initial {
		quotient.graph.Initial = append(quotient.graph.Initial, quotient.stateOf[s])
	}
	values, err := markovUntil(ctx, quotient.graph, quotientLeft, quotientRight, quotientRates, time, dir, opts)
	if err != nil {
		return nil, err
	}
	lower, upper := make([]float64, graph.NumStates()), make([]float64, graph.NumStates())
	for s, state := range quotient.stateOf {
		lower[s], upper[s] = values.Lower[state], values.Upper[state]
	}
	values.Lower, values.Upper = lower, upper
	return values, nil
}
