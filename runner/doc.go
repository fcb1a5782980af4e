// Package runner says what it is to have properties checked: a Job describes
// the work, an Engine does it, and a result.Verdict per property and valuation
// of the constants is the answer.
//
//	var e runner.Engine = native.New()
//	verdicts, err := e.Check(ctx, runner.Job{File: "die.prism", Model: src, Props: []string{"P=? [ F d=6 ]"}})
//
// The package holds the interface only. The embedded engine is package native;
// engines that start PRISM or Storm implement the same interface.
package runner
