package solve

import (
	"context"
	"math/big"

	"tilecheck/native/space/sparse"
)

// strategyImprovement solves a game by a sequence of strategies of the maximizer. The value of a
// strategy is that of an MDP, in which only the minimizer has choices; so it is a lower bound. Where a
// choice has a greater value than the state, the strategy changes to it. Such a change lowers no value:
// in a set of states where the maximizer could now stay without reaching the target, values cannot
// differ from their mean, so no choice in it was changed, and the minimizer could have stayed before. If
// there is no such choice, the values solve the equations of the game; the game's values are the least
// solution, so they are these.
//
// Source: Hoffman and Karp, On nonterminating stochastic games (1966); Condon, The complexity of
// stochastic games (1992).
type strategyImprovement struct {
	game *Game
	ctx  context.Context
	opts Options
	sys  *system // its bounds are those of the game
	// solve solves an MDP that is left if one side has a strategy.
	solve func(g *sparse.Graph, dir Direction, opts Options) (*Values, error)
}

// restricted returns the MDP in which a side makes the given choices.
func (it *strategyImprovement) restricted(side Direction, strategy []uint32) *sparse.Graph {
	g := it.game.g
	choices := sparse.NewSet(g.NumChoices())
	for s := range g.NumStates() {
		if it.game.side(s) == side {
			choices.Add(int(strategy[s]))
			continue
		}
		first, end := g.Choices(s)
		for c := first; c < end; c++ {
			choices.Add(c)
		}
	}
	return sparse.NewGraph(g.Model.Restrict(choices))
}

// exact computes fractions, starting with a strategy that bounds suggest.
func (it *strategyImprovement) exact() (*Values, error) {
	opts := it.opts
	opts.Exact = false
	sys, err := it.game.system(nil, opts)
	if err != nil {
		return nil, err
	}
	sys.prob, sys.open = true, it.sys.open
	copy(sys.v.Lower, it.sys.v.Lower)
	copy(sys.v.Upper, it.sys.v.Upper)
	guess := newDeflation(it.game, sys, opts)
	if err := guess.solve(it.ctx, opts); err != nil {
		return nil, err
	}
	for {
		v, err := it.solve(it.restricted(Max, guess.strategy), Min, it.opts)
		if err != nil {
			return nil, err
		}
		it.sys.v.Exact = v.Exact
		if !it.improve(guess.strategy) {
			return it.sys.v, nil
		}
		if err := it.ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// improve changes the strategy of the maximizer where a choice has a greater value than the state. It
// reports whether there is one.
func (it *strategyImprovement) improve(strategy []uint32) (changed bool) {
	it.sys.step = true // a choice is compared as one step
	defer func() { it.sys.step = false }()
	for s := range it.sys.open.All() {
		if it.game.side(s) != Max {
			continue
		}
		if best := it.sys.optimumRat(s); greater(best.value, it.sys.v.Exact[s]) {
			strategy[s], changed = best.choice, true
		}
	}
	return changed
}

// greater compares values, of which nil is infinite.
func greater(x, y *big.Rat) bool {
	switch {
	case y == nil:
		return false
	case x == nil:
		return true
	}
	return x.Cmp(y) > 0
}

// narrow narrows the bounds of the values, starting with a strategy of the maximizer. The strategy
// leaves an MDP of the minimizer, whose values are lower bounds. The choices of the minimizer that are
// best for these leave an MDP of the maximizer, whose values are upper bounds.
func (it *strategyImprovement) narrow(strategy []uint32) error {
	v := it.sys.v
	for range maxStrategies {
		w, err := it.solve(it.restricted(Max, strategy), Min, it.opts)
		if err != nil {
			return err
		}
		v.Sweeps += w.Sweeps
		for s := range it.sys.open.All() {
			v.Lower[s] = max(v.Lower[s], w.Lower[s])
		}
		changed := it.respond(strategy, w)
		if w, err = it.solve(it.restricted(Min, strategy), Max, it.opts); err != nil {
			return err
		}
		v.Sweeps += w.Sweeps
		for s := range it.sys.open.All() {
			v.Upper[s] = min(v.Upper[s], w.Upper[s])
		}
		if v.Converged = !v.wide(it.sys.open, it.opts.epsilon()); v.Converged || !changed {
			return nil
		}
	}
	return nil
}

// maxStrategies limits the strategies for bounds; known games need a few.
const maxStrategies = 100

// respond changes the strategy to the best choices for the lower bounds w: those of the minimizer
// always, those of the maximizer where a choice is better by more than the rounding error. It reports
// whether the maximizer changed any.
func (it *strategyImprovement) respond(strategy []uint32, w *Values) (changed bool) {
	sys := *it.sys
	sys.v = w
	for s := range sys.open.All() {
		least := sys.minimizes(s)
		best, value := uint32(sparse.None), 0.0
		first, end := sys.g.Choices(s)
		for c := first; c < end; c++ {
			if x := sys.eval(s, c); x.leaves && (best == sparse.None || (x.lo < value) == least && x.lo != value) {
				best, value = uint32(c), x.lo
			}
		}
		switch {
		case best == sparse.None:
		case least:
			strategy[s] = best
		case value > w.Lower[s]*(1+1e-12) && best != strategy[s]:
			strategy[s], changed = best, true
		}
	}
	return changed
}
