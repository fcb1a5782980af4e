package editor

import (
	"slices"

	"tilecheck/prism/syntax"
)

// Kind is the kind of thing that a name stands for.
type Kind uint8

// The kinds. Each kind has its own name space, except that constants, formulas and variables share
// one, and labels and properties share one.
const (
	NoKind Kind = iota
	Constant
	Formula
	Variable
	Label
	Property
	Action
	Module
	RewardStruct
	Observable
	SystemName
	Function
)

// String returns the English word for the kind.
func (k Kind) String() string {
	return [...]string{
		"", "constant", "formula", "variable", "label", "property", "action", "module", "reward structure", "observable", "system", "function",
	}[k]
}

// space is a name space.
type space uint8

const (
	values space = iota
	quoted
	actions
	modules
	rewards
	observables
	systems
)

func (k Kind) space() space {
	switch k {
	case Label, Property:
		return quoted
	case Action:
		return actions
	case Module:
		return modules
	case RewardStruct:
		return rewards
	case Observable:
		return observables
	case SystemName:
		return systems
	}
	return values
}

// occurrence is a name at a position in a text.
type occurrence struct {
	Range
	name  string
	space space
	kind  Kind // what a declaration declares; NoKind for a use
	// In a renaming a=b of a renamed module, isOldName marks a, and isNewName marks b, which is the next occurrence.
	isOldName, isNewName bool
	*details
}

// details are the facts that only an occurrence in a declaration or a renaming has; nil for others.
type details struct {
	node syntax.Node // the declaration or the renaming
	// module is the name of the module in which a variable is declared or, in a renaming, of the module that is renamed.
	module string
}

// moduleName returns the module of the details; "" if there is none.
func (o occurrence) moduleName() string {
	if o.details == nil {
		return ""
	}
	return o.module
}

// occurrences returns the names in the text of a document, sorted by position.
func (d *document) occurrences() []occurrence {
	d.parse()
	d.naming.Do(func() {
		names := collector{text: d.limitedText(), recorded: d.commands}
		switch tree := d.tree.(type) {
		case *syntax.Model:
			for _, item := range tree.Items {
				names.item(item)
			}
		case *syntax.Properties:
			for _, item := range tree.Items {
				names.propertyItem(item)
			}
		}
		d.names = d.withCommandNames(names.sorted())
	})
	return d.names
}

// withCommandNames merges the names in the recorded commands into the other names of the text, sorted by position.
func (d *document) withCommandNames(others []occurrence) []occurrence {
	numNames := len(others)
	for _, cmd := range d.commands {
		numNames += len(cmd.names)
	}
	merged := make([]occurrence, 0, numNames)
	for _, cmd := range d.commands {
		for len(others) > 0 && others[0].From < int(cmd.from) {
			merged, others = append(merged, others[0]), others[1:]
		}
		first := len(merged)
		merged = append(merged, cmd.names...)
		for i := range merged[first:] {
			merged[first+i].From += int(cmd.from)
			merged[first+i].To += int(cmd.from)
		}
	}
	return append(merged, others...)
}

// collector collects the names in a tree.
type collector struct {
	text     []byte
	module   string        // the module whose variables are visited; "" outside of modules
	recorded []textCommand // commands whose names are known already, sorted by position
	out      []occurrence
}

// sorted returns the collected names, sorted by position.
func (c *collector) sorted() []occurrence {
	byPosition := func(a, b occurrence) int { return a.From - b.From }
	if !slices.IsSortedFunc(c.out, byPosition) {
		slices.SortStableFunc(c.out, byPosition)
	}
	return c.out
}

// add records the name in a span of the text. The span may also contain double quotes or a prime, the range of the occurrence does not. It copies
// the other fields of the occurrence from found.
func (c *collector) add(name string, span syntax.Span, found occurrence) {
	from, to := int(span.Start.Offset), int(span.Stop.Offset)
	if !syntax.IsIdent(name) || to > len(c.text) {
		return
	}
	if c.text[from] == '"' {
		from += nameOffset(c.text[from:to])
	}
	found.name, found.Range = name, Range{from, from + len(name)}
	c.out = append(c.out, found)
}

// nameOffset returns the offset of the first name in a text; 0 if there is none.
func nameOffset(text []byte) int {
	for current := range syntax.Lexemes(text) {
		if current.Class == syntax.Name {
			return int(current.Start.Offset)
		}
	}
	return 0
}

// isRecorded reports whether the names of a command are known already. The calls must follow the order of the commands in the text.
func (c *collector) isRecorded(cmd *syntax.Command) bool {
	offset := cmd.Start.Offset
	for len(c.recorded) > 0 && c.recorded[0].from < offset {
		c.recorded = c.recorded[1:]
	}
	return len(c.recorded) > 0 && c.recorded[0].from == offset
}

