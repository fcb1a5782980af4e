package syntax

import (
	"slices"
	"strings"
)

// The languages of PRISM and Storm differ as described in the reference, section 7, and in Storm's
// grammars (PrismParserGrammar, ExpressionParser and FormulaParserGrammar, versions 1.12 and 1.14).
// The tree is rewritten so that its text has the same meaning for both tools.

// toStorm returns a tree whose text means to Storm what the text of n means to PRISM. The error is
// a *DialectError if Storm's language lacks something.
func toStorm(n Node, opt Options) (Node, error) {
	s := &stormRewriter{options: opt, logicOnly: make(map[Expr]bool), dualNegations: make(map[*Unary]bool)}
	out := s.node(n)
	if s.err != nil {
		return nil, s.err
	}
	return out, nil
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
	// dualNegations holds the negations that temporal returned in place of an operator that Storm
	// lacks.
	dualNegations map[*Unary]bool
	options       Options
	err           error
}

// refuse keeps the first error: Storm cannot express the feature that node n uses.
func (s *stormRewriter) refuse(n Node, feature string) {
	if s.err == nil {
		s.err = &DialectError{Pos: n.Pos(), Dialect: Storm, Feature: feature}
	}
}

// node rewrites a node of any kind.
func (s *stormRewriter) node(n Node) Node {
	switch n := n.(type) {
	case *Model:
		return s.model(n)
	case *Properties:
		return s.propertiesFile(n)
	case *Property:
		return s.property(n)
	case Item:
		return s.item(n)
	case *VarDecl:
		return s.varDecl(n)
	case *Command:
		return s.command(n)
	case *Update:
		return s.update(n)
	case *Assign:
		return s.assign(n)
	case *RewardItem:
		return s.rewardItem(n)
	case SysExpr:
		return s.systemTerm(n)
	case Expr:
		return s.topLevel(n)
	}
	return n
}

// name refuses an identifier that is a keyword in Storm but not in PRISM.
func (s *stormRewriter) name(ident *Ident) *Ident {
	if ident == nil {
		return nil
	}
	switch ident.Name {
	case "ma", "smg", "ctmdp", "floor", "ceil", "atLeastOneOf", "atMostOneOf", "exactlyOneOf", "player", "endplayer":
		s.refuse(ident, "the name "+ident.Name+", a keyword there")
	}
	return ident
}

// model rewrites a model into the order that Storm requires: the model type first, then
// observables, and the system block last.
func (s *stormRewriter) model(model *Model) *Model {
	var types, body, systems []Item
	var observables *Observables
	for _, item := range renamedAfterBase(model.Items) {
		switch item := item.(type) {
		case *TypeDecl:
			types = append(types, s.typeDecl(item))
		case *Observables:
			observables = s.observables(observables, item)
		case *System:
			systems = append(systems, s.system(item))
		default:
			body = append(body, s.item(item))
		}
	}
	if len(types) == 0 {
		types = append(types, s.typeDecl(&TypeDecl{Type: implicitType(model), Span: model.Span}))
	}
	if len(types) > 1 {
		s.refuse(types[1], "several model types")
	}
	if len(systems) > 1 {
		s.refuse(systems[1], "several system blocks")
	}
	result := &Model{File: model.File, Items: types, Trailing: model.Trailing, Span: model.Span}
	if observables != nil {
		result.Items = append(result.Items, observables)
	}
	result.Items = append(append(result.Items, body...), systems...)
	return result
}

// renamedAfterBase returns the items in an order in which each renamed module follows its base.
// A renamed module whose base does not exist comes last; the printer reports no error for it.
func renamedAfterBase(items []Item) []Item {
	var ordered []Item
	var waiting []*RenamedModule // their bases are not in ordered yet
	defined := make(map[string]bool)
	isReady := func(renamed *RenamedModule) bool { return defined[renamed.Base.Name] }
	for _, item := range items {
		if renamed, ok := item.(*RenamedModule); ok {
			waiting = append(waiting, renamed)
		} else {
			ordered = append(ordered, item)
		}
		if module, ok := item.(*Module); ok {
			defined[module.Name.Name] = true
		}
		for next := slices.IndexFunc(waiting, isReady); next >= 0; next = slices.IndexFunc(waiting, isReady) {
			ordered = append(ordered, waiting[next])
			defined[waiting[next].Name.Name] = true
			waiting = slices.Delete(waiting, next, next+1)
		}
	}
	for _, module := range waiting {
		ordered = append(ordered, module)
	}
	return ordered
}

