package jani

import (
	"fmt"
	"strings"

	"tilecheck/prism/syntax"
)

// Translation is a JANI model in PRISM's language.
type Translation struct {
	Model *syntax.Model
	// Properties are the properties of the document, in the order of the document. A property that
	// could not be translated has its JSON text.
	Properties *syntax.Properties
	// Names are the names of the properties in the document.
	Names map[*syntax.Property]string
	// Constants maps constants of the document to their names in the model, if these differ.
	Constants map[string]string
	// Refused has the errors of the properties that could not be translated.
	Refused map[*syntax.Property]*syntax.Error
	// Embedded says that the document is a Markov automaton and the model is its embedded MDP,
	// in which time is only a reward.
	Embedded bool
	// Rate is the exit rate of a state of a Markov automaton, 0 for an immediate state.
	Rate syntax.Expr
	// Time is the reward structure for the operator T. The model does not contain it.
	Time *syntax.Rewards
}

// Is reports whether a text looks like JSON; no model or property in PRISM's language does.
func Is(src []byte) bool {
	s := strings.TrimLeft(strings.TrimPrefix(string(src[:min(len(src), 4096)]), byteOrderMark), " \t\r\n")
	return strings.HasPrefix(s, "{")
}

// Unsupported is the error for a kind or size of model that this package does not support.
type Unsupported struct{ syntax.ErrorList }

// Unwrap returns the diagnostics.
func (e *Unsupported) Unwrap() error { return e.ErrorList }

// Read translates a model. known has whole-number values of constants, which are only used for the
// lengths of arrays and the bounds of selections; constants without a value stay undefined. The
// error is a [syntax.ErrorList] with positions in the JSON text, or *[Unsupported].
func Read(file string, src []byte, known map[string]string) (*Translation, error) {
	root, err := parseJSON(file, src)
	if err != nil {
		return nil, err
	}
	r := &reader{file: file}
	r.document(root)
	if r.unsupported {
		return nil, &Unsupported{r.errs}
	}
	if err := r.errs.Err(); err != nil {
		return nil, err
	}
	t := &translator{file: file, doc: r.doc, known: known, usedNames: make(names), labels: make(map[*slot]string), out: &Translation{
		Properties: &syntax.Properties{}, Names: make(map[*syntax.Property]string), Refused: make(map[*syntax.Property]*syntax.Error),
		Constants: make(map[string]string),
	}}
	t.out.Time = &syntax.Rewards{Name: &syntax.Ident{Name: syntax.TimeRewards, Span: r.doc.at}, Span: r.doc.at}
	t.model()
	if t.large && len(t.errs) > 0 {
		return nil, &Unsupported{t.errs}
	}
	if err := t.errs.Err(); err != nil {
		return nil, err
	}
	// Storm's dialect has ranges of one value, as JANI has.
	t.out.Model = &syntax.Model{File: file, Items: t.items(), Dialect: syntax.Storm, Span: root.Span}
	if t.out.Embedded = r.doc.markov; !t.out.Embedded {
		t.out.Time.Items = []*syntax.RewardItem{{Guard: trueLit(r.doc.at), Value: one(r.doc.at), Span: r.doc.at}}
	}
	t.out.Properties.File, t.out.Properties.Span = file, root.Span
	return t.out, nil
}

// translator translates a document to a model in PRISM's language.
type translator struct {
	file string
	doc  *document
	errs syntax.ErrorList
	size int // operators and operands so far
	// known has values of constants that are undefined in the document.
	known map[string]string
	// large says that an error is about the size of the model.
	large bool

	usedNames names // identifiers
	global    *scope
	slots     []*slot
	instances []*instance
	labels    map[*slot]string
	silent    bool // the rewards of silent steps have been added

	steps   []*step
	rewards []*reward
	delays  []*combined // edges with rates of a Markov automaton

	// The parts of the model:
	constants, formulas, globals, modules, labelled []syntax.Item
	init                                            syntax.Expr

	out *Translation
}

// instance is an automaton in the composition.
type instance struct {
	number    int
	automaton *automaton
	scope     *scope
	location  *slot // nil if there is only one
	edges     []*move
	group     int // the instances of a group become one module
}

