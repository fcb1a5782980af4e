package syntax

import "fmt"

// model parses a model file.
func (p *parser) model() *Model {
	start := p.tok.pos
	result := &Model{File: p.file, Dialect: p.dialect, Truncates: p.dialect == Storm}
	for p.tok.kind != tokEOF {
		first := p.tok.kind
		item := p.item()
		if p.failed {
			p.recoverItem(first)
			continue
		}
		if item != nil {
			result.Items = append(result.Items, item)
		}
	}
	result.Trailing = p.remainingComments()
	result.Span = p.span(start)
	return result
}

// item parses one top-level declaration of a model file. It returns nil after a syntax error.
func (p *parser) item() Item {
	switch p.tok.kind {
	case kwFormula:
		return p.formulaDecl()
	case kwLabel:
		return p.labelDecl()
	case kwConst, kwRate, kwProb:
		return p.constDecl()
	case kwGlobal:
		statement := p.beginStatement()
		global := &GlobalDecl{Doc: statement.doc}
		p.advance()
		global.Var = p.varDecl()
		global.Notes, global.Span = p.finishStatement(statement)
		return global
	case kwModule:
		return p.module()
	case kwRewards:
		return p.rewards()
	case kwInit:
		statement := p.beginStatement()
		block := &InitBlock{Doc: statement.doc}
		p.advance()
		block.X = p.expr(modelContext)
		p.expect(kwEndinit)
		block.Notes, block.Span = p.finishStatement(statement)
		return block
	case kwObservables:
		return p.observables()
	case kwObservable:
		return p.observable()
	case kwSystem:
		return p.system()
	}
	if modelType := modelTypeOf(p.tok.kind); modelType != TypeNone {
		statement := p.beginStatement()
		decl := &TypeDecl{Doc: statement.doc, Type: modelType, Word: p.text(p.tok)}
		p.advance()
		decl.Notes, decl.Span = p.finishStatement(statement)
		return decl
	}
	if p.dialect == Storm && p.atWord(wordMA) {
		return p.typeWord(MA)
	}
	if x := p.gameItem(); x != nil {
		return x
	}
	p.beginStatement()
	if problem, ok := unsupported(p.text(p.tok)); ok { // the rest of such a model would only cause more errors
		p.fail(p.tok.pos, fmt.Sprintf("found %q: %s", p.text(p.tok), problem))
		p.halt()
		return nil
	}
	p.unexpected("a model type, constant, formula, label, variable, module or reward structure")
	return nil
}

// recoverItem skips the rest of an item with a syntax error; first is the kind of its first token.
func (p *parser) recoverItem(first kind) {
	switch first {
	case kwInit:
		p.resynchronize(false, kwEndinit)
		p.accept(kwEndinit)
	case kwObservables:
		p.resynchronize(false, kwEndobservables)
		p.accept(kwEndobservables)
	case kwSystem:
		p.resynchronize(false, kwEndsystem)
		p.accept(kwEndsystem)
	case kwFormula, kwLabel, kwConst, kwRate, kwProb, kwGlobal, kwObservable, tokSemicolon:
		p.resynchronize(true)
	case kwModule: // a renamed module; moduleBody resynchronizes itself
		p.resynchronize(false, kwEndmodule)
		p.accept(kwEndmodule)
	default: // such as commands behind a stray endmodule: report one error for all of them
		p.resynchronize(false)
	}
}

// modelTypeOf returns the model type that a keyword declares, TypeNone for another token.
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

// unsupported returns an error message if a word starts an extension of PRISM's language that
// another tool has and this package has not.
//
// Source: PRISM-games 3.2, Storm 1.14 and PAYNT.
func unsupported(word string) (what string, ok bool) {
	const types = ", want dtmc, ctmc, mdp, pomdp, pta, popta or smg"
	if what, ok := unsupportedGame(word); ok {
		return what, true
	}
	switch word {
	case wordMA:
		return "Markov automata are read in Storm's dialect (--dialect storm)", true
	case "ctmdp":
		return "continuous-time Markov decision processes are not supported" + types + "; or ma in Storm's dialect", true
	case "hole":
		return "holes, of PAYNT's sketches, are not supported, want a constant", true
	}
	return "", false
}

