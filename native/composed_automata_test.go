package native

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// randomNetwork returns a Markov automaton in JANI: a monitor that sets a variable, and three to five automata without variables, with rates and with actions
// that two or three of them take together.
func randomNetwork(r *rand.Rand) []byte {
	type object = map[string]any
	type list = []any
	edge := func(from, to int) object {
		return object{"location": fmt.Sprint("l", from), "destinations": list{object{"location": fmt.Sprint("l", to)}}}
	}
	const numActions = 2
	action := func(i int) string { return fmt.Sprint("a", i) }
	var automata, elements list
	numAutomata := 3 + r.IntN(3)
	for i := range numAutomata {
		numLocations := 2 + r.IntN(3)
		locations, edges := list{}, list{}
		for l := range numLocations {
			locations = append(locations, object{"name": fmt.Sprint("l", l)})
			for range r.IntN(3) {
				rate := edge(l, r.IntN(numLocations))
				rate["rate"] = object{"exp": json.Number([]string{"1", "0.5", "2", "1.25"}[r.IntN(4)])}
				edges = append(edges, rate)
			}
			for range r.IntN(2) + l%2 {
				step := edge(l, r.IntN(numLocations))
				step["action"] = action(r.IntN(numActions))
				edges = append(edges, step)
			}
			if r.IntN(6) == 0 && l+1 < numLocations {
				edges = append(edges, edge(l, l+1))
			}
		}
		automata = append(automata, object{"name": fmt.Sprint("m", i), "locations": locations, "initial-locations": list{"l0"}, "edges": edges})
		elements = append(elements, object{"automaton": fmt.Sprint("m", i)})
	}
	mark := edge(0, 0)
	mark["action"], mark["destinations"] = "mark", list{object{"location": "l0", "assignments": list{object{"ref": "marked", "value": true}}}}
	automata = append(automata, object{
		"name": "monitor", "locations": list{object{"name": "l0"}}, "initial-locations": list{"l0"}, "edges": list{mark},
	})
	elements = append(elements, object{"automaton": "monitor"})
	var syncs list
	for i := range 2 + r.IntN(4) {
		vector := make(list, len(elements))
		for _, participant := range r.Perm(numAutomata)[:2+r.IntN(2)] {
			vector[participant] = action(r.IntN(numActions))
		}
		if i == 0 {
			vector = make(list, len(elements))
			vector[r.IntN(numAutomata)], vector[numAutomata] = action(r.IntN(numActions)), "mark"
		}
		syncs = append(syncs, object{"synchronise": vector, "result": "step"})
	}
	text, err := json.Marshal(object{
		"jani-version": 1, "name": "network", "type": "ma", "automata": automata, "system": object{"elements": elements, "syncs": syncs},
		"variables": list{object{"name": "marked", "type": "bool", "initial-value": false}},
	})
	if err != nil {
		panic(err)
	}
	return text
}

// TestComposedAutomata compares answers of composed automata with those of the whole model.
func TestComposedAutomata(t *testing.T) {
	props := []string{
		"Pmax=? [ F<=1 marked ]", "Pmin=? [ F<=1 marked ]", "Pmax=? [ F marked ]", "Pmin=? [ F marked ]", "Smax=? [ marked ]",
		"Smin=? [ marked ]", "Tmin=? [ F marked ]", "Tmax=? [ F marked ]",
	}
	r := rand.New(rand.NewPCG(44, 3))
	numCompared, numSmaller := 0, 0
	for range needs.Some(200) {
		model := randomNetwork(r)
		job := runner.Job{File: "network.jani", Model: model, Props: props, Dialect: syntax.Storm}
		wholeModel := checkJob(t, job)
		job.Numeric.Compose = true
		composed := checkJob(t, job)
		for i, whole := range wholeModel {
			if whole.Err != nil {
				continue
			}
			numCompared++
			if composed[i].States < whole.States {
				numSmaller++
			}
			if composed[i].Err != nil || !sameAnswer(&whole, &composed[i]) {
				t.Fatalf("%s\n%s: %v, composed %v", model, props[i], whole, composed[i])
			}
		}
	}
	if numCompared == 0 || numSmaller == 0 {
		t.Errorf("%d answers compared, %d of smaller models, want some", numCompared, numSmaller)
	}
}

