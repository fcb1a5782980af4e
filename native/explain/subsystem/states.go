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

// errNotExceeded says that the whole model does not violate the bound.
var errNotExceeded = errors.New("the model does not violate the bound, so no part of it does")

// States returns a minimal set of states of the chain that violates the bound. It takes the states on
// the most probable paths, as few as are sufficient, and then removes unnecessary ones.
func States(ctx context.Context, q *Question) (*Found, error) {
	c := q.Chain
	g := sparse.NewGraph(c.Model)
	scores := pathScores(c.Model, c.Target)
	best := map[int]float64{} // by state of the model
	for v, s := range c.State {
		if x, ok := best[int(s)]; scores[v] < math.Inf(1) && (!ok || scores[v] < x) {
			best[int(s)] = scores[v]
		}
	}
	order := make([]int, 0, len(best))
	for s := range best {
		order = append(order, s)
	}
	slices.SortFunc(order, func(result, b int) int { return cmp.Or(cmp.Compare(best[result], best[b]), cmp.Compare(result, b)) })
	n := q.Space.Model().NumStates()
	test := func(kept *sparse.Set) (sufficiency, *big.Rat, error) { return q.sufficientStates(ctx, g, kept) }
	firstStates := func(k int) *sparse.Set { return sparse.SetOf(n, order[:k]...) }
	var failed error
	k := sort.Search(len(order), func(k int) bool {
		result, _, err := test(firstStates(k))
		failed = cmp.Or(failed, err)
		return result == sufficient
	})
	if failed != nil {
		return nil, failed
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

// pathScores returns, for each node, the negative logarithm of the most probable path through it. It is
// only used for ordering, so it needs no error bounds.
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

// shortestDistances is Dijkstra's algorithm (1959).
func shortestDistances(n int, from []int, next func(v int, visit func(t int, length float64))) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Inf(1)
	}
	q := &queue{}
	for _, v := range from {
		out[v] = 0
		heap.Push(q, item{v, 0})
	}
	for q.Len() > 0 {
		at := heap.Pop(q).(item)
		if at.distance > out[at.node] {
			continue
		}
		next(at.node, func(t int, length float64) {
			if d := at.distance + max(length, 0); d < out[t] {
				out[t] = d
				heap.Push(q, item{t, d})
			}
		})
	}
	return out
}

type item struct {
	node     int
	distance float64
}

type queue []item

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].distance, q[j].distance), cmp.Compare(q[i].node, q[j].node)) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(item)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
