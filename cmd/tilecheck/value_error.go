package main

import (
	"regexp"
	"strconv"
	"strings"
)

// endOfLine ends kong's message about a flag that is the last word of a command line and needs a value.
const endOfLine = `"EOL" (<EOL>)`

// plainValueError rewords kong's message about the value of a flag without words of programmers. It returns other messages unchanged.
func plainValueError(message string) string {
	flag, problem, _ := strings.Cut(message, ": ")
	found := regexp.MustCompile(`^expected (?:an? )?(?:valid )?(?:\d+ bit )?(float|int|uint|duration)(?: value)? but got ("(?:[^"\\]|\\.)*")`).FindStringSubmatch(problem)
	if found == nil || strings.HasSuffix(problem, endOfLine) {
		return message
	}
	kind, value := found[1], found[2]
	text, err := strconv.Unquote(value)
	if err != nil {
		return message
	}
	want := map[string]string{"float": "a number", "int": "a whole number", "uint": "a whole number that is not negative", "duration": "a duration with its unit, such as 90s or 2h"}[kind]
	if share, isPercent := strings.CutSuffix(text, "%"); isPercent && kind == "float" {
		if percent, err := strconv.ParseFloat(share, 64); err == nil {
			want += " such as " + strconv.FormatFloat(percent/100, 'g', 10, 64)
		}
	}
	return flag + ": found " + value + ", want " + want
}
