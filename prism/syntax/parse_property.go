package syntax

import "fmt"

// properties parses a properties file.
func (p *parser) properties() *Properties {
	start := p.tok.pos
	ps := &Properties{File: p.file}
	for p.tok.kind != tEOF {
		item := p.propItem()
		if p.bad {
			p.recover(true)
			continue
		}
		ps.Items = append(ps.Items, item)
	}
	ps.Trailing = p.trailing()
	ps.Span = p.span(start)
	return ps
}

func (p *parser) propItem() PropItem {
	switch p.tok.kind {
	case kwConst, kwRate, kwProb:
		return p.constDecl()
	case kwLabel:
		return p.labelDecl()
	}
	return p.property()
}

// property parses a property, its optional name and the semicolons behind it.
func (p *parser) property() *Property {
	h := p.begin()
	prop := &Property{Doc: h.doc}
	if p.namedAhead() {
		prop.Name = p.quotedName("a property name")
		p.expect(tColon)
	}
	if p.push() {
		prop.X = p.cond(ctxProp)
		p.depth--
	}
	prop.Span = p.span(h.start)
	for p.accept(tSemi) {
	}
	prop.Notes, _ = p.finish(h)
	return prop
}

// namedAhead reports whether the property starts with "name": and not with a label.
func (p *parser) namedAhead() bool {
	ahead := p.s
	return p.tok.kind == tQuote && ahead.next().kind == tIdent && ahead.next().kind == tQuote && ahead.next().kind == tColon
}

// startsProb, startsReward and startsProp report whether the kind starts a P
// operator, an R operator, or anything else that only properties have.
func startsProb(k kind) bool   { return kwP <= k && k <= kwPminmin }
func startsReward(k kind) bool { return kwR <= k && k <= kwRminmin }

func startsProp(k kind) bool {
	switch k {
	case kwS, kwE, kwA, tLt2, tLBrack2, tQuote, kwFilter:
		return true
	}
	return startsProb(k) || startsReward(k)
}

// propOperator parses an operator for which startsProp is true.
func (p *parser) propOperator(c ctx) Expr {
	switch k := p.tok.kind; {
	case startsProb(k):
		return p.prob()
	case startsReward(k):
		return p.reward()
	case k == kwS:
		return p.steadyIn(c)
	case k == kwE || k == kwA:
		return p.quant()
	case k == tQuote:
		return p.quoted()
	case k == kwFilter:
		return p.filter(c)
	}
	return p.strategy(c)
}

func (p *parser) prob() Expr {
	start, word := p.tok.pos, p.tok.kind
	p.advance()
	p.height = 0
	x := &Prob{}
	if word == kwP {
		x.Modifier = p.modifier()
	}
	x.Threshold = p.threshold(joinedExtremum(word), word == kwP)
	h := p.height
	p.expect(tLBrack)
	x.Path = p.nested(ctxProp | ctxPath)
	h = max(h, p.height)
	x.Filter = p.oldFilter()
	p.grow(h)
	p.expect(tRBrack)
	x.Span = p.span(start)
	return p.compared(x, &x.Threshold)
}

// nested parses the contents of an operator that cannot be an objective.
func (p *parser) nested(c ctx) Expr {
	outer := p.multi
	p.multi = false
	x := p.expr(c)
	p.multi = outer
	return x
}

// steady parses an S operator inside an R operator, where PRISM allows
// temporal operators between the brackets.
func (p *parser) steady() Expr { return p.steadyIn(ctxProp | ctxPath) }

func (p *parser) steadyIn(c ctx) Expr { return p.steadyOf(NoExtremum, c) }

// steadyOf parses an S operator whose name has an extremum in it.
func (p *parser) steadyOf(fixed Extremum, c ctx) Expr {
	start := p.tok.pos
	p.advance()
	p.height = 0
	x := &Steady{Modifier: p.modifier()}
	switch {
	case x.Modifier != nil && relation(p.tok.kind) == OpNone:
		p.unexpected("a bound, < <= > or >=")
	default:
		x.Threshold = p.threshold(fixed, false)
	}
	h := p.height
	p.expect(tLBrack)
	x.X = p.expr(c)
	h = max(h, p.height)
	x.Filter = p.oldFilter()
	p.grow(h)
	p.expect(tRBrack)
	x.Span = p.span(start)
	return p.compared(x, &x.Threshold)
}

