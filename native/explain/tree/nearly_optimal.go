package tree

import (
	"math"

	"tilecheck/native/space/sparse"
)

// NearlyOptimal returns a function that reports whether a choice loses at most a tolerance of the optimal value. lower and upper are bounds of
// the optimal values of the states; scheduler has the choice of an optimal scheduler in each state. reward is nil if the values are probabilities.
// The result is nil if a value is infinite.
func NearlyOptimal(model *sparse.Model, lower, upper []float64, reward *sparse.Reward, scheduler []uint32) (
	isAllowed func(state, choice int, tolerance float64) bool,
) {
	midpoints := make([]float64, len(lower))
	for s := range midpoints {
		midpoints[s] = (lower[s] + upper[s]) / 2
		if math.IsInf(midpoints[s], 0) || math.IsNaN(midpoints[s]) {
			return nil
		}
	}
	const relativeError, leastMagnitude = 1e-9, 1e-9
	losses := make([]float64, model.NumChoices())
	optimalChoices := sparse.NewSet(model.NumChoices())
	for s, value := range midpoints {
		uncertainty := upper[s] - lower[s]
		roundingError := relativeError * max(leastMagnitude, math.Abs(value))
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			losses[choice] = math.Abs(choiceValue(model, reward, midpoints, s, choice)-value) - uncertainty
			if losses[choice] <= roundingError {
				losses[choice] = 0
				optimalChoices.Add(choice)
			}
		}
	}
	// Choices with optimal values may form a cycle that never reaches the target. So an allowed choice must also come nearer to states where the
	// scheduler is free to choose.
	distance := distances(model, scheduler, optimalChoices)
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

// distances returns, for each state, the least number of transitions to a state where the scheduler allows any choice, along optimal choices and choices
// of the scheduler. The distance is math.MaxInt if these choices do not lead to such a state.
func distances(model *sparse.Model, scheduler []uint32, optimalChoices *sparse.Set) []int {
	distance := make([]int, model.NumStates())
	var queue []uint32
	for s := range distance {
		distance[s] = math.MaxInt
		if scheduler[s] == sparse.None {
			distance[s] = 0
			queue = append(queue, uint32(s))
		}
	}
	graph := sparse.NewGraph(model)
	for i := 0; i < len(queue); i++ { // a backward breadth-first search
		for _, choice := range graph.Into(int(queue[i])) {
			s := graph.Owner(choice)
			isFollowed := optimalChoices.Has(int(choice)) || scheduler[s] == choice
			if isFollowed && distance[s] == math.MaxInt {
				distance[s] = distance[queue[i]] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return distance
}
