package check_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/result"
)

// A path goes on in state 0 with 1/2, and costs 1/3 each time.
const quantileModel = `mdp
module m
  s : [0..3];
  [go] s=0 -> 0.5 : (s'=0) + 0.5 : (s'=1);
  [slow] s=0 -> (s'=2);
  [stay] s=2 -> (s'=2);
  [end] s=2 -> (s'=3);
  [] s=1 | s=3 -> true;
endmodule
rewards "r" [go] true : 1/3; [slow] true : 5; [stay] true : 1; endrewards
rewards "q" [end] true : 2; endrewards`

func TestQuantile(t *testing.T) {
	for property, want := range map[string]string{
		`quantile(B, Pmax>0.75 [ F{"r"}<=B s=1 ])`:           "1", // three steps
		`quantile(min B, Pmax>=0.75 [ F{"r"}<=B s=1 ])`:      "2/3",
		`quantile(B, Pmax>=1 [ F{"r"}<=B s=1 ])`:             "inf", // only in the limit
		`quantile(B, Pmax>=1 [ F{"r"}<=B s=3 ])`:             "5",   // the limit is attained
		`quantile(B, Pmax>=1 [ F steps<=B s=3 ])`:            "2",
		`quantile(B, Pmax>1 [ F{"r"}<=B s=3 ])`:              "inf",
		`quantile(max B, Pmax<0.75 [ F{"r"}<=B s=1 ])`:       "1/3",
		`quantile(max B, P<=0.75 [ F{"r"}<=B s=1 ])`:         "2/3",
		`quantile(B, P<1 [ F{"r"}<=B s=1 ])`:                 "inf",
		`quantile(B, Pmin>=0 [ F{"r"}<=B s=1 ])`:             "0",
		`quantile(B, P<=0.4 [ F{"r"}<=B s<2 ])`:              "nan", // already violated by 0
		`quantile(B, P>=1 [ F{"r"}<=B s!=0 | s=0 ])`:         "0",
		`quantile(B, P>=0.5 [ F s=1 ])`:                      "?path formula without bounds",
		`quantile(B, P>=0.5 [ F{"r"}>=B s=1 ])`:              "?B in another place",
		`quantile(B, P>=0.5 [ F{"r"}<B s=1 ])`:               "?B in another place",
		`quantile(B, P>=0.5 [ F{"r"}<=B s=B ])`:              "?B in another place",
		`quantile(B, C, P>=0.5 [ F{"r"}<=B s=1 ])`:           "?", // C is a word of the language
		`quantile(B, K, P>=0.5 [ F{"r"}<=B s=1 ])`:           "?no bound K",
		`quantile(s, P>=0.5 [ F{"r"}<=s s=1 ])`:              "?declared already",
		`quantile(B, Pmax=? [ F{"r"}<=B s=1 ])`:              "?another formula",
		`quantile(P>=0.5 [ F{"r"}<=2 s=1 ])`:                 "?0 variables",
		`quantile(B, P>=0.5 [ F{"r"}<=B s=1 ], true)`:        "?2 properties",
		`quantile(B, Pmin>=0.5 [ s=0 U{"r"}<=B s=1 | s=2 ])`: "5",
		`1 + quantile(B, Pmax>0.75 [ F{"r"}<=B s=1 ])`:       "?found an expression of type void",
	} {
		if want != "nan" {
			checkStorm(t, quantileModel, property, want)
		} else if v := storm(t, quantileModel, result.Bounded, property)[0]; v.Err != nil || !math.IsNaN(v.Value.Num) {
			t.Errorf("%s: found %v, %v, want NaN", property, v.Value, v.Err)
		}
	}
	chain := strings.NewReplacer("mdp", "ctmc").Replace(quantileModel)
	checkStorm(t, chain, `quantile(B, P>0.75 [ F{"r"}<=B s=1 ])`, "?quantile(...) for a CTMC")
	v := storm(t, quantileModel, result.Bounded, `quantile(max B, Pmax>0.75 [ F{"r"}<=B s=1 ])`)[0]
	if v.Err != nil || !strings.Contains(strings.Join(v.Warnings, ""), "the word max is ignored") {
		t.Errorf("a wrong word: %v, %v", v.Warnings, v.Err)
	}
}

// TestQuantileBeyondCounting asks for a bound that exists, but is greater than the number of units that are counted. A threshold that no bound meets still has the
// answer Infinity.
func TestQuantileBeyondCounting(t *testing.T) {
	const chain = `dtmc
module m
 s : [0..4] init 0;
 [] s<3 -> (s'=s+1);
 [] s=3 -> 0.5:(s'=3) + 0.5:(s'=4);
endmodule
rewards "r" s=0 : 1; s=1 : 1073741823; s=2 : 5; endrewards
rewards "loop" s=3 : 1; endrewards`
	for property, want := range map[string]string{
		`quantile(B, P>=1 [ F{"r"}<=B s=3 ])`:    "?more than 1073741824 units",
		`quantile(B, P>0.5 [ F{"r"}<=B s=3 ])`:   "?more than 1073741824 units",
		`quantile(B, P>=1 [ F{"loop"}<=B s=4 ])`: "inf",
	} {
		checkStorm(t, chain, property, want)
	}
}

