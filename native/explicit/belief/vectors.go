package belief

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"tilecheck/native/explicit/solve"
)

// vectors are strategies with memory, found by point-based value iteration along games that are
// drawn at random: each is what an action is worth in all states that show the same, if another
// vector, or a strategy of the pool, goes on after it. So they are the nodes of an automaton. All is
// in doubles and proves nothing: what the automaton is worth is computed of its chain.
//
// Source: Spaan and Vlassis, Perseus, JAIR 24 (2005); trials forth and back as in Smith and
// Simmons, Heuristic search value iteration for POMDPs (UAI 2004).
type vectors struct {
	*game
	hope    *optimist
	pool    *pool
	rng     *rand.Rand
	class   [][]uint32 // the states that show an observation
	place   []int32    // of a state in its class
	all     []vector
	work    int                 // products
	showing [][]int             // vectors by observation
	follows map[[2]int][]uint32 // what may be shown after an action where something is shown
}

// vector is an action, what follows it, and what it is worth in the states of its class.
type vector struct {
	shown  uint32
	action int
	next   []Edge // nodes are vectors, or, if negative, strategies of the pool: see pooled
	worth  []float64
}

// cloud is a belief in doubles: states in increasing order, and their probabilities.
type cloud struct {
	states []uint32
	weight []float64
}

func newVectors(o *optimist, p *pool) *vectors {
	v := &vectors{game: o.game, hope: o, pool: p, rng: rand.New(rand.NewPCG(1, 1)), follows: map[[2]int][]uint32{}}
	n := v.observations()
	v.class, v.showing, v.place = make([][]uint32, n), make([][]int, n), make([]int32, len(v.Observation))
	for s, shown := range v.Observation {
		v.place[s] = int32(len(v.class[shown]))
		v.class[shown] = append(v.class[shown], uint32(s))
	}
	return v
}

// pooled is the node of a strategy of the pool, and pooled of that is the strategy.
func pooled(i int) int { return -2 - i }

// maxVectors limits how many are kept for one observation.
const maxVectors = 512

