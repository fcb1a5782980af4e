package check

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/solve/belief"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// beliefs describes the search of beliefs for a value of a partially observable model.
type beliefs struct {
	count      int  // the number of beliefs
	resolution int  // the resolution of the grid, 0 if there is none
	limit      int  // the greatest number of beliefs
	complete   bool // all reachable beliefs were expanded
	// strategy is the best strategy found, if the value was computed in one state only. chain is the number of
	// states of the Markov chain that it induces.
	strategy *belief.Controller
	chain    int
}

// String describes the search.
func (b *beliefs) String() string {
	switch {
	case b.complete:
		return fmt.Sprintf("all %d beliefs", b.count)
	case b.resolution == 0:
		return fmt.Sprintf("%d beliefs and cut-offs", b.count)
	}
	return fmt.Sprintf("%d beliefs, a grid of resolution %d, and cut-offs", b.count, b.resolution)
}

// maxStarts limits the number of states in which a value of a partially observable model is computed, as each needs its own
// search.
const maxStarts = 64

// partiallyObservable reports whether schedulers see only observations.
func (e *evaluation) partiallyObservable() bool { return e.space.Program().Type == syntax.POMDP }

// observed returns the minimal or maximal probability of a path formula over the schedulers that see only observations. It has
// values in the states of the domain only.
func (e *evaluation) observed(p *logic.Path, dir solve.Direction) (*numbers, error) {
	if p.Negated {
		positive := *p
		positive.Negated = false
		v, err := e.observed(&positive, dir.Opposite())
		if err != nil {
			return nil, err
		}
		return e.complement(v), nil
	}
	if p.Form == logic.InitialState {
		set, err := e.observable(p.Right, "a path formula")
		if err != nil {
			return nil, err
		}
		return e.indicator(set), nil
	}
	if !p.Unbounded() {
		return nil, e.unsupported(p.X, "found %s in a property of a partially observable model, want F, G, U, W or R without bounds", logic.Describe(p.X))
	}
	left := e.all()
	if p.Left != nil {
		var err error
		if left, err = e.observable(p.Left, "the left-hand side of until"); err != nil {
			return nil, err
		}
	}
	right, err := e.observable(p.Right, "the target")
	if err != nil {
		return nil, err
	}
	left, right, negated := Sets.AsUntil(p.Op, left, right)
	if negated {
		dir = dir.Opposite()
	}
	v, err := e.search(p.X, belief.Problem{Left: left, Target: right, Direction: dir})
	if err != nil || !negated {
		return v, err
	}
	return e.complement(v), nil
}

// observedReward returns the minimal or maximal expected reward until a target is reached, over the schedulers that see only
// observations.
func (e *evaluation) observedReward(f *logic.Formula, r *sparse.Reward, dir solve.Direction) (*numbers, error) {
	o := f.Objective
	if o.Form != logic.ReachReward {
		return nil, e.unsupported(o.X, "found %s in an R operator of a partially observable model, want F without bounds", logic.Describe(o.X))
	}
	target, err := e.observable(o.Target, "the target")
	if err != nil {
		return nil, err
	}
	return e.search(f.X, belief.Problem{Target: target, Reward: r, Direction: dir})
}

// observable returns the states in which a formula over variables and labels holds. It is an error if the formula holds in only
// one of two states with the same observation. what describes the formula in messages.
//
// Source: PRISM, which refuses other formulas, too.
func (e *evaluation) observable(x sema.Expr, what string) (*sparse.Set, error) {
	if operator := logic.Nested(x, nil); operator != nil {
		name := outermost(operator)
		if f := logic.Of(operator); f.Measure() || f.Kind == logic.Strategy {
			name = "an expression of type " + operator.Type().String()
		}
		return nil, e.unsupported(operator, "found %s within an operator for a partially observable model", name)
	}
	set, err := e.nested(x)
	if err != nil {
		return nil, err
	}
	if err := e.observe(); err != nil {
		return nil, err
	}
	if !belief.Observable(set, e.observations.ByState) {
		return nil, e.refuse(result.Other, x.Pos(), "%s is not observable: two states show the same, and it holds in one of them", what)
	}
	return set, nil
}

// observe computes the observations of the model, unless they are known.
func (e *evaluation) observe() error {
	if e.observations != nil {
		return nil
	}
	seen, err := e.space.Observations(e.ctx)
	if wrong, ok := errors.AsType[*explicit.ChoicesError](err); ok {
		return &result.Failure{Class: result.Model, Message: wrong.Error(), File: wrong.File}
	}
	e.observations = seen
	return err
}

// search computes bounds of a value, or its fraction, in each state of the domain. The other states have no value.
func (e *evaluation) search(x sema.Expr, p belief.Problem) (*numbers, error) {
	p.Graph, p.Observation = e.graph, e.observations.ByState
	starts := e.domain()
	if n := starts.Count(); n > maxStarts {
		return nil, e.unsupported(x, "found a value of a partially observable model that is wanted in %s, at most %d can be", noun.Count(n, "state"), maxStarts)
	}
	out := newNumbers(e.space.Model().NumStates(), result.Bounded)
	if e.exact {
		out.rat, out.acc = make([]*big.Rat, len(out.lo)), result.Exact
	}
	b := &beliefs{complete: true, limit: e.budget}
	for s := range starts.All() {
		v, err := belief.Solve(e.ctx, p, s, belief.Options{Epsilon: e.opts.Epsilon, Beliefs: e.budget, Exact: e.exact, Progress: e.opts.Progress})
		if err != nil {
			return nil, err
		}
		b.count = max(b.count, v.Beliefs)
		b.resolution = max(b.resolution, v.Resolution)
		b.complete = b.complete && v.Complete
		if starts.Count() == 1 && v.Chain != nil {
			b.strategy = v.Strategy
			b.chain = len(v.Chain.State)
		}
		if !e.exact {
			out.lo[s], out.hi[s] = v.Lower, v.Upper
			continue
		}
		if !v.Complete {
			return nil, &inexact{x.Pos(), fmt.Sprintf("more than %d beliefs can be reached, and no fraction is known of the value", e.budget)}
		}
		if v.Exact == nil {
			out.lo[s], out.hi[s] = math.Inf(1), math.Inf(1)
		} else {
			out.put(s, fraction(v.Exact))
		}
	}
	e.beliefs = b
	return out, nil
}
