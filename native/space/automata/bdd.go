package automata

import (
	"errors"
	"math"
)

// ErrTooLarge says that an automaton exceeds its Limits.
var ErrTooLarge = errors.New("the automaton is too large")

// ref is a node of the decision diagram: a Boolean combination of atoms, in which temporal operators
// occur positively. Equivalent combinations have the same ref.
type ref int32

const (
	falseRef ref = 0
	trueRef  ref = 1
)

// atom is a variable of the decision diagram: a proposition, or a temporal operator with its operands.
// Other operators are expressed by these: F y as `true U y`, G x as `x W false`, a R b as `b W (a &
// b)`.
type atom struct {
	op          Op // Prop, Next, Until or WeakUntil; True stands for the extra step of explicitNext
	prop        int
	left, right ref
	operators   operators
	// stable says that reading a letter never changes the truth of the operator, as for G F p.
	stable bool
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
	low, high ref
	operators operators
}

// bdd is a reduced ordered binary decision diagram with the formulas of one automaton.
type bdd struct {
	atoms         []atom
	atomNumber    map[atom]int32
	nodes         []node
	uniqueNodes   map[[3]int32]ref // the unique table: nodes by atom, low and high
	iteCache      map[[3]ref]ref
	progressCache map[progressKey]ref
	maxNodes      int
	exceeded      bool // maxNodes was exceeded: results are meaningless
}

type progressKey struct {
	f      ref
	letter uint64
}

// newBDD returns a diagram with the constants false and true only.
func newBDD(limit int) *bdd {
	leaf := node{atom: math.MaxInt32} // a greater number than every atom
	return &bdd{
		atomNumber: map[atom]int32{}, nodes: []node{leaf, leaf},
		uniqueNodes: map[[3]int32]ref{}, iteCache: map[[3]ref]ref{}, progressCache: map[progressKey]ref{},
		maxNodes: limit,
	}
}

// err returns ErrTooLarge if maxNodes was exceeded.
func (diagram *bdd) err() error {
	if diagram.exceeded {
		return ErrTooLarge
	}
	return nil
}

// makeNode returns the formula `if atom then high else low`. It adds a node unless the diagram has this node already.
func (diagram *bdd) makeNode(atom int32, low, high ref) ref {
	if low == high {
		return low
	}
	key := [3]int32{atom, int32(low), int32(high)}
	if result, known := diagram.uniqueNodes[key]; known {
		return result
	}
	if len(diagram.nodes) >= diagram.maxNodes {
		diagram.exceeded = true
	}
	if diagram.exceeded {
		return falseRef
	}
	result := ref(len(diagram.nodes))
	operators := diagram.atoms[atom].operators | diagram.nodes[low].operators | diagram.nodes[high].operators
	diagram.nodes = append(diagram.nodes, node{atom, low, high, operators})
	diagram.uniqueNodes[key] = result
	return result
}

// literal returns the formula that consists of an atom.
func (diagram *bdd) literal(variable int32) ref { return diagram.makeNode(variable, falseRef, trueRef) }

// asAtom returns the atom if formula consists of one atom.
func (diagram *bdd) asAtom(formula ref) (atom, bool) {
	if node := diagram.nodes[formula]; formula > trueRef && node.low == falseRef && node.high == trueRef {
		return diagram.atoms[node.atom], true
	}
	return atom{}, false
}

// ite returns `if condition then … else …` as a decision diagram.
func (diagram *bdd) ite(condition, then, otherwise ref) ref {
	switch {
	case condition == trueRef || then == otherwise:
		return then
	case condition == falseRef:
		return otherwise
	case then == trueRef && otherwise == falseRef:
		return condition
	}
	key := [3]ref{condition, then, otherwise}
	if result, ok := diagram.iteCache[key]; ok {
		return result
	}
	// Split on the first atom of the three formulas (Shannon expansion).
	atom := min(diagram.nodes[condition].atom, diagram.nodes[then].atom, diagram.nodes[otherwise].atom)
	low := diagram.ite(diagram.cofactor(condition, atom, false), diagram.cofactor(then, atom, false), diagram.cofactor(otherwise, atom, false))
	high := diagram.ite(diagram.cofactor(condition, atom, true), diagram.cofactor(then, atom, true), diagram.cofactor(otherwise, atom, true))
	result := diagram.makeNode(atom, low, high)
	diagram.iteCache[key] = result
	return result
}

// cofactor returns a formula in which an atom has a fixed value. The atom must not have a greater number than any atom of
// the formula.
func (diagram *bdd) cofactor(formula ref, variable int32, value bool) ref {
	switch node := diagram.nodes[formula]; {
	case node.atom != variable:
		return formula
	case value:
		return node.high
	default:
		return node.low
	}
}

func (diagram *bdd) and(formula, other ref) ref { return diagram.ite(formula, other, falseRef) }

func (diagram *bdd) or(formula, other ref) ref { return diagram.ite(formula, trueRef, other) }

// implies reports whether formula implies other, as Boolean combinations of atoms.
func (diagram *bdd) implies(formula, other ref) bool { return diagram.and(formula, other) == formula }

// support returns the numbers of the atoms of a formula, in increasing order.
func (diagram *bdd) support(formula ref) []int32 {
	seen := map[ref]bool{falseRef: true, trueRef: true}
	occurs := make([]bool, len(diagram.atoms))
	var visit func(formula ref)
	visit = func(formula ref) {
		if seen[formula] {
			return
		}
		seen[formula] = true
		node := diagram.nodes[formula]
		occurs[node.atom] = true
		visit(node.low)
		visit(node.high)
	}
	visit(formula)
	var atoms []int32
	for number, ok := range occurs {
		if ok {
			atoms = append(atoms, int32(number))
		}
	}
	return atoms
}

