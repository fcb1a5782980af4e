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
	informed *informedBound
	pool     *pool
	nodes    []node
	index    map[string]int
	// maxExact and maxGrid limit the beliefs that are expanded: exact ones and grid points. resolution
	// is that of the grid; 0 for none.
	maxExact, maxGrid, resolution int
	exactNodes, gridNodes         int // expanded so far
	numEdges                      int
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

func (s *exploration) cutoffOf(b *belief) cutoff {
	hope := s.informed.bound(b)
	safe, by := s.pool.bound(b)
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
	prob        *big.Rat
	observation uint32
	parts       []weightedNode
	cutoff      cutoff // of the belief itself, if it was replaced by grid points
}

// weightedNode is a node with its weight in a convex combination; nil stands for 1.
type weightedNode struct {
	node   int
	weight *big.Rat
}

// replaced reports whether grid points replace the belief.
func (b *successor) replaced() bool { return len(b.parts) != 1 || b.parts[0].weight != nil }

// maxBeliefBits is the size of a belief's total above which it is replaced by grid points.
const maxBeliefBits = 1 << 13

// maxEdges limits the stored successors, to about a gigabyte.
const maxEdges = 1 << 22

// explore expands beliefs in breadth-first order.
func (s *exploration) explore(ctx context.Context, start *belief) error {
	s.index = map[string]int{}
	s.addNode(start, false)
	for i := 0; i < len(s.nodes); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := s.nodes[i].belief
		switch {
		case at == nil:
		case s.numEdges > maxEdges:
			s.partial = true
			s.nodes[i].belief, s.nodes[i].cutoff = nil, s.cutoffOf(at)
		default:
			acts := s.expand(at) // may reallocate s.nodes
			s.nodes[i].actions = acts
		}
	}
	return nil
}

// addNode returns the node of a belief, and adds it if it is new. A belief beyond the limits is cut
// off.
func (s *exploration) addNode(b *belief, onGrid bool) int {
	key := b.key()
	if i, known := s.index[key]; known {
		return i
	}
	open := s.exactNodes < s.maxExact
	if onGrid {
		open = s.gridNodes < s.maxGrid
	}
	n := node{belief: b, observation: s.Observation[b.states[0]]}
	switch {
	case !open: // there may be many such beliefs: store neither belief nor key
		s.partial = true
		n.belief, n.cutoff = nil, s.cutoffOf(b)
	case onGrid:
		s.gridNodes++
	default:
		s.exactNodes++
	}
	if open {
		s.index[key] = len(s.nodes)
	}
	s.nodes = append(s.nodes, n)
	return len(s.nodes) - 1
}

// expand applies every action to a belief.
func (s *exploration) expand(b *belief) []actionResult {
	acts := make([]actionResult, s.numActions(b.states[0]))
	for k := range acts {
		out := s.step(b, k)
		result := &acts[k]
		result.goal, result.fail = new(big.Rat).SetFrac(out.goal, out.total), new(big.Rat).SetFrac(out.fail, out.total)
		for _, o := range out.continuing {
			b := successor{prob: new(big.Rat).SetFrac(o.weight, out.total), observation: s.Observation[o.next.states[0]], parts: s.represent(o.next)}
			if b.replaced() {
				b.cutoff = s.cutoffOf(o.next)
			}
			result.successors = append(result.successors, b)
			s.numEdges += len(b.parts)
		}
		if s.Reward != nil {
			result.reward = b.mean(func(st uint32) *big.Rat { return s.rewardOf(st, s.choiceOf(st, k)) })
		}
	}
	return acts
}

