package compile

import (
	"encoding/binary"
	"math"
	"slices"

	"tilecheck/prism/sema"
)

// The intermediate representation of the machine: expressions as a hash-consed graph, so
// that equal sub-expressions are a single term.
// Constants are folded and comparisons normalised. Every Int term has an
// interval of its values, derived from the variables' declared ranges, and every term
// says whether it can fail in some state.
//
// A term that cannot fail has no side effect, so the code may evaluate it early,
// late or needlessly. A term that may fail is evaluated only where the interpreter
// evaluates it. After a failure the machine gives the path to the interpreter.
// That costs time but never changes an outcome. To miss a failure would change
// the outcome.

// opcode is the operation of a term.
type opcode uint8

const (
	opConst opcode = iota // Int or Bool in i, Double in f
	opVar                 // slot
	opNot
	opAnd // n-ary, from left to right
	opOr  // n-ary, from left to right
	opIff
	opIte // condition, then, else; any type
	opIntEq
	opIntLt
	opNumSame // Double.equals
	opNumLt
	opNumLe
	opAdd
	opSub
	opMul
	opPow
	opMod
	opMin
	opMax
	opFloor
	opCeil
	opRound
	opIntToFloat // Int to Double
	opNumAdd
	opNumSub
	opNumMul
	opNumDiv
	opNumNeg
	opNumMin
	opNumMax
	opNumPow
	opNumLog
	opBoolToInt // Bool to Int
)

// sort is the type of a term's value.
type sortKind uint8

const (
	sortBool sortKind = iota
	sortInt
	sortFloat
)

// term is a node of the expression graph. Two terms of a graph are equal if and only if their pointers are equal.
type term struct {
	id         int
	op         opcode
	sort       sortKind
	operands   []*term
	slot       int
	intValue   int64
	floatValue float64
	lo         int64 // Int: the value is in [lo, hi]
	hi         int64
	floatLow   float64 // Double, unless it may be NaN: the value is in [flo, fhi]
	floatHigh  float64
	maybeNaN   bool
	mayFail    bool // evaluating it may fail
	cost       int  // number of operations without sharing, at most maxCost
}

// maxCost is the largest value of term.cost.
const maxCost = 1 << 20

// graph creates terms. It returns the same pointer for equal terms (hash-consing).
type graph struct {
	terms     []*term
	index     map[string]*term
	keyBuffer []byte
	ranges    []interval // of the variables
	trueTerm  *term
	falseTerm *term
}

// interval is the set of integers from lo to hi.
type interval struct{ lo, hi int64 }

// newGraph returns a graph with the constants true and false. ranges are those of the model's variables.
func newGraph(ranges []interval) *graph {
	g := &graph{index: map[string]*term{}, ranges: ranges}
	g.falseTerm, g.trueTerm = g.boolConst(false), g.boolConst(true)
	return g
}

// intern returns the term of the graph that is equal to t. If there is none, it adds t.
func (g *graph) intern(t term) *term {
	key := append(g.keyBuffer[:0], byte(t.op), byte(t.sort))
	key = binary.LittleEndian.AppendUint32(key, uint32(t.slot))
	key = binary.LittleEndian.AppendUint64(key, uint64(t.intValue))
	key = binary.LittleEndian.AppendUint64(key, math.Float64bits(t.floatValue))
	for _, operand := range t.operands {
		key = binary.LittleEndian.AppendUint32(key, uint32(operand.id))
	}
	g.keyBuffer = key
	if old, ok := g.index[string(key)]; ok {
		return old
	}
	t.id = len(g.terms)
	t.cost = 1
	for _, operand := range t.operands {
		t.cost = min(t.cost+operand.cost, maxCost)
		t.mayFail = t.mayFail || operand.mayFail
	}
	if t.op == opVar || t.op == opConst {
		t.cost = 0
	}
	interned := &t
	g.terms = append(g.terms, interned)
	g.index[string(key)] = interned
	return interned
}

// boolConst returns a constant of type Bool.
func (g *graph) boolConst(b bool) *term {
	t := term{op: opConst, sort: sortBool}
	if b {
		t.intValue = 1
	}
	return g.intern(t)
}

// intConst returns a constant of type Int.
func (g *graph) intConst(i int64) *term {
	return g.intern(term{op: opConst, sort: sortInt, intValue: i, lo: i, hi: i})
}

// floatConst returns a constant of type Double.
func (g *graph) floatConst(f float64) *term {
	t := term{op: opConst, sort: sortFloat, floatValue: f, floatLow: f, floatHigh: f, maybeNaN: f != f}
	return g.intern(t)
}

// variable returns a variable of the model.
func (g *graph) variable(slot int, s sortKind) *term {
	r := g.ranges[slot]
	return g.intern(term{op: opVar, sort: s, slot: slot, lo: r.lo, hi: r.hi})
}

// isConst reports whether the term is a constant.
func (term *term) isConst() bool { return term.op == opConst }

