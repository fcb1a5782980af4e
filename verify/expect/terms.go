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

// Level returns the confidence that the interval must have: the strictest of the annotation's terms and of share. share is the part of the
// suite's probability of false alarms that this test may use; 0 means that the suite does not limit it.
func (s *Statistical) Level(share float64) float64 {
	alpha := defaultAlpha
	if s.Confidence > 0 {
		alpha = stats.Alpha(s.Confidence)
	}
	for _, allowed := range []float64{s.Flakes, share} {
		if allowed > 0 {
			alpha = min(alpha, allowed)
		}
	}
	return stats.Confidence(max(alpha, smallestAlpha))
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

const keyword = "TILECHECK"

// ParseTerms returns the TILECHECK annotations in the comment block directly above a property, in order. Terms with
// mistakes are left out of an annotation; [Check] reports the mistakes.
func ParseTerms(src []byte, property *syntax.Property) []Terms {
	if len(property.Doc) == 0 {
		return nil
	}
	comment := newBlock(src, property)
	var out []Terms
	for from := 0; ; {
		begin := comment.findWord(keyword, from)
		if begin < 0 {
			return out
		}
		end := begin + lineLength(comment.text[begin:])
		out = append(out, comment.parseTerms(begin, end))
		from = end
	}
}

// findWord returns the offset of a word that is not part of a longer one; -1 if there is none.
func (b *block) findWord(word string, from int) int {
	for {
		begin := strings.Index(string(b.text[from:]), word)
		if begin < 0 {
			return -1
		}
		begin += from
		end := begin + len(word)
		if (begin == 0 || !isLetter(b.text[begin-1])) && (end == len(b.text) || !isLetter(b.text[end])) {
			return begin
		}
		from = end
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

// parseTerms parses the annotation in b.text[from:to].
func (b *block) parseTerms(from, to int) Terms {
	terms := Terms{Text: string(b.src[from:to]), Pos: b.pos(from), End: b.pos(to)}
	offset := skipBlanks(b.text[:to], from+len(keyword))
	if offset < to && b.text[offset] == '(' {
		end := strings.IndexByte(string(b.text[offset:to]), ')')
		if end < 0 {
			terms.mistake(b.pos(offset), "the conditions have no end, want )")
			return terms
		}
		terms.Conditions = b.conditions(offset+1, offset+end)
		offset = skipBlanks(b.text[:to], offset+end+1)
	}
	if offset >= to || b.text[offset] != ':' {
		terms.mistake(b.pos(offset), "want a colon behind %s, as in %s: tolerance=1e-6", keyword, keyword)
		return terms
	}
	seen := make(map[string]bool)
	for offset = skipBlanks(b.text[:to], offset+1); offset < to; offset = skipBlanks(b.text[:to], offset) {
		offset = b.parseTerm(&terms, offset, to, seen)
	}
	if len(seen) == 0 && len(terms.mistakes) == 0 {
		terms.mistake(b.pos(to), "want terms, as in %s: tolerance=1e-6", keyword)
	}
	terms.checkCombination()
	return terms
}

// skipBlanks returns the offset of the first character from offset on that is no blank.
func skipBlanks(text []byte, offset int) int {
	for offset < len(text) && (text[offset] == ' ' || text[offset] == '\t') {
		offset++
	}
	return offset
}

// parseTerm parses key=value at offset from and returns the offset of its end. seen are the keys so far.
func (b *block) parseTerm(terms *Terms, from, to int, seen map[string]bool) int {
	keyEnd := from
	for keyEnd < to && isLetter(b.text[keyEnd]) {
		keyEnd++
	}
	key := string(b.text[from:keyEnd])
	if key == "" || keyEnd == to || b.text[keyEnd] != '=' {
		end := b.wordEnd(keyEnd, to)
		terms.mistake(b.pos(from), "found %q, want a term such as tolerance=1e-6", b.text[from:end])
		return end
	}
	start := keyEnd + 1
	if start == to || b.text[start] != '"' {
		end := b.wordEnd(start, to)
		terms.setTerm(key, string(b.text[start:end]), b.pos(from), b.pos(start), seen)
		return end
	}
	start++
	length := bytes.IndexByte(b.text[start:to], '"')
	if length < 0 {
		terms.mistake(b.pos(start-1), "the value has no end, want \"")
		return to
	}
	terms.setTerm(key, string(b.text[start:start+length]), b.pos(from), b.pos(start), seen)
	return start + length + 1
}

// wordEnd returns the offset of the first blank from an offset on, or to if there is none.
func (b *block) wordEnd(from, to int) int {
	end := from
	for end < to && b.text[end] != ' ' && b.text[end] != '\t' {
		end++
	}
	return end
}

// mistake records a mistake in the annotation.
func (t *Terms) mistake(pos syntax.Pos, format string, args ...any) {
	t.mistakes = append(t.mistakes, Mistake{pos, fmt.Sprintf(format, args...)})
}

// termKeys returns the names of the terms, in the order of the documentation.
func termKeys() []string {
	return []string{"tolerance", "absolute", "samples", "confidence", "flakes", "width", "seed", "maxpath", "maxreward", "error", "engines"}
}

// keysForSampling returns the keys of the terms that ask for sampling.
func keysForSampling() []string {
	return []string{"samples", "confidence", "flakes", "width", "seed", "maxpath", "maxreward"}
}

// setTerm parses the value of one term and sets its field. keyPos and pos are the places of the key and of the value. seen are the keys so far.
func (t *Terms) setTerm(key, value string, keyPos, pos syntax.Pos, seen map[string]bool) {
	switch {
	case !slices.Contains(termKeys(), key):
		t.mistake(keyPos, "unknown term %q, want one of %s", key, strings.Join(termKeys(), ", "))
		return
	case seen[key]:
		t.mistake(keyPos, "%s is given twice", key)
		return
	}
	seen[key] = true
	if slices.Contains(keysForSampling(), key) && t.Statistical == nil {
		t.Statistical = &Statistical{}
	}
	sampling := t.Statistical
	switch key {
	case "tolerance":
		t.Tolerance = t.number(key, value, pos, 0, 1)
	case "absolute":
		t.Absolute = t.number(key, value, pos, 0, maxNumber)
	case "confidence":
		sampling.Confidence = orZero(t.number(key, value, pos, 0, 1))
	case "flakes":
		sampling.Flakes = orZero(t.number(key, value, pos, 0, 1))
	case "width":
		sampling.Width = orZero(t.number(key, value, pos, 0, maxNumber))
	case "maxreward":
		sampling.MaxReward = orZero(t.number(key, value, pos, 0, maxNumber))
	case "samples":
		sampling.Samples = t.count(key, value, pos)
	case "maxpath":
		sampling.MaxPath = t.count(key, value, pos)
	case "seed":
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			t.mistake(pos, "seed is %q, want a number that is not negative", value)
			return
		}
		sampling.Seed = &n
	case "error":
		t.Errors = t.classes(value, pos)
	case "engines":
		t.Engines = t.names(value, pos)
	}
}

// maxNumber is an upper limit that excludes infinities.
const maxNumber = 1e300

// orZero returns the number that x points to; 0 if x is nil.
func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// number parses a number that is greater than low and less than high. It returns nil for any other text.
func (t *Terms) number(key, value string, pos syntax.Pos, low, high float64) *float64 {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x > low && x < high) {
		limit := fmt.Sprintf(" and less than %g", high)
		if high == maxNumber {
			limit = ""
		}
		t.mistake(pos, "%s is %q, want a number greater than %g%s", key, value, low, limit)
		return nil
	}
	return &x
}

// maxCount is the greatest number of samples: all JSON readers represent integers up to it exactly.
const maxCount = 1 << 53

// count parses a number of samples or steps.
func (t *Terms) count(key, value string, pos syntax.Pos) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || n > maxCount {
		t.mistake(pos, "%s is %q, want a number from 1", key, value)
		return 0
	}
	return n
}

