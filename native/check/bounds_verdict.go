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

// NewUntilProperty returns the until formula, the direction and the step bound of a property P of F, G, U, W or R of state formulas. It is an error if
// the property has another form or a bound from below, or if it is P=? without min or max and the model is nondeterministic.
func NewUntilProperty(property *Property, isNondeterministic bool) (*UntilProperty, error) {
	formula := logic.FormulaOf(property.Expr)
	if formula.Kind != logic.Probability {
		return nil, result.Refuse(property, result.Unsupported, property.Expr.Pos(), "found %s, want P of F, G, U, W or R of state formulas, or R of F, C or C<=k", logic.Describe(property.Expr))
	}
	path := formula.Path
	steps, err := maxStepsOfUntil(property, path)
	if err != nil {
		return nil, err
	}
	for _, operand := range []sema.Expr{path.Left, path.Right} {
		if !dependsOnStateOnly(property, operand, withoutInit) {
			return nil, unsupportedUntil(property, operand)
		}
	}
	direction, err := directionForBounds(property, formula, isNondeterministic)
	if err != nil {
		return nil, err
	}
	converted := &UntilProperty{property: property, formula: formula, Direction: direction, Steps: steps}
	if converted.isNegated() {
		converted.Direction = direction.Opposite()
	}
	return converted, nil
}

// maxStepsOfUntil returns the upper bound on the steps of F, G, U, W or R, or logic.Unbounded without a bound. It is an error if path has another
// form, a lower bound or a time bound.
func maxStepsOfUntil(property *Property, path *logic.Path) (int, error) {
	hasTimeBound := path.Bound != nil && property.Program.Type == syntax.CTMC
	switch {
	case path.Form != logic.Until || hasTimeBound:
		return 0, unsupportedUntil(property, path.WholeExpr)
	case path.Bound == nil:
		return logic.Unbounded, nil
	}
	steps, err := (&evaluation{request: request{property: property}}).stepInterval(path)
	if err != nil {
		return 0, err
	}
	hasOnlyUpperBound := steps.Low == 0 && steps.High != solve.Unbounded
	if !hasOnlyUpperBound {
		return 0, unsupportedUntil(property, path.WholeExpr)
	}
	return steps.High, nil
}

// unsupportedUntil returns the error that expr, a part of a property, is not supported by NewUntilProperty.
func unsupportedUntil(property *Property, expr sema.Expr) error {
	return result.Refuse(property, result.Unsupported, expr.Pos(), "found %s, want P of F, G, U, W or R of state formulas, without a bound or with an upper bound on steps", logic.Describe(expr))
}

// directionForBounds returns whether P or R asks for the minimum or the maximum. It is an error if a query has neither min nor max and the model
// is nondeterministic.
func directionForBounds(property *Property, formula *logic.Formula, isNondeterministic bool) (solve.Direction, error) {
	direction, hasDirection := directionOf(formula.Threshold, false)
	if !hasDirection && isNondeterministic {
		letter := formula.Letter()
		return 0, result.Refuse(property, result.TypeError, property.Expr.Pos(), "found %s=? for a nondeterministic model, want %smin=? or %smax=?%s", letter, letter, letter, implicitTypeHint(property.Program))
	}
	return direction, nil
}

// isNegated reports whether the path formula is the negation of the until formula.
func (until *UntilProperty) isNegated() bool {
	_, _, negated := booleans.AsUntil(until.formula.Path.Op, false, false)
	return negated != until.formula.Path.IsNegated
}

// booleans has the Boolean operations on truth values.
var booleans = logic.Algebra[bool]{
	Not:     func(a bool) bool { return !a },
	And:     func(a, b bool) bool { return a && b },
	Neither: func(a, b bool) bool { return !a && !b },
}

// Operands returns the operands of the path formula; the left one is nil for F and G.
func (until *UntilProperty) Operands() (left, right sema.Expr) {
	return until.formula.Path.Left, until.formula.Path.Right
}

