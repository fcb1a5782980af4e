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

// CheckAlmostSure checks a property of an MDP of which only a part is explored. It answers Pmax=? of F or U if some scheduler satisfies the path
// formula with probability 1 and leaves no explored state: then the maximal probability is 1 in the whole MDP. In all other cases ok is false.
func (checker *Checker) CheckAlmostSure(ctx context.Context, property *Property) (verdict result.Verdict, ok bool) {
	start := time.Now()
	if !checker.existsAlmostSureScheduler(ctx, property) {
		return verdict, false
	}
	space := checker.floatModel.space
	model := space.Model()
	verdict = result.Verdict{
		Resolution:  result.Maximum,
		States:      int64(model.NumStates()),
		Choices:     int64(model.NumChoices()),
		Transitions: int64(model.NumTransitions()),
	}
	checker.writePartialOutcome(checker.probabilityOne(property), property, space, &verdict)
	verdict.Warnings = append(verdict.Warnings, fmt.Sprintf("the model was not explored completely: a scheduler that stays in the first %s attains probability 1",
		noun.Count(space.NumExplored(), "state")))
	verdict.Seconds = time.Since(start).Seconds()
	return verdict, true
}

// probabilityOne returns the outcome of a property whose value is the probability 1.
func (checker *Checker) probabilityOne(property *Property) *outcome {
	one := pointNumber(1)
	if checker.opts.Accuracy == result.Exact {
		one = exactNumber(big.NewRat(1, 1))
	}
	return &outcome{
		value:    resultValue(one, property.Expr.Type()),
		interval: &result.Interval{Lo: 1, Hi: 1},
		results:  results{accuracy: checker.opts.Accuracy},
	}
}

// existsAlmostSureScheduler reports whether a property is Pmax=? of F or U in an MDP, and some scheduler satisfies the path formula with
// probability 1 within the explored states.
func (checker *Checker) existsAlmostSureScheduler(ctx context.Context, property *Property) bool {
	model := checker.floatModel.space.Model()
	isSupportedModel := checker.floatModel.space.Program().Type == syntax.MDP && len(model.Initial) == 1
	if checker.opts.Fair || !isSupportedModel || !isMaximalReachability(property) {
		return false
	}
	path := logic.FormulaOf(property.Expr).Path
	evaluation := &evaluation{model: checker.floatModel, request: request{ctx: ctx, property: property}}
	left, right, err := evaluation.operandStates(path.Left, path.Right)
	if err != nil { // an operand may have no value in a state that the answer does not depend on
		return false
	}
	almostSure, err := checker.floatModel.graph.Prob1E(ctx, left, right)
	return err == nil && almostSure.Has(int(model.Initial[0]))
}

// isMaximalReachability reports whether a property is Pmax=? of F or U whose operands depend only on variables and the label "init".
func isMaximalReachability(property *Property) bool {
	formula := logic.FormulaOf(property.Expr)
	return formula.IsMaximalReachability() && dependsOnStateOnly(property, formula.Path.Left, withInit) && dependsOnStateOnly(property, formula.Path.Right, withInit)
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
