package syntax

import (
	"slices"
	"strings"
)

// What only Storm's dialect has.
//
// Source: Storm's FormulaParserGrammar, version 1.14.

// bounds parses the bounds of a temporal operator in Storm's dialect: F<=3, Fsteps<=3,
// F{"r"}<=b,{"q"}<=c or F^{rew{"r"}<=b,steps<=k}, where the ^ may be missing. A single bound on
// steps or time is returned as the *TimeBound.
func (p *parser) bounds() (*TimeBound, []*CostBound) {
	if p.dialect != Storm {
		return p.timeBound(), nil
	}
	braces := p.tok.kind == tokLeftBrace && p.peek() != tokQuote
	if p.tok.kind == tokPower && p.peek() == tokLeftBrace {
		p.advance()
		braces = true
	}
	if !braces && p.tok.kind != tokLeftBrace && p.boundWord() == "" {
		start := p.tok.pos
		bound := p.timeBound()
		if bound == nil || p.tok.kind != tokComma && !p.inQuantile {
			return bound, nil
		}
		return nil, p.costBounds(&CostBound{Word: "time", Bound: bound, Span: p.span(start)})
	}
	if braces {
		p.advance()
	}
	bounds := p.costBounds(p.costBound())
	if braces {
		p.expect(tokRightBrace)
	}
	if len(bounds) == 1 && bounds[0].Word != "rew" && !p.inQuantile {
		return bounds[0].Bound, nil
	}
	return nil, bounds
}

