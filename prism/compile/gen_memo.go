package compile

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// Expensive values that depend on few variables are memoised: the
// variables' values, packed into one word, are the key of a table of
// packed results, and only a miss computes them. Values that are the
// same function of different variables, such as the rows of a board, share one
// table. Tables are kept from path to path.

// memo is one memoised function.
type memo struct {
	compute uint32 // index of the function that computes and stores a result
	table   uint32 // address
	params  []field
	fields  []field // of the results
}

// field is the place of a value in a packed word; it is stored as the difference to its lower bound.
type field struct {
	lo    int64
	shift int
	width int
}

const (
	memoBits  = 14 // entries of a table: 2^14 words of 8 bytes
	memoCost  = 48 // cheaper groups are not memoised
	memoWidth = 31 // bits of the packed variables
)

// memoGroup is a set of values to be computed and the variables they depend on.
type memoGroup struct {
	roots []root
	slots []int
}

// memoGroups splits values into groups worth memoising and the rest.
func (p *moveGenerator) memoGroups(roots []root) (groups []memoGroup, rest []root) {
	for _, r := range roots {
		slots := p.support(r.value)
		i := slices.IndexFunc(groups, func(g memoGroup) bool { return subset(slots, g.slots) || subset(g.slots, slots) })
		switch {
		case len(slots) == 0 || r.value.fails || p.keyWidth(slots) > memoWidth:
			rest = append(rest, r)
		case i < 0:
			groups = append(groups, memoGroup{[]root{r}, slots})
		default:
			groups[i].roots = append(groups[i].roots, r)
			if len(slots) > len(groups[i].slots) {
				groups[i].slots = slots
			}
		}
	}
	groups = slices.DeleteFunc(groups, func(g memoGroup) bool {
		if p.worthMemo(g) {
			return false
		}
		rest = append(rest, g.roots...)
		return true
	})
	return groups, rest
}

func subset(xs, ys []int) bool {
	return !slices.ContainsFunc(xs, func(x int) bool { return !slices.Contains(ys, x) })
}

func (p *moveGenerator) worthMemo(g memoGroup) bool {
	var ts []*term
	for _, r := range g.roots {
		ts = append(ts, r.value)
	}
	fields := p.pack(ts)
	last := fields[len(fields)-1]
	return last.shift+last.width <= 32 && p.used+8<<memoBits <= maxMemory && p.costOf(maxCost, ts...) >= cmp.Or(p.m.opts.memoCost, memoCost)
}

// support returns the variables a term reads, in ascending order.
func (p *moveGenerator) support(t *term) []int {
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
		for _, a := range t.args {
			walk(a)
		}
	}
	walk(t)
	slices.Sort(slots)
	return slices.Compact(slots)
}

// pack assigns fields to values, by the intervals that the facts give them.
func (p *moveGenerator) pack(ts []*term) []field {
	shift := 0
	out := make([]field, len(ts))
	for i, t := range ts {
		r := interval{0, 1}
		if t.sort == sortInt {
			r = p.facts.interval(t)
		}
		out[i] = field{r.lo, shift, bits.Len64(uint64(r.hi - r.lo))}
		shift += out[i].width
	}
	return out
}

func (p *moveGenerator) keyWidth(slots []int) int {
	width := 0
	for _, s := range slots {
		r := p.facts.variable(s)
		width += bits.Len64(uint64(r.hi - r.lo))
	}
	return width
}

// lookUpMemo emits the lookup of a group's values, and unpacks them into fresh locals.
func (p *moveGenerator) lookUpMemo(g memoGroup, fresh map[int]wasm.Var[int32]) {
	m, g := p.memoFor(g)
	f := p.f
	key, at, word := wasm.Local[int32](f), wasm.Local[int32](f), wasm.Local[int64](f)
	shifted := func(i int) wasm.Expr[int32] { return shiftIn(p.slots[g.slots[i]].Expr, m.params[i]) }
	packed := shifted(0)
	for i := range g.slots[1:] {
		packed = packed.Or(shifted(i + 1))
	}
	const golden = -0x61c88647 // 2^32 divided by the golden ratio
	entry := wasm.Load[int64](at.Tee(key.Tee(packed).Mul(constI32(golden)).ShrU(32-memoBits).Shl(3)), m.table)
	f.If(wasm.Wrap(word.Tee(entry).ShrU(32)).Ne(key.Add(constI32(1))), func() {
		args := []wasm.Operand[int32]{key, at}
		for _, s := range g.slots {
			args = append(args, p.slots[s])
		}
		word.Set(f, wasm.Call[int64](m.compute, args...))
	})
	values := wasm.Local[int32](f)
	values.Set(f, wasm.Wrap(word))
	for i, r := range g.roots {
		fresh[r.slot].Set(f, unpack(values, m.fields[i]))
	}
}

