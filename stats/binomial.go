package stats

import "math"

// logBinomial returns log P(X = k) for a binomial variable X with n trials of
// probability p; 0 <= k <= n, 0 <= p <= 1. The relative error of P is about
// 1e-12 for n up to 1e9, where a difference of log-gamma functions has no
// correct digit.
//
// Source: Loader 2000, Fast and Accurate Computation of Binomial Probabilities.
func logBinomial(k, n int64, p float64) float64 {
	x, y, q := float64(k), float64(n-k), 1-p
	switch {
	case k == 0:
		return times(n, math.Log1p(-p))
	case k == n:
		return times(n, math.Log(p))
	case p == 0 || q == 0:
		return math.Inf(-1)
	}
	m := float64(n)
	d := stirlingError(m) - stirlingError(x) - stirlingError(y) - deviance(x, m*p) - deviance(y, m*q)
	return d - 0.5*math.Log(2*math.Pi*x*(y/m))
}

// stirlingError returns log(n!) minus Stirling's approximation of it; n >= 1.
func stirlingError(n float64) float64 {
	if n < 16 {
		logGamma, _ := math.Lgamma(n + 1)
		return logGamma - (n+0.5)*math.Log(n) + n - 0.5*math.Log(2*math.Pi)
	}
	s := 1 / (n * n)
	return (1.0/12 - s*(1.0/360-s*(1.0/1260-s*(1.0/1680-s/1188)))) / n
}

// deviance returns x·log(x/m) + m - x without cancellation; x, m > 0.
func deviance(x, m float64) float64 {
	v := (x - m) / (x + m)
	if math.Abs(v) > 0.1 {
		return x*math.Log(x/m) + m - x
	}
	// x·log((1+v)/(1-v)) as a series in v; its first term 2·x·v and m-x make (x-m)·v.
	sum, term := (x-m)*v, 2*x*v
	for j := 3.0; ; j += 2 {
		term *= v * v
		next := sum + term/j
		if next == sum {
			return sum
		}
		sum = next
	}
}

// logUpperTail returns log P(X >= k), or slightly more, for a binomial variable
// X with n trials of probability p; p < k/n and k >= 1.
func logUpperTail(k, n int64, p float64) float64 {
	if p == 0 {
		return math.Inf(-1)
	}
	// Sum of P(X = j)/P(X = k) for j >= k; its terms fall at least geometrically.
	odds := p / (1 - p)
	sum, term := 1.0, 1.0
	for j := k; j < n; j++ {
		ratio := float64(n-j) / float64(j+1) * odds
		term *= ratio
		sum += term
		if remainder := term * ratio / (1 - ratio); remainder < 1e-15*sum {
			sum += remainder
			break
		}
	}
	return logBinomial(k, n, p) + math.Log(sum)
}
