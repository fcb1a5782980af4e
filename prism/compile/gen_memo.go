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
	compute uint32 // index of the function that computes and stores a result
	address uint32 // address
	inputs  []wordField
	outputs []wordField // of the results
}

// wordField is the position of a value in a packed word. The stored number is the difference of the value to its lower bound.
type wordField struct {
	low   int64
	shift int
	width int
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

// memoGroups returns groups of values that are worth memoising (storing in a table for reuse), and the values that are not. Values
// are in one group if they read the same variables, or one reads a subset of the variables of the other.
func (g *moveGenerator) memoGroups(values []newValue) (groups []memoGroup, rest []newValue) {
	var candidates []memoGroup
	for _, value := range values {
		slots := g.variablesOf(value.value)
		if len(slots) == 0 || value.value.mayFail || g.keyWidth(slots) > memoWidth {
			rest = append(rest, value)
			continue
		}
		i := slices.IndexFunc(candidates, func(group memoGroup) bool { return isSubset(slots, group.slots) || isSubset(group.slots, slots) })
		if i < 0 {
			candidates = append(candidates, memoGroup{[]newValue{value}, slots})
			continue
		}
		candidates[i].values = append(candidates[i].values, value)
		if len(slots) > len(candidates[i].slots) {
			candidates[i].slots = slots
		}
	}
	for _, group := range candidates {
		if g.worthMemo(group) {
			groups = append(groups, group)
		} else {
			rest = append(rest, group.values...)
		}
	}
	return groups, rest
}

// isSubset reports whether the second list contains every element of the first.
func isSubset(firsts, seconds []int) bool {
	return !slices.ContainsFunc(firsts, func(x int) bool { return !slices.Contains(seconds, x) })
}

// worthMemo reports whether the values of a group are expensive enough to memoise, fit in 32 bits together, and memory is left for
// their table.
func (g *moveGenerator) worthMemo(group memoGroup) bool {
	var terms []*term
	for _, newValue := range group.values {
		terms = append(terms, newValue.value)
	}
	fields := g.packTerms(terms)
	last := fields[len(fields)-1]
	return last.shift+last.width <= 32 && g.memoryUsed+8<<memoBits <= maxMemory && g.costOf(maxCost, terms...) >= cmp.Or(g.model.opts.memoCost, memoCost)
}

// variablesOf returns the slots of the variables that a term reads, in ascending order.
func (g *moveGenerator) variablesOf(root *term) []int {
	var slots []int
	seen := map[*term]bool{}
	var walk func(*term)
	walk = func(root *term) {
		if seen[root] {
			return
		}
		seen[root] = true
		if root.op == opVar {
			slots = append(slots, root.slot)
		}
		for _, operand := range root.operands {
			walk(operand)
		}
	}
	walk(root)
	slices.Sort(slots)
	return slices.Compact(slots)
}

// packTerms assigns a field of a packed word to each term. The width follows from the interval of the term's values.
func (g *moveGenerator) packTerms(terms []*term) []wordField {
	shift := 0
	out := make([]wordField, len(terms))
	for i, term := range terms {
		values := interval{0, 1}
		if term.sort == sortInt {
			values = g.facts.interval(term)
		}
		out[i] = wordField{values.low, shift, bits.Len64(uint64(values.high - values.low))}
		shift += out[i].width
	}
	return out
}

// keyWidth returns the number of bits of the packed values of variables.
func (g *moveGenerator) keyWidth(slots []int) int {
	width := 0
	for _, slot := range slots {
		values := g.facts.variable(slot)
		width += bits.Len64(uint64(values.high - values.low))
	}
	return width
}

// lookUpMemo emits code that looks up the values of a group in its table, computes them if they are not there, and unpacks them into
// newLocals.
func (g *moveGenerator) lookUpMemo(group memoGroup, newLocals map[int]wasm.Var[int32]) {
	memo, group := g.memoFor(group)
	fn := g.fn
	key, offset, word := wasm.Local[int32](fn), wasm.Local[int32](fn), wasm.Local[int64](fn)
	shifted := func(i int) wasm.Expr[int32] { return shiftToField(g.slots[group.slots[i]].Expr, memo.inputs[i]) }
	packed := shifted(0)
	for i := range group.slots[1:] {
		packed = packed.Or(shifted(i + 1))
	}
	const golden = -0x61c88647 // 2^32 divided by the golden ratio
	entry := wasm.Load[int64](offset.Tee(key.Tee(packed).Mul(constI32(golden)).ShrU(32-memoBits).Shl(3)), memo.address)
	fn.If(wasm.Wrap(word.Tee(entry).ShrU(32)).Ne(key.Add(constI32(1))), func() {
		args := []wasm.Operand[int32]{key, offset}
		for _, slot := range group.slots {
			args = append(args, g.slots[slot])
		}
		word.Set(fn, wasm.Call[int64](memo.compute, args...))
	})
	values := wasm.Local[int32](fn)
	values.Set(fn, wasm.Wrap(word))
	for i, newValue := range group.values {
		newLocals[newValue.slot].Set(fn, extractField(values, memo.outputs[i]))
	}
}

// shiftToField emits a value shifted to its position in a packed word.
func shiftToField(value wasm.Expr[int32], field wordField) wasm.Expr[int32] {
	if field.low != 0 {
		value = value.Sub(constI32(field.low))
	}
	if field.shift > 0 {
		value = value.Shl(int32(field.shift))
	}
	return value
}

// extractField emits the value in a field of a packed word.
func extractField(packed wasm.Var[int32], field wordField) wasm.Expr[int32] {
	if field.width == 0 {
		return constI32(field.low)
	}
	value := packed.Expr
	if field.shift > 0 {
		value = value.ShrU(int32(field.shift))
	}
	if field.shift+field.width < 32 {
		value = value.And(constI32(1<<field.width - 1))
	}
	if field.low != 0 {
		value = value.Add(constI32(field.low))
	}
	return value
}

// memoFor returns the table of a group, and the group with its variables and values in the order of the table. The order may be
// reversed, because a group and its mirror image share one table: the row of a board is read in both directions.
func (g *moveGenerator) memoFor(group memoGroup) (*memoTable, memoGroup) {
	mirror := memoGroup{slices.Clone(group.values), slices.Clone(group.slots)}
	slices.Reverse(mirror.values)
	slices.Reverse(mirror.slots)
	key := g.canonicalKey(group)
	if other := g.canonicalKey(mirror); other < key {
		group, key = mirror, other
	}
	if memo, ok := g.memos[key]; ok {
		return memo, group
	}
	memo := g.newMemo(group)
	g.memos[key] = memo
	return memo, group
}

// canonicalKey writes the values of a group as a string, in which variables have the numbers of their positions in the group. Two
// groups with the same key compute the same function.
func (g *moveGenerator) canonicalKey(group memoGroup) string {
	numbers := map[*term]uint32{}
	var key []byte
	for _, slot := range group.slots {
		newValue := g.facts.variable(slot)
		key = binary.AppendVarint(binary.AppendVarint(key, newValue.low), newValue.high)
	}
	var visit func(*term) uint32
	visit = func(term *term) uint32 {
		if number, ok := numbers[term]; ok {
			return number
		}
		var args []uint32
		for _, operand := range term.operands {
			args = append(args, visit(operand))
		}
		if term.op == opIntEq || term.op == opIff || term.op == opAdd || term.op == opMul {
			slices.Sort(args)
		}
		key = append(key, byte(term.op), byte(term.sort))
		key = binary.AppendVarint(key, term.intValue)
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(term.floatValue))
		if term.op == opVar {
			key = binary.AppendVarint(key, int64(slices.Index(group.slots, term.slot)))
		}
		for _, arg := range args {
			key = binary.AppendUvarint(key, uint64(arg))
		}
		number := uint32(len(numbers))
		numbers[term] = number
		return number
	}
	for _, newValue := range group.values {
		number := visit(newValue.value)
		key = binary.AppendUvarint(append(key, 0xff), uint64(number))
	}
	return string(key)
}

