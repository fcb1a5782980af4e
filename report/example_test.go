package report_test

import (
	"fmt"
	"math/big"
	"os"

	"tilecheck/report"
	"tilecheck/report/table"
	"tilecheck/result"
)

func ExampleVerdicts() {
	half := 0.04063
	verdicts := []result.Verdict{
		{
			Property: "P=? [ F s=7&d=6 ]", Engine: "prism", Method: "exact",
			Value: result.Value{Kind: result.Number, Num: 1.0 / 6, Rat: big.NewRat(1, 6)}, Accuracy: result.Exact,
		},
		{
			Property: "P=? [ F s=7&d=6 ]", Engine: "native", Method: "ci",
			Value:     result.Value{Kind: result.Number, Num: 0.173},
			HalfWidth: &half, Bound: &result.Interval{Lo: 0.1419, Hi: 0.2071}, Confidence: 0.99, Accuracy: result.Probable,
			Warnings: []string{"only 1000 samples were drawn"},
		},
	}
	err := report.Verdicts(os.Stdout, table.Text, verdicts, table.Options{Width: 120})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// property           engine  method  value            interval        confidence  accuracy  notes
	// -----------------  ------  ------  ---------------  --------------  ----------  --------  -----
	// P=? [ F s=7&d=6 ]  prism   exact   1/6 (~0.166667)                              exact
	// P=? [ F s=7&d=6 ]  native  ci      0.173 +/- 0.041  [0.141, 0.208]         99%  probable  [1]
	//
	// [1] only 1000 samples were drawn
}

func ExampleComparison_Write() {
	published := 0.02811
	c := &report.Comparison{
		Title: "Probability of losing before MAX is reached",
		Cells: []report.ComparisonCell{{
			Strategy: "random", Max: 128,
			Verdict: result.Verdict{
				Property: `P=? [ F "fail" ]`, Value: result.Value{Kind: result.Number, Num: 0.4443},
				Bound: &result.Interval{Lo: 0.4312, Hi: 0.4575},
			},
			Published:  &report.Published{Value: 0.138, HalfWidth: &published},
			Compatible: report.Incompatible,
		}},
		Notes: []string{"The published model was probably not the game."},
	}
	if err := c.Write(os.Stdout, table.Text, table.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Probability of losing before MAX is reached
	//
	// MAX             random
	// ---  ---------  ---------------
	// 128  estimate   0.444
	//      interval   [0.431, 0.458]
	//      published  0.138 +/- 0.028
	//      outcome    higher
	//
	// The published model was probably not the game.
}
