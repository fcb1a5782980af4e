package regress_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/shard"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/expect"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

// TestOutcomes has every outcome that one engine can have.
func TestOutcomes(t *testing.T) {
	rep := test(t, files("coin.prism", coin, "coin.prism.props", `const int k;
// RESULT: 1/3
P=? [ F s=1 ];
// RESULT: 0.3
P=? [ F s=1 ];
// RESULT: ~0.33333
// TILECHECK: tolerance=1e-9
P=? [ F s=1 ];
P=? [ F s=2 ];
// RESULT: ?
P=? [ F s=2 ];
// RESULT (k=1): 1/3
P=? [ F s=k ];
// RESULT (k=): 1/3
P=? [ F s=k ];
// TILECHECK: tolerance=high
// RESULT: 1
P=? [ F s=k ];
// RESULT: true
multi(P>=0.5 [ F s=1 ]);
// TILECHECK: error=unsupported
multi(P>=0.5 [ F s=1 ]);
// RESULT: 1
// TILECHECK: engines=storm
P=? [ F s=1 ];
// RESULT: Error:type
P=? [ F s+1 ];
// RESULT: true
P=? [ F s+1 ];
P=? [ F s+1 ];
`, "coin.prism.props.args", "-const k=1:2\n"), regress.Options{})
	compare(t, lines(rep), `
pass coin.prism.props:3
fail coin.prism.props:5: Wrong result (expected 0.3, abs err = 0.03333333333333299 > 3.33333333333333E-6)
fail coin.prism.props:8: Wrong result (expected ~0.33333, got 0.333333333333333, abs err = 3.3333333329665926E-6 > 3.3333000000000003E-10)
unchecked coin.prism.props:9
not tested coin.prism.props:11: anything is expected (?)
pass coin.prism.props:13 [{k 1}]
not tested coin.prism.props:13 [{k 2}]: Did not find a RESULT specification (for p=0.333333333333,k=2) to test against
fail coin.prism.props:15 [{k 1}]: Badly formed RESULT specification "RESULT (k=): 1/3"
fail coin.prism.props:15 [{k 2}]: Badly formed RESULT specification "RESULT (k=): 1/3"
fail coin.prism.props:18 [{k 1}]: Badly formed annotation "TILECHECK: tolerance=high": tolerance is "high", want a number greater than 0 and less than 1
fail coin.prism.props:18 [{k 2}]: Badly formed annotation "TILECHECK: tolerance=high": tolerance is "high", want a number greater than 0 and less than 1
unsupported coin.prism.props:20: found multi(...) for a DTMC, want an MDP
pass coin.prism.props:22
not tested coin.prism.props:25: the annotation is for other engines: [storm]
pass coin.prism.props:27
fail coin.prism.props:29: Unexpected error: argument of F operator is not Boolean: found an expression of type int, want bool
error coin.prism.props:30: argument of F operator is not Boolean: found an expression of type int, want bool (type)`)
}

// TestFileErrors: what is wrong with files is one result with its place, on
// every engine, and costs other tests nothing.
func TestFileErrors(t *testing.T) {
	rep := test(t, files(
		"a.prism", "dtmc\nmodule m\n  s : [0..1] init 0\nendmodule", "a.prism.props", "P=? [ F s=1 ];",
		"b.prism", coin, "b.prism.props", "P=? [ F s=1 ",
		"c.prism", coin, "c.prism.props", "const int k;\nP=? [ F s=k ];",
		"d.prism", coin, "d.prism.props", "P=? [ F s=1 ];", "d.prism.props.args", "\n  -ex -oops\n",
		"e.prism", coin, "e.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];",
		"f.auto", "gone.prism gone.props\n",
		"g.prism", "dtmc\nmodule m\n  s : [0..1] init 0\nendmodule", "g.prism.props", "// TILECHECK: error=parse\nP=? [ F s=1 ];",
		"h.prism", coin, "h.prism.props", "// TILECHECK: error=undefined-constant\nP=? [ F s=k ];\nconst int k;",
	), regress.Options{})
	compare(t, lines(rep), `
error a.prism:3: missing ";"
error b.prism.props:1: found end of file, want "]"
error c.prism.props:1: undefined constant "k" must be defined: add --const k=...
error d.prism.props.args:2: unknown switch "-oops"
pass e.prism.props:2
pass g.prism.props:2
pass h.prism.props:2
error gone.props:0: gone.prism: file does not exist`)
}

