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
func States(ctx context.Context, q *Question) (*Found, error) {
	c := q.Chain
	g := sparse.NewGraph(c.Model)
	scores := pathScores(c.Model, c.Target)
	best := map[int]float64{} // the least finite score of each state of the model
	for v, s := range c.State {
		if math.IsInf(scores[v], 1) {
			continue
		}
		score, known := best[int(s)]
		if !known || scores[v] < score {
			best[int(s)] = scores[v]
		}
	}
	order := make([]int, 0, len(best))
	for s := range best {
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(best[a], best[b]), cmp.Compare(a, b)) })
	n := q.Space.Model().NumStates()
	test := func(kept *sparse.Set) (sufficiency, *big.Rat, error) { return q.sufficientStates(ctx, g, kept) }
	firstStates := func(k int) *sparse.Set { return sparse.SetOf(n, order[:k]...) }
	var searchErr error
	k := sort.Search(len(order), func(k int) bool {
		result, _, err := test(firstStates(k))
		searchErr = cmp.Or(searchErr, err)
		return result == sufficient
	})
	if searchErr != nil {
		return nil, searchErr
	}
	result, lower, err := test(firstStates(k))
	if err != nil {
		return nil, err
	}
	if result != sufficient {
		return nil, errNotExceeded
	}
	reversed := slices.Clone(order[:k])
	slices.Reverse(reversed)
	f, err := minimize(ctx, firstStates(k), reversed, test, lower)
	if err != nil {
		return nil, err
	}
	f.Candidates = countDistinct(c.State)
	return f, nil
}

// countDistinct returns the number of different states.
func countDistinct(states []uint32) int {
	seen := map[uint32]bool{}
	for _, s := range states {
		seen[s] = true
	}
	return len(seen)
}

// sufficientStates decides whether the paths of the chain that stay in the kept states violate the
// bound.
func (q *Question) sufficientStates(ctx context.Context, g *sparse.Graph, kept *sparse.Set) (sufficiency, *big.Rat, error) {
	n := g.NumStates()
	left, right := sparse.NewSet(n), sparse.NewSet(n)
	for v, s := range q.Chain.State {
		if kept.Has(int(s)) {
			left.Add(v)
			if q.Chain.Target.Has(v) {
				right.Add(v)
			}
		}
	}
	return q.compareWithBound(0, n, func(opts solve.Options) (*solve.Values, error) {
		return solve.Until(ctx, g, left, right, solve.Max, opts)
	})
}

// pathScores returns, for each node, the negative logarithm of the probability of the most probable path to a
// target through it; infinity if there is none. It is only used for ordering, so it needs no error bounds.
func pathScores(m *sparse.Model, target *sparse.Set) []float64 {
	n := m.NumStates()
	forward := shortestDistances(n, []int{0}, func(v int, visit func(t int, length float64)) {
		if target.Has(v) {
			return
		}
		first, end := m.Row(v)
		for i := first; i < end; i++ {
			visit(int(m.Target[i]), -math.Log(m.Prob(i)))
		}
	})
	type arc struct {
		from   int32
		length float64
	}
	incoming := make([][]arc, n)
	for v := range n {
		if target.Has(v) {
			continue
		}
		first, end := m.Row(v)
		for i := first; i < end; i++ {
			incoming[m.Target[i]] = append(incoming[m.Target[i]], arc{int32(v), -math.Log(m.Prob(i))})
		}
	}
	backward := shortestDistances(n, slices.Collect(target.All()), func(v int, visit func(t int, length float64)) {
		for _, a := range incoming[v] {
			visit(int(a.from), a.length)
		}
	})
	for v := range forward {
		forward[v] += backward[v]
	}
	return forward
}

// shortestDistances returns the distance of each of n nodes from the nearest node of from, by Dijkstra's
// algorithm (1959). successors calls visit for each arc from node v. Negative lengths, which come from rounding,
// count as zero.
func shortestDistances(n int, from []int, successors func(node int, visit func(target int, length float64))) []float64 {
	distances := make([]float64, n)
	for i := range distances {
		distances[i] = math.Inf(1)
	}
	q := &nodeQueue{}
	for _, node := range from {
		distances[node] = 0
		heap.Push(q, queuedNode{node, 0})
	}
	for q.Len() > 0 {
		nearest := heap.Pop(q).(queuedNode)
		if nearest.distance > distances[nearest.node] {
			continue
		}
		successors(nearest.node, func(target int, length float64) {
			distance := nearest.distance + max(length, 0)
			if distance < distances[target] {
				distances[target] = distance
				heap.Push(q, queuedNode{target, distance})
			}
		})
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

func (q nodeQueue) Len() int { return len(q) }
func (q nodeQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].distance, q[j].distance), cmp.Compare(q[i].node, q[j].node)) < 0
}
func (q nodeQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *nodeQueue) Push(x any)   { *q = append(*q, x.(queuedNode)) }
func (q *nodeQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
