package check_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
	"tilecheck/result"
)

func TestNegativeRewards(t *testing.T) {
	const chain = `dtmc
module m
  s : [0..2];
  [] s=0 -> 0.9 : (s'=1) + 0.1 : (s'=2);
  [] s=1 -> 0.9 : (s'=0) + 0.1 : (s'=2);
  [] s=2 -> true;
endmodule
label "t" = s=2;
rewards "all" true : -10; endrewards
rewards "mixed" s=0 : -1; s=0 : 3; s=1 : -2.5; endrewards
rewards "both" s<2 : 1; s=2 : -1; endrewards
rewards "wrong" s=0 : 1/0; endrewards`
	const decision = `mdp
module m
  s : [0..3];
  [slow] s=0 -> 0.5 : (s'=0) + 0.5 : (s'=1);
  [fast] s=0 -> (s'=2);
  [] s=1 -> (s'=3);
  [] s=2 -> (s'=3);
  [] s=3 -> true;
endmodule
rewards "r" [slow] true : -3; [fast] true : -5; s=1 : 2; endrewards
rewards "end" s=3 : -1; endrewards
rewards "large" s=0 : -1e308; endrewards`
	for _, tt := range []struct{ model, property, want string }{
		{decision, `R{"large"}max=? [ C<=3 ]`, "?found negative rewards beside rewards that are too large"},
		{chain, `R{"all"}=? [ F "t" ]`, "-100"}, // Storm 1.14 answers -100 with --exact, 0 without, -59.5 with --sound
		{chain, `R{"all"}=? [ C<=3 ]`, "-30"},
		{chain, `R{"all"}=? [ I=3 ]`, "-10"},
		{chain, `R{"all"}=? [ S ]`, "-10"},
		{chain, `R{"all"}=? [ C ]`, "-inf"},
		{chain, `R{"all"}=? [ Cdiscount=1/2 ]`, "-20"},
		{chain, `R{"all"}=? [ C<=2 discount=1/2 ]`, "-15"},
		{chain, `R{"all"}>=-100 [ F "t" ]`, "true"},
		{chain, `R{"all"}>-100 [ F "t" ]`, "false"},
		{chain, `R{"all"}=? [ F s=0 ]`, "0"},
		{chain, `R{"all"}=? [ F s=1 ]`, "?found negative rewards and a target that is missed with positive probability from state (s=0)"},
		{chain, `filter(max, R{"all"}=? [ F s=0 ], s=0)`, "0"},
		{chain, `filter(min, R{"all"}=? [ F "t" ])`, "-100"},
		{chain, `R{"mixed"}=? [ F "t" ]`, "-25/19"}, // 2-2.25 = -1/4 every second step, which is taken with probability 0.81
		{chain, `R{"mixed"}=? [ C ]`, "-25/19"},
		{chain, `R{"both"}=? [ C ]`, "-inf"},
		{chain, `R{"both"}=? [ S ]`, "-1"},
		{chain, `R{"wrong"}=? [ S ]`, "?finite"},
		{chain, `P>0 [ F R{"all"}<= -5 [ I=1 ] ]`, "true"},
		{strings.Replace(chain, "dtmc", "ctmc", 1), `R{"all"}=? [ F "t" ]`, "-100"},
		{strings.Replace(chain, "dtmc", "ctmc", 1), `R{"all"}=? [ S ]`, "-10"},
		{decision, `R{"r"}max=? [ F s=3 ]`, "-4"}, // slow: -6 and 2
		{decision, `R{"r"}min=? [ F s=3 ]`, "-5"},
		{decision, `R{"r"}min=? [ F s=2 ]`, "?found negative rewards and a target that some scheduler misses"},
		{strings.Replace(decision, "0.5 : (s'=0) + 0.5 : (s'=1)", "0.5 : (s'=2) + 0.5 : (s'=1)", 1), `R{"r"}max=? [ F s=3 ]`, "-2"},
		{strings.Replace(decision, "0.5 : (s'=0) + 0.5 : (s'=1)", "0.5 : (s'=2) + 0.5 : (s'=1)", 1), `R{"r"}min=? [ C ]`, "-5"},
		{decision, `R{"r"}max=? [ C<=1 ]`, "-3"},
		{decision, `R{"r"}min=? [ C<=2 ]`, "-5"},
		{decision, `R{"r"}max=? [ S ]`, "0"},
		{decision, `R{"end"}max=? [ S ]`, "-1"},
		{decision, `R{"end"}max=? [ I=2 ]`, "-1/2"},
		{decision, `R{"end"}min=? [ I=2 ]`, "-1"},
		{decision, `R{"end"}max=? [ C ]`, "?found negative rewards and an end that some scheduler misses"},
		{decision, `R{"r"}max=? [ Cdiscount=1/2 ]`, "-10/3"}, // slow: v = -3 + v/4 + 1/2
		{decision, `R{"r"}max=? [ F (F s=3) ]`, "?found negative rewards with"},
		{decision, `multi(R{"r"}max=? [ C ], Pmax=? [ F s=1 ])`, "?not negative"},
	} {
		checkStorm(t, tt.model, tt.property, tt.want)
	}
}

