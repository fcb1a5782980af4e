package regress

import (
	"bytes"
	"errors"
	"strconv"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// vector writes the values of the last property in all states, one line each, in PRISM's
// order of the states: those of a filter that prints them all.
func (e *exporter) vector() ([]byte, error) {
	if len(e.items) == 0 {
		return nil, errors.New("a vector is exported of a property, found none")
	}
	it := e.items[len(e.items)-1]
	job := e.plan.Job
	job.Select, job.Numeric.Workers = nil, e.workers
	job.Props = []string{"filter(printall, " + syntax.ExprString(it.task.Property.X) + ", true)"}
	plan, err := runner.NewPlan(e.ctx, job)
	if err == nil {
		plan, err = plan.Part([]int{len(plan.Tasks) - 1}, nil)
	}
	if err != nil {
		return nil, err
	}
	if n := plan.Verdicts(); n != 1 {
		return nil, refusal("vectors of a property under %s valuations (-exportvector)", strconv.Itoa(n))
	}
	vs, err := e.entrant.Engine.Check(e.ctx, plan)
	if err != nil {
		return nil, err
	}
	if vs[0].Err != nil {
		return nil, vs[0].Err
	}
	if len(vs[0].Listings) == 0 || vs[0].Listings[len(vs[0].Listings)-1].Left > 0 {
		return nil, refusal("vectors of so many states (-exportvector)")
	}
	var out bytes.Buffer
	for _, v := range vs[0].Listings[len(vs[0].Listings)-1].Values {
		if v.Value.Kind == result.Boolean {
			out.WriteString(strconv.FormatBool(v.Value.Bool) + "\n")
			continue
		}
		x := sema.Value{Type: sema.Double, Float: v.Value.Num}
		out.WriteString(x.String() + "\n")
	}
	return out.Bytes(), nil
}
