package compile

import (
	"cmp"
	"fmt"
	"math"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// env is the environment in which an expression is evaluated. A failing operation records the first error and returns an
// arbitrary value; the caller of the evaluation checks err afterwards.
type env struct {
	state []int32
	err   *evalError
	cells []cell // values of shared sub-expressions
	since int    // number of the evaluation; cells of earlier ones are out of date
}

type evalError struct {
	pos       syntax.Pos
	msg       string
	undecided bool
}

func (e *env) fail(pos syntax.Pos, err error) {
	if e.err == nil {
		e.err = &evalError{pos: pos, msg: err.Error()}
	}
}

type (
	boolFn func(*env) bool
	intFn  func(*env) int32
	numFn  func(*env) float64
)

func (m *Model) refuse(e sema.Expr) error {
	return &UnsupportedError{m.prog.File, e.Pos(), fmt.Sprintf("a %s is no expression over one state (%T)", e.Type(), e)}
}

// value compiles an Int or a Bool; a Bool is 0 or 1.
func (m *Model) value(e sema.Expr) (intFn, error) {
	if e.Type() != sema.Bool {
		return compiled(m, e, (*maker).integer)
	}
	f, err := m.boolean(e)
	return func(v *env) int32 {
		if f(v) {
			return 1
		}
		return 0
	}, err
}

// boolean compiles an expression of type Bool.
func (m *Model) boolean(e sema.Expr) (boolFn, error) { return compiled(m, e, (*maker).boolean) }

// number compiles an expression of type Int or Double to a float64.
func (m *Model) number(e sema.Expr) (numFn, error) { return compiled(m, e, (*maker).number) }

// maker compiles one expression to closures.
type maker struct {
	*Model
	shared map[sema.Expr]*shared // sub-expressions that occur in several places
}

// shared is a sub-expression that is compiled once, and evaluated at most once per evaluation.
type shared struct {
	cell int // index into env.cells
	made any // the closure; nil before it is compiled
}

// cell has the value of a shared expression.
type cell struct {
	since int // env.since when the value was computed
	value any
}

// compiled compiles a whole expression, one that is not part of another.
func compiled[F ~func(*env) T, T any](m *Model, e sema.Expr, compile func(*maker, sema.Expr) (F, error)) (F, error) {
	mk := m.maker(e)
	f, err := compile(mk, e)
	if err != nil || len(mk.shared) == 0 {
		return f, err
	}
	return func(v *env) T {
		v.since++
		for len(v.cells) < len(mk.shared) {
			v.cells = append(v.cells, cell{})
		}
		return f(v)
	}, nil
}

func (m *Model) maker(e sema.Expr) *maker {
	mk := &maker{Model: m}
	for x := range sema.Repeated(e, sema.Large, m.operands) {
		if mk.shared == nil {
			mk.shared = make(map[sema.Expr]*shared)
		}
		mk.shared[x] = &shared{cell: len(mk.shared)}
	}
	return mk
}

// operands calls visit for the operands of an expression, and for the expression of a label.
func (m *Model) operands(e sema.Expr, visit func(sema.Expr)) {
	if l, ok := e.(*sema.Label); ok {
		if x, err := m.labelExpr(l); err == nil {
			visit(x)
		}
		return
	}
	sema.Operands(e, visit)
}

// once compiles an expression; a shared one is wrapped so that it is evaluated only once.
func once[F ~func(*env) T, T any](m *maker, e sema.Expr, compile func(*maker, sema.Expr) (F, error)) (F, error) {
	s := m.shared[e]
	if s == nil {
		return compile(m, e)
	}
	if f, ok := s.made.(F); ok {
		return f, nil
	}
	f, err := compile(m, e)
	if err != nil {
		return nil, err
	}
	var g F = func(v *env) T {
		c := &v.cells[s.cell]
		if c.since != v.since {
			x := f(v)
			c.since, c.value = v.since, x
			return x
		}
		return c.value.(T)
	}
	s.made = g
	return g, nil
}

func (m *maker) boolean(e sema.Expr) (boolFn, error) { return once(m, e, (*maker).newBoolean) }

func (m *maker) newBoolean(e sema.Expr) (boolFn, error) {
	switch e := e.(type) {
	case *sema.Const:
		b := e.Val.Bool
		return func(*env) bool { return b }, nil
	case *sema.Var:
		slot := e.Slot
		return func(v *env) bool { return v.state[slot] != 0 }, nil
	case *sema.Label:
		x, err := m.labelExpr(e)
		if err != nil {
			return nil, err
		}
		return m.boolean(x)
	case *sema.Unary:
		f, err := m.boolean(e.X)
		return func(v *env) bool { return !f(v) }, err
	case *sema.Cond:
		return conditional(m, e, m.boolean)
	case *sema.Binary:
		return m.boolBinary(e)
	}
	return nil, m.refuse(e)
}

// pair compiles two operands with one compiler.
func pair[F any](compile func(sema.Expr) (F, error), x, y sema.Expr) (f, g F, err error) {
	if f, err = compile(x); err != nil {
		return f, g, err
	}
	g, err = compile(y)
	return f, g, err
}

// conditional compiles ?: with the compiler of its arms.
func conditional[F ~func(*env) T, T any](m *maker, e *sema.Cond, compile func(sema.Expr) (F, error)) (F, error) {
	c, err := m.boolean(e.C)
	if err != nil {
		return nil, err
	}
	a, b, err := pair(compile, e.A, e.B)
	return func(v *env) T {
		if c(v) {
			return a(v)
		}
		return b(v)
	}, err
}

func (m *maker) boolBinary(e *sema.Binary) (boolFn, error) {
	switch {
	case e.Op == syntax.OpAnd || e.Op == syntax.OpOr:
		return m.connective(e)
	case e.X.Type() == sema.Bool:
		x, y, err := pair(m.boolean, e.X, e.Y)
		return logical(e.Op, x, y), err
	case e.X.Type() == sema.Int && e.Y.Type() == sema.Int:
		if f := compareConst(e); f != nil {
			return f, nil
		}
		x, y, err := pair(m.integer, e.X, e.Y)
		return compareInts(e.Op, x, y), err
	default:
		x, y, err := pair(m.number, e.X, e.Y)
		compare := compareNumbers(e.Op, x, y)
		if err != nil || m.doubles.Decide(e) {
			return compare, err
		}
		if m.doubles.ErrorDecides(e) {
			slack, equal := m.doubles.OperandError(e), sema.Holds(e.Op, 0)
			return func(v *env) bool {
				a, b := x(v), y(v)
				if math.Abs(a-b) <= slack {
					return equal
				}
				return sema.Holds(e.Op, cmp.Compare(a, b))
			}, nil
		}
		doubt, exactly, err := m.careful(e)
		return func(v *env) bool {
			if doubt(v) {
				return exactly(v).Bool
			}
			return compare(v)
		}, err
	}
}

// connective compiles a chain of & or |. It is evaluated from left to right, and stops at the first decisive operand.
func (m *maker) connective(e *sema.Binary) (boolFn, error) {
	var fs []boolFn
	for _, x := range m.chain(e.Y, e.Op, m.chain(e.X, e.Op, nil)) {
		f, err := m.boolean(x)
		if err != nil {
			return nil, err
		}
		fs = append(fs, f)
	}
	decisive := e.Op == syntax.OpOr
	return func(v *env) bool {
		for _, f := range fs {
			if f(v) == decisive {
				return decisive
			}
		}
		return !decisive
	}, nil
}

// chain appends the operands of a chain of one operator, from left to right.
func (m *maker) chain(e sema.Expr, op syntax.Op, dst []sema.Expr) []sema.Expr {
	if b, ok := e.(*sema.Binary); ok && b.Op == op && m.shared[e] == nil {
		return m.chain(b.Y, op, m.chain(b.X, op, dst))
	}
	return append(dst, e)
}

func logical(op syntax.Op, x, y boolFn) boolFn {
	switch op {
	case syntax.OpImplies:
		return func(v *env) bool { return !x(v) || y(v) }
	case syntax.OpNe:
		return func(v *env) bool { return x(v) != y(v) }
	default: // OpEq, OpIff: both sides are evaluated
		return func(v *env) bool { return x(v) == y(v) }
	}
}

// compareConst is compareInts for a variable and a constant, the most common operands, without the calls for them. It
// returns nil for other operands.
func compareConst(e *sema.Binary) boolFn {
	x, ok1 := e.X.(*sema.Var)
	y, ok2 := e.Y.(*sema.Const)
	if !ok1 || !ok2 {
		return nil
	}
	slot, c := x.Slot, y.Val.Int
	switch e.Op {
	case syntax.OpEq:
		return func(v *env) bool { return v.state[slot] == c }
	case syntax.OpNe:
		return func(v *env) bool { return v.state[slot] != c }
	case syntax.OpLt:
		return func(v *env) bool { return v.state[slot] < c }
	case syntax.OpLe:
		return func(v *env) bool { return v.state[slot] <= c }
	case syntax.OpGt:
		return func(v *env) bool { return v.state[slot] > c }
	default:
		return func(v *env) bool { return v.state[slot] >= c }
	}
}

func compareInts(op syntax.Op, x, y intFn) boolFn {
	switch op {
	case syntax.OpEq:
		return func(v *env) bool { return x(v) == y(v) }
	case syntax.OpNe:
		return func(v *env) bool { return x(v) != y(v) }
	}
	return order(op, x, y)
}

func order[F ~func(*env) T, T int32 | float64](op syntax.Op, x, y F) boolFn {
	switch op {
	case syntax.OpLt:
		return func(v *env) bool { return x(v) < y(v) }
	case syntax.OpLe:
		return func(v *env) bool { return x(v) <= y(v) }
	case syntax.OpGt:
		return func(v *env) bool { return x(v) > y(v) }
	default:
		return func(v *env) bool { return x(v) >= y(v) }
	}
}

func compareNumbers(op syntax.Op, x, y numFn) boolFn {
	switch op {
	case syntax.OpEq:
		return func(v *env) bool { return sema.SameFloat(x(v), y(v)) }
	case syntax.OpNe:
		return func(v *env) bool { return !sema.SameFloat(x(v), y(v)) }
	}
	return order(op, x, y)
}

// integer compiles an expression of type Int.
func (m *maker) integer(e sema.Expr) (intFn, error) { return once(m, e, (*maker).newInteger) }

func (m *maker) newInteger(e sema.Expr) (intFn, error) {
	switch e := e.(type) {
	case *sema.Const:
		i := e.Val.Int
		return func(*env) int32 { return i }, nil
	case *sema.Var:
		slot := e.Slot
		return func(v *env) int32 { return v.state[slot] }, nil
	case *sema.Unary:
		f, err := m.integer(e.X)
		return func(v *env) int32 { return narrow(v, e.At, -int64(f(v))) }, err
	case *sema.Cond:
		return conditional(m, e, m.integer)
	case *sema.Binary:
		x, y, err := pair(m.integer, e.X, e.Y)
		return intArithmetic(e, x, y), err
	case *sema.Call:
		return m.intCall(e)
	}
	return nil, m.refuse(e)
}

// narrow is Java's checked 32-bit arithmetic.
func narrow(v *env, pos syntax.Pos, x int64) int32 {
	i, err := sema.Narrow(x)
	if err != nil {
		v.fail(pos, err)
	}
	return i
}

func intArithmetic(e *sema.Binary, x, y intFn) intFn {
	switch e.Op {
	case syntax.OpAdd:
		return func(v *env) int32 { return narrow(v, e.At, int64(x(v))+int64(y(v))) }
	case syntax.OpSub:
		return func(v *env) int32 { return narrow(v, e.At, int64(x(v))-int64(y(v))) }
	case syntax.OpMul:
		return func(v *env) int32 { return narrow(v, e.At, int64(x(v))*int64(y(v))) }
	default: // OpPow
		return partial(e.At, x, y, sema.IntPow)
	}
}

// partial compiles an operator that is undefined for some operands.
func partial(pos syntax.Pos, x, y intFn, op func(x, y int32) (int32, error)) intFn {
	return func(v *env) int32 {
		a := x(v)
		i, err := op(a, y(v))
		if err != nil {
			v.fail(pos, err)
		}
		return i
	}
}

func (m *maker) intCall(e *sema.Call) (intFn, error) {
	switch e.Func {
	case sema.FuncFloor, sema.FuncCeil, sema.FuncRound:
		f, err := m.number(e.Args[0])
		if err != nil || m.doubles.Decide(e) {
			return func(v *env) int32 { return toInt(v, e, f(v)) }, err
		}
		if m.doubles.ErrorDecides(e) {
			shift := shift(e, m.doubles.OperandError(e))
			return func(v *env) int32 { return toInt(v, e, f(v)+shift) }, nil
		}
		doubt, exactly, err := m.careful(e)
		return func(v *env) int32 {
			if doubt(v) {
				return exactly(v).Int
			}
			return toInt(v, e, f(v))
		}, err
	}
	args := make([]intFn, len(e.Args))
	for i, a := range e.Args {
		f, err := m.integer(a)
		if err != nil {
			return nil, err
		}
		args[i] = f
	}
	switch e.Func {
	case sema.FuncMin:
		return fold(args, func(x, y int32) int32 { return min(x, y) }), nil
	case sema.FuncMax:
		return fold(args, func(x, y int32) int32 { return max(x, y) }), nil
	case sema.FuncMod:
		return partial(e.At, args[0], args[1], sema.Mod), nil
	case sema.FuncPow:
		return partial(e.At, args[0], args[1], sema.IntPow), nil
	}
	return nil, m.refuse(e)
}

func fold[T any, F ~func(*env) T](args []F, op func(x, y T) T) F {
	return func(v *env) T {
		x := args[0](v)
		for _, f := range args[1:] {
			x = op(x, f(v))
		}
		return x
	}
}

// toInt computes floor, ceil or round.
func toInt(v *env, e *sema.Call, x float64) int32 {
	i, err := e.Func.ToInt(x)
	if err != nil {
		v.fail(e.At, err)
	}
	return i
}

// shift returns the number that floor, ceil or round adds to a float64 with an error of at most
// slack.
func shift(e *sema.Call, slack float64) float64 {
	if e.Func == sema.FuncCeil {
		return -slack
	}
	return slack
}

// number compiles an expression of type Int or Double to a float64.
func (m *maker) number(e sema.Expr) (numFn, error) {
	if e.Type() == sema.Int {
		f, err := m.integer(e)
		return func(v *env) float64 { return float64(f(v)) }, err
	}
	return once(m, e, (*maker).newNumber)
}

func (m *maker) newNumber(e sema.Expr) (numFn, error) {
	switch e := e.(type) {
	case *sema.Const:
		x := e.Val.Float
		return func(*env) float64 { return x }, nil
	case *sema.Unary:
		f, err := m.number(e.X)
		return func(v *env) float64 { return -f(v) }, err
	case *sema.Cond:
		return conditional(m, e, m.number)
	case *sema.Binary:
		x, y, err := pair(m.number, e.X, e.Y)
		return arithmetic(e.Op, x, y), err
	case *sema.Call:
		return m.numCall(e)
	}
	return nil, m.refuse(e)
}

func arithmetic(op syntax.Op, x, y numFn) numFn {
	switch op {
	case syntax.OpAdd:
		return func(v *env) float64 { return x(v) + y(v) }
	case syntax.OpSub:
		return func(v *env) float64 { return x(v) - y(v) }
	case syntax.OpMul:
		// The conversion forbids fusing the product into a caller's sum.
		return func(v *env) float64 { return float64(x(v) * y(v)) }
	case syntax.OpDiv:
		return func(v *env) float64 { return x(v) / y(v) }
	default: // OpPow
		return func(v *env) float64 { return sema.Pow(x(v), y(v)) }
	}
}

func (m *maker) numCall(e *sema.Call) (numFn, error) {
	args := make([]numFn, len(e.Args))
	for i, a := range e.Args {
		f, err := m.number(a)
		if err != nil {
			return nil, err
		}
		args[i] = f
	}
	switch e.Func {
	case sema.FuncMin:
		return fold(args, func(x, y float64) float64 { return min(x, y) }), nil
	case sema.FuncMax:
		return fold(args, func(x, y float64) float64 { return max(x, y) }), nil
	case sema.FuncPow:
		return fold(args, sema.Pow), nil
	case sema.FuncLog:
		return fold(args, sema.Log), nil
	}
	return nil, m.refuse(e)
}
