package sema

import (
	"fmt"
	"math"

	"tilecheck/prism/syntax"
)

// EvalError is an operation that has no value, such as mod(x,0), at its place
// in the source.
type EvalError struct {
	Pos syntax.Pos
	Msg string
}

// Error returns "line:col: message".
func (e *EvalError) Error() string {
	if !e.Pos.IsValid() {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Eval evaluates an expression in a state, with len(state) == len(Program.Vars);
// constant expressions need none. It is the reference for faster evaluators:
// 32-bit integers that must not overflow, IEEE doubles, operands from left to
// right, short-circuit & | => and ?:. The Rat of the result is nil.
//
// Labels and property operators have no value in a single state; they are an
// error, as is an expression that was not instantiated. Errors are *EvalError.
//
// Source: PRISM's explicit engine and simulator; reference, section 1.5.
func Eval(e Expr, state []int32) (Value, error) {
	v, err := evaluator{state: state}.eval(e)
	v.Rat = nil
	return v.Value, err
}

// EvalExact evaluates like Eval, but in rational arithmetic as long as that is
// possible: 0.1+0.2=0.3 holds. Doubles that are not rational (infinities,
// logarithms, fractional powers, numbers of more than some thousand digits) are
// computed and compared as in Eval. The value is exact if no such number had
// any influence on it; an exact Double or Int has its Rat set. Integers have
// 32 bits here too.
func EvalExact(e Expr, state []int32) (v Value, exact bool, err error) {
	r, err := evaluator{state: state, exact: true}.eval(e)
	if err == nil && r.inexact {
		r.Rat = nil
	}
	return r.Value, !r.inexact, err
}

// evaluator evaluates expressions in one state.
type evaluator struct {
	state []int32
	exact bool
}

// operand is a value on the way. With exact arithmetic, inexact says that it
// depends on a number that is known as a double only; the Rat of any other
// number is set.
type operand struct {
	Value
	inexact bool
}

func fail(e Expr, format string, args ...any) (operand, error) {
	return operand{}, &EvalError{e.Pos(), fmt.Sprintf(format, args...)}
}

func (ev evaluator) eval(e Expr) (operand, error) {
	switch e := e.(type) {
	case *Const:
		return ev.constant(e.Val), nil
	case *Var:
		return ev.variable(e)
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
		return fail(e, "constant %q has no value yet", e.c.name)
	case *Label:
		return fail(e, "label %q has no value without the model it belongs to", e.Name)
	}
	return fail(e, "the operator has no value in a single state")
}

func (ev evaluator) constant(v Value) operand {
	if ev.exact && v.Type == Double && v.Rat != nil {
		v = RatValue(v.Rat)
	}
	return operand{v, v.Type != Bool && v.Rat == nil}
}

func (ev evaluator) variable(e *Var) (operand, error) {
	if e.Slot >= len(ev.state) {
		return fail(e, "found a variable, want a constant expression")
	}
	x := ev.state[e.Slot]
	switch {
	case e.T == Bool:
		return operand{Value: BoolValue(x != 0)}, nil
	case ev.exact:
		return operand{Value: IntValue(x)}, nil
	}
	return operand{Value: Value{Type: Int, Int: x, Float: float64(x)}}, nil
}

func (ev evaluator) unary(e *Unary, x operand) (operand, error) {
	switch {
	case e.Op == syntax.OpNot:
		x.Bool = !x.Bool
		return x, nil
	case x.Type == Int:
		return ev.integer(e, -int64(x.Int), x.inexact)
	}
	return ev.double(-x.Float, x.inexact, func() rat { return x.rat().neg() }), nil
}

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
	return ev.apply(e, x, y)
}

// shortCircuits reports whether the left operand decides alone.
func shortCircuits(op syntax.Op, x bool) bool {
	switch op {
	case syntax.OpAnd, syntax.OpImplies:
		return !x
	case syntax.OpOr:
		return x
	}
	return false
}

// apply applies an infix operator to two values of its operand types.
func (ev evaluator) apply(e *Binary, x, y operand) (operand, error) {
	inexact := x.inexact || y.inexact
	if x.Type == Bool {
		b := y.Bool // & | => with a left operand that does not decide
		switch e.Op {
		case syntax.OpEq, syntax.OpIff:
			b = x.Bool == y.Bool
		case syntax.OpNe:
			b = x.Bool != y.Bool
		}
		return operand{BoolValue(b), inexact}, nil
	}
	ints := x.Type == Int && y.Type == Int
	switch e.Op {
	case syntax.OpAdd, syntax.OpSub, syntax.OpMul:
		if ints {
			return ev.integer(e, intArith(e.Op, int64(x.Int), int64(y.Int)), inexact)
		}
		return ev.double(floatArith(e.Op, x.Float, y.Float), inexact, func() rat { return ratArith(e.Op, x.rat(), y.rat()) }), nil
	case syntax.OpDiv:
		return ev.double(x.Float/y.Float, inexact, func() rat { return x.rat().quo(y.rat()) }), nil
	case syntax.OpPow:
		return ev.pow(e, x, y)
	}
	return operand{BoolValue(ev.compare(e.Op, ints, x, y)), inexact}, nil
}

func (ev evaluator) cond(e *Cond) (operand, error) {
	c, err := ev.eval(e.C)
	if err != nil {
		return c, err
	}
	branch := e.B
	if c.Bool {
		branch = e.A
	}
	x, err := ev.eval(branch)
	if e.T == Double {
		x.Value = x.toDouble()
	}
	x.inexact = x.inexact || c.inexact
	return x, err
}

func (ev evaluator) call(e *Call, args []operand) (operand, error) {
	x := args[0]
	switch e.Func {
	case FuncMin, FuncMax:
		for _, y := range args[1:] {
			x = ev.extremum(e.Func, x, y)
		}
		if e.T == Double {
			x.Value = x.toDouble()
		}
		return x, nil
	case FuncFloor, FuncCeil, FuncRound:
		return ev.toInt(e, x)
	case FuncPow:
		return ev.pow(e, x, args[1])
	case FuncMod:
		y := args[1]
		if y.Int <= 0 {
			return fail(e, "modulo with non-positive divisor %d", y.Int)
		}
		return ev.integer(e, (int64(x.Int)%int64(y.Int)+int64(y.Int))%int64(y.Int), x.inexact || y.inexact)
	default: // FuncLog
		return operand{DoubleValue(Log(x.Float, args[1].Float)), true}, nil
	}
}

// extremum returns the smaller or larger of two numbers. NaN wins, and -0.0 is
// smaller than 0.0.
func (ev evaluator) extremum(f Func, x, y operand) operand {
	inexact := x.inexact || y.inexact
	var c int
	switch {
	case x.Type == Int && y.Type == Int:
		c = int(x.Int) - int(y.Int)
	case ev.exact && !inexact:
		c = x.rat().cmp(y.rat())
	case f == FuncMin:
		return operand{DoubleValue(min(x.Float, y.Float)), true}
	default:
		return operand{DoubleValue(max(x.Float, y.Float)), true}
	}
	if (c > 0) == (f == FuncMin) {
		x = y
	}
	x.inexact = inexact
	return x
}

// toInt computes floor, ceil and round.
func (ev evaluator) toInt(e *Call, x operand) (operand, error) {
	if x.Type == Int {
		return x, nil
	}
	if ev.exact && !x.inexact {
		i, ok := x.rat().toInt(e.Func)
		if !ok {
			return fail(e, "%s(%s) cannot be represented by a 32-bit int", e.Func, x.Value)
		}
		return operand{Value: IntValue(i)}, nil
	}
	f := x.Float
	switch {
	case e.Func == FuncRound && math.IsNaN(f):
		f = 0
	case e.Func == FuncFloor:
		f = math.Floor(f)
	case e.Func == FuncCeil:
		f = math.Ceil(f)
	default:
		f = roundHalfUp(f)
	}
	if math.IsNaN(f) || f < math.MinInt32 || f > math.MaxInt32 {
		return fail(e, "%s(%s) cannot be represented by a 32-bit int", e.Func, x.Value)
	}
	return ev.integer(e, int64(f), x.inexact)
}

// pow computes pow and ^: integer power of two integers, else IEEE power.
func (ev evaluator) pow(e Expr, x, y operand) (operand, error) {
	inexact := x.inexact || y.inexact
	f := Pow(x.Float, y.Float)
	if x.Type != Int || y.Type != Int {
		return ev.double(f, inexact, func() rat { return x.rat().pow(y.rat()) }), nil
	}
	if y.Int < 0 {
		return fail(e, "negative exponent %d of an integer power; write the base as a double", y.Int)
	}
	if f < math.MinInt32 || f > math.MaxInt32 {
		return fail(e, "integer overflow: %d^%d does not fit 32 bits", x.Int, y.Int)
	}
	return ev.integer(e, int64(f), inexact)
}

// compare applies = != < <= > >= to two numbers.
func (ev evaluator) compare(op syntax.Op, ints bool, x, y operand) bool {
	switch {
	case ev.exact && !x.inexact && !y.inexact:
		return holds(op, x.rat().cmp(y.rat()))
	case ints:
		return holds(op, int(x.Int)-int(y.Int))
	}
	switch op {
	case syntax.OpEq:
		return sameDouble(x.Float, y.Float)
	case syntax.OpNe:
		return !sameDouble(x.Float, y.Float)
	case syntax.OpLt:
		return x.Float < y.Float
	case syntax.OpLe:
		return x.Float <= y.Float
	case syntax.OpGt:
		return x.Float > y.Float
	}
	return x.Float >= y.Float
}

// holds reports whether c, the sign of x-y, satisfies the relation.
func holds(op syntax.Op, c int) bool {
	switch op {
	case syntax.OpEq:
		return c == 0
	case syntax.OpNe:
		return c != 0
	case syntax.OpLt:
		return c < 0
	case syntax.OpLe:
		return c <= 0
	case syntax.OpGt:
		return c > 0
	}
	return c >= 0
}

// integer returns an integer result if it fits 32 bits.
func (ev evaluator) integer(e Expr, i int64, inexact bool) (operand, error) {
	if i < math.MinInt32 || i > math.MaxInt32 {
		return fail(e, "integer overflow: %d does not fit 32 bits", i)
	}
	if !ev.exact {
		return operand{Value: Value{Type: Int, Int: int32(i), Float: float64(i)}}, nil
	}
	v := IntValue(int32(i))
	if inexact {
		v.Rat = nil
	}
	return operand{v, inexact}, nil
}

// double returns a floating-point result; with exact arithmetic the one that
// exactly computes, if there is one.
func (ev evaluator) double(f float64, inexact bool, exactly func() rat) operand {
	if ev.exact && !inexact {
		if r := exactly(); r.Rat != nil {
			return operand{Value: RatValue(r.Rat)}
		}
	}
	return operand{DoubleValue(f), true}
}
