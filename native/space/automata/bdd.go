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
	op        Op // Prop, Next, Until or WeakUntil; True stands for the extra step of explicitNext
	prop      int
	x, y      ref
	operators operators
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
func (t *bdd) err() error {
	if t.exceeded {
		return ErrTooLarge
	}
	return nil
}

// makeNode returns the formula `if atom v then hi else lo`. It adds a node unless there is one already.
func (t *bdd) makeNode(atom int32, low, high ref) ref {
	if low == high {
		return low
	}
	key := [3]int32{atom, int32(low), int32(high)}
	result, ok := t.uniqueNodes[key]
	if !ok {
		if len(t.nodes) >= t.maxNodes {
			t.exceeded = true
		}
		if t.exceeded {
			return falseRef
		}
		result = ref(len(t.nodes))
		t.nodes = append(t.nodes, node{atom, low, high, t.atoms[atom].operators | t.nodes[low].operators | t.nodes[high].operators})
		t.uniqueNodes[key] = result
	}
	return result
}

// literal returns the formula that consists of an atom.
func (t *bdd) literal(v int32) ref { return t.makeNode(v, falseRef, trueRef) }

// asAtom returns the atom if f consists of one atom.
func (t *bdd) asAtom(f ref) (atom, bool) {
	if n := t.nodes[f]; f > trueRef && n.low == falseRef && n.high == trueRef {
		return t.atoms[n.atom], true
	}
	return atom{}, false
}

// ite returns `if f then g else h`.
func (t *bdd) ite(f, g, h ref) ref {
	switch {
	case f == trueRef || g == h:
		return g
	case f == falseRef:
		return h
	case g == trueRef && h == falseRef:
		return f
	}
	key := [3]ref{f, g, h}
	if result, ok := t.iteCache[key]; ok {
		return result
	}
	atom := min(t.nodes[f].atom, t.nodes[g].atom, t.nodes[h].atom)
	low := t.ite(t.cofactor(f, atom, false), t.cofactor(g, atom, false), t.cofactor(h, atom, false))
	high := t.ite(t.cofactor(f, atom, true), t.cofactor(g, atom, true), t.cofactor(h, atom, true))
	result := t.makeNode(atom, low, high)
	t.iteCache[key] = result
	return result
}

// cofactor returns f with a fixed value for atom v. No atom of f may have a smaller number than v.
func (t *bdd) cofactor(f ref, v int32, value bool) ref {
	switch n := t.nodes[f]; {
	case n.atom != v:
		return f
	case value:
		return n.high
	default:
		return n.low
	}
}

func (t *bdd) and(f, g ref) ref { return t.ite(f, g, falseRef) }

func (t *bdd) or(f, g ref) ref { return t.ite(f, trueRef, g) }

// implies reports whether f implies g, as Boolean combinations of atoms.
func (t *bdd) implies(f, g ref) bool { return t.and(f, g) == f }

// support returns the numbers of the atoms of f, in increasing order.
func (t *bdd) support(f ref) []int32 {
	var out []int32
	seen := map[ref]bool{falseRef: true, trueRef: true}
	found := make([]bool, len(t.atoms))
	var visit func(f ref)
	visit = func(f ref) {
		if seen[f] {
			return
		}
		seen[f] = true
		n := t.nodes[f]
		found[n.atom] = true
		visit(n.low)
		visit(n.high)
	}
	visit(f)
	for v, ok := range found {
		if ok {
			out = append(out, int32(v))
		}
	}
	return out
}

// atom returns the formula that consists of an atom. If the atom is new, it adds it, with its operators and
// whether it is stable.
func (t *bdd) atom(a atom) ref {
	v, ok := t.atomNumber[a]
	if !ok {
		if len(t.atoms) >= t.maxNodes {
			t.exceeded = true
		}
		if t.exceeded {
			return falseRef
		}
		v = int32(len(t.atoms))
		t.atomNumber[a] = v
		a.operators = t.nodes[a.x].operators | t.nodes[a.y].operators
		switch a.op {
		case Until:
			a.operators |= hasUntil
			a.stable = a.x == trueRef && t.atomsPersist(a.y, WeakUntil)
		case WeakUntil:
			a.operators |= hasWeak
			a.stable = a.y == falseRef && t.atomsPersist(a.x, Until)
		}
		t.atoms = append(t.atoms, a)
	}
	return t.literal(v)
}

