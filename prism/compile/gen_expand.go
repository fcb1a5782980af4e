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
	expandBatchSize = 512 // states
	outputBytes     = 512 << 10
	gaveUp          = -1
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
// The function of a move computes the weights of its updates and writes their targets. If a state may be erroneous, the code gives up and
// the interpreter lists the choices of this state.
type expandGenerator struct {
	moveGenerator
	packing       *Packing
	noFacts       *facts
	omitsWeights  bool            // the code is for NewPackedLister
	alternatives  map[int][][]int // Move.Alternatives, by move
	moveFunctions map[int]uint32  // function indices, by move
	outputStart   int             // address of the words written
	codeSize      int             // bytes of code

	packedState []wasm.Var[int64] // globals: the packed state
	nextOutput  wasm.Var[int32]   // global: address of the next word
	// locals and labels of the main function
	stateOutput, numChoices, moveResult wasm.Var[int32]
	doneLabel, failedLabel              wasm.Label
}

// assembleExpander compiles the model to a WebAssembly module that lists the choices of states. It returns the code of the module and the moves
// that the code refers to by index. With omitsWeights, the choices have no weights. It returns an *UnsupportedError if the module would need too
// much code.
func (m *Model) assembleExpander(packing *Packing, omitsWeights bool) ([]byte, []Move, error) {
	outputStart := 8 * expandBatchSize * packing.Words
	generator := &expandGenerator{
		moveGenerator: newMoveGenerator(m, outputStart+outputBytes),
		packing:       packing, omitsWeights: omitsWeights, outputStart: outputStart,
		moveFunctions: map[int]uint32{}, alternatives: map[int][][]int{},
	}
	generator.noFacts = generator.facts
	generator.emitLeaf = generator.writeLeaf
	generator.registerCommands()
	if err := generator.prepareMoves(); err != nil {
		return nil, nil, err
	}
	generator.emitModule()
	generator.codeSize += generator.wasmFunc.Size()
	if generator.codeSize > maxCode {
		return nil, nil, m.tooHardError("more than %d bytes of code", maxCode)
	}
	generator.module.Memory(generator.memoryPages())
	return generator.module.Bytes(), generator.describeMoves(), nil
}

// describeMoves returns the moves of the generator as values of the exported type Move.
func (g *expandGenerator) describeMoves() []Move {
	moves := make([]Move, len(g.moves))
	for i, move := range g.moves {
		moves[i] = Move{Action: move.action, Module: ownModule(move.action, move.commands), Alternatives: g.alternatives[i]}
		for _, command := range move.commands {
			moves[i].Commands = append(moves[i].Commands, CommandRef{command.module, command.index})
		}
	}
	return moves
}

// emitModule emits the variables of the model and the exported function of the module. The parameter of this function is a number of packed
// states in memory. The function writes the choices of these states until the output is full, and returns for how many states it has done so.
func (g *expandGenerator) emitModule() {
	g.declareModel()
	for range g.packing.Words {
		g.packedState = append(g.packedState, wasm.Global[int64](g.module))
	}
	g.nextOutput = wasm.Global[int32](g.module)
	g.wasmFunc = g.module.Func(exportedRun, []wasm.Type{wasm.I32}, []wasm.Type{wasm.I32})
	wasmFunc, numStates := g.wasmFunc, wasm.Param[int32](0)
	stateIndex := wasm.Local[int32](wasmFunc)
	g.stateOutput, g.numChoices, g.moveResult = wasm.Local[int32](wasmFunc), wasm.Local[int32](wasmFunc), wasm.Local[int32](wasmFunc)
	lastAddress := constI32(g.outputStart + outputBytes - 8) // for the first word of a state
	g.nextOutput.Set(wasmFunc, constI32(g.outputStart))
	wasmFunc.Block(func(finished wasm.Label) {
		wasmFunc.Loop(func(again wasm.Label) {
			wasmFunc.BrIf(finished, stateIndex.GeU(numStates))
			wasmFunc.BrIf(finished, g.stateOutput.Tee(g.nextOutput).GtU(lastAddress))
			g.unpackState(stateIndex)
			g.emitState(finished)
			stateIndex.Set(wasmFunc, stateIndex.Add(constI32(1)))
			wasmFunc.Br(again)
		})
	})
	stateIndex.Emit(wasmFunc)
}

