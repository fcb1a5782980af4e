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
	var text strings.Builder
	var write func(n *Node, indent string)
	write = func(n *Node, indent string) {
		if n.Leaf() {
			text.WriteString(indent + f.decisionName(n.Decision) + "\n")
			return
		}
		text.WriteString(indent + "if " + n.Test.text(f.Space.Program().Vars, true) + "\n")
		write(n.Yes, indent+"  ")
		text.WriteString(indent + "else\n")
		write(n.No, indent+"  ")
	}
	write(f.Root, "")
	_, err := io.WriteString(w, text.String())
	return err
}

// decisionName returns a text for the decision with a number: its action or its module, and its index if there are
// several such choices.
func (f *Found) decisionName(number int) string {
	if len(f.Decisions) == 0 {
		return "(nothing to decide)"
	}
	decision := f.Decisions[number]
	name := "(no action)"
	if decision.Action != sparse.NoAction {
		name = f.Space.Program().Actions[decision.Action-1]
	} else if decision.Module >= 0 {
		name = "module " + f.Space.Program().Modules[decision.Module].Name
	}
	if decision.Index > 0 {
		name += fmt.Sprintf(", choice number %d", decision.Index+1)
	}
	return name
}

// Dot writes the tree in the DOT language of Graphviz.
func (f *Found) Dot(w io.Writer) error {
	var text strings.Builder
	text.WriteString("digraph tree {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n")
	number := 0
	var write func(n *Node) int
	write = func(n *Node) int {
		id := number
		number++
		if n.Leaf() {
			fmt.Fprintf(&text, "  n%d [label=%s, style=rounded];\n", id, strconv.Quote(f.decisionName(n.Decision)))
			return id
		}
		fmt.Fprintf(&text, "  n%d [label=%s];\n", id, strconv.Quote(n.Test.text(f.Space.Program().Vars, true)))
		fmt.Fprintf(&text, "  n%d -> n%d [label=\"yes\"];\n", id, write(n.Yes))
		fmt.Fprintf(&text, "  n%d -> n%d [label=\"no\", style=dashed];\n", id, write(n.No))
		return id
	}
	write(f.Root)
	text.WriteString("}\n")
	_, err := io.WriteString(w, text.String())
	return err
}

// Module writes the tree as a module in PRISM's language. It synchronises with the model, and enables only
// the action that the tree decides for. The error says that actions do not identify the model's choices.
func (f *Found) Module(w io.Writer, name string) error {
	for number, decision := range f.Decisions {
		if decision.Action == sparse.NoAction || decision.Index > 0 {
			return fmt.Errorf("a module can only choose by actions, and no action identifies the decision %q", f.decisionName(number))
		}
	}
	if f.isRestricted[sparse.NoAction] {
		return errors.New("a module can only choose by actions, and a state has several choices, one of them without an action")
	}
	if f.ambiguous() {
		return errors.New("a module can only choose by actions, and a state has two choices with the same action")
	}
	actions := f.Space.Program().Actions
	used := make([]bool, len(actions)+1)
	var text strings.Builder
	fmt.Fprintf(&text, "module %s\n", name)
	// write writes a command for each leaf. guard has the tests from the root to the node.
	var write func(n *Node, guard []string)
	write = func(n *Node, guard []string) {
		if !n.Leaf() {
			vars := f.Space.Program().Vars
			write(n.Yes, append(slices.Clip(guard), n.Test.text(vars, true)))
			write(n.No, append(slices.Clip(guard), n.Test.text(vars, false)))
			return
		}
		if len(f.Decisions) == 0 {
			return
		}
		action := f.Decisions[n.Decision].Action
		used[action] = true
		if len(guard) == 0 {
			guard = []string{"true"}
		}
		fmt.Fprintf(&text, "  [%s] %s -> true;\n", actions[action-1], strings.Join(guard, " & "))
	}
	write(f.Root, nil)
	for i, name := range actions {
		if f.isRestricted[i+1] && !used[i+1] {
			fmt.Fprintf(&text, "  [%s] false -> true;\n", name)
		}
	}
	text.WriteString("endmodule\n")
	_, err := io.WriteString(w, text.String())
	return err
}

// ambiguous reports whether a state has two choices with the same action.
func (f *Found) ambiguous() bool {
	model := f.Space.Model()
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for c := first + 1; c < end; c++ {
			if slices.Contains(model.Actions[first:c], model.Actions[c]) {
				return true
			}
		}
	}
	return false
}
