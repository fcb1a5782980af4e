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

// Induce returns the model that the scheduler induces on an MDP. In a state where the scheduler allows any choice, it takes the
// first choice. Rewards and labels are not copied. The error is the context's, or the scheduler does not fit the model.
func (scheduler Scheduler) Induce(ctx context.Context, model *sparse.Model, opts InduceOptions) (*Induced, error) {
	if err := scheduler.validate(model); err != nil {
		return nil, err
	}
	inducer := newInducer(model, scheduler, opts)
	if scheduler.Memoryless() {
		if err := inducer.numberStates(ctx, opts.Reachable); err != nil {
			return nil, err
		}
	} else if err := inducer.numberPairs(ctx); err != nil {
		return nil, err
	}
	return inducer.finish(opts)
}

// Set returns the induced states whose original state is in the given set.
func (in *Induced) Set(set *sparse.Set) *sparse.Set {
	translated := sparse.NewSet(len(in.State))
	for i, s := range in.State {
		if set.Has(int(s)) {
			translated.Add(i)
		}
	}
	return translated
}

// Reward translates a reward structure of the original model to the induced one.
func (in *Induced) Reward(reward *sparse.Reward) *sparse.Reward {
	return &sparse.Reward{
		Name: reward.Name, Err: reward.Err,
		State: selectEntries(reward.State, in.State), Choice: selectEntries(reward.Choice, in.Choice),
		StateRat: selectEntries(reward.StateRat, in.State), ChoiceRat: selectEntries(reward.ChoiceRat, in.Choice),
	}
}

// selectEntries returns entries[i] for each index i. It returns nil if entries is nil.
func selectEntries[T any](entries []T, indexes []uint32) []T {
	if entries == nil {
		return nil
	}
	selected := make([]T, len(indexes))
	for position, index := range indexes {
		selected[position] = entries[index]
	}
	return selected
}

// inducer builds an induced model.
type inducer struct {
	model     *sparse.Model
	scheduler Scheduler
	order     []uint32 // InduceOptions.Order; nil for the model's order
	rank      []uint32 // the inverse of order; nil for the model's order
	induced   Induced
	// The numbers of the states of the induced model.
	stateNumber []uint32                // for a memoryless scheduler
	pairNumber  map[steppedState]uint32 // for a scheduler that counts steps
}

// steppedState is a state of the model after some steps.
type steppedState struct{ step, state uint32 }

// newInducer returns an inducer whose induced model has no states yet.
func newInducer(model *sparse.Model, scheduler Scheduler, opts InduceOptions) *inducer {
	inducer := &inducer{model: model, scheduler: scheduler, order: opts.Order}
	if inducer.order != nil {
		inducer.rank = make([]uint32, len(inducer.order))
		for position, s := range inducer.order {
			inducer.rank[s] = uint32(position)
		}
	}
	return inducer
}

// statesPerPoll is the number of states after which long loops look at the context again.
const statesPerPoll = 1 << 14

// numberStates numbers the states of the model for a memoryless scheduler. If onlyReachable is true, it omits unreachable states.
func (b *inducer) numberStates(ctx context.Context, onlyReachable bool) error {
	numStates := b.model.NumStates()
	included := sparse.FullSet(numStates)
	if onlyReachable {
		var err error
		included, err = b.reachable(ctx)
		if err != nil {
			return err
		}
	}
	b.stateNumber = make([]uint32, numStates)
	for position := range numStates {
		s := uint32(position)
		if b.order != nil {
			s = b.order[position]
		}
		if included.Has(int(s)) {
			b.stateNumber[s] = uint32(len(b.induced.State))
			b.addState(s, 0)
		}
	}
	return nil
}

// numberOf returns the number that a state has in the induced model.
func (b *inducer) numberOf(visited steppedState) uint32 {
	if b.pairNumber != nil {
		return b.pairNumber[visited]
	}
	return b.stateNumber[visited.state]
}

// addState appends original state s, after step steps, to the induced model.
func (b *inducer) addState(s uint32, step int) {
	b.induced.State = append(b.induced.State, s)
	b.induced.Choice = append(b.induced.Choice, uint32(choiceOrFirst(b.model, b.scheduler.Row(step), int(s))))
}

