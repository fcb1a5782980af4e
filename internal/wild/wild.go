// Package wild makes random models and properties that use most of PRISM's language: formulas, renaming, system blocks, global variables,
// synchronisation, rewards, init blocks, experiments, filters, LTL. The values of the properties are not known, so tests use them to
// compare engines. Package hostile makes models with known values. Package wild is only for tests and imports nothing of this module.
package wild

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Model is a random model with properties.
type Model struct {
	Text   string
	Kind   string // dtmc, mdp or ctmc
	System bool   // the model has a system block
	Props  []string
	Consts []string // values for the constants without a value, in the form of PRISM's switch -const
}

// New returns a random model with n properties. The same arguments give the same model.
func New(seed, number uint64, n int) Model {
	w := newWriter(seed, number)
	m := Model{Text: w.model(), Kind: w.kind, System: w.composed, Consts: w.open}
	for range n {
		m.Props = append(m.Props, w.property())
	}
	return m
}

// Next is added to the number of a model that is not suitable, to get the number of the next model to try. It is larger than all numbers that callers
// use, so that two searches with different numbers never find the same model.
const Next = 1 << 32

// newWriter returns the writer of the model with a number.
func newWriter(seed, number uint64) *writer {
	return &writer{Rand: rand.New(rand.NewPCG(seed, number))}
}

// variable is an integer variable with its range.
type variable struct {
	name      string
	low, high int
}

// writer writes a random model and its properties.
type writer struct {
	*rand.Rand
	kind     string
	vars     []variable // the integer variables, which every module may read
	flags    []string   // the names of the boolean variables
	formulas []string   // of type bool
	sums     []string   // formulas of type int
	rewards  []string   // names of reward structures, "" for one without
	labels   []string
	actions  []string
	open     []string // values for the constants without a value
	multiple bool     // the model has several initial states
	composed bool     // the model has a system block
}

// one returns true with probability 1/n.
func (w *writer) one(n int) bool { return w.IntN(n) == 0 }

// pick returns a random one of several values.
func pick[T any](w *writer, values ...T) T { return values[w.IntN(len(values))] }

// model writes a model, and records its names in the writer.
func (w *writer) model() string {
	w.kind = pick(w, "dtmc", "mdp", "mdp", "ctmc")
	var b strings.Builder
	b.WriteString(w.typeAndConstants())
	modules := 1 + w.IntN(3)
	renamed := w.one(3)
	global := w.one(3)
	w.nameVariables(modules, renamed, global)
	b.WriteString(w.someFormulas())
	w.multiple = w.one(6)
	if global {
		b.WriteString("global g : [0..1]" + w.initial("0") + ";\n")
	}
	names := []string{}
	for m := range modules {
		b.WriteString(w.module(m, global))
		names = append(names, fmt.Sprintf("m%d", m))
	}
	if renamed {
		b.WriteString(w.renaming())
		names = append(names, "r")
	}
	b.WriteString(w.labelsAndRewards())
	if w.multiple {
		fmt.Fprintf(&b, "init %s endinit\n", pick(w, "true", "x0<2", "x0=0 & "+w.boolean(0)+" | x0=1"))
	}
	if w.composed = len(names) > 1 && w.one(4); w.composed {
		b.WriteString("system " + w.system(names) + " endsystem\n")
	}
	return b.String()
}

// typeAndConstants writes the type of the model and its constants.
func (w *writer) typeAndConstants() string {
	head := w.kind
	if w.one(12) {
		head = map[string]string{"dtmc": "probabilistic", "mdp": "nondeterministic", "ctmc": "stochastic"}[w.kind]
	}
	text := fmt.Sprintf("%s\nconst int N = %d;\nconst double p = %s;\n", head, 2+w.IntN(2), pick(w, "0.3", "1/3", "0.5", "0.1", "0.25+0.125"))
	if w.one(3) {
		w.open = append(w.open, pick(w, "K=1", "K=0:1", "K=1:2:3"))
		return text + "const int K;\n"
	}
	return text + "const int K = N-1;\n"
}

// nameVariables records the variables of all modules. renamed says that there is a copy of the first module, and global that there is a global
// variable.
func (w *writer) nameVariables(modules int, renamed, global bool) {
	for m := range modules {
		w.vars = append(w.vars, variable{fmt.Sprintf("x%d", m), 0, 1 + w.IntN(3)})
		if w.one(3) {
			w.flags = append(w.flags, fmt.Sprintf("b%d", m))
		}
	}
	if renamed {
		w.vars = append(w.vars, variable{"r0", 0, w.vars[0].high})
		if len(w.flags) > 0 && w.flags[0] == "b0" {
			w.flags = append(w.flags, "q0")
		}
	}
	if global {
		w.vars = append(w.vars, variable{"g", 0, 1})
	}
}