// newMemo emits a function that computes the values of a group from its variables, packs them, and stores them under the key in a new
// table.
func (g *moveGenerator) newMemo(group memoGroup) *memoTable {
	params := []wasm.Type{wasm.I32, wasm.I32} // key, address
	var values []*term
	for _, newValue := range group.values {
		values = append(values, newValue.value)
	}
	parameters := map[int]wasm.Var[int32]{}
	for i, slot := range group.slots {
		params = append(params, wasm.I32)
		parameters[slot] = wasm.Param[int32](uint32(2 + i))
	}
	fn := g.module.Func("", params, []wasm.Type{wasm.I64})
	generator := g.codeGenerator
	generator.fn, generator.params = fn, parameters
	generator.computedTerms, generator.computedOrder, generator.uses = map[*term]typedCode{}, nil, map[*term]int{}
	memo := &memoTable{compute: fn.Index, address: g.reserve(8 << memoBits), inputs: g.packVars(group.slots), outputs: g.packTerms(values)}
	for _, value := range values {
		generator.countUses(value)
	}
	packed := shiftToField(generator.intCode(values[0]), memo.outputs[0])
	for i, value := range values[1:] {
		packed = packed.Or(shiftToField(generator.intCode(value), memo.outputs[i+1]))
	}
	key, address, word := wasm.Param[int32](0), wasm.Param[int32](1), wasm.Local[int64](fn)
	wasm.Store(fn, address, memo.address, word.Tee(wasm.ExtendU(packed).Or(wasm.ExtendU(key.Add(constI32(1))).Shl(32))))
	word.Emit(fn)
	return memo
}

// packVars assigns a field of a packed word to each variable.
func (g *moveGenerator) packVars(slots []int) []wordField {
	shift := 0
	out := make([]wordField, len(slots))
	for i, slot := range slots {
		values := g.facts.variable(slot)
		out[i] = wordField{values.low, shift, bits.Len64(uint64(values.high - values.low))}
		shift += out[i].width
	}
	return out
}
