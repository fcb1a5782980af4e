package check

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// signedReward returns the value of an R operator over a structure with negative rewards.
//
// In a Markov chain the value is the expected positive rewards minus the expected absolute values of the negative rewards.
// In an MDP a constant is added to the reward of every step, so that no reward is negative. The sum of these constants is
// the same under every scheduler, and is subtracted from the value.
func (e *evaluation) signedReward(formula *logic.Formula, rewards solve.Signed, dir solve.Direction) (*numbers, error) {
	objective := formula.Objective
	defer func(solver Solver) { e.solver = solver }(e.solver)
	e.solver = nil // it supports only the rewards of the model
	switch {
	case e.partiallyObservable() || e.isGame() || e.space.Model().Intervals():
		return nil, e.unsupportedNegative(formula, "in a POMDP, a game, or a model with intervals")
	case e.kind() != sparse.MDP:
		return e.signedInChain(formula, rewards)
	case rewards.Large():
		return nil, e.unsupportedNegative(formula, "beside rewards that are too large: above 2^900 without their sign")
	}
	switch objective.Form {
	case logic.ReachReward:
		target, err := e.satisfyingStates(objective.Target)
		if err != nil {
			return nil, err
		}
		return e.signedUntil(formula, rewards, target, dir)
	case logic.TotalReward:
		return e.signedUntil(formula, rewards, e.endStates(rewards), dir)
	}
	numRewards, err := e.numberOfRewards(formula)
	if err != nil {
		return nil, err
	}
	shiftedRewards, shift := rewards.Shifted(e.graph.Model, objective.Form == logic.Instantaneous)
	values, err := e.rewardValue(formula, shiftedRewards, dir)
	if err != nil {
		return nil, err
	}
	totalShift := fraction(shift.Mul(shift, numRewards))
	return e.combineStates(values, values.accuracy, func(s int) (number, bool) { return arithmetic(syntax.OpSub, values.at(s), totalShift) }), nil
}

// numberOfRewards returns the value of an R operator if every step earned a reward of 1. It returns an error if this value
// depends on the scheduler.
func (e *evaluation) numberOfRewards(formula *logic.Formula) (*big.Rat, error) {
	switch objective := formula.Objective; {
	case objective.Form == logic.LongRun && e.property.Program.Model().IsMarkovAutomaton(): // a step has no fixed time
	case objective.Form == logic.Instantaneous, objective.Form == logic.LongRun:
		return big.NewRat(1, 1), nil
	case objective.Form == logic.Cumulative:
		steps, err := e.rewardSteps(objective)
		return big.NewRat(int64(steps), 1), err
	case objective.Form == logic.Discounted:
		return e.discountedSum(objective)
	}
	return nil, e.unsupportedNegative(formula, "with "+logic.Describe(formula.Objective.X))
}

// unsupportedNegative returns the error that negative rewards are not supported.
func (e *evaluation) unsupportedNegative(formula *logic.Formula, where string) error {
	return e.unsupported(formula.X, "found negative rewards %s", where)
}

// combineStates computes a number for each state of the domain. A state for which combine returns false gets the bounds -infinity
// and infinity. like determines whether the result has fractions.
func (e *evaluation) combineStates(operand *numbers, accuracy result.Accuracy, combine func(s int) (number, bool)) *numbers {
	out := newNumbers(len(operand.lo), accuracy)
	if operand.rat != nil {
		out.rat = make([]*big.Rat, len(operand.lo))
	}
	for s := range e.domain().All() {
		value, ok := combine(s)
		if !ok {
			value = number{lo: math.Inf(-1), hi: math.Inf(1)}
		}
		out.put(s, value)
	}
	return out
}

