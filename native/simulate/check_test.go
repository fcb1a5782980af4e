package simulate

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/progress"
	"tilecheck/prism/compile"
	"tilecheck/result"
	"tilecheck/stats"
)

// known are properties whose exact values follow from the sources named.
func known(t testing.TB) []struct {
	m        *model
	property string
	want     float64
	max      float64 // of a reward, 0 for a probability
} {
	fair := load(t, ruin, "N=10,start=3,p=0.5")
	unfair := load(t, ruin, "N=6,start=4,p=0.4")
	mm1k := load(t, queue, "K=4,lambda=1,mu=2")
	dieModel, atom := load(t, die), load(t, decay)
	ratio := func(i, n float64) float64 { r := 0.6 / 0.4; return (1 - math.Pow(r, i)) / (1 - math.Pow(r, n)) }
	return []struct {
		m        *model
		property string
		want     float64
		max      float64
	}{
		// Knuth and Yao 1976.
		{dieModel, `P=? [ F d=6 ]`, 1.0 / 6, 0},
		{dieModel, `P=? [ F "done" & d<3 ]`, 2.0 / 6, 0},
		{dieModel, `P=? [ F<=3 "done" ]`, 6.0 / 8, 0}, // both ways into a cycle have probability 1/8
		{dieModel, `P=? [ F<4 "done" ]`, 6.0 / 8, 0},
		{dieModel, `P=? [ G<=3 d=0 ]`, 2.0 / 8, 0},
		{dieModel, `R=? [ F "done" ]`, 11.0 / 3, 100},
		{dieModel, `R=? [ C<=4 ]`, 3 + 2.0/8, 4},
		{dieModel, `R=? [ I=3 ]`, 2.0 / 8, 1},
		// Feller, An Introduction to Probability Theory, vol. 1, chapter XIV.
		{fair, `P=? [ F x=N ]`, 0.3, 0},
		{fair, `P=? [ x>0 U x=N ]`, 0.3, 0},
		{fair, `P=? [ G x<N ]`, 0.7, 0},
		{fair, `P=? [ x<N W x=0 ]`, 0.7, 0},
		{fair, `P=? [ x=0 R x<N ]`, 0.7, 0},
		{fair, `R=? [ F x=0|x=N ]`, 3 * 7, 2000},
		{unfair, `P=? [ F x=N ]`, ratio(4, 6), 0},
		// An exponential time T of rate 2.
		{atom, `P=? [ F<=0.5 gone ]`, 1 - math.Exp(-1), 0},
		{atom, `P=? [ F[0.25,0.5] gone ]`, 1 - math.Exp(-1), 0}, // gone stays true
		{atom, `P=? [ !gone U[0.25,0.5] gone ]`, math.Exp(-0.5) - math.Exp(-1), 0},
		{atom, `P=? [ F=0.25 !gone ]`, math.Exp(-0.5), 0},
		{atom, `P=? [ G<=0.25 !gone ]`, math.Exp(-0.5), 0},
		{atom, `R=? [ I=0.25 ]`, 3 * math.Exp(-0.5), 3},
		{atom, `R=? [ C<=0.5 ]`, 1.5 * (1 - math.Exp(-1)), 1.5},
		{atom, `R=? [ F gone ]`, 1.5, 100},
		// M/M/1/4 with rates 1 and 2. From 1, full before empty is the ruin of a
		// gambler with p = 1/3 and 1 of 4: (1-2)/(1-16).
		{mm1k, `P=? [ X q=1 ]`, 1, 0},
		{load(t, strings.Replace(queue, "init 0", "init 1", 1), "K=4,lambda=1,mu=2"), `P=? [ q>0 U q=K ]`, 1.0 / 15, 0},
		// Hitting time of 2 from 0: h1 = h0-1, h1 = 1/3 + 2/3 h0, so h0 = 4.
		{load(t, strings.Replace(queue, `q>0 : q;`, `true : 1;`, 1), "K=4,lambda=1,mu=2"), `R{"length"}=? [ F q=2 ]`, 4, 200},
		{load(t, queue, "K=4,lambda=1,mu=2"), `R{"served"}=? [ F q=2 ]`, 2, 200}, // falls before the second rise: geometric, (2/3)/(1/3)
	}
}

