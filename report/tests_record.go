package report

import (
	"io"
	"reflect"
	"time"

	"tilecheck/report/table"
	"tilecheck/result"
)

// testRecord is a row in JSON, JSON lines and CSV. It has the members of its verdict too.
type testRecord struct {
	Outcome      string   `json:"outcome"`
	Model        string   `json:"model,omitempty"`
	Props        string   `json:"props,omitempty"`
	Args         []string `json:"args,omitempty"`
	File         string   `json:"file,omitempty"`
	Line         int      `json:"line,omitempty"`
	Column       int      `json:"column,omitempty"`
	ExpectedLine int      `json:"expected_line,omitempty"`
	Expected     string   `json:"expected,omitempty"`
	Got          string   `json:"got,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	result.Record
	Run    result.JSONNumber `json:"run_seconds,omitempty"`
	Rerun  string            `json:"rerun,omitempty"`
	Cached bool              `json:"cached,omitempty"`
	Log    string            `json:"log,omitempty"`
}

// record returns the struct that is the JSON of the result.
func (r *TestResult) record() testRecord {
	record := testRecord{
		Outcome: r.Outcome.String(), Model: r.Model, Props: r.Props, Args: r.Args,
		File: r.File, Line: r.Line, Column: r.Col, ExpectedLine: r.ExpectedLine,
		Expected: r.Expected, Got: r.Got, Reason: r.Reason, Rerun: r.Rerun, Cached: r.Cached, Log: r.Log,
	}
	if r.Verdict != nil {
		record.Record = result.NewRecord(r.Verdict)
	}
	record.Property, record.Name, record.Constants, record.Engine = r.Property, r.Name, r.Constants, r.Engine
	record.Seconds, record.Run = result.JSONNumber(r.seconds()), result.JSONNumber(r.Run)
	return record
}

// records returns all results as JSON has them.
func (rep *TestReport) records() []testRecord {
	out := make([]testRecord, len(rep.Results))
	for i := range rep.Results {
		out[i] = rep.Results[i].record()
	}
	return out
}

// verdict returns the verdict of a record; nil if only fields of the test are set, and none of the verdict.
func (r *testRecord) verdict() (*result.Verdict, error) {
	withoutTestFields := r.Record
	withoutTestFields.Property, withoutTestFields.Name, withoutTestFields.Constants, withoutTestFields.Engine, withoutTestFields.Seconds = "", "", nil, "", 0
	if reflect.ValueOf(withoutTestFields).IsZero() {
		return nil, nil
	}
	return r.Verdict()
}

// findingRecord is a finding as JSON has it.
type findingRecord struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// record returns the finding as JSON has it.
func (f *TestFinding) record() findingRecord {
	return findingRecord{f.File, f.Line, f.Col, f.Message}
}

// testHeading is the part of a report that is known before the run.
type testHeading struct {
	Title   string   `json:"title,omitempty"`
	Engines []string `json:"engines,omitempty"`
	Started string   `json:"started,omitempty"` // RFC 3339, UTC
}

// heading returns the part of the report that is known before the run.
func (rep *TestReport) heading() testHeading {
	h := testHeading{Title: rep.Title, Engines: rep.Engines}
	if !rep.Started.IsZero() {
		h.Started = rep.Started.UTC().Format(time.RFC3339Nano)
	}
	return h
}

// testCounts has the number of results of every outcome, also if it is zero.
type testCounts struct {
	Results     int               `json:"results"`
	Fail        int               `json:"fail"`
	Disagree    int               `json:"disagree"`
	Error       int               `json:"error"`
	Limit       int               `json:"limit"`
	Pass        int               `json:"pass"`
	Unsupported int               `json:"unsupported"`
	Unchecked   int               `json:"unchecked"`
	NotTested   int               `json:"not_tested"`
	Findings    int               `json:"findings"`
	Cached      int               `json:"cached"`
	Seconds     result.JSONNumber `json:"seconds"` // of the whole run
}

// counts returns the numbers of results by outcome.
func (rep *TestReport) counts() testCounts {
	outcomes := tallyOf(rep.Results)
	return testCounts{
		Results: outcomes.total, Fail: outcomes.counts[TestFailed], Disagree: outcomes.counts[TestDisagreed], Error: outcomes.counts[TestError],
		Limit: outcomes.counts[TestLimit], Pass: outcomes.counts[TestPassed], Unsupported: outcomes.counts[TestUnsupported],
		Unchecked: outcomes.counts[TestUnchecked], NotTested: outcomes.counts[TestNotTested],
		Findings: len(rep.Findings), Cached: outcomes.cached, Seconds: result.JSONNumber(rep.Elapsed.Seconds()),
	}
}

// testSummary is the summary in JSON.
type testSummary struct {
	testHeading
	testCounts
	Annotations []findingRecord  `json:"annotations,omitempty"` // the findings
	Baseline    *baselineSummary `json:"baseline,omitempty"`
}

// baselineSummary returns the JSON of the changes since the baseline; nil without one.
func (rep *TestReport) baselineSummary() *baselineSummary {
	if rep.Baseline == nil {
		return nil
	}
	changed := rep.Baseline.summary()
	return &changed
}

// writeRecords writes the report as JSON or CSV.
func (rep *TestReport) writeRecords(w io.Writer, format table.Format, opt table.Options) error {
	summary := testSummary{testHeading: rep.heading(), testCounts: rep.counts()}
	for i := range rep.Findings {
		summary.Annotations = append(summary.Annotations, rep.Findings[i].record())
	}
	summary.Baseline = rep.baselineSummary()
	return table.WriteRecords(w, format, opt, summary, rep.records(), rep.Notes)
}
