package report

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"

	"tilecheck/result"
)

// Whether two values can be one, decided by hand.
func TestValuesMoved(t *testing.T) {
	num := func(x float64) *result.Verdict {
		return &result.Verdict{Value: result.Value{Kind: result.Number, Num: x}}
	}
	count := func(x float64) *result.Verdict {
		return &result.Verdict{Value: result.Value{Kind: result.Integer, Num: x}}
	}
	rat := func(a, b int64) *result.Verdict {
		r := big.NewRat(a, b)
		x, _ := r.Float64()
		return &result.Verdict{Value: result.Value{Kind: result.Number, Num: x, Rat: r}, Accuracy: result.Exact}
	}
	boolean := func(x bool) *result.Verdict {
		return &result.Verdict{Value: result.Value{Kind: result.Boolean, Bool: x}}
	}
	within := func(x, lo, hi float64) *result.Verdict {
		v := num(x)
		v.Bound = &result.Interval{Lo: lo, Hi: hi}
		return v
	}
	half := func(x, h float64) *result.Verdict {
		v := num(x)
		v.HalfWidth = &h
		return v
	}
	span := func(lo, hi float64) *result.Verdict {
		return &result.Verdict{Value: result.Value{Kind: result.Range, Num: lo, Hi: hi}}
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		name string
		a, b *result.Verdict
		want bool
	}{
		{"equal", num(0.5), num(0.5), false},
		{"within the tolerance", num(1), num(1.0000099), false},
		{"beyond the tolerance", num(1), num(1.0000101), true},
		{"relative, not absolute", num(1e-9), num(1.1e-9), true},
		{"zero and almost zero", num(0), num(1e-300), true},
		{"other sign", num(0.1), num(-0.1), true},
		{"infinity", num(inf), num(inf), false},
		{"finite and infinity", num(1e300), num(inf), true},
		{"two infinities", num(inf), num(-inf), true},
		{"NaN", num(nan), num(nan), false},
		{"number and NaN", num(1), num(nan), true},
		{"NaN in an interval", within(nan, 0, 1), num(0.5), true},
		{"integer and number", count(13), num(13), false},
		{"integers", count(13), count(14), true},
		{"Boolean", boolean(true), boolean(true), false},
		{"Booleans", boolean(true), boolean(false), true},
		{"Boolean and number", boolean(true), num(1), true},
		{"fractions, equal", rat(1, 6), rat(2, 12), false},
		{"fractions, a digit far behind", rat(1_000_000_000_000, 3_000_000_000_000), rat(1_000_000_000_001, 3_000_000_000_000), true},
		{"fraction and its decimal", rat(1, 6), num(0.1666667), false},
		{"intervals overlap", within(0.5, 0.4, 0.6), within(0.65, 0.55, 0.75), false},
		{"intervals touch", within(0.5, 0.4, 0.6), within(0.7, 0.6, 0.8), false},
		{"intervals apart", within(0.5, 0.4, 0.6), within(0.7, 0.61, 0.8), true},
		{"values apart, point inside", within(0.5, 0.4, 0.6), num(0.59), false},
		{"point outside", within(0.5, 0.4, 0.6), num(0.39), true},
		{"half-widths overlap", half(0.5, 0.1), half(0.65, 0.1), false},
		{"half-widths apart", half(0.5, 0.1), half(0.75, 0.1), true},
		{"ranges", span(0, 1), span(0, 1), false},
		{"other low end", span(0, 1), span(0.1, 1), true},
		{"other high end", span(0, 1), span(0, 0.9), true},
		{"range and number", span(0, 1), num(0.5), true},
		{"no value", new(result.Verdict), num(1), false},
		{"no verdict", nil, num(1), false},
	} {
		for _, pair := range [][2]*result.Verdict{{tt.a, tt.b}, {tt.b, tt.a}} {
			if got := valuesMoved(pair[0], pair[1], 1e-5); got != tt.want {
				t.Errorf("%s: moved %v, want %v", tt.name, got, tt.want)
			}
		}
	}
}

