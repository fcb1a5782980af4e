package tree

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/space/sparse"
)

// Text writes the tree as nested if and else.
func (f *Found) Text(w io.Writer) error {
	var b strings.Builder
	var write func(n *Node, indent string)
	write = func(n *Node, indent string) {
		if n.Leaf() {
			b.WriteString(indent + f.decisionName(n.Decision) + "\n")
			return
		}
		b.WriteString(indent + "if " + n.Test.text(f.Space.Program().Vars, true) + "\n")
		write(n.Yes, indent+"  ")
		b.WriteString(indent + "else\n")
		write(n.No, indent+"  ")
	}
	write(f.Root, "")
	_, err := io.WriteString(w, b.String())
	return err
}

// decisionName returns a decision as text.
func (f *Found) decisionName(d int) string {
	if len(f.Decisions) == 0 {
		return "(nothing to decide)"
	}
	x := f.Decisions[d]
	name := "(no action)"
	if x.Action != sparse.NoAction {
		name = f.Space.Program().Actions[x.Action-1]
	} else if x.Module >= 0 {
		name = "module " + f.Space.Program().Modules[x.Module].Name
	}
	if x.Index > 0 {
		name += fmt.Sprintf(", choice %d of those", x.Index+1)
	}
	return name
}

// Dot writes the tree in Graphviz's language.
func (f *Found) Dot(w io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph tree {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n")
	number := 0
	var write func(n *Node) int
	write = func(n *Node) int {
		id := number
		number++
		if n.Leaf() {
			fmt.Fprintf(&b, "  n%d [label=%s, style=rounded];\n", id, strconv.Quote(f.decisionName(n.Decision)))
			return id
		}
		fmt.Fprintf(&b, "  n%d [label=%s];\n", id, strconv.Quote(n.Test.text(f.Space.Program().Vars, true)))
		fmt.Fprintf(&b, "  n%d -> n%d [label=\"yes\"];\n", id, write(n.Yes))
		fmt.Fprintf(&b, "  n%d -> n%d [label=\"no\", style=dashed];\n", id, write(n.No))
		return id
	}
	write(f.Root)
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Module writes the tree as a module of PRISM's language that synchronises with the actions of the
// model, and disables all other choices. The error says that actions do not identify the choices of the
// model.
func (f *Found) Module(w io.Writer, name string) error {
	for d, x := range f.Decisions {
		if x.Action == sparse.NoAction || x.Index > 0 {
			return fmt.Errorf("a module chooses by actions, which the decision %q is not", f.decisionName(d))
		}
	}
	if f.restricted[sparse.NoAction] {
		return errors.New("a module chooses by actions, and in some states one of several choices has none")
	}
	if f.ambiguous() {
		return errors.New("a module chooses by actions, and in some states several choices have the same one")
	}
	actions := f.Space.Program().Actions
	used := make([]bool, len(actions)+1)
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n", name)
	var write func(n *Node, guard []string)
	write = func(n *Node, guard []string) {
		if !n.Leaf() {
			vars := f.Space.Program().Vars
			write(n.Yes, append(guard[:len(guard):len(guard)], n.Test.text(vars, true)))
			write(n.No, append(guard[:len(guard):len(guard)], n.Test.text(vars, false)))
			return
		}
		if len(f.Decisions) == 0 {
			return
		}
		a := f.Decisions[n.Decision].Action
		used[a] = true
		if len(guard) == 0 {
			guard = []string{"true"}
		}
		fmt.Fprintf(&b, "  [%s] %s -> true;\n", actions[a-1], strings.Join(guard, " & "))
	}
	write(f.Root, nil)
	for i, name := range actions {
		if f.restricted[i+1] && !used[i+1] {
			fmt.Fprintf(&b, "  [%s] false -> true;\n", name)
		}
	}
	b.WriteString("endmodule\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// ambiguous reports whether a state has two choices with the same action.
func (f *Found) ambiguous() bool {
	m := f.Space.Model()
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first + 1; c < end; c++ {
			if slices.Contains(m.Actions[first:c], m.Actions[c]) {
				return true
			}
		}
	}
	return false
}
