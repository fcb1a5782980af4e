package sparsetest

import (
	"math/big"

	"tilecheck/native/space/sparse"
)

// Solve returns the solution of x = matrix·x + constants by Gaussian elimination. It returns nil if the solution
// is not unique. It overwrites its arguments.
func Solve(matrix [][]*big.Rat, constants []*big.Rat) []*big.Rat {
	for i, row := range matrix { // replace matrix by identity - matrix, the left side of the linear equations
		for _, entry := range row {
			entry.Neg(entry)
		}
		row[i].Add(row[i], big.NewRat(1, 1))
	}
	for column := range matrix {
		pivot := column
		for pivot < len(matrix) && matrix[pivot][column].Sign() == 0 {
			pivot++
		}
		if pivot == len(matrix) {
			return nil
		}
		matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
		constants[column], constants[pivot] = constants[pivot], constants[column]
		eliminate(matrix, constants, column)
	}
	for i := range matrix {
		constants[i].Quo(constants[i], matrix[i][i])
	}
	return constants
}

// eliminate subtracts multiples of the pivot row from all other rows, so that their entries in the column of the pivot become zero.
func eliminate(matrix [][]*big.Rat, constants []*big.Rat, pivot int) {
	for row := range matrix {
		if row == pivot || matrix[row][pivot].Sign() == 0 {
			continue
		}
		factor := new(big.Rat).Quo(matrix[row][pivot], matrix[pivot][pivot])
		for column := range matrix {
			matrix[row][column].Sub(matrix[row][column], new(big.Rat).Mul(factor, matrix[pivot][column]))
		}
		constants[row].Sub(constants[row], new(big.Rat).Mul(factor, constants[pivot]))
	}
}

// Stochastic divides each row of a matrix by its sum, so that each row becomes a probability distribution. It changes the matrix and returns it.
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
	for state := range matrix {
		restricted[state] = zeros(len(matrix))
		for target := range matrix {
			if states.Has(state) && states.Has(target) {
				restricted[state][target].Set(matrix[state][target])
			}
		}
	}
	return restricted
}

// UntilProb returns the probability of `left U right` from each state of a Markov chain with the given matrix. It solves x = A x + b, where
// b has the probabilities to enter right in one step.
func UntilProb(matrix [][]*big.Rat, left, right *sparse.Set) []*big.Rat {
	numStates := len(matrix)
	reachable := Reach(matrix, left.Minus(right))
	unknown := sparse.NewSet(numStates) // states outside right that can reach right
	rightSide := zeros(numStates)       // the probability to enter right in one step; 1 in right
	for state := range numStates {
		if right.Has(state) {
			rightSide[state].SetInt64(1)
			continue
		}
		for target := range right.All() {
			if reachable[state][target] {
				unknown.Add(state)
				rightSide[state].Add(rightSide[state], matrix[state][target])
			}
		}
	}
	return Solve(restrict(matrix, unknown), rightSide)
}

// RewardUntil returns the expected reward until target is reached, from each state of a Markov chain with the given transition matrix. Each step earns the
// reward of the state that it leaves. An entry is nil, for infinity, if the state reaches target with a probability below one.
func RewardUntil(matrix [][]*big.Rat, rewards []*big.Rat, target *sparse.Set) []*big.Rat {
	numStates := len(matrix)
	probability := UntilProb(matrix, sparse.FullSet(numStates), target)
	finite := sparse.NewSet(numStates)
	constants := zeros(numStates)
	for state := range numStates {
		if probability[state].Cmp(big.NewRat(1, 1)) == 0 && !target.Has(state) {
			finite.Add(state)
			constants[state].Set(rewards[state])
		}
	}
	values := Solve(restrict(matrix, finite), constants)
	for state := range numStates {
		if !finite.Has(state) && !target.Has(state) {
			values[state] = nil
		}
	}
	return values
}

// RewardTotal returns the expected total reward from each state of a Markov chain; an entry is nil for infinity. It is the expected reward until a state is
// reached from which no state with a reward is reachable.
func RewardTotal(matrix [][]*big.Rat, rewards []*big.Rat) []*big.Rat {
	numStates := len(matrix)
	reachable := Reach(matrix, sparse.FullSet(numStates))
	rewardless := sparse.FullSet(numStates)
	for state := range numStates {
		for target := range numStates {
			if reachable[state][target] && rewards[target].Sign() > 0 {
				rewardless.Remove(state)
			}
		}
	}
	return RewardUntil(matrix, rewards, rewardless)
}

// Gains returns the expected reward of one step from each state under a scheduler: the reward of the state plus the reward of its choice.
// In a CTMC, where rewards are per unit of time, the sum is divided by the exit rate.
func Gains(model *sparse.Model, scheduler []uint32, reward *sparse.Reward) []*big.Rat {
	gains := zeros(model.NumStates())
	for state := range gains {
		if reward.StateFractions != nil && reward.StateFractions[state] != nil {
			gains[state].Add(gains[state], reward.StateFractions[state])
		}
		if reward.ChoiceFractions != nil && reward.ChoiceFractions[scheduler[state]] != nil {
			gains[state].Add(gains[state], reward.ChoiceFractions[scheduler[state]])
		}
		if model.Kind == sparse.CTMC {
			gains[state].Quo(gains[state], exitRate(model, state))
		}
	}
	return gains
}

// exitRate returns the exit rate of a state.
func exitRate(model *sparse.Model, state int) *big.Rat {
	sum := new(big.Rat)
	first, end := model.Transitions(state)
	for i := first; i < end; i++ {
		sum.Add(sum, model.Fraction(i))
	}
	return sum
}

// Extremum returns, for each state, the minimum or the maximum of best and values, where nil stands for infinity. If best is nil, it returns a copy of
// values; otherwise it overwrites best with the result.
func Extremum(best, values []*big.Rat, isMinimum bool) []*big.Rat {
	if best == nil {
		return append([]*big.Rat(nil), values...)
	}
	for state := range values {
		isBetter := Less(best[state], values[state])
		if isMinimum {
			isBetter = Less(values[state], best[state])
		}
		if isBetter {
			best[state] = values[state]
		}
	}
	return best
}

// Less reports whether left < right, where nil stands for infinity.
func Less(left, right *big.Rat) bool {
	switch {
	case left == nil:
		return false
	case right == nil:
		return true
	}
	return left.Cmp(right) < 0
}
