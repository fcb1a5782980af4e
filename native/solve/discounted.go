package solve

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/interval"
	"tilecheck/native/space/sparse"
)

// Discounted returns bounds on the extremal expected discounted reward of a DTMC or MDP.
// The reward of step i, from 0 on, is multiplied by factor^i, where 0 < factor < 1.
// Unless steps is Unbounded, only the first steps count.
//
// Source: Puterman (1994), sections 5.3 and 6.
func Discounted(ctx context.Context, graph *sparse.Graph, reward *sparse.Reward, factor *big.Rat, steps int, direction Direction, opts Options) (*Values, error) {
	// Every step of this model ends the path with probability 1-factor. So step i is taken with probability factor^i.
	stoppingGraph := sparse.NewGraph(stoppingModel(graph.Model, factor))
	numStates := graph.NumStates()
	if opts.Within != nil {
		within := sparse.NewSet(numStates + 1)
		for state := range opts.Within.All() {
			within.Add(state)
		}
		opts.Within = within
	}
	extendedReward := *reward // a copy with reward 0 for the new absorbing state
	extendedReward.State, extendedReward.StateFractions = appendZero(reward.State), appendZero(reward.StateFractions)
	extendedReward.Choice, extendedReward.ChoiceFractions = appendZero(reward.Choice), appendZero(reward.ChoiceFractions)
	var values *Values
	var err error
	if steps == Unbounded {
		values, err = ReachReward(ctx, stoppingGraph, &extendedReward, sparse.SetOf(numStates+1, numStates), direction, opts)
	} else {
		values, err = CumulReward(ctx, stoppingGraph, &extendedReward, steps, direction, opts)
	}
	if err != nil {
		return nil, err
	}
	values.truncate(numStates)
	return values, nil
}

// truncate keeps the values of the states 0 to numStates-1 only.
func (values *Values) truncate(numStates int) {
	values.Lower, values.Upper = values.Lower[:numStates], values.Upper[:numStates]
	if values.Exact != nil {
		values.Exact = values.Exact[:numStates]
	}
	if values.Scheduler != nil {
		values.Scheduler = values.Scheduler[:numStates]
	}
	for i, choices := range values.StepChoices {
		values.StepChoices[i] = choices[:numStates]
	}
}

// appendZero returns a copy of a list with a zero appended. A nil list stays nil.
func appendZero[T any](list []T) []T {
	if list == nil {
		return nil
	}
	var zero T
	return append(slices.Clip(list), zero)
}

// stoppingModel returns a DTMC or MDP in which all probabilities are multiplied by factor.
// Every choice also has a transition to a new absorbing state, the last state.
func stoppingModel(model *sparse.Model, factor *big.Rat) *sparse.Model {
	result := &sparse.Model{Kind: model.Kind, FirstChoice: slices.Clone(model.FirstChoice)}
	stopWeight, loopWeight := setStoppingWeights(result, model, factor)
	absorbing := uint32(model.NumStates())
	for choice := range model.NumChoices() {
		result.FirstTransition = append(result.FirstTransition, uint32(len(result.Target)))
		firstTransition, endTransition := model.Transitions(choice)
		result.Target = append(append(result.Target, model.Target[firstTransition:endTransition]...), absorbing)
		result.WeightIndex = append(append(result.WeightIndex, model.WeightIndex[firstTransition:endTransition]...), stopWeight)
	}
	result.FirstTransition = append(result.FirstTransition, uint32(len(result.Target)))
	result.Target, result.WeightIndex = append(result.Target, absorbing), append(result.WeightIndex, loopWeight)
	result.FirstTransition = append(result.FirstTransition, uint32(len(result.Target)))
	if result.FirstChoice != nil {
		result.FirstChoice = append(result.FirstChoice, uint32(len(result.FirstTransition)-1))
	}
	return result
}

// setStoppingWeights gives result the weights of a model, each multiplied by factor. It adds two weights, whose indices it returns: 1-factor for the
// transitions that stop, and 1 for the self-loop of the absorbing state.
func setStoppingWeights(result, model *sparse.Model, factor *big.Rat) (stopWeight, loopWeight uint32) {
	factorFloat := interval.Around(factor).Lo
	stopProbability := new(big.Rat).Sub(big.NewRat(1, 1), factor)
	for i, weight := range model.Weights {
		result.Weights = append(result.Weights, weight*factorFloat)
		if model.Fractions != nil {
			result.Fractions = append(result.Fractions, new(big.Rat).Mul(model.Fractions[i], factor))
		}
	}
	result.Weights = append(result.Weights, interval.Around(stopProbability).Lo, 1)
	if model.Fractions != nil {
		result.Fractions = append(result.Fractions, stopProbability, big.NewRat(1, 1))
	}
	result.RelErr = model.RelErr + 0x1p-50 // the factor, the other weights and their product are rounded
	isOutOfRange := func(weight float64) bool { return !sparse.InRange(weight) }
	if slices.ContainsFunc(result.Weights, isOutOfRange) {
		result.RelErr = math.Inf(1)
	}
	stopWeight = uint32(len(model.Weights))
	return stopWeight, stopWeight + 1
}