// initial writes the initial value of a variable, or nothing.
func (w *writer) initial(value string) string {
	if w.multiple || w.one(3) {
		return ""
	}
	return " init " + value
}

// someFormulas writes at most two formulas, and records their names.
func (w *writer) someFormulas() string {
	var b strings.Builder
	for i := range w.IntN(3) {
		if w.one(2) {
			text := w.boolean(1)
			w.formulas = append(w.formulas, fmt.Sprintf("f%d", i))
			fmt.Fprintf(&b, "formula f%d = %s;\n", i, text)
			continue
		}
		text := w.integer(1)
		w.sums = append(w.sums, fmt.Sprintf("f%d", i))
		fmt.Fprintf(&b, "formula f%d = %s;\n", i, text)
	}
	return b.String()
}

// module writes module m. global says that its commands may change the global variable.
func (w *writer) module(m int, global bool) string {
	var b strings.Builder
	v := w.vars[m]
	fmt.Fprintf(&b, "module m%d\n  %s : [%d..%s]%s;\n", m, v.name, v.low, fmt.Sprint(v.high), w.initial(fmt.Sprint(w.IntN(v.high+1))))
	flag := ""
	for _, f := range w.flags {
		if f == fmt.Sprintf("b%d", m) {
			flag = f
			fmt.Fprintf(&b, "  %s : bool%s;\n", f, w.initial(pick(w, "true", "false")))
		}
	}
	for i := range v.high + 1 {
		for range pick(w, 1, 1, 2) {
			guard := fmt.Sprintf("%s=%d", v.name, i)
			if w.one(3) {
				guard += " & " + w.boolean(1)
			}
			b.WriteString(w.command(guard, v, flag, global))
		}
	}
	if w.one(4) {
		b.WriteString(w.command(w.boolean(2), v, flag, global))
	}
	return b.String() + "endmodule\n"
}

// command writes a command that changes the variable v and the boolean variable flag, if flag is not empty.
func (w *writer) command(guard string, v variable, flag string, global bool) string {
	action := pick(w, "", "", "a", "b")
	w.actions = append(w.actions, action)
	weights := []string{""}
	if w.kind == "ctmc" {
		weights = pick(w, []string{""}, []string{"2.5"}, []string{"0.5", "p"}, []string{"N*p", "1/3"}, []string{v.name + "+1"})
	} else {
		weights = pick(w, weights, []string{"p", "1-p"}, []string{"0.5", "0.5"}, []string{"0.2", "p/2", "0.8-p/2"},
			[]string{"1/(" + v.name + "+2)", "1-1/(" + v.name + "+2)"}, []string{"1"})
	}
	var ups []string
	for _, weight := range weights {
		if weight != "" {
			weight += " : "
		}
		ups = append(ups, weight+w.update(v, flag, global && action == ""))
	}
	return fmt.Sprintf("  [%s] %s -> %s;\n", action, guard, strings.Join(ups, " + "))
}

// update writes an update without its probability. A small share of the updates can leave the range of v.
func (w *writer) update(v variable, flag string, global bool) string {
	if w.one(8) {
		return "true"
	}
	var parts []string
	switch w.IntN(6) {
	case 0:
		parts = append(parts, fmt.Sprintf("(%s'=min(%s+1,%d))", v.name, v.name, v.high))
	case 1:
		parts = append(parts, fmt.Sprintf("(%s'=mod(%s,%d))", v.name, "("+w.integer(1)+"+8)", v.high+1))
	case 2:
		parts = append(parts, fmt.Sprintf("(%s'=%s?%d:%d)", v.name, w.boolean(0), w.IntN(v.high+1), w.IntN(v.high+1)))
	case 3:
		parts = append(parts, fmt.Sprintf("(%s'=max(0,%s-1))", v.name, v.name))
	default:
		parts = append(parts, fmt.Sprintf("(%s'=%d)", v.name, w.IntN(v.high+1)))
	}
	if w.one(40) {
		parts[0] = fmt.Sprintf("(%s'=%s+1)", v.name, v.name) // may leave its range
	}
	if flag != "" && w.one(2) {
		parts = append(parts, fmt.Sprintf("(%s'=%s)", flag, pick(w, "true", "false", "!"+flag, w.boolean(0))))
	}
	if global && w.one(3) {
		parts = append(parts, "(g'=1-g)")
	}
	return strings.Join(parts, "&")
}

