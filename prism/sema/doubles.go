package sema

import (
	"math"
	"math/big"

	"tilecheck/prism/syntax"
)

// Doubles tells where double arithmetic decides as exact arithmetic does. It is
// an analysis of expressions over the variables of a program, whose ranges it
// knows; what it says holds in every state.
type Doubles struct{ vars []Variable }

// NewDoubles returns the analysis for a program.
func NewDoubles(p *Program) Doubles { return Doubles{p.Vars} }

// Decide reports whether a comparison of two numbers, or floor, ceil or round,
// has the value that exact arithmetic gives when it is computed with doubles.
// Of other expressions it says that it does: they decide nothing themselves.
func (d Doubles) Decide(e Expr) bool {
	n := numbers{vars: d.vars}
	switch e := e.(type) {
	case *Binary:
		if e.T != Bool || e.X.Type() == Bool || e.X.Type() == Int && e.Y.Type() == Int {
			return true
		}
		x, y := n.form(e.X), n.form(e.Y)
		if e.Op == syntax.OpEq || e.Op == syntax.OpNe {
			if x.minusZero || y.minusZero { // which differs from 0.0 in PRISM
				return false
			}
		}
		return x.comparable(y)
	case *Call:
		switch e.Func {
		case FuncFloor, FuncCeil, FuncRound:
			x := n.form(e.Args[0])
			return x.ok && x.num <= 1<<50 && x.den <= 1<<50
		}
	}
	return true
}

// Decided reports whether Decide holds for an expression and all its operands.
func (d Doubles) Decided(e Expr) bool { return e == nil || every(e, d.Decide) }

// Range returns what an Int expression is between, in every state in which it
// has a value.
func (d Doubles) Range(e Expr) (low, high float64) {
	n := numbers{vars: d.vars}
	x := n.ints(e)
	return x.lo, x.hi
}

// Doubtful returns the operands of an expression that Decide denies, itself
// among them.
func (d Doubles) Doubtful(e Expr) []Expr {
	var out []Expr
	Inspect(e, func(e Expr) bool {
		if !d.Decide(e) {
			out = append(out, e)
		}
		return true
	})
	return out
}

// Error bounds how far the double of a number is from the number itself, in
// every state in which all that it is made from has a value. Unless it is 0 it
// can be added to the double with one more rounding. It is infinite where
// nothing is known.
func (d Doubles) Error(e Expr) float64 {
	n := numbers{vars: d.vars}
	switch x := n.size(e); {
	case !(x.most < math.MaxFloat64):
		return math.Inf(1)
	case x.err == 0:
		return 0
	default:
		return x.rounded().err
	}
}

// Slack bounds how far doubles are off in an expression that Decide denies: in
// the distance of what it compares, or in what it rounds.
func (d Doubles) Slack(e Expr) float64 {
	off := 0.0
	Operands(e, func(x Expr) { off += d.Error(x) })
	return 1.01 * off
}

// interval is a range of doubles.
type interval struct{ lo, hi float64 }

func point(f float64) interval { return interval{f, f} }

func vague() interval { return interval{math.Inf(-1), math.Inf(1)} }

// numbers keeps what is known of the numbers in an expression.
type numbers struct {
	vars   []Variable
	sizes  Memo[size]
	forms  Memo[form]
	ranges Memo[interval]
	grains Memo[multiples]
}

// size is what the absolute value of a double is at most, and how far it is off.
type size struct{ most, err float64 }

// rounded adds the rounding of the operation that gave the double. The factor
// is for the arithmetic of this analysis, the number for what underflows.
func (x size) rounded() size {
	x.most *= 1.01
	return size{x.most, 1.01*x.err + x.most*0x1p-52 + 0x1p-1000}
}

func (n *numbers) size(e Expr) size {
	if x, ok := n.sizes.Get(e); ok {
		return x
	}
	return n.sizes.Put(e, n.newSize(e))
}

