package parse

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/progress"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// stormParser parses the output of the storm binary, versions 1.12.0 and 1.14.0. Log messages go to standard output, too.
type stormParser struct {
	*recorder
	switches    stormOptions
	inputParsed bool // errors before that are errors of the model
	inModel     bool // between the lines of dashes that describe the model
	inLabel     bool // in the list of labels
	// firstError is the first error since the last heading; later errors repeat it.
	firstError string
	fatal      *result.Failure
	hasResult  bool // the current property has its result
}

// stormOptions are the switches that determine the meaning of a number, since Storm does not print the accuracy of a result.
type stormOptions struct {
	exact, sound, absolute, timed bool
	// unclearPrecision says that a precision was given for one module only, so it is not
	// known which precision applies.
	unclearPrecision bool
	precision        float64
	multi            float64 // the separate precision of multi-objective queries
	file             string  // of the model
}

// readStormOptions reads the switches of a command line.
func readStormOptions(command string) stormOptions {
	options := stormOptions{precision: 1e-6, multi: 1e-4}
	args := splitWords(command)
	for i, arg := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch arg {
		case "--exact", "--general:exact":
			options.exact = next != "floats"
		case "--sound", "--general:sound":
			options.sound = true
		case "--absolute":
			options.absolute = true
		case "--timeout", "-t", "--resources:timeout":
			options.timed = true
		case "--precision", "-eps", "--general:precision":
			precision, err := strconv.ParseFloat(next, 64)
			isValid := err == nil && precision > 0 && precision < 1
			options.precision, options.unclearPrecision = precision, options.unclearPrecision || !isValid
		case "--multiobjective:precision":
			precision, err := strconv.ParseFloat(next, 64)
			if err != nil || !(precision > 0) {
				precision = 1 // no bounds
			}
			options.multi = precision
		case "--prism", "--jani", "--io:prism", "--explicit-drn":
			options.file = clip(next, maxText)
		default:
			options.unclearPrecision = options.unclearPrecision || strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, ":precision")
		}
	}
	return options
}

// bound returns the interval in which a sound method guarantees the true value. It allows for the rounding of Storm's output. It is nil if no
// precision is known.
func (options stormOptions) bound(value result.Value) *result.Interval {
	number := value.Num
	if value.Kind != result.Number || options.unclearPrecision || math.IsNaN(number) || math.IsInf(number, 0) {
		return nil
	}
	distance := options.precision
	if !options.absolute {
		distance *= math.Abs(number) / (1 - options.precision) // |number - truth| <= precision * |truth|
	}
	if number != 0 {
		digits := max(10, math.Ceil(-math.Log10(options.precision))+4)
		distance += math.Pow(10, math.Floor(math.Log10(math.Abs(number)))-digits+1)
	}
	return intervalAround(number, distance)
}

var (
	stormBanner   = lazyRegexp(`^Storm ([0-9]+\.[0-9][^\n]{0,60})$`)
	stormHeading  = lazyRegexp(`^Model checking property "([^"]*)": (.*) \.\.\.$`)
	stormResult   = lazyRegexp(`^Result( till abort)? \((for (?:initial|'.*') states)\): (.*)$`)
	stormMessage  = lazyRegexp(`^ ?(ERROR|WARN|INFO|DEBUG|TRACE) \([^()]*:[0-9]+\): (.*)$`)
	stormLabel    = lazyRegexp(`^   \* (.*) -> ([0-9]{1,18}) (?:item|state)\(s\)`)
	stormProgress = lazyRegexp(`^Completed ([0-9]{1,18}) (.*?) (?:\(out of ([0-9]{1,18})\) )?in [0-9]+s`)
	stormExplored = lazyRegexp(`^Explored ([0-9]{1,18}) states in `)
)

