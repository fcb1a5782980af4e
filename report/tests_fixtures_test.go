package report

import (
	"math"
	"math/big"
	"strconv"
	"time"

	"tilecheck/result"
)

// testReport has one result of every outcome, several engines, an experiment, and text that is hard to print.
func testReport() *TestReport {
	half, seed := 0.02, uint64(7)
	die := func(engine string) TestResult {
		return TestResult{
			Model: "suite/die.prism", Props: "suite/die.props", Engine: engine, File: "suite/die.props", Line: 3, Col: 1, ExpectedLine: 2,
			Property: "P=? [ F s=7&d=6 ]", Name: "six", Expected: "1/6",
		}
	}
	exact, sampled, wrong := die("native"), die("native"), die("prism")
	exact.Outcome, exact.Got = TestPassed, "1/6"
	exact.Verdict = &result.Verdict{
		Property: exact.Property, Name: "six", Engine: "native", Method: "states",
		Value: result.Value{Kind: result.Number, Num: 1.0 / 6, Rat: big.NewRat(1, 6)}, Accuracy: result.Exact,
		Resolution: result.NoNondet, States: 13, Choices: 13, Transitions: 20, Seconds: 0.004,
	}
	wrong.Outcome, wrong.Got = TestFailed, "0.2"
	wrong.Reason = "0.2 is not within 1e-05 of 1/6"
	wrong.Rerun = "tilecheck test suite/die.props --engine prism --select six"
	wrong.Log = "PRISM\n=====\n\nVersion: 4.10\nResult: 0.2 (exact floating point)\n"
	wrong.Verdict = &result.Verdict{
		Property: wrong.Property, Name: "six", Engine: "prism", Method: "explicit", Tool: "PRISM 4.10",
		Value: result.Value{Kind: result.Number, Num: 0.2}, Accuracy: result.Float, States: 13, Choices: 13, Transitions: 20, Seconds: 0.31,
		Warnings: []string{"deadlock fixed in 1 state"},
	}
	sampled.Args, sampled.Outcome, sampled.Got, sampled.Cached = []string{"-sim"}, TestPassed, "0.17 ± 0.02", true
	sampled.Verdict = &result.Verdict{
		Property: sampled.Property, Name: "six", Engine: "native", Method: "ci", Value: result.Value{Kind: result.Number, Num: 0.17},
		Accuracy: result.Probable, Bound: &result.Interval{Lo: 0.148, Hi: 0.193}, BoundMethod: "clopper-pearson",
		HalfWidth: &half, Confidence: 0.99, Samples: 2000, Seed: &seed, Seconds: 0.02,
	}
	rep := &TestReport{
		Title: "suite", Engines: []string{"native", "prism"},
		Results: append([]TestResult{exact, wrong, sampled}, otherResults()...),
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Elapsed: 2500 * time.Millisecond,
		Notes: []string{"seed 7: the same seed repeats every number", "shard 1 of 1"},
		Findings: []TestFinding{
			{File: "suite/die.props", Line: 9, Col: 4, Message: "the annotation is shadowed by that of line 2"},
			{File: "suite/queue.props", Line: 1, Col: 1, Message: "RESULT: 1,5 is not a number"},
		},
	}
	return rep
}

