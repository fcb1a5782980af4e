package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/stats"
)

var (
	prob    = stats.Property{}
	reward  = stats.Property{Reward: true}
	atLeast = func(t float64) stats.Property {
		return stats.Property{Bound: &stats.Bound{AtLeast: true, Threshold: t}}
	}
	rewardAtLeast = func(t float64) stats.Property {
		return stats.Property{Reward: true, Bound: &stats.Bound{AtLeast: true, Threshold: t}}
	}
)

func mustPlan(t testing.TB, params stats.Params, property stats.Property) *stats.Plan {
	t.Helper()
	p, err := stats.NewPlan(params, property)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustOutcome(t testing.TB, p *stats.Plan, s stats.Statistics) stats.Outcome {
	t.Helper()
	o, err := p.Outcome(s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestParamErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name     string
		params   stats.Params
		property stats.Property
		code     stats.Code
		msg      string
	}{
		{"confidence 1", stats.Params{Confidence: 1}, prob, stats.BadValue, "confidence 1: want"},
		{"confidence in percent", stats.Params{Confidence: 99}, prob, stats.BadValue, "such as 0.99"},
		{"confidence NaN", stats.Params{Confidence: nan}, prob, stats.BadValue, "confidence NaN"},
		{"confidence < 0", stats.Params{Confidence: -0.5}, prob, stats.BadValue, "confidence -0.5"},
		{"width < 0", stats.Params{Width: -1}, prob, stats.BadValue, "width -1"},
		{"width inf", stats.Params{Width: inf}, prob, stats.BadValue, "width +Inf"},
		{"approx NaN", stats.Params{Method: stats.APMC, Approx: nan}, prob, stats.BadValue, "approximation NaN"},
		{"samples < 0", stats.Params{Samples: -3}, prob, stats.BadValue, "number of samples -3"},
		{"max reward < 0", stats.Params{MaxReward: -3}, reward, stats.BadValue, "maximum reward -3"},
		{"zero variance < 0", stats.Params{ZeroVarianceSamples: -3}, prob, stats.BadValue, "zero variance -3"},
		{"max < 0", stats.Params{MaxSamples: -3}, prob, stats.BadValue, "maximum number of samples -3"},
		{"method", stats.Params{Method: 99}, prob, stats.BadValue, "method 99"},
		{"all of CI", stats.Params{Width: 0.1, Confidence: 0.9, Samples: 10}, prob, stats.Overspecified, "CI method, want at most two"},
		{"all of ACI", stats.Params{Method: stats.ACI, Width: 0.1, Confidence: 0.9, Samples: 10}, reward, stats.Overspecified, "ACI"},
		{"all of APMC", stats.Params{Method: stats.APMC, Approx: 0.1, Confidence: 0.9, Samples: 10}, prob, stats.Overspecified, "APMC"},
		{"APMC rewards", stats.Params{Method: stats.APMC}, reward, stats.Unsupported, "APMC method cannot be used for rewards"},
		{"SPRT without bound", stats.Params{Method: stats.SPRT}, prob, stats.Unsupported, "quantitative"},
		// 0.05² · 100 = 0.25 < ln(2)/2
		{"APMC too few", stats.Params{Method: stats.APMC, Approx: 0.05, Samples: 100}, prob, stats.TooFew, "found 0.25"},
		{"APMC overflow", stats.Params{Method: stats.APMC, Approx: 1e-9}, prob, stats.Overflow, "fewer than 2^53"},
		{"SPRT near 1", stats.Params{}, atLeast(0.99), stats.Indifference, "indifference 0.05 for the SPRT method is too wide: bound 0.99 is too close to 1"},
		{"SPRT at 0", stats.Params{}, atLeast(0.05), stats.Indifference, "too close to 0"},
		{"SPRT reward at 0", stats.Params{}, rewardAtLeast(0.01), stats.Indifference, "too close to 0"},
		{"bound not a probability", stats.Params{}, atLeast(1.5), stats.BadValue, "bound 1.5: want a probability"},
		{"bound NaN", stats.Params{}, rewardAtLeast(nan), stats.BadValue, "bound NaN: want a finite reward"},
		{"limit below plan", stats.Params{Method: stats.APMC, Approx: 0.05, MaxSamples: 1000}, prob, stats.BadValue, "APMC needs 1060 samples: want at most 1000"},
	} {
		p, err := stats.NewPlan(c.params, c.property)
		if p != nil || code(err) != c.code || !strings.Contains(fmt.Sprint(err), c.msg) {
			t.Errorf("%s: got %v, %v, want code %v and %q", c.name, p, err, c.code, c.msg)
		}
	}
}

func TestPlans(t *testing.T) {
	for _, c := range []struct {
		params   stats.Params
		property stats.Property
		want     string
		seq      bool
	}{
		// PRISM's parameter lines in section 5.5 of the reference, with confidence for alpha.
		{stats.Params{}, prob, "CI: width=unknown, confidence=0.99, samples=1000", false},
		{stats.Params{Confidence: 0.9}, prob, "CI: width=unknown, confidence=0.9, samples=1000", false},
		{stats.Params{Width: 0.05}, prob, "CI: width=0.05, confidence=0.99, samples=unknown", true},
		{stats.Params{Width: 0.05, Samples: 500}, prob, "CI: width=0.05, confidence=unknown, samples=500", false},
		{stats.Params{Method: stats.ACI, Width: 0.05, Confidence: 0.95}, reward, "ACI: width=0.05, confidence=0.95, samples=unknown", true},
		{stats.Params{Method: stats.APMC, Approx: 0.05}, prob, "APMC: width=0.05, confidence=0.99, samples=1060", false},
		{stats.Params{Method: stats.APMC}, prob, "APMC: width=0.05146997846583985, confidence=0.99, samples=1000", false},
		{stats.Params{Method: stats.APMC, Approx: 0.05, Samples: 10000}, prob, "APMC: width=0.05, confidence=0.9999999999999999, samples=10000", false},
		{stats.Params{}, atLeast(0.5), "SPRT: width=0.05, confidence=0.99, samples=unknown", true},
		{stats.Params{Method: stats.CI}, atLeast(0.5), "CI: width=unknown, confidence=0.99, samples=1000", false},
	} {
		p := mustPlan(t, c.params, c.property)
		if p.String() != c.want || p.Sequential() != c.seq {
			t.Errorf("%+v: got %v, sequential %v", c.params, p, p.Sequential())
		}
		if n, fixed := p.Samples(); fixed == c.seq || fixed && n == 0 {
			t.Errorf("%+v: got %d samples, fixed %v", c.params, n, fixed)
		}
	}
}

func TestPlanWarnings(t *testing.T) {
	for _, c := range []struct {
		params   stats.Params
		property stats.Property
		want     string
	}{
		{stats.Params{Approx: 0.1}, prob, "approximation is not used by the CI method and is ignored"},
		{stats.Params{Method: stats.APMC, Width: 0.1}, prob, "width is not used by the APMC method and is ignored"},
		{stats.Params{Samples: 10}, atLeast(0.5), "the number of samples has no effect on a bound: SPRT draws as many as it needs"},
		{stats.Params{Method: stats.ACI, Width: 0.1}, prob, "PRISM runs CI where ACI is asked for a probability of given width; this is ACI"},
		{stats.Params{Method: stats.ACI, Width: 0.1}, reward, ""},
		{stats.Params{Width: 0.1, Confidence: 0.9}, prob, ""},
		{stats.Params{}, rewardAtLeast(3), "SPRT on rewards takes them for normal and their variance from as few as two samples: its error probability is not guaranteed"},
	} {
		if got := strings.Join(mustPlan(t, c.params, c.property).Warnings(), "; "); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.params, got, c.want)
		}
	}
}

