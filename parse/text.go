package parse

import (
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// parseConstants splits "N=1,p=0.3".
func parseConstants(text string) []result.Constant {
	var constants []result.Constant
	for item := range strings.SplitSeq(text, ",") {
		if name, value, ok := strings.Cut(item, "="); ok {
			constants = append(constants, result.Constant{Name: strings.TrimSpace(name), Value: value})
		}
	}
	return constants
}

// splitName splits `"name": text`.
func splitName(line string) (name, text string) {
	if inner, ok := strings.CutPrefix(line, `"`); ok {
		if name, text, ok := strings.Cut(inner, `": `); ok && !strings.Contains(name, `"`) {
			return name, text
		}
	}
	return "", line
}

// leadingCount parses the integer at the beginning of s; 0 if there is none.
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

// parseCount parses the first word as an integer. It returns false for other words, such as 1.0E24 for a large number.
func parseCount(s string) (int64, bool) {
	s, _, _ = strings.Cut(strings.TrimLeft(s, " \t"), " ")
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return n, true
}

// leadingDecimal parses the decimal number at the beginning of s; 0 if there is none.
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

// between returns the text between the first occurrences of two markers.
func between(s, before, after string) (string, bool) {
	_, s, ok := strings.Cut(s, before)
	if !ok {
		return "", false
	}
	s, _, ok = strings.Cut(s, after)
	return s, ok
}

// position returns the position in a message with the text "line 3, column 7"; the zero Pos if there is none.
func position(message string) syntax.Pos {
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

// cutNumber parses the first number directly after a marker.
func cutNumber(text, marker string) (n int, rest string, ok bool) {
	for {
		_, after, found := strings.Cut(text, marker)
		if !found {
			return 0, "", false
		}
		if number := leadingCount(after); number > 0 && number < 1<<31 && after[0] != ' ' {
			return int(number), strings.TrimLeft(after, "0123456789"), true
		}
		text = after
	}
}

// words splits a command line as a shell does, with quotes and backslashes.
func words(line string) []string {
	var out []string
	var word strings.Builder
	inWord, quote := false, byte(0) // quote is the current quotation mark; 0 outside quotes
	for i := 0; i < len(line); i++ {
		char := line[i]
		switch {
		case quote == 0 && (char == ' ' || char == '\t'):
			if inWord {
				out = append(out, word.String())
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
		out = append(out, word.String())
	}
	return out
}

func unquoted(names []string) []string {
	for i, n := range names {
		names[i] = strings.Trim(n, `"`)
	}
	return names
}

func containsAny(s string, subs ...string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}
