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

// checkWithEngine checks the property instances of a test with one engine. It returns one answer for each instance.
func (run *testRun) checkWithEngine(ctx context.Context) ([]answer, error) {
	answers := make([]answer, len(run.instances))
	if failure := run.unsupportedSwitch(); failure != nil {
		for i := range answers {
			answers[i].Err = failure
		}
		if len(answers) == 0 {
			run.addRunResult(run.failedRun(failure), false, "")
		}
		return answers, nil
	}
	if run.importErr != nil {
		return nil, run.importErr
	}
	for _, batch := range run.batches() {
		if err := run.checkBatch(ctx, batch, answers); err != nil {
			return nil, err
		}
	}
	run.compareExports(ctx, answers)
	return answers, nil
}

// unsupportedSwitch returns a failure if the engine does not support a switch of the test, or else nil.
func (run *testRun) unsupportedSwitch() *result.Failure {
	switches := &run.switches
	_, buildsStates := run.builder()
	importFailure, isFailure := errors.AsType[*result.Failure](run.importErr)
	switch {
	case switches.Params != "" && !buildsStates:
		return unsupported("functions of parameters (-param)")
	case switches.NoProbChecks:
		return unsupported("probabilities that do not sum to one (-noprobchecks)")
	case isFailure && importFailure.Class == result.Unsupported:
		return importFailure
	case run.space != nil && !buildsStates:
		return unsupported("imports (%s)", switches.Imports[0][0])
	case len(switches.Exports) > 0 && !buildsStates:
		return unsupported("exports (%s)", switches.Exports[0][0])
	}
	return nil
}

// batch is a plan with the indices of its instances. If terms is not nil, the instances are sampled with these terms.
type batch struct {
	plan      *runner.Plan
	terms     *expect.Statistical
	instances []int
	// properties are the numbers of the properties of the instances, in the order of the instances.
	properties []string
}

// batches groups the selected instances of the test. The instances of a batch have equal terms of sampling, so one check of the engine answers all of them.
func (run *testRun) batches() []*batch {
	var batches []*batch
	for i, instance := range run.instances {
		if !instance.selected {
			continue
		}
		terms := instance.samplingTerms()
		index := slices.IndexFunc(batches, func(batch *batch) bool { return sameTerms(batch.terms, terms) })
		if index < 0 {
			index = len(batches)
			batches = append(batches, &batch{plan: run.planFor(terms), terms: terms})
		}
		batches[index].instances = append(batches[index].instances, i)
	}
	for _, batch := range batches {
		batch.properties = run.propertyNumbers(batch)
	}
	return batches
}

// samplingTerms returns the terms of sampling of an instance, or nil if it is not sampled.
func (instance *propertyInstance) samplingTerms() *expect.Statistical {
	if instance.annotations.Terms == nil {
		return nil
	}
	return instance.annotations.Terms.Statistical
}

// propertyNumbers returns the numbers of the properties of a batch, without repetitions, in the order of the test.
func (run *testRun) propertyNumbers(batch *batch) []string {
	inBatch := make(map[int]bool)
	for _, i := range batch.instances {
		inBatch[run.instances[i].propertyNumber] = true
	}
	var numbers []string
	for _, instance := range run.instances {
		if inBatch[instance.propertyNumber] {
			numbers = append(numbers, strconv.Itoa(instance.propertyNumber))
			delete(inBatch, instance.propertyNumber) // add each number only once
		}
	}
	return numbers
}

// sameTerms reports whether two terms of sampling are equal; nil means no sampling.
func sameTerms(first, second *expect.Statistical) bool {
	if first == nil || second == nil {
		return first == second
	}
	return *first == *second
}

// planFor returns the plan with the settings that the terms of sampling ask for. With nil terms, nothing is sampled.
func (run *testRun) planFor(terms *expect.Statistical) *runner.Plan {
	return run.plan.WithSettings(func(settings *runner.Settings) {
		settings.Numeric.Workers, settings.Simulation.Workers = run.workers, run.workers
		if settings.Numeric.Accuracy == result.Unknown {
			settings.Numeric.Accuracy = run.engine.Accuracy
		}
		if terms != nil {
			run.setSampling(settings, terms)
		}
	})
}

// setSampling changes the settings to those that the terms of sampling ask for.
func (run *testRun) setSampling(settings *runner.Settings, terms *expect.Statistical) {
	settings.Method = runner.CI
	settings.Simulation = runner.Simulation{
		Samples: terms.Samples, Confidence: run.confidenceLevel(terms), MaxPath: terms.MaxPath, MaxReward: terms.MaxReward,
		Seed: run.options.Seed, Workers: run.workers,
	}
	if terms.Seed != nil {
		settings.Simulation.Seed = *terms.Seed
	}
	settings.Numeric = runner.Numeric{}
}

// batchPlan returns the plan that checks the properties of a batch.
func (run *testRun) batchPlan(batch *batch) (*runner.Plan, error) {
	var tasks []int
	for _, number := range batch.properties {
		i := slices.IndexFunc(run.instances, func(instance *propertyInstance) bool { return strconv.Itoa(instance.propertyNumber) == number })
		tasks = append(tasks, slices.Index(run.plan.Tasks, run.instances[i].task))
	}
	return batch.plan.Part(tasks, nil)
}

// storeVerdicts stores the verdicts of an engine in the answers of the instances of a batch. The verdicts are in the order of the instances.
// A missing verdict is an error.
func (run *testRun) storeVerdicts(batch *batch, verdicts []result.Verdict, answers []answer) error {
	nextVerdict := 0 // the index of the next verdict
	for i, instance := range run.instances {
		if !slices.Contains(batch.properties, strconv.Itoa(instance.propertyNumber)) {
			continue
		}
		if nextVerdict == len(verdicts) || verdicts[nextVerdict].Property != instance.task.Text {
			return fmt.Errorf("engine %s returned no verdict about %s %s", run.engine.DisplayName(), instance.task.Text, instance.constants())
		}
		if _, inBatch := slices.BinarySearch(batch.instances, i); inBatch {
			answers[i].Verdict = verdicts[nextVerdict]
		}
		nextVerdict++
	}
	return nil
}
