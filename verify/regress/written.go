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

// exporter writes the exports of a run and compares them with the existing files.
type exporter struct {
	*testRun
	ctx         context.Context
	answers     []answer
	fileOptions files.Options
	space       *explicit.Space
	buildErr    error // why the states could not be built
}

// compareExports writes the files that the test exports, and compares them with the expected files.
func (run *testRun) compareExports(ctx context.Context, answers []answer) {
	if !run.wantsRunResults {
		return
	}
	exporter := &exporter{testRun: run, ctx: ctx, answers: answers}
	numResults := len(run.runResults)
	for i := range run.switches.Switches {
		option := &run.switches.Switches[i]
		switch option.Name() {
		case "exportmodelprecision":
			exporter.fileOptions.Precision, _ = strconv.Atoi(option.Words[1]) // a wrong number gives 0, and the writer rejects it
		case "noexportheaders":
			exporter.fileOptions.NoHeaders = true
		}
	}
	exporter.fileOptions.Symbolic = !run.explicitEngine()
	for _, words := range run.switches.Exports {
		for _, target := range words[1:] {
			exporter.compareTarget(words[0], target)
		}
	}
	hasCompared := len(run.runResults) > numResults
	if len(run.instances) == 0 && !hasCompared {
		run.addRunResult(run.nothingToCheck(), false, "")
	}
}

// explicitEngine reports whether PRISM uses its explicit engine with these switches.
func (run *testRun) explicitEngine() bool {
	selectsExplicit := func(option suite.Switch) bool { return option.Name() == "ex" || option.Name() == "explicit" }
	return run.switches.Exact || slices.ContainsFunc(run.switches.Switches, selectsExplicit)
}

// compareTarget writes the files of one export and compares each with the expected file. target is the argument of the switch.
func (e *exporter) compareTarget(option, target string) {
	file, options, _ := strings.Cut(target, ":")
	if file == "stdout" {
		return
	}
	rewardIndex := map[string]int{} // by extension: the next reward structure
	for _, expected := range exportFiles(e.options.FS, path.Join(e.Dir, file)) {
		extension := strings.TrimPrefix(path.Ext(expected), ".")
		text, err := e.render(strings.TrimLeft(option, "-"), extension, options, rewardIndex[extension])
		rewardIndex[extension]++
		if err != nil {
			compared := e.failedRun(check.Failure(e.contextError(e.ctx, err), e.job.File, syntax.Pos{}))
			compared.File, compared.Line, compared.Col = e.options.name(expected), 0, 0 // the result is about the whole file
			compared.Expected = "the contents of " + compared.File
			e.addRunResult(compared, false, "")
			continue
		}
		compared := e.compareExport(expected, text, true)
		if compared.Outcome == report.TestFailed && exportsProbabilities(option) {
			e.compareNumbers(&compared, expected, text)
		}
		e.addRunResult(compared, false, "")
	}
}

// render returns the contents of one exported file. option is the name of the export switch, and arguments are the options after its file name.
// rewardIndex selects a reward structure.
func (e *exporter) render(option, extension, arguments string, rewardIndex int) ([]byte, error) {
	var buffer bytes.Buffer
	switch option {
	case "exportmodel", "exporttrans", "exportstates", "exportlabels", "exportproplabels", "exporttransdot", "exporttransdotstates",
		"exportstaterewards", "exporttransrewards", "exportrewards":
		err := e.writeModel(&buffer, option, extension, arguments, rewardIndex)
		return buffer.Bytes(), err
	case "exportresults":
		err := e.writeResults(&buffer, arguments)
		return buffer.Bytes(), err
	case "exportvector":
		return e.vectorFile()
	case "exporttarget":
		return e.targetFile()
	case "exportsteadystate", "exportss", "exporttransient", "exporttr":
		err := e.writeProbabilities(&buffer, option)
		return buffer.Bytes(), err
	case "exportstrat":
		return e.schedulerFile(extension, arguments)
	}
	return nil, unsupported("this export (-%s)", option)
}

// writeModel writes one file of the state space. The switch or the file extension selects its contents.
func (e *exporter) writeModel(w io.Writer, exportSwitch, extension, options string, rewardIndex int) error {
	settings, withLabels, err := e.fileSettings(exportSwitch, options)
	if err != nil {
		return err
	}
	if err := e.buildOnce(); err != nil {
		return err
	}
	if withLabels {
		if settings.Program, err = e.propertyLabels(); err != nil {
			return err
		}
	}
	writer, err := files.NewWriter(e.space, settings)
	if err != nil {
		return err
	}
	return e.writeSpace(w, writer, exportSwitch, extension, rewardIndex)
}

