package syntax

import "fmt"

// model parses a model file.
func (p *parser) model() *Model {
	start := p.tok.pos
	m := &Model{File: p.file, Dialect: p.dialect, Truncates: p.dialect == Storm}
	for p.tok.kind != tEOF {
		first := p.tok.kind
		item := p.item()
		if p.bad {
			p.recoverItem(first)
			continue
		}
		if item != nil {
			m.Items = append(m.Items, item)
		}
	}
	m.Trailing = p.trailing()
	m.Span = p.span(start)
	return m
}

func (p *parser) item() Item {
	switch p.tok.kind {
	case kwFormula:
		return p.formulaDecl()
	case kwLabel:
		return p.labelDecl()
	case kwConst, kwRate, kwProb:
		return p.constDecl()
	case kwGlobal:
		h := p.begin()
		g := &GlobalDecl{Doc: h.doc}
		p.advance()
		g.Var = p.varDecl()
		g.Notes, g.Span = p.finish(h)
		return g
	case kwModule:
		return p.module()
	case kwRewards:
		return p.rewards()
	case kwInit:
		h := p.begin()
		b := &InitBlock{Doc: h.doc}
		p.advance()
		b.X = p.expr(0)
		p.expect(kwEndinit)
		b.Notes, b.Span = p.finish(h)
		return b
	case kwObservables:
		return p.observables()
	case kwObservable:
		return p.observable()
	case kwSystem:
		return p.system()
	}
	if t := modelTypeOf(p.tok.kind); t != TypeNone {
		h := p.begin()
		d := &TypeDecl{Doc: h.doc, Type: t, Word: p.text(p.tok)}
		p.advance()
		d.Notes, d.Span = p.finish(h)
		return d
	}
	if x := p.gameItem(); x != nil {
		return x
	}
	p.begin()
	if what, ok := unsupported(p.text(p.tok)); ok { // nothing else of such a model would be understood
		p.fail(p.tok.pos, fmt.Sprintf("found %q: %s", p.text(p.tok), what))
		p.halt()
		return nil
	}
	p.unexpected("a model type, constant, formula, label, variable, module or reward structure")
	return nil
}

// recoverItem skips the rest of an item that starts with the given kind.
func (p *parser) recoverItem(first kind) {
	switch first {
	case kwInit:
		p.recover(false, kwEndinit)
		p.accept(kwEndinit)
	case kwObservables:
		p.recover(false, kwEndobservables)
		p.accept(kwEndobservables)
	case kwSystem:
		p.recover(false, kwEndsystem)
		p.accept(kwEndsystem)
	case kwFormula, kwLabel, kwConst, kwRate, kwProb, kwGlobal, kwObservable, tSemi:
		p.recover(true)
	case kwModule: // a renamed module; others recover on their own
		p.recover(false, kwEndmodule)
		p.accept(kwEndmodule)
	default: // commands after a stray endmodule and the like: one error is enough
		p.recover(false)
	}
}

func modelTypeOf(k kind) ModelType {
	switch k {
	case kwDTMC, kwProbabilistic:
		return DTMC
	case kwMDP, kwNondeterministic:
		return MDP
	case kwCTMC, kwStochastic:
		return CTMC
	case kwPTA:
		return PTA
	case kwPOMDP:
		return POMDP
	case kwPOPTA:
		return POPTA
	}
	return TypeNone
}

// unsupported describes an extension of PRISM's language by other tools that a word starts.
//
// Source: PRISM-games 3.2, Storm 1.14 and PAYNT.
func unsupported(word string) (what string, ok bool) {
	const types = ", want dtmc, ctmc, mdp, pomdp, pta, popta or smg"
	if what, ok := unsupportedGame(word); ok {
		return what, true
	}
	switch word {
	case "ma":
		return "Markov automata in Storm's extension of the language are not supported, want them as a JANI model", true
	case "ctmdp":
		return "continuous-time Markov decision processes are not supported" + types, true
	case "hole":
		return "holes, of PAYNT's sketches, are not supported, want a constant", true
	}
	return "", false
}

func (p *parser) formulaDecl() *FormulaDecl {
	h := p.begin()
	f := &FormulaDecl{Doc: h.doc}
	p.advance()
	f.Name = p.name("a formula name")
	p.expect(tEq)
	f.X = p.expr(0)
	p.expect(tSemi)
	f.Notes, f.Span = p.finish(h)
	return f
}

