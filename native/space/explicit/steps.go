package explicit

import (
	"context"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Steps computes the choices of one state at a time, for sampling random paths of a space. It
// implements simulate.Source. It is not safe for concurrent use.
type Steps struct {
	space             *Space
	ctx               context.Context
	rewards           []*sparse.Reward
	transitionRewards [][]float64 // of a Markov chain, nil for none

	lastState, firstChoice int // the state that was expanded last, and its first choice
	targetMemory           []int32
	transitions            []compile.Transition
	choices                compile.Choices
}

// NewSteps returns Steps of a space. Call Start first.
func NewSteps(space *Space) *Steps { return &Steps{space: space} }

// Program returns the program of the space.
func (s *Steps) Program() *sema.Program { return s.space.Program() }

// Warnings returns the warnings of imported files.
func (s *Steps) Warnings() []string {
	if s.space.imported == nil {
		return nil
	}
	return s.space.imported.warnings
}

// Start returns the valuations of the initial states. rewards says whether StateRewards and
// StepRewards will be called. It is an error if a weight or a needed reward is outside the range
// of float64. Later calls of Expand stop when ctx is done.
func (s *Steps) Start(ctx context.Context, rewards bool) ([][]int32, error) {
	s.ctx, s.rewards, s.transitionRewards = ctx, nil, nil
	if s.space.rangeErr != nil {
		return nil, s.space.rangeErr
	}
	if err := s.space.compiled.Samples(); err != nil {
		return nil, err
	}
	if rewards {
		if err := s.loadRewards(); err != nil {
			return nil, err
		}
	}
	var initial [][]int32
	for _, i := range s.space.model.Initial {
		initial = append(initial, s.space.State(nil, int(i)))
	}
	return initial, nil
}

// loadRewards evaluates all reward structures.
func (s *Steps) loadRewards() error {
	for i := range s.Program().Rewards {
		reward, err := s.space.Reward(i)
		if err != nil {
			return err
		}
		if reward.Unfit != nil {
			return reward.Unfit
		}
		values, _, err := s.space.TransitionRewards(i)
		if err != nil {
			return err
		}
		s.rewards, s.transitionRewards = append(s.rewards, reward), append(s.transitionRewards, values)
	}
	return nil
}

// Expand returns the choices of a state. A deadlock has none, even if it was given a self-loop. The
// next call overwrites the result.
func (s *Steps) Expand(state []int32) (*compile.Choices, error) {
	model, vars := s.space.model, len(state)
	s.lastState, _ = s.space.Find(state)
	s.choices.List, s.transitions = s.choices.List[:0], s.transitions[:0]
	if model.Deadlocks != nil && model.Deadlocks.Has(s.lastState) {
		return &s.choices, nil
	}
	first, end := model.Choices(s.lastState)
	s.firstChoice = first
	firstTransition, _ := model.Row(first)
	_, to := model.Row(end - 1)
	if needed := (to - firstTransition) * vars; needed > len(s.targetMemory) {
		s.targetMemory = make([]int32, needed)
	}
	for t := firstTransition; t < to; t++ {
		if t&0xffff == 0 && s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		target := s.targetMemory[(t-firstTransition)*vars : (t-firstTransition+1)*vars]
		s.transitions = append(s.transitions, compile.Transition{Weight: model.Prob(t), Target: s.space.State(target, int(model.Target[t]))})
	}
	for c := first; c < end; c++ {
		rowStart, rowEnd := model.Row(c)
		s.choices.List = append(s.choices.List, compile.Choice{Action: sema.Unlabelled, Module: -1, Transitions: s.transitions[rowStart-firstTransition : rowEnd-firstTransition]})
	}
	return &s.choices, nil
}

// Action returns the action of a transition of the state that was expanded last. The module is
// always -1, because a space does not store it.
func (s *Steps) Action(choice, transition int) (action, module int) {
	c, target := s.indices(choice, transition)
	if s.space.model.Kind == sparse.MDP {
		return s.space.actionIndex(c), -1
	}
	return s.space.actionIndex(target), -1
}

// indices converts a choice of the state that was expanded last, and a transition of this choice,
// to their indices in the model.
func (s *Steps) indices(choice, transition int) (c, target int) {
	first, _ := s.space.model.Row(s.firstChoice + choice)
	return s.firstChoice + choice, first + transition
}

// StateRewards returns the reward of a state in every reward structure.
func (s *Steps) StateRewards(state []int32) ([]float64, error) {
	out := make([]float64, len(s.rewards))
	i, _ := s.space.Find(state)
	for k, reward := range s.rewards {
		if reward.State != nil {
			out[k] = reward.State[i]
		}
	}
	return out, nil
}

// StepRewards returns the reward of a transition in every reward structure. In an MDP, that is the
// reward of its choice.
func (s *Steps) StepRewards(choice, transition int) ([]float64, error) {
	out := make([]float64, len(s.rewards))
	c, target := s.indices(choice, transition)
	for k, reward := range s.rewards {
		switch values := s.transitionRewards[k]; {
		case values != nil:
			out[k] = values[target]
		case s.space.model.Kind == sparse.MDP && reward.Choice != nil:
			out[k] = reward.Choice[c]
		}
	}
	return out, nil
}
