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

	source *Model
	out    Model
	one    uint32 // the index of weight 1, None until Loop needs it
}

// NewDerivedBuilder returns a builder of a model of some kind, with no states yet.
func NewDerivedBuilder(source *Model, kind Kind) *DerivedBuilder {
	return &DerivedBuilder{
		source: source, one: None,
		out: Model{Kind: kind, Weights: source.Weights, Rats: source.Rats, Err: source.Err},
	}
}

// Grow reserves space for more states, choices and transitions.
func (b *DerivedBuilder) Grow(states, choices, transitions int) {
	if b.out.Kind == MDP {
		b.out.First = slices.Grow(b.out.First, states+1)
	}
	b.Origin, b.out.Start = slices.Grow(b.Origin, choices), slices.Grow(b.out.Start, choices+1)
	b.out.Target, b.out.Weight = slices.Grow(b.out.Target, transitions), slices.Grow(b.out.Weight, transitions)
	if b.source.High != nil {
		b.out.High = slices.Grow(b.out.High, transitions)
	}
}

// State begins the next state.
func (b *DerivedBuilder) State() {
	if b.out.Kind == MDP {
		b.out.First = append(b.out.First, uint32(len(b.out.Start)))
	}
}

// Copy appends choice c of the source. Its transition i, counted in the source, leads to state target(i).
func (b *DerivedBuilder) Copy(c int, target func(i int) uint32) {
	b.begin(uint32(c))
	lo, hi := b.source.Row(c)
	for i := lo; i < hi; i++ {
		b.out.Target = append(b.out.Target, target(i))
	}
	b.out.Weight = append(b.out.Weight, b.source.Weight[lo:hi]...)
	if b.source.High != nil {
		b.out.High = append(b.out.High, b.source.High[lo:hi]...)
	}
}

// Loop appends a choice that leads to one state with weight 1.
func (b *DerivedBuilder) Loop(target uint32) {
	if b.one == None {
		b.one = b.out.One()
	}
	b.begin(None)
	b.out.Target, b.out.Weight = append(b.out.Target, target), append(b.out.Weight, b.one)
	if b.source.High != nil {
		b.out.High = append(b.out.High, b.one)
	}
}

func (b *DerivedBuilder) begin(origin uint32) {
	b.out.Start, b.Origin = append(b.out.Start, uint32(len(b.out.Target))), append(b.Origin, origin)
}

// NumChoices returns the number of choices so far.
func (b *DerivedBuilder) NumChoices() int { return len(b.out.Start) }

// NumTransitions returns the number of transitions so far.
func (b *DerivedBuilder) NumTransitions() int { return len(b.out.Target) }

// Finish returns the model, without initial states, labels and rewards. The builder must not be used
// again, except for Origin.
func (b *DerivedBuilder) Finish() *Model {
	if b.out.Kind == MDP {
		b.out.First = append(b.out.First, uint32(len(b.out.Start)))
	}
	b.out.Start = append(b.out.Start, uint32(len(b.out.Target)))
	return &b.out
}
