package wild

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Intervals returns a random model with intervals of probabilities and n properties. The model is small: it has one module, or two that
// synchronise. The same arguments give the same model.
func Intervals(seed, number uint64, n int) Model {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, number)), labels: []string{"goal", "safe"}}
	w.kind = pick(w, "dtmc", "mdp", "mdp")
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nconst double p = %s;\nconst int K = %d;\n", w.kind, pick(w, "0.3", "1/3", "0.5", "0.125"), 1+w.IntN(3))
	w.vars = []variable{{"x0", 0, 2 + w.IntN(4)}}
	if w.one(2) {
		w.vars = append(w.vars, variable{"x1", 0, 1 + w.IntN(2)})
	}
	for m, v := range w.vars {
		fmt.Fprintf(&b, "module m%d\n  %s : [0..%d] init 0;\n", m, v.name, v.high)
		for i := range v.high + 1 {
			b.WriteString(w.intervalCommands(m, i))
		}
		b.WriteString("endmodule\n")
	}
	fmt.Fprintf(&b, "label \"goal\" = x0=%d;\nlabel \"safe\" = %s;\n", w.vars[0].high, w.boolean(0))
	w.rewards = []string{`"r"`}
	fmt.Fprintf(&b, "rewards \"r\"\n  %s : %s;\n", w.boolean(0), pick(w, "1", "2.5", "x0", "1/3"))
	if len(w.vars) > 1 && w.kind == "dtmc" || w.one(2) && strings.Contains(b.String(), "[a]") {
		fmt.Fprintf(&b, "  [a] true : 2;\n")
	}
	b.WriteString("endrewards\n")
	m := Model{Text: b.String(), Kind: "i" + w.kind}
	for range n {
		m.Props = append(m.Props, w.intervalProperty())
	}
	return m
}

// intervalCommands writes the commands of module m for the value i of its variable. In a DTMC with two modules all commands have the action a, so
// that no two modules have unsynchronised commands.
func (w *writer) intervalCommands(m, i int) string {
	v := w.vars[m]
	commands := 1
	if w.kind == "mdp" {
		commands += w.IntN(3)
	}
	var b strings.Builder
	for range commands {
		action := "a"
		if len(w.vars) == 1 || w.kind == "mdp" {
			action = pick(w, "a", "", "b")
		}
		var ups []string
		for _, p := range w.distribution() {
			ups = append(ups, fmt.Sprintf("%s(%s'=%d)", p, v.name, w.IntN(v.high+1)))
		}
		fmt.Fprintf(&b, "  [%s] %s=%d -> %s;\n", action, v.name, i, strings.Join(ups, " + "))
	}
	return b.String()
}

// distribution returns the probabilities of the updates of a command, most of them intervals. Each list allows a distribution that sums to 1.
func (w *writer) distribution() []string {
	return pick(w,
		[]string{""},
		[]string{"[0.1,0.3]:", "[0.7,0.9]:"},
		[]string{"[0.2,0.4]:", "[0.1,0.8]:", "[0.05,0.5]:"},
		[]string{"[p/2,p]:", "[1-p,1]:"},
		[]string{"0.5:", "[0.25,0.5]:", "[0.1,0.25]:"},
		[]string{"[0.001,0.01]:", "[0.9,1]:"},
		[]string{"0.5:", "0.5:"},
		[]string{"[0.3,0.3]:", "[0.5,1]:"},
		[]string{"[0.25,0.5]:", "[0.25,0.5]:", "[0.25,0.5]:"})
}

// intervalProperty writes a random property.
func (w *writer) intervalProperty() string {
	extrema := []string{"min", "max"}
	if w.kind == "mdp" {
		extrema = []string{"min", "max", "minmin", "minmax", "maxmin", "maxmax", "maxmin", "minmax"}
	}
	query := pick(w, extrema...) + "=?"
	if w.one(6) {
		query = pick(w, ">=", "<", ">", "<=") + pick(w, "0.1234", "0.5432", "0.9")
	}
	a, b := pick(w, `"goal"`, `"safe"`, "x0=1"), pick(w, `"goal"`, "x0=1", "x0=0")
	switch w.IntN(10) {
	case 0:
		return "P" + query + " [ X " + b + " ]"
	case 1:
		return fmt.Sprintf("P%s [ %s U%s %s ]", query, a, pick(w, "<=2", "<=K", "<=7"), b)
	case 2, 3:
		return fmt.Sprintf("P%s [ %s U %s ]", query, a, b)
	case 4:
		return fmt.Sprintf("P%s [ %s ]", query, pick(w, "G F "+b, "F G "+a, "(G "+a+") & (F "+b+")", "!((F "+a+") & (X "+b+"))", "G !"+b))
	case 5, 6:
		return fmt.Sprintf("R{\"r\"}%s [ F %s ]", query, b)
	case 7:
		return fmt.Sprintf("R{\"r\"}%s [ F (%s & (X %s)) ]", query, b, a)
	case 8:
		return fmt.Sprintf("filter(%s, P%s=? [ F %s ], %s)", pick(w, "min", "max", "avg"), pick(w, extrema...), b, a)
	}
	return "P" + query + " [ F " + b + " ]"
}
