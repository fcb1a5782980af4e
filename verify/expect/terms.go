package expect

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/stats"
)

// Terms is a TILECHECK annotation: expectations that PRISM's annotations cannot express, in a comment
// that PRISM ignores.
//
//	// TILECHECK: tolerance=1e-6
//	// TILECHECK (N=3): samples=10000 confidence=0.999
//	// TILECHECK: error=unsupported|limit engines=native
//
// It ends with its line. Conditions are those of RESULT.
type Terms struct {
	Text       string // from TILECHECK to the end
	Pos, End   syntax.Pos
	Conditions []Condition
	// Tolerance is the allowed relative error and Absolute the allowed absolute error; they replace PRISM's rules. nil is
	// not given. The larger one counts.
	Tolerance, Absolute *float64
	// Reference says that the expected value is a number of a benchmark set, in which 0 and 1 can also be truth values.
	// Annotations cannot set it.
	Reference Reference
	// Statistical is nil unless the property is to be sampled.
	Statistical *Statistical
	// Errors are the expected classes of failures; nil if no failure is expected.
	Errors []result.Class
	// Engines are the engines that the property is for; nil means all.
	Engines []string

	mistakes []Mistake
}

// Statistical says how a property is sampled, and what its confidence interval must satisfy. Zero means not given.
type Statistical struct {
	Samples int64
	// Confidence is the least confidence of the interval, which must contain the expected value. Flakes is the greatest
	// probability that it misses that value. They are two ways to say the same; the stricter one counts.
	Confidence, Flakes float64
	// Width is the greatest half-width of the interval.
	Width     float64
	Seed      *uint64
	MaxPath   int64
	MaxReward float64
}

// Level returns the required confidence of the interval. Its probability of error is the smallest of the probabilities that Confidence, Flakes
// and suiteShare allow. suiteShare is the probability of a false alarm that the suite allows this test; 0 means no limit.
func (s *Statistical) Level(suiteShare float64) float64 {
	errorProbability := defaultAlpha
	if s.Confidence > 0 {
		errorProbability = stats.Alpha(s.Confidence)
	}
	for _, allowed := range []float64{s.Flakes, suiteShare} {
		if allowed > 0 {
			errorProbability = min(errorProbability, allowed)
		}
	}
	return stats.Confidence(max(errorProbability, smallestAlpha))
}

const (
	defaultAlpha  = 0.01  // PRISM's default for -simconf
	smallestAlpha = 1e-12 // far above the smallest float64 numbers
)

// Mistake is an error in an annotation.
type Mistake struct {
	Pos syntax.Pos
	Msg string
}

// Reference says how precisely the number of a benchmark set is known.
type Reference uint8

// The references.
const (
	NoReference Reference = iota
	Rounded
	// Precise requires that the engine's guarantees are true: its bounds must contain the number, and its fraction
	// must equal it. A value without bounds may have the relative error Unsound, if that is more than
	// Terms.Tolerance.
	Precise
)

// Unsound is the relative error that QComp allows for engines without guaranteed bounds.
const Unsound = 1e-3

const tilecheckWord = "TILECHECK"

// ParseTerms returns the TILECHECK annotations in the comment block directly above a property, in order. An annotation lacks its malformed terms; [Check]
// reports the mistakes in them.
func ParseTerms(src []byte, property *syntax.Property) []Terms {
	if len(property.Doc) == 0 {
		return nil
	}
	comment := newBlock(src, property)
	var terms []Terms
	for offset := 0; ; {
		begin := comment.findWord(tilecheckWord, offset)
		if begin < 0 {
			return terms
		}
		end := begin + lineLength(comment.text[begin:])
		terms = append(terms, comment.parseTerms(begin, end))
		offset = end
	}
}

// findWord returns the offset of the first occurrence of a whole word at or after an offset; -1 if there is none.
func (b *block) findWord(word string, offset int) int {
	for {
		index := strings.Index(string(b.text[offset:]), word)
		if index < 0 {
			return -1
		}
		begin := offset + index
		end := begin + len(word)
		startsWord := begin == 0 || !isLetter(b.text[begin-1])
		endsWord := end == len(b.text) || !isLetter(b.text[end])
		if startsWord && endsWord {
			return begin
		}
		offset = end
	}
}

