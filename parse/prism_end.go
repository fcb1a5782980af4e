package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/result"
)

// finish closes the current property, determines why the run ended early, and adds the properties that were listed but never started.
func (parser *prismParser) finish(end End, tail string, facts *stderrFacts) {
	if message, isError := strings.CutPrefix(tail, "Error: "); isError && parser.message == nil && parser.typed {
		parser.endResults()
		parser.recordFailure(strings.TrimSuffix(message, "."))
		tail = ""
	}
	parser.endMessage()
	unfinishedList := parser.results
	parser.endResults()
	if unfinishedList != nil && parser.open < 0 { // without a blank line at its end, the list may lack valuations
		parser.log.Properties = append(parser.log.Properties, unfinishedList.head)
		parser.open = len(parser.log.Properties) - 1
	}
	facts.heap = facts.heap || parser.heap
	facts.stack = facts.stack || parser.stack
	parser.setRunError(end, tail, facts)
	if property := parser.current(); property != nil {
		property.Err = parser.unfinishedFailure()
		parser.open = -1
	}
	if !parser.full {
		parser.addAllAbsent()
	}
}

// setRunError sets Log.Err if the run ended early. tail is the last line if it is incomplete, otherwise empty.
func (parser *prismParser) setRunError(end End, tail string, facts *stderrFacts) {
	switch cause := earlyEnd(end, facts); {
	case parser.log.Err != nil: // the log contains the reason
	case cause != nil:
		parser.log.Err = cause
	case tail != "", !end.Known && parser.open >= 0:
		parser.log.Err = &result.Failure{Class: result.Truncated, Message: "the output ends in the middle"}
	case end.Known && end.Code != 0 && len(parser.log.Failures) > 0:
		parser.log.Err = parser.log.Failures[len(parser.log.Failures)-1]
	case end.Known && end.Code != 0:
		parser.log.Err = &result.Failure{Class: result.Other, Message: fmt.Sprintf("exit code %d without a message", end.Code)}
		if facts.last != "" {
			parser.log.Err.Message += ": " + facts.last
		}
	case parser.open >= 0:
		parser.log.Err = &result.Failure{Class: result.Truncated, Message: "the output ends before the result, although the exit code is 0"}
	}
}

// unfinishedFailure returns the failure of the property that PRISM was checking at the end of the run.
func (parser *prismParser) unfinishedFailure() *result.Failure {
	if parser.log.Err == nil {
		return &result.Failure{Class: result.Truncated, Message: "the output ends before the result"}
	}
	failure := *parser.log.Err
	return &failure
}

// addAllAbsent adds the properties that were listed and selected but not started. It adds them for each valuation of the model's constants in the log
// under which they were not started.
func (parser *prismParser) addAllAbsent() {
	started, valuations := parser.startedCounts()
	if len(valuations)*len(parser.log.Listed) > maxAbsent {
		parser.warnOnce(&parser.log.Warnings, "too many properties and valuations to say which were not begun")
		return
	}
	isSelected := parser.selection()
	for i := range valuations {
		if !parser.addAbsent(&valuations[i], started, isSelected) {
			return
		}
	}
}

// startedKey is the text of a property with a valuation of the model's constants.
type startedKey struct{ modelText, propertyText string }

// addAbsent adds the selected properties that were not started under the valuation of a property. started says how often each text was started.
// addAbsent returns false if the log exceeds its limit.
func (parser *prismParser) addAbsent(valuation *Property, started map[startedKey]int, isSelected func(i int) bool) bool {
	numListed := make(map[string]int) // by text
	for i, property := range parser.log.Listed {
		numListed[property.Text]++
		isStarted := numListed[property.Text] <= started[startedKey{valuation.modelText, property.Text}]
		if isStarted || !isSelected(i) {
			continue
		}
		if !parser.reserve(recordCost + len(property.Text)) {
			return false
		}
		parser.log.Properties = append(parser.log.Properties, Property{
			Name: property.Name, Text: property.Text, Build: -1,
			Model: slices.Clone(valuation.Model), modelText: valuation.modelText, Err: parser.absentReason(valuation.modelText), Absent: true,
		})
	}
	return true
}