// line parses a line of the output. isCut says that the end of the line was dropped.
func (parser *stormParser) line(line string, isCut bool) {
	if strings.Trim(line, "- ") == "" && strings.HasPrefix(line, "----") {
		parser.inModel, parser.inLabel = !parser.inModel, false
		return
	}
	if parser.inLabel && parser.parseLabel(line) {
		return
	}
	switch {
	case strings.HasPrefix(line, "Model checking property"):
		parser.parseHeading(line)
	case strings.HasPrefix(line, "Result"):
		parser.parseResult(line, isCut)
	case strings.HasPrefix(line, "ERROR"), strings.HasPrefix(line, " WARN"), strings.HasPrefix(line, "WARN"):
		parser.parseMessage(line)
	default:
		parser.otherLine(line)
	}
}

// otherLine parses a line that is no heading, no result and no message.
func (parser *stormParser) otherLine(line string) {
	key, value, hasKey := strings.Cut(line, ":")
	value = strings.TrimLeft(value, " \t")
	if hasKey && (parser.parsePreamble(key, value) || parser.inModel && parser.parseSize(key, value)) {
		return
	}
	if match := stormBanner().FindStringSubmatch(line); match != nil && parser.log.Version == "" {
		parser.log.Version = match[1]
		return
	}
	parser.parseProgress(line)
}

// parsePreamble parses a line of the form "Key: value" about the run. It returns false if the key is unknown.
func (parser *stormParser) parsePreamble(key, value string) bool {
	switch key {
	case "Command line arguments":
		if parser.log.Command == "" && parser.reserve(len(value)) {
			parser.log.Command = value
			parser.switches = readStormOptions(value)
			parser.log.Model.File = parser.switches.file
		}
	case "Time for model input parsing":
		parser.inputParsed = true
		parser.reportProgress(progress.States, 0, 0)
	case "Time for model construction":
		if parser.reserve(recordCost) {
			parser.log.Builds = append(parser.log.Builds, Build{Seconds: leadingDecimal(value)})
		}
	case "Time for model checking":
		if i := len(parser.log.Properties) - 1; i >= 0 {
			parser.log.Properties[i].Seconds = leadingDecimal(value)
		}
	default:
		return false
	}
	return true
}

// parseSize parses a line of the description of the model. It returns false if the key is unknown. A second description, after a reduction, counts as
// a new state space.
func (parser *stormParser) parseSize(key, value string) bool {
	build := parser.lastBuild()
	if key == "Model type" && parser.reserve(recordCost) {
		kind, representation, _ := strings.Cut(value, " ")
		if build == nil || build.States > 0 {
			parser.log.Builds = append(parser.log.Builds, Build{})
			build = parser.lastBuild()
		}
		build.Engine = clip(strings.Trim(representation, "() "), 80)
		parser.log.Model.Type = clip(kind, 80)
		return true
	}
	if build == nil {
		return false
	}
	switch key {
	case "States":
		build.States = leadingCount(value)
	case "Transitions":
		build.Transitions = leadingCount(value)
	case "Choices":
		build.Choices = leadingCount(value)
	case "Reward Models":
		if value != "none" && parser.reserve(len(value)) {
			parser.log.Model.Rewards = splitNames(value)
		}
	case "State Labels", "Labels":
		parser.inLabel, parser.log.Model.Labels = true, nil
	default:
		return false
	}
	return true
}