// TestLogs takes samples and mean from real PRISM logs and expects their widths.
func TestLogs(t *testing.T) {
	for _, c := range []struct {
		log         string
		params      stats.Params
		b           stats.Bernoulli
		width, rele float64
	}{
		{"sim-ci-samples", stats.Params{Samples: 200}, stats.Bernoulli{N: 200, K: 81}, 0.090502331883856, 0.22346254786137282},
		{"sim-apmc", stats.Params{Method: stats.APMC, Approx: 0.05}, stats.Bernoulli{N: 1060, K: 420}, 0.05, 0.1261904761904762},
		{"sim-ci-width-nullvar", stats.Params{Width: 0.01}, stats.Bernoulli{N: 100, K: 100}, 0.01, 0.01},
		{"sim-experiment k=0", stats.Params{Samples: 300}, stats.Bernoulli{N: 300, K: 0}, 0, 0},
		{"sim-experiment k=1", stats.Params{Samples: 300}, stats.Bernoulli{N: 300, K: 119}, 0.07287406553313722, 0.18371613159614425},
		{"sim-two-props 1", stats.Params{Samples: 100}, stats.Bernoulli{N: 100, K: 36}, 0.12670256653318843, 0.3519515737033012},
		{"sim-two-props 2", stats.Params{Samples: 100}, stats.Bernoulli{N: 100, K: 100}, 0, 0},
		{"2048-sim-ci", stats.Params{}, stats.Bernoulli{N: 1000, K: 445}, 0.040500541748464715, 0.09101245336733643},
		{"2048-sim-apmc", stats.Params{Method: stats.APMC, Approx: 0.05}, stats.Bernoulli{N: 1060, K: 1060}, 0.05, 0.05},
		{"prism-semantics 5.5", stats.Params{}, stats.Bernoulli{N: 1000, K: 770}, 0.034296011494710316, 0.044540274668454956},
	} {
		p := mustPlan(t, c.params, prob)
		o := mustOutcome(t, p, &c.b)
		if !p.Done(&c.b) || !near(o.Width, c.width, 1e-13) || !near(o.RelativeError(), c.rele, 1e-13) || o.Confidence != 0.99 {
			t.Errorf("%s: got %+v, relative error %v, done %v", c.log, o, o.RelativeError(), p.Done(&c.b))
		}
	}
}

