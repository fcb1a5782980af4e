package sparse

import "context"

// Prob0A, Prob0E, Prob1A and Prob1E return the states from which `left U right` has probability 0 or 1,
// for all schedulers (A) or for some (E). They analyze the graph only, and are exact. In a Markov chain A
// and E are the same.

// Prob0A returns the states where the maximal probability of `left U right` is 0.
func (g *Graph) Prob0A(left, right *Set) *Set {
	return g.ExistsUntil(left, right).Complement()
}

// Prob0E returns the states where the minimal probability of `left U right` is 0. A backward search finds the states
// whose minimal probability is positive: each of their choices has a transition to such a state.
func (g *Graph) Prob0E(left, right *Set) *Set {
	if g.First == nil {
		return g.Prob0A(left, right)
	}
	positive := right.Clone()
	hasPositiveTarget := NewSet(g.NumChoices())
	remaining := make([]uint32, g.NumStates()) // the number of choices not in hasPositiveTarget
	for s := range remaining {
		first, end := g.Choices(s)
		remaining[s] = uint32(end - first)
	}
	g.backwardSearch(right, func(c uint32) (int, bool) {
		s := g.Owner(c)
		if hasPositiveTarget.Has(int(c)) || positive.Has(s) || !left.Has(s) {
			return s, false
		}
		hasPositiveTarget.Add(int(c))
		remaining[s]--
		if remaining[s] > 0 {
			return s, false
		}
		positive.Add(s)
		return s, true
	})
	return positive.Complement()
}

// Prob1A returns the states where the minimal probability of `left U right` is 1: those that cannot reach
// a state of Prob0E before right.
func (g *Graph) Prob1A(left, right *Set) *Set {
	return g.ExistsUntil(left.Minus(right), g.Prob0E(left, right)).Complement()
}

// Prob1E returns the states where the maximal probability of `left U right` is 1: the greatest set in
// which every state can reach right by choices that never leave the set.
//
// Source: de Alfaro 1997, algorithm 3.4 (Baier and Katoen 2008, algorithm 45).
func (g *Graph) Prob1E(ctx context.Context, left, right *Set) (*Set, error) {
	if g.First == nil {
		return g.Prob1A(left, right), nil
	}
	sure := g.ExistsUntil(left, right)
	staying := g.newStayingSet(sure, right)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		losing := sure.Minus(g.reachWithin(sure, staying.choices, right, nil))
		if losing.Empty() {
			return sure, nil
		}
		staying.remove(losing)
	}
}

// stayingSet is a shrinking set of states, with the choices that stay in it. A state outside target
// without such a choice is removed at once.
type stayingSet struct {
	graph          *Graph
	states, target *Set
	choices        *Set     // the choices of its states that stay in it
	choiceCount    []uint32 // by state: the number of these choices
}

// newStayingSet returns the greatest subset of sure in which every state outside right has a choice that
// stays in the subset. It shrinks sure.
func (g *Graph) newStayingSet(sure, right *Set) *stayingSet {
	staying := &stayingSet{graph: g, states: sure, target: right, choices: g.ChoicesWithin(sure), choiceCount: make([]uint32, g.NumStates())}
	for c := range staying.choices.All() {
		staying.choiceCount[g.Owner(uint32(c))]++
	}
	stuck := NewSet(g.NumStates())
	for s := range sure.All() {
		if staying.choiceCount[s] == 0 && !right.Has(s) {
			stuck.Add(s)
		}
	}
	staying.remove(stuck)
	return staying
}

// remove removes states, the choices that lead to them, and then the states outside target that lost all
// their choices, until nothing changes.
func (staying *stayingSet) remove(lost *Set) {
	for s := range lost.All() {
		staying.states.Remove(s)
	}
	staying.graph.backwardSearch(lost, func(c uint32) (owner int, visit bool) {
		owner = staying.graph.Owner(c)
		if !staying.choices.Has(int(c)) {
			return owner, false
		}
		staying.choices.Remove(int(c))
		staying.choiceCount[owner]--
		visit = staying.choiceCount[owner] == 0 && staying.states.Has(owner) && !staying.target.Has(owner)
		if visit {
			staying.states.Remove(owner)
		}
		return owner, visit
	})
}

// reachWithin returns the states that reach a state of right ∩ sure by the given choices. If scheduler is not nil, it sets
// the choice of each of these states to a choice on a shortest path.
func (g *Graph) reachWithin(sure, choices, right *Set, scheduler []uint32) *Set {
	from := right.Intersect(sure)
	reached := from.Clone()
	g.backwardSearch(from, func(c uint32) (int, bool) {
		if !choices.Has(int(c)) {
			return 0, false
		}
		s := g.Owner(c)
		if reached.Has(s) {
			return s, false
		}
		reached.Add(s)
		if scheduler != nil {
			scheduler[s] = c
		}
		return s, true
	})
	return reached
}

// Attract sets the scheduler's choice in each state of sure outside right to one that stays in sure and is
// on a shortest path to right. If sure is Prob1E, or an end component that contains a state of right, the
// scheduler reaches right with probability one. The choices in other states do not change.
func (g *Graph) Attract(sure, right *Set, scheduler []uint32) {
	g.reachWithin(sure, g.ChoicesWithin(sure), right, scheduler)
}

// Remain sets the choice of each state of a set to the first choice that stays in the set, if there is one. In the set that
// Prob0E returns, the scheduler then avoids right forever.
func (g *Graph) Remain(set *Set, scheduler []uint32) {
	for s := range set.All() {
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			if g.staysIn(uint32(c), set) {
				scheduler[s] = uint32(c)
				break
			}
		}
	}
}

// Approach sets the choice of each state outside target that can reach target by the given choices to a choice on a shortest
// path. If choices is nil, all choices are allowed.
func (g *Graph) Approach(choices, target *Set, scheduler []uint32) {
	reached := target.Clone()
	g.backwardSearch(target, func(c uint32) (int, bool) {
		s := g.Owner(c)
		if reached.Has(s) || choices != nil && !choices.Has(int(c)) {
			return s, false
		}
		reached.Add(s)
		scheduler[s] = c
		return s, true
	})
}

// backwardSearch is a breadth-first search against the transitions, which begins with the states of from
// in increasing order. For each choice with a transition to a visited state it calls step, which returns the state
// of the choice, and whether to visit this state.
func (g *Graph) backwardSearch(from *Set, step func(c uint32) (int, bool)) {
	var queue []uint32
	for target := range from.All() { // the states of from, which may be most of the model, are not queued
		queue = g.appendPredecessors(queue, target, step)
	}
	for i := 0; i < len(queue); i++ {
		queue = g.appendPredecessors(queue, int(queue[i]), step)
	}
}

// appendPredecessors calls step for the choices that lead to a state, and appends the states that step says to visit.
func (g *Graph) appendPredecessors(queue []uint32, target int, step func(c uint32) (int, bool)) []uint32 {
	for _, c := range g.Into(target) {
		if s, ok := step(c); ok {
			queue = append(queue, uint32(s))
		}
	}
	return queue
}
