package compile

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// labelExpr returns the expression that a label stands for. The built-in label
// "init" stands for the initial values of the variables. "deadlock" is true if
// in every synchronisation some participant has no enabled command.
func (m *Model) labelExpr(l *sema.Label) (sema.Expr, error) {
	switch {
	case l.Index == sema.LabelInit:
		return m.initExpr(l.At), nil
	case l.Index == sema.LabelDeadlock:
		return m.deadlockExpr(l.At), nil
	case l.Index >= 0 && l.Index < len(m.program.Labels):
		return m.program.Labels[l.Index].X, nil
	}
	return nil, &UnsupportedError{m.program.File, l.At, "the model has no label \"" + l.Name + "\""}
}

// initExpr returns the expression of the label "init".
func (m *Model) initExpr(at syntax.Pos) sema.Expr {
	if m.program.Init != nil {
		return m.program.Init
	}
	conjunction := newBool(at, true)
	for slot, v := range m.program.Vars {
		x := &sema.Var{Base: sema.Base{T: v.Type, At: at}, Slot: slot}
		if v.Type == sema.Bool {
			conjunction = newBinary(at, syntax.OpAnd, conjunction, newBinary(at, syntax.OpIff, x, newBool(at, v.Init != 0)))
			continue
		}
		value := sema.Value{Type: sema.Int, Int: v.Init, Float: float64(v.Init)}
		c := &sema.Const{Base: sema.Base{T: sema.Int, At: at}, Val: value}
		conjunction = newBinary(at, syntax.OpAnd, conjunction, newBinary(at, syntax.OpEq, x, c))
	}
	return conjunction
}

// deadlockExpr returns the expression of the label "deadlock".
func (m *Model) deadlockExpr(at syntax.Pos) sema.Expr {
	anyEnabled := newBool(at, false)
	for _, sync := range m.synchronisations {
		allEnabled := newBool(at, true)
		for _, participant := range sync.participants {
			commandEnabled := newBool(at, false)
			for _, command := range participant.commands {
				commandEnabled = newBinary(at, syntax.OpOr, commandEnabled, command.source.Guard)
			}
			allEnabled = newBinary(at, syntax.OpAnd, allEnabled, commandEnabled)
		}
		anyEnabled = newBinary(at, syntax.OpOr, anyEnabled, allEnabled)
	}
	return &sema.Unary{Base: sema.Base{T: sema.Bool, At: at}, Op: syntax.OpNot, X: anyEnabled}
}

// newBool returns a Boolean constant.
func newBool(at syntax.Pos, b bool) sema.Expr {
	return &sema.Const{Base: sema.Base{T: sema.Bool, At: at}, Val: sema.Value{Type: sema.Bool, Bool: b}}
}

// newBinary returns a binary operator with a Boolean result.
func newBinary(at syntax.Pos, op syntax.Op, x, y sema.Expr) sema.Expr {
	return &sema.Binary{Base: sema.Base{T: sema.Bool, At: at}, Op: op, X: x, Y: y}
}
