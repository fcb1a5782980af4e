package belief

import (
	"context"
	"math"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// exploration is a finite part of the belief space: beliefs that exact updates reach, up to a limit,
// and grid points beyond it.
type exploration struct {
	*updater
	informedBound *informedBound
	pool          *pool
	nodes         []node
	nodeIndex     map[string]int
	// maxExactNodes and maxGridNodes limit the beliefs that are expanded: exact ones and grid points. resolution
	// is that of the grid; 0 for none.
	maxExactNodes, maxGridNodes, resolution int
	exactNodes, gridNodes                   int // expanded so far
	numEdges                                int
	// isPartial says that some belief was cut off, or replaced by grid points.
	isPartial bool
}

// node is a belief with the results of its actions or, if the belief was cut off (not expanded), with bounds on its value.
type node struct {
	belief      *belief // nil if cut off
	observation uint32
	cutoff      cutoff
	actions     []actionResult
}

// cutoff bounds the value of a belief without expanding it: optimistically, and pessimistically by a
// strategy of the pool.
type cutoff struct {
	optimisticValue, pessimisticValue float64
	strategy                          int
}

// cutoffOf returns bounds on the value of a belief.
func (search *exploration) cutoffOf(beliefState *belief) cutoff {
	pessimisticValue, strategy := search.pool.bestStrategy(beliefState)
	return cutoff{optimisticValue: search.informedBound.beliefBound(beliefState), pessimisticValue: pessimisticValue, strategy: strategy}
}

// actionResult is the result of an action in a belief: where it leads, and the expected reward.
type actionResult struct {
	successors    []successor
	goal, failure *big.Rat
	reward        *big.Rat
}

// successor is the belief after an action and an observation: one node, or grid points around the
// belief with their weights.
type successor struct {
	prob            *big.Rat
	observation     uint32
	representatives []weightedNode
	cutoff          cutoff // of the belief itself, if it was replaced by grid points
}

// weightedNode is a node with its weight in a convex combination; nil stands for 1.
type weightedNode struct {
	node   int
	weight *big.Rat
}

// isReplaced reports whether grid points replace the belief.
func (successor *successor) isReplaced() bool {
	return len(successor.representatives) != 1 || successor.representatives[0].weight != nil
}

// maxBeliefBits is the size of a belief's total above which it is replaced by grid points.
const maxBeliefBits = 1 << 13

// maxEdges limits the stored successors, to about a gigabyte.
const maxEdges = 1 << 22

// pollInterval is the number of iterations of a loop between two checks of the context.
const pollInterval = 1 << 12

// explore expands the beliefs that are reachable from start, in breadth-first order. When a limit is reached, it expands no further beliefs; it only
// computes bounds on their values.
func (search *exploration) explore(ctx context.Context, start *belief) error {
	search.nodeIndex = map[string]int{}
	search.addNode(start, notOnGrid)
	for i := 0; i < len(search.nodes); i++ { // expand appends nodes
		if err := ctx.Err(); err != nil {
			return err
		}
		current := search.nodes[i].belief
		if current == nil { // the belief was cut off: it has bounds and no successors
			continue
		}
		if search.numEdges > maxEdges {
			search.isPartial = true
			search.nodes[i].belief = nil
			search.nodes[i].cutoff = search.cutoffOf(current)
			continue
		}
		actions := search.expand(current) // may reallocate search.nodes
		search.nodes[i].actions = actions
	}
	return nil
}

// onGrid and notOnGrid are values of the parameter isGridPoint.
const onGrid, notOnGrid = true, false

// addNode returns the number of the node of a belief, and adds a node if the belief is new. If the limit of expanded beliefs is reached, the new node is cut
// off: it has bounds on its value, and no successors. isGridPoint says which of two limits counts.
func (search *exploration) addNode(added *belief, isGridPoint bool) int {
	key := added.mapKey()
	if number, found := search.nodeIndex[key]; found {
		return number
	}
	newNode := node{belief: added, observation: search.Observation[added.states[0]]}
	if search.reserveExpansion(isGridPoint) {
		search.nodeIndex[key] = len(search.nodes)
	} else { // keep only the bounds, and not the belief and its key, because many beliefs may be cut off
		search.isPartial = true
		newNode.belief, newNode.cutoff = nil, search.cutoffOf(added)
	}
	search.nodes = append(search.nodes, newNode)
	return len(search.nodes) - 1
}

// reserveExpansion reports whether the limit allows that one more belief is expanded, and counts this belief if so. Grid points and other beliefs are
// counted separately, and have separate limits.
func (search *exploration) reserveExpansion(isGridPoint bool) bool {
	count, limit := &search.exactNodes, search.maxExactNodes
	if isGridPoint {
		count, limit = &search.gridNodes, search.maxGridNodes
	}
	if *count >= limit {
		return false
	}
	*count++
	return true
}

// expand computes the result of every action in a belief. It adds nodes for new beliefs.
func (search *exploration) expand(current *belief) []actionResult {
	results := make([]actionResult, search.numActions(current.states[0]))
	for action := range results {
		outcomes := search.outcomesOf(current, action)
		result := &results[action]
		result.goal = new(big.Rat).SetFrac(outcomes.goal, outcomes.totalWeight)
		result.failure = new(big.Rat).SetFrac(outcomes.failure, outcomes.totalWeight)
		for i := range outcomes.continuing {
			next := search.newSuccessor(&outcomes.continuing[i], outcomes.totalWeight)
			result.successors = append(result.successors, next)
			search.numEdges += len(next.representatives)
		}
		if search.Reward != nil {
			result.reward = current.expectation(func(state uint32) *big.Rat { return search.rewardOf(state, search.choiceOf(state, action)) })
		}
	}
	return results
}

// newSuccessor returns the successor belief for one observation after an action, with its probability outcome.weight/total. total is the sum of the weights
// of all outcomes of the action.
func (search *exploration) newSuccessor(outcome *outcome, total *big.Int) successor {
	next := successor{
		prob:            new(big.Rat).SetFrac(outcome.weight, total),
		observation:     search.Observation[outcome.nextBelief.states[0]],
		representatives: search.representatives(outcome.nextBelief),
	}
	if next.isReplaced() {
		next.cutoff = search.cutoffOf(outcome.nextBelief)
	}
	return next
}

// representatives returns the nodes that stand for a belief: the node of the belief itself or, if the limit of expanded beliefs is reached, the grid points
// around the belief. The belief is the weighted sum of these grid points.
func (search *exploration) representatives(represented *belief) []weightedNode {
	if i, found := search.nodeIndex[represented.mapKey()]; found {
		return []weightedNode{{node: i}}
	}
	expandExactly := search.exactNodes < search.maxExactNodes && represented.totalWeight.BitLen() <= maxBeliefBits
	if search.resolution == 0 || expandExactly {
		return []weightedNode{{node: search.addNode(represented, notOnGrid)}}
	}
	corners := represented.triangulate(search.resolution)
	if len(corners) == 1 { // the belief itself is a grid point
		return []weightedNode{{node: search.addNode(represented, onGrid)}}
	}
	search.isPartial = true
	nodes := make([]weightedNode, len(corners))
	for i, corner := range corners {
		nodes[i] = weightedNode{search.addNode(corner.belief, onGrid), corner.weight}
	}
	return nodes
}

// The first states of a finiteMDP; node i has state firstNode+i.
const (
	goal = iota
	failed
	firstNode
)

// finiteMDP is a finite MDP that abstracts the belief MDP.
type finiteMDP struct {
	graph  *sparse.Graph
	reward *sparse.Reward
}

// optimistic and pessimistic are values of the parameter isOptimistic.
const optimistic, pessimistic = true, false

// buildMDP builds an MDP of the explored beliefs, whose value bounds the value of the POMDP. In the optimistic MDP, grid points stand for beliefs, and
// beliefs that were cut off have optimistic bounds as values. In the pessimistic MDP, both kinds of beliefs have pessimistic bounds as values. With isExact,
// rewards have fractions, too.
func (search *exploration) buildMDP(isOptimistic, isExact bool) (*finiteMDP, error) {
	writer := &mdpWriter{exploration: search, isOptimistic: isOptimistic, isExact: isExact, builder: sparse.NewBuilder(sparse.MDP)}
	for range firstNode {
		writer.writeAbsorbing(nil)
	}
	for i := range search.nodes {
		writer.writeNode(&search.nodes[i])
	}
	model, err := writer.builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{firstNode}
	result := &finiteMDP{graph: sparse.NewGraph(model)}
	if search.Reward != nil {
		result.reward = &sparse.Reward{Name: search.Reward.Name, Choice: writer.rewards, RelErr: 0x1p-53}
		if isExact {
			result.reward.ChoiceFractions = writer.exactRewards
		}
	}
	return result, nil
}

// mdpWriter writes the choices of a finiteMDP.
type mdpWriter struct {
	*exploration
	isOptimistic bool
	isExact      bool // the transitions have exact probabilities
	builder      *sparse.Builder
	stateCount   int
	rewards      []float64
	exactRewards []*big.Rat
}

// cutoffValue returns the bound of a cutoff that the MDP uses.
func (writer *mdpWriter) cutoffValue(bounds cutoff) float64 {
	if writer.isOptimistic {
		return bounds.optimisticValue
	}
	return bounds.pessimisticValue
}

// writeAbsorbing writes an absorbing state, goal or failed.
func (writer *mdpWriter) writeAbsorbing(reward *big.Rat) {
	writer.builder.State()
	writer.writeChoice(reward)
	writer.writeTransition(writer.stateCount, big.NewRat(1, 1))
	writer.stateCount++
}

// writeChoice begins a choice of the current state with the given reward, where nil stands for 0. If the problem has no rewards, it ignores the reward.
func (writer *mdpWriter) writeChoice(reward *big.Rat) {
	writer.builder.Choice(sparse.NoAction)
	if writer.Reward == nil {
		return
	}
	if reward == nil {
		reward = new(big.Rat)
	}
	writer.rewards = append(writer.rewards, sparse.NonzeroFloat(reward))
	writer.exactRewards = append(writer.exactRewards, reward)
}

// writeTransition adds a transition to the current choice.
func (writer *mdpWriter) writeTransition(target int, prob *big.Rat) {
	if writer.isExact {
		writer.builder.AddRat(target, prob, sparse.NoAction)
		return
	}
	writer.builder.Add(target, sparse.NonzeroFloat(prob))
}

// writeNode writes the state of a node with one choice for each action. A belief that was cut off gets a single choice, whose value is its bound.
func (writer *mdpWriter) writeNode(node *node) {
	writer.builder.State()
	if node.belief == nil {
		result := writer.newAction()
		writer.addCutoff(result, node.cutoff, big.NewRat(1, 1))
		writer.writeAction(result)
		return
	}
	for i := range node.actions {
		writer.writeAction(writer.newActionOf(&node.actions[i]))
	}
}

// mdpAction is a choice of a finiteMDP: its reward, and the probabilities to reach the goal, to fail, and to reach
// each node.
type mdpAction struct {
	reward        *big.Rat // nil for a probability
	goal, failure *big.Rat
	nodes         []weightedNode
}

// newAction returns a choice with reward 0 and without transitions.
func (writer *mdpWriter) newAction() *mdpAction {
	result := &mdpAction{goal: new(big.Rat), failure: new(big.Rat)}
	if writer.Reward != nil {
		result.reward = new(big.Rat)
	}
	return result
}

// newActionOf returns the choice of the MDP that stands for an action in a belief. action is the result of expanding this action.
func (writer *mdpWriter) newActionOf(action *actionResult) *mdpAction {
	result := writer.newAction()
	result.goal.Set(action.goal)
	result.failure.Set(action.failure)
	if action.reward != nil {
		result.reward.Set(action.reward)
	}
	for i := range action.successors {
		writer.addSuccessor(result, &action.successors[i])
	}
	return result
}

// addSuccessor adds the transitions to a successor belief to a choice. If grid points replace the belief, these are transitions to the grid points in the
// optimistic MDP. In the pessimistic MDP they lead to absorbing states, such that their value is the pessimistic bound of the belief.
func (writer *mdpWriter) addSuccessor(action *mdpAction, next *successor) {
	if !writer.isOptimistic && next.isReplaced() {
		writer.addCutoff(action, next.cutoff, next.prob)
		return
	}
	for _, representative := range next.representatives {
		prob := next.prob
		if representative.weight != nil {
			prob = new(big.Rat).Mul(prob, representative.weight)
		}
		action.nodes = append(action.nodes, weightedNode{representative.node, prob})
	}
}

// writeAction writes a choice with its reward and transitions.
func (writer *mdpWriter) writeAction(action *mdpAction) {
	writer.writeChoice(action.reward)
	writer.writeTransition(goal, action.goal)
	writer.writeTransition(failed, action.failure)
	for _, next := range action.nodes {
		writer.writeTransition(firstNode+next.node, next.weight)
	}
}

// addCutoff adds transitions for a belief that was cut off and that the action reaches with probability prob. They lead to absorbing states. Their
// probabilities and the added reward give the belief the value of its bound.
func (writer *mdpWriter) addCutoff(action *mdpAction, bounds cutoff, prob *big.Rat) {
	value := writer.cutoffValue(bounds)
	switch {
	case writer.Reward == nil: // the bound is a probability: move to goal with this probability, otherwise to failure
		goalShare := new(big.Rat).Mul(prob, new(big.Rat).SetFloat64(value))
		action.goal.Add(action.goal, goalShare)
		action.failure.Add(action.failure, goalShare.Sub(prob, goalShare))
	case math.IsInf(value, 1): // the bound is infinite, as the reward of a path that does not reach the goal
		action.failure.Add(action.failure, prob)
	default: // the bound is a finite reward: earn it, and move to goal
		action.goal.Add(action.goal, prob)
		action.reward.Add(action.reward, new(big.Rat).Mul(prob, new(big.Rat).SetFloat64(value)))
	}
}

// solveMDP returns bounds on the value of each state of a finite MDP.
func (search *exploration) solveMDP(ctx context.Context, mdp *finiteMDP, opts solve.Options) (*solve.Values, error) {
	numStates := mdp.graph.NumStates()
	target := sparse.SetOf(numStates, goal)
	if search.Reward != nil {
		return solve.ReachReward(ctx, mdp.graph, mdp.reward, target, search.Direction, opts)
	}
	return solve.Until(ctx, mdp.graph, sparse.FullSet(numStates), target, search.Direction, opts)
}
