package check

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// maxNodes limits the nodes of a controller, as it will be written to a file.
const maxNodes = 2_000_000

// automatonController returns a scheduler that maximizes the probability that an automaton accepts the path. The state of the automaton is the
// scheduler's memory.
func (e *evaluation) automatonController(reader *automatonReader) (*sparse.Controller, error) {
	multi := &multiEvaluation{evaluation: e} // multi(...) with acceptance as the only objective
	multi.objectives = []*objective{{isQuery: true, isMaximised: true, form: automatonForm, reader: reader}}
	if err := multi.prepareProduct(nil); err != nil {
		return nil, err
	}
	weights := []*big.Rat{big.NewRat(1, 1)}
	reward, err := multi.weightedRewards(weights)
	if err != nil {
		return nil, err
	}
	opts := multi.options()
	opts.Scheduler = true
	values, err := solve.TotalReward(e.ctx, multi.product, reward, solve.Max, opts)
	if err != nil {
		return nil, err
	}
	return multi.controller(e.ctx, []weightedScheduler{{choices: values.Scheduler, weights: weights}})
}

// weightedScheduler is a scheduler of the product, with the weights of the objectives for which it is optimal. share is the
// probability that a mixture selects it; nil for 1.
type weightedScheduler struct {
	choices []uint32
	weights []*big.Rat
	share   *big.Rat
}

// controllerState is a state of the controller. While the controller follows a scheduler, it has the state of the product and the index of
// the scheduler. After the scheduler has ended the path, it has the accepting component, the node of this component, and the index of the
// goal to visit next.
type controllerState struct {
	scheduler    int
	productState uint32

	component *acceptingComponent // nil while the controller follows a scheduler
	node      uint32
	goal      int
}

// noSchedulerYet is the scheduler of a start state in which the controller selects a scheduler at random.
const noSchedulerYet = -1

// controllerBuilder builds the controller of a mixture of schedulers.
type controllerBuilder struct {
	multi           *multiEvaluation
	schedulers      []weightedScheduler                         // the schedulers of the mixture
	endComponents   map[objectiveSet]*sparse.EndComponents      // the results of endComponentsOf
	components      map[satisfyingComponent]*acceptingComponent // the results of acceptingComponentOf
	componentNumber map[*acceptingComponent]int                 // the number of each component, from 1
	choicesToGoal   map[componentGoal][]uint32                  // the results of choicesTowards
	nodeNumber      map[controllerState]uint32                  // the node of each state of the controller
	nodeStates      []controllerState                           // the state of each node
	memoryNumber    map[nodeMemory]uint32                       // the number of each memory
	newController   sparse.Controller
}

// satisfyingComponent is an end component that satisfies a set of objectives, by its index among the end components that do.
type satisfyingComponent struct {
	satisfiedObjectives objectiveSet
	endComponent        uint32
}

// componentGoal is a goal of an accepting component, by its index.
type componentGoal struct {
	component *acceptingComponent
	goal      int
}

// nodeMemory is a state of the controller without the state of the model.
type nodeMemory struct {
	scheduler  int
	objectives memory // the memory of the objectives, with 0 as the state of the model

	component int    // the number of the accepting component; 0 while the controller follows a scheduler
	tuple     uint32 // the number of the tuple of automaton states in the component
	goal      int    // the index of the goal to visit next
}

// controller returns a controller for a mixture of schedulers: at the start it draws one scheduler, each with the probability in its field
// share, and then follows it.
func (multi *multiEvaluation) controller(ctx context.Context, schedulers []weightedScheduler) (*sparse.Controller, error) {
	builder := &controllerBuilder{
		multi: multi, schedulers: schedulers,
		endComponents: map[objectiveSet]*sparse.EndComponents{}, components: map[satisfyingComponent]*acceptingComponent{}, componentNumber: map[*acceptingComponent]int{},
		choicesToGoal: map[componentGoal][]uint32{}, nodeNumber: map[controllerState]uint32{}, memoryNumber: map[nodeMemory]uint32{},
	}
	if err := builder.addStartNodes(); err != nil {
		return nil, err
	}
	for i := 0; i < len(builder.nodeStates); i++ { // moveFrom appends to nodeStates
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(builder.nodeStates) > maxNodes {
			return nil, multi.evaluation.unsupportedError(multi.evaluation.property.Expr, "the scheduler needs a memory of more than %d nodes", maxNodes)
		}
		if builder.nodeStates[i].scheduler == noSchedulerYet {
			continue // addRandomStartNodes added the moves of this node
		}
		move, err := builder.moveFrom(builder.nodeStates[i])
		if err != nil {
			return nil, err
		}
		builder.newController.Nodes[i].Moves = append(builder.newController.Nodes[i].Moves, move)
	}
	return &builder.newController, nil
}

