package check

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/solve/pareto"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

const (
	maxObjectives = 12
	// smallMulti is the number of states of a model for which fractions are tried first.
	smallMulti = 128
	// weightBits is how long weights are where fractions are not asked for.
	weightBits = 48
)

// objective is one operand of multi(…).
type objective struct {
	x     sema.Expr
	form  form
	query bool
	bound *big.Rat // unless query
	// least says that the value is to be great: at least bound, or maximal. It
	// holds for every probability: one that is to be small is that of the
	// negation, and inverse is set.
	least, inverse bool

	// until, negated if so asked: status remembers whether it is decided.
	left, right *sparse.Set
	negated     bool
	// recurring: a set to be visited infinitely often; lasting: not to be left
	// from some time on.
	set *sparse.Set
	// linear: any other path formula, which an automaton reads.
	reads *reading
	// rewards: of the first steps, or all if that is negative. upper are bounds of what
	// can be had of it in each state of the product, once they are needed.
	reward *sparse.Reward
	steps  int
	upper  []*big.Rat
}

// form is the form of an objective.
type form uint8

const (
	until form = iota
	recurring
	lasting
	linear
	rewards
)

// multi evaluates multi(…) in the initial state: whether some scheduler meets all
// bounds, or the best value of the one query among those that do, NaN if there
// are none.
//
// Source: Etessami, Kwiatkowska, Vardi and Yannakakis, Multi-objective model
// checking of Markov decision processes (LMCS 2008) for the product with what has to be
// remembered, in which a path ends where a scheduler can go on for ever within an end
// component that satisfies a set of objectives, for any path formula with what its
// automaton remembers; and package pareto, which asks for the best of weighted sums.
func (e *evaluation) multi(x *sema.Multi) (result.Value, *result.Interval, error) {
	none := result.Value{}
	switch {
	case e.fair():
		return result.Value{}, nil, e.unsupported(x, "found multi(...) and fair schedulers")
	case e.kind() != sparse.MDP || e.p.Program.Type != syntax.MDP:
		return none, nil, e.unsupported(x, "found multi(...) for a %s, want an MDP", e.p.Program.Type)
	case len(e.space.Model().Initial) > 1:
		return none, nil, e.unsupported(x, "found multi(...) for a model with several initial states")
	case len(x.Args) > maxObjectives:
		return none, nil, e.unsupported(x, "found multi(...) with more than %d objectives", maxObjectives)
	}
	m := &multi{evaluation: e}
	for _, arg := range x.Args {
		o, err := e.objective(arg)
		if err != nil {
			return none, nil, err
		}
		m.objectives = append(m.objectives, o)
	}
	if err := m.build(); err != nil {
		return none, nil, err
	}
	if err := m.stops(x); err != nil {
		return none, nil, err
	}
	coarse, width := uint(weightBits), e.opts.Epsilon
	if e.exact {
		coarse, width = 0, 0
	}
	end := e.schedule(x)
	m.kept, e.opts.Scheduler = e.opts.Scheduler, false
	defer end()
	curve := pareto.New(len(m.objectives), m.weigh, coarse)
	if x.T == sema.Void {
		return m.curve(x, curve, width)
	}
	gain, least := m.aims()
	best, err := curve.Maximize(e.ctx, gain, least, width)
	switch {
	case errors.Is(err, errNever):
		best = &pareto.Best{}
	case errors.Is(err, pareto.ErrOpen):
		return none, nil, &undecided{x.Pos(), "the bounds of values leave open whether the objectives can be met together"}
	case err != nil:
		return none, nil, err
	}
	if m.kept && best.Point != nil {
		if e.wanted.controller, err = m.mixed(best.Parts); err != nil {
			return none, nil, err
		}
	}
	return m.answer(x, best)
}

// mixed returns the scheduler that follows the plans of the oracle's answers in some parts.
func (m *multi) mixed(parts []*big.Rat) (*sparse.Controller, error) {
	var plans []plan
	for i, part := range parts {
		if part.Sign() > 0 {
			plans = append(plans, m.plans[i])
			plans[len(plans)-1].part = part
		}
	}
	return m.controller(m.ctx, plans)
}

// aims returns the direction to go in, and the values to be reached.
func (m *multi) aims() (gain, least []*big.Rat) {
	gain, least = make([]*big.Rat, len(m.objectives)), make([]*big.Rat, len(m.objectives))
	for i, o := range m.objectives {
		switch gain[i] = new(big.Rat); {
		case o.query:
			gain[i].SetInt64(1)
		case o.least:
			least[i] = o.bound
		default:
			least[i] = new(big.Rat).Neg(o.bound)
		}
	}
	return gain, least
}

// objective reads an operand.
func (e *evaluation) objective(x sema.Expr) (*objective, error) {
	switch x := x.(type) {
	case *sema.Prob:
		o, err := e.newObjective(x, x.Threshold)
		if err != nil {
			return nil, err
		}
		if o.inverse = !o.least; o.inverse {
			o.least = true
			if o.bound != nil {
				o.bound = new(big.Rat).Sub(big.NewRat(1, 1), o.bound)
			}
		}
		return o, e.pathObjective(o, x.Path, o.inverse)
	case *sema.Reward:
		o, err := e.newObjective(x, x.Threshold)
		if err != nil {
			return nil, err
		}
		return o, e.rewardObjective(o, x)
	}
	return nil, e.unsupported(x, "found %s in multi(...), want P or R", describe(x))
}

