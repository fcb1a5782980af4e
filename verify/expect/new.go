package expect

import (
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// NewExpectation returns the expectation that an annotation "RESULT (conditions): value" at pos would be. Callers use it for
// expectations in other files. conditions are as in "N=3,p=0.5"; empty for none.
func NewExpectation(value, conditions string, pos syntax.Pos) (Expectation, []Mistake) {
	e := Expectation{Text: "RESULT: " + value, Pos: pos, End: pos, Value: value, ValuePos: pos}
	if conditions != "" {
		e.Text = "RESULT (" + conditions + "): " + value
		e.Conditions = newConditions(conditions, pos)
	}
	mistakes := conditionMistakes(e.Conditions)
	if strings.ContainsAny(value, " \t\r\n") || value == "" {
		mistakes = append(mistakes, Mistake{pos, "found a value that is empty or has blanks, want one such as 1/6, [0.2,0.4] or Error:words"})
	} else if msg := valueMistake(value); msg != "" {
		mistakes = append(mistakes, Mistake{pos, msg})
	}
	return e, mistakes
}

// NewTerms returns the terms that an annotation "TILECHECK (conditions): text" at pos would be.
func NewTerms(text, conditions string, pos syntax.Pos) (Terms, []Mistake) {
	head := keyword + ": "
	b := &block{src: []byte(head + text), text: []byte(head + text), start: pos}
	b.start.Col -= int32(len(head))
	t := b.parseTerms(0, len(head)+len(strings.TrimRight(text, " \t")))
	t.Pos = pos
	if conditions != "" {
		t.Conditions = newConditions(conditions, pos)
	}
	if strings.ContainsAny(text, "\r\n") {
		t.mistake(pos, "found several lines, want one")
	}
	return t, slices.Concat(t.mistakes, conditionMistakes(t.Conditions))
}

func newConditions(text string, pos syntax.Pos) []Condition {
	b := &block{src: []byte(text), text: []byte(text), start: pos}
	return b.conditions(0, len(text))
}
