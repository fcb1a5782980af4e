package compile

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// alternative is a combination of updates of a move, one update per command. weight is the product of their weights if these are
// constants. values has the new value of each variable that the updates assign.
type alternative struct {
	updates []int
	weight  float64
	values  map[int]*term
}

// alternativesOf lists the alternatives of a move; the update of the first command varies fastest. constant says that the weights of
// all commands are constants; alternatives of weight zero are then omitted. The values are simplified by the facts.
func (g *moveGenerator) alternativesOf(move *moveSpec, facts *facts) (alternatives []alternative, constant bool) {
	constant = g.hasConstantWeights(move)
	updates := make([]int, len(move.commands))
	for more := true; more; more = nextCombination(move.commands, updates) {
		alternative := alternative{updates: slices.Clone(updates), values: map[int]*term{}}
		if constant {
			alternative.weight = g.constantWeight(move, updates)
			if alternative.weight == 0 {
				continue
			}
		}
		for i, command := range move.commands {
			for _, assignment := range command.updates[updates[i]].assigns {
				alternative.values[assignment.slot] = facts.simplify(g.builder.expr(assignment.source.Value))
			}
		}
		alternatives = append(alternatives, alternative)
	}
	return alternatives, constant
}

// hasConstantWeights reports whether the weights of all commands of a move are constants.
func (g *moveGenerator) hasConstantWeights(move *moveSpec) bool {
	return !slices.ContainsFunc(move.commands, func(command *command) bool { return g.constantWeights[command] == nil })
}

// constantWeight computes the product of constant weights as expander.weight does.
func (g *moveGenerator) constantWeight(move *moveSpec, updates []int) float64 {
	weight := g.constantWeights[move.commands[0]][updates[0]]
	for i, command := range move.commands[1:] {
		weight = float64(weight * g.constantWeights[command][updates[i+1]])
	}
	return weight
}

// weight emits the product of the weights of a move's updates, as expander.weight computes it. updates has the index of one update
// for each command of the move.
func (g *moveGenerator) weight(move *moveSpec, updates []int) wasm.Expr[float64] {
	product := g.updateWeight(move.commands[0], updates[0])
	for i, command := range move.commands[1:] {
		product = product.Mul(g.updateWeight(command, updates[i+1]))
	}
	return product
}

// updateWeight returns code for the weight of one update of a command: a constant, or the local with the computed weight.
func (g *moveGenerator) updateWeight(command *command, update int) wasm.Expr[float64] {
	if constants := g.constantWeights[command]; constants != nil {
		return constF64(constants[update])
	}
	return g.computedWeights[command][update].Expr
}

// totalRate returns code for the sum of the weights of all alternatives of a move, in the order in which expander.totalWeight adds them.
func (g *pathGenerator) totalRate(move *moveSpec) wasm.Expr[float64] {
	updates := make([]int, len(move.commands))
	if g.hasConstantWeights(move) {
		sum := 0.0
		for more := true; more; more = nextCombination(move.commands, updates) {
			sum += g.constantWeight(move, updates)
		}
		return constF64(sum)
	}
	sum := constF64(0)
	for more := true; more; more = nextCombination(move.commands, updates) {
		sum = sum.Add(g.weight(move, slices.Clone(updates)))
	}
	return sum
}

// emitMove emits the code that makes a move: it counts the step with its rewards and its sojourn time, picks one alternative of the move at random, and assigns
// the new values to the variables.
func (g *pathGenerator) emitMove(move *moveSpec) {
	if slices.ContainsFunc(move.commands, g.hasInvalidWeights) {
		g.fn.Br(g.giveUp) // never executed, because the code of checkWeights has given up before
		return
	}
	outer := g.facts
	defer func() { g.facts = outer }()
	for _, conjunct := range move.guard {
		g.facts = g.facts.assume(conjunct, true)
	}
	alternatives, constant := g.alternativesOf(move, g.facts)
	if len(alternatives) == 0 { // the product of the rates is too small for a float64 in every alternative
		g.fn.Br(g.giveUp)
		return
	}
	isRandom := numAlternatives(move.commands) > 1
	if isRandom && g.model.continuous() {
		g.drawRemainder() // before the sojourn time, as the interpreter does
	}
	g.emitStep(move.action)
	if isRandom {
		g.pickAlternative(move, alternatives, constant)
	}
	g.applyUpdates(move, alternatives)
}

