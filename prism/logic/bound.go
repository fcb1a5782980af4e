package logic

import "tilecheck/prism/sema"

// Unbounded is the upper step bound of a formula that has none.
const Unbounded = -1

// Steps returns the first and the last step that a step bound allows; last is Unbounded if the bound
// has no upper side. The numbers of the bound must be ints. The caller must check that first <= last.
func Steps(b *sema.Bound) (first, last int, err error) {
	last = Unbounded
	if b.Low != nil {
		if first, err = Count(b.Low); err != nil {
			return 0, 0, err
		}
		if b.LowStrict {
			first++
		}
	}
	if b.High != nil {
		if last, err = Count(b.High); err != nil {
			return 0, 0, err
		}
		if b.HighStrict {
			last--
		}
	}
	return first, last, nil
}

// Count evaluates a constant expression that is a number of steps.
func Count(x sema.Expr) (int, error) {
	v, _, err := sema.EvalExact(x, nil)
	return int(v.Int), err
}
