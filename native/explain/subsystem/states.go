package subsystem

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"sort"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// errNotExceeded says that the model does not violate the bound.
var errNotExceeded = errors.New("the model does not violate the bound, so no part of it does")

// States returns a minimal set of states such that the paths of the chain within the set violate the bound. It
// finds the shortest sufficient prefix of the states, ordered by the probability of the most probable path
// through each, and then removes unnecessary states from it.
func States(ctx context.Context, question *Question) (*Found, error) {
	chain := question.Chain
	graph := sparse.NewGraph(chain.Model)
	scores := pathScores(chain.Model, chain.Target)
	best := map[int]float64{} // the least finite score of each state of the model
	for node, state := range chain.State {
		if math.IsInf(scores[node], 1) {
			continue
		}
		score, ok := best[int(state)]
		if !ok || scores[node] < score {
			best[int(state)] = scores[node]
		}
	}
	order := make([]int, 0, len(best))
	for state := range best {
		order = append(order, state)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(best[a], best[b]), cmp.Compare(a, b)) })
	numStates := question.Space.Model().NumStates()
	test := func(kept *sparse.Set) (sufficiency, *big.Rat, error) {
		return question.sufficientStates(ctx, graph, kept)
	}
	firstStates := func(count int) *sparse.Set { return sparse.SetOf(numStates, order[:count]...) }
	var searchErr error
	count := sort.Search(len(order), func(count int) bool {
		result, _, err := test(firstStates(count))
		searchErr = cmp.Or(searchErr, err)
		return result == sufficient
	})
	if searchErr != nil {
		return nil, searchErr
	}
	result, lower, err := test(firstStates(count))
	if err != nil {
		return nil, err
	}
	if result != sufficient {
		return nil, errNotExceeded
	}
	reversed := slices.Clone(order[:count])
	slices.Reverse(reversed)
	found, err := minimize(ctx, firstStates(count), reversed, test, lower)
	if err != nil {
		return nil, err
	}
	found.Candidates = countDistinct(chain.State)
	return found, nil
}

// countDistinct returns the number of different states.
func countDistinct(states []uint32) int {
	seen := map[uint32]bool{}
	for _, s := range states {
		seen[s] = true
	}
	return len(seen)
}

// sufficientStates decides whether the paths of the chain that stay in the kept states violate the bound. The fraction
// is a lower bound on the probability of these paths.
func (q *Question) sufficientStates(ctx context.Context, graph *sparse.Graph, kept *sparse.Set) (sufficiency, *big.Rat, error) {
	numNodes := graph.NumStates()
	left, right := sparse.NewSet(numNodes), sparse.NewSet(numNodes)
	for node, state := range q.Chain.State {
		if kept.Has(int(state)) {
			left.Add(node)
			if q.Chain.Target.Has(node) {
				right.Add(node)
			}
		}
	}
	return q.compareWithBound(0, numNodes, func(opts solve.Options) (*solve.Values, error) {
		return solve.Until(ctx, graph, left, right, solve.Max, opts)
	})
}

// pathScores returns, for each node, the negative logarithm of the probability of the most probable path to a
// target through it; infinity if there is none. It is only used for ordering, so it needs no error bounds.
func pathScores(model *sparse.Model, target *sparse.Set) []float64 {
	numNodes := model.NumStates()
	outgoing, incoming := make([][]arc, numNodes), make([][]arc, numNodes)
	for node := range numNodes {
		if target.Has(node) {
			continue
		}
		first, end := model.Row(node)
		for transition := first; transition < end; transition++ {
			next, length := int(model.Target[transition]), -math.Log(model.Prob(transition))
			outgoing[node] = append(outgoing[node], arc{next, length})
			incoming[next] = append(incoming[next], arc{node, length})
		}
	}
	scores := shortestDistances([]int{0}, outgoing)
	for node, distance := range shortestDistances(slices.Collect(target.All()), incoming) {
		scores[node] += distance
	}
	return scores
}

// arc leads to a node, or comes from it; its length is the negative logarithm of a probability.
type arc struct {
	node   int
	length float64
}

// shortestDistances returns the distance of each node from the nearest node of from, by Dijkstra's
// algorithm (1959). arcs has the arcs that begin at each node. Negative lengths, which come from rounding,
// count as zero.
func shortestDistances(from []int, arcs [][]arc) []float64 {
	distances := slices.Repeat([]float64{math.Inf(1)}, len(arcs))
	queue := &nodeQueue{}
	for _, node := range from {
		distances[node] = 0
		heap.Push(queue, queuedNode{node, 0})
	}
	for queue.Len() > 0 {
		nearest := heap.Pop(queue).(queuedNode)
		if nearest.distance > distances[nearest.node] {
			continue
		}
		for _, step := range arcs[nearest.node] {
			distance := nearest.distance + max(step.length, 0)
			if distance < distances[step.node] {
				distances[step.node] = distance
				heap.Push(queue, queuedNode{step.node, distance})
			}
		}
	}
	return distances
}

// queuedNode is a node with the distance that it had when it was queued.
type queuedNode struct {
	node     int
	distance float64
}

// nodeQueue is a heap of nodes, the nearest one first.
type nodeQueue []queuedNode

func (queue nodeQueue) Len() int { return len(queue) }
func (queue nodeQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(queue[i].distance, queue[j].distance), cmp.Compare(queue[i].node, queue[j].node)) < 0
}
func (queue nodeQueue) Swap(i, j int) { queue[i], queue[j] = queue[j], queue[i] }
func (queue *nodeQueue) Push(x any)   { *queue = append(*queue, x.(queuedNode)) }
func (queue *nodeQueue) Pop() any {
	last := (*queue)[len(*queue)-1]
	*queue = (*queue)[:len(*queue)-1]
	return last
}
