package compile

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// alternative is a combination of updates of a move, one per command. weight is the product of constant weights. values has the new values
// of the assigned variables.
type alternative struct {
	updates []int
	weight  float64
	values  map[int]*term
}

// alternativesOf returns the alternatives of a move: the combinations of one update of each command. It omits combinations whose weight is the
// constant zero. The update of the first command varies fastest. isConstant reports whether all weights are constants.
func (g *moveGenerator) alternativesOf(move *moveSpec, facts *facts) (alternatives []alternative, isConstant bool) {
	isConstant = g.hasConstantWeights(move)
	updates := make([]int, len(move.commands))
	for hasNext := true; hasNext; hasNext = nextCombination(move.commands, updates) {
		weight := 0.0
		if isConstant {
			weight = g.constantWeight(move, updates)
		}
		if isConstant && weight == 0 {
			continue
		}
		alternatives = append(alternatives, alternative{slices.Clone(updates), weight, g.assignedValues(move, updates, facts)})
	}
	return alternatives, isConstant
}

// assignedValues returns the new values of the variables that a move assigns if each command i makes its update updates[i]. The keys are slots.
// The values are simplified by the facts.
func (g *moveGenerator) assignedValues(move *moveSpec, updates []int, facts *facts) map[int]*term {
	values := map[int]*term{}
	for i, command := range move.commands {
		for _, assignment := range command.updates[updates[i]].assignments {
			values[assignment.slot] = facts.simplify(g.builder.expr(assignment.source.Value))
		}
	}
	return values
}

// hasConstantWeights reports whether all weights of a move are constants.
func (g *moveGenerator) hasConstantWeights(move *moveSpec) bool {
	return !slices.ContainsFunc(move.commands, func(command *command) bool { return g.constantWeights[command] == nil })
}

// constantWeight returns the product of constant weights, multiplied in order.
func (g *moveGenerator) constantWeight(move *moveSpec, updates []int) float64 {
	weight := g.constantWeights[move.commands[0]][updates[0]]
	for i, command := range move.commands[1:] {
		weight = float64(weight * g.constantWeights[command][updates[i+1]])
	}
	return weight
}

// weight returns code for the product of the weights of some updates of a move, one per command, multiplied in order.
func (g *moveGenerator) weight(move *moveSpec, updates []int) wasm.Expr[float64] {
	product := g.updateWeight(move.commands[0], updates[0])
	for i, command := range move.commands[1:] {
		product = product.Mul(g.updateWeight(command, updates[i+1]))
	}
	return product
}

// updateWeight returns code for the weight of an update: a constant, or the local with the computed weight.
func (g *moveGenerator) updateWeight(command *command, update int) wasm.Expr[float64] {
	if constants := g.constantWeights[command]; constants != nil {
		return constF64(constants[update])
	}
	return g.computedWeights[command][update].Expr
}

// totalRate returns code for the sum of the weights of all alternatives of a move. The numbers are added in the order of the interpreter, so both
// get the same rounded sum.
func (g *pathGenerator) totalRate(move *moveSpec) wasm.Expr[float64] {
	updates := make([]int, len(move.commands))
	if g.hasConstantWeights(move) {
		sum := 0.0
		for hasNext := true; hasNext; hasNext = nextCombination(move.commands, updates) {
			sum += g.constantWeight(move, updates)
		}
		return constF64(sum)
	}
	sum := constF64(0)
	for hasNext := true; hasNext; hasNext = nextCombination(move.commands, updates) {
		sum = sum.Add(g.weight(move, slices.Clone(updates)))
	}
	return sum
}

