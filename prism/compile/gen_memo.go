package compile

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// Expensive values that depend on few variables are memoised. The values of
// these variables, packed into one word, are the key of a table of packed results.
// Results are computed only if the table does not have them. Values that are the
// same function of different variables, such as the rows of a board, share one
// table. Tables are kept from path to path.

// memoTable is the table of a memoised function.
type memoTable struct {
	computeFunction uint32      // index of the function that computes and stores a result
	address         uint32      // of the first entry
	inputFields     []wordField // positions of the variables in the key
	outputFields    []wordField // positions of the results in an entry
}

// wordField is the position of a value in a packed word. The stored number is the difference of the value to its lower bound.
type wordField struct {
	minValue int64
	shift    int
	width    int
}

const (
	memoBits  = 14 // entries of a table: 2^14 words of 8 bytes
	memoCost  = 48 // cheaper groups are not memoised
	memoWidth = 31 // bits of the packed variables
)

// memoGroup is a set of values that are memoised together, and the variables on which they depend.
type memoGroup struct {
	values []newValue
	slots  []int
}

// memoGroups returns the values whose code is worth memoising, which means that the code keeps computed results in a table. The values of a group
// depend on nearly the same variables and share a table. ungrouped has the remaining values.
func (g *moveGenerator) memoGroups(values []newValue) (groups []memoGroup, ungrouped []newValue) {
	var candidates []memoGroup
	for _, changed := range values {
		slots := g.variablesOf(changed.value)
		canBeKey := len(slots) > 0 && totalWidth(g.fieldsOfVariables(slots)) <= memoWidth
		if !canBeKey || changed.value.mayFail {
			ungrouped = append(ungrouped, changed)
			continue
		}
		candidates = addToGroup(candidates, changed, slots)
	}
	for _, group := range candidates {
		if g.isWorthMemoising(group) {
			groups = append(groups, group)
		} else {
			ungrouped = append(ungrouped, group.values...)
		}
	}
	return groups, ungrouped
}

// addToGroup adds a value to the first group whose variables are a subset or a superset of the value's variables. Without such a group, it adds a
// new one. slots has the indices of the variables that the value depends on.
func addToGroup(groups []memoGroup, value newValue, slots []int) []memoGroup {
	for i := range groups {
		group := &groups[i]
		if !isSubset(slots, group.slots) && !isSubset(group.slots, slots) {
			continue
		}
		group.values = append(group.values, value)
		if len(slots) > len(group.slots) {
			group.slots = slots
		}
		return groups
	}
	return append(groups, memoGroup{[]newValue{value}, slots})
}

// isSubset reports whether a list contains every element of another list.
func isSubset(subset, list []int) bool {
	return !slices.ContainsFunc(subset, func(element int) bool { return !slices.Contains(list, element) })
}

// isWorthMemoising reports whether the values of a group are expensive, fit in 32 bits together, and have memory for a table.
func (g *moveGenerator) isWorthMemoising(group memoGroup) bool {
	terms := group.terms()
	fitsInWord := totalWidth(g.fieldsOfTerms(terms)) <= 32
	fitsInMemory := g.memoryUsed+8<<memoBits <= maxMemory
	minCost := cmp.Or(g.model.options.memoCost, memoCost)
	return fitsInWord && fitsInMemory && g.costOf(maxCost, terms...) >= minCost
}

// terms returns the terms of the values of a group.
func (group memoGroup) terms() []*term {
	terms := make([]*term, len(group.values))
	for i, value := range group.values {
		terms[i] = value.value
	}
	return terms
}

// variablesOf returns the slots of the variables that a term reads, in ascending order.
func (g *moveGenerator) variablesOf(root *term) []int {
	var slots []int
	isVisited := map[*term]bool{}
	var visit func(*term)
	visit = func(subterm *term) {
		if isVisited[subterm] {
			return
		}
		isVisited[subterm] = true
		if subterm.op == opVar {
			slots = append(slots, subterm.slot)
		}
		for _, operand := range subterm.operands {
			visit(operand)
		}
	}
	visit(root)
	slices.Sort(slots)
	return slices.Compact(slots)
}

// fieldsOfTerms returns the layout of a packed word that holds the values of terms: a field of bits for each term.
func (g *moveGenerator) fieldsOfTerms(terms []*term) []wordField {
	ranges := make([]interval, len(terms))
	for i, term := range terms {
		ranges[i] = interval{0, 1} // of a Bool
		if term.valueSort == sortInt {
			ranges[i] = g.facts.interval(term)
		}
	}
	return adjacentFields(ranges)
}

