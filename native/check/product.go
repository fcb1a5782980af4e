package check

import (
	"context"
	"math"
	"math/big"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
)

// productState is a state of the product: a state of the model, and the state of the automaton after it has read the letter of
// that state.
type productState struct {
	state uint32
	auto  int
}

// productModel is the product of a model with the initial part of an automaton, without its jumps. States in which the
// automaton has accepted or rejected have a self-loop only.
type productModel struct {
	*sparse.Graph
	auto        *automata.Automaton
	pairs       []productState // the pair of each state of the product
	startStates []uint32       // the state of the product for each start
	choice      []uint32       // the choice of the model for each choice, None for self-loops
}

// automatonReader lets an automaton read the states of a model.
type automatonReader struct {
	auto    *automata.Automaton
	letters *letters
	steps   [][]int32 // the successor for each state of the automaton and number of a letter; -1 if it is not known yet
}

// letters has the letter of each state of a model: that of state s is list[of[s]].
type letters struct {
	numberOf []uint32
	distinct []uint64
}

// newLetters returns the letters of n states. Bit i of a letter says whether the state is in the i-th set.
func newLetters(n int, sets []*sparse.Set) *letters {
	l := &letters{numberOf: make([]uint32, n)}
	number := map[uint64]uint32{}
	for s := range n {
		letter := uint64(0)
		for i, set := range sets {
			if set.Has(s) {
				letter |= 1 << i
			}
		}
		i, ok := number[letter]
		if !ok {
			i = uint32(len(l.distinct))
			number[letter] = i
			l.distinct = append(l.distinct, letter)
		}
		l.numberOf[s] = i
	}
	return l
}

// newProduct builds the product from the given states.
func newProduct(ctx context.Context, m *sparse.Model, a *automata.Automaton, l *letters, starts []productState) (*productModel, error) {
	x, err := sparse.NewProduct(ctx, m, automatonMemory{&automatonReader{auto: a, letters: l}}, starts, nil, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	return &productModel{sparse.NewGraph(x.Model), a, x.Pairs, x.Start, x.Choice}, nil
}

// automatonMemory is the sparse.Memory of the product with an automaton.
type automatonMemory struct{ *automatonReader }

// State returns the state of the model.
func (m automatonMemory) State(p productState) uint32 { return p.state }

// Step returns the pair after a transition to state target of the model.
func (m automatonMemory) Step(p productState, target uint32) (productState, error) {
	q, err := m.step(p.auto, target)
	return productState{target, q}, err
}

// Absorbing reports whether the automaton has accepted or rejected.
func (m automatonMemory) Absorbing(p productState) bool {
	c := m.auto.Class(p.auto)
	return c == automata.Accepted || c == automata.Rejected
}

// step returns the state of the automaton after it reads the letter of a state of the model in state q. It keeps the results.
func (reader *automatonReader) step(q int, state uint32) (int, error) {
	for q >= len(reader.steps) {
		row := make([]int32, len(reader.letters.distinct))
		for i := range row {
			row[i] = -1
		}
		reader.steps = append(reader.steps, row)
	}
	letter := reader.letters.numberOf[state]
	if to := reader.steps[q][letter]; to >= 0 {
		return int(to), nil
	}
	to, err := reader.auto.Step(q, reader.letters.distinct[letter])
	reader.steps[q][letter] = int32(to)
	return to, err
}

// states returns the states whose automaton state is of a class.
func (p *productModel) states(c automata.Class) *sparse.Set {
	out := sparse.NewSet(p.NumStates())
	for i, s := range p.pairs {
		if p.auto.Class(s.auto) == c {
			out.Add(i)
		}
	}
	return out
}

// all returns the set of all states of the product.
func (p *productModel) all() *sparse.Set { return sparse.FullSet(p.NumStates()) }

// project returns the values of the starts of the product, which are the states of the model in order.
func (p *productModel) project(values *numbers) *numbers {
	out := newNumbers(len(p.startStates), values.acc)
	if values.rat != nil {
		out.rat = make([]*big.Rat, len(p.startStates))
	}
	for i, s := range p.startStates {
		out.put(i, values.at(int(s)))
	}
	return out
}

// reward translates a reward structure of the model to the product.
func (p *productModel) reward(reward *sparse.Reward) *sparse.Reward {
	states := make([]uint32, len(p.pairs))
	for i, s := range p.pairs {
		states[i] = s.state
	}
	return &sparse.Reward{
		Name: reward.Name, Err: reward.Err,
		State: lift(reward.State, states), StateRat: lift(reward.StateRat, states),
		Choice: lift(reward.Choice, p.choice), ChoiceRat: lift(reward.ChoiceRat, p.choice),
	}
}

// lift returns a slice whose entry i is x[at[i]], zero if at[i] is None; nil stays nil.
func lift[T any](x []T, at []uint32) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(at))
	for i, j := range at {
		if j != sparse.None {
			out[i] = x[j]
		}
	}
	return out
}
