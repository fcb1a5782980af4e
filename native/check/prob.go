package check

import (
	"math/big"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// extremal returns the direction of P or R: the minimum or the maximum. It is an error if a query of a nondeterministic model
// has neither min nor max.
func (e *evaluation) extremal(f *logic.Formula) (solve.Direction, error) {
	if e.space.Model().Intervals() {
		return e.robust(f)
	}
	if e.kind() != sparse.MDP {
		return solve.Max, nil
	}
	dir, ok := direction(f.Threshold, e.some)
	letter := f.Letter()
	switch {
	case !ok && f.Extremum != syntax.NoExtremum:
		return dir, e.unsupported(f.X, "found %s%s=?, which is for models with two kinds of nondeterminism", letter, f.Extremum)
	case !ok:
		return dir, e.refuse(result.TypeError, f.X.Pos(), "found %s=? for a nondeterministic model, want %smin=? or %smax=?", letter, letter, letter)
	}
	return dir, nil
}

// nested evaluates a nested state formula in all states. A bound in it must hold for all schedulers.
func (e *evaluation) nested(x sema.Expr) (*sparse.Set, error) {
	some, coalition := e.some, e.coalition
	defer func() { e.some, e.coalition = some, coalition }()
	e.some, e.coalition = false, nil
	defer e.restrict(nil)()
	return e.states(x)
}

// measure returns the value of P, R or S in each state.
func (e *evaluation) measure(f *logic.Formula) (*numbers, error) {
	defer e.beginScheduler(f)()
	switch f.Kind {
	case logic.Probability:
		return e.prob(f)
	case logic.SteadyState:
		return e.steady(f)
	}
	return e.rewardOperator(f)
}

// prob returns the value of a P operator.
func (e *evaluation) prob(f *logic.Formula) (*numbers, error) {
	if e.p.Program.Type == syntax.LTS {
		return nil, e.unsupported(f.X, "found a P operator for a model without probabilities, want E or A")
	}
	dir, err := e.extremal(f)
	if err != nil {
		return nil, err
	}
	if e.partiallyObservable() {
		return asProbability(e.observed(f.Path, dir))
	}
	if e.fair() && e.space.Program().Type != syntax.MDP {
		return nil, e.unsupported(f.X, "found fair schedulers of %s, want an MDP", noun.WithArticle(e.space.Program().Type.String()))
	}
	v, err := asProbability(e.path(f.Path, dir))
	if e.wanted != nil && e.wanted.operator == f.X {
		e.wanted.values = v
	}
	return v, err
}

// asProbability marks values as probabilities: package solve knows which of them are 0 or 1.
func asProbability(v *numbers, err error) (*numbers, error) {
	if err == nil {
		v.prob = true
	}
	return v, err
}

// path returns the minimal or maximal probability of a path formula.
func (e *evaluation) path(p *logic.Path, dir solve.Direction) (*numbers, error) {
	if !p.Negated {
		return e.positivePath(p, dir)
	}
	v, err := e.positivePath(p, dir.Opposite())
	if err != nil {
		return nil, err
	}
	return e.complement(v), nil
}

// positivePath returns the minimal or maximal probability of a path formula, ignoring its negation.
func (e *evaluation) positivePath(p *logic.Path, dir solve.Direction) (*numbers, error) {
	if e.coalition != nil && p.Form != logic.InitialState && p.Form != logic.Next && p.Form != logic.Until {
		return nil, e.unsupported(p.X, "found %s for a coalition of players, want X, F, G, U, W or R of states", logic.Describe(p.X))
	}
	switch p.Form {
	case logic.InitialState:
		set, err := e.nested(p.Right)
		if err != nil {
			return nil, err
		}
		return e.indicator(set), nil
	case logic.CostBounded:
		return e.costBounded(p, dir)
	case logic.Next:
		set, err := e.nested(p.Right)
		if err != nil {
			return nil, err
		}
		e.noteUntil(e.all(), set, solve.Steps{Low: 1, High: 1}, false)
		return e.next(set, dir)
	case logic.Until:
		if !e.fair() || p.Bound == nil || p.Bound.High != nil {
			return e.temporal(p, dir)
		}
	}
	return e.ltl(p.X, dir)
}

// indicator returns 1 in the states of a set, and 0 in the others.
func (e *evaluation) indicator(set *sparse.Set) *numbers {
	out := e.constant(fraction(new(big.Rat)), result.Exact)
	one := fraction(big.NewRat(1, 1))
	for s := range set.All() {
		out.put(s, one)
	}
	return out
}

// complement returns 1 - v for probabilities v.
func (e *evaluation) complement(v *numbers) *numbers {
	out := newNumbers(len(v.lo), v.acc)
	if v.rat != nil {
		out.rat = make([]*big.Rat, len(v.lo))
	}
	one := fraction(big.NewRat(1, 1))
	for s := range v.lo {
		x, _ := binary(syntax.OpSub, one, v.at(s))
		x.lo = max(x.lo, 0)
		x.hi = min(x.hi, 1)
		out.put(s, x)
	}
	return out
}

// next returns the minimal or maximal probability of X set.
func (e *evaluation) next(set *sparse.Set, dir solve.Direction) (*numbers, error) {
	if e.coalition != nil {
		return e.solved(e.sides(dir).Next(e.ctx, set, e.opts))
	}
	return e.solved(solve.Next(e.ctx, e.graph, set, dir, e.opts))
}

// solved converts values of package solve, and records their scheduler and how they were computed. If err is not nil, it
// returns err.
func (e *evaluation) solved(v *solve.Values, err error) (*numbers, error) {
	if err != nil {
		return nil, err
	}
	e.noteScheduler(v.Scheduler, v.Steps)
	e.gaveUp = e.gaveUp || !v.Converged
	e.extended = e.extended || v.Extended
	return solved(v), nil
}

// operands returns the states that satisfy the operands of a temporal operator. Without a left operand, left is the set of all
// states.
func (e *evaluation) operands(x, y sema.Expr) (left, right *sparse.Set, err error) {
	left = e.all()
	if x != nil {
		left, err = e.nested(x)
		if err != nil {
			return nil, nil, err
		}
	}
	right, err = e.nested(y)
	return left, right, err
}

// Sets are the operations on sets of states.
var Sets = logic.Algebra[*sparse.Set]{
	Not:     (*sparse.Set).Complement,
	And:     (*sparse.Set).Intersect,
	Neither: func(a, b *sparse.Set) *sparse.Set { return a.Union(b).Complement() },
}

// temporal evaluates a temporal operator, which it rewrites to U.
func (e *evaluation) temporal(p *logic.Path, dir solve.Direction) (*numbers, error) {
	left, right, err := e.operands(p.Left, p.Right)
	if err != nil {
		return nil, err
	}
	left, right, negated := Sets.AsUntil(p.Op, left, right)
	if negated {
		dir = dir.Opposite()
	}
	if p.Bound != nil && e.kind() == sparse.CTMC {
		return e.timedUntil(p, left, right, negated)
	}
	v, err := e.until(p, left, right, dir, negated)
	if err != nil || !negated {
		return v, err
	}
	return e.complement(v), nil
}

// until returns the minimal or maximal probability of `left U right` with the bound of p. negated says that p is the negation of
// this formula, for witnesses.
func (e *evaluation) until(p *logic.Path, left, right *sparse.Set, dir solve.Direction, negated bool) (*numbers, error) {
	if e.coalition != nil {
		return e.gameUntil(p, left, right, dir)
	}
	if dir == solve.Min && e.fair() && p.Bound == nil {
		return e.fairUntil(left, right)
	}
	if p.Bound == nil {
		e.noteUntil(left, right, solve.Steps{High: solve.Unbounded}, negated)
		if e.solver != nil {
			if v, err := e.solver.Until(e.ctx, left, right, dir); v != nil || err != nil {
				return e.solved(v, err)
			}
		}
		return e.solved(solve.Until(e.ctx, e.graph, left, right, dir, e.narrowed()))
	}
	steps, err := e.steps(p)
	if err != nil {
		return nil, err
	}
	e.noteUntil(left, right, steps, negated)
	return e.solved(solve.BoundedUntil(e.ctx, e.graph, left, right, steps, dir, e.stepping(max(steps.Low, steps.High))))
}

// stepping returns the options for a formula with a bound on steps. If its fractions would be too large and bounds are allowed,
// bounds are computed from the fractions of the model.
func (e *evaluation) stepping(steps int) solve.Options {
	opts := e.narrowed()
	if e.exact && e.boundsAllowed && e.wanted == nil && solve.BoundsAreFaster(e.graph, steps) {
		opts.Exact, opts.Within, opts.MaxWork = false, nil, 0
	}
	return opts
}

// narrowed returns the options for values that are needed only in the states of the scope. Exact values of other states are then
// not computed.
func (e *evaluation) narrowed() solve.Options {
	opts := e.opts
	if e.exact && !e.wantsValues && e.wanted == nil {
		opts.Within = e.within
	}
	return opts
}

// steps evaluates the bound of an operator in a model with discrete time. It is an error if no step satisfies the bound.
func (e *evaluation) steps(p *logic.Path) (solve.Steps, error) {
	out, b, op := solve.Steps{High: solve.Unbounded}, p.Bound, p.Op.String()
	if b.Low != nil {
		k, err := e.stepCount(b.Low, op)
		switch {
		case err != nil:
			return out, err
		case k < 0:
			return out, e.refuse(result.TypeError, b.Low.Pos(), "lower bound %d of the %s operator is negative", k, op)
		}
		out.Low = k
		if b.LowStrict {
			out.Low++
		}
	}
	if b.High == nil {
		return out, nil
	}
	k, err := e.stepCount(b.High, op)
	if err != nil {
		return out, err
	}
	out.High = k
	if b.HighStrict {
		out.High--
	}
	switch {
	case out.High < 0:
		return out, e.refuse(result.TypeError, b.High.Pos(), "upper bound %s%d of the %s operator holds at no time", strict(b.HighStrict), k, op)
	case out.High < out.Low:
		return out, e.refuse(result.TypeError, b.High.Pos(), "bounds of the %s operator are empty: from step %d to step %d", op, out.Low, out.High)
	}
	return out, nil
}

// strict returns the operator of an upper bound.
func strict(isStrict bool) string {
	if isStrict {
		return "<"
	}
	return "<="
}

// stepCount evaluates a number of steps, which must be an int.
func (e *evaluation) stepCount(x sema.Expr, operator string) (int, error) {
	if x.Type() != sema.Int {
		return 0, e.refuse(result.TypeError, x.Pos(), "time bound of the %s operator is %s, want an int for %s", operator, noun.WithArticle(x.Type().String()), noun.WithArticle(e.p.Program.Type.String()))
	}
	k, err := logic.Count(x)
	return k, e.withPosition(err)
}

// steady returns the value of an S operator.
func (e *evaluation) steady(f *logic.Formula) (*numbers, error) {
	switch {
	case e.p.Program.Type == syntax.LTS:
		return nil, e.unsupported(f.X, "found an S operator for a model without probabilities")
	case e.partiallyObservable():
		return nil, e.unsupported(f.X, "found an S operator for a partially observable model")
	case e.fair():
		return nil, e.unsupported(f.X, "found an S operator and fair schedulers")
	case e.space.Model().Intervals():
		return nil, e.unsupported(f.X, "found an S operator for a model with intervals")
	}
	dir, ok := direction(f.Threshold, e.some)
	if !ok && e.kind() == sparse.MDP {
		return nil, e.refuse(result.TypeError, f.X.Pos(), "found S=? for a nondeterministic model, want a bound such as S>=0.5, or Smin=? or Smax=? (--dialect storm)")
	}
	set, err := e.nested(f.Operand)
	if err != nil {
		return nil, err
	}
	return asProbability(e.solved(solve.SteadyState(e.ctx, e.graph, set, dir, e.opts)))
}

// quantified evaluates E or A.
func (e *evaluation) quantified(f *logic.Formula) (truth, error) {
	if e.fair() {
		return truth{}, e.unsupported(f.X, "found E or A and fair schedulers")
	}
	p := f.Path
	if p.Form != logic.Next && !p.Unbounded() {
		return e.quantifiedLinear(f)
	}
	left, right, err := e.operands(p.Left, p.Right)
	if err != nil {
		return truth{}, err
	}
	left, right, negated := Sets.AsUntil(p.Op, left, right)
	if negated != p.Negated { // E of a negated formula is the negation of A, and the other way round
		return known(e.paths(p, !f.ForAll, left, right)).not(), nil
	}
	return known(e.paths(p, f.ForAll, left, right)), nil
}

// paths returns the states from which all paths, or some path, satisfy X right or left U right.
func (e *evaluation) paths(p *logic.Path, all bool, left, right *sparse.Set) *sparse.Set {
	switch {
	case p.Form == logic.Next && all:
		return e.graph.ForallNext(right)
	case p.Form == logic.Next:
		return e.graph.ExistsNext(right)
	case all:
		return e.graph.ForallUntil(left, right)
	}
	return e.graph.ExistsUntil(left, right)
}
