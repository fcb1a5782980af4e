package syntax

import (
	"cmp"
	"slices"
	"strings"
)

// The languages of PRISM and Storm differ as described in the reference, section 7, and in Storm's
// grammars (PrismParserGrammar, ExpressionParser and FormulaParserGrammar, versions 1.12 and 1.14).
// The tree is rewritten so that its text has the same meaning for both tools.

// toStorm returns a tree for Storm with the same meaning. The error is a *DialectError if Storm's language lacks something.
func toStorm(node Node, options Options) (Node, error) {
	rewriter := &stormRewriter{options: options, logicOnly: make(map[Expr]bool), dualNegations: make(map[*Unary]bool)}
	rewritten := rewriter.rewriteNode(node)
	if rewriter.err != nil {
		return nil, rewriter.err
	}
	return rewritten, nil
}

// stormRewriter rewrites syntax trees of PRISM's language for Storm.
type stormRewriter struct {
	// labels holds the definitions of the properties file's labels, and properties the names of its
	// properties. Storm has neither labels nor references to properties there.
	labels     map[string]Expr
	properties map[string]bool
	// logicOnly holds the expressions with labels or operators of the logic, which Storm's formula
	// parser can read and its expression parser cannot.
	logicOnly map[Expr]bool
	// dualNegations holds the negations that rewriteTemporal returned in place of an operator that Storm
	// lacks.
	dualNegations map[*Unary]bool
	options       Options
	err           error
}

// refuse records an error: Storm cannot express the described feature of a node. Only the first error is kept.
func (s *stormRewriter) refuse(node Node, feature string) {
	if s.err == nil {
		s.err = &DialectError{Pos: node.Pos(), Dialect: Storm, Feature: feature}
	}
}

// rewriteNode converts a node of any kind to Storm's language.
func (s *stormRewriter) rewriteNode(n Node) Node {
	switch n := n.(type) {
	case *Model:
		return s.rewriteModel(n)
	case *Properties:
		return s.rewritePropertiesFile(n)
	case *Property:
		return s.rewriteProperty(n)
	case Item:
		return s.rewriteItem(n)
	case *VarDecl:
		return s.rewriteVarDecl(n)
	case *Command:
		return s.rewriteCommand(n)
	case *Update:
		return s.rewriteUpdate(n)
	case *Assign:
		return s.rewriteAssign(n)
	case *RewardItem:
		return s.rewriteRewardItem(n)
	case SysExpr:
		return s.rewriteSystemTerm(n)
	case Expr:
		return s.rewriteTopLevel(n)
	}
	return n
}

// rewriteName returns a name unchanged. A name that is a keyword only in Storm is an error.
func (s *stormRewriter) rewriteName(ident *Ident) *Ident {
	if ident == nil {
		return nil
	}
	switch ident.Name {
	case "ma", "smg", "ctmdp", "floor", "ceil", "atLeastOneOf", "atMostOneOf", "exactlyOneOf", "player", "endplayer":
		s.refuse(ident, "the name "+ident.Name+", a keyword there")
	}
	return ident
}

// rewriteModel converts a model to Storm's language. It puts the items into the order that Storm requires: type, observables, other items, system block.
func (s *stormRewriter) rewriteModel(model *Model) *Model {
	var types, otherItems, systems []Item
	var observables *Observables
	for _, item := range renamedAfterBase(model.Items) {
		switch item := item.(type) {
		case *TypeDecl:
			types = append(types, s.rewriteTypeDecl(item))
		case *Observables:
			observables = s.mergeObservables(observables, item)
		case *System:
			systems = append(systems, s.rewriteSystem(item))
		default:
			otherItems = append(otherItems, s.rewriteItem(item))
		}
	}
	if len(types) == 0 {
		types = append(types, s.rewriteTypeDecl(&TypeDecl{Type: implicitType(model), Span: model.Span}))
	}
	if len(types) > 1 {
		s.refuse(types[1], "several model types")
	}
	if len(systems) > 1 {
		s.refuse(systems[1], "several system blocks")
	}
	items := types
	if observables != nil {
		items = append(items, observables)
	}
	items = append(items, otherItems...)
	items = append(items, systems...)
	return &Model{File: model.File, Items: items, Trailing: model.Trailing, Span: model.Span}
}

