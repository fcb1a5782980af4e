package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/interval"
	"tilecheck/native/space/sparse"
)

// Discounted returns bounds on the extremal expected discounted reward of a DTMC or MDP: the reward of step i, from 0 on,
// counts factor^i times. factor is between 0 and 1. If steps is not Unbounded, only that many first steps count.
//
// In the model that it solves, every step ends the path with probability 1-factor, so that step i is taken with
// probability factor^i.
//
// Source: Puterman (1994), sections 5.3 and 6.
func Discounted(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, factor *big.Rat, steps int, dir Direction, opts Options) (*Values, error) {
	stopping := sparse.NewGraph(stoppingModel(graph.Model, factor))
	n := graph.NumStates()
	if opts.Within != nil {
		within := sparse.NewSet(n + 1)
		for s := range opts.Within.All() {
			within.Add(s)
		}
		opts.Within = within
	}
	extended := *reward
	extended.State, extended.StateRat = withZero(reward.State), withZero(reward.StateRat)
	extended.Choice, extended.ChoiceRat = withZero(reward.Choice), withZero(reward.ChoiceRat)
	var values *Values
	var err error
	if steps == Unbounded {
		end := sparse.NewSet(n + 1)
		end.Add(n)
		values, err = ReachReward(ctx, stopping, &extended, end, dir, opts)
	} else {
		values, err = CumulReward(ctx, stopping, &extended, steps, dir, opts)
	}
	if err != nil {
		return nil, err
	}
	values.Lower, values.Upper = values.Lower[:n], values.Upper[:n]
	if values.Exact != nil {
		values.Exact = values.Exact[:n]
	}
	if values.Scheduler != nil {
		values.Scheduler = values.Scheduler[:n]
	}
	for i, choices := range values.Steps {
		values.Steps[i] = choices[:n]
	}
	return values, nil
}

// withZero returns a copy of a list with a zero behind it; nil stays nil.
func withZero[T any](list []T) []T {
	if list == nil {
		return nil
	}
	var zero T
	return append(slices.Clip(list), zero)
}

// stoppingModel returns a model whose weights are those of a DTMC or MDP times factor. Every choice has another transition,
// to a new last state that is never left.
func stoppingModel(m *sparse.Model, factor *big.Rat) *sparse.Model {
	near := interval.Around(factor).Lo
	rest := new(big.Rat).Sub(big.NewRat(1, 1), factor)
	stop, end := uint32(len(m.Weights)), uint32(m.NumStates())
	out := &sparse.Model{Kind: m.Kind, First: slices.Clone(m.First), Err: m.Err + 0x1p-50} // two factors and a product are rounded
	for i, weight := range m.Weights {
		out.Weights = append(out.Weights, weight*near)
		if m.Rats != nil {
			out.Rats = append(out.Rats, new(big.Rat).Mul(m.Rats[i], factor))
		}
	}
	out.Weights = append(out.Weights, interval.Around(rest).Lo, 1)
	if m.Rats != nil {
		out.Rats = append(out.Rats, rest, big.NewRat(1, 1))
	}
	for _, weight := range out.Weights {
		if !sparse.InRange(weight) {
			out.Err = math.Inf(1)
		}
	}
	for c := range m.NumChoices() {
		out.Start = append(out.Start, uint32(len(out.Target)))
		from, to := m.Row(c)
		out.Target = append(append(out.Target, m.Target[from:to]...), end)
		out.Weight = append(append(out.Weight, m.Weight[from:to]...), stop)
	}
	out.Start = append(out.Start, uint32(len(out.Target)))
	out.Target, out.Weight = append(out.Target, end), append(out.Weight, stop+1)
	out.Start = append(out.Start, uint32(len(out.Target)))
	if out.First != nil {
		out.First = append(out.First, uint32(len(out.Start)-1))
	}
	return out
}
