package wasm

import (
	"encoding/binary"
	"slices"
)

// Func is a function under construction. Its methods append instructions.
type Func struct {
	// Index is the argument of Call that means this function.
	Index     uint32
	export    string
	valueType int
	params    int
	locals    []Type
	code      []byte
	depth     Label
}

// Label names an open block, loop or if as a target of branches.
type Label int

// local declares a local, initially zero, and returns its index.
func (f *Func) local(valueType Type) uint32 {
	f.locals = append(f.locals, valueType)
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

// If appends an if whose body, then, is executed if the condition is not zero.
func (f *Func) If(condition Operand[int32], then func()) {
	condition.Emit(f)
	f.open(ifOp, Void)
	then()
	f.End()
}

// IfElse appends an if with two branches. The first is executed if the condition is not zero, and otherwise the second. Each branch pushes a
// value of type result, or nothing if result is Void.
func (f *Func) IfElse(result Type, condition Operand[int32], then, otherwise func()) {
	condition.Emit(f)
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
func (f *Func) Br(to Label) { f.with(br, uint32(f.relativeDepth(to))) }

// BrIf branches if a condition is not zero.
func (f *Func) BrIf(to Label, condition Operand[int32]) {
	condition.Emit(f)
	f.with(brIf, uint32(f.relativeDepth(to)))
}

// BrTable appends a branch to targets[index], or to otherwise if the index is too large.
func (f *Func) BrTable(index Operand[int32], targets []Label, otherwise Label) {
	index.Emit(f)
	f.code = binary.AppendUvarint(append(f.code, byte(brTable)), uint64(len(targets)))
	for _, target := range targets {
		f.code = binary.AppendUvarint(f.code, f.relativeDepth(target))
	}
	f.code = binary.AppendUvarint(f.code, f.relativeDepth(otherwise))
}

// relativeDepth returns the immediate of a branch to a label: the number of open blocks inside the block of the label.
func (f *Func) relativeDepth(target Label) uint64 { return uint64(f.depth - target) }

// Return leaves the function with a value.
func (f *Func) Return(x interface{ Emit(f *Func) }) {
	x.Emit(f)
	f.Op(ret)
}

// body returns the body of the function in WebAssembly's binary format: the declarations of the locals, then the code. Successive locals of the
// same type have one declaration: their number and their type.
func (f *Func) body() []byte {
	var declarations []byte
	numDeclarations := 0
	for firstLocal := 0; firstLocal < len(f.locals); {
		valueType := f.locals[firstLocal]
		nextType := firstLocal + 1
		for nextType < len(f.locals) && f.locals[nextType] == valueType {
			nextType++
		}
		declarations = binary.AppendUvarint(declarations, uint64(nextType-firstLocal))
		declarations = append(declarations, byte(valueType))
		numDeclarations++
		firstLocal = nextType
	}
	body := binary.AppendUvarint(nil, uint64(numDeclarations))
	return slices.Concat(body, declarations, f.code, []byte{byte(end)})
}
