package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"tilecheck/modelgen"
	"tilecheck/native/load"
	"tilecheck/native/space/files/named"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// spaceFlags say which state space, and how it is built or read.
type spaceFlags struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM or JANI model, - (standard input), or exported states: m.all, m.tra,sta, m.pexp, m.drn, m.umb." file:"states"`
	Const     []string `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`

	typeFlags   `embed:""`
	dialectFlag `embed:""`

	Exact          bool      `help:"Rational arithmetic: probabilities and rewards stay fractions."`
	MaxStates      int       `rare:"" help:"Give up a state space with more states (default: no limit)." placeholder:"N"`
	Memory         byteCount `help:"Memory limit, such as 4GB (default: 3/4 of what is free)." placeholder:"SIZE"`
	NoFixDeadlocks bool      `help:"A deadlock is an error instead of an absorbing state."`
}

// typeFlags say which type of model files of states are of.
type typeFlags struct {
	DTMC bool `name:"dtmc" rare:"" help:"The files of states are of a DTMC." xor:"type"`
	MDP  bool `name:"mdp" rare:"" help:"The files of states are of an MDP." xor:"type"`
	CTMC bool `name:"ctmc" rare:"" help:"The files of states are of a CTMC." xor:"type"`
}

// refuseForModel returns a usage error if --dtmc, --mdp or --ctmc is given together with the text of a model.
func (c *typeFlags) refuseForModel() error {
	if c.DTMC || c.MDP || c.CTMC {
		return usageError("--dtmc, --mdp and --ctmc are for files of states; the text of a model declares its type")
	}
	return nil
}

// modelType returns the model type of --dtmc, --mdp or --ctmc; TypeNone without these flags.
func (c *typeFlags) modelType() syntax.ModelType {
	switch {
	case c.DTMC:
		return syntax.DTMC
	case c.MDP:
		return syntax.MDP
	case c.CTMC:
		return syntax.CTMC
	}
	return syntax.TypeNone
}

// space builds the state space of a model or reads it from files of states. If there are too many states, the error has the exit code of a limit.
func (c *spaceFlags) space(ctx context.Context, env *environment) (*explicit.Space, error) {
	space, err := c.load(ctx, env)
	return space, stateLimitError(err)
}

// stateLimitError adds the exit code of a limit to the error about too many states. It returns any other error unchanged.
func stateLimitError(err error) error {
	if _, ok := errors.AsType[*explicit.LimitError](err); ok {
		return &codedError{exitOutOfLimit, err}
	}
	return err
}

// load builds the state space of a model, or reads it from files of states.
func (c *spaceFlags) load(ctx context.Context, env *environment) (*explicit.Space, error) {
	if !namesStates(c.ModelFile) {
		return c.buildStates(ctx, env)
	}
	return c.readStates(ctx, env)
}

// readStates returns the state space in files of states.
func (c *spaceFlags) readStates(ctx context.Context, env *environment) (*explicit.Space, error) {
	if len(c.Const) > 0 {
		return nil, usageError("--const is for models, files of states have no constants")
	}
	states, err := env.openStateFiles(ctx, c.ModelFile, c.readOptions())
	if err != nil {
		return nil, err
	}
	return states.Space(ctx, explicit.NoFractions) // with c.Exact the files were read with fractions
}

// buildStates builds the state space of a model, and prints warnings about its constants.
func (c *spaceFlags) buildStates(ctx context.Context, env *environment) (*explicit.Space, error) {
	job, err := c.jobWithModel(env)
	if err != nil {
		return nil, err
	}
	plan, err := runner.PlanModel(ctx, job)
	if err != nil {
		return nil, err
	}
	return c.buildPlan(ctx, env, plan)
}

// buildPlan builds the state space of a plan's model, and prints warnings about its constants.
func (c *spaceFlags) buildPlan(ctx context.Context, env *environment, plan *runner.Plan) (*explicit.Space, error) {
	model, warnings, err := load.PlannedModel(plan)
	if err != nil {
		return nil, err
	}
	env.warn(warnings)
	job := plan.Job
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	job.Progress = showProgress
	return explicit.Build(ctx, model, load.Options(&job))
}

// spaceJob returns a job for building the state space. It has the settings that the flags describe, but not the text of the model.
func (c *spaceFlags) spaceJob() runner.Job {
	job := runner.Job{
		File: c.ModelFile, Consts: c.Const, Dialect: dialect(c.Dialect), Generated: modelgen.Recognizer{},
		Settings: runner.Settings{NoFixDeadlocks: c.NoFixDeadlocks, Numeric: runner.Numeric{MaxStates: c.MaxStates, MaxMemory: int64(c.Memory)}},
	}
	if c.Exact {
		job.Numeric.Accuracy = result.Exact
	}
	return job
}

// jobWithModel returns a job for building the state space, with the text of the model.
func (c *spaceFlags) jobWithModel(env *environment) (job runner.Job, err error) {
	if err := c.refuseForModel(); err != nil {
		return job, err
	}
	job = c.spaceJob()
	job.Model, err = env.readSource(c.ModelFile)
	return job, err
}

// compile reads and compiles the model. It also returns warnings about the definitions of constants.
func (c *spaceFlags) compile(ctx context.Context, env *environment) (model *compile.Model, warnings []string, err error) {
	job, err := c.jobWithModel(env)
	if err != nil {
		return nil, nil, err
	}
	return load.Model(ctx, job)
}

// readOptions returns the options for reading files of states.
func (c *spaceFlags) readOptions() files.ReadOptions {
	return files.ReadOptions{Type: c.modelType(), Exact: c.Exact, NoFixDeadlocks: c.NoFixDeadlocks, MaxStates: c.MaxStates}
}

// openStateFiles reads files of states; name may stand for several of them.
func (e *environment) openStateFiles(ctx context.Context, name string, options files.ReadOptions) (*files.StateFiles, error) {
	return named.Reader(e.readSource).Open(ctx, name, options)
}

// noSuchFile reports whether there is no file with this name.
func noSuchFile(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}
