package check

import (
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// extremal returns the direction of an operator, or refuses a query of a
// nondeterministic model that names none.
func (e *evaluation) extremal(x sema.Expr, letter string, t sema.Threshold) (solve.Direction, error) {
	if e.space.Model().Intervals() {
		return e.robust(x, letter, t)
	}
	if e.kind() != sparse.MDP {
		return solve.Max, nil
	}
	dir, ok := direction(t, e.some)
	switch {
	case !ok && t.Extremum != syntax.NoExtremum:
		return dir, e.unsupported(x, "found %s%s=?, which is for models with two kinds of nondeterminism", letter, t.Extremum)
	case !ok:
		return dir, e.refuse(result.TypeError, x.Pos(), "found %s=? for a nondeterministic model, want %smin=? or %smax=?", letter, letter, letter)
	}
	return dir, nil
}

// nested evaluates a sub-formula in all states, for which the schedulers are
// those of its own operators.
func (e *evaluation) nested(x sema.Expr) (*sparse.Set, error) {
	some := e.some
	e.some = false
	defer func() { e.some = some }()
	defer e.restrict(nil)()
	return e.states(x)
}

// prob returns the value of a P operator.
func (e *evaluation) prob(x *sema.Prob) (*numbers, error) {
	defer e.schedule(x)()
	if e.p.Program.Type == syntax.LTS {
		return nil, e.unsupported(x, "found a P operator for a model without probabilities, want E or A")
	}
	dir, err := e.extremal(x, "P", x.Threshold)
	if err != nil {
		return nil, err
	}
	if e.partial() {
		return asProbability(e.observed(x.Path, dir))
	}
	if e.fair() && e.space.Program().Type != syntax.MDP {
		return nil, e.unsupported(x, "found fair schedulers of a %s, want an MDP", e.space.Program().Type)
	}
	v, err := asProbability(e.path(x.Path, dir))
	if e.wanted != nil && e.wanted.operator == x {
		e.wanted.values = v
	}
	return v, err
}

// asProbability says that values are probabilities, of which solve knows
// whether they are 0 or 1.
func asProbability(v *numbers, err error) (*numbers, error) {
	if err == nil {
		v.prob = true
	}
	return v, err
}

// path returns the extremal probability of a path formula.
func (e *evaluation) path(x sema.Expr, dir solve.Direction) (*numbers, error) {
	if x.Type() == sema.Bool { // a path satisfies it if its first state does
		set, err := e.nested(x)
		if err != nil {
			return nil, err
		}
		return e.indicator(set), nil
	}
	switch x := x.(type) {
	case *sema.Unary:
		if x.Op == syntax.OpNot {
			v, err := e.path(x.X, dir.Opposite())
			if err != nil {
				return nil, err
			}
			return e.complement(v), nil
		}
	case *sema.CostBounded:
		return e.costBounded(x, dir)
	case *sema.Temporal:
		if !state(x.X) || !state(x.Y) {
			break
		}
		if x.Op == syntax.Next {
			set, err := e.nested(x.Y)
			if err != nil {
				return nil, err
			}
			e.note(e.all(), set, solve.Steps{Low: 1, High: 1}, false)
			return e.next(set, dir)
		}
		return e.temporal(x, dir)
	}
	return e.ltl(x, dir)
}

// state reports whether an operand of a temporal operator is a state formula.
func state(x sema.Expr) bool { return x == nil || x.Type() == sema.Bool }

func (e *evaluation) indicator(set *sparse.Set) *numbers {
	out := e.constant(fraction(new(big.Rat)), result.Exact)
	one := fraction(big.NewRat(1, 1))
	for s := range set.All() {
		out.put(s, one)
	}
	return out
}

// complement returns one minus a probability.
func (e *evaluation) complement(v *numbers) *numbers {
	out := newNumbers(len(v.lo), v.acc)
	if v.rat != nil {
		out.rat = make([]*big.Rat, len(v.lo))
	}
	one := fraction(big.NewRat(1, 1))
	for s := range v.lo {
		x, _ := binary(syntax.OpSub, one, v.at(s))
		x.lo, x.hi = max(x.lo, 0), min(x.hi, 1)
		out.put(s, x)
	}
	return out
}

func (e *evaluation) next(set *sparse.Set, dir solve.Direction) (*numbers, error) {
	return e.solved(solve.Next(e.ctx, e.graph, set, dir, e.opts))
}

// solved passes errors on.
func (e *evaluation) solved(v *solve.Values, err error) (*numbers, error) {
	if err != nil {
		return nil, err
	}
	e.take(v.Scheduler, v.Steps)
	e.gaveUp = e.gaveUp || !v.Converged
	e.extended = e.extended || v.Extended
	return solved(v), nil
}

// operands returns the states of the operands of a temporal operator: all, where there
// is no left one.
func (e *evaluation) operands(x, y sema.Expr) (left, right *sparse.Set, err error) {
	left = e.all()
	if x != nil {
		if left, err = e.nested(x); err != nil {
			return nil, nil, err
		}
	}
	right, err = e.nested(y)
	return left, right, err
}

// temporal rewrites an operator to U: F b = true U b, G b = !(true U !b),
// a W b = !((a&!b) U (!a&!b)), a R b = !(!a U !b). A weak until with a lower bound is none.
func (e *evaluation) temporal(x *sema.Temporal, dir solve.Direction) (*numbers, error) {
	if lateWeak(x) || e.fair() && x.Bound != nil && x.Bound.High == nil {
		return e.ltl(x, dir)
	}
	left, right, err := e.operands(x.X, x.Y)
	if err != nil {
		return nil, err
	}
	left, right, negated := asUntil(x.Op, left, right)
	if negated {
		dir = dir.Opposite()
	}
	if x.Bound != nil && e.kind() == sparse.CTMC {
		return e.timedUntil(x, left, right, negated)
	}
	v, err := e.until(x, left, right, dir, negated)
	if err != nil || !negated {
		return v, err
	}
	return e.complement(v), nil
}

// lateWeak reports whether an operator is a weak until with a lower bound.
func lateWeak(x *sema.Temporal) bool {
	return x.Op == syntax.WeakUntil && x.Bound != nil && x.Bound.Low != nil
}

// asUntil returns the operands of the until formula that an operator, or its
// negation, is.
func asUntil(op syntax.TemporalOp, a, b *sparse.Set) (left, right *sparse.Set, negated bool) {
	switch op {
	case syntax.Globally:
		return a, b.Complement(), true
	case syntax.WeakUntil:
		return a.Minus(b), a.Union(b).Complement(), true
	case syntax.Release:
		return a.Complement(), b.Complement(), true
	}
	return a, b, false
}

// until evaluates an until formula, of which x may be the negation.
func (e *evaluation) until(x *sema.Temporal, left, right *sparse.Set, dir solve.Direction, negated bool) (*numbers, error) {
	if dir == solve.Min && e.fair() && x.Bound == nil {
		return e.fairUntil(left, right)
	}
	if x.Bound == nil {
		e.note(left, right, solve.Steps{High: solve.Unbounded}, negated)
		if e.solver != nil {
			if v, err := e.solver.Until(e.ctx, left, right, dir); v != nil || err != nil {
				return e.solved(v, err)
			}
		}
		return e.solved(solve.Until(e.ctx, e.graph, left, right, dir, e.narrowed()))
	}
	steps, err := e.steps(x)
	if err != nil {
		return nil, err
	}
	e.note(left, right, steps, negated)
	return e.solved(solve.BoundedUntil(e.ctx, e.graph, left, right, steps, dir, e.stepping(max(steps.Low, steps.High))))
}

// stepping are the options for the values of so many steps. Where fractions would be too
// large, and bounds will do, those are computed from the fractions of the model.
func (e *evaluation) stepping(steps int) solve.Options {
	opts := e.narrowed()
	if e.exact && e.mixed && e.wanted == nil && solve.Leaps(e.graph, steps) {
		opts.Exact, opts.Within, opts.MaxWork = false, nil, 0
	}
	return opts
}

// narrowed are the options for values that nobody asks for elsewhere.
func (e *evaluation) narrowed() solve.Options {
	opts := e.opts
	if e.exact && !e.valued && e.wanted == nil {
		opts.Within = e.within
	}
	return opts
}

// steps evaluates the bound of an operator in a model with discrete time.
func (e *evaluation) steps(x *sema.Temporal) (solve.Steps, error) {
	out := solve.Steps{High: solve.Unbounded}
	if b := x.Bound.Low; b != nil {
		k, err := e.stepCount(b, x.Op.String())
		if err != nil {
			return out, err
		}
		if out.Low = k; x.Bound.LowStrict {
			out.Low++
		}
		if k < 0 {
			return out, e.refuse(result.TypeError, b.Pos(), "lower bound %d of the %s operator is negative", k, x.Op)
		}
	}
	b := x.Bound.High
	if b == nil {
		return out, nil
	}
	k, err := e.stepCount(b, x.Op.String())
	if err != nil {
		return out, err
	}
	if out.High = k; x.Bound.HighStrict {
		out.High--
	}
	switch {
	case out.High < 0:
		return out, e.refuse(result.TypeError, b.Pos(), "upper bound %s%d of the %s operator holds at no time", strict(x.Bound.HighStrict), k, x.Op)
	case out.High < out.Low:
		return out, e.refuse(result.TypeError, b.Pos(), "bounds of the %s operator are empty: from step %d to step %d", x.Op, out.Low, out.High)
	}
	return out, nil
}

func strict(s bool) string {
	if s {
		return "<"
	}
	return "<="
}

// stepCount evaluates a number of steps, which must be an int.
func (e *evaluation) stepCount(x sema.Expr, operator string) (int, error) {
	if x.Type() != sema.Int {
		return 0, e.refuse(result.TypeError, x.Pos(), "time bound of the %s operator is a %s, want an int for a %s", operator, x.Type(), e.p.Program.Type)
	}
	v, _, err := sema.EvalExact(x, nil)
	return int(v.Int), e.placed(err)
}

// steady returns the value of an S operator.
func (e *evaluation) steady(x *sema.Steady) (*numbers, error) {
	defer e.schedule(x)()
	switch {
	case e.p.Program.Type == syntax.LTS:
		return nil, e.unsupported(x, "found an S operator for a model without probabilities")
	case e.partial():
		return nil, e.unsupported(x, "found an S operator for a partially observable model")
	case e.fair():
		return nil, e.unsupported(x, "found an S operator and fair schedulers")
	case e.space.Model().Intervals():
		return nil, e.unsupported(x, "found an S operator for a model with intervals")
	}
	dir, ok := direction(x.Threshold, e.some)
	if !ok && e.kind() == sparse.MDP {
		return nil, e.refuse(result.TypeError, x.Pos(), "found S=? for a nondeterministic model, want a bound such as S>=0.5, or Smin=? or Smax=? (--dialect storm)")
	}
	set, err := e.nested(x.X)
	if err != nil {
		return nil, err
	}
	return asProbability(e.solved(solve.SteadyState(e.ctx, e.graph, set, dir, e.opts)))
}

// quant evaluates E or A.
func (e *evaluation) quant(whole *sema.Quant) (truth, error) {
	if e.fair() {
		return truth{}, e.unsupported(whole, "found E or A and fair schedulers")
	}
	x := whole
	t, ok := x.Path.(*sema.Temporal)
	negated := false
	for !ok {
		not, is := x.Path.(*sema.Unary)
		if !is || not.Op != syntax.OpNot || not.X.Type() == sema.Bool {
			return e.quantLTL(whole)
		}
		x = &sema.Quant{Base: x.Base, All: !x.All, Path: not.X}
		negated = !negated
		t, ok = x.Path.(*sema.Temporal)
	}
	if !state(t.X) || !state(t.Y) || t.Bound != nil {
		return e.quantLTL(whole)
	}
	set, err := e.quantified(x, t)
	if err != nil {
		return truth{}, err
	}
	if negated {
		return known(set).not(), nil
	}
	return known(set), nil
}

func (e *evaluation) quantified(x *sema.Quant, t *sema.Temporal) (*sparse.Set, error) {
	left, right, err := e.operands(t.X, t.Y)
	if err != nil {
		return nil, err
	}
	if t.Op == syntax.Next {
		if x.All {
			return e.graph.ForallNext(right), nil
		}
		return e.graph.ExistsNext(right), nil
	}
	left, right, negated := asUntil(t.Op, left, right)
	var set *sparse.Set
	if x.All != negated {
		set = e.graph.ForallUntil(left, right)
	} else {
		set = e.graph.ExistsUntil(left, right)
	}
	if negated {
		set = set.Complement()
	}
	return set, nil
}
