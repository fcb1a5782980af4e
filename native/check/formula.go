package check

import (
	"errors"
	"math"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// truthIn evaluates a Boolean formula in the given states.
func (e *evaluation) truthIn(set *sparse.Set, expr sema.Expr) (truth, error) {
	defer e.restrictDomain(set)()
	return e.truthOf(expr)
}

// numbersIn evaluates a numeric formula in the given states.
func (e *evaluation) numbersIn(set *sparse.Set, expr sema.Expr) (*numbers, error) {
	defer e.restrictDomain(set)()
	return e.numbersOf(expr)
}

// decidedStates returns the states that satisfy a state formula. The error is an *undecidedError if the bounds of a value leave the truth open in some
// state of the domain, the states where values are needed.
func (e *evaluation) decidedStates(expr sema.Expr) (*sparse.Set, error) {
	truth, err := e.truthOf(expr)
	if err != nil {
		return nil, err
	}
	if !truth.unknownStates().Intersect(e.domain()).Empty() {
		return nil, &undecidedError{expr.Pos(), "the bounds of a value contain the number that it is compared with"}
	}
	return truth.trueStates, nil
}

// truth evaluates a formula of type Bool.
func (e *evaluation) truthOf(expr sema.Expr) (truth, error) {
	if sema.NeedsOnlyVariables(expr) {
		t, err := e.truthOfVariables(expr)
		return t, e.withPosition(err)
	}
	return evaluateShared(e, e.shared.truths, expr, e.operatorTruth)
}

// operatorTruth evaluates a Boolean formula that contains an operator of PRISM's property language, such as P>=0.5 [...], in each state of the domain
// (the states where values are needed).
func (e *evaluation) operatorTruth(expr sema.Expr) (truth, error) {
	switch expr := expr.(type) {
	case *sema.Unary:
		operand, err := e.truthOf(expr.X)
		if err != nil {
			return operand, err
		}
		return operand.not(), nil
	case *sema.Binary:
		return e.binaryTruth(expr)
	case *sema.Cond:
		return e.condTruth(expr)
	}
	switch formula := logic.FormulaOf(expr); formula.Kind {
	case logic.Label:
		return e.labelTruth(formula)
	case logic.Probability, logic.Reward, logic.SteadyState:
		return e.thresholdTruth(formula)
	case logic.Quantified:
		return e.quantifiedTruth(formula)
	case logic.Strategy:
		return e.strategyTruth(formula)
	case logic.Filter:
		return e.filterTruth(formula)
	}
	return truth{}, e.unsupportedError(expr, "found %s, which the state-space engine does not support here", logic.Describe(expr))
}

// labelTruth evaluates a label: "init", "deadlock", or a label that the model or the properties file defines.
func (e *evaluation) labelTruth(formula *logic.Formula) (truth, error) {
	isBuiltIn := formula.Index < 0
	if isBuiltIn {
		return asTruth(e.space.States(formula.Expr))
	}
	// The labels of the model precede the labels of the properties file. Errors in a label name the file that defines it.
	outerInModel := e.isInModel
	defer func() { e.isInModel = outerInModel }()
	e.isInModel = formula.Index < len(e.space.Program().Labels)
	return e.truthOf(e.property.Program.Labels[formula.Index].Expr)
}

// withPosition adds a file and a position to err if it is an error in the evaluation of an expression. The file is the model's file if the
// expression is in a label or formula of the model. Other errors, and nil, are returned unchanged.
func (e *evaluation) withPosition(err error) error {
	isEvaluationError := errors.As(err, new(*compile.StateError)) || errors.As(err, new(*sema.EvalError))
	if !isEvaluationError {
		return err
	}
	failure := Failure(err, e.property.File, e.property.Pos)
	failure.File = e.property.File
	if e.isInModel || failure.Pos.Formula {
		failure.File = e.property.Program.File
	}
	return failure
}

// truthOfVariables evaluates a Boolean expression over the variables in all states. If the expression has no value in some state, it is evaluated only
// in the states where its value is needed.
func (e *evaluation) truthOfVariables(expr sema.Expr) (truth, error) {
	trueStates, err := e.space.States(expr)
	if err == nil || e.neededStates == nil {
		return asTruth(trueStates, err)
	}
	trueStates = sparse.NewSet(e.space.Model().NumStates())
	valuation := e.space.State(nil, 0)
	for s := range e.neededStates.All() {
		value, _, err := sema.EvalExact(expr, e.space.State(valuation, s))
		if err != nil {
			return truth{}, err
		}
		if value.Bool {
			trueStates.Add(s)
		}
	}
	return decidedTruth(trueStates), nil
}

// asTruth returns the truth value that is true exactly in a set of states, or the error.
func asTruth(set *sparse.Set, err error) (truth, error) {
	if err != nil {
		return truth{}, err
	}
	return decidedTruth(set), nil
}

// binaryTruth evaluates a comparison or a Boolean operator. It evaluates the right operand only in the states where the left operand does not decide the
// result, because an error of the right operand does not matter elsewhere.
func (e *evaluation) binaryTruth(binary *sema.Binary) (truth, error) {
	if binary.X.Type() != sema.Bool {
		return e.comparisonTruth(binary)
	}
	left, err := e.truthOf(binary.X)
	if err != nil {
		return left, err
	}
	right, err := e.truthIn(e.undecidedBy(left, binary.Op), binary.Y)
	if err != nil {
		return right, err
	}
	switch binary.Op {
	case syntax.OpAnd:
		return left.and(right), nil
	case syntax.OpOr:
		return left.or(right), nil
	case syntax.OpImplies:
		return left.not().or(right), nil
	case syntax.OpNe:
		return left.iff(right).not(), nil
	}
	return left.iff(right), nil // <=> and =
}

// undecidedBy returns the states of the domain in which the first operand of a binary operator does not decide the result, so that the second operand
// must be evaluated. For operators other than &, | and => these are all states of the domain; a domain of all states is returned as nil.
func (e *evaluation) undecidedBy(first truth, operator syntax.Op) *sparse.Set {
	switch operator {
	case syntax.OpAnd, syntax.OpImplies:
		return e.domain().Minus(first.falseStates)
	case syntax.OpOr:
		return e.domain().Minus(first.trueStates)
	}
	return e.neededStates
}

// comparisonTruth evaluates a comparison of two numeric formulas.
func (e *evaluation) comparisonTruth(binary *sema.Binary) (truth, error) {
	left, err := e.numbersOf(binary.X)
	if err != nil {
		return truth{}, err
	}
	right, err := e.numbersOf(binary.Y)
	if err != nil {
		return truth{}, err
	}
	e.limitAccuracy(right.accuracy)
	return e.compareAll(binary.Op, left, right.numberAt), nil
}

// compareAll returns the truth of `left operator right(s)` in each state s of the domain, the states where values are needed. The truth is unknown in a
// state where the bounds do not decide the comparison.
func (e *evaluation) compareAll(operator syntax.Op, left *numbers, right func(s int) number) truth {
	e.limitAccuracy(left.accuracy)
	numStates := len(left.lower)
	truth := truth{trueStates: sparse.NewSet(numStates), falseStates: sparse.NewSet(numStates)}
	for s := range e.domain().All() {
		holds, isDecided := compareNumbers(operator, left.numberAt(s), right(s))
		switch {
		case isDecided && holds:
			truth.trueStates.Add(s)
		case isDecided:
			truth.falseStates.Add(s)
		}
	}
	return truth
}

// condTruth evaluates `condition ? then : else` of type Bool. It evaluates each branch only in the states where the condition may select it.
func (e *evaluation) condTruth(cond *sema.Cond) (truth, error) {
	condition, err := e.truthOf(cond.Condition)
	if err != nil {
		return condition, err
	}
	then, err := e.truthIn(e.domain().Minus(condition.falseStates), cond.Then)
	if err != nil {
		return then, err
	}
	otherwise, err := e.truthIn(e.domain().Minus(condition.trueStates), cond.Else)
	if err != nil {
		return otherwise, err
	}
	return condition.and(then).or(condition.not().and(otherwise)), nil
}

// thresholdTruth compares the value of P, R or S with the bound of the operator in each state, as for P>=0.5.
func (e *evaluation) thresholdTruth(formula *logic.Formula) (truth, error) {
	bound, err := e.thresholdBound(formula)
	if err != nil {
		return truth{}, err
	}
	values, err := e.operatorValue(formula)
	if err != nil {
		return truth{}, err
	}
	return e.compareAll(formula.Rel, values, func(int) number { return bound }), nil
}

// thresholdBound evaluates the bound of P, R or S. The bound of P and S must be a probability.
func (e *evaluation) thresholdBound(formula *logic.Formula) (number, error) {
	bound, err := e.constantValue(formula.Bound)
	if err != nil {
		return number{}, err
	}
	isProbability := bound.Lo >= 0 && bound.Hi <= 1
	if formula.Kind != logic.Reward && !isProbability {
		return number{}, e.failure(result.TypeError, formula.Bound.Pos(), "bound %v of a probability, want a number from 0 to 1", bound.Lo)
	}
	return bound, nil
}

// constantValue evaluates a constant expression. The result is a fraction, or bounds if the value is not a fraction.
func (e *evaluation) constantValue(expr sema.Expr) (number, error) {
	enclosed, err := sema.Enclose(expr, nil)
	if err != nil {
		return number{}, e.withPosition(err)
	}
	if enclosed.IsExact && enclosed.Rat != nil {
		return exactNumber(enclosed.Rat), nil
	}
	if math.IsNaN(enclosed.Float) {
		return number{}, e.failure(result.TypeError, expr.Pos(), "bound is not a number")
	}
	return boundedNumber(enclosed.Lo, enclosed.Hi), nil
}

// numbers evaluates a formula of type Int or Double.
func (e *evaluation) numbersOf(expr sema.Expr) (*numbers, error) {
	if sema.NeedsOnlyVariables(expr) {
		values, err := e.numbersOfVariables(expr)
		return values, e.withPosition(err)
	}
	return evaluateShared(e, e.shared.numbers, expr, e.operatorNumbers)
}

// operatorNumbers evaluates a numeric formula that contains an operator of PRISM's property language, such as P=? [...] + 1, in each state of the domain
// (the states where values are needed).
func (e *evaluation) operatorNumbers(expr sema.Expr) (*numbers, error) {
	switch expr := expr.(type) {
	case *sema.Unary:
		return e.combineOperands(expr, expr.X)
	case *sema.Binary:
		return e.combineOperands(expr, expr.X, expr.Y)
	case *sema.Call:
		return e.combineOperands(expr, expr.Args...)
	case *sema.Cond:
		return e.condNumbers(expr)
	}
	switch formula := logic.FormulaOf(expr); formula.Kind {
	case logic.Probability, logic.Reward, logic.SteadyState:
		return e.operatorValue(formula)
	case logic.Strategy:
		return e.strategyNumbers(formula)
	case logic.Filter:
		return e.filterNumbers(formula)
	}
	return nil, e.unsupportedError(expr, "found %s, which the state-space engine does not support here", logic.Describe(expr))
}

// numbersOfVariables evaluates a numeric expression over the variables in all states. If it has no value in some state, it is evaluated only in the
// domain, the states where values are needed. Integers are exact. Other values have bounds, unless the evaluation computes fractions.
func (e *evaluation) numbersOfVariables(expr sema.Expr) (*numbers, error) {
	if constant, isConstant := expr.(*sema.Const); isConstant && constant.Val.Rat != nil {
		return e.constantNumbers(exactNumber(constant.Val.Rat), result.Exact), nil
	}
	accuracy := result.Bounded
	if expr.Type() == sema.Int {
		accuracy = result.Exact
	}
	if !e.wantsFractions {
		lower, upper, err := e.space.Values(expr)
		if err == nil {
			return &numbers{lower: lower, upper: upper, accuracy: accuracy}, nil
		}
		if e.neededStates == nil {
			return nil, err
		}
	}
	return e.numbersOfVariablesInDomain(expr, accuracy)
}

// numbersOfVariablesInDomain evaluates a numeric expression over the variables in the states of the domain. The result is exact if all values
// are fractions; otherwise it has the given accuracy.
func (e *evaluation) numbersOfVariablesInDomain(expr sema.Expr, accuracy result.Accuracy) (*numbers, error) {
	values := e.newValues(result.Exact)
	valuation := e.space.State(nil, 0)
	for s := range e.domain().All() {
		enclosed, err := sema.Enclose(expr, e.space.State(valuation, s))
		if err != nil {
			return nil, err
		}
		if enclosed.IsExact && enclosed.Rat != nil {
			values.setNumber(s, exactNumber(enclosed.Rat))
			continue
		}
		values.accuracy = accuracy
		values.setNumber(s, boundedNumber(enclosed.Lo, enclosed.Hi))
	}
	return values, nil
}

// combineOperands evaluates the operands of a numeric expression, and applies its operator or function to their values in each state of the domain, the
// states where values are needed. The error is an *undecidedError if the bounds of the operands are too wide for a result.
func (e *evaluation) combineOperands(expr sema.Expr, operands ...sema.Expr) (*numbers, error) {
	var operandValues []*numbers
	accuracy := result.Exact
	for _, operand := range operands {
		values, err := e.numbersOf(operand)
		if err != nil {
			return nil, err
		}
		operandValues = append(operandValues, values)
		accuracy = max(accuracy, values.accuracy)
	}
	combined := e.newValues(accuracy)
	valuesInState := make([]number, len(operands))
	for s := range e.domain().All() {
		for i, values := range operandValues {
			valuesInState[i] = values.numberAt(s)
		}
		value, ok, err := applyToOperands(expr, valuesInState)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, &undecidedError{expr.Pos(), "the bounds of an operand are too wide for this operation"}
		}
		combined.setNumber(s, value)
	}
	return combined, nil
}