// TestFindings: annotations that never count are found, whatever the engines say.
func TestFindings(t *testing.T) {
	rep := test(t, files("coin.prism", coin, "coin.prism.props", `// RESULT (p=1/3): 1/3
// RESULT (p=1/4): 1/4
// RESULT (q=1/4): 1/4
P=? [ F s=1 ];
// RESULT: 1/3
// RESULT: 1/4
// TILECHECK (p=1): tolerance=1e-3
P=? [ F s=1 ];
// RESULT: [0.1, 0.2]
true;
// RESULT: 1

`), regress.Options{})
	compare(t, findings(rep), `
coin.prism.props:2:4: this annotation fits no test
coin.prism.props:3:4: this annotation fits no test: there is no constant q
coin.prism.props:6:4: this RESULT never applies, because the RESULT at 5:4 always applies first
coin.prism.props:7:4: this annotation fits no test
coin.prism.props:9:12: found "[0.1,", want an interval without blanks, as in [0.2,0.4]
coin.prism.props:11:4: found an annotation without a property, want it directly above a property`)
}

// TestFindingsOfAllTests: an annotation counts if any test chooses it, also one
// of another part.
func TestFindingsOfAllTests(t *testing.T) {
	model := strings.Replace(coin, "p = 1/3", "p", 1)
	fsys := files("coin.prism", model, "coin.prism.props", "// RESULT (p=1/3): 1/3\n// RESULT (p=1/4): 1/4\n// RESULT (p=1/5): 1/5\nP=? [ F s=1 ];",
		"coin.prism.props.args", "-const p=1/3\n-const p=1/4\n")
	for i := range 2 {
		compare(t, findings(test(t, fsys, regress.Options{Shard: shard.Part{Index: i + 1, Count: 2}})), "coin.prism.props:3:4: this annotation fits no test")
	}
}

// TestSwitches: what the switches ask for reaches the engine.
func TestSwitches(t *testing.T) {
	e := &engine{name: "double"}
	test(t, files("coin.prism", coin, "coin.prism.props", "// RESULT: 1/3\n\"one\": P=? [ F s=1 ];\n\"two\": P=? [ F s=2 ];", "coin.prism.props.args", `
-ex -gs -epsilon 1e-9 -prop one
-exact -nofixdl -prop 1
-mdp -prop 1
-sim -simsamples 500 -simconf 0.05 -prop 1
-sim -simmethod apmc -simapprox 0.1 -simpathlen 7 -prop 1
-fair -prop 1
`), regress.Options{Seed: 42}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: e}})
	if len(e.plans) != 6 {
		t.Fatalf("%d jobs", len(e.plans))
	}
	byKey := make(map[string]runner.Job)
	for _, p := range e.plans {
		j := p.Job
		if len(p.Tasks) != 1 || p.Tasks[0].Name != "one" {
			t.Errorf("%d properties, and %s", len(p.Tasks), p.Tasks[0].Name)
		}
		key := string(j.Method)
		switch {
		case j.NoFixDeadlocks:
			key = "exact"
		case string(j.Model) != coin:
			key = "mdp"
		case j.Numeric.Fair:
			key = "fair"
		}
		byKey[key] = j
	}
	if j := byKey["exact"]; j.Numeric.Accuracy != result.Exact {
		t.Errorf("%+v", j.Numeric)
	}
	if j := byKey["mdp"]; !strings.HasPrefix(string(j.Model), "    \nconst") || !strings.HasSuffix(string(j.Model), "\nmdp\n") {
		t.Errorf("%s", j.Model)
	}
	if s := byKey["sim"].Simulation; s.Samples != 500 || s.Confidence != 0.95 || s.Seed != 42 {
		t.Errorf("%+v", s)
	}
	if s := byKey["apmc"].Simulation; s.Approximation != 0.1 || s.MaxPath != 7 {
		t.Errorf("%+v", s)
	}
	if len(byKey) != 6 {
		t.Errorf("%d different jobs", len(byKey))
	}
}