// predicate returns how a predicate of Storm's compares the number of its operands that hold with 1.
func predicate(name string) (relation Op, ok bool) {
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

// predicateOperator parses the operands of a predicate. ExactlyOneOf(a,b) becomes (((a) ? 1 : 0)+((b) ? 1 : 0)=1).
func (p *parser) predicateOperator(context exprContext, name *Ident, relation Op) Expr {
	p.expect(tokLeftParen)
	arguments := p.arguments(context)
	p.expect(tokRightParen)
	span := p.span(name.Start)
	number := func(value int32) Expr { return &IntLit{Value: value, Span: span} }
	var count Expr
	for _, argument := range arguments {
		one := Expr(&Paren{X: &Cond{C: &Paren{X: argument, Span: span}, T: number(1), E: number(0), Span: span}, Span: span})
		if count == nil {
			count = one
		} else {
			count = &Binary{Op: OpAdd, X: count, Y: one, OpPos: name.Start, Span: span}
		}
	}
	p.growHeight(p.height + len(arguments) + 4)
	return &Paren{X: &Binary{Op: relation, X: count, Y: number(1), OpPos: name.Start, Span: span}, Span: span}
}

// costBounds parses the bounds after the first one, with commas between them.
func (p *parser) costBounds(first *CostBound) []*CostBound {
	bounds := []*CostBound{first}
	for p.accept(tokComma) {
		bounds = append(bounds, p.costBound())
	}
	return bounds
}

// boundVariables parses the variables of quantile(min A, B, property), each with the comma behind it.
func (p *parser) boundVariables() []*BoundVariable {
	variables := []*BoundVariable{}
	for !p.failed {
		extremum := map[kind]Extremum{kwMin: Min, kwMax: Max}[p.tok.kind]
		if extremum == NoExtremum && p.peek() != tokComma {
			break
		}
		if extremum != NoExtremum {
			p.advance()
		}
		variables = append(variables, &BoundVariable{extremum, p.ident("the variable of a bound")})
		p.expect(tokComma)
	}
	return variables
}

// boundWord returns rew, steps or time, the word for the bounded quantity, if it is the current
// token, otherwise "".
func (p *parser) boundWord() string {
	if p.tok.kind != tokIdent || !isBoundWord(p.text(p.tok)) {
		return ""
	}
	return p.text(p.tok)
}

func isBoundWord(word string) bool { return word == "rew" || word == "steps" || word == "time" }

// costBound parses one bound of a list in Storm's dialect, such as rew{"r"}<=b, steps<=k or <=t.
func (p *parser) costBound() *CostBound {
	start := p.tok.pos
	bound := &CostBound{Word: p.boundWord()}
	startsBound := relationOp(p.tok.kind) != OpNone || p.tok.kind == tokEqual || p.tok.kind == tokLeftBracket
	switch {
	case bound.Word == "rew":
		p.advance()
		if p.tok.kind == tokLeftBrace {
			bound.Struct = p.rewardIndex()
		}
	case bound.Word != "":
		p.advance()
	case p.tok.kind == tokLeftBrace:
		bound.Word, bound.Struct = "rew", p.rewardIndex()
	case startsBound:
		bound.Word = "time"
	default:
		p.unexpected(`"rew", "steps" or "time"`)
	}
	bound.Bound = p.timeBound()
	if bound.Bound == nil {
		p.unexpected("a bound such as <=2 or [1,2]")
	}
	bound.Span = p.span(start)
	return bound
}

// conditionAhead reports whether the || of a conditional probability or reward is the current token.
func (p *parser) conditionAhead() bool {
	return p.tok.kind == tokOr && p.dialect == Storm && p.inProperties && p.textAt(p.tok, "||")
}

// conditional parses the condition behind a path formula or reward objective, || formula, if there is one.
func (p *parser) conditional(objective Expr) Expr {
	if !p.conditionAhead() {
		return objective
	}
	height := p.height
	p.advance()
	p.advance()
	condition := p.operatorOperand(allowProperty | allowTemporal)
	p.growHeight(height)
	return &Conditional{X: objective, Condition: condition, Span: p.span(objective.Pos())}
}

// splitOperator splits a word such as Usteps or Frew into a temporal operator and the bounded
// quantity, as Storm does. It reports whether the current token is now the operator.
func (p *parser) splitOperator(k kind) bool {
	if p.dialect != Storm || !p.inProperties || p.tok.kind != tokIdent {
		return false
	}
	word, found := strings.CutPrefix(p.text(p.tok), kindTexts[k])
	if !found || !isBoundWord(word) {
		return false
	}
	p.tok.kind, p.tok.end = k, p.tok.pos.Offset+int32(len(kindTexts[k]))
	p.scanner.off = int(p.tok.end)
	return true
}

// splitFuture splits a word such as Fsteps into the operator F and the bounded quantity. It reports
// false, and changes nothing, if no F operator with a bound starts here.
func (p *parser) splitFuture(context exprContext) bool {
	if p.dialect != Storm || p.tok.kind != tokIdent || !p.mayUse(context, allowTemporal) {
		return false
	}
	isFuture := p.canParse(func() {
		if !p.splitOperator(kwF) {
			p.unexpected("")
		}
		p.temporal(context)
	})
	return isFuture && p.splitOperator(kwF)
}

// boundedForSchedulers removes the extremum from an operator that has a bound as well, as Storm's
// dialect allows, without changing the meaning. P>=p holds for all schedulers, so it equals
// Pmin>=p. Pmax>=p holds for some scheduler, so it equals !P<p. Objectives of multi(...) always
// hold for some scheduler.
func (p *parser) boundedForSchedulers(expr Expr, threshold *Threshold) Expr {
	lowerBound, extremum := threshold.Rel == OpGe || threshold.Rel == OpGt, threshold.Extremum
	if threshold.Rel == OpNone || extremum == NoExtremum {
		return expr
	}
	threshold.Extremum = NoExtremum
	if p.inMulti || lowerBound == (extremum == Min) {
		return expr
	}
	switch threshold.Rel {
	case OpGe:
		threshold.Rel = OpLt
	case OpGt:
		threshold.Rel = OpLe
	case OpLe:
		threshold.Rel = OpGt
	case OpLt:
		threshold.Rel = OpGe
	}
	p.growHeight(0)
	return &Unary{Op: OpNot, X: expr, Span: Span{expr.Pos(), expr.End()}}
}

// longRunExtremum returns the extremum in one of Storm's names for the S operator, such as LRAmax;
// false if the word is no such name.
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

// stormOperator returns the current token if it is an operator that only Storm's dialect has (T,
// Tmin, Tmax, Smin, Smax, LRA, LRAmin or LRAmax), otherwise "". T and LRA can also be names of
// constants; they are operators before =? and where an operator with a bound can be parsed.
func (p *parser) stormOperator() string {
	if p.dialect != Storm || p.tok.kind != tokIdent {
		return ""
	}
	name := p.text(p.tok)
	isTime := name == "T" || name == "Tmin" || name == "Tmax"
	if _, isLongRun := longRunExtremum(name); !isTime && !isLongRun {
		return ""
	}
	ahead := p.scanner
	next := ahead.next().kind
	isQuery := next == tokEqual && ahead.next().kind == tokQuestion
	if isQuery || relationOp(next) != OpNone && p.canParseSteady(func() { p.stormOperation(name) }) {
		return name
	}
	return ""
}

// stormOperation parses an operator that stormOperator found.
func (p *parser) stormOperation(name string) Expr {
	if name[0] == 'T' {
		return p.timeOperator()
	}
	extremum, _ := longRunExtremum(name)
	return p.steadyWithExtremum(extremum, allowProperty|allowTemporal)
}

// longRunRewardAhead reports whether LRA or MP, the long-run average in Storm's dialect, is the
// whole objective of the R operator.
func (p *parser) longRunRewardAhead() bool {
	if p.dialect != Storm || p.tok.kind != tokIdent {
		return false
	}
	ahead := p.scanner
	name := p.text(p.tok)
	return (name == "LRA" || name == "MP") && ahead.next().kind == tokRightBracket
}

// cumulativeAhead reports whether the objective C starts here, possibly joined with the bounded
// quantity as in Csteps<=3, or with the word discount.
func (p *parser) cumulativeAhead() bool {
	return p.splitOperator(kwC) || p.tok.kind == kwC || p.discountAhead("Cdiscount")
}

// discountAhead reports whether the current token is a word before the discount factor.
func (p *parser) discountAhead(word string) bool {
	return p.tok.kind == tokIdent && p.text(p.tok) == word && p.peek() == tokEqual
}

// discount parses =d behind the word discount.
func (p *parser) discount() Expr {
	p.advance()
	p.expect(tokEqual)
	return p.expr(modelContext)
}

// cumulative parses the objective C with bounds or a discount factor in Storm's dialect. It reports an error for lower
// and strict bounds, which Storm does not accept.
func (p *parser) cumulative() Expr {
	objective := &RewardPath{Kind: Cumulative}
	start := p.tok.pos
	p.height = 0
	if p.discountAhead("Cdiscount") {
		objective.Discount = p.discount()
		p.growHeight(0)
		objective.Span = p.span(start)
		return objective
	}
	p.advance()
	boundPos := p.tok.pos
	bound, costs := p.bounds()
	isUnsupported := func(cost *CostBound) bool { return !isNonStrictUpper(cost.Bound) }
	if bound != nil && !isNonStrictUpper(bound) || slices.ContainsFunc(costs, isUnsupported) {
		p.fail(boundPos, "lower and strict bounds are not supported with C, want C<=k")
	} else if len(costs) > 0 {
		objective.Costs = costs
	} else if bound != nil {
		objective.Bound = bound.High
	}
	if height := p.height; objective.Bound != nil && p.discountAhead("discount") {
		objective.Discount = p.discount()
		p.height = max(height, p.height)
	}
	p.growHeight(0)
	objective.Span = p.span(start)
	return objective
}

// isNonStrictUpper reports whether a bound is <=e.
func isNonStrictUpper(timeBound *TimeBound) bool {
	return timeBound.High != nil && timeBound.Low == nil && !timeBound.HighStrict
}

// timeOperator parses Storm's operator T=?, Tmin=? or Tmax=? for expected time, as an R operator
// over the reward structure TimeRewards.
func (p *parser) timeOperator() Expr {
	start := p.tok.pos
	extremum := map[string]Extremum{"Tmin": Min, "Tmax": Max}[p.text(p.tok)]
	p.advance()
	p.height = 0
	operator := &Reward{Time: true, Struct: &Quoted{Name: TimeRewards, Span: p.span(start)}}
	operator.Threshold = p.threshold(extremum, false)
	height := p.height
	p.expect(tokLeftBracket)
	operator.Path = p.expr(allowProperty | allowTemporal)
	height = max(height, p.height)
	p.growHeight(height)
	p.expect(tokRightBracket)
	operator.Span = p.span(start)
	return p.boundedForSchedulers(operator, &operator.Threshold)
}
