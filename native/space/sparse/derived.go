package sparse

import "slices"

// DerivedBuilder assembles a model from choices of another model, whose tables of weights it shares, by
// calls in this order:
//
//	State { Copy | Loop }
//
// In a Markov chain State must be followed by exactly one of Copy and Loop.
type DerivedBuilder struct {
	// Origin has the choice of the source for each choice, None for those of Loop.
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

// Grow reserves space for more states, choices and transitions.
func (b *DerivedBuilder) Grow(states, choices, transitions int) {
	if b.derived.Kind == MDP {
		b.derived.First = slices.Grow(b.derived.First, states+1)
	}
	b.Origin = slices.Grow(b.Origin, choices)
	b.derived.Start = slices.Grow(b.derived.Start, choices+1)
	b.derived.Target = slices.Grow(b.derived.Target, transitions)
	b.derived.Weight = slices.Grow(b.derived.Weight, transitions)
	if b.source.High != nil {
		b.derived.High = slices.Grow(b.derived.High, transitions)
	}
}

// State begins the next state.
func (b *DerivedBuilder) State() {
	if b.derived.Kind == MDP {
		b.derived.First = append(b.derived.First, uint32(len(b.derived.Start)))
	}
}

// Copy appends a copy of choice c of the source model. For transition i of the source model, the copy has
// a transition of the same weight to state target(i).
func (b *DerivedBuilder) Copy(c int, target func(i int) uint32) {
	b.beginChoice(uint32(c))
	lo, hi := b.source.Row(c)
	for i := lo; i < hi; i++ {
		b.derived.Target = append(b.derived.Target, target(i))
	}
	b.derived.Weight = append(b.derived.Weight, b.source.Weight[lo:hi]...)
	if b.source.High != nil {
		b.derived.High = append(b.derived.High, b.source.High[lo:hi]...)
	}
}

// Loop appends a choice that leads to one state with weight 1.
func (b *DerivedBuilder) Loop(target uint32) {
	if b.oneID == None {
		b.oneID = b.derived.One()
	}
	b.beginChoice(None)
	b.derived.Target = append(b.derived.Target, target)
	b.derived.Weight = append(b.derived.Weight, b.oneID)
	if b.source.High != nil {
		b.derived.High = append(b.derived.High, b.oneID)
	}
}

// beginChoice begins a choice that copies choice origin of the source model.
func (b *DerivedBuilder) beginChoice(origin uint32) {
	b.derived.Start = append(b.derived.Start, uint32(len(b.derived.Target)))
	b.Origin = append(b.Origin, origin)
}

// NumChoices returns the number of choices so far.
func (b *DerivedBuilder) NumChoices() int { return len(b.derived.Start) }

// NumTransitions returns the number of transitions so far.
func (b *DerivedBuilder) NumTransitions() int { return len(b.derived.Target) }

// Finish returns the model, without initial states, labels and rewards. The builder must not be used
// again, except for Origin.
func (b *DerivedBuilder) Finish() *Model {
	if b.derived.Kind == MDP {
		b.derived.First = append(b.derived.First, uint32(len(b.derived.Start)))
	}
	b.derived.Start = append(b.derived.Start, uint32(len(b.derived.Target)))
	return &b.derived
}
