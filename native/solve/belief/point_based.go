package belief

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// pointBased finds strategies with memory by point-based value iteration along simulated paths. Each vector is the value of an
// action in the states with some observation, followed by other vectors or by strategies of the pool. So vectors are the nodes of a
// controller. All values are float64 without error bounds; the controller is evaluated separately.
//
// Source: Spaan and Vlassis, Perseus, JAIR 24 (2005); trials forwards and backwards as in Smith and
// Simmons, Heuristic search value iteration for POMDPs (UAI 2004).
type pointBased struct {
	*pomdp
	informedBound      *informedBound
	pool               *pool
	rng                *rand.Rand
	statesOf           [][]uint32 // by observation
	indexInObservation []int32    // of each state among those with its observation
	vectors            []alphaVector
	work               int                 // multiplications in the current call of improve
	activeVectors      [][]int             // the vectors in use
	knownObservations  map[[2]int][]uint32 // results of observationsAfter
}

// alphaVector is an action, the vectors that follow it, and its value in each state with the
// observation.
type alphaVector struct {
	observation uint32
	action      int
	next        []Edge // nodes are vectors, or strategies of the pool: see strategyNode
	values      []float64
}

// floatBelief is a belief with float64 probabilities; states are in increasing order.
type floatBelief struct {
	states  []uint32
	weights []float64
}

// newPointBased prepares point-based value iteration. It begins without alpha vectors, so the first lower bounds are the values of the pool's strategies.
func newPointBased(informed *informedBound, strategies *pool) *pointBased {
	search := &pointBased{
		pomdp: informed.pomdp, informedBound: informed, pool: strategies,
		rng: rand.New(rand.NewPCG(1, 1)), knownObservations: map[[2]int][]uint32{},
	}
	numObservations := search.numObservations()
	search.statesOf = make([][]uint32, numObservations)
	search.activeVectors = make([][]int, numObservations)
	search.indexInObservation = make([]int32, len(search.Observation))
	for state, observation := range search.Observation {
		search.indexInObservation[state] = int32(len(search.statesOf[observation]))
		search.statesOf[observation] = append(search.statesOf[observation], uint32(state))
	}
	return search
}

// strategyNode converts the number of a pool strategy to its negative node number, and back.
func strategyNode(i int) int { return -2 - i }

// isVector reports whether a node number is a vector and not a strategy of the pool.
func isVector(node int) bool { return node >= 0 }

// maxVectors limits the vectors of one observation.
const maxVectors = 512

// improve simulates paths from the start state, with about the given number of moves in total. After each path it adds better alpha vectors
// (the values of a plan in the states with an observation) for the beliefs of the path, from the last belief to the first.
//
// Source: Smith and Simmons, Heuristic search value iteration for POMDPs (UAI 2004).
func (search *pointBased) improve(ctx context.Context, start uint32, moves int) error {
	const maxWork = 1 << 31
	search.work = 0
	for moves > 0 && search.work < maxWork {
		path, err := search.simulatePath(ctx, start)
		if err != nil {
			return err
		}
		for _, belief := range slices.Backward(path) {
			if err := ctx.Err(); err != nil {
				return err
			}
			search.backup(belief)
		}
		moves -= len(path) + 1
	}
	return nil
}

// simulatePath returns the beliefs of a random path from a start state. The path ends at a terminal state, at a belief that cannot improve,
// or after maxLength beliefs.
func (search *pointBased) simulatePath(ctx context.Context, start uint32) ([]floatBelief, error) {
	const maxLength = 1000
	var path []floatBelief
	current := floatBelief{[]uint32{start}, []float64{1}}
	for len(path) < maxLength && len(current.states) > 0 && !search.cannotImprove(current) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		path = append(path, current)
		current = search.drawBelief(search.nextBeliefs(current, search.chooseAction(current)))
	}
	return path, nil
}

// cannotImprove reports whether a belief certainly has the best possible value already: the minimum is 0, or the maximum has the upper
// bound 0.
func (search *pointBased) cannotImprove(belief floatBelief) bool {
	if search.Direction == solve.Min {
		_, value := search.bestContinuation(belief)
		return value == 0
	}
	for _, state := range belief.states {
		for action := range search.numActions(state) {
			if search.informedBound.actionValue[search.informedBound.actionIndex(int(state), action)] > 0 {
				return false
			}
		}
	}
	return true
}