// startedCounts returns how often each text was started under each valuation of the model's constants. valuations has one property for each
// valuation. A property with constants of its own counts as often as under its most frequent valuation.
func (parser *prismParser) startedCounts() (started map[startedKey]int, valuations []Property) {
	type fullKey struct {
		startedKey
		constantsText string
	}
	started = make(map[startedKey]int)
	counts := make(map[fullKey]int)
	isKnown := make(map[string]bool)
	for i := range parser.log.Properties {
		property := &parser.log.Properties[i]
		if !isKnown[property.modelText] {
			isKnown[property.modelText] = true
			valuations = append(valuations, *property)
		}
		key := startedKey{property.modelText, property.Text}
		full := fullKey{key, property.constantsText}
		counts[full]++
		started[key] = max(started[key], counts[full])
	}
	if len(valuations) == 0 {
		valuations = []Property{{}}
	}
	return started, valuations
}

// absentReason returns the failure of a listed property that was not started under some constants of the model.
func (parser *prismParser) absentReason(constants string) *result.Failure {
	switch broken := parser.broken[constants]; {
	case broken != nil:
		return withMessagePrefix(broken, "not begun: the state space could not be built: ")
	case parser.log.Err != nil:
		return withMessagePrefix(parser.log.Err, "not begun: ")
	case len(parser.log.Failures) > 0:
		return parser.combinedFailure()
	}
	return &result.Failure{Class: result.Truncated, Message: "not begun: the output ends before this property"}
}

// withMessagePrefix returns a copy of a failure with a prefix before its message.
func withMessagePrefix(failure *result.Failure, prefix string) *result.Failure {
	prefixed := *failure
	prefixed.Message = prefix + failure.Message
	return &prefixed
}

// combinedFailure returns the failure of a property that PRISM may have refused without naming it. It combines all errors that belong to no property.
func (parser *prismParser) combinedFailure() *result.Failure {
	var messages []string
	combined := &result.Failure{Class: parser.log.Failures[0].Class}
	for _, failure := range parser.log.Failures {
		if failure.Class != combined.Class {
			combined.Class = result.Other
		}
		if !slices.Contains(messages, failure.Message) && len(messages) < 4 {
			messages = append(messages, failure.Message)
		}
	}
	combined.Message = "not begun: " + strings.Join(messages, "; or: ")
	return combined
}

// selection returns a function that reports whether the command line selects a listed property. The function returns true for all properties if the
// command line has no valid selection.
func (parser *prismParser) selection() func(i int) bool {
	all := func(int) bool { return true }
	list, isGiven := propertyArgument(splitWords(parser.log.Command))
	if !isGiven {
		return all
	}
	isSelected := make(map[int]bool)
	for item := range strings.SplitSeq(list, ",") {
		i := parser.listedIndex(strings.TrimSpace(item))
		if i < 0 {
			return all
		}
		isSelected[i] = true
	}
	return func(i int) bool { return isSelected[i] }
}

// propertyArgument returns the argument of PRISM's switch -property or -prop: a list of names and numbers.
func propertyArgument(args []string) (list string, ok bool) {
	for i, arg := range args {
		name := strings.TrimLeft(arg, "-")
		if (name == "prop" || name == "property") && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return "", false
}

// listedIndex returns the index of the listed property with a name, or with a number from 1; -1 if there is none.
func (parser *prismParser) listedIndex(nameOrNumber string) int {
	hasName := func(property Listed) bool { return nameOrNumber != "" && property.Name == nameOrNumber }
	if i := slices.IndexFunc(parser.log.Listed, hasName); i >= 0 {
		return i
	}
	number, err := strconv.Atoi(nameOrNumber)
	if err != nil || number < 1 || number > len(parser.log.Listed) {
		return -1
	}
	return number - 1
}
