package sema

import (
	"fmt"
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// EvalError is the error of an operation without a value, such as mod(x,0).
type EvalError struct {
	Pos syntax.Pos
	Msg string
	// Undecided says that the value exists but the computed digits do not determine it, for
	// example whether log(3,2) is less than a number close to it.
	Undecided bool
}

// Error returns "line:col: message".
func (e *EvalError) Error() string {
	if !e.Pos.IsValid() {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Eval evaluates an expression in a state; state[i] is the value of Program.Vars[i]. state may be nil for a constant expression. Ints have
// 32 bits and must not overflow; other numbers are float64. The operators & | => and ?: evaluate from left to right and short-circuit. The
// Rat of the result is nil.
//
// Labels, property operators and constants without a value are errors. The error is an *EvalError.
//
// Source: PRISM's explicit engine and simulator; reference, section 1.5.
func Eval(expr Expr, state []int32) (Value, error) {
	result, err := evaluator{state: state, memo: &Memo[outcome]{}}.eval(expr)
	result.Rat = nil
	return result.Value, err
}

// EvalExact evaluates an expression in rational arithmetic, so 0.1+0.2=0.3 holds. It encloses irrational numbers and very long fractions
// between two bounds. A Bool or an Int is always exact; a Double is exact and has its Rat set if exact is true. Infinities and NaN are as in
// Eval. If the bounds do not decide a comparison or a rounding, the error is an *EvalError with Undecided set.
func EvalExact(expr Expr, state []int32) (value Value, exact bool, err error) {
	enclosed, err := Enclose(expr, state)
	return enclosed.Value, enclosed.IsExact, err
}

// Enclosed is the value of an expression in exact arithmetic.
type Enclosed struct {
	Value
	// IsExact says that the value is exact: then the Rat of a number is set.
	IsExact bool
	// Lo and Hi are float64 bounds of the number. They are equal if the number is a float64 or
	// an infinity, both NaN if it is NaN, and the two infinities if nothing is known: then it
	// may even be NaN.
	Lo, Hi float64

	enclosure enclosure
}

// Bounds returns rational bounds of the number, which may be closer than the float64 bounds Lo and Hi. ok is false if the number is infinite or
// unknown, or far outside the range of float64.
func (x Enclosed) Bounds() (low, high *big.Rat, ok bool) {
	const maxExponent = 1 << 12 // in bits: the range of float64 is 2098 bits
	switch {
	case x.IsExact:
		return x.Rat, x.Rat, x.Rat != nil
	case !x.enclosure.isFinite():
		return nil, nil, false
	}
	for _, bound := range []*big.Float{x.enclosure.low, x.enclosure.high} {
		if exponent := bound.MantExp(nil); exponent < -maxExponent || exponent > maxExponent {
			return nil, nil, false
		}
	}
	low, _ = x.enclosure.low.Rat(nil)
	high, _ = x.enclosure.high.Rat(nil)
	return low, high, true
}

// Enclose evaluates an expression in a state, in exact arithmetic as EvalExact does. It returns bounds of the value even if the value has no
// fraction.
func Enclose(expr Expr, state []int32) (Enclosed, error) {
	return enclose(evaluator{state: state, isExact: true, memo: &Memo[outcome]{}}, expr)
}

// Encloser evaluates several expressions in one state, as Enclose does. It evaluates a large operand that they share only once, such as the exit
// rate by which the rates of a race are divided.
type Encloser struct{ evaluator evaluator }

// NewEncloser returns an Encloser for a state.
func NewEncloser(state []int32) Encloser {
	const smallSize = 64 // the number of look-ups after which results are stored
	return Encloser{evaluator{state: state, isExact: true, memo: &Memo[outcome]{lookups: LargeSize - smallSize}}}
}

// Enclose evaluates an expression.
func (e Encloser) Enclose(expr Expr) (Enclosed, error) { return enclose(e.evaluator, expr) }

// enclose evaluates an expression with an evaluator in exact arithmetic.
func enclose(exactEvaluator evaluator, expr Expr) (Enclosed, error) {
	value, err := exactEvaluator.eval(expr)
	if err != nil || value.Type == Bool {
		return Enclosed{Value: value.Value, IsExact: err == nil}, err
	}
	enclosed := Enclosed{Value: value.Value, IsExact: !value.isInexact, enclosure: value.enclosure}
	bounds := value.toEnclosure().toInterval()
	enclosed.Lo, enclosed.Hi = bounds.low, bounds.high
	return enclosed, nil
}

// evaluator evaluates expressions in one state.
type evaluator struct {
	state   []int32
	isExact bool
	memo    *Memo[outcome]
}

// outcome is the result of evaluating an expression: a value or an error.
type outcome struct {
	operand
	err error
}

// operand is an intermediate value. In exact arithmetic a number has a Rat, or inexact is set and
// only its enclosure is known.
type operand struct {
	Value
	isInexact bool
	enclosure enclosure
}

// toEnclosure returns the enclosure of a number.
func (x operand) toEnclosure() enclosure {
	switch {
	case x.isInexact:
		return x.enclosure
	case x.Rat != nil:
		return rationalEnclosure(x.Rat)
	}
	return floatEnclosure(x.Float)
}

// enclosedOperand returns a number with a known enclosure. floatResult is its value in float64 arithmetic, which is moved into the enclosure.
func enclosedOperand(inFloat float64, in enclosure) operand {
	bounds := in.toInterval()
	return operand{DoubleValue(max(bounds.low, min(bounds.high, inFloat))), true, in}
}

// undecidedError returns the error for a result that the enclosures do not determine.
func undecidedError(expr Expr, format string, args ...any) (operand, error) {
	return operand{}, &EvalError{Pos: expr.Pos(), Msg: fmt.Sprintf(format, args...), Undecided: true}
}

// evalError returns an error at the position of an expression without a value.
func evalError(expr Expr, format string, args ...any) (operand, error) {
	return operand{}, &EvalError{Pos: expr.Pos(), Msg: fmt.Sprintf(format, args...)}
}

// eval evaluates an expression. It caches the results of operations, because expressions share operands.
func (ev evaluator) eval(expr Expr) (operand, error) {
	switch expr := expr.(type) {
	case *Const:
		return ev.constantOperand(expr.Val), nil
	case *Var:
		return ev.variableOperand(expr)
	case *Param:
		return evalError(expr, "found the parameter %s, want a number", expr.Name)
	}
	if cachedResult, ok := ev.memo.Get(expr); ok {
		return cachedResult.operand, cachedResult.err
	}
	value, err := ev.evalOperation(expr)
	ev.memo.Put(expr, outcome{value, err})
	return value, err
}

// evalOperation evaluates the operands of an operation, and then the operation.
func (ev evaluator) evalOperation(expr Expr) (operand, error) {
	switch expr := expr.(type) {
	case *Unary:
		value, err := ev.eval(expr.X)
		if err != nil {
			return value, err
		}
		return ev.applyUnary(expr, value)
	case *Binary:
		return ev.evalBinary(expr)
	case *Cond:
		return ev.evalCond(expr)
	case *Call:
		args, err := ev.evalArgs(expr.Args)
		if err != nil {
			return operand{}, err
		}
		return ev.applyCall(expr, args)
	case *constRef:
		return evalError(expr, "constant %q has no value yet", expr.constant.name)
	case *Label:
		return evalError(expr, "label %q has no value without the model it belongs to", expr.Name)
	}
	return evalError(expr, "the operator has no value in a single state")
}

// evalArgs evaluates the arguments of a function call.
func (ev evaluator) evalArgs(exprs []Expr) ([]operand, error) {
	args := make([]operand, len(exprs))
	for i, expr := range exprs {
		value, err := ev.eval(expr)
		if err != nil {
			return nil, err
		}
		args[i] = value
	}
	return args, nil
}

// constantOperand returns a constant as an operand. In exact arithmetic, the operand has a fraction or an enclosure.
func (ev evaluator) constantOperand(value Value) operand {
	switch {
	case !ev.isExact || value.Type == Bool:
		return operand{Value: value}
	case value.Type == Int:
		return operand{Value: IntValue(value.Int)}
	case value.Rat != nil:
		return operand{Value: RatValue(value.Rat)}
	case value.enclosure != nil:
		return enclosedOperand(value.Float, *value.enclosure)
	case math.IsInf(value.Float, 0) || math.IsNaN(value.Float):
		return enclosedOperand(value.Float, floatEnclosure(value.Float))
	}
	return operand{Value: RatValue(new(big.Rat).SetFloat64(value.Float))} // a float64 from the caller is exact
}

// variableOperand returns the value of a variable in the state.
func (ev evaluator) variableOperand(expr *Var) (operand, error) {
	if expr.Slot >= len(ev.state) {
		return evalError(expr, "found a variable, want a constant expression")
	}
	value := ev.state[expr.Slot]
	switch {
	case expr.ValueType == Bool:
		return operand{Value: BoolValue(value != 0)}, nil
	case ev.isExact:
		return operand{Value: IntValue(value)}, nil
	}
	return operand{Value: Value{Type: Int, Int: value, Float: float64(value)}}, nil
}

// applyUnary applies ! or - to a value.
func (ev evaluator) applyUnary(expr *Unary, value operand) (operand, error) {
	switch {
	case expr.Op == syntax.OpNot:
		value.Bool = !value.Bool
		return value, nil
	case value.Type == Int:
		return ev.integerResult(expr)(Narrow(-int64(value.Int)))
	}
	return ev.doubleResult(-value.Float, numberOperation{
		fractionResult:  func() rational { return value.asRat().neg() },
		enclosureResult: func() enclosure { return value.toEnclosure().neg() },
	}, value), nil
}

// evalBinary evaluates an infix operator. & | and => do not evaluate the right operand if the left one determines the result.
func (ev evaluator) evalBinary(expr *Binary) (operand, error) {
	left, err := ev.eval(expr.X)
	if err != nil || shortCircuits(expr.Op, left.Bool) {
		left.Bool = left.Bool || expr.Op == syntax.OpImplies // false => y is true; false & y is false; true | y is true
		return left, err
	}
	right, err := ev.eval(expr.Y)
	if err != nil {
		return right, err
	}
	return ev.applyBinary(expr, left, right)
}

// shortCircuits reports whether the left operand of an operator alone determines the result.
func shortCircuits(op syntax.Op, left bool) bool {
	switch op {
	case syntax.OpAnd, syntax.OpImplies:
		return !left
	case syntax.OpOr:
		return left
	}
	return false
}

// applyBinary applies an infix operator to the values of its operands.
func (ev evaluator) applyBinary(expr *Binary, left, right operand) (operand, error) {
	if left.Type == Bool {
		return operand{Value: BoolValue(applyToBools(expr.Op, left.Bool, right.Bool))}, nil
	}
	switch expr.Op {
	case syntax.OpAdd, syntax.OpSub, syntax.OpMul:
		if left.Type == Int && right.Type == Int {
			return ev.integerResult(expr)(Narrow(arith(expr.Op, int64(left.Int), int64(right.Int))))
		}
		return ev.doubleResult(arith(expr.Op, left.Float, right.Float), numberOperation{
			fractionResult:  func() rational { return ratArith(expr.Op, left.asRat(), right.asRat()) },
			enclosureResult: func() enclosure { return left.toEnclosure().apply(expr.Op, right.toEnclosure()) },
		}, left, right), nil
	case syntax.OpDiv:
		return ev.doubleResult(left.Float/right.Float, numberOperation{
			fractionResult:  func() rational { return left.asRat().quo(right.asRat()) },
			enclosureResult: func() enclosure { return left.toEnclosure().dividedBy(right.toEnclosure()) },
		}, left, right), nil
	case syntax.OpPow:
		return ev.pow(expr, left, right)
	}
	return ev.compare(expr, left, right)
}

// applyToBools applies an infix operator to two Bools. The left operand of & | or => must not determine the result alone.
func applyToBools(op syntax.Op, left, right bool) bool {
	switch op {
	case syntax.OpEq, syntax.OpIff:
		return left == right
	case syntax.OpNe:
		return left != right
	}
	return right // true & y, false | y and true => y are y
}

// evalCond evaluates the condition of ?: and then the chosen branch.
func (ev evaluator) evalCond(expr *Cond) (operand, error) {
	condition, err := ev.eval(expr.Condition)
	if err != nil {
		return condition, err
	}
	branch := expr.Else
	if condition.Bool {
		branch = expr.Then
	}
	value, err := ev.eval(branch)
	if expr.ValueType == Double {
		value.Value = value.toDouble()
	}
	return value, err
}

// applyCall applies a built-in function to its arguments.
func (ev evaluator) applyCall(expr *Call, args []operand) (operand, error) {
	switch expr.Func {
	case FuncMin, FuncMax:
		result := args[0]
		for _, arg := range args[1:] {
			result = ev.extremum(expr.Func, result, arg)
		}
		if expr.ValueType == Double {
			result.Value = result.toDouble()
		}
		return result, nil
	case FuncFloor, FuncCeil, FuncRound:
		return ev.toInt(expr, args[0])
	case FuncPow:
		return ev.pow(expr, args[0], args[1])
	case FuncMod:
		return ev.integerResult(expr)(expr.Mod(args[0].Int, args[1].Int))
	default: // FuncLog
		number, base := args[0], args[1]
		floatResult := Log(number.Float, base.Float)
		return ev.doubleResult(floatResult, numberOperation{
			fractionResult:  func() rational { return number.asRat().log(base.asRat()) },
			enclosureResult: func() enclosure { return number.toEnclosure().log(base.toEnclosure(), floatResult) },
		}, number, base), nil
	}
}

// extremum returns the minimum or maximum of two numbers. NaN with any number gives NaN, and -0.0 is less than 0.0.
func (ev evaluator) extremum(function Func, left, right operand) operand {
	isMin := function == FuncMin
	switch {
	case left.Type == Int && right.Type == Int:
		leftIsLarger := left.Int > right.Int
		if leftIsLarger == isMin {
			return right
		}
		return left
	case ev.isExact:
		return exactExtremum(function, left, right)
	case isMin:
		return operand{Value: DoubleValue(min(left.Float, right.Float))}
	}
	return operand{Value: DoubleValue(max(left.Float, right.Float))}
}

// exactExtremum returns the minimum or maximum of two numbers in exact arithmetic. If enclosures do not decide which number it is, it returns an
// enclosure of the result.
func exactExtremum(function Func, left, right operand) operand {
	isMin := function == FuncMin
	if !left.isInexact && !right.isInexact {
		leftIsLarger := left.asRat().cmp(right.asRat()) > 0
		if leftIsLarger == isMin {
			return right
		}
		return left
	}
	leftEnclosure, rightEnclosure := left.toEnclosure(), right.toEnclosure()
	leftIsSmaller, isDecided := leftEnclosure.compare(syntax.OpLt, rightEnclosure)
	switch {
	case leftEnclosure.isUnbounded || rightEnclosure.isUnbounded:
		return enclosedOperand(left.Float, enclosure{isUnbounded: true})
	case math.IsNaN(leftEnclosure.specialValue) || math.IsNaN(rightEnclosure.specialValue):
		return enclosedOperand(math.NaN(), floatEnclosure(math.NaN()))
	case isDecided && leftIsSmaller == isMin:
		return left
	case isDecided:
		return right
	case isMin:
		return enclosedOperand(min(left.Float, right.Float), enclosure{low: smaller(leftEnclosure.low, rightEnclosure.low), high: smaller(leftEnclosure.high, rightEnclosure.high)})
	}
	return enclosedOperand(max(left.Float, right.Float), enclosure{low: larger(leftEnclosure.low, rightEnclosure.low), high: larger(leftEnclosure.high, rightEnclosure.high)})
}

// toInt evaluates floor, ceil or round of a number. It returns an error if the result does not fit 32 bits, or if only bounds of the number are known and they
// do not decide the result.
func (ev evaluator) toInt(expr *Call, value operand) (operand, error) {
	if value.Type == Int {
		return value, nil
	}
	if ev.isExact && !value.isInexact {
		integer, ok := value.asRat().toInt(expr.Func)
		if !ok {
			return ev.integerResult(expr)(0, expr.Func.notRepresentable(value.Value))
		}
		return operand{Value: IntValue(integer)}, nil
	}
	if ev.isExact && (value.enclosure.isFinite() || value.enclosure.isUnbounded) {
		return ev.enclosedToInt(expr, value)
	}
	return ev.integerResult(expr)(expr.Func.ToInt(value.Float))
}

// enclosedToInt evaluates floor, ceil or round of a number of which only bounds are known. If the bounds give different integers, it returns an
// error that says that the value is undecided.
func (ev evaluator) enclosedToInt(expr *Call, value operand) (operand, error) {
	rounded := Enclosed{enclosure: value.enclosure}
	if low, high, ok := rounded.Bounds(); ok {
		lowInt, lowFits := rational{low}.toInt(expr.Func)
		highInt, highFits := rational{high}.toInt(expr.Func)
		if lowFits && highFits && lowInt == highInt {
			return ev.integerResult(expr)(lowInt, nil)
		}
	}
	bounds := value.enclosure.toInterval()
	low, high := expr.Func.Round(bounds.low), expr.Func.Round(bounds.high)
	isOutside := low > math.MaxInt32 || high < math.MinInt32
	if isOutside || low == high {
		return ev.integerResult(expr)(0, expr.Func.notRepresentable(value.Value))
	}
	return undecidedError(expr, "%s is undecided for an irrational or very long number between %v and %v", expr.Func, bounds.low, bounds.high)
}

// pow evaluates a power: as an integer for two ints, otherwise as a double.
func (ev evaluator) pow(expr Expr, left, right operand) (operand, error) {
	if left.Type != Int || right.Type != Int {
		floatResult := Pow(left.Float, right.Float)
		return ev.doubleResult(floatResult, numberOperation{
			fractionResult:  func() rational { return left.asRat().pow(right.asRat()) },
			enclosureResult: func() enclosure { return left.toEnclosure().pow(right.toEnclosure(), floatResult) },
		}, left, right), nil
	}
	return ev.integerResult(expr)(IntPow(left.Int, right.Int))
}

// compare evaluates a comparison of two numbers (= != < <= > >=). In exact arithmetic it returns an error if only bounds of a number are known and they do not
// decide the comparison.
func (ev evaluator) compare(expr *Binary, left, right operand) (operand, error) {
	switch {
	case left.Type == Int && right.Type == Int:
		return operand{Value: BoolValue(Holds(expr.Op, int(left.Int)-int(right.Int)))}, nil
	case !ev.isExact:
		return operand{Value: BoolValue(compareFloats(expr.Op, left.Float, right.Float))}, nil
	case !left.isInexact && !right.isInexact:
		return operand{Value: BoolValue(Holds(expr.Op, left.asRat().cmp(right.asRat())))}, nil
	}
	// At least one number is irrational or very long, so only bounds of it are known.
	leftEnclosure, rightEnclosure := left.toEnclosure(), right.toEnclosure()
	holds, ok := leftEnclosure.compare(expr.Op, rightEnclosure)
	if !ok {
		leftBounds, rightBounds := leftEnclosure.toInterval(), rightEnclosure.toInterval()
		return undecidedError(expr, "the comparison is undecided: the left number is between %v and %v, the right one between %v and %v, and at least one is irrational or very long", leftBounds.low, leftBounds.high, rightBounds.low, rightBounds.high)
	}
	return operand{Value: BoolValue(holds)}, nil
}

// compareFloats compares two float64 numbers as PRISM's explicit engine does.
func compareFloats(op syntax.Op, left, right float64) bool {
	switch op {
	case syntax.OpEq:
		return SameFloat(left, right)
	case syntax.OpNe:
		return !SameFloat(left, right)
	case syntax.OpLt:
		return left < right
	case syntax.OpLe:
		return left <= right
	case syntax.OpGt:
		return left > right
	}
	return left >= right
}

// integerResult returns a function that converts the two results of an integer operation to an operand. An error gets the position of the
// expression. It is used as in integerResult(expr)(IntPow(base, exponent)).
func (ev evaluator) integerResult(expr Expr) func(integer int32, err error) (operand, error) {
	return func(integer int32, err error) (operand, error) {
		switch {
		case err != nil:
			return operand{}, &EvalError{Pos: expr.Pos(), Msg: err.Error()}
		case ev.isExact:
			return operand{Value: IntValue(integer)}, nil
		}
		return operand{Value: Value{Type: Int, Int: integer, Float: float64(integer)}}, nil
	}
}

// numberOperation computes the same operation on fractions and on enclosures.
type numberOperation struct {
	fractionResult  func() rational
	enclosureResult func() enclosure
}

// doubleResult returns the result of an operation on numbers. In float64 arithmetic it is floatResult. In exact arithmetic it is a fraction if all operands are
// fractions and the result is one; otherwise it is an enclosure, which is an interval that contains the result.
func (ev evaluator) doubleResult(floatResult float64, op numberOperation, operands ...operand) operand {
	if !ev.isExact {
		return operand{Value: DoubleValue(floatResult)}
	}
	for _, value := range operands {
		if value.isInexact {
			return enclosedOperand(floatResult, op.enclosureResult())
		}
	}
	if fraction := op.fractionResult(); fraction.Rat != nil {
		return operand{Value: RatValue(fraction.Rat)}
	}
	return enclosedOperand(floatResult, op.enclosureResult())
}
