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

// triangulate writes a belief as a convex combination of grid points, whose probabilities are multiples of
// 1/resolution. The grid points are the corners of the simplex of Freudenthal's triangulation that contains
// the belief. All weights are positive.
//
// Source: Lovejoy, Computationally feasible bounds for partially observed Markov decision processes,
// Operations Research 39 (1991), section 2.
func (b *belief) triangulate(resolution int) []gridCorner {
	corner, fractions := b.cumulativeWeights(resolution)
	// The first corner is the integer part of the cumulative weights. Each next corner has one coordinate more
	// rounded up, in the order of decreasing fractional parts.
	order := make([]int, 0, len(fractions))
	for i := range fractions {
		if fractions[i].Sign() > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return fractions[j].Cmp(fractions[i]) })
	var corners []gridCorner
	addCorner := func(greater, smaller *big.Int) { // the weight of the corner is the difference of two fractional parts
		difference := new(big.Int).Sub(greater, smaller)
		if difference.Sign() > 0 {
			corners = append(corners, gridCorner{b.gridPoint(corner), new(big.Rat).SetFrac(difference, b.total)})
		}
	}
	previous := b.total
	for _, i := range order {
		addCorner(previous, fractions[i])
		corner[i] = new(big.Int).Add(corner[i], big.NewInt(1))
		previous = fractions[i]
	}
	addCorner(previous, new(big.Int))
	return corners
}

// cumulativeWeights returns for each i the product of resolution and the probability of states i and later: its
// integer part, and its fractional part times the total weight.
func (b *belief) cumulativeWeights(resolution int) (integers, fractions []*big.Int) {
	n := len(b.states)
	integers, fractions = make([]*big.Int, n), make([]*big.Int, n)
	factor := big.NewInt(int64(resolution))
	sum := new(big.Int)
	for i := n - 1; i >= 0; i-- {
		sum.Add(sum, b.weights[i])
		product := new(big.Int).Mul(sum, factor)
		integers[i], fractions[i] = new(big.Int).QuoRem(product, b.total, new(big.Int))
	}
	return integers, fractions
}

// gridPoint returns the grid point with the given cumulative weights: sums[i] is the weight of states i and
// later.
func (b *belief) gridPoint(sums []*big.Int) *belief {
	var states []uint32
	var weights []*big.Int
	for i, s := range b.states {
		weight := new(big.Int).Set(sums[i])
		if i+1 < len(sums) {
			weight.Sub(weight, sums[i+1])
		}
		if weight.Sign() > 0 {
			states = append(states, s)
			weights = append(weights, weight)
		}
	}
	return newBelief(states, weights)
}
