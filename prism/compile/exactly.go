package compile

import (
	"errors"
	"math"

	"tilecheck/prism/sema"
)

// exactClosure compiles an expression to a closure that evaluates it in exact arithmetic. It is for expressions for which float64
// arithmetic may give a wrong result; see sema.FloatAnalysis.
func (m *Model) exactClosure(expr sema.Expr) (func(*env) sema.Value, error) {
	expr, err := m.replaceLabels(expr)
	return func(env *env) sema.Value {
		value, _, err := sema.EvalExact(expr, env.state)
		if failure, ok := errors.AsType[*sema.EvalError](err); ok && env.err == nil {
			env.err = &evalError{failure.Pos, failure.Msg, failure.Undecided}
		}
		return value
	}, err
}

// exactFallback returns a closure that reports whether float64 arithmetic may give a wrong result in a state, and a closure that
// evaluates the expression exactly.
func (m *exprCompiler) exactFallback(expr sema.Expr) (mayBeWrong boolClosure, exactValue func(*env) sema.Value, err error) {
	if mayBeWrong, err = m.mayBeWrong(expr); err != nil {
		return nil, nil, err
	}
	exactValue, err = m.exactClosure(expr)
	return mayBeWrong, exactValue, err
}

// mayBeWrong returns a closure that reports whether float64 arithmetic may give a wrong result for an expression in a state. That
// is the case if the numbers that it compares differ by at most the rounding error, or if the number that it rounds is within the
// error of one that rounds differently. Only expressions for which sema.FloatAnalysis.Decide is false need it.
func (m *exprCompiler) mayBeWrong(expr sema.Expr) (boolClosure, error) {
	slack, distance, err := m.distance(expr)
	return func(env *env) bool {
		before := env.err
		farApart := distance(env) > slack
		failed := env.err != before
		if failed {
			env.err = before // the exact evaluation reports the error
			env.evaluation++ // a failed evaluation has no value to cache
		}
		return failed || !farApart
	}, err
}

// distance returns a bound on the rounding error of an expression that compares two numbers or rounds one, and a closure that returns
// how far the numbers are apart. float64 arithmetic may give a wrong result if this is at most the bound. For rounding the closure
// returns 0 if the error can change the result, otherwise infinity.
func (m *exprCompiler) distance(expr sema.Expr) (slack float64, distanceOf floatClosure, err error) {
	switch expr := expr.(type) {
	case *sema.Binary:
		left, right, err := pair(m.floatClosure, expr.X, expr.Y)
		return m.floats.OperandError(expr), func(env *env) float64 { return math.Abs(left(env) - right(env)) }, err
	case *sema.Call:
		argument, err := m.floatClosure(expr.Args[0])
		slack := m.floats.OperandError(expr)
		return slack, func(env *env) float64 {
			if value := argument(env); expr.Func.Round(value-slack) == expr.Func.Round(value+slack) {
				return math.Inf(1)
			}
			return 0
		}, err
	}
	return math.Inf(1), func(*env) float64 { return 0 }, nil
}

// differsFromExact returns a closure that reports whether plain float64 arithmetic gives an expression another value than exact
// arithmetic. It is for expressions for which sema.FloatAnalysis.ErrorDecides is true: two numbers that differ by at most the error
// bound are equal.
func (m *exprCompiler) differsFromExact(expr sema.Expr) (boolClosure, error) {
	slack := m.floats.OperandError(expr)
	switch expr := expr.(type) {
	case *sema.Binary:
		left, right, err := pair(m.floatClosure, expr.X, expr.Y)
		plain, equal := compareNumbers(expr.Op, left, right), sema.Holds(expr.Op, 0)
		return func(env *env) bool { return math.Abs(left(env)-right(env)) <= slack && plain(env) != equal }, err
	case *sema.Call:
		argument, err := m.floatClosure(expr.Args[0])
		offset := roundingShift(expr, slack)
		return func(env *env) bool {
			value := argument(env)
			return expr.Func.Round(value) != expr.Func.Round(value+offset)
		}, err
	}
	return m.mayBeWrong(expr)
}

// Doubtful returns a function that reports for a state whether PRISM's float64 arithmetic may give an expression of type Bool or Int
// another value than exact arithmetic. It returns nil if that happens in no state. The function is not safe for concurrent use.
func (m *Model) Doubtful(expr sema.Expr) (func(state []int32) bool, error) {
	expr, err := m.replaceLabels(expr)
	if err != nil {
		return nil, err
	}
	var doubts []boolClosure
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
		for _, doubt := range doubts {
			if doubt(env) {
				return true
			}
		}
		return false
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
