package report

import (
	"bytes"
	"io"

	"tilecheck/report/table"
)

// lineType names the kind of a line.
type lineType struct {
	Type string `json:"type"`
}

// headerLine is the first line.
type headerLine struct {
	lineType
	Schema    int    `json:"schema"`
	Tilecheck string `json:"tilecheck"`
	testHeading
}

// resultLine is the line of a result.
type resultLine struct {
	lineType
	testRecord
}

// findingLine is the line of a finding.
type findingLine struct {
	lineType
	findingRecord
}

// summaryLine is the last line.
type summaryLine struct {
	lineType
	testCounts
	Notes    []string         `json:"notes,omitempty"`
	Baseline *baselineSummary `json:"baseline,omitempty"`
}

// WriteJSONLines writes a run of a test suite to w as JSON objects, one on a line: a header, each result, each finding, and a summary.
// [ReadJSONLines] reads them. The command "tilecheck schema test" describes the members of results, findings (as annotations) and the summary. The
// header has the members title, engines, started and schema, which is [table.Schema]. A member without a value is absent.
func WriteJSONLines(w io.Writer, rep *TestReport, opt table.Options) error {
	lines := []any{headerLine{lineType{"header"}, table.Schema, opt.VersionText(), rep.heading()}}
	for i := range rep.Results {
		lines = append(lines, resultLine{lineType{"result"}, rep.Results[i].record()})
	}
	for i := range rep.Findings {
		lines = append(lines, findingLine{lineType{"finding"}, rep.Findings[i].record()})
	}
	lines = append(lines, summaryLine{lineType{"summary"}, rep.counts(), rep.Notes, rep.baselineSummary()})
	var buffer bytes.Buffer
	for _, line := range lines {
		text, err := table.Encode(line)
		if err != nil {
			return err
		}
		buffer.Write(text)
	}
	_, err := w.Write(buffer.Bytes())
	return err
}
