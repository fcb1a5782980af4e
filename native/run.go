package native

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"tilecheck/internal/ending"
	"tilecheck/native/load"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// run checks the properties of a plan. If its context ends, await returns before the check does: the check goes on in its
// goroutine until it tests the context.
type run struct {
	*shared
	ctx   context.Context
	plan  *runner.Plan
	build func(model sema.Valuation) (*sema.Program, instance, error)
}

// shared is the part of a run that two goroutines use: the check, and await when the context ends.
type shared struct {
	mu                sync.Mutex
	hasReturned       bool // await has returned
	verdicts          []result.Verdict
	incompleteVerdict *incomplete // the verdict of the property that is being checked; nil if it has no value yet
}

// incomplete is a verdict that has its value and lacks something else.
type incomplete struct {
	verdict result.Verdict
	note    string // the beginning of the message that says what it lacks
}

// await calls work in a new goroutine, and returns the verdicts that work has added to the run. If the context ends first, await returns at
// once, and each unfinished property gets a verdict with an error.
func await(ctx context.Context, plan *runner.Plan, work func(*run) error) ([]result.Verdict, error) {
	checkRun := &run{ctx: ctx, plan: plan, shared: &shared{}}
	checkRun.muteProgressAfterReturn()
	var workErr error
	if endErr := ending.Await(ctx, func() { workErr = work(checkRun) }); endErr != nil {
		return checkRun.verdictsAtReturn(endErr), nil
	}
	return checkRun.verdicts, workErr
}

// muteProgressAfterReturn changes the run's plan so that it reports no progress after await has returned.
func (run *run) muteProgressAfterReturn() {
	report := run.plan.Job.Progress
	if report == nil {
		return
	}
	reportUntilReturn := func(progress runner.Progress) {
		run.mu.Lock()
		defer run.mu.Unlock()
		if !run.hasReturned {
			report(progress)
		}
	}
	run.plan = run.plan.WithOutputs(func(outputs *runner.Outputs) { outputs.Progress = reportUntilReturn })
}

// verdictsAtReturn returns the verdicts of all properties if await returns before the work is done. The verdict of an unfinished property has an
// error with the reason.
func (run *run) verdictsAtReturn(reason error) []result.Verdict {
	run.mu.Lock()
	defer run.mu.Unlock()
	run.hasReturned = true
	numFinished := len(run.verdicts) // the finished instances are the first ones
	index := 0
	for task, constants := range run.instances() {
		if index >= numFinished {
			run.verdicts = append(run.verdicts, run.complete(task, constants, run.unfinishedVerdict(task, reason)))
		}
		index++
	}
	return run.verdicts
}

// instances yields each task of the plan together with each valuation of its constants, in the order of the verdicts.
func (run *run) instances() iter.Seq2[*runner.Task, []result.Constant] {
	return func(yield func(*runner.Task, []result.Constant) bool) {
		for model := range run.plan.Models() {
			for _, task := range run.plan.Tasks {
				if !yieldConstants(task, model, yield) {
					return
				}
			}
		}
	}
}

// yieldConstants calls yield for a task with each valuation of its constants. It returns false as soon as yield does.
func yieldConstants(task *runner.Task, model sema.Valuation, yield func(*runner.Task, []result.Constant) bool) bool {
	for _, constants := range propertyValuations(task, model) {
		if !yield(task, constants) {
			return false
		}
	}
	return true
}

// unfinishedVerdict returns the verdict of a property that is unfinished when await returns, with the reason as its error. If the property was
// being checked and its value is already known, the verdict has the value.
func (run *run) unfinishedVerdict(task *runner.Task, reason error) result.Verdict {
	err := failure(reason, result.Other, task.Source.File, task.Pos)
	incompleteVerdict := run.incompleteVerdict
	if incompleteVerdict == nil {
		return result.Verdict{Err: err}
	}
	run.incompleteVerdict = nil // it belongs to the first unfinished property only
	return unfinished(incompleteVerdict.verdict, incompleteVerdict.note, err)
}

