package belief

import (
	"math/big"
	"slices"
)

// gridCorner is a grid point, with its weight in a convex combination.
type gridCorner struct {
	belief *belief
	weight *big.Rat
}

// triangulate returns grid points and positive weights with the sum 1, such that the weighted sum of the grid points is the belief. A grid point is a belief
// whose probabilities are multiples of 1/resolution. The returned grid points are the corners of the simplex of Freudenthal's triangulation that contains
// the belief.
//
// Source: Lovejoy, Computationally feasible bounds for partially observed Markov decision processes,
// Operations Research 39 (1991), section 2.
func (belief *belief) triangulate(resolution int) []gridCorner {
	// The first corner has the integer parts of the cumulative weights. Each next corner rounds one more coordinate up, in the
	// order of decreasing fractional parts. The weight of a corner is the difference of two successive fractional parts.
	corner, fractions := belief.cumulativeWeights(resolution)
	var corners []gridCorner
	previous := belief.totalWeight
	for _, i := range decreasingOrder(fractions) {
		corners = belief.appendCorner(corners, corner, new(big.Int).Sub(previous, fractions[i]))
		corner[i] = new(big.Int).Add(corner[i], big.NewInt(1))
		previous = fractions[i]
	}
	return belief.appendCorner(corners, corner, previous)
}

// appendCorner appends a grid point with the weight weight/belief.total, unless the weight is zero. sums[i] is the grid point's weight of the
// states i and later.
func (belief *belief) appendCorner(corners []gridCorner, sums []*big.Int, weight *big.Int) []gridCorner {
	if weight.Sign() == 0 {
		return corners
	}
	return append(corners, gridCorner{belief.gridPoint(sums), new(big.Rat).SetFrac(weight, belief.totalWeight)})
}

// decreasingOrder returns the indices of the positive numbers, ordered by their numbers from the greatest to the least.
func decreasingOrder(numbers []*big.Int) []int {
	order := make([]int, 0, len(numbers))
	for i := range numbers {
		if numbers[i].Sign() > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return numbers[j].Cmp(numbers[i]) })
	return order
}

// cumulativeWeights computes resolution * P(states[i] or a later state) for each i. It returns the integer parts, and the fractional parts multiplied by the
// total weight, so that these are integers, too.
func (belief *belief) cumulativeWeights(resolution int) (integers, fractions []*big.Int) {
	numStates := len(belief.states)
	integers, fractions = make([]*big.Int, numStates), make([]*big.Int, numStates)
	factor := big.NewInt(int64(resolution))
	sum := new(big.Int)
	for i := numStates - 1; i >= 0; i-- {
		sum.Add(sum, belief.weights[i])
		product := new(big.Int).Mul(sum, factor)
		integers[i], fractions[i] = new(big.Int).QuoRem(product, belief.totalWeight, new(big.Int))
	}
	return integers, fractions
}

// gridPoint returns the grid point in which sums[i] is the sum of the weights of states[i] and all later states.
func (belief *belief) gridPoint(sums []*big.Int) *belief {
	var states []uint32
	var weights []*big.Int
	for i, state := range belief.states {
		weight := new(big.Int).Set(sums[i])
		if i+1 < len(sums) {
			weight.Sub(weight, sums[i+1])
		}
		if weight.Sign() > 0 {
			states = append(states, state)
			weights = append(weights, weight)
		}
	}
	return newBelief(states, weights)
}
