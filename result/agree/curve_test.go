package agree_test

import (
	"testing"

	"tilecheck/result"
	"tilecheck/result/agree"
)

// TestCurves: curves agree if they are the same lines, however many corners an engine
// tells of them.
func TestCurves(t *testing.T) {
	curve := func(points ...[]float64) *result.Verdict {
		return &result.Verdict{Value: result.Value{Kind: result.Curve, Points: points}}
	}
	known := curve([]float64{0, 0.8}, []float64{0.5, 0.5}, []float64{1, 0})
	q := agree.Ask("multi(Pmax=? [ F a ], Pmax=? [ F b ])", nil)
	for _, tt := range []struct {
		name  string
		other *result.Verdict
		want  agree.Relation
	}{
		{"itself", known, agree.Same},
		{"near", curve([]float64{0, 0.8}, []float64{0.500001, 0.5}, []float64{0.999999, 0}), agree.Same},
		{"a point of a line", curve([]float64{0, 0.8}, []float64{0.25, 0.65}, []float64{0.5, 0.5}, []float64{1, 0}), agree.Same},
		{"a corner less", curve([]float64{0, 0.8}, []float64{1, 0}), agree.Different},
		{"another end", curve([]float64{0, 0.8}, []float64{0.5, 0.5}, []float64{0.9, 0.1}), agree.Different},
		{"beyond a line", curve([]float64{0, 0.8}, []float64{0.5, 0.6}, []float64{1, 0}), agree.Different},
		{"one objective more", curve([]float64{0, 0.8, 1}), agree.Different},
		{"a number", &result.Verdict{Value: result.Value{Kind: result.Number, Num: 0.8}}, agree.Different},
	} {
		for _, pair := range [][2]*result.Verdict{{known, tt.other}, {tt.other, known}} {
			if got := agree.Verdicts("a", pair[0], "b", pair[1], q, agree.Options{}); got.Relation != tt.want {
				t.Errorf("%s: %s (%s), want %s", tt.name, got.Relation, got.Reason, tt.want)
			}
		}
	}
}
