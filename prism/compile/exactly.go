package compile

import (
	"errors"
	"math"
	"slices"

	"tilecheck/prism/sema"
)

// exactClosure compiles an expression to a closure that evaluates it in exact arithmetic. It is for expressions for which float64
// arithmetic may give a wrong result; see sema.FloatAnalysis.
func (m *Model) exactClosure(expr sema.Expr) (func(*env) sema.Value, error) {
	withoutLabels, err := m.replaceLabels(expr)
	if err != nil {
		return nil, err
	}
	return func(env *env) sema.Value {
		value, _, err := sema.EvalExact(withoutLabels, env.state)
		if failure, ok := errors.AsType[*sema.EvalError](err); ok && env.err == nil {
			env.err = &evalError{failure.Pos, failure.Msg, failure.Undecided}
		}
		return value
	}, nil
}

// exactFallback returns a closure that reports whether float64 arithmetic may give a wrong result in a state, and a closure that
// evaluates the expression exactly.
func (c *exprCompiler) exactFallback(expr sema.Expr) (mayBeWrong boolClosure, exactValue func(*env) sema.Value, err error) {
	if mayBeWrong, err = c.mayBeWrong(expr); err != nil {
		return nil, nil, err
	}
	exactValue, err = c.exactClosure(expr)
	return mayBeWrong, exactValue, err
}

// mayBeWrong returns a closure that reports whether float64 arithmetic may give a wrong result for an expression in a state, because
// of a rounding error or because the evaluation fails. Only expressions for which sema.FloatAnalysis.Decide is false need it.
func (c *exprCompiler) mayBeWrong(expr sema.Expr) (boolClosure, error) {
	isCertain, err := c.isCertain(expr)
	if err != nil {
		return nil, err
	}
	return func(env *env) bool {
		earlierErr := env.err
		certain := isCertain(env)
		if env.err == earlierErr {
			return !certain
		}
		env.err = earlierErr // the exact evaluation reports the error
		env.evaluation++     // a failed evaluation has no value to cache
		return true
	}, nil
}

// isCertain returns a closure that reports whether a rounding error cannot change the result of a comparison or a rounding. A
// comparison is certain if the numbers differ by more than the error. floor, ceil and round are certain if all numbers within the
// error round to the same integer.
func (c *exprCompiler) isCertain(expr sema.Expr) (boolClosure, error) {
	switch expr := expr.(type) {
	case *sema.Binary:
		maxError := c.floats.OperandError(expr)
		left, right, err := compilePair(c.floatClosure, expr.X, expr.Y)
		return func(env *env) bool { return math.Abs(left(env)-right(env)) > maxError }, err
	case *sema.Call:
		maxError := c.floats.OperandError(expr)
		operand, err := c.floatClosure(expr.Args[0])
		return func(env *env) bool {
			value := operand(env)
			roundsToSame := expr.Func.Round(value-maxError) == expr.Func.Round(value+maxError)
			return roundsToSame && !math.IsInf(maxError, 1)
		}, err
	}
	return func(*env) bool { return false }, nil
}

// differsFromExact returns a closure that reports whether plain float64 arithmetic gives an expression another value than exact
// arithmetic. It is for expressions for which sema.FloatAnalysis.ErrorDecides is true: two numbers that differ by at most the error
// bound are equal.
func (c *exprCompiler) differsFromExact(expr sema.Expr) (boolClosure, error) {
	maxError := c.floats.OperandError(expr)
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

// Doubtful returns a function that reports for a state whether PRISM's float64 arithmetic may give an expression of type Bool or Int
// another value than exact arithmetic. It returns nil if that happens in no state. The function is not safe for concurrent use.
func (m *Model) Doubtful(expr sema.Expr) (func(state []int32) bool, error) {
	expr, err := m.replaceLabels(expr)
	if err != nil {
		return nil, err
	}
	var doubts []boolClosure // whether a part of the expression is doubtful
	for _, part := range m.floats.Doubtful(expr) {
		compile := (*exprCompiler).mayBeWrong
		if m.floats.ErrorDecides(part) {
			compile = (*exprCompiler).differsFromExact
		}
		doubt, err := compileExpr(m, part, compile)
		if err != nil {
			return nil, err
		}
		doubts = append(doubts, doubt)
	}
	if len(doubts) == 0 {
		return nil, nil
	}
	env := &env{}
	return func(state []int32) bool {
		env.state = state
		return slices.ContainsFunc(doubts, func(doubt boolClosure) bool { return doubt(env) })
	}, nil
}

// replaceLabels returns the expression with each label replaced by the expression that it stands for.
func (m *Model) replaceLabels(expr sema.Expr) (sema.Expr, error) {
	var rewriter sema.Rewriter
	rewriter.Other = func(expr sema.Expr) (sema.Expr, error) {
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
