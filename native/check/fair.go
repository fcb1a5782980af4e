package check

import (
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
)

// fair reports whether only fair schedulers count, of a model that has some.
func (e *evaluation) fair() bool { return e.onlyFair && e.kind() == sparse.MDP }

// unfair refuses fair schedulers where what they attain is not known: of models other than
// MDPs. What is decided in finitely many steps is the same under fair schedulers, for one
// can be fair afterwards; so are minimal rewards until something happens, which are
// infinite where it may not, and maximal total rewards, of which finitely many steps
// earn as much as is wanted.
func (e *evaluation) unfair(f *logic.Formula, dir solve.Direction) error {
	if !e.fair() {
		return nil
	}
	if t := e.space.Program().Type; t != syntax.MDP {
		return e.unsupported(f.X, "found fair schedulers of a %s, want an MDP", t)
	}
	switch form := f.Objective.Form; {
	case form == logic.Cumulative || form == logic.Instantaneous:
		return nil
	case form == logic.CostBoundedReward:
		return e.unsupported(f.X, "found %s and fair schedulers", logic.Describe(f.Objective.X))
	case form == logic.LongRun:
		return e.unsupported(f.X, "found a long-run reward and fair schedulers")
	case form == logic.TotalReward && dir == solve.Min:
		return e.unsupported(f.X, "found a minimal total reward and fair schedulers")
	case form != logic.TotalReward && dir == solve.Max:
		return e.unsupported(f.X, "found a maximal reward until something happens and fair schedulers")
	}
	return nil
}

// fairUntil returns the minimal probability of an until formula under fair schedulers: one
// minus the maximal probability of coming to a state from which no path satisfies it.
// Almost every fair path ends up in a set of states that no choice leaves, and meets all
// of them; if it does not satisfy the formula, no path from there does. And whatever
// is done before and after, a scheduler can be fair in the long run.
//
// Maximal probabilities are those of all schedulers, and so are those of bounded
// formulas: what happens in the long run does not matter to them.
//
// Source: Baier and Kwiatkowska, Model checking for a probabilistic branching time logic
// with fairness (Distributed Computing, 1998).
func (e *evaluation) fairUntil(left, right *sparse.Set) (*numbers, error) {
	never := e.graph.Prob0A(left, right)
	v, err := e.solved(solve.Until(e.ctx, e.graph, left.Minus(right), never, solve.Max, e.opts))
	if err != nil {
		return nil, err
	}
	return e.complement(v), nil
}

// fairly asks for schedulers that are fair to the model: almost every path that visits a
// state of the model infinitely often makes each of its choices infinitely often. In a
// product the state may be read by the automaton in different ways, and it is enough that
// each choice is made infinitely often in one of them: a scheduler may remember.
//
// What a scheduler does in the long run is an end component of the product; it is fair if
// for each state of the model within all choices of that are. Unions of such end components
// that meet are others, so that there are greatest ones: of an end component in which a
// choice of a state is missing no part has the state. (This is how Streett conditions are
// checked; de Alfaro, Formal verification of probabilistic systems, 1997, section 8.)
//
// PRISM asks for more: in each state of its product each choice infinitely often, which
// depends on the automaton.
type fairly struct{ surely }

// lasting returns the greatest fair end components.
func (q fairly) lasting(p *productModel) ([][]uint32, error) {
	var out [][]uint32
	live, choices := q.stay(p), sparse.FullSet(p.NumChoices())
	for {
		ends, err := p.EndComponents(q.ctx, live, choices)
		if err != nil {
			return nil, err
		}
		again := sparse.NewSet(p.NumStates())
		for i := range ends.Num() {
			set := ends.Members(i)
			if missing := q.missing(p, set, ends.Choices); len(missing) == 0 {
				out = append(out, set)
			} else {
				for _, s := range set {
					if !missing[p.pairs[s].state] {
						again.Add(int(s))
					}
				}
			}
		}
		if again.Empty() {
			return out, nil
		}
		live, choices = again, ends.Choices
	}
}

// missing returns the states of the model with choices that an end component never makes.
func (q fairly) missing(p *productModel, set []uint32, choices *sparse.Set) map[uint32]bool {
	made := map[uint32]bool{}
	for _, s := range set {
		first, end := p.Choices(int(s))
		for c := first; c < end; c++ {
			if choices.Has(c) {
				made[p.choice[c]] = true
			}
		}
	}
	out := map[uint32]bool{}
	if made[sparse.None] { // the automaton has accepted, and whatever follows can be fair
		return out
	}
	for _, s := range set {
		state := p.pairs[s].state
		first, end := q.graph.Choices(int(state))
		for c := first; c < end; c++ {
			if !made[uint32(c)] {
				out[state] = true
			}
		}
	}
	return out
}
