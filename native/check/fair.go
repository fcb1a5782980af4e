package check

import (
	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
)

// onlyFairSchedulers reports whether only fair schedulers of an MDP are considered.
func (e *evaluation) onlyFairSchedulers() bool { return e.onlyFair && e.modelKind() == sparse.MDP }

// checkFairSupported returns an error for a reward formula that is not supported for fair schedulers. It accepts formulas that have the same
// value under fair schedulers and under all schedulers:
//   - cumulative and instantaneous rewards: finitely many steps decide them, and a scheduler can be fair afterwards;
//   - minimal rewards until a target is reached: they are infinite if a scheduler can avoid the target;
//   - maximal total rewards: finitely many steps come arbitrarily close to them, and a scheduler can be fair afterwards.
func (e *evaluation) checkFairSupported(formula *logic.Formula, direction solve.Direction) error {
	if !e.onlyFairSchedulers() {
		return nil
	}
	if modelType := e.space.Program().Type; modelType != syntax.MDP {
		return e.unsupportedError(formula.Expr, "found fair schedulers of %s, want an MDP", noun.WithArticle(modelType.String()))
	}
	if unsupported := unsupportedIfFair(formula.Objective, direction); unsupported != "" {
		return e.unsupportedError(formula.Expr, "found %s, which is not supported for fair schedulers", unsupported)
	}
	return nil
}

// unsupportedIfFair returns a description of a reward objective that is not supported for fair schedulers, for an error message. It returns ""
// for a supported objective.
func unsupportedIfFair(objective *logic.Objective, direction solve.Direction) string {
	switch form := objective.Form; {
	case form == logic.Cumulative, form == logic.Instantaneous:
		return ""
	case form == logic.TimedCumulative, form == logic.TimedInstantaneous:
		return "a reward at or until a time"
	case form == logic.CostBoundedReward, form == logic.ConditionalReward, form == logic.Discounted:
		return logic.Describe(objective.Expr)
	case form == logic.LongRun:
		return "a long-run reward"
	case form == logic.TotalReward && direction == solve.Min:
		return "a minimal total reward"
	case form != logic.TotalReward && direction == solve.Max: // the reward until a path formula is satisfied
		return "a maximal reward until a target is reached"
	}
	return ""
}

// fairUntil returns the minimal probability of `left U right` under fair schedulers. It is 1 minus the maximal probability of reaching a state
// from which no path satisfies the formula.
//
// Source: Baier and Kwiatkowska, Model checking for a probabilistic branching time logic
// with fairness (Distributed Computing, 1998).
func (e *evaluation) fairUntil(left, right *sparse.Set) (*numbers, error) {
	// Almost every fair path ends in a set of states that no choice leaves, and visits all of them. If the path violates the formula, so does every
	// path from these states.
	impossible := e.graph.Prob0A(left, right)
	values, err := e.toNumbers(solve.Until(e.ctx, e.graph, left.Minus(right), impossible, solve.Max, e.opts))
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

// recurrentSets returns the states of each maximal fair end component of the product. An end component is fair if it contains all choices of each model
// state in it. Each round removes the states with missing choices, and decomposes the remaining states into end components again.
func (quantifier someFairScheduler) recurrentSets(product *productModel) ([][]uint32, error) {
	var fairSets [][]uint32
	candidateStates, choices := quantifier.statesToStayIn(product), sparse.FullSet(product.NumChoices())
	for {
		endComponents, err := product.EndComponents(quantifier.ctx, candidateStates, choices)
		if err != nil {
			return nil, err
		}
		remainingStates := sparse.NewSet(product.NumStates()) // states to decompose again
		for i := range endComponents.Num() {
			members := endComponents.Members(i)
			unfairStates := quantifier.statesWithMissingChoices(product, members, endComponents.Choices)
			isFair := len(unfairStates) == 0
			if isFair {
				fairSets = append(fairSets, members)
				continue
			}
			for _, member := range members {
				if !unfairStates[product.pairs[member].state] {
					remainingStates.Add(int(member))
				}
			}
		}
		if remainingStates.Empty() {
			return fairSets, nil
		}
		candidateStates, choices = remainingStates, endComponents.Choices
	}
}

// statesWithMissingChoices returns the states of the model that make an end component of the product unfair: the component contains the state,
// but not all of its choices. members are the states of the component; choices contains its choices.
func (quantifier someFairScheduler) statesWithMissingChoices(product *productModel, members []uint32, choices *sparse.Set) map[uint32]bool {
	includedChoices := map[uint32]bool{} // the choices of the model that the component contains
	for _, member := range members {
		first, end := product.Choices(int(member))
		for choice := first; choice < end; choice++ {
			if choices.Has(choice) {
				includedChoices[product.modelChoice[choice]] = true
			}
		}
	}
	unfairStates := map[uint32]bool{}
	if includedChoices[sparse.None] { // the self-loop that the product has where the automaton has accepted: from there on every fair scheduler satisfies the formula
		return unfairStates
	}
	for _, member := range members {
		s := product.pairs[member].state
		first, end := quantifier.graph.Choices(int(s))
		for choice := first; choice < end; choice++ {
			if !includedChoices[uint32(choice)] {
				unfairStates[s] = true
			}
		}
	}
	return unfairStates
}
