package sparse

import (
	"math"
	"slices"
)

// None stands for no component, no choice, no state.
const None = math.MaxUint32

// Components are the strongly connected components of a part of a model,
// numbered so that every transition that leaves a component goes to a component
// with a smaller number.
type Components struct {
	// ID has the component of each state, None for states outside the part.
	ID []uint32
	// States lists the states, component by component; Start[i] is where
	// component i begins, Start[Num()] the number of states. Within a component
	// the states are in the order in which a depth-first search leaves them, so
	// that most successors of a state come before it.
	States []uint32
	Start  []uint32
}

// Num returns the number of components.
func (c *Components) Num() int { return len(c.Start) - 1 }

// Members returns the states of component i, in the order of States.
func (c *Components) Members(i int) []uint32 { return c.States[c.Start[i]:c.Start[i+1]] }

// Components decomposes the part of the model that consists of the given states
// and choices and the transitions between these states; nil stands for all.
//
// Source: Pearce, A space-efficient algorithm for finding strongly connected
// components, Information Processing Letters 116 (2016), without recursion.
func (m *Model) Components(states, choices *Set) *Components {
	n := m.NumStates()
	t := &tarjan{m: m, states: states, choices: choices, index: 1, next: None - 1}
	t.rindex = make([]uint32, n)
	t.out.Start = []uint32{0}
	for s := range n {
		if t.rindex[s] == 0 && (states == nil || states.Has(s)) {
			t.visit(uint32(s))
		}
	}
	for s, r := range t.rindex {
		if r == 0 {
			t.rindex[s] = None
		} else {
			t.rindex[s] = None - 1 - r
		}
	}
	t.out.ID = t.rindex
	return &t.out
}

// tarjan is a search under way. rindex[s] is 0 for a state not met, a number
// counted up from 1 while its component is open, and one counted down from
// None-1, unique to the component, once it is closed. States number less than
// 2^31, so that the two do not meet.
type tarjan struct {
	m               *Model
	states, choices *Set
	rindex          []uint32
	index, next     uint32
	frames          []frame
	open            []uint32 // states left, but in an open component
	out             Components
}

// frame is a state being searched: the transitions from next to end of choice
// are still to be followed, and then the later choices.
type frame struct {
	state, choice, next uint32
	root                bool
}

func (t *tarjan) visit(s uint32) {
	t.enter(s)
	for len(t.frames) > 0 {
		f := &t.frames[len(t.frames)-1]
		if w, ok := t.successor(f); ok {
			if t.rindex[w] == 0 {
				t.enter(w)
			} else {
				t.lower(f, w)
			}
			continue
		}
		done := *f
		t.frames = t.frames[:len(t.frames)-1]
		t.leave(done)
		if len(t.frames) > 0 {
			t.lower(&t.frames[len(t.frames)-1], done.state)
		}
	}
}

func (t *tarjan) enter(s uint32) {
	t.rindex[s] = t.index
	t.index++
	first, _ := t.m.Choices(int(s))
	t.frames = append(t.frames, frame{s, uint32(first), t.m.Start[first], true})
}

// lower notes that f's state reaches w, whose component is open or closed.
func (t *tarjan) lower(f *frame, w uint32) {
	if t.rindex[w] < t.rindex[f.state] {
		t.rindex[f.state] = t.rindex[w]
		f.root = false
	}
}

// successor returns the next successor within the part.
func (t *tarjan) successor(f *frame) (uint32, bool) {
	_, end := t.m.Choices(int(f.state))
	for int(f.choice) < end {
		if t.choices == nil || t.choices.Has(int(f.choice)) {
			for f.next < t.m.Start[f.choice+1] {
				w := t.m.Target[f.next]
				f.next++
				if t.states == nil || t.states.Has(int(w)) {
					return w, true
				}
			}
		}
		f.choice++
		f.next = t.m.Start[f.choice]
	}
	return 0, false
}

// leave closes the component of a root; other states wait for theirs.
func (t *tarjan) leave(f frame) {
	if !f.root {
		t.open = append(t.open, f.state)
		return
	}
	t.index--
	first := len(t.open)
	for first > 0 && t.rindex[f.state] <= t.rindex[t.open[first-1]] {
		first--
	}
	for _, w := range t.open[first:] {
		t.rindex[w] = t.next
		t.index--
	}
	t.out.States = append(t.out.States, t.open[first:]...)
	t.open = t.open[:first]
	t.rindex[f.state] = t.next
	t.out.States = append(t.out.States, f.state)
	t.out.Start = append(t.out.Start, uint32(len(t.out.States)))
	t.next--
}

// Bottom returns the components that no transition of m leaves, in their order.
func (c *Components) Bottom(m *Model) []int {
	var out []int
	for i := range c.Num() {
		leaves := slices.ContainsFunc(c.Members(i), func(s uint32) bool {
			first, end := m.Choices(int(s))
			return slices.ContainsFunc(m.Target[m.Start[first]:m.Start[end]], func(t uint32) bool {
				return c.ID[t] != uint32(i)
			})
		})
		if !leaves {
			out = append(out, i)
		}
	}
	return out
}

// Cyclic reports whether a transition of m stays within component i.
func (c *Components) Cyclic(m *Model, i int) bool {
	members := c.Members(i)
	if len(members) > 1 {
		return true
	}
	first, end := m.Choices(int(members[0]))
	return slices.Contains(m.Target[m.Start[first]:m.Start[end]], members[0])
}
