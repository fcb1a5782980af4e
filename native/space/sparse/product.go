package sparse

import (
	"context"
	"math"
)

// Memory defines the product of a model with a memory of the path so far, such as the state of an
// automaton. P is a pair: a state of the model and a value of the memory.
type Memory[P comparable] interface {
	// State returns the state of the model.
	State(pair P) uint32
	// Step returns the next pair if the model moves to the state target.
	Step(pair P, target uint32) (P, error)
	// Absorbing reports whether a pair gets a self-loop instead of the choices of its state.
	Absorbing(pair P) bool
}

// Product is the reachable part of the product of a model with a memory. Choices and transitions are in
// the order of the model.
type Product[P comparable] struct {
	*Model
	Pairs  []P      // of each state of the product
	Choice []uint32 // the choice of the model for each choice, None for self-loops
	Start  []uint32 // the state of the product for each start
}

// NewProduct explores the product of a model with a memory, from the given pairs of a state and a memory value. It uses only the given choices of the model,
// where nil stands for all; every reached state must have at least one of them. The error is ErrTooLarge if the product has more than maxStates states.
func NewProduct[P comparable](ctx context.Context, model *Model, memory Memory[P], starts []P, choices *Set, maxStates int) (*Product[P], error) {
	product := &Product[P]{Start: make([]uint32, len(starts))}
	search := &productSearch[P]{
		model: model, memory: memory, choices: choices, maxStates: maxStates,
		product: product, stateNumbers: make(map[P]uint32), builder: NewDerivedBuilder(model, model.Kind),
	}
	for i, pair := range starts {
		product.Start[i] = search.stateNumber(pair)
	}
	for state := 0; state < len(product.Pairs); state++ { // expand appends to product.Pairs
		if state%pollInterval == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := search.expand(uint32(state)); err != nil {
			return nil, err
		}
	}
	product.Model, product.Choice = search.builder.Finish(), search.builder.Origin
	return product, nil
}

// productSearch explores a product state by state.
type productSearch[P comparable] struct {
	model        *Model
	memory       Memory[P]
	choices      *Set // the choices of the model to use; nil for all
	maxStates    int
	product      *Product[P]
	stateNumbers map[P]uint32 // the state of the product for each pair
	builder      *DerivedBuilder
	currentPair  P     // the pair of the state that expand adds
	stepErr      error // an error of Memory.Step for this pair
}

// stateNumber returns the number of the product state for a pair of a state and a memory value, and adds the pair if it is new.
func (search *productSearch[P]) stateNumber(pair P) uint32 {
	state, isKnown := search.stateNumbers[pair]
	if !isKnown {
		state = uint32(len(search.product.Pairs))
		search.stateNumbers[pair] = state
		search.product.Pairs = append(search.product.Pairs, pair)
	}
	return state
}

// expand adds the choices of a state of the product, and the product states to which they lead. An absorbing state gets a self-loop.
func (search *productSearch[P]) expand(state uint32) error {
	search.builder.State()
	search.currentPair = search.product.Pairs[state]
	if search.memory.Absorbing(search.currentPair) {
		search.builder.Loop(state)
		return nil
	}
	first, end := search.model.Choices(int(search.memory.State(search.currentPair)))
	for choice := first; choice < end; choice++ {
		if search.choices != nil && !search.choices.Has(choice) {
			continue
		}
		search.builder.Copy(choice, search.successor)
		if search.stepErr != nil {
			return search.stepErr
		}
	}
	if len(search.product.Pairs) > search.maxStates || search.builder.NumTransitions() >= math.MaxUint32/2 {
		return ErrTooLarge
	}
	return nil
}

// successor returns the state of the product to which a transition of the model leads from search.currentPair. It returns
// None after an error.
func (search *productSearch[P]) successor(transition int) uint32 {
	pair, err := search.memory.Step(search.currentPair, search.model.Target[transition])
	if err != nil {
		search.stepErr = err
		return None
	}
	return search.stateNumber(pair)
}
