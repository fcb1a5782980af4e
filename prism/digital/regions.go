package digital

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// A region is stored in two variables per clock. The value counts half units of time: 2k stands for the number k, and
// 2k+1 for all numbers between k and k+1 or, if k is the largest number that the clock is compared with, for all numbers
// above k. The rank is 0 if the clock shows a whole number or is above its largest number. The other clocks
// have a fractional part, and the order of their ranks is the order of these parts. Ranks may have gaps between them.
//
// A time step leads to the next region (Alur and Dill 1994): if clocks show whole numbers, they begin a fraction
// that is smaller than all others; if not, the clocks with the greatest fraction reach the next whole number.

// clockPair is a pair of clocks that are compared with each other. order is a variable with the sign of first-second, -1, 0 or 1, while both
// clocks are above their largest number.
type clockPair struct{ first, second, orderSlot int }

// addPair records that two clocks are compared.
func (t *translation) addPair(first, second int) {
	if first != second && t.findPair(first, second) == nil {
		t.clockPairs = append(t.clockPairs, &clockPair{first: first, second: second})
	}
}

// findPair returns the pair of two clocks that some constraint compares with each other; nil if no constraint does.
func (t *translation) findPair(first, second int) *clockPair {
	for _, pair := range t.clockPairs {
		isInOrder := pair.first == first && pair.second == second
		isReversed := pair.first == second && pair.second == first
		if isInOrder || isReversed {
			return pair
		}
	}
	return nil
}

// pairOf returns the pair of clocks that a constraint compares; nil if it compares a clock with a number or with itself.
func (t *translation) pairOf(constraint *sema.Binary) *clockPair {
	left, leftIsVariable := constraint.X.(*sema.Var)
	right, rightIsVariable := constraint.Y.(*sema.Var)
	if !leftIsVariable || !rightIsVariable {
		return nil
	}
	return t.findPair(left.Slot, right.Slot)
}

// addRegionVariables adds the variables that represent regions: the rank of each clock, and the order of each pair of compared clocks.
func (t *translation) addRegionVariables(program *sema.Program) {
	slots := t.clockSlots()
	for _, slot := range slots {
		clock := program.Vars[slot]
		t.clocks[slot].rankSlot = addVariable(program, clock.Name+"_rank", sema.Variable{
			Type: sema.Int, IsBounded: true, High: int32(len(slots)), Module: clock.Module, Pos: clock.Pos,
		})
	}
	for _, pair := range t.clockPairs {
		first, second := program.Vars[pair.first], program.Vars[pair.second]
		pair.orderSlot = addVariable(program, first.Name+"_"+second.Name+"_order", sema.Variable{
			Type: sema.Int, IsBounded: true, Low: -1, High: 1, Module: first.Module, Pos: first.Pos,
		})
	}
}

// equalizeLimits makes maxCompared equal for clocks that constraints compare with each other: all get the largest of their values.
func (t *translation) equalizeLimits() {
	for changed := true; changed; {
		changed = false
		for _, pair := range t.clockPairs {
			first, second := t.clocks[pair.first], t.clocks[pair.second]
			if first.maxCompared == second.maxCompared {
				continue
			}
			largest := max(first.maxCompared, second.maxCompared)
			first.maxCompared, second.maxCompared = largest, largest
			changed = true
		}
	}
}

// rankIs returns the condition that a clock has a rank.
func (t *translation) rankIs(slot int, rank sema.Expr) sema.Expr {
	return compare(varAt(t.clocks[slot].rankSlot, rank.Pos()), syntax.OpEq, rank)
}

// wholeBelow returns the condition that the value of a clock is a whole number below a limit.
func (t *translation) wholeBelow(slot int, limit int32, pos syntax.Pos) sema.Expr {
	return conjunction(t.rankIs(slot, intAt(0, pos)), compare(varAt(slot, pos), syntax.OpLt, intAt(limit, pos)))
}

// anyClock returns the condition that some clock satisfies a condition.
func (t *translation) anyClock(condition func(slot int) sema.Expr) sema.Expr {
	var conditions []sema.Expr
	for _, slot := range t.clockSlots() {
		conditions = append(conditions, condition(slot))
	}
	return disjunction(conditions)
}

// advances returns the condition that a clock advances in the next time step. If some clock has a whole number as its value, the clocks of rank 0
// advance. Otherwise the clocks of the greatest rank advance.
func (t *translation) advances(slot int, pos syntax.Pos) sema.Expr {
	var ranks []sema.Expr
	for _, other := range t.clockSlots() {
		ranks = append(ranks, varAt(t.clocks[other].rankSlot, pos))
	}
	anyWhole := t.anyClock(func(other int) sema.Expr { return t.wholeBelow(other, t.clockLimit(other), pos) })
	return t.rankIs(slot, conditional(anyWhole, intAt(0, pos), call(sema.FuncMax, ranks...)))
}

