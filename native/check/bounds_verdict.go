package check

import (
	"math/big"

	"tilecheck/native/solve"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// UntilProperty is a property P of F, G, U, W or R of state formulas, with or without an upper bound on steps, for callers that compute the bounds of
// its value themselves.
type UntilProperty struct {
	property *Property
	formula  *logic.Formula
	// Direction is the direction of the until formula that AsUntil returns.
	Direction solve.Direction
	// Steps is the greatest number of steps until the goal, or logic.Unbounded.
	Steps int
}

// NewUntilProperty checks that a property is P of F, G, U, W or R of state formulas, without a bound or with an upper bound on steps, and converts it. The error
// names the unsupported operator. It is also an error if the property is P=? and nondeterministic is true: the model has choices, so the
// property needs min or max.
func NewUntilProperty(property *Property, nondeterministic bool) (*UntilProperty, error) {
	formula := logic.FormulaOf(property.Expr)
	unsupportedError := func(expr sema.Expr) error {
		return result.Refuse(property, result.Unsupported, expr.Pos(), "found %s, want P of F, G, U, W or R of state formulas, without a bound or with an upper bound on steps", logic.Describe(expr))
	}
	if formula.Kind != logic.Probability {
		return nil, unsupportedError(property.Expr)
	}
	path := formula.Path
	steps := logic.Unbounded
	switch {
	case path.Form != logic.Until || path.Bound != nil && property.Program.Type == syntax.CTMC:
		return nil, unsupportedError(path.WholeExpr)
	case path.Bound != nil:
		interval, err := (&evaluation{request: request{property: property}}).stepInterval(path)
		if err != nil {
			return nil, err
		}
		if interval.Low > 0 || interval.High == solve.Unbounded {
			return nil, unsupportedError(path.WholeExpr)
		}
		steps = interval.High
	}
	for _, operand := range []sema.Expr{path.Left, path.Right} {
		if !dependsOnStateOnly(property, operand, withoutInit) {
			return nil, unsupportedError(operand)
		}
	}
	direction, hasDirection := directionOf(formula.Threshold, false)
	if !hasDirection && nondeterministic {
		return nil, result.Refuse(property, result.TypeError, property.Expr.Pos(), "found P=? for a nondeterministic model, want Pmin=? or Pmax=?")
	}
	converted := &UntilProperty{property: property, formula: formula, Direction: direction, Steps: steps}
	if converted.isNegated() {
		converted.Direction = direction.Opposite()
	}
	return converted, nil
}

// isNegated reports whether the path formula is the negation of the until formula.
func (u *UntilProperty) isNegated() bool {
	_, _, negated := booleans.AsUntil(u.formula.Path.Op, false, false)
	return negated != u.formula.Path.IsNegated
}

// booleans has the Boolean operations on truth values.
var booleans = logic.Algebra[bool]{
	Not:     func(a bool) bool { return !a },
	And:     func(a, b bool) bool { return a && b },
	Neither: func(a, b bool) bool { return !a && !b },
}

// Operands returns the operands of the path formula; the left one is nil for F and G.
func (u *UntilProperty) Operands() (left, right sema.Expr) {
	return u.formula.Path.Left, u.formula.Path.Right
}

// AsUntil returns the truth values of the two operands of the until formula, for given truth values of the operands of the path formula. If
// the path formula has no left operand, left must be true.
func (u *UntilProperty) AsUntil(left, right bool) (untilLeft, untilRight bool) {
	untilLeft, untilRight, _ = booleans.AsUntil(u.formula.Path.Op, left, right)
	return untilLeft, untilRight
}

// Conclude computes the value of the property from bounds of the probability of its until formula, and writes it to the verdict. A relative
// width above epsilon adds a warning. It is an error if the bounds contain the threshold of a bounded property.
func (u *UntilProperty) Conclude(lower, upper, epsilon float64, verdict *result.Verdict) error {
	bounds := boundedNumber(lower, upper)
	if u.isNegated() {
		bounds, _ = applyArithmetic(syntax.OpSub, exactNumber(big.NewRat(1, 1)), bounds) // 1 minus the probability of the negation
		bounds.Lo, bounds.Hi = max(bounds.Lo, 0), min(bounds.Hi, 1)
	}
	verdict.Accuracy = result.Bounded
	if u.formula.IsQuery() {
		answer := &outcome{results: results{accuracy: result.Bounded, width: relativeWidth(bounds)}}
		verdict.Value, verdict.Bound = resultValue(bounds, sema.Double), &result.Interval{Lo: bounds.Lo, Hi: bounds.Hi}
		if answer.width > epsilon {
			verdict.Warnings = append(verdict.Warnings, answer.widthWarning(epsilon))
		}
		return nil
	}
	enclosed, err := sema.Enclose(u.formula.Threshold.Bound, nil)
	if err != nil {
		return err
	}
	holds, isDecided := compareNumbers(u.formula.Rel, bounds, enclosedNumber(enclosed))
	if !isDecided {
		return &undecidedError{u.property.Expr.Pos(), "the bounds of a value contain the number that it is compared with"}
	}
	verdict.Value = result.Value{Kind: result.Boolean, Bool: holds}
	return nil
}
