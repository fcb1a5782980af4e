package attack

import (
	"fmt"
	"math/big"
	"strings"
)

// answer is the true answer to a property: a truth value, or a number between two fractions, which are equal unless the oracle rounds.
type answer struct {
	isBool, truth bool
	infinite      bool
	lower, upper  *big.Rat
}

// numberAnswer is a number as an answer; nil is infinite.
func numberAnswer(x *big.Rat) answer { return answer{infinite: x == nil, lower: x, upper: x} }

func truthAnswer(truth bool) answer { return answer{isBool: true, truth: truth} }

func (a answer) String() string {
	switch {
	case a.isBool:
		return fmt.Sprint(a.truth)
	case a.infinite:
		return "infinite"
	case a.lower == a.upper:
		return a.lower.RatString()
	}
	return "[" + a.lower.FloatString(25) + ", " + a.upper.FloatString(25) + "]"
}

// question is a property with its answer.
type question struct {
	text string
	want answer
}

// quantity is a formula with a value for each state. Its text has a format verb for the optimum and the bound.
type quantity struct {
	operator, path string // such as P and [ F "a" ]
	of             func(g goal) vector
	isRounded      bool // the oracle rounds, by much less than roundingError
}

// roundingError is more than the oracles round a number.
var roundingError = big.NewRat(1, 1e18)

// query is an operator's optimum with the goal that it stands for.
type query struct {
	coalition, optimum string
	goal               goal
}

// queries returns the queries of a kind of model.
func (m *system) queries() []query {
	switch m.kind {
	case "dtmc", "ctmc":
		return []query{{"", "", all(true)}}
	case "imdp":
		robust := func(player, nature bool) goal { return goal{[2]bool{player, player}, nature} }
		return []query{{"", "minmin", robust(false, false)}, {"", "minmax", robust(false, true)}, {"", "maxmin", robust(true, false)}, {"", "maxmax", robust(true, true)}}
	case "smg":
		against := func(first, second bool) goal { return goal{[2]bool{first, second}, true} }
		return []query{
			{"<<1>> ", "max", against(true, false)},
			{"<<1>> ", "min", against(false, true)},
			{"<<2>> ", "max", against(false, true)},
			{"<<2>> ", "min", against(true, false)},
			{"<<>> ", "max", all(false)},
			{"<<1,2>> ", "min", all(false)},
			{"", "max", all(true)},
		}
	}
	return []query{{"", "min", all(false)}, {"", "max", all(true)}}
}

// writer writes random questions about a model.
type writer struct {
	maker
	*system
}

func (w writer) n() int { return len(w.choices) }

// state writes a state formula, and returns the states in which it holds. Only in small depth it has nested operators.
func (w writer) state(depth int) (string, []bool) {
	set := constant(w.n(), true)
	switch w.IntN(8) {
	case 0, 1, 2:
		name := pick(w.maker, "a", "b")
		if w.kind == "ma" { // its text has no labels
			return "(" + w.members(w.sets[name]) + ")", w.sets[name]
		}
		return fmt.Sprintf("%q", name), w.sets[name]
	case 3:
		s := w.IntN(w.n())
		set = constant(w.n(), false)
		set[s] = true
		return "(" + w.at(s) + ")", set
	case 4:
		if w.names != nil {
			return w.state(depth)
		}
		k := w.IntN(w.n())
		for s := range set {
			set[s] = s/w.width <= k
		}
		return fmt.Sprintf("(x<=%d)", k), set
	case 5:
		text, set := w.state(depth)
		return "(!" + text + ")", not(set)
	case 6:
		left, x := w.state(depth)
		right, y := w.state(depth)
		if w.one(2) {
			return "(" + left + " & " + right + ")", and(x, y)
		}
		return "(" + left + " | " + right + ")", or(x, y)
	}
	if depth == 0 {
		return "true", set
	}
	quantity := w.probability(depth - 1)
	return w.threshold(quantity)
}

