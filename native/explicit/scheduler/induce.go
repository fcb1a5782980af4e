package scheduler

import (
	"context"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// InduceOptions says which part of an induced model to keep, and in which form.
// A scheduler that counts steps has the reachable part always.
type InduceOptions struct {
	// Reachable leaves out the states that the scheduler does not reach.
	Reachable bool
	// Restrict keeps an MDP, with one choice per state, instead of a DTMC.
	Restrict bool
	// Order lists the states of the model in the order in which they are to be
	// numbered; nil is the model's own. Where steps are counted a breadth-first
	// search numbers the states, that takes successors in this order.
	Order []uint32
}

// Induced is the model that is left when a scheduler makes all choices. The
// transitions of a state are sorted by target.
type Induced struct {
	Model *sparse.Model
	// State and Choice are the state of the original model that each state
	// stands for and the choice made there.
	State, Choice []uint32
	// Step is the number of steps that have been taken, as far as they are
	// counted; nil for a memoryless scheduler.
	Step []uint32
}

// Induce returns the model that a scheduler leaves of an MDP. Where any choice
// will do it takes the first. Rewards and labels of m are not copied. The error
// is that of the context, or of a scheduler that does not fit the model.
func (x Scheduler) Induce(ctx context.Context, m *sparse.Model, opts InduceOptions) (*Induced, error) {
	if err := x.validate(m); err != nil {
		return nil, err
	}
	b := newBuild(m, x, opts)
	if x.Memoryless() {
		if err := b.memoryless(ctx, opts.Reachable); err != nil {
			return nil, err
		}
	} else if err := b.search(ctx); err != nil {
		return nil, err
	}
	return b.finish(opts)
}

// Set returns the states that stand for the members of a set.
func (in *Induced) Set(set *sparse.Set) *sparse.Set {
	out := sparse.NewSet(len(in.State))
	for i, s := range in.State {
		if set.Has(int(s)) {
			out.Add(i)
		}
	}
	return out
}

// Reward returns the rewards of the original model under the scheduler.
func (in *Induced) Reward(r *sparse.Reward) *sparse.Reward {
	return &sparse.Reward{
		Name: r.Name, Err: r.Err,
		State: project(r.State, in.State), Choice: project(r.Choice, in.Choice),
		StateRat: project(r.StateRat, in.State), ChoiceRat: project(r.ChoiceRat, in.Choice),
	}
}

// project returns the entries of x with the given numbers; nil stays nil.
func project[T any](x []T, numbers []uint32) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(numbers))
	for i, j := range numbers {
		out[i] = x[j]
	}
	return out
}

// build numbers the states of an induced model.
type build struct {
	m     *sparse.Model
	x     Scheduler
	order []uint32 // nil for the model's own
	rank  []uint32 // the inverse; nil for the model's own
	out   Induced
	// number returns the number of a state after some steps.
	number func(step, s uint32) uint32
}

func newBuild(m *sparse.Model, x Scheduler, opts InduceOptions) *build {
	b := &build{m: m, x: x, order: opts.Order}
	if b.order != nil {
		b.rank = make([]uint32, len(b.order))
		for k, s := range b.order {
			b.rank[s] = uint32(k)
		}
	}
	return b
}

const statesPerPoll = 1 << 14

// memoryless numbers all states, or those that are reached, in order.
func (b *build) memoryless(ctx context.Context, reachable bool) error {
	n := b.m.NumStates()
	keep := sparse.FullSet(n)
	if reachable {
		var err error
		if keep, err = b.reached(ctx); err != nil {
			return err
		}
	}
	number := make([]uint32, n)
	for k := range n {
		s := uint32(k)
		if b.order != nil {
			s = b.order[k]
		}
		if keep.Has(int(s)) {
			number[s] = uint32(len(b.out.State))
			b.add(s, 0)
		}
	}
	b.number = func(_, s uint32) uint32 { return number[s] }
	return nil
}

// add appends an induced state.
func (b *build) add(s uint32, step int) {
	b.out.State = append(b.out.State, s)
	b.out.Choice = append(b.out.Choice, uint32(take(b.m, b.x.Row(step), int(s))))
}

