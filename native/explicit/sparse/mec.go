package sparse

import "context"

// EndComponents are the maximal end components of a part of an MDP: sets of
// states and choices within which a scheduler can stay for ever and reach every
// state from every other. In a Markov chain they are the bottom components.
type EndComponents struct {
	// ID has the end component of each state, None for states in none.
	ID []uint32
	// Choices are the choices that stay within their state's end component.
	Choices *Set
	// States lists the states by end component, as in Components.
	States []uint32
	Start  []uint32
}

// Num returns the number of end components.
func (e *EndComponents) Num() int { return len(e.Start) - 1 }

// Members returns the states of end component i.
func (e *EndComponents) Members(i int) []uint32 { return e.States[e.Start[i]:e.Start[i+1]] }

// EndComponents returns the maximal end components of the part of the model
// with the given states and choices; nil stands for all. A choice with a
// transition out of the part is in none.
//
// Source: de Alfaro, Formal verification of probabilistic systems (1997),
// algorithm 3.1: drop what leaves its strongly connected component, repeat.
func (m *Model) EndComponents(ctx context.Context, states, choices *Set) (*EndComponents, error) {
	live := FullSet(m.NumStates())
	if states != nil {
		live = states.Clone()
	}
	allowed := FullSet(m.NumChoices())
	if choices != nil {
		allowed = choices.Clone()
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		comps := m.Components(live, allowed)
		if !m.trim(comps.ID, live, allowed) {
			return collect(comps, allowed), nil
		}
	}
}

// trim removes the choices that leave their state's component and the states
// without choices, which are in no component then. It reports whether that
// changed anything. Going both ways removes long rows of states at once.
func (m *Model) trim(id []uint32, live, allowed *Set) bool {
	changed := false
	n := m.NumStates()
	for s := range n {
		changed = m.trimState(s, id, live, allowed) || changed
	}
	for s := n - 1; s >= 0 && changed; s-- {
		m.trimState(s, id, live, allowed)
	}
	return changed
}

func (m *Model) trimState(s int, id []uint32, live, allowed *Set) bool {
	first, end := m.Choices(s)
	changed, some := false, false
	for c := first; c < end; c++ {
		switch {
		case !allowed.Has(c):
		case live.Has(s) && m.within(c, id, id[s]):
			some = true
		default:
			allowed.Remove(c)
			changed = changed || live.Has(s)
		}
	}
	if !some && live.Has(s) {
		live.Remove(s)
		id[s] = None
		changed = true
	}
	return changed
}

func (m *Model) within(c int, id []uint32, want uint32) bool {
	for _, t := range m.Target[m.Start[c]:m.Start[c+1]] {
		if id[t] != want {
			return false
		}
	}
	return true
}

func collect(comps *Components, allowed *Set) *EndComponents {
	return &EndComponents{ID: comps.ID, Choices: allowed, States: comps.States, Start: comps.Start}
}