// unpackState emits code that reads a packed state from memory and unpacks it into the variables.
func (g *expandGenerator) unpackState(stateIndex wasm.Var[int32]) {
	wasmFunc := g.wasmFunc
	address := wasm.Local[int32](wasmFunc)
	address.Set(wasmFunc, stateIndex.Mul(constI32(8*g.packing.Words)))
	for wordIndex, global := range g.packedState {
		word := wasm.InLocal(wasmFunc, wasm.Load[int64](address, uint32(8*wordIndex)))
		global.Set(wasmFunc, word)
		for slot, field := range g.packing.Fields {
			if field.Word == wordIndex {
				g.slots[slot].Set(wasmFunc, extractVariable(word, field))
			}
		}
	}
}

// extractVariable returns code for the value of a variable in a word of a packed state.
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

// emitState emits code that writes the choices of the unpacked state. The code jumps to noSpaceLabel if the choices do not fit in the rest of the
// output. If it cannot compute the choices, it writes gaveUp in place of their number.
func (g *expandGenerator) emitState(noSpaceLabel wasm.Label) {
	wasmFunc := g.wasmFunc
	g.nextOutput.Set(wasmFunc, g.stateOutput.Add(constI32(8)))
	g.numChoices.Set(wasmFunc, constI32(0))
	wasmFunc.Block(func(nextState wasm.Label) {
		// A jump to a label goes to the End of its block. The blocks end in the reverse order.
		g.doneLabel = wasmFunc.Open()
		g.failedLabel = wasmFunc.Open()
		g.giveUpLabel = wasmFunc.Open()
		g.emitInScope(func() {
			g.evaluateFailingGuards()
			tree := g.buildTree()
			g.countTreeUses(tree)
			g.emitTree(tree)
		})
		wasmFunc.End() // giveUpLabel
		g.moveResult.Set(wasmFunc, constI32(moveGaveUp))
		wasmFunc.End() // failed
		g.nextOutput.Set(wasmFunc, g.stateOutput)
		doesNotFit := g.moveResult.Eq(constI32(moveNoSpace))
		hasEarlierStates := g.stateOutput.Ne(constI32(g.outputStart)) // without them, a new call would not have more space
		wasmFunc.BrIf(noSpaceLabel, doesNotFit.And(hasEarlierStates))
		wasm.Store(wasmFunc, g.stateOutput, 0, constI64(gaveUp))
		g.nextOutput.Set(wasmFunc, g.stateOutput.Add(constI32(8)))
		wasmFunc.Br(nextState)
		wasmFunc.End() // done
		wasm.Store(wasmFunc, g.stateOutput, 0, wasm.ExtendU(g.numChoices))
	})
}

// writeLeaf emits the code of a leaf of the decision tree. The code writes the choices of the enabled moves among these moves, and then jumps to doneLabel.
func (g *expandGenerator) writeLeaf(moves []candidate) {
	switch len(moves) {
	case 0:
	case 1:
		for _, conjunct := range moves[0].conjuncts {
			g.jumpIf(conjunct, false, g.doneLabel)
		}
		g.callMove(moves[0].moveIndex)
	default:
		g.callEnabledMoves(moves, g.evaluateGuards(moves))
	}
	g.wasmFunc.Br(g.doneLabel)
}

// fewMoves is the greatest number of moves with a separate test of each bit.
const fewMoves = 8

// callEnabledMoves emits calls of the functions of the enabled moves, in order.
func (g *expandGenerator) callEnabledMoves(moves []candidate, enabled bitset) {
	if enabled == nil {
		for _, candidate := range moves {
			g.callMove(candidate.moveIndex)
		}
		return
	}
	for i, word := range enabled {
		wordMoves := moves[i*64 : min(i*64+64, len(moves))]
		if len(wordMoves) > fewMoves {
			g.callMovesOfBits(wordMoves, word)
			continue
		}
		for bit, candidate := range wordMoves {
			g.wasmFunc.If(isSet(word, bit), func() { g.callMove(candidate.moveIndex) })
		}
	}
}