func (e *evaluation) newObjective(x sema.Expr, t sema.Threshold) (*objective, error) {
	dir, ok := direction(t, false)
	switch {
	case !ok:
		return nil, e.refuse(result.TypeError, x.Pos(), "found an operator in multi(...) that says neither min nor max")
	case t.Rel == syntax.OpGt || t.Rel == syntax.OpLt:
		return nil, e.unsupported(x, "found a strict bound in multi(...), want >= or <=")
	case t.Query():
		return &objective{x: x, query: true, least: dir == solve.Max}, nil
	}
	b, err := e.bound(x, t)
	if err != nil {
		return nil, err
	}
	if b.rat == nil {
		return nil, e.unsupported(x, "found a bound in multi(...) that is not a fraction")
	}
	return &objective{x: x, least: t.Rel == syntax.OpGe, bound: b.rat}, nil
}

// pathObjective reads a path formula, or the negation of one.
func (e *evaluation) pathObjective(o *objective, x sema.Expr, negated bool) error {
	if x.Type() == sema.Bool { // of the first state: nothing can change
		set, err := e.nested(x)
		o.left, o.right, o.negated = sparse.NewSet(e.space.Model().NumStates()), set, negated
		return err
	}
	if u, ok := x.(*sema.Unary); ok && u.Op == syntax.OpNot {
		return e.pathObjective(o, u.X, !negated)
	}
	t, ok := x.(*sema.Temporal)
	if !ok || t.Bound != nil || t.Op == syntax.Next {
		return e.linear(o, x, negated)
	}
	if inner, ok := t.Y.(*sema.Temporal); ok && inner.Bound == nil && state(inner.Y) {
		if t.Op == syntax.Globally && inner.Op == syntax.Future || t.Op == syntax.Future && inner.Op == syntax.Globally {
			return e.infinite(o, t, inner, negated)
		}
	}
	if !state(t.X) || !state(t.Y) {
		return e.linear(o, x, negated)
	}
	left, right, err := e.operands(t.X, t.Y)
	if err != nil {
		return err
	}
	o.left, o.right, o.negated = asUntil(t.Op, left, right)
	o.negated = o.negated != negated
	return nil
}

// infinite reads G F a or F G a.
func (e *evaluation) infinite(o *objective, outer, inner *sema.Temporal, negated bool) error {
	set, err := e.nested(inner.Y)
	if err != nil {
		return err
	}
	o.form, o.set = lasting, set
	if negated {
		o.set = set.Complement()
	}
	if (outer.Op == syntax.Globally) != negated {
		o.form = recurring
	}
	return nil
}

// linear reads any path formula.
func (e *evaluation) linear(o *objective, x sema.Expr, negated bool) error {
	a := &abstraction{evaluation: e, root: x}
	f, err := a.formula(x)
	if err != nil {
		return err
	}
	if negated {
		f = automata.Unary(automata.Not, f)
	}
	auto, err := automata.New(f, automata.Limits{})
	if err != nil {
		return a.large(err)
	}
	o.form, o.reads = linear, &reading{auto: auto, letters: newLetters(a.graph.NumStates(), a.sets)}
	return nil
}

// objectives says what the objectives of multi(...) may be.
const objectives = "want P of a path formula, or R with C or C<=k"

func (e *evaluation) rewardObjective(o *objective, x *sema.Reward) error {
	p, ok := x.Path.(*sema.RewardPath)
	switch {
	case x.StructErr != nil:
		return x.StructErr
	case x.StructDiv >= 0:
		return e.unsupported(x, "found a ratio of rewards in multi(...), "+objectives)
	case !ok:
		return e.unsupported(x, "found an R operator of a path formula in multi(...), "+objectives)
	case p.Kind == syntax.LongRun:
		return e.unsupported(x, "found a long-run average, R [ S ], in multi(...), "+objectives)
	case p.Kind != syntax.Cumulative:
		return e.unsupported(x, "found an R operator with I=k in multi(...), "+objectives)
	}
	o.form, o.steps = rewards, -1
	if p.Bound != nil {
		k, err := e.stepCount(p.Bound, "C")
		if err != nil {
			return err
		}
		if k < 0 {
			return e.refuse(result.TypeError, p.Bound.Pos(), "time bound %d of the C operator, want a finite number of at least 0", k)
		}
		o.steps = k
	}
	var err error
	o.reward, err = e.reward(x.Struct)
	return err
}

// value is what an aim of package pareto is as the objective's number.
func (o *objective) value(x *big.Rat) *big.Rat {
	switch {
	case o.inverse:
		return new(big.Rat).Sub(big.NewRat(1, 1), x)
	case !o.least:
		return new(big.Rat).Neg(x)
	}
	return x
}

// answer turns what was found into the value of the property.
func (m *multi) answer(x *sema.Multi, best *pareto.Best) (result.Value, *result.Interval, error) {
	if !m.exact {
		m.weaken(result.Bounded)
	}
	if x.T == sema.Bool {
		return result.Value{Kind: result.Boolean, Bool: best.Point != nil}, nil, nil
	}
	i := 0
	for !m.objectives[i].query {
		i++
	}
	o := m.objectives[i]
	switch {
	case best.Point == nil && o.form == rewards && !o.least:
		return result.Value{}, nil, m.unsupported(x, "found multi(...) whose other objectives cannot be met, or only with an infinite reward")
	case best.Point == nil:
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil, nil
	}
	lower, upper := best.Point[i], best.Upper
	if o.inverse || !o.least {
		lower, upper = o.value(upper), o.value(lower)
	}
	var v number
	if v = fraction(lower); lower.Cmp(upper) != 0 {
		lo, _ := result.Around(lower)
		_, hi := result.Around(upper)
		if v = (number{lo: max(lo, 0), hi: hi}); o.form != rewards {
			v.hi = min(hi, 1)
		}
	}
	m.width = relativeWidth(v)
	return value(v, sema.Double), &result.Interval{Lo: v.lo, Hi: v.hi}, nil
}
