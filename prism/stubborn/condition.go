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

// condition is a conjunction. Its conjuncts are intervals, negations of other conditions, and other expressions.
type condition struct {
	intervals []interval // at most one for each variable, sorted by slot
	negated   []int      // sorted indices of the negated conditions in reader.conditions
	others    []sema.Expr
}

// isBox reports whether the condition consists of intervals. Such a condition is called a box.
func (c *condition) isBox() bool { return len(c.negated) == 0 && len(c.others) == 0 }

// reader converts expressions to conditions. Equal conditions have the same index in reader.conditions.
type reader struct {
	program    *sema.Program
	conditions []condition
	indices    map[string]int    // by the text of a condition
	known      map[sema.Expr]int // indices of the conditions of the expressions that were read
}

// read converts a Bool expression to a condition, and returns the index of this condition in r.conditions. Equal conditions have one index.
func (r *reader) read(expr sema.Expr) int {
	if index, ok := r.known[expr]; ok {
		return index
	}
	created := condition{}
	r.addConjunct(&created, expr, false)
	index := r.indexOf(created)
	r.known[expr] = index
	return index
}

// indexOf returns the index of a condition in r.conditions. It appends the condition if the list has no equal one.
func (r *reader) indexOf(wanted condition) int {
	slices.SortFunc(wanted.intervals, func(a, b interval) int { return a.slot - b.slot })
	slices.Sort(wanted.negated)
	wanted.negated = slices.Compact(wanted.negated)
	var key strings.Builder
	fmt.Fprint(&key, wanted.intervals, wanted.negated)
	for _, other := range wanted.others {
		fmt.Fprintf(&key, " %p", other)
	}
	index, ok := r.indices[key.String()]
	if !ok {
		index = len(r.conditions)
		r.conditions = append(r.conditions, wanted)
		r.indices[key.String()] = index
	}
	return index
}

// addConjunct adds an expression to a conjunction; with isNegated, it adds the negation. A conjunction in the expression is split into its operands. A
// comparison such as x<3 becomes an interval.
func (r *reader) addConjunct(conjunction *condition, expr sema.Expr, isNegated bool) {
	switch expr := expr.(type) {
	case *sema.Const:
		if expr.Val.Bool != isNegated {
			return
		}
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			r.addConjunct(conjunction, expr.X, !isNegated)
			return
		}
	case *sema.Binary:
		if expr.Op == syntax.OpAnd && !isNegated || expr.Op == syntax.OpOr && isNegated {
			r.addConjunct(conjunction, expr.X, isNegated)
			r.addConjunct(conjunction, expr.Y, isNegated)
			return
		}
	}
	if values, ok := r.intervalOf(expr, isNegated); ok {
		r.addInterval(conjunction, values)
		return
	}
	if isNegated {
		conjunction.negated = append(conjunction.negated, r.read(expr))
		return
	}
	conjunction.others = append(conjunction.others, expr)
}

// addInterval adds an interval of a variable to a conjunction. If the conjunction already has an interval for this variable, both are intersected.
func (r *reader) addInterval(conjunction *condition, values interval) {
	i := slices.IndexFunc(conjunction.intervals, func(known interval) bool { return known.slot == values.slot })
	if i < 0 {
		conjunction.intervals = append(conjunction.intervals, values)
		return
	}
	known := &conjunction.intervals[i]
	known.low, known.high = max(known.low, values.low), min(known.high, values.high)
}

// intervalOf returns the values of a variable for which an expression is true. The expression is a comparison of a bounded variable with an integer, such
// as x<3, or a Bool variable. With isNegated, intervalOf returns the values for which the expression is false. ok is false for expressions of other forms,
// and if the values do not form one interval.
func (r *reader) intervalOf(expr sema.Expr, isNegated bool) (values interval, ok bool) {
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
	if isNegated {
		relation = negationOf(relation)
	}
	return valuesOf(&r.program.Vars[variable.Slot], variable.Slot, relation, number.Val.Int)
}

// negationOf returns the relation that is true if and only if the given one is false: >= for <, and != for =.
func negationOf(relation syntax.Op) syntax.Op {
	switch relation {
	case syntax.OpEq:
		return syntax.OpNe
	case syntax.OpNe:
		return syntax.OpEq
	}
	return relation.Negated()
}

// valuesOf returns the interval of the values of a variable for which a comparison with a number holds: for x<3 the values up to 2. ok is false if these
// values are not one interval, or if the number is outside the range of the variable.
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

// includes reports whether every state in the box inner is also in the box outer.
func includes(outer, inner []interval) bool {
	for _, outerValues := range outer {
		innerValues, ok := intervalAt(inner, outerValues.slot)
		if !ok || innerValues.low < outerValues.low || innerValues.high > outerValues.high {
			return false
		}
	}
	return true
}

// areDisjoint reports whether no state is in both boxes.
func areDisjoint(left, right []interval) bool {
	return slices.ContainsFunc(left, func(values interval) bool {
		other, ok := intervalAt(right, values.slot)
		return ok && (values.high < other.low || other.high < values.low)
	})
}

// intervalAt returns the interval of a variable in a box, if there is one.
func intervalAt(box []interval, slot int) (values interval, ok bool) {
	i := slices.IndexFunc(box, func(values interval) bool { return values.slot == slot })
	if i < 0 {
		return interval{}, false
	}
	return box[i], true
}

// holds reports whether a state is in a box: whether the value of each variable that has an interval in the box is in this interval.
func holds(box []interval, state []int32) bool {
	for _, values := range box {
		if value := state[values.slot]; value < values.low || value > values.high {
			return false
		}
	}
	return true
}
