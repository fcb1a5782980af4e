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
func (x *exporter) expr(source sema.Expr) (any, error) {
	if x.written++; x.written > maxSize {
		return nil, fmt.Errorf("the model has more than %d operators after expanding formulas, want fewer", maxSize)
	}
	switch expr := source.(type) {
	case *sema.Const:
		return constantValue(expr.Val)
	case *sema.Param:
		return expr.Name, nil
	case *sema.Var:
		return x.program.Vars[expr.Slot].Name, nil
	case *sema.Unary:
		operand, err := x.expr(expr.X)
		if expr.Op == syntax.OpNot {
			return object{"op": "¬", "exp": operand}, err
		}
		return binaryObject("-", numberText("0"), operand), err
	case *sema.Binary:
		return x.operation(operatorNames[expr.Op], expr.X, expr.Y)
	case *sema.Cond:
		parts := make([]any, 3)
		for i, part := range []sema.Expr{expr.Condition, expr.Then, expr.Else} {
			var err error
			if parts[i], err = x.expr(part); err != nil {
				return nil, err
			}
		}
		return object{"op": "ite", "if": parts[0], "then": parts[1], "else": parts[2]}, nil
	case *sema.Call:
		return x.call(expr)
	}
	return x.formula(source)
}

// operation converts an operator with two operands.
func (x *exporter) operation(op string, left, right sema.Expr) (any, error) {
	leftObject, err := x.expr(left)
	if err != nil {
		return nil, err
	}
	rightObject, err := x.expr(right)
	return binaryObject(op, leftObject, rightObject), err
}

// call converts a function call. JANI's min, max and so on have two operands, so calls with more are
// nested.
func (x *exporter) call(expr *sema.Call) (any, error) {
	args := make([]any, len(expr.Args))
	for i, arg := range expr.Args {
		var err error
		if args[i], err = x.expr(arg); err != nil {
			return nil, err
		}
	}
	switch expr.Func {
	case sema.FuncFloor, sema.FuncCeil:
		return object{"op": functionNames[expr.Func], "exp": args[0]}, nil
	case sema.FuncRound: // halves are rounded up
		return object{"op": "floor", "exp": binaryObject("+", args[0], numberText("0.5"))}, nil
	}
	nested := args[0]
	for _, arg := range args[1:] {
		nested = binaryObject(functionNames[expr.Func], nested, arg)
	}
	return nested, nil
}