// TestStatistical: an expectation with samples is checked by sampling, with the
// confidence that is its share of the budget; others are not.
func TestStatistical(t *testing.T) {
	e := &engine{name: "double"}
	fsys := files("coin.prism", coin, "coin.prism.props", `
// RESULT: 1/3
// TILECHECK: samples=1000
P=? [ F s=1 ];
// RESULT: 1/2
// TILECHECK: samples=1000 seed=9
P=? [ F s=1 ];
// RESULT: 1/3
P=? [ F s=1 ];
`)
	rep := test(t, fsys, regress.Options{Flakes: 0.002}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: e}})
	got := strings.Split(lines(rep), "\n")
	if !strings.HasPrefix(got[0], "pass") || !strings.HasPrefix(got[2], "pass") || !strings.Contains(got[1], "fail coin.prism.props:7: Wrong result (expected 1/2, got 0.3") ||
		!strings.Contains(got[1], "with confidence 0.999 from 1000 samples") {
		t.Errorf("got\n%s", lines(rep))
	}
	seeds := map[uint64]bool{}
	for _, p := range e.plans {
		j := p.Job
		if j.Method == runner.CI {
			seeds[j.Simulation.Seed] = true
			if j.Simulation.Confidence != 0.999 || j.Simulation.Samples != 1000 {
				t.Errorf("%+v", j.Simulation)
			}
		}
	}
	if len(e.plans) != 3 || !seeds[1] || !seeds[9] {
		t.Errorf("%d jobs, seeds %v", len(e.plans), seeds)
	}
	if len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "2 sampled expectations, seed 1. ") || !strings.Contains(rep.Notes[0], "each with at most 0.001") {
		t.Errorf("notes %q", rep.Notes)
	}
}

// TestDisagreement: engines that contradict each other do so although each
// passes, or nothing is expected; one that fails does not.
func TestDisagreement(t *testing.T) {
	number := func(x float64) func(*result.Verdict) {
		return func(v *result.Verdict) {
			v.Value, v.Bound, v.Accuracy = result.Value{Kind: result.Number, Num: x}, nil, result.Estimated
		}
	}
	fsys := files("coin.prism", coin, "coin.prism.props", "P=? [ F s=1 ];\n// RESULT: [0.3,0.4]\nP=? [ F s=1 ];\n// RESULT: 0.3333\nP=? [ F s=1 ];")
	for _, tt := range []struct {
		name   string
		change func(*result.Verdict)
		want   string
	}{
		{"the same", func(*result.Verdict) {}, "unchecked unchecked pass pass fail fail"},
		{"close", number(1.0/3 + 1e-7), "unchecked unchecked pass pass fail fail"},
		{"apart", number(0.35), "disagree disagree disagree disagree fail fail"},
		{"far", number(0.5), "disagree disagree pass fail fail fail"},
		{"NaN", number(math.NaN()), "disagree disagree pass fail fail fail"},
		{"truth", func(v *result.Verdict) { v.Value, v.Bound = result.Value{Kind: result.Boolean}, nil }, "disagree disagree pass fail fail fail"},
		{"refused", func(v *result.Verdict) {
			*v = result.Verdict{Property: v.Property, Err: &result.Failure{Class: result.Unsupported, Message: "no"}}
		}, "unchecked unsupported pass unsupported fail unsupported"},
		{"exact", func(v *result.Verdict) {
			v.Value, v.Bound, v.Accuracy = result.Value{Kind: result.Number, Num: 1.0 / 3, Rat: big.NewRat(1, 3)}, nil, result.Exact
		}, "unchecked unchecked pass pass fail fail"},
		{"another fraction", func(v *result.Verdict) {
			v.Value, v.Bound, v.Accuracy = result.Value{Kind: result.Number, Num: 0.34, Rat: big.NewRat(34, 100)}, nil, result.Exact
		}, "disagree disagree disagree disagree fail fail"},
	} {
		e := &engine{name: "double", answer: func(_ *runner.Job, v *result.Verdict) { tt.change(v) }}
		rep := test(t, fsys, regress.Options{}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: native.New()}}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: e}})
		var got []string
		for _, r := range rep.Results {
			got = append(got, strings.ReplaceAll(r.Outcome.String(), " ", "-"))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, got, tt.want)
		}
	}
}

