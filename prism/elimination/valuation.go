package elimination

import (
	"math/big"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// valuation has what is known about the variables in some place of the program, by slot.
type valuation []knowledge

// knowledge is the value of a variable, if it is known.
type knowledge struct {
	isKnown bool
	value   int32
}

// knownValue returns the knowledge of a value.
func knownValue(value int32) knowledge { return knowledge{true, value} }

// requiredValues returns the values of variables without which a guard is false, from conjuncts such as x=1, b and !b. slots has the indices of these
// variables.
func (e *eliminator) requiredValues(guard sema.Expr) (required valuation, slots []int) {
	required = make(valuation, len(e.program.Vars))
	var require func(expr sema.Expr)
	require = func(expr sema.Expr) {
		switch expr := expr.(type) {
		case *sema.Var:
			required[expr.Slot] = knownValue(1)
		case *sema.Unary:
			if variable, ok := expr.X.(*sema.Var); ok && expr.Op == syntax.OpNot {
				required[variable.Slot] = knownValue(0)
			}
		case *sema.Binary:
			if expr.Op == syntax.OpAnd {
				require(expr.X)
				if e.isTotal(expr.X) { // otherwise its error may come first
					require(expr.Y)
				}
			}
			variable, isVariable := expr.X.(*sema.Var)
			constant, isConstant := expr.Y.(*sema.Const)
			if isVariable && isConstant && expr.Op == syntax.OpEq && constant.Type() != sema.Double {
				required[variable.Slot] = knownValue(constant.Val.InState())
			}
		}
	}
	require(guard)
	for slot, value := range required {
		if value.isKnown {
			slots = append(slots, slot)
		}
	}
	return required, slots
}

// mayBeEnabled reports whether the guard of a command may hold in some state of a valuation.
func (e *eliminator) mayBeEnabled(command *command, state valuation) bool {
	for _, slot := range command.required {
		if state[slot].isKnown && state[slot] != command.guard[slot] {
			return false
		}
	}
	guard, ok := e.integer(command.Guard, state)
	return !ok || guard == 1
}

// integer returns the value of an Int or Bool expression in a state of which only some variables are known. ok is false if these do not determine the value. An
// expression with doubles has no value here, because they may be rounded.
func (e *eliminator) integer(expr sema.Expr, state valuation) (value int32, ok bool) {
	switch expr := expr.(type) {
	case *sema.Const:
		return expr.Val.InState(), expr.Type() != sema.Double
	case *sema.Var:
		return state[expr.Slot].value, state[expr.Slot].isKnown
	case *sema.Unary:
		if expr.Op == syntax.OpNot {
			value, ok = e.integer(expr.X, state)
			return 1 - value, ok
		}
	case *sema.Binary:
		if expr.Op == syntax.OpAnd || expr.Op == syntax.OpOr {
			decidingValue := int32(0)
			if expr.Op == syntax.OpOr {
				decidingValue = 1
			}
			left, isLeftKnown := e.integer(expr.X, state)
			if isLeftKnown && left == decidingValue {
				return left, true
			}
			right, isRightKnown := e.integer(expr.Y, state)
			return right, isRightKnown && (isLeftKnown || right == decidingValue && e.isTotal(expr.X))
		}
	}
	if !e.areVariablesKnown(expr, state) || !sema.Every(expr, func(operand sema.Expr) bool { return operand.Type() != sema.Double }) {
		return 0, false
	}
	result, err := sema.Eval(expr, values(state))
	return result.InState(), err == nil
}

// isTotal reports whether the evaluation of an expression cannot fail.
func (e *eliminator) isTotal(expr sema.Expr) bool {
	return sema.Every(expr, func(operand sema.Expr) bool {
		switch operand.(type) {
		case *sema.Const, *sema.Var:
			return true
		case *sema.Unary:
			return operand.Type() == sema.Bool
		case *sema.Binary:
			return operand.Type() == sema.Bool
		}
		return false
	})
}

// fraction returns the exact value of an expression with a number. It returns false if the value depends on a variable that is not known, or if it is no
// fraction.
func (e *eliminator) fraction(expr sema.Expr, state valuation) (*big.Rat, bool) {
	if constant, ok := expr.(*sema.Const); ok && constant.Val.Rat != nil {
		return constant.Val.Rat, true
	}
	if !e.areVariablesKnown(expr, state) {
		return nil, false
	}
	value, isExact, err := sema.EvalExact(expr, values(state))
	if err != nil || !isExact || value.Rat == nil {
		return nil, false
	}
	return value.Rat, true
}

// areVariablesKnown reports whether the values of all variables of an expression are known.
func (e *eliminator) areVariablesKnown(expr sema.Expr, state valuation) bool {
	return !slices.ContainsFunc(e.slotsOf(expr), func(slot int) bool { return !state[slot].isKnown })
}

// slotsOf returns the variables of an expression.
func (e *eliminator) slotsOf(expr sema.Expr) []int {
	slots, ok := e.slots[expr]
	if !ok {
		slots = sema.SlotsOf(expr)
		e.slots[expr] = slots
	}
	return slots
}

// values returns the values of a valuation, with 0 for unknown ones.
func values(state valuation) []int32 {
	values := make([]int32, len(state))
	for slot, knowledge := range state {
		values[slot] = knowledge.value
	}
	return values
}