// reachable returns the states that are reachable under a memoryless scheduler.
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
		firstTransition, endTransition := b.model.Row(choiceOrFirst(b.model, b.scheduler[0], int(queue[i])))
		for _, target := range b.model.Target[firstTransition:endTransition] {
			if !seen.Has(int(target)) {
				seen.Add(int(target))
				queue = append(queue, target)
			}
		}
	}
	return seen, nil
}

// numberPairs numbers the reachable pairs of a state and a number of steps, breadth-first.
func (b *inducer) numberPairs(ctx context.Context) error {
	b.pairNumber = map[steppedState]uint32{}
	for _, s := range b.inOrder(b.model.Initial) {
		b.addPair(steppedState{0, s})
	}
	for i := 0; i < len(b.induced.State); i++ {
		if i%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		firstTransition, endTransition := b.model.Row(int(b.induced.Choice[i]))
		next := b.nextStep(b.induced.Step[i])
		for _, target := range b.inOrder(b.model.Target[firstTransition:endTransition]) {
			b.addPair(steppedState{next, target})
		}
	}
	return nil
}

// addPair adds a pair of a state and a number of steps to the induced model, unless it was added before.
func (b *inducer) addPair(visited steppedState) {
	if _, hasNumber := b.pairNumber[visited]; hasNumber {
		return
	}
	b.pairNumber[visited] = uint32(len(b.induced.State))
	b.addState(visited.state, int(visited.step))
	b.induced.Step = append(b.induced.Step, visited.step)
}

// nextStep returns the scheduler's row for the next step. The last row is the row of all later steps.
func (b *inducer) nextStep(step uint32) uint32 { return min(step+1, uint32(len(b.scheduler)-1)) }

// inOrder returns the states sorted by rank, or by number if there are no ranks.
func (b *inducer) inOrder(states []uint32) []uint32 {
	return slices.SortedFunc(slices.Values(states), func(left, right uint32) int {
		if b.rank == nil {
			return int(left) - int(right)
		}
		return int(b.rank[left]) - int(b.rank[right])
	})
}

// finish builds the induced model from its numbered states.
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
	model, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Err = b.model.Err
	b.copyInitialAndDeadlocks(model)
	b.induced.Model = model
	return &b.induced, nil
}

// addRow adds state i of the induced model and its transitions, sorted by target. The action belongs to the state's choice if asMDP
// is true, else to each transition.
func (b *inducer) addRow(builder *sparse.Builder, i int, asMDP bool) {
	choice := int(b.induced.Choice[i])
	action := sparse.NoAction
	if b.model.Actions != nil {
		action = b.model.Actions[choice]
	}
	builder.State()
	if asMDP {
		builder.Choice(action)
		action = sparse.NoAction
	}
	for _, next := range b.sortedRow(i) {
		if b.model.Exact() {
			builder.AddRat(int(next.target), b.model.Rat(next.index), action)
		} else {
			builder.AddAction(int(next.target), b.model.Prob(next.index), action)
		}
	}
}

// inducedTransition is a transition of the induced model: its target, and its index in the original model.
type inducedTransition struct {
	target uint32
	index  int
}

// sortedRow returns the transitions of state i of the induced model, sorted by target.
func (b *inducer) sortedRow(i int) []inducedTransition {
	step := uint32(0)
	if b.induced.Step != nil {
		step = b.nextStep(b.induced.Step[i])
	}
	var row []inducedTransition
	first, end := b.model.Row(int(b.induced.Choice[i]))
	for index := first; index < end; index++ {
		row = append(row, inducedTransition{b.numberOf(steppedState{step, b.model.Target[index]}), index})
	}
	slices.SortFunc(row, func(a, b inducedTransition) int { return int(a.target) - int(b.target) })
	return row
}

// copyInitialAndDeadlocks translates the initial states and the deadlocks to the induced model. If the scheduler counts steps,
// only states of step 0 are initial.
func (b *inducer) copyInitialAndDeadlocks(model *sparse.Model) {
	initial := sparse.NewSet(b.model.NumStates())
	for _, s := range b.model.Initial {
		initial.Add(int(s))
	}
	for i, s := range b.induced.State {
		isFirstStep := b.induced.Step == nil || b.induced.Step[i] == 0
		if isFirstStep && initial.Has(int(s)) {
			model.Initial = append(model.Initial, uint32(i))
		}
	}
	if b.model.Deadlocks != nil {
		model.Deadlocks = b.induced.Set(b.model.Deadlocks)
	}
}