func TestLimits(t *testing.T) {
	slow := "dtmc\nmodule m\n  x : [0..2000000000] init 0;\n  [] x<2000000000 -> 1/2:(x'=x+1) + 1/2:(x'=0);\nendmodule"
	fsys := files("m.prism", slow, "m.prism.props", "// RESULT: 1\nP=? [ F x=1 ];\n// TILECHECK: error=limit\nP=? [ F x=3 ];")
	for _, opt := range []regress.Options{{Time: 50 * time.Millisecond}, {Memory: 1 << 20}} {
		rep := test(t, fsys, opt)
		if len(rep.Results) != 2 || rep.Results[0].Outcome != report.TestLimit || rep.Results[1].Outcome != report.TestPassed {
			t.Errorf("%+v:\n%s", opt, lines(rep))
		}
	}
}

// TestInterrupt: what is not finished says so, and nothing is lost.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	e := &engine{name: "double", answer: func(*runner.Job, *result.Verdict) {
		if n++; n == 2 {
			cancel()
		}
	}}
	fsys := files("a.prism", coin, "a.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];", "b.prism", coin, "b.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];",
		"c.prism", coin, "c.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];")
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		t.Fatal(err)
	}
	rep := testAll(t, ctx, tests, fsys, regress.Options{Jobs: 1}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: e}})
	compare(t, lines(rep), "pass a.prism.props:2\npass b.prism.props:2\nerror c.prism.props:2: interrupted (interrupted)")
}

// TestOnly: an identity names one result.
func TestOnly(t *testing.T) {
	fsys := files("coin.prism", coin, "coin.prism.props", "const int k;\n// RESULT (k=1): 1/3\n// RESULT: 2/3\nP=? [ F s=k ];\ntrue;\ntrue;", "coin.prism.props.args", "-const k=1:2\n-ex -const k=1\n")
	ids := map[string]bool{}
	rerun := func(engine, id string) string {
		ids[id] = true
		return engine + " " + id
	}
	all := test(t, fsys, regress.Options{Rerun: rerun, Jobs: 1})
	if len(all.Results) != 7 || len(ids) != 7 {
		t.Fatalf("%d results, %d identities", len(all.Results), len(ids))
	}
	for _, want := range all.Results {
		_, id, _ := strings.Cut(want.Rerun, " ")
		rep := test(t, fsys, regress.Options{Rerun: rerun, Jobs: 1, Only: []string{id}})
		if len(rep.Results) != 1 || rep.Results[0].Rerun != want.Rerun || rep.Results[0].Outcome != want.Outcome || rep.Results[0].Got != want.Got {
			t.Errorf("%s: got\n%s", want.Rerun, lines(rep))
		}
	}
}

