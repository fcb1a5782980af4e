package compile

import (
	"errors"
	"math"
	"slices"

	"tilecheck/prism/sema"
)

// exactClosure compiles an expression to a closure that evaluates it in exact arithmetic. The closure records the first error in env.err.
func (m *Model) exactClosure(expr sema.Expr) (func(*env) sema.Value, error) {
	withoutLabels, err := m.replaceLabels(expr)
	if err != nil {
		return nil, err
	}
	return func(env *env) sema.Value {
		value, _, err := sema.EvalExact(withoutLabels, env.state)
		evalErr, hasFailed := errors.AsType[*sema.EvalError](err)
		if hasFailed && env.err == nil {
			env.err = &evalError{evalErr.Pos, evalErr.Msg, evalErr.Undecided}
		}
		return value
	}, nil
}

// exactFallback returns two closures: mayBeWrong reports whether float64 arithmetic may give a wrong result, and exactValue evaluates the
// expression exactly.
func (c *exprCompiler) exactFallback(expr sema.Expr) (mayBeWrong boolClosure, exactValue func(*env) sema.Value, err error) {
	if mayBeWrong, err = c.mayBeWrong(expr); err != nil {
		return nil, nil, err
	}
	exactValue, err = c.exactClosure(expr)
	return mayBeWrong, exactValue, err
}

// mayBeWrong returns a closure that reports whether the evaluation of an expression in float64 arithmetic fails in a state, or may give a wrong
// result.
func (c *exprCompiler) mayBeWrong(expr sema.Expr) (boolClosure, error) {
	isCertain, err := c.isCertain(expr)
	if err != nil {
		return nil, err
	}
	return func(env *env) bool {
		errBefore := env.err
		isRight := isCertain(env)
		hasFailed := env.err != errBefore
		if hasFailed {
			env.err = errBefore // the exact evaluation reports the error
			env.evaluation++    // a failed evaluation has no value to cache
		}
		return hasFailed || !isRight
	}, nil
}

// isCertain returns a closure that reports whether rounding errors cannot change the result of a comparison or a rounding. A comparison is
// certain if the numbers differ by more than the error. A rounding is certain if all numbers within the error round to the same integer.
func (c *exprCompiler) isCertain(expr sema.Expr) (boolClosure, error) {
	switch expr := expr.(type) {
	case *sema.Binary:
		maxError := c.floatAnalysis.OperandError(expr)
		left, right, err := compilePair(c.floatClosure, expr.X, expr.Y)
		return func(env *env) bool { return math.Abs(left(env)-right(env)) > maxError }, err
	case *sema.Call:
		maxError := c.floatAnalysis.OperandError(expr)
		operand, err := c.floatClosure(expr.Args[0])
		return func(env *env) bool {
			value := operand(env)
			roundsToSame := expr.Func.Round(value-maxError) == expr.Func.Round(value+maxError)
			return roundsToSame && !math.IsInf(maxError, 1)
		}, err
	}
	return func(*env) bool { return false }, nil
}

// differsFromExact returns a closure that reports whether plain float64 arithmetic gives a wrong result of a comparison or a rounding in a state. It requires
// that exactly computed operands are equal (or an integer, for a rounding) whenever their float64 values are within the bound of the rounding error.
func (c *exprCompiler) differsFromExact(expr sema.Expr) (boolClosure, error) {
	maxError := c.floatAnalysis.OperandError(expr)
	switch expr := expr.(type) {
	case *sema.Binary:
		left, right, err := compilePair(c.floatClosure, expr.X, expr.Y)
		compare, ifEqual := compareNumbers(expr.Op, left, right), sema.Holds(expr.Op, 0)
		return func(env *env) bool {
			areEqual := math.Abs(left(env)-right(env)) <= maxError
			return areEqual && compare(env) != ifEqual
		}, err
	case *sema.Call:
		operand, err := c.floatClosure(expr.Args[0])
		shift := roundingShift(expr, maxError)
		return func(env *env) bool {
			value := operand(env)
			return expr.Func.Round(value) != expr.Func.Round(value+shift)
		}, err
	}
	return c.mayBeWrong(expr)
}

// Doubtful returns a function that reports whether PRISM's float64 arithmetic may give a wrong value in a state. The expression has the type
// Bool or Int. The result is nil if no state has a wrong value. The function is not safe for concurrent use.
func (m *Model) Doubtful(expr sema.Expr) (func(state []int32) bool, error) {
	expr, err := m.replaceLabels(expr)
	if err != nil {
		return nil, err
	}
	var doubtTests []boolClosure // for each doubtful sub-expression: whether its value may be wrong
	for _, subexpr := range m.floatAnalysis.Doubtful(expr) {
		compile := (*exprCompiler).mayBeWrong
		if m.floatAnalysis.IsExactWithError(subexpr) {
			compile = (*exprCompiler).differsFromExact
		}
		isDoubtful, err := compileExpr(m, subexpr, compile)
		if err != nil {
			return nil, err
		}
		doubtTests = append(doubtTests, isDoubtful)
	}
	if len(doubtTests) == 0 {
		return nil, nil
	}
	env := &env{} // shared by all calls
	return func(state []int32) bool {
		env.state = state
		return slices.ContainsFunc(doubtTests, func(isDoubtful boolClosure) bool { return isDoubtful(env) })
	}, nil
}

// replaceLabels returns an expression with each label replaced by its definition.
func (m *Model) replaceLabels(expr sema.Expr) (sema.Expr, error) {
	var rewriter sema.Rewriter
	rewriter.RewriteOther = func(expr sema.Expr) (sema.Expr, error) {
		label, ok := expr.(*sema.Label)
		if !ok {
			return nil, m.unsupportedExpr(expr)
		}
		definition, err := m.labelExpr(label)
		if err != nil {
			return nil, err
		}
		return rewriter.Rewrite(definition)
	}
	return rewriter.Rewrite(expr)
}
