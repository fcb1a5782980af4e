package sema

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// Instantiate assigns values to the undefined constants and resolves everything that depends on
// constants: ranges, initial values, constant sub-expressions. Every undefined constant needs a
// value; a Double constant accepts an Int. A name that the model does not have gives a warning in
// the Program; a constant that already has a definition gives an error.
//
// The error is a syntax.ErrorList of the errors that PRISM reports before it explores the first
// state. Errors in expressions over variables are found when they are evaluated. Unlike in PRISM's
// explicit engine, an initial value outside the range of its variable is an error here.
//
// Source: ConstantList.evaluateSomeConstants and VarList of PRISM 4.10; reference, sections 2.3 and 2.4.
func (m *Model) Instantiate(consts map[string]Value) (*Program, error) {
	return m.InstantiateOpen(consts, nil)
}

// InstantiateOpen is Instantiate with parameters: open lists undefined constants of type double
// that stay symbolic, as [Param] in expressions. Program.Consts omits them and the constants that
// depend on them. It is an error if something that must be known before exploration depends on a
// parameter, such as the range of a variable.
func (m *Model) InstantiateOpen(consts map[string]Value, open []string) (*Program, error) {
	f := newFolder()
	p := &Program{File: m.file, Type: m.typ, Actions: slices.Clone(m.actions), System: m.system, Players: m.players, Warnings: slices.Clone(m.warnings), model: m}
	for _, name := range slices.Sorted(maps.Keys(consts)) {
		c := m.names[name].constant
		if c == nil {
			p.Warnings = append(p.Warnings, &syntax.Error{File: m.file, Msg: fmt.Sprintf("constant %q is not declared in the model; its value is not used", name)})
			continue
		}
		f.give(c, consts[name])
	}
	for _, name := range open {
		f.setParameter(m, name)
	}
	f.require(m.consts, m.file)
	if err := f.err(); err != nil {
		return nil, err
	}
	for _, c := range m.consts {
		f.constant(c)
		if v, ok := f.values[c]; ok {
			p.Consts = append(p.Consts, NamedValue{c.name, v})
		}
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	for _, v := range m.vars {
		p.Vars = append(p.Vars, f.variable(m, v))
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	f.usesParameter = false // ignore definitions of constants, which may be unused
	m.fill(p, f)
	p.Parametric = f.usesParameter
	p.Warnings = append(p.Warnings, f.differences(m.file)...)
	p.Differs = len(f.floatDiffers) > 0
	p.consts = f.known
	return p, nil
}

// give sets the value of an undefined constant.
func (f *folder) give(c *constant, v Value) {
	if c.decl.Value != nil {
		where := " in the model"
		if c.prop {
			where = ""
		}
		f.errs.Add(c.file, c.decl.Name.Pos(), "constant %q has already been defined%s", c.name, where)
		return
	}
	if v.Type == Int {
		v = IntValue(v.Int)
	}
	v, ok := v.convert(c.typ)
	if !ok {
		f.errs.Add(c.file, c.decl.Name.Pos(), "value %s for constant %s is not a valid %s", v, c.name, valid(c.typ))
		return
	}
	f.given[c] = v
}

// setParameter makes an undefined constant of the model a parameter.
func (f *folder) setParameter(m *Model, name string) {
	c := m.names[name].constant
	switch {
	case c == nil:
		f.errs.Add(m.file, syntax.Pos{}, "parameter %q is not a constant of the model", name)
	case c.decl.Value != nil:
		f.errs.Add(c.file, c.decl.Name.Pos(), "constant %q has a value in the model, want none for a parameter", name)
	case c.typ != Double:
		f.errs.Add(c.file, c.decl.Name.Pos(), "constant %q is of type %s, want double for a parameter", name, c.typ)
	case f.given[c].Type != Invalid:
		f.errs.Add(c.file, c.decl.Name.Pos(), "constant %q is given a value, want none for a parameter", name)
	default:
		f.parameters[c] = true
	}
}

// valid returns PRISM's name for the values of a type.
func valid(t Type) string {
	switch t {
	case Int:
		return "integer"
	case Bool:
		return "Boolean"
	}
	return t.String()
}

// require reports the constants without a value, unless there are errors already.
func (f *folder) require(consts []*constant, file string) {
	if len(f.errs) > 0 {
		return
	}
	var missing []*constant
	for _, c := range consts {
		if _, ok := f.given[c]; !ok && !f.parameters[c] && c.decl.Value == nil {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		f.errs.Add(file, missing[0].decl.Name.Pos(), "%s", mustDefine(missing))
	}
}

// mustDefine returns the error message for constants without a value.
func mustDefine(missing []*constant) string {
	names := namesOf(missing, func(c *constant) string { return fmt.Sprintf("%q", c.name) })
	last := len(names) - 1
	if last == 0 {
		return "undefined constant " + names[0] + " must be defined"
	}
	return "undefined constants " + strings.Join(names[:last], ", ") + " and " + names[last] + " must be defined"
}

// variable evaluates the range and the initial value of a variable.
func (f *folder) variable(m *Model, v *variable) Variable {
	out := Variable{Name: v.name, Type: v.typ, Module: v.module, Pos: v.decl.Pos()}
	switch v.decl.Type {
	case syntax.BoolVar:
		out.High = 1
	case syntax.IntVar:
		out.Low, out.High = math.MinInt32, math.MaxInt32
	case syntax.ClockVar:
		out.High = math.MaxInt32
	default:
		out.Bounded = true
		out.Low, out.High = f.bounds(m, v)
		out.Init = out.Low
	}
	out.Bounded = out.Bounded || v.typ == Bool
	if v.init == nil {
		return out
	}
	x, ok := f.value(m, v.init)
	switch {
	case !ok:
	case v.typ == Bool:
		out.Init = 0
		if x.Bool {
			out.Init = 1
		}
	case x.Int < out.Low || x.Int > out.High:
		f.errs.Add(m.file, v.decl.Init.Pos(), "initial value %d of variable %q is outside its range [%d..%d]", x.Int, v.name, out.Low, out.High)
	default:
		out.Init = x.Int
	}
	return out
}

// bounds evaluates the range of a variable. In PRISM's dialect it must have at least two values.
func (f *folder) bounds(m *Model, v *variable) (low, high int32) {
	x, okLow := f.value(m, v.low)
	y, okHigh := f.value(m, v.high)
	if !okLow || !okHigh {
		return 0, math.MaxInt32
	}
	low, high = x.Int, y.Int
	switch pos := v.decl.TypePos; {
	case low > high, low == high && m.dialect == syntax.PRISM:
		hint := ""
		if low == high {
			hint = "; Storm's dialect accepts it (--dialect storm)"
		}
		f.errs.Add(m.file, pos, "invalid range [%d..%d] for variable %q, want at least two values%s", low, high, v.name, hint)
	case int64(high)-int64(low) >= math.MaxInt32:
		f.errs.Add(m.file, pos, "range [%d..%d] for variable %q is too big", low, high, v.name)
	}
	return low, high
}

// value evaluates a constant expression of the model and reports errors in it.
func (f *folder) value(m *Model, e Expr) (Value, bool) {
	v, err := constantValue(f.fold(e))
	if e, ok := errors.AsType[*EvalError](err); ok {
		f.errs.Add(m.file, e.Pos, "%s", e.Msg)
	}
	return v, err == nil
}

// fill folds the expressions of the model into the program.
func (m *Model) fill(p *Program, f *folder) {
	for _, x := range m.modules {
		x.Invariant = f.fold(x.Invariant)
		x.Commands = slices.Clone(x.Commands)
		for i, c := range x.Commands {
			x.Commands[i].Guard = f.fold(c.Guard)
			x.Commands[i].Updates = f.updates(c.Updates)
		}
		p.Modules = append(p.Modules, x)
	}
	for _, l := range m.labels {
		p.Labels = append(p.Labels, LabelDef{l.Name, f.fold(l.X)})
	}
	for _, x := range m.rewards {
		x.Items = slices.Clone(x.Items)
		for i, it := range x.Items {
			x.Items[i].Guard, x.Items[i].Value = f.fold(it.Guard), f.fold(it.Value)
		}
		p.Rewards = append(p.Rewards, x)
	}
	p.Init = f.fold(m.init)
	for _, o := range m.observables {
		p.Observables = append(p.Observables, Observable{o.Name, f.fold(o.X)})
	}
}

func (f *folder) updates(us []Update) []Update {
	out := slices.Clone(us)
	for i, u := range us {
		out[i].Prob, out[i].ProbHigh = f.fold(u.Prob), f.fold(u.ProbHigh)
		out[i].Assigns = slices.Clone(u.Assigns)
		for j, a := range u.Assigns {
			out[i].Assigns[j].Value = f.fold(a.Value)
		}
	}
	return out
}
