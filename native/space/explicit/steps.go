package explicit

import (
	"context"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Steps returns the choices of one state at a time, for sampling random paths of a space. It
// implements simulate.Source. It is not safe for concurrent use.
type Steps struct {
	space             *Space
	ctx               context.Context
	rewards           []*sparse.Reward
	transitionRewards [][]float64 // of a Markov chain, nil for none
	exitRates         *ExitRates  // of a Markov automaton, after the first call of ExitRate

	firstChoice  int     // of the state that was expanded last
	targetMemory []int32 // for the valuations of the targets in transitions
	transitions  []compile.Transition
	choices      compile.Choices
}

// NewSteps returns Steps of a space. Call Start first.
func NewSteps(space *Space) *Steps { return &Steps{space: space} }

// Program returns the program of the space.
func (steps *Steps) Program() *sema.Program { return steps.space.Program() }

// Warnings returns the warnings of imported files.
func (steps *Steps) Warnings() []string {
	if steps.space.imported == nil {
		return nil
	}
	return steps.space.imported.warnings
}

// Start returns the valuations of the initial states. rewards says whether the caller needs rewards. It is an error if a weight, or a
// needed reward, is outside the range of float64. Later calls of other methods return an error after ctx is done.
func (steps *Steps) Start(ctx context.Context, rewards bool) ([][]int32, error) {
	steps.ctx, steps.rewards, steps.transitionRewards = ctx, nil, nil
	if steps.space.rangeErr != nil {
		return nil, steps.space.rangeErr
	}
	if err := steps.space.compiled.Samples(); err != nil {
		return nil, err
	}
	if rewards {
		if err := steps.loadRewards(); err != nil {
			return nil, err
		}
	}
	var initial [][]int32
	for _, i := range steps.space.model.Initial {
		initial = append(initial, steps.space.State(nil, int(i)))
	}
	return initial, nil
}

// loadRewards evaluates all reward structures. A reward outside the range of float64 is an error.
func (steps *Steps) loadRewards() error {
	for i := range steps.Program().Rewards {
		reward, transitions, err := steps.space.sampledReward(i)
		if err != nil {
			return err
		}
		steps.rewards, steps.transitionRewards = append(steps.rewards, reward), append(steps.transitionRewards, transitions.Values)
	}
	return nil
}

// Expand returns the choices of the state with the given valuation. A deadlock has no choices, even if it has a
// self-loop. The next call overwrites the result.
func (steps *Steps) Expand(state []int32) (*compile.Choices, error) {
	model := steps.space.model
	steps.choices.List, steps.transitions = steps.choices.List[:0], steps.transitions[:0]
	stateIndex, _ := steps.space.Find(state)
	if model.IsDeadlock(stateIndex) {
		return &steps.choices, nil
	}
	first, end := model.Choices(stateIndex)
	steps.firstChoice = first
	firstTransition, _ := model.Transitions(first)
	_, endTransition := model.Transitions(end - 1)
	if err := steps.loadTransitions(firstTransition, endTransition); err != nil {
		return nil, err
	}
	for choice := first; choice < end; choice++ {
		rowStart, rowEnd := model.Transitions(choice)
		transitions := steps.transitions[rowStart-firstTransition : rowEnd-firstTransition]
		steps.choices.List = append(steps.choices.List, compile.Choice{Action: sema.Unlabelled, Module: -1, Transitions: transitions})
	}
	return &steps.choices, nil
}

// loadTransitions copies the transitions first to end-1 of the model to steps.transitions. It returns an error when the context is done.
func (steps *Steps) loadTransitions(first, end int) error {
	model, numVars := steps.space.model, len(steps.space.codec.fields)
	if needed := (end - first) * numVars; needed > len(steps.targetMemory) {
		steps.targetMemory = make([]int32, needed)
	}
	const transitionsBetweenChecks = 1 << 16 // the context is checked once for this number of transitions
	unusedMemory := steps.targetMemory
	for transition := first; transition < end; transition++ {
		if transition%transitionsBetweenChecks == 0 && steps.ctx.Err() != nil {
			return steps.ctx.Err()
		}
		target := steps.space.State(unusedMemory[:numVars:numVars], int(model.Target[transition]))
		unusedMemory = unusedMemory[numVars:]
		steps.transitions = append(steps.transitions, compile.Transition{Weight: model.Prob(transition), Target: target})
	}
	return nil
}

// Action returns the action of a transition of the last expanded state. The module is always -1, because a space
// does not store it.
func (steps *Steps) Action(choice, transition int) (action, module int) {
	choiceIndex, transitionIndex := steps.modelIndices(choice, transition)
	if steps.space.model.Kind == sparse.MDP {
		return steps.space.actionIndex(choiceIndex), -1
	}
	return steps.space.actionIndex(transitionIndex), -1
}

// modelIndices converts the index of a choice of the last expanded state, and of a transition of this choice, to
// indices in the model.
func (steps *Steps) modelIndices(choice, transition int) (choiceIndex, transitionIndex int) {
	choiceIndex = steps.firstChoice + choice
	firstTransition, _ := steps.space.model.Transitions(choiceIndex)
	return choiceIndex, firstTransition + transition
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

// StepRewards returns, for each reward structure, the reward of a transition or, in an MDP, of its choice. choice and transition are indices among the
// choices that the last call of Expand returned.
func (steps *Steps) StepRewards(choice, transition int) ([]float64, error) {
	rewards := make([]float64, len(steps.rewards))
	choiceIndex, transitionIndex := steps.modelIndices(choice, transition)
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
