package sema

import "tilecheck/prism/syntax"

// Formulas are shared, but whoever walks, prints, compiles or evaluates what they
// stand for goes through all of it: thirty formulas that each mention the one
// before twice stand for a thousand million operators.
const (
	// maxNodes is how many operators and operands the expressions of a file may
	// have, formulas and references to properties written out. What is written out
	// in the file itself is never too much.
	maxNodes = 1 << 22
	// maxDepth is how deep they may be nested.
	maxDepth = 250_000
)

// extent is how large expressions are when everything that they refer to is
// written out in them.
type extent struct {
	nodes   int64
	deepest int
	depth   int // of the expression that is being resolved
	stack   int // the same, with those in which it is mentioned
}

// enter counts an expression, and reports whether it may be resolved.
func (x *extent) enter() bool {
	if x.stack >= maxDepth {
		return false
	}
	x.nodes++
	x.depth++
	x.stack++
	x.deepest = max(x.deepest, x.depth)
	return true
}

func (x *extent) leave() {
	x.depth--
	x.stack--
}

// add counts what an expression stands for, and reports whether it is not too much.
func (x *extent) add(y extent) bool {
	if x.nodes+y.nodes > maxNodes && y.nodes > 1 || x.depth+y.deepest > maxDepth {
		return false
	}
	x.nodes += y.nodes
	x.deepest = max(x.deepest, x.depth+y.deepest)
	return true
}

// tooLarge refuses an expression. What mentions it is not too large for that.
func (r *resolver) tooLarge(e syntax.Expr) Expr {
	*r.size = extent{depth: r.size.depth, stack: r.size.stack}
	const problem = "the expressions of this file are too large with formulas and references written out: want at most %d operators and operands, and %d nested"
	return r.semantic(e, problem, maxNodes, maxDepth)
}
