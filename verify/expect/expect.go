package expect

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Expectation is a RESULT annotation.
type Expectation struct {
	// Text is the annotation as written, from RESULT to the end of its value. Pos and End are its place.
	Text     string
	Pos, End syntax.Pos
	// Conditions are the constants in parentheses, in the order written.
	Conditions []Condition
	// Value is the text of the expected value, without blanks.
	Value    string
	ValuePos syntax.Pos
}

// Condition is one element of the list in parentheses. OK is false if it is not
// of the form name=value; Name and Value are then empty.
type Condition struct {
	Text         string
	Name, Value  string
	IsWellFormed bool
	Pos          syntax.Pos
}

// Rules are the data that a verdict is judged with.
type Rules struct {
	// Constants are the values of all constants of the model, followed by those of the properties file, as returned by
	// sema.Properties.Values.
	Constants []sema.NamedValue
	// Params are the names of the parameters if results are functions.
	Params []string
	// Exact says that the engine computed in rational arithmetic, as with PRISM's -exact. An expected fraction or decimal must
	// then be met exactly, unless it begins with ~.
	Exact bool
	// Relative is the relative error that is always allowed unless Exact. PRISM allows DefaultRelative for results that its
	// default engines only estimate, and the engine's own error bound for others. Zero is PRISM's rule.
	Relative float64
	// Level is the confidence that the interval of a sampled value must have if the terms ask for one. See
	// Statistical.Level.
	Level float64
}

// DefaultRelative is the relative error that PRISM's test mode allows for estimates.
const DefaultRelative = 1e-5

// Problem is the reason why a test fails, in PRISM's words.
type Problem string

// Error implements error.
func (p Problem) Error() string { return string(p) }

// Unmatched is the Problem that no annotation fits the constants.
type Unmatched struct{ Problem }

// problem returns a Problem with a formatted text.
func problem(format string, args ...any) error { return Problem(fmt.Sprintf(format, args...)) }

// Parse returns the RESULT annotations in the comment block directly above a property that was parsed from src, in the order written.
//
// Source: Property.getExpectedResultString of PRISM 4.10.
func Parse(src []byte, property *syntax.Property) []Expectation {
	if len(property.Doc) == 0 {
		return nil
	}
	block := newBlock(src, property)
	var expectations []Expectation
	for offset := 0; ; {
		annotation, ok := findResult(block.text, offset)
		if !ok {
			return expectations
		}
		parsed := Expectation{
			Text: string(block.src[annotation.begin:annotation.end]), Pos: block.pos(annotation.begin), End: block.pos(annotation.end),
			Value: string(block.text[annotation.valueBegin:annotation.end]), ValuePos: block.pos(annotation.valueBegin),
		}
		if annotation.conditionsBegin < annotation.conditionsEnd {
			parsed.Conditions = block.conditions(annotation.conditionsBegin, annotation.conditionsEnd)
		}
		expectations = append(expectations, parsed)
		offset = annotation.end
	}
}

// block is the comment block above a property.
type block struct {
	src   []byte // from the first slash to the property
	text  []byte // src with the slashes replaced by blanks
	start syntax.Pos
}

// newBlock returns the comment block directly above a property. The first comment of the block may stand behind other text of its line.
func newBlock(src []byte, property *syntax.Property) *block {
	end := int(property.Pos().Offset)
	commentBegin := lineStart(src, end)
	for range property.Doc {
		commentBegin = lineStart(src, commentBegin-1)
	}
	slashes := max(bytes.Index(src[commentBegin:end], []byte("//")), 0)
	comments := src[commentBegin+slashes : end]
	return &block{
		src:   comments,
		text:  withoutSlashes(comments),
		start: syntax.Pos{Offset: int32(commentBegin + slashes), Line: property.Pos().Line - int32(len(property.Doc)), Col: int32(slashes) + 1},
	}
}

// withoutSlashes returns a copy of comments in which the two slashes at the beginning of each comment are blanks.
func withoutSlashes(comments []byte) []byte {
	text := bytes.Clone(comments)
	for begin := 0; begin < len(text); {
		end := begin + lineEnd(text[begin:])
		if slashes := bytes.Index(text[begin:end], []byte("//")); slashes >= 0 {
			copy(text[begin+slashes:], "  ")
		}
		begin = end
	}
	return text
}

// lineStart returns the offset at which the line of src[offset] begins. A line includes its end-of-line characters.
func lineStart(src []byte, offset int) int {
	if offset > 0 && offset < len(src) && src[offset] == '\n' && src[offset-1] == '\r' {
		offset--
	}
	return bytes.LastIndexAny(src[:max(offset, 0)], "\r\n") + 1
}

