package syntax

import (
	"fmt"
	"strconv"
)

// exprContext says which operators an expression may use. The zero value stands for expressions in a model.
type exprContext uint8

const (
	modelContext  exprContext = 0
	allowProperty exprContext = 1 << (iota - 1) // P, S, R, E, A, filters and labels
	allowTemporal                               // temporal operators
	insideBound                                 // the bound of a temporal operator
)

// level is the binding strength of an operator, loosest first; see the
// reference, section 1.3.
type level uint8

const (
	levelUntil level = iota + 1
	levelTemporal
	levelCond
	levelImplies
	levelIff
	levelOr
	levelAnd
	levelNot
	levelEq
	levelRel
	levelAdd
	levelMul
	levelPow
	levelNeg
	levelBasic
)

// level returns how tightly an operator binds.
func (op Op) level() level {
	switch op {
	case OpImplies:
		return levelImplies
	case OpIff:
		return levelIff
	case OpOr:
		return levelOr
	case OpAnd:
		return levelAnd
	case OpNot:
		return levelNot
	case OpEq, OpNe:
		return levelEq
	case OpLt, OpLe, OpGt, OpGe:
		return levelRel
	case OpAdd, OpSub:
		return levelAdd
	case OpMul, OpDiv:
		return levelMul
	case OpPow:
		return levelPow
	case OpNeg:
		return levelNeg
	}
	return levelBasic
}

// infixOp returns the infix operator of a token, or OpNone.
func infixOp(k kind) Op {
	switch k {
	case tokImplies:
		return OpImplies
	case tokIff:
		return OpIff
	case tokOr:
		return OpOr
	case tokAnd:
		return OpAnd
	case tokEqual:
		return OpEq
	case tokNotEqual:
		return OpNe
	case tokPlus:
		return OpAdd
	case tokMinus:
		return OpSub
	case tokTimes:
		return OpMul
	case tokDivide:
		return OpDiv
	case tokPower:
		return OpPow
	}
	return relationOp(k)
}

// relationOp returns the order relation of a token (<, <=, > or >=), or OpNone.
func relationOp(k kind) Op {
	switch k {
	case tokLess:
		return OpLt
	case tokLessEqual:
		return OpLe
	case tokGreater:
		return OpGt
	case tokGreaterEqual:
		return OpGe
	}
	return OpNone
}

// mayUse reports whether this group of operators may occur in the context. As in PRISM, the look-ahead allows all operators.
func (p *parser) mayUse(context, operators exprContext) bool {
	return context&operators != 0 || p.lookingAhead
}

// badExpr returns a placeholder for an expression with a syntax error.
func (p *parser) badExpr() Expr { return &BoolLit{Span: p.span(p.tok.pos)} }

// expr parses an expression of any precedence level.
func (p *parser) expr(context exprContext) Expr {
	if !p.enterNesting() {
		return p.badExpr()
	}
	expr := p.until(context)
	p.depth--
	return expr
}

// until parses an expression with an optional binary temporal operator U, W or R. These operators do not associate, so a U b U c is an error.
func (p *parser) until(context exprContext) Expr {
	start := p.tok.pos
	left := p.temporal(context)
	var op TemporalOp
	p.splitOperator(kwU)
	switch p.tok.kind {
	case kwU:
		op = Until
	case kwW:
		op = WeakUntil
	case kwR:
		op = Release
	default:
		return left
	}
	isBound := context&insideBound != 0
	switch {
	case p.lookingAhead && isBound: // the R may also start an operator behind the bound
		before := p.saveState()
		if right := p.untilOperand(context, start, op, left); !p.failed {
			return right
		}
		p.restoreState(before)
		return left
	case p.mayUse(context, allowTemporal):
		return p.untilOperand(context, start, op, left)
	case isBound:
		p.unexpectedHint("the operand of the temporal operator", "a bound ends here, and an R operator behind it needs parentheses")
	}
	return left
}

// untilOperand parses a binary temporal operator with its bound and its right operand. left is the left operand.
func (p *parser) untilOperand(context exprContext, start Pos, op TemporalOp, left Expr) Expr {
	treeHeight := p.treeHeight
	p.advance()
	bound, costs := p.bounds()
	treeHeight = max(treeHeight, p.treeHeight)
	right := p.temporal(context)
	p.addTreeLevel(treeHeight)
	return &Temporal{Op: op, X: left, Y: right, Bound: bound, Costs: costs, Span: p.span(start)}
}

// temporal parses an expression with any number of prefix operators X, F and G.
func (p *parser) temporal(context exprContext) Expr {
	var op TemporalOp
	switch k := p.tok.kind; {
	case k == kwX && p.mayUse(context, allowTemporal):
		op = Next
	case k == kwF && p.mayUse(context, allowTemporal), p.splitFuture(context):
		op = Future
	case k == kwG && p.mayUse(context, allowTemporal):
		op = Globally
	default:
		return p.cond(context)
	}
	start := p.tok.pos
	p.advance()
	p.treeHeight = 0
	bound, costs := p.bounds()
	boundHeight := p.treeHeight
	if !p.enterNesting() {
		return p.badExpr()
	}
	operand := p.temporal(context)
	p.depth--
	p.addTreeLevel(boundHeight)
	return &Temporal{Op: op, Y: operand, Bound: bound, Costs: costs, Span: p.span(start)}
}

