package compile

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// labelExpr returns the expression that defines a label. The built-in label "init" holds in the initial states, and "deadlock" in the states where
// no synchronisation is enabled.
func (m *Model) labelExpr(label *sema.Label) (sema.Expr, error) {
	switch {
	case label.Index == sema.LabelInit:
		return m.initExpr(label.Position), nil
	case label.Index == sema.LabelDeadlock:
		return m.deadlockExpr(label.Position), nil
	case label.Index >= 0 && label.Index < len(m.program.Labels):
		return m.program.Labels[label.Index].Expr, nil
	}
	return nil, &UnsupportedError{m.program.File, label.Position, "the model has no label \"" + label.Name + "\""}
}

// initExpr returns the expression that defines the label "init": the init expression of the model, or the conjunction of variable = initial value
// for all variables. New expressions get the position pos.
func (m *Model) initExpr(pos syntax.Pos) sema.Expr {
	if m.program.Init != nil {
		return m.program.Init
	}
	conjunction := newBool(pos, true)
	for slot, declared := range m.program.Vars {
		variable := &sema.Var{Base: sema.Base{ValueType: declared.Type, Position: pos}, Slot: slot}
		op, initial := syntax.OpEq, newInt(pos, declared.Init)
		if declared.Type == sema.Bool {
			op, initial = syntax.OpIff, newBool(pos, declared.Init != 0)
		}
		conjunction = newBinary(pos, syntax.OpAnd, conjunction, newBinary(pos, op, variable, initial))
	}
	return conjunction
}

// newInt returns an integer constant.
func newInt(pos syntax.Pos, value int32) sema.Expr {
	constant := sema.Value{Type: sema.Int, Int: value, Float: float64(value)}
	return &sema.Const{Base: sema.Base{ValueType: sema.Int, Position: pos}, Val: constant}
}

// deadlockExpr returns the definition of the label "deadlock": no synchronisation is enabled. pos is the position of new expressions.
func (m *Model) deadlockExpr(pos syntax.Pos) sema.Expr {
	anyEnabled := newBool(pos, false)
	for _, sync := range m.synchronisations {
		anyEnabled = newBinary(pos, syntax.OpOr, anyEnabled, sync.enabledExpr(pos))
	}
	return &sema.Unary{Base: sema.Base{ValueType: sema.Bool, Position: pos}, Op: syntax.OpNot, X: anyEnabled}
}

// enabledExpr returns the condition that each participant of a synchronisation has an enabled command. New expressions get the position pos.
func (g synchronisation) enabledExpr(pos syntax.Pos) sema.Expr {
	allReady := newBool(pos, true)
	for _, participant := range g.participants {
		anyGuard := newBool(pos, false)
		for _, command := range participant.commands {
			anyGuard = newBinary(pos, syntax.OpOr, anyGuard, command.source.Guard)
		}
		allReady = newBinary(pos, syntax.OpAnd, allReady, anyGuard)
	}
	return allReady
}

// newBool returns a Boolean constant.
func newBool(pos syntax.Pos, value bool) sema.Expr {
	return &sema.Const{Base: sema.Base{ValueType: sema.Bool, Position: pos}, Val: sema.Value{Type: sema.Bool, Bool: value}}
}

// newBinary returns a binary operator with a Boolean result.
func newBinary(pos syntax.Pos, op syntax.Op, left, right sema.Expr) sema.Expr {
	return &sema.Binary{Base: sema.Base{ValueType: sema.Bool, Position: pos}, Op: op, X: left, Y: right}
}
