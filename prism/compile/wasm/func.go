package wasm

import "encoding/binary"

// Func is a function under construction. Its methods append instructions.
type Func struct {
	// Index is what Call takes.
	Index  uint32
	export string
	typ    int
	params int
	locals []Type
	code   []byte
	depth  Label
}

// Label names an open block, loop or if as a target of branches.
type Label int

// Local declares a local, initially zero, and returns its index.
func (f *Func) Local(t Type) uint32 {
	f.locals = append(f.locals, t)
	return uint32(f.params + len(f.locals) - 1)
}

// Size returns the number of bytes of code so far.
func (f *Func) Size() int { return len(f.code) }

// Op appends instructions without immediates.
func (f *Func) Op(ops ...Opcode) {
	for _, op := range ops {
		f.code = append(f.code, byte(op))
	}
}

// I32 pushes a constant.
func (f *Func) I32(x int32) { f.code = appendSigned(append(f.code, byte(I32Const)), int64(x)) }

// I64 pushes a constant.
func (f *Func) I64(x int64) { f.code = appendSigned(append(f.code, byte(I64Const)), x) }

// F64 pushes a constant.
func (f *Func) F64(x float64) { f.code = appendFloat(append(f.code, byte(F64Const)), x) }

func (f *Func) with(op Opcode, index uint32) {
	f.code = binary.AppendUvarint(append(f.code, byte(op)), uint64(index))
}

// Get pushes a local.
func (f *Func) Get(local uint32) { f.with(localGet, local) }

// Set pops into a local.
func (f *Func) Set(local uint32) { f.with(localSet, local) }

// Tee copies the top of the stack into a local.
func (f *Func) Tee(local uint32) { f.with(localTee, local) }

// GetGlobal pushes a global.
func (f *Func) GetGlobal(global uint32) { f.with(globalGet, global) }

// SetGlobal pops into a global.
func (f *Func) SetGlobal(global uint32) { f.with(globalSet, global) }

// Call calls the function with the given index.
func (f *Func) Call(index uint32) { f.with(call, index) }

// Load pops an address and pushes what is at address+offset; op is one of the
// load opcodes.
func (f *Func) Load(op Opcode, offset uint32) {
	f.code = binary.AppendUvarint(append(f.code, byte(op), 0), uint64(offset))
}

// Store pops a value and an address and stores the value at address+offset.
func (f *Func) Store(op Opcode, offset uint32) { f.Load(op, offset) }

// Block opens a block; a branch to it goes to its end.
func (f *Func) Block(result Type) Label { return f.open(block, result) }

// Loop opens a loop; a branch to it goes to its beginning.
func (f *Func) Loop() Label { return f.open(loop, Void) }

// If pops a condition and opens its first arm; a branch to it goes to the end.
func (f *Func) If(result Type) Label { return f.open(ifOp, result) }

func (f *Func) open(op Opcode, result Type) Label {
	f.code = append(f.code, byte(op), byte(result))
	f.depth++
	return f.depth
}

// Else begins the second arm of the innermost if.
func (f *Func) Else() { f.code = append(f.code, byte(elseOp)) }

// End closes the innermost block, loop or if.
func (f *Func) End() {
	f.code = append(f.code, byte(End))
	f.depth--
}

// Br branches to a label.
func (f *Func) Br(to Label) { f.with(br, uint32(f.depth-to)) }

// BrIf pops a condition and branches if it is not zero.
func (f *Func) BrIf(to Label) { f.with(brIf, uint32(f.depth-to)) }

// BrTable pops an index and branches to that label, or to the last one for any
// other index.
func (f *Func) BrTable(to []Label, otherwise Label) {
	f.code = binary.AppendUvarint(append(f.code, byte(brTable)), uint64(len(to)))
	for _, l := range to {
		f.code = binary.AppendUvarint(f.code, uint64(f.depth-l))
	}
	f.code = binary.AppendUvarint(f.code, uint64(f.depth-otherwise))
}

func (f *Func) body() []byte {
	var out []byte
	var runs int
	for i, t := range f.locals {
		if i == 0 || f.locals[i-1] != t {
			runs++
		}
	}
	out = binary.AppendUvarint(out, uint64(runs))
	for i := 0; i < len(f.locals); {
		j := i
		for j < len(f.locals) && f.locals[j] == f.locals[i] {
			j++
		}
		out = binary.AppendUvarint(out, uint64(j-i))
		out = append(out, byte(f.locals[i]))
		i = j
	}
	return append(append(out, f.code...), byte(End))
}