// TestConsts: constants that are given replace those of files.
func TestConsts(t *testing.T) {
	fsys := files("coin.prism", strings.Replace(coin, "p = 1/3", "p", 1), "coin.prism.props", "// RESULT: p\nP=? [ F s=1 ];", "coin.prism.props.args", "-const p=1/3,unused=2\n")
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		t.Fatal(err)
	}
	tests[0].Consts = []string{"p=0.1:0.1:0.3"}
	rep := testAll(t, t.Context(), tests, fsys, regress.Options{})
	compare(t, lines(rep), "pass coin.prism.props:2 [{p 0.1}]\npass coin.prism.props:2 [{p 0.2}]\npass coin.prism.props:2 [{p 0.3}]")
	if args := strings.Join(rep.Results[0].Args, " "); args != "-const p=1/3,unused=2 -const p=0.1:0.1:0.3" {
		t.Errorf("args %q", args)
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		opt     regress.Options
		engines []regress.EngineConfig
		want    string
	}{
		{regress.Options{}, nil, "no file system"},
		{regress.Options{FS: files()}, nil, "no engine"},
		{regress.Options{FS: files()}, []regress.EngineConfig{{EngineConfig: runner.EngineConfig{Engine: native.New()}}, {EngineConfig: runner.EngineConfig{Engine: native.New()}}}, "two engines are called native"},
	} {
		if _, err := regress.Run(t.Context(), nil, tt.engines, tt.opt); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		outcomes     []report.TestOutcome
		findings     int
		code, strict int
	}{
		{nil, 0, 1, 1},
		{[]report.TestOutcome{report.TestPassed}, 0, 0, 0},
		{[]report.TestOutcome{report.TestPassed}, 1, 0, 2},
		{[]report.TestOutcome{report.TestUnchecked, report.TestUnsupported, report.TestNotTested}, 0, 1, 1},
		{[]report.TestOutcome{report.TestUnchecked, report.TestPassed}, 0, 0, 2},
		{[]report.TestOutcome{report.TestUnsupported, report.TestPassed}, 0, 0, 2},
		{[]report.TestOutcome{report.TestNotTested, report.TestPassed}, 0, 0, 2},
		{[]report.TestOutcome{report.TestDisagreed, report.TestPassed}, 0, 3, 3},
		{[]report.TestOutcome{report.TestDisagreed, report.TestFailed}, 0, 2, 2},
		{[]report.TestOutcome{report.TestLimit, report.TestFailed}, 0, 4, 4},
		{[]report.TestOutcome{report.TestLimit, report.TestFailed, report.TestError}, 0, 1, 1},
	} {
		rep := &report.TestReport{Findings: make([]report.TestFinding, tt.findings)}
		for _, o := range tt.outcomes {
			rep.Results = append(rep.Results, report.TestResult{Outcome: o})
		}
		if code, strict := regress.ExitCode(rep, false), regress.ExitCode(rep, true); code != tt.code || strict != tt.strict {
			t.Errorf("%v: %d, strict %d, want %d, %d", tt.outcomes, code, strict, tt.code, tt.strict)
		}
	}
}

func TestOwnSuite(t *testing.T) {
	rep := test(t, own(t), regress.Options{Flakes: 0.01})
	if code := regress.ExitCode(rep, false); code != 0 || len(rep.Results) < 70 {
		t.Errorf("exit code %d:\n%s", code, lines(rep))
	}
	if text := findings(rep); text != "" {
		t.Error(text)
	}
}

// TestEngineThatBreaks: an engine that cannot be started is an error of every test.
func TestEngineThatBreaks(t *testing.T) {
	fsys := files("coin.prism", coin, "coin.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];")
	rep := test(t, fsys, regress.Options{}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: broken{}}})
	compare(t, lines(rep), "error coin.prism.props:0: the tool is not there")
}

type broken struct{}

func (broken) Name() string { return "broken" }
func (broken) Check(context.Context, *runner.Plan) ([]result.Verdict, error) {
	return nil, errors.New("the tool is not there")
}

// TestExtras: expectations from elsewhere come before those of the file, and
// those that no test chooses are findings.
func TestExtras(t *testing.T) {
	fsys := files("coin.prism", coin, "coin.prism.props", "// RESULT: 1\n\"one\": P=? [ F s=1 ];\nP=? [ F s=2 ];")
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		t.Fatal(err)
	}
	at := func(line int32) syntax.Pos { return syntax.Pos{Line: line, Col: 3} }
	value := func(text, conditions string, line int32) *expect.Expectation {
		e, mistakes := expect.NewExpectation(text, conditions, at(line))
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		return &e
	}
	terms, _ := expect.NewTerms("tolerance=0.1", "", at(5))
	tests[0].Extra = []regress.Extra{
		{Property: "one", Result: value("1/2", "k=1", 1), File: "x.yaml", Pos: at(1)},
		{Property: "one", Result: value("1/3", "", 2), File: "x.yaml", Pos: at(2)},
		{Property: "two", Result: value("1/3", "", 3), File: "x.yaml", Pos: at(3)},
		{Property: "P=? [ F s=2 ]", Result: value("0.7", "", 4), File: "x.yaml", Pos: at(4)},
		{Property: "P=? [ F s=2 ]", Terms: &terms, File: "x.yaml", Pos: at(5)},
	}
	rep := testAll(t, t.Context(), tests, fsys, regress.Options{})
	compare(t, lines(rep), "pass coin.prism.props:2\npass coin.prism.props:3")
	compare(t, findings(rep), `
coin.prism.props:1:4: this annotation fits no test
x.yaml:1:3: this expectation of "one" fits no test
x.yaml:3:3: this expectation of "two" fits no test`)
	if r := rep.Results[1]; r.Expected != "0.7 tolerance=0.1 (x.yaml:4:3)" || r.ExpectedLine != 0 {
		t.Errorf("%q in line %d", r.Expected, r.ExpectedLine)
	}
}

