package sema

import (
	"fmt"
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// EvalError is an operation that has no value, such as mod(x,0), with its position.
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

// Eval evaluates an expression in a state, with len(state) == len(Program.Vars); state may be nil
// for a constant expression. It is the reference for faster evaluators: 32-bit integers that must
// not overflow, float64 arithmetic, operands from left to right, and short-circuit evaluation of &
// | => and ?:. The Rat of the result is nil.
//
// Labels, property operators and expressions that were not instantiated have no value in a state
// and are errors. Errors are *EvalError.
//
// Source: PRISM's explicit engine and simulator; reference, section 1.5.
func Eval(e Expr, state []int32) (Value, error) {
	v, err := evaluator{state: state, kept: &Memo[outcome]{}}.eval(e)
	v.Rat = nil
	return v.Value, err
}

// EvalExact evaluates an expression in rational arithmetic where possible, so that 0.1+0.2=0.3
// holds. Irrational numbers (logarithms, fractional powers), and those with more than some
// thousand digits, are enclosed between two bounds. A comparison, or a rounding to an Int, that
// the bounds do not decide is an error with Undecided set. Infinities and NaN are computed and
// compared as in Eval. So a Bool or Int is always exact. A Double is exact and has its Rat set if
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

	in enclosure
}

// Ends returns rational bounds of the number; they are closer than Lo and Hi if it is irrational.
// ok is false if the number is infinite, unknown, or far outside the range of float64.
func (x Enclosed) Ends() (lo, hi *big.Rat, ok bool) {
	const most = 1 << 12 // in bits: the range of float64 is 2098 bits
	switch {
	case x.Exact:
		return x.Rat, x.Rat, x.Rat != nil
	case !x.in.finite():
		return nil, nil, false
	}
	for _, end := range []*big.Float{x.in.lo, x.in.hi} {
		if exp := end.MantExp(nil); exp < -most || exp > most {
			return nil, nil, false
		}
	}
	lo, _ = x.in.lo.Rat(nil)
	hi, _ = x.in.hi.Rat(nil)
	return lo, hi, true
}

// Enclose evaluates an expression like EvalExact and returns bounds of its value.
func Enclose(e Expr, state []int32) (Enclosed, error) {
	x, err := evaluator{state: state, exact: true, kept: &Memo[outcome]{}}.eval(e)
	if err != nil || x.Type == Bool {
		return Enclosed{Value: x.Value, Exact: err == nil}, err
	}
	out := Enclosed{Value: x.Value, Exact: !x.inexact, in: x.in}
	in := x.between().interval()
	out.Lo, out.Hi = in.lo, in.hi
	return out, nil
}

// evaluator evaluates expressions in one state.
type evaluator struct {
	state []int32
	exact bool
	kept  *Memo[outcome]
}

type outcome struct {
	operand
	err error
}

// operand is an intermediate value. In exact arithmetic a number has a Rat, or inexact is set and
// only its enclosure is known.
type operand struct {
	Value
	inexact bool
	in      enclosure
}

// between returns the enclosure of a number.
func (x operand) between() enclosure {
	switch {
	case x.inexact:
		return x.in
	case x.Rat != nil:
		return rationalEnclosure(x.Rat)
	}
	return floatEnclosure(x.Float)
}

// enclosed returns a number of which only an enclosure is known. Its Float is f moved into the
// enclosure.
func enclosed(f float64, in enclosure) operand {
	doubles := in.interval()
	return operand{DoubleValue(max(doubles.lo, min(doubles.hi, f))), true, in}
}

// undecided returns the error for a result that the enclosure does not determine.
func undecided(e Expr, format string, args ...any) (operand, error) {
	return operand{}, &EvalError{Pos: e.Pos(), Msg: fmt.Sprintf(format, args...), Undecided: true}
}

func fail(e Expr, format string, args ...any) (operand, error) {
	return operand{}, &EvalError{Pos: e.Pos(), Msg: fmt.Sprintf(format, args...)}
}

