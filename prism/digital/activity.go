package digital

import (
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxLocations is the greatest number of locations for which the activity of a clock is computed.
const maxLocations = 1 << 12

// activity finds where a clock of a module is inactive: on all paths from there, the clock is set before a constraint reads it. Its
// value does not matter there. The locations are the valuations of the module's discrete variables.
//
// Source: Daws and Yovine, Reducing the number of clock variables of timed automata (RTSS 1996).
type activity struct {
	*translation
	module *sema.Module
	clock  int
	slots  []int   // of the discrete variables of the module
	state  []int32 // the current location; only the variables in slots have values
	active []bool  // marks the locations in which the clock is active, by number
}

// inactiveWhere returns a condition on the discrete variables of a module under which a clock of the module is inactive. It returns nil if it finds none.
func (t *translation) inactiveWhere(module *sema.Module, clock int) sema.Expr {
	if t.isReadOutside(module, clock) {
		return nil
	}
	search := &activity{translation: t, module: module, clock: clock, state: make([]int32, len(t.source.Vars))}
	for _, slot := range module.Vars {
		if t.clocks[slot] == nil {
			search.slots = append(search.slots, slot)
		}
	}
	count := t.valuationCount(search.slots)
	if count > maxLocations {
		return nil
	}
	search.active = make([]bool, count)
	for changed := true; changed; {
		changed = search.markActive()
	}
	return search.inactiveCondition()
}

// isReadOutside reports whether another module, a label or the property reads a clock of a module.
func (t *translation) isReadOutside(module *sema.Module, clock int) bool {
	reads := func(expr sema.Expr) bool { return slices.Contains(variablesIn(expr), clock) }
	if reads(t.property) || slices.ContainsFunc(t.source.Labels, func(label sema.LabelDef) bool { return reads(label.X) }) {
		return true
	}
	for i := range t.source.Modules {
		other := &t.source.Modules[i]
		readsInGuard := func(command sema.Command) bool { return reads(command.Guard) }
		if other != module && (reads(other.Invariant) || slices.ContainsFunc(other.Commands, readsInGuard)) {
			return true
		}
	}
	return false
}

// forEachLocation sets state to each location and calls visit with the number of the location.
func (a *activity) forEachLocation(visit func(number int)) {
	for _, slot := range a.slots {
		a.state[slot] = a.source.Vars[slot].Low
	}
	number := 0
	for more := true; more; more = a.nextValuation(a.state, a.slots) {
		visit(number)
		number++
	}
}

// markActive marks the locations in which isActive holds. It reports whether it marked a new one; then further locations may be active.
func (a *activity) markActive() (changed bool) {
	a.forEachLocation(func(number int) {
		if !a.active[number] && a.isActive() {
			a.active[number], changed = true, true
		}
	})
	return changed
}

// isActive reports whether the clock is active in the current location: the invariant or a guard reads it there, or an update that does not set the
// clock leads to a marked location.
func (a *activity) isActive() bool {
	if a.module.Invariant != nil && a.dependsOnClock(a.module.Invariant) {
		return true
	}
	for i := range a.module.Commands {
		command := &a.module.Commands[i]
		if a.isAlways(command.Guard, false) {
			continue
		}
		if a.dependsOnClock(command.Guard) || slices.ContainsFunc(command.Updates, a.leadsToActive) {
			return true
		}
	}
	return false
}

// leadsToActive reports whether an update does not set the clock and may lead to a marked location.
func (a *activity) leadsToActive(update sema.Update) bool {
	target := slices.Clone(a.state)
	for _, assign := range update.Assigns {
		if assign.Slot == a.clock {
			return false
		}
	}
	for _, assign := range update.Assigns {
		if !slices.Contains(a.slots, assign.Slot) {
			continue
		}
		value, err := sema.Eval(assign.Value, a.state)
		if err != nil || !a.isDetermined(assign.Value) {
			return true
		}
		target[assign.Slot] = value.Int
		if value.Type == sema.Bool && value.Bool {
			target[assign.Slot] = 1
		}
	}
	number, ok := a.numberOf(target)
	return ok && a.active[number]
}

// numberOf returns the number of a location. ok is false if a variable is out of range.
func (a *activity) numberOf(state []int32) (number int, ok bool) {
	for _, slot := range slices.Backward(a.slots) {
		variable := &a.source.Vars[slot]
		if state[slot] < variable.Low || state[slot] > variable.High {
			return 0, false
		}
		number = number*int(variable.High-variable.Low+1) + int(state[slot]-variable.Low)
	}
	return number, true
}

// isDetermined reports whether an expression reads only the discrete variables of the module.
func (a *activity) isDetermined(expr sema.Expr) bool {
	return !slices.ContainsFunc(variablesIn(expr), func(slot int) bool { return !slices.Contains(a.slots, slot) })
}

// isAlways reports whether the discrete variables of the module, with their values in the current location, make a condition true (holds) or false.
// If other variables or clocks may matter, it returns false.
func (a *activity) isAlways(expr sema.Expr, holds bool) bool {
	switch expr := expr.(type) {
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			return a.isAlways(expr.X, !holds)
		}
	case *sema.Binary:
		first, second, isConnective := operands(expr)
		switch {
		case isConnective && holds == (expr.Op == syntax.OpAnd): // both operands decide
			return a.isAlways(first.expr, first.is(holds)) && a.isAlways(second.expr, second.is(holds))
		case isConnective:
			return a.isAlways(first.expr, first.is(holds)) || a.isAlways(second.expr, second.is(holds))
		}
	}
	if !a.isDetermined(expr) {
		return false
	}
	value, err := sema.Eval(expr, a.state)
	return err == nil && value.Bool == holds
}