// TestNotComposed: a property that counts steps keeps the model as it is, which a warning says; an output that needs the states is refused.
func TestNotComposed(t *testing.T) {
	job := runner.Job{File: "network.jani", Model: randomNetwork(rand.New(rand.NewPCG(1, 1))), Props: []string{"Pmax=? [ X marked ]"}, Dialect: syntax.Storm}
	job.Numeric.Compose = true
	if verdict := checkJob(t, job)[0]; !slices.ContainsFunc(verdict.Warnings, func(text string) bool { return strings.HasPrefix(text, "no automata were composed") }) {
		t.Errorf("warnings %q, want that no automata were composed", verdict.Warnings)
	}
	job.Numeric.Reduce = true
	plan, err := runner.NewPlan(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New().Check(t.Context(), plan); err == nil || !strings.Contains(err.Error(), "composed automata have no schedulers") {
		t.Errorf("error %v, want that composed automata have no quotient", err)
	}
}

// checkJob returns the verdicts of a job.
func checkJob(t *testing.T, job runner.Job) []result.Verdict {
	t.Helper()
	plan, err := runner.NewPlan(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := New().Check(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	return verdicts
}

// TestComposedRates has networks in which composition must keep all edges and vectors: an automaton without variables has an edge twice that takes part in
// a step with a rate; a vector with a rate is repeated; the sum of the rates of a location is large.
func TestComposedRates(t *testing.T) {
	const network = `{"jani-version": 1, "name": "n", "type": "ma", "variables": [{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 2},
		"initial-value": 0}], "automata": [
		{"name": "a", "locations": [{"name": "l0"}, {"name": "l1"}, {"name": "l2"}], "initial-locations": ["l0"], "edges": [%s
			{"location": "l1", "action": "h", "destinations": [{"location": "l2"}]}]},
		{"name": "b", "locations": [{"name": "l0"}, {"name": "l1"}], "initial-locations": ["l0"], "edges": [
			{"location": "l0", "action": "s", "destinations": [{"location": "l1"}]}]},
		{"name": "v", "locations": [{"name": "l0"}], "initial-locations": ["l0"], "edges": [
			{"location": "l0", "action": "r", "rate": {"exp": 1}, "destinations": [{"location": "l0", "assignments": [{"ref": "x", "value": 1}]}]},
			{"location": "l0", "action": "m", "destinations": [{"location": "l0", "assignments": [{"ref": "x", "value": 1}]}]},
			{"location": "l0", "action": "q", "rate": {"exp": %d}, "destinations": [{"location": "l0", "assignments": [{"ref": "x", "value": 2}]}]}]}],
		"system": {"elements": [{"automaton": "a"}, {"automaton": "b"}, {"automaton": "v"}], "syncs": [%s
			{"synchronise": [null, null, "q"], "result": "q"}]}}`
	const (
		step     = `{"location": "l0", "action": "go", "destinations": [{"location": "l1"}]},`
		rate     = `{"location": "l0", "rate": {"exp": 100000}, "destinations": [{"location": "l1"}]},`
		repeated = `{"synchronise": [null, null, "r"], "result": "c"},`
		pair     = `{"synchronise": ["h", "s", null], "result": "h"},`
	)
	for name, test := range map[string]struct {
		edges, vectors string
		rate           int
		want           float64
	}{
		"two edges":   {step + step, pair + `{"synchronise": ["go", null, "r"], "result": "c"},`, 2, 0.5},
		"two vectors": {"", pair + repeated + repeated, 2, 0.5},
		"large rates": {strings.Repeat(rate, 100), `{"synchronise": ["h", "s", "m"], "result": "h"},`, 10_000_000, 0.5},
	} {
		model := fmt.Sprintf(network, test.edges, test.rate, test.vectors)
		job := runner.Job{File: "network.jani", Model: []byte(model), Props: []string{"Pmax=? [ x=0 U x=1 ]"}}
		job.Numeric.Compose = true
		verdict := checkJob(t, job)[0]
		if verdict.Err != nil || verdict.Bound == nil || verdict.Bound.Lo > test.want || verdict.Bound.Hi < test.want || verdict.Bound.Hi-verdict.Bound.Lo > 1e-6 {
			t.Errorf("%s: got %v %v %v, want %v", name, verdict.Value, verdict.Bound, verdict.Err, test.want)
		}
	}
}
