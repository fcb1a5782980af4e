package sparse

import (
	"sync"
	"sync/atomic"
)

// Graph is a model with its reversed transitions, for backward search. They are built on first use. It
// is immutable and safe for concurrent use.
type Graph struct {
	*Model
	mu         sync.Mutex
	transposed atomic.Pointer[transposed]
}

// transposed has the reversed transitions of a model.
type transposed struct {
	start  []uint32 // the entries of choice for target t are start[t]:start[t+1]
	choice []uint32 // the choices with a transition to t, once per transition
	owner  []uint32 // the state of each choice; nil if they are equal
}

func NewGraph(m *Model) *Graph { return &Graph{Model: m} }

// transpose returns the reversed transitions.
func (g *Graph) transpose() *transposed {
	if r := g.transposed.Load(); r != nil {
		return r
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.transposed.Load() == nil {
		g.transposed.Store(newTransposed(g.Model))
	}
	return g.transposed.Load()
}

func newTransposed(m *Model) *transposed {
	r := &transposed{start: make([]uint32, m.NumStates()+2), choice: make([]uint32, len(m.Target))}
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

// Into returns the choices with a transition to state t, in increasing order, once per transition.
func (g *Graph) Into(t int) []uint32 {
	r := g.transpose()
	return r.choice[r.start[t]:r.start[t+1]]
}

// Owner returns the state of choice c.
func (g *Graph) Owner(c uint32) int {
	if g.First == nil {
		return int(c)
	}
	return int(g.transpose().owner[c])
}

// ChoicesOf returns the choices of the given states.
func (g *Graph) ChoicesOf(states *Set) *Set {
	out := NewSet(g.NumChoices())
	for s := range states.All() {
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			out.Add(c)
		}
	}
	return out
}

// ChoicesWithin returns the choices of the given states whose transitions all lead to these states.
func (g *Graph) ChoicesWithin(states *Set) *Set {
	out := g.ChoicesOf(states)
	for c := range out.All() {
		if !g.staysIn(uint32(c), states) {
			out.Remove(c)
		}
	}
	return out
}

// staysIn reports whether every transition of choice c leads to a state of x.
func (g *Graph) staysIn(c uint32, x *Set) bool {
	for _, t := range g.Target[g.Start[c]:g.Start[c+1]] {
		if !x.Has(int(t)) {
			return false
		}
	}
	return true
}
