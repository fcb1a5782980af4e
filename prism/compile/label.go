package compile

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// labelExpr returns the expression a label stands for. The two built-in labels
// are expressions, too: "init" fixes the variables, "deadlock" denies that any
// group has a command enabled in each of its leaves.
func (m *Model) labelExpr(l *sema.Label) (sema.Expr, error) {
	switch {
	case l.Index == sema.LabelInit:
		return m.initExpr(l.At), nil
	case l.Index == sema.LabelDeadlock:
		return m.deadlockExpr(l.At), nil
	case l.Index >= 0 && l.Index < len(m.prog.Labels):
		return m.prog.Labels[l.Index].X, nil
	}
	return nil, &UnsupportedError{m.prog.File, l.At, "the model has no label \"" + l.Name + "\""}
}

func (m *Model) initExpr(at syntax.Pos) sema.Expr {
	if m.prog.Init != nil {
		return m.prog.Init
	}
	all := boolean(at, true)
	for slot, v := range m.prog.Vars {
		x := &sema.Var{Base: sema.Base{T: v.Type, At: at}, Slot: slot}
		if v.Type == sema.Bool {
			all = join(at, syntax.OpAnd, all, join(at, syntax.OpIff, x, boolean(at, v.Init != 0)))
			continue
		}
		value := sema.Value{Type: sema.Int, Int: v.Init, Float: float64(v.Init)}
		c := &sema.Const{Base: sema.Base{T: sema.Int, At: at}, Val: value}
		all = join(at, syntax.OpAnd, all, join(at, syntax.OpEq, x, c))
	}
	return all
}

func (m *Model) deadlockExpr(at syntax.Pos) sema.Expr {
	some := boolean(at, false)
	for _, g := range m.synchronisations {
		all := boolean(at, true)
		for _, l := range g.participants {
			any := boolean(at, false)
			for _, c := range l.commands {
				any = join(at, syntax.OpOr, any, c.src.Guard)
			}
			all = join(at, syntax.OpAnd, all, any)
		}
		some = join(at, syntax.OpOr, some, all)
	}
	return &sema.Unary{Base: sema.Base{T: sema.Bool, At: at}, Op: syntax.OpNot, X: some}
}

func boolean(at syntax.Pos, b bool) sema.Expr {
	return &sema.Const{Base: sema.Base{T: sema.Bool, At: at}, Val: sema.Value{Type: sema.Bool, Bool: b}}
}

func join(at syntax.Pos, op syntax.Op, x, y sema.Expr) sema.Expr {
	return &sema.Binary{Base: sema.Base{T: sema.Bool, At: at}, Op: op, X: x, Y: y}
}