// threshold writes the comparison of a quantity with a number, and returns the states in which it holds. Some numbers are values of states.
func (w writer) threshold(q quantity) (string, []bool) {
	relation := pick(w.maker, ">=", ">", "<=", "<")
	coalition, g := "", all(relation[0] == '<')
	if w.kind == "smg" && w.one(2) {
		coalition, g = "<<1>> ", goal{[2]bool{relation[0] == '>', relation[0] == '<'}, true}
	}
	x, bound := q.of(g), w.fraction()
	if y := x[w.IntN(w.n())]; y != nil && w.one(3) && len(y.RatString()) < 200 && !q.isRounded {
		bound = y
	} else if q.operator != "P" && q.operator != "S" {
		bound = w.amount()
	}
	if q.isRounded { // the bound is not a value
		bound = mul(bound, big.NewRat(1008, 1009))
	}
	set := make([]bool, w.n())
	for s := range set {
		sign := compare(x[s], bound)
		set[s] = sign == 0 && len(relation) == 2 || sign > 0 && relation[0] == '>' || sign < 0 && relation[0] == '<'
	}
	return fmt.Sprintf("(%s%s%s%s %s)", coalition, q.operator, relation, number(bound), q.path), set
}

// probability returns a random quantity P. Its states have nested operators up to depth.
func (w writer) probability(depth int) quantity {
	left, l := w.state(depth)
	right, r := w.state(depth)
	everywhere := constant(w.n(), true)
	low, high := 0, w.IntN(7)
	bound := fmt.Sprintf("<=%d", high)
	if w.one(3) {
		low = w.IntN(high + 1)
		bound = fmt.Sprintf("[%d,%d]", low, high)
	}
	chains := func(path string, of func(*chain) vector) quantity {
		return quantity{"P", "[ " + path + " ]", func(g goal) vector { return w.value(g, of) }, false}
	}
	steps := func(path string, of func(goal) vector) quantity { return quantity{"P", "[ " + path + " ]", of, false} }
	if w.kind == "ctmc" || w.kind == "ma" { // bounds are of time
		bound = ""
	}
	kind := w.IntN(14)
	if w.kind == "ctmc" && kind >= 9 && kind <= 11 {
		return w.timed(left, right, l, r)
	}
	switch {
	case kind == 0:
		return steps("X "+right, func(g goal) vector { return w.next(g, indicator(r)) })
	case kind <= 3:
		return chains("F "+right, func(c *chain) vector { return c.until(everywhere, r) })
	case kind == 4:
		return chains("G "+right, func(c *chain) vector { return complement(c.until(everywhere, not(r))) })
	case kind <= 6 || bound == "" && kind >= 9 && kind <= 11:
		return chains(left+" U "+right, func(c *chain) vector { return c.until(l, r) })
	case kind == 7: // l W r is not (!r U !l&!r)
		return chains(left+" W "+right, func(c *chain) vector { return complement(c.until(not(r), and(not(l), not(r)))) })
	case kind == 8: // l R r is not (!l U !r)
		return chains(left+" R "+right, func(c *chain) vector { return complement(c.until(not(l), not(r))) })
	case kind == 9:
		return steps("G"+bound+" "+right, func(g goal) vector { return complement(w.boundedUntil(g.opposite(), everywhere, not(r), low, high)) })
	case kind == 10:
		return steps("F"+bound+" "+right, func(g goal) vector { return w.boundedUntil(g, everywhere, r, low, high) })
	case kind == 11:
		return steps(left+" U"+bound+" "+right, func(g goal) vector { return w.boundedUntil(g, l, r, low, high) })
	}
	return w.linear(chains)
}

