package stubborn

import (
	"maps"
	"math/big"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// command is a command of the model. Its guard is split into conjuncts, and its updates into the integers that they add to variables.
//
// A box is a condition that consists of intervals: it gives an interval for the values of some variables.
type command struct {
	guard      *condition
	guardIndex int // of the guard in reader.conditions
	boxIndex   int // of the box with the intervals of the guard in reader.conditions
	// isPlain says that the command has no action, and that its guard consists of intervals and negated boxes.
	isPlain bool
	// isDeterministic says that the command is plain, and that it has one update, which adds integers to variables with probability 1.
	isDeterministic bool
	// changes has, for each update, the integers that it adds to variables, by slot.
	changes []map[int]int32
	// overwritten has the slots of the variables to which some update assigns another expression.
	overwritten map[int]bool
	// reads has the slots of the variables on which the updates depend, and of those in conjuncts of the guard that are neither intervals nor negated boxes.
	reads map[int]bool
}

// newCommand splits the guard of a command into conjuncts, and its updates into the integers that they add to variables.
func (f *finder) newCommand(source *sema.Command) *command {
	guardIndex := f.reader.read(source.Guard)
	guard := f.reader.conditions[guardIndex]
	created := &command{
		guard: &guard, guardIndex: guardIndex, boxIndex: f.reader.indexOf(condition{intervals: slices.Clone(guard.intervals)}),
		overwritten: map[int]bool{}, reads: map[int]bool{},
	}
	hasBoxGuard := f.addReadsOfGuard(created)
	created.isPlain = hasBoxGuard && source.Action == sema.Unlabelled
	for i := range source.Updates {
		created.addUpdate(&source.Updates[i])
	}
	hasOneUpdate := len(source.Updates) == 1 && f.isOne(source.Updates[0].Prob, created)
	if !hasOneUpdate {
		for i := range source.Updates {
			addVariables(created.reads, source.Updates[i].Prob)
		}
	}
	created.isDeterministic = created.isPlain && hasOneUpdate && len(created.overwritten) == 0
	return created
}

// addReadsOfGuard adds to c.reads the variables of the conjuncts of the guard that are neither intervals nor negated boxes. hasBoxGuard says that there
// are no such conjuncts.
func (f *finder) addReadsOfGuard(c *command) (hasBoxGuard bool) {
	hasBoxGuard = len(c.guard.others) == 0
	for _, index := range c.guard.negated {
		if !f.reader.conditions[index].isBox() {
			f.addReadsOfCondition(c, index)
			hasBoxGuard = false
		}
	}
	for _, conjunct := range c.guard.others {
		addVariables(c.reads, conjunct)
	}
	return hasBoxGuard
}

// addReadsOfCondition adds to c.reads the variables of a condition, and of the conditions that it negates.
func (f *finder) addReadsOfCondition(c *command, index int) {
	read := &f.reader.conditions[index]
	for _, interval := range read.intervals {
		c.reads[interval.slot] = true
	}
	for _, conjunct := range read.others {
		addVariables(c.reads, conjunct)
	}
	for _, negatedIndex := range read.negated {
		f.addReadsOfCondition(c, negatedIndex)
	}
}

// addUpdate appends the integers that an update adds to variables to c.changes. It adds the variables to which the update assigns other expressions to
// c.overwritten.
func (c *command) addUpdate(update *sema.Update) {
	changes := map[int]int32{}
	for i := range update.Assigns {
		assignment := &update.Assigns[i]
		change, isKnown := c.changeOf(assignment)
		switch {
		case !isKnown:
			c.overwritten[assignment.Slot] = true
			addVariables(c.reads, assignment.Value)
		case change != 0:
			changes[assignment.Slot] = change
		}
	}
	c.changes = append(c.changes, changes)
}

// changeOf returns the integer that an assignment adds to its variable: 2 for x'=x+2. For x'=5 the guard must require one value of x; the integer is then
// 5 minus this value. ok is false for other assignments.
func (c *command) changeOf(assignment *sema.Assign) (change int32, ok bool) {
	base, offset, ok := linear(assignment.Value)
	if !ok {
		return 0, false
	}
	if base == assignment.Slot {
		return offset, true
	}
	required, isRequired := intervalAt(c.guard.intervals, assignment.Slot)
	if base == noVariable && isRequired && required.low == required.high {
		return offset - required.low, true
	}
	return 0, false
}

const (
	// noVariable is the slot that linear returns for an expression without a variable.
	noVariable = -1
	// maxOffset bounds the integers in sums, so that sums do not overflow.
	maxOffset = 1 << 24
)

// linear returns the slot of x and the integer 3 for the expression x+3. For a constant, the slot is noVariable; the integer of true is 1, and that of
// false 0. ok is false for expressions of other forms.
func linear(expr sema.Expr) (slot int, offset int32, ok bool) {
	switch expr := expr.(type) {
	case *sema.Var:
		return expr.Slot, 0, true
	case *sema.Const:
		switch {
		case expr.Val.Type == sema.Bool && expr.Val.Bool:
			return noVariable, 1, true
		case expr.Val.Type == sema.Bool:
			return noVariable, 0, true
		}
		return noVariable, expr.Val.Int, expr.Val.Type == sema.Int && -maxOffset < expr.Val.Int && expr.Val.Int < maxOffset
	case *sema.Binary:
		return linearSum(expr)
	}
	return 0, 0, false
}

// linearSum returns the slot of x and the integer -1 for a sum or a difference such as x+1-2. Without a variable, the slot is noVariable. ok is false if
// there are two variables, if a variable is subtracted, or if an integer is not between -maxOffset and maxOffset.
func linearSum(sum *sema.Binary) (slot int, offset int32, ok bool) {
	if sum.Type() != sema.Int || sum.Op != syntax.OpAdd && sum.Op != syntax.OpSub {
		return 0, 0, false
	}
	slot, leftOffset, isLeftLinear := linear(sum.X)
	otherSlot, rightOffset, isRightLinear := linear(sum.Y)
	if slot == noVariable && sum.Op == syntax.OpAdd {
		slot, otherSlot = otherSlot, slot
	}
	if sum.Op == syntax.OpSub {
		rightOffset = -rightOffset
	}
	offset = leftOffset + rightOffset
	return slot, offset, isLeftLinear && isRightLinear && otherSlot == noVariable && -maxOffset < offset && offset < maxOffset
}

// isOne reports whether a probability is 1 in all states in which the command is enabled.
func (f *finder) isOne(probability sema.Expr, c *command) bool {
	value := f.valueIn(probability, c.guard.intervals)
	return value != nil && value.IsInt() && value.Num().IsInt64() && value.Num().Int64() == 1
}

// valueIn returns the value of an expression if it is the same number in all states of a box; nil if this is not known. A nil expression is a
// missing probability, which means 1.
func (f *finder) valueIn(expr sema.Expr, box []interval) *big.Rat {
	switch expr := expr.(type) {
	case nil:
		return big.NewRat(1, 1)
	case *sema.Const:
		if expr.Type() == sema.Int {
			return big.NewRat(int64(expr.Val.Int), 1)
		}
		return expr.Val.Rat
	case *sema.Cond:
		condition := &f.reader.conditions[f.reader.read(expr.Condition)]
		switch {
		case condition.isBox() && includes(condition.intervals, box):
			return f.valueIn(expr.Then, box)
		case areDisjoint(condition.intervals, box):
			return f.valueIn(expr.Else, box)
		}
	case *sema.Binary:
		return f.resultIn(expr, box)
	}
	return nil
}

// resultIn returns the value of a sum, product or quotient if it is the same number in all states of a box; nil if this is not known.
func (f *finder) resultIn(operation *sema.Binary, box []interval) *big.Rat {
	left, right := f.valueIn(operation.X, box), f.valueIn(operation.Y, box)
	switch {
	case left == nil || right == nil:
		return nil
	case operation.Op == syntax.OpAdd:
		return new(big.Rat).Add(left, right)
	case operation.Op == syntax.OpMul:
		return new(big.Rat).Mul(left, right)
	case operation.Op == syntax.OpDiv && right.Sign() != 0:
		return new(big.Rat).Quo(left, right)
	}
	return nil
}

// writes reports whether a command may change a variable.
func (c *command) writes(slot int) bool {
	return c.overwritten[slot] || slices.ContainsFunc(c.changes, func(changes map[int]int32) bool { return changes[slot] != 0 })
}

// hasSameEffect reports whether two commands are deterministic and change a state in the same way.
func (c *command) hasSameEffect(other *command) bool {
	return c.isDeterministic && other.isDeterministic && maps.Equal(c.changes[0], other.changes[0])
}

// restrictToGuard returns the part of an interval that the guard of the command allows.
func (c *command) restrictToGuard(values interval) interval {
	if allowed, isRestricted := intervalAt(c.guard.intervals, values.slot); isRestricted {
		values.low, values.high = max(values.low, allowed.low), min(values.high, allowed.high)
	}
	return values
}

// mayLeave reports whether a command may lead from a state in a box to a state outside of the box. It may return true although no such step exists.
func (f *finder) mayLeave(c *command, box []interval) bool {
	if areDisjoint(c.guard.intervals, box) {
		return false
	}
	return slices.ContainsFunc(box, func(inside interval) bool {
		leavesInterval := func(changes map[int]int32) bool { return f.mayLeaveInterval(c, changes[inside.slot], inside) }
		return c.overwritten[inside.slot] || slices.ContainsFunc(c.changes, leavesInterval)
	})
}

// mayLeaveInterval reports whether a variable may leave an interval if the command adds an integer (change) to it. The sum is limited to the range of the
// variable, because a larger or smaller sum is an error of the model.
func (f *finder) mayLeaveInterval(c *command, change int32, inside interval) bool {
	before := c.restrictToGuard(inside)
	variable := &f.program.Vars[inside.slot]
	lowestAfter := max(int64(before.low)+int64(change), int64(variable.Low))
	highestAfter := min(int64(before.high)+int64(change), int64(variable.High))
	return change < 0 && lowestAfter < int64(inside.low) || change > 0 && highestAfter > int64(inside.high)
}

// mayEnter reports whether a command may lead from a state outside of a box to a state in the box. It may return true although no such step exists.
func (f *finder) mayEnter(c *command, box []interval) bool {
	return slices.ContainsFunc(c.changes, func(changes map[int]int32) bool { return f.updateMayEnter(c, changes, box) })
}

// updateMayEnter reports whether one update of a command may lead from a state outside of a box to a state in the box. changes has the integers that the
// update adds to variables. The update must write a variable of the box, and each variable must be able to have a value in its interval afterwards.
func (f *finder) updateMayEnter(c *command, changes map[int]int32, box []interval) bool {
	writesBox := false
	for _, inside := range box {
		if c.overwritten[inside.slot] {
			writesBox = true
			continue
		}
		variable := &f.program.Vars[inside.slot]
		before := c.restrictToGuard(interval{inside.slot, variable.Low, variable.High})
		change := int64(changes[inside.slot])
		if int64(before.low)+change > int64(inside.high) || int64(before.high)+change < int64(inside.low) {
			return false
		}
		writesBox = writesBox || change != 0
	}
	return writesBox
}
