package compile

import (
	"math"

	"tilecheck/prism/sema"
)

// anyNumber gives a Double term no bounds.
func anyNumber(t term) term {
	t.flo, t.fhi, t.nan = math.Inf(-1), math.Inf(1), true
	return t
}

// toNum converts an Int.
func (g *graph) toNum(x *term) *term {
	if x.isConst() {
		return g.number(float64(x.i))
	}
	return g.intern(term{op: opToNum, sort: sortNum, args: []*term{x}, flo: float64(x.lo), fhi: float64(x.hi)})
}

// num makes a Double operation. Its bounds come from the four corners of its
// operands' where the operation is monotonic in each of them.
func (g *graph) num(op opcode, x, y *term) *term {
	if x.isConst() && y.isConst() {
		return g.number(applyNum(op, x.f, y.f))
	}
	t := anyNumber(term{op: op, sort: sortNum, args: []*term{x, y}})
	if corners(op, y) && !x.nan && !y.nan {
		a, b := applyNum(op, x.flo, y.flo), applyNum(op, x.flo, y.fhi)
		c, d := applyNum(op, x.fhi, y.flo), applyNum(op, x.fhi, y.fhi)
		if lo, hi := min(a, b, c, d), max(a, b, c, d); lo == lo {
			t.flo, t.fhi, t.nan = lo, hi, math.IsInf(lo, 0) || math.IsInf(hi, 0)
		}
	}
	return g.intern(t)
}

// corners reports whether the operation takes its extremes at the corners.
// Rounding is monotonic, so this also holds in floating point.
func corners(op opcode, y *term) bool {
	switch op {
	case opNumAdd, opNumSub, opNumMul, opNumMin, opNumMax:
		return true
	case opNumDiv:
		return y.flo > 0 || y.fhi < 0
	}
	return false
}

func applyNum(op opcode, x, y float64) float64 {
	switch op {
	case opNumAdd:
		return x + y
	case opNumSub:
		return x - y
	case opNumMul:
		return x * y
	case opNumDiv:
		return x / y
	case opNumMin:
		return min(x, y)
	case opNumMax:
		return max(x, y)
	case opNumPow:
		return sema.Pow(x, y)
	default: // opNumLog
		return sema.Log(x, y)
	}
}

func (g *graph) numNeg(x *term) *term {
	if x.isConst() {
		return g.number(-x.f)
	}
	return g.intern(term{op: opNumNeg, sort: sortNum, args: []*term{x}, flo: -x.fhi, fhi: -x.flo, nan: x.nan})
}

// numCompare makes opNumSame, opNumLt or opNumLe.
func (g *graph) numCompare(op opcode, x, y *term) *term {
	if x.isConst() && y.isConst() {
		switch op {
		case opNumSame:
			return g.boolean(sema.SameFloat(x.f, y.f))
		case opNumLt:
			return g.boolean(x.f < y.f)
		default:
			return g.boolean(x.f <= y.f)
		}
	}
	if c := g.compareWhole(op, x, y); c != nil {
		return c
	}
	return g.intern(term{op: op, sort: sortBool, args: []*term{x, y}})
}

// compareWhole turns the comparison of a converted Int with a constant, as in
// x <= MAX/2, into one of Ints. It returns nil for any other.
func (g *graph) compareWhole(op opcode, x, y *term) *term {
	const far = 1 << 40
	switch {
	case op == opNumSame && x.isConst():
		return g.compareWhole(op, y, x)
	case x.op == opToNum && y.isConst() && math.Abs(y.f) < far:
		n := x.args[0]
		switch {
		case op == opNumLt:
			return g.lt(n, g.integer(int64(math.Ceil(y.f))))
		case op == opNumLe:
			return g.not(g.lt(g.integer(int64(math.Floor(y.f))), n))
		case y.f == math.Trunc(y.f) && (y.f != 0 || !math.Signbit(y.f)):
			return g.eq(n, g.integer(int64(y.f)))
		}
	case y.op == opToNum && x.isConst() && math.Abs(x.f) < far:
		n := y.args[0]
		if op == opNumLt {
			return g.lt(g.integer(int64(math.Floor(x.f))), n)
		}
		return g.not(g.lt(n, g.integer(int64(math.Ceil(x.f)))))
	}
	return nil
}

// toInt makes opFloor, opCeil or opRound.
func (g *graph) toInt(op opcode, x *term) *term {
	if x.op == opToNum {
		return x.args[0]
	}
	t := term{op: op, sort: sortInt, args: []*term{x}, fails: true, lo: minInt, hi: maxInt}
	if !x.nan && x.flo >= minInt && x.fhi <= maxInt {
		t.fails, t.lo, t.hi = false, int64(math.Floor(x.flo)), int64(math.Ceil(x.fhi))
	}
	if x.isConst() && !t.fails {
		return g.integer(int64(roundBy(op, x.f)))
	}
	return g.intern(t)
}

// roundBy computes opFloor, opCeil or opRound.
func roundBy(op opcode, x float64) float64 {
	return [...]sema.Func{opFloor: sema.FuncFloor, opCeil: sema.FuncCeil, opRound: sema.FuncRound}[op].Round(x)
}
