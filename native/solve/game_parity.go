package solve

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// Parity returns bounds on the value of a parity objective: the probability that the least priority that
// occurs infinitely often is even. priority has that of each state.
//
// Strategy improvement of both sides gives the bounds: a strategy of one side leaves an MDP of the other,
// which is solved soundly. Fractions come from the maximizer alone. If they are asked for, the strategies are those of the bounds.
//
// Source: Chatterjee and Henzinger, Strategy improvement for stochastic Rabin and Streett games (CONCUR
// 2006); the case of parity games.
func (game *Game) Parity(ctx context.Context, priority []int, opts Options) (*Values, error) {
	wanted := opts.Scheduler
	opts.Within, opts.Scheduler, opts.Classic = nil, false, false
	priority = compressed(priority)
	side := &parityImprovement{game: game, ctx: ctx, opts: opts, priority: priority, strategy: game.firstChoices()}
	lower, err := side.run()
	if err != nil || opts.Exact && !wanted {
		return lower, err
	}
	next := make([]int, len(priority))
	for s, p := range priority {
		next[s] = p + 1
	}
	other := NewGame(game.graph, game.maximizer.Complement())
	opponent := &parityImprovement{game: other, ctx: ctx, opts: opts, priority: next, strategy: game.firstChoices()}
	upper, err := opponent.run()
	if err != nil {
		return nil, err
	}
	if wanted {
		lower.Scheduler = game.combined(side.evaluated, opponent.evaluated)
	}
	if opts.Exact {
		return lower, nil
	}
	for s, x := range upper.Lower {
		lower.Upper[s] = oneMinus(x, math.Inf(1))
	}
	lower.Sweeps += upper.Sweeps
	lower.Converged = !lower.hasWideBounds(sparse.FullSet(game.graph.NumStates()), opts.epsilon())
	return lower, nil
}

// combined returns the choices of both sides, from a strategy of each.
func (game *Game) combined(maximizer, minimizer []uint32) []uint32 {
	out := slices.Clone(minimizer)
	for s := range game.maximizer.All() {
		out[s] = maximizer[s]
	}
	return out
}

// compressed returns the priorities with the same order and parities, without those that do not occur.
func compressed(priority []int) []int {
	used := slices.Compact(slices.Sorted(slices.Values(priority)))
	small := map[int]int{}
	next := 0
	for _, p := range used {
		if next%2 != p%2 {
			next++
		}
		small[p] = next
	}
	out := make([]int, len(priority))
	for s, p := range priority {
		out[s] = small[p]
	}
	return out
}

// oneMinus returns 1-x for a probability, rounded towards an infinity.
func oneMinus(x, towards float64) float64 {
	if x == 0 || x == 1 {
		return 1 - x
	}
	return min(1, max(0, math.Nextafter(1-x, towards)))
}

// parityImprovement improves a memoryless strategy of the maximizer. Its values are those of the MDP that
// it leaves to the minimizer. A choice with a greater value is taken at once. If there is none, the states
// are divided into classes of equal values below 1. Where the maximizer can win almost surely within its
// class, unless the minimizer makes a choice that raises the value, it plays to win. If there is no such
// state either, the values are those of the game.
type parityImprovement struct {
	game     *Game
	ctx      context.Context
	opts     Options
	priority []int
	strategy []uint32
	// values are those of the last strategy that was evaluated.
	values    *Values
	evaluated []uint32
}

// maxParityStrategies limits the strategies for bounds.
const maxParityStrategies = 200

// run returns the values of the best strategy that it finds: fractions are those of the game, lower bounds
// are the best ones of all strategies.
func (x *parityImprovement) run() (*Values, error) {
	best := newValues(x.game.graph.Model, x.opts)
	for i := 0; x.opts.Exact || i < maxParityStrategies; i++ {
		if err := x.ctx.Err(); err != nil {
			return nil, err
		}
		if err := x.evaluate(); err != nil {
			return nil, err
		}
		best.Sweeps += x.values.Sweeps
		for s := range best.Lower {
			best.Lower[s] = max(best.Lower[s], x.values.Lower[s])
		}
		best.Exact = x.values.Exact
		if !x.improve() {
			break
		}
	}
	return best, nil
}

// evaluate computes the values of the strategy: one minus the probability that the minimizer reaches an
// end component with an odd priority in which it can stay.
func (x *parityImprovement) evaluate() error {
	mdp := sparse.NewGraph(x.game.graph.Model.Restrict(x.strategyChoices()))
	odd, err := oddEnds(x.ctx, mdp.Model, x.priority)
	if err != nil {
		return err
	}
	opts := x.opts
	if !opts.Exact {
		opts.Epsilon = max(opts.epsilon()/1000, 1e-14) // the value is one minus the probability
	}
	values, err := Until(x.ctx, mdp, sparse.FullSet(mdp.NumStates()), odd, Max, opts)
	if err != nil {
		return err
	}
	for s := range values.Lower {
		if values.Exact != nil {
			values.assign(s, new(big.Rat).Sub(big.NewRat(1, 1), values.Exact[s]))
			continue
		}
		values.Lower[s], values.Upper[s] = oneMinus(values.Upper[s], math.Inf(-1)), oneMinus(values.Lower[s], math.Inf(1))
	}
	x.values, x.evaluated = values, slices.Clone(x.strategy)
	return nil
}

