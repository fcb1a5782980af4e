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

// Options are how a tool is run. The zero value is the default.
type Options struct {
	// Args are further arguments for the tool, behind ours. One that chooses
	// PRISM's engine replaces ours.
	Args []string
	// Limits are those of one run. The tool is told the time limit, too.
	Limits runner.Limits
	// Jobs is the number of runs at a time; 0 is 1.
	Jobs int
}

// Engine is a tool behind a Commander.
type Engine struct {
	tool tool
	cmd  runner.Commander
	opt  Options
}

var _ runner.Engine = (*Engine)(nil)

// tool is what PRISM and Storm differ in. PRISM-games is PRISM with stochastic games.
type tool interface {
	name() string
	// refuse says why the tool cannot carry out a plan at all, nil if it can.
	refuse(plan *runner.Plan) error
	// ask returns what the tool is to be asked for the items: these themselves,
	// or others whose answers settle then puts together. It gives a verdict to
	// items that the tool need not, or cannot, be asked for.
	ask(j *job, items []*workItem) []*workItem
	settle(j *job)
	// otherwise returns the item for another way to ask, and what to say of it;
	// nil if there is none, or no reason for one.
	otherwise(j *job, item *workItem) (other *workItem, reason string)
	// read takes what a run of the batch wrote into files.
	read(batch []*workItem, command runner.Command, files []runner.File)
	// batches groups what is to be checked into runs.
	batches(items []*workItem) [][]*workItem
	// command writes a run.
	command(ctx context.Context, j *job, batch []*workItem) (runner.Command, error)
	parser(opt parse.Options) *parse.Parser
	// values has the tool tell what a property is in every state, in PRISM's order.
	values(ctx context.Context, e *Engine, j *job, item *workItem) ([]float64, error)
	// states reads what the tool makes of a model.
	states(ctx context.Context, e *Engine, plan *runner.Plan, v sema.Valuation) (*explicit.ToolSpace, error)
	// is reports whether a property of the output is the item's.
	is(p *parse.Property, item *workItem) bool
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

// Commander returns what runs the tool.
func (e *Engine) Commander() runner.Commander { return e.cmd }

// workItem is one property under one valuation: what gets a verdict.
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

// job is a job under way.
type job struct {
	*runner.Plan
	opt *Options
	// single says that the runs are for one valuation each, whose constants are given.
	single  bool
	telling *sync.Mutex
	storm   *stormJob // nil for PRISM
}

// Check implements runner.Engine.
func (e *Engine) Check(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	j := &job{Plan: plan, opt: &e.opt, telling: new(sync.Mutex)}
	items := itemsOf(plan)
	if err := e.tool.refuse(plan); err != nil {
		return e.verdicts(j, items, unsupported(err.Error())), nil
	}
	if err := e.answer(ctx, j, e.tool.ask(j, open(items))); err != nil {
		return nil, err
	}
	e.tool.settle(j)
	return e.verdicts(j, items, &result.Failure{Class: result.Other, Message: "the tool said nothing about this property"}), nil
}

// answer has the tool answer what it is asked.
func (e *Engine) answer(ctx context.Context, j *job, asked []*workItem) error {
	if err := e.runAll(ctx, j, e.tool.batches(open(asked))); err != nil {
		return err
	}
	if err := e.again(ctx, j, open(asked)); err != nil {
		return err
	}
	for _, item := range asked {
		if err := e.otherwise(ctx, j, item); err != nil {
			return err
		}
	}
	return nil
}

// runAll runs batches, several at a time.
func (e *Engine) runAll(ctx context.Context, j *job, batches [][]*workItem) error {
	errs := make([]error, len(batches))
	var runs errgroup.Group
	runs.SetLimit(max(e.opt.Jobs, 1))
	for i, batch := range batches {
		runs.Go(func() error {
			errs[i] = e.run(ctx, j, batch)
			return nil // every batch is run, and the errors are told in their order
		})
	}
	_ = runs.Wait()
	return errors.Join(errs...)
}

// itemsOf lists what needs a verdict, in the order of runner.Engine. What is
// wrong already has one.
func itemsOf(p *runner.Plan) []*workItem {
	var items []*workItem
	for model := range p.Models() {
		for i, t := range p.Tasks {
			if r := t.Rejected; r != nil {
				v := &result.Verdict{Err: &result.Failure{Class: t.Class, Message: r.Msg, File: r.File, Pos: r.Pos}}
				items = append(items, &workItem{task: t, model: model, number: i + 1, verdict: v})
				continue
			}
			for property := range t.Valuations() {
				items = append(items, &workItem{task: t, model: model, property: property, number: i + 1})
			}
		}
	}
	return items
}

// open returns the items without a verdict.
func open(items []*workItem) []*workItem {
	return slices.DeleteFunc(slices.Clone(items), func(item *workItem) bool { return item.verdict != nil })
}

// again runs what no run has said anything about, one property at a time: a
// tool that gives up, or a property that it cannot read, costs only itself. A
// model that cannot be built is not tried again.
func (e *Engine) again(ctx context.Context, j *job, items []*workItem) error {
	single := *j
	single.single = true
	broken := make(map[string]*result.Failure)
	for _, item := range items {
		instance := fmt.Sprint(runner.Constants(item.model))
		if f := broken[instance]; f != nil {
			item.verdict = &result.Verdict{Err: f}
			continue
		}
		if err := e.run(ctx, &single, []*workItem{item}); err != nil {
			return err
		}
		if item.verdict == nil || item.verdict.Err == nil {
			continue
		}
		switch item.verdict.Err.Class {
		case result.Build, result.Model, result.Constants, result.Interrupted:
			broken[instance] = item.verdict.Err
		}
	}
	return nil
}

// otherwise asks in another way, if the tool has one, for what came out in doubt
// or not at all. The second answer is taken if it is a better one.
func (e *Engine) otherwise(ctx context.Context, j *job, item *workItem) error {
	other, reason := e.tool.otherwise(j, item)
	if other == nil || ctx.Err() != nil {
		return nil
	}
	if err := e.run(ctx, j, []*workItem{other}); err != nil {
		return err
	}
	if v := other.verdict; v != nil && v.Err == nil && v.Doubt == "" && other.better() {
		v.Warnings = append(v.Warnings, reason)
		*item = *other
	}
	return nil
}

// run runs the tool once for some items. Those that it did not come to have no
// verdict yet, unless they were all there was.
func (e *Engine) run(ctx context.Context, j *job, batch []*workItem) error {
	command, err := e.tool.command(ctx, j, batch)
	if err != nil {
		if d, ok := errors.AsType[*syntax.DialectError](err); ok {
			for _, item := range batch {
				item.verdict = &result.Verdict{Err: unsupported(d.Error())}
			}
			return nil
		}
		return err
	}
	p := e.tool.parser(parse.Options{Progress: e.progress(j)})
	command.Limits, command.Stdout, command.Stderr = e.opt.Limits, p, p.Stderr()
	exit, err := runner.Run(ctx, e.cmd, command)
	if err != nil {
		return err
	}
	log := p.Finish(End(exit))
	e.attribute(log, batch)
	e.tool.read(batch, command, exit.Files)
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

// End is what the parser wants to know of how a run ended.
func End(x runner.Exit) parse.End {
	switch x.Cause {
	case runner.Finished:
		return parse.End{Known: true, Code: x.Code}
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

// attribute gives items the verdicts of the log. What the log has no heading
// for stays open.
func (e *Engine) attribute(log *parse.Log, batch []*workItem) {
	verdicts := log.Verdicts()
	found := log.Attribute(len(batch), func(i int, p *parse.Property) bool { return begun(p) && e.tool.is(p, batch[i]) })
	for i, k := range found {
		if k < 0 {
			continue
		}
		v := verdicts[k]
		v.Warnings = append(v.Warnings, log.Warnings...)
		v.Tool = log.Made(e.cmd.Where())
		batch[i].verdict, batch[i].printed = &v, log.Properties[k].ValueText
	}
}

// begun reports whether a tool worked on a property, or could not have. An
// exception at another property, which ends PRISM, is no reason of this one.
func begun(p *parse.Property) bool {
	switch {
	case p.Err == nil:
		return true
	case p.Err.Class == result.Other:
		return !p.Absent
	}
	return p.Err.Class != result.Truncated
}

// giveUp gives what is still open the failure of the run.
func (e *Engine) giveUp(log *parse.Log, batch []*workItem) {
	if f := log.Failure(); f != nil {
		for _, item := range open(batch) {
			item.verdict = &result.Verdict{Err: f, Tool: log.Made(e.cmd.Where())}
		}
	}
}

// unsupported returns a failure of class Unsupported.
func unsupported(message string) *result.Failure {
	return &result.Failure{Class: result.Unsupported, Message: message}
}

// verdicts completes the verdicts of all items. Those without get the failure.
func (e *Engine) verdicts(j *job, items []*workItem, otherwise *result.Failure) []result.Verdict {
	out := make([]result.Verdict, len(items))
	for i, item := range items {
		v := result.Verdict{Err: otherwise}
		if item.verdict != nil {
			v = *item.verdict
		}
		v.Property, v.Name, v.Constants, v.Engine = item.task.Text, item.task.Name, item.constants(), e.Name()
		v.Warnings = append(slices.Clip(j.Warnings), v.Warnings...)
		if v.Err != nil && v.Err.Class == result.PathLength {
			named := *v.Err
			named.Message += "; want more with --max-path (PRISM: -simpathlen)"
			v.Err = &named
		}
		sound(&v, j)
		out[i] = v
	}
	return out
}

// sound puts an interval that is valid beside an estimated probability: tools
// print a nominal half-width, which may be 0.
func sound(v *result.Verdict, j *job) {
	const whole = 1e-6 // of the estimate times the samples, which is a count
	sim := &j.Job.Simulation
	if v.Accuracy != result.Probable || v.Value.Kind != result.Number || v.Bound != nil || v.Samples == 0 ||
		!strings.HasPrefix(v.Property, "P") || v.Confidence == 0 {
		return
	}
	sequential := sim.Samples == 0 && sim.Width > 0
	counts, err := stats.Published(v.Value.Num, v.Samples)
	if err != nil || diff(counts.Mean(), v.Value.Num) > whole {
		return
	}
	interval, err := stats.BernoulliInterval(counts, v.Confidence, sequential)
	if err != nil {
		return
	}
	v.Bound, v.BoundMethod = &result.Interval{Lo: interval.Lo, Hi: interval.Hi}, interval.Method.String()
}

// diff returns the absolute difference of two numbers.
func diff(x, y float64) float64 { return max(x-y, y-x) }

// progress passes on what the output tells of how far a run is.
func (e *Engine) progress(j *job) func(runner.Progress) {
	if j.Job.Progress == nil {
		return nil
	}
	return func(p runner.Progress) {
		j.telling.Lock() // runs may go on beside each other
		defer j.telling.Unlock()
		j.Job.Progress(p)
	}
}
