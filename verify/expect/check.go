package expect

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"tilecheck/internal/interval"
	"tilecheck/prism/syntax"
)

// Check returns the mistakes in the annotations of a properties file, in the order of the file. Mistakes are annotations that are malformed, that
// never apply, or that are not directly above a property. src is the text of the file.
func Check(src []byte, file *syntax.Properties) []Mistake {
	var mistakes []Mistake
	var blocks [][2]int32 // begin and end offsets of the comment blocks above properties
	for _, item := range file.Items {
		property, ok := item.(*syntax.Property)
		if !ok || len(property.Doc) == 0 {
			continue
		}
		comment := newBlock(src, property)
		blocks = append(blocks, [2]int32{comment.start.Offset, comment.start.Offset + int32(len(comment.src))})
		results, terms := Parse(src, property), ParseTerms(src, property)
		mistakes = append(mistakes, malformedAnnotations(results)...)
		for i := range terms {
			mistakes = append(mistakes, terms[i].mistakes...)
			mistakes = append(mistakes, conditionMistakes(terms[i].Conditions)...)
		}
		mistakes = append(mistakes, shadowedAnnotations(results, terms)...)
		mistakes = append(mistakes, comment.lookalikeMistakes(results, terms)...)
	}
	mistakes = append(mistakes, detachedAnnotations(src, blocks)...)
	slices.SortStableFunc(mistakes, func(first, second Mistake) int { return first.Pos.Compare(second.Pos) })
	return mistakes
}

// malformedAnnotations returns a mistake for each malformed condition or value of a RESULT annotation.
func malformedAnnotations(results []Expectation) []Mistake {
	var mistakes []Mistake
	for i := range results {
		mistakes = append(mistakes, conditionMistakes(results[i].Conditions)...)
		if message := valueMistake(results[i].Value); message != "" {
			mistakes = append(mistakes, Mistake{results[i].ValuePos, message})
		}
	}
	return mistakes
}

// conditionMistakes returns a mistake for each condition that is not of the form name=value.
func conditionMistakes(conditions []Condition) []Mistake {
	var mistakes []Mistake
	for _, condition := range conditions {
		if !condition.IsWellFormed {
			mistakes = append(mistakes, Mistake{condition.Pos, fmt.Sprintf("found the condition %q, want name=value", condition.Text)})
		}
	}
	return mistakes
}

// valueMistake returns a message if an expected value is malformed; empty otherwise.
func valueMistake(value string) string {
	if value == "?" || value == "Error" || isCurve(value) {
		return ""
	}
	if list, ok := strings.CutPrefix(value, "Error:"); ok {
		words := strings.Split(strings.TrimRight(list, ","), ",")
		if slices.Contains(words, "") {
			return fmt.Sprintf("found an empty word in %q, want Error:word,word", value)
		}
		return ""
	}
	text := strings.TrimPrefix(value, "~")
	switch {
	case strings.HasPrefix(text, "[("):
		return fmt.Sprintf("found %q, want points without blanks, as in [(0.5,1.0),(1.0,0.5)]", value)
	case isInterval(text):
		return intervalMistake(text)
	case strings.HasPrefix(text, "["):
		return fmt.Sprintf("found %q, want an interval without blanks, as in [0.2,0.4]", text)
	}
	_, isNumber := parseDouble(text)
	if isNumber || parseRational(text) != nil {
		return ""
	}
	if _, err := syntax.ParseExpr("", []byte(text)); err != nil {
		return fmt.Sprintf("found the value %q, want a number, a fraction, an interval, true, false, Error, ? or an expression", value)
	}
	return ""
}

// intervalMistake returns a message if an interval such as [0.2,0.4] is malformed or empty; an empty message otherwise.
func intervalMistake(text string) string {
	bounds, ok := parseInterval(text)
	switch {
	case !ok:
		return fmt.Sprintf("found the interval %s, want two numbers", text)
	case bounds.Lo > bounds.Hi:
		return fmt.Sprintf("the interval %s is empty, want the smaller number first", text)
	}
	return ""
}

// parseInterval parses an interval such as [0.2,0.4]. It returns false if a bound is not a number.
func parseInterval(text string) (interval.Interval, bool) {
	lowText, highText, _ := splitInterval(text)
	low, lowOK := parseDouble(lowText)
	high, highOK := parseDouble(highText)
	return interval.Interval{Lo: low, Hi: high}, lowOK && highOK
}

// shadowedAnnotations returns a mistake for each annotation that never applies, because an earlier annotation of the same kind applies whenever
// it would.
func shadowedAnnotations(results []Expectation, terms []Terms) []Mistake {
	var resultAnnotations, termsAnnotations []conditionalAnnotation
	for i := range results {
		resultAnnotations = append(resultAnnotations, conditionalAnnotation{results[i].Pos, results[i].Conditions})
	}
	for i := range terms {
		termsAnnotations = append(termsAnnotations, conditionalAnnotation{terms[i].Pos, terms[i].Conditions})
	}
	return append(shadowed("RESULT", resultAnnotations), shadowed(tilecheckWord, termsAnnotations)...)
}

