package tree

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
)

func one() *big.Rat { return big.NewRat(1, 1) }

// Form is how a tree is written.
type Form uint8

// The forms.
const (
	// Module is a module that makes the choices: beside the model it leaves it none.
	Module Form = iota
	// Text has a line for each test and action.
	Text
	// Dot is a picture in Graphviz's language.
	Dot
)

// Write writes a tree, with what is known of it in front: about is a line on what it is
// for.
func (t *Tree) Write(w io.Writer, f Form, about string) error {
	out := bufio.NewWriter(w)
	mark := [...]string{"// ", "# ", "// "}[f]
	fmt.Fprintf(out, "%s%s\n%sattains %s to %s, loses at most %s; %d leaves for %d states with a choice\n", mark, strings.ReplaceAll(about, "\n", " "), mark,
		number(t.Lower), number(t.Upper), number(t.Loss), t.Leaves, t.States)
	switch f {
	case Text:
		t.text(out, t.root, "")
	case Dot:
		fmt.Fprintln(out, "digraph tree {\n\tnode [shape=box];")
		next := 0
		t.dot(out, t.root, &next)
		fmt.Fprintln(out, "}")
	default:
		t.module(out)
	}
	return out.Flush()
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func (t *Tree) name(a sparse.Action) string {
	if a == sparse.NoAction {
		return ""
	}
	return t.actions[a-1]
}

// module writes a command for each leaf. Actions that no leaf takes are ruled out.
func (t *Tree) module(w *bufio.Writer) {
	fmt.Fprintln(w, "module policy_manager")
	taken := map[sparse.Action]bool{}
	t.commands(w, t.root, nil, taken)
	for _, a := range t.ruled {
		if !taken[a] {
			fmt.Fprintf(w, "\t[%s] false -> true;\n", t.name(a))
		}
	}
	fmt.Fprintln(w, "endmodule")
}

func (t *Tree) commands(w *bufio.Writer, n *node, guard []string, taken map[sparse.Action]bool) {
	if !n.leaf() {
		t.commands(w, n.yes, append(guard[:len(guard):len(guard)], t.condition(n.test, true)), taken)
		t.commands(w, n.no, append(guard[:len(guard):len(guard)], t.condition(n.test, false)), taken)
		return
	}
	if n.action == sparse.NoAction {
		return
	}
	taken[n.action] = true
	text := "true"
	if len(guard) > 0 {
		text = strings.Join(guard, " & ")
	}
	fmt.Fprintf(w, "\t[%s] %s -> true;\n", t.name(n.action), text)
}

// condition is a test as an expression, or its negation.
func (t *Tree) condition(x test, holds bool) string {
	v := &t.vars[x.x]
	if v.Type == sema.Bool { // of two values there is one below
		if holds {
			return "!" + v.Name
		}
		return v.Name
	}
	right := strconv.Itoa(int(x.c))
	if x.y >= 0 {
		right = t.vars[x.y].Name
	}
	op := map[bool]string{true: "<=", false: ">"}[holds]
	if x.equal {
		op = map[bool]string{true: "=", false: "!="}[holds]
	}
	return v.Name + op + right
}

func (t *Tree) text(w *bufio.Writer, n *node, indent string) {
	if n.leaf() {
		fmt.Fprintf(w, "%s%s\n", indent, t.name(n.action))
		return
	}
	fmt.Fprintf(w, "%sif %s\n", indent, t.condition(n.test, true))
	t.text(w, n.yes, indent+"  ")
	fmt.Fprintf(w, "%selse\n", indent)
	t.text(w, n.no, indent+"  ")
}

func (t *Tree) dot(w *bufio.Writer, n *node, next *int) int {
	id := *next
	*next++
	if n.leaf() {
		fmt.Fprintf(w, "\tn%d [label=%q, style=rounded];\n", id, t.name(n.action))
		return id
	}
	fmt.Fprintf(w, "\tn%d [label=%q];\n", id, t.condition(n.test, true))
	yes := t.dot(w, n.yes, next)
	no := t.dot(w, n.no, next)
	fmt.Fprintf(w, "\tn%d -> n%d [label=\"yes\"];\n\tn%d -> n%d [label=\"no\", style=dashed];\n", id, yes, id, no)
	return id
}
