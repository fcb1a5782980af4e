package sema

import (
	"fmt"
	"math/big"

	"tilecheck/prism/syntax"
)

// resolve resolves every expression of the model, in the order in which PRISM visits them.
func (c *checker) resolve() {
	if c.has(phaseConstCycles) {
		return
	}
	c.unusedFormulas()
	c.labelBodies()
	c.constBodies()
	for _, v := range c.m.vars {
		if v.module < 0 {
			c.declaration(c.r, v)
		}
	}
	for i, m := range c.modules {
		c.moduleBody(i, m)
	}
	if c.system != nil {
		c.checkSystem(c.system.X)
	}
	for _, x := range c.items.rewards {
		c.rewardStruct(x)
	}
	c.initStates()
	c.observableBodies()
	if c.system != nil {
		c.systemModules()
	}
}

// unusedFormulas reports errors in unused formulas. PRISM checks their types before everything
// else, but nothing more.
func (c *checker) unusedFormulas() {
	for _, f := range c.m.formulas {
		for _, d := range c.r.body(f).diags {
			switch d.kind {
			case clockUse:
				continue
			case wrongArity:
				d.phase = phaseOurs
			default:
				d.phase = phaseTypes
			}
			c.list = append(c.list, d)
		}
	}
}

func (c *checker) labelBodies() {
	decls := make([]*syntax.LabelDecl, len(c.m.labels))
	for _, d := range c.items.labels {
		if i := c.m.quoted[d.Name.Name].index; decls[i] == nil {
			decls[i] = d
		}
	}
	for i, d := range decls {
		c.m.labels[i].X = c.r.expr(d.X)
	}
	for i, d := range decls {
		checkLabel(c.r, d, c.m.labels[i].X)
	}
}

// checkLabel checks the name and the type of a label.
func checkLabel(r *resolver, d *syntax.LabelDecl, x Expr) {
	name := d.Name.Name
	if name == "deadlock" || name == "init" {
		r.semantic(d.X, "cannot define a label called %q: this is a built-in label", name)
	}
	if t := x.Type(); t != Bool && t != Invalid {
		r.typeError(d.X, "label %q is not Boolean: %s", name, wants(x, "bool"))
	}
}

func (c *checker) constBodies() { constBodies(c.r, c.m.consts) }

func constBodies(r *resolver, consts []*constant) {
	for _, x := range consts {
		if x.def = r.optional(x.decl.Value); x.typ == Int {
			x.def = r.truncated(x.def)
		}
	}
	for _, x := range consts {
		if x.def == nil || x.def.Type() == Invalid {
			continue
		}
		if !isConstant(x.def) {
			r.semantic(x.decl.Value, "definition of constant %q is not constant", x.name)
		}
		if !castable(x.typ, x.def.Type()) {
			r.typeError(x.decl.Value, "type mismatch in definition of constant %q: %s", x.name, wants(x.def, x.typ.String()))
		}
	}
}

func (c *checker) declaration(r *resolver, v *variable) {
	d := v.decl
	switch d.Type {
	case syntax.ClockVar:
		if !realTime(c.m.typ) {
			r.add(phaseSemantic, d.TypePos, "clock variables are not allowed in %s models", c.m.typ)
		}
	case syntax.RangeVar:
		v.low, v.high = r.truncated(r.expr(d.Low)), r.truncated(r.expr(d.High))
		c.bounds(r, v)
	}
	if d.Init == nil {
		return
	}
	if v.init = r.expr(d.Init); v.typ == Int {
		v.init = r.truncated(v.init)
	}
	if !isConstant(v.init) {
		r.semantic(d.Init, "initial value of variable %q is not constant", v.name)
	}
	if v.typ == Clock {
		r.semantic(d, "cannot specify initial value for a clock")
	}
	if t := v.init.Type(); t != Invalid && !castable(v.typ, t) {
		r.typeError(d.Init, "initial value of variable %q does not match: %s", v.name, wants(v.init, v.typ.String()))
	}
}

// bounds checks the range of a variable. PRISM reports a non-constant upper bound at the position
// of the lower bound.
func (c *checker) bounds(r *resolver, v *variable) {
	d := v.decl
	if !isConstant(v.low) {
		r.semantic(d.Low, "integer range lower bound %q is not constant", syntax.ExprString(d.Low))
	}
	if !isConstant(v.high) {
		r.semantic(d.Low, "integer range upper bound %q is not constant", syntax.ExprString(d.High))
	}
	if t := v.low.Type(); t != Int && t != Invalid {
		r.typeError(d.Low, "integer range lower bound %q is not an integer: %s", syntax.ExprString(d.Low), wants(v.low, "int"))
	}
	if t := v.high.Type(); t != Int && t != Invalid {
		r.typeError(d.High, "integer range upper bound %q is not an integer: %s", syntax.ExprString(d.High), wants(v.high, "int"))
	}
}