// emitMove emits the code of a move: it counts the step, picks an alternative at random, and assigns the new values of the variables.
func (g *pathGenerator) emitMove(move *moveSpec) {
	if slices.ContainsFunc(move.commands, g.hasInvalidWeights) {
		g.wasmFunc.Br(g.giveUpLabel) // unreachable: the check of the weights has given up before
		return
	}
	outerFacts := g.facts
	defer func() { g.facts = outerFacts }()
	for _, conjunct := range move.conjuncts {
		g.facts = g.facts.assume(conjunct, true)
	}
	alternatives, isConstant := g.alternativesOf(move, g.facts)
	if len(alternatives) == 0 { // the product of the rates is too small for a float64 in every alternative
		g.wasmFunc.Br(g.giveUpLabel)
		return
	}
	isRandom := numAlternatives(move.commands) > 1
	if isRandom && g.model.isContinuous() {
		g.drawRemainder() // before the sojourn time, as the interpreter does
	}
	g.emitStep(move.action)
	if isRandom {
		g.pickAlternative(move, alternatives, isConstant)
	}
	g.applyUpdates(move, alternatives)
}

// pickAlternative emits code that sets pickedIndex to an alternative, with probability proportional to its weight. isConstant says that the
// weights are constants.
func (g *pathGenerator) pickAlternative(move *moveSpec, alternatives []alternative, isConstant bool) {
	if g.model.isContinuous() {
		g.pickByWeights(move, alternatives, isConstant)
		return
	}
	g.pickByUnit(move, alternatives, isConstant)
}

// hasInvalidWeights reports whether the weights of a command are invalid constants.
func (g *moveGenerator) hasInvalidWeights(command *command) bool { return g.invalidWeights[command] }

// drawRemainder emits code that draws the number that selects the updates, if only one move is enabled. With several moves the race has set
// it.
func (g *pathGenerator) drawRemainder() {
	g.wasmFunc.If(g.numChoices.Eq(constI32(1)), func() { g.remainder.Set(g.wasmFunc, g.drawUniform().Mul(g.totalExitRate)) })
}

// pickByUnit emits code that draws a uniform random number from [0,1), and sets pickedIndex to the first alternative whose cumulative probability
// exceeds it. isConstant reports whether the probabilities are constants.
func (g *pathGenerator) pickByUnit(move *moveSpec, alternatives []alternative, isConstant bool) {
	if !isConstant {
		g.remainder.Set(g.wasmFunc, g.drawUniform())
		g.pickByWeights(move, alternatives, isConstant)
		return
	}
	g.randomBits.Set(g.wasmFunc, g.randomWord().ShrU(64-53)) // a multiple of 2^-53 has 53 bits
	g.pickByThresholds(scaledThresholds(alternatives))
}

// scaledThresholds returns the cumulative weights c of the alternatives, except the last one, as ceil(c*2^53). A random number u is a multiple of
// 2^-53, so u < c if and only if u*2^53 < ceil(c*2^53).
func scaledThresholds(alternatives []alternative) []int64 {
	var scaled []int64
	sum := 0.0
	for _, alternative := range alternatives[:len(alternatives)-1] {
		sum += alternative.weight
		scaled = append(scaled, int64(math.Ceil(sum*0x1p53)))
	}
	return scaled
}

// maxCompared is the largest number of thresholds that are compared one after another. More thresholds are bisected.
const maxCompared = 4

// pickByThresholds emits code that sets pickedIndex to the number of thresholds that are less than or equal to randomBits. The thresholds are in
// ascending order.
func (g *pathGenerator) pickByThresholds(thresholds []int64) {
	if shift, ok := equalIntervalShift(thresholds); ok {
		g.pickedIndex.Set(g.wasmFunc, wasm.Wrap(g.randomBits.ShrU(shift)))
		return
	}
	if len(thresholds) > maxCompared {
		g.emitBinarySearch(thresholds, 0)
		return
	}
	numReached := constI32(0)
	for _, threshold := range thresholds {
		numReached = numReached.Add(g.randomBits.Ge(constI64(threshold)))
	}
	g.pickedIndex.Set(g.wasmFunc, numReached)
}