// implicitType returns the type that PRISM gives to a model without a type keyword. For an LTS,
// which has no keyword, it returns TypeNone.
func implicitType(model *Model) ModelType {
	var clocks, observables, probabilities bool
	Inspect(model, func(n Node) bool {
		switch n := n.(type) {
		case *VarDecl:
			clocks = clocks || n.Type == ClockVar
		case *Observables:
			observables = true
		case *Update:
			probabilities = probabilities || n.Prob != nil
		case Expr:
			return false
		}
		return true
	})
	switch {
	case clocks && observables:
		return POPTA
	case clocks:
		return PTA
	case observables:
		return POMDP
	case probabilities:
		return MDP
	}
	return TypeNone
}

// typeDecl refuses model types that Storm does not have.
func (s *stormRewriter) typeDecl(d *TypeDecl) *TypeDecl {
	switch d.Type {
	case TypeNone, LTS:
		s.refuse(d, "a model without a type (an LTS)")
	case POPTA:
		s.refuse(d, "POPTAs")
	}
	return d
}

// observables adds the variables of an observables block to the merged block; a nil merged block is
// created.
func (s *stormRewriter) observables(merged, block *Observables) *Observables {
	if merged == nil {
		merged = &Observables{Doc: block.Doc, Notes: block.Notes, Span: block.Span}
	}
	for _, ident := range block.Names {
		merged.Names = append(merged.Names, s.name(ident))
	}
	return merged
}

// item rewrites a declaration for Storm.
func (s *stormRewriter) item(item Item) Item {
	switch n := item.(type) {
	case *TypeDecl:
		return s.typeDecl(n)
	case *ConstDecl:
		c := *n
		c.Name, c.Value = s.name(n.Name), s.expr(n.Value)
		return &c
	case *FormulaDecl:
		c := *n
		c.Name, c.X = s.name(n.Name), s.expr(n.X)
		return &c
	case *LabelDecl:
		c := *n
		c.Name, c.X = s.name(n.Name), s.expr(n.X)
		return &c
	case *GlobalDecl:
		if n.Var.Type == ClockVar {
			s.refuse(n, "global clocks")
		}
		c := *n
		c.Var = s.varDecl(n.Var)
		return &c
	case *Module:
		return s.module(n)
	case *RenamedModule:
		return s.renamedModule(n)
	case *Rewards:
		return s.rewards(n)
	case *InitBlock:
		c := *n
		c.X = s.expr(n.X)
		return &c
	case *Observables:
		return s.observables(nil, n)
	case *ObservableDecl:
		c := *n
		c.Name, c.X = s.name(n.Name), s.expr(n.X)
		return &c
	case *System:
		return s.system(n)
	}
	return item
}

// varDecl rewrites the declaration of a variable.
func (s *stormRewriter) varDecl(variable *VarDecl) *VarDecl {
	if variable.Type == ClockVar && variable.Init != nil {
		s.refuse(variable, "initial values of clocks")
	}
	result := *variable
	result.Name, result.Low, result.High, result.Init = s.name(variable.Name), s.expr(variable.Low), s.expr(variable.High), s.expr(variable.Init)
	return &result
}

// module rewrites a module.
func (s *stormRewriter) module(module *Module) *Module {
	result := &Module{Doc: module.Doc, Notes: module.Notes, Head: module.Head, InvariantDoc: module.InvariantDoc, Trailing: module.Trailing, Name: s.name(module.Name), Invariant: s.expr(module.Invariant), Span: module.Span}
	for _, variable := range module.Vars {
		result.Vars = append(result.Vars, s.varDecl(variable))
	}
	for _, command := range module.Commands {
		result.Commands = append(result.Commands, s.command(command))
	}
	return result
}

// renamedModule refuses a renamed module in which functions are renamed.
func (s *stormRewriter) renamedModule(m *RenamedModule) *RenamedModule {
	s.name(m.Name)
	for _, rename := range m.Renames {
		if s.name(rename.New); isCommonFunction(rename.Old.Name) || isCommonFunction(rename.New.Name) {
			s.refuse(rename, "the renaming of functions")
		}
	}
	return m
}

// command rewrites a command.
func (s *stormRewriter) command(command *Command) *Command {
	result := &Command{Doc: command.Doc, Notes: command.Notes, Action: s.name(command.Action), Markovian: command.Markovian, Guard: s.expr(command.Guard), Span: command.Span}
	for _, update := range command.Updates {
		result.Updates = append(result.Updates, s.update(update))
	}
	return result
}

