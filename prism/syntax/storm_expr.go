package syntax

import (
	"slices"
	"strconv"
)

// expr rewrites an expression or formula; nil stays nil.
func (s *stormer) expr(x Expr) Expr { return Rewrite(x, s.rewrite) }

// rewrite rewrites a node whose children are rewritten already.
func (s *stormer) rewrite(x Expr) Expr {
	opaque := false
	exprChildren(x, func(child Node) {
		c, ok := child.(Expr)
		opaque = opaque || ok && s.opaque[c]
	})
	y := s.rewriteNode(x, opaque)
	if opaque || isLogic(y) {
		s.opaque[y] = true
	}
	return y
}

// isLogic reports whether only Storm's formula parser reads the node.
func isLogic(x Expr) bool {
	switch x.(type) {
	case *Quoted, *Temporal, *Prob, *Steady, *Reward, *RewardPath, *Quant, *Strategy, *Filter:
		return true
	}
	return false
}

func (s *stormer) rewriteNode(x Expr, opaque bool) Expr {
	switch x := x.(type) {
	case *Ident:
		return s.name(x)
	case *DoubleLit:
		return &DoubleLit{Text: stormDouble(x.Text), Span: x.Span}
	case *Unary: // ! and - bind tightest
		if x.Op == OpNeg && opaque {
			s.refuse(x, "arithmetic on results")
		}
		return &Unary{Op: x.Op, X: group(x.X), Span: x.Span}
	case *Binary:
		if opaque {
			return s.connective(x)
		}
		return s.binary(x)
	case *Cond:
		if opaque {
			s.refuse(x, "?: on results")
		}
	case *Call:
		return s.call(x, opaque)
	case *Quoted:
		return s.quoted(x)
	case *Temporal:
		return s.temporal(x)
	case *Prob:
		s.operator(x, x.Modifier, x.Threshold, x.Filter)
	case *Steady:
		s.operator(x, x.Modifier, x.Threshold, x.Filter)
	case *Reward:
		return s.reward(x)
	case *Quant:
		s.refuse(x, "the operators E and A")
	case *Strategy:
		return s.strategy(x)
	case *Filter:
		s.refuse(x, "a filter inside a property")
	}
	return x
}

// group puts an expression in parentheses unless it needs none anywhere.
func group(x Expr) Expr {
	if levelOf(x) == levelBasic {
		return x
	}
	return &Paren{X: x, Span: Span{x.Pos(), x.End()}}
}

// binary rewrites an operator on expressions. Comparison and arithmetic are the
// same in both languages.
func (s *stormer) binary(x *Binary) Expr {
	b := *x
	switch x.Op {
	case OpImplies: // on the level of | and associative to the left
		b.X, b.Y = groupOr(x.X), groupOr(x.Y)
	case OpIff:
		b.Op, b.X, b.Y = OpEq, group(x.X), group(x.Y)
	case OpPow: // ^ is not associative
		return &Call{Func: &Ident{Name: "pow"}, Args: []Expr{x.X, x.Y}, Span: x.Span}
	case OpDiv:
		b.X, b.Y = dividend(x.X, x.Y)
	default:
		return x
	}
	return &b
}

func groupOr(x Expr) Expr {
	if levelOf(x) <= levelOr {
		return group(x)
	}
	return x
}

// dividend rewrites the operands of a division so that one of them is visibly
// a double: for Storm the quotient of two ints has type int.
func dividend(x, y Expr) (Expr, Expr) {
	if isDouble(x) || isDouble(y) {
		return x, y
	}
	if lit, ok := y.(*IntLit); ok {
		return x, doubleOf(lit)
	}
	if lit, ok := x.(*IntLit); ok {
		return doubleOf(lit), y
	}
	return &Binary{Op: OpMul, X: &DoubleLit{Text: "1.0"}, Y: group(x)}, y
}

func doubleOf(lit *IntLit) Expr {
	return &DoubleLit{Text: strconv.Itoa(int(lit.Value)) + ".0", Span: lit.Span}
}

// isDouble reports whether an expression has type double whatever the types of its names.
func isDouble(x Expr) bool {
	switch x := x.(type) {
	case *DoubleLit:
		return true
	case *Paren:
		return isDouble(x.X)
	case *Unary:
		return isDouble(x.X)
	case *Binary:
		return x.Op == OpDiv || isDouble(x.X) || isDouble(x.Y)
	case *Call:
		switch x.Func.Name {
		case "log":
			return true
		case "min", "max", "pow":
			return slices.ContainsFunc(x.Args, isDouble)
		}
	}
	return false
}

// call rewrites func(f, …), and min and max of one number.
func (s *stormer) call(x *Call, opaque bool) Expr {
	name := x.Func.Name
	switch {
	case opaque:
		s.refuse(x, "functions of results")
	case !builtin(name):
		s.refuse(x, "the function "+name)
	case (name == "min" || name == "max") && len(x.Args) == 1:
		return group(x.Args[0])
	}
	return &Call{Func: x.Func, Args: x.Args, Span: x.Span}
}

