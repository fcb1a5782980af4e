package witness

import (
	"cmp"
	"container/heap"
	"context"
	"iter"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

var inf = math.Inf(1)

// Path is a path of a chain from its first node to a target.
type Path struct {
	// Nodes are the nodes in order; a path without steps has one.
	Nodes []uint32
	// Prob is the probability of the path, greater than 0.
	Prob *big.Rat
}

// Paths enumerates the paths of a chain to its targets in decreasing order of probability. It keeps all
// paths found, and is not safe for concurrent use.
type Paths struct {
	ctx   context.Context
	chain *Chain
	// incoming[incomingStart[v]:incomingStart[v+1]] are the transitions into node v from nodes from which a target is reachable. The
	// last node, goal, is an additional one. It is the successor of all targets.
	incomingStart []uint32
	incoming      []incomingStep
	pathsTo       [][]pathEntry // the paths to each node, in decreasing order of probability
	candidates    []candidateHeap
	goal          uint32
	numReturned   int // number of paths that Next returned
	work          int
}

// incomingStep is a transition into a node: its source and the number of its weight.
type incomingStep struct {
	source uint32
	weight uint32
}

// pathEntry is a path to a node: path number rank to the previous node, and one step. The path without
// steps has no previous node.
type pathEntry struct {
	previous uint32
	rank     uint32
	product  product
	steps    uint32
}

const none = sparse.None

// Paths returns an enumeration of the chain's paths to a target, the most probable path first. The error is ctx.Err().
func (chain *Chain) Paths(ctx context.Context) (*Paths, error) {
	numNodes := len(chain.State)
	paths := &Paths{
		ctx: ctx, chain: chain, goal: uint32(numNodes),
		pathsTo: make([][]pathEntry, numNodes+1), candidates: make([]candidateHeap, numNodes+1),
	}
	paths.collectIncoming()
	return paths, paths.findLikeliestPaths()
}

// collectIncoming stores the transitions into each node, sorted by their targets (counting sort). It omits nodes from which no target is reachable.
func (paths *Paths) collectIncoming() {
	numNodes := len(paths.chain.State)
	useful := sparse.NewGraph(paths.chain.Model).ExistsUntil(sparse.FullSet(numNodes), paths.chain.Target)
	starts := make([]uint32, numNodes+2) // starts[node] becomes the position of the first transition into a node; the goal is a node, too
	for target := range paths.steps(useful) {
		starts[target+1]++ // the number of transitions into the target
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	paths.incoming = make([]incomingStep, starts[len(starts)-1])
	nextPosition := slices.Clone(starts)
	for target, step := range paths.steps(useful) {
		paths.incoming[nextPosition[target]] = step
		nextPosition[target]++
	}
	paths.incomingStart = starts
}

// steps yields each transition between useful nodes, and a step from each target to the goal, an additional node. The first value is the node to which
// the step leads. A node is useful if a target is reachable from it.
func (paths *Paths) steps(useful *sparse.Set) iter.Seq2[uint32, incomingStep] {
	model := paths.chain.Model
	return func(yield func(to uint32, step incomingStep) bool) {
		for node := range useful.All() {
			if paths.chain.Target.Has(node) {
				if !yield(paths.goal, incomingStep{uint32(node), none}) {
					return
				}
				continue
			}
			first, end := model.Transitions(node)
			for transition := first; transition < end; transition++ {
				target := model.Target[transition]
				if useful.Has(int(target)) && !yield(target, incomingStep{uint32(node), model.WeightIndex[transition]}) {
					return
				}
			}
		}
	}
}

// appendStep returns a path with one more step. The path is number rank among the paths to node from. weight is the number of the
// step's weight, or none for the step from a target to the goal.
func (paths *Paths) appendStep(path pathEntry, from, rank, weight uint32) pathEntry {
	result := pathEntry{previous: from, rank: rank, product: path.product, steps: path.steps + 1}
	if weight != none {
		result.product = paths.chain.products.multiply(path.product, weight)
	}
	return result
}

// precedes reports whether path left comes before path right: it is more probable, or equally probable and shorter. Numbers of nodes break ties.
func (paths *Paths) precedes(left, right pathEntry) bool {
	return cmp.Or(
		paths.chain.products.compare(right.product, left.product), cmp.Compare(left.steps, right.steps),
		cmp.Compare(left.previous, right.previous), cmp.Compare(left.rank, right.rank),
	) < 0
}

// findLikeliestPaths finds the most probable path to every node. The queue is ordered by rounded probabilities, so a node is processed again if
// a better path to it is found later.
//
// Source: Dijkstra (1959), with label correction.
func (paths *Paths) findLikeliestPaths() error {
	targetIsReachable := paths.incomingStart[paths.goal] < paths.incomingStart[paths.goal+1]
	if !targetIsReachable {
		return nil
	}
	useful := sparse.NewSet(len(paths.pathsTo)) // the nodes from which a target is reachable
	for _, step := range paths.incoming {
		useful.Add(int(step.source))
	}
	paths.pathsTo[0] = []pathEntry{{previous: none}}
	queue := &nodeQueue{products: paths.chain.products}
	queue.push(0, 0)
	for queue.Len() > 0 {
		if err := paths.poll(); err != nil {
			return err
		}
		item := heap.Pop(queue).(queuedNode)
		isOutdated := paths.pathsTo[item.node][0].product != item.product
		if item.node != paths.goal && !isOutdated {
			paths.relaxSteps(queue, item.node, useful)
		}
	}
	return nil
}

// relaxSteps extends the most probable known path to a node by each step to a useful node, from which a target is reachable. From a target, the only
// step leads to the goal, an additional node.
func (paths *Paths) relaxSteps(queue *nodeQueue, node uint32, useful *sparse.Set) {
	if paths.chain.Target.Has(int(node)) {
		paths.relax(queue, node, paths.goal, none)
		return
	}
	model := paths.chain.Model
	first, end := model.Transitions(int(node))
	for transition := first; transition < end; transition++ {
		if target := model.Target[transition]; useful.Has(int(target)) {
			paths.relax(queue, node, target, model.WeightIndex[transition])
		}
	}
}

// relax extends the most probable known path to a node by a step to target. It stores the new path if no path to target is known, or if the new path
// comes before the known path.
func (paths *Paths) relax(queue *nodeQueue, node, target, weight uint32) {
	newPath := paths.appendStep(paths.pathsTo[node][0], node, 0, weight)
	if paths.pathsTo[target] != nil && !paths.precedes(newPath, paths.pathsTo[target][0]) {
		return
	}
	paths.pathsTo[target] = []pathEntry{newPath}
	queue.push(target, newPath.product)
}

// poll returns the context's error in every 4096th call, and nil in other calls.
func (paths *Paths) poll() error {
	paths.work++
	if paths.work&0xfff == 0 {
		return paths.ctx.Err()
	}
	return nil
}

// Next returns the next path, nil after the last one.
func (paths *Paths) Next() (*Path, error) {
	entry, err := paths.nextEntry()
	if entry == nil || err != nil {
		return nil, err
	}
	return paths.path(*entry), nil
}

// nextEntry returns the next most probable path to the goal, or nil if there is no further path.
func (paths *Paths) nextEntry() (*pathEntry, error) {
	isFirst := paths.numReturned == 0 // findLikeliestPaths has found the first path
	if !isFirst {
		if err := paths.findNth(paths.goal, paths.numReturned+1); err != nil {
			return nil, err
		}
	}
	if len(paths.pathsTo[paths.goal]) <= paths.numReturned {
		return nil, paths.ctx.Err()
	}
	next := &paths.pathsTo[paths.goal][paths.numReturned]
	paths.numReturned++
	return next, nil
}

// path returns the nodes and the probability of a path to the goal. entry is the last entry of the path; each entry refers to the entry before it.
func (paths *Paths) path(entry pathEntry) *Path {
	path := &Path{Prob: paths.chain.products.fraction(entry.product)}
	// Entries are linked backwards, from the goal to node 0.
	for entry.previous != none {
		path.Nodes = append(path.Nodes, entry.previous)
		entry = paths.pathsTo[entry.previous][entry.rank]
	}
	slices.Reverse(path.Nodes)
	return path
}

// findNth appends the n-th most probable path to a node to pathsTo[node], if there is such a path. n is at least 2.
//
// Source: recursive enumeration, Jiménez and Marzal (1999).
func (paths *Paths) findNth(node uint32, n int) error {
	isFoundOrMissing := len(paths.pathsTo[node]) != n-1 // n paths are already known, or the node has fewer than n-1 paths
	if isFoundOrMissing {
		return nil
	}
	if err := paths.poll(); err != nil {
		return err
	}
	// The heap has one candidate for each predecessor: the next most probable path over the predecessor.
	candidates := &paths.candidates[node]
	lastPath := paths.pathsTo[node][n-2]
	if n == 2 {
		paths.initCandidates(node, lastPath.previous)
	}
	if lastPath.previous != none {
		if err := paths.replaceCandidate(candidates, lastPath); err != nil {
			return err
		}
	}
	if candidates.Len() > 0 {
		next := heap.Pop(candidates).(candidate)
		candidates.lastWeight = next.weight
		paths.pathsTo[node] = append(paths.pathsTo[node], next.pathEntry)
	}
	return nil
}

// replaceCandidate adds the candidate that follows a path over the same predecessor: the next most probable path to the predecessor, with the
// same last step. It adds nothing if the predecessor has no further path.
func (paths *Paths) replaceCandidate(candidates *candidateHeap, path pathEntry) error {
	predecessor, nextRank := path.previous, int(path.rank)+1 // ranks start at 0
	if err := paths.findNth(predecessor, nextRank+1); err != nil {
		return err
	}
	knownPaths := paths.pathsTo[predecessor]
	if nextRank >= len(knownPaths) {
		return nil
	}
	newPath := paths.appendStep(knownPaths[nextRank], predecessor, uint32(nextRank), candidates.lastWeight)
	heap.Push(candidates, candidate{newPath, candidates.lastWeight})
	return nil
}

// initCandidates fills the heap of a node with the most probable path over each predecessor. It leaves out the predecessor of the most probable path to
// the node, whose next path replaceCandidate adds.
func (paths *Paths) initCandidates(node, firstPredecessor uint32) {
	candidates := &paths.candidates[node]
	candidates.precedes = paths.precedes
	for _, step := range paths.incoming[paths.incomingStart[node]:paths.incomingStart[node+1]] {
		switch {
		case step.source == firstPredecessor:
			candidates.lastWeight = step.weight
		case len(paths.pathsTo[step.source]) > 0:
			entry := paths.appendStep(paths.pathsTo[step.source][0], step.source, 0, step.weight)
			candidates.paths = append(candidates.paths, candidate{entry, step.weight})
		}
	}
	heap.Init(candidates)
}

// candidateHeap is a heap of the paths to a node that may be the next one.
type candidateHeap struct {
	paths      []candidate
	lastWeight uint32 // weight of the last step of the path found last
	precedes   func(a, b pathEntry) bool
}

// candidate is a path with the weight of its last step.
type candidate struct {
	pathEntry
	weight uint32
}

func (heap *candidateHeap) Len() int { return len(heap.paths) }
func (heap *candidateHeap) Less(i, j int) bool {
	return heap.precedes(heap.paths[i].pathEntry, heap.paths[j].pathEntry)
}

func (heap *candidateHeap) Swap(i, j int) {
	heap.paths[i], heap.paths[j] = heap.paths[j], heap.paths[i]
}
func (heap *candidateHeap) Push(x any) { heap.paths = append(heap.paths, x.(candidate)) }
func (heap *candidateHeap) Pop() any {
	last := heap.paths[len(heap.paths)-1]
	heap.paths = heap.paths[:len(heap.paths)-1]
	return last
}

// nodeQueue is a heap of nodes, by decreasing probability of their path.
type nodeQueue struct {
	nodes    []queuedNode
	products *products
}

// queuedNode is a node with the probability that its path had when it was queued.
type queuedNode struct {
	node    uint32
	product product
}

func (queue *nodeQueue) push(node uint32, p product) { heap.Push(queue, queuedNode{node, p}) }

func (queue *nodeQueue) Len() int { return len(queue.nodes) }
func (queue *nodeQueue) Less(i, j int) bool {
	a, b := queue.nodes[i], queue.nodes[j]
	return cmp.Or(cmp.Compare(queue.products.logs[b.product], queue.products.logs[a.product]), cmp.Compare(a.node, b.node)) < 0
}

func (queue *nodeQueue) Swap(i, j int) {
	queue.nodes[i], queue.nodes[j] = queue.nodes[j], queue.nodes[i]
}
func (queue *nodeQueue) Push(x any) { queue.nodes = append(queue.nodes, x.(queuedNode)) }
func (queue *nodeQueue) Pop() any {
	last := queue.nodes[len(queue.nodes)-1]
	queue.nodes = queue.nodes[:len(queue.nodes)-1]
	return last
}
