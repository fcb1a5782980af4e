package regress

import (
	"context"
	"errors"
	"slices"

	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// Witnesser is an engine that finds witnesses for bounds that do not hold.
type Witnesser interface {
	// Witness checks as Check does, and adds the likeliest path to the verdicts.
	Witness(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error)
}

// maxWitnesses is the greatest number of failed results of one run for which a witness is searched.
const maxWitnesses = 10

// addWitnesses explains why bounded properties such as P<=0.1 are false: it adds the most probable path as a witness. It does so for the first
// maxWitnesses results.
func (run *testRun) addWitnesses(ctx context.Context) {
	engine, ok := runner.As[Witnesser](run.engine.Engine)
	if !ok || run.plan == nil {
		return
	}
	searches := 0
	for i := range run.instanceResults {
		if searches == maxWitnesses || ctx.Err() != nil {
			return
		}
		testResult := &run.instanceResults[i]
		if !boundFails(testResult) {
			continue
		}
		searches++
		plan, err := run.planOf(run.instances[i])
		if err != nil {
			continue
		}
		verdicts, err := engine.Witness(ctx, plan)
		isFound := err == nil && len(verdicts) == 1 && verdicts[0].Err == nil
		if isFound {
			testResult.Verdict.Witnesses = verdicts[0].Witnesses
		}
	}
}

// planOf returns a plan that checks only this property instance.
func (run *testRun) planOf(instance *propertyInstance) (*runner.Plan, error) {
	task := slices.Index(run.plan.Tasks, instance.task)
	if task < 0 {
		return nil, errors.New("found no task of this property in the plan")
	}
	var constants []string
	for _, constant := range instance.constants() {
		constants = append(constants, constant.Name+"="+constant.Value)
	}
	return run.planFor(nil).Part([]int{task}, constants)
}

// boundFails reports whether a test failed because its property is false. A sampled verdict does not count.
func boundFails(tested *report.TestResult) bool {
	verdict := tested.Verdict
	if tested.Outcome != report.TestFailed || verdict == nil || verdict.Samples > 0 {
		return false
	}
	return verdict.Value.Kind == result.Boolean && !verdict.Value.Bool
}
