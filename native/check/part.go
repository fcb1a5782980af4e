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

// FromPart tries to evaluate a property on the explored part of an MDP. It succeeds for Pmax=? of F or U if some scheduler satisfies the path
// formula almost surely without leaving the explored part: then the value is 1. ok is false in all other cases.
func (checker *Checker) FromPart(ctx context.Context, property *Property) (verdict result.Verdict, ok bool) {
	start := time.Now()
	if !checker.isSurelyReached(ctx, property) {
		return verdict, false
	}
	partModel := checker.floatModel.space.Model()
	verdict = result.Verdict{
		Resolution: result.Maximum, States: int64(partModel.NumStates()), Choices: int64(partModel.NumChoices()), Transitions: int64(partModel.NumTransitions()),
	}
	answer := &outcome{value: resultValue(pointNumber(1), property.Expr.Type()), interval: &result.Interval{Lo: 1, Hi: 1}, results: results{accuracy: checker.opts.Accuracy}}
	if checker.opts.Accuracy == result.Exact {
		answer.value = resultValue(exactNumber(big.NewRat(1, 1)), property.Expr.Type())
	}
	checker.writePartialOutcome(answer, property, checker.floatModel.space, &verdict)
	verdict.Warnings = append(verdict.Warnings, fmt.Sprintf("answered by the first %s, within which a scheduler has probability 1: the model was not explored to its end",
		noun.Count(partModel.NumStates()-checker.floatModel.space.Unexplored().Count(), "state")))
	verdict.Seconds = time.Since(start).Seconds()
	return verdict, true
}

// isSurelyReached reports whether a property is Pmax=? of F or U in an MDP, and some scheduler satisfies the path formula almost surely within
// the explored states.
func (checker *Checker) isSurelyReached(ctx context.Context, property *Property) bool {
	model := checker.floatModel.space.Model()
	isSupportedModel := checker.floatModel.space.Program().Type == syntax.MDP && len(model.Initial) == 1
	if checker.opts.Fair || !isSupportedModel || !isMaximalReachability(property) {
		return false
	}
	path := logic.FormulaOf(property.Expr).Path
	evaluation := &evaluation{model: checker.floatModel, request: request{ctx: ctx, property: property}}
	left, right, err := evaluation.operandStates(path.Left, path.Right)
	if err != nil { // the error may be in a state that does not matter
		return false
	}
	almostSure, err := checker.floatModel.graph.Prob1E(ctx, left, right)
	return err == nil && almostSure.Has(int(model.Initial[0]))
}

// isMaximalReachability reports whether a property is Pmax=? of F or U whose operands depend only on variables and the label "init".
func isMaximalReachability(property *Property) bool {
	formula := logic.FormulaOf(property.Expr)
	isMaximum := formula.Kind == logic.Probability && formula.IsQuery() && formula.Extremum == syntax.Max
	if !isMaximum || !formula.Path.Reaches() {
		return false
	}
	return dependsOnStateOnly(property, formula.Path.Left, withInit) && dependsOnStateOnly(property, formula.Path.Right, withInit)
}

// writePartialOutcome writes the outcome of a property to a verdict, with the property's name and all warnings. space has the explored states.
func (checker *Checker) writePartialOutcome(outcome *outcome, property *Property, space *explicit.Space, verdict *result.Verdict) {
	verdict.Property, verdict.Name, verdict.Method = property.Text, property.Name, "states"
	verdict.Warnings = append(verdict.Warnings, space.Warnings()...)
	checker.writeOutcome(outcome, verdict)
	verdict.Warnings = append(verdict.Warnings, checker.floatWarnings(property)...)
}

// The arguments of dependsOnStateOnly.
const (
	withInit    = true
	withoutInit = false
)

// dependsOnStateOnly reports whether a formula is Boolean and its truth in a state depends only on the variables of that state. If allowInit is
// true, it may also depend on the label "init". The result is true if expr is nil.
func dependsOnStateOnly(property *Property, expr sema.Expr, allowInit bool) bool {
	if expr == nil {
		return true
	}
	dependsOnState := expr.Type() == sema.Bool
	sema.Inspect(expr, func(operand sema.Expr) bool {
		dependsOnState = dependsOnState && operatorDependsOnStateOnly(property, operand, allowInit)
		return dependsOnState
	})
	return dependsOnState
}

// operatorDependsOnStateOnly reports whether the outermost operator of an expression is a Boolean or arithmetic operator, or a label that
// depends only on the variables of a state. If allowInit is true, the label "init" is allowed too.
func operatorDependsOnStateOnly(property *Property, expr sema.Expr, allowInit bool) bool {
	switch expr := expr.(type) {
	case *sema.Const, *sema.Var, *sema.Unary, *sema.Binary, *sema.Cond, *sema.Call:
		return true
	case *sema.Label:
		if expr.Index >= 0 {
			return dependsOnStateOnly(property, property.Program.Labels[expr.Index].Expr, allowInit)
		}
		return expr.Index == sema.LabelInit && allowInit
	}
	return false
}
