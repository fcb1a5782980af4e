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
	k := g.newKeeper(sure, right)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lost := sure.Minus(g.attract(sure, k.safe, right, nil))
		if lost.Empty() {
			return sure, nil
		}
		k.remove(lost)
	}
}

// keeper maintains a shrinking set of states and which choices stay in it. A
// state outside right that no longer has one leaves the set at once.
type keeper struct {
	g           *Graph
	sure, right *Set
	safe        *Set     // choices of sure states that stay in sure
	count       []uint32 // of each state's safe choices
}

func (g *Graph) newKeeper(sure, right *Set) *keeper {
	k := &keeper{g: g, sure: sure, right: right, safe: g.Staying(sure), count: make([]uint32, g.NumStates())}
	for c := range k.safe.All() {
		k.count[g.Owner(uint32(c))]++
	}
	stuck := NewSet(g.NumStates())
	for s := range sure.All() {
		if k.count[s] == 0 && !right.Has(s) {
			stuck.Add(s)
		}
	}
	k.remove(stuck)
	return k
}

func (k *keeper) remove(lost *Set) {
	for s := range lost.All() {
		k.sure.Remove(s)
	}
	k.g.backwards(lost, func(c uint32) (int, bool) {
		s := k.g.Owner(c)
		if !k.safe.Has(int(c)) {
			return s, false
		}
		k.safe.Remove(int(c))
		k.count[s]--
		if k.count[s] > 0 || k.right.Has(s) || !k.sure.Has(s) {
			return s, false
		}
		k.sure.Remove(s)
		return s, true
	})
}

// attract returns the states of sure that reach right by the given choices, and
// notes in how, unless it is nil, the choice of each by which the shortest way
// to right gets shorter.
func (g *Graph) attract(sure, choices, right *Set, how []uint32) *Set {
	from := right.Intersect(sure)
	reached := from.Clone()
	g.backwards(from, func(c uint32) (int, bool) {
		if !choices.Has(int(c)) {
			return 0, false
		}
		s := g.Owner(c)
		if reached.Has(s) {
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
	g.attract(sure, g.Staying(sure), right, how)
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
