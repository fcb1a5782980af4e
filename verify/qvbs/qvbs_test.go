package qvbs_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/qvbs"
	"tilecheck/verify/regress"
)

const coin = `dtmc
const double p;
const int N = 2;
module coin
	x : [0..N+1];
	[] x<N -> p:(x'=x+1) + 1-p:(x'=N+1);
	[] x>=N -> true;
endmodule
rewards "steps" x<N : 1; endrewards
`

const props = `// RESULT: 0
"goal": P=? [ F x=N ];
"steps": R{"steps"}=? [ F x>=N ];
"time": T=? [ F x>=N ];
"sure": P>=1 [ F x>=N ];
"never": R{"steps"}=? [ F x=N ];
`

const jani = `{"jani-version": 1, "name": "m", "type": "%s", "constants": [{"name": "p", "type": "real"}],
"variables": [{"name": "x", "type": "bool", "initial-value": false}],
"properties": [{"name": "goal", "expression": {"op": "filter", "fun": "values", "states": {"op": "initial"},
 "values": {"op": "Pmax", "exp": {"op": "F", "exp": "x"}}}}],
"automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
 {"location": "l", "destinations": [{"location": "l", "probability": {"exp": "p"}, "assignments": [{"ref": "x", "value": true}]}, {"location": "l", "probability": {"exp": {"op": "-", "left": 1, "right": "p"}}}]}]}],
"system": {"elements": [{"automaton": "a"}], "syncs": []}}`

// indexOf has one file with one valuation, p=1/2, and the results given.
func indexOf(file, original, states string, results ...string) string {
	return fmt.Sprintf(`{"type": "dtmc", "files": [{"file": %q, "original-file": %s,
 "file-parameter-values": [{"name": "N", "value": 2}],
 "open-parameter-values": [{"values": [{"name": "p", "value": 0.5}], %s
  "results": [
%s]}]}]}`, file, original, states, strings.Join(results, ",\n"))
}

func resultOf(property, value string) string {
	return fmt.Sprintf(`{"property": %q, "value": %s}`, property, value)
}

func set(results ...string) fstest.MapFS {
	return fstest.MapFS{
		"coin/coin.prism": {Data: []byte(coin)},
		"coin/coin.props": {Data: []byte(props)},
		"coin/index.json": {Data: []byte(indexOf("coin.jani", `["coin.prism", "coin.props"]`, `"states": [{"number": 5}],`, results...))},
		"index.json":      {Data: []byte(`[{"path": "coin", "type": "dtmc"}]`)},
	}
}

