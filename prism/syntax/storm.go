package syntax

import (
	"slices"
	"strings"
)

// The differences between the languages are those of the reference, section 7,
// and of Storm's own grammars (PrismParserGrammar, ExpressionParser and
// FormulaParserGrammar, versions 1.12 and 1.14). They are bridged by rewriting the tree
// into one that the printer writes in a way both tools read alike.

// toStorm returns a tree whose meaning in Storm is that of n in PRISM.
func toStorm(n Node, opt Options) (Node, error) {
	s := &stormer{options: opt, opaque: make(map[Expr]bool), duals: make(map[*Unary]bool)}
	out := s.node(n)
	if s.err != nil {
		return nil, s.err
	}
	return out, nil
}

// stormer rewrites trees for Storm.
type stormer struct {
	// labels and properties are those of the properties file at hand; Storm
	// has no labels there and no references to properties.
	labels     map[string]Expr
	properties map[string]bool
	// opaque holds the expressions that Storm's expression parser cannot read
	// and its formula parser has to: those with labels or operators of the logic.
	opaque map[Expr]bool
	// duals holds the negations that stand for an operator which Storm lacks.
	duals   map[*Unary]bool
	options Options
	err     error
}

func (s *stormer) refuse(n Node, feature string) {
	if s.err == nil {
		s.err = &DialectError{Pos: n.Pos(), Dialect: Storm, Feature: feature}
	}
}

func (s *stormer) node(n Node) Node {
	switch n := n.(type) {
	case *Model:
		return s.model(n)
	case *Properties:
		return s.file(n)
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
		return s.sys(n)
	case Expr:
		return s.outermost(n)
	}
	return n
}

// name checks an identifier against the words that only Storm reserves.
func (s *stormer) name(id *Ident) *Ident {
	if id == nil {
		return nil
	}
	switch id.Name {
	case "ma", "smg", "ctmdp", "floor", "ceil", "atLeastOneOf", "atMostOneOf", "exactlyOneOf", "player", "endplayer":
		s.refuse(id, "the name "+id.Name+", a keyword there")
	}
	return id
}

// model puts the model type first, observables next and the system block last.
func (s *stormer) model(m *Model) *Model {
	var types, body, systems []Item
	var observables *Observables
	for _, item := range baseFirst(m.Items) {
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
		types = append(types, s.typeDecl(&TypeDecl{Type: implicitType(m), Span: m.Span}))
	}
	if len(types) > 1 {
		s.refuse(types[1], "several model types")
	}
	if len(systems) > 1 {
		s.refuse(systems[1], "several system blocks")
	}
	out := &Model{File: m.File, Items: types, Trailing: m.Trailing, Span: m.Span}
	if observables != nil {
		out.Items = append(out.Items, observables)
	}
	out.Items = append(append(out.Items, body...), systems...)
	return out
}

// baseFirst returns the items with each renamed module after its base. A module without a base
// comes last, which is not an error of the printer.
func baseFirst(items []Item) []Item {
	var out []Item
	var waiting []*RenamedModule
	defined := make(map[string]bool)
	add := func(item Item, name string) {
		out = append(out, item)
		defined[name] = true
		for i := 0; i < len(waiting); i++ {
			if w := waiting[i]; defined[w.Base.Name] {
				out = append(out, w)
				defined[w.Name.Name] = true
				waiting = slices.Delete(waiting, i, i+1)
				i = -1
			}
		}
	}
	for _, item := range items {
		switch item := item.(type) {
		case *Module:
			add(item, item.Name.Name)
		case *RenamedModule:
			if defined[item.Base.Name] {
				add(item, item.Name.Name)
			} else {
				waiting = append(waiting, item)
			}
		default:
			out = append(out, item)
		}
	}
	for _, w := range waiting {
		out = append(out, w)
	}
	return out
}

