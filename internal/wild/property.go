package wild

import (
	"fmt"
	"strings"
)

// state writes a state formula. It can have a nested P operator if depth is positive.
func (w *writer) state(depth int) string {
	switch k := w.IntN(10); {
	case k < 4:
		return `"` + w.labels[w.IntN(len(w.labels))] + `"`
	case k == 4 && depth > 0:
		return "(" + w.probability(depth-1, w.threshold("P")) + ")"
	case k == 5:
		return pick(w, `"init"`, `"deadlock"`, "true")
	}
	return "(" + w.boolean(1) + ")"
}

// threshold makes an operator a comparison. The numbers are such that few values
// are equal to them.
func (w *writer) threshold(operator string) string {
	return operator + pick(w, ">=", ">", "<=", "<") + pick(w, "0", "0.1234", "0.5123", "0.87654", "1")
}

// query makes an operator a question.
func (w *writer) query(operator string) string {
	if w.kind == "mdp" {
		return operator + pick(w, "min", "max") + "=?"
	}
	return operator + "=?"
}

// probability writes a P operator for a random path formula. operator is its beginning, such as P=?.
func (w *writer) probability(depth int, operator string) string {
	a, b := w.state(depth), w.state(depth)
	bound := pick(w, "<=2", "<=K", "<3", "<=1", ">=1", "[1,2]")
	if w.kind == "ctmc" {
		bound = pick(w, "<=0.5", "<=K", "<2", "[0.5,1.5]") // PRISM's explicit engine crashes for a lower bound alone
	}
	path := ""
	switch w.IntN(13) {
	case 0:
		path = "X " + b
	case 1, 2, 3:
		path = "F " + b
	case 4:
		path = "G " + b
	case 5, 6:
		path = a + " U " + b
	case 7:
		path = a + pick(w, " W ", " R ") + b
	case 8:
		path = "F" + bound + " " + b
	case 9:
		path = "G" + bound + " " + b
	case 10:
		path = a + " U" + bound + " " + b
	default:
		path = w.ltl(2)
	}
	return operator + " [ " + path + " ]"
}

// ltl writes a path formula of LTL, with operators nested up to depth.
func (w *writer) ltl(depth int) string {
	if depth == 0 {
		return w.state(0)
	}
	a, b := w.ltl(depth-1), w.ltl(depth-1)
	return "(" + pick(w, "F "+a, "G "+a, "X "+a, "G F "+a, "F G "+a, a+" U "+b, a+" & "+b, a+" | "+b, a+" => "+b, "!"+a) + ")"
}

// reward writes an R operator that names the reward structure, gives its number, or does neither. query returns the operator with its bound or =?.
func (w *writer) reward(query func(string) string) string {
	i := w.IntN(len(w.rewards))
	op := "R"
	switch name := w.rewards[i]; {
	case name != "" && w.one(2):
		op = "R{" + name + "}"
	case w.one(2):
		op = fmt.Sprintf("R{%d}", i+1)
	}
	path := pick(w, "F "+w.state(0), "F "+w.state(0), "C<=2", "I=1", "C<=K", "S", "C")
	if w.one(8) {
		path = pick(w, "X F "+w.state(0), "F ("+w.boolean(0)+" & (F "+w.state(0)+"))")
	}
	if w.kind == "mdp" && path == "S" {
		path = "F " + w.state(0)
	}
	return query(op) + " [ " + path + " ]"
}

// number writes a property whose value is a number.
func (w *writer) number() string {
	switch w.IntN(9) {
	case 0, 1, 2, 3:
		return w.probability(1, w.query("P"))
	case 4, 5, 6:
		return w.reward(w.query)
	case 7:
		if w.kind != "mdp" {
			return "S=? [ " + w.state(1) + " ]"
		}
	}
	return "(" + w.integer(1) + pick(w, "", "/2", "*0.5") + ")"
}

// truth writes a property whose value is true or false.
func (w *writer) truth() string {
	switch w.IntN(6) {
	case 0, 1:
		return w.probability(1, w.threshold("P"))
	case 2:
		return w.reward(func(op string) string { return op + pick(w, ">=", "<") + pick(w, "0.1234", "1.23", "5.4321") })
	case 3:
		return pick(w, "E", "A") + " [ " + pick(w, "F ", "G ") + w.state(0) + " ]"
	case 4:
		if w.kind != "mdp" {
			return w.threshold("S") + " [ " + w.state(0) + " ]"
		}
	}
	return w.state(1)
}

// property writes a random property.
func (w *writer) property() string {
	switch w.IntN(8) {
	case 0, 1, 2:
		return w.number()
	case 3:
		return w.truth()
	case 4, 5:
		return w.filter()
	case 6:
		return pick(w, w.number()+"*2+1", "1-"+w.number(), w.larger(w.number(), "0.1"), w.number()+"+"+w.number())
	}
	return strings.Join([]string{w.truth(), w.truth()}, pick(w, " & ", " | ", " => "))
}

// larger writes the maximum of two numbers. PRISM 4.10's sparse and hybrid
// engines, the only ones for system blocks that know every reward, give each
// state the maximum of state number one
// (symbolic/comp/StateModelChecker.java, checkExpressionFuncNary).
func (w *writer) larger(a, b string) string {
	if w.composed {
		return fmt.Sprintf("(%s>%s ? %s : %s)", a, b, a, b)
	}
	return "max(" + a + "," + b + ")"
}

// filter writes a filter.
func (w *writer) filter() string {
	states := w.state(0)
	if w.one(3) {
		return fmt.Sprintf("filter(%s, %s, %s)", pick(w, "forall", "exists", "count"), w.truth(), states)
	}
	return fmt.Sprintf("filter(%s, %s, %s)", pick(w, "min", "max", "sum", "avg", "range", "first", "sum"), w.number(), states)
}
