package compile

import (
	"maps"
	"math/bits"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// The memory of the expansion machine: packed states, the words it writes, then
// tables. For each state it writes one word, the number of choices or gaveUp; for
// each choice one word, the number of its move and, in the upper half, of its
// transitions; for each transition its weight and its packed target. Equal
// targets have not been added up yet.
const (
	expandBatch = 512 // states
	expandRoom  = 512 << 10
	gaveUp      = -1
)

// What the function of a move returns.
const (
	moveDone    = 0
	moveGaveUp  = 1
	moveNoSpace = 2
)

// expandgen emits the function that lists the choices of states. Its shape is
//
//	for each state: unpack it into the variables
//	  decide what is enabled (plan), call the function of each enabled move
//
// where a move's function weighs its updates and writes their targets. A state
// in which anything may be wrong is given up; the interpreter lists its choices.
type expandgen struct {
	movegen
	packing *Packing
	root    *facts
	movers  map[int]uint32 // functions of moves
	outAt   int            // address of the words written
	size    int            // bytes of code

	packed []uint32 // globals: the packed state
	out    uint32   // global: address of the next word
	// of the main function
	head, count, result uint32
	done, trouble       wasm.Label
}

// assembleExpander compiles the model to a WebAssembly module that lists
// choices. It refuses models that would make too much code.
func (m *Model) assembleExpander(packing *Packing) ([]byte, []Move, error) {
	outAt := 8 * expandBatch * packing.Words
	p := &expandgen{movegen: m.newMovegen(outAt + expandRoom), packing: packing, movers: map[int]uint32{}, outAt: outAt}
	p.root = p.facts
	p.decide = p.leaf
	p.takeModel()
	if err := p.prepare(); err != nil {
		return nil, nil, err
	}
	p.emit()
	if p.size += p.f.Size(); p.size > maxCode {
		return nil, nil, m.tooHard("more than %d bytes of code", maxCode)
	}
	p.mod.Memory(uint32(p.used+0xffff) >> 16)
	return p.mod.Bytes(), p.listed(), nil
}

// listed describes the moves.
func (p *expandgen) listed() []Move {
	out := make([]Move, len(p.moves))
	for i, mv := range p.moves {
		out[i] = Move{Action: mv.action, Module: ownModule(mv.action, mv.members)}
		for _, c := range mv.members {
			out[i].Commands = append(out[i].Commands, CommandRef{c.module, c.index})
		}
	}
	return out
}

func (p *expandgen) emit() {
	p.declareModel()
	for range p.packing.Words {
		p.packed = append(p.packed, p.mod.Global(wasm.I64))
	}
	p.out = p.mod.Global(wasm.I32)
	p.f = p.mod.Func(exportedRun, []wasm.Type{wasm.I32}, []wasm.Type{wasm.I32})
	f := p.f
	const n = 0 // parameter
	i := f.Local(wasm.I32)
	p.head, p.count, p.result = f.Local(wasm.I32), f.Local(wasm.I32), f.Local(wasm.I32)
	f.I32(int32(p.outAt))
	f.SetGlobal(p.out)
	exit := f.Block(wasm.Void)
	again := f.Loop()
	f.Get(i)
	f.Get(n)
	f.Op(wasm.I32GeU)
	f.BrIf(exit)
	f.GetGlobal(p.out)
	f.Tee(p.head)
	f.I32(int32(p.outAt + expandRoom - 8))
	f.Op(wasm.I32GtU)
	f.BrIf(exit)
	p.load(i)
	p.state(exit)
	f.Get(i)
	f.I32(1)
	f.Op(wasm.I32Add)
	f.Set(i)
	f.Br(again)
	f.End()
	f.End()
	f.Get(i)
}

// load unpacks state i.
func (p *expandgen) load(i uint32) {
	f := p.f
	at := f.Local(wasm.I32)
	f.Get(i)
	f.I32(int32(8 * p.packing.Words))
	f.Op(wasm.I32Mul)
	f.Set(at)
	for w, global := range p.packed {
		f.Get(at)
		f.Load(wasm.I64Load, uint32(8*w))
		word := p.into(wasm.I64)
		f.Get(word)
		f.SetGlobal(global)
		for slot, field := range p.packing.Fields {
			if field.Word == w {
				p.unpackVariable(word, field)
				f.SetGlobal(p.slots[slot])
			}
		}
	}
}

func (p *expandgen) unpackVariable(word uint32, field PackedField) {
	f := p.f
	if field.Mask == 0 {
		f.I32(int32(field.Low))
		return
	}
	f.Get(word)
	if field.Shift > 0 {
		f.I64(int64(field.Shift))
		f.Op(wasm.I64ShrU)
	}
	f.Op(wasm.I32WrapI64)
	if width := bits.Len64(field.Mask); width < 32 && int(field.Shift)+width < 64 {
		f.I32(int32(field.Mask))
		f.Op(wasm.I32And)
	}
	if field.Low != 0 {
		f.I32(int32(field.Low))
		f.Op(wasm.I32Add)
	}
}

// state writes the choices of the state in the variables. It leaves for full
// where they do not fit.
func (p *expandgen) state(full wasm.Label) {
	f := p.f
	f.Get(p.head)
	f.I32(8)
	f.Op(wasm.I32Add)
	f.SetGlobal(p.out)
	f.I32(0)
	f.Set(p.count)
	next := f.Block(wasm.Void)
	p.done = f.Block(wasm.Void)
	p.trouble = f.Block(wasm.Void)
	p.bail = f.Block(wasm.Void)
	p.scoped(func() {
		p.evaluateFailing()
		tree := p.planMoves()
		p.notePlan(tree)
		p.tree(tree)
	})
	f.End()
	f.I32(moveGaveUp)
	f.Set(p.result)
	f.End()
	f.Get(p.head)
	f.SetGlobal(p.out)
	f.Get(p.result)
	f.I32(moveNoSpace)
	f.Op(wasm.I32Eq)
	f.Get(p.head)
	f.I32(int32(p.outAt)) // the first state of all will never fit
	f.Op(wasm.I32Ne, wasm.I32And)
	f.BrIf(full)
	f.Get(p.head)
	f.I64(gaveUp)
	f.Store(wasm.I64Store, 0)
	f.Get(p.head)
	f.I32(8)
	f.Op(wasm.I32Add)
	f.SetGlobal(p.out)
	f.Br(next)
	f.End()
	f.Get(p.head)
	f.Get(p.count)
	f.Op(wasm.I64ExtendI32U)
	f.Store(wasm.I64Store, 0)
	f.End()
}

// leaf writes the choices by the enabled ones among the moves that the plan left.
func (p *expandgen) leaf(moves []candidate) {
	switch len(moves) {
	case 0:
	case 1:
		for _, g := range moves[0].guard {
			p.branch(g, false, p.done)
		}
		p.callMove(moves[0].move)
	default:
		p.several(moves, p.mask(moves))
	}
	p.f.Br(p.done)
}

// fewMoves is how many moves are tested one by one, rather than found as the
// bits that are set.
const fewMoves = 8

func (p *expandgen) several(moves []candidate, set bitset) {
	if set == nil {
		for _, c := range moves {
			p.callMove(c.move)
		}
		return
	}
	for i, word := range set {
		part := moves[i*64 : min(i*64+64, len(moves))]
		if len(part) > fewMoves {
			p.eachBit(part, word)
			continue
		}
		for j, c := range part {
			p.f.Get(word)
			p.f.I64(1 << j)
			p.f.Op(wasm.I64And, wasm.I64Eqz, wasm.I32Eqz)
			p.f.If(wasm.Void)
			p.callMove(c.move)
			p.f.End()
		}
	}
}

// eachBit calls the moves whose bits are set, and clears them.
func (p *expandgen) eachBit(moves []candidate, word uint32) {
	f := p.f
	none := f.Block(wasm.Void)
	again := f.Loop()
	f.Get(word)
	f.Op(wasm.I64Eqz)
	f.BrIf(none)
	labels := make([]wasm.Label, len(moves))
	for i := len(moves) - 1; i >= 0; i-- {
		labels[i] = f.Block(wasm.Void)
	}
	f.Get(word)
	f.Op(wasm.I64Ctz, wasm.I32WrapI64)
	f.Get(word)
	f.Get(word)
	f.I64(1)
	f.Op(wasm.I64Sub, wasm.I64And)
	f.Set(word)
	f.BrTable(labels, labels[len(labels)-1])
	for _, c := range moves {
		f.End()
		p.callMove(c.move)
		f.Br(again)
	}
	f.End()
	f.End()
}

func (p *expandgen) callMove(move int) {
	f := p.f
	f.Call(p.mover(move))
	f.Tee(p.result)
	f.BrIf(p.trouble)
	f.Get(p.count)
	f.I32(1)
	f.Op(wasm.I32Add)
	f.Set(p.count)
}

// mover returns the function of a move, which it emits at the first call.
func (p *expandgen) mover(move int) uint32 {
	if index, ok := p.movers[move]; ok {
		return index
	}
	f := p.mod.Func("", nil, []wasm.Type{wasm.I32})
	p.movers[move] = f.Index
	outer := p.codegen
	p.f, p.facts = f, p.root
	p.local, p.trail, p.uses = map[*term]uint32{}, nil, map[*term]int{}
	p.move(move)
	p.size += f.Size()
	outer.stamp, outer.epoch = p.stamp, p.epoch
	p.codegen = outer
	return f.Index
}

// move emits the body of a move's function.
func (p *expandgen) move(move int) {
	f, mv := p.f, &p.moves[move]
	p.bail = f.Block(wasm.Void)
	if slices.ContainsFunc(mv.members, p.wrong) {
		f.Br(p.bail)
	} else {
		full := f.Block(wasm.Void)
		p.choice(move, full)
		f.I32(moveDone)
		f.Op(wasm.Return)
		f.End()
		f.I32(moveNoSpace)
		f.Op(wasm.Return)
	}
	f.End()
	f.I32(moveGaveUp)
}

// choice writes the transitions of a move.
func (p *expandgen) choice(move int, full wasm.Label) {
	f, mv := p.f, &p.moves[move]
	for _, g := range mv.guard {
		p.facts = p.facts.assume(g, true)
	}
	alts, constant := p.alternativesOf(mv, p.facts)
	if len(alts) == 0 { // the product of tiny rates is zero
		f.Br(p.bail)
		return
	}
	at := f.Local(wasm.I32)
	f.GetGlobal(p.out)
	f.Tee(at)
	f.I32(int32(p.outAt + expandRoom - 8 - len(alts)*p.record()))
	f.Op(wasm.I32GtS)
	f.BrIf(full)
	for _, c := range mv.members {
		if p.fixed[c] == nil {
			p.weightLocals(c)
			p.weigh(c)
		}
	}
	base, rest := p.common(alts)
	if constant {
		p.constantChoice(move, alts, at, base, rest)
	} else {
		p.weighedChoice(move, mv, alts, at, base, rest)
	}
}

// record is the size of a transition in bytes.
func (p *expandgen) record() int { return 8 + 8*p.packing.Words }

// common computes the values on which all alternatives agree, and returns the
// packed target as far as they go and which variables are still to be set.
func (p *expandgen) common(alts []alternative) (base []uint32, rest map[int]bool) {
	rest = map[int]bool{}
	values := map[int]*term{}
	for _, slot := range assignedSlots(alts) {
		if column := p.column(alts, slot); allSame(column) {
			values[slot] = column[0]
		} else {
			rest[slot] = true
		}
	}
	return p.target(p.packed, true, values), rest
}

// target computes values and puts them into a packed state, whose words are in
// globals or locals; it returns locals.
func (p *expandgen) target(from []uint32, global bool, values map[int]*term) []uint32 {
	var roots []root
	fresh := map[int]uint32{}
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		if t := values[slot]; !t.isConst() && t != p.old(slot) {
			p.note(t)
			roots = append(roots, root{slot, t})
			fresh[slot] = p.f.Local(wasm.I32)
		}
	}
	groups, single := p.memoGroups(roots)
	for _, g := range groups {
		p.remembered(g, fresh)
	}
	p.assignTogether(single, fresh)
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		if !p.inside(values[slot], slot) {
			p.checkRange(values[slot], slot, fresh)
		}
	}
	out := make([]uint32, len(from))
	for w, word := range from {
		if global {
			p.f.GetGlobal(word)
		} else {
			p.f.Get(word)
		}
		p.replace(w, values, fresh)
		out[w] = p.into(wasm.I64)
	}
	return out
}

