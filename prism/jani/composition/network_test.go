package composition

import "testing"

// TestSharedActions composes automata that take the same actions in a vector of their own and in one with a third automaton, which must not
// take its step alone.
func TestSharedActions(t *testing.T) {
	const action = 1
	loop := func() *Automaton { return &Automaton{States: []State{{Steps: []Step{{action, 0}}}}} }
	stuck := &Automaton{States: []State{{}}}
	network := &Network{
		Automata: []*Automaton{loop(), stuck, nil},
		Vectors:  []Vector{{Actions: []int{action, action, Internal}}, {Actions: []int{action, action, action}, Origin: 1}},
	}
	if err := network.Reduce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if network.Automata[1] != nil || len(network.Automata[0].States[0].Steps) != 0 {
		t.Fatalf("got %v, want one automaton without steps", network.Automata)
	}
	if len(network.Vectors) != 1 || network.Vectors[0].Origin != 1 || network.Vectors[0].Actions[0] == Internal {
		t.Errorf("got the vectors %v, want the second one, in which the composition takes part", network.Vectors)
	}
}