// reached returns the states that a memoryless scheduler reaches.
func (b *build) reached(ctx context.Context) (*sparse.Set, error) {
	seen := sparse.NewSet(b.m.NumStates())
	queue := slices.Clone(b.m.Initial)
	for _, s := range queue {
		seen.Add(int(s))
	}
	for i := 0; i < len(queue); i++ {
		if i%statesPerPoll == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		lo, hi := b.m.Row(take(b.m, b.x[0], int(queue[i])))
		for _, t := range b.m.Target[lo:hi] {
			if !seen.Has(int(t)) {
				seen.Add(int(t))
				queue = append(queue, t)
			}
		}
	}
	return seen, nil
}

// search numbers the reachable pairs of a state and a number of steps.
func (b *build) search(ctx context.Context) error {
	type pair struct{ step, state uint32 }
	number := map[pair]uint32{}
	visit := func(p pair) {
		if _, ok := number[p]; ok {
			return
		}
		number[p] = uint32(len(b.out.State))
		b.add(p.state, int(p.step))
		b.out.Step = append(b.out.Step, p.step)
	}
	b.number = func(step, s uint32) uint32 { return number[pair{step, s}] }
	for _, s := range b.sorted(b.m.Initial) {
		visit(pair{0, s})
	}
	for i := 0; i < len(b.out.State); i++ {
		if i%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		lo, hi := b.m.Row(int(b.out.Choice[i]))
		next := b.next(b.out.Step[i])
		for _, t := range b.sorted(b.m.Target[lo:hi]) {
			visit(pair{next, t})
		}
	}
	return nil
}

// next counts one more step, up to the last row.
func (b *build) next(step uint32) uint32 { return min(step+1, uint32(len(b.x)-1)) }

// sorted returns states in the order asked for.
func (b *build) sorted(states []uint32) []uint32 {
	return slices.SortedFunc(slices.Values(states), func(s, t uint32) int {
		if b.rank == nil {
			return int(s) - int(t)
		}
		return int(b.rank[s]) - int(b.rank[t])
	})
}

// finish builds the model.
func (b *build) finish(opts InduceOptions) (*Induced, error) {
	kind := sparse.DTMC
	if opts.Restrict {
		kind = sparse.MDP
	}
	sb := sparse.NewBuilder(kind)
	sb.Grow(len(b.out.State), len(b.out.State), len(b.out.State))
	for i := range b.out.State {
		b.row(sb, i, opts.Restrict)
	}
	m, err := sb.Finish()
	if err != nil {
		return nil, err
	}
	m.Err = b.m.Err
	b.marks(m)
	b.out.Model = m
	return &b.out, nil
}

// row appends an induced state and its transitions.
func (b *build) row(sb *sparse.Builder, i int, restrict bool) {
	c, step := int(b.out.Choice[i]), uint32(0)
	if b.out.Step != nil {
		step = b.next(b.out.Step[i])
	}
	action, each := sparse.NoAction, sparse.NoAction
	if b.m.Actions != nil {
		action, each = b.m.Actions[c], b.m.Actions[c]
	}
	sb.State()
	if restrict {
		sb.Choice(action)
		each = sparse.NoAction
	}
	type transition struct {
		target uint32
		at     int
	}
	var row []transition
	lo, hi := b.m.Row(c)
	for t := lo; t < hi; t++ {
		row = append(row, transition{b.number(step, b.m.Target[t]), t})
	}
	slices.SortFunc(row, func(t, u transition) int { return int(t.target) - int(u.target) })
	for _, t := range row {
		if b.m.Exact() {
			sb.AddRat(int(t.target), b.m.Rat(t.at), each)
		} else {
			sb.AddAction(int(t.target), b.m.Prob(t.at), each)
		}
	}
}

// marks copies the initial states and the deadlocks.
func (b *build) marks(m *sparse.Model) {
	initial := sparse.NewSet(b.m.NumStates())
	for _, s := range b.m.Initial {
		initial.Add(int(s))
	}
	for i, s := range b.out.State {
		if initial.Has(int(s)) && (b.out.Step == nil || b.out.Step[i] == 0) {
			m.Initial = append(m.Initial, uint32(i))
		}
	}
	if b.m.Deadlocks != nil {
		m.Deadlocks = b.out.Set(b.m.Deadlocks)
	}
}
