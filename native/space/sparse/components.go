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
func (components *Components) Num() int { return len(components.Start) - 1 }

// Members returns the states of component i, in the order of States.
func (components *Components) Members(i int) []uint32 {
	return components.States[components.Start[i]:components.Start[i+1]]
}

// Components computes the strongly connected components of the subgraph with the given states and choices. If states or choices is nil, it
// stands for all.
//
// Source: Pearce, A space-efficient algorithm for finding strongly connected components, Information Processing
// Letters 116 (2016), without recursion.
func (model *Model) Components(states, choices *Set) *Components {
	numStates := model.NumStates()
	search := &componentSearch{model: model, states: states, allowedChoices: choices, nextIndex: 1, componentNumber: None - 1}
	search.rootIndex = make([]uint32, numStates)
	search.components.Start = []uint32{0}
	numIncluded := numStates
	if states != nil {
		numIncluded = states.Count()
	}
	search.components.States = make([]uint32, 0, numIncluded)
	for state := range numStates {
		isIncluded := states == nil || states.Has(state)
		isVisited := search.rootIndex[state] != 0
		if isIncluded && !isVisited {
			search.searchFrom(uint32(state))
		}
	}
	// The search numbers components from None-1 downwards. Convert these numbers to 0, 1, and so on.
	for state, number := range search.rootIndex {
		if number == 0 {
			search.rootIndex[state] = None
		} else {
			search.rootIndex[state] = None - 1 - number
		}
	}
	search.components.ID = search.rootIndex
	components := search.components // without the rest of the search, which takes more memory
	return &components
}

// componentSearch holds the state of Pearce's search. rootIndex[s] is 0 for an unvisited state. While the component of s is
// incomplete, rootIndex[s] is a number that counts up from 1; afterwards it is the number of the component, which counts
// down from None-1. There are fewer than 2^31 states, so the two ranges are disjoint.
type componentSearch struct {
	model                      *Model
	states, allowedChoices     *Set
	rootIndex                  []uint32
	nextIndex, componentNumber uint32
	frames                     []searchFrame
	stack                      []uint32 // states that the search has left whose component is incomplete
	components                 Components
}

// searchFrame is a state on the search path. The search still has to follow the transitions of choice from next on,
// and the later choices. isRoot says that the search has reached no state that was visited before this one.
type searchFrame struct {
	state, choice, nextTransition uint32
	isRoot                        bool
}

// searchFrom visits all states that are reachable from a start state by depth-first search. It appends each strongly connected component to
// search.components when it is complete.
func (search *componentSearch) searchFrom(start uint32) {
	search.enterState(start)
	for len(search.frames) > 0 {
		frame := &search.frames[len(search.frames)-1]
		successor, hasNext := search.successor(frame)
		switch {
		case hasNext && search.rootIndex[successor] == 0:
			search.enterState(successor)
		case hasNext:
			search.updateRoot(frame, successor)
		default:
			search.popLastState()
		}
	}
}

// popLastState removes the last state from the search path, because all its successors are visited. If the state is the root of a component, this component
// is complete. Otherwise the state before it on the path takes over its rootIndex if that is smaller.
func (search *componentSearch) popLastState() {
	last := len(search.frames) - 1
	finished := search.frames[last]
	search.frames = search.frames[:last]
	search.completeIfRoot(finished)
	if last > 0 {
		search.updateRoot(&search.frames[last-1], finished.state)
	}
}

// enterState gives a state the next index and appends it to the search path.
func (search *componentSearch) enterState(state uint32) {
	search.rootIndex[state] = search.nextIndex
	search.nextIndex++
	first, _ := search.model.Choices(int(state))
	search.frames = append(search.frames, searchFrame{state, uint32(first), search.model.FirstTransition[first], true})
}

// updateRoot lowers the rootIndex of a frame's state to the rootIndex of a successor. If that is a change, the state is not
// the root of its component.
func (search *componentSearch) updateRoot(frame *searchFrame, successor uint32) {
	if search.rootIndex[successor] < search.rootIndex[frame.state] {
		search.rootIndex[frame.state] = search.rootIndex[successor]
		frame.isRoot = false
	}
}

// successor returns the next successor of the frame's state, by an allowed choice to a state of the subgraph. ok is false if all successors were returned.
func (search *componentSearch) successor(frame *searchFrame) (next uint32, ok bool) {
	_, end := search.model.Choices(int(frame.state))
	for int(frame.choice) < end {
		if search.allowedChoices == nil || search.allowedChoices.Has(int(frame.choice)) {
			if next, ok = search.nextTarget(frame); ok {
				return next, true
			}
		}
		frame.choice++
		frame.nextTransition = search.model.FirstTransition[frame.choice]
	}
	return 0, false
}

// nextTarget returns the next target of the frame's current choice that is in the subgraph. ok is false if all targets were returned.
func (search *componentSearch) nextTarget(frame *searchFrame) (next uint32, ok bool) {
	for frame.nextTransition < search.model.FirstTransition[frame.choice+1] {
		target := search.model.Target[frame.nextTransition]
		frame.nextTransition++
		if search.states == nil || search.states.Has(int(target)) {
			return target, true
		}
	}
	return 0, false
}

// completeIfRoot handles a state whose successors are all visited. If the state is the root of its component, the component is complete: it has this state
// and all states on the stack that were entered later. Otherwise the state is pushed onto the stack, and waits for its root.
func (search *componentSearch) completeIfRoot(frame searchFrame) {
	if !frame.isRoot {
		search.stack = append(search.stack, frame.state)
		return
	}
	search.nextIndex--
	lowest := len(search.stack)
	for lowest > 0 && search.rootIndex[frame.state] <= search.rootIndex[search.stack[lowest-1]] {
		lowest--
	}
	for _, member := range search.stack[lowest:] {
		search.rootIndex[member] = search.componentNumber
		search.nextIndex--
	}
	search.components.States = append(search.components.States, search.stack[lowest:]...)
	search.stack = search.stack[:lowest]
	search.rootIndex[frame.state] = search.componentNumber
	search.components.States = append(search.components.States, frame.state)
	search.components.Start = append(search.components.Start, uint32(len(search.components.States)))
	search.componentNumber--
}

// Bottom returns the numbers of the bottom components, which no transition of the model leaves, in increasing order.
func (components *Components) Bottom(model *Model) []int {
	var bottom []int
	for i := range components.Num() {
		if !components.hasExit(model, i) {
			bottom = append(bottom, i)
		}
	}
	return bottom
}

// hasExit reports whether a transition of the model leaves a component.
func (components *Components) hasExit(model *Model, component int) bool {
	for _, state := range components.Members(component) {
		for _, target := range model.successors(int(state)) {
			if components.ID[target] != uint32(component) {
				return true
			}
		}
	}
	return false
}

// Cyclic reports whether a transition of the model stays in component i.
func (components *Components) Cyclic(model *Model, i int) bool {
	members := components.Members(i)
	if len(members) > 1 {
		return true
	}
	return slices.Contains(model.successors(int(members[0])), members[0])
}
