package digital

import (
	"math/big"
	"slices"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// surveyModel finds the clocks, and the numbers that they are compared with or set to. It reports
// features of the model that are not supported.
func (t *translation) surveyModel() {
	for slot, variable := range t.source.Vars {
		if variable.Type == sema.Clock {
			t.clocks[slot] = &clock{}
		}
	}
	for i := range t.source.Modules {
		module := &t.source.Modules[i]
		if module.Invariant != nil {
			t.surveyCondition(module.Invariant, true)
		}
		for k := range module.Commands {
			t.surveyCommand(&module.Commands[k])
		}
	}
	for i := range t.source.Rewards {
		for _, item := range t.source.Rewards[i].Items {
			t.noClocks(item.Guard, "a reward structure")
			t.noClocks(item.Value, "a reward structure")
		}
	}
	if t.source.Init != nil {
		t.alwaysUnsupported(t.source.Init.Pos(), "found several initial states (init...endinit), but all clocks begin at 0")
	}
}

// surveyCommand surveys the guard, the probabilities and the assignments of a command.
func (t *translation) surveyCommand(command *sema.Command) {
	t.surveyCondition(command.Guard, true)
	for i := range command.Updates {
		t.noClocks(command.Updates[i].Prob, "a probability")
		for _, assign := range command.Updates[i].Assigns {
			t.noClocks(assign.Value, "an update")
			if t.clocks[assign.Slot] != nil {
				t.recordComparedValues(assign.Slot, assign.Value)
			}
		}
	}
}

// surveyProperty finds the numbers that a property compares clocks with, its time bound, and features that are not supported. The property combines P and
// R operators with values in the initial state.
func (t *translation) surveyProperty(expr sema.Expr) {
	switch formula := logic.Of(expr); formula.Kind {
	case logic.Probability:
		t.surveyPath(formula.Path)
	case logic.Reward:
		t.rewards = expr
		path := formula.Objective.Path
		if path == nil || !path.Operator || path.Negated || path.Op != syntax.Future || path.Bound != nil {
			t.unsupported(formula.Objective.X.Pos(), "found %s, want R of F for timed automata", logic.Describe(formula.Objective.X))
			return
		}
		t.surveyStateFormula(path.Right, true)
	case logic.Quantified:
		t.surveyPath(formula.Path)
	case logic.Filter:
		t.surveyFilter(formula)
	case logic.SteadyState, logic.Strategy, logic.Objectives, logic.Lexicographic, logic.Quantile:
		t.unsupported(expr.Pos(), "found %s, which is not supported for timed automata, want P, R, E, A or a filter", logic.Describe(expr))
	case logic.Label:
		t.surveyStateFormula(expr, true)
	default:
		if _, isComparison := t.comparedClock(expr); isComparison {
			t.surveyCondition(expr, true)
			return
		}
		sema.Operands(expr, t.surveyProperty)
	}
}

// surveyFilter surveys the operand and the states of a filter. A time bound counts from the beginning of a path, and not from the time at which a
// state of the MDP is reached, so there must be none.
func (t *translation) surveyFilter(filter *logic.Formula) {
	hadDeadline := t.deadline != nil
	t.surveyProperty(filter.Operand)
	if !hadDeadline && t.deadline != nil {
		t.unsupported(filter.X.Pos(), "found a filter of a time bound, which is not supported for timed automata")
	}
	if filter.States != nil {
		t.surveyStateFormula(filter.States, true)
	}
	if !slices.Contains([]string{"min", "max", "range", "forall", "exists"}, filter.Op) {
		t.listing = filter.X
	}
}

// surveyPath surveys the path formula of a P operator, and records its time bound as the deadline.
func (t *translation) surveyPath(path *logic.Path) {
	isSupported := path.Op == syntax.Future || path.Op == syntax.Until || path.Op == syntax.Globally
	if !path.Operator || path.Negated || !isSupported {
		t.unsupported(path.Whole.Pos(), "found %s, which is not supported for timed automata, want F, U or G of state formulas", logic.Describe(path.Whole))
		return
	}
	if path.Left != nil {
		t.surveyStateFormula(path.Left, true)
		t.noClocks(path.Left, "the left side of U")
	}
	t.surveyStateFormula(path.Right, path.Op != syntax.Globally)
	bound := path.Bound
	switch {
	case bound == nil:
	case bound.Low != nil:
		t.alwaysUnsupported(bound.At, "found a lower time bound, want an upper one for timed automata")
	case bound.HighStrict && excludesAllTimes(bound.High):
		t.alwaysUnsupported(bound.At, "Negative bound: no time is less than 0")
	case t.deadline != nil:
		t.unsupported(bound.At, "found a second time bound, want one per property for timed automata")
	default:
		if bound.HighStrict {
			t.needsRegions(bound.At, "found a strict time bound, want <= for digital clocks")
		}
		t.setDeadline(bound)
	}
}

// setDeadline evaluates t of a time bound <=t, and stores it as the deadline of the property. The time unit must divide the deadline.
// setDeadline records an error if t is not a whole number of at least 0.
func (t *translation) setDeadline(bound *sema.Bound) {
	value, err := sema.Eval(bound.High, nil)
	switch {
	case err != nil:
		t.unsupported(bound.At, "%v", err)
	case value.Type != sema.Int:
		t.alwaysUnsupported(bound.At, "found the time bound %s, want a whole number", value)
	case value.Int < 0:
		t.alwaysUnsupported(bound.At, "Negative bound %s, want a whole number of at least 0", value)
	default:
		deadline := int64(value.Int)
		t.deadline = &deadline
		t.addToUnit(deadline)
	}
}

// excludesAllTimes reports whether the strict upper bound <expr excludes all times.
func excludesAllTimes(expr sema.Expr) bool {
	value, err := sema.Eval(expr, nil)
	return err == nil && value.Type == sema.Int && value.Int <= 0
}

// surveyStateFormula surveys an operand of a temporal operator. positive says that it is not negated.
func (t *translation) surveyStateFormula(expr sema.Expr, positive bool) {
	if nested := logic.Nested(expr, nil); nested != nil {
		t.alwaysUnsupported(nested.Pos(), "found nested operators, which are not supported for timed automata")
		return
	}
	t.surveyCondition(expr, positive)
}

// surveyCondition records for each clock constraint in a condition the numbers that the clock is compared with, and whether the constraint needs regions. It
// refuses conditions that use clocks in another way. positive says that the condition is under an even number of negations.
func (t *translation) surveyCondition(expr sema.Expr, positive bool) {
	switch expr := expr.(type) {
	case *sema.Label:
		if expr.Index >= 0 {
			t.surveyCondition(t.source.Labels[expr.Index].X, positive)
		}
		return
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			t.surveyCondition(expr.X, !positive)
			return
		}
	case *sema.Binary:
		if slot, isComparison := t.comparedClock(expr); isComparison {
			t.surveyConstraint(expr, slot, positive)
			return
		}
		switch expr.Op {
		case syntax.OpAnd, syntax.OpOr:
			t.surveyCondition(expr.X, positive)
			t.surveyCondition(expr.Y, positive)
			return
		case syntax.OpImplies:
			t.surveyCondition(expr.X, !positive)
			t.surveyCondition(expr.Y, positive)
			return
		}
	case *sema.Cond:
		if expr.Type() == sema.Bool {
			t.noClocks(expr.Condition, "a condition")
			t.surveyCondition(expr.Then, positive)
			t.surveyCondition(expr.Else, positive)
			return
		}
	}
	t.noClocks(expr, "an expression that does not compare it with a number")
}

