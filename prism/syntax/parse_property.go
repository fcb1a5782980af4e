package syntax

import "fmt"

// properties parses a properties file. It leaves out items with errors.
func (p *parser) properties() *Properties {
	start := p.tok.pos
	props := &Properties{File: p.file}
	for p.tok.kind != tokEOF {
		item := p.propertyItem()
		if p.failed {
			p.resynchronize(stopAtSemicolon)
			continue
		}
		props.Items = append(props.Items, item)
	}
	props.Trailing = p.remainingComments()
	props.Span = p.span(start)
	return props
}

// propertyItem parses one constant, label or property of a properties file.
func (p *parser) propertyItem() PropItem {
	switch p.tok.kind {
	case kwConst, kwRate, kwProb:
		return p.constDecl()
	case kwLabel:
		return p.labelDecl()
	}
	return p.property()
}

// property parses a property with its optional name and the semicolons after it.
func (p *parser) property() *Property {
	statement := p.beginStatement()
	prop := &Property{Doc: statement.doc}
	if p.propertyNameAhead() {
		prop.Name = p.quotedName("a property name")
		p.expect(tokColon)
	}
	if p.enterNesting() {
		prop.X = p.cond(allowProperty)
		p.depth--
	}
	prop.Span = p.span(statement.start)
	p.skipSemicolons()
	prop.Notes, _ = p.finishStatement(statement)
	return prop
}

