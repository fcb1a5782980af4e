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
// evaluates it: on a failure the machine hands the path to the interpreter,
// which costs time but never changes an outcome, while a missed
// failure would change it.

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
	opToNum // Int to Double
	opNumAdd
	opNumSub
	opNumMul
	opNumDiv
	opNumNeg
	opNumMin
	opNumMax
	opNumPow
	opNumLog
	opOfBool // Bool to Int
)

// sort is the type of a term's value.
type sort uint8

const (
	sortBool sort = iota
	sortInt
	sortNum
)

// term is one expression. Terms of one graph are equal exactly if their pointers are.
type term struct {
	id    int
	op    opcode
	sort  sort
	args  []*term
	slot  int
	i     int64
	f     float64
	lo    int64 // Int: the value is in [lo, hi]
	hi    int64
	flo   float64 // Double, unless it may be NaN: the value is in [flo, fhi]
	fhi   float64
	nan   bool
	fails bool // evaluating it may fail
	cost  int  // number of operations without sharing, at most maxCost
}

const maxCost = 1 << 20

// graph creates and interns terms.
type graph struct {
	terms  []*term
	index  map[string]*term
	key    []byte
	ranges []interval // of the variables
	yes    *term
	no     *term
}

type interval struct{ lo, hi int64 }

func newGraph(ranges []interval) *graph {
	g := &graph{index: map[string]*term{}, ranges: ranges}
	g.no, g.yes = g.boolean(false), g.boolean(true)
	return g
}

// intern returns the term equal to t, which may be t itself.
func (g *graph) intern(t term) *term {
	k := append(g.key[:0], byte(t.op), byte(t.sort))
	k = binary.LittleEndian.AppendUint32(k, uint32(t.slot))
	k = binary.LittleEndian.AppendUint64(k, uint64(t.i))
	k = binary.LittleEndian.AppendUint64(k, math.Float64bits(t.f))
	for _, a := range t.args {
		k = binary.LittleEndian.AppendUint32(k, uint32(a.id))
	}
	g.key = k
	if old, ok := g.index[string(k)]; ok {
		return old
	}
	t.id = len(g.terms)
	t.cost = 1
	for _, a := range t.args {
		t.cost = min(t.cost+a.cost, maxCost)
		t.fails = t.fails || a.fails
	}
	if t.op == opVar || t.op == opConst {
		t.cost = 0
	}
	n := &t
	g.terms = append(g.terms, n)
	g.index[string(k)] = n
	return n
}

func (g *graph) boolean(b bool) *term {
	t := term{op: opConst, sort: sortBool}
	if b {
		t.i = 1
	}
	return g.intern(t)
}

func (g *graph) integer(i int64) *term {
	return g.intern(term{op: opConst, sort: sortInt, i: i, lo: i, hi: i})
}

func (g *graph) number(f float64) *term {
	t := term{op: opConst, sort: sortNum, f: f, flo: f, fhi: f, nan: f != f}
	return g.intern(t)
}

func (g *graph) variable(slot int, s sort) *term {
	r := g.ranges[slot]
	return g.intern(term{op: opVar, sort: s, slot: slot, lo: r.lo, hi: r.hi})
}

func (t *term) isConst() bool { return t.op == opConst }

func (g *graph) not(x *term) *term {
	switch {
	case x == g.yes:
		return g.no
	case x == g.no:
		return g.yes
	case x.op == opNot:
		return x.args[0]
	}
	return g.intern(term{op: opNot, sort: sortBool, args: []*term{x}})
}

func (g *graph) and(xs ...*term) *term { return g.connect(opAnd, g.yes, g.no, xs) }

func (g *graph) or(xs ...*term) *term { return g.connect(opOr, g.no, g.yes, xs) }

// connect returns an n-ary conjunction or disjunction. It removes neutral and repeated operands, and cuts off everything after a
// dominant one; but it keeps operands before it that may fail.
func (g *graph) connect(op opcode, neutral, dominant *term, xs []*term) *term {
	var args []*term
	fails := false
	for _, x := range xs {
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
		fails = fails || x.fails
	}
	switch {
	case len(args) == 0:
		return neutral
	case !fails && args[len(args)-1] == dominant:
		return dominant
	case len(args) == 1:
		return args[0]
	}
	return g.intern(term{op: op, sort: sortBool, args: args})
}

func (g *graph) iff(x, y *term) *term {
	switch {
	case x == y && !x.fails:
		return g.yes
	case y.isConst():
		return g.sameOrNot(x, y == g.yes)
	case x.isConst():
		return g.sameOrNot(y, x == g.yes)
	case x.id > y.id && !x.fails && !y.fails:
		x, y = y, x
	}
	return g.intern(term{op: opIff, sort: sortBool, args: []*term{x, y}})
}

func (g *graph) sameOrNot(x *term, same bool) *term {
	if same {
		return x
	}
	return g.not(x)
}

