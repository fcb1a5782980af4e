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
	apart   bool            // a lister's
	written map[int][][]int // Move.Alternatives of moves
	movers  map[int]uint32  // functions of moves
	outAt   int             // address of the words written
	size    int             // bytes of code

	packed []wasm.Var[int64] // globals: the packed state
	out    wasm.Var[int32]   // global: address of the next word
	// of the main function
	head, count, result wasm.Var[int32]
	done, trouble       wasm.Label
}

// assembleExpander compiles the model to a WebAssembly module that lists
// choices. It refuses models that would make too much code.
func (m *Model) assembleExpander(packing *Packing, apart bool) ([]byte, []Move, error) {
	outAt := 8 * expandBatch * packing.Words
	p := &expandgen{movegen: newMovegen(m, outAt+expandRoom), packing: packing, apart: apart, movers: map[int]uint32{}, written: map[int][][]int{}, outAt: outAt}
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
		out[i] = Move{Action: mv.action, Module: ownModule(mv.action, mv.members), Alternatives: p.written[i]}
		for _, c := range mv.members {
			out[i].Commands = append(out[i].Commands, CommandRef{c.module, c.index})
		}
	}
	return out
}

func (p *expandgen) emit() {
	p.declareModel()
	for range p.packing.Words {
		p.packed = append(p.packed, wasm.Global[int64](p.mod))
	}
	p.out = wasm.Global[int32](p.mod)
	p.f = p.mod.Func(exportedRun, []wasm.Type{wasm.I32}, []wasm.Type{wasm.I32})
	f, n := p.f, wasm.Param[int32](0)
	i := wasm.Local[int32](f)
	p.head, p.count, p.result = wasm.Local[int32](f), wasm.Local[int32](f), wasm.Local[int32](f)
	p.out.Set(f, whole(p.outAt))
	f.Block(func(exit wasm.Label) {
		f.Loop(func(again wasm.Label) {
			f.BrIf(exit, i.GeU(n))
			f.BrIf(exit, p.head.Tee(p.out).GtU(whole(p.outAt+expandRoom-8)))
			p.load(i)
			p.state(exit)
			i.Set(f, i.Add(whole(1)))
			f.Br(again)
		})
	})
	i.Emit(f)
}

// load unpacks state i.
func (p *expandgen) load(i wasm.Var[int32]) {
	f := p.f
	at := wasm.Local[int32](f)
	at.Set(f, i.Mul(whole(8*p.packing.Words)))
	for w, global := range p.packed {
		word := wasm.Into(f, wasm.Load[int64](at, uint32(8*w)))
		global.Set(f, word)
		for slot, field := range p.packing.Fields {
			if field.Word == w {
				p.slots[slot].Set(f, unpacked(word, field))
			}
		}
	}
}

// unpacked is a field of a packed state.
func unpacked(word wasm.Var[int64], field PackedField) wasm.Expr[int32] {
	if field.Mask == 0 {
		return whole(field.Low)
	}
	shifted := word.Expr
	if field.Shift > 0 {
		shifted = shifted.ShrU(int64(field.Shift))
	}
	x := wasm.Wrap(shifted)
	if width := bits.Len64(field.Mask); width < 32 && int(field.Shift)+width < 64 {
		x = x.And(whole(int64(field.Mask)))
	}
	if field.Low != 0 {
		x = x.Add(whole(field.Low))
	}
	return x
}

// state writes the choices of the state in the variables. It leaves for full
// where they do not fit.
func (p *expandgen) state(full wasm.Label) {
	f := p.f
	p.out.Set(f, p.head.Add(whole(8)))
	p.count.Set(f, whole(0))
	f.Block(func(next wasm.Label) {
		p.done = f.Open()
		p.trouble = f.Open()
		p.bail = f.Open()
		p.scoped(func() {
			p.evaluateFailing()
			tree := p.planMoves()
			p.notePlan(tree)
			p.tree(tree)
		})
		f.End()
		p.result.Set(f, whole(moveGaveUp))
		f.End()
		p.out.Set(f, p.head)
		// The first state of all will never fit.
		f.BrIf(full, p.result.Eq(whole(moveNoSpace)).And(p.head.Ne(whole(p.outAt))))
		wasm.Store(f, p.head, 0, wide(gaveUp))
		p.out.Set(f, p.head.Add(whole(8)))
		f.Br(next)
		f.End()
		wasm.Store(f, p.head, 0, wasm.ExtendU(p.count))
	})
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
			p.f.If(isSet(word, j), func() { p.callMove(c.move) })
		}
	}
}

// eachBit calls the moves whose bits are set, and clears them.
func (p *expandgen) eachBit(moves []candidate, word wasm.Var[int64]) {
	f := p.f
	f.Block(func(none wasm.Label) {
		f.Loop(func(again wasm.Label) {
			f.BrIf(none, word.IsZero())
			labels := make([]wasm.Label, len(moves))
			for i := len(moves) - 1; i >= 0; i-- {
				labels[i] = f.Open()
			}
			index := wasm.Expr[int32](func(f *wasm.Func) {
				lowest(word).Emit(f)
				word.Set(f, withoutLowest(word))
			})
			f.BrTable(index, labels, labels[len(labels)-1])
			for _, c := range moves {
				f.End()
				p.callMove(c.move)
				f.Br(again)
			}
		})
	})
}

func (p *expandgen) callMove(move int) {
	p.f.BrIf(p.trouble, p.result.Tee(wasm.Call[int32, int32](p.mover(move))))
	p.count.Set(p.f, p.count.Add(whole(1)))
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
	p.local, p.trail, p.uses = map[*term]pushed{}, nil, map[*term]int{}
	p.move(move)
	p.size += f.Size()
	outer.stamp, outer.epoch = p.stamp, p.epoch
	p.codegen = outer
	return f.Index
}

