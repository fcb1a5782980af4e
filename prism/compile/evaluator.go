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

// evaluator implements Evaluator with closures.
type evaluator struct {
	model *Model
	env   env
	bool  boolClosure
	float floatClosure
}

// Evaluator compiles an expression over the model's variables and labels. It returns an *UnsupportedError for path formulas and for
// operators such as P.
func (m *Model) Evaluator(expr sema.Expr) (Evaluator, error) {
	if expr.Type() == sema.Bool {
		condition, err := m.boolClosure(expr)
		if err != nil {
			return nil, err
		}
		return &evaluator{model: m, bool: condition, float: func(env *env) float64 { return boolToFloat(condition(env)) }}, nil
	}
	number, err := m.floatClosure(expr)
	if err != nil {
		return nil, err
	}
	return &evaluator{model: m, bool: func(env *env) bool { return number(env) != 0 }, float: number}, nil
}

// boolToFloat returns 1 for true and 0 for false.
func boolToFloat(value bool) float64 {
	if value {
		return 1
	}
	return 0
}

// Bool implements Evaluator.
func (e *evaluator) Bool(state []int32) (bool, error) {
	e.env.state = state
	value := e.bool(&e.env)
	return value, e.failure()
}

// Num implements Evaluator.
func (e *evaluator) Num(state []int32) (float64, error) {
	e.env.state = state
	number := e.float(&e.env)
	return number, e.failure()
}

// failure returns the error of the last evaluation. It converts a nil *StateError to a nil error.
func (e *evaluator) failure() error {
	if err := e.model.takeError(&e.env); err != nil {
		return err
	}
	return nil
}
