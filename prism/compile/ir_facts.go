package compile

// facts is the knowledge at one place of the generated code: the values of conditions and the ranges of variables. A child includes
// the knowledge of its parent.
type facts struct {
	graph           *graph
	parent          *facts
	values          map[*term]bool
	ranges          map[int]interval
	simplifiedTerms map[*term]*term
	intervals       map[*term]interval
}

// child returns a copy of the facts, to which further facts can be added.
func (f *facts) child() *facts {
	return &facts{
		graph: f.graph, parent: f,
		values: map[*term]bool{}, ranges: map[int]interval{},
		simplifiedTerms: map[*term]*term{}, intervals: map[*term]interval{},
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
	if known, ok := f.values[term]; ok && known == holds {
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
		value := int64(0)
		if holds {
			value = 1
		}
		f.ranges[term.slot] = interval{value, value}
	case opIntEq:
		f.learnEquality(term.operands[0], term.operands[1], holds)
	case opIntLt:
		f.learnLess(term.operands[0], term.operands[1], holds)
	}
}

// learnEquality narrows the range of a variable after a comparison left = right with a constant.
func (f *facts) learnEquality(left, right *term, holds bool) {
	if left.op != opVar || !right.isConst() {
		return
	}
	possible := f.variable(left.slot)
	switch {
	case holds:
		possible = interval{right.intValue, right.intValue}
	case possible.low == right.intValue:
		possible.low++
	case possible.high == right.intValue:
		possible.high--
	}
	f.ranges[left.slot] = possible
}

// learnLess narrows the range of a variable after a comparison left < right with a constant.
func (f *facts) learnLess(left, right *term, holds bool) {
	if left.op == opVar && right.isConst() {
		possible := f.variable(left.slot)
		if holds {
			possible.high = min(possible.high, right.intValue-1)
		} else {
			possible.low = max(possible.low, right.intValue)
		}
		f.ranges[left.slot] = possible
	}
	if right.op == opVar && left.isConst() {
		possible := f.variable(right.slot)
		if holds {
			possible.low = max(possible.low, left.intValue+1)
		} else {
			possible.high = min(possible.high, left.intValue)
		}
		f.ranges[right.slot] = possible
	}
}

// variable returns the range of a variable.
func (f *facts) variable(slot int) interval {
	for ; f != nil; f = f.parent {
		if values, ok := f.ranges[slot]; ok {
			return values
		}
		if f.parent == nil {
			return f.graph.ranges[slot]
		}
	}
	return interval{}
}

// truthOf returns the value of a condition, and whether it is known.
func (f *facts) truthOf(term *term) (holds, ok bool) {
	for ; f != nil; f = f.parent {
		if wasTrue, ok := f.values[term]; ok {
			return wasTrue, true
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
	case opIfThenElse:
		ifTrue, ifFalse := f.interval(term.operands[1]), f.interval(term.operands[2])
		bounds = interval{min(ifTrue.low, ifFalse.low), max(ifTrue.high, ifFalse.high)}
	}
	if bounds = (interval{max(bounds.low, declared.low), min(bounds.high, declared.high)}); bounds.low > bounds.high {
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
	if holds, ok := f.truthOf(term); ok && !term.mayFail {
		return f.graph.boolConst(holds)
	}
	if term.isConst() {
		return term
	}
	if simplified, ok := f.simplifiedTerms[term]; ok {
		return simplified
	}
	simplified := f.rewrite(term)
	f.simplifiedTerms[term] = simplified
	return simplified
}

// rewrite returns a term that has the same value as the original wherever the facts hold, and fails wherever the original fails. It is
// simplify without the cache.
func (f *facts) rewrite(original *term) *term {
	graph := f.graph
	if original.op == opVar {
		if values := f.variable(original.slot); values.low == values.high && original.sort == sortBool {
			return graph.boolConst(values.low != 0)
		} else if values.low == values.high {
			return graph.intConst(values.low)
		}
		return original
	}
	args := make([]*term, len(original.operands))
	same := true
	for i, operand := range original.operands {
		args[i] = f.simplify(operand)
		same = same && args[i] == operand
	}
	if decided := f.decideComparison(original.op, args); decided != nil {
		return decided
	}
	if same {
		return original
	}
	return graph.rebuild(original, args)
}

// decideComparison returns the constant true or false if the intervals of two Int operands decide their comparison, otherwise nil. It
// returns nil for operations other than = and <, and for operands that may fail.
func (f *facts) decideComparison(op opcode, args []*term) *term {
	if op != opIntEq && op != opIntLt || args[0].mayFail || args[1].mayFail {
		return nil
	}
	left, right := f.interval(args[0]), f.interval(args[1])
	isLess, isGreater := left.high < right.low, right.high < left.low
	switch {
	case op == opIntEq && (isLess || isGreater):
		return f.graph.falseTerm
	case op == opIntLt && isLess:
		return f.graph.trueTerm
	case op == opIntLt && left.low >= right.high:
		return f.graph.falseTerm
	}
	return nil
}

// rebuild returns a term with the operation of the given term and other operands. It simplifies the result.
func (g *graph) rebuild(term *term, operands []*term) *term {
	switch term.op {
	case opNot:
		return g.not(operands[0])
	case opAnd:
		return g.and(operands...)
	case opOr:
		return g.or(operands...)
	case opIff:
		return g.iff(operands[0], operands[1])
	case opIfThenElse:
		return g.ifThenElse(operands[0], operands[1], operands[2])
	case opIntEq:
		return g.equal(operands[0], operands[1])
	case opIntLt:
		return g.lessThan(operands[0], operands[1])
	case opNumSame, opNumLt, opNumLe:
		return g.compareFloats(term.op, operands[0], operands[1])
	case opAdd:
		return g.add(operands[0], operands[1])
	case opSub:
		return g.sub(operands[0], operands[1])
	case opMul:
		return g.mul(operands[0], operands[1])
	case opMod:
		return g.mod(operands[0], operands[1])
	case opMin, opMax:
		return g.minOrMax(term.op, operands[0], operands[1])
	case opPow:
		return g.pow(operands[0], operands[1])
	case opFloor, opCeil, opRound:
		return g.toInt(term.op, operands[0])
	case opIntToFloat:
		return g.toFloat(operands[0])
	case opNumNeg:
		return g.floatNegation(operands[0])
	case opBoolToInt:
		return g.boolToInt(operands[0])
	default:
		return g.floatOperation(term.op, operands[0], operands[1])
	}
}