// represent returns the nodes that represent a belief: itself, or grid points around it.
func (s *exploration) represent(b *belief) []weightedNode {
	i, known := s.index[b.key()]
	if known {
		return []weightedNode{{node: i}}
	}
	if s.resolution == 0 || s.exactNodes < s.maxExact && b.total.BitLen() <= maxBeliefBits {
		return []weightedNode{{node: s.addNode(b, false)}}
	}
	corners := b.triangulate(s.resolution)
	if len(corners) == 1 { // b is a grid point
		return []weightedNode{{node: s.addNode(b, true)}}
	}
	s.partial = true
	out := make([]weightedNode, len(corners))
	for i, c := range corners {
		out[i] = weightedNode{s.addNode(c.belief, true), c.weight}
	}
	return out
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

// finiteMDP builds the MDP of the explored beliefs. The optimistic one replaces beliefs by grid points,
// and cuts off by optimistic bounds. The pessimistic one cuts off at both by pessimistic bounds.
func (s *exploration) finiteMDP(optimistic, exact bool) (*finiteMDP, error) {
	w := &mdpWriter{exploration: s, optimistic: optimistic, exact: exact, builder: sparse.NewBuilder(sparse.MDP)}
	for range firstNode {
		w.absorbing(nil)
	}
	for i := range s.nodes {
		w.builder.State()
		n := &s.nodes[i]
		if n.belief == nil {
			w.leaf(n.cutoff)
			continue
		}
		for k := range n.actions {
			w.action(&n.actions[k])
		}
	}
	m, err := w.builder.Finish()
	if err != nil {
		return nil, err
	}
	m.Initial = []uint32{firstNode}
	out := &finiteMDP{graph: sparse.NewGraph(m)}
	if s.Reward != nil {
		out.reward = &sparse.Reward{Name: s.Reward.Name, Choice: w.rewards, Err: 0x1p-53}
		if exact {
			out.reward.ChoiceRat = w.rewardRats
		}
	}
	return out, nil
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

func (w *mdpWriter) cutoffValue(x cutoff) float64 {
	if w.optimistic {
		return x.optimistic
	}
	return x.pessimistic
}

// absorbing writes an absorbing state, goal or failed.
func (w *mdpWriter) absorbing(reward *big.Rat) {
	w.builder.State()
	w.choice(reward)
	w.add(w.states, big.NewRat(1, 1))
	w.states++
}

func (w *mdpWriter) choice(reward *big.Rat) {
	w.builder.Choice(sparse.NoAction)
	if w.Reward == nil {
		return
	}
	if reward == nil {
		reward = new(big.Rat)
	}
	w.rewards, w.rewardRats = append(w.rewards, toFloat(reward)), append(w.rewardRats, reward)
}

func (w *mdpWriter) add(to int, prob *big.Rat) {
	if w.exact {
		w.builder.AddRat(to, prob, sparse.NoAction)
		return
	}
	w.builder.Add(to, toFloat(prob))
}

// action writes the choice of an action.
func (w *mdpWriter) action(a *actionResult) {
	goalProb, failProb := new(big.Rat).Set(a.goal), new(big.Rat).Set(a.fail)
	var reward *big.Rat
	if a.reward != nil {
		reward = new(big.Rat).Set(a.reward)
	}
	var successors []weightedNode
	for i := range a.successors {
		b := &a.successors[i]
		if !w.optimistic && b.replaced() {
			w.addCutoff(w.cutoffValue(b.cutoff), b.prob, goalProb, failProb, reward)
			continue
		}
		for _, p := range b.parts {
			share := b.prob
			if p.weight != nil {
				share = new(big.Rat).Mul(share, p.weight)
			}
			successors = append(successors, weightedNode{p.node, share})
		}
	}
	w.choice(reward)
	w.add(goal, goalProb)
	w.add(failed, failProb)
	for _, p := range successors {
		w.add(firstNode+p.node, p.weight)
	}
}

// leaf writes the only choice of a belief that was cut off.
func (w *mdpWriter) leaf(x cutoff) {
	goalProb, failProb := new(big.Rat), new(big.Rat)
	var reward *big.Rat
	if w.Reward != nil {
		reward = new(big.Rat)
	}
	w.addCutoff(w.cutoffValue(x), big.NewRat(1, 1), goalProb, failProb, reward)
	w.choice(reward)
	w.add(goal, goalProb)
	w.add(failed, failProb)
}

// addCutoff adds the value v of a belief that is reached with probability prob. A probability v becomes
// transitions to goal and failed; a reward v becomes a reward and a transition to goal. An infinite
// reward becomes a transition to failed.
func (w *mdpWriter) addCutoff(v float64, prob, goalProb, failProb, reward *big.Rat) {
	switch {
	case w.Reward == nil:
		x := new(big.Rat).Mul(prob, new(big.Rat).SetFloat64(v))
		goalProb.Add(goalProb, x)
		failProb.Add(failProb, x.Sub(prob, x))
	case math.IsInf(v, 1):
		failProb.Add(failProb, prob)
	default:
		goalProb.Add(goalProb, prob)
		reward.Add(reward, new(big.Rat).Mul(prob, new(big.Rat).SetFloat64(v)))
	}
}

// solveMDP returns the values of the nodes.
func (s *exploration) solveMDP(ctx context.Context, a *finiteMDP, opts solve.Options) (*solve.Values, error) {
	n := a.graph.NumStates()
	target := sparse.SetOf(n, goal)
	if s.Reward != nil {
		return solve.ReachReward(ctx, a.graph, a.reward, target, s.Direction, opts)
	}
	return solve.Until(ctx, a.graph, sparse.FullSet(n), target, s.Direction, opts)
}
