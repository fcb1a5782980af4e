package compile

import (
	"encoding/binary"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// If several moves of a leaf depend on the same variable, its value indexes
// a table of bitsets, in which bit i is clear if the value excludes move i. The
// conjunction of the tables is the gate.

const (
	tableMoves = 3   // the least number of moves on one variable for which a table is made
	tableRange = 256 // the greatest number of values of the variable
)

// buildTables replaces conjuncts that depend on one variable by tables. It returns the moves with the remaining conjuncts, and the gate;
// nil if there are no tables.
func (p *moveGenerator) buildTables(moves []candidate) (left []candidate, gate bitset) {
	left = slices.Clone(moves)
	for slot := range p.m.prog.Vars {
		r := p.facts.variable(slot)
		asking := 0
		for _, c := range left {
			if slices.ContainsFunc(c.guard, func(t *term) bool { return p.onlyOn(t, slot) }) {
				asking++
			}
		}
		size := 8 * int(r.hi-r.lo+1) * ((len(moves) + 63) / 64)
		if asking < tableMoves || r.hi-r.lo >= tableRange || p.used+size > maxMemory {
			continue
		}
		if gate == nil {
			gate = p.newGate((len(moves) + 63) / 64)
		}
		p.restrictGate(left, slot, r, gate)
		for i, c := range left {
			left[i].guard = slices.DeleteFunc(slices.Clone(c.guard), func(t *term) bool { return p.onlyOn(t, slot) })
		}
	}
	return left, gate
}

// onlyOn reports whether a condition reads this variable and no other.
func (p *moveGenerator) onlyOn(t *term, slot int) bool {
	if t.fails {
		return false
	}
	s, ok := p.onlyVariable[t]
	if !ok {
		s = -1
		if slots := p.support(t); len(slots) == 1 {
			s = slots[0]
		}
		p.onlyVariable[t] = s
	}
	return s == slot
}

func (p *moveGenerator) newGate(words int) bitset {
	gate := make(bitset, words)
	for i := range gate {
		gate[i] = wasm.Into(p.f, constI64(-1))
	}
	return gate
}

// restrictGate intersects the gate with the table of one variable.
func (p *moveGenerator) restrictGate(moves []candidate, slot int, r interval, gate bitset) {
	f := p.f
	rows := make([][]byte, len(gate))
	for x := r.lo; x <= r.hi; x++ {
		words := p.possibleMoves(moves, slot, x)
		for i, w := range words {
			rows[i] = binary.LittleEndian.AppendUint64(rows[i], w)
		}
	}
	at := wasm.Into(f, shiftIn(p.slots[slot].Expr, field{lo: r.lo, shift: 3}))
	for i, b := range rows {
		base := p.reserve(len(b))
		p.mod.Data(int32(base), b)
		gate[i].Set(f, wasm.Load[int64](at, base).And(gate[i]))
	}
}

// possibleMoves returns the moves that a variable's value does not exclude, as a bitset.
func (p *moveGenerator) possibleMoves(moves []candidate, slot int, x int64) []uint64 {
	f := p.facts.child()
	f.ranges[slot] = interval{x, x}
	if p.m.prog.Vars[slot].Type == sema.Bool {
		f.known[p.g.variable(slot, sortBool)] = x != 0
	}
	out := make([]uint64, (len(moves)+63)/64)
	for i, c := range moves {
		ok := true
		for _, t := range c.guard {
			ok = ok && (!p.onlyOn(t, slot) || f.simplify(t) == p.g.yes)
		}
		if ok {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}
