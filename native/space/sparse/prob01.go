package sparse

import "context"

// Prob0A, Prob0E, Prob1A and Prob1E return the states from which `left U right` has probability 0 or 1,
// for all schedulers (A) or for some (E). They analyze the graph only, and are exact. In a Markov chain A
// and E are the same.

// Prob0A returns the states where the maximal probability is 0.
func (g *Graph) Prob0A(left, right *Set) *Set {
	return g.ExistsUntil(left, right).Complement()
}

// Prob0E returns the states where the minimal probability is 0.
func (g *Graph) Prob0E(left, right *Set) *Set {
	if g.First == nil {
		return g.Prob0A(left, right)
	}
	// positive is the complement: every choice can lead towards right.
	positive := right.Clone()
	usable := NewSet(g.NumChoices())
	openChoices := make([]uint32, g.NumStates())
	for s := range openChoices {
		first, end := g.Choices(s)
		openChoices[s] = uint32(end - first)
	}
	g.backwardSearch(right, func(c uint32) (int, bool) {
		s := g.Owner(c)
		if usable.Has(int(c)) || positive.Has(s) || !left.Has(s) {
			return s, false
		}
		usable.Add(int(c))
		openChoices[s]--
		if openChoices[s] > 0 {
			return s, false
		}
		positive.Add(s)
		return s, true
	})
	return positive.Complement()
}

// Prob1A returns the states where the minimal probability is 1.
func (g *Graph) Prob1A(left, right *Set) *Set {
	return g.ExistsUntil(left.Minus(right), g.Prob0E(left, right)).Complement()
}

// Prob1E returns the states where the maximal probability is 1: the greatest set in which right can be
// reached by choices that never leave the set.
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
	g              *Graph
	states, target *Set
	choices        *Set     // of its states, those that stay in it
	choiceCount    []uint32 // number of these choices of each state
}

func (g *Graph) newStayingSet(sure, right *Set) *stayingSet {
	k := &stayingSet{g: g, states: sure, target: right, choices: g.ChoicesWithin(sure), choiceCount: make([]uint32, g.NumStates())}
	for c := range k.choices.All() {
		k.choiceCount[g.Owner(uint32(c))]++
	}
	stuck := NewSet(g.NumStates())
	for s := range sure.All() {
		if k.choiceCount[s] == 0 && !right.Has(s) {
			stuck.Add(s)
		}
	}
	k.remove(stuck)
	return k
}

func (k *stayingSet) remove(lost *Set) {
	for s := range lost.All() {
		k.states.Remove(s)
	}
	k.g.backwardSearch(lost, func(c uint32) (int, bool) {
		s := k.g.Owner(c)
		if !k.choices.Has(int(c)) {
			return s, false
		}
		k.choices.Remove(int(c))
		k.choiceCount[s]--
		if k.choiceCount[s] > 0 || k.target.Has(s) || !k.states.Has(s) {
			return s, false
		}
		k.states.Remove(s)
		return s, true
	})
}

// reachWithin returns the states that reach right inside sure by the given choices. It writes a choice
// on a shortest path to scheduler, unless that is nil.
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

// Attract writes to scheduler, for each state of sure outside right, a choice that stays in sure and is
// on a shortest path to right. If sure is Prob1E, or an end component that contains a state of right,
// the choices reach right with probability one. Other entries do not change.
func (g *Graph) Attract(sure, right *Set, scheduler []uint32) {
	g.reachWithin(sure, g.ChoicesWithin(sure), right, scheduler)
}

// Remain writes to scheduler, for each state of a set, its first choice that stays in the set, if any.
// If the set is Prob0E, the choices avoid right forever.
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

// Approach writes to scheduler, for each state outside target that can reach it by the given choices
// (nil for all), a choice on a shortest path.
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

// backwardSearch is a breadth-first search against the transitions, which starts with the members of
// from in increasing order. It calls step for each choice with a transition to a visited state; step
// returns the state to visit next, if any.
func (g *Graph) backwardSearch(from *Set, step func(c uint32) (int, bool)) {
	var queue []uint32
	expand := func(t int) {
		for _, c := range g.Into(t) {
			if s, ok := step(c); ok {
				queue = append(queue, uint32(s))
			}
		}
	}
	for t := range from.All() {
		expand(t)
	}
	for i := 0; i < len(queue); i++ {
		expand(int(queue[i]))
	}
}
