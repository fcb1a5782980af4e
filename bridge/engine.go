package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"tilecheck/native/space/explicit"
	"tilecheck/parse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
)

// Options are the options for running a tool. The zero value is the default.
type Options struct {
	// Args are further arguments for the tool, behind tilecheck's own arguments. An argument that selects
	// PRISM's engine replaces the engine that tilecheck selects.
	Args []string
	// Limits are the limits of one run. The time limit is also an argument of the tool.
	Limits runner.Limits
	// Jobs is the number of runs at a time; 0 means 1.
	Jobs int
}

// Engine runs a tool with a Commander.
type Engine struct {
	tool tool
	cmd  runner.Commander
	opt  Options
}

var _ runner.Engine = (*Engine)(nil)

// tool has the operations in which PRISM and Storm differ. PRISM-games is PRISM with stochastic games.
type tool interface {
	name() string
	// refuse returns an error if the tool cannot check the model, or use the method, of a plan.
	refuse(plan *runner.Plan) error
	// itemsToAsk returns the items that the tool is asked about: the given ones, or queries whose answers
	// combineAnswers combines. It sets the verdict of an item that the tool does not support.
	itemsToAsk(j *job, items []*workItem) []*workItem
	combineAnswers(j *job)
	// alternative returns the item for another way to ask, and a warning that explains it. It returns nil
	// if there is no other way, or no reason for it.
	alternative(j *job, item *workItem) (other *workItem, reason string)
	// readFiles reads the files that a run of a batch wrote.
	readFiles(batch []*workItem, command runner.Command, files []runner.File)
	// batches groups items into runs.
	batches(items []*workItem) [][]*workItem
	// command returns the command line and the files of a run.
	command(ctx context.Context, j *job, batch []*workItem) (runner.Command, error)
	parser(opt parse.Options) *parse.Parser
	// values returns the value of a property in every state, in PRISM's order of states.
	values(ctx context.Context, e *Engine, j *job, item *workItem) ([]float64, error)
	// states returns the state space that the tool builds of a model.
	states(ctx context.Context, e *Engine, plan *runner.Plan, v sema.Valuation) (*explicit.ToolSpace, error)
	// matches reports whether a property in the tool's output belongs to an item.
	matches(p *parse.Property, item *workItem) bool
}

// PRISM returns the engine that runs PRISM.
func PRISM(cmd runner.Commander, opt Options) *Engine { return &Engine{prism{parse.PRISM}, cmd, opt} }

// PRISMGames returns the engine that runs PRISM-games, which is PRISM with stochastic games.
func PRISMGames(cmd runner.Commander, opt Options) *Engine {
	return &Engine{prism{parse.PRISMGames}, cmd, opt}
}

// Storm returns the engine that runs Storm.
func Storm(cmd runner.Commander, opt Options) *Engine { return &Engine{storm{}, cmd, opt} }

// Name implements runner.Engine.
func (e *Engine) Name() string { return e.tool.name() }

// Commander returns the Commander that runs the tool.
func (e *Engine) Commander() runner.Commander { return e.cmd }

// workItem is one property under one valuation of the constants, which gets a verdict.
type workItem struct {
	task            *runner.Task
	model, property sema.Valuation
	number          int // among all properties of the job, or queries of Storm, from 1
	verdict         *result.Verdict
	stormQuery      // of Storm
}

// constants returns the values of the constants of the model and of the property.
func (item *workItem) constants() []result.Constant {
	return runner.Constants(item.model, item.property)
}

// job is a job that an engine is working on.
type job struct {
	*runner.Plan
	opt *Options
	// isSingle is true if each run of the tool gets one value for each constant, as arguments. Otherwise a run gets the ranges of the constants.
	isSingle      bool
	progressMutex *sync.Mutex
	storm         *stormJob // nil for PRISM
}

// Check implements runner.Engine.
func (e *Engine) Check(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	job := &job{Plan: plan, opt: &e.opt, progressMutex: new(sync.Mutex)}
	items := workItems(plan)
	if err := e.tool.refuse(plan); err != nil {
		return e.verdicts(job, items, unsupported(err.Error())), nil
	}
	if err := e.answer(ctx, job, e.tool.itemsToAsk(job, withoutVerdict(items))); err != nil {
		return nil, err
	}
	e.tool.combineAnswers(job)
	return e.verdicts(job, items, &result.Failure{Class: result.Other, Message: "the tool said nothing about this property"}), nil
}

// answer runs the tool for all items: first in batches, then one by one for items that still have no verdict, then with other switches for items
// without a reliable answer.
func (e *Engine) answer(ctx context.Context, job *job, queries []*workItem) error {
	if err := e.runAll(ctx, job, e.tool.batches(withoutVerdict(queries))); err != nil {
		return err
	}
	if err := e.runOneByOne(ctx, job, withoutVerdict(queries)); err != nil {
		return err
	}
	for _, item := range queries {
		if err := e.askOtherwise(ctx, job, item); err != nil {
			return err
		}
	}
	return nil
}

