package tree

import (
	"math"

	"tilecheck/native/space/sparse"
)

// NearlyOptimal returns a function for Task.Allowed, given bounds on the optimal values of the states. It allows a choice if its
// value is worse than optimal by at most the tolerance, and one of its successors is nearer to a state where the scheduler has no
// choice to make. The second condition is needed because choices with optimal values can stay in a cycle forever. The result is
// nil if a value is infinite. reward is nil if the values are probabilities.
func NearlyOptimal(model *sparse.Model, lower, upper []float64, reward *sparse.Reward, choices []uint32) func(state, choice int, tolerance float64) bool {
	midpoint := make([]float64, len(lower))
	for s := range midpoint {
		midpoint[s] = (lower[s] + upper[s]) / 2
		if math.IsInf(midpoint[s], 0) || math.IsNaN(midpoint[s]) {
			return nil
		}
	}
	loss := make([]float64, model.NumChoices())
	optimal := sparse.NewSet(model.NumChoices())
	for s := range midpoint {
		width := upper[s] - lower[s]
		first, end := model.Choices(s)
		for c := first; c < end; c++ {
			loss[c] = math.Abs(backup(model, reward, midpoint, s, c)-midpoint[s]) - width
			if loss[c] <= 1e-9*max(1e-9, math.Abs(midpoint[s])) {
				loss[c] = 0
				optimal.Add(c)
			}
		}
	}
	distance := distances(model, choices, optimal)
	return func(state, choice int, tolerance float64) bool {
		return loss[choice] <= tolerance && comesNearer(model, distance, state, choice)
	}
}

// backup returns the value of a choice for the given values of its successors.
func backup(model *sparse.Model, reward *sparse.Reward, values []float64, s, c int) float64 {
	value := reward.OfChoice(s, c)
	first, end := model.Row(c)
	for transition := first; transition < end; transition++ {
		value += model.Prob(transition) * values[model.Target[transition]]
	}
	return value
}

// comesNearer reports whether a successor of a choice has a smaller distance than its state.
func comesNearer(model *sparse.Model, distance []int, state, choice int) bool {
	first, end := model.Row(choice)
	for _, target := range model.Target[first:end] {
		if distance[target] < distance[state] {
			return true
		}
	}
	return false
}

// distances returns, for each state, the smallest number of steps to a state in which the scheduler leaves the choice open
// (sparse.None). Only optimal choices and choices of the scheduler are followed. The distance is math.MaxInt if there is no
// such path.
func distances(model *sparse.Model, choices []uint32, optimal *sparse.Set) []int {
	distance := make([]int, model.NumStates())
	var queue []uint32
	for s := range distance {
		distance[s] = math.MaxInt
		if choices[s] == sparse.None {
			distance[s] = 0
			queue = append(queue, uint32(s))
		}
	}
	graph := sparse.NewGraph(model)
	for i := 0; i < len(queue); i++ {
		for _, c := range graph.Into(int(queue[i])) {
			s := graph.Owner(c)
			followed := optimal.Has(int(c)) || choices[s] == c
			if followed && distance[s] == math.MaxInt {
				distance[s] = distance[queue[i]] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return distance
}
