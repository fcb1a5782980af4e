package wasm

import "encoding/binary"

// Func is a function under construction. Its methods append instructions.
type Func struct {
	// Index is the argument of Call that means this function.
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

// local declares a local, initially zero, and returns its index.
func (f *Func) local(typ Type) uint32 {
	f.locals = append(f.locals, typ)
	return uint32(f.params + len(f.locals) - 1)
}

// Size returns the number of bytes of code so far.
func (f *Func) Size() int { return len(f.code) }

// Op appends an instruction without immediates.
func (f *Func) Op(op Opcode) { f.code = append(f.code, byte(op)) }

// with appends an instruction with an index as its immediate.
func (f *Func) with(op Opcode, index uint32) {
	f.code = binary.AppendUvarint(append(f.code, byte(op)), uint64(index))
}

// memory appends a load or store instruction with an offset.
func (f *Func) memory(op Opcode, offset uint32) {
	f.code = binary.AppendUvarint(append(f.code, byte(op), 0), uint64(offset))
}

// Drop evaluates x for its side effects.
func (f *Func) Drop(x interface{ Emit(f *Func) }) {
	x.Emit(f)
	f.Op(drop)
}

// Open opens a block; a branch to it goes to its end.
func (f *Func) Open() Label { return f.open(block, Void) }

// Block appends a block; a branch to it goes to its end.
func (f *Func) Block(body func(end Label)) {
	body(f.Open())
	f.End()
}

// Loop appends a loop; a branch to it goes to its beginning.
func (f *Func) Loop(body func(again Label)) {
	body(f.open(loop, Void))
	f.End()
}

// If appends statements that are executed if a condition is not zero.
func (f *Func) If(cond Operand[int32], then func()) {
	cond.Emit(f)
	f.open(ifOp, Void)
	then()
	f.End()
}

// IfElse appends statements that are executed if a condition is not zero, and others for zero. Both push
// a value of type result, unless that is Void.
func (f *Func) IfElse(result Type, cond Operand[int32], then, otherwise func()) {
	cond.Emit(f)
	f.open(ifOp, result)
	then()
	f.Op(elseOp)
	otherwise()
	f.End()
}

// open opens a block, loop or if, and returns its label.
func (f *Func) open(op Opcode, result Type) Label {
	f.code = append(f.code, byte(op), byte(result))
	f.depth++
	return f.depth
}

// End closes the innermost block.
func (f *Func) End() {
	f.Op(end)
	f.depth--
}

// Br branches to a label.
func (f *Func) Br(to Label) { f.with(br, uint32(f.depth-to)) }

// BrIf branches if a condition is not zero.
func (f *Func) BrIf(to Label, cond Operand[int32]) {
	cond.Emit(f)
	f.with(brIf, uint32(f.depth-to))
}

// BrTable branches to to[index], or to otherwise if the index is too large.
func (f *Func) BrTable(index Operand[int32], to []Label, otherwise Label) {
	index.Emit(f)
	f.code = binary.AppendUvarint(append(f.code, byte(brTable)), uint64(len(to)))
	for _, label := range to {
		f.code = binary.AppendUvarint(f.code, uint64(f.depth-label))
	}
	f.code = binary.AppendUvarint(f.code, uint64(f.depth-otherwise))
}

// Return leaves the function with a value.
func (f *Func) Return(x interface{ Emit(f *Func) }) {
	x.Emit(f)
	f.Op(ret)
}

// body returns the declarations of the locals, grouped by type, followed by the code.
func (f *Func) body() []byte {
	var out []byte
	var runs int
	for i, typ := range f.locals {
		if i == 0 || f.locals[i-1] != typ {
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
	return append(append(out, f.code...), byte(end))
}
