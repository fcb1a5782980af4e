package compile

import (
	"encoding/binary"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// Lookup tables replace guards that test the same variable, such as x<3 & ... and x=7 & .... The table of a variable has one row for each
// value of the variable. A row is a bitset of the candidates: bit i is clear if the value excludes candidate i. At run time the code
// computes the conjunction of the rows for the current values of all variables with a table.

const (
	minTableReaders = 3   // a table is made if at least so many candidates test the variable
	maxTableRows    = 256 // a table is made if the variable has at most so many values
)

// buildTables replaces conjuncts of guards that read a single variable by lookup tables. The table of a variable has, for each value of the
// variable, the set of candidates that this value does not exclude. The emitted code intersects the sets of the current values.
// allowedBits has the variables of this code for the intersection; it is nil if no table is worthwhile. remaining has the candidates without the conjuncts
// that tables replace.
func (g *moveGenerator) buildTables(candidates []candidate) (remaining []candidate, allowedBits bitset) {
	numWords := wordsFor(len(candidates))
	remaining = slices.Clone(candidates)
	for slot := range g.model.program.Vars {
		if !g.isTableWorthwhile(remaining, slot, numWords) {
			continue
		}
		if allowedBits == nil {
			allowedBits = g.newFullBitset(numWords)
		}
		g.intersectWithTable(allowedBits, remaining, slot)
		for i := range remaining {
			remaining[i].conjuncts = g.conjunctsNotOnlyOn(slot, remaining[i].conjuncts)
		}
	}
	return remaining, allowedBits
}

// isTableWorthwhile reports whether to make a table for the variable of a slot: many guards have a conjunct that reads only this variable, the
// variable has few values, and the table fits in the memory. A row of the table has numWords words.
func (g *moveGenerator) isTableWorthwhile(candidates []candidate, slot, numWords int) bool {
	readsOnlySlot := func(conjunct *term) bool { return g.readsOnly(conjunct, slot) }
	numReaders := 0
	for _, candidate := range candidates {
		if slices.ContainsFunc(candidate.conjuncts, readsOnlySlot) {
			numReaders++
		}
	}
	values := g.facts.variable(slot)
	numRows := values.high - values.low + 1
	numBytes := 8 * int(numRows) * numWords
	fitsInMemory := g.memoryUsed+numBytes <= maxMemory
	return numReaders >= minTableReaders && numRows <= maxTableRows && fitsInMemory
}

// conjunctsNotOnlyOn returns a guard without the conjuncts that read only one given variable.
func (g *moveGenerator) conjunctsNotOnlyOn(slot int, guard []*term) []*term {
	readsOnlySlot := func(conjunct *term) bool { return g.readsOnly(conjunct, slot) }
	return slices.DeleteFunc(slices.Clone(guard), readsOnlySlot)
}

// readsOnly reports whether a condition cannot fail and reads exactly one variable: the variable of the given slot.
func (g *moveGenerator) readsOnly(term *term, slot int) bool {
	if term.mayFail {
		return false
	}
	onlySlot, isCached := g.onlyVariable[term]
	if !isCached {
		onlySlot = -1
		if slots := g.variablesOf(term); len(slots) == 1 {
			onlySlot = slots[0]
		}
		g.onlyVariable[term] = onlySlot
	}
	return onlySlot == slot
}

// newFullBitset emits code that sets all bits of a new bitset.
func (g *moveGenerator) newFullBitset(numWords int) bitset {
	full := make(bitset, numWords)
	for i := range full {
		full[i] = wasm.InLocal(g.wasmFunc, constI64(-1))
	}
	return full
}

// intersectWithTable stores the table of a variable in the memory of the module. It emits code that clears, in allowed, the bits of the candidates
// that the current value of the variable excludes.
func (g *moveGenerator) intersectWithTable(allowed bitset, candidates []candidate, slot int) {
	values := g.facts.variable(slot)
	columns := make([][]byte, len(allowed)) // columns[i] has word i of each row
	for value := values.low; value <= values.high; value++ {
		for i, word := range g.possibleCandidates(candidates, slot, value) {
			columns[i] = binary.LittleEndian.AppendUint64(columns[i], word)
		}
	}
	row := g.slots[slot].Sub(constI32(values.low))
	offset := wasm.InLocal(g.wasmFunc, row.Shl(3)) // a word has 8 bytes
	for i, column := range columns {
		address := g.reserve(len(column))
		g.module.Data(int32(address), column)
		allowed[i].Set(g.wasmFunc, wasm.Load[int64](offset, address).And(allowed[i]))
	}
}

// possibleCandidates returns a bitset of the candidates that a value of a variable does not exclude. Only conjuncts that read this variable
// alone count.
func (g *moveGenerator) possibleCandidates(candidates []candidate, slot int, value int64) []uint64 {
	assumedFacts := g.facts.child()
	assumedFacts.ranges[slot] = interval{value, value}
	if g.model.program.Vars[slot].Type == sema.Bool {
		assumedFacts.values[g.graph.variable(slot, sortBool)] = value != 0
	}
	isExcluding := func(conjunct *term) bool {
		return g.readsOnly(conjunct, slot) && assumedFacts.simplify(conjunct) != g.graph.trueTerm
	}
	words := make([]uint64, wordsFor(len(candidates)))
	for i, candidate := range candidates {
		if !slices.ContainsFunc(candidate.conjuncts, isExcluding) {
			setBitOf(words, i)
		}
	}
	return words
}
