package sema

import (
	"fmt"
	"maps"
	"slices"

	"tilecheck/prism/syntax"
)

// Properties is a properties file that passed all checks that PRISM makes before constants have
// values. It belongs to one Model, is immutable and safe for concurrent use.
type Properties struct {
	file   string
	model  *Model
	names  table // constants
	quoted table // labels and properties

	consts []*constant
	labels []LabelDef
	props  []*property
}

// property is one property; references to others are expanded in x.
type property struct {
	decl *syntax.Property
	x    Expr
	nesting
}

// PropertyInfo describes a property of a file.
type PropertyInfo struct {
	Name string     // empty when unnamed
	Text string     // as PRISM lists it, with the name
	Doc  syntax.Doc // the comment block above it
	Pos  syntax.Pos
}

// CheckProperties resolves a properties file over the model. The error is a
// syntax.ErrorList of at most ten entries; the first one is where and why PRISM
// refuses the file.
//
// Source: PropertiesFile.tidyUp of PRISM 4.10; reference, sections 2.5 and 3.1.
func (m *Model) CheckProperties(p *syntax.Properties) (*Properties, error) {
	ps := &Properties{file: p.File, model: m, names: make(table), quoted: make(table)}
	d := &diags{file: p.File}
	labels := ps.declare(d, p.Items)
	if d.has(phaseConstCycles) || d.has(phasePropertyCycles) {
		return nil, d.err()
	}
	r := newResolver(d, m, ps)
	for i, l := range labels {
		ps.labels[i].X = r.expr(l.X)
	}
	for i, l := range labels {
		checkLabel(r, l, ps.labels[i].X)
	}
	constBodies(r, ps.consts)
	for i := range ps.props {
		r.unit = i + 1
		r.property(i)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return ps, nil
}

// declare declares the names of the file and returns its labels.
func (ps *Properties) declare(d *diags, items []syntax.PropItem) []*syntax.LabelDecl {
	const loc = "the properties"
	var labels []*syntax.LabelDecl
	for _, x := range items {
		switch x := x.(type) {
		case *syntax.LabelDecl:
			name := x.Name.Name
			s := symbol{use: "label", loc: loc, index: len(labels)}
			if ps.quoted.declare(d, phaseLabelNames, ps.model.quoted, name, fmt.Sprintf("%q", name), x.Name.Pos(), s) {
				labels = append(labels, x)
				ps.labels = append(ps.labels, LabelDef{Name: name})
			}
		case *syntax.ConstDecl:
			c := &constant{name: x.Name.Name, typ: constType(x.Type), decl: x, file: ps.file, prop: true, index: len(ps.consts)}
			if ps.names.declare(d, phaseConstNames, ps.model.names, c.name, c.name, x.Name.Pos(), symbol{use: "constant", loc: loc, constant: c}) {
				ps.consts = append(ps.consts, c)
			}
		case *syntax.Property:
			ps.props = append(ps.props, &property{decl: x})
		}
	}
	for i, p := range ps.props {
		if p.decl.Name != nil {
			name := p.decl.Name.Name
			ps.quoted.declare(d, phasePropertyNames, ps.model.quoted, name, fmt.Sprintf("%q", name), p.decl.Pos(), symbol{use: "property", loc: loc, index: i})
		}
	}
	constCycles(d, ps.consts, func(name string) (symbol, bool) { return ps.names.lookup(ps.model.names, name) })
	ps.cycles(d)
	return labels
}

// cycles finds properties that refer to themselves.
func (ps *Properties) cycles(d *diags) {
	deps := make([][]int, len(ps.props))
	for i, p := range ps.props {
		syntax.Inspect(p.decl.X, func(n syntax.Node) bool {
			if q, ok := n.(*syntax.Quoted); ok {
				if s := ps.quoted[q.Name]; s.use == "property" {
					deps[i] = append(deps[i], s.index)
				}
			}
			return true
		})
	}
	if i := firstCycle(deps); i >= 0 {
		p := ps.props[i].decl
		d.add(phasePropertyCycles, p.Pos(), "cyclic dependency in property references from property %q", p.Name.Name)
	}
}

// Len returns the number of properties.
func (ps *Properties) Len() int { return len(ps.props) }

// List describes the properties, in file order.
func (ps *Properties) List() []PropertyInfo {
	out := make([]PropertyInfo, len(ps.props))
	for i, p := range ps.props {
		out[i] = PropertyInfo{Text: syntax.ExprString(p.decl.X), Doc: p.decl.Doc, Pos: p.decl.Pos()}
		if p.decl.Name != nil {
			out[i].Name = p.decl.Name.Name
			out[i].Text = fmt.Sprintf("%q: %s", out[i].Name, out[i].Text)
		}
	}
	return out
}

// Constants returns the constants of the file, in file order.
func (ps *Properties) Constants() []Constant { return describeConstants(ps.consts) }

// Labels returns the names of the labels of the file, in file order.
func (ps *Properties) Labels() []string {
	return namesOf(ps.labels, func(l LabelDef) string { return l.Name })
}

// Undefined returns the names of the undefined constants of the file, in file order. Only those
// that a selected property Needs require a value.
func (ps *Properties) Undefined() []string { return undefined(ps.consts) }

// Needs returns the undefined constants of this file that property i uses, directly or through
// constants, labels and other properties, in file order. The undefined constants of the model are
// needed too, but not listed.
func (ps *Properties) Needs(i int) []string {
	return undefined(ps.needed(ps.props[i].x))
}

// needed returns the constants of this file that expressions use, in file order.
func (ps *Properties) needed(xs ...Expr) []*constant {
	used := make(map[*constant]bool)
	seen := make(map[Expr]bool)
	var visit func(e Expr)
	visit = func(e Expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		switch e := e.(type) {
		case *constRef:
			used[e.c] = true
			if e.c.def != nil {
				visit(e.c.def)
			}
		case *Label:
			if i := e.Index - len(ps.model.labels); i >= 0 {
				visit(ps.labels[i].X)
			}
		}
		Operands(e, visit)
	}
	for _, x := range xs {
		visit(x)
	}
	var out []*constant
	for _, c := range ps.consts {
		if used[c] {
			out = append(out, c)
		}
	}
	return out
}

// Instantiate assigns values to the constants of the file and returns the selected properties (all
// if sel is nil) in the order of sel. p must come from the model against which the file was
// checked. The returned program is p with the labels of the file appended, except unused labels
// whose constants have no value.
//
// Only constants that a selected property Needs must have a value. A Double constant accepts an
// Int; names of model constants are ignored; undeclared names give warnings in the returned
// program. The error is a syntax.ErrorList unless sel or p is wrong.
func (ps *Properties) Instantiate(p *Program, sel []int, consts map[string]Value) ([]Property, *Program, error) {
	if p.model != ps.model {
		return nil, nil, fmt.Errorf("the program is not of the model that %s was checked against", ps.file)
	}
	sel = ps.selection(sel)
	var selected []Expr
	for _, i := range sel {
		if i < 0 || i >= len(ps.props) {
			return nil, nil, fmt.Errorf("there is no property %d to select, want one of 0 to %d", i, len(ps.props)-1)
		}
		selected = append(selected, ps.props[i].x)
	}
	out := *p
	f := newFolder()
	f.known = maps.Clone(p.consts)
	f.rewards = len(p.Rewards)
	out.Warnings = append(slices.Clone(p.Warnings), ps.give(f, consts)...)
	f.require(ps.needed(selected...), ps.file)
	if err := f.err(); err != nil {
		return nil, nil, err
	}
	out.Labels = ps.addLabels(f, p.Labels[:len(ps.model.labels):len(ps.model.labels)], selected)
	props := make([]Property, len(sel))
	for i, j := range sel {
		d := ps.props[j].decl
		props[i] = Property{Text: syntax.ExprString(d.X), X: f.fold(selected[i]), Pos: d.Pos()}
		if d.Name != nil {
			props[i].Name = d.Name.Name
		}
	}
	if err := f.err(); err != nil {
		return nil, nil, err
	}
	out.Warnings = append(out.Warnings, f.differences(ps.file)...)
	return props, &out, nil
}

// give sets the values of constants. It returns warnings for undeclared names.
func (ps *Properties) give(f *folder, consts map[string]Value) (warnings []error) {
	for _, name := range slices.Sorted(maps.Keys(consts)) {
		if c := ps.names[name].constant; c != nil {
			f.give(c, consts[name])
		} else if ps.model.names[name].constant == nil {
			warnings = append(warnings, &syntax.Error{File: ps.file, Msg: fmt.Sprintf("constant %q is not declared; its value is not used", name)})
		}
	}
	return warnings
}

// addLabels appends the labels of the file that can be evaluated or are used.
func (ps *Properties) addLabels(f *folder, labels []LabelDef, selected []Expr) []LabelDef {
	for i := range labels {
		f.labels = append(f.labels, i)
	}
	used := ps.usedLabels(selected)
	for i, l := range ps.labels {
		index := -1
		if x, ok := f.label(ps, l.X, used[i]); ok {
			index = len(labels)
			labels = append(labels, LabelDef{l.Name, x})
		}
		f.labels = append(f.labels, index)
	}
	return labels
}

// label folds the expression of a label; false means that this is not possible. Errors are kept
// only if the label is used.
func (f *folder) label(ps *Properties, x Expr, used bool) (Expr, bool) {
	for _, c := range ps.needed(x) {
		if _, ok := f.given[c]; !ok && c.def == nil {
			return nil, false
		}
	}
	n := len(f.errs)
	y := f.fold(x)
	if len(f.errs) > n && !used {
		f.errs = f.errs[:n]
		return nil, false
	}
	return y, true
}

// usedLabels reports which labels of the file occur in expressions.
func (ps *Properties) usedLabels(xs []Expr) []bool {
	used := make([]bool, len(ps.labels))
	seen := make(map[Expr]bool)
	var visit func(e Expr)
	visit = func(e Expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		if l, ok := e.(*Label); ok && l.Index >= len(ps.model.labels) {
			used[l.Index-len(ps.model.labels)] = true
		}
		Operands(e, visit)
	}
	for _, x := range xs {
		visit(x)
	}
	return used
}

// reward folds an R operator and selects its reward structure. PRISM reports a
// wrong number only when it checks the property.
func (f *folder) reward(e *Reward) Expr {
	out := &Reward{Base: e.Base, Threshold: f.threshold(e.Threshold), Path: f.fold(e.Path)}
	out.Struct, out.StructErr = f.rewardStruct(e.Struct, e.index)
	var err error
	out.StructDiv, err = f.rewardStruct(e.StructDiv, e.indexDiv)
	if out.StructErr == nil {
		out.StructErr = err
	}
	if f.rewards == 0 {
		out.Struct, out.StructErr = -1, &EvalError{Pos: e.Pos(), Msg: "model has no rewards specified"}
	}
	return out
}

// rewardStruct returns the index of a reward structure: known, unless index is an expression for
// its 1-based number.
func (f *folder) rewardStruct(known int, index Expr) (int, error) {
	if index == nil {
		return known, nil
	}
	v, err := constantValue(f.fold(index))
	if err == nil && (v.Int < 1 || int(v.Int) > f.rewards) {
		err = &EvalError{Pos: index.Pos(), Msg: fmt.Sprintf("invalid reward structure index \"%d\", want 1 to %d", v.Int, f.rewards)}
	}
	if err != nil {
		return -1, err
	}
	return int(v.Int) - 1, nil
}
