package digital

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

func typeAndPos(valueType sema.Type, pos syntax.Pos) sema.Base {
	return sema.Base{ValueType: valueType, Position: pos}
}

func trueAt(pos syntax.Pos) sema.Expr {
	return &sema.Const{Base: typeAndPos(sema.Bool, pos), Val: sema.BoolValue(true)}
}

func intAt(n int32, pos syntax.Pos) sema.Expr {
	return &sema.Const{Base: typeAndPos(sema.Int, pos), Val: sema.IntValue(n)}
}

func varAt(slot int, pos syntax.Pos) sema.Expr {
	return &sema.Var{Base: typeAndPos(sema.Int, pos), Slot: slot}
}

// compare returns the comparison x op y of two ints.
func compare(x sema.Expr, op syntax.Op, y sema.Expr) sema.Expr {
	return &sema.Binary{Base: typeAndPos(sema.Bool, x.Pos()), Op: op, X: x, Y: y}
}

func conjunction(x, y sema.Expr) sema.Expr {
	return &sema.Binary{Base: typeAndPos(sema.Bool, x.Pos()), Op: syntax.OpAnd, X: x, Y: y}
}

// disjunction returns the disjunction of at least one condition.
func disjunction(conditions []sema.Expr) sema.Expr {
	result := conditions[0]
	for _, condition := range conditions[1:] {
		result = &sema.Binary{Base: typeAndPos(sema.Bool, result.Pos()), Op: syntax.OpOr, X: result, Y: condition}
	}
	return result
}

func plus(x, y sema.Expr) sema.Expr {
	return &sema.Binary{Base: typeAndPos(sema.Int, x.Pos()), Op: syntax.OpAdd, X: x, Y: y}
}

func times(x sema.Expr, factor int64) sema.Expr {
	if factor == 1 {
		return x
	}
	return &sema.Binary{Base: typeAndPos(sema.Int, x.Pos()), Op: syntax.OpMul, X: x, Y: intAt(int32(factor), x.Pos())}
}

// conditional returns the int expression condition ? x : y.
func conditional(condition, x, y sema.Expr) sema.Expr {
	return &sema.Cond{Base: typeAndPos(sema.Int, condition.Pos()), Condition: condition, Then: x, Else: y}
}

// indicator returns an int expression that is 1 if a condition holds, and 0 if not.
func indicator(condition sema.Expr) sema.Expr {
	return conditional(condition, intAt(1, condition.Pos()), intAt(0, condition.Pos()))
}

func call(function sema.Func, args ...sema.Expr) sema.Expr {
	return &sema.Call{Base: typeAndPos(sema.Int, args[0].Pos()), Func: function, Args: args}
}

// rewrite replaces the clocks in an expression by integer variables, and a time bound by a condition on the timer.
func (t *translation) rewrite(expr sema.Expr) sema.Expr { return t.rewriteAt(expr, false) }

// oneStepLater returns the condition that an expression holds after one more time step.
func (t *translation) oneStepLater(expr sema.Expr) sema.Expr { return t.rewriteAt(expr, true) }

// rewriteAt translates an expression over clocks to one over the integers that replace them. If isLater is true, the expression refers to the
// values after one more time step.
func (t *translation) rewriteAt(expr sema.Expr, isLater bool) sema.Expr {
	switch expr := expr.(type) {
	case nil:
		return nil
	case *sema.Unary:
		return &sema.Unary{Base: expr.Base, Op: expr.Op, X: t.rewriteAt(expr.X, isLater)}
	case *sema.Binary:
		if _, isComparison := t.comparedClock(expr); isComparison {
			return t.rewriteConstraint(expr, isLater)
		}
		return &sema.Binary{Base: expr.Base, Op: expr.Op, X: t.rewriteAt(expr.X, isLater), Y: t.rewriteAt(expr.Y, isLater)}
	case *sema.Cond:
		return &sema.Cond{Base: expr.Base, Condition: t.rewriteAt(expr.Condition, isLater), Then: t.rewriteAt(expr.Then, isLater), Else: t.rewriteAt(expr.Else, isLater)}
	case *sema.Call:
		result := &sema.Call{Base: expr.Base, Func: expr.Func, Array: expr.Array}
		for _, arg := range expr.Args {
			result.Args = append(result.Args, t.rewriteAt(arg, isLater))
		}
		return result
	case *sema.Prob:
		return &sema.Prob{Base: expr.Base, Threshold: expr.Threshold, Path: t.rewriteAt(expr.Path, isLater)}
	case *sema.Quant:
		return &sema.Quant{Base: expr.Base, All: expr.All, Path: t.rewriteAt(expr.Path, isLater)}
	case *sema.Filter:
		return &sema.Filter{Base: expr.Base, Op: expr.Op, X: t.rewriteAt(expr.X, isLater), States: t.rewriteAt(expr.States, isLater)}
	case *sema.Reward:
		result := *expr
		result.Path = t.rewriteAt(expr.Path, isLater)
		return &result
	case *sema.Temporal:
		result := &sema.Temporal{Base: expr.Base, Op: expr.Op, X: t.rewriteAt(expr.X, isLater), Y: t.rewriteAt(expr.Y, isLater)}
		if expr.Bound != nil {
			result.Y = t.withTimeBound(expr, result.Y)
		}
		return result
	}
	return expr
}

// withTimeBound expresses the time bound of a temporal operator by its right operand: F<=T b becomes F (b & timer<=T), and G<=T b becomes G
// (timer>T | b).
func (t *translation) withTimeBound(expr *sema.Temporal, right sema.Expr) sema.Expr {
	within, after := syntax.OpLe, syntax.OpGt
	if expr.Bound.IsHighStrict {
		within, after = syntax.OpLt, syntax.OpGe
	}
	pos := expr.Bound.Pos
	timer, deadline := varAt(t.timer, pos), intAt(t.inSteps(*t.deadline), pos)
	if expr.Op == syntax.Globally {
		return disjunction([]sema.Expr{compare(timer, after, deadline), right})
	}
	return conjunction(right, compare(timer, within, deadline))
}

// rewriteConstraint translates a comparison of a clock with a number or with another clock.
func (t *translation) rewriteConstraint(constraint *sema.Binary, isLater bool) sema.Expr {
	if pair := t.pairOf(constraint); pair != nil {
		return t.comparePair(constraint, pair) // time does not change the difference of two clocks
	}
	result := *constraint
	result.X, result.Y = t.constraintOperand(constraint.X, isLater), t.constraintOperand(constraint.Y, isLater)
	return &result
}

// constraintOperand translates an operand of a clock constraint. Both operands are multiplied by the same constant, which avoids fractions of
// time steps.
func (t *translation) constraintOperand(expr sema.Expr, isLater bool) sema.Expr {
	variable, isVariable := expr.(*sema.Var)
	switch {
	case !isVariable || t.clocks[variable.Slot] == nil:
		if t.forRegions {
			return times(t.rewrite(expr), 2)
		}
		return t.rewrite(expr)
	case isLater:
		return times(t.valueAfterStep(variable.Slot, variable.Position), t.timeUnit)
	}
	return times(varAt(variable.Slot, variable.Position), t.timeUnit)
}
