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

// property evaluates the property in the initial states. A Boolean property must hold in all of them; the value
// of a numeric property is a range if there are several. The interval has the bounds of the value, nil if there
// are none.
func (e *evaluation) property() (result.Value, *result.Interval, error) {
	initial := sparse.NewSet(e.space.Model().NumStates())
	for _, s := range e.space.Model().Initial {
		initial.Add(int(s))
	}
	defer e.restrict(initial)()
	x, f := e.p.X, logic.Of(e.p.X)
	if f.Kind == logic.Objectives {
		return e.multi(f)
	}
	if f.Kind == logic.Filter && f.Op == "range" {
		set, err := e.filterStates(f)
		if err != nil {
			return result.Value{}, nil, err
		}
		return e.ranged(f.Operand, set)
	}
	if sema.Stateless(x) { // errors in other states do not matter
		v, bound, err := e.plainProperty(x)
		return v, bound, e.withPosition(err)
	}
	sameInAllStates := f.Kind == logic.Filter && !f.Prints()
	switch {
	case x.Type() == sema.Bool:
		return e.verdict(x, initial)
	case x.Type() != sema.Int && x.Type() != sema.Double:
		return result.Value{}, nil, e.unsupported(x, "found %s, which has no value of its own", logic.Describe(x))
	case initial.Count() > 1 && !sameInAllStates:
		return e.ranged(x, initial)
	}
	v, err := e.numbers(x)
	if err != nil {
		return result.Value{}, nil, err
	}
	e.weaken(v.acc)
	n := v.at(int(e.space.Model().Initial[0]))
	e.width = relativeWidth(n)
	if e.accuracy == result.Float || e.accuracy == result.Estimated {
		return value(n, x.Type()), nil, nil
	}
	return value(n, x.Type()), &result.Interval{Lo: n.lo, Hi: n.hi}, nil
}

// plainProperty evaluates an expression over the variables in the initial states.
func (e *evaluation) plainProperty(x sema.Expr) (result.Value, *result.Interval, error) {
	var values []sema.Enclosed
	for _, s := range e.space.Model().Initial {
		state := e.space.State(nil, int(s))
		v, err := sema.Enclose(x, state)
		if err != nil {
			return result.Value{}, nil, err
		}
		if !v.Exact {
			e.weaken(result.Bounded)
		}
		values = append(values, v)
	}
	return e.plainAnswer(x.Type(), values)
}

// plainAnswer combines the values of an expression in the initial states: whether all Booleans are true, the only
// number, or the range of several numbers.
func (e *evaluation) plainAnswer(t sema.Type, values []sema.Enclosed) (result.Value, *result.Interval, error) {
	if t == sema.Bool {
		all := true
		for _, v := range values {
			all = all && v.Bool
		}
		return result.Value{Kind: result.Boolean, Bool: all}, nil, nil
	}
	least, most := plainNumber(values[0]), plainNumber(values[0])
	for _, v := range values[1:] {
		least = extremum(true, least, plainNumber(v))
		most = extremum(false, most, plainNumber(v))
	}
	out := value(least, t)
	if len(values) > 1 {
		out = result.Value{Kind: result.Range, Num: out.Num, Hi: value(most, t).Num}
	}
	if e.accuracy == result.Float {
		return out, nil, nil
	}
	return out, &result.Interval{Lo: least.lo, Hi: most.hi}, nil
}

// plainNumber returns the value of an expression over the variables as a number.
func plainNumber(v sema.Enclosed) number {
	if v.Rat != nil {
		return fraction(v.Rat)
	}
	if v.Type == sema.Int {
		return fraction(big.NewRat(int64(v.Int), 1))
	}
	return number{lo: v.Lo, hi: v.Hi}
}

// verdict evaluates a Boolean property: whether it holds in all initial states.
func (e *evaluation) verdict(x sema.Expr, initial *sparse.Set) (result.Value, *result.Interval, error) {
	t, err := e.truth(x)
	if err != nil {
		return result.Value{}, nil, err
	}
	switch {
	case !initial.Intersect(t.no).Empty():
		return result.Value{Kind: result.Boolean}, nil, nil
	case initial.Minus(t.yes).Empty():
		return result.Value{Kind: result.Boolean, Bool: true}, nil, nil
	}
	return result.Value{}, nil, &undecided{x.Pos(), "the bounds of a value leave open whether it reaches the number it is compared with"}
}

// ranged evaluates a numeric formula over some states, and returns the range of
// its values.
func (e *evaluation) ranged(x sema.Expr, set *sparse.Set) (result.Value, *result.Interval, error) {
	v, err := e.numbersIn(set, x)
	if err != nil {
		return result.Value{}, nil, err
	}
	e.weaken(v.acc)
	least := e.fold(v, set, func(a, b number) number { return extremum(true, a, b) })
	most := e.fold(v, set, func(a, b number) number { return extremum(false, a, b) })
	e.width = max(relativeWidth(least), relativeWidth(most))
	out := result.Value{Kind: result.Range, Num: value(least, x.Type()).Num, Hi: value(most, x.Type()).Num}
	return out, &result.Interval{Lo: least.lo, Hi: most.hi}, nil
}

// value returns a number in the form of verdicts: its fraction with the nearest float64 number or, without a
// fraction, a number between its bounds with few decimal digits.
func value(x number, t sema.Type) result.Value {
	out := result.Value{Kind: result.Number, Num: shortest(x.lo, x.hi), Rat: x.rat}
	if t == sema.Int {
		out.Kind = result.Integer
	}
	if x.rat != nil {
		out.Num, _ = x.rat.Float64()
	}
	return out
}

// shortest returns a number between two bounds that has the fewest decimal digits when rounded from the middle.
func shortest(lo, hi float64) float64 {
	switch {
	case !(lo < hi) || math.IsInf(hi, 1) && !math.IsInf(lo, -1):
		return lo
	case math.IsInf(lo, -1):
		return min(hi, 0)
	}
	middle := lo/2 + hi/2 // their difference may overflow
	if !(lo <= middle && middle <= hi) {
		middle = lo
	}
	for digits := 1; digits < 17; digits++ {
		x, err := strconv.ParseFloat(strconv.FormatFloat(middle, 'g', digits, 64), 64)
		if err == nil && lo <= x && x <= hi {
			return x
		}
	}
	return middle
}
