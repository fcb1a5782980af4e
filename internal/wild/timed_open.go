package wild

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// TimedOpen returns a random probabilistic timed automaton with n properties. It has strict constraints, and constraints that compare two clocks. It has
// one module, or two that synchronise, each with one clock, and the first has a second clock y. Every location can be left before its invariant
// ends, and no invariant is violated on entering. Properties are P of F, with and without time bounds.
func TimedOpen(seed, number uint64, n int) Model {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, number)), kind: "pta"}
	modules := 1 + w.IntN(2)
	for m := range modules {
		w.vars = append(w.vars, variable{fmt.Sprintf("l%d", m), 0, 2 + w.IntN(3)})
	}
	var b strings.Builder
	b.WriteString("pta\n")
	for m, v := range w.vars {
		w.openAutomaton(&b, m, v)
	}
	fmt.Fprintf(&b, "label \"goal\" = l0=%d;\n", w.vars[0].high)
	w.labels = []string{"goal"}
	model := Model{Text: b.String(), Kind: w.kind}
	for range n {
		model.Props = append(model.Props, w.openProperty())
	}
	return model
}

// openAutomaton writes module m, whose variable v is the location. The last two locations are absorbing.
func (w *writer) openAutomaton(b *strings.Builder, m int, v variable) {
	clock := fmt.Sprintf("x%d", m)
	limits := make([]int, v.high-1)
	var invariants []string
	for i := range limits {
		limits[i] = 1 + w.IntN(3)
		invariants = append(invariants, fmt.Sprintf("(%s=%d => %s%s%d)", v.name, i, clock, pick(w, "<", "<="), limits[i]))
	}
	fmt.Fprintf(b, "module m%d\n  %s : [0..%d] init 0;\n  %s : clock;\n", m, v.name, v.high, clock)
	if m == 0 {
		b.WriteString("  y : clock;\n")
	}
	fmt.Fprintf(b, "  invariant %s endinvariant\n", strings.Join(invariants, " & "))
	for i, limit := range limits {
		// This command is enabled just before the invariant ends.
		fmt.Fprintf(b, "  [] %s=%d & %s%s%d -> %s;\n", v.name, i, clock, pick(w, ">", ">="), w.IntN(limit), w.openMoves(m, v))
		for range w.IntN(3) {
			action := ""
			if len(w.vars) > 1 {
				action = pick(w, "", "a")
			}
			fmt.Fprintf(b, "  [%s] %s=%d & %s -> %s;\n", action, v.name, i, w.openConstraint(clock, m == 0), w.openMoves(m, v))
		}
	}
	fmt.Fprintf(b, "  [a] %s>=%d -> %s;\nendmodule\n", v.name, v.high-1, pick(w, "true", fmt.Sprintf("(%s'=0)", clock)))
}

// openConstraint writes a constraint of a clock; with y, also of the clock y.
func (w *writer) openConstraint(clock string, withY bool) string {
	simple := fmt.Sprintf("%s%s%d", clock, w.relation(), w.IntN(3))
	if !withY || w.one(3) {
		return simple
	}
	if w.one(3) {
		return clock + w.relation() + "y"
	}
	return fmt.Sprintf("y%s%d", w.relation(), w.IntN(3)) + pick(w, "", " & "+simple)
}

// relation writes a comparison operator.
func (w *writer) relation() string { return pick(w, "<", "<=", ">", ">=", "=") }

// openMoves writes updates as moves does, and sometimes resets y.
func (w *writer) openMoves(m int, v variable) string {
	moves := w.moves(m, v)
	if m == 0 && w.one(2) {
		return strings.Replace(moves, "(x0'=0)", "(x0'=0)&(y'=0)", 1)
	}
	return moves
}

// openProperty writes a random property.
func (w *writer) openProperty() string {
	query := pick(w, "min", "max") + "=?"
	target := pick(w, `"goal"`, `"goal"`, `"goal"`, fmt.Sprintf("l0=%d & %s", w.IntN(w.vars[0].high+1), w.openConstraint("x0", true)))
	if w.one(3) {
		return fmt.Sprintf("P%s [ F %s ]", query, target)
	}
	return fmt.Sprintf("P%s [ F<=%d %s ]", query, w.IntN(5), target)
}