func (p *parser) labelDecl() *LabelDecl {
	h := p.begin()
	l := &LabelDecl{Doc: h.doc}
	p.advance()
	if p.tok.kind == tIdent {
		l.Name = p.ident("")
		if p.dialect == PRISM {
			p.report(l.Name.Start, fmt.Sprintf("found %s, want a label name in double quotes", quoteText(l.Name.Name)))
		}
	} else {
		l.Name = p.quotedName("a label name")
	}
	p.expect(tEq)
	l.X = p.expr(0)
	p.expect(tSemi)
	l.Notes, l.Span = p.finish(h)
	return l
}

func (p *parser) constDecl() *ConstDecl {
	h := p.begin()
	c := &ConstDecl{Doc: h.doc}
	if p.tok.kind != kwConst { // rate or prob
		c.Type, c.Typed = ConstDouble, true
	}
	p.advance()
	if !c.Typed {
		c.Type, c.Typed = p.constType()
	}
	c.Name = p.name("a constant name")
	if p.accept(tEq) {
		c.Value = p.expr(0)
	}
	p.expect(tSemi)
	c.Notes, c.Span = p.finish(h)
	return c
}

func (p *parser) constType() (t ConstType, typed bool) {
	switch {
	case p.accept(kwInt):
		return ConstInt, true
	case p.accept(kwDouble):
		return ConstDouble, true
	case p.accept(kwBool):
		return ConstBool, true
	}
	return ConstInt, false
}

func (p *parser) varDecl() *VarDecl {
	v := &VarDecl{}
	start := p.tok.pos
	v.Name = p.name("a variable name")
	p.expect(tColon)
	v.TypePos = p.tok.pos
	switch {
	case p.accept(tLBrack):
		v.Low = p.expr(0)
		p.expect(tDots)
		v.High = p.expr(0)
		p.expect(tRBrack)
	case p.accept(kwInt):
		v.Type = IntVar
	case p.accept(kwBool):
		v.Type = BoolVar
	case p.tok.kind == tIdent && p.dialect == Storm && p.text(p.tok) == kindTexts[kwClock]:
		p.advance()
		v.Type = ClockVar
	case p.accept(kwClock):
		v.Type = ClockVar
	default:
		p.unexpected(`"[", "int", "bool" or "clock"`)
	}
	if p.accept(kwInit) {
		v.Init = p.expr(0)
	}
	p.expect(tSemi)
	v.Span = p.span(start)
	return v
}

// module parses a module or a renamed module.
func (p *parser) module() Item {
	h := p.begin()
	p.advance()
	name := p.name("a module name")
	if p.accept(tEq) {
		return p.renamedModule(h, name)
	}
	p.inside(&h)
	m := &Module{Doc: h.doc, Name: name, Head: p.behind()}
	p.moduleBody(m)
	m.Notes, m.Span = p.finish(h)
	return m
}

// moduleBody parses declarations, the invariant and commands up to endmodule.
// After an error it goes on behind the next semicolon.
func (p *parser) moduleBody(m *Module) {
	ordered := true
	for {
		late := len(m.Commands) > 0 || m.Invariant != nil
		switch k := p.tok.kind; {
		case k == kwEndmodule:
			m.Trailing = p.trailing()
			p.noted = int(p.tok.pos.Offset)
			p.advance()
			return
		case p.declAhead(late):
			h := p.begin()
			ordered = p.wantOrder(ordered, late, `a command or "endmodule"; declarations come before the invariant and the commands`)
			v := p.varDecl()
			v.Doc = h.doc
			v.Notes, _ = p.finish(h)
			m.Vars = kept(p, m.Vars, v)
		case k == kwInvariant:
			p.told = false
			ordered = p.wantOrder(ordered, late, `a command or "endmodule"; a module has one invariant, before the commands`)
			p.advance()
			m.Invariant = p.expr(0)
			p.expect(kwEndinvariant)
			if p.bad {
				m.Invariant = nil
			}
			m.InvariantDoc = p.trailingTo(int(p.prev.end))
			p.noted = int(p.prev.end)
		case k == tLBrack:
			m.Commands = kept(p, m.Commands, p.command())
		default:
			p.begin()
			p.unexpected(`a declaration, a command or "endmodule"`)
		}
		if !p.bad {
			continue
		}
		if p.recover(true, kwEndmodule); p.tok.kind == tEOF || p.atItem() {
			return
		}
	}
}

