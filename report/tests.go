package report

import (
	"time"

	"tilecheck/result"
	"tilecheck/result/agree"
)

// TestReport is the result of a run of a test suite.
type TestReport struct {
	Title   string
	Engines []string     // in the order asked for
	Results []TestResult // in the order of the suite, the engines of one property together
	Started time.Time
	Elapsed time.Duration
	Notes   []string // paragraphs: seed, shard, what was not found
	// Elsewhere is the number of tests of the suite if all of them are in other parts, otherwise 0.
	Elsewhere int
	// Compared counts the comparisons of the engines with each other.
	Compared agree.Tally
	// Baseline has the changes since an earlier run; nil without one. Every format but CSV has them.
	Baseline *Baseline
	// Findings are the mistakes in annotations, in the order of files and lines.
	Findings []TestFinding
}

// TestFinding is an annotation that has no effect: it is malformed, an earlier one hides it, or it fits no run of the
// suite.
type TestFinding struct {
	File      string
	Line, Col int // 1-based
	Message   string
}

// TestResult is a row of a test report: one property of one run, under one valuation, on one engine, with its
// expectation and outcome.
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
	// Expected and Got are texts for people: the value of the annotation, and that of the verdict.
	Expected, Got string
	// Reason explains an Outcome other than TestPassed.
	Reason string
	// Verdict is nil if the engine gave none.
	Verdict *result.Verdict
	// Rerun is a command line that repeats this result alone.
	Rerun string
	// Log is the output of a tool, empty if the result does not need it.
	Log    string
	Cached bool // the verdict comes from the cache
	// Seconds is the time of this result alone; 0 if it is unknown.
	Seconds float64
	// Run is the time of the whole run, with reading and building the model; 0 if nothing was run.
	Run float64
}

// TestOutcome is the outcome of an expectation.
type TestOutcome uint8

// The outcomes, the gravest first.
const (
	TestError       TestOutcome = iota // could not be run: errors in files, a missing engine, an interrupt
	TestLimit                          // a limit of time or memory was hit
	TestFailed                         // the verdict is not the expected one
	TestDisagreed                      // engines contradict each other
	TestUnsupported                    // the engine does not support something
	TestUnchecked                      // there is a verdict and no expectation
	TestNotTested                      // the expectation is ?, or no annotation fits
	TestPassed
)

// String returns "error", "limit", "fail", "disagree", "unsupported", "unchecked", "not tested" or "pass".
func (o TestOutcome) String() string {
	return [...]string{"error", "limit", "fail", "disagree", "unsupported", "unchecked", "not tested", "pass"}[o]
}