func (n *numbers) newSize(e Expr) size {
	unknown := size{math.Inf(1), math.Inf(1)}
	if e.Type() == Int { // which is computed as it is, or fails
		return size{n.ints(e).most(), 0}
	}
	switch e := e.(type) {
	case *Const:
		return size{math.Abs(e.Val.Float), constError(e)}
	case *Unary:
		return n.size(e.X)
	case *Binary:
		return n.operation(e)
	case *Cond:
		return n.size(e.A).or(n.size(e.B))
	case *Call:
		if e.Func != FuncMin && e.Func != FuncMax {
			return unknown
		}
		x := n.size(e.Args[0])
		for _, a := range e.Args[1:] {
			x = x.or(n.size(a))
		}
		return x
	}
	return unknown
}

func (x size) or(y size) size { return size{max(x.most, y.most), max(x.err, y.err)} }

// constError is how far the double of a constant is off.
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

// distance bounds the difference between a double and a fraction.
func distance(f float64, x *big.Rat) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return math.Inf(1)
	}
	off := new(big.Rat).SetFloat64(f)
	d, _ := off.Sub(off, x).Float64()
	return 1.01 * math.Abs(d)
}

func (n *numbers) operation(e *Binary) size {
	x, y := n.size(e.X), n.size(e.Y)
	switch e.Op {
	case syntax.OpAdd, syntax.OpSub:
		return size{x.most + y.most, x.err + y.err}.rounded()
	case syntax.OpMul:
		return size{x.most * y.most, x.most*y.err + y.most*x.err + x.err*y.err}.rounded()
	case syntax.OpDiv:
		if least := n.least(e.Y); least > 2*y.err {
			q := x.most / (least - y.err)
			return size{q, (x.err + q*y.err) / (least - y.err)}.rounded()
		}
	}
	return size{math.Inf(1), math.Inf(1)}
}

// least is what the absolute value of a divisor is at least; 0 where nothing is known.
func (n *numbers) least(e Expr) float64 {
	if c, ok := e.(*Const); ok {
		return math.Abs(c.Val.Float)
	}
	if e.Type() != Int {
		return 0
	}
	x := n.ints(e)
	return max(x.lo, -x.hi, 0)
}

// form describes how doubles compute a number: as the quotient of two integers,
// rounded once, of which |numerator| <= num and 0 <= |denominator| <= den. With
// den a known power of two, and num small enough, that is exact.
type form struct {
	ok        bool
	exact     bool // den is the denominator, a power of two: nothing is rounded
	num, den  float64
	negative  bool // the number may be
	minusZero bool // the double may be -0.0
}

const exactLimit = 1 << 53

// dyadic returns the form of an exact number.
func dyadic(num, den float64, negative, minusZero bool) form {
	if !(num <= exactLimit && den <= exactLimit) {
		return form{}
	}
	return form{true, true, num, den, negative, minusZero}
}

// comparable reports whether two numbers of these forms compare as their doubles
// do: rounding is monotonic, so that equal ones have equal doubles, and others
// differ by more than is rounded.
func (x form) comparable(y form) bool {
	switch {
	case !x.ok || !y.ok:
		return false
	case x.exact && y.exact:
		return true
	}
	// Unequal numbers p/q and r/s differ by 1/(q*s) at least, and each is
	// rounded by 2^-53 of it; of two that are close, both are about the smaller.
	least := min(x.num/cond(x.exact, x.den, 1), y.num/cond(y.exact, y.den, 1))
	return x.den*y.den*max(least, 1) <= 1<<50
}

func cond(c bool, x, y float64) float64 {
	if c {
		return x
	}
	return y
}

func (n *numbers) form(e Expr) form {
	if x, ok := n.forms.Get(e); ok {
		return x
	}
	return n.forms.Put(e, n.newForm(e))
}

func (n *numbers) newForm(e Expr) form {
	if e.Type() == Int {
		x := n.ints(e)
		return dyadic(x.most(), 1, x.lo < 0, false)
	}
	switch e := e.(type) {
	case *Const:
		return constForm(e.Val)
	case *Unary:
		x := n.form(e.X)
		x.negative, x.minusZero = true, true
		return x
	case *Binary:
		return binaryForm(e.Op, n.form(e.X), n.form(e.Y))
	case *Cond:
		return union(n.form(e.A), n.form(e.B))
	case *Call:
		if e.Func == FuncMin || e.Func == FuncMax {
			x := n.form(e.Args[0])
			for _, a := range e.Args[1:] {
				x = union(x, n.form(a))
			}
			return x
		}
	}
	return form{}
}

