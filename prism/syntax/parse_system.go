package syntax

// system parses a system block.
func (p *parser) system() Item {
	h := p.begin()
	s := &System{Doc: h.doc}
	p.advance()
	if p.systemNameAhead() {
		s.Name = p.quotedName("a name")
	}
	s.X = p.sysFull()
	p.expect(kwEndsystem)
	s.Notes, s.Span = p.finish(h)
	return s
}

// systemNameAhead tells the name of the block from a reference to another one:
// a name is followed by a term.
func (p *parser) systemNameAhead() bool {
	return p.tok.kind == tQuote && p.tries(func() {
		p.quotedName("")
		p.sysAtom()
	})
}

// sysFull parses X1 || X2 || …, where only the first operand may be interleaved.
func (p *parser) sysFull() SysExpr {
	start := p.tok.pos
	if !p.push() {
		return &SysModule{}
	}
	defer func() { p.depth-- }()
	x := p.sysInterleaved()
	if !p.barsAhead(2) {
		return x
	}
	full := &SysFull{Operands: []SysExpr{x}}
	for p.barsAhead(2) {
		p.skipBars(2)
		full.Operands = append(full.Operands, p.sysParallel())
	}
	full.Span = p.span(start)
	return full
}

// sysInterleaved parses X1 ||| X2 ||| …, where all operands but the first are
// terms of the loosest level: the tree leans to the right.
func (p *parser) sysInterleaved() SysExpr {
	start := p.tok.pos
	x := p.sysParallel()
	if !p.barsAhead(3) {
		return x
	}
	inter := &SysInterleaved{Operands: []SysExpr{x}}
	for p.barsAhead(3) {
		p.skipBars(3)
		operand := p.sysFull()
		if more, ok := operand.(*SysInterleaved); ok { // X ||| Y ||| Z has one node
			inter.Operands = append(inter.Operands, more.Operands...)
			continue
		}
		inter.Operands = append(inter.Operands, operand)
	}
	inter.Span = p.span(start)
	return inter
}

// barsAhead reports whether n tokens | follow. Blanks between them do not matter.
func (p *parser) barsAhead(n int) bool {
	if p.tok.kind != tOr {
		return false
	}
	ahead := p.s
	for range n - 1 {
		if ahead.next().kind != tOr {
			return false
		}
	}
	return true
}

func (p *parser) skipBars(n int) {
	for range n {
		p.advance()
	}
}

// sysParallel parses X |[a,b]| Y, which does not associate.
func (p *parser) sysParallel() SysExpr {
	start := p.tok.pos
	x := p.sysPostfix()
	if p.tok.kind != tOr || p.peek() != tLBrack {
		return x
	}
	p.skipBars(1)
	par := &SysParallel{X: x}
	p.expect(tLBrack)
	par.Actions = p.actions()
	p.expect(tRBrack)
	p.expect(tOr)
	par.Y = p.sysPostfix()
	par.Span = p.span(start)
	return par
}

// sysPostfix parses hiding and renaming behind a term.
func (p *parser) sysPostfix() SysExpr {
	start := p.tok.pos
	x := p.sysAtom()
	for n := 0; ; n++ {
		if n == maxNesting {
			p.fail(p.tok.pos, "nested too deep")
		}
		switch p.tok.kind {
		case tDivide:
			p.advance()
			p.expect(tLBrace)
			hide := &SysHide{X: x, Actions: p.actions()}
			p.expect(tRBrace)
			hide.Span = p.span(start)
			x = hide
		case tLBrace:
			x = p.sysRename(start, x)
		default:
			return x
		}
	}
}

func (p *parser) sysRename(start Pos, x SysExpr) SysExpr {
	rename := &SysRename{X: x}
	p.advance()
	for {
		first := p.tok.pos
		r := &Rename{Old: p.name("an action")}
		p.expect(tRename)
		r.New = p.name("an action")
		r.Span = p.span(first)
		rename.Renames = append(rename.Renames, r)
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRBrace)
	rename.Span = p.span(start)
	return rename
}

func (p *parser) actions() []*Ident {
	names := []*Ident{p.name("an action")}
	for p.accept(tComma) {
		names = append(names, p.name("an action"))
	}
	return names
}

func (p *parser) sysAtom() SysExpr {
	start := p.tok.pos
	switch p.tok.kind {
	case tQuote:
		id := p.quotedName("the name of a system block")
		return &SysRef{Name: id, Span: p.span(start)}
	case tLParen:
		p.advance()
		x := p.sysFull()
		p.expect(tRParen)
		return &SysBrackets{X: x, Span: p.span(start)}
	}
	id := p.ident(`a module, a quoted name or "("`)
	return &SysModule{Name: id, Span: p.span(start)}
}