// formulaDecl parses `formula name = expr;`.
func (p *parser) formulaDecl() *FormulaDecl {
	statement := p.beginStatement()
	formula := &FormulaDecl{Doc: statement.doc}
	p.advance()
	formula.Name = p.name("a formula name")
	p.expect(tokEqual)
	formula.X = p.expr(modelContext)
	p.expect(tokSemicolon)
	formula.Notes, formula.Span = p.finishStatement(statement)
	return formula
}

// labelDecl parses `label "name" = expr;`. In Storm's dialect the quotes may be missing.
func (p *parser) labelDecl() *LabelDecl {
	statement := p.beginStatement()
	label := &LabelDecl{Doc: statement.doc}
	p.advance()
	if p.tok.kind == tokIdent {
		label.Name = p.ident("")
		if p.dialect == PRISM {
			p.report(label.Name.Start, fmt.Sprintf("found %s, want a label name in double quotes", quoteText(label.Name.Name)))
		}
	} else {
		label.Name = p.quotedName("a label name")
	}
	p.expect(tokEqual)
	label.X = p.expr(modelContext)
	p.expect(tokSemicolon)
	label.Notes, label.Span = p.finishStatement(statement)
	return label
}

// constDecl parses `const type name = expr;` where the type and the value may be missing, or the
// old forms `rate name` and `prob name`.
func (p *parser) constDecl() *ConstDecl {
	statement := p.beginStatement()
	constant := &ConstDecl{Doc: statement.doc}
	if p.tok.kind != kwConst { // rate or prob
		constant.Type, constant.Typed = ConstDouble, true
	}
	p.advance()
	if !constant.Typed {
		constant.Type, constant.Typed = p.constType()
	}
	constant.Name = p.name("a constant name")
	if p.accept(tokEqual) {
		constant.Value = p.expr(modelContext)
	}
	p.expect(tokSemicolon)
	constant.Notes, constant.Span = p.finishStatement(statement)
	return constant
}

// constType parses the type of a constant. Without one the type is int and typed is false.
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

// acceptClock consumes the word clock and reports whether it was there. In Storm's dialect clock is not a keyword, so the scanner
// returns it as an identifier.
func (p *parser) acceptClock() bool {
	if p.dialect == Storm && p.tok.kind == tokIdent && p.text(p.tok) == kindTexts[kwClock] {
		p.advance()
		return true
	}
	return p.accept(kwClock)
}

// varDecl parses the declaration of a variable, `name : type init expr;`, where init may be missing.
func (p *parser) varDecl() *VarDecl {
	variable := &VarDecl{}
	start := p.tok.pos
	variable.Name = p.name("a variable name")
	p.expect(tokColon)
	variable.TypePos = p.tok.pos
	switch {
	case p.accept(tokLeftBracket):
		variable.Low = p.expr(modelContext)
		p.expect(tokDotDot)
		variable.High = p.expr(modelContext)
		p.expect(tokRightBracket)
	case p.accept(kwInt):
		variable.Type = IntVar
	case p.accept(kwBool):
		variable.Type = BoolVar
	case p.acceptClock():
		variable.Type = ClockVar
	default:
		p.unexpected(`"[", "int", "bool" or "clock"`)
	}
	if p.accept(kwInit) {
		variable.Init = p.expr(modelContext)
	}
	p.expect(tokSemicolon)
	variable.Span = p.span(start)
	return variable
}

// module parses a module or a renamed module.
func (p *parser) module() Item {
	statement := p.beginStatement()
	p.advance()
	name := p.name("a module name")
	if p.accept(tokEqual) {
		return p.renamedModule(statement, name)
	}
	p.attachInnerComments(&statement)
	module := &Module{Doc: statement.doc, Name: name, Head: p.commentBehind()}
	p.moduleBody(module)
	module.Notes, module.Span = p.finishStatement(statement)
	return module
}

