package digital

import (
	"math/big"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// surveyModel finds the clocks and the numbers that they are compared with or set to. It refuses features for which digital
// clocks are not correct.
func (t *translation) surveyModel() {
	for slot, v := range t.from.Vars {
		if v.Type != sema.Clock {
			continue
		}
		t.clocks[slot] = &clock{}
	}
	for i := range t.from.Modules {
		m := &t.from.Modules[i]
		if m.Invariant != nil {
			t.closed(m.Invariant, true)
		}
		for k := range m.Commands {
			c := &m.Commands[k]
			t.closed(c.Guard, true)
			for j := range c.Updates {
				t.noClocks(c.Updates[j].Prob, "a probability")
				for _, a := range c.Updates[j].Assigns {
					if t.noClocks(a.Value, "an update"); t.clocks[a.Slot] != nil {
						t.compared(a.Slot, a.Value)
					}
				}
			}
		}
	}
	for i := range t.from.Rewards {
		for _, item := range t.from.Rewards[i].Items {
			t.noClocks(item.Guard, "a reward structure")
			t.noClocks(item.Value, "a reward structure")
		}
	}
	if t.from.Init != nil {
		t.never(t.from.Init.Pos(), "found several initial states (init...endinit), but all clocks begin at 0")
	}
}

// surveyProperty does the same for a property, which combines P and R operators and values in the initial state.
func (t *translation) surveyProperty(x sema.Expr) {
	switch f := logic.Of(x); f.Kind {
	case logic.Probability:
		t.surveyPath(f.Path)
	case logic.Reward:
		path := f.Objective.Path
		if path == nil || !path.Operator || path.Negated || path.Op != syntax.Future || path.Bound != nil {
			t.refuse(f.Objective.X.Pos(), "found a reward of a timed automaton other than until something is reached (F), which digital clocks are not right for")
			return
		}
		t.target(path.Right, true)
	case logic.Filter, logic.SteadyState, logic.Quantified, logic.Strategy, logic.Objectives:
		t.refuse(x.Pos(), "found an operator that digital clocks are not right for, want P or R of the initial state")
	case logic.Label:
		t.target(x, true)
	default:
		if _, is := t.comparison(x); is {
			t.closed(x, true)
			return
		}
		sema.Operands(x, t.surveyProperty)
	}
}

// surveyPath surveys the path formula of a P operator.
func (t *translation) surveyPath(path *logic.Path) {
	if !path.Operator || path.Negated || path.Op != syntax.Future && path.Op != syntax.Until && path.Op != syntax.Globally {
		t.refuse(path.Whole.Pos(), "found a path formula that digital clocks are not right for, want F, U or G over states")
		return
	}
	if path.Left != nil {
		t.target(path.Left, true)
		t.noClocks(path.Left, "the left side of U")
	}
	t.target(path.Right, path.Op != syntax.Globally)
	b := path.Bound
	switch {
	case b == nil:
		return
	case b.Low != nil:
		t.never(b.At, "found a lower time bound, digital clocks are right for upper ones (<=) only")
		return
	case b.HighStrict && negative(b.High):
		t.never(b.At, "Negative bound: no time is less than 0")
		return
	case b.HighStrict:
		t.refuse(b.At, "found a strict time bound, which digital clocks are not right for: want <=")
		return
	case path.Op == syntax.Globally:
		t.refuse(b.At, "found a time bound of G, which digital clocks are not right for: want 1-P of F")
		return
	case t.deadline != nil:
		t.refuse(b.At, "found a second time bound, digital clocks have one a property")
		return
	}
	v, err := sema.Eval(b.High, nil)
	if err != nil {
		t.refuse(b.At, "%v", err)
		return
	}
	switch {
	case v.Type != sema.Int:
		t.never(b.At, "found the time bound %s, want a whole number", v)
		return
	case v.Int < 0:
		t.never(b.At, "Negative bound %s, want a whole number of at least 0", v)
		return
	}
	deadline := int64(v.Int)
	t.deadline = &deadline
	t.counts(deadline)
}

// negative reports whether the strict bound <x excludes all times.
func negative(x sema.Expr) bool {
	v, err := sema.Eval(x, nil)
	return err == nil && v.Type == sema.Int && v.Int <= 0
}

// target surveys a state formula.
func (t *translation) target(x sema.Expr, positive bool) {
	if nested := logic.Nested(x, nil); nested != nil {
		t.never(nested.Pos(), "found nested operators, which digital clocks are not right for")
		return
	}
	t.closed(x, positive)
}

// closed refuses clock constraints that are strict or compare two clocks, and records the numbers that clocks are compared
// with. positive says that the constraint is not negated.
func (t *translation) closed(x sema.Expr, positive bool) {
	switch x := x.(type) {
	case *sema.Label:
		if x.Index >= 0 {
			t.closed(t.from.Labels[x.Index].X, positive)
		}
		return
	case *sema.Unary:
		if x.Op == syntax.OpNot {
			t.closed(x.X, !positive)
			return
		}
	case *sema.Binary:
		if slot, is := t.comparison(x); is {
			t.constraint(x, slot, positive)
			return
		}
		switch x.Op {
		case syntax.OpAnd, syntax.OpOr:
			t.closed(x.X, positive)
			t.closed(x.Y, positive)
			return
		case syntax.OpImplies:
			t.closed(x.X, !positive)
			t.closed(x.Y, positive)
			return
		}
	case *sema.Cond:
		if x.Type() == sema.Bool {
			t.noClocks(x.C, "a condition")
			t.closed(x.A, positive)
			t.closed(x.B, positive)
			return
		}
	}
	t.noClocks(x, "an expression that is no comparison of it with a number")
}

// comparison returns the slot of the clock if x compares a clock with something.
func (t *translation) comparison(x sema.Expr) (slot int, is bool) {
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

func (t *translation) constraint(x *sema.Binary, slot int, positive bool) {
	other := x.Y
	if v, ok := x.Y.(*sema.Var); ok && v.Slot == slot {
		other = x.X
	}
	if v, ok := other.(*sema.Var); ok && t.clocks[v.Slot] != nil {
		t.refuse(x.Pos(), "found a diagonal clock constraint, which compares two clocks: digital clocks are not right for these")
		return
	}
	open := x.Op == syntax.OpLt || x.Op == syntax.OpGt || x.Op == syntax.OpNe
	if open == positive {
		t.refuse(x.Pos(), "found a strict clock constraint, digital clocks are right for closed ones only: want <=, >= or =, and none of these negated")
		return
	}
	t.noClocks(other, "an expression that is no comparison of it with a number")
	t.compared(slot, other)
}

// noClocks refuses an expression that contains a clock.
func (t *translation) noClocks(x sema.Expr, where string) {
	sema.Inspect(x, func(y sema.Expr) bool {
		switch y := y.(type) {
		case *sema.Var:
			if t.clocks[y.Slot] != nil {
				t.refuse(y.Pos(), "found the clock %q in %s, which digital clocks are not right for", t.from.Vars[y.Slot].Name, where)
			}
		case *sema.Label:
			if y.Index >= 0 {
				t.noClocks(t.from.Labels[y.Index].X, where)
			}
		}
		return t.err == nil
	})
}

// maxValuations is the greatest number of valuations for which an expression compared with a clock is evaluated.
const maxValuations = 1 << 20

// compared records all values that an expression compared with a clock can have.
func (t *translation) compared(slot int, x sema.Expr) {
	var slots []int
	seen := map[int]bool{}
	sema.Inspect(x, func(y sema.Expr) bool {
		if v, ok := y.(*sema.Var); ok && !seen[v.Slot] {
			seen[v.Slot] = true
			slots = append(slots, v.Slot)
		}
		return true
	})
	count := int64(1)
	for _, s := range slots {
		v := &t.from.Vars[s]
		if count *= int64(v.High) - int64(v.Low) + 1; count > maxValuations {
			t.refuse(x.Pos(), "found a clock that is compared with an expression of more than %d values", maxValuations)
			return
		}
	}
	state := make([]int32, len(t.from.Vars))
	for _, s := range slots {
		state[s] = t.from.Vars[s].Low
	}
	for {
		if v, err := sema.Eval(x, state); err == nil { // an evaluation error is reported when a reachable state has it
			n := int64(v.Int)
			if v.Type != sema.Int {
				t.refuse(x.Pos(), "found a clock that is compared with %s, want a whole number", v)
				return
			}
			t.clocks[slot].most = max(t.clocks[slot].most, n)
			t.counts(n)
		}
		i := 0
		for ; i < len(slots); i++ {
			v := &t.from.Vars[slots[i]]
			if state[slots[i]]++; state[slots[i]] <= v.High {
				break
			}
			state[slots[i]] = v.Low
		}
		if i == len(slots) {
			return
		}
	}
}

// counts makes the unit a divisor of n.
func (t *translation) counts(n int64) {
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
