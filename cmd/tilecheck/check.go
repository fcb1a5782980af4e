package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"tilecheck/internal/atomicfile"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

type checkCmd struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM model to check (- for standard input), or files of states: model.all, model.tra,sta,lab, model.drn."`
	PropsFile string   `arg:"" name:"props" optional:"" help:"Properties file."`
	Prop      []string `help:"Property text; repeatable." sep:"none" placeholder:"PROPERTY"`
	Select    []string `help:"Check only the properties with these names or numbers." placeholder:"NAME"`
	Const     []string `help:"Values of undefined constants: a=1,b=0.1:0.1:0.5." sep:"none" placeholder:"DEFS"`
	DTMC      bool     `name:"dtmc" help:"The files of states are of a DTMC." xor:"type"`
	MDP       bool     `name:"mdp" help:"The files of states are of an MDP." xor:"type"`
	CTMC      bool     `name:"ctmc" help:"The files of states are of a CTMC." xor:"type"`
	Engine    string   `help:"Engine to ask: native, prism or storm." default:"native" enum:"native,prism,storm"`

	methodFlag      `embed:""`
	samplingFlags   `embed:""`
	numericFlags    `embed:""`
	engineFlags     `embed:""`
	NoFixDeadlocks  bool          `help:"A deadlock is an error instead of an absorbing state."`
	Timeout         time.Duration `help:"Give up after this time; what is finished by then is printed." placeholder:"DURATION"`
	ExportScheduler string        `help:"Also write the scheduler that attains the value: FILE, or FILE:type=actions, indices, induced, dot or json, as PRISM's -exportstrat; .tra, .dot and .json are known by name." placeholder:"FILE[:OPTIONS]"`
	ExportResults   string        `help:"Also write the results as PRISM's -exportresults does: FILE, FILE:csv, FILE:matrix, FILE:matrix,csv, FILE:dataframe or FILE:comment." placeholder:"FILE[:STYLE]"`
	Format          report.Format `help:"Output format: table, json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run checks the properties and prints one row each.
func (c *checkCmd) Run(ctx context.Context, env *world) error {
	job, err := c.job(env)
	if err != nil {
		return err
	}
	results, style, err := c.exportResults()
	if err != nil {
		return err
	}
	progress, done := env.progress()
	job.Progress = progress
	ctx, cancel := timeLimit(ctx, c.Timeout)
	defer cancel()
	verdicts, err := c.verdicts(ctx, env, job)
	done()
	if err != nil {
		return err
	}
	if results != "" {
		if err := env.writeFile(results, func(w io.Writer) error { return report.ExportResults(w, style, verdicts) }); err != nil {
			return err
		}
	}
	if err := report.Verdicts(env.stdout, c.Format, verdicts, env.reportOptions()); err != nil {
		return err
	}
	env.warn(c.Format, verdicts)
	return status(verdictCode(verdicts))
}

// verdicts asks the engine. Files of states are for the native one.
func (c *checkCmd) verdicts(ctx context.Context, env *world, job runner.Job) (verdicts []result.Verdict, err error) {
	if !isSpaceFile(c.ModelFile) {
		if c.DTMC || c.MDP || c.CTMC {
			return nil, usageError("--dtmc, --mdp and --ctmc are for files of states, a model says what it is")
		}
		tools := env.toolbox(c.engineFlags, c.Memory, c.Timeout)
		defer func() { err = errors.Join(err, tools.close()) }()
		engine, _, err := tools.engine(ctx, c.Engine)
		if err != nil {
			return nil, err
		}
		return engine.Check(ctx, job)
	}
	if c.Engine != native.Name || job.Method != runner.Exact {
		return nil, usageError("files of states are checked by the native engine, want --engine native --method exact")
	}
	space, err := (&spaceFlags{
		ModelFile: c.ModelFile, DTMC: c.DTMC, MDP: c.MDP, CTMC: c.CTMC,
		Exact: c.Exact, MaxStates: c.MaxStates, Memory: c.Memory, NoFixDeadlocks: c.NoFixDeadlocks,
	}).space(ctx, env)
	if err != nil {
		return nil, err
	}
	return native.New().CheckSpace(ctx, space, job)
}

// warn repeats the warnings on standard error where the format keeps them in
// fields; tables and Markdown print them as notes.
func (e *world) warn(f report.Format, verdicts []result.Verdict) {
	if f == report.FormatTable || f == report.FormatMarkdown {
		return
	}
	said := make(map[string]bool)
	for _, v := range verdicts {
		for _, w := range v.Warnings {
			if !said[w] {
				said[w] = true
				fmt.Fprintf(e.stderr, "warning: %s\n", w)
			}
		}
	}
}

func (c *checkCmd) job(env *world) (runner.Job, error) {
	job := runner.Job{
		File: c.ModelFile, PropsFile: c.PropsFile, Props: c.Prop, Select: c.Select, Consts: c.Const,
		NoFixDeadlocks: c.NoFixDeadlocks,
	}
	var err error
	if job.Method, err = c.method(c.methodFlag, runner.Exact); err != nil {
		return job, err
	}
	if job.Simulation, err = c.simulation(job.Method); err != nil {
		return job, err
	}
	if job.Numeric, err = c.numeric(job.Method, c.Workers); err != nil {
		return job, err
	}
	if c.ExportScheduler != "" {
		if job.Method != runner.Exact || c.Engine != native.Name {
			return job, usageError("--export-scheduler is for the state space of the native engine, want --method exact --engine native")
		}
		job.Scheduler = &runner.SchedulerFile{Target: c.ExportScheduler, Write: env.writeFile}
	}
	if c.PropsFile == "" && len(c.Prop) == 0 {
		return job, usageError("no property: give a properties file or --prop, for example --prop 'P=? [ F s=2 ]'")
	}
	if c.PropsFile == "-" && c.ModelFile == "-" {
		return job, usageError("model and properties cannot both be standard input")
	}
	if !isSpaceFile(c.ModelFile) {
		if job.Model, err = env.readSource(c.ModelFile); err != nil {
			return job, err
		}
	}
	if c.PropsFile != "" {
		job.Properties, err = env.readSource(c.PropsFile)
	}
	return job, err
}

// exportResults splits the flag into a file, empty if there is none, and a style.
func (c *checkCmd) exportResults() (file string, style report.ResultsStyle, err error) {
	file, name, _ := strings.Cut(c.ExportResults, ":")
	if style, err = report.ParseResultsStyle(name); err != nil {
		return "", "", usageError("--export-results: %w", err)
	}
	if file == "" && c.ExportResults != "" {
		return "", "", usageError("--export-results is %q, want a file, and perhaps a style behind a colon", c.ExportResults)
	}
	return file, style, nil
}

// writeFile writes a file completely or not at all; "-" is standard output.
func (e *world) writeFile(name string, write func(io.Writer) error) error {
	if name == "-" || name == "stdout" {
		return write(e.stdout)
	}
	return atomicfile.Write(name, write)
}

func (e *world) reportOptions() report.Options {
	return report.Options{Version: version, Width: e.width(), Color: e.color(e.stdout)}
}
