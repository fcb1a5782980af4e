package compile

import (
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// evaluateFailing emits code that evaluates the guards whose evaluation may fail, and keeps their values in locals for the decision
// tree. The tree would skip some guards, but a failure must not be missed: the interpreter evaluates all guards in every state.
func (g *moveGenerator) evaluateFailing() {
	for _, command := range g.model.commands {
		guard := g.conditionTerm(command.source.Guard)
		if !guard.mayFail {
			continue
		}
		g.fn.Drop(wasm.Expr[int32](func(*wasm.Func) {
			if _, kept := g.computedTerms[guard]; kept || guard.isConst() || g.uses[guard] > 1 {
				g.emitTerm(guard)
			} else {
				g.keepInLocal(guard, func(*wasm.Func) { g.emitTerm(guard) })
			}
		}))
	}
}

// emitChoiceOfMove emits the decision tree, which jumps to the label of the picked move, and then the code of each move. A label of
// WebAssembly names the end of a block, so the code of a move follows the end of its block.
func (g *pathGenerator) emitChoiceOfMove() {
	tree := g.buildTree()
	g.countTreeUses(tree)
	g.moveLabels = make([]wasm.Label, len(g.moves))
	for i := len(g.moves) - 1; i >= 0; i-- {
		g.moveLabels[i] = g.fn.Open()
	}
	g.scoped(func() { g.emitTree(tree) })
	for i := range g.moves {
		g.fn.End()
		g.scoped(func() { g.emitMove(&g.moves[i]) })
		g.fn.Br(g.nextStep)
	}
}

// buildTree builds the decision tree for all moves.
func (g *moveGenerator) buildTree() *decisionTree {
	treeBuilder := &treeBuilder{builder: g.builder, growth: 4*len(g.moves) + 64}
	candidates := make([]candidate, len(g.moves))
	for i, move := range g.moves {
		candidates[i] = candidate{i, move.guard}
	}
	return treeBuilder.build(candidates, g.facts)
}

// countTreeUses counts the uses of all terms in a decision tree.
func (g *moveGenerator) countTreeUses(tree *decisionTree) {
	if tree.test != nil {
		g.countUses(tree.test)
	}
	for _, candidate := range tree.moves {
		for _, conjunct := range candidate.guard {
			g.countUses(conjunct)
		}
	}
	for _, child := range tree.next {
		g.countTreeUses(child)
	}
}

// emitTree emits a decision tree. Every path through the code ends in a jump.
func (g *moveGenerator) emitTree(tree *decisionTree) {
	outer := g.facts
	g.facts = tree.facts
	defer func() { g.facts = outer }()
	switch {
	case tree.test != nil:
		g.fn.IfElse(wasm.Void, g.intCode(tree.test), g.emitSubtree(tree.next[0]), g.emitSubtree(tree.next[1]))
		g.fn.Op(wasm.Unreachable)
	case tree.next != nil:
		g.emitVariableSwitch(tree)
	default:
		g.emitLeaf(tree.moves)
	}
}

// emitSubtree returns a function that emits a subtree in its own scope.
func (g *moveGenerator) emitSubtree(tree *decisionTree) func() {
	return func() { g.scoped(func() { g.emitTree(tree) }) }
}

// emitVariableSwitch emits a branch to the subtree for the value of a variable: a jump table if most numbers between the smallest and
// the largest value have a subtree, otherwise a sequence of comparisons.
func (g *moveGenerator) emitVariableSwitch(tree *decisionTree) {
	numValues := len(tree.values)
	if first, last := tree.values[0], tree.values[numValues-1]; numValues > 2 && last-first < int64(2*numValues+8) {
		g.emitJumpTable(tree, first, last)
		return
	}
	for i, value := range tree.values {
		if i == len(tree.next)-1 { // no other value is left
			g.emitSubtree(tree.next[i])()
			return
		}
		g.fn.If(g.slots[tree.slot].Eq(constI32(value)), g.emitSubtree(tree.next[i]))
	}
	g.emitSubtree(tree.next[numValues])()
}

// emitJumpTable emits a jump table for the values from first to last.
func (g *moveGenerator) emitJumpTable(tree *decisionTree, first, last int64) {
	labels := make([]wasm.Label, len(tree.next))
	for i := range labels {
		labels[len(labels)-1-i] = g.fn.Open()
	}
	otherwise := labels[len(labels)-1]
	table := make([]wasm.Label, last-first+1)
	for i := range table {
		table[i] = otherwise
	}
	for i, value := range tree.values {
		table[value-first] = labels[i]
	}
	g.fn.BrTable(g.slots[tree.slot].Sub(constI32(first)), table, otherwise)
	for i := range labels {
		g.fn.End()
		g.emitSubtree(tree.next[i])()
	}
	g.fn.Op(wasm.Unreachable)
}

// decideLeaf emits the code for a leaf of the decision tree: it finds which moves of the leaf are enabled and picks one of them.
func (g *pathGenerator) decideLeaf(moves []candidate) {
	switch {
	case len(moves) == 0:
		g.fn.Br(g.deadlockLabel)
	case len(moves) == 1:
		for _, conjunct := range moves[0].guard {
			g.jumpIf(conjunct, false, g.deadlockLabel)
		}
		g.numChoices.Set(g.fn, constI32(1))
		g.checkWeights(moves, nil)
		g.leaveIfOutOfBudget()
		g.pickMove(moves, nil)
	default:
		bits := g.evaluateGuards(moves)
		g.countChoices(moves, bits)
		g.checkWeights(moves, bits)
		g.leaveIfOutOfBudget()
		g.pickMove(moves, bits)
	}
}

// leaveIfOutOfBudget emits a jump out of the loop if the step budget is used up.
func (g *pathGenerator) leaveIfOutOfBudget() { g.fn.BrIf(g.outOfBudget, g.steps.Ge(g.maxSteps)) }

// bitset says which moves of a leaf are enabled. It has an i64 local for each 64 moves; bit i%64 of local i/64 stands for move i. nil
// means that all moves are enabled.
type bitset []wasm.Var[int64]

// evaluateGuards emits code that evaluates the conjuncts of the guards that the decision tree has not decided. It returns the locals that will have
// a bit for each enabled move; nil if all moves are certainly enabled.
func (g *moveGenerator) evaluateGuards(moves []candidate) bitset {
	if !slices.ContainsFunc(moves, func(candidate candidate) bool { return len(candidate.guard) > 0 }) {
		return nil
	}
	moves, gate := g.buildTables(moves)
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
		for len(g.bitsetLocals) <= i {
			g.bitsetLocals = append(g.bitsetLocals, wasm.Local[int64](g.fn))
		}
		bits[i] = g.bitsetLocals[i]
		bits[i].Set(g.fn, constI64(word))
	}
	g.setBits(moves, undecided, bits, gate)
	for i := range gate {
		bits[i].Set(g.fn, bits[i].And(gate[i]))
	}
	return bits
}

