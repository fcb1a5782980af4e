package witness

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"tilecheck/native/space/sparse"
)

// Unbounded is the PathFormula.High of a formula without upper step bound.
const Unbounded = -1

// PathFormula selects paths: those that satisfy Left U[Low,High] Right, or those that violate it. Bounds count
// steps, not time.
type PathFormula struct {
	Left, Right *sparse.Set
	Low, High   int
	// Violating selects the violating paths. Each ends in the first state from which no continuation
	// satisfies the formula.
	Violating bool
}

// maxNodes limits the pairs of a state and a number of steps.
const maxNodes = 20_000_000

// LimitError says that there are too many pairs of a state and a number of steps.
type LimitError struct{ Limit int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("there are more than %d pairs of a state and a number of steps", e.Limit)
}

// errInexact says that the weights are known as float64 or intervals only.
var errInexact = errors.New("the probabilities are not exact")

// Chain is the Markov chain whose paths are enumerated: the model under a scheduler. Its nodes are
// states, paired with the number of steps if the formula or the scheduler depends on it. They are
// numbered breadth-first from node 0.
type Chain struct {
	// Model has the nodes as states, all of them reachable. A node where the path is decided has a
	// self-loop.
	Model *sparse.Model
	// Target are the nodes in which the selected paths end.
	Target *sparse.Set
	// State and Choice are the state of each node, and the choice that the scheduler makes there. In a
	// Markov chain the choice is the state.
	State, Choice []uint32

	products *products
}

// unrolling builds a Chain.
type unrolling struct {
	m         *sparse.Model
	formula   *PathFormula
	choices   [][]uint32
	maxStep   int // greater step numbers are not distinguished
	nodes     map[uint64]uint32
	step      []uint32
	weights   *weights
	satisfied []bool // of each node: the formula is satisfied
	*Chain
}

// New returns the chain of an exact model from a state. In an MDP choices[i] has the choice of each
// state after i steps, or sparse.None for any; its last row holds for all later steps. choices is nil
// for a Markov chain. In a CTMC the probabilities are those of the embedded chain.
//
// The error is a *LimitError, the context's, or says that the model is not exact.
func New(ctx context.Context, m *sparse.Model, formula *PathFormula, choices [][]uint32, from int) (*Chain, error) {
	if !m.Exact() || m.Intervals() {
		return nil, errInexact
	}
	u := &unrolling{m: m, formula: formula, choices: choices, nodes: map[uint64]uint32{}, weights: newWeights(m)}
	u.maxStep = max(formula.Low, len(choices)-1, 0)
	if formula.High >= 0 {
		u.maxStep = formula.High
	}
	u.Chain = &Chain{Model: &sparse.Model{Kind: sparse.DTMC, Start: []uint32{0}, Initial: []uint32{0}}}
	if _, err := u.nodeOf(from, 0); err != nil {
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
	u.setTarget()
	return u.Chain, nil
}

// nodeOf returns the node of a state after some steps, and adds it if it is new.
func (u *unrolling) nodeOf(s, step int) (uint32, error) {
	step = min(step, u.maxStep)
	key := uint64(step)<<32 | uint64(s)
	if v, ok := u.nodes[key]; ok {
		return v, nil
	}
	v := uint32(len(u.State))
	if v >= maxNodes {
		return 0, &LimitError{maxNodes}
	}
	u.nodes[key] = v
	u.State, u.step = append(u.State, uint32(s)), append(u.step, uint32(step))
	return v, nil
}

// expand adds the transitions of a node.
func (u *unrolling) expand(v uint32) error {
	s, step := int(u.State[v]), int(u.step[v])
	choice := u.choiceOf(s, step)
	u.Choice = append(u.Choice, uint32(choice))
	satisfied := u.formula.Right.Has(s) && step >= u.formula.Low
	u.satisfied = append(u.satisfied, satisfied)
	m := u.Model
	if satisfied || !u.formula.Left.Has(s) || step == u.formula.High {
		m.Target, m.Weight = append(m.Target, v), append(m.Weight, u.weights.one())
		m.Start = append(m.Start, uint32(len(m.Target)))
		return nil
	}
	targets, weights := u.weights.rowOf(choice)
	for i, t := range targets {
		w, err := u.nodeOf(int(t), step+1)
		if err != nil {
			return err
		}
		m.Target, m.Weight = append(m.Target, w), append(m.Weight, weights[i])
	}
	m.Start = append(m.Start, uint32(len(m.Target)))
	return nil
}

func (u *unrolling) choiceOf(s, step int) int {
	first, _ := u.m.Choices(s)
	if len(u.choices) == 0 {
		return first
	}
	if c := u.choices[min(step, len(u.choices)-1)][s]; c != sparse.None {
		return int(c)
	}
	return first
}

// setTarget completes the model and computes the target nodes.
func (u *unrolling) setTarget() {
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
	for v, is := range u.satisfied {
		if is {
			reached.Add(v)
		}
	}
	if u.Target = reached; u.formula.Violating {
		all := sparse.FullSet(len(u.State))
		u.Target = sparse.NewGraph(m).ExistsUntil(all, reached).Complement()
	}
}

// weights are the distinct probabilities of a chain: weights of the model, sums of them if several
// transitions lead to one state, and in a CTMC quotients by the exit rate.
type weights struct {
	m               *sparse.Model
	rats            []*big.Rat
	idOfText        map[string]uint32
	idOfModelWeight []uint32 // by weight of the model, plus 1; 0 is unknown

	targets []uint32
	ids     []uint32
	sums    map[uint32]*big.Rat
}

func newWeights(m *sparse.Model) *weights {
	return &weights{m: m, idOfText: map[string]uint32{}, idOfModelWeight: make([]uint32, len(m.Rats)), sums: map[uint32]*big.Rat{}}
}

func (w *weights) idOf(r *big.Rat) uint32 {
	text := r.RatString()
	n, ok := w.idOfText[text]
	if !ok {
		n = uint32(len(w.rats))
		w.idOfText[text] = n
		w.rats = append(w.rats, r)
	}
	return n
}

func (w *weights) one() uint32 { return w.idOf(big.NewRat(1, 1)) }

// rowOf returns the targets of a choice, each once, and the ids of their probabilities. The next call
// overwrites both.
func (w *weights) rowOf(choice int) (targets, numbers []uint32) {
	first, end := w.m.Row(choice)
	w.targets, w.ids = w.targets[:0], w.ids[:0]
	if w.m.Kind == sparse.MDP {
		for i := first; i < end; i++ {
			n := &w.idOfModelWeight[w.m.Weight[i]]
			if *n == 0 {
				*n = w.idOf(w.m.Rat(i)) + 1
			}
			w.targets, w.ids = append(w.targets, w.m.Target[i]), append(w.ids, *n-1)
		}
		return w.targets, w.ids
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
		w.ids = append(w.ids, w.idOf(w.sums[t].Quo(w.sums[t], total)))
	}
	for _, t := range w.targets {
		delete(w.sums, t) // the fractions belong to w.rats now
	}
	return w.targets, w.ids
}