func (c *checker) moduleBody(i int, m *module) {
	r := c.r.inModule(m.renames)
	out := Module{Name: m.name.Name, Base: m.base, Pos: m.text.Pos()}
	for slot, v := range c.m.vars {
		if v.module == i {
			out.Vars = append(out.Vars, slot)
			c.declaration(r, v)
		}
	}
	if m.text.Invariant != nil {
		out.Invariant = r.withClocks(m.text.Invariant)
	}
	seen := make(map[int]bool)
	for _, cmd := range m.text.Commands {
		before := c.errorCount
		x := c.command(r, i, cmd)
		if c.report != nil {
			c.report(cmd, c.errorCount == before)
		}
		out.Commands = append(out.Commands, x)
		if x.Action != Unlabelled && !seen[x.Action] {
			seen[x.Action] = true
			out.Alphabet = append(out.Alphabet, x.Action)
		}
	}
	c.m.modules = append(c.m.modules, out)
}

func (c *checker) command(r *resolver, module int, cmd *syntax.Command) Command {
	out := Command{Action: c.action(r, cmd.Action), Pos: cmd.Pos()}
	out.Guard = r.withClocks(cmd.Guard)
	for _, u := range cmd.Updates {
		out.Updates = append(out.Updates, c.update(r, module, out.Action, u))
	}
	for i, u := range cmd.Updates {
		checkLikelihood(r, u, out.Updates[i])
	}
	if t := out.Guard.Type(); t != Bool && t != Invalid {
		r.typeError(cmd.Guard, "guard is not Boolean: %s", wants(out.Guard, "bool"))
	}
	return out
}

// action returns the index of an action, or Unlabelled.
func (c *checker) action(r *resolver, id *syntax.Ident) int {
	if id == nil {
		return Unlabelled
	}
	return c.actionIndex(rename(r.renames, id.Name))
}

// actionIndex returns the index of an action, or UnknownAction.
func (c *checker) actionIndex(name string) int {
	if i, ok := c.slots[name]; ok {
		return i
	}
	return UnknownAction
}

// certain is the probability of an update without one.
var certain = RatValue(big.NewRat(1, 1))

func (c *checker) update(r *resolver, module, action int, u *syntax.Update) Update {
	out := Update{Prob: &Const{Base{Double, u.Pos()}, certain}, Pos: u.Pos()}
	if u.Prob != nil {
		out.Prob = r.expr(u.Prob)
		out.ProbHigh = r.optional(u.ProbHigh)
		checkInterval(r, u, out)
	}
	for _, a := range u.Assigns {
		out.Assigns = append(out.Assigns, Assign{Slot: c.target(r, a), Value: r.expr(a.Value), Pos: a.Pos()})
	}
	assigned := make(map[int]bool)
	for i, a := range u.Assigns {
		slot := out.Assigns[i].Slot
		if slot < 0 {
			continue
		}
		if c.m.vars[slot].typ == Int {
			out.Assigns[i].Value = r.truncated(out.Assigns[i].Value)
		}
		c.ownership(r, module, action, a, slot)
		c.assigned(r, u, a, out.Assigns[i])
		if assigned[slot] {
			c.add(phaseAssignedTwice, a.Name.Pos(), "variable %q is set twice in the same update", c.m.vars[slot].name)
		}
		if len(u.Assigns) > 1 {
			assigned[slot] = true
		}
	}
	return out
}

// target returns the slot of an assigned variable; -1 if there is no such variable.
func (c *checker) target(r *resolver, a *syntax.Assign) int {
	name := rename(r.renames, a.Name.Name)
	s, ok := c.m.names[name]
	if !ok || s.use != "variable" {
		c.add(phaseAssigned, a.Name.Pos(), "unknown variable %q in update%s", name, r.renamedFrom(a.Name.Name))
		return -1
	}
	return s.index
}

// ownership checks that a module may modify a variable.
func (c *checker) ownership(r *resolver, module, action int, a *syntax.Assign, slot int) {
	switch owner := c.m.vars[slot].module; {
	case owner == module:
	case owner >= 0:
		r.semantic(a.Name, "module %q is not allowed to modify variable %q of module %q", c.modules[module].name.Name, c.m.vars[slot].name, c.modules[owner].name.Name)
	case action != Unlabelled && !c.m.vars[slot].decl.Shared:
		r.semantic(a.Name, "synchronous command cannot modify global variable %q", c.m.vars[slot].name)
	}
}

// assigned checks the type of the value assigned to a variable.
func (c *checker) assigned(r *resolver, u *syntax.Update, a *syntax.Assign, x Assign) {
	v, t := c.m.vars[x.Slot], x.Value.Type()
	switch {
	case t == Invalid:
	case v.typ == Clock:
		if t != Int || !isConstant(x.Value) {
			r.typeError(u.Assigns[0], "clocks can only be reset to constant integer values: %s for %q", wants(x.Value, "a constant int"), v.name)
		}
	case !castable(v.typ, t):
		r.typeError(a.Value, "type error in update to variable %q: %s", v.name, wants(x.Value, v.typ.String()))
	}
}

