package solve

import (
	"math"

	"tilecheck/native/space/sparse"
)

// unit is the unit roundoff: the greatest relative error of one float64 operation. A nonnegative
// expression with n products, quotients and sums has a relative error below 1.01*n*unit, if nothing
// underflows and n is below 2^45.
//
// Source: Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1.
const unit = 0x1p-53

// rounding turns computed values into bounds on the true ones.
type rounding struct {
	// err is the relative error of a weight or reward.
	err float64
	// floor is the least positive bound: the product of a weight and a value of at least floor does not
	// underflow. A smaller lower bound becomes 0, a smaller upper bound becomes floor.
	floor float64
	// grid is a power of two of which all bounds are multiples; 0 for no grid.
	grid float64
}

// newRounding returns the relative error of the weights and rewards, and the least positive bound (the
// floor), below which products could underflow.
func newRounding(model *sparse.Model, reward *sparse.Reward) rounding {
	minWeight, maxWeight := 1.0, 1.0
	for _, weight := range model.Weights {
		minWeight, maxWeight = min(minWeight, weight), max(maxWeight, weight)
	}
	err := model.Err
	if reward != nil {
		err = max(err, reward.Err)
	}
	return rounding{err: err, floor: max(0x1p-900, 0x1p-1000/minWeight*maxWeight*0x1p32)}
}

// underflowThreshold is the value below which the loss at floor is not negligible.
func (r rounding) underflowThreshold() float64 { return r.floor / truncation }

// sumErr bounds the relative error of a weighted sum of n terms that is divided by the sum of the weights,
// including the rounding of the bound itself.
func (r rounding) sumErr(n int) float64 {
	return 1.05 * (float64(2*n+8)*unit + 2*r.err)
}

// down returns a lower bound on a value computed as x with relative error e. An overflow counts as the
// greatest float64.
func (r rounding) down(x, e float64) float64 {
	x = min(x, math.MaxFloat64)
	if x -= x * e; !(x >= r.floor) { // also if e is infinite
		return 0
	}
	return x
}

// coarseGrid reports whether the grid is coarser than float64 for some bounds.
func (r rounding) coarseGrid() bool { return r.grid*0x1p30 >= r.floor }

// floorToGrid rounds x down to a multiple of the grid. It returns x itself if the spacing of float64 there is
// at least the grid.
func (r rounding) floorToGrid(x float64) float64 {
	if r.grid > 0 && x < r.grid*0x1p53 {
		return math.Floor(x/r.grid) * r.grid
	}
	return x
}

// ceilToGrid rounds x up to a multiple of the grid. It returns x itself if the spacing of float64 there is at
// least the grid.
func (r rounding) ceilToGrid(x float64) float64 {
	if r.grid > 0 && x < r.grid*0x1p53 {
		return math.Ceil(x/r.grid) * r.grid
	}
	return x
}

// up returns an upper bound on a value computed as x with relative error e.
func (r rounding) up(x, e float64) float64 {
	if x == 0 {
		return 0
	}
	return r.ceilToGrid(max(x+x*e, r.floor))
}

// rewardBounds returns bounds on the reward that x represents. The error of x is applied here, since it may be
// lost when x is added to something greater.
func (r rounding) rewardBounds(x float64) (lo, hi float64) {
	if r.err == 0 {
		return r.floorToGrid(x), r.ceilToGrid(x)
	}
	e := 1.05 * (r.err + 4*unit)
	return r.floorToGrid(r.down(x, e)), r.up(x, e)
}

// quotient returns bounds lo/sum and hi/sum, for sums of nonnegative products. An overflow of lo counts
// as the greatest float64; a positive hi that underflows becomes floor.
func (r rounding) quotient(lo, hi, sum float64) (float64, float64) {
	lo = min(lo, math.MaxFloat64) / sum
	if hi > 0 {
		hi = max(hi/sum, r.floor)
	}
	return lo, hi
}
