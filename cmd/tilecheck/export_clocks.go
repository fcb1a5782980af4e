package main

import (
	"context"
	"fmt"

	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/digital"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// exportedSpace returns the state space to write. For a timed automaton, this is the MDP of its clocks, and labels defines the labels to write.
// Otherwise labels is nil.
func (c *exportCmd) exportedSpace(ctx context.Context, env *environment) (space *explicit.Space, labels *sema.Program, err error) {
	if namesStates(c.ModelFile) {
		if err := env.refuseGivenFlags("on files of states", "clocks"); err != nil {
			return nil, nil, err
		}
		space, err = c.space(ctx, env)
		return space, nil, err
	}
	job, err := c.jobWithModel(env)
	if err != nil {
		return nil, nil, err
	}
	plan, err := runner.PlanModel(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	if plan.Model.ModelType() == syntax.PTA {
		space, labels, err = c.clockMDP(ctx, env, plan)
		return space, labels, stateLimitError(err)
	}
	if err := env.refuseGivenFlags("on models without clocks", "clocks"); err != nil {
		return nil, nil, err
	}
	space, err = c.buildPlan(ctx, env, plan)
	return space, nil, stateLimitError(err)
}

// clockMDP returns the MDP of the clocks of a timed automaton, and a program with the labels of the model and of --props. It prints a note about
// the meaning of the MDP, and warnings.
func (c *exportCmd) clockMDP(ctx context.Context, env *environment, plan *runner.Plan) (*explicit.Space, *sema.Program, error) {
	program, err := load.Program(plan)
	if err != nil {
		return nil, nil, err
	}
	labels := program
	if c.Props != "" {
		text, err := env.readSource(c.Props)
		if err != nil {
			return nil, nil, err
		}
		if labels, err = files.ProgramWithLabels(program, dialect(c.Dialect), c.Props, text); err != nil {
			return nil, nil, err
		}
	}
	method := digital.Digital
	if c.Clocks == string(runner.ClockRegions) {
		method = digital.Regions
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	plan.Job.Progress = showProgress
	space, clockModel, warnings, err := load.ClockModel(ctx, plan, labels, program.Labels, method)
	if err != nil {
		return nil, nil, err
	}
	env.warn(warnings)
	if !env.quiet {
		fmt.Fprintln(env.stderr, clockMDPNote(clockModel, c.ModelFile))
	}
	return space, clockModel.Program, nil
}

// clockMDPNote returns a note that says which MDP of a timed automaton was written, and what its time steps mean.
func clockMDPNote(translated *digital.Model, file string) string {
	action, step := translated.TimeStep()
	if step == 0 {
		return fmt.Sprintf("written: the MDP of the clock regions of %s, which has no rewards; its action %q leads to the next region", file, action)
	}
	return fmt.Sprintf("written: the MDP of the digital clocks of %s; its action %q lets the time %d pass, in which a clock counts 1", file, action, step)
}
