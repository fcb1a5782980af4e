package check

import (
	"math"
	"math/big"

	"tilecheck/internal/interval"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// The operations below are exact on fractions. Applied to bounds, they return bounds of the result (interval
// arithmetic, rounded outwards).

// negated returns -value. Its lower bound is the negated upper bound of value, and its upper bound the negated lower bound.
func (value number) negated() number {
	negated := boundedNumber(-value.Hi, -value.Lo)
	negated.aboveLo, negated.belowHi = value.belowHi, value.aboveLo
	if value.Exact != nil {
		negated.Exact = new(big.Rat).Neg(value.Exact)
	}
	return negated
}

// applyArithmetic applies an arithmetic operator to two numbers. ok is false if the result has no bounds, as for a division by an interval that
// contains 0.
func applyArithmetic(operator syntax.Op, left, right number) (value number, ok bool) {
	if left.Exact != nil && right.Exact != nil {
		if exact := applyToFractions(operator, left.Exact, right.Exact); exact != nil {
			return exactNumber(exact), true
		}
	}
	if operator == syntax.OpSub {
		return applyArithmetic(syntax.OpAdd, left, right.negated())
	}
	if left.isInfinite() || right.isInfinite() || left.isNaN() || right.isNaN() {
		return applyToInfiniteOrNaN(operator, left, right)
	}
	switch operator {
	case syntax.OpAdd:
		return addFinite(left, right), true
	case syntax.OpMul:
		return intervalResult(left, right, productBounds), true
	case syntax.OpDiv:
		return divideNumbers(left, right)
	case syntax.OpPow:
		return powerOf(left, right)
	}
	return number{}, false
}

// addFinite returns bounds of the sum of two finite numbers.
func addFinite(left, right number) number {
	lower, _ := sumBounds(left.Lo, right.Lo)
	_, upper := sumBounds(left.Hi, right.Hi)
	sum := boundedNumber(lower, upper)
	sum.aboveLo, sum.belowHi = left.aboveLo || right.aboveLo, left.belowHi || right.belowHi
	return sum
}

// divideNumbers returns bounds of the quotient of two finite numbers. ok is false if the bounds of the divisor contain 0. A division by exactly 0
// gives infinity or NaN if the sign of the dividend is known.
func divideNumbers(dividend, divisor number) (value number, ok bool) {
	if divisor.Lo > 0 || divisor.Hi < 0 {
		return intervalResult(dividend, divisor, quotientBounds), true
	}
	isZeroDivisor := divisor.isPoint() // the bounds contain 0
	hasKnownSign := dividend.isPoint() || dividend.Lo > 0 || dividend.Hi < 0
	if isZeroDivisor && hasKnownSign {
		return pointNumber(dividend.Lo / divisor.Lo), true
	}
	return number{}, false
}

// powerOf returns bounds of base to the power of exponent, for finite numbers. ok is false unless the exponent is an integer from 0 to maxPower, or both
// numbers are points, that is, have equal bounds.
func powerOf(base, exponent number) (value number, ok bool) {
	isNatural := exponent.isPoint() && exponent.Lo == math.Trunc(exponent.Lo) && exponent.Lo >= 0
	if isNatural && exponent.Lo <= maxPower {
		return naturalPower(base, int(exponent.Lo)), true
	}
	if base.isPoint() && exponent.isPoint() {
		return withMargin(sema.Pow(base.Lo, exponent.Lo)), true
	}
	return number{}, false
}

// applyToInfiniteOrNaN applies +, *, / or a power to two numbers, at least one of which is infinite or NaN. ok is false if the result is unknown.
func applyToInfiniteOrNaN(operator syntax.Op, left, right number) (value number, ok bool) {
	if left.isPoint() && right.isPoint() {
		return applyToFloats(operator, left.Lo, right.Lo)
	}
	if left.isNaN() || right.isNaN() {
		return pointNumber(math.NaN()), operator != syntax.OpPow
	}
	// One number is infinite. The other number is finite, with different bounds.
	switch {
	case operator == syntax.OpAdd && left.isInfinite():
		return left, true
	case operator == syntax.OpAdd:
		return right, true
	case operator == syntax.OpDiv && right.isInfinite():
		return pointNumber(0), true
	case operator == syntax.OpMul, operator == syntax.OpDiv:
		sign := left.knownSign() * right.knownSign()
		return pointNumber(sign * math.Inf(1)), sign != 0
	}
	return number{}, false
}

// applyToFloats applies +, *, / or a power to two float64 numbers, which may be infinite or NaN. The result follows IEEE 754; a power
// follows PRISM. ok is false for other operators.
func applyToFloats(operator syntax.Op, left, right float64) (value number, ok bool) {
	switch operator {
	case syntax.OpAdd:
		return pointNumber(left + right), true
	case syntax.OpMul:
		return pointNumber(left * right), true
	case syntax.OpDiv:
		return pointNumber(left / right), true
	case syntax.OpPow:
		return pointNumber(sema.Pow(left, right)), true
	}
	return number{}, false
}

// knownSign returns 1 for a number that is certainly positive, -1 for a number that is certainly negative, and 0 if the sign is unknown.
func (value number) knownSign() float64 {
	switch {
	case value.Lo > 0 || value.Lo == 0 && value.aboveLo:
		return 1
	case value.Hi < 0 || value.Hi == 0 && value.belowHi:
		return -1
	}
	return 0
}

// maxPower is the greatest exponent of a power that is computed by multiplications.
const maxPower = 1000

// naturalPower returns bounds of base to the power of a nonnegative integer, by repeated multiplication of intervals.
func naturalPower(base number, exponent int) number {
	power := pointNumber(1)
	for range exponent {
		power = intervalResult(power, base, productBounds)
	}
	if exponent%2 == 0 { // an even power is never negative
		power.Lo = max(power.Lo, 0)
	}
	return power
}

// withMargin returns bounds around value, the rounded result of a library function. The true result lies between them if the relative rounding
// error of the function is below 2^-50.
func withMargin(value float64) number {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return pointNumber(value)
	}
	const (
		relativeMargin = 0x1p-45
		absoluteMargin = 0x1p-1060 // for values near 0, whose rounding error is not relative
	)
	margin := relativeMargin*math.Abs(value) + absoluteMargin
	return boundedNumber(value-margin, value+margin)
}

