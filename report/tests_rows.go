package report

import (
	"slices"
	"strconv"
	"strings"

	"tilecheck/result"
)

// The row of a test report is a [TestResult]. This file has everything that a report shows of rows: the parts of one, the failures to
// show in detail, the reasons of what was not judged, and the counts by folder. Text, Markdown, HTML, JUnit XML and the annotations of
// GitHub lay these out and compute nothing of their own; JSON and CSV have the fields of a row as they are.

// part is a part of a row with its name. Text to copy is code.
type part struct {
	Name, Text string
	Code       bool
}

// parts returns the details of a result, such as its property, model, expectation and reason. It omits empty ones.
func (r *TestResult) parts() []part {
	property := r.title()
	if property == wholeRun {
		property = ""
	}
	details := []part{
		{"property", property, true},
		{"with", r.setting(), true},
		{"model", r.Model, true},
		{"expected", r.expectedText(), false},
		{"got", r.Got, false},
		{"reason", r.Reason, false},
		{"path", likeliestPath(r.Verdict), false},
		{"re-run", r.Rerun, true},
	}
	return slices.DeleteFunc(details, func(candidate part) bool { return candidate.Text == "" })
}

// expectedText is the expectation, with its line if that is not the line of the property.
func (r *TestResult) expectedText() string {
	if r.Expected == "" || r.ExpectedLine == 0 || r.ExpectedLine == r.Line {
		return r.Expected
	}
	return r.Expected + " (line " + strconv.Itoa(r.ExpectedLine) + ")"
}

// expectedAndGot returns the text "expected X, got Y".
func (r *TestResult) expectedAndGot() string { return "expected " + r.Expected + ", got " + r.Got }

// maxAlike is how many failures with the same reason on the same engine are shown.
const maxAlike = 5

// failureRow is a failure that is shown in detail. More failures with the same reason on the same engine are not shown.
type failureRow struct {
	*TestResult
	More int
}

// failures returns the failures to show, in the order of the suite. Of the failures with the same reason on the same engine it returns only the first
// maxAlike, and stores the number of the omitted ones in the last of these.
func (rep *TestReport) failures() []failureRow {
	numHidden := make(map[*TestResult]int) // by the last failure that is shown of a group
	hidden := make(map[*TestResult]bool)
	for _, group := range rep.byReason() {
		if group.reason == "" || len(group.results) <= maxAlike {
			continue
		}
		numHidden[group.results[maxAlike-1]] = len(group.results) - maxAlike
		for _, test := range group.results[maxAlike:] {
			hidden[test] = true
		}
	}
	var shownRows []failureRow
	for i := range rep.Results {
		if test := &rep.Results[i]; test.Outcome.failing() && !hidden[test] {
			shownRows = append(shownRows, failureRow{test, numHidden[test]})
		}
	}
	return shownRows
}

// reasonRow counts the results that neither passed nor failed, with one outcome for one reason on one engine.
type reasonRow struct {
	Outcome               TestOutcome
	N                     int
	Engine, Reason, First string // First is the place of the first of them
}

// reasons returns the reasons why results were not judged, with the number of results for each. The most serious outcome comes first, then the most
// frequent reason.
func (rep *TestReport) reasons() []reasonRow {
	var rows []reasonRow
	for _, group := range rep.byReason() {
		if group.outcome.failing() {
			continue
		}
		row := reasonRow{group.outcome, len(group.results), group.engine, group.reason, group.results[0].place()}
		switch {
		case row.Reason != "":
		case row.Outcome == TestUnchecked:
			row.Reason = "there is no expectation"
		default:
			row.Reason = "no reason was given"
		}
		rows = append(rows, row)
	}
	return rows
}

// reasonGroup is the results with one outcome for one reason on one engine.
type reasonGroup struct {
	outcome        TestOutcome
	engine, reason string
	results        []*TestResult
}

// generalReason is the reason without the valuation, if that is a part of it.
func (r *TestResult) generalReason() string {
	if len(r.Constants) == 0 {
		return r.Reason
	}
	return strings.ReplaceAll(r.Reason, result.Valuation(r.Constants).String(), "...")
}

// byReason groups the results that did not pass by outcome, engine and reason. The most serious outcome comes first, then the largest group.
func (rep *TestReport) byReason() []*reasonGroup {
	type key struct {
		outcome        TestOutcome
		engine, reason string
	}
	groups := make(map[key]*reasonGroup)
	var order []*reasonGroup
	for i := range rep.Results {
		test := &rep.Results[i]
		if test.Outcome == TestPassed {
			continue
		}
		reasonKey := key{test.Outcome, test.Engine, test.generalReason()}
		group := groups[reasonKey]
		if group == nil {
			group = &reasonGroup{outcome: test.Outcome, engine: test.Engine, reason: reasonKey.reason}
			groups[reasonKey] = group
			order = append(order, group)
		}
		group.results = append(group.results, test)
	}
	slices.SortStableFunc(order, func(first, second *reasonGroup) int {
		if first.outcome != second.outcome {
			return int(first.outcome) - int(second.outcome)
		}
		return len(second.results) - len(first.results)
	})
	return order
}

// folderRow has the counts of one folder on one engine, or of the whole report.
type folderRow struct {
	Folder, Engine string
	Total          bool
	*tally
}

// folders returns the counts of results for each folder and engine. The folders are in the order of the suite, the engines in the order of --engine.
// If there are several rows, their total is the last row.
func (rep *TestReport) folders() []folderRow {
	engines := rep.engines()
	rows := make(map[string][]folderRow) // by folder: a row for each engine, whose tally is nil if there are no results
	var folders []string
	for i := range rep.Results {
		test := &rep.Results[i]
		folder := test.folder()
		if rows[folder] == nil {
			folders = append(folders, folder)
			rows[folder] = make([]folderRow, len(engines))
		}
		row := &rows[folder][slices.Index(engines, test.Engine)]
		if row.tally == nil {
			*row = folderRow{Folder: folder, Engine: test.Engine, tally: new(tally)}
		}
		row.count(test)
	}
	var allRows []folderRow
	for _, folder := range folders {
		allRows = append(allRows, rows[folder]...)
	}
	allRows = slices.DeleteFunc(allRows, func(row folderRow) bool { return row.tally == nil })
	if len(allRows) > 1 {
		allRows = append(allRows, folderRow{Folder: "total", Total: true, tally: tallyOf(rep.Results)})
	}
	return allRows
}
