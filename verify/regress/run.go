package regress

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
	"tilecheck/report"
	"tilecheck/result/agree"
	"tilecheck/runner"
)

// Run runs each test on all of its engines, and compares the results of the engines. It returns an error only if the options are wrong; a test
// that fails has a result that says so. If ctx is cancelled, unfinished tests get the outcome TestError.
func Run(ctx context.Context, tests []Test, engines []EngineConfig, options Options) (*report.TestReport, error) {
	start := time.Now()
	suite := &suiteRun{options: &options, engines: engines}
	if err := suite.checkOptions(); err != nil {
		return nil, err
	}
	for i := range tests {
		suite.tests = append(suite.tests, loadTest(ctx, &tests[i], &options))
	}
	// The next three steps must see the whole suite, before selectPart drops tests.
	findings := suite.findings()
	suite.unusedConstants = suite.unusedConsts()
	suite.splitBudget()
	if err := suite.setIdentities(); err != nil {
		return nil, err
	}
	hash := suite.suiteHash()
	if options.Ledger.Replaying() {
		if err := suite.checkSameSuite(hash); err != nil {
			return nil, err
		}
	}
	if err := suite.selectPart(); err != nil {
		return nil, err
	}
	suite.runAll(ctx)
	if err := suite.recordResults(hash); err != nil {
		return nil, err
	}
	testReport := suite.makeReport()
	testReport.Findings, testReport.Started, testReport.Elapsed = findings, start, time.Since(start)
	return testReport, nil
}

// makeReport makes the report of all runs, with the comparison of the engines and with notes.
func (r *suiteRun) makeReport() *report.TestReport {
	testReport := &report.TestReport{Title: r.options.Title}
	for i := range r.engines {
		testReport.Engines = append(testReport.Engines, r.engines[i].DisplayName())
	}
	if len(r.tests) == 0 && len(r.options.Only) == 0 {
		testReport.Elsewhere = r.numTests
	}
	testReport.Results, testReport.Compared = r.results()
	testReport.Notes = append(r.notes(r.runs), doubtNotes(testReport.Results)...)
	if testReport.Compared.All() > 0 {
		testReport.Notes = append(testReport.Notes, "engines: "+testReport.Compared.String())
	}
	return testReport
}

// suiteRun is the state of Run.
type suiteRun struct {
	options *Options
	engines []EngineConfig
	tests   []*loadedTest
	runs    []*testRun // by test, then by engine
	// numTests and statisticalCount are the numbers of tests and statistical expectations in the
	// whole suite.
	numTests, statisticalCount int
	// unusedConstants are constants that tests define and no file declares.
	unusedConstants []string
}

// checkOptions returns an error if there is no file system or engine, or if two engines have the same label.
func (r *suiteRun) checkOptions() error {
	if r.options.FS == nil {
		return errors.New("no file system to read from")
	}
	if len(r.engines) == 0 {
		return errors.New("no engine to run on")
	}
	var labels []string
	for i := range r.engines {
		labels = append(labels, r.engines[i].DisplayName())
	}
	return runner.Distinct(labels)
}

// setIdentities numbers the tests, and gives each test and each of its instances an identity: a short text by which the user can select it. It returns an error
// if Options.Only contains an unknown identity.
func (r *suiteRun) setIdentities() error {
	isKnown := make(map[string]bool)
	for i, test := range r.tests {
		test.number = i + 1
		for _, id := range test.setIdentities(r.options.Only) {
			isKnown[id] = true
		}
	}
	unknown := slices.DeleteFunc(slices.Clone(r.options.Only), func(id string) bool { return isKnown[id] })
	if len(unknown) > 0 {
		return fmt.Errorf("no result has the identity %s", strings.Join(unknown, ", "))
	}
	return nil
}

// selectPart removes the tests that another shard runs, and the tests that Options.Only does not select.
func (r *suiteRun) selectPart() error {
	r.numTests = len(r.tests)
	balancesTimes := r.options.Times != nil && r.options.Shard.Count > 1
	if balancesTimes {
		if err := r.keepBalancedPart(); err != nil {
			return err
		}
	} else {
		r.tests = slices.DeleteFunc(r.tests, func(test *loadedTest) bool { return !r.options.Shard.Holds(test.identity()) })
	}
	if len(r.options.Only) > 0 {
		r.tests = slices.DeleteFunc(r.tests, func(test *loadedTest) bool { return !test.isSelected() })
	}
	return nil
}

// isSelected reports whether Options.Only selects a result of the test.
func (test *loadedTest) isSelected() bool {
	hasInstance := slices.ContainsFunc(test.instances, func(instance *propertyInstance) bool { return instance.selected })
	return test.wantsRunResults || hasInstance
}

// unusedConsts returns the names of the constants that --const defines and that no model or properties file of the suite declares.
func (r *suiteRun) unusedConsts() []string {
	var unused []string
	for _, test := range r.tests {
		if test.err != nil { // this test may declare any of the constants
			return nil
		}
		definitions, _ := sema.ParseConsts(test.Consts) // test.err has the mistakes
		for _, definition := range definitions {
			if !slices.Contains(unused, definition.Name) && !r.declares(definition.Name) {
				unused = append(unused, definition.Name)
			}
		}
	}
	return unused
}