// The sound intervals have confidence 1-1e-6 each, so that with a new seed the
// test fails with probability below 3e-5.
func TestKnownValues(t *testing.T) {
	for _, tt := range known(t) {
		r := tt.m.check(t, tt.property, Options{Seed: 1, Params: stats.Params{Samples: 20000, Confidence: 1 - 1e-6, MaxReward: tt.max}})
		if r.Err != nil {
			t.Errorf("%s: %v", tt.property, r.Err)
			continue
		}
		if r.Bound == nil || !r.Bound.Contains(tt.want) {
			t.Errorf("%s: estimate %v in %v, want %v", tt.property, r.Value.Num, r.Bound, tt.want)
		}
		if r.Value.Kind != result.Number || r.Value.Num != r.Estimate || r.Accuracy != result.Probable || r.Samples != 20000 || *r.Seed != 1 || r.Method != "ci" {
			t.Errorf("%s: verdict %+v", tt.property, r.Verdict)
		}
	}
}

// One sample path per outcome: n is the number of coin flips, at least 3.
func TestPathLengths(t *testing.T) {
	r := load(t, die).check(t, `P=? [ F "done" ]`, Options{Seed: 1})
	// Lengths are 3, 5, 7, …; the mean is 11/3 with standard deviation below 2,
	// so that the mean of 1000 is farther than 0.4 off with probability below 1e-9.
	if r.Steps == nil || r.Steps.Min != 3 || r.Steps.Max%2 != 1 || math.Abs(r.Steps.Mean-11.0/3) > 0.4 {
		t.Errorf("steps %+v, want 3, an odd number, and about 3.67", r.Steps)
	}
	if r.Resolution != result.NoNondet || r.Samples != 1000 || r.Confidence != 0.99 {
		t.Errorf("verdict %+v", r.Verdict)
	}
}

// Results are the same bits for every number of workers.
func TestWorkers(t *testing.T) {
	d, g, a := load(t, die), load(t, ruin, "N=10,start=3,p=0.5"), load(t, decay)
	for _, tt := range []struct {
		m        *model
		property string
		params   stats.Params
	}{
		{d, `P=? [ F d=6 ]`, stats.Params{}},
		{d, `P=? [ F d=6 ]`, stats.Params{Width: 0.02}},
		{d, `P=? [ F d=6 ]`, stats.Params{Method: stats.ACI, Width: 0.03, Confidence: 0.9}},
		{d, `P=? [ F d=6 ]`, stats.Params{Method: stats.APMC, Approx: 0.03}},
		{d, `P>0.1 [ F d=6 ]`, stats.Params{}},
		{d, `R=? [ F "done" ]`, stats.Params{Width: 0.1}},
		{g, `R=? [ F x=0|x=N ]`, stats.Params{Samples: 5000}},
		{g, `R<30 [ F x=0|x=N ]`, stats.Params{Width: 2}},
		{a, `R=? [ C<=0.5 ]`, stats.Params{Samples: 5000}},
	} {
		var first *Result
		for _, workers := range []int{1, 2, 7} {
			r := tt.m.check(t, tt.property, Options{Params: tt.params, Seed: 42, Workers: workers})
			if r.Err != nil {
				t.Fatalf("%s: %v", tt.property, r.Err)
			}
			if first == nil {
				first = r
				continue
			}
			if !sameResult(first, r) {
				t.Errorf("%s: %d workers give\n%+v, 1 gives\n%+v", tt.property, workers, r, first)
			}
		}
	}
}

