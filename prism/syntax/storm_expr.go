package syntax

import (
	"slices"
	"strconv"
	"strings"
)

// expr rewrites an expression or formula; nil stays nil.
func (s *stormRewriter) expr(x Expr) Expr { return Rewrite(x, s.rewrite) }

// rewrite rewrites a node whose children are rewritten already, and records whether only Storm's
// formula parser can read it.
func (s *stormRewriter) rewrite(x Expr) Expr {
	logicOnly := false
	exprChildren(x, func(child Node) {
		c, ok := child.(Expr)
		logicOnly = logicOnly || ok && s.logicOnly[c]
	})
	rewritten := s.rewriteNode(x, logicOnly)
	if logicOnly || isLogic(x) || isLogic(rewritten) {
		s.logicOnly[rewritten] = true
	}
	return rewritten
}

// isLogic reports whether a node is a label or an operator of the logic, which only Storm's formula
// parser can read.
func isLogic(x Expr) bool {
	switch x.(type) {
	case *Quoted, *Temporal, *Prob, *Steady, *Reward, *RewardPath, *Quant, *Strategy, *Filter:
		return true
	}
	return false
}

// rewriteNode rewrites a node whose children are rewritten already; logicOnly says that one of them
// can be read by Storm's formula parser only.
func (s *stormRewriter) rewriteNode(x Expr, logicOnly bool) Expr {
	switch x := x.(type) {
	case *Ident:
		return s.name(x)
	case *DoubleLit:
		return &DoubleLit{Text: stormDouble(x.Text), Span: x.Span}
	case *Unary: // ! and - bind tightest
		if x.Op == OpNeg && logicOnly {
			s.refuse(x, "arithmetic on results")
		}
		return &Unary{Op: x.Op, X: parenthesize(x.X), Span: x.Span}
	case *Binary:
		if logicOnly {
			return s.connective(x)
		}
		return s.binary(x)
	case *Cond:
		if logicOnly {
			s.refuse(x, "?: on results")
		}
	case *Call:
		return s.call(x, logicOnly)
	case *Quoted:
		return s.quoted(x)
	case *Temporal:
		return s.temporal(x)
	case *Prob:
		return s.prob(x)
	case *Steady:
		s.checkOperator(x, x.Modifier, x.Threshold, x.Filter)
	case *Reward:
		return s.reward(x)
	case *Quant:
		return s.ctlOperator(x)
	case *Strategy:
		return s.strategy(x)
	case *Filter:
		s.refuse(x, "a filter inside a property")
	}
	return x
}

// parenthesize puts an expression in parentheses, unless it is a literal, a name or a call.
func parenthesize(x Expr) Expr {
	if levelOf(x) == levelBasic {
		return x
	}
	return &Paren{X: x, Span: Span{x.Pos(), x.End()}}
}

// binary rewrites an infix operator of expressions for Storm, whose precedence differs for =>, <=>
// and ^, and whose quotient of two ints is an int.
func (s *stormRewriter) binary(x *Binary) Expr {
	result := *x
	switch x.Op {
	case OpImplies: // on the level of | and associative to the left
		result.X, result.Y = parenthesizeLooserThanAnd(x.X), parenthesizeLooserThanAnd(x.Y)
	case OpIff:
		result.Op, result.X, result.Y = OpEq, parenthesize(x.X), parenthesize(x.Y)
	case OpPow: // ^ is not associative
		return s.pow(x, x.X, x.Y, x.Span)
	case OpDiv:
		result.X, result.Y = doubleQuotient(x.X, x.Y)
	default:
		return x
	}
	return &result
}

// parenthesizeLooserThanAnd puts an expression in parentheses if it binds no tighter than |.
func parenthesizeLooserThanAnd(x Expr) Expr {
	if levelOf(x) <= levelOr {
		return parenthesize(x)
	}
	return x
}

// doubleQuotient returns the operands of a division, changed so that one of them is a double:
// in Storm the quotient of two ints is an int.
func doubleQuotient(x, y Expr) (Expr, Expr) {
	if isDouble(x) || isDouble(y) {
		return x, y
	}
	if lit, ok := y.(*IntLit); ok {
		return x, doubleOf(lit)
	}
	if lit, ok := x.(*IntLit); ok {
		return doubleOf(lit), y
	}
	return &Binary{Op: OpMul, X: &DoubleLit{Text: "1.0"}, Y: parenthesize(x)}, y
}

