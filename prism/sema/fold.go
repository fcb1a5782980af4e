package sema

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/prism/syntax"
)

// folder replaces constants by their values and evaluates constant sub-expressions exactly. It keeps an operation without a value, such as
// mod(1,0), because its evaluation may never be needed.
type folder struct {
	givenValues map[*constant]Value // values from the caller
	parameters  map[*constant]bool
	isSymbolic  bool // parameters have any type, see [Model.InstantiateSymbolic]
	// usesParameter is set when an expression has a parameter, or a constant that depends on one.
	usesParameter    bool
	foldedExprs      map[*constant]Expr // values, or definitions with a parameter or an error
	values           map[*constant]Value
	memo             map[Expr]Expr
	errs             syntax.ErrorList
	floatDifferences []syntax.Pos // where float64 arithmetic gives another Bool or Int
	// labelIndices maps the index of a label in Model and Properties to its index in the Program.
	labelIndices []int
	rewardCount  int // number of reward structures that are written in the model
}

// newFolder returns a folder, which folds constants in expressions. It has no values for constants yet.
func newFolder() *folder {
	return &folder{
		givenValues: make(map[*constant]Value),
		parameters:  make(map[*constant]bool),
		foldedExprs: make(map[*constant]Expr),
		values:      make(map[*constant]Value),
		memo:        make(map[Expr]Expr),
	}
}

// foldConstant returns the definition of a constant with all constants in it replaced by their values: a *Const, or another expression if it depends on a
// parameter. If the definition cannot be evaluated, it records the error and returns the definition.
func (f *folder) foldConstant(constant *constant) Expr {
	if folded, ok := f.foldedExprs[constant]; ok {
		return folded
	}
	folded := f.foldDefinition(constant)
	f.foldedExprs[constant] = folded
	if HasParameters(folded) {
		return folded
	}
	value, err := constantValue(folded)
	if evalErr, ok := errors.AsType[*EvalError](err); ok && !f.hasErrorAt(constant.file, evalErr.Pos) {
		f.errs.Add(constant.file, evalErr.Pos, "in the definition of constant %q: %s", constant.name, evalErr.Msg)
	}
	f.values[constant] = value
	return folded
}

// foldDefinition returns the definition of a constant after folding. It is a *Param for a parameter, and a *Const for a constant whose value the
// caller has given.
func (f *folder) foldDefinition(constant *constant) Expr {
	base := Base{constant.valueType, constant.declaration.Name.Pos()}
	if f.parameters[constant] {
		return &Param{base, constant.name}
	}
	if value, ok := f.givenValues[constant]; ok {
		return &Const{base, value}
	}
	return castTo(constant.valueType, f.fold(constant.def))
}

// hasErrorAt reports whether an error at this position is recorded.
func (f *folder) hasErrorAt(file string, pos syntax.Pos) bool {
	isAtPos := func(err *syntax.Error) bool { return err.File == file && err.Pos == pos }
	return pos.IsValid() && slices.ContainsFunc(f.errs, isAtPos)
}

// err returns the recorded errors in the order of their discovery; nil if there are none.
func (f *folder) err() error {
	if len(f.errs) == 0 {
		return nil
	}
	return f.errs
}

// constantValue evaluates a folded expression without variables.
func constantValue(expr Expr) (Value, error) {
	if constant, ok := expr.(*Const); ok {
		return constant.Val, nil
	}
	value, _, err := EvalExact(expr, nil)
	return value, err
}

// castTo converts an Int expression to a Double expression if targetType is Double.
func castTo(targetType Type, expr Expr) Expr {
	if targetType != Double || expr.Type() != Int {
		return expr
	}
	base := Base{Double, expr.Pos()}
	if constant, ok := expr.(*Const); ok {
		return &Const{base, constant.Val.toDouble()}
	}
	return &Binary{base, syntax.OpMul, &Const{base, RatValue(big.NewRat(1, 1))}, expr}
}

// fold replaces constants in an expression by their values and evaluates constant sub-expressions. It returns nil for nil.
func (f *folder) fold(expr Expr) Expr {
	switch expr := expr.(type) {
	case nil:
		return nil
	case *Const, *Var, *Param:
		return expr
	case *constRef:
		return f.foldOperands(expr)
	}
	if folded, ok := f.memo[expr]; ok {
		return folded
	}
	folded := f.foldOperands(expr)
	if hasConstantOperands(folded) {
		folded = f.evaluateExactly(folded)
	} else {
		folded = simplify(folded)
	}
	f.memo[expr] = folded
	return folded
}

