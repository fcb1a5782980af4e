package sema

import (
	"cmp"
	"slices"

	"tilecheck/prism/syntax"
)

// An expression is a directed acyclic graph: the definition of a formula, a constant or another
// property occurs once, and all references share it. Written out, such an expression can be
// exponentially larger. So functions on expressions cache their results per node. Nearly all
// expressions are small, and faster without a cache.

// LargeSize is the number of operators and operands that are visited before a Memo stores anything.
const LargeSize = 4096

// Memo caches results per expression, but only after Large look-ups, because small expressions are faster without a cache. The zero value is
// ready for use.
type Memo[T any] struct {
	lookups int
	results map[Expr]T
}

// Get returns the cached result for an expression, if there is one.
func (m *Memo[T]) Get(expr Expr) (result T, ok bool) {
	m.lookups++
	if m.lookups > LargeSize {
		result, ok = m.results[expr]
	}
	return result, ok
}

// Put returns the result of an expression, and caches it. It caches nothing before the number of look-ups exceeds LargeSize, because a small
// expression needs no cache.
func (m *Memo[T]) Put(expr Expr, result T) T {
	if m.lookups <= LargeSize {
		return result
	}
	if m.results == nil {
		m.results = make(map[Expr]T)
	}
	m.results[expr] = result
	return result
}

// Inspect calls visit for an expression and, if visit returns true, for its operands. It visits a shared operand of a large expression only
// a few times.
func Inspect(expr Expr, visit func(Expr) bool) {
	var isVisited Memo[bool]
	var walk func(expr Expr)
	walk = func(expr Expr) {
		if visited, _ := isVisited.Get(expr); visited {
			return
		}
		isVisited.Put(expr, true)
		if visit(expr) {
			VisitOperands(expr, walk)
		}
	}
	walk(expr)
}

// RepeatedExprs returns the operations that occur several times in an expression. It returns nil if the expression has at most limit nodes; a
// repeated node counts each time. visitOperands must call visit for each operand.
func RepeatedExprs(expr Expr, limit int, visitOperands func(expr Expr, visit func(Expr))) map[Expr]bool {
	if !hasMoreNodes(expr, limit, visitOperands) {
		return nil
	}
	isVisited, isRepeated := make(map[Expr]bool), make(map[Expr]bool)
	var visit func(Expr)
	visit = func(expr Expr) {
		if !isVisited[expr] {
			isVisited[expr] = true
			visitOperands(expr, visit)
			return
		}
		switch expr.(type) {
		case *Const, *Var:
		default:
			isRepeated[expr] = true
		}
	}
	visit(expr)
	return isRepeated
}

// hasMoreNodes reports whether an expression has more than limit nodes. A repeated node counts each time.
func hasMoreNodes(expr Expr, limit int, visitOperands func(expr Expr, visit func(Expr))) bool {
	nodes := 0
	var count func(Expr)
	count = func(expr Expr) {
		nodes++
		if nodes <= limit {
			visitOperands(expr, count)
		}
	}
	count(expr)
	return nodes > limit
}

// Rewriter copies expressions over the variables. Other rewrites all other nodes, and may call Rewrite for their operands. Base, if not nil,
// changes the type and position of every operation.
type Rewriter struct {
	RewriteOther func(Expr) (Expr, error)
	RewriteBase  func(Base) Base
	memo         Memo[Expr]
}

// Rewrite returns the rewritten expression. It rewrites a shared sub-expression once, and the result is shared too.
func (r *Rewriter) Rewrite(expr Expr) (Expr, error) {
	if rewritten, ok := r.memo.Get(expr); ok {
		return rewritten, nil
	}
	rewritten, err := r.copyNode(expr)
	if err != nil {
		return nil, err
	}
	return r.memo.Put(expr, rewritten), nil
}

// copyNode returns a constant or variable unchanged, and a copy of an operation with rewritten operands. The function RewriteOther rewrites all
// other expressions.
func (r *Rewriter) copyNode(expr Expr) (Expr, error) {
	switch expr.(type) {
	case *Const, *Var:
		return expr, nil
	case *Unary, *Binary, *Cond, *Call:
		return r.copyOperation(expr)
	}
	return r.RewriteOther(expr)
}

