package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// FloatAnalysis finds expressions that float64 arithmetic evaluates to the same Bool or Int as exact
// arithmetic, in every state. It uses the ranges of the program's variables.
type FloatAnalysis struct{ vars []Variable }

// NewFloatAnalysis returns the analysis for a program.
func NewFloatAnalysis(p *Program) FloatAnalysis { return FloatAnalysis{p.Vars} }

// Decide reports whether float64 arithmetic gives the exact result of e, if e is a comparison of
// numbers, or floor, ceil or round. For other expressions, whose results are not rounded to a Bool or
// Int, it returns true.
func (d FloatAnalysis) Decide(e Expr) bool {
	analysis := numberAnalysis{vars: d.vars}
	switch e := e.(type) {
	case *Binary:
		if e.ValueType != Bool || e.X.Type() == Bool || e.X.Type() == Int && e.Y.Type() == Int {
			return true
		}
		x, y := analysis.quotient(e.X), analysis.quotient(e.Y)
		if e.Op == syntax.OpEq || e.Op == syntax.OpNe {
			if x.minusZero || y.minusZero { // in PRISM, -0.0 differs from 0.0
				return false
			}
		}
		return x.comparable(y)
	case *Call:
		switch e.Func {
		case FuncFloor, FuncCeil, FuncRound:
			x := analysis.quotient(e.Args[0])
			return x.ok && x.num <= 1<<50 && x.den <= 1<<50
		}
	}
	return true
}

// Decided reports whether Decide holds for e and all its operands.
func (d FloatAnalysis) Decided(e Expr) bool { return e == nil || holdsEverywhere(e, d.Decide) }

// Range returns bounds of an Int expression that hold in every state in which it has a value.
func (d FloatAnalysis) Range(e Expr) (low, high float64) {
	analysis := numberAnalysis{vars: d.vars}
	x := analysis.intRange(e)
	return x.lo, x.hi
}

// Doubtful returns e and its operands, as far as Decide is false for them.
func (d FloatAnalysis) Doubtful(e Expr) []Expr {
	var doubtful []Expr
	Inspect(e, func(e Expr) bool {
		if !d.Decide(e) {
			doubtful = append(doubtful, e)
		}
		return true
	})
	return doubtful
}

// Error bounds the difference between the float64 value of e and its exact value, in every state
// in which all operands have values. Adding a bound other than 0 to the float64 may round once more.
// The bound is infinite if none is known.
func (d FloatAnalysis) Error(e Expr) float64 {
	analysis := numberAnalysis{vars: d.vars}
	switch x := analysis.magnitude(e); {
	case !(x.maxAbs < math.MaxFloat64):
		return math.Inf(1)
	case x.err == 0:
		return 0
	default:
		return x.withRounding().err
	}
}

// OperandError bounds the float64 error on which a comparison or rounding depends: the sum of the
// errors of its operands.
func (d FloatAnalysis) OperandError(e Expr) float64 {
	sum := 0.0
	Operands(e, func(x Expr) { sum += d.Error(x) })
	return 1.01 * sum
}

// interval is an interval of float64 numbers.
type interval struct{ lo, hi float64 }

func point(f float64) interval { return interval{f, f} }

func unbounded() interval { return interval{math.Inf(-1), math.Inf(1)} }

// numberAnalysis caches facts about the numbers in an expression.
type numberAnalysis struct {
	vars        []Variable
	magnitudes  Memo[magnitude]
	quotients   Memo[quotient]
	ranges      Memo[interval]
	multiplesOf Memo[multiples]
}

// magnitude bounds the absolute value of a float64, and its difference from the exact value.
type magnitude struct{ maxAbs, err float64 }

// withRounding adds the rounding error of one more operation. The factors 1.01 cover the rounding of
// this analysis itself, the constant 2^-1000 covers underflow.
func (x magnitude) withRounding() magnitude {
	x.maxAbs *= 1.01
	return magnitude{x.maxAbs, 1.01*x.err + x.maxAbs*0x1p-52 + 0x1p-1000}
}

// magnitude returns the cached result of computeMagnitude.
func (n *numberAnalysis) magnitude(e Expr) magnitude {
	if x, ok := n.magnitudes.Get(e); ok {
		return x
	}
	return n.magnitudes.Put(e, n.computeMagnitude(e))
}

// computeMagnitude bounds the absolute value and the float64 error of a number in every state.
func (n *numberAnalysis) computeMagnitude(e Expr) magnitude {
	unknown := magnitude{math.Inf(1), math.Inf(1)}
	if e.Type() == Int { // integer arithmetic is exact, or fails
		return magnitude{n.intRange(e).maxAbs(), 0}
	}
	switch e := e.(type) {
	case *Const:
		return magnitude{math.Abs(e.Val.Float), constError(e)}
	case *Unary:
		return n.magnitude(e.X)
	case *Binary:
		return n.operationMagnitude(e)
	case *Cond:
		return n.magnitude(e.Then).either(n.magnitude(e.Else))
	case *Call:
		if e.Func != FuncMin && e.Func != FuncMax {
			return unknown
		}
		x := n.magnitude(e.Args[0])
		for _, a := range e.Args[1:] {
			x = x.either(n.magnitude(a))
		}
		return x
	}
	return unknown
}

