package crosscheck

import (
	"context"
	"fmt"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/native/explicit/files"
	"tilecheck/parse"
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
		got, err := collect(ctx, cmd, parse.NewPRISM(parse.Options{}), job, args, tra, sta, lab)
		if err != nil {
			return nil, err
		}
		return files.Read(ctx, files.Sources{Transitions: *got[tra], States: got[sta], Labels: got[lab]}, files.ReadOptions{})
	}
}

// collect runs a tool on the job's model and returns the files that it writes.
// The error is what the tool said instead.
func collect(ctx context.Context, cmd runner.Commander, p *parse.Parser, job *runner.Job, args []string, names ...string) (map[string]*files.Source, error) {
	exit, err := cmd.Run(ctx, runner.Command{
		Args: args, Files: []runner.File{{Name: exported + ".prism", Data: job.Model}}, Collect: names, Stdout: p, Stderr: p.Stderr(),
	})
	if err != nil {
		return nil, err
	}
	log := p.Finish(parse.End{Known: exit.Cause == runner.Finished, Code: exit.Code})
	out := make(map[string]*files.Source)
	for _, f := range exit.Files {
		out[f.Name] = &files.Source{Name: f.Name, Text: f.Data}
	}
	for _, name := range names {
		if out[name] == nil {
			return nil, missing(name, cmd, &exit, log)
		}
	}
	return out, nil
}

// missing says why a tool has not written a file.
func missing(name string, cmd runner.Commander, exit *runner.Exit, log *parse.Log) error {
	f := &result.Failure{Class: result.Other, Message: fmt.Sprintf("%s wrote no %s (exit code %d)", cmd.Where(), name, exit.Code)}
	switch {
	case exit.Cause != runner.Finished:
		f.Message = fmt.Sprintf("%s wrote no %s: %s", cmd.Where(), name, exit.Cause)
	case len(log.Failures) > 0:
		f.Class = log.Failures[0].Class
		f.Message += ": " + log.Failures[0].Message
	}
	return f
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
			c.diagnose(ctx, Diagnosis{First: "strict check", Second: p.label, Constants: in.check.Constants}, in.Space,
				func(ctx context.Context) (*explicit.Space, error) { return p.Export(ctx, &s.job, in.check.Constants) })
		}
	}
}

// diagnoseModels compares the models with each other.
func (c *run) diagnoseModels(ctx context.Context) {
	a, b := c.subjects[0], c.subjects[1]
	called := names(c.subjects)
	for i, in := range a.instances {
		other := b.instances[i]
		if in.check.Validity == Broken || other.check.Validity == Broken {
			continue
		}
		c.diagnose(ctx, Diagnosis{First: called[0], Second: called[1], Constants: in.check.Constants}, in.Space, other.Space)
	}
}

// diagnose compares what two functions return.
func (c *run) diagnose(ctx context.Context, d Diagnosis, first, second func(context.Context) (*explicit.Space, error)) {
	a, err := first(ctx)
	var b *explicit.Space
	if err == nil {
		b, err = second(ctx)
	}
	if err == nil {
		d.Difference, err = Diff(ctx, Side{d.First, a}, Side{d.Second, b})
	}
	if err != nil {
		d.Err = check.Failure(err, "", syntax.Pos{})
	}
	c.report.Diagnoses = append(c.report.Diagnoses, d)
}

func (c *run) disagrees(instance int) bool {
	for _, r := range c.rows {
		if r.instance == instance && r.Status == Disagree {
			return true
		}
	}
	return false
}
