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
	// The contents of sections, with the number of their entries.
	types      []byte
	numTypes   int
	imports    []byte
	numImports int
	globals    []byte
	numGlobals int
	data       []byte
	numData    int

	funcs []*Func
	pages uint32 // of the memory
}

// The sections of a module, by their numbers in the binary format.
const (
	typeSection     = 1
	importSection   = 2
	functionSection = 3
	memorySection   = 5
	globalSection   = 6
	exportSection   = 7
	codeSection     = 10
	dataSection     = 11
)

// The kinds of exports.
const (
	functionExport = 0
	memoryExport   = 2
)

// Import adds an imported function to the module and returns the index of the function.
func (m *Module) Import(module, name string, params, results []Type) uint32 {
	m.imports = appendName(appendName(m.imports, module), name)
	const functionImport = 0
	m.imports = append(m.imports, functionImport)
	m.imports = binary.AppendUvarint(m.imports, uint64(m.addType(params, results)))
	m.numImports++
	return uint32(m.numImports - 1)
}

// Func adds a function to the module and returns it. The function is exported under the name export, unless the name is empty.
func (m *Module) Func(export string, params, results []Type) *Func {
	f := &Func{
		Index:  uint32(m.numImports + len(m.funcs)),
		export: export, valueType: m.addType(params, results), params: len(params),
	}
	m.funcs = append(m.funcs, f)
	return f
}

// addType adds a function type and returns its index.
func (m *Module) addType(params, results []Type) int {
	const functionType = 0x60
	m.types = append(m.types, functionType)
	m.types = appendTypes(appendTypes(m.types, params), results)
	m.numTypes++
	return m.numTypes - 1
}

// global adds a mutable global variable, initially zero, and returns its index. The entry of the global section has the type, the mutability, and
// an expression for the initial value.
func (m *Module) global(valueType Type) uint32 {
	const mutable = 1
	m.globals = append(m.globals, byte(valueType), mutable)
	switch valueType {
	case F64:
		m.globals = append(m.globals, byte(f64Const), 0, 0, 0, 0, 0, 0, 0, 0)
	case I64:
		m.globals = append(m.globals, byte(i64Const), 0)
	default:
		m.globals = append(m.globals, byte(i32Const), 0)
	}
	m.globals = append(m.globals, byte(end))
	m.numGlobals++
	return uint32(m.numGlobals - 1)
}

// Memory gives the module a memory with the given number of pages of 64 KiB, exported as "memory".
func (m *Module) Memory(pages uint32) { m.pages = pages }

// Data sets the initial contents of the module's memory from an offset on.
func (m *Module) Data(offset int32, contents []byte) {
	const activeSegment = 0 // it is copied to the memory when the module is instantiated
	m.data = append(m.data, activeSegment, byte(i32Const))
	m.data = appendSigned(m.data, int64(offset))
	m.data = append(m.data, byte(end))
	m.data = appendBytes(m.data, contents)
	m.numData++
}

// Bytes returns the module in WebAssembly's binary format: a header with the version of the format, and the sections in the order of their
// numbers.
func (m *Module) Bytes() []byte {
	encoded := []byte("\x00asm\x01\x00\x00\x00")
	encoded = appendSection(encoded, typeSection, m.numTypes, m.types)
	encoded = appendSection(encoded, importSection, m.numImports, m.imports)
	var functionTypes, code []byte
	for _, function := range m.funcs {
		functionTypes = binary.AppendUvarint(functionTypes, uint64(function.valueType))
		code = appendBytes(code, function.body())
	}
	encoded = appendSection(encoded, functionSection, len(m.funcs), functionTypes)
	if m.pages > 0 {
		noMaximum := []byte{0}
		encoded = appendSection(encoded, memorySection, 1, binary.AppendUvarint(noMaximum, uint64(m.pages)))
	}
	encoded = appendSection(encoded, globalSection, m.numGlobals, m.globals)
	exports, numExports := m.exports()
	encoded = appendSection(encoded, exportSection, numExports, exports)
	encoded = appendSection(encoded, codeSection, len(m.funcs), code)
	return appendSection(encoded, dataSection, m.numData, m.data)
}

// exports returns the contents of the export section: the exported functions, and the memory if there is one.
func (m *Module) exports() (exports []byte, numExports int) {
	for _, function := range m.funcs {
		if function.export == "" {
			continue
		}
		exports = append(appendName(exports, function.export), functionExport)
		exports = binary.AppendUvarint(exports, uint64(function.Index))
		numExports++
	}
	if m.pages > 0 {
		exports = append(appendName(exports, "memory"), memoryExport, 0)
		numExports++
	}
	return exports, numExports
}

// appendSection appends a section with the given number of entries, unless it is empty.
func appendSection(out []byte, section byte, numEntries int, entries []byte) []byte {
	if numEntries == 0 {
		return out
	}
	content := append(binary.AppendUvarint(nil, uint64(numEntries)), entries...)
	return appendBytes(append(out, section), content)
}

// appendBytes appends the length of b, and b.
func appendBytes(out, b []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

// appendName appends a name with its length.
func appendName(out []byte, s string) []byte { return appendBytes(out, []byte(s)) }

// appendTypes appends a list of value types with its length.
func appendTypes(out []byte, types []Type) []byte {
	out = binary.AppendUvarint(out, uint64(len(types)))
	for _, valueType := range types {
		out = append(out, byte(valueType))
	}
	return out
}

// appendSigned appends a value in signed LEB128: 7 bits in each byte, the lowest first. Bit 7 of a byte says that more bytes follow; bit
// 6 of the last byte is the sign.
func appendSigned(encoded []byte, value int64) []byte {
	for {
		lowBits := byte(value & 0x7f)
		value >>= 7
		isNegative := lowBits&0x40 != 0 // if this is the last byte
		isLast := value == 0 && !isNegative || value == -1 && isNegative
		if isLast {
			return append(encoded, lowBits)
		}
		encoded = append(encoded, lowBits|0x80)
	}
}

// appendFloat appends the bits of a float64.
func appendFloat(out []byte, number float64) []byte {
	return binary.LittleEndian.AppendUint64(out, math.Float64bits(number))
}