// pickAlternative emits code that sets pickedIndex to one of the alternatives, with a probability proportional to its weight. constant says that the weights are
// constants.
func (g *pathGenerator) pickAlternative(move *moveSpec, alternatives []alternative, constant bool) {
	if g.model.continuous() {
		g.pickByWeights(move, alternatives, constant)
		return
	}
	g.pickByUnit(move, alternatives, constant)
}

// hasInvalidWeights reports whether the weights of a command are constants that are not valid; see areValidWeights.
func (g *moveGenerator) hasInvalidWeights(command *command) bool { return g.invalidWeights[command] }

// drawRemainder draws the number that selects the updates, if only one move is enabled. Otherwise raceByRate has set it.
func (g *pathGenerator) drawRemainder() {
	g.fn.If(g.numChoices.Eq(constI32(1)), func() { g.remainder.Set(g.fn, g.drawUnit().Mul(g.totalExitRate)) })
}

// pickByUnit emits code that draws a number from [0,1) and sets pickedIndex to the alternative that it selects by the cumulative
// weights. constant says that the weights are constants.
func (g *pathGenerator) pickByUnit(move *moveSpec, alternatives []alternative, constant bool) {
	if !constant {
		g.remainder.Set(g.fn, g.drawUnit())
		g.pickByWeights(move, alternatives, constant)
		return
	}
	g.randomBits.Set(g.fn, g.randomWord().ShrU(64-53)) // a multiple of 2^-53 has 53 bits
	g.pickByThresholds(thresholds(alternatives))
}

// thresholds returns the cumulative weights, without the last one, as multiples of 2^-53, rounded up. Random numbers are multiples of
// 2^-53, so u < c is equivalent to u*2^53 < ceil(c*2^53).
func thresholds(alternatives []alternative) []int64 {
	var out []int64
	sum := 0.0
	for _, alternative := range alternatives[:len(alternatives)-1] {
		sum += alternative.weight
		out = append(out, int64(math.Ceil(sum*0x1p53)))
	}
	return out
}

// maxCompared is the largest number of thresholds with which the random number is compared one after another. More thresholds are bisected.
const maxCompared = 4

// pickByThresholds emits code that sets pickedIndex to the number of thresholds that are at most randomBits. The thresholds ascend.
func (g *pathGenerator) pickByThresholds(thresholds []int64) {
	if shift, ok := evenShift(thresholds); ok {
		g.pickedIndex.Set(g.fn, wasm.Wrap(g.randomBits.ShrU(shift)))
		return
	}
	if len(thresholds) > maxCompared {
		g.bisect(thresholds, 0)
		return
	}
	reached := constI32(0)
	for _, threshold := range thresholds {
		reached = reached.Add(g.randomBits.Ge(constI64(threshold)))
	}
	g.pickedIndex.Set(g.fn, reached)
}

// evenShift reports whether the thresholds divide the range from 0 to 2^53 into 2, 4, 8, ... equal parts. Shifting a number of the
// range right by shift then gives the index of its part.
func evenShift(thresholds []int64) (shift int64, ok bool) {
	numParts := uint(len(thresholds) + 1)
	isPowerOfTwo := bits.OnesCount(numParts) == 1
	if !isPowerOfTwo || numParts == 1 {
		return 0, false
	}
	shift = 53 - int64(bits.TrailingZeros(numParts))
	for i, threshold := range thresholds {
		if threshold != int64(i+1)<<shift {
			return 0, false
		}
	}
	return shift, true
}

// bisect emits a binary search that sets pickedIndex to base plus the number of thresholds that are at most randomBits. The thresholds
// ascend.
func (g *pathGenerator) bisect(thresholds []int64, base int) {
	if len(thresholds) == 0 {
		g.pickedIndex.Set(g.fn, constI32(base))
		return
	}
	mid := len(thresholds) / 2
	g.fn.IfElse(wasm.Void, g.randomBits.Ge(constI64(thresholds[mid])),
		func() { g.bisect(thresholds[mid+1:], base+mid+1) },
		func() { g.bisect(thresholds[:mid], base) })
}

