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
	kind  Kind // if the occurrence is a declaration
	// rename marks the old name of a renaming, to the new name, which is the next occurrence.
	rename, to bool
	*about
}

// about holds details of an occurrence in a declaration or a renaming; nil for others.
type about struct {
	node syntax.Node
	// module is the module in which a variable is declared or, in a renaming, the module that
	// is renamed.
	module string
}

// in returns the module of an occurrence, or "".
func (o occurrence) in() string {
	if o.about == nil {
		return ""
	}
	return o.module
}

// occurrences returns the names of a document sorted by position.
func (d *document) occurrences() []occurrence {
	d.parse()
	d.naming.Do(func() {
		c := collector{text: d.limitedText()}
		switch tree := d.tree.(type) {
		case *syntax.Model:
			known := d.commands
			c.known = func(cmd *syntax.Command) bool { // in order
				at := cmd.Start.Offset
				for len(known) > 0 && known[0].from < at {
					known = known[1:]
				}
				return len(known) > 0 && known[0].from == at
			}
			for _, item := range tree.Items {
				c.item(item)
			}
		case *syntax.Properties:
			for _, item := range tree.Items {
				switch item := item.(type) {
				case *syntax.Property:
					c.declare(item.Name, Property, item)
					c.expr(item.X)
				case syntax.Item:
					c.item(item)
				}
			}
		}
		d.names = d.withCommands(c.sorted())
	})
	return d.names
}

// withCommands merges the names in reused commands into the others, sorted by position.
func (d *document) withCommands(others []occurrence) []occurrence {
	n := len(others)
	for _, p := range d.commands {
		n += len(p.names)
	}
	out := make([]occurrence, 0, n)
	for _, p := range d.commands {
		for len(others) > 0 && others[0].From < int(p.from) {
			out, others = append(out, others[0]), others[1:]
		}
		from := len(out)
		out = append(out, p.names...)
		for i := range out[from:] {
			out[from+i].From += int(p.from)
			out[from+i].To += int(p.from)
		}
	}
	return append(out, others...)
}

// collector collects the names in a tree.
type collector struct {
	text   []byte
	module string
	known  func(*syntax.Command) bool // whether the names of a command are known; nil for none
	out    []occurrence
}

// sorted returns the names sorted by position.
func (c *collector) sorted() []occurrence {
	byPlace := func(a, b occurrence) int { return a.From - b.From }
	if !slices.IsSortedFunc(c.out, byPlace) {
		slices.SortStableFunc(c.out, byPlace)
	}
	return c.out
}

// add adds the name in a span, which may include quotes or a prime.
func (c *collector) add(name string, span syntax.Span, o occurrence) {
	if !syntax.IsIdent(name) {
		return
	}
	from := int(span.Start.Offset)
	if int(span.Stop.Offset) > len(c.text) {
		return
	}
	if c.text[from] == '"' {
		for l := range syntax.Lexemes(c.text[from:span.Stop.Offset]) {
			if l.Class == syntax.Name {
				from += int(l.Start.Offset)
				break
			}
		}
	}
	o.name, o.Range = name, Range{from, from + len(name)}
	c.out = append(c.out, o)
}

func (c *collector) declare(id *syntax.Ident, kind Kind, n syntax.Node) {
	if id != nil {
		c.add(id.Name, id.Span, occurrence{space: kind.space(), kind: kind, about: &about{n, c.module}})
	}
}

func (c *collector) refer(id *syntax.Ident, s space) {
	if id != nil {
		c.add(id.Name, id.Span, occurrence{space: s})
	}
}

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

func (c *collector) variable(v *syntax.VarDecl) {
	c.declare(v.Name, Variable, v)
	c.expr(v.Low)
	c.expr(v.High)
	c.expr(v.Init)
}

func (c *collector) moduleItem(m *syntax.Module) {
	c.declare(m.Name, Module, m)
	c.module = m.Name.Name
	for _, v := range m.Vars {
		c.variable(v)
	}
	c.module = ""
	c.expr(m.Invariant)
	for _, cmd := range m.Commands {
		if c.known == nil || !c.known(cmd) {
			c.command(cmd)
		}
	}
}

func (c *collector) command(cmd *syntax.Command) {
	c.refer(cmd.Action, actions)
	c.expr(cmd.Guard)
	for _, u := range cmd.Updates {
		c.expr(u.Prob)
		c.expr(u.ProbHigh)
		for _, a := range u.Assigns {
			c.refer(a.Name, values)
			c.expr(a.Value)
		}
	}
}

func (c *collector) renamed(m *syntax.RenamedModule) {
	c.declare(m.Name, Module, m)
	c.refer(m.Base, modules)
	for _, r := range m.Renames {
		in := &about{r, m.Base.Name}
		c.add(r.Old.Name, r.Old.Span, occurrence{rename: true, about: in})
		c.add(r.New.Name, r.New.Span, occurrence{to: true, about: in})
	}
}