// copyOperation returns a copy of an operation with rewritten operands, or the first error.
func (r *Rewriter) copyOperation(operation Expr) (copied Expr, err error) {
	rewrite := func(operand Expr) Expr {
		rewritten, operandErr := r.Rewrite(operand)
		err = cmp.Or(err, operandErr)
		return rewritten
	}
	base := func(original Base) Base {
		if r.RewriteBase != nil {
			return r.RewriteBase(original)
		}
		return original
	}
	switch expr := operation.(type) {
	case *Unary:
		copied = &Unary{base(expr.Base), expr.Op, rewrite(expr.X)}
	case *Binary:
		copied = &Binary{base(expr.Base), expr.Op, rewrite(expr.X), rewrite(expr.Y)}
	case *Cond:
		copied = &Cond{base(expr.Base), rewrite(expr.Condition), rewrite(expr.Then), rewrite(expr.Else)}
	case *Call:
		call := &Call{base(expr.Base), expr.Func, make([]Expr, len(expr.Args)), expr.Array}
		for i, arg := range expr.Args {
			call.Args[i] = rewrite(arg)
		}
		copied = call
	}
	return copied, err
}

// Every reports whether a predicate holds for an expression and all its sub-expressions.
func Every(expr Expr, predicate func(Expr) bool) bool {
	holds := true
	Inspect(expr, func(expr Expr) bool {
		holds = holds && predicate(expr)
		return holds
	})
	return holds
}

// isConstant reports whether an expression has no variables and no property operators.
func isConstant(expr Expr) bool {
	return Every(expr, func(expr Expr) bool {
		switch expr.(type) {
		case *Const, *constRef, *QuantileBound, *erroneousExpr, *Unary, *Binary, *Cond, *Call:
			return true
		}
		return false
	})
}

// IsStateFormula reports whether the variables of a state determine the value of an expression: it has neither labels nor operators of properties. A
// missing expression, nil, is a state formula.
func IsStateFormula(expr Expr) bool {
	return expr == nil || Every(expr, func(operand Expr) bool {
		switch operand.(type) {
		case *Const, *Var, *Unary, *Binary, *Cond, *Call:
			return true
		}
		return false
	})
}

// SlotsOf returns the slots of the variables in an expression, without duplicates, in the order of their first use.
func SlotsOf(expr Expr) []int {
	var slots []int
	Inspect(expr, func(operand Expr) bool {
		if variable, ok := operand.(*Var); ok && !slices.Contains(slots, variable.Slot) {
			slots = append(slots, variable.Slot)
		}
		return true
	})
	return slots
}

// Conjuncts returns the operands of a conjunction, also of nested ones, from left to right; any other formula is its only conjunct.
func Conjuncts(formula Expr) []Expr {
	if and, ok := formula.(*Binary); ok && and.Op == syntax.OpAnd {
		return append(Conjuncts(and.X), Conjuncts(and.Y)...)
	}
	return []Expr{formula}
}

// ConstantExpr returns a value as an expression at a position.
func ConstantExpr(value Value, pos syntax.Pos) Expr {
	return &Const{Base: Base{ValueType: value.Type, Position: pos}, Val: value}
}

// NeedsOnlyVariables reports whether an expression has no labels and no property operators, so that variables determine its value.
func NeedsOnlyVariables(expr Expr) bool {
	return Every(expr, func(expr Expr) bool {
		switch expr.(type) {
		case *Const, *Param, *Var, *Unary, *Binary, *Cond, *Call:
			return true
		}
		return false
	})
}

// HasParameters reports whether an expression contains a parameter, see [Model.InstantiateOpen].
func HasParameters(expr Expr) bool {
	return !Every(expr, func(expr Expr) bool {
		_, param := expr.(*Param)
		return !param
	})
}

// maxDepth is the largest nesting depth of an expression after expansion of formulas and references. It limits the stack of recursive
// functions.
const maxDepth = 250_000

// nesting measures how deeply operators are nested in an expression while it is resolved.
type nesting struct {
	deepest    int
	depth      int // in the current expression
	totalDepth int // depth, plus the depths of the expressions that refer to this one
}

// enterLevel goes one level deeper. It returns false if the expression is nested too deeply.
func (x *nesting) enterLevel() bool {
	if x.totalDepth >= maxDepth {
		return false
	}
	x.depth++
	x.totalDepth++
	x.deepest = max(x.deepest, x.depth)
	return true
}

// leave goes one level back.
func (x *nesting) leave() {
	x.depth--
	x.totalDepth--
}

// add accounts for a formula or property that replaces a reference. It returns false if the result is nested too deeply.
func (x *nesting) add(other nesting) bool {
	if x.depth+other.deepest > maxDepth {
		return false
	}
	x.deepest = max(x.deepest, x.depth+other.deepest)
	return true
}

// tooDeep reports an expression that is nested too deeply. It resets the deepest level, so the expressions around it are not reported too.
func (r *resolver) tooDeep(expr syntax.Expr) Expr {
	*r.nesting = nesting{depth: r.nesting.depth, totalDepth: r.nesting.totalDepth}
	return r.semanticError(expr, "the expression is nested too deeply after expanding formulas and references, want at most %d levels", maxDepth)
}
