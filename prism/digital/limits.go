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

// locationLimits finds the limit of a clock of a module in each location. A location is a valuation of the discrete variables of the module.
// The limit is the largest number that the clock is compared with in the location, or later before it is set. Values above the limit need
// not be distinguished.
//
// Source: Behrmann, Bouyer, Fleury and Larsen, Static guard analysis in timed automata verification (TACAS 2003); for inactive clocks, Daws
// and Yovine, Reducing the number of clock variables of timed automata (RTSS 1996).
type locationLimits struct {
	*translation
	module *sema.Module
	clock  int
	slots  []int   // of the discrete variables whose valuations are the locations
	state  []int32 // the current location; only the variables in slots have values
	limits []int64 // by number of the location
}

// limitsOf returns the limit of a clock in each location of its module. The limit is the largest number that matters for the clock there. It
// returns nil if something outside of the module reads the clock.
func (t *translation) limitsOf(module *sema.Module, clock int) *locationLimits {
	if t.isReadOutside(module, clock) {
		return nil
	}
	locations := &locationLimits{
		translation: t, module: module, clock: clock,
		slots: t.locationVariables(module),
		state: make([]int32, len(t.source.Vars)),
	}
	locations.limits = slices.Repeat([]int64{inactive}, int(t.valuationCount(locations.slots)))
	for locations.raiseLimits() { // until the fixed point
	}
	return locations
}

// locationVariables returns the slots of the discrete variables of a module. If they have too many valuations, it omits the variables with
// the largest ranges.
func (t *translation) locationVariables(module *sema.Module) []int {
	var slots []int
	for _, slot := range module.Vars {
		if t.clocks[slot] == nil {
			slots = append(slots, slot)
		}
	}
	slices.SortStableFunc(slots, func(first, second int) int {
		return cmp.Compare(t.valuationCount([]int{first}), t.valuationCount([]int{second}))
	})
	for t.valuationCount(slots) > maxLocations {
		slots = slots[:len(slots)-1]
	}
	return slots
}

// isReadOutside reports whether anything outside of a module reads one of the module's clocks: the property, a label, a reward or another module.
func (t *translation) isReadOutside(module *sema.Module, clock int) bool {
	reads := func(expr sema.Expr) bool { return slices.Contains(sema.SlotsOf(expr), clock) }
	labelReads := func(label sema.LabelDef) bool { return reads(label.Expr) }
	itemReads := func(item sema.RewardItem) bool { return reads(item.Guard) || reads(item.Value) }
	structureReads := func(structure sema.RewardStruct) bool { return slices.ContainsFunc(structure.Items, itemReads) }
	commandReads := func(command sema.Command) bool { return reads(command.Guard) }
	if reads(t.property) || slices.ContainsFunc(t.source.Labels, labelReads) || slices.ContainsFunc(t.source.Rewards, structureReads) {
		return true
	}
	for i := range t.source.Modules {
		otherModule := &t.source.Modules[i]
		if otherModule != module && (reads(otherModule.Invariant) || slices.ContainsFunc(otherModule.Commands, commandReads)) {
			return true
		}
	}
	return false
}

// visitLocations calls visit with the number of each location. During the call, search.state is the location.
func (search *locationLimits) visitLocations(visit func(number int)) {
	for _, slot := range search.slots {
		search.state[slot] = search.source.Vars[slot].Low
	}
	for number := range search.limits {
		visit(number)
		search.nextValuation(search.state, search.slots)
	}
}

// raiseLimits raises the limit of each location if its comparisons, or the limits of its successors, require a greater one. It reports whether a
// limit has changed.
func (search *locationLimits) raiseLimits() (changed bool) {
	search.visitLocations(func(number int) {
		if limit := search.currentLimit(); limit > search.limits[number] {
			search.limits[number], changed = limit, true
		}
	})
	return changed
}

