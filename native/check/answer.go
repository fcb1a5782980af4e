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
		return e.multi(formula)
	}
	if formula.Kind == logic.Quantile {
		return e.quantile(formula)
	}
	if formula.Kind == logic.Filter && formula.Op == "range" {
		set, err := e.filterStates(formula)
		if err != nil {
			return result.Value{}, nil, err
		}
		return e.rangeOf(formula.Operand, set)
	}
	if sema.Stateless(expr) { // errors in other states do not matter
		v, bound, err := e.plainProperty(expr)
		return v, bound, e.withPosition(err)
	}
	sameInAllStates := formula.Kind == logic.Filter && !formula.Prints()
	switch {
	case expr.Type() == sema.Bool:
		return e.verdict(expr, initial)
	case expr.Type() != sema.Int && expr.Type() != sema.Double:
		return result.Value{}, nil, e.unsupported(expr, "found %s, which has no value of its own", logic.Describe(expr))
	case initial.Count() > 1 && !sameInAllStates:
		return e.rangeOf(expr, initial)
	}
	values, err := e.numbers(expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	e.weaken(values.acc)
	n := values.at(int(e.space.Model().Initial[0]))
	e.width = relativeWidth(n)
	if e.accuracy == result.Float || e.accuracy == result.Estimated {
		return value(n, expr.Type()), nil, nil
	}
	return value(n, expr.Type()), &result.Interval{Lo: n.lo, Hi: n.hi}, nil
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
			e.weaken(result.Bounded)
		}
		values = append(values, enclosed)
	}
	return e.plainAnswer(expr.Type(), values)
}

// plainAnswer combines the values of an expression in the initial states: whether all Booleans are true, the only
// number, or the range of several numbers.
func (e *evaluation) plainAnswer(exprType sema.Type, values []sema.Enclosed) (result.Value, *result.Interval, error) {
	if exprType == sema.Bool {
		all := true
		for _, enclosed := range values {
			all = all && enclosed.Bool
		}
		return result.Value{Kind: result.Boolean, Bool: all}, nil, nil
	}
	least, most := plainNumber(values[0]), plainNumber(values[0])
	for _, enclosed := range values[1:] {
		least = extremum(true, least, plainNumber(enclosed))
		most = extremum(false, most, plainNumber(enclosed))
	}
	out := value(least, exprType)
	if len(values) > 1 {
		out = result.Value{Kind: result.Range, Num: out.Num, Hi: value(most, exprType).Num}
	}
	if e.accuracy == result.Float {
		return out, nil, nil
	}
	return out, &result.Interval{Lo: least.lo, Hi: most.hi}, nil
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

// verdict evaluates a Boolean property: whether it holds in all initial states.
func (e *evaluation) verdict(expr sema.Expr, initial *sparse.Set) (result.Value, *result.Interval, error) {
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
	return result.Value{}, nil, &undecided{expr.Pos(), "the bounds of a value leave open whether it reaches the number it is compared with"}
}

// rangeOf evaluates a numeric formula over some states, and returns the range of
// its values.
func (e *evaluation) rangeOf(expr sema.Expr, set *sparse.Set) (result.Value, *result.Interval, error) {
	values, err := e.numbersIn(set, expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	e.weaken(values.acc)
	least := e.fold(values, set, func(left, right number) number { return extremum(true, left, right) })
	most := e.fold(values, set, func(left, right number) number { return extremum(false, left, right) })
	e.width = max(relativeWidth(least), relativeWidth(most))
	out := result.Value{Kind: result.Range, Num: value(least, expr.Type()).Num, Hi: value(most, expr.Type()).Num}
	return out, &result.Interval{Lo: least.lo, Hi: most.hi}, nil
}

// value returns a number in the form of verdicts: its fraction with the nearest float64 number or, without a
// fraction, a number between its bounds with few decimal digits.
func value(x number, exprType sema.Type) result.Value {
	out := result.Value{Kind: result.Number, Num: shortest(x.lo, x.hi), Rat: x.rat}
	if exprType == sema.Int {
		out.Kind = result.Integer
	}
	if x.rat != nil {
		out.Num, _ = x.rat.Float64()
	}
	return out
}

// shortest returns a number between two bounds that has the fewest decimal digits when rounded from the middle.
func shortest(lower, upper float64) float64 {
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
