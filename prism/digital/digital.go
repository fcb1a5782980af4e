package digital

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Model is the MDP of a timed automaton, with the property about it.
type Model struct {
	Program  *sema.Program
	Property sema.Property
	// Invariants is the conjunction of all invariants, over the states of Program.
	Invariants sema.Expr
	// Key is equal for two translations whose MDPs are equal except for their labels.
	Key string
}

// Error names a feature for which digital clocks are not correct.
type Error struct {
	File string // empty for the file of the property
	Pos  syntax.Pos
	Msg  string
	// Always says that PRISM has no other method for it.
	Always bool
}

func (e *Error) Error() string { return e.Msg }

// translation is a translation in progress.
type translation struct {
	from   *sema.Program
	to     *sema.Program
	clocks map[int]*clock // by slot
	unit   int64          // greatest common divisor of all numbers; 0 if all are zero
	// deadline is the time bound of the property, nil if it has none; timer is the slot of its clock.
	deadline *int64
	timer    int
	tick     int // the action of a time step
	err      *Error
	inModel  bool
}

// clock has the greatest number that a clock is compared with.
type clock struct{ most int64 }

// Translate translates a timed automaton and a property to an MDP. p must include the labels of the properties file. The
// error is an *Error.
func Translate(p *sema.Program, property *sema.Property) (*Model, error) {
	t := &translation{from: p, clocks: make(map[int]*clock)}
	t.inModel = true
	t.surveyModel()
	t.inModel = false
	t.surveyProperty(property.X)
	if t.err != nil {
		return nil, t.err
	}
	if t.unit == 0 {
		t.unit = 1
	}
	t.program()
	out := &Model{Program: t.to, Property: *property, Invariants: t.invariants()}
	out.Property.X = t.rewrite(property.X)
	out.Key = t.key()
	if t.err != nil {
		return nil, t.err
	}
	return out, nil
}

// refuse records the first error.
func (t *translation) refuse(at syntax.Pos, format string, args ...any) {
	if t.err != nil {
		return
	}
	t.err = &Error{Pos: at, Msg: fmt.Sprintf(format, args...)}
	if t.inModel || at.Formula {
		t.err.File = t.from.File
	}
}

// never is refuse for features that PRISM refuses with any method.
func (t *translation) never(at syntax.Pos, format string, args ...any) {
	if t.err == nil {
		t.refuse(at, format, args...)
		t.err.Always = true
	}
}

// key returns the parameters that determine the MDP.
func (t *translation) key() string {
	var b strings.Builder
	for slot := range t.from.Vars {
		if c := t.clocks[slot]; c != nil {
			fmt.Fprintf(&b, "%d ", c.most)
		}
	}
	fmt.Fprintf(&b, "unit %d", t.unit)
	if t.deadline != nil {
		fmt.Fprintf(&b, " deadline %d", *t.deadline)
	}
	return b.String()
}

// program builds the MDP.
func (t *translation) program() {
	p := *t.from
	p.Type = syntax.MDP
	p.Vars = slices.Clone(p.Vars)
	for slot, c := range t.clocks {
		v := &p.Vars[slot]
		v.Type, v.Bounded, v.Low, v.High, v.Init = sema.Int, true, 0, t.limit(v.Pos, c.most), 0
	}
	name := "time"
	for slices.Contains(p.Actions, name) {
		name += "_"
	}
	t.tick = len(p.Actions)
	p.Actions = append(slices.Clip(p.Actions), name)
	p.Modules = slices.Clone(p.Modules)
	for i := range p.Modules {
		p.Modules[i] = t.module(&p.Modules[i])
	}
	p.System = t.system(p.System)
	t.addGlobals(&p)
	if t.deadline != nil {
		t.addTimer(&p)
	}
	p.Labels = slices.Clone(p.Labels)
	for i := range p.Labels {
		p.Labels[i].X = t.rewrite(p.Labels[i].X)
	}
	p.Rewards = slices.Clone(p.Rewards)
	for i := range p.Rewards {
		p.Rewards[i].Items = t.rewardItems(p.Rewards[i].Items)
	}
	t.to = &p
}

// limit returns the greatest value of a clock that is compared with at most most: one unit more.
func (t *translation) limit(at syntax.Pos, most int64) int32 {
	n := most/t.unit + 1
	if most > math.MaxInt32/4 { // one unit more must also fit an int
		t.refuse(at, "found a clock that is compared with %d, which is too much for digital clocks", most)
		return 0
	}
	return int32(n)
}

// module translates a module and gives it a command for the time step.
func (t *translation) module(m *sema.Module) sema.Module {
	out := *m
	out.Invariant = nil
	out.Commands = slices.Clone(m.Commands)
	for i := range out.Commands {
		c := &out.Commands[i]
		c.Guard = t.rewrite(c.Guard)
		c.Updates = slices.Clone(c.Updates)
		for k := range c.Updates {
			u := &c.Updates[k]
			u.Prob = t.rewrite(u.Prob)
			u.Assigns = slices.Clone(u.Assigns)
			for j := range u.Assigns {
				u.Assigns[j].Value = t.assigned(&u.Assigns[j])
			}
		}
	}
	guard := truth(m.Pos)
	if m.Invariant != nil {
		guard = t.later(m.Invariant)
	}
	var assigns []sema.Assign
	for _, slot := range m.Vars {
		if t.clocks[slot] != nil {
			assigns = append(assigns, t.advance(slot, t.limit(m.Pos, t.clocks[slot].most), m.Pos))
		}
	}
	t.addTick(&out, guard, assigns)
	return out
}

