package logic

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// PathForm is the form of a path formula, which decides how it is solved.
type PathForm uint8

// The forms of path formulas.
const (
	InitialState  PathForm = iota // a state formula, which the first state of a path decides
	Next                          // X
	Until                         // F, G, U, W or R of state formulas: an until formula or the negation of one
	LateWeakUntil                 // W of state formulas with a lower bound, which no until formula can express
	CostBounded                   // F or U with bounds on costs
	Conditional                   // a path formula, Left, over the paths that satisfy another one, Right
	Linear                        // any other formula of linear temporal logic (LTL), which an automaton reads
)

// Path is a path formula. Negations around it are removed and counted.
type Path struct {
	// WholeExpr is the formula as the caller passed it, and Expr the formula without the negations around it.
	WholeExpr, Expr sema.Expr
	// Form is its form.
	Form PathForm
	// IsNegated says that the property is about the paths that do not satisfy Expr: the number of negations was odd.
	IsNegated bool
	// IsTemporal says that Expr is a temporal operator, Op. Its operands are Left, nil for X, F and G, and Right; Bound is its
	// step or time bound, or nil. The Right of InitialState is the state formula.
	IsTemporal  bool
	Op          syntax.TemporalOp
	Left, Right sema.Expr
	Bound       *sema.Bound
	// Costs are the bounds of CostBounded.
	Costs []sema.Cost
}

// PathOf returns the form of a path formula, such as until or linear, and its operands.
func PathOf(expr sema.Expr) *Path {
	inner, isNegated := withoutNegations(expr)
	path := &Path{WholeExpr: expr, Expr: inner, IsNegated: isNegated, Form: Linear}
	if inner.Type() == sema.Bool {
		path.Form, path.Right = InitialState, inner
		return path
	}
	switch inner := inner.(type) {
	case *sema.Conditional:
		path.Form, path.Left, path.Right = Conditional, inner.X, inner.Condition
	case *sema.CostBounded:
		path.Form, path.Left, path.Right, path.Costs = CostBounded, inner.X, inner.Y, inner.Costs
	case *sema.Temporal:
		path.IsTemporal, path.Op, path.Left, path.Right, path.Bound = true, inner.Op, inner.X, inner.Y, inner.Bound
		path.Form = temporalForm(inner)
	}
	return path
}

// withoutNegations removes the negations around a path formula. isNegated says that their number is odd. A state formula keeps its negations.
func withoutNegations(expr sema.Expr) (inner sema.Expr, isNegated bool) {
	for expr.Type() != sema.Bool {
		negation, ok := expr.(*sema.Unary)
		if !ok || negation.Op != syntax.OpNot {
			break
		}
		expr, isNegated = negation.X, !isNegated
	}
	return expr, isNegated
}

// temporalForm returns the form of a path formula with a temporal operator at the top.
func temporalForm(expr *sema.Temporal) PathForm {
	hasLowerBound := expr.Bound != nil && expr.Bound.Low != nil
	switch {
	case !IsState(expr.X) || !IsState(expr.Y):
		return Linear
	case expr.Op == syntax.Next:
		return Next
	case expr.Op == syntax.WeakUntil && hasLowerBound:
		return LateWeakUntil
	}
	return Until
}

// Not returns the negation of a formula.
func Not(expr sema.Expr) sema.Expr {
	return &sema.Unary{Base: sema.Base{ValueType: expr.Type(), Position: expr.Pos()}, Op: syntax.OpNot, X: expr}
}

// And returns the conjunction of two state formulas or path formulas.
func And(left, right sema.Expr) sema.Expr {
	base := sema.Base{ValueType: sema.Path, Position: left.Pos()}
	if IsState(left) && IsState(right) {
		base.ValueType = sema.Bool
	}
	return &sema.Binary{Base: base, Op: syntax.OpAnd, X: left, Y: right}
}

// Reaches reports whether the formula is F or U of state formulas without bounds, and without a negation.
func (p *Path) Reaches() bool {
	return p.Form == Until && !p.IsNegated && p.Bound == nil && (p.Op == syntax.Future || p.Op == syntax.Until)
}

// Unbounded reports whether the formula is F, G, U, W or R of state formulas without a bound.
func (p *Path) Unbounded() bool { return p.Form == Until && p.Bound == nil }

// Repeated returns a if the path formula is G F a (a holds infinitely often) or F G a (a holds forever from some time on), without bounds.
// isLasting is true for F G a.
func (p *Path) Repeated() (repeated sema.Expr, isLasting, ok bool) {
	if p.Form != Linear || !p.IsTemporal || p.Bound != nil {
		return nil, false, false
	}
	inner, ok := p.Right.(*sema.Temporal)
	if !ok || inner.Bound != nil || !IsState(inner.Y) {
		return nil, false, false
	}
	isGF := p.Op == syntax.Globally && inner.Op == syntax.Future
	isFG := p.Op == syntax.Future && inner.Op == syntax.Globally
	if !isGF && !isFG {
		return nil, false, false
	}
	return inner.Y, isFG, true
}

// Algebra has the operations on sets, or on formulas, that AsUntil needs.
type Algebra[S any] struct {
	Not     func(S) S
	And     func(S, S) S
	Neither func(S, S) S // of two: the complement of their union
}

// AsUntil expresses a temporal operator by an until formula: F b as true U b, G b as !(true U !b), a W b as !((a&!b) U (!a&!b)), and a R b as
// !(!a U !b). It returns the operands of the until formula; isNegated is true if the formula is negated. For F and G, the caller passes the set of
// all states as left.
//
// Source: the PRISM manual; Baier and Katoen, section 5.1.
func (a Algebra[S]) AsUntil(op syntax.TemporalOp, left, right S) (untilLeft, untilRight S, isNegated bool) {
	switch op {
	case syntax.Globally:
		return left, a.Not(right), true
	case syntax.WeakUntil:
		return a.And(left, a.Not(right)), a.Neither(left, right), true
	case syntax.Release:
		return a.Not(left), a.Not(right), true
	}
	return left, right, false
}
