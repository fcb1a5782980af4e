package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tilecheck/internal/quote"
	"tilecheck/report/stream"

	"tilecheck/internal/shard"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/report/table"
	"tilecheck/runner"
	"tilecheck/verify/regress"
	"tilecheck/verify/selection"
)

type testCmd struct {
	suiteFlags `embed:""`
	runFlags   `embed:""`

	Flakes  float64 `rare:"" help:"Probability that any statistical expectation of the suite fails by chance (default: that of tilecheck.yaml, or 0.01)." want:"(0,1)" placeholder:"P"`
	Shard   string  `help:"Run only part I of N, such as 2/5." placeholder:"I/N"`
	Partial string  `rare:"" help:"With --shard: print nothing, and write the results of the part; tilecheck merge prints the result of all parts." placeholder:"FILE" file:"out"`
	Balance string  `rare:"" help:"Make shards that take equally long, by the times of an earlier run, a file of --jsonl (default: by a hash)." placeholder:"FILE" file:"in"`
	Strict  bool    `help:"Fail also if a result was unsupported, unchecked or not tested."`
	Certify bool    `help:"Prove the native answers by certificates, and count the proven ones."`

	QVBS      bool `rare:"" name:"qvbs" help:"The paths are directories of the Quantitative Verification Benchmark Set (QComp): every case with a reference is a test."`
	MaxStates int  `name:"skip-larger" aliases:"max-states" rare:"" help:"With --qvbs: skip cases with more states, by the numbers of the set (default: none is skipped)." placeholder:"N"`

	Title string `rare:"" help:"Title of the report." placeholder:"TEXT"`

	Format   table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
	JUnit    string       `name:"junit" help:"Also write JUnit XML." placeholder:"FILE" file:"out"`
	Markdown string       `name:"markdown" help:"Also write a summary in Markdown." placeholder:"FILE" file:"out"`
	HTML     string       `name:"html" help:"Also write a page." placeholder:"FILE" file:"out"`
	JSONL    string       `name:"jsonl" help:"Also write JSON lines, which --baseline reads." placeholder:"FILE" file:"out"`
	GitHub   bool         `name:"github" help:"Also print annotations for GitHub Actions."`
	Baseline string       `help:"Compare with an earlier run: the file that --jsonl wrote." placeholder:"FILE" file:"in"`
}

// Run runs the tests, prints the report and compares it with the baseline. A shard only records its results.
func (c *testCmd) Run(ctx context.Context, env *environment) (err error) {
	selected, err := c.selectTests(env)
	if err != nil {
		return err
	}
	baseline, err := readReport("--baseline", c.Baseline)
	if err != nil {
		return err
	}
	testReport, err := c.runTests(ctx, env, selected)
	if err != nil {
		return err
	}
	if selected.Benchmarks != nil {
		testReport.Notes = append(testReport.Notes, selected.Benchmarks.Notes(testReport)...)
		testReport.Findings = nil // the annotations in a benchmark set are not for this run
	}
	if c.Certify {
		testReport.Notes = append(testReport.Notes, selection.ProvenNotes(testReport)...)
	}
	if env.shard.Recording() { // the merge prints the report
		return endTestShard(env, testReport)
	}
	if baseline != nil {
		testReport.Baseline = report.CompareBaseline(baseline, testReport)
	}
	if err := c.write(env, testReport); err != nil {
		return err
	}
	code := regress.ExitCode(testReport, selected.Strict || c.Strict)
	if code == exitOK && testReport.Baseline != nil && !testReport.Baseline.HasCompared() && testReport.Elsewhere == 0 {
		return fmt.Errorf("%s: nothing was compared with the baseline: no value is in both runs", c.Baseline)
	}
	return exitStatus(code)
}

// endTestShard ends a run of one shard of the tests. Its exit code depends only on the failures of this shard.
func endTestShard(env *environment, testReport *report.TestReport) error {
	env.shard.Judged()
	if testReport.Elsewhere > 0 && !env.quiet {
		fmt.Fprintf(env.stderr, "note: %s\n", testReport.Notes[0])
	}
	return exitStatus(regress.FailureCode(testReport))
}

