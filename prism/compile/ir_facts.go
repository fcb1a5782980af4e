package compile

// facts is the knowledge at one place of the generated code: the values of conditions and the ranges of variables. A child includes
// the knowledge of its parent.
type facts struct {
	graph      *graph
	parent     *facts
	values     map[*term]bool
	ranges     map[int]interval
	simplified map[*term]*term
	intervals  map[*term]interval
}

// child returns a copy of the facts, to which further facts can be added.
func (f *facts) child() *facts {
	return &facts{
		graph: f.graph, parent: f,
		values: map[*term]bool{}, ranges: map[int]interval{},
		simplified: map[*term]*term{}, intervals: map[*term]interval{},
	}
}

// noFacts returns the facts that hold in every state: the declared ranges of the variables.
func (g *graph) noFacts() *facts { return (&facts{graph: g}).child() }

// assume returns the facts together with the assumption that a condition holds, or that it does not.
func (f *facts) assume(term *term, holds bool) *facts {
	child := f.child()
	child.learn(term, holds)
	return child
}

// learn adds the fact that a condition holds, or that it does not, and the facts about its operands that follow.
func (f *facts) learn(term *term, holds bool) {
	if was, ok := f.values[term]; ok && was == holds {
		return
	}
	f.values[term] = holds
	switch term.op {
	case opNot:
		f.learn(term.operands[0], !holds)
	case opAnd, opOr:
		if holds == (term.op == opAnd) {
			for _, operand := range term.operands {
				f.learn(operand, holds)
			}
		}
	case opVar:
		i := int64(0)
		if holds {
			i = 1
		}
		f.ranges[term.slot] = interval{i, i}
	case opIntEq:
		f.learnEquality(term.operands[0], term.operands[1], holds)
	case opIntLt:
		f.learnLess(term.operands[0], term.operands[1], holds)
	}
}

// learnEquality narrows the range of a variable after a comparison x = y with a constant.
func (f *facts) learnEquality(x, y *term, holds bool) {
	if x.op != opVar || !y.isConst() {
		return
	}
	r := f.variable(x.slot)
	switch {
	case holds:
		r = interval{y.intValue, y.intValue}
	case r.lo == y.intValue:
		r.lo++
	case r.hi == y.intValue:
		r.hi--
	}
	f.ranges[x.slot] = r
}

// learnLess narrows the range of a variable after a comparison x < y with a constant.
func (f *facts) learnLess(x, y *term, holds bool) {
	if x.op == opVar && y.isConst() {
		r := f.variable(x.slot)
		if holds {
			r.hi = min(r.hi, y.intValue-1)
		} else {
			r.lo = max(r.lo, y.intValue)
		}
		f.ranges[x.slot] = r
	}
	if y.op == opVar && x.isConst() {
		r := f.variable(y.slot)
		if holds {
			r.lo = max(r.lo, x.intValue+1)
		} else {
			r.hi = min(r.hi, x.intValue)
		}
		f.ranges[y.slot] = r
	}
}

// variable returns the range of a variable.
func (f *facts) variable(slot int) interval {
	for ; f != nil; f = f.parent {
		if r, ok := f.ranges[slot]; ok {
			return r
		}
		if f.parent == nil {
			return f.graph.ranges[slot]
		}
	}
	return interval{}
}

// known returns the value of a condition, and whether it is known.
func (f *facts) known(term *term) (holds, ok bool) {
	for ; f != nil; f = f.parent {
		if v, ok := f.values[term]; ok {
			return v, true
		}
	}
	return false, false
}

// interval returns the interval of an Int term under the facts.
func (f *facts) interval(term *term) interval {
	if term.op == opVar {
		return f.variable(term.slot)
	}
	if term.isConst() || len(term.operands) == 0 {
		return term.interval()
	}
	if bounds, ok := f.intervals[term]; ok {
		return bounds
	}
	bounds := f.computeInterval(term)
	f.intervals[term] = bounds
	return bounds
}

