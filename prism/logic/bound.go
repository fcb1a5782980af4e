package logic

import "tilecheck/prism/sema"

// Unbounded is the upper step bound of a formula that has none.
const Unbounded = -1

// Steps returns the first and the last step that a step bound allows. last is Unbounded if there is no upper bound. It returns an error if a
// limit is not an int. The caller must check that first <= last.
func Steps(bound *sema.Bound) (first, last int, err error) {
	first, last = 0, Unbounded
	if bound.Low != nil {
		first, err = Count(bound.Low)
	}
	if bound.Low != nil && bound.IsLowStrict {
		first++
	}
	if bound.High != nil && err == nil {
		last, err = Count(bound.High)
	}
	if bound.High != nil && bound.IsHighStrict {
		last--
	}
	if err != nil {
		return 0, 0, err
	}
	return first, last, nil
}

// Count evaluates a constant expression for a number of steps.
func Count(expr sema.Expr) (int, error) {
	value, _, err := sema.EvalExact(expr, nil)
	return int(value.Int), err
}
