package syntax

import "fmt"

// parseProperties parses a properties file. It leaves out items with errors.
func (p *parser) parseProperties() *Properties {
	start := p.token.pos
	props := &Properties{File: p.file}
	for p.token.kind != tokEOF {
		item := p.parsePropertyItem()
		if p.hasFailed {
			p.resynchronize(stopAtSemicolon)
			continue
		}
		props.Items = append(props.Items, item)
	}
	props.Trailing = p.remainingComments()
	props.Span = p.span(start)
	return props
}

// parsePropertyItem parses one constant, label or property of a properties file.
func (p *parser) parsePropertyItem() PropItem {
	switch p.token.kind {
	case kwConst, kwRate, kwProb:
		return p.parseConstDecl()
	case kwLabel:
		return p.parseLabelDecl()
	}
	return p.parseProperty()
}

// parseProperty parses a property with its optional name and the semicolons after it.
func (p *parser) parseProperty() *Property {
	statement := p.beginStatement()
	prop := &Property{Doc: statement.doc}
	if p.propertyNameAhead() {
		prop.Name = p.parseQuotedName("a property name")
		p.expect(tokColon)
	}
	if p.enterNesting() {
		prop.X = p.parseCond(allowProperty)
		p.depth--
	}
	prop.Span = p.span(statement.start)
	p.skipSemicolons()
	prop.Notes, _ = p.finishStatement(statement)
	return prop
}

// propertyNameAhead reports whether the next tokens are the quoted name of a property and a colon.
func (p *parser) propertyNameAhead() bool {
	if p.token.kind != tokQuote {
		return false
	}
	ahead := p.scanner // a property can also start with a label in quotes
	for _, wanted := range []kind{tokIdent, tokQuote, tokColon} {
		if ahead.next().kind != wanted {
			return false
		}
	}
	return true
}

// startsProbOperator and startsRewardOperator report whether a token starts a P or an R operator.
func startsProbOperator(k kind) bool   { return kwP <= k && k <= kwPminmin }
func startsRewardOperator(k kind) bool { return kwR <= k && k <= kwRminmin }

// startsPropertyOperator reports whether a token starts an operator, label or filter that occurs only in properties.
func startsPropertyOperator(k kind) bool {
	switch k {
	case kwS, kwE, kwA, tokDoubleLess, tokDoubleLeftBracket, tokQuote, kwFilter:
		return true
	}
	return startsProbOperator(k) || startsRewardOperator(k)
}

// parsePropertyOperator parses the operator, label or filter at the current token.
func (p *parser) parsePropertyOperator(context exprContext) Expr {
	switch tokenKind := p.token.kind; {
	case startsProbOperator(tokenKind):
		return p.parseProb()
	case startsRewardOperator(tokenKind):
		return p.parseReward()
	case tokenKind == kwS:
		return p.parseSteadyIn(context)
	case tokenKind == kwE || tokenKind == kwA:
		return p.parseCtlOperator()
	case tokenKind == tokQuote:
		return p.parseQuoted()
	case tokenKind == kwFilter:
		return p.parseFilter(context)
	}
	return p.parseCoalitionOperator(context)
}

// parseProb parses a P operator, such as P>=0.5 [ F a ] or Pmax=? [ F a ].
func (p *parser) parseProb() Expr {
	start, keyword := p.token.pos, p.token.kind
	p.advance()
	p.treeHeight = 0 // parseThreshold changes it if the threshold is an expression
	operator := &Prob{}
	if keyword == kwP {
		operator.Modifier = p.parseModifier()
	}
	operator.Threshold = p.parseThreshold(extremumOfKeyword(keyword), keyword == kwP)
	operator.Path, operator.Filter = p.parseOperatorBrackets(p.treeHeight, func() Expr {
		return p.parseConditional(p.parseOperatorOperand(allowProperty | allowTemporal))
	})
	operator.Span = p.span(start)
	return p.withoutExtremum(operator, &operator.Threshold)
}