// fieldsOfVariables returns a field of a packed word for each variable.
func (g *moveGenerator) fieldsOfVariables(slots []int) []wordField {
	ranges := make([]interval, len(slots))
	for i, slot := range slots {
		ranges[i] = g.facts.variable(slot)
	}
	return adjacentFields(ranges)
}

// adjacentFields returns adjacent fields of bits for values in these ranges. The first field begins at bit 0.
func adjacentFields(ranges []interval) []wordField {
	fields := make([]wordField, len(ranges))
	shift := 0
	for i, valueRange := range ranges {
		width := bits.Len64(uint64(valueRange.high - valueRange.low))
		fields[i] = wordField{minValue: valueRange.low, shift: shift, width: width}
		shift += width
	}
	return fields
}

// totalWidth returns the sum of the widths of fields in bits.
func totalWidth(fields []wordField) int {
	width := 0
	for _, field := range fields {
		width += field.width
	}
	return width
}

// lookUpMemo emits code that looks up the values of a group in its table. If the table lacks them, the code computes and stores them. A table entry
// has 64 bits: the upper half is the key plus 1, and the lower half has the packed values.
func (g *moveGenerator) lookUpMemo(group memoGroup, newLocals map[int]wasm.Var[int32]) {
	memo, group := g.memoFor(group)
	wasmFunc := g.wasmFunc
	key, offset, entry := wasm.Local[int32](wasmFunc), wasm.Local[int32](wasmFunc), wasm.Local[int64](wasmFunc)
	// Pack the variables into the key.
	var variables []wasm.Expr[int32]
	for _, slot := range group.slots {
		variables = append(variables, g.slots[slot].Expr)
	}
	packed := packFields(variables, memo.inputFields)
	// Load the entry at the hash of the key, by multiplicative hashing.
	const golden = -0x61c88647 // 2^32 divided by the golden ratio
	hash := key.Tee(packed).Mul(constI32(golden)).ShrU(32 - memoBits)
	loaded := wasm.Load[int64](offset.Tee(hash.Shl(3)), memo.address)
	// Compute the values if the entry has another key.
	entryKey := wasm.Wrap(entry.Tee(loaded).ShrU(32))
	wasmFunc.If(entryKey.Ne(key.Add(constI32(1))), func() { // an empty entry, 0, matches no key
		args := []wasm.Operand[int32]{key, offset}
		for _, slot := range group.slots {
			args = append(args, g.slots[slot])
		}
		entry.Set(wasmFunc, wasm.Call[int64](memo.computeFunction, args...))
	})
	// Unpack the values.
	packedValues := wasm.Local[int32](wasmFunc)
	packedValues.Set(wasmFunc, wasm.Wrap(entry))
	for i, newValue := range group.values {
		newLocals[newValue.slot].Set(wasmFunc, extractField(packedValues, memo.outputFields[i]))
	}
}

// packFields returns code for a packed word with the given values in its fields. There is at least one value.
func packFields(values []wasm.Expr[int32], fields []wordField) wasm.Expr[int32] {
	packed := shiftToField(values[0], fields[0])
	for i, value := range values[1:] {
		packed = packed.Or(shiftToField(value, fields[i+1]))
	}
	return packed
}

// shiftToField returns code for a value at its position in a packed word.
func shiftToField(value wasm.Expr[int32], field wordField) wasm.Expr[int32] {
	if field.minValue != 0 {
		value = value.Sub(constI32(field.minValue))
	}
	if field.shift > 0 {
		value = value.Shl(int32(field.shift))
	}
	return value
}

// extractField returns code for the value in a field of a packed word.
func extractField(packed wasm.Var[int32], field wordField) wasm.Expr[int32] {
	if field.width == 0 {
		return constI32(field.minValue)
	}
	value := packed.Expr
	if field.shift > 0 {
		value = value.ShrU(int32(field.shift))
	}
	if field.shift+field.width < 32 {
		value = value.And(constI32(1<<field.width - 1))
	}
	if field.minValue != 0 {
		value = value.Add(constI32(field.minValue))
	}
	return value
}

