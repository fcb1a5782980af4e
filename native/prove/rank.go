package prove

import (
	"math"

	"tilecheck/native/space/sparse"
)

// A rank is a number for each state, such that certain choices lead with positive probability to a state of smaller
// rank. unranked is the rank of states outside the ranked set.
const unranked = sparse.None

func newRanks(n int) []uint32 {
	rank := make([]uint32, n)
	for s := range rank {
		rank[s] = unranked
	}
	return rank
}

// rankByDistance ranks the states of a set by their distance to the targets along usable choices: each ranked state
// has a usable choice with a successor of smaller rank.
func rankByDistance(g *sparse.Graph, targets, within *sparse.Set, usable func(s, c int) bool) []uint32 {
	rank := newRanks(g.NumStates())
	for s := range targets.All() {
		rank[s] = 0
	}
	unrankedStates := within.Minus(targets)
	rankInSweeps(g, rank, unrankedStates, false, usable)
	if unrankedStates.Empty() {
		return rank
	}
	var queue []uint32
	for s, r := range rank {
		if r != unranked {
			queue = append(queue, uint32(s))
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, c := range g.Into(int(queue[i])) {
			if s := g.Owner(c); rank[s] == unranked && within.Has(s) && usable(s, int(c)) {
				rank[s] = rank[queue[i]] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return rank
}

// rankInSweeps ranks states by passes over all states in alternating order, and removes them from unrankedStates.
// It stops when a pass ranks less than half of the remaining states. In models whose states were numbered
// breadth-first this is faster than a backward search. With allChoices, all choices that count must lead to a
// smaller rank, otherwise one.
func rankInSweeps(g *sparse.Graph, rank []uint32, unrankedStates *sparse.Set, allChoices bool, counts func(s, c int) bool) {
	last := math.MaxInt
	for remaining, backwards := unrankedStates.Count(), true; remaining > 0 && remaining <= last/2; backwards = !backwards {
		last = remaining
		for s := range rank {
			if backwards {
				s = len(rank) - 1 - s
			}
			if unrankedStates.Has(s) && rankState(g, rank, s, allChoices, counts) {
				unrankedStates.Remove(s)
				remaining--
			}
		}
	}
}

// rankState ranks a state if its choices lead to ranked states, and reports whether they do.
func rankState(g *sparse.Graph, rank []uint32, s int, allChoices bool, counts func(s, c int) bool) bool {
	best := uint32(unranked)
	if allChoices {
		best = 0
	}
	first, end := g.Choices(s)
	for c := first; c < end; c++ {
		nearest := uint32(unranked)
		lo, hi := g.Row(c)
		for _, t := range g.Target[lo:hi] {
			nearest = min(nearest, rank[t])
		}
		switch {
		case !allChoices && nearest < best && counts(s, c):
			best = nearest
		case allChoices && nearest > best && (counts == nil || counts(s, c)):
			best = nearest
		}
	}
	if best == unranked {
		return false
	}
	rank[s] = best + 1
	return true
}

// rankAllChoices ranks the states of a set from which every scheduler reaches the targets with positive
// probability: each choice that counts has a successor of smaller rank.
func rankAllChoices(g *sparse.Graph, targets, within *sparse.Set, counts func(s, c int) bool) []uint32 {
	rank, unrankedStates := newRanks(g.NumStates()), within.Minus(targets)
	for s := range targets.All() {
		rank[s] = 0
	}
	if rankInSweeps(g, rank, unrankedStates, true, counts); unrankedStates.Empty() {
		return rank
	}
	attractor := newAttractor(g, counts)
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

// attractor is a backward search for the states from which every scheduler reaches ranked states with positive probability.
type attractor struct {
	g         *sparse.Graph
	rank      []uint32
	remaining []uint32    // for each state, the number of choices without a ranked successor
	satisfied *sparse.Set // choices with a ranked successor, or that do not count
	queue     []uint32
	greatest  uint32 // the greatest rank so far
}

func newAttractor(g *sparse.Graph, counts func(s, c int) bool) *attractor {
	a := &attractor{g: g, rank: newRanks(g.NumStates()), remaining: make([]uint32, g.NumStates()), satisfied: sparse.NewSet(g.NumChoices())}
	for s := range a.remaining {
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			if counts == nil || counts(s, c) {
				a.remaining[s]++
			} else {
				a.satisfied.Add(c)
			}
		}
	}
	return a
}

// add ranks a state, from which extend will search.
func (a *attractor) add(s int, rank uint32) {
	a.rank[s] = rank
	a.greatest = max(a.greatest, rank)
	a.queue = append(a.queue, uint32(s))
}

// extend ranks the states all of whose choices have a ranked successor, starting from the states added since the last call.
func (a *attractor) extend(within *sparse.Set) {
	for ; len(a.queue) > 0; a.queue = a.queue[1:] {
		t := a.queue[0]
		for _, c := range a.g.Into(int(t)) {
			if a.satisfied.Has(int(c)) {
				continue
			}
			a.satisfied.Add(int(c))
			s := a.g.Owner(c)
			a.remaining[s]--
			if a.remaining[s] == 0 && a.rank[s] == unranked && within.Has(s) {
				a.add(s, a.rank[t]+1)
			}
		}
	}
}

// trapLayers ranks the states from which no scheduler reaches the targets almost surely: every choice of a state has a
// successor in a smaller layer, or has all its successors in the state's own layer.
func trapLayers(g *sparse.Graph, targets *sparse.Set) []uint32 {
	attractor := newAttractor(g, nil)
	others := targets.Complement()
	next := uint32(0)
	for {
		trap := attractor.trap(others)
		if trap.Empty() {
			return attractor.rank
		}
		for s := range trap.All() {
			attractor.add(s, next)
		}
		attractor.extend(others)
		next = attractor.greatest + 1
	}
}

// trap returns the largest set of unranked states in which every choice stays that has no ranked successor.
func (a *attractor) trap(within *sparse.Set) *sparse.Set {
	out := sparse.NewSet(within.Len())
	for s := range within.All() {
		if a.rank[s] == unranked {
			out.Add(s)
		}
	}
	var queue []uint32
	for s, r := range a.rank {
		if r == unranked && !out.Has(s) {
			queue = append(queue, uint32(s))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, c := range a.g.Into(int(queue[0])) {
			if s := a.g.Owner(c); out.Has(s) && !a.satisfied.Has(int(c)) {
				out.Remove(s)
				queue = append(queue, uint32(s))
			}
		}
	}
	return out
}

// rankAllPaths ranks the states in which every path satisfies an until formula: all successors of a state have a smaller rank.
func rankAllPaths(g *sparse.Graph, left, right *sparse.Set) []uint32 {
	rank := newRanks(g.NumStates())
	remaining := make([]uint32, g.NumStates())
	for s := range remaining {
		first, end := g.Choices(s)
		remaining[s] = g.Start[end] - g.Start[first]
	}
	var queue []uint32
	for s := range right.All() {
		rank[s] = 0
		queue = append(queue, uint32(s))
	}
	for ; len(queue) > 0; queue = queue[1:] {
		t := queue[0]
		for _, c := range g.Into(int(t)) {
			s := g.Owner(c)
			remaining[s]--
			if remaining[s] == 0 && rank[s] == unranked && left.Has(s) {
				rank[s] = rank[t] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return rank
}
