package crosscheck_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

// states builds the state space of a model.
func states(t *testing.T, model string) *explicit.Space {
	t.Helper()
	m, _, err := load.Model(t.Context(), runner.Job{File: "model.prism", Model: []byte(model)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := explicit.Build(t.Context(), m, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const coin = `dtmc
const double p;
module coin
  s : [0..2] init 0;
  [] s=0 -> p:(s'=1) + 1-p:(s'=2);
  [] s>0 -> true;
endmodule
`

// An mdp with a choice between a fair coin and another.
const coins = `mdp
module coins
  s : [0..2] init 0;
  [a] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
  [b] s=0 -> 0.1:(s'=1) + 0.9:(s'=2);
  [] s>0 -> true;
endmodule
`

// canned is an engine with an answer that does not depend on the model.
type canned struct {
	name   string
	answer func(job runner.Job, draw int) (result.Verdict, error)
	asked  []*runner.Plan
}

func (c *canned) Name() string { return c.name }

func (c *canned) Check(ctx context.Context, p *runner.Plan) ([]result.Verdict, error) {
	c.asked = append(c.asked, p)
	v, err := c.answer(p.Job, len(c.asked))
	if err != nil {
		return nil, err
	}
	// for the names of properties and constants
	plain, err := native.New().Check(ctx, p.WithSettings(func(s *runner.Settings) {
		s.Method, s.Numeric, s.Simulation = "", runner.Numeric{}, runner.Simulation{}
	}))
	for i := range plain {
		p := plain[i]
		plain[i] = v
		plain[i].Property, plain[i].Name, plain[i].Constants = p.Property, p.Name, p.Constants
	}
	return plain, err
}

func says(name string, v result.Verdict) *canned {
	return &canned{name: name, answer: func(runner.Job, int) (result.Verdict, error) { return v, nil }}
}

func fraction(a, b int64) result.Verdict {
	r := big.NewRat(a, b)
	f, _ := r.Float64()
	return result.Verdict{Value: result.Value{Kind: result.Number, Num: f, Rat: r}, Accuracy: result.Exact}
}

func bounds(lo, hi float64) result.Verdict {
	return result.Verdict{
		Value: result.Value{Kind: result.Number, Num: lo}, Accuracy: result.Bounded, Bound: &result.Interval{Lo: lo, Hi: hi},
	}
}

func estimate(x float64) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Number, Num: x}, Accuracy: result.Estimated}
}

func truth(b bool, a result.Accuracy) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Boolean, Bool: b}, Accuracy: a}
}

func sample(k, n int64) result.Verdict {
	return result.Verdict{
		Value: result.Value{Kind: result.Number, Num: float64(k) / float64(n)}, Accuracy: result.Probable, Samples: n, Confidence: 0.99,
	}
}

func fails(class result.Class) result.Verdict {
	return result.Verdict{Err: &result.Failure{Class: class, Message: "no"}}
}

func interval(lo, hi float64) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Range, Num: lo, Hi: hi}, Accuracy: result.Exact}
}

