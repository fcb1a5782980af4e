package explicit

import (
	"fmt"
	"math"
	"math/big"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Reward evaluates Program.Rewards[index] in every state, and for every choice.
// A self-loop that stands for a deadlock earns nothing. A reward that is
// negative or not finite is a *compile.StateError.
//
// Source: reference, sections 4.8 and 4.10.
func (s *Space) Reward(index int) (*sparse.Reward, error) {
	if s.imported != nil {
		return &s.model.Rewards[index], nil
	}
	if s.model.Exact() {
		return s.exactReward(index)
	}
	src := &s.Program().Rewards[index]
	out := &sparse.Reward{Name: src.Name, Err: s.rewardError(src)}
	var state, transition bool
	for _, it := range src.Items {
		state, transition = state || !it.Transition, transition || it.Transition
	}
	if state {
		out.State = make([]float64, s.store.n)
	}
	if transition {
		out.Choice = make([]float64, s.model.NumChoices())
	}
	err := s.each(func() (func(i int, state []int32) error, error) {
		r, err := s.compiled.Rewards(index)
		return func(i int, state []int32) error {
			return s.stateReward(out, r, i, state)
		}, err
	})
	return out, err
}

// stateReward evaluates the rewards of state i and of its choices.
func (s *Space) stateReward(out *sparse.Reward, r *compile.Rewards, i int, state []int32) error {
	var err error
	if out.State != nil {
		if out.State[i], err = r.State(state); err != nil {
			return err
		}
	}
	if out.Choice == nil || s.model.Deadlocks != nil && s.model.Deadlocks.Has(i) {
		return nil
	}
	first, end := s.model.Choices(i)
	for c := first; c < end && err == nil; c++ {
		if s.model.Kind == sparse.MDP {
			out.Choice[c], err = r.Choice(state, s.action(c))
			continue
		}
		lo, hi := s.model.Row(c)
		for t := lo; t < hi && err == nil; t++ {
			var x float64
			x, err = r.Choice(state, s.action(t))
			out.Choice[c] += s.model.Prob(t) * x
		}
	}
	return err
}

// action returns the index into Program.Actions of a choice or transition.
func (s *Space) action(i int) int {
	if s.model.Actions == nil || s.model.Actions[i] == sparse.NoAction {
		return sema.Unlabelled
	}
	return int(s.model.Actions[i]) - 1
}

// rewardError bounds the relative error of the rewards of a structure: of one
// item, of adding items, and in a Markov chain of weighing them.
func (s *Space) rewardError(src *sema.RewardStruct) float64 {
	worst := 0.0
	for i := range src.Items {
		worst = max(worst, s.itemError(src.Items[i].Value))
	}
	widest := 0
	if s.model.Kind != sparse.MDP {
		for i := range s.store.n {
			lo, hi := s.model.Row(i)
			widest = max(widest, hi-lo)
		}
		worst += s.model.Err
	}
	return 1.01 * (worst + float64(len(src.Items)+widest+2)*unit)
}

// itemError bounds the relative error of a reward in all states, by looking at
// each where nothing is known about the expression.
func (s *Space) itemError(e sema.Expr) float64 {
	worst := staticError(s.Program(), e)
	if !math.IsNaN(worst) {
		return worst
	}
	worst = 0
	state := s.State(nil, 0)
	for i := range s.store.n {
		// Where the expression has no value the guard keeps it from being used.
		if x, err := stateError(e, s.State(state, i)); err == nil {
			worst = max(worst, x)
		}
	}
	return worst
}

// exactReward is Reward with fractions.
func (s *Space) exactReward(index int) (*sparse.Reward, error) {
	src := &s.Program().Rewards[index]
	n := s.store.n
	out := &sparse.Reward{
		Name: src.Name, Err: unit,
		State: make([]float64, n), StateRat: make([]*big.Rat, n),
		Choice: make([]float64, s.model.NumChoices()), ChoiceRat: make([]*big.Rat, s.model.NumChoices()),
	}
	state := s.State(nil, 0)
	for i := range n {
		s.State(state, i)
		x, err := s.exactItems(src, state, func(it *sema.RewardItem) bool { return !it.Transition })
		if err != nil {
			return nil, err
		}
		setRat(out.State, out.StateRat, i, x)
		if s.model.Deadlocks != nil && s.model.Deadlocks.Has(i) {
			continue
		}
		if err := s.exactChoices(out, src, i, state); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// setRat stores a fraction and its double; nil stands for zero.
func setRat(f []float64, r []*big.Rat, i int, x *big.Rat) {
	if x.Sign() != 0 {
		f[i], _ = x.Float64()
		r[i] = x
	}
}

func (s *Space) exactChoices(out *sparse.Reward, src *sema.RewardStruct, i int, state []int32) error {
	earned := func(j int) (*big.Rat, error) {
		a := s.action(j)
		return s.exactItems(src, state, func(it *sema.RewardItem) bool { return it.Transition && it.Action == a })
	}
	first, end := s.model.Choices(i)
	for c := first; c < end; c++ {
		sum := new(big.Rat)
		if s.model.Kind == sparse.MDP {
			x, err := earned(c)
			if err != nil {
				return err
			}
			sum = x
		} else {
			lo, hi := s.model.Row(c)
			for t := lo; t < hi; t++ {
				x, err := earned(t)
				if err != nil {
					return err
				}
				sum.Add(sum, x.Mul(x, s.model.Rat(t)))
			}
		}
		setRat(out.Choice, out.ChoiceRat, c, sum)
	}
	return nil
}

// exactItems adds up the items that apply in a state.
func (s *Space) exactItems(src *sema.RewardStruct, state []int32, applies func(*sema.RewardItem) bool) (*big.Rat, error) {
	sum := new(big.Rat)
	for i := range src.Items {
		it := &src.Items[i]
		if !applies(it) {
			continue
		}
		guard, _, err := sema.EvalExact(it.Guard, state)
		if err != nil {
			return nil, s.fail(state, it.Pos, err.Error())
		}
		if !guard.Bool {
			continue
		}
		v, exact, err := sema.EvalExact(it.Value, state)
		switch {
		case err != nil:
			return nil, s.fail(state, it.Pos, err.Error())
		case !exact || v.Rat == nil:
			return nil, &compile.UnsupportedError{File: s.Program().File, Pos: it.Pos, Msg: fmt.Sprintf("reward %v is not a fraction in state %s", v, s.compiled.StateText(state))}
		case v.Rat.Sign() < 0:
			return nil, s.fail(state, it.Pos, fmt.Sprintf("reward %s, it must be finite and not negative", v.Rat.RatString()))
		}
		sum.Add(sum, v.Rat)
	}
	return sum, nil
}

func (s *Space) fail(state []int32, pos syntax.Pos, msg string) error {
	return &compile.StateError{File: s.Program().File, Pos: pos, State: s.compiled.StateText(state), Msg: msg}
}
