package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"tilecheck/internal/golden"

	"tilecheck/report/table"
	"tilecheck/result"
)

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
	b := CompareBaseline(before, after)
	var got []string
	for _, c := range b.Changes {
		got = append(got, fmt.Sprintf("%s: %s", c.result().Name, strings.Join(aspectNames(c.Aspects), " ")))
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
	if b := CompareBaseline(after, after); len(b.Changes) > 0 || b.Same != len(after.Results) {
		t.Errorf("compared with itself: %s", b.countsLine())
	}
	if b := CompareBaseline(new(TestReport), after); b.Count(Added) != len(after.Results) {
		t.Errorf("compared with nothing: %s", b.countsLine())
	}
}

func TestBaselineGolden(t *testing.T) {
	b := CompareBaseline(beforeAndAfter())
	for _, v := range views() {
		golden.Want(t, "baseline"+v.suffix, func(w io.Writer) error { return b.Write(w, v.format, v.opt) })
	}
	golden.Want(t, "baseline-same.txt", func(w io.Writer) error {
		return CompareBaseline(testReport(), testReport()).Write(w, table.Text, table.Options{})
	})
}

// Every report of a run that was compared with a baseline has the changes.
func TestReportsHaveTheBaseline(t *testing.T) {
	before, after := beforeAndAfter()
	after.Baseline = CompareBaseline(before, after)
	opt := table.Options{Version: release}
	for name, write := range map[string]func(io.Writer) error{
		"text":     func(w io.Writer) error { return WriteTests(w, table.Text, after, opt) },
		"Markdown": func(w io.Writer) error { return WriteTests(w, table.Markdown, after, opt) },
		"HTML":     func(w io.Writer) error { return WriteHTML(w, after, opt) },
		"JUnit":    func(w io.Writer) error { return WriteJUnit(w, after) },
		"lines":    func(w io.Writer) error { return WriteJSONLines(w, after, opt) },
	} {
		text := written(t, write)
		for _, want := range []string{"baseline", "broken", "vanished", "mended", "slower"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text)
			}
		}
		if name == "JUnit" {
			if err := checkJUnit(text); err != nil {
				t.Errorf("JUnit: %v", err)
			}
		}
	}
	large := manyResults(5000)
	large.Baseline = CompareBaseline(new(TestReport), large)
	if text := written(t, func(w io.Writer) error { return WriteTests(w, table.Markdown, large, opt) }); len(text) > MaxTestsMarkdown {
		t.Errorf("%d bytes of Markdown, want at most %d", len(text), MaxTestsMarkdown)
	}
}

// The old and the new value stay side by side, also if all changes have the same old value.
func TestBaselineKeepsWasAndIsTogether(t *testing.T) {
	var before, after TestReport
	for i := range 3 {
		result := TestResult{Engine: "native", Props: "a.props", Line: i + 1, Property: fmt.Sprintf("P=? [ F s=%d ]", i), Outcome: TestPassed}
		before.Results = append(before.Results, result)
		if result.Outcome = TestFailed; i == 2 {
			result.Outcome = TestError
		}
		after.Results = append(after.Results, result)
	}
	b := CompareBaseline(&before, &after)
	text := written(t, func(w io.Writer) error { return b.Write(w, table.Text, table.Options{Width: 80}) })
	for line := range strings.Lines(text) {
		if strings.Contains(line, "was") != strings.Contains(line, " is") {
			t.Errorf("was and is are apart:\n%s", text)
		}
	}
}

// The Markdown of a large change is short, and says what is missing.
func TestBaselineMarkdownIsCapped(t *testing.T) {
	b := CompareBaseline(new(TestReport), manyResults(5000))
	text := written(t, func(w io.Writer) error { return b.Write(w, table.Markdown, table.Options{}) })
	if !strings.Contains(text, "4900 more changes are left out here") || strings.Count(text, "\n") > 120 {
		t.Errorf("%d lines:\n%s", strings.Count(text, "\n"), text[len(text)-300:])
	}
}
