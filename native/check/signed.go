package check

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
)

// signedReward returns the value of an R operator over a reward structure with negative rewards. Package solve needs nonnegative rewards, so
// signedReward converts the problem to one or two problems with nonnegative rewards.
func (e *evaluation) signedReward(formula *logic.Formula, rewards solve.Signed, direction solve.Direction) (*numbers, error) {
	objective := formula.Objective
	solver := e.solver
	defer func() { e.solver = solver }()
	e.solver = nil // the solver supports only the rewards of the model
	switch {
	case e.partiallyObservable() || e.isGame() || e.space.Model().Intervals():
		return nil, e.negativeRewardError(formula, "in a POMDP, a game, or a model with intervals")
	case e.modelKind() != sparse.MDP:
		return e.signedInChain(formula, rewards)
	case rewards.HasLarge():
		return nil, e.negativeRewardError(formula, "beside rewards that are too large: above 2^900 without their sign")
	}
	switch objective.Form {
	case logic.ReachReward:
		target, err := e.satisfyingStates(objective.Target)
		if err != nil {
			return nil, err
		}
		return e.signedUntil(formula, rewards, target, direction)
	case logic.TotalReward:
		return e.signedUntil(formula, rewards, e.endStates(rewards), direction)
	}
	return e.shiftedReward(formula, rewards, direction)
}

// shiftedReward returns the value of an objective over signed rewards in an MDP. It adds a constant to each reward, so that all rewards are
// nonnegative, and subtracts constant * numberOfRewards from the value. The number of rewards must be the same under every scheduler.
func (e *evaluation) shiftedReward(formula *logic.Formula, rewards solve.Signed, direction solve.Direction) (*numbers, error) {
	isInstantaneous := formula.Objective.Form == logic.Instantaneous
	numRewards, err := e.numberOfRewards(formula)
	if err != nil {
		return nil, err
	}
	shiftedRewards, shift := rewards.Shifted(e.graph.Model, isInstantaneous)
	values, err := e.nonnegativeReward(formula, shiftedRewards, direction)
	if err != nil {
		return nil, err
	}
	totalShift := exactNumber(shift.Mul(shift, numRewards))
	return e.subtract(values, func(int) number { return totalShift }), nil
}

// numberOfRewards returns the value of an R operator if every step earns the reward 1. It is an error if this value depends on the scheduler.
func (e *evaluation) numberOfRewards(formula *logic.Formula) (*big.Rat, error) {
	objective := formula.Objective
	dependsOnTime := e.property.Program.Model().IsMarkovAutomaton() // then a long-run average is per unit of time, not per step
	switch {
	case objective.Form == logic.Instantaneous, objective.Form == logic.LongRun && !dependsOnTime:
		return big.NewRat(1, 1), nil
	case objective.Form == logic.Cumulative:
		steps, err := e.rewardSteps(objective)
		return big.NewRat(int64(steps), 1), err
	case objective.Form == logic.Discounted:
		return e.discountedSum(objective)
	}
	return nil, e.negativeRewardError(formula, "with "+logic.Describe(objective.Expr))
}

// negativeRewardError returns the error that negative rewards are not supported in a context, such as "with F0".
func (e *evaluation) negativeRewardError(formula *logic.Formula, where string) error {
	return e.unsupportedError(formula.Expr, "found negative rewards %s", where)
}

// subtract returns values(s) - subtrahend(s) for each state s of the domain, the states where values are needed. If the difference has no finite bounds,
// its bounds are -infinity and infinity.
func (e *evaluation) subtract(values *numbers, subtrahend func(s int) number) *numbers {
	differences := values.zeros(len(values.lower))
	for s := range e.domain().All() {
		difference, hasBounds := applyArithmetic(syntax.OpSub, values.numberAt(s), subtrahend(s))
		if !hasBounds {
			difference = boundedNumber(math.Inf(-1), math.Inf(1))
		}
		differences.setNumber(s, difference)
	}
	return differences
}