// implicitType returns the type of a model without a keyword; TypeNone stands
// for LTS.
func implicitType(m *Model) ModelType {
	var clocks, observables, probabilities bool
	Inspect(m, func(n Node) bool {
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

func (s *stormer) typeDecl(d *TypeDecl) *TypeDecl {
	switch d.Type {
	case TypeNone, LTS:
		s.refuse(d, "a model without a type (an LTS)")
	case POPTA:
		s.refuse(d, "POPTAs")
	}
	return d
}

// observables adds a block of observables to those before it.
func (s *stormer) observables(all, more *Observables) *Observables {
	if all == nil {
		all = &Observables{Doc: more.Doc, Notes: more.Notes, Span: more.Span}
	}
	for _, id := range more.Names {
		all.Names = append(all.Names, s.name(id))
	}
	return all
}

func (s *stormer) item(item Item) Item {
	switch n := item.(type) {
	case *TypeDecl:
		return s.typeDecl(n)
	case *ConstDecl:
		c := *n
		c.Name, c.Value = s.name(n.Name), s.expr(n.Value)
		return &c
	case *FormulaDecl:
		return &FormulaDecl{Doc: n.Doc, Notes: n.Notes, Name: s.name(n.Name), X: s.expr(n.X), Span: n.Span}
	case *LabelDecl:
		return &LabelDecl{Doc: n.Doc, Notes: n.Notes, Name: s.name(n.Name), X: s.expr(n.X), Span: n.Span}
	case *GlobalDecl:
		if n.Var.Type == ClockVar {
			s.refuse(n, "global clocks")
		}
		return &GlobalDecl{Doc: n.Doc, Notes: n.Notes, Var: s.varDecl(n.Var), Span: n.Span}
	case *Module:
		return s.module(n)
	case *RenamedModule:
		return s.renamedModule(n)
	case *Rewards:
		return s.rewards(n)
	case *InitBlock:
		return &InitBlock{Doc: n.Doc, Notes: n.Notes, X: s.expr(n.X), Span: n.Span}
	case *Observables:
		return s.observables(nil, n)
	case *ObservableDecl:
		return &ObservableDecl{Doc: n.Doc, Notes: n.Notes, Name: s.name(n.Name), X: s.expr(n.X), Span: n.Span}
	case *System:
		return s.system(n)
	}
	return item
}

func (s *stormer) varDecl(v *VarDecl) *VarDecl {
	if v.Type == ClockVar && v.Init != nil {
		s.refuse(v, "initial values of clocks")
	}
	c := *v
	c.Name, c.Low, c.High, c.Init = s.name(v.Name), s.expr(v.Low), s.expr(v.High), s.expr(v.Init)
	return &c
}

func (s *stormer) module(m *Module) *Module {
	c := &Module{Doc: m.Doc, Notes: m.Notes, Head: m.Head, InvariantDoc: m.InvariantDoc, Trailing: m.Trailing, Name: s.name(m.Name), Invariant: s.expr(m.Invariant), Span: m.Span}
	for _, v := range m.Vars {
		c.Vars = append(c.Vars, s.varDecl(v))
	}
	for _, cmd := range m.Commands {
		c.Commands = append(c.Commands, s.command(cmd))
	}
	return c
}

func (s *stormer) renamedModule(m *RenamedModule) *RenamedModule {
	s.name(m.Name)
	for _, r := range m.Renames {
		if s.name(r.New); builtin(r.Old.Name) || builtin(r.New.Name) {
			s.refuse(r, "the renaming of functions")
		}
	}
	return m
}

func (s *stormer) command(c *Command) *Command {
	out := &Command{Doc: c.Doc, Notes: c.Notes, Action: s.name(c.Action), Guard: s.expr(c.Guard), Span: c.Span}
	for _, u := range c.Updates {
		out.Updates = append(out.Updates, s.update(u))
	}
	return out
}

func (s *stormer) update(u *Update) *Update {
	out := &Update{Prob: s.expr(u.Prob), ProbHigh: s.expr(u.ProbHigh), Span: u.Span}
	for _, a := range u.Assigns {
		out.Assigns = append(out.Assigns, s.assign(a))
	}
	return out
}

func (s *stormer) assign(a *Assign) *Assign {
	return &Assign{Name: s.name(a.Name), Value: s.expr(a.Value), Span: a.Span}
}

// rewards adds an item with reward 0 to an empty structure: Storm requires an item, and without
// the structure its name would be unknown.
func (s *stormer) rewards(r *Rewards) *Rewards {
	out := &Rewards{Doc: r.Doc, Notes: r.Notes, Head: r.Head, Trailing: r.Trailing, Name: s.name(r.Name), Span: r.Span}
	for _, item := range r.Items {
		out.Items = append(out.Items, s.rewardItem(item))
	}
	if len(out.Items) == 0 {
		out.Items = []*RewardItem{{Guard: &BoolLit{Value: true}, Value: &IntLit{}}}
	}
	return out
}

func (s *stormer) rewardItem(r *RewardItem) *RewardItem {
	out := *r
	out.Action, out.Guard, out.Value = s.name(r.Action), s.expr(r.Guard), s.expr(r.Value)
	return &out
}

func (s *stormer) system(n *System) *System {
	if n.Name != nil {
		s.refuse(n, "named system blocks")
	}
	return &System{Doc: n.Doc, Notes: n.Notes, X: s.sys(n.X), Span: n.Span}
}

// sys puts terms in parentheses: Storm knows one precedence for all of them.
func (s *stormer) sys(x SysExpr) SysExpr {
	switch x := x.(type) {
	case *SysRef:
		s.refuse(x, "references to system blocks")
	case *SysBrackets:
		return &SysBrackets{X: s.sys(x.X), Span: x.Span}
	case *SysFull:
		return &SysFull{Operands: s.operands(x.Operands), Span: x.Span}
	case *SysInterleaved:
		return &SysInterleaved{Operands: s.operands(x.Operands), Span: x.Span}
	case *SysParallel:
		return &SysParallel{X: s.bracket(x.X, sysPostfix), Y: s.bracket(x.Y, sysPostfix), Actions: x.Actions, Span: x.Span}
	case *SysHide:
		return &SysHide{X: s.bracket(x.X, sysAtom), Actions: x.Actions, Span: x.Span}
	case *SysRename:
		return &SysRename{X: s.bracket(x.X, sysAtom), Renames: x.Renames, Span: x.Span}
	}
	return x
}

func (s *stormer) operands(xs []SysExpr) []SysExpr {
	var out []SysExpr
	for _, x := range xs {
		out = append(out, s.bracket(x, sysPostfix))
	}
	return out
}

func (s *stormer) bracket(x SysExpr, least int) SysExpr {
	if sysLevel(x) < least {
		return &SysBrackets{X: s.sys(x)}
	}
	return s.sys(x)
}

// file drops label declarations, which Storm's properties files do not have,
// and puts their definitions where they are used.
func (s *stormer) file(ps *Properties) *Properties {
	s.labels, s.properties = make(map[string]Expr), make(map[string]bool)
	for _, item := range ps.Items {
		switch item := item.(type) {
		case *LabelDecl:
			s.labels[item.Name.Name] = &Paren{X: s.expr(item.X)}
		case *Property:
			if item.Name != nil {
				s.properties[item.Name.Name] = true
			}
		}
	}
	out := &Properties{File: ps.File, Trailing: ps.Trailing, Span: ps.Span}
	for _, item := range ps.Items {
		switch item := item.(type) {
		case *ConstDecl:
			c := *item
			c.Name, c.Value = s.name(item.Name), s.expr(item.Value)
			out.Items = append(out.Items, &c)
		case *Property:
			out.Items = append(out.Items, s.property(item))
		}
	}
	return out
}

// builtin reports whether the name is a function both tools know.
func builtin(name string) bool {
	switch name {
	case "min", "max", "floor", "ceil", "round", "pow", "mod", "log":
		return true
	}
	return false
}

// stormDouble writes a double literal so that Storm sees one: with digits on
// both sides of a point and no leading zeros.
func stormDouble(text string) string {
	sign, text := either(strings.HasPrefix(text, "-"), "-", ""), strings.TrimPrefix(text, "-")
	exp := ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		text, exp = text[:i], text[i:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if fraction == "" {
		fraction = "0"
	}
	return sign + whole + "." + fraction + exp
}
