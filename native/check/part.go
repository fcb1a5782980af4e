package check

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// FromPart evaluates a property of an MDP of which only a part is explored. It supports Pmax=? of F or U if some scheduler
// reaches the target with probability one without leaving that part: the value is then 1. Otherwise ok is false.
func (c *Checker) FromPart(ctx context.Context, property *Property) (verdict result.Verdict, ok bool) {
	start := time.Now()
	formula := logic.Of(property.X)
	if formula.Kind != logic.Probability || !formula.Query() || formula.Extremum != syntax.Max || c.opts.Fair || c.bounds.space.Program().Type != syntax.MDP {
		return verdict, false
	}
	path := formula.Path
	if !path.Reaches() || !dependsOnStateOnly(property, path.Left, true) || !dependsOnStateOnly(property, path.Right, true) {
		return verdict, false
	}
	evaluator := &evaluation{model: c.bounds, request: request{ctx: ctx, property: property}}
	left, right, err := evaluator.operands(path.Left, path.Right)
	if err != nil { // the error may be in a state that does not matter
		return verdict, false
	}
	certain, err := c.bounds.graph.Prob1E(ctx, left, right)
	if err != nil {
		return verdict, false
	}
	partModel := c.bounds.space.Model()
	if len(partModel.Initial) != 1 || !certain.Has(int(partModel.Initial[0])) {
		return verdict, false
	}
	verdict = result.Verdict{
		Resolution: result.Maximum, States: int64(partModel.NumStates()), Choices: int64(partModel.NumChoices()), Transitions: int64(partModel.NumTransitions()),
	}
	answer := &outcome{value: resultValue(point(1), property.X.Type()), bound: &result.Interval{Lo: 1, Hi: 1}, results: results{accuracy: c.opts.Accuracy}}
	if c.opts.Accuracy == result.Exact {
		answer.value = resultValue(fraction(big.NewRat(1, 1)), property.X.Type())
	}
	err = c.conclude(property, c.bounds.space, answer, &verdict, fmt.Sprintf("answered by the first %s, within which a scheduler has probability 1: the model was not explored to its end",
		noun.Count(partModel.NumStates()-c.bounds.space.Unexplored().Count(), "state")))
	verdict.Seconds = time.Since(start).Seconds()
	return verdict, err == nil
}

// conclude writes an outcome that did not need all states to a verdict, with a note that says so.
func (c *Checker) conclude(property *Property, space *explicit.Space, out *outcome, verdict *result.Verdict, note string) error {
	verdict.Property, verdict.Name, verdict.Method = property.Text, property.Name, "states"
	verdict.Warnings = append(verdict.Warnings, space.Warnings()...)
	err := c.writeOutcome(out, verdict, nil)
	verdict.Warnings = append(verdict.Warnings, c.differences(property)...)
	verdict.Warnings = append(verdict.Warnings, note)
	return err
}

// dependsOnStateOnly reports whether the truth of a formula in a state depends only on the variables of the state. If allowInit
// is true, it may also depend on the label "init". It returns true for nil, which stands for a missing formula.
func dependsOnStateOnly(property *Property, expr sema.Expr, allowInit bool) bool {
	if expr == nil {
		return true
	}
	onlyState := expr.Type() == sema.Bool
	sema.Inspect(expr, func(expr sema.Expr) bool {
		switch x := expr.(type) {
		case *sema.Const, *sema.Var, *sema.Unary, *sema.Binary, *sema.Cond, *sema.Call:
		case *sema.Label:
			onlyState = onlyState && (allowInit && x.Index == sema.LabelInit || x.Index >= 0 && dependsOnStateOnly(property, property.Program.Labels[x.Index].X, allowInit))
		default:
			onlyState = false
		}
		return onlyState
	})
	return onlyState
}
