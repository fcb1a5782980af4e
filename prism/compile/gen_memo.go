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

// memoGroups splits values into groups that are worth memoising, and the others.
func (p *moveGenerator) memoGroups(values []newValue) (groups []memoGroup, rest []newValue) {
	for _, r := range values {
		slots := p.variablesOf(r.value)
		i := slices.IndexFunc(groups, func(g memoGroup) bool { return isSubset(slots, g.slots) || isSubset(g.slots, slots) })
		switch {
		case len(slots) == 0 || r.value.mayFail || p.keyWidth(slots) > memoWidth:
			rest = append(rest, r)
		case i < 0:
			groups = append(groups, memoGroup{[]newValue{r}, slots})
		default:
			groups[i].values = append(groups[i].values, r)
			if len(slots) > len(groups[i].slots) {
				groups[i].slots = slots
			}
		}
	}
	groups = slices.DeleteFunc(groups, func(g memoGroup) bool {
		if p.worthMemo(g) {
			return false
		}
		rest = append(rest, g.values...)
		return true
	})
	return groups, rest
}

// isSubset reports whether ys contains every element of xs.
func isSubset(xs, ys []int) bool {
	return !slices.ContainsFunc(xs, func(x int) bool { return !slices.Contains(ys, x) })
}

// worthMemo reports whether a group is expensive enough to memoise, and its packed values fit in 32 bits.
func (p *moveGenerator) worthMemo(group memoGroup) bool {
	var terms []*term
	for _, r := range group.values {
		terms = append(terms, r.value)
	}
	fields := p.packTerms(terms)
	last := fields[len(fields)-1]
	return last.shift+last.width <= 32 && p.memoryUsed+8<<memoBits <= maxMemory && p.costOf(maxCost, terms...) >= cmp.Or(p.model.opts.memoCost, memoCost)
}

// variablesOf returns the slots of the variables that a term reads, in ascending order.
func (p *moveGenerator) variablesOf(t *term) []int {
	var slots []int
	seen := map[*term]bool{}
	var walk func(*term)
	walk = func(t *term) {
		if seen[t] {
			return
		}
		seen[t] = true
		if t.op == opVar {
			slots = append(slots, t.slot)
		}
		for _, operand := range t.operands {
			walk(operand)
		}
	}
	walk(t)
	slices.Sort(slots)
	return slices.Compact(slots)
}

// packTerms assigns a field of a packed word to each term. The width follows from the interval of the term's values.
func (p *moveGenerator) packTerms(terms []*term) []wordField {
	shift := 0
	out := make([]wordField, len(terms))
	for i, term := range terms {
		r := interval{0, 1}
		if term.sort == sortInt {
			r = p.facts.interval(term)
		}
		out[i] = wordField{r.lo, shift, bits.Len64(uint64(r.hi - r.lo))}
		shift += out[i].width
	}
	return out
}

// keyWidth returns the number of bits of the packed values of variables.
func (p *moveGenerator) keyWidth(slots []int) int {
	width := 0
	for _, s := range slots {
		r := p.facts.variable(s)
		width += bits.Len64(uint64(r.hi - r.lo))
	}
	return width
}

// lookUpMemo emits the lookup of a group's values in its table, and code that unpacks them into newLocals.
func (p *moveGenerator) lookUpMemo(group memoGroup, newLocals map[int]wasm.Var[int32]) {
	memo, group := p.memoFor(group)
	fn := p.fn
	key, at, word := wasm.Local[int32](fn), wasm.Local[int32](fn), wasm.Local[int64](fn)
	shifted := func(i int) wasm.Expr[int32] { return shiftToField(p.slots[group.slots[i]].Expr, memo.inputs[i]) }
	packed := shifted(0)
	for i := range group.slots[1:] {
		packed = packed.Or(shifted(i + 1))
	}
	const golden = -0x61c88647 // 2^32 divided by the golden ratio
	entry := wasm.Load[int64](at.Tee(key.Tee(packed).Mul(constI32(golden)).ShrU(32-memoBits).Shl(3)), memo.address)
	fn.If(wasm.Wrap(word.Tee(entry).ShrU(32)).Ne(key.Add(constI32(1))), func() {
		args := []wasm.Operand[int32]{key, at}
		for _, s := range group.slots {
			args = append(args, p.slots[s])
		}
		word.Set(fn, wasm.Call[int64](memo.compute, args...))
	})
	values := wasm.Local[int32](fn)
	values.Set(fn, wasm.Wrap(word))
	for i, r := range group.values {
		newLocals[r.slot].Set(fn, extractField(values, memo.outputs[i]))
	}
}

