package parse

import (
	"strings"

	"tilecheck/result"
)

// warning files a warning with its property, its state space or the run.
func (m *prismMachine) warning(text string) {
	m.minRwd = strings.HasPrefix(text, "PRISM hasn't checked for zero-reward loops")
	b := m.build()
	if n, ok := strings.CutPrefix(text, "Deadlocks detected and fixed in "); ok && b != nil {
		b.Deadlocks = count(n)
		m.warn(&b.Warnings, text)
		return
	}
	if m.phase == building {
		m.warn(&b.Warnings, text)
		return
	}
	m.warn(m.warnings(), text)
}

func (m *prismMachine) warnings() *[]string {
	if p := m.current(); p != nil {
		return &p.Warnings
	}
	return &m.log.Warnings
}

// goOn appends the second line of a warning.
func (m *prismMachine) goOn(s string) {
	if list := *m.warnings(); len(list) > 0 {
		list[len(list)-1] += " " + s
	}
	m.minRwd = false
}

// continued adds a line to the error under way, and reports whether it was
// part of it. A message ends at a blank line; those of the native code and of
// CUDD have several lines.
func (m *prismMachine) continued(s string) bool {
	if s == "" || isSeparator(s) || m.message.Len() > maxText || strings.HasPrefix(s, "Testing result:") {
		m.endMessage()
		return false
	}
	m.message.WriteByte(' ')
	m.message.WriteString(clip(s, maxText))
	return true
}

func (m *prismMachine) endMessage() {
	if m.message == nil {
		return
	}
	text := m.message.String()
	m.message = nil
	m.fail(strings.TrimSuffix(text, "."))
}

// failure makes a failure of an error message.
func (m *prismMachine) failure(msg string) *result.Failure {
	f := &result.Failure{Class: prismClass(msg, m.phase), Message: clip(msg, maxText), Pos: position(msg)}
	if m.exception != "" && strings.HasPrefix(msg, "Caught unhandled exception") {
		f.Message = "unhandled exception: " + m.exception
		if m.stack {
			f.Class = result.Memory
		}
	}
	switch {
	case f.Class == result.Timeout || f.Class == result.CUDD: // not the fault of a file
	case m.phase == parsingModel, m.phase == building:
		f.File = m.log.Model.File
	case m.phase == parsingProperties:
		f.File = m.propsFile
	}
	return f
}

// fail files an error with the property it ends, or the run.
func (m *prismMachine) fail(msg string) {
	f := m.failure(msg)
	p := m.current()
	switch {
	case f.Class == result.Timeout: // from a thread of its own: a result may still follow
		m.log.Err = f
		return
	case strings.HasPrefix(msg, "Testing failed"):
		m.log.Failures = append(m.log.Failures, f)
		return
	case p == nil && len(m.log.Failures) < maxWarnings && m.spend(len(msg)):
		m.log.Failures = append(m.log.Failures, f)
	case p != nil:
		p.Err = f
		if m.phase == building || strings.HasPrefix(msg, "Model contains") {
			m.breaks(p.modelText, f)
		}
		m.last, m.open = m.open, -1
	}
	if !m.begun && m.phase <= parsingProperties || f.Class == result.CUDD || strings.HasPrefix(msg, "Caught unhandled") {
		m.log.Err = f
	}
	m.phase = min(m.phase, running)
}

// breaks remembers that the model has no state space under these constants:
// PRISM goes on to the next ones without a word on the other properties.
func (m *prismMachine) breaks(constants string, f *result.Failure) {
	if m.broken == nil {
		m.broken = make(map[string]*result.Failure)
	}
	m.broken[constants] = f
}
