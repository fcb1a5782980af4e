package tree

import (
	"fmt"

	"tilecheck/prism/sema"
)

// Test compares a variable with a constant or another variable: v<=k, v=k, v<=w or v=w.
type Test struct {
	Var   int
	Equal bool // = instead of <=
	// Other is the variable to compare with; -1 compares with Value.
	Other int
	Value int32
}

// Holds reports whether a valuation satisfies the test.
func (t Test) Holds(values []int32) bool {
	rightValue := t.Value
	if t.Other >= 0 {
		rightValue = values[t.Other]
	}
	if t.Equal {
		return values[t.Var] == rightValue
	}
	return values[t.Var] <= rightValue
}

// text returns the test in PRISM's language, or its negation if holds is false.
func (t Test) text(vars []sema.Variable, holds bool) string {
	variable := &vars[t.Var]
	if variable.Type == sema.Bool && t.Other < 0 {
		return t.boolText(variable.Name, holds)
	}
	operator := ""
	switch {
	case t.Equal && holds:
		operator = "="
	case t.Equal:
		operator = "!="
	case holds:
		operator = "<="
	default:
		operator = ">"
	}
	if t.Other >= 0 {
		return variable.Name + operator + vars[t.Other].Name
	}
	return fmt.Sprintf("%s%s%d", variable.Name, operator, t.Value)
}

// boolText returns a test of a Boolean variable in PRISM's language, or its negation if holds is false.
func (t Test) boolText(name string, holds bool) string {
	isTrue := !holds // the test is v<=0, which means that the variable is false
	if t.Equal {
		isTrue = (t.Value == 1) == holds
	}
	if isTrue {
		return name
	}
	return "!" + name
}

// Node is a decision tree: a test with two subtrees, or a leaf with a decision.
type Node struct {
	Test     Test
	Yes, No  *Node // nil in a leaf
	Decision int
}

// Leaf reports whether the node is a leaf.
func (n *Node) Leaf() bool { return n.Yes == nil }

// Decide returns the decision for a valuation.
func (n *Node) Decide(values []int32) int {
	for !n.Leaf() {
		if n.Test.Holds(values) {
			n = n.Yes
		} else {
			n = n.No
		}
	}
	return n.Decision
}

// Leaves returns the number of leaves.
func (n *Node) Leaves() int {
	if n.Leaf() {
		return 1
	}
	return n.Yes.Leaves() + n.No.Leaves()
}

// Depth returns the greatest number of tests on a path from the root to a leaf.
func (n *Node) Depth() int {
	if n.Leaf() {
		return 0
	}
	return 1 + max(n.Yes.Depth(), n.No.Depth())
}