// declare records the name of a declaration, if it has one.
func (c *collector) declare(id *syntax.Ident, kind Kind, declaration syntax.Node) {
	if id != nil {
		c.add(id.Name, id.Span, occurrence{space: kind.space(), kind: kind, details: &details{declaration, c.module}})
	}
}

// refer records the use of a name, if there is one.
func (c *collector) refer(id *syntax.Ident, s space) {
	if id != nil {
		c.add(id.Name, id.Span, occurrence{space: s})
	}
}

// propertyItem collects the names in an item of a properties file.
func (c *collector) propertyItem(item syntax.Node) {
	switch typedItem := item.(type) {
	case *syntax.Property:
		c.declare(typedItem.Name, Property, typedItem)
		c.expr(typedItem.X)
	case syntax.Item:
		c.item(typedItem)
	}
}

// item collects the names in an item of a model or a properties file.
func (c *collector) item(item syntax.Item) {
	switch n := item.(type) {
	case *syntax.ConstDecl:
		c.declare(n.Name, Constant, n)
		c.expr(n.Value)
	case *syntax.FormulaDecl:
		c.declare(n.Name, Formula, n)
		c.expr(n.X)
	case *syntax.LabelDecl:
		c.declare(n.Name, Label, n)
		c.expr(n.X)
	case *syntax.ObservableDecl:
		c.declare(n.Name, Observable, n)
		c.expr(n.X)
	case *syntax.GlobalDecl:
		c.variable(n.Var)
	case *syntax.Module:
		c.moduleItem(n)
	case *syntax.RenamedModule:
		c.renamed(n)
	case *syntax.Rewards:
		c.declare(n.Name, RewardStruct, n)
		for _, r := range n.Items {
			c.refer(r.Action, actions)
			c.expr(r.Guard)
			c.expr(r.Value)
		}
	case *syntax.InitBlock:
		c.expr(n.X)
	case *syntax.Observables:
		for _, id := range n.Names {
			c.refer(id, values)
		}
	case *syntax.Player:
		for _, owned := range n.Items {
			if owned.Action {
				c.refer(owned.Name, actions)
			} else {
				c.refer(owned.Name, modules)
			}
		}
	case *syntax.System:
		c.declare(n.Name, SystemName, n)
		c.system(n.X)
	}
}

// variable collects the names in the declaration of a variable.
func (c *collector) variable(v *syntax.VarDecl) {
	c.declare(v.Name, Variable, v)
	c.expr(v.Low)
	c.expr(v.High)
	c.expr(v.Init)
}

// moduleItem collects the names in a module, except those of the recorded commands.
func (c *collector) moduleItem(module *syntax.Module) {
	c.declare(module.Name, Module, module)
	c.module = module.Name.Name
	for _, variable := range module.Vars {
		c.variable(variable)
	}
	c.module = ""
	c.expr(module.Invariant)
	for _, cmd := range module.Commands {
		if !c.isRecorded(cmd) {
			c.command(cmd)
		}
	}
}

// command collects the names in a command.
func (c *collector) command(cmd *syntax.Command) {
	c.refer(cmd.Action, actions)
	c.expr(cmd.Guard)
	for _, update := range cmd.Updates {
		c.expr(update.Prob)
		c.expr(update.ProbHigh)
		for _, assignment := range update.Assigns {
			c.refer(assignment.Name, values)
			c.expr(assignment.Value)
		}
	}
}

// renamed collects the names in a renamed module: module m = base [a=b, ...] endmodule.
func (c *collector) renamed(module *syntax.RenamedModule) {
	c.declare(module.Name, Module, module)
	c.refer(module.Base, modules)
	for _, renaming := range module.Renames {
		shared := &details{renaming, module.Base.Name}
		c.add(renaming.Old.Name, renaming.Old.Span, occurrence{isOldName: true, details: shared})
		c.add(renaming.New.Name, renaming.New.Span, occurrence{isNewName: true, details: shared})
	}
}

// system collects the names in the expression of a system definition.
func (c *collector) system(expr syntax.SysExpr) {
	syntax.Inspect(expr, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.SysModule:
			c.refer(node.Name, modules)
		case *syntax.SysRef:
			c.refer(node.Name, systems)
		case *syntax.SysParallel:
			c.actions(node.Actions)
		case *syntax.SysHide:
			c.actions(node.Actions)
		case *syntax.Rename:
			c.refer(node.Old, actions)
			c.refer(node.New, actions)
		}
		return true
	})
}

// actions collects a list of action names.
func (c *collector) actions(ids []*syntax.Ident) {
	for _, id := range ids {
		c.refer(id, actions)
	}
}

