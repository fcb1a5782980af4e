package automata

import (
	"errors"
	"math"
)

// ErrTooLarge says that an automaton needs more than its Limits allow.
var ErrTooLarge = errors.New("the automaton is too large")

// ref is a positive Boolean combination of temporal operators, and a Boolean
// one of propositions: the node of a decision diagram. Equivalent combinations
// have the same ref.
type ref int32

const (
	no  ref = 0
	yes ref = 1
)

// atom is a variable of the diagrams: a proposition, or a temporal operator
// over combinations. The others are written with these: F y as `true U y`, G x
// as `x W false`, a R b as `b W (a & b)`.
type atom struct {
	op   Op // Prop, Next, Until or WeakUntil, or True for the step
	prop int
	x, y ref
	ops  ops
	// stable says that reading a letter does not change the truth of the
	// operator, as for G F p: it is kept as it is until a jump.
	stable bool
}

// ops are sets of operators, of what is in a combination at any depth.
type ops uint8

const (
	hasUntil ops = 1 << iota
	hasWeak
)

// node is `if atom v then hi else lo`. Atoms on a way down have increasing
// numbers, and operands of an atom smaller numbers than the atom.
type node struct {
	v      int32
	lo, hi ref
	ops    ops
}

// table has the formulas of one automaton.
type table struct {
	atoms  []atom
	number map[atom]int32
	nodes  []node
	unique map[[3]int32]ref
	ites   map[[3]ref]ref
	afters map[afterKey]ref
	limit  int  // of nodes
	full   bool // the limit was met, results mean nothing
}

type afterKey struct {
	f      ref
	letter uint64
}

func newTable(limit int) *table {
	leaf := node{v: math.MaxInt32}
	return &table{
		number: map[atom]int32{}, nodes: []node{leaf, leaf},
		unique: map[[3]int32]ref{}, ites: map[[3]ref]ref{}, afters: map[afterKey]ref{},
		limit: limit,
	}
}

// err returns ErrTooLarge if the table is full.
func (t *table) err() error {
	if t.full {
		return ErrTooLarge
	}
	return nil
}

func (t *table) node(v int32, lo, hi ref) ref {
	if lo == hi {
		return lo
	}
	key := [3]int32{v, int32(lo), int32(hi)}
	r, ok := t.unique[key]
	if !ok {
		if t.full = t.full || len(t.nodes) >= t.limit; t.full {
			return no
		}
		r = ref(len(t.nodes))
		t.nodes = append(t.nodes, node{v, lo, hi, t.atoms[v].ops | t.nodes[lo].ops | t.nodes[hi].ops})
		t.unique[key] = r
	}
	return r
}

// variable returns the combination that is just the atom.
func (t *table) variable(v int32) ref { return t.node(v, no, yes) }

// single returns the atom of a combination that is just an atom.
func (t *table) single(f ref) (atom, bool) {
	if n := t.nodes[f]; f > yes && n.lo == no && n.hi == yes {
		return t.atoms[n.v], true
	}
	return atom{}, false
}

func (t *table) ite(f, g, h ref) ref {
	switch {
	case f == yes || g == h:
		return g
	case f == no:
		return h
	case g == yes && h == no:
		return f
	}
	key := [3]ref{f, g, h}
	if r, ok := t.ites[key]; ok {
		return r
	}
	v := min(t.nodes[f].v, t.nodes[g].v, t.nodes[h].v)
	lo := t.ite(t.cofactor(f, v, false), t.cofactor(g, v, false), t.cofactor(h, v, false))
	hi := t.ite(t.cofactor(f, v, true), t.cofactor(g, v, true), t.cofactor(h, v, true))
	r := t.node(v, lo, hi)
	t.ites[key] = r
	return r
}

// cofactor returns f with the atom v, which is not below f's first, replaced.
func (t *table) cofactor(f ref, v int32, value bool) ref {
	switch n := t.nodes[f]; {
	case n.v != v:
		return f
	case value:
		return n.hi
	default:
		return n.lo
	}
}

func (t *table) and(f, g ref) ref { return t.ite(f, g, no) }

func (t *table) or(f, g ref) ref { return t.ite(f, yes, g) }

// implies reports whether g holds wherever f does, as combinations.
func (t *table) implies(f, g ref) bool { return t.and(f, g) == f }

