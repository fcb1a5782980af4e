package syntax

import "fmt"

// parseModel parses a model file. It leaves out items with errors.
func (p *parser) parseModel() *Model {
	start := p.token.pos
	model := &Model{File: p.file, Dialect: p.dialect, Truncates: p.dialect == Storm}
	for p.token.kind != tokEOF {
		firstKind := p.token.kind
		item := p.parseItem()
		if p.hasFailed {
			p.recoverItem(firstKind)
			continue
		}
		if item != nil {
			model.Items = append(model.Items, item)
		}
	}
	model.Trailing = p.remainingComments()
	model.Span = p.span(start)
	return model
}

// parseItem parses one top-level declaration of a model. It returns nil after a syntax error.
func (p *parser) parseItem() Item {
	switch p.token.kind {
	case kwFormula:
		return p.parseFormulaDecl()
	case kwLabel:
		return p.parseLabelDecl()
	case kwConst, kwRate, kwProb:
		return p.parseConstDecl()
	case kwGlobal:
		return p.parseGlobalDecl()
	case kwModule:
		return p.parseModule()
	case kwRewards:
		return p.parseRewards()
	case kwInit:
		return p.parseInitBlock()
	case kwObservables:
		return p.parseObservables()
	case kwObservable:
		return p.parseObservable()
	case kwSystem:
		return p.parseSystem()
	}
	if modelType := modelTypeOf(p.token.kind); modelType != TypeNone {
		return p.parseTypeWord(modelType)
	}
	if p.dialect == Storm && p.atWord(wordMA) {
		return p.parseTypeWord(MA)
	}
	if item := p.parseGameItem(); item != nil {
		return item
	}
	p.beginStatement()
	word := p.tokenText(p.token)
	if problem, isUnsupported := unsupportedWord(word); isUnsupported {
		p.fail(p.token.pos, fmt.Sprintf("found %q: %s", word, problem))
		p.halt() // such a model would only cause more errors
		return nil
	}
	p.unexpected("a model type, constant, formula, label, variable, module or reward structure")
	return nil
}

// recoverItem skips the rest of an item after a syntax error. firstKind is the kind of the item's first token.
func (p *parser) recoverItem(firstKind kind) {
	switch firstKind {
	case kwInit:
		p.resynchronize(skipSemicolon, kwEndinit)
		p.accept(kwEndinit)
	case kwObservables:
		p.resynchronize(skipSemicolon, kwEndobservables)
		p.accept(kwEndobservables)
	case kwSystem:
		p.resynchronize(skipSemicolon, kwEndsystem)
		p.accept(kwEndsystem)
	case kwFormula, kwLabel, kwConst, kwRate, kwProb, kwGlobal, kwObservable, tokSemicolon:
		p.resynchronize(stopAtSemicolon)
	case kwModule: // a renamed module, because the body of a module recovers from its errors
		p.resynchronize(skipSemicolon, kwEndmodule)
		p.accept(kwEndmodule)
	default: // such as commands after a superfluous endmodule, which need only one error
		p.resynchronize(skipSemicolon)
	}
}

// modelTypeOf returns the model type that a keyword declares, or TypeNone for other tokens.
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

