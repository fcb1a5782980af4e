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
func (result *Result) Text(out io.Writer) error {
	var text strings.Builder
	result.writeText(&text, result.Root, "")
	_, err := io.WriteString(out, text.String())
	return err
}

// writeText writes a subtree as text.
func (result *Result) writeText(text *strings.Builder, node *Node, indent string) {
	if node.Leaf() {
		text.WriteString(indent + result.decisionName(node.Decision) + "\n")
		return
	}
	text.WriteString(indent + "if " + result.testText(node, true) + "\n")
	result.writeText(text, node.Yes, indent+"  ")
	text.WriteString(indent + "else\n")
	result.writeText(text, node.No, indent+"  ")
}

// testText returns the test of a node in PRISM's language, or its negation if isTrue is false.
func (result *Result) testText(node *Node, isTrue bool) string {
	return node.Test.text(result.Space.Program().Vars, isTrue)
}

// decisionName returns a name for a decision: its action or its module. If other choices of a state come before it and have the same name, the name ends
// with the number of the choice.
func (result *Result) decisionName(number int) string {
	if len(result.Decisions) == 0 {
		return "(nothing to decide)"
	}
	decision := result.Decisions[number]
	name := "(no action)"
	if decision.Action != sparse.NoAction {
		name = result.Space.Program().Actions[decision.Action-1]
	} else if decision.Module >= 0 {
		name = "module " + result.Space.Program().Modules[decision.Module].Name
	}
	if decision.Index > 0 {
		name += fmt.Sprintf(", choice number %d", decision.Index+1)
	}
	return name
}

// Dot writes the tree in the DOT language of Graphviz.
func (result *Result) Dot(out io.Writer) error {
	var text strings.Builder
	text.WriteString("digraph tree {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n")
	result.writeDot(&text, result.Root, 0)
	text.WriteString("}\n")
	_, err := io.WriteString(out, text.String())
	return err
}

// writeDot writes a subtree in the DOT language. Its nodes are numbered in preorder from id on. next is the first unused number.
func (result *Result) writeDot(text *strings.Builder, node *Node, id int) (next int) {
	if node.Leaf() {
		fmt.Fprintf(text, "  n%d [label=%s, style=rounded];\n", id, strconv.Quote(result.decisionName(node.Decision)))
		return id + 1
	}
	fmt.Fprintf(text, "  n%d [label=%s];\n", id, strconv.Quote(result.testText(node, true)))
	yes := id + 1
	no := result.writeDot(text, node.Yes, yes)
	fmt.Fprintf(text, "  n%d -> n%d [label=\"yes\"];\n", id, yes)
	next = result.writeDot(text, node.No, no)
	fmt.Fprintf(text, "  n%d -> n%d [label=\"no\", style=dashed];\n", id, no)
	return next
}

// Module writes the tree as a module in PRISM's language. The module synchronises with the modules of the model, and enables in each state only
// the action that the tree selects. It is an error if actions do not identify the choices of the model.
func (result *Result) Module(out io.Writer, name string) error {
	if err := result.checkActions(); err != nil {
		return err
	}
	actions := result.Space.Program().Actions
	usedActions := make([]bool, len(actions)+1) // by number of the action
	var text strings.Builder
	fmt.Fprintf(&text, "module %s\n", name)
	if len(result.Decisions) > 0 {
		result.writeCommands(&text, result.Root, nil, usedActions)
	}
	for i, name := range actions {
		number := i + 1
		if result.isRestricted[number] && !usedActions[number] {
			fmt.Fprintf(&text, "  [%s] false -> true;\n", name)
		}
	}
	text.WriteString("endmodule\n")
	_, err := io.WriteString(out, text.String())
	return err
}

// checkActions returns an error if a choice cannot be identified by its action.
func (result *Result) checkActions() error {
	for number, decision := range result.Decisions {
		if decision.Action == sparse.NoAction || decision.Index > 0 {
			return fmt.Errorf("a module can only choose by actions, and no action identifies the decision %q", result.decisionName(number))
		}
	}
	if result.isRestricted[sparse.NoAction] {
		return errors.New("a module can only choose by actions, and a state has several choices, one of them without an action")
	}
	if result.hasRepeatedAction() {
		return errors.New("a module can only choose by actions, and a state has two choices with the same action")
	}
	return nil
}

// writeCommands writes a command for each leaf of a subtree, and sets usedActions[action] for its action. guard has the tests between the root and the
// subtree.
func (result *Result) writeCommands(text *strings.Builder, node *Node, guard []string, usedActions []bool) {
	if !node.Leaf() {
		result.writeCommands(text, node.Yes, append(slices.Clip(guard), result.testText(node, true)), usedActions)
		result.writeCommands(text, node.No, append(slices.Clip(guard), result.testText(node, false)), usedActions)
		return
	}
	action := result.Decisions[node.Decision].Action
	usedActions[action] = true
	if len(guard) == 0 {
		guard = []string{"true"}
	}
	fmt.Fprintf(text, "  [%s] %s -> true;\n", result.Space.Program().Actions[action-1], strings.Join(guard, " & "))
}

// hasRepeatedAction reports whether a state has two choices with the same action.
func (result *Result) hasRepeatedAction() bool {
	model := result.Space.Model()
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for choice := first + 1; choice < end; choice++ {
			if slices.Contains(model.Actions[first:choice], model.Actions[choice]) {
				return true
			}
		}
	}
	return false
}