// signedInChain returns the value of an objective over signed rewards in a Markov chain: E[positive rewards] - E[absolute values of negative
// rewards].
func (e *evaluation) signedInChain(formula *logic.Formula, rewards solve.Signed) (*numbers, error) {
	earned, err := e.nonnegativeReward(formula, rewards.Gains, solve.Max)
	if err != nil {
		return nil, err
	}
	lost, err := e.nonnegativeReward(formula, rewards.Losses, solve.Max)
	if err != nil {
		return nil, err
	}
	hasTarget := formula.Objective.Form == logic.ReachReward || formula.Objective.Form == logic.CoSafe
	for s := range e.domain().All() {
		switch {
		case hasTarget && lost.numberAt(s).isInfinite():
			return nil, e.negativeRewardError(formula, "and a target that is missed with positive probability from state "+e.stateText(s))
		case earned.numberAt(s).isInfinite() && lost.numberAt(s).isInfinite():
			return nil, e.negativeRewardError(formula, "beside positive ones, both of which have an infinite sum from state "+e.stateText(s))
		}
	}
	difference := e.subtract(earned, lost.numberAt)
	difference.accuracy = max(earned.accuracy, lost.accuracy)
	return difference, nil
}

// stateText returns the text of a state, such as (s=0).
func (e *evaluation) stateText(s int) string {
	return e.space.Compiled().StateText(e.space.State(nil, s))
}

// discountedSum returns the discounted sum of the reward 1 in every step: 1/(1-d) for the discount factor d, or (1-d^k)/(1-d) for k steps.
func (e *evaluation) discountedSum(objective *logic.Objective) (*big.Rat, error) {
	factor, err := e.discountFactor(objective.Discount)
	if err != nil {
		return nil, err
	}
	one := big.NewRat(1, 1)
	unbounded := new(big.Rat).Inv(new(big.Rat).Sub(one, factor))
	if objective.At == nil {
		return unbounded, nil
	}
	steps, err := e.rewardSteps(objective)
	if err != nil {
		return nil, err
	}
	if steps > maxPower {
		return nil, e.unsupportedError(objective.At, "found negative rewards and more than %d discounted steps", maxPower)
	}
	power := rationalPower(factor, big.NewRat(int64(steps), 1))
	return unbounded.Mul(unbounded, one.Sub(one, power)), nil
}

// signedUntil returns the minimal or maximal expected reward until a target in an MDP with negative rewards. Every scheduler must reach the target
// almost surely. Rewards become nonnegative if each step also earns the change of a potential, which is one number for each state. signedUntil subtracts
// the potential of each state from its value.
func (e *evaluation) signedUntil(formula *logic.Formula, rewards solve.Signed, target *sparse.Set, direction solve.Direction) (*numbers, error) {
	shapedRewards, potential, err := rewards.Potential(e.ctx, e.graph, target, e.domain(), e.opts)
	if errors.Is(err, solve.ErrMayMiss) {
		where := "and a target that some scheduler misses with positive probability"
		if formula.Objective.Form == logic.TotalReward {
			where = "and an end that some scheduler misses with positive probability"
		}
		return nil, e.negativeRewardError(formula, where)
	}
	if err != nil {
		return nil, err
	}
	values, err := e.toNumbers(solve.ReachReward(e.ctx, e.graph, shapedRewards, target, direction, e.optionsForScope()))
	if err != nil {
		return nil, err
	}
	return e.subtract(values, func(s int) number { return exactNumber(new(big.Rat).SetFloat64(potential[s])) }), nil
}

// endStates returns the states of an MDP in which a path earns nothing more: all their choices are self-loops without a reward.
func (e *evaluation) endStates(rewards solve.Signed) *sparse.Set {
	endStates := sparse.NewSet(e.graph.NumStates())
	for s := range e.graph.NumStates() {
		if e.isEndState(s, rewards) {
			endStates.Add(s)
		}
	}
	return endStates
}

// isEndState reports whether all choices of state s are self-loops without a reward.
func (e *evaluation) isEndState(s int, rewards solve.Signed) bool {
	first, end := e.graph.Choices(s)
	for choice := first; choice < end; choice++ {
		firstTransition, endTransition := e.graph.Transitions(choice)
		isSelfLoop := endTransition == firstTransition+1 && int(e.graph.Target[firstTransition]) == s
		hasReward := rewards.Gains.ChoiceTotal(s, choice) != 0 || rewards.Losses.ChoiceTotal(s, choice) != 0
		if !isSelfLoop || hasReward {
			return false
		}
	}
	return true
}

// signedStructure returns the positive and the negative rewards of the reward structure with the given index. ok is false if the structure has
// an error, or if a floating-point evaluation cannot represent its rewards.
func (e *evaluation) signedStructure(index int) (rewards solve.Signed, ok bool) {
	earned, lost, err := e.space.SignedReward(index)
	if err != nil || !e.wantsFractions && (earned.RangeErr != nil || lost.RangeErr != nil) {
		return rewards, false
	}
	return solve.Signed{Gains: earned, Losses: lost}, true
}