func doubleOf(lit *IntLit) Expr {
	return &DoubleLit{Text: strconv.Itoa(int(lit.Value)) + ".0", Span: lit.Span}
}

// isDouble reports whether an expression has type double, whatever the types of its names are.
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

// call rewrites a function call. Storm has no func(f, ...), no min or max of one number, and another
// rounding of halves.
func (s *stormRewriter) call(x *Call, logicOnly bool) Expr {
	name := x.Func.Name
	switch {
	case logicOnly:
		s.refuse(x, "functions of results")
	case !isCommonFunction(name):
		s.refuse(x, "the function "+name)
	case (name == "min" || name == "max") && len(x.Args) == 1:
		return parenthesize(x.Args[0])
	case name == "pow" && len(x.Args) == 2:
		return s.pow(x, x.Args[0], x.Args[1], x.Span)
	case name == "mod" && len(x.Args) == 2:
		return s.mod(x)
	case name == "round" && len(x.Args) == 1: // halves go up
		shifted := &Binary{Op: OpAdd, X: parenthesize(x.Args[0]), Y: &DoubleLit{Text: "0.5"}, Span: x.Span}
		return &Call{Func: &Ident{Name: "floor"}, Args: []Expr{shifted}, Span: x.Span}
	}
	return &Call{Func: x.Func, Args: x.Args, Span: x.Span}
}

// maxFactors is the largest power that is written as a product.
const maxFactors = 16

// pow writes a power. Storm replaces a constant by its text without parentheses, so it reads x^2 with x = -2
// as -2^2, which is -4. If the base may be negative, pow writes a product instead, or refuses the power.
func (s *stormRewriter) pow(x Expr, base, exponent Expr, span Span) Expr {
	if s.notNegative(base) {
		return &Call{Func: &Ident{Name: "pow"}, Args: []Expr{base, exponent}, Span: span}
	}
	factors, ok := Unparen(exponent).(*IntLit)
	if !ok || factors.Value < 1 || factors.Value > maxFactors {
		s.refuse(x, "a power whose base may be negative")
		return x
	}
	product := parenthesize(base)
	for range factors.Value - 1 {
		product = &Binary{Op: OpMul, X: product, Y: parenthesize(base), Span: span}
	}
	return parenthesize(product)
}