func otherResults() []TestResult {
	queue := func(o TestOutcome, line int, property string) TestResult {
		return TestResult{
			Model: "suite/queue/queue.sm", Props: "suite/queue/queue.props", Engine: "native",
			File: "suite/queue/queue.props", Line: line, Col: 1, Property: property, Outcome: o,
		}
	}
	out := []TestResult{
		queue(TestError, 0, ""), queue(TestLimit, 4, "S=? [ q=N ]"), queue(TestDisagreed, 8, "P>=1 [ F \"a|b\" ]"),
		queue(TestUnsupported, 12, "multi(P>=0.5 [ F a ], Pmax=? [ G b ])"), queue(TestUnsupported, 13, "R{\"x\"}=? [ S ]"),
		queue(TestUnchecked, 16, "P=? [ F<=1.5 q=0 ]"), queue(TestNotTested, 20, "Pmax=? [ X a ]"),
	}
	out[0].Reason, out[0].File = "queue.sm:7:12: undefined variable \"x\"\nqueue.sm:9:1: expected endmodule, found end of file", "suite/queue/queue.sm"
	out[0].Line, out[0].Col = 7, 12
	out[1].Reason, out[1].Constants, out[1].Seconds = "stopped after 60 s", []result.Constant{{Name: "N", Value: "100000"}}, 60
	out[2].Expected, out[2].Got, out[2].Reason = "true", "false", "native says true, prism says false"
	out[3].Reason, out[4].Reason = "multi-objective properties are not supported", "multi-objective properties are not supported"
	out[5].Got = "0.25"
	out[6].Expected, out[6].Reason = "?", "the expectation is ?"
	for i, p := range []string{"0.1", "0.2", "0.3", "0.4"} {
		for _, engine := range []string{"native", "prism"} {
			r := queue(TestPassed, 24, "P=? [ F<=10 q=2 ]")
			x := 0.1 * float64(i+1)
			r.Engine, r.Constants, r.Expected = engine, []result.Constant{{Name: "N", Value: "2"}, {Name: "p", Value: p}}, strconv.FormatFloat(x*x, 'g', 6, 64)
			r.Got = r.Expected
			r.Verdict = &result.Verdict{
				Property: r.Property, Constants: r.Constants, Engine: engine, Value: result.Value{Kind: result.Number, Num: x * x},
				Accuracy: result.Bounded, Bound: &result.Interval{Lo: x*x - 0.004, Hi: x*x + 0.004}, States: 3, Choices: 3, Transitions: 5, Seconds: 0.001,
			}
			out = append(out, r)
		}
	}
	return out
}

// hostile is text that is markup, or a command, somewhere.
const hostile = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">" +
	"\"' onmouseover=alert(1) |`**_]]><!-- {{.}} --> %0A::error::x\x00\x1b[2J\xff\ufffe @everyone & \u202e"

// hostileReport has it in every text.
func hostileReport() *TestReport {
	r := TestResult{
		Model: hostile, Props: hostile, Args: []string{hostile}, Engine: hostile, Property: hostile, Name: hostile,
		Constants: []result.Constant{{Name: hostile, Value: hostile}}, File: hostile, Line: 1, Col: 2, Outcome: TestFailed,
		Expected: hostile, Got: hostile, Reason: hostile, Rerun: hostile, Log: hostile,
		Verdict: &result.Verdict{
			Property: hostile, Name: hostile, Engine: hostile, Tool: hostile, Method: hostile, BoundMethod: hostile, Warnings: []string{hostile},
			Value: result.Value{Kind: result.Number, Num: math.NaN()}, Err: &result.Failure{Class: hostile, Message: hostile, File: hostile},
		},
	}
	skipped := r
	skipped.Outcome = TestUnsupported
	return &TestReport{
		Title: hostile, Engines: []string{hostile}, Results: []TestResult{r, skipped}, Notes: []string{hostile},
		Findings: []TestFinding{{File: hostile, Line: 1, Col: 1, Message: hostile}},
	}
}

// manyResults is a suite of n results in folders of files, most of which pass.
func manyResults(n int) *TestReport {
	rep := &TestReport{Title: "many", Engines: []string{"native", "prism"}, Elapsed: time.Minute}
	for i := range n {
		name := "suite/folder" + strconv.Itoa(i/400) + "/file" + strconv.Itoa(i/40) + ".props"
		x := float64(i%97) / 97
		r := TestResult{
			Model: name[:len(name)-len("props")] + "prism", Props: name, File: name, Line: 3 + i%40, Col: 1, Engine: rep.Engines[i%2],
			Property: "P=? [ F<=" + strconv.Itoa(i%40/2) + " \"goal\" ]", Outcome: TestPassed, Expected: result.JSONNumber(x).String(), Got: result.JSONNumber(x).String(),
			Rerun: "tilecheck test " + name,
			Verdict: &result.Verdict{
				Value: result.Value{Kind: result.Number, Num: x}, Accuracy: result.Bounded, Bound: &result.Interval{Lo: x - 1e-7, Hi: x + 1e-7},
				States: int64(i), Choices: int64(i), Transitions: int64(2 * i), Seconds: 0.001 * float64(i%50),
			},
		}
		switch {
		case i%500 == 499:
			r.Outcome, r.Got, r.Reason = TestFailed, "0.5", "0.5 is not within 1e-05 of "+r.Expected
		case i%10 == 9:
			r.Outcome, r.Got, r.Verdict, r.Reason = TestUnsupported, "", nil, "feature "+strconv.Itoa(i%7)+" is not supported"
		}
		rep.Results = append(rep.Results, r)
	}
	return rep
}
