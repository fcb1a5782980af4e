package check

import (
	"context"
	"math"
	"slices"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
)

// productState is a state of the product: a state of the model, and the state of the automaton after it has read the letter of
// that state.
type productState struct {
	state          uint32
	automatonState int
}

// productModel is the product of a model with the initial part of an automaton, without its jumps. States in which the
// automaton has accepted or rejected have a self-loop only.
type productModel struct {
	*sparse.Graph
	automaton   *automata.Automaton
	pairs       []productState // the pair of each state of the product
	startStates []uint32       // the state of the product for each start
	modelChoice []uint32       // the choice of the model for each choice, None for self-loops
}

// automatonReader lets an automaton read the states of a model.
type automatonReader struct {
	automaton  *automata.Automaton
	letters    *letters
	successors [][]int32 // the successor for each state of the automaton and number of a letter; -1 if it is not known yet
}

// letters has the letter of each state of a model, which an automaton reads. The letter of state s is distinct[index[s]].
type letters struct {
	letterNumber    []uint32 // for each state: the index of its letter
	distinctLetters []uint64 // each letter once
}

// newLetters computes the letter that an automaton reads in each state. Bit i of a letter is 1 if the state is in sets[i].
func newLetters(numStates int, sets []*sparse.Set) *letters {
	letters := &letters{letterNumber: make([]uint32, numStates)}
	letterNumbers := map[uint64]uint32{}
	for s := range numStates {
		letter := uint64(0)
		for i, set := range sets {
			if set.Has(s) {
				letter |= 1 << i
			}
		}
		index, isNew := addKey(letterNumbers, letter)
		if isNew {
			letters.distinctLetters = append(letters.distinctLetters, letter)
		}
		letters.letterNumber[s] = index
	}
	return letters
}

// newProduct builds the product of a model with the initial component of an automaton, from the given start states.
func newProduct(ctx context.Context, model *sparse.Model, automaton *automata.Automaton, letters *letters, starts []productState) (*productModel, error) {
	memory := automatonMemory{&automatonReader{automaton: automaton, letters: letters}}
	product, err := sparse.NewProduct(ctx, model, memory, starts, nil, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	return newProductModel(product, automaton), nil
}

// newProductModel returns a product with an automaton as a graph. automaton may be nil if no caller needs it.
func newProductModel(product *sparse.Product[productState], automaton *automata.Automaton) *productModel {
	return &productModel{Graph: sparse.NewGraph(product.Model), automaton: automaton, pairs: product.Pairs, startStates: product.Start, modelChoice: product.Choice}
}

// automatonMemory is the sparse.Memory of the product with an automaton.
type automatonMemory struct{ *automatonReader }

// State returns the state of the model.
func (memory automatonMemory) State(pair productState) uint32 { return pair.state }

// Step returns the pair after a transition to state target of the model.
func (memory automatonMemory) Step(pair productState, target uint32) (productState, error) {
	automatonState, err := memory.nextState(pair.automatonState, target)
	return productState{target, automatonState}, err
}

// Absorbing reports whether the automaton has accepted or rejected.
func (memory automatonMemory) Absorbing(pair productState) bool {
	class := memory.automaton.Class(pair.automatonState)
	return class == automata.Accepted || class == automata.Rejected
}

// nextState returns the state of the automaton after it reads the letter of a state of the model. automatonState is its state before. The results
// are cached.
func (reader *automatonReader) nextState(automatonState int, modelState uint32) (int, error) {
	const unknown = -1
	for automatonState >= len(reader.successors) { // the automaton adds states when they are first reached
		unknownSuccessors := slices.Repeat([]int32{unknown}, len(reader.letters.distinctLetters))
		reader.successors = append(reader.successors, unknownSuccessors)
	}
	letterNumber := reader.letters.letterNumber[modelState]
	if successor := reader.successors[automatonState][letterNumber]; successor != unknown {
		return int(successor), nil
	}
	successor, err := reader.automaton.Step(automatonState, reader.letters.distinctLetters[letterNumber])
	if err != nil {
		return 0, err
	}
	reader.successors[automatonState][letterNumber] = int32(successor)
	return successor, nil
}

// states returns the states of the product whose automaton state has the given class.
func (product *productModel) states(class automata.Class) *sparse.Set {
	states := sparse.NewSet(product.NumStates())
	for i, pair := range product.pairs {
		if product.automaton.Class(pair.automatonState) == class {
			states.Add(i)
		}
	}
	return states
}

// allStates returns the set of all states of the product.
func (p *productModel) allStates() *sparse.Set { return sparse.FullSet(p.NumStates()) }

// valuesInModel returns the values of the states of the model from the values of the product. State s of the model has the value of start s.
func (product *productModel) valuesInModel(values *numbers) *numbers {
	projected := values.zeros(len(product.startStates))
	for s, start := range product.startStates {
		projected.setNumber(s, values.numberAt(int(start)))
	}
	return projected
}

// productReward translates a reward structure of the model to the product.
func (product *productModel) productReward(reward *sparse.Reward) *sparse.Reward {
	states := make([]uint32, len(product.pairs))
	for i, pair := range product.pairs {
		states[i] = pair.state
	}
	return selectRewards(reward, states, product.modelChoice)
}

// selectRewards returns a reward structure with the rewards of the given states and choices. The index sparse.None stands for the reward 0.
func selectRewards(reward *sparse.Reward, states, choices []uint32) *sparse.Reward {
	return &sparse.Reward{
		Name: reward.Name, RelErr: reward.RelErr,
		State: selectValues(reward.State, states), StateFractions: selectValues(reward.StateFractions, states),
		Choice: selectValues(reward.Choice, choices), ChoiceFractions: selectValues(reward.ChoiceFractions, choices),
	}
}

// selectValues returns a list with values[index] for each index in indexes, and with the zero value for the index sparse.None. It returns nil if
// values is nil.
func selectValues[T any](values []T, indexes []uint32) []T {
	if values == nil {
		return nil
	}
	selected := make([]T, len(indexes))
	for i, index := range indexes {
		if index != sparse.None {
			selected[i] = values[index]
		}
	}
	return selected
}