func (ev evaluator) eval(e Expr) (operand, error) {
	switch e := e.(type) {
	case *Const:
		return ev.constant(e.Val), nil
	case *Var:
		return ev.variable(e)
	case *Param:
		return fail(e, "found the parameter %s, want a number", e.Name)
	}
	if x, ok := ev.kept.Get(e); ok {
		return x.operand, x.err
	}
	x, err := ev.operation(e)
	ev.kept.Put(e, outcome{x, err})
	return x, err
}

func (ev evaluator) operation(e Expr) (operand, error) {
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
		return fail(e, "constant %q has no value yet", e.c.name)
	case *Label:
		return fail(e, "label %q has no value without the model it belongs to", e.Name)
	}
	return fail(e, "the operator has no value in a single state")
}

func (ev evaluator) constant(v Value) operand {
	switch {
	case !ev.exact || v.Type == Bool:
		return operand{Value: v}
	case v.Type == Int:
		return operand{Value: IntValue(v.Int)}
	case v.Rat != nil:
		return operand{Value: RatValue(v.Rat)}
	case v.in != nil:
		return enclosed(v.Float, *v.in)
	case math.IsInf(v.Float, 0) || math.IsNaN(v.Float):
		return enclosed(v.Float, floatEnclosure(v.Float))
	}
	return operand{Value: RatValue(new(big.Rat).SetFloat64(v.Float))} // a float64 from the caller is exact
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
		return ev.integer(e)(Narrow(-int64(x.Int)))
	}
	return ev.double(-x.Float, operation{
		exactly: func() rat { return x.rat().neg() },
		between: func() enclosure { return x.between().neg() },
	}, x), nil
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

// shortCircuits reports whether the left operand alone determines the result.
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
			return ev.integer(e)(Narrow(arith(e.Op, int64(x.Int), int64(y.Int))))
		}
		return ev.double(arith(e.Op, x.Float, y.Float), operation{
			exactly: func() rat { return ratArith(e.Op, x.rat(), y.rat()) },
			between: func() enclosure { return x.between().arith(e.Op, y.between()) },
		}, x, y), nil
	case syntax.OpDiv:
		return ev.double(x.Float/y.Float, operation{
			exactly: func() rat { return x.rat().quo(y.rat()) },
			between: func() enclosure { return x.between().quo(y.between()) },
		}, x, y), nil
	case syntax.OpPow:
		return ev.pow(e, x, y)
	}
	return ev.compare(e, x, y)
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
		return ev.integer(e)(Mod(x.Int, args[1].Int))
	default: // FuncLog
		y := args[1]
		f := Log(x.Float, y.Float)
		return ev.double(f, operation{
			exactly: func() rat { return x.rat().log(y.rat()) },
			between: func() enclosure { return x.between().log(y.between(), f) },
		}, x, y), nil
	}
}

// extremum returns the smaller or larger of two numbers. NaN wins, and -0.0 is
// smaller than 0.0.
func (ev evaluator) extremum(f Func, x, y operand) operand {
	var c int
	switch {
	case x.Type == Int && y.Type == Int:
		c = int(x.Int) - int(y.Int)
	case ev.exact:
		return exactExtremum(f, x, y)
	case f == FuncMin:
		return operand{Value: DoubleValue(min(x.Float, y.Float))}
	default:
		return operand{Value: DoubleValue(max(x.Float, y.Float))}
	}
	if (c > 0) == (f == FuncMin) {
		return y
	}
	return x
}

