package bridge

import (
	"fmt"

	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// reward decomposes an R operator. Storm supports only rewards until F. For co-safe formulas that are satisfied after a
// known number of steps, or when the right side of an until first holds, it asks two queries: whether the formula is
// almost sure, and the value if it is; otherwise the value is infinite.
func (a *decomposer) reward(n *node, w logic.Written) syntax.Expr {
	if w.Objective != nil {
		a.checkNotNegative(w.Objective)
	}
	if w.Objective != nil || !w.Query() {
		return a.askStorm(n, w.X, !w.Query())
	}
	path := syntax.Unparen(w.Within)
	if !syntax.IsPath(path) { // a state formula is decided in the first state
		return infiniteUnless(a.decompose(n, path), &syntax.DoubleLit{Text: "0.0"})
	}
	sure, until, ok := a.almostSure(w, pushNegation(path))
	if !ok {
		return a.askStorm(n, w.X, false)
	}
	return infiniteUnless(a.probability(n, logic.Read(sure)), a.askStorm(n, w.With(w.Threshold, until), false))
}

// checkNotNegative refuses a negative bound of C<=t and I=t: Storm would read -1 as 2^64-1 steps.
func (a *decomposer) checkNotNegative(x *syntax.RewardPath) {
	if x.Bound == nil {
		return
	}
	switch v, err := a.constant(x.Bound); {
	case err != nil:
		a.fail(err)
	case v.Float < 0:
		a.fail(&result.Failure{Class: result.TypeError, Message: fmt.Sprintf("time bound %v is negative", v.Float), Pos: x.Pos()})
	}
}

// almostSure returns an operator that says whether a path formula holds almost surely, and a reward objective that has the value
// of the formula where it does.
func (a *decomposer) almostSure(w logic.Written, path syntax.Expr) (sure *syntax.Prob, until syntax.Expr, ok bool) {
	t := logic.TemporalOf(path)
	if t == nil || t.Bound != nil {
		return nil, nil, false
	}
	kind := a.in.program.Type
	if steps, y := countNext(t); steps > 0 {
		// Storm's probability of a sure step may be 0.9999…; that of an impossible one is 0.
		never := &syntax.Temporal{Op: syntax.Future, Y: not(&syntax.Paren{X: y}), Bound: exactly(steps), Span: t.Span}
		if steps == 1 {
			never.Op, never.Bound = syntax.Next, nil
		}
		sure = &syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpLe, Bound: &syntax.IntLit{}}, Path: never}
		// The schedulers of an MDP do worst if one of them misses the formula.
		ok = kind == syntax.DTMC || kind == syntax.MDP && w.Extremum == syntax.Max
		return sure, &syntax.RewardPath{Kind: syntax.Cumulative, Bound: &syntax.IntLit{Value: steps}}, ok && !syntax.IsPath(y)
	}
	sure = &syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpGe, Bound: &syntax.IntLit{Value: 1}}, Path: t}
	chain := kind == syntax.DTMC || kind == syntax.CTMC
	ok = chain && t.Op == syntax.Until && !syntax.IsPath(t.X) && !syntax.IsPath(t.Y)
	return sure, &syntax.Temporal{Op: syntax.Future, Y: t.Y}, ok
}

// pushNegation rewrites !(X a) as X !a.
func pushNegation(path syntax.Expr) syntax.Expr {
	if u, ok := path.(*syntax.Unary); ok && u.Op == syntax.OpNot {
		if t := logic.TemporalOf(u.X); t != nil && t.Op == syntax.Next && t.Bound == nil {
			return &syntax.Temporal{Op: syntax.Next, Y: &syntax.Paren{X: not(&syntax.Paren{X: t.Y})}, Span: t.Span}
		}
	}
	return path
}

// infiniteUnless returns an expression that is value where the condition holds, and infinite elsewhere.
func infiniteUnless(condition, value syntax.Expr) syntax.Expr {
	infinite := &syntax.Binary{Op: syntax.OpDiv, X: &syntax.IntLit{Value: 1}, Y: &syntax.IntLit{}}
	return &syntax.Paren{X: &syntax.Cond{C: &syntax.Paren{X: condition}, T: value, E: infinite}}
}
