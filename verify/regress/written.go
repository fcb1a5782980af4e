package regress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/suite"
)

// exporter writes the exports of a unit and compares them with the existing files.
type exporter struct {
	*unit
	ctx     context.Context
	answers []answer
	opts    files.Options
	space   *explicit.Space
	err     error // why the states could not be built
}

// compareExports compares the exports of the switches. It adds a result if there is nothing to check.
func (u *unit) compareExports(ctx context.Context, answers []answer) {
	if !u.wanted {
		return
	}
	x := &exporter{unit: u, ctx: ctx, answers: answers}
	before := len(u.whole)
	for i := range u.switches.Switches {
		s := &u.switches.Switches[i]
		switch s.Name() {
		case "exportmodelprecision":
			x.opts.Precision, _ = strconv.Atoi(s.Words[1]) // refused below if it is not a number
		case "noexportheaders":
			x.opts.NoHeaders = true
		}
	}
	x.opts.Symbolic = !u.explicit()
	for _, words := range u.switches.Exports {
		for _, target := range words[1:] {
			x.target(words[0], target)
		}
	}
	if len(u.items) == 0 && len(u.whole) == before {
		r := u.result(u.entrant, nil)
		r.Outcome, r.Reason = report.TestUnchecked, "there is no property, and no exported file to compare with"
		u.addRunResult(r, false, "")
	}
}

// explicit reports whether PRISM builds explicit states with these switches.
func (u *unit) explicit() bool {
	return u.switches.Exact || slices.ContainsFunc(u.switches.Switches, func(s suite.Switch) bool { return s.Name() == "ex" || s.Name() == "explicit" })
}

// target compares the files of one export.
func (e *exporter) target(name, target string) {
	file, options, _ := strings.Cut(target, ":")
	if file == "stdout" {
		return
	}
	index := map[string]int{} // of the reward structure, by extension
	for _, want := range exportFiles(e.opt.FS, path.Join(e.Dir, file)) {
		ext := strings.TrimPrefix(path.Ext(want), ".")
		text, err := e.write(strings.TrimLeft(name, "-"), ext, options, index[ext])
		index[ext]++
		if err != nil {
			r := e.failedRun(check.Failure(e.interrupted(e.ctx, err), e.job.File, syntax.Pos{}))
			r.File, r.Line, r.Col, r.Expected = e.opt.name(want), 0, 0, "the contents of "+e.opt.name(want)
			e.addRunResult(r, false, "")
			continue
		}
		r := e.compareExport(want, text, true)
		if r.Outcome == report.TestFailed && probabilities(name) {
			e.compareNumbers(&r, want, text)
		}
		e.addRunResult(r, false, "")
	}
}

// write returns the content of an export. The error is a refusal, or says why there is no content.
func (e *exporter) write(name, ext, options string, index int) ([]byte, error) {
	var b bytes.Buffer
	switch name {
	case "exportmodel", "exporttrans", "exportstates", "exportlabels", "exportproplabels", "exporttransdot", "exporttransdotstates",
		"exportstaterewards", "exporttransrewards", "exportrewards":
		err := e.model(&b, name, ext, options, index)
		return b.Bytes(), err
	case "exportresults":
		err := e.resultsFile(&b, options)
		return b.Bytes(), err
	case "exportvector":
		return e.vector()
	case "exporttarget":
		return e.targets()
	case "exportsteadystate", "exportss", "exporttransient", "exporttr":
		err := e.probabilities(&b, name)
		return b.Bytes(), err
	case "exportstrat":
		return e.scheduler(ext, options)
	}
	return nil, refusal("exports of that kind (-%s)", name)
}