// shiftIn shifts a value to its place in a packed word.
func shiftIn(x wasm.Expr[int32], at field) wasm.Expr[int32] {
	if at.lo != 0 {
		x = x.Sub(constI32(at.lo))
	}
	if at.shift > 0 {
		x = x.Shl(int32(at.shift))
	}
	return x
}

// unpack extracts a field of a packed word.
func unpack(packed wasm.Var[int32], at field) wasm.Expr[int32] {
	if at.width == 0 {
		return constI32(at.lo)
	}
	x := packed.Expr
	if at.shift > 0 {
		x = x.ShrU(int32(at.shift))
	}
	if at.shift+at.width < 32 {
		x = x.And(constI32(1<<at.width - 1))
	}
	if at.lo != 0 {
		x = x.Add(constI32(at.lo))
	}
	return x
}

// memoFor returns the function of a group, and the group with its variables and values in the order of the function's parameters
// and results. A group and its mirror image share a function: the one with the smaller key.
func (p *moveGenerator) memoFor(g memoGroup) (*memo, memoGroup) {
	mirror := memoGroup{slices.Clone(g.roots), slices.Clone(g.slots)}
	slices.Reverse(mirror.roots)
	slices.Reverse(mirror.slots)
	key := p.canonicalKey(g)
	if other := p.canonicalKey(mirror); other < key {
		g, key = mirror, other
	}
	if m, ok := p.memos[key]; ok {
		return m, g
	}
	m := p.newMemo(g)
	p.memos[key] = m
	return m, g
}

// canonicalKey serialises a group's values as terms over numbered parameters, so that equal keys mean equal functions.
func (p *moveGenerator) canonicalKey(g memoGroup) string {
	number := map[*term]uint32{}
	var out []byte
	for _, s := range g.slots {
		r := p.facts.variable(s)
		out = binary.AppendVarint(binary.AppendVarint(out, r.lo), r.hi)
	}
	var visit func(*term) uint32
	visit = func(t *term) uint32 {
		if n, ok := number[t]; ok {
			return n
		}
		var args []uint32
		for _, a := range t.args {
			args = append(args, visit(a))
		}
		if t.op == opIntEq || t.op == opIff || t.op == opAdd || t.op == opMul {
			slices.Sort(args)
		}
		out = append(out, byte(t.op), byte(t.sort))
		out = binary.AppendVarint(out, t.i)
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(t.f))
		if t.op == opVar {
			out = binary.AppendVarint(out, int64(slices.Index(g.slots, t.slot)))
		}
		for _, a := range args {
			out = binary.AppendUvarint(out, uint64(a))
		}
		n := uint32(len(number))
		number[t] = n
		return n
	}
	for _, r := range g.roots {
		n := visit(r.value)
		out = binary.AppendUvarint(append(out, 0xff), uint64(n))
	}
	return string(out)
}

// newMemo emits the function that computes a group's values from its variables, packs them, and stores them under the key.
func (p *moveGenerator) newMemo(g memoGroup) *memo {
	params := []wasm.Type{wasm.I32, wasm.I32} // key, address
	var values []*term
	for _, r := range g.roots {
		values = append(values, r.value)
	}
	in := map[int]wasm.Var[int32]{}
	for i, s := range g.slots {
		params = append(params, wasm.I32)
		in[s] = wasm.Param[int32](uint32(2 + i))
	}
	f := p.mod.Func("", params, []wasm.Type{wasm.I64})
	c := p.codeGenerator
	c.f, c.params = f, in
	c.local, c.scopeOrder, c.uses = map[*term]emitter{}, nil, map[*term]int{}
	m := &memo{compute: f.Index, table: p.reserve(8 << memoBits), params: p.packVars(g.slots), fields: p.pack(values)}
	for _, v := range values {
		c.countUses(v)
	}
	packed := shiftIn(c.integer(values[0]), m.fields[0])
	for i, v := range values[1:] {
		packed = packed.Or(shiftIn(c.integer(v), m.fields[i+1]))
	}
	key, address, word := wasm.Param[int32](0), wasm.Param[int32](1), wasm.Local[int64](f)
	wasm.Store(f, address, m.table, word.Tee(wasm.ExtendU(packed).Or(wasm.ExtendU(key.Add(constI32(1))).Shl(32))))
	word.Emit(f)
	return m
}

func (p *moveGenerator) packVars(slots []int) []field {
	shift := 0
	out := make([]field, len(slots))
	for i, s := range slots {
		r := p.facts.variable(s)
		out[i] = field{r.lo, shift, bits.Len64(uint64(r.hi - r.lo))}
		shift += out[i].width
	}
	return out
}
