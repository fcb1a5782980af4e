package automata

import (
	"errors"
	"math"
)

// ErrTooLarge says that an automaton exceeds its Limits.
var ErrTooLarge = errors.New("the automaton is too large")

// formulaRef is a node of the decision diagram: a Boolean combination of atoms, in which temporal operators
// occur positively. Equivalent combinations have the same ref.
type formulaRef int32

const (
	falseFormula formulaRef = 0
	trueFormula  formulaRef = 1
)

// atom is a variable of the decision diagram: a proposition, or the temporal operator X, U or W with its operands.
// Other operators are expressed by these: F y is `true U y`, G x is `x W false`, and a R b is `b W (a & b)`.
type atom struct {
	op          Op // Prop, Next, Until or WeakUntil; True stands for the extra step of explicitNext
	proposition int
	left, right formulaRef
	operators   operators
	// stable says that reading a letter never changes the truth of the operator, as for G F p.
	isStable bool
}

// operators is a set of the temporal operators that occur in a formula, at any depth.
type operators uint8

const (
	hasUntil operators = 1 << iota
	hasWeak
)

// node is `if atom then high else low`. The atoms on a path have increasing numbers; operands of an
// atom have atoms with smaller numbers.
type node struct {
	atom      int32
	low, high formulaRef
	operators operators
}

// decisionDiagram is a reduced ordered binary decision diagram with the formulas of one automaton.
type decisionDiagram struct {
	atoms           []atom
	atomNumber      map[atom]int32
	nodes           []node
	uniqueNodes     map[[3]int32]formulaRef // the unique table: nodes by atom, low and high
	ifThenElseCache map[[3]formulaRef]formulaRef
	progressCache   map[progressKey]formulaRef
	maxNodes        int
	isTooLarge      bool // maxNodes was exceeded: results are meaningless
}

// progressKey has the arguments of progress.
type progressKey struct {
	formula formulaRef
	letter  uint64
}

// newBDD returns a diagram with only the constants false and true. limit is the largest number of nodes.
func newBDD(maxNodes int) *decisionDiagram {
	leaf := node{atom: math.MaxInt32} // a greater number than every atom
	return &decisionDiagram{
		atomNumber: map[atom]int32{}, nodes: []node{leaf, leaf},
		uniqueNodes: map[[3]int32]formulaRef{}, ifThenElseCache: map[[3]formulaRef]formulaRef{}, progressCache: map[progressKey]formulaRef{},
		maxNodes: maxNodes,
	}
}

// sizeError returns ErrTooLarge if maxNodes was exceeded.
func (diagram *decisionDiagram) sizeError() error {
	if diagram.isTooLarge {
		return ErrTooLarge
	}
	return nil
}

// makeNode returns the formula `if atom then high else low`. It adds a node only if no node for this formula exists. If the diagram has too many nodes, it
// sets isTooLarge and returns falseFormula.
func (diagram *decisionDiagram) makeNode(atom int32, low, high formulaRef) formulaRef {
	if low == high {
		return low
	}
	key := [3]int32{atom, int32(low), int32(high)}
	if created, isKnown := diagram.uniqueNodes[key]; isKnown {
		return created
	}
	if len(diagram.nodes) >= diagram.maxNodes {
		diagram.isTooLarge = true
	}
	if diagram.isTooLarge {
		return falseFormula
	}
	created := formulaRef(len(diagram.nodes))
	operators := diagram.atoms[atom].operators | diagram.nodes[low].operators | diagram.nodes[high].operators
	diagram.nodes = append(diagram.nodes, node{atom, low, high, operators})
	diagram.uniqueNodes[key] = created
	return created
}

// literal returns the formula that consists of an atom.
func (diagram *decisionDiagram) literal(variable int32) formulaRef {
	return diagram.makeNode(variable, falseFormula, trueFormula)
}

// singleAtom returns the atom of a formula that consists of one atom. ok is false for all other formulas.
func (diagram *decisionDiagram) singleAtom(formula formulaRef) (single atom, ok bool) {
	if formula <= trueFormula {
		return atom{}, false
	}
	node := diagram.nodes[formula]
	if node.low != falseFormula || node.high != trueFormula {
		return atom{}, false
	}
	return diagram.atoms[node.atom], true
}

