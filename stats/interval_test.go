package stats

import (
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

func bernoulliInterval(t testing.TB, b Bernoulli, confidence float64, sequential bool) Interval {
	t.Helper()
	i, err := BernoulliInterval(b, confidence, sequential)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// The claim in the comment of prismStudentQuantile, against gonum's quantile.
func TestPRISMStudentQuantileIsNearlyRight(t *testing.T) {
	for _, alpha := range []float64{0.001, 0.01, 0.05, 0.1, 0.5} {
		for dof := int64(1); dof <= 200; dof++ {
			want := distuv.StudentsT{Sigma: 1, Nu: float64(dof)}.Quantile(1 - alpha/2)
			if got := prismStudentQuantile(alpha, dof); !near(got, want, 2e-4) {
				t.Errorf("alpha %v, %d degrees of freedom: %v, want %v", alpha, dof, got, want)
			}
			// Done does not ask for Student's quantile where the normal one is not reached.
			if prismStudentQuantile(alpha, dof) < normalQuantile(alpha) {
				t.Errorf("alpha %v, %d degrees of freedom: below the normal quantile", alpha, dof)
			}
		}
	}
}

// A confidence next to 1 must not take long or forever.
func TestPRISMStudentQuantileExtremes(t *testing.T) {
	for _, alpha := range []float64{1e-16, 1e-12, 1 - 1e-15, 1} {
		for _, dof := range []int64{1, 2, 3, 50, 200, 201} {
			if q := prismStudentQuantile(alpha, dof); !(q >= 0) || math.IsInf(q, 1) {
				t.Errorf("alpha %v, %d degrees of freedom: %v", alpha, dof, q)
			}
		}
	}
}

// exactBinomial returns log P(X = k) from integer arithmetic, for p = num/2^8.
func exactBinomial(k, n, num int64) float64 {
	x := new(big.Int).Binomial(n, k)
	x.Mul(x, new(big.Int).Exp(big.NewInt(num), big.NewInt(k), nil))
	x.Mul(x, new(big.Int).Exp(big.NewInt(256-num), big.NewInt(n-k), nil))
	m := new(big.Float)
	exp := new(big.Float).SetInt(x).MantExp(m)
	f, _ := m.Float64()
	return math.Log(f) + float64(int64(exp)-8*n)*math.Ln2
}

func TestLogBinomialExactly(t *testing.T) {
	for _, n := range []int64{1, 2, 7, 16, 100, 1000} {
		for k := int64(0); k <= n; k += 1 + n/50 {
			for _, num := range []int64{1, 77, 128, 250} {
				got, want := logBinomial(k, n, float64(num)/256), exactBinomial(k, n, num)
				if math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
					t.Errorf("n %d, k %d, p %d/256: %v, want %v", n, k, num, got, want)
				}
			}
		}
	}
}

// Where no exact values are to be had, the probabilities must sum to 1.
func TestLogBinomialSumsToOne(t *testing.T) {
	for _, p := range []float64{1e-6, 0.001, 0.3} {
		const n = 1e8
		sd := math.Sqrt(n * p * (1 - p))
		sum := 0.0
		for k := int64(max(0, n*p-9*sd)); k <= int64(n*p+9*sd+20); k++ {
			sum += math.Exp(logBinomial(k, n, p))
		}
		if math.Abs(sum-1) > 1e-11 {
			t.Errorf("p %v: probabilities sum to 1%+.2g", p, sum-1)
		}
	}
	for _, k := range []int64{0, 3, 5} {
		for _, p := range []float64{0, 1} {
			want := math.Inf(-1)
			if float64(k) == 5*p {
				want = 0
			}
			if got := logBinomial(k, 5, p); got != want {
				t.Errorf("n 5, k %d, p %v: %v, want %v", k, p, got, want)
			}
		}
	}
}

func TestClopperPearson(t *testing.T) {
	check := func(b Bernoulli, confidence, lo, hi, tol float64) {
		t.Helper()
		i := bernoulliInterval(t, b, confidence, false)
		if !near(i.Lo, lo, tol) || !near(i.Hi, hi, tol) || i.Method != ClopperPearson || i.Confidence != confidence || !i.Sound() {
			t.Errorf("%+v at %v: got %+v, want [%v,%v]", b, confidence, i, lo, hi)
		}
	}
	check(Bernoulli{}, 0.99, 0, 1, 0)
	// R: binom.test(10, 100)$conf.int
	check(Bernoulli{N: 100, K: 10}, 0.95, 0.04900469, 0.17622260, 1e-7)
	for _, n := range []int64{1, 10, 1000, 1e6} {
		// Closed form: P(no failure) = p^n = 0.005.
		end := math.Pow(0.005, 1/float64(n))
		check(Bernoulli{N: n, K: n}, 0.99, end, 1, 5e-9)
		check(Bernoulli{N: n, K: 0}, 0.99, 0, -math.Expm1(math.Log(0.005)/float64(n)), 5e-9)
	}
	// Quantiles of the beta distribution, by another algorithm (Cephes, in gonum).
	for _, n := range []int64{2, 3, 17, 100, 1000, 10000} {
		for _, k := range []int64{1, n / 3, n / 2, n - 1} {
			if k == 0 {
				continue
			}
			for _, confidence := range []float64{0.8, 0.99, 0.99999} {
				a, fk, fn := Alpha(confidence)/2, float64(k), float64(n)
				check(Bernoulli{N: n, K: k}, confidence,
					mathext.InvRegIncBeta(fk, fn-fk+1, a), mathext.InvRegIncBeta(fk+1, fn-fk, 1-a), 5e-9)
			}
		}
	}
	// A billion samples: normal up to the skewness, which shifts by (1-2p)(z²-1)/6n and less than z·sd/1e4.
	const n = 1e9
	half := 2.5758293035489004 * math.Sqrt(0.1*0.9/n)
	check(Bernoulli{N: n, K: n / 10}, 0.99, 0.1-half, 0.1+half, 1e-7)
}

// At the ends the mixture martingale has reached 1/alpha; here it is computed
// from the beta function.
func TestBetaBinomialEnds(t *testing.T) {
	for _, n := range []int64{1, 2, 10, 300, 10000} {
		for k := int64(0); k <= n; k += 1 + n/7 {
			for _, confidence := range []float64{0.9, 0.99, 0.999999} {
				i := bernoulliInterval(t, Bernoulli{N: n, K: k}, confidence, true)
				logM := func(p float64) float64 {
					x, y := float64(k), float64(n-k)
					return mathext.Lbeta(x+1, y+1) - times(k, math.Log(p)) - times(n-k, math.Log1p(-p))
				}
				want := -math.Log(Alpha(confidence))
				if k > 0 && math.Abs(logM(i.Lo)-want) > 1e-7 || k < n && math.Abs(logM(i.Hi)-want) > 1e-7 {
					t.Errorf("%d of %d at %v: %v and %v at the ends of %+v, want %v", k, n, confidence, logM(i.Lo), logM(i.Hi), i, want)
				}
				if k == 0 && i.Lo != 0 || k == n && i.Hi != 1 || i.Method != BetaBinomial {
					t.Errorf("%d of %d: got %+v", k, n, i)
				}
			}
		}
	}
}

func TestEmpiricalBernsteinByHand(t *testing.T) {
	// Maurer and Pontil, theorem 4, at delta = 0.005 a side: n = 4, variance 1/3, ln(2/0.005) = 5.99146.
	got := empiricalBernstein(4, 1, 0.01)
	want := math.Sqrt(2*(1.0/3)*5.991464547/4) + 7*5.991464547/9
	if !near(got, want, 1e-9) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Mixture by hand: at its end the weighted bets make exactly 2/alpha.
func TestEmpiricalBernsteinSequenceReachesItsLimit(t *testing.T) {
	for _, c := range []struct {
		n  int64
		m2 float64
	}{{2, 0}, {2, 0.5}, {1000, 0}, {1000, 250}, {1e9, 1e7}} {
		s := empiricalBernsteinSequence(c.n, c.m2, 0.01) * float64(c.n)
		v := 0.25 + c.m2 + math.Min(c.m2, math.Log(2*c.m2+4))
		sum := 0.0
		for j := range 40 {
			l := 0.9 * math.Pow(2, -float64(j)/2)
			sum += math.Exp(l*s+(l+math.Log(1-l))*v) / float64((j+1)*(j+2))
		}
		if !near(sum, 200, 1e-6) {
			t.Errorf("%+v: the mixture is %v at the end, want 200", c, sum)
		}
	}
}

// The bound on the sum of squared deviations from the mean before, which the
// comment of empiricalBernsteinSequence derives, on the worst orders of samples.
func TestPredictableVarianceBound(t *testing.T) {
	orders := map[string]func(i int) float64{
		"alternating":      func(i int) float64 { return float64(i % 2) },
		"one, then zeros":  func(i int) float64 { return float64(1 - min(i, 1)) },
		"halves":           func(i int) float64 { return float64(i / 500 % 2) },
		"constant":         func(int) float64 { return 1 },
		"doubling blocks":  func(i int) float64 { return float64(int(math.Log2(float64(i+1))) % 2) },
		"far from the sum": nil, // as far from the mean as possible, below
	}
	for name, x := range orders {
		var m Moments
		v := 0.0
		for i := range 1000 {
			prev := 0.5
			if i > 0 {
				prev = m.Mean()
			}
			s := math.Round(1 - prev)
			if x != nil {
				s = x(i)
			}
			v += (s - prev) * (s - prev)
			m.Add(s)
			if bound := 0.25 + m.M2 + math.Min(m.M2, math.Log(2*m.M2+4)); v > bound+1e-9 {
				t.Fatalf("%s: %v after %d samples, bound %v", name, v, i+1, bound)
			}
		}
	}
}

func TestRewardInterval(t *testing.T) {
	var m Moments
	for _, x := range []float64{2, 4, 4, 6} {
		m.Add(x)
	}
	bounds := &Bounds{Lo: 0, Hi: 10}
	// t(0.005, 3) = 5.840909 from tables; variance 8/3.
	i, err := RewardInterval(m, nil, 0.99, false)
	if w := 5.840909 * math.Sqrt(8.0/3/4); err != nil || i.Sound() || i.Method != StudentT || !near(i.Hi, 4+w, 1e-6) || !near(i.Lo, 4-w, 1e-6) {
		t.Errorf("nominal: got %+v, %v", i, err)
	}
	// Too few samples: the bounds themselves.
	if i, err := RewardInterval(m, bounds, 0.99, false); err != nil || i.Lo != 0 || i.Hi != 10 || !i.Sound() {
		t.Errorf("got %+v, %v", i, err)
	}
	// Scaling samples and bounds scales the interval.
	var a, b Moments
	for j := range 5000 {
		x := float64(j%7) / 6
		a.Add(x)
		b.Add(100*x - 30)
	}
	for _, sequential := range []bool{false, true} {
		u, _ := RewardInterval(a, &Bounds{Lo: 0, Hi: 1}, 0.95, sequential)
		v, err := RewardInterval(b, &Bounds{Lo: -30, Hi: 70}, 0.95, sequential)
		if err != nil || !near(v.Lo, 100*u.Lo-30, 1e-6) || !near(v.Hi, 100*u.Hi-30, 1e-6) || u.Hi-u.Lo > 0.1 || u.Hi-u.Lo < 0.01 {
			t.Errorf("got %+v and %+v, %v", u, v, err)
		}
	}
	var single Moments
	single.Add(3)
	for _, c := range []struct {
		bounds *Bounds
		lo, hi float64
	}{{nil, math.Inf(-1), math.Inf(1)}, {bounds, 0, 10}, {&Bounds{Lo: 3, Hi: 3}, 3, 3}} {
		if i, err := RewardInterval(single, c.bounds, 0.99, true); err != nil || i.Lo != c.lo || i.Hi != c.hi {
			t.Errorf("single sample, bounds %v: got %+v, %v", c.bounds, i, err)
		}
	}
}

func TestIntervalErrors(t *testing.T) {
	var m Moments
	m.Add(3)
	check := func(what string, err error) {
		t.Helper()
		if e, ok := err.(*Error); !ok || e.Code != BadValue {
			t.Errorf("%s: got %v", what, err)
		}
	}
	inf := math.Inf(1)
	for _, bounds := range []Bounds{{5, 4}, {4, 5}, {0, inf}, {inf, inf}, {math.NaN(), 5}, {-1e308, 1e308}} {
		_, err := RewardInterval(m, &bounds, 0.99, false)
		check("bounds", err)
	}
	for _, confidence := range []float64{0, 1, 99, -1, math.NaN()} {
		_, err := RewardInterval(m, nil, confidence, false)
		check("reward confidence", err)
		_, err = BernoulliInterval(Bernoulli{N: 1}, confidence, false)
		check("confidence", err)
		_, err = Compare(Sample{}, Sample{}, confidence)
		check("comparison", err)
	}
	for _, b := range []Bernoulli{{N: 3, K: 4}, {N: 3, K: -1}, {N: -1, K: -1}} {
		_, err := BernoulliInterval(b, 0.99, false)
		check("counts", err)
		_, err = Compare(Sample{Bernoulli: b}, Sample{}, 0.99)
		check("comparison", err)
	}
}