// addVerdict adds a verdict to the results and reports it, unless await has returned.
func (run *run) addVerdict(task *runner.Task, constants []result.Constant, verdict result.Verdict) {
	run.mu.Lock()
	defer run.mu.Unlock()
	if run.hasReturned {
		return
	}
	run.verdicts = append(run.verdicts, run.complete(task, constants, verdict))
	run.incompleteVerdict = nil
	if report := run.plan.Job.Verdict; report != nil {
		report(&run.verdicts[len(run.verdicts)-1])
	}
}

// keepIncomplete stores the incomplete verdict of the property that is being checked.
func (run *run) keepIncomplete(verdict *incomplete) {
	run.mu.Lock()
	defer run.mu.Unlock()
	run.incompleteVerdict = verdict
}

// checkPlan checks all properties of the plan. It is an error if an output for one verdict is wanted, such as a scheduler, and the plan has
// several verdicts.
func (run *run) checkPlan() error {
	numVerdicts := run.plan.Verdicts()
	if numVerdicts == 1 {
		return run.checkInstances()
	}
	switch {
	case run.plan.Job.Scheduler != nil:
		return fmt.Errorf("--export-scheduler needs one result, but there are %d: choose one property with --select, and one value for each constant with --const", numVerdicts)
	case run.plan.Job.Partition != nil:
		return fmt.Errorf("a partition belongs to one result, but there are %d: choose one property, and one value for each constant", numVerdicts)
	}
	return run.checkInstances()
}

// checkInstances checks all properties for each valuation of the model's constants, and writes the certificates.
func (run *run) checkInstances() error {
	certificate := run.plan.Job.Certificate
	if numModels := countModels(run.plan); certificate != nil && numModels != 1 {
		return fmt.Errorf("certificates are for one model, found %d valuations of its constants", numModels)
	}
	for model := range run.plan.Models() {
		checkedInstance := run.checkInstance(model)
		if err := closeInstance(checkedInstance); err != nil {
			return err
		}
		provenInstance, hasProofs := checkedInstance.(interface{ acceptedProofs() *certificates })
		if !hasProofs || certificate == nil || run.ctx.Err() != nil {
			continue
		}
		if err := provenInstance.acceptedProofs().write(run.ctx, certificate); err != nil {
			return fmt.Errorf("write certificates: %w", err)
		}
	}
	return nil
}

// countModels returns the number of valuations of the constants of a plan's model.
func countModels(plan *runner.Plan) int {
	count := 0
	for range plan.Models() {
		count++
	}
	return count
}

// checkInstance builds the model for a valuation of its constants, and checks every property. If a property runs out of memory, it is checked
// once more on a new instance, without the memory of earlier properties. It returns the last instance.
func (run *run) checkInstance(model sema.Valuation) instance {
	var built builtModel
	built.program, built.instance, built.err = run.build(model)
	holdsMemory := false // the instance holds memory of earlier properties
	for _, task := range run.plan.Tasks {
		for property, constants := range propertyValuations(task, model) {
			verdict := run.checkTask(task, &built, property, constants)
			if built.err == nil && holdsMemory && run.shouldRepeat(&verdict) {
				run.rebuild(model, &built)
				verdict = run.checkTask(task, &built, property, constants)
			}
			run.addVerdict(task, constants, verdict)
			holdsMemory = holdsMemory || task.Rejected == nil
		}
	}
	return built.instance
}

// rebuild frees the memory of an instance and builds it again.
func (run *run) rebuild(model sema.Valuation, built *builtModel) {
	_ = closeInstance(built.instance) // only read
	built.instance = nil              // frees its memory
	built.program, built.instance, built.err = run.build(model)
}

// closeInstance closes the files of an instance, if it has any.
func closeInstance(instance instance) error {
	if closer, ok := instance.(interface{ close() error }); ok {
		return closer.close()
	}
	return nil
}

// builtModel is a model under one valuation of its constants, and its instance. err says why it could not be built.
type builtModel struct {
	program  *sema.Program
	instance instance
	err      error
}