// chooseAction chooses the next action of a simulated path at random: with probability 0.15 any action, with 0.45 the action of the best
// vector if there is one, and otherwise the best action by the informed bound.
func (search *pointBased) chooseAction(belief floatBelief) int {
	const randomShare, vectorShare = 0.15, 0.45
	random := search.rng.Float64()
	if random < randomShare {
		return search.rng.IntN(search.numActions(belief.states[0]))
	}
	if random < randomShare+vectorShare {
		if i, _ := search.bestContinuation(belief); isVector(i) {
			return search.vectors[i].action
		}
	}
	return search.bestInformedAction(belief)
}

// bestInformedAction returns the best action for a belief by the informed bound.
func (search *pointBased) bestInformedAction(belief floatBelief) int {
	bestAction, bestValue := 0, 0.0
	for action := range search.numActions(belief.states[0]) {
		value := 0.0
		for i, state := range belief.states {
			value += belief.weights[i] * search.informedBound.actionValue[search.informedBound.actionIndex(int(state), action)]
		}
		if action == 0 || search.isBetter(value, bestValue) {
			bestAction, bestValue = action, value
		}
	}
	return bestAction
}

// nextBeliefs returns the next belief for each observation after an action. The weights of each belief sum to the probability of its observation.
func (search *pointBased) nextBeliefs(belief floatBelief, action int) []floatBelief {
	var reached []weightedState
	for i, state := range belief.states {
		first, end := search.model.Transitions(search.choiceOf(state, action))
		for transition := first; transition < end; transition++ {
			if target := search.model.Target[transition]; !search.terminalStates.Has(int(target)) {
				reached = append(reached, weightedState{target, belief.weights[i] * search.model.Weights[search.model.WeightIndex[transition]]})
			}
		}
	}
	return search.splitByObservation(reached)
}

// weightedState is a state with the probability that a step leads to it.
type weightedState struct {
	state  uint32
	weight float64
}

// splitByObservation groups the reached states by observation, and returns one belief for each group. It adds the weights of equal states.
func (search *pointBased) splitByObservation(reached []weightedState) []floatBelief {
	slices.SortStableFunc(reached, func(a, b weightedState) int {
		return cmp.Or(cmp.Compare(search.Observation[a.state], search.Observation[b.state]), cmp.Compare(a.state, b.state))
	})
	var beliefs []floatBelief
	for i, current := range reached {
		if i == 0 || search.Observation[current.state] != search.Observation[reached[i-1].state] {
			beliefs = append(beliefs, floatBelief{})
		}
		belief := &beliefs[len(beliefs)-1]
		if last := len(belief.states) - 1; last >= 0 && belief.states[last] == current.state {
			belief.weights[last] += current.weight
			continue
		}
		belief.states = append(belief.states, current.state)
		belief.weights = append(belief.weights, current.weight)
	}
	return beliefs
}

// drawBelief draws one of several beliefs, and normalizes it. The sum of the weights of a belief is its probability. With the remaining probability, the
// path ends in a terminal state, and the result is an empty belief.
func (search *pointBased) drawBelief(beliefs []floatBelief) floatBelief {
	random := search.rng.Float64()
	for _, belief := range beliefs {
		probability := 0.0
		for _, weight := range belief.weights {
			probability += weight
		}
		random -= probability
		if random >= 0 || probability <= 0 {
			continue
		}
		for i := range belief.weights {
			belief.weights[i] /= probability
		}
		return belief
	}
	return floatBelief{}
}

// bestContinuation returns the alpha vector or the pool's strategy with the best value for a belief, as a node number, and this value.
func (search *pointBased) bestContinuation(belief floatBelief) (bestNode int, bestValue float64) {
	vectors := search.activeVectors[search.Observation[belief.states[0]]]
	search.work += len(belief.states) * (len(search.pool.strategyValues) + len(vectors))
	for i, values := range search.pool.strategyValues {
		value := belief.expectation(func(state uint32) float64 { return values[state] })
		if i == 0 || search.isBetter(value, bestValue) {
			bestNode, bestValue = strategyNode(i), value
		}
	}
	for _, i := range vectors {
		values := search.vectors[i].values
		value := belief.expectation(func(state uint32) float64 { return values[search.indexInObservation[state]] })
		if search.isBetter(value, bestValue) {
			bestNode, bestValue = i, value
		}
	}
	return bestNode, bestValue
}

