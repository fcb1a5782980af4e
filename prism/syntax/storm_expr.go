package syntax

import (
	"slices"
	"strconv"
	"strings"
)

// rewriteExpr rewrites an expression or formula; nil stays nil.
func (s *stormRewriter) rewriteExpr(expr Expr) Expr { return Rewrite(expr, s.rewrite) }

// rewrite converts the outermost operator of an expression to Storm's language; its children are converted already. s.logicOnly records the results that only
// Storm's parser of formulas can read.
func (s *stormRewriter) rewrite(expr Expr) Expr {
	hasLogicOperand := false
	exprChildren(expr, func(child Node) {
		operand, isExpr := child.(Expr)
		if isExpr && s.logicOnly[operand] {
			hasLogicOperand = true
		}
	})
	rewritten := s.rewriteOutermost(expr, hasLogicOperand)
	if hasLogicOperand || isLogic(expr) || isLogic(rewritten) {
		s.logicOnly[rewritten] = true
	}
	return rewritten
}

// isLogic reports whether a node is a label or an operator of the logic. Only Storm's formula parser can read these.
func isLogic(expr Expr) bool {
	switch expr.(type) {
	case *Quoted, *Temporal, *Prob, *Steady, *Reward, *RewardPath, *Conditional, *Quant, *Strategy, *Filter:
		return true
	}
	return false
}

// rewriteOutermost rewrites an expression with rewritten children. hasLogicOperand says that only Storm's formula parser can read one of the
// children.
func (s *stormRewriter) rewriteOutermost(expr Expr, hasLogicOperand bool) Expr {
	switch expr := expr.(type) {
	case *Ident:
		return s.rewriteName(expr)
	case *DoubleLit:
		return &DoubleLit{Text: stormDouble(expr.Text), Span: expr.Span}
	case *Unary: // ! and - bind tightest
		if expr.Op == OpNeg && hasLogicOperand {
			s.refuse(expr, "arithmetic on results")
		}
		return &Unary{Op: expr.Op, X: parenthesize(expr.X), Span: expr.Span}
	case *Binary:
		if hasLogicOperand {
			return s.rewriteConnective(expr)
		}
		return s.rewriteBinary(expr)
	case *Cond:
		if hasLogicOperand {
			s.refuse(expr, "?: on results")
		}
	case *Call:
		if hasLogicOperand {
			s.refuse(expr, "functions of results")
			return expr
		}
		return s.rewriteCall(expr)
	case *Quoted:
		return s.rewriteQuoted(expr)
	case *Temporal:
		return s.rewriteTemporal(expr)
	case *Prob:
		return s.rewriteProb(expr)
	case *Steady:
		s.checkOperator(expr, expr.Modifier, expr.Threshold, expr.Filter)
	case *Reward:
		return s.rewriteReward(expr)
	case *Quant:
		return s.rewriteCtlOperator(expr)
	case *Strategy:
		return s.rewriteStrategy(expr)
	case *Filter:
		s.refuse(expr, "a filter inside a property")
	}
	return expr
}

// parenthesize puts an expression in parentheses, unless it is a literal, a name or a call.
func parenthesize(expr Expr) Expr {
	if levelOf(expr) == levelBasic {
		return expr
	}
	return &Paren{X: expr, Span: Span{expr.Pos(), expr.End()}}
}

// rewriteBinary rewrites an infix operator of expressions for Storm.
func (s *stormRewriter) rewriteBinary(expr *Binary) Expr {
	result := *expr
	switch expr.Op {
	case OpImplies: // in Storm it has the level of | and associates to the left
		result.X, result.Y = parenthesizeLooserThanAnd(expr.X), parenthesizeLooserThanAnd(expr.Y)
	case OpIff:
		result.Op, result.X, result.Y = OpEq, parenthesize(expr.X), parenthesize(expr.Y)
	case OpPow: // in Storm ^ does not associate
		return s.rewritePow(expr, expr.X, expr.Y, expr.Span)
	case OpDiv: // in Storm the quotient of two ints is an int
		result.X, result.Y = doubleQuotient(expr.X, expr.Y)
	default:
		return expr
	}
	return &result
}

