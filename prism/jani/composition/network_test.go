package composition

import (
	"context"
	"errors"
	"testing"
)

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

// TestEffort has an automaton whose refinement splits one state at a time. Reduce gives up before all are split, and stops if the context ends.
func TestEffort(t *testing.T) {
	const action, size = 1, 5000
	chain := &Automaton{States: make([]State, size)}
	for i := range size - 1 {
		chain.States[i].Rates = []Rate{{i + 1, 1}}
	}
	chain.States[size-1].Steps = []Step{{action, size - 1}}
	work := &effort{ctx: t.Context(), remaining: maxEffort}
	if got := minimize(chain, work); got != nil || work.remaining < maxEffort/2 {
		t.Errorf("%v; %d of %d are left, want no automaton and at least half of the effort", got != nil, work.remaining, maxEffort)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	work = &effort{ctx: ctx, remaining: maxEffort}
	if got := minimize(chain, work); got != nil || !work.isExhausted() {
		t.Errorf("got %d states after the context, want none", len(got.States))
	}
	network := &Network{Automata: []*Automaton{chain}, Vectors: []Vector{{Actions: []int{action}}}}
	if err := network.Reduce(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v, want that of the context", err)
	}
}
