package sema

import (
	"fmt"
	"strings"
)

// show writes a resolved expression with all its parentheses; a variable is $slot.
func show(e Expr) string {
	list := func(xs []Expr) string {
		var out []string
		for _, x := range xs {
			out = append(out, show(x))
		}
		return strings.Join(out, ",")
	}
	switch e := e.(type) {
	case nil:
		return "-"
	case *Const:
		return e.Val.String()
	case *Var:
		return fmt.Sprintf("$%d", e.Slot)
	case *constRef:
		return e.constant.name
	case *Unary:
		return e.Op.String() + show(e.X)
	case *Binary:
		return "(" + show(e.X) + e.Op.String() + show(e.Y) + ")"
	case *Cond:
		return "(" + show(e.Condition) + "?" + show(e.Then) + ":" + show(e.Else) + ")"
	case *Call:
		return e.Func.String() + "(" + list(e.Args) + ")"
	case *Label:
		return fmt.Sprintf("%q#%d", e.Name, e.Index)
	case *Temporal:
		return "(" + show(e.X) + " " + e.Op.String() + showBound(e.Bound) + " " + show(e.Y) + ")"
	case *Prob:
		return "P" + showThreshold(e.Threshold) + "[" + show(e.Path) + "]"
	case *Steady:
		return "S" + showThreshold(e.Threshold) + "[" + show(e.X) + "]"
	case *Reward:
		return fmt.Sprintf("R{%d,%d}%s[%s]", e.Struct, e.DivisorStruct, showThreshold(e.Threshold), show(e.Path))
	case *RewardPath:
		return fmt.Sprintf("%d:%s", e.Kind, show(e.Bound))
	case *Quant:
		return fmt.Sprintf("Q%v[%s]", e.All, show(e.Path))
	case *Strategy:
		return fmt.Sprintf("<%v %v %v>%s", e.IsBox, e.All, e.Coalition, show(e.X))
	case *Filter:
		return "filter(" + e.Op + "," + show(e.X) + "," + show(e.States) + ")"
	case *Multi:
		return "multi(" + list(e.Args) + ")"
	}
	return fmt.Sprintf("%T", e)
}

func showThreshold(t Threshold) string {
	if t.IsQuery() {
		return t.Extremum.String() + "?"
	}
	return t.Extremum.String() + t.Rel.String() + show(t.Bound)
}

func showBound(b *Bound) string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("[%s%v,%s%v]", show(b.Low), b.IsLowStrict, show(b.High), b.IsHighStrict)
}

// showProgram writes a program, one thing per line.
func showProgram(p *Program) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s actions %v", p.Type, p.Actions)
	for _, c := range p.Consts {
		line("const %s = %s", c.Name, c.Val)
	}
	for i, v := range p.Vars {
		line("$%d %s %s %v [%d..%d] init %d module %d", i, v.Name, v.Type, v.IsBounded, v.Low, v.High, v.Init, v.Module)
	}
	for _, m := range p.Modules {
		line("module %s=%s vars %v alphabet %v invariant %s", m.Name, m.Base, m.Vars, m.Alphabet, show(m.Invariant))
		for _, c := range m.Commands {
			line("  [%d] %s", c.Action, show(c.Guard))
			for _, u := range c.Updates {
				line("    %s..%s: %s", show(u.Prob), show(u.ProbHigh), showAssigns(u.Assigns))
			}
		}
	}
	for _, l := range p.Labels {
		line("label %s = %s", l.Name, show(l.Expr))
	}
	for _, r := range p.Rewards {
		line("rewards %q", r.Name)
		for _, it := range r.Items {
			line("  %v %d %s : %s", it.IsTransition, it.Action, show(it.Guard), show(it.Value))
		}
	}
	if p.Init != nil {
		line("init %s", show(p.Init))
	}
	if p.System != nil {
		line("system %s", showSystem(p.System))
	}
	for _, o := range p.Observables {
		line("observable %s = %s", o.Name, show(o.X))
	}
	for _, w := range p.Warnings {
		line("warning %v", w)
	}
	return b.String()
}

func showAssigns(as []Assign) string {
	var out []string
	for _, a := range as {
		out = append(out, fmt.Sprintf("$%d'=%s", a.Slot, show(a.Value)))
	}
	return strings.Join(out, " ")
}

func showSystem(s System) string {
	switch s := s.(type) {
	case SysModule:
		return fmt.Sprint(s.Index)
	case *SysParallel:
		var out []string
		for _, x := range s.Operands {
			out = append(out, showSystem(x))
		}
		return fmt.Sprintf("par(%s; %v %v)", strings.Join(out, ","), s.IsAlphabetised, s.Actions)
	case *SysHide:
		return fmt.Sprintf("hide(%s; %v)", showSystem(s.X), s.Actions)
	case *SysRename:
		return fmt.Sprintf("rename(%s; %v to %v)", showSystem(s.X), s.From, s.To)
	}
	return "?"
}