// applyToFractions applies an arithmetic operator to two fractions. It returns nil if the result is not a fraction or is too large.
func applyToFractions(operator syntax.Op, left, right *big.Rat) *big.Rat {
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
	isInRange := exponent.Sign() >= 0 && exponent.Cmp(big.NewRat(maxPower, 1)) <= 0
	if !exponent.IsInt() || !isInRange {
		return nil
	}
	power := big.NewRat(1, 1)
	for range exponent.Num().Int64() {
		power.Mul(power, base)
	}
	return power
}

// sumBounds returns the narrowest float64 bounds of left + right.
//
// Source: the rounding error is computed by TwoSum (Knuth, vol. 2, 4.2.2).
func sumBounds(left, right float64) (lower, upper float64) {
	rounded := left + right
	rightPart := rounded - left
	leftPart := rounded - rightPart
	roundingError := (left - leftPart) + (right - rightPart)
	return boundsOfRounded(rounded, roundingError)
}

// productBounds returns float64 bounds of left * right. At most one float64 number lies between the bounds. They are equal only if the product is a
// float64 number.
func productBounds(left, right float64) (lower, upper float64) {
	rounded := left * right
	mayUnderflow := math.Abs(rounded) < leastExactError && left != 0 && right != 0
	if mayUnderflow {
		return interval.Below(rounded), interval.Above(rounded)
	}
	roundingError := math.FMA(left, right, -rounded)
	return boundsOfRounded(rounded, roundingError)
}

