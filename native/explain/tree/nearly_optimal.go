package tree

import (
	"math"

	"tilecheck/native/space/sparse"
)

// NearlyOptimal returns a function that reports whether a choice loses at most a tolerance of the optimal value. lower and upper are bounds of
// the optimal values of the states; optimalChoices is an optimal scheduler. reward is nil if the values are probabilities. It returns nil if a value is
// infinite.
func NearlyOptimal(model *sparse.Model, lower, upper []float64, reward *sparse.Reward, choices []uint32) (
	isAllowed func(state, choice int, tolerance float64) bool,
) {
	midpoints := make([]float64, len(lower))
	for s := range midpoints {
		midpoints[s] = (lower[s] + upper[s]) / 2
		if math.IsInf(midpoints[s], 0) || math.IsNaN(midpoints[s]) {
			return nil
		}
	}
	losses := make([]float64, model.NumChoices())
	optimalChoices := sparse.NewSet(model.NumChoices())
	for s, value := range midpoints {
		uncertainty := upper[s] - lower[s]
		roundingError := 1e-9 * max(1e-9, math.Abs(value))
		first, end := model.Choices(s)
		for c := first; c < end; c++ {
			losses[c] = math.Abs(choiceValue(model, reward, midpoints, s, c)-value) - uncertainty
			if losses[c] <= roundingError {
				losses[c] = 0
				optimalChoices.Add(c)
			}
		}
	}
	// Choices with optimal values may form a cycle, so an allowed choice must also decrease a distance.
	distance := distances(model, choices, optimalChoices)
	return func(state, choice int, tolerance float64) bool {
		return losses[choice] <= tolerance && decreasesDistance(model, distance, state, choice)
	}
}

// choiceValue returns r(c) + sum of P(c,t) values[t]: the value of choice c of state s, if values are the values of its successors.
func choiceValue(model *sparse.Model, reward *sparse.Reward, values []float64, s, choice int) float64 {
	value := reward.ChoiceTotal(s, choice)
	first, end := model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		value += model.Prob(transition) * values[model.Target[transition]]
	}
	return value
}

// decreasesDistance reports whether some successor of a choice has a smaller distance than the state of the choice.
func decreasesDistance(model *sparse.Model, distances []int, state, choice int) bool {
	first, end := model.Transitions(choice)
	for _, target := range model.Target[first:end] {
		if distances[target] < distances[state] {
			return true
		}
	}
	return false
}

// distances returns, for each state, the least number of transitions to a state where the scheduler allows any choice. It follows optimal
// choices and the choices of the scheduler. The distance is math.MaxInt if there is no such path.
func distances(model *sparse.Model, choices []uint32, optimalChoices *sparse.Set) []int {
	result := make([]int, model.NumStates())
	var queue []uint32
	for s := range result {
		result[s] = math.MaxInt
		if choices[s] == sparse.None {
			result[s] = 0
			queue = append(queue, uint32(s))
		}
	}
	graph := sparse.NewGraph(model)
	for i := 0; i < len(queue); i++ {
		for _, choice := range graph.Into(int(queue[i])) {
			s := graph.Owner(choice)
			isFollowed := optimalChoices.Has(int(choice)) || choices[s] == choice
			if isFollowed && result[s] == math.MaxInt {
				result[s] = result[queue[i]] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return result
}