func (p *parser) reward() Expr {
	start, word := p.tok.pos, p.tok.kind
	p.advance()
	p.height = 0
	x := &Reward{}
	if word == kwR {
		x.Modifier = p.modifier()
		if p.tok.kind == tLBrace {
			x.Struct = p.rewardIndex()
			if p.accept(tDivide) {
				x.StructDiv = p.rewardIndex()
			}
		}
	}
	h := p.height
	x.Threshold = p.threshold(joinedExtremum(word), word == kwR)
	h = max(h, p.height)
	p.expect(tLBrack)
	x.Path = p.rewardPath()
	h = max(h, p.height)
	x.Filter = p.oldFilter()
	p.grow(h)
	p.expect(tRBrack)
	x.Span = p.span(start)
	return p.compared(x, &x.Threshold)
}

// modifier parses the optional (modifier) of an operator.
func (p *parser) modifier() *Ident {
	if !p.accept(tLParen) {
		return nil
	}
	id := p.ident("a modifier")
	p.expect(tRParen)
	return id
}

// rewardIndex parses {"name"} or {expr}.
func (p *parser) rewardIndex() Expr {
	var x Expr
	p.expect(tLBrace)
	if start := p.tok.pos; p.tok.kind == tQuote {
		id := p.quotedName("the name of a reward structure")
		x = &Quoted{Name: id.Name, Span: p.span(start)}
	} else {
		x = p.expr(0)
	}
	p.expect(tRBrace)
	return x
}

// rewardPath parses the text between the brackets of an R operator.
func (p *parser) rewardPath() Expr {
	x := &RewardPath{}
	start := p.tok.pos
	switch {
	case p.tok.kind == kwS:
		return p.steadyOrLongRun()
	case p.longRunReward():
		p.advance()
		x.Kind = LongRun
	case p.gameReward():
		x.Kind = ZeroUnlessReached
		if p.atWord(wordUntilReached) {
			x.Kind = UntilReached
		}
		p.advance()
		x.Target = p.expr(ctxProp)
	case p.dialect == Storm && p.cumulated():
		return p.cumulative()
	case p.tok.kind == kwC:
		p.advance()
		p.height = 0
		if p.accept(tLe) {
			x.Bound = p.expr(0)
		}
		x.Kind = Cumulative
	case p.tok.kind == kwI:
		p.advance()
		p.expect(tEq)
		x.Kind, x.Bound = Instantaneous, p.expr(0)
	default:
		return p.expr(ctxProp | ctxPath)
	}
	p.grow(0)
	x.Span = p.span(start)
	return x
}

// threshold parses what follows the letter of an operator. The extremum may be
// part of the keyword (fixed) or, if extrema is set, follow as words.
func (p *parser) threshold(fixed Extremum, extrema bool) Threshold {
	t := Threshold{Extremum: fixed}
	if extrema {
		t.Extremum = p.extremum()
	}
	if t.Extremum == NoExtremum || p.dialect == Storm && (t.Extremum == Min || t.Extremum == Max) {
		if rel := relation(p.tok.kind); rel != OpNone {
			p.advance()
			t.Rel, t.Bound = rel, p.expr(0)
			return t
		}
		if p.tok.kind != tEq && t.Extremum == NoExtremum {
			p.unexpected(`"=?" or a bound`)
		}
	}
	p.expect(tEq)
	p.expect(tQuestion)
	return t
}

// extremum parses min, max, minmax and so on; min max is the same as minmax.
func (p *parser) extremum() Extremum {
	e := wordExtremum(p.tok.kind)
	if e == NoExtremum {
		return e
	}
	p.advance()
	second := p.tok.kind
	if e != Min && e != Max || !p.accept(kwMin) && !p.accept(kwMax) {
		return e
	}
	switch {
	case e == Min && second == kwMin:
		return MinMin
	case e == Min:
		return MinMax
	case second == kwMin:
		return MaxMin
	}
	return MaxMax
}