// addStartNodes adds a start node for each initial state. A start node has the memory of the only scheduler. If there are several schedulers, or if this
// memory differs between initial states, the start nodes have an empty memory and select a scheduler at random.
func (builder *controllerBuilder) addStartNodes() error {
	firstStates := make([][]controllerState, len(builder.multi.startStates)) // for each initial state: the state of the controller under each scheduler
	hasOneMemory := len(builder.schedulers) == 1
	for i, s := range builder.multi.startStates {
		for scheduler := range builder.schedulers {
			state, err := builder.enteredState(scheduler, s)
			if err != nil {
				return err
			}
			firstStates[i] = append(firstStates[i], state)
			hasOneMemory = hasOneMemory && builder.memoryOf(state) == builder.memoryOf(firstStates[0][0])
		}
	}
	if !hasOneMemory { // file formats require the same memory in all start nodes
		return builder.addRandomStartNodes(firstStates)
	}
	for _, states := range firstStates {
		builder.newController.Start = append(builder.newController.Start, builder.nodeOf(states[0]))
	}
	return nil
}

// addRandomStartNodes adds a start node for each initial state, in which the controller selects a scheduler at random. firstStates has, for each
// initial state, the state of the controller under each scheduler.
func (builder *controllerBuilder) addRandomStartNodes(firstStates [][]controllerState) error {
	for _, s := range builder.multi.startStates {
		start := builder.nodeOf(controllerState{scheduler: noSchedulerYet, productState: s})
		builder.newController.Start = append(builder.newController.Start, start)
	}
	for startIndex, start := range builder.newController.Start {
		for schedulerIndex, scheduler := range builder.schedulers {
			move, err := builder.moveFrom(firstStates[startIndex][schedulerIndex])
			if err != nil {
				return err
			}
			move.Prob = scheduler.share
			node := &builder.newController.Nodes[start]
			node.Moves = append(node.Moves, move)
		}
	}
	return nil
}

// memoryOf returns the memory of the controller in one of its states: the state of the controller without the state of the model.
func (builder *controllerBuilder) memoryOf(state controllerState) nodeMemory {
	objectives := builder.multi.memories[builder.productStateOf(state)].withoutState()
	switch {
	case state.scheduler == noSchedulerYet:
		return nodeMemory{scheduler: noSchedulerYet}
	case state.component == nil:
		return nodeMemory{scheduler: state.scheduler, objectives: objectives}
	}
	return nodeMemory{
		objectives: objectives,
		component:  builder.componentNumber[state.component],
		tuple:      state.component.nodes[state.node].tuple,
		goal:       state.goal,
	}
}

// productStateOf returns the state of the product in a state of the controller.
func (builder *controllerBuilder) productStateOf(state controllerState) uint32 {
	if state.component == nil {
		return state.productState
	}
	return state.component.nodes[state.node].productState
}

// withoutState returns the memory of the objectives with 0 as the state of the model.
func (x memory) withoutState() memory {
	x.modelState = 0
	return x
}

// nodeOf returns the number of the controller's node for a state of the controller. It adds a node for a new state.
func (builder *controllerBuilder) nodeOf(state controllerState) uint32 {
	number, isNew := addKey(builder.nodeNumber, state)
	if !isNew {
		return number
	}
	builder.nodeStates = append(builder.nodeStates, state)
	modelState := builder.multi.memories[builder.productStateOf(state)].modelState
	memory, _ := addKey(builder.memoryNumber, builder.memoryOf(state))
	builder.newController.Nodes = append(builder.newController.Nodes, sparse.Node{State: modelState, Memory: memory})
	return number
}

// addKey returns the number of a key in a map that numbers its keys from 0. A new key gets the next number.
func addKey[K comparable](numbers map[K]uint32, key K) (number uint32, isNew bool) {
	if number, isKnown := numbers[key]; isKnown {
		return number, false
	}
	number = uint32(len(numbers))
	numbers[key] = number
	return number, true
}

// enteredState returns the state of the controller after a path has reached a state of the product. The controller follows the scheduler with the given
// index. If this scheduler ends the path there, the controller continues in an accepting component.
func (builder *controllerBuilder) enteredState(scheduler int, productState uint32) (controllerState, error) {
	choice := builder.choiceOf(scheduler, productState)
	endsPath := builder.multi.modelChoice[choice] == sparse.None
	if !endsPath {
		return controllerState{scheduler: scheduler, productState: productState}, nil
	}
	satisfied, _ := builder.multi.bestEnd(int(productState), builder.schedulers[scheduler].weights)
	component, startNode, err := builder.acceptingEnd(satisfied, productState)
	return controllerState{component: component, node: startNode}, err
}

// choiceOf returns the choice of a scheduler, given by its index, in state s of the product. A state without a choice gets the last choice,
// which ends the path.
func (builder *controllerBuilder) choiceOf(scheduler int, s uint32) int {
	choice := builder.schedulers[scheduler].choices[s]
	if choice == sparse.None {
		return builder.multi.lastChoice(int(s))
	}
	return int(choice)
}

