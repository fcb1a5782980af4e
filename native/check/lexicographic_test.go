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

// TestLexicographicProducts: each further objective makes another product of the model, with other states, so bounds of a maximal reward
// that belong to an earlier product do not count. The path 0, 1, 2, 3 has the greatest reward.
func TestLexicographicProducts(t *testing.T) {
	const model = `mdp
module m
  s : [0..3];
  [a] s=0 -> 1/2 : (s'=1) + 1/2 : (s'=2);
  [b] s=0 -> (s'=1);
  [c] s=1 -> (s'=3);
  [d] s=2 -> (s'=3);
  [e] s=1 -> (s'=2);
  [] s=3 -> true;
endmodule
rewards "r" s=1 : 1; s=2 : 3; endrewards`
	for property, want := range map[string]string{
		`multilex(R{"r"}max=? [ C ], R{"r"}min=? [ C<=3 ], Pmax=? [ F s=1 ])`: "[(4,4,1)]",
		`multilex(R{"r"}max=? [ C ], Pmin=? [ F s=1 ], R{"r"}min=? [ C<=2 ])`: "[(4,1,1)]",
		`multilex(Pmin=? [ F s=1 ], R{"r"}max=? [ C ], R{"r"}max=? [ C<=1 ])`: "[(1/2,7/2,0)]",
	} {
		v := storm(t, model, result.Bounded, property)[0]
		if got := result.CurveText(v.Value.RatPoints, (*big.Rat).RatString, ","); v.Err != nil || got != want {
			t.Errorf("%s: found %s, %v, want %s", property, got, v.Err, want)
		}
	}
}

func TestLexicographic(t *testing.T) {
	const model = `mdp
module m
  s : [0..3];
  [a] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [b] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=3);
  [c] s=0 -> 0.4 : (s'=1) + 0.6 : (s'=3);
  [] s>0 -> true;
endmodule
rewards "r" [a] true : 1; [b] true : 2; endrewards
rewards "ever" true : 1; endrewards`
	for property, want := range map[string]string{
		`multilex(Pmax=? [ F s=1 ])`:                                      "0.5",
		`multilex(Pmax=? [ F s=1 ], Pmax=? [ F s=3 ], R{"r"}min=? [ C ])`: "0.5 0.5 2",
		`multilex(Pmax=? [ F s=1 ], R{"r"}min=? [ C ], Pmax=? [ F s=3 ])`: "0.5 1 0",
		`multilex(R{"r"}min=? [ C ], Pmax=? [ F s=1 ])`:                   "0 0.4",
		`multilex(Pmin=? [ G F s=1 ], R{"r"}max=? [ C<=1 ])`:              "0.4 0",
		`multilex(R{"ever"}max=? [ C<=2 ], Pmin=? [ F s=1 ])`:             "2 0.4",
		`multilex(Pmax=? [ F s=1 ], R{"ever"}min=? [ C ])`:                "?infinite",
		`multilex(Pmax=? [ F s=1 ], P>=0.5 [ F s=3 ])`:                    "?argument of multilex is not a query",
		`multilex()`:                              "?",
		`multilex(P=? [ F s=1 ])`:                 "?without min, max or a bound",
		`1 + multilex(Pmax=? [ F s=1 ])`:          "?found an expression of type void",
		`filter(max, multilex(Pmax=? [ F s=1 ]))`: "?void arguments",
		`P>0.5 [ F multilex(Pmax=? [ F s=1 ]) ]`:  "?argument of F operator is not Boolean",
		`multilex(` + strings.Repeat(`Pmax=? [ F s=1 ], `, 12) + `Pmin=? [ X s=1 ])`: "?multilex(...) with more than 12 objectives",
	} {
		if strings.HasPrefix(want, "?") {
			checkStorm(t, model, property, want)
			continue
		}
		for _, accuracy := range []result.Accuracy{result.Exact, result.Bounded} {
			v := storm(t, model, accuracy, property)[0]
			if v.Err != nil || len(v.Value.Points) != 1 || strings.Trim(fmt.Sprint(v.Value.Points[0]), "[]") != want {
				t.Errorf("%s: found %v, %v, want %s", property, v.Value.Points, v.Err, want)
			}
		}
	}
	v := storm(t, model, result.Bounded, `multilex(R{"r"}min=? [ C ], Pmax=? [ F s=1 ])`)[0]
	if got := result.CurveText(v.Value.RatPoints, (*big.Rat).RatString, ","); got != "[(0,2/5)]" {
		t.Errorf("fractions %s", got)
	}
	checkStorm(t, strings.Replace(model, "mdp", "dtmc", 1), `multilex(Pmax=? [ F s=1 ])`, "?multilex(...) for a DTMC, want an MDP")
}

