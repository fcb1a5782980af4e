package witness

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

var inf = math.Inf(1)

// Path is one path of a chain, from its first node to a target.
type Path struct {
	// Nodes are those of the chain in order; a path without steps has one.
	Nodes []uint32
	// Prob is the probability of the path, which is not 0.
	Prob *big.Rat
}

// Paths enumerates the paths of a chain to its targets, the likeliest first. It
// keeps what it found and is not safe for concurrent use.
type Paths struct {
	ctx   context.Context
	chain *Chain
	// in[start[v]:start[v+1]] are the transitions into node v, of nodes from which a
	// target can be reached; the last node, beyond those of the chain, is behind all targets.
	start []uint32
	in    []arc
	found [][]entry // by node, the likeliest first
	open  []candidates
	goal  uint32
	given int // paths that Next returned
	work  int
}

type arc struct {
	from   uint32
	weight uint32
}

// entry is a path to a node: the rank-th one to the node before, and a step. A
// path without steps has no node before.
type entry struct {
	from    uint32
	rank    uint32
	product product
	steps   uint32
}

const nowhere = sparse.None

// Paths begins an enumeration. The error is the context's, which ends Next, too.
func (c *Chain) Paths(ctx context.Context) (*Paths, error) {
	n := len(c.State)
	p := &Paths{ctx: ctx, chain: c, goal: uint32(n), found: make([][]entry, n+1), open: make([]candidates, n+1)}
	p.turnRound()
	return p, p.likeliest()
}

// turnRound collects the transitions into each node.
func (p *Paths) turnRound() {
	m, n := p.chain.Model, len(p.chain.State)
	useful := sparse.NewGraph(m).ExistsUntil(sparse.FullSet(n), p.chain.Target)
	p.start = make([]uint32, n+3)
	each := func(visit func(to uint32, a arc)) {
		for v := range useful.All() {
			if p.chain.Target.Has(v) {
				visit(p.goal, arc{uint32(v), nowhere})
				continue
			}
			first, end := m.Row(v)
			for i := first; i < end; i++ {
				if t := m.Target[i]; useful.Has(int(t)) {
					visit(t, arc{uint32(v), m.Weight[i]})
				}
			}
		}
	}
	each(func(to uint32, _ arc) { p.start[to+2]++ })
	for i := 2; i < len(p.start); i++ {
		p.start[i] += p.start[i-1]
	}
	p.in = make([]arc, p.start[len(p.start)-1])
	each(func(to uint32, a arc) {
		p.in[p.start[to+1]] = a
		p.start[to+1]++
	})
}

// times is a product and one more step; the step behind a target is none.
func (p *Paths) times(e entry, from, rank, weight uint32) entry {
	out := entry{from: from, rank: rank, product: e.product, steps: e.steps + 1}
	if weight != nowhere {
		out.product = p.chain.products.mul(e.product, weight)
	}
	return out
}

// before reports whether a path comes before another one to the same node.
func (p *Paths) before(a, b entry) bool {
	return cmp.Or(
		p.chain.products.compare(b.product, a.product), cmp.Compare(a.steps, b.steps),
		cmp.Compare(a.from, b.from), cmp.Compare(a.rank, b.rank),
	) < 0
}

