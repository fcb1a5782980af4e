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
	variableSlots     []int // of the variables
	importanceByKey   map[string]float64
	isComplete        bool    // the vertices are all states
	defaultImportance float64 // the value for valuations that are not a vertex
}

const (
	// maxStates is the number of states up to which the graph has all states.
	maxStates = 100_000
	// maxExpanded is the number of states that are expanded for a graph of valuations.
	maxExpanded = 200_000
	// maxRepresentatives is the number of states that are expanded for each valuation.
	maxRepresentatives = 16
)

// refusalError returns the error of a property without an importance function.
func refusalError(message string) error {
	return &result.Failure{Class: result.Unsupported, Message: message}
}

// valueOf returns the importance of a state. isPossible is false if no path from the state reaches the target.
func (function *importance) valueOf(state []int32) (value float64, isPossible bool) {
	value, found := function.importanceByKey[function.keyOf(state)]
	switch {
	case found:
		return value, true
	case function.isComplete:
		return math.Inf(-1), false
	}
	return function.defaultImportance, true
}

// keyOf returns a map key for the values of the relevant variables in a state.
func (function *importance) keyOf(state []int32) string {
	key := make([]byte, 0, 64)
	for _, slot := range function.variableSlots {
		key = binary.LittleEndian.AppendUint32(key, uint32(state[slot]))
	}
	return string(key)
}

// deriveImportance computes an importance function for a monitor: the logarithm of the approximate probability of reaching the target from a
// state. It explores a small model completely. In a large model, states with equal values of the variables in the property have the same
// importance; it explores some states for each such valuation.
func deriveImportance(ctx context.Context, model *compile.Model, monitor *compile.Monitor) (*importance, error) {
	chain, err := newChain(ctx, model, monitor, nil)
	if err != nil {
		return nil, err
	}
	allSlots := make([]int, len(model.Program().Vars))
	for i := range allSlots {
		allSlots[i] = i
	}
	states := newGraph(chain, &importance{variableSlots: allSlots, isComplete: true})
	isComplete, err := states.explore(ctx, maxStates, 1)
	if err != nil {
		return nil, err
	}
	if isComplete {
		return states.importance, states.computeImportance(ctx, monitor.High)
	}
	if err := chain.reset(); err != nil {
		return nil, err
	}
	valuations := newGraph(chain, &importance{variableSlots: variableSlots(monitor)})
	if _, err := valuations.explore(ctx, maxExpanded, maxRepresentatives); err != nil {
		return nil, err
	}
	return valuations.importance, valuations.computeImportance(ctx, monitor.High)
}

