package compile

import (
	"cmp"
	"fmt"
	"math"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// env is the environment in which an expression is evaluated. A failed operation records the first error in err and returns an arbitrary
// value. The caller of the evaluation checks err afterwards.
type env struct {
	state      []int32
	err        *evalError
	cache      []cachedValue // values of shared sub-expressions
	evaluation int           // number of the current evaluation; cached values of earlier ones are out of date
}

// evalError is an error of the evaluation of an expression.
type evalError struct {
	pos       syntax.Pos
	msg       string
	undecided bool // see StateError
}

// fail records an error, unless an earlier error is recorded.
func (e *env) fail(pos syntax.Pos, err error) {
	if e.err == nil {
		e.err = &evalError{pos: pos, msg: err.Error()}
	}
}

type (
	boolClosure  func(*env) bool
	intClosure   func(*env) int32
	floatClosure func(*env) float64
)

// unsupportedExpr returns the error for an expression that has no value in a single state, such as P=? [...].
func (m *Model) unsupportedExpr(expr sema.Expr) error {
	return &UnsupportedError{m.program.File, expr.Pos(), fmt.Sprintf("a %s is not an expression over one state (%T)", expr.Type(), expr)}
}

// valueClosure compiles an expression of type Int or Bool. The closure returns 0 or 1 for a Bool.
func (m *Model) valueClosure(expr sema.Expr) (intClosure, error) {
	if expr.Type() != sema.Bool {
		return compileExpr(m, expr, (*exprCompiler).intClosure)
	}
	condition, err := m.boolClosure(expr)
	return func(env *env) int32 {
		if condition(env) {
			return 1
		}
		return 0
	}, err
}

// boolClosure compiles an expression of type Bool.
func (m *Model) boolClosure(expr sema.Expr) (boolClosure, error) {
	return compileExpr(m, expr, (*exprCompiler).boolClosure)
}

// floatClosure compiles an expression of type Int or Double. The closure returns a float64.
func (m *Model) floatClosure(expr sema.Expr) (floatClosure, error) {
	return compileExpr(m, expr, (*exprCompiler).floatClosure)
}

// exprCompiler compiles one expression to closures.
type exprCompiler struct {
	*Model
	sharedExprs map[sema.Expr]*sharedExpr // sub-expressions that occur in several places
}

// sharedExpr is a sub-expression that occurs several times. It is compiled once. An evaluation of the whole expression computes it at most
// once.
type sharedExpr struct {
	cacheIndex int // index into env.cache
	closure    any // the closure; nil before it is compiled
}

// cachedValue is the value of a shared sub-expression.
type cachedValue struct {
	evaluation int // env.evaluation when the value was computed
	value      any
}

// compileExpr compiles an expression to a closure with the given method of exprCompiler. In each evaluation, the closure computes a repeated
// sub-expression only once.
func compileExpr[F ~func(*env) T, T any](model *Model, expr sema.Expr, compile func(*exprCompiler, sema.Expr) (F, error)) (F, error) {
	compiler := model.newExprCompiler(expr)
	closure, err := compile(compiler, expr)
	if err != nil || len(compiler.sharedExprs) == 0 {
		return closure, err
	}
	return func(env *env) T {
		env.evaluation++ // values of earlier evaluations are no longer valid
		for len(env.cache) < len(compiler.sharedExprs) {
			env.cache = append(env.cache, cachedValue{})
		}
		return closure(env)
	}, nil
}

// newExprCompiler returns a compiler for an expression. If the expression is large, the compiler knows its repeated sub-expressions.
func (m *Model) newExprCompiler(expr sema.Expr) *exprCompiler {
	compiler := &exprCompiler{Model: m}
	for repeated := range sema.RepeatedExprs(expr, sema.LargeSize, m.visitOperands) {
		if compiler.sharedExprs == nil {
			compiler.sharedExprs = make(map[sema.Expr]*sharedExpr)
		}
		compiler.sharedExprs[repeated] = &sharedExpr{cacheIndex: len(compiler.sharedExprs)}
	}
	return compiler
}

// visitOperands calls visit for each operand of an expression. The operand of a label is its definition. An undefined label has no operand: its
// compilation reports the error.
func (m *Model) visitOperands(expr sema.Expr, visit func(sema.Expr)) {
	if label, ok := expr.(*sema.Label); ok {
		if definition, err := m.labelExpr(label); err == nil {
			visit(definition)
		}
		return
	}
	sema.VisitOperands(expr, visit)
}

// compileOnce compiles a sub-expression with the function compile. A shared sub-expression is compiled only once, and its closure computes
// its value only once in each evaluation of the whole expression.
func compileOnce[F ~func(*env) T, T any](compiler *exprCompiler, expr sema.Expr, compile func(*exprCompiler, sema.Expr) (F, error)) (F, error) {
	sharedExpr := compiler.sharedExprs[expr]
	if sharedExpr == nil {
		return compile(compiler, expr)
	}
	if closure, ok := sharedExpr.closure.(F); ok {
		return closure, nil
	}
	closure, err := compile(compiler, expr)
	if err != nil {
		return nil, err
	}
	var cachingClosure F = func(env *env) T {
		entry := &env.cache[sharedExpr.cacheIndex]
		if entry.evaluation == env.evaluation {
			return entry.value.(T)
		}
		value := closure(env)
		entry.evaluation, entry.value = env.evaluation, value
		return value
	}
	sharedExpr.closure = cachingClosure
	return cachingClosure, nil
}

// boolClosure compiles a sub-expression of type Bool.
func (c *exprCompiler) boolClosure(expr sema.Expr) (boolClosure, error) {
	return compileOnce(c, expr, (*exprCompiler).compileBool)
}

// compileBool compiles an expression of type Bool to a closure. The closure does not cache its own value; boolClosure adds the cache.
func (c *exprCompiler) compileBool(expr sema.Expr) (boolClosure, error) {
	switch expr := expr.(type) {
	case *sema.Const:
		value := expr.Val.Bool
		return func(*env) bool { return value }, nil
	case *sema.Var:
		slot := expr.Slot
		return func(env *env) bool { return env.state[slot] != 0 }, nil
	case *sema.Label:
		definition, err := c.labelExpr(expr)
		if err != nil {
			return nil, err
		}
		return c.boolClosure(definition)
	case *sema.Unary:
		operand, err := c.boolClosure(expr.X)
		return func(env *env) bool { return !operand(env) }, err
	case *sema.Cond:
		return conditional(c, expr, c.boolClosure)
	case *sema.Binary:
		return c.boolBinary(expr)
	}
	return nil, c.unsupportedExpr(expr)
}

// compilePair compiles two operands with the same function.
func compilePair[F any](compile func(sema.Expr) (F, error), leftExpr, rightExpr sema.Expr) (left, right F, err error) {
	if left, err = compile(leftExpr); err != nil {
		return left, right, err
	}
	right, err = compile(rightExpr)
	return left, right, err
}

// compileAll compiles several operands with the same function.
func compileAll[F any](compile func(sema.Expr) (F, error), exprs []sema.Expr) ([]F, error) {
	closures := make([]F, len(exprs))
	for i, expr := range exprs {
		closure, err := compile(expr)
		if err != nil {
			return nil, err
		}
		closures[i] = closure
	}
	return closures, nil
}

// conditional compiles an expression condition ? then : else. The function compile compiles the two branches.
func conditional[F ~func(*env) T, T any](compiler *exprCompiler, expr *sema.Cond, compile func(sema.Expr) (F, error)) (F, error) {
	condition, err := compiler.boolClosure(expr.Condition)
	if err != nil {
		return nil, err
	}
	thenValue, elseValue, err := compilePair(compile, expr.Then, expr.Else)
	if err != nil {
		return nil, err
	}
	return func(env *env) T {
		if condition(env) {
			return thenValue(env)
		}
		return elseValue(env)
	}, nil
}

// boolBinary compiles a binary operator with a Bool result to a closure: a connective or equality of Bools, or a comparison of Ints or of numbers.
func (c *exprCompiler) boolBinary(expr *sema.Binary) (boolClosure, error) {
	switch {
	case expr.Op == syntax.OpAnd || expr.Op == syntax.OpOr:
		return c.connective(expr)
	case expr.X.Type() == sema.Bool:
		left, right, err := compilePair(c.boolClosure, expr.X, expr.Y)
		return logicalOperation(expr.Op, left, right), err
	case expr.X.Type() == sema.Int && expr.Y.Type() == sema.Int:
		if comparison := compareVarWithConst(expr); comparison != nil {
			return comparison, nil
		}
		left, right, err := compilePair(c.intClosure, expr.X, expr.Y)
		return compareInts(expr.Op, left, right), err
	}
	return c.numberComparison(expr)
}

// numberComparison compiles a comparison of two numbers in float64 arithmetic. If rounding may change its result, the closure compares with
// a tolerance or in exact arithmetic.
func (c *exprCompiler) numberComparison(expr *sema.Binary) (boolClosure, error) {
	left, right, err := compilePair(c.floatClosure, expr.X, expr.Y)
	if err != nil {
		return nil, err
	}
	compareFloats := compareNumbers(expr.Op, left, right)
	switch {
	case c.floatAnalysis.IsAlwaysExact(expr): // float64 arithmetic always gives the exact result
		return compareFloats, nil
	case c.floatAnalysis.IsExactWithError(expr): // operands that are closer than their rounding error are equal
		return compareWithTolerance(expr.Op, left, right, c.floatAnalysis.OperandError(expr)), nil
	}
	mayBeWrong, exactValue, err := c.exactFallback(expr)
	if err != nil {
		return nil, err
	}
	return func(env *env) bool {
		if mayBeWrong(env) {
			return exactValue(env).Bool
		}
		return compareFloats(env)
	}, nil
}

// compareWithTolerance returns a closure that compares the values of two closures by op. Values that differ by at most tolerance count as equal.
func compareWithTolerance(op syntax.Op, left, right floatClosure, tolerance float64) boolClosure {
	resultIfEqual := sema.Holds(op, 0)
	return func(env *env) bool {
		leftValue, rightValue := left(env), right(env)
		if math.Abs(leftValue-rightValue) <= tolerance {
			return resultIfEqual
		}
		return sema.Holds(op, cmp.Compare(leftValue, rightValue))
	}
}

// connective compiles a chain of & or |. The closure evaluates the operands from left to right until one determines the result.
func (c *exprCompiler) connective(expr *sema.Binary) (boolClosure, error) {
	operands := c.appendOperands(nil, expr.X, expr.Op)
	operands = c.appendOperands(operands, expr.Y, expr.Op)
	closures, err := compileAll(c.boolClosure, operands)
	if err != nil {
		return nil, err
	}
	decidingValue := expr.Op == syntax.OpOr // true decides a disjunction, false a conjunction
	return func(env *env) bool {
		for _, closure := range closures {
			if closure(env) == decidingValue {
				return decidingValue
			}
		}
		return !decidingValue
	}, nil
}

// appendOperands appends the operands of a chain such as a & b & c to a list. A shared expression stays a single operand.
func (c *exprCompiler) appendOperands(operands []sema.Expr, expr sema.Expr, op syntax.Op) []sema.Expr {
	binary, ok := expr.(*sema.Binary)
	if !ok || binary.Op != op || c.sharedExprs[expr] != nil {
		return append(operands, expr)
	}
	operands = c.appendOperands(operands, binary.X, op)
	return c.appendOperands(operands, binary.Y, op)
}

// logicalOperation returns a closure that applies =>, !=, = or <=> to the values of the two given closures.
func logicalOperation(op syntax.Op, left, right boolClosure) boolClosure {
	switch op {
	case syntax.OpImplies:
		return func(env *env) bool { return !left(env) || right(env) }
	case syntax.OpNe:
		return func(env *env) bool { return left(env) != right(env) }
	default: // OpEq, OpIff: both sides are evaluated
		return func(env *env) bool { return left(env) == right(env) }
	}
}

// compareVarWithConst returns a closure for the comparison of an Int variable with a constant, such as x<3; nil for any other comparison. The closure is fast,
// because this comparison is the most common one.
func compareVarWithConst(expr *sema.Binary) boolClosure {
	variable, isVar := expr.X.(*sema.Var)
	constant, isConst := expr.Y.(*sema.Const)
	if !isVar || !isConst {
		return nil
	}
	slot, value := variable.Slot, constant.Val.Int
	switch expr.Op {
	case syntax.OpEq:
		return func(env *env) bool { return env.state[slot] == value }
	case syntax.OpNe:
		return func(env *env) bool { return env.state[slot] != value }
	case syntax.OpLt:
		return func(env *env) bool { return env.state[slot] < value }
	case syntax.OpLe:
		return func(env *env) bool { return env.state[slot] <= value }
	case syntax.OpGt:
		return func(env *env) bool { return env.state[slot] > value }
	default:
		return func(env *env) bool { return env.state[slot] >= value }
	}
}

// compareInts returns a closure that evaluates left and right, and compares the two Ints by op.
func compareInts(op syntax.Op, left, right intClosure) boolClosure {
	switch op {
	case syntax.OpEq:
		return func(env *env) bool { return left(env) == right(env) }
	case syntax.OpNe:
		return func(env *env) bool { return left(env) != right(env) }
	}
	return compareOrdered(op, left, right)
}

// compareOrdered returns a closure that evaluates left and right, and compares the two numbers by <, <=, > or >=.
func compareOrdered[F ~func(*env) T, T int32 | float64](op syntax.Op, left, right F) boolClosure {
	switch op {
	case syntax.OpLt:
		return func(env *env) bool { return left(env) < right(env) }
	case syntax.OpLe:
		return func(env *env) bool { return left(env) <= right(env) }
	case syntax.OpGt:
		return func(env *env) bool { return left(env) > right(env) }
	default:
		return func(env *env) bool { return left(env) >= right(env) }
	}
}

// compareNumbers returns a closure that evaluates left and right, and compares the two float64 numbers by op. For = and !=, NaN equals NaN, and 0 differs from
// -0, as in PRISM.
func compareNumbers(op syntax.Op, left, right floatClosure) boolClosure {
	switch op {
	case syntax.OpEq:
		return func(env *env) bool { return sema.SameFloat(left(env), right(env)) }
	case syntax.OpNe:
		return func(env *env) bool { return !sema.SameFloat(left(env), right(env)) }
	}
	return compareOrdered(op, left, right)
}

// intClosure compiles a sub-expression of type Int.
func (c *exprCompiler) intClosure(expr sema.Expr) (intClosure, error) {
	return compileOnce(c, expr, (*exprCompiler).compileInt)
}

// compileInt compiles an expression of type Int to a closure. The closure does not cache its own value; intClosure adds the cache.
func (c *exprCompiler) compileInt(expr sema.Expr) (intClosure, error) {
	switch expr := expr.(type) {
	case *sema.Const:
		value := expr.Val.Int
		return func(*env) int32 { return value }, nil
	case *sema.Var:
		slot := expr.Slot
		return func(env *env) int32 { return env.state[slot] }, nil
	case *sema.Unary:
		operand, err := c.intClosure(expr.X)
		return func(env *env) int32 { return narrowToInt32(env, expr.Position, -int64(operand(env))) }, err
	case *sema.Cond:
		return conditional(c, expr, c.intClosure)
	case *sema.Binary:
		left, right, err := compilePair(c.intClosure, expr.X, expr.Y)
		return intArithmetic(expr, left, right), err
	case *sema.Call:
		return c.intCall(expr)
	}
	return nil, c.unsupportedExpr(expr)
}

// narrowToInt32 converts a value to an int32. It records an error if the value does not fit.
func narrowToInt32(env *env, pos syntax.Pos, value int64) int32 {
	i, err := sema.Narrow(value)
	if err != nil {
		env.fail(pos, err)
	}
	return i
}

// intArithmetic returns a closure that evaluates left and right, and adds, subtracts, multiplies or exponentiates the two Ints. A result beyond 32 bits is an
// error, which the closure records in its environment.
func intArithmetic(expr *sema.Binary, left, right intClosure) intClosure {
	switch expr.Op {
	case syntax.OpAdd:
		return func(env *env) int32 { return narrowToInt32(env, expr.Position, int64(left(env))+int64(right(env))) }
	case syntax.OpSub:
		return func(env *env) int32 { return narrowToInt32(env, expr.Position, int64(left(env))-int64(right(env))) }
	case syntax.OpMul:
		return func(env *env) int32 { return narrowToInt32(env, expr.Position, int64(left(env))*int64(right(env))) }
	default: // OpPow
		return checkedOperation(expr.Position, left, right, sema.IntPow)
	}
}

// checkedOperation returns a closure that evaluates left and right, and applies operator to the results. If operator fails, the closure records the error in
// its environment, with the position pos.
func checkedOperation(pos syntax.Pos, left, right intClosure, operator func(left, right int32) (int32, error)) intClosure {
	return func(env *env) int32 {
		leftValue, rightValue := left(env), right(env)
		value, err := operator(leftValue, rightValue)
		if err != nil {
			env.fail(pos, err)
		}
		return value
	}
}

// intCall compiles a function call with an Int result.
func (c *exprCompiler) intCall(expr *sema.Call) (intClosure, error) {
	if isRounding(expr.Func) {
		return c.roundingCall(expr)
	}
	args, err := compileAll(c.intClosure, expr.Args)
	if err != nil {
		return nil, err
	}
	switch expr.Func {
	case sema.FuncMin:
		return foldArgs(args, func(left, right int32) int32 { return min(left, right) }), nil
	case sema.FuncMax:
		return foldArgs(args, func(left, right int32) int32 { return max(left, right) }), nil
	case sema.FuncMod:
		return checkedOperation(expr.Position, args[0], args[1], expr.Mod), nil
	case sema.FuncPow:
		return checkedOperation(expr.Position, args[0], args[1], sema.IntPow), nil
	}
	return nil, c.unsupportedExpr(expr)
}

// isRounding reports whether a function rounds a Double to an Int.
func isRounding(function sema.Func) bool {
	return function == sema.FuncFloor || function == sema.FuncCeil || function == sema.FuncRound
}

// roundingCall compiles floor, ceil or round of a number in float64 arithmetic. If rounding errors may change the result, the closure
// corrects the operand by its error or uses exact arithmetic.
func (c *exprCompiler) roundingCall(expr *sema.Call) (intClosure, error) {
	operand, err := c.floatClosure(expr.Args[0])
	if err != nil {
		return nil, err
	}
	switch {
	case c.floatAnalysis.IsAlwaysExact(expr): // float64 arithmetic always gives the exact result
		return func(env *env) int32 { return toInt(env, expr, operand(env)) }, nil
	case c.floatAnalysis.IsExactWithError(expr): // an operand that is closer to a jump of the function than its rounding error is at the jump
		shift := roundingShift(expr, c.floatAnalysis.OperandError(expr))
		return func(env *env) int32 { return toInt(env, expr, operand(env)+shift) }, nil
	}
	mayBeWrong, exactValue, err := c.exactFallback(expr)
	if err != nil {
		return nil, err
	}
	return func(env *env) int32 {
		if mayBeWrong(env) {
			return exactValue(env).Int
		}
		return toInt(env, expr, operand(env))
	}, nil
}

// foldArgs returns a closure that combines all arguments with a binary operator, from left to right.
func foldArgs[T any, F ~func(*env) T](args []F, operator func(left, right T) T) F {
	return func(env *env) T {
		value := args[0](env)
		for _, arg := range args[1:] {
			value = operator(value, arg(env))
		}
		return value
	}
}

// toInt evaluates floor, ceil or round of a value. It records an error if the result does not fit in 32 bits.
func toInt(env *env, expr *sema.Call, value float64) int32 {
	i, err := expr.Func.ToInt(value)
	if err != nil {
		env.fail(expr.Position, err)
	}
	return i
}

// roundingShift returns the number to add to a float64 before floor, ceil or round. maxError bounds the error of the float64. The sum of an
// integer within the error and the shift rounds to this integer.
func roundingShift(expr *sema.Call, maxError float64) float64 {
	if expr.Func == sema.FuncCeil {
		return -maxError
	}
	return maxError
}

// floatClosure compiles a sub-expression of type Int or Double. The closure returns a float64.
func (c *exprCompiler) floatClosure(expr sema.Expr) (floatClosure, error) {
	if expr.Type() == sema.Int {
		intValue, err := c.intClosure(expr)
		return func(env *env) float64 { return float64(intValue(env)) }, err
	}
	return compileOnce(c, expr, (*exprCompiler).compileFloat)
}

// compileFloat compiles an expression of type Double to a closure. The closure does not cache its own value; floatClosure adds the cache.
func (c *exprCompiler) compileFloat(expr sema.Expr) (floatClosure, error) {
	switch expr := expr.(type) {
	case *sema.Const:
		value := expr.Val.Float
		return func(*env) float64 { return value }, nil
	case *sema.Unary:
		operand, err := c.floatClosure(expr.X)
		return func(env *env) float64 { return -operand(env) }, err
	case *sema.Cond:
		return conditional(c, expr, c.floatClosure)
	case *sema.Binary:
		left, right, err := compilePair(c.floatClosure, expr.X, expr.Y)
		return floatArithmetic(expr.Op, left, right), err
	case *sema.Call:
		return c.floatCall(expr)
	}
	return nil, c.unsupportedExpr(expr)
}

// floatArithmetic returns a closure that evaluates left and right, and applies an arithmetic operator to the two float64 numbers.
func floatArithmetic(op syntax.Op, left, right floatClosure) floatClosure {
	switch op {
	case syntax.OpAdd:
		return func(env *env) float64 { return left(env) + right(env) }
	case syntax.OpSub:
		return func(env *env) float64 { return left(env) - right(env) }
	case syntax.OpMul:
		// The conversion forbids a fused multiply-add.
		return func(env *env) float64 { return float64(left(env) * right(env)) }
	case syntax.OpDiv:
		return func(env *env) float64 { return left(env) / right(env) }
	default: // OpPow
		return func(env *env) float64 { return sema.Pow(left(env), right(env)) }
	}
}

// floatCall compiles a function call with a float64 result.
func (c *exprCompiler) floatCall(expr *sema.Call) (floatClosure, error) {
	args, err := compileAll(c.floatClosure, expr.Args)
	if err != nil {
		return nil, err
	}
	switch expr.Func {
	case sema.FuncMin:
		return foldArgs(args, func(left, right float64) float64 { return min(left, right) }), nil
	case sema.FuncMax:
		return foldArgs(args, func(left, right float64) float64 { return max(left, right) }), nil
	case sema.FuncPow:
		return foldArgs(args, sema.Pow), nil
	case sema.FuncLog:
		return foldArgs(args, sema.Log), nil
	}
	return nil, c.unsupportedExpr(expr)
}
