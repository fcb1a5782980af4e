package sema

import (
	"fmt"

	"tilecheck/prism/syntax"
)

// CheckModel resolves a model file and makes all checks that do not need the values of constants.
// The error is a syntax.ErrorList of at most ten entries; the first is the one that PRISM reports,
// at the same position.
//
// Source: ModulesFile.tidyUp of PRISM 4.10; reference, sections 1.2, 1.4 and 2.3.
func CheckModel(m *syntax.Model) (*Model, error) { return CheckCommands(m, nil) }

// CheckCommands is CheckModel with a callback for every command that was checked. clean says that
// the command and the formulas in it have no errors. The commands of a renamed module's base are
// reported again. report may be nil.
func CheckCommands(m *syntax.Model, report func(c *syntax.Command, clean bool)) (*Model, error) {
	c := newChecker(m)
	c.report = report
	c.formulas()
	c.moduleList()
	if c.has(phaseFormulaCycles) || c.has(phaseRenaming) {
		return nil, c.err() // everything else would be a consequence
	}
	c.labelNames()
	c.constNames()
	c.variables()
	c.rewardNames()
	c.actions()
	c.modelType()
	c.players()
	c.resolve()
	if err := c.err(); err != nil {
		return nil, err
	}
	c.warn()
	return c.m, nil
}

// module is a module of the file: the text of a plain module, and the renamings to apply to it.
type module struct {
	name    *syntax.Ident
	base    string // the module it renames
	text    *syntax.Module
	renames []*renaming
}

// checker checks one model file.
type checker struct {
	diags
	m       *Model
	r       *resolver
	items   items
	modules []*module
	system  *syntax.System // the system block that is used
	slots   map[string]int // index of each action
	report  func(c *syntax.Command, clean bool)
}

// items are the items of a model file by kind.
type items struct {
	types       []*syntax.TypeDecl
	consts      []*syntax.ConstDecl
	formulas    []*syntax.FormulaDecl
	labels      []*syntax.LabelDecl
	globals     []*syntax.VarDecl
	modules     []syntax.Item
	rewards     []*syntax.Rewards
	inits       []*syntax.InitBlock
	observables []*syntax.Observables
	defined     []*syntax.ObservableDecl
	systems     []*syntax.System
	players     []*syntax.Player
}

func sortItems(list []syntax.Item) (it items) {
	for _, x := range list {
		switch x := x.(type) {
		case *syntax.TypeDecl:
			it.types = append(it.types, x)
		case *syntax.ConstDecl:
			it.consts = append(it.consts, x)
		case *syntax.FormulaDecl:
			it.formulas = append(it.formulas, x)
		case *syntax.LabelDecl:
			it.labels = append(it.labels, x)
		case *syntax.GlobalDecl:
			it.globals = append(it.globals, x.Var)
		case *syntax.Module, *syntax.RenamedModule:
			it.modules = append(it.modules, x)
		case *syntax.Rewards:
			it.rewards = append(it.rewards, x)
		case *syntax.InitBlock:
			it.inits = append(it.inits, x)
		case *syntax.Observables:
			it.observables = append(it.observables, x)
		case *syntax.ObservableDecl:
			it.defined = append(it.defined, x)
		case *syntax.System:
			it.systems = append(it.systems, x)
		case *syntax.Player:
			it.players = append(it.players, x)
		}
	}
	return it
}

func newChecker(m *syntax.Model) *checker {
	c := &checker{
		diags: diags{file: m.File},
		m:     &Model{file: m.File, dialect: m.Dialect, truncates: m.Truncates, names: make(table), quoted: make(table)},
		items: sortItems(m.Items),
	}
	c.r = newResolver(&c.diags, c.m, nil)
	if len(c.items.types) > 1 {
		c.add(phaseFile, c.items.types[1].Pos(), "there were multiple model type declarations, want at most one")
	}
	if len(c.items.inits) > 1 {
		c.add(phaseFile, c.items.inits[1].X.Pos(), "there were multiple init...endinit constructs, want at most one")
	}
	return c
}

// formulas declares the formulas and finds cycles among them.
func (c *checker) formulas() {
	for _, f := range c.items.formulas {
		name := f.Name.Name
		x := &formula{name, f}
		if c.m.names.declare(&c.diags, phaseFormulaNames, nil, name, name, f.Name.Pos(), symbol{use: "formula", loc: "the model", formula: x, index: len(c.m.formulas)}) {
			c.m.formulas = append(c.m.formulas, x)
		}
	}
	deps := make([][]int, len(c.m.formulas))
	for i, f := range c.m.formulas {
		eachIdent(f.decl.X, func(name string) {
			if s, ok := c.m.names[name]; ok {
				deps[i] = append(deps[i], s.index)
			}
		})
	}
	if i := firstCycle(deps); i >= 0 {
		f := c.m.formulas[i]
		c.add(phaseFormulaCycles, f.decl.X.Pos(), "cyclic dependency in definition of formula %q", f.name)
	}
}

