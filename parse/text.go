package parse

import (
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// parseConstants parses constants such as "N=1,p=0.3". It omits items without "=".
func parseConstants(text string) []result.Constant {
	var constants []result.Constant
	for item := range strings.SplitSeq(text, ",") {
		if name, value, ok := strings.Cut(item, "="); ok {
			constants = append(constants, result.Constant{Name: strings.TrimSpace(name), Value: value})
		}
	}
	return constants
}

// splitName splits a line such as `"name": text`. A line without a name is the text.
func splitName(line string) (name, text string) {
	if inner, ok := strings.CutPrefix(line, `"`); ok {
		if name, text, ok := strings.Cut(inner, `": `); ok && !strings.Contains(name, `"`) {
			return name, text
		}
	}
	return "", line
}

// leadingCount returns the integer at the beginning of a text; 0 if there is none.
func leadingCount(text string) int64 {
	text = strings.TrimLeft(text, " \t")
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	count, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil {
		return 0
	}
	return count
}

// parseCount parses the first word of a text as an integer. It returns false for other words, such as 1.0E24 for a large number.
func parseCount(text string) (int64, bool) {
	text, _, _ = strings.Cut(strings.TrimLeft(text, " \t"), " ")
	count, err := strconv.ParseInt(text, 10, 64)
	if err != nil || count < 0 {
		return 0, false
	}
	return count, true
}

// leadingDecimal returns the decimal number at the beginning of a text; 0 if there is none.
func leadingDecimal(text string) float64 {
	text = strings.TrimLeft(text, " \t")
	end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.eE+-", r) })
	if end < 0 {
		end = len(text)
	}
	number, err := strconv.ParseFloat(strings.TrimRight(text[:end], ".,"), 64)
	if err != nil {
		return 0
	}
	return number
}

// between returns the text between the first occurrence of one marker and the next occurrence of another. It returns false if a marker is missing.
func between(text, before, after string) (string, bool) {
	_, text, ok := strings.Cut(text, before)
	if !ok {
		return "", false
	}
	text, _, ok = strings.Cut(text, after)
	return text, ok
}

// findPosition returns the position in a message with the text "line 3, column 7"; the zero Pos if there is none.
func findPosition(message string) syntax.Pos {
	line, rest, ok := cutNumber(message, "line ")
	if !ok {
		return syntax.Pos{}
	}
	column, _, ok := cutNumber(rest, ", column ")
	if !ok || !strings.HasPrefix(rest, ", column ") {
		return syntax.Pos{}
	}
	return syntax.Pos{Line: int32(line), Col: int32(column)}
}

// cutNumber finds the first marker that a positive number directly follows. It returns the number and the text behind it.
func cutNumber(text, marker string) (number int, rest string, ok bool) {
	for {
		_, after, found := strings.Cut(text, marker)
		if !found {
			return 0, "", false
		}
		if value := leadingCount(after); value > 0 && value < 1<<31 && after[0] != ' ' {
			return int(value), strings.TrimLeft(after, "0123456789"), true
		}
		text = after
	}
}

// splitWords splits a command line as a shell does, with quotes and backslashes.
func splitWords(line string) []string {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0) // quote is the current quotation mark; 0 outside quotes
	for i := 0; i < len(line); i++ {
		char := line[i]
		switch {
		case quote == 0 && (char == ' ' || char == '\t'):
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		case quote == 0 && (char == '\'' || char == '"'):
			quote, inWord = char, true
		case char == quote && quote != 0:
			quote = 0
		case char == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			inWord = true
		default:
			word.WriteByte(char)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// withoutQuotes removes the quotation marks around names, in place.
func withoutQuotes(names []string) []string {
	for i, name := range names {
		names[i] = strings.Trim(name, `"`)
	}
	return names
}

// containsAny reports whether a text contains at least one of the parts.
func containsAny(text string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