// expectation returns the sum of weight * value(state) over the states of the belief.
func (belief floatBelief) expectation(value func(state uint32) float64) float64 {
	sum := 0.0
	for i, state := range belief.states {
		if weight := belief.weights[i]; weight > 0 {
			sum += weight * value(state)
		}
	}
	return sum
}

// backup adds an alpha vector for the best action in a belief, if this improves the value of the belief noticeably. Vectors that the new vector dominates
// are no longer active.
func (search *pointBased) backup(belief floatBelief) {
	observation := search.Observation[belief.states[0]]
	action, edges := search.betterAction(belief)
	if action < 0 || len(search.activeVectors[observation]) >= maxVectors {
		return
	}
	added := alphaVector{observation: observation, action: action, next: search.completeEdges(observation, action, edges)}
	for _, state := range search.statesOf[observation] {
		added.values = append(added.values, search.alphaValue(&added, state))
	}
	// Dominated vectors are removed from the active ones only. They stay in search.vectors, because other vectors may continue with them.
	undominated := slices.DeleteFunc(search.activeVectors[observation], func(i int) bool { return search.dominates(&added, &search.vectors[i]) })
	search.activeVectors[observation] = append(undominated, len(search.vectors))
	search.vectors = append(search.vectors, added)
}

// betterAction returns the best action for a belief, with the best continuation for each next observation. It returns -1 if no action is noticeably better
// than the known vectors and strategies.
func (search *pointBased) betterAction(belief floatBelief) (bestAction int, bestEdges []Edge) {
	_, oldValue := search.bestContinuation(belief)
	bestAction, bestValue := -1, oldValue
	for action := range search.numActions(belief.states[0]) {
		value, edges := search.backupAction(belief, action)
		isNoticeable := !search.isBetter(oldValue+search.noticeableChange(oldValue), value)
		if isNoticeable && search.isBetter(value, bestValue) {
			bestAction, bestValue, bestEdges = action, value, edges
		}
	}
	return bestAction, bestEdges
}

// backupAction returns the value of an action for a belief if the best known continuation follows. edges has this continuation for each next observation.
func (search *pointBased) backupAction(belief floatBelief, action int) (value float64, edges []Edge) {
	value = belief.expectation(func(state uint32) float64 { return search.immediateValue(state, action) })
	for _, next := range search.nextBeliefs(belief, action) {
		node, nextValue := search.bestContinuation(next)
		value += nextValue
		edges = append(edges, Edge{search.Observation[next.states[0]], node})
	}
	return value, edges
}

// dominates reports whether a vector is at least as good as another vector in all states.
func (search *pointBased) dominates(vector, other *alphaVector) bool {
	for i, value := range other.values {
		if search.isBetter(value, vector.values[i]) {
			return false
		}
	}
	return true
}

// noticeableChange returns the least noticeable change of a value. It is negative for a minimum.
func (search *pointBased) noticeableChange(value float64) float64 {
	const relative = 1e-9
	if search.Direction == solve.Max {
		return relative * value
	}
	return -relative * value
}

// immediateValue returns the reward of an action in a state or, if the problem is a probability, the probability to reach the target in
// this step.
func (search *pointBased) immediateValue(state uint32, action int) float64 {
	choice := search.choiceOf(state, action)
	if search.Reward != nil {
		return sparse.NonzeroFloat(search.rewardOf(state, choice))
	}
	sum := 0.0
	first, end := search.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		if search.Target.Has(int(search.model.Target[transition])) {
			sum += search.model.Weights[search.model.WeightIndex[transition]]
		}
	}
	return sum
}