// eachIdent calls f for the name of every identifier in an expression.
func eachIdent(e syntax.Expr, f func(name string)) {
	syntax.Inspect(e, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			f(id.Name)
		}
		return true
	})
}

// moduleList lists the modules; a renamed module has the text of its base.
func (c *checker) moduleList() {
	if c.has(phaseFormulaCycles) {
		return
	}
	for _, x := range c.items.modules {
		if x, ok := x.(*syntax.Module); ok {
			c.modules = append(c.modules, &module{name: x.Name, text: x})
		} else {
			c.modules = append(c.modules, nil)
		}
	}
	for i, x := range c.items.modules {
		if x, ok := x.(*syntax.RenamedModule); ok {
			c.modules[i] = c.renamed(x)
		}
	}
	if len(c.modules) == 0 {
		c.add(phaseModuleNames, syntax.Pos{}, "there must be at least one module")
	}
	names := make(map[string]bool)
	for _, m := range c.modules {
		if m == nil {
			continue
		}
		if names[m.name.Name] {
			c.add(phaseModuleNames, m.name.Pos(), "duplicated module name %q", m.name.Name)
		}
		names[m.name.Name] = true
	}
}

// renamed resolves a renamed module, or returns nil. Its base is a plain module
// or a renamed one that comes earlier in the file.
func (c *checker) renamed(x *syntax.RenamedModule) *module {
	var base *module
	for _, m := range c.modules {
		if m != nil && m.name.Name == x.Base.Name {
			base = m
			break
		}
	}
	if base == nil {
		c.add(phaseRenaming, x.Base.Pos(), "no such module %s in renamed module %q; a renamed one must come before", x.Base.Name, x.Name.Name)
		return nil
	}
	r := &renaming{x, make(map[string]string)}
	for _, p := range x.Renames {
		old := p.Old.Name
		if _, twice := r.to[old]; twice {
			c.add(phaseRenaming, p.Old.Pos(), "identifier %q is renamed more than once in module %q", old, x.Name.Name)
			return nil
		}
		if s := c.m.names[old]; s.formula != nil && c.m.dialect == syntax.PRISM {
			c.add(phaseRenaming, p.Old.Pos(), "formula %q cannot be renamed since formulas are expanded before module renaming; Storm's dialect accepts it (--dialect storm)", old)
			return nil
		}
		r.to[old] = p.New.Name
	}
	for _, v := range base.text.Vars {
		name := rename(base.renames, v.Name.Name)
		if _, ok := r.to[name]; !ok {
			c.add(phaseRenaming, x.Pos(), "definition of module %q must rename variable %q", x.Name.Name, name)
			return nil
		}
	}
	return &module{name: x.Name, base: x.Base.Name, text: base.text, renames: append(base.renames[:len(base.renames):len(base.renames)], r)}
}

func (c *checker) labelNames() {
	for _, l := range c.items.labels {
		name := l.Name.Name
		if c.m.quoted.declare(&c.diags, phaseLabelNames, nil, name, fmt.Sprintf("%q", name), l.Name.Pos(), symbol{use: "label", loc: "the model", index: len(c.m.labels)}) {
			c.m.labels = append(c.m.labels, LabelDef{Name: name})
		}
	}
}

// constNames declares the constants and looks for cycles in them.
func (c *checker) constNames() {
	for _, d := range c.items.consts {
		x := &constant{name: d.Name.Name, typ: constType(d.Type), decl: d, file: c.file, index: len(c.m.consts)}
		if c.m.names.declare(&c.diags, phaseConstNames, nil, x.name, x.name, d.Name.Pos(), symbol{use: "constant", loc: "the model", constant: x}) {
			c.m.consts = append(c.m.consts, x)
		}
	}
	constCycles(&c.diags, c.m.consts, func(name string) (symbol, bool) {
		s, ok := c.m.names[name]
		return s, ok
	})
}

// constCycles finds constants that depend on themselves, directly or through formulas.
func constCycles(d *diags, consts []*constant, lookup func(string) (symbol, bool)) {
	n := len(consts)
	deps := make([][]int, n)
	for i, x := range consts {
		if x.decl.Value == nil {
			continue
		}
		seen := make(map[int]bool) // of formulas
		var collect func(e syntax.Expr)
		collect = func(e syntax.Expr) {
			eachIdent(e, func(name string) {
				switch s, _ := lookup(name); {
				case s.constant != nil && s.constant.index < n && consts[s.constant.index] == s.constant:
					deps[i] = append(deps[i], s.constant.index)
				case s.formula != nil && !seen[s.index]:
					seen[s.index] = true
					collect(s.formula.decl.X)
				}
			})
		}
		collect(x.decl.Value)
	}
	if i := firstCycle(deps); i >= 0 {
		d.add(phaseConstCycles, consts[i].decl.Value.Pos(), "cyclic dependency in definition of constant %q", consts[i].name)
	}
}