// checkRange gives the state up if a value is outside its variable's range.
func (p *expandgen) checkRange(t *term, slot int, fresh map[int]uint32) {
	if t.isConst() {
		p.f.Br(p.bail)
		return
	}
	p.f.Get(fresh[slot])
	p.bailOutside(slot)
}

// replace replaces fields of the word on the stack by values that are constants
// or in locals. One that is the variable's old value is in place already.
func (p *expandgen) replace(w int, values map[int]*term, fresh map[int]uint32) {
	f := p.f
	var mask, constant uint64
	var computed []int
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		field, t := p.packing.Fields[slot], values[slot]
		if field.Word != w || t == p.old(slot) {
			continue
		}
		mask |= field.Mask << field.Shift
		if t.isConst() {
			constant |= (uint64(t.i-field.Low) & field.Mask) << field.Shift
		} else if field.Mask != 0 {
			computed = append(computed, slot)
		}
	}
	if mask != 0 {
		f.I64(int64(^mask))
		f.Op(wasm.I64And)
	}
	if constant != 0 {
		f.I64(int64(constant))
		f.Op(wasm.I64Or)
	}
	for _, slot := range computed {
		field := p.packing.Fields[slot]
		f.Get(fresh[slot])
		if field.Low != 0 {
			f.I32(int32(field.Low))
			f.Op(wasm.I32Sub)
		}
		f.Op(wasm.I64ExtendI32U)
		if field.Shift > 0 {
			f.I64(int64(field.Shift))
			f.Op(wasm.I64Shl)
		}
		f.Op(wasm.I64Or)
	}
}

