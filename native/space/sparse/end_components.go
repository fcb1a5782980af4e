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
func (e *EndComponents) Num() int { return len(e.Start) - 1 }

// Members returns the states of end component i.
func (e *EndComponents) Members(i int) []uint32 { return e.States[e.Start[i]:e.Start[i+1]] }

// EndComponents computes the maximal end components of the part of the model with the given states and
// choices; nil stands for all. A choice with a transition out of the part belongs to none.
//
// Source: de Alfaro, Formal verification of probabilistic systems (1997), algorithm 3.1: remove choices
// that leave their strongly connected component, and repeat. States that lose their last choice are
// removed at once, with the choices that lead to them. Only components that lost a choice are decomposed
// again (Chatterjee and Henzinger, Efficient and dynamic algorithms for alternating Büchi games and
// maximal end-component decomposition, JACM 61 (2014), section 3).
func (m *Model) EndComponents(ctx context.Context, states, choices *Set) (*EndComponents, error) {
	search := &endComponentSearch{model: m, candidateStates: FullSet(m.NumStates()), allowed: FullSet(m.NumChoices())}
	if states != nil {
		search.candidateStates = states.Clone()
	}
	if choices != nil {
		search.allowed = choices.Clone()
	}
	if err := search.run(ctx); err != nil {
		return nil, err
	}
	components := m.Components(search.candidateStates, search.allowed)
	return &EndComponents{ID: components.ID, Choices: search.allowed, States: components.States, Start: components.Start}, nil
}

// endComponentSearch removes states and choices that belong to no end component.
type endComponentSearch struct {
	model                    *Model
	candidateStates, allowed *Set
	sccSearch                *pearce     // rindex has the component of each live state
	reversed                 *transposed // nil until a state is removed
	removed                  []uint32    // states whose predecessors are not updated yet
	changed                  map[uint32]bool
}

// run removes states and choices until no component has a choice that leaves it.
func (search *endComponentSearch) run(ctx context.Context) error {
	search.removeChoicesOutside()
	search.sccSearch = &pearce{
		model: search.model, states: search.candidateStates, allowed: search.allowed,
		index: 1, closedIndex: None - 1, rindex: make([]uint32, search.model.NumStates()),
	}
	var states []uint32
	for s := range search.candidateStates.All() {
		states = append(states, uint32(s))
	}
	for len(states) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		components := search.decompose(states)
		search.changed = make(map[uint32]bool)
		for _, s := range states {
			search.removeLeaving(s)
		}
		search.propagate()
		states = search.members(components)
	}
	return nil
}

// removeChoicesOutside removes the choices of the states that are not candidates.
func (search *endComponentSearch) removeChoicesOutside() {
	for s := range search.model.NumStates() {
		if search.candidateStates.Has(s) {
			continue
		}
		first, end := search.model.Choices(s)
		for c := first; c < end; c++ {
			search.allowed.Remove(c)
		}
	}
}

// decompose computes the strongly connected components of some live states. No allowed choice of these states may lead to a live state
// of another component that is not among them.
func (search *endComponentSearch) decompose(states []uint32) *Components {
	scc := search.sccSearch
	scc.components = Components{Start: []uint32{0}}
	scc.index = 1
	for _, s := range states {
		scc.rindex[s] = 0
	}
	for _, s := range states {
		if scc.rindex[s] == 0 {
			scc.search(s)
		}
	}
	return &scc.components
}

// members returns the live states of the changed components.
func (search *endComponentSearch) members(components *Components) []uint32 {
	var states []uint32
	for _, s := range components.States {
		if search.candidateStates.Has(int(s)) && search.changed[search.sccSearch.rindex[s]] {
			states = append(states, s)
		}
	}
	return states
}

// removeLeaving removes the choices of a state that leave its component, and the state if none is left.
func (search *endComponentSearch) removeLeaving(s uint32) {
	if !search.candidateStates.Has(int(s)) {
		return
	}
	first, end := search.model.Choices(int(s))
	for c := first; c < end; c++ {
		if search.allowed.Has(c) && !search.stays(c, search.sccSearch.rindex[s]) {
			search.removeChoice(c, s)
		}
	}
	search.removeIfStuck(s)
}

// stays reports whether every transition of a choice leads to a live state of a component.
func (search *endComponentSearch) stays(choice int, component uint32) bool {
	m := search.model
	for _, target := range m.Target[m.Start[choice]:m.Start[choice+1]] {
		if !search.candidateStates.Has(int(target)) || search.sccSearch.rindex[target] != component {
			return false
		}
	}
	return true
}

// removeChoice removes a choice of a state.
func (search *endComponentSearch) removeChoice(choice int, s uint32) {
	search.allowed.Remove(choice)
	search.changed[search.sccSearch.rindex[s]] = true
}

// removeIfStuck removes a state that has no choice left.
func (search *endComponentSearch) removeIfStuck(s uint32) {
	first, end := search.model.Choices(int(s))
	for c := first; c < end; c++ {
		if search.allowed.Has(c) {
			return
		}
	}
	search.candidateStates.Remove(int(s))
	search.removed = append(search.removed, s)
}

// propagate removes the choices that lead to removed states, and then the states without a remaining choice, until nothing changes.
func (search *endComponentSearch) propagate() {
	if len(search.removed) > 0 && search.reversed == nil {
		search.reversed = newTransposed(search.model)
	}
	for len(search.removed) > 0 {
		target := search.removed[len(search.removed)-1]
		search.removed = search.removed[:len(search.removed)-1]
		for _, c := range search.reversed.choices[search.reversed.starts[target]:search.reversed.starts[target+1]] {
			owner := c
			if search.reversed.owners != nil {
				owner = search.reversed.owners[c]
			}
			if search.allowed.Has(int(c)) {
				search.removeChoice(int(c), owner)
				search.removeIfStuck(owner)
			}
		}
	}
}
