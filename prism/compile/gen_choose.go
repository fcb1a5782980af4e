package compile

import (
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// evaluateFailing emits code that evaluates the guards whose evaluation may fail, and keeps their values in locals for the decision
// tree. The tree would skip some guards, but a failure must not be missed: the interpreter evaluates all guards in every state.
func (p *moveGenerator) evaluateFailing() {
	for _, command := range p.model.commands {
		guard := p.conditionTerm(command.source.Guard)
		if !guard.mayFail {
			continue
		}
		p.fn.Drop(wasm.Expr[int32](func(*wasm.Func) {
			if _, kept := p.computedTerms[guard]; kept || guard.isConst() || p.uses[guard] > 1 {
				p.emitTerm(guard)
			} else {
				p.keepInLocal(guard, func(*wasm.Func) { p.emitTerm(guard) })
			}
		}))
	}
}

// emitChoiceOfMove emits the decision tree, which jumps to the label of the picked move, and then the code of each move. A label of
// WebAssembly names the end of a block, so the code of a move follows the end of its block.
func (p *pathGenerator) emitChoiceOfMove() {
	tree := p.buildTree()
	p.countTreeUses(tree)
	p.moveLabels = make([]wasm.Label, len(p.moves))
	for i := len(p.moves) - 1; i >= 0; i-- {
		p.moveLabels[i] = p.fn.Open()
	}
	p.scoped(func() { p.emitTree(tree) })
	for i := range p.moves {
		p.fn.End()
		p.scoped(func() { p.emitMove(&p.moves[i]) })
		p.fn.Br(p.nextStep)
	}
}

// buildTree builds the decision tree for all moves.
func (p *moveGenerator) buildTree() *decisionTree {
	treeBuilder := &treeBuilder{builder: p.builder, growth: 4*len(p.moves) + 64}
	candidates := make([]candidate, len(p.moves))
	for i, move := range p.moves {
		candidates[i] = candidate{i, move.guard}
	}
	return treeBuilder.build(candidates, p.facts)
}

// countTreeUses counts the uses of all terms in a decision tree.
func (p *moveGenerator) countTreeUses(tree *decisionTree) {
	if tree.test != nil {
		p.countUses(tree.test)
	}
	for _, candidate := range tree.moves {
		for _, conjunct := range candidate.guard {
			p.countUses(conjunct)
		}
	}
	for _, child := range tree.next {
		p.countTreeUses(child)
	}
}

// emitTree emits a decision tree. Every path through the code ends in a jump.
func (p *moveGenerator) emitTree(tree *decisionTree) {
	outer := p.facts
	p.facts = tree.facts
	defer func() { p.facts = outer }()
	switch {
	case tree.test != nil:
		p.fn.IfElse(wasm.Void, p.intCode(tree.test), p.emitSubtree(tree.next[0]), p.emitSubtree(tree.next[1]))
		p.fn.Op(wasm.Unreachable)
	case tree.next != nil:
		p.emitVariableSwitch(tree)
	default:
		p.emitLeaf(tree.moves)
	}
}

// emitSubtree returns a function that emits a subtree in its own scope.
func (p *moveGenerator) emitSubtree(tree *decisionTree) func() {
	return func() { p.scoped(func() { p.emitTree(tree) }) }
}

// emitVariableSwitch emits a branch to the subtree for the value of a variable: a jump table if most numbers between the smallest and
// the largest value have a subtree, otherwise a sequence of comparisons.
func (p *moveGenerator) emitVariableSwitch(tree *decisionTree) {
	numValues := len(tree.values)
	if first, last := tree.values[0], tree.values[numValues-1]; numValues > 2 && last-first < int64(2*numValues+8) {
		p.emitJumpTable(tree, first, last)
		return
	}
	for i, value := range tree.values {
		if i == len(tree.next)-1 { // no other value is left
			p.emitSubtree(tree.next[i])()
			return
		}
		p.fn.If(p.slots[tree.slot].Eq(constI32(value)), p.emitSubtree(tree.next[i]))
	}
	p.emitSubtree(tree.next[numValues])()
}

// emitJumpTable emits a jump table for the values from first to last.
func (p *moveGenerator) emitJumpTable(tree *decisionTree, first, last int64) {
	labels := make([]wasm.Label, len(tree.next))
	for i := range labels {
		labels[len(labels)-1-i] = p.fn.Open()
	}
	otherwise := labels[len(labels)-1]
	table := make([]wasm.Label, last-first+1)
	for i := range table {
		table[i] = otherwise
	}
	for i, value := range tree.values {
		table[value-first] = labels[i]
	}
	p.fn.BrTable(p.slots[tree.slot].Sub(constI32(first)), table, otherwise)
	for i := range labels {
		p.fn.End()
		p.emitSubtree(tree.next[i])()
	}
	p.fn.Op(wasm.Unreachable)
}

// decideLeaf emits the code for a leaf of the decision tree: it finds which moves of the leaf are enabled and picks one of them.
func (p *pathGenerator) decideLeaf(moves []candidate) {
	switch {
	case len(moves) == 0:
		p.fn.Br(p.deadlockLabel)
	case len(moves) == 1:
		for _, conjunct := range moves[0].guard {
			p.jumpIf(conjunct, false, p.deadlockLabel)
		}
		p.numChoices.Set(p.fn, constI32(1))
		p.checkWeights(moves, nil)
		p.leaveIfOutOfBudget()
		p.pickMove(moves, nil)
	default:
		bits := p.evaluateGuards(moves)
		p.countChoices(moves, bits)
		p.checkWeights(moves, bits)
		p.leaveIfOutOfBudget()
		p.pickMove(moves, bits)
	}
}

// leaveIfOutOfBudget emits a jump out of the loop if the step budget is used up.
func (p *pathGenerator) leaveIfOutOfBudget() { p.fn.BrIf(p.outOfBudget, p.steps.Ge(p.maxSteps)) }

// bitset says which moves of a leaf are enabled. It has an i64 local for each 64 moves; bit i%64 of local i/64 stands for move i. nil
// means that all moves are enabled.
type bitset []wasm.Var[int64]

// evaluateGuards emits code that evaluates the conjuncts of the guards that the decision tree has not decided. It returns the locals that will have
// a bit for each enabled move; nil if all moves are certainly enabled.
func (p *moveGenerator) evaluateGuards(moves []candidate) bitset {
	if !slices.ContainsFunc(moves, func(candidate candidate) bool { return len(candidate.guard) > 0 }) {
		return nil
	}
	moves, gate := p.buildTables(moves)
	alwaysEnabled := make([]int64, (len(moves)+63)/64)
	var undecided []int
	for i, candidate := range moves {
		if len(candidate.guard) == 0 {
			alwaysEnabled[i/64] |= 1 << (i % 64)
		} else {
			undecided = append(undecided, i)
		}
	}
	bits := make(bitset, len(alwaysEnabled))
	for i, word := range alwaysEnabled {
		for len(p.bitsetLocals) <= i {
			p.bitsetLocals = append(p.bitsetLocals, wasm.Local[int64](p.fn))
		}
		bits[i] = p.bitsetLocals[i]
		bits[i].Set(p.fn, constI64(word))
	}
	p.setBits(moves, undecided, bits, gate)
	for i := range gate {
		bits[i].Set(p.fn, bits[i].And(gate[i]))
	}
	return bits
}

// setBits emits code that sets the bits of enabled moves among the undecided ones. Moves that test for the same value of a variable
// are evaluated together, under one test.
func (p *moveGenerator) setBits(moves []candidate, undecided []int, bits, gate bitset) {
	for len(undecided) > 0 {
		slot, value, same, others := sharedValue(moves, undecided)
		if len(same) < 2 {
			break
		}
		p.fn.If(p.slots[slot].Eq(constI32(value)), func() {
			p.scoped(func() { p.setBits(withoutTest(moves, same, slot, value), same, bits, gate) })
		})
		undecided = others
	}
	for _, i := range undecided {
		p.setBit(moves[i].guard, i, bits, gate)
	}
}

// sharedValue returns the test variable=value that occurs in most guards of the undecided moves, as the slot of the variable and the
// value. same and others are the indices of the undecided moves with this test and without it.
func sharedValue(moves []candidate, undecided []int) (slot int, value int64, same, others []int) {
	slot, value = mostFrequentTest(moves, undecided)
	for _, i := range undecided {
		if testsFor(moves[i], slot, value) {
			same = append(same, i)
		} else {
			others = append(others, i)
		}
	}
	return slot, value, same, others
}

// mostFrequentTest returns the test variable=value that occurs in most guards of the undecided moves; the slot is -1 if there is no
// such test.
func mostFrequentTest(moves []candidate, undecided []int) (slot int, value int64) {
	type test struct {
		slot  int
		value int64
	}
	count := map[test]int{}
	best := test{-1, 0}
	for _, i := range undecided {
		for _, term := range moves[i].guard {
			slot, value, ok := variableValueOf(term)
			if !ok {
				continue
			}
			found := test{slot, value}
			count[found]++
			if best.slot < 0 || count[found] > count[best] {
				best = found
			}
		}
	}
	return best.slot, best.value
}

// testsFor reports whether the guard of a candidate contains the test that the variable in a slot has a value.
func testsFor(candidate candidate, slot int, value int64) bool {
	for _, term := range candidate.guard {
		if testedSlot, testedValue, ok := variableValueOf(term); ok && testedSlot == slot && testedValue == value {
			return true
		}
	}
	return false
}

// withoutTest returns a copy of the moves in which the guards of the moves with the indices in changed no longer test whether the
// variable in a slot has a value. The caller has emitted this test.
func withoutTest(moves []candidate, changed []int, slot int, value int64) []candidate {
	result := append([]candidate(nil), moves...)
	for _, i := range changed {
		var guard []*term
		for _, term := range moves[i].guard {
			if testedSlot, testedValue, ok := variableValueOf(term); !ok || testedSlot != slot || testedValue != value {
				guard = append(guard, term)
			}
		}
		result[i].guard = guard
	}
	return result
}

// setBit emits code that sets bit i of bits if all conjuncts of a guard hold. An expensive guard is evaluated only if bit i of the
// gate is set; a nil gate has all bits set.
func (p *moveGenerator) setBit(guard []*term, i int, bits, gate bitset) {
	word, bit := bits[i/64], int64(i%64)
	failing := slices.ContainsFunc(guard, func(term *term) bool { return term.mayFail })
	switch {
	case failing || p.costOf(chunkCost+1, guard...) > chunkCost:
		p.scoped(func() {
			p.fn.Block(func(out wasm.Label) {
				if gate != nil {
					p.fn.BrIf(out, gate[i/64].And(constI64(1<<bit)).IsZero())
				}
				for _, term := range guard {
					p.jumpIf(term, false, out)
				}
				word.Set(p.fn, word.Or(constI64(1<<bit)))
			})
		})
	case len(guard) == 0:
		word.Set(p.fn, word.Or(constI64(1<<bit)))
	default:
		word.Set(p.fn, word.Or(wasm.ExtendU(p.evaluateAll(opAnd, guard)).Shl(bit)))
	}
}

// countChoices emits code that sets numChoices to the number of enabled moves, and jumps to deadlockLabel if none is enabled. bits has
// a bit for each enabled move; nil means that all moves are enabled.
func (p *pathGenerator) countChoices(moves []candidate, bits bitset) {
	if bits == nil {
		p.numChoices.Set(p.fn, constI32(len(moves)))
		return
	}
	sum := popcount(bits[0])
	for _, word := range bits[1:] {
		sum = sum.Add(popcount(word))
	}
	p.fn.BrIf(p.deadlockLabel, p.numChoices.Tee(wasm.Wrap(sum)).IsZero())
}

// popcount emits the number of bits that are set in a word.
func popcount(word wasm.Var[int64]) wasm.Expr[int64] {
	return wasm.Convert[int64](wasm.I64Popcnt, word)
}

// anyEnabled returns code that tests whether some enabled move satisfies a predicate. bits has a bit for each move that is enabled;
// nil means that all are. If the answer is the same in every state, cond is nil and always is the answer.
func (p *pathGenerator) anyEnabled(moves []candidate, bits bitset, satisfies func(*moveSpec) bool) (cond wasm.Expr[int32], always bool) {
	masks := make([]int64, len(bits))
	for i, candidate := range moves {
		if !satisfies(&p.moves[candidate.move]) {
			continue
		}
		if bits == nil {
			return nil, true
		}
		masks[i/64] |= 1 << (i % 64)
	}
	var found wasm.Expr[int64]
	for i, mask := range masks {
		if mask == 0 {
			continue
		}
		part := bits[i].And(constI64(mask))
		if found != nil {
			part = found.Or(part)
		}
		found = part
	}
	if found == nil {
		return nil, false
	}
	return found.Ne(constI64(0)), false
}

// checkWeights emits code that computes and checks the weights of every command in an enabled move. Constant weights were checked when
// the code was generated. bits has a bit for each enabled move; nil means that all moves are enabled.
func (p *pathGenerator) checkWeights(moves []candidate, bits bitset) {
	for _, command := range p.model.commands {
		if p.constantWeights[command] != nil {
			continue
		}
		cond, always := p.anyEnabled(moves, bits, func(move *moveSpec) bool { return slices.Contains(move.commands, command) })
		switch {
		case always:
			p.computeWeights(command)
		case cond != nil:
			p.fn.If(cond, func() { p.scoped(func() { p.computeWeights(command) }) })
		}
	}
}

// computeWeights emits code that stores the weights of a command's updates in locals and checks them, as expander.evaluateWeights
// does. The code gives up on weights that are not valid.
func (p *moveGenerator) computeWeights(command *command) {
	fn := p.fn
	if p.hasInvalidWeights(command) {
		fn.Br(p.giveUp)
		return
	}
	sum, smallest := wasm.Local[float64](fn), wasm.Local[float64](fn)
	sum.Set(fn, constF64(0))
	smallest.Set(fn, constF64(0))
	probabilities := make([]*term, len(command.updates))
	for i := range command.updates {
		probabilities[i] = p.facts.simplify(p.probabilityTerm(command, i))
		p.countUses(probabilities[i])
	}
	p.evaluateArms(probabilities)
	for i, term := range probabilities {
		weight := p.weights[command][i]
		sum.Set(fn, weight.Tee(p.floatCode(term)).Add(sum))
		if term.maybeNaN || term.floatLow < 0 {
			smallest.Set(fn, smallest.Min(weight))
		}
	}
	p.checkSum(sum, smallest)
}

// evaluateArms emits code that evaluates in advance the results of ?: that several probabilities have in common, such as p/n in
// (x=0 ? p/n : 0) and (y=0 ? p/n : 0).
func (p *moveGenerator) evaluateArms(probabilities []*term) {
	seen := map[*term]bool{}
	for _, term := range probabilities {
		if term.op != opIfThenElse {
			continue
		}
		for _, arm := range term.operands[1:] {
			_, isComputed := p.computedTerms[arm]
			if seen[arm] && !isComputed && !arm.mayFail && arm.cost > 0 {
				p.fn.Drop(p.floatCode(arm)) // a term with several uses is kept in a local
			}
			seen[arm] = true
		}
	}
}

// checkSum emits code that gives up if the smallest weight is negative, or the sum of the weights is not valid: it must be 1 for
// probabilities, and positive and finite for rates. A finite sum implies that every weight is finite.
func (p *moveGenerator) checkSum(sum, smallest wasm.Var[float64]) {
	valid := smallest.Ge(constF64(0))
	if p.model.continuous() {
		valid = valid.And(sum.Gt(constF64(0)).And(sum.Le(constF64(math.MaxFloat64))))
	} else {
		deviation := wasm.Local[float64](p.fn)
		valid = valid.And(deviation.Tee(sum.Sub(constF64(1)).Div(sum)).Lt(constF64(SumTolerance)).And(deviation.Gt(constF64(-SumTolerance))))
	}
	p.fn.BrIf(p.giveUp, valid.IsZero())
}

// probabilityTerm returns the term of the probability or rate of update i of a command.
func (p *moveGenerator) probabilityTerm(command *command, i int) *term {
	if expr := command.source.Updates[i].Prob; expr != nil {
		return p.builder.floatExpr(expr)
	}
	return p.graph.floatConst(1)
}

// pickMove emits code that picks one of the enabled moves and jumps to its code. bits has a bit for each enabled move; nil means that
// all moves are enabled.
func (p *pathGenerator) pickMove(moves []candidate, bits bitset) {
	switch {
	case p.model.continuous():
		p.raceByRate(moves, bits)
	case len(moves) == 1:
		p.fn.Br(p.moveLabels[moves[0].move])
	case bits == nil:
		p.countNondeterminism()
		p.drawBelow()
		p.jumpTo(moves, p.pickedIndex)
	default:
		p.pickEnabledMove(moves, bits)
	}
}

// countNondeterminism counts a state in which several moves are enabled.
func (p *pathGenerator) countNondeterminism() { p.nondet.Set(p.fn, p.nondet.Add(constI64(1))) }

// jumpTo emits a jump to the code of the move with the given index.
func (p *pathGenerator) jumpTo(moves []candidate, index wasm.Operand[int32]) {
	labels := make([]wasm.Label, len(moves))
	for i, candidate := range moves {
		labels[i] = p.moveLabels[candidate.move]
	}
	p.fn.BrTable(index, labels, labels[len(labels)-1])
}

// pickEnabledMove emits code that draws a number k below the number of enabled moves and jumps to the k-th enabled move. It draws
// nothing if only one move is enabled.
func (p *pathGenerator) pickEnabledMove(moves []candidate, bits bitset) {
	fn := p.fn
	p.pickedIndex.Set(fn, constI32(0))
	fn.If(p.numChoices.Ne(constI32(1)), func() {
		p.countNondeterminism()
		p.drawBelow()
	})
	for i, word := range bits {
		part := moves[i*64 : min(i*64+64, len(moves))]
		if i == len(bits)-1 {
			p.jumpToRank(part, word)
			return
		}
		numEnabled := wasm.Local[int32](fn)
		fn.If(p.pickedIndex.LtU(numEnabled.Tee(wasm.Wrap(popcount(word)))), func() { p.jumpToRank(part, word) })
		p.pickedIndex.Set(fn, p.pickedIndex.Sub(numEnabled))
	}
}

// jumpToRank emits a jump to the k-th enabled move of one word of the bitset, where k is the value of pickedIndex, counted from 0. The
// code clears the lowest k bits of the word, so that the lowest bit left is the move.
func (p *pathGenerator) jumpToRank(moves []candidate, word wasm.Var[int64]) {
	fn := p.fn
	fn.Block(func(done wasm.Label) {
		fn.Loop(func(again wasm.Label) {
			fn.BrIf(done, p.pickedIndex.IsZero())
			word.Set(fn, withoutLowestBit(word))
			p.pickedIndex.Set(fn, p.pickedIndex.Sub(constI32(1)))
			fn.Br(again)
		})
	})
	p.jumpTo(moves, lowestBit(word))
}

// lowestBit emits the index of the lowest bit that is set.
func lowestBit(word wasm.Var[int64]) wasm.Expr[int32] {
	return wasm.Wrap(wasm.Convert[int64](wasm.I64Ctz, word))
}

// withoutLowestBit emits the word without its lowest bit that is set.
func withoutLowestBit(word wasm.Var[int64]) wasm.Expr[int64] { return word.And(word.Sub(constI64(1))) }

// raceByRate emits code that picks a move of a CTMC, as interpreter.pickByRate does. The code sets totalExitRate to the sum of the
// rates of all enabled moves. If several moves are enabled, it draws one with probability proportional to its rate, and leaves in
// remainder the number that selects its updates.
func (p *pathGenerator) raceByRate(moves []candidate, bits bitset) {
	fn := p.fn
	totals := make([]wasm.Var[float64], len(moves))
	p.totalExitRate.Set(fn, constF64(0))
	for i, candidate := range moves {
		totals[i] = wasm.Local[float64](fn)
		p.ifEnabled(i, bits, func() {
			p.totalExitRate.Set(fn, totals[i].Tee(p.totalRate(&p.moves[candidate.move])).Add(p.totalExitRate))
		})
	}
	fn.BrIf(p.giveUp, p.totalExitRate.Le(constF64(math.MaxFloat64)).IsZero())
	if len(moves) == 1 {
		fn.Br(p.moveLabels[moves[0].move])
		return
	}
	fn.If(p.numChoices.Ne(constI32(1)), func() { p.remainder.Set(fn, p.drawUnit().Mul(p.totalExitRate)) })
	for i, candidate := range moves {
		p.ifEnabled(i, bits, func() { p.jumpIfSelected(candidate.move, i, totals[i]) })
	}
	p.remainder.Set(fn, constF64(math.Inf(1))) // rounding can make this necessary: take the last enabled move
	p.jumpTo(moves, p.pickedIndex)
}

// jumpIfSelected jumps to a move if remainder is below its total rate, or if it is the only enabled move. Otherwise it subtracts the
// rate from remainder.
func (p *pathGenerator) jumpIfSelected(move, index int, total wasm.Var[float64]) {
	p.fn.BrIf(p.moveLabels[move], p.remainder.Lt(total).Or(p.numChoices.Eq(constI32(1))))
	p.remainder.Set(p.fn, p.remainder.Sub(total))
	p.pickedIndex.Set(p.fn, constI32(index))
}

// ifEnabled emits code that runs only if move i is enabled.
func (p *pathGenerator) ifEnabled(i int, bits bitset, emit func()) {
	if bits == nil {
		emit()
		return
	}
	p.fn.If(isSet(bits[i/64], i%64), func() { p.scoped(emit) })
}

// isSet emits whether a bit of a word is set.
func isSet(word wasm.Var[int64], bit int) wasm.Expr[int32] {
	return word.And(constI64(1 << bit)).IsZero().IsZero()
}