// TestQuantileValues compares with the probabilities for all bounds up to a limit, in units of 1/7. The models have paths that never
// reach the target, and choices that cost nothing.
func TestQuantileValues(t *testing.T) {
	const limit = 7
	points := 0
	for seed := range needs.Models(t, 200) {
		rng := rand.New(rand.NewPCG(seed, 44))
		model, query := randomCosts(rng)
		relation := []string{">", ">=", "<", "<="}[rng.IntN(4)]
		dims := 1 + rng.IntN(2)
		probability := func(bounds []int) *big.Rat {
			return storm(t, model, result.Exact, fmt.Sprintf("%s=? [ %s ]", query, boundedPath(fmt.Sprint(bounds[0])+"/7", fmt.Sprint(bounds[len(bounds)-1])+"/7", dims)))[0].Value.Rat
		}
		// The threshold is sometimes a probability that a bound attains.
		threshold := big.NewRat(int64(rng.IntN(8)), 7)
		if rng.IntN(2) == 0 {
			threshold = probability([]int{rng.IntN(limit), rng.IntN(limit)}[:dims])
		}
		holds := func(bounds []int) bool {
			order := probability(bounds).Cmp(threshold)
			return map[string]bool{">": order > 0, ">=": order >= 0, "<": order < 0, "<=": order <= 0}[relation]
		}
		text := fmt.Sprintf("quantile(%s%s%s [ %s ])", []string{"", "B, ", "B, D, "}[dims]+query, relation, threshold.Num().String()+".0/"+threshold.Denom().String()+".0", boundedPath("B", "D", dims)) // ints have 32 bits
		for _, accuracy := range []result.Accuracy{result.Exact, result.Bounded} {
			v := storm(t, model, accuracy, text)[0]
			if v.Err != nil {
				if !strings.Contains(v.Err.Message, "is the threshold itself without the bounds") {
					t.Fatalf("seed %d: %s: %v of\n%s", seed, text, v.Err, model)
				}
				continue
			}
			points += len(v.Value.Points)
			for _, bounds := range grid(limit, dims) {
				if got, want := impliesAt(v.Value, relation[0] == '>', bounds), holds(bounds); got != want {
					t.Fatalf("seed %d: %s is %v, which says %t of bounds %v/7, want %t, of\n%s", seed, text, v.Value, got, bounds, want, model)
				}
			}
			checkAntichain(t, v.Value.Points)
		}
	}
	if points < min(10, needs.Some(100)) {
		t.Errorf("only %d points", points)
	}
}

// randomCosts returns a chain or an MDP with two reward structures in units of 1/7, and its P operator without a relation.
func randomCosts(rng *rand.Rand) (model, query string) {
	kind, query := "dtmc", "P"
	if rng.IntN(2) == 0 {
		kind, query = "mdp", []string{"Pmin", "Pmax"}[rng.IntN(2)]
	}
	var text, first, second strings.Builder
	fmt.Fprintf(&text, "%s\nmodule m s:[0..4];\n", kind)
	for s := range 5 {
		choices := 1
		if kind == "mdp" {
			choices += rng.IntN(2)
		}
		for c := range choices {
			action := fmt.Sprintf("a%d%d", s, c)
			fmt.Fprintf(&text, "  [%s] s=%d -> 1/3:(s'=%d) + 2/3:(s'=%d);\n", action, s, rng.IntN(5), rng.IntN(5))
			fmt.Fprintf(&first, "[%s] true : %d/7; ", action, rng.IntN(3))
			fmt.Fprintf(&second, "[%s] true : %d/7; ", action, rng.IntN(2))
		}
	}
	return text.String() + "endmodule\nrewards \"r\" s=4 : 1/7; " + first.String() + "endrewards\nrewards \"q\" s=4 : 1/7; " + second.String() + "endrewards\n", query
}

// boundedPath returns a path formula with bounds on one or two rewards.
func boundedPath(first, second string, dims int) string {
	if dims == 1 {
		return `s!=3 U{"r"}<=` + first + ` s=4`
	}
	return `s!=3 U{"r"}<=` + first + `,{"q"}<=` + second + ` s=4`
}

// grid returns all bounds below a limit.
func grid(limit, dims int) (out [][]int) {
	for i := range limit {
		if dims == 1 {
			out = append(out, []int{i})
			continue
		}
		for j := range limit {
			out = append(out, []int{i, j})
		}
	}
	return out
}

// impliesAt returns whether a quantile says that the formula holds with bounds in units of 1/7: above a minimal point, or below a
// maximal one.
func impliesAt(quantile result.Value, minimal bool, bounds []int) bool {
	points := quantile.Points
	if quantile.Kind == result.Number {
		points = [][]float64{{quantile.Num}} // NaN is not above anything
	}
	return slices.ContainsFunc(points, func(point []float64) bool {
		for i, bound := range bounds {
			at := math.Round(point[i] * 7)
			if !(minimal && float64(bound) >= at || !minimal && float64(bound) <= at) {
				return false
			}
		}
		return true
	})
}

// checkAntichain reports an error if a point of a quantile is superfluous.
func checkAntichain(t *testing.T, points [][]float64) {
	t.Helper()
	for i, p := range points {
		for j, q := range points {
			if i != j && p[0] <= q[0] && p[1] <= q[1] {
				t.Errorf("%v and %v in one quantile", p, q)
			}
		}
	}
}
