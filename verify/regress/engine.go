package regress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/expect"
)

// checkWithEngine checks the property instances with a runner.Engine, one job for each different choice of sampling terms. It returns one answer
// for each instance.
func (u *testRun) checkWithEngine(ctx context.Context) ([]answer, error) {
	answers := make([]answer, len(u.instances))
	if failure := u.unsupportedSwitch(); failure != nil {
		for i := range answers {
			answers[i].Err = failure
		}
		if len(answers) == 0 {
			u.addRunResult(u.failedRun(failure), false, "")
		}
		return answers, nil
	}
	if u.importErr != nil {
		return nil, u.importErr
	}
	for _, batch := range u.batches() {
		if err := u.checkBatch(ctx, batch, answers); err != nil {
			return nil, err
		}
	}
	u.compareExports(ctx, answers)
	return answers, nil
}

// unsupportedSwitch returns a failure if the engine does not support a switch of the test, otherwise nil.
func (u *testRun) unsupportedSwitch() *result.Failure {
	switches := &u.switches
	_, buildsStates := u.builder()
	failure, isFailure := errors.AsType[*result.Failure](u.importErr)
	switch {
	case switches.Params != "" && !buildsStates:
		return unsupported("functions of parameters (-param)")
	case switches.NoProbChecks:
		return unsupported("probabilities that do not sum to one (-noprobchecks)")
	case isFailure && failure.Class == result.Unsupported: // the files of an import
		return failure
	case u.space != nil && !buildsStates:
		return unsupported("imports (%s)", switches.Imports[0][0])
	case len(switches.Exports) > 0 && !buildsStates:
		return unsupported("exports (%s)", switches.Exports[0][0])
	}
	return nil
}

// batch is a plan with its instances, by index. If terms is not nil, the instances are sampled on these terms.
type batch struct {
	plan      *runner.Plan
	terms     *expect.Statistical
	instances []int
	// properties are the numbers of their properties, in the order of the instances.
	properties []string
}

// batches groups the selected instances by their terms of sampling.
func (u *testRun) batches() []*batch {
	var batches []*batch
	for i, instance := range u.instances {
		if !instance.selected {
			continue
		}
		sampling := instance.samplingTerms()
		k := slices.IndexFunc(batches, func(batch *batch) bool { return sameTerms(batch.terms, sampling) })
		if k < 0 {
			k = len(batches)
			batches = append(batches, &batch{plan: u.planFor(sampling), terms: sampling})
		}
		batches[k].instances = append(batches[k].instances, i)
	}
	for _, batch := range batches {
		batch.properties = u.propertyNumbers(batch)
	}
	return batches
}

// samplingTerms returns the terms of sampling that an instance has chosen; nil if it is not sampled.
func (instance *propertyInstance) samplingTerms() *expect.Statistical {
	if instance.chosen.Terms == nil {
		return nil
	}
	return instance.chosen.Terms.Statistical
}

// propertyNumbers returns the numbers of the properties of a batch, each once, in the order of the instances.
func (u *testRun) propertyNumbers(batch *batch) []string {
	wanted := make(map[int]bool)
	for _, i := range batch.instances {
		wanted[u.instances[i].number] = true
	}
	var out []string
	for _, instance := range u.instances {
		if wanted[instance.number] {
			delete(wanted, instance.number)
			out = append(out, strconv.Itoa(instance.number))
		}
	}
	return out
}

// sameTerms reports whether two terms of sampling are equal; nil means no sampling.
func sameTerms(first, second *expect.Statistical) bool {
	if first == nil || second == nil {
		return first == second
	}
	return *first == *second
}

// planFor returns the plan for instances with these terms of sampling; nil terms mean that nothing is sampled.
func (u *testRun) planFor(terms *expect.Statistical) *runner.Plan {
	return u.plan.WithSettings(func(settings *runner.Settings) {
		settings.Numeric.Workers, settings.Simulation.Workers = u.workers, u.workers
		if settings.Numeric.Accuracy == result.Unknown {
			settings.Numeric.Accuracy = u.engine.Accuracy
		}
		if terms == nil {
			return
		}
		settings.Method = runner.CI
		settings.Simulation = runner.Simulation{
			Samples: terms.Samples, Confidence: u.confidenceLevel(terms), MaxPath: terms.MaxPath, MaxReward: terms.MaxReward,
			Seed: u.opt.Seed, Workers: u.workers,
		}
		if terms.Seed != nil {
			settings.Simulation.Seed = *terms.Seed
		}
		settings.Numeric = runner.Numeric{}
	})
}

// batchPlan returns the plan that checks the properties of a batch.
func (u *testRun) batchPlan(batch *batch) (*runner.Plan, error) {
	var tasks []int
	for _, number := range batch.properties {
		i := slices.IndexFunc(u.instances, func(instance *propertyInstance) bool { return strconv.Itoa(instance.number) == number })
		tasks = append(tasks, slices.Index(u.plan.Tasks, u.instances[i].task))
	}
	return batch.plan.Part(tasks, nil)
}

// attribute assigns the verdicts of a job to the instances of its batch. The job has a verdict for every instance of each property of the
// batch, in the order of the instances.
func (u *testRun) attribute(batch *batch, verdicts []result.Verdict, answers []answer) error {
	next := 0
	for i, instance := range u.instances {
		if !slices.Contains(batch.properties, strconv.Itoa(instance.number)) {
			continue
		}
		if next == len(verdicts) || verdicts[next].Property != instance.task.Text {
			return fmt.Errorf("engine %s returned no verdict about %s %s", u.engine.DisplayName(), instance.task.Text, runner.Constants(instance.modelValuation, instance.propertyValuation))
		}
		if _, inBatch := slices.BinarySearch(batch.instances, i); inBatch {
			answers[i].Verdict = verdicts[next]
		}
		next++
	}
	return nil
}
