package compile

import (
	"maps"
	"math/bits"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// The memory of the machine that expands states contains the packed states, then the output, then
// tables. The output of a state begins with a word that holds the number of choices, or gaveUp. The
// output of a choice begins with a word: the index of its move in the lower half, the number of its
// transitions in the upper half. A transition is its weight and its packed target. Equal targets
// are not merged yet.
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

// expandGenerator emits the function that lists the choices of states. The function has this structure:
//
//	for each state: unpack it into the variables
//	  find the enabled moves (decisionTree), call the function of each
//
// The function of a move computes the weights of its updates and writes their targets. If a state
// may be erroneous, the code gives up and the interpreter lists the choices of this state.
type expandGenerator struct {
	moveGenerator
	packing       *Packing
	noFacts       *facts
	isLister      bool            // a lister's
	alternatives  map[int][][]int // Move.Alternatives, by move
	moveFunctions map[int]uint32  // function indices, by move
	outputStart   int             // address of the words written
	codeSize      int             // bytes of code

	packed     []wasm.Var[int64] // globals: the packed state
	nextOutput wasm.Var[int32]   // global: address of the next word
	// locals and labels of the main function
	stateOutput, numChoices, moveResult wasm.Var[int32]
	done, failed                        wasm.Label
}

// assembleExpander compiles the model to a WebAssembly module that lists choices, and returns the moves that it refers to. It returns
// an *UnsupportedError for a model that needs too much code. asLister is for NewPackedLister.
func (m *Model) assembleExpander(packing *Packing, asLister bool) ([]byte, []Move, error) {
	outputStart := 8 * expandBatch * packing.Words
	generator := &expandGenerator{moveGenerator: newMoveGenerator(m, outputStart+expandRoom), packing: packing, isLister: asLister, moveFunctions: map[int]uint32{}, alternatives: map[int][][]int{}, outputStart: outputStart}
	generator.noFacts = generator.facts
	generator.emitLeaf = generator.writeLeaf
	generator.registerCommands()
	if err := generator.prepareMoves(); err != nil {
		return nil, nil, err
	}
	generator.emitModule()
	generator.codeSize += generator.fn.Size()
	if generator.codeSize > maxCode {
		return nil, nil, m.tooHard("more than %d bytes of code", maxCode)
	}
	generator.module.Memory(uint32(generator.memoryUsed+0xffff) >> 16)
	return generator.module.Bytes(), generator.describeMoves(), nil
}

// describeMoves returns the moves in the form of the interface PackedExpander.
func (p *expandGenerator) describeMoves() []Move {
	moves := make([]Move, len(p.moves))
	for i, move := range p.moves {
		moves[i] = Move{Action: move.action, Module: ownModule(move.action, move.commands), Alternatives: p.alternatives[i]}
		for _, command := range move.commands {
			moves[i].Commands = append(moves[i].Commands, CommandRef{command.module, command.index})
		}
	}
	return moves
}

// emitModule emits the main function. Its parameter is the number of states to expand, and its result how many it has finished.
func (p *expandGenerator) emitModule() {
	p.declareModel()
	for range p.packing.Words {
		p.packed = append(p.packed, wasm.Global[int64](p.module))
	}
	p.nextOutput = wasm.Global[int32](p.module)
	p.fn = p.module.Func(exportedRun, []wasm.Type{wasm.I32}, []wasm.Type{wasm.I32})
	fn, numStates := p.fn, wasm.Param[int32](0)
	index := wasm.Local[int32](fn)
	p.stateOutput, p.numChoices, p.moveResult = wasm.Local[int32](fn), wasm.Local[int32](fn), wasm.Local[int32](fn)
	p.nextOutput.Set(fn, constI32(p.outputStart))
	fn.Block(func(exit wasm.Label) {
		fn.Loop(func(again wasm.Label) {
			fn.BrIf(exit, index.GeU(numStates))
			fn.BrIf(exit, p.stateOutput.Tee(p.nextOutput).GtU(constI32(p.outputStart+expandRoom-8)))
			p.unpackState(index)
			p.emitState(exit)
			index.Set(fn, index.Add(constI32(1)))
			fn.Br(again)
		})
	})
	index.Emit(fn)
}

// unpackState emits code that reads state i from memory and unpacks it into the globals of the variables.
func (p *expandGenerator) unpackState(stateIndex wasm.Var[int32]) {
	fn := p.fn
	address := wasm.Local[int32](fn)
	address.Set(fn, stateIndex.Mul(constI32(8*p.packing.Words)))
	for wordIndex, global := range p.packed {
		word := wasm.InLocal(fn, wasm.Load[int64](address, uint32(8*wordIndex)))
		global.Set(fn, word)
		for slot, field := range p.packing.Fields {
			if field.Word == wordIndex {
				p.slots[slot].Set(fn, extractVariable(word, field))
			}
		}
	}
}

// extractVariable emits the value of a variable in a word of a packed state.
func extractVariable(word wasm.Var[int64], field PackedField) wasm.Expr[int32] {
	if field.Mask == 0 {
		return constI32(field.Low)
	}
	shifted := word.Expr
	if field.Shift > 0 {
		shifted = shifted.ShrU(int64(field.Shift))
	}
	value := wasm.Wrap(shifted)
	if width := bits.Len64(field.Mask); width < 32 && int(field.Shift)+width < 64 {
		value = value.And(constI32(int64(field.Mask)))
	}
	if field.Low != 0 {
		value = value.Add(constI32(field.Low))
	}
	return value
}

// emitState emits code that writes the choices of the unpacked state. It jumps to full if they do not fit in the output.
func (p *expandGenerator) emitState(full wasm.Label) {
	fn := p.fn
	p.nextOutput.Set(fn, p.stateOutput.Add(constI32(8)))
	p.numChoices.Set(fn, constI32(0))
	fn.Block(func(next wasm.Label) {
		p.done = fn.Open()
		p.failed = fn.Open()
		p.giveUp = fn.Open()
		p.scoped(func() {
			p.evaluateFailing()
			tree := p.buildTree()
			p.countTreeUses(tree)
			p.emitTree(tree)
		})
		fn.End()
		p.moveResult.Set(fn, constI32(moveGaveUp))
		fn.End()
		p.nextOutput.Set(fn, p.stateOutput)
		// If the output is empty and the state does not fit, give up on it: it will never fit.
		fn.BrIf(full, p.moveResult.Eq(constI32(moveNoSpace)).And(p.stateOutput.Ne(constI32(p.outputStart))))
		wasm.Store(fn, p.stateOutput, 0, constI64(gaveUp))
		p.nextOutput.Set(fn, p.stateOutput.Add(constI32(8)))
		fn.Br(next)
		fn.End()
		wasm.Store(fn, p.stateOutput, 0, wasm.ExtendU(p.numChoices))
	})
}

// writeLeaf emits code that writes the choices of the enabled moves among those of a leaf of the decision tree.
func (p *expandGenerator) writeLeaf(moves []candidate) {
	switch len(moves) {
	case 0:
	case 1:
		for _, conjunct := range moves[0].guard {
			p.jumpIf(conjunct, false, p.done)
		}
		p.callMove(moves[0].move)
	default:
		p.callEnabledMoves(moves, p.evaluateGuards(moves))
	}
	p.fn.Br(p.done)
}

// fewMoves is the greatest number of moves whose bits are tested one after another.
const fewMoves = 8

// callEnabledMoves emits calls of the functions of the enabled moves, in order.
func (p *expandGenerator) callEnabledMoves(moves []candidate, enabled bitset) {
	if enabled == nil {
		for _, candidate := range moves {
			p.callMove(candidate.move)
		}
		return
	}
	for i, word := range enabled {
		part := moves[i*64 : min(i*64+64, len(moves))]
		if len(part) > fewMoves {
			p.callMovesOfBits(part, word)
			continue
		}
		for bit, candidate := range part {
			p.fn.If(isSet(word, bit), func() { p.callMove(candidate.move) })
		}
	}
}

// callMovesOfBits emits a loop that calls the functions of the moves whose bits are set, lowest bit first, and clears the bits.
func (p *expandGenerator) callMovesOfBits(moves []candidate, word wasm.Var[int64]) {
	fn := p.fn
	fn.Block(func(none wasm.Label) {
		fn.Loop(func(again wasm.Label) {
			fn.BrIf(none, word.IsZero())
			labels := make([]wasm.Label, len(moves))
			for i := len(moves) - 1; i >= 0; i-- {
				labels[i] = fn.Open()
			}
			index := wasm.Expr[int32](func(fn *wasm.Func) {
				lowestBit(word).Emit(fn)
				word.Set(fn, withoutLowestBit(word))
			})
			fn.BrTable(index, labels, labels[len(labels)-1])
			for _, candidate := range moves {
				fn.End()
				p.callMove(candidate.move)
				fn.Br(again)
			}
		})
	})
}

// callMove emits a call of a move's function, which writes a choice. It jumps to failed if the function gave up.
func (p *expandGenerator) callMove(move int) {
	p.fn.BrIf(p.failed, p.moveResult.Tee(wasm.Call[int32, int32](p.moveFunction(move))))
	p.numChoices.Set(p.fn, p.numChoices.Add(constI32(1)))
}

// moveFunction returns the index of a move's function, and emits the function if it does not exist yet.
func (p *expandGenerator) moveFunction(move int) uint32 {
	if index, ok := p.moveFunctions[move]; ok {
		return index
	}
	fn := p.module.Func("", nil, []wasm.Type{wasm.I32})
	p.moveFunctions[move] = fn.Index
	outer := p.codeGenerator
	p.fn, p.facts = fn, p.noFacts
	p.computedTerms, p.computedOrder, p.uses = map[*term]typedCode{}, nil, map[*term]int{}
	p.emitMoveFunction(move)
	p.codeSize += fn.Size()
	outer.measuredAt, outer.epoch = p.measuredAt, p.epoch
	p.codeGenerator = outer
	return fn.Index
}

// emitMoveFunction emits the body of a move's function, which returns moveDone, moveGaveUp or moveNoSpace.
func (p *expandGenerator) emitMoveFunction(move int) {
	fn, spec := p.fn, &p.moves[move]
	p.giveUp = fn.Open()
	if slices.ContainsFunc(spec.commands, p.hasInvalidWeights) {
		fn.Br(p.giveUp)
	} else {
		fn.Block(func(full wasm.Label) {
			p.writeChoice(move, full)
			fn.Return(constI32(moveDone))
		})
		fn.Return(constI32(moveNoSpace))
	}
	fn.End()
	constI32(moveGaveUp).Emit(fn)
}

// writeChoice emits code that writes the transitions of a move. If they do not fit in the output, the code jumps to full.
func (p *expandGenerator) writeChoice(move int, full wasm.Label) {
	fn, spec := p.fn, &p.moves[move]
	for _, conjunct := range spec.guard {
		p.facts = p.facts.assume(conjunct, true)
	}
	alternatives, constant := p.alternativesOf(spec, p.facts)
	if len(alternatives) == 0 { // the products of tiny rates are all zero
		fn.Br(p.giveUp)
		return
	}
	start := wasm.Local[int32](fn)
	fn.BrIf(full, start.Tee(p.nextOutput).Gt(constI32(p.outputStart+expandRoom-8-len(alternatives)*p.transitionSize())))
	for _, command := range spec.commands {
		if p.constantWeights[command] == nil && !p.isLister {
			p.weightLocals(command)
			p.computeWeights(command)
		}
	}
	base, rest := p.commonTarget(alternatives)
	if constant || p.isLister {
		p.constantChoice(move, alternatives, start, base, rest)
	} else {
		p.weighedChoice(move, spec, alternatives, start, base, rest)
	}
}

// transitionSize returns the size of a transition in the output in bytes.
func (p *expandGenerator) transitionSize() int { return 8 + 8*p.packing.Words }

// commonTarget emits code for the assigned variables whose new value is the same in all alternatives. It returns the packed target
// with these values, and the set of assigned variables whose values differ.
func (p *expandGenerator) commonTarget(alternatives []alternative) (base []wasm.Var[int64], rest map[int]bool) {
	rest = map[int]bool{}
	values := map[int]*term{}
	for _, slot := range assignedSlots(alternatives) {
		if column := p.valuesInAlternatives(alternatives, slot); allEqual(column) {
			values[slot] = column[0]
		} else {
			rest[slot] = true
		}
	}
	return p.withValues(p.packed, values), rest
}

// withValues emits code that computes new values of variables and inserts them into a packed state. It returns the locals with the
// result.
func (p *expandGenerator) withValues(packed []wasm.Var[int64], values map[int]*term) []wasm.Var[int64] {
	var toCompute []newValue
	newLocals := map[int]wasm.Var[int32]{}
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		if term := values[slot]; !term.isConst() && term != p.oldValue(slot) {
			p.countUses(term)
			toCompute = append(toCompute, newValue{slot, term})
			newLocals[slot] = wasm.Local[int32](p.fn)
		}
	}
	groups, single := p.memoGroups(toCompute)
	for _, group := range groups {
		p.lookUpMemo(group, newLocals)
	}
	p.assignTogether(single, newLocals)
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		if !p.certainlyInRange(values[slot], slot) {
			p.checkRange(values[slot], slot, newLocals)
		}
	}
	words := make([]wasm.Var[int64], len(packed))
	for wordIndex, word := range packed {
		words[wordIndex] = wasm.InLocal(p.fn, p.replaceFields(word.Expr, wordIndex, values, newLocals))
	}
	return words
}

