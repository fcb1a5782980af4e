package native_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/bridge"
	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
	"tilecheck/native"
	"tilecheck/native/load"
	"tilecheck/prism/jani/export"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// allowed is a difference from PRISM that is meant.
type allowed struct {
	// property, ours and theirs match what was asked, and the two answers as
	// told writes them; nil matches all.
	property, ours, theirs *regexp.Regexp
	why                    string
}

func allowedDifferences() []allowed {
	re := regexp.MustCompile
	return []allowed{
		{nil, re("^unsupported: "), nil, "we refuse it by name"},
		{nil, nil, re("[Nn]ot (yet |currently )?supported|only s?support|not support|does not yet handle|cannot handle|cannot be combined|Cannot use multi-objective"), "PRISM refuses it"},
		{nil, nil, re("Accuracy of value .* is not enough to compare"), "PRISM does not decide what is this near; we go on with fractions"},
		{nil, re("^model: .* leaves "), nil, "PRISM's explicit engine does not check ranges (docs/language.md)"},
		{nil, nil, re("did not converge"), "PRISM gives up"},
		{re(`^multi`), re("^(false|NaN)$"), re("LTL formulae in multi-objective query cannot be satisfied"), "PRISM has an error where objectives cannot be met"},
		{re(`[UFG]\[`), nil, re("NullPointerException"), "PRISM dies of time bounds with a lower end in comparisons"},
		{re(`[UFG]\[`), nil, re("Overflow in Fox-Glynn"), "PRISM uniformises with rate 0 where no state of the left side is reached or left"},
		{nil, nil, re("^model: .*(Probabilities in command .* sum to less than one|Rates in command .* sum to zero)"), "PRISM's symbolic engines check ranges in states that are not reachable too (docs/language.md)"},
	}
}

// told writes an answer as one line.
func told(v *result.Verdict) string {
	x := v.Value
	switch {
	case v.Err != nil:
		return string(v.Err.Class) + ": " + v.Err.Message
	case x.Kind == result.Boolean:
		return fmt.Sprint(x.Bool)
	case x.Kind == result.Curve:
		return fmt.Sprint(x.Points)
	case x.Kind == result.Range:
		return fmt.Sprintf("[%v,%v]", x.Num, x.Hi)
	}
	return fmt.Sprint(x.Num)
}

// alike compares answers: values of another engine have no bounds, and both may
// fail in words of their own.
func alike(v, w *result.Verdict) bool {
	if v.Err != nil || w.Err != nil {
		return v.Err != nil && w.Err != nil
	}
	x, y := v.Value, w.Value
	if x.Kind == result.Boolean || y.Kind == result.Boolean {
		return x.Kind == y.Kind && x.Bool == y.Bool
	}
	if x.Kind == result.Curve || y.Kind == result.Curve { // a hundredth is how near PRISM's corners are
		return x.Kind == y.Kind && agree.Verdicts("ours", v, "PRISM", w, agree.Question{}, agree.Options{Tolerance: 0.01}).Relation == agree.Same
	}
	return alikeNumbers(x.Num, y.Num) && alikeNumbers(high(x), high(y))
}

// high is the upper end of a range. PRISM gives one number for a constant
// where there are several initial states.
func high(x result.Value) float64 {
	if x.Kind == result.Range {
		return x.Hi
	}
	return x.Num
}

func alikeNumbers(x, y float64) bool {
	return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-5*max(1e-3, math.Abs(x))
}

// TestDifferential compares random models and properties of the whole language
// with PRISM for TILECHECK_DIFF_MINUTES, and TILECHECK_MODELS (three) at least,
// from TILECHECK_SEED or a new seed, which is printed.
func TestDifferential(t *testing.T) { compareWild(t, wild.New, 40, "") }

// TestDifferentialTimed is TestDifferential for timed automata.
func TestDifferentialTimed(t *testing.T) { compareWild(t, wild.Timed, 15, "") }