// linear returns a quantity P of a formula of LTL.
func (w writer) linear(chains func(string, func(*chain) vector) quantity) quantity {
	left, l := w.state(0)
	right, r := w.state(0)
	// remember is the probability to reach final with a memory that reads the states before it.
	remember := func(path string, size int, next func(memory, s int) int, final func(memory, s int) bool) quantity {
		return quantity{"P", "[ " + path + " ]", func(g goal) vector { return w.reachWithMemory(g, size, next, final) }, false}
	}
	seen := func(memory, s int) int { // bit 0: l was seen; bit 1: r was seen
		if l[s] {
			memory |= 1
		}
		if r[s] {
			memory |= 2
		}
		return memory
	}
	switch w.IntN(6) {
	case 0:
		return chains("G F "+right, func(c *chain) vector { return c.infinitelyOften(r) })
	case 1:
		return chains("F G "+right, func(c *chain) vector { return c.finallyAlways(r) })
	case 2:
		now := func(_, s int) int {
			if l[s] {
				return 1
			}
			return 0
		}
		return remember("F ("+left+" & (X "+right+"))", 2, now, func(memory, s int) bool { return memory == 1 && r[s] })
	case 3:
		return remember("(F "+left+") & (F "+right+")", 4, seen, func(memory, s int) bool { return seen(memory, s) == 3 })
	case 4: // the steps after the first are those of an until
		return quantity{"P", "[ X (" + left + " U " + right + ") ]", func(g goal) vector {
			return w.next(g, w.value(g, func(c *chain) vector { return c.until(l, r) }))
		}, false}
	}
	if w.kind != "dtmc" && w.kind != "ctmc" {
		return chains("F G "+left, func(c *chain) vector { return c.finallyAlways(l) })
	}
	return chains("(G F "+left+") & (F G "+right+")", func(c *chain) vector {
		return c.ofBottom(func(members []bool) bool { return hasAny(and(members, l)) && !hasAny(and(members, not(r))) })
	})
}

// reachWithMemory returns the probability that final becomes true, where the memory begins with 0.
func (w writer) reachWithMemory(g goal, size int, next func(memory, s int) int, final func(memory, s int) bool) vector {
	product := w.product(size, next)
	targets := make([]bool, len(product.choices))
	for i := range targets {
		if targets[i] = final(i%size, i/size); targets[i] {
			product.choices[i] = product.choices[i][:1]
		}
	}
	x := product.optimalReach(g, targets)
	out := make(vector, w.n())
	for s := range out {
		out[s] = x[s*size]
	}
	return out
}

// reward returns a random quantity R, or S.
func (w writer) reward() quantity {
	right, r := w.state(0)
	k, operator := w.IntN(6), `R{"r"}`
	if w.kind == "ma" {
		operator = "T"
	}
	rewards := func(objective string, of func(goal) vector) quantity {
		return quantity{operator, "[ " + objective + " ]", of, false}
	}
	chains := func(of func(*chain) vector) func(goal) vector { return func(g goal) vector { return w.value(g, of) } }
	kind := w.IntN(10)
	if strings.HasPrefix(w.kind, "i") && kind > 3 && kind < 8 || w.kind == "ma" { // the other objectives are refused
		kind = 0
	}
	switch {
	case kind <= 3:
		return rewards("F "+right, chains(func(c *chain) vector { return c.reachReward(r) }))
	case kind == 4:
		return rewards("C", chains((*chain).totalReward))
	case kind == 5:
		return rewards("S", chains(func(c *chain) vector { return c.longRun(c.reward) }))
	case kind == 6 && (w.kind == "dtmc" || w.kind == "ctmc"):
		return quantity{"S", "[ " + right + " ]", chains(func(c *chain) vector {
			times := indicator(r)
			for s := range times {
				times[s] = mul(times[s], c.sojourn[s])
			}
			return c.longRun(times)
		}), false}
	case kind <= 7 && w.kind != "ctmc":
		return rewards(fmt.Sprintf("I=%d", k), func(g goal) vector { return w.instantaneous(g, k) })
	case w.kind == "ctmc":
		return w.timedReward()
	default:
		return rewards(fmt.Sprintf("C<=%d", k), func(g goal) vector { return w.cumulative(g, k) })
	}
}