// checkRange gives up if a new value is outside the range of its variable.
func (p *expandGenerator) checkRange(term *term, slot int, newLocals map[int]wasm.Var[int32]) {
	if term.isConst() {
		p.fn.Br(p.giveUp)
		return
	}
	p.giveUpOutside(newLocals[slot], slot)
}

// replaceFields returns code for one word of a packed state, with the given index, into which the new values of variables are
// inserted. The values are constants or in locals. A variable that keeps its value is in the word already.
func (p *expandGenerator) replaceFields(word wasm.Expr[int64], wordIndex int, values map[int]*term, newLocals map[int]wasm.Var[int32]) wasm.Expr[int64] {
	var mask, constant uint64 // the bits of all new values; the bits that constant values set
	var computed []int        // the slots of the values in locals
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		field, term := p.packing.Fields[slot], values[slot]
		if field.Word != wordIndex || term == p.oldValue(slot) {
			continue
		}
		mask |= field.Mask << field.Shift
		if term.isConst() {
			constant |= (uint64(term.intValue-field.Low) & field.Mask) << field.Shift
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
		word = word.Or(fieldBits(p.packing.Fields[slot], newLocals[slot].Expr))
	}
	return word
}

// fieldBits returns code for the bits that a value has in its field of a packed word.
func fieldBits(field PackedField, value wasm.Expr[int32]) wasm.Expr[int64] {
	if field.Low != 0 {
		value = value.Sub(constI32(field.Low))
	}
	bits := wasm.ExtendU(value)
	if field.Shift > 0 {
		bits = bits.Shl(int64(field.Shift))
	}
	return bits
}

