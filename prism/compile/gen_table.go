package compile

import (
	"encoding/binary"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// If the guards of several moves of a leaf test the same variable, a table has a bitset
// for each value of it, in which bit i is clear if the value excludes move i. The
// conjunction of the bitsets of all such variables is the gate.

const (
	tableMoves = 3   // a table is made if at least so many moves test the variable
	tableRange = 256 // a table is made if the variable has at most so many values
)

// buildTables replaces conjuncts that read only one variable by tables. It returns the moves with the remaining conjuncts, and the
// gate, which is nil if there are no tables.
func (p *moveGenerator) buildTables(moves []candidate) (remaining []candidate, gate bitset) {
	remaining = slices.Clone(moves)
	for slot := range p.model.program.Vars {
		r := p.facts.variable(slot)
		numReaders := 0
		for _, candidate := range remaining {
			if slices.ContainsFunc(candidate.guard, func(term *term) bool { return p.readsOnly(term, slot) }) {
				numReaders++
			}
		}
		size := 8 * int(r.hi-r.lo+1) * ((len(moves) + 63) / 64)
		if numReaders < tableMoves || r.hi-r.lo >= tableRange || p.memoryUsed+size > maxMemory {
			continue
		}
		if gate == nil {
			gate = p.newGate((len(moves) + 63) / 64)
		}
		p.restrictGate(remaining, slot, r, gate)
		for i, candidate := range remaining {
			remaining[i].guard = slices.DeleteFunc(slices.Clone(candidate.guard), func(term *term) bool { return p.readsOnly(term, slot) })
		}
	}
	return remaining, gate
}

// readsOnly reports whether a condition reads this variable and no other, and cannot fail.
func (p *moveGenerator) readsOnly(term *term, slot int) bool {
	if term.mayFail {
		return false
	}
	s, ok := p.onlyVariable[term]
	if !ok {
		s = -1
		if slots := p.variablesOf(term); len(slots) == 1 {
			s = slots[0]
		}
		p.onlyVariable[term] = s
	}
	return s == slot
}

// newGate emits a bitset in which all bits are set.
func (p *moveGenerator) newGate(words int) bitset {
	gate := make(bitset, words)
	for i := range gate {
		gate[i] = wasm.Into(p.fn, constI64(-1))
	}
	return gate
}

// restrictGate emits the conjunction of the gate with the table of one variable.
func (p *moveGenerator) restrictGate(moves []candidate, slot int, r interval, gate bitset) {
	fn := p.fn
	rows := make([][]byte, len(gate))
	for x := r.lo; x <= r.hi; x++ {
		words := p.possibleMoves(moves, slot, x)
		for i, w := range words {
			rows[i] = binary.LittleEndian.AppendUint64(rows[i], w)
		}
	}
	at := wasm.Into(fn, shiftToField(p.slots[slot].Expr, wordField{low: r.lo, shift: 3}))
	for i, b := range rows {
		base := p.reserve(len(b))
		p.module.Data(int32(base), b)
		gate[i].Set(fn, wasm.Load[int64](at, base).And(gate[i]))
	}
}

// possibleMoves returns as a bitset the moves that the value x of a variable does not exclude.
func (p *moveGenerator) possibleMoves(moves []candidate, slot int, x int64) []uint64 {
	f := p.facts.child()
	f.ranges[slot] = interval{x, x}
	if p.model.program.Vars[slot].Type == sema.Bool {
		f.values[p.graph.variable(slot, sortBool)] = x != 0
	}
	out := make([]uint64, (len(moves)+63)/64)
	for i, candidate := range moves {
		ok := true
		for _, term := range candidate.guard {
			ok = ok && (!p.readsOnly(term, slot) || f.simplify(term) == p.graph.trueTerm)
		}
		if ok {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}