// parenthesizeLooserThanAnd puts an expression in parentheses unless it binds as tightly as & or more tightly.
func parenthesizeLooserThanAnd(expr Expr) Expr {
	if levelOf(expr) <= levelOr {
		return parenthesize(expr)
	}
	return expr
}

// doubleQuotient returns the operands of a division, at least one of them as a double. In Storm, the quotient of two ints would be an int.
func doubleQuotient(left, right Expr) (dividend, divisor Expr) {
	if isDouble(left) || isDouble(right) {
		return left, right
	}
	if lit, ok := right.(*IntLit); ok {
		return left, doubleOf(lit)
	}
	if lit, ok := left.(*IntLit); ok {
		return doubleOf(lit), right
	}
	return &Binary{Op: OpMul, X: &DoubleLit{Text: "1.0"}, Y: parenthesize(left)}, right
}

// doubleOf returns an integer literal as a literal of type double.
func doubleOf(lit *IntLit) Expr {
	return &DoubleLit{Text: strconv.Itoa(int(lit.Value)) + ".0", Span: lit.Span}
}

// isDouble reports whether an expression certainly has type double. The types of names are unknown.
func isDouble(expr Expr) bool {
	switch expr := expr.(type) {
	case *DoubleLit:
		return true
	case *Paren:
		return isDouble(expr.X)
	case *Unary:
		return isDouble(expr.X)
	case *Binary:
		return expr.Op == OpDiv || isDouble(expr.X) || isDouble(expr.Y)
	case *Call:
		switch expr.Func.Name {
		case "log":
			return true
		case "min", "max", "pow":
			return slices.ContainsFunc(expr.Args, isDouble)
		}
	}
	return false
}

// rewriteCall rewrites a function call. Storm lacks some functions of PRISM, and its round(x) differs from PRISM's for halves.
func (s *stormRewriter) rewriteCall(expr *Call) Expr {
	name, numArgs := expr.Func.Name, len(expr.Args)
	isMinOrMax := name == "min" || name == "max"
	switch {
	case !isCommonFunction(name):
		s.refuse(expr, "the function "+name)
	case isMinOrMax && numArgs == 1: // Storm needs two arguments
		return parenthesize(expr.Args[0])
	case name == "pow" && numArgs == 2:
		return s.rewritePow(expr, expr.Args[0], expr.Args[1], expr.Span)
	case name == "mod" && numArgs == 2:
		return s.rewriteMod(expr)
	case name == "round" && numArgs == 1: // PRISM rounds halves up: floor(x+0.5)
		shifted := &Binary{Op: OpAdd, X: parenthesize(expr.Args[0]), Y: &DoubleLit{Text: "0.5"}, Span: expr.Span}
		return &Call{Func: &Ident{Name: "floor"}, Args: []Expr{shifted}, Span: expr.Span}
	}
	return &Call{Func: expr.Func, Args: expr.Args, Span: expr.Span}
}

// maxFactors is the largest exponent for which a power is written as a product.
const maxFactors = 16

// rewritePow returns a power in Storm's form pow(base, exponent). If the base may be negative, rewritePow returns a product. It refuses a power
// that is not a small integer.
func (s *stormRewriter) rewritePow(expr Expr, base, exponent Expr, span Span) Expr {
	if s.isNotNegative(base) {
		return &Call{Func: &Ident{Name: "pow"}, Args: []Expr{base, exponent}, Span: span}
	}
	// Storm replaces a constant by its text without parentheses. So it reads x^2 with x = -2 as -2^2, which is -4.
	factors, ok := Unparen(exponent).(*IntLit)
	if !ok || factors.Value < 1 || factors.Value > maxFactors {
		s.refuse(expr, "a power whose base may be negative")
		return expr
	}
	product := parenthesize(base)
	for range factors.Value - 1 {
		product = &Binary{Op: OpMul, X: product, Y: parenthesize(base), Span: span}
	}
	return parenthesize(product)
}

