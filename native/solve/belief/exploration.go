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
	informed  *informedBound
	pool      *pool
	nodes     []node
	nodeIndex map[string]int
	// maxExactNodes and maxGridNodes limit the beliefs that are expanded: exact ones and grid points. resolution
	// is that of the grid; 0 for none.
	maxExactNodes, maxGridNodes, resolution int
	exactNodes, gridNodes                   int // expanded so far
	numEdges                                int
	// partial says that some belief was cut off, or replaced by grid points.
	partial bool
}

// node is a belief. It is nil if the belief was cut off, that is, not expanded.
type node struct {
	belief      *belief // nil if cut off
	observation uint32
	cutoff      cutoff
	actions     []actionResult
}

// cutoff bounds the value of a belief without expanding it: optimistically, and pessimistically by a
// strategy of the pool.
type cutoff struct {
	optimistic, pessimistic float64
	strategy                int
}

func (search *exploration) cutoffOf(b *belief) cutoff {
	hope := search.informed.bound(b)
	safe, by := search.pool.bestStrategy(b)
	return cutoff{hope, safe, by}
}

// actionResult is the result of an action in a belief: where it leads, and the expected reward.
type actionResult struct {
	successors []successor
	goal, fail *big.Rat
	reward     *big.Rat
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

// replaced reports whether grid points replace the belief.
func (b *successor) replaced() bool {
	return len(b.representatives) != 1 || b.representatives[0].weight != nil
}

// maxBeliefBits is the size of a belief's total above which it is replaced by grid points.
const maxBeliefBits = 1 << 13

// maxEdges limits the stored successors, to about a gigabyte.
const maxEdges = 1 << 22

// explore expands the reachable beliefs in breadth-first order, up to the limits.
func (search *exploration) explore(ctx context.Context, start *belief) error {
	search.nodeIndex = map[string]int{}
	search.addNode(start, false)
	for i := 0; i < len(search.nodes); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		current := search.nodes[i].belief
		switch {
		case current == nil:
		case search.numEdges > maxEdges:
			search.partial = true
			search.nodes[i].belief = nil
			search.nodes[i].cutoff = search.cutoffOf(current)
		default:
			actions := search.expand(current) // may reallocate search.nodes
			search.nodes[i].actions = actions
		}
	}
	return nil
}

// addNode returns the number of the node of a belief, and adds the node if it is new. A belief beyond the
// limits is cut off: it gets bounds instead of successors.
func (search *exploration) addNode(b *belief, onGrid bool) int {
	key := b.key()
	if i, known := search.nodeIndex[key]; known {
		return i
	}
	withinLimit := search.exactNodes < search.maxExactNodes
	if onGrid {
		withinLimit = search.gridNodes < search.maxGridNodes
	}
	added := node{belief: b, observation: search.Observation[b.states[0]]}
	switch {
	case !withinLimit: // there may be many such beliefs: store neither belief nor key
		search.partial = true
		added.belief, added.cutoff = nil, search.cutoffOf(b)
	case onGrid:
		search.gridNodes++
	default:
		search.exactNodes++
	}
	if withinLimit {
		search.nodeIndex[key] = len(search.nodes)
	}
	search.nodes = append(search.nodes, added)
	return len(search.nodes) - 1
}

// expand computes the result of every action in a belief: the probabilities to reach the goal and to fail, the expected reward,
// and the beliefs that may follow, with a cutoff value for a belief that is not explored.
func (search *exploration) expand(current *belief) []actionResult {
	results := make([]actionResult, search.numActions(current.states[0]))
	for action := range results {
		outcomes := search.step(current, action)
		result := &results[action]
		result.goal = new(big.Rat).SetFrac(outcomes.goal, outcomes.total)
		result.fail = new(big.Rat).SetFrac(outcomes.fail, outcomes.total)
		for _, outcome := range outcomes.continuing {
			next := successor{
				prob:            new(big.Rat).SetFrac(outcome.weight, outcomes.total),
				observation:     search.Observation[outcome.next.states[0]],
				representatives: search.represent(outcome.next),
			}
			if next.replaced() {
				next.cutoff = search.cutoffOf(outcome.next)
			}
			result.successors = append(result.successors, next)
			search.numEdges += len(next.representatives)
		}
		if search.Reward != nil {
			result.reward = current.expectation(func(state uint32) *big.Rat { return search.rewardOf(state, search.choiceOf(state, action)) })
		}
	}
	return results
}

