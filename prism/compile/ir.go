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
	opConst opcode = iota // Int or Bool in intValue, Double in floatValue
	opVar                 // slot
	opNot
	opAnd // n-ary, from left to right
	opOr  // n-ary, from left to right
	opIff
	opIfThenElse // condition, then, else; any type
	opIntEq
	opIntLt
	opFloatSame // Double.equals
	opFloatLt
	opFloatLe
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
	opFloatAdd
	opFloatSub
	opFloatMul
	opFloatDiv
	opFloatNeg
	opFloatMin
	opFloatMax
	opFloatPow
	opFloatLog
	opBoolToInt // Bool to Int
)

// sortKind is the type of a term's value.
type sortKind uint8

const (
	sortBool sortKind = iota
	sortInt
	sortFloat
)

// term is a node of the expression graph. Equal terms of a graph have the same pointer.
type term struct {
	id         int
	op         opcode
	valueSort  sortKind
	operands   []*term
	slot       int
	intValue   int64
	floatValue float64
	low        int64 // Int: the value is in [low, high]
	high       int64
	floatLow   float64 // Double, unless it may be NaN: the value is in [floatLow, floatHigh]
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

// interval is the set of integers from low to high.
type interval struct{ low, high int64 }

// newGraph returns a graph with the constants true and false. ranges are the ranges of the model's variables.
func newGraph(ranges []interval) *graph {
	result := &graph{index: map[string]*term{}, ranges: ranges}
	result.falseTerm, result.trueTerm = result.boolConst(false), result.boolConst(true)
	return result
}

// intern returns the term of the graph that is equal to the candidate. If there is none, it adds the candidate to the graph.
func (g *graph) intern(candidate term) *term {
	key := candidate.appendKey(g.keyBuffer[:0])
	g.keyBuffer = key
	if existingTerm, ok := g.index[string(key)]; ok {
		return existingTerm
	}
	candidate.id = len(g.terms)
	candidate.cost = 1
	for _, operand := range candidate.operands {
		candidate.cost = min(candidate.cost+operand.cost, maxCost)
		candidate.mayFail = candidate.mayFail || operand.mayFail
	}
	if candidate.op == opVar || candidate.op == opConst {
		candidate.cost = 0
	}
	interned := &candidate
	g.terms = append(g.terms, interned)
	g.index[string(key)] = interned
	return interned
}

// appendKey appends a key to a buffer. Terms of a graph with equal keys are equal.
func (term *term) appendKey(key []byte) []byte {
	key = append(key, byte(term.op), byte(term.valueSort))
	key = binary.LittleEndian.AppendUint32(key, uint32(term.slot))
	key = binary.LittleEndian.AppendUint64(key, uint64(term.intValue))
	key = binary.LittleEndian.AppendUint64(key, math.Float64bits(term.floatValue))
	for _, operand := range term.operands {
		key = binary.LittleEndian.AppendUint32(key, uint32(operand.id))
	}
	return key
}

// boolConst returns a constant of type Bool.
func (g *graph) boolConst(value bool) *term {
	constant := term{op: opConst, valueSort: sortBool}
	if value {
		constant.intValue = 1
	}
	return g.intern(constant)
}

// intConst returns a constant of type Int.
func (g *graph) intConst(i int64) *term {
	return g.intern(term{op: opConst, valueSort: sortInt, intValue: i, low: i, high: i})
}

// floatConst returns a constant of type Double.
func (g *graph) floatConst(value float64) *term {
	constant := term{op: opConst, valueSort: sortFloat, floatValue: value, floatLow: value, floatHigh: value, maybeNaN: math.IsNaN(value)}
	return g.intern(constant)
}

// variable returns a variable of the model.
func (g *graph) variable(slot int, sort sortKind) *term {
	values := g.ranges[slot]
	return g.intern(term{op: opVar, valueSort: sort, slot: slot, low: values.low, high: values.high})
}

// isConst reports whether the term is a constant.
func (term *term) isConst() bool { return term.op == opConst }

// not returns !operand, simplified if possible.
func (g *graph) not(operand *term) *term {
	switch {
	case operand == g.trueTerm:
		return g.falseTerm
	case operand == g.falseTerm:
		return g.trueTerm
	case operand.op == opNot:
		return operand.operands[0]
	}
	return g.intern(term{op: opNot, valueSort: sortBool, operands: []*term{operand}})
}

// and returns the conjunction of terms.
func (g *graph) and(operands ...*term) *term {
	return g.newConnective(opAnd, g.trueTerm, g.falseTerm, operands)
}

// or returns the disjunction of terms.
func (g *graph) or(operands ...*term) *term {
	return g.newConnective(opOr, g.falseTerm, g.trueTerm, operands)
}

// newConnective returns the simplified conjunction or disjunction of operands. neutralTerm is the constant that has no effect (true in a
// conjunction), dominantTerm the constant that determines the result (false in a conjunction).
func (g *graph) newConnective(op opcode, neutralTerm, dominantTerm *term, operands []*term) *term {
	var remaining []*term
	mayFail, isDecided := false, false
	for _, operand := range operands {
		if operand == neutralTerm || slices.Contains(remaining, operand) {
			continue
		}
		if operand == dominantTerm || slices.Contains(remaining, g.not(operand)) { // x & !x is false, x | !x is true
			isDecided = true
			break
		}
		remaining = append(remaining, operand)
		mayFail = mayFail || operand.mayFail
	}
	switch {
	case isDecided && !mayFail:
		return dominantTerm
	case isDecided: // keep the operands before dominantTerm, because their evaluation may fail
		remaining = append(remaining, dominantTerm)
	case len(remaining) == 0:
		return neutralTerm
	case len(remaining) == 1:
		return remaining[0]
	}
	return g.intern(term{op: op, valueSort: sortBool, operands: remaining})
}

// iff returns the simplified left <=> right. If the operands cannot fail, iff(left, right) and iff(right, left) are the same term.
func (g *graph) iff(left, right *term) *term {
	switch {
	case left == right && !left.mayFail:
		return g.trueTerm
	case right.isConst():
		return g.negateUnless(left, right == g.trueTerm)
	case left.isConst():
		return g.negateUnless(right, left == g.trueTerm)
	case left.id > right.id && !left.mayFail && !right.mayFail:
		left, right = right, left
	}
	return g.intern(term{op: opIff, valueSort: sortBool, operands: []*term{left, right}})
}

// negateUnless returns the operand if isSame is true, otherwise its negation.
func (g *graph) negateUnless(operand *term, isSame bool) *term {
	if isSame {
		return operand
	}
	return g.not(operand)
}

// ifThenElse returns the simplified condition ? thenTerm : elseTerm. With a constant Bool as a branch it returns a conjunction or disjunction.
func (g *graph) ifThenElse(condition, thenTerm, elseTerm *term) *term {
	switch {
	case condition == g.trueTerm:
		return thenTerm
	case condition == g.falseTerm:
		return elseTerm
	case thenTerm == elseTerm && !condition.mayFail:
		return thenTerm
	case condition.op == opNot:
		return g.ifThenElse(condition.operands[0], elseTerm, thenTerm)
	case thenTerm == g.trueTerm:
		return g.or(condition, elseTerm)
	case thenTerm == g.falseTerm:
		return g.and(g.not(condition), elseTerm)
	case elseTerm == g.trueTerm:
		return g.or(g.not(condition), thenTerm)
	case elseTerm == g.falseTerm:
		return g.and(condition, thenTerm)
	}
	return g.intern(term{
		op: opIfThenElse, valueSort: thenTerm.valueSort, operands: []*term{condition, thenTerm, elseTerm},
		low: min(thenTerm.low, elseTerm.low), high: max(thenTerm.high, elseTerm.high),
		floatLow: min(thenTerm.floatLow, elseTerm.floatLow), floatHigh: max(thenTerm.floatHigh, elseTerm.floatHigh),
		maybeNaN: thenTerm.maybeNaN || elseTerm.maybeNaN,
	})
}

// equal returns the simplified left = right for Ints. A constant operand is moved to the right. If the operands cannot fail, equal(left, right)
// and equal(right, left) are the same term.
func (g *graph) equal(left, right *term) *term {
	mayFail := left.mayFail || right.mayFail
	areDisjoint := left.high < right.low || right.high < left.low
	switch {
	case left.isConst() && right.isConst():
		return g.boolConst(left.intValue == right.intValue)
	case !mayFail && left == right:
		return g.trueTerm
	case !mayFail && areDisjoint:
		return g.falseTerm
	}
	isUnordered := !mayFail && !right.isConst() && left.id > right.id
	if left.isConst() || isUnordered {
		left, right = right, left
	}
	if left.op == opBoolToInt && right.isConst() {
		return g.compareBoolToInt(left.operands[0], right.intValue)
	}
	return g.intern(term{op: opIntEq, valueSort: sortBool, operands: []*term{left, right}})
}

// compareBoolToInt returns the comparison of a Bool, as 0 or 1, with a value of 0 or 1.
func (g *graph) compareBoolToInt(condition *term, value int64) *term {
	if value == 1 {
		return condition
	}
	return g.not(condition)
}

// lessThan returns the simplified left < right for Ints. A comparison with a constant becomes an equality if the range of the other operand allows
// it: x < 1 becomes x = 0 if x is at least 0.
func (g *graph) lessThan(left, right *term) *term {
	mayFail := left.mayFail || right.mayFail
	switch {
	case !mayFail && left.high < right.low:
		return g.trueTerm
	case !mayFail && left.low >= right.high, !mayFail && left == right:
		return g.falseTerm
	case right.isConst() && left.low == right.intValue-1:
		return g.equal(left, g.intConst(left.low))
	case left.isConst() && right.low == left.intValue:
		return g.not(g.equal(right, left))
	case right.isConst() && left.high == right.intValue:
		return g.not(g.equal(left, right))
	case left.isConst() && right.high == left.intValue+1:
		return g.equal(right, g.intConst(right.high))
	}
	return g.intern(term{op: opIntLt, valueSort: sortBool, operands: []*term{left, right}})
}

const (
	minInt = math.MinInt32
	maxInt = math.MaxInt32
)

// resultInterval returns bounds on the result of an Int operation, by interval arithmetic. The bounds may exceed 32 bits.
func resultInterval(op opcode, left, right interval) interval {
	switch op {
	case opAdd:
		return interval{left.low + right.low, left.high + right.high}
	case opSub:
		return interval{left.low - right.high, left.high - right.low}
	case opMul:
		lowLow, lowHigh := left.low*right.low, left.low*right.high
		highLow, highHigh := left.high*right.low, left.high*right.high
		return interval{min(lowLow, lowHigh, highLow, highHigh), max(lowLow, lowHigh, highLow, highHigh)}
	case opMin:
		return interval{min(left.low, right.low), min(left.high, right.high)}
	case opMax:
		return interval{max(left.low, right.low), max(left.high, right.high)}
	case opMod:
		return interval{0, max(right.high-1, 0)}
	}
	return interval{minInt, maxInt}
}

// clampToInt32 returns the intersection of an interval with the 32-bit integers, or all 32-bit integers if it is empty. exceeds says that
// the interval exceeds 32 bits.
func (r interval) clampToInt32() (clamped interval, exceeds bool) {
	clamped = interval{max(r.low, minInt), min(r.high, maxInt)}
	if clamped.low > clamped.high {
		return interval{minInt, maxInt}, true
	}
	return clamped, clamped != r
}

// interval returns the interval of an Int term.
func (term *term) interval() interval { return interval{term.low, term.high} }

// intOperation returns an operation on two Ints. It may fail if the result may overflow 32 bits, or the divisor of mod may be 0 or negative.
func (g *graph) intOperation(op opcode, left, right *term) *term {
	bounds, mayOverflow := resultInterval(op, left.interval(), right.interval()).clampToInt32()
	result := term{op: op, valueSort: sortInt, operands: []*term{left, right}, low: bounds.low, high: bounds.high}
	result.mayFail = mayOverflow || op == opMod && right.low <= 0
	if left.isConst() && right.isConst() && !result.mayFail {
		return g.intConst(evaluateInts(op, left.intValue, right.intValue))
	}
	return g.intern(result)
}

// evaluateInts computes an Int operation. The result of mod is never negative.
func evaluateInts(op opcode, left, right int64) int64 {
	switch op {
	case opAdd:
		return left + right
	case opSub:
		return left - right
	case opMul:
		return left * right
	case opMin:
		return min(left, right)
	case opMax:
		return max(left, right)
	default: // opMod
		return (left%right + right) % right
	}
}

// add returns left+right for Ints.
func (g *graph) add(left, right *term) *term {
	if right.isConst() && right.intValue == 0 {
		return left
	}
	if left.isConst() && left.intValue == 0 {
		return right
	}
	return g.intOperation(opAdd, left, right)
}

// sub returns left-right for Ints.
func (g *graph) sub(left, right *term) *term {
	if right.isConst() && right.intValue == 0 {
		return left
	}
	return g.intOperation(opSub, left, right)
}

// mul returns left*right for Ints.
func (g *graph) mul(left, right *term) *term {
	if right.isConst() && right.intValue == 1 {
		return left
	}
	if left.isConst() && left.intValue == 1 {
		return right
	}
	return g.intOperation(opMul, left, right)
}

// mod returns mod(left, right). It returns left if left is certainly between 0 and right-1.
func (g *graph) mod(left, right *term) *term {
	if !left.mayFail && !right.mayFail && left.low >= 0 && left.high < right.low {
		return left
	}
	return g.intOperation(opMod, left, right)
}

// pow returns left^right for Ints. Constant operands with a defined power give a constant.
func (g *graph) pow(left, right *term) *term {
	if left.isConst() && right.isConst() {
		if power, err := sema.IntPow(int32(left.intValue), int32(right.intValue)); err == nil {
			return g.intConst(int64(power))
		}
	}
	return g.intern(term{op: opPow, valueSort: sortInt, operands: []*term{left, right}, mayFail: true, low: minInt, high: maxInt})
}

// min returns the minimum of Ints.
func (g *graph) min(left, right *term) *term { return g.minOrMax(opMin, left, right) }

// max returns the maximum of Ints.
func (g *graph) max(left, right *term) *term { return g.minOrMax(opMax, left, right) }

// minOrMax returns the minimum or maximum of two Ints, simplified. If x is at least 0, min(x, 1) becomes x != 0, converted to an Int.
func (g *graph) minOrMax(op opcode, left, right *term) *term {
	if left == right && !left.mayFail {
		return left
	}
	if left.isConst() && !right.isConst() && !right.mayFail {
		left, right = right, left
	}
	isMinWithOne := op == opMin && right.isConst() && right.intValue == 1
	if isMinWithOne && left.low == 0 && left.op != opBoolToInt {
		isZero := g.equal(left, g.intConst(0))
		return g.boolToInt(g.not(isZero))
	}
	return g.intOperation(op, left, right)
}

// boolToInt returns 1 if operand is true, otherwise 0.
func (g *graph) boolToInt(operand *term) *term {
	if operand.isConst() {
		return g.intConst(operand.intValue)
	}
	return g.intern(term{op: opBoolToInt, valueSort: sortInt, operands: []*term{operand}, low: 0, high: 1})
}
