package sparse

import "context"

// EndComponents are the maximal end components of a part of an MDP: sets of states and choices in which
// a scheduler can stay forever and reach every state from every other one. In a Markov chain they are
// the bottom components.
type EndComponents struct {
	// ID is the end component of each state, None for states in none.
	ID []uint32
	// Choices are the choices that stay in the end component of their state.
	Choices *Set
	// States lists the states by end component, as in Components.
	States []uint32
	Start  []uint32
}

// Num returns the number of end components.
func (components *EndComponents) Num() int { return len(components.Start) - 1 }

// Members returns the states of end component i.
func (components *EndComponents) Members(i int) []uint32 {
	return components.States[components.Start[i]:components.Start[i+1]]
}

// EndComponents computes the maximal end components of the sub-MDP with the given states and choices. If states or choices is nil, it
// stands for all. A choice with a transition to another state belongs to no end component.
func (model *Model) EndComponents(ctx context.Context, states, choices *Set) (*EndComponents, error) {
	return NewGraph(model).EndComponents(ctx, states, choices)
}

// EndComponents returns the maximal end components with the given states and choices, where nil stands for all. It is Model.EndComponents, but uses the
// reversed transitions that the graph already has.
//
// Source: de Alfaro, Formal verification of probabilistic systems (1997), algorithm 3.1. Only components that lost
// a choice are decomposed again: Chatterjee and Henzinger, JACM 61 (2014), section 3.
func (graph *Graph) EndComponents(ctx context.Context, states, choices *Set) (*EndComponents, error) {
	search := &endComponentSearch{graph: graph, candidateStates: FullSet(graph.NumStates()), allowedChoices: FullSet(graph.NumChoices())}
	if states != nil {
		search.candidateStates = states.Clone()
	}
	if choices != nil {
		search.allowedChoices = choices.Clone()
	}
	if err := search.removeUnstable(ctx); err != nil {
		return nil, err
	}
	components := graph.Components(search.candidateStates, search.allowedChoices)
	return &EndComponents{ID: components.ID, Choices: search.allowedChoices, States: components.States, Start: components.Start}, nil
}

// endComponentSearch removes states and choices that belong to no end component.
type endComponentSearch struct {
	graph                           *Graph
	candidateStates, allowedChoices *Set
	sccSearch                       *componentSearch // rootIndex has the component of each candidate state
	removedStates                   []uint32         // states whose predecessors are not updated yet
	changedComponents               map[uint32]bool  // those with a state that lost a choice and has another one
}

// removeUnstable removes states and choices that belong to no end component: until every remaining choice stays in the strongly connected component of its
// state.
func (search *endComponentSearch) removeUnstable(ctx context.Context) error {
	search.removeChoicesOutside()
	search.sccSearch = &componentSearch{
		model: search.graph.Model, states: search.candidateStates, allowedChoices: search.allowedChoices,
		nextIndex: 1, componentNumber: None - 1, rootIndex: make([]uint32, search.graph.NumStates()),
	}
	var states []uint32
	for state := range search.candidateStates.All() {
		states = append(states, uint32(state))
	}
	for len(states) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		components := search.decompose(states)
		search.changedComponents = make(map[uint32]bool)
		for _, state := range states {
			search.removeLeaving(state)
		}
		search.removePredecessors()
		states = search.statesOfChanged(components)
	}
	return nil
}

// removeChoicesOutside removes the choices of all states that are not candidates for an end component.
func (search *endComponentSearch) removeChoicesOutside() {
	for state := range search.graph.NumStates() {
		if search.candidateStates.Has(state) {
			continue
		}
		first, end := search.graph.Choices(state)
		for choice := first; choice < end; choice++ {
			search.allowedChoices.Remove(choice)
		}
	}
}

// decompose computes the strongly connected components of the given candidate states again, after choices were removed. The states must be all states of
// some components of the previous decomposition.
func (search *endComponentSearch) decompose(states []uint32) *Components {
	scc := search.sccSearch
	scc.components = Components{Start: []uint32{0}}
	scc.nextIndex = 1
	for _, state := range states {
		scc.rootIndex[state] = 0
	}
	for _, state := range states {
		if scc.rootIndex[state] == 0 {
			scc.searchFrom(state)
		}
	}
	return &scc.components
}

// statesOfChanged returns the candidate states of the components that have changed, which must be decomposed again. If a component has lost a state and has
// others, one of the others has lost a choice to the lost state. So it is enough to mark components that have lost a choice.
func (search *endComponentSearch) statesOfChanged(components *Components) []uint32 {
	var states []uint32
	for _, state := range components.States {
		if search.candidateStates.Has(int(state)) && search.changedComponents[search.sccSearch.rootIndex[state]] {
			states = append(states, state)
		}
	}
	return states
}

// removeLeaving removes the choices of a state that can leave the component of the state. If no choice remains, it removes the state, too.
func (search *endComponentSearch) removeLeaving(state uint32) {
	if !search.candidateStates.Has(int(state)) {
		return
	}
	hasLostChoice := false
	first, end := search.graph.Choices(int(state))
	for choice := first; choice < end; choice++ {
		if search.allowedChoices.Has(choice) && !search.staysInComponent(choice, search.sccSearch.rootIndex[state]) {
			search.allowedChoices.Remove(choice)
			hasLostChoice = true
		}
	}
	if isRemoved := search.removeIfStuck(state); hasLostChoice && !isRemoved {
		search.markComponent(state)
	}
}

// staysInComponent reports whether every transition of a choice leads to a candidate state in the given strongly connected component.
func (search *endComponentSearch) staysInComponent(choice int, component uint32) bool {
	model := search.graph.Model
	for _, target := range model.Target[model.FirstTransition[choice]:model.FirstTransition[choice+1]] {
		if !search.candidateStates.Has(int(target)) || search.sccSearch.rootIndex[target] != component {
			return false
		}
	}
	return true
}

// markComponent marks the component of a candidate state that lost a choice.
func (search *endComponentSearch) markComponent(state uint32) {
	search.changedComponents[search.sccSearch.rootIndex[state]] = true
}

// removeIfStuck removes a state from the candidates if it has no allowed choice left. It reports whether it removed the state.
func (search *endComponentSearch) removeIfStuck(state uint32) bool {
	first, end := search.graph.Choices(int(state))
	for choice := first; choice < end; choice++ {
		if search.allowedChoices.Has(choice) {
			return false
		}
	}
	search.candidateStates.Remove(int(state))
	search.removedStates = append(search.removedStates, state)
	return true
}

// removePredecessors removes all choices that can lead to a removed state. It also removes the states that lose their last choice, and
// repeats this until nothing changes.
func (search *endComponentSearch) removePredecessors() {
	for len(search.removedStates) > 0 {
		target := search.removedStates[len(search.removedStates)-1]
		search.removedStates = search.removedStates[:len(search.removedStates)-1]
		for _, choice := range search.graph.Into(int(target)) {
			if search.allowedChoices.Has(int(choice)) {
				owner := uint32(search.graph.Owner(choice))
				search.allowedChoices.Remove(int(choice))
				if isRemoved := search.removeIfStuck(owner); !isRemoved {
					search.markComponent(owner)
				}
			}
		}
	}
}