// timeBound parses the bound of a temporal operator: <=k, <k, >=k, >k, =k or [low,high]. It returns nil if there is none.
func (p *parser) timeBound() *TimeBound {
	start := p.tok.pos
	bound := &TimeBound{}
	switch k := p.tok.kind; k {
	case tokLess, tokLessEqual:
		p.advance()
		bound.High, bound.HighStrict = p.boundExpr(), k == tokLess
	case tokGreater, tokGreaterEqual:
		p.advance()
		bound.Low, bound.LowStrict = p.boundExpr(), k == tokGreater
	case tokEqual:
		p.advance()
		bound.Low, bound.Equal = p.expr(insideBound), true
		bound.High = bound.Low
	case tokLeftBracket:
		p.advance()
		bound.Low = p.expr(insideBound)
		treeHeight := p.treeHeight
		p.expect(tokComma)
		bound.High = p.expr(insideBound)
		p.treeHeight = max(p.treeHeight, treeHeight)
		p.expect(tokRightBracket)
	default:
		return nil
	}
	bound.Span = p.span(start)
	return bound
}

// boundExpr parses the number of a one-sided bound. As in PRISM, a name before a parenthesis is the whole bound: in F<=t (b) the bound is t.
func (p *parser) boundExpr() Expr {
	if p.tok.kind == tokIdent && (p.lookingAhead || p.peek() == tokLeftParen) {
		p.treeHeight = 1
		return p.ident("")
	}
	return p.expr(insideBound)
}

// cond parses a conditional c ? t : e or an expression that binds tighter. Only e may be a conditional without parentheses.
func (p *parser) cond(context exprContext) Expr {
	start := p.tok.pos
	condition := p.binary(context, levelImplies)
	if !p.accept(tokQuestion) {
		return condition
	}
	treeHeight := p.treeHeight
	then := p.binary(context, levelImplies)
	treeHeight = max(treeHeight, p.treeHeight)
	if p.tok.kind == tokQuestion {
		p.unexpectedHint(`":"`, "a conditional that is not in the last branch needs parentheses: a ? (b ? c : d) : e")
	}
	p.expect(tokColon)
	if !p.enterNesting() {
		return condition
	}
	otherwise := p.cond(context)
	p.depth--
	p.addTreeLevel(treeHeight)
	return &Cond{C: condition, T: then, E: otherwise, Span: p.span(start)}
}

// binary parses infix operators that bind at least as tightly as minLevel, by precedence climbing.
func (p *parser) binary(context exprContext, minLevel level) Expr {
	start := p.tok.pos
	var left Expr
	if p.tok.kind == tokNot && minLevel <= levelNot {
		left = p.not(context)
	} else {
		left = p.neg(context)
	}
	for {
		op := infixOp(p.tok.kind)
		if op == OpNone || op.level() < minLevel || p.conditionAhead() {
			return left
		}
		opPos, leftHeight := p.tok.pos, p.treeHeight
		p.advance()
		right := p.rightOperand(context, op)
		p.addTreeLevel(leftHeight)
		left = &Binary{Op: op, X: left, Y: right, OpPos: opPos, Span: p.span(start)}
	}
}

// rightOperand parses the right operand of an infix operator. The operators => and ^ associate to the right.
func (p *parser) rightOperand(context exprContext, op Op) Expr {
	if op != OpImplies && op != OpPow {
		return p.binary(context, op.level()+1)
	}
	if !p.enterNesting() {
		return p.badExpr()
	}
	right := p.binary(context, op.level())
	p.depth--
	return right
}

// not parses a negation !expr. Its operand includes comparisons.
func (p *parser) not(context exprContext) Expr {
	start := p.tok.pos
	if !p.enterNesting() {
		return p.badExpr()
	}
	p.advance()
	expr := p.binary(context, levelNot)
	p.depth--
	p.addTreeLevel(0)
	return &Unary{Op: OpNot, X: expr, Span: p.span(start)}
}

// neg parses -expr or a primary expression.
func (p *parser) neg(context exprContext) Expr {
	if p.tok.kind != tokMinus {
		return p.primary(context)
	}
	start := p.tok.pos
	if !p.enterNesting() {
		return p.badExpr()
	}
	p.advance()
	expr := p.neg(context)
	p.depth--
	p.addTreeLevel(0)
	return &Unary{Op: OpNeg, X: expr, Span: p.span(start)}
}

