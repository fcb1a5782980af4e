package scheduler

import (
	"context"
	"slices"

	"tilecheck/native/space/sparse"
)

// InduceOptions select the part of an induced model, and its form. For schedulers that count steps it
// always is the reachable part.
type InduceOptions struct {
	// Reachable omits unreachable states.
	Reachable bool
	// Restrict returns an MDP with one choice per state instead of a DTMC.
	Restrict bool
	// Order lists the states of the model in the order in which they are numbered; nil stands for the
	// model's order. For schedulers that count steps, a breadth-first search that visits successors in
	// this order numbers the states.
	Order []uint32
}

// Induced is the model that a scheduler induces. The transitions of a state are sorted by target.
type Induced struct {
	Model *sparse.Model
	// State and Choice are the original state of each state, and the choice made there.
	State, Choice []uint32
	// Step is the number of steps taken, up to the last row of the scheduler; nil for a memoryless
	// scheduler.
	Step []uint32
}

// Induce returns the model that a scheduler induces of an MDP. Where any choice will do it takes the
// first. Rewards and labels of m are not copied. The error is the context's, or says that the scheduler
// does not fit the model.
func (x Scheduler) Induce(ctx context.Context, m *sparse.Model, opts InduceOptions) (*Induced, error) {
	if err := x.validate(m); err != nil {
		return nil, err
	}
	b := newInducer(m, x, opts)
	if x.Memoryless() {
		if err := b.numberStates(ctx, opts.Reachable); err != nil {
			return nil, err
		}
	} else if err := b.numberPairs(ctx); err != nil {
		return nil, err
	}
	return b.finish(opts)
}

// Set returns the states whose original state is in a set.
func (in *Induced) Set(set *sparse.Set) *sparse.Set {
	out := sparse.NewSet(len(in.State))
	for i, s := range in.State {
		if set.Has(int(s)) {
			out.Add(i)
		}
	}
	return out
}

// Reward returns a reward structure of the original model for the induced one.
func (in *Induced) Reward(r *sparse.Reward) *sparse.Reward {
	return &sparse.Reward{
		Name: r.Name, Err: r.Err,
		State: selectEntries(r.State, in.State), Choice: selectEntries(r.Choice, in.Choice),
		StateRat: selectEntries(r.StateRat, in.State), ChoiceRat: selectEntries(r.ChoiceRat, in.Choice),
	}
}

// selectEntries returns the entries of x with the given numbers; nil stays nil.
func selectEntries[T any](x []T, numbers []uint32) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(numbers))
	for i, j := range numbers {
		out[i] = x[j]
	}
	return out
}

// inducer builds an induced model.
type inducer struct {
	model     *sparse.Model
	scheduler Scheduler
	order     []uint32 // nil for the model's own
	rank      []uint32 // the inverse; nil for the model's own
	out       Induced
	// numberOf returns the number of a state after some steps.
	numberOf func(step, s uint32) uint32
}

func newInducer(m *sparse.Model, x Scheduler, opts InduceOptions) *inducer {
	b := &inducer{model: m, scheduler: x, order: opts.Order}
	if b.order != nil {
		b.rank = make([]uint32, len(b.order))
		for k, s := range b.order {
			b.rank[s] = uint32(k)
		}
	}
	return b
}

const statesPerPoll = 1 << 14

