package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"tilecheck/internal/golden"

	"tilecheck/report/table"
	"tilecheck/result"
)

func TestTestsGolden(t *testing.T) {
	for _, v := range views() {
		t.Run(v.suffix, func(t *testing.T) {
			golden.Want(t, "tests"+v.suffix, func(w io.Writer) error { return WriteTests(w, v.format, testReport(), v.opt) })
		})
	}
	for _, f := range []table.Format{table.Text, table.JSON, table.CSV, table.Markdown} {
		golden.Want(t, "tests-empty."+f.String(), func(w io.Writer) error { return WriteTests(w, f, &TestReport{}, table.Options{}) })
		golden.Want(t, "tests-hostile."+f.String(), func(w io.Writer) error { return WriteTests(w, f, hostileReport(), table.Options{}) })
	}
	golden.Want(t, "tests.jsonl", func(w io.Writer) error { return WriteJSONLines(w, testReport(), table.Options{Version: release}) })
	golden.Want(t, "tests.junit.xml", func(w io.Writer) error { return WriteJUnit(w, testReport()) })
	golden.Want(t, "tests.github", func(w io.Writer) error { return WriteGitHub(w, testReport()) })
	golden.Want(t, "tests.html", func(w io.Writer) error { return WriteHTML(w, testReport(), table.Options{Version: release}) })
}

// written is what a writer writes.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The last line counts every result, and without results does not sound like success.
func TestConclusion(t *testing.T) {
	for _, tt := range []struct {
		outcomes []TestOutcome
		want     string
	}{
		{nil, "nothing was checked"},
		{[]TestOutcome{TestPassed}, "1 passed"},
		{[]TestOutcome{TestPassed, TestFailed, TestPassed}, "1 failed, 2 passed"},
		{[]TestOutcome{TestError, TestLimit}, "1 error, 1 over a limit"},
		{[]TestOutcome{TestError, TestError, TestDisagreed, TestDisagreed}, "2 disagreements, 2 errors"},
		{[]TestOutcome{TestUnsupported, TestUnchecked, TestNotTested}, "1 unsupported, 1 unchecked, 1 not tested"},
	} {
		rep := new(TestReport)
		for _, o := range tt.outcomes {
			rep.Results = append(rep.Results, TestResult{Outcome: o})
		}
		text := written(t, func(w io.Writer) error { return WriteTests(w, table.Text, rep, table.Options{}) })
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if got := lines[len(lines)-1]; got != tt.want {
			t.Errorf("%v: %q, want %q", tt.outcomes, got, tt.want)
		}
		// Green, which is 32, only where something was checked and nothing failed.
		colored := written(t, func(w io.Writer) error { return WriteTests(w, table.Text, rep, table.Options{Color: true}) })
		good := !strings.Contains(tt.want, "fail") && !strings.Contains(tt.want, "err") && !strings.Contains(tt.want, "nothing")
		if got := strings.HasSuffix(colored, "\x1b[32m"+tt.want+"\x1b[0m\n"); got != good {
			t.Errorf("%v: green %v, want %v", tt.outcomes, got, good)
		}
	}
}