// The coin is thrown 3+2k times with probability 3/4^(k+1): so the quantiles at 0.5 and 0.9 are 3 and 5, and the means of the largest half and
// tenth follow from the geometric series.
func TestQuantiles(t *testing.T) {
	m := load(t, die)
	options := Options{Seed: 1, Params: stats.Params{Samples: 20000, Confidence: 1 - 1e-6, MaxReward: 100}, Quantiles: []float64{0.5, 0.9}}
	r := m.check(t, `R=? [ F "done" ]`, options)
	if r.Err != nil || len(r.Quantiles) != 2 {
		t.Fatalf("%d quantiles, %v, want 2", len(r.Quantiles), r.Err)
	}
	for i, want := range []struct{ quantile, tail result.JSONNumber }{{3, 13. / 3}, {5, 20. / 3}} {
		q := r.Quantiles[i]
		if !(q.Lower <= want.quantile && want.quantile <= q.Upper && q.TailLower <= want.tail && want.tail <= q.TailUpper) {
			t.Errorf("%+v, want quantile %v and tail %v within the bounds", q, want.quantile, want.tail)
		}
		if q.Value != want.quantile || math.Abs(float64(q.Tail-want.tail)) > 0.1 {
			t.Errorf("%+v, want about quantile %v and tail %v", q, want.quantile, want.tail)
		}
	}
	for _, property := range []string{`P=? [ F "done" ]`, `R>=3 [ F "done" ]`} {
		if r := m.check(t, property, options); r.Err == nil || !strings.Contains(r.Err.Message, "want a property R=? [ ... ]") {
			t.Errorf("%s: %v, want that it has no quantiles", property, r.Err)
		}
	}
	options.Params = stats.Params{Width: 0.1}
	if r := m.check(t, `R=? [ F "done" ]`, options); r.Err == nil || !strings.Contains(r.Err.Message, "want --samples") {
		t.Errorf("a sequential sample: %v, want that it has no quantiles", r.Err)
	}
}

// An interruption cuts off long paths, so the bounds of quantiles would not have the stated confidence.
func TestInterruptedQuantiles(t *testing.T) {
	m := load(t, die)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	options := Options{Seed: 1, Params: stats.Params{Samples: 1 << 40}, Quantiles: []float64{0.5}, Progress: func(progress.Progress) { cancel() }}
	r := Check(ctx, m.Model, m.property(t, `R=? [ F "done" ]`), options)
	if r.Err == nil || r.Err.Class != result.Interrupted || r.Samples == 0 || len(r.Quantiles) > 0 {
		t.Errorf("%d samples, quantiles %v, %v, want an interruption without quantiles", r.Samples, r.Quantiles, r.Err)
	}
}