// foldOperands returns an expression whose operands have constants replaced by their values. The value of a referenced constant replaces the reference.
func (f *folder) foldOperands(expr Expr) Expr {
	switch expr := expr.(type) {
	case *constRef:
		return f.foldReference(expr)
	case *Unary:
		operand := f.fold(expr.X)
		if operand == expr.X {
			return expr
		}
		return &Unary{expr.Base, expr.Op, operand}
	case *Binary:
		left, right := f.fold(expr.X), f.fold(expr.Y)
		if left == expr.X && right == expr.Y {
			return expr
		}
		return &Binary{expr.Base, expr.Op, left, right}
	case *Cond:
		return &Cond{expr.Base, f.fold(expr.Condition), f.fold(expr.Then), f.fold(expr.Else)}
	case *Call:
		return &Call{expr.Base, expr.Func, f.foldAll(expr.Args), expr.Array}
	}
	return f.foldOperator(expr)
}

// foldReference returns the value of a referenced constant, with the type and the position of the reference.
func (f *folder) foldReference(reference *constRef) Expr {
	folded := f.foldConstant(reference.constant)
	f.usesParameter = f.usesParameter || len(f.parameters) > 0 && HasParameters(folded)
	switch folded := folded.(type) {
	case *Const:
		return &Const{reference.Base, folded.Val}
	case *Param:
		return &Param{reference.Base, folded.Name}
	}
	return folded
}

// foldAll folds each expression of a list.
func (f *folder) foldAll(exprs []Expr) []Expr {
	folded := make([]Expr, len(exprs))
	for i, expr := range exprs {
		folded[i] = f.fold(expr)
	}
	return folded
}

// foldOperator returns a property operator whose operands and bounds have constants replaced by their values. A label gets its index in the program.
func (f *folder) foldOperator(expr Expr) Expr {
	switch expr := expr.(type) {
	case *Label:
		label := *expr
		if label.Index >= 0 {
			label.Index = f.labelIndices[label.Index]
		}
		return &label
	case *Temporal:
		return &Temporal{expr.Base, expr.Op, f.fold(expr.X), f.fold(expr.Y), f.foldBound(expr.Bound)}
	case *CostBounded:
		return &CostBounded{expr.Base, f.fold(expr.X), f.fold(expr.Y), f.foldCosts(expr.Costs)}
	case *Prob:
		return &Prob{expr.Base, f.foldThreshold(expr.Threshold), f.fold(expr.Path)}
	case *Steady:
		return &Steady{expr.Base, f.foldThreshold(expr.Threshold), f.fold(expr.X)}
	case *Reward:
		return f.foldReward(expr)
	case *RewardPath:
		return &RewardPath{expr.Base, expr.Kind, f.fold(expr.Bound), expr.IsTime, f.fold(expr.Target), f.foldCosts(expr.Costs), f.fold(expr.Discount)}
	case *Conditional:
		return &Conditional{expr.Base, f.fold(expr.X), f.fold(expr.Condition)}
	case *Quant:
		return &Quant{expr.Base, expr.All, f.fold(expr.Path)}
	case *Strategy:
		return &Strategy{expr.Base, expr.IsBox, expr.All, expr.Coalition, expr.Players, f.fold(expr.X)}
	case *Filter:
		return &Filter{expr.Base, expr.Op, f.fold(expr.X), f.fold(expr.States)}
	case *Multi:
		return &Multi{expr.Base, expr.IsLexicographic, f.foldAll(expr.Args)}
	case *Quantile:
		return &Quantile{expr.Base, expr.Bounds, f.fold(expr.X)}
	}
	return expr
}

// foldCosts folds the numbers of reward bounds.
func (f *folder) foldCosts(costs []Cost) []Cost {
	var folded []Cost
	for _, cost := range costs {
		folded = append(folded, Cost{cost.Struct, cost.IsTime, f.foldBound(cost.Bound)})
	}
	return folded
}

// foldBound returns a time or step bound with folded numbers; nil for nil.
func (f *folder) foldBound(bound *Bound) *Bound {
	if bound == nil {
		return nil
	}
	folded := *bound
	folded.Low, folded.High = f.fold(bound.Low), f.fold(bound.High)
	return &folded
}

