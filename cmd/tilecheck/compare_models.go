package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"tilecheck/cmd/tilecheck/toolbox"
	"tilecheck/internal/quote"

	"tilecheck/game/strategy"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/report/table"
	"tilecheck/runner"
	"tilecheck/verify/experiment"
)

type compareModelsCmd struct {
	Words        []string `arg:"" optional:"" name:"strategy" help:"random, opposite, orthogonal, alternating (default: all four), or policies such as pref:left,up,down,right."`
	strategyFlag `embed:""`

	Max         []int `help:"Goals: tiles to reach (default: 128,256,512,1024,2048)." placeholder:"TILE"`
	boardFlags  `embed:""`
	Spawn       string   `rare:"" help:"Who draws the cell of a new tile: cell, module or uniform." default:"cell" placeholder:"SPAWN"`
	Updates     []string `help:"Moves of the models: rules, published: those with the two faults that give Table 3.6, or both (default: both where that table has a number)." placeholder:"UPDATES"`
	Property    string   `name:"prop" aliases:"property" help:"Property to check on every model." default:"${thesis}" placeholder:"PROPERTY"`
	Engine      []string `aliases:"engines" help:"Engines: native, prism, storm; each gets a column." default:"native" placeholder:"ENGINE"`
	engineFlags `embed:""`
	methodFlag  `embed:""`

	workersFlag   `embed:""`
	Timeout       time.Duration `help:"Time limit; prints what is finished (default: none)." placeholder:"DURATION"`
	plotFlag      `embed:""`
	Format        table.Format `help:"Output: table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`
	samplingFlags `embed:"" group:"Sampling (the default, or --method sim, ci, aci, apmc or sprt):"`
	splitFlags    `embed:""`
	numericFlags  `embed:"" group:"State space (--method states):"`
}

// Run checks the property for every strategy and MAX and prints the table.
func (c *compareModelsCmd) Run(ctx context.Context, env *world) (err error) {
	ctx, cancel := env.limits(ctx, c.Timeout, c.Memory)
	defer cancel()
	job, err := c.job(env)
	if err != nil {
		return err
	}
	progress, done := env.progress()
	defer done()
	job.Progress = progress
	models, err := c.models(job)
	if err != nil {
		return err
	}
	tools := env.toolbox(c.engineFlags, c.Memory, c.Timeout)
	defer func() { err = errors.Join(err, tools.Close()) }()
	engines, err := c.engines(ctx, tools)
	if err != nil {
		return err
	}
	out, err := models.Run(ctx, engines)
	if errors.Is(err, experiment.ErrProperties) {
		return usageError("--prop: %w", err)
	}
	if err != nil {
		return err
	}
	done()
	env.printing()
	if err := out.Comparison.Write(env.stdout, c.Format, env.reportOptions().For(c.Epsilon)); err != nil {
		return err
	}
	if c.Plot != "" {
		chart, err := out.Comparison.Chart()
		if err != nil {
			return err
		}
		if err := env.plot(c.Plot, chart); err != nil {
			return err
		}
	}
	env.warn(c.Format, out.Verdicts)
	if code := agreementCode(&out.Agreement, verdictCode(out.Verdicts)); code != exitOK {
		return status(code)
	}
	beside := func(x report.ComparisonCell) bool { return x.Published != nil }
	judged := func(x report.ComparisonCell) bool { return x.Compatible != report.Incomparable }
	if cells := out.Comparison.Cells; slices.ContainsFunc(cells, beside) && !slices.ContainsFunc(cells, judged) {
		return errors.New("none of the published values could be compared, see the notes")
	}
	return nil
}

// models checks the flags of the models and makes them.
func (c *compareModelsCmd) models(job runner.Job) (*experiment.Experiment, error) {
	opt := experiment.Options{Strategies: c.specs(c.Words), Max: c.Max, Job: job, Jobs: c.Jobs}
	if len(opt.Max) == 0 {
		opt.Max = experiment.ThesisMax()
	}
	opt.Board.P2 = c.P2
	var err error
	if opt.Board.Rows, opt.Board.Cols, err = c.shape(); err != nil {
		return nil, err
	}
	if opt.Board.Spawn, err = modelgen.ParseSpawn(c.Spawn); err != nil {
		return nil, fieldUsage(err)
	}
	for _, name := range splitNames(c.Updates) {
		u, err := modelgen.ParseUpdates(name)
		if err != nil {
			return nil, fieldUsage(err)
		}
		opt.Updates = append(opt.Updates, u)
	}
	if err := c.plotFlag.check(); err != nil {
		return nil, err
	}
	models, err := experiment.New(opt)
	if err != nil && slices.ContainsFunc(opt.Strategies, isPlayer) {
		words := []string{"tilecheck", "compare", "players"}
		for _, s := range opt.Strategies {
			words = append(words, quote.Word(s))
		}
		return nil, usageError("%w; did you mean: %s", err, strings.Join(words, " "))
	}
	return models, fieldUsage(err)
}

// isPlayer reports whether a strategy plays games, and is no policy of the models.
func isPlayer(spec string) bool {
	name, _, _ := strings.Cut(spec, ":")
	_, err := modelgen.ParsePolicy(spec)
	return err != nil && slices.ContainsFunc(strategy.List(), func(e strategy.Entry) bool { return e.Name == name })
}

// engines returns the engines to ask, each once.
func (c *compareModelsCmd) engines(ctx context.Context, tools *toolbox.Box) ([]runner.Engine, error) {
	var out []runner.Engine
	for _, name := range splitNames(c.Engine) {
		if slices.ContainsFunc(out, func(e runner.Engine) bool { return e.Name() == name }) {
			return nil, usageError("--engine has %s twice", name)
		}
		engine, err := tools.Engine(ctx, name)
		if err != nil {
			return nil, err
		}
		out = append(out, engine)
	}
	if len(out) == 0 {
		return nil, usageError("--engine is empty, want native, prism or storm")
	}
	return out, nil
}

// job is what all models have in common.
func (c *compareModelsCmd) job(env *world) (job runner.Job, err error) {
	job.Props = []string{c.Property}
	env.rememberProps(&job, "--prop")
	names := splitNames(c.Engine)
	err = cmp.Or(
		env.withoutTools(names),
		env.without(!slices.ContainsFunc(names, isTool), "without the engines prism and storm", "jobs"),
		env.without(!slices.Contains(names, native.Name), "without the native engine", "workers", "seed"),
		env.without(slices.ContainsFunc(names, isTool), "with PRISM and Storm, which draw all samples by themselves", "shard"),
		env.without(c.Exact, "with --exact: fractions need no bounds", "epsilon"),
	)
	if err != nil {
		return job, err
	}
	if job.Method, err = env.method(c.methodFlag, runner.Sim); err != nil {
		return job, err
	}
	if job.Simulation, err = c.simulation(env, job.Method, c.Workers); err != nil {
		return job, err
	}
	if !env.given["max-path"] {
		job.Simulation.MaxPath = 0 // the models know how long their paths are
	}
	job.Numeric, err = c.numeric(c.Workers)
	return job, err
}

// agreementCode is the exit code of what engines say about each other, given that
// of their verdicts. What was not compared is no success.
func agreementCode(t *experiment.Agreement, verdicts int) int {
	switch {
	case t.Different > 0 && verdicts != exitOutOfLimit:
		return exitDisagree
	case t.Unknown > 0 && verdicts == exitOK:
		return exitCannotRun
	}
	return verdicts
}
