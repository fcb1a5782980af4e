package wasm

// Opcode is an instruction.
type Opcode byte

const (
	block     Opcode = 0x02
	loop      Opcode = 0x03
	ifOp      Opcode = 0x04
	elseOp    Opcode = 0x05
	br        Opcode = 0x0c
	brIf      Opcode = 0x0d
	brTable   Opcode = 0x0e
	call      Opcode = 0x10
	localGet  Opcode = 0x20
	localSet  Opcode = 0x21
	localTee  Opcode = 0x22
	globalGet Opcode = 0x23
	globalSet Opcode = 0x24
	end       Opcode = 0x0b
	ret       Opcode = 0x0f
	drop      Opcode = 0x1a
	selectOp  Opcode = 0x1b

	i32Load  Opcode = 0x28
	i64Load  Opcode = 0x29
	f64Load  Opcode = 0x2b
	i32Store Opcode = 0x36
	i64Store Opcode = 0x37
	f64Store Opcode = 0x39

	i32Const Opcode = 0x41
	i64Const Opcode = 0x42
	f64Const Opcode = 0x44
)

// The instructions that package compile uses, by their names in the text format.
const (
	Unreachable Opcode = 0x00

	I32Eqz Opcode = 0x45
	I32Eq  Opcode = 0x46
	I32Ne  Opcode = 0x47
	I32LtS Opcode = 0x48
	I32LtU Opcode = 0x49
	I32GtS Opcode = 0x4a
	I32GtU Opcode = 0x4b
	I32LeS Opcode = 0x4c
	I32GeS Opcode = 0x4e
	I32GeU Opcode = 0x4f
	I64Eqz Opcode = 0x50
	I64Eq  Opcode = 0x51
	I64Ne  Opcode = 0x52
	I64LtS Opcode = 0x53
	I64LtU Opcode = 0x54
	I64GtS Opcode = 0x55
	I64LeS Opcode = 0x57
	I64GeS Opcode = 0x59
	I64GeU Opcode = 0x5a
	F64Eq  Opcode = 0x61
	F64Ne  Opcode = 0x62
	F64Lt  Opcode = 0x63
	F64Gt  Opcode = 0x64
	F64Le  Opcode = 0x65
	F64Ge  Opcode = 0x66

	I32Add    Opcode = 0x6a
	I32Sub    Opcode = 0x6b
	I32Mul    Opcode = 0x6c
	I32RemS   Opcode = 0x6f
	I32RemU   Opcode = 0x70
	I32And    Opcode = 0x71
	I32Or     Opcode = 0x72
	I32Xor    Opcode = 0x73
	I32Shl    Opcode = 0x74
	I32ShrU   Opcode = 0x76
	I64Ctz    Opcode = 0x7a
	I64Popcnt Opcode = 0x7b
	I64Add    Opcode = 0x7c
	I64Sub    Opcode = 0x7d
	I64Mul    Opcode = 0x7e
	I64And    Opcode = 0x83
	I64Or     Opcode = 0x84
	I64Xor    Opcode = 0x85
	I64Shl    Opcode = 0x86
	I64ShrU   Opcode = 0x88
	I64Rotl   Opcode = 0x89

	F64Ceil  Opcode = 0x9b
	F64Floor Opcode = 0x9c
	F64Neg   Opcode = 0x9a
	F64Add   Opcode = 0xa0
	F64Sub   Opcode = 0xa1
	F64Mul   Opcode = 0xa2
	F64Div   Opcode = 0xa3
	F64Min   Opcode = 0xa4
	F64Max   Opcode = 0xa5

	I32WrapI64        Opcode = 0xa7
	I32TruncF64S      Opcode = 0xaa
	I64ExtendI32S     Opcode = 0xac
	I64ExtendI32U     Opcode = 0xad
	F64ConvertI32S    Opcode = 0xb7
	F64ConvertI64S    Opcode = 0xb9
	I64ReinterpretF64 Opcode = 0xbd
	F64ReinterpretI64 Opcode = 0xbf
)
