package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tilecheck/prism/jani"
	"tilecheck/prism/jani/export"
	"tilecheck/runner"
)

// isJANI reports whether a file name is that of a JANI model.
func isJANI(name string) bool { return strings.HasSuffix(name, ".jani") }

// exportJANI writes the model in the language JANI, with the properties of --props or of the model itself.
func (c *exportCmd) exportJANI(ctx context.Context, env *environment) error {
	switch {
	case slices.ContainsFunc(c.Output, func(name string) bool { return !isJANI(name) }):
		return usageError("--output: a JANI model is written from the text of a model, want another command for files of states")
	case namesStates(c.ModelFile):
		return usageError("%s: files of states have no modules, want a model for .jani", c.ModelFile)
	}
	if err := errors.Join(c.refuseForModel(), env.checkOutputs("--output", c.Output...)); err != nil {
		return err
	}
	plan, err := c.janiPlan(ctx, env)
	if err != nil {
		return err
	}
	if plan.Model.IsMarkovAutomaton() {
		return fmt.Errorf("%s: a Markov automaton cannot be written as JANI, because only its embedded MDP is known; want .drn or .umb", c.ModelFile)
	}
	for _, name := range c.Output {
		if err := c.writeJANI(env, name, plan); err != nil {
			return err
		}
	}
	env.noteWritten(c.Output...)
	return nil
}

// janiPlan returns a plan with the model and its properties. Constants may stay without a value.
func (c *exportCmd) janiPlan(ctx context.Context, env *environment) (*runner.Plan, error) {
	job := runner.Job{File: c.ModelFile, PropsFile: c.Props, Consts: c.Const, LeaveOpen: true, Dialect: dialect(c.Dialect)}
	var err error
	if job.Model, err = env.readSource(c.ModelFile); err != nil {
		return nil, err
	}
	if c.Props != "" {
		if job.Properties, err = env.readSource(c.Props); err != nil {
			return nil, err
		}
	}
	if c.Props != "" || jani.IsJANI(job.Model) {
		plan, err := runner.NewPlan(ctx, job)
		if c.Props != "" || !errors.Is(err, runner.ErrNoProperties) {
			return plan, err
		}
	}
	return runner.PlanModel(ctx, job)
}

// writeJANI writes one JANI file. It warns about properties that JANI cannot express.
func (c *exportCmd) writeJANI(env *environment, name string, plan *runner.Plan) error {
	program, properties, err := plan.Instances()
	if err != nil {
		return err
	}
	if openConstants := plan.Open(); len(openConstants) > 0 && !env.quiet {
		fmt.Fprintf(env.stderr, "constants without a value stay open: %s\n", strings.Join(openConstants, ", "))
	}
	for _, task := range plan.Tasks {
		if task.Rejected != nil {
			fmt.Fprintf(env.stderr, "warning: left out: %s\n", task.Rejected)
		}
	}
	var omitted []error
	err = env.writeFile(name, func(w io.Writer) error {
		var writeErr error
		omitted, writeErr = export.Write(w, strings.TrimSuffix(filepath.Base(name), ".jani"), program, properties)
		return writeErr
	})
	for _, omission := range omitted {
		fmt.Fprintf(env.stderr, "warning: left out: %s\n", omission)
	}
	return err
}