// ifThenElse returns the decision diagram of the formula "(condition & then) | (!condition & otherwise)".
func (diagram *decisionDiagram) ifThenElse(condition, then, otherwise formulaRef) formulaRef {
	switch {
	case condition == trueFormula || then == otherwise:
		return then
	case condition == falseFormula:
		return otherwise
	case then == trueFormula && otherwise == falseFormula:
		return condition
	}
	key := [3]formulaRef{condition, then, otherwise}
	if result, isCached := diagram.ifThenElseCache[key]; isCached {
		return result
	}
	// Shannon expansion: decide the first atom of the three formulas, and combine the results for true and for false.
	atom := min(diagram.nodes[condition].atom, diagram.nodes[then].atom, diagram.nodes[otherwise].atom)
	lowCondition, highCondition := diagram.cofactors(condition, atom)
	lowThen, highThen := diagram.cofactors(then, atom)
	lowOtherwise, highOtherwise := diagram.cofactors(otherwise, atom)
	low := diagram.ifThenElse(lowCondition, lowThen, lowOtherwise)
	high := diagram.ifThenElse(highCondition, highThen, highOtherwise)
	result := diagram.makeNode(atom, low, high)
	diagram.ifThenElseCache[key] = result
	return result
}

// cofactors returns a formula with an atom set to false, and with the atom set to true. The formula must have no
// atom with a smaller number.
func (diagram *decisionDiagram) cofactors(formula formulaRef, atom int32) (low, high formulaRef) {
	node := diagram.nodes[formula]
	if node.atom != atom {
		return formula, formula
	}
	return node.low, node.high
}

// and returns the conjunction of two formulas.
func (diagram *decisionDiagram) and(left, right formulaRef) formulaRef {
	return diagram.ifThenElse(left, right, falseFormula)
}

// or returns the disjunction of two formulas.
func (diagram *decisionDiagram) or(left, right formulaRef) formulaRef {
	return diagram.ifThenElse(left, trueFormula, right)
}

// implies reports whether formula implies other, as Boolean combinations of atoms.
func (diagram *decisionDiagram) implies(formula, other formulaRef) bool {
	return diagram.and(formula, other) == formula
}

// atomsOf returns the numbers of the atoms of a formula, in increasing order.
func (diagram *decisionDiagram) atomsOf(formula formulaRef) []int32 {
	seen := map[formulaRef]bool{falseFormula: true, trueFormula: true}
	hasAtom := make([]bool, len(diagram.atoms)) // by the number of the atom
	diagram.markAtoms(formula, seen, hasAtom)
	var numbers []int32
	for number := range hasAtom {
		if hasAtom[number] {
			numbers = append(numbers, int32(number))
		}
	}
	return numbers
}

// markAtoms sets hasAtom[i] for each atom i of a formula. seen has the visited nodes.
func (diagram *decisionDiagram) markAtoms(formula formulaRef, seen map[formulaRef]bool, hasAtom []bool) {
	if seen[formula] {
		return
	}
	seen[formula] = true
	node := diagram.nodes[formula]
	hasAtom[node.atom] = true
	diagram.markAtoms(node.low, seen, hasAtom)
	diagram.markAtoms(node.high, seen, hasAtom)
}

// atomFormula returns the formula that consists of one atom, and adds the atom if it is new. If there are too many atoms, it sets isTooLarge and
// returns falseFormula.
func (diagram *decisionDiagram) atomFormula(wanted atom) formulaRef {
	if number, isKnown := diagram.atomNumber[wanted]; isKnown {
		return diagram.literal(number)
	}
	if len(diagram.atoms) >= diagram.maxNodes {
		diagram.isTooLarge = true
	}
	if diagram.isTooLarge {
		return falseFormula
	}
	number := int32(len(diagram.atoms))
	diagram.atomNumber[wanted] = number
	diagram.setDerivedFields(&wanted)
	diagram.atoms = append(diagram.atoms, wanted)
	return diagram.literal(number)
}

// setDerivedFields computes which temporal operators occur in an atom, and whether the atom is stable: whether reading a letter never changes its truth. F f
// and G f can be stable.
func (diagram *decisionDiagram) setDerivedFields(current *atom) {
	current.operators = diagram.nodes[current.left].operators | diagram.nodes[current.right].operators
	switch current.op {
	case Until:
		current.operators |= hasUntil
		current.isStable = current.left == trueFormula && diagram.atomsPersist(current.right, WeakUntil)
	case WeakUntil:
		current.operators |= hasWeak
		current.isStable = current.right == falseFormula && diagram.atomsPersist(current.left, Until)
	}
}