// What two answers say about each other.
func TestPairs(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	third := result.Verdict{Value: result.Value{Kind: result.Number, Num: 1. / 3}, Accuracy: result.Exact}
	for _, tc := range []struct {
		name   string
		a, b   result.Verdict
		status crosscheck.Status
		basis  agree.Basis
		reason string
	}{
		{"equal fractions", fraction(1, 3), fraction(2, 6), crosscheck.Agree, agree.Proven, ""},
		{"fractions that are one double", fraction(1, 3), fraction(1e17, 3e17+1), crosscheck.Disagree, agree.Proven, "fractions differ"},
		{"fraction in bounds", fraction(1, 3), bounds(0.333333, 0.333334), crosscheck.Agree, agree.Proven, ""},
		{"fraction in wide bounds", fraction(1, 3), bounds(0.3, 0.4), crosscheck.Undecided, agree.Proven, "apart, want at most"},
		{"fraction next to bounds", fraction(1, 3), bounds(0.33333334, 0.4), crosscheck.Disagree, agree.Proven, "proven values differ: a 1/3, b [0.33333334, 0.4]"},
		{"rare event outside bounds", fraction(0, 1), bounds(1e-12, 2e-12), crosscheck.Disagree, agree.Proven, "proven values differ"},
		{"bounds that touch", bounds(0.5, 0.500001), bounds(0.500001, 0.500002), crosscheck.Agree, agree.Proven, ""},
		{"estimate near", fraction(1, 3), estimate(0.3333334), crosscheck.Agree, agree.Estimated, ""},
		{"estimate not near", fraction(1, 3), estimate(0.33334), crosscheck.Disagree, agree.Estimated, "estimated values are further apart"},
		{"estimated zero", fraction(0, 1), estimate(1e-17), crosscheck.Agree, agree.Estimated, ""},
		{"estimate of a rare event", fraction(0, 1), estimate(1e-6), crosscheck.Disagree, agree.Estimated, ""},
		{"exact without its fraction", fraction(1, 3), third, crosscheck.Agree, agree.Estimated, ""},
		{"unknown accuracy", estimate(1), result.Verdict{Value: result.Value{Kind: result.Number, Num: 1}}, crosscheck.Agree, agree.Estimated, ""},
		{"both not a number", estimate(nan), estimate(nan), crosscheck.Agree, agree.Estimated, ""},
		{"one not a number", estimate(nan), estimate(1), crosscheck.Disagree, agree.Estimated, "not a number"},
		{"both infinite", estimate(inf), bounds(inf, inf), crosscheck.Agree, agree.Estimated, ""},
		{"one infinite", estimate(inf), estimate(1e300), crosscheck.Disagree, agree.Estimated, ""},
		{"other infinity", estimate(inf), estimate(-inf), crosscheck.Disagree, agree.Estimated, ""},
		{"bounds without end", fraction(7, 1), bounds(5, inf), crosscheck.Undecided, agree.Proven, ""},
		{"truth", truth(true, result.Exact), truth(true, result.Bounded), crosscheck.Agree, agree.Proven, ""},
		{"other truth", truth(true, result.Exact), truth(false, result.Exact), crosscheck.Disagree, agree.Proven, "truth values differ"},
		{"other estimated truth", truth(true, result.Exact), truth(false, result.Float), crosscheck.Disagree, agree.Estimated, "truth values differ"},
		{"truth and number", truth(true, result.Exact), fraction(1, 1), crosscheck.Disagree, agree.Proven, "different kinds"},
		{"ranges", interval(0, 1), interval(0, 1), crosscheck.Agree, agree.Estimated, ""},
		{"other ends", interval(0, 1), interval(0, 0.9), crosscheck.Disagree, agree.Estimated, ""},
		{"range and number", interval(0, 1), estimate(0), crosscheck.Undecided, agree.Estimated, "a range of values"},
		{"one failed", fraction(1, 3), fails(result.Unsupported), crosscheck.Unchecked, "", "only a answered"},
		{"both failed", fails(result.Timeout), fails(result.Heap), crosscheck.Unchecked, "", "no engine answered"},
		{"no value", fraction(1, 3), result.Verdict{}, crosscheck.Unchecked, "", "only a answered"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 2 { // in both orders
				r := run(t, coin, "P=? [ F s=1 ]", says("a", tc.a), says("b", tc.b))
				row := &r.Rows[0]
				if row.Status != tc.status || row.Basis != tc.basis || !strings.Contains(row.Reason, tc.reason) && tc.a.Err == nil {
					t.Errorf("%s (%s) %q, want %s (%s) %q", row.Status, row.Basis, row.Reason, tc.status, tc.basis, tc.reason)
				}
				if (row.Reason == "") != (row.Status == crosscheck.Agree) || r.Confidence != 1 {
					t.Errorf("reason %q, confidence %v", row.Reason, r.Confidence)
				}
				tc.a, tc.b = tc.b, tc.a
				tc.reason = ""
			}
		})
	}
}

func run(t *testing.T, model, property string, engines ...runner.Engine) *crosscheck.Report {
	t.Helper()
	return runWith(t, crosscheck.Options{}, model, property, engines...)
}

