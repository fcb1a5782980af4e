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

// ltl returns the minimal or maximal probability of any path formula. The minimum is one minus the maximum of the
// negated formula.
//
// It builds the product of the model with the initial part of a limit-deterministic automaton. The maximum is the
// maximal probability of reaching a winning state, from which some scheduler satisfies the formula with probability
// one. The reason: almost every path ends in an end component of the product. If the paths there satisfy the formula
// with positive probability, then some jump of the automaton in one of its states satisfies it with probability one.
//
// The same holds for fair schedulers, with the formula and fairness instead of the formula: fairness does not depend on
// the beginning of a path, and a scheduler can be made fair on the paths that do not satisfy the formula.
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
	var schedulers quantifier = surely{e}
	if e.fair() {
		schedulers = fairly{surely{e}}
	}
	goal, err := a.winning(p, schedulers)
	if err != nil {
		return nil, a.large(err)
	}
	wantsScheduler := e.opts.Scheduler
	e.opts.Scheduler = false // a scheduler of the product is not one of the model
	v, err := e.reach(p, goal, dir)
	if err != nil {
		return nil, err
	}
	if wantsScheduler {
		e.wanted.controller, err = e.automatonController(&automatonReader{auto: p.auto, letters: a.letters})
		if err != nil {
			return nil, err
		}
	}
	v = p.project(v)
	if negate {
		v = e.complement(v)
	}
	return v, nil
}

// reach returns the minimal or maximal probability of reaching goal in the product.
func (e *evaluation) reach(p *productModel, goal *sparse.Set, dir solve.Direction) (*numbers, error) {
	return e.solved(solve.Until(e.ctx, p.Graph, p.all(), goal, dir, e.opts))
}

// product builds the product of the model with the initial part of an automaton. Start s of the product is state s
// of the model, with the automaton after the letter of s. err is that of the automaton's construction.
func (a *abstraction) product(auto *automata.Automaton, err error) (*productModel, error) {
	if err != nil {
		return nil, err
	}
	a.letters = newLetters(a.graph.NumStates(), a.sets)
	first := make([]int, len(a.letters.distinct)) // the state of the automaton after each letter
	for i, letter := range a.letters.distinct {
		first[i], err = auto.Step(auto.Initial(), letter)
		if err != nil {
			return nil, err
		}
	}
	starts := make([]productState, len(a.letters.numberOf))
	for s, i := range a.letters.numberOf {
		starts[s] = productState{uint32(s), first[i]}
	}
	return newProduct(a.ctx, a.graph.Model, auto, a.letters, starts)
}

// large adds the position of the formula to the error that its automaton is too large.
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

// coSafeReward returns the expected reward until a co-safe path formula is satisfied: until the first prefix of the
// path all of whose continuations satisfy the formula. X needs a step, even if its operand is always true.
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

// rewardUntil returns the minimal or maximal expected reward until the automaton of the product accepts.
func (e *evaluation) rewardUntil(p *productModel, r *sparse.Reward, dir solve.Direction) (*numbers, error) {
	if e.coalition != nil {
		return e.solved(p.sides(e, dir).ReachReward(e.ctx, r, p.states(automata.Accepted), e.opts))
	}
	return e.solved(solve.ReachReward(e.ctx, p.Graph, r, p.states(automata.Accepted), dir, e.opts))
}
