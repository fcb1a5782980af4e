package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"
	"testing/fstest"

	"tilecheck/report"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/stats"
	"tilecheck/verify/crosscheck"
	"tilecheck/verify/experiment"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

// The verdicts of the table.

func fractionV(a, b int64) result.Verdict {
	r := big.NewRat(a, b)
	f, _ := r.Float64()
	return result.Verdict{Value: result.Value{Kind: result.Number, Num: f, Rat: r}, Accuracy: result.Exact}
}

func hugeV() result.Verdict {
	r := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(400), nil))
	return result.Verdict{Value: result.Value{Kind: result.Number, Num: math.Inf(1), Rat: r}, Accuracy: result.Exact}
}

func numberV(x float64, a result.Accuracy) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Number, Num: x}, Accuracy: a}
}

func wholeV(x float64, a result.Accuracy) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Integer, Num: x}, Accuracy: a}
}

func truthV(b bool, a result.Accuracy) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Boolean, Bool: b}, Accuracy: a}
}

func rangeV(lo, hi float64, a result.Accuracy) result.Verdict {
	return result.Verdict{Value: result.Value{Kind: result.Range, Num: lo, Hi: hi}, Accuracy: a}
}

func withinV(x, lo, hi float64, a result.Accuracy) result.Verdict {
	v := numberV(x, a)
	v.Bound = &result.Interval{Lo: lo, Hi: hi}
	return v
}

// shareV is k of n samples, whose number was fixed, with its interval.
func shareV(k, n int64) result.Verdict {
	i, err := stats.BernoulliInterval(stats.Bernoulli{N: n, K: k}, 0.99, false)
	if err != nil {
		panic(err)
	}
	v := withinV(float64(k)/float64(n), i.Lo, i.Hi, result.Probable)
	v.Samples, v.Confidence, v.BoundMethod = n, 0.99, i.Method.String()
	return v
}

// meanV is a sampled reward with its interval; without a method, none.
func meanV(x, half, confidence float64, method stats.IntervalMethod) result.Verdict {
	v := numberV(x, result.Probable)
	v.Samples, v.Confidence, v.HalfWidth = 1000, confidence, &half
	if method != stats.NoInterval {
		v.Bound, v.BoundMethod = &result.Interval{Lo: x - half, Hi: x + half}, method.String()
	}
	return v
}

// testV is the answer of a simulation to a bounded property; without ends it has no interval.
func testV(b bool, ends ...float64) result.Verdict {
	v := truthV(b, result.Probable)
	v.Samples, v.Confidence = 1000, 0.99
	if len(ends) == 2 {
		v.Bound, v.Confidence, v.BoundMethod = &result.Interval{Lo: ends[0], Hi: ends[1]}, 1-1e-9, stats.ClopperPearson.String()
	}
	return v
}

func resolved(v result.Verdict, r result.Resolution) result.Verdict {
	v.Resolution = r
	return v
}

func doubted(v result.Verdict) result.Verdict {
	v.Doubt = "Fox-Glynn: results are unreliable"
	return v
}

func failedV(c result.Class) result.Verdict {
	return result.Verdict{Err: &result.Failure{Class: c, Message: "no"}}
}

const (
	agreeChain = "dtmc module m s : [0..2]; [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2); [] s>0 -> true; endmodule rewards true : 1; endrewards"
	agreeMDP   = "mdp module m s : [0..2]; [a] s=0 -> 0.5:(s'=1) + 0.5:(s'=2); [b] s=0 -> 0.1:(s'=1) + 0.9:(s'=2); [] s>0 -> true; endmodule"

	askP     = "P=? [ F s=1 ]"
	askMax   = "Pmax=? [ F s=1 ]"
	askMin   = "Pmin=? [ F s=1 ]"
	askR     = "R=? [ C<=10 ]"
	askTruth = "P>=0.5 [ F s=1 ]"
	askMulti = "multi(Pmax=? [ F s=1 ], P>=0.9 [ F s=2 ])"
)

