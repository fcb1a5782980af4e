package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tilecheck/native/explain/scheduler"

	"tilecheck/native"
	"tilecheck/native/space/files"
	"tilecheck/report"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/runner"
)

type checkCmd struct {
	jobFlags `embed:""`

	typeFlags `embed:"" group:"Files of states:"`

	Param           []string `rare:"" help:"Constants that stay open: the result is a formula in them, and a bound such as P>=0.5 gives the regions where it holds. Write p for 0 to 1, or q=0.2:0.8. --epsilon is then the share of the range that may stay undecided (default: 0.05)." sep:"none" placeholder:"PARAMS"`
	Engine          string   `help:"native (default), prism, prism-games, storm." default:"native" placeholder:"ENGINE[:HOW]"`
	engineFlags     `embed:""`
	workersFlag     `embed:""`
	methodFlag      `embed:"" set:"methodDefault=states"`
	NoFixDeadlocks  bool          `rare:"" help:"A deadlock is an error instead of an absorbing state."`
	Timeout         time.Duration `help:"Time limit (default: none)." placeholder:"DURATION"`
	samplingFlags   `embed:"" group:"Sampling (--method sim: ci for =?, sprt for bounds):"`
	Quantiles       []float64 `rare:"" help:"Levels of quantiles of a reward, such as 0.5,0.9: print them and the mean beyond each (CVaR), with bounds." placeholder:"P" want:"(0,1)" group:"Sampling (--method sim: ci for =?, sprt for bounds):"`
	shardFlags      `embed:""`
	checkFlags      `embed:"" group:"State space (--method states, the default):"`
	ExportScheduler string       `help:"Optimal scheduler: .json, .tra or FILE:type=tree." placeholder:"FILE" file:"target"`
	Certify         bool         `help:"Prove answers by certificates, and check these."`
	Certificate     string       `help:"The same, and write the certificates (.gz works)." placeholder:"FILE" file:"out"`
	ExportResults   string       `rare:"" help:"Also write the results in PRISM's format: FILE, FILE:csv, FILE:matrix, FILE:matrix,csv, FILE:dataframe or FILE:comment." placeholder:"FILE" file:"target"`
	Plot            string       `help:"Draw an experiment or a Pareto curve, .svg or .png." placeholder:"FILE" file:"out"`
	Witness         pathCount    `help:"Why: the 3 likeliest paths, or a counterexample."`
	Misses          bool         `rare:"" help:"With --witness, of a property with =?: also the likeliest paths on which the formula does not hold."`
	Subsystem       bool         `rare:"" help:"With --witness, if a bound fails: also few states and commands that suffice to break it."`
	ExportSubsystem string       `rare:"" help:"With --subsystem: write a model with these commands only; it is checked again." placeholder:"FILE" file:"out"`
	ExportWitness   string       `rare:"" help:"With --witness: write the likeliest path, which simulate --path replays." placeholder:"FILE" file:"out"`
	Format          table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`

	outputs   *writtenFiles
	subsystem []byte // the text of the critical subsystem as a model
}

// Run checks the properties, prints one row for each, and writes the files that the flags name.
func (c *checkCmd) Run(ctx context.Context, env *environment) error {
	c.outputs = new(writtenFiles)
	if err := cmp.Or(c.refuseSeparatePathCount(), (plotFlag{c.Plot}).checkExtension()); err != nil {
		return err
	}
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	job, err := c.job(env)
	if err != nil {
		return err
	}
	resultsFile, resultsStyle, err := c.resultsTarget()
	if err != nil {
		return err
	}
	showProgress, stopProgress := env.startProgress()
	job.Progress = showProgress
	verdicts, err := c.checkJob(ctx, env, job)
	stopProgress()
	if len(verdicts) == 0 && err != nil {
		return err
	}
	env.markOutputStarted()
	err = errors.Join(err, report.Verdicts(env.stdout, c.Format, verdicts, env.reportOptions().For(c.Epsilon)))
	env.printWarnings(c.Format, verdicts)
	c.noteStateLimit(env, &job, verdicts)
	err = errors.Join(err, c.exportSubsystem(ctx, env, job), c.exportWitness(ctx, env, verdicts))
	if resultsFile != "" {
		err = errors.Join(err, c.outputs.write(env, resultsFile, func(w io.Writer) error { return report.ExportResults(w, resultsStyle, verdicts) }))
	}
	env.noteWritten(c.outputs.names()...)
	if c.Plot != "" {
		err = errors.Join(err, c.drawChart(env, verdicts))
	}
	return cmp.Or(err, exitStatus(c.exitCode(ctx, env, &job, verdicts)))
}

// noteStateLimit prints a note if the state space of some property exceeded a limit. The note names the flags with which it may be answered.
func (c *checkCmd) noteStateLimit(env *environment, job *runner.Job, verdicts []result.Verdict) {
	isTooLarge := func(verdict result.Verdict) bool { return verdict.Err != nil && verdict.Err.Class == result.Memory }
	if env.quiet || c.Engine != native.Name || job.Method != runner.States || !slices.ContainsFunc(verdicts, isTooLarge) {
		return
	}
	fmt.Fprintln(env.stderr, "note: for so many states, --method sim samples paths, --symmetry keeps one of the states that differ only by a permutation of modules, and --disk DIR keeps the states in files")
}

// exitCode returns the exit code of the verdicts. With --certify, the run also fails if an answer is not proven or the certificate was not
// written.
func (c *checkCmd) exitCode(ctx context.Context, env *environment, job *runner.Job, verdicts []result.Verdict) int {
	code, incompleteCode := verdictCode(verdicts), exitCannotRun
	if ctx.Err() != nil {
		incompleteCode, _ = exitCodeOf(ctx.Err())
	}
	if job.Certificate != nil && !c.outputs.has(c.Certificate) {
		fmt.Fprintf(env.stderr, "warning: %s was not written\n", c.Certificate)
		code = cmp.Or(code, incompleteCode)
	}
	if code == exitOK && job.Numeric.Accuracy == result.Proven && !areAllProven(verdicts) {
		code = incompleteCode
	}
	return code
}

// drawChart writes the chart of the verdicts to the file of --plot. It prints notes about the verdicts that the chart omits.
func (c *checkCmd) drawChart(env *environment, verdicts []result.Verdict) error {
	chart, notes, err := report.VerdictChart(verdicts)
	for _, note := range notes {
		fmt.Fprintf(env.stderr, "note: %s\n", note)
	}
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return env.writeChart(c.Plot, chart)
}

// areAllProven reports whether every verdict is proven.
func areAllProven(verdicts []result.Verdict) bool {
	return !slices.ContainsFunc(verdicts, func(v result.Verdict) bool { return v.Accuracy != result.Proven })
}

// checkJob checks the job with the engine of --engine. If the model is given as files of states, it first reads these files.
func (c *checkCmd) checkJob(ctx context.Context, env *environment, job runner.Job) (verdicts []result.Verdict, err error) {
	isStateFiles := namesStates(c.ModelFile)
	if !isStateFiles {
		if err := c.refuseForModel(); err != nil {
			return nil, err
		}
	}
	tools := env.newToolbox(c.engineFlags, c.Memory, c.Timeout)
	defer func() { err = errors.Join(err, tools.Close()) }()
	engine, err := tools.Engine(ctx, c.Engine)
	if err != nil {
		return nil, err
	}
	if isStateFiles {
		options := files.ReadOptions{Type: c.modelType(), NoFixDeadlocks: c.NoFixDeadlocks, MaxStates: c.MaxStates, OperatorT: job.UsesOperatorT()}
		options.Exact = (c.Exact || job.Numeric.Accuracy == result.Proven) && c.Engine == native.Name // the other engines do not compute with these states
		if job.States, err = env.openStateFiles(ctx, c.ModelFile, options); err != nil {
			return nil, stateLimitError(err)
		}
	}
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, explainSwappedFiles(err, &job)
	}
	env.noteSamples(plan)
	return engine.Check(ctx, plan)
}

// printWarnings prints the warnings of verdicts on standard error, without repetitions. For text and Markdown it prints nothing, because their
// tables show the warnings as notes.
func (e *environment) printWarnings(format table.Format, verdicts []result.Verdict) {
	var warnings []string
	for _, verdict := range verdicts {
		for _, warning := range report.Remarks(&verdict) {
			if !slices.Contains(warnings, warning) {
				warnings = append(warnings, warning)
			}
		}
	}
	e.printWarningLines(format, warnings)
}

// applyEngineMode replaces the mode in --engine ENGINE:MODE by the flag with the same meaning: --exact, --float or --method. It returns a usage
// error if the engine or the mode is unknown, or if another flag asks for something else.
func (c *checkCmd) applyEngineMode() error {
	name, mode, hasMode := strings.Cut(c.Engine, ":")
	if !slices.Contains(append(toolNames(), native.Name), name) {
		return usageError("--engine is %q, want native, prism, prism-games or storm", name)
	}
	if !hasMode {
		return nil
	}
	wantedMethod := method(mode)
	switch mode {
	case "bounded", "exact", "float":
		wantedMethod = "states"
	case "sim", "ci", "aci", "apmc", "sprt":
	default:
		return usageError("--engine %s:%s: want bounded, exact, float, sim, ci, aci, apmc or sprt behind the colon", name, mode)
	}
	contradictsMethod := c.Method != "" && c.Method != wantedMethod
	contradictsAccuracy := c.Exact && mode != "exact" || c.Float && mode != "float"
	if contradictsMethod || contradictsAccuracy {
		return usageError("--engine %s says how to check, and so does another flag: want one of them", c.Engine)
	}
	if wantedMethod == "states" {
		c.Exact, c.Float = mode == "exact", mode == "float"
	} else {
		c.Method = wantedMethod
	}
	c.Engine = name
	return nil
}

// job returns the job that the flags describe. It returns a usage error if the flags do not fit together.
func (c *checkCmd) job(env *environment) (job runner.Job, err error) {
	if err := cmp.Or(c.applyEngineMode(), c.refuseEngineFlags(env)); err != nil {
		return job, err
	}
	method, err := env.method(c.methodFlag, runner.States)
	if err != nil {
		return job, err
	}
	if method.IsSplitting() {
		if c.Engine != native.Name {
			return job, usageError("--method %s is for the native engine, found --engine %s", method, c.Engine)
		}
		if err := env.refuseGivenFlags("with --method "+string(method), "shard", "max-reward", "quantiles"); err != nil {
			return job, err
		}
	}
	if job, err = c.jobFlags.readJob(env); err != nil {
		return job, err
	}
	job.Method, job.NoFixDeadlocks, job.Params = method, c.NoFixDeadlocks, c.Param
	if job.Simulation, err = c.simulation(env, job.Method, c.Workers); err != nil {
		return job, err
	}
	job.Simulation.Quantiles = c.Quantiles
	if job.Numeric, err = c.numeric(c.Workers); err != nil {
		return job, err
	}
	return job, c.addOutputs(env, &job)
}

// refuseEngineFlags returns a usage error if a flag was given that has no effect on the selected engine.
func (c *checkCmd) refuseEngineFlags(env *environment) error {
	return cmp.Or(
		env.refuseToolFlags([]string{c.Engine}),
		env.refuseFlags(c.Engine == native.Name, noTools, "jobs"),
		env.refuseFlags(c.Engine != native.Name, "without the native engine", "workers", "quantiles", "reduce", "symmetry", "boxes", "compose", "beliefs", "disk", "worker", "param"),
		env.refuseFlags(isPRISM(c.Engine), "with PRISM, want --memory", "max-states"),
		env.refuseFlags(isPRISM(c.Engine), "with PRISM, which draws a seed of its own", "seed"),
		env.refuseFlags(c.Engine != native.Name, "with PRISM and Storm, which draw all samples by themselves", "shard"),
		env.refuseFlags(c.Exact, "with --exact: fractions need no bounds", "epsilon"),
	)
}

// addOutputs adds the certificates, witnesses and the scheduler that the flags ask for to the outputs of the job.
func (c *checkCmd) addOutputs(env *environment, job *runner.Job) error {
	if c.Certify || c.Certificate != "" {
		if err := c.requireCertificates(env, job); err != nil {
			return err
		}
	}
	if err := c.addWitness(env, job); err != nil || c.ExportScheduler == "" {
		return err
	}
	if job.Method != runner.States || c.Engine != native.Name {
		return usageError("--export-scheduler is for the state space of the native engine, want --method states --engine native")
	}
	if _, _, _, err := scheduler.ParseTarget(c.ExportScheduler); err != nil {
		return usageError("--export-scheduler: %w", err)
	}
	job.Scheduler = &runner.SchedulerFile{Target: c.ExportScheduler, Write: c.outputs.writer(env)}
	return nil
}

// writtenFiles writes files and remembers their names. The engine may write several at the same time.
type writtenFiles struct {
	mu      sync.Mutex
	written []string
}

// write writes a file. If this succeeds, it adds the name of the file to the list of written files.
func (f *writtenFiles) write(env *environment, name string, write func(io.Writer) error) error {
	err := env.writeFile(name, write)
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.written = append(f.written, name)
	}
	return err
}

// writer returns the method write as a function for an engine.
func (f *writtenFiles) writer(env *environment) writeFile {
	return func(name string, write func(io.Writer) error) error { return f.write(env, name, write) }
}

// has reports whether a file was written.
func (f *writtenFiles) has(name string) bool { return slices.Contains(f.names(), name) }

// names returns the names of the written files in alphabetical order, because the order of writing may differ from run to run.
func (f *writtenFiles) names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(slices.Values(f.written))
}

// requireCertificates changes the job so that it proves its answers by certificates. It returns a usage error if other flags make this impossible.
func (c *checkCmd) requireCertificates(env *environment, job *runner.Job) error {
	switch {
	case job.Method != runner.States || c.Engine != native.Name:
		return usageError("--certify and --certificate are for the state space of the native engine, want --method states --engine native")
	case c.Float:
		return usageError("--certify and --certificate prove bounds, or fractions with --exact: want them without --float")
	}
	job.Numeric.Accuracy, job.Numeric.Fractions = result.Proven, c.Exact
	if c.Certificate != "" {
		job.Certificate = &runner.CertificateFile{File: c.Certificate, Write: c.outputs.writer(env)}
	}
	return nil
}

// resultsTarget returns the file and the style of --export-results. The file is empty without the flag.
func (c *checkCmd) resultsTarget() (file string, resultsStyle report.ResultsStyle, err error) {
	file, styleName := cutTarget(c.ExportResults)
	if strings.EqualFold(filepath.Ext(file), ".csv") { // PRISM writes tabs unless its option csv is given
		switch styleName {
		case "":
			styleName = "csv"
		case "matrix":
			styleName = "matrix,csv"
		}
	}
	if resultsStyle, err = report.ParseResultsStyle(styleName); err != nil {
		return "", "", usageError("--export-results: %w", err)
	}
	if file == "" && c.ExportResults != "" {
		return "", "", usageError("--export-results is %q, want a file, and perhaps a style behind a colon", c.ExportResults)
	}
	return file, resultsStyle, nil
}

// reportOptions returns the options of everything that is printed on standard output.
func (e *environment) reportOptions() table.Options {
	return table.Options{Version: e.version, Command: e.jsonCommand, Width: e.width(), Whole: e.whole(), Color: e.color(e.stdout)}
}