// parseOperatorBrackets parses the brackets of an operator: its operand, by parseOperand, and an optional old-style filter. treeHeight is the height
// of the syntax trees before the brackets.
func (p *parser) parseOperatorBrackets(treeHeight int, parseOperand func() Expr) (operand Expr, filter *OldFilter) {
	p.expect(tokLeftBracket)
	operand = parseOperand()
	treeHeight = max(treeHeight, p.treeHeight)
	filter = p.parseOldStyleFilter()
	p.addTreeLevel(treeHeight)
	p.expect(tokRightBracket)
	return operand, filter
}

// parseOperatorOperand parses the operand of an operator.
func (p *parser) parseOperatorOperand(context exprContext) Expr {
	wasInMulti := p.isInMulti
	p.isInMulti = false // operators inside of the operand are not objectives of multi(...)
	operand := p.parseExpr(context)
	p.isInMulti = wasInMulti
	return operand
}

// parseSteady parses an S operator inside an R operator. As in PRISM, its brackets may contain temporal operators.
func (p *parser) parseSteady() Expr { return p.parseSteadyIn(allowProperty | allowTemporal) }

// parseSteadyIn parses an S operator of PRISM's language in the given context.
func (p *parser) parseSteadyIn(context exprContext) Expr {
	return p.parseSteadyWithExtremum(NoExtremum, context)
}

// parseSteadyWithExtremum parses an S operator with the extremum in its name, such as Smax in Storm's dialect.
func (p *parser) parseSteadyWithExtremum(extremum Extremum, context exprContext) Expr {
	start := p.token.pos
	p.advance()
	p.treeHeight = 0 // parseThreshold changes it if the threshold is an expression
	operator := &Steady{Modifier: p.parseModifier()}
	if operator.Modifier != nil && relationOp(p.token.kind) == OpNone {
		p.unexpected("a bound, < <= > or >=")
	} else {
		operator.Threshold = p.parseThreshold(extremum, false)
	}
	operator.X, operator.Filter = p.parseOperatorBrackets(p.treeHeight, func() Expr { return p.parseExpr(context) })
	operator.Span = p.span(start)
	return p.withoutExtremum(operator, &operator.Threshold)
}

// parseReward parses an R operator, such as R{"r"}min=? [ F a ].
func (p *parser) parseReward() Expr {
	start, keyword := p.token.pos, p.token.kind
	p.advance()
	p.treeHeight = 0 // parseRewardStructs and parseThreshold change it if they parse expressions
	operator := &Reward{}
	if keyword == kwR {
		operator.Modifier = p.parseModifier()
		operator.Struct, operator.DivisorStruct = p.parseRewardStructs()
	}
	structHeight := p.treeHeight
	operator.Threshold = p.parseThreshold(extremumOfKeyword(keyword), keyword == kwR)
	operator.Path, operator.Filter = p.parseOperatorBrackets(max(structHeight, p.treeHeight), func() Expr {
		return p.parseConditional(p.parseRewardObjective())
	})
	operator.Span = p.span(start)
	return p.withoutExtremum(operator, &operator.Threshold)
}

// parseRewardStructs parses the optional reward structures of an R operator: {"r"}, or {"r"}/{"s"} for a ratio. A missing structure is nil.
func (p *parser) parseRewardStructs() (rewards, divisor Expr) {
	if p.token.kind != tokLeftBrace {
		return nil, nil
	}
	rewards = p.parseRewardStruct()
	if p.accept(tokDivide) {
		divisor = p.parseRewardStruct()
	}
	return rewards, divisor
}

// parseModifier parses the optional (modifier) behind the letter of an operator.
func (p *parser) parseModifier() *Ident {
	if !p.accept(tokLeftParen) {
		return nil
	}
	ident := p.parseIdent("a modifier")
	p.expect(tokRightParen)
	return ident
}

// parseRewardStruct parses a reward structure in braces: a name, as in {"name"}, or a number, as in {2}.
func (p *parser) parseRewardStruct() Expr {
	var expr Expr
	p.expect(tokLeftBrace)
	if start := p.token.pos; p.token.kind == tokQuote {
		ident := p.parseQuotedName("the name of a reward structure")
		expr = &Quoted{Name: ident.Name, Span: p.span(start)}
	} else {
		expr = p.parseExpr(modelContext)
	}
	p.expect(tokRightBrace)
	return expr
}

