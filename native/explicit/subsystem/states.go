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

	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// errNotEnough says that not even everything exceeds the bound.
var errNotEnough = errors.New("the bound is not exceeded, so no part of the model exceeds it")

// States returns states that are enough, of those that the chain meets: as few as
// the likeliest paths, one after the other, need, and then without those that can be
// taken out.
func States(ctx context.Context, q *Question) (*Found, error) {
	c := q.Chain
	g := sparse.NewGraph(c.Model)
	score := scores(c.Model, c.Target)
	best := map[int]float64{} // by state of the model
	for v, s := range c.State {
		if x, ok := best[int(s)]; score[v] < math.Inf(1) && (!ok || score[v] < x) {
			best[int(s)] = score[v]
		}
	}
	order := make([]int, 0, len(best))
	for s := range best {
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(best[a], best[b]), cmp.Compare(a, b)) })
	n := q.Space.Model().NumStates()
	enough := func(kept *sparse.Set) (answer, *big.Rat, error) { return q.within(ctx, g, kept) }
	first := func(k int) *sparse.Set { return sparse.SetOf(n, order[:k]...) }
	var failure error
	k := sort.Search(len(order), func(k int) bool {
		a, _, err := enough(first(k))
		failure = cmp.Or(failure, err)
		return a == yes
	})
	if failure != nil {
		return nil, failure
	}
	a, lower, err := enough(first(k))
	if err != nil {
		return nil, err
	}
	if a != yes {
		return nil, errNotEnough
	}
	last := slices.Clone(order[:k])
	slices.Reverse(last)
	f, err := minimize(ctx, first(k), last, enough, lower)
	if err != nil {
		return nil, err
	}
	f.Of = count(c.State)
	return f, nil
}

func count(states []uint32) int {
	seen := map[uint32]bool{}
	for _, s := range states {
		seen[s] = true
	}
	return len(seen)
}

// within is whether paths of the chain that stay in some states of the model are enough.
func (q *Question) within(ctx context.Context, g *sparse.Graph, kept *sparse.Set) (answer, *big.Rat, error) {
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
	return q.judge(0, n, func(opts solve.Options) (*solve.Values, error) {
		return solve.Until(ctx, g, left, right, solve.Max, opts)
	})
}

// scores returns how unlikely the likeliest path through each node is, as minus its
// logarithm. It is for an order only, so that rounding does no harm.
func scores(m *sparse.Model, target *sparse.Set) []float64 {
	n := m.NumStates()
	forward := distances(n, []int{0}, func(v int, visit func(t int, length float64)) {
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
	into := make([][]arc, n)
	for v := range n {
		if target.Has(v) {
			continue
		}
		first, end := m.Row(v)
		for i := first; i < end; i++ {
			into[m.Target[i]] = append(into[m.Target[i]], arc{int32(v), -math.Log(m.Prob(i))})
		}
	}
	backward := distances(n, slices.Collect(target.All()), func(v int, visit func(t int, length float64)) {
		for _, a := range into[v] {
			visit(int(a.from), a.length)
		}
	})
	for v := range forward {
		forward[v] += backward[v]
	}
	return forward
}

// distances is Dijkstra's algorithm (1959).
func distances(n int, from []int, next func(v int, visit func(t int, length float64))) []float64 {
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
