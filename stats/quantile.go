package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// normalQuantile returns z with P(|Z| > z) = alpha for a standard normal Z. It
// goes through 1-alpha/2 as PRISM does, to agree with it in the last digit.
func normalQuantile(alpha float64) float64 {
	if p := 1 - alpha/2; p < 1 {
		return mathext.NormalQuantile(p)
	}
	return -mathext.NormalQuantile(alpha / 2)
}

// normalTail returns P(|Z| > x) for a standard normal Z; x >= 0.
func normalTail(x float64) float64 { return math.Erfc(x / math.Sqrt2) }

// studentTail returns P(|T| > x) for a variable T with Student's distribution of
// dof degrees of freedom; x >= 0. dof need not be an integer.
func studentTail(dof, x float64) float64 {
	switch {
	case math.IsInf(x, 1):
		return 0
	case dof > 1e7: // the error of the incomplete beta function is larger here than the difference from the normal distribution
		return normalTail(x)
	}
	return mathext.RegIncBeta(dof/2, 0.5, dof/(dof+x*x))
}

// prismStudentQuantile returns PRISM's value of t with P(|T| > t) = alpha.
// It is not the t quantile but what PRISM's library makes of it: the closed form
// for one degree of freedom, the normal quantile above 200, and in between an
// iteration that ends as soon as the distribution function is within 1e-8, or
// the bracket shorter than 1e-3. The relative error of the iteration is up to
// 2e-4; the jump at 201 is 1 % at alpha = 0.01. The exact value would now and
// then stop at another sample than PRISM.
//
// Source: PRISM, simulator.method.CIiterations with cern.jet.stat.Probability
// (Colt 1.2.0); the root finder is the Pegasus method, Dowell and Jarratt 1972.
func prismStudentQuantile(alpha float64, dof int64) float64 {
	switch {
	case dof == 1:
		return math.Tan((0.5 - alpha/2) * math.Pi)
	case dof > 200:
		return normalQuantile(alpha)
	}
	target := 1 - alpha/2
	excess := func(x float64) float64 {
		return 1 - studentTail(float64(dof), x)/2 - target
	}
	// t is beyond z: the bracket ends at the first multiple of z that is not below t.
	z := normalQuantile(alpha)
	if excess(z) >= 0 {
		return z
	}
	hi := 2
	for excess(float64(hi)*z) < 0 {
		hi *= 2
	}
	hi = max(2, hi/2+sort.Search(hi/2, func(i int) bool { return excess(float64(hi/2+i)*z) >= 0 }))
	x1, x2 := z, float64(hi)*z
	f1, f2 := excess(x1), excess(x2)
	for {
		x3 := x2 - f2*(x2-x1)/(f2-f1)
		f3 := excess(x3)
		if math.Abs(f3) < 1e-8 {
			return x3
		}
		if f3*f2 < 0 {
			x1, f1 = x2, f2
		} else {
			f1 *= f2 / (f2 + f3)
		}
		x2, f2 = x3, f3
		if math.Abs(x2-x1) <= 1e-3 {
			break
		}
	}
	if math.Abs(f2) <= math.Abs(f1) {
		return x2
	}
	return x1
}
