package sparse

import (
	"context"
	"math"
)

// Memory defines the product of a model with what is remembered of a path, such as the state of an
// automaton. P is a state of the model together with the memory there.
type Memory[P comparable] interface {
	// State returns the state of the model.
	State(p P) uint32
	// Step returns what follows p after a transition to state t of the model.
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

// NewProduct explores the product from starts, within the given choices of the model (nil stands for
// all), of which every reached state must have one. The error is ErrTooLarge if it has more states than
// maxStates.
func NewProduct[P comparable](ctx context.Context, m *Model, memory Memory[P], starts []P, choices *Set, maxStates int) (*Product[P], error) {
	x := &Product[P]{Start: make([]uint32, len(starts))}
	numbers := map[P]uint32{}
	number := func(p P) uint32 {
		i, ok := numbers[p]
		if !ok {
			i = uint32(len(x.Pairs))
			numbers[p] = i
			x.Pairs = append(x.Pairs, p)
		}
		return i
	}
	for i, p := range starts {
		x.Start[i] = number(p)
	}
	b := NewDerivedBuilder(m, m.Kind)
	var from P
	var failure error
	successor := func(i int) uint32 {
		to, err := memory.Step(from, m.Target[i])
		if err != nil {
			failure = err
			return None
		}
		return number(to)
	}
	for i := 0; i < len(x.Pairs); i++ { // successor appends to x.Pairs
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.State()
		if from = x.Pairs[i]; memory.Absorbing(from) {
			b.Loop(uint32(i))
			continue
		}
		first, end := m.Choices(int(memory.State(from)))
		for c := first; c < end; c++ {
			if choices != nil && !choices.Has(c) {
				continue
			}
			if b.Copy(c, successor); failure != nil {
				return nil, failure
			}
		}
		if len(x.Pairs) > maxStates || b.NumTransitions() >= math.MaxUint32/2 {
			return nil, ErrTooLarge
		}
	}
	x.Model, x.Choice = b.Finish(), b.Origin
	return x, nil
}