// ite is c ? x : y.
func (g *graph) ite(c, x, y *term) *term {
	switch {
	case c == g.yes:
		return x
	case c == g.no:
		return y
	case x == y && !c.fails:
		return x
	case c.op == opNot:
		return g.ite(c.args[0], y, x)
	case x == g.yes:
		return g.or(c, y)
	case x == g.no:
		return g.and(g.not(c), y)
	case y == g.yes:
		return g.or(g.not(c), x)
	case y == g.no:
		return g.and(c, x)
	}
	t := term{op: opIte, sort: x.sort, args: []*term{c, x, y}}
	t.lo, t.hi = min(x.lo, y.lo), max(x.hi, y.hi)
	t.flo, t.fhi, t.nan = min(x.flo, y.flo), max(x.fhi, y.fhi), x.nan || y.nan
	return g.intern(t)
}

// eq compares two Ints.
func (g *graph) eq(x, y *term) *term {
	fails := x.fails || y.fails
	switch {
	case x.isConst() && y.isConst():
		return g.boolean(x.i == y.i)
	case !fails && x == y:
		return g.yes
	case !fails && (x.hi < y.lo || y.hi < x.lo):
		return g.no
	case x.isConst() || !fails && !y.isConst() && x.id > y.id:
		x, y = y, x
	}
	if x.op == opOfBool && y.isConst() {
		return g.ofBoolEq(x.args[0], y.i)
	}
	return g.intern(term{op: opIntEq, sort: sortBool, args: []*term{x, y}})
}

func (g *graph) ofBoolEq(b *term, i int64) *term {
	if i == 1 {
		return b
	}
	return g.not(b) // 0: any other value is outside the interval
}

// lt is x < y on Ints.
func (g *graph) lt(x, y *term) *term {
	fails := x.fails || y.fails
	switch {
	case !fails && x.hi < y.lo:
		return g.yes
	case !fails && x.lo >= y.hi, !fails && x == y:
		return g.no
	case y.isConst() && x.lo == y.i-1:
		return g.eq(x, g.integer(x.lo))
	case x.isConst() && y.lo == x.i:
		return g.not(g.eq(y, x))
	case y.isConst() && x.hi == y.i:
		return g.not(g.eq(x, y))
	case x.isConst() && y.hi == x.i+1:
		return g.eq(y, g.integer(y.hi))
	}
	return g.intern(term{op: opIntLt, sort: sortBool, args: []*term{x, y}})
}

const (
	minInt = math.MinInt32
	maxInt = math.MaxInt32
)

// exact returns the interval of an operation's mathematical result.
func exact(op opcode, x, y interval) interval {
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

// clip restricts an exact interval to 32 bits. over says that part of it was cut off.
func (r interval) clip() (clipped interval, over bool) {
	c := interval{max(r.lo, minInt), min(r.hi, maxInt)}
	if c.lo > c.hi {
		return interval{minInt, maxInt}, true
	}
	return c, c != r
}

func (t *term) interval() interval { return interval{t.lo, t.hi} }

// operation makes an Int operation on two Ints.
func (g *graph) operation(op opcode, x, y *term) *term {
	r, over := exact(op, x.interval(), y.interval()).clip()
	t := term{op: op, sort: sortInt, args: []*term{x, y}, lo: r.lo, hi: r.hi}
	t.fails = over || op == opMod && y.lo <= 0
	if x.isConst() && y.isConst() && !t.fails {
		return g.integer(foldInt(op, x.i, y.i))
	}
	return g.intern(t)
}

// foldInt computes an operation on constants.
func foldInt(op opcode, x, y int64) int64 {
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

func (g *graph) add(x, y *term) *term {
	if y.isConst() && y.i == 0 {
		return x
	}
	if x.isConst() && x.i == 0 {
		return y
	}
	return g.operation(opAdd, x, y)
}

func (g *graph) sub(x, y *term) *term {
	if y.isConst() && y.i == 0 {
		return x
	}
	return g.operation(opSub, x, y)
}

func (g *graph) mul(x, y *term) *term {
	if y.isConst() && y.i == 1 {
		return x
	}
	if x.isConst() && x.i == 1 {
		return y
	}
	return g.operation(opMul, x, y)
}

func (g *graph) mod(x, y *term) *term {
	if !x.fails && !y.fails && x.lo >= 0 && x.hi < y.lo {
		return x
	}
	return g.operation(opMod, x, y)
}

// pow is the integer power. It is folded only if it cannot fail.
func (g *graph) pow(x, y *term) *term {
	if x.isConst() && y.isConst() {
		if r, err := sema.IntPow(int32(x.i), int32(y.i)); err == nil {
			return g.integer(int64(r))
		}
	}
	return g.intern(term{op: opPow, sort: sortInt, args: []*term{x, y}, fails: true, lo: minInt, hi: maxInt})
}

func (g *graph) min(x, y *term) *term { return g.extreme(opMin, x, y) }

func (g *graph) max(x, y *term) *term { return g.extreme(opMax, x, y) }

func (g *graph) extreme(op opcode, x, y *term) *term {
	if x == y && !x.fails {
		return x
	}
	if x.isConst() && !y.isConst() && !y.fails {
		x, y = y, x
	}
	if op == opMin && y.isConst() && y.i == 1 && x.lo == 0 && x.op != opOfBool {
		return g.ofBool(g.not(g.eq(x, g.integer(0))))
	}
	return g.operation(op, x, y)
}

func (g *graph) ofBool(x *term) *term {
	if x.isConst() {
		return g.integer(x.i)
	}
	return g.intern(term{op: opOfBool, sort: sortInt, args: []*term{x}, lo: 0, hi: 1})
}
