package sema

import (
	"fmt"
	"slices"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
)

// CheckModel resolves a model file and makes all checks that do not need the values of constants. The error is a syntax.ErrorList of at most
// ten entries. The first entry is the error that PRISM reports, at the same position.
//
// Source: ModulesFile.tidyUp of PRISM 4.10; reference, sections 1.2, 1.4 and 2.3.
func CheckModel(model *syntax.Model) (*Model, error) { return CheckCommands(model, nil) }

// CheckCommands checks a model as CheckModel does, and calls report for each checked command. isCorrect is false if the command, or a formula that it
// uses, has an error. If a module is renamed, its commands are reported again for each renaming. report may be nil.
func CheckCommands(model *syntax.Model, report func(command *syntax.Command, isCorrect bool)) (*Model, error) {
	checker := newChecker(model)
	checker.reportCommand = report
	checker.declareFormulas()
	checker.collectModules()
	if checker.hasErrorsOf(phaseFormulaCycles) || checker.hasErrorsOf(phaseRenaming) {
		return nil, checker.err() // the next checks need expanded formulas and renamed modules
	}
	checker.declareLabels()
	checker.declareConstants()
	checker.declareVariables()
	checker.checkRewardNames()
	checker.numberActions()
	checker.determineModelType()
	checker.checkPlayers()
	checker.resolveAll()
	if err := checker.err(); err != nil {
		return nil, err
	}
	checker.collectWarnings()
	return checker.model, nil
}

// module is a module of the model. A renamed module has the declaration of its base, and renamings.
type module struct {
	name        *syntax.Ident
	base        string // the module it renames
	declaration *syntax.Module
	renamings   []*renaming
}

// checker checks one model file. It collects errors in diags and results in model.
type checker struct {
	diags
	model         *Model
	resolver      *resolver
	items         items
	modules       []*module
	system        *syntax.System // the system block that is used
	actionIndexes map[string]int // index of each action
	reportCommand func(c *syntax.Command, clean bool)
	// Of a Markov automaton:
	isMarkovAutomaton bool
	rate              syntax.Expr // syntax.Model.Rate
	markovianCommands []Command   // commands with rates
	race              *race
}

// items are the items of a model file by kind.
type items struct {
	types              []*syntax.TypeDecl
	constants          []*syntax.ConstDecl
	formulas           []*syntax.FormulaDecl
	labels             []*syntax.LabelDecl
	globals            []*syntax.VarDecl
	modules            []syntax.Item
	rewards            []*syntax.Rewards
	initBlocks         []*syntax.InitBlock
	observableLists    []*syntax.Observables
	definedObservables []*syntax.ObservableDecl
	systems            []*syntax.System
	players            []*syntax.Player
}

// groupItems groups the items of a model file by kind, in source order.
func groupItems(modelItems []syntax.Item) (grouped items) {
	for _, item := range modelItems {
		switch item := item.(type) {
		case *syntax.TypeDecl:
			grouped.types = append(grouped.types, item)
		case *syntax.ConstDecl:
			grouped.constants = append(grouped.constants, item)
		case *syntax.FormulaDecl:
			grouped.formulas = append(grouped.formulas, item)
		case *syntax.LabelDecl:
			grouped.labels = append(grouped.labels, item)
		case *syntax.GlobalDecl:
			grouped.globals = append(grouped.globals, item.Var)
		case *syntax.Module, *syntax.RenamedModule:
			grouped.modules = append(grouped.modules, item)
		case *syntax.Rewards:
			grouped.rewards = append(grouped.rewards, item)
		case *syntax.InitBlock:
			grouped.initBlocks = append(grouped.initBlocks, item)
		case *syntax.Observables:
			grouped.observableLists = append(grouped.observableLists, item)
		case *syntax.ObservableDecl:
			grouped.definedObservables = append(grouped.definedObservables, item)
		case *syntax.System:
			grouped.systems = append(grouped.systems, item)
		case *syntax.Player:
			grouped.players = append(grouped.players, item)
		}
	}
	return grouped
}

