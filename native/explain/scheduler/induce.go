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

// Induce returns the model that the scheduler induces on an MDP. Where the scheduler allows any choice, it uses the first choice. Rewards and
// labels are not copied. It is an error if the scheduler is not a scheduler of the model. The error can also be ctx.Err().
func (scheduler Scheduler) Induce(ctx context.Context, model *sparse.Model, opts InduceOptions) (*Induced, error) {
	if err := scheduler.validate(model); err != nil {
		return nil, err
	}
	inducer := newInducer(model, scheduler, opts)
	var err error
	if scheduler.Memoryless() {
		err = inducer.numberStates(ctx, opts.Reachable)
	} else {
		err = inducer.numberPairs(ctx)
	}
	if err != nil {
		return nil, err
	}
	return inducer.buildModel(opts)
}

// InducedStates returns the states of the induced model whose state in the MDP is in set.
func (induced *Induced) InducedStates(set *sparse.Set) *sparse.Set {
	result := sparse.NewSet(len(induced.State))
	for i, s := range induced.State {
		if set.Has(int(s)) {
			result.Add(i)
		}
	}
	return result
}

// InducedReward translates a reward structure of the original model to the induced one.
func (induced *Induced) InducedReward(reward *sparse.Reward) *sparse.Reward {
	return &sparse.Reward{
		Name: reward.Name, RelErr: reward.RelErr,
		State: sparse.SelectEntries(reward.State, induced.State), Choice: sparse.SelectEntries(reward.Choice, induced.Choice),
		StateFractions: sparse.SelectEntries(reward.StateFractions, induced.State), ChoiceFractions: sparse.SelectEntries(reward.ChoiceFractions, induced.Choice),
	}
}

// inducer builds an induced model.
type inducer struct {
	model     *sparse.Model
	scheduler Scheduler
	order     []uint32 // InduceOptions.Order; nil for the model's order
	ranks     []uint32 // the inverse of order; nil for the model's order
	induced   Induced
	// The numbers of the states of the induced model.
	stateNumber []uint32                // for a memoryless scheduler
	pairNumber  map[steppedState]uint32 // for a scheduler that counts steps
}

// steppedState is a state of the model after some steps.
type steppedState struct{ step, state uint32 }

// newInducer returns an inducer for a model and a scheduler, whose induced model has no states yet. If opts.Order is set, it lists the states of
// the model in the order in which they are numbered.
func newInducer(model *sparse.Model, scheduler Scheduler, opts InduceOptions) *inducer {
	inducer := &inducer{model: model, scheduler: scheduler, order: opts.Order}
	if inducer.order != nil {
		inducer.ranks = make([]uint32, len(inducer.order))
		for position, s := range inducer.order {
			inducer.ranks[s] = uint32(position)
		}
	}
	return inducer
}

// statesPerPoll is the number of states after which long loops look at the context again.
const statesPerPoll = 1 << 14

// numberStates adds the states of the MDP to the induced model of a memoryless scheduler, in the order of the inducer. If onlyReachable is true,
// it omits states that are not reachable under the scheduler.
func (inducer *inducer) numberStates(ctx context.Context, onlyReachable bool) error {
	numStates := inducer.model.NumStates()
	includedStates := sparse.FullSet(numStates)
	if onlyReachable {
		var err error
		includedStates, err = inducer.reachableStates(ctx)
		if err != nil {
			return err
		}
	}
	inducer.stateNumber = make([]uint32, numStates)
	for position := range numStates {
		s := uint32(position)
		if inducer.order != nil {
			s = inducer.order[position]
		}
		if includedStates.Has(int(s)) {
			inducer.stateNumber[s] = uint32(len(inducer.induced.State))
			inducer.addState(s, 0)
		}
	}
	return nil
}

// numberOf returns the number that a state has in the induced model.
func (inducer *inducer) numberOf(visited steppedState) uint32 {
	if inducer.pairNumber != nil {
		return inducer.pairNumber[visited]
	}
	return inducer.stateNumber[visited.state]
}

// addState appends original state s, after step steps, to the induced model.
func (inducer *inducer) addState(s uint32, step int) {
	inducer.induced.State = append(inducer.induced.State, s)
	inducer.induced.Choice = append(inducer.induced.Choice, inducer.model.ChoiceOrFirst(int(s), inducer.scheduler.Row(step)[s]))
}

// reachableStates returns the states that are reachable under a memoryless scheduler.
func (inducer *inducer) reachableStates(ctx context.Context) (*sparse.Set, error) {
	seen := sparse.NewSet(inducer.model.NumStates())
	queue := slices.Clone(inducer.model.Initial)
	for _, s := range queue {
		seen.Add(int(s))
	}
	for i := 0; i < len(queue); i++ {
		if i%statesPerPoll == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		firstTransition, endTransition := inducer.model.Transitions(int(inducer.model.ChoiceOrFirst(int(queue[i]), inducer.scheduler[0][queue[i]])))
		for _, target := range inducer.model.Target[firstTransition:endTransition] {
			if !seen.Has(int(target)) {
				seen.Add(int(target))
				queue = append(queue, target)
			}
		}
	}
	return seen, nil
}

