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
	right := t.Value
	if t.Other >= 0 {
		right = values[t.Other]
	}
	if t.Equal {
		return values[t.Var] == right
	}
	return values[t.Var] <= right
}

// text returns the test, or its negation, in PRISM's language.
func (t Test) text(vars []sema.Variable, yes bool) string {
	v := &vars[t.Var]
	if v.Type == sema.Bool && t.Other < 0 {
		if (t.Value == 1) == yes && t.Equal || !t.Equal && !yes {
			return v.Name
		}
		return "!" + v.Name
	}
	op := map[[2]bool]string{{true, true}: "=", {true, false}: "!=", {false, true}: "<=", {false, false}: ">"}[[2]bool{t.Equal, yes}]
	if t.Other >= 0 {
		return v.Name + op + vars[t.Other].Name
	}
	return fmt.Sprintf("%s%s%d", v.Name, op, t.Value)
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

// Depth returns the greatest number of tests on a path.
func (n *Node) Depth() int {
	if n.Leaf() {
		return 0
	}
	return 1 + max(n.Yes.Depth(), n.No.Depth())
}