func (c *collector) system(x syntax.SysExpr) {
	syntax.Inspect(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SysModule:
			c.refer(n.Name, modules)
		case *syntax.SysRef:
			c.refer(n.Name, systems)
		case *syntax.SysParallel:
			c.actions(n.Actions)
		case *syntax.SysHide:
			c.actions(n.Actions)
		case *syntax.Rename:
			c.refer(n.Old, actions)
			c.refer(n.New, actions)
		}
		return true
	})
}

func (c *collector) actions(ids []*syntax.Ident) {
	for _, id := range ids {
		c.refer(id, actions)
	}
}

func (c *collector) expr(x syntax.Expr) {
	if x == nil {
		return
	}
	syntax.Inspect(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Ident:
			c.refer(n, values)
		case *syntax.Quoted:
			c.add(n.Name, n.Span, occurrence{space: quoted})
		case *syntax.Reward:
			c.structure(n.Struct)
			c.structure(n.StructDivisor)
		case *syntax.CostBound:
			c.structure(n.Struct)
		}
		return true
	})
}

func (c *collector) structure(x syntax.Expr) {
	if q, ok := x.(*syntax.Quoted); ok {
		c.add(q.Name, q.Span, occurrence{space: rewards})
	}
}

// declaration is the place where a name is declared.
type declaration struct {
	doc *document
	occurrence
	index int // of its occurrence in the document
}

// use is an occurrence with its declaration.
type use struct {
	*occurrence
	decl *declaration // nil if there is none
}

// uses returns the names of a group with their declarations, by document.
func (g *group) uses() map[*document][]use {
	g.binding.Do(func() {
		g.bound = make(map[*document][]use)
		if g.model != nil {
			b := newBinder(nil)
			b.collect(g.model)
			g.bound[g.model] = b.bind(g.model)
			for _, d := range g.props {
				own := newBinder(b)
				own.collect(d)
				g.bound[d] = own.bind(d)
			}
			return
		}
		for _, d := range g.props {
			own := newBinder(nil)
			own.collect(d)
			g.bound[d] = own.bind(d)
		}
	})
	return g.bound
}

type key struct {
	space space
	name  string
}

// binder finds declarations: its own, otherwise those of the outer binder.
type binder struct {
	outer *binder
	known map[key]*declaration
}

func newBinder(outer *binder) *binder { return &binder{outer, make(map[key]*declaration)} }

func (b *binder) find(s space, name string) *declaration {
	if d := b.known[key{s, name}]; d != nil || b.outer == nil {
		return d
	}
	return b.outer.find(s, name)
}

// collect reads the declarations of a document. An action is declared by the first
// command or renaming that has it.
func (b *binder) collect(d *document) {
	all := d.occurrences()
	local := make(map[[2]string]bool) // the variables of each module
	for i := range all {
		o := &all[i]
		if o.kind == NoKind {
			continue
		}
		if k := (key{o.space, o.name}); b.known[k] == nil {
			b.known[k] = &declaration{doc: d, occurrence: *o, index: i}
		}
		if o.kind == Variable && o.module != "" {
			local[[2]string{o.module, o.name}] = true
		}
	}
	for i := range all {
		o := &all[i]
		switch {
		case o.space == actions && o.kind == NoKind && !o.to && !o.rename:
			b.action(d, i, o)
		case o.to && i > 0 && local[[2]string{o.module, all[i-1].name}]:
			v := *o
			v.kind, v.about = Variable, &about{o.node, ""}
			if k := (key{values, o.name}); b.known[k] == nil {
				b.known[k] = &declaration{doc: d, occurrence: v, index: i}
			}
		}
	}
	for i := range all { // actions that only a renaming introduces
		if o := &all[i]; o.to && i > 0 && b.find(values, all[i-1].name) == nil && b.find(actions, all[i-1].name) != nil {
			b.action(d, i, o)
		}
	}
}

func (b *binder) action(d *document, i int, o *occurrence) {
	if b.find(actions, o.name) != nil {
		return
	}
	a := *o
	a.space, a.kind = actions, Action
	b.known[key{actions, o.name}] = &declaration{doc: d, occurrence: a, index: i}
}

// bind returns the names of a document with their declarations.
func (b *binder) bind(d *document) []use {
	all := d.occurrences()
	out := make([]use, len(all))
	for i := range all {
		o := &all[i]
		s := o.space
		switch {
		case o.rename && b.find(values, o.name) == nil:
			s = actions
		case o.to && i > 0 && out[i-1].decl != nil:
			s = out[i-1].decl.space
		}
		if s != o.space {
			renamed := *o
			renamed.space, o = s, &renamed
		}
		out[i] = use{o, b.find(s, o.name)}
	}
	return out
}
