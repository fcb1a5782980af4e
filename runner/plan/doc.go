// Package plan turns a runner.Job into what an engine has to do: a checked
// model, the properties to check, and the valuations of the constants. Engines
// share it, so that all of them refuse the same files for the same reasons and
// have their verdicts in the same order.
//
//	p, err := plan.New(&job)
//	for model := range p.Models() {
//		for _, task := range p.Tasks {
//			for property := range task.Valuations() { ... }
//		}
//	}
//
// A property of the file that is wrong is a Task with Rejected set, and costs
// the others nothing. The package checks no property.
package plan
