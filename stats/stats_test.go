package stats_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"tilecheck/stats"
)

// near reports whether got is want up to a relative error of tol.
func near(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*math.Abs(want)
}

// code returns the code of an error of the package, and 0 of any other.
func code(err error) stats.Code {
	if e, ok := errors.AsType[*stats.Error](err); ok {
		return e.Code
	}
	return 0
}

func moments(xs ...float64) stats.Moments {
	var m stats.Moments
	for _, x := range xs {
		m.Add(x)
	}
	return m
}

func repeat(x float64, n int) stats.Moments {
	var m stats.Moments
	for range n {
		m.Add(x)
	}
	return m
}

func TestAlpha(t *testing.T) {
	// Decimal subtraction by hand.
	for _, c := range []struct{ confidence, alpha float64 }{
		{0.99, 0.01}, {0.95, 0.05}, {0.9, 0.1}, {0.999, 0.001}, {0.5, 0.5}, {0.999999, 1e-6},
	} {
		if got := stats.Alpha(c.confidence); got != c.alpha {
			t.Errorf("Alpha(%v) = %v, want %v", c.confidence, got, c.alpha)
		}
		if got := stats.Confidence(c.alpha); got != c.confidence {
			t.Errorf("Confidence(%v) = %v, want %v", c.alpha, got, c.confidence)
		}
	}
	if got := stats.Alpha(math.NaN()); !math.IsNaN(got) {
		t.Errorf("Alpha(NaN) = %v", got)
	}
}

func TestBernoulli(t *testing.T) {
	var b stats.Bernoulli
	if !math.IsNaN(b.Mean()) || b.Variance() != 0 {
		t.Errorf("empty sample: mean %v, variance %v", b.Mean(), b.Variance())
	}
	b.Add(true)
	if b.Mean() != 1 || b.Variance() != 0 {
		t.Errorf("one sample: mean %v, variance %v", b.Mean(), b.Variance())
	}
	b.Add(false)
	b.Merge(stats.Bernoulli{N: 8, K: 3})
	if b != (stats.Bernoulli{N: 10, K: 4}) || b.Mean() != 0.4 || !near(b.Variance(), 4.0*6/(10*9), 1e-15) {
		t.Errorf("got %+v, mean %v, variance %v", b, b.Mean(), b.Variance())
	}
}

// exactMoments returns mean and variance in rational arithmetic.
func exactMoments(xs []float64) (mean, variance float64) {
	sum := new(big.Rat)
	for _, x := range xs {
		sum.Add(sum, new(big.Rat).SetFloat64(x))
	}
	n := big.NewRat(int64(len(xs)), 1)
	m := sum.Quo(sum, n)
	ss := new(big.Rat)
	for _, x := range xs {
		d := new(big.Rat).SetFloat64(x)
		d.Sub(d, m)
		ss.Add(ss, d.Mul(d, d))
	}
	ss.Quo(ss, big.NewRat(int64(len(xs))-1, 1))
	mean, _ = m.Float64()
	variance, _ = ss.Float64()
	return mean, variance
}

func TestMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sets := map[string][]float64{
		"two":        {3, 5},
		"outlier":    {1000},
		"integers":   {},
		"offset 1e9": {},
		"cancelling": {1e16, 1, -1e16},
	}
	for i := range 500 {
		sets["outlier"] = append(sets["outlier"], r.Float64())
		sets["integers"] = append(sets["integers"], float64(i*i%97))
		sets["offset 1e9"] = append(sets["offset 1e9"], 1e9+r.NormFloat64())
	}
	for name, xs := range sets {
		mean, variance := exactMoments(xs)
		m := moments(xs...)
		// A deviation loses what the mean has more digits than it: eps·1e9 at worst.
		tol := 1e-12
		if name == "offset 1e9" {
			tol = 2.3e-7
		}
		if !near(m.Mean(), mean, 3e-16) || !near(m.Variance(), variance, tol) || m.N != int64(len(xs)) {
			t.Errorf("%s: mean %v, variance %v, want %v, %v", name, m.Mean(), m.Variance(), mean, variance)
		}
		for cut := range len(xs) {
			a, b := moments(xs[:cut]...), moments(xs[cut:]...)
			a.Merge(b)
			if !near(a.Mean(), mean, 3e-16) || !near(a.Variance(), variance, tol) || a.N != m.N || a.Min != m.Min || a.Max != m.Max {
				t.Errorf("%s merged at %d: %+v, want %+v", name, cut, a, m)
			}
		}
	}
}

// The stopping conditions rely on a variance of exactly 0, although the mean of
// three times 0.1 is 0.10000000000000002 in floating point.
func TestMomentsEqualSamples(t *testing.T) {
	for _, x := range []float64{0, 0.1, -3.7, 1e-300, 1e15 + 0.3} {
		m := repeat(x, 12345)
		for n := range 60 {
			m.Merge(repeat(x, n))
			if m.Variance() != 0 || !near(m.Mean(), x, 1e-15) {
				t.Errorf("%v repeated %d times: mean %v, variance %v", x, m.N, m.Mean(), m.Variance())
			}
		}
	}
}

// With gonum's two-pass formulas as the second opinion.
func TestMomentsAgreeWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	xs := make([]float64, 10000)
	for i := range xs {
		xs[i] = r.ExpFloat64() * 50
	}
	mean, variance := stat.MeanVariance(xs, nil)
	m := moments(xs...)
	if !near(m.Mean(), mean, 1e-12) || !near(m.Variance(), variance, 1e-12) {
		t.Errorf("mean %v, variance %v, want %v, %v", m.Mean(), m.Variance(), mean, variance)
	}
}

func TestMomentsNotFinite(t *testing.T) {
	plan, err := stats.NewPlan(stats.Params{Width: 0.1}, stats.Property{Reward: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []stats.Moments{
		moments(math.Inf(1)), moments(1, math.NaN()), moments(math.NaN(), 1), moments(1, math.Inf(-1), 2), moments(1e200, -1e200),
	} {
		if _, err := plan.Outcome(&m); code(err) != stats.NotFinite {
			t.Errorf("%+v: got %v", m, err)
		}
		if _, err := stats.RewardInterval(m, nil, 0.99, false); code(err) != stats.NotFinite {
			t.Errorf("%+v: got %v", m, err)
		}
		if m.N > 1 && !plan.Done(&m) {
			t.Errorf("%+v: sampling goes on", m)
		}
	}
}

func TestMethodNames(t *testing.T) {
	// As PRISM prints them, see the logs in the reference.
	for name, want := range map[string]string{
		"ci":   "CI (Confidence Interval)",
		"aci":  "ACI (Asymptotic Confidence Interval)",
		"APMC": "APMC (Approximate Probabilistic Model Checking)",
		"sprt": "SPRT (Sequential Probability Ratio Test)",
	} {
		m, err := stats.ParseMethod(name)
		if err != nil || m.FullName() != want || m.String() != strings.ToUpper(name) {
			t.Errorf("ParseMethod(%q) = %v, %v", name, m.FullName(), err)
		}
	}
	for _, name := range []string{"", "auto"} {
		if m, err := stats.ParseMethod(name); m != stats.Auto || err != nil {
			t.Errorf("ParseMethod(%q) = %v, %v", name, m, err)
		}
	}
	if _, err := stats.ParseMethod("bayes"); code(err) != stats.BadValue {
		t.Errorf("got %v", err)
	}
}
