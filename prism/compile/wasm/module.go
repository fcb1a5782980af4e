package wasm

import (
	"encoding/binary"
	"math"
)

// Type is a value type.
type Type byte

// The value types. Void is the type of a block without a result.
const (
	I32  Type = 0x7f
	I64  Type = 0x7e
	F64  Type = 0x7c
	Void Type = 0x40
)

// Module is a module under construction; the zero value is empty and ready.
// All imports come before the first function.
type Module struct {
	types   []byte
	ntypes  int
	imports []byte
	nimport int
	funcs   []*Func
	globals []byte
	nglobal int
	pages   uint32
	data    []byte
	ndata   int
}

// Import adds an imported function and returns its index.
func (m *Module) Import(module, name string, params, results []Type) uint32 {
	m.imports = appendName(appendName(m.imports, module), name)
	m.imports = append(m.imports, 0)
	m.imports = binary.AppendUvarint(m.imports, uint64(m.addType(params, results)))
	m.nimport++
	return uint32(m.nimport - 1)
}

// Func adds a function. It is exported under the name export, unless that is empty.
func (m *Module) Func(export string, params, results []Type) *Func {
	f := &Func{
		Index:  uint32(m.nimport + len(m.funcs)),
		export: export, typ: m.addType(params, results), params: len(params),
	}
	m.funcs = append(m.funcs, f)
	return f
}

// addType adds a function type and returns its index.
func (m *Module) addType(params, results []Type) int {
	m.types = append(m.types, 0x60)
	m.types = appendTypes(appendTypes(m.types, params), results)
	m.ntypes++
	return m.ntypes - 1
}

// global adds a mutable global, initially zero, and returns its index.
func (m *Module) global(typ Type) uint32 {
	m.globals = append(m.globals, byte(typ), 1)
	switch typ {
	case F64:
		m.globals = append(m.globals, byte(f64Const), 0, 0, 0, 0, 0, 0, 0, 0)
	case I64:
		m.globals = append(m.globals, byte(i64Const), 0)
	default:
		m.globals = append(m.globals, byte(i32Const), 0)
	}
	m.globals = append(m.globals, byte(end))
	m.nglobal++
	return uint32(m.nglobal - 1)
}

// Memory gives the module a memory with the given number of pages of 64 KiB, exported as "memory".
func (m *Module) Memory(pages uint32) { m.pages = pages }

// Data sets the initial contents of the memory at an offset.
func (m *Module) Data(offset int32, b []byte) {
	m.data = append(m.data, 0, byte(i32Const))
	m.data = appendSigned(m.data, int64(offset))
	m.data = append(m.data, byte(end))
	m.data = binary.AppendUvarint(m.data, uint64(len(b)))
	m.data = append(m.data, b...)
	m.ndata++
}

// Bytes returns the module in WebAssembly's binary format.
func (m *Module) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = appendSection(out, 1, m.ntypes, m.types)
	out = appendSection(out, 2, m.nimport, m.imports)
	var funcs, exports, code []byte
	nexport := 0
	for _, f := range m.funcs {
		funcs = binary.AppendUvarint(funcs, uint64(f.typ))
		code = appendBytes(code, f.body())
		if f.export != "" {
			exports = append(appendName(exports, f.export), 0)
			exports = binary.AppendUvarint(exports, uint64(f.Index))
			nexport++
		}
	}
	out = appendSection(out, 3, len(m.funcs), funcs)
	if m.pages > 0 {
		out = appendSection(out, 5, 1, binary.AppendUvarint([]byte{0}, uint64(m.pages)))
		exports = append(appendName(exports, "memory"), 2, 0)
		nexport++
	}
	out = appendSection(out, 6, m.nglobal, m.globals)
	out = appendSection(out, 7, nexport, exports)
	out = appendSection(out, 10, len(m.funcs), code)
	return appendSection(out, 11, m.ndata, m.data)
}

// appendSection appends a section with n entries, unless it is empty.
func appendSection(out []byte, id byte, n int, content []byte) []byte {
	if n == 0 {
		return out
	}
	return appendBytes(append(out, id), append(binary.AppendUvarint(nil, uint64(n)), content...))
}

// appendBytes appends the length of b, and b.
func appendBytes(out, b []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

// appendName appends a name with its length.
func appendName(out []byte, s string) []byte { return appendBytes(out, []byte(s)) }

// appendTypes appends a list of value types with its length.
func appendTypes(out []byte, ts []Type) []byte {
	out = binary.AppendUvarint(out, uint64(len(ts)))
	for _, typ := range ts {
		out = append(out, byte(typ))
	}
	return out
}

// appendSigned appends a value in signed LEB128.
func appendSigned(out []byte, value int64) []byte {
	for {
		b := byte(value & 0x7f)
		value >>= 7
		if value == 0 && b&0x40 == 0 || value == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

// appendFloat appends the bits of a float64.
func appendFloat(out []byte, number float64) []byte {
	return binary.LittleEndian.AppendUint64(out, math.Float64bits(number))
}
