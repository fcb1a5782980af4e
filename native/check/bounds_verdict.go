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
		return nil, result.Refuse(property, result.Unsupported, property.Expr.Pos(), "found %s, want P of F, G, U, W or R of state formulas, or R of F, C or C<=k", logic.Describe(property.Expr))
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
	return concludeBounds(u.property, u.formula, bounds, epsilon, verdict)
}

// RewardProperty is a property R of F of a state formula, of C, or of C<=k with a number of steps, for callers that compute the bounds of its value
// themselves.
type RewardProperty struct {
	property  *Property
	formula   *logic.Formula
	Direction solve.Direction
	// Structure is the index of the reward structure in Program.Rewards.
	Structure int
	// Target has the states until which rewards count; nil if all rewards count.
	Target sema.Expr
	// Steps is the number of steps whose rewards count, or logic.Unbounded.
	Steps int
}

// NewRewardProperty checks that a property is R of F of a state formula, of C or of C<=k with a number of steps, and converts it. The error names the
// unsupported objective. It is also an error if the property is R=? and nondeterministic is true: the model has choices, so the property needs min or
// max.
func NewRewardProperty(property *Property, nondeterministic bool) (*RewardProperty, error) {
	formula := logic.FormulaOf(property.Expr)
	objective := formula.Objective
	unsupportedError := func(description string) error {
		return result.Refuse(property, result.Unsupported, property.Expr.Pos(), "found R of %s, want R of F of a state formula, of C, or of C<=k with a number of steps", description)
	}
	converted := &RewardProperty{property: property, formula: formula, Structure: objective.Struct, Target: objective.Target, Steps: logic.Unbounded}
	switch {
	case objective.Err != nil:
		return nil, objective.Err
	case objective.IsRatio:
		return nil, unsupportedError("a ratio of rewards")
	case objective.Form == logic.ReachReward && dependsOnStateOnly(property, objective.Target, withoutInit):
	case objective.Form == logic.TotalReward:
	case objective.Form == logic.Cumulative && property.Program.Type != syntax.CTMC:
		steps, err := (&evaluation{request: request{property: property}}).rewardSteps(objective)
		if err != nil {
			return nil, err
		}
		converted.Steps = steps
	default:
		return nil, unsupportedError(describeObjective(objective))
	}
	direction, hasDirection := directionOf(formula.Threshold, false)
	if !hasDirection && nondeterministic {
		return nil, result.Refuse(property, result.TypeError, property.Expr.Pos(), "found R=? for a nondeterministic model, want Rmin=? or Rmax=?")
	}
	converted.Direction = direction
	return converted, nil
}

// describeObjective names an objective that a caller does not support.
func describeObjective(objective *logic.Objective) string {
	switch objective.Form {
	case logic.ReachReward:
		return "F of a formula with other operators"
	case logic.BoundedReachReward:
		return "F with a bound"
	case logic.Cumulative:
		return "C with a bound on time"
	case logic.CostBoundedReward:
		return "C with a bound on rewards"
	case logic.Discounted:
		return "C with a discount factor"
	case logic.Instantaneous, logic.LongRun:
		return objective.Letter()
	}
	return "another path formula"
}

// Conclude computes the value of the property from bounds of the reward, and writes it to the verdict. A relative width above epsilon adds a warning. It is
// an error if the bounds contain the threshold of a bounded property.
func (r *RewardProperty) Conclude(lower, upper, epsilon float64, verdict *result.Verdict) error {
	return concludeBounds(r.property, r.formula, boundedNumber(lower, upper), epsilon, verdict)
}

// concludeBounds writes the value of a property to the verdict, from bounds on the probability or the reward of its operator.
func concludeBounds(property *Property, formula *logic.Formula, bounds number, epsilon float64, verdict *result.Verdict) error {
	verdict.Accuracy = result.Bounded
	if formula.IsQuery() {
		answer := &outcome{results: results{accuracy: result.Bounded, width: relativeWidth(bounds)}}
		verdict.Value, verdict.Bound = resultValue(bounds, sema.Double), &result.Interval{Lo: bounds.Lo, Hi: bounds.Hi}
		if answer.width > epsilon {
			verdict.Warnings = append(verdict.Warnings, answer.widthWarning(epsilon))
		}
		return nil
	}
	enclosed, err := sema.Enclose(formula.Threshold.Bound, nil)
	if err != nil {
		return err
	}
	holds, isDecided := compareNumbers(formula.Rel, bounds, enclosedNumber(enclosed))
	if !isDecided {
		return &undecidedError{property.Expr.Pos(), "the bounds of a value contain the number that it is compared with"}
	}
	verdict.Value = result.Value{Kind: result.Boolean, Bool: holds}
	return nil
}
