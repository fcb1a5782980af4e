package condition

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
)

// The parts of a product, by what a path has seen. Both is the part of decided states.
const (
	seenA = 1 << iota
	seenB
	both = seenA | seenB
)

// Product is the product of an MDP with what a path has seen of a and b. Its first states are the states of the model, in their order. The others follow
// in the order of a breadth-first search, choice by choice, successors in the order of the model's states.
type Product struct {
	*certificate.Model
	Seen []uint8 // by state
}

// New returns the product. It is an error if it has more states than size.
func New(ctx context.Context, model *certificate.Model, size int, a, b certificate.Bits) (*Product, error) {
	out := &certificate.Model{Kind: model.Kind, Start: []uint32{0}, Numbers: append(slices.Clip(model.Numbers), big.NewRat(1, 1))}
	if model.First != nil {
		out.First = []uint32{0}
	}
	product := &Product{Model: out}
	var of []uint32
	index := make(map[[2]uint32]uint32)
	indexOf := func(s uint32, before uint8) uint32 {
		seen := before
		if a.Has(int(s)) {
			seen |= seenA
		}
		if b.Has(int(s)) {
			seen |= seenB
		}
		key := [2]uint32{s, uint32(seen)}
		i, ok := index[key]
		if !ok {
			i = uint32(len(of))
			index[key] = i
			of, product.Seen = append(of, s), append(product.Seen, seen)
		}
		return i
	}
	for s := range model.NumStates() {
		indexOf(uint32(s), 0)
	}
	for i := 0; i < len(of); i++ { // indexOf appends to of
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		first, end := model.Choices(int(of[i]))
		if product.Decided(i) {
			end = first
			out.Target, out.Prob = append(out.Target, uint32(i)), append(out.Prob, uint32(len(model.Numbers)))
			out.Start = append(out.Start, uint32(len(out.Target)))
		}
		for c := first; c < end; c++ {
			lo, hi := model.Row(c)
			for _, to := range slices.Sorted(slices.Values(model.Target[lo:hi])) { // the numbers must not depend on the order of transitions in a file
				indexOf(to, product.Seen[i])
			}
			for _, to := range model.Target[lo:hi] {
				out.Target = append(out.Target, indexOf(to, product.Seen[i]))
			}
			out.Prob = append(out.Prob, model.Prob[lo:hi]...)
			out.Start = append(out.Start, uint32(len(out.Target)))
		}
		if out.First != nil {
			out.First = append(out.First, uint32(len(out.Start)-1))
		}
		if len(of) > size || len(out.Target) >= certificate.None {
			return nil, errors.New("the product with what a path has seen has more states than it says")
		}
	}
	return product, nil
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