// callMovesOfBits emits a loop over the set bits of a word, lowest bit first. The loop calls the function of each bit's move and clears the
// bit.
func (g *expandGenerator) callMovesOfBits(moves []candidate, word wasm.Var[int64]) {
	wasmFunc := g.wasmFunc
	wasmFunc.Block(func(noneSet wasm.Label) {
		wasmFunc.Loop(func(next wasm.Label) {
			wasmFunc.BrIf(noneSet, word.IsZero())
			labels := g.openLabels(len(moves))
			index := wasm.Expr[int32](func(wasmFunc *wasm.Func) { // pushes the index of the lowest set bit, then clears the bit
				lowestBit(word).Emit(wasmFunc)
				word.Set(wasmFunc, withoutLowestBit(word))
			})
			wasmFunc.BrTable(index, labels, labels[len(labels)-1])
			for _, candidate := range moves {
				wasmFunc.End()
				g.callMove(candidate.moveIndex)
				wasmFunc.Br(next)
			}
		})
	})
}

// callMove emits a call of a move's function, which writes a choice. It jumps to failed if the function fails.
func (g *expandGenerator) callMove(move int) {
	g.wasmFunc.BrIf(g.failedLabel, g.moveResult.Tee(wasm.Call[int32, int32](g.moveFunction(move))))
	g.numChoices.Set(g.wasmFunc, g.numChoices.Add(constI32(1)))
}

// moveFunction returns the index of the WebAssembly function that writes the choice of a move. It emits this function at the first call.
func (g *expandGenerator) moveFunction(move int) uint32 {
	if index, ok := g.moveFunctions[move]; ok {
		return index
	}
	wasmFunc := g.module.Func("", nil, []wasm.Type{wasm.I32})
	g.moveFunctions[move] = wasmFunc.Index
	// Emit the function with an empty state of the code generator, and then restore the old state.
	outerGenerator := g.codeGenerator
	g.wasmFunc, g.facts = wasmFunc, g.noFacts
	g.computedTerms, g.computedOrder, g.useCounts = map[*term]typedCode{}, nil, map[*term]int{}
	g.emitMoveFunction(move)
	g.codeSize += wasmFunc.Size()
	outerGenerator.measuredAt, outerGenerator.epoch = g.measuredAt, g.epoch // both only grow
	g.codeGenerator = outerGenerator
	return wasmFunc.Index
}

// emitMoveFunction emits the body of the function that writes the choice of a move. The function returns moveDone, moveGaveUp or moveNoSpace.
func (g *expandGenerator) emitMoveFunction(move int) {
	wasmFunc, spec := g.wasmFunc, &g.moves[move]
	g.giveUpLabel = wasmFunc.Open()
	if slices.ContainsFunc(spec.commands, g.hasInvalidWeights) {
		wasmFunc.Br(g.giveUpLabel)
	} else {
		wasmFunc.Block(func(noSpaceLabel wasm.Label) {
			g.writeChoice(move, noSpaceLabel)
			wasmFunc.Return(constI32(moveDone))
		})
		wasmFunc.Return(constI32(moveNoSpace))
	}
	wasmFunc.End()
	constI32(moveGaveUp).Emit(wasmFunc)
}

// writeChoice emits code that writes the transitions of a move. The code jumps to noSpaceLabel if they do not fit in the output.
func (g *expandGenerator) writeChoice(move int, noSpaceLabel wasm.Label) {
	wasmFunc, spec := g.wasmFunc, &g.moves[move]
	for _, conjunct := range spec.conjuncts {
		g.facts = g.facts.assume(conjunct, true)
	}
	alternatives, areConstant := g.alternativesOf(spec, g.facts)
	if len(alternatives) == 0 { // the products of tiny rates are all zero
		wasmFunc.Br(g.giveUpLabel)
		return
	}
	choiceStart := wasm.Local[int32](wasmFunc)
	maxSize := 8 + len(alternatives)*g.transitionSize()
	lastAddress := constI32(g.outputStart + outputBytes - maxSize)
	wasmFunc.BrIf(noSpaceLabel, choiceStart.Tee(g.nextOutput).Gt(lastAddress))
	for _, command := range spec.commands {
		if g.constantWeights[command] == nil && !g.omitsWeights {
			g.declareWeightLocals(command)
			g.computeWeights(command)
		}
	}
	commonWords, differingSlots := g.commonTarget(alternatives)
	output := choiceOutput{move: move, start: choiceStart, base: commonWords, differing: differingSlots}
	if areConstant || g.omitsWeights {
		g.writeConstantChoice(output, alternatives)
	} else {
		g.writeWeightedChoice(output, alternatives)
	}
}

