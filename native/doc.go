// Package native is the embedded engine: PRISM's language, model checking and statistical model checking without PRISM.
//
//	verdicts, err := runner.Check(ctx, native.New(), runner.Job{
//		File: "die.prism", Model: src,
//		Props: []string{"P=? [ F d=6 ]"},
//	})
//
// An [Engine] runs a plan (run.go) by one of two methods. The method of states (states.go) builds the state space of each instance of the
// model, and package check evaluates every property over it. It may explore a part of the states first (partial_states.go), reduce the
// model (reduce.go), translate clocks (digital_clocks.go), leave parameters open (param.go), and add certificates, witnesses, schedulers
// and decision trees to the answers. The method of sampling (sampling.go) draws paths.
//
// The package computes no values. It makes sure that every property and valuation has exactly one verdict, with every warning,
// whatever fails in the others.
package native
