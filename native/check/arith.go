package check

import (
	"math"
	"math/big"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// The operations below are exact on fractions. On bounds they give bounds; a
// result that does not depend on where in its bounds an operand is stays a point
// if the doubles are exact.

func (x number) neg() number {
	out := number{lo: -x.hi, hi: -x.lo, above: x.below, below: x.above}
	if x.rat != nil {
		out.rat = new(big.Rat).Neg(x.rat)
	}
	return out
}

// binary applies an arithmetic operator; ok is false where bounds do not tell.
func binary(op syntax.Op, x, y number) (out number, ok bool) {
	if x.rat != nil && y.rat != nil {
		if r := rational(op, x.rat, y.rat); r != nil {
			return fraction(r), true
		}
	}
	if op == syntax.OpSub {
		return binary(syntax.OpAdd, x, y.neg())
	}
	if x.infinite() || y.infinite() || x.isNaN() || y.isNaN() {
		return special(op, x, y)
	}
	switch op {
	case syntax.OpAdd:
		lo, _ := sum(x.lo, y.lo)
		_, hi := sum(x.hi, y.hi)
		return number{lo: lo, hi: hi, above: x.above || y.above, below: x.below || y.below}, true
	case syntax.OpMul:
		return hull(x, y, product), true
	case syntax.OpDiv:
		if y.lo > 0 || y.hi < 0 {
			return hull(x, y, divided), true
		}
		if y.isPoint() && (x.isPoint() || x.lo > 0 || x.hi < 0) { // by zero
			return point(x.lo / y.lo), true
		}
	case syntax.OpPow:
		if n := y.lo; y.isPoint() && n == math.Trunc(n) && n >= 0 && n <= maxPower {
			return power(x, int(n)), true
		}
		if x.isPoint() && y.isPoint() {
			return about(sema.Pow(x.lo, y.lo)), true
		}
	}
	return number{}, false
}

// special applies an operator where an operand is infinite or not a number.
func special(op syntax.Op, x, y number) (out number, ok bool) {
	if x.isPoint() && y.isPoint() {
		switch op {
		case syntax.OpAdd:
			return point(x.lo + y.lo), true
		case syntax.OpMul:
			return point(x.lo * y.lo), true
		case syntax.OpDiv:
			return point(x.lo / y.lo), true
		case syntax.OpPow:
			return point(sema.Pow(x.lo, y.lo)), true
		}
		return number{}, false
	}
	if x.isNaN() || y.isNaN() {
		return point(math.NaN()), op != syntax.OpPow
	}
	sign := func(x number) float64 { // zero where it is not known
		switch {
		case x.lo > 0 || x.lo == 0 && x.above:
			return 1
		case x.hi < 0 || x.hi == 0 && x.below:
			return -1
		}
		return 0
	}
	switch {
	case op == syntax.OpAdd && x.infinite():
		return x, true
	case op == syntax.OpAdd:
		return y, true
	case op == syntax.OpDiv && y.infinite():
		return point(0), true
	case op == syntax.OpMul || op == syntax.OpDiv:
		s := sign(x) * sign(y)
		return point(s * math.Inf(1)), s != 0
	}
	return number{}, false
}

// maxPower is the greatest exponent of a power that is multiplied out.
const maxPower = 1000

// power multiplies x by itself.
func power(x number, n int) number {
	out := point(1)
	for range n {
		out = hull(out, x, product)
	}
	if n%2 == 0 {
		out.lo = max(out.lo, 0)
	}
	return out
}

// about encloses what a library function computed, to far more than it is off.
func about(x float64) number {
	if math.IsInf(x, 0) || x != x {
		return point(x)
	}
	e := 0x1p-45*math.Abs(x) + 0x1p-1060
	return number{lo: x - e, hi: x + e}
}

// rational returns nil where the result is not a fraction.
func rational(op syntax.Op, x, y *big.Rat) *big.Rat {
	switch op {
	case syntax.OpAdd:
		return new(big.Rat).Add(x, y)
	case syntax.OpSub:
		return new(big.Rat).Sub(x, y)
	case syntax.OpMul:
		return new(big.Rat).Mul(x, y)
	case syntax.OpDiv:
		if y.Sign() != 0 {
			return new(big.Rat).Quo(x, y)
		}
	case syntax.OpPow:
		if y.IsInt() && y.Num().IsInt64() && y.Num().Int64() >= 0 && y.Num().Int64() <= maxPower {
			out := big.NewRat(1, 1)
			for range y.Num().Int64() {
				out.Mul(out, x)
			}
			return out
		}
	}
	return nil
}

// sum, product and divided return the doubles next to the true result of finite
// operands, at which both are if it is one.
func sum(x, y float64) (lo, hi float64) {
	z := x + y
	t := z - x
	return next(z, (x-(z-t))+(y-t))
}

func product(x, y float64) (lo, hi float64) {
	z := x * y
	if math.Abs(z) < faintest && x != 0 && y != 0 {
		return next(z, math.NaN())
	}
	return next(z, math.FMA(x, y, -z))
}

func divided(x, y float64) (lo, hi float64) {
	z := x / y
	if math.Abs(z) < faintest && x != 0 || math.Abs(x) < faintest && x != 0 {
		return next(z, math.NaN())
	}
	return next(z, math.FMA(-z, y, x)*math.Copysign(1, y))
}

// faintest is the least magnitude at which the error of an operation is a double.
const faintest = 0x1p-900

// next returns bounds of a result that was rounded to z. The sign of err is that
// of what rounding took away; NaN is unknown. What is infinite overflowed, unless
// an operand is the end of an interval that knows no bound.
func next(z, err float64) (lo, hi float64) {
	lo, hi = z, z
	if !(err >= 0) || math.IsInf(z, 1) {
		lo = math.Nextafter(z, math.Inf(-1))
	}
	if !(err <= 0) || math.IsInf(z, -1) {
		hi = math.Nextafter(z, math.Inf(1))
	}
	return lo, hi
}

// hull applies an operation that is monotonic in each operand to the ends. An
// infinite end is not the value itself, which is finite: where it would give NaN
// the other ends tell.
func hull(x, y number, f func(x, y float64) (lo, hi float64)) number {
	out := number{lo: math.Inf(1), hi: math.Inf(-1)}
	for _, a := range []float64{x.lo, x.hi} {
		for _, b := range []float64{y.lo, y.hi} {
			if z, _ := f(a, b); z != z {
				continue
			}
			lo, hi := f(a, b)
			out.lo, out.hi = min(out.lo, lo), max(out.hi, hi)
		}
	}
	return out
}

// order compares two numbers; ok is false where bounds overlap.
func order(x, y number) (cmp int, ok bool) {
	switch {
	case x.rat != nil && y.rat != nil:
		return x.rat.Cmp(y.rat), true
	case x.hi < y.lo || x.hi == y.lo && (x.under() || y.over()):
		return -1, true
	case x.lo > y.hi || x.lo == y.hi && (x.over() || y.under()):
		return +1, true
	case x.lo == x.hi && y.lo == y.hi && x.lo == y.lo:
		return 0, true
	}
	return 0, false
}

// compare decides a comparison of numbers, if the bounds do.
func compare(op syntax.Op, x, y number) (holds, ok bool) {
	if x.isNaN() || y.isNaN() { // PRISM: NaN equals NaN
		both := x.isNaN() && y.isNaN()
		return op == syntax.OpEq && both || op == syntax.OpNe && !both, true
	}
	switch op { // touching bounds decide some
	case syntax.OpLe, syntax.OpGt:
		if x.rat == nil || y.rat == nil {
			if x.hi <= y.lo {
				return op == syntax.OpLe, true
			}
		}
	case syntax.OpGe, syntax.OpLt:
		if x.rat == nil || y.rat == nil {
			if x.lo >= y.hi {
				return op == syntax.OpGe, true
			}
		}
	}
	c, ok := order(x, y)
	if !ok {
		return false, false
	}
	return sema.Holds(op, c), true
}

// call applies a built-in function; ok is false where bounds do not tell. Where
// the operands are known it is evaluated as in a model.
func call(x *sema.Call, args []number) (number, bool, error) {
	out, ok := apply(x.Func, args)
	if ok {
		return out, true, nil
	}
	c := &sema.Call{Base: x.Base, Func: x.Func}
	for i, a := range args {
		if !a.isPoint() && a.rat == nil {
			return number{}, false, nil
		}
		t := x.Args[i].Type()
		val := sema.Value{Type: t, Int: int32(a.lo), Float: a.lo, Rat: a.rat}
		c.Args = append(c.Args, &sema.Const{Base: sema.Base{T: t, At: x.Args[i].Pos()}, Val: val})
	}
	v, exact, err := sema.EvalExact(c, nil)
	switch {
	case err != nil:
		return number{}, false, err
	case exact && v.Rat != nil:
		return fraction(v.Rat), true, nil
	}
	return point(v.Float), true, nil
}

// apply applies the functions that bounds go through.
func apply(f sema.Func, args []number) (number, bool) {
	switch x := args[0]; f {
	case sema.FuncMin, sema.FuncMax:
		for _, y := range args[1:] {
			x = extremum(f == sema.FuncMin, x, y)
		}
		return x, true
	case sema.FuncFloor, sema.FuncCeil, sema.FuncRound:
		return integer(x, f.Round)
	}
	return number{}, false
}

func extremum(least bool, x, y number) number {
	if c, ok := order(x, y); ok {
		if (c <= 0) == least {
			return x
		}
		return y
	}
	if x.isNaN() || y.isNaN() {
		return point(math.NaN())
	}
	if !least {
		return extremum(true, x.neg(), y.neg()).neg()
	}
	out := number{lo: min(x.lo, y.lo), hi: min(x.hi, y.hi)}
	out.above = (x.lo > out.lo || x.above) && (y.lo > out.lo || y.above)
	out.below = x.hi == out.hi && x.below || y.hi == out.hi && y.below
	return out
}

// integer applies a function to integers that is monotonic; ok is false if it
// gives different results at both ends. The ends of a fraction are next to it.
func integer(x number, f func(float64) float64) (number, bool) {
	lo, hi := f(x.lo), f(x.hi)
	if lo != hi || math.IsInf(lo, 0) {
		return number{}, false
	}
	out := point(lo)
	if x.rat != nil {
		out.rat = new(big.Rat).SetFloat64(lo)
	}
	return out, true
}
