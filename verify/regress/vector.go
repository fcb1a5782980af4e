package regress

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// vector writes the values of the last property in all states, one line each.
func (e *exporter) vector() ([]byte, error) {
	if len(e.items) == 0 {
		return nil, errors.New("a vector is exported of a property, found none")
	}
	values, err := e.valuesEverywhere(e.items[len(e.items)-1].task.Property.X, "-exportvector")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, v := range values {
		if v.Value.Kind == result.Boolean {
			out.WriteString(strconv.FormatBool(v.Value.Bool) + "\n")
			continue
		}
		x := sema.Value{Type: sema.Double, Float: v.Value.Num}
		out.WriteString(x.String() + "\n")
	}
	return out.Bytes(), nil
}

// valuesEverywhere returns the values of an expression in all states, in PRISM's order. It uses a filter that prints
// them all.
func (e *exporter) valuesEverywhere(x syntax.Expr, name string) ([]result.StateValue, error) {
	job := e.plan.Job
	job.Select, job.Numeric.Workers = nil, e.workers
	job.Props = []string{"filter(printall, " + syntax.ExprString(x) + ", true)"}
	plan, err := runner.NewPlan(e.ctx, job)
	if err == nil {
		plan, err = plan.Part([]int{len(plan.Tasks) - 1}, nil)
	}
	if err != nil {
		return nil, err
	}
	if n := plan.Verdicts(); n != 1 {
		return nil, refusal("states of a property under %d valuations (%s)", n, name)
	}
	vs, err := e.entrant.Engine.Check(e.ctx, plan)
	if err != nil {
		return nil, err
	}
	if vs[0].Err != nil {
		return nil, vs[0].Err
	}
	if len(vs[0].Listings) == 0 || vs[0].Listings[len(vs[0].Listings)-1].Left > 0 {
		return nil, refusal("so many states (%s)", name)
	}
	return vs[0].Listings[len(vs[0].Listings)-1].Values, nil
}

// targets writes the target states of the one property and the initial states as labels. Targets of LTL are states of a
// product that only PRISM has.
//
// Source: PRISM 4.10, DTMCModelChecker.computeReachProbs.
func (e *exporter) targets() ([]byte, error) {
	if len(e.items) != 1 {
		return nil, fmt.Errorf("a target is exported of one property under one valuation, found %d", len(e.items))
	}
	asked := logic.Read(e.items[0].task.Property.X)
	if asked.Kind != logic.Probability {
		return nil, refusal("targets of other properties than P (-exporttarget)")
	}
	path := asked.Path
	if !asked.Reaches() || syntax.IsPath(path.Y) || path.X != nil && syntax.IsPath(path.X) {
		return nil, refusal("targets of LTL, which are states of PRISM's own product (-exporttarget)")
	}
	values, err := e.valuesEverywhere(path.Y, "-exporttarget")
	if err != nil {
		return nil, err
	}
	if err := e.build(); err != nil {
		return nil, err
	}
	out := []byte("# Labels\n0=\"init\" 1=\"target\"\n")
	for k, s := range e.space.Order() {
		var labels []byte
		if slices.Contains(e.space.Model().Initial, s) {
			labels = append(labels, " 0"...)
		}
		if values[k].Value.Bool {
			labels = append(labels, " 1"...)
		}
		if labels != nil {
			out = append(strconv.AppendInt(out, int64(k), 10), ':')
			out = append(append(out, labels...), '\n')
		}
	}
	return out, nil
}
