package check

import (
	"context"
	"math"
	"math/big"

	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
)

// start is where a product begins: a state of the model, with the state of the
// automaton that has read it.
type start struct {
	state uint32
	auto  int
}

// productModel is the part of model and automaton together that can be reached from
// some starts, without jumps of the automaton. Choices and transitions are
// those of the model; where the automaton has accepted or rejected, the path
// stays for ever.
type productModel struct {
	*sparse.Graph
	auto  *automata.Automaton
	pairs []start  // of each state of the product
	begin []uint32 // the states of the starts
	// choice has the choice of the model for each choice, None for those that
	// stay.
	choice []uint32
}

// multiplier builds a product.
type multiplier struct {
	*reading
	ctx    context.Context
	model  *sparse.Model
	number map[start]uint32
	pairs  []start
	choice []uint32
	out    sparse.Model
	one    uint32 // the weight 1
}

// reading has an automaton read the states of a model.
type reading struct {
	auto    *automata.Automaton
	letters *letters
	steps   [][]int32 // by state of the automaton and letter; -1 is not known
}

// letters has the letter that each state of a model is read as: the i-th is
// list[i].
type letters struct {
	of   []uint32
	list []uint64
}

// newLetters numbers the letters of a model. sets are the propositions.
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

func multiply(ctx context.Context, m *sparse.Model, a *automata.Automaton, l *letters, starts []start) (*productModel, error) {
	x := &multiplier{reading: &reading{auto: a, letters: l}, ctx: ctx, model: m, number: map[start]uint32{}}
	x.out = sparse.Model{Kind: m.Kind, Weights: m.Weights, Rats: m.Rats, Err: m.Err}
	x.one = x.out.One()
	p := &productModel{auto: a, begin: make([]uint32, len(starts))}
	for i, s := range starts {
		p.begin[i] = x.pair(s)
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

func (x *multiplier) pair(s start) uint32 {
	i, ok := x.number[s]
	if !ok {
		i = uint32(len(x.pairs))
		x.number[s] = i
		x.pairs = append(x.pairs, s)
	}
	return i
}

// step returns the state of the automaton after it reads a state of the model.
func (x *reading) step(q int, state uint32) (int, error) {
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
func (x *multiplier) expand(s start) error {
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
			x.out.Target = append(x.out.Target, x.pair(start{t, q}))
		}
		x.out.Weight = append(x.out.Weight, m.Weight[lo:hi]...)
		if m.High != nil {
			x.out.High = append(x.out.High, m.High[lo:hi]...)
		}
	}
	return nil
}

func (x *multiplier) row(choice uint32) {
	x.out.Start = append(x.out.Start, uint32(len(x.out.Target)))
	x.choice = append(x.choice, choice)
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

// project returns the values at the starts.
func (p *productModel) project(v *numbers) *numbers {
	out := newNumbers(len(p.begin), v.acc)
	if v.rat != nil {
		out.rat = make([]*big.Rat, len(p.begin))
	}
	for i, s := range p.begin {
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

// lift returns the entries of x at some places, zero where that is None; nil
// stays nil.
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
