package syntax

import (
	"slices"
	"strconv"
	"strings"
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
	if opaque || isLogic(x) || isLogic(y) {
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
		return s.prob(x)
	case *Steady:
		s.operator(x, x.Modifier, x.Threshold, x.Filter)
	case *Reward:
		return s.reward(x)
	case *Quant:
		return s.quant(x)
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
		return s.pow(x, x.X, x.Y, x.Span)
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
	case name == "pow" && len(x.Args) == 2:
		return s.pow(x, x.Args[0], x.Args[1], x.Span)
	case name == "mod" && len(x.Args) == 2:
		return s.mod(x)
	case name == "round" && len(x.Args) == 1: // halves go up
		half := &Binary{Op: OpAdd, X: group(x.Args[0]), Y: &DoubleLit{Text: "0.5"}, Span: x.Span}
		return &Call{Func: &Ident{Name: "floor"}, Args: []Expr{half}, Span: x.Span}
	}
	return &Call{Func: x.Func, Args: x.Args, Span: x.Span}
}

// maxFactors is the largest power that is written as a product.
const maxFactors = 16

// pow writes a power. After Storm has expanded constants and formulas, a negative base is parsed
// with the minus outside the power: -2^2 is -4. So only a base that cannot be negative is kept as
// it is.
func (s *stormer) pow(x Expr, base, exponent Expr, at Span) Expr {
	if s.notNegative(base) {
		return &Call{Func: &Ident{Name: "pow"}, Args: []Expr{base, exponent}, Span: at}
	}
	n, ok := Unparen(exponent).(*IntLit)
	if !ok || n.Value < 1 || n.Value > maxFactors {
		s.refuse(x, "a power whose base may be negative")
		return x
	}
	out := group(base)
	for range n.Value - 1 {
		out = &Binary{Op: OpMul, X: out, Y: group(base), Span: at}
	}
	return group(out)
}

// notNegative reports whether an expression is known to be 0 or more.
func (s *stormer) notNegative(x Expr) bool {
	switch x := x.(type) {
	case *Ident:
		return s.options.NotNegative != nil && s.options.NotNegative(x.Name)
	case *IntLit:
		return x.Value >= 0
	case *DoubleLit:
		return !strings.HasPrefix(x.Text, "-")
	case *Paren:
		return s.notNegative(x.X)
	case *Binary:
		return (x.Op == OpAdd || x.Op == OpMul || x.Op == OpDiv) && s.notNegative(x.X) && s.notNegative(x.Y)
	case *Call:
		switch x.Func.Name {
		case "max":
			return slices.ContainsFunc(x.Args, s.notNegative)
		case "min", "pow", "floor", "ceil":
			return !slices.ContainsFunc(x.Args, func(a Expr) bool { return !s.notNegative(a) })
		}
	}
	return false
}

// mod writes a remainder. For a negative number Storm's remainder has another sign.
func (s *stormer) mod(x *Call) Expr {
	a, b := x.Args[0], x.Args[1]
	if s.notNegative(a) {
		return x
	}
	first := &Call{Func: x.Func, Args: []Expr{a, b}, Span: x.Span}
	return &Call{Func: x.Func, Args: []Expr{&Binary{Op: OpAdd, X: first, Y: group(b), Span: x.Span}, b}, Span: x.Span}
}

// connective rewrites an operator on formulas to !, & and |, the only ones that Storm has.
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

// Dual returns the formula whose negation equals x, if Storm lacks the operator of x, or lacks it
// with a bound; false for other operators: G<=k b = !(F<=k !b), a W b = !((a&!b) U (!a&!b)), a R b
// = !(!a U !b).
func (x *Temporal) Dual() (*Temporal, bool) {
	not := func(y Expr) Expr { return &Unary{Op: OpNot, X: group(y)} }
	u := &Temporal{Op: Until, Bound: x.Bound, Span: x.Span}
	switch {
	case x.Op == Globally && x.Bound != nil:
		u.Op, u.Y = Future, group(not(x.Y))
	case x.Op == Release:
		u.X, u.Y = group(not(x.X)), group(not(x.Y))
	case x.Op == WeakUntil && (x.Bound == nil || x.Bound.Low == nil):
		u.X = &Paren{X: &Binary{Op: OpAnd, X: group(x.X), Y: not(x.Y)}}
		u.Y = &Paren{X: &Binary{Op: OpAnd, X: not(x.X), Y: not(x.Y)}}
	default:
		return nil, false
	}
	return u, true
}

// prob writes a bounded operator over the negation of an until by the until:
// P>=p [ !(F<=k !a) ] is P<=1-p [ F<=k !a ].
func (s *stormer) prob(x *Prob) Expr {
	s.operator(x, x.Modifier, x.Threshold, x.Filter)
	u, negated := s.until(x.Path)
	if u == nil {
		return x
	}
	s.late(u)
	if !negated {
		return x
	}
	if x.Rel == OpNone {
		s.refuse(u, "the value of W, R or a bounded G")
		return x
	}
	p := *x
	p.Path, p.Rel = u, mirrored(x.Rel)
	p.Bound = &Binary{Op: OpSub, X: &IntLit{Value: 1}, Y: group(x.Bound)}
	return &p
}