// choiceOutput says where and how the code writes the transitions of a move.
type choiceOutput struct {
	move      int
	start     wasm.Var[int32]   // address of the first word
	base      []wasm.Var[int64] // the packed target with the new values that all alternatives share
	differing map[int]bool      // the slots of the variables whose new values differ
}

// transitionSize returns the size of a transition in the output, in bytes.
func (g *expandGenerator) transitionSize() int { return 8 + 8*g.packing.Words }

// commonTarget emits code that computes the new values of variables which are the same in all alternatives. It returns the packed state after
// these assignments, and the slots of the other assigned variables.
func (g *expandGenerator) commonTarget(alternatives []alternative) (commonWords []wasm.Var[int64], differingSlots map[int]bool) {
	differingSlots = map[int]bool{}
	values := map[int]*term{}
	for _, slot := range assignedSlots(alternatives) {
		if slotValues := g.valuesInAlternatives(alternatives, slot); areEqual(slotValues) {
			values[slot] = slotValues[0]
		} else {
			differingSlots[slot] = true
		}
	}
	return g.withValues(g.packedState, values), differingSlots
}

// withValues emits code that computes new values of variables, checks their ranges, and stores them in a packed state. The keys of values are
// slots. It returns locals with the new packed state.
func (g *expandGenerator) withValues(words []wasm.Var[int64], values map[int]*term) []wasm.Var[int64] {
	newLocals := g.computeValues(values)
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		value := values[slot]
		switch {
		case g.isCertainlyInRange(value, slot):
		case value.isConst():
			g.wasmFunc.Br(g.giveUpLabel)
		default:
			g.giveUpOutside(newLocals[slot], slot)
		}
	}
	newWords := make([]wasm.Var[int64], len(words))
	for wordIndex, word := range words {
		newWords[wordIndex] = wasm.InLocal(g.wasmFunc, g.replaceFields(word.Expr, wordIndex, values, newLocals))
	}
	return newWords
}

// computeValues emits code that computes new values of variables and stores them in locals. It omits constants and unchanged variables. The keys
// of both maps are slots.
func (g *expandGenerator) computeValues(values map[int]*term) map[int]wasm.Var[int32] {
	newLocals := map[int]wasm.Var[int32]{}
	var toCompute []newValue
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		value := values[slot]
		if value.isConst() || value == g.oldValue(slot) {
			continue
		}
		g.countUses(value)
		toCompute = append(toCompute, newValue{slot, value})
		newLocals[slot] = wasm.Local[int32](g.wasmFunc)
	}
	groups, singleValues := g.memoGroups(toCompute)
	for _, group := range groups {
		g.lookUpMemo(group, newLocals)
	}
	g.assignTogether(singleValues, newLocals)
	return newLocals
}

// replaceFields returns code for a word of a packed state in which new values replace old ones. wordIndex is the index of the word. The keys of
// both maps are slots. newLocals has the locals of the values that are not constant.
func (g *expandGenerator) replaceFields(word wasm.Expr[int64], wordIndex int, values map[int]*term, newLocals map[int]wasm.Var[int32]) wasm.Expr[int64] {
	var replacedBits uint64 // the bits of the fields with new values
	var constantBits uint64 // the bits that constant values set
	var computedSlots []int // the slots of the values in locals
	for _, slot := range slices.Sorted(maps.Keys(values)) {
		field, value := g.packing.Fields[slot], values[slot]
		if field.Word != wordIndex || value == g.oldValue(slot) {
			continue
		}
		replacedBits |= field.Mask << field.Shift
		if value.isConst() {
			constantBits |= (uint64(value.intValue-field.Low) & field.Mask) << field.Shift
		} else if field.Mask != 0 {
			computedSlots = append(computedSlots, slot)
		}
	}
	if replacedBits != 0 {
		word = word.And(constI64(int64(^replacedBits)))
	}
	if constantBits != 0 {
		word = word.Or(constI64(int64(constantBits)))
	}
	for _, slot := range computedSlots {
		word = word.Or(fieldBits(g.packing.Fields[slot], newLocals[slot].Expr))
	}
	return word
}