// likeliest finds the likeliest path to every node. Nodes are settled in the order
// of logarithms, which are rounded: where that order is wrong, and a better path
// to a settled node is found, the node is settled again.
//
// Source: Dijkstra (1959), with labels that are corrected.
func (p *Paths) likeliest() error {
	m := p.chain.Model
	q := &queue{log: p.chain.products}
	if useless := p.start[p.goal] == p.start[p.goal+1]; useless {
		return nil
	}
	useful := make([]bool, len(p.found))
	for _, a := range p.in {
		useful[a.from] = true
	}
	p.found[0] = []entry{{from: nowhere}}
	q.push(0, 0)
	relax := func(v, t, weight uint32) {
		e := p.times(p.found[v][0], v, 0, weight)
		if p.found[t] == nil {
			p.found[t] = []entry{e}
		} else if p.before(e, p.found[t][0]) {
			p.found[t][0] = e
		} else {
			return
		}
		q.push(t, e.product)
	}
	for q.Len() > 0 {
		item := heap.Pop(q).(queued)
		v := item.node
		if err := p.poll(); err != nil {
			return err
		}
		if v == p.goal || p.found[v][0].product != item.product {
			continue
		}
		if p.chain.Target.Has(int(v)) {
			relax(v, p.goal, nowhere)
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
	e, err := p.next()
	if e == nil || err != nil {
		return nil, err
	}
	return p.path(*e), nil
}

// next finds the next path.
func (p *Paths) next() (*entry, error) {
	if p.given > 0 {
		if err := p.extend(p.goal, p.given+1); err != nil {
			return nil, err
		}
	}
	if len(p.found[p.goal]) <= p.given {
		return nil, p.ctx.Err()
	}
	p.given++
	return &p.found[p.goal][p.given-1], nil
}

// path lists the nodes of a path, which it has backwards.
func (p *Paths) path(e entry) *Path {
	out := &Path{Prob: p.chain.products.rat(e.product)}
	for e.from != nowhere {
		out.Nodes = append(out.Nodes, e.from)
		e = p.found[e.from][e.rank]
	}
	slices.Reverse(out.Nodes)
	return out
}

// extend finds the k-th path to a node, unless there are fewer; k-1 are known.
func (p *Paths) extend(v uint32, k int) error {
	if len(p.found[v]) >= k || len(p.found[v]) < k-1 {
		return nil
	}
	if err := p.poll(); err != nil {
		return err
	}
	c := &p.open[v]
	last := p.found[v][k-2]
	if k == 2 {
		c.before = p.before
		for _, a := range p.in[p.start[v]:p.start[v+1]] {
			if a.from != last.from && len(p.found[a.from]) > 0 {
				c.list = append(c.list, candidate{p.times(p.found[a.from][0], a.from, 0, a.weight), a.weight})
			}
			if a.from == last.from {
				c.weight = a.weight
			}
		}
		heap.Init(c)
	}
	if last.from != nowhere {
		rank := int(last.rank) + 1
		if err := p.extend(last.from, rank+1); err != nil {
			return err
		}
		if len(p.found[last.from]) > rank {
			e := p.times(p.found[last.from][rank], last.from, uint32(rank), c.weight)
			heap.Push(c, candidate{e, c.weight})
		}
	}
	if c.Len() > 0 {
		next := heap.Pop(c).(candidate)
		c.weight = next.weight
		p.found[v] = append(p.found[v], next.entry)
	}
	return nil
}

// candidates are paths to a node that may be the next one.
type candidates struct {
	list   []candidate
	weight uint32 // of the last step of the path that was found last
	before func(a, b entry) bool
}

type candidate struct {
	entry
	weight uint32
}

func (c *candidates) Len() int           { return len(c.list) }
func (c *candidates) Less(i, j int) bool { return c.before(c.list[i].entry, c.list[j].entry) }
func (c *candidates) Swap(i, j int)      { c.list[i], c.list[j] = c.list[j], c.list[i] }
func (c *candidates) Push(x any)         { c.list = append(c.list, x.(candidate)) }
func (c *candidates) Pop() any {
	last := c.list[len(c.list)-1]
	c.list = c.list[:len(c.list)-1]
	return last
}

// queue is the nodes that are to be settled.
type queue struct {
	list []queued
	log  *products
}

type queued struct {
	node    uint32
	product product
}

func (q *queue) push(v uint32, p product) { heap.Push(q, queued{v, p}) }

func (q *queue) Len() int { return len(q.list) }
func (q *queue) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return cmp.Or(cmp.Compare(q.log.log[b.product], q.log.log[a.product]), cmp.Compare(a.node, b.node)) < 0
}
func (q *queue) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *queue) Push(x any)    { q.list = append(q.list, x.(queued)) }
func (q *queue) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}