// AsUntil returns the truth values of the two operands of the until formula, for given truth values of the operands of the path formula. If
// the path formula has no left operand, left must be true.
func (until *UntilProperty) AsUntil(left, right bool) (untilLeft, untilRight bool) {
	untilLeft, untilRight, _ = booleans.AsUntil(until.formula.Path.Op, left, right)
	return untilLeft, untilRight
}

// Conclude computes the value of the property from bounds of the probability of its until formula, and writes it to the verdict. A relative
// width above epsilon adds a warning. It is an error if the bounds contain the threshold of a bounded property.
func (until *UntilProperty) Conclude(lower, upper, epsilon float64, verdict *result.Verdict) error {
	bounds := boundedNumber(lower, upper)
	if until.isNegated() {
		bounds, _ = applyArithmetic(syntax.OpSub, exactNumber(big.NewRat(1, 1)), bounds) // 1 minus the probability of the negation
		bounds.Lo, bounds.Hi = max(bounds.Lo, 0), min(bounds.Hi, 1)
	}
	return concludeBounds(until.property, until.formula, bounds, epsilon, verdict)
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

// NewRewardProperty converts a property R of F of a state formula, of C or of C<=k with a number of steps. It is an error if the property has another
// form, or if it is R=? without min or max and the model is nondeterministic.
func NewRewardProperty(property *Property, isNondeterministic bool) (*RewardProperty, error) {
	formula := logic.FormulaOf(property.Expr)
	objective := formula.Objective
	switch {
	case objective.Err != nil:
		return nil, objective.Err
	case !hasRewardBounds(property, objective):
		return nil, result.Refuse(property, result.Unsupported, property.Expr.Pos(), "found R of %s, want R of F of a state formula, of C, or of C<=k with a number of steps", describeObjective(objective))
	}
	steps := logic.Unbounded
	if objective.Form == logic.Cumulative {
		var err error
		steps, err = (&evaluation{request: request{property: property}}).rewardSteps(objective)
		if err != nil {
			return nil, err
		}
	}
	direction, err := directionForBounds(property, formula, isNondeterministic)
	if err != nil {
		return nil, err
	}
	return &RewardProperty{property: property, formula: formula, Direction: direction, Structure: objective.Struct, Target: objective.Target, Steps: steps}, nil
}

// hasRewardBounds reports whether NewRewardProperty supports an objective: F of a state formula, C, or C<=k with a number of steps.
func hasRewardBounds(property *Property, objective *logic.Objective) bool {
	if objective.IsRatio {
		return false
	}
	switch objective.Form {
	case logic.ReachReward:
		return dependsOnStateOnly(property, objective.Target, withoutInit)
	case logic.TotalReward:
		return true
	case logic.Cumulative:
		return property.Program.Type != syntax.CTMC
	}
	return false
}

// describeObjective describes an objective that NewRewardProperty does not support, for an error message.
func describeObjective(objective *logic.Objective) string {
	if objective.IsRatio {
		return "a ratio of rewards"
	}
	switch objective.Form {
	case logic.ReachReward:
		return "F of a formula with other operators"
	case logic.BoundedReachReward:
		return "F with a bound"
	case logic.Cumulative, logic.TimedCumulative:
		return "C with a bound on time"
	case logic.CostBoundedReward:
		return "C with a bound on rewards"
	case logic.Discounted:
		return "C with a discount factor"
	case logic.Instantaneous, logic.TimedInstantaneous, logic.LongRun:
		return objective.Letter()
	}
	return "another path formula"
}

// Conclude computes the value of the property from bounds of the reward, and writes it to the verdict. A relative width above epsilon adds a warning. It is
// an error if the bounds contain the threshold of a bounded property.
func (reward *RewardProperty) Conclude(lower, upper, epsilon float64, verdict *result.Verdict) error {
	return concludeBounds(reward.property, reward.formula, boundedNumber(lower, upper), epsilon, verdict)
}

// concludeBounds writes the value of a property to the verdict. formula is the operator P or R of the property, and bounds are bounds of its value.
// A bounded property is true or false; it is an error if the bounds contain its threshold.
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
