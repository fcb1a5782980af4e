package syntax

import (
	"slices"
	"strings"
)

// The syntax that only Storm's dialect has.
//
// Source: Storm's FormulaParserGrammar, version 1.14.

// parseBounds parses the bounds of a temporal operator, such as <=3, steps<=3, {"r"}<=b or ^{rew{"r"}<=b,steps<=k}. A single bound on steps or
// time is returned as single, and other bounds as list.
func (p *parser) parseBounds() (single *TimeBound, list []*CostBound) {
	if p.dialect != Storm {
		return p.parseTimeBound(), nil
	}
	startsWithCaret := p.token.kind == tokPower && p.peek() == tokLeftBrace
	startsWithBrace := p.token.kind == tokLeftBrace && p.peek() != tokQuote // in {"r"}<=b the brace belongs to the bound
	switch {
	case startsWithCaret || startsWithBrace:
		list = p.parseBoundsInBraces()
	case p.token.kind == tokLeftBrace || p.boundWord() != "":
		list = p.parseCostBounds(p.parseCostBound())
	default:
		return p.parseBoundsFromTime()
	}
	if len(list) == 1 && list[0].Word != "rew" && !p.isInQuantile {
		return list[0].Bound, nil
	}
	return nil, list
}

// parseBoundsInBraces parses ^{rew{"r"}<=b,steps<=k}. The ^ may be missing.
func (p *parser) parseBoundsInBraces() []*CostBound {
	p.accept(tokPower)
	p.expect(tokLeftBrace)
	bounds := p.parseCostBounds(p.parseCostBound())
	p.expect(tokRightBrace)
	return bounds
}

// parseBoundsFromTime parses bounds that begin with a bound on steps or time, such as <=3 or <=3,{"r"}<=b. Both results are nil if there is no bound.
func (p *parser) parseBoundsFromTime() (single *TimeBound, list []*CostBound) {
	start := p.token.pos
	bound := p.parseTimeBound()
	isList := p.token.kind == tokComma || p.isInQuantile
	if bound == nil || !isList {
		return bound, nil
	}
	return nil, p.parseCostBounds(&CostBound{Word: "time", Bound: bound, Span: p.span(start)})
}

// predicateRelation returns the relation between the number of true operands and 1 that one of Storm's predicates demands: >= for AtLeastOneOf. ok
// is false for other names.
func predicateRelation(name string) (relation Op, ok bool) {
	switch name {
	case "AtLeastOneOf":
		return OpGe, true
	case "AtMostOneOf":
		return OpLe, true
	case "ExactlyOneOf":
		return OpEq, true
	}
	return OpNone, false
}

// parsePredicateOperator parses the operands of a predicate of Storm. ExactlyOneOf(a,b) becomes (((a) ? 1 : 0)+((b) ? 1 : 0)=1).
func (p *parser) parsePredicateOperator(context exprContext, name *Ident, relation Op) Expr {
	p.expect(tokLeftParen)
	arguments := p.parseArguments(context)
	p.expect(tokRightParen)
	span := p.span(name.Start)
	literal := func(value int32) Expr { return &IntLit{Value: value, Span: span} }
	paren := func(expr Expr) Expr { return &Paren{X: expr, Span: span} }
	binary := func(op Op, left, right Expr) Expr {
		return &Binary{Op: op, X: left, Y: right, OpPos: name.Start, Span: span}
	}
	var numTrue Expr
	for _, argument := range arguments {
		zeroOrOne := paren(&Cond{Condition: paren(argument), Then: literal(1), Else: literal(0), Span: span})
		if numTrue == nil {
			numTrue = zeroOrOne
		} else {
			numTrue = binary(OpAdd, numTrue, zeroOrOne)
		}
	}
	// The chain of sums has a level for each argument; four levels are two pairs of parentheses, the conditional and the comparison.
	p.addTreeLevel(p.treeHeight + len(arguments) + 4)
	return paren(binary(relation, numTrue, literal(1)))
}

// parseCostBounds parses the bounds after the first one, each after a comma. It returns all of them.
func (p *parser) parseCostBounds(first *CostBound) []*CostBound {
	bounds := []*CostBound{first}
	for p.accept(tokComma) {
		bounds = append(bounds, p.parseCostBound())
	}
	return bounds
}

// parseBoundVariables parses the variables min A, B, ... at the start of quantile(min A, B, property). The word min or max before a variable is
// optional.
func (p *parser) parseBoundVariables() []*BoundVariable {
	variables := []*BoundVariable{}
	for !p.hasFailed {
		extremum := map[kind]Extremum{kwMin: Min, kwMax: Max}[p.token.kind]
		if extremum == NoExtremum && p.peek() != tokComma {
			break
		}
		if extremum != NoExtremum {
			p.advance()
		}
		variables = append(variables, &BoundVariable{extremum, p.parseIdent("the variable of a bound")})
		p.expect(tokComma)
	}
	return variables
}