// quantity returns a random quantity.
func (w writer) quantity() quantity {
	if w.one(3) {
		return w.reward()
	}
	return w.probability(1)
}

// question writes a random question.
func (w writer) question() question {
	q := w.quantity()
	out := w.questionAbout(q)
	if want := &out.want; q.isRounded && want.lower != nil && !strings.HasPrefix(out.text, "filter(count") {
		want.lower, want.upper = sub(want.lower, roundingError), add(want.upper, roundingError)
	}
	return out
}

// questionAbout writes a random question about a quantity.
func (w writer) questionAbout(q quantity) question {
	asked := w.queries()[w.IntN(len(w.queries()))]
	text := fmt.Sprintf("%s%s%s=? %s", asked.coalition, q.operator, asked.optimum, q.path)
	switch w.IntN(8) {
	case 0, 1:
		text, set := w.threshold(q)
		if w.one(2) {
			return question{text: text, want: truthAnswer(set[0])}
		}
		return w.filterSet(text, set)
	case 2, 3:
		return w.filter(text, q.of(asked.goal))
	case 4:
		if x := q.of(asked.goal)[0]; x != nil && asked.coalition == "" {
			return question{text: "1-2*" + text, want: numberAnswer(sub(one(), add(x, x)))}
		}
	}
	return question{text: text, want: numberAnswer(q.of(asked.goal)[0])}
}

// filter writes a filter over the numbers of a quantity.
func (w writer) filter(text string, x vector) question {
	states, set := w.state(0)
	var values vector
	for s, member := range set {
		if member {
			values = append(values, x[s])
		}
	}
	if len(values) == 0 {
		return question{text: text, want: numberAnswer(x[0])}
	}
	operator := pick(w.maker, "min", "max", "sum", "avg", "state")
	want, sum := values[0], new(big.Rat)
	for _, y := range values {
		if operator == "min" || operator == "max" {
			want = better(operator == "max", want, y)
		}
		if sum != nil && y != nil {
			sum = add(sum, y)
		} else {
			sum = nil
		}
	}
	switch {
	case operator == "state" && len(values) > 1 && w.names != nil: // the first state is not the one with the least number
		return w.filter(text, x)
	case operator == "state" && len(values) > 1:
		operator = "first"
	case operator == "sum":
		want = sum
	case operator == "avg" && sum != nil:
		want = quo(sum, big.NewRat(int64(len(values)), 1))
	case operator == "avg":
		want = nil
	}
	return question{text: fmt.Sprintf("filter(%s, %s, %s)", operator, text, states), want: numberAnswer(want)}
}

// filterSet writes a filter over the truth values of a formula.
func (w writer) filterSet(text string, set []bool) question {
	states, among := w.state(0)
	if !hasAny(among) {
		return question{text: text, want: truthAnswer(set[0])}
	}
	count := 0
	for _, member := range and(set, among) {
		if member {
			count++
		}
	}
	switch w.IntN(3) {
	case 0:
		return question{text: fmt.Sprintf("filter(forall, %s, %s)", text, states), want: truthAnswer(!hasAny(and(among, not(set))))}
	case 1:
		return question{text: fmt.Sprintf("filter(exists, %s, %s)", text, states), want: truthAnswer(count > 0)}
	}
	return question{text: fmt.Sprintf("filter(count, %s, %s)", text, states), want: numberAnswer(big.NewRat(int64(count), 1))}
}

// optimumQuestion asks for an optimum or whether all schedulers are on one side of a number. The format is that of the property.
func (r maker) optimumQuestion(isMax bool, format string, x *big.Rat) question {
	optimum, relation := "min=?", ">="
	if isMax {
		optimum, relation = "max=?", "<="
	}
	if bound := r.fraction(); r.one(4) && compare(x, bound) != 0 {
		return question{fmt.Sprintf(format, relation+number(bound)), truthAnswer((compare(x, bound) < 0) == isMax)}
	}
	return question{fmt.Sprintf(format, optimum), numberAnswer(x)}
}