// sameResult compares everything but the time taken.
func sameResult(a, b *Result) bool {
	if !reflect.DeepEqual(a.Quantiles, b.Quantiles) {
		return false
	}
	same := func(x, y *float64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	return reflect.DeepEqual(a.Value, b.Value) && a.Estimate == b.Estimate && a.Samples == b.Samples && *a.Steps == *b.Steps &&
		(a.Bound == nil) == (b.Bound == nil) && (a.Bound == nil || *a.Bound == *b.Bound) && same(a.HalfWidth, b.HalfWidth) &&
		a.Confidence == b.Confidence && a.Nondet == b.Nondet && strings.Join(a.Warnings, "\n") == strings.Join(b.Warnings, "\n")
}

// cov jumps to 1 with probability p, as the model behind the measurement of
// PRISM's coverage in the reference (tools-and-options, section iii.4).
const cov = `dtmc
const double p;
module m s : [0..2] init 0; [] s=0 -> p : (s'=1) + 1-p : (s'=2); [] s>0 -> true; endmodule
`

// Of 300 runs with p = 0.011, half-width 0.01 and confidence 0.99, PRISM's
// interval misses p in about a third (it was measured at 69 % coverage: the
// variance is 0 in the first 100 samples with probability 0.33). Ours misses
// with probability at most 0.01: more than 12 misses have probability below 1e-4.
func TestCoverageSequential(t *testing.T) {
	m := load(t, cov, "p=0.011")
	property := m.property(t, `P=? [ F s=1 ]`)
	nominal, sound := 0, 0
	for seed := range 300 {
		r := Check(t.Context(), interpreted{m.Model}, property, Options{Seed: uint64(seed), Workers: 1, Params: stats.Params{Width: 0.01}})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if math.Abs(r.Value.Num-0.011) > *r.HalfWidth {
			nominal++
		}
		if !r.Bound.Contains(0.011) {
			sound++
		}
	}
	if sound > 12 {
		t.Errorf("the sound interval missed in %d of 300 runs", sound)
	}
	if nominal < 60 || nominal > 140 { // 100 expected, standard deviation 8
		t.Errorf("PRISM's interval missed in %d of 300 runs, want about 100", nominal)
	}
}

// With a number of samples that was fixed, Clopper-Pearson misses with
// probability at most 0.05: more than 30 of 300 have probability below 1e-3.
func TestCoverageFixed(t *testing.T) {
	m := load(t, ruin, "N=10,start=3,p=0.5")
	property := m.property(t, `P=? [ F x=N ]`)
	missed := 0
	for seed := range 300 {
		r := Check(t.Context(), interpreted{m.Model}, property, Options{Seed: uint64(seed), Workers: 1, Params: stats.Params{Samples: 100, Confidence: 0.95}})
		if r.BoundMethod != "Clopper-Pearson" {
			t.Fatalf("interval %q", r.BoundMethod)
		}
		if !r.Bound.Contains(0.3) {
			missed++
		}
	}
	if missed > 30 {
		t.Errorf("the interval missed in %d of 300 runs", missed)
	}
}

// SPRT with errors of at most 0.05 each: of 100 runs with the value outside
// the indifference region more than 14 err with probability below 1e-3.
func TestSPRTErrors(t *testing.T) {
	m := load(t, ruin, "N=10,start=3,p=0.5") // 0.3
	for _, tt := range []struct {
		property string
		want     bool
	}{
		{`P>=0.2 [ F x=N ]`, true},
		{`P>=0.4 [ F x=N ]`, false},
		{`P<0.4 [ F x=N ]`, true},
		{`P<0.2 [ F x=N ]`, false},
	} {
		property, wrong := m.property(t, tt.property), 0
		for seed := range 100 {
			r := Check(t.Context(), interpreted{m.Model}, property, Options{Seed: uint64(seed), Workers: 1, Params: stats.Params{Confidence: 0.95, Width: 0.1}})
			if r.Err != nil || r.Value.Kind != result.Boolean || r.Method != "sprt" {
				t.Fatalf("%s: %+v", tt.property, r)
			}
			if r.Value.Bool != tt.want {
				wrong++
			}
		}
		if wrong > 14 {
			t.Errorf("%s: wrong in %d of 100 runs", tt.property, wrong)
		}
	}
}

// Decisions of CI and APMC on a model whose value is 1, so that nothing is random.
func TestBoundedByEstimate(t *testing.T) {
	m := load(t, cov, "p=1")
	for _, tt := range []struct {
		property string
		params   stats.Params
		kind     result.Kind
		want     bool
		warning  string
	}{
		{`P>=0.9 [ F s=1 ]`, stats.Params{Method: stats.CI, Samples: 1000}, result.Boolean, true, ""},
		{`P<0.9 [ F s=1 ]`, stats.Params{Method: stats.CI, Samples: 1000}, result.Boolean, false, ""},
		{`P>=0.9 [ F s=1 ]`, stats.Params{Method: stats.CI, Samples: 5}, result.Boolean, true, "the sound interval contains the bound 0.9"},
		{`P>=0.9 [ F s=1 ]`, stats.Params{Method: stats.APMC, Approx: 0.05}, result.Boolean, true, ""},
		{`P>=0.97 [ F s=1 ]`, stats.Params{Method: stats.APMC, Approx: 0.05}, result.NoValue, false, ""},
		{`P>=0.97 [ F s=1 ]`, stats.Params{Method: stats.CI, Width: 0.05}, result.NoValue, false, ""},
	} {
		r := m.check(t, tt.property, Options{Params: tt.params})
		if r.Value.Kind != tt.kind || r.Value.Bool != tt.want {
			t.Errorf("%s by %v: %+v, %v", tt.property, tt.params.Method, r.Value, r.Err)
		}
		if (tt.kind == result.NoValue) != (r.Err != nil && r.Err.Class == result.NonConverge && strings.Contains(r.Err.Message, "not precise enough")) {
			t.Errorf("%s by %v: error %v", tt.property, tt.params.Method, r.Err)
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), tt.warning) {
			t.Errorf("%s: warnings %q, want %q", tt.property, r.Warnings, tt.warning)
		}
	}
}

const choices = `mdp
module m s : [0..2] init 0;
  [] s=0 -> (s'=1);
  [] s=0 -> (s'=2);
  [] s>0 -> true;
endmodule
rewards true : 1; endrewards
`