// fieldBits returns code for the bits of a value in its field of a packed word.
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

// differingValues returns the values of an alternative for the variables that differ between the alternatives.
func (o *choiceOutput) differingValues(alternative alternative) map[int]*term {
	values := map[int]*term{}
	for slot, value := range alternative.values {
		if o.differing[slot] {
			values[slot] = value
		}
	}
	return values
}

// writeConstantChoice emits code that writes a choice with constant weights.
func (g *expandGenerator) writeConstantChoice(output choiceOutput, alternatives []alternative) {
	header := int64(len(alternatives))<<32 | int64(output.move)
	wasm.Store(g.wasmFunc, output.start, 0, constI64(header))
	offset := 8 // behind the header
	var alternativeUpdates [][]int
	for _, alternative := range alternatives {
		g.writeTransition(output.start, offset, constF64(alternative.weight), output.base, output.differingValues(alternative))
		alternativeUpdates = append(alternativeUpdates, alternative.updates)
		offset += g.transitionSize()
	}
	g.alternatives[output.move] = alternativeUpdates
	g.nextOutput.Set(g.wasmFunc, output.start.Add(constI32(offset)))
}

// writeTransition emits code that writes a transition to address+offset: its weight, and the packed state base with new values.
func (g *expandGenerator) writeTransition(address wasm.Var[int32], offset int, weight wasm.Operand[float64], base []wasm.Var[int64], values map[int]*term) {
	wasm.Store(g.wasmFunc, address, uint32(offset), weight)
	for wordIndex, word := range g.withValues(base, values) {
		wasm.Store(g.wasmFunc, address, uint32(offset+8+8*wordIndex), word)
	}
}

// writeWeightedChoice emits code that writes a choice whose weights are computed at run time. The code omits alternatives whose weight is zero.
func (g *expandGenerator) writeWeightedChoice(output choiceOutput, alternatives []alternative) {
	wasmFunc := g.wasmFunc
	nextTransition, weight, numWritten := wasm.Local[int32](wasmFunc), wasm.Local[float64](wasmFunc), wasm.Local[int32](wasmFunc)
	nextTransition.Set(wasmFunc, output.start.Add(constI32(8))) // behind the header
	numWritten.Set(wasmFunc, constI32(0))
	for _, alternative := range alternatives {
		weight.Set(wasmFunc, g.weight(&g.moves[output.move], alternative.updates))
		values := output.differingValues(alternative)
		if g.allConstantsInRange(values) { // an unneeded write is cheaper than a jump
			g.writeTransition(nextTransition, 0, weight, output.base, values)
			g.countIfPositive(weight, numWritten, nextTransition)
			continue
		}
		wasmFunc.If(weight.Gt(constF64(0)), func() {
			g.emitInScope(func() { g.writeTransition(nextTransition, 0, weight, output.base, values) })
			g.countIfPositive(weight, numWritten, nextTransition)
		})
	}
	header := wasm.ExtendU(numWritten).Shl(32).Or(constI64(int64(output.move)))
	wasm.Store(wasmFunc, output.start, 0, header)
	g.nextOutput.Set(wasmFunc, nextTransition)
}

// countIfPositive emits code that counts a written transition if its weight is positive. The next transition overwrites a transition of
// weight zero.
func (g *expandGenerator) countIfPositive(weight wasm.Var[float64], numWritten, next wasm.Var[int32]) {
	positive := wasm.InLocal(g.wasmFunc, weight.Gt(constF64(0)))
	numWritten.Set(g.wasmFunc, numWritten.Add(positive))
	next.Set(g.wasmFunc, next.Add(positive.Mul(constI32(g.transitionSize()))))
}

// allConstantsInRange reports whether all values are constants within the ranges of their variables.
func (g *expandGenerator) allConstantsInRange(values map[int]*term) bool {
	for slot, term := range values {
		if !term.isConst() || !g.isCertainlyInRange(term, slot) {
			return false
		}
	}
	return true
}

// ownModule returns the module of a single unlabelled command; -1 for other choices.
func ownModule(action int, commands []*command) int {
	if action == sema.Unlabelled && len(commands) == 1 && commands[0].source.Action == sema.Unlabelled {
		return commands[0].module
	}
	return -1
}
