package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/crosscheck"
)

type crosscheckCmd struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM model (- for standard input)."`
	PropsFile string   `arg:"" name:"props" optional:"" help:"Properties file."`
	Prop      []string `help:"Property text; repeatable." sep:"none" placeholder:"PROPERTY"`
	Select    []string `help:"Check only the properties with these names or numbers." placeholder:"NAME"`
	Const     []string `help:"Values of undefined constants: a=1,b=0.1:0.1:0.5." sep:"none" placeholder:"DEFS"`

	Engines []string `help:"Engines to ask, each with how after a colon if not the default: native, prism:exact, storm, native:ci, prism:ci (bounded, exact, float, sim, ci, aci, apmc, sprt)." default:"native,prism,storm" placeholder:"ENGINE[:HOW]"`
	Against string   `help:"Another model, to compare with the first: its values, and its states, choices and probabilities." placeholder:"MODEL"`

	Confidence  float64       `help:"Probability that all statistical comparisons of the run are right." default:"0.99" placeholder:"C"`
	Tolerance   float64       `help:"How far values that were not sampled may be apart, relatively." default:"1e-5" placeholder:"T"`
	Precision   float64       `help:"How far sampled values may be apart." default:"0.02" placeholder:"W"`
	Samples     int64         `help:"Paths of the first draw of a simulation." default:"1000" placeholder:"N"`
	MaxSamples  int64         `help:"Paths after which a comparison stays undecided." default:"1000000" placeholder:"N"`
	MaxPath     int64         `help:"Steps after which a path that decides nothing is given up." default:"10000" placeholder:"N"`
	Seed        *uint64       `help:"Seed of the random numbers (default: drawn, and printed)." placeholder:"N"`
	MaxStates   int           `help:"States that the strict check of the model looks at." placeholder:"N"`
	Memory      byteCount     `help:"Memory for one run of a tool." placeholder:"SIZE"`
	NoDeadlocks bool          `help:"A model with a deadlock is invalid."`
	Timeout     time.Duration `help:"Give up after this time; what is finished by then is printed." placeholder:"DURATION"`

	engineFlags `embed:""`
	Format      report.Format `help:"Output format: table, json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run asks every engine and prints who agrees.
func (c *crosscheckCmd) Run(ctx context.Context, env *world) (err error) {
	job, err := c.job(env)
	if err != nil {
		return err
	}
	tools := env.toolbox(c.engineFlags, c.Memory, c.Timeout)
	defer func() { err = errors.Join(err, tools.close()) }()
	entrants, err := c.entrants(ctx, tools)
	if err != nil {
		return err
	}
	ctx, cancel := timeLimit(ctx, c.Timeout)
	defer cancel()
	rep, err := c.run(ctx, env, job, entrants)
	if err != nil {
		return err
	}
	if err := rep.Table().Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	return status(rep.ExitCode())
}

func (c *crosscheckCmd) run(ctx context.Context, env *world, job runner.Job, entrants []crosscheck.Entrant) (*crosscheck.Report, error) {
	opt := crosscheck.Options{
		Confidence: c.Confidence, Tolerance: c.Tolerance, Precision: c.Precision,
		MaxSamples: c.MaxSamples, MaxStates: c.MaxStates, NoDeadlocks: c.NoDeadlocks,
	}
	if c.Against == "" {
		return crosscheck.Run(ctx, job, entrants, opt)
	}
	other := job
	other.File = c.Against
	var err error
	if other.Model, err = env.readSource(c.Against); err != nil {
		return nil, err
	}
	return crosscheck.Against(ctx, job, other, entrants, opt)
}

func (c *crosscheckCmd) job(env *world) (job runner.Job, err error) {
	switch {
	case c.PropsFile == "" && len(c.Prop) == 0:
		return job, usageError("no property: give a properties file or --prop, for example --prop 'P=? [ F s=2 ]'")
	case c.PropsFile == "-" && c.ModelFile == "-" || c.Against == "-":
		return job, usageError("only one of the files can be standard input, and --against cannot")
	case !(c.Confidence > 0 && c.Confidence < 1):
		return job, usageError("--confidence is %g, want a probability between 0 and 1", c.Confidence)
	case !(c.Tolerance > 0) || !(c.Precision > 0):
		return job, usageError("--tolerance is %g and --precision is %g, want positive numbers", c.Tolerance, c.Precision)
	case c.Samples < 1 || c.MaxSamples < c.Samples || c.MaxPath < 1 || c.MaxStates < 0:
		return job, usageError("--samples, --max-samples, --max-path and --max-states count, want positive numbers, and at most --max-samples --samples")
	}
	job = runner.Job{File: c.ModelFile, PropsFile: c.PropsFile, Props: c.Prop, Select: c.Select, Consts: c.Const}
	job.Simulation = runner.Simulation{Samples: c.Samples, MaxPath: c.MaxPath}
	if job.Simulation.Seed, err = seedOr(c.Seed); err != nil {
		return job, err
	}
	if job.Model, err = env.readSource(c.ModelFile); err != nil {
		return job, err
	}
	if c.PropsFile != "" {
		job.Properties, err = env.readSource(c.PropsFile)
	}
	return job, err
}

// entrants reads the engines: a name, and how it is to check after a colon.
func (c *crosscheckCmd) entrants(ctx context.Context, tools *toolbox) ([]crosscheck.Entrant, error) {
	var out []crosscheck.Entrant
	for _, spec := range splitNames(c.Engines) {
		name, how, _ := strings.Cut(spec, ":")
		x := crosscheck.Entrant{Label: spec}
		if err := howTo(&x, how); err != nil {
			return nil, err
		}
		engine, cmd, err := tools.engine(ctx, name)
		if err != nil {
			return nil, err
		}
		x.Engine = engine
		switch {
		case cmd == nil || name == native.Name:
		case name == "prism":
			x.Export = crosscheck.PRISMModel(cmd)
		default:
			x.Export = crosscheck.StormModel(cmd)
		}
		out = append(out, x)
	}
	return out, nil
}

func howTo(x *crosscheck.Entrant, how string) error {
	switch how {
	case "":
	case "bounded":
		x.Method, x.Accuracy = runner.Exact, result.Bounded
	case "exact":
		x.Method, x.Accuracy = runner.Exact, result.Exact
	case "float":
		x.Method, x.Accuracy = runner.Exact, result.Float
	case "sim", "ci", "aci", "apmc", "sprt":
		x.Method = runner.Method(how)
	default:
		return usageError("--engines: %s: unknown way to check %q, want bounded, exact, float, sim, ci, aci, apmc or sprt", x.Label, how)
	}
	return nil
}
