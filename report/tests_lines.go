package report

import (
	"bytes"
	"io"
)

// linesSchema is the version of the fields of JSON lines. New members do not
// change it; a member that goes or gets another meaning does.
const linesSchema = 1

// WriteJSONLines prints a run of a test suite as JSON objects, one a line: a
// header, every result, every finding, and a summary. [ReadJSONLines] reads it
// back. What does not apply is absent, as in all JSON of this package. The
// members, in this order:
//
//	type            string              "header"
//	schema          number              1; new members do not change it
//	tilecheck       string              the version
//	title           string
//	engines         array of strings    in the order asked for
//	started         string              RFC 3339, UTC
//
//	type            string              "result"
//	outcome         string              error, limit, fail, disagree, unsupported, unchecked, not tested, pass
//	engine, model, props  string        the files as the user named them
//	args            array of strings    switches of the run
//	property, name  string              both absent for a result about a whole run
//	constants       object
//	file            string              where the property is
//	line, column, expected_line  number
//	expected, got, reason  string       for people
//	seconds         number
//	verdict         object              as the package comment has it, without what the result has itself
//	rerun           string              a command line
//	cached          Boolean
//	log             string
//
//	type            string              "finding": an annotation to look at
//	file, message   string
//	line, column    number
//
//	type            string              "summary"
//	results, fail, disagree, error, limit, pass, unsupported, unchecked, not_tested, findings, cached  number
//	seconds         number              of the whole run
//	notes           array of strings
//
// The error is that of w.
func WriteJSONLines(w io.Writer, rep *TestReport, opt Options) error {
	lines := []object{append(object{{"type", "header"}, {"schema", linesSchema}, {"tilecheck", opt.version()}}, rep.heading()...)}
	for i := range rep.Results {
		lines = append(lines, append(object{{"type", "result"}}, rep.Results[i].object()...))
	}
	for i := range rep.Findings {
		lines = append(lines, append(object{{"type", "finding"}}, rep.Findings[i].object()...))
	}
	lines = append(lines, append(object{{"type", "summary"}}, append(rep.summary(), member{"notes", list(rep.Notes)})...))
	var b bytes.Buffer
	for _, line := range lines {
		text, err := encode(line)
		if err != nil {
			return err
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	_, err := w.Write(b.Bytes())
	return err
}
