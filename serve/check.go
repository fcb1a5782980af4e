package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

type checkQuestion struct {
	source
	// Select are the indices of the properties to check; none means all of them.
	Select []int  `json:"select"`
	Method string `json:"method"` // states if empty
	Engine string `json:"engine"` // native if empty
	// Accuracy is "exact" to compute with fractions, "proven" to check a certificate of the answer.
	Accuracy string `json:"accuracy"`
	// Certificate asks for the certificate of the answer to one property.
	Certificate bool `json:"certificate"`
	sampling
}

// sampling configures sampling; zero means the default of the engine.
type sampling struct {
	Samples    int64   `json:"samples"`
	Width      float64 `json:"width"`
	Confidence float64 `json:"confidence"`
	Seed       uint64  `json:"seed"`
}

// check checks properties, and sends each verdict as a part named verdict. The embedded engine's verdicts are sent as soon as they are known, another
// tool's verdicts when the tool has finished. The answer has the number of results, and the certificate if the question asks for it.
func (h *API) check(ctx context.Context, question *checkQuestion, response *reply) (any, error) {
	engine, err := h.engine(question.Engine)
	if err != nil {
		return nil, err
	}
	runs, err := h.runs(ctx, question, response)
	if err != nil {
		return nil, err
	}
	certificate := new(bytes.Buffer)
	if question.Certificate && (len(runs) != 1 || len(runs[0].instances) != 1) {
		return nil, badf("a certificate proves one result, want one property and one value for each constant")
	}
	results := 0
	for _, current := range runs {
		numVerdicts := 0
		send := func(verdict *result.Verdict) {
			response.part("verdict", current.verdict(numVerdicts, verdict))
			numVerdicts++
			pause()
		}
		plan := current.plan.WithOutputs(func(outputs *runner.Outputs) {
			outputs.Verdict = send
			if question.Certificate {
				outputs.Certificate = &runner.CertificateFile{File: certificateFile, Write: func(_ string, write func(io.Writer) error) error { return write(certificate) }}
			}
		})
		verdicts, err := engine.Check(ctx, plan)
		if err != nil {
			return nil, err
		}
		for numVerdicts < len(verdicts) {
			send(&verdicts[numVerdicts])
		}
		results += numVerdicts
		if ctx.Err() != nil {
			break // the verdicts say it
		}
	}
	return map[string]any{"results": results, "certificate": certificate.Bytes()}, nil
}

// certificateFile is the name of a certificate, which decides its format.
const certificateFile = "certificate.txt"

// maxResults is the largest number of results of one request.
const maxResults = 10_000

// job returns the job of a request, with the first values of lists of constants.
func (q *checkQuestion) job(api *API) (runner.Job, error) {
	job := api.job(&q.source)
	for _, i := range q.Select {
		job.Select = append(job.Select, strconv.Itoa(i+1))
	}
	job.Method = runner.Method(q.Method)
	switch q.Accuracy {
	case "":
	case "exact":
		job.Numeric.Accuracy = result.Exact
	case "proven":
		job.Numeric.Accuracy = result.Proven
	default:
		return job, badf("accuracy %q, want exact or proven", q.Accuracy)
	}
	if job.Method != "" && job.Method != runner.States {
		job.Simulation = runner.Simulation{Samples: q.Samples, Width: q.Width, Confidence: q.Confidence, Seed: q.Seed}
		switch {
		case job.Method == runner.APMC:
			job.Simulation.Width, job.Simulation.Approximation = 0, q.Width
		case job.Method.IsSplitting():
			job.Simulation.Width = 0 // relative to the estimate
		}
	}
	return job, nil
}

// run is a plan with its instances, in the order of the verdicts.
type run struct {
	plan      *runner.Plan
	instances []instance
}

// instance is a property with values of its constants.
type instance struct {
	index           int // of the property in its file
	task            *runner.Task
	model, property sema.Valuation
}

// runs returns the plans of a request: one for each combination of values in lists of constants.
// No two of them have the same instance.
func (h *API) runs(ctx context.Context, question *checkQuestion, response *reply) ([]run, error) {
	job, err := question.job(h)
	if err != nil {
		return nil, err
	}
	job.Progress = response.progress
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	if number := combinations(question.definitions()); number > maxResults || number*plan.Verdicts() > maxResults {
		return nil, badf("more than %d results, want fewer", maxResults)
	}
	var runs []run
	seen := map[string]bool{}
	for consts := range question.consts() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if consts != "" {
			if plan, err = plan.Part(nil, []string{consts}); err != nil {
				return nil, err
			}
		}
		newRun, err := newRun(plan, question.Select, seen)
		if err != nil {
			return nil, err
		}
		if len(newRun.instances) > 0 {
			runs = append(runs, newRun)
		}
	}
	return runs, nil
}

// newRun returns the part of a plan whose instances are not in seen, and adds them to seen.
// selected has the indices of the plan's properties; an empty list means all properties.
func newRun(plan *runner.Plan, selected []int, seen map[string]bool) (run, error) {
	instances := instancesOf(plan, selected)
	unseen := map[*runner.Task]bool{}
	for _, current := range instances {
		if key := fmt.Sprint(current.index, current.model, current.property); !seen[key] {
			seen[key], unseen[current.task] = true, true
		}
	}
	var tasks []int
	for i, task := range plan.Tasks {
		if unseen[task] {
			tasks = append(tasks, i)
		}
	}
	created := run{plan: plan}
	if len(tasks) < len(plan.Tasks) {
		if len(tasks) == 0 {
			return created, nil
		}
		var err error
		if created.plan, err = plan.Part(tasks, nil); err != nil {
			return created, err
		}
	}
	for _, current := range instances {
		if unseen[current.task] {
			created.instances = append(created.instances, current)
		}
	}
	return created, nil
}

// instancesOf returns the instances of a plan in the order of its verdicts.
func instancesOf(plan *runner.Plan, selected []int) []instance {
	var instances []instance
	for model := range plan.Models() {
		for i, task := range plan.Tasks {
			if len(selected) > 0 {
				i = selected[i]
			}
			if task.Rejected != nil {
				instances = append(instances, instance{index: i, task: task, model: model})
				continue
			}
			for property := range task.Valuations() {
				instances = append(instances, instance{i, task, model, property})
			}
		}
	}
	return instances
}

// consts returns the values of all constants in the syntax of --const.
func (x *instance) consts() []string {
	var definitions []string
	for _, valuation := range []sema.Valuation{x.model, x.property} {
		for _, declared := range valuation {
			definitions = append(definitions, declared.Name+"="+declared.Val.ExactText())
		}
	}
	return definitions
}

func (h *API) engine(name string) (runner.Engine, error) {
	if name == "" || name == h.native.Name() {
		return h.native, nil
	}
	for _, engine := range h.Engines {
		if engine.Name() == name {
			return engine, nil
		}
	}
	return nil, badf("engine %q is not there", name)
}
