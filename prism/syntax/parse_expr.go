package syntax

import (
	"fmt"
	"strconv"
)

// ctx says which operators an expression may use. The zero value is the model language.
type ctx uint8

const (
	ctxProp  ctx = 1 << iota // P, S, R, E, A, filters and labels
	ctxPath                  // temporal operators
	ctxBound                 // the bound of a temporal operator
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

// infix returns the infix operator a token stands for, or OpNone.
func infix(k kind) Op {
	switch k {
	case tImplies:
		return OpImplies
	case tIff:
		return OpIff
	case tOr:
		return OpOr
	case tAnd:
		return OpAnd
	case tEq:
		return OpEq
	case tNe:
		return OpNe
	case tPlus:
		return OpAdd
	case tMinus:
		return OpSub
	case tTimes:
		return OpMul
	case tDivide:
		return OpDiv
	case tPower:
		return OpPow
	}
	return relation(k)
}

// relation returns the order relation a token stands for, or OpNone.
func relation(k kind) Op {
	switch k {
	case tLt:
		return OpLt
	case tLe:
		return OpLe
	case tGt:
		return OpGt
	case tGe:
		return OpGe
	}
	return OpNone
}

// allows reports whether the operators of the flag may be used. Looking ahead,
// PRISM does not ask.
func (p *parser) allows(c, flag ctx) bool { return c&flag != 0 || p.lax }

// badExpr stands for an expression that could not be parsed.
func (p *parser) badExpr() Expr { return &BoolLit{Span: p.span(p.tok.pos)} }

// expr parses an expression of any level.
func (p *parser) expr(c ctx) Expr {
	if !p.push() {
		return p.badExpr()
	}
	x := p.until(c)
	p.depth--
	return x
}

// until parses an optional binary temporal operator; it does not associate.
func (p *parser) until(c ctx) Expr {
	start := p.tok.pos
	x := p.temporal(c)
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
		return x
	}
	switch {
	case p.lax && c&ctxBound != 0: // R may start the operand instead
		before := p.mark()
		if y := p.untilOperand(c, start, op, x); !p.bad {
			return y
		}
		p.reset(before)
		return x
	case p.allows(c, ctxPath):
		return p.untilOperand(c, start, op, x)
	case c&ctxBound != 0:
		p.unexpectedHint("the operand of the temporal operator", "a bound ends here, and an R operator behind it needs parentheses")
	}
	return x
}

// untilOperand parses the operator at tok, its bound and its right operand.
func (p *parser) untilOperand(c ctx, start Pos, op TemporalOp, x Expr) Expr {
	h := p.height
	p.advance()
	bound, costs := p.bounds()
	h = max(h, p.height)
	y := p.temporal(c)
	p.grow(h)
	return &Temporal{Op: op, X: x, Y: y, Bound: bound, Costs: costs, Span: p.span(start)}
}

// temporal parses prefix temporal operators.
func (p *parser) temporal(c ctx) Expr {
	var op TemporalOp
	switch k := p.tok.kind; {
	case k == kwX && p.allows(c, ctxPath):
		op = Next
	case k == kwF && p.allows(c, ctxPath), p.future(c):
		op = Future
	case k == kwG && p.allows(c, ctxPath):
		op = Globally
	default:
		return p.cond(c)
	}
	start := p.tok.pos
	p.advance()
	p.height = 0
	bound, costs := p.bounds()
	h := p.height
	if !p.push() {
		return p.badExpr()
	}
	y := p.temporal(c)
	p.depth--
	p.grow(h)
	return &Temporal{Op: op, Y: y, Bound: bound, Costs: costs, Span: p.span(start)}
}

// timeBound parses the optional bound of a temporal operator.
func (p *parser) timeBound() *TimeBound {
	start := p.tok.pos
	b := &TimeBound{}
	switch k := p.tok.kind; k {
	case tLt, tLe:
		p.advance()
		b.High, b.HighStrict = p.boundExpr(), k == tLt
	case tGt, tGe:
		p.advance()
		b.Low, b.LowStrict = p.boundExpr(), k == tGt
	case tEq:
		p.advance()
		b.Low, b.Equal = p.expr(ctxBound), true
		b.High = b.Low
	case tLBrack:
		p.advance()
		b.Low = p.expr(ctxBound)
		h := p.height
		p.expect(tComma)
		b.High = p.expr(ctxBound)
		p.height = max(p.height, h)
		p.expect(tRBrack)
	default:
		return nil
	}
	b.Span = p.span(start)
	return b
}

// boundExpr parses a one-sided bound. An identifier before a parenthesis is
// the whole bound, not a function: F<=t (b).
func (p *parser) boundExpr() Expr {
	if p.tok.kind == tIdent && (p.lax || p.peek() == tLParen) {
		p.height = 1
		return p.ident("")
	}
	return p.expr(ctxBound)
}

// cond parses c ? t : e. The else branch may be another one, the others not.
func (p *parser) cond(c ctx) Expr {
	start := p.tok.pos
	x := p.binary(c, levelImplies)
	if !p.accept(tQuestion) {
		return x
	}
	h := p.height
	t := p.binary(c, levelImplies)
	h = max(h, p.height)
	if p.tok.kind == tQuestion {
		p.unexpectedHint(`":"`, "a conditional that is not in the last branch needs parentheses: a ? (b ? c : d) : e")
	}
	p.expect(tColon)
	if !p.push() {
		return x
	}
	e := p.cond(c)
	p.depth--
	p.grow(h)
	return &Cond{C: x, T: t, E: e, Span: p.span(start)}
}

