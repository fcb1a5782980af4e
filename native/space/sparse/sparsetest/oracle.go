package sparsetest

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// Solve returns the solution of x = a x + b by Gaussian elimination, or nil if there is not exactly
// one. It overwrites its arguments.
func Solve(a [][]*big.Rat, b []*big.Rat) []*big.Rat {
	n := len(a)
	for i := range n { // (1 - a) x = b
		for j := range n {
			a[i][j].Neg(a[i][j])
		}
		a[i][i].Add(a[i][i], big.NewRat(1, 1))
	}
	for k := range n {
		pivot := k
		for pivot < n && a[pivot][k].Sign() == 0 {
			pivot++
		}
		if pivot == n {
			return nil
		}
		a[k], a[pivot] = a[pivot], a[k]
		b[k], b[pivot] = b[pivot], b[k]
		for i := range n {
			if i == k || a[i][k].Sign() == 0 {
				continue
			}
			factor := new(big.Rat).Quo(a[i][k], a[k][k])
			for j := range n {
				a[i][j].Sub(a[i][j], new(big.Rat).Mul(factor, a[k][j]))
			}
			b[i].Sub(b[i], new(big.Rat).Mul(factor, b[k]))
		}
	}
	for i := range n {
		b[i].Quo(b[i], a[i][i])
	}
	return b
}

// Stochastic divides the rows of a matrix by their sums, in place.
func Stochastic(a [][]*big.Rat) [][]*big.Rat {
	for _, row := range a {
		sum := new(big.Rat)
		for _, probability := range row {
			sum.Add(sum, probability)
		}
		for _, probability := range row {
			probability.Quo(probability, sum)
		}
	}
	return a
}

// zeros returns a vector of n zeros.
func zeros(n int) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	return out
}

// restrict returns a matrix in which the rows and columns of states that are not open are zero.
func restrict(matrix [][]*big.Rat, open *sparse.Set) [][]*big.Rat {
	out := make([][]*big.Rat, len(matrix))
	for s := range matrix {
		out[s] = zeros(len(matrix))
		for target := range matrix {
			if open.Has(s) && open.Has(target) {
				out[s][target].Set(matrix[s][target])
			}
		}
	}
	return out
}

// UntilProb returns the probability of `left U right` from each state of the chain with a stochastic matrix.
// It solves the equations of the states outside right that can reach right.
func UntilProb(a [][]*big.Rat, left, right *sparse.Set) []*big.Rat {
	n := len(a)
	reach := Reach(a, left.Minus(right))
	open := sparse.NewSet(n)
	b := zeros(n)
	for s := range n {
		for target := range right.All() {
			if reach[s][target] && !right.Has(s) {
				open.Add(s)
				b[s].Add(b[s], a[s][target])
			}
		}
		if right.Has(s) {
			b[s].SetInt64(1)
		}
	}
	for s := range n {
		if !open.Has(s) && !right.Has(s) {
			b[s].SetInt64(0)
		}
	}
	return Solve(restrict(a, open), b)
}

// RewardUntil returns the expected reward until target is reached, in the chain with a stochastic
// matrix where a step from s has reward rewards[s]. A value is nil, for infinity, if its state does not
// reach target with probability one.
func RewardUntil(a [][]*big.Rat, rewards []*big.Rat, target *sparse.Set) []*big.Rat {
	n := len(a)
	p := UntilProb(a, sparse.FullSet(n), target)
	open := sparse.NewSet(n)
	b := zeros(n)
	for s := range n {
		if p[s].Cmp(big.NewRat(1, 1)) == 0 && !target.Has(s) {
			open.Add(s)
			b[s].Set(rewards[s])
		}
	}
	values := Solve(restrict(a, open), b)
	for s := range n {
		if !open.Has(s) && !target.Has(s) {
			values[s] = nil
		}
	}
	return values
}

// RewardTotal returns the expected total reward, nil where it is infinite.
func RewardTotal(a [][]*big.Rat, rewards []*big.Rat) []*big.Rat {
	n := len(a)
	reach := Reach(a, sparse.FullSet(n))
	rewardless := sparse.NewSet(n) // states that can reach no state with a reward
	for s := range n {
		reachesReward := false
		for target := range n {
			reachesReward = reachesReward || reach[s][target] && rewards[target].Sign() > 0
		}
		if !reachesReward {
			rewardless.Add(s)
		}
	}
	return RewardUntil(a, rewards, rewardless)
}

// Gains returns the expected reward of a step from each state under a scheduler: its state reward plus that
// of its choice. In a CTMC it divides by the exit rate, as rewards are per unit of time.
func Gains(m *sparse.Model, scheduler []uint32, reward *sparse.Reward) []*big.Rat {
	out := zeros(m.NumStates())
	for s := range out {
		if reward.StateRat != nil && reward.StateRat[s] != nil {
			out[s].Add(out[s], reward.StateRat[s])
		}
		if reward.ChoiceRat != nil && reward.ChoiceRat[scheduler[s]] != nil {
			out[s].Add(out[s], reward.ChoiceRat[scheduler[s]])
		}
		if m.Kind == sparse.CTMC {
			out[s].Quo(out[s], exitRate(m, s))
		}
	}
	return out
}

// exitRate returns the exit rate of a state.
func exitRate(m *sparse.Model, s int) *big.Rat {
	sum := new(big.Rat)
	first, end := m.Row(s)
	for i := first; i < end; i++ {
		sum.Add(sum, m.Rat(i))
	}
	return sum
}

// Extremum returns the entrywise minimum (if least) or maximum of best and values, the values of one more
// scheduler. It overwrites best, which is nil in the first call. nil values are infinite.
func Extremum(best, values []*big.Rat, least bool) []*big.Rat {
	if best == nil {
		return append([]*big.Rat(nil), values...)
	}
	for s := range values {
		better := Less(best[s], values[s])
		if least {
			better = Less(values[s], best[s])
		}
		if better {
			best[s] = values[s]
		}
	}
	return best
}

// Less reports whether left < right; nil is infinite.
func Less(left, right *big.Rat) bool {
	switch {
	case left == nil:
		return false
	case right == nil:
		return true
	}
	return left.Cmp(right) < 0
}
