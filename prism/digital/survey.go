package digital

import (
	"math/big"
	"slices"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// surveyModel finds the clocks of the model, and the numbers that they are compared with or set to. If the model uses an unsupported feature, it
// records an error.
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
			t.refuseClocks(item.Guard, "a reward structure")
			t.refuseClocks(item.Value, "a reward structure")
		}
	}
	if t.source.Init != nil {
		t.alwaysUnsupported(t.source.Init.Pos(), "found several initial states (init...endinit), but all clocks begin at 0")
	}
}

// surveyCommand records the clock constraints in the guard of a command, and the numbers to which its updates set clocks. It records an error if a probability
// or an assigned value reads a clock.
func (t *translation) surveyCommand(command *sema.Command) {
	t.surveyCondition(command.Guard, true)
	for i := range command.Updates {
		t.refuseClocks(command.Updates[i].Prob, "a probability")
		for _, assignment := range command.Updates[i].Assigns {
			t.refuseClocks(assignment.Value, "an update")
			if t.clocks[assignment.Slot] != nil {
				t.recordComparedValues(assignment.Slot, assignment.Value)
			}
		}
	}
}

// surveyProperty finds the time bound of a property, and the numbers that it compares clocks with. It records an error for an unsupported
// operator.
func (t *translation) surveyProperty(expr sema.Expr) {
	switch formula := logic.FormulaOf(expr); formula.Kind {
	case logic.Probability:
		t.surveyPath(formula.Path)
	case logic.Reward:
		t.rewardOperator = expr
		path := formula.Objective.Path
		if path == nil || !path.IsTemporal || path.IsNegated || path.Op != syntax.Future || path.Bound != nil {
			t.unsupported(formula.Objective.Expr.Pos(), "found %s, want R of F for timed automata", logic.Describe(formula.Objective.Expr))
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
		sema.VisitOperands(expr, t.surveyProperty)
	}
}

// surveyFilter records the clock constraints in the operand and in the states of a filter. It records an error if the operand has a time bound.
func (t *translation) surveyFilter(filter *logic.Formula) {
	hadDeadline := t.deadline != nil
	t.surveyProperty(filter.Operand)
	// The timer counts from the initial state, but the time bound of a filter's operand counts from each state of the filter.
	if !hadDeadline && t.deadline != nil {
		t.unsupported(filter.Expr.Pos(), "found a filter of a time bound, which is not supported for timed automata")
	}
	if filter.States != nil {
		t.surveyStateFormula(filter.States, true)
	}
	if !slices.Contains([]string{"min", "max", "range", "forall", "exists"}, filter.Op) {
		t.listingFilter = filter.Expr
	}
}

// surveyPath records the clock constraints in the path formula of an operator P. Its upper time bound becomes the deadline of the property.
func (t *translation) surveyPath(path *logic.Path) {
	isSupported := path.Op == syntax.Future || path.Op == syntax.Until || path.Op == syntax.Globally
	if !path.IsTemporal || path.IsNegated || !isSupported {
		t.unsupported(path.WholeExpr.Pos(), "found %s, which is not supported for timed automata, want F, U or G of state formulas", logic.Describe(path.WholeExpr))
		return
	}
	if path.Left != nil {
		t.surveyStateFormula(path.Left, true)
		t.refuseClocks(path.Left, "the left side of U")
	}
	t.surveyStateFormula(path.Right, path.Op != syntax.Globally)
	if path.Bound != nil {
		t.surveyTimeBound(path.Bound)
	}
}

// surveyTimeBound records the time bound of a path formula as the deadline of the property. It records an error for a lower or a second bound.
func (t *translation) surveyTimeBound(bound *sema.Bound) {
	switch {
	case bound.Low != nil:
		t.alwaysUnsupported(bound.Pos, "found a lower time bound, want an upper one for timed automata")
	case bound.IsHighStrict && excludesAllTimes(bound.High):
		t.alwaysUnsupported(bound.Pos, "Negative bound: no time is less than 0")
	case t.deadline != nil:
		t.unsupported(bound.Pos, "found a second time bound, want one per property for timed automata")
	default:
		if bound.IsHighStrict {
			t.needsRegions(bound.Pos, "found a strict time bound, want <= for digital clocks")
		}
		t.setDeadline(bound)
	}
}

// setDeadline stores the number of a time bound as the deadline. The time unit must divide the deadline, so it may become smaller. It records an
// error if the number is negative or not an int.
func (t *translation) setDeadline(bound *sema.Bound) {
	value, err := sema.Eval(bound.High, nil)
	switch {
	case err != nil:
		t.unsupported(bound.Pos, "%v", err)
	case value.Type != sema.Int:
		t.alwaysUnsupported(bound.Pos, "found the time bound %s, want a whole number", value)
	case value.Int < 0:
		t.alwaysUnsupported(bound.Pos, "Negative bound %s, want a whole number of at least 0", value)
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

// surveyStateFormula surveys an operand of a temporal operator. isPositive is false under an odd number of negations.
func (t *translation) surveyStateFormula(expr sema.Expr, isPositive bool) {
	if nested := logic.Nested(expr, nil); nested != nil {
		t.alwaysUnsupported(nested.Pos(), "found nested operators, which are not supported for timed automata")
		return
	}
	t.surveyCondition(expr, isPositive)
}

// surveyCondition records the clock constraints in a condition. It records an error if the condition uses clocks in another way. isPositive is
// false if the number of negations around the condition is odd.
func (t *translation) surveyCondition(expr sema.Expr, isPositive bool) {
	switch expr := expr.(type) {
	case *sema.Label:
		if expr.Index >= 0 {
			t.surveyCondition(t.source.Labels[expr.Index].Expr, isPositive)
		}
		return
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			t.surveyCondition(expr.X, !isPositive)
			return
		}
	case *sema.Binary:
		if slot, isComparison := t.comparedClock(expr); isComparison {
			t.surveyConstraint(expr, slot, isPositive)
			return
		}
		if left, right, isConnective := operands(expr); isConnective {
			t.surveyCondition(left.expr, left.exprValue(isPositive))
			t.surveyCondition(right.expr, right.exprValue(isPositive))
			return
		}
	case *sema.Cond:
		if expr.Type() == sema.Bool {
			t.refuseClocks(expr.Condition, "a condition")
			t.surveyCondition(expr.Then, isPositive)
			t.surveyCondition(expr.Else, isPositive)
			return
		}
	}
	t.refuseClocks(expr, "an expression that does not compare it with a number")
}

// comparedClock returns the slot of the clock in a comparison. isComparison is false for other expressions.
func (t *translation) comparedClock(expr sema.Expr) (slot int, isComparison bool) {
	comparison, ok := expr.(*sema.Binary)
	if !ok || comparison.Type() != sema.Bool {
		return 0, false
	}
	for _, operand := range []sema.Expr{comparison.X, comparison.Y} {
		if variable, ok := operand.(*sema.Var); ok && t.clocks[variable.Slot] != nil {
			return variable.Slot, true
		}
	}
	return 0, false
}

// surveyConstraint surveys a clock constraint and records the numbers that it compares the clock with. isPositive is false if the number of
// negations around the constraint is odd.
func (t *translation) surveyConstraint(expr *sema.Binary, slot int, isPositive bool) {
	comparedExpr := expr.Y
	if variable, ok := expr.Y.(*sema.Var); ok && variable.Slot == slot {
		comparedExpr = expr.X
	}
	if variable, ok := comparedExpr.(*sema.Var); ok && t.clocks[variable.Slot] != nil {
		t.needsRegions(expr.Pos(), "found a diagonal clock constraint, which compares two clocks; digital clocks do not support it")
		t.addPair(slot, variable.Slot)
		return
	}
	isStrict := expr.Op == syntax.OpLt || expr.Op == syntax.OpGt || expr.Op == syntax.OpNe
	if isStrict == isPositive { // the negation of a strict constraint is closed, and vice versa
		t.needsRegions(expr.Pos(), "found a strict clock constraint, want a closed one for digital clocks: <=, >= or = without a negation")
	}
	t.refuseClocks(comparedExpr, "an expression that does not compare it with a number")
	t.recordComparedValues(slot, comparedExpr)
}

// refuseClocks records an error if an expression contains a clock. context says for the error message where the expression occurs.
func (t *translation) refuseClocks(expr sema.Expr, context string) {
	sema.Inspect(expr, func(operand sema.Expr) bool {
		switch variable := operand.(type) {
		case *sema.Var:
			if t.clocks[variable.Slot] != nil {
				t.unsupported(variable.Pos(), "found the clock %q in %s, which is not supported", t.source.Vars[variable.Slot].Name, context)
			}
		case *sema.Label:
			if variable.Index >= 0 {
				t.refuseClocks(t.source.Labels[variable.Index].Expr, context)
			}
		}
		return t.err == nil
	})
}

// maxValuations is the greatest number of valuations for which an expression compared with a clock is evaluated.
const maxValuations = 1 << 20

// recordComparedValues records all numbers that a clock is compared with by an expression. It evaluates the expression for all valuations of its
// variables, and records an error if there are too many valuations.
func (t *translation) recordComparedValues(clockSlot int, comparedExpr sema.Expr) {
	variables := sema.SlotsOf(comparedExpr)
	if t.valuationCount(variables) > maxValuations {
		t.unsupported(comparedExpr.Pos(), "found a clock that is compared with an expression of more than %d values", maxValuations)
		return
	}
	state := make([]int32, len(t.source.Vars))
	for _, slot := range variables {
		state[slot] = t.source.Vars[slot].Low
	}
	for hasValuation := true; hasValuation; hasValuation = t.nextValuation(state, variables) {
		result, err := sema.Eval(comparedExpr, state)
		if err != nil {
			continue // the error is reported if a reachable state has it
		}
		if result.Type != sema.Int {
			t.unsupported(comparedExpr.Pos(), "found a clock that is compared with %s, want a whole number", result)
			return
		}
		value := int64(result.Int)
		t.clocks[clockSlot].maxCompared = max(t.clocks[clockSlot].maxCompared, value)
		t.addToUnit(value)
	}
}

// valuationCount returns the number of valuations of the variables in the given slots. Above maxValuations the number is not exact.
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

// nextValuation changes the variables in slots to their next combination of values. After the last combination, it sets them to their lowest
// values and returns false.
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

// addToUnit lowers the time unit so that it divides a number. The new unit is the greatest common divisor (Euclid).
func (t *translation) addToUnit(number int64) {
	divisor, remainder := t.timeUnit, max(number, -number)
	for remainder != 0 {
		divisor, remainder = remainder, divisor%remainder
	}
	t.timeUnit = divisor
}

func rat(n int64) *big.Rat { return big.NewRat(n, 1) }