// renaming writes a module that is a copy of the first module with other names.
func (w *writer) renaming() string {
	list := []string{"x0=r0"}
	for _, f := range w.flags {
		if f == "b0" {
			list = append(list, "b0=q0")
		}
	}
	if w.one(2) {
		list = append(list, pick(w, "a=b", "b=a", "a=c"))
	}
	return "module r = m0 [ " + strings.Join(list, ", ") + " ] endmodule\n"
}

// labelsAndRewards writes two labels and one or two reward structures, and records their names.
func (w *writer) labelsAndRewards() string {
	var b strings.Builder
	for _, l := range []string{"goal", "safe"} {
		w.labels = append(w.labels, l)
		fmt.Fprintf(&b, "label \"%s\" = %s;\n", l, w.boolean(1+w.IntN(2)))
	}
	for i := range 1 + w.IntN(2) {
		name := fmt.Sprintf("%q ", fmt.Sprintf("r%d", i))
		if i == 0 && w.one(4) {
			name = ""
		}
		w.rewards = append(w.rewards, strings.TrimSpace(name))
		fmt.Fprintf(&b, "rewards %s\n", name)
		for range 1 + w.IntN(2) {
			action := pick(w, "", "["+pick(w, w.actions...)+"] ") // empty for a state reward
			fmt.Fprintf(&b, "  %s%s : %s;\n", action, w.boolean(1), pick(w, "1", "2.5", "p", "x0", "x0*0.5+1", "1/3"))
		}
		b.WriteString("endrewards\n")
	}
	return b.String()
}

// system writes a random composition of the modules, in which every module occurs once.
func (w *writer) system(names []string) string {
	composition := names[0]
	for _, operand := range names[1:] {
		if w.one(5) {
			if part := pick(w, "{a<-b}", "{a<-c}", "/{b}"); w.hasActionsOf(part) {
				operand += part
			}
		}
		operator := pick(w, "||", "||", "|||", "|[a]|", "|[a,b]|")
		if !w.hasActionsOf(operator) {
			operator = "||"
		}
		composition = fmt.Sprintf("(%s) %s %s", composition, operator, operand)
	}
	return composition
}

// hasActionsOf reports whether some module has each of the actions a and b that occur in a part of a system block. An action that no module has
// would be an error.
func (w *writer) hasActionsOf(part string) bool {
	for _, action := range []string{"a", "b"} {
		if strings.Contains(part, action) && !slices.Contains(w.actions, action) {
			return false
		}
	}
	return true
}

// integer writes an expression of type int, with operators nested up to depth.
func (w *writer) integer(depth int) string {
	v := w.vars[w.IntN(len(w.vars))].name
	if depth == 0 {
		return pick(w, v, v, "N", "K", fmt.Sprint(w.IntN(3)))
	}
	a, c := w.integer(depth-1), w.integer(depth-1)
	if len(w.sums) > 0 && w.one(6) {
		return w.sums[w.IntN(len(w.sums))]
	}
	switch w.IntN(9) {
	case 0, 1:
		return "(" + a + "+" + c + ")"
	case 2:
		return "(" + a + "-" + c + ")"
	case 3:
		return pick(w, "min", "max") + "(" + a + "," + c + ")"
	case 4:
		return fmt.Sprintf("(%s?%s:%s)", w.boolean(0), a, c)
	case 5:
		return pick(w, "floor", "ceil", "round") + "(" + a + "/2)"
	case 6:
		return "mod(" + a + "+9,3)"
	case 7:
		return pick(w, "pow("+a+"+9,2)", a+"*"+c)
	}
	return a
}

// boolean writes an expression of type bool, with operators nested up to depth.
func (w *writer) boolean(depth int) string {
	if depth == 0 {
		if len(w.flags) > 0 && w.one(3) {
			return w.flags[w.IntN(len(w.flags))]
		}
		v := w.vars[w.IntN(len(w.vars))]
		return fmt.Sprintf("%s%s%d", v.name, pick(w, "=", "=", "!=", "<", "<=", ">", ">="), w.IntN(v.high+1))
	}
	if len(w.formulas) > 0 && w.one(6) {
		return w.formulas[w.IntN(len(w.formulas))]
	}
	a, c := w.boolean(depth-1), w.boolean(depth-1)
	switch w.IntN(10) {
	case 0, 1:
		return "(" + a + " & " + c + ")"
	case 2, 3:
		return "(" + a + " | " + c + ")"
	case 4:
		return "!(" + a + ")"
	case 5:
		return "(" + a + pick(w, " => ", " <=> ") + c + ")"
	case 6:
		return "(" + w.boolean(0) + " ? " + a + " : " + c + ")"
	case 7:
		return w.integer(1) + pick(w, "=", "<", ">=", "!=") + w.integer(1)
	}
	return a
}
