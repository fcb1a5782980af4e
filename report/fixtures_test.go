package report

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// verdicts has one of every kind.
func verdicts() []result.Verdict {
	const die = "P=? [ F s=7&d=6 ]"
	half := 0.04063
	seed := uint64(math.MaxUint64)
	uniform := "nondeterminism was resolved uniformly: the value is an estimate under that scheduler, not a minimum or maximum"
	return []result.Verdict{
		{
			Property: die, Engine: "prism", Method: "exact",
			Value:    result.Value{Kind: result.Number, Num: 1.0 / 6, Rat: big.NewRat(1, 6)},
			Accuracy: result.Exact, Resolution: result.NoNondet, States: 13, Choices: 13, Transitions: 20, Seconds: 0.0123,
		},
		{
			Property: die, Engine: "native", Method: "interval iteration",
			Value:    result.Value{Kind: result.Number, Num: 0.16666650772094727},
			Accuracy: result.Bounded, Bound: &result.Interval{Lo: 0.16666603088378906, Hi: 0.16666698455810547},
			Resolution: result.NoNondet, States: 13, Choices: 13, Transitions: 20, Seconds: 0.0004,
		},
		{
			Property: "P=? [ F \"fail\" ]", Name: "fail", Constants: []result.Constant{{Name: "MAX", Value: "128"}, {Name: "p", Value: "0.10"}},
			Engine: "native", Method: "ci", Value: result.Value{Kind: result.Number, Num: 0.444},
			Accuracy: result.Probable, Bound: &result.Interval{Lo: 0.4039, Hi: 0.4847}, BoundMethod: "clopper-pearson",
			HalfWidth: &half, Confidence: 0.99, Samples: 1000, Resolution: result.Uniform,
			Seed: &seed, Seconds: 125.4, Warnings: []string{uniform, "42 paths were cut"},
		},
		{
			Property: "P=? [ F \"fail\" ]", Name: "fail", Constants: []result.Constant{{Name: "MAX", Value: "256"}, {Name: "p", Value: "1/10"}},
			Engine: "native", Method: "ci",
			Accuracy: result.Probable, Bound: &result.Interval{Lo: 0.25, Hi: 1}, BoundMethod: "clopper-pearson", Confidence: 0.99, Samples: 12,
			Resolution: result.Uniform, Seconds: 60, Warnings: []string{uniform},
			Err: &result.Failure{Class: result.Timeout, Message: "stopped after 60 s"},
		},
		{
			Property: "P>=1 [ a<=1|b U <=3 *c* ]", Engine: "storm", Value: result.Value{Kind: result.Boolean, Bool: false}, Accuracy: result.Float,
		},
		{
			Property: "R{\"steps\"}max=? [ F \"end\" ]", Engine: "storm", Method: "sound", Value: result.Value{Kind: result.Number, Num: math.Inf(1)},
			Accuracy: result.Estimated, Resolution: result.Maximum,
		},
		{Property: "1/0-1/0", Engine: "prism", Value: result.Value{Kind: result.Number, Num: math.NaN()}},
		{Property: "filter(range, P=? [ F a ], \"init\")", Engine: "prism", Value: result.Value{Kind: result.Range, Num: 0.25, Hi: 1.0 / 3}, Accuracy: result.Float},
		{Property: "filter(count, a)", Engine: "prism", Value: result.Value{Kind: result.Integer, Num: 1598448}, Accuracy: result.Float},
		{
			Property: "Pmin=? [ F \"lost\" ]", Engine: "storm", Method: "exact",
			Value:    result.Value{Kind: result.Number, Num: 0.917112710928446, Rat: big.NewRat(7336901687427567, 8000000000000000)},
			Accuracy: result.Exact, Resolution: result.Minimum, States: 755, Choices: 1247, Transitions: 1722,
		},
		{
			Property: "P=? [ F G a ]", Engine: "native",
			Err: &result.Failure{Class: result.Unsupported, Message: "nested temporal operator G, want a state formula", File: "die.props", Pos: syntax.Pos{Offset: 8, Line: 3, Col: 9}},
		},
	}
}

// comparison has the published numbers of the thesis's Table 3.6 beside the
// independent simulation in reference/2048-numbers.md. The intervals are made up.
func comparison() *Comparison {
	columns := []struct {
		strategy                     string
		simulated, published, widths [5]float64
	}{
		{"random", [5]float64{0.444, 0.921, 0.9998, 1, 1}, [5]float64{0.138, 0.537, 0.873, 0.971, 0.997}, [5]float64{0.02811, 0.04063, 0.02714, 0.01368, 0.00446}},
		{"opposite", [5]float64{0.737, 0.979, 1, 1, 1}, [5]float64{0.722, 0.98, 0.999, 1, 1}, [5]float64{0.03651, 0.01141, 0.00258, 0, 0}},
		{"orthogonal", [5]float64{0.098, 0.488, 0.954, 1, 1}, [5]float64{0.01, 0.134, 0.583, 0.965, 0.998}, [5]float64{0.00811, 0.02776, 0.04018, 0.01498, 0.00364}},
		{"alternating", [5]float64{0.085, 0.471, 0.942, 1, 1}, [5]float64{0.014, 0.193, 0.671, 0.989, 0.999}, [5]float64{0.00957, 0.03216, 0.03829, 0.00850, 0.00258}},
	}
	c := &Comparison{
		Title: "Probability of losing before MAX is reached, 4x4, 10000 games a cell",
		Notes: []string{"Only the opposite column of the published table can be reproduced from the rules of the game."},
	}
	for _, column := range columns {
		for i, p := range column.simulated {
			// Half-widths like those of 10,000 samples at 99 %.
			nominal := 2.576 * math.Sqrt(p*(1-p)/10000)
			v := result.Verdict{
				Property: "P=? [ F \"fail\" ]", Engine: "native", Method: "ci", Value: result.Value{Kind: result.Number, Num: p},
				Accuracy: result.Probable, Bound: &result.Interval{Lo: max(p-nominal-0.0005, 0), Hi: min(p+nominal+0.0005, 1)},
				BoundMethod: "clopper-pearson", HalfWidth: &nominal, Confidence: 0.99, Samples: 10000, Resolution: result.Fixed,
			}
			cell := ComparisonCell{
				Strategy: column.strategy, Max: 128 << i, Verdict: v,
				Published: &Published{column.published[i], &column.widths[i]}, Compatible: Incompatible,
			}
			if column.strategy == "opposite" {
				cell.Compatible = Compatible
			}
			c.Cells = append(c.Cells, cell)
		}
	}
	return c
}

// brokenComparison has a failed cell, a missing one, one with nothing
// published, one that cannot be compared, and warnings.
func brokenComparison() *Comparison {
	c := comparison()
	c.Cells = c.Cells[:14] // random, opposite, orthogonal without 2048
	c.Cells[1].Verdict = result.Verdict{
		Property: c.Cells[1].Verdict.Property, Engine: "prism",
		Err: &result.Failure{Class: result.PathLength, Message: "3 of 1000 paths were longer than 10000 steps"},
	}
	c.Cells[1].Compatible = Incomparable
	c.Cells[6].Published, c.Cells[6].Compatible = nil, Incomparable
	c.Cells[7].Verdict.Warnings = []string{"a path was cut"}
	c.Cells[8].Verdict.Warnings = []string{"a path was cut", "the generator is slow"}
	return c
}