// before and after are two runs with one result a kind of change.
func beforeAndAfter() (before, after *TestReport) {
	one := func(name string, o TestOutcome, x float64, states int64, seconds float64) TestResult {
		return TestResult{
			Engine: "native", Props: "a.props", Line: 3, Name: name, Property: "P=? [ F " + name + " ]", Outcome: o, Seconds: seconds,
			Verdict: &result.Verdict{Value: result.Value{Kind: result.Number, Num: x}, States: states, Choices: states, Transitions: states},
		}
	}
	before, after = new(TestReport), new(TestReport)
	add := func(a, b TestResult) {
		before.Results = append(before.Results, a)
		after.Results = append(after.Results, b)
	}
	add(one("same", TestPassed, 0.5, 10, 1), one("same", TestPassed, 0.5, 10, 1.5))
	add(one("faster", TestPassed, 0.5, 10, 30), one("faster", TestPassed, 0.5, 10, 10))
	add(one("broken", TestPassed, 0.5, 10, 1), one("broken", TestFailed, 0.7, 12, 1))
	add(one("value", TestUnchecked, 0.5, 10, 1), one("value", TestUnchecked, 0.4, 10, 1))
	add(one("states", TestPassed, 0.5, 10, 1), one("states", TestPassed, 0.5, 11, 1))
	add(one("outcome", TestPassed, 0.5, 10, 1), one("outcome", TestUnsupported, 0.5, 10, 1))
	add(one("slower", TestPassed, 0.5, 10, 1), one("slower", TestPassed, 0.5, 10, 2))
	add(one("quick", TestPassed, 0.5, 10, 0.001), one("quick", TestPassed, 0.5, 10, 0.9)) // below the second
	cached := one("cached", TestPassed, 0.5, 10, 100)
	cached.Cached = true
	add(one("cached", TestPassed, 0.5, 10, 1), cached)
	add(one("mended", TestError, 0.5, 10, 1), one("mended", TestPassed, 0.5, 10, 1))
	add(one("gone", TestPassed, 0.5, 10, 1), one("come", TestFailed, 0.5, 10, 1))
	// The same property in the same file twice, and under constants that are written differently.
	for i, text := range []string{"0.5", ".5", "0.25"} {
		r := one("twin", TestPassed, float64(i), 10, 1)
		r.Constants = []result.Constant{{Name: "p", Value: text}}
		before.Results = append(before.Results, r)
	}
	for i, text := range []string{".5", "0.5", "0.25"} {
		r := one("twin", TestPassed, float64(i), 10, 1)
		r.Constants, r.Line = []result.Constant{{Name: "p", Value: text}}, 40 // the line is no part of what it is
		after.Results = append(after.Results, r)
	}
	return before, after
}

func TestCompareBaseline(t *testing.T) {
	before, after := beforeAndAfter()
	b := CompareBaseline(before, after, BaselineOptions{})
	var got []string
	for _, c := range b.Changes {
		got = append(got, fmt.Sprintf("%s: %s", c.result().Name, strings.Join(words(c.Aspects), " ")))
	}
	want := []string{
		"broken: broken value states", "value: value", "states: states", "outcome: outcome", "slower: slower",
		"gone: vanished", "mended: mended", "faster: faster", "come: new",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// same, quick, cached and the three twins
	if b.Same != 6 {
		t.Errorf("%d the same, want 6", b.Same)
	}
	if got := CompareBaseline(before, after, BaselineOptions{Tolerance: 0.5, Factor: 4, Seconds: 0.1}).words(); got !=
		"1 broken, 2 other state spaces, 1 other outcome, 1 slower, 1 vanished, 1 mended, 1 new, 8 the same" {
		t.Errorf("with other limits: %s", got)
	}
	if b := CompareBaseline(after, after, BaselineOptions{}); len(b.Changes) > 0 || b.Same != len(after.Results) {
		t.Errorf("compared with itself: %s", b.words())
	}
	if b := CompareBaseline(new(TestReport), after, BaselineOptions{}); b.Count(Added) != len(after.Results) {
		t.Errorf("compared with nothing: %s", b.words())
	}
}

func TestBaselineGolden(t *testing.T) {
	b := CompareBaseline(func() (a, b *TestReport, o BaselineOptions) { a, b = beforeAndAfter(); return a, b, o }())
	for _, v := range views() {
		wantGolden(t, "baseline"+v.suffix, func(w io.Writer) error { return b.Write(w, v.format, v.opt) })
	}
	wantGolden(t, "baseline-same.txt", func(w io.Writer) error {
		return CompareBaseline(testReport(), testReport(), BaselineOptions{}).Write(w, FormatTable, Options{})
	})
}

// The Markdown of a large change is short, and says what is missing.
func TestBaselineMarkdownIsCapped(t *testing.T) {
	b := CompareBaseline(new(TestReport), manyResults(5000), BaselineOptions{})
	text := written(t, func(w io.Writer) error { return b.Write(w, FormatMarkdown, Options{}) })
	if !strings.Contains(text, "4900 more changes are left out here") || strings.Count(text, "\n") > 120 {
		t.Errorf("%d lines:\n%s", strings.Count(text, "\n"), text[len(text)-300:])
	}
}
