package zones

import (
	"tilecheck/internal/zone"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// constraints evaluates conditions on clocks and discrete variables in one location.
type constraints struct {
	labels      []sema.LabelDef
	clockOfSlot map[int]int // the number of each clock by its slot
	numClocks   int         // the number of clocks
	state       []int32     // the values of the discrete variables
}

// valuations returns the clock valuations that satisfy a condition or, if holds is false, those that violate it. The discrete variables have the values in
// constraints.state, so a condition without clocks gives all valuations or none.
func (constraints *constraints) valuations(condition sema.Expr, holds bool) (zone.Federation, error) {
	switch expr := condition.(type) {
	case *sema.Label:
		if expr.Index >= 0 {
			return constraints.valuations(constraints.labels[expr.Index].Expr, holds)
		}
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			return constraints.valuations(expr.X, !holds)
		}
	case *sema.Binary:
		switch expr.Op {
		case syntax.OpAnd, syntax.OpOr, syntax.OpImplies:
			return constraints.valuationsOfConnective(expr, holds)
		}
		if constraints.isClock(expr.X) || constraints.isClock(expr.Y) {
			return constraints.valuationsOfComparison(expr, holds)
		}
	case *sema.Cond:
		value, err := sema.Eval(expr.Condition, constraints.state)
		if err != nil {
			return nil, err
		}
		if value.Bool {
			return constraints.valuations(expr.Then, holds)
		}
		return constraints.valuations(expr.Else, holds)
	}
	value, err := sema.Eval(condition, constraints.state)
	if err != nil || value.Bool != holds {
		return nil, err
	}
	return constraints.allValuations(), nil
}

// allValuations returns all clock valuations.
func (constraints *constraints) allValuations() zone.Federation {
	return zone.Federation{zone.All(constraints.numClocks)}
}

// isClock reports whether an expression is a clock.
func (constraints *constraints) isClock(expr sema.Expr) bool {
	variable, ok := expr.(*sema.Var)
	return ok && constraints.clockOfSlot[variable.Slot] > 0
}

// valuationsOfConnective returns the clock valuations that satisfy a conjunction, a disjunction or an implication or, if holds is false,
// violate it. It does not evaluate the right operand if the left operand decides the result.
func (constraints *constraints) valuationsOfConnective(expr *sema.Binary, holds bool) (zone.Federation, error) {
	left, err := constraints.valuations(expr.X, holds != (expr.Op == syntax.OpImplies))
	if err != nil {
		return nil, err
	}
	isConjunction := holds == (expr.Op == syntax.OpAnd)
	isAll := len(left) == 1 && left[0].Equal(zone.All(constraints.numClocks))
	if isConjunction && len(left) == 0 || !isConjunction && isAll {
		return left, nil
	}
	right, err := constraints.valuations(expr.Y, holds)
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

// valuationsOfComparison returns the clock valuations that satisfy a comparison of clocks and numbers or, if holds is false, violate it.
func (constraints *constraints) valuationsOfComparison(expr *sema.Binary, holds bool) (zone.Federation, error) {
	left, leftNumber, err := constraints.clockOrNumber(expr.X)
	if err != nil {
		return nil, err
	}
	right, rightNumber, err := constraints.clockOrNumber(expr.Y)
	if err != nil {
		return nil, err
	}
	op := expr.Op
	if !holds {
		op = negatedOp[op]
	}
	return constraints.comparisonZones(left, right, op, rightNumber-leftNumber), nil
}

// comparisonZones returns the clock valuations that satisfy `left - right op number`, where left and right are numbers of clocks. Clock 0 always has the
// value 0, so it stands for a missing operand.
func (constraints *constraints) comparisonZones(left, right int, op syntax.Op, number int64) zone.Federation {
	switch op {
	case syntax.OpLt:
		return constraints.differenceZone(left, right, zone.Below(number))
	case syntax.OpLe:
		return constraints.differenceZone(left, right, zone.AtMost(number))
	case syntax.OpGt:
		return constraints.differenceZone(right, left, zone.Below(-number))
	case syntax.OpGe:
		return constraints.differenceZone(right, left, zone.AtMost(-number))
	case syntax.OpEq:
		return constraints.differenceZone(left, right, zone.AtMost(number)).Intersect(constraints.differenceZone(right, left, zone.AtMost(-number)))
	case syntax.OpNe:
		return constraints.differenceZone(left, right, zone.Below(number)).Union(constraints.differenceZone(right, left, zone.Below(-number)))
	}
	return nil
}

// differenceZone returns the valuations for which clock i minus clock j satisfies a bound.
func (constraints *constraints) differenceZone(i, j int, bound zone.Bound) zone.Federation {
	satisfying, ok := zone.All(constraints.numClocks).And(i, j, bound)
	if !ok {
		return nil
	}
	return zone.Federation{satisfying}
}

// clockOrNumber returns an operand of a comparison: a clock, or a number with clock 0.
func (constraints *constraints) clockOrNumber(expr sema.Expr) (clock int, number int64, err error) {
	if constraints.isClock(expr) {
		return constraints.clockOfSlot[expr.(*sema.Var).Slot], 0, nil
	}
	value, err := sema.Eval(expr, constraints.state)
	return 0, int64(value.Int), err
}
