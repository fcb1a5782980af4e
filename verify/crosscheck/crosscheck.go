package crosscheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tilecheck/internal/noun"

	"tilecheck/internal/shard"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/verify/validity"
)

// The defaults of Options.
const (
	DefaultConfidence = 0.99
	DefaultTolerance  = agree.DefaultTolerance
	DefaultPrecision  = agree.DefaultPrecision
	DefaultSamples    = 1000
	DefaultMaxSamples = 1_000_000
)

// Options are how answers are compared. The zero value is the default.
type Options struct {
	// Confidence is the wanted probability that every statistical comparison
	// of the run is right; 0 means DefaultConfidence.
	Confidence float64
	// Tolerance is how far numbers that were not sampled may be apart,
	// relatively; 0 means DefaultTolerance.
	Tolerance float64
	// Precision is how far sampled numbers may be apart, absolutely up to 1 and
	// relatively above; 0 means DefaultPrecision.
	Precision float64
	// MaxSamples limits the samples of one simulation; 0 means
	// DefaultMaxSamples. The first draw has as many samples as the job says, or
	// DefaultSamples; each further draw has four times as many as the one before.
	MaxSamples int64
	// Time is the time after which no further draw begins; 0 means no limit.
	Time time.Duration
	// MaxStates is the largest number of states that the strict check explores; 0 means
	// the job's limit or DefaultMaxStates. Of larger models it checks random paths.
	MaxStates int
	// NoDeadlocks makes a model with a deadlock invalid.
	NoDeadlocks bool
	// Certify proves the true values by certificates, and judges the answers by them.
	Certify bool
	// Checker makes the strict check; nil means a new one. Engines that run the
	// check too may share it.
	Checker *validity.Checker
	// Unavailable has, for each engine that cannot take part, a note that says why.
	Unavailable []string
	// Ledger, when not nil, shares the properties with other processes. The ledger either records the
	// answers to the properties of its part, or has the recorded answers of all records; then no engine is
	// asked, and the Engine fields may be nil.
	Ledger *shard.Ledger
}

// setDefaults gives each option that is zero its default, and returns an error if an option is out of range.
func (o *Options) setDefaults(job *runner.Job) error {
	setDefault(&o.Confidence, DefaultConfidence)
	setDefault(&o.Tolerance, DefaultTolerance)
	setDefault(&o.Precision, DefaultPrecision)
	setDefault(&o.MaxSamples, DefaultMaxSamples)
	setDefault(&o.MaxStates, job.Numeric.MaxStates)
	setDefault(&o.MaxStates, DefaultMaxStates)
	if o.Checker == nil {
		o.Checker = validity.New()
	}
	switch {
	case !(o.Confidence > 0 && o.Confidence < 1):
		return fmt.Errorf("found confidence %v, want a number between 0 and 1", o.Confidence)
	case !(o.Tolerance > 0 && o.Tolerance < 1), !(o.Precision > 0 && o.Precision < 1):
		return fmt.Errorf("found tolerance %v and precision %v, want numbers between 0 and 1", o.Tolerance, o.Precision)
	case o.MaxSamples < 0 || o.MaxStates < 0 || o.Time < 0:
		return fmt.Errorf("found limits of %d samples, %d states and %v, want positive numbers", o.MaxSamples, o.MaxStates, o.Time)
	}
	return nil
}

// agreeOptions returns the tolerance and the precision with which two answers are compared.
func (c *comparison) agreeOptions() agree.Options {
	return agree.Options{Tolerance: c.options.Tolerance, Precision: c.options.Precision}
}

// setDefault assigns a value to a variable that has the zero value of its type.
func setDefault[T comparable](variable *T, value T) {
	var zero T
	if *variable == zero {
		*variable = value
	}
}

// Run gives a job to every engine and compares the answers. It returns an error if the job or the options are invalid. The error of an engine is the
// Err of its verdicts.
//
// When the context is cancelled, Run returns soon without an error. Unfinished rows are then undecided or unchecked.
func Run(ctx context.Context, job runner.Job, engines []runner.EngineConfig, options Options) (*Report, error) {
	comparison, err := newComparison(ctx, &options, engines, job)
	if err != nil {
		return nil, err
	}
	return comparison.run(ctx, comparison.diagnoseTools)
}