// isLetter reports whether a character can be part of a name.
func isLetter(char byte) bool {
	return 'a' <= char && char <= 'z' || 'A' <= char && char <= 'Z' || '0' <= char && char <= '9' || char == '_'
}

// lineLength returns the length of the first line without trailing blanks and end-of-line characters.
func lineLength(text []byte) int {
	line := text[:lineEnd(text)]
	return len(strings.TrimRight(string(line), " \t\r\n"))
}

// parseTerms parses the TILECHECK annotation in b.text[begin:end]. It records mistakes in the terms.
func (b *block) parseTerms(begin, end int) Terms {
	terms := Terms{Text: string(b.src[begin:end]), Pos: b.pos(begin), End: b.pos(end)}
	// The conditions in parentheses may be missing; the colon and the terms follow them.
	offset := skipBlanks(b.text[:end], begin+len(tilecheckWord))
	if offset < end && b.text[offset] == '(' {
		length := strings.IndexByte(string(b.text[offset:end]), ')')
		if length < 0 {
			terms.addMistake(b.pos(offset), "the conditions have no end, want )")
			return terms
		}
		terms.Conditions = b.conditions(offset+1, offset+length)
		offset = skipBlanks(b.text[:end], offset+length+1)
	}
	if offset >= end || b.text[offset] != ':' {
		terms.addMistake(b.pos(offset), "want a colon behind %s, as in %s: tolerance=1e-6", tilecheckWord, tilecheckWord)
		return terms
	}
	seenKeys := make(map[string]bool)
	for offset = skipBlanks(b.text[:end], offset+1); offset < end; offset = skipBlanks(b.text[:end], offset) {
		offset = b.parseTerm(&terms, offset, end, seenKeys)
	}
	if len(seenKeys) == 0 && len(terms.mistakes) == 0 {
		terms.addMistake(b.pos(end), "want terms, as in %s: tolerance=1e-6", tilecheckWord)
	}
	terms.checkCombination()
	return terms
}

// skipBlanks returns the offset of the first character at or after an offset that is neither a space nor a tab.
func skipBlanks(text []byte, offset int) int {
	for offset < len(text) && (text[offset] == ' ' || text[offset] == '\t') {
		offset++
	}
	return offset
}

// parseTerm parses the term key=value or key="value" at the offset keyBegin, and stores its value in terms. It returns the offset of the end of the
// term. seenKeys has the keys of earlier terms.
func (b *block) parseTerm(terms *Terms, keyBegin, end int, seenKeys map[string]bool) int {
	keyEnd := keyBegin
	for keyEnd < end && isLetter(b.text[keyEnd]) {
		keyEnd++
	}
	key := string(b.text[keyBegin:keyEnd])
	if key == "" || keyEnd == end || b.text[keyEnd] != '=' {
		termEnd := b.wordEnd(keyEnd, end)
		terms.addMistake(b.pos(keyBegin), "found %q, want a term such as tolerance=1e-6", b.text[keyBegin:termEnd])
		return termEnd
	}
	valueBegin := keyEnd + 1
	if valueBegin == end || b.text[valueBegin] != '"' {
		termEnd := b.wordEnd(valueBegin, end)
		terms.setTerm(key, string(b.text[valueBegin:termEnd]), b.pos(keyBegin), b.pos(valueBegin), seenKeys)
		return termEnd
	}
	valueBegin++
	length := bytes.IndexByte(b.text[valueBegin:end], '"')
	if length < 0 {
		terms.addMistake(b.pos(valueBegin-1), "the value has no end, want \"")
		return end
	}
	terms.setTerm(key, string(b.text[valueBegin:valueBegin+length]), b.pos(keyBegin), b.pos(valueBegin), seenKeys)
	return valueBegin + length + 1
}

// wordEnd returns the offset of the first blank in the text between the offsets from and to. Without a blank, it returns to.
func (b *block) wordEnd(from, to int) int {
	end := from
	for end < to && b.text[end] != ' ' && b.text[end] != '\t' {
		end++
	}
	return end
}

