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
	Spawn       string   `help:"Who chooses the cell of a new tile: cell (the default): the scheduler, as in the thesis; uniform or module: chance, as in the game." default:"cell" placeholder:"SPAWN"`
	Updates     []string `rare:"" help:"How tiles move: rules, published (with the two faults that explain the published Table 3.6), or both (default: both where that table has a number)." placeholder:"UPDATES"`
	Property    string   `name:"prop" aliases:"property" help:"Property to check." default:"${thesis}" placeholder:"PROPERTY"`
	Engine      []string `aliases:"engines" help:"Engines: native, prism, prism-games, storm; each gets a column." default:"native" placeholder:"ENGINE"`
	engineFlags `embed:""`
	methodFlag  `embed:"" set:"methodDefault=sim"`

	workersFlag   `embed:""`
	Timeout       time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
	plotFlag      `embed:""`
	Format        table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
	samplingFlags `embed:"" group:"Sampling (the default, or --method sim, ci, aci, apmc or sprt):"`
	shardFlags    `embed:""`
	numericFlags  `embed:"" group:"State space (--method states):"`
}

// Run checks the property on a generated model for each strategy and each MAX, the goal tile, and prints a table of the answers.
func (c *compareModelsCmd) Run(ctx context.Context, env *environment) (err error) {
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	job, err := c.sharedJob(env)
	if err != nil {
		return err
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	job.Progress = showProgress
	modelExperiment, err := c.newExperiment(job)
	if err != nil {
		return err
	}
	tools := env.newToolbox(c.engineFlags, c.Memory, c.Timeout)
	defer func() { err = errors.Join(err, tools.Close()) }()
	engines, err := c.findEngines(ctx, tools)
	if err != nil {
		return err
	}
	outcome, err := modelExperiment.Run(ctx, engines)
	if errors.Is(err, experiment.ErrProperties) {
		return usageError("--prop: %w", err)
	}
	if err != nil {
		return err
	}
	stopProgress()
	if err := c.printOutcome(env, outcome); err != nil {
		return err
	}
	if code := agreementCode(&outcome.Agreement, verdictCode(outcome.Verdicts)); code != exitOK {
		return exitStatus(code)
	}
	return publishedError(outcome.Comparison.Cells)
}

// printOutcome prints the table and the warnings, and writes the chart of --plot.
func (c *compareModelsCmd) printOutcome(env *environment, outcome *experiment.Outcome) error {
	env.markOutputStarted()
	if err := outcome.Comparison.Write(env.stdout, c.Format, env.reportOptions().For(c.Epsilon)); err != nil {
		return err
	}
	if c.Plot != "" {
		chart, err := outcome.Comparison.Chart()
		if err != nil {
			return err
		}
		if err := env.writeChart(c.Plot, chart); err != nil {
			return err
		}
	}
	env.printWarnings(c.Format, outcome.Verdicts)
	return nil
}

// publishedError returns an error if published values exist, but none of them could be compared.
func publishedError(cells []report.ComparisonCell) error {
	isPublished := func(cell report.ComparisonCell) bool { return cell.Published != nil }
	isCompared := func(cell report.ComparisonCell) bool { return cell.Compatible != report.Incomparable }
	if slices.ContainsFunc(cells, isPublished) && !slices.ContainsFunc(cells, isCompared) {
		return errors.New("none of the published values could be compared, see the notes")
	}
	return nil
}

// newExperiment returns the experiment that the flags describe: a generated model for each strategy and each goal tile.
func (c *compareModelsCmd) newExperiment(job runner.Job) (*experiment.Experiment, error) {
	options, err := c.experimentOptions(job)
	if err != nil {
		return nil, err
	}
	if err := c.plotFlag.checkExtension(); err != nil {
		return nil, err
	}
	modelExperiment, err := experiment.New(options)
	if err != nil && slices.ContainsFunc(options.Strategies, isPlayer) { // suggest the command for strategies that only play games
		return nil, usageError("compare models: %w; other strategies play games (%s), and export-strategy writes their models for check", err, c.playersCommand())
	}
	return modelExperiment, asUsageError(err)
}

// playersCommand returns the command line that lets the same strategies play on the same board.
func (c *compareModelsCmd) playersCommand() string {
	words := []string{"tilecheck", "compare", "players"}
	for _, strategy := range c.specsOrThesis(c.Words) {
		words = append(words, quote.Word(strategy))
	}
	if rows, cols, err := c.boardShape(); err == nil {
		words = append(words, fmt.Sprintf("--size %dx%d", rows, cols))
	}
	if len(c.Max) == 1 { // players have one goal
		words = append(words, fmt.Sprintf("--max %d", c.Max[0]))
	}
	return strings.Join(words, " ")
}

// experimentOptions returns the options of the experiment that the flags describe.
func (c *compareModelsCmd) experimentOptions(job runner.Job) (options experiment.Options, err error) {
	options = experiment.Options{Strategies: c.specsOrThesis(c.Words), GoalTiles: c.Max, Job: job, Jobs: c.Jobs}
	if len(options.GoalTiles) == 0 {
		options.GoalTiles = experiment.ThesisMax()
	}
	options.Board.P2 = c.P2
	if options.Board.Rows, options.Board.Cols, err = c.boardShape(); err != nil {
		return options, err
	}
	if options.Board.Spawn, err = modelgen.ParseSpawn(c.Spawn); err != nil {
		return options, asUsageError(err)
	}
	for _, name := range splitNames(c.Updates) {
		updates, err := modelgen.ParseUpdates(name)
		if err != nil {
			return options, asUsageError(err)
		}
		options.Updates = append(options.Updates, updates)
	}
	return options, nil
}

// isPlayer reports whether a strategy can play games but cannot be the policy of a model.
func isPlayer(spec string) bool {
	name, _, _ := strings.Cut(spec, ":")
	_, err := modelgen.ParsePolicy(spec)
	return err != nil && slices.ContainsFunc(strategy.List(), func(e strategy.Entry) bool { return e.Name == name })
}

// findEngines returns the engines of --engine.
func (c *compareModelsCmd) findEngines(ctx context.Context, tools *toolbox.Box) ([]runner.Engine, error) {
	var engines []runner.Engine
	for _, name := range splitNames(c.Engine) {
		if slices.ContainsFunc(engines, func(earlier runner.Engine) bool { return earlier.Name() == name }) {
			return nil, usageError("--engine has %s twice", name)
		}
		engine, err := tools.Engine(ctx, name)
		if err != nil {
			return nil, err
		}
		engines = append(engines, engine)
	}
	if len(engines) == 0 {
		return nil, usageError("--engine is empty, want native, prism, prism-games or storm")
	}
	return engines, nil
}

// sharedJob returns the job that all models share: the property, and the settings of the check.
func (c *compareModelsCmd) sharedJob(env *environment) (job runner.Job, err error) {
	job.Props = []string{c.Property}
	env.rememberProps(&job, "--prop")
	names := splitNames(c.Engine)
	err = cmp.Or(
		env.refuseToolFlags(names),
		env.refuseFlags(!slices.ContainsFunc(names, isTool), "without the engines prism and storm", "jobs"),
		env.refuseFlags(!slices.Contains(names, native.Name), "without the native engine", "workers", "seed"),
		env.refuseFlags(slices.ContainsFunc(names, isTool), "with PRISM and Storm, which draw all samples by themselves", "shard"),
		env.refuseFlags(c.Exact, "with --exact: fractions need no bounds", "epsilon"),
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
	if !env.givenFlags["max-path"] {
		job.Simulation.MaxPath = 0 // each model has its own limit
	}
	job.Numeric, err = c.numericSettings(c.Workers)
	return job, err
}

// agreementCode returns the exit code of a comparison of engines. It is exitDisagree if the engines disagree. verdictsCode is the exit code of
// the verdicts without the comparison.
func agreementCode(agreement *experiment.Agreement, verdictsCode int) int {
	switch {
	case agreement.Different > 0 && verdictsCode != exitOutOfLimit:
		return exitDisagree
	case agreement.Unknown > 0 && verdictsCode == exitOK: // a value could not be compared
		return exitCannotRun
	}
	return verdictsCode
}