// strategyChoices returns the choices of the strategy, and all choices of the minimizer.
func (x *parityImprovement) strategyChoices() *sparse.Set {
	graph := x.game.graph
	choices := sparse.NewSet(graph.NumChoices())
	for s := range graph.NumStates() {
		if x.game.maximizer.Has(s) {
			choices.Add(int(x.strategy[s]))
			continue
		}
		first, end := graph.Choices(s)
		for c := first; c < end; c++ {
			choices.Add(c)
		}
	}
	return choices
}

// oddEnds returns the states of the end components whose least priority is odd. Below an end component whose least priority is
// even it looks for smaller ones, without the states of that priority.
func oddEnds(ctx context.Context, model *sparse.Model, priority []int) (*sparse.Set, error) {
	odd := sparse.NewSet(model.NumStates())
	for states := sparse.FullSet(model.NumStates()); !states.Empty(); {
		components, err := model.EndComponents(ctx, states, nil)
		if err != nil {
			return nil, err
		}
		states = sparse.NewSet(model.NumStates())
		for i := range components.Num() {
			members := components.Members(i)
			least := leastPriority(members, priority)
			for _, s := range members {
				switch {
				case least%2 == 1:
					odd.Add(int(s))
				case priority[s] > least:
					states.Add(int(s))
				}
			}
		}
	}
	return odd, nil
}

// leastPriority returns the least priority of some states.
func leastPriority(states []uint32, priority []int) int {
	least := math.MaxInt
	for _, s := range states {
		least = min(least, priority[s])
	}
	return least
}

// improve changes the strategy to a better one. It reports whether it found one.
func (x *parityImprovement) improve() (changed bool) {
	g := x.game.graph
	comparison := make([]int, g.NumChoices()) // of each choice with the value of its state
	for s := range g.NumStates() {
		first, end := g.Choices(s)
		best := first
		for c := first; c < end; c++ {
			comparison[c] = x.compare(c, s)
			if comparison[c] > 0 && (comparison[best] <= 0 || x.mean(c) > x.mean(best)) {
				best = c
			}
		}
		if x.game.maximizer.Has(s) && comparison[best] > 0 {
			x.strategy[s], changed = uint32(best), true
		}
	}
	if changed {
		return true
	}
	for _, class := range x.classes() {
		changed = x.win(class, comparison) || changed
	}
	return changed
}

// tolerance is the difference of float64 values that counts as none. It decides which strategies are
// tried, but no bound.
const tolerance = 1e-10

// compare compares the value of a choice with that of its state.
func (x *parityImprovement) compare(c, s int) int {
	if x.values.Exact != nil {
		return meanRat(x.game.graph, c, x.values.Exact).Cmp(x.values.Exact[s])
	}
	switch d := x.mean(c) - x.values.Lower[s]; {
	case d > tolerance:
		return 1
	case d < -tolerance:
		return -1
	}
	return 0
}

// mean returns the value after a choice, approximately.
func (x *parityImprovement) mean(c int) float64 {
	first, end := x.game.graph.Row(c)
	sum := 0.0
	for i := first; i < end; i++ {
		sum += x.game.graph.Prob(i) * x.values.Lower[x.game.graph.Target[i]]
	}
	return sum
}

// classes returns the states with equal values below 1, class by class.
func (x *parityImprovement) classes() [][]uint32 {
	var order []uint32
	for s, lower := range x.values.Lower {
		if lower < 1 || x.values.Exact != nil && !x.values.Exact[s].IsInt() {
			order = append(order, uint32(s))
		}
	}
	slices.SortStableFunc(order, x.compareValues)
	var classes [][]uint32
	for i, s := range order {
		if i > 0 && x.equalValues(order[i-1], s) {
			last := len(classes) - 1
			classes[last] = append(classes[last], s)
			continue
		}
		classes = append(classes, []uint32{s})
	}
	return classes
}

// compareValues compares the values of two states.
func (x *parityImprovement) compareValues(a, b uint32) int {
	if x.values.Exact != nil {
		return x.values.Exact[a].Cmp(x.values.Exact[b])
	}
	return cmp.Compare(x.values.Lower[a], x.values.Lower[b])
}

// equalValues reports whether the values of two states are equal; without exact values, up to a tolerance. The value of b must
// not be less than that of a.
func (x *parityImprovement) equalValues(a, b uint32) bool {
	if x.values.Exact != nil {
		return x.values.Exact[a].Cmp(x.values.Exact[b]) == 0
	}
	return x.values.Lower[b]-x.values.Lower[a] <= tolerance
}

