package check

import (
	"context"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// maxNodes limits the nodes of a controller, as it will be written to a file.
const maxNodes = 2_000_000

// automatonController returns a scheduler that maximizes the probability that an automaton accepts the path. The
// controller's memory is the state of the automaton.
func (e *evaluation) automatonController(reader *automatonReader) (*sparse.Controller, error) {
	m := &multi{evaluation: e}
	m.objectives = []*objective{{query: true, great: true, form: linear, reader: reader}}
	if err := m.build(); err != nil {
		return nil, err
	}
	if err := m.findEnds(nil); err != nil {
		return nil, err
	}
	weights := []*big.Rat{big.NewRat(1, 1)}
	reward, err := m.weightedRewards(weights)
	if err != nil {
		return nil, err
	}
	opts := m.options()
	opts.Scheduler = true
	values, err := solve.TotalReward(e.ctx, m.product, reward, solve.Max, opts)
	if err != nil {
		return nil, err
	}
	return m.controller(e.ctx, []weightedScheduler{{choices: values.Scheduler, weights: weights}})
}

// weightedScheduler is a scheduler of the product, with the weights of the objectives for which it is optimal. share is the
// probability that a mixture selects it; nil for 1.
type weightedScheduler struct {
	choices []uint32
	weights []*big.Rat
	share   *big.Rat
}

// controllerState is a state of the controller: a state of the product under a scheduler of the mixture, or a node of an
// accepting component with the goal to reach next. If scheduler is negative, none is selected yet.
type controllerState struct {
	scheduler int
	component *acceptingComponent
	node      uint32
	goal      int
}

// controllerBuilder builds the controller of a mixture of schedulers.
type controllerBuilder struct {
	*multi
	plans           []weightedScheduler               // the schedulers of the mixture
	endComponents   map[uint32]*sparse.EndComponents  // by the set of objectives that they satisfy
	components      map[[2]uint32]*acceptingComponent // by set of objectives and end component
	componentNumber map[*acceptingComponent]int       // the number of each component, from 1
	choicesToGoal   map[componentGoal][]uint32        // the results of choicesTowards
	nodeNumber      map[controllerState]uint32        // the node of each state of the controller
	nodeStates      []controllerState                 // the state of each node
	memories        map[nodeMemory]uint32             // the number of each memory
	result          sparse.Controller
}

// componentGoal is a goal of an accepting component, by its index.
type componentGoal struct {
	component *acceptingComponent
	goal      int
}

// nodeMemory is the memory of a controller in one of its states: everything but the state of the model.
type nodeMemory struct {
	scheduler, component, goal int
	memory                     memory
	list                       uint32
}

// controller returns the controller that draws one of the schedulers at the start and follows it.
func (m *multi) controller(ctx context.Context, plans []weightedScheduler) (*sparse.Controller, error) {
	b := &controllerBuilder{
		multi: m, plans: plans, endComponents: map[uint32]*sparse.EndComponents{}, components: map[[2]uint32]*acceptingComponent{}, componentNumber: map[*acceptingComponent]int{},
		choicesToGoal: map[componentGoal][]uint32{}, nodeNumber: map[controllerState]uint32{}, memories: map[nodeMemory]uint32{},
	}
	if err := b.addStartNodes(); err != nil {
		return nil, err
	}
	for i := 0; i < len(b.nodeStates); i++ { // moveFrom appends to b.places
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(b.nodeStates) > maxNodes {
			return nil, m.unsupported(m.property.X, "a scheduler with a memory of more than %d nodes is too large", maxNodes)
		}
		if b.nodeStates[i].scheduler < 0 {
			continue // addStartNodes added the moves of this node
		}
		move, err := b.moveFrom(b.nodeStates[i])
		if err != nil {
			return nil, err
		}
		b.result.Nodes[i].Moves = append(b.result.Nodes[i].Moves, move)
	}
	return &b.result, nil
}

// addStartNodes adds the nodes of the initial states. All of them get the same memory, because the formats of files have no
// initial memory. So if the schedulers begin with different memories, additional nodes draw one of them.
func (builder *controllerBuilder) addStartNodes() error {
	sameMemory := len(builder.plans) == 1
	var entered []controllerState // for each initial state: the state of the controller under each scheduler
	for _, s := range builder.starts {
		for k := range builder.plans {
			state, err := builder.enter(k, s)
			if err != nil {
				return err
			}
			entered = append(entered, state)
			sameMemory = sameMemory && builder.remembered(state) == builder.remembered(entered[0])
		}
	}
	if sameMemory {
		for _, state := range entered {
			builder.result.Start = append(builder.result.Start, builder.node(state))
		}
		return nil
	}
	for _, s := range builder.starts {
		builder.result.Start = append(builder.result.Start, builder.node(controllerState{scheduler: -1, node: s}))
	}
	for i, start := range builder.result.Start {
		for k, plan := range builder.plans {
			move, err := builder.moveFrom(entered[i*len(builder.plans)+k])
			if err != nil {
				return err
			}
			move.Prob = plan.share
			node := &builder.result.Nodes[start]
			node.Moves = append(node.Moves, move)
		}
	}
	return nil
}

// remembered returns the memory of the controller in one of its states.
func (builder *controllerBuilder) remembered(state controllerState) nodeMemory {
	if state.scheduler < 0 {
		return nodeMemory{scheduler: -1}
	}
	if state.component == nil {
		out := nodeMemory{scheduler: state.scheduler, memory: builder.states[state.node]}
		out.memory.state = 0
		return out
	}
	n := state.component.nodes[state.node]
	out := nodeMemory{component: builder.componentNumber[state.component], goal: state.goal, memory: builder.states[n.state], list: n.list}
	out.memory.state = 0
	return out
}

// node returns the number of the node for a state of the controller, and adds it if it is new.
func (builder *controllerBuilder) node(state controllerState) uint32 {
	if known, ok := builder.nodeNumber[state]; ok {
		return known
	}
	i := uint32(len(builder.nodeStates))
	builder.nodeNumber[state] = i
	builder.nodeStates = append(builder.nodeStates, state)
	remembered := builder.remembered(state)
	memory, known := builder.memories[remembered]
	if !known {
		memory = uint32(len(builder.memories))
		builder.memories[remembered] = memory
	}
	productState := state.node
	if state.component != nil {
		productState = state.component.nodes[state.node].state
	}
	builder.result.Nodes = append(builder.result.Nodes, sparse.Node{State: builder.states[productState].state, Memory: memory})
	return i
}

// enter returns the state of the controller in state s of the product under a scheduler. If the scheduler ends the path there,
// the controller enters the accepting component.
func (builder *controllerBuilder) enter(plan int, s uint32) (controllerState, error) {
	c := builder.choiceOf(plan, s)
	if builder.choice[c] != sparse.None {
		return controllerState{scheduler: plan, node: s}, nil
	}
	satisfied, _ := builder.bestEnd(int(s), builder.plans[plan].weights)
	component, firstNode, err := builder.acceptingEnd(satisfied, s)
	return controllerState{component: component, node: firstNode}, err
}

// choiceOf returns the choice of the product that a scheduler makes in state s. If the scheduler has none, it is the last
// choice, which ends the path.
func (builder *controllerBuilder) choiceOf(plan int, s uint32) int {
	if c := builder.plans[plan].choices[s]; c != sparse.None {
		return int(c)
	}
	return builder.last(int(s))
}

// acceptingEnd returns the accepting component that contains a state and satisfies a set of objectives, and the node in which
// the state enters it.
func (builder *controllerBuilder) acceptingEnd(satisfied, state uint32) (*acceptingComponent, uint32, error) {
	ends := builder.endComponents[satisfied]
	if ends == nil {
		var err error
		ends, err = builder.satisfyingComponents(satisfied, builder.choicesWithoutReward(false))
		if err != nil {
			return nil, 0, err
		}
		builder.endComponents[satisfied] = ends
	}
	key := [2]uint32{satisfied, ends.ID[state]}
	component := builder.components[key]
	members := ends.Members(int(key[1]))
	if component == nil {
		var err error
		component, err = builder.newAcceptingComponent(satisfied, members, ends.Choices)
		if err != nil {
			return nil, 0, err
		}
		builder.components[key] = component
		builder.componentNumber[component] = len(builder.components)
	}
	for index, s := range members {
		if s == state {
			return component, component.startNode[index], nil
		}
	}
	return nil, 0, builder.unsupported(builder.property.X, "found a scheduler that ends a path outside the accepting end components")
}

// moveFrom returns the move of the controller in one of its states.
func (builder *controllerBuilder) moveFrom(state controllerState) (sparse.Move, error) {
	if state.component != nil {
		return builder.moveInComponent(state), nil
	}
	c := builder.choiceOf(state.scheduler, state.node)
	out := sparse.Move{Choice: builder.choice[c]}
	first, end := builder.product.Row(c)
	for _, target := range builder.product.Target[first:end] {
		next, err := builder.enter(state.scheduler, target)
		if err != nil {
			return out, err
		}
		out.Next = append(out.Next, builder.node(next))
	}
	return out, nil
}

// moveInComponent returns a move within an accepting component. The controller first moves to the nodes in which all goals can
// be met, and then to one goal after the other, forever.
func (builder *controllerBuilder) moveInComponent(state controllerState) sparse.Move {
	component, goal := state.component, state.goal
	if component.goodNodes.Has(int(state.node)) {
		for range component.goals { // skip the goals that the node meets
			if !component.goals[goal].Has(int(state.node)) {
				break
			}
			goal = (goal + 1) % len(component.goals)
		}
	}
	c := builder.choicesTowards(component, goal)[state.node]
	out := sparse.Move{Choice: builder.choice[component.choice[c]]}
	first, end := component.Row(int(c))
	for _, target := range component.Target[first:end] {
		out.Next = append(out.Next, builder.node(controllerState{component: component, node: target, goal: goal}))
	}
	return out
}

// choicesTowards returns, for each node of an accepting component, the choice on the way to a goal.
func (builder *controllerBuilder) choicesTowards(component *acceptingComponent, goal int) []uint32 {
	key := componentGoal{component, goal}
	if known, ok := builder.choicesToGoal[key]; ok {
		return known
	}
	choices := make([]uint32, component.NumStates())
	component.Attract(component.sureNodes, component.goodNodes, choices)
	for s := range component.goodNodes.All() { // without goals, any choice that stays is right
		first, end := component.Choices(s)
		for c := first; c < end; c++ {
			if component.stayingChoices.Has(c) {
				choices[s] = uint32(c)
				break
			}
		}
	}
	if len(component.goals) > 0 {
		component.Approach(component.stayingChoices, component.goals[goal].Intersect(component.goodNodes), choices)
	}
	builder.choicesToGoal[key] = choices
	return choices
}
