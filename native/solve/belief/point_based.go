package belief

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"tilecheck/native/solve"
)

// pointBased finds strategies with memory by point-based value iteration along simulated paths. Each
// vector is the value of taking an action in the states with some observation, and then following other
// vectors or strategies of the pool; so vectors are the nodes of a controller. All values are float64
// without error bounds; the controller is evaluated separately.
//
// Source: Spaan and Vlassis, Perseus, JAIR 24 (2005); trials forwards and backwards as in Smith and
// Simmons, Heuristic search value iteration for POMDPs (UAI 2004).
type pointBased struct {
	*pomdp
	informed          *informedBound
	pool              *pool
	rng               *rand.Rand
	statesOf          [][]uint32 // by observation
	index             []int32    // of each state among those with its observation
	vectors           []alphaVector
	work              int                 // multiplications in the current call of improve
	byObservation     [][]int             // the vectors in use
	observationsAfter map[[2]int][]uint32 // cache of possibleObservations, by observation and action
}

// alphaVector is an action, the vectors that follow it, and its value in each state with the
// observation.
type alphaVector struct {
	observation uint32
	action      int
	next        []Edge // nodes are vectors, or strategies of the pool: see strategyNode
	values      []float64
}

// floatBelief is a belief with float64 probabilities; states are in increasing order.
type floatBelief struct {
	states []uint32
	weight []float64
}

func newPointBased(o *informedBound, p *pool) *pointBased {
	v := &pointBased{pomdp: o.pomdp, informed: o, pool: p, rng: rand.New(rand.NewPCG(1, 1)), observationsAfter: map[[2]int][]uint32{}}
	n := v.numObservations()
	v.statesOf, v.byObservation, v.index = make([][]uint32, n), make([][]int, n), make([]int32, len(v.Observation))
	for s, observation := range v.Observation {
		v.index[s] = int32(len(v.statesOf[observation]))
		v.statesOf[observation] = append(v.statesOf[observation], uint32(s))
	}
	return v
}

// strategyNode returns the node number of strategy i of the pool. It is its own inverse.
func strategyNode(i int) int { return -2 - i }

// maxVectors limits the vectors of one observation.
const maxVectors = 512

// improve simulates paths with about the given number of moves in total, and backs up the beliefs of
// each path from the last to the first. It stops early when its work limit is reached.
func (v *pointBased) improve(ctx context.Context, start uint32, moves int) error {
	const longest, work = 1000, 1 << 31
	for v.work = 0; moves > 0 && v.work < work; {
		var path []floatBelief
		at := floatBelief{[]uint32{start}, []float64{1}}
		for len(path) < longest && len(at.states) > 0 && !v.cannotImprove(at) {
			if err := ctx.Err(); err != nil {
				return err
			}
			path = append(path, at)
			at = v.sample(v.step(at, v.chooseAction(at)))
		}
		for _, b := range slices.Backward(path) {
			if err := ctx.Err(); err != nil {
				return err
			}
			v.backup(b)
		}
		moves -= len(path) + 1
	}
	return nil
}

// cannotImprove reports whether no action can improve the value of a belief: its minimum is already 0,
// or the informed bound of its maximum is 0.
func (v *pointBased) cannotImprove(b floatBelief) bool {
	if v.Direction == solve.Min {
		_, x := v.best(b)
		return x == 0
	}
	for _, s := range b.states {
		for k := range v.numActions(s) {
			if v.informed.q[v.informed.index(int(s), k)] > 0 {
				return false
			}
		}
	}
	return true
}

// chooseAction returns the action of a simulated move: a random one, that of the best vector, or the
// best by the informed bound.
func (v *pointBased) chooseAction(b floatBelief) int {
	n := v.numActions(b.states[0])
	switch x := v.rng.Float64(); {
	case x < 0.15:
		return v.rng.IntN(n)
	case x < 0.6:
		if i, _ := v.best(b); i >= 0 {
			return v.vectors[i].action
		}
	}
	best, bestValue := 0, 0.0
	for k := range n {
		sum := 0.0
		for i, s := range b.states {
			sum += b.weight[i] * v.informed.q[v.informed.index(int(s), k)]
		}
		if k == 0 || v.better(sum, bestValue) {
			best, bestValue = k, sum
		}
	}
	return best
}

