package sparse

import "context"

// Prob0A, Prob0E, Prob1A and Prob1E return the states from which `left U right` has probability 0 or 1,
// for all schedulers (A) or for some (E). They analyze the graph only, and are exact. In a Markov chain A
// and E are the same.

// Prob0A returns the states where the maximal probability of `left U right` is 0.
func (graph *Graph) Prob0A(left, right *Set) *Set {
	return graph.ExistsUntil(left, right).Complement()
}

// Prob0E returns the states where the minimal probability of `left U right` is 0. It searches backwards from right for all other states: a state of left is
// added when each of its choices has a transition to a state found before.
func (graph *Graph) Prob0E(left, right *Set) *Set {
	if graph.FirstChoice == nil {
		return graph.Prob0A(left, right)
	}
	positive := right.Clone()
	hasPositiveTarget := NewSet(graph.NumChoices())
	otherChoices := make([]uint32, graph.NumStates()) // the number of the state's choices that are not in hasPositiveTarget
	for state := range otherChoices {
		first, end := graph.Choices(state)
		otherChoices[state] = uint32(end - first)
	}
	graph.backwardSearch(right, func(choice uint32) (int, bool) {
		state := graph.Owner(choice)
		if hasPositiveTarget.Has(int(choice)) || positive.Has(state) || !left.Has(state) {
			return state, false
		}
		hasPositiveTarget.Add(int(choice))
		otherChoices[state]--
		if otherChoices[state] > 0 {
			return state, false
		}
		positive.Add(state)
		return state, true
	})
	return positive.Complement()
}

// Prob1A returns the states where the minimal probability of `left U right` is 1. They cannot reach a state of
// Prob0E before right.
func (graph *Graph) Prob1A(left, right *Set) *Set {
	return graph.ExistsUntil(left.Minus(right), graph.Prob0E(left, right)).Complement()
}

// Prob1E returns the states where the maximal probability of `left U right` is 1. This is the greatest set of states of left or right from which right can
// be reached by choices that cannot leave the set.
//
// Source: de Alfaro 1997, algorithm 3.4 (Baier and Katoen 2008, algorithm 45).
func (graph *Graph) Prob1E(ctx context.Context, left, right *Set) (*Set, error) {
	if graph.FirstChoice == nil {
		return graph.Prob1A(left, right), nil
	}
	sureStates := graph.ExistsUntil(left, right)
	staying := graph.newStayingSet(sureStates, right)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		losingStates := sureStates.Minus(graph.statesReaching(sureStates, staying.choices, right, nil))
		if losingStates.Empty() {
			return sureStates, nil
		}
		staying.removeStates(losingStates)
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

// newStayingSet removes from sureStates every state outside right in which no choice stays in the set, until all other states have such a choice. It returns
// the remaining set with these choices, for further removals.
func (graph *Graph) newStayingSet(sureStates, right *Set) *stayingSet {
	staying := &stayingSet{graph: graph, states: sureStates, target: right, choices: graph.ChoicesWithin(sureStates), choiceCount: make([]uint32, graph.NumStates())}
	for choice := range staying.choices.All() {
		staying.choiceCount[graph.Owner(uint32(choice))]++
	}
	stuck := NewSet(graph.NumStates())
	for state := range sureStates.All() {
		if staying.choiceCount[state] == 0 && !right.Has(state) {
			stuck.Add(state)
		}
	}
	staying.removeStates(stuck)
	return staying
}

// removeStates removes the given states from the set, and all choices that can lead to a removed state. It also removes states that lose their last choice,
// except for target states, and repeats this until nothing changes.
func (staying *stayingSet) removeStates(lostStates *Set) {
	for state := range lostStates.All() {
		staying.states.Remove(state)
	}
	staying.graph.backwardSearch(lostStates, func(choice uint32) (owner int, visit bool) {
		owner = staying.graph.Owner(choice)
		if !staying.choices.Has(int(choice)) {
			return owner, false
		}
		staying.choices.Remove(int(choice))
		staying.choiceCount[owner]--
		visit = staying.choiceCount[owner] == 0 && staying.states.Has(owner) && !staying.target.Has(owner)
		if visit {
			staying.states.Remove(owner)
		}
		return owner, visit
	})
}

// statesReaching returns the states from which the given choices can reach a state in both right and sureStates. If scheduler is not nil, it writes for each
// found state outside right the choice that begins a shortest path.
func (graph *Graph) statesReaching(sureStates, choices, right *Set, scheduler []uint32) *Set {
	from := right.Intersect(sureStates)
	reached := from.Clone()
	graph.backwardSearch(from, func(choice uint32) (int, bool) {
		if !choices.Has(int(choice)) {
			return 0, false
		}
		state := graph.Owner(choice)
		if reached.Has(state) {
			return state, false
		}
		reached.Add(state)
		if scheduler != nil {
			scheduler[state] = choice
		}
		return state, true
	})
	return reached
}

// Attract makes the scheduler choose, in each state of sureStates outside right, a choice on a shortest path to right
// that stays in sureStates. Choices in other states do not change. If sureStates is Prob1E, or an end component with a state
// of right, the scheduler reaches right with probability one.
func (graph *Graph) Attract(sureStates, right *Set, scheduler []uint32) {
	graph.statesReaching(sureStates, graph.ChoicesWithin(sureStates), right, scheduler)
}

// Remain writes to scheduler, for each state of a set, the first choice that stays in the set. If the set is a result of Prob0E, the
// scheduler never reaches right.
func (graph *Graph) Remain(set *Set, scheduler []uint32) {
	for state := range set.All() {
		first, end := graph.Choices(state)
		for choice := first; choice < end; choice++ {
			if graph.staysIn(uint32(choice), set) {
				scheduler[state] = uint32(choice)
				break
			}
		}
	}
}

// Approach writes a scheduler that moves towards target: for each state outside target that can reach it by the given choices, the choice that begins a
// shortest path. nil stands for all choices.
func (graph *Graph) Approach(choices, target *Set, scheduler []uint32) {
	reached := target.Clone()
	graph.backwardSearch(target, func(choice uint32) (int, bool) {
		state := graph.Owner(choice)
		if reached.Has(state) || choices != nil && !choices.Has(int(choice)) {
			return state, false
		}
		reached.Add(state)
		scheduler[state] = choice
		return state, true
	})
}

// backwardSearch follows the transitions backwards from a set of states, breadth-first. For each choice that has a transition to a visited state, it calls
// step. step returns the state of the choice, and whether to visit this state next.
func (graph *Graph) backwardSearch(from *Set, step func(choice uint32) (state int, visit bool)) {
	var queue []uint32
	for target := range from.All() { // these states are not put into the queue, because they may be most of the model
		queue = graph.appendPredecessors(queue, target, step)
	}
	for i := 0; i < len(queue); i++ {
		queue = graph.appendPredecessors(queue, int(queue[i]), step)
	}
}

// appendPredecessors calls step for each choice with a transition to target. It appends the states that step wants to visit to the queue.
func (graph *Graph) appendPredecessors(queue []uint32, target int, step func(choice uint32) (state int, visit bool)) []uint32 {
	for _, choice := range graph.Into(target) {
		if state, visit := step(choice); visit {
			queue = append(queue, uint32(state))
		}
	}
	return queue
}
