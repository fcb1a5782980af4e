package check_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// storm checks properties in Storm's dialect, which runner adds what T stands for to.
func storm(t *testing.T, model string, accuracy result.Accuracy, props ...string) []result.Verdict {
	t.Helper()
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: props, Dialect: syntax.Storm, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy}}}
	vs, err := runner.Check(t.Context(), native.New(), job)
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

// A coin is thrown until heads; a throw costs 0.3 and takes a step, and tails 0.2 more.
const throws = `mdp
module m s:[0..2] init 0; one:[1..1];
  [throw] s=0 -> 1/2:(s'=1) + 1/2:(s'=2);
  [tails] s=2 -> (s'=0);
  [give] s=2 -> (s'=2);
  [] s=1 -> true;
endmodule
label "heads" = s=1;
rewards "money" [throw] true : 0.3; s=2 : 0.2; endrewards
rewards [tails] true : 1; endrewards`

func TestCosts(t *testing.T) {
	tests := []struct{ property, value string }{
		{`Pmax=? [ F^{rew{"money"}<=0.3} "heads" ]`, "1/2"},
		{`Pmax=? [ F^{rew{"money"}<0.3} "heads" ]`, "0"},
		{`Pmax=? [ F^{rew{"money"}<=0.79} "heads" ]`, "1/2"}, // two throws and one tails cost 0.8
		{`Pmax=? [ F^{rew{"money"}<=0.8} "heads" ]`, "3/4"},
		{`Pmax=? [ F{"money"}<=1.3 "heads" ]`, "7/8"},
		{`Pmax=? [ F^{rew{"money"}<=1.3, steps<=4} "heads" ]`, "3/4"},
		{`Pmax=? [ F^{rew{"money"}<=0.8, steps<=4} "heads" ]`, "3/4"},
		{`Pmax=? [ F^{rew{"money"}>=0.8} "heads" ]`, "1/2"}, // the first throw is tails
		{`Pmax=? [ F^{rew{"money"}[0.5,0.8]} "heads" ]`, "1/4"},
		{`Pmin=? [ F^{rew{"money"}<=100} "heads" ]`, "1/2"}, // gives up
		{`Pmax=? [ s!=2 U^{rew{"money"}<=100} "heads" ]`, "1/2"},
		{`Pmax=? [ F^{rew<=0.3} "heads" ]`, "1/2"}, // the first structure
		{`Pmax=? [ F^{time<=3} "heads" ]`, "3/4"},
		{`Pmax=? [ F^{rew{"money"}<=0} s=0 ]`, "1"},
		{`R{"money"}max=? [ C{"money"}<=0.79 ]`, "1/2"}, // a throw, and after tails 0.2 twice
		{`R{"money"}min=? [ C{"money"}<=0.3 ]`, "3/10"},
		{`Tmin=? [ F "heads" ]`, "3"}, // 1 and, if tails, 1 and again
		{`Tmax=? [ F s!=0 ]`, "1"},
	}
	for _, tt := range tests {
		if v := storm(t, throws, result.Exact, tt.property)[0]; v.Err != nil || v.Value.Rat == nil || v.Value.Rat.RatString() != tt.value {
			t.Errorf("%s: found %v, %v, want %s", tt.property, v.Value, v.Err, tt.value)
		}
		if v := storm(t, throws, result.Bounded, tt.property)[0]; v.Err != nil || v.Bound == nil || !contains(v.Bound, tt.value) {
			t.Errorf("%s: found %v, %v, want %s", tt.property, v.Bound, v.Err, tt.value)
		}
	}
	for property, why := range map[string]string{
		`Pmax=? [ F^{rew{"money"}<=1e30} "heads" ]`:       "times the greatest common divisor",
		`Pmax=? [ F^{rew{"money"}[0.5,0.2]} "heads" ]`:    "no cost satisfies both bounds",
		`Pmax=? [ (F^{rew{"money"}<=1} s=1) & (F s=2) ]`:  "found a formula with reward bounds",
		`E [ F^{rew{"money"}<=1} s=1 ]`:                   "",
		`R{"money"}max=? [ F^{rew{"money"}<=1} s=1 ]`:     "",
		`Pmax=? [ F^{rew{"money"}<=1} P>0.5 [ X s=1 ] ]`:  "-",
		`Pmax=? [ F^{rew{"money"}<=1} (F^{rew<=1} s=2) ]`: "",
	} {
		v := storm(t, throws, result.Bounded, property)[0]
		if (v.Err == nil) != (why == "-") || v.Err != nil && !strings.Contains(v.Err.Message, why) {
			t.Errorf("%s: found %v, want %q", property, v.Err, why)
		}
	}
	chain := strings.Replace(strings.Replace(throws, "mdp", "ctmc", 1), "[give] s=2 -> (s'=2);", "", 1)
	if v := storm(t, chain, result.Bounded, `P=? [ F^{rew{"money"}<=1} s=1 ]`)[0]; v.Err == nil || !strings.Contains(v.Err.Message, "CTMC") {
		t.Errorf("CTMC: %v", v.Err)
	}
	if v := storm(t, chain, result.Exact, `T=? [ F s=1 ]`)[0]; v.Err != nil || v.Value.Rat.RatString() != "3" {
		t.Errorf("expected time of a CTMC: %v, %v", v.Value, v.Err) // rate 1 from each state
	}
}

