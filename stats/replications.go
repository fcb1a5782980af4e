package stats

import "math"

// StudentQuantile returns the number t with P(|T| <= t) = confidence, for a variable T with Student's distribution of dof degrees of freedom.
func StudentQuantile(confidence float64, dof int64) float64 {
	low, high := 0.0, 1.0
	for studentTail(float64(dof), high) > 1-confidence {
		low, high = high, 2*high
	}
	const halvings = 60
	for range halvings {
		if middle := (low + high) / 2; studentTail(float64(dof), middle) > 1-confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// SkewedHalfWidth returns a nominal half-width for the mean of independent positive estimates whose distribution is skewed to
// the right, such as products of fractions. If r is Student's half-width divided by the mean, the result is mean * (e^r - 1): Student's
// interval for the logarithm of the mean ends at mean * e^r. It is infinite without positive samples.
func SkewedHalfWidth(moments *Moments, confidence float64) float64 {
	count, mean := moments.Count(), moments.Mean()
	if count < 2 || !(mean > 0) {
		return math.Inf(1)
	}
	relative := StudentQuantile(confidence, count-1) * math.Sqrt(moments.Variance()/float64(count)) / mean
	return mean * math.Expm1(relative)
}
