package crosscheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
	// DefaultMaxSamples. Its first draw has as many as the job says, or
	// DefaultSamples, and every other four times as many as the one before.
	MaxSamples int64
	// Time is after how long no further draw begins; 0 means no limit.
	Time time.Duration
	// MaxStates is how many states the strict check looks at; 0 means the job's
	// limit or DefaultMaxStates. Larger models are followed along random paths.
	MaxStates int
	// NoDeadlocks makes a model with a deadlock invalid.
	NoDeadlocks bool
	// Certify proves the truth by certificates, and judges the answers by it.
	Certify bool
	// Checker is who makes the strict check; nil is one of its own. Engines that
	// have the check beside them may share it.
	Checker *validity.Checker
	// NotAsked says of engines that are no engines why they are not.
	NotAsked []string
	// Split, when not nil, shares the properties with other processes: the answers to
	// those of its part are recorded, or nobody is asked, and they are those recorded.
	// Then engines need no engines.
	Split *shard.Ledger
}

func (o *Options) complete(job *runner.Job) error {
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
		return fmt.Errorf("confidence %v: want a number between 0 and 1", o.Confidence)
	case !(o.Tolerance > 0 && o.Tolerance < 1), !(o.Precision > 0 && o.Precision < 1):
		return fmt.Errorf("tolerance %v, precision %v: want numbers between 0 and 1", o.Tolerance, o.Precision)
	case o.MaxSamples < 0 || o.MaxStates < 0 || o.Time < 0:
		return fmt.Errorf("limits of %d samples, %d states, %v: want positive numbers", o.MaxSamples, o.MaxStates, o.Time)
	}
	return nil
}

func setDefault[T comparable](x *T, value T) {
	var zero T
	if *x == zero {
		*x = value
	}
}

// Run gives a job to every engine and compares the answers. The error is for
// what leaves nothing to compare: a model or properties file with errors,
// constants without values, options that make no sense. What goes wrong with one
// engine is the Err of its verdicts.
//
// When the context is cancelled, Run returns soon, without an error; what was
// not finished is undecided or unchecked.
func Run(ctx context.Context, job runner.Job, engines []runner.EngineConfig, opt Options) (*Report, error) {
	c, err := newComparison(ctx, &opt, engines, job)
	if err != nil {
		return nil, err
	}
	return c.complete(ctx, c.diagnoseTools)
}

// Against gives two models with the same properties and constants to every
// engine, compares all answers, and the models themselves by valuation. Models
// that differ in a state, choice or probability have a Diagnosis with a
// Difference, whatever the properties say. It is how a wrong model is told from
// the right one. Errors are those of Run, for either model.
func Against(ctx context.Context, reference, other runner.Job, engines []runner.EngineConfig, opt Options) (*Report, error) {
	c, err := newComparison(ctx, &opt, engines, reference, other)
	if err != nil {
		return nil, err
	}
	return c.complete(ctx, c.diagnoseModels)
}

// names tells models apart, also those of one name.
func names(subjects []*subject) []string {
	out := make([]string, len(subjects))
	for i, s := range subjects {
		out[i] = s.plan.Job.File
		if out[i] == "" || i > 0 && slices.Contains(out[:i], out[i]) {
			out[i] += fmt.Sprintf("#%d", i+1)
		}
	}
	return out
}

// entry is an engine with the model that it is given.
type entry struct {
	*runner.EngineConfig
	label   string
	subject *subject
}

// sampling is the method with which an entry samples, empty if it does not.
func (e *entry) sampling() runner.Method {
	m := e.subject.plan.Job.Method
	if e.Method != "" {
		m = e.Method
	}
	switch m {
	case "", runner.States:
		return ""
	case runner.Sim: // chooses a sequential test for some properties
		return runner.CI
	}
	return m
}

// comparison is a cross-check under way.
type comparison struct {
	opt      *Options
	subjects []*subject
	entries  []*entry
	rows     []*row // all of them, over which the error is split
	mine     []*row // those to ask about
	report   Report
	start    time.Time
}

