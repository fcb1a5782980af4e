package main

import (
	"regexp"
	"strconv"
	"strings"
)

// endOfLine ends kong's message about a flag that is the last word of a command line and needs a value.
const endOfLine = `"EOL" (<EOL>)`

// kongValueError matches kong's message about a value of the wrong kind, such as: expected a valid 64 bit float but got "x". It has the groups kind
// and quoted value.
var kongValueError = regexp.MustCompile(`^expected (?:an? )?(?:valid )?(?:\d+ bit )?(float|int|uint|duration)(?: value)? but got ("(?:[^"\\]|\\.)*")`)

// kindTexts has kong's kinds of values in the words of a user.
var kindTexts = map[string]string{
	"float": "a number", "int": "a whole number", "uint": "a whole number that is not negative", "duration": "a duration with its unit, such as 90s or 2h",
}

// plainValueError rewords kong's message about the value of a flag without words of programmers. It returns other messages unchanged.
func plainValueError(message string) string {
	flag, problem, _ := strings.Cut(message, ": ")
	groups := kongValueError.FindStringSubmatch(problem)
	if groups == nil || strings.HasSuffix(problem, endOfLine) {
		return message
	}
	kind, quotedValue := groups[1], groups[2]
	value, err := strconv.Unquote(quotedValue)
	if err != nil {
		return message
	}
	wanted := kindTexts[kind]
	if number, isPercent := strings.CutSuffix(value, "%"); isPercent && kind == "float" {
		if percent, err := strconv.ParseFloat(number, 64); err == nil {
			wanted += " such as " + strconv.FormatFloat(percent/100, 'g', 10, 64)
		}
	}
	return flag + ": found " + quotedValue + ", want " + wanted
}
