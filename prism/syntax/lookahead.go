package syntax

// PRISM decides two questions by reading ahead as far as a construct goes:
// whether a command has a single update without probability, and whether S
// inside an R operator starts an S operator. If that reading fails, PRISM takes
// the other alternative and reports the error there: in `[] a -> (s'=1+);` it
// is at s', where an expression in parentheses cannot go on. To find the error
// in the same place the parser reads ahead in the same two cases: lax is set,
// nothing is reported, and operators are not checked against their context.

// tries reports whether parse succeeds at this place, and then returns to it.
func (p *parser) tries(parse func()) bool {
	m := p.mark()
	p.lax = true
	parse()
	ok := !p.bad
	p.reset(m)
	return ok
}

// steadyAhead reports whether the S at tok starts an S operator. Answers are cached, so that
// nesting does not multiply the work.
func (p *parser) steadyAhead() bool { return p.triesSteady(func() { p.steady() }) }

// triesSteady is tries for what starts with the name of an S operator.
func (p *parser) triesSteady(parse func()) bool {
	at := p.tok.pos.Offset
	if ok, known := p.steadys[at]; known {
		return ok
	}
	ok := p.tries(parse)
	p.steadys[at] = ok
	return ok
}

// steadyOrLongRun parses an S operator or the objective S inside an R operator.
func (p *parser) steadyOrLongRun() Expr {
	start := p.tok.pos
	if p.lax {
		m := p.mark()
		x := p.steady()
		p.steadys[start.Offset] = !p.bad
		if !p.bad {
			return x
		}
		p.reset(m)
	} else if p.steadyAhead() {
		scanned := p.scanned
		p.scanned = true
		x := p.steady()
		p.scanned = scanned
		return x
	}
	p.advance()
	p.height = 1
	return &RewardPath{Kind: LongRun, Span: p.span(start)}
}