// addMistake records a mistake in the annotation.
func (t *Terms) addMistake(pos syntax.Pos, format string, args ...any) {
	t.mistakes = append(t.mistakes, Mistake{pos, fmt.Sprintf(format, args...)})
}

// termKeys returns the names of the terms, in the order of the documentation.
func termKeys() []string {
	return []string{"tolerance", "absolute", "samples", "confidence", "flakes", "width", "seed", "maxpath", "maxreward", "error", "engines"}
}

// setTerm parses the value of one term and stores it in the field for its key, or records a mistake. keyPos and valuePos are the positions of key and
// value. seenKeys has the keys of earlier terms.
func (t *Terms) setTerm(key, value string, keyPos, valuePos syntax.Pos, seenKeys map[string]bool) {
	switch {
	case !slices.Contains(termKeys(), key):
		t.addMistake(keyPos, "unknown term %q, want one of %s", key, strings.Join(termKeys(), ", "))
		return
	case seenKeys[key]:
		t.addMistake(keyPos, "%s is given twice", key)
		return
	}
	seenKeys[key] = true
	switch key {
	case "tolerance":
		t.Tolerance = t.parseNumber(key, value, valuePos, 0, 1)
	case "absolute":
		t.Absolute = t.parseNumber(key, value, valuePos, 0, maxNumber)
	case "error":
		t.Errors = t.parseClasses(value, valuePos)
	case "engines":
		t.Engines = t.parseEngines(value, valuePos)
	default:
		t.setSamplingTerm(key, value, valuePos)
	}
}

// setSamplingTerm parses the value of a term about sampling, such as samples=1000, and stores it in t.Statistical. It records a mistake if the
// value is malformed.
func (t *Terms) setSamplingTerm(key, value string, valuePos syntax.Pos) {
	if t.Statistical == nil {
		t.Statistical = &Statistical{}
	}
	sampling := t.Statistical
	switch key {
	case "confidence":
		sampling.Confidence = orZero(t.parseNumber(key, value, valuePos, 0, 1))
	case "flakes":
		sampling.Flakes = orZero(t.parseNumber(key, value, valuePos, 0, 1))
	case "width":
		sampling.Width = orZero(t.parseNumber(key, value, valuePos, 0, maxNumber))
	case "maxreward":
		sampling.MaxReward = orZero(t.parseNumber(key, value, valuePos, 0, maxNumber))
	case "samples":
		sampling.Samples = t.parseCount(key, value, valuePos)
	case "maxpath":
		sampling.MaxPath = t.parseCount(key, value, valuePos)
	case "seed":
		seed, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			t.addMistake(valuePos, "seed is %q, want a number that is not negative", value)
			return
		}
		sampling.Seed = &seed
	}
}

// maxNumber is an upper limit that excludes infinities.
const maxNumber = 1e300

// orZero returns the number to which a pointer points; 0 if the pointer is nil.
func orZero(number *float64) float64 {
	if number == nil {
		return 0
	}
	return *number
}

// parseNumber parses a number that is greater than above and less than below. For any other text it records a mistake and returns nil.
func (t *Terms) parseNumber(key, value string, valuePos syntax.Pos, above, below float64) *float64 {
	number, err := strconv.ParseFloat(value, 64)
	isInRange := number > above && number < below // false for NaN
	if err != nil || !isInRange {
		limit := fmt.Sprintf(" and less than %g", below)
		if below == maxNumber {
			limit = ""
		}
		t.addMistake(valuePos, "%s is %q, want a number greater than %g%s", key, value, above, limit)
		return nil
	}
	return &number
}

// maxCount is the greatest number of samples: all JSON readers represent integers up to it exactly.
const maxCount = 1 << 53

// parseCount parses a number of samples or steps, from 1 to maxCount. For any other text it records a mistake and returns 0.
func (t *Terms) parseCount(key, value string, pos syntax.Pos) int64 {
	count, err := strconv.ParseInt(value, 10, 64)
	if err != nil || count < 1 || count > maxCount {
		t.addMistake(pos, "%s is %q, want a number from 1", key, value)
		return 0
	}
	return count
}

