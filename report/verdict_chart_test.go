package report_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tilecheck/report"
	"tilecheck/result"
)

func TestVerdictChart(t *testing.T) {
	row := func(property, n, k string, value, low, high float64) result.Verdict {
		return result.Verdict{
			Property: property, Engine: "native", Constants: []result.Constant{{Name: "n", Value: n}, {Name: "k", Value: k}},
			Value: result.Value{Kind: result.Number, Num: value}, Bound: &result.Interval{Lo: low, Hi: high},
		}
	}
	failed := row("P=? [ F a ]", "3", "1", 0, 0, 0)
	failed.Err = &result.Failure{Class: result.Timeout, Message: "timeout"}
	truth := row("P=? [ F a ]", "3", "2", 0, 0, 0)
	truth.Value = result.Value{Kind: result.Boolean, Bool: true}
	chart, notes, err := report.VerdictChart([]result.Verdict{
		truth, row("P=? [ F a ]", "2", "1", 0.5, 0.4, 0.6), row("P=? [ F a ]", "1", "1", 0.25, 0.2, 0.3), failed, row("P=? [ F a ]", "1", "2", 0.75, 0.7, 0.8),
	})
	if err != nil {
		t.Fatal(err)
	}
	if chart.X != "n" || chart.Title != "P=? [ F a ]" || !chart.Probability || len(chart.Series) != 2 {
		t.Errorf("found %+v", chart)
	}
	if first := chart.Series[0]; first.Name != "k=1" || len(first.Points) != 2 || first.Points[0].X != 1 || first.Points[0].Lo != 0.2 || first.Points[0].Hi != 0.3 {
		t.Errorf("found %+v, want the points of k=1 in the order of n", first)
	}
	if !slices.Equal(notes, []string{"results that are true or false, which are not in the plot: 1; a property with =? has a number", "results without a finite number, which are not in the plot: 1"}) {
		t.Errorf("notes %q", notes)
	}
	if !chart.Series[0].Band {
		t.Error("the intervals are no band")
	}
	curve := result.Verdict{Property: "multi(Pmax=? [ F a ], Pmax=? [ F b ])", Value: result.Value{Kind: result.Curve, Points: [][]float64{{0, 1}, {1, 0}}}}
	if chart, _, err = report.VerdictChart([]result.Verdict{curve}); err != nil || len(chart.Series) != 1 || len(chart.Series[0].Points) != 2 {
		t.Errorf("curve: found %+v, %v", chart, err)
	}
	second := curve
	curve.Constants, second.Constants = []result.Constant{{Name: "p", Value: "0.1"}}, []result.Constant{{Name: "p", Value: "0.2"}}
	if chart, _, err := report.VerdictChart([]result.Verdict{curve, second}); err != nil || len(chart.Series) != 2 || chart.Series[1].Name != "p=0.2" {
		t.Errorf("curves of two constants: found %+v, %v", chart, err)
	}
	if chart.X != "Pmax=? [ F a ]" || len(chart.Series[0].Areas) != 2 || !chart.Series[0].Areas[1].Outline {
		t.Errorf("found %+v, want the objectives and both approximations", chart)
	}
	if corners := chart.Series[0].Areas[0].Corners; len(corners) != 5 || !math.IsInf(corners[0][0], -1) || corners[0][1] != 1 || corners[3][0] != 1 || !math.IsInf(corners[3][1], -1) {
		t.Errorf("the achievable region is %v, want what is below the curve", corners)
	}
	if _, _, err := report.VerdictChart([]result.Verdict{{Property: "P=? [ F a ]", Value: result.Value{Kind: result.Number}}}); err == nil || !strings.Contains(err.Error(), "nothing to plot") {
		t.Errorf("found %v, want that there is nothing to plot", err)
	}
	refused := result.Verdict{Property: "multi(Pmax=? [ F a ], Rmin=? [ F b ])", Err: &result.Failure{Class: result.Unsupported, Message: "R of a path formula"}}
	if _, _, err := report.VerdictChart([]result.Verdict{refused}); err == nil || !strings.Contains(err.Error(), "no property has a value") {
		t.Errorf("found %v, want that the property has no value", err)
	}
}