// boundWord returns the current token if it is rew, steps or time, or else "".
func (p *parser) boundWord() string {
	if p.token.kind != tokIdent || !isBoundWord(p.tokenText(p.token)) {
		return ""
	}
	return p.tokenText(p.token)
}

func isBoundWord(word string) bool { return word == "rew" || word == "steps" || word == "time" }

// parseCostBound parses one bound of a list in Storm's dialect, such as rew{"r"}<=b, steps<=k or <=t.
func (p *parser) parseCostBound() *CostBound {
	start := p.token.pos
	bound := &CostBound{Word: p.boundWord()}
	startsBound := relationOp(p.token.kind) != OpNone || p.token.kind == tokEqual || p.token.kind == tokLeftBracket
	switch {
	case bound.Word == "rew":
		p.advance()
		if p.token.kind == tokLeftBrace {
			bound.Struct = p.parseRewardStruct()
		}
	case bound.Word != "":
		p.advance()
	case p.token.kind == tokLeftBrace:
		bound.Word, bound.Struct = "rew", p.parseRewardStruct()
	case startsBound:
		bound.Word = "time"
	default:
		p.unexpected(`"rew", "steps" or "time"`)
	}
	bound.Bound = p.parseTimeBound()
	if bound.Bound == nil {
		p.unexpected("a bound such as <=2 or [1,2]")
	}
	bound.Span = p.span(start)
	return bound
}

// conditionAhead reports whether the || of a conditional probability or reward is the current token.
func (p *parser) conditionAhead() bool {
	return p.token.kind == tokOr && p.dialect == Storm && p.isProperties && p.textAt(p.token, "||")
}

// parseConditional parses the condition `|| formula` after a path formula or reward objective. Without a condition, it returns the objective.
func (p *parser) parseConditional(objective Expr) Expr {
	if !p.conditionAhead() {
		return objective
	}
	treeHeight := p.treeHeight
	p.advance()
	p.advance()
	condition := p.parseOperatorOperand(allowProperty | allowTemporal)
	p.addTreeLevel(treeHeight)
	return &Conditional{X: objective, Condition: condition, Span: p.span(objective.Pos())}
}

// mayJoinOperator reports whether the current token may be a word that Storm reads as an operator and a bounded quantity, such as Usteps.
func (p *parser) mayJoinOperator() bool {
	return p.dialect == Storm && p.isProperties && p.token.kind == tokIdent
}

// splitOperator splits a word of Storm such as Usteps: the current token becomes the operator U, and the next token is the bounded quantity
// steps. For other words, it changes nothing and returns false.
func (p *parser) splitOperator(operator kind) bool {
	if !p.mayJoinOperator() {
		return false
	}
	letter := kindTexts[operator]
	quantity, isOperator := strings.CutPrefix(p.tokenText(p.token), letter)
	if !isOperator || !isBoundWord(quantity) {
		return false
	}
	// The operator becomes the current token.
	p.token.kind, p.token.end = operator, p.token.pos.Offset+int32(len(letter))
	p.scanner.offset = int(p.token.end) // scan the quantity next
	return true
}

// splitFuture splits a word such as Fsteps into F and the bounded quantity. If the text from the word on is not an F with a bound, it changes
// nothing and returns false.
func (p *parser) splitFuture(context exprContext) bool {
	if !p.mayUse(context, allowTemporal) {
		return false
	}
	isBoundedFuture := p.canParse(func() {
		if !p.splitOperator(kwF) {
			p.unexpected("") // makes canParse return false
		}
		p.parseTemporal(context)
	})
	return isBoundedFuture && p.splitOperator(kwF)
}

// withoutExtremum replaces an operator with both an extremum and a bound by an equivalent one without the extremum. Pmin>=p becomes P>=p, and
// Pmax>=p becomes !P<p.
func (p *parser) withoutExtremum(operator Expr, threshold *Threshold) Expr {
	if threshold.Rel == OpNone || threshold.Extremum == NoExtremum {
		return operator
	}
	isLowerBound := threshold.Rel == OpGe || threshold.Rel == OpGt
	isMinimum := threshold.Extremum == Min
	holdsForAll := isLowerBound == isMinimum // Pmin>=p or Pmax<=p
	threshold.Extremum = NoExtremum
	if p.isInMulti || holdsForAll { // an objective of multi(...) is about some scheduler anyway
		return operator
	}
	threshold.Rel = threshold.Rel.Negated()
	p.addTreeLevel(0)
	return &Unary{Op: OpNot, X: operator, Span: Span{operator.Pos(), operator.End()}}
}

