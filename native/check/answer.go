package check

import (
	"math"
	"math/big"
	"strconv"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// evaluateProperty returns the value of the property in the initial states, and bounds of the value. A Boolean property is true if it holds in
// all initial states. A numeric property has a range of values if there are several initial states. The interval is nil if the value has no
// bounds.
func (e *evaluation) evaluateProperty() (result.Value, *result.Interval, error) {
	initial := sparse.NewSet(e.space.Model().NumStates())
	for _, s := range e.space.Model().Initial {
		initial.Add(int(s))
	}
	defer e.restrictDomain(initial)() // values are needed in the initial states only
	expr, formula := e.property.Expr, logic.FormulaOf(e.property.Expr)
	switch {
	case formula.Kind == logic.Objectives, formula.Kind == logic.Lexicographic:
		return e.evaluateMulti(formula)
	case formula.Kind == logic.Quantile:
		return e.evaluateQuantile(formula)
	case formula.Kind == logic.Filter && formula.Op == "range":
		return e.filterRange(formula)
	case sema.NeedsOnlyVariables(expr): // errors in other states do not matter
		return e.evaluateInInitialStates(expr)
	case expr.Type() == sema.Bool:
		return e.booleanAnswer(expr, initial)
	case expr.Type() != sema.Int && expr.Type() != sema.Double:
		return result.Value{}, nil, e.unsupportedError(expr, "found %s, which has no value of its own", logic.Describe(expr))
	}
	isSameInAllStates := formula.Kind == logic.Filter && !formula.Prints()
	if initial.Count() > 1 && !isSameInAllStates {
		return e.rangeOfValues(expr, initial)
	}
	return e.numericAnswer(expr)
}

// numericAnswer evaluates a numeric property in the first initial state. It returns the value and bounds of it; the bounds are nil if the value is an
// estimate or a float64 number without known error.
func (e *evaluation) numericAnswer(expr sema.Expr) (result.Value, *result.Interval, error) {
	values, err := e.numbersOf(expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	e.limitAccuracy(values.accuracy)
	value := values.numberAt(int(e.space.Model().Initial[0]))
	if value.Exact == nil && !value.isPoint() { // a quotient of exact numbers can be rounded
		e.limitAccuracy(result.Bounded)
	}
	e.width = relativeWidth(value)
	if e.accuracy == result.Float || e.accuracy == result.Estimated {
		return resultValue(value, expr.Type()), nil, nil
	}
	return resultValue(value, expr.Type()), &result.Interval{Lo: value.Lo, Hi: value.Hi}, nil
}

// evaluateInInitialStates evaluates a property without P, R or other operators, such as `x+1`, in the initial states. It returns its value and
// bounds.
func (e *evaluation) evaluateInInitialStates(expr sema.Expr) (result.Value, *result.Interval, error) {
	var values []sema.Enclosed
	for _, s := range e.space.Model().Initial {
		enclosed, err := sema.Enclose(expr, e.space.State(nil, int(s))) // the value, or bounds of it
		if err != nil {
			return result.Value{}, nil, e.withPosition(err)
		}
		if !enclosed.IsExact {
			e.limitAccuracy(result.Bounded)
		}
		values = append(values, enclosed)
	}
	value, interval := e.combineInitialValues(expr.Type(), values)
	return value, interval, nil
}

// combineInitialValues combines the values of an expression in all initial states to one value with bounds. Booleans are combined by "and".
// Several numbers become a range from the least to the greatest number.
func (e *evaluation) combineInitialValues(exprType sema.Type, values []sema.Enclosed) (result.Value, *result.Interval) {
	if exprType == sema.Bool {
		allTrue := true
		for _, enclosed := range values {
			allTrue = allTrue && enclosed.Bool
		}
		return result.Value{Kind: result.Boolean, Bool: allTrue}, nil
	}
	least, greatest := enclosedNumber(values[0]), enclosedNumber(values[0])
	for _, enclosed := range values[1:] {
		least = minimum(least, enclosedNumber(enclosed))
		greatest = maximum(greatest, enclosedNumber(enclosed))
	}
	answer := resultValue(least, exprType)
	if len(values) > 1 {
		answer = rangeValue(least, greatest, exprType)
	}
	if e.accuracy == result.Float {
		return answer, nil
	}
	return answer, &result.Interval{Lo: least.Lo, Hi: greatest.Hi}
}

// rangeValue returns the range between two numbers as the value of a verdict.
func rangeValue(least, greatest number, exprType sema.Type) result.Value {
	return result.Value{Kind: result.Range, Num: resultValue(least, exprType).Num, Hi: resultValue(greatest, exprType).Num}
}

// enclosedNumber converts a result of sema.Enclose to a number: to an exact number if the result is a fraction or an integer, otherwise to a number with
// float64 bounds.
func enclosedNumber(enclosed sema.Enclosed) number {
	if enclosed.Rat != nil {
		return exactNumber(enclosed.Rat)
	}
	if enclosed.Type == sema.Int {
		return exactNumber(big.NewRat(int64(enclosed.Int), 1))
	}
	return boundedNumber(enclosed.Lo, enclosed.Hi)
}

// booleanAnswer evaluates a Boolean property. The property is true if it holds in all initial states, and false if it fails in one of them. If the
// bounds of values prove neither, the error is an *undecidedError.
func (e *evaluation) booleanAnswer(expr sema.Expr, initial *sparse.Set) (result.Value, *result.Interval, error) {
	truth, err := e.truthOf(expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	switch {
	case !initial.Intersect(truth.falseStates).Empty():
		return result.Value{Kind: result.Boolean}, nil, nil
	case initial.Minus(truth.trueStates).Empty():
		return result.Value{Kind: result.Boolean, Bool: true}, nil, nil
	}
	return result.Value{}, nil, &undecidedError{expr.Pos(), "the bounds of a value contain the number that it is compared with"}
}

// filterRange evaluates filter(range, ...): it returns the range of the operand's values in the states of the filter.
func (e *evaluation) filterRange(formula *logic.Formula) (result.Value, *result.Interval, error) {
	set, err := e.filterStates(formula)
	if err != nil {
		return result.Value{}, nil, err
	}
	return e.rangeOfValues(formula.Operand, set)
}

// rangeOfValues evaluates a numeric formula in a set of states, and returns the range of its values.
func (e *evaluation) rangeOfValues(expr sema.Expr, set *sparse.Set) (result.Value, *result.Interval, error) {
	values, err := e.numbersIn(set, expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	e.limitAccuracy(values.accuracy)
	least := values.fold(set, minimum)
	greatest := values.fold(set, maximum)
	e.width = max(relativeWidth(least), relativeWidth(greatest))
	return rangeValue(least, greatest, expr.Type()), &result.Interval{Lo: least.Lo, Hi: greatest.Hi}, nil
}

// resultValue converts a number to the value of a verdict. Bounds become a decimal with few digits that lies between them. A fraction is kept,
// together with the nearest float64.
func resultValue(value number, exprType sema.Type) result.Value {
	converted := result.Value{Kind: result.Number, Num: shortestDecimal(value.Lo, value.Hi), Rat: value.Exact}
	if exprType == sema.Int {
		converted.Kind = result.Integer
	}
	if value.Exact != nil {
		converted.Num, _ = value.Exact.Float64()
	}
	return converted
}

// maxDigits is the number of decimal digits that distinguish all float64 numbers.
const maxDigits = 17

// shortestDecimal returns the decimal number with the fewest digits between two bounds, found by rounding their middle. If the bounds are equal or NaN,
// it returns lower. If only lower is infinite, it returns upper or, if upper is positive, 0. If only upper is infinite, it returns lower.
func shortestDecimal(lower, upper float64) float64 {
	if !(lower < upper) {
		return lower
	}
	if math.IsInf(lower, -1) {
		return min(upper, 0)
	}
	if math.IsInf(upper, 1) {
		return lower
	}
	middle := lower/2 + upper/2 // the sum of the bounds may overflow
	isBetween := lower <= middle && middle <= upper
	if !isBetween {
		middle = lower
	}
	for digits := 1; digits < maxDigits; digits++ {
		value, err := strconv.ParseFloat(strconv.FormatFloat(middle, 'g', digits, 64), 64)
		if err == nil && lower <= value && value <= upper {
			return value
		}
	}
	return middle
}