// comparedClock returns the slot of the clock that an expression compares with something. isComparison is false for other expressions.
func (t *translation) comparedClock(expr sema.Expr) (slot int, isComparison bool) {
	comparison, ok := expr.(*sema.Binary)
	if !ok || comparison.Type() != sema.Bool {
		return 0, false
	}
	for _, side := range []sema.Expr{comparison.X, comparison.Y} {
		if variable, ok := side.(*sema.Var); ok && t.clocks[variable.Slot] != nil {
			return variable.Slot, true
		}
	}
	return 0, false
}

// surveyConstraint checks one comparison of a clock and records the numbers that it is compared with.
func (t *translation) surveyConstraint(expr *sema.Binary, slot int, positive bool) {
	other := expr.Y
	if variable, ok := expr.Y.(*sema.Var); ok && variable.Slot == slot {
		other = expr.X
	}
	if variable, ok := other.(*sema.Var); ok && t.clocks[variable.Slot] != nil {
		t.needsRegions(expr.Pos(), "found a diagonal clock constraint, which compares two clocks; digital clocks do not support it")
		t.addPair(slot, variable.Slot)
		return
	}
	isStrict := expr.Op == syntax.OpLt || expr.Op == syntax.OpGt || expr.Op == syntax.OpNe
	if isStrict == positive { // the negation of a strict constraint is closed, and vice versa
		t.needsRegions(expr.Pos(), "found a strict clock constraint, want a closed one for digital clocks: <=, >= or = without a negation")
	}
	t.noClocks(other, "an expression that does not compare it with a number")
	t.recordComparedValues(slot, other)
}