// propertyNameAhead reports whether the next tokens are the quoted name of a property and a colon.
func (p *parser) propertyNameAhead() bool {
	if p.tok.kind != tokQuote {
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

// propertyOperator parses the operator, label or filter at the current token.
func (p *parser) propertyOperator(context exprContext) Expr {
	switch k := p.tok.kind; {
	case startsProbOperator(k):
		return p.prob()
	case startsRewardOperator(k):
		return p.reward()
	case k == kwS:
		return p.steadyIn(context)
	case k == kwE || k == kwA:
		return p.ctlOperator()
	case k == tokQuote:
		return p.quoted()
	case k == kwFilter:
		return p.filter(context)
	}
	return p.coalitionOperator(context)
}

// prob parses a P operator, such as P>=0.5 [ F a ] or Pmax=? [ F a ].
func (p *parser) prob() Expr {
	start, keyword := p.tok.pos, p.tok.kind
	p.advance()
	p.treeHeight = 0
	operator := &Prob{}
	if keyword == kwP {
		operator.Modifier = p.modifier()
	}
	operator.Threshold = p.threshold(extremumOfKeyword(keyword), keyword == kwP)
	operator.Path, operator.Filter = p.operatorBrackets(p.treeHeight, func() Expr {
		return p.conditional(p.operatorOperand(allowProperty | allowTemporal))
	})
	operator.Span = p.span(start)
	return p.withoutExtremum(operator, &operator.Threshold)
}

// operatorBrackets parses the brackets of an operator: its operand, by parseOperand, and an optional old-style filter. treeHeight is the height
// of the syntax trees before the brackets.
func (p *parser) operatorBrackets(treeHeight int, parseOperand func() Expr) (operand Expr, filter *OldFilter) {
	p.expect(tokLeftBracket)
	operand = parseOperand()
	treeHeight = max(treeHeight, p.treeHeight)
	filter = p.oldStyleFilter()
	p.addTreeLevel(treeHeight)
	p.expect(tokRightBracket)
	return operand, filter
}

// operatorOperand parses the operand of an operator.
func (p *parser) operatorOperand(context exprContext) Expr {
	wasInMulti := p.inMulti
	p.inMulti = false // operators inside of the operand are not objectives of multi(...)
	operand := p.expr(context)
	p.inMulti = wasInMulti
	return operand
}

// steady parses an S operator inside an R operator. As in PRISM, its brackets may contain temporal operators.
func (p *parser) steady() Expr { return p.steadyIn(allowProperty | allowTemporal) }

// steadyIn parses an S operator of PRISM's language in the given context.
func (p *parser) steadyIn(context exprContext) Expr { return p.steadyWithExtremum(NoExtremum, context) }

// steadyWithExtremum parses an S operator with the extremum in its name, such as Smax in Storm's dialect.
func (p *parser) steadyWithExtremum(extremum Extremum, context exprContext) Expr {
	start := p.tok.pos
	p.advance()
	p.treeHeight = 0
	operator := &Steady{Modifier: p.modifier()}
	if operator.Modifier != nil && relationOp(p.tok.kind) == OpNone {
		p.unexpected("a bound, < <= > or >=")
	} else {
		operator.Threshold = p.threshold(extremum, false)
	}
	operator.X, operator.Filter = p.operatorBrackets(p.treeHeight, func() Expr { return p.expr(context) })
	operator.Span = p.span(start)
	return p.withoutExtremum(operator, &operator.Threshold)
}

// reward parses an R operator, such as R{"r"}min=? [ F a ].
func (p *parser) reward() Expr {
	start, keyword := p.tok.pos, p.tok.kind
	p.advance()
	p.treeHeight = 0
	operator := &Reward{}
	if keyword == kwR {
		operator.Modifier = p.modifier()
		operator.Struct, operator.StructDivisor = p.rewardStructs()
	}
	structHeight := p.treeHeight
	operator.Threshold = p.threshold(extremumOfKeyword(keyword), keyword == kwR)
	operator.Path, operator.Filter = p.operatorBrackets(max(structHeight, p.treeHeight), func() Expr {
		return p.conditional(p.rewardObjective())
	})
	operator.Span = p.span(start)
	return p.withoutExtremum(operator, &operator.Threshold)
}

// rewardStructs parses the optional reward structures of an R operator: {"r"}, or {"r"}/{"s"} for a ratio. A missing structure is nil.
func (p *parser) rewardStructs() (rewards, divisor Expr) {
	if p.tok.kind != tokLeftBrace {
		return nil, nil
	}
	rewards = p.rewardStruct()
	if p.accept(tokDivide) {
		divisor = p.rewardStruct()
	}
	return rewards, divisor
}

// modifier parses the optional (modifier) behind the letter of an operator.
func (p *parser) modifier() *Ident {
	if !p.accept(tokLeftParen) {
		return nil
	}
	ident := p.ident("a modifier")
	p.expect(tokRightParen)
	return ident
}

// rewardStruct parses a reward structure in braces: a name, as in {"name"}, or a number, as in {2}.
func (p *parser) rewardStruct() Expr {
	var expr Expr
	p.expect(tokLeftBrace)
	if start := p.tok.pos; p.tok.kind == tokQuote {
		ident := p.quotedName("the name of a reward structure")
		expr = &Quoted{Name: ident.Name, Span: p.span(start)}
	} else {
		expr = p.expr(modelContext)
	}
	p.expect(tokRightBrace)
	return expr
}

// rewardObjective parses the operand of an R operator: C, C<=k, I=k, S, F0 target, Fc target or a path formula.
func (p *parser) rewardObjective() Expr {
	objective := &RewardPath{}
	start := p.tok.pos
	switch {
	case p.tok.kind == kwS:
		return p.steadyOrLongRun()
	case p.longRunRewardAhead():
		p.advance()
		objective.Kind = LongRun
	case p.gameReward():
		p.gameRewardTarget(objective)
	case p.dialect == Storm && p.cumulativeAhead():
		return p.cumulative()
	case p.tok.kind == kwC:
		p.advance()
		p.treeHeight = 0
		if p.accept(tokLessEqual) {
			objective.Bound = p.expr(modelContext)
		}
		objective.Kind = Cumulative
	case p.tok.kind == kwI:
		p.advance()
		p.expect(tokEqual)
		objective.Kind, objective.Bound = Instantaneous, p.expr(modelContext)
	default:
		return p.expr(allowProperty | allowTemporal)
	}
	p.addTreeLevel(0)
	objective.Span = p.span(start)
	return objective
}

// gameRewardTarget parses F0 or Fc and its target into an objective.
func (p *parser) gameRewardTarget(objective *RewardPath) {
	objective.Kind = ZeroUnlessReached
	if p.atWord(wordUntilReached) {
		objective.Kind = UntilReached
	}
	p.advance()
	objective.Target = p.expr(allowProperty)
}

// threshold parses the text between the name of an operator and its brackets, such as =?, min=? or >=0.5. ofKeyword is the extremum in a keyword
// such as Pmin. extremumMayFollow says that the extremum may be the next word.
func (p *parser) threshold(ofKeyword Extremum, extremumMayFollow bool) Threshold {
	result := Threshold{Extremum: ofKeyword}
	if extremumMayFollow {
		result.Extremum = p.extremum()
	}
	isMinOrMax := result.Extremum == Min || result.Extremum == Max
	boundMayFollow := result.Extremum == NoExtremum || isMinOrMax && p.dialect == Storm
	relation := relationOp(p.tok.kind)
	if boundMayFollow && relation != OpNone {
		p.advance()
		result.Rel, result.Bound = relation, p.expr(modelContext)
		return result
	}
	if result.Extremum == NoExtremum && p.tok.kind != tokEqual {
		p.unexpected(`"=?" or a bound`)
	}
	p.expect(tokEqual)
	p.expect(tokQuestion)
	return result
}

// extremum parses the optional words min and max after P or R, such as min, minmax or min max.
func (p *parser) extremum() Extremum {
	first := extremumOfWord(p.tok.kind)
	if first == NoExtremum {
		return first
	}
	p.advance()
	second := p.tok.kind
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

// oldStyleFilter parses the filter {states}{min}{max} of PRISM's older versions at the end of an operator. It returns nil if there is none.
func (p *parser) oldStyleFilter() *OldFilter {
	start := p.tok.pos
	if !p.accept(tokLeftBrace) {
		return nil
	}
	filter := &OldFilter{States: p.expr(allowProperty)}
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

// ctlOperator parses the CTL operator E [ path ] or A [ path ].
func (p *parser) ctlOperator() Expr {
	start := p.tok.pos
	operator := &Quant{All: p.tok.kind == kwA}
	p.advance()
	p.expect(tokLeftBracket)
	operator.Path = p.expr(allowProperty | allowTemporal)
	p.expect(tokRightBracket)
	p.addTreeLevel(0)
	operator.Span = p.span(start)
	return operator
}

// coalitionOperator parses <<players>> or [[players]] and its operand. <<*>> is the coalition of all players.
func (p *parser) coalitionOperator(context exprContext) Expr {
	start := p.tok.pos
	strategy := &Strategy{Box: p.tok.kind == tokDoubleLeftBracket}
	end := tokDoubleGreater
	if strategy.Box {
		end = tokDoubleRightBracket
	}
	p.advance()
	if p.accept(tokTimes) {
		strategy.All = true
	} else if p.tok.kind != end {
		strategy.Coalition = append(strategy.Coalition, p.player())
		for p.accept(tokComma) {
			strategy.Coalition = append(strategy.Coalition, p.player())
		}
	}
	p.expect(end)
	strategy.X = p.coalitionOperand(context)
	p.addTreeLevel(0)
	strategy.Span = p.span(start)
	return strategy
}

// player parses the name or number of a player in a coalition.
func (p *parser) player() *Ident {
	ident := &Ident{Name: p.text(p.tok), Span: Span{p.tok.pos, p.tok.endPos()}}
	if !p.accept(tokInt) && !p.accept(tokIdent) {
		p.unexpected("a player")
	}
	return ident
}

// coalitionOperand parses the operand of a coalition operator: a P or R operator, or an expression in parentheses.
func (p *parser) coalitionOperand(context exprContext) Expr {
	switch k := p.tok.kind; {
	case k == tokLeftParen:
		return p.paren(context)
	case startsProbOperator(k):
		return p.prob()
	case startsRewardOperator(k):
		return p.reward()
	}
	p.unexpected(`a P or R operator or "("`)
	return p.badExpr()
}

// quoted parses a label "name" or a reference to a property. The keyword init is a label.
func (p *parser) quoted() Expr {
	start := p.tok.pos
	p.advance()
	tok := p.tok
	switch {
	case p.accept(tokIdent) || p.accept(kwInit):
	case tok.kind.isKeyword():
		p.unexpectedHint("a label or property name", fmt.Sprintf("PRISM reserves %q", kindTexts[tok.kind]))
	default:
		p.unexpected("a label or property name")
	}
	p.expect(tokQuote)
	return &Quoted{Name: p.text(tok), Span: p.span(start)}
}

// filter parses filter(op, property, states) or filter(op, property).
func (p *parser) filter(context exprContext) Expr {
	start := p.tok.pos
	p.advance()
	p.expect(tokLeftParen)
	filter := &Filter{Op: p.text(p.tok), OpPos: p.tok.pos}
	switch p.tok.kind {
	case kwMin, kwMax, tokPlus, tokAnd, tokOr, tokIdent:
		p.advance()
	default:
		p.unexpected("a filter type")
	}
	p.expect(tokComma)
	filter.X = p.expr(context)
	operandHeight := p.treeHeight
	if p.accept(tokComma) {
		filter.States = p.expr(context)
	}
	p.addTreeLevel(operandHeight)
	p.expect(tokRightParen)
	filter.Span = p.span(start)
	return filter
}
