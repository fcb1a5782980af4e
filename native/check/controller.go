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
	m.objectives = []*objective{{isQuery: true, maximised: true, form: automatonForm, reader: reader}}
	if err := m.buildProduct(); err != nil {
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
	schedulers      []weightedScheduler               // the schedulers of the mixture
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

// controller returns a controller that selects one of the schedulers at random at the start, with the probability of its
// share, and then follows it.
func (m *multi) controller(ctx context.Context, schedulers []weightedScheduler) (*sparse.Controller, error) {
	b := &controllerBuilder{
		multi: m, schedulers: schedulers, endComponents: map[uint32]*sparse.EndComponents{}, components: map[[2]uint32]*acceptingComponent{}, componentNumber: map[*acceptingComponent]int{},
		choicesToGoal: map[componentGoal][]uint32{}, nodeNumber: map[controllerState]uint32{}, memories: map[nodeMemory]uint32{},
	}
	if err := b.addStartNodes(); err != nil {
		return nil, err
	}
	for i := 0; i < len(b.nodeStates); i++ { // moveFrom appends to b.nodeStates
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(b.nodeStates) > maxNodes {
			return nil, m.unsupported(m.property.X, "the scheduler needs a memory of more than %d nodes", maxNodes)
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

// addStartNodes adds a node for each initial state. All start nodes have the same memory, because file formats of
// controllers have no initial memory. If the schedulers begin with different memories, the start nodes are additional ones
// that select a scheduler at random.
func (builder *controllerBuilder) addStartNodes() error {
	sameMemory := len(builder.schedulers) == 1
	var entered []controllerState // for each initial state: the state of the controller under each scheduler
	for _, s := range builder.starts {
		for k := range builder.schedulers {
			state, err := builder.enteredState(k, s)
			if err != nil {
				return err
			}
			entered = append(entered, state)
			sameMemory = sameMemory && builder.memoryOf(state) == builder.memoryOf(entered[0])
		}
	}
	if sameMemory {
		for _, state := range entered {
			builder.result.Start = append(builder.result.Start, builder.nodeOf(state))
		}
		return nil
	}
	for _, s := range builder.starts {
		builder.result.Start = append(builder.result.Start, builder.nodeOf(controllerState{scheduler: -1, node: s}))
	}
	for i, start := range builder.result.Start {
		for k, scheduler := range builder.schedulers {
			move, err := builder.moveFrom(entered[i*len(builder.schedulers)+k])
			if err != nil {
				return err
			}
			move.Prob = scheduler.share
			node := &builder.result.Nodes[start]
			node.Moves = append(node.Moves, move)
		}
	}
	return nil
}

// memoryOf returns the memory that a controller has in one of its states.
func (builder *controllerBuilder) memoryOf(state controllerState) nodeMemory {
	if state.scheduler < 0 {
		return nodeMemory{scheduler: -1}
	}
	var out nodeMemory
	if state.component == nil {
		out = nodeMemory{scheduler: state.scheduler, memory: builder.states[state.node]}
	} else {
		node := state.component.nodes[state.node]
		out = nodeMemory{component: builder.componentNumber[state.component], goal: state.goal, memory: builder.states[node.state], list: node.list}
	}
	out.memory.state = 0 // the state of the model is not part of the controller's memory
	return out
}

// nodeOf returns the number of the node for a state of the controller. It adds a node if there is none.
func (builder *controllerBuilder) nodeOf(state controllerState) uint32 {
	number, isNew := numberOf(builder.nodeNumber, state)
	if !isNew {
		return number
	}
	builder.nodeStates = append(builder.nodeStates, state)
	productState := state.node
	if state.component != nil {
		productState = state.component.nodes[state.node].state
	}
	modelState := builder.states[productState].state
	memory, _ := numberOf(builder.memories, builder.memoryOf(state))
	builder.result.Nodes = append(builder.result.Nodes, sparse.Node{State: modelState, Memory: memory})
	return number
}

// numberOf returns the number of a key. A new key gets the next number; the first one gets 0.
func numberOf[K comparable](numbers map[K]uint32, key K) (number uint32, isNew bool) {
	number, isKnown := numbers[key]
	if !isKnown {
		number = uint32(len(numbers))
		numbers[key] = number
	}
	return number, !isKnown
}

// enteredState returns the state of the controller when a path under a scheduler is in a state of the product. If the scheduler
// ends the path there, the controller continues in an accepting end component.
func (builder *controllerBuilder) enteredState(scheduler int, productState uint32) (controllerState, error) {
	c := builder.choiceOf(scheduler, productState)
	if builder.choice[c] != sparse.None {
		return controllerState{scheduler: scheduler, node: productState}, nil
	}
	satisfied, _ := builder.bestEnd(int(productState), builder.schedulers[scheduler].weights)
	component, firstNode, err := builder.acceptingEnd(satisfied, productState)
	return controllerState{component: component, node: firstNode}, err
}

// choiceOf returns the choice of the product that a scheduler makes in state s. If the scheduler has no choice for the state, it
// returns the last choice of the state, which ends the path.
func (builder *controllerBuilder) choiceOf(scheduler int, s uint32) int {
	choice := builder.schedulers[scheduler].choices[s]
	if choice == sparse.None {
		return builder.lastChoice(int(s))
	}
	return int(choice)
}

// acceptingEnd returns the accepting component that contains a state and satisfies a set of objectives, and the node in which
// the state enters it.
func (builder *controllerBuilder) acceptingEnd(satisfied, state uint32) (*acceptingComponent, uint32, error) {
	endComponents := builder.endComponents[satisfied]
	if endComponents == nil {
		var err error
		endComponents, err = builder.satisfyingComponents(satisfied, builder.choicesWithoutReward(ofMinimised))
		if err != nil {
			return nil, 0, err
		}
		builder.endComponents[satisfied] = endComponents
	}
	key := [2]uint32{satisfied, endComponents.ID[state]}
	component := builder.components[key]
	members := endComponents.Members(int(key[1]))
	if component == nil {
		var err error
		component, err = builder.newAcceptingComponent(satisfied, members, endComponents.Choices)
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
		next, err := builder.enteredState(state.scheduler, target)
		if err != nil {
			return out, err
		}
		out.Next = append(out.Next, builder.nodeOf(next))
	}
	return out, nil
}

// moveInComponent returns a move within an accepting component. The controller first moves to the nodes from which all goals
// can be met. From then on it meets one goal after the other, forever.
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
		out.Next = append(out.Next, builder.nodeOf(controllerState{component: component, node: target, goal: goal}))
	}
	return out
}

// choicesTowards returns, for each node of an accepting component, the choice on the way to a goal.
func (builder *controllerBuilder) choicesTowards(component *acceptingComponent, goal int) []uint32 {
	key := componentGoal{component, goal}
	if choices, ok := builder.choicesToGoal[key]; ok {
		return choices
	}
	choices := make([]uint32, component.NumStates())
	component.Attract(component.sureNodes, component.goodNodes, choices)
	for s := range component.goodNodes.All() { // without goals, a path only has to stay in the component
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
