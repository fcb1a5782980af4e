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
	t := &pearce{model: m, states: states, allowed: choices, index: 1, closedIndex: None - 1}
	t.rindex = make([]uint32, n)
	t.components.Start = []uint32{0}
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
	t.components.ID = t.rindex
	return &t.components
}

// pearce holds the state of Pearce's search. rindex[s] is 0 for an unvisited state. While its component
// is incomplete it counts up from 1; once the component is complete it is unique to it, and counts down
// from None-1. States number less than 2^31, so the two ranges are disjoint.
type pearce struct {
	model              *Model
	states, allowed    *Set
	rindex             []uint32
	index, closedIndex uint32
	frames             []searchFrame
	stack              []uint32 // states that the search has left whose component is incomplete
	components         Components
}

// searchFrame is a state on the search path. The search has to follow the transitions of choice from next on,
// and then the later choices. root says that no state visited earlier was reached.
type searchFrame struct {
	state, choice, next uint32
	root                bool
}

// search visits the states that are reachable from s in depth-first order. It completes every component
// that it finds.
func (search *pearce) search(s uint32) {
	search.enter(s)
	for len(search.frames) > 0 {
		f := &search.frames[len(search.frames)-1]
		if w, ok := search.successor(f); ok {
			if search.rindex[w] == 0 {
				search.enter(w)
			} else {
				search.lowlink(f, w)
			}
			continue
		}
		done := *f
		search.frames = search.frames[:len(search.frames)-1]
		search.leave(done)
		if len(search.frames) > 0 {
			search.lowlink(&search.frames[len(search.frames)-1], done.state)
		}
	}
}

// enter gives state s the next index, and appends it to the search path.
func (search *pearce) enter(s uint32) {
	search.rindex[s] = search.index
	search.index++
	first, _ := search.model.Choices(int(s))
	search.frames = append(search.frames, searchFrame{s, uint32(first), search.model.Start[first], true})
}

// lowlink lowers the rindex of f's state to that of its successor w. If it is lower, then the state is
// not the root of its component, as it reaches a state that was visited earlier.
func (search *pearce) lowlink(f *searchFrame, w uint32) {
	if search.rindex[w] < search.rindex[f.state] {
		search.rindex[f.state] = search.rindex[w]
		f.root = false
	}
}

// successor returns the next successor of f's state in the part of the model, and false after the last.
func (search *pearce) successor(f *searchFrame) (uint32, bool) {
	_, end := search.model.Choices(int(f.state))
	for int(f.choice) < end {
		if search.allowed == nil || search.allowed.Has(int(f.choice)) {
			for f.next < search.model.Start[f.choice+1] {
				target := search.model.Target[f.next]
				f.next++
				if search.states == nil || search.states.Has(int(target)) {
					return target, true
				}
			}
		}
		f.choice++
		f.next = search.model.Start[f.choice]
	}
	return 0, false
}

// leave is called when all successors of frame's state were visited. If the state is the root of its component,
// the component consists of it and of the states on top of the stack; otherwise the state goes onto the stack.
func (search *pearce) leave(frame searchFrame) {
	if !frame.root {
		search.stack = append(search.stack, frame.state)
		return
	}
	search.index--
	lowest := len(search.stack)
	for lowest > 0 && search.rindex[frame.state] <= search.rindex[search.stack[lowest-1]] {
		lowest--
	}
	for _, member := range search.stack[lowest:] {
		search.rindex[member] = search.closedIndex
		search.index--
	}
	search.components.States = append(search.components.States, search.stack[lowest:]...)
	search.stack = search.stack[:lowest]
	search.rindex[frame.state] = search.closedIndex
	search.components.States = append(search.components.States, frame.state)
	search.components.Start = append(search.components.Start, uint32(len(search.components.States)))
	search.closedIndex--
}

// Bottom returns the components that no transition of m leaves, in increasing order.
func (c *Components) Bottom(m *Model) []int {
	var out []int
	for i := range c.Num() {
		leaves := slices.ContainsFunc(c.Members(i), func(s uint32) bool {
			first, end := m.Choices(int(s))
			return slices.ContainsFunc(m.Target[m.Start[first]:m.Start[end]], func(target uint32) bool {
				return c.ID[target] != uint32(i)
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