// primary parses a literal, name, function call, expression in parentheses or property operator.
func (p *parser) primary(context exprContext) Expr {
	p.treeHeight = 1
	if name := p.stormOperator(); name != "" && p.mayUse(context, allowProperty) {
		return p.stormOperation(name)
	}
	switch p.tok.kind {
	case tokInt:
		return p.intLit()
	case tokDouble:
		return p.doubleLit()
	case kwTrue, kwFalse:
		return p.boolLit()
	case tokIdent:
		return p.nameOrCall(context)
	case kwMin, kwMax:
		return p.call(context, p.funcName())
	case kwFunc:
		return p.funcCall(context)
	case tokLeftParen:
		return p.paren(context)
	}
	isOperator := startsPropertyOperator(p.tok.kind)
	switch {
	case isOperator && p.mayUse(context, allowProperty):
		return p.propertyOperator(context)
	case isOperator && p.tok.kind == tokQuote:
		p.unexpectedHint("an expression without labels and property operators",
			"a label cannot be used in definitions of the model, but a formula with the same expression can")
	case isOperator:
		p.unexpected("an expression without labels and property operators")
	default:
		p.unexpected("an expression")
	}
	return p.badExpr()
}

// doubleLit parses a literal of type double. The tree keeps its text, so 0.1 is exactly 1/10.
func (p *parser) doubleLit() Expr {
	literal := p.tok
	p.advance()
	return &DoubleLit{Text: p.text(literal), Span: p.span(literal.pos)}
}

// boolLit parses true or false.
func (p *parser) boolLit() Expr {
	literal := p.tok
	p.advance()
	return &BoolLit{Value: literal.kind == kwTrue, Span: p.span(literal.pos)}
}

// nameOrCall parses a name or, if a parenthesis follows, a function call or one of Storm's predicates.
func (p *parser) nameOrCall(context exprContext) Expr {
	p.noteMisspelledOperator(context)
	ident := p.ident("")
	if p.tok.kind != tokLeftParen {
		return ident
	}
	if relation, ok := predicate(ident.Name); ok && p.dialect == Storm {
		return p.predicateOperator(context, ident, relation)
	}
	return p.call(context, ident)
}

// paren parses an expression in parentheses. The tree has a node for the parentheses, so printing keeps them.
func (p *parser) paren(context exprContext) Expr {
	start := p.tok.pos
	p.expect(tokLeftParen)
	expr := p.expr(context)
	p.expect(tokRightParen)
	p.addTreeLevel(0)
	return &Paren{X: expr, Span: p.span(start)}
}

// intLit parses an integer literal of at most 2^31-1.
func (p *parser) intLit() Expr {
	tok := p.tok
	value, err := strconv.ParseInt(string(p.scanner.src[tok.pos.Offset:tok.end]), 10, 32)
	if err != nil && !p.lookingAhead {
		pos := tok.pos
		if p.prescanned { // PRISM has read the next token, and reports its position
			ahead := p.scanner
			pos = p.errorPos(ahead.next())
		}
		const format = "found %s, want an integer of at most 2147483647; a time can be a double such as 1e10, " +
			"and a step bound of this size can be omitted"
		p.fail(pos, fmt.Sprintf(format, describe(p.scanner.src, tok)))
		return p.badExpr()
	}
	p.advance()
	return &IntLit{Value: int32(value), Span: p.span(tok.pos)}
}

// funcName parses the name of a function; min and max are keywords.
func (p *parser) funcName() *Ident {
	ident := &Ident{Name: p.text(p.tok), Span: Span{p.tok.pos, p.tok.endPos()}}
	if !p.accept(kwMin) && !p.accept(kwMax) && !p.accept(tokIdent) {
		p.unexpected("a function name")
	}
	return ident
}

// call parses the arguments of a function. multi(...), multilex(...) and quantile(...) count as functions.
func (p *parser) call(context exprContext, name *Ident) Expr {
	p.expect(tokLeftParen)
	stormProperty := p.dialect == Storm && p.inProperties
	isLexicographic := name.Name == "multilex" && stormProperty
	call := &Call{Func: name, Lexicographic: isLexicographic}
	wasInMulti, wasInQuantile := p.inMulti, p.inQuantile
	p.inMulti = name.Name == "multi" || isLexicographic
	if name.Name == "quantile" && stormProperty {
		call.Bounds = p.boundVariables()
		p.inQuantile = true
	}
	call.Args = p.arguments(context)
	p.inMulti, p.inQuantile = wasInMulti, wasInQuantile
	p.expect(tokRightParen)
	call.Span = p.span(name.Start)
	return call
}

// funcCall parses the old form of a function call, func(name, arguments).
func (p *parser) funcCall(context exprContext) Expr {
	start := p.tok.pos
	p.advance()
	p.expect(tokLeftParen)
	call := &Call{Func: p.funcName(), Old: true}
	p.expect(tokComma)
	call.Args = p.arguments(context)
	p.expect(tokRightParen)
	call.Span = p.span(start)
	return call
}

// arguments parses one or more expressions with commas between them.
func (p *parser) arguments(context exprContext) []Expr {
	args := []Expr{p.expr(context)}
	treeHeight := p.treeHeight
	for p.accept(tokComma) {
		args = append(args, p.expr(context))
		treeHeight = max(treeHeight, p.treeHeight)
	}
	p.addTreeLevel(treeHeight)
	return args
}
