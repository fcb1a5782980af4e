package simulate

import (
	"errors"
	"math"

	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Property is a property to sample for.
type Property = logic.Property

// Objective is a property in the form that is sampled: a monitor of single
// paths and what its outcomes are averaged to.
type Objective struct {
	Monitor compile.Monitor
	// Negate says that a path counts as a success when the monitor says False.
	Negate bool
	// Reward says that the reward is averaged, and not a truth value.
	Reward   bool
	Extremum syntax.Extremum
	// Rel is OpNone for a query, else OpLt, OpLe, OpGt or OpGe, and Bound is
	// what the average is compared with.
	Rel   syntax.Op
	Bound float64
}

// Query reports whether the value itself is asked for (=?).
func (o *Objective) Query() bool { return o.Rel == syntax.OpNone }

// NewObjective returns the objective of a property: a top-level P or R with one
// temporal operator over state formulas, or one of C<=t and I=t. Everything
// else is refused with a *result.Failure that says what was found and where.
//
// Source: what PRISM's simulator accepts (SimulatorEngine.isPropertyOKForSimulation,
// Sampler.createSampler); reference, section 5.1. Unlike PRISM, bounds of R [ F ]
// and intervals that are empty or begin below 0 are refused and not ignored.
func NewObjective(p *Property, maxPath int64) (*Objective, error) {
	b := &builder{p: p, continuous: p.Program.Type == syntax.CTMC}
	o := b.operator(p.X)
	if b.err != nil {
		return nil, b.err
	}
	o.Monitor.MaxPath = maxPath
	return o, nil
}

// builder turns a formula into an objective; the first refusal stays in err.
type builder struct {
	p          *Property
	continuous bool
	err        *result.Failure
}

func (b *builder) refuse(class result.Class, at syntax.Pos, format string, args ...any) {
	if b.err == nil {
		b.err = result.Refuse(b.p, class, at, format, args...)
	}
}

func (b *builder) unsupported(e sema.Expr, format string, args ...any) {
	b.refuse(result.Unsupported, e.Pos(), format, args...)
}

func (b *builder) operator(x sema.Expr) *Objective {
	o := &Objective{}
	switch f := logic.Of(x); f.Kind {
	case logic.Probability:
		b.threshold(o, f.Threshold)
		b.path(o, f.Path)
	case logic.Reward:
		o.Reward = true
		b.threshold(o, f.Threshold)
		b.reward(o, f.Objective)
	case logic.Filter:
		b.unsupported(x, "found a filter, simulation wants a P or R operator without one")
	default:
		b.unsupported(x, "found %s, simulation wants a P or R operator", logic.Describe(x))
	}
	return o
}

func (b *builder) threshold(o *Objective, t sema.Threshold) {
	o.Extremum, o.Rel = t.Extremum, t.Rel
	if t.Query() {
		return
	}
	o.Bound = b.number(t.Bound)
	if !o.Reward && !(o.Bound >= 0 && o.Bound <= 1) {
		b.refuse(result.TypeError, t.Bound.Pos(), "bound %v of a P operator, want a probability", o.Bound)
	}
}

// path sets the monitor of the path formula of a P operator.
func (b *builder) path(o *Objective, p *logic.Path) {
	o.Negate = p.Negated
	switch {
	case !p.Operator:
		b.unsupported(p.X, "found %s, simulation wants a path formula with one temporal operator over states (no LTL)", logic.Describe(p.X))
	case p.Op == syntax.Next:
		o.Monitor = compile.Monitor{Kind: compile.Next, Right: b.state(p.Right), High: math.Inf(1), Low: math.Inf(-1)}
	default:
		b.until(o, p)
	}
}

// formulas are the operations on state formulas.
var formulas = logic.Algebra[sema.Expr]{
	Not:     logic.Not,
	And:     and,
	Neither: func(x, y sema.Expr) sema.Expr { return and(logic.Not(x), logic.Not(y)) },
}

// until sets the monitor of an operator, which it rewrites to U.
func (b *builder) until(o *Objective, p *logic.Path) {
	left := truth()
	if p.Left != nil {
		left = b.state(p.Left)
	}
	right := b.state(p.Right)
	if b.err != nil {
		return
	}
	if p.Form == logic.LateWeakUntil {
		b.unsupported(p.X, "found a weak until (W) with a lower bound, which is not sampled")
	}
	m := compile.Monitor{Kind: compile.Until}
	var negated bool
	if m.Left, m.Right, negated = formulas.AsUntil(p.Op, left, right); negated {
		o.Negate = !o.Negate
	}
	b.bounds(&m, p)
	o.Monitor = m
}

// bounds sets the time bounds of a monitor. Steps are whole numbers.
func (b *builder) bounds(m *compile.Monitor, p *logic.Path) {
	m.Low, m.High = math.Inf(-1), math.Inf(1)
	if p.Bound == nil {
		return
	}
	if low := p.Bound.Low; low != nil {
		m.Low, m.LowStrict = b.time(low, p.Op.String()), p.Bound.LowStrict
		if m.Low < 0 {
			b.refuse(result.TypeError, low.Pos(), "lower bound %v of the %s operator is negative", m.Low, p.Op)
		}
	}
	high := p.Bound.High
	if high == nil {
		return
	}
	m.High, m.HighStrict = b.time(high, p.Op.String()), p.Bound.HighStrict
	switch {
	case m.High < 0 || m.High == 0 && m.HighStrict:
		b.refuse(result.TypeError, high.Pos(), "upper bound %s%v of the %s operator holds at no time", strict(m.HighStrict), m.High, p.Op)
	case m.High < m.Low:
		b.refuse(result.TypeError, high.Pos(), "bounds [%v,%v] of the %s operator are empty", m.Low, m.High, p.Op)
	}
}

func strict(s bool) string {
	if s {
		return "<"
	}
	return "<="
}

// reward sets the monitor of an R operator.
func (b *builder) reward(o *Objective, r *logic.Objective) {
	switch {
	case r.Err != nil:
		b.fail(r.Err, b.p.X.Pos())
		return
	case r.Ratio:
		b.unsupported(b.p.X, "found a ratio of rewards, simulation wants a single reward structure")
		return
	}
	switch r.Form {
	case logic.Cumulative:
		o.Monitor = b.timedReward(compile.CumulReward, r)
	case logic.Instantaneous:
		o.Monitor = b.timedReward(compile.InstantReward, r)
	case logic.LongRun:
		b.unsupported(r.X, "found the long-run reward S, simulation wants F, C<=t or I=t")
	case logic.CostBoundedReward, logic.UntilReached, logic.ZeroUnlessReached:
		b.unsupported(r.X, "found %s, simulation wants F, C<=t or I=t", logic.Describe(r.X))
	case logic.TotalReward:
		b.unsupported(r.X, "found the total reward C without a time bound, simulation wants C<=t")
	default:
		o.Monitor = b.reachReward(r)
	}
	o.Monitor.Reward = r.Struct
}

func (b *builder) timedReward(kind compile.MonitorKind, r *logic.Objective) compile.Monitor {
	m := compile.Monitor{Kind: kind, Low: math.Inf(-1), High: b.time(r.At, r.Letter())}
	if m.High < 0 || math.IsInf(m.High, 1) {
		b.refuse(result.TypeError, r.At.Pos(), "time bound %v of the %s operator, want a finite number of at least 0", m.High, r.Letter())
	}
	return m
}

func (b *builder) reachReward(r *logic.Objective) compile.Monitor {
	p := r.Path
	switch {
	case !p.Operator || p.Negated:
		b.unsupported(r.X, "found %s in an R operator, simulation wants F, C<=t or I=t", logic.Describe(r.X))
		return compile.Monitor{}
	case p.Op != syntax.Future:
		b.unsupported(r.X, "found a reward until a formula with %s holds, simulation wants F, C<=t or I=t", p.Op)
		return compile.Monitor{}
	case p.Bound != nil:
		b.refuse(result.Unsupported, p.Bound.At, "found a bounded F in an R operator, which PRISM ignores; want F without bounds, C<=t or I=t")
	}
	return compile.Monitor{Kind: compile.ReachReward, Right: b.state(p.Right), Low: math.Inf(-1), High: math.Inf(1)}
}

// time evaluates a bound: a number of steps, which has to be an int, or a time in a CTMC.
func (b *builder) time(e sema.Expr, operator string) float64 {
	if !b.continuous && e.Type() != sema.Int {
		b.refuse(result.TypeError, e.Pos(), "time bound of the %s operator is a %s, want an int for a %s", operator, e.Type(), b.p.Program.Type)
		return 0
	}
	return b.number(e)
}

// number evaluates a constant expression.
func (b *builder) number(e sema.Expr) float64 {
	v, err := sema.Eval(e, nil)
	switch {
	case err != nil:
		b.fail(err, e.Pos())
	case math.IsNaN(v.Float):
		b.refuse(result.TypeError, e.Pos(), "bound is not a number")
	}
	return v.Float
}

// fail refuses with an error of evaluation, at its own place if it has one.
func (b *builder) fail(err error, at syntax.Pos) {
	msg := err.Error()
	if e, ok := errors.AsType[*sema.EvalError](err); ok {
		msg = e.Msg
		if e.Pos.IsValid() {
			at = e.Pos
		}
	}
	b.refuse(result.TypeError, at, "%s", msg)
}

// state returns a state formula with labels replaced by their definitions, and refuses operators in it. Its operations have
// no positions, because a formula may come from the properties file or from the model, and the evaluator knows only one file.
// Errors then get the position of the property.
func (b *builder) state(x sema.Expr) sema.Expr {
	r := sema.Rewriter{Base: func(x sema.Base) sema.Base { return sema.Base{T: x.T} }}
	r.Other = func(x sema.Expr) (sema.Expr, error) {
		switch f := logic.Of(x); {
		case f.Kind == logic.Label && f.Index >= 0:
			return r.Rewrite(b.p.Program.Labels[f.Index].X)
		case f.Kind == logic.Label:
			label := *x.(*sema.Label)
			label.Base = sema.Base{T: x.Type()}
			return &label, nil
		case f.Kind == logic.PathFormula:
			b.unsupported(x, "found %s inside a path formula, simulation wants one temporal operator over states (no LTL)", logic.Describe(x))
		default:
			b.unsupported(x, "found %s inside a path formula, simulation cannot check nested operators", logic.Describe(x))
		}
		return x, nil
	}
	rewritten, _ := r.Rewrite(x) // never fails
	return rewritten
}

func truth() sema.Expr {
	return &sema.Const{Base: sema.Base{T: sema.Bool}, Val: sema.BoolValue(true)}
}

func and(x, y sema.Expr) sema.Expr {
	return &sema.Binary{Base: sema.Base{T: sema.Bool}, Op: syntax.OpAnd, X: x, Y: y}
}
