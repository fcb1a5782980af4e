package simulate

import (
	"errors"

	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
)

// The program of the playground leaves out samples of stepwise objectives, because every visitor loads it.

const leftOut = "found %s, which is not sampled in the program of the playground; use the command line or method states"

// Stepwise is an objective whose paths are drawn step by step.
type Stepwise struct{}

func (builder *objectiveBuilder) setConditional(_ *Objective, path *logic.Path) {
	builder.leaveOut(path.Expr)
}

func (builder *objectiveBuilder) setRewardBounded(_ *Objective, path *logic.Path) {
	builder.leaveOut(path.Expr)
}

func (builder *objectiveBuilder) setDiscounted(_ *Objective, objective *logic.Objective) {
	builder.leaveOut(objective.Expr)
}

func (builder *objectiveBuilder) setConditionalReward(_ *Objective, objective *logic.Objective) {
	builder.leaveOut(objective.Expr)
}

func (builder *objectiveBuilder) setRewardWithinBounds(_ *Objective, objective *logic.Objective) {
	builder.leaveOut(objective.Expr)
}

func (builder *objectiveBuilder) leaveOut(expr sema.Expr) {
	builder.recordUnsupported(expr, leftOut, logic.Describe(expr))
}

func newStepwiseRunner(*Stepwise, int64, func() Steps) (compile.BatchRunner, error) {
	return nil, errors.New("there are no stepwise objectives in the program of the playground")
}