// move emits the body of a move's function.
func (p *expandgen) move(move int) {
	f, mv := p.f, &p.moves[move]
	p.bail = f.Open()
	if slices.ContainsFunc(mv.members, p.wrong) {
		f.Br(p.bail)
	} else {
		f.Block(func(full wasm.Label) {
			p.choice(move, full)
			f.Return(whole(moveDone))
		})
		f.Return(whole(moveNoSpace))
	}
	f.End()
	whole(moveGaveUp).Emit(f)
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
	at := wasm.Local[int32](f)
	f.BrIf(full, at.Tee(p.out).Gt(whole(p.outAt+expandRoom-8-len(alts)*p.record())))
	for _, c := range mv.members {
		if p.fixed[c] == nil && !p.apart {
			p.weightLocals(c)
			p.weigh(c)
		}
	}
	base, rest := p.common(alts)
	if constant || p.apart {
		p.constantChoice(move, alts, at, base, rest)
	} else {
		p.weighedChoice(move, mv, alts, at, base, rest)
	}
}

// record is the size of a transition in bytes.
func (p *expandgen) record() int { return 8 + 8*p.packing.Words }

// common computes the values on which all alternatives agree, and returns the
// packed target as far as they go and which variables are still to be set.
func (p *expandgen) common(alts []alternative) (base []wasm.Var[int64], rest map[int]bool) {
	rest = map[int]bool{}
	values := map[int]*term{}
	for _, slot := range assignedSlots(alts) {
		if column := p.column(alts, slot); allSame(column) {
			values[slot] = column[0]
		} else {
			rest[slot] = true
		}
	}
	return p.target(p.packed, values), rest
}

// target computes values and puts them into a packed state; it returns locals.
func (p *expandgen) target(from []wasm.Var[int64], values map[int]*term) []wasm.Var[int64] {
	var roots []root
	fresh := map[int]wasm.Var[int32]{}
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		if t := values[slot]; !t.isConst() && t != p.old(slot) {
			p.note(t)
			roots = append(roots, root{slot, t})
			fresh[slot] = wasm.Local[int32](p.f)
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
	out := make([]wasm.Var[int64], len(from))
	for w, word := range from {
		out[w] = wasm.Into(p.f, p.replaced(word.Expr, w, values, fresh))
	}
	return out
}

// checkRange gives the state up if a value is outside its variable's range.
func (p *expandgen) checkRange(t *term, slot int, fresh map[int]wasm.Var[int32]) {
	if t.isConst() {
		p.f.Br(p.bail)
		return
	}
	p.bailOutside(fresh[slot], slot)
}

// replaced is a word with fields replaced by values that are constants or in
// locals. One that is the variable's old value is in place already.
func (p *expandgen) replaced(word wasm.Expr[int64], w int, values map[int]*term, fresh map[int]wasm.Var[int32]) wasm.Expr[int64] {
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
		word = word.And(wide(int64(^mask)))
	}
	if constant != 0 {
		word = word.Or(wide(int64(constant)))
	}
	for _, slot := range computed {
		field, x := p.packing.Fields[slot], fresh[slot].Expr
		if field.Low != 0 {
			x = x.Sub(whole(field.Low))
		}
		part := wasm.ExtendU(x)
		if field.Shift > 0 {
			part = part.Shl(int64(field.Shift))
		}
		word = word.Or(part)
	}
	return word
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

// constantChoice writes a choice whose weights are constants, or not wanted.
func (p *expandgen) constantChoice(move int, alts []alternative, at wasm.Var[int32], base []wasm.Var[int64], rest map[int]bool) {
	wasm.Store(p.f, at, 0, wide(int64(len(alts))<<32|int64(move)))
	var written [][]int
	for i, a := range alts {
		p.write(at, 8+i*p.record(), number(a.weight), base, own(a, rest))
		written = append(written, a.updates)
	}
	p.written[move] = written
	p.out.Set(p.f, at.Add(whole(8+len(alts)*p.record())))
}

// write writes a transition.
func (p *expandgen) write(at wasm.Var[int32], offset int, weight wasm.Operand[float64], base []wasm.Var[int64], values map[int]*term) {
	wasm.Store(p.f, at, uint32(offset), weight)
	for w, word := range p.target(base, values) {
		wasm.Store(p.f, at, uint32(offset+8+8*w), word)
	}
}

// weighedChoice writes a choice whose weights were computed, without the
// alternatives of weight zero.
func (p *expandgen) weighedChoice(move int, mv *move, alts []alternative, at wasm.Var[int32], base []wasm.Var[int64], rest map[int]bool) {
	f := p.f
	next, weight, n := wasm.Local[int32](f), wasm.Local[float64](f), wasm.Local[int32](f)
	next.Set(f, at.Add(whole(8)))
	n.Set(f, whole(0))
	for _, a := range alts {
		weight.Set(f, p.weight(mv, a.updates))
		values := own(a, rest)
		if p.simple(values) { // not worth a jump
			p.write(next, 0, weight, base, values)
			p.countIf(weight, n, next)
			continue
		}
		f.If(weight.Gt(number(0)), func() {
			p.scoped(func() { p.write(next, 0, weight, base, values) })
			p.countIf(weight, n, next)
		})
	}
	wasm.Store(f, at, 0, wasm.ExtendU(n).Shl(32).Or(wide(int64(move))))
	p.out.Set(f, next)
}

// countIf adds a transition if its weight is positive.
func (p *expandgen) countIf(weight wasm.Var[float64], n, next wasm.Var[int32]) {
	positive := wasm.Into(p.f, weight.Gt(number(0)))
	n.Set(p.f, n.Add(positive))
	next.Set(p.f, next.Add(positive.Mul(whole(p.record()))))
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
