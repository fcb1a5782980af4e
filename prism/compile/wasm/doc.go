// Package wasm writes WebAssembly binaries: as much of the format as package
// compile needs to emit one module of numeric functions, globals and a memory.
// Code is written as typed expressions. The methods of Func combine expressions
// to statements. The package does not validate code and does not read binaries.
//
//	var m wasm.Module
//	f := m.Func("add", []wasm.Type{wasm.I32, wasm.I32}, []wasm.Type{wasm.I32})
//	x, y := wasm.Param[int32](0), wasm.Param[int32](1)
//	x.Add(y).Emit(f)
//	bin := m.Bytes()
//
// Source: WebAssembly Core Specification 2.0, section 5 (binary format).
package wasm
