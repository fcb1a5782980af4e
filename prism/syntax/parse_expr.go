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
func infixOp(tokenKind kind) Op {
	switch tokenKind {
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
	return relationOp(tokenKind)
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
	return context&operators != 0 || p.isLookingAhead
}

// badExpr returns a placeholder for an expression with a syntax error.
func (p *parser) badExpr() Expr { return &BoolLit{Span: p.span(p.token.pos)} }

// parseExpr parses an expression of any precedence level.
func (p *parser) parseExpr(context exprContext) Expr {
	if !p.enterNesting() {
		return p.badExpr()
	}
	expr := p.parseUntil(context)
	p.depth--
	return expr
}

// binaryTemporalOp returns the temporal operator U, W or R of a token. ok is false for other tokens.
func binaryTemporalOp(k kind) (op TemporalOp, ok bool) {
	switch k {
	case kwU:
		return Until, true
	case kwW:
		return WeakUntil, true
	case kwR:
		return Release, true
	}
	return 0, false
}

// parseUntil parses an expression with at most one of the binary temporal operators U, W and R. They do not associate: a U b U c is an error.
func (p *parser) parseUntil(context exprContext) Expr {
	start := p.token.pos
	left := p.parseTemporal(context)
	if p.mayJoinOperator() {
		p.splitOperator(kwU)
	}
	op, isTemporal := binaryTemporalOp(p.token.kind)
	if !isTemporal {
		return left
	}
	isBound := context&insideBound != 0
	switch {
	case p.isLookingAhead && isBound: // the R may also start an operator behind the bound
		return p.tryUntilOperand(context, start, op, left)
	case p.mayUse(context, allowTemporal):
		return p.parseUntilOperand(context, start, op, left)
	case isBound:
		p.unexpectedHint("the operand of the temporal operator", "a bound ends here, and an R operator behind it needs parentheses")
	}
	return left
}

// tryUntilOperand parses an operator and its right operand, like parseUntilOperand. If there is a syntax error, it returns left and leaves the parser before the
// operator.
func (p *parser) tryUntilOperand(context exprContext, start Pos, op TemporalOp, left Expr) Expr {
	before := p.saveState()
	if expr := p.parseUntilOperand(context, start, op, left); !p.hasFailed {
		return expr
	}
	p.restoreState(before)
	return left
}

// parseUntilOperand parses a binary temporal operator with its bound and its right operand. left is the left operand.
func (p *parser) parseUntilOperand(context exprContext, start Pos, op TemporalOp, left Expr) Expr {
	treeHeight := p.treeHeight
	p.advance()
	bound, costs := p.parseBounds()
	treeHeight = max(treeHeight, p.treeHeight)
	right := p.parseTemporal(context)
	p.addTreeLevel(treeHeight)
	return &Temporal{Op: op, X: left, Y: right, Bound: bound, Costs: costs, Span: p.span(start)}
}

// parseTemporal parses an expression with any number of prefix operators X, F and G.
func (p *parser) parseTemporal(context exprContext) Expr {
	var op TemporalOp
	switch tokenKind := p.token.kind; {
	case tokenKind == kwX && p.mayUse(context, allowTemporal):
		op = Next
	case tokenKind == kwF && p.mayUse(context, allowTemporal), p.mayJoinOperator() && p.splitFuture(context):
		op = Future
	case tokenKind == kwG && p.mayUse(context, allowTemporal):
		op = Globally
	default:
		return p.parseCond(context)
	}
	start := p.token.pos
	p.advance()
	p.treeHeight = 0 // parseBounds changes it if there is a bound
	bound, costs := p.parseBounds()
	boundHeight := p.treeHeight
	if !p.enterNesting() {
		return p.badExpr()
	}
	operand := p.parseTemporal(context)
	p.depth--
	p.addTreeLevel(boundHeight)
	return &Temporal{Op: op, Y: operand, Bound: bound, Costs: costs, Span: p.span(start)}
}

// parseTimeBound parses the bound of a temporal operator: <=k, <k, >=k, >k, =k or [low,high]. It returns nil if there is none.
func (p *parser) parseTimeBound() *TimeBound {
	start := p.token.pos
	bound := &TimeBound{}
	switch tokenKind := p.token.kind; tokenKind {
	case tokLess, tokLessEqual:
		p.advance()
		bound.High, bound.IsHighStrict = p.parseBoundExpr(), tokenKind == tokLess
	case tokGreater, tokGreaterEqual:
		p.advance()
		bound.Low, bound.IsLowStrict = p.parseBoundExpr(), tokenKind == tokGreater
	case tokEqual:
		p.advance()
		bound.Low, bound.Equal = p.parseExpr(insideBound), true
		bound.High = bound.Low
	case tokLeftBracket:
		p.advance()
		bound.Low = p.parseExpr(insideBound)
		treeHeight := p.treeHeight
		p.expect(tokComma)
		bound.High = p.parseExpr(insideBound)
		p.treeHeight = max(p.treeHeight, treeHeight)
		p.expect(tokRightBracket)
	default:
		return nil
	}
	bound.Span = p.span(start)
	return bound
}

// parseBoundExpr parses the number of a one-sided bound. As in PRISM, a name before a parenthesis is the whole bound: in F<=t (b) the bound is t.
func (p *parser) parseBoundExpr() Expr {
	if p.token.kind == tokIdent && (p.isLookingAhead || p.peek() == tokLeftParen) {
		p.treeHeight = 1
		return p.parseIdent("")
	}
	return p.parseExpr(insideBound)
}

// parseCond parses a conditional c ? t : e or an expression that binds tighter. Only e may be a conditional without parentheses.
func (p *parser) parseCond(context exprContext) Expr {
	start := p.token.pos
	condition := p.parseBinary(context, levelImplies)
	if !p.accept(tokQuestion) {
		return condition
	}
	treeHeight := p.treeHeight
	thenExpr := p.parseBinary(context, levelImplies)
	treeHeight = max(treeHeight, p.treeHeight)
	if p.token.kind == tokQuestion {
		p.unexpectedHint(`":"`, "a conditional that is not in the last branch needs parentheses: a ? (b ? c : d) : e")
	}
	p.expect(tokColon)
	if !p.enterNesting() {
		return condition
	}
	elseExpr := p.parseCond(context)
	p.depth--
	p.addTreeLevel(treeHeight)
	return &Cond{Condition: condition, Then: thenExpr, Else: elseExpr, Span: p.span(start)}
}

// parseBinary parses infix operators that bind at least as tightly as minLevel, by precedence climbing.
func (p *parser) parseBinary(context exprContext, minLevel level) Expr {
	start := p.token.pos
	var left Expr
	if p.token.kind == tokNot && minLevel <= levelNot {
		left = p.parseNot(context)
	} else {
		left = p.parseNeg(context)
	}
	for {
		op := infixOp(p.token.kind)
		if op == OpNone || op.level() < minLevel || p.conditionAhead() {
			return left
		}
		opPos, leftHeight := p.token.pos, p.treeHeight
		p.advance()
		right := p.parseRightOperand(context, op)
		p.addTreeLevel(leftHeight)
		left = &Binary{Op: op, X: left, Y: right, OpPos: opPos, Span: p.span(start)}
	}
}

// parseRightOperand parses the right operand of an infix operator. The operators => and ^ associate to the right.
func (p *parser) parseRightOperand(context exprContext, op Op) Expr {
	if op != OpImplies && op != OpPow {
		return p.parseBinary(context, op.level()+1)
	}
	if !p.enterNesting() {
		return p.badExpr()
	}
	right := p.parseBinary(context, op.level())
	p.depth--
	return right
}

// parseNot parses a negation !expr. Its operand includes comparisons.
func (p *parser) parseNot(context exprContext) Expr {
	start := p.token.pos
	if !p.enterNesting() {
		return p.badExpr()
	}
	p.advance()
	expr := p.parseBinary(context, levelNot)
	p.depth--
	p.addTreeLevel(0)
	return &Unary{Op: OpNot, X: expr, Span: p.span(start)}
}

// parseNeg parses -expr or a primary expression.
func (p *parser) parseNeg(context exprContext) Expr {
	if p.token.kind != tokMinus {
		return p.parsePrimary(context)
	}
	start := p.token.pos
	if !p.enterNesting() {
		return p.badExpr()
	}
	p.advance()
	expr := p.parseNeg(context)
	p.depth--
	p.addTreeLevel(0)
	return &Unary{Op: OpNeg, X: expr, Span: p.span(start)}
}

// parsePrimary parses a literal, name, function call, expression in parentheses or property operator.
func (p *parser) parsePrimary(context exprContext) Expr {
	p.treeHeight = 1
	if name := p.stormOperator(); name != "" && p.mayUse(context, allowProperty) {
		return p.parseStormOperation(name)
	}
	switch p.token.kind {
	case tokInt:
		return p.parseIntLit()
	case tokDouble:
		return p.parseDoubleLit()
	case kwTrue, kwFalse:
		return p.parseBoolLit()
	case tokIdent:
		return p.parseNameOrCall(context)
	case kwMin, kwMax:
		return p.parseCall(context, p.parseFuncName())
	case kwFunc:
		return p.parseFuncCall(context)
	case tokLeftParen:
		return p.parseParen(context)
	}
	isOperator := startsPropertyOperator(p.token.kind)
	switch {
	case isOperator && p.mayUse(context, allowProperty):
		return p.parsePropertyOperator(context)
	case isOperator && p.token.kind == tokQuote:
		p.unexpectedHint("an expression without labels and property operators",
			"a label cannot be used in definitions of the model, but a formula with the same expression can")
	case isOperator:
		p.unexpected("an expression without labels and property operators")
	default:
		p.unexpected("an expression")
	}
	return p.badExpr()
}

// parseDoubleLit parses a literal of type double. The tree keeps its text, so 0.1 is exactly 1/10.
func (p *parser) parseDoubleLit() Expr {
	literal := p.token
	p.advance()
	return &DoubleLit{Text: p.tokenText(literal), Span: p.span(literal.pos)}
}

// parseBoolLit parses true or false.
func (p *parser) parseBoolLit() Expr {
	literal := p.token
	p.advance()
	return &BoolLit{Value: literal.kind == kwTrue, Span: p.span(literal.pos)}
}

// parseNameOrCall parses a name or, if a parenthesis follows, a function call or one of Storm's predicates.
func (p *parser) parseNameOrCall(context exprContext) Expr {
	p.noteMisspelledOperator(context)
	ident := p.parseIdent("")
	if p.token.kind != tokLeftParen {
		return ident
	}
	if relation, ok := predicateRelation(ident.Name); ok && p.dialect == Storm {
		return p.parsePredicateOperator(context, ident, relation)
	}
	return p.parseCall(context, ident)
}

// parseParen parses an expression in parentheses. The tree has a node for the parentheses, so printing keeps them.
func (p *parser) parseParen(context exprContext) Expr {
	start := p.token.pos
	p.expect(tokLeftParen)
	expr := p.parseExpr(context)
	p.expect(tokRightParen)
	p.addTreeLevel(0)
	return &Paren{X: expr, Span: p.span(start)}
}

// parseIntLit parses an integer literal of at most 2^31-1.
func (p *parser) parseIntLit() Expr {
	token := p.token
	value, err := strconv.ParseInt(string(p.scanner.src[token.pos.Offset:token.end]), 10, 32)
	if err != nil && !p.isLookingAhead {
		pos := token.pos
		if p.isPrescanned { // PRISM has read the next token, and reports its position
			ahead := p.scanner
			pos = p.errorPos(ahead.next())
		}
		const format = "found %s, want an integer of at most 2147483647; a time can be a double such as 1e10, " +
			"and a step bound of this size can be omitted"
		p.fail(pos, fmt.Sprintf(format, describe(p.scanner.src, token)))
		return p.badExpr()
	}
	p.advance()
	return &IntLit{Value: int32(value), Span: p.span(token.pos)}
}

// parseFuncName parses the name of a function; min and max are keywords.
func (p *parser) parseFuncName() *Ident {
	ident := &Ident{Name: p.tokenText(p.token), Span: Span{p.token.pos, p.token.endPos()}}
	if !p.accept(kwMin) && !p.accept(kwMax) && !p.accept(tokIdent) {
		p.unexpected("a function name")
	}
	return ident
}

// parseCall parses the arguments of a function. multi(...), multilex(...) and quantile(...) count as functions.
func (p *parser) parseCall(context exprContext, name *Ident) Expr {
	p.expect(tokLeftParen)
	stormProperty := p.dialect == Storm && p.isProperties
	isLexicographic := name.Name == "multilex" && stormProperty
	call := &Call{Func: name, IsLexicographic: isLexicographic}
	wasInMulti, wasInQuantile := p.isInMulti, p.isInQuantile
	p.isInMulti = name.Name == "multi" || isLexicographic
	if name.Name == "quantile" && stormProperty {
		call.Bounds = p.parseBoundVariables()
		p.isInQuantile = true
	}
	call.Args = p.parseArguments(context)
	p.isInMulti, p.isInQuantile = wasInMulti, wasInQuantile
	p.expect(tokRightParen)
	call.Span = p.span(name.Start)
	return call
}

// parseFuncCall parses the old form of a function call, func(name, arguments).
func (p *parser) parseFuncCall(context exprContext) Expr {
	start := p.token.pos
	p.advance()
	p.expect(tokLeftParen)
	call := &Call{Func: p.parseFuncName(), Old: true}
	p.expect(tokComma)
	call.Args = p.parseArguments(context)
	p.expect(tokRightParen)
	call.Span = p.span(start)
	return call
}

// parseArguments parses one or more expressions with commas between them.
func (p *parser) parseArguments(context exprContext) []Expr {
	args := []Expr{p.parseExpr(context)}
	treeHeight := p.treeHeight
	for p.accept(tokComma) {
		args = append(args, p.parseExpr(context))
		treeHeight = max(treeHeight, p.treeHeight)
	}
	p.addTreeLevel(treeHeight)
	return args
}