func TestResolution(t *testing.T) {
	m := load(t, choices)
	forced := load(t, strings.Replace(choices, "[] s=0 -> (s'=2);\n", "", 1))
	overlap := load(t, strings.Replace(choices, "mdp", "dtmc", 1))
	for _, tt := range []struct {
		m        *model
		property string
		want     result.Resolution
		warning  string
	}{
		{m, `Pmin=? [ F s=1 ]`, result.Uniform, "Pmin=?: open choices were made at random, so this is the value of random choices, not the minimum"},
		{m, `Pmax=? [ F s=1 ]`, result.Uniform, "Pmax=?: open choices were made at random, so this is the value of random choices, not the maximum"},
		{m, `P=? [ F s=1 ]`, result.Uniform, "P=?: open choices were made at random, so this is the value of random choices"},
		{m, `Rmax=? [ C<=2 ]`, result.Uniform, "Rmax=?: open choices"},
		{m, `P>=0.2 [ F s=1 ]`, result.Uniform, "P>=0.2 is about every scheduler"},
		{forced, `Pmin=? [ F s=1 ]`, result.NoNondet, ""},
		{overlap, `P=? [ F s=1 ]`, result.Uniform, "several commands were enabled at once on 1000 of 1000 sampled paths"},
	} {
		r := tt.m.check(t, tt.property, Options{})
		if r.Err != nil || r.Resolution != tt.want {
			t.Errorf("%s: resolution %v, %v, want %v", tt.property, r.Resolution, r.Err, tt.want)
		}
		all := strings.Join(r.Warnings, "\n")
		if !strings.Contains(all, tt.warning) || tt.warning == "" && strings.Contains(all, "resolution") {
			t.Errorf("%s: warnings %q, want %q", tt.property, all, tt.warning)
		}
	}
}

func TestZeroVariance(t *testing.T) {
	m := load(t, cov, "p=1")
	r := m.check(t, `P=? [ F s=1 ]`, Options{})
	// 0.005^(1/1000) is the lower end of Clopper-Pearson after 1000 successes.
	if *r.HalfWidth != 0 || math.Abs(r.Bound.Lo-math.Pow(0.005, 1e-3)) > 1e-9 || r.Bound.Hi != 1 {
		t.Errorf("half-width %v, bound %v", *r.HalfWidth, r.Bound)
	}
	if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, "all samples are equal; PRISM's half-width would be 0, which guarantees nothing: use the interval") {
		t.Errorf("warnings %q", all)
	}
	// PRISM stops after 1/width samples (conformance case sim_ci_zero_var).
	r = m.check(t, `P=? [ F s=1 ]`, Options{Params: stats.Params{Width: 0.01}})
	if r.Samples != 100 || *r.HalfWidth != 0.01 || r.BoundMethod != "beta-binomial confidence sequence" {
		t.Errorf("%d samples, half-width %v, %s", r.Samples, *r.HalfWidth, r.BoundMethod)
	}
}

// With width and samples given the confidence of PRISM's half-width is computed
// from the samples; a sound interval needs one that was fixed.
func TestFreeConfidence(t *testing.T) {
	r := load(t, die).check(t, `P=? [ F d=6 ]`, Options{Params: stats.Params{Width: 0.03, Samples: 500}})
	if r.Err != nil || *r.HalfWidth != 0.03 || r.Confidence != 0.99 || r.BoundMethod != "Clopper-Pearson" {
		t.Errorf("verdict %+v", r.Verdict)
	}
	if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, "for +/- 0.03 the samples give a confidence of 0.9") {
		t.Errorf("warnings %q", all)
	}
}

// TestUnsampledNegativeReward: the interval contains the mean although no sample has the rare negative reward.
func TestUnsampledNegativeReward(t *testing.T) {
	m := load(t, "dtmc\nmodule m\ns:[0..2];\n[] s=0 -> 1e-7:(s'=1) + 1-1e-7:(s'=2);\n[] s>0 -> true;\nendmodule\nrewards s=1 : -1e6; endrewards\n")
	got := m.check(t, "R=? [ C<=2 ]", Options{Params: stats.Params{Samples: 1000, MaxReward: 1e6}, Seed: 1})
	if mean := -0.1; got.Err != nil || got.Estimate != 0 || got.Bound == nil || !(got.Bound.Lo <= mean) {
		t.Errorf("estimate %v in %v, %v", got.Estimate, got.Bound, got.Err)
	}
}