// lineEnd returns the length of the first line, including its end-of-line characters.
func lineEnd(src []byte) int {
	i := bytes.IndexAny(src, "\r\n")
	switch {
	case i < 0:
		return len(src)
	case src[i] == '\r' && i+1 < len(src) && src[i+1] == '\n':
		return i + 2
	}
	return i + 1
}

// pos converts an offset in the block to a position in the file.
func (b *block) pos(offset int) syntax.Pos {
	pos := syntax.Pos{Offset: b.start.Offset + int32(offset), Line: b.start.Line, Col: b.start.Col}
	lineBegin := 0
	for {
		nextLine := lineBegin + lineEnd(b.text[lineBegin:])
		if offset < nextLine || nextLine == len(b.text) {
			pos.Col += int32(offset - lineBegin)
			return pos
		}
		lineBegin = nextLine
		pos.Line++
		pos.Col = 1
	}
}

// conditions parses the list of conditions in b.text[from:to], such as N=3,p=0.5, as PRISM does.
func (b *block) conditions(from, to int) []Condition {
	var conditions []Condition
	for element := range bytes.SplitSeq(b.text[from:to], []byte(",")) {
		if text := bytes.TrimFunc(element, isBlank); len(text) > 0 {
			conditions = append(conditions, newCondition(string(text), b.pos(from+bytes.Index(element, text))))
		}
		from += len(element) + 1
	}
	return conditions
}

// newCondition parses a condition name=value. For a text of another form it sets OK to false.
func newCondition(text string, pos syntax.Pos) Condition {
	condition := Condition{Text: text, Pos: pos}
	nameAndValue := strings.Split(strings.TrimRight(text, "="), "=") // Java's split drops empty parts at the end
	if len(nameAndValue) == 2 {
		condition.Name, condition.Value, condition.IsWellFormed = strings.TrimFunc(nameAndValue[0], isBlank), strings.TrimFunc(nameAndValue[1], isBlank), true
	}
	return condition
}

// isBlank reports whether Java's trim removes a character.
func isBlank(char rune) bool { return char <= ' ' }

// Select returns the first annotation whose conditions all hold. A condition on an unknown constant does not hold. The error is a Problem for a
// malformed condition, or Unmatched if no annotation applies.
//
// Source: Property.getExpectedResultString of PRISM 4.10.
func Select(annotations []Expectation, rules Rules) (*Expectation, error) {
	for i := range annotations {
		applies, err := annotations[i].applies(rules)
		if err != nil {
			return nil, err
		}
		if applies {
			return &annotations[i], nil
		}
	}
	return nil, Unmatched{Problem(fmt.Sprintf("Did not find a RESULT specification (for %s) to test against", constantsText(rules.Constants)))}
}

// constantsText returns the values of constants, such as N=3,p=0.5.
func constantsText(constants []sema.NamedValue) string {
	texts := make([]string, len(constants))
	for i, constant := range constants {
		texts[i] = constant.Name + "=" + constant.Val.String()
		if constant.Val.Type == sema.Double {
			texts[i] = fmt.Sprintf("%s=%.12g", constant.Name, constant.Val.Float)
		}
	}
	return strings.Join(texts, ",")
}

// applies reports whether all conditions of the annotation hold.
func (e *Expectation) applies(r Rules) (bool, error) { return conditionsHold(e.Conditions, e.Text, r) }

// conditionsHold reports whether all conditions of an annotation hold. text is the annotation, for error messages.
func conditionsHold(conditions []Condition, text string, rules Rules) (bool, error) {
	allHold := true
	for _, condition := range conditions {
		holds, ok := condition.holds(rules)
		if !ok {
			return false, problem("Badly formed RESULT specification %q", text)
		}
		allHold = allHold && holds
	}
	return allHold, nil
}

// holds reports whether a condition name=value is true in rules: whether the constant has this value. It is false for an unknown constant. ok is false if the
// condition is malformed.
func (c *Condition) holds(rules Rules) (holds, ok bool) {
	if !c.IsWellFormed {
		return false, false
	}
	i := slices.IndexFunc(rules.Constants, func(constant sema.NamedValue) bool { return constant.Name == c.Name })
	if i < 0 {
		return false, true
	}
	value := rules.Constants[i].Val
	if value.Type != sema.Double {
		return value.String() == c.Value, true
	}
	if fraction := parseRational(c.Value); rules.Exact && fraction != nil && value.Rat != nil {
		return fraction.Cmp(value.Rat) == 0, true
	}
	number, ok := parseQuotient(c.Value)
	return equalConstants(value.Float, number), ok
}

// equalConstants is PRISM's comparison of constants: relative, within 1e-12.
func equalConstants(left, right float64) bool {
	if math.IsInf(left, 0) || math.IsInf(right, 0) || right == 0 {
		return left == right
	}
	return math.Abs((left-right)/left) < 1e-12
}