// exactExtremum returns the smaller or larger operand, or an enclosure of it if their enclosures
// overlap.
func exactExtremum(f Func, x, y operand) operand {
	if !x.inexact && !y.inexact {
		if (x.rat().cmp(y.rat()) > 0) == (f == FuncMin) {
			return y
		}
		return x
	}
	a, b := x.between(), y.between()
	first, ok := a.compare(syntax.OpLt, b)
	switch {
	case a.unbounded || b.unbounded:
		return enclosed(x.Float, enclosure{unbounded: true})
	case a.special != a.special || b.special != b.special:
		return enclosed(math.NaN(), floatEnclosure(math.NaN()))
	case ok && first == (f == FuncMin):
		return x
	case ok:
		return y
	case f == FuncMin:
		return enclosed(min(x.Float, y.Float), enclosure{lo: smaller(a.lo, b.lo), hi: smaller(a.hi, b.hi)})
	}
	return enclosed(max(x.Float, y.Float), enclosure{lo: larger(a.lo, b.lo), hi: larger(a.hi, b.hi)})
}

// toInt computes floor, ceil and round.
func (ev evaluator) toInt(e *Call, x operand) (operand, error) {
	if x.Type == Int {
		return x, nil
	}
	if ev.exact && !x.inexact {
		i, ok := x.rat().toInt(e.Func)
		if !ok {
			return ev.integer(e)(0, e.Func.noInt(x.Value))
		}
		return operand{Value: IntValue(i)}, nil
	}
	if ev.exact && (x.in.finite() || x.in.unbounded) {
		return ev.enclosedToInt(e, x)
	}
	return ev.integer(e)(e.Func.ToInt(x.Float))
}

// enclosedToInt computes floor, ceil or round of an enclosed number. It is undecided if the bounds
// give different integers.
func (ev evaluator) enclosedToInt(e *Call, x operand) (operand, error) {
	out := Enclosed{in: x.in}
	if lo, hi, ok := out.Ends(); ok {
		i, fits := rat{lo}.toInt(e.Func)
		j, alsoFits := rat{hi}.toInt(e.Func)
		if fits && alsoFits && i == j {
			return ev.integer(e)(i, nil)
		}
	}
	in := x.in.interval()
	if lo, hi := e.Func.Round(in.lo), e.Func.Round(in.hi); lo == hi || lo > math.MaxInt32 || hi < math.MinInt32 {
		return ev.integer(e)(0, e.Func.noInt(x.Value))
	}
	return undecided(e, "%s of a number between %v and %v, which has no fraction, is not decided", e.Func, in.lo, in.hi)
}

// pow computes pow and ^: integer power of two integers, else IEEE power.
func (ev evaluator) pow(e Expr, x, y operand) (operand, error) {
	if x.Type != Int || y.Type != Int {
		f := Pow(x.Float, y.Float)
		return ev.double(f, operation{
			exactly: func() rat { return x.rat().pow(y.rat()) },
			between: func() enclosure { return x.between().pow(y.between(), f) },
		}, x, y), nil
	}
	return ev.integer(e)(IntPow(x.Int, y.Int))
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
	a, b := x.between(), y.between()
	holds, ok := a.compare(e.Op, b)
	if !ok {
		in, of := a.interval(), b.interval()
		return undecided(e, "comparison of a number between %v and %v with one between %v and %v, not both of which have fractions, is not decided", in.lo, in.hi, of.lo, of.hi)
	}
	return operand{Value: BoolValue(holds)}, nil
}

// compareDoubles compares as PRISM's explicit engine does.
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

// integer returns a function that makes the result of an integer operator at the position of e.
func (ev evaluator) integer(e Expr) func(i int32, err error) (operand, error) {
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

// operation computes an operation on fractions and on enclosures.
type operation struct {
	exactly func() rat
	between func() enclosure
}

// double returns a floating-point result f. In exact arithmetic it returns the fraction if there
// is one, otherwise an enclosure.
func (ev evaluator) double(f float64, op operation, operands ...operand) operand {
	if !ev.exact {
		return operand{Value: DoubleValue(f)}
	}
	for _, x := range operands {
		if x.inexact {
			return enclosed(f, op.between())
		}
	}
	if r := op.exactly(); r.Rat != nil {
		return operand{Value: RatValue(r.Rat)}
	}
	return enclosed(f, op.between())
}