// until returns the temporal operator that a path formula is, or that it is the
// negation of because temporal wrote its dual.
func (s *stormer) until(path Expr) (u *Temporal, negated bool) {
	path = Unparen(path)
	if not, ok := path.(*Unary); ok && s.duals[not] {
		return Unparen(not.X).(*Temporal), true
	}
	u, _ = path.(*Temporal)
	return u, false
}

// mirrored is the relation that 1-x and 1-y have if x and y have r.
func mirrored(r Op) Op {
	switch r {
	case OpLt:
		return OpGt
	case OpLe:
		return OpGe
	case OpGt:
		return OpLt
	}
	return OpLe
}

// late refuses an until that begins after its first step, unless the caller has
// looked to it: where no state at all holds its left side, Storm forgets the
// bound, so that false U[1,2] true is 1 there.
func (s *stormer) late(x *Temporal) {
	if s.options.Guarded || x.Op != Until || x.Bound == nil || x.Bound.Low == nil {
		return
	}
	if lit, ok := Unparen(x.Bound.Low).(*IntLit); ok && lit.Value == 0 && !x.Bound.LowStrict {
		return
	}
	if lit, ok := Unparen(x.X).(*BoolLit); ok && lit.Value {
		return
	}
	s.refuse(x, "an until with a lower bound inside another property")
}

// quant writes what the operators E and A say as far as finite paths show it:
// there is one if some scheduler gives it a probability above 0. What they say
// of whole paths, such as A [ F a ], is not about probabilities.
func (s *stormer) quant(x *Quant) Expr {
	t, negated := s.until(x.Path)
	switch {
	case t == nil && !s.opaque[x.Path]:
		return group(x.Path)
	case t == nil || IsPath(t.X) || IsPath(t.Y) || t.Bound != nil:
		s.refuse(x, "the operators E and A over formulas of LTL, or with a bound")
		return x
	case !x.All && !negated && t.Op != Globally:
		return group(&Unary{Op: OpNot, X: s.never(t), Span: x.Span})
	case x.All && negated:
		return s.never(t)
	case x.All && (t.Op == Next || t.Op == Globally):
		op := t.Op
		if op == Globally {
			op = Future
		}
		return s.never(&Temporal{Op: op, Y: group(&Unary{Op: OpNot, X: group(t.Y)}), Span: t.Span})
	}
	s.refuse(x, "the operators E and A over whole paths")
	return x
}

// IsPath reports whether a formula has a temporal operator of its own.
func IsPath(x Expr) bool {
	found := false
	Inspect(x, func(n Node) bool {
		switch n.(type) {
		case *Temporal:
			found = true
		case *Prob, *Steady, *Reward, *Quant, *Filter:
			return false
		}
		return !found
	})
	return found
}

// never says that no path satisfies a formula, under any scheduler.
func (s *stormer) never(u *Temporal) Expr {
	s.late(u)
	return &Prob{Threshold: Threshold{Rel: OpLe, Bound: &IntLit{}}, Path: u, Span: u.Span}
}

func (s *stormer) temporal(x *Temporal) Expr {
	if x.Bound != nil && x.Op == Next {
		s.refuse(x, "bounds on X")
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
	if u, ok := t.Dual(); ok {
		not := &Unary{Op: OpNot, X: group(u), Span: x.Span}
		s.duals[not] = true
		return not
	}
	if len(x.Costs) > 0 { // nothing is left to rewrite
		return &t
	}
	if t.Op == WeakUntil {
		s.refuse(x, "a weak until with a lower bound")
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
	r.Path = Unparen(x.Path)
	switch path := r.Path.(type) {
	case *RewardPath:
	case *Temporal:
		if path.Op != Future || path.Bound != nil || IsPath(path.Y) {
			s.refuse(path, "rewards until a formula other than F holds")
		}
	default:
		s.refuse(path, "rewards until a formula other than F holds")
	}
	return &r
}

func (s *stormer) strategy(x *Strategy) Expr {
	if x.Box || x.All {
		s.refuse(x, "coalitions other than <<players>>")
	}
	t := *x
	t.X = Unparen(x.X)
	switch t.X.(type) {
	case *Prob, *Reward:
	default:
		s.refuse(x, "coalitions for other operators than P and R")
	}
	return &t
}

func (s *stormer) property(n *Property) *Property {
	return &Property{Doc: n.Doc, Notes: n.Notes, Name: s.name(n.Name), X: s.outermost(n.X), Span: n.Span}
}

// outermost rewrites a whole property. Filters and multi(…) have to be that.
func (s *stormer) outermost(x Expr) Expr {
	switch y := Unparen(x).(type) {
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
	case "min", "max", "sum", "avg", "count", "forall", "exists", "argmin", "argmax", "values":
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
		y := Unparen(s.expr(arg))
		switch y.(type) {
		case *Prob, *Reward, *Steady:
		default:
			s.refuse(arg, "objectives other than P, R and S")
		}
		c.Args = append(c.Args, y)
	}
	return c
}
