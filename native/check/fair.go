package check

import (
	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
)

// onlyFairSchedulers reports whether only fair schedulers of an MDP are considered.
func (e *evaluation) onlyFairSchedulers() bool { return e.onlyFair && e.kind() == sparse.MDP }

// checkFairSupported returns an error if only fair schedulers count and no method is known for the value of a reward formula under
// them. It accepts the formulas whose values are the same under fair and under arbitrary schedulers:
//   - cumulative and instantaneous rewards: finitely many steps decide them, and a scheduler can be fair afterwards;
//   - minimal rewards until a target is reached: they are infinite if a scheduler can avoid the target;
//   - maximal total rewards: finitely many steps come arbitrarily close to them, and a scheduler can be fair afterwards.
func (e *evaluation) checkFairSupported(formula *logic.Formula, dir solve.Direction) error {
	if !e.onlyFairSchedulers() {
		return nil
	}
	if modelType := e.space.Program().Type; modelType != syntax.MDP {
		return e.unsupported(formula.X, "found fair schedulers of %s, want an MDP", noun.WithArticle(modelType.String()))
	}
	switch formula.Objective.Form {
	case logic.Cumulative, logic.Instantaneous:
		return nil
	case logic.CostBoundedReward, logic.ConditionalReward, logic.Discounted:
		return e.unsupported(formula.X, "found %s, which is not supported for fair schedulers", logic.Describe(formula.Objective.X))
	case logic.LongRun:
		return e.unsupported(formula.X, "found a long-run reward, which is not supported for fair schedulers")
	case logic.TotalReward:
		if dir == solve.Min {
			return e.unsupported(formula.X, "found a minimal total reward, which is not supported for fair schedulers")
		}
		return nil
	}
	// All other rewards are earned until a path formula is satisfied.
	if dir == solve.Max {
		return e.unsupported(formula.X, "found a maximal reward until a target is reached, which is not supported for fair schedulers")
	}
	return nil
}

// fairUntil returns the minimal probability of `left U right` under fair schedulers: one minus the maximal
// probability of reaching a state from which no path satisfies it. The reason: almost every fair path ends
// in a set of states that no choice leaves, and visits all of them. If it does not satisfy the formula, no
// path from these states does.
//
// Maximal probabilities, and the probabilities of bounded formulas, are the same as under all schedulers, because a
// scheduler can be fair after the formula is decided.
//
// Source: Baier and Kwiatkowska, Model checking for a probabilistic branching time logic
// with fairness (Distributed Computing, 1998).
func (e *evaluation) fairUntil(left, right *sparse.Set) (*numbers, error) {
	never := e.graph.Prob0A(left, right)
	values, err := e.toNumbers(solve.Until(e.ctx, e.graph, left.Minus(right), never, solve.Max, e.opts))
	if err != nil {
		return nil, err
	}
	return e.complement(values), nil
}

// someFairScheduler is the quantifier over schedulers that are fair to the model: almost every path that visits a
// state of the model infinitely often makes each of its choices infinitely often. Several states of the
// product have the same state of the model; it suffices that each choice is made in one of them, because
// a scheduler may have memory.
//
// The states and choices that occur infinitely often are an end component of the product. It is fair if it
// has all choices of each of its states of the model. There are maximal fair end components: if an end
// component lacks a choice of a state, no fair part of it contains the state, so the state can be removed.
// (Streett conditions are checked in the same way; de Alfaro, Formal verification of probabilistic systems,
// 1997, section 8.)
//
// PRISM requires each choice infinitely often in each state of its product, which depends on the automaton.
type someFairScheduler struct{ someScheduler }

// recurrentSets returns the states of each maximal fair end component of the product.
func (quantifier someFairScheduler) recurrentSets(product *productModel) ([][]uint32, error) {
	var out [][]uint32
	candidates, choices := quantifier.statesToStayIn(product), sparse.FullSet(product.NumChoices())
	for {
		endComponents, err := product.EndComponents(quantifier.ctx, candidates, choices)
		if err != nil {
			return nil, err
		}
		remaining := sparse.NewSet(product.NumStates()) // states to decompose again
		for i := range endComponents.Num() {
			members := endComponents.Members(i)
			missing := quantifier.statesWithMissingChoices(product, members, endComponents.Choices)
			if len(missing) == 0 {
				out = append(out, members)
				continue
			}
			for _, s := range members {
				if !missing[product.pairs[s].state] {
					remaining.Add(int(s))
				}
			}
		}
		if remaining.Empty() {
			return out, nil
		}
		candidates, choices = remaining, endComponents.Choices
	}
}

// statesWithMissingChoices returns the states of the model that prevent an end component of the product from being fair: the
// component contains the state, but not all of its choices. members are the states of the component, and choices its choices.
func (quantifier someFairScheduler) statesWithMissingChoices(product *productModel, members []uint32, choices *sparse.Set) map[uint32]bool {
	included := map[uint32]bool{} // the choices of the model that the component contains
	for _, s := range members {
		first, end := product.Choices(int(s))
		for c := first; c < end; c++ {
			if choices.Has(c) {
				included[product.choice[c]] = true
			}
		}
	}
	missing := map[uint32]bool{}
	if included[sparse.None] { // the automaton has accepted, so the scheduler can become fair later
		return missing
	}
	for _, s := range members {
		state := product.pairs[s].state
		first, end := quantifier.graph.Choices(int(state))
		for c := first; c < end; c++ {
			if !included[uint32(c)] {
				missing[state] = true
			}
		}
	}
	return missing
}
