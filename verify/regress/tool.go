package regress

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"tilecheck/bridge"
	"tilecheck/parse"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
	"tilecheck/verify/expect"
	"tilecheck/verify/suite"
)

// checkWithPRISM runs PRISM once for each batch and returns one answer for each instance.
func (run *testRun) checkWithPRISM(ctx context.Context) ([]answer, error) {
	answers := make([]answer, len(run.instances))
	batches := run.batches()
	if len(batches) == 0 && run.wantsRunResults { // the test has exports only
		batches = []*batch{{}}
	}
	for _, batch := range batches {
		if err := run.runPRISMBatch(ctx, batch, answers); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// runPRISMBatch runs PRISM on a batch, fills in the answers, and compares the exported files.
func (run *testRun) runPRISMBatch(ctx context.Context, batch *batch, answers []answer) error {
	command, err := run.newToolCommand(batch)
	if err != nil {
		return err
	}
	output, cached, err := run.transcript(ctx, command.Command)
	if err != nil {
		return err
	}
	log := output.log()
	run.assignVerdicts(batch, log, output, answers)
	for _, i := range batch.instances {
		answers[i].cached = cached
	}
	if batch.terms == nil && run.wantsRunResults {
		run.compareToolExports(command, output, cached, log)
	}
	return nil
}

// newToolCommand returns the command that runs PRISM in its test mode on a batch of property instances.
func (run *testRun) newToolCommand(batch *batch) (*toolCommand, error) {
	command := &toolCommand{test: run.loadedTest, baseNames: make(map[string]string)}
	command.addInputFiles()
	isSampled := batch.terms != nil
	checksAll := !isSampled && len(batch.instances) == len(run.instances)
	for i := range run.switches.Switches {
		if err := command.addSwitch(&run.switches.Switches[i], checksAll, isSampled); err != nil {
			return nil, err
		}
	}
	// Without -prop, PRISM checks all properties of the file.
	if !checksAll && len(batch.properties) > 0 {
		command.Args = append(command.Args, "-prop", strings.Join(batch.properties, ","))
	}
	for _, definition := range run.job.Consts {
		command.Args = append(command.Args, "-const", definition)
	}
	if isSampled {
		command.Args = append(command.Args, run.samplingSwitches(batch.terms)...)
	}
	command.Args = append(command.Args, bridge.PRISMMemory(run.memoryLimit())...)
	command.Args = append(command.Args, run.engine.PRISM.Args...)
	command.Args = append(command.Args, "-testall")
	command.Limits = runner.Limits{Time: run.timeLimit(), Memory: run.memoryLimit()}
	return command, nil
}

// samplingSwitches returns PRISM's switches for sampling with these terms.
func (run *testRun) samplingSwitches(terms *expect.Statistical) []string {
	args := []string{
		"-sim", "-simmethod", "ci", "-simsamples", strconv.FormatInt(terms.Samples, 10),
		"-simconf", shortestFloat(stats.Alpha(run.confidenceLevel(terms))),
	}
	if terms.MaxPath > 0 {
		args = append(args, "-simpathlen", strconv.FormatInt(terms.MaxPath, 10))
	}
	if terms.MaxReward > 0 {
		args = append(args, "-simmaxrwd", shortestFloat(terms.MaxReward))
	}
	return args
}

// toolCommand is a command of PRISM that is being built. The names of its files have no directory.
type toolCommand struct {
	runner.Command
	test      *loadedTest
	baseNames map[string]string // the name of each file in the directory of the run
	exports   []export
}

// export is an expected file, and the name of the file that the run writes.
type export struct{ expectedFile, writtenName string }

// exportPrefix is the prefix of the names of the files that a run writes.
const exportPrefix = "tmp."

// addInputFiles adds the model and the properties file to the command and to its arguments.
func (c *toolCommand) addInputFiles() {
	switches := &c.test.switches
	if switches.Model != "" {
		c.Args = append(c.Args, c.addFile(switches.Model, c.test.modelText))
	}
	if switches.Props != "" {
		c.Args = append(c.Args, c.addFile(switches.Props, c.test.propsText))
	}
}

// addFile adds a file to the command, and returns its name in the run: its base name, with a number if that name is taken.
func (c *toolCommand) addFile(name string, text []byte) string {
	if baseName, ok := c.baseNames[name]; ok {
		return baseName
	}
	short := path.Base(name)
	for i := 1; slices.ContainsFunc(c.Files, func(file runner.File) bool { return file.Name == short }); i++ {
		short = strconv.Itoa(i) + "." + path.Base(name)
	}
	c.baseNames[name] = short
	c.Files = append(c.Files, runner.File{Name: short, Data: text})
	return short
}

// isOmitted reports whether the command line of PRISM lacks a switch of the test. checksAll reports whether PRISM checks all properties of the
// test, and isSampled whether an annotation asks for sampling.
func isOmitted(option *suite.Switch, checksAll, isSampled bool) bool {
	switch name := option.Name(); name {
	case "const", "test", "testall":
		return true
	case "prop", "property":
		return !checksAll
	default:
		return isSampled && (option.Export() || strings.HasPrefix(name, "sim")) // the annotation says how to sample
	}
}

// addSwitch adds a switch of the test to the command line, with the files that the switch names. It adds nothing if isOmitted returns true.
func (c *toolCommand) addSwitch(option *suite.Switch, checksAll, isSampled bool) error {
	words := option.Words
	switch {
	case isOmitted(option, checksAll, isSampled):
		return nil
	case option.Import():
		target, err := c.addImport(words[1])
		if err != nil {
			return err
		}
		c.Args = append(c.Args, words[0], target)
	case option.Export():
		c.Args = append(c.Args, words[0])
		for _, target := range words[1:] {
			c.Args = append(c.Args, c.addExport(target))
		}
	default:
		c.Args = append(c.Args, words...)
	}
	return nil
}

// addImport adds the files of an import to the command. It returns the argument of the import switch, with the names that the files have in the
// run.
func (c *toolCommand) addImport(target string) (string, error) {
	file, options, hasOptions := strings.Cut(target, ":")
	existing, err := importFiles(c.test.options.FS, path.Join(c.test.Dir, file))
	if err != nil {
		return "", err
	}
	for _, name := range existing {
		text, err := c.test.read(name)
		if err != nil {
			return "", err
		}
		c.addFile(name, text)
	}
	arg := path.Base(file)
	if hasOptions {
		arg += ":" + options
	}
	return arg, nil
}

// addExport records the expected files of an export switch, so that the files that PRISM writes are compared with them later. It returns the argument of the
// switch, with the names that the files have in the run.
func (c *toolCommand) addExport(target string) string {
	file, options, hasOptions := strings.Cut(target, ":")
	if file == "stdout" {
		return target
	}
	dir, base := path.Split(file)
	for _, name := range exportFiles(c.test.options.FS, path.Join(c.test.Dir, dir, base)) {
		exported := export{name, exportPrefix + path.Base(name)}
		c.exports = append(c.exports, exported)
		c.Collect = append(c.Collect, exported.writtenName)
	}
	arg := exportPrefix + base
	if hasOptions {
		arg += ":" + options
	}
	return arg
}

// transcript is the output of a run.
type transcript struct {
	Stdout, Stderr []byte
	Code           int
	Cause          runner.Cause
	Files          []runner.File
}

// runTool runs a command of PRISM and returns its output.
func (run *testRun) runTool(ctx context.Context, command runner.Command) (*transcript, error) {
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	exit, err := runner.Run(ctx, run.engine.PRISM.Commander, command)
	if err != nil {
		return nil, err
	}
	return &transcript{stdout.Bytes(), stderr.Bytes(), exit.Code, exit.Cause, exit.Files}, nil
}

// log returns the parsed output of a run of PRISM.
func (t *transcript) log() *parse.Log {
	parser := parse.NewPRISM(parse.Options{})
	_, _ = parser.Write(t.Stdout) // never fails
	_, _ = io.Copy(parser.Stderr(), bytes.NewReader(t.Stderr))
	return parser.Finish(bridge.End(runner.Exit{Code: t.Code, Cause: t.Cause}))
}

// assignVerdicts assigns the verdicts in PRISM's log to the instances of a batch. An instance without a verdict gets the failure of the run.
func (run *testRun) assignVerdicts(batch *batch, log *parse.Log, output *transcript, answers []answer) {
	verdicts := log.Verdicts()
	indices := log.Attribute(len(batch.instances), func(i int, property *parse.Property) bool {
		instance := run.instances[batch.instances[i]]
		return property.Echoes(instance.task.Name, instance.task.Text, instance.constants())
	})
	for instanceIndex, i := range batch.instances {
		instance, answer := run.instances[i], &answers[i]
		if verdictIndex := indices[instanceIndex]; verdictIndex < 0 {
			answer.Err = runFailure(log)
		} else {
			property := &log.Properties[verdictIndex]
			answer.Verdict = verdicts[verdictIndex]
			answer.Err = propertyFailure(property)
			hasUnreadableValue := property.Err != nil && property.ValueText != ""
			if hasUnreadableValue {
				answer.judgment = property.Testing // PRISM's judgment of the value
			}
		}
		answer.Property, answer.Name = instance.task.Text, instance.task.Name
		answer.Engine, answer.Constants = run.engine.DisplayName(), instance.constants()
		answer.Tool = log.Made(run.engine.PRISM.Commander.Where())
		answer.log = logText(output)
	}
}

// propertyFailure returns the failure of a property; nil if it has a value. The class is Unsupported if PRISM's test mode printed UNSUPPORTED.
func propertyFailure(property *parse.Property) *result.Failure {
	if property.Err == nil || !strings.HasPrefix(property.Testing, "UNSUPPORTED") {
		return property.Err
	}
	failure := *property.Err
	failure.Class = result.Unsupported
	return &failure
}

// runFailure returns the reason why the output of a run has no verdict about a property: the failure of the run, or that the output has ended too
// early.
func runFailure(log *parse.Log) *result.Failure {
	if failure := log.Failure(); failure != nil {
		return failure
	}
	return &result.Failure{Class: result.Truncated, Message: "the tool said nothing about this property"}
}

// maxLog is the largest size of an output in a result.
const maxLog = 64 << 10

// logText returns the output of a run, at most about maxLog bytes. The middle of a longer output is omitted.
func logText(output *transcript) string {
	text := string(output.Stdout) + string(output.Stderr)
	if len(text) > maxLog {
		text = text[:maxLog/2] + "\n[...]\n" + text[len(text)-maxLog/2:]
	}
	return text
}

// compareToolExports compares the files that PRISM wrote with the expected files, and adds a result for each file. A test without properties and
// exports gets one result about the whole run.
func (run *testRun) compareToolExports(command *toolCommand, output *transcript, cached bool, log *parse.Log) {
	hasFailed := log.Failure() != nil
	if hasNothingToCheck := len(run.instances) == 0 && len(command.exports) == 0; hasNothingToCheck {
		if hasFailed {
			run.addRunResult(run.failedRun(runFailure(log)), cached, logText(output))
		} else {
			run.addRunResult(run.nothingToCheck(), cached, "")
		}
		return
	}
	for _, exported := range command.exports {
		index := slices.IndexFunc(output.Files, func(file runner.File) bool { return file.Name == exported.writtenName })
		isWritten := index >= 0
		var text []byte
		if isWritten {
			text = output.Files[index].Data
		}
		compared := run.compareExport(exported.expectedFile, text, isWritten)
		if !isWritten && hasFailed {
			compared.Reason += ": " + runFailure(log).Message
		}
		run.addRunResult(compared, cached, logText(output))
	}
}

// nothingToCheck returns the result of a run that has neither properties nor expected files.
func (run *testRun) nothingToCheck() report.TestResult {
	unchecked := run.newResult(run.engine, nil)
	unchecked.Outcome, unchecked.Reason = report.TestUnchecked, "there is no property, and no exported file to compare with"
	return unchecked
}

// addRunResult adds a result about the whole run. It stores the log in the result unless the run has passed.
func (run *testRun) addRunResult(result report.TestResult, cached bool, log string) {
	result.Cached = cached
	if result.Outcome != report.TestPassed {
		result.Log = log
	}
	run.runResults = append(run.runResults, result)
}

// failedRun returns the result of a run that failed before it checked a property.
func (run *testRun) failedRun(failure *result.Failure) report.TestResult {
	testResult := run.newResult(run.engine, nil)
	testResult.Verdict = &result.Verdict{Engine: run.engine.DisplayName(), Err: failure}
	testResult.Reason = failure.Message
	switch {
	case failure.Class == result.Unsupported:
		testResult.Outcome = report.TestUnsupported
	case failure.Class.Limited():
		testResult.Outcome = report.TestLimit
	default:
		testResult.Outcome = report.TestError
		testResult.Reason = fmt.Sprintf("%s (%s)", failure.Message, failure.Class)
	}
	return testResult
}