// signedInChain returns the expected positive rewards minus the expected absolute values of the negative rewards, in a
// Markov chain.
func (e *evaluation) signedInChain(formula *logic.Formula, rewards solve.Signed) (*numbers, error) {
	earned, err := e.rewardValue(formula, rewards.Earned, solve.Max)
	if err != nil {
		return nil, err
	}
	lost, err := e.rewardValue(formula, rewards.Lost, solve.Max)
	if err != nil {
		return nil, err
	}
	for s := range e.domain().All() {
		left, right := earned.at(s), lost.at(s)
		switch form := formula.Objective.Form; {
		case (form == logic.ReachReward || form == logic.CoSafe) && right.isInfinite():
			return nil, e.unsupportedNegative(formula, "and a target that is missed with positive probability from state "+e.stateText(s))
		case left.isInfinite() && right.isInfinite():
			return nil, e.unsupportedNegative(formula, "beside positive ones, both of which have an infinite sum from state "+e.stateText(s))
		}
	}
	return e.combineStates(earned, max(earned.accuracy, lost.accuracy), func(s int) (number, bool) { return arithmetic(syntax.OpSub, earned.at(s), lost.at(s)) }), nil
}

// stateText returns the text of a state, such as (s=0).
func (e *evaluation) stateText(s int) string {
	return e.space.Compiled().StateText(e.space.State(nil, s))
}

// discountedSum returns the sum of the discount factors of all steps, which is the value of a reward of 1 in every step.
func (e *evaluation) discountedSum(objective *logic.Objective) (*big.Rat, error) {
	factor, err := e.discountFactor(objective.Discount)
	if err != nil {
		return nil, err
	}
	one := big.NewRat(1, 1)
	sum := new(big.Rat).Inv(new(big.Rat).Sub(one, factor))
	if objective.At == nil {
		return sum, nil
	}
	steps, err := e.rewardSteps(objective)
	if err != nil {
		return nil, err
	}
	if steps > maxPower {
		return nil, e.unsupported(objective.At, "found negative rewards and more than %d discounted steps", maxPower)
	}
	power := new(big.Rat).Set(one)
	for range steps {
		power.Mul(power, factor)
	}
	return sum.Mul(sum, one.Sub(one, power)), nil
}

// signedUntil returns the minimal or maximal expected reward until a target in an MDP. Every scheduler must reach the target
// with probability one.
func (e *evaluation) signedUntil(formula *logic.Formula, rewards solve.Signed, target *sparse.Set, dir solve.Direction) (*numbers, error) {
	shaped, potential, err := rewards.Potential(e.ctx, e.graph, target, e.domain(), e.opts)
	if errors.Is(err, solve.ErrMayMiss) {
		event := "and a target"
		if formula.Objective.Form == logic.TotalReward {
			event = "and an end"
		}
		return nil, e.unsupportedNegative(formula, event+" that some scheduler misses with positive probability")
	}
	if err != nil {
		return nil, err
	}
	values, err := e.toNumbers(solve.ReachReward(e.ctx, e.graph, shaped, target, dir, e.scopeOptions()))
	if err != nil {
		return nil, err
	}
	return e.combineStates(values, values.accuracy, func(s int) (number, bool) {
		return arithmetic(syntax.OpSub, values.at(s), fraction(new(big.Rat).SetFloat64(potential[s])))
	}), nil
}

// endStates returns the states of an MDP whose choices have no rewards and lead only back to the state.
func (e *evaluation) endStates(rewards solve.Signed) *sparse.Set {
	out := sparse.NewSet(e.graph.NumStates())
	for s := range e.graph.NumStates() {
		isEnd := true
		first, end := e.graph.Choices(s)
		for c := first; c < end; c++ {
			firstTransition, endTransition := e.graph.Row(c)
			isEnd = isEnd && endTransition == firstTransition+1 && int(e.graph.Target[firstTransition]) == s && rewards.Earned.OfChoice(s, c) == 0 && rewards.Lost.OfChoice(s, c) == 0
		}
		if isEnd {
			out.Add(s)
		}
	}
	return out
}

// signedStructure returns a reward structure that has negative rewards; ok is false if it has none, or is wrong in another way.
func (e *evaluation) signedStructure(index int) (rewards solve.Signed, ok bool) {
	earned, lost, err := e.space.SignedReward(index)
	if err != nil || !e.exact && (earned.Unfit != nil || lost.Unfit != nil) {
		return rewards, false
	}
	return solve.Signed{Earned: earned, Lost: lost}, true
}
