package belief

// controllerBuilder builds a controller from a scheduler of a finiteMDP.
type controllerBuilder struct {
	*exploration
	mdp          *finiteMDP
	stateChoices []uint32 // of each state of the MDP
	isOptimistic bool     // stateChoices is for the optimistic MDP
	// fallbackStrategy is the strategy of the pool for observations that a grid point excludes.
	fallbackStrategy int
	controller       Controller
	nodeOf           map[controllerState]int
	queue            []controllerState
}

// controllerState is a node of the exploration or, if node is -1, a memoryless strategy of the pool in the states
// with an observation.
type controllerState struct {
	node, strategy int
	observation    uint32
}

// controller returns the controller that follows a scheduler of the finite MDP. stateChoices has the scheduler's choice in each state of the MDP. From a
// belief that was not expanded, the controller continues with the best strategy of the pool. From a belief that grid points replace, it continues at the
// grid point with the greatest weight.
func (search *exploration) controller(mdp *finiteMDP, stateChoices []uint32, isOptimistic bool) *Controller {
	builder := &controllerBuilder{exploration: search, mdp: mdp, stateChoices: stateChoices, isOptimistic: isOptimistic, nodeOf: map[controllerState]int{}}
	if len(search.nodes) > 0 && search.nodes[0].belief != nil {
		_, builder.fallbackStrategy = search.pool.bestStrategy(search.nodes[0].belief)
	}
	builder.nodeFor(controllerState{node: 0})
	for i := 0; i < len(builder.queue); i++ {
		builder.controller.Nodes = append(builder.controller.Nodes, builder.newNode(builder.queue[i]))
	}
	return &builder.controller
}

// nodeFor returns the number of the controller node for a state, and queues the state if it is new. For a cut-off belief it uses the pool's
// strategy for that belief.
func (builder *controllerBuilder) nodeFor(state controllerState) int {
	if state.node >= 0 && builder.nodes[state.node].belief == nil {
		cutOffNode := &builder.nodes[state.node]
		state = controllerState{-1, cutOffNode.cutoff.strategy, cutOffNode.observation}
	}
	number, found := builder.nodeOf[state]
	if !found {
		number = len(builder.queue)
		builder.nodeOf[state] = number
		builder.queue = append(builder.queue, state)
	}
	return number
}

// newNode returns the controller node of a state: its action, and an edge for each observation that can follow.
func (builder *controllerBuilder) newNode(state controllerState) Node {
	if state.node < 0 {
		action := builder.pool.strategies[state.strategy][state.observation]
		return builder.addEdges(Node{Observation: state.observation, Action: action}, nil, state.strategy)
	}
	explored := &builder.nodes[state.node]
	result := Node{Observation: explored.observation}
	mdpState := firstNode + state.node
	choice := builder.stateChoices[mdpState]
	hasChoice := int(choice) < builder.mdp.graph.NumChoices()
	if hasChoice { // otherwise every action is optimal, so take action 0
		first, _ := builder.mdp.graph.Choices(mdpState)
		result.Action = int(choice) - first
	}
	return builder.addEdges(result, explored.actions[result.Action].successors, builder.fallbackStrategy)
}

// addEdges adds an edge to a node for each observation that can follow its action, and returns the node. successors are the next beliefs of
// the action. An observation without a successor leads to the fallback strategy of the pool.
func (builder *controllerBuilder) addEdges(node Node, successors []successor, fallbackStrategy int) Node {
	for _, observation := range builder.observationsAfter(node.Observation, node.Action) {
		next := builder.stateForObservation(observation, successors, fallbackStrategy)
		node.Next = append(node.Next, Edge{observation, builder.nodeFor(next)})
	}
	return node
}

// stateForObservation returns the controller state after an observation: the state for the successor belief with this observation. If there is no such
// successor, the controller continues with the fallback strategy.
func (builder *controllerBuilder) stateForObservation(observation uint32, successors []successor, fallbackStrategy int) controllerState {
	for i := range successors {
		if successors[i].observation == observation {
			return builder.stateForSuccessor(&successors[i])
		}
	}
	return controllerState{-1, fallbackStrategy, observation}
}

// stateForSuccessor returns the controller state for a successor belief. If grid points replace the belief, this is the grid point with the greatest weight
// (in the optimistic MDP), or the pool's best strategy for the belief (in the pessimistic MDP).
func (builder *controllerBuilder) stateForSuccessor(next *successor) controllerState {
	if !next.isReplaced() {
		return controllerState{node: next.representatives[0].node}
	}
	if !builder.isOptimistic {
		return controllerState{-1, next.cutoff.strategy, next.observation}
	}
	best := next.representatives[0]
	for _, candidate := range next.representatives[1:] {
		if candidate.weight.Cmp(best.weight) > 0 {
			best = candidate
		}
	}
	return controllerState{node: best.node}
}

// observationsAfter returns the observations that can follow an action in the states with an observation, in increasing order.
func (builder *controllerBuilder) observationsAfter(observation uint32, action int) []uint32 {
	var states []uint32
	for state, stateObservation := range builder.Observation {
		if stateObservation == observation {
			states = append(states, uint32(state))
		}
	}
	return builder.possibleObservations(states, action)
}
