package wild

import (
	"fmt"
	"strings"
)

// Multi returns a random MDP with n properties multi(…). The same arguments give the same model. It tries the models of further numbers until one is
// a suitable MDP.
func Multi(seed, number uint64, n int) Model {
	for ; ; number += Next {
		m := New(seed, number, 0)
		if m.Kind != "mdp" || m.System || strings.Contains(m.Text, "endinit") || len(m.Consts) > 0 {
			continue
		}
		w := writerOf(seed, number)
		for range n {
			m.Props = append(m.Props, w.objectives())
		}
		return m
	}
}

// writerOf returns the writer that has written a model.
func writerOf(seed, number uint64) *writer {
	w := newWriter(seed, number)
	w.model()
	return w
}

// objectives writes multi(…): one query and bounds, or bounds alone, or two queries.
func (w *writer) objectives() string {
	var out []string
	queries := pick(w, 0, 1, 1, 1, 2)
	for i := range max(queries, 1+w.IntN(3)) {
		if queries == 2 && i == 2 {
			break // PRISM does not allow bounds with two queries
		}
		if i < queries {
			which := pick(w, "min", "max")
			if queries == 2 {
				which = "max" // for a minimum of P PRISM prints one minus the value
			}
			out = append(out, w.objective(func(op string) string { return op + which + "=?" }))
			continue
		}
		out = append(out, w.objective(func(op string) string {
			bound := pick(w, "0.1234", "0.5123", "0.87654")
			if op != "P" {
				bound = pick(w, "0.1234", "1.23", "5.4321")
			}
			return op + pick(w, ">=", "<=") + bound
		}))
	}
	return "multi(" + strings.Join(out, ", ") + ")"
}

// objective writes an objective: P or R with a random path formula. operator adds a bound or =? to P or R.
func (w *writer) objective(operator func(string) string) string {
	a, b := w.boolean(0), w.boolean(0)
	if w.one(4) {
		i := w.IntN(len(w.rewards))
		return fmt.Sprintf("%s [ %s ]", operator(fmt.Sprintf("R{%d}", i+1)), pick(w, "C", "C<=2", "C<=5"))
	}
	return operator("P") + " [ " + pick(w, "F "+b, "F "+b, "G "+b, a+" U "+b, "G F "+b, "F G "+b, "(F "+a+") & (G F "+b+")", "G ("+a+" => (F "+b+"))", "(F G "+a+") | (G F "+b+")") + " ]"
}