func runWith(t *testing.T, opt crosscheck.Options, model, property string, engines ...runner.Engine) *crosscheck.Report {
	t.Helper()
	job := runner.Job{File: "model.prism", Model: []byte(model), Props: []string{property}}
	if strings.Contains(model, "const double p;") {
		job.Consts = []string{"p=0.25"}
	}
	var configs []runner.EngineConfig
	for _, e := range engines {
		configs = append(configs, engine(e))
	}
	r, err := crosscheck.Run(t.Context(), job, configs, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// engine has engines whose name ends in "ci" sample.
func engine(e runner.Engine) runner.EngineConfig {
	x := runner.EngineConfig{Engine: e}
	if strings.HasSuffix(e.Name(), "ci") {
		x.Method = runner.CI
	}
	return x
}

// sampler draws as many samples as it is asked for, with that mean.
func sampler(name string, p float64) *canned {
	return &canned{name: name, answer: func(job runner.Job, _ int) (result.Verdict, error) {
		n := job.Simulation.Samples
		v := sample(int64(math.Round(p*float64(n))), n)
		v.Confidence = job.Simulation.Confidence
		return v, nil
	}}
}

// Samples are drawn until they decide, and no more.
func TestSamples(t *testing.T) {
	for _, tc := range []struct {
		name    string
		p       float64 // of the sampler; the truth is 1/4
		options crosscheck.Options
		status  crosscheck.Status
		draws   int
	}{
		{name: "right", p: 0.25, status: crosscheck.Agree, draws: 3},
		{name: "right, less precise", p: 0.25, options: crosscheck.Options{Precision: 0.3}, status: crosscheck.Agree, draws: 1},
		{name: "far off", p: 0.5, status: crosscheck.Disagree, draws: 1},
		{name: "off", p: 0.27, status: crosscheck.Disagree, draws: 3},
		{name: "budget", p: 0.26, options: crosscheck.Options{MaxSamples: 4000}, status: crosscheck.Undecided, draws: 2},
		{name: "time", p: 0.26, options: crosscheck.Options{Time: 1}, status: crosscheck.Undecided, draws: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := sampler("ci", tc.p)
			r := runWith(t, tc.options, coin, "P=? [ F s=1 ]", says("exact", fraction(1, 4)), s)
			row := r.Rows[0]
			if row.Status != tc.status || row.Basis != agree.Statistical || len(s.asked) != tc.draws {
				t.Errorf("%s (%s) after %d draws: %s; want %s after %d", row.Status, row.Basis, len(s.asked), row.Reason, tc.status, tc.draws)
			}
			if r.Confidence != crosscheck.DefaultConfidence {
				t.Errorf("confidence %v, want %v", r.Confidence, crosscheck.DefaultConfidence)
			}
			error, n, seeds := 0.0, int64(1000), []uint64{}
			for _, p := range s.asked {
				job := p.Job
				if job.Simulation.Samples != n {
					t.Errorf("%d samples, want %d", job.Simulation.Samples, n)
				}
				n *= 4
				error += 1 - job.Simulation.Confidence
				if slices.Contains(seeds, job.Simulation.Seed) {
					t.Errorf("seed %d again", job.Simulation.Seed)
				}
				seeds = append(seeds, job.Simulation.Seed)
			}
			if error > 0.01 {
				t.Errorf("the draws may err with probability %v, want 0.01 at most", error)
			}
		})
	}
}

// What is said of samples is wrong no more often than stated. The intervals are
// far from tight: of 300 runs at confidence 0.7 some 35 and none are wrong, and
// more than 90 would be for fewer than one set of seeds in 1e6.
func TestErrorProbability(t *testing.T) {
	needs.NotShort(t, "measures a probability in hundreds of runs")
	for _, tc := range []struct {
		p     float64 // of the sampler; the truth is 1/4
		wrong crosscheck.Status
	}{{0.25, crosscheck.Disagree}, {0.31, crosscheck.Agree}} {
		wrong := 0
		for i := range uint64(300) {
			random := rand.New(rand.NewPCG(i, 5))
			s := &canned{name: "ci", answer: func(job runner.Job, _ int) (result.Verdict, error) {
				k := int64(0)
				for range job.Simulation.Samples {
					if random.Float64() < tc.p {
						k++
					}
				}
				v := sample(k, job.Simulation.Samples)
				v.Confidence = job.Simulation.Confidence
				return v, nil
			}}
			r := runWith(t, crosscheck.Options{Confidence: 0.7, Precision: 0.06, MaxSamples: 16000}, coin, "P=? [ F s=1 ]", says("exact", fraction(1, 4)), s)
			if r.Rows[0].Status == tc.wrong {
				wrong++
			}
		}
		if wrong > 90 {
			t.Errorf("sampler of %v: %d of 300 runs %s", tc.p, wrong, tc.wrong)
		}
	}
}

// Draws end where they cannot help: one answer is about another scheduler.
func TestHopeless(t *testing.T) {
	a, b := sampler("a ci", 0.3), sampler("b ci", 0.31)
	r := run(t, coins, "Pmax=? [ F s=1 ]", says("exact", fraction(1, 2)), a, b)
	if row := r.Rows[0]; row.Status != crosscheck.Undecided || len(a.asked) != 1 {
		t.Errorf("%s %q after %d draws, want undecided after 1", row.Status, row.Reason, len(a.asked))
	}
}

// How samples under the uniform scheduler compare with a minimum or maximum: not
// at all, but that they cannot exceed it.
func TestUniform(t *testing.T) {
	for _, tc := range []struct {
		name, property string
		p              float64
		exact          result.Verdict
		status         crosscheck.Status
		reason         string
	}{
		{"below the maximum", "Pmax=? [ F s=1 ]", 0.3, fraction(1, 2), crosscheck.Undecided, "made all choices at random"},
		{"by accident the maximum", "Pmax=? [ F s=1 ]", 0.5, fraction(1, 2), crosscheck.Undecided, "made all choices at random"},
		{"above the maximum", "Pmax=? [ F s=1 ]", 0.7, fraction(1, 2), crosscheck.Disagree, "exceeds the maximum"},
		{"below the minimum", "Pmin=? [ F s=1 ]", 0.3, fraction(1, 2), crosscheck.Disagree, "falls short of the minimum"},
	} {
		s := sampler("ci", tc.p)
		r := run(t, coins, tc.property, says("exact", tc.exact), s)
		if row := r.Rows[0]; row.Status != tc.status || !strings.Contains(row.Reason, tc.reason) || len(s.asked) != 1 {
			t.Errorf("%s: %s %q after %d draws, want %s %q after 1", tc.name, row.Status, row.Reason, len(s.asked), tc.status, tc.reason)
		}
	}
	r := run(t, coins, "Pmax=? [ F s=1 ]", sampler("a ci", 0.3), sampler("b ci", 0.3))
	if row := r.Rows[0]; row.Status != crosscheck.Agree {
		t.Errorf("two samplers: %s %q, want agree: both are about the uniform scheduler", row.Status, row.Reason)
	}
}

// Bounded properties: an interval on one side of the bound decides, a sequential
// test does not disagree by itself.
func TestSampledTruth(t *testing.T) {
	around := func(p, w float64) *canned {
		return &canned{name: "ci", answer: func(job runner.Job, draw int) (result.Verdict, error) {
			v := truth(p >= 0.5, result.Probable)
			w := w / float64(draw)
			v.Samples, v.Confidence, v.Bound = job.Simulation.Samples, job.Simulation.Confidence, &result.Interval{Lo: p - w, Hi: p + w}
			return v, nil
		}}
	}
	test := truth(false, result.Probable)
	test.Confidence = 0.9999
	for _, tc := range []struct {
		name   string
		engine *canned
		status crosscheck.Status
		draws  int
	}{
		{"decided", around(0.6, 0.05), crosscheck.Agree, 1},
		{"decided later", around(0.6, 0.15), crosscheck.Agree, 2},
		{"decided otherwise", around(0.4, 0.05), crosscheck.Disagree, 1},
		{"never decided", around(0.5, 0.05), crosscheck.Undecided, 5},
		{"sequential test", says("ci", test), crosscheck.Undecided, 1},
	} {
		r := run(t, coin, "P>=0.5 [ F s=1 ]", says("exact", truth(true, result.Exact)), tc.engine)
		if row := r.Rows[0]; row.Status != tc.status || len(tc.engine.asked) != tc.draws {
			t.Errorf("%s: %s %q after %d draws, want %s after %d", tc.name, row.Status, row.Reason, len(tc.engine.asked), tc.status, tc.draws)
		}
	}
}

// Estimates from which no valid interval can be made decide nothing.
func TestUnsoundSamples(t *testing.T) {
	odd := sample(250, 1000)
	odd.Value.Num += 0.0003
	reward := sample(0, 1000)
	reward.Value.Num = 3.5
	for _, tc := range []struct {
		name, model, property string
		v                     result.Verdict
		reason                string
	}{
		{"not a fraction of the samples", coin, "P=? [ F s=1 ]", odd, "not a fraction of the samples"},
		{"reward without bound", coin + "rewards s=0 : 1; endrewards", "R=? [ F s>0 ]", reward, "the mean of a reward has no valid interval"},
	} {
		r := run(t, tc.model, tc.property, says("exact", fraction(1, 4)), says("ci", tc.v))
		if row := r.Rows[0]; row.Status != crosscheck.Undecided || !strings.Contains(row.Reason, tc.reason) {
			t.Errorf("%s: %s %q, want undecided %q", tc.name, row.Status, row.Reason, tc.reason)
		}
	}
}

// A reason that several engines have is given once, with their names, and the table says
// what unchecked is.
func TestOneReasonForAll(t *testing.T) {
	var engines []runner.Engine
	for _, name := range []string{"a", "b", "c"} {
		engines = append(engines, &canned{name: name, answer: func(runner.Job, int) (result.Verdict, error) {
			return result.Verdict{Err: &result.Failure{Class: result.Unsupported, Message: "no such operator"}}, nil
		}})
	}
	r := run(t, coin, "P=? [ F s=1 ]", engines...)
	if notes := r.Rows[0].Notes; len(notes) != 1 || notes[0] != "a, b, c did not answer (unsupported): no such operator" {
		t.Errorf("got %q", notes)
	}
	if notes := r.Table().Notes; len(notes) < 2 || !strings.HasPrefix(notes[1], "unchecked: fewer than two engines answered") || !strings.Contains(notes[1], "exit code is 1") {
		t.Errorf("notes of the table: %q", notes)
	}
}

// Engines that fail, or answer another question, count for nothing.
func TestEnginesThatFail(t *testing.T) {
	broken := &canned{name: "broken", answer: func(runner.Job, int) (result.Verdict, error) { return result.Verdict{}, errors.New("not there") }}
	short := engineFunc(func(context.Context, *runner.Plan) ([]result.Verdict, error) { return nil, nil })
	confused := engineFunc(func(context.Context, *runner.Plan) ([]result.Verdict, error) {
		v := fraction(1, 4)
		v.Property = "P=? [ F s=2 ]"
		return []result.Verdict{v}, nil
	})
	for name, e := range map[string]runner.Engine{"broken": broken, "short": short, "confused": confused} {
		r := run(t, coin, "P=? [ F s=1 ]", says("a", fraction(1, 4)), e)
		if row := r.Rows[0]; row.Status != crosscheck.Unchecked || len(row.Notes) == 0 || r.ExitCode() != crosscheck.ExitOpen {
			t.Errorf("%s: %s %q %q, exit code %d, want unchecked", name, row.Status, row.Reason, row.Notes, r.ExitCode())
		}
		r = run(t, coin, "P=? [ F s=1 ]", says("a", fraction(1, 4)), e, says("c", fraction(1, 4)))
		if row := r.Rows[0]; row.Status != crosscheck.Agree || r.ExitCode() != crosscheck.ExitAgree {
			t.Errorf("%s beside two others: %s %q, want agree", name, row.Status, row.Reason)
		}
	}
}

type engineFunc func(context.Context, *runner.Plan) ([]result.Verdict, error)

func (engineFunc) Name() string { return "engine" }

func (f engineFunc) Check(ctx context.Context, p *runner.Plan) ([]result.Verdict, error) {
	return f(ctx, p)
}

// One that agrees with neither of two others is a disagreement, proven if one is.
func TestThreeEngines(t *testing.T) {
	r := run(t, coin, "P=? [ F s=1 ]", says("a", fraction(1, 4)), says("b", estimate(0.3)), says("c", fraction(1, 3)))
	if row := r.Rows[0]; row.Status != crosscheck.Disagree || row.Basis != agree.Proven || r.ExitCode() != crosscheck.ExitDisagree {
		t.Errorf("%s (%s) %q, exit code %d, want a proven disagreement", row.Status, row.Basis, row.Reason, r.ExitCode())
	}
}

// Every format has a row for every property, whatever the engines say.
func TestTable(t *testing.T) {
	for _, v := range []result.Verdict{
		fraction(1, 3), estimate(math.NaN()), estimate(math.Inf(1)), truth(true, result.Exact), interval(0, 1), fails(result.Heap), {},
	} {
		r := run(t, coin, "P=? [ F s=1 ]", says("a", v), says("b", estimate(1)))
		for _, f := range []table.Format{table.Text, table.JSON, table.CSV, table.Markdown} {
			var out strings.Builder
			if err := r.Table().Write(&out, f, table.Options{}); err != nil || !strings.Contains(out.String(), "P=? [ F s=1 ]") {
				t.Errorf("%v in %v: %v\n%s", v.Value, f, err, &out)
			}
		}
	}
}

// Samples of an MDP without choices are of its minimum and maximum, whatever the
// tool says of how it drew.
func TestNothingToDraw(t *testing.T) {
	const model = "mdp module m s : [0..2]; [a] s=0 -> 0.25:(s'=1) + 0.75:(s'=2); [] s>0 -> true; endmodule"
	s := sampler("ci", 0.25)
	answer := s.answer
	s.answer = func(job runner.Job, draw int) (result.Verdict, error) {
		v, err := answer(job, draw)
		v.Resolution = result.Uniform
		return v, err
	}
	if row := run(t, model, "Pmax=? [ F s=1 ]", says("exact", fraction(1, 4)), s).Rows[0]; row.Status != crosscheck.Agree {
		t.Errorf("%s %q, want agree", row.Status, row.Reason)
	}
}