func TestRewardBound(t *testing.T) {
	m := load(t, die)
	r := m.check(t, `R=? [ F "done" ]`, Options{})
	if r.Bound != nil || r.HalfWidth == nil || !strings.Contains(strings.Join(r.Warnings, "\n"), "nominal") {
		t.Errorf("without a maximum: %+v", r.Verdict)
	}
	r = m.check(t, `R=? [ F "done" ]`, Options{Params: stats.Params{MaxReward: 100}})
	if r.Bound == nil || !r.Bound.Contains(11.0/3) || r.BoundMethod != "empirical Bernstein" {
		t.Errorf("with a maximum: %+v", r.Verdict)
	}
	r = m.check(t, `R=? [ F "done" ]`, Options{Params: stats.Params{MaxReward: 2}}) // every path has at least 3
	if r.Bound != nil || !strings.Contains(strings.Join(r.Warnings, "\n"), "no sound interval") {
		t.Errorf("with a wrong maximum: %+v", r.Verdict)
	}
}

func TestFailures(t *testing.T) {
	walk := load(t, ruin, "N=1000,start=500,p=0.5")
	for _, tt := range []struct {
		name     string
		m        *model
		property string
		opt      Options
		class    result.Class
		want     string
	}{
		{"limit", walk, `P=? [ F x=0 ]`, Options{MaxPath: 10}, result.PathLength, "m.props:1:1: a path was not decided after 10 steps (sample 0 of seed 0)"},
		{"limit of a reward", load(t, counter), `R=? [ F n=7 ]`, Options{}, result.PathLength, "a path was not decided after 10000 steps"},
		{"deadlock of a reward", load(t, dead), `R=? [ F s=7 ]`, Options{}, result.PathLength, "a path is in a deadlock after 2 steps and never reaches"},
		{
			"range", load(t, "dtmc\nmodule m\n s:[0..2];\n [] true -> (s'=s+1);\nendmodule"),
			`P=? [ F s=7 ]`,
			Options{},
			result.Model, "m.prism:4:13: s'=3 leaves [0..2] in state (s=2) (sample 0 of seed 0)",
		},
		{
			"probabilities", load(t, "dtmc\nmodule m\n s:[0..2];\n [] true -> 0.5:(s'=1);\nendmodule"),
			`P=? [ F s=7 ]`,
			Options{},
			result.Model, "probabilities sum to 0.5, not to 1 in state (s=0)",
		},
		{
			"formula", load(t, "dtmc\nmodule m\n s:[0..2];\n [] s<2 -> (s'=s+1);\nendmodule"),
			`  P=? [ F mod(3,1-s)=1 ]`,
			Options{},
			result.Model, "m.props:1:3: modulo with non-positive divisor 0 in state (s=1)",
		},
		{
			"deadlock", loadWith(t, compile.Options{NoFixDeadlocks: true}, "dtmc\nmodule m\n s:[0..2];\n [] s=0 -> (s'=1);\nendmodule"),
			`P=? [ F s=2 ]`,
			Options{},
			result.Deadlock, "deadlock in state (s=1)",
		},
		{"initial states", load(t, "dtmc\nmodule m\n s:[0..2];\n [] true -> true;\nendmodule\ninit s<2 endinit"), `P=? [ F s=2 ]`, Options{}, result.Unsupported, "single initial state"},
		{"apmc of a reward", load(t, die), `R=? [ F s=7 ]`, Options{Params: stats.Params{Method: stats.APMC}}, result.Unsupported, "m.props:1:1: the APMC method cannot be used for rewards"},
		{"sprt of a query", load(t, die), `P=? [ F s=7 ]`, Options{Params: stats.Params{Method: stats.SPRT}}, result.Unsupported, "SPRT method cannot be used for a quantitative property"},
		{"all three", load(t, die), `P=? [ F s=7 ]`, Options{Params: stats.Params{Width: 0.1, Samples: 10, Confidence: 0.9}}, result.Other, "all given"},
		{"indifference", load(t, die), `P>=0.99 [ F s=7 ]`, Options{}, result.Other, "too close to 1"},
		{"sprt of equal rewards", load(t, cov+"rewards true : 1; endrewards", "p=1"), `R>=2 [ C<=2 ]`, Options{Params: stats.Params{ZeroVarianceSamples: 50}}, result.NonConverge, "50 sampled rewards are equal"},
	} {
		r := tt.m.check(t, tt.property, tt.opt)
		if r.Err == nil || r.Err.Class != tt.class || !strings.Contains(r.Err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s: %s", tt.name, r.Err, tt.class, tt.want)
			continue
		}
		if r.Value.Kind != result.NoValue {
			t.Errorf("%s: value %+v with an error", tt.name, r.Value)
		}
	}
}

