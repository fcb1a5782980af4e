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
	// Order lists the states of the model in the order in which the induced model numbers them; nil
	// stands for the model's order. If the scheduler counts steps, the states are numbered by a
	// breadth-first search that visits successors in this order.
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

// Induce returns the model that the scheduler induces of an MDP. If the scheduler allows any choice in a
// state, the first is taken. Rewards and labels of m are not copied. The error is the context's, or says
// that the scheduler does not fit the model.
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

// Set translates a set of states of the original model: it returns the states of the induced model whose
// original state is in the set.
func (in *Induced) Set(set *sparse.Set) *sparse.Set {
	out := sparse.NewSet(len(in.State))
	for i, s := range in.State {
		if set.Has(int(s)) {
			out.Add(i)
		}
	}
	return out
}

// Reward translates a reward structure of the original model to the induced one.
func (in *Induced) Reward(reward *sparse.Reward) *sparse.Reward {
	return &sparse.Reward{
		Name: reward.Name, Err: reward.Err,
		State: selectEntries(reward.State, in.State), Choice: selectEntries(reward.Choice, in.Choice),
		StateRat: selectEntries(reward.StateRat, in.State), ChoiceRat: selectEntries(reward.ChoiceRat, in.Choice),
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
	order     []uint32 // InduceOptions.Order; nil for the model's order
	rank      []uint32 // the inverse of order; nil for the model's order
	induced   Induced
	// numberOf returns the number of a state after some steps.
	numberOf func(step, s uint32) uint32
}

// newInducer returns an inducer without states.
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

// statesPerPoll is the number of states after which long loops look at the context again.
const statesPerPoll = 1 << 14

// numberStates numbers all states, or the reachable ones, for a memoryless scheduler.
func (b *inducer) numberStates(ctx context.Context, reachable bool) error {
	n := b.model.NumStates()
	kept := sparse.FullSet(n)
	if reachable {
		var err error
		kept, err = b.reachable(ctx)
		if err != nil {
			return err
		}
	}
	number := make([]uint32, n)
	for k := range n {
		s := uint32(k)
		if b.order != nil {
			s = b.order[k]
		}
		if kept.Has(int(s)) {
			number[s] = uint32(len(b.induced.State))
			b.addState(s, 0)
		}
	}
	b.numberOf = func(_, s uint32) uint32 { return number[s] }
	return nil
}

// addState appends a state of the induced model: original state s after some steps.
func (b *inducer) addState(s uint32, step int) {
	b.induced.State = append(b.induced.State, s)
	b.induced.Choice = append(b.induced.Choice, uint32(choiceOrFirst(b.model, b.scheduler.Row(step), int(s))))
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
		for _, target := range b.model.Target[lo:hi] {
			if !seen.Has(int(target)) {
				seen.Add(int(target))
				queue = append(queue, target)
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
		number[p] = uint32(len(b.induced.State))
		b.addState(p.state, int(p.step))
		b.induced.Step = append(b.induced.Step, p.step)
	}
	b.numberOf = func(step, s uint32) uint32 { return number[pair{step, s}] }
	for _, s := range b.inOrder(b.model.Initial) {
		visit(pair{0, s})
	}
	for i := 0; i < len(b.induced.State); i++ {
		if i%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		lo, hi := b.model.Row(int(b.induced.Choice[i]))
		next := b.nextStep(b.induced.Step[i])
		for _, target := range b.inOrder(b.model.Target[lo:hi]) {
			visit(pair{next, target})
		}
	}
	return nil
}

// nextStep returns the row of the scheduler after one more step. The last row holds for all later steps.
func (b *inducer) nextStep(step uint32) uint32 { return min(step+1, uint32(len(b.scheduler)-1)) }

// inOrder returns states sorted by InduceOptions.Order.
func (b *inducer) inOrder(states []uint32) []uint32 {
	return slices.SortedFunc(slices.Values(states), func(left, right uint32) int {
		if b.rank == nil {
			return int(left) - int(right)
		}
		return int(b.rank[left]) - int(b.rank[right])
	})
}

// finish builds the model from its numbered states.
func (b *inducer) finish(opts InduceOptions) (*Induced, error) {
	kind := sparse.DTMC
	if opts.Restrict {
		kind = sparse.MDP
	}
	builder := sparse.NewBuilder(kind)
	builder.Grow(len(b.induced.State), len(b.induced.State), len(b.induced.State))
	for i := range b.induced.State {
		b.addRow(builder, i, opts.Restrict)
	}
	m, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	m.Err = b.model.Err
	b.copyMarks(m)
	b.induced.Model = m
	return &b.induced, nil
}

// addRow adds the transitions of state i of the induced model, sorted by target.
func (b *inducer) addRow(builder *sparse.Builder, i int, restrict bool) {
	c := int(b.induced.Choice[i])
	step := uint32(0)
	if b.induced.Step != nil {
		step = b.nextStep(b.induced.Step[i])
	}
	action := sparse.NoAction
	if b.model.Actions != nil {
		action = b.model.Actions[c]
	}
	builder.State()
	transitionAction := action
	if restrict { // in an MDP choices have the actions
		builder.Choice(action)
		transitionAction = sparse.NoAction
	}
	type transition struct {
		target uint32
		index  int // in the original model
	}
	var row []transition
	first, end := b.model.Row(c)
	for index := first; index < end; index++ {
		row = append(row, transition{b.numberOf(step, b.model.Target[index]), index})
	}
	slices.SortFunc(row, func(t, u transition) int { return int(t.target) - int(u.target) })
	for _, t := range row {
		if b.model.Exact() {
			builder.AddRat(int(t.target), b.model.Rat(t.index), transitionAction)
		} else {
			builder.AddAction(int(t.target), b.model.Prob(t.index), transitionAction)
		}
	}
}

// copyMarks translates the initial states and the deadlocks of the original model to m.
func (b *inducer) copyMarks(m *sparse.Model) {
	initial := sparse.NewSet(b.model.NumStates())
	for _, s := range b.model.Initial {
		initial.Add(int(s))
	}
	for i, s := range b.induced.State {
		if initial.Has(int(s)) && (b.induced.Step == nil || b.induced.Step[i] == 0) {
			m.Initial = append(m.Initial, uint32(i))
		}
	}
	if b.model.Deadlocks != nil {
		m.Deadlocks = b.induced.Set(b.model.Deadlocks)
	}
}
