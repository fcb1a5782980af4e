// Package bridge makes PRISM and Storm engines: it writes a plan in the tool's
// language and switches, has a runner.Commander run the tool, and gives every
// property and valuation the verdict that the tool's output has for it.
//
//	e := bridge.PRISM(local.New("/opt/prism/bin/prism"), bridge.Options{})
//	verdicts, err := e.Check(ctx, plan)
//
// The files have been checked, so that the tools see none that the embedded
// engine refuses. All properties of a plan go into one run where the tool
// can do that, because starting it is what costs; a property that a failed run
// left without an answer gets a run of its own, so that one failure costs no
// other property its result. What a tool cannot do (statistical model checking
// on Storm) is refused by name before it is started.
//
// Storm knows few of PRISM's properties as they are. Each is taken apart into
// questions that it knows, asked for the value in the initial states or in every
// state, and put together here by the semantics of package sema. Where Storm says
// itself that an answer is not to be trusted, it is asked in another way.
//
// The package does not read output, which package parse does, and starts no
// process, which the Commander does.
package bridge
