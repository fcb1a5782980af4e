package sparse

import (
	"math"
	"slices"
)

// None stands for no component, no choice, or no state.
const None = math.MaxUint32

// Components are the strongly connected components of a part of a model. A transition that leaves a
// component leads to one with a smaller number.
type Components struct {
	// ID is the component of each state, None for states outside the part.
	ID []uint32
	// States lists the states component by component; component i is States[Start[i]:Start[i+1]].
	// Within a component they are in depth-first postorder, so that most successors of a state come
	// before it.
	States []uint32
	Start  []uint32
}

// Num returns the number of components.
func (c *Components) Num() int { return len(c.Start) - 1 }

// Members returns the states of component i, in the order of States.
func (c *Components) Members(i int) []uint32 { return c.States[c.Start[i]:c.Start[i+1]] }

// Components decomposes the part of the model that consists of the given states and choices, and the
// transitions between these states; nil stands for all.
//
// Source: Pearce, A space-efficient algorithm for finding strongly connected components, Information
// Processing Letters 116 (2016), without recursion.
func (m *Model) Components(states, choices *Set) *Components {
	n := m.NumStates()
	t := &pearce{m: m, states: states, choices: choices, index: 1, closedIndex: None - 1}
	t.rindex = make([]uint32, n)
	t.out.Start = []uint32{0}
	for s := range n {
		if t.rindex[s] == 0 && (states == nil || states.Has(s)) {
			t.search(uint32(s))
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

// pearce holds the state of Pearce's search. rindex[s] is 0 for an unvisited state. While its component
// is incomplete it counts up from 1; once the component is complete it is unique to it, and counts down
// from None-1. States number less than 2^31, so the two ranges are disjoint.
type pearce struct {
	m                  *Model
	states, choices    *Set
	rindex             []uint32
	index, closedIndex uint32
	frames             []frame
	stack              []uint32 // states that the search has left whose component is incomplete
	out                Components
}

// frame is a state on the search path. The search has to follow the transitions of choice from next on,
// and then the later choices. root says that no state visited earlier was reached.
type frame struct {
	state, choice, next uint32
	root                bool
}

func (t *pearce) search(s uint32) {
	t.push(s)
	for len(t.frames) > 0 {
		f := &t.frames[len(t.frames)-1]
		if w, ok := t.successor(f); ok {
			if t.rindex[w] == 0 {
				t.push(w)
			} else {
				t.lowlink(f, w)
			}
			continue
		}
		done := *f
		t.frames = t.frames[:len(t.frames)-1]
		t.pop(done)
		if len(t.frames) > 0 {
			t.lowlink(&t.frames[len(t.frames)-1], done.state)
		}
	}
}

func (t *pearce) push(s uint32) {
	t.rindex[s] = t.index
	t.index++
	first, _ := t.m.Choices(int(s))
	t.frames = append(t.frames, frame{s, uint32(first), t.m.Start[first], true})
}

// lowlink updates the rindex of f's state for its successor w.
func (t *pearce) lowlink(f *frame, w uint32) {
	if t.rindex[w] < t.rindex[f.state] {
		t.rindex[f.state] = t.rindex[w]
		f.root = false
	}
}

// successor returns the next successor in the part.
func (t *pearce) successor(f *frame) (uint32, bool) {
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

// pop completes the component of a root, and puts other states on the stack.
func (t *pearce) pop(f frame) {
	if !f.root {
		t.stack = append(t.stack, f.state)
		return
	}
	t.index--
	first := len(t.stack)
	for first > 0 && t.rindex[f.state] <= t.rindex[t.stack[first-1]] {
		first--
	}
	for _, w := range t.stack[first:] {
		t.rindex[w] = t.closedIndex
		t.index--
	}
	t.out.States = append(t.out.States, t.stack[first:]...)
	t.stack = t.stack[:first]
	t.rindex[f.state] = t.closedIndex
	t.out.States = append(t.out.States, f.state)
	t.out.Start = append(t.out.Start, uint32(len(t.out.States)))
	t.closedIndex--
}

// Bottom returns the components that no transition of m leaves, in increasing order.
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

// Cyclic reports whether a transition of m stays in component i.
func (c *Components) Cyclic(m *Model, i int) bool {
	members := c.Members(i)
	if len(members) > 1 {
		return true
	}
	first, end := m.Choices(int(members[0]))
	return slices.Contains(m.Target[m.Start[first]:m.Start[end]], members[0])
}