// TestNegativeRewardsShifted compares with the same rewards plus 4, of which none is negative.
func TestNegativeRewardsShifted(t *testing.T) {
	for seed := range needs.Models(t, 400) {
		rng := rand.New(rand.NewPCG(seed, 47))
		kind := []string{"dtmc", "mdp", "ctmc"}[seed%3]
		model, shifted := randomRewards(rng, kind)
		query := map[string][]string{"dtmc": {"=?"}, "ctmc": {"=?"}, "mdp": {[]string{"min=?", "max=?"}[rng.IntN(2)]}}[kind]
		k := int64(rng.IntN(4))
		// The rewards of a path for 1 in every state.
		ones := map[string]*big.Rat{"I=1": big.NewRat(1, 1), "S": big.NewRat(1, 1)}
		if kind == "ctmc" {
			delete(ones, "I=1")
		} else {
			ones[fmt.Sprintf("C<=%d", k)] = big.NewRat(k, 1)
			ones["Cdiscount=0.75"] = big.NewRat(4, 1)
			ones["C<=2 discount=0.75"] = big.NewRat(7, 4)
		}
		for objective, one := range ones {
			for _, q := range query {
				property := fmt.Sprintf("R%s [ %s ]", q, objective)
				want := storm(t, shifted, result.Exact, property)[0]
				if want.Err != nil {
					t.Fatalf("seed %d: %s: %v of\n%s", seed, property, want.Err, shifted)
				}
				value := new(big.Rat).Sub(want.Value.Rat, new(big.Rat).Mul(big.NewRat(4, 1), one))
				got := storm(t, model, result.Exact, property)[0]
				bounds := storm(t, model, result.Bounded, property)[0]
				if got.Err != nil || bounds.Err != nil || !sameValue(got, value.RatString()) || !hasBounds(bounds, value.RatString()) {
					t.Fatalf("seed %d: %s: %v, %v, and %v, %v, want %s, of\n%s", seed, property, got.Value, got.Err, bounds.Bound, bounds.Err, value.RatString(), model)
				}
			}
		}
	}
}

// randomRewards returns a random model with rewards from -4 to 4 of its states and actions, and the same with 4 more in every state.
func randomRewards(rng *rand.Rand, kind string) (model, shifted string) {
	var text, rewards, more strings.Builder
	n := 3 + rng.IntN(2)
	fmt.Fprintf(&text, "%s\nmodule m s:[0..%d] init 0;\n", kind, n)
	for s := range n {
		r := rng.IntN(9) - 4
		fmt.Fprintf(&rewards, "  s=%d : %d;\n", s, r)
		fmt.Fprintf(&more, "  s=%d : %d;\n", s, r+4)
		choices := 1
		if kind == "mdp" {
			choices += rng.IntN(2)
		}
		for c := range choices {
			x, y, p := rng.IntN(n+1), rng.IntN(n+1), 1+rng.IntN(4)
			fmt.Fprintf(&text, "  [c%d] s=%d -> %d/5:(s'=%d) + %d/5:(s'=%d);\n", c, s, p, x, 5-p, y)
			// The amount of an action is subtracted where the state has the rest.
			amount := rng.IntN(3)
			fmt.Fprintf(&rewards, "  [c%d] s=%d : %d/2;\n", c, s, amount)
			fmt.Fprintf(&more, "  [c%d] s=%d : %d/2;\n", c, s, amount)
		}
	}
	fmt.Fprintf(&text, "  [end] s=%d -> true;\n", n)
	fmt.Fprintf(&rewards, "  s=%d : -2;\n", n)
	fmt.Fprintf(&more, "  s=%d : 2;\n", n)
	return text.String() + "endmodule\nrewards\n" + rewards.String() + "endrewards", text.String() + "endmodule\nrewards\n" + more.String() + "endrewards"
}

// TestNegativeRewardsUntil compares with all schedulers.
func TestNegativeRewardsUntil(t *testing.T) {
	valued := 0
	for seed := range needs.Models(t, 400) {
		rng := rand.New(rand.NewPCG(seed, 48))
		kind := []string{"dtmc", "mdp", "mdp", "ctmc"}[seed%4]
		text, _ := randomRewards(rng, kind)
		model := explicittest.Compile(t, text)
		space, err := explicit.Build(t.Context(), model, explicit.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		m := space.Model()
		earned, lost, err := space.SignedReward(0)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Max(lost.State) == 0 { // no state with a loss is reachable
			continue
		}
		target := sparse.NewSet(m.NumStates())
		last := m.NumStates() - 1
		target.Add(last)
		missed := false
		for _, least := range []bool{true, false} {
			var best []*big.Rat
			for how := range sparsetest.Schedulers(m) {
				gains := sparsetest.Gains(m, how, earned)
				for s, loss := range sparsetest.Gains(m, how, lost) {
					gains[s].Sub(gains[s], loss)
				}
				values := sparsetest.RewardUntil(sparsetest.Stochastic(sparsetest.Matrix(m, how)), gains, target)
				missed = missed || values[0] == nil
				best = sparsetest.Extremum(best, values, least)
			}
			state := space.State(nil, last)[0]
			query := map[bool]string{true: "min=?", false: "max=?"}[least]
			if kind != "mdp" {
				query = "=?"
			}
			property := fmt.Sprintf("R%s [ F s=%d ]", query, state)
			got := storm(t, text, result.Exact, property)[0]
			bounds := storm(t, text, result.Bounded, property)[0]
			switch {
			case missed:
				if got.Err == nil || !strings.Contains(got.Err.Message, "negative rewards and a target") || bounds.Err == nil {
					t.Fatalf("seed %d: %s is %v, %v, want an error, of\n%s", seed, property, got.Value, got.Err, text)
				}
			case got.Err != nil || bounds.Err != nil || !sameValue(got, best[0].RatString()) || !hasBounds(bounds, best[0].RatString()):
				t.Fatalf("seed %d: %s is %v, %v, and %v, %v, want %s, of\n%s", seed, property, got.Value, got.Err, bounds.Bound, bounds.Err, best[0].RatString(), text)
			default:
				valued++
			}
		}
	}
	if valued < min(30, needs.Some(300)) {
		t.Errorf("only %d values", valued)
	}
}
