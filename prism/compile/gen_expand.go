package compile

import (
	"maps"
	"math/bits"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// The memory of the expansion machine: packed states, then the words that it writes, then
// tables. It writes, for each state, one word: the number of choices, or gaveUp; for
// each choice, one word: the index of its move and, in the upper half, the number of its
// transitions; for each transition, its weight and its packed target. Equal
// targets are not merged yet.
const (
	expandBatch = 512 // states
	expandRoom  = 512 << 10
	gaveUp      = -1
)

// The results of a move's function.
const (
	moveDone    = 0
	moveGaveUp  = 1
	moveNoSpace = 2
)

// expandGenerator emits the function that lists the choices of states. Its structure is
//
//	for each state: unpack it into the variables
//	  find the enabled moves (decisionTree), call the function of each
//
// where a move's function computes the weights of its updates and writes their targets. If
// anything may be wrong in a state, the code gives up and the interpreter lists its choices.
type expandGenerator struct {
	moveGenerator
	packing       *Packing
	root          *facts
	lister        bool            // a lister's
	alternatives  map[int][][]int // Move.Alternatives, by move
	moveFunctions map[int]uint32  // function indices, by move
	outAt         int             // address of the words written
	size          int             // bytes of code

	packed []wasm.Var[int64] // globals: the packed state
	out    wasm.Var[int32]   // global: address of the next word
	// locals and labels of the main function
	head, count, result wasm.Var[int32]
	done, failed        wasm.Label
}

// assembleExpander compiles the model to a WebAssembly module that lists choices. It refuses models that need too much code.
func (m *Model) assembleExpander(packing *Packing, apart bool) ([]byte, []Move, error) {
	outAt := 8 * expandBatch * packing.Words
	p := &expandGenerator{moveGenerator: newMoveGenerator(m, outAt+expandRoom), packing: packing, lister: apart, moveFunctions: map[int]uint32{}, alternatives: map[int][][]int{}, outAt: outAt}
	p.root = p.facts
	p.emitLeaf = p.writeLeaf
	p.registerModel()
	if err := p.prepare(); err != nil {
		return nil, nil, err
	}
	p.emit()
	if p.size += p.f.Size(); p.size > maxCode {
		return nil, nil, m.tooHard("more than %d bytes of code", maxCode)
	}
	p.mod.Memory(uint32(p.used+0xffff) >> 16)
	return p.mod.Bytes(), p.describeMoves(), nil
}

// describeMoves returns the moves for callers.
func (p *expandGenerator) describeMoves() []Move {
	out := make([]Move, len(p.moves))
	for i, mv := range p.moves {
		out[i] = Move{Action: mv.action, Module: ownModule(mv.action, mv.members), Alternatives: p.alternatives[i]}
		for _, c := range mv.members {
			out[i].Commands = append(out[i].Commands, CommandRef{c.module, c.index})
		}
	}
	return out
}

func (p *expandGenerator) emit() {
	p.declareModel()
	for range p.packing.Words {
		p.packed = append(p.packed, wasm.Global[int64](p.mod))
	}
	p.out = wasm.Global[int32](p.mod)
	p.f = p.mod.Func(exportedRun, []wasm.Type{wasm.I32}, []wasm.Type{wasm.I32})
	f, n := p.f, wasm.Param[int32](0)
	i := wasm.Local[int32](f)
	p.head, p.count, p.result = wasm.Local[int32](f), wasm.Local[int32](f), wasm.Local[int32](f)
	p.out.Set(f, constI32(p.outAt))
	f.Block(func(exit wasm.Label) {
		f.Loop(func(again wasm.Label) {
			f.BrIf(exit, i.GeU(n))
			f.BrIf(exit, p.head.Tee(p.out).GtU(constI32(p.outAt+expandRoom-8)))
			p.load(i)
			p.state(exit)
			i.Set(f, i.Add(constI32(1)))
			f.Br(again)
		})
	})
	i.Emit(f)
}

// load emits the unpacking of state i.
func (p *expandGenerator) load(i wasm.Var[int32]) {
	f := p.f
	at := wasm.Local[int32](f)
	at.Set(f, i.Mul(constI32(8*p.packing.Words)))
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

// unpacked extracts a field of a packed state.
func unpacked(word wasm.Var[int64], field PackedField) wasm.Expr[int32] {
	if field.Mask == 0 {
		return constI32(field.Low)
	}
	shifted := word.Expr
	if field.Shift > 0 {
		shifted = shifted.ShrU(int64(field.Shift))
	}
	x := wasm.Wrap(shifted)
	if width := bits.Len64(field.Mask); width < 32 && int(field.Shift)+width < 64 {
		x = x.And(constI32(int64(field.Mask)))
	}
	if field.Low != 0 {
		x = x.Add(constI32(field.Low))
	}
	return x
}

// state writes the choices of the state in the variables. It jumps to full if they do not fit.
func (p *expandGenerator) state(full wasm.Label) {
	f := p.f
	p.out.Set(f, p.head.Add(constI32(8)))
	p.count.Set(f, constI32(0))
	f.Block(func(next wasm.Label) {
		p.done = f.Open()
		p.failed = f.Open()
		p.bail = f.Open()
		p.scoped(func() {
			p.evaluateFailing()
			tree := p.buildTree()
			p.countTreeUses(tree)
			p.emitTree(tree)
		})
		f.End()
		p.result.Set(f, constI32(moveGaveUp))
		f.End()
		p.out.Set(f, p.head)
		// If not even the first state fits, it never will: give up on it.
		f.BrIf(full, p.result.Eq(constI32(moveNoSpace)).And(p.head.Ne(constI32(p.outAt))))
		wasm.Store(f, p.head, 0, constI64(gaveUp))
		p.out.Set(f, p.head.Add(constI32(8)))
		f.Br(next)
		f.End()
		wasm.Store(f, p.head, 0, wasm.ExtendU(p.count))
	})
}

// writeLeaf writes the choices of the enabled moves among those that the decision tree left.
func (p *expandGenerator) writeLeaf(moves []candidate) {
	switch len(moves) {
	case 0:
	case 1:
		for _, g := range moves[0].guard {
			p.branch(g, false, p.done)
		}
		p.callMove(moves[0].move)
	default:
		p.callEnabledMoves(moves, p.evaluateGuards(moves))
	}
	p.f.Br(p.done)
}

// fewMoves is the greatest number of moves whose bits are tested one by one.
const fewMoves = 8

func (p *expandGenerator) callEnabledMoves(moves []candidate, set bitset) {
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

// eachBit calls the moves whose bits are set, lowest first, and clears the bits.
func (p *expandGenerator) eachBit(moves []candidate, word wasm.Var[int64]) {
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

func (p *expandGenerator) callMove(move int) {
	p.f.BrIf(p.failed, p.result.Tee(wasm.Call[int32, int32](p.moveFunction(move))))
	p.count.Set(p.f, p.count.Add(constI32(1)))
}

// moveFunction returns the index of a move's function. The first call emits it.
func (p *expandGenerator) moveFunction(move int) uint32 {
	if index, ok := p.moveFunctions[move]; ok {
		return index
	}
	f := p.mod.Func("", nil, []wasm.Type{wasm.I32})
	p.moveFunctions[move] = f.Index
	outer := p.codeGenerator
	p.f, p.facts = f, p.root
	p.local, p.scopeOrder, p.uses = map[*term]emitter{}, nil, map[*term]int{}
	p.emitMoveFunction(move)
	p.size += f.Size()
	outer.measuredAt, outer.epoch = p.measuredAt, p.epoch
	p.codeGenerator = outer
	return f.Index
}

// emitMoveFunction emits the body of a move's function.
func (p *expandGenerator) emitMoveFunction(move int) {
	f, mv := p.f, &p.moves[move]
	p.bail = f.Open()
	if slices.ContainsFunc(mv.members, p.hasInvalidWeights) {
		f.Br(p.bail)
	} else {
		f.Block(func(full wasm.Label) {
			p.writeChoice(move, full)
			f.Return(constI32(moveDone))
		})
		f.Return(constI32(moveNoSpace))
	}
	f.End()
	constI32(moveGaveUp).Emit(f)
}

// writeChoice writes the transitions of a move.
func (p *expandGenerator) writeChoice(move int, full wasm.Label) {
	f, mv := p.f, &p.moves[move]
	for _, g := range mv.guard {
		p.facts = p.facts.assume(g, true)
	}
	alts, constant := p.alternativesOf(mv, p.facts)
	if len(alts) == 0 { // the products of tiny rates are all zero
		f.Br(p.bail)
		return
	}
	at := wasm.Local[int32](f)
	f.BrIf(full, at.Tee(p.out).Gt(constI32(p.outAt+expandRoom-8-len(alts)*p.record())))
	for _, c := range mv.members {
		if p.constantWeights[c] == nil && !p.lister {
			p.weightLocals(c)
			p.weigh(c)
		}
	}
	base, rest := p.common(alts)
	if constant || p.lister {
		p.constantChoice(move, alts, at, base, rest)
	} else {
		p.weighedChoice(move, mv, alts, at, base, rest)
	}
}

// record is the size of a transition in bytes.
func (p *expandGenerator) record() int { return 8 + 8*p.packing.Words }

// common computes the values on which all alternatives agree. It returns the packed target with these values, and the variables
// that are still to be set.
func (p *expandGenerator) common(alts []alternative) (base []wasm.Var[int64], rest map[int]bool) {
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

// target computes values and inserts them into a packed state, which it returns in locals.
func (p *expandGenerator) target(from []wasm.Var[int64], values map[int]*term) []wasm.Var[int64] {
	var roots []root
	fresh := map[int]wasm.Var[int32]{}
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		if t := values[slot]; !t.isConst() && t != p.old(slot) {
			p.countUses(t)
			roots = append(roots, root{slot, t})
			fresh[slot] = wasm.Local[int32](p.f)
		}
	}
	groups, single := p.memoGroups(roots)
	for _, g := range groups {
		p.lookUpMemo(g, fresh)
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

// checkRange gives up the state if a value is outside its variable's range.
func (p *expandGenerator) checkRange(t *term, slot int, fresh map[int]wasm.Var[int32]) {
	if t.isConst() {
		p.f.Br(p.bail)
		return
	}
	p.bailOutside(fresh[slot], slot)
}

// replaced inserts values into a packed word. The values are constants or in locals; a variable's old value is already in place.
func (p *expandGenerator) replaced(word wasm.Expr[int64], w int, values map[int]*term, fresh map[int]wasm.Var[int32]) wasm.Expr[int64] {
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
		word = word.And(constI64(int64(^mask)))
	}
	if constant != 0 {
		word = word.Or(constI64(int64(constant)))
	}
	for _, slot := range computed {
		field, x := p.packing.Fields[slot], fresh[slot].Expr
		if field.Low != 0 {
			x = x.Sub(constI32(field.Low))
		}
		part := wasm.ExtendU(x)
		if field.Shift > 0 {
			part = part.Shl(int64(field.Shift))
		}
		word = word.Or(part)
	}
	return word
}

// ownValues returns the values of an alternative for the variables in rest.
func ownValues(a alternative, rest map[int]bool) map[int]*term {
	out := map[int]*term{}
	for slot, t := range a.values {
		if rest[slot] {
			out[slot] = t
		}
	}
	return out
}

// constantChoice writes a choice whose weights are constants, or whose weights a lister does not need.
func (p *expandGenerator) constantChoice(move int, alts []alternative, at wasm.Var[int32], base []wasm.Var[int64], rest map[int]bool) {
	wasm.Store(p.f, at, 0, constI64(int64(len(alts))<<32|int64(move)))
	var written [][]int
	for i, a := range alts {
		p.write(at, 8+i*p.record(), constF64(a.weight), base, ownValues(a, rest))
		written = append(written, a.updates)
	}
	p.alternatives[move] = written
	p.out.Set(p.f, at.Add(constI32(8+len(alts)*p.record())))
}

// write writes a transition.
func (p *expandGenerator) write(at wasm.Var[int32], offset int, weight wasm.Operand[float64], base []wasm.Var[int64], values map[int]*term) {
	wasm.Store(p.f, at, uint32(offset), weight)
	for w, word := range p.target(base, values) {
		wasm.Store(p.f, at, uint32(offset+8+8*w), word)
	}
}

// weighedChoice writes a choice with computed weights, without the alternatives of weight zero.
func (p *expandGenerator) weighedChoice(move int, mv *commandSet, alts []alternative, at wasm.Var[int32], base []wasm.Var[int64], rest map[int]bool) {
	f := p.f
	next, weight, n := wasm.Local[int32](f), wasm.Local[float64](f), wasm.Local[int32](f)
	next.Set(f, at.Add(constI32(8)))
	n.Set(f, constI32(0))
	for _, a := range alts {
		weight.Set(f, p.weight(mv, a.updates))
		values := ownValues(a, rest)
		if p.simple(values) { // a jump would cost more
			p.write(next, 0, weight, base, values)
			p.countIf(weight, n, next)
			continue
		}
		f.If(weight.Gt(constF64(0)), func() {
			p.scoped(func() { p.write(next, 0, weight, base, values) })
			p.countIf(weight, n, next)
		})
	}
	wasm.Store(f, at, 0, wasm.ExtendU(n).Shl(32).Or(constI64(int64(move))))
	p.out.Set(f, next)
}

// countIf counts a written transition if its weight is positive.
func (p *expandGenerator) countIf(weight wasm.Var[float64], n, next wasm.Var[int32]) {
	positive := wasm.Into(p.f, weight.Gt(constF64(0)))
	n.Set(p.f, n.Add(positive))
	next.Set(p.f, next.Add(positive.Mul(constI32(p.record()))))
}

// simple reports whether all values are constants within range.
func (p *expandGenerator) simple(values map[int]*term) bool {
	for slot, t := range values {
		if !t.isConst() || !p.inside(t, slot) {
			return false
		}
	}
	return true
}

// ownModule returns the Module of a Choice.
func ownModule(action int, members []*command) int {
	if action == sema.Unlabelled && len(members) == 1 && members[0].src.Action == sema.Unlabelled {
		return members[0].module
	}
	return -1
}