// notNegative reports whether an expression is known to be at least 0.
func (s *stormRewriter) notNegative(x Expr) bool {
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

// mod writes a remainder. Storm's remainder of a negative number is negative, PRISM's is not, so
// mod(a,b) becomes mod(mod(a,b)+b,b).
func (s *stormRewriter) mod(x *Call) Expr {
	a, b := x.Args[0], x.Args[1]
	if s.notNegative(a) {
		return x
	}
	remainder := &Call{Func: x.Func, Args: []Expr{a, b}, Span: x.Span}
	return &Call{Func: x.Func, Args: []Expr{&Binary{Op: OpAdd, X: remainder, Y: parenthesize(b), Span: x.Span}, b}, Span: x.Span}
}

// connective rewrites an operator on formulas with !, & and |, the only ones that Storm has there.
func (s *stormRewriter) connective(x *Binary) Expr {
	left, right := parenthesize(x.X), parenthesize(x.Y)
	switch x.Op {
	case OpAnd, OpOr:
		return &Binary{Op: x.Op, X: left, Y: right, OpPos: x.OpPos, Span: x.Span}
	case OpImplies:
		return s.formula(OpOr, s.not(left), right, x.Span)
	case OpIff:
		both := &Paren{X: s.formula(OpAnd, left, right, x.Span)}
		neither := &Paren{X: s.formula(OpAnd, s.not(left), s.not(right), x.Span)}
		return s.formula(OpOr, both, neither, x.Span)
	}
	s.refuse(x, "arithmetic and comparison on results")
	return x
}

func (s *stormRewriter) formula(op Op, x, y Expr, span Span) Expr {
	return &Binary{Op: op, X: x, Y: y, Span: span}
}

func (s *stormRewriter) not(x Expr) Expr { return &Unary{Op: OpNot, X: x} }

// quoted replaces a label of the properties file by its definition.
func (s *stormRewriter) quoted(x *Quoted) Expr {
	if s.properties[x.Name] {
		s.refuse(x, "references to properties")
	}
	if def, ok := s.labels[x.Name]; ok {
		return def
	}
	return x
}

// Dual returns a formula whose negation is equivalent to x, for the operators that Storm lacks, or
// lacks with a bound: G<=k b = !(F<=k !b), a W b = !((a&!b) U (!a&!b)), a R b = !(!a U !b). For
// other operators it returns false.
func (x *Temporal) Dual() (*Temporal, bool) {
	not := func(y Expr) Expr { return &Unary{Op: OpNot, X: parenthesize(y)} }
	dual := &Temporal{Op: Until, Bound: x.Bound, Span: x.Span}
	switch {
	case x.Op == Globally && x.Bound != nil:
		dual.Op, dual.Y = Future, parenthesize(not(x.Y))
	case x.Op == Release:
		dual.X, dual.Y = parenthesize(not(x.X)), parenthesize(not(x.Y))
	case x.Op == WeakUntil && (x.Bound == nil || x.Bound.Low == nil):
		dual.X = &Paren{X: &Binary{Op: OpAnd, X: parenthesize(x.X), Y: not(x.Y)}}
		dual.Y = &Paren{X: &Binary{Op: OpAnd, X: not(x.X), Y: not(x.Y)}}
	default:
		return nil, false
	}
	return dual, true
}

// prob rewrites a P operator. If temporal replaced its path formula by a negated one, a bound on the
// probability is replaced by the bound on the complement: P>=p [ !u ] becomes P<=1-p [ u ].
func (s *stormRewriter) prob(x *Prob) Expr {
	s.checkOperator(x, x.Modifier, x.Threshold, x.Filter)
	temporal, negated := s.temporalOf(x.Path)
	if temporal == nil {
		return x
	}
	s.refuseLateUntil(temporal)
	if !negated {
		return x
	}
	if x.Rel == OpNone {
		s.refuse(temporal, "the value of W, R or a bounded G")
		return x
	}
	complement := *x
	complement.Path, complement.Rel = temporal, complementRelation(x.Rel)
	complement.Bound = &Binary{Op: OpSub, X: &IntLit{Value: 1}, Y: parenthesize(x.Bound)}
	return &complement
}

// temporalOf returns the temporal operator of a path formula. If temporal replaced the path formula
// by its negated dual, it returns the dual, and negated is true.
func (s *stormRewriter) temporalOf(path Expr) (temporal *Temporal, negated bool) {
	path = Unparen(path)
	if negation, ok := path.(*Unary); ok && s.dualNegations[negation] {
		return Unparen(negation.X).(*Temporal), true
	}
	temporal, _ = path.(*Temporal)
	return temporal, false
}

// complementRelation returns the relation between 1-x and 1-y that is equivalent to relation
// between x and y.
func complementRelation(relation Op) Op {
	switch relation {
	case OpLt:
		return OpGt
	case OpLe:
		return OpGe
	case OpGt:
		return OpLt
	}
	return OpLe
}

// refuseLateUntil refuses an until with a lower bound, unless the caller guarantees that its left
// side holds in some state. Otherwise Storm ignores the bound: false U[1,2] true is 1 there.
func (s *stormRewriter) refuseLateUntil(x *Temporal) {
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

// ctlOperator rewrites an E or A operator as a P operator, where that is possible: a path formula
// that finite paths decide holds on some path if and only if some scheduler gives it a positive
// probability. Other formulas, such as A [ F a ], are refused.
func (s *stormRewriter) ctlOperator(x *Quant) Expr {
	temporal, negated := s.temporalOf(x.Path)
	switch {
	case temporal == nil && !s.logicOnly[x.Path]:
		return parenthesize(x.Path)
	case temporal == nil || IsPath(temporal.X) || IsPath(temporal.Y) || temporal.Bound != nil:
		s.refuse(x, "the operators E and A over formulas of LTL, or with a bound")
		return x
	case !x.All && !negated && temporal.Op != Globally:
		return parenthesize(&Unary{Op: OpNot, X: s.holdsOnNoPath(temporal), Span: x.Span})
	case x.All && negated:
		return s.holdsOnNoPath(temporal)
	case x.All && (temporal.Op == Next || temporal.Op == Globally):
		op := temporal.Op
		if op == Globally {
			op = Future
		}
		return s.holdsOnNoPath(&Temporal{Op: op, Y: parenthesize(&Unary{Op: OpNot, X: parenthesize(temporal.Y)}), Span: temporal.Span})
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

// holdsOnNoPath returns P<=0 [ u ]: no path satisfies u under any scheduler.
func (s *stormRewriter) holdsOnNoPath(u *Temporal) Expr {
	s.refuseLateUntil(u)
	return &Prob{Threshold: Threshold{Rel: OpLe, Bound: &IntLit{}}, Path: u, Span: u.Span}
}

// temporal rewrites a temporal operator. If Storm lacks it, the result is the negation of its dual.
func (s *stormRewriter) temporal(x *Temporal) Expr {
	if x.Bound != nil && x.Op == Next {
		s.refuse(x, "bounds on X")
	}
	result := *x
	result.Y = parenthesize(x.Y)
	if x.X != nil {
		result.X = parenthesize(x.X)
	}
	if x.Bound != nil {
		bound := *x.Bound
		if bound.Low != nil {
			bound.Low = parenthesize(bound.Low)
		}
		if bound.High != nil {
			bound.High = parenthesize(bound.High)
		}
		result.Bound = &bound
	}
	if dual, ok := result.Dual(); ok {
		negation := &Unary{Op: OpNot, X: parenthesize(dual), Span: x.Span}
		s.dualNegations[negation] = true
		return negation
	}
	if len(x.Costs) > 0 { // nothing is left to rewrite
		return &result
	}
	if result.Op == WeakUntil {
		s.refuse(x, "a weak until with a lower bound")
	}
	return &result
}

// checkOperator refuses what Storm lacks in the operators P, S and R alike.
func (s *stormRewriter) checkOperator(x Expr, modifier *Ident, threshold Threshold, filter *OldFilter) {
	switch {
	case modifier != nil:
		s.refuse(x, "the modifier "+modifier.Name)
	case threshold.Extremum > Max:
		s.refuse(x, threshold.Extremum.String())
	case filter != nil:
		s.refuse(x, "filters in braces")
	}
}

// reward rewrites an R operator. It refuses path formulas other than an unbounded F, because Storm has no
// rewards for them.
func (s *stormRewriter) reward(x *Reward) Expr {
	s.checkOperator(x, x.Modifier, x.Threshold, x.Filter)
	if _, named := x.Struct.(*Quoted); x.Struct != nil && !named {
		s.refuse(x, "reward structures by number")
	}
	if x.StructDiv != nil {
		s.refuse(x, "ratios of rewards")
	}
	result := *x
	result.Path = Unparen(x.Path)
	switch path := result.Path.(type) {
	case *RewardPath:
	case *Temporal:
		if path.Op != Future || path.Bound != nil || IsPath(path.Y) {
			s.refuse(path, "rewards until a formula other than F holds")
		}
	default:
		s.refuse(path, "rewards until a formula other than F holds")
	}
	return &result
}

// strategy rewrites a coalition operator, whose operand must be a P or R operator in Storm.
func (s *stormRewriter) strategy(x *Strategy) Expr {
	if x.Box || x.All {
		s.refuse(x, "coalitions other than <<players>>")
	}
	result := *x
	result.X = Unparen(x.X)
	switch result.X.(type) {
	case *Prob, *Reward:
	default:
		s.refuse(x, "coalitions for other operators than P and R")
	}
	return &result
}

func (s *stormRewriter) property(property *Property) *Property {
	return &Property{Doc: property.Doc, Notes: property.Notes, Name: s.name(property.Name), X: s.topLevel(property.X), Span: property.Span}
}

// topLevel rewrites a whole property. Storm accepts filters and multi(...) only there.
func (s *stormRewriter) topLevel(x Expr) Expr {
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

// filter rewrites a filter. Storm lacks some filter types, and requires the states.
func (s *stormRewriter) filter(x *Filter) Expr {
	result := &Filter{Op: x.Op, OpPos: x.OpPos, X: s.expr(x.X), States: s.expr(x.States), Span: x.Span}
	switch x.Op {
	case "min", "max", "sum", "avg", "count", "forall", "exists", "argmin", "argmax", "values":
	case "+":
		result.Op = "sum"
	case "&":
		result.Op = "forall"
	case "|":
		result.Op = "exists"
	default:
		s.refuse(x, "filter type "+x.Op)
	}
	if result.States == nil {
		result.States = &BoolLit{Value: true}
	}
	return result
}

// multi rewrites multi(...), whose objectives must be P, R or S operators in Storm.
func (s *stormRewriter) multi(x *Call) Expr {
	result := &Call{Func: x.Func, Span: x.Span}
	for _, arg := range x.Args {
		objective := Unparen(s.expr(arg))
		switch objective.(type) {
		case *Prob, *Reward, *Steady:
		default:
			s.refuse(arg, "objectives other than P, R and S")
		}
		result.Args = append(result.Args, objective)
	}
	return result
}
