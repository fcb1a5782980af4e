package explicit

import (
	"cmp"
	"errors"
	"math/big"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// SignedReward splits the reward structure Program.Rewards[index] into two structures without negative rewards, so that the structure is
// earned minus lost. earned has the positive items, and lost the absolute values of the negative items. It is an error for a quotient.
func (space *Space) SignedReward(index int) (earned, lost *sparse.Reward, err error) {
	if space.imported != nil && space.quotient == nil {
		return space.importedRewardsWithSign(index, 1), space.importedRewardsWithSign(index, -1), nil
	}
	splitSpace, err := space.splitBySign(index)
	if err != nil {
		return nil, nil, err
	}
	if earned, err = splitSpace.Reward(positivePart); err != nil {
		return nil, nil, err
	}
	lost, err = splitSpace.Reward(negativePart)
	return earned, lost, err
}

// The structures of splitBySign.
const (
	positivePart = 0
	negativePart = 1
)

// splitBySign returns a copy of the space with two reward structures: for each item with the value x in Program.Rewards[index], structure 0 has max(x, 0),
// and structure 1 has max(-x, 0).
func (space *Space) splitBySign(index int) (*Space, error) {
	if space.quotient != nil {
		return nil, errors.New("found negative rewards in a quotient")
	}
	structure := &space.Program().Rewards[index]
	positive := sema.RewardStruct{Name: structure.Name, Pos: structure.Pos}
	negative := positive
	for _, item := range structure.Items {
		value := item.Value
		item.Value = atLeastZero(value)
		positive.Items = append(positive.Items, item)
		negated := &sema.Unary{Base: sema.Base{ValueType: value.Type(), Position: value.Pos()}, Op: syntax.OpNeg, X: value}
		item.Value = atLeastZero(negated)
		negative.Items = append(negative.Items, item)
	}
	splitSpace := *space
	splitSpace.compiled = space.compiled.WithRewards([]sema.RewardStruct{positive, negative})
	return &splitSpace, nil
}

// atLeastZero returns the expression max(value, 0). If this is a constant fraction, it returns the constant.
func atLeastZero(value sema.Expr) sema.Expr {
	base := sema.Base{ValueType: value.Type(), Position: value.Pos()}
	zero := &sema.Const{Base: sema.Base{ValueType: sema.Int, Position: value.Pos()}, Val: sema.IntValue(0)}
	maximum := &sema.Call{Base: base, Func: sema.FuncMax, Args: []sema.Expr{value, zero}}
	if !sema.NeedsOnlyVariables(value) || hasVariable(value) {
		return maximum
	}
	constant, exact, err := sema.EvalExact(maximum, nil)
	if err != nil || !exact {
		return maximum
	}
	return &sema.Const{Base: base, Val: constant}
}

// hasVariable reports whether an expression contains a variable of the model.
func hasVariable(expr sema.Expr) (found bool) {
	sema.Inspect(expr, func(operand sema.Expr) bool {
		if _, isVariable := operand.(*sema.Var); isVariable {
			found = true
		}
		return !found
	})
	return found
}

// WrittenReward returns Program.Rewards[index] as it is written to files, and the rewards of single transitions.
// Rewards may be negative. The rounding errors of irrational rewards have no bound.
func (space *Space) WrittenReward(index int) (reward *sparse.Reward, transitions TransitionReward, err error) {
	if space.imported != nil && space.quotient == nil {
		reward = &space.model.Rewards[index]
	} else {
		reward, err = space.Reward(index)
	}
	if err == nil {
		transitions, err = space.transitionReward(index)
		return reward, transitions, err
	}
	// The error may be about negative rewards, so compute the positive and the negative rewards separately.
	splitSpace, partsErr := space.splitBySign(index)
	if partsErr != nil {
		return nil, TransitionReward{}, err
	}
	return splitSpace.subtractRewards()
}

// transitionReward is TransitionRewards with its results in one value.
func (space *Space) transitionReward(index int) (rewards TransitionReward, err error) {
	rewards.Values, rewards.Fractions, err = space.TransitionRewards(index)
	return rewards, err
}

// subtractRewards returns the difference of the two reward structures that splitBySign has made, for states, choices and transitions. Its rewards may be
// negative.
func (space *Space) subtractRewards() (*sparse.Reward, TransitionReward, error) {
	var rewards [2]*sparse.Reward
	var transitions [2]TransitionReward
	for i := range rewards {
		var err error
		if rewards[i], err = space.Reward(i); err != nil {
			return nil, TransitionReward{}, err
		}
		if transitions[i], err = space.transitionReward(i); err != nil {
			return nil, TransitionReward{}, err
		}
	}
	positive, negative := rewards[0], rewards[1]
	combined := *positive
	combined.RangeErr = cmp.Or(positive.RangeErr, negative.RangeErr)
	combined.State = differences(positive.State, negative.State)
	combined.StateFractions = exactDifferences(positive.StateFractions, negative.StateFractions)
	combined.Choice = differences(positive.Choice, negative.Choice)
	combined.ChoiceFractions = exactDifferences(positive.ChoiceFractions, negative.ChoiceFractions)
	return &combined, TransitionReward{
		Values:    differences(transitions[0].Values, transitions[1].Values),
		Fractions: exactDifferences(transitions[0].Fractions, transitions[1].Fractions),
	}, nil
}

// differences returns left[i] - right[i] for each i, or nil if left is nil.
func differences(left, right []float64) []float64 {
	if left == nil {
		return nil
	}
	results := make([]float64, len(left))
	for i := range results {
		results[i] = left[i] - right[i]
	}
	return results
}

// exactDifferences returns left[i] - right[i] for each i, where a nil fraction stands for 0. It returns nil if left is nil.
func exactDifferences(left, right []*big.Rat) []*big.Rat {
	if left == nil {
		return nil
	}
	results := make([]*big.Rat, len(left))
	for i := range results {
		switch {
		case right[i] == nil || right[i].Sign() == 0:
			results[i] = left[i]
		case left[i] == nil:
			results[i] = new(big.Rat).Neg(right[i])
		default:
			results[i] = new(big.Rat).Sub(left[i], right[i])
		}
	}
	return results
}