// addTick adds the command for the time step to a module.
func (t *translation) addTick(m *sema.Module, guard sema.Expr, assigns []sema.Assign) {
	one := &sema.Const{Base: base(sema.Double, m.Pos), Val: sema.RatValue(rat(1))}
	m.Alphabet = append(slices.Clip(m.Alphabet), t.tick)
	m.Commands = append(slices.Clip(m.Commands), sema.Command{
		Action: t.tick, Guard: guard, Pos: m.Pos, Updates: []sema.Update{{Prob: one, Assigns: assigns, Pos: m.Pos}},
	})
}

// advance returns the assignment x' = min(x+1, limit).
func (t *translation) advance(slot int, limit int32, at syntax.Pos) sema.Assign {
	next := &sema.Binary{Base: base(sema.Int, at), Op: syntax.OpAdd, X: variable(slot, at), Y: number(1, at)}
	return sema.Assign{Slot: slot, Pos: at, Value: &sema.Call{Base: base(sema.Int, at), Func: sema.FuncMin, Args: []sema.Expr{next, number(limit, at)}}}
}

// assigned translates the value of an assignment. The values of clocks are constants, in units of time.
func (t *translation) assigned(a *sema.Assign) sema.Expr {
	x := t.rewrite(a.Value)
	if t.clocks[a.Slot] == nil || t.unit == 1 {
		return x
	}
	v, err := sema.Eval(x, nil)
	if err != nil {
		t.refuse(a.Pos, "%v", err)
		return x
	}
	return number(v.Int/int32(t.unit), a.Pos)
}

// addTimer adds the clock of the property's deadline, in a separate module.
func (t *translation) addTimer(p *sema.Program) {
	name := "timer"
	for slices.ContainsFunc(p.Vars, func(v sema.Variable) bool { return v.Name == name }) {
		name += "_"
	}
	t.timer = len(p.Vars)
	limit := t.limit(syntax.Pos{}, *t.deadline)
	p.Vars = append(slices.Clip(p.Vars), sema.Variable{Name: name, Type: sema.Int, Bounded: true, High: limit, Module: len(p.Modules)})
	t.addModule(p, sema.Module{Name: name, Vars: []int{t.timer}}, []sema.Assign{t.advance(t.timer, limit, syntax.Pos{})})
}

// addGlobals adds a module that advances the global clocks.
func (t *translation) addGlobals(p *sema.Program) {
	var assigns []sema.Assign
	for slot, v := range t.from.Vars {
		if c := t.clocks[slot]; c != nil && v.Module < 0 {
			assigns = append(assigns, t.advance(slot, t.limit(v.Pos, c.most), v.Pos))
		}
	}
	if len(assigns) > 0 {
		t.addModule(p, sema.Module{Name: "clocks"}, assigns)
	}
}

// addModule adds a module whose only command is the time step.
func (t *translation) addModule(p *sema.Program, m sema.Module, assigns []sema.Assign) {
	t.addTick(&m, truth(m.Pos), assigns)
	p.Modules = append(slices.Clip(p.Modules), m)
	if p.System != nil {
		p.System = &sema.SysParallel{Operands: []sema.System{p.System, sema.SysModule{Index: len(p.Modules) - 1}}, Actions: []int{t.tick}}
	}
}

// system makes all modules synchronise on the time step.
func (t *translation) system(x sema.System) sema.System {
	switch x := x.(type) {
	case *sema.SysParallel:
		out := *x
		out.Operands = nil
		for _, o := range x.Operands {
			out.Operands = append(out.Operands, t.system(o))
		}
		if !x.Full && !slices.Contains(x.Actions, t.tick) {
			out.Actions = append(slices.Clip(x.Actions), t.tick)
		}
		return &out
	case *sema.SysHide:
		return &sema.SysHide{X: t.system(x.X), Actions: x.Actions}
	case *sema.SysRename:
		return &sema.SysRename{X: t.system(x.X), From: x.From, To: x.To}
	}
	return x
}

// rewardItems makes state rewards rewards of the time step.
func (t *translation) rewardItems(items []sema.RewardItem) []sema.RewardItem {
	out := slices.Clone(items)
	for i := range out {
		r := &out[i]
		if r.Transition {
			continue
		}
		r.Transition, r.Action = true, t.tick
		if t.unit > 1 {
			unit := &sema.Const{Base: base(sema.Double, r.Pos), Val: sema.RatValue(rat(t.unit))}
			r.Value = &sema.Binary{Base: base(sema.Double, r.Pos), Op: syntax.OpMul, X: unit, Y: r.Value}
		}
	}
	return out
}

// invariants returns the conjunction of all invariants.
func (t *translation) invariants() sema.Expr {
	all := truth(syntax.Pos{})
	for i := range t.from.Modules {
		if x := t.from.Modules[i].Invariant; x != nil {
			all = &sema.Binary{Base: base(sema.Bool, x.Pos()), Op: syntax.OpAnd, X: all, Y: t.rewrite(x)}
		}
	}
	return all
}