// runAll runs the tool once for each batch, up to Options.Jobs runs at a time. It returns all errors, in the order of the batches.
func (e *Engine) runAll(ctx context.Context, job *job, batches [][]*workItem) error {
	errs := make([]error, len(batches))
	var runs errgroup.Group
	runs.SetLimit(max(e.opt.Jobs, 1))
	for i, batch := range batches {
		runs.Go(func() error {
			errs[i] = e.run(ctx, job, batch)
			return nil // run every batch, and join the errors in the order of the batches
		})
	}
	_ = runs.Wait()
	return errors.Join(errs...)
}

// workItems returns an item for each property under each valuation, in the order of runner.Engine. A rejected property gets one item for each
// valuation of the model; its verdict already has the error.
func workItems(plan *runner.Plan) []*workItem {
	var items []*workItem
	for model := range plan.Models() {
		for i, task := range plan.Tasks {
			if rejection := task.Rejected; rejection != nil {
				verdict := &result.Verdict{Err: &result.Failure{Class: task.Class, Message: rejection.Msg, File: rejection.File, Pos: rejection.Pos}}
				items = append(items, &workItem{task: task, model: model, number: i + 1, verdict: verdict})
				continue
			}
			for property := range task.Valuations() {
				items = append(items, &workItem{task: task, model: model, property: property, number: i + 1})
			}
		}
	}
	return items
}

// withoutVerdict returns the items that have no verdict yet.
func withoutVerdict(items []*workItem) []*workItem {
	return slices.DeleteFunc(slices.Clone(items), func(item *workItem) bool { return item.verdict != nil })
}

// runOneByOne runs the tool once for each of the items, which earlier runs left without a verdict. So a crash, or a property that the tool cannot
// read, affects only one item. A model that cannot be built is not tried again.
func (e *Engine) runOneByOne(ctx context.Context, job *job, items []*workItem) error {
	singleJob := *job
	singleJob.isSingle = true
	failures := make(map[string]*result.Failure)
	for _, item := range items {
		constants := fmt.Sprint(runner.Constants(item.model))
		if failure := failures[constants]; failure != nil {
			item.verdict = &result.Verdict{Err: failure}
			continue
		}
		if err := e.run(ctx, &singleJob, []*workItem{item}); err != nil {
			return err
		}
		if item.verdict == nil || item.verdict.Err == nil {
			continue
		}
		switch item.verdict.Err.Class {
		case result.Build, result.Model, result.Constants, result.Interrupted:
			failures[constants] = item.verdict.Err
		}
	}
	return nil
}

// askOtherwise asks the tool again with other switches if an item has no reliable answer and the tool offers an alternative. The second answer
// replaces the first one if it is reliable.
func (e *Engine) askOtherwise(ctx context.Context, job *job, item *workItem) error {
	alternative, reason := e.tool.alternative(job, item)
	if alternative == nil || ctx.Err() != nil {
		return nil
	}
	if err := e.run(ctx, job, []*workItem{alternative}); err != nil {
		return err
	}
	if verdict := alternative.verdict; verdict != nil && verdict.Err == nil && verdict.Doubt == "" && alternative.mayReplace() {
		verdict.Warnings = append(verdict.Warnings, reason)
		*item = *alternative
	}
	return nil
}

// run runs the tool once for a batch of items and gives them the verdicts that the output contains. After a complete run, an item that the output
// does not mention has no verdict, unless it was the only one.
func (e *Engine) run(ctx context.Context, job *job, batch []*workItem) error {
	command, err := e.tool.command(ctx, job, batch)
	if err != nil {
		if dialectError, ok := errors.AsType[*syntax.DialectError](err); ok {
			for _, item := range batch {
				item.verdict = &result.Verdict{Err: unsupported(dialectError.Error())}
			}
			return nil
		}
		return err
	}
	parser := e.tool.parser(parse.Options{Progress: e.progress(job)})
	command.Limits, command.Stdout, command.Stderr = e.opt.Limits, parser, parser.Stderr()
	exit, err := runner.Run(ctx, e.cmd, command)
	if err != nil {
		return err
	}
	log := parser.Finish(End(exit))
	e.attribute(log, batch)
	e.tool.readFiles(batch, command, exit.Files)
	if len(batch) == 1 || exit.Cause == runner.Cancelled || exit.Cause == runner.TimedOut {
		e.giveUp(log, batch)
	}
	return nil
}

// isGame reports whether the model of a plan is a stochastic game.
func isGame(plan *runner.Plan) bool { return plan.Model != nil && plan.Model.ModelType() == syntax.SMG }

// refuseGame returns an error if the model of a plan is a stochastic game, for a tool that has none.
func refuseGame(plan *runner.Plan, tool parse.Tool) error {
	if !isGame(plan) {
		return nil
	}
	return fmt.Errorf("found a stochastic game (SMG), which %s is not asked about; the engines native and %s check it", tool, parse.PRISMGames)
}

