package explicit

import (
	"errors"
	"math/big"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// SignedReward returns Program.Rewards[index], whose rewards may be negative, as the difference earned - lost of two reward
// structures. earned has the sums of the nonnegative items, and lost the sums of the absolute values of the negative items.
// It returns the same errors as Reward; a negative reward of a quotient is also an error.
func (s *Space) SignedReward(index int) (earned, lost *sparse.Reward, err error) {
	if s.imported != nil && s.quotient == nil {
		return s.importedRewardsWithSign(index, 1), s.importedRewardsWithSign(index, -1), nil
	}
	parts, err := s.signedParts(index)
	if err != nil {
		return nil, nil, err
	}
	if earned, err = parts.Reward(0); err != nil {
		return nil, nil, err
	}
	lost, err = parts.Reward(1)
	return earned, lost, err
}

// signedParts returns the space with two reward structures: the positive items of Program.Rewards[index], and the absolute
// values of its negative items.
func (s *Space) signedParts(index int) (*Space, error) {
	if s.quotient != nil {
		return nil, errors.New("found negative rewards in a quotient")
	}
	structure := &s.Program().Rewards[index]
	structures := []sema.RewardStruct{{Name: structure.Name, Pos: structure.Pos}, {Name: structure.Name, Pos: structure.Pos}}
	for _, item := range structure.Items {
		value := item.Value
		base := sema.Base{ValueType: value.Type(), Position: value.Pos()}
		item.Value = atLeastZero(value)
		structures[0].Items = append(structures[0].Items, item)
		item.Value = atLeastZero(&sema.Unary{Base: base, Op: syntax.OpNeg, X: value})
		structures[1].Items = append(structures[1].Items, item)
	}
	view := *s
	view.compiled = s.compiled.WithRewards(structures)
	return &view, nil
}

// atLeastZero returns the expression max(value, 0), evaluated if it is constant.
func atLeastZero(value sema.Expr) sema.Expr {
	base := sema.Base{ValueType: value.Type(), Position: value.Pos()}
	zero := &sema.Const{Base: sema.Base{ValueType: sema.Int, Position: value.Pos()}, Val: sema.IntValue(0)}
	greater := &sema.Call{Base: base, Func: sema.FuncMax, Args: []sema.Expr{value, zero}}
	if constant, exact, err := sema.EvalExact(greater, nil); sema.Stateless(value) && !dependsOnState(value) && err == nil && exact {
		return &sema.Const{Base: base, Val: constant}
	}
	return greater
}

// dependsOnState reports whether an expression has a variable.
func dependsOnState(expr sema.Expr) (found bool) {
	sema.Inspect(expr, func(part sema.Expr) bool {
		_, variable := part.(*sema.Var)
		found = found || variable
		return !found
	})
	return found
}

// WrittenReward returns Program.Rewards[index] as it is written to files, including negative rewards, and the rewards of
// single transitions like TransitionRewards. Unlike Reward, it does not bound the rounding errors of irrational rewards.
func (s *Space) WrittenReward(index int) (*sparse.Reward, TransitionReward, error) {
	reward, err := s.Reward(index)
	if s.imported != nil && s.quotient == nil {
		reward, err = &s.model.Rewards[index], nil
	}
	if err == nil {
		var transitions TransitionReward
		transitions.Values, transitions.Rats, err = s.TransitionRewards(index)
		return reward, transitions, err
	}
	parts, partsErr := s.signedParts(index)
	if partsErr != nil {
		return nil, TransitionReward{}, err
	}
	var rewards [2]*sparse.Reward
	var transitions [2]TransitionReward
	for i := range rewards {
		if rewards[i], err = parts.Reward(i); err != nil {
			return nil, TransitionReward{}, err
		}
		if transitions[i].Values, transitions[i].Rats, err = parts.TransitionRewards(i); err != nil {
			return nil, TransitionReward{}, err
		}
	}
	combined := *rewards[0]
	combined.State, combined.StateRat = difference(combined.State, rewards[1].State), differenceRat(combined.StateRat, rewards[1].StateRat)
	combined.Choice, combined.ChoiceRat = difference(combined.Choice, rewards[1].Choice), differenceRat(combined.ChoiceRat, rewards[1].ChoiceRat)
	return &combined, TransitionReward{difference(transitions[0].Values, transitions[1].Values), differenceRat(transitions[0].Rats, transitions[1].Rats)}, nil
}

// difference returns the differences of two slices of equal length. It returns nil if left is nil.
func difference(left, right []float64) []float64 {
	if left == nil {
		return nil
	}
	differences := make([]float64, len(left))
	for i := range differences {
		differences[i] = left[i] - right[i]
	}
	return differences
}

// differenceRat returns the differences of two slices of fractions, in which nil stands for 0. It returns nil if left is
// nil.
func differenceRat(left, right []*big.Rat) []*big.Rat {
	if left == nil {
		return nil
	}
	differences := make([]*big.Rat, len(left))
	for i := range differences {
		switch {
		case right[i] == nil || right[i].Sign() == 0:
			differences[i] = left[i]
		case left[i] == nil:
			differences[i] = new(big.Rat).Neg(right[i])
		default:
			differences[i] = new(big.Rat).Sub(left[i], right[i])
		}
	}
	return differences
}
