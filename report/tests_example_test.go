package report_test

import (
	"fmt"
	"os"

	"tilecheck/report"
	"tilecheck/report/table"
	"tilecheck/result"
)

// suiteReport is a run with one result that fails if the value is not 1/6.
func suiteReport(value float64) *report.TestReport {
	r := report.TestResult{
		Model: "die.prism", Props: "die.props", File: "die.props", Line: 2, Col: 1, Engine: "native", Property: "P=? [ F s=7&d=6 ]",
		Expected: "1/6", Got: fmt.Sprint(value), Rerun: "tilecheck test die.props",
		Verdict: &result.Verdict{Value: result.Value{Kind: result.Number, Num: value}},
	}
	if r.Outcome = report.TestPassed; value != 1.0/6 {
		r.Outcome, r.Reason = report.TestFailed, "the value is outside of the tolerance"
	}
	return &report.TestReport{Engines: []string{"native"}, Results: []report.TestResult{r}}
}

func ExampleWriteTests() {
	if err := report.WriteTests(os.Stdout, table.Text, suiteReport(0.2), table.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// die.props:2:1: fail (native)
	//   property  P=? [ F s=7&d=6 ]
	//   model     die.prism
	//   expected  1/6
	//   got       0.2
	//   reason    the value is outside of the tolerance
	//   re-run    tilecheck test die.props
	//
	// folder  engine  fail
	// ------  ------  ----
	// .       native     1
	//
	// 1 failed
}

func ExampleWriteGitHub() {
	if err := report.WriteGitHub(os.Stdout, suiteReport(0.2)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ::error file=die.props,line=2,col=1,title=fail%3A P=? [ F s=7&d=6 ]::native: expected 1/6, got 0.2; the value is outside of the tolerance%0A  re-run: tilecheck test die.props
}

func ExampleCompareBaseline() {
	changed := report.CompareBaseline(suiteReport(1.0/6), suiteReport(0.2))
	if err := changed.Write(os.Stdout, table.Text, table.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Changes since the baseline
	//
	// change         where          property           engine  was       is
	// -------------  -------------  -----------------  ------  --------  ----
	// broken, value  die.props:2:1  P=? [ F s=7&d=6 ]  native  pass      fail
	//                                                          0.166667  0.2
	//
	// 1 result changed (a result can count more than once): 1 broken, 1 with another value; 0 unchanged
}