// conditionalAnnotation is the position of an annotation and the conditions on which it counts.
type conditionalAnnotation struct {
	pos        syntax.Pos
	conditions []Condition
}

// shadowed returns a mistake for each annotation that has all conditions of an earlier annotation. kind, for the message, is RESULT or TILECHECK.
func shadowed(kind string, annotations []conditionalAnnotation) []Mistake {
	var mistakes []Mistake
	for i, later := range annotations {
		for _, earlier := range annotations[:i] {
			if impliedBy(earlier.conditions, later.conditions) {
				mistakes = append(mistakes, Mistake{later.pos, fmt.Sprintf("this %s never applies, because the %s at %s always applies first", kind, kind, earlier.pos)})
				break
			}
		}
	}
	return mistakes
}

// impliedBy reports whether every condition is one of the assumptions. A malformed condition is not implied.
func impliedBy(conditions, assumptions []Condition) bool {
	for _, condition := range conditions {
		sameAsCondition := func(assumption Condition) bool {
			return assumption.IsWellFormed && condition.Name == assumption.Name && condition.Value == assumption.Value
		}
		if !condition.IsWellFormed || !slices.ContainsFunc(assumptions, sameAsCondition) {
			return false
		}
	}
	return true
}

// lookalikeMistakes returns a mistake for each line of the comment block that looks like an annotation but is not one. results and terms are the
// annotations of the block.
func (b *block) lookalikeMistakes(results []Expectation, terms []Terms) []Mistake {
	var annotationOffsets []int32
	for i := range results {
		annotationOffsets = append(annotationOffsets, results[i].Pos.Offset)
	}
	for i := range terms {
		annotationOffsets = append(annotationOffsets, terms[i].Pos.Offset)
	}
	var mistakes []Mistake
	for begin := 0; begin < len(b.text); {
		end := begin + lineEnd(b.text[begin:])
		line := b.text[begin:end]
		column := findLookalike(line)
		if column < 0 {
			column = findMisspelt(line)
		}
		fileBegin, fileEnd := b.start.Offset+int32(begin), b.start.Offset+int32(end)
		isInLine := func(offset int32) bool { return fileBegin <= offset && offset < fileEnd }
		if column >= 0 && !slices.ContainsFunc(annotationOffsets, isInLine) {
			mistakes = append(mistakes, Mistake{b.pos(begin + column), "this looks like an annotation but is not one, want RESULT: value or TILECHECK: term=value"})
		}
		begin = end
	}
	return mistakes
}

// commentedOut reports whether src begins with comment lines whose text is a property: a property that the author has commented out. It ignores
// annotations in these lines.
func commentedOut(src []byte) bool {
	var text []byte
	for len(src) > 0 {
		line := src[:lineEnd(src)]
		comment, isComment := bytes.CutPrefix(bytes.TrimSpace(line), []byte("//"))
		if !isComment {
			break
		}
		src = src[len(line):]
		if findAnnotation(comment) < 0 {
			text = append(text, comment...)
			text = append(text, '\n')
		}
	}
	file, err := syntax.ParsePropertiesOf(syntax.Storm, "", text)
	return err == nil && len(file.Items) > 0
}

// detachedAnnotations returns a mistake for each annotation outside the comment blocks of properties. blocks has the begin and end offsets of
// these blocks. An annotation above a commented-out property is no mistake.
func detachedAnnotations(src []byte, blocks [][2]int32) []Mistake {
	var mistakes []Mistake
	line := int32(0)
	for begin := 0; begin < len(src); {
		end := begin + lineEnd(src[begin:])
		line++
		if column := annotationColumn(src[begin:end]); column >= 0 {
			pos := syntax.Pos{Offset: int32(begin + column), Line: line, Col: int32(column) + 1}
			isInside := func(block [2]int32) bool { return block[0] <= pos.Offset && pos.Offset < block[1] }
			if !slices.ContainsFunc(blocks, isInside) && !commentedOut(src[end:]) {
				mistakes = append(mistakes, Mistake{pos, "found an annotation without a property, want it directly above a property"})
			}
		}
		begin = end
	}
	return mistakes
}

// annotationColumn returns the offset in a line at which an annotation begins; -1 if the line has no annotation in a comment.
func annotationColumn(line []byte) int {
	slashes := bytes.Index(line, []byte("//"))
	if slashes < 0 {
		return -1
	}
	begin := findAnnotation(line[slashes:])
	if begin < 0 {
		return -1
	}
	return slashes + begin
}

// findAnnotation returns the offset of the first RESULT annotation in a comment. Without one, it returns the offset of the first TILECHECK
// annotation, or -1.
func findAnnotation(comment []byte) int {
	if found, ok := findResult(comment, 0); ok {
		return found.begin
	}
	return findTerms(comment)
}
