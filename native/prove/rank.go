package prove

import (
	"math"

	"tilecheck/native/space/sparse"
)

// unranked is the rank of the states outside of a ranked set. Ranks are numbers of states: certain choices of a state lead with
// positive probability to a state with a smaller rank.
const unranked = sparse.None

// newRanks returns ranks for numStates unranked states.
func newRanks(numStates int) []uint32 {
	rank := make([]uint32, numStates)
	for s := range rank {
		rank[s] = unranked
	}
	return rank
}

// anyChoice is a condition on choices that every choice satisfies.
func anyChoice(int, int) bool { return true }

// rankByDistance returns ranks of the states in `within`. Targets have rank 0. Each other ranked state has a usable choice with a successor of
// smaller rank. A state is unranked if usable choices cannot reach a target.
func rankByDistance(graph *sparse.Graph, targets, within *sparse.Set, isUsable func(s, c int) bool) []uint32 {
	rank := newRanks(graph.NumStates())
	for s := range targets.All() {
		rank[s] = 0
	}
	unrankedStates := within.Minus(targets)
	rankInSweeps(graph, rank, unrankedStates, false, isUsable)
	if !unrankedStates.Empty() {
		rankBackwards(graph, rank, within, isUsable)
	}
	return rank
}

// rankBackwards gives ranks to unranked states in `within`, by a backward search along usable choices from the ranked states.
func rankBackwards(graph *sparse.Graph, rank []uint32, within *sparse.Set, isUsable func(s, c int) bool) {
	var queue []uint32
	for s, stateRank := range rank {
		if stateRank != unranked {
			queue = append(queue, uint32(s))
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, c := range graph.Into(int(queue[i])) {
			s := graph.Owner(c)
			if rank[s] == unranked && within.Has(s) && isUsable(s, int(c)) {
				rank[s] = rank[queue[i]] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
}

// rankInSweeps gives ranks to states in sweeps over all states, forwards and backwards in turn, and removes these states from unrankedStates. A
// state gets a rank if its usable choices lead to ranked states: all choices if allChoices is true, else at least one. It stops after a sweep
// that ranks less than half of the unranked states.
func rankInSweeps(graph *sparse.Graph, rank []uint32, unrankedStates *sparse.Set, allChoices bool, isUsable func(s, c int) bool) {
	// Sweeps are faster than a backward search if the states are numbered breadth-first.
	previous, remaining := math.MaxInt, unrankedStates.Count()
	for backwards := true; remaining > 0 && remaining <= previous/2; backwards = !backwards {
		previous = remaining
		for s := range rank {
			if backwards {
				s = len(rank) - 1 - s
			}
			if unrankedStates.Has(s) && tryToRank(graph, rank, s, allChoices, isUsable) {
				unrankedStates.Remove(s)
				remaining--
			}
		}
	}
}

// tryToRank gives state s a rank if its usable choices lead to ranked states: all of them if allChoices is true, else at least one. It reports
// whether it did.
func tryToRank(graph *sparse.Graph, rank []uint32, s int, allChoices bool, isUsable func(s, c int) bool) bool {
	var successorRank uint32
	if allChoices {
		successorRank = greatestChoiceRank(graph, rank, s, isUsable)
	} else {
		successorRank = leastSuccessorRank(graph, rank, s, isUsable)
	}
	if successorRank == unranked {
		return false
	}
	rank[s] = successorRank + 1
	return true
}

// leastSuccessorRank returns the least rank of the successors of the usable choices of state s, or unranked if no successor is ranked.
func leastSuccessorRank(graph *sparse.Graph, rank []uint32, s int, isUsable func(s, c int) bool) uint32 {
	least := uint32(unranked)
	first, end := graph.Choices(s)
	for c := first; c < end; c++ {
		if choiceRank := leastRank(graph, rank, c); choiceRank < least && isUsable(s, c) {
			least = choiceRank
		}
	}
	return least
}

// greatestChoiceRank returns the greatest rank of the usable choices of state s. The rank of a choice is the least rank of its successors. If
// isUsable is nil, all choices are usable.
func greatestChoiceRank(graph *sparse.Graph, rank []uint32, s int, isUsable func(s, c int) bool) uint32 {
	greatest := uint32(0)
	first, end := graph.Choices(s)
	for c := first; c < end; c++ {
		choiceRank := leastRank(graph, rank, c)
		if choiceRank <= greatest {
			continue
		}
		if isUsable == nil || isUsable(s, c) { // called as rarely as possible, because it may compute with fractions
			greatest = choiceRank
		}
	}
	return greatest
}

// leastRank returns the least rank of the successors of choice c, or unranked if no successor is ranked.
func leastRank(graph *sparse.Graph, rank []uint32, c int) uint32 {
	least := uint32(unranked)
	first, end := graph.Row(c)
	for _, target := range graph.Target[first:end] {
		least = min(least, rank[target])
	}
	return least
}

// rankAllChoices returns ranks of the states in `within` from which every scheduler reaches a target with positive probability. Targets have
// rank 0. Each usable choice of another ranked state has a successor of smaller rank. If isUsable is nil, all choices are usable.
func rankAllChoices(graph *sparse.Graph, targets, within *sparse.Set, isUsable func(s, c int) bool) []uint32 {
	rank, unrankedStates := newRanks(graph.NumStates()), within.Minus(targets)
	for s := range targets.All() {
		rank[s] = 0
	}
	rankInSweeps(graph, rank, unrankedStates, true, isUsable)
	if unrankedStates.Empty() {
		return rank
	}
	attractor := newAttractor(graph, isUsable)
	for s := range within.All() {
		if attractor.remaining[s] == 0 && !targets.Has(s) {
			attractor.add(s, 0)
		}
	}
	for s := range targets.All() {
		attractor.add(s, 0)
	}
	attractor.extend(within)
	return attractor.rank
}

// attractor is a backward search for the states from which every scheduler reaches ranked states with positive
// probability.
type attractor struct {
	graph            *sparse.Graph
	rank             []uint32
	remaining        []uint32    // for each state, the number of choices without a ranked successor
	satisfiedChoices *sparse.Set // choices that have a ranked successor, or need none
	queue            []uint32
	greatest         uint32 // the greatest rank so far
}

// newAttractor returns an attractor in which no state has a rank yet. A state later gets a rank if each of its usable choices has a ranked
// successor. If isUsable is nil, all choices are usable.
func newAttractor(graph *sparse.Graph, isUsable func(s, c int) bool) *attractor {
	attractor := &attractor{
		graph: graph, rank: newRanks(graph.NumStates()),
		remaining: make([]uint32, graph.NumStates()), satisfiedChoices: sparse.NewSet(graph.NumChoices()),
	}
	for s := range attractor.remaining {
		first, end := graph.Choices(s)
		for c := first; c < end; c++ {
			if isUsable == nil || isUsable(s, c) {
				attractor.remaining[s]++
			} else {
				attractor.satisfiedChoices.Add(c)
			}
		}
	}
	return attractor
}

// rankGame returns ranks of the states of a game in `within` from which the maximizer leaves this set with positive probability. In a ranked
// state of the maximizer, some usable choice has a successor of smaller rank; in a ranked state of the minimizer, every choice has one.
func rankGame(graph *sparse.Graph, within, maximizer *sparse.Set, isUsable func(s, c int) bool) []uint32 {
	attractor := newAttractor(graph, func(s, c int) bool { return !maximizer.Has(s) || within.Has(s) && isUsable(s, c) })
	for s := range maximizer.All() {
		attractor.remaining[s] = 1 // one usable choice is enough
	}
	for s := range within.Complement().All() {
		attractor.add(s, 0)
	}
	attractor.extend(within)
	return attractor.rank
}

// add ranks a state, and queues it for the backward search.
func (a *attractor) add(s int, rank uint32) {
	a.rank[s] = rank
	a.greatest = max(a.greatest, rank)
	a.queue = append(a.queue, uint32(s))
}

// extend searches backwards from the queued states. It gives a rank to each state in `within` whose choices all have a ranked successor.
func (a *attractor) extend(within *sparse.Set) {
	for ; len(a.queue) > 0; a.queue = a.queue[1:] {
		ranked := a.queue[0]
		for _, c := range a.graph.Into(int(ranked)) {
			if a.satisfiedChoices.Has(int(c)) {
				continue
			}
			a.satisfiedChoices.Add(int(c))
			s := a.graph.Owner(c)
			a.remaining[s]--
			if a.remaining[s] == 0 && a.rank[s] == unranked && within.Has(s) {
				a.add(s, a.rank[ranked]+1)
			}
		}
	}
}

// trapLayers returns the layer of each state from which no scheduler reaches a target almost surely. Each choice of such a state has a successor
// in a smaller layer, or all its successors are in the state's own layer. Other states are unranked.
func trapLayers(graph *sparse.Graph, targets *sparse.Set) []uint32 {
	attractor := newAttractor(graph, nil)
	nonTargets := targets.Complement()
	nextLayer := uint32(0)
	for {
		trap := attractor.trap(nonTargets)
		if trap.Empty() {
			return attractor.rank
		}
		for s := range trap.All() {
			attractor.add(s, nextLayer)
		}
		attractor.extend(nonTargets)
		nextLayer = attractor.greatest + 1
	}
}

// trap returns the largest set of unranked candidates whose every choice has a ranked successor, or has all its successors in the set.
func (a *attractor) trap(candidates *sparse.Set) *sparse.Set {
	trap := sparse.NewSet(candidates.Len())
	var outside []uint32 // unranked states outside the trap, whose predecessors are not yet removed
	for s, stateRank := range a.rank {
		if stateRank != unranked {
			continue
		}
		if candidates.Has(s) {
			trap.Add(s)
		} else {
			outside = append(outside, uint32(s))
		}
	}
	for ; len(outside) > 0; outside = outside[1:] {
		for _, c := range a.graph.Into(int(outside[0])) {
			s := a.graph.Owner(c)
			if trap.Has(s) && !a.satisfiedChoices.Has(int(c)) {
				trap.Remove(s)
				outside = append(outside, uint32(s))
			}
		}
	}
	return trap
}

// rankAllPaths returns ranks of the states in which every path satisfies `left U right`. States of right have rank 0. All successors of another
// ranked state have a smaller rank.
func rankAllPaths(graph *sparse.Graph, left, right *sparse.Set) []uint32 {
	rank := newRanks(graph.NumStates())
	remaining := make([]uint32, graph.NumStates()) // for each state, the number of transitions to unranked states
	for s := range remaining {
		first, end := graph.Choices(s)
		remaining[s] = graph.Start[end] - graph.Start[first]
	}
	var queue []uint32
	for s := range right.All() {
		rank[s] = 0
		queue = append(queue, uint32(s))
	}
	for ; len(queue) > 0; queue = queue[1:] {
		ranked := queue[0]
		for _, c := range graph.Into(int(ranked)) {
			s := graph.Owner(c)
			remaining[s]--
			if remaining[s] == 0 && rank[s] == unranked && left.Has(s) {
				rank[s] = rank[ranked] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return rank
}
