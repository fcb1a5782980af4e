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

// evaluateProperty evaluates the property in the initial states. A Boolean property must hold in all of them; the value
// of a numeric property is a range if there are several. The interval has the bounds of the value, nil if there
// are none.
func (e *evaluation) evaluateProperty() (result.Value, *result.Interval, error) {
	initial := sparse.NewSet(e.space.Model().NumStates())
	for _, s := range e.space.Model().Initial {
		initial.Add(int(s))
	}
	defer e.restrict(initial)()
	expr, formula := e.property.X, logic.Of(e.property.X)
	if formula.Kind == logic.Objectives || formula.Kind == logic.Lexicographic {
		return e.evaluateMulti(formula)
	}
	if formula.Kind == logic.Quantile {
		return e.evaluateQuantile(formula)
	}
	if formula.Kind == logic.Filter && formula.Op == "range" {
		set, err := e.filterStates(formula)
		if err != nil {
			return result.Value{}, nil, err
		}
		return e.rangeOfValues(formula.Operand, set)
	}
	if sema.Stateless(expr) { // errors in other states do not matter
		value, bound, err := e.plainProperty(expr)
		return value, bound, e.withPosition(err)
	}
	sameInAllStates := formula.Kind == logic.Filter && !formula.Prints()
	switch {
	case expr.Type() == sema.Bool:
		return e.booleanAnswer(expr, initial)
	case expr.Type() != sema.Int && expr.Type() != sema.Double:
		return result.Value{}, nil, e.unsupported(expr, "found %s, which has no value of its own", logic.Describe(expr))
	case initial.Count() > 1 && !sameInAllStates:
		return e.rangeOfValues(expr, initial)
	}
	values, err := e.numbers(expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	e.limitAccuracy(values.accuracy)
	n := values.at(int(e.space.Model().Initial[0]))
	e.width = relativeWidth(n)
	if e.accuracy == result.Float || e.accuracy == result.Estimated {
		return resultValue(n, expr.Type()), nil, nil
	}
	return resultValue(n, expr.Type()), &result.Interval{Lo: n.lo, Hi: n.hi}, nil
}

// plainProperty evaluates an expression over the variables in the initial states.
func (e *evaluation) plainProperty(expr sema.Expr) (result.Value, *result.Interval, error) {
	var values []sema.Enclosed
	for _, s := range e.space.Model().Initial {
		state := e.space.State(nil, int(s))
		enclosed, err := sema.Enclose(expr, state)
		if err != nil {
			return result.Value{}, nil, err
		}
		if !enclosed.Exact {
			e.limitAccuracy(result.Bounded)
		}
		values = append(values, enclosed)
	}
	return e.plainAnswer(expr.Type(), values)
}

// plainAnswer combines the values of an expression in the initial states. For Booleans the result is true if all are true.
// For numbers it is the number, or the range from the least to the greatest number if there are several initial states.
func (e *evaluation) plainAnswer(exprType sema.Type, values []sema.Enclosed) (result.Value, *result.Interval, error) {
	if exprType == sema.Bool {
		allTrue := true
		for _, enclosed := range values {
			allTrue = allTrue && enclosed.Bool
		}
		return result.Value{Kind: result.Boolean, Bool: allTrue}, nil, nil
	}
	least, greatest := plainNumber(values[0]), plainNumber(values[0])
	for _, enclosed := range values[1:] {
		least = minimum(least, plainNumber(enclosed))
		greatest = maximum(greatest, plainNumber(enclosed))
	}
	out := resultValue(least, exprType)
	if len(values) > 1 {
		out = result.Value{Kind: result.Range, Num: out.Num, Hi: resultValue(greatest, exprType).Num}
	}
	if e.accuracy == result.Float {
		return out, nil, nil
	}
	return out, &result.Interval{Lo: least.lo, Hi: greatest.hi}, nil
}

// plainNumber returns the value of an expression over the variables as a number.
func plainNumber(enclosed sema.Enclosed) number {
	if enclosed.Rat != nil {
		return fraction(enclosed.Rat)
	}
	if enclosed.Type == sema.Int {
		return fraction(big.NewRat(int64(enclosed.Int), 1))
	}
	return number{lo: enclosed.Lo, hi: enclosed.Hi}
}

// booleanAnswer evaluates a Boolean property. It is true if it holds in all initial states.
func (e *evaluation) booleanAnswer(expr sema.Expr, initial *sparse.Set) (result.Value, *result.Interval, error) {
	truth, err := e.truth(expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	switch {
	case !initial.Intersect(truth.no).Empty():
		return result.Value{Kind: result.Boolean}, nil, nil
	case initial.Minus(truth.yes).Empty():
		return result.Value{Kind: result.Boolean, Bool: true}, nil, nil
	}
	return result.Value{}, nil, &undecidedError{expr.Pos(), "the bounds of a value contain the number that it is compared with"}
}

// rangeOfValues evaluates a numeric formula over some states, and returns the range of
// its values.
func (e *evaluation) rangeOfValues(expr sema.Expr, set *sparse.Set) (result.Value, *result.Interval, error) {
	values, err := e.numbersIn(set, expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	e.limitAccuracy(values.accuracy)
	least := values.fold(set, minimum)
	greatest := values.fold(set, maximum)
	e.width = max(relativeWidth(least), relativeWidth(greatest))
	out := result.Value{Kind: result.Range, Num: resultValue(least, expr.Type()).Num, Hi: resultValue(greatest, expr.Type()).Num}
	return out, &result.Interval{Lo: least.lo, Hi: greatest.hi}, nil
}

// resultValue converts a number to the value of a verdict: the fraction and the nearest float64 number or, without a fraction, a
// number with few decimal digits that lies between the bounds.
func resultValue(n number, exprType sema.Type) result.Value {
	out := result.Value{Kind: result.Number, Num: shortestDecimal(n.lo, n.hi), Rat: n.rat}
	if exprType == sema.Int {
		out.Kind = result.Integer
	}
	if n.rat != nil {
		out.Num, _ = n.rat.Float64()
	}
	return out
}

// shortestDecimal rounds the middle of two bounds to as few decimal digits as possible, so that the result still lies between the
// bounds.
func shortestDecimal(lower, upper float64) float64 {
	switch {
	case !(lower < upper) || math.IsInf(upper, 1) && !math.IsInf(lower, -1):
		return lower
	case math.IsInf(lower, -1):
		return min(upper, 0)
	}
	middle := lower/2 + upper/2 // their difference may overflow
	if !(lower <= middle && middle <= upper) {
		middle = lower
	}
	for digits := 1; digits < 17; digits++ {
		value, err := strconv.ParseFloat(strconv.FormatFloat(middle, 'g', digits, 64), 64)
		if err == nil && lower <= value && value <= upper {
			return value
		}
	}
	return middle
}
