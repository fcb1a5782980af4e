package digital

import (
	"cmp"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxLocations is the greatest number of locations for which the limits of a clock are computed.
const maxLocations = 1 << 12

// inactive is the limit of a clock whose value does not matter.
const inactive = -1

// locationLimits finds the limit of a clock of a module in each location: the largest number that the clock is compared with there, or
// later before it is set. Greater values of the clock need not be distinguished. The locations are the valuations of discrete
// variables of the module.
//
// Source: Behrmann, Bouyer, Fleury and Larsen, Static guard analysis in timed automata verification (TACAS 2003); for inactive clocks, Daws and
// Yovine, Reducing the number of clock variables of timed automata (RTSS 1996).
type locationLimits struct {
	*translation
	module *sema.Module
	clock  int
	slots  []int   // of the discrete variables whose valuations are the locations
	state  []int32 // the location that is looked at; only the variables in slots have values
	limits []int64 // by number of the location
}

// limitsOf returns the limits of a clock of a module; nil if something outside the module reads the clock. If the discrete variables of the
// module have too many valuations, it distinguishes the values of those with the smallest ranges only.
func (t *translation) limitsOf(module *sema.Module, clock int) *locationLimits {
	if t.isReadOutside(module, clock) {
		return nil
	}
	a := &locationLimits{translation: t, module: module, clock: clock, state: make([]int32, len(t.source.Vars))}
	for _, slot := range module.Vars {
		if t.clocks[slot] == nil {
			a.slots = append(a.slots, slot)
		}
	}
	slices.SortStableFunc(a.slots, func(first, second int) int {
		return cmp.Compare(t.valuationCount([]int{first}), t.valuationCount([]int{second}))
	})
	for t.valuationCount(a.slots) > maxLocations {
		a.slots = a.slots[:len(a.slots)-1]
	}
	a.limits = slices.Repeat([]int64{inactive}, int(t.valuationCount(a.slots)))
	for changed := true; changed; {
		changed = a.raiseLimits()
	}
	return a
}

// isReadOutside reports whether another module, a label, a reward or the property reads a clock of a module.
func (t *translation) isReadOutside(module *sema.Module, clock int) bool {
	reads := func(expr sema.Expr) bool { return slices.Contains(variablesIn(expr), clock) }
	if reads(t.property) || slices.ContainsFunc(t.source.Labels, func(label sema.LabelDef) bool { return reads(label.X) }) {
		return true
	}
	readsInReward := func(item sema.RewardItem) bool { return reads(item.Guard) || reads(item.Value) }
	for _, structure := range t.source.Rewards {
		if slices.ContainsFunc(structure.Items, readsInReward) {
			return true
		}
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

// eachLocation calls f with the number of each location, after setting state to it.
func (a *locationLimits) eachLocation(f func(number int)) {
	for _, slot := range a.slots {
		a.state[slot] = a.source.Vars[slot].Low
	}
	number := 0
	for more := true; more; more = a.nextValuation(a.state, a.slots) {
		f(number)
		number++
	}
}

// raiseLimits raises the limit of each location to what the location itself and the limits so far of its successors ask for. It reports
// whether a limit changed.
func (a *locationLimits) raiseLimits() (changed bool) {
	a.eachLocation(func(number int) {
		if limit := a.limitHere(); limit > a.limits[number] {
			a.limits[number], changed = limit, true
		}
	})
	return changed
}

// limitHere returns the limit of the location in state, as far as the limits so far say.
func (a *locationLimits) limitHere() int64 {
	limit := int64(inactive)
	if a.module.Invariant != nil {
		limit = a.maxComparedIn(a.module.Invariant)
	}
	for i := range a.module.Commands {
		command := &a.module.Commands[i]
		if a.isAlways(command.Guard, false) {
			continue
		}
		limit = max(limit, a.maxComparedIn(command.Guard))
		for _, update := range command.Updates {
			limit = max(limit, a.limitAfter(update))
		}
	}
	return limit
}

// limitAfter returns the limit of the location to which an update leads; inactive if the update sets the clock.
func (a *locationLimits) limitAfter(update sema.Update) int64 {
	target := slices.Clone(a.state)
	for _, assign := range update.Assigns {
		if assign.Slot == a.clock {
			return inactive
		}
	}
	for _, assign := range update.Assigns {
		if !slices.Contains(a.slots, assign.Slot) {
			continue
		}
		value, err := sema.Eval(assign.Value, a.state)
		if err != nil || !a.isDetermined(assign.Value) {
			return a.clocks[a.clock].maxCompared
		}
		target[assign.Slot] = value.Int
		if value.Type == sema.Bool && value.Bool {
			target[assign.Slot] = 1
		}
	}
	if number, ok := a.numberOf(target); ok {
		return a.limits[number]
	}
	return inactive
}

// numberOf returns the number of a location. ok is false if a variable is out of range.
func (a *locationLimits) numberOf(state []int32) (number int, ok bool) {
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
func (a *locationLimits) isDetermined(expr sema.Expr) bool {
	return !slices.ContainsFunc(variablesIn(expr), func(slot int) bool { return !slices.Contains(a.slots, slot) })
}

// isAlways reports whether the location decides a condition, with the given result.
func (a *locationLimits) isAlways(expr sema.Expr, holds bool) bool {
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

// maxComparedIn returns the largest number that a condition compares the clock with in the location in state; inactive if the condition does
// not depend on the clock there.
func (a *locationLimits) maxComparedIn(expr sema.Expr) int64 {
	if !slices.Contains(variablesIn(expr), a.clock) || a.isAlways(expr, true) || a.isAlways(expr, false) {
		return inactive
	}
	switch expr := expr.(type) {
	case *sema.Unary:
		return a.maxComparedIn(expr.X)
	case *sema.Binary:
		if first, second, isConnective := operands(expr); isConnective {
			return max(a.maxComparedIn(first.expr), a.maxComparedIn(second.expr))
		}
		if slot, isComparison := a.comparedClock(expr); isComparison && slot == a.clock {
			return a.comparedNumber(expr)
		}
	}
	return a.clocks[a.clock].maxCompared
}

// comparedNumber returns the number that a comparison compares the clock with in the location in state; the largest one of all locations if
// the location does not determine it.
func (a *locationLimits) comparedNumber(comparison *sema.Binary) int64 {
	other := comparison.Y
	if slices.Contains(variablesIn(other), a.clock) {
		other = comparison.X
	}
	value, err := sema.Eval(other, a.state)
	if err != nil || value.Type != sema.Int || !a.isDetermined(other) {
		return a.clocks[a.clock].maxCompared
	}
	return max(int64(value.Int), 0)
}

// byValue returns, for each value of the discrete variable in a slot, the greatest limit of the locations in which the variable has this value.
func (a *locationLimits) byValue(slot int) []int64 {
	variable := &a.source.Vars[slot]
	limits := slices.Repeat([]int64{inactive}, int(variable.High-variable.Low+1))
	a.eachLocation(func(number int) {
		value := a.state[slot] - variable.Low
		limits[value] = max(limits[value], a.limits[number])
	})
	return limits
}

// inactiveWhere returns a disjunction of v=n over the values n of a variable v with which the clock is inactive, whatever the
// values of the other variables. It returns nil if there are none.
func (a *locationLimits) inactiveWhere() sema.Expr {
	var conditions []sema.Expr
	for _, slot := range a.slots {
		conditions = append(conditions, a.valuesWithLimit(slot, a.byValue(slot), inactive)...)
	}
	if len(conditions) == 0 {
		return nil
	}
	return anyOf(conditions)
}

// valuesWithLimit returns the conditions that the integer variable in a slot has one of the values with a limit.
func (a *locationLimits) valuesWithLimit(slot int, limits []int64, limit int64) []sema.Expr {
	var conditions []sema.Expr
	if a.source.Vars[slot].Type != sema.Int {
		return nil
	}
	for i, valueLimit := range limits {
		if valueLimit == limit {
			value := a.source.Vars[slot].Low + int32(i)
			conditions = append(conditions, compare(varAt(slot, a.module.Pos), syntax.OpEq, intAt(value, a.module.Pos)))
		}
	}
	return conditions
}

// greatestValue returns the greatest value that a digital clock needs, as a function of the integer variable that reduces the values most on
// average: one time step more than the limit, and 0 where the clock is inactive. It returns nil if no variable reduces them.
func (a *locationLimits) greatestValue() sema.Expr {
	var best []int64
	bestSlot, bestMean := 0, float64(a.clocks[a.clock].maxCompared)
	for _, slot := range a.slots {
		if a.source.Vars[slot].Type != sema.Int {
			continue
		}
		limits := a.byValue(slot)
		sum := 0.0
		for _, limit := range limits {
			sum += float64(limit)
		}
		if mean := sum / float64(len(limits)); mean < bestMean {
			best, bestSlot, bestMean = limits, slot, mean
		}
	}
	if best == nil {
		return nil
	}
	greatest := intAt(a.clockLimit(a.clock), a.module.Pos)
	for _, limit := range slices.Compact(slices.Sorted(slices.Values(best))) {
		if limit == a.clocks[a.clock].maxCompared {
			break
		}
		value := int32(0)
		if limit != inactive {
			value = a.inSteps(limit) + 1
		}
		condition := anyOf(a.valuesWithLimit(bestSlot, best, limit))
		greatest = choose(condition, intAt(value, a.module.Pos), greatest)
	}
	return greatest
}
