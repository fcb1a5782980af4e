package check_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
	"tilecheck/result"
)

func TestConditional(t *testing.T) {
	const chain = `dtmc
module m
  s : [0..3];
  [] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [] s=1 -> 0.2 : (s'=3) + 0.8 : (s'=2);
  [] s=2 -> true;
endmodule
label "end" = s>1;
rewards true : 1; endrewards`
	const decision = `mdp
module m
  s : [0..4];
  [one] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [two] s=0 -> 0.1 : (s'=3) + 0.9 : (s'=4);
  [] s=1 -> 0.5 : (s'=3) + 0.5 : (s'=2);
  [wait] s=1 -> true;
  [] s>1 -> true;
endmodule
label "a" = s=3;
label "b" = s=3 | s=2;
rewards true : 1; endrewards`
	const memory = `mdp
module m
  s : [0..4];
  [] s=0 -> 1/2 : (s'=1) + 1/2 : (s'=2);
  [long] s=1 -> (s'=2);
  [safe] s=2 -> (s'=3);
  [risk] s=2 -> 1/2 : (s'=3) + 1/2 : (s'=4);
  [] s>2 -> true;
endmodule
rewards [long] true : 4; [safe] true : 1; [risk] true : 1; endrewards`
	ctmc := strings.Replace(chain, "dtmc", "ctmc", 1)
	for _, tt := range []struct{ model, property, want string }{
		{chain, `P=? [ F s=3 || F s=1 ]`, "1/5"},
		{chain, `P=? [ F s=1 || F s=3 ]`, "1"},
		{chain, `P=? [ F s=3 || F s=3 ]`, "1"},
		{chain, `P=? [ F s=0 || F s=3 ]`, "1"}, // the target is the initial state
		{chain, `P=? [ s=0 || F s=3 ]`, "1"},
		{chain, `P=? [ s=1 || F s=3 ]`, "0"},
		{chain, `P=? [ X s=2 || G s!=3 ]`, "5/9"},
		{chain, `P=? [ F<=1 s=2 || F<=2 s=2 ]`, "5/9"},
		{chain, `P=? [ F G s=3 || G F s>1 ]`, "1/10"},
		{chain, `P=? [ (F s=1) & (F s=2) || s!=3 U s=2 ]`, "4/9"},
		{chain, `P=? [ F "deadlock" || F s=1 ]`, "1/5"},
		{chain, `P>0.1 [ F s=3 || F s=1 ]`, "true"},
		{chain, `P>0.2 [ F s=3 || F s=1 ]`, "false"},
		{chain, `P>=0.2 [ F s=3 || F s=1 ]`, "true"},
		{chain, `1 - P=? [ F s=3 || F s=1 ]`, "4/5"},
		{chain, `P>0 [ F s=3 ] & P>0.1 [ F s=3 || F s=1 ]`, "true"},
		{chain, `P=? [ F P>0.5 [ F s=2 || G s!=3 ] ]`, "?condition behind || has probability 0 in state (s=3)"},
		{chain, `P=? [ F (s!=3 & P>0.5 [ F s=2 || G s!=3 ]) ]`, "1"},
		{chain, `filter(min, P=? [ F s=3 || F s>1 ])`, "0"},
		{chain, `filter(avg, P=? [ F s=3 || F s=3 | s=1 ], s<2)`, "1/5"},
		{chain, `P=? [ F s=3 || F s=2 & s=3 ]`, "?the value is undefined: the condition behind || has probability 0 in state (s=0)"},
		{chain, `R=? [ F "end" || F s=1 ]`, "2"},
		{chain, `R=? [ F "end" || s=0 ]`, "3/2"},
		{chain, `R=? [ F s=3 || F s=3 ]`, "2"},
		{chain, `R=? [ F s=3 || F s=1 ]`, "inf"},
		{chain, `R=? [ F s=0 || F s=3 ]`, "0"},
		{chain, `R=? [ F s=3 || false ]`, "?condition behind || has probability 0"},
		{chain, `R=? [ S || F s=3 ]`, "?the reward objective S with a condition (||), want F, C, C<=t or I=t"},
		{chain, `R=? [ C || F s=3 ]`, "inf"},
		{chain, `R=? [ C<=2 || F s=3 ]`, "2"},
		{chain, `R=? [ I=1 || F s=3 ]`, "1"},
		{chain, `R=? [ C<=-1 || F s=3 ]`, "?time bound -1 of the C operator"},
		{ctmc, `P=? [ F s=3 || F s=1 ]`, "1/5"},
		{ctmc, `P=? [ F<=2 s=3 || F s=1 ]`, "?time bound"},
		{ctmc, `R=? [ F "end" || F s=1 ]`, "2"},
		{decision, `Pmax=? [ F "a" || F "b" ]`, "1"}, // two
		{decision, `Pmin=? [ F "a" || F "b" ]`, "0"}, // one, and wait
		{decision, `Pmax=? [ F s=3 || F s=2 ]`, "0"},
		{decision, `Pmin=? [ G s!=2 || true ]`, "1/4"},
		{decision, `Pmax=? [ F s=2 || !(F s=4) ]`, "3/4"},
		{decision, `Pmax=? [ F s=2 || F s=1 ]`, "1/2"},
		{decision, `Pmin=? [ G F s=1 || F s=1 ]`, "0"},
		{decision, `P>=0.25 [ F "a" || F "b" ]`, "false"},
		{decision, `Pmax>=0.25 [ F "a" || F "b" ]`, "true"},
		{decision, `Pmax=? [ F s=1 || F s=5-1 & s=3 ]`, "?has probability 0 in state (s=0)"},
		{decision, `P=? [ F "a" || F "b" ]`, "?want Pmin=? or Pmax=?"},
		{decision, `Rmin=? [ F "b" || F "a" ]`, "1"},   // two
		{decision, `Rmax=? [ F "b" || F "a" ]`, "inf"}, // one, and wait
		{decision, `Rmax=? [ F s>0 || F "a" ]`, "1"},
		{decision, `Rmin=? [ F "a" || F s>0 ]`, "inf"}, // no scheduler reaches a almost surely
		{decision, `Rmax=? [ F "b" || s!=1 U "a" ]`, "1"},
		{decision, `Rmin=? [ F "b" || s=1 U "a" ]`, "?has probability 0 in state (s=0)"},
		{decision, `filter(max, Rmin=? [ F "a" || F "a" ], s=0 | s=1)`, "1"},
		{decision, `Rmin<2 [ F "b" || F "a" ]`, "true"},
		{decision, `Rmax=? [ C || F "a" ]`, "?found the reward objective C with a condition (||) in an MDP, want F"},
		{decision, `Rmax=? [ F "b" || G "b" ]`, "?as the condition of a reward in an MDP, want F b or a U b"},
		{decision, `Rmax=? [ F "b" || F<=3 "a" ]`, "?as the condition of a reward in an MDP, want F b or a U b"},
		{memory, `Rmax=? [ F s=3 || F s=3 ]`, "11/3"},
		{"mdp module m s:[0..2]; [a] s=0 -> 1/2:(s'=0) + 1/2:(s'=1); [b] s=0 -> 1e-9:(s'=2) + 1-1e-9:(s'=1); [] s>0 -> true; endmodule rewards [b] true : 1; [a] true : 1; endrewards", `Rmin=? [ F s=2 || F s=2 ]`, "1"},
		{strings.Replace(memory, ": 4", ": 1e30", 1), `Rmax=? [ F s=3 || F s=3 ]`, "?the optimum of a conditional reward depends on too many rewards so far"},
		{decision, `multi(Pmax=? [ F "a" || F "b" ], P>=0.1 [ F "a" ])`, "?a formula with a condition (||)"},
		{decision, `E [ F "a" || F "b" ]`, "?"},
	} {
		checkStorm(t, tt.model, tt.property, tt.want)
	}
}

