package simulate

import (
	"context"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// Source gives the steps from which a random path is drawn: those of a model (FromModel) or of a state space
// (explicit.Steps). It serves one path at a time.
type Source interface {
	Program() *sema.Program
	// Start begins a path, with rewards or without, and returns the initial states.
	Start(ctx context.Context, rewards bool) ([][]int32, error)
	// Expand returns the choices of a state, until it is called again; it gives up
	// with the context of Start. What their action is, Action says.
	Expand(state []int32) (*compile.Choices, error)
	// Action and StepRewards are about a transition of a choice of the state that
	// was expanded last: in a chain of states each may have an action of its own.
	Action(choice, transition int) (action, module int) // as in Step
	StepRewards(choice, transition int) ([]float64, error)
	StateRewards(state []int32) ([]float64, error)
}

// FromModel returns a model as a Source.
func FromModel(m *compile.Model) Source { return &modelSource{Model: m} }

type modelSource struct {
	*compile.Model
	x       compile.Expander
	rewards []*compile.Rewards
	state   []int32 // that was expanded last, and its choices
	choices *compile.Choices
}

func (m *modelSource) Start(ctx context.Context, rewards bool) ([][]int32, error) {
	m.x, m.rewards = m.NewExpanderUntil(ctx), nil
	if err := m.Samples(); err != nil {
		return nil, err
	}
	initial, err := m.InitialStates(ctx)
	for i := 0; rewards && err == nil && i < len(m.Program().Rewards); i++ {
		var r *compile.Rewards
		r, err = m.Rewards(i)
		m.rewards = append(m.rewards, r)
	}
	return initial, err
}

func (m *modelSource) Expand(state []int32) (choices *compile.Choices, err error) {
	m.state = state
	m.choices, err = m.x.Expand(state)
	return m.choices, err
}

func (m *modelSource) Action(choice, _ int) (action, module int) {
	c := &m.choices.List[choice]
	return c.Action, c.Module
}

func (m *modelSource) StepRewards(choice, _ int) ([]float64, error) {
	action := m.choices.List[choice].Action
	return m.earned(func(r *compile.Rewards) (float64, error) { return r.Choice(m.state, action) })
}

func (m *modelSource) StateRewards(state []int32) ([]float64, error) {
	return m.earned(func(r *compile.Rewards) (float64, error) { return r.State(state) })
}

// earned returns what every structure earns.
func (m *modelSource) earned(of func(*compile.Rewards) (float64, error)) ([]float64, error) {
	out := make([]float64, len(m.rewards))
	for i, r := range m.rewards {
		var err error
		if out[i], err = of(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}