// contains reports whether bounds are narrow and contain a fraction.
func contains(b *result.Interval, fraction string) bool {
	want, _ := new(big.Rat).SetString(fraction)
	f, _ := want.Float64()
	return b.Lo <= f && f <= b.Hi && b.Hi-b.Lo <= 1e-8*b.Hi
}

// TestCostsAreCounted compares with a model that counts what it has spent in a variable.
func TestCostsAreCounted(t *testing.T) {
	for seed := range needs.Models(t, 25) {
		rng := rand.New(rand.NewPCG(seed, 5))
		kind, query := "dtmc", "P=?"
		if rng.IntN(2) == 0 {
			kind, query = "mdp", []string{"Pmin=?", "Pmax=?"}[rng.IntN(2)]
		}
		n, bound := 3+rng.IntN(3), rng.IntN(9)
		var plain, counting strings.Builder
		fmt.Fprintf(&plain, "%s\nmodule m s:[0..%d] init 0;\n", kind, n)
		fmt.Fprintf(&counting, "%s\nmodule m s:[0..%d] init 0; c:[0..10] init 0;\n", kind, n)
		rewards := "rewards \"r\"\n"
		for s := range n + 1 {
			inState := rng.IntN(3)
			rewards += fmt.Sprintf("  s=%d : %d/7;\n", s, inState)
			choices := 1
			if kind == "mdp" {
				choices += rng.IntN(2)
			}
			for c := range choices {
				act, by := fmt.Sprintf("a%d", c), rng.IntN(3)
				rewards += fmt.Sprintf("  [%s] s=%d : %d/7;\n", act, s, by)
				x, y := rng.IntN(n+1), rng.IntN(n+1)
				fmt.Fprintf(&plain, "  [%s] s=%d -> 1/3:(s'=%d) + 2/3:(s'=%d);\n", act, s, x, y)
				add := fmt.Sprintf("(c'=min(10,c+%d))", inState+by)
				fmt.Fprintf(&counting, "  [%s] s=%d -> 1/3:(s'=%d)&%s + 2/3:(s'=%d)&%s;\n", act, s, x, add, y, add)
			}
		}
		rewards += "endrewards\n"
		relation := []string{"<=", ">=", "<", ">"}[rng.IntN(4)]
		if relation == "<" && bound == 0 { // which is refused
			bound = 1
		}
		model := plain.String() + "endmodule\n" + rewards
		got := storm(t, model, result.Exact, fmt.Sprintf(`%s [ s!=1 U^{rew{"r"}%s%d/7} s=%d ]`, query, relation, bound, n))[0]
		want := storm(t, counting.String()+"endmodule\n", result.Exact, fmt.Sprintf(`%s [ s!=1 U (s=%d & c%s%d) ]`, query, n, relation, bound))[0]
		if got.Err != nil || want.Err != nil || got.Value.Rat.Cmp(want.Value.Rat) != 0 {
			t.Fatalf("seed %d, %s%d: found %v, %v, want %v, %v of\n%s", seed, relation, bound, got.Value, got.Err, want.Value, want.Err, model)
		}
	}
}

