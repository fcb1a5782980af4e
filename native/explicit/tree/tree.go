package tree

import (
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
)

// Tree is a decision tree.
type Tree struct {
	root *node
	vars []sema.Variable
	// actions are the names, by number from 1; ruled tells which a module has to rule.
	actions []string
	ruled   []sparse.Action
	// Leaves is the number of leaves, and States that of the states in which the tree
	// decides: the length of the table that it stands for.
	Leaves, States int
	// Lower and Upper are what it attains in the worst initial state, Loss what it loses
	// there at most, compared with the optimum.
	Lower, Upper, Loss float64
}

// node is a test with two branches, or a leaf with an action.
type node struct {
	test    test
	yes, no *node
	action  sparse.Action
}

func (n *node) leaf() bool { return n.yes == nil }

// test compares a variable with a number or another variable.
type test struct {
	x, y  int // y is -1 for the number c
	equal bool
	c     int32
}

func (t test) holds(state []int32) bool {
	c := t.c
	if t.y >= 0 {
		c = state[t.y]
	}
	if t.equal {
		return state[t.x] == c
	}
	return state[t.x] <= c
}

// decide returns the action for a state.
func (n *node) decide(state []int32) sparse.Action {
	for !n.leaf() {
		if n.test.holds(state) {
			n = n.yes
		} else {
			n = n.no
		}
	}
	return n.action
}

func (n *node) leaves() int {
	if n.leaf() {
		return 1
	}
	return n.yes.leaves() + n.no.leaves()
}

func (n *node) clone() *node {
	if n.leaf() {
		c := *n
		return &c
	}
	return &node{test: n.test, yes: n.yes.clone(), no: n.no.clone()}
}

// inner returns the tests of a tree, those below first.
func (n *node) inner() []*node {
	if n.leaf() {
		return nil
	}
	return append(append(n.yes.inner(), n.no.inner()...), n)
}
