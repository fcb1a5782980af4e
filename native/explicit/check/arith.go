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
	out := number{lo: -x.hi, hi: -x.lo}
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
	switch op {
	case syntax.OpAdd:
		return number{lo: below(sum(x.lo, y.lo)), hi: above(sum(x.hi, y.hi))}, true
	case syntax.OpSub:
		return binary(syntax.OpAdd, x, y.neg())
	case syntax.OpMul:
		return hull(x, y, product), true
	case syntax.OpDiv:
		if y.isPoint() || y.lo > 0 || y.hi < 0 {
			return hull(x, y, quotient), true
		}
	case syntax.OpPow:
		if x.isPoint() && y.isPoint() {
			return point(sema.Pow(x.lo, y.lo)), true
		}
	}
	return number{}, false
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
		if y.IsInt() && y.Num().IsInt64() && y.Num().Int64() >= 0 && y.Num().Int64() <= 1000 {
			out := big.NewRat(1, 1)
			for range y.Num().Int64() {
				out.Mul(out, x)
			}
			return out
		}
	}
	return nil
}

// sum, product and quotient return the rounded result and the sign of the
// error: positive if the true result is greater.
func sum(x, y float64) (z, err float64) {
	z = x + y
	if math.IsInf(z, 0) || z != z {
		return z, 0
	}
	t := z - x
	return z, (x - (z - t)) + (y - t)
}

func product(x, y float64) (z, err float64) {
	if z = x * y; math.IsInf(z, 0) || z != z {
		return z, 0
	}
	return z, math.FMA(x, y, -z)
}

func quotient(x, y float64) (z, err float64) {
	if z = x / y; math.IsInf(z, 0) || z != z || y == 0 {
		return z, 0
	}
	return z, math.FMA(-z, y, x) / y
}

func below(z, err float64) float64 {
	if err < 0 {
		return math.Nextafter(z, math.Inf(-1))
	}
	return z
}

func above(z, err float64) float64 {
	if err > 0 {
		return math.Nextafter(z, math.Inf(1))
	}
	return z
}

// hull applies an operation that is monotonic in each operand to the ends.
func hull(x, y number, f func(x, y float64) (float64, float64)) number {
	out := number{lo: math.Inf(1), hi: math.Inf(-1)}
	for _, a := range []float64{x.lo, x.hi} {
		for _, b := range []float64{y.lo, y.hi} {
			z, err := f(a, b)
			if z != z {
				return point(z)
			}
			out.lo, out.hi = min(out.lo, below(z, err)), max(out.hi, above(z, err))
		}
	}
	return out
}

// order compares two numbers; ok is false where bounds overlap.
func order(x, y number) (cmp int, ok bool) {
	switch {
	case x.rat != nil && y.rat != nil:
		return x.rat.Cmp(y.rat), true
	case x.hi < y.lo:
		return -1, true
	case x.lo > y.hi:
		return +1, true
	case x.lo == x.hi && y.lo == y.hi && x.lo == y.lo:
		return 0, true
	}
	return 0, false
}

// compare decides a comparison of numbers, if the bounds do.
func compare(op syntax.Op, x, y number) (holds, ok bool) {
	if x.lo != x.lo || y.lo != y.lo { // PRISM: NaN equals NaN
		both := x.lo != x.lo && y.lo != y.lo
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
	switch op {
	case syntax.OpEq:
		return c == 0, true
	case syntax.OpNe:
		return c != 0, true
	case syntax.OpLt:
		return c < 0, true
	case syntax.OpLe:
		return c <= 0, true
	case syntax.OpGt:
		return c > 0, true
	}
	return c >= 0, true
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
	case sema.FuncFloor:
		return integer(x, math.Floor)
	case sema.FuncCeil:
		return integer(x, math.Ceil)
	case sema.FuncRound:
		return integer(x, func(x float64) float64 { return math.Floor(x + 0.5) })
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
	if x.lo != x.lo || y.lo != y.lo {
		return point(math.NaN())
	}
	if least {
		return number{lo: min(x.lo, y.lo), hi: min(x.hi, y.hi)}
	}
	return number{lo: max(x.lo, y.lo), hi: max(x.hi, y.hi)}
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