// areNotNegative reports whether all expressions are known to be at least 0.
func (s *stormRewriter) areNotNegative(exprs []Expr) bool {
	for _, expr := range exprs {
		if !s.isNotNegative(expr) {
			return false
		}
	}
	return true
}

// isNotNegative reports whether an expression is known to be at least 0.
func (s *stormRewriter) isNotNegative(expr Expr) bool {
	switch expr := expr.(type) {
	case *Ident:
		return s.options.NotNegative != nil && s.options.NotNegative(expr.Name)
	case *IntLit:
		return expr.Value >= 0
	case *DoubleLit:
		return !strings.HasPrefix(expr.Text, "-")
	case *Paren:
		return s.isNotNegative(expr.X)
	case *Binary:
		keepsSign := expr.Op == OpAdd || expr.Op == OpMul || expr.Op == OpDiv
		return keepsSign && s.isNotNegative(expr.X) && s.isNotNegative(expr.Y)
	case *Call:
		switch expr.Func.Name {
		case "max":
			return slices.ContainsFunc(expr.Args, s.isNotNegative)
		case "min", "pow", "floor", "ceil":
			return s.areNotNegative(expr.Args)
		}
	}
	return false
}

// rewriteMod rewrites the remainder mod(x,y) as mod(mod(x,y)+y,y), because Storm's remainder of a negative number is negative.
func (s *stormRewriter) rewriteMod(expr *Call) Expr {
	dividend, divisor := expr.Args[0], expr.Args[1]
	if s.isNotNegative(dividend) {
		return expr
	}
	remainder := &Call{Func: expr.Func, Args: []Expr{dividend, divisor}, Span: expr.Span}
	positive := &Binary{Op: OpAdd, X: remainder, Y: parenthesize(divisor), Span: expr.Span}
	return &Call{Func: expr.Func, Args: []Expr{positive, divisor}, Span: expr.Span}
}

// rewriteConnective rewrites a binary operator on formulas. The formulas of Storm have only the connectives !, & and |.
func (s *stormRewriter) rewriteConnective(expr *Binary) Expr {
	left, right := parenthesize(expr.X), parenthesize(expr.Y)
	not := func(formula Expr) Expr { return &Unary{Op: OpNot, X: formula} }
	switch expr.Op {
	case OpAnd, OpOr:
		return &Binary{Op: expr.Op, X: left, Y: right, OpPos: expr.OpPos, Span: expr.Span}
	case OpImplies:
		return &Binary{Op: OpOr, X: not(left), Y: right, Span: expr.Span}
	case OpIff:
		bothHold := &Paren{X: &Binary{Op: OpAnd, X: left, Y: right, Span: expr.Span}}
		neitherHolds := &Paren{X: &Binary{Op: OpAnd, X: not(left), Y: not(right), Span: expr.Span}}
		return &Binary{Op: OpOr, X: bothHold, Y: neitherHolds, Span: expr.Span}
	}
	s.refuse(expr, "arithmetic and comparison on results")
	return expr
}

// rewriteQuoted replaces a label of the properties file by its definition.
func (s *stormRewriter) rewriteQuoted(expr *Quoted) Expr {
	if s.properties[expr.Name] {
		s.refuse(expr, "references to properties")
	}
	if definition, ok := s.labels[expr.Name]; ok {
		return definition
	}
	return expr
}