// TestCostBoundedReward compares C with reward bounds with the total reward of a model that counts the cost in a variable.
func TestCostBoundedReward(t *testing.T) {
	for seed := range needs.AllModels(t, 60) {
		r := rand.New(rand.NewPCG(seed, 39))
		kind := []string{"mdp", "dtmc"}[seed%2]
		budget, other := 1+r.IntN(5), 3+r.IntN(20)
		var plain, counting, costs, gains, countedGains strings.Builder
		fmt.Fprintf(&plain, "%s\nmodule m s:[0..3];\n", kind)
		fmt.Fprintf(&counting, "%s\nmodule m s:[0..3]; b:[0..%d]; k:[0..%d]; over:bool;\n", kind, budget, other)
		for s := range 4 {
			for a := range 2 {
				cost, gain, p := r.IntN(3), r.IntN(4), 1+r.IntN(9)
				if cost == 0 {
					gain = 0 // no cycle of rewards without costs
				}
				x, y := r.IntN(4), r.IntN(4)
				action := fmt.Sprintf("a%d%d", s, a)
				fmt.Fprintf(&plain, "[%s] s=%d -> 0.%d:(s'=%d) + %.1f:(s'=%d);\n", action, s, p, x, 1-float64(p)/10, y)
				within := fmt.Sprintf("b+%d<=%d & k+1<=%d", cost, budget, other)
				next := fmt.Sprintf("(b'=min(%d,b+%d)) & (k'=min(%d,k+1)) & (over'=over | !(%s))", budget, cost, other, within)
				fmt.Fprintf(&counting, "[%s] s=%d -> 0.%d:(s'=%d) & %s + %.1f:(s'=%d) & %s;\n", action, s, p, x, next, 1-float64(p)/10, y, next)
				fmt.Fprintf(&costs, "[%s] true : %d/3;\n", action, cost)
				fmt.Fprintf(&gains, "[%s] true : %d;\n", action, gain)
				fmt.Fprintf(&countedGains, "[%s] !over & %s : %d;\n", action, within, gain)
			}
		}
		rewards := "endmodule rewards \"cost\" " + costs.String() + " endrewards rewards \"gain\" s=1 : 1/4; "
		plain.WriteString(rewards + gains.String() + "endrewards")
		// The reward of state 1 counts if the step from there is within the bounds, which depends on the command.
		state := strings.ReplaceAll(countedGains.String(), " : ", " : (s=1 ? 1/4 : 0) + ")
		counting.WriteString("endmodule rewards \"gain\" " + state + "endrewards")
		query := map[string]string{"mdp": "max=?", "dtmc": "=?"}[kind]
		bounded := fmt.Sprintf(`R{"gain"}%s [ C{"cost"}<=%d/3,steps<=%d ]`, query, budget, other)
		want := storm(t, counting.String(), result.Exact, fmt.Sprintf(`R{"gain"}%s [ C ]`, query))[0]
		if want.Err != nil {
			t.Fatal(want.Err, counting.String())
		}
		got := storm(t, plain.String(), result.Exact, bounded)[0]
		if got.Err != nil || got.Value.Rat == nil || got.Value.Rat.Cmp(want.Value.Rat) != 0 {
			t.Errorf("%s: found %v, %v, want %v\n%s", bounded, got.Value, got.Err, want.Value, plain.String())
		}
		if got := storm(t, plain.String(), result.Bounded, bounded)[0]; got.Err != nil || got.Bound == nil || !contains(got.Bound, want.Value.Rat.RatString()) {
			t.Errorf("%s: found %v, %v, want %v\n%s", bounded, got.Bound, got.Err, want.Value, plain.String())
		}
	}
}
