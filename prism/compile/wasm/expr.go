package wasm

// Number is the Go type of a WebAssembly value.
type Number interface{ int32 | int64 | float64 }

// Expr is an expression: it appends the instructions that push its value.
type Expr[T Number] func(f *Func)

// Operand is an Expr or a Var.
type Operand[T Number] interface {
	// Emit pushes the value.
	Emit(f *Func)
	is(T)
}

// Emit pushes the value.
func (x Expr[T]) Emit(f *Func) { x(f) }

// is makes T part of the interface Operand, so that an operand of another type does not compile.
func (x Expr[T]) is(T) {}

// choose returns i32 if T is int32, i64 if T is int64, and f64 if T is float64. Callers pass Unreachable for a type without an instruction.
//
// This function, and the functions below that make an Expr, are not inlined. Otherwise the compiler
// would repeat them in 800 methods of Expr and Var.
//
//go:noinline
func choose[T Number, V any](i32, i64, f64 V) V {
	switch any(T(0)).(type) {
	case int32:
		return i32
	case int64:
		return i64
	}
	return f64
}

// Const returns code that pushes a constant.
//
//go:noinline
func Const[T Number](value T) Expr[T] {
	return func(f *Func) {
		switch constant := any(value).(type) {
		case int32:
			f.code = appendSigned(append(f.code, byte(i32Const)), int64(constant))
		case int64:
			f.code = appendSigned(append(f.code, byte(i64Const)), constant)
		case float64:
			f.code = appendFloat(append(f.code, byte(f64Const)), constant)
		}
	}
}

// Convert is an instruction with one operand. It is for instructions without a function here.
//
//go:noinline
func Convert[R, T Number](op Opcode, x Operand[T]) Expr[R] {
	return func(f *Func) { x.Emit(f); f.Op(op) }
}

// infix is an instruction with two operands.
//
//go:noinline
func infix[R, T Number](op Opcode, left, right Operand[T]) Expr[R] {
	return func(f *Func) { left.Emit(f); right.Emit(f); f.Op(op) }
}

// Add is x+y.
func (x Expr[T]) Add(y Operand[T]) Expr[T] { return infix[T](choose[T](I32Add, I64Add, F64Add), x, y) }

// Sub is x-y.
func (x Expr[T]) Sub(y Operand[T]) Expr[T] { return infix[T](choose[T](I32Sub, I64Sub, F64Sub), x, y) }

// Mul is x*y.
func (x Expr[T]) Mul(y Operand[T]) Expr[T] { return infix[T](choose[T](I32Mul, I64Mul, F64Mul), x, y) }

// Div is x/y of float64 numbers.
func (x Expr[T]) Div(y Operand[T]) Expr[T] {
	return infix[T](choose[T](Unreachable, Unreachable, F64Div), x, y)
}

// Rem is the remainder of x/y of integers, with the sign of x.
func (x Expr[T]) Rem(y Operand[T]) Expr[T] {
	return infix[T](choose[T](I32RemS, Unreachable, Unreachable), x, y)
}

// RemU is the remainder of x/y of unsigned integers.
func (x Expr[T]) RemU(y Operand[T]) Expr[T] {
	return infix[T](choose[T](I32RemU, Unreachable, Unreachable), x, y)
}

// Min is the smaller of two float64 numbers.
func (x Expr[T]) Min(y Operand[T]) Expr[T] {
	return infix[T](choose[T](Unreachable, Unreachable, F64Min), x, y)
}

// And is x&y of integers.
func (x Expr[T]) And(y Operand[T]) Expr[T] {
	return infix[T](choose[T](I32And, I64And, Unreachable), x, y)
}

// Or is x|y of integers.
func (x Expr[T]) Or(y Operand[T]) Expr[T] {
	return infix[T](choose[T](I32Or, I64Or, Unreachable), x, y)
}

// Xor is x^y of integers.
func (x Expr[T]) Xor(y Operand[T]) Expr[T] {
	return infix[T](choose[T](I32Xor, I64Xor, Unreachable), x, y)
}

// Shl is x<<n of integers.
func (x Expr[T]) Shl(n T) Expr[T] {
	return infix[T](choose[T](I32Shl, I64Shl, Unreachable), x, Const(n))
}

// ShrU is x>>n of unsigned integers.
func (x Expr[T]) ShrU(n T) Expr[T] {
	return infix[T](choose[T](I32ShrU, I64ShrU, Unreachable), x, Const(n))
}

// Rotl is x rotated to the left by n.
func (x Expr[T]) Rotl(n T) Expr[T] {
	return infix[T](choose[T](Unreachable, I64Rotl, Unreachable), x, Const(n))
}

// Eq is x=y.
func (x Expr[T]) Eq(y Operand[T]) Expr[int32] {
	return infix[int32](choose[T](I32Eq, I64Eq, F64Eq), x, y)
}

// Ne is x!=y.
func (x Expr[T]) Ne(y Operand[T]) Expr[int32] {
	return infix[int32](choose[T](I32Ne, I64Ne, F64Ne), x, y)
}

// Lt is x<y.
func (x Expr[T]) Lt(y Operand[T]) Expr[int32] {
	return infix[int32](choose[T](I32LtS, I64LtS, F64Lt), x, y)
}

