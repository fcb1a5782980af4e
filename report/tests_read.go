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

// ReadJSONLines reads the output of [WriteJSONLines]. It ignores members that it does not know.
//
// An incomplete report is an error: one without header or with another schema, a line that is longer than 16 MB, is not
// an object or has a member of the wrong type, and a missing summary or one that counts other results. The error is a
// [*syntax.Error] with the file and the line, or that of r.
func ReadJSONLines(r io.Reader, file string) (*TestReport, error) {
	in := &linesReader{rep: new(TestReport)}
	text := bufio.NewScanner(r)
	text.Buffer(nil, maxLine)
	var err error
	for err == nil && text.Scan() {
		in.line++
		err = in.read(text.Bytes())
	}
	if err == nil {
		in.line++
		switch err = text.Err(); {
		case err == nil:
			err = in.end()
		case errors.Is(err, bufio.ErrTooLong):
			err = fmt.Errorf("the line is longer than %d MB", maxLine>>20)
		default:
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
	if err != nil {
		return nil, &syntax.Error{File: file, Pos: syntax.Pos{Line: int32(in.line), Col: 1}, Msg: err.Error()}
	}
	return in.rep, nil
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
func (in *linesReader) end() error {
	if !in.closed {
		return errors.New("the report ends here, want a summary: it was not written completely")
	}
	return nil
}

// read reads a line.
func (in *linesReader) read(line []byte) error {
	var head struct {
		Type   string `json:"type"`
		Schema int    `json:"schema"`
	}
	if err := unmarshal(line, &head); err != nil {
		return err
	}
	switch {
	case in.closed:
		return errors.New("there is a line after the summary, want the end")
	case in.line == 1 && head.Type != "header":
		return fmt.Errorf("the first line has type %q, want header", head.Type)
	case in.line > 1 && head.Type == "header":
		return errors.New("there is a second header, want a result or the summary")
	}
	switch head.Type {
	case "header":
		if head.Schema < 1 || head.Schema > table.Schema {
			return fmt.Errorf("the report has schema %d, want 1 to %d", head.Schema, table.Schema)
		}
		in.schema = head.Schema
		return in.header(line)
	case "result":
		return in.result(line)
	case "finding":
		return in.finding(line)
	case "summary":
		return in.summary(line)
	}
	return fmt.Errorf("the line has type %q, want result, finding or summary", head.Type)
}

// unmarshal parses a line as a JSON object.
func unmarshal(line []byte, into any) error {
	if !utf8.Valid(line) {
		return errors.New("the line is not UTF-8")
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("the line is not an object as expected: %w", err)
	}
	return nil
}

// header reads the first line.
func (in *linesReader) header(line []byte) error {
	var parsed headerLine
	if err := unmarshal(line, &parsed); err != nil {
		return err
	}
	in.rep.Title, in.rep.Engines = parsed.Title, parsed.Engines
	if parsed.Started == "" {
		return nil
	}
	var err error
	if in.rep.Started, err = time.Parse(time.RFC3339Nano, parsed.Started); err != nil {
		return fmt.Errorf("started is %q, want a time such as 2006-01-02T15:04:05Z", parsed.Started)
	}
	return nil
}

// finding reads the line of a finding.
func (in *linesReader) finding(line []byte) error {
	var parsed findingLine
	if err := unmarshal(line, &parsed); err != nil {
		return err
	}
	if parsed.Line < 0 || parsed.Column < 0 {
		return fmt.Errorf("the place is %d:%d, want positive numbers", parsed.Line, parsed.Column)
	}
	in.rep.Findings = append(in.rep.Findings, TestFinding{File: parsed.File, Line: parsed.Line, Col: parsed.Column, Message: parsed.Message})
	return nil
}

// summary reads the last line, and compares its counts with the results, so that a report with missing lines is an error.
func (in *linesReader) summary(line []byte) error {
	line0 := summaryLine{testCounts: testCounts{Seconds: -1}}
	if err := unmarshal(line, &line0); err != nil {
		return err
	}
	if !(line0.Seconds >= 0 && line0.Seconds < math.MaxInt64/1e9) {
		return fmt.Errorf("seconds is %v, want a time", line0.Seconds)
	}
	in.rep.Notes, in.rep.Elapsed = line0.Notes, time.Duration(math.Round(float64(line0.Seconds)*1e9))
	counts := in.rep.counts()
	counts.Seconds = line0.Seconds
	columns, stated, actual := table.Fields[testCounts](), table.FieldTexts(&line0.testCounts), table.FieldTexts(&counts)
	for i := range columns {
		if stated[i] != actual[i] {
			return fmt.Errorf("the summary counts %s %s, but there are %s above", stated[i], columns[i], actual[i])
		}
	}
	in.closed = true
	return nil
}

// result reads the line of a result.
func (in *linesReader) result(line []byte) error {
	var parsed resultLine
	if err := unmarshal(line, &parsed); err != nil {
		return err
	}
	if in.schema == 1 {
		if err := parsed.readSchema1(line); err != nil {
			return err
		}
	}
	test, err := parsed.testResult()
	if err != nil {
		return err
	}
	in.rep.Results = append(in.rep.Results, *test)
	return nil
}

// readOld reads a verdict of schema 1, in which it is the object "verdict".
func (r *testRecord) readSchema1(line []byte) error {
	own := r.Record
	var old struct {
		Verdict *result.Record `json:"verdict"`
	}
	if err := unmarshal(line, &old); err != nil || old.Verdict == nil {
		return err
	}
	if r.Record = *old.Verdict; own.Seconds > 0 {
		r.Seconds = own.Seconds
	}
	r.Property, r.Name, r.Constants, r.Engine = own.Property, own.Name, own.Constants, own.Engine
	return nil
}

// testResult returns the result of a record.
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

// parseOutcome returns the outcome with a name.
func parseOutcome(name string) (TestOutcome, error) {
	for _, outcome := range tallyOrder() {
		if outcome.String() == name {
			return outcome, nil
		}
	}
	return 0, fmt.Errorf("the outcome is %q, want pass, fail, disagree, error, limit, unsupported, unchecked or not tested", name)
}
