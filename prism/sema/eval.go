package sema

import (
	"fmt"
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// EvalError is the error of an operation that has no value, such as mod(x,0), with its position.
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

// Eval evaluates an expression in a state; state[i] is the value of Program.Vars[i]. For a constant
// expression state may be nil. Eval is the reference for faster evaluators: 32-bit integers that must
// not overflow, float64 arithmetic, operands from left to right, and short-circuit evaluation of &
// | => and ?:. The Rat of the result is nil.
//
// Labels, property operators and expressions that were not instantiated have no value in a state
// and are errors. Errors are *EvalError.
//
// Source: PRISM's explicit engine and simulator; reference, section 1.5.
func Eval(e Expr, state []int32) (Value, error) {
	v, err := evaluator{state: state, memo: &Memo[outcome]{}}.eval(e)
	v.Rat = nil
	return v.Value, err
}

// EvalExact evaluates an expression in rational arithmetic where possible, so that 0.1+0.2=0.3
// holds. Irrational numbers (logarithms, fractional powers), and fractions with more than some
// thousand digits, are enclosed between two bounds. If the bounds do not decide a comparison or a
// rounding to an Int, the error has Undecided set. Infinities and NaN are computed and
// compared as in Eval. So a Bool or Int is always exact. A Double is exact, and has its Rat set, if
// exact is true. Integers have 32 bits.
func EvalExact(e Expr, state []int32) (v Value, exact bool, err error) {
	x, err := Enclose(e, state)
	return x.Value, x.Exact, err
}

// Enclosed is the value of an expression in exact arithmetic.
type Enclosed struct {
	Value
	// Exact says that the value is exact: then the Rat of a number is set.
	Exact bool
	// Lo and Hi are float64 bounds of the number. They are equal if the number is a float64 or
	// an infinity, both NaN if it is NaN, and the two infinities if nothing is known: then it
	// may even be NaN.
	Lo, Hi float64

	enclosure enclosure
}

// Ends returns rational bounds of the number, which for irrational numbers are closer than Lo and Hi.
// ok is false if the number is infinite, unknown, or far outside the range of float64.
func (x Enclosed) Ends() (lo, hi *big.Rat, ok bool) {
	const maxExponent = 1 << 12 // in bits: the range of float64 is 2098 bits
	switch {
	case x.Exact:
		return x.Rat, x.Rat, x.Rat != nil
	case !x.enclosure.isFinite():
		return nil, nil, false
	}
	for _, bound := range []*big.Float{x.enclosure.lo, x.enclosure.hi} {
		if exponent := bound.MantExp(nil); exponent < -maxExponent || exponent > maxExponent {
			return nil, nil, false
		}
	}
	lo, _ = x.enclosure.lo.Rat(nil)
	hi, _ = x.enclosure.hi.Rat(nil)
	return lo, hi, true
}

// Enclose evaluates an expression like EvalExact and returns bounds of its value.
func Enclose(e Expr, state []int32) (Enclosed, error) {
	x, err := evaluator{state: state, exact: true, memo: &Memo[outcome]{}}.eval(e)
	if err != nil || x.Type == Bool {
		return Enclosed{Value: x.Value, Exact: err == nil}, err
	}
	result := Enclosed{Value: x.Value, Exact: !x.inexact, enclosure: x.enclosure}
	bounds := x.toEnclosure().toInterval()
	result.Lo, result.Hi = bounds.lo, bounds.hi
	return result, nil
}

// evaluator evaluates expressions in one state.
type evaluator struct {
	state []int32
	exact bool
	memo  *Memo[outcome]
}

type outcome struct {
	operand
	err error
}

// operand is an intermediate value. In exact arithmetic a number has a Rat, or inexact is set and
// only its enclosure is known.
type operand struct {
	Value
	inexact   bool
	enclosure enclosure
}

// toEnclosure returns the enclosure of a number.
func (x operand) toEnclosure() enclosure {
	switch {
	case x.inexact:
		return x.enclosure
	case x.Rat != nil:
		return rationalEnclosure(x.Rat)
	}
	return floatEnclosure(x.Float)
}

// enclosedOperand returns a number of which only an enclosure is known. f is its value in float64
// arithmetic, which is moved into the enclosure.
func enclosedOperand(f float64, in enclosure) operand {
	bounds := in.toInterval()
	return operand{DoubleValue(max(bounds.lo, min(bounds.hi, f))), true, in}
}

// undecidedError returns an error for a result that exists, but that the enclosures do not decide.
func undecidedError(e Expr, format string, args ...any) (operand, error) {
	return operand{}, &EvalError{Pos: e.Pos(), Msg: fmt.Sprintf(format, args...), Undecided: true}
}

// evalError returns an error at the position of an expression that has no value.
func evalError(e Expr, format string, args ...any) (operand, error) {
	return operand{}, &EvalError{Pos: e.Pos(), Msg: fmt.Sprintf(format, args...)}
}

// eval evaluates an expression. Results of operations are stored in memo, because a large expression
// may contain the same operation many times.
func (ev evaluator) eval(e Expr) (operand, error) {
	switch e := e.(type) {
	case *Const:
		return ev.constant(e.Val), nil
	case *Var:
		return ev.variable(e)
	case *Param:
		return evalError(e, "found the parameter %s, want a number", e.Name)
	}
	if x, ok := ev.memo.Get(e); ok {
		return x.operand, x.err
	}
	x, err := ev.evalOperation(e)
	ev.memo.Put(e, outcome{x, err})
	return x, err
}

// evalOperation evaluates an operator or function after its operands.
func (ev evaluator) evalOperation(e Expr) (operand, error) {
	switch e := e.(type) {
	case *Unary:
		x, err := ev.eval(e.X)
		if err != nil {
			return x, err
		}
		return ev.unary(e, x)
	case *Binary:
		return ev.binary(e)
	case *Cond:
		return ev.cond(e)
	case *Call:
		args := make([]operand, len(e.Args))
		for i, a := range e.Args {
			x, err := ev.eval(a)
			if err != nil {
				return x, err
			}
			args[i] = x
		}
		return ev.call(e, args)
	case *constRef:
		return evalError(e, "constant %q has no value yet", e.constant.name)
	case *Label:
		return evalError(e, "label %q has no value without the model it belongs to", e.Name)
	}
	return evalError(e, "the operator has no value in a single state")
}

// constant returns the value of a constant, in exact arithmetic with its fraction or enclosure.
func (ev evaluator) constant(v Value) operand {
	switch {
	case !ev.exact || v.Type == Bool:
		return operand{Value: v}
	case v.Type == Int:
		return operand{Value: IntValue(v.Int)}
	case v.Rat != nil:
		return operand{Value: RatValue(v.Rat)}
	case v.enclosure != nil:
		return enclosedOperand(v.Float, *v.enclosure)
	case math.IsInf(v.Float, 0) || math.IsNaN(v.Float):
		return enclosedOperand(v.Float, floatEnclosure(v.Float))
	}
	return operand{Value: RatValue(new(big.Rat).SetFloat64(v.Float))} // a float64 from the caller is exact
}

// variable returns the value of a variable in the state.
func (ev evaluator) variable(e *Var) (operand, error) {
	if e.Slot >= len(ev.state) {
		return evalError(e, "found a variable, want a constant expression")
	}
	x := ev.state[e.Slot]
	switch {
	case e.ValueType == Bool:
		return operand{Value: BoolValue(x != 0)}, nil
	case ev.exact:
		return operand{Value: IntValue(x)}, nil
	}
	return operand{Value: Value{Type: Int, Int: x, Float: float64(x)}}, nil
}

// unary applies ! or - to a value.
func (ev evaluator) unary(e *Unary, x operand) (operand, error) {
	switch {
	case e.Op == syntax.OpNot:
		x.Bool = !x.Bool
		return x, nil
	case x.Type == Int:
		return ev.integerResult(e)(Narrow(-int64(x.Int)))
	}
	return ev.doubleResult(-x.Float, numberOperation{
		onFractions:  func() rat { return x.rat().neg() },
		onEnclosures: func() enclosure { return x.toEnclosure().neg() },
	}, x), nil
}

// binary evaluates an infix operator from left to right. & | => do not evaluate the right operand if
// the left one decides.
func (ev evaluator) binary(e *Binary) (operand, error) {
	x, err := ev.eval(e.X)
	if err != nil || shortCircuits(e.Op, x.Bool) {
		x.Bool = x.Bool || e.Op == syntax.OpImplies
		return x, err
	}
	y, err := ev.eval(e.Y)
	if err != nil {
		return y, err
	}
	return ev.applyBinary(e, x, y)
}

// shortCircuits reports whether the left operand x of op alone determines the result.
func shortCircuits(op syntax.Op, x bool) bool {
	switch op {
	case syntax.OpAnd, syntax.OpImplies:
		return !x
	case syntax.OpOr:
		return x
	}
	return false
}

// applyBinary applies an infix operator to two values.
func (ev evaluator) applyBinary(e *Binary, x, y operand) (operand, error) {
	if x.Type == Bool {
		b := y.Bool // & | => with a left operand that does not decide
		switch e.Op {
		case syntax.OpEq, syntax.OpIff:
			b = x.Bool == y.Bool
		case syntax.OpNe:
			b = x.Bool != y.Bool
		}
		return operand{Value: BoolValue(b)}, nil
	}
	switch e.Op {
	case syntax.OpAdd, syntax.OpSub, syntax.OpMul:
		if x.Type == Int && y.Type == Int {
			return ev.integerResult(e)(Narrow(arith(e.Op, int64(x.Int), int64(y.Int))))
		}
		return ev.doubleResult(arith(e.Op, x.Float, y.Float), numberOperation{
			onFractions:  func() rat { return ratArith(e.Op, x.rat(), y.rat()) },
			onEnclosures: func() enclosure { return x.toEnclosure().arith(e.Op, y.toEnclosure()) },
		}, x, y), nil
	case syntax.OpDiv:
		return ev.doubleResult(x.Float/y.Float, numberOperation{
			onFractions:  func() rat { return x.rat().quo(y.rat()) },
			onEnclosures: func() enclosure { return x.toEnclosure().quo(y.toEnclosure()) },
		}, x, y), nil
	case syntax.OpPow:
		return ev.pow(e, x, y)
	}
	return ev.compare(e, x, y)
}

// cond evaluates the condition of ?: and only the chosen branch.
func (ev evaluator) cond(e *Cond) (operand, error) {
	c, err := ev.eval(e.Condition)
	if err != nil {
		return c, err
	}
	branch := e.Else
	if c.Bool {
		branch = e.Then
	}
	x, err := ev.eval(branch)
	if e.ValueType == Double {
		x.Value = x.toDouble()
	}
	return x, err
}

// call applies a built-in function to its arguments.
func (ev evaluator) call(e *Call, args []operand) (operand, error) {
	x := args[0]
	switch e.Func {
	case FuncMin, FuncMax:
		for _, y := range args[1:] {
			x = ev.extremum(e.Func, x, y)
		}
		if e.ValueType == Double {
			x.Value = x.toDouble()
		}
		return x, nil
	case FuncFloor, FuncCeil, FuncRound:
		return ev.toInt(e, x)
	case FuncPow:
		return ev.pow(e, x, args[1])
	case FuncMod:
		return ev.integerResult(e)(Mod(x.Int, args[1].Int))
	default: // FuncLog
		y := args[1]
		f := Log(x.Float, y.Float)
		return ev.doubleResult(f, numberOperation{
			onFractions:  func() rat { return x.rat().log(y.rat()) },
			onEnclosures: func() enclosure { return x.toEnclosure().log(y.toEnclosure(), f) },
		}, x, y), nil
	}
}

// extremum returns the minimum or maximum of two numbers, as f says. If one of them is NaN, so is the
// result, and -0.0 is smaller than 0.0.
func (ev evaluator) extremum(f Func, x, y operand) operand {
	var difference int
	switch {
	case x.Type == Int && y.Type == Int:
		difference = int(x.Int) - int(y.Int)
	case ev.exact:
		return exactExtremum(f, x, y)
	case f == FuncMin:
		return operand{Value: DoubleValue(min(x.Float, y.Float))}
	default:
		return operand{Value: DoubleValue(max(x.Float, y.Float))}
	}
	if (difference > 0) == (f == FuncMin) {
		return y
	}
	return x
}

// exactExtremum returns the minimum or maximum of two numbers in exact arithmetic. If their
// enclosures overlap, it returns an enclosure of the result.
func exactExtremum(f Func, x, y operand) operand {
	if !x.inexact && !y.inexact {
		if (x.rat().cmp(y.rat()) > 0) == (f == FuncMin) {
			return y
		}
		return x
	}
	a, b := x.toEnclosure(), y.toEnclosure()
	smallerFirst, ok := a.compare(syntax.OpLt, b)
	switch {
	case a.unbounded || b.unbounded:
		return enclosedOperand(x.Float, enclosure{unbounded: true})
	case a.special != a.special || b.special != b.special:
		return enclosedOperand(math.NaN(), floatEnclosure(math.NaN()))
	case ok && smallerFirst == (f == FuncMin):
		return x
	case ok:
		return y
	case f == FuncMin:
		return enclosedOperand(min(x.Float, y.Float), enclosure{lo: smaller(a.lo, b.lo), hi: smaller(a.hi, b.hi)})
	}
	return enclosedOperand(max(x.Float, y.Float), enclosure{lo: larger(a.lo, b.lo), hi: larger(a.hi, b.hi)})
}

// toInt computes floor, ceil or round of a number.
func (ev evaluator) toInt(e *Call, x operand) (operand, error) {
	if x.Type == Int {
		return x, nil
	}
	if ev.exact && !x.inexact {
		i, ok := x.rat().toInt(e.Func)
		if !ok {
			return ev.integerResult(e)(0, e.Func.notRepresentable(x.Value))
		}
		return operand{Value: IntValue(i)}, nil
	}
	if ev.exact && (x.enclosure.isFinite() || x.enclosure.unbounded) {
		return ev.enclosedToInt(e, x)
	}
	return ev.integerResult(e)(e.Func.ToInt(x.Float))
}

// enclosedToInt computes floor, ceil or round of a number of which an enclosure is known. It is
// undecided if the bounds give different integers.
func (ev evaluator) enclosedToInt(e *Call, x operand) (operand, error) {
	out := Enclosed{enclosure: x.enclosure}
	if lo, hi, ok := out.Ends(); ok {
		i, fits := rat{lo}.toInt(e.Func)
		j, alsoFits := rat{hi}.toInt(e.Func)
		if fits && alsoFits && i == j {
			return ev.integerResult(e)(i, nil)
		}
	}
	bounds := x.enclosure.toInterval()
	if lo, hi := e.Func.Round(bounds.lo), e.Func.Round(bounds.hi); lo == hi || lo > math.MaxInt32 || hi < math.MinInt32 {
		return ev.integerResult(e)(0, e.Func.notRepresentable(x.Value))
	}
	return undecidedError(e, "%s is undecided for an irrational or very long number between %v and %v", e.Func, bounds.lo, bounds.hi)
}

// pow computes a power: in integers if both operands are ints, otherwise in floating point.
func (ev evaluator) pow(e Expr, x, y operand) (operand, error) {
	if x.Type != Int || y.Type != Int {
		f := Pow(x.Float, y.Float)
		return ev.doubleResult(f, numberOperation{
			onFractions:  func() rat { return x.rat().pow(y.rat()) },
			onEnclosures: func() enclosure { return x.toEnclosure().pow(y.toEnclosure(), f) },
		}, x, y), nil
	}
	return ev.integerResult(e)(IntPow(x.Int, y.Int))
}

// compare applies = != < <= > >= to two numbers.
func (ev evaluator) compare(e *Binary, x, y operand) (operand, error) {
	switch {
	case x.Type == Int && y.Type == Int:
		return operand{Value: BoolValue(Holds(e.Op, int(x.Int)-int(y.Int)))}, nil
	case !ev.exact:
		return operand{Value: BoolValue(compareFloats(e.Op, x.Float, y.Float))}, nil
	case !x.inexact && !y.inexact:
		return operand{Value: BoolValue(Holds(e.Op, x.rat().cmp(y.rat())))}, nil
	}
	a, b := x.toEnclosure(), y.toEnclosure()
	holds, ok := a.compare(e.Op, b)
	if !ok {
		xBounds, yBounds := a.toInterval(), b.toInterval()
		return undecidedError(e, "the comparison is undecided: the left number is between %v and %v, the right one between %v and %v, and at least one is irrational or very long", xBounds.lo, xBounds.hi, yBounds.lo, yBounds.hi)
	}
	return operand{Value: BoolValue(holds)}, nil
}

// compareFloats compares two float64 numbers as PRISM's explicit engine does.
func compareFloats(op syntax.Op, x, y float64) bool {
	switch op {
	case syntax.OpEq:
		return SameFloat(x, y)
	case syntax.OpNe:
		return !SameFloat(x, y)
	case syntax.OpLt:
		return x < y
	case syntax.OpLe:
		return x <= y
	case syntax.OpGt:
		return x > y
	}
	return x >= y
}

// integerResult returns a function that turns the result of an integer operation, or its error, into
// an operand. An error gets the position of e.
func (ev evaluator) integerResult(e Expr) func(i int32, err error) (operand, error) {
	return func(i int32, err error) (operand, error) {
		switch {
		case err != nil:
			return operand{}, &EvalError{Pos: e.Pos(), Msg: err.Error()}
		case ev.exact:
			return operand{Value: IntValue(i)}, nil
		}
		return operand{Value: Value{Type: Int, Int: i, Float: float64(i)}}, nil
	}
}

// numberOperation computes the same operation on fractions and on enclosures.
type numberOperation struct {
	onFractions  func() rat
	onEnclosures func() enclosure
}

// doubleResult returns the result of an operation on numbers; f is its float64 value. In exact
// arithmetic it is the fraction if all operands and the result are known exactly, otherwise an
// enclosure.
func (ev evaluator) doubleResult(f float64, op numberOperation, operands ...operand) operand {
	if !ev.exact {
		return operand{Value: DoubleValue(f)}
	}
	for _, x := range operands {
		if x.inexact {
			return enclosedOperand(f, op.onEnclosures())
		}
	}
	if fraction := op.onFractions(); fraction.Rat != nil {
		return operand{Value: RatValue(fraction.Rat)}
	}
	return enclosedOperand(f, op.onEnclosures())
}
