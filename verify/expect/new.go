package expect

import (
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// NewExpectation returns the expectation of an annotation "RESULT (conditions): value" at pos. conditions are as in "N=3,p=0.5"; empty for none.
func NewExpectation(value, conditions string, pos syntax.Pos) (Expectation, []Mistake) {
	expectation := Expectation{Text: "RESULT: " + value, Pos: pos, End: pos, Value: value, ValuePos: pos}
	if conditions != "" {
		expectation.Text = "RESULT (" + conditions + "): " + value
		expectation.Conditions = newConditions(conditions, pos)
	}
	mistakes := conditionMistakes(expectation.Conditions)
	if strings.ContainsAny(value, " \t\r\n") || value == "" {
		mistakes = append(mistakes, Mistake{pos, "found a value that is empty or has blanks, want one such as 1/6, [0.2,0.4] or Error:words"})
	} else if message := valueMistake(value); message != "" {
		mistakes = append(mistakes, Mistake{pos, message})
	}
	return expectation, mistakes
}

// NewTerms returns the terms of an annotation "TILECHECK (conditions): text" at pos.
func NewTerms(text, conditions string, pos syntax.Pos) (Terms, []Mistake) {
	prefix := tilecheckWord + ": "
	comment := &block{src: []byte(prefix + text), text: []byte(prefix + text), start: pos}
	comment.start.Col -= int32(len(prefix))
	terms := comment.parseTerms(0, len(prefix)+len(strings.TrimRight(text, " \t")))
	terms.Pos = pos
	if conditions != "" {
		terms.Conditions = newConditions(conditions, pos)
	}
	if strings.ContainsAny(text, "\r\n") {
		terms.addMistake(pos, "found several lines, want one")
	}
	return terms, slices.Concat(terms.mistakes, conditionMistakes(terms.Conditions))
}

// newConditions parses conditions such as "N=3,p=0.5".
func newConditions(text string, pos syntax.Pos) []Condition {
	comment := &block{src: []byte(text), text: []byte(text), start: pos}
	return comment.conditions(0, len(text))
}
