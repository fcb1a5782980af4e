package crosscheck

import (
	"context"
	"fmt"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/native/explicit/files"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// Export reads the states of a job's model as a tool builds them, under one
// valuation of the model's constants.
type Export func(ctx context.Context, job *runner.Job, constants []result.Constant) (*explicit.Space, error)

const exported = "model"

// PRISMModel has PRISM's explicit engine write its states and transitions.
func PRISMModel(cmd runner.Commander) Export {
	return func(ctx context.Context, job *runner.Job, constants []result.Constant) (*explicit.Space, error) {
		args := []string{exported + ".prism", "-explicit", "-exportmodel", exported + ".tra,sta,lab", "-exportmodelprecision", "17"}
		if text := constantsText(constants); text != "" {
			args = append(args, "-const", text)
		}
		if job.NoFixDeadlocks {
			args = append(args, "-nofixdl")
		}
		tra, sta, lab := exported+".tra", exported+".sta", exported+".lab"
		got, err := collect(ctx, cmd, job, args, tra, sta, lab)
		if err != nil {
			return nil, err
		}
		return files.Read(ctx, files.Sources{Transitions: *got[tra], States: got[sta], Labels: got[lab]}, files.ReadOptions{})
	}
}

// collect runs a tool on the job's model and returns the files that it writes.
func collect(ctx context.Context, cmd runner.Commander, job *runner.Job, args []string, names ...string) (map[string]*files.Source, error) {
	exit, err := cmd.Run(ctx, runner.Command{
		Args: args, Files: []runner.File{{Name: exported + ".prism", Data: job.Model}}, Collect: names,
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string]*files.Source)
	for _, f := range exit.Files {
		out[f.Name] = &files.Source{Name: f.Name, Text: f.Data}
	}
	for _, name := range names {
		if out[name] == nil {
			message := fmt.Sprintf("%s wrote no %s (exit code %d)", cmd.Where(), name, exit.Code)
			if exit.Cause != runner.Finished {
				message = fmt.Sprintf("%s wrote no %s: %s", cmd.Where(), name, exit.Cause)
			}
			return nil, &result.Failure{Class: result.Other, Message: message}
		}
	}
	return out, nil
}

// diagnoseTools compares the tools' state spaces with ours, under the valuations
// where engines disagree.
func (c *run) diagnoseTools(ctx context.Context) {
	s := c.subjects[0]
	for i, in := range s.instances {
		if !c.disagrees(i) {
			continue
		}
		for _, p := range c.players {
			if p.Export == nil {
				continue
			}
			d := Diagnosis{First: "strict check", Second: p.label, Constants: in.check.Constants}
			if in.space == nil {
				d.Err = in.unknown()
			} else if space, err := p.Export(ctx, &s.job, in.check.Constants); err != nil {
				d.Err = check.Failure(err, "", syntax.Pos{})
			} else {
				d.diff(ctx, in.space, space)
			}
			c.report.Diagnoses = append(c.report.Diagnoses, d)
		}
	}
}

// diagnoseModels compares the models with each other.
func (c *run) diagnoseModels(ctx context.Context) {
	a, b := c.subjects[0], c.subjects[1]
	names := names(c.subjects)
	for i, in := range a.instances {
		other := b.instances[i]
		if in.check.Validity == Broken || other.check.Validity == Broken {
			continue
		}
		d := Diagnosis{First: names[0], Second: names[1], Constants: in.check.Constants}
		switch {
		case in.space == nil:
			d.Err = in.unknown()
		case other.space == nil:
			d.Err = other.unknown()
		default:
			d.diff(ctx, in.space, other.space)
		}
		c.report.Diagnoses = append(c.report.Diagnoses, d)
	}
}

func (d *Diagnosis) diff(ctx context.Context, a, b *explicit.Space) {
	var err error
	if d.Difference, err = Diff(ctx, Side{d.First, a}, Side{d.Second, b}); err != nil {
		d.Err = check.Failure(err, "", syntax.Pos{})
	}
}

// unknown says why there are no states to compare.
func (in *instance) unknown() *result.Failure {
	if in.check.Failure != nil {
		return in.check.Failure
	}
	return &result.Failure{Class: result.Memory, Message: in.check.Note}
}

func (c *run) disagrees(instance int) bool {
	for _, r := range c.rows {
		if r.instance == instance && r.Status == Disagree {
			return true
		}
	}
	return false
}