// renamedAfterBase returns the items in the same order, except that each renamed module comes after the module that it renames.
func renamedAfterBase(items []Item) []Item {
	var ordered []Item
	var waitingModules []*RenamedModule // their bases are not in ordered yet
	isDefined := make(map[string]bool)
	isReady := func(renamed *RenamedModule) bool { return isDefined[renamed.Base.Name] }
	for _, item := range items {
		switch item := item.(type) {
		case *RenamedModule:
			waitingModules = append(waitingModules, item)
		case *Module:
			ordered = append(ordered, item)
			isDefined[item.Name.Name] = true
		default:
			ordered = append(ordered, item)
		}
		for slices.ContainsFunc(waitingModules, isReady) {
			next := slices.IndexFunc(waitingModules, isReady)
			ordered = append(ordered, waitingModules[next])
			isDefined[waitingModules[next].Name.Name] = true
			waitingModules = slices.Delete(waitingModules, next, next+1)
		}
	}
	for _, renamed := range waitingModules { // the base does not exist, and the printer does not report this
		ordered = append(ordered, renamed)
	}
	return ordered
}

// implicitType returns the type that PRISM gives to a model without a type keyword. It returns TypeNone for an LTS.
func implicitType(model *Model) ModelType {
	var hasClocks, hasObservables, hasProbabilities bool
	Inspect(model, func(n Node) bool {
		switch n := n.(type) {
		case *VarDecl:
			hasClocks = hasClocks || n.Type == ClockVar
		case *Observables:
			hasObservables = true
		case *Update:
			hasProbabilities = hasProbabilities || n.Prob != nil
		case Expr:
			return false
		}
		return true
	})
	switch {
	case hasClocks && hasObservables:
		return POPTA
	case hasClocks:
		return PTA
	case hasObservables:
		return POMDP
	case hasProbabilities:
		return MDP
	}
	return TypeNone
}

// rewriteTypeDecl returns the declaration of a model type unchanged. A type that Storm lacks is an error.
func (s *stormRewriter) rewriteTypeDecl(declaration *TypeDecl) *TypeDecl {
	switch declaration.Type {
	case TypeNone, LTS:
		s.refuse(declaration, "a model without a type (an LTS)")
	case POPTA:
		s.refuse(declaration, "POPTAs")
	}
	return declaration
}

// mergeObservables adds the variables of a block of observables to merged. If merged is nil, it begins with a new block.
func (s *stormRewriter) mergeObservables(merged, block *Observables) *Observables {
	if merged == nil {
		merged = &Observables{Doc: block.Doc, Notes: block.Notes, Span: block.Span}
	}
	for _, ident := range block.Names {
		merged.Names = append(merged.Names, s.rewriteName(ident))
	}
	return merged
}

// rewriteItem converts a declaration of a model to Storm's language. It records an error for a declaration that Storm lacks.
func (s *stormRewriter) rewriteItem(item Item) Item {
	switch item := item.(type) {
	case *TypeDecl:
		return s.rewriteTypeDecl(item)
	case *Module:
		return s.rewriteModule(item)
	case *RenamedModule:
		return s.rewriteRenamedModule(item)
	case *Rewards:
		return s.rewriteRewards(item)
	case *Observables:
		return s.mergeObservables(nil, item)
	case *System:
		return s.rewriteSystem(item)
	}
	return s.rewriteDefinition(item)
}

// rewriteDefinition converts a declaration that has a single expression or variable to Storm's language. It returns any other declaration unchanged.
func (s *stormRewriter) rewriteDefinition(item Item) Item {
	switch item := item.(type) {
	case *ConstDecl:
		return s.rewriteConstDecl(item)
	case *FormulaDecl:
		result := *item
		result.Name, result.X = s.rewriteName(item.Name), s.rewriteExpr(item.X)
		return &result
	case *LabelDecl:
		result := *item
		result.Name, result.X = s.rewriteName(item.Name), s.rewriteExpr(item.X)
		return &result
	case *ObservableDecl:
		result := *item
		result.Name, result.X = s.rewriteName(item.Name), s.rewriteExpr(item.X)
		return &result
	case *InitBlock:
		result := *item
		result.X = s.rewriteExpr(item.X)
		return &result
	case *GlobalDecl:
		if item.Var.Type == ClockVar {
			s.refuse(item, "global clocks")
		}
		result := *item
		result.Var = s.rewriteVarDecl(item.Var)
		return &result
	}
	return item
}

