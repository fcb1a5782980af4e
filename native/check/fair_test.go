package check_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
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
		{`Pmin=? [ F>=2 "a" ]`, "0", "3/5"},
		{`Pmin=? [ x<2 W>=2 "a" ]`, "3/5", "3/5"},
		{`Pmax=? [ G F x<2 ]`, "1", "0"},
		{`Pmin=? [ F G x=3 ]`, "0", "2/5"},
		{`Pmax=? [ (F "a") & (X X x=0) ]`, "3/5", "3/5"}, // once around is fair
		{`Rmin=? [ F x>1 ]`, "2", "2"},
		{`Rmin=? [ F (x>1 & (X x>2)) ]`, "3", "3"},
		{`Rmax=? [ C<=2 ]`, "2", "2"},
		{`Rmin=? [ I=3 ]`, "1", "1"},
	} {
		for fair, want := range map[bool]string{false: tt.all, true: tt.fair} {
			v := ask(t, t.Context(), lazy, tt.property, check.Options{Accuracy: result.Exact, Fair: fair})[0]
			if v.Err != nil || v.Value.Rat == nil || v.Value.Rat.RatString() != want {
				t.Errorf("%s, fair %v: found %v, %v, want %s", tt.property, fair, v.Value, v.Err, want)
			}
		}
	}
	for property, why := range map[string]string{
		`Rmax=? [ F x>1 ]`: "a maximal reward until a target is reached, which is not supported for fair", `Rmin=? [ C ]`: "a minimal total reward, which is not supported for fair", `E [ F "a" ]`: "E or A, which is not supported for fair",
		`Rmax=? [ S ]`: "a long-run reward, which is not supported for fair", `multi(Pmax=? [ F "a" ], P>=0.1 [ F "b" ])`: "multi(...), which is not supported for fair",
	} {
		if v := ask(t, t.Context(), lazy, property, check.Options{Fair: true})[0]; v.Err == nil || !strings.Contains(v.Err.Message, why) {
			t.Errorf("%s: found %v, want %s", property, v.Err, why)
		}
	}
}

// TestFairMemory: fairness is about the states of the model, and a scheduler may remember.
func TestFairMemory(t *testing.T) {
	for property, want := range map[string]string{
		`Pmax=? [ F G (s=1 => (X X s=2)) ]`:       "1", // the choices of 0 in turn
		`Pmin=? [ G F (s=1 & (X X s=1)) ]`:        "0",
		`Pmin=? [ (G F s=1) & (G F s=2) ]`:        "1",
		`Pmax=? [ F G s!=2 ]`:                     "0",
		`Pmax=? [ G (s=1 => (X X X X s=1)) ]`:     "1",
		`Pmin=? [ F (s=1 & (X X s=1)) ]`:          "0",
		`Pmax=? [ X s=1 & (F (s=2 & (X X s=1)))]`: "1",
	} {
		for _, accuracy := range []result.Accuracy{result.Exact, result.Bounded} {
			v := ask(t, t.Context(), pick, property, check.Options{Accuracy: accuracy, Fair: true})[0]
			if v.Err != nil || fmt.Sprint(v.Value.Num) != want {
				t.Errorf("%s, %v: found %v, %v, want %s", property, accuracy, v.Value, v.Err, want)
			}
		}
	}
}

// TestFairLTL compares with all schedulers of a model that shows which choice was made
// last, of a formula that says that they are fair.
func TestFairLTL(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	differ := 0
	for range needs.Some(600) {
		plain, shown, fair := observed(r, 3)
		path := randomPath(r, 3, 3, false)
		if !strings.ContainsAny(path, "XFGUWR") {
			continue
		}
		var got, want, all [2]string
		for i, op := range []string{"Pmax", "Pmin"} {
			ask := func(model, path string, fair bool) string {
				v := ask(t, t.Context(), model, fmt.Sprintf("%s=? [ %s ]", op, path), check.Options{Accuracy: result.Exact, Fair: fair})[0]
				if v.Err != nil {
					t.Fatalf("%s: %v\n%s", path, v.Err, model)
				}
				return v.Value.Rat.RatString()
			}
			got[i], all[i] = ask(plain, path, true), ask(plain, path, false)
			if i == 0 {
				want[i] = ask(shown, fmt.Sprintf("(%s) & (%s)", path, fair), false)
			} else {
				want[i] = ask(shown, fmt.Sprintf("(%s) => (%s)", fair, path), false)
			}
		}
		if got != want {
			t.Errorf("%s: found %v, want %v\n%s", path, got, want, plain)
		}
		if got != all {
			differ++
		}
	}
	if differ < min(5, needs.Some(50)) {
		t.Errorf("fairness made a difference in %d cases", differ)
	}
}

// observed makes an MDP, the same with the number of the choice made last in a
// variable, and a formula that says that a path is fair.
func observed(r *rand.Rand, n int) (plain, shown, fair string) {
	var p, q strings.Builder
	var parts []string
	count := 0
	for s := range n {
		choices := 1 + r.IntN(2)
		for range choices {
			count++
			a, b := r.IntN(n), r.IntN(n)
			fmt.Fprintf(&p, " [] s=%d -> 0.5:(s'=%d) + 0.5:(s'=%d);\n", s, a, b)
			fmt.Fprintf(&q, " [] s=%d -> 0.5:(s'=%d)&(c'=%d) + 0.5:(s'=%d)&(c'=%d);\n", s, a, count, b, count)
			if choices > 1 {
				parts = append(parts, fmt.Sprintf("((G (F (s=%d))) => (G (F (c=%d))))", s, count))
			}
		}
	}
	if len(parts) == 0 {
		parts = []string{"true"}
	}
	head := fmt.Sprintf("mdp module m s:[0..%d];", n-1)
	return head + "\n" + p.String() + "endmodule", fmt.Sprintf("%s c:[0..%d];\n%sendmodule", head, count, q.String()), strings.Join(parts, " & ")
}

// TestFairPOMDP: fair schedulers of a POMDP are refused by name. Its values over all schedulers are others: here a probability of 0 instead of 1.
func TestFairPOMDP(t *testing.T) {
	const model = "pomdp\nobservables s endobservables\nmodule m s:[0..1];\n[a] s=0 -> true;\n[b] s=0 -> (s'=1);\n[a] s=1 -> true;\n[b] s=1 -> true; endmodule\nrewards true : 1; endrewards"
	for _, property := range []string{"Pmin=? [ F s=1 ]", "P>=1 [ F s=1 ]", "Rmin=? [ F s=1 ]", "Rmax=? [ F s=1 ]"} {
		v := ask(t, t.Context(), model, property, check.Options{Fair: true})[0]
		if v.Err == nil || !strings.Contains(v.Err.Message, "found fair schedulers of a POMDP, want an MDP") {
			t.Errorf("%s: %v, %v, want a refusal", property, v.Value, v.Err)
		}
	}
}
