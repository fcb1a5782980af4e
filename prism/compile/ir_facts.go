package compile

// facts is what is known at a place of the generated code: the values of conditions and the ranges of variables. A child
// knows everything that its parent knows.
type facts struct {
	g      *graph
	parent *facts
	known  map[*term]bool
	ranges map[int]interval
	simple map[*term]*term
	bounds map[*term]interval
}

func (f *facts) child() *facts {
	return &facts{
		g: f.g, parent: f,
		known: map[*term]bool{}, ranges: map[int]interval{},
		simple: map[*term]*term{}, bounds: map[*term]interval{},
	}
}

func (g *graph) noFacts() *facts { return (&facts{g: g}).child() }

// assume returns the facts with the additional knowledge that condition t has the value holds.
func (f *facts) assume(t *term, holds bool) *facts {
	c := f.child()
	c.learn(t, holds)
	return c
}

func (f *facts) learn(t *term, holds bool) {
	if was, ok := f.known[t]; ok && was == holds {
		return
	}
	f.known[t] = holds
	switch t.op {
	case opNot:
		f.learn(t.args[0], !holds)
	case opAnd, opOr:
		if holds == (t.op == opAnd) {
			for _, a := range t.args {
				f.learn(a, holds)
			}
		}
	case opVar:
		i := int64(0)
		if holds {
			i = 1
		}
		f.ranges[t.slot] = interval{i, i}
	case opIntEq:
		f.learnEq(t.args[0], t.args[1], holds)
	case opIntLt:
		f.learnLt(t.args[0], t.args[1], holds)
	}
}

func (f *facts) learnEq(x, y *term, holds bool) {
	if x.op != opVar || !y.isConst() {
		return
	}
	r := f.variable(x.slot)
	switch {
	case holds:
		r = interval{y.i, y.i}
	case r.lo == y.i:
		r.lo++
	case r.hi == y.i:
		r.hi--
	}
	f.ranges[x.slot] = r
}

func (f *facts) learnLt(x, y *term, holds bool) {
	if x.op == opVar && y.isConst() {
		r := f.variable(x.slot)
		if holds {
			r.hi = min(r.hi, y.i-1)
		} else {
			r.lo = max(r.lo, y.i)
		}
		f.ranges[x.slot] = r
	}
	if y.op == opVar && x.isConst() {
		r := f.variable(y.slot)
		if holds {
			r.lo = max(r.lo, x.i+1)
		} else {
			r.hi = min(r.hi, x.i)
		}
		f.ranges[y.slot] = r
	}
}

func (f *facts) variable(slot int) interval {
	for ; f != nil; f = f.parent {
		if r, ok := f.ranges[slot]; ok {
			return r
		}
		if f.parent == nil {
			return f.g.ranges[slot]
		}
	}
	return interval{}
}

func (f *facts) value(t *term) (holds, ok bool) {
	for ; f != nil; f = f.parent {
		if v, ok := f.known[t]; ok {
			return v, true
		}
	}
	return false, false
}

// interval returns bounds of an Int term under the facts.
func (f *facts) interval(t *term) interval {
	if t.op == opVar {
		return f.variable(t.slot)
	}
	if t.isConst() || len(t.args) == 0 {
		return t.interval()
	}
	if r, ok := f.bounds[t]; ok {
		return r
	}
	r := f.derive(t)
	f.bounds[t] = r
	return r
}

func (f *facts) derive(t *term) interval {
	own := t.interval()
	r := own
	switch t.op {
	case opAdd, opSub, opMul, opMin, opMax, opMod:
		r, _ = exact(t.op, f.interval(t.args[0]), f.interval(t.args[1])).clip()
	case opIte:
		x, y := f.interval(t.args[1]), f.interval(t.args[2])
		r = interval{min(x.lo, y.lo), max(x.hi, y.hi)}
	}
	if r = (interval{max(r.lo, own.lo), min(r.hi, own.hi)}); r.lo > r.hi {
		return own // the facts contradict each other: this code is unreachable
	}
	return r
}

// overflows reports whether the result of an Int operation may not fit 32 bits.
func (f *facts) overflows(t *term) bool {
	_, over := exact(t.op, f.interval(t.args[0]), f.interval(t.args[1])).clip()
	return over
}

// simplify returns a term that has the same value as t wherever the facts hold, and that fails wherever t fails.
func (f *facts) simplify(t *term) *term {
	if v, ok := f.value(t); ok && !t.fails {
		return f.g.boolean(v)
	}
	if t.isConst() {
		return t
	}
	if s, ok := f.simple[t]; ok {
		return s
	}
	s := f.rewrite(t)
	f.simple[t] = s
	return s
}

func (f *facts) rewrite(t *term) *term {
	g := f.g
	if t.op == opVar {
		if r := f.variable(t.slot); r.lo == r.hi && t.sort == sortBool {
			return g.boolean(r.lo != 0)
		} else if r.lo == r.hi {
			return g.integer(r.lo)
		}
		return t
	}
	args := make([]*term, len(t.args))
	same := true
	for i, a := range t.args {
		args[i] = f.simplify(a)
		same = same && args[i] == a
	}
	if decided := f.compare(t.op, args); decided != nil {
		return decided
	}
	if same {
		return t
	}
	return g.rebuild(t, args)
}

// compare decides a comparison of Ints by intervals; nil if they do not decide it.
func (f *facts) compare(op opcode, args []*term) *term {
	if op != opIntEq && op != opIntLt || args[0].fails || args[1].fails {
		return nil
	}
	x, y := f.interval(args[0]), f.interval(args[1])
	switch {
	case op == opIntEq && (x.hi < y.lo || y.hi < x.lo), op == opIntLt && x.lo >= y.hi:
		return f.g.no
	case op == opIntLt && x.hi < y.lo:
		return f.g.yes
	}
	return nil
}

// rebuild returns t's operation applied to other operands.
func (g *graph) rebuild(t *term, a []*term) *term {
	switch t.op {
	case opNot:
		return g.not(a[0])
	case opAnd:
		return g.and(a...)
	case opOr:
		return g.or(a...)
	case opIff:
		return g.iff(a[0], a[1])
	case opIte:
		return g.ite(a[0], a[1], a[2])
	case opIntEq:
		return g.eq(a[0], a[1])
	case opIntLt:
		return g.lt(a[0], a[1])
	case opNumSame, opNumLt, opNumLe:
		return g.numCompare(t.op, a[0], a[1])
	case opAdd:
		return g.add(a[0], a[1])
	case opSub:
		return g.sub(a[0], a[1])
	case opMul:
		return g.mul(a[0], a[1])
	case opMod:
		return g.mod(a[0], a[1])
	case opMin, opMax:
		return g.extreme(t.op, a[0], a[1])
	case opPow:
		return g.pow(a[0], a[1])
	case opFloor, opCeil, opRound:
		return g.toInt(t.op, a[0])
	case opToNum:
		return g.toNum(a[0])
	case opNumNeg:
		return g.numNeg(a[0])
	case opOfBool:
		return g.ofBool(a[0])
	default:
		return g.num(t.op, a[0], a[1])
	}
}
