package wild

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Timed returns a random probabilistic timed automaton with n properties. Its constraints are closed and do not compare clocks. It has one module, or
// two that synchronise, each with one clock. The same arguments give the same model.
func Timed(seed, number uint64, n int) Model {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, number)), kind: "pta"}
	modules := 1 + w.IntN(2)
	var b strings.Builder
	fmt.Fprintf(&b, "pta\nconst int K = %d;\n", 1+w.IntN(3))
	for m := range modules {
		w.vars = append(w.vars, variable{fmt.Sprintf("l%d", m), 0, 1 + w.IntN(3)})
	}
	for m, v := range w.vars {
		w.automaton(&b, m, v, modules > 1)
	}
	fmt.Fprintf(&b, "label \"goal\" = l0=%d;\nrewards \"time\" true : %s; endrewards\nrewards \"moves\" [a] true : 1; [] true : 2; %s : K; endrewards\n",
		w.vars[0].high, pick(w, "1", "0.5", "3"), w.boolean(0))
	w.labels = []string{"goal"}
	m := Model{Text: b.String(), Kind: w.kind}
	for range n {
		m.Props = append(m.Props, w.timedProperty())
	}
	return m
}

// automaton writes module m, whose variable v is the location. The last location is absorbing. Every other location has a transition that is
// enabled when its invariant ends, so that there are no timelocks.
func (w *writer) automaton(b *strings.Builder, m int, v variable, synchronise bool) {
	limits := make([]int, v.high)
	var invariants []string
	for i := range limits {
		limits[i] = w.IntN(4)
		limit := fmt.Sprint(limits[i])
		if w.one(4) {
			limit += "+K"
		}
		invariants = append(invariants, fmt.Sprintf("(%s=%d => x%d<=%s)", v.name, i, m, limit))
	}
	fmt.Fprintf(b, "module m%d\n  %s : [0..%d] init 0;\n  x%d : clock;\n  invariant %s endinvariant\n", m, v.name, v.high, m, strings.Join(invariants, " & "))
	for i, limit := range limits {
		for c := range 1 + w.IntN(2) {
			action, guard := "", fmt.Sprintf("x%d>=%d", m, w.IntN(limit+1))
			switch {
			case c > 0 && synchronise && w.one(2):
				action = "a"
			case c > 0:
				action, guard = pick(w, "", "b"), pick(w, guard, fmt.Sprintf("x%d=%d", m, limit), fmt.Sprintf("x%d<=%d", m, w.IntN(limit+1)))
				if synchronise {
					action = ""
				}
			}
			fmt.Fprintf(b, "  [%s] %s=%d & %s -> %s;\n", action, v.name, i, guard, w.moves(m, v))
		}
	}
	fmt.Fprintf(b, "  [a] %s=%d -> %s;\n", v.name, v.high, pick(w, "true", fmt.Sprintf("(x%d'=0)", m)))
	b.WriteString("endmodule\n")
}

// moves writes the updates of a command. All reset the clock, so that no update violates an invariant.
func (w *writer) moves(m int, v variable) string {
	switch w.IntN(4) {
	case 0:
		return w.move(m, v)
	case 1:
		return "0.5:" + w.move(m, v) + " + 0.25:" + w.move(m, v) + " + 0.25:" + w.move(m, v)
	}
	p := 1 + w.IntN(9)
	return fmt.Sprintf("0.%d:%s + %.1f:%s", p, w.move(m, v), 1-float64(p)/10, w.move(m, v))
}

// move writes the assignments of an update to a random location.
func (w *writer) move(m int, v variable) string {
	return fmt.Sprintf("(%s'=%d)&(x%d'=0)", v.name, w.IntN(v.high+1), m)
}

// timedProperty writes a random property.
func (w *writer) timedProperty() string {
	query := pick(w, "min", "max") + "=?"
	if w.one(6) {
		query = pick(w, ">=", "<", ">", "<=") + pick(w, "0.1234", "0.5432", "0.9")
	}
	a, b := w.boolean(0), pick(w, `"goal"`, `"goal"`, w.boolean(0))
	switch w.IntN(8) {
	case 0, 1:
		return "P" + query + " [ F " + b + " ]"
	case 2, 3:
		return fmt.Sprintf("P%s [ F<=%s %s ]", query, pick(w, "0", "1", "3", "K", "6", "2*K+1"), b)
	case 4:
		return fmt.Sprintf("P%s [ %s U %s ]", query, a, b)
	case 5:
		return fmt.Sprintf("P%s [ %s U<=%s %s ]", query, a, pick(w, "1", "4", "K"), b)
	}
	return fmt.Sprintf("R{%s}%s [ F %s ]", pick(w, `"time"`, `"moves"`), query, b)
}
