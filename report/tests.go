package report

import (
	"time"

	"tilecheck/result"
	"tilecheck/result/agree"
)

// TestReport is what a run of a test suite has to say.
type TestReport struct {
	Title   string
	Engines []string     // in the order asked for
	Results []TestResult // in the order of the suite, the engines of one property together
	Started time.Time
	Elapsed time.Duration
	Notes   []string // paragraphs: seed, shard, what was not found
	// Elsewhere is the number of tests of a suite of which this part has none: they
	// are all in other parts.
	Elsewhere int
	// Compared counts the comparisons of the engines with each other.
	Compared agree.Tally
	// Baseline is how the run differs from an earlier one, for JSON; nil without one.
	Baseline *Baseline
	// Findings are what is wrong with annotations, whatever the engines say, in the order of files and lines.
	Findings []TestFinding
}

// TestFinding is an annotation that does not do what it looks like: malformed, shadowed by an earlier one, or one that fits
// no run of the suite.
type TestFinding struct {
	File      string
	Line, Col int // 1-based
	Message   string
}

// TestResult is one property of one run, under one valuation, on one engine: an expectation and what became of it.
type TestResult struct {
	// Model and Props are the files of the run, Args its switches; paths are as the user named them.
	Model, Props string
	Args         []string
	Engine       string
	// Property is the text, Name its name, empty when it has none. A result without a property is about the whole run:
	// a file with errors, an engine that did not start, an exported file that differs.
	Property, Name string
	Constants      []result.Constant
	// File, Line and Col are where the property is, 1-based; 0 when unknown. ExpectedLine is the line of the annotation.
	File         string
	Line, Col    int
	ExpectedLine int
	Outcome      TestOutcome
	// Expected and Got are texts for people: the annotation's value, and the verdict's.
	Expected, Got string
	// Reason says why, unless Outcome is TestPassed.
	Reason string
	// Verdict is nil when there is none.
	Verdict *result.Verdict
	// Rerun is a command line that repeats this result alone.
	Rerun string
	// Log is the output of the tool, if one ran and it is worth keeping.
	Log    string
	Cached bool // the verdict comes from the cache
	// Seconds is the time of this result alone, as far as it is known; that of the run is shared by its results.
	Seconds float64
	// Run is the time of the run that the result is part of, reading and building the
	// model included; 0 if nothing was run.
	Run float64
}

// TestOutcome is what became of an expectation.
type TestOutcome uint8

// The outcomes, the gravest first.
const (
	TestError       TestOutcome = iota // could not be run: files with errors, an engine that is not there, an interrupt
	TestLimit                          // a limit of time or memory was hit
	TestFailed                         // the verdict is not what is expected
	TestDisagreed                      // engines contradict each other
	TestUnsupported                    // the engine refuses by name
	TestUnchecked                      // there is a verdict and no expectation
	TestNotTested                      // the expectation is ?, or no annotation fits
	TestPassed
)

// String returns "error", "limit", "fail", "disagree", "unsupported", "unchecked", "not tested" or "pass".
func (o TestOutcome) String() string {
	return [...]string{"error", "limit", "fail", "disagree", "unsupported", "unchecked", "not tested", "pass"}[o]
}