// TestLexicographicSchedulers compares with all schedulers that remember which of two sets a path has visited.
func TestLexicographicSchedulers(t *testing.T) {
	compared := 0
	for seed := range needs.Models(t, 400) {
		rng := rand.New(rand.NewPCG(seed, 49))
		plain, counting := randomVisits(rng, "mdp")
		rewards := fmt.Sprintf("\nrewards s=0 : %d; s=1 : %d; endrewards", rng.IntN(3), rng.IntN(2))
		plain, counting = plain+rewards, counting+rewards
		model := explicittest.Compile(t, counting)
		space, err := explicit.Build(t.Context(), model, explicit.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		m := space.Model()
		if sparsetest.NumSchedulers(m, 500) == 500 {
			continue
		}
		reward, err := space.Reward(0)
		if err != nil {
			t.Fatal(err)
		}
		all, visited := sparse.FullSet(m.NumStates()), [2]*sparse.Set{sparse.NewSet(m.NumStates()), sparse.NewSet(m.NumStates())}
		for i := range m.NumStates() {
			for k, set := range visited {
				if space.State(nil, i)[1+k] != 0 {
					set.Add(i)
				}
			}
		}
		// The third objective is a minimum, which is finite where some scheduler earns no reward for ever.
		most := [3]bool{rng.IntN(2) == 0, rng.IntN(2) == 0, false}
		queries := []string{fmt.Sprintf("P%s=? [ F s=1 ]", extremes[most[0]]), fmt.Sprintf("P%s=? [ F s=2 ]", extremes[most[1]]), "Rmin=? [ C ]"}
		order := rng.Perm(3)
		var property []string
		for _, i := range order {
			property = append(property, queries[i])
		}
		var best []*big.Rat
		for how := range sparsetest.Schedulers(m) {
			a := sparsetest.Stochastic(sparsetest.Matrix(m, how))
			values := []*big.Rat{
				sparsetest.UntilProb(a, all, visited[0])[0], sparsetest.UntilProb(a, all, visited[1])[0],
				sparsetest.RewardTotal(a, sparsetest.Gains(m, how, reward))[0],
			}
			better := best == nil
			for _, i := range order {
				if best == nil || values[i] == nil && best[i] == nil {
					continue
				}
				if values[i] == nil || best[i] == nil {
					better = best[i] == nil
					break
				}
				if order := values[i].Cmp(best[i]); order != 0 {
					better = order > 0 == most[i]
					break
				}
			}
			if better {
				best = values
			}
		}
		text := "multilex(" + strings.Join(property, ", ") + ")"
		v := storm(t, plain, result.Bounded, text)[0]
		if slices.Contains(best, nil) {
			if v.Err == nil {
				t.Fatalf("seed %d: %s is %v, want an error, of\n%s", seed, text, v.Value.Points, plain)
			}
			continue
		}
		compared++
		for k, i := range order {
			if want, _ := best[i].Float64(); v.Err != nil || v.Value.Points[0][k] != want {
				t.Fatalf("seed %d: %s is %v, %v, want %v of objective %d, of\n%s", seed, text, v.Value.Points, v.Err, best[i], k+1, plain)
			}
		}
	}
	if compared < min(20, needs.Some(200)) {
		t.Errorf("only %d values", compared)
	}
}

var extremes = map[bool]string{true: "max", false: "min"}