// rewriteConstDecl rewrites the declaration of a constant.
func (s *stormRewriter) rewriteConstDecl(constant *ConstDecl) *ConstDecl {
	result := *constant
	result.Name, result.Value = s.rewriteName(constant.Name), s.rewriteExpr(constant.Value)
	return &result
}

// rewriteVarDecl converts the declaration of a variable to Storm's language.
func (s *stormRewriter) rewriteVarDecl(variable *VarDecl) *VarDecl {
	if variable.Type == ClockVar && variable.Init != nil {
		s.refuse(variable, "initial values of clocks")
	}
	result := *variable
	result.Name = s.rewriteName(variable.Name)
	result.Low, result.High, result.Init = s.rewriteExpr(variable.Low), s.rewriteExpr(variable.High), s.rewriteExpr(variable.Init)
	return &result
}

// rewriteModule converts a module to Storm's language.
func (s *stormRewriter) rewriteModule(module *Module) *Module {
	result := *module
	result.Name, result.Invariant = s.rewriteName(module.Name), s.rewriteExpr(module.Invariant)
	result.Vars, result.Commands = nil, nil
	for _, variable := range module.Vars {
		result.Vars = append(result.Vars, s.rewriteVarDecl(variable))
	}
	for _, command := range module.Commands {
		result.Commands = append(result.Commands, s.rewriteCommand(command))
	}
	return &result
}

// rewriteRenamedModule returns a renamed module unchanged. The renaming of a function is an error.
func (s *stormRewriter) rewriteRenamedModule(module *RenamedModule) *RenamedModule {
	s.rewriteName(module.Name)
	for _, rename := range module.Renames {
		s.rewriteName(rename.New)
		if isCommonFunction(rename.Old.Name) || isCommonFunction(rename.New.Name) {
			s.refuse(rename, "the renaming of functions")
		}
	}
	return module
}

// rewriteCommand converts a command to Storm's language.
func (s *stormRewriter) rewriteCommand(command *Command) *Command {
	result := *command
	result.Action, result.Guard = s.rewriteName(command.Action), s.rewriteExpr(command.Guard)
	result.Updates = nil
	for _, update := range command.Updates {
		result.Updates = append(result.Updates, s.rewriteUpdate(update))
	}
	return &result
}

// rewriteUpdate rewrites one alternative of a command.
func (s *stormRewriter) rewriteUpdate(update *Update) *Update {
	result := &Update{Prob: s.rewriteExpr(update.Prob), ProbHigh: s.rewriteExpr(update.ProbHigh), Span: update.Span}
	for _, assignment := range update.Assigns {
		result.Assigns = append(result.Assigns, s.rewriteAssign(assignment))
	}
	return result
}

// rewriteAssign rewrites an assignment.
func (s *stormRewriter) rewriteAssign(assignment *Assign) *Assign {
	return &Assign{Name: s.rewriteName(assignment.Name), Value: s.rewriteExpr(assignment.Value), Span: assignment.Span}
}

// rewriteRewards converts a reward structure to Storm's language.
func (s *stormRewriter) rewriteRewards(rewards *Rewards) *Rewards {
	result := *rewards
	result.Name, result.Items = s.rewriteName(rewards.Name), nil
	for _, item := range rewards.Items {
		result.Items = append(result.Items, s.rewriteRewardItem(item))
	}
	if len(result.Items) == 0 { // Storm requires an item
		result.Items = []*RewardItem{{Guard: &BoolLit{Value: true}, Value: &IntLit{Value: 0}}}
	}
	return &result
}

// rewriteRewardItem rewrites one item of a reward structure.
func (s *stormRewriter) rewriteRewardItem(item *RewardItem) *RewardItem {
	result := *item
	result.Action, result.Guard, result.Value = s.rewriteName(item.Action), s.rewriteExpr(item.Guard), s.rewriteExpr(item.Value)
	return &result
}

