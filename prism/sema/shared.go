package sema

import (
	"cmp"

	"tilecheck/prism/syntax"
)

// An expression is a directed acyclic graph: the definition of a formula, a constant or another
// property occurs once and is shared by all references to it. Thirty formulas that each mention
// the previous one twice expand to a thousand million operators. So functions on expressions
// store their results per node. Small expressions, nearly all, are faster without that.

// Large is the number of operators and operands that are visited before a Memo stores anything.
const Large = 4096

// Memo stores results per expression, once many expressions have been visited. The zero value is
// ready for use.
type Memo[T any] struct {
	looks int
	found map[Expr]T
}

// Get returns the stored result for an expression, if there is one.
func (m *Memo[T]) Get(e Expr) (x T, ok bool) {
	if m.looks++; m.looks > Large {
		x, ok = m.found[e]
	}
	return x, ok
}

// Put stores x and returns it.
func (m *Memo[T]) Put(e Expr, x T) T {
	if m.looks > Large {
		if m.found == nil {
			m.found = make(map[Expr]T)
		}
		m.found[e] = x
	}
	return x
}

// Inspect calls visit for an expression and, if visit returns true, for its operands. Shared
// operands of a large expression are visited a few times at most.
func Inspect(e Expr, visit func(Expr) bool) {
	var seen Memo[bool]
	var walk func(e Expr)
	walk = func(e Expr) {
		if visited, _ := seen.Get(e); visited {
			return
		}
		seen.Put(e, true)
		if visit(e) {
			Operands(e, walk)
		}
	}
	walk(e)
}

// Repeated returns the operators that occur in several places of an expression. It returns nil if
// the expanded expression has at most limit nodes.
func Repeated(e Expr, limit int, operands func(e Expr, visit func(Expr))) map[Expr]bool {
	visited := 0
	var count func(e Expr)
	count = func(e Expr) {
		if visited++; visited <= limit {
			operands(e, count)
		}
	}
	if count(e); visited <= limit {
		return nil
	}
	seen, out := make(map[Expr]bool), make(map[Expr]bool)
	var walk func(e Expr)
	walk = func(e Expr) {
		if seen[e] {
			switch e.(type) {
			case *Const, *Var:
			default:
				out[e] = true
			}
			return
		}
		seen[e] = true
		operands(e, walk)
	}
	walk(e)
	return out
}

// Rewriter copies expressions over the variables. Other rewrites all other nodes, and may call
// Rewrite for their operands. Base, if not nil, changes the Base of every operation.
type Rewriter struct {
	Other func(Expr) (Expr, error)
	Base  func(Base) Base
	kept  Memo[Expr]
}

// Rewrite returns a copy of an expression that shares the same sub-expressions.
func (r *Rewriter) Rewrite(e Expr) (Expr, error) {
	if x, ok := r.kept.Get(e); ok {
		return x, nil
	}
	x, err := r.copied(e)
	if err != nil {
		return nil, err
	}
	return r.kept.Put(e, x), nil
}

func (r *Rewriter) copied(e Expr) (Expr, error) {
	var err error
	sub := func(e Expr) Expr {
		x, failed := r.Rewrite(e)
		err = cmp.Or(err, failed)
		return x
	}
	base := func(b Base) Base {
		if r.Base != nil {
			return r.Base(b)
		}
		return b
	}
	switch e := e.(type) {
	case *Const, *Var:
		return e, nil
	case *Unary:
		return &Unary{base(e.Base), e.Op, sub(e.X)}, err
	case *Binary:
		return &Binary{base(e.Base), e.Op, sub(e.X), sub(e.Y)}, err
	case *Cond:
		return &Cond{base(e.Base), sub(e.C), sub(e.A), sub(e.B)}, err
	case *Call:
		out := &Call{base(e.Base), e.Func, make([]Expr, len(e.Args))}
		for i, a := range e.Args {
			out.Args[i] = sub(a)
		}
		return out, err
	}
	return r.Other(e)
}

// every reports whether ok holds for e and all its operands.
func every(e Expr, ok func(Expr) bool) bool {
	all := true
	Inspect(e, func(e Expr) bool {
		all = all && ok(e)
		return all
	})
	return all
}

// isConstant reports whether an expression has no variables and no property operators.
func isConstant(e Expr) bool {
	return every(e, func(e Expr) bool {
		switch e.(type) {
		case *Const, *constRef, *bad, *Unary, *Binary, *Cond, *Call:
			return true
		}
		return false
	})
}

// Stateless reports whether an expression has no labels and no property operators, so that the
// valuation of a state is enough to evaluate it. Engines always evaluate labels and operators,
// with their errors, even where the result does not matter.
func Stateless(e Expr) bool {
	return every(e, func(e Expr) bool {
		switch e.(type) {
		case *Const, *Param, *Var, *Unary, *Binary, *Cond, *Call:
			return true
		}
		return false
	})
}

// Parametric reports whether an expression contains a parameter, see [Model.InstantiateOpen].
func Parametric(e Expr) bool {
	return !every(e, func(e Expr) bool {
		_, param := e.(*Param)
		return !param
	})
}

// maxDepth is the largest nesting depth of an expression with formulas and references expanded. It
// limits the stack of recursive functions.
const maxDepth = 250_000

// nesting measures the depth of an expression while it is resolved.
type nesting struct {
	deepest int
	depth   int // in the current expression
	stack   int // depth plus that of the expressions that refer to it
}

// enter goes one level deeper; false means that the expression is too deep.
func (x *nesting) enter() bool {
	if x.stack >= maxDepth {
		return false
	}
	x.depth++
	x.stack++
	x.deepest = max(x.deepest, x.depth)
	return true
}

func (x *nesting) leave() {
	x.depth--
	x.stack--
}

// add adds the depth of an expanded reference; false means that the result is too deep.
func (x *nesting) add(y nesting) bool {
	if x.depth+y.deepest > maxDepth {
		return false
	}
	x.deepest = max(x.deepest, x.depth+y.deepest)
	return true
}

// tooDeep reports that an expression is nested too deeply. It resets the depth, so that
// expressions around it are not reported too.
func (r *resolver) tooDeep(e syntax.Expr) Expr {
	*r.nesting = nesting{depth: r.nesting.depth, stack: r.nesting.stack}
	return r.semantic(e, "the expression is nested too deeply with formulas and references written out: want at most %d operators within each other", maxDepth)
}
