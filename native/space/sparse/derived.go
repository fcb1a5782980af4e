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
		derived: Model{Kind: kind, Weights: source.Weights, Rats: source.Rats, Err: source.Err},
	}
}

// Grow reserves memory for the given numbers of additional states, choices and transitions.
func (builder *DerivedBuilder) Grow(states, choices, transitions int) {
	if builder.derived.Kind == MDP {
		builder.derived.First = slices.Grow(builder.derived.First, states+1)
	}
	builder.Origin = slices.Grow(builder.Origin, choices)
	builder.derived.Start = slices.Grow(builder.derived.Start, choices+1)
	builder.derived.Target = slices.Grow(builder.derived.Target, transitions)
	builder.derived.Weight = slices.Grow(builder.derived.Weight, transitions)
	if builder.source.High != nil {
		builder.derived.High = slices.Grow(builder.derived.High, transitions)
	}
}

// State begins the next state.
func (builder *DerivedBuilder) State() {
	if builder.derived.Kind == MDP {
		builder.derived.First = append(builder.derived.First, uint32(len(builder.derived.Start)))
	}
}

// Copy appends a copy of a choice of the source model to the current state. Transition i of the source model leads to state target(i) in
// the copy.
func (builder *DerivedBuilder) Copy(choice int, target func(i int) uint32) {
	builder.beginChoice(uint32(choice))
	first, end := builder.source.Row(choice)
	for i := first; i < end; i++ {
		builder.derived.Target = append(builder.derived.Target, target(i))
	}
	builder.derived.Weight = append(builder.derived.Weight, builder.source.Weight[first:end]...)
	if builder.source.High != nil {
		builder.derived.High = append(builder.derived.High, builder.source.High[first:end]...)
	}
}

// Loop appends a choice to the current state that leads to target with weight 1.
func (builder *DerivedBuilder) Loop(target uint32) {
	if builder.oneID == None {
		builder.oneID = builder.derived.One()
	}
	builder.beginChoice(None)
	builder.derived.Target = append(builder.derived.Target, target)
	builder.derived.Weight = append(builder.derived.Weight, builder.oneID)
	if builder.source.High != nil {
		builder.derived.High = append(builder.derived.High, builder.oneID)
	}
}

// beginChoice begins a choice that copies choice origin of the source model.
func (builder *DerivedBuilder) beginChoice(origin uint32) {
	builder.derived.Start = append(builder.derived.Start, uint32(len(builder.derived.Target)))
	builder.Origin = append(builder.Origin, origin)
}

// NumChoices returns the number of choices so far.
func (builder *DerivedBuilder) NumChoices() int { return len(builder.derived.Start) }

// NumTransitions returns the number of transitions so far.
func (builder *DerivedBuilder) NumTransitions() int { return len(builder.derived.Target) }

// Finish returns the model, without initial states, labels and rewards. The builder must not be used
// again, except for Origin.
func (builder *DerivedBuilder) Finish() *Model {
	if builder.derived.Kind == MDP {
		builder.derived.First = append(builder.derived.First, uint32(len(builder.derived.Start)))
	}
	builder.derived.Start = append(builder.derived.Start, uint32(len(builder.derived.Target)))
	return &builder.derived
}