// TestDifferentialMulti is TestDifferential for several objectives at once.
func TestDifferentialMulti(t *testing.T) { compareWild(t, wild.Multi, 5, "") }

// TestDifferentialJANI is TestDifferential for the same models written as JANI, which we
// are asked about.
func TestDifferentialJANI(t *testing.T) { compareWild(t, forJANI, 50, "jani") }

// forJANI makes models that JANI has a form for, with one value of each constant, and
// properties that are about variables, labels and rewards with names only, and not about
// the order of states, which is that of the variables.
func forJANI(seed, number uint64, n int) wild.Model {
	elsewhere := regexp.MustCompile(`\b(N|K|p|[fs][0-9]+)\b|filter\(first|R\{[0-9]|R[^{]*\[ *[FXSCI]`)
	// In JANI all rewards have names, which are not those of variables.
	names := strings.NewReplacer(`rewards "r`, `rewards "w`, "rewards \n", "rewards \"unnamed\"\n", `R{"r`, `R{"w`)
	for ; ; number += wild.Next {
		m := wild.New(seed, number, n)
		m.Text = names.Replace(m.Text)
		var props, consts []string
		for _, p := range m.Props {
			if !elsewhere.MatchString(p) {
				props = append(props, names.Replace(p))
			}
		}
		for _, c := range m.Consts {
			name, values, _ := strings.Cut(c, "=")
			first, _, _ := strings.Cut(values, ":")
			consts = append(consts, name+"="+first)
		}
		if m.Props, m.Consts = props, consts; len(props) > 0 && asJANI(&m) != nil {
			return m
		}
	}
}

// asJANI returns a model as JANI, nil if it has no form there or is no model.
func asJANI(m *wild.Model) []byte {
	built, _, err := load.Model(context.Background(), runner.Job{File: "m.prism", Model: []byte(m.Text), Consts: m.Consts})
	if err != nil {
		return nil
	}
	var b bytes.Buffer
	if _, err := export.Write(&b, "m", built.Program(), nil); err != nil {
		return nil
	}
	return b.Bytes()
}

// TestDifferentialFair is TestDifferential for fair schedulers, which PRISM's symbolic
// engines know.
func TestDifferentialFair(t *testing.T) { compareWild(t, newFair, 40, "fair") }

// newFair makes MDPs, without the maximum of two numbers: see wild's larger.
func newFair(seed, number uint64, n int) wild.Model {
	for ; ; number += wild.Next {
		m := wild.New(seed, number, n)
		if m.Kind == "mdp" {
			m.Props = slices.DeleteFunc(m.Props, func(p string) bool { return strings.HasPrefix(p, "max(") })
			return m
		}
	}
}

// TestDifferentialIntervals is TestDifferential for models with intervals.
func TestDifferentialIntervals(t *testing.T) { compareWild(t, wild.Intervals, 25, "") }

// compareWild compares models that a function makes, with so many properties each: all, under
// fair schedulers, or as JANI.
func compareWild(t *testing.T, newModel func(seed, number uint64, n int) wild.Model, properties int, how string) {
	d := newDifferential(t)
	d.newModel, d.properties, d.fair, d.jani = newModel, properties, how == "fair", how == "jani"
	seed := needs.Number(t, "TILECHECK_SEED", uint64(time.Now().UnixNano()))
	end := time.Now().Add(time.Duration(needs.Number(t, "TILECHECK_DIFF_MINUTES", 0)) * time.Minute)
	i := needs.Number(t, "TILECHECK_FIRST", 0)
	first, count := i, needs.Number(t, "TILECHECK_MODELS", 3)
	for ; i < first+count || time.Now().Before(end); i++ {
		d.model(seed, i)
	}
	t.Logf("seed %d: %d models, %d properties, %d values compared, %d errors on both sides", seed, i-first, d.asked, d.values, d.failures)
	for why, n := range d.excused {
		t.Logf("%d times: %s", n, why)
	}
	if 2*(d.values+d.failures) < d.asked && !d.fair {
		t.Errorf("only %d of %d answers were compared", d.values+d.failures, d.asked)
	}
}

