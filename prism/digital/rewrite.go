package digital

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

func typeAndPos(typ sema.Type, at syntax.Pos) sema.Base { return sema.Base{ValueType: typ, Position: at} }

func trueAt(at syntax.Pos) sema.Expr {
	return &sema.Const{Base: typeAndPos(sema.Bool, at), Val: sema.BoolValue(true)}
}

func intAt(n int32, at syntax.Pos) sema.Expr {
	return &sema.Const{Base: typeAndPos(sema.Int, at), Val: sema.IntValue(n)}
}

func varAt(slot int, at syntax.Pos) sema.Expr {
	return &sema.Var{Base: typeAndPos(sema.Int, at), Slot: slot}
}

// rewrite replaces clocks in an expression by the variables of the MDP, and a time bound by a condition
// on the timer.
func (t *translation) rewrite(x sema.Expr) sema.Expr { return t.rewriteAt(x, false) }

// oneStepLater returns the condition that x holds after one more time step.
func (t *translation) oneStepLater(x sema.Expr) sema.Expr { return t.rewriteAt(x, true) }

// rewriteAt rewrites an expression for the current time or, if later is set, for the time after one
// more time step.
func (t *translation) rewriteAt(x sema.Expr, later bool) sema.Expr {
	switch x := x.(type) {
	case nil:
		return nil
	case *sema.Var:
		return t.clockReading(x, later)
	case *sema.Unary:
		return &sema.Unary{Base: x.Base, Op: x.Op, X: t.rewriteAt(x.X, later)}
	case *sema.Binary:
		return &sema.Binary{Base: x.Base, Op: x.Op, X: t.rewriteAt(x.X, later), Y: t.rewriteAt(x.Y, later)}
	case *sema.Cond:
		return &sema.Cond{Base: x.Base, Condition: t.rewriteAt(x.Condition, later), Then: t.rewriteAt(x.Then, later), Else: t.rewriteAt(x.Else, later)}
	case *sema.Call:
		result := &sema.Call{Base: x.Base, Func: x.Func}
		for _, a := range x.Args {
			result.Args = append(result.Args, t.rewriteAt(a, later))
		}
		return result
	case *sema.Prob:
		return &sema.Prob{Base: x.Base, Threshold: x.Threshold, Path: t.rewriteAt(x.Path, later)}
	case *sema.Reward:
		result := *x
		result.Path = t.rewriteAt(x.Path, later)
		return &result
	case *sema.Temporal:
		result := &sema.Temporal{Base: x.Base, Op: x.Op, X: t.rewriteAt(x.X, later), Y: t.rewriteAt(x.Y, later)}
		if x.Bound != nil {
			inTime := &sema.Binary{Base: typeAndPos(sema.Bool, x.Bound.At), Op: syntax.OpLe, X: varAt(t.timer, x.Bound.At), Y: intAt(int32(*t.deadline/t.unit), x.Bound.At)}
			result.Y = &sema.Binary{Base: typeAndPos(sema.Bool, x.Bound.At), Op: syntax.OpAnd, X: result.Y, Y: inTime}
		}
		return result
	}
	return x
}

// clockReading returns the time on a clock, in the numbers of the model; other variables are unchanged.
func (t *translation) clockReading(x *sema.Var, later bool) sema.Expr {
	if t.clocks[x.Slot] == nil {
		return x
	}
	pos := x.Position
	value := varAt(x.Slot, pos)
	if later {
		value = &sema.Binary{Base: typeAndPos(sema.Int, pos), Op: syntax.OpAdd, X: value, Y: intAt(1, pos)}
	}
	if t.unit > 1 {
		value = &sema.Binary{Base: typeAndPos(sema.Int, pos), Op: syntax.OpMul, X: value, Y: intAt(int32(t.unit), pos)}
	}
	return value
}