// wordExtremum returns the extremum a word behind P or R stands for.
func wordExtremum(k kind) Extremum {
	switch k {
	case kwMin:
		return Min
	case kwMax:
		return Max
	case kwMinmin:
		return MinMin
	case kwMinmax:
		return MinMax
	case kwMaxmin:
		return MaxMin
	case kwMaxmax:
		return MaxMax
	}
	return NoExtremum
}

// joinedExtremum returns the extremum that is part of a keyword such as Pmax.
func joinedExtremum(k kind) Extremum {
	switch k {
	case kwPmin, kwRmin:
		return Min
	case kwPmax, kwRmax:
		return Max
	case kwPminmin, kwRminmin:
		return MinMin
	case kwPminmax, kwRminmax:
		return MinMax
	case kwPmaxmin, kwRmaxmin:
		return MaxMin
	case kwPmaxmax, kwRmaxmax:
		return MaxMax
	}
	return NoExtremum
}

// oldFilter parses the optional {states}{min}{max}.
func (p *parser) oldFilter() *OldFilter {
	start := p.tok.pos
	if !p.accept(tLBrace) {
		return nil
	}
	f := &OldFilter{States: p.expr(ctxProp)}
	p.expect(tRBrace)
	for p.accept(tLBrace) {
		switch {
		case p.accept(kwMin):
			f.Min = true
		case p.accept(kwMax):
			f.Max = true
		default:
			p.unexpected(`"min" or "max"`)
		}
		p.expect(tRBrace)
	}
	f.Span = p.span(start)
	return f
}

func (p *parser) quant() Expr {
	start := p.tok.pos
	x := &Quant{All: p.tok.kind == kwA}
	p.advance()
	p.expect(tLBrack)
	x.Path = p.expr(ctxProp | ctxPath)
	p.expect(tRBrack)
	p.grow(0)
	x.Span = p.span(start)
	return x
}

func (p *parser) strategy(c ctx) Expr {
	start := p.tok.pos
	x := &Strategy{Box: p.tok.kind == tLBrack2}
	end := tGt2
	if x.Box {
		end = tRBrack2
	}
	p.advance()
	if p.accept(tTimes) {
		x.All = true
	} else if p.tok.kind != end {
		x.Coalition = append(x.Coalition, p.player())
		for p.accept(tComma) {
			x.Coalition = append(x.Coalition, p.player())
		}
	}
	p.expect(end)
	x.X = p.strategyOperand(c)
	p.grow(0)
	x.Span = p.span(start)
	return x
}

// player parses the name or the number of a player.
func (p *parser) player() *Ident {
	id := &Ident{Name: p.text(p.tok), Span: Span{p.tok.pos, p.tok.endPos()}}
	if !p.accept(tInt) && !p.accept(tIdent) {
		p.unexpected("a player")
	}
	return id
}

func (p *parser) strategyOperand(c ctx) Expr {
	switch k := p.tok.kind; {
	case k == tLParen:
		return p.paren(c)
	case startsProb(k):
		return p.prob()
	case startsReward(k):
		return p.reward()
	}
	p.unexpected(`a P or R operator or "("`)
	return p.badExpr()
}

// quoted parses a label or a reference to a property; init is a keyword.
func (p *parser) quoted() Expr {
	start := p.tok.pos
	p.advance()
	t := p.tok
	switch {
	case p.accept(tIdent) || p.accept(kwInit):
	case t.kind.isKeyword():
		p.unexpectedHint("a label or property name", fmt.Sprintf("PRISM reserves %q", kindTexts[t.kind]))
	default:
		p.unexpected("a label or property name")
	}
	p.expect(tQuote)
	return &Quoted{Name: p.text(t), Span: p.span(start)}
}

func (p *parser) filter(c ctx) Expr {
	start := p.tok.pos
	p.advance()
	p.expect(tLParen)
	x := &Filter{Op: p.text(p.tok), OpPos: p.tok.pos}
	switch p.tok.kind {
	case kwMin, kwMax, tPlus, tAnd, tOr, tIdent:
		p.advance()
	default:
		p.unexpected("a filter type")
	}
	p.expect(tComma)
	x.X = p.expr(c)
	h := p.height
	if p.accept(tComma) {
		x.States = p.expr(c)
	}
	p.grow(h)
	p.expect(tRParen)
	x.Span = p.span(start)
	return x
}