// newChecker returns a checker for a model. It reports a second model type and a second init block.
func newChecker(model *syntax.Model) *checker {
	checker := &checker{
		diags: diags{file: model.File},
		model: &Model{file: model.File, dialect: model.Dialect, truncates: model.Truncates, unread: model.Unread, isEmbeddedMDP: model.Embedded, names: make(table), quoted: make(table)},
		items: groupItems(model.Items), rate: model.Rate,
	}
	checker.resolver = newResolver(&checker.diags, checker.model, nil)
	if len(checker.items.types) > 1 {
		checker.addError(phaseFile, checker.items.types[1].Pos(), "there were multiple model type declarations, want at most one")
	}
	if len(checker.items.initBlocks) > 1 {
		checker.addError(phaseFile, checker.items.initBlocks[1].X.Pos(), "there were multiple init...endinit constructs, want at most one")
	}
	return checker
}

// declareFormulas declares the formulas and reports cyclic definitions.
func (c *checker) declareFormulas() {
	for _, decl := range c.items.formulas {
		name := decl.Name.Name
		declaration := &formula{name, decl}
		meaning := symbol{kind: "formula", formula: declaration, index: len(c.model.formulas)}
		if c.declareName(phaseFormulaNames, name, decl.Name.Pos(), meaning) {
			c.model.formulas = append(c.model.formulas, declaration)
		}
	}
	if i := firstCycle(c.formulaDependencies()); i >= 0 {
		formula := c.model.formulas[i]
		c.addError(phaseFormulaCycles, formula.declaration.X.Pos(), "cyclic dependency in definition of formula %q", formula.name)
	}
}

// formulaDependencies returns for each formula the indices of the formulas that its body uses. It must be called before other names are declared.
func (c *checker) formulaDependencies() [][]int {
	dependencies := make([][]int, len(c.model.formulas))
	for i, formula := range c.model.formulas {
		visitIdents(formula.declaration.X, func(name string) {
			if meaning, ok := c.model.names[name]; ok {
				dependencies[i] = append(dependencies[i], meaning.index)
			}
		})
	}
	return dependencies
}

// visitIdents calls visit with the name of each identifier in an expression.
func visitIdents(expr syntax.Expr, visit func(name string)) {
	syntax.Inspect(expr, func(node syntax.Node) bool {
		if ident, ok := node.(*syntax.Ident); ok {
			visit(ident.Name)
		}
		return true
	})
}

// collectModules collects the modules in file order and checks their names.
func (c *checker) collectModules() {
	if c.hasErrorsOf(phaseFormulaCycles) {
		return
	}
	c.modules = make([]*module, len(c.items.modules)) // nil for a renamed module with an error
	for i, item := range c.items.modules {
		if declaration, ok := item.(*syntax.Module); ok {
			c.modules[i] = &module{name: declaration.Name, declaration: declaration}
		}
	}
	for i, item := range c.items.modules {
		if declaration, ok := item.(*syntax.RenamedModule); ok {
			c.modules[i] = c.renamedModule(declaration)
		}
	}
	if len(c.modules) == 0 {
		c.addError(phaseModuleNames, syntax.Pos{}, "there must be at least one module")
	}
	c.checkModuleNames()
}

// checkModuleNames reports modules with the same name.
func (c *checker) checkModuleNames() {
	names := make(map[string]bool)
	for _, module := range c.modules {
		if module == nil {
			continue
		}
		if names[module.name.Name] {
			c.addError(phaseModuleNames, module.name.Pos(), "duplicated module name %q", module.name.Name)
		}
		names[module.name.Name] = true
	}
}