// alphaValue returns the value of an alpha vector in a state: the immediate value of its action plus the expected value of the vectors that
// follow.
func (search *pointBased) alphaValue(vector *alphaVector, state uint32) float64 {
	sum := search.immediateValue(state, vector.action)
	first, end := search.model.Transitions(search.choiceOf(state, vector.action))
	for transition := first; transition < end; transition++ {
		if target := search.model.Target[transition]; !search.terminalStates.Has(int(target)) {
			sum += search.model.Weights[search.model.WeightIndex[transition]] * search.valueAfter(vector.next, target)
		}
	}
	return sum
}

// valueAfter returns the value of a state after an action: the value of the vector or strategy to which edges lead for the observation of the state.
func (search *pointBased) valueAfter(edges []Edge, state uint32) float64 {
	controllerNode := Node{Next: edges}
	next := controllerNode.nextNode(search.Observation[state])
	if isVector(next) {
		return search.vectors[next].values[search.indexInObservation[state]]
	}
	return search.pool.strategyValues[strategyNode(next)][state]
}

// completeEdges returns an edge for each observation that can follow an action. It takes the edges in next; for any other observation, the best strategy of
// the pool follows.
func (search *pointBased) completeEdges(observation uint32, action int, next []Edge) []Edge {
	var edges []Edge
	for _, nextObservation := range search.observationsAfter(observation, action) {
		i := slices.IndexFunc(next, func(edge Edge) bool { return edge.Observation == nextObservation })
		if i >= 0 {
			edges = append(edges, next[i])
		} else {
			edges = append(edges, Edge{nextObservation, strategyNode(search.bestUniformStrategy(nextObservation))})
		}
	}
	return edges
}

// bestUniformStrategy returns the best strategy of the pool for the uniform belief over the states with an observation.
func (search *pointBased) bestUniformStrategy(observation uint32) int {
	bestStrategy, bestSum := 0, 0.0
	for i, values := range search.pool.strategyValues {
		sum := 0.0
		for _, state := range search.statesOf[observation] {
			sum += values[state]
		}
		if i == 0 || search.isBetter(sum, bestSum) {
			bestStrategy, bestSum = i, sum
		}
	}
	return bestStrategy
}

// observationsAfter returns the observations that can follow an action in the states with an observation, in increasing order.
// It caches the results.
func (search *pointBased) observationsAfter(observation uint32, action int) []uint32 {
	key := [2]int{int(observation), action}
	observations, found := search.knownObservations[key]
	if !found {
		observations = search.possibleObservations(search.statesOf[observation], action)
		search.knownObservations[key] = observations
	}
	return observations
}

// controller returns the controller that starts with the best vector for a start state. It has finitely many nodes, because each vector is
// followed by older vectors only.
func (search *pointBased) controller(start uint32) *Controller {
	bestNode, _ := search.bestContinuation(floatBelief{[]uint32{start}, []float64{1}})
	queue := []vectorNode{{bestNode, search.Observation[start]}}
	numberOf := map[vectorNode]int{queue[0]: 0}
	controller := &Controller{}
	for i := 0; i < len(queue); i++ {
		action, next := search.continuation(queue[i])
		node := Node{Observation: queue[i].observation, Action: action}
		for _, edge := range next {
			target := vectorNode{edge.Node, edge.Observation}
			if _, found := numberOf[target]; !found {
				numberOf[target] = len(queue)
				queue = append(queue, target)
			}
			node.Next = append(node.Next, Edge{edge.Observation, numberOf[target]})
		}
		controller.Nodes = append(controller.Nodes, node)
	}
	return controller
}

// vectorNode is a node of the controller: a vector or a strategy of the pool (see strategyNode), in the states with an
// observation.
type vectorNode struct {
	node        int
	observation uint32
}

// continuation returns the action of a controller node, and the next node for each observation. A node that follows a strategy of the pool continues with
// the same strategy.
func (search *pointBased) continuation(current vectorNode) (action int, next []Edge) {
	if isVector(current.node) {
		vector := &search.vectors[current.node]
		return vector.action, vector.next
	}
	action = search.pool.strategies[strategyNode(current.node)][current.observation]
	for _, observation := range search.observationsAfter(current.observation, action) {
		next = append(next, Edge{observation, current.node})
	}
	return action, next
}
