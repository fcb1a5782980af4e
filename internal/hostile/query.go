package hostile

import (
	"fmt"
	"math/big"
	"strconv"
)

// Query is a property and its answer.
type Query struct {
	Text string
	Want Want
}

// Want is an answer: a truth value or a number.
type Want struct {
	Boolean bool
	True    bool
	Value   Value
}

// String returns an answer for messages.
func (w Want) String() string {
	if w.Boolean {
		return strconv.FormatBool(w.True)
	}
	return w.Value.String()
}

// Queries returns n random properties of a model with their exact values. Each call returns new ones.
func (m *Model) Queries(n int) []Query {
	var queries []Query
	for len(queries) < n {
		if query, ok := m.randomQuery(); ok {
			queries = append(queries, query)
		}
	}
	return queries
}

// quantity is an operator and its values in all states. A property can ask for the value, or compare it with a bound.
type quantity struct {
	operator string // P or R
	path     string // with brackets
	// values returns the least or greatest value of each state. For a Markov chain both are the same.
	values func(greatest bool) []Value
}

// queryFor returns a property that asks for the value of a quantity, and the values.
func (m *Model) queryFor(asked quantity) (string, []Value) {
	optimum, isMaximum := "", m.writer.one(2)
	if m.Kind == "mdp" {
		optimum = map[bool]string{true: "max", false: "min"}[isMaximum]
	}
	return asked.operator + optimum + "=? " + asked.path, asked.values(isMaximum)
}

// randomQuery returns a random property. ok is false if the value cannot be decided with the computed digits.
func (m *Model) randomQuery() (query Query, ok bool) {
	w := m.writer
	asked := m.randomQuantity(1)
	switch w.IntN(10) {
	case 0, 1, 2:
		text, holdsIn := m.comparison(asked, w.IntN(m.Size()))
		if text == "" {
			return Query{}, false
		}
		return Query{text, Want{Boolean: true, True: holdsIn[0]}}, true
	case 3:
		return m.filtered(asked)
	case 4:
		return m.filteredTruth(asked)
	case 5:
		text, values := m.queryFor(asked)
		if !values[0].Inf && values[0].Exact() {
			factor := parseNumber(pick(w, "3", "1/3", "0.1", "1e-9"))
			return Query{text + " * " + plain(factor), Want{Value: exactly(mul(values[0].Lo, factor))}}, true
		}
		return Query{text, Want{Value: values[0]}}, true
	}
	text, values := m.queryFor(asked)
	return Query{text, Want{Value: values[0]}}, true
}

// randomCondition returns a random condition on variables, and whether it holds in each state.
func (m *Model) randomCondition(depth int) (string, []bool) {
	s := m.writer.some(depth, -1)
	holdsIn := make([]bool, m.Size())
	for i, valuation := range m.states {
		holdsIn[i] = s.in(valuation)
	}
	return s.text, holdsIn
}

// randomTarget returns a random condition like randomCondition, but sometimes a bound on a nested quantity.
func (m *Model) randomTarget(nesting int) (string, []bool) {
	if nesting > 0 && m.writer.one(8) {
		if text, holdsIn := m.comparison(m.randomQuantity(0), m.writer.IntN(m.Size())); text != "" {
			return "(" + text + ")", holdsIn
		}
	}
	return m.randomCondition(1)
}

