package check

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/result"
)

// conditionalRewardOfMDP returns the minimal or maximal expected reward of an objective F in an MDP, under a condition `F b` or `a U b`,
// over the schedulers under which the condition has a positive probability. The minimum is infinite if all of them have an infinite reward. The maximum is
// infinite if one of them has, or if their rewards have no upper bound.
func (e *evaluation) conditionalRewardOfMDP(objective *logic.Objective, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	condition := logic.PathOf(objective.Condition)
	switch {
	case objective.Unconditional.Form != logic.ReachReward:
		return nil, e.unsupportedError(objective.Unconditional.Expr, "found %s with a condition (||) in an MDP, want F", logic.Describe(objective.Unconditional.Expr))
	case !condition.Reaches():
		return nil, e.unsupportedError(objective.Condition, "found %s as the condition of a reward in an MDP, want F b or a U b, where a and b have no temporal operators", logic.Describe(objective.Condition))
	case e.property.Program.Model().IsMarkovAutomaton():
		return nil, e.unsupportedError(objective.Expr, "found a conditional reward of a Markov automaton, want a DTMC, a CTMC or an MDP")
	case !e.space.Model().Exact() && e.refusesRoundedWeights:
		return nil, errRoundedWeights
	case !e.space.Model().Exact():
		return nil, &inexactError{objective.Expr.Pos(), "a conditional reward of an MDP needs probabilities that are fractions"}
	}
	target, err := e.satisfyingStates(objective.Unconditional.Target)
	if err != nil {
		return nil, err
	}
	memory := conditionMemory{target: target}
	memory.left, memory.right, err = e.operandStates(condition.Left, condition.Right)
	if err != nil {
		return nil, err
	}
	exactly := e.opts
	exactly.Exact, exactly.Classic, exactly.Scheduler = true, false, false
	untilTarget, err := solve.ReachReward(e.ctx, e.graph, reward, target, direction, exactly)
	if err != nil {
		return nil, err
	}
	conditional := e.newValues(result.Exact)
	for s := range e.domain().All() {
		optimum, isDefined, err := e.optimumGivenCondition(memory, s, objective.Struct, untilTarget.Exact, direction)
		switch {
		case errors.Is(err, solve.ErrManyRewards):
			return nil, e.unsupportedError(objective.Expr, "%v", err)
		case err == nil && !isDefined:
			return nil, e.zeroConditionError(objective.Expr, s)
		}
		value, err := e.toNumbers(optimum, err)
		if err != nil {
			return nil, err
		}
		conditional.accuracy = max(conditional.accuracy, value.accuracy)
		conditional.setNumber(s, value.numberAt(0))
	}
	return conditional, nil
}

// optimumGivenCondition returns the optimal conditional reward of state start as the only entry of values. isDefined is false if the condition has
// probability 0 under every scheduler.
func (e *evaluation) optimumGivenCondition(memory conditionMemory, start, structIndex int, untilTarget []*big.Rat, direction solve.Direction) (values *solve.Values, isDefined bool, err error) {
	problem, err := e.rewardGivenCondition(memory, start, structIndex, untilTarget)
	if err != nil {
		return nil, false, err
	}
	return problem.Optimum(e.ctx, 0, direction, e.opts)
}

// rewardGivenCondition returns the problem of package solve for a conditional reward from state start. Its MDP is the product of the model with
// the memory, which says what a path has satisfied so far. untilTarget[s] is the optimal expected reward from s until the target, nil if infinite.
func (e *evaluation) rewardGivenCondition(memory conditionMemory, start, structIndex int, untilTarget []*big.Rat) (*solve.RewardGivenGoal, error) {
	counted, unit, err := e.unboundedCost(structIndex)
	if err != nil {
		return nil, err
	}
	counted.countingLimit = maxUnits + 1
	product, err := sparse.NewProduct(e.ctx, e.graph.Model, memory, []conditionPair{memory.enter(uint32(start), conditionPending)}, nil, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	problem := &solve.RewardGivenGoal{
		Graph: sparse.NewGraph(product.Model), Goal: sparse.NewSet(product.NumStates()),
		Costs: make([]int, product.NumChoices()), Unit: unit, Final: make([]*big.Rat, product.NumStates()),
	}
	for i, pair := range product.Pairs {
		// A path that has satisfied the condition ends here. Its later reward does not depend on the condition.
		switch pair.progress {
		case conditionHolds:
			problem.Goal.Add(i)
			problem.Final[i] = untilTarget[pair.state]
		case conditionHoldsAfterTarget:
			problem.Goal.Add(i)
			problem.Final[i] = new(big.Rat)
		case conditionPending:
			if err := setPendingCosts(problem, product, i, &counted); err != nil {
				return nil, err
			}
		}
	}
	return problem, nil
}

// setPendingCosts sets the costs of the choices of a product state whose path has satisfied neither the condition nor the target: their rewards, as
// multiples of problem.Unit. The error is ErrManyRewards if a reward is more than maxUnits units.
func setPendingCosts(problem *solve.RewardGivenGoal, product *sparse.Product[conditionPair], productState int, counted *cost) error {
	first, end := product.Choices(productState)
	for choice := first; choice < end; choice++ {
		units := counted.costAfter(0, int(product.Pairs[productState].state), int(product.Choice[choice]))
		if units > maxUnits {
			return fmt.Errorf("%w: a reward is more than %d times %s, the greatest common divisor of the rewards", solve.ErrManyRewards, maxUnits, problem.Unit.RatString())
		}
		problem.Costs[choice] = int(units)
	}
	return nil
}

// conditionProgress says what a path has satisfied so far: the condition of a reward, and its objective F.
type conditionProgress uint8

const (
	conditionPending          conditionProgress = iota // neither the condition nor the target
	targetReached                                      // the target, but not the condition
	conditionHolds                                     // the condition; the target perhaps later
	conditionHoldsAfterTarget                          // the target, and later the condition
	conditionFails                                     // the condition can no longer hold
)

// conditionPair is a state of an MDP, and what the path to it has satisfied.
type conditionPair struct {
	state    uint32
	progress conditionProgress
}

// conditionMemory is the sparse.Memory of the objective `F target` under the condition `left U right`.
type conditionMemory struct{ target, left, right *sparse.Set }

// State returns the state of the MDP.
func (memory conditionMemory) State(pair conditionPair) uint32 { return pair.state }

// Step returns the pair after a transition to a state of the MDP.
func (memory conditionMemory) Step(pair conditionPair, state uint32) (conditionPair, error) {
	return memory.enter(state, pair.progress), nil
}

// Absorbing reports whether the rest of the path no longer matters to the condition.
func (memory conditionMemory) Absorbing(pair conditionPair) bool {
	return pair.progress >= conditionHolds
}

// enter returns the product state after a path has entered a state of the model: the state, and what the path has satisfied by then. progress is what
// the path had satisfied before: conditionPending or targetReached.
func (memory conditionMemory) enter(state uint32, progress conditionProgress) conditionPair {
	s := int(state)
	switch {
	case memory.right.Has(s) && progress == targetReached:
		progress = conditionHoldsAfterTarget
	case memory.right.Has(s):
		progress = conditionHolds
	case !memory.left.Has(s):
		progress = conditionFails
	case memory.target.Has(s):
		progress = targetReached
	}
	return conditionPair{state, progress}
}