// ownValues returns the values that an alternative assigns to the variables in rest.
func ownValues(alternative alternative, rest map[int]bool) map[int]*term {
	out := map[int]*term{}
	for slot, term := range alternative.values {
		if rest[slot] {
			out[slot] = term
		}
	}
	return out
}

// constantChoice emits code that writes a choice with constant weights. base has the values that all alternatives share, and rest the variables in
// which they differ. A lister, which does not need weights, uses it for every choice.
func (p *expandGenerator) constantChoice(move int, alternatives []alternative, start wasm.Var[int32], base []wasm.Var[int64], rest map[int]bool) {
	wasm.Store(p.fn, start, 0, constI64(int64(len(alternatives))<<32|int64(move)))
	var written [][]int
	for i, alternative := range alternatives {
		p.writeTransition(start, 8+i*p.transitionSize(), constF64(alternative.weight), base, ownValues(alternative, rest))
		written = append(written, alternative.updates)
	}
	p.alternatives[move] = written
	p.nextOutput.Set(p.fn, start.Add(constI32(8+len(alternatives)*p.transitionSize())))
}

// writeTransition emits code that writes a transition: its weight, and the packed state base with the given values.
func (p *expandGenerator) writeTransition(address wasm.Var[int32], offset int, weight wasm.Operand[float64], base []wasm.Var[int64], values map[int]*term) {
	wasm.Store(p.fn, address, uint32(offset), weight)
	for wordIndex, word := range p.withValues(base, values) {
		wasm.Store(p.fn, address, uint32(offset+8+8*wordIndex), word)
	}
}