// writeSpace writes one kind of data about the state space: transitions, states, labels, rewards or a graph. The switch or the file extension
// selects it.
func (e *exporter) writeSpace(w io.Writer, writer *files.Writer, exportSwitch, extension string, rewardIndex int) error {
	switch {
	case exportSwitch == "exportproplabels":
		return writer.PropertyLabels(e.ctx, w)
	case extension == "dot" || exportSwitch == "exporttransdot" || exportSwitch == "exporttransdotstates":
		return writer.DOT(e.ctx, w)
	case extension == "pexp":
		return writer.Combined(e.ctx, w)
	case extension == "tra" || exportSwitch == "exporttrans":
		return writer.Transitions(e.ctx, w)
	case extension == "sta" || exportSwitch == "exportstates":
		return writer.States(e.ctx, w)
	case extension == "obs":
		return writer.Observations(e.ctx, w)
	case extension == "lab" || exportSwitch == "exportlabels":
		return writer.Labels(e.ctx, w)
	case extension == "srew" || exportSwitch == "exportstaterewards":
		return writer.StateRewards(e.ctx, w, rewardIndex)
	case extension == "trew" || exportSwitch == "exporttransrewards":
		return writer.TransitionRewards(e.ctx, w, rewardIndex)
	}
	return unsupported("exports of .%s files (-%s)", extension, exportSwitch)
}

// fileSettings returns the settings of an exported file. withLabels is true if the file includes the labels of the properties file.
func (e *exporter) fileSettings(exportSwitch, options string) (settings files.Options, withLabels bool, err error) {
	settings = e.fileOptions
	settings.NoValuations = exportSwitch == "exporttransdot"
	withLabels = exportSwitch == "exportproplabels"
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "headers=true", "actions=true":
		case "headers=false":
			settings.NoHeaders = true
		case "actions=false":
			settings.NoActions = true
		case "rows":
			if settings.Format == files.Plain {
				settings.Format = files.Rows
			}
		case "matlab":
			settings.Format = files.Matlab
		case "proplabels":
			withLabels = true
		default:
			return settings, false, unsupported("the option %s of -%s", option, exportSwitch)
		}
	}
	return settings, withLabels, nil
}

// buildOnce builds the state space when it is called for the first time. If this fails, every call returns the same error.
func (e *exporter) buildOnce() error {
	if e.space == nil && e.buildErr == nil {
		e.space, e.buildErr = e.buildSpace(e.ctx)
	}
	return e.buildErr
}

// propertyLabels returns the program of the state space, with the labels of the properties file.
func (e *exporter) propertyLabels() (*sema.Program, error) {
	program := e.space.Program()
	if len(e.propsText) == 0 {
		return program, nil
	}
	tree, err := syntax.ParsePropertiesOf(e.job.Dialect, e.job.PropsFile, e.propsText)
	if err != nil {
		return nil, err
	}
	properties, err := program.Model().CheckProperties(tree)
	if err != nil {
		return nil, err
	}
	_, withLabels, err := properties.Instantiate(program, []int{}, nil)
	return withLabels, err
}

// writeResults writes the results of all properties. options are the options of the switch -exportresults, which select the style.
func (e *exporter) writeResults(w io.Writer, options string) error {
	style, err := report.ParseResultsStyle(options)
	if err != nil {
		return unsupported("%v (-exportresults)", err)
	}
	var verdicts []result.Verdict
	for i := range e.answers {
		if failure := e.answers[i].Err; failure != nil && failure.Class == result.Unsupported {
			return failure
		}
		verdict := e.answers[i].Verdict
		if !e.switches.Exact && verdict.Value.Kind == result.Number {
			verdict.Value.Rat = nil // PRISM writes fractions only with -exact
		}
		verdicts = append(verdicts, verdict)
	}
	return report.ExportResults(w, style, verdicts)
}

// schedulerPlan returns a plan that checks the first property and writes its scheduler to out.
func (e *exporter) schedulerPlan(target string, out io.Writer) (*runner.Plan, error) {
	writeToOut := func(_ string, write func(io.Writer) error) error { return write(out) }
	plan := e.plan.
		WithSettings(func(settings *runner.Settings) { settings.Numeric.Workers = e.workers }).
		WithOutputs(func(outputs *runner.Outputs) {
			outputs.Scheduler = &runner.SchedulerFile{Target: target, Write: writeToOut}
		})
	firstProperty := strconv.Itoa(e.instances[0].propertyNumber)
	return e.batchPlan(&batch{properties: []string{firstProperty}, plan: plan})
}

// schedulerFile returns the contents of the file of -exportstrat. The test must have exactly one property instance.
func (e *exporter) schedulerFile(extension, options string) ([]byte, error) {
	if len(e.instances) != 1 {
		return nil, fmt.Errorf("a scheduler is exported of one property under one valuation, found %d", len(e.instances))
	}
	target := "scheduler." + extension
	if options != "" {
		target += ":" + options
	}
	var text bytes.Buffer
	plan, err := e.schedulerPlan(target, &text)
	if err != nil {
		return nil, err
	}
	verdicts, err := e.engine.Engine.Check(e.ctx, plan)
	if err != nil {
		return nil, unsupported("%v (-exportstrat)", err)
	}
	for i := range verdicts {
		if verdicts[i].Err != nil {
			return nil, verdicts[i].Err
		}
	}
	if text.Len() == 0 {
		return nil, errors.New("no scheduler was written")
	}
	return text.Bytes(), nil
}