// A path at the limit fails the property, but what was seen before is told.
func TestPathLimitKeepsCount(t *testing.T) {
	m := load(t, ruin, "N=10,start=1,p=0.5")
	r := m.check(t, `P=? [ F x=0|x=N ]`, Options{MaxPath: 20, Seed: 3})
	if r.Err == nil || r.Err.Class != result.PathLength || r.Value.Kind != result.NoValue {
		t.Fatalf("verdict %+v", r.Verdict)
	}
	if r.Samples == 0 || r.Estimate != 1 || r.Steps.Max > 20 {
		t.Errorf("%d samples before the limit with mean %v, %+v", r.Samples, r.Estimate, r.Steps)
	}
}

// Sampling that is cut off by MaxSamples still has an estimate.
func TestMaxSamples(t *testing.T) {
	m := load(t, die)
	r := m.check(t, `P=? [ F d=6 ]`, Options{Params: stats.Params{Width: 1e-6, MaxSamples: 2000}})
	if r.Err == nil || r.Err.Class != result.NonConverge || r.Samples != 2000 {
		t.Fatalf("verdict %+v", r.Verdict)
	}
	if r.Value.Kind != result.Number || r.Bound == nil || !r.Bound.Contains(1.0/6) {
		t.Errorf("verdict %+v", r.Verdict)
	}
}

func TestInterrupted(t *testing.T) {
	m := load(t, die)
	property := m.property(t, `P=? [ F d=6 ]`)
	ctx, cancel := context.WithCancel(t.Context())
	opts := Options{Params: stats.Params{Samples: 1 << 40}, Seed: 5, Workers: 3}
	opts.Progress = func(progress.Progress) { cancel() }
	r := Check(ctx, m.Model, property, opts)
	if r.Err == nil || r.Err.Class != result.Interrupted || r.Samples == 0 || r.Value.Kind != result.Number {
		t.Fatalf("verdict %+v", r.Verdict)
	}
	if r.BoundMethod != "beta-binomial confidence sequence" {
		t.Errorf("interval %q: the number of samples was not fixed", r.BoundMethod)
	}
	// The samples are the first ones: a run of exactly as many has the same estimate.
	again := Check(t.Context(), m.Model, property, Options{Params: stats.Params{Samples: r.Samples}, Seed: 5})
	if again.Err != nil || again.Estimate != r.Estimate {
		t.Errorf("estimate %v after an interruption, %v (%v) from as many samples", r.Estimate, again.Estimate, again.Err)
	}

	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if r := Check(cancelled, m.Model, property, Options{}); r.Err == nil || r.Err.Class != result.Interrupted || r.Samples != 0 || r.Value.Kind != result.NoValue {
		t.Errorf("cancelled beforehand: %+v", r.Verdict)
	}
	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	if r := Check(late, m.Model, property, Options{}); r.Err == nil || r.Err.Class != result.Timeout {
		t.Errorf("deadline passed: %v", r.Err)
	}
}

func TestProgress(t *testing.T) {
	var seen []progress.Progress
	r := load(t, die).check(t, `P=? [ F d=6 ]`, Options{Params: stats.Params{Samples: 3000}, Progress: func(p progress.Progress) { seen = append(seen, p) }})
	if r.Err != nil || len(seen) == 0 {
		t.Fatalf("%d reports, %v", len(seen), r.Err)
	}
	for i, p := range seen {
		if p.Target != 3000 || p.Done < 1 || p.Done > 3000 || !(p.Estimate >= 0 && p.Estimate <= 1) || p.Rate <= 0 || i > 0 && p.Done < seen[i-1].Done {
			t.Errorf("report %d: %+v", i, p)
		}
	}
}
