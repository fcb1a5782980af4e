package compile

// facts is the knowledge at a position in the generated code: the values of conditions and the ranges of variables. A child includes the
// facts of its parent.
type facts struct {
	graph           *graph
	parent          *facts
	values          map[*term]bool
	ranges          map[int]interval
	simplifiedTerms map[*term]*term
	intervals       map[*term]interval
}

// child returns facts that include f and can be extended.
func (f *facts) child() *facts {
	return &facts{
		graph: f.graph, parent: f,
		values: map[*term]bool{}, ranges: map[int]interval{},
		simplifiedTerms: map[*term]*term{}, intervals: map[*term]interval{},
	}
}

// noFacts returns the facts that hold in every state: the declared ranges of the variables.
func (g *graph) noFacts() *facts { return (&facts{graph: g}).child() }

// assume returns the facts together with the assumption that a condition is true or false, as holds says.
func (f *facts) assume(term *term, holds bool) *facts {
	child := f.child()
	child.learn(term, holds)
	return child
}

// learn adds the fact that a condition is true (holds) or false (!holds). It also adds the facts about operands and variables that follow from it.
func (f *facts) learn(term *term, holds bool) {
	if knownValue, ok := f.values[term]; ok && knownValue == holds {
		return
	}
	f.values[term] = holds
	isTrueConjunction := term.op == opAnd && holds
	isFalseDisjunction := term.op == opOr && !holds
	switch {
	case term.op == opNot:
		f.learn(term.operands[0], !holds)
	case isTrueConjunction || isFalseDisjunction:
		for _, operand := range term.operands {
			f.learn(operand, holds)
		}
	case term.op == opVar && holds:
		f.ranges[term.slot] = interval{1, 1}
	case term.op == opVar:
		f.ranges[term.slot] = interval{0, 0}
	case term.op == opIntEq:
		f.learnEquality(term.operands[0], term.operands[1], holds)
	case term.op == opIntLt:
		f.learnLess(term.operands[0], term.operands[1], holds)
	}
}

// learnEquality narrows the range of a variable by the fact that left = right is true (holds) or false. It has no effect unless left is a variable
// and right is a constant.
func (f *facts) learnEquality(left, right *term, holds bool) {
	if left.op != opVar || !right.isConst() {
		return
	}
	valueRange := f.variable(left.slot)
	switch {
	case holds:
		valueRange = interval{right.intValue, right.intValue}
	case valueRange.low == right.intValue:
		valueRange.low++
	case valueRange.high == right.intValue:
		valueRange.high--
	}
	f.ranges[left.slot] = valueRange
}

// learnLess narrows the range of a variable by the fact that left < right is true (holds) or false. It has no effect unless one operand is a
// variable and the other a constant.
func (f *facts) learnLess(left, right *term, holds bool) {
	if left.op == opVar && right.isConst() {
		valueRange := f.variable(left.slot)
		if holds {
			valueRange.high = min(valueRange.high, right.intValue-1)
		} else {
			valueRange.low = max(valueRange.low, right.intValue)
		}
		f.ranges[left.slot] = valueRange
	}
	if right.op == opVar && left.isConst() {
		valueRange := f.variable(right.slot)
		if holds {
			valueRange.low = max(valueRange.low, left.intValue+1)
		} else {
			valueRange.high = min(valueRange.high, left.intValue)
		}
		f.ranges[right.slot] = valueRange
	}
}

// variable returns the range of a variable: the last learned range, or else the declared one.
func (f *facts) variable(slot int) interval {
	for ancestor := f; ancestor != nil; ancestor = ancestor.parent {
		if values, ok := ancestor.ranges[slot]; ok {
			return values
		}
	}
	return f.graph.ranges[slot]
}

// truthOf returns the value of a condition; ok is false if it is not known.
func (f *facts) truthOf(term *term) (holds, ok bool) {
	for ancestor := f; ancestor != nil; ancestor = ancestor.parent {
		if holds, ok := ancestor.values[term]; ok {
			return holds, true
		}
	}
	return false, false
}

// interval returns bounds on the value of an Int term in the states where the facts hold.
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

// computeInterval computes bounds on the value of an Int term from the bounds on its operands.
func (f *facts) computeInterval(term *term) interval {
	termBounds := term.interval()
	bounds := termBounds
	switch term.op {
	case opAdd, opSub, opMul, opMin, opMax, opMod:
		left, right := f.interval(term.operands[0]), f.interval(term.operands[1])
		bounds, _ = resultInterval(term.op, left, right).clampToInt32()
	case opIfThenElse:
		ifTrue, ifFalse := f.interval(term.operands[1]), f.interval(term.operands[2])
		bounds = interval{min(ifTrue.low, ifFalse.low), max(ifTrue.high, ifFalse.high)}
	}
	bounds = interval{max(bounds.low, termBounds.low), min(bounds.high, termBounds.high)}
	if bounds.low > bounds.high {
		return termBounds // the facts contradict each other, so this code is unreachable
	}
	return bounds
}

// mayOverflow reports whether the result of an Int operation may overflow 32 bits.
func (f *facts) mayOverflow(term *term) bool {
	left, right := f.interval(term.operands[0]), f.interval(term.operands[1])
	_, exceeds := resultInterval(term.op, left, right).clampToInt32()
	return exceeds
}

// simplify returns a simpler term that is equivalent in the states where the facts hold: there it has the same value, or fails as well.
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

// rewrite returns a simpler term that is equivalent in the states where the facts hold. Only the operands are cached; simplify caches the term
// itself.
func (f *facts) rewrite(original *term) *term {
	if original.op == opVar {
		return f.rewriteVariable(original)
	}
	operands := make([]*term, len(original.operands))
	isUnchanged := true
	for i, operand := range original.operands {
		operands[i] = f.simplify(operand)
		isUnchanged = isUnchanged && operands[i] == operand
	}
	if constantResult := f.decideComparison(original.op, operands); constantResult != nil {
		return constantResult
	}
	if isUnchanged {
		return original
	}
	return f.graph.rebuild(original, operands)
}

// rewriteVariable returns a constant if the facts allow only one value of a variable. Otherwise it returns the variable itself.
func (f *facts) rewriteVariable(variable *term) *term {
	values := f.variable(variable.slot)
	switch {
	case values.low != values.high:
		return variable
	case variable.valueSort == sortBool:
		return f.graph.boolConst(values.low != 0)
	default:
		return f.graph.intConst(values.low)
	}
}

// decideComparison returns true or false if the intervals of two Int operands determine their comparison by = or <; otherwise nil.
func (f *facts) decideComparison(op opcode, operands []*term) *term {
	isComparison := op == opIntEq || op == opIntLt
	if !isComparison || operands[0].mayFail || operands[1].mayFail {
		return nil
	}
	left, right := f.interval(operands[0]), f.interval(operands[1])
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

// rebuild returns the simplified term with the operation of a term and other operands.
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
	case opFloatSame, opFloatLt, opFloatLe:
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
	case opFloatNeg:
		return g.floatNegation(operands[0])
	case opBoolToInt:
		return g.boolToInt(operands[0])
	default: // a binary operation on Doubles
		return g.floatOperation(term.op, operands[0], operands[1])
	}
}
