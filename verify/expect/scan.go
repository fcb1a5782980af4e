package expect

import (
	"bytes"
	"slices"
	"strings"
)

// The forms of annotations and numbers are scanned by hand: package regexp is larger than this
// package, and the playground's program has to be loaded by every visitor.

// match has the offsets of an annotation in a text: where it begins and ends, where its conditions begin and end (these are
// equal if it has none), and where its value begins.
type match struct{ begin, end, conditionsBegin, conditionsEnd, valueBegin int }

// findResult returns the first annotation "RESULT (conditions): value" at or after an offset; false if there is none.
func findResult(text []byte, offset int) (annotation match, ok bool) {
	for {
		length := bytes.Index(text[offset:], []byte(resultWord))
		if length < 0 {
			return match{}, false
		}
		if annotation, ok := resultAt(text, offset+length); ok {
			return annotation, true
		}
		offset += length + 1
	}
}

// resultWord is the first word of PRISM's annotations.
const resultWord = "RESULT"

// resultAt parses the annotation that begins with the word RESULT at an offset. ok is false if the annotation is malformed.
func resultAt(text []byte, offset int) (annotation match, ok bool) {
	annotation.begin = offset
	offset = skipBlanks(text, offset+len(resultWord))
	if begin, end, hasConditions := parenthesised(text, offset); hasConditions && begin < end {
		annotation.conditionsBegin, annotation.conditionsEnd = begin, end
		offset = skipBlanks(text, end+1)
	}
	if offset == len(text) || text[offset] != ':' {
		return match{}, false
	}
	annotation.valueBegin = skipBlanks(text, offset+1)
	annotation.end = len(text)
	if length := bytes.IndexAny(text[annotation.valueBegin:], " \t\n\r"); length >= 0 {
		annotation.end = annotation.valueBegin + length
	}
	return annotation, annotation.valueBegin < annotation.end
}

// parenthesised returns the begin and the end of the text between "(" at an offset and the next ")". ok is false if there are no such
// parentheses.
func parenthesised(text []byte, offset int) (begin, end int, ok bool) {
	if offset >= len(text) || text[offset] != '(' {
		return 0, 0, false
	}
	length := bytes.IndexByte(text[offset:], ')')
	return offset + 1, offset + length, length > 0
}

// findTerms returns the offset of the first annotation "TILECHECK (conditions):"; -1 if there is none.
func findTerms(text []byte) int {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(tilecheckWord))
		if i < 0 {
			return -1
		}
		begin := from + i
		from = begin + 1
		offset := skipBlanks(text, begin+len(tilecheckWord))
		if _, end, ok := parenthesised(text, offset); ok {
			offset = skipBlanks(text, end+1)
		}
		startsWord := begin == 0 || !isLetter(text[begin-1])
		hasColon := offset < len(text) && text[offset] == ':'
		if startsWord && hasColon {
			return begin
		}
	}
}

// findLookalike returns the offset in a line at which a text begins that looks like an annotation; -1 if there is none.
func findLookalike(line []byte) int {
	if start := skipBlanks(line, 0); startsLikeAnnotation(line[start:]) {
		return start
	}
	return findUpperCaseWord(line)
}

// startsLikeAnnotation reports whether a text begins with result or tilecheck, in any case, and one of the characters :(={.
func startsLikeAnnotation(text []byte) bool {
	for _, word := range []string{"result", "tilecheck"} {
		if len(text) < len(word) || !strings.EqualFold(string(text[:len(word)]), word) {
			continue
		}
		end := skipBlanks(text, len(word))
		if end < len(text) && strings.IndexByte(":(={", text[end]) >= 0 {
			return true
		}
	}
	return false
}

// findMisspelt returns the offset in a line at which a misspelt annotation begins, such as "RESLT: 1/5" or "Result 0.2"; -1 if there is none.
func findMisspelt(line []byte) int {
	begin := skipBlanks(line, 0)
	end := begin
	for end < len(line) && isLetter(line[end]) {
		end++
	}
	word, next := strings.ToUpper(string(line[begin:end])), skipBlanks(line, end)
	if next == len(line) {
		return -1
	}
	isPlural := strings.HasSuffix(word, "S") // as in prose: "Results: ..."
	isNear := differsByOneLetter(word, resultWord) || differsByOneLetter(word, tilecheckWord)
	if isNear && !isPlural && strings.IndexByte(":(={", line[next]) >= 0 {
		return begin
	}
	value, remark, _ := strings.Cut(strings.TrimSpace(string(line[next:])), " ")
	isWholeLine := remark == "" || strings.HasPrefix(remark, "(")
	if word == resultWord && isWholeLine && isPlainValue(value) {
		return begin
	}
	return -1
}

