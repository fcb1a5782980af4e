package export

import (
	"fmt"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

var operatorNames = map[syntax.Op]string{
	syntax.OpImplies: "⇒", syntax.OpIff: "=", syntax.OpOr: "∨", syntax.OpAnd: "∧", syntax.OpEq: "=", syntax.OpNe: "≠",
	syntax.OpLt: "<", syntax.OpLe: "≤", syntax.OpGt: ">", syntax.OpGe: "≥", syntax.OpAdd: "+", syntax.OpSub: "-", syntax.OpMul: "*",
	syntax.OpDiv: "/", syntax.OpPow: "pow",
}

var functionNames = map[sema.Func]string{
	sema.FuncMin: "min", sema.FuncMax: "max", sema.FuncFloor: "floor", sema.FuncCeil: "ceil", sema.FuncPow: "pow", sema.FuncMod: "%", sema.FuncLog: "log",
}

// expr converts an expression over the variables, or a state formula of a property, to JSON.
func (x *exporter) expr(e sema.Expr) (any, error) {
	if x.written++; x.written > maxSize {
		return nil, fmt.Errorf("the model has more than %d operators after expanding formulas, want fewer", maxSize)
	}
	switch e := e.(type) {
	case *sema.Const:
		return constantValue(e.Val)
	case *sema.Var:
		return x.program.Vars[e.Slot].Name, nil
	case *sema.Unary:
		y, err := x.expr(e.X)
		if e.Op == syntax.OpNot {
			return object{"op": "¬", "exp": y}, err
		}
		return binaryObject("-", numberText("0"), y), err
	case *sema.Binary:
		return x.operation(operatorNames[e.Op], e.X, e.Y)
	case *sema.Cond:
		parts := make([]any, 3)
		for i, y := range []sema.Expr{e.Condition, e.Then, e.Else} {
			var err error
			if parts[i], err = x.expr(y); err != nil {
				return nil, err
			}
		}
		return object{"op": "ite", "if": parts[0], "then": parts[1], "else": parts[2]}, nil
	case *sema.Call:
		return x.call(e)
	}
	return x.formula(e)
}

// operation converts an operator with two operands.
func (x *exporter) operation(op string, left, right sema.Expr) (any, error) {
	l, err := x.expr(left)
	if err != nil {
		return nil, err
	}
	r, err := x.expr(right)
	return binaryObject(op, l, r), err
}

// call converts a function call. JANI's min, max and so on have two operands, so calls with more are
// nested.
func (x *exporter) call(e *sema.Call) (any, error) {
	args := make([]any, len(e.Args))
	for i, a := range e.Args {
		var err error
		if args[i], err = x.expr(a); err != nil {
			return nil, err
		}
	}
	switch e.Func {
	case sema.FuncFloor, sema.FuncCeil:
		return object{"op": functionNames[e.Func], "exp": args[0]}, nil
	case sema.FuncRound: // halves are rounded up
		return object{"op": "floor", "exp": binaryObject("+", args[0], numberText("0.5"))}, nil
	}
	nested := args[0]
	for _, a := range args[1:] {
		nested = binaryObject(functionNames[e.Func], nested, a)
	}
	return nested, nil
}