// atomsPersist reports whether every atom of f is stable, or has the form G x (if op is WeakUntil) or F x
// (if op is Until). If so, F f (or G f, respectively) is stable: a positive combination of formulas G x stays
// true once it is true, and one of formulas F x stays false once it is false.
func (t *bdd) atomsPersist(f ref, op Op) bool {
	for _, v := range t.support(f) {
		a := t.atoms[v]
		globally := a.op == WeakUntil && a.y == falseRef
		finally := a.op == Until && a.x == trueRef
		persists := a.op == op && (globally || finally)
		if !persists && !a.stable {
			return false
		}
	}
	return true
}

// stable reports whether reading a letter never changes the truth of f.
func (t *bdd) stable(f ref) bool {
	for _, v := range t.support(f) {
		if !t.atoms[v].stable {
			return false
		}
	}
	return true
}

// prop returns the formula that consists of a proposition.
func (t *bdd) prop(p int) ref { return t.atom(atom{op: Prop, prop: p}) }

// next returns X x. It uses that X x is x if x is stable.
func (t *bdd) next(x ref) ref {
	if t.stable(x) {
		return x
	}
	return t.atom(atom{op: Next, x: x})
}

// until returns the formula left U right.
func (t *bdd) until(left, right ref) ref {
	switch {
	case left == falseRef || left == right || t.stable(right):
		return right
	case left == trueRef:
		return t.finally(right)
	}
	return t.atom(atom{op: Until, x: left, y: right})
}

// finally returns the formula F right. It uses that F (a U b) is F b.
func (t *bdd) finally(right ref) ref {
	if a, ok := t.asAtom(right); ok && a.op == Until {
		right = a.y
	}
	return t.atom(atom{op: Until, x: trueRef, y: right})
}

// weak returns the formula left W right.
func (t *bdd) weak(left, right ref) ref {
	switch {
	case left == falseRef || left == right || right == trueRef:
		return right
	case right == falseRef:
		return t.globally(left)
	case t.stable(right):
		return t.or(t.globally(left), right)
	case left == trueRef:
		return trueRef
	}
	return t.atom(atom{op: WeakUntil, x: left, y: right})
}

// globally returns G x. It uses that G (a W b) is G (a | b).
func (t *bdd) globally(x ref) ref {
	if t.stable(x) {
		return x
	}
	if a, ok := t.asAtom(x); ok && a.op == WeakUntil {
		x = t.or(a.x, a.y)
	}
	if t.stable(x) {
		return x
	}
	return t.atom(atom{op: WeakUntil, x: x, y: falseRef})
}

// progress returns what the remaining letters must satisfy after the given letter (formula
// progression).
//
// Source: the function af of Esparza and Kretinsky (CAV 2014).
func (t *bdd) progress(f ref, letter uint64) ref {
	if f <= trueRef {
		return f
	}
	key := progressKey{f, letter}
	if r, ok := t.progressCache[key]; ok {
		return r
	}
	n := t.nodes[f]
	r := t.ite(t.progressAtom(n.atom, letter), t.progress(n.high, letter), t.progress(n.low, letter))
	t.progressCache[key] = r
	return r
}

// progressAtom returns what the remaining letters must satisfy after the given letter, so that atom v holds.
func (t *bdd) progressAtom(v int32, letter uint64) ref {
	switch a := t.atoms[v]; {
	case a.op == Prop:
		return ref(letter >> a.prop & 1)
	case a.op == True:
		return trueRef
	case a.op == Next:
		return a.x
	case a.stable:
		return t.literal(v)
	default: // a U b and a W b are b | a & X(…)
		return t.or(t.progress(a.y, letter), t.and(t.progress(a.x, letter), t.literal(v)))
	}
}
