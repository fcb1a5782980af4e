package syntax

// PRISM looks ahead over a whole construct in two cases: to decide whether a
// command has a single update without probability, and whether S inside an R
// operator starts an S operator. If the construct does not parse, PRISM takes
// the other alternative and reports the error there: in `[] a -> (s'=1+);` the
// error is at s', because an expression in parentheses cannot continue with a
// prime. To report errors in the same places, this parser looks ahead in the
// same cases. While isLookingAhead is set, it reports nothing and accepts
// operators in every context.

// canParse reports whether a parse function succeeds from the current token on. It records no errors, and the parser continues at the current
// token.
func (p *parser) canParse(parse func()) bool {
	before := p.saveState()
	p.isLookingAhead = true
	parse()
	ok := !p.hasFailed
	p.restoreState(before)
	return ok
}

// steadyAhead reports whether the S at the current token starts an S operator.
func (p *parser) steadyAhead() bool { return p.canParseSteady(func() { p.parseSteady() }) }

// canParseSteady reports whether a parse function for an S operator succeeds at the current token. It caches the answer for each position in the
// text.
func (p *parser) canParseSteady(parse func()) bool {
	offset := p.token.pos.Offset // without the cache, nested operators would be parsed repeatedly
	if ok, isCached := p.steadyAnswers[offset]; isCached {
		return ok
	}
	ok := p.canParse(parse)
	p.steadyAnswers[offset] = ok
	return ok
}

// parseSteadyOrLongRun parses the S between the brackets of an R operator: an S operator if possible, or else the long-run objective of R [ S ].
func (p *parser) parseSteadyOrLongRun() Expr {
	if operator := p.tryParseSteady(); operator != nil {
		return operator
	}
	start := p.token.pos
	p.advance()
	p.treeHeight = 1
	return &RewardPath{Kind: LongRun, Span: p.span(start)}
}

// tryParseSteady parses an S operator. If the S at the current token starts none, it returns nil, and the parser continues at the S.
func (p *parser) tryParseSteady() Expr {
	if p.isLookingAhead {
		before := p.saveState()
		operator := p.parseSteady()
		p.steadyAnswers[before.token.pos.Offset] = !p.hasFailed
		if !p.hasFailed {
			return operator
		}
		p.restoreState(before)
		return nil
	}
	if !p.steadyAhead() {
		return nil
	}
	wasPrescanned := p.isPrescanned
	p.isPrescanned = true // PRISM has looked ahead over this text, too
	operator := p.parseSteady()
	p.isPrescanned = wasPrescanned
	return operator
}
