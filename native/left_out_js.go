package native

import (
	"context"

	"tilecheck/native/check"
	"tilecheck/native/explain/witness"
	"tilecheck/native/simulate"
	"tilecheck/prism/compile"
	"tilecheck/prism/digital"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// The program of the playground leaves out what its page cannot ask for, because every visitor loads it.

// leftOut returns the error of a job that needs a part that was left out.
func leftOut(part string) error {
	return &result.Failure{Class: result.Unsupported, Message: part + " are not in the program of the playground; use the command line"}
}

func (*run) parametric(method) error { return leftOut("functions of parameters") }

func checkIndependent(*sema.Program, instance, *runner.Task, sema.Valuation) error { return nil }

func (*exploredModel) writeDecisionTree(context.Context, *check.Property, *check.Scheduler, *result.Verdict) error {
	return leftOut("decision trees")
}

func (*exploredModel) addSubsystem(context.Context, *result.Witness, *check.Reach, *witness.Chain, question) error {
	return leftOut("critical subsystems")
}

func (*statesMethod) newSymmetricInstance(*compile.Model) (instance, error) {
	return nil, leftOut("states that symmetry reduces")
}

func (*statesMethod) newBoxInstance(_ *compile.Model, manyInitial *compile.ManyInitialError) (instance, error) {
	if manyInitial != nil {
		return nil, manyInitial
	}
	return nil, leftOut("boxes of states")
}

func (*partialStates) checkReordered(context.Context, *checkedProperty) (verdict result.Verdict, ok bool) {
	return verdict, false
}

func (*partialStates) refiners(*checkedProperty) []refiner { return nil }

func newDiskMethod(*runner.Plan) (method, error) { return nil, leftOut("states on disk") }

func (*sampled) steps() simulate.Steps { return simulate.Steps{} }

func (method *statesMethod) checkClocks(*sema.Program) error {
	if method.outputs.Certificate != nil || method.export != nil {
		return leftOut("certificate files and schedulers of timed automata")
	}
	return nil
}

func (*timedStates) withProofs(space *timedSpace) *timedSpace { return space }

func (*timedStates) withOutputs(verdict result.Verdict, _ *timedSpace, _ *digital.Model) result.Verdict {
	return verdict
}
