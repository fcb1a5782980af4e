package editor

import (
	"slices"
	"sort"

	"tilecheck/prism/syntax"
)

// Kind is what a name means.
type Kind uint8

// The kinds. Names of a kind are told apart by nothing else, but that constants,
// formulas, variables share one space, and labels and properties another.
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

// String returns the word for it.
func (k Kind) String() string {
	return [...]string{
		"", "constant", "formula", "variable", "label", "property", "action", "module", "reward structure", "observable", "system", "function",
	}[k]
}

// space is which names exclude each other.
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

// occurrence is a name in a text.
type occurrence struct {
	Range
	name  string
	space space
	kind  Kind // of a declaration
	node  syntax.Node
	// module is that in which a variable is declared, and for the two sides of a
	// renaming that which is renamed.
	module string
	rename bool // the first side of a renaming; the second one is the next occurrence
	to     bool // the second one
}

// occurrences returns the names of a document in order of their places.
func (d *document) occurrences() []occurrence {
	d.parse()
	d.naming.Do(func() {
		c := collector{doc: d}
		switch tree := d.tree.(type) {
		case *syntax.Model:
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
		sort.SliceStable(c.out, func(i, j int) bool { return c.out[i].From < c.out[j].From })
		d.names = c.out
	})
	return d.names
}

// collector gathers names.
type collector struct {
	doc    *document
	module string
	out    []occurrence
}

// add takes the name within a span; the quotes or the prime may belong to the span.
func (c *collector) add(name string, span syntax.Span, o occurrence) {
	if !syntax.IsIdent(name) {
		return
	}
	d := c.doc
	for i := d.lexemeFrom(int(span.Start.Offset)); i < len(d.lexemes()) && d.lexemes()[i].Start.Offset < span.Stop.Offset; i++ {
		l := d.lexemes()[i]
		if l.Class == syntax.Name && l.Text == name || l.Class == syntax.Primed && l.Text == name+"'" {
			o.name, o.Range = name, Range{int(l.Start.Offset), int(l.Start.Offset) + len(name)}
			c.out = append(c.out, o)
			return
		}
	}
}

func (c *collector) declare(id *syntax.Ident, kind Kind, n syntax.Node) {
	if id != nil {
		c.add(id.Name, id.Span, occurrence{space: kind.space(), kind: kind, node: n, module: c.module})
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
}

func (c *collector) renamed(m *syntax.RenamedModule) {
	c.declare(m.Name, Module, m)
	c.refer(m.Base, modules)
	for _, r := range m.Renames {
		c.add(r.Old.Name, r.Old.Span, occurrence{module: m.Base.Name, rename: true})
		c.add(r.New.Name, r.New.Span, occurrence{module: m.Base.Name, to: true, node: r})
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
			c.structure(n.StructDiv)
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

// lexemeFrom is the index of the first lexeme that ends behind an offset.
func (d *document) lexemeFrom(offset int) int {
	i, _ := slices.BinarySearchFunc(d.lexemes(), offset, func(l syntax.Lexeme, offset int) int {
		if int(l.Stop.Offset) <= offset {
			return -1
		}
		return 1
	})
	return i
}

// declaration is where a name is declared.
type declaration struct {
	doc *document
	occurrence
	index int // of the first use that means it
}

// use is an occurrence and what it means.
type use struct {
	occurrence
	decl *declaration // nil if there is none
}

// uses returns what the names of a group mean, by document.
func (g *group) uses() map[*document][]use {
	g.binding.Do(func() {
		g.bound = make(map[*document][]use)
		if g.model != nil {
			b := newBinder(nil)
			b.learn(g.model)
			g.bound[g.model] = b.bind(g.model)
			for _, d := range g.props {
				own := newBinder(b)
				own.learn(d)
				g.bound[d] = own.bind(d)
			}
			return
		}
		for _, d := range g.props {
			own := newBinder(nil)
			own.learn(d)
			g.bound[d] = own.bind(d)
		}
	})
	return g.bound
}

type key struct {
	space space
	name  string
}

// binder finds declarations: its own, else those of the outer one.
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

// learn reads the declarations of a document. An action is declared by the first
// command or renaming that has it.
func (b *binder) learn(d *document) {
	all := d.occurrences()
	for i, o := range all {
		k := key{o.space, o.name}
		if (o.kind != NoKind) && b.known[k] == nil {
			b.known[k] = &declaration{doc: d, occurrence: o, index: i}
		}
	}
	local := make(map[string]map[string]bool) // the variables of each module
	for _, o := range all {
		if o.kind == Variable && o.module != "" {
			if local[o.module] == nil {
				local[o.module] = make(map[string]bool)
			}
			local[o.module][o.name] = true
		}
	}
	for i, o := range all {
		switch {
		case o.space == actions && o.kind == NoKind && !o.to && !o.rename:
			b.action(d, i, o)
		case o.to && i > 0 && local[o.module][all[i-1].name]:
			o.kind, o.module = Variable, ""
			if k := (key{values, o.name}); b.known[k] == nil {
				b.known[k] = &declaration{doc: d, occurrence: o, index: i}
			}
		}
	}
	for i, o := range all { // actions that only a renaming makes
		if o.to && i > 0 && b.find(values, all[i-1].name) == nil && b.find(actions, all[i-1].name) != nil {
			b.action(d, i, o)
		}
	}
}

func (b *binder) action(d *document, i int, o occurrence) {
	o.space, o.kind = actions, Action
	if k := (key{actions, o.name}); b.find(actions, o.name) == nil {
		b.known[k] = &declaration{doc: d, occurrence: o, index: i}
	}
}

// bind says what the names of a document mean.
func (b *binder) bind(d *document) []use {
	all := d.occurrences()
	out := make([]use, len(all))
	for i, o := range all {
		s := o.space
		switch {
		case o.rename && b.find(values, o.name) == nil:
			s = actions
		case o.to && i > 0 && out[i-1].decl != nil:
			s = out[i-1].decl.space
		}
		if o.rename || o.to {
			o.space = s
		}
		out[i] = use{o, b.find(s, o.name)}
	}
	return out
}
