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

// importance is the importance function: the logarithm of an approximate probability to reach the target in a Markov chain. If the
// model has few states, the chain has the states of the model. Otherwise its vertices are the valuations of the variables in the
// property, and its probabilities are means over a few states with the same valuation. If the property has a time bound T, a path of
// the chain ends with rate 1/T, or with probability 1/(T+1) in each step, because a state does not contain the time that has passed.
type importance struct {
	slots    []int // of the variables
	values   map[string]float64
	complete bool    // the vertices are all states
	unknown  float64 // the value for valuations that are not a vertex
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

// keyOf returns a string that identifies the values of the variables of the importance function in a state.
func (f *importance) keyOf(state []int32) string {
	key := make([]byte, 0, 64)
	for _, slot := range f.slots {
		key = binary.LittleEndian.AppendUint32(key, uint32(state[slot]))
	}
	return string(key)
}

// derive computes the importance function for a monitor. If the model has few states, it explores all of them. Otherwise it explores
// some states for each valuation of the variables in the property.
func derive(ctx context.Context, model *compile.Model, monitor *compile.Monitor) (*importance, error) {
	chain, err := newChain(ctx, model, monitor, nil)
	if err != nil {
		return nil, err
	}
	allSlots := make([]int, len(model.Program().Vars))
	for i := range allSlots {
		allSlots[i] = i
	}
	states := newGraph(chain, &importance{slots: allSlots, complete: true})
	complete, err := states.explore(ctx, maxStates, 1)
	if err != nil {
		return nil, err
	}
	if complete {
		return states.function, states.computeImportance(ctx, monitor.High)
	}
	if err := chain.reset(); err != nil {
		return nil, err
	}
	valuations := newGraph(chain, &importance{slots: variables(monitor)})
	if _, err := valuations.explore(ctx, maxExpanded, representatives); err != nil {
		return nil, err
	}
	return valuations.function, valuations.computeImportance(ctx, monitor.High)
}

// variables returns the slots of the variables in the formulas of a monitor.
func variables(monitor *compile.Monitor) []int {
	var slots []int
	for _, formula := range []sema.Expr{monitor.Left, monitor.Right} {
		sema.Inspect(formula, func(expr sema.Expr) bool {
			if variable, ok := expr.(*sema.Var); ok && !slices.Contains(slots, variable.Slot) {
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
	function *importance // whose values are measured
	vertices map[string]int32
	keys     []string
	isTarget []bool
	expanded []int               // the number of expanded states of each vertex
	rates    []float64           // the sum of the exit rates of these states
	edges    []map[int32]float64 // for each successor vertex, the sum of the probabilities of these states to move there
}

func newGraph(c *chain, function *importance) *graph {
	return &graph{chain: c, function: function, vertices: map[string]int32{}}
}

// vertex returns the vertex of a node, and adds the vertex if it is new.
func (g *graph) vertex(n int32) int32 {
	node := &g.chain.nodes[n]
	key := g.function.keyOf(node.state)
	v, ok := g.vertices[key]
	if !ok {
		v = int32(len(g.keys))
		g.vertices[key] = v
		g.keys = append(g.keys, key)
		g.isTarget = append(g.isTarget, false)
		g.expanded = append(g.expanded, 0)
		g.rates = append(g.rates, 0)
		g.edges = append(g.edges, map[int32]float64{})
	}
	if node.status == reached {
		g.isTarget[v] = true
	}
	return v
}

// explore expands states breadth-first, at most perVertex states of each vertex. complete is false if there are more states than
// the limit.
func (g *graph) explore(ctx context.Context, limit, perVertex int) (complete bool, err error) {
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

// addEdges adds the transitions of an expanded node to the edges of its vertex.
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

// order returns the vertices from which the target can be reached, without the target itself, in the order of a backward breadth-first
// search from the target.
func (g *graph) order() []int32 {
	predecessors := make([][]int32, len(g.keys))
	var order []int32
	visited := make([]bool, len(g.keys))
	for v := range g.keys {
		for successor := range g.edges[v] {
			predecessors[successor] = append(predecessors[successor], int32(v))
		}
		if g.isTarget[v] {
			visited[v] = true
			order = append(order, int32(v))
		}
	}
	targets := len(order)
	for next := 0; next < len(order); next++ {
		for _, v := range predecessors[order[next]] {
			if !visited[v] {
				visited[v] = true
				order = append(order, v)
			}
		}
	}
	return order[targets:]
}

// survival returns the probability that a path leaves a vertex before it ends because of the time bound.
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

// row is the equation of a vertex: its value is the sum of the values of its successors, each multiplied by a factor.
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
		equation := row{vertex: v}
		for _, successor := range slices.Sorted(maps.Keys(g.edges[v])) {
			if successor != v {
				equation.successors = append(equation.successors, successor)
				equation.factors = append(equation.factors, survival*g.edges[v][successor]/leaving)
			}
		}
		rows = append(rows, equation)
	}
	return rows
}

// leaving returns the probability that a path does not go on with a step from the vertex to itself. It adds up the probabilities of
// the other successors, because subtracting the probability of the self-loop from 1 loses digits if the self-loop is likely.
func (g *graph) leaving(v int32, bound float64) float64 {
	survival, expanded := g.survival(v, bound), float64(g.expanded[v])
	others := 0.0
	for _, successor := range slices.Sorted(maps.Keys(g.edges[v])) {
		if successor != v {
			others += g.edges[v][successor] / expanded
		}
	}
	failing := max(0, 1-others-g.edges[v][v]/expanded) // moves that no edge stands for, because the state failed
	return max(1-survival+survival*(others+failing), math.SmallestNonzeroFloat64)
}

// resolution is the number of values of importance in one unit. Values are rounded to it, so that rounding errors do not distinguish values.
const resolution = 1 << 20

// solve approximates the solution of the equations by sweeps that begin near the target.
func (g *graph) solve(ctx context.Context, rows []row) (values []float64, err error) {
	const maxSweeps, precision = 300, 0.01
	values = make([]float64, len(g.keys))
	for v, isTarget := range g.isTarget {
		if isTarget {
			values[v] = 1
		}
	}
	for range maxSweeps {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if sweep(rows, values) <= precision {
			break
		}
	}
	return values, nil
}

// sweep updates each value by its equation, and returns the greatest relative change.
func sweep(rows []row, values []float64) (change float64) {
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
	return change
}

// computeImportance sets the values of the importance function to the logarithms of approximate probabilities of reaching the target. They
// need not be precise: every importance function gives unbiased estimates, if each state from which the target can be reached has
// an importance. The error says that the target cannot be reached, or that a probability underflows.
func (g *graph) computeImportance(ctx context.Context, bound float64) error {
	rows := g.rows(bound)
	values, err := g.solve(ctx, rows)
	if err != nil {
		return err
	}
	const initialVertex = 0
	isReachable := g.isTarget[initialVertex] || slices.ContainsFunc(rows, func(r row) bool { return r.vertex == initialVertex })
	switch {
	case g.function.complete && (!isReachable || bound == 0):
		return refusal("the target cannot be reached: its probability is 0, and nothing is left to sample, want --method states")
	case !isReachable:
		return refusal("found no path to the target among the states that were explored, so there is no importance function; want another method, or a property over variables that approach the target step by step")
	case values[initialVertex] == 0:
		return refusal("the estimate of the probability for the importance function is less than any double, want another method")
	}
	g.function.values = map[string]float64{}
	for v, isTarget := range g.isTarget {
		if isTarget {
			g.function.set(g.keys[v], values[v])
		}
	}
	for _, r := range rows {
		g.function.set(g.keys[r.vertex], values[r.vertex])
	}
	return nil
}

// set sets the importance of a valuation to the rounded logarithm of a value. The value is limited to the range from the least
// positive float64 to 1, because an underflow must not make the importance infinite, and no state may have a greater importance
// than the target.
func (f *importance) set(key string, value float64) {
	value = min(max(value, math.SmallestNonzeroFloat64), 1)
	logarithm := math.Round(math.Log(value)*resolution) / resolution
	f.values[key] = logarithm
	f.unknown = min(f.unknown, logarithm)
}