// parseRewardObjective parses the operand of an R operator: C, C<=k, I=k, S, F0 target, Fc target or a path formula.
func (p *parser) parseRewardObjective() Expr {
	objective := &RewardPath{}
	start := p.token.pos
	switch {
	case p.token.kind == kwS:
		return p.parseSteadyOrLongRun()
	case p.longRunRewardAhead():
		p.advance()
		objective.Kind = LongRun
	case p.gameRewardAhead():
		p.parseGameRewardTarget(objective)
	case p.dialect == Storm && p.cumulativeAhead():
		return p.parseCumulative()
	case p.token.kind == kwC:
		p.advance()
		p.treeHeight = 0
		if relationOp(p.token.kind) != OpNone || p.token.kind == tokEqual {
			p.expectBoundSign(tokLessEqual, "C<=k")
			objective.Bound = p.parseExpr(modelContext)
		}
		objective.Kind = Cumulative
	case p.token.kind == kwI:
		p.advance()
		p.expectBoundSign(tokEqual, "I=k")
		objective.Kind, objective.Bound = Instantaneous, p.parseExpr(modelContext)
	default:
		return p.parseExpr(allowProperty | allowTemporal)
	}
	p.addTreeLevel(0)
	objective.Span = p.span(start)
	return objective
}

// expectBoundSign moves past the sign between a reward objective and its bound. form is how this objective is written, for the error at another sign.
func (p *parser) expectBoundSign(sign kind, form string) {
	if !p.accept(sign) {
		p.unexpectedHint(quoteText(kindTexts[sign]), "this objective has the form "+form)
	}
}

// parseGameRewardTarget parses F0 or Fc and its target into an objective.
func (p *parser) parseGameRewardTarget(objective *RewardPath) {
	objective.Kind = ZeroUnlessReached
	if p.atWord(wordUntilReached) {
		objective.Kind = UntilReached
	}
	p.advance()
	objective.Target = p.parseExpr(allowProperty)
}

// parseThreshold parses the text between the name of an operator and its brackets, such as =?, min=? or >=0.5. keywordExtremum is the extremum in a
// keyword such as Pmin. If extremumMayFollow is true, the next word may be an extremum.
func (p *parser) parseThreshold(keywordExtremum Extremum, extremumMayFollow bool) Threshold {
	result := Threshold{Extremum: keywordExtremum}
	if extremumMayFollow {
		result.Extremum = p.parseExtremum()
	}
	isMinOrMax := result.Extremum == Min || result.Extremum == Max
	boundMayFollow := result.Extremum == NoExtremum || isMinOrMax && p.dialect == Storm
	relation := relationOp(p.token.kind)
	if boundMayFollow && relation != OpNone {
		p.advance()
		result.Rel, result.Bound = relation, p.parseExpr(modelContext)
		return result
	}
	if result.Extremum == NoExtremum && p.token.kind != tokEqual {
		p.unexpected(`"=?" or a bound`)
	}
	p.expect(tokEqual)
	p.expect(tokQuestion)
	return result
}

// parseExtremum parses the optional words min and max after P or R, such as min, minmax or min max.
func (p *parser) parseExtremum() Extremum {
	first := extremumOfWord(p.token.kind)
	if first == NoExtremum {
		return first
	}
	p.advance()
	second := p.token.kind
	isComplete := first != Min && first != Max
	if isComplete || !p.accept(kwMin) && !p.accept(kwMax) {
		return first
	}
	switch {
	case first == Min && second == kwMin:
		return MinMin
	case first == Min:
		return MinMax
	case second == kwMin:
		return MaxMin
	}
	return MaxMax
}

