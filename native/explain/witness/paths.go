package witness

import (
	"cmp"
	"container/heap"
	"context"
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
	// incoming[start[v]:start[v+1]] are the transitions into node v from nodes that can reach a target.
	// The additional last node, goal, is the successor of all targets.
	start      []uint32
	incoming   []incomingStep
	paths      [][]pathEntry // of each node, in decreasing order of probability
	candidates []candidateHeap
	goal       uint32
	returned   int // number of paths that Next returned
	work       int
}

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

// Paths starts an enumeration. The error is the context's; Next also returns it.
func (c *Chain) Paths(ctx context.Context) (*Paths, error) {
	n := len(c.State)
	p := &Paths{ctx: ctx, chain: c, goal: uint32(n), paths: make([][]pathEntry, n+1), candidates: make([]candidateHeap, n+1)}
	p.collectIncoming()
	return p, p.findLikeliest()
}

// collectIncoming collects the transitions into each node.
func (p *Paths) collectIncoming() {
	m, n := p.chain.Model, len(p.chain.State)
	useful := sparse.NewGraph(m).ExistsUntil(sparse.FullSet(n), p.chain.Target)
	p.start = make([]uint32, n+3)
	each := func(visit func(to uint32, a incomingStep)) {
		for v := range useful.All() {
			if p.chain.Target.Has(v) {
				visit(p.goal, incomingStep{uint32(v), none})
				continue
			}
			first, end := m.Row(v)
			for i := first; i < end; i++ {
				if t := m.Target[i]; useful.Has(int(t)) {
					visit(t, incomingStep{uint32(v), m.Weight[i]})
				}
			}
		}
	}
	each(func(to uint32, _ incomingStep) { p.start[to+2]++ })
	for i := 2; i < len(p.start); i++ {
		p.start[i] += p.start[i-1]
	}
	p.incoming = make([]incomingStep, p.start[len(p.start)-1])
	each(func(to uint32, a incomingStep) {
		p.incoming[p.start[to+1]] = a
		p.start[to+1]++
	})
}

// appendStep returns a path extended by a step. The step from a target to goal has no weight and does
// not count.
func (p *Paths) appendStep(e pathEntry, from, rank, weight uint32) pathEntry {
	out := pathEntry{previous: from, rank: rank, product: e.product, steps: e.steps + 1}
	if weight != none {
		out.product = p.chain.products.mul(e.product, weight)
	}
	return out
}

// precedes reports whether path a comes before path b to the same node.
func (p *Paths) precedes(a, b pathEntry) bool {
	return cmp.Or(
		p.chain.products.compare(b.product, a.product), cmp.Compare(a.steps, b.steps),
		cmp.Compare(a.previous, b.previous), cmp.Compare(a.rank, b.rank),
	) < 0
}

// findLikeliest finds the most probable path to every node. The queue is ordered by rounded logarithms.
// Where that order is wrong and a better path to a finished node is found, the node is processed again.
//
// Source: Dijkstra (1959), with label correction.
func (p *Paths) findLikeliest() error {
	m := p.chain.Model
	q := &nodeQueue{products: p.chain.products}
	if useless := p.start[p.goal] == p.start[p.goal+1]; useless {
		return nil
	}
	useful := make([]bool, len(p.paths))
	for _, a := range p.incoming {
		useful[a.source] = true
	}
	p.paths[0] = []pathEntry{{previous: none}}
	q.push(0, 0)
	relax := func(v, t, weight uint32) {
		e := p.appendStep(p.paths[v][0], v, 0, weight)
		if p.paths[t] == nil {
			p.paths[t] = []pathEntry{e}
		} else if p.precedes(e, p.paths[t][0]) {
			p.paths[t][0] = e
		} else {
			return
		}
		q.push(t, e.product)
	}
	for q.Len() > 0 {
		item := heap.Pop(q).(queuedNode)
		v := item.node
		if err := p.poll(); err != nil {
			return err
		}
		if v == p.goal || p.paths[v][0].product != item.product {
			continue
		}
		if p.chain.Target.Has(int(v)) {
			relax(v, p.goal, none)
			continue
		}
		first, end := m.Row(int(v))
		for i := first; i < end; i++ {
			if t := m.Target[i]; useful[t] {
				relax(v, t, m.Weight[i])
			}
		}
	}
	return nil
}