func (c *checker) variables() {
	for _, v := range c.items.globals {
		c.variable(v, v.Name.Name, -1)
	}
	for i, m := range c.modules {
		for _, v := range m.text.Vars {
			c.variable(v, rename(m.renames, v.Name.Name), i)
		}
	}
	if len(c.m.vars) == 0 && len(c.modules) > 0 {
		c.add(phaseVariables, syntax.Pos{}, "there must be at least one variable")
	}
}

func (c *checker) variable(v *syntax.VarDecl, name string, module int) {
	t := [...]Type{syntax.RangeVar: Int, syntax.IntVar: Int, syntax.BoolVar: Bool, syntax.ClockVar: Clock}[v.Type]
	if c.m.names.declare(&c.diags, phaseVariables, nil, name, name, v.Pos(), symbol{use: "variable", loc: "the model", index: len(c.m.vars)}) {
		c.m.vars = append(c.m.vars, &variable{name: name, typ: t, decl: v, module: module})
	}
}

func (c *checker) rewardNames() {
	names := make(map[string]bool)
	for _, x := range c.items.rewards {
		if x.Name == nil {
			continue
		}
		if names[x.Name.Name] {
			c.add(phaseRewardNames, x.Pos(), "duplicated reward structure name %q", x.Name.Name)
		}
		names[x.Name.Name] = true
	}
}

// actions numbers the actions: those of commands in order of appearance, then those that renamings
// in the system block introduce.
func (c *checker) actions() {
	c.slots = make(map[string]int)
	add := func(name string) {
		if _, ok := c.slots[name]; !ok {
			c.slots[name] = len(c.m.actions)
			c.m.actions = append(c.m.actions, name)
		}
	}
	for _, m := range c.modules {
		for _, cmd := range m.text.Commands {
			if cmd.Action != nil {
				add(rename(m.renames, cmd.Action.Name))
			}
		}
	}
	if c.selectSystem() {
		c.addRenamedActions(c.system.X, add)
	}
	for _, x := range c.items.rewards {
		for _, it := range x.Items {
			if it.Transition && it.Action != nil && c.actionIndex(it.Action.Name) == UnknownAction {
				c.add(phaseActions, it.Pos(), "unknown action name %s in reward structure item", it.Action.Name)
			}
		}
	}
}

// modelType determines the type of the model from the keyword and its features.
func (c *checker) modelType() {
	t, interval := syntax.MDP, syntax.Expr(nil)
	probabilistic := false
	for _, m := range c.modules {
		for _, cmd := range m.text.Commands {
			for _, u := range cmd.Updates {
				probabilistic = probabilistic || u.Prob != nil
				if u.ProbHigh != nil && interval == nil {
					interval = u.Prob
				}
			}
		}
	}
	if len(c.items.types) > 0 {
		t = c.items.types[0].Type
	} else if !probabilistic {
		t = syntax.LTS
	}
	for _, v := range c.m.vars {
		if v.typ == Clock && (t == syntax.MDP || t == syntax.LTS) {
			t = syntax.PTA
		}
	}
	c.m.typ = c.withIntervals(c.withObservables(t), interval)
}

func (c *checker) hasObservables() bool {
	return len(c.items.observables)+len(c.items.defined) > 0
}

func (c *checker) withObservables(t syntax.ModelType) syntax.ModelType {
	switch {
	case !c.hasObservables():
	case t == syntax.MDP || t == syntax.LTS:
		return syntax.POMDP
	case t == syntax.PTA:
		return syntax.POPTA
	}
	return t
}

func (c *checker) withIntervals(t syntax.ModelType, interval syntax.Expr) syntax.ModelType {
	if interval == nil {
		return t
	}
	switch t {
	case syntax.DTMC:
		return syntax.IDTMC
	case syntax.MDP:
		return syntax.IMDP
	case syntax.POMDP:
		return syntax.IPOMDP
	}
	c.add(phaseModelType, interval.Pos(), "intervals only allowed in DTMCs and MDPs, found one in a %s", t)
	return t
}

// warn collects warnings about legal but suspicious constructs.
func (c *checker) warn() {
	add := func(pos syntax.Pos, format string, args ...any) {
		c.m.warnings = append(c.m.warnings, &syntax.Error{File: c.file, Pos: pos, Msg: fmt.Sprintf(format, args...)})
	}
	for _, v := range c.m.vars {
		if v.decl.Type == syntax.IntVar {
			add(v.decl.Pos(), "variable %q is unbounded: model construction may not terminate", v.name)
		}
	}
	for _, m := range c.modules {
		if m.text.Invariant != nil && !realTime(c.m.typ) {
			add(m.text.Invariant.Pos(), "the invariant of module %q is ignored in a %s", m.name.Name, c.m.typ)
		}
	}
}

func realTime(t syntax.ModelType) bool { return t == syntax.PTA || t == syntax.POPTA }
