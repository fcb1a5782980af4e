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

// triangulate writes a belief as a convex combination of grid points, whose probabilities are multiples
// of 1/resolution: the corners of the simplex of Freudenthal's triangulation that contains it. All
// weights are positive.
//
// Source: Lovejoy, Computationally feasible bounds for partially observed Markov decision processes,
// Operations Research 39 (1991), section 2.
func (b *belief) triangulate(resolution int) []gridCorner {
	n := len(b.states)
	m := big.NewInt(int64(resolution))
	// Let x[i] be resolution times the probability of states i and later. floor is its integer part, and
	// fractional its fractional part times the total.
	floor, fractional := make([]*big.Int, n), make([]*big.Int, n)
	sum := new(big.Int)
	for i := n - 1; i >= 0; i-- {
		sum.Add(sum, b.weights[i])
		floor[i], fractional[i] = new(big.Int).QuoRem(new(big.Int).Mul(sum, m), b.total, new(big.Int))
	}
	order := make([]int, 0, n) // positions with a fractional part, greatest first
	for i := range n {
		if fractional[i].Sign() > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return fractional[j].Cmp(fractional[i]) })
	var out []gridCorner
	before := b.total
	for k := 0; ; k++ {
		next := new(big.Int)
		if k < len(order) {
			next = fractional[order[k]]
		}
		if share := new(big.Int).Sub(before, next); share.Sign() > 0 {
			out = append(out, gridCorner{b.gridPoint(floor), new(big.Rat).SetFrac(share, b.total)})
		}
		if k == len(order) {
			return out
		}
		i := order[k]
		floor[i] = new(big.Int).Add(floor[i], big.NewInt(1))
		before = next
	}
}

// gridPoint returns the grid point with the given cumulative sums, from the last state on.
func (b *belief) gridPoint(sums []*big.Int) *belief {
	var states []uint32
	var weights []*big.Int
	for i, s := range b.states {
		w := new(big.Int).Set(sums[i])
		if i+1 < len(sums) {
			w.Sub(w, sums[i+1])
		}
		if w.Sign() > 0 {
			states, weights = append(states, s), append(weights, w)
		}
	}
	return newBelief(states, weights)
}
