package digital

import (
	"cmp"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxLocations is the greatest number of locations for which the limits of a clock are computed.
const maxLocations = 1 << 12

// inactive is the limit of a clock in a location where its value does not matter.
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
	state  []int32 // the current location; only the variables in slots have values
	limits []int64 // by number of the location
}

// limitsOf returns the limits of a clock of a module; nil if something outside the module reads the clock. If the discrete variables of the
// module have too many valuations, it distinguishes the values of those with the smallest ranges only.
func (t *translation) limitsOf(module *sema.Module, clock int) *locationLimits {
	if t.isReadOutside(module, clock) {
		return nil
	}
	search := &locationLimits{translation: t, module: module, clock: clock, state: make([]int32, len(t.source.Vars))}
	for _, slot := range module.Vars {
		if t.clocks[slot] == nil {
			search.slots = append(search.slots, slot)
		}
	}
	slices.SortStableFunc(search.slots, func(first, second int) int {
		return cmp.Compare(t.valuationCount([]int{first}), t.valuationCount([]int{second}))
	})
	for t.valuationCount(search.slots) > maxLocations {
		search.slots = search.slots[:len(search.slots)-1]
	}
	search.limits = slices.Repeat([]int64{inactive}, int(t.valuationCount(search.slots)))
	for changed := true; changed; {
		changed = search.raiseLimits()
	}
	return search
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

// forEachLocation sets state to each location and calls visit with the number of the location.
func (search *locationLimits) forEachLocation(visit func(number int)) {
	for _, slot := range search.slots {
		search.state[slot] = search.source.Vars[slot].Low
	}
	number := 0
	for more := true; more; more = search.nextValuation(search.state, search.slots) {
		visit(number)
		number++
	}
}

// raiseLimits raises the limit of each location to what the location itself and the limits so far of its successors ask for. It reports
// whether a limit changed.
func (search *locationLimits) raiseLimits() (changed bool) {
	search.forEachLocation(func(number int) {
		if limit := search.limitHere(); limit > search.limits[number] {
			search.limits[number], changed = limit, true
		}
	})
	return changed
}

// limitHere returns the limit of the current location, computed from the limits found so far for the locations that follow it.
func (search *locationLimits) limitHere() int64 {
	limit := int64(inactive)
	if search.module.Invariant != nil {
		limit = search.maxComparedIn(search.module.Invariant)
	}
	for i := range search.module.Commands {
		command := &search.module.Commands[i]
		if search.isAlways(command.Guard, false) {
			continue
		}
		limit = max(limit, search.maxComparedIn(command.Guard))
		for _, update := range command.Updates {
			limit = max(limit, search.limitAfter(update))
		}
	}
	return limit
}

// limitAfter returns the limit of the location to which an update leads; inactive if the update sets the clock.
func (search *locationLimits) limitAfter(update sema.Update) int64 {
	target := slices.Clone(search.state)
	for _, assign := range update.Assigns {
		if assign.Slot == search.clock {
			return inactive
		}
	}
	for _, assign := range update.Assigns {
		if !slices.Contains(search.slots, assign.Slot) {
			continue
		}
		value, err := sema.Eval(assign.Value, search.state)
		if err != nil || !search.isDetermined(assign.Value) {
			return search.clocks[search.clock].maxCompared
		}
		target[assign.Slot] = value.Int
		if value.Type == sema.Bool && value.Bool {
			target[assign.Slot] = 1
		}
	}
	if number, ok := search.numberOf(target); ok {
		return search.limits[number]
	}
	return inactive
}

// numberOf returns the number of a location. ok is false if a variable is out of range.
func (search *locationLimits) numberOf(state []int32) (number int, ok bool) {
	for _, slot := range slices.Backward(search.slots) {
		variable := &search.source.Vars[slot]
		if state[slot] < variable.Low || state[slot] > variable.High {
			return 0, false
		}
		number = number*int(variable.High-variable.Low+1) + int(state[slot]-variable.Low)
	}
	return number, true
}

// isDetermined reports whether an expression reads only the discrete variables of the module.
func (search *locationLimits) isDetermined(expr sema.Expr) bool {
	return !slices.ContainsFunc(variablesIn(expr), func(slot int) bool { return !slices.Contains(search.slots, slot) })
}

// isAlways reports whether the discrete variables of the module, with their values in the current location, make a condition true (holds) or false.
// If other variables or clocks may matter, it returns false.
func (search *locationLimits) isAlways(expr sema.Expr, holds bool) bool {
	switch expr := expr.(type) {
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			return search.isAlways(expr.X, !holds)
		}
	case *sema.Binary:
		first, second, isConnective := operands(expr)
		switch {
		case isConnective && holds == (expr.Op == syntax.OpAnd): // both operands decide
			return search.isAlways(first.expr, first.is(holds)) && search.isAlways(second.expr, second.is(holds))
		case isConnective:
			return search.isAlways(first.expr, first.is(holds)) || search.isAlways(second.expr, second.is(holds))
		}
	}
	if !search.isDetermined(expr) {
		return false
	}
	value, err := sema.Eval(expr, search.state)
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

// maxComparedIn returns the largest number that a condition compares the clock with in the current location; inactive if the condition does
// not depend on the clock there.
func (search *locationLimits) maxComparedIn(expr sema.Expr) int64 {
	if !slices.Contains(variablesIn(expr), search.clock) || search.isAlways(expr, true) || search.isAlways(expr, false) {
		return inactive
	}
	switch expr := expr.(type) {
	case *sema.Unary:
		return search.maxComparedIn(expr.X)
	case *sema.Binary:
		if first, second, isConnective := operands(expr); isConnective {
			return max(search.maxComparedIn(first.expr), search.maxComparedIn(second.expr))
		}
		if slot, isComparison := search.comparedClock(expr); isComparison && slot == search.clock {
			return search.comparedNumber(expr)
		}
	}
	return search.clocks[search.clock].maxCompared
}

// comparedNumber returns the number that a comparison compares the clock with in the current location; the largest one of all locations if
// the location does not determine it.
func (search *locationLimits) comparedNumber(comparison *sema.Binary) int64 {
	other := comparison.Y
	if slices.Contains(variablesIn(other), search.clock) {
		other = comparison.X
	}
	value, err := sema.Eval(other, search.state)
	if err != nil || value.Type != sema.Int || !search.isDetermined(other) {
		return search.clocks[search.clock].maxCompared
	}
	return max(int64(value.Int), 0)
}

// byValue returns, for each value of the discrete variable in a slot, the greatest limit of the locations in which the variable has this value.
func (search *locationLimits) byValue(slot int) []int64 {
	variable := &search.source.Vars[slot]
	limits := slices.Repeat([]int64{inactive}, int(variable.High-variable.Low+1))
	search.forEachLocation(func(number int) {
		value := search.state[slot] - variable.Low
		limits[value] = max(limits[value], search.limits[number])
	})
	return limits
}

// inactiveWhere returns a disjunction of v=n over the values n of a variable v with which the clock is inactive, whatever the
// values of the other variables. It returns nil if there are none.
func (search *locationLimits) inactiveWhere() sema.Expr {
	var conditions []sema.Expr
	for _, slot := range search.slots {
		conditions = append(conditions, search.valuesWithLimit(slot, search.byValue(slot), inactive)...)
	}
	if len(conditions) == 0 {
		return nil
	}
	return anyOf(conditions)
}

// valuesWithLimit returns the conditions that the integer variable in a slot has one of the values with a limit.
func (search *locationLimits) valuesWithLimit(slot int, limits []int64, limit int64) []sema.Expr {
	var conditions []sema.Expr
	if search.source.Vars[slot].Type != sema.Int {
		return nil
	}
	for i, valueLimit := range limits {
		if valueLimit == limit {
			value := search.source.Vars[slot].Low + int32(i)
			conditions = append(conditions, compare(varAt(slot, search.module.Pos), syntax.OpEq, intAt(value, search.module.Pos)))
		}
	}
	return conditions
}

// greatestValue returns an expression for the greatest value that a digital clock needs: one time step more than its limit, and 0 where the
// clock is inactive. The expression distinguishes the values of one integer variable, the one that gives the smallest limits on average. It
// returns nil if no variable gives smaller limits than the largest one.
func (search *locationLimits) greatestValue() sema.Expr {
	var best []int64
	bestSlot, bestMean := 0, float64(search.clocks[search.clock].maxCompared)
	for _, slot := range search.slots {
		if search.source.Vars[slot].Type != sema.Int {
			continue
		}
		limits := search.byValue(slot)
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
	greatest := intAt(search.clockLimit(search.clock), search.module.Pos)
	for _, limit := range slices.Compact(slices.Sorted(slices.Values(best))) {
		if limit == search.clocks[search.clock].maxCompared {
			break
		}
		value := int32(0)
		if limit != inactive {
			value = search.inSteps(limit) + 1
		}
		condition := anyOf(search.valuesWithLimit(bestSlot, best, limit))
		greatest = choose(condition, intAt(value, search.module.Pos), greatest)
	}
	return greatest
}
