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

// longRunExtremum returns the extremum that is part of a name of the S operator in Storm's
// dialect, and whether it is one.
func longRunExtremum(name string) (Extremum, bool) {
	switch name {
	case "LRA":
		return NoExtremum, true
	case "LRAmin", "Smin":
		return Min, true
	case "LRAmax", "Smax":
		return Max, true
	}
	return NoExtremum, false
}

// stormOperator returns the name of an operator that only Storm's dialect has, T=?, Tmin=?,
// Tmax=?, Smin=?, LRA=? and so on, or LRA>=0.5 [...], if one is at tok. T and LRA may be the
// names of constants, too, which never stand before =? nor in what reads as an operator.
func (p *parser) stormOperator() string {
	if p.dialect != Storm || p.tok.kind != tIdent {
		return ""
	}
	name := p.text(p.tok)
	if _, average := longRunExtremum(name); !average && name != "T" && name != "Tmin" && name != "Tmax" {
		return ""
	}
	ahead := p.s
	next := ahead.next().kind
	switch {
	case next == tEq && ahead.next().kind == tQuestion:
	case name == "LRA" && relation(next) != OpNone && p.triesSteady(func() { p.steadyOf(NoExtremum, ctxProp|ctxPath) }):
	default:
		return ""
	}
	return name
}

// longRunReward reports whether a reward objective LRA or MP is at tok.
func (p *parser) longRunReward() bool {
	if p.dialect != Storm || p.tok.kind != tIdent {
		return false
	}
	ahead := p.s
	name := p.text(p.tok)
	return (name == "LRA" || name == "MP") && ahead.next().kind == tRBrack
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