// newDifferential returns a comparison with the PRISM that is installed.
func newDifferential(t *testing.T) *differential {
	tool, err := local.New(needs.PRISM(t))
	if err != nil {
		t.Fatal(err)
	}
	limits := runner.Limits{Time: time.Minute}
	return &differential{
		T: t, excused: map[string]int{},
		explicit: bridge.PRISM(tool, bridge.Options{Limits: limits, Args: []string{"-maxiters", "1000000"}}),
		sparse:   bridge.PRISM(tool, bridge.Options{Limits: limits, Args: []string{"-sparse", "-maxiters", "1000000"}}),
		others: []runner.Engine{
			bridge.PRISM(tool, bridge.Options{Limits: limits, Args: []string{"-exact"}}),
			bridge.PRISM(tool, bridge.Options{Limits: limits, Args: []string{"-mtbdd", "-maxiters", "10000000"}}), // minima over vectors of states are wrong in -sparse
			bridge.PRISM(tool, bridge.Options{Limits: limits, Args: []string{"-sparse", "-gs", "-maxiters", "10000000"}}),
			bridge.PRISM(tool, bridge.Options{Limits: limits, Args: []string{"-sparse", "-lp"}}), // several objectives
			bridge.PRISM(tool, bridge.Options{Limits: limits, Args: []string{"-explicit", "-intervaliter", "-maxiters", "10000000"}}),
		},
	}
}

type differential struct {
	*testing.T
	newModel                func(seed, number uint64, n int) wild.Model
	properties              int // of a model
	fair, jani              bool
	kind                    string          // of the model at hand
	explicit, sparse        runner.Engine   // PRISM's; only the second knows system blocks
	others                  []runner.Engine // for a second opinion
	asked, values, failures int
	excused                 map[string]int
	opinions                map[string][]result.Verdict // of the others on the model's properties
}

func (d *differential) model(seed, i uint64) {
	m := d.newModel(seed, i, d.properties)
	job := runner.Job{File: "m.prism", Model: []byte(m.Text), Consts: m.Consts, Props: m.Props}
	d.opinions, d.kind = map[string][]result.Verdict{}, m.Kind
	prism := d.explicit
	if m.System || d.fair {
		prism = d.sparse
	}
	answers := [3][]result.Verdict{}
	for k, ask := range []struct {
		engine   runner.Engine
		accuracy result.Accuracy
		epsilon  float64
	}{{prism, result.Float, 1e-9}, {native.New(), result.Bounded, 0}, {native.New(), result.Exact, 0}} {
		job.Numeric = runner.Numeric{Accuracy: ask.accuracy, Epsilon: ask.epsilon, Fair: d.fair}
		asked := job
		if d.jani && k > 0 {
			asked.File, asked.Model, asked.Consts = "m.jani", asJANI(&m), nil
		}
		vs, err := runner.Check(d.Context(), ask.engine, asked)
		if err != nil {
			d.Errorf("model %d of seed %d: %v\n%s", i, seed, err, m.Text)
			return
		}
		answers[k] = vs
	}
	for k := range answers[0] {
		if len(answers[1]) != len(answers[0]) || len(answers[2]) != len(answers[0]) {
			d.Fatalf("model %d of seed %d: %d, %d and %d verdicts\n%s", i, seed, len(answers[0]), len(answers[1]), len(answers[2]), m.Text)
		}
		for mode := 1; mode < 3; mode++ {
			bad := d.compare(&answers[mode][k], &answers[0][k])
			if bad != "" && d.second(job, &answers[mode][k]) {
				why := "PRISM's iteration ended early; another method of it agrees with us"
				if answers[0][k].Err != nil {
					why = "PRISM's first engine fails; another one agrees with us"
				}
				d.excused[why]++
				continue
			}
			if bad != "" && d.trivial(job, &answers[mode][k]) {
				d.excused["PRISM errs where one of several objectives is met, or its value the same, whatever is done; of the others it says what we say"]++
				continue
			}
			if bad != "" && d.contradicted(job, &answers[mode][k], &answers[0][k]) {
				d.excused["PRISM contradicts itself: what its best probability of all objectives together implies for each"]++
				continue
			}
			if bad != "" && d.border(job, &answers[mode][k]) {
				d.excused["PRISM compares a bound with a number that iteration left beside it"]++
				continue
			}
			if bad != "" && answers[mode][k].Err == nil && strings.Contains(strings.Join(answers[0][k].Warnings, " "), "hasn't checked for zero-reward loops") {
				d.excused["PRISM says itself that its minimum reward may be too low, and its engine that checks has no system"]++
				continue
			}
			if bad != "" {
				d.Errorf("model %d of seed %d, mode %d, %v:\n%s\n%s\n%s", i, seed, mode, m.Consts, answers[0][k].Property, bad, m.Text)
			}
		}
	}
}

