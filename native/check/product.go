package check

import (
	"context"
	"math"
	"math/big"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
)

// productState is a state of the product: a state of the model, and the state of the automaton after it has read that.
type productState struct {
	state uint32
	auto  int
}

// productModel is the part of the product of a model and an automaton that can be reached from some states without jumps of
// the automaton. Its choices and transitions are those of the model. A state whose automaton has accepted or rejected has a
// self-loop.
type productModel struct {
	*sparse.Graph
	auto        *automata.Automaton
	pairs       []productState // of each state of the product
	startStates []uint32       // the states of the starts
	// choice has the choice of the model for each choice, None for those that
	// stay.
	choice []uint32
}

// productBuilder builds a product.
type productBuilder struct {
	*automatonReader
	ctx    context.Context
	model  *sparse.Model
	number map[productState]uint32
	pairs  []productState
	choice []uint32
	out    sparse.Model
	one    uint32 // the weight 1
}

// automatonReader lets an automaton read the states of a model.
type automatonReader struct {
	auto    *automata.Automaton
	letters *letters
	steps   [][]int32 // by state of the automaton and letter; -1 is not known
}

// letters has the letter that each state of a model is read as: state s is list[of[s]].
type letters struct {
	of   []uint32
	list []uint64
}

// newLetters numbers the letters of a model. Bit i of a letter says whether the state is in the i-th set.
func newLetters(n int, sets []*sparse.Set) *letters {
	l := &letters{of: make([]uint32, n)}
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
			i = uint32(len(l.list))
			number[letter] = i
			l.list = append(l.list, letter)
		}
		l.of[s] = i
	}
	return l
}

// newProduct builds the product from the given states.
func newProduct(ctx context.Context, m *sparse.Model, a *automata.Automaton, l *letters, starts []productState) (*productModel, error) {
	x := &productBuilder{automatonReader: &automatonReader{auto: a, letters: l}, ctx: ctx, model: m, number: map[productState]uint32{}}
	x.out = sparse.Model{Kind: m.Kind, Weights: m.Weights, Rats: m.Rats, Err: m.Err}
	x.one = x.out.One()
	p := &productModel{auto: a, startStates: make([]uint32, len(starts))}
	for i, s := range starts {
		p.startStates[i] = x.index(s)
	}
	for i := 0; i < len(x.pairs); i++ { // the list grows
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := x.expand(x.pairs[i]); err != nil {
			return nil, err
		}
		if len(x.pairs) >= math.MaxInt32 || len(x.out.Target) >= math.MaxUint32 {
			return nil, sparse.ErrTooLarge
		}
	}
	if m.First != nil {
		x.out.First = append(x.out.First, uint32(len(x.out.Start)))
	}
	x.out.Start = append(x.out.Start, uint32(len(x.out.Target)))
	p.Graph, p.pairs, p.choice = sparse.NewGraph(&x.out), x.pairs, x.choice
	return p, nil
}

func (x *productBuilder) index(s productState) uint32 {
	i, ok := x.number[s]
	if !ok {
		i = uint32(len(x.pairs))
		x.number[s] = i
		x.pairs = append(x.pairs, s)
	}
	return i
}

// step returns the state of the automaton after it reads a state of the model.
func (x *automatonReader) step(q int, state uint32) (int, error) {
	for q >= len(x.steps) {
		row := make([]int32, len(x.letters.list))
		for i := range row {
			row[i] = -1
		}
		x.steps = append(x.steps, row)
	}
	letter := x.letters.of[state]
	if to := x.steps[q][letter]; to >= 0 {
		return int(to), nil
	}
	to, err := x.auto.Step(q, x.letters.list[letter])
	x.steps[q][letter] = int32(to)
	return to, err
}

// expand appends the choices of a state.
func (x *productBuilder) expand(s productState) error {
	m := x.model
	if m.First != nil {
		x.out.First = append(x.out.First, uint32(len(x.out.Start)))
	}
	if c := x.auto.Class(s.auto); c == automata.Accepted || c == automata.Rejected {
		x.row(sparse.None)
		x.out.Target = append(x.out.Target, x.number[s])
		x.out.Weight = append(x.out.Weight, x.one)
		if m.High != nil {
			x.out.High = append(x.out.High, x.one)
		}
		return nil
	}
	first, end := m.Choices(int(s.state))
	for c := first; c < end; c++ {
		x.row(uint32(c))
		lo, hi := m.Row(c)
		for _, t := range m.Target[lo:hi] {
			q, err := x.step(s.auto, t)
			if err != nil {
				return err
			}
			x.out.Target = append(x.out.Target, x.index(productState{t, q}))
		}
		x.out.Weight = append(x.out.Weight, m.Weight[lo:hi]...)
		if m.High != nil {
			x.out.High = append(x.out.High, m.High[lo:hi]...)
		}
	}
	return nil
}

func (x *productBuilder) row(choice uint32) {
	x.out.Start = append(x.out.Start, uint32(len(x.out.Target)))
	x.choice = append(x.choice, choice)
}

// states returns the states whose automaton state has a class.
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

// project returns the values of the states from which the product was built.
func (p *productModel) project(v *numbers) *numbers {
	out := newNumbers(len(p.startStates), v.acc)
	if v.rat != nil {
		out.rat = make([]*big.Rat, len(p.startStates))
	}
	for i, s := range p.startStates {
		out.put(i, v.at(int(s)))
	}
	return out
}

// reward returns the rewards of the model in the product.
func (p *productModel) reward(r *sparse.Reward) *sparse.Reward {
	states := make([]uint32, len(p.pairs))
	for i, s := range p.pairs {
		states[i] = s.state
	}
	return &sparse.Reward{
		Name: r.Name, Err: r.Err,
		State: lift(r.State, states), StateRat: lift(r.StateRat, states),
		Choice: lift(r.Choice, p.choice), ChoiceRat: lift(r.ChoiceRat, p.choice),
	}
}

// lift returns the entries of x at the given indices, zero for None. If x is nil, so is the result.
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