// not returns !x.
func (g *graph) not(x *term) *term {
	switch {
	case x == g.trueTerm:
		return g.falseTerm
	case x == g.falseTerm:
		return g.trueTerm
	case x.op == opNot:
		return x.operands[0]
	}
	return g.intern(term{op: opNot, sort: sortBool, operands: []*term{x}})
}

// and returns the conjunction of terms.
func (g *graph) and(xs ...*term) *term { return g.newConnective(opAnd, g.trueTerm, g.falseTerm, xs) }

// or returns the disjunction of terms.
func (g *graph) or(xs ...*term) *term { return g.newConnective(opOr, g.falseTerm, g.trueTerm, xs) }

// newConnective returns a conjunction or disjunction. It removes neutral and repeated operands, and everything after a dominant one.
// Operands before it that may fail stay.
func (g *graph) newConnective(op opcode, neutral, dominant *term, operands []*term) *term {
	var args []*term
	mayFail := false
	for _, x := range operands {
		if x == neutral || slices.Contains(args, x) {
			continue
		}
		if slices.Contains(args, g.not(x)) {
			x = dominant
		}
		args = append(args, x)
		if x == dominant {
			break
		}
		mayFail = mayFail || x.mayFail
	}
	switch {
	case len(args) == 0:
		return neutral
	case !mayFail && args[len(args)-1] == dominant:
		return dominant
	case len(args) == 1:
		return args[0]
	}
	return g.intern(term{op: op, sort: sortBool, operands: args})
}

// iff returns x <=> y.
func (g *graph) iff(x, y *term) *term {
	switch {
	case x == y && !x.mayFail:
		return g.trueTerm
	case y.isConst():
		return g.negateUnless(x, y == g.trueTerm)
	case x.isConst():
		return g.negateUnless(y, x == g.trueTerm)
	case x.id > y.id && !x.mayFail && !y.mayFail:
		x, y = y, x
	}
	return g.intern(term{op: opIff, sort: sortBool, operands: []*term{x, y}})
}

// negateUnless returns x if same is true, otherwise !x.
func (g *graph) negateUnless(x *term, same bool) *term {
	if same {
		return x
	}
	return g.not(x)
}

// ite returns c ? x : y.
func (g *graph) ite(c, x, y *term) *term {
	switch {
	case c == g.trueTerm:
		return x
	case c == g.falseTerm:
		return y
	case x == y && !c.mayFail:
		return x
	case c.op == opNot:
		return g.ite(c.operands[0], y, x)
	case x == g.trueTerm:
		return g.or(c, y)
	case x == g.falseTerm:
		return g.and(g.not(c), y)
	case y == g.trueTerm:
		return g.or(g.not(c), x)
	case y == g.falseTerm:
		return g.and(c, x)
	}
	t := term{op: opIte, sort: x.sort, operands: []*term{c, x, y}}
	t.lo, t.hi = min(x.lo, y.lo), max(x.hi, y.hi)
	t.floatLow, t.floatHigh, t.maybeNaN = min(x.floatLow, y.floatLow), max(x.floatHigh, y.floatHigh), x.maybeNaN || y.maybeNaN
	return g.intern(t)
}

// eq returns x = y for Ints.
func (g *graph) eq(x, y *term) *term {
	mayFail := x.mayFail || y.mayFail
	switch {
	case x.isConst() && y.isConst():
		return g.boolConst(x.intValue == y.intValue)
	case !mayFail && x == y:
		return g.trueTerm
	case !mayFail && (x.hi < y.lo || y.hi < x.lo):
		return g.falseTerm
	case x.isConst() || !mayFail && !y.isConst() && x.id > y.id:
		x, y = y, x
	}
	if x.op == opBoolToInt && y.isConst() {
		return g.compareBoolToInt(x.operands[0], y.intValue)
	}
	return g.intern(term{op: opIntEq, sort: sortBool, operands: []*term{x, y}})
}

// compareBoolToInt returns whether a Bool, as 0 or 1, equals i, which must be 0 or 1.
func (g *graph) compareBoolToInt(b *term, i int64) *term {
	if i == 1 {
		return b
	}
	return g.not(b)
}

// lt returns x < y for Ints. A comparison that tests for the smallest or largest value of a term becomes an equality.
func (g *graph) lt(x, y *term) *term {
	mayFail := x.mayFail || y.mayFail
	switch {
	case !mayFail && x.hi < y.lo:
		return g.trueTerm
	case !mayFail && x.lo >= y.hi, !mayFail && x == y:
		return g.falseTerm
	case y.isConst() && x.lo == y.intValue-1:
		return g.eq(x, g.intConst(x.lo))
	case x.isConst() && y.lo == x.intValue:
		return g.not(g.eq(y, x))
	case y.isConst() && x.hi == y.intValue:
		return g.not(g.eq(x, y))
	case x.isConst() && y.hi == x.intValue+1:
		return g.eq(y, g.intConst(y.hi))
	}
	return g.intern(term{op: opIntLt, sort: sortBool, operands: []*term{x, y}})
}

