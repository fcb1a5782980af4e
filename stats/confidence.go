package stats

import (
	"math/big"
	"strconv"
)

// Alpha returns the probability of error 1-confidence that belongs to a
// confidence, which is what PRISM calls confidence. The difference is taken
// between decimal numbers: Alpha(0.99) is 0.01, where 1-0.99 in floating point
// is 0.010000000000000009 and would change the last digits of every quantile.
// confidence must be finite.
func Alpha(confidence float64) float64 {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(confidence, 'g', -1, 64))
	if !ok {
		return 1 - confidence
	}
	f, _ := r.Sub(big.NewRat(1, 1), r).Float64()
	return f
}

// Confidence returns the confidence 1-alpha that belongs to a probability of
// error (PRISM's -simconf), by the same decimal subtraction as [Alpha]:
// Confidence(0.01) is 0.99.
func Confidence(alpha float64) float64 { return Alpha(alpha) }

// checkConfidence returns an error unless 0 < confidence < 1.
func checkConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return errorf(BadValue, "confidence %v: want a probability strictly between 0 and 1, such as 0.99", confidence)
	}
	return nil
}