// variableSlots returns the variables that occur in the formulas of a monitor, as indexes into the variables of the program, in increasing order.
func variableSlots(monitor *compile.Monitor) []int {
	var slots []int
	for _, formula := range []sema.Expr{monitor.Left, monitor.Right} {
		slots = append(slots, sema.SlotsOf(formula)...)
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

// graph is the Markov chain in which importance is measured.
type graph struct {
	chain       *chain
	importance  *importance // whose values are measured
	vertices    map[string]int32
	keys        []string
	isTarget    []bool
	numExpanded []int               // the number of expanded states of each vertex
	rateSums    []float64           // the sum of the exit rates of these states
	edges       []map[int32]float64 // for each successor vertex, the sum of the probabilities of these states to move there
}

func newGraph(c *chain, function *importance) *graph {
	return &graph{chain: c, importance: function, vertices: map[string]int32{}}
}

// vertexOf returns the vertex of the graph that represents a node of the chain, and adds the vertex if it is new. Nodes whose states agree on the variables
// of the importance function have the same vertex.
func (graph *graph) vertexOf(nodeNumber int32) int32 {
	node := &graph.chain.nodes[nodeNumber]
	key := graph.importance.keyOf(node.state)
	vertex, found := graph.vertices[key]
	if !found {
		vertex = int32(len(graph.keys))
		graph.vertices[key] = vertex
		graph.keys = append(graph.keys, key)
		graph.isTarget = append(graph.isTarget, false)
		graph.numExpanded = append(graph.numExpanded, 0)
		graph.rateSums = append(graph.rateSums, 0)
		graph.edges = append(graph.edges, map[int32]float64{})
	}
	if node.status == reached {
		graph.isTarget[vertex] = true
	}
	return vertex
}

// explore expands nodes breadth-first from the initial state, and adds their transitions to the graph. It expands at most perVertex nodes of each vertex,
// and about limit nodes in total. isComplete is false if it stopped before it had expanded all these nodes.
func (graph *graph) explore(ctx context.Context, limit, perVertex int) (isComplete bool, err error) {
	queue := []int32{0}
	queued := map[int32]bool{0: true}
	for next := 0; next < len(queue); next++ {
		nodeNumber := queue[next]
		vertex := graph.vertexOf(nodeNumber)
		if graph.chain.nodes[nodeNumber].status != undecided || graph.numExpanded[vertex] >= perVertex {
			continue
		}
		if next >= limit || len(graph.chain.nodes) > 5*limit {
			return false, nil
		}
		if next%1024 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		graph.numExpanded[vertex]++
		if err := graph.chain.expandNode(nodeNumber); err != nil {
			return false, err
		}
		graph.addEdges(nodeNumber, vertex)
		if graph.importance.isComplete && graph.chain.nodes[nodeNumber].isUnlisted {
			return false, nil // this node has too many successors for a list
		}
		for _, successor := range graph.chain.nodes[nodeNumber].successors {
			if !queued[successor] {
				queued[successor] = true
				queue = append(queue, successor)
			}
		}
	}
	return true, nil
}

// addEdges adds the transitions of an expanded node to the edges of its vertex.
func (graph *graph) addEdges(nodeNumber, vertex int32) {
	expandedNode := &graph.chain.nodes[nodeNumber]
	graph.rateSums[vertex] += expandedNode.exitRate
	for k, successor := range expandedNode.successors {
		successorVertex := graph.vertexOf(successor)
		if expandedNode.status == undecided {
			graph.edges[vertex][successorVertex] += expandedNode.probability(k)
		}
	}
}

// backwardOrder returns the vertices from which a target can be reached, except the targets, in the order of a backward breadth-first search.
func (graph *graph) backwardOrder() []int32 {
	predecessors := make([][]int32, len(graph.keys))
	var order []int32
	visited := make([]bool, len(graph.keys))
	for vertex := range graph.keys {
		for successor := range graph.edges[vertex] {
			predecessors[successor] = append(predecessors[successor], int32(vertex))
		}
		if graph.isTarget[vertex] {
			visited[vertex] = true
			order = append(order, int32(vertex))
		}
	}
	numTargets := len(order)
	for next := 0; next < len(order); next++ {
		for _, vertex := range predecessors[order[next]] {
			if !visited[vertex] {
				visited[vertex] = true
				order = append(order, vertex)
			}
		}
	}
	return order[numTargets:]
}

// survivalProbability approximates the probability that a path leaves a vertex before the time bound passes: rate / (rate + 1/bound), where rate is the mean
// exit rate. This would be exact if the time bound were exponentially distributed with the mean bound.
func (graph *graph) survivalProbability(vertex int32, bound float64) float64 {
	if math.IsInf(bound, 1) {
		return 1
	}
	rate := 1.0
	if graph.chain.isContinuous {
		rate = graph.rateSums[vertex] / float64(graph.numExpanded[vertex])
	}
	return rate / (rate + 1/bound)
}

// equation is the equation of a vertex: its value is the sum of the values of its successors, each multiplied by a factor.
type equation struct {
	vertex     int32
	successors []int32
	factors    []float64
}

// equations returns, for each vertex that can reach a target, the equation of its probability of reaching a target. It eliminates self-loops: it divides
// each probability by the probability of leaving the vertex.
func (graph *graph) equations(bound float64) []equation {
	var equations []equation
	for _, vertex := range graph.backwardOrder() {
		scale := graph.survivalProbability(vertex, bound) / float64(graph.numExpanded[vertex])
		leaveProbability := graph.leaveProbability(vertex, bound)
		equation := equation{vertex: vertex}
		for _, successor := range slices.Sorted(maps.Keys(graph.edges[vertex])) {
			if successor != vertex {
				equation.successors = append(equation.successors, successor)
				equation.factors = append(equation.factors, scale*graph.edges[vertex][successor]/leaveProbability)
			}
		}
		equations = append(equations, equation)
	}
	return equations
}

// leaveProbability returns the probability that a path in a vertex does not return to it in the next step: it moves to another vertex, reaches a failed
// state, or exceeds the time bound.
func (graph *graph) leaveProbability(vertex int32, bound float64) float64 {
	survival, expanded := graph.survivalProbability(vertex, bound), float64(graph.numExpanded[vertex])
	// A sum of the other probabilities is more precise than 1 minus the probability of a likely self-loop.
	exitSum := 0.0
	for _, successor := range slices.Sorted(maps.Keys(graph.edges[vertex])) {
		if successor != vertex {
			exitSum += graph.edges[vertex][successor] / expanded
		}
	}
	failureProbability := max(0, 1-exitSum-graph.edges[vertex][vertex]/expanded) // nodes that turned out to be failed have no edges
	return max(1-survival+survival*(exitSum+failureProbability), math.SmallestNonzeroFloat64)
}

// resolution is the number of values of importance in one unit. Values are rounded to it, so that rounding errors do not distinguish values.
const resolution = 1 << 20

// solveEquations approximates the solution of the equations by Gauss-Seidel sweeps. Targets have the value 1.
func (graph *graph) solveEquations(ctx context.Context, equations []equation) (values []float64, err error) {
	const maxSweeps, precision = 300, 0.01
	values = make([]float64, len(graph.keys))
	for vertex, isTarget := range graph.isTarget {
		if isTarget {
			values[vertex] = 1
		}
	}
	for range maxSweeps {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if gaussSeidelSweep(equations, values) <= precision {
			break
		}
	}
	return values, nil
}

// gaussSeidelSweep updates each value by its equation, and returns the greatest relative change.
func gaussSeidelSweep(equations []equation, values []float64) (change float64) {
	for _, equation := range equations {
		value := 0.0
		for k, successor := range equation.successors {
			value += equation.factors[k] * values[successor]
		}
		if value > 0 {
			change = max(change, (value-values[equation.vertex])/value)
		}
		values[equation.vertex] = value
	}
	return change
}

// computeImportance sets the importance function to the logarithms of approximate probabilities of reaching the target. It is an error if the
// target cannot be reached from the initial state, or if the probability there underflows.
func (graph *graph) computeImportance(ctx context.Context, bound float64) error {
	equations := graph.equations(bound)
	// The values need not be precise: every importance function gives unbiased estimates.
	values, err := graph.solveEquations(ctx, equations)
	if err != nil {
		return err
	}
	if err := graph.checkInitial(equations, values, bound); err != nil {
		return err
	}
	graph.importance.importanceByKey = map[string]float64{}
	for vertex, isTarget := range graph.isTarget {
		if isTarget {
			graph.importance.setProbability(graph.keys[vertex], values[vertex])
		}
	}
	for _, equation := range equations {
		graph.importance.setProbability(graph.keys[equation.vertex], values[equation.vertex])
	}
	return nil
}

// checkInitial returns an error if the initial vertex has the value 0. The message says why.
func (graph *graph) checkInitial(equations []equation, values []float64, bound float64) error {
	const initial = 0
	isReachable := graph.isTarget[initial] || slices.ContainsFunc(equations, func(equation equation) bool { return equation.vertex == initial })
	switch {
	case graph.importance.isComplete && (!isReachable || bound == 0):
		return refusalError("the target cannot be reached: its probability is 0, and nothing is left to sample, want --method states")
	case !isReachable:
		return refusalError("found no path to the target among the states that were explored, so there is no importance function; want another method, or a property over variables that approach the target step by step")
	case values[initial] == 0:
		return refusalError("the estimate of the probability for the importance function is less than any double, want another method")
	}
	return nil
}

// setProbability sets the importance of a valuation to the rounded logarithm of a probability.
func (function *importance) setProbability(key string, probability float64) {
	// The importance must be finite even after an underflow, and at most the importance of the target.
	probability = min(max(probability, math.SmallestNonzeroFloat64), 1)
	logarithm := math.Round(math.Log(probability)*resolution) / resolution
	function.importanceByKey[key] = logarithm
	function.defaultImportance = min(function.defaultImportance, logarithm)
}