// renamedModule returns the module that is declared as a renaming of another one, the base. It returns nil after an error. The renaming must give
// a new name to each variable of the base.
func (c *checker) renamedModule(declaration *syntax.RenamedModule) *module {
	// The base is a plain module, or a renamed module earlier in the file.
	isBase := func(module *module) bool { return module != nil && module.name.Name == declaration.Base.Name }
	i := slices.IndexFunc(c.modules, isBase)
	if i < 0 {
		c.addError(phaseRenaming, declaration.Base.Pos(), "no such module %s in renamed module %q; a renamed one must come before", declaration.Base.Name, declaration.Name.Name)
		return nil
	}
	base := c.modules[i]
	newNames, ok := c.newNames(declaration)
	if !ok {
		return nil
	}
	for _, variable := range base.declaration.Vars {
		name := applyRenamings(base.renamings, variable.Name.Name)
		if _, isRenamed := newNames[name]; !isRenamed {
			c.addError(phaseRenaming, declaration.Pos(), "definition of module %q must rename variable %q", declaration.Name.Name, name)
			return nil
		}
	}
	renamings := append(slices.Clip(base.renamings), &renaming{declaration, newNames})
	return &module{name: declaration.Name, base: declaration.Base.Name, declaration: base.declaration, renamings: renamings}
}

// newNames returns a map from the old to the new names of a renaming of a module. After an error it returns false.
func (c *checker) newNames(declaration *syntax.RenamedModule) (map[string]string, bool) {
	newNames := make(map[string]string)
	for _, pair := range declaration.Renames {
		oldName := pair.Old.Name
		if _, isDuplicate := newNames[oldName]; isDuplicate {
			c.addError(phaseRenaming, pair.Old.Pos(), "identifier %q is renamed more than once in module %q", oldName, declaration.Name.Name)
			return nil, false
		}
		if meaning := c.model.names[oldName]; meaning.formula != nil && c.model.dialect == syntax.PRISM {
			c.addError(phaseRenaming, pair.Old.Pos(), "formula %q cannot be renamed since formulas are expanded before module renaming"+syntax.StormAccepts, oldName)
			return nil, false
		}
		newNames[oldName] = pair.New.Name
	}
	return newNames, true
}

// declareLabels declares the labels of the model.
func (c *checker) declareLabels() {
	for _, label := range c.items.labels {
		name := label.Name.Name
		meaning := symbol{kind: "label", index: len(c.model.labels)}
		if c.declareQuoted(phaseLabelNames, name, label.Name.Pos(), meaning) {
			c.model.labels = append(c.model.labels, LabelDef{Name: name})
		}
	}
}

// declareConstants declares the constants of the model and reports cyclic definitions.
func (c *checker) declareConstants() {
	for _, declaration := range c.items.constants {
		constant := &constant{name: declaration.Name.Name, valueType: constType(declaration.Type), declaration: declaration, file: c.file, index: len(c.model.constants)}
		if c.declareName(phaseConstNames, constant.name, declaration.Name.Pos(), symbol{kind: "constant", constant: constant}) {
			c.model.constants = append(c.model.constants, constant)
		}
	}
	lookup := func(name string) (symbol, bool) {
		meaning, ok := c.model.names[name]
		return meaning, ok
	}
	checkConstantCycles(&c.diags, c.model.constants, lookup)
}

// checkConstantCycles reports an error if a constant depends on itself, directly or through formulas and other constants. lookup returns the
// meaning of a name.
func checkConstantCycles(diagnostics *diags, constants []*constant, lookup func(string) (symbol, bool)) {
	isListed := func(constant *constant) bool {
		return constant.index < len(constants) && constants[constant.index] == constant
	}
	dependencies := make([][]int, len(constants))
	for i, source := range constants {
		if source.declaration.Value == nil {
			continue
		}
		visitConstants(source.declaration.Value, lookup, make(map[int]bool), func(used *constant) {
			if isListed(used) {
				dependencies[i] = append(dependencies[i], used.index)
			}
		})
	}
	if i := firstCycle(dependencies); i >= 0 {
		diagnostics.addError(phaseConstCycles, constants[i].declaration.Value.Pos(), "cyclic dependency in definition of constant %q", constants[i].name)
	}
}