// step returns the beliefs after an action, one per observation. They are not normalized: their sums
// are the probabilities of the observations.
func (v *pointBased) step(b floatBelief, action int) []floatBelief {
	type share struct {
		state  uint32
		weight float64
	}
	var shares []share
	for i, s := range b.states {
		lo, hi := v.model.Row(v.choiceOf(s, action))
		for j := lo; j < hi; j++ {
			if t := v.model.Target[j]; !v.terminal.Has(int(t)) {
				shares = append(shares, share{t, b.weight[i] * v.model.Weights[v.model.Weight[j]]})
			}
		}
	}
	slices.SortStableFunc(shares, func(x, y share) int {
		if a, b := v.Observation[x.state], v.Observation[y.state]; a != b {
			return int(int64(a) - int64(b))
		}
		return int(x.state) - int(y.state)
	})
	var out []floatBelief
	for i, x := range shares {
		if i == 0 || v.Observation[x.state] != v.Observation[shares[i-1].state] {
			out = append(out, floatBelief{})
		}
		c := &out[len(out)-1]
		if n := len(c.states); n > 0 && c.states[n-1] == x.state {
			c.weight[n-1] += x.weight
			continue
		}
		c.states, c.weight = append(c.states, x.state), append(c.weight, x.weight)
	}
	return out
}

// sample draws one of the beliefs by its probability, and normalizes it. It returns an empty belief if
// the path ends.
func (v *pointBased) sample(all []floatBelief) floatBelief {
	x := v.rng.Float64()
	for _, c := range all {
		sum := 0.0
		for _, w := range c.weight {
			sum += w
		}
		if x -= sum; x < 0 && sum > 0 {
			for i := range c.weight {
				c.weight[i] /= sum
			}
			return c
		}
	}
	return floatBelief{}
}

// best returns the vector, or the strategy of the pool, with the best value for a belief, and that
// value.
func (v *pointBased) best(b floatBelief) (node int, bestValue float64) {
	v.work += len(b.states) * (len(v.pool.values) + len(v.byObservation[v.Observation[b.states[0]]]))
	for i, value := range v.pool.values {
		if x := b.mean(func(s uint32) float64 { return value[s] }); i == 0 || v.better(x, bestValue) {
			node, bestValue = strategyNode(i), x
		}
	}
	for _, i := range v.byObservation[v.Observation[b.states[0]]] {
		value := v.vectors[i].values
		if x := b.mean(func(s uint32) float64 { return value[v.index[s]] }); v.better(x, bestValue) {
			node, bestValue = i, x
		}
	}
	return node, bestValue
}

func (b floatBelief) mean(value func(s uint32) float64) float64 {
	sum := 0.0
	for i, s := range b.states {
		if w := b.weight[i]; w > 0 {
			sum += w * value(s)
		}
	}
	return sum
}

// backup adds the vector of the best action for a belief, if it improves its value.
func (v *pointBased) backup(b floatBelief) {
	observation := v.Observation[b.states[0]]
	_, oldValue := v.best(b)
	best, bestValue := -1, oldValue
	var next []Edge
	for k := range v.numActions(b.states[0]) {
		sum := b.mean(func(s uint32) float64 { return v.immediate(s, k) })
		var edges []Edge
		for _, c := range v.step(b, k) {
			node, x := v.best(c)
			sum += x
			edges = append(edges, Edge{v.Observation[c.states[0]], node})
		}
		if v.better(sum, bestValue) && (best >= 0 || !v.better(oldValue+v.margin(oldValue), sum)) {
			best, bestValue, next = k, sum, edges
		}
	}
	if best < 0 || len(v.byObservation[observation]) >= maxVectors {
		return
	}
	x := alphaVector{observation: observation, action: best, next: v.completeEdges(observation, best, next)}
	for _, s := range v.statesOf[observation] {
		x.values = append(x.values, v.valueIn(&x, s))
	}
	// Retire dominated vectors. They stay in v.vectors, since others may continue with them.
	v.byObservation[observation] = append(slices.DeleteFunc(v.byObservation[observation], func(i int) bool {
		for j, w := range v.vectors[i].values {
			if v.better(w, x.values[j]) {
				return false
			}
		}
		return true
	}), len(v.vectors))
	v.vectors = append(v.vectors, x)
}

// margin is the least improvement that counts.
func (v *pointBased) margin(x float64) float64 {
	const share = 1e-9
	if v.Direction == solve.Max {
		return share * x
	}
	return -share * x
}

