package splitting

import (
	"context"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// importance is a function of the values of some variables: the logarithm of an estimate of the probability to reach the target
// in a Markov chain. If the model has few states, that chain has the states of the model. Otherwise they are the
// valuations of the variables of the property, with the mean probabilities of a few states for each valuation: the chain is then
// smaller than the state space. If the property has a time bound T, a path of the chain ends with rate 1/T, or with
// probability 1/(T+1) in each step, because the time that has passed is no part of a state.
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

// refusal returns the error of a property for which there is no importance function.
func refusal(message string) error {
	return &result.Failure{Class: result.Unsupported, Message: message}
}

// of returns the importance of a state. possible is false if the target cannot be reached from it.
func (f *importance) of(state []int32) (value float64, possible bool) {
	value, found := f.values[f.keyOf(state)]
	switch {
	case found:
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
	return f, g.measure(ctx, monitor.High)
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

// graph is the Markov chain in which importance is measured.
type graph struct {
	chain    *chain
	f        *importance
	vertices map[string]int32
	keys     []string
	isTarget []bool
	expanded []int               // states that were expanded, by vertex
	rates    []float64           // the sums of their exit rates
	edges    []map[int32]float64 // the sums of the probabilities of their successors
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
		g.keys, g.isTarget, g.expanded = append(g.keys, key), append(g.isTarget, false), append(g.expanded, 0)
		g.rates, g.edges = append(g.rates, 0), append(g.edges, map[int32]float64{})
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
		if next >= limit || len(g.chain.nodes) > 5*limit {
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

// addEdges adds the transitions of a node.
func (g *graph) addEdges(n, from int32) {
	expanded := &g.chain.nodes[n]
	g.rates[from] += expanded.rate
	for k, successor := range expanded.successors {
		if expanded.status == undecided {
			g.edges[from][g.vertex(successor)] += expanded.probability(k)
		} else {
			g.vertex(successor)
		}
	}
}

// order returns the vertices from which the target can be reached, breadth-first from the target, without the target.
func (g *graph) order() []int32 {
	predecessors := make([][]int32, len(g.keys))
	var order []int32
	met := make([]bool, len(g.keys))
	for v := range g.keys {
		for successor := range g.edges[v] {
			predecessors[successor] = append(predecessors[successor], int32(v))
		}
		if met[v] = g.isTarget[v]; met[v] {
			order = append(order, int32(v))
		}
	}
	targets := len(order)
	for next := 0; next < len(order); next++ {
		for _, v := range predecessors[order[next]] {
			if !met[v] {
				met[v] = true
				order = append(order, v)
			}
		}
	}
	return order[targets:]
}

// survival returns the probability that a path does not end before a vertex is left.
func (g *graph) survival(v int32, bound float64) float64 {
	if math.IsInf(bound, 1) {
		return 1
	}
	rate := 1.0
	if g.chain.continuous {
		rate = g.rates[v] / float64(g.expanded[v])
	}
	return rate / (rate + 1/bound)
}

// row is the equation of a vertex: its value is the sum of the values of its successors, each with a factor.
type row struct {
	vertex     int32
	successors []int32
	factors    []float64
}

// rows returns the equations of the vertices from which the target can be reached.
func (g *graph) rows(bound float64) []row {
	var rows []row
	for _, v := range g.order() {
		survival := g.survival(v, bound) / float64(g.expanded[v])
		leaving := g.leaving(v, bound)
		r := row{vertex: v, successors: slices.Sorted(maps.Keys(g.edges[v]))}
		r.successors = slices.DeleteFunc(r.successors, func(successor int32) bool { return successor == v })
		for _, successor := range r.successors {
			r.factors = append(r.factors, survival*g.edges[v][successor]/leaving)
		}
		rows = append(rows, r)
	}
	return rows
}

// leaving returns the probability that a path leaves a vertex in one step, or ends in it. It is added up from the other successors,
// because the difference of 1 and the probability of a loop loses its digits if the loop is likely.
func (g *graph) leaving(v int32, bound float64) float64 {
	survival, expanded := g.survival(v, bound), float64(g.expanded[v])
	others := 0.0
	for _, successor := range slices.Sorted(maps.Keys(g.edges[v])) {
		if successor != v {
			others += g.edges[v][successor] / expanded
		}
	}
	failing := max(0, 1-others-g.edges[v][v]/expanded)
	return max(1-survival+survival*(others+failing), math.SmallestNonzeroFloat64)
}

// resolution is the number of values of importance in a unit. Values that differ by rounding errors are equal.
const resolution = 1 << 20

// measure solves the equations by sweeps from the target outwards. The values need not be precise: any importance function
// gives unbiased estimates, if each state from which the target can be reached has an importance.
func (g *graph) measure(ctx context.Context, bound float64) error {
	const maxSweeps, precision = 300, 0.01
	rows := g.rows(bound)
	values := make([]float64, len(g.keys))
	for v, isTarget := range g.isTarget {
		if isTarget {
			values[v] = 1
		}
	}
	for sweep, change := 0, 1.0; sweep < maxSweeps && change > precision; sweep++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		change = 0
		for _, r := range rows {
			value := 0.0
			for k, successor := range r.successors {
				value += r.factors[k] * values[successor]
			}
			if value > 0 {
				change = max(change, (value-values[r.vertex])/value)
			}
			values[r.vertex] = value
		}
	}
	isReachable := g.isTarget[0] || slices.ContainsFunc(rows, func(r row) bool { return r.vertex == 0 })
	switch {
	case g.f.complete && (!isReachable || bound == 0):
		return refusal("the target cannot be reached, so its probability is 0: it is not rare, want --method states")
	case !isReachable:
		return refusal("found no path to the target among the states that were explored, so there is no importance function; want another method, or a property over variables that approach the target step by step")
	case values[0] == 0:
		return refusal("the estimate of the probability for the importance function is less than any double, want another method")
	}
	g.f.values = map[string]float64{}
	for v, isTarget := range g.isTarget {
		if isTarget {
			g.f.set(g.keys[v], values[v])
		}
	}
	for _, r := range rows {
		g.f.set(g.keys[r.vertex], values[r.vertex])
	}
	return nil
}

// set sets the importance of a valuation to the logarithm of a value. A value that underflows to 0 has that of the least double, and
// rounding gives no state more than the target has: an infinite importance would make it one.
func (f *importance) set(key string, value float64) {
	logarithm := math.Round(math.Log(min(max(value, math.SmallestNonzeroFloat64), 1))*resolution) / resolution
	f.values[key] = logarithm
	f.unknown = min(f.unknown, logarithm)
}
