package compile

import (
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// evaluateFailingGuards emits code that evaluates all guards whose evaluation may fail, and keeps their values in locals. The decision tree could skip
// such a guard, and then its error would not be reported.
func (g *moveGenerator) evaluateFailingGuards() {
	for _, command := range g.model.commands {
		guard := g.conditionTerm(command.source.Guard)
		if !guard.mayFail {
			continue
		}
		_, isInLocal := g.computedTerms[guard]
		hasSingleUse := g.useCounts[guard] == 1 // intCode keeps only terms with several uses in a local
		evaluate := g.intCode(guard)
		if !isInLocal && !guard.isConst() && hasSingleUse {
			evaluate = func(*wasm.Func) { g.keepInLocal(guard, g.intCode(guard)) }
		}
		g.wasmFunc.Drop(evaluate)
	}
}

// emitChoiceOfMove emits the decision tree, and then the code of each move. The code of the tree picks a move and jumps to the code of this move.
func (g *pathGenerator) emitChoiceOfMove() {
	tree := g.buildTree()
	g.countTreeUses(tree)
	g.moveLabels = g.openLabels(len(g.moves))
	g.emitInScope(func() { g.emitTree(tree) })
	for i := range g.moves {
		g.wasmFunc.End() // the label of move i
		g.emitInScope(func() { g.emitMove(&g.moves[i]) })
		g.wasmFunc.Br(g.nextStepLabel)
	}
}

// buildTree returns the decision tree for all moves.
func (g *moveGenerator) buildTree() *decisionTree {
	treeBuilder := &treeBuilder{builder: g.builder, growth: 4*len(g.moves) + 64}
	candidates := make([]candidate, len(g.moves))
	for i, move := range g.moves {
		candidates[i] = candidate{i, move.conjuncts}
	}
	return treeBuilder.build(candidates, g.facts)
}

// countTreeUses counts the uses of all terms in a decision tree.
func (g *moveGenerator) countTreeUses(node *decisionTree) {
	if node.test != nil {
		g.countUses(node.test)
	}
	for _, candidate := range node.moves {
		for _, conjunct := range candidate.conjuncts {
			g.countUses(conjunct)
		}
	}
	for _, child := range node.children {
		g.countTreeUses(child)
	}
}

// emitTree emits the code of a decision tree. The code tests a condition, branches on the value of a variable, or picks a move. It always ends in
// a jump.
func (g *moveGenerator) emitTree(tree *decisionTree) {
	outerFacts := g.facts
	g.facts = tree.facts
	defer func() { g.facts = outerFacts }()
	isLeaf := tree.children == nil
	switch {
	case tree.test != nil:
		g.wasmFunc.IfElse(wasm.Void, g.intCode(tree.test), g.emitSubtree(tree.children[0]), g.emitSubtree(tree.children[1]))
		g.wasmFunc.Op(wasm.Unreachable)
	case !isLeaf:
		g.emitVariableSwitch(tree)
	default:
		g.emitLeaf(tree.moves)
	}
}

// emitSubtree returns a function that emits a subtree in its own scope.
func (g *moveGenerator) emitSubtree(tree *decisionTree) func() {
	return func() { g.emitInScope(func() { g.emitTree(tree) }) }
}

// emitVariableSwitch emits a branch on the value of a variable. If the values are close together, the branch is a jump table. Otherwise it is a
// sequence of comparisons.
func (g *moveGenerator) emitVariableSwitch(tree *decisionTree) {
	numValues := len(tree.values)
	span := tree.values[numValues-1] - tree.values[0]
	isDense := span < int64(2*numValues+8) // otherwise the jump table would be mostly empty
	if numValues > 2 && isDense {
		g.emitJumpTable(tree)
		return
	}
	// The last subtree needs no comparison, because all other values have been tested.
	lastIndex := len(tree.children) - 1
	for i, subtree := range tree.children[:lastIndex] {
		hasValue := g.slots[tree.slot].Eq(constI32(tree.values[i]))
		g.wasmFunc.If(hasValue, g.emitSubtree(subtree))
	}
	g.emitSubtree(tree.children[lastIndex])()
}

// emitJumpTable emits a jump table for the value of a variable, and then the code of the subtrees. A value that has no subtree jumps to the last
// subtree.
func (g *moveGenerator) emitJumpTable(tree *decisionTree) {
	labels := g.openLabels(len(tree.children))
	lastLabel := labels[len(labels)-1]
	first, last := tree.values[0], tree.values[len(tree.values)-1]
	table := slices.Repeat([]wasm.Label{lastLabel}, int(last-first+1))
	for i, value := range tree.values {
		table[value-first] = labels[i]
	}
	g.wasmFunc.BrTable(g.slots[tree.slot].Sub(constI32(first)), table, lastLabel)
	for _, subtree := range tree.children {
		g.wasmFunc.End()
		g.emitSubtree(subtree)()
	}
	g.wasmFunc.Op(wasm.Unreachable)
}

// openLabels opens n blocks and returns their labels in the order of the ends of the blocks.
func (g *moveGenerator) openLabels(n int) []wasm.Label {
	labels := make([]wasm.Label, n)
	for i := n - 1; i >= 0; i-- {
		labels[i] = g.wasmFunc.Open()
	}
	return labels
}

// decideLeaf emits the code of a leaf of the decision tree: it picks one of the enabled moves and jumps to the code of the move. Without an
// enabled move it jumps to deadlockLabel.
func (g *pathGenerator) decideLeaf(moves []candidate) {
	var enabled bitset
	switch len(moves) {
	case 0:
		g.wasmFunc.Br(g.deadlockLabel)
		return
	case 1:
		for _, conjunct := range moves[0].conjuncts {
			g.jumpIf(conjunct, false, g.deadlockLabel)
		}
		g.numChoices.Set(g.wasmFunc, constI32(1))
	default:
		enabled = g.evaluateGuards(moves)
		g.countChoices(moves, enabled)
	}
	g.checkWeights(moves, enabled)
	g.wasmFunc.BrIf(g.outOfBudgetLabel, g.steps.Ge(g.maxSteps))
	g.pickMove(moves, enabled)
}

// bitset has a bit for each move of a leaf: bit i%64 of local i/64 says that move i is enabled. A nil bitset means that all moves are
// enabled.
type bitset []wasm.Var[int64]

// evaluateGuards emits code that evaluates the guards of moves that are not decided yet. It returns the bitset of enabled moves; nil if all moves
// are certainly enabled.
func (g *moveGenerator) evaluateGuards(moves []candidate) bitset {
	hasGuard := func(candidate candidate) bool { return len(candidate.conjuncts) > 0 }
	if !slices.ContainsFunc(moves, hasGuard) {
		return nil
	}
	moves, allowed := g.buildTables(moves)
	initialBits := make([]int64, wordsFor(len(moves)))
	var undecided []int
	for i, candidate := range moves {
		if hasGuard(candidate) {
			undecided = append(undecided, i)
		} else {
			setBitOf(initialBits, i)
		}
	}
	enabled := g.initBitset(initialBits)
	g.setBits(moves, undecided, enabled, allowed)
	for i := range allowed {
		enabled[i].Set(g.wasmFunc, enabled[i].And(allowed[i]))
	}
	return enabled
}

// wordsFor returns the number of 64-bit words for n bits.
func wordsFor(n int) int { return (n + 63) / 64 }

// setBitOf sets bit i of a list of words.
func setBitOf[T int64 | uint64](words []T, i int) { words[i/64] |= 1 << (i % 64) }

// initBitset emits code that sets a bitset to these words, and returns the bitset. All bitsets use the same locals, so the code overwrites an
// earlier bitset.
func (g *moveGenerator) initBitset(words []int64) bitset {
	for len(g.bitsetLocals) < len(words) {
		g.bitsetLocals = append(g.bitsetLocals, wasm.Local[int64](g.wasmFunc))
	}
	bits := slices.Clone(g.bitsetLocals[:len(words)])
	for i, word := range words {
		bits[i].Set(g.wasmFunc, constI64(word))
	}
	return bits
}

// setBits emits code that sets the bits of the enabled moves. undecided has the indices of the moves whose guards must be evaluated. If the guard of a move is
// expensive, the code evaluates it only if the move's bit in allowedBits is set. If allowedBits is nil, it evaluates all guards.
func (g *moveGenerator) setBits(moves []candidate, undecided []int, enabledBits, allowedBits bitset) {
	for len(undecided) > 0 { // evaluate moves with a common test under one branch
		test := mostFrequentTest(moves, undecided)
		tested, untested := partition(undecided, func(move int) bool { return slices.ContainsFunc(moves[move].conjuncts, test.isTestOf) })
		if len(tested) < 2 {
			break
		}
		g.wasmFunc.If(g.slots[test.slot].Eq(constI32(test.value)), func() {
			g.emitInScope(func() { g.setBits(withoutTest(moves, tested, test), tested, enabledBits, allowedBits) })
		})
		undecided = untested
	}
	for _, move := range undecided {
		g.setBit(moves[move].conjuncts, move, enabledBits, allowedBits)
	}
}

// mostFrequentTest returns the test "variable = value" that is in most guards of the moves with the indices undecided. If there is no such test,
// its slot is -1.
func mostFrequentTest(moves []candidate, undecided []int) valueTest {
	counts := map[valueTest]int{}
	best := valueTest{slot: -1}
	for _, i := range undecided {
		for _, test := range valueTestsIn(moves[i].conjuncts) {
			counts[test]++
			if best.slot < 0 || counts[test] > counts[best] {
				best = test
			}
		}
	}
	return best
}

// partition splits numbers by a predicate, and keeps their order.
func partition(numbers []int, predicate func(int) bool) (matching, notMatching []int) {
	for _, number := range numbers {
		if predicate(number) {
			matching = append(matching, number)
		} else {
			notMatching = append(notMatching, number)
		}
	}
	return matching, notMatching
}

// withoutTest returns a copy of the moves. It removes a test from the guards of the moves with the given indices.
func withoutTest(moves []candidate, indices []int, test valueTest) []candidate {
	result := slices.Clone(moves)
	for _, i := range indices {
		result[i].conjuncts = slices.DeleteFunc(slices.Clone(moves[i].conjuncts), test.isTestOf)
	}
	return result
}

// setBit emits code that sets the bit of a move if its guard holds. An expensive guard is evaluated only if the bit of the move in allowedBits is
// set, or if allowedBits is nil.
func (g *moveGenerator) setBit(guard []*term, move int, enabledBits, allowedBits bitset) {
	word, bit := enabledBits[move/64], int64(move%64)
	mayFail := slices.ContainsFunc(guard, func(conjunct *term) bool { return conjunct.mayFail })
	isExpensive := g.costOf(chunkCost+1, guard...) > chunkCost
	switch {
	case len(guard) == 0:
		word.Set(g.wasmFunc, word.Or(constI64(1<<bit)))
	case !mayFail && !isExpensive:
		word.Set(g.wasmFunc, word.Or(wasm.ExtendU(g.evaluateAll(opAnd, guard)).Shl(bit)))
	default:
		g.emitInScope(func() { g.setBitByJumps(guard, move, enabledBits, allowedBits) })
	}
}

// setBitByJumps emits code that evaluates the conjuncts of a guard one after another, and sets bit i if all are true. It does not set the bit if
// bit i of allowed is clear.
func (g *moveGenerator) setBitByJumps(guard []*term, i int, bits, allowed bitset) {
	word, mask := bits[i/64], constI64(1<<(i%64))
	g.wasmFunc.Block(func(skip wasm.Label) {
		if allowed != nil {
			g.wasmFunc.BrIf(skip, allowed[i/64].And(mask).IsZero())
		}
		for _, conjunct := range guard {
			g.jumpIf(conjunct, false, skip)
		}
		word.Set(g.wasmFunc, word.Or(mask))
	})
}

// countChoices emits code that sets numChoices to the number of enabled moves, which are the set bits. The code jumps to deadlockLabel if there
// are none. If bits is nil, all moves are enabled.
func (g *pathGenerator) countChoices(moves []candidate, bits bitset) {
	if bits == nil {
		g.numChoices.Set(g.wasmFunc, constI32(len(moves)))
		return
	}
	numEnabled := popcount(bits[0])
	for _, word := range bits[1:] {
		numEnabled = numEnabled.Add(popcount(word))
	}
	g.wasmFunc.BrIf(g.deadlockLabel, g.numChoices.Tee(wasm.Wrap(numEnabled)).IsZero())
}

// popcount returns code for the number of set bits of a word.
func popcount(word wasm.Var[int64]) wasm.Expr[int64] {
	return wasm.Convert[int64](wasm.I64Popcnt, word)
}

// checkWeights emits code that computes and checks the weights of the commands in enabled moves. Constant weights need no check.
func (g *pathGenerator) checkWeights(moves []candidate, enabled bitset) {
	for _, command := range g.model.commands {
		if g.constantWeights[command] != nil {
			continue
		}
		indices := g.movesWith(command, moves)
		switch {
		case len(indices) == 0:
		case enabled == nil:
			g.computeWeights(command)
		default:
			g.wasmFunc.If(enabled.containsAny(indices), func() { g.emitInScope(func() { g.computeWeights(command) }) })
		}
	}
}

// movesWith returns the indices of the moves that contain a command.
func (g *moveGenerator) movesWith(command *command, moves []candidate) []int {
	var indices []int
	for i, candidate := range moves {
		if slices.Contains(g.moves[candidate.moveIndex].commands, command) {
			indices = append(indices, i)
		}
	}
	return indices
}

// containsAny returns code that tests whether the bitset contains at least one of the given numbers. There must be at least one number.
func (b bitset) containsAny(numbers []int) wasm.Expr[int32] {
	masks := make([]int64, len(b))
	for _, i := range numbers {
		setBitOf(masks, i)
	}
	var wordTests []wasm.Expr[int64] // the tested bits of each word
	for i, mask := range masks {
		if mask != 0 {
			wordTests = append(wordTests, b[i].And(constI64(mask)))
		}
	}
	union := wordTests[0]
	for _, bits := range wordTests[1:] {
		union = union.Or(bits)
	}
	return union.Ne(constI64(0))
}

// computeWeights emits code that stores the weights of a command's updates in locals and checks them. If they are not valid, the code jumps to
// giveUpLabel, and the interpreter handles the state.
func (g *moveGenerator) computeWeights(command *command) {
	wasmFunc := g.wasmFunc
	if g.hasInvalidWeights(command) {
		wasmFunc.Br(g.giveUpLabel)
		return
	}
	sum, smallest := wasm.Local[float64](wasmFunc), wasm.Local[float64](wasmFunc)
	sum.Set(wasmFunc, constF64(0))
	smallest.Set(wasmFunc, constF64(0))
	probabilities := make([]*term, len(command.updates))
	for i := range command.updates {
		probabilities[i] = g.facts.simplify(g.weightTerm(command, i))
		g.countUses(probabilities[i])
	}
	g.evaluateCommonBranches(probabilities)
	for i, term := range probabilities {
		weight := g.computedWeights[command][i]
		sum.Set(wasmFunc, weight.Tee(g.floatCode(term)).Add(sum))
		if term.maybeNaN || term.floatLow < 0 {
			smallest.Set(wasmFunc, smallest.Min(weight))
		}
	}
	g.checkSum(sum, smallest)
}

// evaluateCommonBranches emits code that computes repeated branches of several probabilities in advance. An example is p/n in (x=0 ? p/n : 0) and
// (y=0 ? p/n : 0).
func (g *moveGenerator) evaluateCommonBranches(probabilities []*term) {
	hasOccurred := map[*term]bool{}
	for _, term := range probabilities {
		if term.op != opIfThenElse {
			continue
		}
		for _, branch := range term.operands[1:] {
			_, isComputed := g.computedTerms[branch]
			isWorthKeeping := !isComputed && !branch.mayFail && branch.cost > 0
			if hasOccurred[branch] && isWorthKeeping {
				g.wasmFunc.Drop(g.floatCode(branch)) // the code also keeps the value in a local
			}
			hasOccurred[branch] = true
		}
	}
}

// checkSum emits code that jumps to giveUpLabel if the weights are not valid: a negative weight, probabilities that do not sum to 1, or rates whose
// sum is 0 or infinite.
func (g *moveGenerator) checkSum(sum, smallest wasm.Var[float64]) {
	noneNegative := smallest.Ge(constF64(0)) // without negative weights, a finite sum means finite weights
	var validSum wasm.Expr[int32]
	if g.model.isContinuous() {
		validSum = sum.Gt(constF64(0)).And(sum.Le(constF64(math.MaxFloat64)))
	} else {
		deviation := wasm.Local[float64](g.wasmFunc)
		relativeDeviation := deviation.Tee(sum.Sub(constF64(1)).Div(sum))
		validSum = relativeDeviation.Lt(constF64(SumTolerance)).And(deviation.Gt(constF64(-SumTolerance)))
	}
	g.wasmFunc.BrIf(g.giveUpLabel, noneNegative.And(validSum).IsZero())
}

// weightTerm returns the term of the probability or rate of an update of a command; the default is 1.
func (g *moveGenerator) weightTerm(command *command, i int) *term {
	if expr := command.source.Updates[i].Prob; expr != nil {
		return g.builder.floatExpr(expr)
	}
	return g.graph.floatConst(1)
}

// pickMove emits code that picks one of the enabled moves at random and jumps to its code. If bits is nil, all moves are enabled.
func (g *pathGenerator) pickMove(moves []candidate, bits bitset) {
	switch {
	case g.model.isContinuous():
		g.pickByRate(moves, bits)
	case len(moves) == 1:
		g.wasmFunc.Br(g.moveLabels[moves[0].moveIndex])
	case bits == nil:
		g.countNondeterminism()
		g.drawIndex()
		g.jumpTo(moves, g.pickedIndex)
	default:
		g.pickEnabledMove(moves, bits)
	}
}

// countNondeterminism emits code that counts a state with several enabled moves.
func (g *pathGenerator) countNondeterminism() {
	g.nondetSteps.Set(g.wasmFunc, g.nondetSteps.Add(constI64(1)))
}

// jumpTo emits a jump to the code of the move with the given index.
func (g *pathGenerator) jumpTo(moves []candidate, index wasm.Operand[int32]) {
	labels := make([]wasm.Label, len(moves))
	for i, candidate := range moves {
		labels[i] = g.moveLabels[candidate.moveIndex]
	}
	g.wasmFunc.BrTable(index, labels, labels[len(labels)-1])
}

// pickEnabledMove emits code that draws a number k that is less than the number of enabled moves, and jumps to the k-th enabled move, counted
// from 0. If only one move is enabled, the code draws no number.
func (g *pathGenerator) pickEnabledMove(moves []candidate, bits bitset) {
	wasmFunc := g.wasmFunc
	g.pickedIndex.Set(wasmFunc, constI32(0))
	wasmFunc.If(g.numChoices.Ne(constI32(1)), func() {
		g.countNondeterminism()
		g.drawIndex()
	})
	for i, word := range bits {
		wordMoves := moves[i*64 : min(i*64+64, len(moves))]
		if i == len(bits)-1 {
			g.jumpToRank(wordMoves, word)
			return
		}
		numEnabled := wasm.Local[int32](wasmFunc)
		wasmFunc.If(g.pickedIndex.LtU(numEnabled.Tee(wasm.Wrap(popcount(word)))), func() { g.jumpToRank(wordMoves, word) })
		g.pickedIndex.Set(wasmFunc, g.pickedIndex.Sub(numEnabled))
	}
}

// jumpToRank emits a jump to the move whose bit is number k of the set bits in a word, counted from 0. k is pickedIndex. To find this bit, the
// code clears the k set bits below it.
func (g *pathGenerator) jumpToRank(moves []candidate, word wasm.Var[int64]) {
	wasmFunc := g.wasmFunc
	wasmFunc.Block(func(found wasm.Label) {
		wasmFunc.Loop(func(next wasm.Label) {
			wasmFunc.BrIf(found, g.pickedIndex.IsZero())
			word.Set(wasmFunc, withoutLowestBit(word))
			g.pickedIndex.Set(wasmFunc, g.pickedIndex.Sub(constI32(1)))
			wasmFunc.Br(next)
		})
	})
	g.jumpTo(moves, lowestBit(word))
}

// lowestBit returns code for the index of the lowest set bit.
func lowestBit(word wasm.Var[int64]) wasm.Expr[int32] {
	return wasm.Wrap(wasm.Convert[int64](wasm.I64Ctz, word))
}

// withoutLowestBit returns code for a word without its lowest set bit.
func withoutLowestBit(word wasm.Var[int64]) wasm.Expr[int64] { return word.And(word.Sub(constI64(1))) }

// pickByRate emits code that picks an enabled move of a CTMC with probability proportional to its rate. The code stores the exit rate of the
// state in totalExitRate. It also stores a random number in remainder, which later selects the updates of the move.
func (g *pathGenerator) pickByRate(moves []candidate, bits bitset) {
	wasmFunc := g.wasmFunc
	rates := make([]wasm.Var[float64], len(moves))
	g.totalExitRate.Set(wasmFunc, constF64(0))
	for i, candidate := range moves {
		rates[i] = wasm.Local[float64](wasmFunc)
		g.ifEnabled(i, bits, func() {
			g.totalExitRate.Set(wasmFunc, rates[i].Tee(g.totalRate(&g.moves[candidate.moveIndex])).Add(g.totalExitRate))
		})
	}
	wasmFunc.BrIf(g.giveUpLabel, g.totalExitRate.Le(constF64(math.MaxFloat64)).IsZero())
	if len(moves) == 1 {
		wasmFunc.Br(g.moveLabels[moves[0].moveIndex])
		return
	}
	wasmFunc.If(g.numChoices.Ne(constI32(1)), func() { g.remainder.Set(wasmFunc, g.drawUniform().Mul(g.totalExitRate)) })
	for i, candidate := range moves {
		g.ifEnabled(i, bits, func() { g.jumpIfSelected(candidate.moveIndex, i, rates[i]) })
	}
	// Because of rounding errors, no move may be selected. Then the last enabled move is selected.
	g.remainder.Set(wasmFunc, constF64(math.Inf(1)))
	g.jumpTo(moves, g.pickedIndex)
}

// jumpIfSelected emits a jump to a move if remainder is below its total rate, or if it is the only enabled move. If not, the code subtracts
// the rate from remainder.
func (g *pathGenerator) jumpIfSelected(move, index int, total wasm.Var[float64]) {
	g.wasmFunc.BrIf(g.moveLabels[move], g.remainder.Lt(total).Or(g.numChoices.Eq(constI32(1))))
	g.remainder.Set(g.wasmFunc, g.remainder.Sub(total))
	g.pickedIndex.Set(g.wasmFunc, constI32(index))
}

// ifEnabled emits code that runs if move i is enabled.
func (g *pathGenerator) ifEnabled(i int, bits bitset, emit func()) {
	if bits == nil {
		emit()
		return
	}
	g.wasmFunc.If(isSet(bits[i/64], i%64), func() { g.emitInScope(emit) })
}

// isSet returns code that tests a bit of a word.
func isSet(word wasm.Var[int64], bit int) wasm.Expr[int32] {
	return word.And(constI64(1 << bit)).IsZero().IsZero()
}