// try calls f and adds its error.
func (t *translator) try(f func()) {
	if err := guard(f); err != nil {
		t.errs = append(t.errs, err)
	}
}

func (t *translator) add(at syntax.Pos, format string, args ...any) {
	t.errs.Add(t.file, at, format, args...)
}

func (t *translator) model() {
	t.declare()
	if len(t.doc.elements) == 0 {
		t.add(syntax.Pos{Line: 1, Col: 1}, "the system has no elements, want an automaton")
	}
	for _, step := range []func(){t.constantDecls, t.initial, t.stateValues, t.structures, t.moves, t.group, t.network, t.labelDecls, t.properties} {
		if len(t.errs) > 0 {
			return
		}
		t.try(step)
	}
}

// declare gives every name in the document a name in PRISM's language.
func (t *translator) declare() {
	t.global = newScope(nil)
	t.global.functions = make(map[string]*function)
	for _, c := range t.doc.constants {
		t.constantDecl(c)
	}
	for _, f := range t.doc.functions {
		t.global.functions[f.name] = f
	}
	for _, v := range t.doc.globals {
		t.variable(v, t.global, -1, "")
	}
	t.usedNames["init"] = true
	for _, e := range t.doc.elements {
		t.instance(e)
	}
}

// unique reports whether a name is new in its scope.
func (t *translator) unique(v *variable, s *scope) bool {
	if _, ok := s.names[v.name]; ok {
		t.add(v.Start, "%q is declared twice", short(v.name))
		return false
	}
	return true
}

func (t *translator) constantDecl(c *variable) {
	if !t.unique(c, t.global) {
		return
	}
	p := &place{scope: t.global}
	switch c.typ.kind {
	case arrayType, dataType:
		t.try(func() {
			if c.initial == nil {
				t.refuse(c.Start, "the constant %q is an array or a datatype without a value, which is not supported", short(c.name))
			}
			t.global.names[c.name] = t.symbol(c.initial, p)
		})
	default:
		id := &syntax.Ident{Name: t.usedNames.unused(c.name), Span: c.Span}
		if id.Name != c.name {
			t.out.Constants[c.name] = id.Name
		}
		raw := c.initial
		if n, ok := t.known[c.name]; ok && raw == nil {
			raw = &value{Span: c.Span, kind: number, text: n}
		}
		t.global.names[c.name] = symbol{x: id, size: 1, isBool: c.typ.kind == boolType, raw: raw}
	}
}

// constantDecls writes the declarations of the constants.
func (t *translator) constantDecls() {
	for _, c := range t.doc.constants {
		id, ok := t.global.names[c.name].x.(*syntax.Ident)
		if !ok || c.typ.kind == arrayType || c.typ.kind == dataType {
			continue
		}
		d := &syntax.ConstDecl{Typed: true, Name: id, Span: c.Span}
		switch c.typ.kind {
		case boolType:
			d.Type = syntax.ConstBool
		case realType:
			d.Type = syntax.ConstDouble
		}
		if c.initial != nil {
			t.try(func() { d.Value = t.expr(c.initial, &place{scope: t.global}) })
		}
		t.constants = append(t.constants, d)
	}
}

// variable declares a variable, with a slot for each of its parts.
func (t *translator) variable(v *variable, s *scope, owner int, prefix string) {
	if !t.unique(v, s) {
		return
	}
	t.try(func() {
		x := symbol{}
		if v.initial != nil {
			x = t.symbol(v.initial, &place{scope: s})
		}
		s.names[v.name] = t.parts(v, v.typ, x, owner, prefix, v.name)
	})
}

