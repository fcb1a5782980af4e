package expect

import (
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// NewExpectation returns what an annotation "RESULT (conditions): value" would
// be, for expectations that are written elsewhere: value is at pos there, and
// conditions are as in "N=3,p=0.5", empty for none.
func NewExpectation(value, conditions string, pos syntax.Pos) (Expectation, []Mistake) {
	e := Expectation{Text: "RESULT: " + value, Pos: pos, End: pos, Value: value, ValuePos: pos}
	if conditions != "" {
		e.Text = "RESULT (" + conditions + "): " + value
		e.Conditions = newConditions(conditions, pos)
	}
	mistakes := badConditions(e.Conditions)
	if strings.ContainsAny(value, " \t\r\n") || value == "" {
		mistakes = append(mistakes, Mistake{pos, "found a value that is empty or has blanks, want one such as 1/6, [0.2,0.4] or Error:words"})
	} else if msg := badValue(value); msg != "" {
		mistakes = append(mistakes, Mistake{pos, msg})
	}
	return e, mistakes
}

// NewTerms returns what an annotation "TILECHECK (conditions): text" would be;
// text is at pos.
func NewTerms(text, conditions string, pos syntax.Pos) (Terms, []Mistake) {
	head := keyword + ": "
	b := &block{src: []byte(head + text), text: []byte(head + text), start: pos}
	b.start.Col -= int32(len(head))
	t := b.terms(0, len(head)+len(strings.TrimRight(text, " \t")))
	t.Pos = pos
	if conditions != "" {
		t.Conditions = newConditions(conditions, pos)
	}
	if strings.ContainsAny(text, "\r\n") {
		t.mistake(pos, "found several lines, want one")
	}
	return t, slices.Concat(t.mistakes, badConditions(t.Conditions))
}

func newConditions(text string, pos syntax.Pos) []Condition {
	b := &block{src: []byte(text), text: []byte(text), start: pos}
	return b.conditions(0, len(text))
}
