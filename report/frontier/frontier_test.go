package frontier_test

import (
	"math"
	"reflect"
	"testing"

	"tilecheck/report/frontier"
	"tilecheck/result"
)

// The over-approximation lies beyond the curve in the direction that is better for each objective, and is rounded outwards.
func TestOf(t *testing.T) {
	v := &result.Verdict{
		Property: `multi(Pmax=? [ F a ], R{"r"}min=? [ C ], P>=0.5 [ F b ])`,
		Value:    result.Value{Kind: result.Curve, Num: 0.125, Points: [][]float64{{0.25, 1}, {0.5, 2}}},
	}
	f := frontier.FromVerdict(v)
	if f == nil || f.Objectives != [2]string{"Pmax=? [ F a ]", `R{"r"}min=? [ C ]`} || f.Directions != [2]string{"max", "min"} || len(f.Under) != 2 {
		t.Fatalf("found %+v", f)
	}
	if over := f.Over[1]; !(over[0] > 0.625) || over[0] > 0.6251 || !(over[1] < 1.875) || over[1] < 1.8749 {
		t.Errorf("found %v, want the point (0.5, 2) moved by a little more than 0.125 to a greater and to a smaller number", over)
	}
	v.Value.Num = 0
	if f := frontier.FromVerdict(v); !reflect.DeepEqual(f.Over, f.Under) {
		t.Errorf("the exact curve %v is beyond %v", f.Over, f.Under)
	}
	v.Value.Num = math.NaN()
	if f := frontier.FromVerdict(v); f == nil || f.Over != nil {
		t.Errorf("found %+v, want no over-approximation where nothing is known of one", f)
	}
	v.Property = "multi(Pmax=? [ F a ], Pmax=? [ F b ], Pmax=? [ F c ])"
	if f := frontier.FromVerdict(v); f != nil {
		t.Errorf("found %+v for three objectives", f)
	}
}