// Dual returns a formula whose negation is equivalent to this formula. It returns false unless this is a bounded G, W or R, which Storm lacks.
func (temporal *Temporal) Dual() (dual *Temporal, ok bool) {
	not := func(formula Expr) Expr { return &Unary{Op: OpNot, X: parenthesize(formula)} }
	dual = &Temporal{Op: Until, Bound: temporal.Bound, Span: temporal.Span}
	switch {
	case temporal.Op == Globally && temporal.Bound != nil: // G<=k b = !(F<=k !b)
		dual.Op, dual.Y = Future, parenthesize(not(temporal.Y))
	case temporal.Op == Release: // a R b = !(!a U !b)
		dual.X, dual.Y = parenthesize(not(temporal.X)), parenthesize(not(temporal.Y))
	case temporal.Op == WeakUntil && (temporal.Bound == nil || temporal.Bound.Low == nil): // a W b = !((a&!b) U (!a&!b))
		dual.X = &Paren{X: &Binary{Op: OpAnd, X: parenthesize(temporal.X), Y: not(temporal.Y)}}
		dual.Y = &Paren{X: &Binary{Op: OpAnd, X: not(temporal.X), Y: not(temporal.Y)}}
	default:
		return nil, false
	}
	return dual, true
}

// rewriteProb rewrites a P operator with a rewritten path formula. If the path formula is a negation, it bounds the complement: P>=p [ !u ] becomes
// P<=1-p [ u ].
func (s *stormRewriter) rewriteProb(expr *Prob) Expr {
	s.checkOperator(expr, expr.Modifier, expr.Threshold, expr.Filter)
	temporal, isNegated := s.temporalOf(expr.Path)
	if temporal == nil {
		return expr
	}
	s.refuseLateUntil(temporal)
	if !isNegated {
		return expr
	}
	if expr.Rel == OpNone {
		s.refuse(temporal, "the value of W, R or a bounded G")
		return expr
	}
	complement := *expr
	complement.Path, complement.Rel = temporal, complementRelation(expr.Rel)
	complement.Bound = &Binary{Op: OpSub, X: &IntLit{Value: 1}, Y: parenthesize(expr.Bound)}
	return &complement
}

// temporalOf returns the temporal operator of a path formula. If the path formula is the negation of a dual, it returns the dual, and isNegated is
// true.
func (s *stormRewriter) temporalOf(path Expr) (temporal *Temporal, isNegated bool) {
	path = Unparen(path)
	if negation, ok := path.(*Unary); ok && s.dualNegations[negation] {
		return Unparen(negation.X).(*Temporal), true
	}
	temporal, _ = path.(*Temporal)
	return temporal, false
}

// complementRelation returns the relation between 1-x and 1-y that is equivalent to this relation between x and y.
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

// refuseLateUntil refuses an until with a lower bound, because Storm ignores the bound if the left side holds in no state.
func (s *stormRewriter) refuseLateUntil(expr *Temporal) {
	hasLowerBound := expr.Bound != nil && expr.Bound.Low != nil
	if s.options.Guarded || expr.Op != Until || !hasLowerBound { // with the option Guarded, every left side holds in some state
		return
	}
	low, isInt := Unparen(expr.Bound.Low).(*IntLit)
	boundIsZero := isInt && low.Value == 0 && !expr.Bound.IsLowStrict
	left, isBool := Unparen(expr.X).(*BoolLit)
	leftIsTrue := isBool && left.Value
	if !boundIsZero && !leftIsTrue {
		s.refuse(expr, "an until with a lower bound inside another property")
	}
}