// binary parses infix operators of at least the given level, and the prefix
// operator ! where it is not too loose.
func (p *parser) binary(c ctx, least level) Expr {
	start := p.tok.pos
	var x Expr
	if p.tok.kind == tNot && least <= levelNot {
		x = p.not(c)
	} else {
		x = p.neg(c)
	}
	for {
		op := infix(p.tok.kind)
		if op == OpNone || op.level() < least {
			return x
		}
		opPos, h := p.tok.pos, p.height
		p.advance()
		y := p.rightOperand(c, op)
		p.grow(h)
		x = &Binary{Op: op, X: x, Y: y, OpPos: opPos, Span: p.span(start)}
	}
}

// rightOperand parses what follows an infix operator; => and ^ associate to the right.
func (p *parser) rightOperand(c ctx, op Op) Expr {
	if op != OpImplies && op != OpPow {
		return p.binary(c, op.level()+1)
	}
	if !p.push() {
		return p.badExpr()
	}
	y := p.binary(c, op.level())
	p.depth--
	return y
}

func (p *parser) not(c ctx) Expr {
	start := p.tok.pos
	if !p.push() {
		return p.badExpr()
	}
	p.advance()
	x := p.binary(c, levelNot)
	p.depth--
	p.grow(0)
	return &Unary{Op: OpNot, X: x, Span: p.span(start)}
}

func (p *parser) neg(c ctx) Expr {
	if p.tok.kind != tMinus {
		return p.basic(c)
	}
	start := p.tok.pos
	if !p.push() {
		return p.badExpr()
	}
	p.advance()
	x := p.neg(c)
	p.depth--
	p.grow(0)
	return &Unary{Op: OpNeg, X: x, Span: p.span(start)}
}

// basic parses an expression that needs no parentheses anywhere.
func (p *parser) basic(c ctx) Expr {
	p.height = 1
	if name := p.stormOperator(); name != "" && p.allows(c, ctxProp) {
		return p.stormOperation(name)
	}
	switch p.tok.kind {
	case tInt:
		return p.intLit()
	case tDouble:
		text := p.text(p.tok)
		start := p.tok.pos
		p.advance()
		return &DoubleLit{Text: text, Span: p.span(start)}
	case kwTrue, kwFalse:
		value, start := p.tok.kind == kwTrue, p.tok.pos
		p.advance()
		return &BoolLit{Value: value, Span: p.span(start)}
	case tIdent:
		id := p.ident("")
		if p.tok.kind == tLParen {
			return p.call(c, id)
		}
		return id
	case kwMin, kwMax:
		return p.call(c, p.funcName())
	case kwFunc:
		return p.oldCall(c)
	case tLParen:
		return p.paren(c)
	}
	if startsProp(p.tok.kind) {
		if p.allows(c, ctxProp) {
			return p.propOperator(c)
		}
		p.unexpected("an expression without labels and property operators")
	}
	p.unexpected("an expression")
	return p.badExpr()
}

func (p *parser) paren(c ctx) Expr {
	start := p.tok.pos
	p.expect(tLParen)
	x := p.expr(c)
	p.expect(tRParen)
	p.grow(0)
	return &Paren{X: x, Span: p.span(start)}
}

// intLit parses an integer literal. PRISM detects a number that is too large only after reading
// it, and reports the next token if it has read that already.
func (p *parser) intLit() Expr {
	t := p.tok
	value, err := strconv.ParseInt(string(p.s.src[t.pos.Offset:t.end]), 10, 32)
	if err != nil && !p.lax {
		pos := t.pos
		if p.scanned {
			ahead := p.s
			pos = p.errorPos(ahead.next())
		}
		p.fail(pos, fmt.Sprintf("found %s, want an integer of at most 2147483647, or a double such as 1e10 where one may be (a time, but no number of steps: leave such a bound out)", describe(p.s.src, t)))
		return p.badExpr()
	}
	p.advance()
	return &IntLit{Value: int32(value), Span: p.span(t.pos)}
}

// funcName parses the name of a function; min and max are keywords.
func (p *parser) funcName() *Ident {
	id := &Ident{Name: p.text(p.tok), Span: Span{p.tok.pos, p.tok.endPos()}}
	if !p.accept(kwMin) && !p.accept(kwMax) && !p.accept(tIdent) {
		p.unexpected("a function name")
	}
	return id
}

// call parses the arguments of a function whose name has been read.
func (p *parser) call(c ctx, name *Ident) Expr {
	p.expect(tLParen)
	outer := p.multi
	p.multi = name.Name == "multi"
	call := &Call{Func: name, Args: p.args(c)}
	p.multi = outer
	p.expect(tRParen)
	call.Span = p.span(name.Start)
	return call
}

// oldCall parses func(name, args).
func (p *parser) oldCall(c ctx) Expr {
	start := p.tok.pos
	p.advance()
	p.expect(tLParen)
	call := &Call{Func: p.funcName(), Old: true}
	p.expect(tComma)
	call.Args = p.args(c)
	p.expect(tRParen)
	call.Span = p.span(start)
	return call
}

func (p *parser) args(c ctx) []Expr {
	args := []Expr{p.expr(c)}
	h := p.height
	for p.accept(tComma) {
		args = append(args, p.expr(c))
		h = max(h, p.height)
	}
	p.grow(h)
	return args
}
