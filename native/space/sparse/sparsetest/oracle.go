package sparsetest

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// Solve returns the solution of x = matrix·x + constants by Gaussian elimination. It returns nil if the solution
// is not unique. It overwrites its arguments.
func Solve(matrix [][]*big.Rat, constants []*big.Rat) []*big.Rat {
	for i, row := range matrix { // the matrix of (1 - matrix) x = constants
		for _, entry := range row {
			entry.Neg(entry)
		}
		row[i].Add(row[i], big.NewRat(1, 1))
	}
	for k := range matrix {
		pivot := k
		for pivot < len(matrix) && matrix[pivot][k].Sign() == 0 {
			pivot++
		}
		if pivot == len(matrix) {
			return nil
		}
		matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
		constants[k], constants[pivot] = constants[pivot], constants[k]
		eliminate(matrix, constants, k)
	}
	for i := range matrix {
		constants[i].Quo(constants[i], matrix[i][i])
	}
	return constants
}

// eliminate subtracts multiples of row k from all other rows, so that their entries in column k become zero.
func eliminate(matrix [][]*big.Rat, constants []*big.Rat, k int) {
	for i := range matrix {
		if i == k || matrix[i][k].Sign() == 0 {
			continue
		}
		factor := new(big.Rat).Quo(matrix[i][k], matrix[k][k])
		for j := range matrix {
			matrix[i][j].Sub(matrix[i][j], new(big.Rat).Mul(factor, matrix[k][j]))
		}
		constants[i].Sub(constants[i], new(big.Rat).Mul(factor, constants[k]))
	}
}

// Stochastic divides the rows of a matrix by their sums, in place.
func Stochastic(matrix [][]*big.Rat) [][]*big.Rat {
	for _, row := range matrix {
		sum := new(big.Rat)
		for _, probability := range row {
			sum.Add(sum, probability)
		}
		for _, probability := range row {
			probability.Quo(probability, sum)
		}
	}
	return matrix
}

// zeros returns a vector of n zeros.
func zeros(n int) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	return out
}

// restrict returns a copy of the matrix in which all entries outside of the rows and columns of the given states are zero.
func restrict(matrix [][]*big.Rat, states *sparse.Set) [][]*big.Rat {
	restricted := make([][]*big.Rat, len(matrix))
	for s := range matrix {
		restricted[s] = zeros(len(matrix))
		for target := range matrix {
			if states.Has(s) && states.Has(target) {
				restricted[s][target].Set(matrix[s][target])
			}
		}
	}
	return restricted
}

// UntilProb returns the probability of `left U right` from each state of a Markov chain with the given matrix. It solves x = A x + b, where
// b has the probabilities to enter right in one step.
func UntilProb(matrix [][]*big.Rat, left, right *sparse.Set) []*big.Rat {
	n := len(matrix)
	reachable := Reach(matrix, left.Minus(right))
	unknown := sparse.NewSet(n) // states outside right that can reach right
	rightSide := zeros(n)       // the probability to enter right in one step; 1 in right
	for s := range n {
		if right.Has(s) {
			rightSide[s].SetInt64(1)
			continue
		}
		for target := range right.All() {
			if reachable[s][target] {
				unknown.Add(s)
				rightSide[s].Add(rightSide[s], matrix[s][target])
			}
		}
	}
	return Solve(restrict(matrix, unknown), rightSide)
}

// RewardUntil returns the expected reward until target is reached, from each state of a Markov chain with the given matrix. Each step from
// s earns rewards[s]. The result is nil, for infinity, if a state does not reach target with probability one.
func RewardUntil(matrix [][]*big.Rat, rewards []*big.Rat, target *sparse.Set) []*big.Rat {
	n := len(matrix)
	probability := UntilProb(matrix, sparse.FullSet(n), target)
	finite := sparse.NewSet(n)
	constants := zeros(n)
	for s := range n {
		if probability[s].Cmp(big.NewRat(1, 1)) == 0 && !target.Has(s) {
			finite.Add(s)
			constants[s].Set(rewards[s])
		}
	}
	values := Solve(restrict(matrix, finite), constants)
	for s := range n {
		if !finite.Has(s) && !target.Has(s) {
			values[s] = nil
		}
	}
	return values
}

// RewardTotal returns the expected total reward from each state of a Markov chain, or nil for infinity. It equals the reward until a state
// is reached from which no reward is reachable.
func RewardTotal(matrix [][]*big.Rat, rewards []*big.Rat) []*big.Rat {
	n := len(matrix)
	reachable := Reach(matrix, sparse.FullSet(n))
	rewardless := sparse.FullSet(n)
	for s := range n {
		for target := range n {
			if reachable[s][target] && rewards[target].Sign() > 0 {
				rewardless.Remove(s)
			}
		}
	}
	return RewardUntil(matrix, rewards, rewardless)
}

// Gains returns the expected reward of one step from each state under a scheduler: the reward of the state plus the reward of its choice.
// In a CTMC, where rewards are per unit of time, the sum is divided by the exit rate.
func Gains(model *sparse.Model, scheduler []uint32, reward *sparse.Reward) []*big.Rat {
	gains := zeros(model.NumStates())
	for s := range gains {
		if reward.StateFractions != nil && reward.StateFractions[s] != nil {
			gains[s].Add(gains[s], reward.StateFractions[s])
		}
		if reward.ChoiceFractions != nil && reward.ChoiceFractions[scheduler[s]] != nil {
			gains[s].Add(gains[s], reward.ChoiceFractions[scheduler[s]])
		}
		if model.Kind == sparse.CTMC {
			gains[s].Quo(gains[s], exitRate(model, s))
		}
	}
	return gains
}

// exitRate returns the exit rate of a state.
func exitRate(model *sparse.Model, s int) *big.Rat {
	sum := new(big.Rat)
	first, end := model.Transitions(s)
	for i := first; i < end; i++ {
		sum.Add(sum, model.Fraction(i))
	}
	return sum
}

// Extremum returns the minimum or the maximum of best[s] and values[s] for each s, where nil stands for infinity. best is nil in the first
// call; otherwise it is overwritten with the result.
func Extremum(best, values []*big.Rat, isMinimum bool) []*big.Rat {
	if best == nil {
		return append([]*big.Rat(nil), values...)
	}
	for s := range values {
		isBetter := Less(best[s], values[s])
		if isMinimum {
			isBetter = Less(values[s], best[s])
		}
		if isBetter {
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
