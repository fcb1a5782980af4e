package explicit

import (
	"math/big"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// TransitionRewards returns Program.Rewards[index] for every transition of a Markov chain, in the
// order of Model. In an exact model the second slice has the same values as fractions, nil for
// zero; otherwise it is nil. Both are nil for an MDP, whose rewards belong to choices, and for a
// structure without transition rewards. Reward returns the means of these values.
//
// Source: reference, sections 4.8 and 4.10.
func (s *Space) TransitionRewards(index int) ([]float64, []*big.Rat, error) {
	if s.model.Kind == sparse.MDP {
		return nil, nil, nil
	}
	if s.blocks != nil {
		values, rats := s.blocks.transitionRewards(s.model, index)
		return values, rats, nil
	}
	if s.imported != nil {
		r := s.imported.transitions[index]
		return r.Values, r.Rats, nil
	}
	src := &s.Program().Rewards[index]
	if !earnsOnTransitions(src) {
		return nil, nil, nil
	}
	values := make([]float64, s.model.NumTransitions())
	if s.model.Exact() {
		rats := make([]*big.Rat, len(values))
		err := s.exactTransitions(src, func(t int, x *big.Rat) { storeRational(values, rats, t, x) })
		return values, rats, err
	}
	_, err := s.visit(index, func(e *earner, i int, state []int32) error { return s.rowRewards(values, e, i, state) })
	return values, nil, err
}

// earnsOnTransitions reports whether a structure has transition rewards.
func earnsOnTransitions(src *sema.RewardStruct) bool {
	for i := range src.Items {
		if src.Items[i].Transition {
			return true
		}
	}
	return false
}

// rowRewards evaluates the rewards of the transitions of state i. The self-loop
// of a deadlock has none.
func (s *Space) rowRewards(values []float64, r *earner, i int, state []int32) error {
	if s.model.Deadlocks != nil && s.model.Deadlocks.Has(i) {
		return nil
	}
	lo, hi := s.model.Row(i)
	for t := lo; t < hi; t++ {
		x, err := r.choice(state, s.action(t))
		if err != nil {
			return err
		}
		values[t] = x
	}
	return nil
}

// exactTransitions evaluates the rewards of all transitions with fractions.
func (s *Space) exactTransitions(src *sema.RewardStruct, set func(t int, x *big.Rat)) error {
	state := s.State(nil, 0)
	e, err := s.newExactEarner(src)
	if err != nil {
		return err
	}
	for i := range s.store.n {
		if s.model.Deadlocks != nil && s.model.Deadlocks.Has(i) {
			continue
		}
		s.State(state, i)
		lo, hi := s.model.Row(i)
		for t := lo; t < hi; t++ {
			x, err := e.earned(state, byAction(s.action(t)))
			if err != nil {
				return err
			}
			set(t, x)
		}
	}
	return nil
}
