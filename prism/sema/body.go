package sema

import (
	"fmt"
	"math/big"

	"tilecheck/prism/syntax"
)

// resolve resolves all expressions of the model, in the order in which PRISM checks them. The order
// decides which error is reported first.
func (c *checker) resolve() {
	if c.has(phaseConstCycles) {
		return
	}
	c.checkFormulaBodies()
	c.resolveLabels()
	c.resolveConstants()
	for _, v := range c.model.vars {
		if v.module < 0 {
			c.resolveDeclaration(c.resolver, v)
		}
	}
	for i, m := range c.modules {
		c.resolveModule(i, m)
	}
	if c.system != nil {
		c.checkSystem(c.system.X)
	}
	for _, x := range c.items.rewards {
		c.resolveRewardStruct(x)
	}
	c.resolveInitBlock()
	c.resolveObservables()
	if c.system != nil {
		c.resolveSystemBlock()
	}
}

// checkFormulaBodies reports errors in the bodies of all formulas, used or not. PRISM checks their types
// before everything else, but not, for example, whether a clock may occur there.
func (c *checker) checkFormulaBodies() {
	for _, f := range c.model.formulas {
		for _, diagnostic := range c.resolver.formulaBody(f).diags {
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

// resolveLabels resolves the expressions of the labels and checks their names and types.
func (c *checker) resolveLabels() {
	decls := make([]*syntax.LabelDecl, len(c.model.labels))
	for _, decl := range c.items.labels {
		if i := c.model.quoted[decl.Name.Name].index; decls[i] == nil {
			decls[i] = decl
		}
	}
	for i, decl := range decls {
		c.model.labels[i].X = c.resolver.expr(decl.X)
	}
	for i, decl := range decls {
		checkLabel(c.resolver, decl, c.model.labels[i].X)
	}
}

// checkLabel checks that a label does not have the name of a built-in one, and is Boolean.
func checkLabel(r *resolver, decl *syntax.LabelDecl, x Expr) {
	name := decl.Name.Name
	if name == "deadlock" || name == "init" {
		r.semanticError(decl.X, "cannot define a label called %q: this is a built-in label", name)
	}
	if t := x.Type(); t != Bool && t != Invalid {
		r.typeError(decl.X, "label %q is not Boolean: %s", name, typeMismatch(x, "bool"))
	}
}

// resolveConstants resolves the definitions of the model's constants.
func (c *checker) resolveConstants() { resolveConstants(c.resolver, c.model.consts) }

// resolveConstants resolves the definitions of constants, and checks that they are constant and of the
// declared type.
func resolveConstants(r *resolver, consts []*constant) {
	for _, constant := range consts {
		if constant.def = r.optional(constant.decl.Value); constant.typ == Int {
			constant.def = r.truncate(constant.def)
		}
	}
	for _, constant := range consts {
		if constant.def == nil || constant.def.Type() == Invalid {
			continue
		}
		if !isConstant(constant.def) {
			r.semanticError(constant.decl.Value, "definition of constant %q is not constant", constant.name)
		}
		if !castable(constant.typ, constant.def.Type()) {
			r.typeError(constant.decl.Value, "type mismatch in definition of constant %q: %s", constant.name, typeMismatch(constant.def, constant.typ.String()))
		}
	}
}

// resolveDeclaration resolves the range and the initial value of a variable and checks their types.
func (c *checker) resolveDeclaration(r *resolver, variable *variable) {
	decl := variable.decl
	switch decl.Type {
	case syntax.ClockVar:
		if !realTime(c.model.typ) {
			r.add(phaseSemantic, decl.TypePos, "clock variables are not allowed in %s models", c.model.typ)
		}
	case syntax.RangeVar:
		variable.low, variable.high = r.truncate(r.expr(decl.Low)), r.truncate(r.expr(decl.High))
		c.checkRange(r, variable)
	}
	if decl.Init == nil {
		return
	}
	if variable.init = r.expr(decl.Init); variable.typ == Int {
		variable.init = r.truncate(variable.init)
	}
	if !isConstant(variable.init) {
		r.semanticError(decl.Init, "initial value of variable %q is not constant", variable.name)
	}
	if variable.typ == Clock {
		r.semanticError(decl, "cannot specify initial value for a clock")
	}
	if t := variable.init.Type(); t != Invalid && !castable(variable.typ, t) {
		r.typeError(decl.Init, "initial value of variable %q does not match: %s", variable.name, typeMismatch(variable.init, variable.typ.String()))
	}
}

// checkRange checks that both bounds of a variable's range are constant ints. Like PRISM it reports
// an upper bound that is not constant at the position of the lower bound.
func (c *checker) checkRange(r *resolver, variable *variable) {
	decl := variable.decl
	if !isConstant(variable.low) {
		r.semanticError(decl.Low, "integer range lower bound %q is not constant", syntax.ExprString(decl.Low))
	}
	if !isConstant(variable.high) {
		r.semanticError(decl.Low, "integer range upper bound %q is not constant", syntax.ExprString(decl.High))
	}
	if t := variable.low.Type(); t != Int && t != Invalid {
		r.typeError(decl.Low, "integer range lower bound %q is not an integer: %s", syntax.ExprString(decl.Low), typeMismatch(variable.low, "int"))
	}
	if t := variable.high.Type(); t != Int && t != Invalid {
		r.typeError(decl.High, "integer range upper bound %q is not an integer: %s", syntax.ExprString(decl.High), typeMismatch(variable.high, "int"))
	}
}

// resolveModule resolves the variables, the invariant and the commands of a module, and collects the
// actions that it mentions, its alphabet.
func (c *checker) resolveModule(index int, module *module) {
	r := c.resolver.inModule(module.renamings)
	result := Module{Name: module.name.Name, Base: module.base, Pos: module.decl.Pos()}
	for slot, v := range c.model.vars {
		if v.module == index {
			result.Vars = append(result.Vars, slot)
			c.resolveDeclaration(r, v)
		}
	}
	if module.decl.Invariant != nil {
		result.Invariant = r.withClocks(module.decl.Invariant)
	}
	inAlphabet := make(map[int]bool)
	for _, commandDecl := range module.decl.Commands {
		errorsBefore := c.errorCount
		command := c.resolveCommand(r, index, commandDecl)
		if c.onCommand != nil {
			c.onCommand(commandDecl, c.errorCount == errorsBefore)
		}
		result.Commands = append(result.Commands, command)
		if command.Action != Unlabelled && !inAlphabet[command.Action] {
			inAlphabet[command.Action] = true
			result.Alphabet = append(result.Alphabet, command.Action)
		}
	}
	c.model.modules = append(c.model.modules, result)
}

// resolveCommand resolves a command of the given module and checks the types in it.
func (c *checker) resolveCommand(r *resolver, module int, decl *syntax.Command) Command {
	command := Command{Action: c.action(r, decl.Action), Pos: decl.Pos()}
	command.Guard = r.withClocks(decl.Guard)
	for _, u := range decl.Updates {
		command.Updates = append(command.Updates, c.resolveUpdate(r, module, command.Action, u))
	}
	for i, u := range decl.Updates {
		checkProbability(r, u, command.Updates[i])
	}
	if t := command.Guard.Type(); t != Bool && t != Invalid {
		r.typeError(decl.Guard, "guard is not Boolean: %s", typeMismatch(command.Guard, "bool"))
	}
	return command
}

// action returns the index of an action after module renaming; Unlabelled if id is nil.
func (c *checker) action(r *resolver, id *syntax.Ident) int {
	if id == nil {
		return Unlabelled
	}
	return c.actionIndex(applyRenamings(r.renamings, id.Name))
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

// resolveUpdate resolves one alternative of a command. It checks that the module may assign to the
// variables, each at most once.
func (c *checker) resolveUpdate(r *resolver, module, action int, decl *syntax.Update) Update {
	update := Update{Prob: &Const{Base{Double, decl.Pos()}, probabilityOne}, Pos: decl.Pos()}
	if decl.Prob != nil {
		update.Prob = r.expr(decl.Prob)
		update.ProbHigh = r.optional(decl.ProbHigh)
		checkInterval(r, decl, update)
	}
	for _, a := range decl.Assigns {
		update.Assigns = append(update.Assigns, Assign{Slot: c.assignedSlot(r, a), Value: r.expr(a.Value), Pos: a.Pos()})
	}
	assigned := make(map[int]bool)
	for i, a := range decl.Assigns {
		slot := update.Assigns[i].Slot
		if slot < 0 {
			continue
		}
		if c.model.vars[slot].typ == Int {
			update.Assigns[i].Value = r.truncate(update.Assigns[i].Value)
		}
		c.checkOwnership(r, module, action, a, slot)
		c.checkAssignedType(r, decl, a, update.Assigns[i])
		if assigned[slot] {
			c.add(phaseAssignedTwice, a.Name.Pos(), "variable %q is set twice in the same update", c.model.vars[slot].name)
		}
		if len(decl.Assigns) > 1 {
			assigned[slot] = true
		}
	}
	return update
}

// assignedSlot returns the slot of the variable that an assignment sets; -1 if there is no such
// variable, which is an error.
func (c *checker) assignedSlot(r *resolver, assign *syntax.Assign) int {
	name := applyRenamings(r.renamings, assign.Name.Name)
	symbol, ok := c.model.names[name]
	if !ok || symbol.kind != "variable" {
		c.add(phaseAssigned, assign.Name.Pos(), "unknown variable %q in update%s", name, r.renamedFrom(assign.Name.Name))
		return -1
	}
	return symbol.index
}

// checkOwnership checks that a command may modify a variable: its own module's or a global one, but
// no global one in a command with an action.
func (c *checker) checkOwnership(r *resolver, module, action int, assign *syntax.Assign, slot int) {
	switch owner := c.model.vars[slot].module; {
	case owner == module:
	case owner >= 0:
		r.semanticError(assign.Name, "module %q is not allowed to modify variable %q of module %q", c.modules[module].name.Name, c.model.vars[slot].name, c.modules[owner].name.Name)
	case action != Unlabelled && !c.model.vars[slot].decl.Shared:
		r.semanticError(assign.Name, "synchronous command cannot modify global variable %q", c.model.vars[slot].name)
	}
}

// checkAssignedType checks the type of the value that an assignment gives to a variable.
func (c *checker) checkAssignedType(r *resolver, update *syntax.Update, assign *syntax.Assign, resolved Assign) {
	variable, t := c.model.vars[resolved.Slot], resolved.Value.Type()
	switch {
	case t == Invalid:
	case variable.typ == Clock:
		if t != Int || !isConstant(resolved.Value) {
			r.typeError(update.Assigns[0], "clocks can only be reset to constant integer values: %s for %q", typeMismatch(resolved.Value, "a constant int"), variable.name)
		}
	case !castable(variable.typ, t):
		r.typeError(assign.Value, "type error in update to variable %q: %s", variable.name, typeMismatch(resolved.Value, variable.typ.String()))
	}
}

// checkInterval checks that both bounds of an interval of probabilities are numbers.
func checkInterval(r *resolver, decl *syntax.Update, update Update) {
	if update.ProbHigh == nil {
		return
	}
	low, high := update.Prob.Type(), update.ProbHigh.Type()
	if low != Invalid && high != Invalid && (!numeric(low) || !numeric(high)) {
		r.typeError(decl.Prob, "intervals can only be of ints or doubles, found %s and %s", low, high)
	}
}

// checkProbability checks that the probability or rate of an update is a number.
func checkProbability(r *resolver, decl *syntax.Update, update Update) {
	if t := update.Prob.Type(); update.ProbHigh == nil && t != Invalid && !numeric(t) {
		r.typeError(decl.Prob, "update probability/rate cannot have type %s, want a number", t)
	}
}

// resolveRewardStruct resolves a reward structure and checks the types in it.
func (c *checker) resolveRewardStruct(decl *syntax.Rewards) {
	rewards := RewardStruct{Pos: decl.Pos()}
	if decl.Name != nil {
		rewards.Name = decl.Name.Name
	}
	for _, itemDecl := range decl.Items {
		item := RewardItem{Transition: itemDecl.Transition, Action: c.action(c.resolver, itemDecl.Action), Pos: itemDecl.Pos()}
		item.Guard, item.Value = c.resolver.expr(itemDecl.Guard), c.resolver.expr(itemDecl.Value)
		if t := item.Guard.Type(); t != Bool && t != Invalid {
			c.resolver.typeError(itemDecl.Guard, "type error in reward struct item: guard must be Boolean: %s", typeMismatch(item.Guard, "bool"))
		}
		if t := item.Value.Type(); !numeric(t) && t != Invalid {
			c.resolver.typeError(itemDecl.Value, "type error in reward struct item: value must be an int or double: %s", typeMismatch(item.Value, "a number"))
		}
		rewards.Items = append(rewards.Items, item)
	}
	c.model.rewards = append(c.model.rewards, rewards)
}

// resolveInitBlock resolves init...endinit. Variables must not have initial values beside it.
func (c *checker) resolveInitBlock() {
	if len(c.items.initBlocks) == 0 {
		return
	}
	e := c.items.initBlocks[len(c.items.initBlocks)-1].X
	c.model.init = c.resolver.expr(e)
	for _, v := range c.model.vars {
		if v.decl.Init != nil {
			c.resolver.semanticError(v.decl.Init, "cannot use both init...endinit and initial values for variables")
		}
	}
	if t := c.model.init.Type(); t != Bool && t != Invalid {
		c.resolver.typeError(e, "initial states definition must be Boolean: %s", typeMismatch(c.model.init, "bool"))
	}
}

// resolveObservables resolves the observables and checks that the model type allows them. In a POPTA
// every clock must be observable.
func (c *checker) resolveObservables() {
	hidden := make(map[string]bool)
	for _, v := range c.model.vars {
		hidden[v.name] = true
	}
	if modelType := c.model.typ; c.hasObservables() && !partiallyObservable(modelType) {
		c.add(phaseObservables, syntax.Pos{}, "%ss cannot specify observables", modelType)
	} else if !c.hasObservables() && partiallyObservable(modelType) {
		c.add(phaseObservables, syntax.Pos{}, "%ss must specify observables", modelType)
	}
	for _, list := range c.items.observableLists {
		for _, id := range list.Names {
			x := c.resolver.withClocks(id)
			if _, ok := x.(*Var); !ok && x.Type() != Invalid {
				c.add(phaseObservables, id.Pos(), "observable variables list can only contain variables, found %s", describe(x))
			}
			c.addObservable(id.Name, id.Pos(), x, hidden)
		}
	}
	for _, decl := range c.items.definedObservables {
		var x Expr
		if decl.X != nil { // observables of imported states have no expression
			x = c.resolver.withClocks(decl.X)
		}
		c.addObservable(decl.Name.Name, decl.Pos(), x, hidden)
	}
	for _, v := range c.model.vars {
		if c.model.typ == syntax.POPTA && v.typ == Clock && hidden[v.name] {
			c.add(phaseObservables, v.decl.Pos(), "all clocks in POPTAs must be observable, %q is not", v.name)
		}
	}
}

// addObservable declares an observable with its resolved expression. If that is a variable, it is
// removed from the hidden ones.
func (c *checker) addObservable(name string, pos syntax.Pos, x Expr, hidden map[string]bool) {
	if s, taken := c.model.quoted[name]; taken && s.kind == "label" && c.model.dialect == syntax.Storm {
		c.model.observables = append(c.model.observables, Observable{name, x}) // the quoted name refers to the label
	} else if c.model.quoted.declare(&c.diags, phaseObservables, nil, name, fmt.Sprintf("%q", name), pos, symbol{kind: "observable", location: "the model", index: len(c.model.observables)}) {
		c.model.observables = append(c.model.observables, Observable{name, x})
	}
	if v, ok := x.(*Var); ok {
		delete(hidden, c.model.vars[v.Slot].name)
	}
}

func partiallyObservable(t syntax.ModelType) bool {
	return t == syntax.POMDP || t == syntax.POPTA || t == syntax.IPOMDP
}