// extremumOfWord returns the extremum for a keyword such as max or minmax.
func extremumOfWord(k kind) Extremum {
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

// extremumOfKeyword returns the extremum in an operator's keyword, such as Pmax.
func extremumOfKeyword(k kind) Extremum {
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

// parseOldStyleFilter parses the filter {states}{min}{max} of PRISM's older versions at the end of an operator. It returns nil if there is none.
func (p *parser) parseOldStyleFilter() *OldFilter {
	start := p.token.pos
	if !p.accept(tokLeftBrace) {
		return nil
	}
	filter := &OldFilter{States: p.parseExpr(allowProperty)}
	p.expect(tokRightBrace)
	for p.accept(tokLeftBrace) {
		switch {
		case p.accept(kwMin):
			filter.Min = true
		case p.accept(kwMax):
			filter.Max = true
		default:
			p.unexpected(`"min" or "max"`)
		}
		p.expect(tokRightBrace)
	}
	filter.Span = p.span(start)
	return filter
}

// parseCtlOperator parses the CTL operator E [ path ] or A [ path ].
func (p *parser) parseCtlOperator() Expr {
	start := p.token.pos
	operator := &Quant{All: p.token.kind == kwA}
	p.advance()
	p.expect(tokLeftBracket)
	operator.Path = p.parseExpr(allowProperty | allowTemporal)
	p.expect(tokRightBracket)
	p.addTreeLevel(0)
	operator.Span = p.span(start)
	return operator
}

// parseCoalitionOperator parses <<players>> or [[players]] and its operand. <<*>> is the coalition of all players.
func (p *parser) parseCoalitionOperator(context exprContext) Expr {
	start := p.token.pos
	strategy := &Strategy{IsBox: p.token.kind == tokDoubleLeftBracket}
	end := tokDoubleGreater
	if strategy.IsBox {
		end = tokDoubleRightBracket
	}
	p.advance()
	if p.accept(tokTimes) {
		strategy.All = true
	} else if p.token.kind != end {
		strategy.Coalition = append(strategy.Coalition, p.parsePlayer())
		for p.accept(tokComma) {
			strategy.Coalition = append(strategy.Coalition, p.parsePlayer())
		}
	}
	p.expect(end)
	strategy.X = p.parseCoalitionOperand(context)
	p.addTreeLevel(0)
	strategy.Span = p.span(start)
	return strategy
}

// parsePlayer parses the name or number of a player in a coalition.
func (p *parser) parsePlayer() *Ident {
	ident := &Ident{Name: p.tokenText(p.token), Span: Span{p.token.pos, p.token.endPos()}}
	if !p.accept(tokInt) && !p.accept(tokIdent) {
		p.unexpected("a player")
	}
	return ident
}

// parseCoalitionOperand parses the operand of a coalition operator: a P or R operator, or an expression in parentheses.
func (p *parser) parseCoalitionOperand(context exprContext) Expr {
	switch tokenKind := p.token.kind; {
	case tokenKind == tokLeftParen:
		return p.parseParen(context)
	case startsProbOperator(tokenKind):
		return p.parseProb()
	case startsRewardOperator(tokenKind):
		return p.parseReward()
	}
	p.unexpected(`a P or R operator or "("`)
	return p.badExpr()
}

// parseQuoted parses a label "name" or a reference to a property. The keyword init is a label.
func (p *parser) parseQuoted() Expr {
	start := p.token.pos
	p.advance()
	token := p.token
	switch {
	case p.accept(tokIdent) || p.accept(kwInit):
	case token.kind.isKeyword():
		p.unexpectedHint("a label or property name", fmt.Sprintf("PRISM reserves %q", kindTexts[token.kind]))
	default:
		p.unexpected("a label or property name")
	}
	p.expect(tokQuote)
	return &Quoted{Name: p.tokenText(token), Span: p.span(start)}
}

// parseFilter parses filter(op, property, states) or filter(op, property).
func (p *parser) parseFilter(context exprContext) Expr {
	start := p.token.pos
	p.advance()
	p.expect(tokLeftParen)
	filter := &Filter{Op: p.tokenText(p.token), OpPos: p.token.pos}
	switch p.token.kind {
	case kwMin, kwMax, tokPlus, tokAnd, tokOr, tokIdent:
		p.advance()
	default:
		p.unexpected("a filter type")
	}
	p.expect(tokComma)
	filter.X = p.parseExpr(context)
	operandHeight := p.treeHeight
	if p.accept(tokComma) {
		filter.States = p.parseExpr(context)
	}
	p.addTreeLevel(operandHeight)
	p.expect(tokRightParen)
	filter.Span = p.span(start)
	return filter
}
