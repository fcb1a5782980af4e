package report

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/printable"
)

// WriteGitHub prints workflow commands, with which GitHub Actions annotates the lines of failing properties as errors and the lines of findings as
// warnings. Results with the same place and outcome share an annotation. GitHub shows only ten errors and ten warnings, so failures come first.
//
// Source: GitHub Docs, "Workflow commands for GitHub Actions"; the escapes are
// those of actions/toolkit, packages/core/src/command.ts.
func WriteGitHub(w io.Writer, rep *TestReport) error {
	var text strings.Builder
	for _, note := range rep.annotations() {
		text.WriteString(note.command("error"))
	}
	for i := range rep.Findings {
		finding := &rep.Findings[i]
		note := annotation{file: finding.File, line: finding.Line, col: finding.Col, title: "annotation", lines: []string{finding.Message}}
		text.WriteString(note.command("warning"))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// annotation is a message about one place.
type annotation struct {
	file      string
	line, col int
	title     string
	lines     []string
}

// annotations returns one annotation for each place and outcome of failing results. Failures come before errors.
func (rep *TestReport) annotations() []*annotation {
	type key struct {
		file      string
		line, col int
		outcome   TestOutcome
	}
	byPlace := make(map[key]*annotation)
	var failed, others []*annotation
	for i := range rep.Results {
		test := &rep.Results[i]
		if !test.Outcome.failing() {
			continue
		}
		place := key{test.source(), test.Line, test.Col, test.Outcome}
		shared := byPlace[place]
		if shared == nil {
			shared = &annotation{file: place.file, line: place.line, col: place.col, title: test.Outcome.String() + ": " + shorten(test.title(), 100)}
			byPlace[place] = shared
			if test.Outcome == TestFailed || test.Outcome == TestDisagreed {
				failed = append(failed, shared)
			} else {
				others = append(others, shared)
			}
		}
		shared.lines = append(shared.lines, test.annotationLine())
	}
	return slices.Concat(failed, others)
}

// annotationLine returns the text about a result in an annotation: engine, constants, expectation, value, reason and the command that repeats it.
func (r *TestResult) annotationLine() string {
	line := strings.TrimSpace(r.Engine+" "+r.setting()) + ": "
	if r.Expected != "" && r.Got != "" {
		line += r.expectedAndGot()
		if r.Reason != "" {
			line += "; "
		}
	}
	line += r.Reason
	if r.Rerun != "" {
		line += "\n  re-run: " + r.Rerun
	}
	return strings.TrimPrefix(line, ": ")
}

// maxAnnotation is the length in bytes after which GitHub cuts a message.
const maxAnnotation = 4 << 10

// command returns the workflow command that makes GitHub show the annotation at a level, error or warning.
func (a *annotation) command(level string) string {
	var parts []string
	add := func(name, value string) { parts = append(parts, name+"="+githubProperty(value)) }
	if a.file != "" {
		add("file", path.Clean(filepath.ToSlash(a.file)))
	}
	if a.line > 0 {
		add("line", strconv.Itoa(a.line))
	}
	if a.col > 0 && a.line > 0 {
		add("col", strconv.Itoa(a.col))
	}
	add("title", a.title)
	message := omitMiddle(strings.Join(a.lines, "\n"), maxAnnotation)
	return fmt.Sprintf("::%s %s::%s\n", level, strings.Join(parts, ","), githubData(message))
}

// githubData escapes the message of a command.
func githubData(text string) string {
	return printable.Text(strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text))
}

// githubProperty escapes the value of a command's property.
func githubProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubData(text))
}