// atomsPersist reports whether every atom of a formula is stable or has the right form: G x if op is WeakUntil, or F x if op is Until.
//
// If the atoms have the form G x, a formula f stays true once it is true, so F f is stable. If they have the form F x, f stays false once
// it is false, so G f is stable.
func (diagram *decisionDiagram) atomsPersist(formula formulaRef, op Op) bool {
	for _, number := range diagram.atomsOf(formula) {
		current := diagram.atoms[number]
		isGlobally := current.op == WeakUntil && current.right == falseFormula
		isFinally := current.op == Until && current.left == trueFormula
		persists := current.op == op && (isGlobally || isFinally)
		if !current.isStable && !persists {
			return false
		}
	}
	return true
}

// isStable reports whether all atoms of a formula are stable. Then reading a letter never changes whether the formula holds.
func (diagram *decisionDiagram) isStable(formula formulaRef) bool {
	for _, variable := range diagram.atomsOf(formula) {
		if !diagram.atoms[variable].isStable {
			return false
		}
	}
	return true
}

// propositionFormula returns the formula that consists of a proposition.
func (diagram *decisionDiagram) propositionFormula(number int) formulaRef {
	return diagram.atomFormula(atom{op: Prop, proposition: number})
}

// next returns the formula X x. If x is stable, this is x.
func (diagram *decisionDiagram) next(operand formulaRef) formulaRef {
	if diagram.isStable(operand) {
		return operand
	}
	return diagram.atomFormula(atom{op: Next, left: operand})
}

// until returns the formula left U right. It simplifies trivial cases.
func (diagram *decisionDiagram) until(left, right formulaRef) formulaRef {
	switch {
	case left == falseFormula || left == right || diagram.isStable(right):
		return right
	case left == trueFormula:
		return diagram.finally(right)
	}
	return diagram.atomFormula(atom{op: Until, left: left, right: right})
}

// finally returns the formula F x. It simplifies F (a U b) to F b.
func (diagram *decisionDiagram) finally(operand formulaRef) formulaRef {
	if inner, ok := diagram.singleAtom(operand); ok && inner.op == Until {
		operand = inner.right
	}
	return diagram.atomFormula(atom{op: Until, left: trueFormula, right: operand})
}

// weakUntil returns the formula left W right. It simplifies trivial cases.
func (diagram *decisionDiagram) weakUntil(left, right formulaRef) formulaRef {
	switch {
	case left == falseFormula || left == right || right == trueFormula:
		return right
	case right == falseFormula:
		return diagram.globally(left)
	case diagram.isStable(right):
		return diagram.or(diagram.globally(left), right)
	case left == trueFormula:
		return trueFormula
	}
	return diagram.atomFormula(atom{op: WeakUntil, left: left, right: right})
}

// globally returns the formula G operand. It simplifies G (a W b) to G (a | b), and G a to a if a is stable, that is, if reading a letter never changes the
// truth of a.
func (diagram *decisionDiagram) globally(operand formulaRef) formulaRef {
	if diagram.isStable(operand) {
		return operand
	}
	if inner, ok := diagram.singleAtom(operand); ok && inner.op == WeakUntil {
		operand = diagram.or(inner.left, inner.right)
	}
	if diagram.isStable(operand) {
		return operand
	}
	return diagram.atomFormula(atom{op: WeakUntil, left: operand, right: falseFormula})
}

// progressFormula returns the formula that the rest of a word must satisfy after the first letter, so that the whole word satisfies the given
// formula. Bit i of the letter says whether proposition i holds.
//
// Source: formula progression, the function af of Esparza and Kretinsky (CAV 2014).
func (diagram *decisionDiagram) progressFormula(formula formulaRef, letter uint64) formulaRef {
	if formula <= trueFormula {
		return formula
	}
	key := progressKey{formula, letter}
	if result, isCached := diagram.progressCache[key]; isCached {
		return result
	}
	node := diagram.nodes[formula]
	result := diagram.ifThenElse(diagram.progressAtom(node.atom, letter), diagram.progressFormula(node.high, letter), diagram.progressFormula(node.low, letter))
	diagram.progressCache[key] = result
	return result
}

// progressAtom is progressFormula for the atom with a number: it returns the formula that the rest of a word must satisfy after the first letter, so that
// the whole word satisfies the atom.
func (diagram *decisionDiagram) progressAtom(number int32, letter uint64) formulaRef {
	switch current := diagram.atoms[number]; {
	case current.op == Prop:
		return formulaRef(letter >> current.proposition & 1)
	case current.op == True:
		return trueFormula
	case current.op == Next:
		return current.left
	case current.isStable:
		return diagram.literal(number)
	default: // a U b is b | a & X(a U b), and a W b is b | a & X(a W b)
		right := diagram.progressFormula(current.right, letter)
		left := diagram.progressFormula(current.left, letter)
		return diagram.or(right, diagram.and(left, diagram.literal(number)))
	}
}