func run(t *testing.T, fsys fs.FS, accuracy result.Accuracy) (*qvbs.Set, *report.TestReport) {
	t.Helper()
	s, err := qvbs.Discover(fsys, []string{"."}, qvbs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine := []regress.EngineConfig{{EngineConfig: runner.EngineConfig{Engine: native.New(), Accuracy: accuracy}}}
	rep, err := regress.Run(context.Background(), s.Tests, engine, regress.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	return s, rep
}

// A reference of every kind is met by the value, and by no other.
func TestClasses(t *testing.T) {
	for _, x := range []struct {
		property, reference string
		want                qvbs.Class
		exact               qvbs.Class
	}{
		{"goal", `{"approx": 0.25, "num": 1, "den": 4}`, qvbs.Correct, qvbs.Correct},
		{"goal", `{"approx": 0.25, "num": 250000001, "den": 1000000000}`, qvbs.Violated, qvbs.Wrong},
		{"goal", `{"approx": 0.26, "num": 26, "den": 100}`, qvbs.Violated, qvbs.Wrong},
		{"goal", `0.25`, qvbs.Correct, qvbs.Correct},
		{"goal", `0.25002`, qvbs.Correct, qvbs.Correct}, // a number that was rounded somewhere
		{"goal", `0.26`, qvbs.Wrong, qvbs.Wrong},
		{"goal", `{"lower": 0.2, "upper": 0.3}`, qvbs.Correct, qvbs.Correct},
		{"goal", `{"lower": 0.3, "upper": 0.4}`, qvbs.Wrong, qvbs.Wrong},
		{"steps", `{"num": 3, "den": 2}`, qvbs.Correct, qvbs.Correct},
		{"steps", `2`, qvbs.Violated, qvbs.Wrong},
		{"time", `{"num": 3, "den": 2}`, qvbs.Correct, qvbs.Correct}, // Storm's dialect
		{"sure", `true`, qvbs.Correct, qvbs.Correct},
		{"sure", `1.0`, qvbs.Correct, qvbs.Correct},
		{"sure", `0`, qvbs.Wrong, qvbs.Wrong},
		{"sure", `false`, qvbs.Wrong, qvbs.Wrong},
		{"never", `"∞"`, qvbs.Correct, qvbs.Correct},
		{"goal", `"∞"`, qvbs.Wrong, qvbs.Wrong},
	} {
		for accuracy, want := range map[result.Accuracy]qvbs.Class{result.Unknown: x.want, result.Exact: x.exact} {
			_, rep := run(t, set(resultOf(x.property, x.reference)), accuracy)
			if len(rep.Results) != 1 {
				t.Fatalf("%s %s: found %d results, want 1", x.property, x.reference, len(rep.Results))
			}
			if r := &rep.Results[0]; qvbs.ClassOf(r) != want {
				t.Errorf("%s %s, %v: found %s (%s; got %s), want %s", x.property, x.reference, accuracy, qvbs.ClassOf(r), r.Reason, r.Got, want)
			}
		}
	}
}

// An engine that has no value, only an error, is not wrong.
func TestErrors(t *testing.T) {
	fsys := set(resultOf("goal", `{"num": 1, "den": 4}`))
	fsys["coin/coin.prism"] = &fstest.MapFile{Data: []byte(strings.Replace(coin, "[0..N+1]", "[0..N]", 1))}
	_, rep := run(t, fsys, result.Unknown)
	if r := &rep.Results[0]; qvbs.ClassOf(r) != qvbs.Refused || r.Verdict.Err.Class != result.Model {
		t.Errorf("found %s (%s; got %s), want refused, for a variable that leaves its range", qvbs.ClassOf(r), r.Reason, r.Got)
	}
}

func TestDiscover(t *testing.T) {
	fsys := set(resultOf("goal", `{"num": 1, "den": 4}`), resultOf("steps", `{"num": 3, "den": 2}`), resultOf("steps", `[1]`))
	fsys["large/large.prism"], fsys["large/large.props"] = fsys["coin/coin.prism"], fsys["coin/coin.props"]
	fsys["large/index.json"] = &fstest.MapFile{Data: []byte(indexOf("l.jani", `["large.prism", "large.props"]`, `"states": [{"number": 1000}],`, resultOf("goal", "1")))}
	fsys["unknown/unknown.jani"] = &fstest.MapFile{Data: fmt.Appendf(nil, jani, "dtmc")}
	fsys["unknown/index.json"] = &fstest.MapFile{Data: []byte(indexOf("unknown.jani", `"m.modest"`, "", resultOf("goal", "1")))}
	fsys["gone/index.json"] = &fstest.MapFile{Data: []byte(indexOf("gone.jani", `["a.prism", "a.props"]`, `"states": [{"number": 1}],`, resultOf("goal", "1")))}
	fsys["ma/ma.jani"] = &fstest.MapFile{Data: fmt.Appendf(nil, jani, "sha")}
	fsys["ma/index.json"] = &fstest.MapFile{Data: []byte(indexOf("ma.jani", `[]`, `"states": [{"number": "3"}],`, resultOf("goal", "1")))}

	s, rep := run(t, fsys, result.Unknown)
	var found []string
	for i := range rep.Results {
		r := &rep.Results[i]
		found = append(found, fmt.Sprintf("%s %s %s %s", r.Model, r.Name, strings.Join(r.Args[2:], " "), qvbs.ClassOf(r)))
	}
	want := []string{
		"coin/coin.prism goal -const p=0.5 correct", "coin/coin.prism steps -const p=0.5 correct",
		"large/large.prism goal -const p=0.5 bound violated",
		"ma/ma.jani  -const p=0.5 refused", "unknown/unknown.jani goal -const p=0.5 correct",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
	notes := strings.Join(s.Notes(rep), "\n")
	for _, want := range []string{"native: 3 correct, 0 wrong, 1 bound violated, 1 refused; ", "left out: cases without a model in PRISM's language or JANI (1), whose reference result is not a number (1)"} {
		if !strings.Contains(notes, want) {
			t.Errorf("found notes %q, want %q", notes, want)
		}
	}

	s, err := qvbs.Discover(fsys, []string{"."}, qvbs.Options{MaxStates: 999})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tests) != 2 || s.LargeCases != 3 {
		t.Errorf("at most 999 states: found %d tests and %d left out, want 2 and 3", len(s.Tests), s.LargeCases)
	}
	x := s.Tests[0].Extra[0]
	if got := x.File + ":" + x.Pos.String(); got != "coin/index.json:5:1" {
		t.Errorf("the reference is at %s, want coin/index.json:5:1", got)
	}
}

// An index names files of its own directory only.
func TestOtherDirectories(t *testing.T) {
	fsys := set(resultOf("goal", "1"))
	fsys["other/index.json"] = &fstest.MapFile{Data: []byte(indexOf("../coin/m.jani", `["../coin/coin.prism", "../coin/coin.props"]`, "", resultOf("goal", "1")))}
	s, err := qvbs.Discover(fsys, []string{"other"}, qvbs.Options{})
	if err != nil || len(s.Tests) != 0 || s.MissingModels != 1 {
		t.Errorf("found %d tests, %d missing, error %v; want none, 1, nil", len(s.Tests), s.MissingModels, err)
	}
}

func TestMistakes(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{`{"files": [`, "m/index.json:1:12: unexpected end of JSON input"},
		{"{\"files\":\n 3}", "m/index.json:2:3: found a JSON number, want a list"},
		{`{"files": [{"open-parameter-values": [{"results": [7]}]}]}`, "m/index.json:1:53: found a JSON number, want an object"},
		{`{"files": [{"file": "../../etc/passwd.jani", "open-parameter-values": [{"results": [{"property": "p", "value": 1}]}]}]}`, ""},
		{`{}`, ""},
		{`[`, ""},
	} {
		_, err := qvbs.Discover(fstest.MapFS{"m/index.json": {Data: []byte(x.text)}}, []string{"m"}, qvbs.Options{})
		if got := fmt.Sprint(err); x.want == "" && err != nil || !strings.HasPrefix(got, x.want) && x.want != "" {
			t.Errorf("%s: found %v, want %q", x.text, err, x.want)
		}
	}
}

// The set itself: of its small cases none is wrong, and those that are refused are of kinds that we do not read.
func TestSet(t *testing.T) {
	root := needs.QComp(t)
	s, err := qvbs.Discover(os.DirFS(root), []string{"benchmarks"}, qvbs.Options{MaxStates: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tests) < 100 {
		t.Fatalf("found %d cases, want 100 at least", len(s.Tests))
	}
	rep, err := regress.Run(t.Context(), s.Tests, []regress.EngineConfig{{EngineConfig: runner.EngineConfig{Engine: native.New()}}}, regress.Options{FS: os.DirFS(root), Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rep.Results {
		r := &rep.Results[i]
		if c := qvbs.ClassOf(r); c != qvbs.Correct && (c != qvbs.Refused || !strings.Contains(r.Reason, "automaton")) {
			t.Errorf("%s %s %v: %s: %s", r.Model, r.Name, r.Args, c, r.Reason)
		}
	}
}

// Whatever memory of a tool is full, it is memory; a run that was stopped has no verdict.
func TestLimits(t *testing.T) {
	for class, want := range map[result.Class]qvbs.Class{
		result.Timeout: qvbs.OutOfTime, result.Memory: qvbs.OutOfMemory, result.Heap: qvbs.OutOfMemory, result.CUDD: qvbs.OutOfMemory,
	} {
		r := &report.TestResult{Outcome: report.TestLimit, Verdict: &result.Verdict{Err: &result.Failure{Class: class}}}
		if got := qvbs.ClassOf(r); got != want {
			t.Errorf("%s: found %s, want %s", class, got, want)
		}
	}
	if got := qvbs.ClassOf(&report.TestResult{Outcome: report.TestLimit}); got != qvbs.OutOfTime {
		t.Errorf("no verdict: found %s, want %s", got, qvbs.OutOfTime)
	}
}