// equalIntervalShift reports whether the thresholds divide the range from 0 to 2^53 into 2^k intervals of equal length. A number in this range, shifted
// right by shift bits, is then the index of its interval.
func equalIntervalShift(thresholds []int64) (shift int64, ok bool) {
	numIntervals := uint(len(thresholds) + 1)
	isPowerOfTwo := bits.OnesCount(numIntervals) == 1
	if !isPowerOfTwo || numIntervals == 1 {
		return 0, false
	}
	shift = 53 - int64(bits.TrailingZeros(numIntervals))
	for i, threshold := range thresholds {
		if threshold != int64(i+1)<<shift {
			return 0, false
		}
	}
	return shift, true
}

// emitBinarySearch emits a binary search that sets pickedIndex to numBelow plus the number of thresholds that are less than or equal to randomBits. The
// thresholds are in ascending order.
func (g *pathGenerator) emitBinarySearch(thresholds []int64, numBelow int) {
	if len(thresholds) == 0 {
		g.pickedIndex.Set(g.wasmFunc, constI32(numBelow))
		return
	}
	middle := len(thresholds) / 2
	g.wasmFunc.IfElse(wasm.Void, g.randomBits.Ge(constI64(thresholds[middle])),
		func() { g.emitBinarySearch(thresholds[middle+1:], numBelow+middle+1) },
		func() { g.emitBinarySearch(thresholds[:middle], numBelow) })
}

// pickByWeights emits code that sets pickedIndex to the first alternative whose cumulative weight exceeds the random number remainder. isConstant
// reports whether the weights are constants.
func (g *pathGenerator) pickByWeights(move *moveSpec, alternatives []alternative, isConstant bool) {
	weight := func(alternative alternative) wasm.Expr[float64] {
		if isConstant {
			return constF64(alternative.weight)
		}
		return g.weight(move, alternative.updates)
	}
	wasmFunc := g.wasmFunc
	sum := wasm.Local[float64](wasmFunc)
	sum.Set(wasmFunc, constF64(0))
	wasmFunc.Block(func(done wasm.Label) {
		for i, alternative := range alternatives {
			g.pickedIndex.Set(wasmFunc, constI32(i))
			sum.Set(wasmFunc, weight(alternative).Add(sum))
			wasmFunc.BrIf(done, g.remainder.Lt(sum))
		}
		// Because of rounding errors, no alternative may be selected. Then the last one with a positive weight is selected.
		for i, alternative := range alternatives {
			wasmFunc.If(weight(alternative).Gt(constF64(0)), func() { g.pickedIndex.Set(wasmFunc, constI32(i)) })
		}
	})
}

// applyUpdates emits code that executes the updates of the picked alternative, whose index is in pickedIndex. The code first computes all new values in
// local variables, because the updates read the old values. Then it checks the ranges, and assigns the new values to the variables of the model.
func (g *pathGenerator) applyUpdates(move *moveSpec, alternatives []alternative) {
	newLocals := map[int]wasm.Var[int32]{} // for each assigned variable, the local with its new value
	for _, slot := range assignedSlots(alternatives) {
		newLocals[slot] = wasm.Local[int32](g.wasmFunc)
	}
	g.computeNewValues(alternatives, newLocals)
	g.checkRanges(alternatives, newLocals)
	g.decideSelfLoop(move, alternatives, newLocals)
	for _, slot := range assignedSlots(alternatives) {
		g.slots[slot].Set(g.wasmFunc, newLocals[slot])
	}
}

// computeNewValues emits code that stores the new values of the picked alternative in locals. Only values that are neither the same in all alternatives nor
// constants need a branch on pickedIndex.
func (g *pathGenerator) computeNewValues(alternatives []alternative, newLocals map[int]wasm.Var[int32]) {
	commonSlots, constantSlots, computedSlots := g.classifyAssigned(alternatives)
	memoisedGroups, otherValues := g.memoGroups(g.valuesToCompute(alternatives[0], commonSlots))
	for _, group := range memoisedGroups {
		g.lookUpMemo(group, newLocals)
	}
	g.assignTogether(otherValues, newLocals)
	for _, slot := range constantSlots {
		newLocals[slot].Set(g.wasmFunc, g.constantOfAlternative(g.valuesInAlternatives(alternatives, slot)))
	}
	if len(computedSlots) > 0 {
		g.branchOnAlternative(len(alternatives), func(i int) {
			g.assignTogether(g.valuesToCompute(alternatives[i], computedSlots), newLocals)
		})
	}
}

