package check

import (
	"math"
	"math/big"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// The operations below are exact on fractions. Applied to bounds, they return bounds of the result (interval
// arithmetic, rounded outwards).

// neg returns -x.
func (x number) neg() number {
	out := number{lo: -x.hi, hi: -x.lo, above: x.below, below: x.above}
	if x.rat != nil {
		out.rat = new(big.Rat).Neg(x.rat)
	}
	return out
}

// binary applies an arithmetic operator. ok is false if the bounds are too wide to bound the result, as for a
// division by an interval that contains 0.
func binary(op syntax.Op, x, y number) (out number, ok bool) {
	if x.rat != nil && y.rat != nil {
		if exact := rational(op, x.rat, y.rat); exact != nil {
			return fraction(exact), true
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

// special applies an operator to operands of which one is infinite or not a number. ok is false if the result is
// unknown.
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
	sign := func(x number) float64 { // 0 if the sign is unknown
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
		product := sign(x) * sign(y)
		return point(product * math.Inf(1)), product != 0
	}
	return number{}, false
}

// maxPower is the greatest exponent of a power that is computed by multiplications.
const maxPower = 1000

// power returns bounds of the n-th power of x.
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

// about returns bounds around the result of a library function. They are much wider than the rounding error of
// such functions.
func about(x float64) number {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return point(x)
	}
	margin := 0x1p-45*math.Abs(x) + 0x1p-1060
	return number{lo: x - margin, hi: x + margin}
}

// rational applies an operator to fractions. The result is nil if it is not a fraction, or would be too large.
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

// sum returns the float64 numbers next to x + y: the greatest below and the smallest above, which are equal if the
// result is a float64 number. It computes the rounding error by Knuth's two-sum.
func sum(x, y float64) (lo, hi float64) {
	rounded := x + y
	yPart := rounded - x
	err := (x - (rounded - yPart)) + (y - yPart)
	return neighbours(rounded, err)
}

// product returns the float64 numbers next to x * y, like sum.
func product(x, y float64) (lo, hi float64) {
	rounded := x * y
	if math.Abs(rounded) < faintest && x != 0 && y != 0 {
		return neighbours(rounded, math.NaN())
	}
	return neighbours(rounded, math.FMA(x, y, -rounded))
}

// divided returns the float64 numbers next to x / y, like sum.
func divided(x, y float64) (lo, hi float64) {
	rounded := x / y
	if math.Abs(rounded) < faintest && x != 0 || math.Abs(x) < faintest && x != 0 {
		return neighbours(rounded, math.NaN())
	}
	return neighbours(rounded, math.FMA(-rounded, y, x)*math.Copysign(1, y))
}

// faintest is the least magnitude of a result whose rounding error is a float64 number.
const faintest = 0x1p-900

// neighbours returns bounds of a number that was rounded to a float64 number. err has the sign of the number minus
// the rounded one, or is NaN if that is unknown. If rounded is infinite, the number may be finite and greater than
// all float64 numbers.
func neighbours(rounded, err float64) (lo, hi float64) {
	lo, hi = rounded, rounded
	if !(err >= 0) || math.IsInf(rounded, 1) {
		lo = math.Nextafter(rounded, math.Inf(-1))
	}
	if !(err <= 0) || math.IsInf(rounded, -1) {
		hi = math.Nextafter(rounded, math.Inf(1))
	}
	return lo, hi
}

// hull returns bounds of f(x, y), for a function that is monotonic in each operand, from the values at the ends of
// the operands' bounds. It ignores ends at which the function is NaN: they are infinite, and the operands are finite.
func hull(x, y number, f func(x, y float64) (lo, hi float64)) number {
	out := number{lo: math.Inf(1), hi: math.Inf(-1)}
	for _, xEnd := range []float64{x.lo, x.hi} {
		for _, yEnd := range []float64{y.lo, y.hi} {
			lo, hi := f(xEnd, yEnd)
			if math.IsNaN(lo) {
				continue
			}
			out.lo = min(out.lo, lo)
			out.hi = max(out.hi, hi)
		}
	}
	return out
}

// order returns the sign of x - y; ok is false if it is unknown because bounds overlap.
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

// compare reports whether a comparison of two numbers holds; ok is false if the bounds do not decide. As in PRISM,
// NaN equals NaN.
func compare(op syntax.Op, x, y number) (holds, ok bool) {
	if x.isNaN() || y.isNaN() {
		bothNaN := x.isNaN() && y.isNaN()
		return op == syntax.OpEq && bothNaN || op == syntax.OpNe && !bothNaN, true
	}
	haveFractions := x.rat != nil && y.rat != nil
	switch { // bounds with a common end decide some comparisons
	case haveFractions:
	case (op == syntax.OpLe || op == syntax.OpGt) && x.hi <= y.lo:
		return op == syntax.OpLe, true
	case (op == syntax.OpGe || op == syntax.OpLt) && x.lo >= y.hi:
		return op == syntax.OpGe, true
	}
	sign, ok := order(x, y)
	if !ok {
		return false, false
	}
	return sema.Holds(op, sign), true
}

// call applies a built-in function; ok is false if the bounds are too wide. If all operands are known exactly, it
// evaluates the function as in a model.
func call(x *sema.Call, args []number) (number, bool, error) {
	out, ok := apply(x.Func, args)
	if ok {
		return out, true, nil
	}
	constantCall := &sema.Call{Base: x.Base, Func: x.Func}
	for i, a := range args {
		if !a.isPoint() && a.rat == nil {
			return number{}, false, nil
		}
		t := x.Args[i].Type()
		val := sema.Value{Type: t, Int: int32(a.lo), Float: a.lo, Rat: a.rat}
		constantCall.Args = append(constantCall.Args, &sema.Const{Base: sema.Base{ValueType: t, Position: x.Args[i].Pos()}, Val: val})
	}
	v, exact, err := sema.EvalExact(constantCall, nil)
	switch {
	case err != nil:
		return number{}, false, err
	case exact && v.Rat != nil:
		return fraction(v.Rat), true, nil
	}
	return point(v.Float), true, nil
}

// apply applies a function that is monotonic in its operands, so that it can be applied to bounds: a minimum, a
// maximum or a rounding. ok is false for other functions, and if bounds are rounded to different integers.
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

// extremum returns the minimum (if least) or the maximum of two numbers. If their bounds overlap, the result has
// bounds too.
func extremum(least bool, x, y number) number {
	if sign, ok := order(x, y); ok {
		if (sign <= 0) == least {
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

// integer applies a monotonic function whose results are integers, such as floor. ok is false if the results at
// the two ends of the bounds differ.
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
