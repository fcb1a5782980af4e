package check

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// draw returns an interval and a fraction in it, at times a point.
func draw(rng *rand.Rand) (number, *big.Rat) {
	a, b := rng.NormFloat64()*math.Exp(20*rng.NormFloat64()), rng.Float64()
	switch rng.IntN(4) {
	case 0:
		a = float64(rng.IntN(7) - 3)
	case 1: // where products, quotients and sums overflow or underflow
		a = math.Ldexp(a, []int{-1000, -700, 700, 990}[rng.IntN(4)])
		a = min(max(a, -math.MaxFloat64), math.MaxFloat64)
	}
	if rng.IntN(3) == 0 {
		return pointNumber(a), new(big.Rat).SetFloat64(a)
	}
	if math.Abs(a) > 0x1p1022 {
		return boundedNumber(math.Inf(-1), math.Inf(1)), new(big.Rat).SetFloat64(a)
	}
	x := boundedNumber(a, a+b*math.Abs(a))
	mid := a + b*math.Abs(a)*rng.Float64()
	return x, new(big.Rat).SetFloat64(min(max(mid, x.Lo), x.Hi))
}

// TestArithmetic: the fraction's result is in the interval's result.
func TestArithmetic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range needs.OrFull(5000, 20000) {
		x, p := draw(rng)
		y, q := draw(rng)
		for _, op := range []syntax.Op{syntax.OpAdd, syntax.OpSub, syntax.OpMul, syntax.OpDiv} {
			r := applyToFractions(op, p, q)
			z, ok := applyArithmetic(op, x, y)
			if r == nil || !ok {
				continue
			}
			if !encloses(z, r) || z.isInfinite() || z.isNaN() {
				t.Fatalf("%v %v %v is %v, without %v", x, op, y, z, r.FloatString(30))
			}
			f, exact := r.Float64()
			faint := min(math.Abs(f), math.Abs(x.Lo)) < 0x1p-900
			if x.isPoint() && y.isPoint() && exact && !faint && !math.IsInf(f, 0) && (z.Lo != f || z.Hi != f) {
				t.Fatalf("%v %v %v is %v, want the point %v", x.Lo, op, y.Lo, z, f)
			}
		}
		checkCall(t, sema.FuncMin, x, y, lesser(p, q))
		checkCall(t, sema.FuncMax, x, y, lesser(new(big.Rat).Neg(p), new(big.Rat).Neg(q)).Neg(lesser(new(big.Rat).Neg(p), new(big.Rat).Neg(q))))
		checkCompare(t, x, y, p.Cmp(q))
	}
}

func encloses(z number, r *big.Rat) bool {
	lo, hi := new(big.Rat).SetFloat64(z.Lo), new(big.Rat).SetFloat64(z.Hi)
	return (lo == nil || lo.Cmp(r) <= 0) && (hi == nil || hi.Cmp(r) >= 0)
}

func lesser(p, q *big.Rat) *big.Rat {
	if p.Cmp(q) < 0 {
		return new(big.Rat).Set(p)
	}
	return new(big.Rat).Set(q)
}

func checkCall(t *testing.T, f sema.Func, x, y number, want *big.Rat) {
	t.Helper()
	z, ok := applyMonotonic(f, []number{x, y})
	if !ok || !encloses(z, want) {
		t.Fatalf("%v of %v and %v is %v, without %v", f, x, y, z, want.FloatString(30))
	}
}

// checkCompare: a comparison that is decided is right.
func checkCompare(t *testing.T, x, y number, cmp int) {
	t.Helper()
	want := map[syntax.Op]bool{
		syntax.OpEq: cmp == 0, syntax.OpNe: cmp != 0, syntax.OpLt: cmp < 0,
		syntax.OpLe: cmp <= 0, syntax.OpGt: cmp > 0, syntax.OpGe: cmp >= 0,
	}
	for op, w := range want {
		if holds, ok := compareNumbers(op, x, y); ok && holds != w {
			t.Fatalf("%v %v %v is %v, want %v", x, op, y, holds, w)
		} else if !ok && x.isPoint() && y.isPoint() {
			t.Fatalf("%v %v %v is not decided", x, op, y)
		}
	}
}

// TestTouchingBounds: two intervals that share an end decide what they can.
func TestTouchingBounds(t *testing.T) {
	x, y := boundedNumber(0, 1), boundedNumber(1, 2)
	for _, tt := range []struct {
		op        syntax.Op
		holds, ok bool
	}{
		{syntax.OpLe, true, true},
		{syntax.OpGt, false, true},
		{syntax.OpLt, false, false},
		{syntax.OpGe, false, false},
		{syntax.OpEq, false, false},
	} {
		if holds, ok := compareNumbers(tt.op, x, y); holds != tt.holds || ok != tt.ok {
			t.Errorf("[0,1] %v [1,2]: %v, %v", tt.op, holds, ok)
		}
	}
}

// TestSpecialNumbers: infinities and NaN as in PRISM, where NaN equals NaN.
func TestSpecialNumbers(t *testing.T) {
	inf, nan, one := pointNumber(math.Inf(1)), pointNumber(math.NaN()), exactNumber(big.NewRat(1, 1))
	for _, tt := range []struct {
		op   syntax.Op
		x, y number
		want bool
	}{
		{syntax.OpGt, inf, one, true},
		{syntax.OpEq, inf, inf, true},
		{syntax.OpEq, nan, nan, true},
		{syntax.OpNe, nan, nan, false},
		{syntax.OpLt, nan, one, false},
		{syntax.OpGe, nan, one, false},
		{syntax.OpNe, nan, one, true},
	} {
		if holds, ok := compareNumbers(tt.op, tt.x, tt.y); !ok || holds != tt.want {
			t.Errorf("%v %v %v: %v, %v, want %v", tt.x.Lo, tt.op, tt.y.Lo, holds, ok, tt.want)
		}
	}
	if z, _ := applyArithmetic(syntax.OpSub, inf, inf); z.Lo == z.Lo {
		t.Errorf("infinity minus infinity is %v", z)
	}
	if z, _ := applyArithmetic(syntax.OpDiv, one, pointNumber(0)); !math.IsInf(z.Lo, 1) || !math.IsInf(z.Hi, 1) {
		t.Errorf("1/0 is %v", z)
	}
	if _, ok := applyArithmetic(syntax.OpDiv, one, boundedNumber(-1, 1)); ok {
		t.Errorf("division by an interval around zero has bounds")
	}
}

func TestShortest(t *testing.T) {
	for _, tt := range []struct{ lo, hi, want float64 }{
		{0.49999999999, 0.50000000002, 0.5},
		{0.33333333333333326, 0.33333333333333337, 0.3333333333333333},
		{3.9999999, 4.0000001, 4},
		{0, 1e-300, 5e-301},
		{0.25, 0.25, 0.25},
		{1, math.Inf(1), 1},
	} {
		if got := shortestDecimal(tt.lo, tt.hi); got != tt.want {
			t.Errorf("[%v, %v]: %v, want %v", tt.lo, tt.hi, got, tt.want)
		}
	}
}

// TestRound: half of a unit less than one half is rounded down, although adding
// one half to it gives 1.
func TestRound(t *testing.T) {
	x, ok := applyMonotonic(sema.FuncRound, []number{pointNumber(0.49999999999999994)})
	if !ok || x.Lo != 0 || x.Hi != 0 {
		t.Errorf("round(0.49999999999999994) is between %v and %v (%v), want 0", x.Lo, x.Hi, ok)
	}
}
