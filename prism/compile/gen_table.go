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

// buildTables emits tables that replace the conjuncts that read only one variable, if enough moves have such conjuncts. It returns the
// moves with their other conjuncts, and the gate: locals with a bit for each move that the tables allow, or nil if there are no tables.
func (g *moveGenerator) buildTables(moves []candidate) (remaining []candidate, gate bitset) {
	const wordBits, wordBytes = 64, 8
	gateWords := (len(moves) + wordBits - 1) / wordBits
	remaining = slices.Clone(moves)
	for slot := range g.model.program.Vars {
		values := g.facts.variable(slot)
		readsOnlySlot := func(term *term) bool { return g.readsOnly(term, slot) }
		numReaders := 0
		for _, candidate := range remaining {
			if slices.ContainsFunc(candidate.guard, readsOnlySlot) {
				numReaders++
			}
		}
		size := wordBytes * int(values.high-values.low+1) * gateWords
		if numReaders < tableMoves || values.high-values.low >= tableRange || g.memoryUsed+size > maxMemory {
			continue
		}
		if gate == nil {
			gate = g.newGate(gateWords)
		}
		g.restrictGate(remaining, slot, values, gate)
		for i, candidate := range remaining {
			remaining[i].guard = slices.DeleteFunc(slices.Clone(candidate.guard), readsOnlySlot)
		}
	}
	return remaining, gate
}

// readsOnly reports whether a condition cannot fail and reads the variable in a slot and no other variable.
func (g *moveGenerator) readsOnly(term *term, slot int) bool {
	if term.mayFail {
		return false
	}
	only, ok := g.onlyVariable[term]
	if !ok {
		only = -1
		if slots := g.variablesOf(term); len(slots) == 1 {
			only = slots[0]
		}
		g.onlyVariable[term] = only
	}
	return only == slot
}

// newGate emits a bitset in which all bits are set.
func (g *moveGenerator) newGate(words int) bitset {
	gate := make(bitset, words)
	for i := range gate {
		gate[i] = wasm.InLocal(g.fn, constI64(-1))
	}
	return gate
}

// restrictGate emits code that clears the bits of the gate for the moves that the value of one variable excludes. It reads them from a
// table with a row for each of the given values of the variable.
func (g *moveGenerator) restrictGate(moves []candidate, slot int, values interval, gate bitset) {
	fn := g.fn
	rows := make([][]byte, len(gate))
	for value := values.low; value <= values.high; value++ {
		words := g.possibleMoves(moves, slot, value)
		for i, word := range words {
			rows[i] = binary.LittleEndian.AppendUint64(rows[i], word)
		}
	}
	rowOffset := wasm.InLocal(fn, shiftToField(g.slots[slot].Expr, wordField{low: values.low, shift: 3}))
	for i, row := range rows {
		base := g.reserve(len(row))
		g.module.Data(int32(base), row)
		gate[i].Set(fn, wasm.Load[int64](rowOffset, base).And(gate[i]))
	}
}

// possibleMoves returns a bit for each move whose guard may hold if the variable in a slot has the given value.
func (g *moveGenerator) possibleMoves(moves []candidate, slot int, value int64) []uint64 {
	assumed := g.facts.child()
	assumed.ranges[slot] = interval{value, value}
	if g.model.program.Vars[slot].Type == sema.Bool {
		assumed.values[g.graph.variable(slot, sortBool)] = value != 0
	}
	out := make([]uint64, (len(moves)+63)/64)
	for i, candidate := range moves {
		possible := true
		for _, term := range candidate.guard {
			possible = possible && (!g.readsOnly(term, slot) || assumed.simplify(term) == g.graph.trueTerm)
		}
		if possible {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}