func (p *Paths) poll() error {
	if p.work++; p.work&0xfff == 0 {
		return p.ctx.Err()
	}
	return nil
}

// Next returns the next path, nil after the last one.
func (p *Paths) Next() (*Path, error) {
	e, err := p.nextEntry()
	if e == nil || err != nil {
		return nil, err
	}
	return p.path(*e), nil
}

func (p *Paths) nextEntry() (*pathEntry, error) {
	if p.returned > 0 {
		if err := p.findKth(p.goal, p.returned+1); err != nil {
			return nil, err
		}
	}
	if len(p.paths[p.goal]) <= p.returned {
		return nil, p.ctx.Err()
	}
	p.returned++
	return &p.paths[p.goal][p.returned-1], nil
}

// path lists the nodes of a path, which are linked backwards.
func (p *Paths) path(e pathEntry) *Path {
	out := &Path{Prob: p.chain.products.rat(e.product)}
	for e.previous != none {
		out.Nodes = append(out.Nodes, e.previous)
		e = p.paths[e.previous][e.rank]
	}
	slices.Reverse(out.Nodes)
	return out
}

// findKth finds path number k to a node, counted from 1, if there is one. k-1 paths must be known.
//
// Source: recursive enumeration, Jiménez and Marzal (1999).
func (p *Paths) findKth(v uint32, k int) error {
	if len(p.paths[v]) >= k || len(p.paths[v]) < k-1 {
		return nil
	}
	if err := p.poll(); err != nil {
		return err
	}
	c := &p.candidates[v]
	last := p.paths[v][k-2]
	if k == 2 {
		c.precedes = p.precedes
		for _, a := range p.incoming[p.start[v]:p.start[v+1]] {
			if a.source != last.previous && len(p.paths[a.source]) > 0 {
				c.list = append(c.list, candidate{p.appendStep(p.paths[a.source][0], a.source, 0, a.weight), a.weight})
			}
			if a.source == last.previous {
				c.lastWeight = a.weight
			}
		}
		heap.Init(c)
	}
	if last.previous != none {
		rank := int(last.rank) + 1
		if err := p.findKth(last.previous, rank+1); err != nil {
			return err
		}
		if len(p.paths[last.previous]) > rank {
			e := p.appendStep(p.paths[last.previous][rank], last.previous, uint32(rank), c.lastWeight)
			heap.Push(c, candidate{e, c.lastWeight})
		}
	}
	if c.Len() > 0 {
		next := heap.Pop(c).(candidate)
		c.lastWeight = next.weight
		p.paths[v] = append(p.paths[v], next.pathEntry)
	}
	return nil
}

// candidateHeap is a heap of the paths to a node that may be the next one.
type candidateHeap struct {
	list       []candidate
	lastWeight uint32 // weight of the last step of the path found last
	precedes   func(a, b pathEntry) bool
}

type candidate struct {
	pathEntry
	weight uint32
}

func (c *candidateHeap) Len() int { return len(c.list) }
func (c *candidateHeap) Less(i, j int) bool {
	return c.precedes(c.list[i].pathEntry, c.list[j].pathEntry)
}
func (c *candidateHeap) Swap(i, j int) { c.list[i], c.list[j] = c.list[j], c.list[i] }
func (c *candidateHeap) Push(x any)    { c.list = append(c.list, x.(candidate)) }
func (c *candidateHeap) Pop() any {
	last := c.list[len(c.list)-1]
	c.list = c.list[:len(c.list)-1]
	return last
}

// nodeQueue is a heap of nodes, by decreasing probability of their path.
type nodeQueue struct {
	list     []queuedNode
	products *products
}

type queuedNode struct {
	node    uint32
	product product
}

func (q *nodeQueue) push(v uint32, p product) { heap.Push(q, queuedNode{v, p}) }

func (q *nodeQueue) Len() int { return len(q.list) }
func (q *nodeQueue) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return cmp.Or(cmp.Compare(q.products.logs[b.product], q.products.logs[a.product]), cmp.Compare(a.node, b.node)) < 0
}
func (q *nodeQueue) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *nodeQueue) Push(x any)    { q.list = append(q.list, x.(queuedNode)) }
func (q *nodeQueue) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}
