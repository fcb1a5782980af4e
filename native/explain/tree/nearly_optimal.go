package tree

import (
	"math"

	"tilecheck/native/space/sparse"
)

// NearlyOptimal returns Task.Allowed for the optimal values of the states, given by bounds. A choice is allowed if its own value
// is at most so much worse, and one of its successors is nearer to a state in which the scheduler has no choice to make: choices
// that are optimal by value alone may stay in a cycle. The result is nil if a value is infinite. The reward is nil for
// probabilities.
func NearlyOptimal(m *sparse.Model, lower, upper []float64, reward *sparse.Reward, choices []uint32) func(state, choice int, worse float64) bool {
	mid := make([]float64, len(lower))
	for i := range mid {
		if mid[i] = (lower[i] + upper[i]) / 2; math.IsInf(mid[i], 0) || math.IsNaN(mid[i]) {
			return nil
		}
	}
	optimal := sparse.NewSet(m.NumChoices())
	loss := make([]float64, m.NumChoices())
	for i := range mid {
		first, end := m.Choices(i)
		for c := first; c < end; c++ {
			sum := reward.OfChoice(i, c)
			from, to := m.Row(c)
			for k := from; k < to; k++ {
				sum += m.Prob(k) * mid[m.Target[k]]
			}
			if loss[c] = math.Abs(sum-mid[i]) - upper[i] + lower[i]; loss[c] <= 1e-9*max(1e-9, math.Abs(mid[i])) {
				loss[c] = 0
				optimal.Add(c)
			}
		}
	}
	distance := distances(m, choices, optimal)
	return func(state, choice int, worse float64) bool {
		if loss[choice] > worse {
			return false
		}
		lo, hi := m.Row(choice)
		for _, t := range m.Target[lo:hi] {
			if distance[t] < distance[state] {
				return true
			}
		}
		return false
	}
}

// distances returns, for each state, the smallest number of steps of optimal choices to a state without a choice of the scheduler.
func distances(m *sparse.Model, choices []uint32, optimal *sparse.Set) []int {
	distance := make([]int, m.NumStates())
	var queue []uint32
	for s := range distance {
		if distance[s] = math.MaxInt; choices[s] == sparse.None {
			distance[s] = 0
			queue = append(queue, uint32(s))
		}
	}
	g := sparse.NewGraph(m)
	for i := 0; i < len(queue); i++ {
		for _, c := range g.Into(int(queue[i])) {
			if s := g.Owner(c); distance[s] == math.MaxInt && (optimal.Has(int(c)) || choices[s] == c) {
				distance[s] = distance[queue[i]] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return distance
}
