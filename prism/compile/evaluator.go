package compile

import "tilecheck/prism/sema"

// Evaluator evaluates one expression over states of one model: a label, a
// bound, any Bool, Int or Double expression. It is not safe for concurrent use.
type Evaluator interface {
	// Bool returns the value of a Bool expression.
	Bool(state []int32) (bool, error)
	// Num returns the value of an Int or Double expression, and 0 or 1 for a Bool.
	Num(state []int32) (float64, error)
}

type evaluator struct {
	m    *Model
	env  env
	bool boolFn
	num  numFn
}

// Evaluator compiles an expression over the model's variables and labels. It
// refuses path formulas and operators such as P with an *UnsupportedError.
func (m *Model) Evaluator(e sema.Expr) (Evaluator, error) {
	if e.Type() == sema.Bool {
		f, err := m.boolean(e)
		if err != nil {
			return nil, err
		}
		return &evaluator{m: m, bool: f, num: func(v *env) float64 { return indicator(f(v)) }}, nil
	}
	f, err := m.number(e)
	if err != nil {
		return nil, err
	}
	return &evaluator{m: m, bool: func(v *env) bool { return f(v) != 0 }, num: f}, nil
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (e *evaluator) Bool(state []int32) (bool, error) {
	e.env.state = state
	b := e.bool(&e.env)
	return b, e.failure()
}

func (e *evaluator) Num(state []int32) (float64, error) {
	e.env.state = state
	x := e.num(&e.env)
	return x, e.failure()
}

// failure avoids a non-nil error that holds a nil *StateError.
func (e *evaluator) failure() error {
	if err := e.m.takeError(&e.env); err != nil {
		return err
	}
	return nil
}