// foldThreshold returns a threshold with a folded bound.
func (f *folder) foldThreshold(threshold Threshold) Threshold {
	threshold.Bound = f.fold(threshold.Bound)
	return threshold
}

// hasConstantOperands reports whether an expression is an operation and all its operands are constants.
func hasConstantOperands(expr Expr) bool {
	isConst := func(expr Expr) bool { _, ok := expr.(*Const); return ok }
	switch expr := expr.(type) {
	case *Unary:
		return isConst(expr.X)
	case *Binary:
		return isConst(expr.X) && isConst(expr.Y)
	case *Cond:
		return isConst(expr.Condition) && isConst(expr.Then) && isConst(expr.Else)
	case *Call:
		return !slices.ContainsFunc(expr.Args, func(arg Expr) bool { return !isConst(arg) })
	}
	return false
}

// evaluateExactly evaluates an operation on constants in exact arithmetic, and returns the value as a constant. If the evaluation fails, it returns the
// operation itself. If float64 arithmetic gives another Bool or Int, it records the position in f.floatDifferences.
func (f *folder) evaluateExactly(expr Expr) Expr {
	enclosed, err := Enclose(expr, nil)
	if err != nil {
		return expr
	}
	value := enclosed.Value
	floatValue, floatErr := Eval(expr, nil)
	if value.Type == Double {
		if !enclosed.IsExact {
			value.enclosure = &enclosed.enclosure
		}
		// Float is PRISM's number, unless PRISM's number is far from the exact value.
		low, high, ok := enclosed.Bounds()
		if ok && floatErr == nil && IsClose(floatValue.Float, low) && IsClose(floatValue.Float, high) {
			value.Float = floatValue.Float
		}
		return &Const{Base{expr.Type(), expr.Pos()}, value}
	}
	floatDiffers := floatErr != nil || floatValue.Bool != value.Bool || floatValue.Int != value.Int
	if floatDiffers && !slices.Contains(f.floatDifferences, expr.Pos()) {
		f.floatDifferences = append(f.floatDifferences, expr.Pos())
	}
	return &Const{Base{expr.Type(), expr.Pos()}, value}
}

// differences returns a warning for each expression with another Bool or Int in PRISM's float64 arithmetic than in exact arithmetic.
func (f *folder) differences(file string) []error {
	var warnings []error
	for _, pos := range f.floatDifferences {
		warnings = append(warnings, &syntax.Error{File: file, Pos: pos, Msg: "computed exactly; PRISM's float64 arithmetic gives another value"})
	}
	return warnings
}

// maxError is the largest relative error of a float64 that IsClose accepts.
const maxError = 0x1p-40

// IsClose reports whether the relative difference of a float64 and a fraction is at most 2^-40. It returns false near underflow and
// overflow.
func IsClose(float float64, fraction *big.Rat) bool {
	if fraction.Sign() == 0 || float == 0 {
		return fraction.Sign() == 0 && float == 0
	}
	if math.IsInf(float, 0) || math.IsNaN(float) {
		return false
	}
	nearestFloat, _ := fraction.Float64()
	magnitude := math.Abs(nearestFloat)
	isInRange := magnitude >= 0x1p-1000 && magnitude <= 0x1p1000
	return isInRange && math.Abs(float-nearestFloat) <= maxError*magnitude
}

// simplify simplifies a double negation, an operation on Bools with a constant operand, and a ?: with a constant condition. The value does not
// change, and the evaluation fails for the same states as before.
func simplify(expr Expr) Expr {
	switch expr := expr.(type) {
	case *Unary:
		inner, isUnary := expr.X.(*Unary)
		if isUnary && expr.Op == syntax.OpNot && inner.Op == syntax.OpNot { // !!x is x
			return inner.X
		}
	case *Binary:
		if expr.X.Type() == Bool && expr.Y.Type() == Bool {
			return simplifyLogic(expr)
		}
	case *Cond:
		return simplifyCond(expr)
	}
	return expr
}