func newComparison(ctx context.Context, opt *Options, engines []runner.EngineConfig, jobs ...runner.Job) (*comparison, error) {
	c := &comparison{opt: opt, start: time.Now()}
	if err := opt.complete(&jobs[0]); err != nil {
		return nil, err
	}
	var errs []error
	for _, job := range jobs {
		s, err := subjectOf(runner.NewPlan(ctx, job))
		errs = append(errs, err)
		c.subjects = append(c.subjects, s)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := c.list(); err != nil {
		return nil, err
	}
	answers, err := c.recorded()
	if err != nil {
		return nil, err
	}
	if answers != nil {
		if engines, err = answers.engines(engines); err != nil {
			return nil, err
		}
		opt.NotAsked = answers[0].NotAsked
	}
	var labels []string
	for i := range engines {
		labels = append(labels, engines[i].DisplayName())
	}
	if err := runner.Distinct(labels); err != nil {
		return nil, err
	}
	for i, label := range labels {
		for k, s := range c.subjects {
			if len(c.subjects) > 1 {
				label = labels[i] + " " + names(c.subjects)[k]
			}
			c.entries = append(c.entries, &entry{EngineConfig: &engines[i], label: label, subject: s})
		}
	}
	return c, c.replay(answers)
}

// complete has everything checked, compared and diagnosed, unless that was recorded.
func (c *comparison) complete(ctx context.Context, diagnose func(context.Context)) (*Report, error) {
	if !c.opt.Split.Replaying() && len(c.mine) > 0 {
		c.check(ctx)
		diagnose(ctx)
		if c.opt.Certify {
			c.certify(ctx)
		}
		for _, r := range c.mine {
			r.conclude(c)
		}
	}
	rep := c.finish()
	return rep, c.record()
}

// check has everything checked and compared.
func (c *comparison) check(ctx context.Context) {
	for _, s := range c.subjects {
		s.strict(ctx, c.opt)
	}
	for _, r := range c.mine {
		r.prepare(c)
	}
	c.draw(ctx)
}

func (c *comparison) finish() *Report {
	r := &c.report
	for _, s := range c.subjects {
		for _, in := range s.instances {
			r.Models = append(r.Models, in.check)
		}
	}
	for _, p := range c.entries {
		r.Engines = append(r.Engines, p.label)
	}
	r.Confidence = 1
	for _, row := range c.mine {
		r.Rows = append(r.Rows, row.Row)
		for i := range row.Verdicts {
			if row.Verdicts[i].Accuracy == result.Probable {
				r.Confidence = c.opt.Confidence
			}
		}
	}
	r.Notes = c.notes()
	r.Seconds = time.Since(c.start).Seconds()
	return r
}

// notes say how the statuses are to be read.
func (c *comparison) notes() []string {
	out := append(slices.Clone(c.opt.NotAsked), fmt.Sprintf("computed numbers agree if their relative difference is at most %g; estimated values have no guarantee, and claimed ones only that of the other program", c.opt.Tolerance))
	if c.report.Confidence < 1 {
		out = append(out, fmt.Sprintf(
			"with probability at least %g all statistical comparisons are right: those that agree are of values at most %g apart, those that disagree of different values; "+
				"the error is split evenly (Bonferroni) over %d sampled answers, and over the draws of each", c.opt.Confidence, c.opt.Precision, c.shares()))
	}
	return append(out, c.seeds()...)
}

// seeds say which engines repeat their samples.
func (c *comparison) seeds() []string {
	var with []string
	for _, row := range c.mine {
		for k := range row.Verdicts {
			if p := c.entries[k].label; row.Verdicts[k].Seed != nil && !slices.Contains(with, p) {
				with = append(with, p)
			}
		}
	}
	if len(with) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("seed %d: the same seed repeats every sample of %s", c.subjects[0].plan.Job.Simulation.Seed, strings.Join(with, ", "))}
}

// shares is the number of answers over which the error is split.
func (c *comparison) shares() int {
	n := 0
	for _, p := range c.entries {
		if p.sampling() != "" {
			n += len(c.rows)
		}
	}
	return n
}

// level is the confidence of the interval of one answer in a draw, from 1: of
// its share of the error, draw i gets 1/(i(i+1)), which sums up to 1.
func (c *comparison) level(draw int) float64 {
	return 1 - (1-c.opt.Confidence)/float64(max(1, c.shares()))/float64(draw*(draw+1))
}