// isPlainValue reports whether a text is a number, a fraction, an interval, true or false.
func isPlainValue(text string) bool {
	_, isNumber := parseDouble(text)
	return isNumber || parseRational(text) != nil || isInterval(text) || text == "true" || text == "false"
}

// differsByOneLetter reports whether a word becomes another one if a letter is removed, added or replaced, or two neighbouring letters are exchanged.
func differsByOneLetter(word, other string) bool {
	start := 0
	for start < min(len(word), len(other)) && word[start] == other[start] {
		start++
	}
	word, other = word[start:], other[start:]
	end := 0
	for end < min(len(word), len(other)) && word[len(word)-1-end] == other[len(other)-1-end] {
		end++
	}
	word, other = word[:len(word)-end], other[:len(other)-end]
	isExchange := len(word) == 2 && len(other) == 2 && word[0] == other[1] && word[1] == other[0]
	return word != other && len(word) <= 1 && len(other) <= 1 || isExchange
}

// findUpperCaseWord returns the offset of the first word RESULT, RESULTS or TILECHECK in a line; -1 if there is none. A word consists of all letters in a row.
func findUpperCaseWord(line []byte) int {
	for begin := 0; begin < len(line); begin++ {
		end := begin
		for end < len(line) && isLetter(line[end]) {
			end++
		}
		switch string(line[begin:end]) {
		case resultWord, resultWord + "S", tilecheckWord:
			return begin
		}
		begin = end
	}
	return -1
}

// isCurve reports whether a text has the form of a Pareto curve: [(0.5,1.0),(1.0,0.5)].
func isCurve(text string) bool {
	inner, begins := strings.CutPrefix(text, "[(")
	inner, ends := strings.CutSuffix(inner, ")]")
	if !begins || !ends {
		return false
	}
	for point := range strings.SplitSeq(inner, "),(") {
		numbers := strings.Split(point, ",")
		if len(numbers) < 2 || slices.Contains(numbers, "") || strings.ContainsAny(point, "()") {
			return false
		}
	}
	return true
}

// splitInterval returns the texts of the two ends of an interval, such as 0.2 and 0.4 for [0.2,0.4]. ok is false if the text is no interval.
func splitInterval(text string) (low, high string, ok bool) {
	inner, begins := strings.CutPrefix(text, "[")
	inner, ends := strings.CutSuffix(inner, "]")
	low, high, comma := strings.Cut(inner, ",")
	return low, high, begins && ends && comma && low != "" && high != "" && !strings.Contains(high, ",")
}

// isInterval reports whether a text has the form of an interval.
func isInterval(text string) bool {
	_, _, ok := splitInterval(text)
	return ok
}

const (
	decimalDigits     = "0123456789"
	hexadecimalDigits = decimalDigits + "abcdefABCDEF"
)

// isFraction reports whether a text is a quotient of integers. Only the dividend may have a minus sign.
func isFraction(text string) bool {
	dividend, divisor, ok := strings.Cut(strings.TrimPrefix(text, "-"), "/")
	return ok && isDigits(dividend, decimalDigits) && isDigits(divisor, decimalDigits)
}

// isDecimal reports whether a text is a decimal number. exponent is the number of digits of its exponent.
func isDecimal(text string) (exponent int, ok bool) {
	mantissa, power, ok := cutExponent(text, "eE")
	return len(power), (!ok || isDigits(power, decimalDigits)) && isMantissa(withoutSign(mantissa), decimalDigits)
}

// isHexadecimal reports whether a text is a hexadecimal number of Java, such as 0x1.8p3. Such a number always has an exponent.
func isHexadecimal(text string) bool {
	mantissa, power, ok := cutExponent(withoutSign(text), "pP")
	if !ok || len(mantissa) < 2 || !strings.EqualFold(mantissa[:2], "0x") {
		return false
	}
	return isMantissa(mantissa[2:], hexadecimalDigits) && isDigits(power, decimalDigits)
}

// cutExponent cuts a number at the letter before its exponent. power is the exponent without its sign. It returns false if there is no such letter.
func cutExponent(text, letters string) (mantissa, power string, ok bool) {
	i := strings.IndexAny(text, letters)
	if i < 0 {
		return text, "", false
	}
	return text[:i], withoutSign(text[i+1:]), true
}

// withoutSign removes one sign from the beginning of a number.
func withoutSign(text string) string {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		return text[1:]
	}
	return text
}

// isMantissa reports whether a text consists of digits and at most one point.
func isMantissa(text, digits string) bool {
	integer, fraction, _ := strings.Cut(text, ".")
	return isDigits(integer+fraction, digits)
}

// isDigits reports whether a text is not empty and consists of the given digits only.
func isDigits(text, digits string) bool { return text != "" && strings.Trim(text, digits) == "" }