// quotientBounds returns float64 bounds of left / right. At most one float64 number lies between the bounds. They are equal only if the quotient is a
// float64 number.
func quotientBounds(left, right float64) (lower, upper float64) {
	rounded := left / right
	mayUnderflow := left != 0 && min(math.Abs(rounded), math.Abs(left)) < leastExactError
	if mayUnderflow {
		return interval.Below(rounded), interval.Above(rounded)
	}
	// The exact quotient is rounded + remainder/right, so remainder and right give the sign of the rounding error.
	remainder := math.FMA(-rounded, right, left)
	roundingErrorSign := remainder * math.Copysign(1, right)
	return boundsOfRounded(rounded, roundingErrorSign)
}

// leastExactError is the least magnitude of a result whose rounding error is certainly a float64 number.
const leastExactError = 0x1p-900

// boundsOfRounded returns bounds of a real number x that was rounded to a float64 number. errorSign has the sign of x - rounded.
func boundsOfRounded(rounded, errorSign float64) (lower, upper float64) {
	switch {
	case math.IsInf(rounded, 1): // x may be finite, and greater than all float64 numbers
		return math.MaxFloat64, rounded
	case math.IsInf(rounded, -1):
		return rounded, -math.MaxFloat64
	case errorSign < 0:
		return interval.Below(rounded), rounded
	case errorSign > 0:
		return rounded, interval.Above(rounded)
	case errorSign == 0:
		return rounded, rounded
	}
	return interval.Below(rounded), interval.Above(rounded) // errorSign is NaN after an overflow
}

// intervalResult returns bounds of operation(left, right) for two finite numbers with bounds. The operation returns bounds of its result for two
// float64 numbers. It must be monotonic in each operand.
func intervalResult(left, right number, operation func(x, y float64) (lower, upper float64)) number {
	bounds := boundedNumber(math.Inf(1), math.Inf(-1)) // the extrema are at the ends of the operands' bounds
	for _, leftEnd := range []float64{left.Lo, left.Hi} {
		for _, rightEnd := range []float64{right.Lo, right.Hi} {
			lower, upper := operation(leftEnd, rightEnd)
			if math.IsNaN(lower) { // from an infinite end, which a finite operand does not attain
				continue
			}
			bounds.Lo = min(bounds.Lo, lower)
			bounds.Hi = max(bounds.Hi, upper)
		}
	}
	return bounds
}

// signOfDifference returns the sign of left - right. ok is false if overlapping bounds leave the sign unknown.
func signOfDifference(left, right number) (sign int, ok bool) {
	switch {
	case left.Exact != nil && right.Exact != nil:
		return left.Exact.Cmp(right.Exact), true
	case left.isBelow(right):
		return -1, true
	case right.isBelow(left):
		return +1, true
	case left.isPoint() && right.isPoint() && left.Lo == right.Lo:
		return 0, true
	}
	return 0, false
}

// isBelow reports whether the bounds prove that value is less than other.
func (value number) isBelow(other number) bool {
	if value.Hi == other.Lo {
		return value.isBelowHi() || other.isAboveLo()
	}
	return value.Hi < other.Lo
}

// compareNumbers reports whether a comparison of two numbers holds. ok is false if their bounds do not decide the comparison. As in PRISM, NaN
// equals NaN.
func compareNumbers(operator syntax.Op, left, right number) (holds, ok bool) {
	if left.isNaN() || right.isNaN() {
		areEqual := left.isNaN() && right.isNaN()
		return operator == syntax.OpEq && areEqual || operator == syntax.OpNe && !areEqual, true
	}
	if sign, isKnown := signOfDifference(left, right); isKnown {
		return sema.Holds(operator, sign), true
	}
	// The order is unknown, but bounds that touch decide <= and >=, and their negations > and <.
	atMost, atLeast := left.Hi <= right.Lo, left.Lo >= right.Hi
	switch {
	case atMost && operator == syntax.OpLe, atLeast && operator == syntax.OpGe:
		return true, true
	case atMost && operator == syntax.OpGt, atLeast && operator == syntax.OpLt:
		return false, true
	}
	return false, false
}

