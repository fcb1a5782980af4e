package syntax

// What only Storm's dialect has.
//
// Source: Storm's FormulaParserGrammar, version 1.14.

// bounds parses the bounds of a temporal operator.
func (p *parser) bounds() (*TimeBound, []*CostBound) {
	if p.dialect == Storm {
		start := p.tok.pos
		switch {
		case p.tok.kind == tLBrace:
			return nil, []*CostBound{p.costOf(&CostBound{Word: "rew", Struct: p.rewardIndex()}, start)}
		case p.tok.kind == tPower && p.peek() == tLBrace:
			return p.costs()
		}
	}
	return p.timeBound(), nil
}

// costs parses ^{rew{"r"}<=b,steps<=k}. One bound on steps or time is as without braces.
func (p *parser) costs() (*TimeBound, []*CostBound) {
	p.advance()
	p.advance()
	out := []*CostBound{p.cost()}
	for p.accept(tComma) {
		out = append(out, p.cost())
	}
	p.expect(tRBrace)
	if len(out) == 1 && out[0].Word != "rew" {
		return out[0].Bound, nil
	}
	return nil, out
}

func (p *parser) cost() *CostBound {
	start := p.tok.pos
	b := &CostBound{}
	if p.tok.kind == tIdent {
		b.Word = p.text(p.tok)
	}
	switch b.Word {
	case "rew":
		if p.advance(); p.tok.kind == tLBrace {
			b.Struct = p.rewardIndex()
		}
	case "steps", "time":
		p.advance()
	default:
		p.unexpected(`"rew", "steps" or "time"`)
	}
	return p.costOf(b, start)
}

// costOf parses the numbers of a bound.
func (p *parser) costOf(b *CostBound, start Pos) *CostBound {
	if b.Bound = p.timeBound(); b.Bound == nil {
		p.unexpected("a bound such as <=2 or [1,2]")
	}
	b.Span = p.span(start)
	return b
}

// startsTime reports whether an operator T=?, Tmin=? or Tmax=? is at tok. T may be the
// name of a constant, too, which never stands before =?.
func (p *parser) startsTime() bool {
	if p.dialect != Storm || p.tok.kind != tIdent {
		return false
	}
	if name := p.text(p.tok); name != "T" && name != "Tmin" && name != "Tmax" {
		return false
	}
	ahead := p.s
	return ahead.next().kind == tEq && ahead.next().kind == tQuestion
}

// timeOperator parses T=?, Tmin=? or Tmax=? with what is in brackets behind it.
func (p *parser) timeOperator() Expr {
	start := p.tok.pos
	fixed := map[string]Extremum{"Tmin": Min, "Tmax": Max}[p.text(p.tok)]
	p.advance()
	p.height = 0
	x := &Reward{Time: true, Struct: &Quoted{Name: TimeRewards, Span: p.span(start)}}
	x.Threshold = p.threshold(fixed, false)
	h := p.height
	p.expect(tLBrack)
	x.Path = p.expr(ctxProp | ctxPath)
	h = max(h, p.height)
	p.grow(h)
	p.expect(tRBrack)
	x.Span = p.span(start)
	return x
}
