package condition

import (
	"context"
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/certify/product"
)

// The parts of a product, by what a path has seen. Both is the part of decided states.
const (
	seenA = 1 << iota
	seenB
	both = seenA | seenB
)

// Product is the product of an MDP with what a path has seen of a and b.
type Product struct {
	*certificate.Model
	Seen []uint8 // by state
}

// state is a state of the product.
type state struct {
	of   uint32 // the state of the model
	seen uint8
}

// New returns the product. It is an error if it has more states than size.
func New(ctx context.Context, model *certificate.Model, size int, a, b certificate.Bits) (*Product, error) {
	next := func(from state, _ int, to uint32) state {
		seen := from.seen
		if a.Has(int(to)) {
			seen |= seenA
		}
		if b.Has(int(to)) {
			seen |= seenB
		}
		return state{to, seen}
	}
	var starts []state
	for s := range model.NumStates() {
		starts = append(starts, next(state{}, 0, uint32(s)))
	}
	built, err := product.Build(ctx, model, &product.Memory[state]{
		Name:       "what a path has seen",
		ModelState: func(s state) uint32 { return s.of },
		Next:       next,
		IsDecided:  func(s state) bool { return s.seen == both },
	}, starts, size)
	if err != nil {
		return nil, err
	}
	out := &Product{Model: built.Model}
	for _, s := range built.States {
		out.Seen = append(out.Seen, s.seen)
	}
	return out, nil
}

// Decided reports whether a path in a state has seen a and b.
func (p *Product) Decided(i int) bool { return p.Seen[i] == both }

// Payoff returns the payoff of a decided state, or of a path that remains in the part of another state. avoids says that the event is G !a instead of F a, and q
// is the payoff of a path that never sees b.
func (p *Product) Payoff(i int, avoids bool, q *big.Rat) *big.Rat {
	hasA := p.Seen[i]&seenA != 0
	switch {
	case p.Seen[i]&seenB == 0:
		return q
	case hasA != avoids:
		return big.NewRat(1, 1)
	}
	return new(big.Rat)
}
