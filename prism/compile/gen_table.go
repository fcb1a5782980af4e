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
	numWords := (len(moves) + 63) / 64
	remaining = slices.Clone(moves)
	for slot := range g.model.program.Vars {
		if !g.worthTable(remaining, slot, numWords) {
			continue
		}
		if gate == nil {
			gate = g.newGate(numWords)
		}
		g.restrictGate(remaining, slot, g.facts.variable(slot), gate)
		readsOnlySlot := func(conjunct *term) bool { return g.readsOnly(conjunct, slot) }
		for i, candidate := range remaining {
			remaining[i].guard = slices.DeleteFunc(slices.Clone(candidate.guard), readsOnlySlot)
		}
	}
	return remaining, gate
}

// worthTable reports whether a table for the values of a variable is worth its memory: enough moves have a conjunct that reads only
// this variable, it has few values, and memory is left. numWords is the number of words of a row.
func (g *moveGenerator) worthTable(moves []candidate, slot, numWords int) bool {
	readsOnlySlot := func(conjunct *term) bool { return g.readsOnly(conjunct, slot) }
	numReaders := 0
	for _, candidate := range moves {
		if slices.ContainsFunc(candidate.guard, readsOnlySlot) {
			numReaders++
		}
	}
	values := g.facts.variable(slot)
	numValues := values.high - values.low + 1
	size := 8 * int(numValues) * numWords
	return numReaders >= tableMoves && numValues <= tableRange && g.memoryUsed+size <= maxMemory
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

// restrictGate emits code that clears the bits of the gate for the moves that the value of one variable excludes. For each word of the
// gate it makes a table with one word for each of the given values of the variable.
func (g *moveGenerator) restrictGate(moves []candidate, slot int, values interval, gate bitset) {
	tables := make([][]byte, len(gate))
	for value := values.low; value <= values.high; value++ {
		for i, word := range g.possibleMoves(moves, slot, value) {
			tables[i] = binary.LittleEndian.AppendUint64(tables[i], word)
		}
	}
	index := g.slots[slot].Sub(constI32(values.low))
	offset := wasm.InLocal(g.fn, index.Shl(3))
	for i, table := range tables {
		base := g.reserve(len(table))
		g.module.Data(int32(base), table)
		gate[i].Set(g.fn, wasm.Load[int64](offset, base).And(gate[i]))
	}
}

// possibleMoves returns a bitset of the moves whose guards may hold if the variable in a slot has the given value. It looks only at
// conjuncts that read no other variable.
func (g *moveGenerator) possibleMoves(moves []candidate, slot int, value int64) []uint64 {
	assumed := g.facts.child()
	assumed.ranges[slot] = interval{value, value}
	if g.model.program.Vars[slot].Type == sema.Bool {
		assumed.values[g.graph.variable(slot, sortBool)] = value != 0
	}
	isExcluding := func(conjunct *term) bool {
		return g.readsOnly(conjunct, slot) && assumed.simplify(conjunct) != g.graph.trueTerm
	}
	words := make([]uint64, (len(moves)+63)/64)
	for i, candidate := range moves {
		if !slices.ContainsFunc(candidate.guard, isExcluding) {
			words[i/64] |= 1 << (i % 64)
		}
	}
	return words
}
