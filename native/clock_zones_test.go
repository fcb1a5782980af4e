package native_test

import (
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/runner"
)

// TestClockZonesLargeNumbers: zones do not grow with the numbers that clocks are compared with. The answers are those of TestClockRegions.
func TestClockZonesLargeNumbers(t *testing.T) {
	million := strings.NewReplacer("x<2", "x<2000003", "x>1", "x>1000002", "y<3", "y<3000000", "y>=3", "y>=3000000").Replace(sending)
	for property, want := range map[string]string{
		`Pmax=? [ F "arrived" ]`:                          "1",
		`Pmax=? [ F<=2000004 "arrived" ]`:                 "4/5",   // the second message is sent after 2000004
		`Pmax=? [ F<2000005 "arrived" ]`:                  "24/25", // and may be sent immediately after it
		`Pmin=? [ F<=4000005 "arrived" ]`:                 "4/5",   // it is sent before 4000006,
		`Pmin=? [ F<4000006 "arrived" ]`:                  "24/25", // but perhaps not before 4000005
		`P>=0.96 [ F<4000006 "arrived" ]`:                 "true",
		`Pmin=? [ G<=1000002 l=0 ]`:                       "1",
		`Pmax=? [ F l=1 & y>1999999 & y<2000003 & x<=0 ]`: "1",
	} {
		verdict := checkClocks(t, million, []string{property}, "")[0]
		if got := clockAnswer(verdict); got != want || verdict.States > 100 {
			t.Errorf("%s: %s with %d states, want %s with at most 100", property, got, verdict.States, want)
		}
	}
}

// TestClockZonesChosen: zones are chosen for closed constraints if there are too many states of digital clocks.
func TestClockZonesChosen(t *testing.T) {
	const model = `pta
module a
  l : [0..2]; x : clock;
  invariant (l=0 => x<=4001) & (l=1 => x<=3) endinvariant
  [] l=0 & x>=1 -> 0.5:(l'=1)&(x'=0) + 0.5:(l'=0)&(x'=0);
  [] l=1 -> (l'=2);
endmodule
module b
  k : [0..1]; y : clock;
  invariant (k=0 => y<=997) endinvariant
  [] k=0 & y>=5 -> 0.9:(y'=0) + 0.1:(k'=1);
endmodule
`
	verdict := checkClocks(t, model, []string{"Pmax=? [ F<=7 l=2 & k=1 ]"}, "")[0]
	if got := clockAnswer(verdict); got != "127/1280" || verdict.States > 1000 { // six attempts of a, and one of b
		t.Errorf("%s with %d states, want 127/1280 with at most 1000", got, verdict.States)
	}
}

// TestClockZonesRefused checks what is refused with zones, and the messages about states.
func TestClockZonesRefused(t *testing.T) {
	const model = `pta
module m
  l : [0..2]; x : clock; y : clock;
  invariant l=0 => x<=3 endinvariant
  [] l=0 & x>=1 -> 0.5:(l'=1)&(x'=0) + 0.5:(l'=0);
endmodule
rewards "r" true : 1; endrewards
`
	for _, tt := range []struct{ edit, with, property, want string }{
		{"", "", `R{"r"}max=? [ F l=1 ]`, "p.props:1:1: found an R operator, want one P operator for zones of clocks"},
		{"", "", "Pmax=? [ F l=1 ] + 1", "p.props:1:1: found an expression of type double, want one P operator for zones of clocks"},
		{"", "", "Pmax=? [ x<2 U l=1 ]", `p.props:1:10: found the clock "x" in the left side of U`},
		{"x<=3", "(x<=3 | y<=2)", "Pmax=? [ F l=1 ]", "m.prism:4:13: found an invariant that is not convex in (l=0), want convex ones for zones of clocks"},
		{"x>=1", "x>3", "Pmax=? [ F l=1 ]", "m.prism: Timelock in PTA, e.g. in state (l=0,x=3,y=3): time cannot pass, and no command is enabled"},
		{"0.5:(l'=1)", "0.6:(l'=1)", "Pmax=? [ F l=1 ]", "m.prism:5:3: probabilities sum to 1.1, not to 1 in state (l=0)"},
		{"(l'=1)", "(l'=l+3)", "Pmax=? [ F l=1 ]", "m.prism:5:24: l'=3 leaves [0..2] in state (l=0)"},
	} {
		verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
			File: "m.prism", Model: []byte(strings.Replace(model, tt.edit, tt.with, 1)), PropsFile: "p.props", Properties: []byte(tt.property),
			Settings: runner.Settings{Numeric: runner.Numeric{Clocks: runner.ClockZones}},
		})
		got := "no error"
		if err != nil {
			got = err.Error()
		} else if verdicts[0].Err != nil {
			got = verdicts[0].Err.Error()
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s\nwant %s", tt.property, got, tt.want)
		}
	}
	entered := strings.Replace(model, "l=0 => x<=3", "(l=0 => x<=3) & (l=1 => y<=0)", 1)
	entered = strings.Replace(entered, "endmodule", "  [] l=1 -> (l'=2);\nendmodule", 1)
	verdict := checkClocks(t, entered, []string{"Pmax=? [ F l=2 ]"}, runner.ClockZones)[0]
	if verdict.Err != nil || verdict.Value.Rat.RatString() != "1" || !strings.Contains(strings.Join(verdict.Warnings, " "), "state (l=1,x=0,y>0) is reachable but violates an invariant") {
		t.Errorf("%v %v %q", verdict.Value, verdict.Err, verdict.Warnings)
	}
}