// immediate returns the immediate value of an action: its probability to reach the target, or its
// reward.
func (v *pointBased) immediate(s uint32, action int) float64 {
	c := v.choiceOf(s, action)
	if v.Reward != nil {
		return toFloat(v.rewardOf(s, c))
	}
	sum := 0.0
	lo, hi := v.model.Row(c)
	for j := lo; j < hi; j++ {
		if v.Target.Has(int(v.model.Target[j])) {
			sum += v.model.Weights[v.model.Weight[j]]
		}
	}
	return sum
}

// valueIn computes the value of a vector in a state.
func (v *pointBased) valueIn(x *alphaVector, s uint32) float64 {
	sum := v.immediate(s, x.action)
	lo, hi := v.model.Row(v.choiceOf(s, x.action))
	for j := lo; j < hi; j++ {
		if t := v.model.Target[j]; !v.terminal.Has(int(t)) {
			sum += v.model.Weights[v.model.Weight[j]] * v.valueAfter(x.next, t)
		}
	}
	return sum
}

// valueAfter returns the value in state t of the vector or strategy that follows.
func (v *pointBased) valueAfter(next []Edge, t uint32) float64 {
	n := Node{Next: next}
	switch i := n.next(v.Observation[t]); {
	case i < 0:
		return v.pool.values[strategyNode(i)][t]
	default:
		return v.vectors[i].values[v.index[t]]
	}
}

// completeEdges adds edges for observations that cannot follow the belief, but other beliefs with the
// same observation. They lead to the strategy of the pool that is best if all states with that
// observation are equally likely.
func (v *pointBased) completeEdges(observation uint32, action int, next []Edge) []Edge {
	var out []Edge
	for _, o := range v.possibleObservations(observation, action) {
		if i := slices.IndexFunc(next, func(e Edge) bool { return e.Observation == o }); i >= 0 {
			out = append(out, next[i])
			continue
		}
		best, bestValue := 0, 0.0
		for i, value := range v.pool.values {
			sum := 0.0
			for _, s := range v.statesOf[o] {
				sum += value[s]
			}
			if i == 0 || v.better(sum, bestValue) {
				best, bestValue = i, sum
			}
		}
		out = append(out, Edge{o, strategyNode(best)})
	}
	return out
}

// possibleObservations returns the observations that can follow an action, in increasing order.
func (v *pointBased) possibleObservations(observation uint32, action int) []uint32 {
	key := [2]int{int(observation), action}
	if out, known := v.observationsAfter[key]; known {
		return out
	}
	seen := map[uint32]bool{}
	for _, s := range v.statesOf[observation] {
		if v.terminal.Has(int(s)) {
			continue
		}
		first, n := action, 1
		if action == Any {
			first, n = 0, v.numActions(s)
		}
		for k := first; k < first+n; k++ {
			lo, hi := v.model.Row(v.choiceOf(s, k))
			for _, t := range v.model.Target[lo:hi] {
				if !v.terminal.Has(int(t)) {
					seen[v.Observation[t]] = true
				}
			}
		}
	}
	out := slices.Sorted(maps.Keys(seen))
	v.observationsAfter[key] = out
	return out
}

// controller returns the controller that starts with the best vector for a state. It is finite, since
// vectors are followed by older ones.
func (v *pointBased) controller(start uint32) *Controller {
	type spot struct {
		node  int
		shown uint32
	}
	number := map[spot]int{}
	var queue []spot
	visit := func(x spot) int {
		n, known := number[x]
		if !known {
			n = len(queue)
			number[x] = n
			queue = append(queue, x)
		}
		return n
	}
	best, _ := v.best(floatBelief{[]uint32{start}, []float64{1}})
	visit(spot{best, v.Observation[start]})
	out := &Controller{}
	for i := 0; i < len(queue); i++ {
		x := queue[i]
		n := Node{Observation: x.shown}
		var next []Edge
		if x.node >= 0 {
			n.Action, next = v.vectors[x.node].action, v.vectors[x.node].next
		} else {
			n.Action = v.pool.strategies[strategyNode(x.node)][x.shown]
			for _, o := range v.possibleObservations(x.shown, n.Action) {
				next = append(next, Edge{o, x.node})
			}
		}
		for _, e := range next {
			n.Next = append(n.Next, Edge{e.Observation, visit(spot{e.Node, e.Observation})})
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out
}