// declares reports whether a test declares a constant.
func (r *suiteRun) declares(name string) bool {
	return slices.ContainsFunc(r.tests, func(test *loadedTest) bool { return test.hasConstant(name) })
}

// runAll runs every test on each of its engines. At most Options.Jobs runs take place at the same time, and they share the processors.
func (r *suiteRun) runAll(ctx context.Context) {
	for _, test := range r.tests {
		for i := range r.engines {
			if engine := &r.engines[i]; test.runsOn(engine) {
				r.runs = append(r.runs, &testRun{loadedTest: test, engine: engine})
			}
		}
	}
	jobs := max(r.options.Jobs, 1)
	var group errgroup.Group
	group.SetLimit(jobs)
	tracker := &progress{startTimes: make(map[*testRun]time.Time), numRuns: len(r.runs), notify: r.options.Progress}
	stopWatching := tracker.watch()
	defer stopWatching()
	for i, run := range r.runs {
		run.workers = max(1, runtime.GOMAXPROCS(0)/min(jobs, len(r.runs)-i))
		group.Go(func() error {
			tracker.begin(run)
			run.execute(ctx)
			tracker.end(run)
			return nil
		})
	}
	_ = group.Wait() // no run returns an error
}

// results returns the results of all runs, ordered by test, then property instance, then engine. tally counts how often the engines agree.
func (r *suiteRun) results() (testResults []report.TestResult, tally agree.Tally) {
	runsByTest := make(map[*loadedTest][]*testRun)
	for _, run := range r.runs {
		runsByTest[run.loadedTest] = append(runsByTest[run.loadedTest], run)
	}
	for _, test := range r.tests {
		testResults = append(testResults, interleave(test, runsByTest[test], &tally)...)
	}
	return testResults, tally
}

// interleave orders the results of one test, which ran on several engines: first the results about whole runs, then for each property instance
// the results of all engines. It compares the engines with each other and counts the outcomes in tally.
func interleave(test *loadedTest, runs []*testRun, tally *agree.Tally) []report.TestResult {
	var results []report.TestResult
	for _, run := range runs {
		results = append(results, run.runResults...)
	}
	for i, instance := range test.instances {
		if !instance.selected {
			continue
		}
		var instanceResults []report.TestResult
		for _, run := range runs {
			if run.instanceResults != nil {
				instanceResults = append(instanceResults, run.instanceResults[i])
			}
		}
		test.compareEngines(instance, instanceResults, tally)
		results = append(results, instanceResults...)
	}
	return results
}

// doubtNotes returns a note for each engine and reason for which the engine reports that values may be wrong. The note has the number of these
// values.
func doubtNotes(results []report.TestResult) (notes []string) {
	type doubt struct{ engine, text string }
	counts := make(map[doubt]int)
	var doubts []doubt
	for i := range results {
		if verdict := results[i].Verdict; verdict != nil && verdict.Doubt != "" {
			key := doubt{results[i].Engine, verdict.Doubt}
			counts[key]++
			if counts[key] == 1 {
				doubts = append(doubts, key)
			}
		}
	}
	for _, key := range doubts {
		notes = append(notes, fmt.Sprintf("%s casts doubt on %d of its own values, which prove nothing: %s", key.engine, counts[key], key.text))
	}
	return notes
}

// shardNote returns a note about the number of runs (model and properties file with switches) in this shard.
func (r *suiteRun) shardNote() string {
	note := fmt.Sprintf("shard %v: %d of %s", r.options.Shard, len(r.tests), noun.Count(r.numTests, "run"))
	if len(r.tests) == 0 && r.numTests > 0 && len(r.options.Only) == 0 {
		note += "; all of them are in other shards, so this shard has nothing to do"
	}
	return note
}

// samplingNote returns the note about the expectations that are sampled. They can fail by chance, with a probability that Options.Flakes limits.
func (r *suiteRun) samplingNote() string {
	note := fmt.Sprintf("%s, seed %d. ", noun.Count(r.statisticalCount, "sampled expectation"), r.options.Seed)
	if r.statisticalCount == 1 {
		return note + fmt.Sprintf("If it is right, it fails by chance with probability at most %g (--flakes)", r.options.Flakes)
	}
	each := r.options.Flakes / float64(r.statisticalCount)
	return note + fmt.Sprintf("If all of them are right, one or more fail by chance with probability at most %g (--flakes), each with at most %.3g", r.options.Flakes, each)
}

// notes returns the notes of the report. They are about the shard, the statistical expectations, undeclared constants, and the runs.
func (r *suiteRun) notes(runs []*testRun) []string {
	var notes []string
	if r.options.Shard.Count > 1 {
		notes = append(notes, r.shardNote())
	}
	if r.statisticalCount > 0 {
		notes = append(notes, r.samplingNote())
	}
	for _, name := range r.unusedConstants {
		notes = append(notes, fmt.Sprintf("no test has a constant %q, so its value is ignored", name))
	}
	for _, run := range runs {
		for _, note := range run.notes {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}
