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

// vectorFile returns the contents of the file of -exportvector: the values of the last property, one line for each state.
func (e *exporter) vectorFile() ([]byte, error) {
	if len(e.instances) == 0 {
		return nil, errors.New("found no property, want one whose values are exported")
	}
	values, err := e.valuesEverywhere(e.instances[len(e.instances)-1].task.Property.X, "-exportvector")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, state := range values {
		if state.Value.Kind == result.Boolean {
			text.WriteString(strconv.FormatBool(state.Value.Bool) + "\n")
			continue
		}
		number := sema.Value{Type: sema.Double, Float: state.Value.Num}
		text.WriteString(number.String() + "\n")
	}
	return text.Bytes(), nil
}

// valuesEverywhere returns the value of an expression in each state, in PRISM's order of states. exportSwitch is the switch for error messages.
func (e *exporter) valuesEverywhere(expr syntax.Expr, exportSwitch string) ([]result.StateValue, error) {
	job := e.plan.Job
	job.Select, job.Numeric.Workers = nil, e.workers
	job.Props = []string{"filter(printall, " + syntax.ExprString(expr) + ", true)"} // this filter lists all states
	plan, err := runner.NewPlan(e.ctx, job)
	if err == nil {
		plan, err = plan.Part([]int{len(plan.Tasks) - 1}, nil)
	}
	if err != nil {
		return nil, err
	}
	if n := plan.Verdicts(); n != 1 {
		return nil, unsupported("states of a property under %d valuations (%s)", n, exportSwitch)
	}
	verdicts, err := e.engine.Engine.Check(e.ctx, plan)
	if err != nil {
		return nil, err
	}
	if verdicts[0].Err != nil {
		return nil, verdicts[0].Err
	}
	listings := verdicts[0].Listings
	if len(listings) == 0 {
		return nil, unsupported("so many states (%s)", exportSwitch)
	}
	listing := &listings[len(listings)-1]
	if listing.Left > 0 { // some states are not listed
		return nil, unsupported("so many states (%s)", exportSwitch)
	}
	return listing.Values, nil
}

// targetFile returns the contents of the file of -exporttarget: a labels file with the initial states, and the target states of the only
// property.
//
// Source: PRISM 4.10, DTMCModelChecker.computeReachProbs.
func (e *exporter) targetFile() ([]byte, error) {
	target, err := e.exportedTarget()
	if err != nil {
		return nil, err
	}
	values, err := e.valuesEverywhere(target, "-exporttarget")
	if err != nil {
		return nil, err
	}
	if err := e.buildOnce(); err != nil {
		return nil, err
	}
	text := []byte("# Labels\n0=\"init\" 1=\"target\"\n")
	for number, state := range e.space.Order() {
		labels := ""
		if slices.Contains(e.space.Model().Initial, state) {
			labels += " 0"
		}
		if values[number].Value.Bool {
			labels += " 1"
		}
		if labels != "" {
			text = fmt.Appendf(text, "%d:%s\n", number, labels)
		}
	}
	return text, nil
}

// exportedTarget returns the target of the only property: b in P=? [ F b ] or P=? [ a U b ].
func (e *exporter) exportedTarget() (syntax.Expr, error) {
	if len(e.instances) != 1 {
		return nil, fmt.Errorf("a target is exported of one property under one valuation, found %d", len(e.instances))
	}
	formula := logic.Read(e.instances[0].task.Property.X)
	if formula.Kind != logic.Probability {
		return nil, unsupported("targets of other properties than P (-exporttarget)")
	}
	path := formula.Path // nil for a combination of temporal operators
	if !formula.Reaches() || syntax.IsPath(path.Y) || path.X != nil && syntax.IsPath(path.X) {
		return nil, unsupported("targets of LTL, which are states of PRISM's own product (-exporttarget)")
	}
	return path.Y, nil
}
