package sema

import (
	"math/big"

	"tilecheck/prism/syntax"
)

// resolveAll resolves all expressions of the model, in PRISM's order. The order determines the first reported error.
func (c *checker) resolveAll() {
	if c.hasErrorsOf(phaseConstCycles) {
		return
	}
	c.checkFormulaBodies()
	c.resolveLabels()
	c.resolveConstants()
	for _, variable := range c.model.vars {
		if variable.module < 0 {
			c.resolveDeclaration(c.resolver, variable)
		}
	}
	for i, module := range c.modules {
		c.resolveModule(i, module)
	}
	if c.system != nil {
		c.checkSystem(c.system.X)
	}
	if c.isMarkovAutomaton {
		c.embedMarkovianCommands()
	} else if c.rate != nil {
		c.model.rate = c.resolver.resolveExpr(c.rate)
	}
	for _, rewards := range c.items.rewards {
		c.resolveRewardStruct(rewards)
	}
	c.resolveInitBlock()
	c.resolveObservables()
	if c.system != nil {
		c.resolveSystemBlock()
	}
}

// checkFormulaBodies reports the errors in the bodies of all formulas, even of unused ones. It does not report uses of clocks: whether a clock is
// allowed depends on the expression that uses the formula.
func (c *checker) checkFormulaBodies() {
	for _, formula := range c.model.formulas {
		for _, diagnostic := range c.resolver.resolvedBody(formula).diags {
			switch diagnostic.kind {
			case clockUse:
				continue
			case wrongArity:
				diagnostic.phase = phaseOurs
			default:
				diagnostic.phase = phaseTypes
			}
			c.entries = append(c.entries, diagnostic)
		}
	}
}

// resolveLabels resolves the expressions of the labels, and checks their names and types.
func (c *checker) resolveLabels() {
	declarations := make([]*syntax.LabelDecl, len(c.model.labels))
	for _, declaration := range c.items.labels {
		i := c.model.quoted[declaration.Name.Name].index
		if declarations[i] == nil { // a later declaration of the label is a reported duplicate
			declarations[i] = declaration
		}
	}
	for i, declaration := range declarations {
		c.model.labels[i].Expr = c.resolver.resolveExpr(declaration.X)
	}
	for i, declaration := range declarations {
		checkLabel(c.resolver, declaration, c.model.labels[i].Expr)
	}
}

// checkLabel reports an error if a label has the name of a built-in label or is not Boolean.
func checkLabel(resolver *resolver, declaration *syntax.LabelDecl, expr Expr) {
	name := declaration.Name.Name
	if name == "deadlock" || name == "init" {
		resolver.semanticError(declaration.X, "cannot define a label called %q: this is a built-in label", name)
	}
	if valueType := expr.Type(); valueType != Bool && valueType != Invalid {
		resolver.typeError(declaration.X, "label %q is not Boolean: %s", name, typeMismatch(expr, "bool"))
	}
}

// resolveConstants resolves the definitions of the model's constants.
func (c *checker) resolveConstants() { resolveConstants(c.resolver, c.model.constants) }

// resolveConstants resolves the definitions of constants and checks their types.
func resolveConstants(resolver *resolver, constants []*constant) {
	for _, constant := range constants {
		constant.def = resolver.resolveOptional(constant.declaration.Value)
		if constant.valueType == Int {
			constant.def = resolver.truncate(constant.def)
		}
	}
	for _, constant := range constants {
		if constant.def == nil || constant.def.Type() == Invalid {
			continue
		}
		if !isConstant(constant.def) {
			resolver.semanticError(constant.declaration.Value, "definition of constant %q is not constant", constant.name)
		}
		if !isCastable(constant.valueType, constant.def.Type()) {
			resolver.typeError(constant.declaration.Value, "type mismatch in definition of constant %q: %s", constant.name, resolver.valueMismatch(constant.def, constant.valueType))
		}
	}
}

// resolveDeclaration resolves the range and the initial value of a variable and checks their types.
func (c *checker) resolveDeclaration(resolver *resolver, variable *variable) {
	declaration := variable.declaration
	if declaration.Type == syntax.ClockVar && !canHaveClocks(c.model.modelType) {
		resolver.addError(phaseSemantic, declaration.TypePos, "clock variables are not allowed in %s models", c.model.modelType)
	}
	if declaration.Type == syntax.RangeVar {
		variable.low = resolver.truncate(resolver.resolveExpr(declaration.Low))
		variable.high = resolver.truncate(resolver.resolveExpr(declaration.High))
		checkRange(resolver, variable)
	}
	if declaration.Init != nil {
		resolveInitialValue(resolver, variable)
	}
}

