package solve

import (
	"math"

	"tilecheck/native/space/sparse"
)

// unitRoundoff is the unit roundoff: the greatest relative error of one float64 operation. A nonnegative
// expression with n products, quotients and sums has a relative error below 1.01*n*unitRoundoff, if nothing
// underflows and n is below 2^45.
//
// Source: Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1.
const unitRoundoff = 0x1p-53

// A sum of relative errors bounds the error of a computation only to first order. Times errMargin, the sum also covers the products of the errors and its
// own rounding. wideErrMargin is for longer computations.
const errMargin, wideErrMargin = 1.01, 1.05

// rounding turns computed values into bounds on the true ones.
type rounding struct {
	// relErr is the relative error of a weight or reward.
	relErr float64
	// leastBound is the least positive bound: the product of a weight and a value of at least leastBound does not
	// underflow. A smaller lower bound becomes 0, a smaller upper bound becomes leastBound.
	leastBound float64
	// grid is a power of two of which all bounds are multiples; 0 for no grid.
	grid float64
}

// newRounding returns the rounding for the weights of a model and for a reward structure, which may be nil.
func newRounding(model *sparse.Model, reward *sparse.Reward) rounding {
	minWeight, maxWeight := 1.0, 1.0
	for _, weight := range model.Weights {
		minWeight, maxWeight = min(minWeight, weight), max(maxWeight, weight)
	}
	relErr := model.RelErr
	if reward != nil {
		relErr = max(relErr, reward.RelErr)
	}
	return roundingOf(relErr, minWeight, maxWeight)
}

// roundingOf returns the rounding for weights with a relative error of relErr. minWeight is at most 1, and maxWeight at least 1.
func roundingOf(relErr, minWeight, maxWeight float64) rounding {
	return rounding{relErr: relErr, leastBound: max(0x1p-900, 0x1p-1000/minWeight*maxWeight*0x1p32)}
}

// underflowThreshold is the value below which the loss at floor is not negligible.
func (rounding rounding) underflowThreshold() float64 { return rounding.leastBound / truncation }

// sumErr bounds the relative error of a weighted sum of numTerms terms that is divided by the sum of the weights,
// including the rounding of the bound itself.
func (rounding rounding) sumErr(numTerms int) float64 {
	return wideErrMargin * (float64(2*numTerms+8)*unitRoundoff + 2*rounding.relErr)
}

// roundDown returns a lower bound on a number with the given computed value and relative error. Infinity counts as the greatest float64.
func (rounding rounding) roundDown(value, relErr float64) float64 {
	value = min(value, math.MaxFloat64)
	bound := value - value*relErr
	if bound >= rounding.leastBound {
		return bound
	}
	return 0 // also for NaN, the bound with an infinite error
}

// isGridCoarse reports whether the grid is coarser than float64 for some bounds.
func (rounding rounding) isGridCoarse() bool { return rounding.grid*0x1p30 >= rounding.leastBound }

// floorToGrid rounds value down to a multiple of the grid. It returns value itself if float64 is at least as coarse as the grid.
func (rounding rounding) floorToGrid(value float64) float64 {
	if rounding.grid > 0 && value < rounding.grid*0x1p53 {
		return math.Floor(value/rounding.grid) * rounding.grid
	}
	return value
}

// ceilToGrid rounds value up to a multiple of the grid. It returns value itself if float64 is at least as coarse as the grid.
func (rounding rounding) ceilToGrid(value float64) float64 {
	if rounding.grid > 0 && value < rounding.grid*0x1p53 {
		return math.Ceil(value/rounding.grid) * rounding.grid
	}
	return value
}

// roundUp returns an upper bound on a number with the given computed value and relative error.
func (rounding rounding) roundUp(value, relErr float64) float64 {
	if value == 0 {
		return 0
	}
	return rounding.ceilToGrid(max(value+value*relErr, rounding.leastBound))
}

// rewardBounds returns bounds on a reward. They include the error of the reward, which could be lost in a sum with a greater number.
func (rounding rounding) rewardBounds(value float64) (lower, upper float64) {
	if rounding.relErr == 0 {
		return rounding.floorToGrid(value), rounding.ceilToGrid(value)
	}
	relErr := wideErrMargin * (rounding.relErr + 4*unitRoundoff)
	return rounding.floorToGrid(rounding.roundDown(value, relErr)), rounding.roundUp(value, relErr)
}

// divideBounds divides bounds by sum. It avoids an infinite lower bound, and an upper bound that underflows to 0.
func (rounding rounding) divideBounds(lower, upper, sum float64) (float64, float64) {
	lower = min(lower, math.MaxFloat64) / sum
	if upper > 0 {
		upper = max(upper/sum, rounding.leastBound)
	}
	return lower, upper
}
