package digital

import (
	"math/big"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// surveyModel finds the clocks, and the numbers that they are compared with or set to. It reports
// features of the model that digital clocks do not support.
func (t *translation) surveyModel() {
	for slot, v := range t.source.Vars {
		if v.Type != sema.Clock {
			continue
		}
		t.clocks[slot] = &clock{}
	}
	for i := range t.source.Modules {
		module := &t.source.Modules[i]
		if module.Invariant != nil {
			t.checkClosed(module.Invariant, true)
		}
		for k := range module.Commands {
			command := &module.Commands[k]
			t.checkClosed(command.Guard, true)
			for j := range command.Updates {
				t.noClocks(command.Updates[j].Prob, "a probability")
				for _, a := range command.Updates[j].Assigns {
					t.noClocks(a.Value, "an update")
					if t.clocks[a.Slot] != nil {
						t.recordComparedValues(a.Slot, a.Value)
					}
				}
			}
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

// surveyProperty does for a property what surveyModel does for the model. The property combines P and
// R operators and values in the initial state.
func (t *translation) surveyProperty(x sema.Expr) {
	switch formula := logic.Of(x); formula.Kind {
	case logic.Probability:
		t.surveyPath(formula.Path)
	case logic.Reward:
		path := formula.Objective.Path
		if path == nil || !path.Operator || path.Negated || path.Op != syntax.Future || path.Bound != nil {
			t.unsupported(formula.Objective.X.Pos(), "found a reward objective other than F, which digital clocks do not support")
			return
		}
		t.surveyStateFormula(path.Right, true)
	case logic.Filter, logic.SteadyState, logic.Quantified, logic.Strategy, logic.Objectives:
		t.unsupported(x.Pos(), "found an operator that digital clocks do not support, want P or R of the initial state")
	case logic.Label:
		t.surveyStateFormula(x, true)
	default:
		if _, isComparison := t.comparedClock(x); isComparison {
			t.checkClosed(x, true)
			return
		}
		sema.Operands(x, t.surveyProperty)
	}
}

// surveyPath surveys the path formula of a P operator, and records its time bound as the deadline.
func (t *translation) surveyPath(path *logic.Path) {
	if !path.Operator || path.Negated || path.Op != syntax.Future && path.Op != syntax.Until && path.Op != syntax.Globally {
		t.unsupported(path.Whole.Pos(), "found a path formula that digital clocks do not support, want F, U or G of state formulas")
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
		return
	case bound.Low != nil:
		t.alwaysUnsupported(bound.At, "found a lower time bound, want an upper one (<=) for digital clocks")
		return
	case bound.HighStrict && excludesAllTimes(bound.High):
		t.alwaysUnsupported(bound.At, "Negative bound: no time is less than 0")
		return
	case bound.HighStrict:
		t.unsupported(bound.At, "found a strict time bound, want <= for digital clocks")
		return
	case path.Op == syntax.Globally:
		t.unsupported(bound.At, "found a time bound of G, which digital clocks do not support, want 1-P of F")
		return
	case t.deadline != nil:
		t.unsupported(bound.At, "found a second time bound, want one per property for digital clocks")
		return
	}
	evaluated, err := sema.Eval(bound.High, nil)
	if err != nil {
		t.unsupported(bound.At, "%v", err)
		return
	}
	switch {
	case evaluated.Type != sema.Int:
		t.alwaysUnsupported(bound.At, "found the time bound %s, want a whole number", evaluated)
		return
	case evaluated.Int < 0:
		t.alwaysUnsupported(bound.At, "Negative bound %s, want a whole number of at least 0", evaluated)
		return
	}
	deadline := int64(evaluated.Int)
	t.deadline = &deadline
	t.addToUnit(deadline)
}

// excludesAllTimes reports whether the strict bound <x excludes all times.
func excludesAllTimes(x sema.Expr) bool {
	v, err := sema.Eval(x, nil)
	return err == nil && v.Type == sema.Int && v.Int <= 0
}

// surveyStateFormula surveys an operand of a temporal operator. positive says that it is not negated.
func (t *translation) surveyStateFormula(x sema.Expr, positive bool) {
	if nested := logic.Nested(x, nil); nested != nil {
		t.alwaysUnsupported(nested.Pos(), "found nested operators, which digital clocks do not support")
		return
	}
	t.checkClosed(x, positive)
}

// checkClosed refuses clock constraints that are strict or compare two clocks, and records the numbers
// that clocks are compared with. positive says that the constraint is under an even number of
// negations.
func (t *translation) checkClosed(x sema.Expr, positive bool) {
	switch x := x.(type) {
	case *sema.Label:
		if x.Index >= 0 {
			t.checkClosed(t.source.Labels[x.Index].X, positive)
		}
		return
	case *sema.Unary:
		if x.Op == syntax.OpNot {
			t.checkClosed(x.X, !positive)
			return
		}
	case *sema.Binary:
		if slot, isComparison := t.comparedClock(x); isComparison {
			t.surveyConstraint(x, slot, positive)
			return
		}
		switch x.Op {
		case syntax.OpAnd, syntax.OpOr:
			t.checkClosed(x.X, positive)
			t.checkClosed(x.Y, positive)
			return
		case syntax.OpImplies:
			t.checkClosed(x.X, !positive)
			t.checkClosed(x.Y, positive)
			return
		}
	case *sema.Cond:
		if x.Type() == sema.Bool {
			t.noClocks(x.Condition, "a condition")
			t.checkClosed(x.Then, positive)
			t.checkClosed(x.Else, positive)
			return
		}
	}
	t.noClocks(x, "an expression that does not compare it with a number")
}

// comparedClock returns the slot of a clock that x compares with something, if x is such a comparison.
func (t *translation) comparedClock(x sema.Expr) (slot int, isComparison bool) {
	b, ok := x.(*sema.Binary)
	if !ok || b.Type() != sema.Bool {
		return 0, false
	}
	for _, side := range []sema.Expr{b.X, b.Y} {
		if v, ok := side.(*sema.Var); ok && t.clocks[v.Slot] != nil {
			return v.Slot, true
		}
	}
	return 0, false
}

// surveyConstraint checks one comparison of a clock and records the numbers that it is compared with.
func (t *translation) surveyConstraint(x *sema.Binary, slot int, positive bool) {
	other := x.Y
	if v, ok := x.Y.(*sema.Var); ok && v.Slot == slot {
		other = x.X
	}
	if v, ok := other.(*sema.Var); ok && t.clocks[v.Slot] != nil {
		t.unsupported(x.Pos(), "found a diagonal clock constraint, which compares two clocks; digital clocks do not support it")
		return
	}
	isStrict := x.Op == syntax.OpLt || x.Op == syntax.OpGt || x.Op == syntax.OpNe
	if isStrict == positive { // the negation of a strict constraint is closed, and vice versa
		t.unsupported(x.Pos(), "found a strict clock constraint, want a closed one for digital clocks: <=, >= or = without a negation")
		return
	}
	t.noClocks(other, "an expression that does not compare it with a number")
	t.recordComparedValues(slot, other)
}

// noClocks refuses an expression that contains a clock; where describes the place in the message.
func (t *translation) noClocks(x sema.Expr, where string) {
	sema.Inspect(x, func(y sema.Expr) bool {
		switch y := y.(type) {
		case *sema.Var:
			if t.clocks[y.Slot] != nil {
				t.unsupported(y.Pos(), "found the clock %q in %s, which digital clocks do not support", t.source.Vars[y.Slot].Name, where)
			}
		case *sema.Label:
			if y.Index >= 0 {
				t.noClocks(t.source.Labels[y.Index].X, where)
			}
		}
		return t.err == nil
	})
}

// maxValuations is the greatest number of valuations for which an expression compared with a clock is evaluated.
const maxValuations = 1 << 20

// recordComparedValues records all values that an expression which is compared with a clock can have,
// by evaluating it for all values of its variables.
func (t *translation) recordComparedValues(slot int, x sema.Expr) {
	var slots []int
	known := map[int]bool{}
	sema.Inspect(x, func(y sema.Expr) bool {
		if v, ok := y.(*sema.Var); ok && !known[v.Slot] {
			known[v.Slot] = true
			slots = append(slots, v.Slot)
		}
		return true
	})
	count := int64(1)
	for _, s := range slots {
		v := &t.source.Vars[s]
		if count *= int64(v.High) - int64(v.Low) + 1; count > maxValuations {
			t.unsupported(x.Pos(), "found a clock that is compared with an expression of more than %d values", maxValuations)
			return
		}
	}
	state := make([]int32, len(t.source.Vars))
	for _, s := range slots {
		state[s] = t.source.Vars[s].Low
	}
	for more := true; more; more = t.nextValuation(state, slots) {
		if v, err := sema.Eval(x, state); err == nil { // an evaluation error is reported if a reachable state has it
			value := int64(v.Int)
			if v.Type != sema.Int {
				t.unsupported(x.Pos(), "found a clock that is compared with %s, want a whole number", v)
				return
			}
			t.clocks[slot].maxCompared = max(t.clocks[slot].maxCompared, value)
			t.addToUnit(value)
		}
	}
}

// nextValuation advances the variables in slots to their next combination of values. It returns false
// after the last one.
func (t *translation) nextValuation(state []int32, slots []int) bool {
	for _, slot := range slots {
		v := &t.source.Vars[slot]
		state[slot]++
		if state[slot] <= v.High {
			return true
		}
		state[slot] = v.Low
	}
	return false
}

// addToUnit replaces the unit by its greatest common divisor with n.
func (t *translation) addToUnit(n int64) {
	a, b := t.unit, n
	if b < 0 {
		b = -b
	}
	for b != 0 {
		a, b = b, a%b
	}
	t.unit = a
}

func rat(n int64) *big.Rat { return big.NewRat(n, 1) }
