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
func (test Test) Holds(values []int32) bool {
	rightValue := test.Value
	if test.Other >= 0 {
		rightValue = values[test.Other]
	}
	if test.Equal {
		return values[test.Var] == rightValue
	}
	return values[test.Var] <= rightValue
}

// text returns the test in PRISM's language, such as x<=3. If holds is false, it returns the negation of the test, such as x>3.
func (test Test) text(vars []sema.Variable, holds bool) string {
	variable := &vars[test.Var]
	if variable.Type == sema.Bool && test.Other < 0 {
		return test.boolText(variable.Name, holds)
	}
	operator := ""
	switch {
	case test.Equal && holds:
		operator = "="
	case test.Equal:
		operator = "!="
	case holds:
		operator = "<="
	default:
		operator = ">"
	}
	if test.Other >= 0 {
		return variable.Name + operator + vars[test.Other].Name
	}
	return fmt.Sprintf("%s%s%d", variable.Name, operator, test.Value)
}

// boolText returns the test of a Boolean variable in PRISM's language: its name, or its name with !. If holds is false, it returns the negation of the
// test.
func (test Test) boolText(name string, holds bool) string {
	isTrue := !holds // the test is v<=0, which means that the variable is false
	if test.Equal {
		isTrue = (test.Value == 1) == holds
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
func (node *Node) Leaf() bool { return node.Yes == nil }

// Decide returns the decision for a valuation.
func (node *Node) Decide(values []int32) int {
	for !node.Leaf() {
		if node.Test.Holds(values) {
			node = node.Yes
		} else {
			node = node.No
		}
	}
	return node.Decision
}

// Leaves returns the number of leaves.
func (node *Node) Leaves() int {
	if node.Leaf() {
		return 1
	}
	return node.Yes.Leaves() + node.No.Leaves()
}

// Depth returns the greatest number of tests on a path from the root to a leaf.
func (node *Node) Depth() int {
	if node.Leaf() {
		return 0
	}
	return 1 + max(node.Yes.Depth(), node.No.Depth())
}
