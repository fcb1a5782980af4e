package compile

import (
	"cmp"
	"fmt"
	"math"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// env is the environment in which an expression is evaluated. If an operation fails, it records the error in err and returns an
// arbitrary value. Only the first error is recorded. The caller of the evaluation checks err afterwards.
type env struct {
	state      []int32
	err        *evalError
	cache      []cachedValue // values of shared sub-expressions
	evaluation int           // number of the evaluation; cells of earlier ones are out of date
}

// evalError is an error of the evaluation of an expression.
type evalError struct {
	pos       syntax.Pos
	msg       string
	undecided bool
}

// fail records an error, unless there is one already.
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

// unsupportedExpr returns the error for an expression whose value one state does not determine, such as P=? [...].
func (m *Model) unsupportedExpr(e sema.Expr) error {
	return &UnsupportedError{m.program.File, e.Pos(), fmt.Sprintf("a %s is not an expression over one state (%T)", e.Type(), e)}
}

// valueClosure compiles an expression of type Int or Bool. The closure returns 0 or 1 for a Bool.
func (m *Model) valueClosure(e sema.Expr) (intClosure, error) {
	if e.Type() != sema.Bool {
		return compileExpr(m, e, (*exprCompiler).intClosure)
	}
	f, err := m.boolClosure(e)
	return func(env *env) int32 {
		if f(env) {
			return 1
		}
		return 0
	}, err
}

// boolClosure compiles an expression of type Bool.
func (m *Model) boolClosure(e sema.Expr) (boolClosure, error) {
	return compileExpr(m, e, (*exprCompiler).boolClosure)
}

// floatClosure compiles an expression of type Int or Double. The closure returns a float64.
func (m *Model) floatClosure(e sema.Expr) (floatClosure, error) {
	return compileExpr(m, e, (*exprCompiler).floatClosure)
}

// exprCompiler compiles one expression to closures.
type exprCompiler struct {
	*Model
	sharedExprs map[sema.Expr]*sharedExpr // sub-expressions that occur in several places
}

// sharedExpr is a sub-expression that occurs in several places. It is compiled once, and evaluated at most once per evaluation of
// the whole expression.
type sharedExpr struct {
	cacheIndex int // index into env.cells
	closure    any // the closure; nil before it is compiled
}

// cachedValue is the value of a shared sub-expression.
type cachedValue struct {
	evaluation int // env.since when the value was computed
	value      any
}

// compileExpr compiles a whole expression. compile is the method of exprCompiler for its type.
func compileExpr[F ~func(*env) T, T any](m *Model, e sema.Expr, compile func(*exprCompiler, sema.Expr) (F, error)) (F, error) {
	compiler := m.newExprCompiler(e)
	f, err := compile(compiler, e)
	if err != nil || len(compiler.sharedExprs) == 0 {
		return f, err
	}
	return func(env *env) T {
		env.evaluation++
		for len(env.cache) < len(compiler.sharedExprs) {
			env.cache = append(env.cache, cachedValue{})
		}
		return f(env)
	}, nil
}

// newExprCompiler returns a compiler for an expression, and finds its large repeated sub-expressions.
func (m *Model) newExprCompiler(e sema.Expr) *exprCompiler {
	compiler := &exprCompiler{Model: m}
	for x := range sema.Repeated(e, sema.Large, m.operands) {
		if compiler.sharedExprs == nil {
			compiler.sharedExprs = make(map[sema.Expr]*sharedExpr)
		}
		compiler.sharedExprs[x] = &sharedExpr{cacheIndex: len(compiler.sharedExprs)}
	}
	return compiler
}

// operands calls visit for each operand of an expression. The operand of a label is the expression that it stands for.
func (m *Model) operands(e sema.Expr, visit func(sema.Expr)) {
	if l, ok := e.(*sema.Label); ok {
		if x, err := m.labelExpr(l); err == nil {
			visit(x)
		}
		return
	}
	sema.Operands(e, visit)
}

// compileOnce compiles a sub-expression. If it is shared, the closure evaluates it once and then returns the cached value.
func compileOnce[F ~func(*env) T, T any](m *exprCompiler, e sema.Expr, compile func(*exprCompiler, sema.Expr) (F, error)) (F, error) {
	shared := m.sharedExprs[e]
	if shared == nil {
		return compile(m, e)
	}
	if f, ok := shared.closure.(F); ok {
		return f, nil
	}
	f, err := compile(m, e)
	if err != nil {
		return nil, err
	}
	var wrapped F = func(env *env) T {
		cached := &env.cache[shared.cacheIndex]
		if cached.evaluation != env.evaluation {
			x := f(env)
			cached.evaluation, cached.value = env.evaluation, x
			return x
		}
		return cached.value.(T)
	}
	shared.closure = wrapped
	return wrapped, nil
}

// boolClosure compiles a sub-expression of type Bool.
func (m *exprCompiler) boolClosure(e sema.Expr) (boolClosure, error) {
	return compileOnce(m, e, (*exprCompiler).compileBool)
}

// compileBool is boolClosure without the cache for shared sub-expressions.
func (m *exprCompiler) compileBool(e sema.Expr) (boolClosure, error) {
	switch e := e.(type) {
	case *sema.Const:
		b := e.Val.Bool
		return func(*env) bool { return b }, nil
	case *sema.Var:
		slot := e.Slot
		return func(env *env) bool { return env.state[slot] != 0 }, nil
	case *sema.Label:
		x, err := m.labelExpr(e)
		if err != nil {
			return nil, err
		}
		return m.boolClosure(x)
	case *sema.Unary:
		f, err := m.boolClosure(e.X)
		return func(env *env) bool { return !f(env) }, err
	case *sema.Cond:
		return conditional(m, e, m.boolClosure)
	case *sema.Binary:
		return m.boolBinary(e)
	}
	return nil, m.unsupportedExpr(e)
}

// pair compiles two operands with the same function.
func pair[F any](compile func(sema.Expr) (F, error), x, y sema.Expr) (f, g F, err error) {
	if f, err = compile(x); err != nil {
		return f, g, err
	}
	g, err = compile(y)
	return f, g, err
}

// conditional compiles the conditional operator ?:. compile compiles its two arms.
func conditional[F ~func(*env) T, T any](m *exprCompiler, e *sema.Cond, compile func(sema.Expr) (F, error)) (F, error) {
	condition, err := m.boolClosure(e.C)
	if err != nil {
		return nil, err
	}
	ifTrue, ifFalse, err := pair(compile, e.A, e.B)
	return func(env *env) T {
		if condition(env) {
			return ifTrue(env)
		}
		return ifFalse(env)
	}, err
}

// boolBinary compiles a binary operator whose result is a Bool. A comparison of float64 numbers that may be wrong because of
// rounding is evaluated exactly.
func (m *exprCompiler) boolBinary(e *sema.Binary) (boolClosure, error) {
	switch {
	case e.Op == syntax.OpAnd || e.Op == syntax.OpOr:
		return m.connective(e)
	case e.X.Type() == sema.Bool:
		x, y, err := pair(m.boolClosure, e.X, e.Y)
		return logicalOperation(e.Op, x, y), err
	case e.X.Type() == sema.Int && e.Y.Type() == sema.Int:
		if f := compareConst(e); f != nil {
			return f, nil
		}
		x, y, err := pair(m.intClosure, e.X, e.Y)
		return compareInts(e.Op, x, y), err
	default:
		x, y, err := pair(m.floatClosure, e.X, e.Y)
		compare := compareNumbers(e.Op, x, y)
		if err != nil || m.floats.Decide(e) {
			return compare, err
		}
		if m.floats.ErrorDecides(e) {
			slack, equal := m.floats.OperandError(e), sema.Holds(e.Op, 0)
			return func(env *env) bool {
				a, b := x(env), y(env)
				if math.Abs(a-b) <= slack {
					return equal
				}
				return sema.Holds(e.Op, cmp.Compare(a, b))
			}, nil
		}
		mayBeWrong, exactValue, err := m.exactFallback(e)
		return func(env *env) bool {
			if mayBeWrong(env) {
				return exactValue(env).Bool
			}
			return compare(env)
		}, err
	}
}

// connective compiles a chain of & or |. The closure evaluates the operands from left to right and stops at the first one that
// decides the result.
func (m *exprCompiler) connective(e *sema.Binary) (boolClosure, error) {
	var operands []boolClosure
	for _, x := range m.operandChain(e.Y, e.Op, m.operandChain(e.X, e.Op, nil)) {
		f, err := m.boolClosure(x)
		if err != nil {
			return nil, err
		}
		operands = append(operands, f)
	}
	decisive := e.Op == syntax.OpOr
	return func(env *env) bool {
		for _, f := range operands {
			if f(env) == decisive {
				return decisive
			}
		}
		return !decisive
	}, nil
}

// operandChain appends the operands of nested applications of one associative operator, from left to right.
func (m *exprCompiler) operandChain(e sema.Expr, op syntax.Op, dst []sema.Expr) []sema.Expr {
	if b, ok := e.(*sema.Binary); ok && b.Op == op && m.sharedExprs[e] == nil {
		return m.operandChain(b.Y, op, m.operandChain(b.X, op, dst))
	}
	return append(dst, e)
}

// logicalOperation returns the closure of =>, !=, = or <=> between Bools.
func logicalOperation(op syntax.Op, x, y boolClosure) boolClosure {
	switch op {
	case syntax.OpImplies:
		return func(env *env) bool { return !x(env) || y(env) }
	case syntax.OpNe:
		return func(env *env) bool { return x(env) != y(env) }
	default: // OpEq, OpIff: both sides are evaluated
		return func(env *env) bool { return x(env) == y(env) }
	}
}

// compareConst returns the closure of a comparison of an integer variable with a constant, which is the most common comparison. It
// returns nil for other operands.
func compareConst(e *sema.Binary) boolClosure {
	x, ok1 := e.X.(*sema.Var)
	y, ok2 := e.Y.(*sema.Const)
	if !ok1 || !ok2 {
		return nil
	}
	slot, c := x.Slot, y.Val.Int
	switch e.Op {
	case syntax.OpEq:
		return func(env *env) bool { return env.state[slot] == c }
	case syntax.OpNe:
		return func(env *env) bool { return env.state[slot] != c }
	case syntax.OpLt:
		return func(env *env) bool { return env.state[slot] < c }
	case syntax.OpLe:
		return func(env *env) bool { return env.state[slot] <= c }
	case syntax.OpGt:
		return func(env *env) bool { return env.state[slot] > c }
	default:
		return func(env *env) bool { return env.state[slot] >= c }
	}
}

// compareInts returns the closure of a comparison of two Ints.
func compareInts(op syntax.Op, x, y intClosure) boolClosure {
	switch op {
	case syntax.OpEq:
		return func(env *env) bool { return x(env) == y(env) }
	case syntax.OpNe:
		return func(env *env) bool { return x(env) != y(env) }
	}
	return compareOrdered(op, x, y)
}

// compareOrdered returns the closure of <, <=, > or >=.
func compareOrdered[F ~func(*env) T, T int32 | float64](op syntax.Op, x, y F) boolClosure {
	switch op {
	case syntax.OpLt:
		return func(env *env) bool { return x(env) < y(env) }
	case syntax.OpLe:
		return func(env *env) bool { return x(env) <= y(env) }
	case syntax.OpGt:
		return func(env *env) bool { return x(env) > y(env) }
	default:
		return func(env *env) bool { return x(env) >= y(env) }
	}
}

// compareNumbers returns the closure of a comparison of two float64 numbers.
func compareNumbers(op syntax.Op, x, y floatClosure) boolClosure {
	switch op {
	case syntax.OpEq:
		return func(env *env) bool { return sema.SameFloat(x(env), y(env)) }
	case syntax.OpNe:
		return func(env *env) bool { return !sema.SameFloat(x(env), y(env)) }
	}
	return compareOrdered(op, x, y)
}

// intClosure compiles a sub-expression of type Int.
func (m *exprCompiler) intClosure(e sema.Expr) (intClosure, error) {
	return compileOnce(m, e, (*exprCompiler).compileInt)
}

// compileInt is intClosure without the cache for shared sub-expressions.
func (m *exprCompiler) compileInt(e sema.Expr) (intClosure, error) {
	switch e := e.(type) {
	case *sema.Const:
		i := e.Val.Int
		return func(*env) int32 { return i }, nil
	case *sema.Var:
		slot := e.Slot
		return func(env *env) int32 { return env.state[slot] }, nil
	case *sema.Unary:
		f, err := m.intClosure(e.X)
		return func(env *env) int32 { return narrowToInt32(env, e.At, -int64(f(env))) }, err
	case *sema.Cond:
		return conditional(m, e, m.intClosure)
	case *sema.Binary:
		x, y, err := pair(m.intClosure, e.X, e.Y)
		return intArithmetic(e, x, y), err
	case *sema.Call:
		return m.intCall(e)
	}
	return nil, m.unsupportedExpr(e)
}

// narrowToInt32 converts x to an int32. It records an error if x does not fit, as in Java's checked arithmetic.
func narrowToInt32(env *env, pos syntax.Pos, x int64) int32 {
	i, err := sema.Narrow(x)
	if err != nil {
		env.fail(pos, err)
	}
	return i
}

// intArithmetic returns the closure of an arithmetic operator on Ints.
func intArithmetic(e *sema.Binary, x, y intClosure) intClosure {
	switch e.Op {
	case syntax.OpAdd:
		return func(env *env) int32 { return narrowToInt32(env, e.At, int64(x(env))+int64(y(env))) }
	case syntax.OpSub:
		return func(env *env) int32 { return narrowToInt32(env, e.At, int64(x(env))-int64(y(env))) }
	case syntax.OpMul:
		return func(env *env) int32 { return narrowToInt32(env, e.At, int64(x(env))*int64(y(env))) }
	default: // OpPow
		return checkedOperation(e.At, x, y, sema.IntPow)
	}
}

// checkedOperation returns the closure of an operator that is undefined for some operands.
func checkedOperation(pos syntax.Pos, x, y intClosure, op func(x, y int32) (int32, error)) intClosure {
	return func(env *env) int32 {
		a := x(env)
		i, err := op(a, y(env))
		if err != nil {
			env.fail(pos, err)
		}
		return i
	}
}

// intCall compiles a function call whose result is an Int. A rounding function whose float64 operand may be too inaccurate is
// evaluated exactly.
func (m *exprCompiler) intCall(e *sema.Call) (intClosure, error) {
	switch e.Func {
	case sema.FuncFloor, sema.FuncCeil, sema.FuncRound:
		f, err := m.floatClosure(e.Args[0])
		if err != nil || m.floats.Decide(e) {
			return func(env *env) int32 { return toInt(env, e, f(env)) }, err
		}
		if m.floats.ErrorDecides(e) {
			offset := roundingShift(e, m.floats.OperandError(e))
			return func(env *env) int32 { return toInt(env, e, f(env)+offset) }, nil
		}
		mayBeWrong, exactValue, err := m.exactFallback(e)
		return func(env *env) int32 {
			if mayBeWrong(env) {
				return exactValue(env).Int
			}
			return toInt(env, e, f(env))
		}, err
	}
	args := make([]intClosure, len(e.Args))
	for i, a := range e.Args {
		f, err := m.intClosure(a)
		if err != nil {
			return nil, err
		}
		args[i] = f
	}
	switch e.Func {
	case sema.FuncMin:
		return foldArgs(args, func(x, y int32) int32 { return min(x, y) }), nil
	case sema.FuncMax:
		return foldArgs(args, func(x, y int32) int32 { return max(x, y) }), nil
	case sema.FuncMod:
		return checkedOperation(e.At, args[0], args[1], sema.Mod), nil
	case sema.FuncPow:
		return checkedOperation(e.At, args[0], args[1], sema.IntPow), nil
	}
	return nil, m.unsupportedExpr(e)
}

// foldArgs returns a closure that combines all arguments with a binary operator, from left to right.
func foldArgs[T any, F ~func(*env) T](args []F, op func(x, y T) T) F {
	return func(env *env) T {
		x := args[0](env)
		for _, f := range args[1:] {
			x = op(x, f(env))
		}
		return x
	}
}

// toInt computes floor, ceil or round of x.
func toInt(env *env, e *sema.Call, x float64) int32 {
	i, err := e.Func.ToInt(x)
	if err != nil {
		env.fail(e.At, err)
	}
	return i
}

// roundingShift returns the number to add to the operand of floor, ceil or round before rounding. The float64 operand has an error
// of at most slack. A value that is an integer within the error then rounds to that integer.
func roundingShift(e *sema.Call, slack float64) float64 {
	if e.Func == sema.FuncCeil {
		return -slack
	}
	return slack
}

// floatClosure compiles a sub-expression of type Int or Double. The closure returns a float64.
func (m *exprCompiler) floatClosure(e sema.Expr) (floatClosure, error) {
	if e.Type() == sema.Int {
		f, err := m.intClosure(e)
		return func(env *env) float64 { return float64(f(env)) }, err
	}
	return compileOnce(m, e, (*exprCompiler).compileFloat)
}

// compileFloat is floatClosure without the cache for shared sub-expressions.
func (m *exprCompiler) compileFloat(e sema.Expr) (floatClosure, error) {
	switch e := e.(type) {
	case *sema.Const:
		x := e.Val.Float
		return func(*env) float64 { return x }, nil
	case *sema.Unary:
		f, err := m.floatClosure(e.X)
		return func(env *env) float64 { return -f(env) }, err
	case *sema.Cond:
		return conditional(m, e, m.floatClosure)
	case *sema.Binary:
		x, y, err := pair(m.floatClosure, e.X, e.Y)
		return arithmetic(e.Op, x, y), err
	case *sema.Call:
		return m.numCall(e)
	}
	return nil, m.unsupportedExpr(e)
}

// arithmetic returns the closure of an arithmetic operator on float64 numbers.
func arithmetic(op syntax.Op, x, y floatClosure) floatClosure {
	switch op {
	case syntax.OpAdd:
		return func(env *env) float64 { return x(env) + y(env) }
	case syntax.OpSub:
		return func(env *env) float64 { return x(env) - y(env) }
	case syntax.OpMul:
		// The conversion forbids fusing the product into a caller's sum.
		return func(env *env) float64 { return float64(x(env) * y(env)) }
	case syntax.OpDiv:
		return func(env *env) float64 { return x(env) / y(env) }
	default: // OpPow
		return func(env *env) float64 { return sema.Pow(x(env), y(env)) }
	}
}

// numCall compiles a function call whose result is a float64.
func (m *exprCompiler) numCall(e *sema.Call) (floatClosure, error) {
	args := make([]floatClosure, len(e.Args))
	for i, a := range e.Args {
		f, err := m.floatClosure(a)
		if err != nil {
			return nil, err
		}
		args[i] = f
	}
	switch e.Func {
	case sema.FuncMin:
		return foldArgs(args, func(x, y float64) float64 { return min(x, y) }), nil
	case sema.FuncMax:
		return foldArgs(args, func(x, y float64) float64 { return max(x, y) }), nil
	case sema.FuncPow:
		return foldArgs(args, sema.Pow), nil
	case sema.FuncLog:
		return foldArgs(args, sema.Log), nil
	}
	return nil, m.unsupportedExpr(e)
}
