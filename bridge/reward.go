package bridge

import (
	"fmt"

	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// decomposeReward decomposes an R operator. Of the co-safe formulas, Storm supports only F. It asks two queries for a formula that holds after a known
// number of steps, or when the right operand of an until first holds: whether the formula holds almost surely, and the reward until it holds. If it
// does not hold almost surely, the value is infinite.
func (d *decomposer) decomposeReward(node *node, operator logic.Written) syntax.Expr {
	if operator.Objective != nil {
		d.checkNotNegative(operator.Objective)
	}
	if operator.Objective != nil || !operator.Query() {
		return d.askStorm(node, operator.X, !operator.Query())
	}
	path := syntax.Unparen(operator.Within)
	if !syntax.IsPath(path) { // a state formula is decided in the first state
		return infiniteUnless(d.decompose(node, path), &syntax.DoubleLit{Text: "0.0"})
	}
	sure, until, ok := d.almostSure(operator, negateNext(path))
	if !ok {
		return d.askStorm(node, operator.X, false)
	}
	return infiniteUnless(d.decomposeProbability(node, logic.Read(sure)), d.askStorm(node, operator.With(operator.Threshold, until), false))
}

// checkNotNegative refuses a negative bound of C<=t and I=t: Storm would read -1 as 2^64-1 steps.
func (d *decomposer) checkNotNegative(objective *syntax.RewardPath) {
	if objective.Bound == nil {
		return
	}
	switch value, err := d.constant(objective.Bound); {
	case err != nil:
		d.fail(err)
	case value.Float < 0:
		d.fail(&result.Failure{Class: result.TypeError, Message: fmt.Sprintf("time bound %v is negative", value.Float), Pos: objective.Pos()})
	}
}

// almostSure returns an operator sure that holds if a path formula holds almost surely, and a reward objective until, whose value is then the value
// of the formula. ok is false if it does not support the formula.
func (d *decomposer) almostSure(operator logic.Written, path syntax.Expr) (sure *syntax.Prob, until syntax.Expr, ok bool) {
	temporal := logic.TemporalOf(path)
	if temporal == nil || temporal.Bound != nil {
		return nil, nil, false
	}
	modelType := d.instance.program.Type
	if steps, operand := countNext(temporal); steps > 0 {
		// Storm may compute 0.9999… as the probability of a sure step, but it computes exactly 0 for an impossible step.
		never := &syntax.Temporal{Op: syntax.Future, Y: not(&syntax.Paren{X: operand}), Bound: exactly(steps), Span: temporal.Span}
		if steps == 1 {
			never.Op, never.Bound = syntax.Next, nil
		}
		sure = &syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpLe, Bound: &syntax.IntLit{}}, Path: never}
		// The schedulers of an MDP do worst if one of them misses the formula.
		ok = modelType == syntax.DTMC || modelType == syntax.MDP && operator.Extremum == syntax.Max
		return sure, &syntax.RewardPath{Kind: syntax.Cumulative, Bound: &syntax.IntLit{Value: steps}}, ok && !syntax.IsPath(operand)
	}
	sure = &syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpGe, Bound: &syntax.IntLit{Value: 1}}, Path: temporal}
	isChain := modelType == syntax.DTMC || modelType == syntax.CTMC
	ok = isChain && temporal.Op == syntax.Until && !syntax.IsPath(temporal.X) && !syntax.IsPath(temporal.Y)
	return sure, &syntax.Temporal{Op: syntax.Future, Y: temporal.Y}, ok
}

// negateNext rewrites !(X a) as X !a.
func negateNext(path syntax.Expr) syntax.Expr {
	if negation, ok := path.(*syntax.Unary); ok && negation.Op == syntax.OpNot {
		if next := logic.TemporalOf(negation.X); next != nil && next.Op == syntax.Next && next.Bound == nil {
			return &syntax.Temporal{Op: syntax.Next, Y: &syntax.Paren{X: not(&syntax.Paren{X: next.Y})}, Span: next.Span}
		}
	}
	return path
}

// infiniteUnless returns the expression condition ? value : 1/0, which is infinite where the condition does not hold.
func infiniteUnless(condition, value syntax.Expr) syntax.Expr {
	infinite := &syntax.Binary{Op: syntax.OpDiv, X: &syntax.IntLit{Value: 1}, Y: &syntax.IntLit{}}
	return &syntax.Paren{X: &syntax.Cond{Condition: &syntax.Paren{X: condition}, Then: value, Else: infinite}}
}
