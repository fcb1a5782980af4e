package stats

import (
	"math/big"
	"strconv"
)

// Alpha returns the probability of error 1-confidence, which PRISM calls
// confidence. It subtracts in decimal arithmetic: Alpha(0.99) is 0.01, but
// 1-0.99 in floating point is 0.010000000000000009, which would change the last
// digits of every quantile. confidence must be finite.
func Alpha(confidence float64) float64 {
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(confidence, 'g', -1, 64))
	if !ok {
		return 1 - confidence
	}
	alpha, _ := exact.Sub(big.NewRat(1, 1), exact).Float64()
	return alpha
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
