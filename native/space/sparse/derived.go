package sparse

import "slices"

// DerivedBuilder assembles a model from choices of another model, whose tables of weights it shares, by
// calls in this order:
//
//	State { Copy | Loop }
//
// In a Markov chain State must be followed by exactly one of Copy and Loop.
type DerivedBuilder struct {
	// Origin has the choice of the source for each choice, or None for a choice of Loop.
	Origin []uint32

	source  *Model
	derived Model
	oneID   uint32 // the index of weight 1, None until Loop needs it
}

// NewDerivedBuilder returns a builder for a model of the given kind, with choices of source.
func NewDerivedBuilder(source *Model, kind Kind) *DerivedBuilder {
	return &DerivedBuilder{
		source: source, oneID: None,
		derived: Model{Kind: kind, Weights: source.Weights, Fractions: source.Fractions, RelErr: source.RelErr},
	}
}

// Grow reserves memory for the given numbers of additional states, choices and transitions.
func (builder *DerivedBuilder) Grow(states, choices, transitions int) {
	if builder.derived.Kind == MDP {
		builder.derived.FirstChoice = slices.Grow(builder.derived.FirstChoice, states+1)
	}
	builder.Origin = slices.Grow(builder.Origin, choices)
	builder.derived.FirstTransition = slices.Grow(builder.derived.FirstTransition, choices+1)
	builder.derived.Target = slices.Grow(builder.derived.Target, transitions)
	builder.derived.WeightIndex = slices.Grow(builder.derived.WeightIndex, transitions)
	if builder.source.HighIndex != nil {
		builder.derived.HighIndex = slices.Grow(builder.derived.HighIndex, transitions)
	}
}

// State begins the next state.
func (builder *DerivedBuilder) State() {
	if builder.derived.Kind == MDP {
		builder.derived.FirstChoice = append(builder.derived.FirstChoice, uint32(len(builder.derived.FirstTransition)))
	}
}

// Copy appends a copy of a choice of the source model to the current state, with other targets: a transition with index i in the source model leads to
// target(i) in the derived model.
func (builder *DerivedBuilder) Copy(choice int, target func(i int) uint32) {
	builder.beginChoice(uint32(choice))
	first, end := builder.source.Transitions(choice)
	for i := first; i < end; i++ {
		builder.derived.Target = append(builder.derived.Target, target(i))
	}
	builder.derived.WeightIndex = append(builder.derived.WeightIndex, builder.source.WeightIndex[first:end]...)
	if builder.source.HighIndex != nil {
		builder.derived.HighIndex = append(builder.derived.HighIndex, builder.source.HighIndex[first:end]...)
	}
}

// Loop appends a choice with a single transition to the current state, which leads to target with weight 1. Its entry in Origin is None, because it copies
// no choice.
func (builder *DerivedBuilder) Loop(target uint32) {
	if builder.oneID == None {
		builder.oneID = builder.derived.One()
	}
	builder.beginChoice(None)
	builder.derived.Target = append(builder.derived.Target, target)
	builder.derived.WeightIndex = append(builder.derived.WeightIndex, builder.oneID)
	if builder.source.HighIndex != nil {
		builder.derived.HighIndex = append(builder.derived.HighIndex, builder.oneID)
	}
}

// beginChoice begins a choice that copies choice origin of the source model.
func (builder *DerivedBuilder) beginChoice(origin uint32) {
	builder.derived.FirstTransition = append(builder.derived.FirstTransition, uint32(len(builder.derived.Target)))
	builder.Origin = append(builder.Origin, origin)
}

// NumChoices returns the number of choices so far.
func (builder *DerivedBuilder) NumChoices() int { return len(builder.derived.FirstTransition) }

// NumTransitions returns the number of transitions so far.
func (builder *DerivedBuilder) NumTransitions() int { return len(builder.derived.Target) }

// Finish returns the model, without initial states, labels and rewards. The builder must not be used
// again, except for Origin.
func (builder *DerivedBuilder) Finish() *Model {
	if builder.derived.Kind == MDP {
		builder.derived.FirstChoice = append(builder.derived.FirstChoice, uint32(len(builder.derived.FirstTransition)))
	}
	builder.derived.FirstTransition = append(builder.derived.FirstTransition, uint32(len(builder.derived.Target)))
	return &builder.derived
}