// splitNames splits a list of names at its commas.
func splitNames(text string) []string {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// parseLabel parses a line of the list of labels. It returns false for other lines, which end the list.
func (parser *stormParser) parseLabel(line string) bool {
	name, isLabel := strings.CutPrefix(line, "   * ")
	if !isLabel {
		parser.inLabel = false
		return false
	}
	count := int64(-1) // unknown
	if match := stormLabel().FindStringSubmatch(line); match != nil {
		name, count = match[1], leadingCount(match[2])
	}
	build := parser.lastBuild()
	switch {
	case name == "init" && count >= 0:
		build.Initial = count
	case name == "deadlock" && count >= 0:
		build.Deadlocks = count
	case parser.reserve(len(name)):
		parser.log.Model.Labels = append(parser.log.Model.Labels, clip(name, maxText))
	}
	return true
}

// parseHeading parses the heading of a property and begins it.
func (parser *stormParser) parseHeading(line string) {
	match := stormHeading().FindStringSubmatch(line)
	if match == nil || !parser.inputParsed { // before that, the line is part of the printed command line
		return
	}
	parser.closeWithoutResult()
	parser.firstError, parser.hasResult = "", false
	parser.beginProperty(Property{Name: match[1], Text: match[2], Build: -1})
	if property := parser.current(); property != nil && len(parser.log.Builds) > 0 {
		property.Engine = parser.lastBuild().Engine
	}
}

// closeWithoutResult ends a property that got neither result nor error.
func (parser *stormParser) closeWithoutResult() {
	if property := parser.current(); property != nil {
		property.Err = &result.Failure{Class: result.Other, Message: "Storm printed no result"}
		parser.open = -1
	}
}

// parseResult parses a line with a result. isCut says that the end of the line was dropped.
func (parser *stormParser) parseResult(line string, isCut bool) {
	match := stormResult().FindStringSubmatch(line)
	property := parser.current()
	switch {
	case match == nil && property == nil:
		return
	case match == nil:
		property.ValueText = clip(line, maxText)
		parser.closeWithFailure(&result.Failure{Class: result.Unsupported, Message: "a result of a form that is not read: " + clip(line, 200)})
		return
	}
	aborted, heading, text := match[1] != "", match[2], match[3]
	if property == nil {
		parser.secondResult(text)
		return
	}
	property.Heading = clip(heading, maxText)
	switch {
	case strings.HasPrefix(text, "ERROR ("):
		parser.parseMessage(text)
	case aborted:
		property.ValueText = clip(text, maxText)
		parser.closeWithFailure(parser.abortFailure())
	case isCut:
		parser.closeWithFailure(&result.Failure{Class: result.Unsupported, Message: "the result is on a line longer than is read"})
	default:
		parser.setResult(property, text)
	}
}

// abortFailure returns the failure of a property whose computation Storm aborted. A signal determines its class, otherwise it is a timeout.
func (parser *stormParser) abortFailure() *result.Failure {
	failure := &result.Failure{Class: result.Timeout, Message: "aborted before the end: the value so far is no result"}
	if signal := parser.stderr.signal; signal != 0 {
		failure.Class = signalFailure(signal).Class
	}
	return failure
}

// setResult parses the text of a result and sets the value of the property.
func (parser *stormParser) setResult(property *Property, text string) {
	if !parser.reserve(4 * len(text)) {
		return
	}
	options := parser.switches
	if slices.ContainsFunc(property.Warnings, saysUnsound) || saysUnsound(parser.firstError) {
		options.sound = false
	}
	parsed, err := stormAnswer(text, options)
	isMulti := strings.HasPrefix(property.Text, "multi(")
	switch {
	case isMulti && text == "":
		err = errForm("found a Pareto curve, which is not read")
	case isMulti && err == nil:
		options.correctObjectives(property, &parsed)
	}
	setAnswer(property, parsed, err)
	parser.recordDoubt(property)
	if warning := notConverged(property.Warnings); err == nil && warning >= 0 { // Storm prints the number in spite of the warning
		property.Value, property.Accuracy, property.Bound = result.Value{}, result.Unknown, nil
		property.Err = &result.Failure{Class: result.NonConverge, Message: property.Warnings[warning]}
	}
	if len(parser.log.Builds) > 0 {
		property.Build = len(parser.log.Builds) - 1
	}
	parser.open, parser.hasResult = -1, true
}

// recordDoubt records an error or a warning of Storm that casts doubt on the value of the property.
func (parser *stormParser) recordDoubt(property *Property) {
	if parser.firstError != "" && !saysUnsound(parser.firstError) {
		property.Doubt = parser.firstError
	}
	for _, warning := range property.Warnings {
		if property.Doubt == "" && containsAny(warning, "unreliable", "incorrect") {
			property.Doubt = warning
		}
	}
}

// correctObjectives corrects the accuracy of a multi-objective query, because --exact and --sound have no effect on Storm's approximation of Pareto
// curves. For an infeasible query Storm prints false, and PRISM returns NaN.
func (options stormOptions) correctObjectives(property *Property, parsed *answer) {
	parsed.accuracy, parsed.bound, parsed.value.Rat = result.Estimated, nil, nil
	switch {
	case parsed.value.Kind == result.Number:
		if options.multi < 1 {
			parsed.accuracy, parsed.bound = result.Claimed, intervalAround(parsed.value.Num, 2*options.multi)
		}
	case parsed.value.Kind == result.Boolean && !parsed.value.Bool: // a point on the curve may be called infeasible
		property.Doubt = "Storm calls infeasible what may lie on the Pareto curve"
		if strings.Contains(property.Text, "=?") {
			parsed.value = result.Value{Kind: result.Number, Num: math.NaN()}
		}
	}
}

// saysUnsound reports whether a warning says that Storm did not use a sound method.
func saysUnsound(warning string) bool {
	return containsAny(warning, "switching to", "Switching to", "sound", "guarantee")
}

// notConverged returns the index of the warning that an iteration did not converge; -1 if there is none.
func notConverged(warnings []string) int {
	for i, warning := range warnings {
		if strings.Contains(warning, "did not converge") {
			return i
		}
	}
	return -1
}

// secondResult handles a second result line below one heading: if the results differ, the property loses its value.
func (parser *stormParser) secondResult(text string) {
	if i := len(parser.log.Properties) - 1; parser.hasResult && i >= 0 && parser.log.Properties[i].ValueText != text {
		property := &parser.log.Properties[i]
		property.Value, property.Bound, property.Accuracy = result.Value{}, nil, result.Unknown
		property.Err = &result.Failure{Class: result.Other, Message: "Storm printed two results"}
		return
	}
	parser.warnOnce(&parser.log.Warnings, "a result that belongs to no property: "+clip(text, 200))
}

// closeWithFailure closes the current property with a failure.
func (parser *stormParser) closeWithFailure(failure *result.Failure) {
	if property := parser.current(); property != nil {
		property.Err = failure
		parser.open, parser.hasResult = -1, false
	}
}

// parseMessage parses a line of Storm's log. It records warnings and errors.
func (parser *stormParser) parseMessage(line string) {
	match := stormMessage().FindStringSubmatch(line)
	if match == nil {
		parser.stderr.line(line)
		return
	}
	text := clip(strings.TrimSuffix(strings.TrimSpace(match[2]), ", here:"), maxText)
	switch {
	case match[1] == "WARN":
		parser.recordWarning(text)
	case match[1] != "ERROR": // ignore information for developers
	case strings.Contains(text, "caused Storm to terminate"):
		parser.parseTermination(text)
	case strings.HasPrefix(text, "Property is unsupported by selected engine/settings"):
		if parser.open >= 0 {
			parser.closeWithFailure(parser.skippedFailure(text))
		}
	case strings.HasPrefix(text, "Unable to parse command line options"):
		parser.fatal = &result.Failure{Class: result.Other, Message: parser.firstErrorOr(text)}
	case parser.firstError == "" && parser.reserve(len(text)):
		parser.firstError = text
	}
}

// firstErrorOr returns the first error since the last heading, or text if there was none.
func (parser *stormParser) firstErrorOr(text string) string {
	if parser.firstError != "" {
		return parser.firstError
	}
	return text
}

// recordWarning records a warning of the current property or of the run. A warning that Storm cannot handle the property explains the next error.
func (parser *stormParser) recordWarning(text string) {
	if reason, ok := strings.CutPrefix(text, "Cannot handle property: "); ok {
		parser.firstError = reason
		return
	}
	list := &parser.log.Warnings
	if property := parser.current(); property != nil {
		list = &property.Warnings
	}
	parser.warnOnce(list, text)
}

// skippedFailure returns the failure of a property that Storm skipped.
func (parser *stormParser) skippedFailure(text string) *result.Failure {
	kind, message := splitException(parser.firstErrorOr(text))
	failure := &result.Failure{Class: stormClass(kind, message), Message: message}
	if failure.Class == result.Other {
		failure.Class = result.Unsupported
	}
	return failure
}

// splitException splits a text such as "WrongFormatException: message". For another form the type is empty and the message is the text.
func splitException(text string) (kind, message string) {
	kind, message, ok := strings.Cut(text, ": ")
	if !ok || !strings.HasSuffix(kind, "Exception") || strings.Contains(kind, " ") {
		return "", text
	}
	return kind, message
}

// parseTermination parses the last message of a run that ended with an exception.
func (parser *stormParser) parseTermination(text string) {
	_, cause, _ := strings.Cut(text, "exception is: ")
	kind, message := splitException(cause)
	if message == "" || message == "std::exception" {
		message = parser.firstErrorOr(text)
	}
	failure := &result.Failure{Class: stormClass(kind, message), Message: clip(message, maxText), Pos: findStormPosition(message)}
	if !parser.inputParsed {
		failure.File = parser.log.Model.File
	}
	parser.fatal = failure
	parser.closeWithFailure(failure)
}

// findStormPosition returns the position in a message with the text "Parsing error at 1:39:"; the zero Pos if there is none.
func findStormPosition(text string) syntax.Pos {
	position, ok := between(text, "Parsing error at ", ": ")
	line, column, hasColumn := strings.Cut(position, ":")
	if lineNumber, columnNumber := leadingCount(line), leadingCount(column); ok && hasColumn && lineNumber > 0 && lineNumber < 1<<31 && columnNumber > 0 && columnNumber < 1<<31 {
		return syntax.Pos{Line: int32(lineNumber), Col: int32(columnNumber)}
	}
	return syntax.Pos{}
}

// parseProgress reports the progress that a line has.
func (parser *stormParser) parseProgress(line string) {
	if parser.opts.Progress == nil {
		return
	}
	if match := stormProgress().FindStringSubmatch(line); match != nil {
		parser.reportProgress(progress.Iterations, leadingCount(match[1]), leadingCount(match[3]))
	} else if match := stormExplored().FindStringSubmatch(line); match != nil {
		parser.reportProgress(progress.States, leadingCount(match[1]), 0)
	}
}

// unfinished reports the progress that an incomplete line has.
func (parser *stormParser) unfinished(line []byte) {
	if bytes.HasPrefix(line, []byte("Completed ")) && len(line) < 512 {
		parser.parseProgress(string(line))
	}
}

// finish closes the current property and determines why the run ended early.
func (parser *stormParser) finish(end End, tail string, facts *stderrFacts) {
	cause := earlyEnd(end, facts)
	if cause == nil && end.Known && (end.Code == sigalrm || end.Code == sigterm || end.Code == sigxcpu) {
		cause = signalFailure(end.Code) // Storm exits with the number of the signal that it received
	}
	switch failure := parser.fatal; {
	case failure != nil && failure.Class == result.Interrupted && cause != nil:
		parser.recordAbort(failure, cause.Class)
	case failure != nil && failure.Class == result.Interrupted && parser.switches.timed:
		parser.recordAbort(failure, result.Timeout)
	case failure != nil:
		parser.log.Err = failure
	case cause != nil:
		parser.log.Err = cause
	case tail != "", parser.open >= 0, parser.log.Version != "" && !parser.inputParsed && !end.Known:
		parser.log.Err = &result.Failure{Class: result.Truncated, Message: "the output ends in the middle"}
	case end.Known && end.Code != 0:
		parser.log.Err = &result.Failure{Class: result.Other, Message: "exit code " + strconv.Itoa(end.Code) + ": " + parser.firstErrorOr("no message")}
	}
	if parser.log.Err == nil && parser.firstError != "" && len(parser.log.Properties) == 0 {
		parser.log.Failures = append(parser.log.Failures, &result.Failure{Class: result.Other, Message: parser.firstError})
	}
	if parser.open >= 0 {
		failure := *parser.log.Err
		parser.closeWithFailure(&failure)
	}
}

// recordAbort sets Log.Err to a failure with another class.
func (parser *stormParser) recordAbort(failure *result.Failure, class result.Class) {
	failure.Class = class
	parser.log.Err = failure
}
