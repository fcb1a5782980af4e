package report

import (
	"math/big"
	"strings"
	"testing"

	"tilecheck/report/table"
	"tilecheck/result"
)

// Two models beside published numbers: the finding first, one row a model, marks where a number contradicts, intervals rounded outward, every remark
// once but those on a half-width that is not there, and no line of more than 100 columns for four strategies.
func TestModelsTable(t *testing.T) {
	half := 0.02811
	sampled := func(x, lo, hi float64) result.Verdict {
		return result.Verdict{
			Value: result.Value{Kind: result.Number, Num: x}, Bound: &result.Interval{Lo: lo, Hi: hi}, Accuracy: result.Probable, Samples: 1000,
			Warnings: []string{"drawn uniformly", "all samples are equal; PRISM's half-width would be 0, which guarantees nothing: use the interval"},
		}
	}
	c := &Comparison{Title: "title", Finding: []string{"Finding: it is so."}, Notes: []string{"faults: see the thesis"}}
	for _, s := range []string{"random", "opposite", "orthogonal", "alternating"} {
		c.Cells = append(c.Cells,
			ComparisonCell{
				Strategy: s, Updates: "rules", Max: 128, Verdict: sampled(0.4704, 0.42907, 0.51121), Published: &Published{0.138, &half}, Compatible: Incompatible,
			},
			ComparisonCell{
				Strategy: s, Updates: "published", Max: 128, Verdict: sampled(0.124, 0.09851, 0.15312), Published: &Published{0.138, &half}, Compatible: Compatible,
			},
		)
	}
	var b strings.Builder
	if err := c.Write(&b, table.Text, table.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	const want = `title

Finding: it is so.

MAX          random                opposite              orthogonal            alternating
---  ------  --------------------  --------------------  --------------------  --------------------
128  thesis  0.138 +/- 0.028       0.138 +/- 0.028       0.138 +/- 0.028       0.138 +/- 0.028
     rules   0.470 [0.429,0.512]*  0.470 [0.429,0.512]*  0.470 [0.429,0.512]*  0.470 [0.429,0.512]*
     faults  0.124 [0.098,0.154]   0.124 [0.098,0.154]   0.124 [0.098,0.154]   0.124 [0.098,0.154]

faults: see the thesis
drawn uniformly
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
	chart, err := c.Chart()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(chart.Series); n != 8 || chart.Series[0].Name != "random, rules" || chart.Series[7].Name != "alternating, faults" ||
		len(chart.Series[0].Published) != 0 || len(chart.Series[7].Published) != 1 {
		t.Errorf("series %+v, want 8 with the published numbers beside the last model", chart.Series)
	}
}

// A fraction is no estimate, and one that is too long for the table stands below it.
func TestComparisonOfFractions(t *testing.T) {
	x, _ := new(big.Rat).SetString("62733269576515594250429812484953/238878720000000000000000000000000")
	y, _ := x.Float64()
	v := result.Verdict{Value: result.Value{Kind: result.Number, Num: y, Rat: x}, Accuracy: result.Exact}
	c := &Comparison{Cells: []ComparisonCell{{Strategy: "orthogonal", Updates: "rules", Max: 32, Verdict: v}}}
	var b strings.Builder
	if err := c.Write(&b, table.Text, table.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.Contains(s, "estimate") || !strings.Contains(s, "value") || !strings.Contains(s, "exactly "+x.RatString()) {
		t.Errorf("%s", s)
	}
}
