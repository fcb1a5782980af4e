package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
	"unicode/utf8"

	"tilecheck/prism/syntax"
	"tilecheck/report/table"
	"tilecheck/result"
)

// ReadJSONLines reads a report that [WriteJSONLines] wrote. It ignores members that it does not know. file is the name of the file for messages.
//
// It returns an error if the header or the summary is missing, the schema is unknown, the counts in the summary differ from the results, or a line is
// too long, is not an object or has a member of the wrong type. The error is a [*syntax.Error] with the line, or an error of r.
func ReadJSONLines(r io.Reader, file string) (*TestReport, error) {
	reader := &linesReader{rep: new(TestReport)}
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	var err error
	for err == nil && scanner.Scan() {
		reader.line++
		err = reader.read(scanner.Bytes())
	}
	if err == nil {
		reader.line++
		switch err = scanner.Err(); {
		case err == nil:
			err = reader.end()
		case errors.Is(err, bufio.ErrTooLong):
			err = fmt.Errorf("the line is longer than %d MB", maxLine>>20)
		default:
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
	if err != nil {
		return nil, &syntax.Error{File: file, Pos: syntax.Pos{Line: int32(reader.line), Col: 1}, Msg: err.Error()}
	}
	return reader.rep, nil
}

// maxLine is longer than any line of WriteJSONLines: a result has at most 64 kB of a log.
const maxLine = 16 << 20

// linesReader reads the lines of a report.
type linesReader struct {
	rep    *TestReport
	line   int
	schema int
	closed bool // the summary was read
}

// end checks that the report is complete.
func (r *linesReader) end() error {
	if !r.closed {
		return errors.New("the report ends here, want a summary: it was not written completely")
	}
	return nil
}

// read adds a line of the file to the report. It returns an error if the line is invalid or stands at the wrong place.
func (r *linesReader) read(line []byte) error {
	var head struct {
		Type   string `json:"type"`
		Schema int    `json:"schema"`
	}
	err := unmarshal(line, &head)
	if isHeader := err == nil && head.Type != ""; r.line == 1 && !isHeader {
		return errors.New("the first line is not the header of a report, want JSON lines, as test --jsonl writes them (JSON of --format json is another form)")
	}
	if err != nil {
		return err
	}
	switch {
	case r.closed:
		return errors.New("there is a line after the summary, want the end")
	case r.line == 1 && head.Type != "header":
		return fmt.Errorf("the first line has type %q, want header", head.Type)
	case r.line > 1 && head.Type == "header":
		return errors.New("there is a second header, want a result or the summary")
	}
	switch head.Type {
	case "header":
		if head.Schema < 1 || head.Schema > table.Schema {
			return fmt.Errorf("the report has schema %d, want 1 to %d", head.Schema, table.Schema)
		}
		r.schema = head.Schema
		return r.header(line)
	case "result":
		return r.result(line)
	case "finding":
		return r.finding(line)
	case "summary":
		return r.summary(line)
	}
	return fmt.Errorf("the line has type %q, want result, finding or summary", head.Type)
}

// unmarshal parses a line as a JSON object into a struct.
func unmarshal(line []byte, into any) error {
	if !utf8.Valid(line) {
		return errors.New("the line is not UTF-8")
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("the line is not the expected JSON object: %w", err)
	}
	return nil
}

// header reads the first line: the title, the engines and the start of the run.
func (r *linesReader) header(line []byte) error {
	var parsed headerLine
	if err := unmarshal(line, &parsed); err != nil {
		return err
	}
	r.rep.Title, r.rep.Engines = parsed.Title, parsed.Engines
	if parsed.Started == "" {
		return nil
	}
	var err error
	if r.rep.Started, err = time.Parse(time.RFC3339Nano, parsed.Started); err != nil {
		return fmt.Errorf("started is %q, want a time such as 2006-01-02T15:04:05Z", parsed.Started)
	}
	return nil
}

// finding reads the line of a finding.
func (r *linesReader) finding(line []byte) error {
	var parsed findingLine
	if err := unmarshal(line, &parsed); err != nil {
		return err
	}
	if parsed.Line < 0 || parsed.Column < 0 {
		return fmt.Errorf("the place is %d:%d, want positive numbers", parsed.Line, parsed.Column)
	}
	r.rep.Findings = append(r.rep.Findings, TestFinding{File: parsed.File, Line: parsed.Line, Col: parsed.Column, Message: parsed.Message})
	return nil
}

// summary reads the last line. It returns an error if the counts in this line differ from the results, for example because lines are missing.
func (r *linesReader) summary(line []byte) error {
	parsed := summaryLine{testCounts: testCounts{Seconds: -1}} // -1 shows that the member is missing
	if err := unmarshal(line, &parsed); err != nil {
		return err
	}
	if !(parsed.Seconds >= 0 && parsed.Seconds < math.MaxInt64/1e9) {
		return fmt.Errorf("seconds is %v, want a time", parsed.Seconds)
	}
	r.rep.Notes, r.rep.Elapsed = parsed.Notes, time.Duration(math.Round(float64(parsed.Seconds)*1e9))
	counts := r.rep.counts()
	counts.Seconds = parsed.Seconds
	columns, stated, actual := table.Fields[testCounts](), table.FieldTexts(&parsed.testCounts), table.FieldTexts(&counts)
	for i := range columns {
		if stated[i] != actual[i] {
			return fmt.Errorf("the summary counts %s %s, but there are %s above", stated[i], columns[i], actual[i])
		}
	}
	r.closed = true
	return nil
}

// result reads the line of a result.
func (r *linesReader) result(line []byte) error {
	var parsed resultLine
	if err := unmarshal(line, &parsed); err != nil {
		return err
	}
	if r.schema == 1 {
		if err := parsed.readSchema1(line); err != nil {
			return err
		}
	}
	test, err := parsed.testResult()
	if err != nil {
		return err
	}
	r.rep.Results = append(r.rep.Results, *test)
	return nil
}

// readSchema1 sets the verdict from a line of schema 1. There the verdict is an object in the member "verdict".
func (r *testRecord) readSchema1(line []byte) error {
	current := r.Record
	var oldForm struct {
		Verdict *result.Record `json:"verdict"`
	}
	if err := unmarshal(line, &oldForm); err != nil || oldForm.Verdict == nil {
		return err
	}
	if r.Record = *oldForm.Verdict; current.Seconds > 0 {
		r.Seconds = current.Seconds
	}
	r.Property, r.Name, r.Constants, r.Engine = current.Property, current.Name, current.Constants, current.Engine
	return nil
}

// testResult returns the result that a record describes.
func (r *testRecord) testResult() (*TestResult, error) {
	outcome, err := parseOutcome(r.Outcome)
	if err != nil {
		return nil, err
	}
	if r.Line < 0 || r.Column < 0 || r.ExpectedLine < 0 || r.Seconds < 0 || r.Run < 0 {
		return nil, fmt.Errorf("the place is %d:%d, expected at %d, in %v s, want positive numbers",
			r.Line, r.Column, r.ExpectedLine, r.Seconds)
	}
	test := &TestResult{
		Model: r.Model, Props: r.Props, Args: r.Args, Engine: r.Engine,
		Property: r.Property, Name: r.Name, Constants: r.Constants,
		File: r.File, Line: r.Line, Col: r.Column, ExpectedLine: r.ExpectedLine,
		Outcome: outcome, Expected: r.Expected, Got: r.Got, Reason: r.Reason,
		Rerun: r.Rerun, Log: r.Log, Cached: r.Cached, Seconds: float64(r.Seconds), Run: float64(r.Run),
	}
	test.Verdict, err = r.verdict()
	return test, err
}

// parseOutcome returns the outcome with the given name.
func parseOutcome(name string) (TestOutcome, error) {
	for _, outcome := range tallyOrder() {
		if outcome.String() == name {
			return outcome, nil
		}
	}
	return 0, fmt.Errorf("the outcome is %q, want pass, fail, disagree, error, limit, unsupported, unchecked or not tested", name)
}