// acceptingEnd returns the accepting component that contains a state of the product and satisfies a set of objectives. startNode is the node of
// the component for this state.
func (builder *controllerBuilder) acceptingEnd(satisfied objectiveSet, productState uint32) (component *acceptingComponent, startNode uint32, err error) {
	endComponents, err := builder.endComponentsOf(satisfied)
	if err != nil {
		return nil, 0, err
	}
	endComponent := endComponents.ID[productState]
	component, err = builder.acceptingComponentOf(satisfyingComponent{satisfied, endComponent}, endComponents)
	if err != nil {
		return nil, 0, err
	}
	member := slices.Index(endComponents.Members(int(endComponent)), productState)
	if member < 0 {
		return nil, 0, builder.multi.evaluation.unsupportedError(builder.multi.evaluation.property.Expr, "found a scheduler that ends a path outside the accepting end components")
	}
	return component, component.startNode[member], nil
}

// endComponentsOf returns the end components of the product that satisfy a set of objectives, without choices that earn a minimised reward. It computes
// them once for each set and caches them.
func (builder *controllerBuilder) endComponentsOf(satisfied objectiveSet) (*sparse.EndComponents, error) {
	if endComponents := builder.endComponents[satisfied]; endComponents != nil {
		return endComponents, nil
	}
	endComponents, err := builder.multi.satisfyingComponents(satisfied, builder.multi.choicesWithoutReward(ofMinimised))
	if err != nil {
		return nil, err
	}
	builder.endComponents[satisfied] = endComponents
	return endComponents, nil
}

// acceptingComponentOf returns the accepting component for end component number key.endComponent of endComponents and the objectives
// key.satisfiedObjectives. It builds each component once and caches it.
func (builder *controllerBuilder) acceptingComponentOf(key satisfyingComponent, endComponents *sparse.EndComponents) (*acceptingComponent, error) {
	if component := builder.components[key]; component != nil {
		return component, nil
	}
	component, err := builder.multi.newAcceptingComponent(key.satisfiedObjectives, endComponents.Members(int(key.endComponent)), endComponents.Choices)
	if err != nil {
		return nil, err
	}
	builder.components[key] = component
	builder.componentNumber[component] = len(builder.components)
	return component, nil
}

// moveFrom returns the move of the controller in one of its states: the choice, and the next node for each transition. It adds the nodes that
// are new.
func (builder *controllerBuilder) moveFrom(state controllerState) (sparse.Move, error) {
	if state.component != nil {
		return builder.moveInComponent(state), nil
	}
	choice := builder.choiceOf(state.scheduler, state.productState)
	move := sparse.Move{Choice: builder.multi.modelChoice[choice]}
	first, end := builder.multi.product.Transitions(choice)
	for _, target := range builder.multi.product.Target[first:end] {
		next, err := builder.enteredState(state.scheduler, target)
		if err != nil {
			return move, err
		}
		move.Next = append(move.Next, builder.nodeOf(next))
	}
	return move, nil
}

// moveInComponent returns the move of the controller within an accepting component. The controller first goes to a good node, from which it can
// reach all goals. Then it visits one goal after the other, forever.
func (builder *controllerBuilder) moveInComponent(state controllerState) sparse.Move {
	component, goal := state.component, state.goal
	if component.goodNodes.Has(int(state.node)) {
		goal = component.nextGoal(goal, int(state.node))
	}
	choice := builder.choicesTowards(component, goal)[state.node]
	move := sparse.Move{Choice: builder.multi.modelChoice[component.productChoice[choice]]}
	first, end := component.Transitions(int(choice))
	for _, target := range component.Target[first:end] {
		move.Next = append(move.Next, builder.nodeOf(controllerState{component: component, node: target, goal: goal}))
	}
	return move
}

// nextGoal returns the index of the first goal that does not contain the node. It searches from goal on, in cyclic order. If all goals contain
// the node, it returns goal.
func (component *acceptingComponent) nextGoal(goal, node int) int {
	for range component.goals {
		if !component.goals[goal].Has(node) {
			break
		}
		goal = (goal + 1) % len(component.goals)
	}
	return goal
}

// firstStayingChoice returns the first choice of a node that cannot leave the node's end component. It returns 0 if the node has no such choice.
func (component *acceptingComponent) firstStayingChoice(node int) uint32 {
	first, end := component.Choices(node)
	for choice := first; choice < end; choice++ {
		if component.stayingChoices.Has(choice) {
			return uint32(choice)
		}
	}
	return 0
}

// choicesTowards returns a choice for each node of an accepting component. From a good node the choices lead to the goal within the end component;
// from other nodes they lead to a good node. The results are cached.
func (builder *controllerBuilder) choicesTowards(component *acceptingComponent, goal int) []uint32 {
	key := componentGoal{component, goal}
	if choices, isCached := builder.choicesToGoal[key]; isCached {
		return choices
	}
	choices := make([]uint32, component.NumStates())
	component.Attract(component.sureNodes, component.goodNodes, choices)
	for node := range component.goodNodes.All() { // enough if there are no goals
		choices[node] = component.firstStayingChoice(node)
	}
	if len(component.goals) > 0 {
		component.Approach(component.stayingChoices, component.goals[goal].Intersect(component.goodNodes), choices)
	}
	builder.choicesToGoal[key] = choices
	return choices
}