// improve plays games, with so many moves in all, and goes back through each; it ends early when that takes long.
func (v *vectors) improve(ctx context.Context, start uint32, moves int) error {
	const longest, work = 1000, 1 << 31
	for v.work = 0; moves > 0 && v.work < work; {
		var path []cloud
		at := cloud{[]uint32{start}, []float64{1}}
		for len(path) < longest && len(at.states) > 0 && !v.settled(at) {
			if err := ctx.Err(); err != nil {
				return err
			}
			path = append(path, at)
			at = v.draw(v.step(at, v.try(at)))
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

// settled reports whether nothing better can come of a belief.
func (v *vectors) settled(b cloud) bool {
	if v.Direction == solve.Min {
		_, x := v.best(b)
		return x == 0
	}
	for _, s := range b.states {
		for k := range v.actions(s) {
			if v.hope.q[v.hope.slot(int(s), k)] > 0 {
				return false
			}
		}
	}
	return true
}

// try returns the action of a trial: what looks best to the optimist, or to the vectors, or any.
func (v *vectors) try(b cloud) int {
	n := v.actions(b.states[0])
	switch x := v.rng.Float64(); {
	case x < 0.15:
		return v.rng.IntN(n)
	case x < 0.6:
		if i, _ := v.best(b); i >= 0 {
			return v.all[i].action
		}
	}
	best, most := 0, 0.0
	for k := range n {
		sum := 0.0
		for i, s := range b.states {
			sum += b.weight[i] * v.hope.q[v.hope.slot(int(s), k)]
		}
		if k == 0 || v.better(sum, most) {
			best, most = k, sum
		}
	}
	return best
}

// step returns the beliefs after an action, not divided by their probabilities, by observation.
func (v *vectors) step(b cloud, action int) []cloud {
	type share struct {
		state  uint32
		weight float64
	}
	var shares []share
	for i, s := range b.states {
		lo, hi := v.m.Row(v.at(s, action))
		for j := lo; j < hi; j++ {
			if t := v.m.Target[j]; !v.over.Has(int(t)) {
				shares = append(shares, share{t, b.weight[i] * v.m.Weights[v.m.Weight[j]]})
			}
		}
	}
	slices.SortStableFunc(shares, func(x, y share) int {
		if a, b := v.Observation[x.state], v.Observation[y.state]; a != b {
			return int(int64(a) - int64(b))
		}
		return int(x.state) - int(y.state)
	})
	var out []cloud
	for i, x := range shares {
		if i == 0 || v.Observation[x.state] != v.Observation[shares[i-1].state] {
			out = append(out, cloud{})
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

// draw returns one of several beliefs, divided by its probability; an empty one if the game is over.
func (v *vectors) draw(all []cloud) cloud {
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
	return cloud{}
}

// best returns the vector, or the strategy of the pool, that is worth most under a belief, and what that is.
func (v *vectors) best(b cloud) (node int, most float64) {
	v.work += len(b.states) * (len(v.pool.worth) + len(v.showing[v.Observation[b.states[0]]]))
	for i, worth := range v.pool.worth {
		if x := b.mean(func(s uint32) float64 { return worth[s] }); i == 0 || v.better(x, most) {
			node, most = pooled(i), x
		}
	}
	for _, i := range v.showing[v.Observation[b.states[0]]] {
		worth := v.all[i].worth
		if x := b.mean(func(s uint32) float64 { return worth[v.place[s]] }); v.better(x, most) {
			node, most = i, x
		}
	}
	return node, most
}

func (b cloud) mean(worth func(s uint32) float64) float64 {
	sum := 0.0
	for i, s := range b.states {
		if w := b.weight[i]; w > 0 {
			sum += w * worth(s)
		}
	}
	return sum
}

// backup adds the vector of the best action under a belief, if it is better than what there is.
func (v *vectors) backup(b cloud) {
	shown := v.Observation[b.states[0]]
	_, had := v.best(b)
	best, most := -1, had
	var next []Edge
	for k := range v.actions(b.states[0]) {
		sum := b.mean(func(s uint32) float64 { return v.now(s, k) })
		var edges []Edge
		for _, c := range v.step(b, k) {
			node, x := v.best(c)
			sum += x
			edges = append(edges, Edge{v.Observation[c.states[0]], node})
		}
		if v.better(sum, most) && (best >= 0 || !v.better(had+v.margin(had), sum)) {
			best, most, next = k, sum, edges
		}
	}
	if best < 0 || len(v.showing[shown]) >= maxVectors {
		return
	}
	x := vector{shown: shown, action: best, next: v.complete(shown, best, next)}
	for _, s := range v.class[shown] {
		x.worth = append(x.worth, v.worth(&x, s))
	}
	// What is nowhere better is of no more use, but to those that are followed by it.
	v.showing[shown] = append(slices.DeleteFunc(v.showing[shown], func(i int) bool {
		for j, w := range v.all[i].worth {
			if v.better(w, x.worth[j]) {
				return false
			}
		}
		return true
	}), len(v.all))
	v.all = append(v.all, x)
}

// margin is by how much a vector has to be better.
func (v *vectors) margin(x float64) float64 {
	const share = 1e-9
	if v.Direction == solve.Max {
		return share * x
	}
	return -share * x
}

// now is what a move is worth at once: its chance of the target, or its reward.
func (v *vectors) now(s uint32, action int) float64 {
	c := v.at(s, action)
	if v.Reward != nil {
		return double(v.earned(s, c))
	}
	sum := 0.0
	lo, hi := v.m.Row(c)
	for j := lo; j < hi; j++ {
		if v.Target.Has(int(v.m.Target[j])) {
			sum += v.m.Weights[v.m.Weight[j]]
		}
	}
	return sum
}

// worth is what a vector is worth in a state of its class.
func (v *vectors) worth(x *vector, s uint32) float64 {
	sum := v.now(s, x.action)
	lo, hi := v.m.Row(v.at(s, x.action))
	for j := lo; j < hi; j++ {
		if t := v.m.Target[j]; !v.over.Has(int(t)) {
			sum += v.m.Weights[v.m.Weight[j]] * v.after(x.next, t)
		}
	}
	return sum
}

// after is what is worth in a state what follows a vector.
func (v *vectors) after(next []Edge, t uint32) float64 {
	n := Node{Next: next}
	switch i := n.next(v.Observation[t]); {
	case i < 0:
		return v.pool.worth[pooled(i)][t]
	default:
		return v.all[i].worth[v.place[t]]
	}
}

// complete adds to what follows a belief what may follow others that show the same: the strategy of the pool that is best from there if all states are as likely.
func (v *vectors) complete(shown uint32, action int, next []Edge) []Edge {
	var out []Edge
	for _, o := range v.followers(shown, action) {
		if i := slices.IndexFunc(next, func(e Edge) bool { return e.Observation == o }); i >= 0 {
			out = append(out, next[i])
			continue
		}
		best, most := 0, 0.0
		for i, worth := range v.pool.worth {
			sum := 0.0
			for _, s := range v.class[o] {
				sum += worth[s]
			}
			if i == 0 || v.better(sum, most) {
				best, most = i, sum
			}
		}
		out = append(out, Edge{o, pooled(best)})
	}
	return out
}

// followers returns what may be shown after an action, in increasing order.
func (v *vectors) followers(shown uint32, action int) []uint32 {
	key := [2]int{int(shown), action}
	if out, known := v.follows[key]; known {
		return out
	}
	seen := map[uint32]bool{}
	for _, s := range v.class[shown] {
		if v.over.Has(int(s)) {
			continue
		}
		first, n := action, 1
		if action == Any {
			first, n = 0, v.actions(s)
		}
		for k := first; k < first+n; k++ {
			lo, hi := v.m.Row(v.at(s, k))
			for _, t := range v.m.Target[lo:hi] {
				if !v.over.Has(int(t)) {
					seen[v.Observation[t]] = true
				}
			}
		}
	}
	out := slices.Sorted(maps.Keys(seen))
	v.follows[key] = out
	return out
}

// controller returns the automaton of the best vector in a state. It ends: vectors are followed by older ones.
func (v *vectors) controller(start uint32) *Controller {
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
	best, _ := v.best(cloud{[]uint32{start}, []float64{1}})
	visit(spot{best, v.Observation[start]})
	out := &Controller{}
	for i := 0; i < len(queue); i++ {
		x := queue[i]
		n := Node{Observation: x.shown}
		var next []Edge
		if x.node >= 0 {
			n.Action, next = v.all[x.node].action, v.all[x.node].next
		} else {
			n.Action = v.pool.policies[pooled(x.node)][x.shown]
			for _, o := range v.followers(x.shown, n.Action) {
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
