package hostile

import "math/big"

// chain is a Markov chain in discrete or continuous time.
type chain struct {
	probabilities [][]*big.Rat // transition probabilities; each row sums to 1
	stepRewards   []*big.Rat   // the expected reward of a step from each state
	exitRates     []*big.Rat   // exit rates; nil in discrete time; 0 for an absorbing state
	rewardRates   []*big.Rat   // reward per unit of time; nil in discrete time
}

func (c *chain) size() int { return len(c.probabilities) }

// reachability returns the matrix of which states can be reached from which states. Each state is reachable from itself.
func (c *chain) reachability() [][]bool {
	n := c.size()
	isReachable := make([][]bool, n)
	for i := range isReachable {
		isReachable[i] = make([]bool, n)
		for j := range isReachable[i] {
			isReachable[i][j] = i == j || c.probabilities[i][j].Sign() > 0
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				isReachable[i][j] = isReachable[i][j] || isReachable[i][k] && isReachable[k][j]
			}
		}
	}
	return isReachable
}

// bottomComponents returns, for each state in a bottom strongly connected component, the set of states of this component. It is nil for other states.
func (c *chain) bottomComponents() [][]bool {
	isReachable := c.reachability()
	components := make([][]bool, c.size())
	for i := range components {
		isBottom := true
		for j := range components {
			isBottom = isBottom && (!isReachable[i][j] || isReachable[j][i])
		}
		if isBottom {
			components[i] = isReachable[i]
		}
	}
	return components
}

// withoutOutgoing returns a copy of the chain without the transitions of states outside keptStates.
func (c *chain) withoutOutgoing(keptStates []bool) *chain {
	n := c.size()
	result := &chain{probabilities: make([][]*big.Rat, n)}
	for i := range n {
		result.probabilities[i] = c.probabilities[i]
		if !keptStates[i] {
			result.probabilities[i] = zeros(n)
		}
	}
	return result
}

// untilProbabilities returns the probability of reaching a goal state through safe states.
func (c *chain) untilProbabilities(safe, goal []bool) []*big.Rat {
	n := c.size()
	openStates := make([]bool, n)
	for i := range n {
		openStates[i] = safe[i] && !goal[i]
	}
	isReachable := c.withoutOutgoing(openStates).reachability()
	unknownStates, knownValues := make([]bool, n), zeros(n)
	for i := range n {
		for j := range n {
			unknownStates[i] = unknownStates[i] || openStates[i] && goal[j] && isReachable[i][j]
		}
		if goal[i] {
			knownValues[i].SetInt64(1)
		}
	}
	return c.solveEquations(unknownStates, knownValues, zeros(n))
}

// solveEquations solves the equations x = P x + constants for the unknown states, where P are the transition probabilities. The other states have the
// values in knownValues.
func (c *chain) solveEquations(unknownStates []bool, knownValues, constants []*big.Rat) []*big.Rat {
	n := c.size()
	var indices []int
	for i := range n {
		if unknownStates[i] {
			indices = append(indices, i)
		}
	}
	rows := make([][]*big.Rat, len(indices))
	for rowIndex, i := range indices {
		row := zeros(len(indices) + 1)
		for column, j := range indices {
			row[column].Neg(c.probabilities[i][j])
		}
		row[rowIndex].Add(row[rowIndex], rat(1, 1))
		rightSide := row[len(indices)]
		rightSide.Set(constants[i])
		for j := range n {
			if !unknownStates[j] && c.probabilities[i][j].Sign() > 0 {
				rightSide.Add(rightSide, mul(c.probabilities[i][j], knownValues[j]))
			}
		}
		rows[rowIndex] = row
	}
	solution := append([]*big.Rat(nil), knownValues...)
	for rowIndex, value := range eliminate(rows) {
		solution[indices[rowIndex]] = value
	}
	return solution
}

// eliminate solves a regular system of linear equations by Gauss-Jordan elimination. Each row has the coefficients and the right-hand side.
func eliminate(rows [][]*big.Rat) []*big.Rat {
	n := len(rows)
	for k := range n {
		pivot := k
		for rows[pivot][k].Sign() == 0 {
			pivot++
		}
		rows[k], rows[pivot] = rows[pivot], rows[k]
		inverse := new(big.Rat).Inv(rows[k][k])
		for j := k; j <= n; j++ {
			rows[k][j] = mul(rows[k][j], inverse)
		}
		for i := range n {
			if factor := rows[i][k]; i != k && factor.Sign() != 0 {
				for j := n; j >= k; j-- {
					if rows[k][j].Sign() != 0 {
						rows[i][j] = sub(rows[i][j], mul(factor, rows[k][j]))
					}
				}
			}
		}
	}
	solution := make([]*big.Rat, n)
	for i := range solution {
		solution[i] = rows[i][n]
	}
	return solution
}