// Le is x<=y.
func (x Expr[T]) Le(y Operand[T]) Expr[int32] {
	return infix[int32](choose[T](I32LeS, I64LeS, F64Le), x, y)
}

// Gt is x>y.
func (x Expr[T]) Gt(y Operand[T]) Expr[int32] {
	return infix[int32](choose[T](I32GtS, I64GtS, F64Gt), x, y)
}

// Ge is x>=y.
func (x Expr[T]) Ge(y Operand[T]) Expr[int32] {
	return infix[int32](choose[T](I32GeS, I64GeS, F64Ge), x, y)
}

// LtU is x<y of unsigned integers.
func (x Expr[T]) LtU(y Operand[T]) Expr[int32] {
	return infix[int32](choose[T](I32LtU, I64LtU, Unreachable), x, y)
}

// GtU is x>y of unsigned integers.
func (x Expr[T]) GtU(y Operand[T]) Expr[int32] {
	return infix[int32](choose[T](I32GtU, Unreachable, Unreachable), x, y)
}

// GeU is x>=y of unsigned integers.
func (x Expr[T]) GeU(y Operand[T]) Expr[int32] {
	return infix[int32](choose[T](I32GeU, I64GeU, Unreachable), x, y)
}

// IsZero is x=0 of an integer.
func (x Expr[T]) IsZero() Expr[int32] {
	return Convert[int32, T](choose[T](I32Eqz, I64Eqz, Unreachable), x)
}

// Wrap is the lower 32 bits of an integer.
func Wrap(x Operand[int64]) Expr[int32] { return Convert[int32](I32WrapI64, x) }

// Extend is a signed 32-bit integer as a 64-bit integer.
func Extend(x Operand[int32]) Expr[int64] { return Convert[int64](I64ExtendI32S, x) }

// ExtendU is an unsigned 32-bit integer as a 64-bit integer.
func ExtendU(x Operand[int32]) Expr[int64] { return Convert[int64](I64ExtendI32U, x) }

// Bits are the bits of a float64.
func Bits(x Operand[float64]) Expr[int64] { return Convert[int64](I64ReinterpretF64, x) }

// ToFloat64 is an integer as a float64.
func ToFloat64(x Operand[int64]) Expr[float64] { return Convert[float64](F64ConvertI64S, x) }

// Select returns code that pushes left if the condition is not zero, and right otherwise. The code evaluates left, right and the condition, in
// this order.
func Select[T Number](condition Operand[int32], left, right Operand[T]) Expr[T] {
	return func(function *Func) {
		left.Emit(function)
		right.Emit(function)
		condition.Emit(function)
		function.Op(selectOp)
	}
}

// Load is the value at address+offset.
func Load[T Number](address Operand[int32], offset uint32) Expr[T] {
	return func(f *Func) {
		address.Emit(f)
		f.memory(choose[T](i32Load, i64Load, f64Load), offset)
	}
}

// Store stores x at address+offset.
func Store[T Number](f *Func, address Operand[int32], offset uint32, x Operand[T]) {
	address.Emit(f)
	x.Emit(f)
	f.memory(choose[T](i32Store, i64Store, f64Store), offset)
}

// Call returns code that pushes the result of a function. The operands must all have the same type.
func Call[R, T Number](function uint32, operands ...Operand[T]) Expr[R] {
	return func(fn *Func) {
		for _, operand := range operands {
			operand.Emit(fn)
		}
		fn.with(call, function)
	}
}

// Var is a local, a parameter or a global. It is an expression, too.
type Var[T Number] struct {
	Expr[T]
	index  uint32
	global bool
}

// Local declares a local, initially zero.
func Local[T Number](f *Func) Var[T] { return Param[T](f.local(choose[T](I32, I64, F64))) }

// Param is a parameter of the function.
func Param[T Number](index uint32) Var[T] {
	return Var[T]{func(f *Func) { f.with(localGet, index) }, index, false}
}

// Global declares a global, initially zero.
func Global[T Number](m *Module) Var[T] {
	index := m.global(choose[T](I32, I64, F64))
	return Var[T]{func(f *Func) { f.with(globalGet, index) }, index, true}
}

// Set appends code that assigns a value to the variable.
func (v Var[T]) Set(function *Func, value Operand[T]) {
	value.Emit(function)
	if v.global {
		function.with(globalSet, v.index)
	} else {
		function.with(localSet, v.index)
	}
}

// Tee is x. It also assigns x to the local v.
func (v Var[T]) Tee(x Operand[T]) Expr[T] {
	return func(f *Func) { x.Emit(f); f.with(localTee, v.index) }
}

// InLocal evaluates x and returns a new local with its value.
func InLocal[T Number](f *Func, x Operand[T]) Var[T] {
	x.Emit(f)
	v := Local[T](f)
	f.with(localSet, v.index)
	return v
}

// Keep pushes x and keeps it in a new local.
func Keep[T Number](f *Func, x Operand[T]) Var[T] {
	x.Emit(f)
	v := Local[T](f)
	f.with(localTee, v.index)
	return v
}
