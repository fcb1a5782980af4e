package simulate

import (
	"context"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Source gives the steps from which a random path is drawn, either from a model (FromModel) or from a state space
// (explicit.Steps). It serves one path at a time.
type Source interface {
	Program() *sema.Program
	// Start begins a path, with rewards or without, and returns the initial states.
	Start(ctx context.Context, rewards bool) ([][]int32, error)
	// Expand returns the choices of a state, which are valid until the next call. It
	// returns an error if the context of Start ends. Choices of a model may be Unlisted.
	Expand(state []int32) (*compile.Choices, error)
	// Action and StepRewards return the action and the rewards of a transition of the
	// state that was expanded last. Two transitions of one choice may have two actions.
	Action(choice, transition int) (action, module int) // as in Step
	StepRewards(choice, transition int) ([]float64, error)
	StateRewards(state []int32) ([]float64, error)
	// ExitRate returns the exit rate of a state of a Markov automaton, 0 for an immediate state.
	ExitRate(state []int32) (float64, error)
}

// FromModel returns a model as a Source.
func FromModel(compiled *compile.Model) Source { return &modelSource{Model: compiled} }

type modelSource struct {
	*compile.Model
	expander          compile.Expander
	structures        []*compile.Rewards
	exitRateEvaluator compile.Evaluator // of the exit rate of a Markov automaton
	expandedState     []int32           // the state that was expanded last
	choices           *compile.Choices  // its choices
}

// Start implements Source: it prepares the model for a path, and returns the initial states. If rewards is true, it also compiles the reward
// structures.
func (source *modelSource) Start(ctx context.Context, rewards bool) ([][]int32, error) {
	source.expander, source.structures = source.NewExpanderUntil(ctx), nil
	if err := source.Samples(); err != nil {
		return nil, err
	}
	initial, err := source.InitialStates(ctx)
	if err != nil || !rewards {
		return initial, err
	}
	for i := range source.Program().Rewards {
		structure, err := source.SignedRewards(i)
		if err != nil {
			return nil, err
		}
		source.structures = append(source.structures, structure)
	}
	return initial, nil
}

// Expand implements Source.
func (source *modelSource) Expand(state []int32) (choices *compile.Choices, err error) {
	source.expandedState = state
	source.choices, err = source.expander.ExpandForPath(state)
	return source.choices, err
}

// Action implements Source. All transitions of a choice have the same action.
func (source *modelSource) Action(choice, _ int) (action, module int) {
	c := &source.choices.List[choice]
	return c.Action, c.Module
}

// StepRewards implements Source. All transitions of a choice have the same rewards.
func (source *modelSource) StepRewards(choice, _ int) ([]float64, error) {
	action := source.choices.List[choice].Action
	return source.earnedRewards(func(rewards *compile.Rewards) (float64, error) { return rewards.Choice(source.expandedState, action) })
}

// StateRewards implements Source.
func (source *modelSource) StateRewards(state []int32) ([]float64, error) {
	return source.earnedRewards(func(rewards *compile.Rewards) (float64, error) { return rewards.State(state) })
}

// earnedRewards calls evaluate for each reward structure of the model, and returns the results in the same order.
func (source *modelSource) earnedRewards(evaluate func(structure *compile.Rewards) (float64, error)) ([]float64, error) {
	earned := make([]float64, len(source.structures))
	for i, structure := range source.structures {
		reward, err := evaluate(structure)
		if err != nil {
			return nil, err
		}
		earned[i] = reward
	}
	return earned, nil
}

// ExitRate implements Source: it returns the exit rate of a state of a Markov automaton. The first call compiles the expression of the exit rate.
func (source *modelSource) ExitRate(state []int32) (float64, error) {
	if source.exitRateEvaluator == nil {
		rate, err := source.Evaluator(source.Program().Rate)
		if err != nil {
			return 0, err
		}
		source.exitRateEvaluator = rate
	}
	return source.exitRateEvaluator.Num(state)
}
