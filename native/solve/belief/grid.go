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
	n := len(b.states)
	resolutionInt := big.NewInt(int64(resolution))
	// Let x[i] be resolution times the probability of states i and later. floor is its integer part, and
	// fractional its fractional part times the total.
	floor, fractional := make([]*big.Int, n), make([]*big.Int, n)
	sum := new(big.Int)
	for i := n - 1; i >= 0; i-- {
		sum.Add(sum, b.weights[i])
		floor[i], fractional[i] = new(big.Int).QuoRem(new(big.Int).Mul(sum, resolutionInt), b.total, new(big.Int))
	}
	order := make([]int, 0, n) // positions with a fractional part, greatest first
	for i := range n {
		if fractional[i].Sign() > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return fractional[j].Cmp(fractional[i]) })
	var corners []gridCorner
	previous := b.total
	for k := 0; ; k++ {
		next := new(big.Int)
		if k < len(order) {
			next = fractional[order[k]]
		}
		if share := new(big.Int).Sub(previous, next); share.Sign() > 0 {
			corners = append(corners, gridCorner{b.gridPoint(floor), new(big.Rat).SetFrac(share, b.total)})
		}
		if k == len(order) {
			return corners
		}
		i := order[k]
		floor[i] = new(big.Int).Add(floor[i], big.NewInt(1))
		previous = next
	}
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