// parts makes the slots of a variable from its initial value x.
func (t *translator) parts(v *variable, typ *typ, x symbol, owner int, prefix, name string) symbol {
	switch typ.kind {
	case arrayType:
		if x.data == nil || x.data.members != nil {
			t.refuse(v.Start, "the length of the array %q is not known, want an initial-value that says it", short(v.name))
		}
		d := &data{}
		for i, e := range x.data.elems {
			d.elems = append(d.elems, t.parts(v, typ.base, e, owner, prefix, fmt.Sprintf("%s_%d", name, i)))
		}
		return symbol{data: d}
	case dataType:
		decl := t.doc.datatypes[typ.ref]
		if decl == nil {
			t.refuse(typ.Start, "there is no datatype %q", short(typ.ref))
		}
		if x.data == nil || len(x.data.members) != len(decl.members) {
			t.refuse(v.Start, "the variable %q has no initial-value for all members of its datatype, want one", short(v.name))
		}
		d := &data{members: make(map[string]symbol)}
		for _, m := range decl.members {
			d.members[m.name] = t.parts(v, m.typ, x.data.members[m.name], owner, prefix, name+"_"+m.name)
		}
		return symbol{data: d}
	}
	if x.data != nil || x.x == nil && v.initial != nil {
		t.refuse(v.initial.Start, "found an array or a datatype, want a single value")
	}
	if typ.kind == realType && !v.transient {
		t.refuse(v.Start, "the variable %q is real, which is supported for transient variables only", short(v.name))
	}
	if typ.kind == clockType {
		t.startAtZero(v, &x)
	}
	sl := &slot{decl: v, typ: typ, jani: name, owner: owner, module: owner, transient: v.transient, initial: x.x}
	if !v.transient {
		sl.name = t.usedNames.unused(t.prefixed(prefix, name))
	}
	t.slots = append(t.slots, sl)
	return symbol{slot: sl}
}

// startAtZero checks that the initial value of a clock is 0.
func (t *translator) startAtZero(v *variable, x *symbol) {
	switch {
	case v.transient:
		t.refuse(v.Start, "the clock %q is transient, want one that goes on", short(v.name))
	case x.x == nil:
		x.x = zero(v.Span)
	case !isNumber(x.x, "0"):
		t.refuse(v.initial.Start, "the clock %q begins at something else than 0, which is not supported", short(v.name))
	}
}

// prefixed returns a name; if it is in use, with the name of the instance in front.
func (t *translator) prefixed(prefix, name string) string {
	if prefix != "" && t.usedNames[identifier(name)] {
		return prefix + "_" + name
	}
	return name
}

func (t *translator) instance(e element) {
	a := t.doc.automata[e.automaton]
	in := &instance{number: len(t.instances), automaton: a, scope: newScope(t.global)}
	in.scope.functions = make(map[string]*function)
	for _, f := range a.functions {
		in.scope.functions[f.name] = f
	}
	for _, v := range a.locals {
		t.variable(v, in.scope, in.number, a.name)
	}
	if len(a.locations) > 1 {
		high := len(a.locations) - 1
		in.location = &slot{
			name: t.usedNames.unused(a.name + "_location"), jani: a.name, owner: in.number, module: in.number,
			typ:  &typ{kind: intType, low: numberOf(0, a.at), high: numberOf(high, a.at)},
			decl: &variable{Span: syntax.Span{Start: a.at, Stop: a.at}},
		}
		if len(a.initial) == 1 {
			in.location.initial = &syntax.IntLit{Value: int32(a.initial[0])}
		}
		t.slots = append(t.slots, in.location)
	}
	t.instances = append(t.instances, in)
}

func numberOf(n int, at syntax.Pos) *value {
	return &value{kind: number, text: fmt.Sprint(n), Span: syntax.Span{Start: at, Stop: at}}
}

// isAt returns the condition that an instance is in a location; nil if it has only one.
func (in *instance) isAt(location int, at syntax.Pos) syntax.Expr {
	if in.location == nil {
		return nil
	}
	span := syntax.Span{Start: at, Stop: at}
	return &syntax.Binary{
		Op: syntax.OpEq, X: &syntax.Ident{Name: in.location.name, Span: span},
		Y: &syntax.IntLit{Value: int32(location), Span: span}, OpPos: at, Span: span,
	}
}

// and returns the conjunction of expressions that are not nil; nil stands for true.
func and(xs ...syntax.Expr) syntax.Expr { return join(syntax.OpAnd, xs) }

