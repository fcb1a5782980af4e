package compile

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// labelExpr returns the expression that a label stands for. The built-in label
// "init" stands for the initial values of the variables. "deadlock" is true if
// in every synchronisation some participant has no enabled command.
func (m *Model) labelExpr(label *sema.Label) (sema.Expr, error) {
	switch {
	case label.Index == sema.LabelInit:
		return m.initExpr(label.Position), nil
	case label.Index == sema.LabelDeadlock:
		return m.deadlockExpr(label.Position), nil
	case label.Index >= 0 && label.Index < len(m.program.Labels):
		return m.program.Labels[label.Index].X, nil
	}
	return nil, &UnsupportedError{m.program.File, label.Position, "the model has no label \"" + label.Name + "\""}
}

// initExpr returns the expression of the label "init".
func (m *Model) initExpr(pos syntax.Pos) sema.Expr {
	if m.program.Init != nil {
		return m.program.Init
	}
	conjunction := newBool(pos, true)
	for slot, declared := range m.program.Vars {
		variable := &sema.Var{Base: sema.Base{ValueType: declared.Type, Position: pos}, Slot: slot}
		if declared.Type == sema.Bool {
			conjunction = newBinary(pos, syntax.OpAnd, conjunction, newBinary(pos, syntax.OpIff, variable, newBool(pos, declared.Init != 0)))
			continue
		}
		value := sema.Value{Type: sema.Int, Int: declared.Init, Float: float64(declared.Init)}
		constant := &sema.Const{Base: sema.Base{ValueType: sema.Int, Position: pos}, Val: value}
		conjunction = newBinary(pos, syntax.OpAnd, conjunction, newBinary(pos, syntax.OpEq, variable, constant))
	}
	return conjunction
}

// deadlockExpr returns the expression of the label "deadlock".
func (m *Model) deadlockExpr(pos syntax.Pos) sema.Expr {
	anyEnabled := newBool(pos, false)
	for _, sync := range m.synchronisations {
		allEnabled := newBool(pos, true)
		for _, participant := range sync.participants {
			commandEnabled := newBool(pos, false)
			for _, command := range participant.commands {
				commandEnabled = newBinary(pos, syntax.OpOr, commandEnabled, command.source.Guard)
			}
			allEnabled = newBinary(pos, syntax.OpAnd, allEnabled, commandEnabled)
		}
		anyEnabled = newBinary(pos, syntax.OpOr, anyEnabled, allEnabled)
	}
	return &sema.Unary{Base: sema.Base{ValueType: sema.Bool, Position: pos}, Op: syntax.OpNot, X: anyEnabled}
}

// newBool returns a Boolean constant.
func newBool(pos syntax.Pos, value bool) sema.Expr {
	return &sema.Const{Base: sema.Base{ValueType: sema.Bool, Position: pos}, Val: sema.Value{Type: sema.Bool, Bool: value}}
}

// newBinary returns a binary operator with a Boolean result.
func newBinary(pos syntax.Pos, op syntax.Op, left, right sema.Expr) sema.Expr {
	return &sema.Binary{Base: sema.Base{ValueType: sema.Bool, Position: pos}, Op: op, X: left, Y: right}
}