// unsupportedWord returns an error message for a word that another tool reads and this package does not. ok is false for other words.
//
// Source: PRISM-games 3.2, Storm 1.14 and PAYNT.
func unsupportedWord(word string) (message string, ok bool) {
	const types = ", want dtmc, ctmc, mdp, pomdp, pta, popta or smg"
	if message, ok := unsupportedGame(word); ok {
		return message, true
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

// parseGlobalDecl parses the declaration of a global variable, `global name : type init expr;`.
func (p *parser) parseGlobalDecl() *GlobalDecl {
	statement := p.beginStatement()
	global := &GlobalDecl{Doc: statement.doc}
	p.advance()
	global.Var = p.parseVarDecl()
	global.Notes, global.Span = p.finishStatement(statement)
	return global
}

// parseInitBlock parses `init expr endinit`.
func (p *parser) parseInitBlock() *InitBlock {
	statement := p.beginStatement()
	block := &InitBlock{Doc: statement.doc}
	p.advance()
	block.X = p.parseExpr(modelContext)
	p.expect(kwEndinit)
	block.Notes, block.Span = p.finishStatement(statement)
	return block
}

// parseFormulaDecl parses `formula name = expr;`.
func (p *parser) parseFormulaDecl() *FormulaDecl {
	statement := p.beginStatement()
	formula := &FormulaDecl{Doc: statement.doc}
	p.advance()
	formula.Name = p.parseName("a formula name")
	p.expect(tokEqual)
	formula.X = p.parseExpr(modelContext)
	p.expect(tokSemicolon)
	formula.Notes, formula.Span = p.finishStatement(statement)
	return formula
}

// parseLabelDecl parses `label "name" = expr;`. In Storm's dialect the name may be without quotes.
func (p *parser) parseLabelDecl() *LabelDecl {
	statement := p.beginStatement()
	label := &LabelDecl{Doc: statement.doc}
	p.advance()
	if p.token.kind == tokIdent {
		label.Name = p.parseIdent("")
		if p.dialect == PRISM {
			p.reportError(label.Name.Start, fmt.Sprintf("found %s, want a label name in double quotes", quoteText(label.Name.Name)))
		}
	} else {
		label.Name = p.parseQuotedName("a label name")
	}
	p.expect(tokEqual)
	label.X = p.parseExpr(modelContext)
	p.expect(tokSemicolon)
	label.Notes, label.Span = p.finishStatement(statement)
	return label
}

// parseConstDecl parses `const type name = expr;`. The type and the value may be missing.
func (p *parser) parseConstDecl() *ConstDecl {
	statement := p.beginStatement()
	constant := &ConstDecl{Doc: statement.doc}
	isRateOrProb := p.token.kind != kwConst // the old forms `rate name = expr;` and `prob name = expr;`
	p.advance()
	if isRateOrProb {
		constant.Type, constant.HasType = ConstDouble, true
	} else {
		constant.Type, constant.HasType = p.parseConstType()
	}
	constant.Name = p.parseName("a constant name")
	if p.accept(tokEqual) {
		constant.Value = p.parseExpr(modelContext)
	}
	p.expect(tokSemicolon)
	constant.Notes, constant.Span = p.finishStatement(statement)
	return constant
}

// parseConstType parses the type of a constant. If no type follows, it returns int and false.
func (p *parser) parseConstType() (constType ConstType, hasType bool) {
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

// acceptClock consumes the word clock if it comes next. It returns false if it does not.
func (p *parser) acceptClock() bool {
	if p.dialect == Storm && p.token.kind == tokIdent && p.tokenText(p.token) == kindTexts[kwClock] { // not a keyword there
		p.advance()
		return true
	}
	return p.accept(kwClock)
}

// parseVarDecl parses the declaration of a variable, `name : type init expr;`. The initial value may be missing.
func (p *parser) parseVarDecl() *VarDecl {
	variable := &VarDecl{}
	start := p.token.pos
	variable.Name = p.parseName("a variable name")
	p.expect(tokColon)
	variable.TypePos = p.token.pos
	switch {
	case p.accept(tokLeftBracket):
		variable.Low = p.parseExpr(modelContext)
		p.expect(tokDotDot)
		variable.High = p.parseExpr(modelContext)
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
		variable.Init = p.parseExpr(modelContext)
	}
	p.expect(tokSemicolon)
	variable.Span = p.span(start)
	return variable
}

// parseModule parses a module or a renamed module.
func (p *parser) parseModule() Item {
	statement := p.beginStatement()
	p.advance()
	name := p.parseName("a module name")
	if p.accept(tokEqual) {
		return p.parseRenamedModule(statement, name)
	}
	p.attachInnerComments(&statement)
	module := &Module{Doc: statement.doc, Name: name, Head: p.commentBehind()}
	p.parseModuleBody(module)
	module.Notes, module.Span = p.finishStatement(statement)
	return module
}

// parseModuleBody parses the statements of a module up to endmodule. After an error, it continues with the next statement.
func (p *parser) parseModuleBody(module *Module) {
	isInOrder := true
	for p.token.kind != kwEndmodule {
		isInOrder = p.parseModuleStatement(module, isInOrder)
		if !p.hasFailed {
			continue
		}
		p.resynchronize(stopAtSemicolon, kwEndmodule)
		if p.token.kind == tokEOF || p.atItemStart() {
			return
		}
	}
	module.Trailing = p.remainingComments()
	p.commentsEnd = int(p.token.pos.Offset)
	p.advance()
}

// parseModuleStatement parses a declaration, the invariant or a command of a module, which must come in this order. isInOrder says whether the earlier
// statements of the module were in this order. It returns whether this is still so after the new statement.
func (p *parser) parseModuleStatement(module *Module, isInOrder bool) bool {
	isTooLate := len(module.Commands) > 0 || module.Invariant != nil // for a declaration or an invariant
	switch {
	case p.declarationAhead(isTooLate):
		statement := p.beginStatement()
		isInOrder = p.checkOrder(isInOrder, isTooLate, `a command or "endmodule"; declarations come before the invariant and the commands`)
		variable := p.parseVarDecl()
		variable.Doc = statement.doc
		variable.Notes, _ = p.finishStatement(statement)
		module.Vars = appendParsed(p, module.Vars, variable)
	case p.token.kind == kwInvariant:
		p.hasReported = false
		isInOrder = p.checkOrder(isInOrder, isTooLate, `a command or "endmodule"; a module has one invariant, before the commands`)
		p.parseInvariant(module)
	case p.token.kind == tokLeftBracket || p.atMarkovianCommand():
		module.Commands = appendParsed(p, module.Commands, p.parseCommand())
	default:
		p.beginStatement()
		p.unexpected(`a declaration, a command or "endmodule"`)
	}
	return isInOrder
}

// parseInvariant parses the invariant of a module. After an error, the module has no invariant.
func (p *parser) parseInvariant(module *Module) {
	p.advance()
	module.Invariant = p.parseExpr(modelContext)
	p.expect(kwEndinvariant)
	if p.hasFailed {
		module.Invariant = nil
	}
	module.InvariantDoc = p.remainingCommentsTo(int(p.previousTok.end))
	p.commentsEnd = int(p.previousTok.end)
}

// appendParsed appends a node to a list, unless its parsing failed.
func appendParsed[N Node](p *parser, list []N, node N) []N {
	if p.hasFailed {
		return list
	}
	return append(list, node)
}

// declarationAhead reports whether the current token starts the declaration of a variable. isTooLate says that the module already has commands or
// an invariant. Then a declaration is recognised only by its colon.
func (p *parser) declarationAhead(isTooLate bool) bool {
	isName := p.token.kind == tokIdent
	if isName && !isTooLate {
		return true
	}
	isReserved := p.token.kind.isKeyword() && !isStructural(p.token.kind) // an error in place of a name
	return (isName || isReserved) && p.peek() == tokColon
}

// checkOrder reports an error for the first statement of a module that is too late. The result says whether all statements so far are in order.
func (p *parser) checkOrder(isInOrder, isTooLate bool, want string) bool {
	if isInOrder && isTooLate {
		p.reportError(p.token.pos, "found "+describe(p.scanner.src, p.token)+", want "+want)
	}
	return !isTooLate && isInOrder
}

// parseRenamedModule parses `base [ old=new, ... ] endmodule`, the definition of a module as a renamed copy.
func (p *parser) parseRenamedModule(statement statementStart, name *Ident) Item {
	module := &RenamedModule{Doc: statement.doc, Name: name, Base: p.parseName("a module name")}
	p.expect(tokLeftBracket)
	for {
		first := p.token.pos
		rename := &Rename{Old: p.parseRenamable()}
		p.expect(tokEqual)
		rename.New = p.parseRenamable()
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

// parseRenamable parses a name in a module renaming. The functions min and max are keywords that can be renamed.
func (p *parser) parseRenamable() *Ident {
	if k := p.token.kind; k == kwMin || k == kwMax {
		return p.parseFuncName()
	}
	return p.parseName("a name")
}

// parseCommand parses `[action] guard -> updates;`.
func (p *parser) parseCommand() *Command {
	statement := p.beginStatement()
	command := &Command{Doc: statement.doc, Markovian: p.atMarkovianCommand()}
	if command.Markovian {
		p.parseMarkovianBrackets()
	} else {
		command.Action = p.parseAction()
	}
	command.Guard = p.parseExpr(modelContext)
	p.expect(tokArrow)
	command.Updates = p.parseUpdates()
	if p.token.kind == tokPlus {
		p.unexpectedHint(`";"`, "several updates need probabilities: 0.5:(x'=1) + 0.5:(x'=2)")
	}
	p.expect(tokSemicolon)
	command.Notes, command.Span = p.finishStatement(statement)
	return command
}

// atMarkovianCommand reports whether a command with rates of a Markov automaton begins.
func (p *parser) atMarkovianCommand() bool { return p.dialect == Storm && p.token.kind == tokLess }

// parseMarkovianBrackets parses the brackets <> of a Markovian command. Such a command does not synchronise, so an action in them is an error.
//
// Source: Storm 1.14, Program::checkValidity.
func (p *parser) parseMarkovianBrackets() {
	p.expect(tokLess)
	if p.token.kind == tokIdent {
		p.fail(p.token.pos, fmt.Sprintf("found the action %q in a Markovian command, want <>; Markovian commands do not synchronise", p.tokenText(p.token)))
		return
	}
	p.expect(tokGreater)
}

// parseAction parses [action] or [].
func (p *parser) parseAction() *Ident {
	p.expect(tokLeftBracket)
	if p.accept(tokRightBracket) {
		return nil
	}
	ident := p.parseName(`an action or "]"`)
	p.expect(tokRightBracket)
	return ident
}

// parseUpdates parses the right-hand side of a command: one update without a probability, or several updates with plus signs between them.
func (p *parser) parseUpdates() []*Update {
	if p.token.kind == kwTrue || p.assignmentAhead() {
		return []*Update{p.parseSingleUpdate()}
	}
	updates := []*Update{p.parseUpdateWithProbability()}
	for p.accept(tokPlus) {
		updates = append(updates, p.parseUpdateBehindPlus())
	}
	return updates
}

// assignmentAhead reports whether an assignment (x'=expr) starts at the current token.
func (p *parser) assignmentAhead() bool {
	return p.token.kind == tokLeftParen && p.peek() == tokPrimedIdent
}

// parseUpdateWithProbability parses `probability : assignments`.
func (p *parser) parseUpdateWithProbability() *Update {
	start := p.token.pos
	update := &Update{}
	update.Prob, update.ProbHigh = p.parseUpdateProbability()
	if p.token.kind != tokColon && !p.hasFailed && looksLikeAssignments(update.Prob) {
		p.unexpectedHint(`":"`, "an update assigns to primed variables: (x'=1)")
	}
	p.expect(tokColon)
	update.Assigns = p.parseAssigns()
	update.Span = p.span(start)
	return update
}

// parseUpdateBehindPlus parses an update after a plus sign. Such an update needs a probability.
func (p *parser) parseUpdateBehindPlus() *Update {
	if p.assignmentAhead() {
		p.advance()
		p.unexpectedHint("an expression", "an update behind + needs a probability, 0.5:(x'=1); the assignments of one update are joined by &")
	}
	return p.parseUpdateWithProbability()
}

// parseSingleUpdate parses the only update of a command if it has no probability. Its errors have the positions that PRISM reports.
func (p *parser) parseSingleUpdate() *Update {
	start, errorsBefore := p.saveState(), len(p.errs)
	update := &Update{}
	p.isPrescanned = true
	update.Assigns = p.parseAssigns()
	p.isPrescanned = false
	update.Span = p.span(start.token.pos)
	hasNewError := len(p.errs) > errorsBefore
	if !hasNewError || p.hasGivenUp || start.token.kind != tokLeftParen {
		return update
	}
	// If the first assignment is wrong, PRISM parses a probability and reports its error at the primed variable.
	failed := p.saveState()
	p.restoreState(start)
	firstIsCorrect := p.canParse(func() { p.parseAssign() })
	if firstIsCorrect {
		p.restoreState(failed)
	} else {
		p.moveErrorToPrime()
	}
	return update
}

// moveErrorToPrime moves the last error, which is inside an assignment, to its primed variable. PRISM reports it there.
func (p *parser) moveErrorToPrime() {
	cause := p.errs[len(p.errs)-1]
	p.errs = p.errs[:len(p.errs)-1]
	p.hasReported = false
	p.advance()
	p.fail(p.token.pos, fmt.Sprintf("found %s in an assignment with a syntax error: at %s %s", describe(p.scanner.src, p.token), cause.Pos, cause.Msg))
}

// looksLikeAssignments reports whether an expression has the form of assignments without primes, such as x=1 & y=2.
func looksLikeAssignments(expr Expr) bool {
	switch expr := expr.(type) {
	case *Paren:
		return looksLikeAssignments(expr.X)
	case *Binary:
		return expr.Op == OpEq || expr.Op == OpAnd && looksLikeAssignments(expr.X)
	}
	return false
}

// parseUpdateProbability parses the probability of an update. high is nil for a single probability, and not nil for an interval [low,high].
func (p *parser) parseUpdateProbability() (low, high Expr) {
	if p.accept(tokLeftBracket) {
		low = p.parseExpr(modelContext)
		p.expect(tokComma)
		high = p.parseExpr(modelContext)
		p.expect(tokRightBracket)
		return low, high
	}
	return p.parseExpr(modelContext), nil
}

// parseAssigns parses the assignments of an update with & between them. The update true has none.
func (p *parser) parseAssigns() []*Assign {
	if p.accept(kwTrue) {
		return nil
	}
	assignments := []*Assign{p.parseAssign()}
	for p.accept(tokAnd) {
		assignments = append(assignments, p.parseAssign())
	}
	return assignments
}

// parseAssign parses one assignment (x'=expr).
func (p *parser) parseAssign() *Assign {
	start := p.token.pos
	if p.token.kind != tokLeftParen {
		p.unexpected(`"true" or an assignment (x'=…)`)
	}
	p.advance()
	assignment := &Assign{Name: p.parsePrimed()}
	p.expect(tokEqual)
	assignment.Value = p.parseExpr(modelContext)
	p.expect(tokRightParen)
	assignment.Span = p.span(start)
	return assignment
}

// parsePrimed parses a primed variable x' and returns its name without the prime.
func (p *parser) parsePrimed() *Ident {
	token := p.token
	ident := &Ident{Span: Span{token.pos, token.endPos()}}
	if !p.accept(tokPrimedIdent) {
		p.unexpected("a primed variable")
		return ident
	}
	token.end--
	ident.Name = p.tokenText(token)
	return ident
}

// parseRewardItems parses the items of a reward structure up to endrewards. After an error, it continues with the next item.
func (p *parser) parseRewardItems(rewards *Rewards) {
	for p.token.kind != kwEndrewards {
		if !p.hasFailed {
			mayBeName := rewards.Name == nil && len(rewards.Items) == 0
			rewards.Items = appendParsed(p, rewards.Items, p.parseRewardItem(mayBeName))
		}
		if !p.hasFailed {
			continue
		}
		p.resynchronize(stopAtSemicolon, kwEndrewards)
		if p.token.kind == tokEOF || p.atItemStart() {
			return
		}
	}
}

// parseRewards parses a reward structure, `rewards "name" ... endrewards`. The name may be missing.
func (p *parser) parseRewards() Item {
	statement := p.beginStatement()
	rewards := &Rewards{Doc: statement.doc}
	p.advance()
	if p.token.kind == tokQuote {
		rewards.Name = p.parseQuotedName("the name of a reward structure")
	}
	p.attachInnerComments(&statement)
	rewards.Head = p.commentBehind()
	p.parseRewardItems(rewards)
	rewards.Trailing = p.remainingComments()
	p.commentsEnd = int(p.token.pos.Offset)
	p.accept(kwEndrewards)
	rewards.Notes, rewards.Span = p.finishStatement(statement)
	return rewards
}

// parseRewardItem parses one item of a reward structure, `guard : value;` or `[action] guard : value;`. mayBeName says that a guard of one word
// may be a name without quotes.
func (p *parser) parseRewardItem(mayBeName bool) *RewardItem {
	statement := p.beginStatement()
	item := &RewardItem{Doc: statement.doc}
	switch p.token.kind {
	case tokLeftBracket:
		item.IsTransition, item.Action = true, p.parseAction()
	case tokEOF:
		p.unexpected(`a reward or "endrewards"`)
	}
	item.Guard = p.parseExpr(modelContext)
	if name, isWord := item.Guard.(*Ident); isWord && mayBeName && p.token.kind != tokColon && !p.hasFailed {
		p.unexpectedHint(`":"`, "the name of a reward structure needs double quotes: rewards "+quoteText(name.Name))
	}
	p.expect(tokColon)
	item.Value = p.parseExpr(modelContext)
	p.expect(tokSemicolon)
	item.Notes, item.Span = p.finishStatement(statement)
	return item
}

// parseObservables parses the observable variables of a POMDP, `observables x, y endobservables`.
func (p *parser) parseObservables() Item {
	statement := p.beginStatement()
	observables := &Observables{Doc: statement.doc}
	p.advance()
	for {
		observables.Names = append(observables.Names, p.parseName("a variable"))
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(kwEndobservables)
	observables.Notes, observables.Span = p.finishStatement(statement)
	return observables
}

// parseObservable parses `observable "name" = expr;`. In Storm's dialect the quotes may be missing.
func (p *parser) parseObservable() Item {
	statement := p.beginStatement()
	observable := &ObservableDecl{Doc: statement.doc}
	p.advance()
	if p.dialect == Storm && p.token.kind == tokIdent {
		observable.Name = p.parseIdent("the name of an observable")
	} else {
		observable.Name = p.parseQuotedName("the name of an observable")
	}
	p.expect(tokEqual)
	observable.X = p.parseExpr(modelContext)
	p.expect(tokSemicolon)
	observable.Notes, observable.Span = p.finishStatement(statement)
	return observable
}
