package solve

import (
	"math"

	"tilecheck/native/explicit/sparse"
)

// unit is the greatest relative error of one operation on doubles. An
// expression of non-negative doubles with n products, quotients and sums has a
// relative error below 1.01*n*unit as long as nothing underflows and n is below
// 2^45 (Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1).
const unit = 0x1p-53

// rounding turns a computed value into bounds of the true one.
type rounding struct {
	// err is the relative error of a weight or reward.
	err float64
	// floor is the least positive value kept apart from zero: products of a
	// weight and a value from floor on do not underflow. A smaller lower bound
	// becomes zero, a smaller upper bound floor.
	floor float64
	// grid is what all bounds are multiples of; 0 for nothing in particular.
	grid float64
}

func newRounding(m *sparse.Model, r *sparse.Reward) rounding {
	least, most := 1.0, 1.0
	for _, w := range m.Weights {
		least, most = min(least, w), max(most, w)
	}
	// Weights may be divided by the sum of a row.
	err := m.Err
	if r != nil {
		err = max(err, r.Err)
	}
	return rounding{err: err, floor: max(0x1p-900, 0x1p-1000/least*most*0x1p32)}
}

// faint returns a value below which what is lost at the floor may matter.
func (r rounding) underflowThreshold() float64 { return r.floor / truncation }

// row returns the relative error of a weighted sum of n terms, divided by the
// sum of the weights, and of scaling it by that error.
func (r rounding) row(n int) float64 {
	return 1.05 * (float64(2*n+8)*unit + 2*r.err)
}

// down returns a lower bound of what was computed as x with relative error e. An
// x that overflowed is the greatest double at least, before that error.
func (r rounding) down(x, e float64) float64 {
	x = min(x, math.MaxFloat64)
	if x -= x * e; !(x >= r.floor) { // also where e is infinite
		return 0
	}
	return x
}

// coarse reports whether the grid is one that doubles of some size are not on.
func (r rounding) coarseGrid() bool { return r.grid*0x1p30 >= r.floor }

// below and above are the next multiples of the grid. Where they are next to the
// greatest double, or x has no more digits than they have, that is x.
func (r rounding) below(x float64) float64 {
	if r.grid > 0 && x < r.grid*0x1p53 {
		return math.Floor(x/r.grid) * r.grid
	}
	return x
}

func (r rounding) ceilToGrid(x float64) float64 {
	if r.grid > 0 && x < r.grid*0x1p53 {
		return math.Ceil(x/r.grid) * r.grid
	}
	return x
}

// up returns an upper bound of what was computed as x with relative error e.
func (r rounding) up(x, e float64) float64 {
	if x == 0 {
		return 0
	}
	return r.ceilToGrid(max(x+x*e, r.floor))
}

// given returns bounds of the reward that a double stands for. Its error alone may be lost
// when it is added: 1 and half a unit in the last place are 1.
func (r rounding) given(x float64) (lo, hi float64) {
	if r.err == 0 {
		return r.below(x), r.ceilToGrid(x)
	}
	e := 1.05 * (r.err + 4*unit)
	return r.below(r.down(x, e)), r.up(x, e)
}

// quotient returns lo/sum and hi/sum for bounds that are sums of non-negative
// products. An overflow is no lower bound of the quotient, and what underflows
// is above zero still.
func (r rounding) quotient(lo, hi, sum float64) (float64, float64) {
	lo = min(lo, math.MaxFloat64) / sum
	if hi > 0 {
		hi = max(hi/sum, r.floor)
	}
	return lo, hi
}