// pickByWeights emits code that sets pickedIndex to the first alternative whose cumulative weight exceeds remainder, as expander.pickUpdates does.
func (g *pathGenerator) pickByWeights(move *moveSpec, alternatives []alternative, constant bool) {
	weight := func(alternative alternative) wasm.Expr[float64] {
		if constant {
			return constF64(alternative.weight)
		}
		return g.weight(move, alternative.updates)
	}
	fn := g.fn
	sum := wasm.Local[float64](fn)
	sum.Set(fn, constF64(0))
	fn.Block(func(done wasm.Label) {
		for i, alternative := range alternatives {
			g.pickedIndex.Set(fn, constI32(i))
			sum.Set(fn, weight(alternative).Add(sum))
			fn.BrIf(done, g.remainder.Lt(sum))
		}
		// Rounding errors can leave no alternative selected. Then take the last one with a positive weight.
		for i, alternative := range alternatives {
			fn.If(weight(alternative).Gt(constF64(0)), func() { g.pickedIndex.Set(fn, constI32(i)) })
		}
	})
}

// applyUpdates emits code that computes the new values of the variables, checks that they are in range, and assigns them. pickedIndex says
// which alternative was drawn. A value that is the same in all alternatives is computed once. Constants that differ come from a table.
// Only the other values need a branch on pickedIndex.
func (g *pathGenerator) applyUpdates(move *moveSpec, alternatives []alternative) {
	newLocals := map[int]wasm.Var[int32]{} // the new value of each assigned variable
	var common, fromTable, computed []int  // slots of variables, by how their new values are found
	for _, slot := range assignedSlots(alternatives) {
		newLocals[slot] = wasm.Local[int32](g.fn)
		switch column := g.valuesInAlternatives(alternatives, slot); {
		case allEqual(column):
			common = append(common, slot)
		case allConstants(column):
			fromTable = append(fromTable, slot)
		default:
			computed = append(computed, slot)
		}
	}
	groups, withoutMemo := g.memoGroups(g.valuesToCompute(alternatives[0], common))
	for _, group := range groups {
		g.lookUpMemo(group, newLocals)
	}
	g.assignTogether(withoutMemo, newLocals)
	for _, slot := range fromTable {
		newLocals[slot].Set(g.fn, g.constantOfAlternative(g.valuesInAlternatives(alternatives, slot)))
	}
	if len(computed) > 0 {
		g.branchOnPick(len(alternatives), func(i int) {
			g.assignTogether(g.valuesToCompute(alternatives[i], computed), newLocals)
		})
	}
	g.checkRanges(alternatives, newLocals)
	g.decideSelfLoop(move, alternatives, newLocals)
	for _, slot := range assignedSlots(alternatives) {
		g.slots[slot].Set(g.fn, newLocals[slot])
	}
}

// assignedSlots returns the slots of the variables that some alternative assigns, in ascending order.
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

// valueOf returns the new value of a variable in an alternative. It is the old value if the alternative does not assign the variable.
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
	column := make([]*term, len(alternatives))
	for i, alternative := range alternatives {
		column[i] = g.valueOf(alternative, slot)
	}
	return column
}

// allEqual reports whether all terms are the same.
func allEqual(terms []*term) bool {
	return !slices.ContainsFunc(terms, func(term *term) bool { return term != terms[0] })
}

// allConstants reports whether all terms are constants.
func allConstants(terms []*term) bool {
	return !slices.ContainsFunc(terms, func(term *term) bool { return !term.isConst() })
}

// newValue is a value to compute for a variable.
type newValue struct {
	slot  int
	value *term
}

// valuesToCompute returns the new values of the given variables in an alternative, and counts a use of each.
func (g *moveGenerator) valuesToCompute(alternative alternative, slots []int) []newValue {
	var values []newValue
	for _, slot := range slots {
		term := g.valueOf(alternative, slot)
		g.countUses(term)
		values = append(values, newValue{slot, term})
	}
	return values
}

