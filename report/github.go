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

// WriteGitHub prints the commands that make GitHub Actions annotate the lines
// of failing properties as errors, and those of findings as warnings. Results
// at one place with one outcome make one annotation, with a line each.
//
// GitHub shows ten errors and ten warnings a step: what failed comes before
// what could not be run, both in the order of the suite. File names are as the
// user named them, so the command has to run where the repository is checked out.
//
// The error is that of w.
//
// Source: GitHub Docs, "Workflow commands for GitHub Actions"; the escapes are
// those of actions/toolkit, packages/core/src/command.ts.
func WriteGitHub(w io.Writer, rep *TestReport) error {
	var b strings.Builder
	for _, a := range rep.annotations() {
		b.WriteString(a.command("error"))
	}
	for i := range rep.Findings {
		f := &rep.Findings[i]
		a := annotation{file: f.File, line: f.Line, col: f.Col, title: "annotation", lines: []string{f.Message}}
		b.WriteString(a.command("warning"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// annotation is a message about one place.
type annotation struct {
	file      string
	line, col int
	title     string
	lines     []string
}

func (rep *TestReport) annotations() []*annotation {
	type key struct {
		file      string
		line, col int
		outcome   TestOutcome
	}
	at := make(map[key]*annotation)
	var failed, others []*annotation
	for i := range rep.Results {
		r := &rep.Results[i]
		if !r.Outcome.failing() {
			continue
		}
		k := key{r.source(), r.Line, r.Col, r.Outcome}
		a := at[k]
		if a == nil {
			a = &annotation{file: k.file, line: k.line, col: k.col, title: r.Outcome.String() + ": " + cut(r.title(), 100)}
			at[k] = a
			if r.Outcome == TestFailed || r.Outcome == TestDisagreed {
				failed = append(failed, a)
			} else {
				others = append(others, a)
			}
		}
		a.lines = append(a.lines, r.annotationLine())
	}
	return slices.Concat(failed, others)
}

func (r *TestResult) annotationLine() string {
	line := strings.TrimSpace(r.Engine+" "+r.setting()) + ": "
	if r.Expected != "" && r.Got != "" {
		line += r.contrast()
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
	message := middleOut(strings.Join(a.lines, "\n"), maxAnnotation)
	return fmt.Sprintf("::%s %s::%s\n", level, strings.Join(parts, ","), githubData(message))
}

// githubData escapes the message of a command, a line of a log that people read.
func githubData(text string) string {
	return printable.Text(strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text))
}

// githubProperty escapes the value of a command's property.
func githubProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubData(text))
}
