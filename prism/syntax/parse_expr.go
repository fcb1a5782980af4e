package syntax

import (
	"fmt"
	"strconv"
)

// exprContext says which operators an expression may use. The zero value is the context of
// expressions in a model.
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

// infixOp returns the infix operator that a token stands for, or OpNone.
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

// relationOp returns the order relation (<, <=, >, >=) that a token stands for, or OpNone.
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

// mayUse reports whether an operator of the given group may occur in the context. While the parser
// looks ahead, all may, as in PRISM.
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
	resolved := p.until(context)
	p.depth--
	return resolved
}

// until parses an expression whose outermost operator may be a binary temporal one, U, W or R,
// which do not associate.
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
	switch {
	case p.lookingAhead && context&insideBound != 0: // R may start the operand instead
		before := p.saveState()
		if right := p.untilOperand(context, start, op, left); !p.failed {
			return right
		}
		p.restoreState(before)
		return left
	case p.mayUse(context, allowTemporal):
		return p.untilOperand(context, start, op, left)
	case context&insideBound != 0:
		p.unexpectedHint("the operand of the temporal operator", "a bound ends here, and an R operator behind it needs parentheses")
	}
	return left
}

// untilOperand parses the temporal operator at the current token, its bound and its right operand,
// and returns the formula that joins the left operand with it.
func (p *parser) untilOperand(context exprContext, start Pos, op TemporalOp, left Expr) Expr {
	height := p.height
	p.advance()
	bound, costs := p.bounds()
	height = max(height, p.height)
	right := p.temporal(context)
	p.growHeight(height)
	return &Temporal{Op: op, X: left, Y: right, Bound: bound, Costs: costs, Span: p.span(start)}
}

// temporal parses an expression that may start with the prefix operators X, F and G.
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
	p.height = 0
	bound, costs := p.bounds()
	height := p.height
	if !p.enterNesting() {
		return p.badExpr()
	}
	right := p.temporal(context)
	p.depth--
	p.growHeight(height)
	return &Temporal{Op: op, Y: right, Bound: bound, Costs: costs, Span: p.span(start)}
}

// timeBound parses the bound of a temporal operator: <=k, <k, >=k, >k, =k or [low,high]. It returns
// nil if there is none.
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
		height := p.height
		p.expect(tokComma)
		bound.High = p.expr(insideBound)
		p.height = max(p.height, height)
		p.expect(tokRightBracket)
	default:
		return nil
	}
	bound.Span = p.span(start)
	return bound
}

// boundExpr parses the number in a one-sided bound. An identifier followed by a parenthesis is the
// whole bound, not a function call: in F<=t (b) the bound is t.
func (p *parser) boundExpr() Expr {
	if p.tok.kind == tokIdent && (p.lookingAhead || p.peek() == tokLeftParen) {
		p.height = 1
		return p.ident("")
	}
	return p.expr(insideBound)
}

// cond parses a conditional c ? t : e or an expression that binds tighter. Only the last branch may
// be a conditional itself.
func (p *parser) cond(context exprContext) Expr {
	start := p.tok.pos
	condition := p.binary(context, levelImplies)
	if !p.accept(tokQuestion) {
		return condition
	}
	height := p.height
	then := p.binary(context, levelImplies)
	height = max(height, p.height)
	if p.tok.kind == tokQuestion {
		p.unexpectedHint(`":"`, "a conditional that is not in the last branch needs parentheses: a ? (b ? c : d) : e")
	}
	p.expect(tokColon)
	if !p.enterNesting() {
		return condition
	}
	otherwise := p.cond(context)
	p.depth--
	p.growHeight(height)
	return &Cond{C: condition, T: then, E: otherwise, Span: p.span(start)}
}

// binary parses infix operators that bind at least as tightly as minLevel (precedence climbing).
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
		opPos, height := p.tok.pos, p.height
		p.advance()
		right := p.rightOperand(context, op)
		p.growHeight(height)
		left = &Binary{Op: op, X: left, Y: right, OpPos: opPos, Span: p.span(start)}
	}
}