// assignTogether emits code that computes values into locals. If several expensive values are ?: with the same condition, it branches
// on the condition once for all of them.
func (g *moveGenerator) assignTogether(values []newValue, newLocals map[int]wasm.Var[int32]) {
	cond := g.jointCondition(values)
	if cond == nil {
		for _, assigned := range values {
			newLocals[assigned.slot].Set(g.fn, g.intCode(assigned.value))
		}
		return
	}
	var ifTrue, ifFalse, rest []newValue
	for _, assigned := range values {
		term := assigned.value
		if term.op != opIfThenElse || term.operands[0] != cond {
			rest = append(rest, assigned)
			continue
		}
		ifTrue = append(ifTrue, newValue{assigned.slot, term.operands[1]})
		ifFalse = append(ifFalse, newValue{assigned.slot, term.operands[2]})
	}
	g.fn.IfElse(wasm.Void, g.intCode(cond),
		func() { g.assignUnder(cond, true, ifTrue, newLocals) },
		func() { g.assignUnder(cond, false, ifFalse, newLocals) })
	g.assignTogether(rest, newLocals)
}

// assignUnder emits the code of assignTogether, for a place where the condition cond is known to be true (holds) or false. It
// simplifies the values with this knowledge.
func (g *moveGenerator) assignUnder(cond *term, holds bool, values []newValue, newLocals map[int]wasm.Var[int32]) {
	outer := g.facts
	g.facts = outer.assume(cond, holds)
	for i := range values {
		values[i].value = g.facts.simplify(values[i].value)
		g.countUses(values[i].value)
	}
	g.scoped(func() { g.assignTogether(values, newLocals) })
	g.facts = outer
}

// jointCondition returns the condition of the values of the form ?: whose arms are most expensive in total. It returns nil if the arms
// of no condition cost more than jointCost.
func (g *moveGenerator) jointCondition(values []newValue) *term {
	var conds []*term
	arms := map[*term][]*term{}
	for _, newValue := range values {
		if newValue.value.op != opIfThenElse {
			continue
		}
		cond := newValue.value.operands[0]
		if arms[cond] == nil {
			conds = append(conds, cond)
		}
		arms[cond] = append(arms[cond], newValue.value.operands[1:]...)
	}
	var best *term
	most := jointCost
	for _, cond := range conds {
		if cost := g.costOf(maxCost, arms[cond]...); cost > most {
			best, most = cond, cost
		}
	}
	return best
}

// constantOfAlternative returns code for the constant that a variable gets in the picked alternative: a selection, a linear function of
// pickedIndex, or a table. column has the constant of each alternative.
func (g *pathGenerator) constantOfAlternative(column []*term) wasm.Expr[int32] {
	first := column[0].intValue
	step := column[1].intValue - first
	isLinear := step >= minInt && step <= maxInt
	for i, term := range column {
		isLinear = isLinear && term.intValue == first+int64(i)*step
	}
	switch {
	case len(column) == 2:
		return wasm.Select[int32](g.pickedIndex, constI32(column[1].intValue), constI32(first))
	case isLinear:
		return g.pickedIndex.Mul(constI32(step)).Add(constI32(first))
	}
	words := make([]byte, 0, 4*len(column))
	for _, term := range column {
		words = binary.LittleEndian.AppendUint32(words, uint32(int32(term.intValue)))
	}
	address := g.reserve(len(words))
	g.module.Data(int32(address), words)
	return wasm.Load[int32](g.pickedIndex.Shl(2), address)
}

// branchOnPick emits a jump table that runs the code of emit(i) if pickedIndex is i. n is the number of alternatives.
func (g *pathGenerator) branchOnPick(n int, emit func(i int)) {
	if n == 1 {
		emit(0)
		return
	}
	end := g.fn.Open()
	labels := g.openLabels(n)
	g.fn.BrTable(g.pickedIndex, labels, labels[n-1])
	for i := range n {
		g.fn.End()
		g.scoped(func() { emit(i) })
		g.fn.Br(end)
	}
	g.fn.End()
}

// checkRanges emits code that gives up if a new value is outside the range of its variable. It emits nothing for a variable if the
// intervals of its values exclude that.
func (g *pathGenerator) checkRanges(alternatives []alternative, newLocals map[int]wasm.Var[int32]) {
	for _, slot := range assignedSlots(alternatives) {
		mayBeOutside := func(value *term) bool { return !g.certainlyInRange(value, slot) }
		if slices.ContainsFunc(g.valuesInAlternatives(alternatives, slot), mayBeOutside) {
			g.giveUpOutside(newLocals[slot], slot)
		}
	}
}