// numberPairs adds the reachable pairs of a state and a number of steps to the induced model, breadth-first.
func (inducer *inducer) numberPairs(ctx context.Context) error {
	inducer.pairNumber = map[steppedState]uint32{}
	for _, s := range inducer.inOrder(inducer.model.Initial) {
		inducer.addPair(steppedState{0, s})
	}
	for i := 0; i < len(inducer.induced.State); i++ {
		if i%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		firstTransition, endTransition := inducer.model.Transitions(int(inducer.induced.Choice[i]))
		next := inducer.nextStep(inducer.induced.Step[i])
		for _, target := range inducer.inOrder(inducer.model.Target[firstTransition:endTransition]) {
			inducer.addPair(steppedState{next, target})
		}
	}
	return nil
}

// addPair adds a pair of a state and a number of steps to the induced model. It does nothing if the model already has the pair.
func (inducer *inducer) addPair(visited steppedState) {
	if _, hasNumber := inducer.pairNumber[visited]; hasNumber {
		return
	}
	inducer.pairNumber[visited] = uint32(len(inducer.induced.State))
	inducer.addState(visited.state, int(visited.step))
	inducer.induced.Step = append(inducer.induced.Step, visited.step)
}

// nextStep returns the scheduler's row for the next step. The last row is the row of all later steps.
func (inducer *inducer) nextStep(step uint32) uint32 {
	return min(step+1, uint32(len(inducer.scheduler)-1))
}

// inOrder returns the states sorted by their position in inducer.order, or by their numbers if the inducer has no order.
func (inducer *inducer) inOrder(states []uint32) []uint32 {
	return slices.SortedFunc(slices.Values(states), func(left, right uint32) int {
		if inducer.ranks == nil {
			return int(left) - int(right)
		}
		return int(inducer.ranks[left]) - int(inducer.ranks[right])
	})
}

// buildModel builds the transitions of the induced model, whose states are already numbered.
func (inducer *inducer) buildModel(opts InduceOptions) (*Induced, error) {
	kind := sparse.DTMC
	if opts.Restrict {
		kind = sparse.MDP
	}
	builder := sparse.NewBuilder(kind)
	builder.Grow(len(inducer.induced.State), len(inducer.induced.State), len(inducer.induced.State))
	for i := range inducer.induced.State {
		inducer.addRow(builder, i, opts.Restrict)
	}
	model, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	model.RelErr = inducer.model.RelErr
	inducer.copyInitialAndDeadlocks(model)
	inducer.induced.Model = model
	return &inducer.induced, nil
}

// addRow adds state i of the induced model with its transitions, sorted by target. If asMDP is true, the action belongs to the choice, else to
// each transition.
func (inducer *inducer) addRow(builder *sparse.Builder, i int, asMDP bool) {
	choice := int(inducer.induced.Choice[i])
	action := sparse.NoAction
	if inducer.model.Actions != nil {
		action = inducer.model.Actions[choice]
	}
	builder.State()
	transitionAction := action
	if asMDP {
		builder.Choice(action)
		transitionAction = sparse.NoAction
	}
	for _, transition := range inducer.sortedRow(i) {
		if inducer.model.Exact() {
			builder.AddRat(int(transition.target), inducer.model.Fraction(transition.index), transitionAction)
		} else {
			builder.AddAction(int(transition.target), inducer.model.Prob(transition.index), transitionAction)
		}
	}
}

// inducedTransition is a transition of the induced model: its target, and its index in the original model.
type inducedTransition struct {
	target uint32
	index  int
}

// sortedRow returns the transitions of state i of the induced model, sorted by target.
func (inducer *inducer) sortedRow(i int) []inducedTransition {
	step := uint32(0)
	if inducer.induced.Step != nil {
		step = inducer.nextStep(inducer.induced.Step[i])
	}
	var row []inducedTransition
	first, end := inducer.model.Transitions(int(inducer.induced.Choice[i]))
	for index := first; index < end; index++ {
		row = append(row, inducedTransition{inducer.numberOf(steppedState{step, inducer.model.Target[index]}), index})
	}
	slices.SortFunc(row, func(left, right inducedTransition) int { return int(left.target) - int(right.target) })
	return row
}

// copyInitialAndDeadlocks copies the initial states and the deadlocks of the MDP to the induced model. If the scheduler counts steps, only
// states after 0 steps are initial.
func (inducer *inducer) copyInitialAndDeadlocks(model *sparse.Model) {
	initial := sparse.NewSet(inducer.model.NumStates())
	for _, s := range inducer.model.Initial {
		initial.Add(int(s))
	}
	for i, s := range inducer.induced.State {
		isFirstStep := inducer.induced.Step == nil || inducer.induced.Step[i] == 0
		if isFirstStep && initial.Has(int(s)) {
			model.Initial = append(model.Initial, uint32(i))
		}
	}
	if inducer.model.Deadlocks != nil {
		model.Deadlocks = inducer.induced.InducedStates(inducer.model.Deadlocks)
	}
}