// comparison returns a comparison of a quantity with a number that is equal or near to its value in a state, and whether it holds in each state. The
// text is empty if the computed digits do not decide the comparison.
func (m *Model) comparison(compared quantity, state int) (string, []bool) {
	w := m.writer
	relation := pick(w, ">=", ">", "<=", "<")
	isMaximum := relation[0] == '<' // for all schedulers
	values := compared.values(isMaximum)
	bound := new(big.Rat)
	if !values[state].Inf {
		bound = values[state].Lo
	}
	if !short(bound) { // use a near number with fewer digits
		bound = parseNumber(real(bound).Text('e', 16))
	}
	if w.one(6) {
		bound = rat(int64(w.IntN(2)), 1)
	}
	if real(bound).MantExp(nil) < -16_000 { // too small for a literal
		bound = new(big.Rat)
	}
	text := w.literal(bound)
	if w.one(3) {
		difference := "0.1"
		if w.level != Plain {
			difference = pick(w, "1e-17", "1e-9", "1e-320", "1e-30", "0.1")
		}
		sign := pick(w, "+", "-")
		text = "(" + plain(bound) + sign + difference + ")"
		if bound = add(bound, parseNumber(difference)); sign == "-" {
			bound = sub(bound, mul(parseNumber(difference), rat(2, 1)))
		}
	}
	if bound.Sign() < 0 || compared.operator != "R" && bound.Cmp(rat(1, 1)) > 0 {
		return "", nil
	}
	holdsIn := make([]bool, len(values))
	for i, value := range values {
		var ok bool
		if holdsIn[i], ok = holds(value, relation, bound); !ok {
			return "", nil
		}
	}
	return compared.operator + relation + text + " " + compared.path, holdsIn
}

// holds reports whether a value has a relation to a bound. ok is false if too few digits of the value are known.
func holds(value Value, relation string, bound *big.Rat) (isTrue, ok bool) {
	if value.Inf {
		return relation[0] == '>', true
	}
	lowerOrder, upperOrder := value.Lo.Cmp(bound), value.Hi.Cmp(bound)
	if lowerOrder != upperOrder {
		return false, false
	}
	switch relation {
	case ">=":
		return lowerOrder >= 0, true
	case ">":
		return lowerOrder > 0, true
	case "<=":
		return lowerOrder <= 0, true
	}
	return lowerOrder < 0, true
}

// filtered returns a filter that combines the values of a quantity in some states. ok is false if no state satisfies the condition of the filter.
func (m *Model) filtered(filteredQuantity quantity) (query Query, ok bool) {
	text, values := m.queryFor(filteredQuantity)
	condition, holdsIn := m.randomCondition(1)
	operator := pick(m.writer, "min", "max", "sum", "avg")
	var selected []Value
	for i, value := range values {
		if holdsIn[i] {
			selected = append(selected, value)
		}
	}
	if len(selected) == 0 {
		return Query{}, false
	}
	result, total := selected[0], exactly(new(big.Rat))
	for _, value := range selected {
		if operator == "min" && value.isLess(result) || operator == "max" && result.isLess(value) {
			result = value
		}
		if total.Inf = total.Inf || value.Inf; !total.Inf {
			total = Value{Lo: add(total.Lo, value.Lo), Hi: add(total.Hi, value.Hi)}
		}
	}
	switch {
	case operator == "avg" && !total.Inf:
		n := rat(int64(len(selected)), 1)
		result = Value{Lo: quo(total.Lo, n), Hi: quo(total.Hi, n)}
	case operator == "sum" || operator == "avg":
		result = total
	}
	return Query{fmt.Sprintf("filter(%s, %s, %s)", operator, text, condition), Want{Value: result}}, true
}

// filteredTruth returns a filter that combines truth values of some states. ok is false if no state satisfies the condition of the filter, or if the
// truth values cannot be decided.
func (m *Model) filteredTruth(compared quantity) (query Query, ok bool) {
	text, truth := m.randomCondition(1)
	if m.writer.one(2) {
		if text, truth = m.comparison(compared, m.writer.IntN(m.Size())); text == "" {
			return Query{}, false
		}
	}
	condition, holdsIn := m.randomCondition(1)
	numTrue, numSelected := 0, 0
	for i := range holdsIn {
		if holdsIn[i] {
			numSelected++
			if truth[i] {
				numTrue++
			}
		}
	}
	if numSelected == 0 {
		return Query{}, false
	}
	switch operator := pick(m.writer, "forall", "exists", "count"); operator {
	case "count":
		return Query{fmt.Sprintf("filter(count, %s, %s)", text, condition), Want{Value: exactly(rat(int64(numTrue), 1))}}, true
	default:
		return Query{fmt.Sprintf("filter(%s, %s, %s)", operator, text, condition), Want{Boolean: true, True: operator == "forall" && numTrue == numSelected || operator == "exists" && numTrue > 0}}, true
	}
}
