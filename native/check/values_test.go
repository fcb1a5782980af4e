package check_test

import (
	"testing"

	"tilecheck/native/check"
	"tilecheck/result"
)

// Gambler's ruin by hand: from x of 3 coins, the chance of 3 before 0 is x/3 at even odds.
func TestValuesOfAllStates(t *testing.T) {
	const text = `dtmc
module m
  x : [0..3] init 1;
  [] x>0 & x<3 -> 1/2 : (x'=x-1) + 1/2 : (x'=x+1);
endmodule`
	for _, tt := range []struct {
		prop string
		want func(x int32) float64
	}{
		{"P=? [ F x=3 ]", func(x int32) float64 { return float64(x) / 3 }},
		{"filter(max, P=? [ F x=3 ])", func(x int32) float64 { return float64(x) / 3 }},
		{"P>=0.5 [ F x=3 ]", func(x int32) float64 {
			if x >= 2 {
				return 1
			}
			return 0
		}},
		{"x*2", func(x int32) float64 { return float64(2 * x) }},
	} {
		c, space, list := checkerOf(t, text, tt.prop, check.Options{})
		got, v := c.Values(t.Context(), list[0])
		if v.Err != nil {
			t.Fatalf("%s: %v", tt.prop, v.Err)
		}
		for s := range got.Lo {
			x := space.State(nil, s)[0]
			if want := tt.want(x); got.Lo[s] > want+1e-9 || got.Hi[s] < want-1e-9 || got.Hi[s]-got.Lo[s] > 1e-5 {
				t.Errorf("%s: in x=%d: [%v, %v], want %v", tt.prop, x, got.Lo[s], got.Hi[s], want)
			}
		}
	}
	c, _, list := checkerOf(t, text, "P=? [ F mod(x,x)=0 ]", check.Options{})
	if got, v := c.Values(t.Context(), list[0]); got != nil || v.Err == nil {
		t.Errorf("values of an error: %v, %v", got, v.Err)
	}
}

// TestAccuracyOfRounded: a quotient of exact numbers whose fraction is not computed is between bounds, and not exact.
func TestAccuracyOfRounded(t *testing.T) {
	const chain = "dtmc\nmodule m\n s:[0..2];\n [] s<2 -> (s'=s+1);\n [] s=2 -> true;\nendmodule"
	for property, want := range map[string]result.Accuracy{
		"P=? [ s=0 ]/3":                  result.Bounded,
		"filter(avg, P=? [ s=1 ], true)": result.Bounded,
		"filter(avg, P=? [ s=1 ], s<2)":  result.Exact, // 1/2 is a float64 number
		"P=? [ s=0 ]":                    result.Exact,
	} {
		if v, err := stormOrError(t, chain, result.Bounded, property); err != nil || v.Err != nil || v.Accuracy != want {
			t.Errorf("%s: found %v in %v, %v, %v, %v, want %v", property, v.Value, v.Bound, v.Accuracy, err, v.Err, want)
		}
	}
}
