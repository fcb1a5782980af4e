package splitting

import (
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// importance is a function of the values of some variables: minus the length of the shortest path to the target in a graph. A
// transition of probability p, given that the vertex is left, has length -log(p), so that the importance of a state is
// about the logarithm of the probability to reach the target.
//
// If the model has few states, the vertices are all states. Otherwise they are the valuations of the variables of the property,
// with the transitions of a few states for each valuation: the graph is then smaller than the state space.
type importance struct {
	slots    []int // of the variables
	values   map[string]float64
	complete bool    // the vertices are all states
	unknown  float64 // of valuations that are no vertex
}

const (
	// maxStates is the number of states up to which the graph has all states.
	maxStates = 100_000
	// maxExpanded is the number of states that are expanded for a graph of valuations.
	maxExpanded = 200_000
	// representatives is the number of states that are expanded for each valuation.
	representatives = 16
)

var errNoPath = errors.New("found no path to the target among the states that were explored, so there is no importance function; want another method, or a property over variables that approach the target step by step")

// of returns the importance of a state. possible is false if the target cannot be reached from it.
func (f *importance) of(state []int32) (value float64, possible bool) {
	value, known := f.values[f.keyOf(state)]
	switch {
	case known:
		return value, true
	case f.complete:
		return math.Inf(-1), false
	}
	return f.unknown, true
}

func (f *importance) keyOf(state []int32) string {
	key := make([]byte, 0, 64)
	for _, slot := range f.slots {
		key = binary.LittleEndian.AppendUint32(key, uint32(state[slot]))
	}
	return string(key)
}

// derive returns the importance function for a monitor.
func derive(ctx context.Context, model *compile.Model, monitor *compile.Monitor) (*importance, error) {
	c, err := newChain(ctx, model, monitor, nil)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(model.Program().Vars))
	for i := range all {
		all[i] = i
	}
	f := &importance{slots: all, complete: true}
	g := newGraph(c, f)
	ended, err := g.explore(ctx, maxStates, 1)
	if err != nil {
		return nil, err
	}
	if !ended {
		if err := c.reset(); err != nil {
			return nil, err
		}
		f = &importance{slots: variables(monitor)}
		g = newGraph(c, f)
		if _, err := g.explore(ctx, maxExpanded, representatives); err != nil {
			return nil, err
		}
	}
	return f, g.measure()
}

// variables returns the slots of the variables in the formulas of a monitor.
func variables(monitor *compile.Monitor) []int {
	var slots []int
	for _, formula := range []sema.Expr{monitor.Left, monitor.Right} {
		sema.Inspect(formula, func(x sema.Expr) bool {
			if variable, ok := x.(*sema.Var); ok && !slices.Contains(slots, variable.Slot) {
				slots = append(slots, variable.Slot)
			}
			return true
		})
	}
	slices.Sort(slots)
	return slots
}

// graph is the graph in which importance is measured.
type graph struct {
	chain    *chain
	f        *importance
	vertices map[string]int32
	keys     []string
	isTarget []bool
	expanded []int               // states that were expanded, by vertex
	edges    []map[int32]float64 // for each vertex the greatest probabilities of its predecessors to go there next
}

func newGraph(c *chain, f *importance) *graph {
	return &graph{chain: c, f: f, vertices: map[string]int32{}}
}

// vertex returns the vertex of a node.
func (g *graph) vertex(n int32) int32 {
	met := &g.chain.nodes[n]
	key := g.f.keyOf(met.state)
	v, ok := g.vertices[key]
	if !ok {
		v = int32(len(g.keys))
		g.vertices[key] = v
		g.keys, g.isTarget, g.expanded, g.edges = append(g.keys, key), append(g.isTarget, false), append(g.expanded, 0), append(g.edges, nil)
	}
	if met.status == reached {
		g.isTarget[v] = true
	}
	return v
}

// explore expands states breadth-first, a limited number of each vertex. ended is false if the limit of all states was reached.
func (g *graph) explore(ctx context.Context, limit, perVertex int) (ended bool, err error) {
	queue := []int32{0}
	queued := map[int32]bool{0: true}
	for next := 0; next < len(queue); next++ {
		n := queue[next]
		v := g.vertex(n)
		if g.chain.nodes[n].status != undecided || g.expanded[v] >= perVertex {
			continue
		}
		if next >= limit || len(g.chain.nodes) > 10*limit {
			return false, nil
		}
		if next%1024 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		g.expanded[v]++
		if err := g.chain.expand(n); err != nil {
			return false, err
		}
		g.addEdges(n, v)
		for _, successor := range g.chain.nodes[n].successors {
			if !queued[successor] {
				queued[successor] = true
				queue = append(queue, successor)
			}
		}
	}
	return true, nil
}

// addEdges adds the transitions of a node to other vertices.
func (g *graph) addEdges(n, from int32) {
	expanded := &g.chain.nodes[n]
	if expanded.status != undecided {
		return
	}
	probabilities, leaving := map[int32]float64{}, 0.0
	for k, successor := range expanded.successors {
		if to := g.vertex(successor); to != from {
			probabilities[to] += expanded.probability(k)
			leaving += expanded.probability(k)
		}
	}
	for to, p := range probabilities {
		if g.edges[to] == nil {
			g.edges[to] = map[int32]float64{}
		}
		g.edges[to][from] = max(g.edges[to][from], p/leaving)
	}
}

// measure sets the importance of all vertices by Dijkstra's algorithm, backwards from the target.
func (g *graph) measure() error {
	distance := make([]float64, len(g.keys))
	var front frontier
	for v := range distance {
		distance[v] = math.Inf(1)
		if g.isTarget[v] {
			distance[v] = 0
			front = append(front, visit{int32(v), 0})
		}
	}
	if len(front) == 0 {
		return errNoPath
	}
	for len(front) > 0 {
		nearest := heap.Pop(&front).(visit)
		if nearest.distance > distance[nearest.vertex] {
			continue
		}
		for from, p := range g.edges[nearest.vertex] {
			if d := nearest.distance - math.Log(p); d < distance[from] {
				distance[from] = d
				heap.Push(&front, visit{from, d})
			}
		}
	}
	if math.IsInf(distance[0], 1) {
		return errNoPath
	}
	g.f.values = map[string]float64{}
	for v, d := range distance {
		if !math.IsInf(d, 1) {
			g.f.values[g.keys[v]] = -d
			g.f.unknown = min(g.f.unknown, -d)
		}
	}
	return nil
}

// visit is a vertex at a distance.
type visit struct {
	vertex   int32
	distance float64
}

// frontier is a heap of vertices, the nearest first.
type frontier []visit

func (f frontier) Len() int           { return len(f) }
func (f frontier) Less(i, j int) bool { return f[i].distance < f[j].distance }
func (f frontier) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }

// Push implements heap.Interface.
func (f *frontier) Push(x any) { *f = append(*f, x.(visit)) }

// Pop implements heap.Interface.
func (f *frontier) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}