// rightOperand parses the right operand of an infix operator; => and ^ associate to the right.
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

// not parses a negation !expr, whose operand extends over comparisons.
func (p *parser) not(context exprContext) Expr {
	start := p.tok.pos
	if !p.enterNesting() {
		return p.badExpr()
	}
	p.advance()
	expr := p.binary(context, levelNot)
	p.depth--
	p.growHeight(0)
	return &Unary{Op: OpNot, X: expr, Span: p.span(start)}
}

// neg parses a signed expression -expr, or a primary expression.
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
	p.growHeight(0)
	return &Unary{Op: OpNeg, X: expr, Span: p.span(start)}
}

// primary parses a literal, name, function call, expression in parentheses or property operator.
func (p *parser) primary(context exprContext) Expr {
	p.height = 1
	if name := p.stormOperator(); name != "" && p.mayUse(context, allowProperty) {
		return p.stormOperation(name)
	}
	switch p.tok.kind {
	case tokInt:
		return p.intLit()
	case tokDouble:
		text := p.text(p.tok)
		start := p.tok.pos
		p.advance()
		return &DoubleLit{Text: text, Span: p.span(start)}
	case kwTrue, kwFalse:
		value, start := p.tok.kind == kwTrue, p.tok.pos
		p.advance()
		return &BoolLit{Value: value, Span: p.span(start)}
	case tokIdent:
		p.noteMisspelledOperator(context)
		ident := p.ident("")
		if p.tok.kind == tokLeftParen {
			if relation, ok := predicate(ident.Name); ok && p.dialect == Storm {
				return p.predicateOperator(context, ident, relation)
			}
			return p.call(context, ident)
		}
		return ident
	case kwMin, kwMax:
		return p.call(context, p.funcName())
	case kwFunc:
		return p.funcCall(context)
	case tokLeftParen:
		return p.paren(context)
	}
	if startsPropertyOperator(p.tok.kind) {
		if p.mayUse(context, allowProperty) {
			return p.propOperator(context)
		}
		if p.tok.kind == tokQuote {
			p.unexpectedHint("an expression without labels and property operators", "a label cannot be used in definitions of the model, but a formula with the same expression can")
		} else {
			p.unexpected("an expression without labels and property operators")
		}
	}
	p.unexpected("an expression")
	return p.badExpr()
}

// paren parses an expression in parentheses, which the tree keeps.
func (p *parser) paren(context exprContext) Expr {
	start := p.tok.pos
	p.expect(tokLeftParen)
	expr := p.expr(context)
	p.expect(tokRightParen)
	p.growHeight(0)
	return &Paren{X: expr, Span: p.span(start)}
}

// intLit parses an integer literal of at most 2^31-1. PRISM detects a larger one only after it has
// read it, and then reports the next token if it has read ahead; errors are in the same place here.
func (p *parser) intLit() Expr {
	tok := p.tok
	value, err := strconv.ParseInt(string(p.scanner.src[tok.pos.Offset:tok.end]), 10, 32)
	if err != nil && !p.lookingAhead {
		pos := tok.pos
		if p.prescanned {
			ahead := p.scanner
			pos = p.errorPos(ahead.next())
		}
		p.fail(pos, fmt.Sprintf("found %s, want an integer of at most 2147483647; a time can be a double such as 1e10, and a step bound of this size can be omitted", describe(p.scanner.src, tok)))
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

// call parses the arguments of a function whose name has been read.
func (p *parser) call(context exprContext, name *Ident) Expr {
	p.expect(tokLeftParen)
	outer := p.inMulti
	lexicographic := name.Name == "multilex" && p.dialect == Storm && p.inProperties
	p.inMulti = name.Name == "multi" || lexicographic
	call := &Call{Func: name, Lexicographic: lexicographic, Args: p.arguments(context)}
	p.inMulti = outer
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
	height := p.height
	for p.accept(tokComma) {
		args = append(args, p.expr(context))
		height = max(height, p.height)
	}
	p.growHeight(height)
	return args
}