// win changes the strategy in the states of a class from which the maximizer can win almost surely, unless
// the minimizer raises the value. It reports whether there are any. A choice that keeps the value but
// leaves the class counts as won by the minimizer.
func (x *parityImprovement) win(class []uint32, comparison []int) bool {
	g := x.game.graph
	inside := sparse.NewSet(g.NumStates())
	for _, s := range class {
		inside.Add(int(s))
	}
	q := &almostSure{game: x.game, inside: inside, choices: sparse.NewSet(g.NumChoices()), priority: make([]int, g.NumChoices()), strategy: slices.Clone(x.strategy)}
	for _, s := range class {
		first, end := g.Choices(int(s))
		leaves := false
		for c := first; c < end; c++ {
			if comparison[c] != 0 {
				continue
			}
			if x.game.stays(c, inside) {
				q.choices.Add(c)
				q.priority[c] = x.priority[s]
			} else {
				leaves = true
			}
		}
		if leaves && !x.game.maximizer.Has(int(s)) {
			inside.Remove(int(s))
		}
	}
	won := q.solve()
	for s := range won.All() {
		x.strategy[s] = q.strategy[s]
	}
	return !won.Empty()
}

// almostSure computes the states from which the maximizer wins a parity game with probability one without
// leaving a set of states. It evaluates a fixed point with one variable for each priority of choices, greatest for
// an even and least for an odd one; that of priority 0 is the outermost.
//
// A choice with several successors is won if, for each even priority 2k up to its own one, either all
// successors are in the variable of 2k, or one is in that of 2k-1: the maximizer may pick the successor,
// which happens with positive probability, if it pays with priority 2k-1.
//
// Source: Chatterjee, Jurdzinski and Henzinger, Simple stochastic parity games (CSL 2003): the gadget that
// replaces random states.
type almostSure struct {
	game      *Game
	inside    *sparse.Set   // the states
	choices   *sparse.Set   // the choices, which stay in the states
	priority  []int         // of each choice
	strategy  []uint32      // gets the choices of the maximizer in states that it wins
	variables []*sparse.Set // of each priority
}

// solve returns the states in which the maximizer wins.
func (q *almostSure) solve() *sparse.Set {
	greatest := 0
	for c := range q.choices.All() {
		greatest = max(greatest, q.priority[c])
	}
	q.variables = make([]*sparse.Set, greatest+1)
	return q.fixedPoint(0)
}

// fixedPoint returns the fixed point of the variable of a priority, for given variables of lower ones.
func (q *almostSure) fixedPoint(priority int) *sparse.Set {
	if priority == len(q.variables) {
		return q.step()
	}
	current := q.inside
	if priority%2 == 1 {
		current = sparse.NewSet(q.inside.Len())
	}
	for {
		q.variables[priority] = current
		next := q.fixedPoint(priority + 1)
		if next.Equal(current) {
			return current
		}
		current = next
	}
}

// step returns the states in which the maximizer has a choice that is won, or in which all choices of the
// minimizer are. It writes the choices of the maximizer to the strategy, except in states that are already
// in a least fixed point.
func (q *almostSure) step() *sparse.Set {
	out := sparse.NewSet(q.inside.Len())
	for s := range q.inside.All() {
		if q.won(s) {
			out.Add(s)
		}
	}
	return out
}

// won reports whether the maximizer wins from a state in one step of the fixed-point iteration: by some choice, or in a state of the
// minimizer by all choices. It writes the choice to the strategy, unless the state was won for an odd priority before.
func (q *almostSure) won(s int) bool {
	first, end := q.game.graph.Choices(s)
	if !q.game.maximizer.Has(s) {
		for c := first; c < end; c++ {
			if q.choices.Has(c) && !q.wonChoice(c) {
				return false
			}
		}
		return true
	}
	for c := first; c < end; c++ {
		if !q.choices.Has(c) || !q.wonChoice(c) {
			continue
		}
		if !q.wonForOdd(s) {
			q.strategy[s] = uint32(c)
		}
		return true
	}
	return false
}

// wonForOdd reports whether a state is in the variable of an odd priority.
func (q *almostSure) wonForOdd(s int) bool {
	for priority := 1; priority < len(q.variables); priority += 2 {
		if q.variables[priority].Has(s) {
			return true
		}
	}
	return false
}

// wonChoice reports whether a choice is won.
func (q *almostSure) wonChoice(c int) bool {
	priority := q.priority[c]
	for even := 0; even <= priority+1; even += 2 {
		all := even <= priority && q.game.stays(c, q.variables[even])
		if !all && (even == 0 || !q.meets(c, q.variables[even-1])) {
			return false
		}
	}
	return true
}

// meets reports whether some transition of a choice leads to a state of a set.
func (q *almostSure) meets(c int, set *sparse.Set) bool {
	first, end := q.game.graph.Row(c)
	return slices.ContainsFunc(q.game.graph.Target[first:end], func(t uint32) bool { return set.Has(int(t)) })
}
