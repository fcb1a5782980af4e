package serve

import (
	"context"
	"strconv"

	"tilecheck/result"
	"tilecheck/runner"
)

type checkQuestion struct {
	source
	// Index is the property to check; nil is all of them.
	Index  *int   `json:"index"`
	Method string `json:"method"` // exact if empty
	Engine string `json:"engine"` // native if empty
	Exact  bool   `json:"exact"`  // with fractions
	sampling
}

// sampling says how to sample. Zero is the default of the engine.
type sampling struct {
	Samples    int64   `json:"samples"`
	Width      float64 `json:"width"`
	Confidence float64 `json:"confidence"`
	Seed       uint64  `json:"seed"`
}

// check checks properties. The embedded engine's verdicts are also sent one by one, as parts named verdict.
func (h *handler) check(ctx context.Context, q *checkQuestion, out *reply) (any, error) {
	job, engine, err := h.question(q)
	if err != nil {
		return nil, err
	}
	job.Progress = out.progress
	job.Verdict = func(v *result.Verdict) { out.part("verdict", result.NewRecord(v)); pause() }
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	if n := plan.Verdicts(); n > mostPoints {
		return nil, badf("%d results, want %d at most", n, mostPoints)
	}
	verdicts, err := engine.Check(ctx, plan)
	if err != nil {
		return nil, err
	}
	return map[string]any{"verdicts": result.Records(verdicts)}, nil
}

// mostPoints is the number of results of one request.
const mostPoints = 10_000

// question returns the job and the engine of a question.
func (h *handler) question(q *checkQuestion) (runner.Job, runner.Engine, error) {
	job := h.job(&q.source)
	if q.Index != nil {
		job.Select = []string{strconv.Itoa(*q.Index + 1)}
	}
	job.Method = runner.Method(q.Method)
	if q.Exact {
		job.Numeric.Accuracy = result.Exact
	}
	if job.Method != "" && job.Method != runner.States {
		job.Simulation = runner.Simulation{Samples: q.Samples, Width: q.Width, Confidence: q.Confidence, Seed: q.Seed}
	}
	engine, err := h.engine(q.Engine)
	return job, engine, err
}

func (h *handler) engine(name string) (runner.Engine, error) {
	if name == "" || name == h.native.Name() {
		return h.native, nil
	}
	for _, e := range h.Engines {
		if e.Name() == name {
			return e, nil
		}
	}
	return nil, badf("engine %q is not there", name)
}
