package boxes

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"tilecheck/internal/memory"
	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Options limits the boxes that are stored.
type Options struct {
	// MaxStates is the number of boxes after which Build gives up; 0 means no limit.
	MaxStates int
	// MaxMemory is the number of bytes that boxes may take; 0 means three quarters of what the system says is available.
	MaxMemory int64
}

// Built is the space of boxes of a model for a property.
type Built struct {
	Space *explicit.Space
	// Property is the property to check on Space. Its value is the value of the original property in the model.
	Property sema.Expr
	// Boxes is the number of boxes of the space, and Steps the number of deterministic steps that were followed.
	Boxes int
	Steps int64
}

// Build returns the space of boxes of a model for a property. The error is a *compile.UnsupportedError, a *compile.StateError, an *explicit.LimitError, or
// the error of the context.
func Build(ctx context.Context, compiled *compile.Model, property *logic.Property, options Options) (*Built, error) {
	if err := checkSupported(compiled); err != nil {
		return nil, err
	}
	goal, err := newGoal(property)
	if err != nil {
		return nil, err
	}
	if options.MaxMemory <= 0 {
		options.MaxMemory = memory.Available() / 4 * 3
	}
	search := &exploration{program: newProgram(compiled, goal.structure), goal: goal, options: options, numbers: make(map[string]uint32)}
	if err := search.explore(ctx); err != nil {
		return nil, err
	}
	return search.build()
}

// checkSupported returns a *compile.UnsupportedError if a model is not a DTMC or an MDP of modules, or if it has a feature that boxes do not support.
func checkSupported(compiled *compile.Model) error {
	program := compiled.Program()
	unsupported := func(found string) error {
		return &compile.UnsupportedError{File: program.File, Msg: fmt.Sprintf("found %s, want a DTMC or an MDP of modules for boxes of states", found)}
	}
	switch {
	case program.Type != syntax.DTMC && program.Type != syntax.MDP:
		return unsupported(noun.WithArticle(program.Type.String()))
	case program.Rate != nil:
		return unsupported("a Markov automaton")
	case program.System != nil:
		return unsupported("a system block")
	case program.HasParameters:
		return unsupported("parameters")
	case compiled.DeadlocksAreErrors():
		return unsupported("deadlocks that are errors")
	}
	return nil
}

// spaceBuilder assembles the space of the reachable nodes.
type spaceBuilder struct {
	*exploration
	builder   *sparse.Builder
	reward    sparse.Reward
	initial   []uint32
	target    *sparse.Set
	deadlocks *sparse.Set
	stateOf   []uint32 // the state of each reachable node
}

// build returns the state space after the exploration. Its states are the reachable nodes. A divided node is not reachable, because its predecessors lead to
// its parts instead.
func (x *exploration) build() (*Built, error) {
	order := x.reachable()
	space := &spaceBuilder{
		exploration: x, builder: sparse.NewBuilder(x.kind()), reward: sparse.Reward{RelErr: 0x1p-53},
		target: sparse.NewSet(len(order)), deadlocks: sparse.NewSet(len(order)), stateOf: make([]uint32, len(x.nodes)),
	}
	for state, number := range order {
		space.stateOf[number] = uint32(state)
	}
	for state, number := range order {
		space.addState(state, number)
	}
	imported, err := space.finish()
	if err != nil {
		return nil, err
	}
	return &Built{Space: imported, Property: x.goal.propertyOn(imported.Program()), Boxes: len(order), Steps: x.numSteps}, nil
}

// kind returns the kind of the space.
func (x *exploration) kind() sparse.Kind {
	if x.Type == syntax.MDP {
		return sparse.MDP
	}
	return sparse.DTMC
}

// addState adds to the space the state of a node, with its choices and rewards. A node with a fixed number, such as targetNode, gets a self-loop, because
// the property does not depend on what follows.
func (s *spaceBuilder) addState(state int, number uint32) {
	s.builder.State()
	node := &s.nodes[number]
	if number < firstNode {
		node.choices = []nodeChoice{{action: sema.Unlabelled, branches: []edge{{one, number}}}}
	}
	if number == targetNode {
		s.target.Add(state)
	}
	if node.isInitial {
		s.initial = append(s.initial, uint32(state))
	}
	if node.isDeadlock {
		s.deadlocks.Add(state)
	}
	for _, choice := range node.choices {
		if s.kind() == sparse.MDP {
			s.builder.Choice(sparse.Action(choice.action + 1))
		}
		for _, edge := range choice.branches {
			s.builder.AddRat(int(s.stateOf[edge.target]), edge.weight, sparse.NoAction)
		}
		s.addReward(choice.reward)
	}
}

// addReward appends the reward of the next choice to the reward structure, as a fraction and as a float64. A nil reward stands for 0.
func (s *spaceBuilder) addReward(reward *big.Rat) {
	inFloat := 0.0
	if reward != nil && reward.Sign() > 0 {
		var isInRange bool
		if inFloat, isInRange = sparse.NormalFloat(reward); !isInRange {
			s.reward.RelErr, s.reward.RangeErr = math.Inf(1), &explicit.RangeError{File: s.File, What: "a reward"}
		}
	}
	s.reward.Choice, s.reward.ChoiceFractions = append(s.reward.Choice, inFloat), append(s.reward.ChoiceFractions, reward)
}

// finish returns the state space of the nodes that were added. A state is not a valuation of the model, so the only variable is the number of the box.
func (s *spaceBuilder) finish() (*explicit.Space, error) {
	model, err := s.builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial, model.Labels = s.initial, []sparse.Label{{Name: targetLabel, States: s.target}}
	if !s.deadlocks.Empty() {
		model.Deadlocks = s.deadlocks
	}
	if structure := s.goal.structure; structure >= 0 {
		s.reward.Name = s.Rewards[structure].Name
		model.Rewards = []sparse.Reward{s.reward}
	}
	return explicit.Import(&explicit.Imported{
		File: s.File, Type: s.Type, Actions: s.Actions, Model: model,
		Vars:      []sema.Variable{{Name: "box", Type: sema.Int, IsBounded: true, High: int32(model.NumStates() - 1)}},
		Valuation: func(state int) []int32 { return []int32{int32(state)} },
	})
}
