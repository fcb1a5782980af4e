// Package bridge makes engines of PRISM and Storm: it writes a plan in the tool's
// language and switches, has a runner.Commander run the tool, and gives every
// property and valuation its verdict from the tool's output.
//
//	e := bridge.PRISM(local.New("/opt/prism/bin/prism"), bridge.Options{})
//	verdicts, err := e.Check(ctx, plan)
//
// The model and properties have been checked, so the tools get only files that the native
// engine accepts. If the tool can do it, all properties of a plan go into one run,
// because starting the tool takes most of the time. A property that a failed run
// left without an answer gets a run of its own, so one failure does not affect
// other properties. Features that a tool lacks (statistical model checking
// on Storm) are refused before it is started.
//
// Storm supports few of PRISM's properties directly. Each property is decomposed into
// queries that Storm supports, about the value in the initial states or in every
// state, and their answers are combined here by the semantics of package sema. If Storm says
// that an answer is unreliable, it is asked again with other switches.
//
// Package parse reads the tool's output, and the Commander starts the
// process.
package bridge
