// Package runner defines how properties are checked: a Job describes the work, a
// Plan is a job whose files are checked, and an Engine returns a result.Verdict for
// each property and valuation of the constants.
//
//	p, err := runner.NewPlan(ctx, runner.Job{File: "die.prism", Model: src, Props: []string{"P=? [ F d=6 ]"}})
//	for _, e := range engines {
//		verdicts, err := e.Check(ctx, p)
//	}
//
// The text is read once, however many engines there are. So all of them get the
// same model and the same properties, and return their verdicts in the same order.
//
//	for model := range p.Models() {
//		for _, task := range p.Tasks {
//			for property := range task.Valuations() { ... }
//		}
//	}
//
// A wrong property of the file is a Task with Rejected set; the other properties
// are still checked. The package checks no property and starts no tool. The
// embedded engine is package native. The engines of package bridge run PRISM and
// Storm with a Commander.
package runner
