package compile

import (
	"errors"
	"math"

	"tilecheck/prism/sema"
)

// exactly evaluates an expression in exact arithmetic, for expressions that float64 arithmetic may
// get wrong: see sema.FloatAnalysis.
func (m *Model) exactly(e sema.Expr) (func(*env) sema.Value, error) {
	e, err := m.unlabelled(e)
	return func(v *env) sema.Value {
		x, _, err := sema.EvalExact(e, v.state)
		if e, ok := errors.AsType[*sema.EvalError](err); ok && v.err == nil {
			v.err = &evalError{e.Pos, e.Msg, e.Undecided}
		}
		return x
	}, err
}

// careful returns a test for whether an expression must be evaluated exactly, and a function that
// does so.
func (m *maker) careful(e sema.Expr) (doubt boolFn, f func(*env) sema.Value, err error) {
	if doubt, err = m.doubt(e); err != nil {
		return nil, nil, err
	}
	f, err = m.exactly(e)
	return doubt, f, err
}

// doubt returns a test for whether float64 arithmetic may get an expression wrong in a state:
// whether the compared numbers, or a number and the nearest one that rounds differently, are
// within the error. Only expressions for which sema.FloatAnalysis.Decide is false need it.
func (m *maker) doubt(e sema.Expr) (boolFn, error) {
	slack, f, err := m.distance(e)
	return func(v *env) bool {
		before := v.err
		far := f(v) > slack
		failed := v.err != before
		if v.err = before; failed {
			v.since++ // a failed evaluation has no value to cache
		}
		return !far || failed
	}, err
}

// distance returns the float64 error of an expression that compares or rounds, and a function for
// the distance between its numbers. If the distance is at most the error, float64 arithmetic may
// be wrong.
func (m *maker) distance(e sema.Expr) (slack float64, f numFn, err error) {
	switch e := e.(type) {
	case *sema.Binary:
		x, y, err := pair(m.number, e.X, e.Y)
		return m.doubles.OperandError(e), func(v *env) float64 { return math.Abs(x(v) - y(v)) }, err
	case *sema.Call:
		x, err := m.number(e.Args[0])
		slack := m.doubles.OperandError(e)
		return slack, func(v *env) float64 {
			if a := x(v); e.Func.Round(a-slack) == e.Func.Round(a+slack) {
				return math.Inf(1)
			}
			return 0
		}, err
	}
	return math.Inf(1), func(*env) float64 { return 0 }, nil
}

// differs returns a test for whether the plain float64 value of an expression differs from the
// value that takes the error into account, which is exact here.
func (m *maker) differs(e sema.Expr) (boolFn, error) {
	slack := m.doubles.OperandError(e)
	switch e := e.(type) {
	case *sema.Binary:
		x, y, err := pair(m.number, e.X, e.Y)
		plain, equal := compareNumbers(e.Op, x, y), sema.Holds(e.Op, 0)
		return func(v *env) bool { return math.Abs(x(v)-y(v)) <= slack && plain(v) != equal }, err
	case *sema.Call:
		x, err := m.number(e.Args[0])
		by := shift(e, slack)
		return func(v *env) bool { a := x(v); return e.Func.Round(a) != e.Func.Round(a+by) }, err
	}
	return m.doubt(e)
}

// Doubtful returns a test for whether PRISM's float64 arithmetic may give an expression of type
// Bool or Int another value in a state than exact arithmetic; nil if it cannot in any state. It is
// not safe for concurrent use.
func (m *Model) Doubtful(e sema.Expr) (func(state []int32) bool, error) {
	e, err := m.unlabelled(e)
	if err != nil {
		return nil, err
	}
	var fs []boolFn
	for _, x := range m.doubles.Doubtful(e) {
		doubt := (*maker).doubt
		if m.doubles.ErrorDecides(x) {
			doubt = (*maker).differs
		}
		f, err := compiled(m, x, doubt)
		if err != nil {
			return nil, err
		}
		fs = append(fs, f)
	}
	if len(fs) == 0 {
		return nil, nil
	}
	v := &env{}
	return func(state []int32) bool {
		v.state = state
		for _, f := range fs {
			if f(v) {
				return true
			}
		}
		return false
	}, nil
}

// unlabelled replaces labels by their expressions.
func (m *Model) unlabelled(e sema.Expr) (sema.Expr, error) {
	var r sema.Rewriter
	r.Other = func(e sema.Expr) (sema.Expr, error) {
		l, ok := e.(*sema.Label)
		if !ok {
			return nil, m.refuse(e)
		}
		x, err := m.labelExpr(l)
		if err != nil {
			return nil, err
		}
		return r.Rewrite(x)
	}
	return r.Rewrite(e)
}