// simplifyCond replaces a ?: with a constant condition by its branch, unless a branch has property operators.
func simplifyCond(expr *Cond) Expr {
	condition, ok := expr.Condition.(*Const)
	if !ok || !NeedsOnlyVariables(expr.Then) || !NeedsOnlyVariables(expr.Else) {
		return expr
	}
	branch := expr.Else
	if condition.Val.Bool {
		branch = expr.Then
	}
	if _, ok := branch.(*Const); ok {
		return castTo(expr.ValueType, branch)
	}
	if branch.Type() == expr.ValueType {
		return branch
	}
	return expr
}

// simplifyLogic simplifies an operation on two Bools if its left or right operand is constant.
func simplifyLogic(expr *Binary) Expr {
	if constant, ok := expr.X.(*Const); ok {
		return simplifyLeftConstant(expr, constant.Val.Bool)
	}
	if constant, ok := expr.Y.(*Const); ok {
		return simplifyRightConstant(expr, constant.Val.Bool)
	}
	return expr
}

// simplifyLeftConstant simplifies an operation on Bools with a constant left operand.
func simplifyLeftConstant(expr *Binary, left bool) Expr {
	switch expr.Op {
	case syntax.OpAnd, syntax.OpOr, syntax.OpImplies:
		if !shortCircuits(expr.Op, left) {
			return expr.Y
		}
		if NeedsOnlyVariables(expr.Y) {
			return &Const{expr.Base, BoolValue(expr.Op != syntax.OpAnd)}
		}
		return expr
	}
	// OpEq, OpIff or OpNe: true != y and false = y are !y, the other combinations are y.
	return negatedIf(left == (expr.Op == syntax.OpNe), expr.Y)
}

// simplifyRightConstant simplifies an operation on Bools with a constant right operand. The left operand is never removed, because its evaluation
// may fail.
func simplifyRightConstant(expr *Binary, right bool) Expr {
	isNeutral := expr.Op == syntax.OpAnd && right || expr.Op == syntax.OpOr && !right
	switch {
	case isNeutral:
		return expr.X
	case expr.Op == syntax.OpImplies && !right:
		return negatedIf(true, expr.X)
	case expr.Op == syntax.OpIff || expr.Op == syntax.OpEq || expr.Op == syntax.OpNe:
		return negatedIf(right == (expr.Op == syntax.OpNe), expr.X)
	}
	return expr
}

// negatedIf returns the negation of an expression if isNegated is set; otherwise the expression itself.
func negatedIf(isNegated bool, expr Expr) Expr {
	if !isNegated {
		return expr
	}
	return simplify(&Unary{Base{Bool, expr.Pos()}, syntax.OpNot, expr})
}

// VisitOperands calls visit for each operand of an expression. It skips nil operands.
func VisitOperands(expr Expr, visit func(Expr)) {
	visitAll := func(exprs ...Expr) {
		for _, operand := range exprs {
			if operand != nil {
				visit(operand)
			}
		}
	}
	switch expr := expr.(type) {
	case *erroneousExpr:
		visitAll(expr.operands...)
	case *Unary:
		visitAll(expr.X)
	case *Binary:
		visitAll(expr.X, expr.Y)
	case *Cond:
		visitAll(expr.Condition, expr.Then, expr.Else)
	case *Call:
		visitAll(expr.Args...)
	case *Temporal:
		visitAll(expr.X, expr.Y)
		if expr.Bound != nil {
			visitAll(expr.Bound.Low, expr.Bound.High)
		}
	case *CostBounded:
		visitAll(expr.X, expr.Y)
		visitCostBounds(expr.Costs, visitAll)
	case *Prob:
		visitAll(expr.Bound, expr.Path)
	case *Steady:
		visitAll(expr.Bound, expr.X)
	case *Reward:
		visitAll(expr.index, expr.divisorIndex, expr.Bound, expr.Path)
	case *RewardPath:
		visitAll(expr.Bound, expr.Target, expr.Discount)
		visitCostBounds(expr.Costs, visitAll)
	case *Conditional:
		visitAll(expr.X, expr.Condition)
	case *Quant:
		visitAll(expr.Path)
	case *Strategy:
		visitAll(expr.X)
	case *Filter:
		visitAll(expr.X, expr.States)
	case *Multi:
		visitAll(expr.Args...)
	case *Quantile:
		visitAll(expr.X)
	}
}

// visitCostBounds calls visitAll with the lower and the upper number of each reward bound.
func visitCostBounds(costs []Cost, visitAll func(...Expr)) {
	for _, cost := range costs {
		visitAll(cost.Bound.Low, cost.Bound.High)
	}
}