type agreePair struct {
	property string
	a, b     result.Verdict
	want     string // relation and basis; "compatible" is an unknown of samples that were compared
	why      string // of the expectation
}

// agreePairs were judged by hand.
func agreePairs() []agreePair {
	nan, inf := math.NaN(), math.Inf(1)
	const (
		exact, float, bounded, estimated, claimed, unknown = result.Exact, result.Float, result.Bounded, result.Estimated, result.Claimed, result.Unknown
		minimum, maximum, uniform, none                    = result.Minimum, result.Maximum, result.Uniform, result.NoNondet
	)
	return []agreePair{
		// fractions
		{askP, fractionV(1, 3), fractionV(2, 6), "same proven", "one fraction"},
		{askP, fractionV(1, 3), fractionV(100000000000000000, 300000000000000001), "different proven", "two fractions next to one double"},
		{askP, fractionV(1, 4), fractionV(1, 2), "different proven", "two fractions"},
		{askP, fractionV(0, 1), fractionV(1, 100000000000000000), "different proven", "1e-17 is not 0"},
		// our bounds
		{askP, fractionV(1, 3), withinV(0.3333333, 0.333333, 0.333334, bounded), "same proven", "the fraction is inside, and nothing inside is far"},
		{askP, fractionV(1, 3), withinV(0.35, 0.3, 0.4, bounded), "unknown proven", "the fraction is inside, and 0.4 is far"},
		{askP, fractionV(1, 3), withinV(0.35, 0.33333334, 0.4, bounded), "different proven", "the fraction is outside, however little"},
		{askP, withinV(0.5, 0.5, 0.500001, bounded), withinV(0.500001, 0.500001, 0.500002, bounded), "same proven", "they touch"},
		{askP, withinV(0, 0, 0, bounded), withinV(1e-17, 1e-18, 1e-16, bounded), "different proven", "0 is outside of what is proven"},
		{askR, withinV(7, 5, inf, bounded), fractionV(7, 1), "unknown proven", "nothing is known above"},
		{askR, withinV(inf, inf, inf, bounded), withinV(5, 5, 6, bounded), "different proven", "infinite, and at most 6"},
		{askR, withinV(inf, inf, inf, bounded), numberV(inf, exact), "same proven", "both infinite"},
		{askR, withinV(1e308, 1e308, 1.1e308, bounded), withinV(-1e308, -1e308, -0.9e308, bounded), "different proven", "their distance is more than a double holds"},
		{askR, hugeV(), numberV(inf, exact), "different proven", "10^400 is finite"},
		{askR, hugeV(), numberV(inf, float), "different estimated", "10^400 is finite, and the other overflowed"},
		{askR, hugeV(), withinV(inf, 1e308, inf, bounded), "unknown proven", "nothing is known above"},
		{askR, hugeV(), withinV(1e300, 1e300, 1e301, bounded), "different proven", "10^400 is above"},
		// values without bounds
		{askP, fractionV(1, 3), numberV(0.3333334, estimated), "same estimated", "2e-7 apart, relatively"},
		{askP, fractionV(1, 3), numberV(0.33334, estimated), "different estimated", "2e-5 apart, relatively"},
		{askP, withinV(0, 0, 0, bounded), numberV(0.25, float), "different estimated", "the issue's: 0.25 (exact floating point) is not 0"},
		{askP, numberV(0.25, float), numberV(0.25, float), "same estimated", "equal, and nobody proves it"},
		{askP, numberV(0.25, unknown), numberV(0.26, unknown), "different estimated", "nothing is known of either but the value"},
		{askP, fractionV(0, 1), numberV(1e-17, estimated), "same estimated", "a zero that was rounded"},
		{askP, numberV(1e-13, estimated), numberV(2e-13, estimated), "unknown estimated", "rounding explains it, and they are far apart relatively"},
		{askP, numberV(1e-9, estimated), numberV(1.1e-9, estimated), "different estimated", "rare, and 10 % apart"},
		{askP, fractionV(0, 1), numberV(1e-6, estimated), "different estimated", "a rare event that one engine does not see"},
		{askP, numberV(1.0/3, exact), fractionV(1, 3), "same estimated", "exact, but printed rounded"},
		{askR, numberV(inf, estimated), numberV(1e300, estimated), "different estimated", "infinite and not"},
		{askR, numberV(inf, estimated), numberV(-inf, estimated), "different estimated", "opposite infinities"},
		{askR, numberV(inf, float), numberV(inf, estimated), "same estimated", "both infinite"},
		{askR, numberV(nan, estimated), numberV(nan, estimated), "same estimated", "both say that there is no number"},
		{askR, numberV(nan, exact), numberV(1, exact), "different estimated", "one says that there is no number; 1 was printed rounded"},
		{askR, numberV(nan, exact), numberV(inf, exact), "different proven", "no number, and infinity"},
		{askP, withinV(0.5, 0.4, 0.6, estimated), fractionV(11, 20), "unknown estimated", "the engine says itself that it may be 0.1 off"},
		{askP, withinV(0.5, 0.4, 0.6, estimated), fractionV(7, 10), "different estimated", "further off than the engine says"},
		// what another program claims
		{askP, fractionV(1, 3), withinV(0.3333333, 0.333333, 0.333334, claimed), "same claimed", "inside, and not proven by that"},
		{askP, fractionV(1, 3), withinV(0.35, 0.34, 0.36, claimed), "different claimed", "what is claimed contradicts what is proven"},
		{askP, fractionV(1, 3), withinV(0.3, 0.2, 0.4, claimed), "unknown claimed", "inside, and the interval is wide"},
		{askP, withinV(0.7, 0.6999, 0.7001, bounded), withinV(9.9e-15, 9.8e-15, 1e-14, claimed), "different claimed", "the issue's: haddad-monmege under --sound"},
		{askP, fractionV(1, 10), withinV(0.1, 0.1, 0.1, claimed), "same claimed", "an interval without width is off by a rounding"},
		{askP, withinV(0.3, 0.3, 0.3, bounded), withinV(0.30000000000000004, 0.30000000000000004, 0.30000000000000004, claimed), "same claimed", "off by a rounding"},
		{askP, withinV(0.5, 0.49, 0.51, claimed), numberV(0.6, estimated), "different estimated", "0.6 is outside, and nobody proves it"},
		{askP, numberV(0.5, claimed), fractionV(1, 2), "same estimated", "claimed, but no interval"},
		// whole numbers
		{askR, wholeV(28, exact), wholeV(29, exact), "different proven", "two whole numbers"},
		{askR, wholeV(1000000, estimated), wholeV(1000001, estimated), "different estimated", "whole numbers have no tolerance"},
		{askR, wholeV(3, exact), fractionV(3, 1), "same proven", "3 is 3"},
		{askR, wholeV(3, exact), numberV(3.0000001, estimated), "same estimated", "3e-8 apart, relatively"},
		{askR, wholeV(3, exact), numberV(3.1, float), "different estimated", "3 is not 3.1"},
		// truth values
		{askTruth, truthV(true, exact), truthV(true, bounded), "same proven", "both true"},
		{askTruth, truthV(true, exact), truthV(false, bounded), "different proven", "true is not false"},
		{askTruth, truthV(true, exact), truthV(false, float), "different estimated", "true is not false, and one is not sure"},
		{askTruth, truthV(true, bounded), truthV(false, claimed), "different claimed", "true is not false, and one only claims it"},
		{askTruth, truthV(true, exact), numberV(1, estimated), "different estimated", "a truth value and a number"},
		{askTruth, truthV(false, exact), fractionV(0, 1), "different proven", "a truth value and a number, both sure"},
		// ranges over several initial states
		{askP, rangeV(0, 1, exact), rangeV(0, 1, exact), "same estimated", "equal ends, of which the bounds are not known"},
		{askP, rangeV(0, 1, exact), rangeV(0, 0.9, exact), "different estimated", "another upper end"},
		{askP, rangeV(0.1, 1, estimated), rangeV(0, 1, estimated), "different estimated", "another lower end"},
		{askP, rangeV(0, 1, bounded), numberV(0.5, estimated), "unknown estimated", "the number may be that of one initial state"},
		{askP, rangeV(0, 0.4, bounded), fractionV(1, 2), "different estimated", "no initial state has that number"},
		{askP, rangeV(0, 1, exact), truthV(true, exact), "different estimated", "a truth value and numbers"},
		// samples
		{askP, shareV(500000, 1000000), fractionV(1, 2), "same statistical", "within 0.0025 of 1/2"},
		{askP, shareV(500000, 1000000), fractionV(1, 4), "different statistical", "0.25 from every value the samples allow"},
		{askP, shareV(500, 1000), fractionV(1, 2), "compatible statistical", "so few samples allow 0.58 as well"},
		{askP, shareV(100, 1000), shareV(900, 1000), "different statistical", "no probability gives both"},
		{askP, shareV(500, 1000), shareV(520, 1000), "compatible statistical", "not told apart, and few"},
		{askP, shareV(500000, 1000000), shareV(500100, 1000000), "same statistical", "both within 0.0025 of 1/2"},
		{askP, shareV(500, 1000), withinV(0.9, 0.89, 0.91, claimed), "different statistical", "the claim is far from what the samples allow"},
		{askP, numberV(0.3333, result.Probable), fractionV(1, 3), "unknown statistical", "nobody knows of how many samples"},
		{askP, shareV(0, 1000), shareV(0, 2000), "same statistical", "none of 1000, which allows 0.015"},
		{askP, shareV(1000000, 1000000), fractionV(1, 1), "same statistical", "all of a million"},
		{askR, meanV(5, 0.01, 1-1e-9, stats.EmpiricalBernstein), fractionV(5, 1), "same statistical", "0.01 at more confidence than is asked for"},
		{askR, meanV(5, 0.01, 0.99, stats.EmpiricalBernstein), fractionV(5, 1), "same statistical", "0.03 at the confidence that is asked for"},
		{askR, meanV(5, 1, 0.99, stats.EmpiricalBernstein), fractionV(50, 1), "different statistical", "45 away, where 3 may be chance"},
		{askR, meanV(5, 1, 0.99, stats.NoInterval), fractionV(50, 1), "unknown statistical", "the half-width is nominal: a rare path of huge reward may have been missed"},
		{askTruth, testV(true, 0.6, 0.7), truthV(true, exact), "same statistical", "the interval is above the bound"},
		{askTruth, testV(false, 0.3, 0.4), truthV(true, exact), "different statistical", "the interval is below the bound"},
		{askTruth, testV(true, 0.45, 0.55), truthV(true, exact), "unknown statistical", "the bound is in the interval"},
		{askTruth, testV(false), truthV(true, exact), "unknown statistical", "a sequential test may be wrong near its bound"},
		{askTruth, testV(true), truthV(true, exact), "same statistical", "a sequential test that says the same"},
		// schedulers
		{askMax, resolved(shareV(300000, 1000000), uniform), resolved(fractionV(1, 2), maximum), "unknown statistical", "one scheduler, below the maximum"},
		{askMax, resolved(shareV(700000, 1000000), uniform), resolved(fractionV(1, 2), maximum), "different statistical", "one scheduler, above the maximum"},
		{askMin, resolved(shareV(30000, 1000000), uniform), resolved(fractionV(1, 10), minimum), "different statistical", "one scheduler, below the minimum"},
		{askMax, resolved(shareV(300000, 1000000), uniform), resolved(shareV(300100, 1000000), uniform), "same statistical", "one scheduler for both"},
		{askMax, resolved(fractionV(1, 10), minimum), resolved(fractionV(1, 2), maximum), "unknown proven", "a minimum is not a maximum"},
		{askP, resolved(fractionV(1, 2), none), resolved(fractionV(1, 4), maximum), "different proven", "there is nothing to resolve"},
		// doubts
		{askP, doubted(numberV(1.28e-322, estimated)), withinV(0.2589, 0.2588, 0.259, bounded), "unknown estimated", "the issue's: the engine itself calls it unreliable"},
		{askP, doubted(withinV(0.5, 0.4999999, 0.5000001, claimed)), fractionV(1, 2), "same estimated", "right in spite of the doubt, which proves nothing"},
		{askTruth, doubted(truthV(false, exact)), truthV(true, exact), "unknown estimated", "the engine itself doubts it"},
		{askTruth, doubted(truthV(true, exact)), numberV(1, estimated), "unknown estimated", "the engine itself doubts it"},
		{askP, doubted(fractionV(1, 2)), fractionV(1, 2), "same estimated", "equal, and no proof"},
		{askP, doubted(shareV(500, 1000)), shareV(500, 1000), "unknown statistical", "samples that are doubted are no comparison"},
		// several objectives
		{askMulti, numberV(nan, exact), truthV(false, estimated), "same estimated", "the objectives cannot be met: NaN here, false in Storm"},
		{askMulti, fractionV(1, 4), truthV(false, exact), "different proven", "one says that they can be met"},
		{askMulti, numberV(nan, exact), truthV(true, exact), "different proven", "one says that they can be met"},
		{askP, numberV(nan, exact), truthV(false, exact), "different proven", "NaN is false of several objectives only"},
		// no answer
		{askP, fractionV(1, 2), failedV(result.Unsupported), "unknown ", "one refused"},
		{askP, failedV(result.Timeout), failedV(result.Heap), "unknown ", "none answered"},
		{askP, fractionV(1, 2), result.Verdict{}, "unknown ", "one has no value"},
	}
}