// weighedChoice emits code that writes a choice whose weights are computed, and skips alternatives of weight zero. base has the values that all
// alternatives share, and rest the variables in which they differ.
func (p *expandGenerator) weighedChoice(index int, move *moveSpec, alternatives []alternative, start wasm.Var[int32], base []wasm.Var[int64], rest map[int]bool) {
	fn := p.fn
	next, weight, numWritten := wasm.Local[int32](fn), wasm.Local[float64](fn), wasm.Local[int32](fn)
	next.Set(fn, start.Add(constI32(8)))
	numWritten.Set(fn, constI32(0))
	for _, alternative := range alternatives {
		weight.Set(fn, p.weight(move, alternative.updates))
		values := ownValues(alternative, rest)
		if p.allConstantsInRange(values) { // writing always is cheaper than a jump
			p.writeTransition(next, 0, weight, base, values)
			p.countIf(weight, numWritten, next)
			continue
		}
		fn.If(weight.Gt(constF64(0)), func() {
			p.scoped(func() { p.writeTransition(next, 0, weight, base, values) })
			p.countIf(weight, numWritten, next)
		})
	}
	wasm.Store(fn, start, 0, wasm.ExtendU(numWritten).Shl(32).Or(constI64(int64(index))))
	p.nextOutput.Set(fn, next)
}

// countIf emits code that counts a written transition if its weight is positive. Otherwise the next transition overwrites it.
func (p *expandGenerator) countIf(weight wasm.Var[float64], numWritten, next wasm.Var[int32]) {
	positive := wasm.InLocal(p.fn, weight.Gt(constF64(0)))
	numWritten.Set(p.fn, numWritten.Add(positive))
	next.Set(p.fn, next.Add(positive.Mul(constI32(p.transitionSize()))))
}

// allConstantsInRange reports whether all values are constants within the ranges of their variables.
func (p *expandGenerator) allConstantsInRange(values map[int]*term) bool {
	for slot, term := range values {
		if !term.isConst() || !p.certainlyInRange(term, slot) {
			return false
		}
	}
	return true
}

// ownModule returns the Module of a Choice: the module of a single unlabelled command, otherwise -1.
func ownModule(action int, commands []*command) int {
	if action == sema.Unlabelled && len(commands) == 1 && commands[0].source.Action == sema.Unlabelled {
		return commands[0].module
	}
	return -1
}