func TestUnknownConfidence(t *testing.T) {
	// Reference, section 5.4: N = 500 and x = 2.662 print as 0.99999989, the truth is 0.99199.
	b := stats.Bernoulli{N: 500, K: 200}
	width := 2.662 * math.Sqrt(b.Variance()/500)
	o := mustOutcome(t, mustPlan(t, stats.Params{Width: width, Samples: 500}, prob), &b)
	if !near(o.Confidence, 0.99199, 1e-5) {
		t.Errorf("confidence %v, want 0.99199", o.Confidence)
	}
	if got := stats.PRISMConfidence(width, &b); !near(got, 0.99999989, 1e-8) {
		t.Errorf("PRISM prints %v, want 0.99999989", got)
	}
	// One degree of freedom: x = 1 is the quartile of the Cauchy distribution.
	b = stats.Bernoulli{N: 2, K: 1}
	width = math.Sqrt(b.Variance() / 2)
	o = mustOutcome(t, mustPlan(t, stats.Params{Width: width, Samples: 2}, prob), &b)
	if !near(o.Confidence, 0.5, 1e-14) || !near(stats.PRISMConfidence(width, &b), 0.5, 1e-14) {
		t.Errorf("confidence %v, PRISM %v, want 0.5", o.Confidence, stats.PRISMConfidence(width, &b))
	}
	if got := stats.PRISMConfidence(0.1, stats.Bernoulli{N: 1}); got != 1 {
		t.Errorf("one sample: PRISM prints %v, want 1", got)
	}
}

// samplesNeeded feeds x until the plan is done.
func samplesNeeded(p *stats.Plan, x float64) int64 {
	var m stats.Moments
	for !p.Done(&m) {
		m.Add(x)
	}
	return m.N
}

