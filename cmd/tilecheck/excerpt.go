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

// explain prints a message, and below each of its lines that begins with a place
// the line of the source that it is about.
func (e *world) explain(w io.Writer, message string) {
	place := regexp.MustCompile(`^(.+?):([0-9]+):([0-9]+): `)
	for line := range strings.SplitSeq(message, "\n") {
		fmt.Fprintln(w, line)
		m := place.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		row, err := strconv.Atoi(m[2])
		col, err2 := strconv.Atoi(m[3])
		if err == nil && err2 == nil {
			fmt.Fprint(w, printable.Excerpt(e.source(m[1]), row, col, e.widthOf(w)))
		}
	}
}

// source is a text that was read, or that of a file that is there; nil if there is none.
func (s *sources) source(name string) []byte {
	if text, ok := s.texts[name]; ok {
		return text
	}
	if i := strings.LastIndex(name, ": "); i >= 0 { // words before the place
		return s.source(name[i+2:])
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > mostExcerpted {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return text
}

// mostExcerpted is the size of texts up to which errors show lines of them.
const mostExcerpted = 16 << 20

// remember keeps a text for errors that are about it.
func (s *sources) remember(name string, text []byte) {
	if len(text) > mostExcerpted {
		return
	}
	if s.texts == nil {
		s.texts = make(map[string][]byte)
	}
	s.texts[name] = text
}

// rememberProps names the properties of a job in diagnostics by the flag that they come from.
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
