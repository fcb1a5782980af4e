package tree

import (
	"math"

	"tilecheck/native/space/sparse"
)

// NearlyOptimal returns a function for Task.Allowed, given bounds on the optimal values of the states. It allows a choice if its
// value is worse than optimal by at most the tolerance, and one of its successors is nearer to a state where the scheduler has no
// choice to make. The second condition is needed because choices with optimal values can stay in a cycle forever. The result is
// nil if a value is infinite. reward is nil if the values are probabilities.
func NearlyOptimal(m *sparse.Model, lower, upper []float64, reward *sparse.Reward, choices []uint32) func(state, choice int, tolerance float64) bool {
	mid := make([]float64, len(lower))
	for s := range mid {
		mid[s] = (lower[s] + upper[s]) / 2
		if math.IsInf(mid[s], 0) || math.IsNaN(mid[s]) {
			return nil
		}
	}
	optimal := sparse.NewSet(m.NumChoices())
	loss := make([]float64, m.NumChoices())
	for s := range mid {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			value := reward.OfChoice(s, c)
			from, to := m.Row(c)
			for i := from; i < to; i++ {
				value += m.Prob(i) * mid[m.Target[i]]
			}
			width := upper[s] - lower[s]
			loss[c] = math.Abs(value-mid[s]) - width
			if loss[c] <= 1e-9*max(1e-9, math.Abs(mid[s])) {
				loss[c] = 0
				optimal.Add(c)
			}
		}
	}
	distance := distances(m, choices, optimal)
	return func(state, choice int, tolerance float64) bool {
		if loss[choice] > tolerance {
			return false
		}
		lo, hi := m.Row(choice)
		for _, target := range m.Target[lo:hi] {
			if distance[target] < distance[state] {
				return true
			}
		}
		return false
	}
}

// distances returns, for each state, the smallest number of steps to a state where the scheduler has no choice to make, by
// optimal choices and those of the scheduler. It is math.MaxInt if there is no such path.
func distances(m *sparse.Model, choices []uint32, optimal *sparse.Set) []int {
	distance := make([]int, m.NumStates())
	var queue []uint32
	for s := range distance {
		distance[s] = math.MaxInt
		if choices[s] == sparse.None {
			distance[s] = 0
			queue = append(queue, uint32(s))
		}
	}
	g := sparse.NewGraph(m)
	for i := 0; i < len(queue); i++ {
		for _, c := range g.Into(int(queue[i])) {
			s := g.Owner(c)
			followed := optimal.Has(int(c)) || choices[s] == c
			if followed && distance[s] == math.MaxInt {
				distance[s] = distance[queue[i]] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return distance
}