// moduleBody parses variables, the invariant and commands up to endmodule. After an error it goes
// on with the next statement.
func (p *parser) moduleBody(module *Module) {
	inOrder := true
	for {
		tooLate := len(module.Commands) > 0 || module.Invariant != nil
		switch {
		case p.tok.kind == kwEndmodule:
			module.Trailing = p.remainingComments()
			p.commentsEnd = int(p.tok.pos.Offset)
			p.advance()
			return
		case p.declarationAhead(tooLate):
			statement := p.beginStatement()
			inOrder = p.checkOrder(inOrder, tooLate, `a command or "endmodule"; declarations come before the invariant and the commands`)
			variable := p.varDecl()
			variable.Doc = statement.doc
			variable.Notes, _ = p.finishStatement(statement)
			module.Vars = appendParsed(p, module.Vars, variable)
		case p.tok.kind == kwInvariant:
			p.reported = false
			inOrder = p.checkOrder(inOrder, tooLate, `a command or "endmodule"; a module has one invariant, before the commands`)
			p.invariant(module)
		case p.tok.kind == tokLeftBracket || p.atMarkovianCommand():
			module.Commands = appendParsed(p, module.Commands, p.command())
		default:
			p.beginStatement()
			p.unexpected(`a declaration, a command or "endmodule"`)
		}
		if !p.failed {
			continue
		}
		p.resynchronize(true, kwEndmodule)
		if p.tok.kind == tokEOF || p.atItemStart() {
			return
		}
	}
}

// invariant parses the invariant of a module. After an error the module has none.
func (p *parser) invariant(module *Module) {
	p.advance()
	module.Invariant = p.expr(modelContext)
	p.expect(kwEndinvariant)
	if p.failed {
		module.Invariant = nil
	}
	module.InvariantDoc = p.remainingCommentsTo(int(p.prevTok.end))
	p.commentsEnd = int(p.prevTok.end)
}

// appendParsed appends a node to a list, unless parsing the node failed.
func appendParsed[N Node](p *parser, list []N, n N) []N {
	if p.failed {
		return list
	}
	return append(list, n)
}

// declarationAhead reports whether a variable declaration starts here. Behind the first command
// (tooLate), or if the name is a keyword, a colon must follow.
func (p *parser) declarationAhead(tooLate bool) bool {
	k := p.tok.kind
	if k == tokIdent && !tooLate {
		return true
	}
	return (k == tokIdent || k.isKeyword() && !isStructural(k)) && p.peek() == tokColon
}

// checkOrder reports an error if a part of a module comes too late, only for the first such part.
// It returns whether all parts so far are in order.
func (p *parser) checkOrder(inOrder, tooLate bool, want string) bool {
	if inOrder && tooLate {
		p.report(p.tok.pos, "found "+describe(p.scanner.src, p.tok)+", want "+want)
	}
	return !tooLate && inOrder
}

