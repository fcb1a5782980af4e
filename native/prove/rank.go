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
	ranks := make([]uint32, numStates)
	for s := range ranks {
		ranks[s] = unranked
	}
	return ranks
}

// anyChoice is a condition on choices that every choice satisfies.
func anyChoice(int, int) bool { return true }

// rankByDistance returns ranks of the states in allowedStates. Targets have rank 0. Each other ranked state has a usable choice with a successor of
// smaller rank. A state is unranked if usable choices cannot reach a target.
func rankByDistance(graph *sparse.Graph, targets, allowedStates *sparse.Set, isUsable func(s, choice int) bool) []uint32 {
	ranks := newRanks(graph.NumStates())
	for s := range targets.All() {
		ranks[s] = 0
	}
	unrankedStates := allowedStates.Minus(targets)
	rankInSweeps(graph, ranks, unrankedStates, false, isUsable)
	if !unrankedStates.Empty() {
		rankBackwards(graph, ranks, allowedStates, isUsable)
	}
	return ranks
}

// rankBackwards gives ranks to unranked states in allowedStates, by a backward search along usable choices from the ranked states.
func rankBackwards(graph *sparse.Graph, ranks []uint32, allowedStates *sparse.Set, isUsable func(s, choice int) bool) {
	var queue []uint32
	for s, stateRank := range ranks {
		if stateRank != unranked {
			queue = append(queue, uint32(s))
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, choice := range graph.Into(int(queue[i])) {
			s := graph.Owner(choice)
			if ranks[s] == unranked && allowedStates.Has(s) && isUsable(s, int(choice)) {
				ranks[s] = ranks[queue[i]] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
}

// rankInSweeps gives ranks to states in sweeps over all states, forwards and backwards in turn, and removes these states from unrankedStates. A
// state gets a rank if its usable choices lead to ranked states: all choices if allChoices is true, else at least one. It stops after a sweep
// that ranks less than half of the unranked states.
func rankInSweeps(graph *sparse.Graph, ranks []uint32, unrankedStates *sparse.Set, allChoices bool, isUsable func(s, choice int) bool) {
	// Sweeps are faster than a backward search if the states are numbered breadth-first.
	previousCount, remainingCount := math.MaxInt, unrankedStates.Count()
	for backwards := true; remainingCount > 0 && remainingCount <= previousCount/2; backwards = !backwards {
		previousCount = remainingCount
		for s := range ranks {
			if backwards {
				s = len(ranks) - 1 - s
			}
			if unrankedStates.Has(s) && tryToRank(graph, ranks, s, allChoices, isUsable) {
				unrankedStates.Remove(s)
				remainingCount--
			}
		}
	}
}

// tryToRank gives state s a rank if its usable choices have ranked successors: all choices if allChoices is true, else at least one. It reports
// whether s got a rank.
func tryToRank(graph *sparse.Graph, ranks []uint32, s int, allChoices bool, isUsable func(s, choice int) bool) bool {
	var successorRank uint32
	if allChoices {
		successorRank = maxChoiceRank(graph, ranks, s, isUsable)
	} else {
		successorRank = leastSuccessorRank(graph, ranks, s, isUsable)
	}
	if successorRank == unranked {
		return false
	}
	ranks[s] = successorRank + 1
	return true
}

// leastSuccessorRank returns the least rank of the successors of the usable choices of state s, or unranked if no successor is ranked.
func leastSuccessorRank(graph *sparse.Graph, ranks []uint32, s int, isUsable func(s, choice int) bool) uint32 {
	least := uint32(unranked)
	first, end := graph.Choices(s)
	for choice := first; choice < end; choice++ {
		if choiceRank := leastRank(graph, ranks, choice); choiceRank < least && isUsable(s, choice) {
			least = choiceRank
		}
	}
	return least
}

// maxChoiceRank returns the maximum over the usable choices of state s of the minimum rank of the successors. If isUsable is nil, all choices are
// usable.
func maxChoiceRank(graph *sparse.Graph, ranks []uint32, s int, isUsable func(s, choice int) bool) uint32 {
	maxRank := uint32(0)
	first, end := graph.Choices(s)
	for choice := first; choice < end; choice++ {
		choiceRank := leastRank(graph, ranks, choice)
		if choiceRank <= maxRank {
			continue
		}
		if isUsable == nil || isUsable(s, choice) { // called as rarely as possible, because it may compute with fractions
			maxRank = choiceRank
		}
	}
	return maxRank
}

// leastRank returns the least rank of the successors of a choice, or unranked if no successor is ranked.
func leastRank(graph *sparse.Graph, ranks []uint32, choice int) uint32 {
	least := uint32(unranked)
	first, end := graph.Transitions(choice)
	for _, target := range graph.Target[first:end] {
		least = min(least, ranks[target])
	}
	return least
}

// rankAllChoices returns ranks of the states in allowedStates from which every scheduler reaches a target with positive probability. Targets have
// rank 0. Each usable choice of another ranked state has a successor of smaller rank. If isUsable is nil, all choices are usable.
func rankAllChoices(graph *sparse.Graph, targets, allowedStates *sparse.Set, isUsable func(s, choice int) bool) []uint32 {
	ranks, unrankedStates := newRanks(graph.NumStates()), allowedStates.Minus(targets)
	for s := range targets.All() {
		ranks[s] = 0
	}
	rankInSweeps(graph, ranks, unrankedStates, true, isUsable)
	if unrankedStates.Empty() {
		return ranks
	}
	attractor := newAttractor(graph, isUsable)
	for s := range allowedStates.All() {
		if attractor.openChoices[s] == 0 && !targets.Has(s) {
			attractor.addState(s, 0)
		}
	}
	for s := range targets.All() {
		attractor.addState(s, 0)
	}
	attractor.extend(allowedStates)
	return attractor.ranks
}

// attractor is a backward search for the states from which every scheduler reaches ranked states with positive
// probability.
type attractor struct {
	graph            *sparse.Graph
	ranks            []uint32
	openChoices      []uint32    // for each state, the number of choices without a ranked successor
	satisfiedChoices *sparse.Set // choices that have a ranked successor, or need none
	queue            []uint32
	greatestRank     uint32 // the greatest rank so far
}

// newAttractor returns an attractor of a graph in which no state has a rank yet. The caller gives ranks to some states; extend then gives a rank to
// each state whose usable choices all have a ranked successor. If isUsable is nil, all choices are usable.
func newAttractor(graph *sparse.Graph, isUsable func(s, choice int) bool) *attractor {
	attractor := &attractor{
		graph: graph, ranks: newRanks(graph.NumStates()),
		openChoices: make([]uint32, graph.NumStates()), satisfiedChoices: sparse.NewSet(graph.NumChoices()),
	}
	for s := range attractor.openChoices {
		first, end := graph.Choices(s)
		for choice := first; choice < end; choice++ {
			if isUsable == nil || isUsable(s, choice) {
				attractor.openChoices[s]++
			} else {
				attractor.satisfiedChoices.Add(choice)
			}
		}
	}
	return attractor
}

// rankGame returns ranks of the states of a game in allowedStates from which the maximizer leaves this set with positive probability. In a ranked state
// of the maximizer, some usable choice has a successor of smaller rank; in a ranked state of the minimizer, every choice has such a successor.
func rankGame(graph *sparse.Graph, allowedStates, maximizer *sparse.Set, isUsable func(s, choice int) bool) []uint32 {
	attractor := newAttractor(graph, func(s, choice int) bool { return !maximizer.Has(s) || allowedStates.Has(s) && isUsable(s, choice) })
	for s := range maximizer.All() {
		attractor.openChoices[s] = 1 // one usable choice is enough
	}
	for s := range allowedStates.Complement().All() {
		attractor.addState(s, 0)
	}
	attractor.extend(allowedStates)
	return attractor.ranks
}

// addState ranks a state, and queues it for the backward search.
func (attractor *attractor) addState(s int, rank uint32) {
	attractor.ranks[s] = rank
	attractor.greatestRank = max(attractor.greatestRank, rank)
	attractor.queue = append(attractor.queue, uint32(s))
}

// extend searches backwards from the ranked states in the queue. It gives a rank to each state in allowedStates whose usable choices all have a ranked
// successor: one more than the rank of the state that was found last.
func (attractor *attractor) extend(allowedStates *sparse.Set) {
	for ; len(attractor.queue) > 0; attractor.queue = attractor.queue[1:] {
		rankedState := attractor.queue[0]
		for _, choice := range attractor.graph.Into(int(rankedState)) {
			if attractor.satisfiedChoices.Has(int(choice)) {
				continue
			}
			attractor.satisfiedChoices.Add(int(choice))
			s := attractor.graph.Owner(choice)
			attractor.openChoices[s]--
			if attractor.openChoices[s] == 0 && attractor.ranks[s] == unranked && allowedStates.Has(s) {
				attractor.addState(s, attractor.ranks[rankedState]+1)
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
			return attractor.ranks
		}
		for s := range trap.All() {
			attractor.addState(s, nextLayer)
		}
		attractor.extend(nonTargets)
		nextLayer = attractor.greatestRank + 1
	}
}

// trap returns the largest set of unranked candidates that satisfies: each choice of a state in the set has a ranked successor, or all its successors
// are in the set.
func (attractor *attractor) trap(candidates *sparse.Set) *sparse.Set {
	trap := sparse.NewSet(candidates.Len())
	var outsideStates []uint32 // unranked states outside the trap, whose predecessors are not yet removed
	for s, stateRank := range attractor.ranks {
		if stateRank != unranked {
			continue
		}
		if candidates.Has(s) {
			trap.Add(s)
		} else {
			outsideStates = append(outsideStates, uint32(s))
		}
	}
	for ; len(outsideStates) > 0; outsideStates = outsideStates[1:] {
		for _, choice := range attractor.graph.Into(int(outsideStates[0])) {
			s := attractor.graph.Owner(choice)
			if trap.Has(s) && !attractor.satisfiedChoices.Has(int(choice)) {
				trap.Remove(s)
				outsideStates = append(outsideStates, uint32(s))
			}
		}
	}
	return trap
}

// rankAllPaths returns ranks of the states from which every path satisfies `left U right`. The states in right have rank 0. All successors of another
// ranked state have a smaller rank.
func rankAllPaths(graph *sparse.Graph, left, right *sparse.Set) []uint32 {
	ranks := newRanks(graph.NumStates())
	openTransitions := make([]uint32, graph.NumStates()) // for each state, the number of transitions to unranked states
	for s := range openTransitions {
		first, end := graph.Choices(s)
		openTransitions[s] = graph.FirstTransition[end] - graph.FirstTransition[first]
	}
	var queue []uint32
	for s := range right.All() {
		ranks[s] = 0
		queue = append(queue, uint32(s))
	}
	for ; len(queue) > 0; queue = queue[1:] {
		rankedState := queue[0]
		for _, choice := range graph.Into(int(rankedState)) {
			s := graph.Owner(choice)
			openTransitions[s]--
			if openTransitions[s] == 0 && ranks[s] == unranked && left.Has(s) {
				ranks[s] = ranks[rankedState] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return ranks
}
