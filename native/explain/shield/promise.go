package shield

import (
	"context"
	"fmt"
	"math/big"

	"tilecheck/native/space/sparse"
)

// Promise has the probability of the formula, from the first initial state, under several schedulers. A
// scheduler is allowed if it makes only choices that the shield allows.
type Promise struct {
	Best    Number // under the best allowed scheduler
	Worst   Number // under the worst allowed scheduler
	Uniform Number // if the allowed choices of a state are equally likely
	Free    Number // if all choices of a state are equally likely
	// Obeying is the allowed scheduler that attains Worst.
	Obeying []uint32
}

// Promise computes the probabilities under the shield. They are exact if the shield was computed exactly.
func (x *Shield) Promise(ctx context.Context) (*Promise, error) {
	exact := x.stateValue.exact != nil
	m := x.restricted()
	uniform, err := uniformChain(m, exact)
	if err != nil {
		return nil, err
	}
	free, err := uniformChain(x.Space.Model(), exact)
	if err != nil {
		return nil, err
	}
	first := int(x.Space.Model().Initial[0])
	probability := func(m *sparse.Model, maximize bool) (Number, []uint32, error) {
		v, choices, err := x.solve(ctx, sparse.NewGraph(m), maximize, exact)
		if err != nil {
			return Number{}, nil, err
		}
		return v.number(first), choices, nil
	}
	p := &Promise{}
	if p.Best, _, err = probability(m, x.Max); err != nil {
		return nil, err
	}
	worst, choices, err := probability(m, !x.Max)
	if err != nil {
		return nil, err
	}
	p.Worst = worst
	p.Obeying = x.originalChoices(choices)
	if p.Uniform, _, err = probability(uniform, x.Max); err != nil {
		return nil, err
	}
	p.Free, _, err = probability(free, x.Max)
	return p, err
}

// originalChoices translates a scheduler of the restricted model to choices of the model. In a state without
// a choice of the scheduler it takes the first allowed one.
func (x *Shield) originalChoices(choices []uint32) []uint32 {
	m := x.Space.Model()
	out := make([]uint32, m.NumStates())
	kept := uint32(0) // the number of choice c in the restricted model
	for s := range out {
		out[s] = sparse.None
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			if !x.Allowed.Has(c) {
				continue
			}
			if out[s] == sparse.None || choices[s] == kept {
				out[s] = uint32(c)
			}
			kept++
		}
	}
	return out
}

// BrokenPromise says that a shielded model or a scheduler has other values than the promised ones.
type BrokenPromise struct{ found string }

func (e *BrokenPromise) Error() string { return e.found + ", and not what was promised" }

// Confirm solves a shielded model, and returns a *BrokenPromise unless its best and its worst value are the promised ones.
func (p *Promise) Confirm(ctx context.Context, shielded *Question) error {
	all, err := New(ctx, shielded, &Options{Threshold: big.NewRat(2, 1), Exact: p.Best.Exact != nil})
	if err != nil {
		return err
	}
	again, err := all.Promise(ctx)
	if err != nil {
		return err
	}
	if !again.Best.Same(p.Best) || !again.Worst.Same(p.Worst) {
		return &BrokenPromise{fmt.Sprintf("its values are %v and %v", again.Best.Value(), again.Worst.Value())}
	}
	return nil
}

// ConfirmScheduler returns a *BrokenPromise unless the obeying scheduler attains the worst value.
func (x *Shield) ConfirmScheduler(ctx context.Context, p *Promise) error {
	attained, err := x.Attains(ctx, p.Obeying)
	if err != nil {
		return err
	}
	if !attained.Same(p.Worst) {
		return &BrokenPromise{fmt.Sprintf("the scheduler attains %v", attained.Value())}
	}
	return nil
}

// Attains returns the probability that a memoryless scheduler attains from the first initial state. choices
// has its choice in each state.
func (x *Shield) Attains(ctx context.Context, choices []uint32) (Number, error) {
	m := x.Space.Model()
	chosen := sparse.NewSet(m.NumChoices())
	for _, c := range choices {
		chosen.Add(int(c))
	}
	v, _, err := x.solve(ctx, sparse.NewGraph(m.Restrict(chosen)), x.Max, x.stateValue.exact != nil)
	if err != nil {
		return Number{}, err
	}
	return v.number(int(m.Initial[0])), nil
}

// uniformChain returns the Markov chain in which all choices of a state are equally likely. If exact is false,
// a state may have several transitions to the same target.
func uniformChain(m *sparse.Model, exact bool) (*sparse.Model, error) {
	builder := sparse.NewBuilder(sparse.DTMC)
	for s := range m.NumStates() {
		builder.State()
		first, end := m.Choices(s)
		from, to := int(m.Start[first]), int(m.Start[end])
		if !exact {
			for i := from; i < to; i++ {
				builder.Add(int(m.Target[i]), m.Prob(i)/float64(end-first))
			}
			continue
		}
		var order []uint32
		sums := map[uint32]*big.Rat{}
		for i := from; i < to; i++ {
			target := m.Target[i]
			if sums[target] == nil {
				sums[target] = new(big.Rat)
				order = append(order, target)
			}
			sums[target].Add(sums[target], m.Rat(i))
		}
		share := big.NewRat(1, int64(end-first))
		for _, target := range order {
			builder.AddRat(int(target), sums[target].Mul(sums[target], share), sparse.NoAction)
		}
	}
	out, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	out.Initial = m.Initial
	if !exact {
		out.Err = m.Err + 0x1p-51 // rounding of the quotients
	}
	return out, nil
}

// Figures say how permissive a shield is. They count only states that are reachable under the shield.
type Figures struct {
	States     int // reachable states
	Deciding   int // states with several choices in which the formula is not decided yet
	Restricted int // deciding states with a choice that is not allowed
	Choices    int // choices of deciding states
	Allowed    int // allowed choices of deciding states
}

// Figures counts the reachable states and the choices that are allowed in them.
func (x *Shield) Figures() Figures {
	var f Figures
	m := x.Space.Model()
	initial := sparse.NewSet(m.NumStates())
	for _, s := range m.Initial {
		initial.Add(int(s))
	}
	for s := range reachableFrom(x.restricted(), initial).All() {
		f.States++
		first, end := m.Choices(s)
		if end-first < 2 || x.isDecided(s) {
			continue
		}
		allowed := 0
		for c := first; c < end; c++ {
			if x.Allowed.Has(c) {
				allowed++
			}
		}
		f.Deciding++
		f.Choices += end - first
		f.Allowed += allowed
		if allowed < end-first {
			f.Restricted++
		}
	}
	return f
}

// reachableFrom returns the states that are reachable from a set.
func reachableFrom(m *sparse.Model, from *sparse.Set) *sparse.Set {
	out := from.Clone()
	var stack []int
	for s := range from.All() {
		stack = append(stack, s)
	}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		first, end := m.Choices(s)
		for _, target := range m.Target[m.Start[first]:m.Start[end]] {
			if !out.Has(int(target)) {
				out.Add(int(target))
				stack = append(stack, int(target))
			}
		}
	}
	return out
}
