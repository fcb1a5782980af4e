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
func (value number) neg() number {
	out := number{lo: -value.hi, hi: -value.lo, aboveLo: value.belowHi, belowHi: value.aboveLo}
	if value.rat != nil {
		out.rat = new(big.Rat).Neg(value.rat)
	}
	return out
}

// binary applies an arithmetic operator. ok is false if the bounds are too wide to bound the result, as for a
// division by an interval that contains 0.
func binary(operator syntax.Op, left, right number) (out number, ok bool) {
	if left.rat != nil && right.rat != nil {
		if exact := rational(operator, left.rat, right.rat); exact != nil {
			return fraction(exact), true
		}
	}
	if operator == syntax.OpSub {
		return binary(syntax.OpAdd, left, right.neg())
	}
	if left.isInfinite() || right.isInfinite() || left.isNaN() || right.isNaN() {
		return applySpecial(operator, left, right)
	}
	switch operator {
	case syntax.OpAdd:
		lower, _ := sumBounds(left.lo, right.lo)
		_, upper := sumBounds(left.hi, right.hi)
		return number{lo: lower, hi: upper, aboveLo: left.aboveLo || right.aboveLo, belowHi: left.belowHi || right.belowHi}, true
	case syntax.OpMul:
		return hull(left, right, productBounds), true
	case syntax.OpDiv:
		return divide(left, right)
	case syntax.OpPow:
		return powerOf(left, right)
	}
	return number{}, false
}

// divide returns the quotient of two finite numbers. ok is false if the bounds of the divisor contain 0, unless the
// divisor is 0 and the sign of the dividend is known.
func divide(left, right number) (out number, ok bool) {
	if right.lo > 0 || right.hi < 0 {
		return hull(left, right, quotientBounds), true
	}
	if right.isPoint() && (left.isPoint() || left.lo > 0 || left.hi < 0) {
		return point(left.lo / right.lo), true
	}
	return number{}, false
}

// powerOf returns a power of finite numbers. ok is false if the exponent is not a small natural number, unless both numbers
// are points.
func powerOf(base, exponent number) (out number, ok bool) {
	isNatural := exponent.isPoint() && exponent.lo == math.Trunc(exponent.lo) && exponent.lo >= 0
	if isNatural && exponent.lo <= maxPower {
		return power(base, int(exponent.lo)), true
	}
	if base.isPoint() && exponent.isPoint() {
		return withMargin(sema.Pow(base.lo, exponent.lo)), true
	}
	return number{}, false
}

// applySpecial applies an operator to two operands, at least one of which is infinite or NaN. ok is false if the result is
// unknown.
func applySpecial(operator syntax.Op, left, right number) (out number, ok bool) {
	if left.isPoint() && right.isPoint() {
		return applySpecialPoints(operator, left.lo, right.lo)
	}
	if left.isNaN() || right.isNaN() {
		return point(math.NaN()), operator != syntax.OpPow
	}
	switch {
	case operator == syntax.OpAdd && left.isInfinite():
		return left, true
	case operator == syntax.OpAdd:
		return right, true
	case operator == syntax.OpDiv && right.isInfinite():
		return point(0), true
	case operator == syntax.OpMul || operator == syntax.OpDiv:
		sign := left.knownSign() * right.knownSign()
		return point(sign * math.Inf(1)), sign != 0
	}
	return number{}, false
}

// applySpecialPoints applies an operator to two float64 numbers, at least one of which is infinite or NaN, by the rules of IEEE 754
// and PRISM. ok is false for an operator that it does not know.
func applySpecialPoints(operator syntax.Op, left, right float64) (out number, ok bool) {
	switch operator {
	case syntax.OpAdd:
		return point(left + right), true
	case syntax.OpMul:
		return point(left * right), true
	case syntax.OpDiv:
		return point(left / right), true
	case syntax.OpPow:
		return point(sema.Pow(left, right)), true
	}
	return number{}, false
}

// knownSign returns 1 or -1 if all values within the bounds have this sign, otherwise 0.
func (n number) knownSign() float64 {
	switch {
	case n.lo > 0 || n.lo == 0 && n.aboveLo:
		return 1
	case n.hi < 0 || n.hi == 0 && n.belowHi:
		return -1
	}
	return 0
}

// maxPower is the greatest exponent of a power that is computed by multiplications.
const maxPower = 1000

// power returns bounds of base to the power of exponent, which is not negative.
func power(base number, exponent int) number {
	out := point(1)
	for range exponent {
		out = hull(out, base, productBounds)
	}
	isEven := exponent%2 == 0
	if isEven { // an even power is never negative
		out.lo = max(out.lo, 0)
	}
	return out
}

