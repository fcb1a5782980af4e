package check

import (
	"context"
	"fmt"
	"math"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// outside says what happens to a path that leaves the explored part of a model.
type outside uint8

const (
	outsideUnknown outside = iota // all states are explored, or other states do not matter
	outsideFails                  // the path does not satisfy the until formula
	outsideReaches                // the path satisfies the until formula
)

// Truncates reports whether Truncated supports a property. It supports P of F, G, U, W or R of state formulas, with or
// without a bound, in a partially explored DTMC, CTMC or MDP.
func (c *Checker) Truncates(property *Property) bool {
	formula := logic.Of(property.X)
	if formula.Kind != logic.Probability || formula.Path.Form != logic.Until || c.opts.Fair || c.bounds.space.Unexplored() == nil {
		return false
	}
	switch c.bounds.space.Program().Type {
	case syntax.DTMC, syntax.CTMC, syntax.MDP:
	default:
		return false
	}
	return dependsOnStateOnly(property, formula.Path.Left, true) && dependsOnStateOnly(property, formula.Path.Right, true) &&
		(!formula.Query() || len(c.bounds.space.Model().Initial) == 1)
}

// Truncated bounds the value of a property for which Truncates reports true, when only a part of the states is explored. It
// solves the part twice: once as if every path satisfied the formula at the time when it leaves the part, and once as if no
// such path did. The value lies between the two results. In a chain, their difference is the probability that a path leaves
// the part before the formula is decided. width is the width of the interval; it is 0 if a bound of the property is decided.
// If it is not decided, the verdict has an error.
//
// Source: Neupane, Myers, Madsen, Zheng and Zhang, STAMINA: stochastic approximate model-checker for infinite-state
// analysis, CAV 2019.
func (c *Checker) Truncated(ctx context.Context, property *Property) (verdict result.Verdict, width float64) {
	start := time.Now()
	opts := c.opts
	defer func() { c.outside, c.opts = outsideUnknown, opts }()
	if opts.Accuracy != result.Exact {
		c.opts.ExactStates = -1 // to explore more states narrows the interval more than to compute fractions
	}
	c.outside = outsideFails
	verdict = c.Check(ctx, property)
	if verdict.Err != nil {
		return verdict, math.Inf(1)
	}
	c.outside = outsideReaches
	upper := c.Check(ctx, property)
	if upper.Err != nil {
		return upper, math.Inf(1)
	}
	answer, err := c.outcomeBetween(&verdict, &upper, property)
	verdict.Warnings = nil
	if err == nil {
		err = c.conclude(property, c.bounds.space, answer, &verdict, "bounded by a part of the model: "+exploredNote(c.bounds.space)+"; the bounds cover the unexplored states")
		width = answer.width
	}
	if err != nil {
		verdict.Err, width = Failure(err, property.File, property.Pos), math.Inf(1)
		verdict.Value, verdict.Bound, verdict.Accuracy = result.Value{}, nil, 0 // the verdict had the lower bound
	}
	verdict.Seconds = time.Since(start).Seconds()
	return verdict, width
}

// exploredNote says how many states of a part were explored.
func exploredNote(space *explicit.Space) string {
	all := space.Model().NumStates()
	return fmt.Sprintf("%d of %s were explored", all-space.Unexplored().Count(), noun.Count(all, "found state"))
}

// outcomeBetween returns the outcome whose bounds contain the values of two verdicts.
func (c *Checker) outcomeBetween(lower, upper *result.Verdict, property *Property) (*outcome, error) {
	between := &outcome{value: lower.Value, bound: lower.Bound, results: results{accuracy: max(lower.Accuracy, upper.Accuracy)}}
	switch {
	case lower.Value.Kind == result.Boolean && lower.Value.Bool == upper.Value.Bool:
		return between, nil
	case lower.Value.Kind == result.Boolean:
		return nil, &undecidedError{property.X.Pos(), "the explored part of the model does not decide the comparison"}
	case lower.Value.Rat != nil && upper.Value.Rat != nil && lower.Value.Rat.Cmp(upper.Value.Rat) == 0:
		return between, nil
	}
	interval := number{lo: math.Min(lower.Bound.Lo, upper.Bound.Lo), hi: math.Max(lower.Bound.Hi, upper.Bound.Hi)}
	if interval.lo <= 0 && interval.hi >= 1 {
		return nil, &undecidedError{property.X.Pos(), "the explored part of the model does not bound the value:  " + exploredNote(c.bounds.space)}
	}
	if c.opts.Accuracy == result.Exact {
		return nil, &inexactError{property.X.Pos(), fmt.Sprintf("the explored part of the model only bounds the value to [%.8g, %.8g], which is not a fraction", interval.lo, interval.hi)}
	}
	between.accuracy, between.width = result.Bounded, relativeWidth(interval)
	between.value, between.bound = resultValue(interval, property.X.Type()), &result.Interval{Lo: interval.lo, Hi: interval.hi}
	return between, nil
}

// reachedOutside decides which unexplored states satisfy the right operand of an until formula. Unexplored states have
// self-loops only. If paths that leave the explored part are assumed to satisfy the formula, it adds the unexplored states
// that satisfy the left operand. If such paths are assumed not to satisfy the formula, and the formula has a lower bound, it
// removes all unexplored states, because a path may leave such a state again before the lower bound.
func (e *evaluation) reachedOutside(path *logic.Path, left, right *sparse.Set) *sparse.Set {
	switch {
	case e.outside == outsideReaches:
		return right.Union(left.Intersect(e.space.Unexplored()))
	case e.outside == outsideFails && path.Bound != nil && path.Bound.Low != nil:
		return right.Minus(e.space.Unexplored())
	}
	return right
}

// WithinDepth evaluates a property whose horizon was explored (logic.Horizon): other states do not matter.
func (c *Checker) WithinDepth(ctx context.Context, property *Property, steps int) result.Verdict {
	verdict := c.Check(ctx, property)
	if verdict.Err == nil {
		verdict.Warnings = append(verdict.Warnings, fmt.Sprintf("answered by the states that %s can reach: %s", noun.Count(steps, "step"), exploredNote(c.bounds.space)))
	}
	return verdict
}

// Unbounded returns the first integer variable of a program that has no bounds, so that the program may have infinitely many
// states; nil if there is none.
func Unbounded(program *sema.Program) *sema.Variable {
	for i := range program.Vars {
		if variable := &program.Vars[i]; variable.Type == sema.Int && !variable.Bounded {
			return variable
		}
	}
	return nil
}