// one reports whether two verdicts are about the same values of constants, of which a JANI
// model has none left.
func (d *differential) one(v, w *result.Verdict) bool {
	return d.jani || fmt.Sprint(v.Constants) == fmt.Sprint(w.Constants)
}

// second asks PRISM again in other ways, and reports whether one of them says
// what we say.
func (d *differential) second(job runner.Job, ours *result.Verdict) bool {
	if ours.Err != nil {
		return false
	}
	job.Props = []string{ours.Property}
	job.Numeric = runner.Numeric{Accuracy: result.Float, Epsilon: 1e-11, Fair: d.fair}
	for i, e := range d.others {
		key := fmt.Sprint(i, " ", ours.Property)
		if _, asked := d.opinions[key]; !asked {
			d.opinions[key], _ = runner.Check(d.Context(), e, job) // an error is no agreement
		}
		for _, v := range d.opinions[key] {
			if d.one(&v, ours) && v.Err == nil && alike(ours, &v) {
				return true
			}
		}
	}
	return false
}

// border reports whether a property has a comparison whose two sides are equal in some state, as far as PRISM's own number tells. PRISM's
// symbolic engines do not ask whether the accuracy of the number is enough, and its explicit engine asks only for P and R, not for S: its
// steady-state probabilities of all states may sum to 0.9999999999999999.
func (d *differential) border(job runner.Job, ours *result.Verdict) bool {
	if ours.Err != nil {
		return false
	}
	comparison := regexp.MustCompile(`([PSR](?:\{[^}]*\})?)(?:>=|>|<=|<)([0-9.]+)( \[(?:[^\[\]]|\[[^\[\]]*\])*\])`)
	return slices.ContainsFunc(comparison.FindAllStringSubmatch(ours.Property, -1), func(m []string) bool {
		return d.onBorder(job, ours, m)
	})
}

// onBorder is border for one comparison: its operator, its bound and the rest.
func (d *differential) onBorder(job runner.Job, ours *result.Verdict, m []string) bool {
	number, bound := m[1]+"=?"+m[3], m[2]
	job.Props = []string{fmt.Sprintf("filter(exists, (%[1]s)!=%[2]s & (%[1]s)>%[2]s-1e-9 & (%[1]s)<%[2]s+1e-9)", number, bound)}
	job.Numeric = runner.Numeric{Accuracy: result.Float, Epsilon: 1e-9}
	return slices.ContainsFunc([]runner.Engine{d.explicit, d.sparse}, func(engine runner.Engine) bool {
		vs, err := runner.Check(d.Context(), engine, job)
		return err == nil && slices.ContainsFunc(vs, func(v result.Verdict) bool { return d.one(&v, ours) && v.Err == nil && v.Value.Bool })
	})
}