// certainlyInRange reports whether a value is always within the range of its variable.
func (g *moveGenerator) certainlyInRange(term *term, slot int) bool {
	if term.sort == sortBool {
		return true
	}
	allowed, possible := g.graph.ranges[slot], g.facts.interval(term)
	return allowed.low <= possible.low && possible.high <= allowed.high
}

// giveUpOutside emits code that gives up if a number is outside the range of a variable.
func (g *moveGenerator) giveUpOutside(value wasm.Var[int32], slot int) {
	allowed := g.graph.ranges[slot]
	g.fn.BrIf(g.giveUp, value.Sub(constI32(allowed.low)).GtU(constI32(allowed.high-allowed.low)))
}

// decideSelfLoop emits code that ends the path in a state that it can never leave: the only choice has one transition, with
// probability 1, to the state itself. It emits nothing unless the monitor is an unbounded until formula, which such a loop decides.
func (g *pathGenerator) decideSelfLoop(move *moveSpec, alternatives []alternative, newLocals map[int]wasm.Var[int32]) {
	if !g.watch.endsAtLoops() || !g.mayBeDeterministic(move) || g.certainlyChanges(alternatives) {
		return
	}
	fn := g.fn
	fn.Block(func(notALoop wasm.Label) {
		fn.BrIf(notALoop, g.numChoices.Ne(constI32(1)))
		for _, slot := range assignedSlots(alternatives) {
			fn.BrIf(notALoop, newLocals[slot].Ne(g.slots[slot]))
		}
		for _, command := range move.commands {
			if g.constantWeights[command] == nil {
				g.requireDeterministic(command, notALoop)
			}
		}
		fn.Br(g.violated)
	})
}

// mayBeDeterministic reports whether a move may have a single transition, with probability 1: the constant weights of each command are a
// Dirac distribution. Computed weights are only known at run time.
func (g *pathGenerator) mayBeDeterministic(move *moveSpec) bool {
	for _, command := range move.commands {
		if weights := g.constantWeights[command]; weights != nil && !isDirac(weights) {
			return false
		}
	}
	return true
}

// isDirac reports whether weights are a Dirac distribution: exactly one weight is positive, and it is 1.
func isDirac(weights []float64) bool {
	numOnes := 0
	for _, weight := range weights {
		switch {
		case weight == 1:
			numOnes++
		case weight > 0:
			return false
		}
	}
	return numOnes == 1
}

// requireDeterministic emits a jump to notALoop that is taken unless the computed weights of a command are a Dirac distribution: exactly
// one weight is positive, and it is 1.
func (g *pathGenerator) requireDeterministic(command *command, notALoop wasm.Label) {
	numPositive, someIsOne := constI32(0), constI32(0)
	for _, weight := range g.computedWeights[command] {
		numPositive = numPositive.Add(weight.Gt(constF64(0)))
		someIsOne = someIsOne.Or(weight.Eq(constF64(1)))
	}
	g.fn.BrIf(notALoop, someIsOne.IsZero())
	g.fn.BrIf(notALoop, numPositive.Ne(constI32(1)))
}

// certainlyChanges reports whether every alternative changes the same variable, so that the move cannot be a self-loop.
func (g *pathGenerator) certainlyChanges(alternatives []alternative) bool {
	for _, slot := range assignedSlots(alternatives) {
		mayStay := func(value *term) bool { return !g.certainlyDiffers(slot, value) }
		if !slices.ContainsFunc(g.valuesInAlternatives(alternatives, slot), mayStay) {
			return true
		}
	}
	return false
}

// certainlyDiffers reports whether a new value of a variable is known to differ from the old one.
func (g *pathGenerator) certainlyDiffers(slot int, value *term) bool {
	if value.sort != sortInt {
		old := g.oldValue(slot)
		return value.isConst() && old.isConst() && value != old
	}
	after, before := g.facts.interval(value), g.facts.variable(slot)
	return after.high < before.low || before.high < after.low
}