// applyFunction applies the built-in function of a call, such as max or log, to numbers. ok is false if the bounds of the arguments do not
// determine the result.
func applyFunction(call *sema.Call, args []number) (functionValue number, ok bool, err error) {
	functionValue, ok = applyMonotonic(call.Func, args)
	if ok {
		return functionValue, true, nil
	}
	constantCall, areKnown := withConstants(call, args)
	if !areKnown {
		return number{}, false, nil
	}
	value, isExact, err := sema.EvalExact(constantCall, nil)
	switch {
	case err != nil:
		return number{}, false, err
	case isExact && value.Rat != nil:
		return exactNumber(value.Rat), true, nil
	}
	return pointNumber(value.Float), true, nil
}

// withConstants returns a copy of a call in which the numbers args replace the arguments. ok is false if some number has neither an exact value
// nor equal bounds.
func withConstants(call *sema.Call, args []number) (constantCall *sema.Call, ok bool) {
	constantCall = &sema.Call{Base: call.Base, Func: call.Func, Array: call.Array}
	for i, argument := range args {
		isKnown := argument.isPoint() || argument.Exact != nil
		if !isKnown {
			return nil, false
		}
		base := sema.Base{ValueType: call.Args[i].Type(), Position: call.Args[i].Pos()}
		value := sema.Value{Type: base.ValueType, Int: int32(argument.Lo), Float: argument.Lo, Rat: argument.Exact}
		constantCall.Args = append(constantCall.Args, &sema.Const{Base: base, Val: value})
	}
	return constantCall, true
}

// applyMonotonic applies a monotonic built-in function to numbers: a minimum, a maximum or a rounding. ok is false for other functions, and
// if the bounds are rounded to different integers.
func applyMonotonic(function sema.Func, args []number) (value number, ok bool) {
	switch function {
	case sema.FuncMin:
		return combineAll(args, minimum), true
	case sema.FuncMax:
		return combineAll(args, maximum), true
	case sema.FuncFloor, sema.FuncCeil, sema.FuncRound:
		return applyRounding(args[0], function.Round)
	}
	return number{}, false
}

// combineAll combines all operands from left to right. There must be at least one operand.
func combineAll(operands []number, combine func(left, right number) number) number {
	combined := operands[0]
	for _, operand := range operands[1:] {
		combined = combine(combined, operand)
	}
	return combined
}

// minimum returns the minimum of two numbers. If their bounds overlap, it returns bounds of the minimum. It returns NaN if an operand is NaN.
func minimum(left, right number) number {
	if sign, isKnown := signOfDifference(left, right); isKnown {
		if sign <= 0 {
			return left
		}
		return right
	}
	if left.isNaN() || right.isNaN() {
		return pointNumber(math.NaN())
	}
	result := boundedNumber(min(left.Lo, right.Lo), min(left.Hi, right.Hi))
	// The minimum is above its lower bound if both operands are above it. It is below its upper bound if some operand is below it.
	result.aboveLo = (left.Lo > result.Lo || left.aboveLo) && (right.Lo > result.Lo || right.aboveLo)
	result.belowHi = left.Hi == result.Hi && left.belowHi || right.Hi == result.Hi && right.belowHi
	return result
}

// maximum returns the maximum of two numbers, or bounds of the maximum if their bounds overlap. It returns NaN if an operand is NaN.
func maximum(left, right number) number {
	if sign, isKnown := signOfDifference(left, right); isKnown {
		if sign > 0 {
			return left
		}
		return right
	}
	return minimum(left.negated(), right.negated()).negated()
}

// applyRounding rounds a number to an integer by a monotonic function, such as math.Floor. ok is false if the two bounds are rounded to
// different integers, or if the result is infinite.
func applyRounding(value number, round func(float64) float64) (rounded number, ok bool) {
	lower, upper := round(value.Lo), round(value.Hi)
	if lower != upper || math.IsInf(lower, 0) {
		return number{}, false
	}
	rounded = pointNumber(lower)
	if value.Exact != nil {
		rounded.Exact = new(big.Rat).SetFloat64(lower)
	}
	return rounded, true
}
