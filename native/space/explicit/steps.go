package explicit

import (
	"context"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Steps returns the choices of states of a space, for random paths: it implements simulate.Source.
// Not safe for concurrent use.
type Steps struct {
	space       *Space
	ctx         context.Context
	rewards     []*sparse.Reward
	transitions [][]float64 // of a Markov chain, nil for none

	state, first int // the state that was expanded last, and its first choice
	targets      []int32
	flat         []compile.Transition
	out          compile.Choices
}

// NewSteps returns the steps of a space.
func NewSteps(s *Space) *Steps { return &Steps{space: s} }

// Program returns the program of the space.
func (s *Steps) Program() *sema.Program { return s.space.Program() }

// Warnings returns the warnings of imported files.
func (s *Steps) Warnings() []string {
	if s.space.imported == nil {
		return nil
	}
	return s.space.imported.warnings
}

// Start returns the initial states. rewards says whether rewards are needed. It is an error if a
// weight or a needed reward is outside the range of float64. Expand stops when ctx is done.
func (s *Steps) Start(ctx context.Context, rewards bool) ([][]int32, error) {
	s.ctx, s.rewards, s.transitions = ctx, nil, nil
	if s.space.rangeErr != nil {
		return nil, s.space.rangeErr
	}
	if err := s.space.compiled.Samples(); err != nil {
		return nil, err
	}
	for i := 0; rewards && i < len(s.Program().Rewards); i++ {
		r, err := s.space.Reward(i)
		if err != nil {
			return nil, err
		}
		if r.Unfit != nil {
			return nil, r.Unfit
		}
		each, _, err := s.space.TransitionRewards(i)
		if err != nil {
			return nil, err
		}
		s.rewards, s.transitions = append(s.rewards, r), append(s.transitions, each)
	}
	var initial [][]int32
	for _, i := range s.space.model.Initial {
		initial = append(initial, s.space.State(nil, int(i)))
	}
	return initial, nil
}

// Expand returns the choices of a state; a deadlock has none, even if it was given a self-loop.
// The result is overwritten by the next call.
func (s *Steps) Expand(state []int32) (*compile.Choices, error) {
	m, vars := s.space.model, len(state)
	s.state, _ = s.space.Find(state)
	s.out.List, s.flat = s.out.List[:0], s.flat[:0]
	if m.Deadlocks != nil && m.Deadlocks.Has(s.state) {
		return &s.out, nil
	}
	first, end := m.Choices(s.state)
	s.first = first
	from, _ := m.Row(first)
	_, to := m.Row(end - 1)
	if need := (to - from) * vars; need > len(s.targets) {
		s.targets = make([]int32, need)
	}
	for t := from; t < to; t++ {
		if t&0xffff == 0 && s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		target := s.targets[(t-from)*vars : (t-from+1)*vars]
		s.flat = append(s.flat, compile.Transition{Weight: m.Prob(t), Target: s.space.State(target, int(m.Target[t]))})
	}
	for c := first; c < end; c++ {
		lo, hi := m.Row(c)
		s.out.List = append(s.out.List, compile.Choice{Action: sema.Unlabelled, Module: -1, Transitions: s.flat[lo-from : hi-from]})
	}
	return &s.out, nil
}

// Action returns the action of a transition of the state that was expanded last. The module is
// always -1: the space does not know it.
func (s *Steps) Action(choice, transition int) (action, module int) {
	c, t := s.indices(choice, transition)
	if s.space.model.Kind == sparse.MDP {
		return s.space.action(c), -1
	}
	return s.space.action(t), -1
}

// indices returns the indices in the model of a choice, and of a transition of it.
func (s *Steps) indices(choice, transition int) (c, t int) {
	lo, _ := s.space.model.Row(s.first + choice)
	return s.first + choice, lo + transition
}

// StateRewards returns the reward of a state in every structure.
func (s *Steps) StateRewards(state []int32) ([]float64, error) {
	out := make([]float64, len(s.rewards))
	i, _ := s.space.Find(state)
	for k, r := range s.rewards {
		if r.State != nil {
			out[k] = r.State[i]
		}
	}
	return out, nil
}

// StepRewards returns the reward of a transition in every structure; in an MDP, that of its
// choice.
func (s *Steps) StepRewards(choice, transition int) ([]float64, error) {
	out := make([]float64, len(s.rewards))
	c, t := s.indices(choice, transition)
	for k, r := range s.rewards {
		switch each := s.transitions[k]; {
		case each != nil:
			out[k] = each[t]
		case s.space.model.Kind == sparse.MDP && r.Choice != nil:
			out[k] = r.Choice[c]
		}
	}
	return out, nil
}
