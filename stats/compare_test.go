package stats

import (
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func compare(t testing.TB, a, b Sample, confidence float64) Comparison {
	t.Helper()
	c, err := Compare(a, b, confidence)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fixed(k, n int64) Sample { return Sample{Bernoulli: Bernoulli{N: n, K: k}} }

// exactFisher returns the doubled smaller tail by counting arrangements.
func exactFisher(a, b Bernoulli) float64 {
	total := new(big.Int).Binomial(a.N+b.N, a.K+b.K)
	tail := func(from, to int64) float64 {
		sum := new(big.Int)
		for x := from; x <= to; x++ {
			if y := a.K + b.K - x; y >= 0 && y <= b.N && x <= a.N {
				ways := new(big.Int).Binomial(a.N, x)
				sum.Add(sum, ways.Mul(ways, new(big.Int).Binomial(b.N, y)))
			}
		}
		f, _ := new(big.Rat).SetFrac(sum, total).Float64()
		return f
	}
	return min(1, 2*tail(0, a.K), 2*tail(a.K, a.N))
}

func TestFisher(t *testing.T) {
	// Fisher's lady tasting tea, three of four right: one tail is 17/70.
	if c := compare(t, fixed(3, 4), fixed(1, 4), 0.95); !near(c.PValue, 34.0/70, 1e-12) || !c.Compatible {
		t.Errorf("got %+v", c)
	}
	for _, n := range []int64{1, 5, 40, 300} {
		for _, m := range []int64{1, 7, 200} {
			for k := int64(0); k <= n; k += 1 + n/6 {
				for l := int64(0); l <= m; l += 1 + m/6 {
					a, b := Bernoulli{N: n, K: k}, Bernoulli{N: m, K: l}
					got, want := fisher(a, b), exactFisher(a, b)
					if !near(got, want, 1e-11) {
						t.Errorf("%+v, %+v: got %v, want %v", a, b, got, want)
					}
				}
			}
		}
	}
	if c := compare(t, Sample{}, fixed(3, 4), 0.99); !c.Compatible || c.PValue != 1 {
		t.Errorf("empty sample: got %+v", c)
	}
}

// A billion samples each: the normal test at 3 standard deviations, 0.0027.
func TestFisherLarge(t *testing.T) {
	const n = 1e9
	d := int64(3 * math.Sqrt(2*0.25*n))
	c := compare(t, fixed(n/2, n), fixed(n/2+d, n), 0.99)
	if !near(c.PValue, 2*(1-distuv.UnitNormal.CDF(3)), 1e-3) || c.Compatible {
		t.Errorf("got %+v", c)
	}
}

// Equal probabilities are declared incompatible with at most the stated
// probability; computed exactly.
func TestCompareFalseAlarms(t *testing.T) {
	const n, m = 30, 50
	for _, sequential := range []bool{false, true} {
		var verdicts [n + 1][m + 1]bool
		for k := range verdicts {
			for l := range verdicts[k] {
				a, b := fixed(int64(k), n), fixed(int64(l), m)
				a.Sequential = sequential
				verdicts[k][l] = compare(t, a, b, 0.9).Compatible
			}
		}
		for _, p := range []float64{0.01, 0.1, 0.3, 0.5, 0.8, 0.999} {
			alarm := 0.0
			for k := range verdicts {
				for l, ok := range verdicts[k] {
					if !ok {
						alarm += distuv.Binomial{N: n, P: p}.Prob(float64(k)) * distuv.Binomial{N: m, P: p}.Prob(float64(l))
					}
				}
			}
			if alarm > 0.1 {
				t.Errorf("sequential %v, p %v: false alarm with probability %v", sequential, p, alarm)
			}
		}
	}
}

func TestCompareSequential(t *testing.T) {
	// Fisher's p-value of 300/1000 against 360/1000 is 0.005; the intervals
	// for a sequential sample overlap.
	a, b := fixed(300, 1000), fixed(360, 1000)
	if c := compare(t, a, b, 0.99); c.Compatible || c.A.Method != ClopperPearson || c.A.Confidence != 0.995 {
		t.Errorf("fixed: got %+v", c)
	}
	b.Sequential = true
	c := compare(t, a, b, 0.99)
	if !c.Compatible || !math.IsNaN(c.PValue) || c.A.Method != ClopperPearson || c.B.Method != BetaBinomial {
		t.Errorf("sequential: got %+v", c)
	}
	b.K = 600
	if c := compare(t, a, b, 0.99); c.Compatible {
		t.Errorf("far apart: got %+v", c)
	}
}

// Table 3.6 of the thesis in 2048-numbers.md: published failure probabilities
// and half-widths, and our own estimates from 400,000 games.
func TestPublishedTable(t *testing.T) {
	for _, c := range []struct {
		name       string
		mean, half float64
		ours       float64 // 0: too near 1 to be known from four decimals
		compatible bool
	}{
		{"random 128", 0.138, 0.02811, 0.444, false},
		{"random 256", 0.537, 0.04063, 0.921, false},
		{"random 512", 0.873, 0.02714, 0.9998, false},
		{"random 1024", 0.971, 0.01368, 0, false},
		{"random 2048", 0.997, 0.00446, 0, false},
		{"opposite 128", 0.722, 0.03651, 0.737, true},
		{"opposite 256", 0.980, 0.01141, 0.979, true},
		{"opposite 512", 0.999, 0.00258, 0, false},
		{"opposite 1024", 1, 0, 0, false},
		{"orthogonal 128", 0.010, 0.00811, 0.098, false},
		{"orthogonal 256", 0.134, 0.02776, 0.488, false},
		{"orthogonal 512", 0.583, 0.04018, 0.954, false},
		{"orthogonal 1024", 0.965, 0.01498, 0, false},
		{"orthogonal 2048", 0.998, 0.00364, 0, false},
		{"alternating 128", 0.014, 0.00957, 0.085, false},
		{"alternating 256", 0.193, 0.03216, 0.471, false},
		{"alternating 512", 0.671, 0.03829, 0.942, false},
		{"alternating 1024", 0.989, 0.00850, 0, false},
		{"alternating 2048", 0.999, 0.00258, 0, false},
	} {
		published, err := Published(c.mean, 1000)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(Params{}, Property{})
		if err != nil {
			t.Fatal(err)
		}
		// The printed half-widths follow from 1000 samples: rounded or cut at 5 decimals.
		if o, err := plan.Outcome(published); err != nil || math.Abs(o.Width-c.half) > 1e-5 {
			t.Errorf("%s: half-width %v, published %v, %v", c.name, o.Width, c.half, err)
		}
		if c.ours == 0 {
			continue
		}
		ours := fixed(int64(math.Round(c.ours*400000)), 400000)
		if got := compare(t, Sample{Bernoulli: published}, ours, CompareConfidence); got.Compatible != c.compatible {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

func TestPublishedErrors(t *testing.T) {
	for _, c := range []struct {
		mean float64
		n    int64
	}{{0.1385, 1000}, {0.138, 0}, {1.1, 1000}, {-0.1, 1000}, {math.NaN(), 1000}, {0.138, 300}} {
		_, err := Published(c.mean, c.n)
		if e, ok := err.(*Error); !ok || e.Code != BadValue {
			t.Errorf("%v of %d: got %v", c.mean, c.n, err)
		}
	}
}
