package sparse

import (
	"context"
	"math"
)

// Memory defines the product of a model with a memory of the path so far, such as the state of an
// automaton. P is a pair: a state of the model and a value of the memory.
type Memory[P comparable] interface {
	// State returns the state of the model.
	State(p P) uint32
	// Step returns the pair after p if the model moves to state t.
	Step(p P, t uint32) (P, error)
	// Absorbing reports whether p gets a self-loop instead of the choices of its state.
	Absorbing(p P) bool
}

// Product is the reachable part of the product of a model with a memory. Choices and transitions are in
// the order of the model.
type Product[P comparable] struct {
	*Model
	Pairs  []P      // of each state of the product
	Choice []uint32 // the choice of the model for each choice, None for self-loops
	Start  []uint32 // the state of the product for each start
}

// NewProduct explores the product from the pairs in starts. It uses the given choices of the model only, and
// every reached state must have at least one of them; nil stands for all. The error is ErrTooLarge if the
// product has more states than maxStates.
func NewProduct[P comparable](ctx context.Context, model *Model, memory Memory[P], starts []P, choices *Set, maxStates int) (*Product[P], error) {
	product := &Product[P]{Start: make([]uint32, len(starts))}
	numbers := map[P]uint32{}
	number := func(p P) uint32 {
		i, ok := numbers[p]
		if !ok {
			i = uint32(len(product.Pairs))
			numbers[p] = i
			product.Pairs = append(product.Pairs, p)
		}
		return i
	}
	for i, p := range starts {
		product.Start[i] = number(p)
	}
	builder := NewDerivedBuilder(model, model.Kind)
	var from P
	var failure error
	successor := func(i int) uint32 {
		to, err := memory.Step(from, model.Target[i])
		if err != nil {
			failure = err
			return None
		}
		return number(to)
	}
	for i := 0; i < len(product.Pairs); i++ { // successor appends to product.Pairs
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		builder.State()
		from = product.Pairs[i]
		if memory.Absorbing(from) {
			builder.Loop(uint32(i))
			continue
		}
		first, end := model.Choices(int(memory.State(from)))
		for c := first; c < end; c++ {
			if choices != nil && !choices.Has(c) {
				continue
			}
			builder.Copy(c, successor)
			if failure != nil {
				return nil, failure
			}
		}
		if len(product.Pairs) > maxStates || builder.NumTransitions() >= math.MaxUint32/2 {
			return nil, ErrTooLarge
		}
	}
	product.Model, product.Choice = builder.Finish(), builder.Origin
	return product, nil
}
