package bridge_test

import (
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestMarkovAutomata: Storm gets a Markov automaton with its Markovian commands and bounds that are no numbers of steps; PRISM is not
// asked.
func TestMarkovAutomata(t *testing.T) {
	model := "ma\nmodule m\n  s : [0..1];\n  <> s=0 -> 2 : (s'=1);\n  [] s=1 -> true;\nendmodule\n"
	job := runner.Job{File: "m.prism", Model: []byte(model), Dialect: syntax.Storm, Props: []string{"Pmax=? [ F<1/2 s=1 ]"}}
	vs, err := runner.Check(t.Context(), bridge.PRISM(&script{}, bridge.Options{}), job)
	if err != nil || vs[0].Err == nil || vs[0].Err.Class != result.Unsupported || !strings.Contains(vs[0].Err.Message, "found a Markov automaton (ma), which PRISM does not read") {
		t.Errorf("found %v, %v, want it refused", vs, err)
	}
	s := &script{answers: []string{"", ""}}
	if _, err := runner.Check(t.Context(), bridge.Storm(s, bridge.Options{}), job); err != nil {
		t.Fatal(err)
	}
	if sent := s.file(0, "model.prism"); !strings.Contains(sent, "ma\n") || !strings.Contains(sent, "<> s=0 -> 2:(s'=1);") {
		t.Errorf("sent the model %q", sent)
	}
	asked := strings.Join(s.commands[0].Args, " ") + s.file(0, "properties.props")
	if !strings.Contains(asked, "F<(1/2.0) ") {
		t.Errorf("asked %q", asked)
	}
}

// The operator T of a Markov automaton in JANI is printed as it was written. Storm gets it as an R operator, because one step of the embedded
// MDP, which it is sent, is not one unit of time.
func TestTimeOfMarkovAutomaton(t *testing.T) {
	model := `{"jani-version": 1, "name": "race", "type": "ma",
 "variables": [{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 1}, "initial-value": 0}],
 "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"],
  "edges": [{"location": "l", "rate": {"exp": 2}, "guard": {"exp": {"op": "=", "left": "x", "right": 0}},
   "destinations": [{"location": "l", "assignments": [{"ref": "x", "value": 1}]}]}]}],
 "system": {"elements": [{"automaton": "a"}]}}`
	job := runner.Job{File: "race.jani", Model: []byte(model), Dialect: syntax.Storm, Props: []string{"Tmax=? [ F x=1 ]"}}
	s := &script{answers: []string{"", ""}}
	verdicts, err := runner.Check(t.Context(), bridge.Storm(s, bridge.Options{}), job)
	if err != nil {
		t.Fatal(err)
	}
	if got := verdicts[0].Property; got != "Tmax=? [ F x=1 ]" {
		t.Errorf("the property is printed as %q", got)
	}
	if asked := strings.Join(s.commands[0].Args, " ") + s.file(0, "properties.props"); !strings.Contains(asked, `R{"`+syntax.TimeRewards+`"}max=? [ F (x=1) ]`) {
		t.Errorf("asked %q", asked)
	}
	job.Props = append(job.Props, `R{"cost"}max=? [ F x=1 ]`)
	if _, err := runner.Check(t.Context(), bridge.Storm(s, bridge.Options{}), job); err == nil || strings.Contains(err.Error(), syntax.TimeRewards) {
		t.Errorf("found %v, want an unknown reward structure, without the one of the operator T", err)
	}
}