// own returns the values of an alternative that are not common to all.
func own(a alternative, rest map[int]bool) map[int]*term {
	out := map[int]*term{}
	for slot, t := range a.values {
		if rest[slot] {
			out[slot] = t
		}
	}
	return out
}

// constantChoice writes a choice whose weights are constants.
func (p *expandgen) constantChoice(move int, alts []alternative, at uint32, base []uint32, rest map[int]bool) {
	f := p.f
	f.Get(at)
	f.I64(int64(len(alts))<<32 | int64(move))
	f.Store(wasm.I64Store, 0)
	for i, a := range alts {
		offset := 8 + i*p.record()
		f.Get(at)
		f.F64(a.weight)
		f.Store(wasm.F64Store, uint32(offset))
		p.write(at, offset+8, p.target(base, false, own(a, rest)))
	}
	f.Get(at)
	f.I32(int32(8 + len(alts)*p.record()))
	f.Op(wasm.I32Add)
	f.SetGlobal(p.out)
}

func (p *expandgen) write(at uint32, offset int, words []uint32) {
	for w, word := range words {
		p.f.Get(at)
		p.f.Get(word)
		p.f.Store(wasm.I64Store, uint32(offset+8*w))
	}
}

// weighedChoice writes a choice whose weights were computed, without the
// alternatives of weight zero.
func (p *expandgen) weighedChoice(move int, mv *move, alts []alternative, at uint32, base []uint32, rest map[int]bool) {
	f := p.f
	next, weight, n := f.Local(wasm.I32), f.Local(wasm.F64), f.Local(wasm.I32)
	f.Get(at)
	f.I32(8)
	f.Op(wasm.I32Add)
	f.Set(next)
	f.I32(0)
	f.Set(n)
	for _, a := range alts {
		p.pushWeight(mv, a.updates)
		f.Set(weight)
		values := own(a, rest)
		writeOut := func() {
			f.Get(next)
			f.Get(weight)
			f.Store(wasm.F64Store, 0)
			p.write(next, 8, p.target(base, false, values))
		}
		if p.simple(values) { // not worth a jump
			writeOut()
			p.countIf(weight, n, next)
			continue
		}
		f.Get(weight)
		f.F64(0)
		f.Op(wasm.F64Gt)
		f.If(wasm.Void)
		p.scoped(writeOut)
		p.countIf(weight, n, next)
		f.End()
	}
	f.Get(at)
	f.Get(n)
	f.Op(wasm.I64ExtendI32U)
	f.I64(32)
	f.Op(wasm.I64Shl)
	f.I64(int64(move))
	f.Op(wasm.I64Or)
	f.Store(wasm.I64Store, 0)
	f.Get(next)
	f.SetGlobal(p.out)
}

// countIf adds a transition if its weight is positive.
func (p *expandgen) countIf(weight, n, next uint32) {
	f := p.f
	f.Get(weight)
	f.F64(0)
	f.Op(wasm.F64Gt)
	positive := p.into(wasm.I32)
	f.Get(n)
	f.Get(positive)
	f.Op(wasm.I32Add)
	f.Set(n)
	f.Get(next)
	f.Get(positive)
	f.I32(int32(p.record()))
	f.Op(wasm.I32Mul, wasm.I32Add)
	f.Set(next)
}

// simple reports whether all values are constants within range.
func (p *expandgen) simple(values map[int]*term) bool {
	for slot, t := range values {
		if !t.isConst() || !p.inside(t, slot) {
			return false
		}
	}
	return true
}

// ownModule is the Module of a Choice.
func ownModule(action int, members []*command) int {
	if action == sema.Unlabelled && len(members) == 1 && members[0].src.Action == sema.Unlabelled {
		return members[0].module
	}
	return -1
}
