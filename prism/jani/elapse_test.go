package jani_test

import (
	"math"
	"testing"

	"tilecheck/native"
	"tilecheck/runner"
)

// TestElapse: bounds on the time of a Markov automaton, its own and those that are asked for. At
// once one chooses between two steps of rate 2 and one of rate 1.
func TestElapse(t *testing.T) {
	text := document("ma", variables(end), []string{automaton("a", "", []string{"start", "two", "one", "last", "done end=true"},
		edge("start", "", to("two")), edge("start", "", to("one")),
		rated("2", edge("two", "", to("last"))), rated("2", edge("last", "", to("done"))), rated("1", edge("one", "", to("done"))))},
		system("a"),
		property("soon", `{"op": "Pmax", "exp": {"op": "F", "exp": "end", "time-bounds": {"upper": 0.25}}}`),
		property("late", `{"op": "Pmin", "exp": {"op": "F", "exp": "end", "time-bounds": {"upper": 4}}}`))
	one := func(t float64) float64 { return 1 - math.Exp(-t) }
	two := func(t float64) float64 { return 1 - math.Exp(-2*t)*(1+2*t) }
	check := func(props []string, want ...float64) {
		t.Helper()
		vs, err := runner.Check(t.Context(), native.New(), runner.Job{File: "m.jani", Model: []byte(text), Props: props})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range vs {
			if v.Err != nil || v.Bound == nil || !(v.Bound.Lo <= want[i] && want[i] <= v.Bound.Hi && v.Bound.Hi-v.Bound.Lo <= 1e-8*want[i]) {
				t.Errorf("%s: found %v, %v, want %v", v.Property, v.Bound, v.Err, want[i])
			}
		}
		if len(vs) != len(want) {
			t.Errorf("%d verdicts, want %d", len(vs), len(want))
		}
	}
	check(nil, one(0.25), one(4))
	check([]string{`Pmax=? [ F<=4 "end" ]`, `Pmin=? [ true U<=0.25 "end" ]`, `Pmin=? [ F "end" ]`}, two(4), two(0.25), 1)
	check([]string{`Pmax=? [ F[1,2] "end" ]`, `Pmin=? [ F>=1 "end" ]`}, two(2), 1) // time passes in the deadlock behind the end
	for _, p := range []string{`Pmax=? [ G<=2 !"end" ]`, `Pmax=? [ X (F<=2 "end") ]`, `Rmax=? [ C<=2 ]`} {
		vs, err := runner.Check(t.Context(), native.New(), runner.Job{File: "m.jani", Model: []byte(text), Props: []string{p}})
		if err == nil && vs[0].Err == nil {
			t.Errorf("%s: found %v, want it refused", p, vs[0].Value)
		}
	}
}
