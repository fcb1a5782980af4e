package bridge

import (
	"fmt"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// reward asks for an R operator. Storm knows rewards until F holds alone. Of the
// other formulas that PRISM takes, those that are satisfied after a known number
// of steps, or where the right side of an until first holds, are asked for in two
// parts: the value is infinite unless the formula is almost sure.
func (a *asker) reward(n *node, x *syntax.Reward) syntax.Expr {
	path := syntax.Unparen(x.Path)
	known, ok := path.(*syntax.RewardPath)
	if ok {
		a.notNegative(known)
	}
	if ok || x.Rel != syntax.OpNone {
		return a.leaf(n, x, x.Rel != syntax.OpNone)
	}
	if !syntax.IsPath(path) { // a state formula is satisfied at once, or never
		return unless(a.split(n, path), &syntax.DoubleLit{Text: "0.0"})
	}
	sure, until, ok := a.satisfied(x, pushed(path))
	if !ok {
		return a.leaf(n, x, false)
	}
	r := *x
	r.Path = until
	return unless(a.prob(n, sure), a.leaf(n, &r, false))
}

// notNegative looks at the bound of C<=t and I=t: of -1 steps Storm does 2^64-1.
func (a *asker) notNegative(x *syntax.RewardPath) {
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

// satisfied returns an operator that says that a path formula is almost sure, and
// the reward objective whose value is that of the formula where it is.
func (a *asker) satisfied(x *syntax.Reward, path syntax.Expr) (sure *syntax.Prob, until syntax.Expr, ok bool) {
	t, ok := path.(*syntax.Temporal)
	if !ok || t.Bound != nil {
		return nil, nil, false
	}
	kind := a.in.program.Type
	if steps, y := nexts(t); steps > 0 {
		// Storm's probability of a sure step may be 0.9999…; that of an impossible one is 0.
		never := &syntax.Temporal{Op: syntax.Future, Y: not(&syntax.Paren{X: y}), Bound: exactly(steps), Span: t.Span}
		if steps == 1 {
			never.Op, never.Bound = syntax.Next, nil
		}
		sure = &syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpLe, Bound: &syntax.IntLit{}}, Path: never}
		// The schedulers of an MDP do worst if one of them misses the formula.
		ok = kind == syntax.DTMC || kind == syntax.MDP && x.Extremum == syntax.Max
		return sure, &syntax.RewardPath{Kind: syntax.Cumulative, Bound: &syntax.IntLit{Value: steps}}, ok && !syntax.IsPath(y)
	}
	sure = &syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpGe, Bound: &syntax.IntLit{Value: 1}}, Path: t}
	chain := kind == syntax.DTMC || kind == syntax.CTMC
	ok = chain && t.Op == syntax.Until && !syntax.IsPath(t.X) && !syntax.IsPath(t.Y)
	return sure, &syntax.Temporal{Op: syntax.Future, Y: t.Y}, ok
}

// pushed writes !(X a) as X !a.
func pushed(path syntax.Expr) syntax.Expr {
	if u, ok := path.(*syntax.Unary); ok && u.Op == syntax.OpNot {
		if t, ok := syntax.Unparen(u.X).(*syntax.Temporal); ok && t.Op == syntax.Next && t.Bound == nil {
			return &syntax.Temporal{Op: syntax.Next, Y: &syntax.Paren{X: not(&syntax.Paren{X: t.Y})}, Span: t.Span}
		}
	}
	return path
}

// unless is a value where a condition holds, and infinite elsewhere.
func unless(condition, value syntax.Expr) syntax.Expr {
	infinite := &syntax.Binary{Op: syntax.OpDiv, X: &syntax.IntLit{Value: 1}, Y: &syntax.IntLit{}}
	return &syntax.Paren{X: &syntax.Cond{C: &syntax.Paren{X: condition}, T: value, E: infinite}}
}
