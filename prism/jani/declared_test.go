package jani_test

import (
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/prism/jani"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestDeclared: an empty name of the model and features that it only declares are read, as
// Storm reads them; what a feature that is not supported adds is refused where it stands.
func TestDeclared(t *testing.T) {
	text := document("dtmc", variables(bounded("i", 0, 4, "0")), []string{automaton("a", "", []string{"l"},
		edge("l", `{"op": "<", "left": "i", "right": 4}`, to("l", set("i", `{"op": "+", "left": "i", "right": 1}`))))}, system("a"))
	text = strings.Replace(text, `"name": "test"`, `"name": ""`, 1)
	const declared = `["derived-operators", "edge-priorities", "hyperbolic-functions", "named-expressions", "tradeoff-properties", "trigonometric-functions"]`
	text = strings.Replace(text, `["derived-operators"]`, declared, 1)
	if _, err := jani.Read("m", []byte(text), nil); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"right": 4`, `"right": {"op": "sin", "exp": "i"}`, `the operator "sin" is not supported here`},
		{`"right": 4`, `"right": {"op": "cosh", "exp": "i"}`, `the operator "cosh" is not supported here`},
		{`{"location": "l", `, `{"priority": 1, "location": "l", `, `an edge has a key "priority"`},
		{`"features": [`, `"features": ["x-unheard-of", `, `the feature "x-unheard-of" is not supported`},
	} {
		changed := strings.Replace(text, c.from, c.to, 1)
		if _, err := jani.Read("m", []byte(changed), nil); changed == text || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, want %s", c.to, err, c.want)
		}
	}
}

// TestTimeOperator: T counts the steps of a JANI model, and is the time of a Markov automaton.
//
// Expectations: by hand, and Storm 1.14.0.
func TestTimeOperator(t *testing.T) {
	check := func(text, property, want string) {
		t.Helper()
		vs, err := runner.Check(t.Context(), native.New(), runner.Job{
			File: "m.jani", Model: []byte(text), Props: []string{property}, Dialect: syntax.Storm, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}},
		})
		if err != nil || len(vs) != 1 || vs[0].Err != nil || vs[0].Value.Rat == nil || vs[0].Value.Rat.RatString() != want {
			t.Errorf("%s: found %v, %v, want %s", property, vs, err, want)
		}
	}
	chain := func(kind, step string) string {
		return document(kind, variables(end), []string{automaton("a", "", []string{"start", "done end=true"}, step)}, system("a"))
	}
	toss := edge("start", "", likely("0.25", "start"), likely("0.75", "done"))
	check(chain("dtmc", toss), `T=? [ F "end" ]`, "4/3")
	check(chain("mdp", toss), `Tmax=? [ F "end" ]`, "4/3")
	check(chain("ctmc", rated("4", edge("start", "", to("done")))), `T=? [ F "end" ]`, "1/4")
	// A quarter of the runs wait at rate 2 and then at rate 3, the others only at rate 3.
	automata := []string{automaton("a", "", []string{"start", "two", "three", "done end=true"},
		edge("start", "", likely("0.25", "two"), likely("0.75", "three")),
		rated("2", edge("two", "", to("three"))), rated("3", edge("three", "", to("done"))))}
	check(document("ma", variables(end), automata, system("a")), `Tmax=? [ F "end" ]`, "11/24")
}