// numberStates numbers all states, or the reachable ones, for a memoryless scheduler.
func (b *inducer) numberStates(ctx context.Context, reachable bool) error {
	n := b.model.NumStates()
	keep := sparse.FullSet(n)
	if reachable {
		var err error
		if keep, err = b.reachable(ctx); err != nil {
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
	b.numberOf = func(_, s uint32) uint32 { return number[s] }
	return nil
}

// add appends a state of the induced model.
func (b *inducer) add(s uint32, step int) {
	b.out.State = append(b.out.State, s)
	b.out.Choice = append(b.out.Choice, uint32(choiceOrFirst(b.model, b.scheduler.Row(step), int(s))))
}

// reachable returns the states that a memoryless scheduler reaches.
func (b *inducer) reachable(ctx context.Context) (*sparse.Set, error) {
	seen := sparse.NewSet(b.model.NumStates())
	queue := slices.Clone(b.model.Initial)
	for _, s := range queue {
		seen.Add(int(s))
	}
	for i := 0; i < len(queue); i++ {
		if i%statesPerPoll == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		lo, hi := b.model.Row(choiceOrFirst(b.model, b.scheduler[0], int(queue[i])))
		for _, t := range b.model.Target[lo:hi] {
			if !seen.Has(int(t)) {
				seen.Add(int(t))
				queue = append(queue, t)
			}
		}
	}
	return seen, nil
}

// numberPairs numbers the reachable pairs of a state and a number of steps.
func (b *inducer) numberPairs(ctx context.Context) error {
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
	b.numberOf = func(step, s uint32) uint32 { return number[pair{step, s}] }
	for _, s := range b.inOrder(b.model.Initial) {
		visit(pair{0, s})
	}
	for i := 0; i < len(b.out.State); i++ {
		if i%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		lo, hi := b.model.Row(int(b.out.Choice[i]))
		next := b.nextStep(b.out.Step[i])
		for _, t := range b.inOrder(b.model.Target[lo:hi]) {
			visit(pair{next, t})
		}
	}
	return nil
}

// nextStep returns the number of steps after one more, at most that of the last row.
func (b *inducer) nextStep(step uint32) uint32 { return min(step+1, uint32(len(b.scheduler)-1)) }

// inOrder sorts states by InduceOptions.Order.
func (b *inducer) inOrder(states []uint32) []uint32 {
	return slices.SortedFunc(slices.Values(states), func(s, t uint32) int {
		if b.rank == nil {
			return int(s) - int(t)
		}
		return int(b.rank[s]) - int(b.rank[t])
	})
}

// finish builds the model.
func (b *inducer) finish(opts InduceOptions) (*Induced, error) {
	kind := sparse.DTMC
	if opts.Restrict {
		kind = sparse.MDP
	}
	sb := sparse.NewBuilder(kind)
	sb.Grow(len(b.out.State), len(b.out.State), len(b.out.State))
	for i := range b.out.State {
		b.addRow(sb, i, opts.Restrict)
	}
	m, err := sb.Finish()
	if err != nil {
		return nil, err
	}
	m.Err = b.model.Err
	b.copyMarks(m)
	b.out.Model = m
	return &b.out, nil
}

// addRow adds the transitions of state i of the induced model.
func (b *inducer) addRow(sb *sparse.Builder, i int, restrict bool) {
	c, step := int(b.out.Choice[i]), uint32(0)
	if b.out.Step != nil {
		step = b.nextStep(b.out.Step[i])
	}
	action, transitionAction := sparse.NoAction, sparse.NoAction
	if b.model.Actions != nil {
		action, transitionAction = b.model.Actions[c], b.model.Actions[c]
	}
	sb.State()
	if restrict {
		sb.Choice(action)
		transitionAction = sparse.NoAction
	}
	type transition struct {
		target uint32
		at     int
	}
	var row []transition
	lo, hi := b.model.Row(c)
	for t := lo; t < hi; t++ {
		row = append(row, transition{b.numberOf(step, b.model.Target[t]), t})
	}
	slices.SortFunc(row, func(t, u transition) int { return int(t.target) - int(u.target) })
	for _, t := range row {
		if b.model.Exact() {
			sb.AddRat(int(t.target), b.model.Rat(t.at), transitionAction)
		} else {
			sb.AddAction(int(t.target), b.model.Prob(t.at), transitionAction)
		}
	}
}

// copyMarks copies initial states and deadlocks.
func (b *inducer) copyMarks(m *sparse.Model) {
	initial := sparse.NewSet(b.model.NumStates())
	for _, s := range b.model.Initial {
		initial.Add(int(s))
	}
	for i, s := range b.out.State {
		if initial.Has(int(s)) && (b.out.Step == nil || b.out.Step[i] == 0) {
			m.Initial = append(m.Initial, uint32(i))
		}
	}
	if b.model.Deadlocks != nil {
		m.Deadlocks = b.out.Set(b.model.Deadlocks)
	}
}
