package qvbs

import (
	"fmt"
	"strings"

	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/verify/expect"
)

// Class is the result of a case, in the terms of QComp's tables.
type Class uint8

// The classes.
const (
	Correct     Class = iota
	Wrong             // the error of the value is larger than allowed
	Violated          // the reference lies outside the interval that the engine promises
	Refused           // no value, and an error that says why
	OutOfTime         //
	OutOfMemory       //
	NotRun            // files with errors, a missing engine, or an interrupt
)

// String returns the class in words.
func (c Class) String() string {
	return [...]string{"correct", "wrong", "bound violated", "refused", "out of time", "out of memory", "not run"}[c]
}

// ClassOf converts the outcome of a test to a class of QComp, the competition of quantitative model checkers.
func ClassOf(test *report.TestResult) Class {
	hasError := test.Verdict != nil && test.Verdict.Err != nil
	switch test.Outcome {
	case report.TestPassed:
		return Correct
	case report.TestUnsupported:
		return Refused
	case report.TestFailed, report.TestDisagreed:
		switch {
		case strings.HasPrefix(test.Reason, expect.Violated):
			return Violated
		case hasError: // such as an iteration that does not converge
			return Refused
		}
		return Wrong
	case report.TestLimit:
		if hasError && test.Verdict.Err.Class != result.Timeout {
			return OutOfMemory
		}
		return OutOfTime // also if there is no verdict
	}
	return NotRun
}

// Notes returns the notes of a report: the number of cases in each class for each engine, and the number of cases that were left out for each
// reason.
func (s *Set) Notes(testReport *report.TestReport) []string {
	var notes []string
	for _, engine := range testReport.Engines {
		notes = append(notes, engineNote(testReport, engine))
	}
	var omitted []string
	addOmitted := func(cases int, reason string) {
		if cases > 0 {
			omitted = append(omitted, fmt.Sprintf("%s (%d)", reason, cases))
		}
	}
	addOmitted(s.LargeCases, "with too many states, or with an unknown number of them")
	addOmitted(s.MissingModels, "without a model in PRISM's language or JANI")
	addOmitted(s.UnreadableResults, "whose reference result is not a number")
	if len(omitted) > 0 {
		notes = append(notes, "left out: cases "+strings.Join(omitted, ", "))
	}
	return notes
}

// engineNote returns how many cases of an engine are in each class, and the total time of its cases.
func engineNote(testReport *report.TestReport, engine string) string {
	counts, seconds := make([]int, NotRun+1), 0.0
	for i := range testReport.Results {
		if test := &testReport.Results[i]; test.Engine == engine {
			counts[ClassOf(test)]++
			seconds += test.Run
		}
	}
	var classCounts []string
	for class, count := range counts {
		if count > 0 || Class(class) <= Violated {
			classCounts = append(classCounts, fmt.Sprintf("%d %s", count, Class(class)))
		}
	}
	return fmt.Sprintf("%s: %s; %.1f s, building included", engine, strings.Join(classCounts, ", "), seconds)
}