// rewriteSystem rewrites a system block. It refuses a block with a name.
func (s *stormRewriter) rewriteSystem(block *System) *System {
	if block.Name != nil {
		s.refuse(block, "named system blocks")
	}
	return &System{Doc: block.Doc, Notes: block.Notes, X: s.rewriteSystemTerm(block.X), Span: block.Span}
}

// rewriteSystemTerm converts a process-algebra term to Storm's language. There, all operators have the same precedence, so operands get parentheses.
func (s *stormRewriter) rewriteSystemTerm(term SysExpr) SysExpr {
	switch term := term.(type) {
	case *SysRef:
		s.refuse(term, "references to system blocks")
	case *SysBrackets:
		return &SysBrackets{X: s.rewriteSystemTerm(term.X), Span: term.Span}
	case *SysFull:
		return &SysFull{Operands: s.rewriteOperands(term.Operands), Span: term.Span}
	case *SysInterleaved:
		return &SysInterleaved{Operands: s.rewriteOperands(term.Operands), Span: term.Span}
	case *SysParallel:
		left, right := s.rewriteSystemOperand(term.X, sysPostfix), s.rewriteSystemOperand(term.Y, sysPostfix)
		return &SysParallel{X: left, Y: right, Actions: term.Actions, Span: term.Span}
	case *SysHide:
		return &SysHide{X: s.rewriteSystemOperand(term.X, sysAtom), Actions: term.Actions, Span: term.Span}
	case *SysRename:
		return &SysRename{X: s.rewriteSystemOperand(term.X, sysAtom), Renames: term.Renames, Span: term.Span}
	}
	return term
}

// rewriteOperands rewrites the operands of || or |||, with parentheses where Storm needs them.
func (s *stormRewriter) rewriteOperands(terms []SysExpr) []SysExpr {
	var rewritten []SysExpr
	for _, term := range terms {
		rewritten = append(rewritten, s.rewriteSystemOperand(term, sysPostfix))
	}
	return rewritten
}

// rewriteSystemOperand rewrites an operand of a process-algebra term. It puts the operand in parentheses if it binds less tightly than minLevel.
func (s *stormRewriter) rewriteSystemOperand(term SysExpr, minLevel int) SysExpr {
	if sysLevel(term) < minLevel {
		return &SysBrackets{X: s.rewriteSystemTerm(term)}
	}
	return s.rewriteSystemTerm(term)
}

// rewritePropertiesFile converts a properties file to Storm's language. Storm allows no label declarations in this file, so each use of a label is replaced by
// the definition of the label.
func (s *stormRewriter) rewritePropertiesFile(properties *Properties) *Properties {
	s.labels, s.properties = make(map[string]Expr), make(map[string]bool)
	for _, item := range properties.Items {
		switch item := item.(type) {
		case *LabelDecl:
			s.labels[item.Name.Name] = &Paren{X: s.rewriteExpr(item.X)}
		case *Property:
			if item.Name != nil {
				s.properties[item.Name.Name] = true
			}
		}
	}
	result := &Properties{File: properties.File, Trailing: properties.Trailing, Span: properties.Span}
	for _, item := range properties.Items {
		switch item := item.(type) {
		case *ConstDecl:
			result.Items = append(result.Items, s.rewriteConstDecl(item))
		case *Property:
			result.Items = append(result.Items, s.rewriteProperty(item))
		}
	}
	return result
}

// isCommonFunction reports whether a name is a function that both tools have.
func isCommonFunction(name string) bool {
	switch name {
	case "min", "max", "floor", "ceil", "round", "pow", "mod", "log":
		return true
	}
	return false
}

// stormDouble returns a literal of type double in the form of Storm: with digits before and after the point, and no leading zeros.
func stormDouble(text string) string {
	number, isNegative := strings.CutPrefix(text, "-")
	exponent := ""
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		number, exponent = number[:i], number[i:]
	}
	integer, fraction, _ := strings.Cut(number, ".")
	integer = cmp.Or(strings.TrimLeft(integer, "0"), "0")
	fraction = cmp.Or(fraction, "0")
	return choose(isNegative, "-", "") + integer + "." + fraction + exponent
}
