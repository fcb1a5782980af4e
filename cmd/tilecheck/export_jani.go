package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tilecheck/native/space/files/named"
	"tilecheck/prism/jani"
	"tilecheck/prism/jani/export"
	"tilecheck/runner"
)

// isJANI reports whether a name is one of a JANI model to write.
func isJANI(name string) bool { return strings.HasSuffix(name, ".jani") }

// jani writes the model as a JANI model, with the properties of --props or those
// that a JANI model has itself.
func (c *exportCmd) jani(ctx context.Context, env *world) error {
	switch {
	case slices.ContainsFunc(c.Output, func(name string) bool { return !isJANI(name) }):
		return usageError("--output: a JANI model is written from the text of a model, want files of states in another command")
	case named.Is(c.ModelFile):
		return usageError("%s: files of states have no modules, want a model for .jani", c.ModelFile)
	}
	if err := errors.Join(c.forModel(), env.places.with("--output", c.Output...).check()); err != nil {
		return err
	}
	job := runner.Job{File: c.ModelFile, PropsFile: c.Props, Consts: c.Const}
	var err error
	if job.Model, err = env.readSource(c.ModelFile); err != nil {
		return err
	}
	if c.Props != "" {
		if job.Properties, err = env.readSource(c.Props); err != nil {
			return err
		}
	}
	newPlan := runner.PlanModel
	if c.Props != "" || jani.Is(job.Model) {
		newPlan = runner.NewPlan
	}
	plan, err := newPlan(ctx, job)
	if err != nil {
		return err
	}
	for _, name := range c.Output {
		if err := c.writeJANI(env, name, plan); err != nil {
			return err
		}
	}
	if !env.quiet {
		fmt.Fprintf(env.stderr, "wrote %s\n", strings.Join(c.Output, ", "))
	}
	return nil
}

func (c *exportCmd) writeJANI(env *world, name string, plan *runner.Plan) error {
	program, properties, err := plan.Instances()
	if err != nil {
		return err
	}
	for _, t := range plan.Tasks {
		if t.Rejected != nil {
			fmt.Fprintf(env.stderr, "warning: left out: %s\n", t.Rejected)
		}
	}
	var out []export.Property
	for _, p := range properties {
		out = append(out, export.Property{Property: p.Property, Labels: p.Program.Labels})
	}
	var refused []error
	err = env.writeFile(name, func(w io.Writer) error {
		var failure error
		refused, failure = export.Write(w, strings.TrimSuffix(filepath.Base(name), ".jani"), program, out)
		return failure
	})
	for _, r := range refused {
		fmt.Fprintf(env.stderr, "warning: left out: %s\n", r)
	}
	return err
}