// rewriteCtlOperator rewrites an E or A operator as a P operator. It refuses formulas that finite paths do not decide, such as A [ F a ].
func (s *stormRewriter) rewriteCtlOperator(expr *Quant) Expr {
	temporal, isNegated := s.temporalOf(expr.Path)
	if temporal == nil && !s.logicOnly[expr.Path] {
		return parenthesize(expr.Path)
	}
	if temporal == nil || IsPath(temporal.X) || IsPath(temporal.Y) || temporal.Bound != nil {
		s.refuse(expr, "the operators E and A over formulas of LTL, or with a bound")
		return expr
	}
	// A formula that finite paths decide holds on some path if and only if some scheduler gives it a positive probability.
	negatedOperand := parenthesize(&Unary{Op: OpNot, X: parenthesize(temporal.Y)})
	switch {
	case !expr.All && !isNegated && temporal.Op != Globally: // E [ u ] is !(no path satisfies u)
		return parenthesize(&Unary{Op: OpNot, X: s.holdsOnNoPath(temporal), Span: expr.Span})
	case expr.All && isNegated: // A [ !u ]: no path satisfies u
		return s.holdsOnNoPath(temporal)
	case expr.All && temporal.Op == Next: // A [ X a ]: no path satisfies X !a
		return s.holdsOnNoPath(&Temporal{Op: Next, Y: negatedOperand, Span: temporal.Span})
	case expr.All && temporal.Op == Globally: // A [ G a ]: no path satisfies F !a
		return s.holdsOnNoPath(&Temporal{Op: Future, Y: negatedOperand, Span: temporal.Span})
	}
	s.refuse(expr, "the operators E and A over formulas that only infinite paths decide")
	return expr
}

// IsPath reports whether a formula is about paths: it has a temporal operator outside of property operators such as P.
func IsPath(expr Expr) bool {
	hasTemporal := false
	Inspect(expr, func(n Node) bool {
		switch n.(type) {
		case *Temporal:
			hasTemporal = true
		case *Prob, *Steady, *Reward, *Quant, *Filter:
			return false
		}
		return !hasTemporal
	})
	return hasTemporal
}

// holdsOnNoPath returns P<=0 [ formula ]: no path satisfies the formula under any scheduler.
func (s *stormRewriter) holdsOnNoPath(formula *Temporal) Expr {
	s.refuseLateUntil(formula)
	return &Prob{Threshold: Threshold{Rel: OpLe, Bound: &IntLit{}}, Path: formula, Span: formula.Span}
}

// rewriteTemporal rewrites a temporal operator with rewritten operands. Storm lacks W, R and a bounded G, so they become the negation of a dual
// formula.
func (s *stormRewriter) rewriteTemporal(expr *Temporal) Expr {
	result := *expr
	result.Y = parenthesize(expr.Y)
	if expr.X != nil {
		result.X = parenthesize(expr.X)
	}
	result.Bound = parenthesizeBound(expr.Bound)
	if dual, ok := result.Dual(); ok {
		negation := &Unary{Op: OpNot, X: parenthesize(dual), Span: expr.Span}
		s.dualNegations[negation] = true
		return negation
	}
	switch {
	case expr.Op == Next && expr.Bound != nil:
		s.refuse(expr, "bounds on X")
	case expr.Op == WeakUntil && len(expr.Costs) == 0:
		s.refuse(expr, "a weak until with a lower bound")
	}
	return &result
}

// parenthesizeBound returns a copy of a bound with parentheses around its numbers. It returns nil for nil.
func parenthesizeBound(original *TimeBound) *TimeBound {
	if original == nil {
		return nil
	}
	bound := *original
	if bound.Low != nil {
		bound.Low = parenthesize(bound.Low)
	}
	if bound.High != nil {
		bound.High = parenthesize(bound.High)
	}
	return &bound
}

// checkOperator reports an error for a P, S or R operator that Storm lacks: with a modifier, with a filter in braces, or with an extremum other
// than min and max.
func (s *stormRewriter) checkOperator(expr Expr, modifier *Ident, threshold Threshold, filter *OldFilter) {
	switch {
	case modifier != nil:
		s.refuse(expr, "the modifier "+modifier.Name)
	case threshold.Extremum > Max:
		s.refuse(expr, threshold.Extremum.String())
	case filter != nil:
		s.refuse(expr, "filters in braces")
	}
}

