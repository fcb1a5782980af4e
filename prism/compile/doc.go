// Package compile makes a resolved PRISM program executable.
//
//	m, err := compile.Compile(prog, compile.Options{})
//	x := m.NewExpander()
//	choices, err := x.Expand(state)         // every choice of one state
//	y, err := m.NewPackedMachine(ctx, p)    // the same for many packed states
//	r, err := m.NewRunner(ctx, monitor)     // whole random paths
//	out := r.Run(compile.NewStream(seed, i))
//
// There are two implementations of the same semantics. The interpreter is the reference:
// closures over the expressions, an Expander that lists the choices of a state
// in the order of PRISM's explicit engine, and a path runner on top of it. The
// machine compiles the model and one monitor to a WebAssembly function that
// runs whole paths. Both draw from the same Stream in the same order, so that
// their outcomes are equal bit for bit. A path on which the machine finds an
// error of the model is repeated by the interpreter, which reports the error. A
// PackedExpander lists the choices of many states, in either way.
//
// The package does not build state spaces and does not estimate anything. It does
// not decide how nondeterminism is resolved.
package compile