// classesNamed returns the failure classes that a name stands for: one class, or a group of classes; nil if the name is unknown.
func classesNamed(name string) []result.Class {
	limits := []result.Class{result.Timeout, result.Memory, result.Heap, result.CUDD}
	switch name {
	case "limit":
		return limits
	case "state limit":
		return []result.Class{result.Memory}
	}
	all := slices.Concat(limits, []result.Class{
		result.Parse, result.TypeError, result.Constants, result.Build, result.Model, result.Unsupported,
		result.PathLength, result.Deadlock, result.NonConverge,
	})
	if name == "any" {
		return all
	}
	if slices.Contains(all, result.Class(name)) {
		return []result.Class{result.Class(name)}
	}
	return nil
}

// classes parses a list of failure classes or groups of them, separated by | or commas.
func (t *Terms) classes(value string, pos syntax.Pos) []result.Class {
	var out []result.Class
	for name := range strings.FieldsFuncSeq(value, func(char rune) bool { return char == '|' || char == ',' }) {
		classes := classesNamed(strings.TrimSpace(name))
		if classes == nil {
			t.mistake(pos, "unknown class of errors %q, want any, limit, unsupported, model, deadlock, timeout, memory, …", name)
		}
		out = append(out, classes...)
	}
	if out == nil && len(t.mistakes) == 0 {
		t.mistake(pos, "found no class of errors")
	}
	return out
}

// names parses a list of engines, separated by commas.
func (t *Terms) names(value string, pos syntax.Pos) []string {
	var out []string
	for name := range strings.SplitSeq(value, ",") {
		base, _, _ := strings.Cut(name, ":")
		if !slices.Contains([]string{"native", "prism", "prism-games", "storm"}, base) {
			t.mistake(pos, "unknown engine %q, want native, prism, prism-games or storm", name)
			continue
		}
		out = append(out, name)
	}
	return out
}

// checkCombination reports terms that contradict each other.
func (t *Terms) checkCombination() {
	sampling := t.Statistical
	if sampling == nil || len(t.mistakes) > 0 {
		return
	}
	switch {
	case sampling.Samples == 0:
		t.mistake(t.Pos, "found terms of sampling without samples, want samples=N, too")
	case t.Tolerance != nil || t.Absolute != nil:
		t.mistake(t.Pos, "a sampled value has an interval, want no tolerance beside samples")
	case len(t.Errors) > 0:
		t.mistake(t.Pos, "found both samples and error, want one of them")
	}
	if len(t.mistakes) > 0 {
		t.Statistical = nil
	}
}

// Wants reports whether the property is for an engine. The name "native" includes "native:exact".
func (t *Terms) Wants(engine string) bool {
	if t == nil || t.Engines == nil {
		return true
	}
	base, _, _ := strings.Cut(engine, ":")
	return slices.Contains(t.Engines, engine) || slices.Contains(t.Engines, base)
}

// SelectTerms returns the first annotation whose conditions all hold; nil if there is none. The error is a Problem.
func SelectTerms(annotations []Terms, rules Rules) (*Terms, error) {
	for i := range annotations {
		fits, err := conditionsHold(annotations[i].Conditions, annotations[i].Text, rules)
		if err != nil {
			return nil, err
		}
		if fits && len(annotations[i].mistakes) > 0 {
			return nil, problem("Badly formed annotation %q: %s", annotations[i].Text, annotations[i].mistakes[0].Msg)
		}
		if fits {
			return &annotations[i], nil
		}
	}
	return nil, nil
}