// TestConditionalRewardsTogether checks that properties of the same model do not change each other.
func TestConditionalRewardsTogether(t *testing.T) {
	const chain = `dtmc module m s:[0..2]; [] s=0 -> 1/2:(s'=1) + 1/2:(s'=2); [] s>0 -> (s'=2); endmodule rewards true : 1; endrewards`
	for i, verdict := range storm(t, chain, result.Exact, "R=? [ C<=3 || X s=1 ]", "R=? [ I=2 || X s=1 ]", "R=? [ F s=2 || X s=1 ]", "P=? [ X s=1 ]") {
		if want := []string{"3", "1", "2", "1/2"}[i]; verdict.Err != nil || !sameValue(verdict, want) {
			t.Errorf("%s is %v, %v, want %s", verdict.Property, verdict.Value, verdict.Err, want)
		}
	}
}

// TestConditionalInMDP compares with all schedulers that remember which of two sets a path has visited.
func TestConditionalInMDP(t *testing.T) {
	for seed := range needs.Models(t, 400) {
		rng := rand.New(rand.NewPCG(seed, 44))
		plain, counting := randomVisits(rng, "mdp")
		model := explicittest.Compile(t, counting)
		space, err := explicit.Build(t.Context(), model, explicit.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		m := space.Model()
		if sparsetest.NumSchedulers(m, 500) == 500 {
			continue
		}
		n := m.NumStates()
		visited := [2]*sparse.Set{sparse.NewSet(n), sparse.NewSet(n)}
		all := sparse.FullSet(n)
		for i := range n {
			for k, set := range visited {
				if space.State(nil, i)[1+k] != 0 {
					set.Add(i)
				}
			}
		}
		formulas := [2][2]string{{"F s=1", "G s!=1"}, {"F s=2", "G s!=2"}}
		first, second := rng.IntN(2), rng.IntN(2)
		property := fmt.Sprintf("[ %s || %s ]", formulas[0][first], formulas[1][second])
		var least, most *big.Rat
		for how := range sparsetest.Schedulers(m) {
			a := sparsetest.Stochastic(sparsetest.Matrix(m, how))
			x, y := sparsetest.UntilProb(a, all, visited[0])[0], sparsetest.UntilProb(a, all, visited[1])[0]
			joint := sparsetest.UntilProb(a, all, visited[0].Intersect(visited[1]))[0]
			if second == 1 { // the first and not the second
				joint = new(big.Rat).Sub(x, joint)
				y = new(big.Rat).Sub(big.NewRat(1, 1), y)
			}
			if first == 1 {
				joint = new(big.Rat).Sub(y, joint)
			}
			if y.Sign() == 0 {
				continue
			}
			value := new(big.Rat).Quo(joint, y)
			if least == nil || value.Cmp(least) < 0 {
				least = value
			}
			if most == nil || value.Cmp(most) > 0 {
				most = value
			}
		}
		for query, want := range map[string]*big.Rat{"Pmin=? ": least, "Pmax=? ": most} {
			for _, accuracy := range []result.Accuracy{result.Exact, result.Bounded} {
				v := storm(t, plain, accuracy, query+property)[0]
				switch {
				case want == nil:
					if v.Err == nil || !strings.Contains(v.Err.Message, "undefined") {
						t.Fatalf("seed %d: %s%s is %v, want undefined, of\n%s", seed, query, property, v.Value, plain)
					}
				case v.Err != nil || !sameValue(v, want.RatString()) && accuracy == result.Exact || !hasBounds(v, want.RatString()):
					t.Fatalf("seed %d: %s%s is %v in %v, %v, want %s, of\n%s", seed, query, property, v.Value, v.Bound, v.Err, want.RatString(), plain)
				}
			}
		}
	}
}

// randomVisits returns a random model with a variable s, and the same with variables that say whether s has been 1, and 2.
func randomVisits(rng *rand.Rand, kind string) (plain, counting string) {
	var one, two strings.Builder
	n := 3 + rng.IntN(2)
	fmt.Fprintf(&one, "%s\nmodule m s:[0..%d] init 0;\n", kind, n)
	fmt.Fprintf(&two, "%s\nmodule m s:[0..%d] init 0; a:[0..1]; b:[0..1];\n", kind, n)
	visit := func(s int) string {
		switch s {
		case 1:
			return "(s'=1) & (a'=1)"
		case 2:
			return "(s'=2) & (b'=1)"
		}
		return fmt.Sprintf("(s'=%d)", s)
	}
	for s := range n {
		choices := 1
		if kind == "mdp" {
			choices += rng.IntN(2)
		}
		for range choices {
			x, y, p := rng.IntN(n+1), rng.IntN(n+1), 1+rng.IntN(4)
			fmt.Fprintf(&one, "  [] s=%d -> %d/5:(s'=%d) + %d/5:(s'=%d);\n", s, p, x, 5-p, y)
			fmt.Fprintf(&two, "  [] s=%d -> %d/5:%s + %d/5:%s;\n", s, p, visit(x), 5-p, visit(y))
		}
	}
	return one.String() + "endmodule", two.String() + "endmodule"
}

// TestConditionalLTL compares the chain of an MDP without a decision with the same chain as a DTMC.
func TestConditionalLTL(t *testing.T) {
	formulas := []string{"G F s=1", "F G s=2", "F s=3", "s!=2 U s=1", "X X s=1", "G (s=0 => (F s=2))", "G F<=2 s=1", "(G F s=1) & (F s=2)", "!(G F s=2)", "true"}
	for seed := range needs.Models(t, 400) {
		rng := rand.New(rand.NewPCG(seed, 45))
		chain, _ := randomVisits(rng, "dtmc")
		property := fmt.Sprintf("[ %s || %s ]", formulas[rng.IntN(len(formulas))], formulas[rng.IntN(len(formulas))])
		want := storm(t, chain, result.Exact, "P=? "+property)[0]
		mdp := strings.Replace(chain, "dtmc", "mdp", 1)
		for _, query := range []string{"Pmin=? ", "Pmax=? "} {
			got := storm(t, mdp, result.Exact, query+property)[0]
			bounds := storm(t, mdp, result.Bounded, query+property)[0]
			switch {
			case (got.Err == nil) != (want.Err == nil) || (bounds.Err == nil) != (want.Err == nil):
				t.Fatalf("seed %d: %s%s is %v, %v, want %v, of\n%s", seed, query, property, got.Err, bounds.Err, want.Err, chain)
			case want.Err == nil && (!sameValue(got, want.Value.Rat.RatString()) || !hasBounds(bounds, want.Value.Rat.RatString())):
				t.Fatalf("seed %d: %s%s is %v, %v, want %v, of\n%s", seed, query, property, got.Value, bounds.Bound, want.Value, chain)
			}
		}
	}
}

// TestConditionalRewards compares with the chain whose probabilities are those of the paths that satisfy the condition.
func TestConditionalRewards(t *testing.T) {
	for seed := range needs.Models(t, 400) {
		rng := rand.New(rand.NewPCG(seed, 46))
		kind := []string{"dtmc", "ctmc"}[rng.IntN(2)]
		const n = 4
		var text, rewards strings.Builder
		fmt.Fprintf(&text, "%s\nmodule m s:[0..%d];\n", kind, n)
		weights, steps, earned := [n + 1][n + 1]int64{}, [n + 1][n + 1]int64{}, [n + 1]int64{}
		for s := range n {
			earned[s] = rng.Int64N(3)
			fmt.Fprintf(&rewards, " s=%d : %d;\n", s, earned[s])
			targets := rng.Perm(n + 1)[:2]
			for _, to := range targets {
				weights[s][to], steps[s][to] = 1+rng.Int64N(3), rng.Int64N(3)
				fmt.Fprintf(&rewards, " [to%d] s=%d : %d;\n", to, s, steps[s][to])
			}
			if kind == "ctmc" {
				for _, to := range targets {
					fmt.Fprintf(&text, " [to%d] s=%d -> %d:(s'=%d);\n", to, s, weights[s][to], to)
				}
				continue
			}
			// Each command has probability 1/2.
			weights[s][targets[0]], weights[s][targets[1]] = 1, 1
			for _, to := range targets {
				fmt.Fprintf(&text, " [to%d] s=%d -> (s'=%d);\n", to, s, to)
			}
		}
		model := text.String() + "endmodule\nrewards\n" + rewards.String() + "endrewards"
		// States s and n+1+s: before and after the visit of 2.
		size := 2 * (n + 1)
		chain := make([][]*big.Rat, size)
		visited, target := sparse.NewSet(size), sparse.NewSet(size)
		number := func(s int, after bool) int {
			if after || s == 2 {
				return n + 1 + s
			}
			return s
		}
		gains := make([]*big.Rat, size)
		total := func(s int) (sum int64) {
			for _, w := range weights[s%(n+1)] {
				sum += w
			}
			return max(sum, 1)
		}
		for i := range size {
			chain[i], gains[i] = make([]*big.Rat, size), new(big.Rat)
			for k := range chain[i] {
				chain[i][k] = new(big.Rat)
			}
			s := i % (n + 1)
			if i > n {
				visited.Add(i)
			}
			if s == 1 {
				target.Add(i)
			}
			if s == n {
				chain[i][i].SetInt64(1)
			}
			for to, w := range weights[s] {
				if w > 0 {
					chain[i][number(to, i > n)].SetFrac64(w, total(s))
				}
			}
		}
		given := sparsetest.UntilProb(chain, sparse.FullSet(size), visited)
		for i := range size {
			s := i % (n + 1)
			if kind == "ctmc" {
				gains[i].SetFrac64(earned[s], total(s))
			} else {
				gains[i].SetInt64(earned[s])
			}
			for to, w := range weights[s] {
				k := number(to, i > n)
				if w > 0 && given[i].Sign() > 0 {
					chain[i][k] = new(big.Rat).Quo(new(big.Rat).Mul(chain[i][k], given[k]), given[i])
					gains[i].Add(gains[i], new(big.Rat).Mul(chain[i][k], big.NewRat(steps[s][to], 1)))
				}
			}
			if given[i].Sign() == 0 { // no path that satisfies the condition comes here
				for k := range chain[i] {
					chain[i][k] = new(big.Rat)
				}
				chain[i][i].SetInt64(1)
			}
		}
		if given[0].Sign() > 0 {
			conditioned := &conditionedText{kind: kind, chain: chain, initial: number(0, false)}
			for i := range size {
				rate, exit := int64(1), int64(1)
				if kind == "ctmc" {
					exit = total(i % (n + 1))
				}
				if s := i % (n + 1); s < n {
					rate = exit
				}
				conditioned.exit = append(conditioned.exit, rate)
				conditioned.earned = append(conditioned.earned, earned[i%(n+1)])
				conditioned.gains = append(conditioned.gains, new(big.Rat).Mul(gains[i], big.NewRat(exit, 1)))
			}
			conditioned.compare(t, model, "F s=2", rng.IntN(6))
		}
		want := map[string]*big.Rat{
			"R=? [ F s=1 || F s=2 ]": sparsetest.RewardUntil(chain, gains, target)[number(0, false)],
			"R=? [ C || F s=2 ]":     sparsetest.RewardTotal(chain, gains)[number(0, false)],
		}
		for property, value := range want {
			for _, accuracy := range []result.Accuracy{result.Exact, result.Bounded} {
				v := storm(t, model, accuracy, property)[0]
				text := "inf"
				if value != nil {
					text = value.RatString()
				}
				switch {
				case given[0].Sign() == 0:
					if v.Err == nil || !strings.Contains(v.Err.Message, "undefined") {
						t.Fatalf("seed %d: %s is %v, want undefined, of\n%s", seed, property, v.Value, model)
					}
				case v.Err != nil || accuracy == result.Exact && !sameValue(v, text) || !hasBounds(v, text):
					t.Fatalf("seed %d: %s is %v in %v, %v, want %s, of\n%s", seed, property, v.Value, v.Bound, v.Err, text, model)
				}
			}
		}
	}
}

// conditionedText is a Markov chain whose paths have the conditional distribution of the paths of another chain. exit has the exit rates, gains the
// rewards of states and transitions together, and earned the rewards of states.
type conditionedText struct {
	kind    string
	chain   [][]*big.Rat
	initial int
	exit    []int64
	gains   []*big.Rat
	earned  []int64
}

// compare compares the conditional rewards C<=k and I=k of a model with the rewards of the chain without a condition.
func (c *conditionedText) compare(t *testing.T, model, condition string, k int) {
	t.Helper()
	var text, gains, earned strings.Builder
	fmt.Fprintf(&text, "%s\nmodule m x:[0..%d] init %d;\n", c.kind, len(c.chain)-1, c.initial)
	for i, row := range c.chain {
		var updates []string
		for to, p := range row {
			if p.Sign() > 0 {
				updates = append(updates, fmt.Sprintf("%d*%s:(x'=%d)", c.exit[i], p.RatString(), to))
			}
		}
		fmt.Fprintf(&text, "[] x=%d -> %s;\n", i, strings.Join(updates, " + "))
		fmt.Fprintf(&gains, " x=%d : %s;\n", i, c.gains[i].RatString())
		fmt.Fprintf(&earned, " x=%d : %d;\n", i, c.earned[i])
	}
	fmt.Fprintf(&text, "endmodule\nrewards \"gains\"\n%sendrewards\nrewards \"earned\"\n%sendrewards\n", &gains, &earned)
	for objective, structure := range map[string]string{fmt.Sprintf("C<=%d", k): "gains", fmt.Sprintf("I=%d", k): "earned"} {
		property := fmt.Sprintf("R=? [ %s || %s ]", objective, condition)
		want := storm(t, text.String(), result.Bounded, fmt.Sprintf("R{%q}=? [ %s ]", structure, objective))[0]
		got := storm(t, model, result.Bounded, property)[0]
		if want.Err != nil || got.Err != nil || got.Bound == nil || got.Bound.Lo > want.Bound.Hi || got.Bound.Hi < want.Bound.Lo || got.Bound.Hi-got.Bound.Lo > 1e-5*max(1, got.Bound.Hi) {
			t.Fatalf("%s is %v in %v, %v, want %v in %v, %v, of\n%s", property, got.Value, got.Bound, got.Err, want.Value, want.Bound, want.Err, model)
		}
		if c.kind == "ctmc" {
			continue
		}
		exact := storm(t, text.String(), result.Exact, fmt.Sprintf("R{%q}=? [ %s ]", structure, objective))[0]
		if got := storm(t, model, result.Exact, property)[0]; got.Err != nil || exact.Err != nil || !sameValue(got, exact.Value.Rat.RatString()) {
			t.Fatalf("%s is %v, %v, want %v, of\n%s", property, got.Value, got.Err, exact.Value, model)
		}
	}
}
