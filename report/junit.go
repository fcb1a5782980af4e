package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"tilecheck/internal/printable"
)

// maxJUnitLog is the size in bytes after which a log in JUnit XML is cut.
const maxJUnitLog = 16 << 10

// WriteJUnit writes a run of a test suite to w as JUnit XML. A properties file becomes a test suite. A property under one valuation on one engine
// becomes a test case.
//
// The outcomes fail and disagree become failures, error and limit become errors, and the others except pass become skipped. Each has its reason. The
// class name of a test case is its engine and its file, with dots for slashes. The pair of class name and name is unique. Findings about annotations
// are in the system-err of their suite. A result that did not pass has the head and the tail of its log, up to 16 KiB.
//
// Control characters are visible in all texts, because servers show them unchanged. The exception is the attribute file: programs open this file.
//
// Source: the schema of the Jenkins xUnit plugin, junit-10.xsd, with the
// attributes file and line of a test case that GitLab and GitHub's actions read.
func WriteJUnit(w io.Writer, rep *TestReport) error {
	text, err := xml.MarshalIndent(rep.junit(), "", "  ")
	if err != nil {
		return fmt.Errorf("encode JUnit XML: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// junitSuites is the root element.
type junitSuites struct {
	XMLName  xml.Name      `xml:"testsuites"`
	Name     string        `xml:"name,attr,omitempty"`
	Tests    int           `xml:"tests,attr"`
	Failures int           `xml:"failures,attr"`
	Errors   int           `xml:"errors,attr"`
	Time     string        `xml:"time,attr,omitempty"`
	Suites   []*junitSuite `xml:"testsuite"`
}

// junitSuite is the element of a properties file.
type junitSuite struct {
	Name       string           `xml:"name,attr"`
	Tests      int              `xml:"tests,attr"`
	Failures   int              `xml:"failures,attr"`
	Errors     int              `xml:"errors,attr"`
	Skipped    int              `xml:"skipped,attr"`
	Time       string           `xml:"time,attr,omitempty"`
	Timestamp  string           `xml:"timestamp,attr,omitempty"`
	File       string           `xml:"file,attr,omitempty"`
	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
	Out        *junitText       `xml:"system-out"`
	Err        *junitText       `xml:"system-err"`
	tally      tally
}

// junitProperties is the list of properties of a suite.
type junitProperties struct {
	All []junitProperty `xml:"property"`
}

// junitProperty is a property of a suite.
type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// junitCase is the element of a result.
type junitCase struct {
	Name      string        `xml:"name,attr"`
	Classname string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr,omitempty"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Failure   *junitOutcome `xml:"failure"`
	Error     *junitOutcome `xml:"error"`
	Skipped   *junitOutcome `xml:"skipped"`
	Out       *junitText    `xml:"system-out"`
}

// junitOutcome is the element of an outcome other than passed.
type junitOutcome struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr,omitempty"`
	Text    string `xml:",cdata"`
}

// junitText is an element with text.
type junitText struct {
	Text string `xml:",cdata"`
}

// junit returns the structs whose XML is the report.
func (rep *TestReport) junit() *junitSuites {
	total := tallyOf(rep.Results)
	document := &junitSuites{
		Name: printable.Text(rep.Title), Tests: total.total, Time: seconds(rep.Elapsed.Seconds()),
		Failures: total.counts[TestFailed] + total.counts[TestDisagreed], Errors: total.counts[TestError] + total.counts[TestLimit],
	}
	suites := make(map[string]*junitSuite)
	suiteOf := func(file string) *junitSuite {
		if suites[file] == nil {
			suites[file] = rep.newSuite(file)
			document.Suites = append(document.Suites, suites[file])
		}
		return suites[file]
	}
	names := make(map[[2]string]int)
	severalModels := rep.severalModels()
	for i := range rep.Results {
		test := &rep.Results[i]
		testCase := test.junitCase()
		if severalModels[test.source()] {
			testCase.Name += " on " + printable.Text(filepath.ToSlash(test.Model))
		}
		key := [2]string{testCase.Classname, testCase.Name}
		if names[key]++; names[key] > 1 {
			testCase.Name += " (" + strconv.Itoa(names[key]) + ")"
		}
		suite := suiteOf(test.source())
		suite.Cases = append(suite.Cases, testCase)
		suite.tally.count(test)
	}
	for i := range rep.Findings {
		finding := &rep.Findings[i]
		addLine(&suiteOf(finding.File).Err, finding.place()+": "+finding.Message)
	}
	if rep.Baseline != nil {
		for i := range rep.Baseline.Changes {
			change := &rep.Baseline.Changes[i]
			addLine(&suiteOf(change.result().source()).Out, change.line())
		}
	}
	for _, suite := range document.Suites {
		suite.count()
	}
	return document
}

// newSuite returns the test suite of a properties file, without cases.
func (rep *TestReport) newSuite(file string) *junitSuite {
	suite := &junitSuite{Name: printable.Text(file), File: xmlText(filepath.ToSlash(file))}
	if suite.Name == "" {
		suite.Name = "tilecheck"
	}
	if !rep.Started.IsZero() {
		suite.Timestamp = rep.Started.UTC().Format("2006-01-02T15:04:05")
	}
	if engines := strings.Join(rep.engines(), " "); engines != "" {
		suite.Properties = &junitProperties{All: []junitProperty{{"engines", printable.Text(engines)}}}
	}
	return suite
}

// count sets the numbers in the attributes of a suite that has all its cases.
func (s *junitSuite) count() {
	tally := &s.tally
	s.Tests = tally.total
	s.Failures = tally.counts[TestFailed] + tally.counts[TestDisagreed]
	s.Errors = tally.counts[TestError] + tally.counts[TestLimit]
	s.Skipped = tally.total - s.Failures - s.Errors - tally.counts[TestPassed]
	s.Time = seconds(tally.seconds)
}

// addLine adds a line to an element with text, which it creates if necessary.
func addLine(element **junitText, line string) {
	if *element == nil {
		*element = new(junitText)
	}
	(*element).Text += printable.Text(line) + "\n"
}

// junitCase returns a result as a test case.
func (r *TestResult) junitCase() junitCase {
	name := r.title()
	if setting := r.setting(); setting != "" {
		name += " " + setting
	}
	testCase := junitCase{
		Name: printable.Text(name), Classname: printable.Text(r.className()), Time: seconds(r.seconds()),
		File: xmlText(filepath.ToSlash(r.source())), Line: r.Line,
	}
	switch outcome := r.junitOutcome(); {
	case outcome == nil:
	case r.Outcome == TestFailed || r.Outcome == TestDisagreed:
		testCase.Failure = outcome
	case r.Outcome.failing():
		testCase.Error = outcome
	default:
		outcome.Text = "" // the reason in the attribute message is enough
		testCase.Skipped = outcome
	}
	if r.Verdict != nil && r.Verdict.Doubt != "" {
		testCase.Out = &junitText{printable.Text(doubtText(r.Verdict))}
	}
	if r.Log != "" && r.Outcome != TestPassed {
		testCase.Out = &junitText{printable.Text(omitMiddle(r.Log, maxJUnitLog))}
	}
	return testCase
}

// className returns the class name of a test case: its engine and its file with dots for slashes. Tools group cases by the part before the last
// dot, as by a package.
func (r *TestResult) className() string {
	file := strings.TrimLeft(path.Clean(filepath.ToSlash(r.source())), "./")
	file = strings.NewReplacer(".", "_", "/", ".").Replace(file)
	return strings.Trim(strings.ReplaceAll(r.Engine, ".", "_")+"."+file, ".")
}

// junitOutcome returns the XML element with the outcome and the reason of a test case; nil for a result that passed.
func (r *TestResult) junitOutcome() *junitOutcome {
	if r.Outcome == TestPassed {
		return nil
	}
	message := r.Reason
	if message == "" {
		message = r.Outcome.String()
		if r.Outcome == TestFailed {
			message = r.expectedAndGot()
		}
	}
	var body strings.Builder
	body.WriteString(r.place() + "\n")
	for _, part := range r.parts() {
		body.WriteString(part.Name + ": " + part.Text + "\n")
	}
	return &junitOutcome{Type: r.Outcome.String(), Message: printable.Text(message), Text: printable.Text(body.String())}
}

// seconds returns a time as JUnit XML has it: without exponent, at least a millisecond, empty if it is unknown.
func seconds(x float64) string {
	if !(x > 0) || x > 1e12 {
		return ""
	}
	return strconv.FormatFloat(max(x, 0.001), 'f', 3, 64)
}

// xmlText returns a text that XML 1.0 can hold. Characters that XML does not allow, and bytes that are not UTF-8, become escapes such as \x1b or
// \ufffe. The encoder would replace all of them by U+FFFD.
//
// Source: XML 1.0 (Fifth Edition), production Char.
func xmlText(text string) string {
	var escaped strings.Builder
	for i, character := range text {
		switch {
		case character == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&escaped, `\x%02x`, text[i])
		case character == '\r': // omitted, because XML parsers would read it as a newline
		case character < 0x20 && character != '\t' && character != '\n' || character == 0x7f:
			fmt.Fprintf(&escaped, `\x%02x`, character)
		case character == 0xfffe || character == 0xffff:
			fmt.Fprintf(&escaped, `\u%04x`, character)
		default:
			escaped.WriteRune(character)
		}
	}
	return escaped.String()
}

// omitMiddle shortens a text to about limit bytes. It replaces the middle by a line with the number of omitted bytes, and does not split characters.
func omitMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := limit/2, len(text)-limit/2
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n... %d bytes are left out ...\n%s", text[:head], tail-head, text[tail:])
}
