// Package runner says what it is to have properties checked: a Job describes
// the work, a Plan is a job whose files are checked, an Engine does it, and a
// result.Verdict per property and valuation of the constants is the answer.
//
//	p, err := runner.NewPlan(ctx, runner.Job{File: "die.prism", Model: src, Props: []string{"P=? [ F d=6 ]"}})
//	for _, e := range engines {
//		verdicts, err := e.Check(ctx, p)
//	}
//
// The text is read once, however many engines there are: all of them have the
// same model and properties, refuse none that another one takes, and have their
// verdicts in the same order.
//
//	for model := range p.Models() {
//		for _, task := range p.Tasks {
//			for property := range task.Valuations() { ... }
//		}
//	}
//
// A property of the file that is wrong is a Task with Rejected set, and costs
// the others nothing. The package checks no property and starts no tool. The
// embedded engine is package native; engines that start PRISM or Storm, by way
// of a Commander, are package bridge.
package runner
