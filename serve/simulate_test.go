package serve

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// A path of the queue, a CTMC: rewards of states and steps, times, labels and values by hand; the same path as files.
func TestPathOfQueue(t *testing.T) {
	model := `ctmc
module queue
  n : [0..3] init 0;
  [arrive] n<3 -> 2 : (n'=n+1);
  [serve] n>0 -> 3 : (n'=n-1);
endmodule
label "full" = n=3;
label "some" = n>0;
rewards "held" true : n; endrewards
rewards "served" [serve] true : 1; endrewards
`
	q := object{"model": model, "props": "P=? [ F<=1 n=3 ];"}
	var s situation
	ask(t, Options{}, "step", with(q, object{"state": []int32{2}, "property": 0}), &s)
	if s.ExitRate != 5 || len(s.Moves) != 2 || s.Vars[0].Module != "queue" || len(s.Labels) != 1 || s.AllLabels[s.Labels[0]] != "some" || s.Value == nil {
		t.Errorf("found %+v, want the exit rate 5, two moves, the label some and a value", s)
	}
	if m := s.Moves[1]; m.Action != "[serve]" || m.Rewards[0] != 0 || m.Rewards[1] != 1 || m.Commands[0] != (commandPlace{"queue", 5}) {
		t.Errorf("found %+v, want a reward of 1 and line 5", m)
	}
	var walk struct{ Steps []pathStep }
	ask(t, Options{}, "walk", with(q, object{"state": []int32{2}, "steps": 20, "seed": 3, "property": 0}), &walk)
	if len(walk.Steps) != 21 || walk.Steps[0].State[0] != 2 {
		t.Fatalf("found %+v, want 20 steps from n=2", walk)
	}
	for i, w := range walk.Steps {
		n := float64(w.State[0])
		if float64(w.Rewards[0]) != n || w.Value == nil || (i < 20) != (w.Sojourn > 0) || (n == 3) != (len(w.Labels) == 2) {
			t.Errorf("step %d is %+v", i, w)
		}
	}
	var path checkedPath
	ask(t, Options{}, "follow", with(q, object{"text": "action,step,time,n\n-,0,0,2\n[serve],1,0.5,1\n[arrive],2,0.75,2\n", "start": []int32{2}, "write": "prism"}), &path)
	if lines := strings.Split(path.Table, "\n"); !strings.HasPrefix(lines[0], "action probability step time n ") || lines[2] != "[serve] 3.0 1 0.5 1 1.0 0.0 0.0 0.0" {
		t.Errorf("found %q, want [serve] at 0.5", path.Table)
	}
	if path.Probability != "" || len(path.Steps) != 0 {
		t.Errorf("found %+v beside the table", path)
	}
}

// Random steps with the optimal choices of a property: of two ways the safe one is always taken, and without them both are.
func TestOptimalWalk(t *testing.T) {
	q := object{"model": `mdp
module m
  s : [0..3];
  [risky] s<3 -> 0.5:(s'=s+1) + 0.5:(s'=3);
  [safe] s<2 -> (s'=s+1);
  [rest] s>=2 -> true;
endmodule
`, "props": "Pmax=? [ G s<3 ]; P>=0.5 [ F s=3 ]; Pmin=? [ F<=2 s=3 ];", "steps": 2}
	actions := func(more object) string {
		var walk struct{ Steps []pathStep }
		ask(t, Options{}, "walk", with(q, more), &walk)
		var out []string
		for _, s := range walk.Steps[1:] {
			out = append(out, s.Action)
		}
		return strings.Join(out, " ")
	}
	seen := map[string]bool{}
	for seed := range 20 {
		for _, property := range []int{0, 2} {
			if found := actions(object{"seed": seed, "property": property, "optimal": true}); found != "[safe] [safe]" {
				t.Errorf("seed %d, property %d: the optimal choices are %s", seed, property, found)
			}
		}
		seen[actions(object{"seed": seed, "property": 0})] = true
	}
	if len(seen) < 2 {
		t.Errorf("without them the choices are always %v", seen)
	}
}

// A state whose modules have 3^24 combinations of updates: step and graph show some transitions and say how many there are, walk draws from all, and
// components knows those between states that are shown.
func TestManyModules(t *testing.T) {
	const modules = 24
	// The first states are too many for components to build the state space.
	text := fmt.Sprintf("dtmc\nglobal n : [0..%[1]d];\nmodule counter [] n<%[1]d -> (n'=n+1); endmodule\n", builtUnasked+10)
	for i := range modules {
		text += fmt.Sprintf("module m%[1]d x%[1]d:[0..2]; [a] n=%[2]d -> 0.2:(x%[1]d'=0) + 0.3:(x%[1]d'=1) + 0.5:(x%[1]d'=2); endmodule\n", i, builtUnasked+10)
	}
	const transitions = "282429536481" // 3^24
	zeros, ones := make([]int32, 1+modules), make([]int32, 1+modules)
	for i := range ones {
		ones[i] = 1
	}
	zeros[0], ones[0] = builtUnasked+10, builtUnasked+10
	question := object{"model": text, "state": zeros}
	var s situation
	ask(t, Options{}, "step", question, &s)
	if len(s.Moves) != 1 || len(s.Moves[0].To) != MaxNodes || s.Moves[0].Transitions != transitions || math.Abs(float64(s.ExitRate)-1) > 1e-9 {
		t.Errorf("found %d moves, exit rate %v, want one with %d of %s transitions", len(s.Moves), s.ExitRate, MaxNodes, transitions)
	}
	var walk struct{ Steps []pathStep }
	ask(t, Options{}, "walk", with(question, object{"steps": 50}), &walk)
	if len(walk.Steps) != 51 {
		t.Errorf("found %d states, want 51", len(walk.Steps))
	}
	var g graph
	ask(t, Options{}, "graph", object{"model": text, "open": [][]int32{zeros}}, &g)
	if len(g.Nodes) != MaxNodes || !g.More || len(g.Choices) != 1 || g.Choices[0].Transitions != transitions {
		t.Errorf("found %d states and %d choices, want %d and one choice", len(g.Nodes), len(g.Choices), MaxNodes)
	}
	var components componentsAnswer
	both := [][]int32{zeros, ones}
	ask(t, Options{}, "components", object{"model": text, "kind": sccs, "shown": both, "open": both}, &components)
	if components.Count != 1 || components.Component[0] != components.Component[1] {
		t.Errorf("found %+v, want one component with both states", components)
	}
}