// connective rewrites an operator on formulas, of which Storm has ! & and |.
func (s *stormer) connective(x *Binary) Expr {
	a, b := group(x.X), group(x.Y)
	switch x.Op {
	case OpAnd, OpOr:
		return &Binary{Op: x.Op, X: a, Y: b, OpPos: x.OpPos, Span: x.Span}
	case OpImplies:
		return s.logic(OpOr, s.not(a), b, x.Span)
	case OpIff:
		both := &Paren{X: s.logic(OpAnd, a, b, x.Span)}
		neither := &Paren{X: s.logic(OpAnd, s.not(a), s.not(b), x.Span)}
		return s.logic(OpOr, both, neither, x.Span)
	}
	s.refuse(x, "arithmetic and comparison on results")
	return x
}

func (s *stormer) logic(op Op, x, y Expr, at Span) Expr {
	return &Binary{Op: op, X: x, Y: y, Span: at}
}

func (s *stormer) not(x Expr) Expr { return &Unary{Op: OpNot, X: x} }

func (s *stormer) quoted(x *Quoted) Expr {
	if s.properties[x.Name] {
		s.refuse(x, "references to properties")
	}
	if def, ok := s.labels[x.Name]; ok {
		return def
	}
	return x
}

func (s *stormer) temporal(x *Temporal) Expr {
	switch {
	case x.Op == WeakUntil || x.Op == Release:
		s.refuse(x, "the operator "+x.Op.String())
	case x.Bound != nil && (x.Op == Next || x.Op == Globally):
		s.refuse(x, "bounds on "+x.Op.String())
	}
	t := *x
	t.Y = group(x.Y)
	if x.X != nil {
		t.X = group(x.X)
	}
	if x.Bound != nil {
		b := *x.Bound
		if b.Low != nil {
			b.Low = group(b.Low)
		}
		if b.High != nil {
			b.High = group(b.High)
		}
		t.Bound = &b
	}
	return &t
}

// operator checks what P, S and R have in common.
func (s *stormer) operator(x Expr, modifier *Ident, t Threshold, f *OldFilter) {
	switch {
	case modifier != nil:
		s.refuse(x, "the modifier "+modifier.Name)
	case t.Extremum > Max:
		s.refuse(x, t.Extremum.String())
	case f != nil:
		s.refuse(x, "filters in braces")
	}
}

func (s *stormer) reward(x *Reward) Expr {
	s.operator(x, x.Modifier, x.Threshold, x.Filter)
	if _, named := x.Struct.(*Quoted); x.Struct != nil && !named {
		s.refuse(x, "reward structures by number")
	}
	if x.StructDiv != nil {
		s.refuse(x, "ratios of rewards")
	}
	r := *x
	r.Path = unwrap(x.Path)
	switch path := r.Path.(type) {
	case *RewardPath:
	case *Temporal:
		if path.Op != Future || path.Bound != nil {
			s.refuse(path, "rewards until a formula other than F holds")
		}
	default:
		s.refuse(path, "rewards until a formula other than F holds")
	}
	return &r
}

func unwrap(x Expr) Expr {
	for {
		p, ok := x.(*Paren)
		if !ok {
			return x
		}
		x = p.X
	}
}

func (s *stormer) strategy(x *Strategy) Expr {
	if x.Box || x.All {
		s.refuse(x, "coalitions other than <<players>>")
	}
	t := *x
	t.X = unwrap(x.X)
	switch t.X.(type) {
	case *Prob, *Reward:
	default:
		s.refuse(x, "coalitions for other operators than P and R")
	}
	return &t
}

func (s *stormer) property(n *Property) *Property {
	return &Property{Doc: n.Doc, Name: s.name(n.Name), X: s.outermost(n.X), Span: n.Span}
}

// outermost rewrites a whole property. Filters and multi(…) have to be that.
func (s *stormer) outermost(x Expr) Expr {
	switch y := unwrap(x).(type) {
	case *Filter:
		return s.filter(y)
	case *Call:
		if y.Func.Name == "multi" {
			return s.multi(y)
		}
	}
	return s.expr(x)
}

func (s *stormer) filter(x *Filter) Expr {
	f := &Filter{Op: x.Op, OpPos: x.OpPos, X: s.expr(x.X), States: s.expr(x.States), Span: x.Span}
	switch x.Op {
	case "min", "max", "sum", "avg", "count", "forall", "exists", "argmin", "argmax":
	case "+":
		f.Op = "sum"
	case "&":
		f.Op = "forall"
	case "|":
		f.Op = "exists"
	default:
		s.refuse(x, "filter type "+x.Op)
	}
	if f.States == nil {
		f.States = &BoolLit{Value: true}
	}
	return f
}

func (s *stormer) multi(x *Call) Expr {
	c := &Call{Func: x.Func, Span: x.Span}
	for _, arg := range x.Args {
		y := unwrap(s.expr(arg))
		switch y.(type) {
		case *Prob, *Reward, *Steady:
		default:
			s.refuse(arg, "objectives other than P, R and S")
		}
		c.Args = append(c.Args, y)
	}
	return c
}