// beginsFraction returns the condition that a clock shows a whole number below its largest number.
func (t *translation) beginsFraction(slot int, pos syntax.Pos) sema.Expr {
	return t.wholeBelow(slot, t.clockLimit(slot)-1, pos)
}

// nextRank returns an expression for the rank of a clock after a time step. The ranks order the clocks by the fractions of their values, and have
// no gaps.
func (t *translation) nextRank(slot int, pos syntax.Pos) sema.Expr {
	rank := varAt(t.clocks[slot].rankSlot, pos)
	// The rank of a clock that does not advance is the number of smaller fractions: one if fractions begin in this step, and one for each lower rank.
	numSmaller := indicator(t.anyClock(func(otherClock int) sema.Expr { return t.beginsFraction(otherClock, pos) }))
	for lower := range len(t.clocks) {
		occupiedRank := intAt(int32(lower+1), pos)
		isOccupied := t.anyClock(func(otherClock int) sema.Expr { return t.rankIs(otherClock, occupiedRank) })
		numSmaller = plus(numSmaller, indicator(conjunction(compare(occupiedRank, syntax.OpLe, rank), isOccupied)))
	}
	nextRank := conditional(t.advances(slot, pos), indicator(t.beginsFraction(slot, pos)), numSmaller)
	if inactive := t.clocks[slot].inactiveCondition; inactive != nil {
		return conditional(inactive, intAt(0, pos), nextRank)
	}
	return nextRank
}

// advanceOrder returns the assignments that a time step makes for the rank of a clock, and for the order of each pair whose first clock it is.
func (t *translation) advanceOrder(slot int, pos syntax.Pos) []sema.Assign {
	assignments := []sema.Assign{{Slot: t.clocks[slot].rankSlot, Pos: pos, Value: t.nextRank(slot, pos)}}
	for _, pair := range t.clockPairs {
		if pair.first == slot {
			assignments = append(assignments, sema.Assign{Slot: pair.orderSlot, Pos: pos, Value: t.nextOrder(pair, pos)})
		}
	}
	return assignments
}

// nextOrder returns an expression for the order of a pair after a time step. If both clocks are then above the largest number that they are
// compared with, it is the sign of first-second. Otherwise it is 0.
func (t *translation) nextOrder(pair *clockPair, pos syntax.Pos) sema.Expr {
	limit := intAt(t.clockLimit(pair.first), pos)
	aboveLargest := conjunction(
		compare(t.valueAfterStep(pair.first, pos), syntax.OpEq, limit),
		compare(t.valueAfterStep(pair.second, pos), syntax.OpEq, limit),
	)
	firstPosition, secondPosition := t.orderedPosition(pair, pair.first, pos), t.orderedPosition(pair, pair.second, pos)
	isGreater := indicator(compare(firstPosition, syntax.OpGt, secondPosition))
	sign := conditional(compare(firstPosition, syntax.OpLt, secondPosition), intAt(-1, pos), isGreater)
	return conditional(aboveLargest, sign, intAt(0, pos))
}

// orderedPosition returns an expression for the position of a clock. The positions of the two clocks of a pair are ordered as the values of the clocks
// are.
func (t *translation) orderedPosition(pair *clockPair, slot int, pos syntax.Pos) sema.Expr {
	position := plus(times(varAt(slot, pos), int64(len(t.clocks)+1)), varAt(t.clocks[slot].rankSlot, pos))
	if slot == pair.second {
		return position
	}
	limit := intAt(t.clockLimit(slot), pos)
	aboveLargest := conjunction(compare(varAt(pair.first, pos), syntax.OpEq, limit), compare(varAt(pair.second, pos), syntax.OpEq, limit))
	return plus(position, conditional(aboveLargest, varAt(pair.orderSlot, pos), intAt(0, pos)))
}

// comparePair translates a constraint that compares two clocks.
func (t *translation) comparePair(constraint *sema.Binary, pair *clockPair) sema.Expr {
	result := *constraint
	result.X = t.orderedPosition(pair, constraint.X.(*sema.Var).Slot, constraint.X.Pos())
	result.Y = t.orderedPosition(pair, constraint.Y.(*sema.Var).Slot, constraint.Y.Pos())
	return &result
}
