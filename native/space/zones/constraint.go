package zones

import (
	"tilecheck/internal/zone"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// constraints evaluates conditions on clocks and discrete variables in one location.
type constraints struct {
	labels  []sema.LabelDef
	clockOf map[int]int // the number of each clock by its slot
	clocks  int         // the number of clocks
	state   []int32     // the values of the discrete variables
}

// of returns the clock valuations that satisfy a condition. If holds is false, it returns the valuations that
// violate it.
func (c *constraints) of(condition sema.Expr, holds bool) (zone.Federation, error) {
	switch expr := condition.(type) {
	case *sema.Label:
		if expr.Index >= 0 {
			return c.of(c.labels[expr.Index].X, holds)
		}
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			return c.of(expr.X, !holds)
		}
	case *sema.Binary:
		switch expr.Op {
		case syntax.OpAnd, syntax.OpOr, syntax.OpImplies:
			return c.ofConnective(expr, holds)
		}
		if c.isClock(expr.X) || c.isClock(expr.Y) {
			return c.ofComparison(expr, holds)
		}
	case *sema.Cond:
		value, err := sema.Eval(expr.Condition, c.state)
		if err != nil {
			return nil, err
		}
		if value.Bool {
			return c.of(expr.Then, holds)
		}
		return c.of(expr.Else, holds)
	}
	value, err := sema.Eval(condition, c.state)
	if err != nil || value.Bool != holds {
		return nil, err
	}
	return c.all(), nil
}

// all returns all clock valuations.
func (c *constraints) all() zone.Federation { return zone.Federation{zone.All(c.clocks)} }

// isClock reports whether an expression is a clock.
func (c *constraints) isClock(expr sema.Expr) bool {
	variable, ok := expr.(*sema.Var)
	return ok && c.clockOf[variable.Slot] > 0
}

// ofConnective implements of for a conjunction, a disjunction or an implication. It does not evaluate the right
// operand if the left operand is sufficient.
func (c *constraints) ofConnective(expr *sema.Binary, holds bool) (zone.Federation, error) {
	left, err := c.of(expr.X, holds != (expr.Op == syntax.OpImplies))
	if err != nil {
		return nil, err
	}
	isConjunction := holds == (expr.Op == syntax.OpAnd)
	isAll := len(left) == 1 && left[0].Equal(zone.All(c.clocks))
	if isConjunction && len(left) == 0 || !isConjunction && isAll {
		return left, nil
	}
	right, err := c.of(expr.Y, holds)
	switch {
	case err != nil:
		return nil, err
	case isConjunction:
		return left.Intersect(right), nil
	}
	return left.Union(right), nil
}

// negatedOp has the comparison that holds if another one does not.
var negatedOp = map[syntax.Op]syntax.Op{
	syntax.OpLt: syntax.OpGe, syntax.OpGe: syntax.OpLt, syntax.OpGt: syntax.OpLe, syntax.OpLe: syntax.OpGt, syntax.OpEq: syntax.OpNe, syntax.OpNe: syntax.OpEq,
}

// ofComparison implements of for a comparison of a clock with a number or with another clock.
func (c *constraints) ofComparison(expr *sema.Binary, holds bool) (zone.Federation, error) {
	left, leftNumber, err := c.side(expr.X)
	if err != nil {
		return nil, err
	}
	right, rightNumber, err := c.side(expr.Y)
	if err != nil {
		return nil, err
	}
	op := expr.Op
	if !holds {
		op = negatedOp[op]
	}
	return c.compare(left, right, op, rightNumber-leftNumber), nil
}

// compare returns the valuations with `left - right op number` for two clocks left and right.
func (c *constraints) compare(left, right int, op syntax.Op, number int64) zone.Federation {
	switch op {
	case syntax.OpLt:
		return c.bounded(left, right, zone.Below(number))
	case syntax.OpLe:
		return c.bounded(left, right, zone.AtMost(number))
	case syntax.OpGt:
		return c.bounded(right, left, zone.Below(-number))
	case syntax.OpGe:
		return c.bounded(right, left, zone.AtMost(-number))
	case syntax.OpEq:
		return c.bounded(left, right, zone.AtMost(number)).Intersect(c.bounded(right, left, zone.AtMost(-number)))
	case syntax.OpNe:
		return c.bounded(left, right, zone.Below(number)).Union(c.bounded(right, left, zone.Below(-number)))
	}
	return nil
}

// bounded returns the valuations for which clock i minus clock j satisfies a bound.
func (c *constraints) bounded(i, j int, bound zone.Bound) zone.Federation {
	satisfying, ok := zone.All(c.clocks).And(i, j, bound)
	if !ok {
		return nil
	}
	return zone.Federation{satisfying}
}

// side returns an operand of a comparison as a clock, or as a number with clock 0.
func (c *constraints) side(expr sema.Expr) (clock int, number int64, err error) {
	if c.isClock(expr) {
		return c.clockOf[expr.(*sema.Var).Slot], 0, nil
	}
	value, err := sema.Eval(expr, c.state)
	return 0, int64(value.Int), err
}