// atom returns the formula that consists of an atom, and adds the atom if it is new.
func (diagram *bdd) atom(current atom) ref {
	if number, known := diagram.atomNumber[current]; known {
		return diagram.literal(number)
	}
	if len(diagram.atoms) >= diagram.maxNodes {
		diagram.exceeded = true
	}
	if diagram.exceeded {
		return falseRef
	}
	number := int32(len(diagram.atoms))
	diagram.atomNumber[current] = number
	diagram.setDerivedFields(&current)
	diagram.atoms = append(diagram.atoms, current)
	return diagram.literal(number)
}

// setDerivedFields sets the operators of an atom, and whether it is stable.
func (diagram *bdd) setDerivedFields(current *atom) {
	current.operators = diagram.nodes[current.left].operators | diagram.nodes[current.right].operators
	switch current.op {
	case Until:
		current.operators |= hasUntil
		current.stable = current.left == trueRef && diagram.atomsPersist(current.right, WeakUntil)
	case WeakUntil:
		current.operators |= hasWeak
		current.stable = current.right == falseRef && diagram.atomsPersist(current.left, Until)
	}
}

// atomsPersist reports whether every atom of a formula is stable, or has the form G x (if op is WeakUntil) or F x (if op is
// Until). If so, F of the formula (or G, respectively) is stable, because a positive combination of formulas G x stays true
// once it is true, and a positive combination of formulas F x stays false once it is false.
func (diagram *bdd) atomsPersist(formula ref, op Op) bool {
	for _, number := range diagram.support(formula) {
		current := diagram.atoms[number]
		isGlobally := current.op == WeakUntil && current.right == falseRef
		isFinally := current.op == Until && current.left == trueRef
		persists := current.op == op && (isGlobally || isFinally)
		if !current.stable && !persists {
			return false
		}
	}
	return true
}

// isStable reports whether reading a letter never changes the truth of formula.
func (diagram *bdd) isStable(formula ref) bool {
	for _, variable := range diagram.support(formula) {
		if !diagram.atoms[variable].stable {
			return false
		}
	}
	return true
}

// prop returns the formula that consists of a proposition.
func (diagram *bdd) prop(p int) ref { return diagram.atom(atom{op: Prop, prop: p}) }

// next returns X x. It uses that X x is x if x is stable.
func (diagram *bdd) next(x ref) ref {
	if diagram.isStable(x) {
		return x
	}
	return diagram.atom(atom{op: Next, left: x})
}

// until returns the formula left U right.
func (diagram *bdd) until(left, right ref) ref {
	switch {
	case left == falseRef || left == right || diagram.isStable(right):
		return right
	case left == trueRef:
		return diagram.finally(right)
	}
	return diagram.atom(atom{op: Until, left: left, right: right})
}

// finally returns the formula F right. It uses that F (a U b) is F b.
func (diagram *bdd) finally(right ref) ref {
	if current, ok := diagram.asAtom(right); ok && current.op == Until {
		right = current.right
	}
	return diagram.atom(atom{op: Until, left: trueRef, right: right})
}

// weakUntil returns the formula left W right.
func (diagram *bdd) weakUntil(left, right ref) ref {
	switch {
	case left == falseRef || left == right || right == trueRef:
		return right
	case right == falseRef:
		return diagram.globally(left)
	case diagram.isStable(right):
		return diagram.or(diagram.globally(left), right)
	case left == trueRef:
		return trueRef
	}
	return diagram.atom(atom{op: WeakUntil, left: left, right: right})
}

// globally returns G x. It uses that G (a W b) is G (a | b).
func (diagram *bdd) globally(x ref) ref {
	if diagram.isStable(x) {
		return x
	}
	if current, ok := diagram.asAtom(x); ok && current.op == WeakUntil {
		x = diagram.or(current.left, current.right)
	}
	if diagram.isStable(x) {
		return x
	}
	return diagram.atom(atom{op: WeakUntil, left: x, right: falseRef})
}

// progress returns the formula that the letters after the given one must satisfy (formula progression).
//
// Source: the function af of Esparza and Kretinsky (CAV 2014).
func (diagram *bdd) progress(formula ref, letter uint64) ref {
	if formula <= trueRef {
		return formula
	}
	key := progressKey{formula, letter}
	if result, ok := diagram.progressCache[key]; ok {
		return result
	}
	node := diagram.nodes[formula]
	result := diagram.ite(diagram.progressAtom(node.atom, letter), diagram.progress(node.high, letter), diagram.progress(node.low, letter))
	diagram.progressCache[key] = result
	return result
}

// progressAtom returns the formula that the letters after the given one must satisfy, so that the atom with the given number
// holds.
func (diagram *bdd) progressAtom(variable int32, letter uint64) ref {
	switch current := diagram.atoms[variable]; {
	case current.op == Prop:
		return ref(letter >> current.prop & 1)
	case current.op == True:
		return trueRef
	case current.op == Next:
		return current.left
	case current.stable:
		return diagram.literal(variable)
	default: // a U b and a W b are b | a & X(…)
		return diagram.or(diagram.progress(current.right, letter), diagram.and(diagram.progress(current.left, letter), diagram.literal(variable)))
	}
}
