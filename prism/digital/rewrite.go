package digital

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// typeAndPos returns the base of an expression with a type and a position.
func typeAndPos(typ sema.Type, pos syntax.Pos) sema.Base {
	return sema.Base{ValueType: typ, Position: pos}
}

// trueAt returns the constant true.
func trueAt(pos syntax.Pos) sema.Expr {
	return &sema.Const{Base: typeAndPos(sema.Bool, pos), Val: sema.BoolValue(true)}
}

// intAt returns an integer constant.
func intAt(n int32, pos syntax.Pos) sema.Expr {
	return &sema.Const{Base: typeAndPos(sema.Int, pos), Val: sema.IntValue(n)}
}

// varAt returns the integer variable in a slot.
func varAt(slot int, pos syntax.Pos) sema.Expr {
	return &sema.Var{Base: typeAndPos(sema.Int, pos), Slot: slot}
}

// rewrite replaces clocks in an expression by the variables of the MDP, and a time bound by a condition
// on the timer.
func (t *translation) rewrite(expr sema.Expr) sema.Expr { return t.rewriteAt(expr, false) }

// oneStepLater returns the condition that an expression holds after one more time step.
func (t *translation) oneStepLater(expr sema.Expr) sema.Expr { return t.rewriteAt(expr, true) }

// rewriteAt rewrites an expression for the current time or, if later is set, for the time after one
// more time step.
func (t *translation) rewriteAt(expr sema.Expr, later bool) sema.Expr {
	switch expr := expr.(type) {
	case nil:
		return nil
	case *sema.Var:
		return t.clockReading(expr, later)
	case *sema.Unary:
		return &sema.Unary{Base: expr.Base, Op: expr.Op, X: t.rewriteAt(expr.X, later)}
	case *sema.Binary:
		return &sema.Binary{Base: expr.Base, Op: expr.Op, X: t.rewriteAt(expr.X, later), Y: t.rewriteAt(expr.Y, later)}
	case *sema.Cond:
		return &sema.Cond{Base: expr.Base, Condition: t.rewriteAt(expr.Condition, later), Then: t.rewriteAt(expr.Then, later), Else: t.rewriteAt(expr.Else, later)}
	case *sema.Call:
		result := &sema.Call{Base: expr.Base, Func: expr.Func}
		for _, arg := range expr.Args {
			result.Args = append(result.Args, t.rewriteAt(arg, later))
		}
		return result
	case *sema.Prob:
		return &sema.Prob{Base: expr.Base, Threshold: expr.Threshold, Path: t.rewriteAt(expr.Path, later)}
	case *sema.Reward:
		result := *expr
		result.Path = t.rewriteAt(expr.Path, later)
		return &result
	case *sema.Temporal:
		result := &sema.Temporal{Base: expr.Base, Op: expr.Op, X: t.rewriteAt(expr.X, later), Y: t.rewriteAt(expr.Y, later)}
		if expr.Bound != nil {
			pos := expr.Bound.At
			result.Y = &sema.Binary{Base: typeAndPos(sema.Bool, pos), Op: syntax.OpAnd, X: result.Y, Y: t.beforeDeadline(pos)}
		}
		return result
	}
	return expr
}

// beforeDeadline returns the condition that the timer has not passed the deadline.
func (t *translation) beforeDeadline(pos syntax.Pos) sema.Expr {
	deadline := intAt(int32(*t.deadline/t.unit), pos)
	return &sema.Binary{Base: typeAndPos(sema.Bool, pos), Op: syntax.OpLe, X: varAt(t.timer, pos), Y: deadline}
}

// clockReading returns the time on a clock in the numbers of the model, now or, if later is set, after one more time step. Other
// variables are unchanged.
func (t *translation) clockReading(variable *sema.Var, later bool) sema.Expr {
	if t.clocks[variable.Slot] == nil {
		return variable
	}
	pos := variable.Position
	value := varAt(variable.Slot, pos)
	if later {
		value = &sema.Binary{Base: typeAndPos(sema.Int, pos), Op: syntax.OpAdd, X: value, Y: intAt(1, pos)}
	}
	if t.unit > 1 {
		value = &sema.Binary{Base: typeAndPos(sema.Int, pos), Op: syntax.OpMul, X: value, Y: intAt(int32(t.unit), pos)}
	}
	return value
}
