package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"tilecheck/internal/printable"

	"tilecheck/runner"
)

// printWithSource prints a message. Below each line that begins with a position file:line:col, it prints the source at this position.
func (e *environment) printWithSource(w io.Writer, message string) {
	positionPattern := regexp.MustCompile(`^(.+?):([0-9]+):([0-9]+): `)
	for line := range strings.SplitSeq(message, "\n") {
		fmt.Fprintln(w, line)
		match := positionPattern.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		row, err := strconv.Atoi(match[2])
		col, colErr := strconv.Atoi(match[3])
		if err == nil && colErr == nil {
			fmt.Fprint(w, printable.Excerpt(e.sourceText(match[1]), row, col, e.widthOf(w)))
		}
	}
}

// sourceText returns the text of a file for an excerpt. It prefers the text that the command has read, because the file may have changed since.
// It returns nil if the file cannot be read or is too large.
func (s *sources) sourceText(name string) []byte {
	if text, ok := s.texts[name]; ok {
		return text
	}
	if i := strings.LastIndex(name, ": "); i >= 0 { // the words before the name belong to the message, such as "error: "
		return s.sourceText(name[i+2:])
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxExcerpted {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return text
}

// maxExcerpted is the largest size in bytes of a text from which errors show lines.
const maxExcerpted = 16 << 20

// remember stores a text that the command has read, for excerpts in error messages.
func (s *sources) remember(name string, text []byte) {
	if len(text) > maxExcerpted {
		return
	}
	if s.texts == nil {
		s.texts = make(map[string][]byte)
	}
	s.texts[name] = text
}

// rememberProps gives each property of a job a name for error messages, such as "--prop 2", and stores its text for excerpts.
func (s *sources) rememberProps(job *runner.Job, flag string) {
	for i, text := range job.Props {
		name := flag
		if len(job.Props) > 1 {
			name = fmt.Sprintf("%s %d", flag, i+1)
		}
		job.PropNames = append(job.PropNames, name)
		s.remember(name, []byte(text))
	}
}
