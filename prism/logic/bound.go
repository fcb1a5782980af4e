package logic

import "tilecheck/prism/sema"

// Unbounded is the upper step bound of a formula that has none.
const Unbounded = -1

// Steps returns the first and the last step that a step bound allows. last is Unbounded without an upper bound. The numbers must be ints.
// The caller must check that first <= last.
func Steps(bound *sema.Bound) (first, last int, err error) {
	last = Unbounded
	if bound.Low != nil {
		if first, err = Count(bound.Low); err != nil {
			return 0, 0, err
		}
	}
	if bound.Low != nil && bound.LowStrict {
		first++
	}
	if bound.High != nil {
		if last, err = Count(bound.High); err != nil {
			return 0, 0, err
		}
	}
	if bound.High != nil && bound.HighStrict {
		last--
	}
	return first, last, nil
}

// Count evaluates a constant expression for a number of steps.
func Count(expr sema.Expr) (int, error) {
	value, _, err := sema.EvalExact(expr, nil)
	return int(value.Int), err
}
