package syntax

import (
	"slices"
	"strings"
)

// What only Storm's dialect has.
//
// Source: Storm's FormulaParserGrammar, version 1.14.

// bounds parses the bounds of a temporal operator: F<=3, Fsteps<=3, F{"r"}<=b,{"q"}<=c or
// F^{rew{"r"}<=b,steps<=k}, where the ^ may be missing. One bound on steps or time is as
// without a word.
func (p *parser) bounds() (*TimeBound, []*CostBound) {
	if p.dialect != Storm {
		return p.timeBound(), nil
	}
	braces := p.tok.kind == tLBrace && p.peek() != tQuote
	if p.tok.kind == tPower && p.peek() == tLBrace {
		p.advance()
		braces = true
	}
	if !braces && p.tok.kind != tLBrace && p.boundWord() == "" {
		start := p.tok.pos
		b := p.timeBound()
		if b == nil || p.tok.kind != tComma {
			return b, nil
		}
		return nil, p.costs(&CostBound{Word: "time", Bound: b, Span: p.span(start)})
	}
	if braces {
		p.advance()
	}
	out := p.costs(p.cost())
	if braces {
		p.expect(tRBrace)
	}
	if len(out) == 1 && out[0].Word != "rew" {
		return out[0].Bound, nil
	}
	return nil, out
}

// costs parses what follows the first of several bounds.
func (p *parser) costs(first *CostBound) []*CostBound {
	out := []*CostBound{first}
	for p.accept(tComma) {
		out = append(out, p.cost())
	}
	return out
}

// boundWord returns the word at tok that says which quantity is bounded; "" if there is none.
func (p *parser) boundWord() string {
	if p.tok.kind != tIdent || !isBoundWord(p.text(p.tok)) {
		return ""
	}
	return p.text(p.tok)
}

func isBoundWord(word string) bool { return word == "rew" || word == "steps" || word == "time" }

func (p *parser) cost() *CostBound {
	start := p.tok.pos
	b := &CostBound{Word: p.boundWord()}
	switch k := p.tok.kind; {
	case b.Word == "rew":
		if p.advance(); p.tok.kind == tLBrace {
			b.Struct = p.rewardIndex()
		}
	case b.Word != "":
		p.advance()
	case k == tLBrace:
		b.Word, b.Struct = "rew", p.rewardIndex()
	case relation(k) != OpNone || k == tEq || k == tLBrack:
		b.Word = "time"
	default:
		p.unexpected(`"rew", "steps" or "time"`)
	}
	if b.Bound = p.timeBound(); b.Bound == nil {
		p.unexpected("a bound such as <=2 or [1,2]")
	}
	b.Span = p.span(start)
	return b
}

// splitOperator splits a word such as Usteps or Frew into a temporal operator and the bounded
// quantity, as Storm does if the word is not a name. It reports whether tok is now the operator.
func (p *parser) splitOperator(k kind) bool {
	if p.dialect != Storm || !p.props || p.tok.kind != tIdent {
		return false
	}
	word, found := strings.CutPrefix(p.text(p.tok), kindTexts[k])
	if !found || !isBoundWord(word) {
		return false
	}
	p.tok.kind, p.tok.end = k, p.tok.pos.Offset+int32(len(kindTexts[k]))
	p.s.off = int(p.tok.end)
	return true
}

// future reports whether a word such as Fsteps is at tok, and starts an F operator with a bound.
func (p *parser) future(c ctx) bool {
	return p.dialect == Storm && p.tok.kind == tIdent && p.allows(c, ctxPath) &&
		p.tries(func() {
			if !p.splitOperator(kwF) {
				p.unexpected("")
			}
			p.temporal(c)
		}) && p.splitOperator(kwF)
}

// compared returns an operator whose threshold may have an extremum and a bound. P>=p holds for
// all schedulers, so it equals Pmin>=p. Pmax>=p holds for some scheduler, so it equals !P<p.
// Objectives of multi(...) always hold for some scheduler.
func (p *parser) compared(x Expr, t *Threshold) Expr {
	least, extremum := t.Rel == OpGe || t.Rel == OpGt, t.Extremum
	if t.Rel == OpNone || extremum == NoExtremum {
		return x
	}
	t.Extremum = NoExtremum
	if p.multi || least == (extremum == Min) {
		return x
	}
	switch t.Rel {
	case OpGe:
		t.Rel = OpLt
	case OpGt:
		t.Rel = OpLe
	case OpLe:
		t.Rel = OpGt
	case OpLt:
		t.Rel = OpGe
	}
	p.grow(0)
	return &Unary{Op: OpNot, X: x, Span: Span{x.Pos(), x.End()}}
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
// Tmax=?, Smin=?, LRA=? and so on, or with a bound, LRA>=0.5 [...], if one is at tok. T and LRA may be the
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
	case relation(next) != OpNone && p.triesSteady(func() { p.stormOperation(name) }):
	default:
		return ""
	}
	return name
}

// stormOperation parses the operator of that name.
func (p *parser) stormOperation(name string) Expr {
	if name[0] == 'T' {
		return p.timeOperator()
	}
	fixed, _ := longRunExtremum(name)
	return p.steadyOf(fixed, ctxProp|ctxPath)
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

// cumulated reports whether C is at tok, possibly joined with the bounded quantity, or discounted.
func (p *parser) cumulated() bool {
	if p.tok.kind == tIdent && p.text(p.tok) == "Cdiscount" {
		p.fail(p.tok.pos, "discounted rewards (Cdiscount) are not supported")
		return true
	}
	return p.splitOperator(kwC) || p.tok.kind == kwC
}

// cumulative parses C with any bounds of Storm's dialect, and refuses those that Storm does not accept.
func (p *parser) cumulative() Expr {
	x := &RewardPath{Kind: Cumulative}
	start := p.tok.pos
	p.advance()
	p.height = 0
	behind := p.tok.pos
	switch b, costs := p.bounds(); {
	case b != nil && !nonStrictUpper(b) || slices.ContainsFunc(costs, func(c *CostBound) bool { return !nonStrictUpper(c.Bound) }):
		p.fail(behind, "lower and strict bounds are not supported with C, want C<=k")
	case len(costs) > 0:
		x.Costs = costs
	case b != nil:
		x.Bound = b.High
	}
	if p.tok.kind == tIdent && p.text(p.tok) == "discount" {
		p.fail(p.tok.pos, "discounted rewards are not supported")
	}
	p.grow(0)
	x.Span = p.span(start)
	return x
}

// nonStrictUpper reports whether a bound is <=e.
func nonStrictUpper(b *TimeBound) bool { return b.High != nil && b.Low == nil && !b.HighStrict }

// timeOperator parses T=?, Tmin=? or Tmax=? with its brackets.
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
	return p.compared(x, &x.Threshold)
}
