// Package load takes a model to its state space. Engines, commands and servers ask it instead of putting the stages together:
//
//	stage            function                  its options come from
//	text to plan     runner.PlanModel          Job.Model (PRISM or JANI), Dialect, Consts
//	plan to program  sema.Model.Instantiate    one valuation of Plan.Models
//	to a model       Compile                   Job.NoFixDeadlocks
//	to states        explicit.Build            Options: Job.Numeric, NoFixDeadlocks, Progress
//
// [Model] goes from a job to a compiled model, and [Space] from a plan to its states. Files of states (Job.States) enter at the last stage.
package load
