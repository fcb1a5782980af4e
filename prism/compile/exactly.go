package compile

import (
	"errors"
	"math"

	"tilecheck/prism/sema"
)

// exactly evaluates an expression as its text says, for what doubles may get
// wrong: see sema.FloatAnalysis.
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

// careful returns when to evaluate an expression exactly, and how.
func (m *maker) careful(e sema.Expr) (doubt boolFn, f func(*env) sema.Value, err error) {
	if doubt, err = m.doubt(e); err != nil {
		return nil, nil, err
	}
	f, err = m.exactly(e)
	return doubt, f, err
}

// doubt returns what tells whether doubles may get an expression wrong in a
// state that sema.FloatAnalysis.Decide denies in some: whether the numbers that are
// compared, or a number and one that is rounded otherwise, are as close as what
// doubles are off by.
func (m *maker) doubt(e sema.Expr) (boolFn, error) {
	slack, f, err := m.distance(e)
	return func(v *env) bool {
		before := v.err
		far := f(v) > slack
		failed := v.err != before
		if v.err = before; failed {
			v.since++ // what failed has no value to be kept
		}
		return !far || failed
	}, err
}

// distance returns how far doubles are off in an expression that compares or
// rounds, and what they have between the numbers, which is not above that where
// they may be wrong.
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

// differs returns what tells whether doubles alone give an expression another
// value than with Slack, which decides it.
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

// Doubtful returns what tells whether double arithmetic, as PRISM has it, may
// give an expression of type Bool or Int another value in a state than its text
// has; nil if it does in none. It is not safe for concurrent use.
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

// unlabelled replaces labels by what they stand for.
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