func TestZeroVariance(t *testing.T) {
	// max reward / width, by hand; PRISM's default for w = 0.01 is in section 5.4 of the reference.
	for _, c := range []struct {
		params   stats.Params
		property stats.Property
		want     int64
	}{
		{stats.Params{Width: 0.01}, reward, 100000},
		{stats.Params{Method: stats.ACI, Width: 0.5, MaxReward: 30}, reward, 60},
		{stats.Params{Width: 0.01, ZeroVarianceSamples: 7}, reward, 7},
		{stats.Params{Width: 5, MaxReward: 1}, reward, 2},
	} {
		if got := samplesNeeded(mustPlan(t, c.params, c.property), 3); got != c.want {
			t.Errorf("%+v: stopped after %d samples, want %d", c.params, got, c.want)
		}
	}
}

// PRISM samples forever in all of these.
func TestSPRTThatPRISMNeverEnds(t *testing.T) {
	p := mustPlan(t, stats.Params{MaxReward: 10, Width: 0.5}, rewardAtLeast(3))
	if got := samplesNeeded(p, 3); got != 20 {
		t.Errorf("stopped after %d equal rewards, want 10/0.5", got)
	}
	m := repeat(3, 20)
	o, err := p.Outcome(&m)
	if code(err) != stats.ZeroVariance || o.Decision != stats.Undecided || o.Mean != 3 {
		t.Errorf("equal rewards: got %+v, %v", o, err)
	}
	// The likelihood ratio is exp(-2e6), which underflows.
	m = moments(5, 5.001)
	if o := mustOutcome(t, p, &m); o.Decision != stats.Holds {
		t.Errorf("small variance: got %+v", o)
	}
	// Between the hypotheses the powers in PRISM's formula are 0 and +Inf; the log ratio is
	// 250000·ln(0.55/0.45·0.45/0.55) = 0.
	p = mustPlan(t, stats.Params{}, atLeast(0.5))
	if b := (stats.Bernoulli{N: 500000, K: 250000}); p.Done(&b) {
		t.Error("decided at a likelihood ratio of 1")
	}
	if b := (stats.Bernoulli{N: 500000, K: 250012}); mustOutcome(t, p, &b).Decision != stats.Holds {
		t.Error("24·ln(0.55/0.45) = 4.82 > ln(99) = 4.595: not decided")
	}
}

// Rewards are uniform on 1, 1.1, ..., 1.6, so that R>=1.2 holds with a mean of 1.3
// beyond the indifference region. The first two samples are 1 and 1.1, in either order,
// with probability 2/49 = 4 %, and decide for the wrong side at a nominal error of 1 %:
// the log ratio is 2·(1.15-1.25)·(2·1.05-2.4)/(2·0.0025) = 12.
func TestSPRTOnRewardsIsNominal(t *testing.T) {
	p := mustPlan(t, stats.Params{}, rewardAtLeast(1.2))
	m := moments(1, 1.1)
	if o := mustOutcome(t, p, &m); !p.Done(&m) || o.Decision != stats.Fails || o.Confidence != 0.99 {
		t.Errorf("got %+v", o)
	}
}