// renamedModule parses the rest of `module name = base [ old=new, ... ] endmodule` behind the =.
func (p *parser) renamedModule(statement statementStart, name *Ident) Item {
	module := &RenamedModule{Doc: statement.doc, Name: name, Base: p.name("a module name")}
	p.expect(tokLeftBracket)
	for {
		first := p.tok.pos
		rename := &Rename{Old: p.renamable()}
		p.expect(tokEqual)
		rename.New = p.renamable()
		rename.Span = p.span(first)
		module.Renames = append(module.Renames, rename)
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(tokRightBracket)
	p.expect(kwEndmodule)
	module.Notes, module.Span = p.finishStatement(statement)
	return module
}

// renamable parses a name in a module renaming; min and max are allowed.
func (p *parser) renamable() *Ident {
	if k := p.tok.kind; k == kwMin || k == kwMax {
		return p.funcName()
	}
	return p.name("a name")
}

// command parses `[action] guard -> updates;`.
func (p *parser) command() *Command {
	statement := p.beginStatement()
	command := &Command{Doc: statement.doc}
	if command.Markovian = p.atMarkovianCommand(); command.Markovian {
		p.markovianBrackets()
	} else {
		command.Action = p.action()
	}
	command.Guard = p.expr(modelContext)
	p.expect(tokArrow)
	command.Updates = p.updates()
	if p.tok.kind == tokPlus {
		p.unexpectedHint(`";"`, "several updates need probabilities: 0.5:(x'=1) + 0.5:(x'=2)")
	}
	p.expect(tokSemicolon)
	command.Notes, command.Span = p.finishStatement(statement)
	return command
}

// atMarkovianCommand reports whether a command with rates of a Markov automaton begins.
func (p *parser) atMarkovianCommand() bool { return p.dialect == Storm && p.tok.kind == tokLess }

// markovianBrackets parses the <> of a command. Storm refuses an action in it, whose semantics is unclear.
//
// Source: Storm 1.14, Program::checkValidity.
func (p *parser) markovianBrackets() {
	p.expect(tokLess)
	if p.tok.kind == tokIdent {
		p.fail(p.tok.pos, fmt.Sprintf("found the action %q of a Markovian command, want <>: such commands do not synchronise", p.text(p.tok)))
		return
	}
	p.expect(tokGreater)
}

// action parses [action] or [].
func (p *parser) action() *Ident {
	p.expect(tokLeftBracket)
	if p.accept(tokRightBracket) {
		return nil
	}
	ident := p.name(`an action or "]"`)
	p.expect(tokRightBracket)
	return ident
}

// updates parses the right-hand side of a command: one update without probability, or several
// `p : update` with plus signs between them.
func (p *parser) updates() []*Update {
	start := p.tok.pos
	if p.tok.kind == kwTrue || p.tok.kind == tokLeftParen && p.peek() == tokPrimedIdent {
		return []*Update{p.singleUpdate()}
	}
	var updates []*Update
	for {
		update := &Update{}
		update.Prob, update.ProbHigh = p.updateProbability()
		if p.tok.kind != tokColon && !p.failed && looksLikeAssignments(update.Prob) {
			p.unexpectedHint(`":"`, "an update assigns to primed variables: (x'=1)")
		}
		p.expect(tokColon)
		update.Assigns = p.assigns()
		update.Span = p.span(start)
		updates = append(updates, update)
		if !p.accept(tokPlus) {
			return updates
		}
		start = p.tok.pos
		if p.tok.kind == tokLeftParen && p.peek() == tokPrimedIdent {
			p.advance()
			p.unexpectedHint("an expression", "an update behind + needs a probability, 0.5:(x'=1); the assignments of one update are joined by &")
		}
	}
}

// singleUpdate parses an update without probability. PRISM looks ahead for one. If the first
// assignment fails, PRISM parses a probability instead and reports an error at the prime; then the
// error is moved there.
func (p *parser) singleUpdate() *Update {
	start, errorsBefore := p.saveState(), len(p.errs)
	update := &Update{}
	p.prescanned = true
	update.Assigns = p.assigns()
	p.prescanned = false
	update.Span = p.span(start.tok.pos)
	if len(p.errs) > errorsBefore && !p.halted && start.tok.kind == tokLeftParen {
		failed := p.saveState()
		p.restoreState(start)
		if p.canParse(func() { p.assign() }) {
			p.restoreState(failed)
		} else {
			p.moveErrorToPrime()
		}
	}
	return update
}

// moveErrorToPrime replaces the last error, which is inside an assignment, by one at the primed
// variable of the assignment, where PRISM reports it.
func (p *parser) moveErrorToPrime() {
	cause := p.errs[len(p.errs)-1]
	p.errs = p.errs[:len(p.errs)-1]
	p.reported = false
	p.advance()
	p.fail(p.tok.pos, fmt.Sprintf("found %s in an assignment that does not parse: at %s %s", describe(p.scanner.src, p.tok), cause.Pos, cause.Msg))
}

// looksLikeAssignments reports whether an expression in place of a probability looks like
// assignments whose primes were forgotten, such as x=1 & y=2.
func looksLikeAssignments(expr Expr) bool {
	switch expr := expr.(type) {
	case *Paren:
		return looksLikeAssignments(expr.X)
	case *Binary:
		return expr.Op == OpEq || expr.Op == OpAnd && looksLikeAssignments(expr.X)
	}
	return false
}

// updateProbability parses the probability of an update, or an interval [low,high]; then high is
// not nil.
func (p *parser) updateProbability() (low, high Expr) {
	if p.accept(tokLeftBracket) {
		low = p.expr(modelContext)
		p.expect(tokComma)
		high = p.expr(modelContext)
		p.expect(tokRightBracket)
		return low, high
	}
	return p.expr(modelContext), nil
}

// assigns parses the assignments of an update, with & between them. For true it returns none.
func (p *parser) assigns() []*Assign {
	if p.accept(kwTrue) {
		return nil
	}
	assigns := []*Assign{p.assign()}
	for p.accept(tokAnd) {
		assigns = append(assigns, p.assign())
	}
	return assigns
}

// assign parses one assignment (x'=expr).
func (p *parser) assign() *Assign {
	start := p.tok.pos
	if p.tok.kind != tokLeftParen {
		p.unexpected(`"true" or an assignment (x'=…)`)
	}
	p.advance()
	assign := &Assign{Name: p.primed()}
	p.expect(tokEqual)
	assign.Value = p.expr(modelContext)
	p.expect(tokRightParen)
	assign.Span = p.span(start)
	return assign
}

// primed parses a primed variable x' and returns its name without the prime.
func (p *parser) primed() *Ident {
	tok := p.tok
	ident := &Ident{Span: Span{tok.pos, tok.endPos()}}
	if !p.accept(tokPrimedIdent) {
		p.unexpected("a primed variable")
		return ident
	}
	tok.end--
	ident.Name = p.text(tok)
	return ident
}

// rewards parses a reward structure, `rewards "name" ... endrewards`. After an error it goes on
// behind the next semicolon.
func (p *parser) rewards() Item {
	statement := p.beginStatement()
	rewards := &Rewards{Doc: statement.doc}
	p.advance()
	if p.tok.kind == tokQuote {
		rewards.Name = p.quotedName("the name of a reward structure")
	}
	p.attachInnerComments(&statement)
	rewards.Head = p.commentBehind()
	for p.tok.kind != kwEndrewards {
		if !p.failed {
			rewards.Items = appendParsed(p, rewards.Items, p.rewardItem(rewards.Name == nil && len(rewards.Items) == 0))
		}
		if !p.failed {
			continue
		}
		if p.resynchronize(true, kwEndrewards); p.tok.kind == tokEOF || p.atItemStart() {
			break
		}
	}
	rewards.Trailing = p.remainingComments()
	p.commentsEnd = int(p.tok.pos.Offset)
	p.accept(kwEndrewards)
	rewards.Notes, rewards.Span = p.finishStatement(statement)
	return rewards
}

// rewardItem parses one line of a reward structure: `guard : value;` for states or
// `[action] guard : value;` for transitions. In the first line of a structure without a name, a name alone is taken for the name of the
// structure, without its quotes.
func (p *parser) rewardItem(firstUnnamed bool) *RewardItem {
	statement := p.beginStatement()
	item := &RewardItem{Doc: statement.doc}
	switch p.tok.kind {
	case tokLeftBracket:
		item.Transition, item.Action = true, p.action()
	case tokEOF:
		p.unexpected(`a reward or "endrewards"`)
	}
	item.Guard = p.expr(modelContext)
	if name, alone := item.Guard.(*Ident); alone && firstUnnamed && p.tok.kind != tokColon && !p.failed {
		p.unexpectedHint(`":"`, "the name of a reward structure needs double quotes: rewards "+quoteText(name.Name))
	}
	p.expect(tokColon)
	item.Value = p.expr(modelContext)
	p.expect(tokSemicolon)
	item.Notes, item.Span = p.finishStatement(statement)
	return item
}

// observables parses the observable variables of a POMDP, `observables x, y endobservables`.
func (p *parser) observables() Item {
	statement := p.beginStatement()
	observables := &Observables{Doc: statement.doc}
	p.advance()
	for {
		observables.Names = append(observables.Names, p.name("a variable"))
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(kwEndobservables)
	observables.Notes, observables.Span = p.finishStatement(statement)
	return observables
}

// observable parses `observable "name" = expr;`. In Storm's dialect the quotes may be missing.
func (p *parser) observable() Item {
	statement := p.beginStatement()
	observable := &ObservableDecl{Doc: statement.doc}
	p.advance()
	if p.dialect == Storm && p.tok.kind == tokIdent {
		observable.Name = p.ident("the name of an observable")
	} else {
		observable.Name = p.quotedName("the name of an observable")
	}
	p.expect(tokEqual)
	observable.X = p.expr(modelContext)
	p.expect(tokSemicolon)
	observable.Notes, observable.Span = p.finishStatement(statement)
	return observable
}