// represent returns the nodes that stand for a belief: its own node, or the grid points around it with their
// weights.
func (search *exploration) represent(b *belief) []weightedNode {
	i, known := search.nodeIndex[b.key()]
	if known {
		return []weightedNode{{node: i}}
	}
	if search.resolution == 0 || search.exactNodes < search.maxExactNodes && b.total.BitLen() <= maxBeliefBits {
		return []weightedNode{{node: search.addNode(b, false)}}
	}
	corners := b.triangulate(search.resolution)
	if len(corners) == 1 { // b is a grid point
		return []weightedNode{{node: search.addNode(b, true)}}
	}
	search.partial = true
	nodes := make([]weightedNode, len(corners))
	for i, corner := range corners {
		nodes[i] = weightedNode{search.addNode(corner.belief, true), corner.weight}
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

// finiteMDP builds the MDP of the explored beliefs. The optimistic one replaces beliefs by grid points, and
// cuts off by optimistic bounds. The pessimistic one cuts off at both by pessimistic bounds.
func (search *exploration) finiteMDP(optimistic, exact bool) (*finiteMDP, error) {
	writer := &mdpWriter{exploration: search, optimistic: optimistic, exact: exact, builder: sparse.NewBuilder(sparse.MDP)}
	for range firstNode {
		writer.writeAbsorbing(nil)
	}
	for i := range search.nodes {
		writer.builder.State()
		node := &search.nodes[i]
		if node.belief == nil {
			writer.writeCutoff(node.cutoff)
			continue
		}
		for k := range node.actions {
			writer.writeAction(&node.actions[k])
		}
	}
	model, err := writer.builder.Finish()
	if err != nil {
		return nil, err
	}
	model.Initial = []uint32{firstNode}
	result := &finiteMDP{graph: sparse.NewGraph(model)}
	if search.Reward != nil {
		result.reward = &sparse.Reward{Name: search.Reward.Name, Choice: writer.rewards, Err: 0x1p-53}
		if exact {
			result.reward.ChoiceRat = writer.rewardRats
		}
	}
	return result, nil
}

// mdpWriter writes the choices of a finiteMDP.
type mdpWriter struct {
	*exploration
	optimistic, exact bool
	builder           *sparse.Builder
	states            int
	rewards           []float64
	rewardRats        []*big.Rat
}

func (writer *mdpWriter) cutoffValue(x cutoff) float64 {
	if writer.optimistic {
		return x.optimistic
	}
	return x.pessimistic
}

// writeAbsorbing writes an absorbing state, goal or failed.
func (writer *mdpWriter) writeAbsorbing(reward *big.Rat) {
	writer.builder.State()
	writer.writeChoice(reward)
	writer.writeTransition(writer.states, big.NewRat(1, 1))
	writer.states++
}

// writeChoice begins a choice with the given reward; nil stands for 0.
func (writer *mdpWriter) writeChoice(reward *big.Rat) {
	writer.builder.Choice(sparse.NoAction)
	if writer.Reward == nil {
		return
	}
	if reward == nil {
		reward = new(big.Rat)
	}
	writer.rewards = append(writer.rewards, toFloat(reward))
	writer.rewardRats = append(writer.rewardRats, reward)
}

func (writer *mdpWriter) writeTransition(to int, prob *big.Rat) {
	if writer.exact {
		writer.builder.AddRat(to, prob, sparse.NoAction)
		return
	}
	writer.builder.Add(to, toFloat(prob))
}

// writeAction writes the choice of an action. Successors that were cut off contribute their bounds.
func (writer *mdpWriter) writeAction(result *actionResult) {
	goalProb, failProb := new(big.Rat).Set(result.goal), new(big.Rat).Set(result.fail)
	var reward *big.Rat
	if result.reward != nil {
		reward = new(big.Rat).Set(result.reward)
	}
	var successors []weightedNode
	for i := range result.successors {
		successor := &result.successors[i]
		if !writer.optimistic && successor.replaced() {
			writer.addCutoffValue(writer.cutoffValue(successor.cutoff), successor.prob, goalProb, failProb, reward)
			continue
		}
		for _, part := range successor.representatives {
			share := successor.prob
			if part.weight != nil {
				share = new(big.Rat).Mul(share, part.weight)
			}
			successors = append(successors, weightedNode{part.node, share})
		}
	}
	writer.writeChoice(reward)
	writer.writeTransition(goal, goalProb)
	writer.writeTransition(failed, failProb)
	for _, part := range successors {
		writer.writeTransition(firstNode+part.node, part.weight)
	}
}

// writeCutoff writes the only choice of a belief that was cut off: it leads to goal and failed with the
// probabilities of its bound.
func (writer *mdpWriter) writeCutoff(end cutoff) {
	goalProb, failProb := new(big.Rat), new(big.Rat)
	var reward *big.Rat
	if writer.Reward != nil {
		reward = new(big.Rat)
	}
	writer.addCutoffValue(writer.cutoffValue(end), big.NewRat(1, 1), goalProb, failProb, reward)
	writer.writeChoice(reward)
	writer.writeTransition(goal, goalProb)
	writer.writeTransition(failed, failProb)
}

// addCutoffValue adds the bound on the value of a belief that is reached with probability prob. A bound on a
// probability becomes transitions to goal and failed. A bound on a reward becomes a reward and a transition
// to goal, or, if it is infinite, a transition to failed.
func (writer *mdpWriter) addCutoffValue(value float64, prob, goalProb, failProb, reward *big.Rat) {
	switch {
	case writer.Reward == nil:
		goalShare := new(big.Rat).Mul(prob, new(big.Rat).SetFloat64(value))
		goalProb.Add(goalProb, goalShare)
		failProb.Add(failProb, goalShare.Sub(prob, goalShare))
	case math.IsInf(value, 1):
		failProb.Add(failProb, prob)
	default:
		goalProb.Add(goalProb, prob)
		reward.Add(reward, new(big.Rat).Mul(prob, new(big.Rat).SetFloat64(value)))
	}
}

// solveMDP returns the values of the nodes.
func (search *exploration) solveMDP(ctx context.Context, mdp *finiteMDP, opts solve.Options) (*solve.Values, error) {
	n := mdp.graph.NumStates()
	target := sparse.SetOf(n, goal)
	if search.Reward != nil {
		return solve.ReachReward(ctx, mdp.graph, mdp.reward, target, search.Direction, opts)
	}
	return solve.Until(ctx, mdp.graph, sparse.FullSet(n), target, search.Direction, opts)
}
