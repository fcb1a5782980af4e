// Package wasm writes WebAssembly binaries: as much of the format as package
// compile needs to emit one module of numeric functions, globals and a memory.
// It validates nothing and reads nothing.
//
//	var m wasm.Module
//	f := m.Func("add", []wasm.Type{wasm.I32, wasm.I32}, []wasm.Type{wasm.I32})
//	f.Get(0)
//	f.Get(1)
//	f.Op(wasm.I32Add)
//	bin := m.Bytes()
//
// Source: WebAssembly Core Specification 2.0, section 5 (binary format).
package wasm