// Five hundred results that fail for one reason are five in detail and one line.
func TestFailuresAlikeAreFolded(t *testing.T) {
	rep := &TestReport{Engines: []string{"prism"}}
	for i := range 500 {
		rep.Results = append(rep.Results, TestResult{Engine: "prism", Props: fmt.Sprintf("p%d.props", i), Outcome: TestError, Reason: "no image of PRISM"})
	}
	rep.Results = append(rep.Results, TestResult{Engine: "prism", Props: "last.props", Outcome: TestError, Reason: "another"})
	text := written(t, func(w io.Writer) error { return WriteTests(w, table.Text, rep, table.Options{}) })
	if got := strings.Count(text, "no image of PRISM"); got != 5 {
		t.Errorf("the reason is there %d times, want 5", got)
	}
	for _, want := range []string{"495 more results on prism for the same reason", "last.props: error (prism)", "501 errors"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Reasons that differ in the valuation alone are one.
func TestReasonsWithoutValuation(t *testing.T) {
	rep := new(TestReport)
	for _, k := range []string{"1", "2", "3"} {
		rep.Results = append(rep.Results, TestResult{
			Outcome: TestNotTested, Reason: "no RESULT for n=9,k=" + k, Constants: []result.Constant{{Name: "n", Value: "9"}, {Name: "k", Value: k}},
		})
	}
	rep.Results = append(rep.Results, TestResult{Outcome: TestNotTested, Reason: "no RESULT for k=3"})
	groups := rep.byReason()
	if len(groups) != 2 || groups[0].reason != "no RESULT for ..." || len(groups[0].results) != 3 || groups[1].reason != "no RESULT for k=3" {
		t.Errorf("%+v", groups)
	}
}

// The switches are shown without the constants that are shown as a valuation.
func TestSetting(t *testing.T) {
	n := result.Constant{Name: "N", Value: "3"}
	k := result.Constant{Name: "k", Value: "1"}
	for _, tt := range []struct {
		constants []result.Constant
		args      []string
		want      string
	}{
		{nil, nil, ""},
		{nil, []string{"-const", "N=3"}, "-const N=3"},
		{[]result.Constant{n, k}, []string{"-exact", "-const", "N=3,k=1:5", "-ii"}, "N=3,k=1 -exact -ii"},
		{[]result.Constant{k}, []string{"--const", "N=3,k=1:5"}, "k=1 --const N=3,k=1:5"},
		{[]result.Constant{k}, []string{"-const"}, "k=1 -const"},
	} {
		r := TestResult{Constants: tt.constants, Args: tt.args}
		if got := r.setting(); got != tt.want {
			t.Errorf("%v %v: %q, want %q", tt.constants, tt.args, got, tt.want)
		}
	}
}

// The sum of the table by folder is the number of results, however it is cut.
func TestFoldersCountEverything(t *testing.T) {
	rep := manyResults(1234)
	got := make(map[TestOutcome]int)
	for _, f := range rep.folders() {
		if f.Total {
			continue
		}
		for o, n := range f.counts {
			got[TestOutcome(o)] += n
		}
	}
	want := make(map[TestOutcome]int)
	for o := TestError; o <= TestPassed; o++ {
		want[o] = 0
	}
	for _, r := range rep.Results {
		want[r.Outcome]++
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("folders count %v, want %v", got, want)
	}
}

// Markdown stays below the size that pull requests take, and every part that is opened is closed.
func TestMarkdownBudget(t *testing.T) {
	failing := manyResults(5000)
	for i := range failing.Results {
		r := &failing.Results[i]
		r.Outcome, r.Reason = TestFailed, fmt.Sprintf("%d: %s", i, strings.Repeat("é|`", 300))
		r.Rerun = strings.Repeat("tilecheck ```", 20) + fmt.Sprint(i)
	}
	long := hostileReport()
	long.Title = strings.Repeat(hostile, 1000)
	for range 3000 {
		long.Notes = append(long.Notes, long.Title[:500])
		long.Findings = append(long.Findings, long.Findings[0])
	}
	for name, rep := range map[string]*TestReport{"many": manyResults(5000), "failing": failing, "long": long, "none": {}} {
		text := written(t, func(w io.Writer) error { return WriteTests(w, table.Markdown, rep, table.Options{Unicode: true}) })
		if len(text) > MaxTestsMarkdown {
			t.Errorf("%s: %d bytes, want %d at most", name, len(text), MaxTestsMarkdown)
		}
		if open, closed := strings.Count(text, "\n<details>"), strings.Count(text, "\n</details>"); open != closed {
			t.Errorf("%s: %d parts are opened and %d closed", name, open, closed)
		}
		if !utf8.ValidString(text) {
			t.Errorf("%s: a character was cut", name)
		}
		if name == "failing" && !strings.Contains(text, "more failures are left out here") {
			t.Errorf("%s: nothing says that rows are left out:\n%s", name, text[:500])
		}
	}
}

// What is written as JSON lines and read back is the same text, and the same report.
func TestJSONLinesRoundTrip(t *testing.T) {
	half, seed := math.Inf(1), uint64(math.MaxUint64)
	odd := &TestReport{Results: []TestResult{
		{Outcome: TestUnsupported, Constants: []result.Constant{{Name: "a", Value: "true"}, {Name: "b", Value: "1/3"}, {Name: "a b", Value: "0.10"}}},
		{Outcome: TestPassed, Verdict: &result.Verdict{
			Value: result.Value{Kind: result.Range, Num: math.Inf(-1), Hi: math.NaN()}, HalfWidth: &half, Seed: &seed, Resolution: result.Uniform,
		}},
		{Outcome: TestPassed, Verdict: &result.Verdict{Value: result.Value{Kind: result.Boolean, Bool: true}, Accuracy: result.Estimated}},
	}}
	for i, v := range verdicts() {
		odd.Results = append(odd.Results, TestResult{Engine: v.Engine, Property: v.Property, Name: v.Name, Constants: v.Constants, Outcome: TestOutcome(i % 8), Verdict: &v})
	}
	for name, rep := range map[string]*TestReport{"tests": testReport(), "odd": odd, "none": {}, "many": manyResults(500)} {
		text := written(t, func(w io.Writer) error { return WriteJSONLines(w, rep, table.Options{}) })
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: not JSON: %s", name, line)
			}
		}
		back, err := ReadJSONLines(strings.NewReader(text), "old.jsonl")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again := written(t, func(w io.Writer) error { return WriteJSONLines(w, back, table.Options{}) })
		if again != text {
			t.Errorf("%s: read and written again:\n%s\nwant:\n%s", name, again, text)
		}
		if b := CompareBaseline(rep, back); len(b.Changes) > 0 || b.Same != len(rep.Results) {
			t.Errorf("%s: %s, want all the same", name, b.countsLine())
		}
	}
	back, err := ReadJSONLines(strings.NewReader(written(t, func(w io.Writer) error { return WriteJSONLines(w, testReport(), table.Options{}) })), "")
	if err != nil {
		t.Fatal(err)
	}
	want := testReport()
	for i := range want.Results { // what the reader fills in
		want.Results[i].Seconds = want.Results[i].seconds()
		if v := want.Results[i].Verdict; v != nil {
			v.Property, v.Name, v.Engine, v.Constants = want.Results[i].Property, want.Results[i].Name, want.Results[i].Engine, want.Results[i].Constants
			v.Seconds = want.Results[i].Seconds
		}
	}
	if !reflect.DeepEqual(back, want) {
		t.Errorf("read back %+v\nwant %+v", back, want)
	}
}