// resolveInitialValue resolves the initial value of a variable and checks its type.
func resolveInitialValue(resolver *resolver, variable *variable) {
	declaration := variable.declaration
	variable.init = resolver.resolveExpr(declaration.Init)
	if variable.valueType == Int {
		variable.init = resolver.truncate(variable.init)
	}
	if !isConstant(variable.init) {
		resolver.semanticError(declaration.Init, "initial value of variable %q is not constant", variable.name)
	}
	if variable.valueType == Clock {
		resolver.semanticError(declaration, "cannot specify initial value for a clock")
	}
	if valueType := variable.init.Type(); valueType != Invalid && !isCastable(variable.valueType, valueType) {
		resolver.typeError(declaration.Init, "initial value of variable %q does not match: %s", variable.name, resolver.valueMismatch(variable.init, variable.valueType))
	}
}

// checkRange checks that the bounds of a variable's range are constant ints. As in PRISM, the error about an upper bound that is not constant has
// the position of the lower bound.
func checkRange(resolver *resolver, variable *variable) {
	declaration := variable.declaration
	if !isConstant(variable.low) {
		resolver.semanticError(declaration.Low, "integer range lower bound %q is not constant", syntax.ExprString(declaration.Low))
	}
	if !isConstant(variable.high) {
		resolver.semanticError(declaration.Low, "integer range upper bound %q is not constant", syntax.ExprString(declaration.High))
	}
	if valueType := variable.low.Type(); valueType != Int && valueType != Invalid {
		resolver.typeError(declaration.Low, "integer range lower bound %q is not an integer: %s", syntax.ExprString(declaration.Low), resolver.valueMismatch(variable.low, Int))
	}
	if valueType := variable.high.Type(); valueType != Int && valueType != Invalid {
		resolver.typeError(declaration.High, "integer range upper bound %q is not an integer: %s", syntax.ExprString(declaration.High), resolver.valueMismatch(variable.high, Int))
	}
}

// resolveModule resolves the variables, the invariant and the commands of a module, and collects its alphabet.
func (c *checker) resolveModule(index int, module *module) {
	resolver := c.resolver.inModule(module.renamings)
	resolved := Module{Name: module.name.Name, Base: module.base, Pos: module.declaration.Pos()}
	for slot, variable := range c.model.vars {
		if variable.module == index {
			resolved.Vars = append(resolved.Vars, slot)
			c.resolveDeclaration(resolver, variable)
		}
	}
	if module.declaration.Invariant != nil {
		resolved.Invariant = resolver.resolveWithClocks(module.declaration.Invariant)
	}
	inAlphabet := make(map[int]bool)
	for _, commandDecl := range module.declaration.Commands {
		errorsBefore := c.errorCount
		command := c.resolveCommand(resolver, index, commandDecl)
		if c.reportCommand != nil {
			c.reportCommand(commandDecl, c.errorCount == errorsBefore)
		}
		if commandDecl.Markovian {
			c.addMarkovianCommand(command)
			continue
		}
		resolved.Commands = append(resolved.Commands, command)
		if command.Action != Unlabelled && !inAlphabet[command.Action] {
			inAlphabet[command.Action] = true
			resolved.Alphabet = append(resolved.Alphabet, command.Action)
		}
	}
	c.model.modules = append(c.model.modules, resolved)
}

// resolveCommand resolves a command of a module and checks its types. module is the index of the module.
func (c *checker) resolveCommand(resolver *resolver, module int, declaration *syntax.Command) Command {
	command := Command{Action: c.action(resolver, declaration.Action), Pos: declaration.Pos()}
	command.Guard = resolver.resolveWithClocks(declaration.Guard)
	for _, update := range declaration.Updates {
		command.Updates = append(command.Updates, c.resolveUpdate(resolver, module, command.Action, update))
	}
	for i, update := range declaration.Updates {
		checkProbability(resolver, update, command.Updates[i])
	}
	if valueType := command.Guard.Type(); valueType != Bool && valueType != Invalid {
		resolver.typeError(declaration.Guard, "guard is not Boolean: %s", typeMismatch(command.Guard, "bool"))
	}
	return command
}

// action returns the index of an action after module renaming; Unlabelled if ident is nil.
func (c *checker) action(resolver *resolver, ident *syntax.Ident) int {
	if ident == nil {
		return Unlabelled
	}
	return c.actionIndex(applyRenamings(resolver.renamings, ident.Name))
}

// actionIndex returns the index of an action; UnknownAction if no command has it.
func (c *checker) actionIndex(name string) int {
	if i, ok := c.actionIndexes[name]; ok {
		return i
	}
	return UnknownAction
}

// probabilityOne is the probability of an update that is written without one.
var probabilityOne = RatValue(big.NewRat(1, 1))

