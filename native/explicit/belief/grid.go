package belief

import (
	"math/big"
	"slices"
)

// corner is a point of the grid with its share of a belief.
type corner struct {
	at    *belief
	share *big.Rat
}

// triangulate writes a belief as a mixture of points of the grid whose weights are
// multiples of 1/resolution: the corners of the simplex of Freudenthal's triangulation
// that it lies in. Their shares are positive and sum to one.
//
// Source: Lovejoy, Computationally feasible bounds for partially observed Markov
// decision processes, Operations Research 39 (1991), section 2.
func (b *belief) triangulate(resolution int) []corner {
	n := len(b.states)
	m := big.NewInt(int64(resolution))
	// x[i] is resolution times the belief in states i and later; whole and rest are
	// the integer below and what is left, in parts of the total.
	whole, rest := make([]*big.Int, n), make([]*big.Int, n)
	sum := new(big.Int)
	for i := n - 1; i >= 0; i-- {
		sum.Add(sum, b.weights[i])
		whole[i], rest[i] = new(big.Int).QuoRem(new(big.Int).Mul(sum, m), b.total, new(big.Int))
	}
	order := make([]int, 0, n) // of what is left, greatest first
	for i := range n {
		if rest[i].Sign() > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return rest[j].Cmp(rest[i]) })
	var out []corner
	before := b.total
	for k := 0; ; k++ {
		next := new(big.Int)
		if k < len(order) {
			next = rest[order[k]]
		}
		if share := new(big.Int).Sub(before, next); share.Sign() > 0 {
			out = append(out, corner{b.gridPoint(whole), new(big.Rat).SetFrac(share, b.total)})
		}
		if k == len(order) {
			return out
		}
		i := order[k]
		whole[i] = new(big.Int).Add(whole[i], big.NewInt(1))
		before = next
	}
}

// gridPoint returns the point whose sums from the end are given.
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