// Against gives two models with the same properties and constants to every engine, and compares all answers. It also compares the two state spaces: a
// Diagnosis of the report has their first Difference. It returns an error in the same cases as Run.
func Against(ctx context.Context, reference, other runner.Job, engines []runner.EngineConfig, options Options) (*Report, error) {
	comparison, err := newComparison(ctx, &options, engines, reference, other)
	if err != nil {
		return nil, err
	}
	return comparison.run(ctx, comparison.diagnoseModels)
}

// modelNames returns a different name for each model: the name of its file. If an earlier model has the same name, or the file has no name, it
// adds the number of the model, as in "die.prism#2".
func modelNames(models []*plannedModel) []string {
	names := make([]string, len(models))
	for i, model := range models {
		names[i] = model.plan.Job.File
		if names[i] == "" || slices.Contains(names[:i], names[i]) {
			names[i] += fmt.Sprintf("#%d", i+1)
		}
	}
	return names
}

// engineRun is an engine together with the model that it checks.
type engineRun struct {
	*runner.EngineConfig
	label string
	model *plannedModel
}

// samplingMethod returns the method by which the engine samples; empty if the engine builds the states instead.
func (e *engineRun) samplingMethod() runner.Method {
	method := e.model.plan.Job.Method
	if e.Method != "" {
		method = e.Method
	}
	switch method {
	case "", runner.States:
		return ""
	case runner.Sim: // it may estimate confidence intervals
		return runner.CI
	}
	return method
}

// comparison is the state of a cross-check.
type comparison struct {
	options     *Options
	models      []*plannedModel
	engineRuns  []*engineRun
	allRows     []*row // of all shards; the allowed probability of error is split among them
	rowsToCheck []*row // rows of this shard
	report      Report
	start       time.Time
}

