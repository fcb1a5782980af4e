package sparse

import "context"

// The four sets below are the states from which `left U right` has probability
// 0 or 1, for all schedulers (A) or for some (E). They look at the graph only
// and are exact. In a Markov chain A and E are the same.

// Prob0A returns the states where the maximal probability is 0.
func (g *Graph) Prob0A(left, right *Set) *Set {
	return g.ExistsUntil(left, right).Complement()
}

// Prob0E returns the states where the minimal probability is 0: a scheduler
// avoids right for certain.
func (g *Graph) Prob0E(left, right *Set) *Set {
	if g.First == nil {
		return g.Prob0A(left, right)
	}
	// The complement: every choice has a way on towards right.
	forced := right.Clone()
	met := NewSet(g.NumChoices())
	missing := make([]uint32, g.NumStates())
	for s := range missing {
		first, end := g.Choices(s)
		missing[s] = uint32(end - first)
	}
	g.backwards(right, func(c uint32) (int, bool) {
		s := g.Owner(c)
		if met.Has(int(c)) || forced.Has(s) || !left.Has(s) {
			return s, false
		}
		met.Add(int(c))
		missing[s]--
		if missing[s] > 0 {
			return s, false
		}
		forced.Add(s)
		return s, true
	})
	return forced.Complement()
}

// Prob1A returns the states where the minimal probability is 1.
func (g *Graph) Prob1A(left, right *Set) *Set {
	return g.ExistsUntil(left.Minus(right), g.Prob0E(left, right)).Complement()
}

// Prob1E returns the states where the maximal probability is 1. It is the
// greatest set within which right can be reached without ever risking to leave.
//
// Source: de Alfaro 1997, algorithm 3.4 (Baier and Katoen 2008, algorithm 45).
func (g *Graph) Prob1E(ctx context.Context, left, right *Set) (*Set, error) {
	if g.First == nil {
		return g.Prob1A(left, right), nil
	}
	sure := g.ExistsUntil(left, right)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := g.attract(sure, left, right, nil)
		if next.Equal(sure) {
			return sure, nil
		}
		sure = next
	}
}

// attract returns the states that reach right through left by choices that stay
// in sure, and notes in how, unless it is nil, the choice of each by which the
// shortest way to right gets shorter.
func (g *Graph) attract(sure, left, right *Set, how []uint32) *Set {
	from := right.Intersect(sure)
	reached := from.Clone()
	g.backwards(from, func(c uint32) (int, bool) {
		s := g.Owner(c)
		if reached.Has(s) || !left.Has(s) || !sure.Has(s) || !g.stays(c, sure) {
			return s, false
		}
		reached.Add(s)
		if how != nil {
			how[s] = c
		}
		return s, true
	})
	return reached
}

// Attract writes, for each state of sure that is not in right, a choice into
// how that stays in sure and brings the state closer to right. Where sure is
// Prob1E, or an end component that right meets, the choices together reach
// right with probability one. Other entries of how are left alone.
func (g *Graph) Attract(sure, right *Set, how []uint32) {
	g.attract(sure, sure, right, how)
}

// Remain writes, for each state of a set, its first choice that stays in the
// set into how, where there is one. Where the set is Prob0E, the choices avoid
// right for ever.
func (g *Graph) Remain(set *Set, how []uint32) {
	for s := range set.All() {
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			if g.stays(uint32(c), set) {
				how[s] = uint32(c)
				break
			}
		}
	}
}

// Approach writes, for each state outside target that can reach target by the
// given choices (nil for all), one of these with a transition along a shortest
// way there into how.
func (g *Graph) Approach(choices, target *Set, how []uint32) {
	reached := target.Clone()
	g.backwards(target, func(c uint32) (int, bool) {
		s := g.Owner(c)
		if reached.Has(s) || choices != nil && !choices.Has(int(c)) {
			return s, false
		}
		reached.Add(s)
		how[s] = c
		return s, true
	})
}

// backwards searches breadth first against the transitions, from the members of
// from in increasing order. For each choice c with a transition to a state t
// taken up, step says which state to take up next, if any.
func (g *Graph) backwards(from *Set, step func(c uint32) (int, bool)) {
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