// shiftToField emits a value shifted to its position in a packed word.
func shiftToField(x wasm.Expr[int32], at wordField) wasm.Expr[int32] {
	if at.low != 0 {
		x = x.Sub(constI32(at.low))
	}
	if at.shift > 0 {
		x = x.Shl(int32(at.shift))
	}
	return x
}

// extractField emits the value in a field of a packed word.
func extractField(packed wasm.Var[int32], at wordField) wasm.Expr[int32] {
	if at.width == 0 {
		return constI32(at.low)
	}
	x := packed.Expr
	if at.shift > 0 {
		x = x.ShrU(int32(at.shift))
	}
	if at.shift+at.width < 32 {
		x = x.And(constI32(1<<at.width - 1))
	}
	if at.low != 0 {
		x = x.Add(constI32(at.low))
	}
	return x
}

// memoFor returns the table of a group, and the group with its variables and values in the order of the table. A group and the group
// with the reverse order share a table, the one with the smaller key. So a board's rows can be read in both directions.
func (p *moveGenerator) memoFor(group memoGroup) (*memoTable, memoGroup) {
	mirror := memoGroup{slices.Clone(group.values), slices.Clone(group.slots)}
	slices.Reverse(mirror.values)
	slices.Reverse(mirror.slots)
	key := p.canonicalKey(group)
	if other := p.canonicalKey(mirror); other < key {
		group, key = mirror, other
	}
	if memo, ok := p.memos[key]; ok {
		return memo, group
	}
	memo := p.newMemo(group)
	p.memos[key] = memo
	return memo, group
}

// canonicalKey serialises the values of a group as terms over numbered variables. Groups with equal keys are the same function.
func (p *moveGenerator) canonicalKey(group memoGroup) string {
	numbers := map[*term]uint32{}
	var key []byte
	for _, s := range group.slots {
		r := p.facts.variable(s)
		key = binary.AppendVarint(binary.AppendVarint(key, r.lo), r.hi)
	}
	var visit func(*term) uint32
	visit = func(term *term) uint32 {
		if n, ok := numbers[term]; ok {
			return n
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
		for _, a := range args {
			key = binary.AppendUvarint(key, uint64(a))
		}
		n := uint32(len(numbers))
		numbers[term] = n
		return n
	}
	for _, r := range group.values {
		n := visit(r.value)
		key = binary.AppendUvarint(append(key, 0xff), uint64(n))
	}
	return string(key)
}

// newMemo emits a function that computes the values of a group from its variables, packs them, and stores them under the key in a new
// table.
func (p *moveGenerator) newMemo(group memoGroup) *memoTable {
	params := []wasm.Type{wasm.I32, wasm.I32} // key, address
	var values []*term
	for _, r := range group.values {
		values = append(values, r.value)
	}
	parameters := map[int]wasm.Var[int32]{}
	for i, s := range group.slots {
		params = append(params, wasm.I32)
		parameters[s] = wasm.Param[int32](uint32(2 + i))
	}
	fn := p.module.Func("", params, []wasm.Type{wasm.I64})
	generator := p.codeGenerator
	generator.fn, generator.params = fn, parameters
	generator.computed, generator.computedOrder, generator.uses = map[*term]typedCode{}, nil, map[*term]int{}
	memo := &memoTable{compute: fn.Index, address: p.reserve(8 << memoBits), inputs: p.packVars(group.slots), outputs: p.packTerms(values)}
	for _, v := range values {
		generator.countUses(v)
	}
	packed := shiftToField(generator.intCode(values[0]), memo.outputs[0])
	for i, v := range values[1:] {
		packed = packed.Or(shiftToField(generator.intCode(v), memo.outputs[i+1]))
	}
	key, address, word := wasm.Param[int32](0), wasm.Param[int32](1), wasm.Local[int64](fn)
	wasm.Store(fn, address, memo.address, word.Tee(wasm.ExtendU(packed).Or(wasm.ExtendU(key.Add(constI32(1))).Shl(32))))
	word.Emit(fn)
	return memo
}

// packVars assigns a field of a packed word to each variable.
func (p *moveGenerator) packVars(slots []int) []wordField {
	shift := 0
	out := make([]wordField, len(slots))
	for i, s := range slots {
		r := p.facts.variable(s)
		out[i] = wordField{r.lo, shift, bits.Len64(uint64(r.hi - r.lo))}
		shift += out[i].width
	}
	return out
}
