package subsystem

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"maps"
	"math"
	"math/big"
	"slices"
	"sort"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// errNotExceeded is the error of States for a model that does not violate the bound.
var errNotExceeded = errors.New("the model does not violate the bound, so no part of it does")

// States returns a minimal critical subsystem: a set of states such that the paths within the set violate the bound. It begins with
// the states of the most probable paths, and then removes unnecessary states.
//
// Source: Wimmer et al., Minimal counterexamples for linear-time probabilistic verification (2014).
func States(ctx context.Context, question *Question) (*Result, error) {
	graph := sparse.NewGraph(question.Chain.Model)
	test := func(keptStates *sparse.Set) (sufficiency, *big.Rat, error) {
		return question.sufficientStates(ctx, graph, keptStates)
	}
	order := question.statesByScore()
	prefix, err := question.sufficientPrefix(order, test)
	if err != nil {
		return nil, err
	}
	keptStates := question.setOf(prefix)
	result, lower, err := test(keptStates)
	switch {
	case err != nil:
		return nil, err
	case result != sufficient:
		return nil, errNotExceeded
	}
	leastProbableFirst := slices.Clone(prefix)
	slices.Reverse(leastProbableFirst)
	found, err := minimize(ctx, keptStates, leastProbableFirst, test, lower)
	if err != nil {
		return nil, err
	}
	found.Candidates = countDistinct(question.Chain.State)
	return found, nil
}

// statesByScore returns the states of the model that are on a path to a target. A state on a more probable path comes before a state on a less probable
// path.
func (question *Question) statesByScore() []int {
	leastScores := map[int]float64{} // the least score of the nodes of each state; lower scores belong to more probable paths
	for node, score := range pathScores(question.Chain.Model, question.Chain.Target) {
		if math.IsInf(score, 1) {
			continue
		}
		state := int(question.Chain.State[node])
		if knownScore, isKnown := leastScores[state]; !isKnown || score < knownScore {
			leastScores[state] = score
		}
	}
	return slices.SortedFunc(maps.Keys(leastScores), func(a, b int) int { return cmp.Or(cmp.Compare(leastScores[a], leastScores[b]), cmp.Compare(a, b)) })
}

// sufficientPrefix returns the shortest prefix of a list of states whose paths violate the bound, or the whole list if no prefix does.
func (question *Question) sufficientPrefix(order []int, test sufficiencyTest) ([]int, error) {
	var firstErr error
	// Binary search is possible because a longer prefix only adds paths.
	minLength := sort.Search(len(order), func(length int) bool {
		result, _, err := test(question.setOf(order[:length]))
		firstErr = cmp.Or(firstErr, err)
		return result == sufficient
	})
	return order[:minLength], firstErr
}

// setOf returns a set of states of the model.
func (question *Question) setOf(states []int) *sparse.Set {
	return sparse.SetOf(question.Space.Model().NumStates(), states...)
}

// countDistinct returns the number of different states.
func countDistinct(states []uint32) int {
	seen := map[uint32]bool{}
	for _, s := range states {
		seen[s] = true
	}
	return len(seen)
}

// sufficientStates reports whether the paths that visit only kept states violate the bound. If they do, the second result is a lower bound of their
// probability.
func (question *Question) sufficientStates(ctx context.Context, graph *sparse.Graph, keptStates *sparse.Set) (sufficiency, *big.Rat, error) {
	numNodes := graph.NumStates()
	left, right := sparse.NewSet(numNodes), sparse.NewSet(numNodes)
	for node, state := range question.Chain.State {
		if !keptStates.Has(int(state)) {
			continue
		}
		left.Add(node)
		if question.Chain.Target.Has(node) {
			right.Add(node)
		}
	}
	return question.compareWithBound(0, numNodes, func(opts solve.Options) (*solve.Values, error) {
		return solve.Until(ctx, graph, left, right, solve.Max, opts)
	})
}

// pathScores returns the score of each node: -log of the probability of the most probable path through the node to a target. The score is
// infinite if no such path exists. Rounding errors are not bounded, because scores only determine an order.
func pathScores(model *sparse.Model, target *sparse.Set) []float64 {
	numNodes := model.NumStates()
	outgoing, incoming := make([][]arc, numNodes), make([][]arc, numNodes)
	for node := range numNodes {
		if target.Has(node) {
			continue
		}
		first, end := model.Transitions(node)
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

// shortestDistances returns the distance of each node from the nearest source. arcs[node] has the arcs that leave the node. A negative length is
// a rounding error, and counts as 0.
//
// Source: Dijkstra (1959).
func shortestDistances(sources []int, arcs [][]arc) []float64 {
	distances := slices.Repeat([]float64{math.Inf(1)}, len(arcs))
	queue := &nodeQueue{}
	for _, node := range sources {
		distances[node] = 0
		heap.Push(queue, queuedNode{node, 0})
	}
	for queue.Len() > 0 {
		nearest := heap.Pop(queue).(queuedNode)
		isOutdated := nearest.distance > distances[nearest.node]
		if isOutdated {
			continue
		}
		for _, arc := range arcs[nearest.node] {
			distance := nearest.distance + max(arc.length, 0)
			if distance < distances[arc.node] {
				distances[arc.node] = distance
				heap.Push(queue, queuedNode{arc.node, distance})
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