// operand is an operand of a connective, negated or not.
type operand struct {
	expr    sema.Expr
	negated bool
}

// is returns what the operand's expression must be for the operand to be true or false.
func (o operand) is(holds bool) bool { return holds != o.negated }

// operands returns the operands of a conjunction or a disjunction; x => y is !x | y.
func operands(expr *sema.Binary) (first, second operand, isConnective bool) {
	switch expr.Op {
	case syntax.OpAnd, syntax.OpOr, syntax.OpImplies:
		return operand{expr.X, expr.Op == syntax.OpImplies}, operand{expr.Y, false}, true
	}
	return operand{}, operand{}, false
}

// dependsOnClock reports whether a condition may depend on the clock in the current location.
func (a *activity) dependsOnClock(expr sema.Expr) bool {
	if a.isAlways(expr, true) || a.isAlways(expr, false) {
		return false
	}
	switch expr := expr.(type) {
	case *sema.Unary:
		return a.dependsOnClock(expr.X)
	case *sema.Binary:
		if first, second, isConnective := operands(expr); isConnective {
			return a.dependsOnClock(first.expr) || a.dependsOnClock(second.expr)
		}
	}
	return slices.Contains(variablesIn(expr), a.clock)
}

// inactiveCondition returns a disjunction of comparisons v=n, one for each variable v and value n such that the clock is inactive in all locations with
// v=n. It returns nil if there are none.
func (a *activity) inactiveCondition() sema.Expr {
	isActive := make(map[[2]int32]bool) // by slot and value
	a.forEachLocation(func(number int) {
		for _, slot := range a.slots {
			key := [2]int32{int32(slot), a.state[slot]}
			isActive[key] = isActive[key] || a.active[number]
		}
	})
	var conditions []sema.Expr
	for _, slot := range a.slots {
		variable := &a.source.Vars[slot]
		for value := variable.Low; value <= variable.High && variable.Type == sema.Int; value++ {
			if !isActive[[2]int32{int32(slot), value}] {
				conditions = append(conditions, compare(varAt(slot, a.module.Pos), syntax.OpEq, intAt(value, a.module.Pos)))
			}
		}
	}
	if len(conditions) == 0 {
		return nil
	}
	return anyOf(conditions)
}