func TestIncomplete(t *testing.T) {
	// A limit that ends a sequential method is an error, with the width that was reached.
	p := mustPlan(t, stats.Params{Width: 0.01, MaxSamples: 300}, prob)
	b := stats.Bernoulli{N: 300, K: 119}
	o, err := p.Outcome(&b)
	if !p.Done(&b) || code(err) != stats.Truncated || !near(o.Width, 0.07287406553313722, 1e-13) { // sim-experiment.log
		t.Errorf("got %+v, %v", o, err)
	}
	// Too few samples to believe in a variance of 0.
	b = stats.Bernoulli{N: 50, K: 50}
	o, err = p.Outcome(&b)
	if p.Done(&b) || code(err) != stats.NotDone || !math.IsInf(o.Width, 1) || o.Interval.Lo != 0 || o.Interval.Hi != 1 {
		t.Errorf("got %+v, %v", o, err)
	}
	p = mustPlan(t, stats.Params{MaxSamples: 10}, atLeast(0.5))
	b = stats.Bernoulli{N: 10, K: 5}
	if o, err := p.Outcome(&b); !p.Done(&b) || code(err) != stats.Truncated || o.Decision != stats.Undecided {
		t.Errorf("got %+v, %v", o, err)
	}
	// A fixed number of samples that was not reached: the interval for those there are.
	p = mustPlan(t, stats.Params{Method: stats.APMC, Approx: 0.05}, atLeast(0.2))
	b = stats.Bernoulli{N: 1000, K: 500}
	if o, err := p.Outcome(&b); code(err) != stats.NotDone || o.Width != 0.05146997846583985 || o.Decision != stats.Undecided {
		t.Errorf("got %+v, %v", o, err)
	}
	p = mustPlan(t, stats.Params{Method: stats.APMC, Approx: 0.05, Samples: 2000}, prob)
	if o, err := p.Outcome(&b); code(err) != stats.NotDone || !near(o.Confidence, 1-2*math.Exp(-5), 1e-14) {
		t.Errorf("got %+v, %v", o, err)
	}
	// The computed confidence is that of APMC's interval and may be next to 0 or 1;
	// the sound interval is for the confidence that was asked for.
	p = mustPlan(t, stats.Params{Method: stats.APMC, Approx: 0.5, Samples: 1000}, prob)
	if i, err := p.SoundInterval(&b, nil); err != nil || i.Confidence != 0.99 {
		t.Errorf("got %+v, %v", i, err)
	}
	if _, err := p.Outcome(&stats.Bernoulli{}); code(err) != stats.NotDone {
		t.Errorf("empty sample: got %v", err)
	}
}

// PRISM's band around the bound is closed: mean >= bound+width and mean <= bound-width decide.
func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		k               int64
		atLeast, atMost stats.Decision
	}{
		{76, stats.Holds, stats.Fails},
		{75, stats.Holds, stats.Fails},
		{74, stats.Undecided, stats.Undecided},
		{26, stats.Undecided, stats.Undecided},
		{25, stats.Fails, stats.Holds},
	} {
		for _, params := range []stats.Params{
			{Method: stats.APMC, Approx: 0.25, Samples: 100},
			{Method: stats.CI, Width: 0.25, Samples: 100},
		} {
			b := stats.Bernoulli{N: 100, K: c.k}
			for lower, want := range map[bool]stats.Decision{true: c.atLeast, false: c.atMost} {
				p := mustPlan(t, params, stats.Property{Bound: &stats.Bound{AtLeast: lower, Threshold: 0.5}})
				if got := mustOutcome(t, p, b).Decision; got != want {
					t.Errorf("%v, at least %v, %d of 100: got %v, want %v", params.Method, lower, c.k, got, want)
				}
			}
		}
	}
}

func TestOutcomeErrors(t *testing.T) {
	p := mustPlan(t, stats.Params{}, prob)
	if _, err := p.Outcome(&stats.Moments{}); code(err) != stats.BadValue {
		t.Errorf("moments for a probability: got %v", err)
	}
	if _, err := p.SoundInterval(&stats.Moments{}, nil); code(err) != stats.BadValue {
		t.Errorf("moments for a probability: got %v", err)
	}
	if _, err := p.Outcome(stats.Bernoulli{N: 3, K: 4}); code(err) != stats.BadValue {
		t.Errorf("more successes than samples: got %v", err)
	}
	m := stats.Moments{N: 3, M2: -1}
	if _, err := mustPlan(t, stats.Params{}, reward).Outcome(&m); code(err) != stats.BadValue {
		t.Errorf("negative M2: got %v", err)
	}
}

func TestSingleSampleHasNoWidth(t *testing.T) {
	for _, method := range []stats.Method{stats.CI, stats.ACI} {
		p := mustPlan(t, stats.Params{Method: method, Samples: 1}, prob)
		if o := mustOutcome(t, p, &stats.Bernoulli{N: 1, K: 1}); !math.IsInf(o.Width, 1) {
			t.Errorf("%v: width %v", method, o.Width)
		}
		p = mustPlan(t, stats.Params{Method: method, Samples: 1, Width: 0.1}, prob)
		if o := mustOutcome(t, p, &stats.Bernoulli{N: 1, K: 1}); o.Confidence != 0 {
			t.Errorf("%v: confidence %v", method, o.Confidence)
		}
	}
}