// resolveUpdate resolves an update of a command and checks its assignments.
func (c *checker) resolveUpdate(resolver *resolver, module, action int, declaration *syntax.Update) Update {
	update := Update{Prob: &Const{Base{Double, declaration.Pos()}, probabilityOne}, Pos: declaration.Pos()}
	if declaration.Prob != nil {
		update.Prob = resolver.resolveExpr(declaration.Prob)
		update.ProbHigh = resolver.resolveOptional(declaration.ProbHigh)
		checkInterval(resolver, declaration, update)
	}
	for _, assignment := range declaration.Assigns {
		slot, value := c.assignedSlot(resolver, assignment), resolver.resolveExpr(assignment.Value)
		update.Assigns = append(update.Assigns, Assign{Slot: slot, Value: value, Pos: assignment.Pos()})
	}
	c.checkAssigns(resolver, module, action, declaration, update.Assigns)
	return update
}

// checkAssigns checks the assignments of an update: the command may change the variable, the types match, and no variable is assigned twice. In
// Storm's dialect, values of int variables are truncated.
func (c *checker) checkAssigns(resolver *resolver, module, action int, declaration *syntax.Update, assignments []Assign) {
	isAssigned := make(map[int]bool)
	for i, assignment := range declaration.Assigns {
		slot := assignments[i].Slot
		if slot < 0 {
			continue
		}
		if c.model.vars[slot].valueType == Int {
			assignments[i].Value = resolver.truncate(assignments[i].Value)
		}
		c.checkOwnership(resolver, module, action, assignment, slot)
		c.checkAssignedType(resolver, declaration, assignment, assignments[i])
		if isAssigned[slot] {
			c.addError(phaseAssignedTwice, assignment.Name.Pos(), "variable %q is set twice in the same update", c.model.vars[slot].name)
		}
		isAssigned[slot] = true
	}
}

// assignedSlot returns the slot of the variable in an assignment. If there is no such variable, it reports an error and returns -1.
func (c *checker) assignedSlot(resolver *resolver, assignment *syntax.Assign) int {
	name := applyRenamings(resolver.renamings, assignment.Name.Name)
	symbol, ok := c.model.names[name]
	if !ok || symbol.kind != "variable" {
		c.addError(phaseAssigned, assignment.Name.Pos(), "unknown variable %q in update%s", name, resolver.renamedFrom(assignment.Name.Name))
		return -1
	}
	return symbol.index
}

// checkOwnership reports an error if a command is not allowed to change a variable. A command may change the variables of its own module. It may
// change a global variable only if it has no action.
func (c *checker) checkOwnership(resolver *resolver, module, action int, assignment *syntax.Assign, slot int) {
	switch owner := c.model.vars[slot].module; {
	case owner == module:
	case owner >= 0:
		resolver.semanticError(assignment.Name, "module %q is not allowed to modify variable %q of module %q", c.modules[module].name.Name, c.model.vars[slot].name, c.modules[owner].name.Name)
	case action != Unlabelled && !c.model.vars[slot].declaration.Shared:
		resolver.semanticError(assignment.Name, "synchronous command cannot modify global variable %q", c.model.vars[slot].name)
	}
}

// checkAssignedType checks the type of the value that an assignment gives to a variable.
func (c *checker) checkAssignedType(resolver *resolver, update *syntax.Update, assignment *syntax.Assign, resolved Assign) {
	variable, valueType := c.model.vars[resolved.Slot], resolved.Value.Type()
	switch {
	case valueType == Invalid:
	case variable.valueType == Clock:
		if valueType != Int || !isConstant(resolved.Value) {
			resolver.typeError(update.Assigns[0], "clocks can only be reset to constant integer values: %s for %q", typeMismatch(resolved.Value, "a constant int"), variable.name)
		}
	case !isCastable(variable.valueType, valueType):
		resolver.typeError(assignment.Value, "type error in update to variable %q: %s", variable.name, resolver.valueMismatch(resolved.Value, variable.valueType))
	}
}

// checkInterval checks that the bounds of an interval of probabilities are numbers.
func checkInterval(resolver *resolver, declaration *syntax.Update, update Update) {
	if update.ProbHigh == nil {
		return
	}
	low, high := update.Prob.Type(), update.ProbHigh.Type()
	if low != Invalid && high != Invalid && (!isNumeric(low) || !isNumeric(high)) {
		resolver.typeError(declaration.Prob, "intervals can only be of ints or doubles, found %s and %s", low, high)
	}
}

// checkProbability checks that the probability or rate of an update is a number.
func checkProbability(resolver *resolver, declaration *syntax.Update, update Update) {
	if valueType := update.Prob.Type(); update.ProbHigh == nil && valueType != Invalid && !isNumeric(valueType) {
		resolver.typeError(declaration.Prob, "update probability/rate cannot have type %s, want a number", valueType)
	}
}