// withMargin returns bounds around the result of a library function, such as a power. Its relative rounding error is below 2^-50, and
// the margin is 2^-45. The constant 2^-1060 covers results near 0, whose rounding error is not relative.
func withMargin(value float64) number {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return point(value)
	}
	margin := 0x1p-45*math.Abs(value) + 0x1p-1060
	return number{lo: value - margin, hi: value + margin}
}

// rational applies an operator to two fractions. It returns nil if the result is not a fraction, or would be too large.
func rational(operator syntax.Op, left, right *big.Rat) *big.Rat {
	switch operator {
	case syntax.OpAdd:
		return new(big.Rat).Add(left, right)
	case syntax.OpSub:
		return new(big.Rat).Sub(left, right)
	case syntax.OpMul:
		return new(big.Rat).Mul(left, right)
	case syntax.OpDiv:
		if right.Sign() != 0 {
			return new(big.Rat).Quo(left, right)
		}
	case syntax.OpPow:
		return rationalPower(left, right)
	}
	return nil
}

// rationalPower returns base to the power of exponent. It returns nil unless the exponent is a whole number from 0 to maxPower.
func rationalPower(base, exponent *big.Rat) *big.Rat {
	if !exponent.IsInt() || exponent.Sign() < 0 || exponent.Cmp(big.NewRat(maxPower, 1)) > 0 {
		return nil
	}
	power := big.NewRat(1, 1)
	for range exponent.Num().Int64() {
		power.Mul(power, base)
	}
	return power
}

// sumBounds returns the float64 numbers next to left + right: the greatest below and the smallest above, which are equal if the
// result is a float64 number. It computes the rounding error by Knuth's two-sum.
func sumBounds(left, right float64) (lower, upper float64) {
	rounded := left + right
	rightPart := rounded - left
	leftPart := rounded - rightPart
	err := (left - leftPart) + (right - rightPart)
	return neighbours(rounded, err)
}

// productBounds returns the float64 numbers next to left * right, as sumBounds does for a sum.
func productBounds(left, right float64) (lower, upper float64) {
	rounded := left * right
	if math.Abs(rounded) < faintest && left != 0 && right != 0 {
		return neighbours(rounded, math.NaN())
	}
	return neighbours(rounded, math.FMA(left, right, -rounded))
}

// quotientBounds returns the float64 numbers next to left / right, as sumBounds does for a sum.
func quotientBounds(left, right float64) (lower, upper float64) {
	rounded := left / right
	if math.Abs(rounded) < faintest && left != 0 || math.Abs(left) < faintest && left != 0 {
		return neighbours(rounded, math.NaN())
	}
	return neighbours(rounded, math.FMA(-rounded, right, left)*math.Copysign(1, right))
}

// faintest is the least magnitude of a result whose rounding error is a float64 number.
const faintest = 0x1p-900

// neighbours returns bounds of a real number that was rounded to a float64 number. The sign of err is the sign of the real
// number minus the rounded one; err is NaN if the sign is unknown. If rounded is infinite, the real number may be finite and
// greater than all float64 numbers.
func neighbours(rounded, err float64) (lower, upper float64) {
	lower, upper = rounded, rounded
	if !(err >= 0) || math.IsInf(rounded, 1) {
		lower = math.Nextafter(rounded, math.Inf(-1))
	}
	if !(err <= 0) || math.IsInf(rounded, -1) {
		upper = math.Nextafter(rounded, math.Inf(1))
	}
	return lower, upper
}

// hull returns bounds of function(x, y), where x and y lie between the bounds of left and right. The function must be
// monotonic in each operand, so its extrema are at the ends of the bounds. hull ignores ends at which the function is NaN,
// because they are infinite and the operands are finite.
func hull(left, right number, function func(x, y float64) (lower, upper float64)) number {
	bounds := number{lo: math.Inf(1), hi: math.Inf(-1)}
	for _, leftEnd := range []float64{left.lo, left.hi} {
		for _, rightEnd := range []float64{right.lo, right.hi} {
			lower, upper := function(leftEnd, rightEnd)
			if math.IsNaN(lower) {
				continue
			}
			bounds.lo = min(bounds.lo, lower)
			bounds.hi = max(bounds.hi, upper)
		}
	}
	return bounds
}

