package compile

import "context"

// HasMachines says that models can be compiled to WebAssembly code that runs here. In a browser they
// are interpreted: a WebAssembly runtime within WebAssembly would be slower.
const HasMachines = false

// noMachine returns the error for a request to compile a model in a browser.
func noMachine(m *Model) error {
	return &UnsupportedError{File: m.program.File, Msg: "models are interpreted in a browser"}
}

// NewMachine fails with an *UnsupportedError.
func (m *Model) NewMachine(context.Context, Monitor) (BatchRunner, error) { return nil, noMachine(m) }

// NewPackedMachine fails with an *UnsupportedError.
func (m *Model) NewPackedMachine(context.Context, *Packing) (PackedExpander, error) {
	return nil, noMachine(m)
}

// NewPackedLister fails with an *UnsupportedError.
func (m *Model) NewPackedLister(context.Context, *Packing) (PackedExpander, error) {
	return nil, noMachine(m)
}
