package belief

import "slices"

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

// controller returns the controller that follows the scheduler choice of a finiteMDP. After a belief
// that was cut off it follows the best strategy of the pool. If grid points replace a belief, it
// continues in the one with the greatest weight; observations that are impossible there lead to the
// fallback strategy.
func (s *exploration) controller(a *finiteMDP, choice []uint32, optimistic bool) *Controller {
	w := &controllerBuilder{exploration: s, model: a, choice: choice, optimistic: optimistic, nodeOf: map[controllerState]int{}}
	if len(s.nodes) > 0 && s.nodes[0].belief != nil {
		_, w.fallback = s.pool.bound(s.nodes[0].belief)
	}
	w.nodeFor(controllerState{node: 0})
	for i := 0; i < len(w.queue); i++ {
		w.addNode(i)
	}
	return &w.controller
}

// nodeFor returns the number of a controller state, and queues it if it is new.
func (w *controllerBuilder) nodeFor(p controllerState) int {
	if p.node >= 0 && w.nodes[p.node].belief == nil {
		n := &w.nodes[p.node]
		p = controllerState{-1, n.cutoff.strategy, n.observation}
	}
	n, known := w.nodeOf[p]
	if !known {
		n = len(w.queue)
		w.nodeOf[p] = n
		w.queue = append(w.queue, p)
	}
	return n
}

// addNode builds node i of the controller.
func (w *controllerBuilder) addNode(i int) {
	p := w.queue[i]
	n := Node{Observation: p.observation}
	var known []successor
	fallback := p.strategy
	if p.node >= 0 {
		fallback = w.fallback
	}
	if p.node < 0 {
		n.Action = w.pool.strategies[p.strategy][p.observation]
	} else {
		at := &w.nodes[p.node]
		n.Observation = at.observation
		if c := w.choice[firstNode+p.node]; int(c) < w.model.graph.NumChoices() {
			first, _ := w.model.graph.Choices(firstNode + p.node)
			n.Action = int(c) - first
		}
		known = at.actions[n.Action].successors
	}
	for _, observation := range w.possibleObservations(n.Observation, n.Action) {
		to := controllerState{-1, fallback, observation}
		for j := range known {
			if b := &known[j]; b.observation == observation {
				to = w.stateAfter(b)
			}
		}
		n.Next = append(n.Next, Edge{observation, w.nodeFor(to)})
	}
	w.controller.Nodes = append(w.controller.Nodes, n)
}

// stateAfter returns the controller state for a successor.
func (w *controllerBuilder) stateAfter(b *successor) controllerState {
	if !b.replaced() {
		return controllerState{node: b.parts[0].node}
	}
	if !w.optimistic {
		return controllerState{-1, b.cutoff.strategy, b.observation}
	}
	best := b.parts[0]
	for _, p := range b.parts[1:] {
		if p.weight.Cmp(best.weight) > 0 {
			best = p
		}
	}
	return controllerState{node: best.node}
}

// possibleObservations returns the observations that can follow an action, in increasing order.
func (s *exploration) possibleObservations(observation uint32, action int) []uint32 {
	var out []uint32
	for st, o := range s.Observation {
		if o != observation || s.terminal.Has(st) {
			continue
		}
		for _, t := range s.transitions(uint32(st), action) {
			if !s.terminal.Has(int(t.to)) {
				out = append(out, s.Observation[t.to])
			}
		}
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}