func (s *stormRewriter) update(update *Update) *Update {
	result := &Update{Prob: s.expr(update.Prob), ProbHigh: s.expr(update.ProbHigh), Span: update.Span}
	for _, assign := range update.Assigns {
		result.Assigns = append(result.Assigns, s.assign(assign))
	}
	return result
}

func (s *stormRewriter) assign(assignment *Assign) *Assign {
	return &Assign{Name: s.name(assignment.Name), Value: s.expr(assignment.Value), Span: assignment.Span}
}

// rewards rewrites a reward structure. Storm requires at least one item, so an empty structure gets
// an item with reward 0.
func (s *stormRewriter) rewards(rewards *Rewards) *Rewards {
	result := &Rewards{Doc: rewards.Doc, Notes: rewards.Notes, Head: rewards.Head, Trailing: rewards.Trailing, Name: s.name(rewards.Name), Span: rewards.Span}
	for _, item := range rewards.Items {
		result.Items = append(result.Items, s.rewardItem(item))
	}
	if len(result.Items) == 0 {
		result.Items = []*RewardItem{{Guard: &BoolLit{Value: true}, Value: &IntLit{}}}
	}
	return result
}

func (s *stormRewriter) rewardItem(item *RewardItem) *RewardItem {
	result := *item
	result.Action, result.Guard, result.Value = s.name(item.Action), s.expr(item.Guard), s.expr(item.Value)
	return &result
}

func (s *stormRewriter) system(n *System) *System {
	if n.Name != nil {
		s.refuse(n, "named system blocks")
	}
	return &System{Doc: n.Doc, Notes: n.Notes, X: s.systemTerm(n.X), Span: n.Span}
}

// systemTerm rewrites a process-algebra term. In Storm all its operators have one precedence, so
// operands get parentheses.
func (s *stormRewriter) systemTerm(term SysExpr) SysExpr {
	switch term := term.(type) {
	case *SysRef:
		s.refuse(term, "references to system blocks")
	case *SysBrackets:
		return &SysBrackets{X: s.systemTerm(term.X), Span: term.Span}
	case *SysFull:
		return &SysFull{Operands: s.operands(term.Operands), Span: term.Span}
	case *SysInterleaved:
		return &SysInterleaved{Operands: s.operands(term.Operands), Span: term.Span}
	case *SysParallel:
		return &SysParallel{X: s.parenthesizeTerm(term.X, sysPostfix), Y: s.parenthesizeTerm(term.Y, sysPostfix), Actions: term.Actions, Span: term.Span}
	case *SysHide:
		return &SysHide{X: s.parenthesizeTerm(term.X, sysAtom), Actions: term.Actions, Span: term.Span}
	case *SysRename:
		return &SysRename{X: s.parenthesizeTerm(term.X, sysAtom), Renames: term.Renames, Span: term.Span}
	}
	return term
}

func (s *stormRewriter) operands(xs []SysExpr) []SysExpr {
	var out []SysExpr
	for _, term := range xs {
		out = append(out, s.parenthesizeTerm(term, sysPostfix))
	}
	return out
}

// parenthesizeTerm rewrites a term, in parentheses if it binds less tightly than least.
func (s *stormRewriter) parenthesizeTerm(term SysExpr, least int) SysExpr {
	if sysLevel(term) < least {
		return &SysBrackets{X: s.systemTerm(term)}
	}
	return s.systemTerm(term)
}

// propertiesFile rewrites a properties file. Storm has no label declarations there, so labels are
// replaced by their definitions.
func (s *stormRewriter) propertiesFile(properties *Properties) *Properties {
	s.labels, s.properties = make(map[string]Expr), make(map[string]bool)
	for _, item := range properties.Items {
		switch item := item.(type) {
		case *LabelDecl:
			s.labels[item.Name.Name] = &Paren{X: s.expr(item.X)}
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
			constant := *item
			constant.Name, constant.Value = s.name(item.Name), s.expr(item.Value)
			result.Items = append(result.Items, &constant)
		case *Property:
			result.Items = append(result.Items, s.property(item))
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

// stormDouble returns a literal of type double in the form that Storm reads as a double: with
// digits on both sides of the point and without leading zeros.
func stormDouble(text string) string {
	sign, text := choose(strings.HasPrefix(text, "-"), "-", ""), strings.TrimPrefix(text, "-")
	exponent := ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text, exponent = text[:i], text[i:]
	}
	integer, fraction, _ := strings.Cut(text, ".")
	if integer = strings.TrimLeft(integer, "0"); integer == "" {
		integer = "0"
	}
	if fraction == "" {
		fraction = "0"
	}
	return sign + integer + "." + fraction + exponent
}