// resolveRewardStruct resolves a reward structure and checks its types.
func (c *checker) resolveRewardStruct(declaration *syntax.Rewards) {
	rewards := RewardStruct{Pos: declaration.Pos()}
	if declaration.Name != nil {
		rewards.Name = declaration.Name.Name
	}
	for _, itemDecl := range declaration.Items {
		item := RewardItem{IsTransition: itemDecl.IsTransition, Action: c.action(c.resolver, itemDecl.Action), Pos: itemDecl.Pos()}
		item.Guard, item.Value = c.resolver.resolveExpr(itemDecl.Guard), c.resolver.resolveExpr(itemDecl.Value)
		if valueType := item.Guard.Type(); valueType != Bool && valueType != Invalid {
			c.resolver.typeError(itemDecl.Guard, "type error in reward struct item: guard must be Boolean: %s", typeMismatch(item.Guard, "bool"))
		}
		if valueType := item.Value.Type(); !isNumeric(valueType) && valueType != Invalid {
			c.resolver.typeError(itemDecl.Value, "type error in reward struct item: value must be an int or double: %s", typeMismatch(item.Value, "a number"))
		}
		rewards.Items = append(rewards.Items, c.embedReward(item)...)
	}
	c.model.rewards = append(c.model.rewards, rewards)
}

// resolveInitBlock resolves the block init...endinit. It reports an error if a variable also has an initial value.
func (c *checker) resolveInitBlock() {
	if len(c.items.initBlocks) == 0 {
		return
	}
	expr := c.items.initBlocks[len(c.items.initBlocks)-1].X
	c.model.init = c.resolver.resolveExpr(expr)
	for _, variable := range c.model.vars {
		if variable.declaration.Init != nil {
			c.resolver.semanticError(variable.declaration.Init, "cannot use both init...endinit and initial values for variables")
		}
	}
	if valueType := c.model.init.Type(); valueType != Bool && valueType != Invalid {
		c.resolver.typeError(expr, "initial states definition must be Boolean: %s", typeMismatch(c.model.init, "bool"))
	}
}

// resolveObservables resolves the observables. It reports an error if the model type does not have observables or requires them, or if a clock of
// a POPTA is not observable.
func (c *checker) resolveObservables() {
	modelType := c.model.modelType
	switch {
	case c.hasObservables() && !isPartiallyObservable(modelType):
		c.addError(phaseObservables, syntax.Pos{}, "%ss cannot specify observables", modelType)
	case !c.hasObservables() && isPartiallyObservable(modelType):
		c.addError(phaseObservables, syntax.Pos{}, "%ss must specify observables", modelType)
	}
	unobservable := make(map[string]bool)
	for _, variable := range c.model.vars {
		unobservable[variable.name] = true
	}
	c.resolveObservableLists(unobservable)
	for _, declaration := range c.items.definedObservables {
		var expr Expr
		if declaration.X != nil { // observables of imported states have no expression
			expr = c.resolver.resolveWithClocks(declaration.X)
		}
		c.addObservable(declaration.Name.Name, declaration.Pos(), expr, unobservable)
	}
	for _, variable := range c.model.vars {
		if modelType == syntax.POPTA && variable.valueType == Clock && unobservable[variable.name] {
			c.addError(phaseObservables, variable.declaration.Pos(), "all clocks in POPTAs must be observable, %q is not", variable.name)
		}
	}
}

// resolveObservableLists resolves the lists of observable variables, and removes the variables from unobservable, the set of unobservable variables.
func (c *checker) resolveObservableLists(unobservable map[string]bool) {
	for _, list := range c.items.observableLists {
		for _, ident := range list.Names {
			expr := c.resolver.resolveWithClocks(ident)
			if _, ok := expr.(*Var); !ok && expr.Type() != Invalid {
				c.addError(phaseObservables, ident.Pos(), "observable variables list can only contain variables, found %s", describe(expr))
			}
			c.addObservable(ident.Name, ident.Pos(), expr, unobservable)
		}
	}
}

// addObservable declares an observable with a name and an expression. If the expression is a variable, it removes the variable from unobservable, the set
// of unobservable variables.
func (c *checker) addObservable(name string, pos syntax.Pos, expr Expr, unobservable map[string]bool) {
	// In Storm's dialect a label may have the same name; the quoted name then refers to the label.
	sharesLabelName := c.model.quoted[name].kind == "label" && c.model.dialect == syntax.Storm
	meaning := symbol{kind: "observable", index: len(c.model.observables)}
	if sharesLabelName || c.declareQuoted(phaseObservables, name, pos, meaning) {
		c.model.observables = append(c.model.observables, Observable{name, expr})
	}
	if variable, ok := expr.(*Var); ok {
		delete(unobservable, c.model.vars[variable.Slot].name)
	}
}

// isPartiallyObservable reports whether models of a type have observables.
func isPartiallyObservable(modelType syntax.ModelType) bool {
	return modelType == syntax.POMDP || modelType == syntax.POPTA || modelType == syntax.IPOMDP
}
