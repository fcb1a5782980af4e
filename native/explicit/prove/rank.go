package prove

import (
	"math"

	"tilecheck/native/explicit/sparse"
)

// ranks number states so that certain choices lead, with some probability, to a
// state of a smaller number; unranked is that of states without one.
const unranked = sparse.None

func newRanks(n int) []uint32 {
	rank := make([]uint32, n)
	for s := range rank {
		rank[s] = unranked
	}
	return rank
}

// nearer ranks the states of a set by their distance to others along choices that
// are usable: each has one with a successor of smaller rank.
func nearer(g *sparse.Graph, to, within *sparse.Set, usable func(s, c int) bool) []uint32 {
	rank := newRanks(g.NumStates())
	for s := range to.All() {
		rank[s] = 0
	}
	open := within.Minus(to)
	sweep(g, rank, open, false, usable)
	if open.Empty() {
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

// sweep ranks open states, and removes them from that set, as long as going through all of
// them in order, backwards and forwards, ranks most of those that are left: where
// states lead on in the order in which they were found, that is faster than
// going back from the others. Some choice that counts leads to a smaller rank, or each does.
func sweep(g *sparse.Graph, rank []uint32, open *sparse.Set, each bool, counts func(s, c int) bool) {
	last := math.MaxInt
	for left, back := open.Count(), true; left > 0 && left <= last/2; back = !back {
		last = left
		for s := range rank {
			if back {
				s = len(rank) - 1 - s
			}
			if open.Has(s) && onward(g, rank, s, each, counts) {
				open.Remove(s)
				left--
			}
		}
	}
}

// onward ranks a state whose choices lead to ranked ones.
func onward(g *sparse.Graph, rank []uint32, s int, each bool, counts func(s, c int) bool) bool {
	best := uint32(unranked)
	if each {
		best = 0
	}
	first, end := g.Choices(s)
	for c := first; c < end; c++ {
		near := uint32(unranked)
		lo, hi := g.Row(c)
		for _, t := range g.Target[lo:hi] {
			near = min(near, rank[t])
		}
		switch {
		case !each && near < best && counts(s, c):
			best = near
		case each && near > best && (counts == nil || counts(s, c)):
			best = near
		}
	}
	if best == unranked {
		return false
	}
	rank[s] = best + 1
	return true
}

// forced ranks the states of a set that cannot but come nearer to others: each
// choice that counts has a successor of smaller rank.
func forced(g *sparse.Graph, to, within *sparse.Set, counts func(s, c int) bool) []uint32 {
	rank, open := newRanks(g.NumStates()), within.Minus(to)
	for s := range to.All() {
		rank[s] = 0
	}
	if sweep(g, rank, open, true, counts); open.Empty() {
		return rank
	}
	f := newForce(g, counts)
	for s := range within.All() {
		if f.missing[s] == 0 && !to.Has(s) {
			f.put(s, 0)
		}
	}
	for s := range to.All() {
		f.put(s, 0)
	}
	f.spread(within)
	return f.rank
}

// force is the search for states that all choices lead nearer to ranked ones.
type force struct {
	g       *sparse.Graph
	rank    []uint32
	missing []uint32    // choices of each state that do not, of those that count
	met     *sparse.Set // the others
	queue   []uint32
	last    uint32 // the greatest rank
}

func newForce(g *sparse.Graph, counts func(s, c int) bool) *force {
	f := &force{g: g, rank: newRanks(g.NumStates()), missing: make([]uint32, g.NumStates()), met: sparse.NewSet(g.NumChoices())}
	for s := range f.missing {
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			if counts == nil || counts(s, c) {
				f.missing[s]++
			} else {
				f.met.Add(c)
			}
		}
	}
	return f
}

func (f *force) put(s int, rank uint32) {
	f.rank[s] = rank
	f.last = max(f.last, rank)
	f.queue = append(f.queue, uint32(s))
}

// spread ranks what leads nearer to what was put since the last time.
func (f *force) spread(within *sparse.Set) {
	for ; len(f.queue) > 0; f.queue = f.queue[1:] {
		t := f.queue[0]
		for _, c := range f.g.Into(int(t)) {
			if f.met.Has(int(c)) {
				continue
			}
			f.met.Add(int(c))
			s := f.g.Owner(c)
			f.missing[s]--
			if f.missing[s] == 0 && f.rank[s] == unranked && within.Has(s) {
				f.put(s, f.rank[t]+1)
			}
		}
	}
}

// layers ranks the states from which no scheduler surely gets to some others:
// every choice of a state has a successor in a smaller layer, or has all of them
// in the state's own.
func layers(g *sparse.Graph, to *sparse.Set) []uint32 {
	f := newForce(g, nil)
	others := to.Complement()
	next := uint32(0)
	for {
		trap := f.trap(others)
		if trap.Empty() {
			return f.rank
		}
		for s := range trap.All() {
			f.put(s, next)
		}
		f.spread(others)
		next = f.last + 1
	}
}

// trap returns the greatest set of states without rank whose choices, but for
// those that lead nearer to a ranked one, stay in it.
func (f *force) trap(within *sparse.Set) *sparse.Set {
	out := sparse.NewSet(within.Len())
	for s := range within.All() {
		if f.rank[s] == unranked {
			out.Add(s)
		}
	}
	var queue []uint32
	for s, r := range f.rank {
		if r == unranked && !out.Has(s) {
			queue = append(queue, uint32(s))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, c := range f.g.Into(int(queue[0])) {
			if s := f.g.Owner(c); out.Has(s) && !f.met.Has(int(c)) {
				out.Remove(s)
				queue = append(queue, uint32(s))
			}
		}
	}
	return out
}

// inevitable ranks the states of which every path satisfies an until formula: all
// successors of a state have a smaller rank.
func inevitable(g *sparse.Graph, left, right *sparse.Set) []uint32 {
	rank := newRanks(g.NumStates())
	missing := make([]uint32, g.NumStates())
	for s := range missing {
		first, end := g.Choices(s)
		missing[s] = g.Start[end] - g.Start[first]
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
			missing[s]--
			if missing[s] == 0 && rank[s] == unranked && left.Has(s) {
				rank[s] = rank[t] + 1
				queue = append(queue, uint32(s))
			}
		}
	}
	return rank
}
