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
	sema.FuncMin: "min", sema.FuncMax: "max", sema.FuncFloor: "floor", sema.FuncCeil: "ceil",
	sema.FuncPow: "pow", sema.FuncMod: "%", sema.FuncLog: "log",
}

// convertExpr converts an expression or a state formula to JSON. It returns an error if JANI cannot express it or if the document becomes too large.
func (x *exporter) convertExpr(source sema.Expr) (any, error) {
	if x.numOperators++; x.numOperators > maxSize {
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
		operand, err := x.convertExpr(expr.X)
		if expr.Op == syntax.OpNot {
			return object{"op": "¬", "exp": operand}, err
		}
		return binaryObject("-", numberText("0"), operand), err
	case *sema.Binary:
		return x.convertOperation(operatorNames[expr.Op], expr.X, expr.Y)
	case *sema.Cond:
		branches, err := x.convertExprs(expr.Condition, expr.Then, expr.Else)
		if err != nil {
			return nil, err
		}
		return object{"op": "ite", "if": branches[0], "then": branches[1], "else": branches[2]}, nil
	case *sema.Call:
		return x.convertCall(expr)
	}
	return x.convertFormula(source)
}

// convertExprs converts several expressions to JSON.
func (x *exporter) convertExprs(sources ...sema.Expr) ([]any, error) {
	values := make([]any, len(sources))
	for i, source := range sources {
		value, err := x.convertExpr(source)
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
}

// convertOperation converts an operator with two operands. op is its name in JANI.
func (x *exporter) convertOperation(op string, left, right sema.Expr) (any, error) {
	operands, err := x.convertExprs(left, right)
	if err != nil {
		return nil, err
	}
	return binaryObject(op, operands[0], operands[1]), nil
}

// convertCall converts a function call. JANI's functions have two operands, so min(a,b,c) becomes min(min(a,b),c).
func (x *exporter) convertCall(expr *sema.Call) (any, error) {
	args, err := x.convertExprs(expr.Args...)
	if err != nil {
		return nil, err
	}
	switch expr.Func {
	case sema.FuncFloor, sema.FuncCeil:
		return object{"op": functionNames[expr.Func], "exp": args[0]}, nil
	case sema.FuncRound: // halves are rounded up
		return object{"op": "floor", "exp": binaryObject("+", args[0], numberText("0.5"))}, nil
	}
	nestedCall := args[0]
	for _, arg := range args[1:] {
		nestedCall = binaryObject(functionNames[expr.Func], nestedCall, arg)
	}
	return nestedCall, nil
}
