package check

import (
	"context"
	"fmt"
	"math"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// assumption says what happens to a path that leaves the explored part of a model.
type assumption uint8

const (
	assumeNothing assumption = iota // all states are explored, or other states do not matter
	assumeFails                     // the path does not satisfy the until formula
	assumeReaches                   // the path satisfies the until formula
)

// Truncates reports whether Truncated supports a property: P of F, G, U, W or R of state formulas, with or without a bound, in a partially
// explored DTMC, CTMC or MDP.
func (checker *Checker) Truncates(property *Property) bool {
	formula := logic.FormulaOf(property.Expr)
	isUntil := formula.Kind == logic.Probability && formula.Path.Form == logic.Until
	if !isUntil || checker.opts.Fair || checker.floatModel.space.Unexplored() == nil {
		return false
	}
	switch checker.floatModel.space.Program().Type {
	case syntax.DTMC, syntax.CTMC, syntax.MDP:
	default:
		return false
	}
	if formula.IsQuery() && len(checker.floatModel.space.Model().Initial) > 1 {
		return false
	}
	return dependsOnStateOnly(property, formula.Path.Left, withInit) && dependsOnStateOnly(property, formula.Path.Right, withInit)
}

// Truncated returns bounds of the value of a property in a partially explored model. Truncates must report true for the property. width is the
// width of the bounds, or 0 for a Boolean property. If the bounds do not decide a bounded property, the verdict has an error. For P=? of F or U with an upper time
// bound in a CTMC, it ends early, with an error, if it finds that more than maxEscape of the probability leaves the explored states. stepShare is as for
// [solve.PartialTimedUntil]; it is 1 for other properties.
//
// Source: Neupane, Myers, Madsen, Zheng and Zhang, STAMINA: stochastic approximate model-checker for infinite-state
// analysis, CAV 2019.
func (checker *Checker) Truncated(ctx context.Context, property *Property, maxEscape float64) (verdict result.Verdict, width, stepShare float64) {
	start := time.Now()
	if lower, upper, stepShare, ok := checker.timedBounds(ctx, property, maxEscape); ok {
		verdict = checker.newVerdict(property)
		verdict.Bound = &result.Interval{Lo: lower, Hi: lower}
		width = checker.mergeVerdicts(&verdict, &result.Verdict{Bound: &result.Interval{Lo: upper, Hi: upper}}, property)
		verdict.Seconds = time.Since(start).Seconds()
		return verdict, width, stepShare
	}
	// The value is between two results: paths that leave the explored states all violate the formula, or they all satisfy it.
	opts := checker.opts
	defer func() { checker.assumption, checker.opts = assumeNothing, opts }()
	if opts.Accuracy != result.Exact {
		checker.opts.ExactStates = -1 // exploring more states narrows the interval more than fractions do
	}
	checker.assumption = assumeFails
	verdict = checker.Check(ctx, property)
	if verdict.Err != nil {
		return verdict, math.Inf(1), 1
	}
	checker.assumption = assumeReaches
	upper := checker.Check(ctx, property)
	if upper.Err != nil {
		return upper, math.Inf(1), 1
	}
	width = checker.mergeVerdicts(&verdict, &upper, property)
	verdict.Seconds = time.Since(start).Seconds()
	return verdict, width, 1
}

// timedBounds returns the bounds of Truncated for P=? of F or U with an upper time bound in a CTMC, from one computation instead of two. ok is false for other
// properties, and if the computation fails.
func (checker *Checker) timedBounds(ctx context.Context, property *Property, maxEscape float64) (lower, upper, stepShare float64, ok bool) {
	model, formula := checker.floatModel, logic.FormulaOf(property.Expr)
	path := formula.Path
	hasUpperBound := path.Bound != nil && path.Bound.Low == nil
	isUntil := !path.IsNegated && (path.Op == syntax.Future || path.Op == syntax.Until)
	isSupported := model.space.Program().Type == syntax.CTMC && model.space.Unfit() == nil && formula.IsQuery() && isUntil && hasUpperBound
	if !isSupported || checker.opts.Accuracy != result.Bounded {
		return 0, 0, 0, false
	}
	evaluation := checker.newEvaluation(ctx, model, precision{epsilon: checker.opts.epsilon()}, property)
	left, right, err := evaluation.operandStates(path.Left, path.Right)
	if err != nil {
		return 0, 0, 0, false
	}
	bound, err := evaluation.timeInterval(path.Op, path.Bound)
	if err != nil || bound.To.None() {
		return 0, 0, 0, false
	}
	lower, upper, stepShare, err = solve.PartialTimedUntil(ctx, model.graph, left, right, model.space.Unexplored(), bound.To, maxEscape, evaluation.opts)
	return lower, upper, stepShare, err == nil
}

// mergeVerdicts replaces the value of the verdict lower by an interval that contains the values of both verdicts, and returns the width of the interval.
// If outcomeBetween finds no such interval, lower gets the error, and the width is infinite.
func (checker *Checker) mergeVerdicts(lower, upper *result.Verdict, property *Property) (width float64) {
	merged, err := checker.outcomeBetween(lower, upper, property)
	lower.Warnings = nil
	if err != nil {
		lower.Err = Failure(err, property.File, property.Pos)
		lower.Value, lower.Bound, lower.Accuracy = result.Value{}, nil, 0
		return math.Inf(1)
	}
	checker.writePartialOutcome(merged, property, checker.floatModel.space, lower)
	note := "answered by a part of the model: %s; unexplored states cannot change the value"
	if merged.accuracy == result.Bounded {
		note = "bounded by a part of the model: %s; the bounds cover the unexplored states"
	}
	lower.Warnings = append(lower.Warnings, fmt.Sprintf(note, exploredNote(checker.floatModel.space)))
	return merged.width
}

// exploredNote returns a text that says how many of the found states were explored.
func exploredNote(space *explicit.Space) string {
	return fmt.Sprintf("%d of %s were explored", space.NumExplored(), noun.Count(space.Model().NumStates(), "found state"))
}

// outcomeBetween returns an outcome whose bounds contain the values of two verdicts for a property. It is an error if two Boolean values differ,
// if the bounds are 0 and 1, or if the options require a fraction and the values differ.
func (checker *Checker) outcomeBetween(lower, upper *result.Verdict, property *Property) (*outcome, error) {
	merged := &outcome{value: lower.Value, interval: lower.Bound, results: results{accuracy: max(lower.Accuracy, upper.Accuracy)}}
	if lower.Value.Kind == result.Boolean {
		if lower.Value.Bool != upper.Value.Bool {
			return nil, &undecidedError{property.Expr.Pos(), "the explored part of the model does not decide the comparison"}
		}
		return merged, nil
	}
	haveFractions := lower.Value.Rat != nil && upper.Value.Rat != nil
	if haveFractions && lower.Value.Rat.Cmp(upper.Value.Rat) == 0 {
		return merged, nil
	}
	bounds := boundedNumber(min(lower.Bound.Lo, upper.Bound.Lo), max(lower.Bound.Hi, upper.Bound.Hi))
	if bounds.Lo <= 0 && bounds.Hi >= 1 {
		return nil, &undecidedError{property.Expr.Pos(), "the explored part of the model does not bound the value: " + exploredNote(checker.floatModel.space)}
	}
	if checker.opts.Accuracy == result.Exact {
		return nil, &inexactError{property.Expr.Pos(), fmt.Sprintf("the explored part of the model only bounds the value to [%.8g, %.8g], which is not a fraction", bounds.Lo, bounds.Hi)}
	}
	merged.accuracy, merged.width = result.Bounded, relativeWidth(bounds)
	merged.value, merged.interval = resultValue(bounds, property.Expr.Type()), &result.Interval{Lo: bounds.Lo, Hi: bounds.Hi}
	return merged, nil
}

// withUnexplored returns the target states of `left U right` in a partially explored model, under e.assumption. If paths are assumed to satisfy the
// formula in unexplored states, these states are added to right; if paths are assumed to violate it, they are removed.
func (e *evaluation) withUnexplored(path *logic.Path, left, right *sparse.Set) *sparse.Set {
	hasLowerBound := path.Bound != nil && path.Bound.Low != nil
	switch {
	case e.assumption == assumeReaches: // a path that reaches an unexplored state satisfies the formula there
		return right.Union(left.Intersect(e.space.Unexplored()))
	case e.assumption == assumeFails && hasLowerBound: // the path may leave the unexplored state before the lower bound
		return right.Minus(e.space.Unexplored())
	}
	return right
}

// WithinDepth evaluates a property that depends only on the states within a number of steps, as logic.Horizon returns it. These states must be
// explored. The verdict gets a warning.
func (checker *Checker) WithinDepth(ctx context.Context, property *Property, steps int) result.Verdict {
	verdict := checker.Check(ctx, property)
	if verdict.Err == nil {
		verdict.Warnings = append(verdict.Warnings, fmt.Sprintf("answered by the states that %s can reach: %s", noun.Count(steps, "step"), exploredNote(checker.floatModel.space)))
	}
	return verdict
}

// Unbounded returns the first integer variable that is declared without bounds in a program, or nil if all variables have bounds.
func Unbounded(program *sema.Program) *sema.Variable {
	for i := range program.Vars {
		if variable := &program.Vars[i]; variable.Type == sema.Int && !variable.IsBounded {
			return variable
		}
	}
	return nil
}