// selectTests returns the tests that the command line selects. It returns a usage error if a flag has no effect.
func (c *testCmd) selectTests(env *environment) (*selection.Selection, error) {
	if err := cmp.Or(
		env.refuseFlags(!c.QVBS, "without --qvbs", "skip-larger"),
		env.refuseFlags(c.QVBS, "with --qvbs", "match", "pair-all", "suite", "no-config"),
	); err != nil {
		return nil, err
	}
	selectBenchmarks := func(request *selection.Request) { request.QVBS, request.MaxStates = c.QVBS, int64(c.MaxStates) }
	selected, err := c.loadTests(env, c.Engine, c.Jobs, selectBenchmarks)
	if err != nil {
		return nil, err
	}
	if err := c.completeOptions(env, selected); err != nil {
		return nil, err
	}
	if c.Certify {
		if err := selected.Certify(); err != nil {
			return nil, err
		}
	}
	names := engineNames(selected.Labels)
	return selected, cmp.Or(
		env.refuseToolFlags(names),
		env.refuseFlags(!slices.Contains(names, native.Name), "without the native engine: tools draw seeds of their own", "seed"),
	)
}

// runTests runs the selected tests on their engines and returns the report.
func (c *testCmd) runTests(ctx context.Context, env *environment, selected *selection.Selection) (testReport *report.TestReport, err error) {
	if err := c.openCache(env, selected); err != nil {
		return nil, err
	}
	c.PrismImage = cmp.Or(c.PrismImage, selected.PrismImage)
	c.GamesImage = cmp.Or(c.GamesImage, selected.GamesImage)
	c.StormImage = cmp.Or(c.StormImage, selected.StormImage)
	c.Jobs = selected.Options.Jobs
	tools := env.newToolbox(c.engineFlags, c.Memory, c.Timeout)
	defer func() { err = errors.Join(err, tools.Close()) }()
	engines, err := c.engines(ctx, env, tools, selected)
	if err != nil {
		return nil, err
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	selected.Options.Progress = suiteProgress(showProgress)
	return regress.Run(ctx, selected.Tests, engines, selected.Options)
}

// suiteProgress returns a function that reports the progress of a suite; nil if report is nil.
func suiteProgress(report func(runner.Progress)) func(finished, total int, slowest string) {
	if report == nil {
		return nil
	}
	return func(finished, total int, slowest string) {
		text := "testing"
		if slowest != "" {
			text += "; " + slowest + ";"
		}
		report(runner.Progress{Property: text, Done: int64(finished), Target: int64(total), Unit: "runs"})
	}
}

// defaultFlakes is the probability of a false alarm that --flakes sets by default.
const defaultFlakes = 0.01

// completeOptions completes the options of the run: the shard, the probability of a false alarm, the title and the command line that repeats a test.
func (c *testCmd) completeOptions(env *environment, selected *selection.Selection) error {
	if c.Shard != "" {
		if err := c.selectShard(&selected.Options); err != nil {
			return err
		}
	} else if c.Balance != "" && !env.shard.Replaying() {
		return usageError("--balance is for shards, want --shard")
	}
	selected.Options.Ledger = env.shard
	switch {
	case c.Flakes != 0:
		selected.Options.Flakes = c.Flakes
	case selected.Flakes != nil:
		selected.Options.Flakes = *selected.Flakes
	default:
		selected.Options.Flakes = defaultFlakes
	}
	if c.Title != "" {
		selected.Options.Title = c.Title
	}
	selected.Options.Rerun = c.rerunCommand
	return nil
}

// selectShard sets the shard of --shard in the options. With --balance it also sets the times of an earlier run, so that all shards take about
// equally long.
func (c *testCmd) selectShard(options *regress.Options) error {
	thisShard, err := shard.Parse(c.Shard)
	if err != nil {
		return usageError("--shard: %w", err)
	}
	if thisShard.Index > thisShard.Count {
		return usageError("--shard: found %q, want the number of a shard and the number of shards, such as 2/5", c.Shard)
	}
	options.Shard = thisShard
	options.Times, err = readReport("--balance", c.Balance)
	return err
}

// rerunCommand returns a command line that repeats one result of the report. id identifies the result, and engines are the names of its engines,
// separated by commas.
func (c *testCmd) rerunCommand(engines, id string) string {
	words := append([]string{"tilecheck", "test", "--engine", engines}, c.selectionWords()...)
	words = append(words, c.toolWords(engineNames(splitNames([]string{engines})))...)
	for _, definition := range c.Const {
		words = append(words, "--const", definition)
	}
	for _, arg := range c.ToolArg {
		words = append(words, "--tool-arg="+arg)
	}
	words = append(words, "--no-cache", "--id", id)
	for _, path := range c.Paths {
		if strings.HasPrefix(path, "-") { // not a flag
			path = "." + string(os.PathSeparator) + path
		}
		words = append(words, path)
	}
	for i := range words {
		words[i] = quote.Word(words[i])
	}
	return strings.Join(words, " ")
}

// toolWords returns the flags of this command line that select the programs or images of the given engines.
func (c *testCmd) toolWords(engines []string) (words []string) {
	for _, name := range toolNames() {
		if !slices.Contains(engines, name) {
			continue
		}
		switch place := c.placeOf(name); {
		case place.Path != "":
			words = append(words, "--"+name+"-path", place.Path)
		case place.Image != "":
			words = append(words, "--"+name+"-image", place.Image)
		}
	}
	return words
}

// selectionWords returns the flags of this command line that select tests or limit them, as the words of a new command line.
func (c *testCmd) selectionWords() []string {
	var words []string
	addIf := func(isGiven bool, flag ...string) {
		if isGiven {
			words = append(words, flag...)
		}
	}
	addIf(c.Match, "--match")
	addIf(c.All, "--pair-all")
	addIf(c.NoConfig, "--no-config")
	addIf(c.QVBS, "--qvbs")
	addIf(c.Seed != nil, "--seed", fmt.Sprint(valueOrZero(c.Seed)))
	addIf(c.Timeout > 0, "--timeout", c.Timeout.String())
	addIf(c.Memory > 0, "--memory", fmt.Sprint(int64(c.Memory)))
	addIf(c.Flakes > 0, "--flakes", fmt.Sprint(c.Flakes))
	return words
}

// valueOrZero returns the number to which a pointer points; 0 if the pointer is nil.
func valueOrZero(pointer *uint64) uint64 {
	if pointer == nil {
		return 0
	}
	return *pointer
}

// readReport reads the test report in a file with JSON lines. flag is the flag that names the file, for error messages. It returns nil if the flag
// was not given.
func readReport(flag, file string) (*report.TestReport, error) {
	if file == "" {
		return nil, nil
	}
	opened, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	defer opened.Close()
	return report.ReadJSONLines(bufio.NewReader(opened), file)
}

// write prints the report and writes its files.
func (c *testCmd) write(env *environment, testReport *report.TestReport) error {
	return errors.Join(c.printReport(env, testReport), c.writeFiles(env, testReport))
}

// writeFiles writes the reports that flags such as --junit ask for. It writes all of them, or none if one fails.
func (c *testCmd) writeFiles(env *environment, testReport *report.TestReport) error {
	options := env.reportOptions()
	reports := []struct {
		file  string
		write func(io.Writer) error
	}{
		{c.JUnit, func(w io.Writer) error { return report.WriteJUnit(w, testReport) }},
		{c.Markdown, func(w io.Writer) error { return report.WriteTests(w, table.Markdown, testReport, options) }},
		{c.HTML, func(w io.Writer) error { return report.WriteHTML(w, testReport, options) }},
		{c.JSONL, func(w io.Writer) error { return report.WriteJSONLines(w, testReport, options) }},
	}
	var errs []error
	err := env.writeSet(nil, func(write writeFile) error {
		for _, output := range reports {
			if output.file != "" {
				errs = append(errs, write(output.file, output.write))
			}
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// printReport prints the report and annotations for GitHub. If the format is for programs, only the report is on standard output, and the comparison with
// the baseline is on standard error, too.
func (c *testCmd) printReport(env *environment, testReport *report.TestReport) error {
	options := env.reportOptions()
	env.markOutputStarted()
	if err := report.WriteTests(env.stdout, c.Format, testReport, options); err != nil {
		return err
	}
	notesOutput := env.stdout
	if c.Format.Machine() { // machine-readable output must not contain other text
		notesOutput = env.stderr
		if testReport.Baseline != nil {
			if err := testReport.Baseline.Write(notesOutput, table.Text, options); err != nil {
				return err
			}
		}
	}
	if c.GitHub {
		return report.WriteGitHub(notesOutput.(*stream.Stream).Unguarded(), testReport)
	}
	return nil
}