// rewriteReward rewrites an R operator. In Storm, its operand is an objective such as C<=k, or an F without a bound.
func (s *stormRewriter) rewriteReward(expr *Reward) Expr {
	s.checkOperator(expr, expr.Modifier, expr.Threshold, expr.Filter)
	_, isNamed := expr.Struct.(*Quoted)
	if expr.Struct != nil && !isNamed {
		s.refuse(expr, "reward structures by number")
	}
	if expr.DivisorStruct != nil {
		s.refuse(expr, "ratios of rewards")
	}
	result := *expr
	result.Path = Unparen(expr.Path)
	objective := result.Path
	if conditional, ok := objective.(*Conditional); ok {
		objective = conditional.X
	}
	_, isObjective := objective.(*RewardPath)
	future, isTemporal := objective.(*Temporal)
	isReachability := isTemporal && future.Op == Future && future.Bound == nil && !IsPath(future.Y)
	if !isObjective && !isReachability {
		s.refuse(objective, "rewards until a formula other than F holds")
	}
	return &result
}

// rewriteStrategy rewrites a coalition operator. In Storm, its operand must be a P or R operator.
func (s *stormRewriter) rewriteStrategy(expr *Strategy) Expr {
	if expr.IsBox || expr.All {
		s.refuse(expr, "coalitions other than <<players>>")
	}
	result := *expr
	result.X = Unparen(expr.X)
	switch result.X.(type) {
	case *Prob, *Reward:
	default:
		s.refuse(expr, "coalitions for other operators than P and R")
	}
	return &result
}

// rewriteProperty rewrites a property.
func (s *stormRewriter) rewriteProperty(property *Property) *Property {
	result := *property
	result.Name, result.X = s.rewriteName(property.Name), s.rewriteTopLevel(property.X)
	return &result
}

// rewriteTopLevel converts the whole expression of a property to Storm's language. Storm accepts filters, multi(...) and quantile(...) only there, not inside
// of other expressions.
func (s *stormRewriter) rewriteTopLevel(expr Expr) Expr {
	switch operator := Unparen(expr).(type) {
	case *Filter:
		return s.rewriteFilter(operator)
	case *Call:
		isMulti := operator.Func.Name == "multi" || operator.IsLexicographic
		isQuantile := operator.Bounds != nil
		switch {
		case isMulti:
			return s.rewriteMulti(operator)
		case isQuantile:
			return &Call{Func: operator.Func, Bounds: operator.Bounds, Args: []Expr{s.rewriteExpr(operator.Args[0])}, Span: operator.Span}
		}
	}
	return s.rewriteExpr(expr)
}

// rewriteFilter rewrites a filter. In Storm, a filter must name its states.
func (s *stormRewriter) rewriteFilter(expr *Filter) Expr {
	result := &Filter{Op: expr.Op, OpPos: expr.OpPos, X: s.rewriteExpr(expr.X), States: s.rewriteExpr(expr.States), Span: expr.Span}
	switch expr.Op {
	case "min", "max", "sum", "avg", "count", "forall", "exists", "argmin", "argmax", "values":
	case "+":
		result.Op = "sum"
	case "&":
		result.Op = "forall"
	case "|":
		result.Op = "exists"
	default:
		s.refuse(expr, "filter type "+expr.Op)
	}
	if result.States == nil {
		result.States = &BoolLit{Value: true}
	}
	return result
}

// rewriteMulti rewrites multi(...) or multilex(...). In Storm, the objectives must be P, R or S operators.
func (s *stormRewriter) rewriteMulti(expr *Call) Expr {
	result := &Call{Func: expr.Func, IsLexicographic: expr.IsLexicographic, Span: expr.Span}
	for _, arg := range expr.Args {
		objective := Unparen(s.rewriteExpr(arg))
		switch objective.(type) {
		case *Prob, *Reward, *Steady:
		default:
			s.refuse(arg, "objectives other than P, R and S")
		}
		result.Args = append(result.Args, objective)
	}
	return result
}