// TestOverride: later definitions of a constant replace earlier ones.
func TestOverride(t *testing.T) {
	for _, tt := range []struct{ consts, by, want []string }{
		{[]string{"a=1,b=2", "c=3"}, []string{"b=4"}, []string{"a=1", "c=3", "b=4"}},
		{[]string{"a=1"}, nil, []string{"a=1"}},
		{nil, []string{"a=1:2,b"}, nil},
	} {
		got, err := regress.Override(tt.consts, tt.by)
		if tt.want == nil && err == nil || tt.want != nil && (err != nil || !slices.Equal(got, tt.want)) {
			t.Errorf("%q by %q: %q, %v", tt.consts, tt.by, got, err)
		}
	}
}

// TestUnusedConstants: a constant that no test declares is noted.
func TestUnusedConstants(t *testing.T) {
	fsys := files("coin.prism", coin, "coin.prism.props", "const int k;\n// RESULT: 1/3\nP=? [ F s=k ];")
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		t.Fatal(err)
	}
	tests[0].Consts = []string{"k=1,K=2"}
	rep := testAll(t, t.Context(), tests, fsys, regress.Options{})
	compare(t, lines(rep), "pass coin.prism.props:3 [{k 1}]")
	compare(t, strings.Join(rep.Notes, "; "), `no test has a constant "K", so its value is ignored`)
}

// TestTooManyResults: a range with too many values is refused before it takes all memory.
func TestTooManyResults(t *testing.T) {
	fsys := files("m.prism", coin, "m.props", "const int k;\nk>3;", "m.props.args", "-const k=1:100001")
	rep := test(t, fsys, regress.Options{})
	if len(rep.Results) != 1 || rep.Results[0].Outcome != report.TestError ||
		rep.Results[0].Reason != "found more than 100000 results, want fewer values of constants" {
		t.Errorf("got %s", lines(rep))
	}
}

// TestNothingCompared: several engines of which none can be compared with another
// are no success, although each passes or refuses; and doubts are told.
func TestNothingCompared(t *testing.T) {
	fsys := files("coin.prism", coin, "coin.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];")
	refuses := func(_ *runner.Job, v *result.Verdict) {
		*v = result.Verdict{Property: v.Property, Err: &result.Failure{Class: result.Unsupported, Message: "no"}}
	}
	doubts := func(_ *runner.Job, v *result.Verdict) { v.Doubt = "unreliable" }
	for _, tt := range []struct {
		name   string
		answer func(*runner.Job, *result.Verdict)
		code   int
		note   string
	}{
		{"agrees", nil, 0, "engines: 1 of 1 comparisons made: 1 the same"},
		{"refuses", refuses, 1, "engines: 0 of 1 comparisons made; not made: double has no value that can be compared"},
		{"doubts", doubts, 0, "double casts doubt on 1 of its own values, which prove nothing: unreliable"},
	} {
		rep := test(t, fsys, regress.Options{}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: native.New()}}, regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: &engine{name: "double", answer: tt.answer}}})
		if code := regress.ExitCode(rep, false); code != tt.code || !slices.Contains(rep.Notes, tt.note) {
			t.Errorf("%s: exit code %d, notes %q, want %d and %q", tt.name, code, rep.Notes, tt.code, tt.note)
		}
	}
	// one that refuses everything is no failure where nobody is compared
	if rep := test(t, fsys, regress.Options{}); regress.ExitCode(rep, false) != 0 || rep.Compared.All() != 0 {
		t.Errorf("one engine: %q", rep.Notes)
	}
}