func join(op syntax.Op, xs []syntax.Expr) syntax.Expr {
	var out syntax.Expr
	for _, x := range xs {
		switch {
		case x == nil:
		case out == nil:
			out = x
		default:
			out = &syntax.Binary{Op: op, X: out, Y: x, OpPos: x.Pos(), Span: syntax.Span{Start: out.Pos(), Stop: x.End()}}
		}
	}
	return out
}

// initial makes the init block, unless the initial values of the variables are enough.
func (t *translator) initial() {
	var conjuncts []syntax.Expr
	restrict := func(v *value, s *scope) {
		if v != nil && (v.kind != boolean || !v.yes) {
			conjuncts = append(conjuncts, t.expr(v, &place{scope: s}))
		}
	}
	restrict(t.doc.restrict, t.global)
	for _, in := range t.instances {
		restrict(in.automaton.restrict, in.scope)
		if n := len(in.automaton.initial); n > 1 && n < len(in.automaton.locations) {
			var some []syntax.Expr
			for _, l := range in.automaton.initial {
				some = append(some, in.isAt(l, in.automaton.at))
			}
			conjuncts = append(conjuncts, join(syntax.OpOr, some))
		}
	}
	open := len(conjuncts) > 0
	var fixed []syntax.Expr
	for _, s := range t.slots {
		switch {
		case s.transient:
		case s.initial == nil:
			open = true
		case s.typ.kind == boolType:
			fixed = append(fixed, equal(syntax.OpIff, s))
		default:
			fixed = append(fixed, equal(syntax.OpEq, s))
		}
	}
	if !open {
		return
	}
	t.init = and(append(fixed, conjuncts...)...)
	if t.init == nil {
		t.init = &syntax.BoolLit{Value: true}
	}
}

// equal compares a variable with its initial value.
func equal(op syntax.Op, s *slot) syntax.Expr {
	at := s.decl.Start
	return &syntax.Binary{Op: op, X: &syntax.Ident{Name: s.name, Span: s.decl.Span}, Y: s.initial, OpPos: at, Span: s.decl.Span}
}

// stateValues computes the values of transient variables in states.
func (t *translator) stateValues() {
	by := make(map[*slot]int)
	for _, in := range t.instances {
		for i := len(in.automaton.locations) - 1; i >= 0; i-- {
			l := &in.automaton.locations[i]
			set := make(map[*slot]bool)
			for _, a := range l.transients {
				t.try(func() { t.stateValue(in, i, a, set, by) })
			}
		}
	}
}

func (t *translator) stateValue(in *instance, location int, a assignment, set map[*slot]bool, by map[*slot]int) {
	tree := t.targets(a.ref, &place{scope: in.scope})
	if len(tree.one) != 1 || len(tree.one[0].when) > 0 || !tree.one[0].slot.transient {
		t.refuse(a.ref.Start, "found %s, want a transient variable", a.ref.describe())
	}
	s := tree.one[0].slot
	if set[s] {
		t.refuse(a.at, "the transient variable %q has two values in a location, want one", short(s.jani))
	}
	set[s] = true
	value := t.sizedExpr(a.value, &place{scope: in.scope, plain: true})
	x := value.x
	if other, ok := by[s]; ok && other != in.number {
		s.ambiguous = true
	}
	by[s] = in.number
	otherwise := s.initial
	if s.state != nil {
		otherwise = s.state
	}
	if at := in.isAt(location, a.at); at != nil {
		x = &syntax.Cond{C: at, T: x, E: otherwise, Span: syntax.Span{Start: a.at, Stop: a.at}}
	}
	s.state, s.stateSize = x, s.stateSize+value.size+4
	if s.typ.kind == boolType && otherwise == s.initial {
		s.state = simplify(x)
	}
}

// simplify writes `c ? true : false` as c.
func simplify(x syntax.Expr) syntax.Expr {
	c, ok := x.(*syntax.Cond)
	if !ok {
		return x
	}
	yes, ok := c.T.(*syntax.BoolLit)
	no, ok2 := c.E.(*syntax.BoolLit)
	if ok && ok2 && yes.Value && !no.Value {
		return c.C
	}
	return x
}
