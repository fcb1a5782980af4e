package parse

import (
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// parseConstants splits "N=1,p=0.3".
func parseConstants(s string) []result.Constant {
	var out []result.Constant
	for item := range strings.SplitSeq(s, ",") {
		if name, value, ok := strings.Cut(item, "="); ok {
			out = append(out, result.Constant{Name: strings.TrimSpace(name), Value: value})
		}
	}
	return out
}

// splitName splits `"name": text`.
func splitName(s string) (name, text string) {
	if inner, ok := strings.CutPrefix(s, `"`); ok {
		if name, text, ok := strings.Cut(inner, `": `); ok && !strings.Contains(name, `"`) {
			return name, text
		}
	}
	return "", s
}

// leadingCount parses the integer at the beginning of s; 0 if there is none.
func leadingCount(s string) int64 {
	s = strings.TrimLeft(s, " \t")
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// parseCount parses the first word as an integer. It returns false if that is not possible: PRISM prints numbers beyond an int64 as "1.0E24".
func parseCount(s string) (int64, bool) {
	s, _, _ = strings.Cut(strings.TrimLeft(s, " \t"), " ")
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return n, true
}

// leadingDecimal parses the decimal number at the beginning of s; 0 if there is none.
func leadingDecimal(s string) float64 {
	s = strings.TrimLeft(s, " \t")
	end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.eE+-", r) })
	if end < 0 {
		end = len(s)
	}
	f, err := strconv.ParseFloat(strings.TrimRight(s[:end], ".,"), 64)
	if err != nil {
		return 0
	}
	return f
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

// position finds "line 3, column 7" in a message; the zero Pos if there is none.
func position(s string) syntax.Pos {
	line, rest, ok := cutNumber(s, "line ")
	if !ok {
		return syntax.Pos{}
	}
	column, _, ok := cutNumber(rest, ", column ")
	if !ok || !strings.HasPrefix(rest, ", column ") {
		return syntax.Pos{}
	}
	return syntax.Pos{Line: int32(line), Col: int32(column)}
}

// cutNumber parses the number after the first occurrence of marker that is followed by one.
func cutNumber(s, marker string) (n int, rest string, ok bool) {
	for {
		_, after, found := strings.Cut(s, marker)
		if !found {
			return 0, "", false
		}
		if v := leadingCount(after); v > 0 && v < 1<<31 && after[0] != ' ' {
			return int(v), strings.TrimLeft(after, "0123456789"), true
		}
		s = after
	}
}

// words splits a command line as a shell does: blanks separate, single and
// double quotes group, a backslash outside single quotes escapes.
func words(s string) []string {
	var out []string
	var word strings.Builder
	in, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t'):
			if in {
				out = append(out, word.String())
			}
			word.Reset()
			in = false
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case c == quote && quote != 0:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(s):
			i++
			word.WriteByte(s[i])
			in = true
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
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
