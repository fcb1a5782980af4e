package belief

// controllerBuilder builds a controller from a scheduler of a finiteMDP.
type controllerBuilder struct {
	*exploration
	model      *finiteMDP
	choice     []uint32 // of each state of the MDP
	optimistic bool     // choice is for the optimistic MDP
	// fallback is the strategy of the pool for observations that a grid point excludes.
	fallback   int
	controller Controller
	nodeOf     map[controllerState]int
	queue      []controllerState
}

// controllerState is a node of the exploration, or with node -1 a memoryless strategy of the pool with
// an observation.
type controllerState struct {
	node, strategy int
	observation    uint32
}

// controller returns the controller that follows a scheduler of the finite MDP; choice has the choice of each
// of its states. After a belief that was cut off it follows the best strategy of the pool. If grid points
// replace a belief, it continues in the grid point of greatest weight; observations that are impossible there
// lead to the fallback strategy.
func (s *exploration) controller(mdp *finiteMDP, choice []uint32, optimistic bool) *Controller {
	builder := &controllerBuilder{exploration: s, model: mdp, choice: choice, optimistic: optimistic, nodeOf: map[controllerState]int{}}
	if len(s.nodes) > 0 && s.nodes[0].belief != nil {
		_, builder.fallback = s.pool.bestStrategy(s.nodes[0].belief)
	}
	builder.nodeFor(controllerState{node: 0})
	for i := 0; i < len(builder.queue); i++ {
		builder.addNode(i)
	}
	return &builder.controller
}

// nodeFor returns the number of a controller state, and queues the state if it is new.
func (w *controllerBuilder) nodeFor(state controllerState) int {
	if state.node >= 0 && w.nodes[state.node].belief == nil {
		cutOff := &w.nodes[state.node]
		state = controllerState{-1, cutOff.cutoff.strategy, cutOff.observation}
	}
	number, known := w.nodeOf[state]
	if !known {
		number = len(w.queue)
		w.nodeOf[state] = number
		w.queue = append(w.queue, state)
	}
	return number
}

// addNode builds controller node i: its action, and the next node for each possible observation.
func (w *controllerBuilder) addNode(i int) {
	state := w.queue[i]
	result := Node{Observation: state.observation}
	var known []successor
	fallback := state.strategy
	if state.node >= 0 {
		fallback = w.fallback
	}
	if state.node < 0 {
		result.Action = w.pool.strategies[state.strategy][state.observation]
	} else {
		explored := &w.nodes[state.node]
		result.Observation = explored.observation
		if choice := w.choice[firstNode+state.node]; int(choice) < w.model.graph.NumChoices() {
			first, _ := w.model.graph.Choices(firstNode + state.node)
			result.Action = int(choice) - first
		}
		known = explored.actions[result.Action].successors
	}
	for _, observation := range w.observationsAfter(result.Observation, result.Action) {
		next := controllerState{-1, fallback, observation}
		for j := range known {
			if known[j].observation == observation {
				next = w.stateAfter(&known[j])
			}
		}
		result.Next = append(result.Next, Edge{observation, w.nodeFor(next)})
	}
	w.controller.Nodes = append(w.controller.Nodes, result)
}

// stateAfter returns the controller state that continues after a successor belief.
func (w *controllerBuilder) stateAfter(b *successor) controllerState {
	if !b.replaced() {
		return controllerState{node: b.representatives[0].node}
	}
	if !w.optimistic {
		return controllerState{-1, b.cutoff.strategy, b.observation}
	}
	best := b.representatives[0]
	for _, part := range b.representatives[1:] {
		if part.weight.Cmp(best.weight) > 0 {
			best = part
		}
	}
	return controllerState{node: best.node}
}

// observationsAfter returns the observations that can follow an action, in increasing order.
func (w *controllerBuilder) observationsAfter(observation uint32, action int) []uint32 {
	var states []uint32
	for s, stateObservation := range w.Observation {
		if stateObservation == observation {
			states = append(states, uint32(s))
		}
	}
	return w.possibleObservations(states, action)
}