// checkTask returns the verdict of a task for a valuation of its constants. The verdict has an error if the task
// was rejected or the model could not be built.
func (run *run) checkTask(task *runner.Task, built *builtModel, valuation sema.Valuation, constants []result.Constant) result.Verdict {
	switch {
	case task.Rejected != nil:
		return result.Verdict{Err: failure(task.Rejected, task.Class, task.Source.File, task.Pos)}
	case built.err != nil:
		return result.Verdict{Err: failure(built.err, result.Build, run.plan.Job.File, syntax.Pos{})}
	}
	return run.checkProperty(task, built.program, built.instance, valuation, constants)
}

// shouldRepeat reports whether a check that ran out of memory may succeed on a new instance. Certificates need the old one.
func (run *run) shouldRepeat(verdict *result.Verdict) bool {
	outOfMemory := verdict.Err != nil && verdict.Err.Class == result.Memory
	return outOfMemory && run.plan.Job.Certificate == nil && run.ctx.Err() == nil
}

// propertyValuations yields each valuation of the constants of a task's property, with the constants for the
// verdict. For a rejected task it yields one empty valuation.
func propertyValuations(task *runner.Task, model sema.Valuation) iter.Seq2[sema.Valuation, []result.Constant] {
	return func(yield func(sema.Valuation, []result.Constant) bool) {
		if task.Rejected != nil {
			yield(nil, runner.Constants(model))
			return
		}
		for property := range task.Valuations() {
			if !yield(property, runner.Constants(model, property)) {
				return
			}
		}
	}
}

// complete sets the property, the engine and the constants of a verdict. It also adds the plan's warnings.
func (run *run) complete(task *runner.Task, constants []result.Constant, verdict result.Verdict) result.Verdict {
	verdict.Property, verdict.Name = task.Text, task.Name
	verdict.Engine, verdict.Constants = Name, constants
	verdict.Warnings = append(slices.Clip(run.plan.Warnings), verdict.Warnings...)
	return verdict
}

// compile returns the program of the model for a valuation of its constants, and the instance that checks its properties.
func (run *run) compile(method method, model sema.Valuation) (*sema.Program, instance, error) {
	if err := run.ctx.Err(); err != nil {
		return nil, nil, err
	}
	program, err := run.plan.Model.Instantiate(model.Map())
	if err != nil {
		return nil, nil, err
	}
	return run.parameterlessInstance(method, program)
}

// parameterlessInstance returns a program without parameters, and the instance that checks its properties.
func (run *run) parameterlessInstance(method method, program *sema.Program) (*sema.Program, instance, error) {
	if program.Type == syntax.PTA {
		instance, err := newTimedStates(method, program)
		return program, instance, err
	}
	compiled, err := load.Compile(program, &run.plan.Job)
	if err != nil {
		return nil, nil, err
	}
	instance, err := method.instance(run.ctx, compiled)
	return program, instance, err
}

// checkProperty checks one property of an instance. If the check runs out of memory, only the verdict of this property has an error.
func (run *run) checkProperty(task *runner.Task, program *sema.Program, instance instance, valuation sema.Valuation, constants []result.Constant) result.Verdict {
	if err := run.ctx.Err(); err != nil {
		return result.Verdict{Err: failure(err, result.Other, task.Source.File, task.Pos)}
	}
	taskProperty, err := task.Instance(program, valuation)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Constants, task.Source.File, task.Pos)}
	}
	if len(run.plan.Params) > 0 {
		if err := checkIndependent(program, instance, task, valuation); err != nil {
			return result.Verdict{Err: failure(err, result.Unsupported, task.Source.File, task.Pos)}
		}
	}
	var warnings []string
	for _, warning := range taskProperty.Program.Warnings {
		warnings = append(warnings, warning.Error())
	}
	ctx, done := ending.Part(run.ctx)
	defer done()
	keep := func(verdict result.Verdict, missing string) {
		verdict.Warnings = slices.Concat(warnings, verdict.Warnings)
		run.keepIncomplete(&incomplete{verdict, missing})
	}
	verdict := instance.check(ctx, &checkedProperty{taskProperty, constants, keep})
	verdict.Warnings = append(warnings, verdict.Warnings...)
	return verdict
}