// computeInterval computes the interval of a term from those of its operands.
func (f *facts) computeInterval(term *term) interval {
	declared := term.interval()
	bounds := declared
	switch term.op {
	case opAdd, opSub, opMul, opMin, opMax, opMod:
		bounds, _ = resultInterval(term.op, f.interval(term.operands[0]), f.interval(term.operands[1])).clampToInt32()
	case opIte:
		x, y := f.interval(term.operands[1]), f.interval(term.operands[2])
		bounds = interval{min(x.lo, y.lo), max(x.hi, y.hi)}
	}
	if bounds = (interval{max(bounds.lo, declared.lo), min(bounds.hi, declared.hi)}); bounds.lo > bounds.hi {
		return declared // the facts contradict each other, so this code is unreachable
	}
	return bounds
}

// overflows reports whether the result of an Int operation may not fit in 32 bits.
func (f *facts) overflows(term *term) bool {
	_, over := resultInterval(term.op, f.interval(term.operands[0]), f.interval(term.operands[1])).clampToInt32()
	return over
}

// simplify returns a term that has the same value as t wherever the facts hold, and fails wherever t fails.
func (f *facts) simplify(term *term) *term {
	if v, ok := f.known(term); ok && !term.mayFail {
		return f.graph.boolConst(v)
	}
	if term.isConst() {
		return term
	}
	if simplified, ok := f.simplified[term]; ok {
		return simplified
	}
	simplified := f.rewrite(term)
	f.simplified[term] = simplified
	return simplified
}

// rewrite is simplify without the cache.
func (f *facts) rewrite(t *term) *term {
	g := f.graph
	if t.op == opVar {
		if r := f.variable(t.slot); r.lo == r.hi && t.sort == sortBool {
			return g.boolConst(r.lo != 0)
		} else if r.lo == r.hi {
			return g.intConst(r.lo)
		}
		return t
	}
	args := make([]*term, len(t.operands))
	same := true
	for i, operand := range t.operands {
		args[i] = f.simplify(operand)
		same = same && args[i] == operand
	}
	if decided := f.decideComparison(t.op, args); decided != nil {
		return decided
	}
	if same {
		return t
	}
	return g.rebuild(t, args)
}

// decideComparison decides a comparison of Ints by the intervals of its operands; nil if they do not decide it.
func (f *facts) decideComparison(op opcode, args []*term) *term {
	if op != opIntEq && op != opIntLt || args[0].mayFail || args[1].mayFail {
		return nil
	}
	x, y := f.interval(args[0]), f.interval(args[1])
	switch {
	case op == opIntEq && (x.hi < y.lo || y.hi < x.lo), op == opIntLt && x.lo >= y.hi:
		return f.graph.falseTerm
	case op == opIntLt && x.hi < y.lo:
		return f.graph.trueTerm
	}
	return nil
}

// rebuild returns the operation of t with other operands.
func (g *graph) rebuild(term *term, operand []*term) *term {
	switch term.op {
	case opNot:
		return g.not(operand[0])
	case opAnd:
		return g.and(operand...)
	case opOr:
		return g.or(operand...)
	case opIff:
		return g.iff(operand[0], operand[1])
	case opIte:
		return g.ite(operand[0], operand[1], operand[2])
	case opIntEq:
		return g.eq(operand[0], operand[1])
	case opIntLt:
		return g.lt(operand[0], operand[1])
	case opNumSame, opNumLt, opNumLe:
		return g.compareFloats(term.op, operand[0], operand[1])
	case opAdd:
		return g.add(operand[0], operand[1])
	case opSub:
		return g.sub(operand[0], operand[1])
	case opMul:
		return g.mul(operand[0], operand[1])
	case opMod:
		return g.mod(operand[0], operand[1])
	case opMin, opMax:
		return g.minOrMax(term.op, operand[0], operand[1])
	case opPow:
		return g.pow(operand[0], operand[1])
	case opFloor, opCeil, opRound:
		return g.toInt(term.op, operand[0])
	case opIntToFloat:
		return g.toFloat(operand[0])
	case opNumNeg:
		return g.floatNegation(operand[0])
	case opBoolToInt:
		return g.boolToInt(operand[0])
	default:
		return g.floatOperation(term.op, operand[0], operand[1])
	}
}
