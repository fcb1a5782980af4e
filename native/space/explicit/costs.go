package explicit

import (
	"fmt"
	"math/big"

	"tilecheck/native/space/sparse"
)

// Costs evaluates Program.Rewards[index] exactly, also in a space without rational weights. states
// has an entry per state; moves has an entry per choice of an MDP, or per transition of a Markov
// chain. The error names a reward that is not rational.
func (s *Space) Costs(index int) (states, moves []*big.Rat, err error) {
	if s.imported != nil {
		return s.importedCosts(index)
	}
	src := &s.Program().Rewards[index]
	n := s.model.NumTransitions()
	if s.model.Kind == sparse.MDP {
		n = s.model.NumChoices()
	}
	states, moves = make([]*big.Rat, s.store.n), make([]*big.Rat, n)
	state, transitions := s.State(nil, 0), earnsOnTransitions(src)
	e, err := s.newExactEarner(src)
	if err != nil {
		return nil, nil, err
	}
	for i := range s.store.n {
		s.State(state, i)
		if states[i], err = e.earned(state, inState); err != nil {
			return nil, nil, err
		}
		if !transitions || s.model.Deadlocks != nil && s.model.Deadlocks.Has(i) {
			continue
		}
		first, end := s.moves(i)
		for j := first; j < end; j++ {
			if moves[j], err = e.earned(state, byAction(s.action(j))); err != nil {
				return nil, nil, err
			}
		}
	}
	return states, moves, nil
}

// moves returns the range of choices of state i of an MDP, or of its transitions in a Markov
// chain.
func (s *Space) moves(i int) (first, end int) {
	first, end = s.model.Choices(i)
	if s.model.Kind == sparse.MDP {
		return first, end
	}
	return s.model.Row(i)
}

// importedCosts returns the rewards that were read from files: the fractions, or the float64
// values if they are whole numbers.
func (s *Space) importedCosts(index int) (states, moves []*big.Rat, err error) {
	r := &s.model.Rewards[index]
	values, rats := r.Choice, r.ChoiceRat
	if s.model.Kind != sparse.MDP {
		t := s.imported.transitions[index]
		values, rats = t.Values, t.Rats
	}
	if states, err = fractions(r.State, r.StateRat, s.model.NumStates()); err != nil {
		return nil, nil, err
	}
	n := s.model.NumTransitions()
	if s.model.Kind == sparse.MDP {
		n = s.model.NumChoices()
	}
	moves, err = fractions(values, rats, n)
	return states, moves, err
}

// fractions returns rats, or else the values as fractions, nil for zero. A value that is not a
// whole number is an error, because the number in the file may have been rounded.
func fractions(values []float64, rats []*big.Rat, n int) ([]*big.Rat, error) {
	if rats != nil {
		return rats, nil
	}
	out := make([]*big.Rat, n)
	for i, x := range values {
		if x == 0 {
			continue
		}
		if out[i] = new(big.Rat).SetFloat64(x); out[i] == nil || !out[i].IsInt() {
			return nil, fmt.Errorf("reward %v of files that were read without fractions: want whole numbers, or --exact", x)
		}
	}
	return out, nil
}