// rewardToGoal returns the expected reward until a goal state is reached. It is infinite if the probability of reaching one is less than 1.
func (c *chain) rewardToGoal(goal []bool) []Value {
	n := c.size()
	allStates := equalValues(n, true)
	goalProbability := c.untilProbabilities(allStates, goal)
	return c.rewardUntil(func(i int) bool { return goalProbability[i].Cmp(rat(1, 1)) != 0 }, func(i int) bool { return goal[i] })
}

// totalReward returns the expected total reward. It is infinite if a bottom component with a positive reward can be reached.
func (c *chain) totalReward() []Value {
	isReachable, components := c.reachability(), c.bottomComponents()
	isInfinite := func(i int) bool {
		for j := range c.size() {
			if isReachable[i][j] && components[j] != nil && c.stepRewards[j].Sign() > 0 {
				return true
			}
		}
		return false
	}
	return c.rewardUntil(isInfinite, func(i int) bool { return components[i] != nil })
}

// rewardUntil returns the expected reward until a state for which isDone holds. It is infinite where isInfinite holds.
func (c *chain) rewardUntil(isInfinite, isDone func(int) bool) []Value {
	n := c.size()
	unknownStates := make([]bool, n)
	for i := range n {
		unknownStates[i] = !isInfinite(i) && !isDone(i)
	}
	solution := c.solveEquations(unknownStates, zeros(n), c.stepRewards)
	values := exactlyAll(solution)
	for i := range n {
		if isInfinite(i) {
			values[i] = Value{Inf: true}
		}
	}
	return values
}

// longRunAverage returns the expected long-run average of stateValues, from each state.
func (c *chain) longRunAverage(stateValues []*big.Rat) []*big.Rat {
	n := c.size()
	components := c.bottomComponents()
	averages, seenStates := zeros(n), make([]bool, n)
	for i := range n {
		if components[i] == nil || seenStates[i] {
			continue
		}
		for j := range n {
			seenStates[j] = seenStates[j] || components[i][j]
		}
		mean := c.stationaryMean(components[i], stateValues)
		for s, probability := range c.untilProbabilities(equalValues(n, true), components[i]) {
			averages[s] = add(averages[s], mul(probability, mean))
		}
	}
	return averages
}

// stationaryMean returns the mean of stateValues in the stationary distribution of a bottom strongly connected component.
func (c *chain) stationaryMean(component []bool, stateValues []*big.Rat) *big.Rat {
	var indices []int
	for i, isMember := range component {
		if isMember {
			indices = append(indices, i)
		}
	}
	n := len(indices)
	rows := make([][]*big.Rat, n)
	for row := range n {
		rows[row] = zeros(n + 1)
		for column := range n {
			rows[row][column].Set(c.probabilities[indices[column]][indices[row]])
			if row == column {
				rows[row][column].Sub(rows[row][column], rat(1, 1))
			}
			if row == 0 {
				rows[row][column].SetInt64(1)
			}
		}
	}
	rows[0][n].SetInt64(1)
	distribution := eliminate(rows)
	mean, weightSum := new(big.Rat), new(big.Rat)
	for row, i := range indices {
		weight := distribution[row]
		if c.exitRates != nil && c.exitRates[i].Sign() > 0 {
			weight = quo(weight, c.exitRates[i])
		}
		mean.Add(mean, mul(weight, stateValues[i]))
		weightSum.Add(weightSum, weight)
	}
	return mean.Quo(mean, weightSum)
}

// equalValues returns n equal values.
func equalValues(n int, value bool) []bool {
	values := make([]bool, n)
	for i := range values {
		values[i] = value
	}
	return values
}

// not returns the complement of a set of states.
func not(set []bool) []bool {
	complement := make([]bool, len(set))
	for i, isMember := range set {
		complement[i] = !isMember
	}
	return complement
}

// both returns the intersection of two sets of states.
func both(left, right []bool) []bool {
	intersection := make([]bool, len(left))
	for i := range left {
		intersection[i] = left[i] && right[i]
	}
	return intersection
}

// indicator returns 1 for the states of a set, and 0 for others.
func indicator(set []bool) []*big.Rat {
	values := zeros(len(set))
	for i, isMember := range set {
		if isMember {
			values[i].SetInt64(1)
		}
	}
	return values
}
