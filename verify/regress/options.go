package regress

import (
	"fmt"
	"io/fs"
	"time"

	"tilecheck/internal/shard"
	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/runner"
	"tilecheck/verify/cache"
	"tilecheck/verify/expect"
	"tilecheck/verify/suite"
)

// Test is one run of a suite.
type Test struct {
	suite.Run
	// Dialect is the language of the files. EngineConfig.PRISM runs only tests of the dialect PRISM.
	Dialect syntax.Dialect
	// Engines are the labels of the engines that the test is for; nil means all.
	Engines []string
	// Consts are definitions of constants, each as PRISM's -const; they replace
	// those of the run for the same constants.
	Consts []string
	// Time and Memory (in bytes) are limits of one run; 0 means the limit of Options.
	Time   time.Duration
	Memory int64
	// Extra are expectations outside of the properties file. They come first.
	Extra []Extra
}

// Extra is an expectation, outside of the properties file, of the properties with this name or text.
type Extra struct {
	Property string
	Result   *expect.Expectation // may be nil
	Terms    *expect.Terms       // may be nil
	File     string              // its place, with Pos
	Pos      syntax.Pos
}

// EngineConfig is an engine that a suite runs on. Its Accuracy applies unless the switches of a run ask for fractions. The
// switches replace its Method.
type EngineConfig struct {
	runner.EngineConfig
	// Identity is the version for the cache: a version with a build, or the digest of
	// an image. If it is empty, nothing is cached.
	Identity string
	// PRISM, when not nil, runs the tests with PRISM's switches, instead of Engine.
	PRISM *PRISM
}

// PRISM is a tool that takes PRISM's switches.
type PRISM struct {
	Commander runner.Commander
	Args      []string // added to those of the run
}

// Options are the options of a run. FS is mandatory.
type Options struct {
	FS fs.FS
	// Name returns the name of a file of FS that messages show; nil means the same name.
	Name func(file string) string
	// Title heads the report.
	Title string
	// Jobs is the number of runs at a time; 0 is 1.
	Jobs int
	// Time and Memory (in bytes) are limits of one run; 0 is none.
	Time   time.Duration
	Memory int64
	// Seed determines every random number of the embedded engine.
	Seed uint64
	// Flakes is the probability that any statistical expectation of the whole suite
	// fails by chance; it is split evenly (Bonferroni). 0 leaves it to the annotations.
	Flakes float64
	// Shard is the part of the suite to run. A hash of a test determines its part; with
	// Times, the time of the test does.
	Shard shard.Part
	// Times is a report of an earlier run. The tests are divided by their times in it, so that all parts take about equally long.
	Times *report.TestReport
	// Ledger, when not nil, shares the tests with other processes: it records the results
	// of Shard, or has the recorded results, and then nothing is run.
	Ledger *shard.Ledger
	// Only, when not empty, keeps the results with these identities.
	Only []string
	// Cache keeps verdicts; it may be nil.
	Cache *cache.Cache
	// Rerun returns a command line that repeats a result on engines, whose labels
	// are separated by commas; it may be nil. It must be safe for concurrent use.
	Rerun func(engines, id string) string
	// Progress, when not nil, gets the number of finished runs and of all runs, and the slowest
	// run if it takes long. It is never called concurrently.
	Progress func(done, total int, slowest string)
}

// name returns the name of a file for messages and reports.
func (o *Options) name(file string) string {
	if o.Name == nil || file == "" {
		return file
	}
	return o.Name(file)
}

// Discover returns the tests of the named files and directories, without repetitions. pairing decides which properties files belong to a model.
func Discover(fileSystem fs.FS, names []string, pairing suite.Pairing) ([]Test, error) {
	var tests []Test
	for _, name := range names {
		runs, err := suite.Discover(fileSystem, name, pairing)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			tests = append(tests, Test{Run: run})
		}
	}
	return Distinct(tests), nil
}

// Distinct returns the tests without repetitions. Tests are equal if they have the same files, switches, constants, engines and expectations.
func Distinct(tests []Test) []Test {
	var distinct []Test
	isListed := make(map[string]bool)
	for _, test := range tests {
		key := fmt.Sprintf("%q %q %q %q %q %q", test.Dir, test.Model, test.Props, test.Args, test.Consts, test.Engines)
		for _, extra := range test.Extra {
			key += fmt.Sprintf(" %q %v", extra.File, extra.Pos)
		}
		if !isListed[key] {
			isListed[key] = true
			distinct = append(distinct, test)
		}
	}
	return distinct
}

// ExitCode returns the exit code for a report; see docs/test.md. A bad result determines the code. Without bad results, the code is 1 if nothing
// passed or no values could be compared. A shard without tests has the code 0. In strict mode, the code is 2 if a result was not judged or an
// annotation has a mistake.
func ExitCode(testReport *report.TestReport, strict bool) int {
	if code := FailureCode(testReport); code != 0 {
		return code
	}
	counts := countOutcomes(testReport)
	notJudged := counts[report.TestUnsupported] + counts[report.TestUnchecked] + counts[report.TestNotTested]
	failsStrictly := strict && notJudged+len(testReport.Findings) > 0
	isEmptyShard := len(testReport.Results) == 0 && testReport.Elsewhere > 0
	nothingCompared := testReport.Compared.All() > 0 && testReport.Compared.Compared() == 0
	switch {
	case isEmptyShard && !failsStrictly:
		return 0
	case counts[report.TestPassed] == 0 || nothingCompared:
		return 1
	case failsStrictly:
		return 2
	}
	return 0
}

// FailureCode returns the exit code for the most serious bad outcome of a report: 1 for an error, then 4 for an exceeded limit, 2 for a failed
// test, and 3 for engines that disagree. It returns 0 if there is none.
func FailureCode(testReport *report.TestReport) int {
	counts := countOutcomes(testReport)
	switch {
	case counts[report.TestError] > 0:
		return 1
	case counts[report.TestLimit] > 0:
		return 4
	case counts[report.TestFailed] > 0:
		return 2
	case counts[report.TestDisagreed] > 0:
		return 3
	}
	return 0
}

// countOutcomes returns the number of results with each outcome.
func countOutcomes(testReport *report.TestReport) map[report.TestOutcome]int {
	counts := make(map[report.TestOutcome]int)
	for i := range testReport.Results {
		counts[testReport.Results[i].Outcome]++
	}
	return counts
}