// End converts the exit of a tool to the information that the parser needs about the end of a run.
func End(exit runner.Exit) parse.End {
	switch exit.Cause {
	case runner.Finished:
		return parse.End{Known: true, Code: exit.Code}
	case runner.TimedOut:
		return parse.End{Stopped: result.Timeout}
	case runner.OutOfMemory:
		return parse.End{Stopped: result.Memory}
	case runner.Cancelled:
		return parse.End{Stopped: result.Interrupted}
	case runner.Killed:
		return parse.End{Known: true, Code: 137}
	}
	return parse.End{Stopped: result.Other}
}

// attribute assigns the verdicts of the log to the items of a batch. An item that the log does not mention gets no verdict.
func (e *Engine) attribute(log *parse.Log, batch []*workItem) {
	verdicts := log.Verdicts()
	indices := log.Attribute(len(batch), func(i int, property *parse.Property) bool {
		return wasChecked(property) && e.tool.matches(property, batch[i])
	})
	for i, index := range indices {
		if index < 0 {
			continue
		}
		verdict := verdicts[index]
		verdict.Warnings = append(verdict.Warnings, log.Warnings...)
		verdict.Tool = log.Made(e.cmd.Where())
		batch[i].verdict, batch[i].printed = &verdict, log.Properties[index].ValueText
	}
}

// wasChecked reports whether the tool checked a property or rejected that property itself. It returns false if PRISM stopped earlier because of an
// exception at another property.
func wasChecked(property *parse.Property) bool {
	switch {
	case property.Err == nil:
		return true
	case property.Err.Class == result.Other:
		return !property.Absent
	}
	return property.Err.Class != result.Truncated
}

// giveUp gives the failure of a run to the items that have no verdict.
func (e *Engine) giveUp(log *parse.Log, batch []*workItem) {
	if failure := log.Failure(); failure != nil {
		for _, item := range withoutVerdict(batch) {
			item.verdict = &result.Verdict{Err: failure, Tool: log.Made(e.cmd.Where())}
		}
	}
}

// unsupported returns a failure of class Unsupported.
func unsupported(message string) *result.Failure {
	return &result.Failure{Class: result.Unsupported, Message: message}
}

// verdicts returns the completed verdicts of all items. An item without a verdict gets the given failure.
func (e *Engine) verdicts(job *job, items []*workItem, otherwise *result.Failure) []result.Verdict {
	verdicts := make([]result.Verdict, len(items))
	for i, item := range items {
		verdict := result.Verdict{Err: otherwise}
		if item.verdict != nil {
			verdict = *item.verdict
		}
		verdict.Property, verdict.Name, verdict.Constants, verdict.Engine = item.task.Text, item.task.Name, item.constants(), e.Name()
		verdict.Warnings = append(slices.Clip(job.Warnings), verdict.Warnings...)
		if verdict.Err != nil && verdict.Err.Class == result.PathLength {
			renamed := *verdict.Err
			renamed.Message += "; want more with --max-path (PRISM: -simpathlen)"
			verdict.Err = &renamed
		}
		addInterval(&verdict, job)
		verdicts[i] = verdict
	}
	return verdicts
}

// addInterval adds a valid confidence interval to an estimated probability, because tools print a nominal half-width, which may be 0.
func addInterval(verdict *result.Verdict, job *job) {
	const tolerance = 1e-6 // of the estimate times the samples, which is a count
	simulation := &job.Job.Simulation
	if verdict.Accuracy != result.Probable || verdict.Value.Kind != result.Number || verdict.Bound != nil || verdict.Samples == 0 ||
		!strings.HasPrefix(verdict.Property, "P") || verdict.Confidence == 0 {
		return
	}
	isSequential := simulation.Samples == 0 && simulation.Width > 0
	counts, err := stats.Published(verdict.Value.Num, verdict.Samples)
	if err != nil || diff(counts.Mean(), verdict.Value.Num) > tolerance {
		return
	}
	interval, err := stats.BernoulliInterval(counts, verdict.Confidence, isSequential)
	if err != nil {
		return
	}
	verdict.Bound, verdict.BoundMethod = &result.Interval{Lo: interval.Lo, Hi: interval.Hi}, interval.Method.String()
}

// diff returns the absolute difference of two numbers.
func diff(x, y float64) float64 { return max(x-y, y-x) }

// progress returns a function that passes the progress of a run on to the job; nil if the job does not want it. Only one run calls the job's function
// at a time.
func (e *Engine) progress(job *job) func(runner.Progress) {
	if job.Job.Progress == nil {
		return nil
	}
	return func(progress runner.Progress) {
		job.progressMutex.Lock() // several runs can call it at the same time
		defer job.progressMutex.Unlock()
		job.Job.Progress(progress)
	}
}