// support returns the atoms of a combination in increasing order.
func (t *table) support(f ref) []int32 {
	var out []int32
	seen := map[ref]bool{no: true, yes: true}
	found := make([]bool, len(t.atoms))
	var visit func(f ref)
	visit = func(f ref) {
		if seen[f] {
			return
		}
		seen[f] = true
		n := t.nodes[f]
		found[n.v] = true
		visit(n.lo)
		visit(n.hi)
	}
	visit(f)
	for v, ok := range found {
		if ok {
			out = append(out, int32(v))
		}
	}
	return out
}

// atom returns the combination that is just an atom with the given parts.
func (t *table) atom(a atom) ref {
	v, ok := t.number[a]
	if !ok {
		if t.full = t.full || len(t.atoms) >= t.limit; t.full {
			return no
		}
		v = int32(len(t.atoms))
		t.number[a] = v
		a.ops = t.nodes[a.x].ops | t.nodes[a.y].ops
		switch a.op {
		case Until:
			a.ops |= hasUntil
			a.stable = a.x == yes && t.lasting(a.y, WeakUntil)
		case WeakUntil:
			a.ops |= hasWeak
			a.stable = a.y == no && t.lasting(a.x, Until)
		}
		t.atoms = append(t.atoms, a)
	}
	return t.variable(v)
}

// lasting reports whether all atoms of a combination are stable, or G (if op is
// WeakUntil) or F (if it is Until). If so, F or G of it, respectively, is stable:
// a combination of G, once true, stays true.
func (t *table) lasting(f ref, op Op) bool {
	for _, v := range t.support(f) {
		a := t.atoms[v]
		whole := a.op == op && (op == WeakUntil && a.y == no || op == Until && a.x == yes)
		if !whole && !a.stable {
			return false
		}
	}
	return true
}

// stable reports whether reading a letter does not change the truth of f.
func (t *table) stable(f ref) bool {
	for _, v := range t.support(f) {
		if !t.atoms[v].stable {
			return false
		}
	}
	return true
}

func (t *table) prop(p int) ref { return t.atom(atom{op: Prop, prop: p}) }

func (t *table) next(x ref) ref {
	if t.stable(x) {
		return x
	}
	return t.atom(atom{op: Next, x: x})
}

func (t *table) until(x, y ref) ref {
	switch {
	case x == no || x == y || t.stable(y):
		return y
	case x == yes:
		return t.finally(y)
	}
	return t.atom(atom{op: Until, x: x, y: y})
}

// finally uses that F (a U b) is F b.
func (t *table) finally(y ref) ref {
	if a, ok := t.single(y); ok && a.op == Until {
		y = a.y
	}
	return t.atom(atom{op: Until, x: yes, y: y})
}

func (t *table) weak(x, y ref) ref {
	switch {
	case x == no || x == y || y == yes:
		return y
	case y == no:
		return t.globally(x)
	case t.stable(y):
		return t.or(t.globally(x), y)
	case x == yes:
		return yes
	}
	return t.atom(atom{op: WeakUntil, x: x, y: y})
}

// globally uses that G (a W b) is G (a | b).
func (t *table) globally(x ref) ref {
	if t.stable(x) {
		return x
	}
	if a, ok := t.single(x); ok && a.op == WeakUntil {
		x = t.or(a.x, a.y)
	}
	if t.stable(x) {
		return x
	}
	return t.atom(atom{op: WeakUntil, x: x, y: no})
}

// after returns what must hold of the letters to come, given the next one.
//
// Source: the function af of Esparza and Kretinsky (CAV 2014).
func (t *table) after(f ref, letter uint64) ref {
	if f <= yes {
		return f
	}
	key := afterKey{f, letter}
	if r, ok := t.afters[key]; ok {
		return r
	}
	n := t.nodes[f]
	r := t.ite(t.afterAtom(n.v, letter), t.after(n.hi, letter), t.after(n.lo, letter))
	t.afters[key] = r
	return r
}

func (t *table) afterAtom(v int32, letter uint64) ref {
	switch a := t.atoms[v]; {
	case a.op == Prop:
		return ref(letter >> a.prop & 1)
	case a.op == True:
		return yes
	case a.op == Next:
		return a.x
	case a.stable:
		return t.variable(v)
	default: // a U b and a W b are b | a & X(…)
		return t.or(t.after(a.y, letter), t.and(t.after(a.x, letter), t.variable(v)))
	}
}
