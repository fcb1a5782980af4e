package sparse

import (
	"sync"
	"sync/atomic"
)

// Graph is a model with its reversed transitions, for backward search. They are built on first use. It
// is immutable and safe for concurrent use.
type Graph struct {
	*Model
	mutex      sync.Mutex
	transposed atomic.Pointer[transposed]
}

// transposed has the reversed transitions of a model.
type transposed struct {
	starts  []uint32 // the choices with a transition to t are choices[starts[t]:starts[t+1]]
	choices []uint32 // for each target: the choices with a transition to it, once per transition
	owners  []uint32 // the state of each choice; nil if both have the same number
}

// NewGraph returns the graph of a model.
func NewGraph(model *Model) *Graph { return &Graph{Model: model} }

// transpose returns the reversed transitions of the graph. The first call computes them; later calls return the same result.
func (graph *Graph) transpose() *transposed {
	if cached := graph.transposed.Load(); cached != nil {
		return cached
	}
	graph.mutex.Lock()
	defer graph.mutex.Unlock()
	if graph.transposed.Load() == nil {
		graph.transposed.Store(newTransposed(graph.Model))
	}
	return graph.transposed.Load()
}

// newTransposed reverses the transitions of a model by a counting sort: it counts the transitions to each target, computes the start of
// each target's row as the sum of the earlier counts, and fills in the choices.
func newTransposed(model *Model) *transposed {
	starts := make([]uint32, model.NumStates()+2)
	choices := make([]uint32, len(model.Target))
	// starts[target+2] counts the transitions to a target. After the sums, starts[target+1] is the index at which the next choice with a transition to the
	// target is stored. When all choices are stored, it is the end of the target's row, which is the start of the row of target+1.
	for _, target := range model.Target {
		starts[target+2]++
	}
	for i := 2; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	for choice := range model.NumChoices() {
		for _, target := range model.Target[model.FirstTransition[choice]:model.FirstTransition[choice+1]] {
			choices[starts[target+1]] = uint32(choice)
			starts[target+1]++
		}
	}
	return &transposed{starts: starts, choices: choices, owners: model.choiceOwners()}
}

// choiceOwners returns the state of each choice, or nil for a Markov chain, in which choice s belongs to state s.
func (model *Model) choiceOwners() []uint32 {
	if model.FirstChoice == nil {
		return nil
	}
	owners := make([]uint32, model.NumChoices())
	for state := range model.NumStates() {
		first, end := model.Choices(state)
		for choice := first; choice < end; choice++ {
			owners[choice] = uint32(state)
		}
	}
	return owners
}

// Into returns the choices with a transition to state target, in increasing order, once per transition.
func (graph *Graph) Into(target int) []uint32 {
	reversed := graph.transpose()
	return reversed.choices[reversed.starts[target]:reversed.starts[target+1]]
}

// Owner returns the state of a choice.
func (graph *Graph) Owner(choice uint32) int {
	if graph.FirstChoice == nil { // a Markov chain
		return int(choice)
	}
	return int(graph.transpose().owners[choice])
}

// ChoicesOf returns the choices of the given states.
func (graph *Graph) ChoicesOf(states *Set) *Set {
	choices := NewSet(graph.NumChoices())
	for state := range states.All() {
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			choices.Add(choice)
		}
	}
	return choices
}

// ChoicesWithin returns the choices of the given states whose transitions all lead to these states.
func (graph *Graph) ChoicesWithin(states *Set) *Set {
	choices := graph.ChoicesOf(states)
	for choice := range choices.All() {
		if !graph.staysIn(uint32(choice), states) {
			choices.Remove(choice)
		}
	}
	return choices
}

// staysIn reports whether every transition of a choice leads to a state of the set.
func (graph *Graph) staysIn(choice uint32, set *Set) bool {
	for _, target := range graph.Target[graph.FirstTransition[choice]:graph.FirstTransition[choice+1]] {
		if !set.Has(int(target)) {
			return false
		}
	}
	return true
}