// checkInterval checks the types of the bounds of an interval.
func checkInterval(r *resolver, u *syntax.Update, x Update) {
	if x.ProbHigh == nil {
		return
	}
	low, high := x.Prob.Type(), x.ProbHigh.Type()
	if low != Invalid && high != Invalid && (!numeric(low) || !numeric(high)) {
		r.typeError(u.Prob, "intervals can only be of ints or doubles, found %s and %s", low, high)
	}
}

// checkLikelihood checks the type of a probability or rate.
func checkLikelihood(r *resolver, u *syntax.Update, x Update) {
	if t := x.Prob.Type(); x.ProbHigh == nil && t != Invalid && !numeric(t) {
		r.typeError(u.Prob, "update probability/rate cannot have type %s, want a number", t)
	}
}

func (c *checker) rewardStruct(x *syntax.Rewards) {
	out := RewardStruct{Pos: x.Pos()}
	if x.Name != nil {
		out.Name = x.Name.Name
	}
	for _, it := range x.Items {
		item := RewardItem{Transition: it.Transition, Action: c.action(c.r, it.Action), Pos: it.Pos()}
		item.Guard, item.Value = c.r.expr(it.Guard), c.r.expr(it.Value)
		if t := item.Guard.Type(); t != Bool && t != Invalid {
			c.r.typeError(it.Guard, "type error in reward struct item: guard must be Boolean: %s", wants(item.Guard, "bool"))
		}
		if t := item.Value.Type(); !numeric(t) && t != Invalid {
			c.r.typeError(it.Value, "type error in reward struct item: value must be an int or double: %s", wants(item.Value, "a number"))
		}
		out.Items = append(out.Items, item)
	}
	c.m.rewards = append(c.m.rewards, out)
}

// initStates resolves init…endinit.
func (c *checker) initStates() {
	if len(c.items.inits) == 0 {
		return
	}
	e := c.items.inits[len(c.items.inits)-1].X
	c.m.init = c.r.expr(e)
	for _, v := range c.m.vars {
		if v.decl.Init != nil {
			c.r.semantic(v.decl.Init, "cannot use both init...endinit and initial values for variables")
		}
	}
	if t := c.m.init.Type(); t != Bool && t != Invalid {
		c.r.typeError(e, "initial states definition must be Boolean: %s", wants(c.m.init, "bool"))
	}
}

// observableBodies resolves the observables and checks that the type of model allows them.
func (c *checker) observableBodies() {
	hidden := make(map[string]bool)
	for _, v := range c.m.vars {
		hidden[v.name] = true
	}
	if t := c.m.typ; c.hasObservables() && !partiallyObservable(t) {
		c.add(phaseObservables, syntax.Pos{}, "%ss cannot specify observables", t)
	} else if !c.hasObservables() && partiallyObservable(t) {
		c.add(phaseObservables, syntax.Pos{}, "%ss must specify observables", t)
	}
	for _, list := range c.items.observables {
		for _, id := range list.Names {
			x := c.r.withClocks(id)
			if _, ok := x.(*Var); !ok && x.Type() != Invalid {
				c.add(phaseObservables, id.Pos(), "observable variables list can only contain variables, found %s", describe(x))
			}
			c.observable(id.Name, id.Pos(), x, hidden)
		}
	}
	for _, d := range c.items.defined {
		var x Expr
		if d.X != nil { // observables of imported states have no expression
			x = c.r.withClocks(d.X)
		}
		c.observable(d.Name.Name, d.Pos(), x, hidden)
	}
	for _, v := range c.m.vars {
		if c.m.typ == syntax.POPTA && v.typ == Clock && hidden[v.name] {
			c.add(phaseObservables, v.decl.Pos(), "all clocks in POPTAs must be observable, %q is not", v.name)
		}
	}
}

func (c *checker) observable(name string, pos syntax.Pos, x Expr, hidden map[string]bool) {
	if s, taken := c.m.quoted[name]; taken && s.use == "label" && c.m.dialect == syntax.Storm {
		c.m.observables = append(c.m.observables, Observable{name, x}) // a label has priority for the quoted name
	} else if c.m.quoted.declare(&c.diags, phaseObservables, nil, name, fmt.Sprintf("%q", name), pos, symbol{use: "observable", loc: "the model", index: len(c.m.observables)}) {
		c.m.observables = append(c.m.observables, Observable{name, x})
	}
	if v, ok := x.(*Var); ok {
		delete(hidden, c.m.vars[v.Slot].name)
	}
}

func partiallyObservable(t syntax.ModelType) bool {
	return t == syntax.POMDP || t == syntax.POPTA || t == syntax.IPOMDP
}