// memoFor returns the table for a group, and the group in the order of the table. A group and its reversal share one table, because some models
// read the cells of a row in both directions.
func (g *moveGenerator) memoFor(group memoGroup) (*memoTable, memoGroup) {
	reversed := memoGroup{slices.Clone(group.values), slices.Clone(group.slots)}
	slices.Reverse(reversed.values)
	slices.Reverse(reversed.slots)
	key := g.canonicalKey(group)
	if reversedKey := g.canonicalKey(reversed); reversedKey < key {
		group, key = reversed, reversedKey
	}
	if memo, ok := g.memos[key]; ok {
		return memo, group
	}
	memo := g.newMemo(group)
	g.memos[key] = memo
	return memo, group
}

// canonicalKey returns a binary encoding of the functions that compute the values of a group. In this encoding, a variable is its index in the
// group. So two groups with equal keys can share a table.
func (g *moveGenerator) canonicalKey(group memoGroup) string {
	keyWriter := canonicalWriter{slots: group.slots, numbers: map[*term]uint32{}}
	for _, slot := range group.slots {
		values := g.facts.variable(slot)
		keyWriter.key = binary.AppendVarint(keyWriter.key, values.low)
		keyWriter.key = binary.AppendVarint(keyWriter.key, values.high)
	}
	for _, term := range group.terms() {
		number := keyWriter.number(term)
		const endOfTerm = 0xff
		keyWriter.key = append(keyWriter.key, endOfTerm)
		keyWriter.key = binary.AppendUvarint(keyWriter.key, uint64(number))
	}
	return string(keyWriter.key)
}

// canonicalWriter writes terms with the positions of their variables in a list of slots.
type canonicalWriter struct {
	slots   []int
	numbers map[*term]uint32 // the terms that are written, numbered in this order
	key     []byte
}

// number returns the number of a term. For a new term, it appends the operation and the numbers of the operands to the key.
func (w *canonicalWriter) number(term *term) uint32 {
	if number, ok := w.numbers[term]; ok {
		return number
	}
	var operands []uint32
	for _, operand := range term.operands {
		operands = append(operands, w.number(operand))
	}
	isCommutative := term.op == opIntEq || term.op == opIff || term.op == opAdd || term.op == opMul
	if isCommutative {
		slices.Sort(operands)
	}
	w.key = append(w.key, byte(term.op), byte(term.valueSort))
	w.key = binary.AppendVarint(w.key, term.intValue)
	w.key = binary.LittleEndian.AppendUint64(w.key, math.Float64bits(term.floatValue))
	if term.op == opVar {
		w.key = binary.AppendVarint(w.key, int64(slices.Index(w.slots, term.slot)))
	}
	for _, operand := range operands {
		w.key = binary.AppendUvarint(w.key, uint64(operand))
	}
	number := uint32(len(w.numbers))
	w.numbers[term] = number
	return number
}

// newMemo reserves memory for the table of a group, and emits a function that computes an entry of the table. The function has as parameters the
// key, the offset of the entry in the table, and the values of the variables. It stores the entry and returns it.
func (g *moveGenerator) newMemo(group memoGroup) *memoTable {
	const numFixedParams = 2
	paramTypes := []wasm.Type{wasm.I32, wasm.I32}
	variables := map[int]wasm.Var[int32]{}
	for i, slot := range group.slots {
		paramTypes = append(paramTypes, wasm.I32)
		variables[slot] = wasm.Param[int32](uint32(numFixedParams + i))
	}
	wasmFunc := g.module.Func("", paramTypes, []wasm.Type{wasm.I64})
	terms := group.terms()
	memo := &memoTable{computeFunction: wasmFunc.Index, address: g.reserve(8 << memoBits), inputFields: g.fieldsOfVariables(group.slots), outputFields: g.fieldsOfTerms(terms)}
	// Emit the values into the new function, by a code generator whose variables are the parameters.
	generator := g.codeGenerator
	generator.wasmFunc, generator.params = wasmFunc, variables
	generator.computedTerms, generator.computedOrder, generator.useCounts = map[*term]typedCode{}, nil, map[*term]int{}
	for _, term := range terms {
		generator.countUses(term)
	}
	var values []wasm.Expr[int32]
	for _, term := range terms {
		values = append(values, generator.intCode(term))
	}
	packed := packFields(values, memo.outputFields)
	// Store the entry; see lookUpMemo.
	key, offset, entry := wasm.Param[int32](0), wasm.Param[int32](1), wasm.Local[int64](wasmFunc)
	upperHalf := wasm.ExtendU(key.Add(constI32(1))).Shl(32)
	wasm.Store(wasmFunc, offset, memo.address, entry.Tee(wasm.ExtendU(packed).Or(upperHalf)))
	entry.Emit(wasmFunc)
	return memo
}
