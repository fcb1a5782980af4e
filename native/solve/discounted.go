package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/interval"
	"tilecheck/native/space/sparse"
)

// Discounted returns bounds on the minimal or maximal expected discounted reward of a DTMC or MDP, in which the reward of
// step i, from 0 on, is multiplied by factor^i. factor is between 0 and 1. Unless steps is Unbounded, only the first steps
// count.
//
// It solves a model in which every step ends the path with probability 1-factor, so that step i is taken with probability
// factor^i.
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

// stoppingModel returns a DTMC or MDP in which all probabilities are multiplied by factor. Every choice has an
// additional transition to a new absorbing state, the last one.
func stoppingModel(model *sparse.Model, factor *big.Rat) *sparse.Model {
	factorFloat := interval.Around(factor).Lo
	stopProbability := new(big.Rat).Sub(big.NewRat(1, 1), factor)
	stopWeight, end := uint32(len(model.Weights)), uint32(model.NumStates())
	result := &sparse.Model{Kind: model.Kind, First: slices.Clone(model.First), Err: model.Err + 0x1p-50} // two factors and a product are rounded
	for i, weight := range model.Weights {
		result.Weights = append(result.Weights, weight*factorFloat)
		if model.Rats != nil {
			result.Rats = append(result.Rats, new(big.Rat).Mul(model.Rats[i], factor))
		}
	}
	result.Weights = append(result.Weights, interval.Around(stopProbability).Lo, 1)
	if model.Rats != nil {
		result.Rats = append(result.Rats, stopProbability, big.NewRat(1, 1))
	}
	for _, weight := range result.Weights {
		if !sparse.InRange(weight) {
			result.Err = math.Inf(1)
		}
	}
	for c := range model.NumChoices() {
		result.Start = append(result.Start, uint32(len(result.Target)))
		firstTransition, endTransition := model.Row(c)
		result.Target = append(append(result.Target, model.Target[firstTransition:endTransition]...), end)
		result.Weight = append(append(result.Weight, model.Weight[firstTransition:endTransition]...), stopWeight)
	}
	result.Start = append(result.Start, uint32(len(result.Target)))
	result.Target, result.Weight = append(result.Target, end), append(result.Weight, stopWeight+1)
	result.Start = append(result.Start, uint32(len(result.Target)))
	if result.First != nil {
		result.First = append(result.First, uint32(len(result.Start)-1))
	}
	return result
}
