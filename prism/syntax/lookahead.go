package syntax

// PRISM looks ahead over a whole construct in two cases: to decide whether a
// command has a single update without probability, and whether S inside an R
// operator starts an S operator. If the construct does not parse, PRISM takes
// the other alternative and reports the error there: in `[] a -> (s'=1+);` the
// error is at s', because an expression in parentheses cannot continue with a
// prime. To report errors in the same places, this parser looks ahead in the
// same cases. While isLookingAhead is set, it reports nothing and accepts
// operators in every context.

// canParse reports whether a parse function succeeds at the current token. It reports no errors, and afterwards the parser is at the same token again.
func (p *parser) canParse(parse func()) bool {
	before := p.saveState()
	p.isLookingAhead = true
	parse()
	ok := !p.hasFailed
	p.restoreState(before)
	return ok
}

// canParseOperator reports whether a parse function for an S operator, or for an operator of Storm, succeeds at the current token. It stores the answer for each
// position in the text. Otherwise the parser would parse nested operators repeatedly.
func (p *parser) canParseOperator(parse func()) bool {
	offset := p.token.pos.Offset
	if ok, isStored := p.startsOperator[offset]; isStored {
		return ok
	}
	ok := p.canParse(parse)
	p.startsOperator[offset] = ok
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

// tryParseSteady parses an S operator. If the S at the current token does not start an S operator, it returns nil, and the parser stays at the S.
func (p *parser) tryParseSteady() Expr {
	if p.isLookingAhead {
		return p.parseSteadyOrReturn()
	}
	if !p.canParseOperator(func() { p.parseSteady() }) {
		return nil
	}
	return p.parsePrescanned(p.parseSteady)
}

// parseSteadyOrReturn does the work of tryParseSteady while the parser looks ahead. No errors are reported then, so the parser can parse the operator directly,
// and return to the S if this fails.
func (p *parser) parseSteadyOrReturn() Expr {
	before := p.saveState()
	operator := p.parseSteady()
	p.startsOperator[before.token.pos.Offset] = !p.hasFailed
	if p.hasFailed {
		p.restoreState(before)
		return nil
	}
	return operator
}

// parsePrescanned calls a parse function for a construct over which PRISM's parser looks ahead before it parses the construct. While isPrescanned is set, errors
// in numbers get the positions that PRISM reports after looking ahead.
func (p *parser) parsePrescanned(parse func() Expr) Expr {
	wasPrescanned := p.isPrescanned
	p.isPrescanned = true
	parsed := parse()
	p.isPrescanned = wasPrescanned
	return parsed
}