// kept appends a parsed node, unless it is incomplete.
func kept[N Node](p *parser, list []N, n N) []N {
	if p.bad {
		return list
	}
	return append(list, n)
}

// declAhead reports whether tok starts a variable declaration. Where one is out
// of place, or its name is a keyword, the colon has to be there already.
func (p *parser) declAhead(late bool) bool {
	k := p.tok.kind
	if k == tIdent && !late {
		return true
	}
	return (k == tIdent || k.isKeyword() && !structural(k)) && p.peek() == tColon
}

// wantOrder reports the first part of a module that comes too late. It returns
// whether the order has been right so far.
func (p *parser) wantOrder(ordered, late bool, want string) bool {
	if ordered && late {
		p.report(p.tok.pos, "found "+describe(p.s.src, p.tok)+", want "+want)
	}
	return !late && ordered
}

func (p *parser) renamedModule(h head, name *Ident) Item {
	m := &RenamedModule{Doc: h.doc, Name: name, Base: p.name("a module name")}
	p.expect(tLBrack)
	for {
		first := p.tok.pos
		r := &Rename{Old: p.renamable()}
		p.expect(tEq)
		r.New = p.renamable()
		r.Span = p.span(first)
		m.Renames = append(m.Renames, r)
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRBrack)
	p.expect(kwEndmodule)
	m.Notes, m.Span = p.finish(h)
	return m
}

// renamable parses a name in a module renaming; min and max are allowed.
func (p *parser) renamable() *Ident {
	if k := p.tok.kind; k == kwMin || k == kwMax {
		return p.funcName()
	}
	return p.name("a name")
}

func (p *parser) command() *Command {
	h := p.begin()
	c := &Command{Doc: h.doc}
	c.Action = p.action()
	c.Guard = p.expr(0)
	p.expect(tArrow)
	c.Updates = p.updates()
	if p.tok.kind == tPlus {
		p.unexpectedHint(`";"`, "several updates need probabilities: 0.5:(x'=1) + 0.5:(x'=2)")
	}
	p.expect(tSemi)
	c.Notes, c.Span = p.finish(h)
	return c
}

// action parses [action] or [].
func (p *parser) action() *Ident {
	p.expect(tLBrack)
	if p.accept(tRBrack) {
		return nil
	}
	id := p.name(`an action or "]"`)
	p.expect(tRBrack)
	return id
}

// updates parses a single update or a list with probabilities.
func (p *parser) updates() []*Update {
	start := p.tok.pos
	if p.tok.kind == kwTrue || p.tok.kind == tLParen && p.peek() == tPrimed {
		return []*Update{p.singleUpdate()}
	}
	var list []*Update
	for {
		u := &Update{}
		u.Prob, u.ProbHigh = p.likelihood()
		if p.tok.kind != tColon && !p.bad && equation(u.Prob) {
			p.unexpectedHint(`":"`, "an update assigns to primed variables: (x'=1)")
		}
		p.expect(tColon)
		u.Assigns = p.assigns()
		u.Span = p.span(start)
		list = append(list, u)
		if !p.accept(tPlus) {
			return list
		}
		start = p.tok.pos
		if p.tok.kind == tLParen && p.peek() == tPrimed {
			p.advance()
			p.unexpectedHint("an expression", "an update behind + needs a probability, 0.5:(x'=1); the assignments of one update are joined by &")
		}
	}
}

// singleUpdate parses an update without probability. PRISM looks ahead for one; if that fails in
// the first assignment, PRISM parses a probability instead and reports the prime as the error.
func (p *parser) singleUpdate() *Update {
	first, told := p.mark(), len(p.errs)
	u := &Update{}
	p.scanned = true
	u.Assigns = p.assigns()
	p.scanned = false
	u.Span = p.span(first.tok.pos)
	if len(p.errs) > told && !p.halted && first.tok.kind == tLParen {
		failed := p.mark()
		p.reset(first)
		if p.tries(func() { p.assign() }) {
			p.reset(failed)
		} else {
			p.blameAssignment()
		}
	}
	return u
}

