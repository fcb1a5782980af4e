package syntax

// parseSystem parses a system block, `system "name" term endsystem`. The name may be missing.
func (p *parser) parseSystem() Item {
	statement := p.beginStatement()
	system := &System{Doc: statement.doc}
	p.advance()
	if p.systemNameAhead() {
		system.Name = p.parseQuotedName("a name")
	}
	system.X = p.parseSysFull()
	p.expect(kwEndsystem)
	system.Notes, system.Span = p.finishStatement(statement)
	return system
}

// systemNameAhead reports whether a quoted name is the name of this block. If no term follows it, it refers to another block.
func (p *parser) systemNameAhead() bool {
	return p.token.kind == tokQuote && p.canParse(func() {
		p.parseQuotedName("")
		p.parseSysAtom()
	})
}

// parseSysFull parses X1 || X2 || ..., the process-algebra operator that binds least. Only the first operand may be a composition by |||.
func (p *parser) parseSysFull() SysExpr {
	start := p.token.pos
	if !p.enterNesting() {
		return &SysModule{}
	}
	defer func() { p.depth-- }()
	first := p.parseSysInterleaved()
	if !p.barsAhead(2) {
		return first
	}
	parallel := &SysFull{Operands: []SysExpr{first}}
	for p.barsAhead(2) {
		p.skipBars(2)
		parallel.Operands = append(parallel.Operands, p.parseSysParallel())
	}
	parallel.Span = p.span(start)
	return parallel
}

// parseSysInterleaved parses X1 ||| X2 ||| .... It returns a single node for all operands.
func (p *parser) parseSysInterleaved() SysExpr {
	start := p.token.pos
	first := p.parseSysParallel()
	if !p.barsAhead(3) {
		return first
	}
	interleaved := &SysInterleaved{Operands: []SysExpr{first}}
	for p.barsAhead(3) {
		p.skipBars(3)
		// As in PRISM, the operator associates to the right.
		operand := p.parseSysFull()
		if nested, ok := operand.(*SysInterleaved); ok { // X ||| Y ||| Z has one node
			interleaved.Operands = append(interleaved.Operands, nested.Operands...)
			continue
		}
		interleaved.Operands = append(interleaved.Operands, operand)
	}
	interleaved.Span = p.span(start)
	return interleaved
}

// barsAhead reports whether count tokens | follow. Blanks may be between them.
func (p *parser) barsAhead(count int) bool {
	if p.token.kind != tokOr {
		return false
	}
	ahead := p.scanner
	for range count - 1 {
		if ahead.next().kind != tokOr {
			return false
		}
	}
	return true
}

// skipBars advances past count tokens |.
func (p *parser) skipBars(count int) {
	for range count {
		p.advance()
	}
}

// parseSysParallel parses X |[a,b]| Y, which does not associate.
func (p *parser) parseSysParallel() SysExpr {
	start := p.token.pos
	left := p.parseSysPostfix()
	if p.token.kind != tokOr || p.peek() != tokLeftBracket {
		return left
	}
	p.skipBars(1)
	parallel := &SysParallel{X: left}
	p.expect(tokLeftBracket)
	parallel.Actions = p.parseActions()
	p.expect(tokRightBracket)
	p.expect(tokOr)
	parallel.Y = p.parseSysPostfix()
	parallel.Span = p.span(start)
	return parallel
}

// parseSysPostfix parses a process-algebra term with the operators behind it: X / {a} hides the action a, and X {a<-b} renames a to b.
func (p *parser) parseSysPostfix() SysExpr {
	start := p.token.pos
	term := p.parseSysAtom()
	for operators := 0; ; operators++ {
		if operators == maxNesting {
			p.fail(p.token.pos, "a system term has too many hidings and renamings")
		}
		switch p.token.kind {
		case tokDivide:
			p.advance()
			p.expect(tokLeftBrace)
			hide := &SysHide{X: term, Actions: p.parseActions()}
			p.expect(tokRightBrace)
			hide.Span = p.span(start)
			term = hide
		case tokLeftBrace:
			term = p.parseSysRename(start, term)
		default:
			return term
		}
	}
}

// parseSysRename parses a renaming {a<-b, ...} of a term.
func (p *parser) parseSysRename(start Pos, term SysExpr) SysExpr {
	rename := &SysRename{X: term}
	p.advance()
	for {
		pairStart := p.token.pos
		pair := &Rename{Old: p.parseName("an action")}
		p.expect(tokRenameArrow)
		pair.New = p.parseName("an action")
		pair.Span = p.span(pairStart)
		rename.Renames = append(rename.Renames, pair)
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(tokRightBrace)
	rename.Span = p.span(start)
	return rename
}

// parseActions parses a list of actions.
func (p *parser) parseActions() []*Ident {
	names := []*Ident{p.parseName("an action")}
	for p.accept(tokComma) {
		names = append(names, p.parseName("an action"))
	}
	return names
}

// parseSysAtom parses the name of a module, the quoted name of another system block, or a term in parentheses.
func (p *parser) parseSysAtom() SysExpr {
	start := p.token.pos
	switch p.token.kind {
	case tokQuote:
		ident := p.parseQuotedName("the name of a system block")
		return &SysRef{Name: ident, Span: p.span(start)}
	case tokLeftParen:
		p.advance()
		term := p.parseSysFull()
		p.expect(tokRightParen)
		return &SysBrackets{X: term, Span: p.span(start)}
	}
	ident := p.parseIdent(`a module, a quoted name or "("`)
	return &SysModule{Name: ident, Span: p.span(start)}
}