const (
	minInt = math.MinInt32
	maxInt = math.MaxInt32
)

// resultInterval returns the interval of the result of an Int operation, computed without overflow.
func resultInterval(op opcode, x, y interval) interval {
	switch op {
	case opAdd:
		return interval{x.lo + y.lo, x.hi + y.hi}
	case opSub:
		return interval{x.lo - y.hi, x.hi - y.lo}
	case opMul:
		a, b, c, d := x.lo*y.lo, x.lo*y.hi, x.hi*y.lo, x.hi*y.hi
		return interval{min(a, b, c, d), max(a, b, c, d)}
	case opMin:
		return interval{min(x.lo, y.lo), min(x.hi, y.hi)}
	case opMax:
		return interval{max(x.lo, y.lo), max(x.hi, y.hi)}
	case opMod:
		return interval{0, max(y.hi-1, 0)}
	}
	return interval{minInt, maxInt}
}

// clampToInt32 restricts an interval to 32 bits. overflows says that a part was cut off.
func (r interval) clampToInt32() (clipped interval, overflows bool) {
	clamped := interval{max(r.lo, minInt), min(r.hi, maxInt)}
	if clamped.lo > clamped.hi {
		return interval{minInt, maxInt}, true
	}
	return clamped, clamped != r
}

// interval returns the interval of an Int term.
func (term *term) interval() interval { return interval{term.lo, term.hi} }

// intOperation returns an operation on two Ints. The result may fail if it may not fit in 32 bits.
func (g *graph) intOperation(op opcode, x, y *term) *term {
	r, over := resultInterval(op, x.interval(), y.interval()).clampToInt32()
	t := term{op: op, sort: sortInt, operands: []*term{x, y}, lo: r.lo, hi: r.hi}
	t.mayFail = over || op == opMod && y.lo <= 0
	if x.isConst() && y.isConst() && !t.mayFail {
		return g.intConst(evaluateInts(op, x.intValue, y.intValue))
	}
	return g.intern(t)
}

// evaluateInts computes an Int operation on constants.
func evaluateInts(op opcode, x, y int64) int64 {
	switch op {
	case opAdd:
		return x + y
	case opSub:
		return x - y
	case opMul:
		return x * y
	case opMin:
		return min(x, y)
	case opMax:
		return max(x, y)
	default: // opMod
		return (x%y + y) % y
	}
}

// add returns x+y for Ints.
func (g *graph) add(x, y *term) *term {
	if y.isConst() && y.intValue == 0 {
		return x
	}
	if x.isConst() && x.intValue == 0 {
		return y
	}
	return g.intOperation(opAdd, x, y)
}

// sub returns x-y for Ints.
func (g *graph) sub(x, y *term) *term {
	if y.isConst() && y.intValue == 0 {
		return x
	}
	return g.intOperation(opSub, x, y)
}

// mul returns x*y for Ints.
func (g *graph) mul(x, y *term) *term {
	if y.isConst() && y.intValue == 1 {
		return x
	}
	if x.isConst() && x.intValue == 1 {
		return y
	}
	return g.intOperation(opMul, x, y)
}

// mod returns mod(x,y). It is x if x is certainly between 0 and y-1.
func (g *graph) mod(x, y *term) *term {
	if !x.mayFail && !y.mayFail && x.lo >= 0 && x.hi < y.lo {
		return x
	}
	return g.intOperation(opMod, x, y)
}

// pow returns the integer power. It is a constant if the operands are, and it does not fail.
func (g *graph) pow(x, y *term) *term {
	if x.isConst() && y.isConst() {
		if r, err := sema.IntPow(int32(x.intValue), int32(y.intValue)); err == nil {
			return g.intConst(int64(r))
		}
	}
	return g.intern(term{op: opPow, sort: sortInt, operands: []*term{x, y}, mayFail: true, lo: minInt, hi: maxInt})
}

// min returns the minimum of Ints.
func (g *graph) min(x, y *term) *term { return g.minOrMax(opMin, x, y) }

// max returns the maximum of Ints.
func (g *graph) max(x, y *term) *term { return g.minOrMax(opMax, x, y) }

// minOrMax returns the minimum or maximum of Ints. min(x,1) of a natural number x becomes a test for x=0.
func (g *graph) minOrMax(op opcode, x, y *term) *term {
	if x == y && !x.mayFail {
		return x
	}
	if x.isConst() && !y.isConst() && !y.mayFail {
		x, y = y, x
	}
	if op == opMin && y.isConst() && y.intValue == 1 && x.lo == 0 && x.op != opBoolToInt {
		return g.boolToInt(g.not(g.eq(x, g.intConst(0))))
	}
	return g.intOperation(op, x, y)
}

// boolToInt returns 1 if x is true, otherwise 0.
func (g *graph) boolToInt(x *term) *term {
	if x.isConst() {
		return g.intConst(x.intValue)
	}
	return g.intern(term{op: opBoolToInt, sort: sortInt, operands: []*term{x}, lo: 0, hi: 1})
}