// visitConstants calls visit for each constant in an expression and in the formulas that the expression uses. seenFormulas has the indices of
// visited formulas.
func visitConstants(expr syntax.Expr, lookup func(string) (symbol, bool), seenFormulas map[int]bool, visit func(*constant)) {
	visitIdents(expr, func(name string) {
		meaning, _ := lookup(name)
		if meaning.constant != nil {
			visit(meaning.constant)
		}
		if meaning.formula != nil && !seenFormulas[meaning.index] {
			seenFormulas[meaning.index] = true
			visitConstants(meaning.formula.declaration.X, lookup, seenFormulas, visit)
		}
	})
}

// declareVariables declares the global variables and the variables of the modules. Each variable gets the next slot.
func (c *checker) declareVariables() {
	for _, declaration := range c.items.globals {
		c.declareVariable(declaration, declaration.Name.Name, -1)
	}
	for i, module := range c.modules {
		for _, declaration := range module.declaration.Vars {
			c.declareVariable(declaration, applyRenamings(module.renamings, declaration.Name.Name), i)
		}
	}
	if len(c.model.vars) == 0 && len(c.modules) > 0 {
		c.addError(phaseVariables, syntax.Pos{}, "there must be at least one variable")
	}
}

// declareVariable declares a variable; module is -1 for a global variable.
func (c *checker) declareVariable(declaration *syntax.VarDecl, name string, module int) {
	valueType := [...]Type{syntax.RangeVar: Int, syntax.IntVar: Int, syntax.BoolVar: Bool, syntax.ClockVar: Clock}[declaration.Type]
	if c.declareName(phaseVariables, name, declaration.Pos(), symbol{kind: "variable", index: len(c.model.vars)}) {
		c.model.vars = append(c.model.vars, &variable{name: name, valueType: valueType, declaration: declaration, module: module})
	}
}

// checkRewardNames reports reward structures with the same name.
func (c *checker) checkRewardNames() {
	names := make(map[string]bool)
	for _, rewards := range c.items.rewards {
		if rewards.Name == nil {
			continue
		}
		if names[rewards.Name.Name] {
			c.addError(phaseRewardNames, rewards.Pos(), "duplicated reward structure name %q", rewards.Name.Name)
		}
		names[rewards.Name.Name] = true
	}
}

// numberActions gives each action an index: first the actions of commands, then the new actions that the system block introduces by renaming.
func (c *checker) numberActions() {
	c.actionIndexes = make(map[string]int)
	for _, module := range c.modules {
		for _, command := range module.declaration.Commands {
			if command.Action != nil {
				c.addAction(applyRenamings(module.renamings, command.Action.Name))
			}
		}
	}
	if c.selectSystem() {
		c.addRenamedActions(c.system.X)
	}
	c.checkRewardActions()
}

// addAction gives an action the next index, unless it has one.
func (c *checker) addAction(name string) {
	if _, ok := c.actionIndexes[name]; !ok {
		c.actionIndexes[name] = len(c.model.actions)
		c.model.actions = append(c.model.actions, name)
	}
}

// checkRewardActions reports the reward items with an action that is not in the model.
func (c *checker) checkRewardActions() {
	for _, rewards := range c.items.rewards {
		for _, item := range rewards.Items {
			hasAction := item.IsTransition && item.Action != nil
			if hasAction && c.actionIndex(item.Action.Name) == UnknownAction {
				c.addError(phaseActions, item.Pos(), "unknown action name %s in reward structure item", item.Action.Name)
			}
		}
	}
}