// model writes a file of the state space.
func (e *exporter) model(w io.Writer, name, ext, options string, index int) error {
	opts := e.opts
	labels := name == "exportproplabels"
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "headers=true", "actions=true":
		case "headers=false":
			opts.NoHeaders = true
		case "actions=false":
			opts.NoActions = true
		case "rows":
			if opts.Format == files.Plain {
				opts.Format = files.Rows
			}
		case "matlab":
			opts.Format = files.Matlab
		case "proplabels":
			labels = true
		default:
			return refusal("the option %s of -%s", option, name)
		}
	}
	if err := e.build(); err != nil {
		return err
	}
	if labels {
		var err error
		if opts.Program, err = e.propertyLabels(); err != nil {
			return err
		}
	}
	opts.NoValuations = name == "exporttransdot"
	out, err := files.NewWriter(e.space, opts)
	if err != nil {
		return err
	}
	switch {
	case name == "exportproplabels":
		return out.PropertyLabels(e.ctx, w)
	case ext == "dot" || name == "exporttransdot" || name == "exporttransdotstates":
		return out.DOT(e.ctx, w)
	case ext == "pexp":
		return out.Combined(e.ctx, w)
	case ext == "tra" || name == "exporttrans":
		return out.Transitions(e.ctx, w)
	case ext == "sta" || name == "exportstates":
		return out.States(e.ctx, w)
	case ext == "obs":
		return out.Observations(e.ctx, w)
	case ext == "lab" || name == "exportlabels":
		return out.Labels(e.ctx, w)
	case ext == "srew" || name == "exportstaterewards":
		return out.StateRewards(e.ctx, w, index)
	case ext == "trew" || name == "exporttransrewards":
		return out.TransitionRewards(e.ctx, w, index)
	}
	return refusal("exports of .%s files (-%s)", ext, name)
}

// build builds the states once for all exports.
func (e *exporter) build() error {
	if e.space == nil && e.err == nil {
		e.space, e.err = e.buildSpace(e.ctx)
	}
	return e.err
}

// propertyLabels returns the program of the space with the labels of the properties file.
func (e *exporter) propertyLabels() (*sema.Program, error) {
	prog := e.space.Program()
	if len(e.props) == 0 {
		return prog, nil
	}
	tree, err := syntax.ParseProperties(e.job.PropsFile, e.props)
	if err != nil {
		return nil, err
	}
	props, err := prog.Model().CheckProperties(tree)
	if err != nil {
		return nil, err
	}
	_, full, err := props.Instantiate(prog, []int{}, nil)
	return full, err
}

// resultsFile writes the results of all properties.
func (e *exporter) resultsFile(w io.Writer, options string) error {
	style, err := report.ParseResultsStyle(options)
	if err != nil {
		return refusal("%v (-exportresults)", err)
	}
	var verdicts []result.Verdict
	for i := range e.answers {
		if f := e.answers[i].Err; f != nil && f.Class == result.Unsupported {
			return f
		}
		v := e.answers[i].Verdict
		if !e.switches.Exact && v.Value.Kind == result.Number {
			v.Value.Rat = nil // PRISM writes fractions with -exact only
		}
		verdicts = append(verdicts, v)
	}
	return report.ExportResults(w, style, verdicts)
}

// scheduler writes the scheduler of the one property that there is.
func (e *exporter) scheduler(ext, options string) ([]byte, error) {
	if len(e.items) != 1 {
		return nil, fmt.Errorf("a scheduler is exported of one property under one valuation, found %d", len(e.items))
	}
	var out bytes.Buffer
	target := "scheduler." + ext
	if options != "" {
		target += ":" + options
	}
	b := &batch{selected: []string{strconv.Itoa(e.items[0].number)}}
	write := func(_ string, write func(io.Writer) error) error { return write(&out) }
	b.plan = e.plan.WithSettings(func(s *runner.Settings) { s.Numeric.Workers = e.workers }).WithOutputs(func(o *runner.Outputs) {
		o.Scheduler = &runner.SchedulerFile{Target: target, Write: write}
	})
	plan, err := e.batchPlan(b)
	if err != nil {
		return nil, err
	}
	verdicts, err := e.entrant.Engine.Check(e.ctx, plan)
	if err != nil {
		return nil, refusal("%v (-exportstrat)", err)
	}
	if k := slices.IndexFunc(verdicts, func(v result.Verdict) bool { return v.Err != nil }); k >= 0 {
		return nil, verdicts[k].Err
	}
	if out.Len() == 0 {
		return nil, errors.New("no scheduler was written")
	}
	return out.Bytes(), nil
}