// noClocks refuses an expression that contains a clock; where describes the place in the message.
func (t *translation) noClocks(condition sema.Expr, where string) {
	sema.Inspect(condition, func(part sema.Expr) bool {
		switch found := part.(type) {
		case *sema.Var:
			if t.clocks[found.Slot] != nil {
				t.unsupported(found.Pos(), "found the clock %q in %s, which is not supported", t.source.Vars[found.Slot].Name, where)
			}
		case *sema.Label:
			if found.Index >= 0 {
				t.noClocks(t.source.Labels[found.Index].X, where)
			}
		}
		return t.err == nil
	})
}

// maxValuations is the greatest number of valuations for which an expression compared with a clock is evaluated.
const maxValuations = 1 << 20

// recordComparedValues records every value of an expression that is compared with the clock in a slot. It
// evaluates the expression for all values of the variables in it, and refuses an expression with too many of them.
func (t *translation) recordComparedValues(slot int, compared sema.Expr) {
	read := variablesIn(compared)
	if t.valuationCount(read) > maxValuations {
		t.unsupported(compared.Pos(), "found a clock that is compared with an expression of more than %d values", maxValuations)
		return
	}
	state := make([]int32, len(t.source.Vars))
	for _, variable := range read {
		state[variable] = t.source.Vars[variable].Low
	}
	for more := true; more; more = t.nextValuation(state, read) {
		result, err := sema.Eval(compared, state)
		if err != nil {
			continue // the error is reported if a reachable state has it
		}
		if result.Type != sema.Int {
			t.unsupported(compared.Pos(), "found a clock that is compared with %s, want a whole number", result)
			return
		}
		value := int64(result.Int)
		t.clocks[slot].maxCompared = max(t.clocks[slot].maxCompared, value)
		t.addToUnit(value)
	}
}

// variablesIn returns the slots of the variables in an expression, each once, in the order of their first use.
func variablesIn(expr sema.Expr) []int {
	var slots []int
	sema.Inspect(expr, func(part sema.Expr) bool {
		if variable, ok := part.(*sema.Var); ok && !slices.Contains(slots, variable.Slot) {
			slots = append(slots, variable.Slot)
		}
		return true
	})
	return slots
}

// valuationCount returns the number of valuations of the variables in some slots. It stops counting above
// maxValuations.
func (t *translation) valuationCount(slots []int) int64 {
	count := int64(1)
	for _, slot := range slots {
		variable := &t.source.Vars[slot]
		count *= int64(variable.High) - int64(variable.Low) + 1
		if count > maxValuations {
			break
		}
	}
	return count
}

// nextValuation advances the variables in slots to their next combination of values. It returns false
// after the last one.
func (t *translation) nextValuation(state []int32, slots []int) bool {
	for _, slot := range slots {
		variable := &t.source.Vars[slot]
		state[slot]++
		if state[slot] <= variable.High {
			return true
		}
		state[slot] = variable.Low
	}
	return false
}

// addToUnit replaces the time unit by its greatest common divisor with a number, so that the unit divides the number.
func (t *translation) addToUnit(number int64) {
	first, second := t.unit, number
	if second < 0 {
		second = -second
	}
	for second != 0 {
		first, second = second, first%second
	}
	t.unit = first
}

func rat(n int64) *big.Rat { return big.NewRat(n, 1) }