// determineModelType determines the type of the model. It depends on the keyword, and on whether the model has probabilities, clocks, observables
// and intervals.
func (c *checker) determineModelType() {
	hasProbability, interval := c.findProbabilities()
	modelType := syntax.MDP
	c.model.hasImplicitType = len(c.items.types) == 0
	if !c.model.hasImplicitType {
		modelType = c.items.types[0].Type
	} else if !hasProbability {
		modelType = syntax.LTS
	}
	hasClocks := slices.ContainsFunc(c.model.vars, func(variable *variable) bool { return variable.valueType == Clock })
	if hasClocks && (modelType == syntax.MDP || modelType == syntax.LTS) {
		modelType = syntax.PTA
	}
	c.isMarkovAutomaton = modelType == syntax.MA
	if c.isMarkovAutomaton {
		modelType, c.model.isEmbeddedMDP = syntax.MDP, true
	}
	c.model.modelType = c.intervalType(c.partiallyObservableType(modelType), interval)
}

// findProbabilities reports whether an update has a probability. It also returns the lower bound of the first interval; nil if there is none.
func (c *checker) findProbabilities() (hasProbability bool, interval syntax.Expr) {
	for _, update := range c.allUpdates() {
		hasProbability = hasProbability || update.Prob != nil
		if update.ProbHigh != nil && interval == nil {
			interval = update.Prob
		}
	}
	return hasProbability, interval
}

// allUpdates returns the updates of all commands.
func (c *checker) allUpdates() []*syntax.Update {
	var updates []*syntax.Update
	for _, module := range c.modules {
		for _, command := range module.declaration.Commands {
			updates = append(updates, command.Updates...)
		}
	}
	return updates
}

func (c *checker) hasObservables() bool {
	return len(c.items.observableLists)+len(c.items.definedObservables) > 0
}

// partiallyObservableType returns the type of a model that was declared with the type declaredType. If the model has observables, an MDP becomes a POMDP, and a
// PTA a POPTA.
func (c *checker) partiallyObservableType(declaredType syntax.ModelType) syntax.ModelType {
	switch {
	case !c.hasObservables():
	case declaredType == syntax.MDP || declaredType == syntax.LTS:
		return syntax.POMDP
	case declaredType == syntax.PTA:
		return syntax.POPTA
	}
	return declaredType
}

// intervalType returns the type of a model that was declared with the type declaredType. If the model has an interval of probabilities, a DTMC becomes an
// IDTMC, and so on. interval is the lower bound of the first interval; nil if the model has none.
func (c *checker) intervalType(declaredType syntax.ModelType, interval syntax.Expr) syntax.ModelType {
	if interval == nil {
		return declaredType
	}
	switch declaredType {
	case syntax.DTMC:
		return syntax.IDTMC
	case syntax.MDP:
		return syntax.IMDP
	case syntax.POMDP:
		return syntax.IPOMDP
	}
	c.addError(phaseModelType, interval.Pos(), "intervals only allowed in DTMCs and MDPs, found one in %s", noun.WithArticle(declaredType.String()))
	return declaredType
}

// collectWarnings adds warnings of unbounded variables, and of invariants without an effect.
func (c *checker) collectWarnings() {
	addWarning := func(pos syntax.Pos, format string, args ...any) {
		c.model.warnings = append(c.model.warnings, &syntax.Error{File: c.file, Pos: pos, Msg: fmt.Sprintf(format, args...)})
	}
	for _, variable := range c.model.vars {
		if variable.declaration.Type == syntax.IntVar {
			addWarning(variable.declaration.Pos(), "variable %q is unbounded: model construction may not terminate", variable.name)
		}
	}
	for _, module := range c.modules {
		if module.declaration.Invariant != nil && !canHaveClocks(c.model.modelType) {
			addWarning(module.declaration.Invariant.Pos(), "the invariant of module %q is ignored in %s", module.name.Name, noun.WithArticle(c.model.modelType.String()))
		}
	}
}

// canHaveClocks reports whether models of a type have clocks.
func canHaveClocks(modelType syntax.ModelType) bool {
	return modelType == syntax.PTA || modelType == syntax.POPTA
}