// classifyAssigned divides the slots of the assigned variables into three lists. A variable in commonSlots has the same value in all alternatives. A
// variable in constantSlots has a constant in each alternative. All others are in computedSlots.
func (g *moveGenerator) classifyAssigned(alternatives []alternative) (commonSlots, constantSlots, computedSlots []int) {
	for _, slot := range assignedSlots(alternatives) {
		switch slotValues := g.valuesInAlternatives(alternatives, slot); {
		case areEqual(slotValues):
			commonSlots = append(commonSlots, slot)
		case areConstants(slotValues):
			constantSlots = append(constantSlots, slot)
		default:
			computedSlots = append(computedSlots, slot)
		}
	}
	return commonSlots, constantSlots, computedSlots
}

// assignedSlots returns the slots of the assigned variables in ascending order.
func assignedSlots(alternatives []alternative) []int {
	var slots []int
	for _, alternative := range alternatives {
		for slot := range alternative.values {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

// valueOf returns the new value of a variable in an alternative; the old value if the alternative does not assign the variable.
func (g *moveGenerator) valueOf(alternative alternative, slot int) *term {
	if term, ok := alternative.values[slot]; ok {
		return term
	}
	return g.oldValue(slot)
}

// oldValue returns the value of a variable before the transition.
func (g *moveGenerator) oldValue(slot int) *term {
	sort := sortInt
	if g.model.program.Vars[slot].Type == sema.Bool {
		sort = sortBool
	}
	return g.facts.simplify(g.graph.variable(slot, sort))
}

// valuesInAlternatives returns the new value of a variable in each alternative.
func (g *moveGenerator) valuesInAlternatives(alternatives []alternative, slot int) []*term {
	values := make([]*term, len(alternatives))
	for i, alternative := range alternatives {
		values[i] = g.valueOf(alternative, slot)
	}
	return values
}

// areEqual reports whether all terms are the same.
func areEqual(terms []*term) bool {
	return !slices.ContainsFunc(terms, func(term *term) bool { return term != terms[0] })
}

// areConstants reports whether all terms are constants.
func areConstants(terms []*term) bool {
	return !slices.ContainsFunc(terms, func(term *term) bool { return !term.isConst() })
}

// newValue is a value to compute for a variable.
type newValue struct {
	slot  int
	value *term
}

// valuesToCompute returns the new values of some variables in an alternative, and counts a use of each one, because the caller emits its code once more.
func (g *moveGenerator) valuesToCompute(alternative alternative, slots []int) []newValue {
	var values []newValue
	for _, slot := range slots {
		term := g.valueOf(alternative, slot)
		g.countUses(term)
		values = append(values, newValue{slot, term})
	}
	return values
}

// assignTogether emits code that computes values and stores them in locals. If several expensive values have the form condition ? a : b with the
// same condition, the code tests the condition only once.
func (g *moveGenerator) assignTogether(values []newValue, newLocals map[int]wasm.Var[int32]) {
	condition := g.jointCondition(values)
	if condition == nil {
		for _, change := range values {
			newLocals[change.slot].Set(g.wasmFunc, g.intCode(change.value))
		}
		return
	}
	// Values that test the joint condition are computed in the two branches of one test; the others after it.
	var thenValues, elseValues, otherValues []newValue
	for _, change := range values {
		term := change.value
		if term.op != opIfThenElse || term.operands[0] != condition {
			otherValues = append(otherValues, change)
			continue
		}
		thenValues = append(thenValues, newValue{change.slot, term.operands[1]})
		elseValues = append(elseValues, newValue{change.slot, term.operands[2]})
	}
	g.wasmFunc.IfElse(wasm.Void, g.intCode(condition),
		func() { g.assignUnder(condition, true, thenValues, newLocals) },
		func() { g.assignUnder(condition, false, elseValues, newLocals) })
	g.assignTogether(otherValues, newLocals)
}

// assignUnder emits code that computes values and stores them in locals. At this point of the code, the condition is known to be true or false
// (holds), so the values are simplified.
func (g *moveGenerator) assignUnder(condition *term, holds bool, values []newValue, newLocals map[int]wasm.Var[int32]) {
	outerFacts := g.facts
	g.facts = outerFacts.assume(condition, holds)
	for i := range values {
		values[i].value = g.facts.simplify(values[i].value)
		g.countUses(values[i].value)
	}
	g.emitInScope(func() { g.assignTogether(values, newLocals) })
	g.facts = outerFacts
}

// jointCondition returns the condition that is most worth testing only once for several values of the form condition ? a : b. Their branches have
// the highest total cost. It returns nil if no total cost exceeds jointCost.
func (g *moveGenerator) jointCondition(values []newValue) *term {
	var conditions []*term
	branches := map[*term][]*term{}
	for _, newValue := range values {
		if newValue.value.op != opIfThenElse {
			continue
		}
		condition := newValue.value.operands[0]
		if branches[condition] == nil {
			conditions = append(conditions, condition)
		}
		branches[condition] = append(branches[condition], newValue.value.operands[1:]...)
	}
	var bestCondition *term
	highestCost := jointCost
	for _, condition := range conditions {
		if cost := g.costOf(maxCost, branches[condition]...); cost > highestCost {
			bestCondition, highestCost = condition, cost
		}
	}
	return bestCondition
}

// constantOfAlternative returns code for the constant of the picked alternative. constants has one constant for each alternative, at least two. The
// code is a select instruction, a linear function of pickedIndex, or a table look-up.
func (g *pathGenerator) constantOfAlternative(constants []*term) wasm.Expr[int32] {
	first, second := constants[0].intValue, constants[1].intValue
	switch {
	case len(constants) == 2:
		return wasm.Select[int32](g.pickedIndex, constI32(second), constI32(first))
	case isLinear(constants):
		return g.pickedIndex.Mul(constI32(second - first)).Add(constI32(first))
	}
	return wasm.Load[int32](g.pickedIndex.Shl(2), g.storeConstants(constants))
}

// isLinear reports whether the constants are a, a+step, a+2*step, and so on, for a step that fits in 32 bits.
func isLinear(constants []*term) bool {
	first := constants[0].intValue
	step := constants[1].intValue - first
	if step < minInt || step > maxInt {
		return false
	}
	for i, constant := range constants {
		if constant.intValue != first+int64(i)*step {
			return false
		}
	}
	return true
}

// storeConstants stores constants as 32-bit words in the memory of the module, and returns their address.
func (g *pathGenerator) storeConstants(constants []*term) uint32 {
	words := make([]byte, 0, 4*len(constants))
	for _, constant := range constants {
		words = binary.LittleEndian.AppendUint32(words, uint32(int32(constant.intValue)))
	}
	address := g.reserve(len(words))
	g.module.Data(int32(address), words)
	return address
}

// branchOnAlternative emits a branch on pickedIndex, which is a number from 0 to numAlternatives-1. emit(i) emits the code for the value i.
func (g *pathGenerator) branchOnAlternative(numAlternatives int, emit func(i int)) {
	if numAlternatives == 1 {
		emit(0)
		return
	}
	endLabel := g.wasmFunc.Open()
	labels := g.openLabels(numAlternatives)
	g.wasmFunc.BrTable(g.pickedIndex, labels, labels[numAlternatives-1])
	for i := range numAlternatives {
		g.wasmFunc.End()
		g.emitInScope(func() { emit(i) })
		g.wasmFunc.Br(endLabel)
	}
	g.wasmFunc.End()
}

// checkRanges emits code that gives up if a new value is outside the range of its variable. Values that are certainly in range need no code.
func (g *pathGenerator) checkRanges(alternatives []alternative, newLocals map[int]wasm.Var[int32]) {
	for _, slot := range assignedSlots(alternatives) {
		mayBeOutside := func(value *term) bool { return !g.isCertainlyInRange(value, slot) }
		if slices.ContainsFunc(g.valuesInAlternatives(alternatives, slot), mayBeOutside) {
			g.giveUpOutside(newLocals[slot], slot)
		}
	}
}

// isCertainlyInRange reports whether a value is always within the range of its variable.
func (g *moveGenerator) isCertainlyInRange(term *term, slot int) bool {
	if term.valueSort == sortBool {
		return true
	}
	allowed, possible := g.graph.ranges[slot], g.facts.interval(term)
	return allowed.low <= possible.low && possible.high <= allowed.high
}

// giveUpOutside emits code that gives up if a number is outside the range of a variable.
func (g *moveGenerator) giveUpOutside(value wasm.Var[int32], slot int) {
	allowed := g.graph.ranges[slot]
	g.wasmFunc.BrIf(g.giveUpLabel, value.Sub(constI32(allowed.low)).GtU(constI32(allowed.high-allowed.low)))
}

// decideSelfLoop emits code that ends the path in a state whose only transition is a self-loop. An unbounded until formula that is
// undecided there is violated.
func (g *pathGenerator) decideSelfLoop(move *moveSpec, alternatives []alternative, newLocals map[int]wasm.Var[int32]) {
	if !g.monitor.endsAtLoops() || !g.mayBeDeterministic(move) || g.alwaysChangesState(alternatives) {
		return
	}
	wasmFunc := g.wasmFunc
	wasmFunc.Block(func(notALoop wasm.Label) { // a jump to notALoop goes to the end of this block
		wasmFunc.BrIf(notALoop, g.numChoices.Ne(constI32(1)))
		for _, slot := range assignedSlots(alternatives) {
			wasmFunc.BrIf(notALoop, newLocals[slot].Ne(g.slots[slot]))
		}
		for _, command := range move.commands {
			if g.constantWeights[command] == nil {
				g.requireDeterministic(command, notALoop)
			}
		}
		wasmFunc.Br(g.violatedLabel)
	})
}

// mayBeDeterministic reports whether a move may have a single transition. Each command with constant weights must have a Dirac distribution.
func (g *pathGenerator) mayBeDeterministic(move *moveSpec) bool {
	for _, command := range move.commands {
		if weights := g.constantWeights[command]; weights != nil && !isDirac(weights) {
			return false
		}
	}
	return true
}

// isDirac reports whether weights are a Dirac distribution: exactly one weight is positive. In a CTMC it is the rate.
func isDirac(weights []float64) bool {
	numPositive := 0
	for _, weight := range weights {
		if weight > 0 {
			numPositive++
		}
	}
	return numPositive == 1
}

// requireDeterministic emits code that jumps to notALoop unless the computed weights of a command are a Dirac distribution: exactly one weight
// is positive.
func (g *pathGenerator) requireDeterministic(command *command, notALoop wasm.Label) {
	numPositive := constI32(0)
	for _, weight := range g.computedWeights[command] {
		numPositive = numPositive.Add(weight.Gt(constF64(0)))
	}
	g.wasmFunc.BrIf(notALoop, numPositive.Ne(constI32(1)))
}

// alwaysChangesState reports whether some variable changes in all alternatives, so that the move cannot be a self-loop.
func (g *pathGenerator) alwaysChangesState(alternatives []alternative) bool {
	for _, slot := range assignedSlots(alternatives) {
		mayStay := func(value *term) bool { return !g.isCertainlyDifferent(slot, value) }
		if !slices.ContainsFunc(g.valuesInAlternatives(alternatives, slot), mayStay) {
			return true
		}
	}
	return false
}

// isCertainlyDifferent reports whether the new value of a variable is known to differ from its old value. It may return false although they
// differ.
func (g *pathGenerator) isCertainlyDifferent(slot int, value *term) bool {
	if value.valueSort != sortInt {
		old := g.oldValue(slot)
		return value.isConst() && old.isConst() && value != old
	}
	after, before := g.facts.interval(value), g.facts.variable(slot)
	return after.high < before.low || before.high < after.low
}
