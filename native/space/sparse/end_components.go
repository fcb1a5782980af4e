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
// that leave their strongly connected component, and repeat.
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
		if !m.removeLeaving(comps.ID, live, allowed) {
			return newEndComponents(comps, allowed), nil
		}
	}
}

// removeLeaving removes choices that leave the component of their state from allowed, and states without
// allowed choices from live. It reports whether it removed anything. id has the component of each state. A
// pass in each direction removes long chains of states at once.
func (m *Model) removeLeaving(id []uint32, live, allowed *Set) bool {
	changed := false
	n := m.NumStates()
	for s := range n {
		changed = m.removeLeavingChoices(s, id, live, allowed) || changed
	}
	for s := n - 1; s >= 0 && changed; s-- {
		m.removeLeavingChoices(s, id, live, allowed)
	}
	return changed
}

// removeLeavingChoices does the step of removeLeaving for state s.
func (m *Model) removeLeavingChoices(s int, id []uint32, live, allowed *Set) bool {
	first, end := m.Choices(s)
	changed, staying := false, false
	for c := first; c < end; c++ {
		switch {
		case !allowed.Has(c):
		case live.Has(s) && m.staysInComponent(c, id, id[s]):
			staying = true
		default:
			allowed.Remove(c)
			changed = changed || live.Has(s)
		}
	}
	if !staying && live.Has(s) {
		live.Remove(s)
		id[s] = None
		changed = true
	}
	return changed
}

// staysInComponent reports whether every transition of choice c leads to a state of component want.
func (m *Model) staysInComponent(c int, id []uint32, component uint32) bool {
	for _, target := range m.Target[m.Start[c]:m.Start[c+1]] {
		if id[target] != component {
			return false
		}
	}
	return true
}

func newEndComponents(comps *Components, allowed *Set) *EndComponents {
	return &EndComponents{ID: comps.ID, Choices: allowed, States: comps.States, Start: comps.Start}
}