// setBits emits code that sets the bits of enabled moves among the undecided ones. Moves that test for the same value of a variable
// are evaluated together, under one test.
func (g *moveGenerator) setBits(moves []candidate, undecided []int, bits, gate bitset) {
	for len(undecided) > 0 {
		slot, value, same, others := sharedValue(moves, undecided)
		if len(same) < 2 {
			break
		}
		g.fn.If(g.slots[slot].Eq(constI32(value)), func() {
			g.scoped(func() { g.setBits(withoutTest(moves, same, slot, value), same, bits, gate) })
		})
		undecided = others
	}
	for _, i := range undecided {
		g.setBit(moves[i].guard, i, bits, gate)
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
func (g *moveGenerator) setBit(guard []*term, i int, bits, gate bitset) {
	word, bit := bits[i/64], int64(i%64)
	failing := slices.ContainsFunc(guard, func(term *term) bool { return term.mayFail })
	switch {
	case failing || g.costOf(chunkCost+1, guard...) > chunkCost:
		g.scoped(func() {
			g.fn.Block(func(out wasm.Label) {
				if gate != nil {
					g.fn.BrIf(out, gate[i/64].And(constI64(1<<bit)).IsZero())
				}
				for _, term := range guard {
					g.jumpIf(term, false, out)
				}
				word.Set(g.fn, word.Or(constI64(1<<bit)))
			})
		})
	case len(guard) == 0:
		word.Set(g.fn, word.Or(constI64(1<<bit)))
	default:
		word.Set(g.fn, word.Or(wasm.ExtendU(g.evaluateAll(opAnd, guard)).Shl(bit)))
	}
}

// countChoices emits code that sets numChoices to the number of enabled moves, and jumps to deadlockLabel if none is enabled. bits has
// a bit for each enabled move; nil means that all moves are enabled.
func (g *pathGenerator) countChoices(moves []candidate, bits bitset) {
	if bits == nil {
		g.numChoices.Set(g.fn, constI32(len(moves)))
		return
	}
	sum := popcount(bits[0])
	for _, word := range bits[1:] {
		sum = sum.Add(popcount(word))
	}
	g.fn.BrIf(g.deadlockLabel, g.numChoices.Tee(wasm.Wrap(sum)).IsZero())
}

// popcount emits the number of bits that are set in a word.
func popcount(word wasm.Var[int64]) wasm.Expr[int64] {
	return wasm.Convert[int64](wasm.I64Popcnt, word)
}

// anyEnabled returns code that tests whether some enabled move satisfies a predicate. bits has a bit for each move that is enabled;
// nil means that all are. If the answer is the same in every state, cond is nil and always is the answer.
func (g *pathGenerator) anyEnabled(moves []candidate, bits bitset, satisfies func(*moveSpec) bool) (cond wasm.Expr[int32], always bool) {
	masks := make([]int64, len(bits))
	for i, candidate := range moves {
		if !satisfies(&g.moves[candidate.move]) {
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
func (g *pathGenerator) checkWeights(moves []candidate, bits bitset) {
	for _, command := range g.model.commands {
		if g.constantWeights[command] != nil {
			continue
		}
		cond, always := g.anyEnabled(moves, bits, func(move *moveSpec) bool { return slices.Contains(move.commands, command) })
		switch {
		case always:
			g.computeWeights(command)
		case cond != nil:
			g.fn.If(cond, func() { g.scoped(func() { g.computeWeights(command) }) })
		}
	}
}

// computeWeights emits code that stores the weights of a command's updates in locals and checks them, as expander.evaluateWeights
// does. The code gives up on weights that are not valid.
func (g *moveGenerator) computeWeights(command *command) {
	fn := g.fn
	if g.hasInvalidWeights(command) {
		fn.Br(g.giveUp)
		return
	}
	sum, smallest := wasm.Local[float64](fn), wasm.Local[float64](fn)
	sum.Set(fn, constF64(0))
	smallest.Set(fn, constF64(0))
	probabilities := make([]*term, len(command.updates))
	for i := range command.updates {
		probabilities[i] = g.facts.simplify(g.probabilityTerm(command, i))
		g.countUses(probabilities[i])
	}
	g.evaluateArms(probabilities)
	for i, term := range probabilities {
		weight := g.weights[command][i]
		sum.Set(fn, weight.Tee(g.floatCode(term)).Add(sum))
		if term.maybeNaN || term.floatLow < 0 {
			smallest.Set(fn, smallest.Min(weight))
		}
	}
	g.checkSum(sum, smallest)
}

// evaluateArms emits code that evaluates in advance the results of ?: that several probabilities have in common, such as p/n in
// (x=0 ? p/n : 0) and (y=0 ? p/n : 0).
func (g *moveGenerator) evaluateArms(probabilities []*term) {
	seen := map[*term]bool{}
	for _, term := range probabilities {
		if term.op != opIfThenElse {
			continue
		}
		for _, arm := range term.operands[1:] {
			_, isComputed := g.computedTerms[arm]
			if seen[arm] && !isComputed && !arm.mayFail && arm.cost > 0 {
				g.fn.Drop(g.floatCode(arm)) // a term with several uses is kept in a local
			}
			seen[arm] = true
		}
	}
}

// checkSum emits code that gives up if the smallest weight is negative, or the sum of the weights is not valid: it must be 1 for
// probabilities, and positive and finite for rates. A finite sum implies that every weight is finite.
func (g *moveGenerator) checkSum(sum, smallest wasm.Var[float64]) {
	valid := smallest.Ge(constF64(0))
	if g.model.continuous() {
		valid = valid.And(sum.Gt(constF64(0)).And(sum.Le(constF64(math.MaxFloat64))))
	} else {
		deviation := wasm.Local[float64](g.fn)
		valid = valid.And(deviation.Tee(sum.Sub(constF64(1)).Div(sum)).Lt(constF64(SumTolerance)).And(deviation.Gt(constF64(-SumTolerance))))
	}
	g.fn.BrIf(g.giveUp, valid.IsZero())
}

// probabilityTerm returns the term of the probability or rate of update i of a command.
func (g *moveGenerator) probabilityTerm(command *command, i int) *term {
	if expr := command.source.Updates[i].Prob; expr != nil {
		return g.builder.floatExpr(expr)
	}
	return g.graph.floatConst(1)
}

// pickMove emits code that picks one of the enabled moves and jumps to its code. bits has a bit for each enabled move; nil means that
// all moves are enabled.
func (g *pathGenerator) pickMove(moves []candidate, bits bitset) {
	switch {
	case g.model.continuous():
		g.raceByRate(moves, bits)
	case len(moves) == 1:
		g.fn.Br(g.moveLabels[moves[0].move])
	case bits == nil:
		g.countNondeterminism()
		g.drawBelow()
		g.jumpTo(moves, g.pickedIndex)
	default:
		g.pickEnabledMove(moves, bits)
	}
}

// countNondeterminism counts a state in which several moves are enabled.
func (g *pathGenerator) countNondeterminism() { g.nondet.Set(g.fn, g.nondet.Add(constI64(1))) }

// jumpTo emits a jump to the code of the move with the given index.
func (g *pathGenerator) jumpTo(moves []candidate, index wasm.Operand[int32]) {
	labels := make([]wasm.Label, len(moves))
	for i, candidate := range moves {
		labels[i] = g.moveLabels[candidate.move]
	}
	g.fn.BrTable(index, labels, labels[len(labels)-1])
}

// pickEnabledMove emits code that draws a number k below the number of enabled moves and jumps to the k-th enabled move. It draws
// nothing if only one move is enabled.
func (g *pathGenerator) pickEnabledMove(moves []candidate, bits bitset) {
	fn := g.fn
	g.pickedIndex.Set(fn, constI32(0))
	fn.If(g.numChoices.Ne(constI32(1)), func() {
		g.countNondeterminism()
		g.drawBelow()
	})
	for i, word := range bits {
		part := moves[i*64 : min(i*64+64, len(moves))]
		if i == len(bits)-1 {
			g.jumpToRank(part, word)
			return
		}
		numEnabled := wasm.Local[int32](fn)
		fn.If(g.pickedIndex.LtU(numEnabled.Tee(wasm.Wrap(popcount(word)))), func() { g.jumpToRank(part, word) })
		g.pickedIndex.Set(fn, g.pickedIndex.Sub(numEnabled))
	}
}

// jumpToRank emits a jump to the k-th enabled move of one word of the bitset, where k is the value of pickedIndex, counted from 0. The
// code clears the lowest k bits of the word, so that the lowest bit left is the move.
func (g *pathGenerator) jumpToRank(moves []candidate, word wasm.Var[int64]) {
	fn := g.fn
	fn.Block(func(done wasm.Label) {
		fn.Loop(func(again wasm.Label) {
			fn.BrIf(done, g.pickedIndex.IsZero())
			word.Set(fn, withoutLowestBit(word))
			g.pickedIndex.Set(fn, g.pickedIndex.Sub(constI32(1)))
			fn.Br(again)
		})
	})
	g.jumpTo(moves, lowestBit(word))
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
func (g *pathGenerator) raceByRate(moves []candidate, bits bitset) {
	fn := g.fn
	totals := make([]wasm.Var[float64], len(moves))
	g.totalExitRate.Set(fn, constF64(0))
	for i, candidate := range moves {
		totals[i] = wasm.Local[float64](fn)
		g.ifEnabled(i, bits, func() {
			g.totalExitRate.Set(fn, totals[i].Tee(g.totalRate(&g.moves[candidate.move])).Add(g.totalExitRate))
		})
	}
	fn.BrIf(g.giveUp, g.totalExitRate.Le(constF64(math.MaxFloat64)).IsZero())
	if len(moves) == 1 {
		fn.Br(g.moveLabels[moves[0].move])
		return
	}
	fn.If(g.numChoices.Ne(constI32(1)), func() { g.remainder.Set(fn, g.drawUnit().Mul(g.totalExitRate)) })
	for i, candidate := range moves {
		g.ifEnabled(i, bits, func() { g.jumpIfSelected(candidate.move, i, totals[i]) })
	}
	g.remainder.Set(fn, constF64(math.Inf(1))) // rounding can make this necessary: take the last enabled move
	g.jumpTo(moves, g.pickedIndex)
}

// jumpIfSelected jumps to a move if remainder is below its total rate, or if it is the only enabled move. Otherwise it subtracts the
// rate from remainder.
func (g *pathGenerator) jumpIfSelected(move, index int, total wasm.Var[float64]) {
	g.fn.BrIf(g.moveLabels[move], g.remainder.Lt(total).Or(g.numChoices.Eq(constI32(1))))
	g.remainder.Set(g.fn, g.remainder.Sub(total))
	g.pickedIndex.Set(g.fn, constI32(index))
}

// ifEnabled emits code that runs only if move i is enabled.
func (g *pathGenerator) ifEnabled(i int, bits bitset, emit func()) {
	if bits == nil {
		emit()
		return
	}
	g.fn.If(isSet(bits[i/64], i%64), func() { g.scoped(emit) })
}

// isSet emits whether a bit of a word is set.
func isSet(word wasm.Var[int64], bit int) wasm.Expr[int32] {
	return word.And(constI64(1 << bit)).IsZero().IsZero()
}
