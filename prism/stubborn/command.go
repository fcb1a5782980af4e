package stubborn

import (
	"maps"
	"math/big"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// command is a command whose guard and updates are taken apart.
type command struct {
	guard int        // its condition
	box   int        // the condition of the intervals of the guard alone
	parts *condition // of the guard
	// isPlain says that the command has no action, and that its guard consists of intervals and negated boxes.
	isPlain bool
	// isCertain says that the command is plain, and has one update, which adds integers to variables with probability 1.
	isCertain bool
	// changes are what each update adds to variables. Variables that are assigned otherwise are in overwritten.
	changes     []map[int]int32
	overwritten map[int]bool
	// reads has the variables that the guard reads outside of intervals and negated boxes, and those that decide the updates.
	reads map[int]bool
}

// newCommand splits a command of the model into the conditions that its guard requires, and the integers that its updates add to variables. isPlain and
// isCertain of the result are necessary conditions for executing the command at once.
func (f *finder) newCommand(source *sema.Command) *command {
	guard := f.reader.read(source.Guard)
	parts := f.reader.conditions[guard]
	created := &command{
		guard: guard, box: f.reader.indexOf(condition{intervals: slices.Clone(parts.intervals)}), parts: &parts,
		overwritten: map[int]bool{}, reads: map[int]bool{},
	}
	areBoxes := true
	for _, negated := range parts.negated {
		if !f.reader.conditions[negated].isBox() {
			f.addReadsOfCondition(created, negated)
			areBoxes = false
		}
	}
	for _, other := range parts.others {
		created.addReads(other)
	}
	created.isPlain = areBoxes && len(parts.others) == 0 && source.Action == sema.Unlabelled
	for i := range source.Updates {
		created.addUpdate(&source.Updates[i])
	}
	hasOneUpdate := len(source.Updates) == 1 && f.isOne(source.Updates[0].Prob, created)
	if !hasOneUpdate {
		for i := range source.Updates {
			created.addReads(source.Updates[i].Prob)
		}
	}
	created.isCertain = created.isPlain && hasOneUpdate && len(created.overwritten) == 0
	return created
}

// addReads marks the variables of an expression as read by the command. A nil expression has none.
func (c *command) addReads(expr sema.Expr) {
	if expr == nil {
		return
	}
	sema.Inspect(expr, func(operand sema.Expr) bool {
		if variable, ok := operand.(*sema.Var); ok {
			c.reads[variable.Slot] = true
		}
		return true
	})
}

// addReadsOfCondition marks the variables of a condition, given by its index, as read by a command. The condition may negate other conditions, whose variables
// are marked, too.
func (f *finder) addReadsOfCondition(c *command, index int) {
	parts := &f.reader.conditions[index]
	for _, part := range parts.intervals {
		c.reads[part.slot] = true
	}
	for _, other := range parts.others {
		c.addReads(other)
	}
	for _, negated := range parts.negated {
		f.addReadsOfCondition(c, negated)
	}
}

// addUpdate appends an update to c.changes: the integers that it adds to variables. A variable that is assigned another expression goes to c.overwritten.
func (c *command) addUpdate(update *sema.Update) {
	changes := map[int]int32{}
	for i := range update.Assigns {
		assignment := &update.Assigns[i]
		by, isChange := c.changeOf(assignment)
		switch {
		case !isChange:
			c.overwritten[assignment.Slot] = true
			c.addReads(assignment.Value)
		case by != 0:
			changes[assignment.Slot] = by
		}
	}
	c.changes = append(c.changes, changes)
}

// changeOf returns the integer that an assignment adds to its variable: 2 for x'=x+2. For a constant, as in x'=5, this is known only if the guard requires one
// value of x: then it is 5 minus this value. ok is false for other assignments.
func (c *command) changeOf(assignment *sema.Assign) (by int32, ok bool) {
	base, offset, ok := linear(assignment.Value)
	if !ok {
		return 0, false
	}
	if base == assignment.Slot {
		return offset, true
	}
	known, isKnown := intervalAt(c.parts.intervals, assignment.Slot)
	if base == noVariable && isKnown && known.low == known.high {
		return offset - known.low, true
	}
	return 0, false
}

const (
	// noVariable is the variable of a constant.
	noVariable = -1
	// maxOffset bounds the integers in sums, so that sums do not overflow.
	maxOffset = 1 << 24
)

// linear returns the variable and the integer of an expression such as x+3. For a constant, the slot is noVariable; true counts as 1 and false as 0. ok is
// false for other expressions.
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

// linearSum returns the variable and the integer of a sum or a difference such as x+1-2. Without a variable, the slot is noVariable. ok is false if there are
// two variables, if a variable is subtracted, or if the integer is too large.
func linearSum(sum *sema.Binary) (slot int, offset int32, ok bool) {
	if sum.Type() != sema.Int || sum.Op != syntax.OpAdd && sum.Op != syntax.OpSub {
		return 0, 0, false
	}
	slot, left, isLeft := linear(sum.X)
	other, right, isRight := linear(sum.Y)
	if slot == noVariable && sum.Op == syntax.OpAdd {
		slot, other = other, slot
	}
	if sum.Op == syntax.OpSub {
		right = -right
	}
	offset = left + right
	return slot, offset, isLeft && isRight && other == noVariable && -maxOffset < offset && offset < maxOffset
}

// isOne reports whether a probability is 1 wherever the command is enabled.
func (f *finder) isOne(probability sema.Expr, c *command) bool {
	value := f.valueIn(probability, c.parts.intervals)
	return value != nil && value.IsInt() && value.Num().IsInt64() && value.Num().Int64() == 1
}

// valueIn returns the value of an expression if it is the same number in all states of a box; nil if this is not known. A box gives intervals for some
// variables. A nil expression is a missing probability, which means 1.
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

// hasEffectOf reports whether two commands change a state in the same way.
func (c *command) hasEffectOf(other *command) bool {
	return c.isCertain && other.isCertain && maps.Equal(c.changes[0], other.changes[0])
}

// before returns the values in an interval that its variable can have where the command is enabled.
func (c *command) before(part interval) interval {
	if known, isKnown := intervalAt(c.parts.intervals, part.slot); isKnown {
		part.low, part.high = max(part.low, known.low), min(part.high, known.high)
	}
	return part
}

// mayLeave reports whether a command may lead from a state in a box to a state outside of it. A box gives intervals for some variables. The answer may be true
// although no such step exists.
func (f *finder) mayLeave(c *command, box []interval) bool {
	if areDisjoint(c.parts.intervals, box) {
		return false
	}
	return slices.ContainsFunc(box, func(part interval) bool {
		before := c.before(part)
		variable := &f.program.Vars[part.slot]
		leaves := func(changes map[int]int32) bool {
			by := int64(changes[part.slot])
			lowest, highest := max(int64(before.low)+by, int64(variable.Low)), min(int64(before.high)+by, int64(variable.High))
			return by < 0 && lowest < int64(part.low) || by > 0 && highest > int64(part.high)
		}
		return c.overwritten[part.slot] || slices.ContainsFunc(c.changes, leaves)
	})
}

// mayEnter reports whether a command may lead from a state outside of a box to a state in the box. A box gives intervals for some variables. The answer may be
// true although no such step exists.
func (f *finder) mayEnter(c *command, box []interval) bool {
	return slices.ContainsFunc(c.changes, func(changes map[int]int32) bool {
		isWritten := false
		for _, part := range box {
			if c.overwritten[part.slot] {
				isWritten = true
				continue
			}
			variable := &f.program.Vars[part.slot]
			before := c.before(interval{part.slot, variable.Low, variable.High})
			by := int64(changes[part.slot])
			if int64(before.low)+by > int64(part.high) || int64(before.high)+by < int64(part.low) {
				return false
			}
			isWritten = isWritten || by != 0
		}
		return isWritten
	})
}
