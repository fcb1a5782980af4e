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
	var out []Query
	for len(out) < n {
		if q, ok := m.query(); ok {
			out = append(out, q)
		}
	}
	return out
}

// quantity is an operator and its values in all states. A property can ask for the value, or compare it with a bound.
type quantity struct {
	operator string // P or R
	path     string // with brackets
	// values returns the least or greatest value of each state. For a Markov chain both are the same.
	values func(greatest bool) []Value
}

// ask returns a property that asks for the value of a quantity, and the values.
func (m *Model) ask(q quantity) (string, []Value) {
	which, greatest := "", m.w.one(2)
	if m.Kind == "mdp" {
		which = map[bool]string{true: "max", false: "min"}[greatest]
	}
	return q.operator + which + "=? " + q.path, q.values(greatest)
}

// query returns a random property. ok is false if the value cannot be decided with the computed digits.
func (m *Model) query() (query Query, ok bool) {
	w := m.w
	q := m.quantity(1)
	switch w.IntN(10) {
	case 0, 1, 2:
		text, in := m.bounded(q, w.IntN(m.Size()))
		if text == "" {
			return Query{}, false
		}
		return Query{text, Want{Boolean: true, True: in[0]}}, true
	case 3:
		return m.filtered(q)
	case 4:
		return m.filteredTruth(q)
	case 5:
		text, vs := m.ask(q)
		if !vs[0].Inf && vs[0].Exact() {
			f := parse(pick(w, "3", "1/3", "0.1", "1e-9"))
			return Query{text + " * " + plain(f), Want{Value: exactly(mul(vs[0].Lo, f))}}, true
		}
		return Query{text, Want{Value: vs[0]}}, true
	}
	text, vs := m.ask(q)
	return Query{text, Want{Value: vs[0]}}, true
}

// where returns a random condition on variables, and whether it holds in each state.
func (m *Model) where(depth int) (string, []bool) {
	s := m.w.some(depth, -1)
	in := make([]bool, m.Size())
	for i, at := range m.states {
		in[i] = s.in(at)
	}
	return s.text, in
}

// target returns a random condition like where, but sometimes a bound on a nested quantity.
func (m *Model) target(nesting int) (string, []bool) {
	if nesting > 0 && m.w.one(8) {
		if text, in := m.bounded(m.quantity(0), m.w.IntN(m.Size())); text != "" {
			return "(" + text + ")", in
		}
	}
	return m.where(1)
}

// bounded returns a comparison of a quantity with a number that is equal or near to its value in a state, and whether it holds in each state. The
// text is empty if the computed digits do not decide the comparison.
func (m *Model) bounded(q quantity, state int) (string, []bool) {
	w := m.w
	relation := pick(w, ">=", ">", "<=", "<")
	greatest := relation[0] == '<' // for all schedulers
	vs := q.values(greatest)
	bound := new(big.Rat)
	if !vs[state].Inf {
		bound = vs[state].Lo
	}
	if !short(bound) { // use a near number with fewer digits
		bound = parse(real(bound).Text('e', 16))
	}
	if w.one(6) {
		bound = rat(int64(w.IntN(2)), 1)
	}
	if real(bound).MantExp(nil) < -16_000 { // too small for a literal
		bound = new(big.Rat)
	}
	text := w.literal(bound)
	if w.one(3) {
		d := "0.1"
		if w.level != Plain {
			d = pick(w, "1e-17", "1e-9", "1e-320", "1e-30", "0.1")
		}
		op := pick(w, "+", "-")
		text = "(" + plain(bound) + op + d + ")"
		if bound = add(bound, parse(d)); op == "-" {
			bound = sub(bound, mul(parse(d), rat(2, 1)))
		}
	}
	if bound.Sign() < 0 || q.operator != "R" && bound.Cmp(rat(1, 1)) > 0 {
		return "", nil
	}
	in := make([]bool, len(vs))
	for i, v := range vs {
		var ok bool
		if in[i], ok = holds(v, relation, bound); !ok {
			return "", nil
		}
	}
	return q.operator + relation + text + " " + q.path, in
}

// holds reports whether a value has a relation to a bound. ok is false if too few digits of the value are known.
func holds(v Value, relation string, bound *big.Rat) (in, ok bool) {
	if v.Inf {
		return relation[0] == '>', true
	}
	lo, hi := v.Lo.Cmp(bound), v.Hi.Cmp(bound)
	if lo != hi {
		return false, false
	}
	switch relation {
	case ">=":
		return lo >= 0, true
	case ">":
		return lo > 0, true
	case "<=":
		return lo <= 0, true
	}
	return lo < 0, true
}

// filtered returns a filter that combines the values of a quantity in some states. ok is false if no state satisfies the condition of the filter.
func (m *Model) filtered(q quantity) (query Query, ok bool) {
	text, vs := m.ask(q)
	cond, in := m.where(1)
	op := pick(m.w, "min", "max", "sum", "avg")
	var of []Value
	for i, v := range vs {
		if in[i] {
			of = append(of, v)
		}
	}
	if len(of) == 0 {
		return Query{}, false
	}
	best, total := of[0], exactly(new(big.Rat))
	for _, v := range of {
		if op == "min" && v.less(best) || op == "max" && best.less(v) {
			best = v
		}
		if total.Inf = total.Inf || v.Inf; !total.Inf {
			total = Value{Lo: add(total.Lo, v.Lo), Hi: add(total.Hi, v.Hi)}
		}
	}
	switch {
	case op == "avg" && !total.Inf:
		n := rat(int64(len(of)), 1)
		best = Value{Lo: quo(total.Lo, n), Hi: quo(total.Hi, n)}
	case op == "sum" || op == "avg":
		best = total
	}
	return Query{fmt.Sprintf("filter(%s, %s, %s)", op, text, cond), Want{Value: best}}, true
}

// filteredTruth returns a filter that combines truth values of some states. ok is false if no state satisfies the condition of the filter, or if the
// truth values cannot be decided.
func (m *Model) filteredTruth(q quantity) (query Query, ok bool) {
	text, truth := m.where(1)
	if m.w.one(2) {
		if text, truth = m.bounded(q, m.w.IntN(m.Size())); text == "" {
			return Query{}, false
		}
	}
	cond, in := m.where(1)
	count, of := 0, 0
	for i := range in {
		if in[i] {
			of++
			if truth[i] {
				count++
			}
		}
	}
	if of == 0 {
		return Query{}, false
	}
	switch op := pick(m.w, "forall", "exists", "count"); op {
	case "count":
		return Query{fmt.Sprintf("filter(count, %s, %s)", text, cond), Want{Value: exactly(rat(int64(count), 1))}}, true
	default:
		return Query{fmt.Sprintf("filter(%s, %s, %s)", op, text, cond), Want{Boolean: true, True: op == "forall" && count == of || op == "exists" && count > 0}}, true
	}
}
