package compile

import (
	"errors"
	"math"

	"tilecheck/prism/sema"
)

// exactClosure compiles an expression to a closure that evaluates it in exact arithmetic. It is for expressions for which float64
// arithmetic may give a wrong result; see sema.FloatAnalysis.
func (m *Model) exactClosure(e sema.Expr) (func(*env) sema.Value, error) {
	e, err := m.replaceLabels(e)
	return func(env *env) sema.Value {
		x, _, err := sema.EvalExact(e, env.state)
		if e, ok := errors.AsType[*sema.EvalError](err); ok && env.err == nil {
			env.err = &evalError{e.Pos, e.Msg, e.Undecided}
		}
		return x
	}, err
}

// exactFallback returns a closure that reports whether float64 arithmetic may give a wrong result in a state, and a closure that
// evaluates the expression exactly.
func (m *exprCompiler) exactFallback(e sema.Expr) (mayBeWrong boolClosure, f func(*env) sema.Value, err error) {
	if mayBeWrong, err = m.mayBeWrong(e); err != nil {
		return nil, nil, err
	}
	f, err = m.exactClosure(e)
	return mayBeWrong, f, err
}

// mayBeWrong returns a closure that reports whether float64 arithmetic may give a wrong result for an expression in a state. That
// is the case if the numbers that it compares differ by at most the rounding error, or if the number that it rounds is within the
// error of one that rounds differently. Only expressions for which sema.FloatAnalysis.Decide is false need it.
func (m *exprCompiler) mayBeWrong(e sema.Expr) (boolClosure, error) {
	slack, f, err := m.distance(e)
	return func(env *env) bool {
		before := env.err
		far := f(env) > slack
		failed := env.err != before
		if env.err = before; failed {
			env.evaluation++ // a failed evaluation has no value to cache
		}
		return !far || failed
	}, err
}

// distance returns a bound on the rounding error of an expression that compares or rounds, and a closure for the distance between
// its numbers. If the distance is at most the error, float64 arithmetic may give a wrong result.
func (m *exprCompiler) distance(e sema.Expr) (slack float64, f floatClosure, err error) {
	switch e := e.(type) {
	case *sema.Binary:
		x, y, err := pair(m.floatClosure, e.X, e.Y)
		return m.floats.OperandError(e), func(env *env) float64 { return math.Abs(x(env) - y(env)) }, err
	case *sema.Call:
		x, err := m.floatClosure(e.Args[0])
		slack := m.floats.OperandError(e)
		return slack, func(env *env) float64 {
			if a := x(env); e.Func.Round(a-slack) == e.Func.Round(a+slack) {
				return math.Inf(1)
			}
			return 0
		}, err
	}
	return math.Inf(1), func(*env) float64 { return 0 }, nil
}

// differsFromExact returns a closure that reports whether the plain float64 value of an expression differs from its exact value. For
// these expressions, the value that takes the error bound into account is exact.
func (m *exprCompiler) differsFromExact(e sema.Expr) (boolClosure, error) {
	slack := m.floats.OperandError(e)
	switch e := e.(type) {
	case *sema.Binary:
		x, y, err := pair(m.floatClosure, e.X, e.Y)
		plain, equal := compareNumbers(e.Op, x, y), sema.Holds(e.Op, 0)
		return func(env *env) bool { return math.Abs(x(env)-y(env)) <= slack && plain(env) != equal }, err
	case *sema.Call:
		x, err := m.floatClosure(e.Args[0])
		offset := roundingShift(e, slack)
		return func(env *env) bool { a := x(env); return e.Func.Round(a) != e.Func.Round(a+offset) }, err
	}
	return m.mayBeWrong(e)
}

// Doubtful returns a function that reports for a state whether PRISM's float64 arithmetic may give an expression of type Bool or Int
// another value than exact arithmetic. It returns nil if that happens in no state. The function is not safe for concurrent use.
func (m *Model) Doubtful(e sema.Expr) (func(state []int32) bool, error) {
	e, err := m.replaceLabels(e)
	if err != nil {
		return nil, err
	}
	var fs []boolClosure
	for _, x := range m.floats.Doubtful(e) {
		doubt := (*exprCompiler).mayBeWrong
		if m.floats.ErrorDecides(x) {
			doubt = (*exprCompiler).differsFromExact
		}
		f, err := compileExpr(m, x, doubt)
		if err != nil {
			return nil, err
		}
		fs = append(fs, f)
	}
	if len(fs) == 0 {
		return nil, nil
	}
	env := &env{}
	return func(state []int32) bool {
		env.state = state
		for _, f := range fs {
			if f(env) {
				return true
			}
		}
		return false
	}, nil
}

// replaceLabels returns the expression with each label replaced by the expression that it stands for.
func (m *Model) replaceLabels(e sema.Expr) (sema.Expr, error) {
	var r sema.Rewriter
	r.Other = func(e sema.Expr) (sema.Expr, error) {
		label, ok := e.(*sema.Label)
		if !ok {
			return nil, m.unsupportedExpr(e)
		}
		x, err := m.labelExpr(label)
		if err != nil {
			return nil, err
		}
		return r.Rewrite(x)
	}
	return r.Rewrite(e)
}