// expr collects the names in an expression; none if it is nil.
func (c *collector) expr(expr syntax.Expr) {
	if expr == nil {
		return
	}
	syntax.Inspect(expr, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Ident:
			c.refer(node, values)
		case *syntax.Quoted:
			c.add(node.Name, node.Span, occurrence{space: quoted})
		case *syntax.Reward:
			c.structure(node.Struct)
			c.structure(node.DivisorStruct)
		case *syntax.CostBound:
			c.structure(node.Struct)
		}
		return true
	})
}

// structure collects the name of a reward structure, if it is given by name and not by index.
func (c *collector) structure(x syntax.Expr) {
	if q, ok := x.(*syntax.Quoted); ok {
		c.add(q.Name, q.Span, occurrence{space: rewards})
	}
}

// declaration is the place where a name is declared.
type declaration struct {
	doc *document
	occurrence
	index int // the index of the occurrence in the document
}

// use is an occurrence with its declaration.
type use struct {
	*occurrence
	decl *declaration // nil if there is none
}

// uses returns the names in the documents of a group, with their declarations.
func (g *group) uses() map[*document][]use {
	g.binding.Do(func() {
		g.bound = make(map[*document][]use)
		var model *binder // nil without a model
		if g.model != nil {
			model = newBinder(nil)
			model.collect(g.model)
			g.bound[g.model] = model.bind(g.model)
		}
		for _, doc := range g.props {
			properties := newBinder(model)
			properties.collect(doc)
			g.bound[doc] = properties.bind(doc)
		}
	})
	return g.bound
}

// key is a name in its name space.
type key struct {
	space space
	name  string
}

// binder finds the declarations of names: its own, and those of the outer binder for names that it does not declare.
type binder struct {
	outer *binder // nil for the binder of a model
	own   map[key]*declaration
}

func newBinder(outer *binder) *binder { return &binder{outer, make(map[key]*declaration)} }

// find returns the declaration of a name; nil if there is none.
func (b *binder) find(s space, name string) *declaration {
	if d := b.own[key{s, name}]; d != nil || b.outer == nil {
		return d
	}
	return b.outer.find(s, name)
}

// moduleVariable is a variable that a module declares.
type moduleVariable struct{ module, name string }

// collect records the declarations in a document. The language does not declare actions: the first command or renaming that has an action
// counts as its declaration.
func (b *binder) collect(doc *document) {
	variables := b.collectDeclarations(doc)
	names := doc.occurrences()
	for i, name := range names {
		switch {
		case name.space == actions:
			b.declareAction(doc, i)
		case name.isNewName && i > 0 && variables[moduleVariable{name.module, names[i-1].name}]:
			name.kind, name.details = Variable, &details{node: name.node}
			b.declare(doc, i, name)
		}
	}
	for i, name := range names { // actions that only a renaming introduces
		if name.isNewName && i > 0 && b.find(values, names[i-1].name) == nil && b.find(actions, names[i-1].name) != nil {
			b.declareAction(doc, i)
		}
	}
}

// collectDeclarations records the names that a document declares, and returns the variables of its modules.
func (b *binder) collectDeclarations(doc *document) map[moduleVariable]bool {
	variables := make(map[moduleVariable]bool)
	for i, name := range doc.occurrences() {
		if name.kind == NoKind {
			continue
		}
		b.declare(doc, i, name)
		if name.kind == Variable && name.module != "" {
			variables[moduleVariable{name.module, name.name}] = true
		}
	}
	return variables
}

// declare records a declaration, which is occurrence i of the document, unless the binder has one of this name.
func (b *binder) declare(d *document, i int, o occurrence) {
	if k := (key{o.space, o.name}); b.own[k] == nil {
		b.own[k] = &declaration{doc: d, occurrence: o, index: i}
	}
}

// declareAction records that occurrence i of the document declares an action, unless the action has a declaration.
func (b *binder) declareAction(doc *document, i int) {
	name := doc.occurrences()[i]
	if b.find(actions, name.name) != nil {
		return
	}
	name.space, name.kind = actions, Action
	b.declare(doc, i, name)
}

// bind returns the names in a document with their declarations. Only the declarations tell whether a renaming renames a value or an action.
func (b *binder) bind(doc *document) []use {
	names := doc.occurrences()
	uses := make([]use, len(names))
	for i := range names {
		name := &names[i]
		nameSpace := name.space
		switch {
		case name.isOldName && b.find(values, name.name) == nil:
			nameSpace = actions
		case name.isNewName && i > 0 && uses[i-1].decl != nil:
			nameSpace = uses[i-1].decl.space
		}
		if nameSpace != name.space {
			renamed := *name
			renamed.space, name = nameSpace, &renamed
		}
		uses[i] = use{name, b.find(nameSpace, name.name)}
	}
	return uses
}