// stays reports whether PRISM may have a minimal expected reward of an interval MDP that
// is too small, of a scheduler that never reaches the target: for MDPs it leaves end
// components without reward, for interval MDPs (UMDPModelChecker.java) it does not.
func (d *differential) stays(ours, theirs *result.Verdict) bool {
	if d.kind != "imdp" || ours.Err != nil || theirs.Err != nil || !strings.HasPrefix(ours.Property, "R") {
		return false
	}
	if ours.Value.Kind == result.Boolean {
		return strings.HasPrefix(ours.Property, `R{"r"}>`)
	}
	return strings.HasPrefix(ours.Property, `R{"r"}min`) && theirs.Value.Num < ours.Value.Num
}

// narrower reports whether another value than ours may be that of fewer schedulers: a
// smaller maximum, or a greater minimum. TestFairLTL is about ours.
func narrower(ours, theirs *result.Verdict) bool {
	if ours.Err != nil || theirs.Err != nil || ours.Value.Kind != result.Number {
		return false
	}
	property := strings.TrimPrefix(ours.Property, "filter(state, ")
	if len(regexp.MustCompile(`\b[XFGUWR]\b`).FindAllString(property, 2)) < 2 {
		return false // there is no product
	}
	return strings.HasPrefix(property, "Pmax=?") && theirs.Value.Num < ours.Value.Num ||
		strings.HasPrefix(property, "Pmin=?") && theirs.Value.Num > ours.Value.Num
}

func (d *differential) compare(ours, theirs *result.Verdict) string {
	d.asked++
	a, b := told(ours), told(theirs)
	if alike(ours, theirs) {
		if ours.Err != nil {
			d.failures++
		} else {
			d.values++
		}
		return ""
	}
	if theirs.Err != nil && theirs.Err.Class == result.Timeout {
		d.excused["PRISM takes more than a minute"]++
		return ""
	}
	if d.stays(ours, theirs) {
		d.excused["PRISM stays in end components of interval MDPs without reward, where it never reaches the target"]++
		return ""
	}
	if strings.HasPrefix(d.kind, "i") && theirs.Err == nil && math.IsNaN(theirs.Value.Num) {
		d.excused["PRISM multiplies an infinite reward with an interval's probability of nothing"]++
		return ""
	}
	if d.fair && narrower(ours, theirs) {
		d.excused["PRISM wants each choice in each state of its product, and not of the model alone (docs/exact.md)"]++
		return ""
	}
	for _, x := range allowedDifferences() {
		matches := func(re *regexp.Regexp, s string) bool { return re == nil || re.MatchString(s) }
		if matches(x.property, ours.Property) && matches(x.ours, a) && matches(x.theirs, b) {
			d.excused[x.why]++
			return ""
		}
	}
	return fmt.Sprintf("  ours   %s %v\n  PRISM  %s %v", a, ours.Constants, b, strings.Join(theirs.Warnings, "; "))
}

// TestDifferentialBorder compares with a chain whose steady-state probabilities sum to 0.9999999999999999 in PRISM's explicit engine. That excuses a
// comparison with 1, wherever it occurs, and no other one.
func TestDifferentialBorder(t *testing.T) {
	const model = `dtmc
module m
  s : [0..3];
  [] s=0 -> 0.6:(s'=1) + 0.4:(s'=2);
  [] s=1 -> 0.2:(s'=2) + 0.8:(s'=0);
  [] s=2 -> 0.1:(s'=3) + 0.9:(s'=0);
  [] s=3 -> 0.2:(s'=0) + 0.8:(s'=1);
endmodule`
	d := newDifferential(t)
	job := runner.Job{File: "m.prism", Model: []byte(model)}
	for property, want := range map[string]bool{
		"S>=1 [ s>=0 ]":                        true,
		"P=? [ F S>=1 [ s>=0 ] ]":              true,
		"filter(forall, S>=1 [ s>=0 ], s=2)":   true,
		"S>=0.5 [ s>=0 ]":                      false,
		"S>=1 [ s=0 ]":                         false,
		"filter(count, S>=0.9 [ s>=0 ], true)": false,
	} {
		if got := d.border(job, &result.Verdict{Property: property}); got != want {
			t.Errorf("%s is excused: %t, want %t", property, got, want)
		}
	}
}
