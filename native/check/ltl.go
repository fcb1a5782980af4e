package check

import (
	"errors"

	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// ltl returns the extremal probability of any path formula: the minimum is one
// minus the maximum of the negation.
//
// The product of the model with the initial part of the automaton is a model of
// the same kind. A path satisfies the formula if it comes to a state from which
// a scheduler wins surely, see winning. Whatever scheduler attains the maximum
// ends up in such states whenever its path satisfies the formula: within an end
// component of the product the formula is surely true or surely false, and if
// it is true, some jump in some state is surely right. Of fair schedulers the same
// holds of the formula together with fairness, which does not depend on what was
// done before, and a scheduler that is fair only where the formula holds can be
// made fair elsewhere.
func (e *evaluation) ltl(x sema.Expr, dir solve.Direction) (*numbers, error) {
	a := &abstraction{evaluation: e, root: x}
	f, err := a.formula(x)
	if err != nil {
		return nil, err
	}
	negate := dir.Scheduler() == solve.Min && e.kind() == sparse.MDP
	if negate {
		f = automata.Unary(automata.Not, f)
		dir = dir.Opposite()
	}
	p, err := a.product(automata.New(f, automata.Limits{}))
	if err != nil {
		return nil, a.large(err)
	}
	var which quantifier = surely{e}
	if e.fair() {
		which = fairly{surely{e}}
	}
	goal, err := a.winning(p, which)
	if err != nil {
		return nil, a.large(err)
	}
	scheduled := e.opts.Scheduler
	e.opts.Scheduler = false // one of the product is none of the model
	v, err := e.reach(p, goal, dir)
	if err != nil {
		return nil, err
	}
	if scheduled {
		if e.wanted.controller, err = e.automatonController(&automatonReader{auto: p.auto, letters: a.letters}); err != nil {
			return nil, err
		}
	}
	if v = p.project(v); negate {
		v = e.complement(v)
	}
	return v, nil
}

func (e *evaluation) reach(p *productModel, goal *sparse.Set, dir solve.Direction) (*numbers, error) {
	return e.solved(solve.Until(e.ctx, p.Graph, p.all(), goal, dir, e.opts))
}

// product builds the product with the initial part of an automaton: start i is
// state i of the model, read.
func (a *abstraction) product(auto *automata.Automaton, err error) (*productModel, error) {
	if err != nil {
		return nil, err
	}
	a.letters = newLetters(a.graph.NumStates(), a.sets)
	first := make([]int, len(a.letters.list))
	for i, letter := range a.letters.list {
		if first[i], err = auto.Step(auto.Initial(), letter); err != nil {
			return nil, err
		}
	}
	starts := make([]productState, len(a.letters.of))
	for s, i := range a.letters.of {
		starts[s] = productState{uint32(s), first[i]}
	}
	return newProduct(a.ctx, a.graph.Model, auto, a.letters, starts)
}

// large names the formula where its automaton is too large.
func (a *abstraction) large(err error) error {
	if errors.Is(err, automata.ErrTooLarge) {
		return a.unsupported(a.root, "found a path formula whose automaton is too large")
	}
	return err
}

// existsPath returns the states from which some path satisfies a path formula.
func (e *evaluation) existsPath(x sema.Expr) (*sparse.Set, error) {
	a := &abstraction{evaluation: e, root: x}
	f, err := a.formula(x)
	if err != nil {
		return nil, err
	}
	p, err := a.product(automata.New(f, automata.Limits{}))
	if err != nil {
		return nil, a.large(err)
	}
	goal, err := a.winning(p, possibly{})
	if err != nil {
		return nil, a.large(err)
	}
	reached := p.ExistsUntil(p.all(), goal)
	out := sparse.NewSet(len(p.startStates))
	for s, i := range p.startStates {
		if reached.Has(int(i)) {
			out.Add(s)
		}
	}
	return out, nil
}

// quantifiedLinear evaluates E or A of any path formula: A is the negation of E of the negation.
func (e *evaluation) quantifiedLinear(f *logic.Formula) (truth, error) {
	path := f.Path.Whole
	if at := timed(path); at != nil && e.kind() == sparse.CTMC {
		return truth{}, e.unsupported(at, "found E or A with a time bound")
	}
	if f.ForAll {
		path = logic.Not(path)
	}
	set, err := e.existsPath(path)
	if err != nil {
		return truth{}, err
	}
	if f.ForAll {
		return known(set).not(), nil
	}
	return known(set), nil
}

// timed returns the first temporal operator of a path formula that has a bound, or nil.
func timed(x sema.Expr) (found sema.Expr) {
	if x.Type() != sema.Path {
		return nil
	}
	p := logic.PathOf(x)
	switch {
	case p.Form == logic.CostBounded:
		return nil
	case p.Bound != nil:
		return p.X
	}
	sema.Operands(p.X, func(y sema.Expr) {
		if found == nil {
			found = timed(y)
		}
	})
	return found
}

// coSafeReward returns the expected reward until a path formula is proved, by
// the first prefix of which every continuation satisfies it. X takes a step
// even before something that is always true.
//
// Source: PRISM's co-safe LTL rewards; Lacerda, Parker and Hawes (IJCAI 2015).
func (e *evaluation) coSafeReward(x sema.Expr, r *sparse.Reward, dir solve.Direction) (*numbers, error) {
	if at := timed(x); at != nil {
		return nil, e.unsupported(at, "found a bounded operator within a path formula in an R operator, want operators without bounds")
	}
	a := &abstraction{evaluation: e, root: x}
	f, err := a.formula(x)
	if err != nil {
		return nil, err
	}
	if !automata.CoSafe(f) {
		return nil, e.refuse(result.TypeError, x.Pos(), "found a path formula in an R operator that is not syntactically co-safe: without negations, it may have X, F and U only")
	}
	p, err := a.product(automata.NewPrefixes(f, automata.Limits{}))
	if err != nil {
		return nil, a.large(err)
	}
	v, err := e.rewardUntil(p, p.reward(r), dir)
	if err != nil {
		return nil, err
	}
	return p.project(v), nil
}

func (e *evaluation) rewardUntil(p *productModel, r *sparse.Reward, dir solve.Direction) (*numbers, error) {
	return e.solved(solve.ReachReward(e.ctx, p.Graph, r, p.states(automata.Accepted), dir, e.opts))
}
