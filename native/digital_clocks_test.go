package native_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// answers checks the properties of a model, one a line.
func answers(t *testing.T, model, props string, accuracy result.Accuracy) []result.Verdict {
	t.Helper()
	vs, err := runner.Check(t.Context(), native.New(), runner.Job{
		File: "m.prism", Model: []byte(model), PropsFile: "p.props", Properties: []byte(props), Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

// Try to switch within 1 to 4 seconds, which works with 0.7; then it must hold for 1 to
// 2 seconds, which it does with 0.9.
const switching = `pta
const int SECOND;
module sw
  l : [0..2] init 0;
  x : clock;
  invariant (l=0 => x<=4*SECOND) & (l=1 => x<=2*SECOND) endinvariant
  [] l=0 & x>=SECOND -> 0.7:(l'=1)&(x'=0) + 0.3:(l'=0)&(x'=0);
  [] l=1 & x>=SECOND -> 0.9:(l'=2) + 0.1:(l'=0)&(x'=0);
endmodule
label "on" = l=2;
rewards "time" true : 1; endrewards
rewards "tries" [] l=0 : 1; endrewards
`

// TestDigital: values are those of PRISM 4.10 (reference, more-kinds, switch.prism), as
// fractions where a calculation by hand has them: two tries of one second each and one
// second of holding fit into 3, a time that is on average 170/63 is needed at least.
// Another unit of time changes times only, and not the number of states.
func TestDigital(t *testing.T) {
	var states [2]int64
	for i, second := range []int{1, 1000} {
		model := strings.Replace(switching, "const int SECOND;", fmt.Sprintf("const int SECOND = %d;", second), 1)
		at := func(n int) int { return n * second }
		for _, tt := range []struct {
			property, want string
			near           float64 // of PRISM
		}{
			{`Pmax=? [ F "on" ]`, "1", 1},
			{fmt.Sprintf(`Pmin=? [ F<=%d "on" ]`, at(6)), "63/100", 0.63},
			{fmt.Sprintf(`Pmax=? [ F<=%d "on" ]`, at(6)), "983367/1000000", 0.983367},
			{fmt.Sprintf(`Pmax=? [ F<=%d "on" ]`, at(2)), "63/100", 0.63},
			{fmt.Sprintf(`Pmax=? [ F<=%d "on" ]`, at(3)), "819/1000", 0.819},
			{fmt.Sprintf(`Pmax=? [ l=0 U<=%d l=1 ]`, at(2)), "91/100", 0.91},
			{fmt.Sprintf(`P>=0.62 [ F<=%d "on" ]`, at(6)), "true", 0},
			{`R{"time"}min=? [ F "on" ]`, fmt.Sprint(170*second, "/63"), 2.698412 * float64(second)},
			{`R{"time"}max=? [ F "on" ]`, fmt.Sprint(540*second, "/63"), 8.571394 * float64(second)},
			{`R{"tries"}max=? [ F "on" ]`, "100/63", 1.587301},
		} {
			for _, accuracy := range []result.Accuracy{result.Exact, result.Unknown} {
				v := answers(t, model, tt.property, accuracy)[0]
				switch {
				case v.Err != nil:
					t.Errorf("%s: %v", tt.property, v.Err)
				case v.Value.Kind == result.Boolean:
					if fmt.Sprint(v.Value.Bool) != tt.want {
						t.Errorf("%s: %v, want %s", tt.property, v.Value.Bool, tt.want)
					}
				case math.Abs(v.Value.Num-tt.near) > 1e-5*tt.near:
					t.Errorf("%s: %v, PRISM has %v", tt.property, v.Value.Num, tt.near)
				case accuracy == result.Exact && v.Value.Rat.RatString() != lowest(t, tt.want):
					t.Errorf("%s: %s, want %s", tt.property, v.Value.Rat.RatString(), tt.want)
				}
				if strings.HasPrefix(tt.property, "R{\"time\"}min") {
					states[i] = v.States
				}
			}
		}
	}
	if states[0] != 11 || states[1] != 11 { // PRISM has 13: it counts the time after the switch is on
		t.Errorf("found %d states, want 11 each", states)
	}
}

// TestClockLimits: a clock counts up to what it is compared with in a location or later, so the number of states is not the product of
// the greatest values of both clocks.
func TestClockLimits(t *testing.T) {
	const model = `pta
const int N = 50;
module short
  a : [0..2]; n : [0..3]; x : clock;
  invariant (a=0 => x<=2) & (a=1 => x<=N) endinvariant
  [] a=0 & x>=1 -> 0.9:(x'=0)&(n'=min(n+1,3)) + 0.1:(a'=1)&(x'=0);
  [] a=1 & x>=N -> (a'=2);
endmodule
module long
  b : [0..3]; y : clock;
  invariant (b=0 => y<=N) & (b=1 => y<=1) endinvariant
  [] b=0 & y>=N -> (b'=1)&(y'=0);
  [] b=1 -> 0.5:(b'=2) + 0.5:(b'=3);
endmodule
`
	for property, want := range map[string]string{"Pmax=? [ F b=2 ]": "1/2", "Pmin=? [ F n=3 ]": "729/1000", "Pmax=? [ F n=3 & b=2 ]": "729/2000"} {
		verdict := answers(t, model, property, result.Exact)[0]
		if verdict.Err != nil || verdict.States > 3000 {
			t.Errorf("%s: %v with %d states, want at most 3000", property, verdict.Err, verdict.States)
			continue
		}
		if got := verdict.Value.Rat.RatString(); got != want {
			t.Errorf("%s: %s, want %s", property, got, want)
		}
	}
}

// lowest is a fraction in lowest terms.
func lowest(t *testing.T, text string) string {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no fraction", text)
	}
	return r.RatString()
}

// TestTimedRefused checks that features of timed automata that are not supported are refused at their positions.
func TestTimedRefused(t *testing.T) {
	const model = `pta
module m
  l : [0..1]; n : [0..3]; x : clock; y : clock;
  invariant l=0 => x<=3 endinvariant
  [] x>=1 -> (l'=1)&(n'=min(n+1,3))&(x'=0);
  [] true -> (y'=0);
endmodule
rewards "r" true : 1; endrewards
`
	for _, tt := range []struct {
		edit, with, property string
		clocks               runner.ClockMethod
		want                 string
	}{
		{"", "", "Pmax=? [ F x<2 ]", runner.DigitalClocks, "p.props:1:12: found a strict clock constraint"},
		{"", "", "Pmax=? [ F !(x>=2) ]", runner.DigitalClocks, "p.props:1:14: found a strict clock constraint"},
		{"", "", "Pmax=? [ G x>=2 ]", runner.DigitalClocks, "p.props:1:12: found a strict clock constraint"},
		{"", "", "Pmax=? [ F x<=y ]", runner.DigitalClocks, "p.props:1:12: found a diagonal clock constraint"},
		{"", "", "Pmax=? [ F<2 l=1 ]", runner.DigitalClocks, "p.props:1:11: found a strict time bound"},
		{"x>=1 ->", "x>1 ->", "Pmax=? [ F l=1 ]", runner.DigitalClocks, "m.prism:5:6: found a strict clock constraint"},
		{"x>=1 ->", "x>=y ->", "Pmax=? [ F l=1 ]", runner.DigitalClocks, "m.prism:5:6: found a diagonal clock constraint"},
		{"x>=1 ->", "x>1 ->", `R{"r"}max=? [ F l=1 ]`, "", "m.prism:5:6: found a strict clock constraint"},
		{"", "", `R{"r"}max=? [ F x<y ]`, "", "p.props:1:17: found a diagonal clock constraint"},
		{"", "", `R{"r"}max=? [ F l=1 ]`, runner.ClockRegions, "p.props:1:1: found an R operator, want P operators for regions of clocks"},
		{"", "", "Pmax=? [ x<=2 U l=1 ]", "", `p.props:1:10: found the clock "x" in the left side of U`},
		{"", "", "Pmax=? [ F P>0 [ F l=1 ] ]", "", "p.props:1:12: found nested operators"},
		{"", "", "Pmax=? [ F>=2 l=1 ]", "", "p.props:1:11: found a lower time bound"},
		{"", "", "Pmax=? [ F<0 l=1 ]", "", "p.props:1:11: Negative bound"},
		{"", "", "Pmax=? [ F G l=1 ]", "", "p.props:1:12: found nested operators"},
		{"", "", "Pmax=? [ X l=1 ]", "", "p.props:1:10: found the temporal operator X, which is not supported for timed automata"},
		{"", "", `R{"r"}max=? [ C<=3 ]`, "", "p.props:1:15: found the reward objective C, want R of F"},
		{"", "", "filter(max, Pmax=? [ F<=2 l=1 ], l=0)", "", "p.props:1:1: found a filter of a time bound, which is not supported for timed automata"},
		{"", "", "filter(count, x>1)", "", "p.props:1:1: found a filter that counts or lists states, want min, max, range, forall or exists for regions of clocks"},
		{"", "", "S=? [ l=1 ]", "", "p.props:1:1: found an S operator, which is not supported for timed automata, want P, R, E, A or a filter"},
		{"x<=3", "x<=3000000000-2000000000", "Pmax=? [ F l=1 ]", "", "m.prism:"},
		{"[] x>=1", "[] l=0 & x>=4", "Pmax=? [ F l=1 ]", "", "m.prism: Timelock in PTA, e.g. in state (l=0,n=0,x=3,"},
		{"[] x>=1", "[] l=0 & x>3", "Pmax=? [ F l=1 ]", "", "m.prism: Timelock in PTA, e.g. in state (l=0,n=0,x=3,y=3)"},
		{"x<=3 endinvariant\n  [] x>=1", "x<3 endinvariant\n  [] l=0 & x>=4", "Pmax=? [ F l=1 ]", "", "m.prism: Timelock in PTA, e.g. in state (l=0,n=0,x<3,y<3)"},
	} {
		text := strings.Replace(model, tt.edit, tt.with, 1)
		if strings.Contains(tt.want, "Timelock") {
			text = strings.Replace(text, "  [] true -> (y'=0);\n", "", 1)
		}
		vs, err := runner.Check(t.Context(), native.New(), runner.Job{
			File: "m.prism", Model: []byte(text), PropsFile: "p.props", Properties: []byte(tt.property),
			Settings: runner.Settings{Numeric: runner.Numeric{Clocks: tt.clocks}},
		})
		got := fmt.Sprint(err)
		if err == nil && vs[0].Err != nil {
			got = vs[0].Err.Error()
		} else if err == nil {
			got = fmt.Sprint(vs[0].Value)
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s\nwant %s", tt.property, got, tt.want)
		}
	}
}

// TestTimedQuantifiersAndFilters checks E, A and filters over all states. The values follow from a calculation by hand.
func TestTimedQuantifiersAndFilters(t *testing.T) {
	text := strings.Replace(switching, "const int SECOND;", "const int SECOND = 1;", 1)
	for property, want := range map[string]string{
		`E [ F "on" ]`:         "true",
		`A [ F "on" ]`:         "false", // the tries may all fail
		`A [ F<=4 x>=1 ]`:      "true",
		`A [ F<=3 l=1 ]`:       "false", // the first try may be at 4
		`E [ F<=2 "on" ]`:      "true",
		`E [ F<=1 "on" ]`:      "false",
		`A [ G (l=1 => x<2) ]`: "false",
		`filter(max, Pmax=? [ !(l=0) U "on" ], l=1)`:         "9/10",
		`filter(min, Pmin=? [ l=0 U l=1 ], l=0 & x>=4)`:      "1",
		`filter(forall, P>=0.63 [ F "on" ], true)`:           "true",
		`filter(exists, P<=0.5 [ l=1 U "on" ], l=0)`:         "true",
		`filter(max, R{"time"}max=? [ F "on" ], l=1 & x>=2)`: "6/7",
		`filter(count, l=1)`:                                 "3",
	} {
		for _, clocks := range []runner.ClockMethod{runner.DigitalClocks, runner.ClockRegions} {
			if clocks == runner.ClockRegions && (strings.Contains(property, "R{") || strings.Contains(property, "count")) {
				continue
			}
			if got := clockAnswer(checkClocks(t, text, []string{property}, clocks)[0]); got != want {
				t.Errorf("%s with %s: %s, want %s", property, clocks, got, want)
			}
		}
	}
}

// TestDigitalEntered: a reachable state that violates an invariant causes a warning.
func TestDigitalEntered(t *testing.T) {
	const model = `pta
module m
  l : [0..2]; x : clock;
  invariant l=1 => x<=1 endinvariant
  [] l=0 & x>=2 -> (l'=1);
  [] l=1 -> (l'=2)&(x'=0);
endmodule
`
	v := answers(t, model, "Pmax=? [ F l=2 ]", result.Unknown)[0]
	if v.Err != nil || v.Value.Num != 1 || !strings.Contains(strings.Join(v.Warnings, " "), "state (l=1,x=2) is reachable but violates an invariant") {
		t.Errorf("%v %v %q", v.Value, v.Err, v.Warnings)
	}
}
