package attack

import (
	"bytes"
	"context"
	"io"

	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/jani/export"
	"tilecheck/result"
	"tilecheck/runner"
)

// exported returns the modes that ask about states that were written to a file and read back, with bounds and with fractions.
func exported() []mode {
	var list []mode
	for _, extension := range []string{"tra", "pexp", "drn", "umb"} {
		for _, accuracy := range []result.Accuracy{result.Unknown, result.Exact} {
			name := extension
			if accuracy == result.Exact {
				name += " exact"
			}
			list = append(list, mode{name, func(a *attack, i *instance) {
				states, err := a.readBack(i, extension)
				if err != nil {
					a.fails(i, err)
					return
				}
				job := i.job()
				job.File, job.Model, job.States, job.Numeric.Accuracy = "m."+extension, nil, states, accuracy
				a.ask(i, job)
			}})
		}
	}
	return append(list, mode{"jani", (*attack).throughJANI})
}

// space builds the states of an instance with fractions.
func (a *attack) space(i *instance) (*explicit.Space, error) {
	job := i.job()
	job.Props, job.Numeric.Accuracy = nil, result.Exact
	plan, err := runner.PlanModel(a.Context(), job)
	if err != nil {
		return nil, err
	}
	return load.Space(a.Context(), plan)
}

// readBack writes the states of an instance to files, and opens them.
func (a *attack) readBack(i *instance, extension string) (runner.StateSpace, error) {
	space, err := a.space(i)
	if err != nil {
		return nil, err
	}
	writer, err := files.NewWriter(space, files.Options{Precision: files.MaxPrecision, Zeros: true, Fractions: true, Raw: a.one(2)})
	if err != nil {
		return nil, err
	}
	source := func(name string, write func(context.Context, io.Writer) error) files.Source {
		var text bytes.Buffer
		if writeErr := write(a.Context(), &text); writeErr != nil {
			err = writeErr
		}
		return files.Source{Name: name, Text: text.Bytes()}
	}
	var sources files.Sources
	switch extension {
	case "pexp":
		sources.Transitions = source("m.pexp", writer.Combined)
	case "drn":
		sources.Transitions = source("m.drn", writer.DRN)
	case "umb":
		sources.Transitions = source("m.umb", writer.UMB)
	default:
		states, labels := source("m.sta", writer.States), source("m.lab", writer.Labels)
		sources = files.Sources{Transitions: source("m.tra", writer.Transitions), States: &states, Labels: &labels}
		for index := range space.Program().Rewards {
			sources.StateRewards = append(sources.StateRewards, source("m.srew", func(ctx context.Context, out io.Writer) error { return writer.StateRewards(ctx, out, index) }))
			sources.TransitionRewards = append(sources.TransitionRewards, source("m.trew", func(ctx context.Context, out io.Writer) error { return writer.TransitionRewards(ctx, out, index) }))
		}
		if i.kind == "pomdp" {
			observations := source("m.obs", writer.Observations)
			sources.Observations = &observations
		}
	}
	if err != nil {
		return nil, err
	}
	return files.Open(a.Context(), sources, extension, files.ReadOptions{Exact: true, OperatorT: true})
}

// throughJANI asks about the model written as JANI.
func (a *attack) throughJANI(i *instance) {
	job := i.job()
	job.Props = nil
	compiled, _, err := load.Model(a.Context(), job)
	if err != nil {
		a.fails(i, err)
		return
	}
	var text bytes.Buffer
	if _, err := export.Write(&text, "m", compiled.Program(), nil); err != nil {
		a.fails(i, err)
		return
	}
	job = i.job()
	job.File, job.Model = "m.jani", text.Bytes()
	if a.one(2) {
		job.Numeric.Accuracy = result.Exact
	}
	a.ask(i, job)
}