// either returns bounds for a number that is one of two.
func (x magnitude) either(y magnitude) magnitude {
	return magnitude{max(x.maxAbs, y.maxAbs), max(x.err, y.err)}
}

// constError bounds the difference between the float64 of a constant and its exact value.
func constError(e *Const) float64 {
	x, err := Enclose(e, nil)
	if err != nil {
		return math.Inf(1)
	}
	if lo, hi, ok := x.Ends(); ok {
		return max(distance(e.Val.Float, lo), distance(e.Val.Float, hi))
	}
	return math.Inf(1)
}

// distance bounds the difference between a float64 and a fraction.
func distance(f float64, x *big.Rat) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return math.Inf(1)
	}
	difference := new(big.Rat).SetFloat64(f)
	absolute, _ := difference.Sub(difference, x).Float64()
	return 1.01 * math.Abs(absolute)
}

// operationMagnitude bounds the result of + - * or / and its error, from the bounds of the operands.
func (n *numberAnalysis) operationMagnitude(e *Binary) magnitude {
	x, y := n.magnitude(e.X), n.magnitude(e.Y)
	switch e.Op {
	case syntax.OpAdd, syntax.OpSub:
		return magnitude{x.maxAbs + y.maxAbs, x.err + y.err}.withRounding()
	case syntax.OpMul:
		return magnitude{x.maxAbs * y.maxAbs, x.maxAbs*y.err + y.maxAbs*x.err + x.err*y.err}.withRounding()
	case syntax.OpDiv:
		if minDivisor := n.minAbs(e.Y); minDivisor > 2*y.err {
			maxQuotient := x.maxAbs / (minDivisor - y.err)
			return magnitude{maxQuotient, (x.err + maxQuotient*y.err) / (minDivisor - y.err)}.withRounding()
		}
	}
	return magnitude{math.Inf(1), math.Inf(1)}
}

// minAbs returns a lower bound on the absolute value of a divisor; 0 if none is known.
func (n *numberAnalysis) minAbs(e Expr) float64 {
	if c, ok := e.(*Const); ok {
		return math.Abs(c.Val.Float)
	}
	if e.Type() != Int {
		return 0
	}
	x := n.intRange(e)
	return max(x.lo, -x.hi, 0)
}

// quotient describes a number that float64 arithmetic computes by rounding a quotient of two integers
// once, where |numerator| <= num and 0 <= |denominator| <= den. It is not ok if that is not known.
type quotient struct {
	ok        bool
	exact     bool // den is the denominator and a power of two, so nothing is rounded
	num, den  float64
	negative  bool // the number may be negative
	minusZero bool // the float64 may be -0.0
}

const exactLimit = 1 << 53

// dyadicQuotient describes a number that float64 arithmetic computes without rounding: an integer
// divided by den, which is a power of two.
func dyadicQuotient(num, den float64, negative, minusZero bool) quotient {
	if !(num <= exactLimit && den <= exactLimit) {
		return quotient{}
	}
	return quotient{true, true, num, den, negative, minusZero}
}

// comparable reports whether the float64 values of two numbers compare in the same way as the exact
// numbers. Rounding is monotonic, so equal numbers have equal float64 values; unequal ones must
// differ by more than the rounding errors.
func (x quotient) comparable(y quotient) bool {
	switch {
	case !x.ok || !y.ok:
		return false
	case x.exact && y.exact:
		return true
	}
	// Unequal numbers p/q and r/s differ by at least 1/(q*s). Each is rounded by at most 2^-53
	// of its value, and if they are close, both are about as large as the smaller one.
	common := min(x.num/choose(x.exact, x.den, 1), y.num/choose(y.exact, y.den, 1))
	return x.den*y.den*max(common, 1) <= 1<<50
}

func choose(c bool, x, y float64) float64 {
	if c {
		return x
	}
	return y
}

// quotient returns the cached result of computeQuotient.
func (n *numberAnalysis) quotient(e Expr) quotient {
	if x, ok := n.quotients.Get(e); ok {
		return x
	}
	return n.quotients.Put(e, n.computeQuotient(e))
}

// computeQuotient describes how float64 arithmetic computes a number.
func (n *numberAnalysis) computeQuotient(e Expr) quotient {
	if e.Type() == Int {
		x := n.intRange(e)
		return dyadicQuotient(x.maxAbs(), 1, x.lo < 0, false)
	}
	switch e := e.(type) {
	case *Const:
		return constQuotient(e.Val)
	case *Unary:
		x := n.quotient(e.X)
		x.negative, x.minusZero = true, true
		return x
	case *Binary:
		return binaryQuotient(e.Op, n.quotient(e.X), n.quotient(e.Y))
	case *Cond:
		return eitherQuotient(n.quotient(e.Then), n.quotient(e.Else))
	case *Call:
		if e.Func == FuncMin || e.Func == FuncMax {
			x := n.quotient(e.Args[0])
			for _, a := range e.Args[1:] {
				x = eitherQuotient(x, n.quotient(a))
			}
			return x
		}
	}
	return quotient{}
}