// longRunExtremum returns the extremum in one of Storm's names for the S operator, such as LRAmax. ok is false for other names.
func longRunExtremum(name string) (extremum Extremum, ok bool) {
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

// stormOperator returns the current token if it is an operator that only Storm's dialect has, such as T or LRAmin. Otherwise it returns "".
func (p *parser) stormOperator() string {
	if p.dialect != Storm || p.token.kind != tokIdent {
		return ""
	}
	name := p.tokenText(p.token)
	isTime := name == "T" || name == "Tmin" || name == "Tmax"
	_, isLongRun := longRunExtremum(name)
	if (isTime || isLongRun) && p.stormThresholdAhead(name) {
		return name
	}
	return ""
}

// stormThresholdAhead reports whether =?, or a bound and the brackets of an operator, follow a name such as T or LRA. Then the name is no constant.
func (p *parser) stormThresholdAhead(name string) bool {
	ahead := p.scanner
	next := ahead.next().kind
	isQuery := next == tokEqual && ahead.next().kind == tokQuestion
	startsBound := relationOp(next) != OpNone
	return isQuery || startsBound && p.canParseOperator(func() { p.parseStormOperation(name) })
}

// parseStormOperation parses the operator with this name: T or a variant of S.
func (p *parser) parseStormOperation(name string) Expr {
	if name[0] == 'T' {
		return p.parseTimeOperator()
	}
	extremum, _ := longRunExtremum(name)
	return p.parseSteadyWithExtremum(extremum, allowProperty|allowTemporal)
}

// longRunRewardAhead reports whether LRA or MP is the whole objective of an R operator.
func (p *parser) longRunRewardAhead() bool {
	if p.dialect != Storm || p.token.kind != tokIdent {
		return false
	}
	ahead := p.scanner
	name := p.tokenText(p.token)
	return (name == "LRA" || name == "MP") && ahead.next().kind == tokRightBracket
}

// cumulativeAhead reports whether the objective C starts here. The next word may be joined with it, as in Csteps or Cdiscount.
func (p *parser) cumulativeAhead() bool {
	return p.splitOperator(kwC) || p.token.kind == kwC || p.discountAhead("Cdiscount")
}

// discountAhead reports whether the current token is this word and an equals sign follows.
func (p *parser) discountAhead(word string) bool {
	return p.token.kind == tokIdent && p.tokenText(p.token) == word && p.peek() == tokEqual
}

// parseDiscount parses a word and the discount factor after it: discount=0.9.
func (p *parser) parseDiscount() Expr {
	p.advance()
	p.expect(tokEqual)
	return p.parseExpr(modelContext)
}

// parseCumulative parses the objective C with bounds or a discount factor in Storm's dialect.
func (p *parser) parseCumulative() Expr {
	objective := &RewardPath{Kind: Cumulative}
	start := p.token.pos
	p.treeHeight = 0
	if p.discountAhead("Cdiscount") {
		objective.Discount = p.parseDiscount()
		p.addTreeLevel(0)
		objective.Span = p.span(start)
		return objective
	}
	p.advance()
	boundPos := p.token.pos
	bound, costs := p.parseBounds()
	isUnsupported := func(cost *CostBound) bool { return !isNonStrictUpper(cost.Bound) }
	switch {
	case bound != nil && !isNonStrictUpper(bound) || slices.ContainsFunc(costs, isUnsupported): // Storm refuses these, too
		p.fail(boundPos, "lower and strict bounds are not supported with C, want C<=k")
	case len(costs) > 0:
		objective.Costs = costs
	case bound != nil:
		objective.Bound = bound.High
	}
	if objective.Bound != nil && p.discountAhead("discount") {
		boundHeight := p.treeHeight
		objective.Discount = p.parseDiscount()
		p.treeHeight = max(boundHeight, p.treeHeight)
	}
	p.addTreeLevel(0)
	objective.Span = p.span(start)
	return objective
}

// isNonStrictUpper reports whether a bound is <=e.
func isNonStrictUpper(timeBound *TimeBound) bool {
	return timeBound.High != nil && timeBound.Low == nil && !timeBound.IsHighStrict
}

// parseTimeOperator parses Storm's operator T=?, Tmin=? or Tmax=? for expected time, as an R operator over the reward structure TimeRewards.
func (p *parser) parseTimeOperator() Expr {
	start := p.token.pos
	extremum := map[string]Extremum{"Tmin": Min, "Tmax": Max}[p.tokenText(p.token)]
	p.advance()
	p.treeHeight = 0 // parseThreshold changes it if the threshold is an expression
	operator := &Reward{IsTimeReward: true, Struct: &Quoted{Name: TimeRewards, Span: p.span(start)}}
	operator.Threshold = p.parseThreshold(extremum, false)
	thresholdHeight := p.treeHeight
	p.expect(tokLeftBracket)
	operator.Path = p.parseExpr(allowProperty | allowTemporal)
	p.addTreeLevel(thresholdHeight)
	p.expect(tokRightBracket)
	operator.Span = p.span(start)
	return p.withoutExtremum(operator, &operator.Threshold)
}
