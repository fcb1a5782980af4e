package report

import (
	"math/big"
	"strings"
	"testing"

	"tilecheck/report/table"
	"tilecheck/result"
)

// A curve of several points has a table with a column for each objective. A single point stays in its cell.
func TestPointsOfACurve(t *testing.T) {
	rat := func(numerator, denominator int64) *big.Rat { return big.NewRat(numerator, denominator) }
	curve := result.Verdict{
		Property: `multi(Pmax=? [ F "goal" ], R{"time"}min=? [ C ], P>=0.1 [ F "other" ])`, Engine: "native",
		Value: result.Value{Kind: result.Curve, Points: [][]float64{{0.6, 1.8}, {0.875, 2.75}}, RatPoints: [][]*big.Rat{{rat(3, 5), rat(9, 5)}, {rat(7, 8), rat(11, 4)}}},
	}
	point := result.Verdict{Property: "multilex(...)", Engine: "native", Value: result.Value{Kind: result.Curve, Points: [][]float64{{0, 0.4}}}}
	var b strings.Builder
	if err := Verdicts(&b, table.Text, []result.Verdict{curve, point}, table.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2 points, listed below", "(0, 0.4)", "Points of multi(Pmax=? [ F \"goal\" ]",
		"Pmax=? [ F \"goal\" ]  R{\"time\"}min=? [ C ]\n", "          3/5 (0.6)             9/5 (1.8)\n", "        7/8 (0.875)           11/4 (2.75)\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "Points of multilex") {
		t.Errorf("found a table of one point:\n%s", b.String())
	}
}
