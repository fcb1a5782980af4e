package stubborn

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// interval is a condition on one variable: its value is between low and high.
type interval struct {
	slot      int
	low, high int32
}

// condition is a conjunction of intervals, of negations of other conditions, and of other expressions.
type condition struct {
	intervals []interval // at most one for each variable, sorted by slot
	negated   []int      // indices of conditions, sorted
	others    []sema.Expr
}

// isBox reports whether the condition consists of intervals.
func (c *condition) isBox() bool { return len(c.negated) == 0 && len(c.others) == 0 }

// reader takes expressions apart. Equal conditions have the same index.
type reader struct {
	program    *sema.Program
	conditions []condition
	indices    map[string]int    // by the text of a condition
	known      map[sema.Expr]int // expressions that were read
}

// read converts a Bool expression to a condition, and returns the index of this condition in r.conditions. Equal conditions have one index.
func (r *reader) read(expr sema.Expr) int {
	if index, ok := r.known[expr]; ok {
		return index
	}
	parts := condition{}
	r.addConjunct(&parts, expr, false)
	index := r.indexOf(parts)
	r.known[expr] = index
	return index
}

// indexOf returns the index of a condition in r.conditions. It appends the condition if the list has no equal one.
func (r *reader) indexOf(parts condition) int {
	slices.SortFunc(parts.intervals, func(a, b interval) int { return a.slot - b.slot })
	slices.Sort(parts.negated)
	parts.negated = slices.Compact(parts.negated)
	var key strings.Builder
	fmt.Fprint(&key, parts.intervals, parts.negated)
	for _, other := range parts.others {
		fmt.Fprintf(&key, " %p", other)
	}
	index, ok := r.indices[key.String()]
	if !ok {
		index = len(r.conditions)
		r.conditions = append(r.conditions, parts)
		r.indices[key.String()] = index
	}
	return index
}

// addConjunct adds an expression to a conjunction; with isNegated, it adds the negation. A conjunction in the expression is split into its operands. A
// comparison such as x<3 becomes an interval.
func (r *reader) addConjunct(parts *condition, expr sema.Expr, isNegated bool) {
	switch expr := expr.(type) {
	case *sema.Const:
		if expr.Val.Bool != isNegated {
			return
		}
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			r.addConjunct(parts, expr.X, !isNegated)
			return
		}
	case *sema.Binary:
		if expr.Op == syntax.OpAnd && !isNegated || expr.Op == syntax.OpOr && isNegated {
			r.addConjunct(parts, expr.X, isNegated)
			r.addConjunct(parts, expr.Y, isNegated)
			return
		}
	}
	if part, ok := r.intervalOf(expr, isNegated); ok {
		r.restrict(parts, part)
		return
	}
	if isNegated {
		parts.negated = append(parts.negated, r.read(expr))
		return
	}
	parts.others = append(parts.others, expr)
}

// restrict adds an interval of a variable to a conjunction. If the conjunction already has an interval for this variable, both are intersected.
func (r *reader) restrict(parts *condition, part interval) {
	i := slices.IndexFunc(parts.intervals, func(known interval) bool { return known.slot == part.slot })
	if i < 0 {
		parts.intervals = append(parts.intervals, part)
		return
	}
	known := &parts.intervals[i]
	known.low, known.high = max(known.low, part.low), min(known.high, part.high)
}

// intervalOf returns the values of a variable for which a condition holds: a comparison of a bounded variable with an integer, such as x<3, or a Bool variable.
// With isNegated, it is the negated condition. ok is false if the values are not one interval, or for other conditions.
func (r *reader) intervalOf(expr sema.Expr, isNegated bool) (part interval, ok bool) {
	if variable, ok := expr.(*sema.Var); ok && variable.Type() == sema.Bool {
		value := int32(1)
		if isNegated {
			value = 0
		}
		return interval{variable.Slot, value, value}, true
	}
	comparison, ok := expr.(*sema.Binary)
	if !ok {
		return interval{}, false
	}
	relation, left, right := comparison.Op, comparison.X, comparison.Y
	if _, isConstant := left.(*sema.Const); isConstant {
		relation, left, right = relation.Mirrored(), right, left
	}
	variable, isVariable := left.(*sema.Var)
	number, isConstant := right.(*sema.Const)
	if !isVariable || !isConstant || variable.Type() != sema.Int || number.Type() != sema.Int || !r.program.Vars[variable.Slot].IsBounded {
		return interval{}, false
	}
	switch {
	case isNegated && relation == syntax.OpEq:
		relation = syntax.OpNe
	case isNegated && relation == syntax.OpNe:
		relation = syntax.OpEq
	case isNegated:
		relation = relation.Negated()
	}
	return valuesOf(&r.program.Vars[variable.Slot], variable.Slot, relation, number.Val.Int)
}

// valuesOf returns the interval of the values of a variable for which a comparison with a number holds: for x<3 the values up to 2. ok is false if these values
// are not one interval, or if the number is outside the range of the variable.
func valuesOf(variable *sema.Variable, slot int, relation syntax.Op, number int32) (values interval, ok bool) {
	if number < variable.Low || number > variable.High { // otherwise number-1 or number+1 might overflow below
		return interval{}, false
	}
	values = interval{slot, variable.Low, variable.High}
	switch relation {
	case syntax.OpEq:
		values.low, values.high = number, number
	case syntax.OpLe:
		values.high = number
	case syntax.OpGe:
		values.low = number
	case syntax.OpLt:
		values.high = number - 1
		return values, number > variable.Low
	case syntax.OpGt:
		values.low = number + 1
		return values, number < variable.High
	case syntax.OpNe:
		return complementOf(values, number)
	default:
		return interval{}, false
	}
	return values, true
}

// complementOf returns an interval without one of its numbers. ok is false unless the number is an end of the interval, because only then the rest is one
// interval.
func complementOf(values interval, number int32) (interval, bool) {
	switch {
	case number == values.low && number < values.high:
		values.low++
	case number == values.high && number > values.low:
		values.high--
	default:
		return interval{}, false
	}
	return values, true
}

// includes reports whether every state in the box inner is also in the box outer. A box gives intervals for some variables.
func includes(outer, inner []interval) bool {
	for _, wanted := range outer {
		given, ok := intervalAt(inner, wanted.slot)
		if !ok || given.low < wanted.low || given.high > wanted.high {
			return false
		}
	}
	return true
}

// areDisjoint reports whether no state is in both boxes.
func areDisjoint(left, right []interval) bool {
	return slices.ContainsFunc(left, func(part interval) bool {
		other, ok := intervalAt(right, part.slot)
		return ok && (part.high < other.low || other.high < part.low)
	})
}

// intervalAt returns the interval of a variable in a box, if there is one.
func intervalAt(box []interval, slot int) (part interval, ok bool) {
	i := slices.IndexFunc(box, func(part interval) bool { return part.slot == slot })
	if i < 0 {
		return interval{}, false
	}
	return box[i], true
}

// holds reports whether a state is in a box: whether the value of each variable that has an interval in the box is in this interval.
func holds(box []interval, state []int32) bool {
	for _, part := range box {
		if value := state[part.slot]; value < part.low || value > part.high {
			return false
		}
	}
	return true
}