// order returns the sign of left - right. ok is false if the bounds overlap, so that the sign is unknown.
func order(left, right number) (sign int, ok bool) {
	switch {
	case left.rat != nil && right.rat != nil:
		return left.rat.Cmp(right.rat), true
	case left.hi < right.lo || left.hi == right.lo && (left.isBelowHi() || right.isAboveLo()):
		return -1, true
	case left.lo > right.hi || left.lo == right.hi && (left.isAboveLo() || right.isBelowHi()):
		return +1, true
	case left.lo == left.hi && right.lo == right.hi && left.lo == right.lo:
		return 0, true
	}
	return 0, false
}

// compare reports whether a comparison of two numbers holds. ok is false if their bounds do not decide the comparison. As in PRISM,
// NaN equals NaN.
func compare(operator syntax.Op, left, right number) (holds, ok bool) {
	if left.isNaN() || right.isNaN() {
		bothNaN := left.isNaN() && right.isNaN()
		return operator == syntax.OpEq && bothNaN || operator == syntax.OpNe && !bothNaN, true
	}
	bothFractions := left.rat != nil && right.rat != nil
	atMost, atLeast := left.hi <= right.lo, left.lo >= right.hi
	switch { // bounds with a common end decide some comparisons, although the order is unknown
	case bothFractions:
	case atMost && (operator == syntax.OpLe || operator == syntax.OpGt):
		return operator == syntax.OpLe, true
	case atLeast && (operator == syntax.OpGe || operator == syntax.OpLt):
		return operator == syntax.OpGe, true
	}
	sign, ok := order(left, right)
	if !ok {
		return false, false
	}
	return sema.Holds(operator, sign), true
}

// call applies a built-in function to values of its arguments. A function that is not monotonic is evaluated as in a model, which
// needs the exact value of each argument. ok is false if the bounds of the arguments are too wide.
func call(function *sema.Call, args []number) (out number, ok bool, err error) {
	out, ok = apply(function.Func, args)
	if ok {
		return out, true, nil
	}
	constantCall := &sema.Call{Base: function.Base, Func: function.Func}
	for i, argument := range args {
		if !argument.isPoint() && argument.rat == nil {
			return number{}, false, nil
		}
		exprType := function.Args[i].Type()
		argumentValue := sema.Value{Type: exprType, Int: int32(argument.lo), Float: argument.lo, Rat: argument.rat}
		constantCall.Args = append(constantCall.Args, &sema.Const{Base: sema.Base{ValueType: exprType, Position: function.Args[i].Pos()}, Val: argumentValue})
	}
	value, exact, err := sema.EvalExact(constantCall, nil)
	switch {
	case err != nil:
		return number{}, false, err
	case exact && value.Rat != nil:
		return fraction(value.Rat), true, nil
	}
	return point(value.Float), true, nil
}

// apply applies a function that is monotonic in its operands, so that it can be applied to bounds: a minimum, a
// maximum or a rounding. ok is false for other functions, and if bounds are rounded to different integers.
func apply(function sema.Func, args []number) (number, bool) {
	switch out := args[0]; function {
	case sema.FuncMin, sema.FuncMax:
		for _, argument := range args[1:] {
			out = extremum(function == sema.FuncMin, out, argument)
		}
		return out, true
	case sema.FuncFloor, sema.FuncCeil, sema.FuncRound:
		return applyRounding(out, function.Round)
	}
	return number{}, false
}

// extremum returns the minimum of two numbers if least is true, and otherwise their maximum. If their bounds overlap, the
// result has bounds too.
func extremum(least bool, left, right number) number {
	if sign, ok := order(left, right); ok {
		if (sign <= 0) == least {
			return left
		}
		return right
	}
	if left.isNaN() || right.isNaN() {
		return point(math.NaN())
	}
	if !least {
		return extremum(true, left.neg(), right.neg()).neg()
	}
	out := number{lo: min(left.lo, right.lo), hi: min(left.hi, right.hi)}
	out.aboveLo = (left.lo > out.lo || left.aboveLo) && (right.lo > out.lo || right.aboveLo)
	out.belowHi = left.hi == out.hi && left.belowHi || right.hi == out.hi && right.belowHi
	return out
}

// applyRounding applies a monotonic function with integer results, such as floor. ok is false if the results at the two ends of
// the bounds differ.
func applyRounding(value number, function func(float64) float64) (number, bool) {
	lower, upper := function(value.lo), function(value.hi)
	if lower != upper || math.IsInf(lower, 0) {
		return number{}, false
	}
	out := point(lower)
	if value.rat != nil {
		out.rat = new(big.Rat).SetFloat64(lower)
	}
	return out, true
}
