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
	// Dialect is that of the files, which run in PRISM's own words only if it is PRISM's.
	Dialect syntax.Dialect
	// Engines are the labels of the entrants that the test is for; nil means all.
	Engines []string
	// Consts are definitions of constants, each as PRISM's -const; they replace
	// those of the run for the same constants.
	Consts []string
	// Time and Memory (in bytes) are limits of one run; 0 is that of Options.
	Time   time.Duration
	Memory int64
	// Extra are expectations that are not in the properties file. They come first.
	Extra []Extra
}

// Extra is an expectation of the properties with that name or text.
type Extra struct {
	Property string
	Result   *expect.Expectation // nil if there is none
	Terms    *expect.Terms       // nil if there are none
	File     string              // where it is written, at Pos
	Pos      syntax.Pos
}

// Entrant is an engine that a suite runs on. Its Accuracy is asked for where the
// switches of a run do not ask for fractions, and its Method is theirs.
type Entrant struct {
	runner.Entrant
	// Identity says which version runs, for the cache: a version with a build, or
	// the digest of an image. Without it nothing is cached.
	Identity string
	// PRISM, when not nil, gets the runs in PRISM's own words, and Engine is not asked.
	PRISM *PRISM
}

// PRISM is a tool that takes PRISM's switches.
type PRISM struct {
	Commander runner.Commander
	Args      []string // behind those of the run
}

// Options are how a suite is run. FS is mandatory.
type Options struct {
	FS fs.FS
	// Name is how people call a file of FS; nil leaves names as they are.
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
	// Flakes is the probability that any of the statistical expectations of the
	// whole suite fails although it is right; it is split evenly (Bonferroni).
	// 0 leaves it to the annotations.
	Flakes float64
	// Shard is the part of the suite to run. A test belongs to one part, by what it
	// is, whatever other tests there are; or, with Times, by what it cost.
	Shard shard.Part
	// Times is a report of an earlier run: the parts of the suite are dealt so that
	// they take about equally long. Nil leaves it to a hash.
	Times *report.TestReport
	// Split, when not nil, shares the tests with other processes: what came of those
	// of Shard is recorded, or nothing is run, and the results are those recorded.
	Split *shard.Ledger
	// Only, when not empty, keeps the results with these identities.
	Only []string
	// Cache keeps verdicts; nil does not.
	Cache *cache.Cache
	// Rerun returns a command line that repeats a result on entrants, whose labels
	// are separated by commas; nil leaves it out. Several may be asked for at a time.
	Rerun func(entrants, id string) string
	// Progress, when not nil, is told how many runs of how many are done, one call at a time, and
	// which has run for long, if one has.
	Progress func(done, total int, standing string)
}

func (o *Options) name(file string) string {
	if o.Name == nil || file == "" {
		return file
	}
	return o.Name(file)
}

// Discover lists the tests of files and directories, each once.
func Discover(fsys fs.FS, names []string, pairing suite.Pairing) ([]Test, error) {
	var tests []Test
	for _, name := range names {
		runs, err := suite.Discover(fsys, name, pairing)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			tests = append(tests, Test{Run: r})
		}
	}
	return Distinct(tests), nil
}

// Distinct drops tests that are the same as an earlier one: files, switches,
// constants, engines and expectations.
func Distinct(tests []Test) []Test {
	var out []Test
	seen := make(map[string]bool)
	for _, t := range tests {
		key := fmt.Sprintf("%q %q %q %q %q %q", t.Dir, t.Model, t.Props, t.Args, t.Consts, t.Engines)
		for _, x := range t.Extra {
			key += fmt.Sprintf(" %q %v", x.File, x.Pos)
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, t)
		}
	}
	return out
}

// ExitCode is what a command is to exit with after a report; see docs/test.md.
// Engines that were to be compared and never were are no success; a part without
// tests of a suite that has some is.
// A strict one also fails where something was not judged, or where an annotation
// is mistaken.
func ExitCode(rep *report.TestReport, strict bool) int {
	if code := FailureCode(rep); code != 0 {
		return code
	}
	counts := countsOf(rep)
	left := counts[report.TestUnsupported] + counts[report.TestUnchecked] + counts[report.TestNotTested] + len(rep.Findings)
	switch {
	case len(rep.Results) == 0 && rep.Elsewhere > 0 && !(strict && left > 0):
		return 0
	case counts[report.TestPassed] == 0, rep.Compared.All() > 0 && rep.Compared.Compared() == 0:
		return 1
	case strict && left > 0:
		return 2
	}
	return 0
}

// FailureCode is the exit code of results that are bad whatever the others are; 0
// if there is none.
func FailureCode(rep *report.TestReport) int {
	counts := countsOf(rep)
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

func countsOf(rep *report.TestReport) map[report.TestOutcome]int {
	counts := make(map[report.TestOutcome]int)
	for i := range rep.Results {
		counts[rep.Results[i].Outcome]++
	}
	return counts
}
