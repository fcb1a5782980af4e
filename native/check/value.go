package check

import (
	"math"
	"math/big"

	"tilecheck/internal/interval"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/result"
)

// truth is the truth value of a state formula in every state: true in yes, false in no, and unknown in the other states.
type truth struct{ yes, no *sparse.Set }

// decidedTruth returns a truth value that is true in a set of states and false in all others.
func decidedTruth(yes *sparse.Set) truth { return truth{yes, yes.Complement()} }

func (t truth) not() truth { return truth{t.no, t.yes} }

func (t truth) and(u truth) truth { return truth{t.yes.Intersect(u.yes), t.no.Union(u.no)} }

func (t truth) or(u truth) truth { return t.not().and(u.not()).not() }

func (t truth) iff(u truth) truth { return t.and(u).or(t.not().and(u.not())) }

// unknown returns the states in which the value is unknown.
func (t truth) unknown() *sparse.Set { return t.yes.Union(t.no).Complement() }

// number is a numeric value in one state. Both bounds of NaN are NaN, and both bounds of infinity are infinite. If only one bound is
// infinite, the value is finite or infinite.
type number struct {
	interval.Number
	// aboveLo says that the value is greater than Lo, and belowHi that it is less than Hi.
	aboveLo, belowHi bool
}

// between returns a number with the given bounds.
func between(lower, upper float64) number {
	return number{Number: interval.Number{Interval: interval.Interval{Lo: lower, Hi: upper}}}
}

// point returns a number that is exactly a float64 number.
func point(value float64) number { return between(value, value) }

// fraction returns an exact number.
func fraction(r *big.Rat) number { return number{Number: interval.Fraction(r)} }

// isPoint reports whether the bounds are equal, so that the value is a float64 number.
func (value number) isPoint() bool { return value.Lo == value.Hi || value.isNaN() }

func (value number) isNaN() bool { return value.Lo != value.Lo }

// isInfinite reports whether the value is known to be infinite.
func (value number) isInfinite() bool { return value.Lo == value.Hi && math.IsInf(value.Lo, 0) }

// isAboveLo reports whether the value is known to be greater than Lo.
func (value number) isAboveLo() bool {
	return value.aboveLo || math.IsInf(value.Lo, -1) && !value.isPoint()
}

// isBelowHi reports whether the value is known to be less than Hi.
func (value number) isBelowHi() bool {
	return value.belowHi || math.IsInf(value.Hi, 1) && !value.isPoint()
}

// numbers are the values of a numeric formula in every state. exact is nil unless the values are exact; then a nil entry is
// infinite or NaN.
type numbers struct {
	lo, hi   []float64
	exact    []*big.Rat
	accuracy result.Accuracy
	// prob says that the values are probabilities, and that the values 0 and 1 have equal bounds.
	prob bool
	// openEnds says for each value whether it is known to be greater than lo, and whether it is known to be less than hi. It is nil
	// if this is not known for any value.
	openEnds [][2]bool
}

// newNumbers returns count zeros with the given accuracy, without fractions.
func newNumbers(count int, accuracy result.Accuracy) *numbers {
	return &numbers{lo: make([]float64, count), hi: make([]float64, count), accuracy: accuracy}
}

// at returns the value in state s with its bounds. aboveLo and belowHi of the result say whether the value is known to differ from a bound.
func (v *numbers) at(s int) number {
	value := between(v.lo[s], v.hi[s])
	if v.prob && value.Lo < value.Hi {
		value.aboveLo, value.belowHi = value.Lo == 0, value.Hi == 1
	}
	if v.openEnds != nil {
		value.aboveLo, value.belowHi = v.openEnds[s][0], v.openEnds[s][1]
	}
	if v.exact != nil {
		value.Exact = v.exact[s]
	}
	return value
}

// put sets the value in state s.
func (v *numbers) put(s int, value number) {
	v.lo[s], v.hi[s] = value.Lo, value.Hi
	hasOpenEnd := value.aboveLo || value.belowHi
	if hasOpenEnd && v.openEnds == nil {
		v.openEnds = make([][2]bool, len(v.lo))
	}
	if v.openEnds != nil {
		v.openEnds[s] = [2]bool{value.aboveLo, value.belowHi}
	}
	if v.exact != nil {
		v.exact[s] = value.Exact
	}
}

// numbersOf converts values of package solve to numbers.
func numbersOf(values *solve.Values) *numbers {
	if values.Exact == nil {
		bounds := &numbers{lo: values.Lower, hi: values.Upper, accuracy: result.Bounded}
		if values.Estimated {
			bounds.accuracy = result.Estimated
		}
		return bounds
	}
	fractions := newNumbers(len(values.Exact), result.Exact)
	fractions.exact = values.Exact
	for s := range values.Exact {
		nearest := values.Number(s)
		fractions.lo[s], fractions.hi[s] = nearest.Lo, nearest.Hi
	}
	return fractions
}

// newValues returns zeros for all states, with room for fractions if the evaluation computes fractions.
func (e *evaluation) newValues(accuracy result.Accuracy) *numbers {
	values := newNumbers(e.space.Model().NumStates(), accuracy)
	if e.exact {
		values.exact = make([]*big.Rat, len(values.lo))
	}
	return values
}

// like returns count zeros with the accuracy of v, with room for fractions if v has fractions.
func (v *numbers) like(count int) *numbers {
	zeros := newNumbers(count, v.accuracy)
	if v.exact != nil {
		zeros.exact = make([]*big.Rat, count)
	}
	return zeros
}

// constant returns the same number for all states.
func (e *evaluation) constant(value number, accuracy result.Accuracy) *numbers {
	values := e.newValues(accuracy)
	for s := range values.lo {
		values.put(s, value)
	}
	return values
}