// blameAssignment moves the last error to where PRISM reports it: from the
// inside of an assignment to its primed variable.
func (p *parser) blameAssignment() {
	cause := p.errs[len(p.errs)-1]
	p.errs = p.errs[:len(p.errs)-1]
	p.told = false
	p.advance()
	p.fail(p.tok.pos, fmt.Sprintf("found %s in an assignment that does not parse: at %s %s", describe(p.s.src, p.tok), cause.Pos, cause.Msg))
}

// equation reports whether a probability looks like assignments without primes.
func equation(x Expr) bool {
	switch x := x.(type) {
	case *Paren:
		return equation(x.X)
	case *Binary:
		return x.Op == OpEq || x.Op == OpAnd && equation(x.X)
	}
	return false
}

func (p *parser) likelihood() (low, high Expr) {
	if p.accept(tLBrack) {
		low = p.expr(0)
		p.expect(tComma)
		high = p.expr(0)
		p.expect(tRBrack)
		return low, high
	}
	return p.expr(0), nil
}

// assigns parses true or assignments joined by &.
func (p *parser) assigns() []*Assign {
	if p.accept(kwTrue) {
		return nil
	}
	list := []*Assign{p.assign()}
	for p.accept(tAnd) {
		list = append(list, p.assign())
	}
	return list
}

func (p *parser) assign() *Assign {
	start := p.tok.pos
	if p.tok.kind != tLParen {
		p.unexpected(`"true" or an assignment (x'=…)`)
	}
	p.advance()
	a := &Assign{Name: p.primed()}
	p.expect(tEq)
	a.Value = p.expr(0)
	p.expect(tRParen)
	a.Span = p.span(start)
	return a
}

// primed parses x'; the name is without the prime.
func (p *parser) primed() *Ident {
	t := p.tok
	id := &Ident{Span: Span{t.pos, t.endPos()}}
	if !p.accept(tPrimed) {
		p.unexpected("a primed variable")
		return id
	}
	t.end--
	id.Name = p.text(t)
	return id
}

// rewards parses a reward structure. After an error it goes on behind the next semicolon.
func (p *parser) rewards() Item {
	h := p.begin()
	r := &Rewards{Doc: h.doc}
	p.advance()
	if p.tok.kind == tQuote {
		r.Name = p.quotedName("the name of a reward structure")
	}
	p.inside(&h)
	r.Head = p.behind()
	for p.tok.kind != kwEndrewards {
		if !p.bad {
			r.Items = kept(p, r.Items, p.rewardItem())
		}
		if !p.bad {
			continue
		}
		if p.recover(true, kwEndrewards); p.tok.kind == tEOF || p.atItem() {
			break
		}
	}
	r.Trailing = p.trailing()
	p.noted = int(p.tok.pos.Offset)
	p.accept(kwEndrewards)
	r.Notes, r.Span = p.finish(h)
	return r
}

func (p *parser) rewardItem() *RewardItem {
	h := p.begin()
	r := &RewardItem{Doc: h.doc}
	switch p.tok.kind {
	case tLBrack:
		r.Transition, r.Action = true, p.action()
	case tEOF:
		p.unexpected(`a reward or "endrewards"`)
	}
	r.Guard = p.expr(0)
	p.expect(tColon)
	r.Value = p.expr(0)
	p.expect(tSemi)
	r.Notes, r.Span = p.finish(h)
	return r
}

func (p *parser) observables() Item {
	h := p.begin()
	o := &Observables{Doc: h.doc}
	p.advance()
	for {
		o.Names = append(o.Names, p.name("a variable"))
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(kwEndobservables)
	o.Notes, o.Span = p.finish(h)
	return o
}

func (p *parser) observable() Item {
	h := p.begin()
	o := &ObservableDecl{Doc: h.doc}
	p.advance()
	if p.dialect == Storm && p.tok.kind == tIdent {
		o.Name = p.ident("")
	} else {
		o.Name = p.quotedName("the name of an observable")
	}
	p.expect(tEq)
	o.X = p.expr(0)
	p.expect(tSemi)
	o.Notes, o.Span = p.finish(h)
	return o
}
