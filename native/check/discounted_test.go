package check_test

import (
	"strings"
	"testing"
)

func TestDiscounted(t *testing.T) {
	const model = `mdp
const double d = 0.5;
module m
  s : [0..2];
  [stay] s=0 -> true;
  [go] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> true;
endmodule
rewards "r" [stay] true : 1; s=1 : 4; endrewards
rewards "none" endrewards`
	for property, want := range map[string]string{
		`R{"r"}max=? [ Cdiscount=0.5 ]`:                         "2",
		`R{"r"}max=? [ Cdiscount=9/10 ]`:                        "18", // 0.9 times half of 40
		`R{"r"}min=? [ Cdiscount=d ]`:                           "2",
		`R{"r"}min=? [ Cdiscount=0.25 ]`:                        "2/3", // 0.25 times half of 16/3
		`R{"r"}max=? [ C<=2 discount=0.5 ]`:                     "3/2",
		`R{"r"}min=? [ C<=2 discount=0.5 ]`:                     "1",
		`R{"r"}max=? [ C<=0 discount=0.5 ]`:                     "0",
		`R{"none"}max=? [ Cdiscount=0.5 ]`:                      "0",
		`R{"r"}>=2 [ Cdiscount=0.5 ]`:                           "true",
		`R{"r"}max>2 [ Cdiscount=0.5 ]`:                         "false",
		`filter(max, R{"r"}max=? [ Cdiscount=0.9 ])`:            "40",
		`2*R{"r"}max=? [ Cdiscount=0.5 ] - 1`:                   "3",
		`P>0.5 [ X s=0 ] & R{"r"}<2 [ Cdiscount=0.5 ]`:          "false",
		`Pmax=? [ F R{"r"}>=8 [ Cdiscount=0.5 ] ]`:              "1/2",
		`filter(min, R{"r"}max=? [ Cdiscount=0.9 ], s=1 | s=2)`: "0",
		`R{"r"}max=? [ Cdiscount=1 ]`:                           "?discount factor 1, want a number above 0 and below 1",
		`R{"r"}max=? [ Cdiscount=0 ]`:                           "?discount factor 0, want",
		`R{"r"}max=? [ Cdiscount=-0.5 ]`:                        "?discount factor -1/2, want",
		`R{"r"}max=? [ Cdiscount=s ]`:                           "?discount factor in C operator is not constant",
		`R{"r"}max=? [ Cdiscount=true ]`:                        "?discount factor in C operator must be an int or double",
		`R{"r"}=? [ Cdiscount=0.5 ]`:                            "?want Rmin=? or Rmax=?",
		`multi(R{"r"}max=? [ Cdiscount=0.5 ])`:                  "?the reward objective C with a discount factor in multi(...)",
		`R{"r"}max=? [ Cdiscount=0.5 || F s=1 ]`:                "?with a condition (||) in an MDP, want F",
	} {
		checkStorm(t, model, property, want)
	}
	checkStorm(t, strings.Replace(model, "mdp", "ctmc", 1), `R=? [ Cdiscount=0.5 ]`, "?the reward objective C with a discount factor for a CTMC, want a DTMC or an MDP")
	checkStorm(t, strings.Replace(model, "mdp", "dtmc", 1), `R=? [ Cdiscount=0.5 ]`, "2") // v = 1/2 + (v/2 + 8/4)/2
}
