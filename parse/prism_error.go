package parse

import (
	"strings"

	"tilecheck/result"
)

// warning adds a warning to its property, its state space or the run.
func (m *prismParser) warning(text string) {
	m.warningContinues = strings.HasPrefix(text, "PRISM hasn't checked for zero-reward loops")
	b := m.build()
	if n, ok := strings.CutPrefix(text, "Deadlocks detected and fixed in "); ok && b != nil {
		b.Deadlocks = leadingCount(n)
		m.warn(&b.Warnings, text)
		return
	}
	if m.phase == building {
		m.warn(&b.Warnings, text)
		return
	}
	m.warn(m.warnings(), text)
}

func (m *prismParser) warnings() *[]string {
	if p := m.current(); p != nil {
		return &p.Warnings
	}
	return &m.log.Warnings
}

// continueWarning appends the second line of a warning.
func (m *prismParser) continueWarning(s string) {
	if list := *m.warnings(); len(list) > 0 {
		list[len(list)-1] += " " + s
	}
	m.warningContinues = false
}

// continueMessage adds a line to the current error message, and reports whether it belongs to it. A message ends at a blank line;
// messages of native code and of CUDD have several lines.
func (m *prismParser) continueMessage(s string) bool {
	if s == "" || isSeparator(s) || m.message.Len() > maxText || strings.HasPrefix(s, "Testing result:") {
		m.endMessage()
		return false
	}
	m.message.WriteByte(' ')
	m.message.WriteString(clip(s, maxText))
	return true
}

func (m *prismParser) endMessage() {
	if m.message == nil {
		return
	}
	text := m.message.String()
	m.message = nil
	m.recordFailure(strings.TrimSuffix(text, "."))
}

// failure converts an error message to a failure.
func (m *prismParser) failure(msg string) *result.Failure {
	f := &result.Failure{Class: prismClass(msg, m.phase), Message: clip(msg, maxText), Pos: position(msg)}
	if m.exception != "" && strings.HasPrefix(msg, "Caught unhandled exception") {
		f.Message = "unhandled exception: " + m.exception
		if m.stack {
			f.Class = result.Memory
		}
	}
	switch {
	case f.Class == result.Timeout || f.Class == result.CUDD: // no file is to blame
	case m.phase == parsingModel, m.phase == building:
		f.File = m.log.Model.File
	case m.phase == parsingProperties:
		f.File = m.propsFile
	}
	return f
}

// recordFailure adds an error to the property that it ends, or to the run.
func (m *prismParser) recordFailure(msg string) {
	f := m.failure(msg)
	p := m.current()
	switch {
	case f.Class == result.Timeout: // another thread prints it: a result may still follow
		m.log.Err = f
		return
	case strings.HasPrefix(msg, "Testing failed"):
		m.log.Failures = append(m.log.Failures, f)
		return
	case p == nil && len(m.log.Failures) < maxWarnings && m.reserve(len(msg)):
		m.log.Failures = append(m.log.Failures, f)
	case p != nil:
		p.Err = f
		if m.phase == building || strings.HasPrefix(msg, "Model contains") {
			m.recordBroken(p.modelText, f)
		}
		m.last, m.open = m.open, -1
	}
	if !m.begun && m.phase <= parsingProperties || f.Class == result.CUDD || strings.HasPrefix(msg, "Caught unhandled") {
		m.log.Err = f
	}
	m.phase = min(m.phase, running)
}

// recordBroken records that the state space for these constants could not be built. PRISM then silently skips the other
// properties.
func (m *prismParser) recordBroken(constants string, f *result.Failure) {
	if m.broken == nil {
		m.broken = make(map[string]*result.Failure)
	}
	m.broken[constants] = f
}
