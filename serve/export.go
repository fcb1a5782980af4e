package serve

import (
	"context"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"

	"tilecheck/native/check"
	"tilecheck/native/space/files"
	formats "tilecheck/native/space/files/named"
	"tilecheck/runner"
)

type exportQuestion struct {
	source
	// Format is a format of the states of the model, as in the command export; a file name of schedulerFormats, as in check
	// --export-scheduler; or steady or transient, as in the command distribution.
	Format string `json:"format"`
	// Property is the index of the property whose optimal scheduler is written.
	Property *int `json:"property"`
	// Time is the time of transient probabilities, such as 5 or 1/2.
	Time string `json:"time"`
}

var (
	// stateFormats are the formats that are texts, of which one file has everything that it is about.
	stateFormats = []string{"tra", "sta", "lab", "pexp", "dot", "drn"}
	// schedulerFormats are file names whose extensions select the format: actions, the induced model in two formats, and Storm's.
	schedulerFormats = []string{"scheduler.txt", "scheduler.tra", "scheduler.dot", "scheduler.json"}
	// distributionFormats are probabilities of states, in the long run and at a time.
	distributionFormats = []string{"steady", "transient"}
)

// maxExport is the size of the largest file, which is sent as one line.
const maxExport = 64 << 20

// export answers with the text of an exported file: the states of a model, a scheduler or a distribution.
func (h *API) export(ctx context.Context, question *exportQuestion, response *reply) (any, error) {
	var text limitedText
	var err error
	switch {
	case slices.Contains(stateFormats, question.Format):
		err = h.exportStates(ctx, question, response, &text)
	case slices.Contains(schedulerFormats, question.Format):
		err = h.exportScheduler(ctx, question, response, &text)
	case slices.Contains(distributionFormats, question.Format):
		err = h.exportDistribution(ctx, question, response, &text)
	default:
		formats := slices.Concat(stateFormats, schedulerFormats, distributionFormats)
		err = badf("format %q, want one of %s", question.Format, strings.Join(formats, ", "))
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"text": text.String()}, nil
}

// exportStates writes the states of a model.
func (h *API) exportStates(ctx context.Context, question *exportQuestion, response *reply, text *limitedText) error {
	return h.with(ctx, &question.source, func(loaded *model) error {
		if err := h.states(ctx, loaded, response); err != nil {
			return err
		}
		write, err := formats.Format{Name: question.Format}.Writer(ctx, loaded.space, files.Options{Zeros: true})
		if err != nil {
			return err
		}
		return write(text)
	})
}

// exportScheduler writes the scheduler that attains the value of a property.
func (h *API) exportScheduler(ctx context.Context, question *exportQuestion, response *reply, text *limitedText) error {
	if question.Property == nil {
		return badf("a scheduler belongs to a property, want one")
	}
	runs, err := h.runs(ctx, &checkQuestion{source: question.source, Select: []int{*question.Property}}, response)
	if err != nil {
		return err
	}
	if len(runs) != 1 || len(runs[0].instances) != 1 {
		return badf("a scheduler attains one value, want one property and one value for each constant")
	}
	plan := runs[0].plan.WithOutputs(func(outputs *runner.Outputs) {
		outputs.Scheduler = &runner.SchedulerFile{Target: question.Format, Write: func(_ string, write func(io.Writer) error) error { return write(text) }}
	})
	verdicts, err := h.native.Check(ctx, plan)
	if err == nil && verdicts[0].Err != nil {
		err = verdicts[0].Err
	}
	return err
}

// exportDistribution writes the probabilities of the states of a model, in the long run or at a time.
func (h *API) exportDistribution(ctx context.Context, question *exportQuestion, response *reply, text *limitedText) error {
	var times []*big.Rat
	if question.Format == "transient" {
		var err error
		if times, err = check.ParseTimes(question.Time); err != nil {
			return badRequest{err}
		}
		if len(times) != 1 {
			return badf("found %d times, want one", len(times))
		}
	}
	return h.with(ctx, &question.source, func(loaded *model) error {
		if err := h.states(ctx, loaded, response); err != nil {
			return err
		}
		return check.Distributions(ctx, loaded.space, times, check.Options{Progress: response.progress}, func(distribution *check.Distribution) error {
			return distribution.Write(ctx, text, loaded.space, false)
		})
	})
}

// limitedText is a text of at most maxExport bytes.
type limitedText struct{ strings.Builder }

// Write implements io.Writer.
func (t *limitedText) Write(p []byte) (int, error) {
	if t.Len()+len(p) > maxExport {
		return 0, errors.New("the file has more than 64 MB: use the command tilecheck export")
	}
	return t.Builder.Write(p)
}

// WriteString implements io.StringWriter.
func (t *limitedText) WriteString(s string) (int, error) { return t.Write([]byte(s)) }
