package report

import (
	"bytes"
	"io"

	"tilecheck/report/table"
)

// linesSchema is the version of the fields of JSON lines. New members do not
// change it; a member that goes or gets another meaning does. In version 1 the
// members of the verdict were those of an object "verdict".
const linesSchema = 2

type lineType struct {
	Type string `json:"type"`
}

type headerLine struct {
	lineType
	Schema    int    `json:"schema"`
	Tilecheck string `json:"tilecheck"`
	testHeading
}

type resultLine struct {
	lineType
	testRecord
}

type findingLine struct {
	lineType
	findingRecord
}

type summaryLine struct {
	lineType
	testCounts
	Notes []string `json:"notes,omitempty"`
}

// WriteJSONLines prints a run of a test suite as JSON objects, one a line: a
// header, every result, every finding, and a summary. [ReadJSONLines] reads it
// back. What does not apply is absent, as in all JSON of this package.
// `tilecheck schema test` says what results, findings (its annotations) and the
// summary have; the header has its members title, engines and started, and
// "schema", 2: new members do not change it.
//
// The error is that of w.
func WriteJSONLines(w io.Writer, rep *TestReport, opt table.Options) error {
	lines := []any{headerLine{lineType{"header"}, linesSchema, opt.VersionText(), rep.heading()}}
	for i := range rep.Results {
		lines = append(lines, resultLine{lineType{"result"}, rep.Results[i].record()})
	}
	for i := range rep.Findings {
		lines = append(lines, findingLine{lineType{"finding"}, rep.Findings[i].record()})
	}
	lines = append(lines, summaryLine{lineType{"summary"}, rep.counts(), rep.Notes})
	var b bytes.Buffer
	for _, line := range lines {
		text, err := table.Encode(line)
		if err != nil {
			return err
		}
		b.Write(text)
	}
	_, err := w.Write(b.Bytes())
	return err
}