// What was written before the members of verdicts were those of results is read as what it was.
func TestJSONLinesOfSchema1(t *testing.T) {
	text, err := os.ReadFile("testdata/tests-schema1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	old, err := ReadJSONLines(bytes.NewReader(text), "old.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	b := CompareBaseline(old, testReport())
	if len(b.Changes) > 0 || b.Same != len(testReport().Results) || b.Compared.Unknown > b.Identical {
		t.Errorf("%s; %+v", b.countsLine(), b.Changes)
	}
}

// A report that is not whole is refused, and the line is named.
func TestJSONLinesRefused(t *testing.T) {
	whole := written(t, func(w io.Writer) error { return WriteJSONLines(w, testReport(), table.Options{}) })
	lines := strings.SplitAfter(whole, "\n")
	lines = lines[:len(lines)-1]
	n := len(lines) // header, 18 results, 2 findings, summary
	if n != 22 {
		t.Fatalf("%d lines, want 22", n)
	}
	replace := func(line int, old, now string) string {
		l := strings.Clone(whole)
		if !strings.Contains(lines[line-1], old) {
			t.Fatalf("line %d has no %q", line, old)
		}
		return strings.Replace(l, lines[line-1], strings.Replace(lines[line-1], old, now, 1), 1)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "old.jsonl:1:1: the report ends here, want a summary: it was not written completely"},
		{"no header", strings.Join(lines[1:], ""), `old.jsonl:1:1: the first line has type "result", want header`},
		{"format json", "{\n  \"tilecheck\": 1\n}\n", "old.jsonl:1:1: the first line is not the header of a report, want JSON lines, as test --jsonl writes them (JSON of --format json is another form)"},
		{"another object", "{\"results\": []}\n", "old.jsonl:1:1: the first line is not the header of a report, want JSON lines, as test --jsonl writes them (JSON of --format json is another form)"},
		{"two headers", lines[0] + whole, "old.jsonl:2:1: there is a second header, want a result or the summary"},
		{"no summary", strings.Join(lines[:n-1], ""), "old.jsonl:22:1: the report ends here, want a summary: it was not written completely"},
		{"cut in a line", whole[:len(lines[0])+40], "old.jsonl:2:1: the line is not the expected JSON object: unexpected end of JSON input"},
		{"a line less", strings.Join(append(append([]string{}, lines[:2]...), lines[3:]...), ""), "old.jsonl:21:1: the summary counts 18 results, but there are 17 above"},
		{"another outcome", replace(2, `"pass"`, `"fail"`), "old.jsonl:22:1: the summary counts 1 fail, but there are 2 above"},
		{"two reports", whole + whole, "old.jsonl:23:1: there is a line after the summary, want the end"},
		{"schema", replace(1, `"schema":3`, `"schema":4`), "old.jsonl:1:1: the report has schema 4, want 1 to 3"},
		{"outcome", replace(3, `"fail"`, `"failed"`), `old.jsonl:3:1: the outcome is "failed", want pass, fail, disagree, error, limit, unsupported, unchecked or not tested`},
		{"type", replace(3, `"result"`, `"results"`), `old.jsonl:3:1: the line has type "results", want result, finding or summary`},
		{"value", replace(3, `"value":0.2`, `"value":"0.2"`), `old.jsonl:3:1: the kind is "number" and the value is "0.2", want a number`},
		{"fraction", replace(2, `"1/6","kind"`, `"1/7","kind"`), "old.jsonl:2:1: the fraction is 1/7 and the value is 0.16666666666666666"},
		{"huge fraction", replace(2, `"1/6","kind"`, `"1e999999999","kind"`), `old.jsonl:2:1: the fraction is "1e999999999", want two whole numbers without a common factor`},
		{"fraction not reduced", replace(2, `"1/6","kind"`, `"2/12","kind"`), `old.jsonl:2:1: the fraction is "2/12", want two whole numbers without a common factor`},
		{"interval", replace(4, `"upper":0.193,`, ``), "old.jsonl:4:1: the interval has one end, want lower and upper"},
		{"accuracy", replace(2, `"accuracy":"exact"`, `"accuracy":"sure"`), `old.jsonl:2:1: the accuracy is "sure", want a known name`},
		{"line", replace(2, `"line":3`, `"line":-3`), "old.jsonl:2:1: the place is -3:1, expected at 2, in 0.004 s, want positive numbers"},
		{"long line", lines[0] + strings.Repeat("[", 17<<20), "old.jsonl:2:1: the line is longer than 16 MB"},
		{"deep line", lines[0] + strings.Repeat("[", 15<<20), "old.jsonl:2:1: the line is not the expected JSON object: invalid character '[' exceeded max depth"},
		{"not UTF-8", replace(2, "P=?", "P=\xff"), "old.jsonl:2:1: the line is not UTF-8"},
	} {
		_, err := ReadJSONLines(strings.NewReader(tt.text), "old.jsonl")
		if err == nil {
			t.Errorf("%s: was read", tt.name)
		} else if err.Error() != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, err, tt.want)
		}
	}
}

// Whatever the bytes: no panic, and what is accepted is written and read again.
func FuzzReadJSONLines(f *testing.F) {
	for _, rep := range []*TestReport{testReport(), hostileReport(), {}} {
		var b bytes.Buffer
		if err := WriteJSONLines(&b, rep, table.Options{}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rep, err := ReadJSONLines(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		for _, format := range []table.Format{table.Text, table.Markdown, table.CSV, table.JSON} {
			if err := WriteTests(io.Discard, format, rep, table.Options{Width: 80}); err != nil {
				t.Error(err)
			}
		}
		var b bytes.Buffer
		if err := WriteJSONLines(&b, rep, table.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadJSONLines(&b, "again"); err != nil {
			t.Error(err)
		}
	})
}
