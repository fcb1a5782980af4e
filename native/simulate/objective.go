package simulate

import (
	"errors"
	"fmt"
	"math"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Property is a property to sample for. Program is the one that
// sema.Properties.Instantiate returned with it; it has the labels of the
// properties file. File names that file in diagnostics.
type Property struct {
	sema.Property
	Program *sema.Program
	File    string
}

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
		b.err = &result.Failure{Class: class, Message: fmt.Sprintf(format, args...), File: b.p.File, Pos: at}
	}
}

func (b *builder) unsupported(e sema.Expr, format string, args ...any) {
	b.refuse(result.Unsupported, e.Pos(), format, args...)
}

func (b *builder) operator(e sema.Expr) *Objective {
	o := &Objective{}
	switch e := e.(type) {
	case *sema.Prob:
		b.threshold(o, e.Threshold)
		b.path(o, e.Path)
	case *sema.Reward:
		o.Reward = true
		b.threshold(o, e.Threshold)
		b.reward(o, e)
	case *sema.Filter:
		b.unsupported(e, "found a filter, simulation wants a P or R operator without one")
	default:
		b.unsupported(e, "found %s, simulation wants a P or R operator", describe(e))
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
func (b *builder) path(o *Objective, e sema.Expr) {
	for {
		not, ok := e.(*sema.Unary)
		if !ok || not.Op != syntax.OpNot || not.X.Type() == sema.Bool {
			break
		}
		o.Negate = !o.Negate
		e = not.X
	}
	t, ok := e.(*sema.Temporal)
	if !ok {
		b.unsupported(e, "found %s, simulation wants a path formula with one temporal operator over states (no LTL)", describe(e))
		return
	}
	if t.Op == syntax.Next {
		o.Monitor = compile.Monitor{Kind: compile.Next, Right: b.state(t.Y), High: math.Inf(1), Low: math.Inf(-1)}
		return
	}
	b.until(o, t)
}

// until sets the monitor of an operator by rewriting it to U:
// G a = !(true U !a), a W b = !((a&!b) U (!a&!b)), a R b = !(!a U !b).
func (b *builder) until(o *Objective, t *sema.Temporal) {
	var x, y sema.Expr
	if t.X != nil {
		x = b.state(t.X)
	}
	y = b.state(t.Y)
	if b.err != nil {
		return
	}
	m := compile.Monitor{Kind: compile.Until, Left: x, Right: y}
	switch t.Op {
	case syntax.Future:
		m.Left = truth()
	case syntax.Globally:
		m.Left, m.Right = truth(), not(y)
	case syntax.WeakUntil:
		m.Left, m.Right = and(x, not(y)), and(not(x), not(y))
		if t.Bound != nil && t.Bound.Low != nil {
			b.unsupported(t, "found a weak until (W) with a lower bound, which is not sampled")
		}
	case syntax.Release:
		m.Left, m.Right = not(x), not(y)
	}
	if t.Op != syntax.Until && t.Op != syntax.Future {
		o.Negate = !o.Negate
	}
	b.bounds(&m, t)
	o.Monitor = m
}

// bounds sets the time bounds of a monitor. Steps are whole numbers.
func (b *builder) bounds(m *compile.Monitor, t *sema.Temporal) {
	m.Low, m.High = math.Inf(-1), math.Inf(1)
	if t.Bound == nil {
		return
	}
	if t.Bound.Low != nil {
		m.Low, m.LowStrict = b.time(t.Bound.Low, t.Op.String()), t.Bound.LowStrict
		if m.Low < 0 {
			b.refuse(result.TypeError, t.Bound.Low.Pos(), "lower bound %v of the %s operator is negative", m.Low, t.Op)
		}
	}
	if t.Bound.High == nil {
		return
	}
	m.High, m.HighStrict = b.time(t.Bound.High, t.Op.String()), t.Bound.HighStrict
	switch at := t.Bound.High.Pos(); {
	case m.High < 0 || m.High == 0 && m.HighStrict:
		b.refuse(result.TypeError, at, "upper bound %s%v of the %s operator holds at no time", strict(m.HighStrict), m.High, t.Op)
	case m.High < m.Low:
		b.refuse(result.TypeError, at, "bounds [%v,%v] of the %s operator are empty", m.Low, m.High, t.Op)
	}
}

func strict(s bool) string {
	if s {
		return "<"
	}
	return "<="
}

// reward sets the monitor of an R operator.
func (b *builder) reward(o *Objective, e *sema.Reward) {
	switch {
	case e.StructErr != nil:
		b.fail(e.StructErr, e.Pos())
		return
	case e.StructDiv >= 0:
		b.unsupported(e, "found a ratio of rewards, simulation wants a single reward structure")
		return
	}
	switch p := e.Path.(type) {
	case *sema.RewardPath:
		b.rewardPath(o, p)
	case *sema.Temporal:
		if p.Op != syntax.Future {
			b.unsupported(p, "found a reward until a formula with %s holds, simulation wants F, C<=t or I=t", p.Op)
			return
		}
		if p.Bound != nil {
			b.refuse(result.Unsupported, p.Bound.At, "found a bounded F in an R operator, which PRISM ignores; want F without bounds, C<=t or I=t")
		}
		o.Monitor = compile.Monitor{Kind: compile.ReachReward, Right: b.state(p.Y), Low: math.Inf(-1), High: math.Inf(1)}
	default:
		b.unsupported(p, "found %s in an R operator, simulation wants F, C<=t or I=t", describe(p))
	}
	o.Monitor.Reward = e.Struct
}

func (b *builder) rewardPath(o *Objective, p *sema.RewardPath) {
	kind, name := compile.CumulReward, "C"
	switch {
	case p.Kind == syntax.LongRun:
		b.unsupported(p, "found the long-run reward S, simulation wants F, C<=t or I=t")
		return
	case p.Kind == syntax.Instantaneous:
		kind, name = compile.InstantReward, "I"
	case p.Bound == nil:
		b.unsupported(p, "found the total reward C without a time bound, simulation wants C<=t")
		return
	}
	o.Monitor = compile.Monitor{Kind: kind, Low: math.Inf(-1), High: b.time(p.Bound, name)}
	if h := o.Monitor.High; h < 0 || math.IsInf(h, 1) {
		b.refuse(result.TypeError, p.Bound.Pos(), "time bound %v of the %s operator, want a finite number of at least 0", h, name)
	}
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

// state returns a state formula with the labels of the files replaced by what
// they stand for, and refuses operators inside it. Its operations have no
// positions: a formula may come from the properties file or the model, and who
// evaluates it knows of one file only. Errors then get the property's place.
func (b *builder) state(e sema.Expr) sema.Expr {
	r := sema.Rewriter{Base: func(x sema.Base) sema.Base { return sema.Base{T: x.T} }}
	r.Other = func(e sema.Expr) (sema.Expr, error) {
		switch e := e.(type) {
		case *sema.Label:
			if e.Index >= 0 {
				return r.Rewrite(b.p.Program.Labels[e.Index].X)
			}
			return &sema.Label{Base: sema.Base{T: e.T}, Name: e.Name, Index: e.Index}, nil
		case *sema.Temporal:
			b.unsupported(e, "found %s inside a path formula, simulation wants one temporal operator over states (no LTL)", describe(e))
		default:
			b.unsupported(e, "found %s inside a path formula, simulation cannot check nested operators", describe(e))
		}
		return e, nil
	}
	x, _ := r.Rewrite(e) // never fails
	return x
}

// describe names an expression that cannot be sampled.
func describe(e sema.Expr) string {
	switch e := e.(type) {
	case *sema.Prob:
		return "a P operator"
	case *sema.Reward:
		return "an R operator"
	case *sema.Steady:
		return "an S operator"
	case *sema.Quant:
		if e.All {
			return "an A operator"
		}
		return "an E operator"
	case *sema.Strategy:
		return "a strategy operator (<<>> or [[]])"
	case *sema.Filter:
		return "a filter"
	case *sema.Multi:
		return "multi(...)"
	case *sema.Temporal:
		return "the temporal operator " + e.Op.String()
	}
	if e.Type() == sema.Path {
		return "a combination of path formulas"
	}
	return "an expression of type " + e.Type().String()
}

func truth() sema.Expr {
	return &sema.Const{Base: sema.Base{T: sema.Bool}, Val: sema.BoolValue(true)}
}

func not(x sema.Expr) sema.Expr {
	return &sema.Unary{Base: sema.Base{T: sema.Bool}, Op: syntax.OpNot, X: x}
}

func and(x, y sema.Expr) sema.Expr {
	return &sema.Binary{Base: sema.Base{T: sema.Bool}, Op: syntax.OpAnd, X: x, Y: y}
}
