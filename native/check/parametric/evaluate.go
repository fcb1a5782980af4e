package parametric

import (
	"fmt"

	"tilecheck/native/solve/ratfunc"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// evaluator evaluates expressions with parameters in a state.
type evaluator struct {
	ring            *ratfunc.Ring
	paramIndex      map[string]int     // the variable of the ring for each parameter
	parametricExprs map[sema.Expr]bool // whether each expression seen so far contains a parameter
}

// evalError returns an error at the position of an expression.
func evalError(expr sema.Expr, format string, args ...any) error {
	return &sema.EvalError{Pos: expr.Pos(), Msg: fmt.Sprintf(format, args...)}
}

// evaluate returns the value of a probability, rate or reward in a state, as a rational function of the parameters. A nil expression has the value
// 1.
func (evaluator *evaluator) evaluate(expr sema.Expr, state []int32) (*ratfunc.Func, error) {
	if expr == nil {
		return evaluator.ring.Integer(1), nil
	}
	if !evaluator.isParametric(expr) {
		return evaluator.evaluateConstant(expr, state)
	}
	switch expr := expr.(type) {
	case *sema.Param:
		return evaluator.ring.Parameter(evaluator.paramIndex[expr.Name]), nil
	case *sema.Unary:
		function, err := evaluator.evaluate(expr.X, state)
		if err != nil {
			return nil, err
		}
		return function.Neg(), nil
	case *sema.Binary:
		return evaluator.evaluateBinary(expr, state)
	case *sema.Cond:
		return evaluator.evaluateConditional(expr, state)
	case *sema.Call:
		if expr.Func == sema.FuncPow {
			return evaluator.evaluatePower(expr.Args[0], expr.Args[1], state)
		}
		return nil, evalError(expr, "found %s of a parameter, which is no rational function; want + - * / and powers with whole exponents", expr.Func)
	}
	return nil, evalError(expr, "found an operator on parameters that is no rational function")
}

// evaluateConstant evaluates an expression without parameters in a state, as a constant function.
func (evaluator *evaluator) evaluateConstant(expr sema.Expr, state []int32) (*ratfunc.Func, error) {
	value, isExact, err := sema.EvalExact(expr, state)
	switch {
	case err != nil:
		return nil, err
	case !isExact:
		return nil, evalError(expr, "found %v, which is no fraction, in a model with parameters", value)
	}
	return evaluator.ring.Number(value.Rat), nil
}

// isParametric reports whether a parameter occurs in an expression. It caches the results.
func (evaluator *evaluator) isParametric(expr sema.Expr) bool {
	isParametric, isCached := evaluator.parametricExprs[expr]
	if !isCached {
		isParametric = sema.HasParameters(expr)
		evaluator.parametricExprs[expr] = isParametric
	}
	return isParametric
}

// evaluateConditional evaluates `condition ? then : else` in a state. The condition must not contain a parameter.
func (evaluator *evaluator) evaluateConditional(expr *sema.Cond, state []int32) (*ratfunc.Func, error) {
	if sema.HasParameters(expr.Condition) {
		return nil, evalError(expr.Condition, "found a condition on parameters, want one on variables")
	}
	condition, _, err := sema.EvalExact(expr.Condition, state)
	if err != nil {
		return nil, err
	}
	if condition.Bool {
		return evaluator.evaluate(expr.Then, state)
	}
	return evaluator.evaluate(expr.Else, state)
}

// evaluateBinary evaluates x+y, x-y, x*y, x/y or x^y in a state, as a rational function of the parameters.
func (evaluator *evaluator) evaluateBinary(expr *sema.Binary, state []int32) (*ratfunc.Func, error) {
	if expr.Op == syntax.OpPow {
		return evaluator.evaluatePower(expr.X, expr.Y, state)
	}
	left, err := evaluator.evaluate(expr.X, state)
	if err != nil {
		return nil, err
	}
	right, err := evaluator.evaluate(expr.Y, state)
	if err != nil {
		return nil, err
	}
	switch expr.Op {
	case syntax.OpAdd:
		return left.Add(right), nil
	case syntax.OpSub:
		return left.Sub(right), nil
	case syntax.OpMul:
		return left.Mul(right), nil
	case syntax.OpDiv:
		if right.IsZero() {
			return nil, evalError(expr.Y, "division by zero")
		}
		return left.Quo(right), nil
	}
	return nil, evalError(expr, "found %s on parameters, want +, -, *, / or ^, which give a rational function", expr.Op)
}

// evaluatePower evaluates base^exponent in a state, as a rational function of the parameters. The exponent must be an integer that does not depend on
// parameters.
func (evaluator *evaluator) evaluatePower(base, exponent sema.Expr, state []int32) (*ratfunc.Func, error) {
	left, err := evaluator.evaluate(base, state)
	if err != nil {
		return nil, err
	}
	right, err := evaluator.evaluate(exponent, state)
	if err != nil {
		return nil, err
	}
	number, isConstant := right.Constant()
	if !isConstant || !number.IsInt() || !number.Num().IsInt64() {
		return nil, evalError(exponent, "found the exponent %s, want an integer", right)
	}
	if number.Sign() < 0 && left.IsZero() {
		return nil, evalError(base, "division by zero")
	}
	power, isSmallEnough := left.Pow(int(number.Num().Int64()))
	if !isSmallEnough {
		return nil, evalError(exponent, "the exponent %s is too large", right)
	}
	return power, nil
}
