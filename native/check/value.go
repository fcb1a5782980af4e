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
type truth struct{ trueStates, falseStates *sparse.Set }

// decidedTruth returns a truth value that is true in a set of states and false in all others.
func decidedTruth(yes *sparse.Set) truth { return truth{yes, yes.Complement()} }

func (t truth) not() truth { return truth{t.falseStates, t.trueStates} }

func (t truth) and(u truth) truth {
	return truth{t.trueStates.Intersect(u.trueStates), t.falseStates.Union(u.falseStates)}
}

func (t truth) or(u truth) truth { return t.not().and(u.not()).not() }

func (t truth) iff(u truth) truth { return t.and(u).or(t.not().and(u.not())) }

// unknownStates returns the states in which the value is unknown.
func (t truth) unknownStates() *sparse.Set { return t.trueStates.Union(t.falseStates).Complement() }

// number is a numeric value in one state. Both bounds of NaN are NaN, and both bounds of infinity are infinite. If only one bound is
// infinite, the value is finite or infinite.
type number struct {
	interval.Number
	// aboveLo says that the value is greater than Lo, and belowHi that it is less than Hi.
	aboveLo, belowHi bool
}

// boundedNumber returns a number with the given bounds.
func boundedNumber(lower, upper float64) number {
	return number{Number: interval.Number{Interval: interval.Interval{Lo: lower, Hi: upper}}}
}

// pointNumber returns a number that is exactly a float64 number.
func pointNumber(value float64) number { return boundedNumber(value, value) }

// exactNumber returns an exact number.
func exactNumber(r *big.Rat) number { return number{Number: interval.Fraction(r)} }

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
	lower, upper []float64
	fractions    []*big.Rat
	accuracy     result.Accuracy
	// areProbabilities says that the values are probabilities, and that the values 0 and 1 have equal bounds.
	areProbabilities bool
	// openEnds says for each value whether it is known to be greater than lo, and whether it is known to be less than hi. It is nil
	// if this is not known for any value.
	openEnds [][2]bool
}

// newNumbers returns count zeros with the given accuracy, without fractions.
func newNumbers(count int, accuracy result.Accuracy) *numbers {
	return &numbers{lower: make([]float64, count), upper: make([]float64, count), accuracy: accuracy}
}

// numberAt returns the value in state s with its bounds. aboveLo of the result is true if the value is known to be greater than the lower bound, and
// belowHi if it is known to be less than the upper bound.
func (values *numbers) numberAt(s int) number {
	value := boundedNumber(values.lower[s], values.upper[s])
	if values.areProbabilities && value.Lo < value.Hi {
		value.aboveLo, value.belowHi = value.Lo == 0, value.Hi == 1
	}
	if values.openEnds != nil {
		value.aboveLo, value.belowHi = values.openEnds[s][0], values.openEnds[s][1]
	}
	if values.fractions != nil {
		value.Exact = values.fractions[s]
	}
	return value
}

// setNumber sets the value in state s: its bounds, whether the value is known to be strictly between them, and its fraction in an exact evaluation.
func (values *numbers) setNumber(s int, value number) {
	values.lower[s], values.upper[s] = value.Lo, value.Hi
	hasOpenEnd := value.aboveLo || value.belowHi
	if hasOpenEnd && values.openEnds == nil {
		values.openEnds = make([][2]bool, len(values.lower))
	}
	if values.openEnds != nil {
		values.openEnds[s] = [2]bool{value.aboveLo, value.belowHi}
	}
	if values.fractions != nil {
		values.fractions[s] = value.Exact
	}
}

// solutionNumbers converts a solution of package solve to numbers: fractions if the solution is exact, else lower and upper bounds. If the solution
// is estimated, the bounds are approximate.
func solutionNumbers(values *solve.Values) *numbers {
	if values.Exact == nil {
		bounds := &numbers{lower: values.Lower, upper: values.Upper, accuracy: result.Bounded}
		if values.Estimated {
			bounds.accuracy = result.Estimated
		}
		return bounds
	}
	fractions := newNumbers(len(values.Exact), result.Exact)
	fractions.fractions = values.Exact
	for s := range values.Exact {
		nearest := values.Number(s)
		fractions.lower[s], fractions.upper[s] = nearest.Lo, nearest.Hi
	}
	return fractions
}

// newValues returns zeros for all states, with room for fractions if the evaluation computes fractions.
func (e *evaluation) newValues(accuracy result.Accuracy) *numbers {
	values := newNumbers(e.space.Model().NumStates(), accuracy)
	if e.wantsFractions {
		values.fractions = make([]*big.Rat, len(values.lower))
	}
	return values
}

// zeros returns count zeros with the accuracy of values, and with fractions if values has fractions.
func (values *numbers) zeros(count int) *numbers {
	zeros := newNumbers(count, values.accuracy)
	if values.fractions != nil {
		zeros.fractions = make([]*big.Rat, count)
	}
	return zeros
}

// constantNumbers returns the same number for all states.
func (e *evaluation) constantNumbers(value number, accuracy result.Accuracy) *numbers {
	values := e.newValues(accuracy)
	for s := range values.lower {
		values.setNumber(s, value)
	}
	return values
}
