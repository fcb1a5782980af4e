package attack

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/result"
	"tilecheck/runner"
)

// TestOracles compares the enumeration of strategies with strategy iteration.
func TestOracles(t *testing.T) {
	for number := range uint64(20) {
		r := maker{rand.New(rand.NewPCG(3, number))}
		m := r.system(pick(r, "mdp", "smg", "imdp"), 4, 2)
		if m.resolutions() > 100 {
			continue
		}
		w, everywhere := writer{r, m}, constant(len(m.choices), true)
		targets := r.set(len(m.choices))
		for _, query := range w.queries() {
			want := m.value(query.goal, func(c *chain) vector { return c.until(everywhere, targets) })
			compareVectors(t, m, m.optimalReach(query.goal, targets), want)
		}
		if m.kind == "mdp" {
			for _, isMax := range []bool{false, true} {
				want := m.value(all(isMax), func(c *chain) vector { return c.reachReward(targets) })
				compareVectors(t, m, m.optimalReward(isMax, targets), want)
			}
		}
	}
}

func compareVectors(t *testing.T, m *system, got, want vector) {
	t.Helper()
	for s := range want {
		if compare(got[s], want[s]) != 0 {
			t.Errorf("state %d: got %v, want %v\n%s", s, got[s], want[s], m.text())
		}
	}
}

// TestContradicts checks that wrong answers are found.
func TestContradicts(t *testing.T) {
	third := numberAnswer(big.NewRat(1, 3))
	bounds := func(low, high, value float64) result.Verdict {
		return result.Verdict{Accuracy: result.Bounded, Bound: &result.Interval{Lo: low, Hi: high}, Value: result.Value{Kind: result.Number, Num: value}}
	}
	fraction := func(x *big.Rat) result.Verdict {
		value, _ := x.Float64()
		return result.Verdict{Accuracy: result.Exact, Value: result.Value{Kind: result.Number, Num: value, Rat: x}}
	}
	truth := func(holds bool) result.Verdict {
		return result.Verdict{Value: result.Value{Kind: result.Boolean, Bool: holds}}
	}
	for name, test := range map[string]struct {
		want    answer
		verdict result.Verdict
		isWrong bool
	}{
		"bounds":               {third, bounds(0.333333333, 0.333333334, 0.3333333333), false},
		"bounds below":         {third, bounds(0.333333331, 0.333333333, 0.333333332), true},
		"bounds above":         {third, bounds(0.333333334, 0.333333335, 0.333333334), true},
		"wide bounds":          {third, bounds(0.3, 0.4, 0.35), true},
		"a value beside":       {third, bounds(0.333333333, 0.333333334, 0.4), true},
		"fraction":             {third, fraction(big.NewRat(1, 3)), false},
		"another fraction":     {third, fraction(big.NewRat(333333333333, 1000000000000)), true},
		"no bounds":            {third, result.Verdict{Value: result.Value{Kind: result.Number, Num: 1.0 / 3}}, true},
		"not infinite":         {numberAnswer(nil), fraction(big.NewRat(7, 1)), true},
		"infinite":             {numberAnswer(nil), bounds(math.Inf(1), math.Inf(1), math.Inf(1)), false},
		"infinite for a third": {third, bounds(math.Inf(1), math.Inf(1), math.Inf(1)), true},
		"true":                 {truthAnswer(true), truth(true), false},
		"false":                {truthAnswer(true), truth(false), true},
		"a number":             {truthAnswer(true), fraction(one()), true},
	} {
		if wrong := test.want.contradicts(&test.verdict, &runner.Job{}); (wrong != "") != test.isWrong {
			t.Errorf("%s: found %q", name, wrong)
		}
	}
}