// constForm is the form of a constant whose double is the number itself.
func constForm(v Value) form {
	if v.Rat == nil || math.IsInf(v.Float, 0) || new(big.Rat).SetFloat64(v.Float).Cmp(v.Rat) != 0 {
		return form{}
	}
	num, _ := new(big.Float).SetInt(v.Rat.Num()).Float64()
	den, _ := new(big.Float).SetInt(v.Rat.Denom()).Float64()
	negative := math.Signbit(v.Float)
	return dyadic(math.Abs(num), den, negative, negative && v.Float == 0)
}

func binaryForm(op syntax.Op, x, y form) form {
	if !x.ok || !y.ok || !x.exact || !y.exact {
		return form{}
	}
	den := max(x.den, y.den)
	switch op {
	case syntax.OpAdd, syntax.OpSub:
		negative := op == syntax.OpSub || x.negative || y.negative
		return dyadic(x.num*(den/x.den)+y.num*(den/y.den), den, negative, x.minusZero)
	}
	negative := x.negative || y.negative || x.minusZero || y.minusZero
	switch op {
	case syntax.OpMul:
		return dyadic(x.num*y.num, x.den*y.den, negative, negative)
	case syntax.OpDiv:
		num, den := x.num*y.den, x.den*y.num
		return form{num <= exactLimit && den <= exactLimit, false, num, den, negative, negative}
	}
	return form{}
}

// union is the form of one of two exact numbers.
func union(x, y form) form {
	if !x.ok || !y.ok || !x.exact || !y.exact {
		return form{}
	}
	den := max(x.den, y.den)
	return dyadic(max(x.num*(den/x.den), y.num*(den/y.den)), den, x.negative || y.negative, x.minusZero || y.minusZero)
}

// ints is Range.
func (n *numbers) ints(e Expr) interval {
	if x, ok := n.ranges.Get(e); ok {
		return x
	}
	return n.ranges.Put(e, n.newRange(e))
}

func (n *numbers) newRange(e Expr) interval {
	all := interval{math.MinInt32, math.MaxInt32}
	out := all
	switch e := e.(type) {
	case *Const:
		return point(float64(e.Val.Int))
	case *Var:
		v := &n.vars[e.Slot]
		return interval{float64(v.Low), float64(v.High)}
	case *Unary:
		x := n.ints(e.X)
		out = interval{-x.hi, -x.lo}
	case *Binary:
		out = intOperation(e.Op, n.ints(e.X), n.ints(e.Y))
	case *Cond:
		a, b := n.ints(e.A), n.ints(e.B)
		out = interval{min(a.lo, b.lo), max(a.hi, b.hi)}
	case *Call:
		out = n.intCall(e)
	}
	return interval{max(out.lo, all.lo), min(out.hi, all.hi)}
}

// intOperation is exact: products of 32-bit integers fit 64 bits, and rounding
// to the 53 of a double does not matter, since what does not fit 32 is cut off.
func intOperation(op syntax.Op, x, y interval) interval {
	switch op {
	case syntax.OpAdd:
		return interval{x.lo + y.lo, x.hi + y.hi}
	case syntax.OpSub:
		return interval{x.lo - y.hi, x.hi - y.lo}
	case syntax.OpMul:
		a, b, c, d := x.lo*y.lo, x.lo*y.hi, x.hi*y.lo, x.hi*y.hi
		return interval{min(a, b, c, d), max(a, b, c, d)}
	}
	return vague()
}

func (n *numbers) intCall(e *Call) interval {
	if e.Func != FuncMin && e.Func != FuncMax && e.Func != FuncMod {
		return vague()
	}
	x := n.ints(e.Args[0])
	for _, a := range e.Args[1:] {
		switch y := n.ints(a); e.Func {
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

// most is the greatest absolute value.
func (x interval) most() float64 { return max(math.Abs(x.lo), math.Abs(x.hi)) }