// currentLimit returns the limit of the clock in the current location: the largest number that a condition of this location, or of a later
// location before the clock is set, compares the clock with. It uses the limits of the successors that were found so far.
func (search *locationLimits) currentLimit() int64 {
	limit := int64(inactive)
	if search.module.Invariant != nil {
		limit = search.maxComparedIn(search.module.Invariant)
	}
	for i := range search.module.Commands {
		command := &search.module.Commands[i]
		if search.hasValueHere(command.Guard, false) {
			continue
		}
		limit = max(limit, search.maxComparedIn(command.Guard))
		for _, update := range command.Updates {
			limit = max(limit, search.limitAfter(update))
		}
	}
	return limit
}

// limitAfter returns the limit of the clock in the location that an update leads to. It returns inactive if the update sets the clock.
func (search *locationLimits) limitAfter(update sema.Update) int64 {
	setsClock := func(assignment sema.Assign) bool { return assignment.Slot == search.clock }
	if slices.ContainsFunc(update.Assigns, setsClock) {
		return inactive
	}
	// Evaluate the discrete variables in the target location. If they are not determined, any location may be the target.
	target := slices.Clone(search.state)
	for _, assignment := range update.Assigns {
		if !slices.Contains(search.slots, assignment.Slot) {
			continue
		}
		value, err := sema.Eval(assignment.Value, search.state)
		if err != nil || !search.isDetermined(assignment.Value) {
			return search.clocks[search.clock].maxCompared
		}
		target[assignment.Slot] = value.Int
		if value.Type == sema.Bool && value.Bool {
			target[assignment.Slot] = 1
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

// isDetermined reports whether the current location determines the value of an expression.
func (search *locationLimits) isDetermined(expr sema.Expr) bool {
	return !slices.ContainsFunc(sema.SlotsOf(expr), func(slot int) bool { return !slices.Contains(search.slots, slot) })
}

// hasValueHere reports whether a condition certainly has the given value in the current location, whatever values the clocks and the other variables
// have.
func (search *locationLimits) hasValueHere(expr sema.Expr, value bool) bool {
	switch expr := expr.(type) {
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			return search.hasValueHere(expr.X, !value)
		}
	case *sema.Binary:
		left, right, isConnective := operands(expr)
		if !isConnective {
			break
		}
		leftHasValue, rightHasValue := search.hasValueHere(left.expr, left.exprValue(value)), search.hasValueHere(right.expr, right.exprValue(value))
		needsBoth := value == (expr.Op == syntax.OpAnd) // a true conjunction or a false disjunction
		if needsBoth {
			return leftHasValue && rightHasValue
		}
		return leftHasValue || rightHasValue
	}
	if !search.isDetermined(expr) {
		return false
	}
	evaluated, err := sema.Eval(expr, search.state)
	return err == nil && evaluated.Bool == value
}

// operand is an operand of a connective, negated or not.
type operand struct {
	expr    sema.Expr
	negated bool
}

// exprValue returns the value of the operand's expression if the operand has the given value.
func (o operand) exprValue(value bool) bool { return value != o.negated }

// operands returns the operands of a conjunction, a disjunction or an implication. It treats x => y as !x | y.
func operands(expr *sema.Binary) (left, right operand, isConnective bool) {
	switch expr.Op {
	case syntax.OpAnd, syntax.OpOr, syntax.OpImplies:
		return operand{expr.X, expr.Op == syntax.OpImplies}, operand{expr.Y, false}, true
	}
	return operand{}, operand{}, false
}

// maxComparedIn returns the largest number that a condition compares the clock with in the current location; inactive if the condition does
// not depend on the clock there.
func (search *locationLimits) maxComparedIn(expr sema.Expr) int64 {
	if !slices.Contains(sema.SlotsOf(expr), search.clock) || search.hasValueHere(expr, true) || search.hasValueHere(expr, false) {
		return inactive
	}
	switch expr := expr.(type) {
	case *sema.Unary:
		return search.maxComparedIn(expr.X)
	case *sema.Binary:
		if left, right, isConnective := operands(expr); isConnective {
			return max(search.maxComparedIn(left.expr), search.maxComparedIn(right.expr))
		}
		if slot, isComparison := search.comparedClock(expr); isComparison && slot == search.clock {
			return search.comparedNumber(expr)
		}
	}
	return search.clocks[search.clock].maxCompared
}

// comparedNumber returns the number in a comparison of the clock. If the current location does not determine the number, it returns the
// largest number for all locations.
func (search *locationLimits) comparedNumber(comparison *sema.Binary) int64 {
	number := comparison.Y
	if slices.Contains(sema.SlotsOf(number), search.clock) {
		number = comparison.X
	}
	value, err := sema.Eval(number, search.state)
	if err != nil || value.Type != sema.Int || !search.isDetermined(number) {
		return search.clocks[search.clock].maxCompared
	}
	return max(int64(value.Int), 0)
}

// limitsByValue returns a limit for each value of a discrete variable: the greatest limit of the locations with this value.
func (search *locationLimits) limitsByValue(slot int) []int64 {
	variable := &search.source.Vars[slot]
	limits := slices.Repeat([]int64{inactive}, int(variable.High-variable.Low+1))
	search.visitLocations(func(number int) {
		value := search.state[slot] - variable.Low
		limits[value] = max(limits[value], search.limits[number])
	})
	return limits
}

// inactiveWhere returns a condition on the discrete variables under which the clock is inactive: its value does not matter before it is set again. The
// condition is a disjunction of comparisons v=n; nil if there are no such comparisons.
func (search *locationLimits) inactiveWhere() sema.Expr {
	var conditions []sema.Expr
	for _, slot := range search.slots {
		conditions = append(conditions, search.valuesWithLimit(slot, search.limitsByValue(slot), inactive)...)
	}
	if len(conditions) == 0 {
		return nil
	}
	return disjunction(conditions)
}

// valuesWithLimit returns a comparison v=n of an integer variable v for each value n with limits[n-Low] equal to limit. Low is the lowest value of v. It
// returns nil for a Bool variable.
func (search *locationLimits) valuesWithLimit(slot int, limits []int64, limit int64) []sema.Expr {
	variable, pos := &search.source.Vars[slot], search.module.Pos
	if variable.Type != sema.Int {
		return nil
	}
	var conditions []sema.Expr
	for offset, valueLimit := range limits {
		if valueLimit == limit {
			value := variable.Low + int32(offset)
			conditions = append(conditions, compare(varAt(slot, pos), syntax.OpEq, intAt(value, pos)))
		}
	}
	return conditions
}

// greatestValue returns an expression for the greatest value of a digital clock, in time steps. The expression depends on one integer variable of
// the location. It returns nil if no variable lowers the greatest value.
func (search *locationLimits) greatestValue() sema.Expr {
	slot, limits := search.mostSelectiveVariable()
	if limits == nil {
		return nil
	}
	pos := search.module.Pos
	greatest := intAt(search.clockLimit(search.clock), pos)
	for _, limit := range slices.Compact(slices.Sorted(slices.Values(limits))) {
		if limit == search.clocks[search.clock].maxCompared {
			break
		}
		value := int32(0)
		if limit != inactive {
			value = search.inSteps(limit) + 1
		}
		condition := disjunction(search.valuesWithLimit(slot, limits, limit))
		greatest = conditional(condition, intAt(value, pos), greatest)
	}
	return greatest
}

// mostSelectiveVariable returns the integer variable whose values have the smallest mean limit, and the limits of these values. limits is nil if no
// variable lowers the limit of the clock.
func (search *locationLimits) mostSelectiveVariable() (slot int, limits []int64) {
	smallestMean := float64(search.clocks[search.clock].maxCompared)
	for _, candidate := range search.slots {
		if search.source.Vars[candidate].Type != sema.Int {
			continue
		}
		valueLimits := search.limitsByValue(candidate)
		sum := 0.0
		for _, limit := range valueLimits {
			sum += float64(limit)
		}
		if mean := sum / float64(len(valueLimits)); mean < smallestMean {
			slot, limits, smallestMean = candidate, valueLimits, mean
		}
	}
	return slot, limits
}
