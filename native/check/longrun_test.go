package check_test

import (
	"strings"
	"testing"

	"tilecheck/result"
)

// A machine earns 3 a step until it is worn, after ten steps on average. Then it earns 1 if it
// runs on, or nothing for two steps of repair. New, it can be sold for what earns 6 every second
// step, or nothing.
const machine = `mdp
module m s:[0..5];
  [work] s=0 -> 0.9:(s'=0) + 0.1:(s'=1);
  [sell] s=0 -> 0.5:(s'=3) + 0.5:(s'=4);
  [run] s=1 -> true;
  [repair] s=1 -> (s'=2);
  [] s=2 -> (s'=0);
  [] s=3 -> (s'=5);
  [] s=5 -> (s'=3);
endmodule
rewards "r" [work] true : 3; [run] true : 1; s=5 : 6; endrewards
rewards "sold" [sell] true : 1; endrewards`

// TestLongRunOfMDP has values by hand: 30 earned in 12 steps, and so on. State 4 is a deadlock.
func TestLongRunOfMDP(t *testing.T) {
	tests := []struct{ property, value string }{
		{`R{"r"}max=? [ S ]`, "5/2"},
		{`R{"r"}min=? [ LRA ]`, "1"},
		{`R{"sold"}max=? [ S ]`, "0"}, // once
		{`LRAmax=? [ s=0 ]`, "5/6"},
		{`Smin=? [ s=0 ]`, "0"},
		{`Smax=? [ s>0 ]`, "1"},
		{`LRAmin=? [ s>0 ]`, "1/6"},
		{`Smax=? [ s=5 ]`, "1/4"},
		{`filter(sum, Smax=? [ s=5 ])`, "7/4"},
		{`filter(max, R{"r"}min=? [ S ])`, "3"},
		{`Pmax=? [ F LRA<0.2 [ s=0 ] ]`, "1"},
		{`Pmin=? [ F LRA<0.2 [ s=0 ] ]`, "0"},
		{`Smin=? [ P>=1 [ X s>0 ] ]`, "1/12"}, // in 1, and where it is sold
		{`Smax=? [ s=1 & P<1 [ F s=5 ] ]`, "1"},
	}
	for _, tt := range tests {
		if v := storm(t, machine, result.Exact, tt.property)[0]; v.Err != nil || v.Value.Rat == nil || v.Value.Rat.RatString() != tt.value {
			t.Errorf("%s: found %v, %v, want %s", tt.property, v.Value, v.Err, tt.value)
		}
		if v := storm(t, machine, result.Bounded, tt.property)[0]; v.Err != nil || v.Bound == nil || !contains(v.Bound, tt.value) {
			t.Errorf("%s: found %v, %v, want %s", tt.property, v.Bound, v.Err, tt.value)
		}
	}
	for property, want := range map[string]bool{
		`S>=1/6 [ s>0 ]`: true, `S>1/6 [ s>0 ]`: false, `S<=5/6 [ s=0 ]`: true, `S<5/6 [ s=0 ]`: false,
		`R{"r"}<=2.5 [ S ]`: true, `R{"r"}<2.5 [ S ]`: false, `<<*>> R{"r"}>=2.5 [ S ]`: true, `<<*>> R{"r"}>2.5 [ S ]`: false,
	} {
		for _, accuracy := range []result.Accuracy{result.Exact, result.Bounded} {
			if v := storm(t, machine, accuracy, property)[0]; v.Err != nil || v.Value.Kind != result.Boolean || v.Value.Bool != want {
				t.Errorf("%s: found %v, %v, want %v", property, v.Value, v.Err, want)
			}
		}
	}
	if v := storm(t, strings.Replace(machine, "mdp", "", 1), result.Bounded, `LRA=? [ s=0 ]`)[0]; v.Err == nil || !strings.Contains(v.Err.Message, "Smin=? or Smax=? (--dialect storm)") {
		t.Errorf("S=?: found %v", v.Err)
	}
}

// TestAlmostOne has weights whose doubles are 1, and which are not: what is added to a model,
// such as a way to stay for ever, has the weight 1.
func TestAlmostOne(t *testing.T) {
	const slow = `mdp
module m s:[0..2];
  [] s=0 -> 1e-17:(s'=1) + 1-1e-17:(s'=0);
  [] s=1 -> true;
  [] s=0 -> (s'=2);
  [] s=2 -> 1e-17:(s'=2) + 1-1e-17:(s'=1);
endmodule
rewards "r" s=0 : 3; s=1 : 4; endrewards
rewards "k" s=0 : 1; endrewards`
	for property, want := range map[string]string{
		`R{"r"}max=? [ S ]`: "4", `R{"r"}min=? [ S ]`: "4", `Smin=? [ s=1 ]`: "1",
		`Pmin=? [ F G s=1 ]`: "1", `Pmax=? [ (G F s=1) & (F s=1) ]`: "1", `Pmin=? [ X X X G s=1 ]`: "199999999999999999/10000000000000000000000000000000000",
		`Pmax=? [ F{"k"}>=2 s=1 ]`:                  "99999999999999999/100000000000000000",
		`multi(Pmax=? [ F s=1 ], P>=0.5 [ F s=1 ])`: "1", `multi(R{"k"}min=? [ C ], P>=1 [ F s=1 ])`: "1",
	} {
		if v := storm(t, slow, result.Exact, property)[0]; v.Err != nil || v.Value.Rat == nil || v.Value.Rat.RatString() != want {
			t.Errorf("%s: found %v (%v), %v, want %s", property, v.Value, v.Value.Rat, v.Err, want)
		}
	}
}
