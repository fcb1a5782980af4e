package sema

import (
	"cmp"

	"tilecheck/prism/syntax"
)

// An expression is a graph: what a formula, a constant or another property
// stands for is there once, wherever it is mentioned. Thirty formulas that each
// mention the one before twice stand for a thousand million operators, so that
// whoever goes through an expression keeps what was found at each node. Small
// expressions, which nearly all are, are faster without.

// Large is how many operators and operands are looked at before anything is kept.
const Large = 4096

// Memo keeps what was found out about expressions, once many have been looked
// at. The zero value is ready for use.
type Memo[T any] struct {
	looks int
	found map[Expr]T
}

// Get returns what was found out about an expression, if it was kept.
func (m *Memo[T]) Get(e Expr) (x T, ok bool) {
	if m.looks++; m.looks > Large {
		x, ok = m.found[e]
	}
	return x, ok
}

// Put keeps x and returns it.
func (m *Memo[T]) Put(e Expr, x T) T {
	if m.looks > Large {
		if m.found == nil {
			m.found = make(map[Expr]T)
		}
		m.found[e] = x
	}
	return x
}

// Inspect calls visit for an expression and, where that returns true, for its
// operands. It visits those of a large expression that are in several places
// a few times at most.
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

// Repeated returns the operators that are in several places of an expression;
// none if it has no more than so many nodes with everything written out.
func Repeated(e Expr, most int, operands func(e Expr, visit func(Expr))) map[Expr]bool {
	looks := 0
	var count func(e Expr)
	count = func(e Expr) {
		if looks++; looks <= most {
			operands(e, count)
		}
	}
	if count(e); looks <= most {
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

// Rewriter copies expressions over the variables. Other rewrites what is none,
// and may call Rewrite for what that stands for. Base, if not nil, changes what
// every operation has.
type Rewriter struct {
	Other func(Expr) (Expr, error)
	Base  func(Base) Base
	kept  Memo[Expr]
}

// Rewrite returns the copy of an expression; what is shared in it stays so.
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

// every reports whether all that an expression consists of satisfies ok.
func every(e Expr, ok func(Expr) bool) bool {
	all := true
	Inspect(e, func(e Expr) bool {
		all = all && ok(e)
		return all
	})
	return all
}

// isConstant reports whether an expression mentions no variables and no
// property operators.
func isConstant(e Expr) bool {
	return every(e, func(e Expr) bool {
		switch e.(type) {
		case *Const, *constRef, *bad, *Unary, *Binary, *Cond, *Call:
			return true
		}
		return false
	})
}

// Stateless reports whether an expression has no labels and no property
// operators, which engines evaluate, with their errors, whether or not the
// result matters: it needs nothing but the valuation of a state.
func Stateless(e Expr) bool {
	return every(e, func(e Expr) bool {
		switch e.(type) {
		case *Const, *Param, *Var, *Unary, *Binary, *Cond, *Call:
			return true
		}
		return false
	})
}

// Parametric reports whether an expression mentions a parameter, see [Model.InstantiateOpen].
func Parametric(e Expr) bool {
	return !every(e, func(e Expr) bool {
		_, param := e.(*Param)
		return !param
	})
}

// maxDepth is how deep expressions may be nested, formulas and references to
// properties written out: who goes through them has a stack.
const maxDepth = 250_000

// extent is how deep an expression is.
type extent struct {
	deepest int
	depth   int // of the expression that is being resolved
	stack   int // the same, with those in which it is mentioned
}

// enter reports whether an expression may be resolved.
func (x *extent) enter() bool {
	if x.stack >= maxDepth {
		return false
	}
	x.depth++
	x.stack++
	x.deepest = max(x.deepest, x.depth)
	return true
}

func (x *extent) leave() {
	x.depth--
	x.stack--
}

// add notes what an expression stands for, and reports whether it is not too deep.
func (x *extent) add(y extent) bool {
	if x.depth+y.deepest > maxDepth {
		return false
	}
	x.deepest = max(x.deepest, x.depth+y.deepest)
	return true
}

// tooDeep refuses an expression. What mentions it is not too deep for that.
func (r *resolver) tooDeep(e syntax.Expr) Expr {
	*r.size = extent{depth: r.size.depth, stack: r.size.stack}
	return r.semantic(e, "the expression is nested too deeply with formulas and references written out: want at most %d operators within each other", maxDepth)
}
