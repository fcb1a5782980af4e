package parse

import (
	"strings"

	"tilecheck/result"
)

// addWarning adds a warning to the current property, to the last state space or to the run.
func (parser *prismParser) addWarning(text string) {
	parser.warningContinues = strings.HasPrefix(text, "PRISM hasn't checked for zero-reward loops")
	build := parser.lastBuild()
	if count, isDeadlock := strings.CutPrefix(text, "Deadlocks detected and fixed in "); isDeadlock && build != nil {
		build.Deadlocks = leadingCount(count)
		parser.warnOnce(&build.Warnings, text)
		return
	}
	if parser.phase == building {
		parser.warnOnce(&build.Warnings, text)
		return
	}
	parser.warnOnce(parser.currentWarnings(), text)
}

// currentWarnings returns the warnings of the current property, or of the run if there is none.
func (parser *prismParser) currentWarnings() *[]string {
	if property := parser.current(); property != nil {
		return &property.Warnings
	}
	return &parser.log.Warnings
}

// continueWarning appends the second line of a warning.
func (parser *prismParser) continueWarning(line string) {
	if list := *parser.currentWarnings(); len(list) > 0 {
		list[len(list)-1] += " " + line
	}
	parser.warningContinues = false
}

// continueMessage adds a line to the current error message. It returns false if the message has ended.
func (parser *prismParser) continueMessage(line string) bool {
	if line == "" || isSeparator(line) || parser.message.Len() > maxText || strings.HasPrefix(line, "Testing result:") {
		parser.endMessage()
		return false
	}
	parser.message.WriteByte(' ')
	parser.message.WriteString(clip(line, maxText))
	return true
}

// endMessage records the failure of the current error message.
func (parser *prismParser) endMessage() {
	if parser.message == nil {
		return
	}
	text := parser.message.String()
	parser.message = nil
	parser.recordFailure(strings.TrimSuffix(text, "."))
}

// newFailure converts an error message to a failure. It adds the file in which PRISM found the error, as far as the phase determines it.
func (parser *prismParser) newFailure(message string) *result.Failure {
	failure := &result.Failure{Class: prismClass(message, parser.phase), Message: clip(message, maxText), Pos: findPosition(message)}
	if parser.exception != "" && strings.HasPrefix(message, "Caught unhandled exception") {
		failure.Message = "unhandled exception: " + parser.exception
		if parser.stack {
			failure.Class = result.Memory
		}
	}
	switch {
	case failure.Class == result.Timeout || failure.Class == result.CUDD: // no file is to blame
	case parser.phase == parsingModel, parser.phase == building:
		failure.File = parser.log.Model.File
	case parser.phase == parsingProperties:
		failure.File = parser.propsFile
	}
	return failure
}

// recordFailure adds an error to the current property and ends it. Without a current property it adds the error to the run.
func (parser *prismParser) recordFailure(message string) {
	failure := parser.newFailure(message)
	property := parser.current()
	switch {
	case failure.Class == result.Timeout: // another thread prints it: a result may still follow
		parser.log.Err = failure
		return
	case strings.HasPrefix(message, "Testing failed"):
		parser.log.Failures = append(parser.log.Failures, failure)
		return
	case property == nil && len(parser.log.Failures) < maxWarnings && parser.reserve(len(message)):
		parser.log.Failures = append(parser.log.Failures, failure)
	case property != nil:
		property.Err = failure
		if parser.phase == building || strings.HasPrefix(message, "Model contains") {
			parser.recordBroken(property.modelText, failure)
		}
		parser.last, parser.open = parser.open, -1
	}
	if !parser.begun && parser.phase <= parsingProperties || failure.Class == result.CUDD || strings.HasPrefix(message, "Caught unhandled") {
		parser.log.Err = failure
	}
	parser.phase = min(parser.phase, running)
}

// recordBroken records that the state space for these constants could not be built. PRISM then skips the other properties.
func (parser *prismParser) recordBroken(constants string, failure *result.Failure) {
	if parser.broken == nil {
		parser.broken = make(map[string]*result.Failure)
	}
	parser.broken[constants] = failure
}