// classesNamed returns the failure classes that a name stands for: one class, or several for the groups "limit" and "any". It returns nil for an
// unknown name.
func classesNamed(name string) []result.Class {
	limits := []result.Class{result.Timeout, result.Memory, result.Heap, result.CUDD}
	switch name {
	case "limit":
		return limits
	case "state limit":
		return []result.Class{result.Memory}
	}
	classes := slices.Concat(limits, []result.Class{
		result.Parse, result.TypeError, result.Constants, result.Build, result.Model, result.Unsupported,
		result.PathLength, result.Deadlock, result.NonConverge,
	})
	if name == "any" {
		return classes
	}
	if slices.Contains(classes, result.Class(name)) {
		return []result.Class{result.Class(name)}
	}
	return nil
}

// parseClasses parses a list of failure classes and groups of classes, separated by | or commas. It records a mistake for an unknown name or an empty
// list.
func (t *Terms) parseClasses(value string, pos syntax.Pos) []result.Class {
	var classes []result.Class
	isSeparator := func(char rune) bool { return char == '|' || char == ',' }
	for name := range strings.FieldsFuncSeq(value, isSeparator) {
		named := classesNamed(strings.TrimSpace(name))
		if named == nil {
			t.addMistake(pos, "unknown class of errors %q, want any, limit, unsupported, model, deadlock, timeout, memory, …", name)
		}
		classes = append(classes, named...)
	}
	if classes == nil && len(t.mistakes) == 0 {
		t.addMistake(pos, "found no class of errors")
	}
	return classes
}

// parseEngines parses a list of engine labels such as native:exact, separated by commas. It omits unknown engines, and records a mistake for each.
func (t *Terms) parseEngines(value string, pos syntax.Pos) []string {
	var engines []string
	for label := range strings.SplitSeq(value, ",") {
		engine, _, _ := strings.Cut(label, ":")
		if !slices.Contains([]string{"native", "prism", "prism-games", "storm"}, engine) {
			t.addMistake(pos, "unknown engine %q, want native, prism, prism-games or storm", label)
			continue
		}
		engines = append(engines, label)
	}
	return engines
}

// checkCombination records a mistake if terms contradict each other. Terms for sampling need samples=N, and exclude a tolerance and an expected
// error.
func (t *Terms) checkCombination() {
	sampling := t.Statistical
	if sampling == nil || len(t.mistakes) > 0 {
		return
	}
	switch {
	case sampling.Samples == 0:
		t.addMistake(t.Pos, "found terms for sampling without the number of samples, want samples=N")
	case t.Tolerance != nil || t.Absolute != nil:
		t.addMistake(t.Pos, "found a tolerance for a sampled value, want none; its confidence interval is compared")
	case len(t.Errors) > 0:
		t.addMistake(t.Pos, "found both samples and error, want one of them")
	}
	if len(t.mistakes) > 0 { // do not sample
		t.Statistical = nil
	}
}

// Wants reports whether the property is to be checked by the engine with a label such as native:exact. If the terms list no engines, or t is nil,
// every engine is wanted.
func (t *Terms) Wants(label string) bool {
	if t == nil || t.Engines == nil {
		return true
	}
	engine, _, _ := strings.Cut(label, ":")
	return slices.Contains(t.Engines, label) || slices.Contains(t.Engines, engine)
}

// SelectTerms returns the first annotation whose conditions all hold; nil if there is none. It returns a Problem if this annotation has mistakes.
func SelectTerms(annotations []Terms, rules Rules) (*Terms, error) {
	for i := range annotations {
		terms := &annotations[i]
		applies, err := conditionsHold(terms.Conditions, terms.Text, rules)
		if err != nil {
			return nil, err
		}
		if !applies {
			continue
		}
		if len(terms.mistakes) > 0 {
			return nil, problem("Badly formed annotation %q: %s", terms.Text, terms.mistakes[0].Msg)
		}
		return terms, nil
	}
	return nil, nil
}
