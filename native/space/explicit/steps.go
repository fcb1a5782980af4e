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
	exitRates         *ExitRates  // of a Markov automaton, after the first call of ExitRate

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

// Expand returns the choices of a state. A deadlock has no choices, even if it was given a self-loop. The next call
// overwrites the result.
func (steps *Steps) Expand(state []int32) (*compile.Choices, error) {
	model, vars := steps.space.model, len(state)
	steps.lastState, _ = steps.space.Find(state)
	steps.choices.List, steps.transitions = steps.choices.List[:0], steps.transitions[:0]
	if model.Deadlocks != nil && model.Deadlocks.Has(steps.lastState) {
		return &steps.choices, nil
	}
	first, end := model.Choices(steps.lastState)
	steps.firstChoice = first
	firstTransition, _ := model.Row(first)
	_, endTransition := model.Row(end - 1)
	if needed := (endTransition - firstTransition) * vars; needed > len(steps.targetMemory) {
		steps.targetMemory = make([]int32, needed)
	}
	for transition := firstTransition; transition < endTransition; transition++ {
		if transition&0xffff == 0 && steps.ctx.Err() != nil {
			return nil, steps.ctx.Err()
		}
		target := steps.targetMemory[(transition-firstTransition)*vars : (transition-firstTransition+1)*vars]
		steps.transitions = append(steps.transitions, compile.Transition{Weight: model.Prob(transition), Target: steps.space.State(target, int(model.Target[transition]))})
	}
	for choice := first; choice < end; choice++ {
		rowStart, rowEnd := model.Row(choice)
		steps.choices.List = append(steps.choices.List, compile.Choice{Action: sema.Unlabelled, Module: -1, Transitions: steps.transitions[rowStart-firstTransition : rowEnd-firstTransition]})
	}
	return &steps.choices, nil
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
func (steps *Steps) StateRewards(state []int32) ([]float64, error) {
	rewards := make([]float64, len(steps.rewards))
	stateIndex, _ := steps.space.Find(state)
	for structure, reward := range steps.rewards {
		if reward.State != nil {
			rewards[structure] = reward.State[stateIndex]
		}
	}
	return rewards, nil
}

// StepRewards returns the reward of a transition in every reward structure. In an MDP, that is the
// reward of its choice.
func (steps *Steps) StepRewards(choice, transition int) ([]float64, error) {
	rewards := make([]float64, len(steps.rewards))
	choiceIndex, transitionIndex := steps.indices(choice, transition)
	for structure, reward := range steps.rewards {
		switch values := steps.transitionRewards[structure]; {
		case values != nil:
			rewards[structure] = values[transitionIndex]
		case steps.space.model.Kind == sparse.MDP && reward.Choice != nil:
			rewards[structure] = reward.Choice[choiceIndex]
		}
	}
	return rewards, nil
}

// ExitRate returns the exit rate of a state of a Markov automaton, 0 for an immediate state.
func (steps *Steps) ExitRate(state []int32) (float64, error) {
	if steps.exitRates == nil {
		rates, err := steps.space.ExitRates()
		if err != nil {
			return 0, err
		}
		steps.exitRates = rates
	}
	stateIndex, _ := steps.space.Find(state)
	return steps.exitRates.Mean(stateIndex), nil
}
