package witness

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"tilecheck/native/explicit/sparse"
)

// Unbounded is Aim.High where any number of steps will do.
const Unbounded = -1

// Aim says which paths are looked for: those that satisfy Left U[Low,High]
// Right, or those that do not. Steps are counted; time is not.
type Aim struct {
	Left, Right *sparse.Set
	Low, High   int
	// Miss asks for the paths that do not. They end in the first state from which no
	// continuation does.
	Miss bool
}

// maxNodes is how many pairs of a state and a number of steps a chain may have.
const maxNodes = 20_000_000

// LimitError says that there are too many pairs of a state and a number of steps.
type LimitError struct{ Limit int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("there are more than %d pairs of a state and a number of steps", e.Limit)
}

// errInexact says that the weights have no fractions.
var errInexact = errors.New("the probabilities have no fractions")

// Chain is the Markov chain whose paths are enumerated: that of a model under a
// scheduler, with the steps counted where the aim or the scheduler does so. Nodes
// are numbered in the order of a breadth-first search; node 0 is the first.
type Chain struct {
	// Model has the nodes as states, all of which are reached. Where a path is decided
	// it stays: there is a self-loop.
	Model *sparse.Model
	// Target are the nodes in which the paths looked for end.
	Target *sparse.Set
	// State and Choice are the state of the model that a node is, and the choice made
	// there; in a Markov chain it is the state.
	State, Choice []uint32

	products *products
}

// unrolling builds a chain.
type unrolling struct {
	m       *sparse.Model
	aim     *Aim
	choices [][]uint32
	layers  int // steps from this one on are not told apart
	nodes   map[uint64]uint32
	layer   []uint32
	weights *weights
	reached []bool // nodes that satisfy the formula
	*Chain
}

// New returns the chain of a model with fractions that begins in a state. In an
// MDP choices[i] has the choice of each state after i steps, sparse.None where
// any will do, and its last row holds for all later steps; it is nil for a
// Markov chain. In a CTMC probabilities are those of the embedded chain.
//
// The error is a *LimitError, the context's, or says that there are no fractions.
func New(ctx context.Context, m *sparse.Model, aim *Aim, choices [][]uint32, from int) (*Chain, error) {
	if !m.Exact() || m.Intervals() {
		return nil, errInexact
	}
	u := &unrolling{m: m, aim: aim, choices: choices, nodes: map[uint64]uint32{}, weights: newWeights(m)}
	u.layers = max(aim.Low, len(choices)-1, 0)
	if aim.High >= 0 {
		u.layers = aim.High
	}
	u.Chain = &Chain{Model: &sparse.Model{Kind: sparse.DTMC, Start: []uint32{0}, Initial: []uint32{0}}}
	if _, err := u.node(from, 0); err != nil {
		return nil, err
	}
	for v := 0; v < len(u.State); v++ {
		if v&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := u.expand(uint32(v)); err != nil {
			return nil, err
		}
	}
	u.finish()
	return u.Chain, nil
}

// node returns the number of a state after some steps.
func (u *unrolling) node(s, step int) (uint32, error) {
	step = min(step, u.layers)
	key := uint64(step)<<32 | uint64(s)
	if v, ok := u.nodes[key]; ok {
		return v, nil
	}
	v := uint32(len(u.State))
	if v >= maxNodes {
		return 0, &LimitError{maxNodes}
	}
	u.nodes[key] = v
	u.State, u.layer = append(u.State, uint32(s)), append(u.layer, uint32(step))
	return v, nil
}

// expand adds the transitions of a node.
func (u *unrolling) expand(v uint32) error {
	s, step := int(u.State[v]), int(u.layer[v])
	choice := u.choice(s, step)
	u.Choice = append(u.Choice, uint32(choice))
	reached := u.aim.Right.Has(s) && step >= u.aim.Low
	u.reached = append(u.reached, reached)
	m := u.Model
	if reached || !u.aim.Left.Has(s) || step == u.aim.High {
		m.Target, m.Weight = append(m.Target, v), append(m.Weight, u.weights.one())
		m.Start = append(m.Start, uint32(len(m.Target)))
		return nil
	}
	targets, weights := u.weights.row(choice)
	for i, t := range targets {
		w, err := u.node(int(t), step+1)
		if err != nil {
			return err
		}
		m.Target, m.Weight = append(m.Target, w), append(m.Weight, weights[i])
	}
	m.Start = append(m.Start, uint32(len(m.Target)))
	return nil
}

func (u *unrolling) choice(s, step int) int {
	first, _ := u.m.Choices(s)
	if len(u.choices) == 0 {
		return first
	}
	if c := u.choices[min(step, len(u.choices)-1)][s]; c != sparse.None {
		return int(c)
	}
	return first
}

// finish finds the targets.
func (u *unrolling) finish() {
	m := u.Model
	m.Rats, m.Err = u.weights.rats, 0x1p-52
	for _, r := range m.Rats {
		x, _ := r.Float64()
		if !sparse.InRange(x) {
			m.Err = inf
		}
		m.Weights = append(m.Weights, x)
	}
	u.products = newProducts(m.Rats)
	reached := sparse.NewSet(len(u.State))
	for v, is := range u.reached {
		if is {
			reached.Add(v)
		}
	}
	if u.Target = reached; u.aim.Miss {
		all := sparse.FullSet(len(u.State))
		u.Target = sparse.NewGraph(m).ExistsUntil(all, reached).Complement()
	}
}

// weights are the probabilities of a chain: those of a model, sums of them where several
// transitions lead to one state, and in a CTMC their shares.
type weights struct {
	m     *sparse.Model
	rats  []*big.Rat
	known map[string]uint32
	same  []uint32 // by weight of the model, plus 1

	targets []uint32
	numbers []uint32
	sums    map[uint32]*big.Rat
}

func newWeights(m *sparse.Model) *weights {
	return &weights{m: m, known: map[string]uint32{}, same: make([]uint32, len(m.Rats)), sums: map[uint32]*big.Rat{}}
}

func (w *weights) number(r *big.Rat) uint32 {
	text := r.RatString()
	n, ok := w.known[text]
	if !ok {
		n = uint32(len(w.rats))
		w.known[text] = n
		w.rats = append(w.rats, r)
	}
	return n
}

func (w *weights) one() uint32 { return w.number(big.NewRat(1, 1)) }

// row returns the targets of a choice, each once, and their probabilities. Both are
// overwritten by the next call.
func (w *weights) row(choice int) (targets, numbers []uint32) {
	first, end := w.m.Row(choice)
	w.targets, w.numbers = w.targets[:0], w.numbers[:0]
	if w.m.Kind == sparse.MDP {
		for i := first; i < end; i++ {
			n := &w.same[w.m.Weight[i]]
			if *n == 0 {
				*n = w.number(w.m.Rat(i)) + 1
			}
			w.targets, w.numbers = append(w.targets, w.m.Target[i]), append(w.numbers, *n-1)
		}
		return w.targets, w.numbers
	}
	clear(w.sums)
	total := new(big.Rat)
	for i := first; i < end; i++ {
		t := w.m.Target[i]
		if w.sums[t] == nil {
			w.sums[t] = new(big.Rat)
			w.targets = append(w.targets, t)
		}
		w.sums[t].Add(w.sums[t], w.m.Rat(i))
		total.Add(total, w.m.Rat(i))
	}
	for _, t := range w.targets {
		w.numbers = append(w.numbers, w.number(w.sums[t].Quo(w.sums[t], total)))
	}
	for _, t := range w.targets {
		delete(w.sums, t) // they belong to the numbers now
	}
	return w.targets, w.numbers
}