// newComparison returns a cross-check of all engines on all jobs. In a merge of shards it also reads the recorded results.
func newComparison(ctx context.Context, options *Options, engines []runner.EngineConfig, jobs ...runner.Job) (*comparison, error) {
	comparison := &comparison{options: options, start: time.Now()}
	if err := options.setDefaults(&jobs[0]); err != nil {
		return nil, err
	}
	var errs []error
	for _, job := range jobs {
		model, err := newPlannedModel(runner.NewPlan(ctx, job))
		errs = append(errs, err)
		comparison.models = append(comparison.models, model)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := comparison.makeRows(); err != nil {
		return nil, err
	}
	records, err := comparison.readShards()
	if err != nil {
		return nil, err
	}
	if records != nil { // use the engines of the shards
		engines, err = records.selectEngines(engines)
		if err != nil {
			return nil, err
		}
		options.Unavailable = records[0].NotAsked // the same in all records
	}
	if err := comparison.pairEngines(engines); err != nil {
		return nil, err
	}
	return comparison, comparison.replay(records)
}

// pairEngines adds an engineRun for each engine and model. It returns an error if two engines have the same name.
func (c *comparison) pairEngines(engines []runner.EngineConfig) error {
	var names []string
	for i := range engines {
		names = append(names, engines[i].DisplayName())
	}
	if err := runner.Distinct(names); err != nil {
		return err
	}
	for i, name := range names {
		for k, model := range c.models {
			label := name
			if len(c.models) > 1 { // the label also names the model
				label = name + " " + modelNames(c.models)[k]
			}
			c.engineRuns = append(c.engineRuns, &engineRun{EngineConfig: &engines[i], label: label, model: model})
		}
	}
	return nil
}

// run checks, compares and diagnoses the rows of this shard, and returns the report. In a merge of shards it only makes the report.
func (c *comparison) run(ctx context.Context, diagnose func(context.Context)) (*Report, error) {
	if !c.options.Ledger.Replaying() && len(c.rowsToCheck) > 0 {
		c.checkRows(ctx)
		diagnose(ctx)
		if c.options.Certify {
			c.proveRows(ctx)
		}
		for _, row := range c.rowsToCheck {
			row.finish(c)
		}
	}
	report := c.makeReport()
	return report, c.recordShard()
}

// checkRows does a strict check of each model, asks the engines about the rows, and compares their answers.
func (c *comparison) checkRows(ctx context.Context) {
	for _, model := range c.models {
		model.checkInstances(ctx, c.options)
	}
	for _, row := range c.rowsToCheck {
		row.prepare(c)
	}
	c.askEngines(ctx)
}

// makeReport completes the report: it adds the strict checks of the models, the names of the engines, the rows of this shard, and notes.
func (c *comparison) makeReport() *Report {
	report := &c.report
	for _, model := range c.models {
		for _, instance := range model.instances {
			report.Models = append(report.Models, instance.strictCheck)
		}
	}
	for _, run := range c.engineRuns {
		report.Engines = append(report.Engines, run.label)
	}
	report.Confidence = 1
	for _, row := range c.rowsToCheck {
		report.Rows = append(report.Rows, row.Row)
		if slices.ContainsFunc(row.Verdicts, isEstimate) {
			report.Confidence = c.options.Confidence
		}
	}
	report.Notes = c.notes()
	report.Seconds = time.Since(c.start).Seconds()
	return report
}

// isEstimate reports whether a verdict was estimated from samples.
func isEstimate(verdict result.Verdict) bool { return verdict.Accuracy == result.Probable }

// notes returns remarks for the reader of the report: the tolerance and the confidence of the comparisons, the seed, and the engines that are not
// available.
func (c *comparison) notes() []string {
	computed := fmt.Sprintf("computed values agree if their relative difference is at most %g", c.options.Tolerance)
	if c.hasAccuracy(result.Estimated) {
		computed += "; estimated values have no guarantee"
	}
	if c.hasAccuracy(result.Claimed) {
		computed += "; claimed intervals were not checked by tilecheck"
	}
	notes := append(slices.Clone(c.options.Unavailable), computed)
	if c.report.Confidence < 1 {
		notes = append(notes, fmt.Sprintf(
			"all comparisons of sampled values together are right with probability at least %g: values that agree differ by at most %g, and values that disagree are different "+
				"(Bonferroni, over %s)", c.options.Confidence, c.options.Precision, noun.Count(c.sampledAnswers(), "sampled answer")))
	}
	return append(notes, c.seedNotes()...)
}

// hasAccuracy reports whether an answer has this accuracy.
func (c *comparison) hasAccuracy(accuracy result.Accuracy) bool {
	return slices.ContainsFunc(c.rowsToCheck, func(row *row) bool {
		return slices.ContainsFunc(row.Verdicts, func(verdict result.Verdict) bool { return verdict.Accuracy == accuracy })
	})
}

// seedNotes returns a note with the seed of the samples and the engines that used it. It returns nil if no engine used a seed.
func (c *comparison) seedNotes() []string {
	var engines []string
	for _, row := range c.rowsToCheck {
		for engine := range row.Verdicts {
			label := c.engineRuns[engine].label
			if row.Verdicts[engine].Seed != nil && !slices.Contains(engines, label) {
				engines = append(engines, label)
			}
		}
	}
	if len(engines) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("seed %d: the same seed repeats every sample of %s", c.models[0].plan.Job.Simulation.Seed, strings.Join(engines, ", "))}
}

// sampledAnswers returns the number of answers from samples in all shards. The allowed probability of error is split among them.
func (c *comparison) sampledAnswers() int {
	count := 0
	for _, run := range c.engineRuns {
		if run.samplingMethod() != "" {
			count += len(c.allRows)
		}
	}
	return count
}

// confidenceLevel returns the confidence of the interval of one answer in a draw. The first draw has number 1. All sampled answers get an equal
// share of the allowed probability of error. Draw i uses the fraction 1/(i(i+1)) of the share of an answer, and these fractions add up to 1.
func (c *comparison) confidenceLevel(draw int) float64 {
	answerShare := (1 - c.options.Confidence) / float64(max(1, c.sampledAnswers()))
	return 1 - answerShare/float64(draw*(draw+1))
}
