package sparse

import (
	"sync"
	"sync/atomic"
)

// Graph is a model that also knows its transitions turned round, which what is
// computed backwards needs. They are made at their first use. It is immutable
// and safe for concurrent use.
type Graph struct {
	*Model
	turning sync.Mutex
	turned  atomic.Pointer[reverse]
}

// reverse is a model's transitions turned round.
type reverse struct {
	start  []uint32 // start[t]: first entry of choice for target t
	choice []uint32 // the choices with a transition to t, once per transition
	owner  []uint32 // state of each choice; nil when it is the choice's number
}

// NewGraph returns the graph of a model.
func NewGraph(m *Model) *Graph { return &Graph{Model: m} }

// reverse returns the transitions turned round.
func (g *Graph) reverse() *reverse {
	if r := g.turned.Load(); r != nil {
		return r
	}
	g.turning.Lock()
	defer g.turning.Unlock()
	if g.turned.Load() == nil {
		g.turned.Store(turnRound(g.Model))
	}
	return g.turned.Load()
}

func turnRound(m *Model) *reverse {
	r := &reverse{start: make([]uint32, m.NumStates()+2), choice: make([]uint32, len(m.Target))}
	for _, t := range m.Target {
		r.start[t+2]++
	}
	for i := 2; i < len(r.start); i++ {
		r.start[i] += r.start[i-1]
	}
	for c := range m.NumChoices() {
		for _, t := range m.Target[m.Start[c]:m.Start[c+1]] {
			r.choice[r.start[t+1]] = uint32(c)
			r.start[t+1]++
		}
	}
	if m.First != nil {
		r.owner = make([]uint32, m.NumChoices())
		for s := range m.NumStates() {
			first, end := m.Choices(s)
			for c := first; c < end; c++ {
				r.owner[c] = uint32(s)
			}
		}
	}
	return r
}

// Into returns the choices with a transition to state t, in increasing order,
// once for each such transition.
func (g *Graph) Into(t int) []uint32 {
	r := g.reverse()
	return r.choice[r.start[t]:r.start[t+1]]
}

// Owner returns the state that choice c belongs to.
func (g *Graph) Owner(c uint32) int {
	if g.First == nil {
		return int(c)
	}
	return int(g.reverse().owner[c])
}

// Leaving returns the choices of the given states.
func (g *Graph) Leaving(states *Set) *Set {
	out := NewSet(g.NumChoices())
	for s := range states.All() {
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			out.Add(c)
		}
	}
	return out
}

// Staying returns the choices of the given states all of whose transitions go
// to these states.
func (g *Graph) Staying(states *Set) *Set {
	out := g.Leaving(states)
	for c := range out.All() {
		if !g.stays(uint32(c), states) {
			out.Remove(c)
		}
	}
	return out
}

// stays reports whether every transition of choice c goes to a state of x.
func (g *Graph) stays(c uint32, x *Set) bool {
	for _, t := range g.Target[g.Start[c]:g.Start[c+1]] {
		if !x.Has(int(t)) {
			return false
		}
	}
	return true
}