func TestSoundIntervalOfPlan(t *testing.T) {
	b := stats.Bernoulli{N: 1000, K: 445}
	m := moments(1, 2, 3)
	for _, c := range []struct {
		params   stats.Params
		property stats.Property
		s        stats.Statistics
		bounds   *stats.Bounds
		method   stats.IntervalMethod
		sound    bool
	}{
		{stats.Params{}, prob, &b, nil, stats.ClopperPearson, true},
		{stats.Params{}, prob, b, nil, stats.ClopperPearson, true},
		{stats.Params{Method: stats.APMC, Approx: 0.05}, prob, &b, nil, stats.ClopperPearson, true},
		{stats.Params{Width: 0.05}, prob, &b, nil, stats.BetaBinomial, true},
		{stats.Params{}, atLeast(0.5), &b, nil, stats.BetaBinomial, true},
		{stats.Params{}, reward, &m, nil, stats.StudentT, false},
		{stats.Params{}, reward, &m, &stats.Bounds{Lo: 0, Hi: 9}, stats.EmpiricalBernstein, true},
		{stats.Params{Width: 0.1}, reward, &m, &stats.Bounds{Lo: 0, Hi: 9}, stats.EmpiricalBernsteinSequence, true},
	} {
		c.params.Confidence = 0.9
		p := mustPlan(t, c.params, c.property)
		i, err := p.SoundInterval(c.s, c.bounds)
		if err != nil || i.Method != c.method || i.Sound() != c.sound || i.Confidence != 0.9 || !i.Contains(c.s.Mean()) || p.Confidence() != 0.9 {
			t.Errorf("%+v: got %+v, %v", c.params, i, err)
		}
	}
}

// A valid plan stops when the interval that is proven is as narrow as was asked for, and no sooner than it must: at one of
// the numbers of samples that it looks at. The interval holds although the samples decide when to stop: of 400 runs with 95 %
// each, more than 40 misses would be a false alarm with a probability below 1e-4.
func TestValidWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 1))
	const width, confidence = 0.04, 0.95
	misses := 0
	for i := range 400 {
		p := []float64{0.5, 0.02, 0.9792, 0.3, 0}[i%5]
		plan, err := stats.NewPlan(stats.Params{Width: width, Confidence: confidence, Valid: true}, stats.Property{})
		if err != nil || !plan.Valid() || !plan.Sequential() {
			t.Fatal(plan, err)
		}
		var b stats.Bernoulli
		for !plan.Done(b) {
			b.Add(rng.Float64() < p)
		}
		in, err := plan.SoundInterval(b, nil)
		if err != nil || in.Hi-in.Lo > 2*width || !in.Sound() {
			t.Fatalf("p = %v: the interval is %v after %d samples, %v, want one of half-width %v", p, in, b.N, err, width)
		}
		if most := stats.MostValidSamples(width, confidence); float64(b.N) > 1.05*most {
			t.Errorf("p = %v: %d samples, want at most about %v", p, b.N, most)
		}
		if !in.Contains(p) {
			misses++
		}
	}
	if misses > 40 {
		t.Errorf("%d of 400 intervals miss the probability", misses)
	}
	for _, tt := range []struct {
		params   stats.Params
		property stats.Property
		want     bool
	}{
		{stats.Params{Width: 1, Valid: true}, stats.Property{Reward: true}, false},
		{stats.Params{Width: 1, Valid: true, MaxReward: 10}, stats.Property{Reward: true}, true},
		{stats.Params{Width: 0.1, Samples: 100, Valid: true}, stats.Property{}, false},
		{stats.Params{Method: stats.ACI, Width: 0.1, Valid: true}, stats.Property{}, false},
		{stats.Params{Width: 0.1}, stats.Property{}, false},
	} {
		plan, err := stats.NewPlan(tt.params, tt.property)
		if err != nil || plan.Valid() != tt.want {
			t.Errorf("%+v: valid is %v, %v, want %v", tt.params, plan.Valid(), err, tt.want)
		}
	}
}