// constQuotient describes a constant, if its float64 is exact.
func constQuotient(v Value) quotient {
	if v.Rat == nil || math.IsInf(v.Float, 0) || new(big.Rat).SetFloat64(v.Float).Cmp(v.Rat) != 0 {
		return quotient{}
	}
	num, _ := new(big.Float).SetInt(v.Rat.Num()).Float64()
	den, _ := new(big.Float).SetInt(v.Rat.Denom()).Float64()
	negative := math.Signbit(v.Float)
	return dyadicQuotient(math.Abs(num), den, negative, negative && v.Float == 0)
}

// binaryQuotient describes the result of op from the descriptions of two exactly computed operands.
func binaryQuotient(op syntax.Op, x, y quotient) quotient {
	if !x.ok || !y.ok || !x.exact || !y.exact {
		return quotient{}
	}
	den := max(x.den, y.den)
	switch op {
	case syntax.OpAdd, syntax.OpSub:
		negative := op == syntax.OpSub || x.negative || y.negative
		return dyadicQuotient(x.num*(den/x.den)+y.num*(den/y.den), den, negative, x.minusZero)
	}
	negative := x.negative || y.negative || x.minusZero || y.minusZero
	switch op {
	case syntax.OpMul:
		return dyadicQuotient(x.num*y.num, x.den*y.den, negative, negative)
	case syntax.OpDiv:
		num, den := x.num*y.den, x.den*y.num
		return quotient{num <= exactLimit && den <= exactLimit, false, num, den, negative, negative}
	}
	return quotient{}
}

// eitherQuotient describes a number that is one of two exactly computed numbers.
func eitherQuotient(x, y quotient) quotient {
	if !x.ok || !y.ok || !x.exact || !y.exact {
		return quotient{}
	}
	den := max(x.den, y.den)
	return dyadicQuotient(max(x.num*(den/x.den), y.num*(den/y.den)), den, x.negative || y.negative, x.minusZero || y.minusZero)
}

// intRange returns bounds of an Int expression.
func (n *numberAnalysis) intRange(e Expr) interval {
	if x, ok := n.ranges.Get(e); ok {
		return x
	}
	return n.ranges.Put(e, n.computeIntRange(e))
}

// computeIntRange returns bounds of an Int expression that hold in every state.
func (n *numberAnalysis) computeIntRange(e Expr) interval {
	int32Range := interval{math.MinInt32, math.MaxInt32}
	result := int32Range
	switch e := e.(type) {
	case *Const:
		return point(float64(e.Val.Int))
	case *Var:
		v := &n.vars[e.Slot]
		return interval{float64(v.Low), float64(v.High)}
	case *Unary:
		x := n.intRange(e.X)
		result = interval{-x.hi, -x.lo}
	case *Binary:
		result = operationRange(e.Op, n.intRange(e.X), n.intRange(e.Y))
	case *Cond:
		a, b := n.intRange(e.Then), n.intRange(e.Else)
		result = interval{min(a.lo, b.lo), max(a.hi, b.hi)}
	case *Call:
		result = n.callRange(e)
	}
	return interval{max(result.lo, int32Range.lo), min(result.hi, int32Range.hi)}
}

// operationRange returns bounds of op from bounds of its operands. Products of 32-bit integers fit 64
// bits, and bounds beyond 32 bits are cut off later, so float64 rounding does not matter here.
func operationRange(op syntax.Op, x, y interval) interval {
	switch op {
	case syntax.OpAdd:
		return interval{x.lo + y.lo, x.hi + y.hi}
	case syntax.OpSub:
		return interval{x.lo - y.hi, x.hi - y.lo}
	case syntax.OpMul:
		a, b, c, d := x.lo*y.lo, x.lo*y.hi, x.hi*y.lo, x.hi*y.hi
		return interval{min(a, b, c, d), max(a, b, c, d)}
	}
	return unbounded()
}

// callRange returns bounds of a call of min, max or mod.
func (n *numberAnalysis) callRange(e *Call) interval {
	if e.Func != FuncMin && e.Func != FuncMax && e.Func != FuncMod {
		return unbounded()
	}
	x := n.intRange(e.Args[0])
	for _, a := range e.Args[1:] {
		switch y := n.intRange(a); e.Func {
		case FuncMin:
			x = interval{min(x.lo, y.lo), min(x.hi, y.hi)}
		case FuncMax:
			x = interval{max(x.lo, y.lo), max(x.hi, y.hi)}
		default:
			x = interval{0, y.hi}
		}
	}
	return x
}

// most returns the largest absolute value.
func (x interval) maxAbs() float64 { return max(math.Abs(x.lo), math.Abs(x.hi)) }
