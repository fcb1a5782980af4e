package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tilecheck/cmd/tilecheck/toolbox"
	"tilecheck/modelgen"

	"tilecheck/native/space/files"
	"tilecheck/report/table"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

type crosscheckCmd struct {
	jobFlags `embed:""`

	typeFlags `embed:"" group:"Files of states:"`

	Engine      []string `aliases:"engines" help:"Engines: native, prism, prism-games, storm; :bounded, :exact, :float, :proven, :sim, :ci, :aci, :apmc or :sprt says how, as native:exact." default:"native,prism,storm" placeholder:"ENGINE[:HOW]"`
	engineFlags `embed:""`
	Against     string `help:"Compare with this model: values, and states." placeholder:"MODEL" file:"states"`
	Certify     bool   `help:"Prove bounds of the true values by certificates, and compare each answer with these bounds."`
	Model       bool   `name:"state-space" aliases:"model" help:"Compare the state spaces that the engines build, not values."`

	Confidence  float64       `help:"Probability that all comparisons of sampled values together are right." default:"0.99" want:"(0,1)" placeholder:"C"`
	Tolerance   float64       `help:"Computed values agree if their relative difference is at most T." default:"1e-5" want:"(0,1)" placeholder:"T"`
	Precision   float64       `name:"sample-tolerance" aliases:"precision" help:"Sampled values agree if they differ by at most W." default:"0.02" placeholder:"W"`
	Samples     int64         `rare:"" help:"Paths that are sampled first." default:"1000" placeholder:"N"`
	MaxSamples  int64         `help:"Give up a comparison as undecided after so many paths." default:"1000000" placeholder:"N"`
	MaxPath     int64         `rare:"" help:"Steps after which a path that has not decided the property is given up." default:"10000" placeholder:"N"`
	Seed        *uint64       `help:"Seed of random numbers (default: drawn, and printed)." placeholder:"N"`
	MaxStates   int           `name:"explore-states" aliases:"max-states" rare:"" help:"Check the validity of at most N states of the model (default: 1000000)." placeholder:"N"`
	Memory      byteCount     `help:"Memory limit of one run of a tool, such as 4GB (default: none)." placeholder:"SIZE"`
	NoDeadlocks bool          `rare:"" help:"A model with a deadlock is invalid."`
	Timeout     time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
	shardFlags  `embed:""`

	Format table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run asks every engine and prints which answers agree.
func (c *crosscheckCmd) Run(ctx context.Context, env *environment) (err error) {
	if c.Model {
		return c.compareStateSpaces(ctx, env)
	}
	names := engineNames(splitNames(c.Engine))
	err = cmp.Or(
		env.refuseToolFlags(names),
		env.refuseFlags(!slices.ContainsFunc(names, isTool), noTools, "jobs"),
		env.refuseFlags(c.Certify, "with --certify", "against", "shard", "partial"),
	)
	if err != nil {
		return err
	}
	job, err := c.crosscheckJob(env)
	if errors.Is(err, errNoProperty) {
		return usageError("%w; --state-space compares the state spaces and needs no property", err)
	}
	if err != nil {
		return err
	}
	tools := env.newToolbox(c.engineFlags, c.Memory, c.Timeout)
	defer func() { err = errors.Join(err, tools.Close()) }()
	engines, unavailable, err := c.availableEngines(ctx, tools, env)
	if err != nil {
		return err
	}
	ctx, cancel := env.withLimits(ctx, c.Timeout, 0)
	defer cancel()
	testReport, err := c.compareValues(ctx, env, job, engines, crosscheck.Options{
		Confidence: c.Confidence, Tolerance: c.Tolerance, Precision: c.Precision,
		MaxSamples: c.MaxSamples, MaxStates: c.MaxStates, NoDeadlocks: c.NoDeadlocks,
		Checker: tools.Checker, Unavailable: unavailable, Ledger: env.shard, Certify: c.Certify,
	})
	if err != nil {
		return err
	}
	if env.shard.Recording() {
		env.shard.Judged()
		if code := testReport.ExitCode(); code != crosscheck.ExitOpen { // only the merge knows whether a row stays open
			return exitStatus(code)
		}
		return nil
	}
	env.markOutputStarted()
	if err := testReport.Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	return exitStatus(testReport.ExitCode())
}

// compareStateSpaces compares the state spaces that the engines build, or the state spaces of two models. It prints the differences.
func (c *crosscheckCmd) compareStateSpaces(ctx context.Context, env *environment) (err error) {
	names := engineNames(splitNames(c.Engine))
	if err := c.refuseForStateSpaces(env, names); err != nil {
		return err
	}
	job := runner.Job{File: c.ModelFile, Consts: c.Const, Dialect: dialect(c.Dialect), Generated: modelgen.Recognizer{}}
	if err := c.readModelText(env, &job); err != nil {
		return err
	}
	tools := env.newToolbox(c.engineFlags, c.Memory, c.Timeout)
	defer func() { err = errors.Join(err, tools.Close()) }()
	var engines []runner.EngineConfig
	var unavailable []string
	if c.Against == "" {
		if engines, unavailable, err = c.availableEngines(ctx, tools, env); err != nil {
			return err
		}
	}
	if i := slices.IndexFunc(engines, func(config runner.EngineConfig) bool { return config.Method != "" && config.Method != runner.States }); i >= 0 {
		return usageError("--engine: %s samples, and --state-space is about all states", engines[i].Label)
	}
	ctx, cancel := env.withLimits(ctx, c.Timeout, 0)
	defer cancel()
	otherJob := &runner.Job{File: c.Against, Consts: c.Const, Dialect: dialect(c.Dialect), Generated: modelgen.Recognizer{}}
	if err := c.readModels(ctx, env, &job, otherJob); err != nil {
		return err
	}
	if c.Against == "" {
		otherJob = nil
	}
	testReport, err := crosscheck.Models(ctx, job, otherJob, engines, crosscheck.Options{
		MaxStates: c.MaxStates, NoDeadlocks: c.NoDeadlocks, Checker: tools.Checker, Unavailable: unavailable,
	})
	if err != nil {
		return explainSwappedFiles(err, &job)
	}
	env.markOutputStarted()
	if err := testReport.Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	return exitStatus(testReport.ExitCode())
}

// refuseForStateSpaces returns a usage error if a flag or an argument was given that has no effect with --state-space. names are the engines.
func (c *crosscheckCmd) refuseForStateSpaces(env *environment, names []string) error {
	err := cmp.Or(
		env.refuseGivenFlags("with --state-space, which compares no values", "prop", "select", "certify", "confidence", "tolerance", "sample-tolerance",
			"samples", "max-samples", "max-path", "seed", "shard", "partial"),
		env.refuseFlags(c.Against != "", "with --state-space together with --against, which asks no engine", "engine", "prism-path", "prism-image", "prism-games-path", "prism-games-image", "storm-path", "storm-image", "tool-arg", "jobs", "memory"),
		env.refuseToolFlags(names),
	)
	if err == nil && c.PropsFile != "" {
		return usageError("%s has no effect with --state-space, which compares no values", c.PropsFile)
	}
	return err
}

// compareValues compares the answers of the engines about the model or, with --against, about both models.
func (c *crosscheckCmd) compareValues(ctx context.Context, env *environment, job runner.Job, engines []runner.EngineConfig, options crosscheck.Options) (*crosscheck.Report, error) {
	otherJob := job
	otherJob.File = c.Against
	if err := c.readModels(ctx, env, &job, &otherJob); err != nil {
		return nil, err
	}
	if c.Against == "" {
		comparison, err := crosscheck.Run(ctx, job, engines, options)
		return comparison, explainSwappedFiles(err, &job)
	}
	comparison, err := crosscheck.Against(ctx, job, otherJob, engines, options)
	return comparison, explainSwappedFiles(err, &job)
}

// readModels reads the models that are given as files of states. It also reads the text of the second model, which --against names.
func (c *crosscheckCmd) readModels(ctx context.Context, env *environment, job, otherJob *runner.Job) (err error) {
	if !namesStates(job.File) && !namesStates(otherJob.File) {
		if err := c.refuseForModel(); err != nil {
			return err
		}
	}
	options := files.ReadOptions{Type: c.modelType(), OperatorT: job.UsesOperatorT()}
	if namesStates(job.File) {
		if job.States, err = env.openStateFiles(ctx, job.File, options); err != nil {
			return err
		}
	}
	switch { // without --against the other job has no file
	case namesStates(otherJob.File):
		otherJob.States, err = env.openStateFiles(ctx, otherJob.File, options)
	case otherJob.File != "":
		otherJob.Model, err = env.readSource(otherJob.File)
	}
	return err
}

// crosscheckJob returns the job that the flags describe.
func (c *crosscheckCmd) crosscheckJob(env *environment) (job runner.Job, err error) {
	switch {
	case c.Against == "-":
		return job, usageError("--against cannot be standard input")
	case c.MaxSamples < c.Samples:
		return job, usageError("--max-samples is %d, want at least --samples, which is %d", c.MaxSamples, c.Samples)
	}
	if job, err = c.jobFlags.readJob(env); err != nil {
		return job, err
	}
	job.Simulation = runner.Simulation{Samples: c.Samples, MaxPath: c.MaxPath}
	if c.Seed != nil || c.hasSampling() {
		job.Simulation.Seed, err = env.seedOrRandom(c.Seed)
	}
	return job, err
}

// hasSampling reports whether some engine of --engine samples paths.
func (c *crosscheckCmd) hasSampling() bool {
	return slices.ContainsFunc(splitNames(c.Engine), func(spec string) bool {
		_, config, err := runner.ParseEngineLabel(spec)
		return err == nil && config.Method != "" && config.Method != runner.States
	})
}

// availableEngines returns the engines of --engine that are available, and notes about the other ones. It returns an error if the user has named an engine
// that is not available.
func (c *crosscheckCmd) availableEngines(ctx context.Context, tools *toolbox.Box, env *environment) (available []runner.EngineConfig, notes []string, err error) {
	var unavailable []string
	for _, label := range splitNames(c.Engine) {
		name, config, err := runner.ParseEngineLabel(label)
		if err != nil {
			return nil, nil, usageError("--engine: %w", err)
		}
		if slices.ContainsFunc(available, func(earlier runner.EngineConfig) bool { return earlier.Label == label }) {
			return nil, nil, usageError("--engine has %s twice", label)
		}
		if !env.shard.Replaying() { // recorded answers need no engine
			config.Engine, err = tools.Engine(ctx, name)
		}
		mustBeAvailable := env.givenFlags["engine"] || tools.IsConfigured(name) || ctx.Err() != nil
		switch {
		case err == nil:
			available = append(available, config)
		case mustBeAvailable:
			return nil, nil, err
		default:
			unavailable = append(unavailable, name)
		}
	}
	if len(unavailable) > 0 {
		notes = []string{fmt.Sprintf("not available here: %s (tilecheck doctor says how to install engines)", strings.Join(unavailable, " and "))}
	}
	return available, notes, nil
}
