package serve

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
)

// race returns the game of examples/race.prism.
func race(t *testing.T) object {
	t.Helper()
	model, err := os.ReadFile("../examples/race.prism")
	if err != nil {
		t.Fatal(err)
	}
	return object{"model": string(model)}
}

// counter is an MDP that counts from 0 to n, where it stays.
func counter(n int) object {
	return object{"model": fmt.Sprintf(`mdp
module count
  x : [0..%d] init 0;
  [] x<%d -> (x'=x+1);
  [wait] x<%d -> true;
endmodule
module back
  [back] x=%d -> true;
endmodule
module also
  [back] true -> true;
endmodule
`, n, n, n, n)}
}

// An unlabelled choice has its module and line, and a synchronisation the lines of all modules.
func TestExploreCommands(t *testing.T) {
	var g graph
	ask(t, Options{}, "graph", with(counter(1), object{"open": [][]int32{{0}, {1}}}), &g)
	var got []string
	for _, c := range g.Choices {
		got = append(got, fmt.Sprint(c.Action, c.Commands))
	}
	want := []string{"count[{count 4}]", "[wait][{count 5}]", "[back][{back 8} {also 11}]"}
	if !slices.Equal(got, want) || g.Modules != 3 {
		t.Errorf("found %q of %d modules, want %q of 3", got, g.Modules, want)
	}
}

// All states of a depth are shown, and the answer says how deep the picture is where it has no room for more.
func TestExploreDepth(t *testing.T) {
	var g graph
	ask(t, Options{}, "graph", with(die(t), object{"depth": 2}), &g)
	if len(g.Nodes) != 7 || g.Depth != 2 || g.More {
		t.Errorf("found %d states, depth %d, want 7 and 2", len(g.Nodes), g.Depth)
	}
	g = graph{}
	ask(t, Options{}, "graph", with(die(t), object{"open": [][]int32{{0, 0}}, "depth": 1, "from": []int32{2, 0}}), &g)
	if len(g.Nodes) != 5 || len(g.Choices) != 2 { // s=0 to s=1 and s=2, s=2 to s=5 and s=6
		t.Errorf("found %d states and %d choices, want 5 and 2", len(g.Nodes), len(g.Choices))
	}
	g = graph{}
	ask(t, Options{}, "graph", with(counter(1000), object{"depth": MaxNodes}), &g)
	if len(g.Nodes) != MaxNodes || g.Depth != MaxNodes-1 || !g.More {
		t.Errorf("found %d states, depth %d, more %t, want %d, %d and true", len(g.Nodes), g.Depth, g.More, MaxNodes, MaxNodes-1)
	}
}

// The owner of each state of a game is that of the engine's state space.
func TestExplorePlayers(t *testing.T) {
	var g graph
	ask(t, Options{}, "graph", with(race(t), object{"depth": 20}), &g)
	if !slices.Equal(g.Players, []string{"attacker", "defender"}) || len(g.Nodes) != 14 {
		t.Fatalf("found the players %q and %d states, want attacker, defender and 14", g.Players, len(g.Nodes))
	}
	for _, n := range g.Nodes {
		want := int(n.State[0]) // the owner of the token, until somebody has won
		if n.State[1] > 0 {
			want = 1 // the unlabelled command is the defender's
		}
		if n.Player == nil || *n.Player != want {
			t.Errorf("%s belongs to %v, want %d", n.Text, n.Player, want)
		}
	}
	var s situation
	ask(t, Options{}, "step", with(race(t), object{"state": []int32{1, 0, 0}}), &s)
	if s.Player == nil || *s.Player != 1 || len(s.Players) != 2 {
		t.Errorf("found the player %v of %q, want 1 of 2", s.Player, s.Players)
	}
	g = graph{}
	ask(t, Options{}, "graph", die(t), &g)
	if g.Players != nil || g.Nodes[0].Player != nil {
		t.Errorf("a DTMC has the players %q", g.Players)
	}
}

// A search counts the matches in the picture, and in all states only if it was a search of all states.
func TestFind(t *testing.T) {
	var f foundStates
	ask(t, Options{}, "find", with(die(t), object{"expr": "s=7 & d>3", "shown": [][]int32{{0, 0}, {7, 5}}}), &f)
	if want := (foundStates{Matches: []int{1}, Whole: true, States: [][]int32{{7, 4}, {7, 5}, {7, 6}}, Count: 3, Of: 13}); !reflect.DeepEqual(f, want) {
		t.Errorf("found %+v, want %+v", f, want)
	}
	large := counter(builtUnasked + 10)
	q := with(large, object{"expr": "x>=50000", "shown": [][]int32{{0}, {50001}}})
	f = foundStates{}
	ask(t, Options{}, "find", q, &f)
	if want := (foundStates{Matches: []int{1}, States: [][]int32{}}); !reflect.DeepEqual(f, want) {
		t.Errorf("found %+v, want %+v", f, want)
	}
	f = foundStates{}
	ask(t, Options{}, "find", with(q, object{"all": true}), &f)
	if !f.Whole || f.Count != 11 || f.Of != builtUnasked+11 {
		t.Errorf("found %+v, want 11 of %d", f, builtUnasked+11)
	}
}

