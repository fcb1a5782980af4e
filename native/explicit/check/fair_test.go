package check_test

import (
	"strings"
	"testing"

	"tilecheck/native/explicit/check"
	"tilecheck/result"
)

// A coin may be thrown, or looked at first, again and again: who is fair throws it.
const lazy = `mdp
module m x:[0..4] init 0;
[] x=0 -> (x'=1);
[] x=1 -> (x'=0);
[] x=1 -> 0.6:(x'=2) + 0.4:(x'=3);
[] x=2 -> (x'=4);
[] x>2 -> true; endmodule
label "a" = x=2; label "b" = x=3;
rewards true : 1; endrewards`

func TestFair(t *testing.T) {
	for _, tt := range []struct{ property, all, fair string }{
		{`Pmin=? [ F "a" ]`, "0", "3/5"},
		{`Pmax=? [ F "a" ]`, "3/5", "3/5"},
		{`Pmin=? [ F "a"|"b" ]`, "0", "1"},
		{`Pmax=? [ G x<2 ]`, "1", "0"},
		{`Pmin=? [ x<2 W "a" ]`, "3/5", "3/5"}, // what never ends satisfies it, too
		{`Pmax=? [ x<2 W "a" ]`, "1", "3/5"},
		{`Pmin=? [ F<=2 "a" ]`, "0", "0"},
		{`Pmin=? [ X x=1 ]`, "1", "1"},
		{`Pmin=? [ !(F "a") ]`, "2/5", "2/5"},
		{`Pmax=? [ !(F "a") ]`, "1", "2/5"},
		{`Pmin=? [ F P>=1 [ F x>2 ] ]`, "0", "1"}, // who is fair comes to an end from everywhere
	} {
		for fair, want := range map[bool]string{false: tt.all, true: tt.fair} {
			v := ask(t, t.Context(), lazy, tt.property, check.Options{Accuracy: result.Exact, Fair: fair})[0]
			if v.Err != nil || v.Value.Rat == nil || v.Value.Rat.RatString() != want {
				t.Errorf("%s, fair %v: found %v, %v, want %s", tt.property, fair, v.Value, v.Err, want)
			}
		}
	}
	for property, why := range map[string]string{
		`Pmin=? [ G F "a" ]`: "(LTL) and fair schedulers", `Rmin=? [ F x>1 ]`: "an R operator and fair", `E [ F "a" ]`: "E or A and fair",
		`Pmin=? [ F>=2 "a" ]`: "without an upper end and fair", `multi(Pmax=? [ F "a" ], P>=0.1 [ F "b" ])`: "multi(...) and fair",
	} {
		if v := ask(t, t.Context(), lazy, property, check.Options{Fair: true})[0]; v.Err == nil || !strings.Contains(v.Err.Message, why) {
			t.Errorf("%s: found %v, want %s", property, v.Err, why)
		}
	}
}
