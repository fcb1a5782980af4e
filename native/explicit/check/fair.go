package check

import (
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// fair reports whether only fair schedulers count, of a model that has some.
func (e *evaluation) fair() bool { return e.onlyFair && e.kind() == sparse.MDP }

// simple reports whether a path formula has at most one temporal operator, whose
// probability under fair schedulers is known.
func simple(x sema.Expr) bool {
	switch x := x.(type) {
	case *sema.Unary:
		return x.Type() == sema.Bool || x.Op == syntax.OpNot && simple(x.X)
	case *sema.Temporal:
		return state(x.X) && state(x.Y)
	}
	return x.Type() == sema.Bool
}

// fairUntil returns the minimal probability of an until formula under fair schedulers: one
// minus the maximal probability of coming to a state from which no path satisfies it.
// Almost every fair path ends up in a set of states that no choice leaves, and meets all
// of them; if it does not satisfy the formula, no path from there does. And whatever
// is done before and after, a scheduler can be fair in the long run.
//
// Maximal probabilities are those of all schedulers, and so are those of bounded
// formulas: what happens in the long run does not matter to them.
//
// Source: Baier and Kwiatkowska, Model checking for a probabilistic branching time logic
// with fairness (Distributed Computing, 1998).
func (e *evaluation) fairUntil(left, right *sparse.Set) (*numbers, error) {
	never := e.graph.Prob0A(left, right)
	v, err := e.solved(solve.Until(e.ctx, e.graph, left.Minus(right), never, solve.Max, e.opts))
	if err != nil {
		return nil, err
	}
	return e.complement(v), nil
}
