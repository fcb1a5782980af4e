// Package native is the embedded engine: PRISM's language, model checking and
// statistical model checking without PRISM.
//
//	verdicts, err := runner.Check(ctx, native.New(), runner.Job{
//		File: "die.prism", Model: src,
//		Props: []string{"P=? [ F d=6 ]"},
//	})
//
// It wires the packages below it: compile makes each instance of a plan's model
// executable once, and then either explicit builds its state space once and
// check evaluates every property over it, which is the default, or simulate
// samples paths for every property. The package decides nothing about numbers;
// it sees to it that every property and valuation has exactly one verdict, with
// every warning, whatever goes wrong with the others.
package native