// Predecessors have the choice and the probability with which the state is reached.
func TestPredecessors(t *testing.T) {
	var in incoming
	ask(t, Options{}, "predecessors", with(die(t), object{"state": []int32{1, 0}}), &in)
	if !in.Whole || in.Of != 13 || in.Count != 2 || len(in.From) != 2 {
		t.Fatalf("found %+v, want 2 predecessors of 13 states", in)
	}
	for i, want := range []string{"(s=0,d=0)", "(s=3,d=0)"} {
		if f := in.From[i]; f.Text != want || f.Probability != 0.5 || f.Action != "die" || f.Commands[0].Line == 0 {
			t.Errorf("found %+v, want %s with 0.5", f, want)
		}
	}
	// The self-loop of a deadlock is the engine's.
	in = incoming{}
	ask(t, Options{}, "predecessors", object{"model": "dtmc module m x:[0..1]; [] x=0 -> (x'=1); endmodule", "state": []int32{1}}, &in)
	if in.Count != 1 || len(in.From) != 1 {
		t.Errorf("found %+v, want one predecessor", in)
	}
	in = incoming{}
	ask(t, Options{}, "predecessors", with(counter(builtUnasked+10), object{"state": []int32{5}}), &in)
	if in.Whole || in.Count != 0 {
		t.Errorf("found %+v, want none of a large model", in)
	}
}

// twoCycles has a cycle of x=0 and x=1, which every scheduler leaves, and a cycle of x=2 and x=3 without an exit.
const twoCycles = `mdp
module m
  x : [0..3];
  [a] x=0 -> 0.5:(x'=1) + 0.5:(x'=2);
  [b] x=1 -> (x'=0);
  [d] x=2 -> (x'=3);
  [e] x=3 -> (x'=2);
endmodule
`

func TestComponents(t *testing.T) {
	states := [][]int32{{0}, {1}, {2}, {3}}
	model := object{"model": twoCycles, "shown": states}
	for _, test := range []struct {
		name string
		q    object
		want componentsAnswer
	}{
		{"SCCs", object{"kind": sccs}, componentsAnswer{Whole: true, Of: 4, Count: 2, Component: []int32{1, 1, 2, 2}, States: map[int32]int{1: 2, 2: 2}}},
		{"BSCCs", object{"kind": bsccs}, componentsAnswer{Whole: true, Of: 4, Count: 1, Component: []int32{0, 0, 1, 1}, States: map[int32]int{1: 2}}},
		{"MECs", object{"kind": mecs}, componentsAnswer{Whole: true, Of: 4, Count: 1, Component: []int32{0, 0, 1, 1}, States: map[int32]int{1: 2}}},
	} {
		var got componentsAnswer
		if ask(t, Options{}, "components", with(model, test.q), &got); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s are %+v, want %+v", test.name, got, test.want)
		}
	}
}

// In a large model only the expanded states are analysed, unless all are asked for. The bottom SCC at the end is found if its state
// is expanded.
func TestComponentsOfPart(t *testing.T) {
	large := counter(builtUnasked + 10)
	end := int32(builtUnasked + 10)
	shown := [][]int32{{0}, {1}, {2}, {end}}
	for _, test := range []struct {
		kind componentKind
		open [][]int32
		want componentsAnswer
	}{
		{sccs, [][]int32{{0}, {1}}, componentsAnswer{Of: 2, Count: 2, Component: []int32{1, 2, 0, 0}, States: map[int32]int{1: 1, 2: 1}}},
		{mecs, [][]int32{{0}, {1}}, componentsAnswer{Of: 2, Count: 2, Component: []int32{1, 2, 0, 0}, States: map[int32]int{1: 1, 2: 1}}},
		{bsccs, [][]int32{{0}, {1}}, componentsAnswer{Of: 2, Component: []int32{0, 0, 0, 0}, States: map[int32]int{}}},
		{bsccs, [][]int32{{0}, {end}}, componentsAnswer{Of: 2, Count: 1, Component: []int32{0, 0, 0, 1}, States: map[int32]int{1: 1}}},
	} {
		var got componentsAnswer
		if ask(t, Options{}, "components", with(large, object{"kind": test.kind, "shown": shown, "open": test.open}), &got); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s of %v are %+v, want %+v", test.kind, test.open, got, test.want)
		}
	}
	var got componentsAnswer
	ask(t, Options{}, "components", with(large, object{"kind": bsccs, "shown": shown, "all": true}), &got)
	if !got.Whole || got.Count != 1 || got.Of != builtUnasked+11 || !slices.Equal(got.Component, []int32{0, 0, 0, 1}) {
		t.Errorf("found %+v, want one BSCC of %d states", got, builtUnasked+11)
	}
}