// applyToOperands applies the arithmetic operator or the built-in function of an expression to the values of its operands. ok is false if the result
// has no bounds.
func applyToOperands(expr sema.Expr, operands []number) (value number, ok bool, err error) {
	switch expr := expr.(type) {
	case *sema.Binary:
		value, ok = applyArithmetic(expr.Op, operands[0], operands[1])
		return value, ok, nil
	case *sema.Call:
		return applyFunction(expr, operands)
	}
	return operands[0].negated(), true, nil // *sema.Unary: a minus
}

// condNumbers evaluates a numeric expression `condition ? then : else`. It evaluates each branch only in the states where the condition selects this
// branch.
func (e *evaluation) condNumbers(cond *sema.Cond) (*numbers, error) {
	condition, err := e.decidedStates(cond.Condition)
	if err != nil {
		return nil, err
	}
	then, err := e.numbersIn(e.domain().Intersect(condition), cond.Then)
	if err != nil {
		return nil, err
	}
	otherwise, err := e.numbersIn(e.domain().Minus(condition), cond.Else)
	if err != nil {
		return nil, err
	}
	values := e.newValues(max(then.accuracy, otherwise.accuracy))
	for s := range e.domain().All() {
		if condition.Has(s) {
			values.setNumber(s, then.numberAt(s))
		} else {
			values.setNumber(s, otherwise.numberAt(s))
		}
	}
	return values, nil
}