// relationOf is one comparison in a tally, in the words of the table. A tally without any is of answers that are not there.
func relationOf(t agree.Tally) string {
	switch {
	case t.All() > 1:
		return fmt.Sprintf("%d comparisons", t.All())
	case t.Same == 1:
		return "same"
	case t.Different == 1:
		return "different"
	case t.Compatible == 1:
		return "compatible"
	}
	return "unknown"
}

// said is an engine with one answer.
type saidV struct {
	name string
	v    result.Verdict
}

func (e saidV) Name() string { return e.name }

func (e saidV) Check(context.Context, *runner.Plan) ([]result.Verdict, error) {
	return []result.Verdict{e.v}, nil
}

func (p *agreePair) model() string {
	if p.property == askMax || p.property == askMin || p.property == askMulti {
		return agreeMDP
	}
	return agreeChain
}

// The callers, each with what it says of a pair and its exit code.

func (p *agreePair) compared(*testing.T) (string, int) {
	cells := []report.ComparisonCell{{Strategy: "a", Verdict: p.a}, {Strategy: "b", Verdict: p.b}}
	t := experiment.Agree(cells, 2)
	return relationOf(t.Tally), agreementCode(&t, exitOK)
}

func (p *agreePair) crosschecked(t *testing.T) (string, int) {
	job := runner.Job{File: "m.prism", Model: []byte(p.model()), Props: []string{p.property}}
	rep, err := crosscheck.Run(t.Context(), job, []runner.EngineConfig{{Engine: saidV{"a", p.a}}, {Engine: saidV{"b", p.b}}}, crosscheck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	word := map[crosscheck.Status]string{crosscheck.Agree: "same", crosscheck.Disagree: "different", crosscheck.Undecided: "unknown", crosscheck.Unchecked: "unknown"}
	return word[rep.Rows[0].Status] + " " + string(rep.Rows[0].Basis), rep.ExitCode()
}

func (p *agreePair) tested(t *testing.T) (string, int) {
	fsys := fstest.MapFS{"m.prism": {Data: []byte(p.model())}, "m.prism.props": {Data: []byte(p.property)}}
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := regress.Run(t.Context(), tests, []regress.EngineConfig{{EngineConfig: runner.EngineConfig{Engine: saidV{"a", p.a}}}, {EngineConfig: runner.EngineConfig{Engine: saidV{"b", p.b}}}}, regress.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	if disagree := rep.Results[0].Outcome == report.TestDisagreed; disagree != (rep.Compared.Different > 0) {
		t.Errorf("outcome %v, and %v", rep.Results[0].Outcome, &rep.Compared)
	}
	return relationOf(rep.Compared), regress.ExitCode(rep, false)
}

// rebased compares a run with a baseline that was written and read.
func (p *agreePair) rebased(t *testing.T) (string, int) {
	run := func(v result.Verdict) *report.TestReport {
		return &report.TestReport{Results: []report.TestResult{{Engine: "a", Property: p.property, Outcome: report.TestPassed, Verdict: &v}}}
	}
	var text bytes.Buffer
	if err := report.WriteJSONLines(&text, run(p.a), table.Options{}); err != nil {
		t.Fatal(err)
	}
	old, err := report.ReadJSONLines(&text, "old.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	b := report.CompareBaseline(old, run(p.b))
	if moved := b.Count(report.ValueChanged) > 0; moved != (b.Compared.Different > 0) {
		t.Errorf("moved %v, and %v", moved, &b.Compared)
	}
	code := exitOK
	if !b.HasCompared() {
		code = exitCannotRun
	}
	return relationOf(b.Compared), code
}

// Two verdicts have one relation, whoever compares them; and what was not
// compared is never a success.
func TestAgreementTable(t *testing.T) {
	pairs := agreePairs()
	if len(pairs) < 60 {
		t.Fatalf("%d pairs, want 60", len(pairs))
	}
	for i, p := range pairs {
		for turn := range 2 { // in both orders
			if turn == 1 {
				p.a, p.b = p.b, p.a
			}
			for _, v := range []*result.Verdict{&p.a, &p.b} {
				v.Property = p.property
			}
			t.Run(fmt.Sprintf("%d.%d %s", i, turn, p.why), func(t *testing.T) { p.test(t) })
		}
	}
}

func (p *agreePair) test(t *testing.T) {
	var want, basis string
	_, _ = fmt.Sscan(p.want, &want, &basis) // the basis may be empty
	o := agree.Verdicts("a", &p.a, "b", &p.b, agree.Ask(p.property, nil), agree.Options{})
	relation := o.Relation.String()
	if o.Compatible {
		relation = "compatible"
	}
	if relation != want || string(o.Basis) != basis {
		t.Errorf("agree: %s %s (%s), want %s", relation, o.Basis, o.Reason, p.want)
	}
	if o.Relation != agree.Same && o.Reason == "" || (o.Error > 0) != (o.Basis == agree.Statistical && o.Relation != agree.Unknown) {
		t.Errorf("reason %q, probability of error %v", o.Reason, o.Error)
	}
	for name, caller := range map[string]func(*testing.T) (string, int){"compare": p.compared, "test": p.tested, "--baseline": p.rebased} {
		got, code := caller(t)
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if name != "--baseline" && (code == exitDisagree) != (want == "different") || want == "unknown" && code == exitOK {
			t.Errorf("%s: exit code %d for %s", name, code, want)
		}
	}
	if want == "compatible" {
		want = "unknown" // to crosscheck, which goes on until samples are precise
	}
	got, code := p.crosschecked(t)
	if got != want+" "+basis || (code == crosscheck.ExitDisagree) != (want == "different") || want == "unknown" && code == exitOK {
		t.Errorf("crosscheck: %s, exit code %d, want %s", got, code, p.want)
	}
}

// A value that its own engine doubts is verified by nobody.
func TestDoubtIsNoSuccess(t *testing.T) {
	if code := verdictCode([]result.Verdict{fractionV(1, 2), doubted(fractionV(1, 2))}); code != exitCannotRun {
		t.Errorf("a doubtful number: exit code %d, want %d", code, exitCannotRun)
	}
	if code := verdictCode([]result.Verdict{doubted(truthV(false, result.Claimed))}); code != exitCannotRun {
		t.Errorf("a doubtful false: exit code %d, want %d", code, exitCannotRun)
	}
}
